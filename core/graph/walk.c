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
