/* A family of picture models that nobody above core/models knows: it is examined, with the figures that follow from how
 * it is made and the same on any number of threads; and it is on every screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/evaluation.h"
#include "core/session/ask/ask_diff.h"
#include "core/session/ask/export.h"
#include "core/session/screens.h"
#include "tests/third_family.h"
#include "tests/tui/opened.h"
#include "tui/cli/evaluate.h"
#include "tui/frame.h"
#include "tui/overlay.h"

enum { COUNT = 12, CELLS = HALVES_SIDE * HALVES_SIDE };

/* Every third picture is brighter below. */
static Dataset *pictures(const Model *m)
{
    uint8_t *pixels = xmalloc(COUNT * CELLS);
    int label[COUNT];
    for (int i = 0; i < COUNT; i++) {
        label[i] = i % 3 == 0;
        for (int k = 0; k < CELLS; k++)
            pixels[i * CELLS + k] = (uint8_t)((k < CELLS / 2) == !label[i] ? 180 + i + k % 5 : 60 + 3 * i);
    }
    return dataset_of_bytes(m, pixels, label, COUNT);
}

static void examine(const Model *m, int threads, Evaluation *e)
{
    Err err = {""};
    Pool *pool = pool_new(threads);
    Dataset *d = pictures(m);
    if (!evaluation_run(e, m, d, pool, NULL, NULL, &err))
        fail_msg("%s", err.text);
    dataset_free(d);
    pool_free(pool);
}

static bool is(double x, double y)
{
    return fabs(x - y) < 1e-12;
}

static void each_part_is_worth_what_it_was_made_for(void **state)
{
    (void)state;
    const Model m = halves_model();
    const double constant = 2.0 / 3; /* all of them called upper */
    Evaluation e;
    examine(&m, 2, &e);
    assert_int_equal(e.layers, 1);
    assert_int_equal(e.heads, HALVES_HEADS);
    assert_true(is(e.accuracy, 1));
    assert_true(is(e.scale_off, 1)); /* it only sharpens */
    assert_true(is(e.positions_off, constant));
    assert_true(is(e.attention[0], constant));
    assert_true(is(e.head[0], 1 - constant)); /* less than nothing is above */
    assert_true(is(e.head[1], constant));
    assert_int_equal(e.head_pair[0].lost, 8);
    assert_int_equal(e.head_pair[1].lost, 4);
    assert_true(isnan(e.mlp[0]));
    assert_null(e.with); /* no analysis measures its attention */
    assert_false(accuracy_result(e.trained)->has_other);
    evaluation_free(&e);
}

/* What it has no analyses for is refused. */
static void no_row_is_made_up(void **state)
{
    (void)state;
    const Model m = halves_model();
    ScaleSearch found;
    Err err = {""};
    Pool *pool = pool_new(1);
    assert_false(scale_search_find(&found, &m, &(uint64_t){0}, 1, pool, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "are not measured in this model"));
    pool_free(pool);
}

/* As a program prints it. */
static char *printed(const Model *m, int threads, bool json)
{
    Evaluation e;
    Buf out = {0};
    const Evaluated of = {.model = m, .name = m->name, .pictures = "pictures", .class_names = m->class_names};
    examine(m, threads, &e);
    evaluate_print(&e, &of, json, &out);
    evaluation_free(&e);
    char *text = strdup(buf_str(&out));
    buf_free(&out);
    return text;
}

static void it_is_printed(void **state)
{
    (void)state;
    const Model m = halves_model();
    for (int json = 0; json < 2; json++) {
        char *one = printed(&m, 1, json), *three = printed(&m, 3, json);
        assert_string_equal(one, three);
        assert_non_null(strstr(one, json ? "\"accuracy\": 1" : "named right"));
        assert_non_null(strstr(one, json ? "\"confusion\": [[8,0],[0,4]]" : "Points lost without one head"));
        assert_null(strstr(one, "nan"));
        assert_null(strstr(one, "distance"));
        free(one);
        free(three);
    }
}

/* --- on every screen --- */

static Session s;
static Commands all;
static Err error;

static bool act(struct App *app, UiAct what, const char *text, Err *err)
{
    (void)app;
    (void)what;
    (void)text;
    (void)err;
    return true;
}

static int start(void **state)
{
    (void)state;
    Model m = halves_model();
    static Overlay lists;
    static Ui ui = {.overlay = &lists, .commands = &all, .act = act};
    opened_commands(&all, &ui);
    return session_init_model(&s, &m, "#3", 1, &error) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    commands_free(&all);
    return 0;
}

static bool run(const char *line)
{
    error.text[0] = 0;
    bool ok = command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &error);
    assert_true(ok || *error.text);
    assert_int_not_equal(session_node(&s, SIDE_B, s.place.path), NO_NODE);
    return ok;
}

/* The numbers on a screen of 80 × 24: each is the trace's. */
static size_t draw(void)
{
    Canvas c = {0};
    size_t numbers = 0;
    canvas_resize(&c, 24, 80);
    canvas_clear(&c);
    Frame f = frame_layout(&s, 24, 80, false);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    frame_draw(&p, &f, &(FrameState){.message = "", .status = "256c"});
    for (int i = 0; i < c.h * c.w; i++) {
        Ref ref = c.cells[i].ref;
        if (ref.run == SIDE_NONE)
            continue;
        const Graph *g = session_graph(&s, (Side)ref.run);
        assert_true(ref.node >= 0 && ref.node < g->count && ref.cell < graph_cells(g, ref.node));
        assert_non_null(session_peek(&s, (Side)ref.run, graph_node(g, ref.node)->path));
        numbers++;
    }
    canvas_free(&c);
    return numbers;
}

static void every_node_is_drawn(void **state)
{
    (void)state;
    const Graph *g = session_graph(&s, SIDE_B);
    size_t numbers = 0;
    for (NodeId n = 0; n < g->count; n++) {
        char line[SESSION_PATH + 8];
        snprintf(line, sizeof line, "goto %s", graph_node(g, n)->path);
        assert_true(run(line));
        numbers += draw();
    }
    assert_true(numbers > 300);
}

static void every_screen_is_drawn_or_refused(void **state)
{
    (void)state;
    int drawn = 0;
    for (int i = 0; i < SCREEN_COUNT; i++) {
        assert_true(run("goto round.0.halves.looks"));
        const Place before = s.place;
        const char *command = screen_spec((Screen)i)->command;
        if (!command)
            continue;
        if (run(command)) {
            drawn++;
            draw();
        } else {
            assert_string_equal(s.place.path, before.path);
            assert_int_equal(s.place.screen, before.screen);
        }
    }
    assert_true(drawn >= 15);
}

static void every_command_runs_or_refuses(void **state)
{
    (void)state;
    for (int i = 0; command_at(&all, i); i++) {
        run(command_at(&all, i)->name);
        draw();
        run("goto round.0.halves.looks");
    }
}

/* A recording of it is compared node by node; no mistake of another family's is tried in it. */
static void a_recording_is_compared(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_third_family.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/trace.safetensors", folder);
    DiffAsk ask = {.reference = path};
    DiffAnswer answer;
    Buf said = {0};
    if (!export_nodes(&s, SIDE_B, "**.agreement **.agreement_scaled **.looks", NULL, path, TF_SAFETENSORS, NULL,
                      &error) ||
        !ask_diff(&s, &ask, NULL, &said, &answer, &error))
        fail_msg("%s", error.text);
    assert_true(answer.same);
    buf_free(&said);
    assert_true(run("set round.0.halves.factor 0.1"));
    if (!ask_diff(&s, &ask, NULL, &said, &answer, &error))
        fail_msg("%s", error.text);
    assert_false(answer.same);
    assert_string_equal(answer.path, "round.0.halves.agreement_scaled");
    assert_non_null(strstr(buf_str(&said), "No mistakes are tried in a model of this family"));
    buf_free(&said);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_is_worth_what_it_was_made_for),
        cmocka_unit_test(it_is_printed),
        cmocka_unit_test(no_row_is_made_up),
        cmocka_unit_test_setup_teardown(every_node_is_drawn, start, stop),
        cmocka_unit_test_setup_teardown(every_screen_is_drawn_or_refused, start, stop),
        cmocka_unit_test_setup_teardown(a_recording_is_compared, start, stop),
        cmocka_unit_test_setup_teardown(every_command_runs_or_refuses, start, stop),
    };
    return cmocka_run_group_tests_name("third family", tests, NULL, NULL);
}
