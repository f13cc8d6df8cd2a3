/* What is said of a model whose norms are RMSNorms: no screen, answer or sentence calls one a LayerNorm, has a mean
 * taken off or a beta added. Every node is visited, every screen drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/session/screens.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"
#include "tui/overlay.h"

static Session s;
static Commands all;
static Err error;

static bool run(const char *line)
{
    error.text[0] = 0;
    return command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &error);
}

static void said_rightly(const char *text, const char *where)
{
    static const char *const WRONG[] = {"LayerNorm", "layernorm", "LN(", "1/σ", "σ²", " beta", "without its mean"};
    static const char *const OF_A_NORM[] = {"variance", "less mean", "mean 0 "}; /* elsewhere they may be spoken of */
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        if (strstr(text, WRONG[i]))
            fail_msg("at %s (%s): '%s' in '%s'", s.place.path, where, WRONG[i], text);
    for (size_t i = 0; strstr(s.place.path, "rms") && i < sizeof OF_A_NORM / sizeof *OF_A_NORM; i++)
        if (strstr(text, OF_A_NORM[i]))
            fail_msg("at %s (%s): '%s' in '%s'", s.place.path, where, OF_A_NORM[i], text);
}

/* Draws the screen and reads it. */
static void draw(const char *where)
{
    Canvas c = {0};
    canvas_resize(&c, 36, 120);
    canvas_clear(&c);
    Frame f = frame_layout(&s, 36, 120, false);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step_pass(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
    for (int y = 0; y < c.h; y++) {
        Buf line = {0};
        for (int x = 0; x < c.w; x++)
            if (c.cells[y * c.w + x].ch) {
                char text[4];
                buf_add(&line, text, utf8_put(text, c.cells[y * c.w + x].ch));
            }
        said_rightly(buf_str(&line), where);
        buf_free(&line);
    }
    canvas_free(&c);
}

static void with(bool branches)
{
    static Overlay lists;
    static Ui ui = {.overlay = &lists, .commands = &all};
    VitConfig c;
    Model m;
    assert_true(model_size("tiny", &c));
    c.rms_norm = c.norm_pre = c.gated = c.hidden_norm = c.patch_norm = c.merged_norm = true;
    c.branch_norm = branches;
    c.act = MAP_SILU;
    opened_commands(&all, &ui);
    model_seeded(&m, &c, 5);
    if (!session_init_model(&s, &m, NULL, 1, &error))
        fail_msg("%s", error.text);
    const Graph *g = session_graph(&s, SIDE_B);
    int norms = 0, drawn = 0;
    for (int i = 0; i < anatomy_count(g); i++)
        norms += anatomy_part(g, i)->kind == PART_NORM;
    assert_int_equal(norms, 3 + 4 * c.layers);
    for (NodeId n = 0; n < g->count; n++) {
        char line[200];
        const char *path = graph_node(g, n)->path;
        if (strncmp(path, "blocks.1.", 9) == 0 || graph_node(g, n)->flags & NODE_PROBE)
            continue;
        snprintf(line, sizeof line, "goto %s", path);
        assert_true(run(line));
        draw("its screen");
        buf_clear(&s.said);
        if (run("say"))
            said_rightly(buf_str(&s.said), "say");
        if (strstr(path, "rms") && run("view close-up")) {
            draw("close-up");
            drawn++;
        }
    }
    assert_true(drawn > 20);
    for (int i = 0; i < SCREEN_COUNT; i++) {
        const char *command = screen_spec((Screen)i)->command;
        run("goto blocks.0.rms1.out");
        if (command && run(command))
            draw(command);
    }
}

static void before_the_sub_layers(void **state)
{
    (void)state;
    with(false);
    session_free(&s);
}

static void on_the_branches(void **state)
{
    (void)state;
    with(true);
    session_free(&s);
}

/* The commands that name a norm. */
static void commands(void **state)
{
    (void)state;
    with(false);
    assert_false(run("skip layernorm"));
    assert_non_null(strstr(error.text, "no layernorm to leave out"));
    assert_false(run("skip nothing"));
    assert_non_null(strstr(error.text, "rmsnorm"));
    buf_clear(&s.said);
    assert_true(run("skip rmsnorm block=0"));
    assert_non_null(strstr(buf_str(&s.said), "every RMSNorm passes on what it reads"));
    assert_true(run("undo") && run("skip rms1 block=1"));
    assert_true(run("undo") && run("goto blocks.1.rms2.out") && run("ablate"));
    assert_string_equal(s.edits.line[0], "skip rms2 block=1");
    session_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(before_the_sub_layers), cmocka_unit_test(on_the_branches),
                                       cmocka_unit_test(commands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
