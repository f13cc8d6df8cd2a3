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
    {CM_BLUE_LIGHT,
     10,
     {0xeeeeee, 0xe4e4e4, 0xd7d7ff, 0xafd7ff, 0xafafff, 0x87afff, 0x5f87ff, 0x5f87d7, 0x005fd7, 0x005faf},
     {94, 91, 87, 84, 74, 72, 59, 57, 43, 40}},
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
            int levels = mode == MODE_TRUE                    ? 64
                         : m == CM_GREY || m == CM_GREY_LIGHT ? 24
                         : m == CM_BLUE_LIGHT                 ? 10
                                                              : 12;
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

/* On a light ground the sequential map is blue throughout and even in lightness; text is read on all of it, and the
 * black cursor shows on its darkest cell as a part of the screen has to (3 : 1, WCAG 2.1). */
static void test_light_ground(void **state)
{
    (void)state;
    const MapId m = CM_BLUE_LIGHT;
    double first = lightness(colourmap_colour(m, MODE_TRUE, 0)), last = lightness(colourmap_colour(m, MODE_TRUE, 1));
    assert_true(first > 95 && last < 40);
    for (int mode = MODE_256; mode <= MODE_TRUE; mode++)
        for (int i = 0; i <= 1000; i++) {
            Colour c = colourmap_colour(m, (ColourMode)mode, i / 1000.0);
            assert_true(colour_contrast(c, 0) >= 3);
            assert_true(colour_contrast(c, colour_readable_on(c)) >= 4.5);
            assert_true((c & 0xff) >= (c >> 8 & 0xff) && (c >> 8 & 0xff) >= (c >> 16));
        }
    for (int k = 0; k < 64; k++) { /* truecolor: on the line from the lightest to the darkest */
        double l = lightness(colourmap_colour(m, MODE_TRUE, (k + 0.5) / 64));
        assert_true(fabs(l - (first + (last - first) * k / 63)) < 0.5);
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

/* The 8 colours as terminals have them, and their brighter ones, which bold may mean: always on the Linux console. */
static const struct {
    const char *name;
    bool always_bright, light; /* light: its ground may be */
    Colour plain[8], bright[8];
} palettes[] = {
    {"xterm",
     false,
     true,
     {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5},
     {0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff}},
    {"VTE",
     false,
     true,
     {0x000000, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a, 0xd3d7cf},
     {0x555753, 0xef2929, 0x8ae234, 0xfce94f, 0x729fcf, 0xad7fa8, 0x34e2e2, 0xeeeeec}},
    {"Linux console",
     true,
     false,
     {0x000000, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa, 0xaaaaaa},
     {0x555555, 0xff5555, 0x55ff55, 0xffff55, 0x5555ff, 0xff55ff, 0x55ffff, 0xffffff}},
};

/* Text is read on the darkest and on the lightest ground, whatever colours there are; nothing depends on colour where
 * there is none. */
static void test_theme(void **state)
{
    (void)state;
    for (int s = 0; s < STYLE_COUNT; s++)
        for (int light = 0; light < 2; light++) {
            const Colour white = 0xffffff, paper = 0x101216, black = 0;
            for (int mode = MODE_256; mode <= MODE_TRUE; mode++) {
                Look look = style_look((Style)s, (ColourMode)mode, light);
                assert_int_equal(look.bg, COLOUR_DEFAULT);
                if (look.fg == COLOUR_DEFAULT)
                    continue;
                assert_true(colour_contrast(look.fg, light ? white : black) >= 4.5);
                assert_true(s == STYLE_BORDER || light || colour_contrast(look.fg, paper) >= 4.5);
            }
            Look mono = style_look((Style)s, MODE_MONO, light);
            assert_true(mono.fg == COLOUR_DEFAULT && mono.bg == COLOUR_DEFAULT);
            Look eight = style_look((Style)s, MODE_8, light);
            for (size_t p = 0; p < sizeof palettes / sizeof *palettes && eight.fg != COLOUR_DEFAULT; p++) {
                int i = colour_8(eight.fg);
                bool bold = eight.attrs & ATTR_BOLD;
                assert_true(i > 0);
                if (light && !palettes[p].light)
                    continue;
                if (!(bold && palettes[p].always_bright) &&
                    colour_contrast(palettes[p].plain[i], light ? white : black) < 4.5)
                    fail_msg("style %d, colour %d of %s", s, i, palettes[p].name);
                if (bold && colour_contrast(palettes[p].bright[i], light ? white : black) < 4.5)
                    fail_msg("style %d, bold colour %d of %s", s, i, palettes[p].name);
            }
        }
    const Style marked[] = {STYLE_SELECTED, STYLE_CURSOR, STYLE_EDITED, STYLE_ERROR, STYLE_KEY};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++)
        assert_true(style_look(marked[i], MODE_MONO, false).attrs != 0);
    assert_true(style_look(STYLE_SIDE_A, MODE_MONO, false).attrs != style_look(STYLE_SIDE_B, MODE_MONO, false).attrs);
}

/* Against this file's own arithmetic, in floating point; and what stands on data is read on all of it. */
static void test_contrast(void **state)
{
    (void)state;
    for (Colour c = 0; c < 0x1000000; c += 0x3571)
        for (Colour other = 0; other < 0x1000000; other += 0xfedcb) {
            double a = luminance(c) + 0.05, b = luminance(other) + 0.05;
            assert_true(fabs(colour_contrast(c, other) - fmax(a, b) / fmin(a, b)) < 1e-9);
        }
    assert_true(fabs(colour_contrast(0, 0xffffff) - 21) < 1e-9);
    for (Colour c = 0; c < 0x1000000; c += 0x3571) {
        assert_true(colour_contrast(c, colour_readable_on(c)) >= 4.5);
        Colour shown = colour_legible(0x767676, c);
        assert_true(shown == COLOUR_DEFAULT || colour_contrast(shown, c) >= 4.5);
    }
    assert_int_equal(colour_legible(0x767676, 0xffffff), 0x767676);
    assert_int_equal(colour_legible(0x767676, 0x2e3440), COLOUR_DEFAULT);
}

/* What a shade looks like: light of both colours, in its parts. */
static double shade_lightness(Shade s, bool upper)
{
    double part = s.ch == 0x2591 ? 0.25 : s.ch == 0x2592 ? 0.5 : s.ch == 0x2580 && upper ? 1 : 0;
    double y = part * luminance(s.fg) + (1 - part) * luminance(s.bg);
    return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

/* With 8 colours a map still has more steps than colours, in order; two halves that differ are told apart. */
static void test_shades(void **state)
{
    (void)state;
    for (int m = 0; m < CM_COUNT; m++) {
        int turns = 0, distinct = 1;
        double last = -1, direction = 0;
        for (int i = 0; i <= 1000; i++) {
            Colour c = colourmap_colour((MapId)m, MODE_8, i / 1000.0);
            Shade s = colour_shade(c, c);
            double l = shade_lightness(s, true), step = l - last;
            assert_true(colour_of_8(colour_8(s.fg)) == s.fg && colour_of_8(colour_8(s.bg)) == s.bg);
            assert_true(s.ch != 0x2580);
            if (m == CM_GREY || m == CM_GREY_LIGHT)
                assert_true(colour_8(s.fg) % 7 == 0 && colour_8(s.bg) % 7 == 0); /* black and white */
            if (last >= 0 && fabs(step) > 0.5) {
                turns += direction * step < 0;
                direction = step;
                distinct++;
            }
            last = l;
        }
        for (int i = 1; i <= 50 && colourmap_signed((MapId)m);
             i++) { /* x and −x differ in hue, whole cells and halves */
            Colour plus = colourmap_colour((MapId)m, MODE_8, 0.5 + i / 100.0),
                   minus = colourmap_colour((MapId)m, MODE_8, 0.5 - i / 100.0);
            Shade s[] = {colour_shade(plus, plus), colour_shade(minus, minus), colour_shade(plus, minus)};
            assert_int_equal(colour_8(s[0].fg) & 4 && colour_8(s[0].fg) != 7, 0); /* no blue in it, */
            assert_int_equal(colour_8(s[1].fg) & 1 && colour_8(s[1].fg) != 7, 0); /* no red */
            assert_true(i < 10 || memcmp(&s[0], &s[1], sizeof *s) != 0);
            assert_true(i < 25 || s[2].ch == 0x2580);
        }
        assert_int_equal(turns, colourmap_signed((MapId)m));
        assert_true(distinct >= (colourmap_signed((MapId)m) ? 11 : 5));
    }
    const Shade half = colour_shade(0xcd0000, 0x0000cd);
    assert_true(half.ch == 0x2580 && colour_8(half.fg) == 1 && colour_8(half.bg) == 4);
    const Shade dark = colour_shade(0xffffff, 0x000000);
    assert_true(shade_lightness(dark, true) > 60 && shade_lightness(dark, false) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),      cmocka_unit_test(test_lightness_runs_one_way),
        cmocka_unit_test(test_signed_maps), cmocka_unit_test(test_odd_positions),
        cmocka_unit_test(test_quantiser),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_theme),       cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_shades),      cmocka_unit_test(test_light_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
