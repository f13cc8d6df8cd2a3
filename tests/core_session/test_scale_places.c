/* The three pictures that show what taking the scale away does are those that a search finds, among as many as is said.
 */
#include "asking.h"

#include "core/eval/evaluation.h"
#include "core/session/screens/laboratory.h"

static void same_place(const ScaleSearchRow *found, const ScalePlace *p)
{
    char label[32];
    int t = graph_axis_find(session_base(&s), "t");
    assert_true(found->found);
    axis_label(&session_base(&s)->axes[t], found->query, label, sizeof label);
    if (found->number != p->picture || found->layer != p->block || found->head != p->head ||
        strcmp(label, p->query) != 0)
        fail_msg("found: picture #%d, block %d, head %d, %s", (int)found->number, found->layer, found->head, label);
}

static void places_are_found(void **state)
{
    (void)state;
    uint64_t numbers[200];
    assert_int_equal(SCALE_SEARCHED.pictures, 200);
    ScaleSearch found;
    Err err = {""};
    for (int i = 0; i < SCALE_SEARCHED.pictures; i++)
        numbers[i] = (uint64_t)i;
    assert_true(scale_search_find(&found, &s.model, numbers, 200, s.pool, NULL, NULL, &err));
    same_place(&found.collapse, &TELLING[0]);
    same_place(&found.typical, &TELLING[1]);
    same_place(&found.steady, &TELLING[2]);
    assert_int_equal(found.changed, SCALE_SEARCHED.changed);
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

/* From the first screen, which shows the first place, the others say what they are too. */
static void from_the_door(void **state)
{
    (void)state;
    run("open #66; goto first");
    assert_true(scale_places_door(&s));
    has(run("showcase 2"), "The median of 200 pictures");
    run("reset edits; open #66; goto first");
    assert_true(scale_places_door(&s));
    has(run("showcase 3"), "change least");
}

/* The cursor stands on what the row looks at, not on the token that asks. */
static void on_the_largest(void)
{
    Err err = {""};
    NodeId n = session_node(&s, SIDE_B, s.place.path);
    const float *x = session_need(&s, SIDE_B, s.place.path, &err);
    const Graph *g = session_graph(&s, SIDE_B);
    size_t keys = (size_t)g->axes[node_role(g, n, ROLE_KEY)].n, here = session_cell(&s, SIDE_B, n);
    for (size_t k = here - here % keys, end = k + keys; k < end; k++)
        assert_true(x[k] <= x[here]);
    assert_true(x[here] > 0.9F);
}

static void command(void **state)
{
    (void)state;
    run("pin; ablate blocks.0.attn.z[h=1]");
    /* not how often: that is another figure */
    has(run("showcase"), "Of 200 pictures this row collapses most; 66 answers change");
    assert_false(session_pinned(&s));
    assert_int_equal(s.edits.count, 1);
    assert_string_equal(s.edits.line[0], "set scale off");
    assert_int_equal(s.place.screen, SCREEN_ROW);
    assert_int_equal(s.compare, COMPARE_SIDES);
    assert_int_equal(best(SIDE_A), session_input(&s, SIDE_B)->label);
    assert_int_not_equal(best(SIDE_B), session_input(&s, SIDE_B)->label);
    assert_true(entropy(SIDE_A) > entropy(SIDE_B) + 1);
    on_the_largest();
    has(run("say"), "a change of temperature");
    has(run("say"), "a twin of this model, trained without it, names 99.0 % (98.7–99.3) of 5000 held-out pictures "
                    "right, this model "
                    "99.1 % (98.8–99.4)");
    has(run("say"), "The factor alone would make it ×16, but earlier blocks changed too");
    has(run("say"), "this row gets sharper");
    has(run("showcase next"), "The median of 200 pictures: rows sharpen; 134 answers stay");
    assert_true(entropy(SIDE_A) > entropy(SIDE_B));
    has(run("showcase next"), "the rows of this one change least");
    has(run("say"), "this one hardly changes");
    assert_int_equal(best(SIDE_A), best(SIDE_B));
    assert_true(fabsf(entropy(SIDE_A) - entropy(SIDE_B)) < 0.1f);
    has(run("showcase next"), "this row collapses most");
    has(run("reset edits; set scale off"), "this row collapses most"); /* by hand, there */
    has(run("undo; goto probs; set scale off"), "Scores are no longer");
    refused("showcase 4", "expected 1");
    refused("showcase -1", "expected 1");
    refused("showcase here", "expected 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_are_found, start, stop),
        cmocka_unit_test_setup_teardown(from_the_door, start, stop),
        cmocka_unit_test_setup_teardown(command, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
