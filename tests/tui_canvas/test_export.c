/* The exporters on one small frame that has everything, and on text that tries to break out. */
#include "tui/canvas/export.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/canvas/cell_look.h"

static void compose(Canvas *c)
{
    canvas_init(c, 5, 24);
    Rect in = canvas_box(c, (Rect){.h = 4, .w = 14}, "<&>", true);
    for (int x = 0; x < 10; x++) {
        Ref ref = {.run = 1, .node = 3, .cell = (size_t)x};
        canvas_pixel(c, in.y, in.x + x, 0, colourmap_colour(CM_MAGMA, MODE_256, x / 10.0), x, 0, ref);
        canvas_pixel(c, in.y, in.x + x, 1, colourmap_colour(CM_MAGMA, MODE_256, x / 10.0), x, 0, ref);
        canvas_pixel(c, in.y + 1, in.x + x, -1, colourmap_colour(CM_VIK, MODE_256, x / 9.0),
                     x < 5 ? 9 - 2 * x : 2 * x - 9, x < 5 ? -1 : 1, ref);
    }
    canvas_attr(c, (Rect){.y = in.y, .x = in.x + 4, .h = 1, .w = 1}, ATTR_REVERSE);
    canvas_text(c, 1, 15, 9, STYLE_TEXT, "star 猫");
    canvas_bar(c, 2, 15, 4, 0.6, STYLE_SIDE_A, (Ref){.run = 0});
    canvas_text(c, 4, 0, 24, STYLE_SENTENCE, "√d_k \"quoted\" 'x' & <b>");
    c->cursor_y = 1;
    c->cursor_x = 5;
}

static void test_golden(void **state)
{
    (void)state;
    Canvas c;
    compose(&c);
    Buf out = {.data = NULL};
    export_golden(&c, &out);
    assert_string_equal(buf_str(&out), "┏ <&> ━━━━━━━┓\n"
                                       "┃ .:-=+*#%@  ┃ star 猫\n"
                                       "┃Mno;,.-+#@  ┃ ██▍\n"
                                       "┗━━━━━━━━━━━━┛\n"
                                       "√d_k \"quoted\" 'x' & <b>\n"
                                       "--- styles, cursor 1,5\n"
                                       "==TTT=========\n"
                                       "=0123456789  = .... .\n"
                                       "=jhfdb13579  = AAAA\n"
                                       "==============\n"
                                       "NNNNNNNNNNNNNNNNNNNNNNN\n"
                                       "--- attributes\n"
                                       "1:     4\n");
    buf_free(&out);
    canvas_free(&c);
}

/* Names of open elements match their ends, attributes are quoted, `&` begins an entity. Returns elements seen, −1 when
 * malformed. */
static int check_markup(const char *s)
{
    char stack[16][16];
    int depth = 0, elements = 0;
    for (; *s; s++) {
        if (*s == '&' && strncmp(s, "&amp;", 5) && strncmp(s, "&lt;", 4) && strncmp(s, "&gt;", 4) &&
            strncmp(s, "&quot;", 6) && strncmp(s, "&#39;", 5))
            return -1;
        if (*s == '>')
            return -1; /* outside of an element it has to be escaped */
        if (*s != '<')
            continue;
        bool end = *++s == '/', declared = *s == '!';
        s += end;
        size_t n = 0;
        while (isalnum((unsigned char)s[n]))
            n++;
        if (!declared && (n == 0 || n >= sizeof stack[0] || depth >= 16))
            return -1;
        const char *name = s;
        bool quoted = false;
        while (*s && (quoted || *s != '>')) {
            quoted ^= *s == '"';
            if (!quoted && *s == '<')
                return -1;
            s++;
        }
        if (!*s)
            return -1;
        if (declared || s[-1] == '/' || !strncmp(name, "meta", 4)) {
            elements++;
        } else if (!end) {
            memcpy(stack[depth], name, n);
            stack[depth++][n] = '\0';
            elements++;
        } else if (depth == 0 || strlen(stack[--depth]) != n || strncmp(stack[depth], name, n)) {
            return -1;
        }
    }
    return depth ? -1 : elements;
}

static void test_markup(void **state)
{
    (void)state;
    Canvas c;
    compose(&c);
    for (int light = 0; light < 2; light++) {
        Buf svg = {.data = NULL}, html = {.data = NULL};
        export_svg(&c, MODE_TRUE, light, "a <title> & \"more\"\033]0;x\007", &svg);
        export_html(&c, MODE_TRUE, light, "a <title> & \"more\"\033]0;x\007", &html);
        assert_true(check_markup(buf_str(&svg)) > 10);
        assert_true(check_markup(buf_str(&html)) > 10);
        assert_non_null(strstr(svg.data, "<title>a &lt;title&gt; &amp; &quot;more&quot;?]0;x?</title>"));
        assert_non_null(strstr(svg.data, "&lt;b&gt;"));
        assert_non_null(strstr(html.data, "&lt;&amp;&gt;"));
        assert_null(strchr(svg.data, '\033'));
        assert_null(strchr(html.data, '\033'));
        buf_free(&svg);
        buf_free(&html);
    }
    assert_int_equal(check_markup("<a><b></a></b>"), -1); /* the checker itself can fail */
    assert_int_equal(check_markup("<a>x & y</a>"), -1);
    assert_int_equal(check_markup("<a>"), -1);
    canvas_free(&c);
}

/* Colours named in a page; false: there is one that the mode does not have. */
static bool only_colours_of(const char *page, ColourMode mode, bool light, int *count)
{
    Paper paper = paper_of(light);
    *count = 0;
    for (const char *p = page; (p = strchr(p, '#')) != NULL; p++) {
        char *end;
        Colour c = (Colour)strtoul(p + 1, &end, 16);
        if (end - p != 7) /* "&#39;" */
            continue;
        bool own = c == paper.ink || c == paper.ground;
        *count += !own;
        if (!own && (mode == MODE_MONO || (mode == MODE_8 && c & ~0xcdcdcdu)))
            return false;
    }
    return true;
}

/* What is exported for a terminal with few colours has no more than those. */
static void test_pages_have_the_colours_of_their_mode(void **state)
{
    (void)state;
    Canvas c;
    compose(&c);
    canvas_text(&c, 0, 0, 6, STYLE_ERROR, "error");
    for (int x = 0; x < 6; x++)
        canvas_pixel(&c, 1, x, x % 2, colourmap_colour(CM_VIK, MODE_TRUE, x / 5.0), 2 * x, x < 3 ? -1 : 1,
                     (Ref){.run = 0});
    for (int light = 0; light < 2; light++)
        for (int html = 0; html < 2; html++) {
            static const ColourMode MODES[] = {MODE_MONO, MODE_8, MODE_TRUE};
            int count[3];
            for (int m = 0; m < 3; m++) {
                Buf out = {.data = NULL};
                (html ? export_html : export_svg)(&c, MODES[m], light, "x", &out);
                assert_true(only_colours_of(buf_str(&out), MODES[m], light, &count[m]));
                if (m == 2)
                    assert_false(only_colours_of(buf_str(&out), MODE_8, light, &count[m]));
                buf_free(&out);
            }
            assert_true(count[0] == 0 && count[1] > 0);
        }
    canvas_free(&c);
}

static void test_svg_is_small(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 24, 80);
    for (int y = 0; y < 48; y++)
        for (int x = 0; x < 80; x++) /* no two neighbours alike */
            canvas_pixel(&c, y / 2, x, y % 2, colourmap_colour(CM_MAGMA, MODE_256, ((7 * x + 5 * y) % 12) / 12.0), 3, 0,
                         (Ref){.run = 0});
    Buf out = {.data = NULL};
    export_svg(&c, MODE_TRUE, false, "worst case", &out);
    assert_true(out.len < 100 * 1024);
    buf_free(&out);
    canvas_free(&c);
}

static void test_ansi(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 1, 3);
    canvas_pixel(&c, 0, 0, 0, 0x87d75f, 9, 0, (Ref){.run = 0});
    canvas_pixel(&c, 0, 0, 1, 0x00005f, 1, 0, (Ref){.run = 0});
    canvas_glyph(&c, 0, 1, STYLE_CURSOR, 'x');
    static const struct {
        ColourMode mode;
        const char *text;
    } cases[] = {
        {MODE_256, "\033[0;38;5;113;48;5;17m▀\033[0;7mx\033[0m \n"},
        {MODE_TRUE, "\033[0;38;2;135;215;95;48;2;0;0;95m▀\033[0;7mx\033[0m \n"},
        {MODE_8, "\033[0;33;40m▀\033[0;7mx\033[0m \n"},
        {MODE_MONO, "+\033[0;7mx\033[0m \n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Buf out = {.data = NULL};
        export_ansi(&c, cases[i].mode, false, &out);
        assert_string_equal(buf_str(&out), cases[i].text);
        buf_free(&out);
    }
    canvas_free(&c);
}

static void test_shown(void **state)
{
    (void)state;
    Canvas c;
    canvas_init(&c, 1, 4);
    const Ref none = {.run = 0};
    canvas_pixel(&c, 0, 0, -1, 0x5f0000, 6, -1, none);
    const Cell *k = canvas_at(&c, 0, 0);
    assert_true(cell_is_data(k));
    CellLook mono = cell_look(k, MODE_MONO, true, false), eight = cell_look(k, MODE_8, true, false),
             shade = cell_look(k, MODE_8, false, false), ascii = cell_look(k, MODE_256, true, false);
    assert_true(mono.ch == 'x' && mono.fg == COLOUR_DEFAULT); /* negative: a ramp of its own */
    assert_true(eight.ch == 'x' && colour_8(eight.fg) == 4);
    assert_true(shade.ch == 0x2591 && colour_8(shade.fg) + colour_8(shade.bg) == 1); /* red and black */
    assert_true(ascii.ch == ' ' && ascii.bg == 0x5f0000);
    canvas_attr(&c, (Rect){.h = 1, .w = 1}, ATTR_REVERSE); /* a reversed block of one colour would not be seen */
    CellLook marked = cell_look(k, MODE_256, false, false);
    assert_true(marked.ch == '+' && marked.fg == 0xffffff && marked.bg == 0x5f0000 && !(marked.attrs & ATTR_REVERSE));
    canvas_pixel(&c, 0, 3, -1, 0xffffaf, 9, 0, none);
    for (int twice = 0; twice < 2; twice++) /* the cursor's bracket does not hide what it marks, also drawn again */
        canvas_mark(&c, 0, 3, -1, STYLE_CURSOR, '[');
    CellLook bracket = cell_look(canvas_at(&c, 0, 3), MODE_256, false, false);
    assert_true(bracket.ch == '[' && bracket.bg == 0xffffaf && bracket.fg == 0 && !(bracket.attrs & ATTR_REVERSE));
    assert_true(cell_look(canvas_at(&c, 0, 3), MODE_MONO, false, false).attrs & ATTR_REVERSE); /* without colour */
    canvas_pixel(&c, 0, 1, -1, 0xffffaf, 9, 0, none);
    canvas_at(&c, 0, 1)->ch = '7'; /* a digit over a light colour is black */
    CellLook digit = cell_look(canvas_at(&c, 0, 1), MODE_256, false, false);
    assert_false(cell_is_data(canvas_at(&c, 0, 1)));
    assert_true(digit.ch == '7' && digit.bg == 0xffffaf);
    Cell *bad = canvas_at(&c, 0, 2);
    bad->ch = 0x1b; /* even a view that writes a cell itself cannot send this */
    assert_int_equal(cell_look(bad, MODE_256, false, false).ch, '?');
    bad->style = 250;
    assert_int_equal(cell_look(bad, MODE_256, false, false).fg, COLOUR_DEFAULT);
    canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),       cmocka_unit_test(test_markup),
        cmocka_unit_test(test_svg_is_small), cmocka_unit_test(test_ansi),
        cmocka_unit_test(test_shown),        cmocka_unit_test(test_pages_have_the_colours_of_their_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
