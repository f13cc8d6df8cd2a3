/* The map of steps as an overview: how long tokens are, where an edit bites and how it spreads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/models/probes.h"
#include "core/session/command.h"
#include "core/session/difference.h"
#include "tests/tui_views/bundled.h"
#include "tests/tui_views/drawn.h"
#include "tui/canvas/export.h"
#include "tui/views/lengths.h"

enum { HIGH = 40, WIDE = 120 };
static Canvas canvas;

static void run(const char *line)
{
    Err err = {""};
    Commands set = session_command_set();
    if (!command_do(&session, &set, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
    commands_free(&set);
}

static int open_session(void **state)
{
    (void)state;
    open_bundled();
    canvas_init(&canvas, HIGH, WIDE);
    return 0;
}

static int close_session(void **state)
{
    (void)state;
    canvas_free(&canvas);
    session_free(&session);
    return 0;
}

static const Box *box(const char *path)
{
    int i = stages_find(&session.stages, path);
    assert_int_not_equal(i, NO_BOX);
    return &session.stages.boxes[i];
}

static void draw_map(void)
{
    Rect r = {0, 0, HIGH, WIDE};
    drawn_prepare(&session, &VIEW_STEPS, SIDE_B, r);
    canvas_clear(&canvas);
    view_draw(&VIEW_STEPS, &(Paint){.s = &session, .c = &canvas, .mode = MODE_TRUE}, r, SIDE_B, true);
}

/* What the two halves of a strip are stands below the map, in as few columns as it has at 80x24 too, on both grounds
 * and with 8 colours. */
static void strips_have_a_legend(void **state)
{
    (void)state;
    static const struct {
        Rect r;
        const char *above, *below, *compared;
    } CASE[] = {{{0, 0, 17, 16}, "length", "moved", "A to B"},
                {{0, 0, 36, 27}, "above: length", "below: moved 0–", " % of A"}, /* rather than which half it is */
                {{0, 0, 36, 60}, "above: length", "below: moved 0–", "% of A's length, √ scale"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
        for (int light = 0; light < 2; light++)
            for (int mode = MODE_8; mode <= MODE_TRUE; mode++) {
                const Paint p = {.s = &session, .c = &canvas, .mode = (ColourMode)mode, .light = light};
                for (int both = 0; both < 2; both++) {
                    run(both ? "goto blocks.0.attn.q; ablate blocks.1.attn.z[h=1]" : "reset; goto blocks.0.attn.q");
                    drawn_prepare(&session, &VIEW_STEPS, SIDE_B, CASE[i].r);
                    canvas_clear(&canvas);
                    view_draw(&VIEW_STEPS, &p, CASE[i].r, SIDE_B, true);
                    Buf text = {0};
                    export_text(&canvas, &text);
                    const char *below = both ? CASE[i].compared : CASE[i].below;
                    if (!strstr(buf_str(&text), CASE[i].above) || !strstr(buf_str(&text), below))
                        fail_msg("%s, %s:\n%s", CASE[i].above, below, buf_str(&text));
                    buf_free(&text);
                }
            }
    run("reset");
}

/* A wide map gives each token of a line as many columns, the first ones at the strip's left end, and says what the
 * colours are in 20 lines too. */
static void a_wide_strip_has_whole_tokens(void **state)
{
    (void)state;
    enum { ROOM = 196, EACH = 2, TOKENS = 65 };
    Canvas c;
    Buf text = {0};
    run("reset; goto blocks.0.ln1.out");
    canvas_init(&c, 20, ROOM);
    drawn_prepare(&session, &VIEW_STEPS, SIDE_B, c.clip);
    view_draw(&VIEW_STEPS, &(Paint){.s = &session, .c = &c, .mode = MODE_TRUE}, c.clip, SIDE_B, true);
    int lines = 0;
    for (int y = 0; y < c.h; y++) {
        const Cell *end = canvas_at(&c, y, ROOM - 1), *row = end - (ROOM - 1);
        if (!end->ref.run || end->ref.cell != TOKENS - 1)
            continue;
        for (int t = 0; t < TOKENS; t++)
            for (int k = 0; k < EACH; k++)
                assert_int_equal(row[ROOM - EACH * (TOKENS - t) + k].ref.cell, t);
        lines++;
    }
    assert_true(lines > 5);
    export_text(&c, &text);
    assert_non_null(strstr(buf_str(&text), "above: length"));
    assert_non_null(strstr(buf_str(&text), "below: moved"));
    buf_free(&text);
    canvas_free(&c);
}

/* Below a step that moves nothing lies the screen's ground, not the colour of 0 %; below another what moved. */
static void what_does_not_move_is_left_blank(void **state)
{
    (void)state;
    run("reset; goto blocks.0.ln1.out");
    draw_map();
    int blank = 0, drawn = 0;
    for (int y = 0; y < HIGH; y++) {
        const Cell *k = canvas_at(&canvas, y, WIDE - 1);
        const bool strip = k->ref.run && k->ref.cell == 64;
        blank += strip && k->bg == COLOUR_DEFAULT;
        drawn += strip && k->bg != COLOUR_DEFAULT;
    }
    assert_true(blank > 3 && drawn > 3);
}

static const float *moved(const char *step)
{
    const Box *b = box(step);
    return difference_moved(&session, graph_node(session_graph(&session, SIDE_B), b->show)->path);
}

/* Tokens that moved by more than their length are told apart, and where their scale ends is there to read. */
static void a_strip_goes_beyond_the_length(void **state)
{
    (void)state;
    run("goto blocks.2.attn.z; set scale off");
    draw_map();
    static const char *const STEPS[] = {"blocks.1", "blocks.2"};
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        const float *x = moved(STEPS[i]), most = lengths_most(&session, box(STEPS[i]));
        float largest = 0;
        for (int t = 0; t < 65; t++)
            largest = x[t] > largest ? x[t] : largest;
        assert_true(most > 1 && most == (largest < 4 ? largest : 4));
    }
    Rect r = {0, 0, 36, 26};
    Buf text = {0};
    canvas_clear(&canvas);
    view_draw(&VIEW_STEPS, &(Paint){.s = &session, .c = &canvas, .mode = MODE_TRUE}, r, SIDE_B, true);
    export_text(&canvas, &text);
    const char *line = strstr(buf_str(&text), "moved 0");
    assert_non_null(line);
    const char *percent = strstr(line, " % of A");
    assert_true(percent && percent < strchr(line, '\n'));
    buf_free(&text);
    run("reset");
}

/* Nothing in front of the edit moves, all behind it does, as far as the two runs are apart. */
static void an_edit_bites_and_spreads(void **state)
{
    (void)state;
    run("goto blocks.1; ablate blocks.1.attn.z[h=1]");
    draw_map();
    static const char *const SAME[] = {"patches", "position", "blocks.0"}, *const OTHER[] = {"blocks.1", "blocks.2",
                                                                                             "blocks.3"};
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        const float *x = moved(SAME[i]);
        assert_non_null(x);
        for (int t = 0; t < 64; t++)
            assert_true(x[t] == 0);
    }
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++) {
        const Box *b = box(OTHER[i]);
        const char *path = graph_node(session_graph(&session, SIDE_B), b->show)->path;
        const float *x = moved(OTHER[i]), *from = session_need(&session, SIDE_A, path, NULL),
                    *to = session_need(&session, SIDE_B, path, NULL);
        assert_non_null(x);
        for (int t = 0; t < 65; t++) {
            double way = 0, was = 0;
            for (int d = 0; d < 64; d++) {
                double a = (double)from[t * 64 + d], c = (double)to[t * 64 + d];
                way += (a - c) * (a - c);
                was += a * a;
            }
            assert_true(x[t] > 0 && fabs((double)x[t] - sqrt(way / was)) < 1e-5);
        }
    }
}

/* Every number is its cell's; a picked token has its own. */
static void numbers_are_the_trace(void **state)
{
    (void)state;
    run("goto blocks.2.resid_post[t=r2c3]");
    draw_map();
    assert_int_equal(drawn_numbers(&session, &canvas), 2);
    run("set scale off");
    draw_map();
    assert_int_equal(drawn_numbers(&session, &canvas), 1);
}

/* A token of the strip leads to what it is like there. */
static void a_click_opens_alike(void **state)
{
    (void)state;
    static const struct {
        const char *step, *want;
        int column;
    } CASE[] = {{"blocks.2", "goto blocks.2.alike.cosine[p=r0c0,p1=r0c0]", 1},
                {"blocks.0.softmax", "goto blocks.0.alike.cosine[p=r7c7,p1=r7c7]", 64},
                {"position", "goto embed.alike.cosine[p=r0c0,p1=r0c0]", 0}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Buf command = {0};
        assert_true(lengths_click(&session, box(CASE[i].step), CASE[i].column, 65, &command));
        assert_string_equal(buf_str(&command), CASE[i].want);
        run(buf_str(&command));
        assert_int_equal(session.place.screen, SCREEN_ALIKE);
        buf_free(&command);
    }
    Buf command = {0};
    assert_false(lengths_click(&session, box("logits"), 0, 65, &command));
}

/* Below the rows, where there is room, every patch of the step has a square in both maps; a click is its token. */
static void a_step_lies_as_the_picture_does(void **state)
{
    (void)state;
    enum { LINES = 60, COLUMNS = 60, TOKENS = 65 };
    run("goto blocks.2.resid_post[t=r2c3]");
    Rect r = {0, 0, LINES, COLUMNS};
    Canvas c;
    canvas_init(&c, LINES, COLUMNS);
    Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
    drawn_prepare(&session, &VIEW_STEPS, SIDE_B, r);
    view_draw(&VIEW_STEPS, &p, r, SIDE_B, true);
    const Box *at = &session.stages.boxes[session.place.box];
    const Graph *g = session_graph(&session, SIDE_B);
    const char *shown = graph_node(g, at->show)->path;
    char path[PROBES_PATH];
    const NodeId of[] = {graph_find(g, probes_length(g, shown, path)), graph_find(g, probes_change(g, shown, path))};
    int seen[2][TOKENS] = {{0}};
    int last = 0; /* row of the map of steps */
    for (int y = 0; y < LINES; y++) {
        Buf said = {0};
        last = view_click(&VIEW_STEPS, &p, r, SIDE_B, y, 2, &said) && !strstr(buf_str(&said), "alike") ? y : last;
        buf_free(&said);
    }
    for (int i = (last + 1) * COLUMNS; i < LINES * COLUMNS; i++) {
        Buf said = {0}, want = {0};
        Ref ref = c.cells[i].ref;
        if (ref.run && c.cells[i].level && view_click(&VIEW_STEPS, &p, r, SIDE_B, i / COLUMNS, i % COLUMNS, &said) &&
            strncmp(buf_str(&said), "goto blocks.2.alike", 19) == 0) {
            int map = ref.node == of[1];
            assert_int_equal(ref.node, of[map]);
            assert_true(lengths_click(&session, at, (int)ref.cell, TOKENS, &want));
            seen[map][ref.cell] += strcmp(buf_str(&said), buf_str(&want)) == 0; /* halves of a cell may be of two */
        }
        buf_free(&said);
        buf_free(&want);
    }
    int both = 0;
    for (int t = 1; t < TOKENS; t++)
        both += seen[0][t] > 0 && seen[1][t] > 0;
    assert_true(both >= 60 && !seen[0][0] && !seen[1][0]); /* those of level 0 aside */
    canvas_free(&c);
}

/* Keys and values are looked at: the mark on the map of lengths and the number below are of the token of their cursor,
 * wherever the query's is. */
static void the_mark_is_at_the_cursor_shown(void **state)
{
    (void)state;
    enum { LINES = 60, COLUMNS = 60 };
    static const struct {
        const char *go;
        size_t token;
    } CASE[] = {{"goto blocks.1.attn.q[t=r6c1,h=1]", 50},
                {"goto blocks.1.attn.k[u=r3c3,h=1]", 28},
                {"goto blocks.1.attn.v[u=r0c2,h=1]", 3},
                {"goto blocks.1.attn.k[u=cls,h=1]", 0}};
    char path[PROBES_PATH];
    const Graph *g = session_graph(&session, SIDE_B);
    const NodeId length = graph_find(g, probes_length(g, "blocks.1.attn.q", path));
    Rect r = {0, 0, LINES, COLUMNS};
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        int marks = 0, numbers = 0;
        Canvas c;
        canvas_init(&c, LINES, COLUMNS);
        Paint p = {.s = &session, .c = &c, .mode = MODE_TRUE};
        run(CASE[k].go);
        drawn_prepare(&session, &VIEW_STEPS, SIDE_B, r);
        view_draw(&VIEW_STEPS, &p, r, SIDE_B, true);
        for (int i = 0; i < LINES * COLUMNS; i++) {
            const Cell *cell = &c.cells[i];
            const bool mark = cell->ref.run && cell->ref.node == length && cell->ch == '[',
                       number = cell->ref.run && cell->ref.node == length && !cell->level && i / COLUMNS == LINES - 1;
            assert_true(!(mark || number) || cell->ref.cell == CASE[k].token);
            marks += mark;
            numbers += number;
        }
        assert_true(marks == (CASE[k].token > 0) && numbers > 0); /* cls has no place */
        canvas_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_edit_bites_and_spreads, open_session, close_session),
        cmocka_unit_test_setup_teardown(strips_have_a_legend, open_session, close_session),
        cmocka_unit_test_setup_teardown(a_wide_strip_has_whole_tokens, open_session, close_session),
        cmocka_unit_test_setup_teardown(what_does_not_move_is_left_blank, open_session, close_session),
        cmocka_unit_test_setup_teardown(a_strip_goes_beyond_the_length, open_session, close_session),
        cmocka_unit_test_setup_teardown(numbers_are_the_trace, open_session, close_session),
        cmocka_unit_test_setup_teardown(a_step_lies_as_the_picture_does, open_session, close_session),
        cmocka_unit_test_setup_teardown(the_mark_is_at_the_cursor_shown, open_session, close_session),
        cmocka_unit_test_setup_teardown(a_click_opens_alike, open_session, close_session)};
    return cmocka_run_group_tests_name("tui/views/steps", tests, NULL, NULL);
}
