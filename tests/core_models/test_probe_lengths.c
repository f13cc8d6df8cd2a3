/* How long tokens are in every step of the map, and how far they move in it. */
#include "tests/core_models/probe_test.h"

#include "core/models/stages.h"

/* The root of the squares of token t's numbers in a, less those of b where there is one. */
static double length(const Bench *b, const float *x, const float *less, NodeId n, int token)
{
    const Graph *g = &b->graph;
    Dims d = graph_node(g, n)->dims;
    double sum = 0;
    for (size_t i = 0; i < graph_cells(g, n); i++) {
        int at[DIMS_MAX];
        dims_unravel(g->axes, d, i, at);
        for (int k = 0; k < d.n; k++)
            if ((g->axes[d.axis[k]].role == ROLE_QUERY || g->axes[d.axis[k]].role == ROLE_PLACE) && at[k] == token) {
                double v = (double)x[i] - (less ? (double)less[i] : 0);
                sum += v * v;
            }
    }
    return sqrt(sum);
}

/* Every step with tokens has them, the others have none, and they are what the values say. */
static void every_step_has_its_lengths(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    Stages s;
    int striped = 0, bare = 0;
    stages_make(&s, &b.graph);
    for (int i = 0; i < s.count; i++) {
        char path[PROBES_PATH];
        if (s.boxes[i].child == NO_BOX)
            continue;
        const char *shown = graph_node(&b.graph, s.boxes[i].show)->path;
        bool tokens = false;
        Dims d = graph_node(&b.graph, s.boxes[i].show)->dims;
        for (int k = 0; k < d.n; k++)
            tokens = tokens || b.graph.axes[d.axis[k]].role == ROLE_QUERY || b.graph.axes[d.axis[k]].role == ROLE_PLACE;
        bool has = probes_length(&b.graph, shown, path) != NULL;
        striped += has;
        bare += !has;
        assert_int_equal(has, tokens);
        NodeId n;
        const float *x = run_need(b.run, s.boxes[i].show), *l = has ? value(&b, path, &n) : NULL;
        for (int t = 0; has && t < b.graph.axes[graph_node(&b.graph, n)->dims.axis[0]].n; t++)
            near((double)l[t], length(&b, x, NULL, s.boxes[i].show, t), path);
    }
    assert_true(striped > 2 * 12 && bare >= 3);
    stages_free(&s);
    bench_free(&b);
}

static void the_stream_says_how_far_it_moved(void **state)
{
    (void)state;
    static const struct {
        const char *step, *before;
    } CASE[] = {{"full_embed", "tokens"},
                {"blocks.0.resid_mid", "blocks.0.resid_pre"},
                {"blocks.1.resid_post", "blocks.1.resid_pre"}};
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char path[PROBES_PATH];
        NodeId after, before, n;
        const float *x = value(&b, CASE[i].step, &after), *y = value(&b, CASE[i].before, &before);
        assert_non_null(probes_change(&b.graph, CASE[i].step, path));
        const float *moved = value(&b, path, &n);
        for (int t = 0; t < (int)graph_cells(&b.graph, n); t++)
            near((double)moved[t], length(&b, x, y, after, t) / length(&b, y, NULL, before, t), path);
    }
    char path[PROBES_PATH];
    assert_null(probes_change(&b.graph, "blocks.0.attn.out", path)); /* a part, not the stream */
    assert_null(probes_change(&b.graph, "blocks.0.ln1.out", path));
    bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_step_has_its_lengths),
                                       cmocka_unit_test(the_stream_says_how_far_it_moved)};
    return cmocka_run_group_tests_name("core/models/probe_lengths", tests, NULL, NULL);
}
