#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/session/exhibit.h"
#include "core/session/learned/measures.h"
#include "core/session/session.h"

static bool same_shape(const Graph *a, NodeId n, const Graph *b, NodeId m)
{
    Dims d = graph_node(a, n)->dims, e = graph_node(b, m)->dims;
    if (d.n != e.n)
        return false;
    for (int i = 0; i < d.n; i++)
        if (a->axes[d.axis[i]].n != b->axes[e.axis[i]].n || strcmp(a->axes[d.axis[i]].sym, b->axes[e.axis[i]].sym) != 0)
            return false;
    return true;
}

NodeId session_node(const Session *s, Side side, const char *path)
{
    const Graph *b = session_graph(s, SIDE_B);
    if (!path)
        return NO_NODE;
    if (side != SIDE_DIFF)
        return graph_find(session_graph(s, side), path);
    const Graph *a = session_graph(s, SIDE_A);
    NodeId n = graph_find(a, path), m = graph_find(b, path);
    return n != NO_NODE && m != NO_NODE && same_shape(a, n, b, m) ? m : NO_NODE;
}

static const Diff *find_diff(const Session *s, const char *path)
{
    for (int i = 0; i < SESSION_DIFFS; i++)
        if (s->diffs[i].run && strcmp(s->diffs[i].path, path) == 0)
            return &s->diffs[i];
    return NULL;
}

const float *session_peek(const Session *s, Side side, const char *path)
{
    NodeId n = session_node(s, side, path);
    if (n == NO_NODE)
        return NULL;
    if (side != SIDE_DIFF)
        return run_peek(session_run(s, side), n);
    const Diff *d = find_diff(s, path);
    return d ? run_peek(d->run, d->difference) : NULL;
}

/* A graph of three nodes: A and B as leaves (copies: a derived value may be forgotten while the difference is on
 * screen), and A − B. */
static void make_diff(Session *s, const char *path, const float *a, const float *b)
{
    Diff *d = &s->diffs[s->diff_next];
    s->diff_next = (s->diff_next + 1) % SESSION_DIFFS;
    run_free(d->run);
    graph_free(&d->graph);
    *d = (Diff){0};
    snprintf(d->path, sizeof d->path, "%s", path);
    const Graph *g = session_graph(s, SIDE_B);
    graph_init(&d->graph);
    for (int i = 0; i < g->axis_count; i++)
        graph_axis(&d->graph, g->axes[i]);
    Dims dims = graph_node(g, graph_find(g, path))->dims;
    size_t bytes = size_mul(graph_dims_cells(g, dims), sizeof(float));
    float *copy_a = arena_alloc(&d->graph.arena, bytes), *copy_b = arena_alloc(&d->graph.arena, bytes);
    memcpy(copy_a, a, bytes);
    memcpy(copy_b, b, bytes);
    NodeId na = graph_leaf(&d->graph, "A", dims, (Leaf){LEAF_RUN, copy_a, "A"});
    NodeId nb = graph_leaf(&d->graph, "B", dims, (Leaf){LEAF_RUN, copy_b, "B"});
    d->difference = graph_zip(&d->graph, "A − B", OP_SUB, na, nb);
    d->run = run_new(&d->graph, NULL, s->pool);
}

static bool step_one(Session *s, Side side, const char *path, int64_t deadline)
{
    NodeId n = session_node(s, side, path);
    if (n == NO_NODE)
        return true; /* absent here: the view says so */
    if (side != SIDE_DIFF)
        return run_step(session_run(s, side), n, deadline);
    const Diff *d = find_diff(s, path);
    if (!d) {
        if (!step_one(s, SIDE_A, path, deadline) || !step_one(s, SIDE_B, path, deadline))
            return false;
        make_diff(s, path, session_peek(s, SIDE_A, path), session_peek(s, SIDE_B, path));
        d = find_diff(s, path);
    }
    return run_step(d->run, d->difference, deadline);
}

bool session_step_pass(Session *s, const Need *needs, int count, int64_t deadline_ns)
{
    for (int i = 0; i < count; i++)
        if (!step_one(s, needs[i].side, needs[i].path, deadline_ns))
            return false;
    if (clock_ns() >= deadline_ns && session_busy(s))
        return false;
    return run_step_all(session_run(s, SIDE_B), deadline_ns) && run_step_all(session_run(s, SIDE_A), deadline_ns);
}

bool session_step(Session *s, const Need *needs, int count, int64_t deadline_ns)
{
    return session_step_pass(s, needs, count, deadline_ns) && measures_step(s, deadline_ns);
}

const float *session_need(Session *s, Side side, const char *path, Err *err)
{
    if (session_node(s, side, path) == NO_NODE) {
        err_set(err, "there is no node '%s' here", path);
        return NULL;
    }
    int64_t slice = 100000000;
    while (!step_one(s, side, path, clock_ns() + slice))
        if (s->progress && !s->progress(s->progress_context, path, session_progress_share(s))) {
            err_set(err, "cancelled");
            return NULL;
        }
    return session_peek(s, side, path);
}

void session_trim(Session *s)
{
    run_trim(exhibit_run(&s->now)); /* an edited run trims its base run too */
    if (s->pinned.base)
        run_trim(exhibit_run(&s->pinned));
}

bool session_again(const Session *s, double *share)
{
    double a = run_share(session_run(s, SIDE_A)), b = run_share(session_run(s, SIDE_B));
    *share = a < b ? a : b;
    return !session_busy(s) && *share < 1;
}

size_t session_held(const Session *s, size_t *most)
{
    const Run *runs[] = {s->now.base_run, s->now.edited_run, s->pinned.base_run, s->pinned.edited_run};
    size_t held = 0;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        held += runs[i] ? run_bytes(runs[i]) : 0;
    *most = run_peak_bytes(s->now.base_run) + (s->pinned.base ? run_peak_bytes(s->pinned.base_run) : 0);
    return held;
}

bool session_busy(const Session *s)
{
    return !run_complete(session_run(s, SIDE_B)) || !run_complete(session_run(s, SIDE_A));
}

double session_progress_share(const Session *s)
{
    double a = run_progress(session_run(s, SIDE_A)), b = run_progress(session_run(s, SIDE_B));
    return a < b ? a : b;
}
