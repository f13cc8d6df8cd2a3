/* Plans: the bits of a run whatever is wanted, with data that change, in two threads, in less memory; and every
 * operation in any axis order (so the evaluator's quick ways for broadcasts and odd strides) against the explanation of
 * every cell. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/graph/explain.h"
#include "core/graph/plan.h"
#include "core/graph/run.h"

static float nasty(Rng *r)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc00001, 0x7f800001, 1,          0x80000001, 0x7f7fffff};
    uint32_t bits = rng_below(r, 3) ? rng_u32(r) : special[rng_below(r, sizeof special / sizeof *special)];
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float *random_values(Rng *r, size_t n, bool wild)
{
    float *v = xfloats(n);
    for (size_t i = 0; i < n; i++)
        v[i] = wild && rng_below(r, 4) == 0 ? nasty(r) : rng_normal(r);
    return v;
}

/* --- graphs of every operation in any axis order --- */

enum { AXES = 6, LEAVES = 8, NODES = 60 };

typedef struct Jumble {
    Graph g;
    Rng rng;
    float *data[LEAVES];
} Jumble;

static int pick(Rng *r, int n)
{
    return (int)rng_below(r, (uint32_t)n);
}

/* Each axis of `of` with even odds, in any order. */
static Dims some_axes(Rng *r, Dims of)
{
    Dims d = DIMS_SCALAR;
    for (int i = 0; i < of.n; i++)
        if (pick(r, 2)) {
            int at = pick(r, d.n + 1);
            memmove(d.axis + at + 1, d.axis + at, (size_t)(d.n - at) * sizeof *d.axis);
            d.axis[at] = of.axis[i];
            d.n++;
        }
    return d;
}

static NodeId add_contraction(Jumble *j, const char *name, NodeId a, NodeId b)
{
    Dims da = graph_node(&j->g, a)->dims, db = graph_node(&j->g, b)->dims, shared = dims_minus(da, dims_minus(da, db));
    Dims summed = some_axes(&j->rng, shared);
    return graph_contract(&j->g, name, a, b, dims_minus(dims_union(da, db), summed));
}

/* Along one of a's axes, which may become another, or into an axis that a has not. */
static NodeId add_scattered(Jumble *j, const char *name, NodeId a)
{
    Graph *g = &j->g;
    Dims d = graph_node(g, a)->dims;
    int axis = pick(&j->rng, g->axis_count), index[16];
    bool has = dims_find(d, axis) >= 0;
    int from = has ? axis : d.n && pick(&j->rng, 2) ? d.axis[pick(&j->rng, d.n)] : AXIS_NONE;
    for (int i = 0; i < 16; i++)
        index[i] = pick(&j->rng, g->axes[axis].n);
    Dims out = from == AXIS_NONE ? d : dims_replace(d, from, axis);
    if (from == AXIS_NONE) {
        int at = pick(&j->rng, d.n + 1);
        memmove(out.axis + at + 1, out.axis + at, (size_t)(d.n - at) * sizeof *out.axis);
        out.axis[at] = axis;
        out.n++;
    }
    return graph_scatter(g, name, a, from, out, axis, index);
}

static NodeId add_moved(Jumble *j, const char *name, NodeId a)
{
    Graph *g = &j->g;
    Dims d = graph_node(g, a)->dims;
    if (d.n == 0)
        return graph_view(g, name, a, d);
    int axis = d.axis[pick(&j->rng, d.n)], n = g->axes[axis].n, index[16];
    for (int i = 0; i < n; i++)
        index[i] = pick(&j->rng, n);
    switch (pick(&j->rng, 3)) {
    case 0: return graph_gather(g, name, a, axis, index);
    case 1: return graph_slice(g, name, a, axis, pick(&j->rng, n), AXIS_NONE);
    default: return graph_view(g, name, a, d);
    }
}

static NodeId add_random(Jumble *j, const char *name)
{
    Graph *g = &j->g;
    NodeId from = g->count > 12 ? g->count - 12 : 0; /* mostly of late, so that there is depth */
    NodeId a = from + pick(&j->rng, g->count - from), b = pick(&j->rng, g->count);
    Dims d = graph_node(g, a)->dims;
    switch (pick(&j->rng, 10)) {
    case 0: return graph_map(g, name, (MapFn)pick(&j->rng, MAP_COUNT), a);
    case 1: return graph_reduce(g, name, OP_SUM, a, some_axes(&j->rng, d));
    case 2: return graph_reduce(g, name, OP_MAX, a, some_axes(&j->rng, d));
    case 3: return add_contraction(j, name, a, b);
    case 4: return add_moved(j, name, a);
    case 5: return graph_where(g, name, b, a, graph_const(g, "else", DIMS_SCALAR, 0.25f));
    case 6: return graph_first(g, name, a, graph_reduce(g, "most", OP_MAX, a, some_axes(&j->rng, d)));
    case 7: return add_scattered(j, name, a);
    default: return graph_zip(g, name, (Op)(OP_ADD + pick(&j->rng, 4)), a, b);
    }
}

static void jumble_make(Jumble *j, uint64_t seed, bool wild)
{
    static const char *const sym[AXES] = {"b", "t", "h", "e", "d", "m"};
    Dims all = {.n = AXES};
    *j = (Jumble){.rng = rng_seed(seed, 3)};
    Graph *g = &j->g;
    graph_init(g);
    for (int i = 0; i < AXES; i++) {
        Axis a = {.name = "test", .n = 1 + pick(&j->rng, i == 4 ? 9 : 4)};
        snprintf(a.sym, sizeof a.sym, "%s", sym[i]);
        all.axis[i] = graph_axis(g, a);
    }
    for (int i = 0; i < LEAVES; i++) {
        Dims d = some_axes(&j->rng, all);
        j->data[i] = random_values(&j->rng, graph_dims_cells(g, d), wild);
        graph_leaf(g, "leaf", d, (Leaf){LEAF_TENSOR, j->data[i], "leaf"});
    }
    for (int i = 0; i < NODES; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        NodeId n = add_random(j, name);
        if (pick(&j->rng, 3) == 0)
            graph_flag(g, n, NODE_DERIVED);
    }
}

static void jumble_free(Jumble *j)
{
    for (int i = 0; i < LEAVES; i++)
        free(j->data[i]);
    graph_free(&j->g);
}

static const float *values_of(const void *context, NodeId n)
{
    return plan_values(context, n);
}

static void same_cells(const Graph *g, NodeId n, const float *got, const float *want)
{
    for (size_t c = 0; c < graph_cells(g, n); c++)
        if (memcmp(&got[c], &want[c], sizeof *got) != 0)
            fail_msg("%s (%s) cell %zu: %a, expected %a", graph_node(g, n)->path, op_word(graph_node(g, n)->op), c,
                     (double)got[c], (double)want[c]);
}

/* Everything wanted: nothing may be overwritten, every cell explains itself. */
static void check_all(const Graph *g)
{
    NodeId *all = xcalloc((size_t)g->count, sizeof *all);
    for (NodeId n = 0; n < g->count; n++)
        all[n] = n;
    Plan *p = plan_new(g, all, g->count);
    plan_compute(p);
    for (NodeId n = 0; n < g->count; n++)
        for (size_t c = 0; c < graph_cells(g, n); c++) {
            Explain e = explain_open(g, n, c);
            float f = explain_fold(&e, values_of, p);
            if (memcmp(&f, plan_values(p, n) + c, sizeof f) != 0)
                fail_msg("%s (%s) cell %zu: %a, explained %a", graph_node(g, n)->path, op_word(graph_node(g, n)->op), c,
                         (double)plan_values(p, n)[c], (double)f);
        }
    plan_free(p);
    free(all);
}

static void check_some(Graph *g, Run *r, const NodeId *wanted, int count)
{
    Plan *p = plan_new(g, wanted, count);
    for (int round = 0; round < 2; round++) {
        plan_compute(p);
        for (int i = 0; i < count; i++)
            same_cells(g, wanted[i], plan_values(p, wanted[i]), run_need(r, wanted[i]));
    }
    plan_free(p);
}

static void any_graph_any_wish(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        Jumble j;
        NodeId wanted[8];
        jumble_make(&j, seed, seed % 3 == 0);
        check_all(&j.g);
        Run *r = run_new(&j.g, NULL, NULL);
        for (int count = 1; count <= 8; count++) {
            for (int i = 0; i < count; i++)
                wanted[i] = pick(&j.rng, j.g.count);
            check_some(&j.g, r, wanted, count);
        }
        for (NodeId n = 0; n < j.g.count; n += 5)
            check_some(&j.g, r, &n, 1);
        run_free(r);
        jumble_free(&j);
    }
}

static void every_kernel_table(void **state)
{
    (void)state;
    for (int v = 0; kernels_variant(v); v++) {
        Jumble j;
        jumble_make(&j, 1000, true);
        Run *r = run_new(&j.g, NULL, NULL); /* by the best table */
        NodeId last = j.g.count - 1;
        run_need(r, last);
        assert_true(kernels_select(kernels_variant(v)->isa, NULL));
        check_all(&j.g);
        check_some(&j.g, r, &last, 1);
        assert_true(kernels_select("auto", NULL));
        run_free(r);
        jumble_free(&j);
    }
}

/* --- a small network whose data change --- */

enum { PICTURES = 3, TOKENS = 5, IN = 21, OUT = 37 };

typedef struct Net {
    Graph g;
    NodeId x, w, b, y, sums, grad_w, loss;
    float *vx, *vw, *vb;
} Net;

static int axis(Graph *g, const char *sym, int n)
{
    Axis a = {.name = "test", .n = n};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

static void net_make(Net *n)
{
    Graph *g = &n->g;
    Rng r = rng_seed(5, 5);
    graph_init(g);
    int b = axis(g, "b", PICTURES), t = axis(g, "t", TOKENS), d = axis(g, "d", IN), m = axis(g, "m", OUT);
    n->vx = random_values(&r, PICTURES * TOKENS * IN, false);
    n->vw = random_values(&r, IN * OUT, false);
    n->vb = random_values(&r, OUT, false);
    n->x = graph_leaf(g, "x", DIMS(b, t, d), (Leaf){LEAF_INPUT, n->vx, "x"});
    n->w = graph_leaf(g, "w", DIMS(m, d), (Leaf){LEAF_TENSOR, n->vw, "w"});
    n->b = graph_leaf(g, "b", DIMS(m), (Leaf){LEAF_TENSOR, n->vb, "b"});
    NodeId product = graph_contract(g, "y_nobias", n->x, n->w, DIMS(b, t, m));
    graph_flag(g, product, NODE_DERIVED);
    n->y = graph_map(g, "act", MAP_GELU, graph_zip(g, "y", OP_ADD, product, n->b));
    n->sums = graph_reduce(g, "sums", OP_SUM, n->y, DIMS(m));
    n->grad_w = graph_contract(g, "grad_w", n->y, n->x, DIMS(m, d));
    n->loss = graph_reduce(g, "loss", OP_SUM, n->sums, DIMS_SCALAR);
}

static void net_free(Net *n)
{
    graph_free(&n->g);
    free(n->vx);
    free(n->vw);
    free(n->vb);
}

static void check_net(const Net *n, const Plan *p)
{
    const NodeId wanted[] = {n->sums, n->grad_w, n->loss};
    Run *r = run_new(&n->g, NULL, NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        same_cells(&n->g, wanted[i], plan_values(p, wanted[i]), run_need(r, wanted[i]));
    run_free(r);
}

static void data_change_between_computations(void **state)
{
    (void)state;
    Net n;
    net_make(&n);
    const NodeId wanted[] = {n.sums, n.grad_w, n.loss};
    Plan *p = plan_new(&n.g, wanted, 3);
    plan_compute(p);
    check_net(&n, p);
    float before = *plan_values(p, n.loss);
    n.vb[3] = 7; /* in place: a bias, a weight */
    n.vw[IN + 2] = -4;
    plan_compute(p);
    check_net(&n, p);
    assert_true(*plan_values(p, n.loss) != before);
    Rng r = rng_seed(8, 1);
    float *other = random_values(&r, PICTURES * TOKENS * IN, false), *bias = random_values(&r, OUT, false);
    n.g.nodes[n.x].leaf.data = other; /* elsewhere, as the graph says */
    plan_compute(p);
    check_net(&n, p);
    plan_leaf(p, n.x, n.vx); /* elsewhere, for this plan only */
    plan_leaf(p, n.b, bias);
    plan_compute(p);
    float given = *plan_values(p, n.loss);
    n.g.nodes[n.x].leaf.data = n.vx;
    n.g.nodes[n.b].leaf.data = bias;
    check_net(&n, p);
    n.g.nodes[n.x].leaf.data = other; /* nothing to the plan */
    n.g.nodes[n.b].leaf.data = n.vb;
    plan_compute(p);
    assert_true(*plan_values(p, n.loss) == given);
    plan_free(p);
    free(other);
    free(bias);
    net_free(&n);
}

typedef struct Worker {
    const Net *net;
    uint64_t seed;
    float loss[50];
} Worker;

static void *work(void *arg)
{
    Worker *w = arg;
    const NodeId wanted[] = {w->net->loss, w->net->grad_w};
    Plan *p = plan_new(&w->net->g, wanted, 2);
    Rng r = rng_seed(w->seed, 2);
    for (size_t i = 0; i < sizeof w->loss / sizeof *w->loss; i++) {
        float *x = random_values(&r, PICTURES * TOKENS * IN, false);
        plan_leaf(p, w->net->x, x);
        plan_compute(p);
        w->loss[i] = *plan_values(p, w->net->loss);
        free(x);
    }
    plan_free(p);
    return NULL;
}

static void two_threads_with_a_plan_each(void **state)
{
    (void)state;
    Net n;
    net_make(&n);
    static Worker alone[2], together[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        alone[i] = together[i] = (Worker){.net = &n, .seed = (uint64_t)i};
        work(&alone[i]);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &together[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_memory_equal(alone[i].loss, together[i].loss, sizeof alone[i].loss);
    }
    assert_memory_not_equal(alone[0].loss, alone[1].loss, sizeof alone[0].loss);
    net_free(&n);
}

/* A long chain in the memory of two links; what is wanted in the middle stays. */
static void memory_is_used_again(void **state)
{
    (void)state;
    enum { CELLS = 32 * 32, LINKS = 60 };
    Graph g;
    Rng rng = rng_seed(1, 1);
    graph_init(&g);
    int t = axis(&g, "t", 32), u = axis(&g, "u", 32);
    float *x = random_values(&rng, CELLS, false);
    NodeId w = graph_leaf(&g, "w", DIMS(t, u), (Leaf){LEAF_TENSOR, x, "w"}), n = w, middle = NO_NODE;
    for (int i = 0; i < LINKS; i++) { /* contractions: none of them share a job */
        n = graph_contract(&g, "link", n, i % 2 ? n : w, DIMS(t));
        n = graph_zip(&g, "spread", OP_DIV, w, n);
        middle = i == LINKS / 2 ? n : middle;
    }
    Run *r = run_new(&g, NULL, NULL);
    const NodeId wanted[] = {middle, n};
    Plan *p = plan_new(&g, wanted, 2), *all;
    plan_compute(p);
    same_cells(&g, middle, plan_values(p, middle), run_need(r, middle));
    same_cells(&g, n, plan_values(p, n), run_need(r, n));
    NodeId *each = xcalloc((size_t)g.count, sizeof *each);
    for (NodeId i = 0; i < g.count; i++)
        each[i] = i;
    all = plan_new(&g, each, g.count);
    assert_int_equal(plan_jobs(p), 2 * LINKS);
    assert_true(plan_bytes(all) - plan_bytes(p) > (LINKS - 5) * CELLS * sizeof *x);
    free(each);
    plan_free(all);
    plan_free(p);
    plan_free(NULL);
    run_free(r);
    graph_free(&g);
    free(x);
}

/* A clock that has run out stops it within a job, and what comes of it are the same bits. */
static void in_pieces(void **state)
{
    (void)state;
    enum { ROWS = 40, INNER = 70, COLS = 400 };
    Rng r = rng_seed(6, 6);
    Graph g;
    graph_init(&g);
    const int t = axis(&g, "t", ROWS), d = axis(&g, "d", INNER), m = axis(&g, "m", COLS);
    float *x = random_values(&r, ROWS * INNER, false), *w = random_values(&r, INNER * COLS, false),
          *b = random_values(&r, COLS, false);
    NodeId in = graph_leaf(&g, "x", DIMS(t, d), (Leaf){LEAF_INPUT, x, "x"}),
           weight = graph_leaf(&g, "w", DIMS(m, d), (Leaf){LEAF_TENSOR, w, "w"}),
           bias = graph_leaf(&g, "b", DIMS(m), (Leaf){LEAF_TENSOR, b, "b"}),
           product = graph_contract(&g, "product", in, weight, DIMS(t, m));
    graph_flag(&g, product, NODE_DERIVED);
    NodeId sum = graph_zip(&g, "sum", OP_ADD, product, bias);
    Plan *whole = plan_new(&g, &sum, 1), *parts = plan_new(&g, &sum, 1);
    assert_int_equal(plan_jobs(parts), 1);
    for (int round = 0; round < 2; round++) {
        int stops = 0;
        while (!plan_step(parts, 0))
            stops++;
        assert_true(stops > 4);
        plan_compute(whole);
        same_cells(&g, sum, plan_values(parts, sum), plan_values(whole, sum));
        b[round] += 1; /* the leaves may change in between */
        x[round] += 1;
    }
    plan_free(whole);
    plan_free(parts);
    graph_free(&g);
    free(x);
    free(w);
    free(b);
}

static void nothing_to_compute(void **state)
{
    (void)state;
    Net n;
    net_make(&n);
    NodeId view = graph_view(&n.g, "renamed", n.w, graph_node(&n.g, n.w)->dims);
    const NodeId wanted[] = {n.w, view, n.w};
    Plan *p = plan_new(&n.g, wanted, 3);
    assert_int_equal(plan_jobs(p), 0);
    plan_compute(p);
    assert_ptr_equal(plan_values(p, n.w), n.vw);
    assert_ptr_equal(plan_values(p, view), n.vw);
    plan_leaf(p, n.x, n.vx); /* no part of this plan */
    plan_leaf(p, n.w, n.vb);
    assert_ptr_equal(plan_values(p, view), n.vb);
    plan_free(p);
    net_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_graph_any_wish),
        cmocka_unit_test(every_kernel_table),
        cmocka_unit_test(data_change_between_computations),
        cmocka_unit_test(two_threads_with_a_plan_each),
        cmocka_unit_test(memory_is_used_again),
        cmocka_unit_test(in_pieces),
        cmocka_unit_test(nothing_to_compute),
    };
    return cmocka_run_group_tests_name("core/graph plan", tests, NULL, NULL);
}
