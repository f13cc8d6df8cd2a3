/* The real screen over a model of another family: every node can be gone to and is drawn, every number drawn is the
 * trace's, every command runs or refuses, and none leaves the reader at a node that does not exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/session/ask/ask_diff.h"
#include "core/session/ask/export.h"
#include "core/session/screens.h"
#include "tests/second_family.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"
#include "tui/overlay.h"

static Session s;
static Commands all;
static Err error;

/* In a terminal's place: what a command asks of it is granted. */
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
    Model m = toy_model();
    static Overlay lists;
    static Ui ui = {.overlay = &lists, .commands = &all, .act = act};
    opened_commands(&all, &ui);
    return session_init_model(&s, &m, NULL, 1, &error) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    return 0;
}

static bool run(const char *line)
{
    error.text[0] = 0;
    bool ok = command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &error);
    if (!ok)
        assert_true(*error.text);
    assert_int_not_equal(session_node(&s, SIDE_B, s.place.path), NO_NODE);
    return ok;
}

/* Draws the screen at 80 × 24; the numbers on it. */
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
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
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

static void every_node(void **state)
{
    (void)state;
    const Graph *g = session_graph(&s, SIDE_B);
    size_t numbers = 0;
    for (NodeId n = 0; n < g->count; n++) {
        char line[SESSION_PATH + 8];
        snprintf(line, sizeof line, "goto %s", graph_node(g, n)->path);
        assert_true(run(line));
        assert_string_equal(s.place.path, graph_node(g, n)->path);
        numbers += draw();
    }
    assert_true(numbers > 1000);
}

static void every_command(void **state)
{
    (void)state;
    for (int i = 0; command_at(&all, i); i++) {
        const Command *c = command_at(&all, i);
        if (!run(c->name))
            assert_null(strstr(error.text, "r3c4")); /* a patch: words have none */
        assert_null(strstr(c->usage, "r3c4"));
        assert_null(strstr(c->summary, "r3c4"));
        draw();
        run("goto decoder.blocks.1.cross_attn.looks");
    }
}

/* What is of pictures alone says so, and names no patch as an example. */
static void no_patches(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        "grey",   "grey x",          "swap",     "swap x y",         "hide",
        "hide x", "where rollout x", "blanks x", "training patch=x", "say decoder.blocks.0"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        if (run(LINES[i]))
            fail_msg("%s runs on a model of words", LINES[i]);
        assert_null(strstr(error.text, "r3c4"));
    }
}

/* The map has every sub-layer's stages, made by what the nodes are: nobody here calls anything q, pattern or z. */
static void every_stage(void **state)
{
    (void)state;
    static const struct {
        PartKind kind;
        Site site;
        const char *stage;
    } WANT[] = {{PART_ATTENTION, SITE_QUERY, "qkv"},
                {PART_ATTENTION, SITE_SCORES_RAW, "raw"},
                {PART_ATTENTION, SITE_SCORES_SCALED, "scaled"},
                {PART_ATTENTION, SITE_PATTERN, "softmax"},
                {PART_ATTENTION, SITE_Z, "weighted"},
                {PART_ATTENTION, SITE_OUT, "w_o"},
                {PART_MLP, SITE_MLP_PRE, "up"},
                {PART_MLP, SITE_MLP_POST, "activation"},
                {PART_MLP, SITE_OUT, "down"}};
    const Graph *g = session_graph(&s, SIDE_B);
    int seen = 0;
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++)
        for (int p = NO_PART; (p = anatomy_next(g, p, WANT[i].kind)) != NO_PART; seen++) {
            NodeId n = site_node(g, p, WANT[i].site);
            assert_int_not_equal(n, NO_NODE);
            int node = stages_of_node(&s.stages, n);
            assert_int_not_equal(node, NO_BOX);
            const Box *box = &s.stages.boxes[s.stages.boxes[node].parent];
            const char *last = strrchr(box->path, '.');
            if (!last || strcmp(last + 1, WANT[i].stage) != 0)
                fail_msg("%s stands in %s, not in a stage %s", graph_node(g, n)->path, box->path, WANT[i].stage);
            assert_int_equal(box->show, n);
        }
    assert_int_equal(seen, 6 * (TOY_ENCODER + 2 * TOY_DECODER) + 3 * (TOY_ENCODER + TOY_DECODER));
    for (int i = 0; i < TOY_DECODER; i++) {
        static const char *const SUMS[] = {"add1", "add_cross", "add2"}, *const NODES[] = {"after_self_attn",
                                                                                           "after_cross_attn",
                                                                                           "after_feed"};
        for (int k = 0; k < 3; k++) {
            char path[64];
            snprintf(path, sizeof path, "decoder.blocks.%d.%s", i, SUMS[k]);
            int box = stages_find(&s.stages, path);
            assert_int_not_equal(box, NO_BOX);
            snprintf(path, sizeof path, "decoder.blocks.%d.%s", i, NODES[k]);
            assert_string_equal(graph_node(g, s.stages.boxes[box].show)->path, path);
        }
    }
}

/* From a head of every attention: a screen comes and is drawn, or its command says why not and nothing moves. */
static void every_screen(void **state)
{
    (void)state;
    static const char *const FROM[] = {"encoder.blocks.1.self_attn.looks", "decoder.blocks.0.self_attn.looks",
                                       "decoder.blocks.2.cross_attn.looks"};
    int drawn = 0;
    for (size_t k = 0; k < sizeof FROM / sizeof *FROM; k++)
        for (int i = 0; i < SCREEN_COUNT; i++) {
            char line[SESSION_PATH + 8];
            snprintf(line, sizeof line, "goto %s", FROM[k]);
            assert_true(run(line));
            Place before = s.place;
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

/* A recording of it is compared node by node, and where it first differs is named; no cause is made up. */
static void recorded(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_second_family.XXXXXX", path[64];
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
    assert_true(run("set encoder.blocks.1.self_attn.factor 0.1"));
    if (!ask_diff(&s, &ask, NULL, &said, &answer, &error))
        fail_msg("%s", error.text);
    assert_false(answer.same);
    assert_string_equal(answer.path, "encoder.blocks.1.self_attn.agreement_scaled");
    assert_non_null(strstr(buf_str(&said), "No mistakes are tried in a model of this family"));
    assert_null(strstr(buf_str(&said), "Likely cause"));
    buf_free(&said);
    ask.own_input = true;
    assert_false(ask_diff(&s, &ask, NULL, NULL, &answer, &error));
    assert_non_null(strstr(error.text, "say it with -i"));
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(every_node, start, stop),
                                       cmocka_unit_test_setup_teardown(every_stage, start, stop),
                                       cmocka_unit_test_setup_teardown(every_command, start, stop),
                                       cmocka_unit_test_setup_teardown(no_patches, start, stop),
                                       cmocka_unit_test_setup_teardown(every_screen, start, stop),
                                       cmocka_unit_test_setup_teardown(recorded, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
