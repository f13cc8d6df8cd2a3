/* The two pictures that tell why the scale is there are those that a search finds, and the accuracy beside them is
 * measured anew. */
#include "asking.h"

#include "core/base/clock.h"
#include "core/eval/ablation.h"
#include "core/eval/accuracy.h"
#include "core/eval/scale_search.h"
#include "core/session/learned/scale_places.h"

static void same_place(const ScaleSearchRow *found, const ScalePlace *p)
{
    char label[32];
    int t = session_axis(s.now.base, "t");
    assert_true(found->found);
    axis_label(&s.now.base->axes[t], found->query, label, sizeof label);
    if (found->number != p->picture || found->layer != p->block || found->head != p->head ||
        strcmp(label, p->query) != 0)
        fail_msg("found: picture #%d, block %d, head %d, %s", (int)found->number, found->layer, found->head, label);
}

static void places_are_found(void **state)
{
    (void)state;
    uint64_t numbers[SCALE_SEARCHED];
    ScaleSearch found;
    Err err = {""};
    for (int i = 0; i < SCALE_SEARCHED; i++)
        numbers[i] = (uint64_t)i;
    assert_true(scale_search_find(&found, &s.model, numbers, SCALE_SEARCHED, s.pool, NULL, NULL, &err));
    same_place(&found.collapse, &TELLING[0]);
    same_place(&found.steady, &TELLING[1]);
}

static int right_of(Dataset *stock, AblationKind kind)
{
    Arena arena = {0};
    Edits edits;
    Err err = {""};
    assert_true(ablation_edits(&arena, s.now.base, (Ablation){.kind = kind}, &edits));
    const AccuracySetup setup = {.model = &s.model,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = s.now.base,
                                 .stock = stock,
                                 .pool = s.pool};
    Accuracy *e = accuracy_new(&setup, &err);
    assert_non_null(e);
    assert_true(accuracy_step(e, CLOCK_NEVER));
    int right = (int)accuracy_result(e)->right;
    accuracy_free(e);
    arena_free(&arena);
    return right;
}

static void accuracy_is_measured(void **state)
{
    (void)state;
    Pictures *pictures = pictures_drawn(&s.model.preprocess, 0);
    Dataset *stock = dataset_new(pictures, &s.model, PICTURES_HELD_OUT, 0, (size_t)SCALE_ACCURACY.pictures);
    assert_int_equal(dataset_count(stock), SCALE_ACCURACY.pictures);
    assert_int_equal(right_of(stock, ABLATION_NONE), SCALE_ACCURACY.right);
    assert_int_equal(right_of(stock, ABLATION_SCALE), SCALE_ACCURACY.without);
    dataset_free(stock);
    pictures_free(pictures);
}

static size_t best(Side side)
{
    Err err;
    const float *probs = session_need(&s, side, "probs", &err);
    size_t at = 0;
    for (size_t i = 1; i < (size_t)s.model.vit.classes; i++)
        at = probs[i] > probs[at] ? i : at;
    return at;
}

static float entropy(Side side)
{
    Err err;
    char path[96];
    snprintf(path, sizeof path, "blocks.%d.attn.probe.entropy", session_block(&s));
    const float *x = session_need(&s, side, path, &err);
    return x[session_cell(&s, side, session_node(&s, side, path))];
}

static void command(void **state)
{
    (void)state;
    run("pin; ablate blocks.0.attn.z[h=1]");
    has(run("showcase"), "of 1000 pictures 70.8 % are right, not 99.7");
    assert_null(s.pinned.base);
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.edits.line[0], "set scale off");
    assert_int_equal(s.place.screen, SCREEN_ROW);
    assert_int_equal(s.compare, COMPARE_SIDES);
    assert_int_equal(best(SIDE_A), s.now.input.label);
    assert_int_not_equal(best(SIDE_B), s.now.input.label);
    assert_true(entropy(SIDE_A) > entropy(SIDE_B) + 1);
    has(run("showcase next"), "little changes");
    assert_int_equal(best(SIDE_A), best(SIDE_B));
    assert_true(fabsf(entropy(SIDE_A) - entropy(SIDE_B)) < 0.1f);
    has(run("showcase next"), "The row collapses");
    has(run("undo; set scale off"), "The row collapses"); /* by hand, there */
    has(run("undo; goto probs; set scale off"), "Scores are no longer");
    refused("showcase 3", "expected 1");
    refused("showcase -1", "expected 1");
    refused("showcase here", "expected 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_are_found, start, stop),
        cmocka_unit_test_setup_teardown(accuracy_is_measured, start, stop),
        cmocka_unit_test_setup_teardown(command, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
