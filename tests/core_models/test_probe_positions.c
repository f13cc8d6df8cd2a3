/* What places learned: ranks, rank correlation, share of nearest neighbours, as functions and as nodes. */
#include "tests/core_models/probe_test.h"

#include "core/models/probe_positions.h"

enum { ROWS = 4, COLS = 5, PLACES = ROWS * COLS };

static void test_ranks(void **state)
{
    (void)state;
    const double x[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5}, want[] = {4.5, 1.5, 6, 1.5, 8, 11, 3, 10, 8, 4.5, 8};
    const double nan[] = {2, (double)NAN, 1};
    double rank[11];
    positions_ranks(x, 11, rank);
    for (int i = 0; i < 11; i++)
        assert_true(rank[i] == want[i]);
    positions_ranks(nan, 3, rank);
    assert_true(isnan(rank[0]) && isnan(rank[1]) && isnan(rank[2]));
    positions_ranks(x, 0, rank);
}

static double apart(int p, int q)
{
    return hypot(p / COLS - q / COLS, p % COLS - q % COLS);
}

static void fill(float *s, double (*f)(int p, int q))
{
    for (int p = 0; p < PLACES; p++)
        for (int q = 0; q < PLACES; q++)
            s[p * PLACES + q] = (float)f(p, q);
}

static double falls(int p, int q)
{
    return exp(-apart(p, q));
}
static double rises(int p, int q)
{
    return p == q ? 1 : apart(p, q) / 10;
}
static double alike(int p, int q)
{
    return p >= 0 && q >= 0 ? 0.5 : 0;
}
static double corners(int p, int q) /* only a corner away is similar */
{
    return fabs(apart(p, q) - sqrt(2)) < 1e-9 ? 0.9 : 0.1;
}
static double columns(int p, int q) /* places of a column are the same */
{
    return p % COLS == q % COLS ? 1 : 0;
}

static void test_similarities(void **state)
{
    (void)state;
    float s[PLACES * PLACES];
    fill(s, falls);
    near(positions_rank_correlation(s, ROWS, COLS), 1, "the nearer the more alike");
    near(positions_neighbour_share(s, ROWS, COLS, 4), 1, "neighbours");
    fill(s, rises);
    near(positions_rank_correlation(s, ROWS, COLS), -1, "the farther the more alike");
    near(positions_neighbour_share(s, ROWS, COLS, 8), 0, "no neighbours");
    fill(s, alike);
    assert_true(isnan(positions_rank_correlation(s, ROWS, COLS)));
    near(positions_neighbour_share(s, ROWS, COLS, 4), 1, "a tie counts");
    fill(s, corners);
    near(positions_neighbour_share(s, ROWS, COLS, 4), 0, "corners are no sides");
    near(positions_neighbour_share(s, ROWS, COLS, 8), 1, "corners touch");
    fill(s, columns);
    near(positions_neighbour_share(s, ROWS, COLS, 4), 1, "above and below");
    fill(s, falls);
    s[3 * PLACES + 7] = NAN;
    assert_true(isnan(positions_rank_correlation(s, ROWS, COLS)));
    near(positions_neighbour_share(s, ROWS, COLS, 4), (PLACES - 1.0) / PLACES, "a place without a number is no hit");
    assert_true(isnan(positions_rank_correlation(s, 1, 2)) && isnan(positions_neighbour_share(s, 1, 1, 4)));
}

/* Seeded places know nothing; places made of waves do. Functions and nodes say the same. */
static void check_model(Bench *b, double *correlation, double *share4)
{
    const VitConfig *c = &b->model.vit;
    int rows = c->image_h / c->patch_h, cols = c->image_w / c->patch_w;
    NodeId n;
    const float *cosine = value(b, "pos.probe.cosine", &n);
    *correlation = positions_rank_correlation(cosine, rows, cols);
    *share4 = positions_neighbour_share(cosine, rows, cols, 4);
    near((double)value(b, "pos.probe.rank_correlation", &n)[0], *correlation, "rank correlation as a node");
    near((double)value(b, "pos.probe.share4", &n)[0], *share4, "share of 4 as a node");
    near((double)value(b, "pos.probe.share8", &n)[0], positions_neighbour_share(cosine, rows, cols, 8),
         "share of 8 as a node");
    const float *rank = value(b, "pos.probe.cosine_rank", &n);
    size_t places = (size_t)rows * (size_t)cols;
    double sum = 0;
    for (size_t i = 0; i < places * places; i++)
        sum += (double)rank[i] - ((double)(places * (places - 1)) + 1) / 2;
    near(sum, 0, "ranks about their mean");
}

static void test_model(void **state)
{
    (void)state;
    static const VitPos KINDS[] = {VIT_POS_ALL, VIT_POS_BEFORE_REGISTERS, VIT_POS_PATCHES};
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
        Bench b = {0};
        VitConfig c = small();
        double correlation, share;
        c.image_h = 20;
        c.patch_h = 4;
        c.registers = 2;
        c.pos = KINDS[k];
        bench_seeded(&b, &c, 7);
        add_probes(&b);
        check_model(&b, &correlation, &share);
        assert_true(fabs(correlation) < 0.25 && share < 0.5);
        bench_free(&b);
        bench_seeded(&b, &c, 7);
        WeightTensor *t = vit_weight(&b.model.weights, VIT_POS, 0);
        float *table = b.model.block + (t->data - b.model.block);
        size_t cells = vit_role_cells(&c, VIT_POS), width = (size_t)c.width, cols = (size_t)(c.image_w / c.patch_w);
        size_t first = cells / width - (size_t)vit_patches(&c);
        for (size_t p = 0; p < (size_t)vit_patches(&c); p++)
            for (size_t d = 0; d < width; d++) {
                double at = (double)(d % 2 ? p / cols : p % cols);
                table[(first + p) * width + d] *=
                    0.1f; /* no two pairs are exactly alike: rounding would put such in any order */
                table[(first + p) * width + d] += (float)(d / 2 % 2 ? sin(at * 0.4) : cos(at * 0.4));
            }
        add_probes(&b);
        check_model(&b, &correlation, &share);
        assert_true(correlation > 0.9 && share == 1);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_similarities),
                                       cmocka_unit_test(test_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
