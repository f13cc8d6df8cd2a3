/* The commands, keys and slider of the screens of what was learned. */
#include "tests/core_session/asking.h"

#include "core/base/clock.h"
#include "core/session/learned/measures.h"
#include "core/session/screens.h"
#include "core/session/screens/laboratory.h"

static const char *at(void)
{
    return s.place.path;
}

static void screens(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        Screen screen;
        const char *path;
    } ALL[] = {{"training", SCREEN_TRAINING, "pos_embed"},
               {"filters", SCREEN_FILTERS, "patch_embed.probe.components"},
               {"heads", SCREEN_HEADS, "blocks.3.attn.pattern"},
               {"where", SCREEN_WHERE, "rollout.patches"},
               {"lens", SCREEN_LENS, "blocks.3.lens.probs"},
               {"alike", SCREEN_ALIKE, "blocks.3.alike.cosine"},
               {"laboratory", SCREEN_LABORATORY, "blocks.1.attn.pattern"},
               {"census", SCREEN_CENSUS, "blocks.3.attn.z"}};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++) {
        run("goto first");
        run(ALL[i].line);
        assert_int_equal(s.place.screen, ALL[i].screen);
        assert_string_equal(at(), ALL[i].path);
        int before = s.back_count;
        run(ALL[i].line); /* once more is no other place */
        assert_int_equal(s.back_count, before);
        run("back");
        assert_int_equal(s.place.screen, SCREEN_PICTURE);
    }
    run("goto blocks.1.attn.pattern");
    run("census");
    assert_string_equal(at(), "blocks.1.attn.z");
    run("in");
    assert_int_equal(s.place.screen, SCREEN_ROW);
    assert_string_equal(at(), "blocks.1.attn.pattern");
    if (session_node(&s, SIDE_B, "guess") == NO_NODE)
        refused("blanks", "never learned to guess");
    else {
        run("blanks");
        assert_int_equal(s.place.screen, SCREEN_BLANKS);
    }
}

static void words(void **state)
{
    (void)state;
    run("filters components");
    assert_true(s.look.filters.components);
    assert_string_equal(at(), "patch_embed.probe.components");
    run("filters");
    assert_true(s.look.filters.components);
    run("filters next");
    assert_false(s.look.filters.components);
    assert_string_equal(at(), "patch_embed.probe.filters");
    run("where occlusion");
    assert_int_equal(s.look.where.method, 3);
    run("where next");
    assert_int_equal(s.look.where.method, 0);
    run("where 2");
    assert_int_equal(s.look.where.method, 2);
    run("where +9");
    assert_int_equal(s.look.where.method, 3);
    refused("where 4", "from 0 to 3");
    refused("where nowhere", "expected rollout");
    run("where depth 1"); /* the rollout through one block, then through each more */
    assert_string_equal(at(), "blocks.0.attn.probe.rollout_patches");
    run("where depth +1");
    assert_string_equal(at(), "blocks.1.attn.probe.rollout_patches");
    run("play next");
    assert_string_equal(at(), "blocks.2.attn.probe.rollout_patches");
    run("play next");
    assert_string_equal(at(), "rollout.patches"); /* all of them */
    refused("where depth 9", "how many blocks, 1 to 4, all");
    refused("where depth", "how many blocks");
    run("where depth -1; where depth all");
    assert_string_equal(at(), "rollout.patches");
    refused("filters blue", "expected filters");
    refused("census 3", "means nothing");
    refused("heads x=1", "means nothing");
    refused("training 99999999999999999999", "");
    refused("training sideways", "expected the number");
    if (!session_history_twin(&s))
        refused("training twin", "no twin");
    refused("laboratory 1 2 x", "'x' means nothing here");
}

/* --- the slider --- */

static void expect_lines(const char *one, const char *two)
{
    assert_int_equal(s.edits.count, (one != NULL) + (two != NULL));
    if (one)
        assert_string_equal(s.edits.line[0], one);
    if (two)
        assert_string_equal(s.edits.line[1], two);
}

static int off_notch(void)
{
    for (int i = 0; i < MEASURES_FACTORS; i++)
        if (measures_factor(&s, i) == 1 / s.model.vit.scale)
            return i;
    fail_msg("no notch takes the scale away");
    return 0;
}

static void slider(void **state)
{
    (void)state;
    char line[64], text[64];
    const int middle = MEASURES_FACTORS / 2;
    run("goto blocks.2.attn.pattern[h=1]");
    run("laboratory");
    assert_string_equal(slider_text(&s, text, sizeof text), "every block");
    assert_int_equal(slider_notch(&s), middle);
    run("laboratory +2");
    expect_lines("set scale x2", NULL);
    assert_int_equal(slider_notch(&s), middle + 2);
    assert_true(slider_factor(&s) == 2.0f);
    run("move left");
    expect_lines("set scale x1.41421354", NULL);
    assert_int_equal(slider_notch(&s), middle + 1);
    run("move left");
    expect_lines(NULL, NULL);
    run("move left");
    run("move left");
    expect_lines("set scale x0.5", NULL);
    run("move end");
    expect_lines("set scale x8", NULL);
    run("move home");
    expect_lines("set scale x0.125", NULL);
    snprintf(line, sizeof line, "laboratory %d", off_notch());
    run(line);
    expect_lines("set scale off", NULL);
    assert_int_equal(slider_notch(&s), off_notch());
    has(buf_str(&s.said), "no scale at all");
    /* another reach leaves that line alone */
    run("move down");
    assert_string_equal(slider_text(&s, text, sizeof text), "block 2");
    assert_int_equal(slider_notch(&s), middle);
    run("move right");
    expect_lines("set scale off", "set scale x1.41421354 at=blocks.2");
    run("laboratory head 9");
    assert_string_equal(slider_text(&s, text, sizeof text), "block 2, head 1");
    assert_int_equal(s.edits.count, 3);
    assert_string_equal(s.edits.line[2], "set scale off at=blocks.2[h=1]");
    run("undo");
    assert_int_equal(s.edits.count, 2);
    run("laboratory all");
    run("laboratory 5");
    expect_lines("set scale x1.41421354 at=blocks.2", NULL);
    run("set scale on");
    expect_lines(NULL, NULL);
    run("set scale x0"); /* typed by hand: no notch is near, the slider says the lowest */
    assert_true(slider_factor(&s) == 0.0f);
    assert_int_equal(slider_notch(&s), 0);
}

/* What the slider does is what the command does. */
static void slider_computes(void **state)
{
    (void)state;
    Err err = {""};
    float logits[64];
    size_t bytes = (size_t)s.model.vit.classes * sizeof *logits;
    run("laboratory 7");
    memcpy(logits, session_need(&s, SIDE_B, "logits", &err), bytes);
    run("reset edits");
    run("set scale x2");
    assert_memory_equal(session_need(&s, SIDE_B, "logits", &err), logits, bytes);
}

/* --- keys --- */

static void keys(void **state)
{
    (void)state;
    run("census");
    run("move up");
    assert_string_equal(at(), "blocks.2.attn.z");
    run("move right 2");
    assert_int_equal(session_head(&s), 2);
    run("ablate");
    expect_lines("ablate blocks.2.attn.z[h=2]", NULL);
    run("ablate");
    run("move top");
    assert_int_equal(session_block(&s), 0);
    run("lens");
    assert_string_equal(at(), "blocks.0.lens.probs");
    run("move bottom");
    assert_string_equal(at(), "probs");
    run("move up");
    assert_string_equal(at(), "blocks.3.lens.probs");
    run("filters filters");
    const Graph *g = session_base(&s);
    int d = graph_axis_find(g, "d");
    s.place.at[d] = 0;
    run("move down 2");
    run("move right");
    assert_int_equal(s.place.at[d], 2 * MEASURES_TILES_ACROSS + 1);
    run("move up 90");
    assert_int_equal(s.place.at[d], 0);
    run("where");
    int p = graph_axis_find(g, "p");
    run("goto image[y=0,x=0]");
    run("where");
    run("move right");
    run("move down");
    assert_int_equal(s.place.at[p], 9);
    run("training");
    run("move right"); /* whether there is a record or not */
    for (int i = 0; i < 63; i++)
        run("move up");
    assert_int_equal(s.place.at[p], 0);
    bool seen[64] = {false};
    for (int i = 0; i < 64; i++) {
        seen[s.place.at[p]] = true;
        run("move down");
    }
    for (int i = 0; i < 64; i++)
        assert_true(seen[i]);
}

/* Where it looked: a head is shown as soon as one is asked for, and Enter goes to that head's number, not to the
 * mean's. */
static void one_head(void **state)
{
    (void)state;
    run("where attention");
    run("average on");
    assert_string_equal(at(), "where.attention_mean");
    run("head +1");
    assert_true(s.look.where.one_head);
    assert_string_equal(at(), "where.attention");
    run("average");
    assert_string_equal(at(), "where.attention_mean");
}

/* What the model would name after a block is a look at the run: nothing of the answer hangs on it. */
static void lens_has_no_switch(void **state)
{
    (void)state;
    run("lens");
    refused("ablate", "nothing here can be switched off");
    assert_int_equal(s.edits.count, 0);
}

/* Every screen, with nothing computed yet, at every place of the cursor, is stepped to its end. */
static void steps_end(void **state)
{
    (void)state;
    static const char *const LINES[] = {"training", "filters", "heads", "where", "lens"};
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        run(LINES[i]);
        int slices = 0;
        while (!session_step(&s, NULL, 0, clock_ns() + 5000000))
            assert_true(++slices < 10000);
    }
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {WITH(screens),
                                       WITH(words),
                                       WITH(slider),
                                       WITH(slider_computes),
                                       WITH(keys),
                                       WITH(one_head),
                                       WITH(lens_has_no_switch),
                                       WITH(steps_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
