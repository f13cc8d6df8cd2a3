/* Worked examples of the lessons: keys come faster than frames, so nothing may lean on what a frame has computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lessons/play.h"
#include "tests/tui_views/drawn.h"
#include "tui/canvas/export.h"

static Session session;

/* Into the largest term of every node of an example of which nothing is computed yet. */
static int enter_all(const Player *p, int which)
{
    const Example *e = &p->examples[which];
    int entered = 0;
    Err err = {{0}};
    assert_true(session_show(p->s, e->exhibit, &err));
    for (NodeId n = e->graph->count; n-- > 0;) {
        const Node *node = graph_node(e->graph, n);
        if (node->op == OP_LEAF || run_peek(session_run(p->s, SIDE_B), n))
            continue;
        assert_true(session_go(p->s, node->path, SCREEN_WORKED, &err));
        p->s->place.term = 0;
        if (!command_do(p->s, &p->commands, "in; in", LINE_FOREIGN, &err))
            continue; /* a sum of nothing */
        bool reads = false;
        for (int k = 0; k < op_inputs(node->op); k++)
            reads = reads || node->in[k] == session_node(p->s, SIDE_B, p->s->place.path);
        assert_true(reads);
        assert_int_equal(p->s->place.screen, SCREEN_EXPLAIN);
        entered++;
    }
    return entered;
}

static void into_what_is_not_computed(void **state)
{
    (void)state;
    LessonFile f;
    int entered = 0;
    for (int i = 0; lesson_at(i, &f); i++) {
        Player p;
        Lesson l;
        Err err = {{0}};
        if (!lesson_parse(&l, f.name, f.text, f.size, 0, &err) || !player_open(&p, &session, &l, &err))
            fail_msg("%s", err.text);
        for (int k = 0; k < p.lesson.example_count; k++)
            if (!p.examples[k].pixels)
                entered += enter_all(&p, k);
        player_close(&p);
    }
    assert_true(entered > 100);
}

/* "1 = exp 0", not "1 = 0". */
static void a_function_is_named(void **state)
{
    (void)state;
    LessonFile f;
    Lesson l;
    Player p;
    Err err = {{0}};
    Canvas c;
    char row[6 * 80 + 1] = "";
    bool found = false;
    assert_true(lesson_named("04-softmax", &f) && lesson_parse(&l, f.name, f.text, f.size, 0, &err));
    assert_true(player_open(&p, &session, &l, &err) && session_show(&session, p.examples[0].exhibit, &err));
    assert_true(command_do(&session, &p.commands, "goto powers; view worked", LINE_FOREIGN, &err));
    canvas_init(&c, 24, 80);
    drawn_prepare(&session, view_of(SCREEN_WORKED), SIDE_B, c.clip);
    view_draw(view_of(SCREEN_WORKED), &(Paint){.s = &session, .c = &c, .mode = MODE_256}, c.clip, SIDE_B, true);
    for (int y = 0; y < c.h; y++) {
        size_t n = 0;
        for (int x = 0; x < c.w; x++)
            n += utf8_put(row + n, canvas_at(&c, y, x)->ch ? canvas_at(&c, y, x)->ch : ' ');
        row[n] = 0;
        found = found || (strstr(row, "1 = exp ") && strstr(row, "0  scores[u=0]"));
    }
    assert_true(found);
    canvas_free(&c);
    player_close(&p);
}

/* Which of the summed terms a line is, also where the operands' addresses have no room. */
static void a_term_says_which_it_is(void **state)
{
    (void)state;
    Err err = {{0}};
    Canvas c;
    Commands set = session_command_set();
    const char *line = "goto blocks.1.attn.scores_raw[h=2,t=r3c4,u=r4c3]; view worked";
    assert_true(command_do(&session, &set, line, LINE_FOREIGN, &err));
    canvas_init(&c, 18, 50);
    drawn_prepare(&session, &VIEW_WORKED, SIDE_B, c.clip);
    view_draw(&VIEW_WORKED, &(Paint){.s = &session, .c = &c, .mode = MODE_256}, c.clip, SIDE_B, true);
    const NodeId q = graph_find(session_base(&session), "blocks.1.attn.q");
    int terms = 0;
    for (int y = 0; y < c.h; y++) {
        char row[6 * 80 + 1] = "", index[24];
        size_t n = 0, cell = SIZE_MAX;
        for (int x = 0; x < c.w; x++) {
            const Cell *k = canvas_at(&c, y, x);
            n += utf8_put(row + n, k->ch ? k->ch : ' ');
            cell = k->ref.run && k->ref.node == q ? k->ref.cell : cell;
        }
        row[n] = 0;
        if (cell == SIZE_MAX)
            continue;
        const int e = (int)(cell % 16);
        snprintf(index, sizeof index, "[r3c4,2,%d]", e);
        char other[24];
        snprintf(other, sizeof other, ": e=%d", e);
        if (!strstr(row, index) && !strstr(row, other))
            fail_msg("e=%d is not said: %s", e, row);
        terms++;
    }
    assert_true(terms >= 4);
    canvas_free(&c);
    commands_free(&set);
}

/* What a single term is reckoned from is enough to reckon after: to three digits. */
static void a_quotient_can_be_checked(void **state)
{
    (void)state;
    Err err = {{0}};
    Canvas c;
    Commands set = session_command_set();
    const char *line = "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; view worked";
    assert_true(command_do(&session, &set, line, LINE_FOREIGN, &err));
    canvas_init(&c, 20, 60);
    drawn_prepare(&session, &VIEW_WORKED, SIDE_B, c.clip);
    view_draw(&VIEW_WORKED, &(Paint){.s = &session, .c = &c, .mode = MODE_256}, c.clip, SIDE_B, true);
    const float *values = session_peek(&session, SIDE_B, "blocks.1.attn.pattern");
    const NodeId n = graph_find(session_base(&session), "blocks.1.attn.pattern");
    const double x = (double)values[session_cell(&session, SIDE_B, n)];
    int found = 0;
    for (int y = 0; y < c.h; y++) {
        char row[6 * 80 + 1] = "";
        size_t k = 0;
        for (int i = 0; i < c.w; i++)
            k += utf8_put(row + k, canvas_at(&c, y, i)->ch ? canvas_at(&c, y, i)->ch : ' ');
        row[k] = 0;
        double of[2];
        const char *at = strstr(row, " = ");
        if (!at || sscanf(at, " = %lf / %lf", &of[0], &of[1]) != 2)
            continue;
        assert_true(fabs(of[0] / of[1] - x) < 1e-3 * x);
        found++;
    }
    assert_int_equal(found, 1);
    canvas_free(&c);
    commands_free(&set);
}

static int start(void **state)
{
    (void)state;
    Err err;
    return session_init(&session, NULL, "#17", 1, NULL, NULL, &err) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    session_free(&session);
    return 0;
}

/* Seven numbers stand beside each other in 60 columns, each under its name. */
static void a_vector_that_fits_is_whole(void **state)
{
    (void)state;
    LessonFile f;
    Player p;
    Lesson l;
    Err err = {{0}};
    Canvas c;
    const Rect r = {0, 0, 18, 60};
    Buf text = {0};
    assert_true(lesson_by_number(6, &f) && lesson_parse(&l, f.name, f.text, f.size, 0, &err));
    assert_true(player_open(&p, &session, &l, &err) && player_enter(&p, 2, &err));
    canvas_init(&c, r.h, r.w);
    drawn_prepare(&session, &VIEW_WORKED, SIDE_B, r);
    view_draw(&VIEW_WORKED, &(Paint){.s = &session, .c = &c}, r, SIDE_B, true);
    for (int i = 0; i < r.h * r.w; i++)
        buf_putc(&text, c.cells[i].ch > 0 && c.cells[i].ch < 128 ? (char)c.cells[i].ch : ' ');
    assert_non_null(strstr(buf_str(&text), "w=d1 "));
    assert_non_null(strstr(buf_str(&text), "w=d1024 "));
    assert_true(drawn_numbers(&session, &c) >= 7);
    buf_free(&text);
    canvas_free(&c);
    player_close(&p);
}

/* How a card's screen reads in 60 columns, without its colours. */
static void put_worked(const Player *p, int card, int height, Buf *text)
{
    Err err = {{0}};
    Canvas c;
    const Rect r = {0, 0, height, 60};
    assert_true(player_enter((Player *)(uintptr_t)p, card, &err));
    canvas_init(&c, r.h, r.w);
    drawn_prepare(&session, &VIEW_WORKED, SIDE_B, r);
    view_draw(&VIEW_WORKED, &(Paint){.s = &session, .c = &c}, r, SIDE_B, true);
    buf_clear(text);
    export_text(&c, text);
    canvas_free(&c);
}

/* Six words by eight experts stand whole beside the map at 80 x 24; what does not fit says on which side there is more.
 */
static void a_matrix_is_whole_or_says_that_it_is_not(void **state)
{
    (void)state;
    LessonFile f;
    Player p;
    Lesson l;
    Err err = {{0}};
    Buf text = {0};
    assert_true(lesson_by_number(31, &f) && lesson_parse(&l, f.name, f.text, f.size, 0, &err));
    assert_true(player_open(&p, &session, &l, &err));
    put_worked(&p, 1, 12, &text);
    assert_true(strstr(buf_str(&text), "t=mice") && strstr(buf_str(&text), "t=dogs"));
    assert_true(strstr(buf_str(&text), "x=0") && strstr(buf_str(&text), "x=7"));
    assert_false(strstr(buf_str(&text), "→") || strstr(buf_str(&text), "↓"));
    put_worked(&p, 1, 9, &text);
    assert_non_null(strstr(buf_str(&text), "↓"));
    player_close(&p);
    assert_true(lesson_by_number(27, &f) && lesson_parse(&l, f.name, f.text, f.size, 0, &err));
    assert_true(player_open(&p, &session, &l, &err));
    put_worked(&p, 5, 12, &text); /* two heads of eight numbers, and every word of the text */
    assert_true(strstr(buf_str(&text), "h0e5") && strstr(buf_str(&text), "→") && strstr(buf_str(&text), "u=cat#3"));
    player_close(&p);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_matrix_is_whole_or_says_that_it_is_not),
        cmocka_unit_test(a_vector_that_fits_is_whole),
        cmocka_unit_test(into_what_is_not_computed),
        cmocka_unit_test(a_function_is_named),
        cmocka_unit_test(a_term_says_which_it_is),
        cmocka_unit_test(a_quotient_can_be_checked),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
