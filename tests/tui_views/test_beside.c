/* Tensors side by side: each in its column with true values, the token under the cursor marked in every one, a prefix
 * token never pooled with patches, and the cursor going from one to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <string.h>

#include "core/session/screens.h"
#include "core/session/screens/beside.h"
#include "tests/tui_views/bundled.h"
#include "tui/canvas/export.h"

static int begin(void **state)
{
    (void)state;
    open_bundled();
    return 0;
}

static int end(void **state)
{
    (void)state;
    session_free(&session);
    return 0;
}

static void stand(const char *path, int token)
{
    assert_true(session_go(&session, path, session_screen_for(&session, path), NULL));
    assert_int_equal(session.place.screen, SCREEN_BESIDE);
    const Graph *g = session_base(&session);
    int rows = beside_tokens(g, graph_find(g, path));
    session.place.at[rows] = token;
    session_sync(&session, rows);
    Needs needs = {0};
    VIEW_BESIDE.needs(&session, SIDE_B, (Rect){0, 0, 20, 60}, &needs);
    compute(&needs);
}

static int count_marks(const Canvas *c, int *lines)
{
    int marks = 0;
    *lines = 0;
    for (int y = 0; y < c->h; y++) {
        int here = 0;
        for (int x = 0; x < c->w; x++)
            here += c->cells[y * c->w + x].ch == '>' && c->cells[y * c->w + x].style == STYLE_CURSOR;
        marks += here;
        *lines += here > 0;
    }
    return marks;
}

/* Cells with a number of that node. */
static int count_of(const Canvas *c, NodeId n)
{
    int count = 0;
    for (int i = 0; i < c->h * c->w; i++)
        count += c->cells[i].ref.run && c->cells[i].ref.node == n;
    return count;
}

static void all_three_at_every_size(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"blocks.1.attn.q", "blocks.1.attn.k", "blocks.1.attn.v"};
    const Graph *g = session_base(&session);
    for (int focus = 0; focus < 3; focus++)
        for (int h = 8; h <= 50; h += 7)
            for (int w = 44; w <= 160; w += 29)
                for (int ascii = 0; ascii < 2; ascii++) {
                    Canvas c;
                    int lines;
                    stand(PATHS[focus], 30);
                    canvas_init(&c, h, w);
                    c.ascii = ascii;
                    Paint p = {.s = &session, .c = &c, .mode = ascii ? MODE_MONO : MODE_256};
                    view_draw(&VIEW_BESIDE, &p, (Rect){0, 0, h, w}, SIDE_B, true);
                    for (int i = 0; i < 3; i++)
                        assert_true(count_of(&c, graph_find(g, PATHS[i])) > 20);
                    int marks = count_marks(&c, &lines);
                    assert_true(marks >= 2); /* the first has no column to the left of it where rows have no label */
                    assert_int_equal(lines, 1);
                    assert_true(c.cursor_y >= 0);
                    Buf command = {0};
                    assert_true(
                        view_click(&VIEW_BESIDE, &p, (Rect){0, 0, h, w}, SIDE_B, c.cursor_y, c.cursor_x, &command));
                    assert_true(strstr(buf_str(&command), PATHS[focus]) || !strcmp(buf_str(&command), "in"));
                    buf_free(&command);
                    canvas_free(&c);
                }
}

/* Drawn alone in a narrow pane, each says which of how many it is, and where the others are. */
static void one_of_three(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"blocks.1.attn.q", "blocks.1.attn.k", "blocks.1.attn.v"},
                             *const SAYS[] = {"1 of 3 →", "← 2 of 3 →", "← 3 of 3"};
    for (int i = 0; i < 3; i++) {
        Canvas c;
        Buf text = {0};
        stand(PATHS[i], 30);
        canvas_init(&c, 14, 26);
        view_draw(&VIEW_BESIDE, &(Paint){.s = &session, .c = &c, .mode = MODE_256}, c.clip, SIDE_B, true);
        export_text(&c, &text);
        const char *says = strstr(buf_str(&text), SAYS[i]);
        if (!says || says > strchr(buf_str(&text), '\n'))
            fail_msg("no \"%s\":\n%s", SAYS[i], buf_str(&text));
        buf_free(&text);
        canvas_free(&c);
    }
}

/* The class token's line holds that token alone; a narrow pane shows the tensor in focus. */
static void the_class_token_stands_apart(void **state)
{
    (void)state;
    const Graph *g = session_base(&session);
    NodeId tokens = graph_find(g, "tokens"), cls = graph_find(g, "cls"), patches = graph_find(g, "patch_embed");
    for (int h = 12; h <= 40; h += 7) {
        Canvas c;
        int lines, own = 0;
        stand("tokens", 0);
        canvas_init(&c, h, 60);
        Paint p = {.s = &session, .c = &c, .mode = MODE_256};
        view_draw(&VIEW_BESIDE, &p, (Rect){0, 0, h, 60}, SIDE_B, true);
        assert_int_equal(count_marks(&c, &lines), 2); /* in the joined tokens and in front of them: no patch is meant */
        assert_int_equal(lines, 1);
        for (int y = 0; y < h; y++) {
            bool first = false, others = false;
            size_t left = 64, right = 64; /* the first token of the line: of the patches, and of all */
            for (int x = 0; x < 60; x++) {
                Ref ref = c.cells[y * 60 + x].ref;
                if (ref.run && ref.node == patches && ref.cell / 64 < left)
                    left = ref.cell / 64;
                else if (ref.run && ref.node == tokens && y < h - 1 && ref.cell >= 64 && ref.cell / 64 - 1 < right)
                    right = ref.cell / 64 - 1;
                if (!ref.run || ref.node != tokens || y == h - 1)
                    continue;
                first = first || ref.cell < 64;
                others = others || ref.cell >= 64;
            }
            assert_false(first && others);
            assert_int_equal(left, right); /* a patch and the token that it becomes */
            own += first;
        }
        assert_int_equal(own, 1);
        assert_true(count_of(&c, cls) > 8 && count_of(&c, patches) > 40);
        canvas_free(&c);
    }
    Canvas c;
    stand("tokens", 20);
    canvas_init(&c, 12, 20);
    Paint p = {.s = &session, .c = &c, .mode = MODE_256};
    view_draw(&VIEW_BESIDE, &p, (Rect){0, 0, 12, 20}, SIDE_B, true);
    assert_true(count_of(&c, tokens) > 20);
    assert_int_equal(count_of(&c, patches), 0);
    canvas_free(&c);
}

/* To the right past the last query stands the first key, of the same token; and back. */
static void from_one_to_the_next(void **state)
{
    (void)state;
    const ScreenSpec *screen = screen_spec(SCREEN_BESIDE);
    const Graph *g = session_base(&session);
    int h = graph_role(g, ROLE_HEAD, SEQUENCE_ANY), e = graph_role(g, ROLE_HEAD_WIDTH, SEQUENCE_ANY);
    stand("blocks.0.attn.q", 17);
    session.place.at[h] = 3;
    session.place.at[e] = 15;
    screen->move(&session, 0, 1);
    assert_string_equal(session.place.path, "blocks.0.attn.k");
    assert_int_equal(session.place.at[beside_tokens(g, graph_find(g, "blocks.0.attn.k"))], 17);
    assert_int_equal(session.place.at[h] + session.place.at[e], 0);
    screen->move(&session, 3, 0);
    assert_int_equal(session.place.at[beside_tokens(g, graph_find(g, "blocks.0.attn.k"))], 20);
    screen->move(&session, 0, -1);
    assert_string_equal(session.place.path, "blocks.0.attn.q");
    assert_int_equal(session.place.at[beside_tokens(g, graph_find(g, "blocks.0.attn.q"))], 20);
    assert_int_equal(session.place.at[e], 15);
    for (int i = 0; i < 200; i++)
        screen->move(&session, 0, 1);
    assert_string_equal(session.place.path, "blocks.0.attn.v");
    assert_int_equal(session.place.at[h], 3);
    screen->move(&session, 0, -100000); /* Home stays in the tensor; so far a step's square does not fit an int */
    assert_string_equal(session.place.path, "blocks.0.attn.v");
    assert_int_equal(session.place.at[h] + session.place.at[e], 0);
    Err err;
    assert_true(screen->next(&session, &err)); /* the values alone, all ways of drawing them, and back */
    assert_int_equal(session.place.screen, SCREEN_TENSOR);
    for (int i = 0; i < VIEW_COUNT; i++)
        assert_true(screen_now(&session)->next(&session, &err));
    assert_int_equal(session.place.screen, SCREEN_BESIDE);
    assert_string_equal(session.place.path, "blocks.0.attn.v");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(all_three_at_every_size, begin, end),
                                       cmocka_unit_test_setup_teardown(one_of_three, begin, end),
                                       cmocka_unit_test_setup_teardown(the_class_token_stands_apart, begin, end),
                                       cmocka_unit_test_setup_teardown(from_one_to_the_next, begin, end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
