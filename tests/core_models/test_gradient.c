/* Gradients of whole models: the recorded ones of an independent implementation in float64, differences of every
 * configuration, batches, and the promise that every cell is the sum of its terms. */
#include "tests/core_graph/doubles.h"
#include "tests/core_models/variants.h"

#include "core/base/rng.h"
#include "core/graph/explain.h"
#include "core/graph/grad.h"

static const double TOLERANCE = 1e-4; /* of the largest absolute value of the tensor */

static NodeId class_target(Graph *g, Dims d, int label)
{
    size_t cells = graph_dims_cells(g, d), classes = (size_t)g->axes[d.axis[d.n - 1]].n;
    float *v = arena_alloc(&g->arena, cells * sizeof *v);
    for (size_t i = 0; i < cells; i++)
        v[i] = i % classes == (size_t)label ? 1.0f : 0.0f;
    NodeId n = graph_leaf(g, "target", d, (Leaf){LEAF_INPUT, v, "the class that is right"});
    graph_flag(g, n, NODE_PROBE);
    return n;
}

/* Appends the loss and all gradients to a bench; returns the table. The last node before the gradients is *y. */
static const NodeId *add_gradients(Bench *b, int label, NodeId *y)
{
    Graph *g = &b->graph;
    Dims d = graph_node(g, b->nodes.logits)->dims;
    NodeId loss = grad_cross_entropy(g, b->nodes.logits, class_target(g, d, label), d.axis[d.n - 1]);
    *y = loss;
    if (d.n > 1) {
        *y = graph_reduce(g, "total", OP_SUM, loss, DIMS_SCALAR);
        graph_flag(g, *y, NODE_PROBE);
    }
    const NodeId *table = grad_add(g, *y, grad_seed(g, *y, 0, "grad."), NULL, 0, "grad.");
    run_extend(b->run);
    return table;
}

/* --- against the record --- */

static const struct {
    const char *recorded, *node;
} NAMES[] = {
    {"embed.patches", "patch_embed"},
    {"embed.with_cls", "tokens"},
    {"embed.out", "full_embed"},
    {"layer.#.input", "blocks.#.resid_pre"},
    {"layer.#.ln1.xhat", "blocks.#.ln1.normalized"},
    {"layer.#.ln1.out", "blocks.#.ln1.out"},
    {"layer.#.q", "blocks.#.attn.q"},
    {"layer.#.k", "blocks.#.attn.k"},
    {"layer.#.v", "blocks.#.attn.v"},
    {"layer.#.scores_raw", "blocks.#.attn.scores_raw"},
    {"layer.#.scores", "blocks.#.attn.scores_scaled"},
    {"layer.#.scores_exp", "blocks.#.attn.exp"},
    {"layer.#.probs", "blocks.#.attn.pattern"},
    {"layer.#.head_out", "blocks.#.attn.z"},
    {"layer.#.concat", "blocks.#.attn.z"},
    {"layer.#.attn_out", "blocks.#.attn.out"},
    {"layer.#.res1", "blocks.#.resid_mid"},
    {"layer.#.ln2.xhat", "blocks.#.ln2.normalized"},
    {"layer.#.ln2.out", "blocks.#.ln2.out"},
    {"layer.#.mlp_pre", "blocks.#.mlp.pre"},
    {"layer.#.mlp_act", "blocks.#.mlp.post"},
    {"layer.#.mlp_out", "blocks.#.mlp.out"},
    {"layer.#.output", "blocks.#.resid_post"},
    {"final_ln.xhat", "ln_final.normalized"},
    {"final_ln.out", "ln_final.out"},
    {"logits", "logits"},
};

/* The digit where pattern has #, or 0; -1 when name is not of that form. */
static int matches(const char *pattern, const char *name)
{
    int layer = 0;
    for (; *pattern; pattern++, name++) {
        if (*pattern == '#' && *name >= '0' && *name <= '9')
            layer = *name - '0';
        else if (*pattern != *name)
            return -1;
    }
    return *name ? -1 : layer;
}

static NodeId recorded_node(const Graph *g, const char *name)
{
    if (strncmp(name, "dact.", 5) == 0)
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
            char path[96];
            const char *mark = strchr(NAMES[i].node, '#');
            int layer = matches(NAMES[i].recorded, name + 5);
            if (layer < 0)
                continue;
            snprintf(path, sizeof path, "%.*s%d%s", mark ? (int)(mark - NAMES[i].node) : 0, NAMES[i].node, layer,
                     mark ? mark + 1 : "");
            return graph_find(g, mark ? path : NAMES[i].node);
        }
    for (NodeId n = 0; strncmp(name, "grad.", 5) == 0 && n < g->count; n++)
        if (graph_node(g, n)->op == OP_LEAF && strcmp(graph_node(g, n)->leaf.origin, name + 5) == 0)
            return n;
    return NO_NODE;
}

/* head_out has its heads first. */
static size_t our_cell(const VitConfig *c, const char *name, size_t i)
{
    size_t t = (size_t)vit_tokens(c), h = (size_t)c->heads, e = (size_t)c->head_dim;
    return strstr(name, "head_out") ? (i / e % t * h + i / (t * e)) * e + i % e : i;
}

/* The same added to all scores of a row changes nothing: what comes to the keys of a layer adds up to 0. */
static double largest_part(Bench *b, const NodeId *table, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "blocks.%c.attn.k", strstr(name, "layer.")[strlen("layer.")]);
    NodeId n = table[graph_find(&b->graph, path)];
    const float *v = run_need(b->run, n);
    double largest = 0;
    for (size_t i = 0; i < graph_cells(&b->graph, n); i++)
        largest = fmax(largest, fabs((double)v[i]));
    return largest;
}

static void recorded_gradients(void **state)
{
    (void)state;
    Bench b;
    TensorFile f;
    Err err = {""};
    double label = 0, loss = 0, worst = 0;
    bench_load(&b, ORACLE "tiny", ORACLE "tiny/image.ppm");
    uint64_t hash = bench_hash(&b), after;
    assert_true(tensors_open(&f, ORACLE "tiny/gradient.safetensors", &err));
    assert_true(tensors_read_f64(&f, tensors_find(&f, "label"), &label, &err) &&
                tensors_read_f64(&f, tensors_find(&f, "loss"), &loss, &err));
    NodeId y;
    const NodeId *table = add_gradients(&b, (int)label, &y);
    assert_true(fabs((double)run_need(b.run, y)[0] - loss) <= 1e-5 * loss);
    size_t compared = 0;
    for (size_t i = 0; i < f.count; i++) {
        const TensorInfo *t = &f.tensors[i];
        NodeId n = recorded_node(&b.graph, t->name);
        if (n == NO_NODE || table[n] == NO_NODE) {
            if (strcmp(t->name, "label") != 0 && strcmp(t->name, "loss") != 0)
                fail_msg("'%s' has no node", t->name);
            continue;
        }
        double *want = malloc(t->cells * sizeof *want), largest = 0;
        const float *have = run_need(b.run, table[n]);
        assert_int_equal(t->cells, graph_cells(&b.graph, table[n]));
        assert_true(tensors_read_f64(&f, t, want, &err));
        for (size_t k = 0; k < t->cells; k++)
            largest = fmax(largest, fabs(want[k]));
        if (strstr(t->name, "key.bias")) /* a sum that is 0 but for rounding: it is measured by what is added up */
            largest = largest_part(&b, table, t->name);
        for (size_t k = 0; k < t->cells; k++) {
            double x = (double)have[our_cell(&b.model.vit, t->name, k)], error = fabs(x - want[k]) / largest;
            if (!(error <= TOLERANCE))
                fail_msg("%s[%zu] is %.9g, recorded %.9g (largest %.3g)", t->name, k, x, want[k], largest);
            else
                worst = fmax(worst, error);
        }
        free(want);
        compared++;
    }
    assert_int_equal(compared, f.count - 2);
    assert_true(run_hash(b.run, &after) && after == hash); /* gradients are no part of the trace */
    print_message("  %zu tensors, largest error %.2g of the largest value\n", compared, worst);
    tensors_close(&f);
    bench_free(&b);
}

/* --- every cell from its terms --- */

static const float *peek(const void *run, NodeId n)
{
    const float *v = run_peek(run, n);
    assert_non_null(v);
    return v;
}

static size_t check_explained(const char *what, const Bench *b, NodeId from)
{
    const Graph *g = &b->graph;
    size_t cells = 0;
    for (NodeId n = from; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        run_need(b->run, n);
        for (int k = 0; k < op_inputs(node->op); k++)
            run_need(b->run, node->in[k]);
        const float *v = run_peek(b->run, n);
        Explain e = explain_open(g, n, 0);
        for (size_t c = 0; c < graph_cells(g, n); c++, cells++) {
            explain_move(&e, c);
            float x = explain_fold(&e, peek, b->run);
            if (memcmp(&x, &v[c], sizeof x) != 0)
                fail_msg("%s: %s cell %zu: stored %a, explained %a", what, node->path, c, (double)v[c], (double)x);
        }
    }
    return cells;
}

static void explained(void **state)
{
    (void)state;
    Bench b;
    NodeId y;
    bench_load(&b, ORACLE "tiny", ORACLE "tiny/image.ppm");
    add_gradients(&b, 2, &y);
    assert_true(check_explained("tiny", &b, y + 1) > 100000);
    bench_free(&b);
}

/* --- every configuration: the change along a random direction of all weights and pixels --- */

static void one_direction(const char *what, Bench *b, const NodeId *table, NodeId y)
{
    const Graph *g = &b->graph;
    const double h = 1e-6;
    double **values = doubles_new(g, y), moved[2], slope = 0, size = 0;
    for (int side = 0; side < 2; side++) {
        Rng r = rng_seed(5, 1);
        for (NodeId n = 0; n <= y; n++) {
            doubles_node(g, n, values);
            if (graph_node(g, n)->op != OP_LEAF || table[n] == NO_NODE)
                continue;
            const float *grad = run_need(b->run, table[n]);
            for (size_t c = 0; c < graph_cells(g, n); c++) {
                double step = (double)rng_normal(&r) *
                              (graph_node(g, n)->leaf.kind == LEAF_INPUT ? 50 : 1); /* pixels are 0 … 255 */
                values[n][c] += side ? h * step : -h * step;
                slope += side ? (double)grad[c] * step : 0;
                size += side ? fabs((double)grad[c] * step) : 0;
            }
        }
        moved[side] = values[y][0];
    }
    doubles_free(values, y);
    double want = (moved[1] - moved[0]) / (2 * h);
    if (!(fabs(slope - want) <= 2e-5 * size / sqrt(1000) + 1e-7 * size))
        fail_msg("%s: the gradient says %.9g, differences %.9g (parts %.3g)", what, slope, want, size);
}

static void every_configuration(void **state)
{
    (void)state;
    for (size_t i = 0; i < VARIANT_COUNT; i++) {
        VitConfig c = variant(i);
        Bench b;
        NodeId y;
        if (!c.classes ||
            c.width * c.layers > 200) /* without an answer there is no loss; the largest takes long in double */
            continue;
        bench_seeded(&b, &c, 3);
        uint64_t hash = bench_hash(&b), after;
        const NodeId *table = add_gradients(&b, c.classes - 1, &y);
        for (NodeId n = 0; n < y; n++) { /* a weight that no answer depends on has no gradient, and no other */
            const Node *node = graph_node(&b.graph, n);
            if (node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR && table[n] == NO_NODE)
                fail_msg("%s: no gradient of %s", VARIANTS[i].what, node->path);
        }
        one_direction(VARIANTS[i].what, &b, table, y);
        assert_true(run_hash(b.run, &after) && after == hash);
        bench_free(&b);
    }
}

/* --- batches --- */

enum { PICTURES = 3 };

static void batches(void **state)
{
    (void)state;
    VitConfig c = variant(0);
    size_t pixels = bench_pixels(&c);
    float *input = malloc(PICTURES * pixels * sizeof *input);
    Rng r = rng_seed(8, 1);
    for (size_t i = 0; i < PICTURES * pixels; i++)
        input[i] = rng_range(&r, 0, 255);
    Bench all = {0}, one[PICTURES];
    NodeId y, y1[PICTURES];
    model_seeded(&all.model, &c, 7);
    graph_init(&all.graph);
    vit_build_batch(&all.graph, &c, &all.model.weights, NULL, input, (VitBatch){PICTURES, NULL}, &all.nodes);
    all.run = run_new(&all.graph, NULL, NULL);
    const NodeId *table = add_gradients(&all, 1, &y), *table1[PICTURES];
    for (int k = 0; k < PICTURES; k++) {
        one[k] = (Bench){.pixels = malloc(pixels * sizeof *input)};
        model_seeded(&one[k].model, &c, 7);
        memcpy(one[k].pixels, input + (size_t)k * pixels, pixels * sizeof *input);
        bench_start(&one[k]);
        table1[k] = add_gradients(&one[k], 1, &y1[k]);
    }
    int of_pictures = 0, of_weights = 0;
    for (NodeId n = 0; n < y1[0]; n++) {
        NodeId m = graph_find(&all.graph, graph_node(&one[0].graph, n)->path);
        assert_true(m != NO_NODE && (table[m] == NO_NODE) == (table1[0][n] == NO_NODE));
        if (table[m] == NO_NODE)
            continue;
        size_t cells = graph_cells(&one[0].graph, n);
        const float *have = run_need(all.run, table[m]);
        double *sum = calloc(cells, sizeof *sum), largest = 0;
        bool weight = graph_cells(&all.graph, m) == cells;
        for (int k = 0; k < PICTURES; k++) {
            const float *alone = run_need(one[k].run, table1[k][n]);
            if (!weight && memcmp(alone, have + (size_t)k * cells, cells * sizeof *alone) != 0)
                fail_msg("%s of picture %d differs", graph_node(&one[0].graph, table1[0][n])->path, k);
            for (size_t i = 0; i < cells; i++)
                sum[i] += (double)alone[i];
        }
        for (size_t i = 0; weight && i < cells; i++)
            largest = fmax(largest, fabs(sum[i]));
        for (size_t i = 0; weight && i < cells; i++)
            assert_true(fabs(sum[i] - (double)have[i]) <= 1e-5 * largest + 1e-7);
        free(sum);
        of_weights += weight;
        of_pictures += !weight;
    }
    assert_true(of_pictures > 50 && of_weights > 30);
    assert_true(check_explained("batch", &all, y + 1) > 100000);
    for (int k = 0; k < PICTURES; k++)
        bench_free(&one[k]);
    bench_free(&all);
    free(input);
}

/* --- the same bits from every kernel table and any number of threads --- */

static uint64_t hash_gradients(Graph *g, const NodeId *table, NodeId y, int threads)
{
    Pool *pool = threads > 1 ? pool_new(threads) : NULL;
    Run *r = run_new(g, NULL, pool);
    uint64_t h = 0;
    for (NodeId n = 0; n <= y; n++)
        if (table[n] != NO_NODE)
            h = h * 31 + run_hash_values(run_need(r, table[n]), graph_cells(g, n));
    run_free(r);
    pool_free(pool);
    return h;
}

static void same_bits_everywhere(void **state)
{
    (void)state;
    Bench b;
    NodeId y;
    bench_load(&b, ORACLE "tiny", ORACLE "tiny/image.ppm");
    const NodeId *table = add_gradients(&b, 0, &y);
    uint64_t want = hash_gradients(&b.graph, table, y, 1);
    assert_true(hash_gradients(&b.graph, table, y, 2) == want && hash_gradients(&b.graph, table, y, 3) == want);
    for (int v = 0; kernels_variant(v); v++) {
        assert_true(kernels_select(kernels_variant(v)->isa, NULL));
        assert_true(hash_gradients(&b.graph, table, y, 1) == want);
    }
    assert_true(kernels_select("auto", NULL));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_gradients),   cmocka_unit_test(explained),
        cmocka_unit_test(every_configuration),  cmocka_unit_test(batches),
        cmocka_unit_test(same_bits_everywhere),
    };
    return cmocka_run_group_tests_name("gradients of models", tests, NULL, NULL);
}
