#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "core/train/vit_train.h"

enum { C = 3, H = 6, W = 8, CELLS = C * H * W, TRIES = 400 };

static void number(float *pixels, float first)
{
    for (int i = 0; i < CELLS; i++)
        pixels[i] = first + (float)i;
}

static float at(const float *pixels, int c, int y, int x)
{
    return pixels[(c * H + y) * W + x];
}

static void nothing_said_nothing_changed(void **state)
{
    (void)state;
    const Augment none = {0};
    float a[CELLS], b[CELLS], other[CELLS], scratch[CELLS];
    number(a, 0);
    number(b, 0);
    number(other, 50);
    assert_false(augment_any(&none));
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(1, i);
        augment_picture(&none, &r, C, H, W, a, scratch);
        assert_true(augment_mix(&none, &r, C, H, W, a, other) == 1);
        assert_memory_equal(a, b, sizeof a);
    }
}

static void flipped(void **state)
{
    (void)state;
    const Augment always = {.flip = 1}, half = {.flip = 0.5};
    float a[CELLS], b[CELLS], scratch[CELLS];
    int turned = 0;
    number(b, 0);
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(2, i);
        number(a, 0);
        augment_picture(&half, &r, C, H, W, a, scratch);
        turned += memcmp(a, b, sizeof a) != 0;
    }
    assert_in_range(turned, TRIES * 4 / 10, TRIES * 6 / 10);
    Rng r = rng_seed(2, 0);
    number(a, 0);
    augment_picture(&always, &r, C, H, W, a, scratch);
    for (int c = 0; c < C; c++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                assert_true(at(a, c, y, x) == at(b, c, y, W - 1 - x));
}

/* Every place of the window comes up, and beyond the border is what lies before it. */
static void shifted(void **state)
{
    (void)state;
    const Augment two = {.shift = 2};
    float a[CELLS], b[CELLS], scratch[CELLS];
    bool seen[5][5] = {{false}};
    number(b, 0);
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(3, i);
        number(a, 0);
        augment_picture(&two, &r, C, H, W, a, scratch);
        int from = (int)at(a, 0, 3, 4), down = 3 - from / W, right = 4 - from % W;
        assert_in_range(down + 2, 0, 4);
        assert_in_range(right + 2, 0, 4);
        seen[down + 2][right + 2] = true;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                int v = y - down, u = x - right;
                v = v < 0 ? -1 - v : v >= H ? 2 * H - 1 - v : v;
                u = u < 0 ? -1 - u : u >= W ? 2 * W - 1 - u : u;
                assert_true(at(a, 2, y, x) == at(b, 2, v, u));
            }
    }
    for (int i = 0; i < 25; i++)
        assert_true(seen[i / 5][i % 5]);
}

static void recoloured(void **state)
{
    (void)state;
    const Augment some = {.colour = 0.4};
    float a[CELLS], b[CELLS], scratch[CELLS];
    number(b, 60);
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(4, i);
        number(a, 60);
        augment_picture(&some, &r, C, H, W, a, scratch);
        assert_memory_not_equal(a, b, sizeof a);
        for (int k = 0; k < CELLS; k++)
            assert_true(a[k] >= 0 && a[k] <= 255);
        for (int k = 1; k < H * W; k++) /* what was lighter stays so */
            assert_true(at(a, 0, 0, k) >= at(a, 0, 0, k - 1));
    }
}

/* Without colour there is nothing to saturate and no contrast: brightness alone is left, whatever stands behind. */
static void grey_stays_grey(void **state)
{
    (void)state;
    const Augment some = {.colour = 0.4};
    float a[CELLS], scratch[CELLS], one[C] = {0};
    for (uint64_t i = 0; i < TRIES; i++)
        for (int channels = 1; channels <= C; channels += 2) {
            Rng r = rng_seed(4, i);
            for (int k = 0; k < CELLS; k++)
                a[k] = k < channels * H * W ? 100 : 7000;
            augment_picture(&some, &r, channels, H, W, a, scratch);
            for (int k = 1; k < channels * H * W; k++)
                assert_float_equal(a[k], a[0], 1e-3);
            one[channels - 1] = a[0];
            assert_true(a[0] >= 59.9f && a[0] <= 140.1f &&
                        (channels == 1 || (a[0] - one[0]) * (a[0] - one[0]) < 1e-6f));
        }
}

/* The share that is told is the share of the pixels. */
static void mixed(void **state)
{
    (void)state;
    const Augment mix = {.mix = 1}, cut = {.cut = 1};
    float a[CELLS], other[CELLS];
    double least = 1, most = 0;
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(5, i);
        for (int k = 0; k < CELLS; k++) {
            a[k] = 100;
            other[k] = 200;
        }
        double own = augment_mix(&mix, &r, C, H, W, a, other);
        for (int k = 0; k < CELLS; k++)
            assert_true(a[k] >= 200 - 100 * (float)own - 0.01f && a[k] <= 200 - 100 * (float)own + 0.01f);
        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    assert_true(least < 0.05 && most > 0.95);
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(6, i);
        for (int k = 0; k < CELLS; k++) {
            a[k] = 1;
            other[k] = 0;
        }
        double own = augment_mix(&cut, &r, C, H, W, a, other), sum = 0;
        for (int k = 0; k < CELLS; k++)
            sum += (double)a[k];
        assert_true(own >= 0 && own <= 1 && sum - own * CELLS < 0.001 && own * CELLS - sum < 0.001);
    }
}

static void erased(void **state)
{
    (void)state;
    const Augment always = {.erase = 1};
    float a[CELLS], other[CELLS] = {0};
    int changed = 0;
    for (uint64_t i = 0; i < TRIES; i++) {
        Rng r = rng_seed(7, i);
        int grey = 0;
        number(a, 0);
        assert_true(augment_mix(&always, &r, C, H, W, a, other) == 1);
        for (int k = 0; k < CELLS; k++) {
            bool kept = a[k] >= (float)k && a[k] <= (float)k;
            assert_true(kept || (a[k] > 127.4f && a[k] < 127.6f));
            grey += !kept;
        }
        assert_true(grey % C == 0 && grey <= CELLS / 2);
        changed += grey > 0;
    }
    assert_true(changed > TRIES * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_nothing_changed),
        cmocka_unit_test(flipped),
        cmocka_unit_test(shifted),
        cmocka_unit_test(recoloured),
        cmocka_unit_test(grey_stays_grey),
        cmocka_unit_test(mixed),
        cmocka_unit_test(erased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
