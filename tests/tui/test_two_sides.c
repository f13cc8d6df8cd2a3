/* Two sides that differ in everything: depth, heads, tokens, family. No index of one is used on the other unchecked:
 * every screen is drawn for A, for B, beside each other and as a difference, from the first cell and from the last, and
 * every number drawn is a cell that its own side has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/screens.h"
#include "tests/second_family.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"
#include "tui/overlay.h"
#include "tui/views/shown.h"

static Session s;
static Commands all;
static Err error;
static Model other; /* what A is of */

static bool run(const char *line)
{
    error.text[0] = 0;
    bool ok = command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &error);
    if (!ok && !*error.text)
        fail_msg("%s was refused without a word", line);
    if (session_node(&s, SIDE_B, s.place.path) == NO_NODE)
        fail_msg("%s leaves the reader at %s, which B has not", line, s.place.path);
    const Graph *g = session_graph(&s, SIDE_B);
    for (int i = 0; i < g->axis_count; i++)
        assert_in_range(s.place.at[i], 0, g->axes[i].n - 1);
    return ok;
}

/* Draws the screen; the numbers on it, all of them or those of A. */
static int draw(bool of_a, const char *words)
{
    Canvas c = {0};
    int numbers = 0, found = 0;
    canvas_resize(&c, 30, 100);
    canvas_clear(&c);
    Frame f = frame_layout(&s, 30, 100, false);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step_pass(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
    for (int y = 0; y < c.h; y++) {
        Buf line = {0};
        for (int x = 0; x < c.w; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            Ref ref = k->ref;
            buf_putc(&line, k->ch > 0 && k->ch < 128 ? (char)k->ch : ' ');
            if (ref.run == SIDE_NONE)
                continue;
            const Graph *g = session_graph(&s, (Side)ref.run);
            if (ref.node < 0 || ref.node >= g->count || ref.cell >= graph_cells(g, ref.node))
                fail_msg("line %d column %d is cell %zu of %s of run %d", y, x, ref.cell,
                         ref.node < 0 || ref.node >= g->count ? "no node" : graph_node(g, ref.node)->path, ref.run);
            assert_non_null(session_peek(&s, (Side)ref.run, graph_node(g, ref.node)->path));
            numbers += !of_a || ref.run == SIDE_A;
        }
        found += words && strstr(buf_str(&line), words);
        buf_free(&line);
    }
    canvas_free(&c);
    return words ? found : numbers;
}

/* On every axis of B at its first index, or at its last. */
static void stand(bool last)
{
    const Graph *g = session_graph(&s, SIDE_B);
    for (int i = 0; i < g->axis_count; i++)
        s.place.at[i] = last ? g->axes[i].n - 1 : 0;
}

/* What a view opens of every node of A is inside it, and where an axis says the same in both it is the same index. */
static void opened(void)
{
    const Graph *a = session_graph(&s, SIDE_A), *b = session_graph(&s, SIDE_B);
    for (NodeId n = 0; n < a->count; n++) {
        Shown v;
        assert_true(shown_open(&s, SIDE_A, graph_node(a, n)->path, &v));
        assert_true(v.cell < graph_cells(a, n));
        assert_int_equal(v.cell, session_cell(&s, SIDE_A, n));
        Dims d = graph_node(a, n)->dims;
        for (int k = 0; k < d.n; k++) {
            const Axis *x = &a->axes[d.axis[k]];
            assert_in_range(v.at[d.axis[k]], 0, x->n - 1);
            for (int i = 0; i < b->axis_count; i++) {
                const Axis *y = &b->axes[i];
                if (x->role == y->role && x->sequence == y->sequence && strcmp(x->sym, y->sym) == 0 &&
                    s.place.at[i] < x->n)
                    assert_int_equal(v.at[d.axis[k]], s.place.at[i]);
            }
        }
    }
}

static const char *const WAYS[] = {"compare a", "compare b", "compare sides", "compare diff"};

/* Every screen, each way of comparing, both ends of the axes, in figures and in words; and into what is under the
 * cursor. */
static void screens(void)
{
    int drawn = 0, numbers = 0, of_a = 0;
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const char *command = screen_spec((Screen)i)->command;
        if (!command || !run(command))
            continue;
        drawn++;
        for (int last = 0; last < 2; last++) {
            stand(last);
            opened();
            for (int k = 0; k < 4; k++) {
                assert_true(run(WAYS[k]));
                numbers += draw(false, NULL);
                of_a += k == 0 ? draw(true, NULL) : 0;
                run("say");
                run("say screen");
            }
        }
        Place here = s.place;
        run("compare a");
        run("in");
        run("find value>-1e30");
        draw(false, NULL);
        s.place = here;
    }
    assert_true(drawn >= 5);
    assert_true(numbers > 100 && of_a > 50);
}

static VitConfig small(int layers, int heads, int patch)
{
    VitConfig c = model_bundled_config();
    c.layers = layers;
    c.heads = heads;
    c.patch_h = c.patch_w = patch;
    c.width = 16;
    c.head_dim = 8;
    c.mlp = 16;
    c.scale = vit_scale(c.head_dim);
    return c;
}

static Model make(int which)
{
    Model m = {0};
    VitConfig c = which == 0 ? small(5, 4, 12) : small(2, 2, 24);
    if (which == 2)
        return toy_model();
    if (which == 3) { /* words, and blocks with experts */
        Err err = {""};
        if (!family_load(&m, "tests/data/families/words_qwen3_moe", NULL, NULL, &err))
            fail_msg("%s", err.text);
        return m;
    }
    model_seeded(&m, &c, 3);
    return m;
}

static void open_pair(int a, int b)
{
    static Overlay lists;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    Model m = make(b);
    Input in;
    other = make(a);
    if (!session_init_model(&s, &m, NULL, 1, &error) || !input_open(&in, &other, NULL, &error))
        fail_msg("%s", error.text);
    session_pin(&s, session_add(&s, &other, &in));
}

static void close_pair(void)
{
    Exhibit *a = s.pinned;
    session_pin(&s, NULL);
    session_drop(&s, a);
    session_free(&s);
    if (other.family != &FAMILY_TOY)
        model_free(&other);
}

static void a_is_deeper(void **state)
{
    (void)state;
    open_pair(0, 1);
    screens();
    assert_true(run("lens") && run("compare a"));
    assert_int_equal(draw(false, "after block 4"), 1); /* its own depth, not B's */
    assert_true(run("compare b"));
    assert_int_equal(draw(false, "after block 1"), 1);
    assert_int_equal(draw(false, "after block 2"), 0);
    close_pair();
}

static void b_is_deeper(void **state)
{
    (void)state;
    open_pair(1, 0);
    screens();
    close_pair();
}

static void a_is_of_another_family(void **state)
{
    (void)state;
    open_pair(2, 1);
    screens();
    close_pair();
}

static void b_is_of_another_family(void **state)
{
    (void)state;
    open_pair(0, 2);
    screens();
    close_pair();
}

static void experts_beside_pictures(void **state)
{
    (void)state;
    open_pair(1, 3);
    screens();
    assert_true(run("goto decoder.blocks.0.mlp.weights; ablate") && run("compare diff"));
    draw(false, NULL);
    close_pair();
}

static void pictures_beside_experts(void **state)
{
    (void)state;
    open_pair(3, 1);
    screens();
    close_pair();
}

/* The way back: where B ends before A's cell the cursor stays, and it is said. */
static void the_cursor_is_bs(void **state)
{
    (void)state;
    open_pair(0, 1);
    assert_true(run("goto logits"));
    const Graph *a = session_graph(&s, SIDE_A);
    const char *path = "blocks.0.attn.pattern";
    NodeId n = graph_find(a, path);
    Dims d = graph_node(a, n)->dims;
    int before[SESSION_AXES];
    memcpy(before, s.place.at, sizeof before);
    assert_false(session_point(&s, SIDE_A, d, graph_cells(a, n) - 1, s.place.at, &error));
    assert_non_null(strstr(error.text, "B ends at"));
    assert_memory_equal(before, s.place.at, sizeof before);
    int index[DIMS_MAX] = {1, 3, 2};
    assert_true(session_point(&s, SIDE_A, d, dims_ravel(a->axes, d, index), s.place.at, &error));
    assert_int_equal(session_cell(&s, SIDE_A, n), dims_ravel(a->axes, d, index));
    close_pair();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_cursor_is_bs),
                                       cmocka_unit_test(a_is_deeper),
                                       cmocka_unit_test(b_is_deeper),
                                       cmocka_unit_test(a_is_of_another_family),
                                       cmocka_unit_test(b_is_of_another_family),
                                       cmocka_unit_test(experts_beside_pictures),
                                       cmocka_unit_test(pictures_beside_experts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
