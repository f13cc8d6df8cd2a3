#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/train/descent.h"

enum { N = 257, STEPS = 40 };

/* The same algorithm in double, written from the paper's algorithm 2 with its schedule multiplier 1. */
static void follow(double *w, const double *g, double *m, double *v, int n, int step, const AdamW *a, double scale)
{
    double p1 = 1, p2 = 1;
    for (int i = 0; i < step; i++) {
        p1 *= a->beta1;
        p2 *= a->beta2;
    }
    for (int i = 0; i < n; i++) {
        double x = g[i] * scale;
        m[i] = a->beta1 * m[i] + (1 - a->beta1) * x;
        v[i] = a->beta2 * v[i] + (1 - a->beta2) * x * x;
        w[i] -= a->rate * (m[i] / (1 - p1) / (sqrt(v[i] / (1 - p2)) + a->epsilon) + a->decay * w[i]);
    }
}

static void follows_the_paper(void **state)
{
    (void)state;
    static float w[N], g[N], m[N], v[N];
    static double dw[N], dg[N], dm[N], dv[N];
    Rng r = rng_seed(3, 1);
    for (int i = 0; i < N; i++)
        dw[i] = (double)(w[i] = rng_normal(&r));
    for (int step = 1; step <= STEPS; step++) {
        AdamW a = {.rate = 1e-2 / step, .decay = 0.05, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .step = step};
        for (int i = 0; i < N; i++)
            dg[i] = (double)(g[i] = rng_normal(&r) * (i % 7 ? 1.0f : 1e-4f));
        adamw_update(&a, w, g, 0.5f, m, v, N);
        follow(dw, dg, dm, dv, N, step, &a, 0.5);
    }
    for (int i = 0; i < N; i++)
        assert_true(fabs((double)w[i] - dw[i]) < 2e-6 * (1 + fabs(dw[i])));
}

static void any_cut_gives_the_same_bits(void **state)
{
    (void)state;
    static float w[2][N], g[N], m[2][N], v[2][N];
    Rng r = rng_seed(4, 1);
    for (int i = 0; i < N; i++) {
        w[0][i] = w[1][i] = rng_normal(&r);
        g[i] = rng_normal(&r);
    }
    AdamW a = {.rate = 1e-3, .decay = 0.1, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .step = 1};
    adamw_update(&a, w[0], g, 1.0f, m[0], v[0], N);
    for (int i = 0, n; i < N; i += n) {
        n = i % 3 == 0 ? 1 : 17;
        n = n < N - i ? n : N - i;
        adamw_update(&a, w[1] + i, g + i, 1.0f, m[1] + i, v[1] + i, (size_t)n);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
}

/* Decay is taken from the weight itself, not from the gradient: with no gradient it is all that happens. */
static void decay_is_decoupled(void **state)
{
    (void)state;
    float w = 2, g = 0, m = 0, v = 0;
    AdamW a = {.rate = 0.5, .decay = 0.25, .beta1 = 0.9, .beta2 = 0.99, .epsilon = 1e-8, .step = 1};
    adamw_update(&a, &w, &g, 1.0f, &m, &v, 1);
    assert_true(w == 2 - 0.125f * 2);
    assert_true(adamw_square_sum((float[]){3, 4}, 2) == 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_paper),
        cmocka_unit_test(any_cut_gives_the_same_bits),
        cmocka_unit_test(decay_is_decoupled),
    };
    return cmocka_run_group_tests_name("adamw", tests, NULL, NULL);
}
