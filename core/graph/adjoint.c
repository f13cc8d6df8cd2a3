#include "core/graph/grad.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/kernels/map_exact.h"

enum { PATH = 256 };

NodeId adjoint_gradient(const Graph *g, NodeId n, const char *prefix)
{
    char path[PATH];
    const char *own = graph_node(g, n)->path;
    if (graph_find(g, own) != n || snprintf(path, sizeof path, "%s%s", prefix, own) >= (int)sizeof path)
        return NO_NODE; /* an edit put another node in its place */
    NodeId found = graph_find(g, path);
    return found != NO_NODE && dims_equal(graph_node(g, found)->dims, graph_node(g, n)->dims) ? found : NO_NODE;
}

/* Does a gradient pass from a node to its input k? As grad.h says, and as nothing else does. */
static bool passes(const Node *n, int k)
{
    if (n->flags & NODE_SHIFT || n->op == OP_LEAF || n->op == OP_FIRST || (n->op == OP_WHERE && k == 0))
        return false;
    return n->op != OP_MAP || (n->map != MAP_ROUND_BF16 && n->map != MAP_ROUND_F16 &&
                               !(n->map >= MAP_GELU_GRAD && n->map <= MAP_RELU_GRAD));
}

int adjoint_readers(const Graph *g, NodeId n, const char *prefix, NodeId *reader, int most)
{
    int count = 0;
    for (NodeId c = n + 1; c < g->count && count < most; c++) {
        const Node *node = graph_node(g, c);
        bool reads = false;
        for (int k = 0; k < op_inputs(node->op); k++)
            reads = reads || (node->in[k] == n && passes(node, k));
        if (reads && adjoint_gradient(g, c, prefix) != NO_NODE)
            reader[count++] = c;
    }
    return count;
}

typedef struct Reader {
    const Graph *g;
    const Node *node;
    const float *in[NODE_INPUTS], *out, *gradient;
    Adjoint *a;
    NodeId n;
} Reader;

static void add(const Reader *r, size_t cell, double x, double size)
{
    r->a->sum[cell] += x;
    r->a->size[cell] += fabs(size);
}

/* A cell of operand k: a mask by a rule and a weight in 16 bits need not be there as floats. */
static double operand(const Reader *r, int k, size_t cell)
{
    const bool is = k < op_inputs(r->node->op);
    const Node *stored = is && !r->in[k] ? graph_stored(r->g, r->node->in[k]) : NULL;
    return stored ? (double)leaf_cell(r->g, stored, cell) : is && r->in[k] ? (double)r->in[k][cell] : 0;
}

/* d out / d in[k] at one cell, and what its rounding is measured against. */
static double slope(const Reader *r, int k, const size_t at[WALK_OPERANDS], double *size)
{
    double a = operand(r, 0, at[1]), b = operand(r, 1, at[2]), s = 0;
    switch (r->node->op) {
    case OP_ADD:
    case OP_SUM: s = 1; break;
    case OP_SUB: s = k ? -1 : 1; break;
    case OP_CONTRACT:
    case OP_MUL: s = k ? a : b; break;
    case OP_DIV: s = k ? -a / (b * b) : 1 / b; break;
    case OP_WHERE: s = (a != 0) == (k == 1); break;
    case OP_MAP:
        s = map_exact_slope(r->node->map, a);
        *size = map_exact_slope_size(r->node->map, a);
        return s;
    default: UNREACHABLE("an operation without a slope");
    }
    *size = fabs(s);
    return s;
}

/* Operations whose every cell is made from cells that walks find. */
static void through_walk(const Reader *r)
{
    const Node *n = r->node;
    Dims d[WALK_OPERANDS] = {n->dims}, over = n->dims;
    int inputs = op_inputs(n->op);
    for (int k = 0; k < inputs; k++)
        d[k + 1] = graph_node(r->g, n->in[k])->dims;
    over = dims_union(d[1], over); /* the first operand's order: max asks for it */
    Walk w = walk_make(r->g->axes, over, d, inputs + 1);
    bool *taken = n->op == OP_MAX ? xcalloc(graph_dims_cells(r->g, n->dims), sizeof *taken) : NULL;
    WalkPlace at = walk_place(&w, 0);
    for (size_t i = 0; i < w.count; i++, walk_next_cell(&w, &at)) {
        double gy = (double)r->gradient[at.offset[0]], size;
        if (taken) {
            bool here = !taken[at.offset[0]] && r->in[0][at.offset[1]] == r->out[at.offset[0]];
            taken[at.offset[0]] |= here;
            add(r, at.offset[1], here ? gy : 0, here ? gy : 0);
            continue;
        }
        for (int k = 0; k < inputs; k++) {
            if (n->in[k] != r->n || !passes(n, k))
                continue;
            double s = slope(r, k, at.offset, &size);
            add(r, at.offset[k + 1], gy * s, gy * size);
        }
    }
    free(taken);
    r->a->terms += (double)w.count / (double)graph_cells(r->g, r->n);
}

/* Operations that only move cells, or add up what is moved to one place. */
static void through_moves(const Reader *r, NodeId c)
{
    Explain e = explain_open(r->g, c, 0);
    size_t cells = graph_cells(r->g, c);
    for (size_t i = 0; i < cells; i++) {
        explain_move(&e, i);
        for (size_t k = 0; k < e.terms; k++) {
            Term t = explain_term(&e, k);
            if (t.node[0] == r->n)
                add(r, t.cell[0], (double)r->gradient[i], (double)r->gradient[i]);
        }
    }
    r->a->terms += (double)cells / (double)graph_cells(r->g, r->n) + 1;
}

void adjoint_of(const Graph *g, NodeId n, const char *prefix, const NodeId *reader, int readers, ValuesFn values,
                const void *context, Adjoint *out)
{
    size_t cells = graph_cells(g, n);
    *out = (Adjoint){xcalloc(cells, sizeof(double)), xcalloc(cells, sizeof(double)), 0, readers};
    for (int i = 0; i < readers; i++) {
        const Node *node = graph_node(g, reader[i]);
        Reader r = {.g = g,
                    .node = node,
                    .out = values(context, reader[i]),
                    .gradient = values(context, adjoint_gradient(g, reader[i], prefix)),
                    .a = out,
                    .n = n};
        for (int k = 0; k < op_inputs(node->op); k++)
            r.in[k] = values(context, node->in[k]);
        if (node->op == OP_VIEW || node->op == OP_CONCAT || node->op == OP_SLICE || node->op == OP_GATHER ||
            node->op == OP_SCATTER)
            through_moves(&r, reader[i]);
        else
            through_walk(&r);
    }
}

void adjoint_free(Adjoint *a)
{
    free(a->sum);
    free(a->size);
    *a = (Adjoint){NULL, NULL, 0, 0};
}

double adjoint_bound(const Adjoint *a, size_t i)
{
    return (a->terms + 48) * 0x1p-24 * a->size[i] + 0x1p-126;
}
