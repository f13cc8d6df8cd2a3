/* Drawn pictures: the same bytes as ever, their masks, and what difficulty does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/models/drawn.h"

enum { PLANE = DRAWN_SIDE * DRAWN_SIDE, BYTES = PLANE * 3 };

static double light_of(const uint8_t *p)
{
    return 0.30 * p[0] + 0.59 * p[1] + 0.11 * p[2];
}

/* FNV-1a over two thousand pictures and their masks: recorded when pictures were first drawn. A picture's number is a
 * promise. */
static void same_bytes_as_ever(void **state)
{
    (void)state;
    static uint8_t pixels[BYTES], mask[PLANE];
    uint64_t h = UINT64_C(1469598103934665603), m = h;
    for (uint64_t n = 0; n < 2000; n++) {
        h = (h ^ (uint64_t)drawn_picture(n, pixels, mask)) * UINT64_C(1099511628211);
        for (size_t i = 0; i < BYTES; i++)
            h = (h ^ pixels[i]) * UINT64_C(1099511628211);
        for (size_t i = 0; i < PLANE; i++)
            m = (m ^ mask[i]) * UINT64_C(1099511628211);
    }
    assert_true(h == UINT64_C(0x4d2ca418e255a419));
    assert_true(m == UINT64_C(0xcc05361ee630abe7));
}

static void picture_is_the_own_series(void **state)
{
    (void)state;
    static uint8_t a[BYTES], b[BYTES], mask[PLANE], again[PLANE];
    for (uint64_t n = 0; n < 60; n++) {
        int label = drawn_picture(n, a, mask);
        assert_int_equal(label, drawn_series(DRAWN_SERIES, n, 1, b, again));
        assert_int_equal(label, drawn_label(n));
        assert_memory_equal(a, b, BYTES);
        assert_memory_equal(mask, again, PLANE);
        drawn_series(DRAWN_SERIES, n, 1, b, NULL); /* without a mask nothing changes */
        assert_memory_equal(a, b, BYTES);
        drawn_series(DRAWN_SERIES + 1, n, 1, b, NULL);
        assert_memory_not_equal(a, b, BYTES);
        drawn_series(DRAWN_SERIES, n + 1, 1, b, NULL);
        assert_memory_not_equal(a, b, BYTES);
    }
    assert_int_equal(drawn_picture(17, a, mask), 5);
    assert_string_equal(SHAPES_NAMES[5], "star");
    int label = drawn_series(UINT64_MAX, UINT64_MAX, 1, a, mask); /* the largest numbers are numbers */
    assert_in_range(label, 0, DRAWN_CLASSES - 1);
}

/* Every class at every difficulty: visible, inside the picture, brighter than what is around it. */
static void visible_at_every_difficulty(void **state)
{
    (void)state;
    static const double difficulty[] = {0, 0.1, 0.4, 0.5, 0.99, 1};
    static uint8_t a[BYTES], mask[PLANE];
    for (size_t k = 0; k < sizeof difficulty / sizeof *difficulty; k++) {
        int seen[DRAWN_CLASSES] = {0};
        for (uint64_t n = 0; n < 150; n++) {
            double inside = 0, outside = 0;
            int covered = 0, bare = 0;
            seen[drawn_series(77, n, difficulty[k], a, mask)]++;
            for (size_t i = 0; i < PLANE; i++) {
                if (mask[i] == 255)
                    inside += light_of(a + i * 3), covered++;
                else if (mask[i] == 0)
                    outside += light_of(a + i * 3), bare++;
            }
            assert_in_range(covered, 20, PLANE / 2);
            assert_true(inside / covered > outside / bare);
        }
        for (int c = 0; c < DRAWN_CLASSES; c++)
            assert_true(seen[c] > 0);
    }
}

/* Variance of the ground's light and roughness (mean square of neighbours' difference) over many pictures. */
static void ground_of(double difficulty, double *variance, double *roughness)
{
    static uint8_t a[BYTES], mask[PLANE];
    *variance = *roughness = 0;
    for (uint64_t n = 0; n < 200; n++) {
        double sum = 0, squares = 0, steps = 0;
        int count = 0;
        drawn_series(5, n, difficulty, a, mask);
        for (size_t i = 0; i + 1 < PLANE; i++) {
            if (mask[i] || mask[i + 1] || i % DRAWN_SIDE == DRAWN_SIDE - 1)
                continue;
            double v = light_of(a + i * 3), d = light_of(a + i * 3 + 3) - v;
            sum += v;
            squares += v * v;
            steps += d * d;
            count++;
        }
        *variance += squares / count - sum / count * (sum / count);
        *roughness += steps / count;
    }
}

static void difficulty_is_clutter_and_grain(void **state)
{
    (void)state;
    static uint8_t a[BYTES], b[BYTES], mask[PLANE];
    double easy, easy_rough, middle, middle_rough, hard, hard_rough;
    ground_of(0, &easy, &easy_rough);
    ground_of(0.5, &middle, &middle_rough);
    ground_of(1, &hard, &hard_rough);
    assert_true(easy * 3 < middle && middle * 1.3 < hard);
    assert_true(easy_rough * 5 < middle_rough && middle_rough * 1.3 < hard_rough);
    /* Without difficulty nothing is turned: a square's mask is a rectangle of full rows and columns. */
    int squares = 0;
    for (uint64_t n = 0; n < 200; n++) {
        if (drawn_series(5, n, 0, a, mask) != 2)
            continue;
        squares++;
        const uint8_t *first = NULL;
        for (size_t y = 0; y < DRAWN_SIDE; y++) {
            const uint8_t *row = mask + y * DRAWN_SIDE;
            if (!memchr(row, 255, DRAWN_SIDE))
                continue;
            first = first ? first : row;
            assert_memory_equal(row, first, DRAWN_SIDE);
        }
        assert_non_null(first);
    }
    assert_true(squares > 5);
    drawn_series(5, 3, 0.999999, a, mask); /* no jump at the end */
    drawn_series(5, 3, 1, b, mask);
    for (size_t i = 0; i < BYTES; i++)
        assert_true(abs(a[i] - b[i]) <= 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_as_ever),
        cmocka_unit_test(picture_is_the_own_series),
        cmocka_unit_test(visible_at_every_difficulty),
        cmocka_unit_test(difficulty_is_clutter_and_grain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
