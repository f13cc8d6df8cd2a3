/* The canvas: nothing leaves the clip, nothing unprintable enters a cell, sizes from 1×1 to 500×150. */
#include "tui/canvas/canvas.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/buf.h"
#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "tui/canvas/export.h"

/* Row y as text, right halves left out, trailing blanks kept. */
static const char *row_text(const Canvas *c, int y, Buf *b)
{
    buf_clear(b);
    for (int x = 0; x < c->w; x++) {
        char bytes[4];
        uint32_t ch = c->cells[y * c->w + x].ch;
        if (ch)
            buf_add(b, bytes, utf8_put(bytes, ch));
    }
    return buf_str(b);
}

static void expect_row(const Canvas *c, int y, const char *expected)
{
    Buf b = {.data = NULL};
    assert_string_equal(row_text(c, y, &b), expected);
    buf_free(&b);
}

static void test_rects(void **state)
{
    (void)state;
    Rect r = {.y = 2, .x = 3, .h = 10, .w = 20};
    Rect top = rect_cut(&r, 't', 3), right = rect_cut(&r, 'r', 5), bottom = rect_cut(&r, 'b', 100),
         left = rect_cut(&r, 'l', -4);
    assert_true(top.y == 2 && top.h == 3 && top.w == 20);
    assert_true(right.x == 18 && right.w == 5 && right.h == 7 && right.y == 5);
    assert_true(bottom.y == 5 && bottom.h == 7 && r.h == 0 && r.w == 15);
    assert_true(left.w == 0);
    Rect in = rect_inset((Rect){.y = 1, .x = 1, .h = 3, .w = 9}, 2);
    assert_true(in.h == 0 && in.w == 5);
    assert_true(rect_has((Rect){.y = 1, .x = 1, .h = 2, .w = 2}, 2, 2));
    assert_false(rect_has((Rect){.y = 1, .x = 1, .h = 2, .w = 2}, 3, 2));
    assert_false(rect_has((Rect){.y = INT_MIN, .x = 0, .h = 1, .w = 1}, INT_MAX, 0));
}

static void test_text(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 3, 12);
    assert_int_equal(canvas_text(&c, 0, 1, 11, STYLE_TEXT, "√d_k → λ"), 8);
    expect_row(&c, 0, " √d_k → λ   ");
    assert_int_equal(canvas_text(&c, 1, 0, 5, STYLE_TEXT, "abcdefg"), 5);
    expect_row(&c, 1, "abcd…       ");
    assert_int_equal(canvas_text(&c, 2, 0, 5, STYLE_TEXT, "猫猫猫"), 5);
    expect_row(&c, 2, "猫猫…       ");
    assert_int_equal(c.cells[2 * 12 + 1].ch, 0);
    canvas_clear(&c);
    assert_int_equal(canvas_text(&c, 0, 0, 6, STYLE_TEXT, "猫猫猫"), 6); /* fits exactly */
    canvas_glyph(&c, 0, 1, STYLE_TEXT, 'x'); /* half of the first, then half of the second */
    canvas_glyph(&c, 0, 2, STYLE_TEXT, 'y');
    expect_row(&c, 0, " xy 猫      ");
    canvas_right(&c, 1, 2, 6, STYLE_TEXT, "7.5");
    expect_row(&c, 1, "     7.5    ");
    canvas_right(&c, 1, 2, 6, STYLE_TEXT, "123456789");
    expect_row(&c, 1, "  12345…    ");
    assert_int_equal(canvas_text(&c, 2, 0, 0, STYLE_TEXT, "x"), 0);
    assert_int_equal(canvas_text(&c, 2, 0, -3, STYLE_TEXT, "x"), 0);
    assert_int_equal(canvas_printf(&c, 2, 0, 12, STYLE_TEXT, "%s %d", "n", 5), 3);
    expect_row(&c, 2, "n 5         ");
    canvas_free(&c);
}

static void test_printf_cut_inside_a_character(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 1, 2100);
    char *text = calloc(1, 6001);
    for (int i = 0; i < 2000; i++)
        memcpy(text + 3 * i, "\xe2\x86\x92", 3);
    canvas_printf(&c, 0, 0, 2100, STYLE_TEXT, "%s", text);
    for (int x = 0; x < c.w; x++)
        assert_true(c.cells[x].ch == 0x2192 || c.cells[x].ch == ' ');
    assert_int_equal(c.cells[680].ch, 0x2192);
    free(text);
    canvas_free(&c);
}

static void test_foreign_text(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 1, 20);
    canvas_text(&c, 0, 0, 20, STYLE_TEXT,
                "a\033[31mb\tc\xc2\x9b"
                "d\xe2\x80\xae"
                "e\x80\xff");
    expect_row(&c, 0, "a?[31mb c?d?e\xef\xbf\xbd\xef\xbf\xbd     ");
    canvas_glyph(&c, 0, 0, STYLE_TEXT, 7);
    assert_int_equal(c.cells[0].ch, '?');
    canvas_fill(&c, (Rect){.h = 1, .w = 20}, STYLE_TEXT, 0x202e);
    assert_int_equal(c.cells[19].ch, '?');
    canvas_free(&c);
}

static void expect_clean(const Canvas *c)
{
    for (int i = 0; i < c->h * c->w; i++) {
        uint32_t ch = c->cells[i].ch;
        if (ch == 0)
            assert_true(i % c->w > 0 && utf8_width(c->cells[i - 1].ch) == 2);
        else
            assert_true(utf8_printable(ch) && utf8_width(ch) >= 1);
        if (ch && utf8_width(ch) == 2)
            assert_true(i % c->w + 1 < c->w && c->cells[i + 1].ch == 0);
        assert_true(!c->ascii || (ch >= ' ' && ch < 0x7f) || c->cells[i].level);
    }
}

static int between(Rng *r, int low, int high)
{
    return low + (int)(rng_u32(r) % (uint32_t)(high - low + 1));
}

/* Everything at once at random places, most of them half outside: the sanitizers watch the memory, this test the cells.
 */
static void random_drawing(Canvas *c, Rng *r)
{
    char text[24];
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)(1 + rng_u32(r) % 255);
    text[sizeof text - 1] = '\0';
    static const char *const good[] = {"猫ab", "→ √Σ−·…", "plain text with words", ""};
    const char *s = rng_u32(r) % 2 ? text : good[rng_u32(r) % 4];
    int y = between(r, -5, c->h + 4), x = between(r, -30, c->w + 4), w = between(r, -2, c->w + 40);
    Rect rect = {.y = y, .x = x, .h = between(r, -1, c->h + 3), .w = w};
    Ref ref = {.run = 1, .node = 2, .cell = rng_u32(r)};
    canvas_text(c, y, x, w, STYLE_TEXT, s);
    canvas_right(c, y + 1, x, w, STYLE_DIM, s);
    canvas_wrap(c, rect, STYLE_SENTENCE, s);
    canvas_glyph(c, y, x, STYLE_KEY, rng_u32(r) % 0x110000);
    canvas_fill(c, (Rect){.y = y, .x = x, .h = 2, .w = 7}, STYLE_TEXT, rng_u32(r) % 2 ? 0x732b : rng_u32(r) % 0x3000);
    canvas_attr(c, rect, (uint8_t)(rng_u32(r) % 16));
    canvas_ref(c, y, x, w, ref);
    canvas_box(c, rect, s, rng_u32(r) % 2);
    canvas_bar(c, y, x, w, (double)between(r, -10, 20) / 10, STYLE_SIDE_A, ref);
    for (int i = 0; i < 20; i++)
        canvas_pixel(c, y + i / 4, x + i, between(r, -1, 1), rng_u32(r) & 0xffffff, between(r, -3, 12),
                     between(r, -2, 2), ref);
}

static void test_fuzz(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1},   {1, 2},   {2, 1},    {3, 500},   {16, 60},
                                   {24, 80}, {59, 10}, {40, 120}, {150, 500}, {0, -5}};
    Rng r = rng_seed(7, 1);
    Canvas c;
    canvas_init(&c, 1, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int ascii = 0; ascii < 2; ascii++) {
            c.ascii = ascii;
            canvas_resize(&c, sizes[i][0], sizes[i][1]);
            assert_true(c.h >= 1 && c.w >= 1);
            for (int k = 0; k < 60; k++) {
                Rect clip = {.y = between(&r, -3, c.h),
                             .x = between(&r, -3, c.w),
                             .h = between(&r, -1, c.h + 9),
                             .w = between(&r, 0, c.w + 9)};
                Rect old = canvas_clip(&c, clip);
                random_drawing(&c, &r);
                c.clip = old;
            }
            expect_clean(&c);
            Buf out = {.data = NULL};
            export_text(&c, &out);
            export_golden(&c, &out);
            export_ansi(&c, MODE_256, false, &out);
            export_svg(&c, MODE_TRUE, ascii, "fuzz", &out);
            export_html(&c, MODE_TRUE, ascii, "fuzz", &out);
            assert_non_null(out.data);
            buf_free(&out);
        }
    canvas_free(&c);
}

/* A guard pattern around the clip stays untouched by every drawing function. */
static void test_nothing_outside_the_clip(void **state)
{
    (void)state;
    Rng r = rng_seed(11, 1);
    Canvas c;
    canvas_init(&c, 30, 60);
    for (int k = 0; k < 300; k++) {
        canvas_fill(&c, (Rect){.h = 30, .w = 60}, STYLE_AXIS, '#');
        Rect inside = {.y = between(&r, 0, 29),
                       .x = between(&r, 0, 59),
                       .h = between(&r, 0, 12),
                       .w = between(&r, 0, 30)};
        Rect old = canvas_clip(&c, inside);
        random_drawing(&c, &r);
        assert_null(canvas_at(&c, inside.y - 1, inside.x));
        c.clip = old;
        for (int y = 0; y < 30; y++)
            for (int x = 0; x < 60; x++) {
                const Cell *cell = canvas_at(&c, y, x);
                assert_true(rect_has(inside, y, x) ||
                            (cell->ch == '#' && cell->style == STYLE_AXIS && !cell->attrs && !cell->ref.run));
            }
    }
    Rect old = canvas_clip(&c, (Rect){.y = 1, .x = 1, .h = INT_MAX, .w = INT_MAX}); /* sums beyond int */
    assert_true(c.clip.h == 29 && c.clip.w == 59);
    c.clip = old;
    canvas_free(&c);
}

static void test_wrap(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 4, 10);
    assert_int_equal(canvas_wrap(&c, (Rect){.h = 4, .w = 10}, STYLE_TEXT, "the weights with\nwhich"), 4);
    expect_row(&c, 0, "the       ");
    expect_row(&c, 1, "weights   ");
    expect_row(&c, 2, "with      ");
    expect_row(&c, 3, "which     ");
    canvas_free(&c);
}

static void test_wrap_exact(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 4, 11);
    assert_int_equal(canvas_wrap(&c, (Rect){.h = 4, .w = 11}, STYLE_TEXT, "the weights with\nwhich"), 3);
    expect_row(&c, 0, "the weights");
    expect_row(&c, 1, "with       ");
    expect_row(&c, 2, "which      ");
    canvas_clear(&c);
    assert_int_equal(canvas_wrap(&c, (Rect){.h = 2, .w = 5}, STYLE_TEXT, "abcdefghij klm nop"), 2);
    expect_row(&c, 0, "abcde      ");
    expect_row(&c, 1, "fghi…      "); /* there is more, and it says so */
    assert_int_equal(canvas_wrap(&c, (Rect){.y = 3, .h = 1, .w = 1}, STYLE_TEXT, "猫"), 1);
    assert_int_equal(canvas_wrap(&c, (Rect){.h = 4, .w = 0}, STYLE_TEXT, "x"), 0);
    canvas_clear(&c);
    assert_int_equal(canvas_wrap(&c, (Rect){.h = 4, .w = 11}, STYLE_TEXT, "weights of 7 % each"), 2);
    expect_row(&c, 0, "weights of "); /* no percent sign is without its number */
    expect_row(&c, 1, "7 % each   ");
    canvas_free(&c);
}

static void test_ascii(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 4, 40);
    c.ascii = true;
    canvas_text(&c, 0, 0, 40, STYLE_TEXT, "√ Σ − · → × ≤ ± ² … é Ł 猫 ✓");
    expect_row(&c, 0, "sqrt sum - . > x <= +- ^2 ... e L ? ok  ");
    assert_int_equal(canvas_text(&c, 1, 0, 6, STYLE_TEXT, "long text"), 6);
    expect_row(&c, 1, "long ~                                  ");
    canvas_bar(&c, 2, 0, 10, 0.52, STYLE_TEXT, (Ref){.run = 0});
    expect_row(&c, 2, "#####                                   ");
    canvas_clear(&c);
    canvas_box(&c, (Rect){.h = 3, .w = 9}, "t", false);
    expect_row(&c, 0, "+ t ----+                               ");
    expect_row(&c, 2, "+-------+                               ");
    canvas_box(&c, (Rect){.h = 3, .w = 9}, "t", true);
    expect_row(&c, 2, "#=======#                               ");
    canvas_free(&c);
    for (uint32_t ch = 1; ch < 0x30000; ch++) { /* every plain form is ASCII, fits a line, and there is always one */
        const char *text = ascii_text(ch);
        assert_true(ascii_char(ch) >= ' ' && ascii_char(ch) < 0x7f);
        assert_true(strlen(text) >= 1 && strlen(text) <= 6);
        for (const char *p = text; *p; p++)
            assert_true(*p >= ' ' && *p < 0x7f);
    }
    assert_int_equal(ascii_char(0x2502), '|');
    assert_int_equal(ascii_char(0x2501), '-');
    assert_int_equal(ascii_char(0x253c), '+');
    assert_string_equal(ascii_text(0x1f600), "?");
}

static void test_box(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 4, 12);
    Rect in = canvas_box(&c, (Rect){.h = 4, .w = 12}, "steps", false);
    assert_true(in.y == 1 && in.x == 1 && in.h == 2 && in.w == 10);
    expect_row(&c, 0, "┌ steps ───┐");
    expect_row(&c, 1, "│          │");
    expect_row(&c, 3, "└──────────┘");
    canvas_box(&c, (Rect){.h = 4, .w = 12}, "a very long title", true);
    expect_row(&c, 0, "┏ a very … ┓");
    assert_int_equal(canvas_at(&c, 0, 0)->style, STYLE_BORDER_FOCUS);
    assert_int_equal(canvas_at(&c, 0, 2)->style, STYLE_TITLE);
    canvas_clear(&c);
    Rect none = canvas_box(&c, (Rect){.h = 1, .w = 9}, "x", false);
    assert_true(none.h == 0 && none.w == 0);
    expect_row(&c, 0, "            ");
    canvas_free(&c);
}

static void test_bar(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *row;
    } cases[] = {{1, "████"},        {0.5, "██  "}, {0, "    "}, {1.0 / 32, "▏   "},
                 {7.0 / 32, "▉   "}, {-1, "    "},  {9, "████"}, {0.001, "    "}};
    Canvas c;
    canvas_init(&c, 1, 4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        canvas_bar(&c, 0, 0, 4, cases[i].value, STYLE_SIDE_A, (Ref){.run = 2, .node = 5, .cell = 7});
        expect_row(&c, 0, cases[i].row);
    }
    assert_true(c.cells[3].ref.run == 2 && c.cells[3].ref.node == 5 && c.cells[3].ref.cell == 7);
    canvas_clear(&c);
    canvas_bar(&c, 0, 0, 4, (double)NAN, STYLE_SIDE_A, (Ref){.run = 0});
    expect_row(&c, 0, "NaN ");
    canvas_free(&c);
}

/* From a zero line in the middle, so that the sign is seen without a colour, and in ASCII. */
static void test_bar_signed(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *row, *ascii;
    } cases[] = {{1, "   │███", "   |###"},    {-1, "███│   ", "###|   "},         {0, "   │   ", "   |   "},
                 {-0.5, " ▐█│   ", " ##|   "}, {0.5, "   │█▌ ", "   |## "},        {-1.0 / 24, "  ▕│   ", "   |   "},
                 {-9, "███│   ", "###|   "},   {(double)NAN, "NaN    ", "NaN    "}};
    Canvas c;
    canvas_init(&c, 1, 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int ascii = 0; ascii < 2; ascii++) {
            canvas_clear(&c);
            c.ascii = ascii;
            canvas_bar_signed(&c, 0, 0, 7, cases[i].value, STYLE_TEXT, STYLE_NEGATIVE, (Ref){.run = 1, .cell = 3});
            expect_row(&c, 0, ascii ? cases[i].ascii : cases[i].row);
            assert_true(c.cells[0].ref.cell == 3 && c.cells[6].ref.cell == 3);
        }
    canvas_free(&c);
}

static void test_pixel(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 1, 6);
    const Ref up = {.run = 1, .node = 1, .cell = 10}, down = {.run = 1, .node = 1, .cell = 20};
    for (int order = 0; order < 2; order++) { /* either half may come first */
        canvas_clear(&c);
        canvas_pixel(&c, 0, 0, order, order ? 0x222222 : 0x111111, order ? 5 : 2, 0, order ? down : up);
        canvas_pixel(&c, 0, 0, !order, order ? 0x111111 : 0x222222, order ? 2 : 5, 0, order ? up : down);
        const Cell *k = canvas_at(&c, 0, 0);
        assert_true(k->ch == 0x2580 && k->fg == 0x111111 && k->bg == 0x222222);
        assert_int_equal(k->level, 1 + 4); /* mean of 2 and 5, rounded up */
        assert_int_equal(k->ref.cell, order ? 20 : 10);
    }
    canvas_pixel(&c, 0, 1, 1, 0x333333, 9, 1, down); /* only the lower half */
    assert_true(canvas_at(&c, 0, 1)->ch == 0x2584 && canvas_at(&c, 0, 1)->fg == 0x333333 &&
                canvas_at(&c, 0, 1)->bg == COLOUR_DEFAULT);
    canvas_pixel(&c, 0, 2, 0, 0x444444, 3, 0, up);
    canvas_pixel(&c, 0, 2, 1, 0x444444, 3, 0, down);
    assert_true(canvas_at(&c, 0, 2)->ch == ' ' && canvas_at(&c, 0, 2)->bg == 0x444444);
    canvas_pixel(&c, 0, 3, -1, 0x555555, 99, -7, up);
    assert_true(canvas_at(&c, 0, 3)->level == 10 && canvas_at(&c, 0, 3)->sign == -1 &&
                canvas_at(&c, 0, 3)->bg == 0x555555);
    canvas_pixel(&c, 0, 4, 0, 0x1, 3, 1, up); /* opposite signs do not cancel: the larger one is shown */
    canvas_pixel(&c, 0, 4, 1, 0x2, 8, -1, down);
    assert_true(canvas_at(&c, 0, 4)->level == 9 && canvas_at(&c, 0, 4)->sign == -1);
    canvas_glyph(&c, 0, 4, STYLE_TEXT, 'x'); /* text over data is text */
    assert_true(canvas_at(&c, 0, 4)->level == 0 && canvas_at(&c, 0, 4)->ref.run == 0);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rects),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_printf_cut_inside_a_character),
        cmocka_unit_test(test_foreign_text),
        cmocka_unit_test(test_fuzz),
        cmocka_unit_test(test_nothing_outside_the_clip),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_wrap_exact),
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_bar_signed),
        cmocka_unit_test(test_pixel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
