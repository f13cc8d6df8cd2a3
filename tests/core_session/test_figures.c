/* The shipped figures about the bundled model are what measuring gives: the first pictures of each are measured again
 * and must be equal, and the figure over all of them must lie where those first ones say that it can. */
#include "asking.h"

#include "core/base/interval.h"
#include "core/eval/figures.h"
#include "tests/every.h"

/* --- the arithmetic of intervals, against values worked out elsewhere --- */

static void close_to(double have, double want)
{
    if (!(fabs(have - want) < 5e-5))
        fail_msg("%.6f, should be %.4f", have, want);
}

static void intervals(void **state)
{
    (void)state;
    Interval i = interval_wilson(
        15, 148); /* Newcombe 1998, Statistics in Medicine 17, table I: 81/263, 15/148, 0/20, 1/29 */
    close_to(i.low, 0.0624);
    close_to(i.high, 0.1605);
    i = interval_wilson(81, 263);
    close_to(i.low, 0.2553);
    close_to(i.high, 0.3662);
    i = interval_wilson(0, 20);
    close_to(i.low, 0);
    close_to(i.high, 0.1611);
    i = interval_wilson(1, 29);
    close_to(i.low, 0.0061);
    close_to(i.high, 0.1718);
    i = interval_wilson(29, 29);
    assert_true(i.high == 1 && i.low < 1);
    i = interval_wilson(0, 0);
    assert_true(i.low == 0 && i.high == 1);
    /* of a mean: tables of Student's t have 12.706, 4.303, 3.182, 2.776, 2.262, 1.984 for these many but one */
    static const struct {
        size_t n;
        double t;
    } MEANS[] = {{2, 12.706}, {3, 4.303}, {4, 3.182}, {5, 2.776}, {10, 2.262}, {100, 1.984}};
    for (size_t k = 0; k < sizeof MEANS / sizeof *MEANS; k++) {
        double x[100];
        const double n = (double)MEANS[k].n;
        for (size_t m = 0; m < MEANS[k].n; m++)
            x[m] = m % 2 ? 3 : 1;
        const MeanOver over = mean_over(x, MEANS[k].n, 1);
        double squares = 0;
        for (size_t m = 0; m < MEANS[k].n; m++)
            squares += (x[m] - over.mean) * (x[m] - over.mean);
        assert_true(fabs(over.margin / sqrt(squares / (n - 1) / n) / MEANS[k].t - 1) < 3e-4);
    }
}

/* Of a ratio: worked out by hand, and against the mean where the y are alike; what follows its y exactly is certain. */
static void ratios(void **state)
{
    (void)state;
    static const double x[] = {2, 4, 9}, y[] = {1, 2, 3}, same[] = {2, 2, 2}, twice[] = {2, 4, 6};
    MeanOver r = ratio_over(x, y, 3); /* 15/6; residuals −0.5, −1, 1.5: t₂ · √(3.5/2/3) / 2 */
    assert_true(r.mean == 2.5);
    close_to(r.margin, 4.302653 * sqrt(3.5 / 6) / 2);
    r = ratio_over(x, same, 3);
    const MeanOver m = mean_over(x, 3, 1);
    close_to(r.mean, m.mean / 2);
    close_to(r.margin, m.margin / 2);
    r = ratio_over(twice, y, 3);
    assert_true(r.mean == 2 && r.margin == 0);
    assert_true(ratio_over(x, y, 1).margin == 0);
}

static void pairs(void **state)
{
    (void)state;
    static const int label[] = {0, 1, 2, 3, 4, 5}, first[] = {0, 1, 2, 3, 0, 0}, second[] = {0, 9, 9, 3, 4, 1};
    Paired p = paired_count(label, first, second, 6);
    assert_true(p.lost == 2 && p.won == 1 && p.n == 6);
    close_to(paired_lost(p), 1.0 / 6);
    assert_false(paired_differs(p));
    assert_true(paired_differs((Paired){40, 5, 1000}));
    assert_false(paired_differs((Paired){20, 15, 1000}));
    assert_false(paired_differs((Paired){0, 0, 1000}));
    Interval i = paired_interval((Paired){0, 0, 1000});
    assert_true(i.low < 0 && i.high > 0 && i.high < 0.003); /* no point: none discordant is no proof of none */
    i = paired_interval((Paired){30, 10, 500});
    close_to(i.low, 20.0 / 502 - 1.959964 * sqrt(41 - 400.0 / 502) / 502);
}

static void places(void **state)
{
    (void)state;
    static const Interval of[] = {{0.5, 0.6}, {0.1, 0.2}, {0.15, 0.3}, {0.28, 0.4}, {-0.1, 0.05}};
    static const int first[] = {1, 3, 2, 2, 5}, last[] = {1, 4, 4, 3, 5};
    for (int k = 0; k < 5; k++) {
        int a, b;
        interval_places(of, 5, k, &a, &b);
        assert_int_equal(a, first[k]);
        assert_int_equal(b, last[k]);
    }
}

/* --- the figures --- */

static void rows_are_in_order(void **state)
{
    (void)state;
    static const struct {
        FigureKind kind;
        int i;
    } ROWS[] = {
#define FIGURE(kind, i, right, lost, won) {FIGURE_##kind, i},
#define PART(kind, i, right, lost, won)
#define MEAN(kind, value)
#define PART_MEAN(kind, value)
#include "core/eval/figures.def"
#undef FIGURE
#undef PART
#define FIGURE(kind, i, right, lost, won)
#define PART(kind, i, right, lost, won) {FIGURE_##kind, i},
#include "core/eval/figures.def"
    };
    assert_int_equal(sizeof ROWS / sizeof *ROWS, 2 * FIGURES_MOST);
    for (int k = 0; k < 2 * FIGURES_MOST; k++)
        assert_int_equal(figures_at(ROWS[k].kind, ROWS[k].i), k % FIGURES_MOST);
    assert_true(FIGURES_PICTURES >= 5000);
}

/* What is shipped of the first FIGURES_PART pictures. */
#undef PART
#define PART(kind, i, right, lost, won) {right, {lost, won, FIGURES_PART}},
static const Figure FIRST[FIGURES_MOST] = {
#include "core/eval/figures.def"
};
#undef PART
#undef PART_MEAN
#define PART(kind, i, right, lost, won)
#define PART_MEAN(kind, value) [FIGURE_MEAN_##kind] = value,
static const double FIRST_MEAN[FIGURE_MEAN_COUNT] = {
#include "core/eval/figures.def"
};

/* A count over all pictures that the first of them make unbelievable: beyond four standard errors of the part. */
static void believable(const char *name, int i, Figure all, size_t over, Figure part)
{
    double p = (double)part.right / FIGURES_PART, q = (double)all.right / (double)over,
           error = sqrt((q * (1 - q) + 1.0 / FIGURES_PART) / FIGURES_PART);
    if (all.right > over || fabs(p - q) > 4 * error)
        fail_msg("%s %d: %.4f over all pictures, %.4f over the first", name, i, q, p);
    if (all.pair.lost || all.pair.won) { /* the discordant pictures are the difference of both counts */
        size_t trained = figures_get(FIGURE_TRAINED, 0).right;
        assert_int_equal(trained - all.pair.lost + all.pair.won, all.right);
    }
}

static void measured_again(void **state)
{
    (void)state;
    Figures now;
    Model twin;
    Err err = {""};
    if (cases_every(1) > 1) { /* the same numbers at ten times the time */
        printf("  not tried: figures are measured again by the program's own build\n");
        return;
    }
    if (!model_load(&twin, "assets/trained/twin", NULL, NULL, &err))
        fail_msg("%s", err.text);
    if (!figures_measure(&now, &s.model, &twin, FIGURES_PART, s.pool, NULL, NULL, &err))
        fail_msg("%s", err.text);
    for (int k = 0; k < FIGURE_KIND_COUNT; k++)
        for (int i = 0; i < figures_count((FigureKind)k); i++) {
            const char *name = figures_name((FigureKind)k);
            int at = figures_at((FigureKind)k, i);
            const Figure *a = &now.figure[at], *b = &FIRST[at];
            if (a->right != b->right || a->pair.lost != b->pair.lost || a->pair.won != b->pair.won)
                fail_msg("%s %d: %zu (%zu, %zu) now, shipped %zu (%zu, %zu); make figures", name, i, a->right,
                         a->pair.lost, a->pair.won, b->right, b->pair.lost, b->pair.won);
            believable(name, i, figures_get((FigureKind)k, i), figures_over((FigureKind)k, FIGURES_PICTURES), *b);
        }
    for (int i = 0; i < FIGURE_MEAN_COUNT; i++) {
        assert_true(fabs(now.mean[i] - FIRST_MEAN[i]) < 1e-6);
        assert_true(fabs(figures_mean((FigureMean)i) - FIRST_MEAN[i]) < 0.03);
    }
    model_free(&twin);
}

/* A test that can't fail is none: a count that moved is noticed. */
static void a_moved_figure(void **state)
{
    (void)state;
    Figure all = figures_get(FIGURE_SCALE_OFF, 0);
    double q = (double)(all.right + 500) / FIGURES_PICTURES, error = sqrt(q * (1 - q) / FIGURES_PART);
    double p = (double)FIRST[figures_at(FIGURE_SCALE_OFF, 0)].right / FIGURES_PART;
    assert_true(fabs(p - q) > 4 * error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals),
        cmocka_unit_test(ratios),
        cmocka_unit_test(pairs),
        cmocka_unit_test(places),
        cmocka_unit_test(rows_are_in_order),
        cmocka_unit_test(measured_again),
        cmocka_unit_test(a_moved_figure),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
