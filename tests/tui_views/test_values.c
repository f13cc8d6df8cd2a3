/* How values become text and colours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/tui_views/says.h"
#include "tui/canvas/export.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/classes.h"
#include "tui/views/heat.h"
#include "tui/views/number.h"
#include "tui/views/spread.h"

static Session session; /* nothing is loaded: only its LookAt is read */

static void number_texts(void **state)
{
    (void)state;
    static const struct {
        float x;
        int width;
        const char *text;
    } CASE[] = {
        {1.84021F, 12, "1.840"},
        {21.9307F, 12, "21.931"},
        {21.9307F, 5, "21.93"},
        {-0.0421F, 12, "-0.042"},
        {-0.0421F, 5, "-.042"},
        {0.00348F, 12, "0.00348"}, /* of one size one form, whatever the room */
        {0.00348F, 6, "0.0035"},
        {-0.00348F, 6, "-.0035"},
        {0.00348F, 5, ".0035"},
        {0.00348F, 4, ".003"},
        {0.0099F, 7, "0.00990"},
        {0.00999F, 7, "0.010"},
        {0.0009996F, 7, "0.00100"},
        {0.00072F, 7, "7.20e-4"},
        {0.00072F, 6, "7.2e-4"},
        {-0.00072F, 6, "-7e-4"},
        {-1.2e-5F, 12, "-1.20e-5"},
        {-1.2e-5F, 7, "-1.2e-5"},
        {0.25F, 5, "0.250"},
        {141, 12, "141"},
        {0.25F, 3, ".25"},
        {123456, 6, "123456"},
        {123456, 3, "1e5"},
        {123456, 2, "##"},
        {0, 1, "0"},
        {-0.5F, 3, "-.5"},
        {-0.0007F, 5, "-7e-4"},
        {-0.5F, 2, "##"},
        {INFINITY, 3, "inf"},
        {-INFINITY, 4, "-inf"},
        {NAN, 3, "NaN"},
        {NAN, 2, "##"},
        {3.4e38F, 5, "3e38"},
        {1.5F, 0, ""},
        {1.5F, -3, ""},
        {-0.0F, 12, "0"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char out[32];
        number_text(out, sizeof out, CASE[i].x, CASE[i].width);
        if (strcmp(CASE[i].text, "3e38") == 0)
            assert_true(says(out, CASE[i].x) && strlen(out) <= 5);
        else
            assert_string_equal(out, CASE[i].text);
    }
    uint32_t bits = 12345;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 1664525U + 1013904223U;
        float x;
        memcpy(&x, &bits, sizeof x);
        int width = i % 13;
        char out[32];
        number_text(out, sizeof out, x, width);
        assert_true(strlen(out) <= (size_t)width);
        if (strspn(out, "#") != strlen(out))
            assert_true(says(out, x));
        else
            assert_true(width < 7); /* "-1e-45" always fits into 7 */
    }
}

static void share_texts(void **state)
{
    (void)state;
    static const struct {
        float p;
        const char *text;
    } CASE[] = {
        {0.97F, "97.0 %"},     {1, "100.0 %"},         {0, "0.0 %"},     {0.0004F, "<0.1 %"},  {1e-30F, "<0.1 %"},
        {0.0005F, "0.1 %"},    {0.999F, "99.9 %"},     {NAN, "NaN"},     {0.9996F, ">99.9 %"}, {-0.5F, "-50.0 %"},
        {-0.0004F, "-0.04 %"}, {-0.9996F, "->99.9 %"}, {-1e-6F, "≈0 %"},
    };
    char out[16];
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        share_text(out, sizeof out, CASE[i].p);
        assert_string_equal(out, CASE[i].text);
    }
    static const struct {
        float p;
        const char *share, *points; /* two decimals */
    } FINE[] = {{0.01234F, "1.23 %", "1.23"},
                {0.00004F, "<0.01 %", "0.004"},
                {-0.00004F, "-0.004 %", "-0.004"},
                {-1e-7F, "≈0 %", "≈0"},
                {1e-7F, "<0.01 %", "≈0"},
                {0.99996F, ">99.99 %", "100.00"},
                {0, "0.00 %", "0"}};
    for (size_t i = 0; i < sizeof FINE / sizeof *FINE; i++) {
        share_text_to(out, sizeof out, FINE[i].p, 2);
        assert_string_equal(out, FINE[i].share);
        points_text_to(out, sizeof out, FINE[i].p, 2);
        assert_string_equal(out, FINE[i].points);
    }
    number_full_text(out, sizeof out, 1.84021F, 12);
    assert_string_equal(out, "1.84021");
    number_full_text(out, sizeof out, -0.0F, 7);
    assert_string_equal(out, "0");
    number_full_text(out, sizeof out, 0.00537016F, 12);
    assert_string_equal(out, "0.00537016");
    number_full_text(out, sizeof out, 0.000265014F, 12); /* as number_text has it */
    assert_string_equal(out, "2.65014e-4");
    number_full_text(out, sizeof out, 0.0005F, 12);
    assert_string_equal(out, "5e-4");
    number_full_text(out, sizeof out, 0.001F, 12);
    assert_string_equal(out, "0.001");
    number_full_text(out, sizeof out, -1.2e-5F, 7);
    assert_string_equal(out, "-1.2e-5");
    assert_string_equal(count_text((char[48]){0}, 48, 6912), "6,912");
    assert_string_equal(count_text((char[48]){0}, 48, 912), "912");
    assert_string_equal(count_text((char[48]){0}, 48, 1234567), "1,234,567");
    assert_string_equal(amount_text((char[48]){0}, 48, 0, "FLOP"), "0 FLOP");
    assert_string_equal(amount_text((char[48]){0}, 48, 532480, "FLOP"), "532 kFLOP");
    assert_string_equal(amount_text((char[48]){0}, 48, 999999, "B"), "1.00 MB");
    assert_string_equal(amount_text((char[48]){0}, 48, 17563000000.0, "B"), "17.6 GB");
}

static void spreads(void **state)
{
    (void)state;
    const float v[] = {NAN, 3, -2, INFINITY, 0, -0.0F, 3, -2, -INFINITY};
    Spread s = spread_of(v, sizeof v / sizeof *v);
    assert_int_equal(s.count, 9);
    assert_int_equal(s.finite, 6);
    assert_int_equal(s.zeros, 2);
    assert_int_equal(s.nans, 1);
    assert_int_equal(s.infinities, 2);
    assert_int_equal(s.at_min, 2);
    assert_int_equal(s.at_max, 1);
    assert_true(s.whole);
    const float fraction[] = {1, 0.5F};
    assert_false(spread_of(fraction, 2).whole);
    const float wild[] = {3e38F, -3e38F};
    assert_false(spread_of(wild, 2).whole);
    double mean, deviation;
    spread_moments(v, sizeof v / sizeof *v, &mean, &deviation);
    assert_true(fabs(mean - 2.0 / 6) < 1e-12);
    assert_true(fabs(deviation - sqrt(26.0 / 6 - 4.0 / 36)) < 1e-12);
    assert_int_equal(spread_of(v, 1).finite, 0);
}

/* Lengths around those that are looked at together, with what is special at every place in turn. */
static void spreads_of_any_length(void **state)
{
    (void)state;
    static const float special[] = {NAN, INFINITY, -INFINITY, 0, -0.0F, 7, -7, 1e9F};
    enum { MOST = 100, KINDS = sizeof special / sizeof *special };
    for (size_t n = 1; n < MOST; n += n % 32 == 1 ? 9 : 1)
        for (size_t k = 0; k < n * KINDS; k++) {
            float v[MOST], x = special[k % KINDS];
            size_t at = k / KINDS, min = at ? 0 : 1, max = min;
            for (size_t i = 0; i < n; i++)
                v[i] = i == at ? x : 1 + (float)(i * 37 % 11) / 4;
            for (size_t i = 0; i < n; i++) {
                min = isfinite(v[i]) && (min >= n || !isfinite(v[min]) || v[i] < v[min]) ? i : min;
                max = isfinite(v[i]) && (max >= n || !isfinite(v[max]) || v[i] > v[max]) ? i : max;
            }
            Spread s = spread_of(v, n);
            assert_int_equal(s.nans, isnan(x));
            assert_int_equal(s.infinities, isinf(x) != 0);
            assert_int_equal(s.zeros, x == 0);
            assert_int_equal(s.finite, n - (size_t)!isfinite(x));
            if (s.finite) {
                assert_true(v[s.at_min] == v[min] && s.min == v[min] && s.at_min <= min);
                assert_true(v[s.at_max] == v[max] && s.max == v[max] && s.at_max <= max);
            }
            bool whole = true;
            for (size_t i = 0; i < n; i++)
                whole = whole && (!isfinite(v[i]) || (fabsf(v[i]) < 1e6F && v[i] == floorf(v[i])));
            assert_int_equal(s.whole, whole);
        }
}

/* A scale by the root, of values on both sides of zero: a fiftieth of the largest is still seen, and as much on either
 * side. */
static void roots_of_both_signs(void **state)
{
    (void)state;
    session.look = (LookAt){.picture = {.grid = true}};
    Paint p = {.s = &session, .mode = MODE_256};
    ColourScale s = colour_scale_of_range(&p, -24, 24);
    assert_int_equal(colour_scale_level(&s, 0.5F), 0);
    s.root = true;
    int last = 0;
    for (float x = 0.5F; x <= 24; x *= 2) {
        assert_true(colour_scale_level(&s, x) >= last && colour_scale_level(&s, x) > 0);
        assert_int_equal(colour_scale_level(&s, -x), colour_scale_level(&s, x));
        assert_int_equal(colour_scale_sign(&s, -x), -1);
        assert_true(colour_scale_colour(&s, -x) != colour_scale_colour(&s, x));
        last = colour_scale_level(&s, x);
    }
    assert_int_equal(colour_scale_level(&s, -24), 9);
    assert_int_equal(colour_scale_level(&s, 0), 0);
}

static void scales(void **state)
{
    (void)state;
    session.look = (LookAt){.picture = {.grid = true}};
    Paint p = {.s = &session, .mode = MODE_256};
    const float positive[] = {0.1F, 0.9F, 0.5F}, crowded[] = {10, 11}, both[] = {-1, 3, 0}, same[] = {2, 2},
                zero[] = {0, 0};
    ColourScale s = colour_scale_for(&p, SIDE_A, 0, positive, 3);
    assert_false(s.is_signed);
    assert_true(s.low == 0 && s.high == 0.9F);
    assert_int_equal(colour_scale_level(&s, 0), 0);
    assert_int_equal(colour_scale_level(&s, 0.9F), 9);
    assert_int_equal(colour_scale_level(&s, 5), 9);
    assert_int_equal(colour_scale_level(&s, NAN), 0);
    s = colour_scale_for(&p, SIDE_A, 0, crowded, 2);
    assert_true(s.low == 10 && s.high == 11);
    s = colour_scale_for(&p, SIDE_A, 0, same, 2);
    assert_int_equal(colour_scale_level(&s, 2), 9);
    s = colour_scale_for(&p, SIDE_A, 0, zero, 2);
    assert_int_equal(colour_scale_level(&s, 0), 0);
    s = colour_scale_for(&p, SIDE_A, 0, both, 3);
    assert_true(s.is_signed && s.low == -3 && s.high == 3);
    assert_int_equal(colour_scale_level(&s, -3), 9);
    assert_int_equal(colour_scale_level(&s, 0), 0);
    assert_int_equal(colour_scale_sign(&s, -1), -1);
    assert_int_equal(colour_scale_sign(&s, 2), 1);
    assert_int_equal(colour_scale_sign(&s, NAN), 0);
    assert_true(colour_scale_colour(&s, -3) != colour_scale_colour(&s, 3));
    assert_true(colour_scale_colour(&s, NAN) != colour_scale_colour(&s, 0));
    s = colour_scale_for(&p, SIDE_DIFF, 0, positive, 3);
    assert_true(s.is_signed && s.low == -0.9F);
    session.look.locked = true;
    session.look.low = 0;
    session.look.high = 2;
    s = colour_scale_for(&p, SIDE_A, 0, both, 3);
    assert_true(s.low == 0 && s.high == 2);
    session.look.locked = false;
    snprintf(session.look.map, sizeof session.look.map, "viridis");
    s = colour_scale_for(&p, SIDE_A, 0, both, 3);
    assert_true(!s.is_signed && s.map == CM_VIRIDIS && s.low == -1 && s.high == 3);
    int last = -1;
    for (int i = 0; i <= 40; i++) {
        int level = colour_scale_level(&s, -1 + 0.1F * (float)i);
        assert_true(level >= last && level <= 9);
        last = level;
    }
    assert_int_equal(last, 9);
    session.look.map[0] = '\0';
}

static float ramp(const void *context, int row, int col, Ref *ref)
{
    *ref = (Ref){SIDE_A, *(const int *)context, (size_t)(row * 100 + col)};
    return (float)(row + col);
}

/* Things and parts: every thing in one part, parts one behind the other, none larger than another by more than one. */
static void the_scaler_is_a_division(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40; n++)
        for (size_t parts = 1; parts <= n; parts++) {
            assert_true(heat_first(0, n, parts) == 0 && heat_first(parts, n, parts) == n);
            for (size_t k = 0; k < parts; k++) {
                size_t from = heat_first(k, n, parts), end = heat_first(k + 1, n, parts);
                assert_true(end - from == n / parts || end - from == n / parts + 1);
                for (size_t i = from; i < end; i++)
                    assert_int_equal(heat_part(i, n, parts), k);
            }
        }
}

static void heats(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 12, 30);
    int node = 7;
    Rect r = {2, 3, 4, 11};
    for (int mode = 0; mode < 2; mode++)
        for (int tall = 9; tall < 30; tall += 4)
            for (int wide = 6; wide < 20; wide += 3) {
                Paint p = {.s = &session, .c = &c, .mode = mode ? MODE_256 : MODE_MONO};
                ColourScale s = colour_scale_of_range(&p, 0, 10);
                HeatSize size = {tall, wide};
                canvas_clear(&c);
                heat_draw(&p, r, 9, 6, size, &s, ramp, &node);
                for (int y = 0; y < 12; y++)
                    for (int x = 0; x < 30; x++) {
                        const Cell *k = canvas_at(&c, y, x);
                        int row, col;
                        bool hit = heat_hit(&p, r, 9, 6, size, y, x, &row, &col);
                        assert_int_equal(k->level != 0, hit);
                        if (!hit)
                            continue;
                        int lower = mode && 2 * (y - 2) + 1 < tall ? (2 * (y - 2) + 1 + 1) * 9 - 1 : -1;
                        if (!mode)
                            assert_int_equal(k->ref.cell, row * 100 + col);
                        else /* one of the two in the line */
                            assert_true(k->ref.cell == (size_t)(row * 100 + col) ||
                                        k->ref.cell == (size_t)(lower / tall * 100 + col));
                        assert_true(rect_has(heat_cell(&p, r, 9, 6, size, row, col), y, x));
                    }
            }
    canvas_free(&c);
}

/* A panel is filled, by cells that are about square; all alike where that leaves four fifths of it. */
static void heat_fills_its_room(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 1, 1);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    static const int SHAPE[][2] = {{65, 53}, {32, 58}, {60, 29}, {24, 24}, {68, 58}, {8, 8}};
    for (size_t i = 0; i < sizeof SHAPE / sizeof *SHAPE; i++) {
        int rows = SHAPE[i][0], cols = SHAPE[i][1];
        HeatSize size = heat_size(&p, (Rect){0, 0, 34, 58}, rows, cols);
        double across = (double)size.wide / cols, down = (double)size.tall / rows;
        assert_true(size.wide <= 58 && size.tall <= 68 && size.wide >= cols && size.tall >= rows);
        assert_true(across / down < HEAT_OBLONG + 0.1 && down / across < HEAT_OBLONG + 0.1);
        assert_true(size.wide * size.tall > 58 * 68 * 0.8);
        assert_true(size.wide % cols == 0 || 58 / cols * cols < 58 * 0.81);
        assert_true(size.tall % rows == 0 || 68 / rows * rows < 68 * 0.81);
    }
    canvas_free(&c);
}

/* Few values far beyond the others: the scale ends before them, their colour is none of its own, and it says how far
 * they go. */
static void outliers_are_clipped(void **state)
{
    (void)state;
    static float x[4000];
    for (int i = 0; i < 4000; i++)
        x[i] = (float)(i % 200 - 100) / 50; /* -2 … 1.98 */
    assert_true(spread_common(x, 4000, 1) >= 1.96F && spread_common(x, 4000, 1) <= 2.25F);
    x[7] = x[1111] = 40;
    x[9] = -2.5F;
    Canvas c;
    canvas_init(&c, 1, 58);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    Spread s = spread_of(x, 4000);
    s.common = spread_common(x, 4000, 1);
    ColourScale scale = colour_scale_of_spread(&p, SIDE_A, &s);
    assert_true(scale.clipped && scale.high == 2.5F && scale.low == -2.5F && scale.most == 40);
    ColourScale plain = colour_scale_of_range(&p, -2.5F, 2.5F);
    assert_true(colour_scale_colour(&scale, 2.4F) == colour_scale_colour(&plain, 2.4F));
    for (int i = 0; i <= 100; i++)
        assert_true(colour_scale_colour(&plain, (float)(i - 50) / 20) != colour_scale_colour(&scale, 40));
    colour_scale_bar(&p, &scale, 0, 0, 58);
    char text[64] = "";
    for (int k = 0; k < 58; k++)
        text[k] = canvas_at(&c, 0, k)->ch && canvas_at(&c, 0, k)->ch < 0x7f ? (char)canvas_at(&c, 0, k)->ch : ' ';
    assert_non_null(strstr(text, " to 40 "));
    s.common = spread_common(x, 4000, 80); /* of cells of 80 values each two outliers are more than two in 100 */
    assert_false(colour_scale_of_spread(&p, SIDE_A, &s).clipped);
    for (int i = 0; i < 4000; i++)
        x[i] = 0;
    assert_true(spread_common(x, 4000, 1) == 0 && spread_common(x, 0, 1) == 0);
    canvas_free(&c);
}

static void classes_in_order(void **state)
{
    (void)state;
    const float v[] = {0.1F, NAN, 0.5F, 0.1F, -0.3F, NAN};
    const size_t want[2][6] = {{2, 0, 3, 4, 1, 5}, {2, 4, 0, 3, 1, 5}}; /* the second by size */
    for (int by_size = 0; by_size < 2; by_size++) {
        Ranking r = {v, 6, by_size};
        size_t at = ranking_best(r);
        for (size_t k = 0; k < 6; k++) {
            assert_int_equal(at, want[by_size][k]);
            assert_int_equal(ranking_rank(r, at), k);
            assert_int_equal(ranking_previous(r, at), k ? want[by_size][k - 1] : 6);
            at = ranking_next(r, at);
        }
        assert_int_equal(at, 6);
        assert_int_equal(ranking_move(r, want[by_size][1], 3), want[by_size][4]);
        assert_int_equal(ranking_move(r, want[by_size][4], -2), want[by_size][2]);
        assert_int_equal(ranking_move(r, want[by_size][4], 4), want[by_size][5]); /* and stops at the end */
        assert_int_equal(ranking_move(r, want[by_size][1], 100000), want[by_size][5]);
        assert_int_equal(ranking_move(r, want[by_size][5], -100000), want[by_size][0]);
    }
    assert_int_equal(classes_next(v, 6, classes_best(v, 6)), 0);
}

static void needs_are_unique(void **state)
{
    (void)state;
    Needs n = {0};
    char path[SESSION_PATH + 8];
    needs_add(&n, SIDE_A, "logits");
    needs_add(&n, SIDE_A, "logits");
    needs_add(&n, SIDE_B, "logits");
    assert_int_equal(n.count, 2);
    for (int i = 0; i < 2 * VIEW_NEEDS; i++) {
        snprintf(path, sizeof path, "node%d", i);
        needs_add(&n, SIDE_A, path);
    }
    assert_int_equal(n.count, VIEW_NEEDS);
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    n.count = 0;
    needs_add(&n, SIDE_A, path);
    assert_int_equal(n.count, 0);
    int count = n.count;
    needs_add(&n, SIDE_A, NULL); /* a site that the model lacks */
    assert_int_equal(n.count, count);
}

/* Without colours a ground is characters: none of them touches a number, be it written to either end or between. */
static void grounds_keep_their_distance(void **state)
{
    (void)state;
    Canvas c;
    Buf text = {0};
    canvas_init(&c, 3, 13);
    Paint p = {.s = &session, .c = &c, .mode = MODE_MONO};
    ColourScale s = colour_scale_of_range(&p, -2, 2);
    canvas_text(&c, 0, 5, 5, STYLE_TEXT, "1.003");
    canvas_text(&c, 1, 0, 6, STYLE_TEXT, "-1.003");
    canvas_text(&c, 2, 7, 6, STYLE_TEXT, "20.1 %");
    for (int y = 0; y < 3; y++)
        word_ground(&p, y, 0, 13, &s, 1.003F, (Ref){0});
    export_text(&c, &text);
    assert_string_equal(buf_str(&text), "++++ 1.003 ++\n-1.003 ++++++\n++++++ 20.1 %\n");
    buf_free(&text);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_texts),
        cmocka_unit_test(share_texts),
        cmocka_unit_test(spreads),
        cmocka_unit_test(spreads_of_any_length),
        cmocka_unit_test(roots_of_both_signs),
        cmocka_unit_test(scales),
        cmocka_unit_test(heats),
        cmocka_unit_test(grounds_keep_their_distance),
        cmocka_unit_test(the_scaler_is_a_division),
        cmocka_unit_test(heat_fills_its_room),
        cmocka_unit_test(outliers_are_clipped),
        cmocka_unit_test(classes_in_order),
        cmocka_unit_test(needs_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
