/* Finding nodes by path: the index against a look at every node, while nodes come, go and change their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/rng.h"
#include "core/graph/edit.h"

enum { NAMES = 40, STEPS = 3000 };

static NodeId last_of(const Graph *g, const char *path)
{
    for (NodeId n = g->count - 1; n >= 0; n--)
        if (strcmp(g->nodes[n].path, path) == 0)
            return n;
    return NO_NODE;
}

static const char *name(int i)
{
    static char text[32];
    snprintf(text, sizeof text, i % 3 ? "blocks.%d.x" : "x%d", i);
    return text;
}

static void check(const Graph *g)
{
    for (int i = 0; i < NAMES; i++)
        assert_int_equal(graph_find(g, name(i)), last_of(g, name(i)));
}

/* The same names again and again, so that most paths have several nodes; as many nodes as several sizes of the table
 * hold. */
static void index_is_what_a_walk_finds(void **state)
{
    (void)state;
    Graph g;
    Rng r = rng_seed(5, 1);
    NodeId most = 0;
    graph_init(&g);
    assert_int_equal(graph_find(&g, "x0"), NO_NODE);
    for (int step = 0; step < STEPS; step++) {
        uint32_t what = rng_below(&r, 100);
        const char *path = name((int)rng_below(&r, NAMES));
        if (what < 70 || g.count == 0)
            graph_const(&g, path, DIMS_SCALAR, 1);
        else if (what < 99)
            graph_rename(&g, (NodeId)rng_below(&r, (uint32_t)g.count), path);
        else
            graph_truncate(&g, g.count - (NodeId)rng_below(&r, (uint32_t)(g.count < 60 ? g.count : 60)));
        most = g.count > most ? g.count : most;
        if (step % 7 == 0)
            check(&g);
    }
    assert_true(most > 600);
    check(&g);
    Graph fewer = g; /* shares the table and has not all of its nodes */
    for (fewer.count = g.count; fewer.count > 0; fewer.count -= fewer.count > 40 ? 37 : 1)
        check(&fewer);
    check(&fewer);
    graph_truncate(&g, 0);
    check(&g);
    graph_const(&g, "x3", DIMS_SCALAR, 1);
    assert_int_equal(graph_find(&g, "x3"), 0);
    graph_free(&g);
}

static void edited_graphs_find_their_own(void **state)
{
    (void)state;
    Graph g, edited = {0};
    Err err;
    graph_init(&g);
    NodeId a = graph_const(&g, "a", DIMS_SCALAR, 2), b = graph_zip(&g, "b", OP_ADD, a, a);
    graph_zip(&g, "c", OP_MUL, b, a);
    const Edit twice[] = {{.kind = EDIT_SCALE, .path = "b", .factor = 3}, {.kind = EDIT_SET, .path = "b", .value = 5}};
    assert_true(graph_edit(&edited, &g, twice, 2, &err));
    assert_int_equal(graph_find(&g, "b"), b);
    assert_int_equal(graph_find(&g, "b.unedited"), NO_NODE);
    for (NodeId n = 0; n < edited.count; n++)
        assert_int_equal(graph_find(&edited, edited.nodes[n].path), n); /* no name twice, none lost */
    const Node *c = graph_node(&edited, graph_find(&edited, "c"));
    assert_int_equal(c->in[0], graph_find(&edited, "b"));
    assert_int_equal(c->counterpart, graph_find(&g, "c"));
    assert_int_equal(graph_node(&edited, graph_find(&edited, "b.unedited"))->op, OP_ADD);
    assert_int_equal(graph_node(&edited, graph_find(&edited, "b.unedited2"))->op, OP_MUL);
    graph_free(&edited);
    graph_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(index_is_what_a_walk_finds),
                                       cmocka_unit_test(edited_graphs_find_their_own)};
    return cmocka_run_group_tests_name("core/graph index", tests, NULL, NULL);
}
