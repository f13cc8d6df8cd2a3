/* Dropout left on the attention weights, of which nothing but sums is recorded: the solver on sums whose terms are
 * known, the cause on a trained model (a token looks at 65), and what is no dropout. */
#include "tests/core_diff/planting.h"

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

static double normal(uint32_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += noise(state);
    return sum - 6;
}

/* Sums of `count` terms of `rows` numbers, a share of the terms left out: how many of ten are worked out rightly. */
static int worked_out(int count, int rows, double share, double *work)
{
    double *terms = malloc((size_t)(count * rows) * sizeof *terms), *sum = malloc((size_t)rows * sizeof *sum);
    bool *in = malloc((size_t)count), *taken = malloc((size_t)count);
    uint32_t state = 17;
    int right = 0;
    for (int turn = 0; turn < 10; turn++) {
        memset(sum, 0, (size_t)rows * sizeof *sum);
        for (int k = 0; k < count; k++) {
            double weight = exp(1.5 * normal(&state)) / count; /* as a softmax has it: a few large, many small */
            in[k] = noise(&state) >= share;
            for (int j = 0; j < rows; j++) {
                terms[k * rows + j] = weight * (0.5 + normal(&state));
                sum[j] += in[k] ? terms[k * rows + j] : 0;
            }
        }
        Subset s = {.count = count, .rows = rows, .terms = terms, .sum = sum, .within = 1e-5};
        SubsetAnswer a = subset_find(&s, taken, work, *work + 2e8);
        double worst = 0;
        for (int j = 0; a == SUBSET_FOUND && j < rows; j++) {
            double x = sum[j];
            for (int k = 0; k < count; k++)
                x -= taken[k] ? terms[k * rows + j] : 0;
            worst = fmax(worst, fabs(x));
        }
        assert_true(worst <= 1e-5); /* what is said to be found is */
        right += a == SUBSET_FOUND;
        for (int j = 0; j < rows; j++) /* a sum of something else */
            sum[j] += 0.3 * normal(&state) / count;
        assert_int_not_equal(subset_find(&s, taken, work, *work + 2e7), SUBSET_FOUND);
    }
    free(terms);
    free(sum);
    free(in);
    free(taken);
    return right;
}

static void subsets(void **state)
{
    (void)state;
    static const struct {
        int count, rows;
        double share;
        int least;
    } CASES[] = {{17, 8, 0.1, 10},  {17, 8, 0.5, 10},  {65, 16, 0.1, 4},
                 {65, 16, 0.05, 8}, {65, 64, 0.5, 10}, {197, 64, 0.1, 9}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double work = 0;
        int right = worked_out(CASES[i].count, CASES[i].rows, CASES[i].share, &work);
        print_message("  %3d terms of %2d numbers, %2.0f %% left out: %2d of 10 worked out, %.2g operations\n",
                      CASES[i].count, CASES[i].rows, 100 * CASES[i].share, right, work);
        assert_true(right >= CASES[i].least);
    }
    assert_true(fabs(subset_choices(10, 10) - 10) < 0.01);
    assert_true(subset_choices(65, 5) > 22 && subset_choices(65, 5) < 27); /* 65 over 5: 8.3 million */
}

#define BUT_SHARES                                                                                                     \
    "image patch_embed full_embed blocks.*.ln1.out blocks.*.attn.q blocks.*.attn.k blocks.*.attn.v blocks.*.attn.out " \
    "blocks.*.ln2.out blocks.*.mlp.pre blocks.*.mlp.post blocks.*.mlp.out blocks.*.resid_post ln_final.out logits"

/* The shares of a block with some left out. */
static void drop(Plot *p, const char *path, double share)
{
    const float *x = planted(p, path);
    float *out = plant_values(p, path);
    uint32_t state = 5;
    for (size_t i = 0; i < cells_of(p, path); i++)
        out[i] = noise(&state) < share ? 0 : (float)((double)x[i] / (1 - share));
}
/* The largest share of each row taken away, the rest summing to 1 again: no dropout, whatever p. */
static void without_largest(Plot *p, const char *path, double unused)
{
    (void)unused;
    const float *x = planted(p, path);
    float *out = plant_values(p, path);
    size_t keys = (size_t)vit_tokens(p->c);
    for (size_t row = 0; row < cells_of(p, path) / keys; row++) {
        size_t most = 0;
        for (size_t u = 0; u < keys; u++)
            most = x[row * keys + u] > x[row * keys + most] ? u : most;
        for (size_t u = 0; u < keys; u++)
            out[row * keys + u] = u == most ? 0 : x[row * keys + u] / (1 - x[row * keys + most]);
    }
}

static void verdict_of(const char *list, void (*make)(Plot *, const char *, double), double share, Compared *d)
{
    Side s;
    side_open(&s, "assets/trained", TINY "/image.ppm");
    Plot *p = calloc(1, sizeof *p);
    p->s = &s;
    p->c = &s.bench.model.vit;
    make(p, "blocks.1.attn.pattern", share);
    write_edited(&s, p->edit, p->count, PRECISION_F32, list, trace_path());
    int64_t before = clock_ns();
    compare_with(d, &s, trace_path(), NULL, PRECISION_F32);
    print_message("  %.0f %%, %s: %.2f s: %s\n", 100 * share, strstr(list, "attn.z") ? "z" : "what W_O makes of it",
                  (double)(clock_ns() - before) / 1e9, buf_str(&d->verdict));
    arena_free(&p->arena);
    free(p);
    side_close(&s);
}

static void trained(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        double share;
    } CASES[] = {{BUT_SHARES, 0.1}, {BUT_SHARES " blocks.*.attn.z", 0.05}, {BUT_SHARES " blocks.*.attn.z", 0.1}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Compared d;
        verdict_of(CASES[i].list, drop, CASES[i].share, &d);
        const DiffCause *f = &d.report.cause[0];
        char p[32];
        snprintf(p, sizeof p, "(p = %.3g)", CASES[i].share);
        assert_true(f->whole);
        assert_non_null(strstr(f->text, "dropout is on in the recording, on the attention weights"));
        assert_non_null(strstr(f->text, p));
        compare_free(&d);
    }
}

static void no_dropout(void **state)
{
    (void)state;
    static const char *const LISTS[] = {BUT_SHARES, BUT_SHARES " blocks.*.attn.z"};
    for (size_t i = 0; i < 2; i++) {
        Compared d;
        verdict_of(LISTS[i], without_largest, 0, &d);
        assert_null(strstr(buf_str(&d.verdict), "dropout"));
        compare_free(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subsets),
        cmocka_unit_test(trained),
        cmocka_unit_test(no_dropout),
    };
    return cmocka_run_group_tests_name("diff dropped", tests, NULL, NULL);
}
