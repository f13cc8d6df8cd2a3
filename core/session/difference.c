/* One graph for the pair A, B: its leaves point at the two runs' values only while a difference is being computed from
 * them, for a run may forget what nobody asked for between two frames. */
#include "core/session/difference.h"

#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/graph/anatomy.h"
#include "core/models/probes.h"
#include "core/session/address.h"
#include "core/session/ask/number.h"
#include "core/session/exhibit.h"

bool difference_same_shape(const Graph *a, NodeId n, const Graph *b, NodeId m)
{
    Dims d = graph_node(a, n)->dims, e = graph_node(b, m)->dims;
    if (d.n != e.n)
        return false;
    for (int i = 0; i < d.n; i++)
        if (a->axes[d.axis[i]].n != b->axes[e.axis[i]].n || strcmp(a->axes[d.axis[i]].sym, b->axes[e.axis[i]].sym) != 0)
            return false;
    return true;
}

void difference_drop(Session *s)
{
    run_free(s->diff.run);
    graph_free(&s->diff.graph);
    s->diff = (Diff){0};
}

/* The product of A's direction and B's: the cosine of their embeddings. */
static const char LIKENESS[] = "likeness";

static NodeId leaf(Graph *g, char which, const char *path, Dims d, const float *data)
{
    char name[SESSION_PATH + 2];
    snprintf(name, sizeof name, "%c.%s", which, path);
    return graph_leaf(g, name, d, (Leaf){LEAF_RUN, data, which == 'a' ? "A" : "B"});
}

/* The three nodes of a path, in B's axes. */
static void add(Session *s, const char *path, const float *a, const float *b)
{
    Diff *d = &s->diff;
    const Graph *of = session_graph(s, SIDE_B);
    if (!d->run) {
        graph_init(&d->graph);
        for (int i = 0; i < of->axis_count; i++)
            graph_axis(&d->graph, of->axes[i]);
    }
    Dims dims = graph_node(of, graph_find(of, path))->dims;
    NodeId na = leaf(&d->graph, 'a', path, dims, a), nb = leaf(&d->graph, 'b', path, dims, b);
    NodeId n = graph_zip(&d->graph, path, OP_SUB, na, nb);
    graph_flag(&d->graph, n, NODE_DERIVED); /* goes when it is no longer on show */
    if (site_is(of, path, SITE_EMBEDDING_UNIT))
        graph_contract(&d->graph, LIKENESS, na, nb, DIMS_SCALAR);
    if (d->run)
        run_extend(d->run);
    else
        d->run = run_new(&d->graph, NULL, s->pool);
}

/* The values may have been forgotten and computed again elsewhere; what is in progress begins anew then. */
static void point(Diff *d, NodeId n, const float *a, const float *b)
{
    const Node *node = graph_node(&d->graph, n);
    const float **data[] = {&d->graph.nodes[node->in[0]].leaf.data, &d->graph.nodes[node->in[1]].leaf.data};
    if (*data[0] == a && *data[1] == b)
        return;
    *data[0] = a;
    *data[1] = b;
    run_extend(d->run);
}

static NodeId find(const Session *s, const char *path)
{
    return s->diff.run ? graph_find(&s->diff.graph, path) : NO_NODE;
}

/* The difference can be computed: A's and B's values are there, and its leaves point at them. */
static bool both_there(Session *s, const char *path, int64_t deadline_ns)
{
    NodeId n = find(s, path), na = session_node(s, SIDE_A, path), nb = session_node(s, SIDE_B, path);
    Run *a = session_run(s, SIDE_A), *b = session_run(s, SIDE_B);
    if (!run_step(a, na, deadline_ns) || !run_step(b, nb, deadline_ns))
        return false;
    if (n == NO_NODE)
        add(s, path, run_peek(a, na), run_peek(b, nb));
    else
        point(&s->diff, n, run_peek(a, na), run_peek(b, nb));
    return true;
}

bool difference_step(Session *s, const char *path, int64_t deadline_ns)
{
    NodeId n = find(s, path);
    if ((n == NO_NODE || !run_peek(s->diff.run, n)) && !both_there(s, path, deadline_ns))
        return false;
    n = find(s, path);
    NodeId alike = site_is(session_graph(s, SIDE_B), path, SITE_EMBEDDING_UNIT) ? find(s, LIKENESS) : NO_NODE;
    return run_step(s->diff.run, n, deadline_ns) && (alike == NO_NODE || run_step(s->diff.run, alike, deadline_ns));
}

const float *difference_likeness_peek(const Session *s)
{
    return session_compares(s) ? difference_peek(s, LIKENESS) : NULL;
}

bool difference_likeness(Session *s, float *out)
{
    const char *path = site_path_any(session_graph(s, SIDE_B), SITE_EMBEDDING_UNIT);
    if (!path || !session_compares(s) || session_node(s, SIDE_DIFF, path) == NO_NODE ||
        !difference_step(s, path, CLOCK_NEVER))
        return false;
    NodeId n = find(s, LIKENESS);
    const float *x = n == NO_NODE ? NULL : run_need(s->diff.run, n);
    if (x)
        *out = *x;
    return x != NULL;
}

float *difference_carried(Session *s, Side side, size_t *count)
{
    const Graph *g = session_graph(s, side);
    Side other = side == SIDE_A ? SIDE_B : SIDE_A;
    NodeId share = site_node_any(g, SITE_CARRIED), tokens = site_node_any(g, SITE_TOKENS_OUT);
    const char *path = site_path_any(session_graph(s, other), SITE_EMBEDDING_UNIT);
    if (share == NO_NODE || !path || !session_compares(s) || session_node(s, SIDE_DIFF, path) == NO_NODE)
        return NULL;
    NodeId all = graph_node(g, share)->in[1], unit = site_node_any(g, SITE_EMBEDDING_UNIT);
    const float *x = session_need(s, side, graph_node(g, tokens)->path, NULL),
                *whole = x ? session_need(s, side, graph_node(g, all)->path, NULL) : NULL,
                *u = whole ? session_need(s, other, path, NULL) : NULL;
    if (!u)
        return NULL;
    Graph sum;
    graph_init(&sum);
    for (int i = 0; i < g->axis_count; i++)
        graph_axis(&sum, g->axes[i]);
    Dims each = graph_node(g, share)->dims;
    NodeId toward = graph_contract(&sum, "along", leaf(&sum, 'x', "tokens", graph_node(g, tokens)->dims, x),
                                   leaf(&sum, 'u', "other", graph_node(g, unit)->dims, u), each);
    NodeId part = graph_zip(&sum, "share", OP_DIV, toward, leaf(&sum, 'n', "whole", DIMS_SCALAR, whole));
    Run *run = run_new(&sum, NULL, s->pool);
    *count = graph_cells(&sum, part);
    float *out = xfloats(*count);
    memcpy(out, run_need(run, part), *count * sizeof *out);
    run_free(run);
    graph_free(&sum);
    return out;
}

/* A − B is the step, A what was before. */
bool difference_moved_step(Session *s, const char *path, int64_t deadline_ns)
{
    char name[PROBES_PATH];
    Graph *g = &s->diff.graph;
    if (difference_moved(s, path)) /* asked for again, lest the next frame forgets it */
        return probes_change(g, path, name) && run_step(s->diff.run, graph_find(g, name), deadline_ns);
    if (!difference_step(s, path, deadline_ns))
        return false;
    NodeId step = find(s, path);
    if (!probes_change(g, path, name)) {
        if (probes_apart(g, path, graph_node(g, step)->in[0], step) == NO_NODE)
            return true;
        run_extend(s->diff.run);
    }
    return run_step(s->diff.run, graph_find(g, probes_change(g, path, name)), deadline_ns);
}

const float *difference_moved(const Session *s, const char *path)
{
    char name[PROBES_PATH];
    return s->diff.run && probes_change(&s->diff.graph, path, name) ? difference_peek(s, name) : NULL;
}

/* What is drawn of what changed; the third component needs all that is between. */
static const Site CHANGED[] = {SITE_ALIKE_NORM,  SITE_ALIKE_COMPONENT, SITE_ALIKE_COMPONENT1, SITE_ALIKE_COMPONENT2,
                               SITE_ALIKE_SHARE, SITE_ALIKE_SHARE1,    SITE_ALIKE_SHARE2};
enum { CHANGED_COUNT = sizeof CHANGED / sizeof *CHANGED };

bool difference_changed_step(Session *s, const char *path, int64_t deadline_ns)
{
    char name[PROBES_PATH];
    Graph *g = &s->diff.graph;
    bool there = true, done = true;
    for (int i = 0; i < CHANGED_COUNT; i++)
        there = there && difference_changed(s, path, CHANGED[i]);
    if (!there && !both_there(s, path, deadline_ns))
        return false;
    if (!probes_changed(g, path, CHANGED[0], name)) {
        probes_changed_add(g, path, find(s, path));
        run_extend(s->diff.run);
    }
    for (int i = 0; i < CHANGED_COUNT && done; i++)
        done = run_step(s->diff.run, graph_find(g, probes_changed(g, path, CHANGED[i], name)), deadline_ns);
    return done;
}

const float *difference_changed(const Session *s, const char *path, Site what)
{
    char name[PROBES_PATH];
    return s->diff.run && probes_changed(&s->diff.graph, path, what, name) ? difference_peek(s, name) : NULL;
}

const float *difference_peek(const Session *s, const char *path)
{
    NodeId n = find(s, path);
    return n == NO_NODE ? NULL : run_peek(s->diff.run, n);
}

void difference_trim(Session *s)
{
    if (s->diff.run)
        run_trim(s->diff.run);
}

size_t difference_bytes(const Session *s)
{
    return run_bytes(s->diff.run);
}

static bool same_source(const Text *a, const Text *b)
{
    return a->count == b->count && (!a->count || memcmp(a->word, b->word, (size_t)a->count * sizeof *a->word) == 0);
}

static bool find_words(const Session *s, Leak *l, Err *err)
{
    const Input *a = session_input(s, SIDE_A), *b = session_input(s, SIDE_B);
    const Text *x = &a->text[TEXT_TARGET], *y = &b->text[TEXT_TARGET];
    if (!y->count && b->text[TEXT_SOURCE].count)
        return err_set(err, "an encoder has no target: each of its words may depend on every other, so nothing leaks");
    if (!session_pinned(s) || !y->count)
        return err_set(err,
                       "nothing to compare: `word target WORD WORD` changes a word of the target, beside what it was");
    if (!same_source(&a->text[TEXT_SOURCE], &b->text[TEXT_SOURCE]))
        return err_set(
            err,
            "A and B read different sources, on which every word of the target may depend: give both the same one");
    if (x->count != y->count)
        return err_set(err, "A and B differ in length: the target has %d words in A, %d in B", x->count, y->count);
    l->first = y->count;
    for (int i = y->count - 1; i >= 0; i--)
        if (x->word[i] != y->word[i]) {
            l->first = i;
            l->changed++;
        }
    return true;
}

static bool of_target(const Axis *a)
{
    return a->sequence == SEQUENCE_TARGET && (a->role == ROLE_QUERY || a->role == ROLE_KEY);
}

/* Cells all of whose words stand before the first that differs must be the same: also where a row looks at a later
 * word, as raw scores do, nothing is said of it. */
static void compare(const Session *s, const char *path, NodeId n, NodeId m, Leak *l)
{
    const Graph *a = session_graph(s, SIDE_A), *b = session_graph(s, SIDE_B);
    const float *x = run_peek(session_run(s, SIDE_A), n), *y = run_peek(session_run(s, SIDE_B), m);
    Dims d = graph_node(b, m)->dims;
    size_t cells = graph_cells(b, m);
    bool rows = false;
    for (int i = 0; i < d.n; i++)
        rows = rows || of_target(&b->axes[d.axis[i]]);
    if (!rows || !x || !y || graph_cells(a, n) != cells)
        return;
    l->nodes++;
    for (size_t i = 0; i < cells; i++) {
        int index[DIMS_MAX];
        bool before = true, same = memcmp(&x[i], &y[i], sizeof *x) == 0;
        dims_unravel(b->axes, d, i, index);
        for (int k = 0; k < d.n; k++)
            before = before && (!of_target(&b->axes[d.axis[k]]) || index[k] < l->first);
        l->cells += before;
        l->after += !before && !same;
        if (!before || same)
            continue;
        if (!l->differ++) {
            snprintf(l->path, sizeof l->path, "%s", path);
            l->cell = i;
        }
    }
}

bool leak_find(Session *s, Leak *out, Err *err)
{
    enum { SLICE = 100000000 };
    *out = (Leak){.first = 0};
    if (!find_words(s, out, err))
        return false;
    while (!session_step_pass(s, NULL, 0, clock_ns() + SLICE))
        if (s->progress && !s->progress(s->progress_context, "both passes", session_progress_share(s)))
            return err_set(err, "cancelled");
    const Graph *b = session_graph(s, SIDE_B);
    for (NodeId m = 0; m < b->count; m++) {
        const Node *node = graph_node(b, m);
        NodeId n = graph_find(session_graph(s, SIDE_A), node->path);
        if (node->flags & NODE_PROBE || graph_find(b, node->path) != m || n == NO_NODE ||
            !difference_same_shape(session_graph(s, SIDE_A), n, b, m))
            continue;
        compare(s, node->path, n, m, out);
    }
    return true;
}

void leak_put(const Session *s, const Leak *l, Buf *out)
{
    if (!l->changed) {
        buf_puts(out, "The target is the same in A and B: change a later word first.");
        return;
    }
    if (l->changed > 1)
        buf_printf(out, "%d words differ, the first at place %d. ", l->changed, l->first);
    buf_printf(out, "Before place %d ", l->first);
    if (!l->differ) {
        buf_puts(out, "all ");
        number_put((double)l->cells, -1, out);
        buf_puts(out, " numbers are the same bits; from it on ");
        number_put((double)l->after, -1, out);
        buf_puts(out, " differ.");
        return;
    }
    buf_printf(out, "%zu of %zu numbers in %d tensors differ: something leaks, first in ", l->differ, l->cells,
               l->nodes);
    address_put(session_graph(s, SIDE_B), graph_find(session_graph(s, SIDE_B), l->path), l->cell, out);
    buf_putc(out, '.');
}
