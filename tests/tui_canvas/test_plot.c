/* Line plots: the same lines in braille, sextants, thin blocks and ASCII, at three sizes; true lines in an SVG. */
#include "tui/canvas/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"
#include "tui/canvas/dots.h"
#include "tui/canvas/export.h"

enum { N = 33 };
static float x[N], up[N], wave[N];

static int lines(void **state)
{
    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i / (N - 1);
        up[i] = x[i] * x[i];
        wave[i] = i == 20 || i == 21 ? NAN : (float)(i % 8 < 4 ? i % 4 : 4 - i % 4) / 4;
    }
    return 0;
}

static CanvasPlot two(CanvasLine line[2])
{
    line[0] = (CanvasLine){.name = "up", .x = x, .y = up, .n = N, .style = STYLE_SIDE_A, .mark = '*'};
    line[1] = (CanvasLine){
        .name = "wave", .x = x, .y = wave, .n = N, .style = STYLE_SIDE_B, .mark = '+', .dashed = true};
    return (CanvasPlot){.title = "two", .x1 = 1, .y1 = 1, .line = line, .lines = 2, .cursor = 0.5, .x_name = "share"};
}

static void expect(int h, int w, bool ascii, bool blocks, const char *want)
{
    Canvas c;
    CanvasLine line[2];
    CanvasPlot p = two(line);
    Buf out = {0};
    canvas_init(&c, h, w);
    c.ascii = ascii;
    c.blocks = blocks;
    plot_draw(&c, (Rect){.h = h, .w = w}, &p);
    export_text(&c, &out);
    if (strcmp(buf_str(&out), want) != 0)
        fail_msg("%d×%d:\n%s", w, h, buf_str(&out));
    buf_free(&out);
    canvas_free(&c);
}

static void test_braille(void **state)
{
    (void)state;
    expect(5, 16, false, false,
           "two ─ up .25\n"
           " ⢠⢃  ⢀⢣ │    ⣔⠔⠊\n"
           " ⠆⠈⡄⢀⠌ ⠆⠰⣀⠤⠒⡙⠁⢑\n"
           "⣈⣀⣀⡰⠴⠤⠒⠚⡉  ⢣⠁  ⢡\n"
           "0       ▲      1\n");
    expect(8, 40, false, false,
           "two ─ up .25 ┄ wave 0\n"
           "    1│   ⢠⠃       ⠘⡄   │           ⠘⡄⢀⠔⠊\n"
           "     │   ⠄⠈⡂     ⢐⠁⠠   │  ⠄       ⣐⠕⠪⠁\n"
           "     │  ⠰  ⠈⡀   ⢀⠁  ⠆  │ ⠰    ⣀⠤⠒⡉⠁  ⠆\n"
           "     │  ⠃   ⠈⡄  ⡌   ⠘  │ ⠃⣀⠤⠒⢩  ⢠⠁   ⠘\n"
           "     │⢀⠃     ⠰ ⠰   ⢀⣀⡸⡔⢒⠓⠉    ⠆ ⠆     ⠘⡀\n"
           "    0│⣈⣀⣀⣀⣀⠤⠤⠤⠦⠖⠒⠊⠉⠁  ⠁⡈      ⠐⠔       ⢁\n"
           "     └0                ▲               1\n");
    expect(12, 60, false, false,
           "two ─ up .25 ┄ wave 0\n"
           "    1│      ⡜             ⢣      │                   ⢣   ⢀⠔⠊\n"
           "     │     ⢠ ⠘           ⠊ ⡄     │                  ⠃ ⣄⠤⠊⠁\n"
           "     │     ⠄  ⢑         ⢐⠁ ⠠     │    ⠄            ⣊⠤⠊⠡\n"
           "     │    ⠰    ⡁       ⢀⠁   ⠢    │   ⠔          ⡠⠔⡉    ⠆\n"
           "     │    ⠆    ⠈⡀     ⢀⠈     ⠆   │  ⠰       ⢀⠤⠒⠉ ⢀⠁    ⠰\n"
           "     │   ⠘      ⢡     ⡌      ⠘   │  ⠃   ⣀⠤⠔⢫⠁    ⡌      ⠃\n"
           "     │  ⠘        ⡄   ⢠        ⠑  │ ⢊⣀⠤⠒⠉    ⡄   ⢠        ⠃\n"
           "     │ ⡘         ⠰   ⠆        ⣀⢧⠔⠒⡙⠁        ⠰   ⠆         ⢃\n"
           "     │⢀⠁          ⠰ ⠔ ⣀⣀⠤⠤⠤⠒⠒⠉ ⠈⡀⢀⠁          ⠆ ⠆          ⠈⡀\n"
           "    0│⣈⣀⣀⣀⣀⣀⠤⠤⠤⠤⠤⠒⠒⠲⠊⠉          ⠈⡈           ⠐⠔            ⢁\n"
           "     └0                          ▲                         1\n");
}

static void test_without_braille(void **state)
{
    (void)state;
    expect(8, 40, false, true,
           "two ─ up .25 ┄ wave 0\n"
           "    1│    ─       ▁    │             ▁─▔\n"
           "     │                 │          ──▁\n"
           "     │      ▁       ─  │      ▁─▔▔\n"
           "     │  ▔       ─      │▁▁▁─▔▔\n"
           "     │             ▁▁──▔▔     ▁ ▔     ─\n"
           "    0│▁▁▁▁▁▁────▔▔▔   ▔│\n"
           "     └0                ▲               1\n");
    expect(8, 40, true, false,
           "two * up .25 + wave 0\n"
           "    1|    +       +    |             ***\n"
           "     |                 |          +*+\n"
           "     |      +       +  |      ****\n"
           "     |  +       +      |+*****\n"
           "     |             ******     + +     +\n"
           "    0|+*******+****   +|\n"
           "     +0                ^               1\n");
}

/* Where nothing fits nothing is drawn, and never outside. */
static void test_small(void **state)
{
    (void)state;
    for (int h = 0; h < 7; h++)
        for (int w = 0; w < 24; w++) {
            Canvas c;
            CanvasLine line[2];
            CanvasPlot p = two(line);
            canvas_init(&c, 9, 26);
            canvas_fill(&c, (Rect){.h = 9, .w = 26}, STYLE_TEXT, 'x');
            plot_draw(&c, (Rect){.y = 1, .x = 1, .h = h, .w = w}, &p);
            for (int i = 0; i < 9; i++)
                for (int k = 0; k < 26; k++)
                    if (!rect_has((Rect){.y = 1, .x = 1, .h = h, .w = w}, i, k))
                        assert_int_equal(canvas_at(&c, i, k)->ch, 'x');
            canvas_free(&c);
        }
}

static void test_values_are_read(void **state)
{
    (void)state;
    CanvasLine line[2];
    CanvasPlot p = two(line);
    assert_true(plot_value(&line[0], 0.5) == up[16]);
    assert_true(plot_value(&line[0], 0.51) == up[16]); /* of the sample before */
    assert_true(isnan(plot_value(&line[1], (double)x[20])));
    assert_true(isnan(plot_value(&line[0], -0.1)));
    Rect body = {.w = 11};
    assert_int_equal(plot_column(&p, body, 0.5), 5);
    assert_int_equal(plot_column(&p, body, 7), 10);
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* Lines in an SVG are lines: three strokes (one is broken), no dots; where something lies over the plot, dots. */
static void test_svg_has_lines(void **state)
{
    (void)state;
    Canvas c;
    CanvasLine line[2];
    CanvasPlot p = two(line);
    Buf out = {0};
    canvas_init(&c, 12, 60);
    plot_draw(&c, (Rect){.h = 12, .w = 60}, &p);
    export_svg(&c, MODE_TRUE, false, "plot", &out);
    assert_int_equal(count_of(buf_str(&out), "stroke-width=\"1.5\""), 3);
    assert_int_equal(count_of(buf_str(&out), "stroke-dasharray"), 2);
    const char *first = strstr(buf_str(&out), "stroke-width=\"1.5\"");
    const char *end = strchr(first, '>');
    int points = 0;
    for (const char *at = first; at < end; at++)
        points += *at == 'M' || *at == 'L';
    assert_int_equal(points, N); /* every sample, not every dot */
    assert_null(strstr(buf_str(&out), "⠀"));
    for (uint32_t b = 1; b < 4; b++) { /* no braille letter is left as text */
        char glyph[4] = {(char)0xe2, (char)(0xa0 + b - 1), (char)0x81, 0};
        assert_null(strstr(buf_str(&out), glyph));
    }
    size_t plain = out.len;
    buf_free(&out);
    canvas_fill(&c, (Rect){.y = 2, .x = 10, .h = 8, .w = 30}, STYLE_TEXT, ' ');
    export_svg(&c, MODE_TRUE, false, "plot", &out);
    assert_int_equal(count_of(buf_str(&out), "stroke-width=\"1.5\""), 0);
    assert_true(out.len > 100 && plain > 100);
    buf_free(&out);
    canvas_clear(&c);
    assert_int_equal(c.strokes.strokes, 0);
    canvas_free(&c);
}

/* Few samples: a blot of dots at each, a circle in an SVG, a glyph without braille; a dashed line has none. Without
 * axes the body is all but the title. */
static void test_points(void **state)
{
    (void)state;
    static const float few[] = {0, 1, 0.5F, NAN, 1}, level[] = {0.5F, 0.5F, 0.5F, 0.5F, 0.5F};
    const CanvasLine line[2] = {{.name = "few", .y = few, .n = 5, .style = STYLE_STRONG, .mark = '*'},
                                {.name = "level", .y = level, .n = 5, .style = STYLE_DIM, .mark = '.', .dashed = true}};
    static const char *const HOW[] = {"braille", "blocks", "ascii"};
    for (int how = 0; how < 3; how++)
        for (int bare = 0; bare < 2; bare++) {
            Canvas c;
            Buf out = {0};
            CanvasPlot p = {
                .title = "", .x1 = 4, .y1 = 1, .line = line, .lines = 2, .points = true, .cursor = (double)NAN};
            p.no_x = p.no_y = bare;
            canvas_init(&c, 9, 60);
            canvas_plots(&c, HOW[how]);
            Rect r = {.y = 1, .x = 2, .h = 8, .w = 50}, body = plot_draw(&c, r, &p);
            if (bare)
                assert_true(body.x == 2 && body.w == 50 && body.y == 2 && body.h == 7);
            int glyphs = 0;
            for (int i = 0; i < 9 * 60; i++)
                glyphs += c.cells[i].ch == (how == 1 ? 0x25cf : 'o') && c.cells[i].style == STYLE_STRONG;
            assert_int_equal(glyphs, how ? 4 : 0);
            export_svg(&c, MODE_TRUE, false, "plot", &out);
            assert_int_equal(count_of(buf_str(&out), "a3 3 0 1 0 6 0"), how ? 0 : 4); /* one is not finite */
            if (how == 0) /* three dots across and down at the second point, which is at the top */
                assert_true(is_braille(canvas_at(&c, body.y, body.x + body.w / 4)->ch));
            buf_free(&out);
            canvas_free(&c);
        }
}

/* Where two lines share cells, both are seen; a legend has the values of all lines of a family, or how far they go. */
static void test_crowded(void **state)
{
    (void)state;
    Canvas c;
    Buf out = {0};
    CanvasLine same[2] = {{.name = "", .x = x, .y = up, .n = N, .style = STYLE_SIDE_A},
                          {.name = "", .x = x, .y = up, .n = N, .style = STYLE_SIDE_B}};
    CanvasPlot p = {.title = "", .x1 = 1, .y1 = 1, .line = same, .lines = 2, .cursor = (double)NAN};
    int cells[2] = {0, 0};
    canvas_init(&c, 10, 40);
    plot_draw(&c, c.clip, &p);
    for (int i = 0; i < c.h * c.w; i++)
        if (is_braille(c.cells[i].ch))
            cells[c.cells[i].style == STYLE_SIDE_B]++;
    assert_true(cells[0] > 10 && cells[1] > 10);
    canvas_free(&c);
    static const char *const NAMES[] = {"0:", "1:", "2:", "3:", "4:", "5:", "6:", "7:", "8:", "9:", "10:", "11:"};
    static float level[12];
    CanvasLine many[12];
    for (int i = 0; i < 12; i++) {
        level[i] = (float)(i + 1) / 16;
        many[i] = (CanvasLine){.name = NAMES[i], .y = &level[i], .n = 1, .style = STYLE_TEXT, .mark = 'a'};
    }
    p = (CanvasPlot){.title = "entropy", .x1 = 1, .y1 = 1, .line = many, .lines = 12, .numbered = true};
    for (int w = 20; w <= 100; w += 16) {
        canvas_init(&c, 5, w);
        plot_draw(&c, c.clip, &p);
        export_text(&c, &out);
        bool all = strstr(buf_str(&out), " 11:.75"), range = strstr(buf_str(&out), " 0–11: .06–.75"),
             some = strstr(buf_str(&out), " 0:");
        assert_true(w < 24 ? !some && !range : all == (w >= 84) && some == all && range == !all);
        buf_free(&out);
        canvas_free(&c);
    }
    for (int i = 0; i < 4; i++) { /* which end close together: a row from their end at most, the highest first */
        level[i] = 0.5F - (float)i / 1000;
        many[i].mark = (char)('a' + i);
        many[i].style = i ? STYLE_GOOD : STYLE_STRONG;
    }
    p.lines = 4;
    canvas_init(&c, 9, 40);
    Rect body = plot_draw(&c, c.clip, &p);
    int rows[4] = {0};
    for (int i = 0; i < 4; i++)
        for (int y = body.y; y < body.y + body.h; y++)
            for (int k = body.x; k < body.x + body.w; k++)
                if (canvas_at(&c, y, k)->ch == (uint32_t)('a' + i)) {
                    assert_int_equal(rows[i], 0); /* each once */
                    rows[i] = y;
                    assert_int_equal(canvas_at(&c, y, k)->style, many[i].style);
                    const uint32_t behind = k + 1 < c.w ? canvas_at(&c, y, k + 1)->ch : 0;
                    assert_false(behind >= 'a' && behind <= 'd'); /* "1 2", not 12 */
                }
    for (int i = 0; i < 4; i++)
        assert_true(rows[i] >= (i ? rows[i - 1] : body.y) && abs(rows[i] - (body.y + body.h / 2)) <= 2);
    assert_true(rows[3] > rows[0]);
    canvas_free(&c);
}

static float signed_value(const void *of, int i, Ref *ref)
{
    *ref = (Ref){.run = 1, .cell = (size_t)i};
    return ((const float *)of)[i];
}

/* Bars below zero hang from a line that is drawn, those above stand on it, at any height and for any ends; a value is
 * as tall as its negative. */
static void test_bars_hang(void **state)
{
    (void)state;
    static const float VALUES[] = {4, -2, 0.05F, -0.05F, 2, -1, 0};
    enum { COUNT = sizeof VALUES / sizeof *VALUES };
    CanvasBars b = {.value = signed_value, .of = VALUES, .n = COUNT, .style = STYLE_TEXT, .negative = STYLE_NEGATIVE};
    Canvas c;
    Buf out = {0};
    for (int h = 2; h <= 12; h++)
        for (int ends = 0; ends < 3; ends++) {
            b.low = ends == 1 ? -4 : -2;
            b.high = ends == 2 ? 40 : 4;
            Rect r = {.x = 1, .h = h, .w = COUNT};
            canvas_init(&c, h, COUNT + 1);
            bars_draw(&c, r, &b);
            int zero = h - bars_below(r, b.low, b.high), cells[COUNT] = {0};
            assert_in_range(zero, 1, h - 1);
            assert_int_equal(canvas_at(&c, zero - 1, 0)->ch, '0');
            for (int i = 0; i < COUNT; i++)
                for (int y = 0; y < h; y++) {
                    const Cell *k = canvas_at(&c, y, i + 1);
                    bool ink = k->ch != ' ' && k->style != STYLE_AXIS;
                    assert_false(ink && (VALUES[i] < 0) != (y >= zero)); /* on its own side of the line */
                    assert_false(ink && k->style != (VALUES[i] < 0 ? STYLE_NEGATIVE : STYLE_TEXT));
                    assert_true(y != zero - 1 || ink || k->ch == 0x2581);
                    cells[i] += ink;
                }
            for (int i = 0; i < COUNT; i++)
                assert_int_equal(cells[i] > 0, VALUES[i] < 0 || VALUES[i] > 0);
            assert_int_equal(cells[1], cells[4]);
            canvas_free(&c);
        }
    b.low = -2, b.high = 0;
    canvas_init(&c, 3, COUNT + 1);
    bars_draw(&c, (Rect){.x = 1, .h = 3, .w = COUNT}, &b);
    assert_true(canvas_at(&c, 0, 0)->ch == '0' && canvas_at(&c, 0, 2)->style == STYLE_NEGATIVE);
    canvas_free(&c);
    b.low = -2, b.high = 4;
    canvas_init(&c, 6, COUNT + 1);
    c.ascii = true;
    bars_draw(&c, (Rect){.x = 1, .h = 6, .w = COUNT}, &b);
    export_text(&c, &out);
    assert_string_equal(buf_str(&out), " #\n #\n #   #\n0#___#__\n  # - #\n  #\n");
    buf_free(&out);
    canvas_free(&c);
}

/* Of values that share a column one has the bar: the one farthest from zero, or the largest. */
static void test_bars_share(void **state)
{
    (void)state;
    static const float VALUES[] = {-9, 3, -1, -8, -2, -7};
    enum { COUNT = sizeof VALUES / sizeof *VALUES, COLUMNS = 2 };
    static const size_t HAS[2][COLUMNS] = {{0, 3}, {1, 4}};
    for (int largest = 0; largest < 2; largest++) {
        CanvasBars b = {.value = signed_value,
                        .of = VALUES,
                        .n = COUNT,
                        .low = -9,
                        .high = 9,
                        .style = STYLE_TEXT,
                        .negative = STYLE_NEGATIVE,
                        .largest = largest};
        Canvas c;
        canvas_init(&c, 6, COLUMNS + 1);
        bars_draw(&c, (Rect){.x = 1, .h = 6, .w = COLUMNS}, &b);
        for (int col = 0; col < COLUMNS; col++) {
            const bool above = VALUES[HAS[largest][col]] > 0;
            const Cell *k = canvas_at(&c, above ? 2 : 3, col + 1);
            assert_true(k->ref.run);
            assert_int_equal(k->ref.cell, HAS[largest][col]);
            assert_int_equal(k->style, above ? STYLE_TEXT : STYLE_NEGATIVE);
        }
        canvas_free(&c);
    }
}

/* The block counts its characters by their dots, without the four that are older. */
static void test_sextants_are_numbered(void **state)
{
    (void)state;
    static const struct {
        unsigned dots;
        uint32_t ch;
    } known[] = {{0, ' '},      {1, 0x1fb00}, {2, 0x1fb01},  {3, 0x1fb02},  {20, 0x1fb13}, {21, 0x258c}, {22, 0x1fb14},
                 {41, 0x1fb27}, {42, 0x2590}, {43, 0x1fb28}, {48, 0x1fb2d}, {62, 0x1fb3b}, {63, 0x2588}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(sextant_of(known[i].dots), known[i].ch);
    for (unsigned dots = 0, next = 0x1fb00; dots < 64; dots++) {
        uint32_t ch = sextant_of(dots);
        assert_int_equal(sextant_dots(ch), dots);
        assert_int_equal(utf8_width(ch), 1);
        if (dots % 21)
            assert_int_equal(ch, next++);
        Cell k = {.ch = ch, .fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .style = STYLE_TEXT};
        assert_int_equal(cell_look(&k, MODE_MONO, false, false).ch, ch); /* NO_COLOR */
        assert_true(cell_look(&k, MODE_MONO, true, false).ch < 0x7f);
        assert_true((cell_look(&k, MODE_TRUE, true, false).ch == ' ') == !dots);
    }
    static const uint32_t OTHERS[] = {0, 'a', 0x2580, 0x258b, 0x258d, 0x2801, 0x1faff, 0x1fb3c, 0x10ffff};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_int_equal(sextant_dots(OTHERS[i]), 0);
}

/* Row by row from the upper left: bit 0 is above on the left, bit 5 below on the right. */
static bool lit(Canvas *c, Rect body, int dot_y, int dot_x)
{
    const Cell *k = canvas_at(c, body.y + dot_y / 3, body.x + dot_x / 2);
    return sextant_dots(k->ch) >> (dot_y % 3 * 2 + dot_x % 2) & 1;
}

/* Every sample is a dot where its value belongs; axes, cursor and body are those of braille. An SVG has the lines, with
 * something over them sixths of a cell; ASCII does not care. */
static void test_sextants(void **state)
{
    (void)state;
    Canvas c, other;
    CanvasLine line[2];
    CanvasPlot p = two(line);
    Buf out = {0}, plain = {0};
    Rect all = {.h = 12, .w = 60};
    p.lines = 1;
    canvas_init(&c, 12, 60);
    canvas_init(&other, 12, 60);
    canvas_plots(&c, "sextants");
    Rect body = plot_draw(&c, all, &p), same = plot_draw(&other, all, &p);
    assert_memory_equal(&body, &same, sizeof body);
    for (int i = 0; i < N; i++)
        assert_true(lit(&c, body, (int)((1 - up[i]) * (float)(3 * body.h - 1) + 0.5F),
                        (int)(x[i] * (float)(2 * body.w - 1) + 0.5F)));
    for (int i = 0; i < 12 * 60; i++)
        if (!rect_has(body, i / 60, i % 60))
            assert_int_equal(c.cells[i].ch, other.cells[i].ch);
        else
            assert_true(c.cells[i].ch == ' ' || c.cells[i].ch == 0x2502 || sextant_dots(c.cells[i].ch));
    export_svg(&c, MODE_TRUE, false, "plot", &out);
    assert_int_equal(count_of(buf_str(&out), "stroke-width=\"1.5\""), 1);
    assert_null(strstr(buf_str(&out), "\xf0\x9f\xac")); /* none is left as text, */
    assert_null(strstr(buf_str(&out), "v5h-"));         /* … or as its sixths */
    buf_clear(&out);
    canvas_fill(&c, (Rect){.y = 8, .x = 10, .h = 1, .w = 30}, STYLE_TEXT, ' ');
    export_svg(&c, MODE_TRUE, false, "plot", &out);
    assert_int_equal(count_of(buf_str(&out), "stroke-width=\"1.5\""), 0);
    assert_true(count_of(buf_str(&out), "v5h-") > 5 && count_of(buf_str(&out), "v6h-") > 5);
    c.ascii = other.ascii = true;
    canvas_clear(&c);
    canvas_clear(&other);
    plot_draw(&c, all, &p);
    plot_draw(&other, all, &p);
    buf_clear(&out);
    export_text(&c, &out);
    export_text(&other, &plain);
    assert_string_equal(buf_str(&out), buf_str(&plain));
    buf_free(&out);
    buf_free(&plain);
    canvas_free(&c);
    canvas_free(&other);
}

static void count_units(void *context, Colour colour, Rect units)
{
    if (colour == 0x00ff00)
        *(int *)context += units.h * units.w;
}

/* In a picture a sextant covers its sixths and nothing else; where plots are of something else its older forms are what
 * they always were. */
static void test_sextants_are_painted(void **state)
{
    (void)state;
    static const int UNITS[] = {4 * 5, 4 * 6, 4 * 5};
    for (unsigned dots = 1; dots < 64; dots++) {
        Canvas c;
        int units = 0, want = 0;
        canvas_init(&c, 1, 1);
        canvas_plots(&c, "sextants");
        canvas_glyph(&c, 0, 0, STYLE_TEXT, sextant_of(dots));
        c.cells[0].fg = 0x00ff00;
        for (int i = 0; i < 6; i++)
            want += dots >> i & 1 ? UNITS[i / 2] : 0;
        shapes_paint(&c, MODE_TRUE, false, paper_of(false), count_units, &units);
        assert_int_equal(units, want);
        assert_true(svg_draws(c.cells[0].ch));
        if (dots % 21 == 0) {
            canvas_plots(&c, NULL);
            units = 0;
            shapes_paint(&c, MODE_TRUE, false, paper_of(false), count_units, &units);
            assert_int_equal(units, want);
        }
        canvas_free(&c);
    }
}

/* The axis of a long training: at every width and step of the cursor it says that it is logarithmic, and each power of
 * ten stands where it belongs. */
/* A cell has one colour: where lines meet those of all of them stand beside each other, and none of one among which the
 * others are seen. */
static void lines_that_meet_take_turns(void **state)
{
    (void)state;
    static const Style STYLES[] = {STYLE_SIDE_A, STYLE_SIDE_B, STYLE_NEGATIVE, STYLE_TEXT, STYLE_DIM};
    enum { LINES = sizeof STYLES / sizeof *STYLES };
    CanvasLine line[LINES];
    for (int i = 0; i < LINES; i++)
        line[i] = (CanvasLine){.name = "", .x = x, .y = up, .n = N, .style = STYLES[i], .aside = i == LINES - 1};
    CanvasPlot plot = {
        .title = "", .x1 = 1, .y1 = 1, .line = line, .lines = LINES, .cursor = (double)NAN, .x_name = ""};
    for (int on_top = 0; on_top < 2; on_top++) {
        Canvas c;
        int cells[LINES] = {0};
        plot.first_on_top = on_top;
        canvas_init(&c, 8, 60);
        Rect body = plot_draw(&c, (Rect){0, 0, 8, 60}, &plot);
        for (int y = body.y; y < body.y + body.h; y++)
            for (int k = body.x; k < body.x + body.w; k++)
                for (int i = 0; i < LINES && is_braille(canvas_at(&c, y, k)->ch); i++)
                    cells[i] += canvas_at(&c, y, k)->style == STYLES[i];
        for (int i = 0; i < LINES - 1; i++)
            assert_in_range(cells[i], body.w / 4 - 4, body.w / 2);
        assert_int_equal(cells[LINES - 1], 0);
        canvas_free(&c);
    }
}

/* What one line is, is seen among those that stand aside: its dots are the same as if it were alone. */
static void one_line_is_seen_among_others(void **state)
{
    (void)state;
    for (int on_top = 0; on_top < 2; on_top++) {
        Canvas c[2];
        int own = 0, others = 0;
        for (int all = 0; all < 2; all++) {
            CanvasLine line[2];
            CanvasPlot p = two(line);
            line[0].style = STYLE_DIM;
            line[0].aside = true;
            line[1].dashed = false;
            p.cursor = (double)NAN;
            p.first_on_top = on_top;
            p.line = all ? line : line + 1;
            p.lines = 1 + all;
            canvas_init(&c[all], 8, 30);
            plot_draw(&c[all], (Rect){.h = 8, .w = 30}, &p);
        }
        for (int y = 1; y < 8; y++)
            for (int k = 0; k < 30; k++) {
                const Cell *alone = canvas_at(&c[0], y, k), *among = canvas_at(&c[1], y, k);
                if (is_braille(alone->ch)) {
                    assert_int_equal(among->ch, alone->ch);
                    assert_int_equal(among->style, STYLE_SIDE_B);
                    own++;
                } else
                    others += is_braille(among->ch) && among->style == STYLE_DIM;
            }
        assert_true(own > 20 && others > 10);
        canvas_free(&c[0]);
        canvas_free(&c[1]);
    }
}

static void a_logarithmic_axis_says_so(void **state)
{
    (void)state;
    static const double LAST[] = {300, 2000, 8000, 26000}, UNIT[] = {10, 25};
    int tens = 0;
    for (int i = 0; i < 8; i++)
        for (int w = 26; w < 100; w += w < 60 ? 1 : 13)
            for (double at = 0; at <= 1; at += 1.0 / 64) {
                Canvas c;
                Buf out = {0};
                CanvasLine line[2];
                CanvasPlot p = two(line);
                p.x1 = LAST[i / 2];
                p.x_unit = UNIT[i % 2];
                p.cursor = floor(p.x1 * at * at * at); /* many of them early */
                p.x_name = "step";
                canvas_init(&c, 6, w);
                c.ascii = true;
                plot_draw(&c, (Rect){.h = 6, .w = w}, &p);
                for (int k = 0; k < w; k++)
                    buf_putc(&out, (char)(canvas_at(&c, 5, k)->ch ? canvas_at(&c, 5, k)->ch : ' '));
                const char *axis = buf_str(&out);
                if (!strstr(axis, "log"))
                    fail_msg("%d cells, %g of %g by %g: \"%s\"", w, p.cursor, p.x1, p.x_unit, axis);
                for (double ten = 10; ten < p.x1; ten *= 10) {
                    char text[16];
                    const int n = snprintf(text, sizeof text, " %.0f ", ten);
                    const char *there = strstr(axis, text);
                    tens += there != NULL;
                    const Rect body = {.x = 6, .w = w - 6};
                    if (there && there - axis + 1 + (n - 3) / 2 != 6 + plot_column(&p, body, ten))
                        fail_msg("%g is not where it belongs: \"%s\"", ten, axis);
                }
                buf_free(&out);
                canvas_free(&c);
            }
    assert_true(tens > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_meet_take_turns),
        cmocka_unit_test(one_line_is_seen_among_others),
        cmocka_unit_test(a_logarithmic_axis_says_so),
        cmocka_unit_test(test_braille),
        cmocka_unit_test(test_without_braille),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_values_are_read),
        cmocka_unit_test(test_svg_has_lines),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_crowded),
        cmocka_unit_test(test_bars_hang),
        cmocka_unit_test(test_bars_share),
        cmocka_unit_test(test_sextants_are_numbered),
        cmocka_unit_test(test_sextants),
        cmocka_unit_test(test_sextants_are_painted),
    };
    return cmocka_run_group_tests(tests, lines, NULL);
}
