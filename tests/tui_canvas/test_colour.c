/* Colour maps: the tables are the ones that were searched, lightness runs one way, signs stay apart, the quantiser is
 * the nearest. */
#include "tui/canvas/colour.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static double linear(unsigned v)
{
    double s = v / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

/* Relative luminance of sRGB, and CIE L*. */
static double luminance(Colour c)
{
    return 0.2126 * linear(c >> 16 & 0xff) + 0.7152 * linear(c >> 8 & 0xff) + 0.0722 * linear(c & 0xff);
}

static double lightness(Colour c)
{
    double y = luminance(c);
    return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

static const struct {
    MapId map;
    int count;
    Colour colours[13];
    int lightness[13]; /* rounded, as published with the tables */
} published[] = {
    {CM_MAGMA,
     12,
     {0x000000, 0x00005f, 0x000087, 0x5f0087, 0x870087, 0xaf0087, 0xd7005f, 0xd75f5f, 0xff875f, 0xffaf87, 0xffd787,
      0xffffaf},
     {0, 7, 14, 24, 32, 39, 46, 56, 69, 78, 88, 98}},
    {CM_VIRIDIS,
     12,
     {0x5f005f, 0x5f0087, 0x5f00af, 0x005faf, 0x005fd7, 0x008787, 0x00af87, 0x87af87, 0x00d75f, 0x87d75f, 0xd7d700,
      0xffff00},
     {21, 24, 28, 40, 43, 51, 64, 68, 76, 79, 83, 97}},
    {CM_CIVIDIS,
     12,
     {0x00005f, 0x000087, 0x005f87, 0x5f5f87, 0x6c6c6c, 0x767676, 0x808080, 0xaf875f, 0xafaf5f, 0xd7af5f, 0xffd75f,
      0xffff5f},
     {7, 14, 38, 42, 46, 50, 54, 59, 70, 74, 87, 97}},
    {CM_VIK,
     13,
     {0x00005f, 0x000087, 0x005faf, 0x0087af, 0x5fafd7, 0xafd7d7, 0xeeeeee, 0xd7af87, 0xd7875f, 0xd75f00, 0xaf0000,
      0x870000, 0x5f0000},
     {7, 14, 40, 52, 68, 83, 94, 74, 64, 55, 36, 27, 18}},
    {CM_BLUE_ORANGE,
     13,
     {0xafd7ff, 0x5fd7ff, 0x5fafff, 0x0087ff, 0x005fd7, 0x005faf, 0x121212, 0x5f0000, 0xaf5f00, 0xd75f00, 0xff8700,
      0xffaf5f, 0xffd7af},
     {84, 81, 70, 57, 43, 40, 5, 18, 49, 55, 68, 78, 88}},
};

static void test_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        for (int k = 0; k < published[i].count; k++) {
            Colour c = colourmap_colour(published[i].map, MODE_256, (k + 0.5) / published[i].count);
            assert_int_equal(c, published[i].colours[k]);
            assert_int_equal(lround(lightness(c)), published[i].lightness[k]);
        }
}

static void test_lightness_runs_one_way(void **state)
{
    (void)state;
    for (int m = 0; m < CM_COUNT; m++)
        for (int mode = MODE_256; mode <= MODE_TRUE; mode++) {
            int levels = mode == MODE_TRUE ? 64 : m == CM_GREY || m == CM_GREY_LIGHT ? 24 : 12;
            int distinct = 1, turns = 0;
            Colour last = colourmap_colour((MapId)m, (ColourMode)mode, 0);
            double direction = 0;
            for (int i = 1; i <= 1000; i++) {
                Colour c = colourmap_colour((MapId)m, (ColourMode)mode, i / 1000.0);
                if (c == last)
                    continue;
                double step = lightness(c) - lightness(last);
                turns += direction * step < 0;
                direction = step;
                distinct++;
                last = c;
            }
            assert_int_equal(turns, colourmap_signed((MapId)m)); /* signed maps turn once, in the middle */
            assert_int_equal(distinct, colourmap_signed((MapId)m) ? levels + 1 : levels);
        }
}

static void test_signed_maps(void **state)
{
    (void)state;
    const MapId maps[] = {CM_BLUE_ORANGE, CM_VIK};
    for (size_t m = 0; m < 2; m++)
        for (int mode = MODE_256; mode <= MODE_TRUE; mode++) {
            Colour zero = colourmap_colour(maps[m], (ColourMode)mode, 0.5);
            assert_int_equal(zero, mode == MODE_TRUE   ? (maps[m] == CM_VIK ? 0xece5e0 : 0x121212)
                                   : maps[m] == CM_VIK ? 0xeeeeee
                                                       : 0x121212);
            for (int i = 50; i <= 500; i++) { /* blue is negative, red positive, at mirrored distances from zero */
                Colour n = colourmap_colour(maps[m], (ColourMode)mode, 0.5 - i / 1000.0),
                       p = colourmap_colour(maps[m], (ColourMode)mode, 0.5 + i / 1000.0);
                assert_true((n & 0xff) > (n >> 16));
                assert_true((p & 0xff) < (p >> 16));
                assert_true(n != zero && p != zero);
            }
        }
}

static void test_odd_positions(void **state)
{
    (void)state;
    for (int m = 0; m < CM_COUNT; m++)
        for (int mode = MODE_MONO; mode <= MODE_TRUE; mode++) {
            MapId map = (MapId)m;
            ColourMode cm = (ColourMode)mode;
            assert_int_equal(colourmap_colour(map, cm, -5), colourmap_colour(map, cm, 0));
            assert_int_equal(colourmap_colour(map, cm, 1e300), colourmap_colour(map, cm, 1));
            assert_int_equal(colourmap_colour(map, cm, (double)INFINITY), colourmap_colour(map, cm, 1));
            Colour none = colourmap_colour(map, cm, (double)NAN);
            for (int i = 0; i <= 1000; i++)
                assert_int_not_equal(colourmap_colour(map, cm, i / 1000.0), none);
        }
}

static int distance(Colour a, Colour b)
{
    int r = (int)(a >> 16) - (int)(b >> 16), g = (int)(a >> 8 & 255) - (int)(b >> 8 & 255),
        v = (int)(a & 255) - (int)(b & 255);
    return r * r + g * g + v * v;
}

static void test_quantiser(void **state)
{
    (void)state;
    for (int i = 16; i < 256; i++)
        assert_int_equal(colour_256(colour_of_256(i)), i);
    for (Colour c = 0; c < 0x1000000; c += 0x3571) { /* nearest of all 240, by brute force */
        int least = 1 << 30;
        for (int i = 16; i < 256; i++) {
            int d = distance(c, colour_of_256(i));
            least = d < least ? d : least;
        }
        assert_int_equal(distance(c, colour_of_256(colour_256(c))), least);
    }
    const Colour primary[8] = {0, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000cd, 0xcd00cd, 0x00cdcd, 0xcdcdcd};
    for (int i = 0; i < 8; i++)
        assert_int_equal(colour_8(primary[i]), i);
    assert_int_equal(colour_8(0xff2010), 1);
}

static void test_names(void **state)
{
    (void)state;
    for (int m = 0; m < CM_COUNT; m++) {
        MapId found = CM_COUNT;
        assert_true(colourmap_find(colourmap_name((MapId)m), &found));
        assert_int_equal(found, m);
    }
    MapId untouched = CM_VIK;
    assert_false(colourmap_find("jet", &untouched));
    assert_false(colourmap_find("", &untouched));
    assert_int_equal(untouched, CM_VIK);
}

/* Text can be read on the darkest and on the lightest ground, and nothing depends on colour where there is none. */
static void test_theme(void **state)
{
    (void)state;
    for (int s = 0; s < STYLE_COUNT; s++)
        for (int light = 0; light < 2; light++) {
            Look look = style_look((Style)s, MODE_256, light);
            double ground = luminance(light ? 0xffffff : 0x101216), ink = luminance(look.fg & 0xffffff);
            double high = fmax(ground, ink) + 0.05, low = fmin(ground, ink) + 0.05;
            if (look.fg != COLOUR_DEFAULT && s != STYLE_BORDER)
                assert_true(high / low >= 4.5);
            assert_int_equal(look.bg, COLOUR_DEFAULT);
            Look mono = style_look((Style)s, MODE_MONO, light);
            assert_true(mono.fg == COLOUR_DEFAULT && mono.bg == COLOUR_DEFAULT);
            Look eight = style_look((Style)s, MODE_8, light);
            assert_true(eight.fg == COLOUR_DEFAULT || colour_8(eight.fg) > 0);
        }
    const Style marked[] = {STYLE_SELECTED, STYLE_CURSOR, STYLE_EDITED, STYLE_ERROR, STYLE_KEY};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++)
        assert_true(style_look(marked[i], MODE_MONO, false).attrs != 0);
    assert_true(style_look(STYLE_SIDE_A, MODE_MONO, false).attrs != style_look(STYLE_SIDE_B, MODE_MONO, false).attrs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),      cmocka_unit_test(test_lightness_runs_one_way),
        cmocka_unit_test(test_signed_maps), cmocka_unit_test(test_odd_positions),
        cmocka_unit_test(test_quantiser),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_theme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
