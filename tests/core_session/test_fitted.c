/* A model on pictures of another size, and how alike two pictures are to a model that ends with an embedding. */
#include "core/session/ask/ask_parts.h"
#include "core/session/difference.h"
#include "core/session/screens.h"
#include "tests/core_session/asking.h"

#define CLIP "tests/data/families/clip"

static void open_as(const char *model, const char *resolution)
{
    Err err = {""};
    session_free(&s);
    if (!session_init_as(&s, model, (ModelWish){.resolution = resolution}, "#17", 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static void note_taken(void *out, const char *key, const char *label, const char *text)
{
    (void)label;
    if (strcmp(key, "takes") == 0)
        snprintf(out, 512, "%s", text);
}

static void another_size(void **state)
{
    (void)state;
    static const char *const bad[][2] = {{"50", "whole number of patches"}, {"48x", "expected pixels"},
                                         {"x", "expected pixels"},          {"-6", "must be 1 to"},
                                         {"48x48x48", "expected pixels"},   {"0", "must be 1 to"}};
    run("view positions");
    refused("view fitted", "--resolution");
    refused("option fitted on", "--resolution");
    for (int i = 0; i < 4; i++) { /* without a fitted table the ways of seeing are the four maps of likeness */
        run("view next");
        assert_false(s.look.positions.fitted);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Session other;
        Err err = {""};
        assert_false(session_init_as(&other, NULL, (ModelWish){.resolution = bad[i][0]}, "#17", 2, NULL, NULL, &err));
        has(err.text, bad[i][1]);
    }
    open_as(NULL, "72x60");
    assert_int_equal(s.model.vit.image_w, 72);
    assert_int_equal(s.model.vit.image_h, 60);
    has(s.model.assumptions[0], "72 × 60 instead of 48 × 48 (--resolution)");
    assert_non_null(s.model.guess_note);
    char taken[512] = ""; /* width first, here as there */
    s.model.family->facts(&s.model, note_taken, taken);
    has(taken, "72 × 60 pixels, 3 channels, in 12 × 10 patches of 6 × 6");
    run("view positions; view fitted");
    assert_true(s.look.positions.fitted);
    run("view raw; view one");
    assert_false(s.look.positions.fitted);
    int seen = 0;
    for (int i = 0; i < 5; i++, run("view next"))
        seen += s.look.positions.fitted;
    assert_int_equal(seen, 1);
    assert_false(s.look.positions.fitted || s.look.positions.centred || s.look.positions.grids); /* once round */
    has(run("explain pos_fit.probe.bicubic[y=1,x=2,d=3]"), "pos_fit.probe.bicubic");
    open_as(NULL, "48");
    assert_int_equal(s.model.guesses, 0);
}

static void likeness(void **state)
{
    (void)state;
    float x = 7;
    Err err = {""};
    assert_false(difference_likeness(&s, &x));
    open_as(CLIP, NULL);
    assert_false(difference_likeness(&s, &x)); /* nobody to compare with */
    has(run("goto embedding; say"), "a vector of 12 numbers and of length");
    run("pin; open #5");
    assert_true(difference_likeness(&s, &x));
    const char *path = "embedding_unit";
    const float *a = ask_need(&s, SIDE_A, session_node(&s, SIDE_A, path), &err),
                *b = ask_need(&s, SIDE_B, session_node(&s, SIDE_B, path), &err);
    double sum = 0, other = 0;
    for (int i = 0; i < 12; i++) {
        sum += (double)a[i] * (double)b[i];
        other += (double)a[i] * (double)a[i];
    }
    assert_true(fabs(sum - (double)x) < 1e-6 && fabs(other - 1) < 1e-6 && sum < 0.999);
    has(run("goto embedding; say"), "Its cosine with A's is 0.90");
    run("open #17");
    if (difference_likeness(&s, &x)) /* the same picture again */
        assert_true(fabs((double)x - 1) < 1e-6);
}

/* Sentences of how attention knows places: a turn's angle, a bias of the distance, and the scores with it. */
static void places(void **state)
{
    (void)state;
    open_as("tests/data/families/timm_rope_mixed_ape", NULL);
    has(run("goto blocks.1.attn.angle[h=1,t=r2c3,k=0]; say"),
        "In block 1, head 1 turns pair 0 of patch r2c3 by 2.71 (155°): column 3 · 1.03 + row 2 · -0.192,");
    has(run("set blocks.1.attn.angle 1; say"), "1");
    open_as("tests/data/families/data2vec", NULL);
    refused("view positions; view fitted", "as the model's relative positions are");
    open_as("tests/data/families/timm_beit", NULL);
    refused("view fitted", "no table of position embeddings");
    has(run("goto blocks.0.attn.bias[h=1,t=r1c1,u=r2c3]; say"),
        "In head 1 of block 0, for query patch r1c1, r2c3 gets -0.551 added to its scaled score: row r-1c-2 of");
    has(run("goto blocks.0.attn.bias[h=1,t=r1c1,u=cls]; say"), "row to_cls of the table");
    has(run("say blocks.0.attn.scores_biased[h=1,t=r1c1,u=r2c3]"), "with the relative position bias it is 5.72");
    has(run("say blocks.0.attn.pattern[h=1,t=r1c1,u=r2c3]"), "Its score is 5.72");
    refused("mask blocks.0.attn.scores_scaled[u=cls]", "a mask goes onto biased scores");
    run("mask blocks.0.attn.scores_biased[u=r2c3]");
    has(run("say blocks.0.attn.pattern[h=1,t=r1c1,u=r2c3]"), "gets a weight of 0,");
    run("undo; set scale off");
    has(run("say blocks.0.attn.scores_biased[h=1,t=r1c1,u=r2c3]"), "with the relative position bias");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_size, start, stop),
        cmocka_unit_test_setup_teardown(likeness, start, stop),
        cmocka_unit_test_setup_teardown(places, start, stop),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    commands_free(&commands);
    return status;
}
