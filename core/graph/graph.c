#include "core/graph/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/utf8.h"

static const struct {
    const char *word, *formula;
    int inputs;
} OPS[OP_COUNT] = {
#define OP(symbol, word_, inputs_, formula_) [OP_##symbol] = {.word = word_, .formula = formula_, .inputs = inputs_},
#include "core/graph/ops.def"
#undef OP
};

const char *op_word(Op op)
{
    return OPS[op].word;
}

int op_inputs(Op op)
{
    return OPS[op].inputs;
}

const char *op_formula(Op op)
{
    return OPS[op].formula;
}

/* A hash table over the paths. The nodes of one bucket are chained through Node.chained, last node first: so the first
 * match is the last node of a path, nodes taken from the end of the list are the first of their chain, and a graph with
 * fewer nodes that shares the table (a struct copy with another count) skips those it lacks. */

enum { BUCKETS_MIN = 64 };

/* FNV-1a. */
static uint32_t path_hash(const char *path)
{
    uint32_t h = 0x811c9dc5u;
    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 0x01000193u;
    return h;
}

static NodeId *bucket_of(const Graph *g, uint32_t hash)
{
    return &g->bucket[hash & (g->buckets - 1)];
}

static void chain_first(Graph *g, NodeId n)
{
    NodeId *b = bucket_of(g, g->nodes[n].path_hash);
    g->nodes[n].chained = *b;
    *b = n;
}

/* Twice the buckets, at least one per node. */
static void widen(Graph *g)
{
    g->buckets = g->buckets ? size_mul(g->buckets, 2) : BUCKETS_MIN;
    g->bucket = xrealloc(g->bucket, size_mul(g->buckets, sizeof *g->bucket));
    for (size_t i = 0; i < g->buckets; i++)
        g->bucket[i] = NO_NODE;
}

/* Node n, the last of the list, enters; its path is set. */
static void index_add(Graph *g, NodeId n)
{
    REQUIRE(n == g->count - 1);
    g->nodes[n].path_hash = path_hash(g->nodes[n].path);
    if ((size_t)g->count <= g->buckets) {
        chain_first(g, n);
        return;
    }
    widen(g);
    for (NodeId i = 0; i <= n; i++)
        chain_first(g, i);
}

/* Node n leaves: before its path changes (then index_add_again), or before it is taken from the end of the list. */
static void index_remove(Graph *g, NodeId n)
{
    NodeId *at = bucket_of(g, g->nodes[n].path_hash);
    while (*at != n)
        at = &g->nodes[*at].chained;
    *at = g->nodes[n].chained;
}

/* Node n, wherever it stands in the list, enters under its new path. */
static void index_add_again(Graph *g, NodeId n)
{
    g->nodes[n].path_hash = path_hash(g->nodes[n].path);
    NodeId *at = bucket_of(g, g->nodes[n].path_hash);
    while (*at > n)
        at = &g->nodes[*at].chained;
    g->nodes[n].chained = *at;
    *at = n;
}

void graph_init(Graph *g)
{
    *g = (Graph){0};
}

void graph_free(Graph *g)
{
    arena_free(&g->arena);
    free(g->axes);
    free(g->nodes);
    free(g->bucket);
    *g = (Graph){0};
}

int graph_axis(Graph *g, Axis a)
{
    REQUIRE(a.n >= 1);
    g->axes = grow(g->axes, &g->axis_cap, (size_t)g->axis_count, sizeof *g->axes);
    g->axes[g->axis_count] = a;
    return g->axis_count++;
}

int graph_axis_find(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    return AXIS_NONE;
}

void graph_scope(Graph *g, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = utf8_vprint(g->scope, sizeof g->scope - 1, fmt, ap);
    va_end(ap);
    REQUIRE(n >= 0 && (size_t)n < sizeof g->scope - 1);
    if (n > 0)
        memcpy(g->scope + n, ".", 2);
}

NodeId graph_append(Graph *g, const Node *n)
{
    g->nodes = grow(g->nodes, &g->cap, (size_t)g->count, sizeof *g->nodes);
    g->nodes[g->count++] = *n;
    index_add(g, g->count - 1);
    return g->count - 1;
}

static NodeId add(Graph *g, const char *name, Node n)
{
    n.path = arena_printf(&g->arena, "%s%s", g->scope, name);
    for (int k = op_inputs(n.op); k < NODE_INPUTS; k++)
        n.in[k] = NO_NODE;
    for (int k = 0; k < op_inputs(n.op); k++)
        REQUIRE(n.in[k] >= 0 && n.in[k] < g->count);
    n.origin = n.counterpart = NO_NODE;
    dims_cells(g->axes, n.dims); /* dies here if the size overflows */
    return graph_append(g, &n);
}

static Dims dims_of(const Graph *g, NodeId n)
{
    return graph_node(g, n)->dims;
}

NodeId graph_leaf(Graph *g, const char *name, Dims d, Leaf leaf)
{
    REQUIRE(leaf.data != NULL);
    return add(g, name, (Node){.op = OP_LEAF, .dims = d, .leaf = leaf});
}

NodeId graph_leaf_stored(Graph *g, const char *name, Dims d, Leaf leaf, LeafStore store)
{
    const bool band = store.form == LEAF_BAND;
    REQUIRE(!leaf.data && store.form != LEAF_FLOATS && (band ? d.n == 2 : store.half != NULL));
    return add(g, name, (Node){.op = OP_LEAF, .dims = d, .leaf = leaf, .store = store});
}

const Node *graph_stored(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    while (node->op == OP_VIEW)
        node = graph_node(g, node->in[0]);
    return node->store.form == LEAF_FLOATS ? NULL : node;
}

static void read_band(const LeafStore *s, size_t keys, size_t first, size_t count, float *out)
{
    size_t row = first / keys, u = first % keys;
    for (size_t i = 0; i < count; i++) {
        const size_t t = (size_t)s->first + row;
        out[i] = u <= t && (!s->window || t - u < (size_t)s->window);
        if (++u == keys)
            u = 0, row++;
    }
}

void leaf_read(const Graph *g, const Node *leaf, size_t first, size_t count, float *out)
{
    const LeafStore *s = &leaf->store;
    switch (s->form) {
    case LEAF_FLOATS: memcpy(out, leaf->leaf.data + first, count * sizeof *out); return;
    case LEAF_BF16: kernels()->widen[HALF_BF16](out, s->half + first, count); return;
    case LEAF_F16: kernels()->widen[HALF_F16](out, s->half + first, count); return;
    case LEAF_BAND: read_band(s, (size_t)g->axes[leaf->dims.axis[1]].n, first, count, out); return;
    }
}

float leaf_cell(const Graph *g, const Node *leaf, size_t cell)
{
    float x;
    leaf_read(g, leaf, cell, 1, &x);
    return x;
}

bool leaf_read_as_stored(const Graph *g, NodeId n, int k)
{
    const Node *node = graph_node(g, n), *leaf = graph_stored(g, node->in[k]);
    if (!leaf)
        return false;
    switch (node->op) {
    case OP_CONTRACT: return k == 1 && leaf->store.form != LEAF_BAND;
    case OP_WHERE: return k == 0;
    case OP_CONCAT:
    case OP_SLICE:
    case OP_GATHER: return true;
    default: return false;
    }
}

void graph_fill_later(Graph *g, NodeId leaf, LeafMaker *maker)
{
    REQUIRE(leaf >= 0 && leaf < g->count && g->nodes[leaf].op == OP_LEAF && maker && maker->make);
    g->nodes[leaf].maker = maker;
}

bool graph_fill(const Graph *g, NodeId leaf, int64_t deadline_ns)
{
    LeafMaker *m = graph_node(g, leaf)->maker;
    if (m && !m->done)
        m->done = m->make(m->context, deadline_ns);
    return !m || m->done;
}

NodeId graph_const(Graph *g, const char *name, Dims d, float value)
{
    size_t cells = graph_dims_cells(g, d);
    float *data = arena_alloc(&g->arena, size_mul(cells, sizeof *data));
    for (size_t i = 0; i < cells; i++)
        data[i] = value;
    return graph_leaf(g, name, d, (Leaf){LEAF_CONST, data, "constant"});
}

NodeId graph_contract(Graph *g, const char *name, NodeId a, NodeId b, Dims out)
{
    Dims da = dims_of(g, a), db = dims_of(g, b);
    Dims reduced = dims_minus(da, out);
    REQUIRE(dims_minus(reduced, db).n == 0);             /* b has every reduced axis */
    REQUIRE(dims_minus(dims_minus(db, out), da).n == 0); /* and nothing else that is summed */
    REQUIRE(dims_minus(out, dims_union(da, db)).n == 0);
    return add(g, name, (Node){.op = OP_CONTRACT, .in = {a, b}, .dims = out});
}

NodeId graph_zip(Graph *g, const char *name, Op op, NodeId a, NodeId b)
{
    REQUIRE(op >= OP_ADD && op <= OP_DIV);
    return add(g, name, (Node){.op = op, .in = {a, b}, .dims = dims_union(dims_of(g, a), dims_of(g, b))});
}

NodeId graph_map(Graph *g, const char *name, MapFn f, NodeId a)
{
    return add(g, name, (Node){.op = OP_MAP, .map = f, .in = {a}, .dims = dims_of(g, a)});
}

NodeId graph_reduce(Graph *g, const char *name, Op op, NodeId a, Dims out)
{
    REQUIRE(op == OP_SUM || op == OP_MAX);
    REQUIRE(dims_minus(out, dims_of(g, a)).n == 0);
    return add(g, name, (Node){.op = op, .in = {a}, .dims = out});
}

NodeId graph_view(Graph *g, const char *name, NodeId a, Dims out)
{
    REQUIRE(graph_cells(g, a) == graph_dims_cells(g, out));
    return add(g, name, (Node){.op = OP_VIEW, .in = {a}, .dims = out, .flags = NODE_DERIVED});
}

NodeId graph_concat(Graph *g, const char *name, NodeId a, int a_axis, NodeId b, int b_axis, int out_axis)
{
    Dims out = dims_replace(dims_of(g, a), a_axis, out_axis);
    REQUIRE(dims_equal(out, dims_replace(dims_of(g, b), b_axis, out_axis)));
    REQUIRE(g->axes[a_axis].n + g->axes[b_axis].n == g->axes[out_axis].n);
    return add(g, name,
               (Node){.op = OP_CONCAT, .in = {a, b}, .dims = out, .axis = out_axis, .in_axis = {a_axis, b_axis}});
}

NodeId graph_slice(Graph *g, const char *name, NodeId a, int a_axis, int start, int out_axis)
{
    int len = out_axis == AXIS_NONE ? 1 : g->axes[out_axis].n;
    REQUIRE(dims_find(dims_of(g, a), a_axis) >= 0 && start >= 0 && start + len <= g->axes[a_axis].n);
    Dims out = dims_replace(dims_of(g, a), a_axis, out_axis);
    return add(g, name,
               (Node){.op = OP_SLICE, .in = {a}, .dims = out, .axis = out_axis, .in_axis = {a_axis}, .start = start});
}

NodeId graph_take(Graph *g, const char *name, NodeId a, int a_axis, const int *index, int out_axis)
{
    Dims d = dims_of(g, a);
    size_t n = (size_t)g->axes[out_axis].n;
    REQUIRE(dims_find(d, a_axis) >= 0 && (out_axis == a_axis || dims_find(d, out_axis) < 0));
    int *copy = arena_alloc(&g->arena, size_mul(n, sizeof *copy));
    for (size_t i = 0; i < n; i++) {
        REQUIRE(index[i] >= 0 && index[i] < g->axes[a_axis].n);
        copy[i] = index[i];
    }
    return add(g, name,
               (Node){.op = OP_GATHER,
                      .in = {a},
                      .dims = dims_replace(d, a_axis, out_axis),
                      .axis = out_axis,
                      .in_axis = {a_axis},
                      .index = copy});
}

NodeId graph_gather(Graph *g, const char *name, NodeId a, int axis, const int *index)
{
    return graph_take(g, name, a, axis, index, axis);
}

/* Node.index of a SCATTER: index[n] as given, then for every position q of the node the first of its inputs (and one
 * past the last position's), then the inputs themselves, by position and ascending: see scatter_inputs. */
static const int *scatter_table(Graph *g, const int *index, size_t n, size_t positions)
{
    int *table = arena_alloc(&g->arena, size_mul(size_add(size_mul(n, 2), positions + 1), sizeof *table));
    int *first = table + n, *inputs = first + positions + 1, at = 0;
    for (size_t i = 0; i < n; i++) {
        REQUIRE(index[i] >= 0 && (size_t)index[i] < positions);
        table[i] = index[i];
    }
    memset(first, 0, (positions + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        first[index[i]]++;
    for (size_t q = 0; q <= positions; q++) { /* counts become starts */
        int count = first[q];
        first[q] = at;
        at += count;
    }
    for (size_t i = 0; i < n; i++)
        inputs[first[index[i]]++] = (int)i;
    for (size_t q = positions; q > 0; q--) /* each start had moved to its end */
        first[q] = first[q - 1];
    first[0] = 0;
    return table;
}

NodeId graph_scatter(Graph *g, const char *name, NodeId a, int a_axis, Dims out, int axis, const int *index)
{
    size_t n = a_axis == AXIS_NONE ? 1 : (size_t)g->axes[a_axis].n;
    REQUIRE(dims_find(out, axis) >= 0 && dims_equal(dims_replace(out, axis, a_axis), dims_of(g, a)));
    return add(g, name,
               (Node){.op = OP_SCATTER,
                      .in = {a},
                      .dims = out,
                      .axis = axis,
                      .in_axis = {a_axis},
                      .index = scatter_table(g, index, n, (size_t)g->axes[axis].n)});
}

NodeId graph_first(Graph *g, const char *name, NodeId a, NodeId max)
{
    REQUIRE(dims_minus(dims_of(g, max), dims_of(g, a)).n == 0);
    return add(g, name, (Node){.op = OP_FIRST, .in = {a, max}, .dims = dims_of(g, a)});
}

NodeId graph_where(Graph *g, const char *name, NodeId mask, NodeId yes, NodeId no)
{
    Dims out = dims_union(dims_of(g, yes), dims_of(g, mask));
    REQUIRE(dims_minus(dims_of(g, no), out).n == 0);
    return add(g, name, (Node){.op = OP_WHERE, .in = {mask, yes, no}, .dims = out});
}

void graph_flag(Graph *g, NodeId n, unsigned flags)
{
    REQUIRE(n >= 0 && n < g->count);
    g->nodes[n].flags |= flags;
}

void graph_truncate(Graph *g, NodeId count)
{
    REQUIRE(count >= 0 && count <= g->count);
    for (NodeId n = g->count; n-- > count;)
        index_remove(g, n);
    g->count = count;
}

void graph_rename(Graph *g, NodeId n, const char *path)
{
    REQUIRE(n >= 0 && n < g->count);
    index_remove(g, n);
    g->nodes[n].path = arena_strdup(&g->arena, path);
    index_add_again(g, n);
}

const Node *graph_node(const Graph *g, NodeId n)
{
    REQUIRE(n >= 0 && n < g->count);
    return &g->nodes[n];
}

size_t graph_cells(const Graph *g, NodeId n)
{
    return graph_dims_cells(g, graph_node(g, n)->dims);
}

size_t graph_dims_cells(const Graph *g, Dims d)
{
    return dims_cells(g->axes, d);
}

Dims graph_reduced(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    bool reduces = node->op == OP_CONTRACT || node->op == OP_SUM || node->op == OP_MAX;
    return reduces ? dims_minus(dims_of(g, node->in[0]), node->dims) : DIMS_SCALAR;
}

const char *node_name(const Node *n)
{
    if (strncmp(n->path, "grad.", strlen("grad.")) == 0)
        return n->path;
    const char *dot = strrchr(n->path, '.');
    return dot ? dot + 1 : n->path;
}

NodeId graph_find(const Graph *g, const char *path)
{
    uint32_t hash = path_hash(path);
    for (NodeId n = g->buckets ? *bucket_of(g, hash) : NO_NODE; n != NO_NODE; n = g->nodes[n].chained)
        if (n < g->count && g->nodes[n].path_hash == hash && strcmp(g->nodes[n].path, path) == 0)
            return n;
    return NO_NODE;
}
