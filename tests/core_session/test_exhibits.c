/* Exhibits: several at once, two sides of different length, one difference graph, a model of another family. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/graph/anatomy.h"
#include "core/graph/explain.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "tests/second_family.h"

static Session toy;
static Err error;

static int open_toy(void **state)
{
    (void)state;
    Model m = toy_model();
    return session_init_model(&toy, &m, NULL, 1, &error) ? 0 : -1;
}

static int close_toy(void **state)
{
    (void)state;
    session_free(&toy);
    return 0;
}

static void compute(Session *of)
{
    while (!session_step_pass(of, NULL, 0, CLOCK_NEVER))
        continue;
}

/* The map has every block of both stacks, and every node of the pass has a box. */
static void mapped(void **state)
{
    (void)state;
    const Graph *g = session_graph(&toy, SIDE_B);
    assert_int_equal(anatomy_blocks(g, NULL), TOY_ENCODER + TOY_DECODER);
    assert_int_equal(session_heads(&toy), TOY_HEADS);
    assert_int_equal(session_classes(&toy), TOY_WORDS);
    assert_int_equal(session_tokens(&toy), 2);
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_BLOCK)) != NO_PART;)
        assert_int_not_equal(stages_find(&toy.stages, anatomy_part(g, p)->scope), NO_BOX);
    assert_string_equal(toy.place.path, "encoder.words.given");
    assert_int_equal(model_grid(toy.now->model).rows, 0);
    PictureGrid grid;
    assert_false(model_grid_needed(toy.now->model, &grid, &error));
    assert_non_null(strstr(error.text, "picture models"));
}

static const float *values_of(const void *run, NodeId n)
{
    return run_peek(run, n);
}

/* Every cell of every node is what its explanation says, bit for bit. */
static void explained(void **state)
{
    (void)state;
    const Graph *g = session_graph(&toy, SIDE_B);
    Run *r = session_run(&toy, SIDE_B);
    size_t cells = 0;
    for (NodeId n = 0; n < g->count; n++) {
        const float *x = run_need(r, n);
        for (size_t c = 0; graph_node(g, n)->op != OP_LEAF && c < graph_cells(g, n); c++, cells++) {
            Explain e = explain_open(g, n, c);
            float y = explain_fold(&e, values_of, r);
            assert_memory_equal(&y, &x[c], sizeof y);
        }
    }
    assert_true(cells > 500);
    uint64_t hash;
    compute(&toy);
    assert_true(session_hash(&toy, SIDE_B, &hash));
}

/* A of three and two words, B of five and one: no index of one is used on the other unchecked. */
static void lengths(void **state)
{
    (void)state;
    Exhibit *was = toy.now;
    Input in;
    assert_true(input_open(&in, &toy.model, "fade > abcde", &error));
    Exhibit *e = session_add(&toy, &toy.model, &in);
    assert_true(session_show(&toy, e, &error));
    session_pin(&toy, was);
    const Graph *a = session_graph(&toy, SIDE_A), *b = session_graph(&toy, SIDE_B);
    assert_ptr_not_equal(a, b);
    int at[SESSION_AXES], t = graph_axis_find(b, "t");
    toy.place.at[t] = 4;
    for (NodeId n = 0; n < a->count; n++) {
        assert_true(session_cell(&toy, SIDE_A, n) < graph_cells(a, n));
        Dims d = graph_node(a, n)->dims;
        bool past = dims_find(d, graph_axis_find(a, "t")) >= 0;
        assert_true(session_cell_there(&toy, SIDE_A, n) != past);
    }
    session_at(&toy, SIDE_A, at);
    assert_int_equal(at[graph_axis_find(a, "t")], 1);
    static const char CROSS[] = "decoder.blocks.0.cross_attn.looks", WEIGHT[] = "w_logits";
    char why[SESSION_WHY];
    assert_int_equal(session_node(&toy, SIDE_DIFF, CROSS), NO_NODE);
    assert_null(session_peek(&toy, SIDE_DIFF, CROSS));
    assert_non_null(strstr(session_diff_why(&toy, CROSS, why), "t = 2"));
    assert_null(session_need(&toy, SIDE_DIFF, CROSS, &error));
    assert_non_null(strstr(error.text, "differ in length"));
    const float *x = session_need(&toy, SIDE_DIFF, WEIGHT, &error);
    assert_non_null(x);
    for (int i = 0; i < TOY_WORDS * TOY_WIDTH; i++)
        assert_true(x[i] == 0);
    compute(&toy);
    session_pin(&toy, NULL);
    session_drop(&toy, was);
    assert_int_equal(toy.exhibit_count, 1);
}

/* Every run has a number of its own as long as it lives, and a number that is gone is B. */
static void numbered(void **state)
{
    (void)state;
    Exhibit *first = toy.now;
    Input in;
    assert_true(input_open(&in, &toy.model, "bad > a", &error));
    Exhibit *e = session_add(&toy, &toy.model, &in);
    Side one = session_run_number(first, false), two = session_run_number(e, false);
    assert_true(one >= RUN_FIRST && two >= RUN_FIRST && one != two);
    assert_int_equal(session_run_number(e, true), SIDE_NONE);
    assert_ptr_equal(session_graph(&toy, two), exhibit_graph(e));
    assert_ptr_equal(session_exhibit(&toy, one), first);
    assert_string_equal(session_input(&toy, two)->name, "bad > a");
    NodeId n = session_node(&toy, two, "probs");
    assert_non_null(session_need(&toy, two, "probs", &error));
    assert_int_equal(session_ref(two, n, 0).run, two);
    assert_true(edits_add(&toy, "ablate decoder.blocks.1.cross_attn.gathered", false, &error));
    Side edited = session_run_number(first, true);
    assert_true(edited >= RUN_FIRST && edited != two);
    assert_ptr_equal(session_graph(&toy, edited), session_graph(&toy, SIDE_B));
    assert_ptr_equal(session_graph(&toy, one), session_graph(&toy, SIDE_A));
    session_drop(&toy, e);
    assert_ptr_equal(session_graph(&toy, two), session_graph(&toy, SIDE_B));
}

/* A − B of every node at once, with nothing kept but what was asked for. */
static void differences(void **state)
{
    (void)state;
    assert_true(edits_add(&toy, "ablate encoder.blocks.0.self_attn.gathered", false, &error));
    const Graph *b = session_graph(&toy, SIDE_B);
    session_budget(&toy, 1);
    int asked = 0, other = 0;
    for (int round = 0; round < 2; round++) {
        for (NodeId n = 0; n < b->count; n++) {
            const char *path = graph_node(b, n)->path;
            if (session_node(&toy, SIDE_DIFF, path) != n)
                continue;
            const float *x = session_need(&toy, SIDE_DIFF, path, &error);
            assert_non_null(x);
            const float *left = session_need(&toy, SIDE_A, path, &error),
                        *right = session_need(&toy, SIDE_B, path, &error);
            for (size_t i = 0; i < graph_cells(b, n); i++) {
                float d = left[i] - right[i];
                assert_memory_equal(&x[i], &d, sizeof d);
                other += d != 0;
            }
            asked++;
            if (round)
                session_trim(&toy);
        }
    }
    assert_true(asked > 150 && other > 100);
    session_trim(&toy);
    session_trim(&toy);
    assert_null(session_peek(&toy, SIDE_DIFF, "probs"));
}

/* Another picture, pinned or not, another model and a graph of its own go and come; nothing of them is left. */
static void come_and_go(void **state)
{
    (void)state;
    assert_true(session_open_input(&toy, "ab > c", &error));
    assert_false(session_open_input(&toy, "xyz", &error));
    assert_non_null(strstr(error.text, "no word"));
    Graph *g = malloc(sizeof *g);
    graph_init(g);
    static const float X[] = {1, 2, 3};
    int a = graph_axis(g, (Axis){.sym = "i", .name = "row", .n = 3});
    NodeId x = graph_leaf(g, "x", DIMS(a), (Leaf){LEAF_INPUT, X, "example"});
    graph_map(g, "y", MAP_EXP, x);
    Input in = {.kind = INPUT_MATRICES, .label = -1};
    Exhibit *example = session_add_graph(&toy, g, &in), *model = toy.now;
    Side n = session_run_number(example, false);
    assert_non_null(session_need(&toy, n, "y", &error));
    assert_true(session_show(&toy, example, &error));
    assert_string_equal(session_first(&toy), "x");
    assert_int_equal(session_blocks(&toy), 0);
    assert_true(session_show(&toy, model, &error));
    session_pin(&toy, example);
    assert_int_equal(session_node(&toy, SIDE_DIFF, "y"), NO_NODE);
    assert_true(session_open_model(&toy, NULL, &error)); /* the bundled one takes a picture */
    assert_int_equal(session_input(&toy, SIDE_B)->kind, INPUT_PICTURE);
    assert_false(session_pinned(&toy));
    assert_ptr_equal(session_graph(&toy, n), g);
    session_drop(&toy, example);
    assert_int_equal(toy.exhibit_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mapped, open_toy, close_toy),
        cmocka_unit_test_setup_teardown(explained, open_toy, close_toy),
        cmocka_unit_test_setup_teardown(lengths, open_toy, close_toy),
        cmocka_unit_test_setup_teardown(numbered, open_toy, close_toy),
        cmocka_unit_test_setup_teardown(differences, open_toy, close_toy),
        cmocka_unit_test_setup_teardown(come_and_go, open_toy, close_toy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
