/* Shared by the tests of the analyses: a seeded model with its probes, and numbers compared with a plain calculation in
 * double. */
#ifndef VITRINE_TESTS_CORE_MODELS_PROBE_TEST_H
#define VITRINE_TESTS_CORE_MODELS_PROBE_TEST_H
#include "tests/core_models/oracle.h"

#include "core/models/probes.h"

static inline const float *value(Bench *b, const char *path, NodeId *n)
{
    *n = graph_find(&b->graph, path);
    if (*n == NO_NODE)
        fail_msg("no node %s", path);
    return run_need(b->run, *n);
}

static inline void near(double x, double want, const char *what)
{
    if (!(fabs(x - want) <= 1e-5 * (fabs(want) > 1 ? fabs(want) : 1)))
        fail_msg("%s: %.9g, expected %.9g", what, x, want);
}

static inline VitConfig small(void)
{
    VitConfig c;
    bool found = model_size("tiny", &c);
    assert_true(found);
    return c;
}

static inline void add_probes(Bench *b)
{
    probes_add(&b->graph, &b->model.vit, &b->nodes);
    run_extend(b->run);
}

static inline void with_probes(Bench *b, const VitConfig *c)
{
    bench_seeded(b, c, 7);
    add_probes(b);
}

/* "[h,t]" */
static inline void has_shape(Bench *b, const char *path, const char *want)
{
    NodeId n;
    char got[64] = "[";
    value(b, path, &n);
    Dims d = graph_node(&b->graph, n)->dims;
    for (int i = 0; i < d.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? "," : "", b->graph.axes[d.axis[i]].sym);
    strcat(got, "]");
    if (strcmp(got, want) != 0)
        fail_msg("%s%s, expected %s", path, got, want);
}
#endif
