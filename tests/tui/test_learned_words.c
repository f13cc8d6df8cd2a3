/* What a model of words has learned, on screen: of a list that is cut, what matters most is never cut. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/learned/film.h"
#include "core/session/learned/neurons.h"
#include "core/session/screens.h"
#include "tests/tui/opened.h"
#include "tui/frame.h"
#include "tui/overlay.h"

static Session s;
static Commands all;
static Overlay lists;
static Canvas c;

static void run(const char *line)
{
    Err err = {{0}};
    if (!command_do(&s, &all, line, LINE_FOREIGN | COMMAND_UI, &err))
        fail_msg("%s: %s", line, err.text);
}

static int start(void **state)
{
    (void)state;
    static Ui ui = {.overlay = &lists, .commands = &all};
    opened_commands(&all, &ui);
    opened_session(&s, "translator", "the animal did not cross the street because it was too tired");
    canvas_init(&c, 1, 1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    canvas_free(&c);
    overlay_free(&lists);
    commands_free(&all);
    return 0;
}

static void draw(int h, int w)
{
    canvas_resize(&c, h, w);
    canvas_clear(&c);
    Frame f = frame_layout(&s, h, w, true);
    Needs needs = {.count = 0};
    frame_needs(&s, &f, &needs);
    while (!session_step_pass(&s, needs.item, needs.count, CLOCK_NEVER))
        continue;
    Paint p = {.s = &s, .c = &c, .mode = MODE_256};
    FrameState state = {.message = "", .status = "256c"};
    frame_draw(&p, &f, &state);
}

/* Is that number, or a colour or bar of it, on screen? */
static bool drawn(Side side, NodeId node, size_t cell)
{
    for (int i = 0; i < c.h * c.w; i++) {
        const Ref *r = &c.cells[i].ref;
        if (r->run == (uint16_t)side && r->node == node && r->cell == cell)
            return true;
    }
    return false;
}

static void the_word_that_excites_most(void **state)
{
    (void)state;
    run("goto decoder.blocks.1.mlp.post[t=2]");
    int cut = 0;
    for (int unit = 0; unit < 128; unit += 9) {
        char line[64];
        snprintf(line, sizeof line, "neuron %d", unit);
        run(line);
        draw(24, 80);
        const Graph *g = session_graph(&s, SIDE_B);
        const NodeId n = graph_find(g, neuron_path(&s, SIDE_B, SITE_MLP_POST));
        NeuronAxes axes;
        assert_true(neuron_axes(g, n, &axes));
        const float *x = session_peek(&s, SIDE_B, graph_node(g, n)->path);
        assert_non_null(x);
        const int words = g->axes[axes.tokens].n;
        int most = 0, shown = 0;
        for (int t = 0; t < words; t++) {
            const size_t cell = (size_t)t * (size_t)axes.count + (size_t)unit;
            most = x[cell] > x[(size_t)most * (size_t)axes.count + (size_t)unit] ? t : most;
            shown += drawn(SIDE_A, n, cell) || drawn(SIDE_B, n, cell);
        }
        const size_t top = (size_t)most * (size_t)axes.count + (size_t)unit;
        assert_true(drawn(SIDE_A, n, top) || drawn(SIDE_B, n, top));
        cut += shown < words;
    }
    assert_true(cut > 0);
}

/* The word that an edit changed, of a text that the panes don't hold. */
static void the_word_that_changed(void **state)
{
    (void)state;
    run("word 1 dog; goto encoder.blocks.1.resid_post[s=11]; alike; compare sides");
    draw(24, 80);
    const Graph *g = session_graph(&s, SIDE_B);
    const NodeId n = graph_find(g, alike_path(&s, SIDE_B, 1, SITE_ALIKE_COSINE));
    assert_true(n != NO_NODE);
    const size_t words = (size_t)g->axes[graph_node(g, n)->dims.axis[0]].n;
    size_t shown = 0;
    for (size_t t = 0; t < words; t++)
        shown += drawn(SIDE_B, n, 11 * words + t);
    assert_true(shown > 2 && shown < words);
    assert_true(drawn(SIDE_B, n, 11 * words + 1) && drawn(SIDE_B, n, 11 * words + 11));
}

/* The text in r, of the cells in these styles alone; others are blanks. */
static void text_of(Rect r, Style one, Style two, char *out, size_t n)
{
    size_t len = 0;
    for (int y = r.y; y < r.y + r.h; y++) {
        for (int x = r.x; x < r.x + r.w && len + 8 < n; x++) {
            const Cell *k = &c.cells[y * c.w + x];
            const bool there = k->ch && (k->style == one || k->style == two);
            len += (size_t)utf8_put(out + len, there ? k->ch : ' ');
        }
        out[len++] = ' ';
    }
    out[len] = '\0';
}

/* The words of the text that training recorded stand beside the map, in their order, two in a line where two rows share
 * one; the one that asks is bright. The colours' line has nothing else in it, and below the map stands the word that is
 * looked at most. */
static void the_text_that_was_recorded(void **state)
{
    (void)state;
    static const struct {
        int h, w;
    } SIZES[] = {{18, 80}, {20, 80}, {24, 80}, {24, 120}, {40, 120}, {60, 200}};
    static const char *const HEADS[] = {"decoder.blocks.2.cross_attn.pattern[h=2,t=10]",
                                        "encoder.blocks.1.self_attn.pattern[h=1,s=3]",
                                        "decoder.blocks.0.self_attn.pattern[h=0,t=2]"};
    enum { BESIDE = 18 }; /* columns of the words */
    static char text[16384];
    int shared = 0, below = 0, scales = 0;
    for (size_t k = 0; k < sizeof HEADS / sizeof *HEADS; k++)
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
            char line[128];
            snprintf(line, sizeof line, "goto %s; training 9", HEADS[k]);
            run(line);
            draw(SIZES[i].h, SIZES[i].w);
            WordFilm f;
            assert_true(session_word_film(&s, &f));
            Frame frame = frame_layout(&s, SIZES[i].h, SIZES[i].w, true);
            Rect in = {0};
            for (int n = 0; n < frame.count; n++)
                if (frame.pane[n].view == view_of(SCREEN_TRAINING))
                    in = frame.pane[n].inside;
            assert_true(in.h > 0);
            int row = 0;
            for (int y = in.y; y < in.y + in.h && row < f.queries; y++) {
                const int first = row;
                text_of((Rect){y, in.x, 1, BESIDE}, STYLE_AXIS, STYLE_STRONG, text, sizeof text);
                for (char *at = strtok(text, " "); at && row < f.queries; at = strtok(NULL, " "), row++)
                    if (strcmp(at, word_film_asks(&f, row)) != 0)
                        fail_msg("%s, %dx%d: %s in place of %s", HEADS[k], SIZES[i].w, SIZES[i].h, at,
                                 word_film_asks(&f, row));
                text_of((Rect){y, in.x, 1, BESIDE}, STYLE_STRONG, STYLE_STRONG, text, sizeof text);
                if (f.row >= first && f.row < row)
                    assert_non_null(strstr(text, word_film_asks(&f, f.row)));
                shared += row == first + 2;
            }
            assert_int_equal(row, f.queries);
            text_of(in, STYLE_CURSOR, STYLE_CURSOR, text, sizeof text);
            below += strstr(text, word_film_key(&f, word_film_most(&f, 9))) != NULL;
            for (int y = in.y; y < in.y + in.h; y++) {
                text_of((Rect){y, in.x, 1, in.w}, STYLE_DIM, STYLE_TEXT, text, sizeof text);
                assert_true(!strstr(text, "weight 0") || !strstr(text, "of the most"));
                scales += strstr(text, "weight 0 ") != NULL;
            }
        }
    assert_true(shared > 12 && below >= 3);
    assert_true(scales >= 12); /* wherever there are five lines */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(the_word_that_excites_most, start, stop),
                                       cmocka_unit_test_setup_teardown(the_word_that_changed, start, stop),
                                       cmocka_unit_test_setup_teardown(the_text_that_was_recorded, start, stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
