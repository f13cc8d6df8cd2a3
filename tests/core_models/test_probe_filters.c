/* Principal components: of matrices with known ones, of matrices without any, of the patch projection; made late and in
 * steps. */
#include "tests/core_models/probe_test.h"

#include "core/base/rng.h"
#include "core/models/probe_parts.h"

static void solve(const float *x, int rows, int cols, float *out)
{
    Arena arena = {0};
    Components p;
    components_init(&p, &arena, x, rows, cols, out);
    assert_true(components_make(&p, CLOCK_NEVER));
    arena_free(&arena);
}

static double dot(const float *a, const float *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* Σ over rows of (row less mean) (row less mean)ᵀ v, divided by `all`, their whole variance. */
static void covariance_times(const float *x, int rows, int cols, const float *v, double *out)
{
    double *mean = calloc((size_t)cols, sizeof *mean), all = 0;
    memset(out, 0, (size_t)cols * sizeof *out);
    for (int i = 0; i < rows * cols; i++)
        mean[i % cols] += (double)x[i] / rows;
    for (int i = 0; i < rows; i++) {
        double along = 0;
        for (int k = 0; k < cols; k++)
            along += ((double)x[i * cols + k] - mean[k]) * (double)v[k];
        for (int k = 0; k < cols; k++) {
            double less = (double)x[i * cols + k] - mean[k];
            out[k] += along * less;
            all += less * less;
        }
    }
    for (int k = 0; k < cols; k++)
        out[k] /= all;
    free(mean);
}

/* C v = λ v, v·v = 1, at right angles, λ falling. Returns the sum of the λ: the share of the variance that they
 * explain. */
static double check_components(const float *x, int rows, int cols, const float *v, int count)
{
    double *cv = malloc((size_t)cols * sizeof *cv), sum = 0, before = 2;
    for (int k = 0; k < count; k++) {
        const float *a = v + k * cols;
        for (int i = 0; i <= k; i++)
            assert_true(fabs(dot(a, v + i * cols, cols) - (i == k)) < 1e-6);
        covariance_times(x, rows, cols, a, cv);
        double lambda = 0, largest = 0;
        for (int i = 0; i < cols; i++)
            lambda += cv[i] * (double)a[i];
        for (int i = 0; i < cols; i++) {
            assert_true(fabs(cv[i] - lambda * (double)a[i]) < 1e-6);
            largest = fabs((double)a[i]) > fabs(largest) ? (double)a[i] : largest;
        }
        assert_true(largest > 0 && lambda <= before + 1e-7);
        before = lambda;
        sum += lambda;
    }
    free(cv);
    return sum;
}

static void test_random_matrices(void **state)
{
    (void)state;
    static const int SIZES[][2] = {{2, 1},  {2, 2},   {2, 7},   {3, 2},   {5, 40},
                                   {40, 5}, {20, 20}, {64, 27}, {27, 64}, {100, 33}};
    Rng rng = rng_seed(3, 0);
    for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        int rows = SIZES[s][0], cols = SIZES[s][1], count = components_count((size_t)rows, (size_t)cols);
        int most = rows - 1 < cols ? rows - 1 : cols;
        assert_int_equal(count, most < COMPONENTS_MAX ? most : COMPONENTS_MAX);
        float *x = xfloats((size_t)(rows * cols)), *v = xfloats((size_t)(count * cols));
        for (int i = 0; i < rows * cols; i++)
            x[i] = rng_normal(&rng) * (float)(1 + i % cols) + 3;
        solve(x, rows, cols, v);
        double share = check_components(x, rows, cols, v, count);
        assert_true(count == most ? fabs(share - 1) < 1e-6 : share > 0.5 && share < 1);
        free(x);
        free(v);
    }
    assert_int_equal(components_count(1, 100), 0);
    assert_int_equal(components_count(COMPONENTS_SIDE + 1, COMPONENTS_SIDE + 1), 0);
    assert_int_equal(components_count(1 << 16, 27), 27);
}

/* Rows a·u + b·w with known directions of known sizes. */
static void test_known_directions(void **state)
{
    (void)state;
    enum { ROWS = 8, COLS = 6 };
    static const float U[COLS] = {0.6f, 0, 0.8f, 0, 0, 0}, W[COLS] = {0, 0, 0, -1, 0, 0};
    static const float A[ROWS] = {4, -4, 4, -4, 4, -4, 4, -4}, B[ROWS] = {1, 1, -1, -1, 1, 1, -1, -1};
    float x[ROWS * COLS], v[COLS * COLS];
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = A[i / COLS] * U[i % COLS] + B[i / COLS] * W[i % COLS] + 10; /* the mean does not count */
    solve(x, ROWS, COLS, v);
    for (int i = 0; i < COLS; i++) {
        assert_true(fabs((double)v[i] - (double)U[i]) < 1e-6);
        assert_true(fabs((double)v[COLS + i] + (double)W[i]) < 1e-6); /* its largest number is positive */
    }
}

/* Nothing to find, everything alike, the same direction many times: unit vectors at right angles all the same. */
static void test_degenerate(void **state)
{
    (void)state;
    enum { N = 12 };
    float x[N * N], v[N * N];
    for (int kind = 0; kind < 5; kind++) {
        for (int rows = 4; rows <= N; rows += 8) {
            for (int i = 0; i < rows * N; i++) {
                int r = i / N, c = i % N;
                x[i] = kind == 0   ? 0
                       : kind == 1 ? 7.5f
                       : kind == 2 ? (float)r * (float)(c + 1)
                       : kind == 3 ? (float)(r == c)
                                   : 1e-30f * (float)(r * c % 5);
            }
            solve(x, rows, N, v);
            int count = components_count((size_t)rows, N);
            for (int k = 0; k < count; k++)
                for (int i = 0; i <= k; i++)
                    if (!(fabs(dot(v + k * N, v + i * N, N) - (i == k)) < 1e-6))
                        fail_msg("kind %d, %d rows: %d·%d is %g", kind, rows, k, i, dot(v + k * N, v + i * N, N));
            if (kind == 2)
                for (int c = 0; c < N; c++) /* all differences lie along 1, 2, … N */
                    assert_true(fabs((double)v[c] - (c + 1) / sqrt(650)) < 1e-6);
        }
    }
    for (int i = 0; i < N * N; i++)
        x[i] = (float)i;
    static const float BAD[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++)
        for (int rows = 4; rows <= N; rows += 8) {
            x[17] = BAD[b];
            solve(x, rows, N, v);
            assert_true(isnan(v[0]) && isnan(v[(components_count((size_t)rows, N) - 1) * N]));
        }
}

/* Stopped after every step or never: the same bits. */
static void test_steps(void **state)
{
    (void)state;
    enum { ROWS = 30, COLS = 50, COUNT = 28 };
    static float x[ROWS * COLS], once[COUNT * COLS], often[COUNT * COLS];
    Rng rng = rng_seed(9, 0);
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = rng_normal(&rng);
    solve(x, ROWS, COLS, once);
    Arena arena = {0};
    Components p;
    components_init(&p, &arena, x, ROWS, COLS, often);
    int calls = 1;
    while (!components_make(&p, 0))
        calls++;
    assert_true(calls > ROWS + COUNT);
    assert_memory_equal(once, often, sizeof once);
    arena_free(&arena);
}

static void test_nodes(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    NodeId n, m;
    int cols = c.channels * c.patch_h * c.patch_w, count = components_count((size_t)c.width, (size_t)cols);
    const float *filters = value(&b, "patch_embed.probe.filters", &n), *weight = value(&b, "patch_embed.weight", &m);
    assert_ptr_equal(filters, weight);
    const float *v = value(&b, "patch_embed.probe.components", &n),
                *explained = value(&b, "patch_embed.probe.explained", &m);
    double share = check_components(weight, c.width, cols, v, count), sum = 0;
    for (int k = 0; k < count; k++)
        sum += (double)explained[k];
    near(sum, share, "share of the variance");
    const float *variance = value(&b, "patch_embed.probe.variance", &n),
                *singular = value(&b, "patch_embed.probe.singular", &n),
                *covariance = value(&b, "patch_embed.probe.covariance", &n);
    for (int k = 0; k < count; k++) {
        near((double)singular[k] * (double)singular[k] / c.width, (double)variance[k], "singular value");
        for (int i = 0; i < count; i++)
            assert_true(fabs((double)covariance[k * count + i] - (i == k ? (double)variance[k] : 0)) <
                        1e-6 * (double)variance[0]);
    }
    assert_true(value(&b, "patch_embed.probe.error_max", &n)[0] < 1e-6f);
    has_shape(&b, "patch_embed.probe.filters", "[d,c,i,j]");
    has_shape(&b, "patch_embed.probe.components", "[k,c,i,j]");
    has_shape(&b, "patch_embed.probe.projection", "[d,k]");
    bench_free(&b);
}

/* Not made at the start, not by looking, only by asking; by an edited graph for both. */
static void test_made_when_asked_for(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    NodeId leaf = graph_find(&b.graph, "patch_embed.probe.components"),
           after = graph_find(&b.graph, "patch_embed.probe.explained");
    assert_true(run_step_all(b.run, CLOCK_NEVER));
    assert_null(run_peek(b.run, leaf));
    Edit e = {.kind = EDIT_ZERO, .path = "blocks.0.mlp.out"};
    Graph g = {0};
    Err err = {""};
    assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
    Run *r = run_new(&g, b.run, NULL);
    int calls = 0;
    while (!run_step(r, graph_find(&g, "patch_embed.probe.explained"), 0))
        calls++;
    assert_true(calls > 10); /* it stopped in between */
    assert_non_null(run_peek(r, graph_find(&g, "patch_embed.probe.components")));
    assert_non_null(run_peek(b.run, leaf));
    assert_non_null(run_peek(b.run, after));
    run_free(r);
    graph_free(&g);
    bench_free(&b);
    with_probes(&b, &c);
    assert_false(run_step(b.run, leaf, 0));
    assert_true(run_need(b.run, leaf)[0] != 0.0f); /* asked for by itself */
    bench_free(&b);
}

/* Tokens' components and cosines, at every place, against a plain calculation in double and the exact components. */
static void test_tokens_alike(void **state)
{
    (void)state;
    static const char *const PLACES[][2] = {{"embed", "blocks.0.resid_pre"}, {"blocks.1", "blocks.1.resid_post"}};
    enum { SHOWN = 3 };
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    NodeId n;
    size_t d = (size_t)c.width, tokens = (size_t)vit_tokens(&c), count = (size_t)vit_patches(&c);
    for (size_t place = 0; place < 2; place++) {
        char path[64];
        const float *x = value(&b, PLACES[place][1], &n) + (tokens - count) * d;
        double *mean = xcalloc(d, sizeof *mean), total = 0;
        float *exact = xcalloc((size_t)COMPONENTS_MAX * d, sizeof *exact);
        Arena arena = {0};
        Components all;
        components_init(&all, &arena, x, (int)count, (int)d, exact);
        assert_true(components_make(&all, CLOCK_NEVER));
        for (size_t i = 0; i < count * d; i++)
            mean[i % d] += (double)x[i] / (double)count;
        for (size_t i = 0; i < count * d; i++)
            total += pow((double)x[i] - mean[i % d], 2);
        snprintf(path, sizeof path, "%s.alike.cosine", PLACES[place][0]);
        const float *cosine = value(&b, path, &n);
        for (size_t p = 0; p < count; p++)
            for (size_t q = 0; q < count; q++) {
                double pq = 0, pp = 0, qq = 0;
                for (size_t k = 0; k < d; k++) {
                    double y = (double)x[p * d + k] - mean[k], z = (double)x[q * d + k] - mean[k];
                    pq += y * z;
                    pp += y * y;
                    qq += z * z;
                }
                near((double)cosine[p * count + q], pq / sqrt(pp * qq), "cosine of two tokens");
            }
        double share[SHOWN];
        const float *along[SHOWN];
        for (int k = 0; k < SHOWN; k++) {
            snprintf(path, sizeof path, "%s.alike.direction_%d", PLACES[place][0], k);
            along[k] = value(&b, path, &n);
            for (int i = 0; i <= k; i++) {
                double dot = 0;
                for (size_t j = 0; j < d; j++)
                    dot += (double)along[k][j] * (double)along[i][j];
                assert_true(fabs(dot - (i == k)) < 1e-4);
            }
            snprintf(path, sizeof path, "%s.alike.share_%d", PLACES[place][0], k);
            share[k] = (double)value(&b, path, &n)[0];
            assert_true(k == 0 || share[k] <= share[k - 1] * 1.01);
            double variance = 0;
            for (size_t p = 0; p < count; p++) {
                double part = 0;
                for (size_t j = 0; j < d; j++)
                    part += ((double)x[p * d + j] - mean[j]) * (double)exact[(size_t)k * d + j];
                variance += part * part;
            }
            if (fabs(share[k] - variance / total) > 0.01 * share[k])
                fail_msg("%s %d holds %g, the exact component %g", PLACES[place][0], k, share[k], variance / total);
        }
        arena_free(&arena);
        free(exact);
        free(mean);
    }
    for (int k = 0; k < SHOWN; k++) /* signs agree from one place to the next */
        for (int place = 0; place < c.layers; place++) {
            char path[64];
            double agree = 0;
            if (place)
                snprintf(path, sizeof path, "blocks.%d.alike.component_%d", place - 1, k);
            else
                snprintf(path, sizeof path, "embed.alike.component_%d", k);
            const float *before = value(&b, path, &n);
            snprintf(path, sizeof path, "blocks.%d.alike.component_%d", place, k);
            const float *after = value(&b, path, &n);
            for (size_t p = 0; p < count; p++)
                agree += (double)before[p] * (double)after[p];
            assert_true(agree >= 0);
        }
    has_shape(&b, "embed.alike.norm", "[t]");
    has_shape(&b, "embed.alike.cosine", "[p,p1]");
    bench_free(&b);
}

/* As many patches as a ViT-B/16 has, those of the upper half all the opposite of the lower: one direction holds nearly
 * everything, each step makes the vector hundreds of times longer, and no number leaves the range of a float. */
static void test_one_direction_alone(void **state)
{
    (void)state;
    enum { GRID = 14 };
    Bench b = {0};
    VitConfig c = small();
    c.layers = 2;
    c.image_h = GRID * c.patch_h;
    c.image_w = GRID * c.patch_w;
    model_seeded(&b.model, &c, 7);
    bench_noise(&b);
    for (size_t i = 0, n = bench_pixels(&c), half = n / (size_t)c.channels; i < n; i++)
        b.pixels[i] = (i % half < half / 2 ? 9000.0f : -9000.0f) + b.pixels[i];
    bench_start(&b);
    add_probes(&b);
    for (int place = 0; place <= c.layers; place++)
        for (int k = 0; k < 3; k++) {
            char path[64];
            NodeId n;
            snprintf(path, sizeof path, place ? "blocks.%d.alike.share_%d" : "embed.alike.share_%d",
                     place ? place - 1 : k, k);
            const float share = value(&b, path, &n)[0];
            assert_true(share > 0 && share <= 1.001f);
            assert_true(k || share > 0.5f);
        }
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_matrices), cmocka_unit_test(test_known_directions),
        cmocka_unit_test(test_degenerate),      cmocka_unit_test(test_steps),
        cmocka_unit_test(test_nodes),           cmocka_unit_test(test_made_when_asked_for),
        cmocka_unit_test(test_tokens_alike),    cmocka_unit_test(test_one_direction_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
