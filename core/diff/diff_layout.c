#include "core/diff/diff_reference.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"

/* An axis of the node, or the rows or columns of its patches. */
typedef struct Factor {
    size_t len, stride;
    char sym[4];
} Factor;

typedef struct Search {
    Factor factor[DIFF_FACTORS];
    int n;
    size_t shape[DIFF_FACTORS]; /* of the recorded tensor, axes of length 1 left out */
    int rank;
    int order[DIFF_FACTORS];
    bool taken[DIFF_FACTORS];
    DiffLayout *out;
    int found, max;
    size_t batch;
} Search;

/* Longer than 1 and at most eight: the node's axes, patches as rows and columns. */
static bool make_factors(Search *s, const Graph *g, Dims d)
{
    s->n = 0;
    for (int i = 0; i < d.n; i++) {
        const Axis *a = &g->axes[d.axis[i]];
        size_t stride = dims_stride(g->axes, d, d.axis[i]),
               cols = a->kind == AXIS_PATCH && a->cols > 0 && a->n % a->cols == 0 ? (size_t)a->cols : 1;
        Factor both[2] = {{(size_t)a->n / cols, stride * cols, ""}, {cols, stride, "x"}};
        snprintf(both[0].sym, sizeof both[0].sym, "%s", a->kind == AXIS_PATCH ? "y" : a->sym);
        for (int k = 0; k < 2; k++) {
            if (both[k].len <= 1)
                continue;
            if (s->n == DIFF_FACTORS)
                return false;
            s->factor[s->n++] = both[k];
        }
    }
    return true;
}

/* merged: "p" again where rows and columns of patches stand together as the node has them. */
static void name_axes(const Search *s, bool merged, char out[48])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < s->n && used + 6 < 48; i++) {
        const Factor *f = &s->factor[s->order[i]], *next = i + 1 < s->n ? &s->factor[s->order[i + 1]] : NULL;
        bool patches = merged && next && strcmp(f->sym, "y") == 0 && strcmp(next->sym, "x") == 0 &&
                       f->stride == next->stride * next->len;
        used += (size_t)snprintf(out + used, 48 - used, "%s%s", i ? "," : "", patches ? "p" : f->sym);
        i += patches;
    }
}

static void keep(Search *s)
{
    if (s->found == s->max)
        return;
    DiffLayout *l = &s->out[s->found++];
    *l = (DiffLayout){.n = s->n, .ours = true, .batch = s->batch};
    for (int i = 0; i < s->n; i++) {
        l->len[i] = s->factor[s->order[i]].len;
        l->stride[i] = s->factor[s->order[i]].stride;
        l->ours = l->ours && s->order[i] == i;
    }
    name_axes(s, true, l->axes);
    name_axes(s, false, l->factors);
}

/* Goes on with order[0 … depth): the last recorded axis that was begun (`axis`) has been filled up to `filled`. */
static void search(Search *s, int depth, int axis, size_t filled)
{
    if (depth == s->n) {
        if (axis == s->rank && filled == 1)
            keep(s);
        return;
    }
    for (int i = 0; i < s->n && axis < s->rank; i++) {
        size_t now = filled * s->factor[i].len;
        if (s->taken[i] || s->shape[axis] % now != 0)
            continue;
        s->taken[i] = true;
        s->order[depth] = i;
        bool full = now == s->shape[axis];
        search(s, depth + 1, axis + full, full ? 1 : now);
        s->taken[i] = false;
    }
}

static int all_orders(const Graph *g, NodeId n, const size_t *shape, int rank, size_t batch, DiffLayout *out, int max)
{
    Search s = {.out = out, .max = max, .batch = batch};
    size_t cells = 1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 1)
            continue;
        if (s.rank == DIFF_FACTORS || !size_mul_ok(cells, shape[i], &cells))
            return 0;
        s.shape[s.rank++] = shape[i];
    }
    if (cells != graph_cells(g, n) || !make_factors(&s, g, graph_node(g, n)->dims))
        return 0;
    search(&s, 0, 0, 1);
    return s.found;
}

int diff_layout_all(const Graph *g, NodeId n, const size_t *shape, int rank, DiffLayout out[DIFF_LAYOUTS])
{
    int found = all_orders(g, n, shape, rank, 1, out, DIFF_LAYOUTS);
    if (!found && rank > 1 && shape[0] > 1)
        found = all_orders(g, n, shape + 1, rank - 1, shape[0], out, DIFF_LAYOUTS);
    return found;
}

/* Axis letters equal but for blanks, for axes of length 1, which a layout does not name, and for patches written as p.
 */
static bool same_axes(const Graph *g, NodeId n, const char *told, const DiffLayout *l)
{
    char plain[48] = "";
    Dims d = graph_node(g, n)->dims;
    for (const char *p = told; *p;) {
        p += strspn(p, " ,");
        size_t length = strcspn(p, " ,"), used = strlen(plain);
        bool one = false;
        for (int i = 0; i < d.n; i++)
            one = one || (g->axes[d.axis[i]].n == 1 && strlen(g->axes[d.axis[i]].sym) == length &&
                          strncmp(g->axes[d.axis[i]].sym, p, length) == 0);
        if (length && !one && used + length + 4 < sizeof plain)
            utf8_print(plain + used, sizeof plain - used, "%s%.*s", used ? "," : "",
                       length == 1 && *p == 'p' ? 3 : (int)length, length == 1 && *p == 'p' ? "y,x" : p);
        p += length;
    }
    return strcmp(plain, l->factors) == 0;
}

static int place_of(const DiffLayout *l, char sym)
{
    for (const char *p = l->axes; *p; p++)
        if (*p == sym)
            return (int)(p - l->axes);
    return -1;
}

/* Rows before columns, patches before what is in them, those who ask before those looked at. */
static bool is_usual(const DiffLayout *l)
{
    static const char PAIRS[][2] = {{'y', 'x'}, {'i', 'j'}, {'t', 'u'}, {'y', 'i'}, {'x', 'j'}};
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        int a = place_of(l, PAIRS[i][0]), b = place_of(l, PAIRS[i][1]);
        if (a >= 0 && b >= 0 && a > b)
            return false;
    }
    return true;
}

static void list_choices(const DiffLayout *l, int count, bool usual, char *out, size_t size)
{
    size_t used = 0;
    if (!out || !size)
        return;
    *out = '\0';
    for (int i = 0; i < count; i++)
        if ((!usual || is_usual(&l[i])) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s[%s]", used ? " or " : "", l[i].axes);
}

DiffFit diff_layout_find(const Graph *g, NodeId n, const size_t *shape, int rank, const char *axes, DiffLayout *out,
                         char *choices, size_t size)
{
    DiffLayout all[DIFF_LAYOUTS];
    int count = diff_layout_all(g, n, shape, rank, all), usual = 0, last = -1;
    for (int i = 0; i < count; i++)
        if (*axes ? same_axes(g, n, axes, &all[i]) : all[i].ours) {
            *out = all[i];
            out->told = *axes != 0;
            return DIFF_FIT;
        }
    if (*axes) /* the table's order does not fit: as if nothing had been said */
        return diff_layout_find(g, n, shape, rank, "", out, choices, size);
    for (int i = 0; i < count; i++)
        if (is_usual(&all[i])) {
            usual++;
            last = i;
        }
    if (count == 1 || usual == 1) {
        *out = all[usual == 1 ? last : 0];
        return DIFF_FIT;
    }
    list_choices(all, count, usual > 0, choices, size);
    return count ? DIFF_AMBIGUOUS : DIFF_NO_FIT;
}

DiffFit diff_layout_last(const Graph *g, const TensorInfo *info, DiffFit fit, DiffTensor *t)
{
    const Node *node = graph_node(g, t->node);
    if (fit != DIFF_NO_FIT || t->parts > 1 || node->dims.n != 2 || !info->rank ||
        g->axes[node->dims.axis[0]].sequence != SEQUENCE_TARGET ||
        (strcmp(node->path, "logits") != 0 && strcmp(node->path, "uncapped") != 0))
        return fit;
    const Axis *row = &g->axes[node->dims.axis[1]];
    if (info->cells != (size_t)row->n || info->shape[info->rank - 1] != info->cells)
        return fit;
    t->skip = graph_cells(g, t->node) - info->cells;
    t->layout = (DiffLayout){.n = 1, .len = {info->cells}, .stride = {1}, .ours = true, .batch = 1};
    snprintf(t->layout.axes, sizeof t->layout.axes, "%s", row->sym);
    snprintf(t->layout.factors, sizeof t->layout.factors, "%s", row->sym);
    return DIFF_FIT;
}

void diff_tensor_fill(const DiffTensor *t, const float *x)
{
    if (t->skip)
        memcpy(t->owned, x, t->skip * sizeof *x);
}

void diff_layout_apply(const DiffLayout *l, const float *from, float *to)
{
    size_t cells = 1, index[DIFF_FACTORS] = {0}, at = 0;
    for (int i = 0; i < l->n; i++)
        cells = size_mul(cells, l->len[i]);
    if (l->ours) {
        memcpy(to, from, size_mul(cells, sizeof *to));
        return;
    }
    for (size_t c = 0; c < cells; c++) {
        to[at] = from[c];
        for (int i = l->n - 1; i >= 0; i--) {
            at += l->stride[i];
            if (++index[i] < l->len[i])
                break;
            at -= l->stride[i] * l->len[i];
            index[i] = 0;
        }
    }
}

void diff_sign_sines(const Graph *g, NodeId n, float *values)
{
    const Node *node = graph_node(g, n);
    const char *last = strrchr(node->path, '.');
    last = last ? last + 1 : node->path;
    if (!node->dims.n || (strcmp(last, "rope_sin") != 0 && strcmp(last, "rope_sin_local") != 0))
        return;
    size_t e = (size_t)g->axes[node->dims.axis[node->dims.n - 1]].n, cells = graph_cells(g, n);
    for (size_t k = 0; k < 2 && e % 2 == 0; k++) { /* e with e + E/2, then neighbours */
        size_t stride = k ? 1 : e / 2, step = k ? 2 : 1;
        bool alike = true;
        for (size_t i = 0; alike && i < cells / 2; i++) {
            const float *at = values + i / (e / 2) * e + i % (e / 2) * step;
            alike = at[0] >= at[stride] && at[0] <= at[stride];
        }
        for (size_t i = 0; alike && i < cells / 2; i++) {
            float *at = values + i / (e / 2) * e + i % (e / 2) * step;
            *at = -*at;
        }
        if (alike)
            return;
    }
}

bool diff_is_own_memory(const Graph *g, NodeId n, int axis, size_t there)
{
    for (int i = 0; i < g->axis_count && strstr(graph_node(g, n)->path, "cross_attn."); i++)
        if (g->axes[axis].sequence == SEQUENCE_SOURCE && g->axes[i].kind == AXIS_TOKEN &&
            g->axes[i].sequence == SEQUENCE_TARGET && (size_t)g->axes[i].n == there)
            return true;
    return false;
}
