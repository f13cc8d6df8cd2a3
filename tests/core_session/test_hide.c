/* Hiding patches behind the mask token: what the lines mean, how they are undone, completed and refused. */
#include <sys/stat.h>
#include <unistd.h>

#include "asking.h"
#include "core/base/clock.h"
#include "core/session/edit/edits.h"

enum { P = 64, D = 64 }; /* patches and width of the bundled configuration */

static char folder[64];

/* A session on a seeded model of the bundled shape; its head guesses pixels where it has a mask token. */
static int open_model(bool mask_token)
{
    Model m;
    Err err = {""};
    VitConfig c = model_bundled_config();
    c.mask_token = c.reconstruct = mask_token;
    snprintf(folder, sizeof folder, "/tmp/vitrine-test-hide-%ld", (long)getpid());
    mkdir(folder, 0700);
    model_seeded(&m, &c, 7);
    if (!model_save(&m, folder, &err))
        fail_msg("%s", err.text);
    model_free(&m);
    start(NULL);
    if (!session_open_model(&s, folder, &err))
        fail_msg("%s", err.text);
    return 0;
}

static int with_token(void **state)
{
    (void)state;
    return open_model(true);
}

static int without_token(void **state)
{
    (void)state;
    return open_model(false);
}

static int close_model(void **state)
{
    static const char *const files[] = {"model.safetensors", "config.json", "preprocessor_config.json"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return stop(state);
}

static uint64_t hash(Side side)
{
    uint64_t h = 0;
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    assert_true(session_hash(&s, side, &h));
    return h;
}

/* Which patches of B are the mask token now, which must be all that differ from A: 64 letters, # hidden. */
static const char *shown(void)
{
    static char text[P + 1];
    NodeId n;
    const float *b = values("patch_embed", &n), *token = vit_weight(&s.model.weights, VIT_MASK_TOKEN, 0)->data;
    const float *a = session_need(&s, SIDE_A, "patch_embed", NULL);
    for (size_t p = 0; p < P; p++) {
        bool hidden = memcmp(b + p * D, token, D * sizeof *b) == 0;
        if (!hidden)
            assert_memory_equal(a + p * D, b + p * D, D * sizeof *b);
        text[p] = hidden ? '#' : '.';
    }
    return text;
}

static void hides(const char *const *rows) /* eight rows of eight */
{
    const char *text = shown();
    for (size_t r = 0; r < 8; r++)
        if (strncmp(text + 8 * r, rows[r], 8) != 0)
            fail_msg("row %zu is %.8s, expected %s", r, text + 8 * r, rows[r]);
}
#define HIDES(...) hides((const char *const[8]){__VA_ARGS__})
#define NONE "........"

static int count(void)
{
    int n = 0;
    for (const char *t = shown(); *t; t++)
        n += *t == '#';
    return n;
}

static void patches_by_name(void **state)
{
    (void)state;
    uint64_t base = hash(SIDE_A);
    has(run("hide r3c4"), "Patch r3c4 is hidden behind the mask token.");
    HIDES(NONE, NONE, NONE, "....#...", NONE, NONE, NONE, NONE);
    assert_true(hash(SIDE_B) != base && hash(SIDE_A) == base);
    has(run("hide r0c0 r7c7 patch_embed[p=r1c0:r1c4]"), "In force: hide r3c4; hide r0c0 r7c7 patch_embed[p=r1c0:r1c4]");
    HIDES("#.......", "####....", NONE, "....#...", NONE, NONE, NONE, ".......#");
    run("undo; undo");
    assert_true(hash(SIDE_B) == base && s.edits.count == 0);
    run("redo");
    HIDES(NONE, NONE, NONE, "....#...", NONE, NONE, NONE, NONE);
    run("hide r3c4"); /* once more: shown again */
    assert_int_equal(s.edits.count, 0);
    run("hide patch_embed[p=r2c2]");
    HIDES(NONE, NONE, "..#.....", NONE, NONE, NONE, NONE, NONE);
    run("reset edits; hide 63");
    HIDES(NONE, NONE, NONE, NONE, NONE, NONE, NONE, ".......#");
    run("reset edits; hide patch_embed");
    assert_int_equal(count(), P);
}

static void the_one_under_the_cursor(void **state)
{
    (void)state;
    run("goto patch_embed[p=r2c5]; hide");
    assert_string_equal(s.edits.line[0], "hide r2c5");
    HIDES(NONE, NONE, ".....#..", NONE, NONE, NONE, NONE, NONE);
    run("hide");
    assert_int_equal(s.edits.count, 0);
    run("hide patch_embed; hide"); /* hidden with all others: shown again, and back */
    assert_string_equal(s.edits.line[1], "hide not r2c5");
    assert_int_equal(count(), P - 1);
    assert_true(edits_shown(&s, SIDE_B)[2 * 8 + 5] == 1 && edits_shown(&s, SIDE_B)[0] == 0);
    run("hide");
    assert_int_equal(s.edits.count, 1);
    assert_int_equal(count(), P);
    run("reset edits");
    assert_null(edits_shown(&s, SIDE_B));
}

/* Lines add up to one edit, until another edit of the patches comes between them. */
static void lines_are_one_edit(void **state)
{
    (void)state;
    NodeId n;
    run("hide r0c0 r0c1 r0c2; set scale off; hide not r0c1 r5c5; hide r1c0");
    HIDES("#.#.....", "#.......", NONE, NONE, NONE, NONE, NONE, NONE);
    assert_true(session_node(&s, SIDE_B, "patch_embed.edit_keep") != NO_NODE);
    assert_true(session_node(&s, SIDE_B, "patch_embed.edit_keep2") == NO_NODE);
    run("reset edits; hide r0c0; shuffle seed=3; hide 0"); /* the same line once more would take it back */
    const float *x = values("patch_embed", &n), *token = vit_weight(&s.model.weights, VIT_MASK_TOKEN, 0)->data;
    int hidden = 0;
    for (size_t p = 0; p < P; p++)
        hidden += memcmp(x + p * D, token, D * sizeof *x) == 0;
    assert_int_equal(hidden, 2); /* the one that moved, and the one that came to its place */
}

static void a_share_at_random(void **state)
{
    (void)state;
    char first[P + 1];
    run("hide random 0.4");
    assert_int_equal(count(), 26);
    snprintf(first, sizeof first, "%s", shown());
    run("reset edits; hide random 0.4 seed=1");
    assert_string_equal(shown(), first);
    run("reset edits; hide random 0.4 seed=2");
    assert_int_equal(count(), 26);
    assert_string_not_equal(shown(), first);
    run("reset edits; hide random 1");
    assert_int_equal(count(), P);
    run("reset edits; hide random 1e-9");
    assert_int_equal(count(), 1);
}

/* The pixels under a hidden patch matter to its token no more (to the others only through the picture's mean and
 * deviation); a shuffle before or after does what it says. */
static void with_other_edits(void **state)
{
    (void)state;
    NodeId n;
    run("hide r3c4");
    float kept[2 * D];
    const size_t before = (1 + 3 * 8 + 3) * (size_t)D; /* r3c3 in full_embed, then r3c4, which is hidden */
    memcpy(kept, values("full_embed", &n) + before, sizeof kept);
    run("grey r3c4");
    assert_memory_equal(values("full_embed", &n) + before + D, kept + D, D * sizeof *kept);
    run("grey r3c3");
    assert_memory_not_equal(values("full_embed", &n) + before, kept, D * sizeof *kept);
    run("reset edits; hide r0c0; shuffle seed=3");
    const float *x = values("patch_embed", &n), *token = vit_weight(&s.model.weights, VIT_MASK_TOKEN, 0)->data;
    size_t at = 0;
    while (at < P && memcmp(x + at * D, token, D * sizeof *x) != 0)
        at++;
    assert_true(at > 0 && at < P); /* hidden first, then moved */
    run("reset edits; ablate patch_embed[p=r0c0]; hide r0c0");
    HIDES("#.......", NONE, NONE, NONE, NONE, NONE, NONE, NONE);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    refused("hide r8c0", "'r8c0' is no patch: expected one from r0c0 to r7c7");
    refused("hide r0c0 cls", "'cls' is no patch");
    refused("hide not", "expected patches");
    refused("hide not r9c9", "is no patch");
    refused("hide not not r1c1", "'not' is no patch");
    refused("hide random", "expected a share");
    refused("hide random 0", "expected a share");
    refused("hide random 1.5", "expected a share");
    refused("hide random nan", "expected a share");
    refused("hide random -1", "expected a share");
    refused("hide random 0.4 3", "expected a share");
    refused("hide random 0.4 seed=x", "seed=x: expected a number");
    refused("hide full_embed[t=cls]", "patches are hidden");
    refused("hide patch_embed[d=3]", "say p=… only");
    refused("hide patch_embed[p=99]", "p=99");
    assert_int_equal(s.edits.count, 0);
    refused("hide blocks.1[p=3]", "is a group of nodes");
}

static void no_mask_token(void **state)
{
    (void)state;
    refused("hide r3c4", "this model has no mask token");
    refused("hide random 0.5", "this model has no mask token");
    assert_int_equal(s.edits.count, 0);
}

static void completion(void **state)
{
    (void)state;
    Buf out = {0};
    command_complete(&s, &commands, "hide r7c", &out);
    assert_string_equal(buf_str(&out),
                        "hide r7c0\nhide r7c1\nhide r7c2\nhide r7c3\nhide r7c4\nhide r7c5\nhide r7c6\nhide r7c7\n");
    buf_clear(&out);
    command_complete(&s, &commands, "hide r0c0 r7c7", &out);
    assert_string_equal(buf_str(&out), "hide r0c0 r7c7\n");
    buf_clear(&out);
    command_complete(&s, &commands, "hide ra", &out);
    assert_string_equal(buf_str(&out), "hide random\n");
    buf_free(&out);
}

/* The guess is computed from the edited tokens, and every cell of an edited run is explained as any other. */
static void what_it_guesses(void **state)
{
    (void)state;
    NodeId n;
    float *before = malloc((size_t)3 * 48 * 48 * sizeof *before);
    memcpy(before, values("guess", &n), (size_t)3 * 48 * 48 * sizeof *before);
    assert_true(graph_node(session_graph(&s, SIDE_B), n)->flags & NODE_PROBE);
    run("hide r3c4");
    assert_memory_not_equal(values("guess", &n), before, (size_t)3 * 48 * 48 * sizeof *before);
    free(before);
    has(run("why patch_embed[p=r3c4,d=2]"), "mask_token");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(patches_by_name, with_token, close_model),
        cmocka_unit_test_setup_teardown(the_one_under_the_cursor, with_token, close_model),
        cmocka_unit_test_setup_teardown(lines_are_one_edit, with_token, close_model),
        cmocka_unit_test_setup_teardown(a_share_at_random, with_token, close_model),
        cmocka_unit_test_setup_teardown(with_other_edits, with_token, close_model),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, with_token, close_model),
        cmocka_unit_test_setup_teardown(no_mask_token, without_token, close_model),
        cmocka_unit_test_setup_teardown(completion, with_token, close_model),
        cmocka_unit_test_setup_teardown(what_it_guesses, with_token, close_model),
    };
    return cmocka_run_group_tests_name("core/session hide", tests, NULL, NULL);
}
