/* Gradients: every operation in many shapes against central differences of an evaluation in double that knows nothing
 * of the rules. */
#include "tests/core_graph/doubles.h"

#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/graph/edit.h"
#include "core/graph/grad.h"
#include "core/graph/run.h"

/* Nodes `moved` … y in double, those before as they are; cell `cell` of node `moved` is shifted by h. Returns y's only
 * cell. */
static double evaluate(const Graph *g, NodeId y, NodeId moved, size_t cell, double h, double **values)
{
    for (NodeId n = moved; n <= y; n++) {
        doubles_node(g, n, values);
        if (n == moved)
            values[n][cell] += h;
    }
    return values[y][0];
}

static const float *peek(const void *run, NodeId n)
{
    const float *v = run_peek(run, n);
    assert_non_null(v);
    return v;
}

/* Every cell of every node that was added is what its terms say, every path is there once. */
static void check_added(const Graph *g, Run *r, NodeId from)
{
    for (NodeId n = from; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        const float *v = run_need(r, n);
        for (int k = 0; k < op_inputs(node->op); k++)
            run_need(r, node->in[k]);
        for (size_t c = 0; c < graph_cells(g, n); c++) {
            Explain e = explain_open(g, n, c);
            float f = explain_fold(&e, peek, r);
            if (memcmp(&f, &v[c], sizeof f) != 0)
                fail_msg("%s cell %zu: stored %a, explained %a", node->path, c, (double)v[c], (double)f);
        }
        assert_true((node->flags & (NODE_PROBE | NODE_DERIVED)) == (NODE_PROBE | NODE_DERIVED));
        if (graph_find(g, node->path) != n || strncmp(node->path, "grad.", 5) != 0)
            fail_msg("'%s' is there twice", node->path);
        for (NodeId m = 0; m < n; m++)
            if (strcmp(graph_node(g, m)->path, node->path) == 0)
                fail_msg("'%s' is there twice", node->path);
    }
}

/* The scalar y's gradient in every node before it, against differences. Returns how many cells were compared. */
static size_t check_gradients(Graph *g, NodeId y)
{
    assert_int_equal(graph_cells(g, y), 1);
    NodeId seed = grad_seed(g, y, 0, "grad."), before = g->count;
    const NodeId *table = grad_add(g, y, seed, NULL, 0, "grad.");
    double **values = doubles_new(g, y);
    Run *r = run_new(g, NULL, NULL);
    size_t compared = 0;
    const double h = 1e-6;
    evaluate(g, y, 0, 0, 0, values);
    for (NodeId n = 0; n <= y; n++) {
        if (table[n] == NO_NODE)
            continue;
        const Node *grad = graph_node(g, table[n]);
        assert_true(dims_equal(grad->dims, graph_node(g, n)->dims));
        char path[256];
        snprintf(path, sizeof path, "grad.%s", graph_node(g, n)->path);
        assert_string_equal(grad->path, path);
        const float *have = run_need(r, table[n]);
        size_t cells = graph_cells(g, n);
        double *want = calloc(cells, sizeof *want), largest = 0;
        for (size_t c = 0; c < cells; c++) {
            want[c] = (evaluate(g, y, n, c, h, values) - evaluate(g, y, n, c, -h, values)) / (2 * h);
            largest = fmax(largest, fabs(want[c]));
        }
        evaluate(g, y, n, 0, 0, values);
        for (size_t c = 0; c < cells; c++, compared++)
            if (!(fabs((double)have[c] - want[c]) <= 1e-5 * largest + 1e-7))
                fail_msg("grad.%s cell %zu: %.9g, differences %.9g", graph_node(g, n)->path, c, (double)have[c],
                         want[c]);
        free(want);
    }
    check_added(g, r, before);
    doubles_free(values, y);
    run_free(r);
    return compared;
}

/* --- graphs of one or a few operations --- */

static uint64_t drawn; /* every leaf gets other numbers */

static int axis(Graph *g, const char *sym, int n)
{
    Axis a = {.name = "test", .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

/* Numbers in ±[0.3, 1.3], or positive ones. */
static NodeId leaf(Graph *g, const char *name, Dims d, bool positive)
{
    size_t n = graph_dims_cells(g, d);
    float *v = arena_alloc(&g->arena, n * sizeof *v);
    Rng r = rng_seed(++drawn, 1);
    for (size_t i = 0; i < n; i++) {
        float x = 0.3f + rng_unit(&r);
        v[i] = positive || rng_unit(&r) < 0.5f ? x : -x;
    }
    return graph_leaf(g, name, d, (Leaf){LEAF_TENSOR, v, name});
}

/* How what is tested becomes one number: weighted, so that every cell has a gradient of its own; plainly summed, so
 * that all have the same and gradients stay thin; or summed over its first axis and weighted over the others. */
typedef enum End { WEIGHTED, SUMMED, HALF, END_COUNT } End;

static NodeId end(Graph *g, NodeId x, End how)
{
    Dims d = graph_node(g, x)->dims;
    if (how == SUMMED)
        return graph_reduce(g, "y", OP_SUM, x, DIMS_SCALAR);
    if (how == HALF && d.n > 0) {
        d = dims_minus(d, DIMS(d.axis[0]));
        x = graph_reduce(g, "part", OP_SUM, x, d);
    }
    return graph_contract(g, "y", leaf(g, "weights", d, false), x, DIMS_SCALAR);
}

typedef NodeId BuildFn(Graph *g, int variant);

static void check_operation(BuildFn *build, int variants)
{
    for (int v = 0; v < variants; v++)
        for (int how = 0; how < END_COUNT; how++) {
            Graph g;
            graph_init(&g);
            NodeId x = build(&g, v);
            assert_true(check_gradients(&g, end(&g, x, (End)how)) > 2);
            graph_free(&g);
        }
}

/* Pairs of shapes that a broadcast can meet: equal, lacking axes on either side, in another order, sharing nothing, a
 * number. */
enum { SHAPES = 8 };
static void shapes(Graph *g, int v, Dims *a, Dims *b)
{
    int t = axis(g, "t", 3), d = axis(g, "d", 4), h = axis(g, "h", 2);
    const Dims pairs[SHAPES][2] = {
        {DIMS(t, d), DIMS(t, d)}, {DIMS(t, d), DIMS(d, t)}, {DIMS(t, d), DIMS(d)},        {DIMS(t), DIMS(t, d)},
        {DIMS(h, t), DIMS(d, t)}, {DIMS(t), DIMS(d)},       {DIMS(h, t, d), DIMS_SCALAR}, {DIMS_SCALAR, DIMS(d, h)},
    };
    *a = pairs[v][0];
    *b = pairs[v][1];
}

static NodeId build_zip(Graph *g, int v)
{
    Dims a, b;
    shapes(g, v % SHAPES, &a, &b);
    NodeId x = leaf(g, "a", a, false), y = leaf(g, "b", b, false);
    return graph_zip(g, "z", (Op)(OP_ADD + v / SHAPES), x, y);
}

/* Both operands the same node, and one that a third reads too. */
static NodeId build_twice(Graph *g, int v)
{
    int t = axis(g, "t", 3), d = axis(g, "d", 4);
    NodeId x = leaf(g, "a", DIMS(t, d), false), m = graph_map(g, "m", MAP_TANH, x);
    NodeId sq = graph_zip(g, "sq", (Op)(OP_ADD + v), m, m);
    NodeId s = graph_reduce(g, "s", OP_SUM, sq, DIMS(t));
    return graph_zip(g, "z", OP_ADD, graph_zip(g, "zm", OP_MUL, s, m), graph_zip(g, "zs", OP_MUL, sq, s));
}

enum { SMOOTH = MAP_GELU_GRAD };
static NodeId build_map(Graph *g, int v)
{
    MapFn f = v < SMOOTH ? (MapFn)v : v == SMOOTH ? MAP_COS : MAP_SIN;
    bool positive = f == MAP_LOG || f == MAP_SQRT || f == MAP_RSQRT || f == MAP_XLOGX;
    int t = axis(g, "t", 5), d = axis(g, "d", 7);
    return graph_map(g, "z", f, leaf(g, "a", DIMS(t, d), positive));
}

/* Contractions with and without batch, rows, columns and sums, in several orders. */
enum { CONTRACTIONS = 9 };
static NodeId build_contract(Graph *g, int v)
{
    int t = axis(g, "t", 3), u = axis(g, "u", 2), h = axis(g, "h", 2), e = axis(g, "e", 5), d = axis(g, "d", 4);
    const Dims shape[CONTRACTIONS][3] = {
        {DIMS(t, d), DIMS(h, e, d), DIMS(t, h, e)},    /* a layer */
        {DIMS(t, h, e), DIMS(u, h, e), DIMS(h, t, u)}, /* scores */
        {DIMS(h, t, u), DIMS(u, h, e), DIMS(t, h, e)}, /* mixing */
        {DIMS(t, h, e), DIMS(d, h, e), DIMS(t, d)},    /* two summed */
        {DIMS(t), DIMS(d), DIMS(d, t)},                /* nothing summed */
        {DIMS(d, t), DIMS(t, d), DIMS_SCALAR},         /* everything */
        {DIMS(h, t), DIMS(t, h), DIMS(t)},             /* a batch of products */
        {DIMS(d, h), DIMS(u, d, h), DIMS(h, u)},       /* one row */
        {DIMS(e), DIMS(e), DIMS_SCALAR},
    };
    NodeId a = leaf(g, "a", shape[v][0], false), b = leaf(g, "b", shape[v][1], false);
    return graph_contract(g, "z", a, b, shape[v][2]);
}

static NodeId build_reduce(Graph *g, int v)
{
    int t = axis(g, "t", 3), d = axis(g, "d", 4), h = axis(g, "h", 2);
    const Dims out[] = {DIMS(t, d), DIMS(h, d), DIMS(h), DIMS_SCALAR, DIMS(d, h), DIMS(d, t, h)};
    NodeId a = leaf(g, "a", DIMS(h, t, d), false);
    return graph_reduce(g, "z", v % 2 ? OP_MAX : OP_SUM, a, out[v / 2]);
}

static NodeId build_view(Graph *g, int v)
{
    int t = axis(g, "t", 6), u = axis(g, "u", 6), y = axis(g, "y", 2), x = axis(g, "x", 3), d = axis(g, "d", 4);
    const Dims shape[][2] = {{DIMS(t, d), DIMS(u, d)},
                             {DIMS(y, x, d), DIMS(t, d)},
                             {DIMS(t, d), DIMS(y, x, d)},
                             {DIMS(t, d), DIMS(t, d)}};
    return graph_view(g, "z", graph_map(g, "m", MAP_TANH, leaf(g, "a", shape[v][0], false)), shape[v][1]);
}

static NodeId build_concat(Graph *g, int v)
{
    int n = axis(g, "n", 2), p = axis(g, "p", 3), t = axis(g, "t", 5), d = axis(g, "d", 4), b = axis(g, "b", 2);
    NodeId x, y;
    if (v == 0) {
        x = leaf(g, "a", DIMS(n, d), false);
        y = leaf(g, "b", DIMS(p, d), false);
    } else {
        x = leaf(g, "a", v == 1 ? DIMS(b, n, d) : DIMS(b, d, n), false);
        y = leaf(g, "b", v == 1 ? DIMS(b, p, d) : DIMS(b, d, p), false);
    }
    return graph_concat(g, "z", x, n, y, p, t);
}

static NodeId build_slice(Graph *g, int v)
{
    int t = axis(g, "t", 5), p = axis(g, "p", 3), d = axis(g, "d", 4), b = axis(g, "b", 2);
    NodeId a = leaf(g, "a", v % 2 ? DIMS(b, d, t) : DIMS(b, t, d), false);
    return graph_slice(g, "z", a, t, 2, v < 2 ? p : AXIS_NONE);
}

static NodeId build_gather(Graph *g, int v)
{
    int t = axis(g, "t", 5), d = axis(g, "d", 4);
    const int order[] = {4, 0, 0, 2, 0}; /* not all are read, one three times */
    NodeId a = leaf(g, "a", v % 2 ? DIMS(d, t) : DIMS(t, d), false);
    if (v < 2)
        return graph_gather(g, "z", a, t, order);
    const int rows[] = {3, 0, 4, 4, 1, 0, 0}; /* of a table, to an axis of another length */
    return graph_take(g, "z", a, t, rows, axis(g, "w", 7));
}

static NodeId build_scatter(Graph *g, int v)
{
    int t = axis(g, "t", 5), p = axis(g, "p", 3), d = axis(g, "d", 4);
    const int row[] = {1, 2, 3}, places[] = {4, 0, 0, 2, 0};
    if (v == 0)
        return graph_scatter(g, "z", leaf(g, "a", DIMS(p, d), false), p, DIMS(t, d), t, row);
    if (v == 1)
        return graph_scatter(g, "z", leaf(g, "a", DIMS(d, t), false), t, DIMS(d, t), t, places);
    return graph_scatter(g, "z", leaf(g, "a", DIMS(p, d), false), AXIS_NONE, DIMS(p, t, d), t, row);
}

/* The mask may have fewer axes than what is chosen, or more. */
static NodeId build_where(Graph *g, int v)
{
    int t = axis(g, "t", 3), d = axis(g, "d", 4), h = axis(g, "h", 2);
    const Dims shape[][3] = {
        /* mask, yes, no */
        {DIMS(t), DIMS(t, d), DIMS_SCALAR},
        {DIMS(t, d), DIMS(t, d), DIMS(d)},
        {DIMS(h, t), DIMS(t, d), DIMS(t)},
        {DIMS(h, t, d), DIMS(d), DIMS(t, d)},
    };
    NodeId mask = graph_map(g, "mask", MAP_RELU, leaf(g, "m", shape[v][0], false));
    return graph_where(g, "z", mask, leaf(g, "a", shape[v][1], false), leaf(g, "b", shape[v][2], false));
}

/* Rows as softmax has them; the shift may be anything. */
static NodeId build_softmax(Graph *g, int v)
{
    int h = axis(g, "h", 2), t = axis(g, "t", 3), u = axis(g, "u", 5);
    NodeId a = leaf(g, "a", DIMS(h, t, u), false);
    NodeId max = graph_reduce(g, "max", OP_MAX, a, DIMS(h, t));
    graph_flag(g, max, v ? NODE_SHIFT : 0); /* without the flag the two ways cancel */
    NodeId e = graph_map(g, "e", MAP_EXP, graph_zip(g, "shifted", OP_SUB, a, max));
    return graph_zip(g, "z", OP_DIV, e, graph_reduce(g, "sum", OP_SUM, e, DIMS(h, t)));
}

static void zips(void **state)
{
    (void)state;
    check_operation(build_zip, 4 * SHAPES);
    check_operation(build_twice, 4);
}
static void maps(void **state)
{
    (void)state;
    check_operation(build_map, SMOOTH + 2);
}
static void contractions(void **state)
{
    (void)state;
    check_operation(build_contract, CONTRACTIONS);
}
static void reductions(void **state)
{
    (void)state;
    check_operation(build_reduce, 12);
}
static void moves(void **state)
{
    (void)state;
    check_operation(build_view, 4);
    check_operation(build_concat, 3);
    check_operation(build_slice, 4);
    check_operation(build_gather, 4);
    check_operation(build_scatter, 3);
}
static void choices(void **state)
{
    (void)state;
    check_operation(build_where, 4);
}

/* The softmax without the flag has a gradient at its maximum, 0 but for rounding; with it the node has none. */
static void shifts(void **state)
{
    (void)state;
    for (int v = 0; v < 2; v++) {
        Graph g;
        graph_init(&g);
        NodeId y = end(&g, build_softmax(&g, v), WEIGHTED);
        if (v == 0)
            check_gradients(&g, y);
        else
            grad_add(&g, y, grad_seed(&g, y, 0, "grad."), NULL, 0, "grad.");
        assert_int_equal(graph_find(&g, "grad.max") == NO_NODE, v);
        if (v) { /* against the closed form: p(w − Σ w p) */
            Run *r = run_new(&g, NULL, NULL);
            const float *p = run_need(r, graph_find(&g, "z")), *w = run_need(r, graph_find(&g, "weights")),
                        *have = run_need(r, graph_find(&g, "grad.a"));
            for (int row = 0; row < 6; row++) {
                double mean = 0;
                for (int u = 0; u < 5; u++)
                    mean += (double)p[row * 5 + u] * (double)w[row * 5 + u];
                for (int u = 0; u < 5; u++)
                    assert_true(fabs((double)p[row * 5 + u] * ((double)w[row * 5 + u] - mean) -
                                     (double)have[row * 5 + u]) < 1e-6);
            }
            run_free(r);
        }
        graph_free(&g);
    }
}

/* Ties, infinities and zeros. */
static void corners(void **state)
{
    (void)state;
    Graph g;
    graph_init(&g);
    int t = axis(&g, "t", 4), d = axis(&g, "d", 2);
    static const float tied[] = {1, -0.0f, 3, 0, 3, -2, 3, -0.0f}, x[] = {0, 0.5f};
    NodeId a = graph_leaf(&g, "a", DIMS(t, d), (Leaf){LEAF_TENSOR, tied, "a"}),
           b = graph_leaf(&g, "b", DIMS(d), (Leaf){LEAF_TENSOR, x, "b"});
    NodeId max = graph_reduce(&g, "max", OP_MAX, a, DIMS(d));
    NodeId y = graph_reduce(&g, "y", OP_SUM, graph_zip(&g, "z", OP_ADD, max, graph_map(&g, "xlogx", MAP_XLOGX, b)),
                            DIMS_SCALAR);
    NodeId before = g.count;
    grad_add(&g, y, grad_seed(&g, y, 0, "grad."), NULL, 0, "grad.");
    Run *r = run_new(&g, NULL, NULL);
    check_added(&g, r, before + 1);
    const float first[] = {0, 1, 1, 0, 0, 0, 0, 0}; /* of each column: the first 3; the first zero of either sign */
    assert_memory_equal(run_need(r, graph_find(&g, "grad.a")), first, sizeof first);
    const float *gb = run_need(r, graph_find(&g, "grad.b"));
    assert_true(gb[0] == 0.0f && fabs((double)gb[1] - (log(0.5) + 1)) < 1e-6);
    run_free(r);
    graph_free(&g);
}

/* Only what lies between wrt and y gets nodes; constants and what y does not see get none. */
static void pruning(void **state)
{
    (void)state;
    Graph g;
    graph_init(&g);
    int t = axis(&g, "t", 3), d = axis(&g, "d", 4);
    NodeId a = leaf(&g, "a", DIMS(t, d), false), b = leaf(&g, "b", DIMS(d), false),
           c = graph_const(&g, "c", DIMS_SCALAR, 2);
    NodeId p = graph_zip(&g, "p", OP_MUL, a, c), q = graph_zip(&g, "q", OP_ADD, p, b);
    NodeId unseen = graph_map(&g, "unseen", MAP_EXP, q), y = end(&g, q, WEIGHTED),
           after = graph_map(&g, "after", MAP_EXP, y);
    graph_scope(&g, "somewhere");
    NodeId seed = grad_seed(&g, y, 0, "grad.");
    const NodeId *all = grad_add(&g, y, seed, NULL, 0, "grad.");
    NodeId count = g.count;
    const NodeId *one = grad_add(&g, y, seed, &b, 1, "only.");
    assert_true(graph_find(&g, "somewhere.a") == NO_NODE && strcmp(g.scope, "somewhere.") == 0);
    assert_true(all[a] != NO_NODE && all[b] != NO_NODE && all[p] != NO_NODE && all[q] != NO_NODE && all[y] != NO_NODE);
    assert_true(all[c] == NO_NODE && all[unseen] == NO_NODE && all[after] == NO_NODE && all[seed] == NO_NODE);
    assert_true(one[b] >= count && one[q] >= count && one[a] == NO_NODE && one[p] == NO_NODE);
    assert_int_equal(graph_find(&g, "grad.b"), all[b]);
    assert_int_equal(graph_find(&g, "only.b"), one[b]);
    const NodeId *none = grad_add(&g, p, leaf(&g, "s", DIMS(t, d), false), &b, 1, "none.");
    assert_true(none[p] == NO_NODE && none[b] == NO_NODE);
    graph_free(&g);
}

/* An edit of a gradient keeps its path, which is its name: the parts before it are those of the node it belongs to. */
static void edited(void **state)
{
    (void)state;
    Graph g, with;
    Err err;
    graph_init(&g);
    int d = axis(&g, "d", 4);
    graph_scope(&g, "block.mlp");
    NodeId a = leaf(&g, "a", DIMS(d), false), p = graph_map(&g, "p", MAP_EXP, a), y = end(&g, p, WEIGHTED);
    graph_scope(&g, "%s", "");
    const NodeId *all = grad_add(&g, y, grad_seed(&g, y, 0, "grad."), NULL, 0, "grad.");
    static const float values[] = {1, 2, 3, 4};
    const Edit edits[] = {
        {.kind = EDIT_SCALE, .path = "grad.block.mlp.p", .factor = 2, .cells = {.n = 1, .range = {{d, 1, 3}}}},
        {.kind = EDIT_VALUES, .path = "grad.block.mlp.a", .data = values}};
    assert_true(graph_edit(&with, &g, edits, 2, &err));
    Run *base = run_new(&g, NULL, NULL), *r = run_new(&with, base, NULL);
    NodeId of_p = graph_find(&with, "grad.block.mlp.p"), of_a = graph_find(&with, "grad.block.mlp.a");
    assert_true(of_p != NO_NODE && of_a != NO_NODE);
    assert_true(graph_find(&with, "grad.block.mlp.p.unedited") != NO_NODE);
    const float *was = run_need(base, all[p]), *is = run_need(r, of_p), *set = run_need(r, of_a);
    for (int i = 0; i < 4; i++) {
        assert_true(is[i] == (i == 1 || i == 2 ? 2 : 1) * was[i]);
        assert_true(set[i] == values[i]);
    }
    for (NodeId n = 0; n < with.count; n++)
        assert_null(strstr(graph_node(&with, n)->path, ".grad."));
    run_free(r);
    run_free(base);
    graph_free(&with);
    graph_free(&g);
}

/* The loss of two pictures is that of each alone, and its gradient is probs − target. */
static void cross_entropy(void **state)
{
    (void)state;
    Graph g;
    graph_init(&g);
    int b = axis(&g, "b", 3), o = axis(&g, "o", 4);
    static const float goal[] = {0, 1, 0, 0, 0.25f, 0.25f, 0.25f, 0.25f, 0, 0, 0, 1};
    NodeId logits = leaf(&g, "logits", DIMS(b, o), false),
           target = graph_leaf(&g, "target", DIMS(b, o), (Leaf){LEAF_INPUT, goal, "goal"});
    NodeId loss = grad_cross_entropy(&g, logits, target, o);
    assert_string_equal(graph_node(&g, loss)->path, "loss");
    NodeId y = graph_reduce(&g, "y", OP_SUM, loss, DIMS_SCALAR);
    const NodeId *table = grad_add(&g, y, grad_seed(&g, y, 0, "grad."), &logits, 1, "grad.");
    Run *r = run_new(&g, NULL, NULL);
    const float *x = run_need(r, logits), *v = run_need(r, loss), *have = run_need(r, table[logits]);
    for (int i = 0; i < 3; i++) {
        double sum = 0, want = 0;
        for (int k = 0; k < 4; k++)
            sum += exp((double)x[i * 4 + k]);
        for (int k = 0; k < 4; k++)
            want += (double)goal[i * 4 + k] * (log(sum) - (double)x[i * 4 + k]);
        assert_true(fabs(want - (double)v[i]) < 1e-6);
        for (int k = 0; k < 4; k++)
            assert_true(fabs(exp((double)x[i * 4 + k]) / sum - (double)goal[i * 4 + k] - (double)have[i * 4 + k]) <
                        1e-6);
    }
    uint64_t hash;
    assert_true(run_step_all(r, CLOCK_NEVER) && run_hash(r, &hash));
    run_free(r);
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zips),       cmocka_unit_test(maps),          cmocka_unit_test(contractions),
        cmocka_unit_test(reductions), cmocka_unit_test(moves),         cmocka_unit_test(choices),
        cmocka_unit_test(shifts),     cmocka_unit_test(corners),       cmocka_unit_test(pruning),
        cmocka_unit_test(edited),     cmocka_unit_test(cross_entropy),
    };
    return cmocka_run_group_tests_name("gradients", tests, NULL, NULL);
}
