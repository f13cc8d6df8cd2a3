/* What lines of changes mean: the same later as when they were typed, in the order in which they came, and back again
 * by undo. */
#include <time.h>
#include <unistd.h>

#include "asking.h"
#include "core/base/clock.h"
#include "core/session/address.h"

static uint64_t hash(Side side)
{
    uint64_t h = 0;
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    assert_true(session_hash(&s, side, &h));
    return h;
}

/* A short name is the focused block's; the line must not move to another block with the focus. */
static void a_line_keeps_its_node(void **state)
{
    (void)state;
    run("goto blocks.0.attn.pattern; mask scores_scaled[u=cls]");
    assert_string_equal(s.edits.line[0], "mask blocks.0.attn.scores_scaled[u=cls]");
    run("goto blocks.2.attn.pattern; set scale off at=blocks.3");
    assert_true(session_node(&s, SIDE_B, "blocks.0.attn.scores_masked") != NO_NODE);
    assert_true(session_node(&s, SIDE_B, "blocks.2.attn.scores_masked") == NO_NODE);
}

static void restoring_takes_back_what_is_named(void **state)
{
    (void)state;
    run("ablate blocks.1.attn.out; ablate blocks.1.attn.out_nobias; ablate blocks.1.attn.z[h=2]; goto blocks.1.attn.z");
    run("restore blocks.1.attn.out");
    assert_int_equal(s.edits.count, 2);
    run("restore z");
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.edits.line[0], "ablate blocks.1.attn.out_nobias");
    refused("restore blocks.1.attn.z", "column 9: 'blocks.1.attn.z' is not switched off");
}

/* What was patched in stays, whatever becomes of the place it came from. */
static void a_patch_holds_what_it_took(void **state)
{
    (void)state;
    uint64_t base = hash(SIDE_A);
    refused("patch blocks.1.attn.z from=a", "needs a pinned A");
    run("pin; open #3; patch blocks.1.attn.z from=a");
    uint64_t patched = hash(SIDE_B);
    run("pin off; set scale off; undo");
    assert_true(hash(SIDE_B) == patched);
    run("pin; undo; redo");
    assert_true(hash(SIDE_B) == patched);
    run("pin off; reset edits; open #17");
    assert_true(hash(SIDE_B) == base);
    run("undo");
    assert_int_equal(s.edits.count, 1);
}

static void patches_come_from_files(void **state)
{
    (void)state;
    char line[256], name[] = "/tmp/vitrine-test-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    close(fd);
    char file[64];
    snprintf(file, sizeof file, "%s a.npy", name); /* with a blank */
    snprintf(line, sizeof line, "export \"%s\" blocks.1.attn.z axes=h,t,e", file);
    run(line);
    snprintf(line, sizeof line, "patch blocks.1.attn.z from=\"%s\"", file);
    refused(line, "in another order");
    snprintf(line, sizeof line, "export \"%s\" blocks.1.attn.z", file);
    refused(line, "is there already");
    snprintf(line, sizeof line, "export \"%s\" blocks.1.attn.z over=yes", file);
    run(line);
    snprintf(line, sizeof line, "ablate blocks.1.attn.z; patch blocks.1.attn.z from=\"%s\"", file);
    run(line);
    unlink(file);
    unlink(name);
    const float *a = session_need(&s, SIDE_A, "blocks.1.attn.z", NULL),
                *b = session_need(&s, SIDE_B, "blocks.1.attn.z", NULL);
    assert_memory_equal(a, b, 65 * 64 * sizeof(float));
    run("set scale off; undo"); /* the file is gone, its values are not */
}

/* Every change of the picture is on top of those before it, in whatever words. */
static void the_picture_is_changed_in_order(void **state)
{
    (void)state;
    run("set pixels[c=R,y=0,i=0,x=0,j=0] 7; grey r3c3; set pixels[c=R,y=3,i=0,x=3,j=0] 9; swap r0c0 r3c3");
    const float *x = session_need(&s, SIDE_B, "pixels", NULL);
    size_t first = 0, third = (3 * 6) * 48 + 3 * 6;
    assert_true(x[first] == 9 && x[third] == 7);
    assert_true(x[first + 1] == 127.5f);
    run("reset edits; grey r0c0; set pixels 3");
    x = session_need(&s, SIDE_B, "pixels", NULL);
    for (size_t i = 0; i < (size_t)3 * 48 * 48; i++)
        assert_true(x[i] == 3);
}

static void a_pin_reads_no_file(void **state)
{
    (void)state;
    uint64_t first = hash(SIDE_A);
    snprintf(s.now->input.path, sizeof s.now->input.path, "-"); /* as if it had come through a pipe */
    run("pin; set scale off");
    assert_true(hash(SIDE_A) == first && hash(SIDE_B) != first);
    run("pin"); /* now A is edited too */
    assert_true(hash(SIDE_A) == hash(SIDE_B));
    run("reset edits");
    assert_true(hash(SIDE_B) == first);
    assert_int_equal(s.pinned->lines.count, 1);
    run("model bundled"); /* the picture stays */
    assert_true(hash(SIDE_A) == first);
    assert_false(session_compares(&s));
}

static void mistyped_arguments_are_refused(void **state)
{
    (void)state;
    refused("set scale off ad=blocks.1", "column 15: 'ad=' means nothing here");
    refused("open a=b.png", "means nothing here");
    refused("undo all", "column 6: 'all' means nothing here; it is: undo, alone"); /* nor a word too many */
    refused("block 1 2", "column 9: '2' means nothing here; it is: block N");
    refused("move up 3 4", "column 11: '4'");
    refused("view matrix diff", "column 13: 'diff'");
    refused("map zoom", "column 5: 'zoom'");
    refused("ablate blocks.0.attn.z[h=1,h=2]", "h is given twice");
    refused("  goto blocks.0.attn.pattern[h=1,t=99]", "column 34: t=99");
    refused("goto blocks.0.attn.pattern[t=0:65x]", "goes from cls to r7c7");
    run("set scale off at=\"blocks.1\"");
    assert_true(session_edited(&s));
}

static void changes_have_a_limit(void **state)
{
    (void)state;
    char line[64];
    for (int i = 0; i < 200; i++) {
        snprintf(line, sizeof line, "set logits[o=%d] %d", i % 10, i);
        run(line);
    }
    refused("set scale off", "no room for more");
    run("undo; set scale off");
}

/* A pattern that could be taken apart in more ways than there are atoms. */
static void patterns_are_matched_in_time(void **state)
{
    (void)state;
    clock_t start = clock();
    refused("export /tmp/none.npz ****************************************************************q_z",
            "no node matches");
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
    assert_true(address_match("blocks.*.attn.z", "blocks.10.attn.z") &&
                !address_match("blocks.*.z", "blocks.1.attn.z"));
    assert_true(address_match("blocks.**.z", "blocks.1.attn.z") && address_match("blocks.1.*", "blocks.1.attn.z"));
    assert_true(address_match("**", "") && address_match("a*c", "abbc") && !address_match("a*c", "ab.c") &&
                !address_match("*", "a.b"));
}

/* Names of public checkpoints hold commas and blanks, and some occur twice. */
static void addresses_can_be_read_back(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"tench, Tinca tinca", "shark", "crane", "crane", "1", "a:b"};
    static const char *const WRITTEN[] = {"logits[o=0]", "logits[o=shark]", "logits[o=crane]",
                                          "logits[o=3]", "logits[o=4]",     "logits[o=5]"};
    static const float VALUES[6] = {0};
    Graph g;
    graph_init(&g);
    int o = graph_axis(&g, (Axis){.sym = "o", .name = "class", .n = 6, .kind = AXIS_CLASS, .labels = NAMES});
    NodeId n = graph_leaf(&g, "logits", DIMS(o), (Leaf){LEAF_CONST, VALUES, "test"});
    for (size_t i = 0; i < 6; i++) {
        Buf text = {0};
        Address back;
        Err err;
        address_put(&g, n, i, &text);
        assert_string_equal(buf_str(&text), WRITTEN[i]);
        assert_true(address_parse(&s, &g, buf_str(&text), &back, &err));
        assert_int_equal(back.cells.range[0].from, i);
        buf_free(&text);
    }
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_keeps_its_node, start, stop),
        cmocka_unit_test_setup_teardown(restoring_takes_back_what_is_named, start, stop),
        cmocka_unit_test_setup_teardown(a_patch_holds_what_it_took, start, stop),
        cmocka_unit_test_setup_teardown(patches_come_from_files, start, stop),
        cmocka_unit_test_setup_teardown(the_picture_is_changed_in_order, start, stop),
        cmocka_unit_test_setup_teardown(a_pin_reads_no_file, start, stop),
        cmocka_unit_test_setup_teardown(mistyped_arguments_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(changes_have_a_limit, start, stop),
        cmocka_unit_test_setup_teardown(patterns_are_matched_in_time, start, stop),
        cmocka_unit_test_setup_teardown(addresses_can_be_read_back, start, stop),
    };
    return cmocka_run_group_tests_name("core/session changes", tests, NULL, NULL);
}
