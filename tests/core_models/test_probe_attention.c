/* Rollout, attention distance, spread and sharpness of heads, the softmax's Jacobian and what each head adds: against
 * plain calculations in double and against an independent implementation's recorded rollout. */
#include "tests/core_models/probe_test.h"
#include "tests/core_models/text_bench.h"

#include "core/graph/edit.h"

static const float *of_layer(Bench *b, int layer, const char *name)
{
    char path[96];
    NodeId n;
    snprintf(path, sizeof path, "blocks.%d.attn.%s", layer, name);
    return value(b, path, &n);
}

/* r = A_l … A_0 with A = ½ mean of heads + ½ I, rows divided by their sums. */
static void plain_rollout(Bench *b, int layer, double *r)
{
    size_t tokens = (size_t)vit_tokens(&b->model.vit), heads = (size_t)b->model.vit.heads;
    double *before = calloc(tokens * tokens, sizeof *before), *a = calloc(tokens * tokens, sizeof *a);
    for (size_t t = 0; t < tokens; t++)
        before[t * tokens + t] = 1;
    if (layer > 0)
        plain_rollout(b, layer - 1, before);
    const float *pattern = of_layer(b, layer, "pattern");
    for (size_t t = 0; t < tokens; t++) {
        double sum = 0;
        for (size_t u = 0; u < tokens; u++) {
            a[t * tokens + u] = t == u ? 0.5 : 0;
            for (size_t h = 0; h < heads; h++)
                a[t * tokens + u] += 0.5 / (double)heads * (double)pattern[(h * tokens + t) * tokens + u];
            sum += a[t * tokens + u];
        }
        for (size_t w = 0; w < tokens; w++) {
            r[t * tokens + w] = 0;
            for (size_t u = 0; u < tokens; u++)
                r[t * tokens + w] += a[t * tokens + u] / sum * before[u * tokens + w];
        }
    }
    free(before);
    free(a);
}

static void check_rollout(Bench *b, VitPool pool)
{
    const VitConfig *c = &b->model.vit;
    size_t tokens = (size_t)vit_tokens(c), prefix = (size_t)vit_prefix(c), patches = tokens - prefix;
    double *want = malloc(tokens * tokens * sizeof *want), all = 0;
    NodeId n;
    for (int layer = 0; layer < c->layers; layer++) {
        const float *got = of_layer(b, layer, "probe.rollout"), *sum = of_layer(b, layer, "probe.rollout_sum");
        plain_rollout(b, layer, want);
        for (size_t i = 0; i < tokens * tokens; i++)
            near((double)got[i], want[i], "rollout");
        for (size_t t = 0; t < tokens; t++)
            near((double)sum[t], 1, "row sum of the rollout");
        const float *picture = of_layer(b, layer, "probe.rollout_patches");
        all = 0;
        for (size_t p = 0; p < patches; p++) {
            double mean = 0;
            for (size_t t = prefix; t < tokens; t++)
                mean += want[t * tokens + prefix + p] / (double)patches;
            near((double)picture[p], pool == VIT_POOL_MEAN ? mean : want[prefix + p], "rollout over the picture");
            all += (double)picture[p];
        }
        near((double)of_layer(b, layer, "probe.rollout_patches_sum")[0], all, "share of the patches");
    }
    assert_memory_equal(value(b, "rollout.patches", &n), of_layer(b, c->layers - 1, "probe.rollout_patches"),
                        patches * sizeof(float));
    near((double)value(b, "rollout.patches_sum", &n)[0], all, "share of the patches");
    free(want);
}

static void test_rollout(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    c.layers = 3;
    c.registers = 1;
    with_probes(&b, &c);
    check_rollout(&b, VIT_POOL_CLS);
    has_shape(&b, "blocks.0.attn.probe.rollout", "[t,u]");
    has_shape(&b, "blocks.2.attn.probe.rollout", "[t,u]");
    has_shape(&b, "blocks.2.attn.probe.rollout_product", "[t,w]");
    has_shape(&b, "rollout.patches", "[p]");
    bench_free(&b);
    c.pool = VIT_POOL_MEAN;
    with_probes(&b, &c);
    check_rollout(&b, VIT_POOL_MEAN);
    bench_free(&b);
}

static void check_recorded(const char *model, const char *picture, const char *expected)
{
    Bench b;
    TensorFile f;
    Err err = {""};
    bench_load(&b, model, picture);
    add_probes(&b);
    assert_true(tensors_open(&f, expected, &err));
    for (int layer = 0; layer < b.model.vit.layers; layer++) {
        char name[48];
        snprintf(name, sizeof name, "layer.%d.rollout", layer);
        const TensorInfo *t = tensors_find(&f, name);
        assert_non_null(t);
        double *want = malloc(t->cells * sizeof *want), largest = 0;
        assert_true(tensors_read_f64(&f, t, want, &err));
        const float *got = of_layer(&b, layer, "probe.rollout");
        assert_int_equal(t->cells, (size_t)vit_tokens(&b.model.vit) * (size_t)vit_tokens(&b.model.vit));
        for (size_t i = 0; i < t->cells; i++)
            largest = fmax(largest, fabs(want[i]));
        for (size_t i = 0; i < t->cells; i++)
            if (!(fabs((double)got[i] - want[i]) <= 1e-5 * largest))
                fail_msg("%s[%zu]: %.9g, recorded %.9g", name, i, (double)got[i], want[i]);
        free(want);
    }
    tensors_close(&f);
    bench_free(&b);
}

static void test_recorded_rollout(void **state)
{
    (void)state;
    check_recorded(ORACLE "tiny", ORACLE "tiny/image.ppm", ORACLE "tiny/expected.safetensors");
    check_recorded(ORACLE "nobias", ORACLE "nobias/image.ppm", ORACLE "nobias/expected.safetensors");
}

/* Places of a picture that is not square, with patches that are not square. */
static VitConfig oblong(void)
{
    VitConfig c = small();
    c.image_h = 12;
    c.patch_h = 4;
    c.image_w = 40;
    c.patch_w = 8;
    return c;
}

static double pixels_apart(const VitConfig *c, size_t p, size_t q)
{
    size_t cols = (size_t)(c->image_w / c->patch_w);
    double dy = ((double)(p / cols) - (double)(q / cols)) * c->patch_h,
           dx = ((double)(p % cols) - (double)(q % cols)) * c->patch_w;
    return sqrt(dy * dy + dx * dx);
}

static void test_distance(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = oblong();
    with_probes(&b, &c);
    size_t tokens = (size_t)vit_tokens(&c), prefix = (size_t)vit_prefix(&c), n = tokens - prefix;
    NodeId node;
    const float *apart = value(&b, "grid.probe.distance", &node), *got = of_layer(&b, 1, "probe.distance"),
                *pattern = of_layer(&b, 1, "pattern");
    double uniform = 0, maximal = 0;
    for (size_t p = 0; p < n; p++) {
        double farthest = 0;
        for (size_t q = 0; q < n; q++) {
            near((double)apart[p * n + q], pixels_apart(&c, p, q), "distance");
            uniform += pixels_apart(&c, p, q) / (double)(n * n);
            farthest = fmax(farthest, pixels_apart(&c, p, q));
        }
        maximal += farthest / (double)n;
    }
    near((double)value(&b, "grid.probe.uniform", &node)[0], uniform, "uniform");
    near((double)value(&b, "grid.probe.maximal", &node)[0], maximal, "maximal");
    for (size_t h = 0; h < (size_t)c.heads; h++) {
        double mean = 0;
        for (size_t p = 0; p < n; p++) {
            const float *row = pattern + (h * tokens + prefix + p) * tokens + prefix;
            double mass = 0, far = 0;
            for (size_t q = 0; q < n; q++) {
                mass += (double)row[q];
                far += (double)row[q] * pixels_apart(&c, p, q);
            }
            mean += far / mass / (double)n;
        }
        near((double)got[h], mean, "attention distance");
        assert_true((double)got[h] > 0 && (double)got[h] < maximal);
    }
    has_shape(&b, "blocks.1.attn.probe.distance", "[h]");
    bench_free(&b);
}

/* Everything looks at CLS: rows without a weight on patches have no distance; a head without any other has none, and no
 * other head is the worse for it. All alike: the uniform distance. */
static void test_distance_of_extremes(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = oblong();
    with_probes(&b, &c);
    Graph even = {0}, blind = {0};
    Err err = {""};
    const Node *scores = graph_node(&b.graph, graph_find(&b.graph, "blocks.0.attn.scores_scaled"));
    Edit same = {.kind = EDIT_SET, .path = "blocks.0.attn.scores_scaled", .value = 0};
    Edit cls = {.kind = EDIT_MASK, .path = "blocks.0.attn.scores_scaled"};
    cls.cells = (Selection){.n = 2, .range = {{scores->dims.axis[0], 1, 2}, {scores->dims.axis[2], 1, vit_tokens(&c)}}};
    assert_true(graph_edit(&even, &b.graph, &same, 1, &err) && graph_edit(&blind, &b.graph, &cls, 1, &err));
    Run *a = run_new(&even, b.run, NULL), *z = run_new(&blind, b.run, NULL);
    const float *x = run_need(a, graph_find(&even, "blocks.0.attn.probe.distance"));
    const float *y = run_need(z, graph_find(&blind, "blocks.0.attn.probe.distance")),
                *now = of_layer(&b, 0, "probe.distance");
    const float *share = run_need(a, graph_find(&even, "blocks.0.attn.probe.entropy_share_mean"));
    const float *norm = run_need(z, graph_find(&blind, "blocks.0.attn.probe.jacobian_mean"));
    NodeId node;
    for (int h = 0; h < c.heads; h++) {
        near((double)x[h], (double)value(&b, "grid.probe.uniform", &node)[0], "a head that looks at all alike");
        near((double)share[h], 1, "entropy share of a row that is all alike");
        assert_true(h == 1 ? isnan(y[h]) : memcmp(&y[h], &now[h], sizeof y[h]) == 0);
    }
    assert_true(norm[1] == 0.0f && norm[0] > 0.0f);
    run_free(a);
    run_free(z);
    graph_free(&even);
    graph_free(&blind);
    bench_free(&b);
}

static void test_heads(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    size_t tokens = (size_t)vit_tokens(&c);
    const float *pattern = of_layer(&b, 1, "pattern"), *share = of_layer(&b, 1, "probe.entropy_share"),
                *norm = of_layer(&b, 1, "probe.jacobian");
    const float *share_mean = of_layer(&b, 1, "probe.entropy_share_mean"),
                *largest_mean = of_layer(&b, 1, "probe.largest_mean"),
                *norm_mean = of_layer(&b, 1, "probe.jacobian_mean");
    for (size_t h = 0; h < (size_t)c.heads; h++) {
        double shares = 0, largest = 0, norms = 0;
        for (size_t t = 0; t < tokens; t++) {
            const float *row = pattern + (h * tokens + t) * tokens;
            double sq = 0, spread = 0, top = 0;
            for (size_t i = 0; i < tokens; i++) {
                spread -= row[i] > 0 ? (double)row[i] * log((double)row[i]) : 0;
                top = fmax(top, (double)row[i]);
                for (size_t j = 0; j < tokens; j++) /* ∂A_i/∂s_j itself */
                    sq += pow((double)row[i] * ((i == j) - (double)row[j]), 2);
            }
            near((double)share[h * tokens + t], spread / log((double)tokens), "entropy share");
            assert_true(fabs((double)norm[h * tokens + t] - sqrt(sq)) < 4e-4 && norm[h * tokens + t] <= 0.5f);
            if (sq > 0.01)
                near((double)norm[h * tokens + t], sqrt(sq), "norm of the Jacobian");
            shares += spread / log((double)tokens) / (double)tokens;
            largest += top / (double)tokens;
            norms += (double)norm[h * tokens + t] / (double)tokens;
        }
        near((double)share_mean[h], shares, "mean entropy share");
        near((double)largest_mean[h], largest, "mean largest weight");
        near((double)norm_mean[h], norms, "mean norm");
    }
    bench_free(&b);
}

/* The heads' results add up to what attention adds, and switching a head off takes exactly its own away. */
static void test_results_of_heads(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    size_t tokens = (size_t)vit_tokens(&c), d = (size_t)c.width;
    const float *result = of_layer(&b, 0, "probe.result"), *mixed = of_layer(&b, 0, "out_nobias");
    for (size_t i = 0; i < tokens * d; i++) {
        double sum = 0;
        for (size_t h = 0; h < (size_t)c.heads; h++)
            sum += (double)result[h * tokens * d + i];
        near((double)mixed[i], sum, "sum over heads");
    }
    const Node *z = graph_node(&b.graph, graph_find(&b.graph, "blocks.0.attn.z"));
    Edit off = {.kind = EDIT_ZERO, .path = "blocks.0.attn.z", .cells = {.n = 1, .range = {{z->dims.axis[1], 1, 2}}}};
    Graph g = {0};
    Err err = {""};
    assert_true(graph_edit(&g, &b.graph, &off, 1, &err));
    Run *r = run_new(&g, b.run, NULL);
    const float *left = run_need(r, graph_find(&g, "blocks.0.attn.out_nobias")),
                *now = run_need(r, graph_find(&g, "blocks.0.attn.probe.result"));
    for (size_t i = 0; i < tokens * d; i++) {
        near((double)left[i], (double)mixed[i] - (double)result[tokens * d + i], "without a head");
        assert_true(now[tokens * d + i] == 0.0f);
    }
    has_shape(&b, "blocks.0.attn.probe.result", "[h,t,d]");
    run_free(r);
    graph_free(&g);
    bench_free(&b);
}

/* What a row's weights and its head's sink get is all of it; the entropy is that of what tokens get of all that tokens
 * get, and 0 where the sink takes everything. */
static void test_rows_with_sinks(void **state)
{
    (void)state;
    enum { TOKENS = 5 };
    static const float SINKS[] = {2000, 0.5f, -2000};
    TextBench b = {0};
    Seq2seqConfig c = text_variant(4);
    c.sinks = true;
    text_model_seeded(&b.model, &c, 3);
    seq2seq_weight(&c, &b.model.weights, SEQ2SEQ_DEC_SINKS, 1)->data = SINKS;
    text_bench_words(&b, 0, TOKENS);
    b.input.target.word = b.target;
    graph_init(&b.graph);
    seq2seq_build(&b.graph, &c, &b.model.weights, &b.input, &b.nodes);
    text_probes_add(&b.graph, &c, &(Text){0});
    b.run = run_new(&b.graph, NULL, NULL);
#define OF(name) text_bench_values(&b, "decoder.blocks.1.self_attn." name)
    const float *pattern = OF("pattern"), *sum = OF("row_sum"), *sink = OF("sink_exp"), *all = OF("probe.row_sum"),
                *entropy = OF("probe.entropy");
    for (int row = 0; row < c.heads * TOKENS; row++, pattern += TOKENS) {
        double keys = 0, want = 0, taken = (double)sink[row] / (double)sum[row];
        for (int u = 0; u < TOKENS; u++)
            keys += (double)pattern[u];
        for (int u = 0; u < TOKENS; u++)
            want -= pattern[u] > 0 ? (double)pattern[u] / keys * log((double)pattern[u] / keys) : 0;
        assert_true(fabs(keys + taken - 1) < 1e-6 && fabs(keys - (double)all[row]) < 1e-6);
        assert_true(fabs((double)entropy[row] - want) < 1e-6 && entropy[row] <= logf(TOKENS));
        assert_true(row >= TOKENS || all[row] <= 0);
        assert_true(row < TOKENS || row >= 2 * TOKENS || (all[row] > 0.01f && all[row] < 0.99f));
        assert_true(row < 2 * TOKENS || fabs((double)all[row] - 1) < 1e-6);
    }
#undef OF
    text_bench_free(&b);
}

/* A masked row's most is ln of what it may look at; a decoder's first row, which sees itself alone, is left out. */
static void test_masked_rows(void **state)
{
    (void)state;
    enum { TOKENS = 7, WINDOW = 3 };
    Seq2seqConfig c = text_variant(4);
    c.sinks = false;
    c.window = WINDOW;
    c.windowed[0] = 2;
    TextBench b = {0};
    text_model_seeded(&b.model, &c, 3);
    text_bench_words(&b, 0, TOKENS);
    b.input.target.word = b.target;
    graph_init(&b.graph);
    seq2seq_build(&b.graph, &c, &b.model.weights, &b.input, &b.nodes);
    text_probes_add(&b.graph, &c, &(Text){0});
    b.run = run_new(&b.graph, NULL, NULL);
    for (int block = 0; block < 2; block++) {
        const char *at = block ? "decoder.blocks.1.self_attn.probe" : "decoder.blocks.0.self_attn.probe";
        char path[3][96];
        snprintf(path[0], sizeof path[0], "%s.entropy", at);
        snprintf(path[1], sizeof path[1], "%s.entropy_share", at);
        snprintf(path[2], sizeof path[2], "%s.entropy_share_mean", at);
        const float *entropy = text_bench_values(&b, path[0]), *share = text_bench_values(&b, path[1]),
                    *mean = text_bench_values(&b, path[2]);
        for (int h = 0; h < c.heads; h++) {
            double sum = 0;
            assert_true(share[h * TOKENS] <= 0);
            for (int t = 1; t < TOKENS; t++) {
                int seen = block && t + 1 > WINDOW ? WINDOW : t + 1;
                double want = (double)entropy[h * TOKENS + t] / log(seen);
                assert_true(fabs((double)share[h * TOKENS + t] - want) < 1e-5);
                sum += want;
            }
            assert_true(fabs((double)mean[h] - sum / (TOKENS - 1)) < 1e-5);
        }
    }
    text_bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rollout),         cmocka_unit_test(test_recorded_rollout),
        cmocka_unit_test(test_distance),        cmocka_unit_test(test_distance_of_extremes),
        cmocka_unit_test(test_heads),           cmocka_unit_test(test_results_of_heads),
        cmocka_unit_test(test_rows_with_sinks), cmocka_unit_test(test_masked_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
