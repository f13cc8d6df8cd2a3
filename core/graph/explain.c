#include "core/graph/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/walk.h"

static bool moves(Op op)
{
    return op == OP_VIEW || op == OP_CONCAT || op == OP_SLICE || op == OP_GATHER;
}

Explain explain_open(const Graph *g, NodeId id, size_t cell)
{
    const Node *n = graph_node(g, id);
    REQUIRE(cell < graph_cells(g, id));
    Explain e = {.graph = g, .node = id, .cell = cell};
    if (n->op == OP_LEAF)
        return e;
    e.terms = 1;
    if (moves(n->op))
        return e;
    if (n->op == OP_SCATTER) {
        explain_move(&e, cell);
        return e;
    }
    int inputs = op_inputs(n->op);
    Dims in[NODE_INPUTS] = {{0}};
    for (int k = 0; k < inputs; k++)
        in[k] = graph_node(g, n->in[k])->dims;
    Dims outer[WALK_OPERANDS] = {n->dims, in[0], in[1], in[2]};
    e.outer = walk_make(g->axes, n->dims, outer, inputs + 1);
    e.inner = walk_make(g->axes, n->op == OP_FIRST ? dims_minus(in[0], in[1]) : graph_reduced(g, id), in, inputs);
    e.terms = n->op == OP_FIRST ? 1 : e.inner.count;
    explain_move(&e, cell);
    return e;
}

/* From the cell to the first that its maximum was taken from, and which of them it is. */
static void find_own_place(Explain *e)
{
    const Graph *g = e->graph;
    const Node *n = graph_node(g, e->node);
    Dims reduced = dims_minus(n->dims, graph_node(g, n->in[1])->dims);
    int index[DIMS_MAX], place[DIMS_MAX];
    dims_unravel(g->axes, n->dims, e->cell, index);
    for (int i = 0; i < reduced.n; i++) {
        int at = dims_find(n->dims, reduced.axis[i]);
        place[i] = index[at];
        index[at] = 0;
    }
    e->base[0] = dims_ravel(g->axes, n->dims, index);
    e->own = dims_ravel(g->axes, reduced, place);
}

void explain_move(Explain *e, size_t cell)
{
    REQUIRE(cell < graph_cells(e->graph, e->node));
    e->cell = cell;
    if (graph_node(e->graph, e->node)->op == OP_SCATTER) {
        Moved m = moved_make(e->graph, e->node);
        e->from = scatter_inputs(e->graph, e->node, cell / m.inner % m.along, &e->terms);
        return;
    }
    size_t at[WALK_OPERANDS];
    walk_at(&e->outer, cell, at); /* an empty walk, as of a leaf, gives zeros */
    for (int k = 0; k < NODE_INPUTS; k++)
        e->base[k] = at[k + 1];
    if (graph_node(e->graph, e->node)->op == OP_FIRST)
        find_own_place(e);
}

static size_t scattered_cell(const Explain *e, size_t i)
{
    Moved m = moved_make(e->graph, e->node);
    return (e->cell / m.inner / m.along * m.in_along[0] + (size_t)e->from[i]) * m.inner + e->cell % m.inner;
}

Term explain_term(const Explain *e, size_t i)
{
    const Node *n = graph_node(e->graph, e->node);
    REQUIRE(i < e->terms);
    if (moves(n->op)) {
        Moved m = moved_make(e->graph, e->node);
        int which;
        size_t first = moved_row(e->graph, e->node, &m, e->cell / m.inner, &which);
        return (Term){.operands = 1, .node = {n->in[which], NO_NODE, NO_NODE}, .cell = {first + e->cell % m.inner}};
    }
    if (n->op == OP_SCATTER)
        return (Term){.operands = 1, .node = {n->in[0], NO_NODE, NO_NODE}, .cell = {scattered_cell(e, i)}};
    if (n->op == OP_FIRST)
        return (Term){.operands = 2, .node = {n->in[0], n->in[1], NO_NODE}, .cell = {e->cell, e->base[1]}};
    size_t at[WALK_OPERANDS];
    walk_at(&e->inner, i, at);
    Term t = {.operands = op_inputs(n->op)};
    for (int k = 0; k < NODE_INPUTS; k++) {
        t.node[k] = n->in[k];
        t.cell[k] = k < t.operands ? e->base[k] + at[k] : 0;
    }
    return t;
}

typedef struct Operands {
    const float *in[NODE_INPUTS];
    const Node *leaf[NODE_INPUTS]; /* where in is NULL: read from there as it is stored */
} Operands;

static Operands operands(const Explain *e, ValuesFn values, const void *context)
{
    const Node *n = graph_node(e->graph, e->node);
    Operands o = {.in = {NULL}};
    for (int k = 0; k < op_inputs(n->op); k++) {
        o.in[k] = values(context, n->in[k]);
        o.leaf[k] = o.in[k] ? NULL : graph_stored(e->graph, n->in[k]);
        REQUIRE(o.in[k] || (o.leaf[k] && leaf_read_as_stored(e->graph, e->node, k)));
    }
    return o;
}

static float operand_cell(const Explain *e, const Operands *o, int k, size_t cell)
{
    return o->in[k] ? o->in[k][cell] : leaf_cell(e->graph, o->leaf[k], cell);
}

/* The value of an operand of term i. */
static float operand(const Explain *e, const Operands *o, size_t i, int k)
{
    size_t at[WALK_OPERANDS];
    walk_at(&e->inner, i, at);
    return operand_cell(e, o, k, e->base[k] + at[k]);
}

/* Terms that follow one another at constant steps in every operand. */
typedef struct Stretch {
    const float *x[2];
    size_t step[2], n;
} Stretch;

/* room: for the cells of an operand that is read as it is stored, [end − first]; NULL: of a sum or maximum, which reads
 * none so. */
static Stretch stretch(const Explain *e, const Operands *o, size_t first, size_t end, float *room)
{
    const Walk *w = &e->inner;
    size_t at[WALK_OPERANDS], len = w->n ? w->len[w->n - 1] : 1, left = len - first % len;
    walk_at(w, first, at);
    Stretch s = {.n = left < end - first ? left : end - first};
    for (int k = 0; k < 2 && o->in[k]; k++) {
        s.x[k] = o->in[k] + e->base[k] + at[k];
        s.step[k] = w->n ? w->stride[k][w->n - 1] : 0;
    }
    if (!o->leaf[1])
        return s;
    const size_t from = e->base[1] + at[1], step = w->n ? w->stride[1][w->n - 1] : 0;
    for (size_t i = 0; i < s.n; i += step == 1 ? s.n : 1)
        leaf_read(e->graph, o->leaf[1], from + i * step, step == 1 ? s.n : 1, room + i);
    s.x[1] = room;
    s.step[1] = 1;
    return s;
}

static float fold_contract(const Explain *e, const Operands *o)
{
    float total = 0, room[KERNEL_K];
    for (size_t block = 0; block < e->terms; block += KERNEL_K) {
        size_t end = e->terms - block < KERNEL_K ? e->terms : block + KERNEL_K;
        float chain = 0;
        for (size_t i = block; i < end;) {
            Stretch s = stretch(e, o, i, end, room);
            for (size_t j = 0; j < s.n; j++)
                chain = kernel_fma(s.x[0][j * s.step[0]], s.x[1][j * s.step[1]], chain);
            i += s.n;
        }
        total += chain;
    }
    return total;
}

/* The tree over the lanes of a sum, which stay as they are. */
static float tree_of(const float lane[16])
{
    float tree[16];
    memcpy(tree, lane, sizeof tree);
    for (int half = 8; half; half /= 2)
        for (int l = 0; l < half; l++)
            tree[l] += tree[l + half];
    return tree[0];
}

static float fold_sum(const Explain *e, const Operands *o)
{
    float total = 0;
    size_t most = e->terms <= KERNEL_SUM ? KERNEL_SUM : KERNEL_SUM_BLOCK;
    for (size_t block = 0; block < e->terms; block += most) {
        size_t end = e->terms - block < most ? e->terms : block + most;
        float lane[16] = {0};
        for (size_t i = block; i < end;) {
            Stretch s = stretch(e, o, i, end, NULL);
            for (size_t j = 0; j < s.n; j++)
                lane[(i + j) % 16] += s.x[0][j * s.step[0]];
            i += s.n;
        }
        total += tree_of(lane);
    }
    return total;
}

static float fold_max(const Explain *e, const Operands *o)
{
    float best = -INFINITY;
    for (size_t i = 0; i < e->terms;) {
        Stretch s = stretch(e, o, i, e->terms, NULL);
        for (size_t j = 0; j < s.n; j++) {
            float x = s.x[0][j * s.step[0]];
            if (isnan(x))
                return x;
            if (x > best || (x == best && signbit(best) && !signbit(x)))
                best = x;
        }
        i += s.n;
    }
    return best;
}

static float fold_scatter(const Explain *e, const Operands *o)
{
    float total = 0;
    for (size_t i = 0; i < e->terms; i++)
        total += o->in[0][scattered_cell(e, i)];
    return total;
}

/* Whether the cell is the first that equals the maximum. */
static float fold_first(const Explain *e, const Operands *o)
{
    float max = o->in[1][e->base[1]];
    for (size_t before = 0; before < e->own; before++)
        if (operand(e, o, before, 0) == max)
            return 0.0f;
    return o->in[0][e->cell] == max ? 1.0f : 0.0f;
}

static float fold_one(const Explain *e, const Node *n, const Operands *o)
{
    Term t = explain_term(e, 0);
    float x[NODE_INPUTS] = {0};
    for (int k = 0, at = 0; k < t.operands; k++, at++) {
        while (n->in[at] != t.node[k]) /* a moved cell has one operand, whichever input it is from */
            at++;
        x[k] = operand_cell(e, o, at, t.cell[k]);
    }
    switch (n->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV: return kernel_canonical(zip_apply((ZipFn)(n->op - OP_ADD), x[0], x[1]));
    case OP_MAP: return kernel_canonical(map_apply(n->map, x[0]));
    case OP_WHERE: return x[0] != 0.0f ? x[1] : x[2];
    default: return x[0];
    }
}

_Static_assert((int)OP_SUB - (int)OP_ADD == (int)ZIP_SUB && (int)OP_MUL - (int)OP_ADD == (int)ZIP_MUL &&
                   (int)OP_DIV - (int)OP_ADD == (int)ZIP_DIV,
               "ADD SUB MUL DIV are in the order of ZipFn");

float explain_fold(const Explain *e, ValuesFn values, const void *context)
{
    const Node *n = graph_node(e->graph, e->node);
    if (n->op == OP_LEAF)
        return leaf_cell(e->graph, n, e->cell);
    Operands o = operands(e, values, context);
    switch (n->op) {
    case OP_CONTRACT: return kernel_canonical(fold_contract(e, &o));
    case OP_SUM: return kernel_canonical(fold_sum(e, &o));
    case OP_MAX: return kernel_canonical(fold_max(e, &o));
    case OP_SCATTER: return kernel_canonical(fold_scatter(e, &o));
    case OP_FIRST: return fold_first(e, &o);
    default: return fold_one(e, n, &o);
    }
}

double explain_fold_double(const Explain *e, ValuesFn values, const void *context)
{
    const Node *n = graph_node(e->graph, e->node);
    if (n->op != OP_CONTRACT && n->op != OP_SUM &&
        n->op != OP_SCATTER) /* one operation: its float result is the rounded exact one, or a map */
        return (double)explain_fold(e, values, context);
    Operands o = operands(e, values, context);
    double sum = 0;
    for (size_t i = 0; i < e->terms; i++) {
        double x = (double)(n->op == OP_SCATTER ? o.in[0][scattered_cell(e, i)] : operand(e, &o, i, 0));
        sum += n->op == OP_CONTRACT ? x * (double)operand(e, &o, i, 1) : x;
    }
    return sum;
}

float explain_contribution(const Explain *e, size_t i, ValuesFn values, const void *context)
{
    const Node *n = graph_node(e->graph, e->node);
    Operands o = operands(e, values, context);
    switch (n->op) {
    case OP_CONTRACT: return operand(e, &o, i, 0) * operand(e, &o, i, 1);
    case OP_SUM:
    case OP_MAX: return operand(e, &o, i, 0);
    case OP_SCATTER: return o.in[0][scattered_cell(e, i)];
    case OP_FIRST: return fold_first(e, &o);
    default: return fold_one(e, n, &o);
    }
}

/* --- what the terms come to on the way --- */

static void running_contract(const Explain *e, const Operands *o, float *out)
{
    float total = 0, chain = 0;
    for (size_t i = 0; i < e->terms; i++) {
        if (i && i % KERNEL_K == 0) {
            total += chain;
            chain = 0;
        }
        chain = kernel_fma(operand(e, o, i, 0), operand(e, o, i, 1), chain);
        out[i] = kernel_canonical(total + chain);
    }
}

static void running_sum(const Explain *e, const Operands *o, float *out)
{
    float lane[16] = {0}, whole[16] = {0}, total = 0; /* of a block; of all, for as long as they are few */
    for (size_t i = 0; i < e->terms; i++) {
        if (i && i % KERNEL_SUM_BLOCK == 0) {
            total += tree_of(lane);
            memset(lane, 0, sizeof lane);
        }
        lane[i % 16] += operand(e, o, i, 0);
        whole[i % 16] += operand(e, o, i, 0);
        out[i] = kernel_canonical(i < KERNEL_SUM ? tree_of(whole) : total + tree_of(lane));
    }
}

void explain_running(const Explain *e, ValuesFn values, const void *context, float *out)
{
    Op op = graph_node(e->graph, e->node)->op;
    REQUIRE(op == OP_CONTRACT || op == OP_SUM);
    Operands o = operands(e, values, context);
    if (op == OP_CONTRACT)
        running_contract(e, &o, out);
    else
        running_sum(e, &o, out);
}

/* --- what depends on the input --- */

typedef struct VaryCell {
    size_t cell;
    NodeId node; /* NO_NODE: the place is free */
    bool varies;
} VaryCell;

/* Values that an edit put in the place of a node's are another run's or a file's: they came from a picture. What an
 * edit needs besides (masks, factors) did not. */
static bool patched_in(const Node *n)
{
    return n->op == OP_LEAF && n->leaf.kind == LEAF_HOST && (n->flags & NODE_EDITED) && !strstr(n->path, ".edit_");
}

/* Rows of a table picked by the words of the input: its cells are weights, which ones is the input's. */
static bool picked(const Graph *g, const Node *n)
{
    return n->op == OP_GATHER && site_was(g, n->path, SITE_EMBED);
}

void vary_init(Vary *v, const Graph *g)
{
    *v = (Vary){.g = g, .node = xcalloc((size_t)g->count + 1, sizeof(bool))};
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        v->node[n] = patched_in(node) || picked(g, node) ||
                     (node->op == OP_LEAF && (node->leaf.kind == LEAF_INPUT || node->leaf.kind == LEAF_RUN));
        for (int k = 0; k < op_inputs(node->op); k++)
            v->node[n] = v->node[n] || v->node[node->in[k]];
    }
}

void vary_free(Vary *v)
{
    free(v->node);
    free(v->known);
    *v = (Vary){0};
}

static VaryCell *place_of(VaryCell *known, size_t cap, NodeId n, size_t cell)
{
    uint64_t h = ((uint64_t)n * 0x9e3779b97f4a7c15u) ^ ((uint64_t)cell * 0xc2b2ae3d27d4eb4fu);
    size_t i = (size_t)(h ^ h >> 29) & (cap - 1);
    while (known[i].node != NO_NODE && (known[i].node != n || known[i].cell != cell))
        i = (i + 1) & (cap - 1);
    return &known[i];
}

static void make_room(Vary *v)
{
    if (2 * (v->count + 1) <= v->cap)
        return;
    size_t cap = v->cap ? 2 * v->cap : 1024;
    VaryCell *more = xmalloc(size_mul(cap, sizeof *more));
    for (size_t i = 0; i < cap; i++)
        more[i].node = NO_NODE;
    for (size_t i = 0; i < v->cap; i++)
        if (v->known[i].node != NO_NODE)
            *place_of(more, cap, v->known[i].node, v->known[i].cell) = v->known[i];
    free(v->known);
    v->known = more;
    v->cap = cap;
}

static void remember(Vary *v, NodeId n, size_t cell, bool varies)
{
    make_room(v);
    *place_of(v->known, v->cap, n, cell) = (VaryCell){cell, n, varies};
    v->count++;
}

/* As deep as the graph: one call for each node on a path. */
static bool find_out(Vary *v, NodeId n, size_t cell)
{
    Explain e = explain_open(v->g, n, cell);
    for (size_t i = 0; i < e.terms; i++) {
        Term t = explain_term(&e, i);
        for (int k = 0; k < t.operands; k++)
            if (vary_cell(v, t.node[k], t.cell[k]))
                return true;
    }
    return false;
}

bool vary_cell(Vary *v, NodeId n, size_t cell)
{
    if (!v->node[n])
        return false;
    const Node *node = graph_node(v->g, n);
    if (node->op == OP_LEAF || picked(v->g, node))
        return true;
    const VaryCell *known = v->cap ? place_of(v->known, v->cap, n, cell) : NULL;
    if (known && known->node != NO_NODE)
        return known->varies;
    bool varies = find_out(v, n, cell);
    remember(v, n, cell, varies);
    return varies;
}
