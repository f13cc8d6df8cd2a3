/* The loop without a terminal: what keys, counts, clicks, the wheel and pastes do, what is said where, what is written
 * and what is remembered. */
#define _GNU_SOURCE
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
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/play.h"
#include "core/session/screens.h"
#include "core/session/screens/laboratory.h"
#include "core/session/state.h"
#include "tui/app_parts.h"
#include "tui/canvas/export.h"
#include "tui/desk_parts.h"
#include "tui/progress.h"
#include "tui/views/view.h"

static App a;
static TermStatus terminal = {.mode = MODE_256, .has_mouse = true, .mouse = true, .term = "test", .why = "asked for"};
static char folder[] = "/tmp/vitrine-app-XXXXXX";

static int start_all(void **state)
{
    (void)state;
    return mkdtemp(folder) && setenv("XDG_STATE_HOME", folder, 1) == 0 ? 0 : -1;
}

static void remove_file(const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static int stop_all(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"vitrine/last", "vitrine/lesson", "vitrine/lessons", "vitrine/open-lesson",
                                        "x.txt",        "x.svg",          "x.html",          "x.ans",
                                        "vitrine/note"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        remove_file(NAMES[i]);
    char path[96];
    snprintf(path, sizeof path, "%s/vitrine", folder);
    return rmdir(path) == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    a = (App){.terminal = &terminal, .hint = true};
    if (!session_init(&a.s, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    Commands own = session_command_set();
    a.ui = (Ui){.overlay = &a.overlay, .commands = &a.commands, .act = app_act, .app = &a};
    commands_add(&a.commands, app_commands(&a.ui));
    commands_add_all(&a.commands, &own);
    commands_free(&own);
    canvas_init(&a.canvas, 40, 120);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    presenter_close(&a.presenter);
    desk_close(&a.desk, &a.s);
    canvas_free(&a.canvas);
    overlay_free(&a.overlay);
    messages_free(&a.messages);
    prompt_free(&a.prompt);
    stage_close(&a.stage);
    session_free(&a.s);
    commands_free(&a.commands);
    return 0;
}

static void key(const char *name)
{
    TermEvent e = {.kind = TERM_KEY};
    snprintf(e.key, sizeof e.key, "%s", name);
    app_event(&a, &e);
}

static void keys(const char *names)
{
    char one[16];
    for (const char *p = names; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        snprintf(one, sizeof one, "%.*s", (int)n, p);
        key(one);
        p += n;
    }
}

static void mouse(const char *what, int y, int x)
{
    TermEvent e = {.kind = TERM_MOUSE, .y = y, .x = x};
    snprintf(e.key, sizeof e.key, "%s", what);
    app_event(&a, &e);
}

static int step(void)
{
    int total;
    return session_step_number(&a.s, &total);
}

static void says(const char *part)
{
    if (!strstr(a.message, part))
        fail_msg("the line says '%s', not '%s'", a.message, part);
}

/* Draws without sending it anywhere. */
static void draw(void)
{
    Needs needs = {.count = 0};
    Frame f = app_frame(&a);
    frame_needs(&a.s, &f, &needs);
    assert_true(session_step(&a.s, needs.item, needs.count, CLOCK_NEVER));
    canvas_clear(&a.canvas);
    Paint p = app_paint(&a);
    frame_draw(&p, &f, &(FrameState){.message = a.message, .status = ""});
}

/* --- keys --- */

static void counts(void **state)
{
    (void)state;
    keys("1 2 G");
    assert_int_equal(step(), 12);
    keys("2 p");
    assert_int_equal(step(), 10);
    keys("3 n");
    assert_int_equal(step(), 13);
    keys("n"); /* a count is for one key */
    assert_int_equal(step(), 14);
    keys("4 z n"); /* …whichever it is */
    assert_int_equal(step(), 15);
    keys("4 F9 n");
    assert_int_equal(step(), 16);
    keys("g G");
    int last = step();
    keys("9 9 9 9 9 9 9 9 9 9 9 9 p"); /* no number overflows */
    assert_int_equal(step(), 1);
    app_do(&a, "goto blocks.0.attn.pattern[h=1,t=r2c2,u=r0c0]; view matrix");
    int t = session_role(&a.s, ROLE_QUERY), at = a.s.place.at[t];
    keys("5 Down");
    assert_int_equal(a.s.place.at[t], at + 5);
    keys("0"); /* the start of the row, not a digit, where no count is */
    assert_int_equal(a.s.place.at[session_role(&a.s, ROLE_KEY)], 0);
    keys("1 0 Up");
    assert_int_equal(a.s.place.at[t], at + 5 - 10);
    assert_true(last > 20);
}

/* Digits, half a second's thought, and a box says what the next key does with them. */
static void digits_tell_what_comes(void **state)
{
    enum { HALF = 500000000 };
    static const char *const WANT[] = {"Space n PgDn   next 12", "G              goto 12", "Up k           move up 12",
                                       "Esc            no number"};
    (void)state;
    Buf screen = {0};
    int64_t wait = -1;
    app_next_tick(&a, 0, &wait); /* nothing was typed */
    assert_true(wait < 0);
    keys("1 2");
    app_next_tick(&a, a.counted + HALF - 1000, &wait);
    assert_int_equal(wait, 1000);
    assert_false(a.counts);
    a.touched = false;
    app_next_tick(&a, a.counted + HALF, &wait);
    assert_true(a.counts && a.touched);
    app_draw_next(&a);
    export_text(&a.canvas, &screen);
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++)
        if (!strstr(buf_str(&screen), WANT[i]))
            fail_msg("the box does not say '%s':\n%s", WANT[i], buf_str(&screen));
    keys("3"); /* one who types on does not look */
    assert_false(a.counts);
    keys("Esc");
    assert_int_equal(a.count, 0);
    buf_free(&screen);
}

/* The film plays while something is presented too: its keys are its own, and whatever else one does stops it. */
static void presented_film(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.0.attn.q; present");
    assert_true(a.presenter.view.on);
    keys(".");
    assert_true(a.s.look.playing);
    keys("<");
    assert_true(a.s.look.playing);
    assert_int_equal(play_step_ms(&a.s), 1000);
    int64_t now = 0;
    for (int64_t wait = -1; strcmp(a.s.place.path, "blocks.0.attn.q") == 0; now += wait, wait = -1)
        app_play_tick(&a, true, now, &wait);
    assert_false(a.s.look.locked); /* the next step has other numbers */
    keys("<");
    assert_true(a.s.look.playing);
    key("Esc");
    assert_false(a.s.look.playing);
    keys(".");
    assert_true(a.s.look.playing);
    int was = step();
    keys("Space"); /* the next step, as always here */
    assert_false(a.s.look.playing);
    assert_int_equal(step(), was + 1);
    keys("b");
    assert_true(a.presenter.view.blank);
}

/* The value with its address, again its row, after another key the value; what is said is what is handed over. */
static void y_copies(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; view matrix");
    draw();
    NodeId n = session_node(&a.s, SIDE_B, a.s.place.path);
    const float *x = session_peek(&a.s, SIDE_B, a.s.place.path) + session_cell(&a.s, SIDE_B, n);
    char value[64], other[64];
    snprintf(value, sizeof value, "u=r4c3] = %.9g ", (double)*x);
    snprintf(other, sizeof other, " %.9g %.9g ", (double)x[-1], (double)*x);
    key("y");
    says(value);
    says("not copied"); /* no terminal is open */
    key("y");
    assert_int_equal(a.overlay.kind, OVERLAY_TEXT);
    assert_non_null(strstr(buf_str(&a.overlay.text), other));
    assert_non_null(strstr(buf_str(&a.overlay.text), "u=cls] and on ="));
    key("Esc");
    key("y");
    says(value);
    key("Y");
    says("1.pattern[2,r3c4,r4c3]");
    app_do(&a, "copy probs[o=star]; goto probs"); /* of a line of several commands nothing is handed over */
    assert_null(strstr(a.message, "copied"));
}

static void keys_without_meaning(void **state)
{
    (void)state;
    key("F9");
    says("F9 does nothing here");
    key("Esc");
    assert_string_equal(a.message, "");
    draw();
    while (!session_step_pass(&a.s, NULL, 0, CLOCK_NEVER))
        continue;
    key("^C");
    says("Nothing is being computed");
    assert_false(a.halted);
    assert_false(a.s.quit);
}

/* While the pass goes on Ctrl-C stops it; the next key goes on with it, a resize does not. */
static void a_pass_is_stopped(void **state)
{
    (void)state;
    app_do(&a, "set scale off");
    assert_true(session_busy(&a.s));
    key("^C");
    says("Stopped computing");
    assert_true(a.halted);
    app_event(&a, &(TermEvent){.kind = TERM_RESIZE});
    assert_true(a.halted);
    key("n");
    assert_false(a.halted);
    key("^C");
    mouse("WheelDown", 5, 5);
    assert_false(a.halted);
}

/* So is a search, which goes on behind a pass that is there. */
static void a_search_is_stopped(void **state)
{
    (void)state;
    app_do(&a, "model translator");
    app_do(&a, "decode beam 64");
    while (!session_step_pass(&a.s, NULL, 0, CLOCK_NEVER))
        continue;
    key("^C");
    says("Stopped computing");
    assert_true(a.halted);
    key("Esc");
    assert_false(a.halted);
    while (!measures_step(&a.s, CLOCK_NEVER))
        continue;
    key("^C");
    says("Nothing is being computed");
    assert_false(a.halted);
}

/* --- the film of the pass --- */

static int64_t clock_now;

/* Until a frame of what plays has come; does it go on? */
static bool frame_passes(void)
{
    int64_t wait = -1;
    bool touched;
    do {
        a.touched = false;
        app_play_tick(&a, true, clock_now, &wait);
        touched = a.touched;
        clock_now += touched ? 0 : wait;
    } while (a.s.look.playing && !touched);
    return a.s.look.playing;
}

static Rect pane_of(const ViewSpec *view)
{
    Frame f = app_frame(&a);
    for (int i = 0; i < f.count; i++)
        if (f.pane[i].view == view)
            return f.pane[i].inside;
    return (Rect){0};
}

/* Numbers on the canvas in r that are of a node. */
static int numbers_of(Rect r, const char *path)
{
    NodeId n = session_node(&a.s, SIDE_B, path);
    int count = 0;
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            const Ref ref = canvas_at(&a.canvas, y, x)->ref;
            count += ref.run && ref.node == n;
        }
    return count;
}

/* What is lit is what the number written last is made from: a score of the key that it is about. */
static void lit_is_read(void)
{
    const Graph *g = session_graph(&a.s, SIDE_B);
    NodeId n = session_node(&a.s, SIDE_B, "blocks.0.attn.scores_raw");
    Rect r = pane_of(view_now(&a.s)), from = pane_of(&VIEW_PLAYED);
    size_t cell = 0;
    for (int y = r.y; y < r.y + r.h - 1; y++) /* the last line reads out the one in focus */
        for (int x = r.x; x < r.x + r.w; x++) {
            const Ref ref = canvas_at(&a.canvas, y, x)->ref;
            cell = ref.run && ref.node == n ? ref.cell : cell;
        }
    int index[DIMS_MAX];
    char label[32], name[64], line[64] = "";
    dims_unravel(g->axes, graph_node(g, n)->dims, cell, index);
    snprintf(name, sizeof name, "k[%s,%d,e]",
             axis_label(&g->axes[graph_node(g, n)->dims.axis[2]], index[2], label, sizeof label), index[0]);
    bool found = false;
    for (int y = from.y; y < from.y + from.h; y++) {
        for (int x = 0; x < from.w; x++)
            line[x] = (char)canvas_at(&a.canvas, y, from.x + x)->ch;
        line[from.w] = 0;
        found = found || strstr(line, name);
    }
    if (!found)
        fail_msg("%s is not lit", name);
}

/* Every step that is open is come to once, in order, in either direction, whatever is computed and however large the
 * screen is. */
static void visits(const char *from, const char *command)
{
    static const int SIZES[][2] = {{40, 120}, {24, 80}, {16, 60}, {6, 30}};
    app_do(&a, from);
    int at = a.s.place.box, seen = 1, total;
    app_do(&a, command);
    for (bool more = true; more;) {
        more = frame_passes();
        if (a.s.place.box == at)
            continue;
        bool back = a.s.look.backwards;
        assert_int_equal(a.s.place.box,
                         back ? stages_before(&a.s.stages, a.s.open, at) : stages_after(&a.s.stages, a.s.open, at));
        at = a.s.place.box;
        canvas_resize(&a.canvas, SIZES[seen % 4][0], SIZES[seen % 4][1]);
        Paint p = app_paint(&a);
        Frame f = app_frame(&a);
        frame_draw(&p, &f, &(FrameState){.message = "", .status = ""}); /* nothing of it is computed */
        seen++;
    }
    int last = session_step_number(&a.s, &total);
    assert_int_equal(last, a.s.look.backwards ? 1 : total);
    assert_int_equal(a.s.look.frame, 0); /* all of it is there */
    assert_in_range(seen, 20, 200);
}

static void the_film(void **state)
{
    (void)state;
    visits("goto first", "play");
    visits("goto last", "play back");
    app_do(&a, "play"); /* from the first step again, forwards */
    assert_int_equal(step(), 1);
    app_do(&a, "goto last; play");
    assert_int_equal(step(), 1);
    app_do(&a, "model translator");
    visits("goto first", "play");
}

/* The result comes in reading order, beside it what it is made from, which is the step before. */
static void a_step_of_the_film(void **state)
{
    (void)state;
    static const struct {
        const char *path, *from[2];
    } STEPS[] = {{"blocks.0.attn.scores_raw", {"blocks.0.attn.q", "blocks.0.attn.k"}},
                 {"blocks.0.attn.scores_scaled", {"blocks.0.attn.scores_raw", NULL}},
                 {"blocks.0.attn.pattern", {"blocks.0.attn.scores_scaled", NULL}},
                 {"blocks.0.attn.z", {"blocks.0.attn.pattern", "blocks.0.attn.v"}},
                 {"blocks.0.attn.out", {"blocks.0.attn.z", NULL}},
                 {"blocks.0.resid_mid", {"blocks.0.resid_pre", "blocks.0.attn.out"}},
                 {"blocks.0.ln2.out", {"blocks.0.resid_mid", NULL}}};
    canvas_resize(&a.canvas, 24, 80);
    app_do(&a, "goto blocks.0.attn.q; goto blocks.0.attn.scores_raw");
    keys(".");
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        int before = -1;
        assert_string_equal(a.s.place.path, STEPS[i].path);
        for (int frame = 1; frame <= PLAY_FRAMES; frame++) {
            assert_int_equal(a.s.look.frame, frame);
            draw();
            int there = numbers_of(pane_of(view_now(&a.s)), STEPS[i].path);
            if (i == 0 && frame < PLAY_FILLS)
                lit_is_read();
            assert_true(frame <= PLAY_FILLS ? there > before : there == before);
            before = there;
            for (int k = 0; k < 2 && STEPS[i].from[k]; k++)
                if (numbers_of(pane_of(&VIEW_PLAYED), STEPS[i].from[k]) < 16)
                    fail_msg("%s does not come from %s", STEPS[i].path, STEPS[i].from[k]);
            frame_passes();
        }
        app_do(&a, "play off");
        draw();
        assert_int_equal(pane_of(&VIEW_PLAYED).h, 0);
        a.s.look.frame = 1; /* as the film goes on */
        a.s.look.playing = true;
    }
}

/* Where a line of text holds two rows of numbers, the lower waits for its turn. */
static void a_film_fills_row_by_row(void **state)
{
    (void)state;
    enum { ROWS_MOST = 64 };
    app_do(&a, "model translator; goto decoder.blocks.1.self_attn.z");
    canvas_resize(&a.canvas, 24, 80);
    const NodeId n = session_node(&a.s, SIDE_B, a.s.place.path);
    const Dims d = graph_node(session_graph(&a.s, SIDE_B), n)->dims;
    const Graph *g = session_graph(&a.s, SIDE_B);
    const size_t row = (size_t)g->axes[d.axis[1]].n * (size_t)g->axes[d.axis[2]].n;
    int all[ROWS_MOST] = {0}, halves = 0;
    for (int frame = 0; frame <= PLAY_FILLS; frame++) { /* the whole map first */
        int there[ROWS_MOST] = {0}, last = 0;
        app_do(&a, frame ? "play next" : "play off");
        draw();
        const Rect r = pane_of(view_now(&a.s));
        for (int y = r.y; y < r.y + r.h - 1; y++)
            for (int x = r.x; x < r.x + r.w; x++) {
                const Cell *c = canvas_at(&a.canvas, y, x);
                there[c->ref.cell / row] += c->ref.run && c->ref.node == n;
                there[c->below.cell / row] += c->below.run && c->below.node == n;
                halves += !frame && c->below.run;
            }
        if (!frame)
            memcpy(all, there, sizeof all);
        for (int i = 0; i < ROWS_MOST; i++)
            last = there[i] ? i : last;
        for (int i = 0; i < last; i++)
            assert_int_equal(there[i], all[i]);
        assert_true(last < ROWS_MOST - 1);
    }
    assert_true(halves > 100);
}

/* A and B come at the same time. */
static void both_sides_of_the_film(void **state)
{
    (void)state;
    app_do(&a, "set scale off; compare sides; goto blocks.1.attn.z; play");
    int before[2] = {-1, -1};
    for (int frame = 1; frame <= PLAY_FILLS; frame++) {
        draw();
        Frame f = app_frame(&a);
        int sides = 0;
        for (int i = 0; i < f.count; i++)
            if (f.pane[i].view == view_now(&a.s) && f.pane[i].side != SIDE_DIFF) {
                int there = 0;
                for (int y = 0; y < f.pane[i].inside.h; y++)
                    for (int x = 0; x < f.pane[i].inside.w; x++)
                        there += canvas_at(&a.canvas, f.pane[i].inside.y + y, f.pane[i].inside.x + x)->ref.run ==
                                 f.pane[i].side;
                assert_true(there > before[sides]);
                before[sides++] = there;
            }
        assert_int_equal(sides, 2);
        frame_passes();
    }
}

/* Screens of what was learned play their own, or leave for the step; an attention its rows. */
static void other_films(void **state)
{
    (void)state;
    int frames = 1;
    app_do(&a, "training 0; play");
    for (const int *at = &a.s.look.training.snapshot; frame_passes(); frames++)
        assert_int_equal(*at, frames + 1);
    assert_int_equal(a.s.look.training.snapshot, session_history_shown(&a.s)->snapshot_count - 1);
    assert_int_equal(a.s.place.screen, SCREEN_TRAINING);
    app_do(&a, "play back");
    assert_int_equal(a.s.look.training.snapshot, frames);
    app_do(&a, "filters filters; filters 60; play");
    for (frames = 1; frame_passes(); frames++)
        continue;
    assert_int_equal(frames, 2); /* 61, 62 and, at the end, 63 */
    assert_int_equal(a.s.place.screen, SCREEN_FILTERS);
    app_do(&a, "goto blocks.1.attn.pattern[t=r7c5]; heads; play"); /* it has no film: the step's */
    assert_int_equal(screen_now(&a.s)->group, GROUP_ATTENTION);
    app_do(&a, "goto blocks.1.attn.pattern[t=r7c5]; play rows");
    assert_int_equal(a.s.place.at[session_role(&a.s, ROLE_QUERY)], 63);
    assert_true(a.s.look.playing);
    assert_false(frame_passes());
    assert_int_equal(a.s.place.at[session_role(&a.s, ROLE_QUERY)], 64);
    assert_int_equal(pane_of(&VIEW_PLAYED).h, 0);
    app_do(&a, "goto blocks.1.mlp.post; play rows");
    says("rows of attention are played on attention");
    assert_false(a.s.look.playing);
}

/* Those that would leave stop it and do nothing else; < > and a comma are its own; the others stop it and do what they
 * always do. */
static void keys_of_the_film(void **state)
{
    (void)state;
    static const char *const STOP[] = {".", "q", "Esc", "^C"};
    app_do(&a, "goto blocks.0.attn.q");
    for (size_t i = 0; i < sizeof STOP / sizeof *STOP; i++) {
        keys(".");
        assert_true(a.s.look.playing);
        key(STOP[i]);
        assert_false(a.s.look.playing);
        assert_false(a.s.quit);
        assert_int_equal(a.leaving, 0);
        assert_int_equal(a.s.edits.count, 0);
        assert_int_equal(a.overlay.kind, OVERLAY_NONE);
        assert_string_equal(a.s.place.path, "blocks.0.attn.q");
        assert_int_equal(a.count, 0);
    }
    keys(". ?");
    assert_false(a.s.look.playing);
    assert_int_not_equal(a.overlay.kind, OVERLAY_NONE);
    keys("Esc . 3");
    assert_false(a.s.look.playing);
    assert_int_equal(a.count, 3);
    keys("Esc .");
    int was = step();
    keys("Space");
    assert_false(a.s.look.playing);
    assert_int_equal(step(), was + 1);
    keys("p . : g o t o Space p a t t e r n Enter"); /* a command typed while it plays is that command */
    assert_false(a.s.look.playing);
    assert_string_equal(a.s.place.path, "blocks.0.attn.pattern");
    app_do(&a, "goto blocks.0.attn.q");
    keys(".");
    assert_int_equal(play_step_ms(&a.s), 500);
    keys("> >");
    says("0.125 s");
    assert_true(a.s.look.playing);
    assert_int_equal(play_step_ms(&a.s), 125);
    keys("> < < < < < < <");
    says("8 s");
    assert_int_equal(play_wait(&a.s), 1000);
    keys("> > > > . .");
    assert_int_equal(play_step_ms(&a.s), 500);
    clock_now = 0;
    a.next_frame = 0;
    for (int64_t wait = -1; step() == 7; clock_now += wait, wait = -1)
        app_play_tick(&a, true, clock_now, &wait);
    assert_in_range(clock_now / 1000000, 430, 570);
    keys(",");
    assert_true(a.s.look.playing && a.s.look.backwards);
    int frames = 0;
    for (; step() == 8; frames++)
        assert_true(frame_passes());
    assert_int_equal(frames, PLAY_FRAMES); /* it empties as slowly as it fills */
    assert_int_equal(step(), 7);
    int64_t wait = -1;
    int frame = a.s.look.frame;
    app_play_tick(&a, false, clock_now + 10000000000, &wait); /* what the frame shows is not there yet */
    assert_int_equal(a.s.look.frame, frame);
    mouse("Click", 5, 5);
    assert_false(a.s.look.playing);
    assert_int_equal(step(), 7);
}

/* i says a sentence, again what it is in general, a third time the sentence. */
static void saying_twice(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.1.attn.pattern");
    key("i");
    assert_int_equal(a.overlay.kind, OVERLAY_TEXT);
    assert_non_null(strstr(buf_str(&a.overlay.text), "\nLesson 3,")); /* that explains the node, on a line of its own */
    assert_true(a.said);
    key("i");
    assert_int_equal(a.overlay.kind, OVERLAY_TEXT);
    assert_false(a.said);
    key("Esc");
    assert_int_equal(a.overlay.kind, OVERLAY_NONE);
    key("i");
    assert_true(a.said);
    key("n"); /* something else was done */
    assert_false(a.said);
    static const struct {
        const char *line, *lesson;
    } CLAIMS[] = {{"view picture", "\nLesson 1,"},
                  {"goto blocks.1.attn.q", "\nLesson 5,"},
                  {"goto blocks.1.attn.pattern; view matrix", "\nLesson 3,"},
                  {"goto blocks.1.mlp.post", "\nLesson 10,"},
                  {"filters", "\nLesson 2,"}};
    for (size_t i = 0; i < sizeof CLAIMS / sizeof *CLAIMS; i++) {
        app_do(&a, CLAIMS[i].line);
        key("i");
        if (a.overlay.kind != OVERLAY_TEXT || !strstr(buf_str(&a.overlay.text), CLAIMS[i].lesson))
            fail_msg("%s: %s", CLAIMS[i].line, buf_str(&a.overlay.text));
        key("q");
    }
    app_do(&a, "heads"); /* a screen that speaks of itself: no word of the tensor behind it */
    keys("i i");
    assert_int_equal(strncmp(buf_str(&a.overlay.text), "heads, this screen: how far and how evenly", 42), 0);
    key("Esc");
}

/* A search in a list is closed by itself; the list stays, and its ends are a key away. */
static void a_search_in_a_list(void **state)
{
    (void)state;
    keys("? / h e a d");
    assert_int_equal(a.overlay.kind, OVERLAY_LIST);
    assert_true(a.overlay.filtering);
    key("Esc");
    assert_int_equal(a.overlay.kind, OVERLAY_LIST);
    assert_false(a.overlay.filtering || *a.overlay.filter);
    key("End"); /* to its last line and back, as the letters do outside a search */
    int last = a.overlay.chosen;
    keys("Home Down End");
    assert_true(last > 10 && a.overlay.chosen == last);
    key("g");
    assert_int_equal(a.overlay.chosen, 0);
    keys("G / g");
    assert_string_equal(a.overlay.filter, "g");
    key("Esc");
    key("Esc");
    assert_int_equal(a.overlay.kind, OVERLAY_NONE);
    keys("^P u n d o Down Up Enter"); /* everything there is, ready to be typed in; the footer's letters stay letters */
    says("there is nothing to undo");
    keys("^P s o f t m");
    assert_non_null(strstr(a.overlay.items[a.overlay.line[0]].text, "softmax")); /* what begins with it first */
    key("Esc");
    assert_int_equal(a.overlay.kind, OVERLAY_NONE);
    key("/"); /* to find a place is the search itself */
    key("Esc");
    assert_int_equal(a.overlay.kind, OVERLAY_NONE);
    assert_false(a.s.quit);
}

static void the_prompt(void **state)
{
    (void)state;
    TermEvent paste = {.kind = TERM_PASTE, .text = "goto 9"};
    app_event(&a, &paste);
    says("open it with :");
    key(":");
    assert_true(a.prompt.open);
    app_event(&a, &paste);
    assert_string_equal(a.prompt.text, "goto 9");
    key("Enter");
    assert_false(a.prompt.open);
    assert_int_equal(step(), 9);
    keys(": x Esc");
    assert_false(a.prompt.open);
    assert_int_equal(step(), 9);
    key(":");
    mouse("Click", 3, 3); /* a click beside it closes it and does nothing else */
    assert_false(a.prompt.open);
    assert_int_equal(step(), 9);
    keys(": n o n s e n s e Enter");
    assert_true(a.message_is_error);
    key("n");
    assert_false(a.message_is_error);
    app_do(&a, "prompt open \""); /* as the list of sentences does */
    assert_true(a.prompt.open);
    assert_string_equal(a.prompt.text, "open \"");
    key("Esc");
}

/* --- the mouse --- */

static Rect pane_box(bool steps)
{
    Frame f = app_frame(&a);
    for (int i = 0; i < f.count; i++)
        if (f.pane[i].steps == steps && (steps || f.pane[i].focus))
            return f.pane[i].inside;
    fail_msg("there is no such pane");
    return (Rect){0};
}

static void the_wheel(void **state)
{
    (void)state;
    draw();
    Rect map = pane_box(true);
    int at = step();
    mouse("WheelDown", map.y + 2, map.x + 2);
    assert_int_equal(step(), at + 1);
    mouse("WheelDown", map.y + 2, map.x + 2);
    mouse("WheelUp", map.y + 2, map.x + 2);
    assert_int_equal(step(), at + 1);
    mouse("RightClick", map.y + 2, map.x + 2);
    assert_int_equal(step(), at + 1);
    key("?");
    assert_int_equal(a.overlay.kind, OVERLAY_LIST);
    int here = a.overlay.chosen;
    mouse("WheelDown", 5, 5); /* in a list the wheel moves in it, not behind it */
    assert_true(a.overlay.chosen > here);
    mouse("WheelUp", 5, 5);
    assert_int_equal(a.overlay.chosen, here);
    assert_int_equal(step(), at + 1);
}

static void a_click(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.1.attn.pattern[h=0,t=r1c1,u=r1c1]; view matrix");
    draw();
    Rect r = pane_box(false);
    int t = session_role(&a.s, ROLE_QUERY), u = session_role(&a.s, ROLE_KEY), at = a.s.place.at[t],
        looked = a.s.place.at[u];
    Buf command = {0};
    Paint p = app_paint(&a);
    Frame f = app_frame(&a);
    int y = r.y, x = r.x; /* where there is something to click: then the click does it */
    for (int i = 0; i < r.h * r.w && (!command.len || strcmp(buf_str(&command), "in") == 0); i++) {
        y = r.y + i / r.w;
        x = r.x + i % r.w;
        buf_clear(&command);
        frame_click(&p, &f, y, x, &command);
    }
    assert_true(command.len > 0);
    buf_free(&command);
    mouse("RightClick", y, x);
    assert_true(a.s.place.at[t] == at && a.s.place.at[u] == looked);
    mouse("Click", y, x);
    assert_true(a.s.place.at[t] != at || a.s.place.at[u] != looked);
}

/* --- what commands ask of the terminal --- */

/* q closes what is nearest: the pane that fills the screen, the list of steps, the arithmetic, what was learned. */
static void closing(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.1.attn.pattern");
    Screen was = a.s.place.screen;
    keys("z q");
    assert_false(a.s.look.zoomed || a.s.quit);
    keys("m q");
    assert_false(a.s.look.steps_focused || a.s.quit);
    app_do(&a, "view formula");
    assert_int_equal(a.s.place.screen, SCREEN_EXPLAIN);
    key("q");
    assert_int_equal(a.s.place.screen, was);
    assert_false(a.s.quit);
    app_do(&a, "set scale off");
    assert_int_equal(a.s.compare, COMPARE_SIDES);
    key("q"); /* the panes of A and B; the change stays */
    assert_true(a.s.compare == COMPARE_OFF && a.s.edits.count == 1 && !a.s.quit);
    says("b shows A and B again");
    key("u");
    app_do(&a, "census");
    app_do(&a, "filters");
    app_do(&a, "heads");
    key("q"); /* leaves all of them at once */
    assert_int_equal(a.s.place.screen, was);
    assert_false(a.s.quit);
    key("q");
    assert_false(a.s.quit);
    says("q again leaves");
    key("Down"); /* something else: it is not again any more */
    key("q");
    assert_false(a.s.quit);
    key("q");
    assert_true(a.s.quit);
}

/* Panes side by side are for A, B and A − B; one side alone has one. */
static void one_side_or_all(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int panes;
    } WANT[] = {{"compare sides", 3}, {"compare a", 1}, {"compare b", 1}, {"compare diff", 1}, {"reset edits", 1}};
    canvas_resize(&a.canvas, 60, 200);
    app_do(&a, "set scale off; goto blocks.1.attn.pattern");
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        app_do(&a, WANT[i].line);
        Frame f = app_frame(&a);
        int panes = 0;
        for (int k = 0; k < f.count; k++)
            panes += f.pane[k].view == view_now(&a.s);
        if (panes != WANT[i].panes)
            fail_msg("%s: %d panes of the screen, not %d", WANT[i].line, panes, WANT[i].panes);
    }
}

/* Every list opens, and every line of it does what it says or tells why not. */
static void lists(void **state)
{
    (void)state;
    static const struct {
        const char *line, *has, *lacks;
    } WANT[] = {{"menu view", "menu learned", "census"},
                {"menu marks", "prompt mark ", "menu learned"},
                {"mark here; menu marks", "here\" go", "menu learned"},
                {"menu learned", "census", "menu learned"},
                {"menu open", "open ", "menu learned"},
                {"lessons", "lesson ", "menu learned"},
                {"help", "", NULL}};
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        bool has = false, lacks = true;
        app_do(&a, WANT[i].line);
        if (a.message_is_error || a.overlay.kind != OVERLAY_LIST)
            fail_msg("'%s' opens no list: %s", WANT[i].line, a.message);
        for (int k = 0; k < a.overlay.count; k++) {
            const char *command = a.overlay.items[k].command ? a.overlay.items[k].command : "";
            has |= strstr(command, WANT[i].has) != NULL;
            lacks &= !WANT[i].lacks || strcmp(command, WANT[i].lacks) != 0;
        }
        assert_true(has && lacks);
        key("Esc");
        assert_int_equal(a.overlay.kind, OVERLAY_NONE);
    }
}

static void describing_the_terminal(void **state)
{
    (void)state;
    app_do(&a, "term");
    assert_int_equal(a.overlay.kind, OVERLAY_TEXT);
    const char *text = buf_str(&a.overlay.text);
    assert_true(strstr(text, "256 colours (asked for)") && strstr(text, "Mouse: on") && strstr(text, "half blocks"));
    terminal.mouse = false;
    app_do(&a, "term");
    assert_non_null(strstr(buf_str(&a.overlay.text), "Mouse: off"));
    terminal.mouse = true;
}

/* Somebody new stands on the picture: from there s leads to where the scale tells most, and says how to go back. */
static void the_first_screen(void **state)
{
    (void)state;
    char line[48], first[32];
    key("s"); /* on another picture it is taken away where one is; where that shows is said */
    assert_string_equal(a.s.place.path, session_first(&a.s));
    says("Scores are no longer times 1/√d_k. It shows from step 9, scaled: 9G");
    key("u");
    app_do(&a, "skip mlp block=2"); /* of several changes the last is undone by its own key */
    int undo = a.s.undo_count;
    keys("9 G s s");
    assert_int_equal(a.s.undo_count, undo);
    key("u");
    assert_int_equal(a.s.edits.count, 0);
    key("g");
    snprintf(line, sizeof line, "open %s", scale_places_input(first, sizeof first));
    app_do(&a, line);
    draw();
    Buf screen = {0};
    export_text(&a.canvas, &screen);
    assert_non_null(strstr(buf_str(&screen), "walk (Space) or play it (.) · what does √d_k do (s) · lesson 0 (t)"));
    buf_free(&screen);
    key("s");
    assert_int_equal(a.s.place.screen, SCREEN_ROW);
    assert_string_equal(a.s.edits.line[0], "set scale off");
    assert_non_null(strstr(a.message, "1/√d_k"));
    says("r1c5 99.4 %"); /* the patch that gets it all */
    says("s undoes, ⌫ goes back");
    key("i");
    assert_non_null(strstr(buf_str(&a.overlay.text), "Lesson 6"));
    keys("q t"); /* where i says that t explains it, t does */
    assert_non_null(strstr(a.overlay.items[a.overlay.chosen].text, "about this change: 6. "));
    keys("q s");
    assert_int_equal(a.s.edits.count, 0);
    assert_int_equal(a.s.undo_count, 0); /* and u has nothing to offer */
    key("Backspace");
    assert_string_equal(a.s.place.path, session_first(&a.s));
}

/* The hint at the bottom goes when somebody has found the way. */
static void the_hint(void **state)
{
    (void)state;
    assert_true(a.hint);
    keys("n n");
    assert_true(a.hint);
    key("n");
    assert_false(a.hint);
    a.hint = true;
    a.steps_taken = a.commands_done = 0;
    for (int i = 0; i < 11; i++)
        key("c");
    assert_true(a.hint);
    key("c");
    assert_false(a.hint);
    app_do(&a, "model translator"); /* its rows are words, which need the line */
    a.hint = true;
    a.steps_taken = a.commands_done = 0;
    key("c");
    assert_true(a.hint);
    key("n");
    assert_false(a.hint);
}

static void the_end(void **state)
{
    (void)state;
    app_event(&a, &(TermEvent){.kind = TERM_NONE});
    assert_false(a.s.quit);
    app_event(&a, &(TermEvent){.kind = TERM_HANGUP});
    assert_true(a.s.quit);
    a.s.quit = false;
    app_event(&a, &(TermEvent){.kind = TERM_TERMINATE});
    assert_true(a.s.quit);
}

/* --- demonstrations and lessons --- */

static void demonstrations(void **state)
{
    (void)state;
    app_do(&a, "demo next");
    assert_true(a.message_is_error);
    app_do(&a, "demo 1");
    assert_true(a.stage.open && a.stage.at == 0);
    assert_true(strstr(a.message, "1/") || (a.overlay.kind == OVERLAY_TEXT && strstr(buf_str(&a.overlay.text), "1/")));
    int count = a.stage.script.count;
    assert_true(count > 3);
    if (a.overlay.kind != OVERLAY_NONE)
        key("Esc");
    key("Space"); /* goes on with what is open */
    assert_int_equal(a.stage.at, 1);
    app_do(&a, "demo notes");
    assert_int_equal(a.stage.at, 1);
    for (int i = 2; i < count; i++) {
        app_do(&a, "demo next");
        assert_int_equal(a.stage.at, i);
        assert_true(a.stage.open);
    }
    app_do(&a, "demo next");
    assert_false(a.stage.open);
    app_do(&a, "demo 1");
    app_do(&a, "demo close");
    assert_false(a.stage.open);
    app_do(&a, "demo");
    assert_int_equal(a.overlay.kind, OVERLAY_LIST);
    assert_true(a.overlay.count >= 3);
}

/* What is said of a ledger hides nothing of it: the river ends above it, and has its lines again when it goes. */
static void a_ledger_is_seen_with_its_why(void **state)
{
    (void)state;
    app_do(&a, "ledger");
    const Frame whole = app_frame(&a);
    app_do(&a, "why"); /* in one sentence, in the line of messages */
    assert_int_equal(a.overlay.kind, OVERLAY_NONE);
    app_do(&a, "why");
    const int below = overlay_below(&a.overlay, &a.canvas);
    Frame f = app_frame(&a);
    assert_int_equal(a.overlay.kind, OVERLAY_TEXT);
    assert_true(below >= 4 && below <= a.canvas.h / 3);
    for (int k = 0; k < f.count; k++)
        assert_true(f.pane[k].box.y + f.pane[k].box.h + f.answer.h <= a.canvas.h - below);
    assert_true(f.pane[0].box.h < whole.pane[0].box.h);
    key("Esc");
    assert_int_equal(overlay_below(&a.overlay, &a.canvas), 0);
    f = app_frame(&a);
    assert_int_equal(f.pane[0].box.h, whole.pane[0].box.h);
}

/* A demonstration's caption hides nothing: the panes end above it, and come back when it goes. */
static void a_caption_hides_no_pane(void **state)
{
    (void)state;
    int boxes = 0;
    app_do(&a, "demo 1");
    for (int i = 0; a.stage.open && i < 12; i++) {
        int below = overlay_below(&a.overlay, &a.canvas);
        Frame f = app_frame(&a);
        assert_int_equal(below > 0, a.overlay.kind == OVERLAY_TEXT);
        for (int k = 0; k < f.count; k++)
            assert_true(f.pane[k].box.y + f.pane[k].box.h + f.answer.h <= a.canvas.h - below);
        boxes += below > 0;
        app_do(&a, "demo next");
    }
    assert_true(boxes >= 3);
    if (a.overlay.kind != OVERLAY_NONE)
        key("Esc");
    Frame f = app_frame(&a);
    assert_int_equal(f.answer.y + f.answer.h + f.footer.h, a.canvas.h);
}

static void a_lesson(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.2.mlp.post[t=r1c2,m=7]; set scale off; view numbers");
    Buf before = {0}, after = {0};
    session_write(&a.s, STATE_INPUT, &before);
    app_do(&a, "lesson 5");
    assert_true(a.desk.open && !a.hint);
    key("Space");
    key("Space");
    int card = a.desk.player.card;
    assert_true(card >= 1);
    key("Backspace");
    assert_int_equal(a.desk.player.card, card - 1);
    Rect beside, screen;
    desk_layout(&a.desk, a.canvas.h, a.canvas.w, &beside, &screen);
    assert_true(beside.w > 0 && screen.w > 0 && beside.w + screen.w <= a.canvas.w);
    canvas_resize(&a.canvas, 16, 72); /* where the card makes room: Space has one meaning, and a click is that key */
    a.desk.front = false;
    draw();
    Buf narrow = {0};
    export_text(&a.canvas, &narrow);
    assert_non_null(strstr(buf_str(&narrow), "⌫ card before"));
    assert_null(strstr(buf_str(&narrow), "Space next  "));
    buf_free(&narrow);
    for (int i = 0; i < 4 && a.desk.player.card != card; i++) { /* past the card's pauses */
        a.desk.front = false;
        mouse("Click", 15, 3);
    }
    assert_int_equal(a.desk.player.card, card);
    canvas_resize(&a.canvas, 40, 120);
    key("Backspace");
    const int last = a.desk.player.lesson.count - 1;
    for (int i = 0; i < LESSON_CARDS && a.desk.player.card < last;
         i++) { /* each is drawn, and behind every pause too */
        canvas_clear(&a.canvas);
        desk_draw(&a.desk, &a.canvas, beside);
        int drawn = 0;
        for (int y = beside.y; y < beside.y + beside.h; y++)
            drawn += canvas_at(&a.canvas, y, beside.x + 3)->ch > ' ';
        assert_true(drawn > 2);
        app_event(&a, &(TermEvent){.kind = TERM_KEY, .key = "PgDn"});
    }
    assert_int_equal(a.desk.player.card, last);
    while (a.desk.player.card > card - 1)
        key("PgUp");
    key("Space");
    key("?"); /* a word of the card: q closes that */
    assert_true(a.desk.term >= 0);
    key("q");
    assert_true(a.desk.open && a.desk.term < 0);
    key("q"); /* the reader's own place and edits come back, whatever the lesson did */
    assert_false(a.desk.open || a.s.quit);
    says("Back where you were");
    session_write(&a.s, STATE_INPUT, &after);
    assert_string_equal(buf_str(&after), buf_str(&before));
    LessonProgress p = progress_load("05-query-key-value.md");
    assert_int_equal(p.card, card);
    app_do(&a, "lesson 5"); /* at the card where it was left */
    assert_int_equal(a.desk.player.card, card);
    a.for_lesson = true; /* as `vitrine lesson 5` opens it: one q closes the lesson, the next one leaves */
    key("q");
    assert_false(a.desk.open || a.s.quit || a.for_lesson);
    says("q again leaves");
    key("q");
    assert_true(a.s.quit);
    a.s.quit = false;
    app_do(&a, "lesson 5");
    app_do(&a, "lesson close");
    app_do(&a, "answer 1");
    assert_true(a.message_is_error);
    says("no lesson is open");
    buf_free(&before);
    buf_free(&after);
}

/* At 80 × 24 the card is below the screen that it speaks of, page by page, and the cell it points at is drawn. */
static void card_and_screen_at_once(void **state)
{
    (void)state;
    char which[12];
    Rect card, screen;
    canvas_resize(&a.canvas, 24, 80);
    LessonFile file;
    for (int number = 0; lesson_by_number(number, &file); number++) {
        Err err = {{0}};
        snprintf(which, sizeof which, "%d", number);
        if (!desk_open(&a.desk, &a.s, which, &err))
            fail_msg("%s", err.text);
        for (int i = 0; i < a.desk.player.lesson.count; i++) {
            if (!player_through(&a.desk.player, i, &err))
                fail_msg("%s", err.text);
            desk_layout(&a.desk, 24, 80, &card, &screen);
            if (!desk_has_screen(&a.desk))
                continue;
            assert_true(card.h == 8 && card.w == 80 && screen.h == 16 && card.y == 16);
            draw();
            if (a.canvas.cursor_y < 0 || a.canvas.cursor_y >= screen.h)
                fail_msg("lesson %d, card %d: the cell it points at is not drawn (%s)", number, i + 1, a.s.place.path);
        }
        session_trim(&a.s);
    }
    app_do(&a, "lesson close; lesson 6");
    desk_go(&a.desk, 0); /* its first page says what the lesson is for */
    assert_int_equal(a.desk.first, 0);
    key("Space");
    assert_true(a.desk.player.card == 0 && a.desk.first > 0);
    key("Backspace");
    assert_true(a.desk.player.card == 0 && a.desk.first == 0);
    keys("Backspace p"); /* there is none before: one stays */
    assert_true(a.desk.player.card == 0 && a.desk.first == 0);
    desk_go(&a.desk, 3);
    assert_true(desk_restart(&a.desk) && a.desk.player.card == 0); /* --fresh */
}

/* A change of the viewer's does not make the next step's words untrue: it is undone, and that is said; what the step
 * undoes is its own. */
static void a_demonstration_has_its_own_state(void **state)
{
    (void)state;
    for (int changed = 0; changed < 2; changed++) {
        static char lines[12][400];
        app_do(&a, "demo 4");
        assert_true(a.overlay.kind != OVERLAY_TEXT || a.overlay.goes_on);
        for (int i = 1; i < a.stage.script.count; i++) {
            Buf now = {0};
            if (changed)
                app_do(&a, i % 2 ? "set scale x0.3" : "reset edits; open #3");
            app_do(&a, "demo next");
            assert_int_equal(a.stage.at, i);
            for (int k = 0; k < a.s.edits.count; k++)
                buf_printf(&now, "%s\n", a.s.edits.line[k]);
            buf_printf(&now, "%s", a.s.now->input.path);
            if (!changed)
                snprintf(lines[i], sizeof lines[i], "%s", buf_str(&now));
            else if (strcmp(lines[i], buf_str(&now)) != 0)
                fail_msg("step %d: '%s', not '%s'", i + 1, buf_str(&now), lines[i]);
            const char *said = a.overlay.kind == OVERLAY_TEXT ? buf_str(&a.overlay.text) : a.message;
            assert_true((strstr(said, "Your change is undone. ") != NULL) == changed);
            buf_free(&now);
        }
        app_do(&a, "demo close");
    }
}

/* Digits go to the lesson of that number, and one that begins another number goes on to it. */
static void digits_choose_a_lesson(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *command;
    } CASES[] = {{"8", "lesson 8"}, {"1 2", "lesson 12"}, {"9 9", "lesson 9"}, {"1 2 Down 3", "lesson 3"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Buf command = {0};
        app_do(&a, "lessons");
        keys(CASES[i].typed);
        assert_int_equal(overlay_key(&a.overlay, "Enter", &command), OVERLAY_RUN);
        assert_string_equal(buf_str(&command), CASES[i].command);
        buf_free(&command);
    }
}

/* A prediction is asked for before Space shows what comes; n skips it, which is kept; then the card that settles it has
 * the explanation of the answer that was given. */
static void a_prediction_comes_first(void **state)
{
    (void)state;
    Buf said = {0};
    canvas_resize(&a.canvas, 24, 80);
    app_do(&a, "lesson 6");
    Player *p = &a.desk.player;
    const Question *q = p->lesson.cards[7].question;
    assert_true(q->predict && desk_go(&a.desk, 7));
    keys("Space Space Space");
    assert_true(p->card == 7 && player_awaits(p) && a.desk.said.len);
    key("n");
    assert_true(p->card == 8 && p->answers[7].skipped && player_prediction(p, &said, NULL));
    assert_true(strncmp(buf_str(&said), "It is: ", 7) == 0);
    app_do(&a, "lesson close; lesson 6");
    assert_true(p->card == 8 && p->answers[7].skipped);
    key("Backspace");
    q = p->lesson.cards[7].question;
    int wrong = q->choices[0].right ? 1 : 0;
    key((const char[]){(char)('1' + wrong), 0}); /* what is asked is on the next page: there first */
    assert_true(p->card == 7 && !p->answers[7].given);
    key((const char[]){(char)('1' + wrong), 0});
    keys("Space");
    assert_int_equal(p->card, 8);
    buf_clear(&said);
    assert_true(player_prediction(p, &said, NULL));
    assert_true(strstr(buf_str(&said), "Not so. ") && strstr(buf_str(&said), q->choices[wrong].why));
    desk_go(&a.desk, p->lesson.count - 1);
    for (int i = 0; i < 8 && !a.desk.ended; i++) /* what was not right is named at the end */
        key("n");
    assert_true(strstr(buf_str(&a.desk.said), "To look at again, cards: ") && strstr(buf_str(&a.desk.said), "8"));
    key("Space"); /* and the next lesson is one key away */
    assert_true(p->lesson.number == 7 && p->card == 0);
    buf_free(&said);
}

/* What a card asks is answered before a pause of it shows the answer: every such card, in every lesson. */
static void no_pause_gives_an_answer_away(void **state)
{
    (void)state;
    LessonFile f;
    int cards = 0;
    canvas_resize(&a.canvas, 24, 80);
    for (int i = 0; lesson_at(i, &f) && f.number >= 0; i++) {
        char line[32];
        snprintf(line, sizeof line, "lesson %d", f.number);
        app_do(&a, line);
        Player *p = &a.desk.player;
        for (int k = 0; k < p->lesson.count; k++) {
            const Question *q = p->lesson.cards[k].question;
            if (!q || q->predict || (q->kind != QUESTION_CHOICE && q->kind != QUESTION_NUMBER))
                continue;
            desk_go(&a.desk, k);
            canvas_resize(&a.canvas, 24, 80); /* progress asks the terminal, which is none here, for its size */
            if (!player_waits(p))
                continue;
            keys("Space Space Space Space Space");
            assert_true(p->card == k && p->pause == 0 && player_awaits(p) && strstr(buf_str(&a.desk.said), "n skips"));
            key("n");
            assert_true(p->card == k && p->pause == 1 && p->answers[k].skipped);
            cards++;
        }
    }
    assert_true(cards >= 12);
}

/* The card as it stands below the screen at 80 x 24, its lines one after the other. */
static void put_card_drawn(Buf *out)
{
    Rect card, screen;
    Buf text = {0};
    buf_clear(out);
    canvas_clear(&a.canvas);
    desk_layout(&a.desk, 24, 80, &card, &screen);
    desk_draw(&a.desk, &a.canvas, card);
    export_text(&a.canvas, &text);
    for (const char *p = buf_str(&text); *p; p++) /* one blank for all that there are */
        if ((*p != ' ' && *p != '\n') || (out->len && out->data[out->len - 1] != ' '))
            buf_putc(out, *p == '\n' ? ' ' : *p);
    buf_free(&text);
}

/* Beside a card there is room for one line of a sentence: the one whose word is in focus. */
static void a_card_about_a_written_word_shows_it(void **state)
{
    (void)state;
    Buf text = {0};
    app_do(&a, "lesson 18");
    for (int k = 0; k < a.desk.player.lesson.count; k++) {
        desk_go(&a.desk, k);
        canvas_resize(&a.canvas, 24, 80);
        if (session_node(&a.s, SIDE_B, "probs") < 0 || strcmp(a.s.place.path, "probs") != 0)
            continue;
        draw();
        buf_clear(&text);
        export_text(&a.canvas, &text);
        if (!strstr(buf_str(&text), "writes") || strstr(buf_str(&text), " reads "))
            fail_msg("card %d shows '%s'", k + 1, buf_str(&text));
        buf_puts(&text, "seen");
    }
    assert_true(text.len > 0);
    buf_free(&text);
}

/* A try that is not what a card asks for is answered by what was found, on the card, below the hint if there was one;
 * the card's own screen is no try, the solution is right, and Space does not pass an untried task. */
static void a_wrong_try_is_answered(void **state)
{
    (void)state;
    static const char *const MOVES[] = {"Down", "Right", "Left", "Up"};
    LessonFile f;
    Buf card = {0};
    int places = 0, changes = 0;
    canvas_resize(&a.canvas, 24, 80);
    for (int i = 0; lesson_at(i, &f) && f.number >= 0; i++) {
        char line[32];
        snprintf(line, sizeof line, "lesson %d", f.number);
        app_do(&a, line);
        const Player *p = &a.desk.player;
        for (int k = 0; k < p->lesson.count; k++) {
            const Question *q = p->lesson.cards[k].question;
            if (!q || (q->kind != QUESTION_PLACE && q->kind != QUESTION_CHANGE))
                continue;
            desk_go(&a.desk, k);
            canvas_resize(&a.canvas, 24, 80);
            app_do(&a, "say cell");
            assert_false(strstr(buf_str(&a.desk.said), "Not yet"));
            keys("Space Space Space Space Space");
            assert_true(p->card == k && strstr(buf_str(&a.desk.said), "n skips the task"));
            if (q->kind == QUESTION_CHANGE)
                app_do(&a, "set scale x1.01");
            for (int m = 0; q->kind == QUESTION_PLACE && m < 4 && !strstr(buf_str(&a.desk.said), "Not yet"); m++)
                key(MOVES[m]);
            const char *said = buf_str(&a.desk.said);
            if (strncmp(said, "Not yet: ", 9) != 0 || !said[strcspn(said, "0123456789")])
                fail_msg("lesson %d, card %d says '%s' of a wrong try", f.number, k + 1, said);
            put_card_drawn(&card);
            if (!strstr(buf_str(&card), said))
                fail_msg("lesson %d, card %d: '%s' is not whole in '%s'", f.number, k + 1, said, buf_str(&card));
            if (p->lesson.cards[k].hints.count) {
                app_do(&a, "hint");
                if (q->kind == QUESTION_CHANGE)
                    app_do(&a, "undo");
                for (int m = 3; q->kind == QUESTION_PLACE && m >= 0 && !strstr(buf_str(&a.desk.said), "Not yet"); m--)
                    key(MOVES[m]);
                assert_true(strstr(buf_str(&a.desk.said), "Hint: ") && strstr(buf_str(&a.desk.said), " Not yet"));
            }
            app_do(&a, q->solution);
            assert_true(a.desk.right && strncmp(buf_str(&a.desk.said), "Right. Done. ", 13) == 0);
            places += q->kind == QUESTION_PLACE;
            changes += q->kind == QUESTION_CHANGE;
        }
    }
    assert_true(places >= 10 && changes >= 8);
    buf_free(&card);
}

/* ? explains a card's words one after the other, each where it is seen, whatever page it is on. */
static void every_word_is_explained_in_sight(void **state)
{
    (void)state;
    int words = 0;
    canvas_resize(&a.canvas, 24, 80);
    for (int number = 5; number < 8; number++) {
        char line[32];
        snprintf(line, sizeof line, "lesson %d", number);
        app_do(&a, line);
        for (int k = 0; k < a.desk.player.lesson.count; k++) {
            desk_go(&a.desk, k);
            for (key("?"); a.desk.term >= 0; key("?"), words++) {
                char begins[16];
                Buf screen = {0};
                Rect card, screen_rect;
                snprintf(begins, sizeof begins, "%.12s", buf_str(&a.desk.said));
                canvas_clear(&a.canvas);
                desk_layout(&a.desk, 24, 80, &card, &screen_rect);
                desk_draw(&a.desk, &a.canvas, card);
                export_text(&a.canvas, &screen);
                if (!strstr(buf_str(&screen), begins))
                    fail_msg("lesson %d, card %d: %s", number, k + 1, buf_str(&a.desk.said));
                buf_free(&screen);
            }
            key("q"); /* the list of keys behind the last word */
        }
    }
    assert_true(words > 100);
}

/* A file of the reader's is a lesson too; how far one is in it is not kept, and a bad one leaves open what is open. */
static void a_lesson_of_ones_own(void **state)
{
    (void)state;
    char path[96], line[128];
    Err err;
    snprintf(path, sizeof path, "%s/own.md", folder);
    snprintf(line, sizeof line, "lesson %s", path);
    static const char SOUND[] = "# Mine\n\nOf my own.\n\n## One\n\nRead.\n\n## Two\n\nLook.\n";
    assert_true(file_write(path, SOUND, sizeof SOUND - 1, &err));
    app_do(&a, line);
    if (!a.desk.open)
        fail_msg("%s", a.message);
    assert_string_equal(a.desk.player.lesson.title, "Mine");
    key("Space");
    assert_int_equal(a.desk.player.card, 1);
    app_do(&a, "present"); /* in the hall it goes on where it is */
    assert_true(a.presenter.deck.open && !a.desk.open && a.presenter.deck.at == 2);
    keys("q q");
    app_do(&a, line);
    assert_int_equal(a.desk.player.card, 0);
    key("Space");
    app_do(&a, "lesson 6");
    app_do(&a, line);
    assert_int_equal(a.desk.player.card, 0);
    static const char BAD[] = "# Mine\n\n```vitrine\nminuets 4\n```\n";
    assert_true(file_write(path, BAD, sizeof BAD - 1, &err));
    app_do(&a, line);
    assert_true(a.message_is_error && a.desk.open);
    says("own.md:4");
    says("minuets");
    unsigned outside = a.s.permit;
    a.s.permit = LINE_FOREIGN; /* nor does another's line open a file */
    assert_false(desk_open(&a.desk, &a.s, path, &err));
    a.s.permit = outside;
    key("q");
    char *last = state_load_file("lesson"), *far = state_load_file("lessons");
    assert_true(last && strstr(last, "06-") && far && !strstr(far, "own.md"));
    free(last);
    free(far);
    unlink(path);
    Buf offered = {0}; /* Tab offers texts, no sources */
    command_complete(&a.s, &a.commands, "present lessons/", &offered);
    assert_true(strstr(buf_str(&offered), "lessons/05-query-key-value.md\n") && !strstr(buf_str(&offered), ".c\n"));
    buf_free(&offered);
}

/* Right is marked as right and wrong as wrong; a prediction as neither: what comes decides. And the list of lessons
 * offers the one that was begun. */
static void answers_to_a_lesson(void **state)
{
    (void)state;
    char number[16];
    bool asked[2] = {false, false};
    app_do(&a, "lesson 4");
    for (int card = 0; card < a.desk.player.lesson.count; card++) {
        const Question *q = a.desk.player.lesson.cards[card].question;
        if (!q || q->kind != QUESTION_CHOICE)
            continue;
        assert_true(desk_go(&a.desk, card));
        asked[q->predict] = true;
        for (int i = q->count; i > 0; i--) {
            bool right = q->choices[i - 1].right;
            snprintf(number, sizeof number, "%d", i);
            assert_true(desk_answer(&a.desk, number, &(Err){{0}}));
            assert_int_equal(a.desk.right, right && !q->predict);
            assert_int_equal(a.desk.wrong, !right && !q->predict);
        }
    }
    assert_true(asked[0] && asked[1]);
    desk_go(&a.desk, 2);
    app_do(&a, "lesson close; lessons");
    int offers = 0;
    for (int i = 0; i < a.overlay.count; i++)
        offers += strstr(a.overlay.items[i].text, "go on: ") != NULL;
    assert_int_equal(offers, 1);
}

/* What was answered wrong about a misconception comes back once, before the lesson two further on; corrected, it was
 * wrong all the same. */
static void a_question_comes_back(void **state)
{
    (void)state;
    const Player *p = &a.desk.player;
    int card = 0;
    remove_file("vitrine/lessons");
    app_do(&a, "lesson 3");
    while (!p->lesson.cards[card].again)
        card++;
    const Question *q = p->lesson.cards[card].question;
    int right = 0;
    while (!q->choices[right].right)
        right++;
    desk_go(&a.desk, card);
    key((const char[]){(char)('1' + (right == 0)), 0});
    key((const char[]){(char)('1' + right), 0});
    app_do(&a, "lesson 5"); /* from the open lesson */
    assert_true(p->lesson.number == 3 && p->card == card && !p->answers[card].given);
    assert_non_null(strstr(buf_str(&a.desk.said), "Once more, from lesson 3"));
    keys("Backspace Space Space Space");
    assert_true(p->lesson.number == 3 && p->card == card); /* nothing else of that lesson; and it waits for an answer */
    key((const char[]){(char)('1' + right), 0});
    assert_true(strncmp(buf_str(&a.desk.said), "Right. ", 7) == 0); /* explained at once */
    key("Space");
    assert_true(p->lesson.number == 5 && p->card == 0);
    app_do(&a, "lesson close; lesson 5");
    assert_true(p->lesson.number == 5);
    assert_false(progress_load("03-a-weighted-average.md").answers[card] == '-'); /* its own record stays */
    app_do(&a, "lesson close");
    remove_file("vitrine/lessons");
    app_do(&a, "lesson 3");
    q = p->lesson.cards[card].question;
    for (right = 0; !q->choices[right].right;)
        right++;
    desk_go(&a.desk, card);
    key((const char[]){(char)('1' + (right == 0)), 0});
    app_do(&a, "lesson 5"); /* left at that question: 5 is what comes next */
    assert_true(p->lesson.number == 3 && *a.desk.then);
    app_do(&a, "lesson close; lessons");
    if (strncmp(a.overlay.items[0].text, "next: 5. ", 9) != 0)
        fail_msg("the list begins with '%s'", a.overlay.items[0].text);
    remove_file("vitrine/lessons");
}

/* Of a node that a task does not ask for nothing is said; of the same one in another block it is. */
static void a_task_is_tried_where_it_is_asked(void **state)
{
    (void)state;
    static const struct {
        int lesson;
        const char *elsewhere, *here;
    } CASES[] = {{0, "goto readout[0]", "goto logits[o=0]"},
                 {24, "goto blocks.1.attn.pattern[h=1,t=5,u=6]", "goto blocks.2.alike.cosine[p=3,p1=4]"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char line[32];
        snprintf(line, sizeof line, "lesson %d", CASES[i].lesson);
        app_do(&a, line);
        const Player *p = &a.desk.player;
        int k = 0;
        while (!p->lesson.cards[k].question || p->lesson.cards[k].question->kind != QUESTION_PLACE)
            k++;
        desk_go(&a.desk, k);
        app_do(&a, CASES[i].elsewhere);
        assert_false(a.message_is_error);
        if (strstr(buf_str(&a.desk.said), "Not yet"))
            fail_msg("%s: %s", CASES[i].elsewhere, buf_str(&a.desk.said));
        app_do(&a, CASES[i].here);
        assert_false(a.message_is_error);
        if (!strstr(buf_str(&a.desk.said), "Not yet") && !p->answers[k].right)
            fail_msg("%s: nothing is said", CASES[i].here);
    }
}

static int asked_meanwhile;

static bool draws_meanwhile(void *context)
{
    App *at = context;
    assert_true(!at->desk.open || player_card(&at->desk.player));
    at->work_since = at->last_report = 0; /* long ago */
    asked_meanwhile++;
    return app_stops(at);
}

/* What takes long is drawn while it goes on: reading one's own model back when a lesson is left. */
static void a_lesson_is_drawn_with_its_card_or_not(void **state)
{
    (void)state;
    app_do(&a, "model translator");
    app_do(&a, "lesson 30");
    assert_string_equal(a.s.model_path, "photos");
    asked_meanwhile = 0;
    a.doing = "leave";
    stop_listen(draws_meanwhile, &a);
    desk_close(&a.desk, &a.s);
    stop_listen(NULL, NULL);
    assert_true(asked_meanwhile > 0);
    assert_string_equal(a.s.model_path, "translator");
}

/* A lesson's examples read the weights of the model, so no other is opened below it, however it came: alone, presented
 * in place of another, left for a moment. */
static void one_lesson_has_the_model(void **state)
{
    (void)state;
    app_do(&a, "goto blocks.2.mlp.post[t=r1c2,m=7]; set scale off; view numbers");
    Buf before = {0}, after = {0};
    session_write(&a.s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &before);
    app_do(&a, "lesson 5");
    app_do(&a, "present 6");
    assert_true(a.presenter.deck.open && !a.desk.open);
    assert_int_equal(a.s.model_uses, 1);
    app_do(&a, "present 17"); /* it speaks of the translator */
    assert_int_equal(a.s.model_uses, 1);
    assert_string_equal(a.s.model_path, "translator");
    app_do(&a, "present no-such-lesson");
    assert_true(a.message_is_error && a.presenter.deck.open);
    keys("Space Space Space");
    app_do(&a, "present off");
    app_do(&a, "lesson 5");
    assert_true(a.message_is_error && !a.desk.open);
    says("that is presented");
    app_do(&a, "model bundled");
    assert_true(a.message_is_error);
    app_do(&a, "present 6; present off; open #5; present on");
    keys("Space Space p Space Space");
    assert_int_equal(a.s.model_uses, 1);
    keys("q q");
    assert_true(!a.presenter.deck.open && !a.s.quit);
    assert_int_equal(a.s.model_uses, 0);
    session_write(&a.s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &after);
    assert_string_equal(buf_str(&after), buf_str(&before));
    buf_free(&before);
    buf_free(&after);
}

/* A question about the model while a worked example is on show is settled by the model. */
static void questions_behind_an_example(void **state)
{
    (void)state;
    app_do(&a, "present 4");
    for (int i = 0; i < 40 && a.s.now->model; i++)
        app_do(&a, "present next");
    assert_null(a.s.now->model);
    app_do(&a, "ask \"Which head looks least far?\" 0 1 2 3 least=blocks.0.attn.probe.distance[h=$]");
    assert_true(a.question.open);
    assert_true(app_reveal(&a));
    assert_int_equal(a.question.quiz.right, 1);
    assert_null(a.s.now->model); /* which is still there */
    app_do(&a, "ask \"Which?\" 0 1 least=blocks.0.attn.probe.distances[h=$]");
    says("there is no node");
    a.question = (Rollcall){.mine = -1};
    app_do(&a, "present off");
}

/* --- what is remembered --- */

static void progress_lines(void **state)
{
    (void)state;
    LessonProgress p = {.name = "one", .card = 2, .cards = 3, .seed = 7, .answers = "-rw"},
                   q = {.name = "two", .card = 0, .cards = 2, .seed = 8, .answers = "1-"};
    progress_save(&p);
    progress_save(&q);
    LessonProgress back = progress_load("one");
    assert_true(back.card == 2 && back.cards == 3 && back.seed == 7 && strcmp(back.answers, "-rw") == 0);
    p.card = 1;
    progress_save(&p); /* a line for each lesson, not one for each time */
    char *text = state_load_file("lessons");
    assert_non_null(strstr(text, "one 1 3 7 -rw\n"));
    assert_non_null(strstr(text, "two 0 2 8 1-\n"));
    assert_null(strstr(text, "one 2"));
    free(text);
    assert_int_equal(progress_load("three").cards, 0);
    /* lines that nobody wrote are passed over */
    state_save_file("lessons", "one 3 3 7 -rw\none -1 3 7 -rw\none 1 2 7 -rw\none 1 0 7 -\nnonsense\ntwo 1 2 9 1-");
    assert_int_equal(progress_load("one").cards, 0);
    back = progress_load("two"); /* the last line has no end */
    assert_true(back.card == 1 && back.seed == 9);
    remove_file("vitrine/lessons");
}

/* The state file word for word, and the way back from it. */
static void the_state_file(void **state)
{
    (void)state;
    app_do(&a, "set scale off; compare diff; colours viridis; goto blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3]; view "
               "matrix");
    state_save(&a.s);
    char *text = state_load();
    assert_non_null(text);
    assert_string_equal(text, "\t#17\nset scale off\ncompare diff\noption colours viridis\n"
                              "place blocks.1.attn.pattern[h=2,t=r3c4,u=r4c3] screen=matrix\n");
    Buf written = {0}, again = {0};
    session_write(&a.s, 0, &written);
    assert_string_equal(strchr(text, '\n') + 1, buf_str(&written));
    free(text);
    stop(NULL);
    start(NULL);
    assert_true(state_resume(&a.s, &a.commands));
    session_write(&a.s, 0, &again);
    assert_string_equal(buf_str(&again), buf_str(&written));
    app_do(&a, "open #3"); /* of another picture it is not the place */
    assert_false(state_resume(&a.s, &a.commands));
    app_do(&a, "goto blocks.2.mlp.post");
    state_save(&a.s); /* every input has its own */
    app_do(&a, "open #17; goto first");
    assert_true(state_resume(&a.s, &a.commands));
    assert_string_equal(a.s.place.path, "blocks.1.attn.pattern");
    app_do(&a, "reset edits; goto last");
    state_save(&a.s);
    app_do(&a, "open #3; goto first");
    assert_true(state_resume(&a.s, &a.commands));
    assert_string_equal(a.s.place.path, "blocks.2.mlp.post");
    state_save_file("last", "nonsense");
    assert_false(state_resume(&a.s, &a.commands));
    buf_free(&written);
    buf_free(&again);
}

static void small_files(void **state)
{
    (void)state;
    state_save_file("note", "text\n");
    char *text = state_load_file("note"), path[96];
    assert_string_equal(text, "text\n");
    free(text);
    snprintf(path, sizeof path, "%s/vitrine/note", folder);
    assert_true(file_exists(path));
    assert_null(state_load_file("nothing"));
    setenv("XDG_STATE_HOME", "relative", 1); /* the rule says: to be ignored */
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    unsetenv("HOME");
    assert_null(state_load_file("note"));
    state_save_file("note", "nowhere");
    if (home)
        setenv("HOME", home, 1);
    free(home);
    setenv("XDG_STATE_HOME", folder, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts, start, stop),
        cmocka_unit_test_setup_teardown(digits_tell_what_comes, start, stop),
        cmocka_unit_test_setup_teardown(presented_film, start, stop),
        cmocka_unit_test_setup_teardown(y_copies, start, stop),
        cmocka_unit_test_setup_teardown(keys_without_meaning, start, stop),
        cmocka_unit_test_setup_teardown(a_pass_is_stopped, start, stop),
        cmocka_unit_test_setup_teardown(a_search_is_stopped, start, stop),
        cmocka_unit_test_setup_teardown(the_film, start, stop),
        cmocka_unit_test_setup_teardown(a_step_of_the_film, start, stop),
        cmocka_unit_test_setup_teardown(a_film_fills_row_by_row, start, stop),
        cmocka_unit_test_setup_teardown(both_sides_of_the_film, start, stop),
        cmocka_unit_test_setup_teardown(other_films, start, stop),
        cmocka_unit_test_setup_teardown(keys_of_the_film, start, stop),
        cmocka_unit_test_setup_teardown(saying_twice, start, stop),
        cmocka_unit_test_setup_teardown(a_search_in_a_list, start, stop),
        cmocka_unit_test_setup_teardown(the_prompt, start, stop),
        cmocka_unit_test_setup_teardown(the_wheel, start, stop),
        cmocka_unit_test_setup_teardown(a_click, start, stop),
        cmocka_unit_test_setup_teardown(closing, start, stop),
        cmocka_unit_test_setup_teardown(one_side_or_all, start, stop),
        cmocka_unit_test_setup_teardown(lists, start, stop),
        cmocka_unit_test_setup_teardown(describing_the_terminal, start, stop),
        cmocka_unit_test_setup_teardown(the_first_screen, start, stop),
        cmocka_unit_test_setup_teardown(the_hint, start, stop),
        cmocka_unit_test_setup_teardown(the_end, start, stop),
        cmocka_unit_test_setup_teardown(demonstrations, start, stop),
        cmocka_unit_test_setup_teardown(a_ledger_is_seen_with_its_why, start, stop),
        cmocka_unit_test_setup_teardown(a_caption_hides_no_pane, start, stop),
        cmocka_unit_test_setup_teardown(a_demonstration_has_its_own_state, start, stop),
        cmocka_unit_test_setup_teardown(digits_choose_a_lesson, start, stop),
        cmocka_unit_test_setup_teardown(a_task_is_tried_where_it_is_asked, start, stop),
        cmocka_unit_test_setup_teardown(a_lesson, start, stop),
        cmocka_unit_test_setup_teardown(card_and_screen_at_once, start, stop),
        cmocka_unit_test_setup_teardown(a_prediction_comes_first, start, stop),
        cmocka_unit_test_setup_teardown(no_pause_gives_an_answer_away, start, stop),
        cmocka_unit_test_setup_teardown(a_wrong_try_is_answered, start, stop),
        cmocka_unit_test_setup_teardown(a_card_about_a_written_word_shows_it, start, stop),
        cmocka_unit_test_setup_teardown(every_word_is_explained_in_sight, start, stop),
        cmocka_unit_test_setup_teardown(a_lesson_of_ones_own, start, stop),
        cmocka_unit_test_setup_teardown(answers_to_a_lesson, start, stop),
        cmocka_unit_test_setup_teardown(a_question_comes_back, start, stop),
        cmocka_unit_test_setup_teardown(a_lesson_is_drawn_with_its_card_or_not, start, stop),
        cmocka_unit_test_setup_teardown(one_lesson_has_the_model, start, stop),
        cmocka_unit_test_setup_teardown(questions_behind_an_example, start, stop),
        cmocka_unit_test(progress_lines),
        cmocka_unit_test_setup_teardown(the_state_file, start, stop),
        cmocka_unit_test(small_files),
    };
    return cmocka_run_group_tests_name("app", tests, start_all, stop_all);
}
