/* Where words become state: small decisions that faults planted by tests/mutants.sh showed to be tested by nobody. */
#include "asking.h"

#include <unistd.h>

#include "core/io/tensors.h"
#include "core/models/drawn.h"
#include "core/session/address.h"
#include "core/session/edit/edits.h"
#include "core/session/input.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/screens/laboratory.h"
#include "core/session/screens/where.h"
#include "core/session/state.h"

static int index_of(AxisRole role)
{
    return s.place.at[graph_role(session_base(&s), role, SEQUENCE_ANY)];
}

static void marks_have_room_for_their_names(void **state)
{
    (void)state;
    char line[128], most[16];
    int room = (int)sizeof s.marks[0].name - 1;
    snprintf(line, sizeof line, "mark %.*s", room, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
    run(line);
    snprintf(line, sizeof line, "mark %.*s", room + 1, "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
    snprintf(most, sizeof most, "at most %d ", room);
    refused(line, most);
}

/* A line of commands is copied whole or refused: at its longest there is room for the end of the text and no more. */
static void lines_have_room_for_their_end(void **state)
{
    (void)state;
    Args a;
    Err err;
    const char *name;
    char line[sizeof a.text + 1];
    memset(line, 'x', sizeof line);
    line[sizeof a.text - 1] = 0;
    assert_true(args_parse(&a, line, &name, &err));
    assert_int_equal(strlen(name), sizeof a.text - 1);
    line[sizeof a.text - 1] = 'x';
    line[sizeof a.text] = 0;
    assert_false(args_parse(&a, line, &name, &err));
}

/* Every option of words refuses what is none of them, and its list of words has an end. */
static void words_that_are_no_value(void **state)
{
    (void)state;
    for (int i = 0; look_option_at(i); i++)
        if (look_option_at(i)->kind == OPTION_WORD) {
            char line[96], why[96];
            int last = 0;
            while (look_option_at(i)->word(last))
                assert_in_range(++last, 1, 32);
            snprintf(line, sizeof line, "option %s no-such-word", look_option_at(i)->name);
            snprintf(why, sizeof why, "'no-such-word' is no %s", look_option_at(i)->name);
            refused(line, why);
        }
}

/* Values of another picture's size are refused by their shape, whether too few or not a whole number of pictures. */
static void values_that_are_no_picture(void **state)
{
    (void)state;
    char path[64], input[80];
    snprintf(path, sizeof path, "/tmp/vitrine-test-%ld-seams.safetensors", (long)getpid());
    static float values[2 * 3 * 48 * 48];
    const size_t SHAPES[][4] = {{3, 48, 47}, {1, 3, 48, 96}, {3, 48, 48 + 24}, {1, 3, 48, 48}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        Err err = {""};
        TensorOut out = {.name = "x", .rank = SHAPES[i][3] ? 4 : 3, .data = values};
        memcpy(out.shape, SHAPES[i], sizeof SHAPES[i]);
        assert_true(tensors_write(path, TF_SAFETENSORS, &out, 1, NULL, &err));
        snprintf(input, sizeof input, "%s:x", path);
        assert_int_equal(session_open_input(&s, input, &err), i == 3);
    }
    unlink(path);
}

/* In an explanation, down goes to the next term and right to the next operand, and both have ends. */
static void along_the_terms(void **state)
{
    (void)state;
    run("goto blocks.0.attn.z; view formula");
    const ScreenSpec *screen = screen_now(&s);
    screen->move(&s, 3, 1);
    assert_int_equal(s.place.term, 3);
    assert_int_equal(s.place.operand, 1);
    screen->move(&s, 100000, 5);
    int last = (int)s.place.term;
    assert_int_equal(last, vit_tokens(&s.now->model->vit) - 1); /* one for every token looked at */
    screen->move(&s, -100000, -5);
    assert_int_equal(s.place.term + (size_t)s.place.operand, 0);
}

/* One patch, wherever it has an index: as a token, a patch, its row and its column. */
static void axes_follow_one_another(void **state)
{
    (void)state;
    run("goto image; goto patch_embed[p=r3c5]");
    assert_int_equal(index_of(ROLE_PLACE), 3 * 8 + 5);
    assert_int_equal(index_of(ROLE_PLACE_ROW), 3);
    assert_int_equal(index_of(ROLE_PLACE_COL), 5);
    assert_int_equal(index_of(ROLE_QUERY), 1 + 3 * 8 + 5);
    run("goto blocks.0.attn.pattern[t=r6c1]");
    assert_int_equal(index_of(ROLE_PLACE), 6 * 8 + 1);
    assert_int_equal(index_of(ROLE_PLACE_ROW), 6);
    assert_int_equal(index_of(ROLE_PLACE_COL), 1);
}

/* The patches that a seed hides are the same ones for ever: a link says `hide random`, no list. */
static void random_patches(void **state)
{
    (void)state;
    Err err = {""};
    Model m;
    VitConfig c = model_bundled_config();
    Session t;
    c.mask_token = c.reconstruct = true;
    model_seeded(&m, &c, 3);
    if (!session_init_model(&t, &m, "#17", 1, &err))
        fail_msg("%s", err.text);
    assert_true(command_do(&t, &commands, "hide random 0.4", LINE_FOREIGN, &err));
    const float *hidden = session_need(&t, SIDE_B, "guess.hidden", &err);
    int count = 0;
    unsigned hash = 2166136261u;
    for (int i = 0; i < 64; i++) {
        count += hidden[i] != 0.0f;
        hash = (hash ^ (hidden[i] != 0.0f)) * 16777619u;
    }
    assert_int_equal(count, 26);
    assert_int_equal(hash, 0xc6dfb637u);
    session_free(&t);
}

static void the_map_opens(void **state)
{
    (void)state;
    run("goto 4; map");
    assert_true(s.look.steps_focused);
    int box = s.place.box;
    assert_true(s.stages.boxes[box].child != NO_BOX);
    bool open = s.open[box];
    run("in");
    assert_int_equal(s.open[box], !open);
    run("in");
    assert_int_equal(s.open[box], open);
    run("map");
}

static void laboratory_keeps_the_block(void **state)
{
    (void)state;
    char word[64];
    run("goto blocks.0.attn.pattern; laboratory");
    assert_int_equal(session_block(&s), 0);
    run("laboratory head");
    has(slider_text(&s, word, sizeof word), "block 0, head");
    run("laboratory block");
    assert_string_equal(slider_text(&s, word, sizeof word), "block 0");
    run("laboratory all");
    assert_string_equal(slider_text(&s, word, sizeof word), "every block");
    run("goto image; laboratory");
    assert_int_equal(session_block(&s), 1); /* one in the middle */
}

static void where_goes_round(void **state)
{
    (void)state;
    run("where rollout");
    for (int i = 1; i <= WHERE_METHODS; i++) {
        run("where next");
        assert_int_equal(s.look.where.method, i % WHERE_METHODS);
    }
    refused("training sideways", "expected the number of a snapshot");
    refused("training 1000", "snapshot");
    run("training first");
    run("move left");
    assert_int_equal(s.look.training.snapshot, 0);
    run("move right 2");
    assert_int_equal(s.look.training.snapshot, 2);
}

/* No record of training: the arrows do no harm there. */
static void nothing_to_go_along(void **state)
{
    (void)state;
    Session t;
    Model m;
    VitConfig c;
    Err err = {""};
    assert_true(model_size("tiny", &c));
    model_seeded(&m, &c, 3);
    assert_true(session_init_model(&t, &m, NULL, 1, &err));
    assert_true(command_do(&t, &commands, "training; move right; move down; move left", 0, &err));
    assert_int_equal(t.look.training.snapshot, 0);
    session_free(&t);
}

/* A ledger's other views are other views, and no failure. */
static void ledgers_have_two_views(void **state)
{
    (void)state;
    run("ledger");
    bool one = s.look.ledger.one_head, table = s.look.ledger.table;
    run("view next; average");
    assert_int_equal(s.look.ledger.table, !table);
    assert_int_equal(s.look.ledger.one_head, !one);
    run("view next; average");
    assert_int_equal(s.look.ledger.table, table);
    assert_int_equal(s.look.ledger.one_head, one);
}

static void places_that_make_no_sense(void **state)
{
    (void)state;
    refused("place blocks.0.ln1.out[t=cls,d=0] screen=matrix", "has no rows of tokens");
    refused("place blocks.0.ln1.out[t=cls,d=0] screen=nowhere", "there is no screen");
    refused("place blocks.0.ln1.out[t=cls,d=0] at=t:65", "from 0 to 64");
    refused("place blocks.0.ln1.out[t=cls,d=0] at=q:1", "there is no axis");
    refused("place blocks.0.ln1.out[t=cls,d=0] term=x", "expected a number");
    refused("place blocks.0.ln1.out[t=cls,d=0] box=nothing", "there is no box");
    refused("place blocks.0", "group of nodes");
    run("place blocks.0.attn.pattern[h=1,t=cls,u=r0c0] screen=matrix");
    assert_int_equal(s.place.screen, SCREEN_MATRIX);
    run("place blocks.0.attn.pattern[h=1,t=cls,u=r0c0] at=h:3,t:5");
    assert_int_equal(index_of(ROLE_HEAD), 3);
    assert_int_equal(index_of(ROLE_QUERY), 5);
}

static void undo_and_redo_have_ends(void **state)
{
    (void)state;
    run("reset edits");
    run("set scale off");
    refused("redo", "nothing to redo");
    run("undo");
    assert_false(session_edited(&s));
    run("redo");
    assert_true(session_edited(&s));
    run("ablate blocks.1.attn.z[h=2]; undo; undo");
    assert_false(session_edited(&s));
    run("redo; redo");
    assert_int_equal(s.edits.count, 2);
    run("reset edits");
}

/* What x does depends on what is in focus. */
static void switching_off_what_is_in_focus(void **state)
{
    (void)state;
    static const struct {
        const char *go, *edit;
    } WANT[] = {{"view picture; goto image", "grey"},
                {"goto pos_embed", "skip positions"},
                {"goto blocks.1.mlp.post", "skip"},
                {"goto blocks.2.attn.pattern[h=1]; view matrix", "ablate"}};
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        run("reset edits");
        run(WANT[i].go);
        run("ablate");
        assert_int_equal(s.edits.count, 1);
        if (strncmp(s.edits.line[0], WANT[i].edit, strlen(WANT[i].edit)) != 0)
            fail_msg("after %s x does '%s'", WANT[i].go, s.edits.line[0]);
        run("ablate"); /* and takes it back */
        assert_int_equal(s.edits.count, 0);
    }
}

/* Which side lacks a node is said of the right one. */
static void which_side_has_none(void **state)
{
    (void)state;
    char why[SESSION_WHY];
    run("reset edits; mask causal");
    has(session_diff_why(&s, "blocks.0.attn.scores_masked", why), "A has no");
    has(session_diff_why(&s, "no.such.node", why), "neither side has no");
    run("reset edits");
}

/* What one state lacks of another is done, and nothing else: each pair of lists of edits. */
static void from_one_list_of_edits_to_another(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *lines;
    } WANT[] = {{"set scale off", "set scale off; skip positions", "skip positions\n"},
                {"set scale off; skip positions", "set scale off", "edits drop 2\n"},
                {"set scale off", "skip positions", "reset edits\nskip positions\n"},
                {"set scale off; skip positions", "", "reset edits\n"},
                {"", "set scale off", "set scale off\n"}};
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        Buf out = {0};
        run("reset edits; goto image");
        if (*WANT[i].from)
            run(WANT[i].from);
        StateShot *from = state_shot(&s);
        run("reset edits");
        if (*WANT[i].to)
            run(WANT[i].to);
        StateShot *to = state_shot(&s);
        state_between(&s, from, to, &out);
        if (strncmp(buf_str(&out), WANT[i].lines, strlen(WANT[i].lines)) != 0)
            fail_msg("from '%s' to '%s': %s", WANT[i].from, WANT[i].to, buf_str(&out));
        state_shot_free(from);
        state_shot_free(to);
        buf_free(&out);
    }
    run("reset edits");
}

/* A number is the step of that number, for whatever takes an address. */
static void steps_by_number(void **state)
{
    (void)state;
    const Graph *g = session_graph(&s, SIDE_B);
    Err err = {""};
    Address to;
    int total;
    for (int step = 1; step <= 12; step++) {
        char word[16];
        snprintf(word, sizeof word, "%d", step);
        assert_true(address_word(&s, g, word, 1, &to, &err));
        run("goto first");
        if (step > 1) {
            snprintf(word, sizeof word, "next %d", step - 1);
            run(word);
        }
        assert_int_equal(session_step_number(&s, &total), step);
        assert_string_equal(to.path, s.place.path);
    }
    assert_false(address_word(&s, g, "0", 1, &to, &err));
    assert_false(address_word(&s, g, "1000", 1, &to, &err));
    has(err.text, "steps go from 1 to");
}

/* A patch is the object's where enough of its own pixels are, no neighbour's. */
static void the_objects_patches(void **state)
{
    (void)state;
    enum { GRID = 8, SIDE = DRAWN_SIDE / GRID };
    Err err = {""};
    for (int picture = 0; picture < 3; picture++) {
        char line[16];
        snprintf(line, sizeof line, "open #%d", 17 + picture);
        run(line);
        const uint8_t *mask = session_input(&s, SIDE_B)->mask;
        const float *object = session_need(&s, SIDE_B, "where.object", &err);
        assert_true(mask && object);
        for (int p = 0; p < GRID * GRID; p++) {
            int on = 0;
            for (int i = 0; i < SIDE * SIDE; i++)
                on += mask[(p / GRID * SIDE + i / SIDE) * DRAWN_SIDE + p % GRID * SIDE + i % SIDE];
            assert_int_equal(object[p] != 0.0f, 100 * on > OBJECT_PERCENT * SIDE * SIDE * 255);
        }
    }
    run("open #17");
}

static void losses_and_showcases(void **state)
{
    (void)state;
    run("gradient loss"); /* of the class that the picture is known to show */
    refused("gradient loss[x]", "expected loss[o=CLASS]");
    refused("gradient loss[o=unicorn]", "there is no class");
    run("gradient off");
    run("goto blocks.1.attn.pattern; average on; showcase 1");
    assert_false(s.look.average); /* one head's row is shown */
    run("reset edits; open #17");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_room_for_their_end),
        cmocka_unit_test(along_the_terms),
        cmocka_unit_test(words_that_are_no_value),
        cmocka_unit_test(values_that_are_no_picture),
        cmocka_unit_test(the_objects_patches),
        cmocka_unit_test(losses_and_showcases),
        cmocka_unit_test(steps_by_number),
        cmocka_unit_test(marks_have_room_for_their_names),
        cmocka_unit_test(axes_follow_one_another),
        cmocka_unit_test(random_patches),
        cmocka_unit_test(the_map_opens),
        cmocka_unit_test(laboratory_keeps_the_block),
        cmocka_unit_test(where_goes_round),
        cmocka_unit_test(nothing_to_go_along),
        cmocka_unit_test(ledgers_have_two_views),
        cmocka_unit_test(places_that_make_no_sense),
        cmocka_unit_test(undo_and_redo_have_ends),
        cmocka_unit_test(switching_off_what_is_in_focus),
        cmocka_unit_test(which_side_has_none),
        cmocka_unit_test(from_one_list_of_edits_to_another),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
