#include "core/graph/vary.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/explain.h"

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
