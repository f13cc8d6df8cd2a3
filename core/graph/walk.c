#include "core/graph/walk.h"

#include "core/base/err.h"
#include "core/base/mem.h"

static bool merges(const Walk *w, size_t len, const size_t stride[WALK_OPERANDS])
{
    if (w->n == 0)
        return false;
    for (int k = 0; k < WALK_OPERANDS; k++)
        if (w->stride[k][w->n - 1] != stride[k] * len)
            return false;
    return true;
}

Walk walk_make(const Axis *axes, Dims over, const Dims *operands, int operand_count)
{
    REQUIRE(operand_count <= WALK_OPERANDS);
    Walk w = {.count = 1};
    for (int i = 0; i < over.n; i++) {
        size_t len = (size_t)axes[over.axis[i]].n, stride[WALK_OPERANDS] = {0};
        if (len == 1)
            continue;
        for (int k = 0; k < operand_count; k++)
            stride[k] = dims_stride(axes, operands[k], over.axis[i]);
        int level = merges(&w, len, stride) ? w.n - 1 : w.n++;
        w.len[level] = (level == w.n - 1 && w.len[level] ? w.len[level] : 1) * len;
        for (int k = 0; k < WALK_OPERANDS; k++)
            w.stride[k][level] = stride[k];
        w.count = size_mul(w.count, len);
    }
    return w;
}

void walk_at(const Walk *w, size_t i, size_t offset[WALK_OPERANDS])
{
    for (int k = 0; k < WALK_OPERANDS; k++)
        offset[k] = 0;
    for (int level = w->n - 1; level >= 0; level--) {
        size_t q = level ? i % w->len[level] : i;
        i = level ? i / w->len[level] : 0;
        for (int k = 0; k < WALK_OPERANDS; k++)
            offset[k] += q * w->stride[k][level];
    }
}

WalkPlace walk_place(const Walk *w, size_t i)
{
    WalkPlace p = {{0}, {0}};
    walk_at(w, i, p.offset);
    for (int level = w->n - 1; level >= 0; level--) {
        p.index[level] = level ? i % w->len[level] : i;
        i /= w->len[level];
    }
    return p;
}

static void move_by(const Walk *w, WalkPlace *p, int level, size_t steps, bool back)
{
    for (int k = 0; k < WALK_OPERANDS; k++)
        p->offset[k] += back ? 0 - steps * w->stride[k][level] : steps * w->stride[k][level];
}

static void step(const Walk *w, WalkPlace *p, int level)
{
    for (; level >= 0; level--) {
        move_by(w, p, level, 1, false);
        if (++p->index[level] < w->len[level] || level == 0)
            return;
        move_by(w, p, level, p->index[level], true);
        p->index[level] = 0;
    }
}

void walk_next_cell(const Walk *w, WalkPlace *p)
{
    step(w, p, w->n - 1);
}

void walk_next_run(const Walk *w, WalkPlace *p)
{
    int last = w->n - 1;
    if (last < 0)
        return;
    move_by(w, p, last, p->index[last], true);
    p->index[last] = 0;
    step(w, p, last - 1);
}

void walk_skip_runs(const Walk *w, WalkPlace *p, size_t runs)
{
    const int level = w->n - 2;
    move_by(w, p, level, runs, false);
    p->index[level] += runs;
}
