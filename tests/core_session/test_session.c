/* The session through its commands, as a reader would use it: steps, places, edits with undo, comparing, addresses and
 * their errors. */
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
#include "core/base/rng.h"
#include "core/session/address.h"
#include "core/session/ask/ledgers.h"
#include "core/session/command.h"

static Session s;
static Commands all;

static int start(void **state)
{
    (void)state;
    Err err = {{0}};
    commands_free(&all);
    all = session_command_set();
    if (!session_init(&s, NULL, NULL, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    session_free(&s);
    return 0;
}

static void run(const char *line)
{
    Err err = {{0}};
    if (!command_do(&s, &all, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
}

static void refuse(const char *line, const char *part)
{
    Err err = {{0}};
    if (command_do(&s, &all, line, LINE_OWN, &err))
        fail_msg("%s was accepted", line);
    if (!strstr(err.text, part))
        fail_msg("%s: expected '%s' in: %s", line, part, err.text);
}

static uint64_t hash(Side side)
{
    uint64_t h = 0;
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    assert_true(session_hash(&s, side, &h));
    return h;
}

static int step(void)
{
    int total;
    return session_step_number(&s, &total);
}

/* With one block open; the number says how many steps a closed one holds. */
static void pixels_to_answer_in_about_25_presses(void **state)
{
    (void)state;
    int total, presses = 0;
    assert_int_equal(session_step_number(&s, &total), 1);
    assert_int_equal(s.place.screen, SCREEN_PICTURE);
    for (int before = 1; step() < total; before = step(), presses++) {
        run("next");
        assert_true(step() > before);
        assert_true(*s.stages.boxes[s.place.box].sentence);
    }
    assert_in_range(presses, 20, 30);
    assert_int_equal(s.place.screen, SCREEN_ANSWER);
    run("next"); /* stays */
    assert_int_equal(step(), total);
    run("prev 3");
    assert_int_equal(step(), total - 3);
    run("goto first");
    assert_int_equal(step(), 1);
    refuse("goto 999", "steps go from 1 to");
}

static void boxes_open_and_close(void **state)
{
    (void)state;
    run("goto blocks.1.mlp.post");
    assert_string_equal(s.place.path, "blocks.1.mlp.post");
    run("box close blocks.1");
    assert_string_equal(s.stages.boxes[s.place.box].path, "blocks.1"); /* the closed box stands for it, … */
    assert_string_equal(s.place.path, "blocks.1.resid_post");          /* … with what it shows */
    refuse("box open nowhere", "there is no box");
}

/* Its number is the same whatever is open, and leads there. */
static void a_step_has_one_number(void **state)
{
    (void)state;
    int total, now;
    session_step_number(&s, &total);
    for (int i = 1; i <= total; i++) {
        char line[32], path[SESSION_PATH];
        snprintf(line, sizeof line, "step %d", i);
        run(line);
        assert_int_equal(step(), i);
        snprintf(path, sizeof path, "%s", s.stages.boxes[s.place.box].path);
        memset(s.open, i % 2, (size_t)s.stages.count * sizeof *s.open);
        run("goto last");
        run(line);
        assert_int_equal(session_step_number(&s, &now), i);
        assert_int_equal(now, total);
        assert_string_equal(s.stages.boxes[s.place.box].path, path);
    }
}

static bool is_seen(int box)
{
    int i = 0;
    while (i != NO_BOX && i != box)
        i = stages_after(&s.stages, s.open, i);
    return i == box;
}

/* Wherever one goes, the map has that row. */
static void the_map_shows_where_one_is(void **state)
{
    (void)state;
    static const char *const LINES[] = {"goto blocks.2.attn.pattern",
                                        "showcase",
                                        "goto blocks.2.attn.pattern; block 3",
                                        "goto blocks.0.attn.exp; attention 3",
                                        "find blocks.1.attn.z",
                                        "place blocks.3.mlp.post[t=r1c1,m=0]",
                                        "goto blocks.1.mlp.post; mark; goto first; box close blocks.1; mark here go",
                                        "goto blocks.2.mlp.post; goto first; box close blocks.2; back"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        run("reset edits; goto first; box close blocks.0; box close blocks.1; box close blocks.2; box close blocks.3");
        run(LINES[i]);
        const Box *row = &s.stages.boxes[s.place.box];
        if (!is_seen(s.place.box) || stages_is_block(&s.stages, s.place.box))
            fail_msg("%s: the row is %s%s", LINES[i], row->path, is_seen(s.place.box) ? "" : ", out of sight");
        NodeId n = session_node(&s, SIDE_B, s.place.path);
        assert_in_range(n, row->first, row->last);
    }
}

/* On a block's own row. */
static void a_block_is_one_thing(void **state)
{
    (void)state;
    uint64_t base = hash(SIDE_A);
    static const char *const LINES[] = {"set scale toggle", "ablate"};
    for (int open = 0; open < 2; open++)
        for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
            run(open ? "box open blocks.1; goto blocks.1" : "goto first; box close blocks.1; goto blocks.1");
            int there = step();
            run(LINES[i]);
            assert_int_equal(step(), there);
            assert_true(hash(SIDE_B) != base);
            run("undo");
            assert_int_equal(step(), there);
            assert_true(hash(SIDE_B) == base);
        }
    run("ablate"); /* the whole block: what leaves it is what entered */
    assert_string_equal(s.edits.line[0], "skip block block=1");
    Err err;
    const float *in = session_need(&s, SIDE_B, "blocks.0.resid_post", &err),
                *out = session_need(&s, SIDE_B, "blocks.1.resid_post", &err);
    const Graph *g = session_graph(&s, SIDE_B);
    assert_memory_equal(in, out, graph_cells(g, graph_find(g, "blocks.1.resid_post")) * sizeof *in);
    assert_non_null(strstr(buf_str(&s.said), "Block 1 is off"));
    int there = step();
    run("block +1"); /* from row to row */
    assert_string_equal(s.stages.boxes[s.place.box].path, "blocks.2");
    run("block -1; ablate");
    assert_int_equal(step(), there);
    assert_int_equal(s.edits.count, 0);
}

static void the_scale_goes_and_comes_back(void **state)
{
    (void)state;
    uint64_t base = hash(SIDE_A);
    assert_true(hash(SIDE_B) == base);
    run("set scale toggle");
    assert_true(session_edited(&s) && s.compare == COMPARE_SIDES);
    uint64_t off = hash(SIDE_B);
    assert_true(off != base && hash(SIDE_A) == base);
    const float *scale = session_need(&s, SIDE_B, "blocks.2.attn.scale", NULL);
    for (int h = 0; h < 4; h++)
        assert_true(scale[h] == 1.0f);
    run("undo");
    assert_false(session_edited(&s));
    assert_true(hash(SIDE_B) == base);
    run("redo");
    assert_true(hash(SIDE_B) == off);
    run("set scale on");
    assert_true(hash(SIDE_B) == base);
    run("undo; undo");
    assert_true(hash(SIDE_B) == base);
    refuse("undo", "nothing to undo");
    run("set scale x4 at=blocks.1[h=2]");
    scale = session_need(&s, SIDE_B, "blocks.1.attn.scale", NULL);
    assert_true(scale[2] == 4 * scale[1]);
    assert_true(session_need(&s, SIDE_B, "blocks.0.attn.scale", NULL)[2] == scale[1]);
    run("reset edits");
    refuse("set scale sideways", "expected");
    refuse("set scale x4 at=blocks.9", "no attention there");
    assert_false(session_edited(&s));
}

/* What `train` leaves when it is stopped is no model, and is said to be what it is. */
static void an_unfinished_training_is_named(void **state)
{
    (void)state;
    char dir[] = "/tmp/vitrine-train-XXXXXX", path[64];
    Model m = {0};
    Err err = {""};
    assert_non_null(mkdtemp(dir));
    assert_false(text_open(&m, dir, &err));
    assert_non_null(strstr(err.text, "is no text model that is known here"));
    snprintf(path, sizeof path, "%s/training.safetensors", dir);
    err = (Err){""};
    assert_true(file_write(path, "x", 1, &err));
    assert_false(text_open(&m, dir, &err));
    assert_non_null(strstr(err.text, "an unfinished training, and no model yet: the same `vitrine train` command"));
    unlink(path);
    rmdir(dir);
}

/* One factor is in force at a place, the last one; what changes nothing is said and is no step to undo. */
static void a_factor_replaces_the_one_in_force(void **state)
{
    (void)state;
    uint64_t base = hash(SIDE_A);
    run("set scale x6");
    uint64_t six = hash(SIDE_B);
    assert_non_null(strstr(buf_str(&s.said), "6 times the model's own"));
    run("undo; set scale x2");
    uint64_t two = hash(SIDE_B);
    assert_non_null(strstr(buf_str(&s.said), "twice the model's own"));
    const int steps = s.undo_count;
    run("set scale x2");
    assert_non_null(strstr(buf_str(&s.said), "Already in force: set scale x2, a multiple of the model's own factor"));
    assert_int_equal(s.undo_count, steps);
    run("set scale x6");
    assert_int_equal(s.edits.count, 1);
    assert_true(hash(SIDE_B) == six && six != two);
    run("set scale toggle"); /* s */
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.edits.line[0], "set scale off");
    run("undo; undo");
    assert_true(hash(SIDE_B) == two);
    /* of some heads; the others keep what is in force there */
    run("set scale x4 at=blocks.1[h=1:3]; set scale x3 at=blocks.1[h=2]");
    assert_int_equal(s.edits.count, 3);
    const float *own = session_need(&s, SIDE_A, "blocks.1.attn.scale", NULL),
                *scale = session_need(&s, SIDE_B, "blocks.1.attn.scale", NULL);
    for (int h = 0; h < 4; h++)
        assert_true(scale[h] == own[h] * (h == 1 ? 4.0f : h == 2 ? 3.0f : 2.0f));
    run("set scale off at=blocks.1.attn"); /* another spelling of all of it */
    assert_int_equal(s.edits.count, 2);
    scale = session_need(&s, SIDE_B, "blocks.1.attn.scale", NULL);
    assert_true(scale[0] == 1.0f && scale[2] == 1.0f);
    assert_true(session_need(&s, SIDE_B, "blocks.2.attn.scale", NULL)[0] == own[0] * 2);
    run("set scale x6");
    assert_int_equal(s.edits.count, 1);
    assert_true(hash(SIDE_B) == six);
    run("set blocks.0.resid_mid[t=r2c2,d=5] 3.5; set blocks.0.resid_mid[t=r2c2,d=5] 3.5");
    assert_non_null(strstr(buf_str(&s.said), "Already in force: set blocks.0.resid_mid"));
    run("reset edits");
    assert_true(hash(SIDE_B) == base);
}

static void x_switches_off_what_the_cursor_is_on(void **state)
{
    (void)state;
    run("goto blocks.1.attn.pattern; head 2");
    assert_int_equal(s.place.screen, SCREEN_ROW);
    run("ablate");
    assert_string_equal(s.edits.line[0], "ablate blocks.1.attn.z[h=2]");
    const float *z = session_need(&s, SIDE_B, "blocks.1.attn.z", NULL),
                *was = session_need(&s, SIDE_A, "blocks.1.attn.z", NULL);
    for (int t = 0; t < 65; t++)
        for (int e = 0; e < 16; e++) {
            assert_true(z[(t * 4 + 2) * 16 + e] == 0.0f);
            assert_true(z[(t * 4 + 1) * 16 + e] == was[(t * 4 + 1) * 16 + e]);
        }
    run("ablate"); /* again: on */
    assert_false(session_edited(&s));
    run("view picture; goto pixels; query r3c4; ablate");
    assert_string_equal(s.edits.line[0], "grey r3c4");
    const float *p = session_need(&s, SIDE_B, "pixels", NULL);
    assert_true(p[(3 * 6) * 48 + 4 * 6] == 127.5f);
    run("swap r0c0 r7c7");
    const float *q = session_need(&s, SIDE_A, "pixels", NULL);
    p = session_need(&s, SIDE_B, "pixels", NULL);
    assert_true(p[0] == q[42 * 48 + 42] && p[42 * 48 + 42] == q[0]);
    run("reset edits; goto blocks.0.mlp.post; ablate");
    assert_string_equal(s.edits.line[0], "skip mlp block=0");
    run("restore; goto pos_embed; ablate");
    assert_string_equal(s.edits.line[0], "skip positions");
    run("restore; goto full_embed; ablate"); /* the step in which they are added */
    assert_string_equal(s.edits.line[0], "skip positions");
    run("restore; goto blocks.1.ln1.out; ablate"); /* of two norms the one in focus */
    assert_string_equal(s.edits.line[0], "skip ln1 block=1");
    const float *in = session_need(&s, SIDE_B, "blocks.0.resid_post", NULL), *out;
    out = session_need(&s, SIDE_B, "blocks.1.ln1.out", NULL);
    assert_memory_equal(in, out, 65 * 64 * sizeof(float));
    out = session_need(&s, SIDE_B, "blocks.1.ln2.out", NULL);
    in = session_need(&s, SIDE_B, "blocks.1.resid_mid", NULL);
    assert_memory_not_equal(in, out, 65 * 64 * sizeof(float));
    run("reset edits; goto image");
    run("goto logits");
    refuse("ablate", "nothing here can be switched off");
}

static void other_changes(void **state)
{
    (void)state;
    uint64_t base = hash(SIDE_A);
    static const char *const LINES[] = {"skip mlp block=0",
                                        "skip attention",
                                        "skip layernorm block=3",
                                        "skip residual block=1",
                                        "skip positions",
                                        "mask causal",
                                        "mask blocks.0.attn.scores_scaled[u=cls]",
                                        "shuffle seed=3",
                                        "ablate blocks.2.attn.z[h=1:3] mean",
                                        "set blocks.0.resid_mid[t=r2c2,d=5] 3.5",
                                        "ablate blocks.1",
                                        "ablate blocks.*.mlp.out"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        if (strcmp(LINES[i], "ablate blocks.1") == 0) {
            refuse(LINES[i], "group of nodes");
            continue;
        }
        run(LINES[i]);
        if (hash(SIDE_B) == base)
            fail_msg("%s changed nothing", LINES[i]);
        run("undo");
        assert_true(hash(SIDE_B) == base);
    }
    run("mask causal");
    const float *pattern = session_need(&s, SIDE_B, "blocks.3.attn.pattern", NULL);
    for (int t = 0; t < 65; t++)
        for (int u = t + 1; u < 65; u++)
            assert_true(pattern[t * 65 + u] == 0.0f);
    run("mask none");
    assert_false(session_edited(&s));
    refuse("skip walk", "expected block, mlp");
    refuse("skip mlp block=4", "blocks go from 0 to 3");
    refuse("ablate blocks.0.attn.zz", "did you mean");
    refuse("ablate blocks.0.attn.z[q=2]", "has no axis 'q'");
    refuse("ablate blocks.0.attn.z[h=4]", "h (head) goes from 0 to 3");
    refuse("ablate blocks.0.attn.z[h=2", "expected ]");
    refuse("grey r9c9", "is no patch");
    refuse("patch blocks.0.attn.z from=/nonexistent.npy", "/nonexistent.npy");
}

static void a_place_is_the_same_everywhere(void **state)
{
    (void)state;
    const Graph *g = session_base(&s);
    run("goto image; query r2c5");
    assert_int_equal(s.place.at[graph_axis_find(g, "p")], 2 * 8 + 5);
    assert_int_equal(s.place.at[graph_axis_find(g, "y")], 2);
    assert_int_equal(s.place.at[graph_axis_find(g, "t")], 1 + 2 * 8 + 5);
    run("view picture; move right");
    assert_int_equal(s.place.at[graph_axis_find(g, "t")], 1 + 2 * 8 + 6);
    run("goto blocks.0.attn.q; move down");
    assert_int_equal(s.place.at[graph_axis_find(g, "p")], 2 * 8 + 7);
    run("block +1");
    assert_string_equal(s.place.path, "blocks.1.attn.q");
    run("goto pattern; move up 2; looked cls; move up");
    assert_int_equal(s.place.at[graph_axis_find(g, "u")], 1 + 7 * 8);
    run("in"); /* row → the softmax close up → its formula */
    assert_int_equal(s.place.screen, SCREEN_CLOSEUP);
    run("view next");
    assert_int_equal(s.place.screen, SCREEN_EXPLAIN);
    run("back");
    assert_int_equal(s.place.screen, SCREEN_ROW);
    run("mark here; goto probs; mark here go");
    assert_string_equal(s.place.path, "blocks.1.attn.pattern");
    refuse("block 9", "blocks go from 0 to 3");
    refuse("head 4", "there is no head '4'");
    refuse("goto blocks.0.atn.q", "did you mean 'blocks.0.attn.q");
    refuse("goto patches[p=r3c4]", "did you mean 'numbers.probe.patches'?"); /* not the same word again */
    refuse("fly", "no command 'fly'");
    refuse("gotp image", "did you mean 'goto'");
    refuse("goto \"image", "not closed");
}

static void following_operands_ends_at_pixels_and_weights(void **state)
{
    (void)state;
    run("goto patch_embed[p=r3c4,d=5]; view formula");
    int depth = 0;
    for (; depth < 20; depth++) {
        NodeId n = session_node(&s, SIDE_B, s.place.path);
        assert_true(n != NO_NODE);
        if (graph_node(session_graph(&s, SIDE_B), n)->op == OP_LEAF)
            break;
        for (int k = 0; k < op_inputs(graph_node(session_graph(&s, SIDE_B), n)->op); k++)
            session_need(&s, SIDE_B,
                         graph_node(session_graph(&s, SIDE_B), graph_node(session_graph(&s, SIDE_B), n)->in[k])->path,
                         NULL);
        run("in");
    }
    assert_string_equal(s.place.path, "pixels");
    for (int i = 0; i < depth; i++)
        run("back");
    assert_string_equal(s.place.path, "patch_embed");
}

static void pinning_compares_two_pictures(void **state)
{
    (void)state;
    uint64_t first = hash(SIDE_A);
    run("pin; open #3");
    assert_int_equal(s.compare, COMPARE_SIDES);
    assert_true(hash(SIDE_A) == first && hash(SIDE_B) != first);
    Need need = {.side = SIDE_DIFF, .path = "logits"};
    assert_true(session_step(&s, &need, 1, CLOCK_NEVER));
    const float *d = session_peek(&s, SIDE_DIFF, "logits"), *a = session_peek(&s, SIDE_A, "logits"),
                *b = session_peek(&s, SIDE_B, "logits");
    for (int o = 0; o < 10; o++)
        assert_true(d[o] == a[o] - b[o]);
    run("set scale off");
    assert_true(hash(SIDE_A) == first);
    run("pin off; reset edits; open #17");
    assert_true(hash(SIDE_B) == first);
    refuse("open #-1", "#");
    refuse("open /nonexistent.png", "/nonexistent.png");
    assert_true(hash(SIDE_B) == first); /* nothing was lost */
}

/* Who comes to the answer stands on it, so that `why` asks for that class; a class that was picked stays picked. */
static void the_answer_is_in_focus(void **state)
{
    (void)state;
    Err err;
    for (int picture = 17; picture < 23; picture++) {
        char line[64];
        snprintf(line, sizeof line, "open #%d; goto first; view answer", picture);
        run(line);
        const float *probs = session_need(&s, SIDE_B, "probs", &err);
        const Graph *g = session_graph(&s, SIDE_B);
        int axis = graph_axis_find(g, "o"), best = 0;
        for (int i = 0; i < g->axes[axis].n; i++)
            best = probs[i] > probs[best] ? i : best;
        assert_int_equal(s.place.at[axis], best);
        int other = best ? 0 : 1;
        run("goto first");
        s.place.at[axis] = other; /* who comes again is led to it again */
        run("goto last");
        assert_int_equal(s.place.at[axis], best);
        snprintf(line, sizeof line, "goto first; goto probs[o=%d]", other);
        run(line);
        assert_int_equal(s.place.at[axis], other);
        run("prev"); /* the logits: the same class */
        assert_int_equal(s.place.at[axis], other);
    }
}

/* Before it is computed nobody knows where it is: the cursor goes there with the values, unless it was moved. */
static void the_answer_is_waited_for(void **state)
{
    (void)state;
    const Need probs = {.side = SIDE_B, .path = "probs"};
    for (int moved = 0; moved < 2; moved++) {
        char line[64];
        snprintf(line, sizeof line, "open #%d; goto first", 31 + moved);
        run(line);
        const Graph *g = session_graph(&s, SIDE_B);
        int axis = graph_axis_find(g, "o"), best = 0;
        s.place.at[axis] = 1;
        assert_null(session_peek(&s, SIDE_B, "probs"));
        run("goto last");
        assert_int_equal(s.place.at[axis], 1);
        s.place.at[axis] += moved;
        assert_true(session_step_pass(&s, &probs, 1, CLOCK_NEVER));
        const float *x = session_peek(&s, SIDE_B, "probs");
        assert_non_null(x);
        for (int i = 0; i < g->axes[axis].n; i++)
            best = x[i] > x[best] ? i : best;
        assert_int_not_equal(best, 2);
        assert_int_equal(s.place.at[axis], moved ? 2 : best);
        s.place.at[axis] = 0; /* it is led there once */
        assert_true(session_step_pass(&s, &probs, 1, CLOCK_NEVER));
        assert_int_equal(s.place.at[axis], 0);
    }
    run("model translator");
    const Graph *g = session_graph(&s, SIDE_B);
    int v = node_role(g, graph_find(g, "probs"), ROLE_ANSWER), t = node_role(g, graph_find(g, "probs"), ROLE_QUERY);
    const int words = g->axes[v].n;
    run("goto first; goto probs[t=3]"); /* of another token than the cursor was on */
    assert_true(session_step_pass(&s, &probs, 1, CLOCK_NEVER));
    for (int row = 3; row < g->axes[t].n; row += 2) {
        char line[64];
        snprintf(line, sizeof line, "goto probs[t=%d]", row);
        run(line);
        const float *x = session_peek(&s, SIDE_B, "probs") + (size_t)row * (size_t)words;
        for (int i = 0; i < words; i++)
            assert_true(x[i] <= x[s.place.at[v]]);
    }
    run("open \"the dog is tired\"; goto first; goto probs; why"); /* asked before it is computed: why the answer */
    const Ledger *l = session_ledger(&s, SIDE_B);
    assert_non_null(l);
    const float *logits = session_peek(&s, SIDE_B, "logits");
    assert_true(logits[l->cell] > logits[l->against]);
    run("open \"the cat is tired\"");
    assert_non_null(session_need(&s, SIDE_B, "probs", NULL));
    run("goto probs[t=3,v=7]"); /* named */
    assert_int_equal(s.place.at[v], 7);
    run("model bundled; open #17");
}

static void changes_are_said_in_words(void **state)
{
    (void)state;
    static const struct {
        const char *line, *part;
    } CASES[] = {{"set scale off", "no longer times 1/√d_k"},
                 {"ablate blocks.1.attn.z[h=2]", "Head 2 of block 1 is off"},
                 {"grey r3c4", "Patch r3c4 is grey"},
                 {"skip positions", "no longer added"},
                 {"skip mlp block=1", "Block 1 adds nothing from its MLP"},
                 {"skip attention block=0", "nothing from attention"},
                 {"ablate blocks.1.attn.z[h=2] mean", "In force: ablate blocks.1.attn.z[h=2] mean"},
                 {"mask causal", "In force: mask causal"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        run(CASES[i].line);
        if (!strstr(buf_str(&s.said), CASES[i].part))
            fail_msg("%s: '%s'", CASES[i].line, buf_str(&s.said));
        run("undo");
        assert_false(session_edited(&s));
    }
    run("set scale off; skip positions"); /* more than one: all of them, as they can be typed */
    assert_non_null(strstr(buf_str(&s.said), "In force: set scale off; skip positions"));
}

static void views_and_colours(void **state)
{
    (void)state;
    run("goto pattern; view sheet; view matrix; view row; view numbers; view raw; view centred; pool 4 mean; pool "
        "auto; average on; average; colours viridis");
    run("colours lock; colours free; colours next; view answer; view positions");
    refuse("compare diff", "nothing to compare yet");
    run("set scale off; compare diff");
    assert_int_equal(session_side(&s), SIDE_DIFF);
    run("compare a");
    assert_int_equal(session_side(&s), SIDE_A);
    run("reset edits; reset view");
    refuse("view upside-down", "expected heat");
    refuse("pool 3", "expected 1, 2, 4");
    refuse("colours pink", "expected next");
    run("find softmax; find star; goto logits; find value>0");
    refuse("find xyzzy", "is called 'xyzzy'");
}

static void completion_offers_what_exists(void **state)
{
    (void)state;
    Buf out = {0};
    command_complete(&s, &all, "ab", &out);
    assert_non_null(strstr(buf_str(&out), "ablate\n"));
    buf_clear(&out);
    command_complete(&s, &all, "goto blocks.2.attn.pat", &out);
    assert_string_equal(buf_str(&out), "goto blocks.2.attn.pattern\n");
    buf_clear(&out);
    command_complete(&s, &all, "compare d", &out);
    assert_string_equal(buf_str(&out), "compare diff\n");
    buf_clear(&out);
    address_put_focus(&s, &out);
    assert_non_null(strchr(buf_str(&out), '['));
    buf_free(&out);
    assert_true(address_match("blocks.*.attn.q", "blocks.11.attn.q"));
    assert_true(address_match("blocks.5.*", "blocks.5.attn.q"));
    assert_true(address_match("**.q", "blocks.5.attn.q"));
    assert_false(address_match("*.q", "blocks.5.attn.q"));
}

/* Lines that Tab offers for a line, and one that it does not. */
static void completion_knows_files_axes_labels_and_words(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *offered, *not ;
    } CASES[] = {
        {"goto blocks.1.attn.pattern[", "goto blocks.1.attn.pattern[h=\n", "pattern[e="},
        {"goto blocks.1.attn.pattern[h=", "goto blocks.1.attn.pattern[h=3\n", "h=4"},
        {"goto blocks.1.attn.pattern[h=1,", "goto blocks.1.attn.pattern[h=1,u=\n", "h=1,h="},
        {"goto blocks.1.attn.pattern[h=1,t=r2c", "goto blocks.1.attn.pattern[h=1,t=r2c7\n", "r3c0"},
        {"goto pattern[u=c", "goto pattern[u=cls\n", "u=r0c0"},
        {"goto patt", "goto pattern\n", "blocks"},
        {"set scale off at=blocks.1.at", "set scale off at=blocks.1.attn.\n", "mlp"},
        {"open tests/data/image/ori", "open tests/data/image/orientation.jpg\n", "rgb8"},
        {"open \"tests/data/ima", "open tests/data/image/\n", "resize"},
        {"open tests/data/image/", "open tests/data/image/grey8.bmp\n",
         "make.py"}, /* each its own kinds, and folders */
        {"open tests/", "open tests/data/\n", ".sh"},
        {"open tests/all", "open tests/all.sh\n", "data"}, /* all where there are none */
        {"patch z from=tests/data/image/rgb8.p", "patch z from=tests/data/image/rgb8.png\n", "orientation"},
        {"neuron measure tests/data/im", "neuron measure tests/data/image/\n", "rgb8"},
        {"glossary attention dis", "glossary attention distance\n", "rollout"},
        {"glossary cls", "glossary CLS\n", "cosine"},
        {"query r7c", "query r7c6\n", "r6c7"},
        {"block ", "block 3\n", "block 4"},
        {"view answer; com", "view answer; compare\n", "colours"},
        {"skip l", "skip ln2\n", "mlp"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Buf out = {0};
        command_complete(&s, &all, CASES[i].typed, &out);
        if (!strstr(buf_str(&out), CASES[i].offered))
            fail_msg("%s: not offered: %sin:\n%s", CASES[i].typed, CASES[i].offered, buf_str(&out));
        assert_null(strstr(buf_str(&out), CASES[i].not ));
        buf_free(&out);
    }
}

/* What was meant is named: the range, the word. */
static void a_slip_is_answered_by_what_was_meant(void **state)
{
    (void)state;
    refuse("goto blocks.9.attn.pattern", "there is no block 9: blocks go from 0 to 3");
    refuse("set scale off at=blocks.7", "blocks go from 0 to 3");
    refuse("head 9", "heads go from 0 to 3");
    refuse("query 99", "tokens go from 'cls' to 'r7c7', or 0 to 64");
    run("goto first");
    refuse("block 9", "blocks go from 0 to 3");
    refuse("set scal off", "did you mean scale?");
    refuse("goto patern", "did you mean 'pattern'?");
}

/* `find`, then the next and the one before, round at the ends; a step ends it. */
static void finding_goes_on(void **state)
{
    (void)state;
    refuse("find next", "nothing was searched for");
    run("goto first; find ln1");
    assert_string_equal(s.place.path, "blocks.0.ln1.out");
    assert_non_null(strstr(buf_str(&s.said), "1 of 4 with 'ln1'"));
    run("find next; find next; find next");
    assert_string_equal(s.place.path, "blocks.3.ln1.out");
    run("find next");
    assert_string_equal(s.place.path, "blocks.0.ln1.out");
    run("find prev");
    assert_string_equal(s.place.path, "blocks.3.ln1.out");
    assert_true(s.sought.on);
    refuse("find xyzzy", "is called 'xyzzy'");
    run("find prev");
    assert_string_equal(s.place.path, "blocks.2.ln1.out");
    run("goto first; find scores_raw"); /* no step: a node of that name, and round to the first again */
    assert_non_null(strstr(buf_str(&s.said), "of 4 nodes with"));
    assert_string_equal(s.place.path, "blocks.0.attn.scores_raw");
    run("find next; find next; find next");
    assert_string_equal(s.place.path, "blocks.3.attn.scores_raw");
    run("find next; find prev; find prev");
    assert_string_equal(s.place.path, "blocks.2.attn.scores_raw");
    run("find RING");
    assert_int_equal(s.place.screen, SCREEN_ANSWER);
    run("next");
    assert_false(s.sought.on);
}

static void random_commands_never_break_it(void **state)
{
    (void)state;
    static const char *const WORDS[] = {
        "next",           "prev",        "in",          "back",      "move down 3",  "move right",
        "move up",        "move left 9", "ablate",      "undo",      "redo",         "set scale toggle",
        "compare next",   "view next",   "block +1",    "head +1",   "head -1",      "block -1",
        "query +1",       "map",         "box open",    "box close", "pool coarser", "colours next",
        "average",        "pin",         "pin off",     "open #4",   "goto 12",      "goto pattern",
        "mask causal",    "shuffle",     "skip mlp",    "set . 2",   "view sheet",   "view formula",
        "view positions", "grid",        "reset edits", "restore",   "find block"};
    Rng r = rng_seed(5, 5);
    for (int i = 0; i < 3000; i++) {
        Err err;
        command_do(&s, &all, WORDS[rng_below(&r, sizeof WORDS / sizeof *WORDS)], LINE_OWN, &err);
        int total;
        assert_true(session_step_number(&s, &total) > 0);
        assert_true(session_node(&s, SIDE_B, s.place.path) != NO_NODE);
        session_step(&s, NULL, 0, clock_ns() + 300000);
        if (i % 7 == 0)
            session_trim(&s);
    }
}

/* Forward is where back came from, as far as one has not gone elsewhere. */
static void test_forward(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"blocks.0.mlp.post", "blocks.1.mlp.out", "logits"};
    char line[64];
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "goto %s", PATHS[i]);
        run(line);
    }
    run("forward"); /* there is none: it says so and stays */
    assert_string_equal(s.place.path, PATHS[2]);
    run("back; back");
    assert_string_equal(s.place.path, PATHS[0]);
    run("forward");
    assert_string_equal(s.place.path, PATHS[1]);
    run("back; forward; forward");
    assert_string_equal(s.place.path, PATHS[2]);
    run("back");
    run("goto blocks.2.mlp.pre"); /* elsewhere: what lay ahead is gone */
    run("forward");
    assert_string_equal(s.place.path, "blocks.2.mlp.pre");
    run("back");
    assert_string_equal(s.place.path, PATHS[1]);
}

/* Every label of the map leads to a step of that name, in the reader's own block where there is one. */
static void goto_takes_what_the_map_says(void **state)
{
    (void)state;
    for (int i = 0; i < s.stages.count; i++) {
        char line[160];
        const Box *b = &s.stages.boxes[i];
        if (b->child == NO_BOX) /* a node: it stands in its step */
            continue;
        snprintf(line, sizeof line, "goto blocks.2.attn.pattern; goto %s", b->label);
        run(line);
        assert_string_equal(s.stages.boxes[s.place.box].label, b->label);
        if (strncmp(b->path, "blocks.2.", 9) == 0)
            assert_ptr_equal(strstr(s.stages.boxes[s.place.box].path, "blocks.2."), s.stages.boxes[s.place.box].path);
    }
    run("goto blocks.1.mlp.post; goto Raw Scores");
    assert_string_equal(s.place.path, "blocks.1.attn.scores_raw");
    run("goto star");
    assert_int_equal(s.place.screen, SCREEN_ANSWER);
    run("back");
    assert_string_equal(s.place.path, "blocks.1.attn.scores_raw");
    refuse("goto zebra crossing", "nothing here is called 'zebra crossing'");
    refuse("goto softmx", "there is no");
    assert_string_equal(s.place.path, "blocks.1.attn.scores_raw");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_forward, start, stop),
        cmocka_unit_test_setup_teardown(pixels_to_answer_in_about_25_presses, start, stop),
        cmocka_unit_test_setup_teardown(boxes_open_and_close, start, stop),
        cmocka_unit_test_setup_teardown(a_step_has_one_number, start, stop),
        cmocka_unit_test_setup_teardown(the_map_shows_where_one_is, start, stop),
        cmocka_unit_test_setup_teardown(a_block_is_one_thing, start, stop),
        cmocka_unit_test_setup_teardown(the_scale_goes_and_comes_back, start, stop),
        cmocka_unit_test(an_unfinished_training_is_named),
        cmocka_unit_test_setup_teardown(a_factor_replaces_the_one_in_force, start, stop),
        cmocka_unit_test_setup_teardown(x_switches_off_what_the_cursor_is_on, start, stop),
        cmocka_unit_test_setup_teardown(other_changes, start, stop),
        cmocka_unit_test_setup_teardown(a_place_is_the_same_everywhere, start, stop),
        cmocka_unit_test_setup_teardown(following_operands_ends_at_pixels_and_weights, start, stop),
        cmocka_unit_test_setup_teardown(pinning_compares_two_pictures, start, stop),
        cmocka_unit_test_setup_teardown(the_answer_is_in_focus, start, stop),
        cmocka_unit_test_setup_teardown(the_answer_is_waited_for, start, stop),
        cmocka_unit_test_setup_teardown(changes_are_said_in_words, start, stop),
        cmocka_unit_test_setup_teardown(views_and_colours, start, stop),
        cmocka_unit_test_setup_teardown(completion_offers_what_exists, start, stop),
        cmocka_unit_test_setup_teardown(completion_knows_files_axes_labels_and_words, start, stop),
        cmocka_unit_test_setup_teardown(a_slip_is_answered_by_what_was_meant, start, stop),
        cmocka_unit_test_setup_teardown(finding_goes_on, start, stop),
        cmocka_unit_test_setup_teardown(goto_takes_what_the_map_says, start, stop),
        cmocka_unit_test_setup_teardown(random_commands_never_break_it, start, stop),
    };
    return cmocka_run_group_tests_name("core/session", tests, NULL, NULL);
}
