/* A worked number in a hall: its digits are large, its bars as long as they say, its addresses whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/session/ask/closeup.h"
#include "tests/tui/opened.h"
#include "tui/canvas/letters.h"
#include "tui/presenter.h"
#include "tui/views/shown.h"

static Session s;
static Commands all;
static Overlay lists;

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    opened_session(&s, NULL, "#17");
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    overlay_free(&lists);
    return 0;
}

static int rows_inked(const Canvas *c)
{
    int rows = 0;
    for (int y = 0; y < c->h; y++) {
        int x = 0;
        while (x < c->w && c->cells[y * c->w + x].ch == ' ')
            x++;
        rows += x < c->w;
    }
    return rows;
}

/* Cells of the row that are whole ones of bars of that style; they have a tone of their own. */
static int bar_of(const Canvas *c, int y, Style style)
{
    int n = 0;
    for (int x = 0; x < c->w; x++) {
        const Cell *k = &c->cells[y * c->w + x];
        n += k->ch == 0x2588 && k->style == style && k->fg != COLOUR_DEFAULT;
    }
    return n;
}

/* The listed term whose first factor stands in that row. */
static const ExplainLine *term_in(const Canvas *c, int y, const Explanation *e)
{
    for (size_t i = 0; i < e->line_count; i++)
        for (int x = 0; x < c->w; x++) {
            Ref ref = c->cells[y * c->w + x].ref;
            if (ref.run && e->lines[i].ref[0].node == ref.node && e->lines[i].ref[0].cell == ref.cell)
                return &e->lines[i];
        }
    return NULL;
}

/* What the hall sees of a worked number, and its arithmetic. */
static const Explanation *worked_at(const char *line, int h, int w, Canvas *c)
{
    Err err = {{0}};
    const Deck none = {.at = -1};
    const Present v = {.on = true};
    assert_true(command_do(&s, &all, line, LINE_FOREIGN, &err));
    Frame f = present_frame(&s, &none, h, w);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    for (int i = 0; i < 2; i++)
        assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
    canvas_init(c, h, w);
    canvas_clear(c);
    Paint paint = {.s = &s, .c = c, .mode = MODE_256};
    present_draw(&paint, &f, &v, &none, &(PresentLine){"", false});
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    const Explanation *e = explained_cell(&s, f.pane[0].side, n, session_cell(&s, SIDE_B, n), SIZE_MAX);
    assert_non_null(e);
    return e;
}

/* Rows below `from` that show one number. */
static int rows_of(const Canvas *c, int from, NodeId n, size_t cell)
{
    int rows = 0;
    for (int y = from; y < c->h; y++)
        for (int x = 0; x < c->w; x++)
            if (c->cells[y * c->w + x].ref.node == n && c->cells[y * c->w + x].ref.cell == cell) {
                rows++;
                break;
            }
    return rows;
}

static bool reads(const Canvas *c, const char *wanted)
{
    Buf text = {0};
    for (int y = 0; y < c->h; y++) {
        for (int x = 0; x < c->w; x++)
            buf_putc(&text, c->cells[y * c->w + x].ch > 0 && c->cells[y * c->w + x].ch < 128
                                ? (char)c->cells[y * c->w + x].ch
                                : ' ');
        buf_putc(&text, '\n');
    }
    bool found = strstr(buf_str(&text), wanted) != NULL;
    buf_free(&text);
    return found;
}

/* Arithmetic is read from the last bench: the sum of the terms in large digits, a bar for each as long as its share of
 * the largest one, those below zero in a tone of their own and where there is room two rows high; the numbers are the
 * trace's, and four rows of five are in use. */
static void worked_in(int h, int w, int tall)
{
    Canvas c;
    const Explanation *e = worked_at("goto blocks.1.attn.scores_raw[h=2,t=r3c4,u=r4c3]; view worked", h, w, &c);
    assert_true(rows_inked(&c) > h * 4 / 5);
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    assert_int_equal(e->terms, 16);
    int terms = 0, rows = 0;
    for (int y = 0; y < c.h; y++) {
        const ExplainLine *l = term_in(&c, y, e);
        for (int x = 0; x < c.w; x++)
            if (c.cells[y * c.w + x].ref.node == n && c.cells[y * c.w + x].ref.cell == e->cell && y > h * 3 / 5) {
                rows++;
                break;
            }
        if (!l)
            continue;
        double share = (double)fabsf(l->contribution / e->lines[0].contribution) * (w - 26);
        for (int i = 0; i < tall; i++) {
            int below = bar_of(&c, y + i, STYLE_WARNING), full = bar_of(&c, y + i, STYLE_GOOD);
            assert_true(l->contribution < 0 ? full == 0 && fabs(below - share) <= 2
                                            : below == 0 && fabs(full - share) <= 2);
        }
        terms++;
    }
    assert_int_equal(terms, 16);
    assert_true(rows >= letters_rows(2)); /* the result, in at least twice the smallest letters */
    canvas_free(&c);
}

static void test_worked(void **state)
{
    (void)state;
    worked_in(40, 120, 1);
    worked_in(60, 200, 2);
}

/* A weight is one division: it is broken into lines, so that its digits are large and their addresses whole, and the
 * row that it is one of stands below it, a bar for every token. */
static void test_weight(void **state)
{
    (void)state;
    enum { TABLE = 8 };
    const struct {
        int h, w, scale;
    } sizes[] = {{24, 80, 1}, {40, 120, 2}, {60, 200, 4}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Canvas c;
        const Explanation *e = worked_at("goto blocks.1.attn.pattern[h=1,t=r3c3,u=r3c4]; view worked", sizes[i].h,
                                         sizes[i].w, &c);
        assert_true(e->terms == 1 && e->lines[0].operands == 2);
        for (int k = 0; k < 2; k++)
            assert_int_equal(rows_of(&c, TABLE, e->lines[0].ref[k].node, e->lines[0].ref[k].cell),
                             letters_rows(sizes[i].scale));
        assert_true(reads(&c, "blocks.1.attn.pattern[h=1,t=r3c3,u=r3c4]"));
        assert_true(reads(&c, "attn.row_sum[h=1,t=r3c3]"));
        NodeId n = session_node(&s, SIDE_B, s.place.path);
        const size_t row = e->cell / 65 * 65;
        for (size_t u = 0; u < 65; u++)
            assert_true(rows_of(&c, sizes[i].h / 2, n, row + u) > 0);
        canvas_free(&c);
    }
}

/* Where a hall is low some of the terms stand beside their bars, and what they come to in large digits. */
static void test_few_rows(void **state)
{
    (void)state;
    Canvas c;
    const Explanation *e = worked_at("goto blocks.0.attn.scores_raw[h=1,t=r3c3,u=r3c4]; view worked", 24, 80, &c);
    assert_int_equal(e->terms, 16);
    assert_true(reads(&c, "and 11 terms more"));
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    assert_int_equal(rows_of(&c, 14, n, e->cell), letters_rows(2));
    int bars = 0;
    for (int y = 0; y < c.h; y++) {
        const ExplainLine *l = term_in(&c, y, e);
        bars += l && bar_of(&c, y, l->contribution < 0 ? STYLE_WARNING : STYLE_GOOD) > 0;
    }
    assert_int_equal(bars, 5);
    canvas_free(&c);
}

/* Of more terms than a hall can read some stand there, in large digits, and how many there are besides. */
static void test_many_terms(void **state)
{
    (void)state;
    for (int h = 40, w = 120; h <= 60; h += 20, w += 80) {
        Canvas c;
        const Explanation *e = worked_at("goto blocks.0.attn.q_nobias[h=0,t=r3c4,e=1]; view worked", h, w, &c);
        assert_true(e->terms > 48);
        char wanted[40];
        snprintf(wanted, sizeof wanted, "and %zu terms more", e->terms - 4);
        assert_true(reads(&c, wanted) && rows_inked(&c) > h * 3 / 5);
        canvas_free(&c);
    }
}

/* A card as the hall sees it; false where it has no worked numbers. */
static bool card_drawn(Deck *d, int card, int h, int w, Canvas *c)
{
    Err err = {{0}};
    const Present v = {.on = true};
    Needs needs = {.count = 0};
    if (!deck_go(d, &s, &all, card, &err))
        fail_msg("%s", err.text);
    const Frame f = present_frame(&s, d, h, w);
    frame_needs(&s, &f, &needs);
    for (int i = 0; i < 2; i++)
        assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
    canvas_init(c, h, w);
    canvas_clear(c);
    const Paint paint = {.s = &s, .c = c, .mode = MODE_256};
    present_draw(&paint, &f, &v, d, &(PresentLine){"", false});
    return f.count && strcmp(f.pane[0].view->name, "worked") == 0;
}

static void deck_of(Deck *d, const char *lesson)
{
    Err err = {{0}};
    *d = (Deck){.at = -1};
    if (!deck_open(d, &s, lesson, &err))
        fail_msg("%s", err.text);
}

/* A card's numbers are not a few lines in an empty hall. */
static void test_no_empty_hall(void **state)
{
    (void)state;
    static const char *const LESSONS[] = {"1", "3", "5", "9", "10", "13"};
    for (size_t i = 0; i < sizeof LESSONS / sizeof *LESSONS; i++) {
        Deck d;
        deck_of(&d, LESSONS[i]);
        for (int k = 1; k < d.count; k++)
            for (int h = 24, w = 80; h <= 40; h += 16, w += 40) {
                Canvas c;
                const bool worked = card_drawn(&d, k, h, w, &c);
                if (worked && h - rows_inked(&c) > h * 2 / 5)
                    fail_msg("lesson %s, card %d, %d × %d: %d blank lines", LESSONS[i], k + 1, w, h,
                             h - rows_inked(&c));
                canvas_free(&c);
            }
        deck_close(&d);
    }
}

/* Rows of the bar of one number, in eighths: what hangs ends in a lower block with its colours exchanged. The tone can
 * be told from the ground, and from the digits, which have the other one. */
static double bar_height(const Canvas *c, NodeId n, size_t cell, bool below_zero)
{
    double rows = 0;
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const Cell *k = &c->cells[y * c->w + x];
            const Style style = below_zero ? STYLE_WARNING : STYLE_GOOD;
            if (k->ref.node != n || k->ref.cell != cell || k->style != style || k->ch < 0x2581 || k->ch > 0x2588)
                continue;
            const double part = (double)(k->ch - 0x2580) / 8;
            const Colour tone = k->attrs & ATTR_REVERSE ? k->bg : k->fg;
            assert_true(colour_contrast(tone, 0) > 3 && colour_contrast(tone, 0xffffff) > 3);
            rows += k->attrs & ATTR_REVERSE ? 1 - part : part;
            break;
        }
    return rows;
}

/* Every number of a table has a bar as long as it is, those below zero too; what is said stands below the table. */
static void test_bars_of_a_table(void **state)
{
    (void)state;
    for (int h = 40, w = 120; h <= 60; h += 20, w += 80) {
        Deck d;
        Canvas c;
        Shown v;
        deck_of(&d, "10");
        assert_true(card_drawn(&d, 5, h, w, &c));
        assert_true(shown_open(&s, SIDE_A, s.place.path, &v) && v.values);
        const size_t count = 16, largest = 15; /* pre[t,m] */
        assert_true((double)v.values[largest] > 1.25);
        const double unit = bar_height(&c, v.node, largest, false) / (double)v.values[largest];
        assert_true(unit > (h - 20) / 4.0);
        for (size_t i = 0; i < count; i++) {
            const double x = (double)v.values[i], rows = bar_height(&c, v.node, i, x < 0);
            if (fabs(rows - fabs(x) * unit) > 0.13 || (rows == 0 && fabs(x) * unit > 0.1))
                fail_msg("%zu, %g: %g rows, not %g", i, x, rows, fabs(x) * unit);
        }
        int last = 0;
        for (int y = 0; y < h; y++)
            last = rows_of(&c, y, v.node, largest) > 0 ? y : last;
        Buf below = {0};
        for (int x = 0; x < w; x++)
            buf_putc(&below, (char)(c.cells[(last + 2) * w + x].ch & 0x7f));
        assert_non_null(strstr(buf_str(&below), "pre[t=cls,m=2] = 0.61982"));
        buf_free(&below);
        canvas_free(&c);
        deck_close(&d);
    }
}

/* The same card behind a command line. */
static void card_after(Deck *d, int card, const char *line, int h, int w, Canvas *c)
{
    Err err = {{0}};
    const Present v = {.on = true};
    Needs needs = {.count = 0};
    assert_true(deck_go(d, &s, &all, card, &err) && command_do(&s, &all, line, LINE_FOREIGN, &err));
    const Frame f = present_frame(&s, d, h, w);
    frame_needs(&s, &f, &needs);
    for (int i = 0; i < 2; i++)
        assert_true(session_step(&s, needs.item, needs.count, CLOCK_NEVER));
    canvas_init(c, h, w);
    canvas_clear(c);
    const Paint paint = {.s = &s, .c = c, .mode = MODE_256};
    present_draw(&paint, &f, &v, d, &(PresentLine){"", false});
}

/* Bars of one number above each other, with something between them. */
static int bars_of(const Canvas *c, NodeId n, size_t cell)
{
    int bars = 0;
    bool before = false;
    for (int y = 0; y < c->h; y++) {
        bool here = false;
        for (int x = 0; x < c->w; x++) {
            const Cell *k = &c->cells[y * c->w + x];
            here |= k->ref.node == n && k->ref.cell == cell && (k->style == STYLE_GOOD || k->style == STYLE_WARNING);
        }
        bars += here && !before;
        before = here;
    }
    return bars;
}

/* A row that has a bar for each of its numbers stands there once. */
static void test_row_once(void **state)
{
    (void)state;
    for (int h = 40, w = 120; h <= 60; h += 20, w += 80) {
        Deck d;
        Canvas c;
        Shown v;
        deck_of(&d, "4");
        card_after(&d, 1, "goto plain[u=0]; view worked", h, w, &c);
        assert_true(shown_open(&s, SIDE_A, s.place.path, &v) && v.values);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(bars_of(&c, v.node, i), 1);
        canvas_free(&c);
        deck_close(&d);
    }
}

/* A copy, and a sum with 0, leave the room to the table: each of its numbers has a bar. */
static void test_says_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *lesson, *line;
        int card;
        size_t count;
    } CARDS[] = {{"1", "goto patches[p=0,f=0]; view worked", 2, 48},
                 {"9", "goto length[o=pre,l=x48]; view worked", 9, 10}};
    for (size_t k = 0; k < sizeof CARDS / sizeof *CARDS; k++) {
        Deck d;
        Canvas c;
        Shown v;
        deck_of(&d, CARDS[k].lesson);
        card_after(&d, CARDS[k].card, CARDS[k].line, 40, 120, &c);
        assert_true(shown_open(&s, SIDE_A, s.place.path, &v) && v.values);
        for (size_t i = 0; i < CARDS[k].count; i++)
            assert_int_equal(bars_of(&c, v.node, i), 1);
        canvas_free(&c);
        deck_close(&d);
    }
}

/* The large result has all its digits: its last letter stands there, at every size. */
static void test_result_whole(void **state)
{
    (void)state;
    for (int h = 24, w = 60; w <= 120; w++) {
        Deck d;
        Canvas c;
        Shown v;
        char text[32];
        deck_of(&d, "3");
        card_after(&d, 5, "goto z[t=cls,e=0]; view worked", h, w, &c);
        assert_true(shown_open(&s, SIDE_A, s.place.path, &v) && v.values);
        number_full_text(text, sizeof text, v.values[v.cell], 7);
        int y = h - 1, right = 0;
        while (y > 0 && !rows_of(&c, y, v.node, v.cell))
            y--;
        for (int x = 0; x < w; x++)
            right = c.cells[y * w + x].ref.node == v.node && c.cells[y * w + x].ref.cell == v.cell ? x : right;
        const int dots = letters_columns(text, 1);
        if (right < dots || right % dots != 0)
            fail_msg("%d columns: to %d, not a multiple of %d", w, right, dots);
        canvas_free(&c);
        deck_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_worked, start, stop),
        cmocka_unit_test_setup_teardown(test_weight, start, stop),
        cmocka_unit_test_setup_teardown(test_few_rows, start, stop),
        cmocka_unit_test_setup_teardown(test_many_terms, start, stop),
        cmocka_unit_test_setup_teardown(test_no_empty_hall, start, stop),
        cmocka_unit_test_setup_teardown(test_bars_of_a_table, start, stop),
        cmocka_unit_test_setup_teardown(test_row_once, start, stop),
        cmocka_unit_test_setup_teardown(test_says_nothing, start, stop),
        cmocka_unit_test_setup_teardown(test_result_whole, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
