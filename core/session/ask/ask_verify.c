/* Is the trace right? Every cell is derived again from its terms, which went through none of the packed kernels, and
 * compared bit for bit; the whole pass is computed a second time and must have the same hash; and what the terms share
 * with the forward pass (maps, rules of gradients, the graph itself) is compared with a second writing of it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/io/json.h"
#include "core/session/address.h"
#include "core/session/ask/verify_parts.h"
#include "core/session/exhibit.h"

enum { CHUNK_TERMS = 65536, REPORT_NS = 100000000 };

/* What one worker found in one node. */
typedef struct Tally {
    size_t cells, different, first;
} Tally;

typedef struct Check {
    const Run *run;
    const float *stored;
    Explain explain;      /* of the node's first cell: copied and moved */
    const size_t *chosen; /* cells to look at, or NULL: all */
    size_t count, per_item;
    Tally *tally; /* one per worker */
} Check;

static void check_item(void *context, size_t item, int worker)
{
    const Check *c = context;
    Tally *t = &c->tally[worker];
    Explain e = c->explain;
    size_t end = (item + 1) * c->per_item < c->count ? (item + 1) * c->per_item : c->count;
    for (size_t i = item * c->per_item; i < end; i++) {
        size_t cell = c->chosen ? c->chosen[i] : i;
        explain_move(&e, cell);
        float folded = explain_fold(&e, ask_values, c->run);
        t->cells++;
        if (memcmp(&folded, &c->stored[cell], sizeof folded) == 0)
            continue;
        t->first = !t->different || cell < t->first ? cell : t->first;
        t->different++;
    }
}

static bool is_checked(const Node *n)
{
    return n->op != OP_LEAF && n->op != OP_VIEW;
}

/* `sample` cells of a node, or all of them where it has no more. */
static size_t *choose(const Graph *g, NodeId n, size_t sample, size_t *count)
{
    size_t cells = graph_cells(g, n);
    *count = cells;
    if (!sample || sample >= cells)
        return NULL;
    Rng rng = rng_seed(0x5eed, (uint64_t)n);
    size_t *chosen = xmalloc(size_mul(sample, sizeof *chosen));
    for (size_t i = 0; i < sample; i++)
        chosen[i] = (size_t)((((uint64_t)rng_u32(&rng) << 32) | rng_u32(&rng)) % cells);
    *count = sample;
    return chosen;
}

static bool report(Session *s, size_t done, size_t all)
{
    return !s->progress || s->progress(s->progress_context, "verifying", all ? (double)done / (double)all : 1);
}

typedef struct Whole {
    size_t done, all; /* terms, for progress */
} Whole;

/* False when cancelled. */
static bool check_node(Session *s, Side side, NodeId n, size_t sample, Whole *whole, Verdict *v)
{
    const Graph *g = session_graph(s, side);
    Check c = {.run = session_run(s, side), .explain = explain_open(g, n, 0)};
    size_t *chosen = choose(g, n, sample, &c.count), terms = c.explain.terms ? c.explain.terms : 1, next = 0;
    int workers = pool_threads(s->pool);
    c.stored = run_peek(c.run, n);
    c.chosen = chosen;
    c.per_item = CHUNK_TERMS / terms ? CHUNK_TERMS / terms : 1;
    c.tally = xcalloc((size_t)workers, sizeof *c.tally);
    size_t items = (c.count + c.per_item - 1) / c.per_item;
    bool going = true;
    while (going && next < items) {
        next = pool_run(s->pool, next, items, check_item, &c, clock_ns() + REPORT_NS);
        size_t cells = next * c.per_item < c.count ? next * c.per_item : c.count;
        going = next == items || report(s, whole->done + cells * terms, whole->all);
    }
    size_t first = SIZE_MAX;
    for (int w = 0; w < workers; w++) {
        v->cells += c.tally[w].cells;
        v->terms += c.tally[w].cells * c.explain.terms;
        if (c.tally[w].different && c.tally[w].first < first)
            first = c.tally[w].first;
        v->different += c.tally[w].different;
    }
    if (first != SIZE_MAX && !v->first.run)
        v->first = session_ref(side, n, first);
    whole->done += c.count * terms;
    v->nodes++;
    v->probes += (graph_node(g, n)->flags & NODE_PROBE) != 0;
    if (going && graph_node(g, n)->op == OP_MAP)
        verify_map(s, side, n, chosen, c.count, &v->maps);
    free(c.tally);
    free(chosen);
    return going;
}

static bool complete_pass(Session *s, Run *run, Err *err)
{
    while (!run_step_all(run, clock_ns() + REPORT_NS))
        if (s->progress && !s->progress(s->progress_context, "computing", run_progress(run)))
            return err_set(err, "cancelled");
    return true;
}

/* The pass once more, from nothing: its hash. Base is the run that this side's graph shares values with, or NULL. */
static bool second_hash(Session *s, Side side, uint64_t *hash, Err *err)
{
    const Graph *trained = session_exhibit(s, side)->pass.base;
    const Graph *g = session_graph(s, side);
    Run *base = g == trained ? NULL : run_new(trained, NULL, NULL);
    Run *run = run_new(g, base, NULL);
    run_budget(run, 1); /* nothing is kept that was read */
    bool ok = complete_pass(s, run, err) && run_hash(run, hash);
    run_free(run);
    run_free(base);
    return ok;
}

static Whole measure(const Graph *g, size_t sample)
{
    Whole w = {0};
    for (NodeId n = 0; n < g->count; n++) {
        if (!is_checked(graph_node(g, n)))
            continue;
        size_t cells = graph_cells(g, n), terms = graph_dims_cells(g, graph_reduced(g, n));
        w.all += (sample && sample < cells ? sample : cells) * terms;
    }
    return w;
}

/* Leaves that a procedure of the program filled: nothing lists the terms of their cells. */
static size_t count_made(const Graph *g)
{
    size_t made = 0;
    for (NodeId n = 0; n < g->count; n++)
        made += graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_HOST;
    return made;
}

static bool other_routes(Session *s, Side side, size_t sample, Verdict *v, Err *err)
{
    uint64_t again = 0;
    if (!verify_gradients(s, side, &v->gradients, err) || !verify_model(s, side, sample, &v->model, err))
        return false;
    if (sample)
        return true;
    if (!second_hash(s, side, &again, err))
        return false;
    v->different += again != v->hash;
    return true;
}

bool ask_verify(Session *s, Side side, size_t sample, Verdict *v, Err *err)
{
    side = ask_side(side);
    const Graph *g = session_graph(s, side);
    *v = (Verdict){.made = count_made(g)};
    if (!complete_pass(s, session_run(s, side), err) || !session_hash(s, side, &v->hash))
        return false;
    Whole whole = measure(g, sample);
    int64_t start = clock_ns();
    bool going = true;
    for (NodeId n = 0; going && n < g->count; n++) {
        if (!is_checked(graph_node(g, n)))
            continue;
        if (!ask_need_inputs(s, side, n, err))
            return false;
        going = check_node(s, side, n, sample, &whole, v);
        session_trim(s); /* derived values are held only while they are looked at */
    }
    v->complete = going;
    bool ok = !going || other_routes(s, side, sample, v, err);
    v->seconds = (double)(clock_ns() - start) * 1e-9;
    return ok;
}

bool verdict_holds(const Verdict *v)
{
    return v->complete && !v->different && !v->maps.beyond && !v->gradients.beyond && !v->model.beyond;
}

static void put_json_first(const Session *s, Ref r, Buf *out)
{
    if (r.run)
        ask_json_address(out, "first", session_graph(s, (Side)r.run), r);
    else
        json_put_text(out, "first", NULL);
}

static void put_json_route(const Session *s, const char *name, const VerdictRoute *r, Buf *out)
{
    json_open(out, name, '{');
    json_put(out, "nodes", "%zu", r->nodes);
    json_put(out, "cells", "%zu", r->cells);
    json_put(out, "beyond", "%zu", r->beyond);
    json_put_float(out, "worst", (float)r->worst);
    put_json_first(s, r->first, out);
    buf_putc(out, '}');
}

static void put_json(const Session *s, const Verdict *v, Buf *out)
{
    json_open(out, NULL, '{');
    json_put_bool(out, "equal", verdict_holds(v));
    json_put_bool(out, "complete", v->complete);
    json_put(out, "nodes", "%zu", v->nodes);
    json_put(out, "probes", "%zu", v->probes);
    json_put(out, "cells", "%zu", v->cells);
    json_put(out, "terms", "%zu", v->terms);
    json_put(out, "different", "%zu", v->different);
    json_put(out, "seconds", "%.6f", v->seconds);
    put_json_first(s, v->first, out);
    put_json_route(s, "maps", &v->maps, out);
    put_json_route(s, "gradients", &v->gradients, out);
    put_json_route(s, "model", &v->model, out);
    json_put(out, "trace_hash", "\"%016llx\"", (unsigned long long)v->hash);
    buf_puts(out, "}\n");
}

static void put_route(const Session *s, const char *what, const char *against, const VerdictRoute *r, Buf *out)
{
    if (r->why || !r->nodes) {
        buf_printf(out, "%s: not compared%s%s.\n", what, r->why ? ", " : "", r->why ? r->why : "");
        return;
    }
    buf_printf(out, "%s: ", what);
    ask_put_count(out, r->cells);
    buf_printf(out, " cells of %zu tensors against %s: ", r->nodes, against);
    if (!r->beyond) {
        buf_printf(out, "all within the bound, the worst at %.0f %% of it.\n", 100 * r->worst);
        return;
    }
    ask_put_count(out, r->beyond);
    buf_puts(out, " are BEYOND the bound, the first is ");
    address_put(session_graph(s, (Side)r->first.run), r->first.node, r->first.cell, out);
    buf_printf(out, " (the worst %.3g times the bound): the engine is wrong.\n", r->worst);
}

void ask_verify_text(const Session *s, const Verdict *v, Buf *out, bool json)
{
    if (json) {
        put_json(s, v, out);
        return;
    }
    ask_put_count(out, v->cells);
    buf_printf(out, " cells of %zu tensors, %zu of them analyses and gradients, were derived again from ", v->nodes,
               v->probes);
    ask_put_count(out, v->terms);
    buf_printf(out, " terms in %.2f s.\n", v->seconds);
    if (v->first.run) {
        ask_put_count(out, v->different);
        buf_puts(out, " are DIFFERENT, the first is ");
        address_put(session_graph(s, (Side)v->first.run), v->first.node, v->first.cell, out);
        buf_puts(out, ": the engine is wrong.\n");
    } else if (v->different)
        buf_puts(out,
                 "Every cell is equal, but the pass computed a second time has ANOTHER hash: the engine is wrong.\n");
    else
        buf_puts(out, v->complete ? "All equal, bit for bit.\n"
                                  : "All equal so far, bit for bit; it was stopped before the end.\n");
    if (v->made)
        buf_printf(
            out, "Not derived: %zu tensors that a procedure fills (principal components, ranks, places of objects).\n",
            v->made);
    if (v->complete) {
        put_route(s, "Maps", "their definitions in double, to the stated error", &v->maps, out);
        put_route(s, "Gradients", "the chain rule in double", &v->gradients, out);
        put_route(s, "Model", "its equations in double, to 2e-5", &v->model, out);
    }
    buf_printf(out, "Trace hash %016llx.\n", (unsigned long long)v->hash);
}
