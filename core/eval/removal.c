#include "core/eval/removal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"

/* Index `at` of the axis, or all of it for −1. */
static void only(Edit *e, int axis, int at)
{
    if (at < 0)
        return;
    e->cells.range[e->cells.n].axis = axis;
    e->cells.range[e->cells.n].from = at;
    e->cells.range[e->cells.n++].to = at + 1;
}

/* The edit of g (the graph that the ledger stands in) that takes it out: the same as switching those cells off by hand.
 * The path is the graph's. */
static Edit removal_edit(const Graph *g, const Ledger *l, Removal r)
{
    const LedgerEntry *entry = &l->entry[r.entry];
    Edit e = {.kind = EDIT_ZERO, .path = graph_node(g, entry->part)->path, .axis = AXIS_NONE, .origin = "removed"};
    Dims d = graph_node(g, entry->part)->dims;
    if (entry->kind == LEDGER_HEADS)
        only(&e, dims_role(g, d, ROLE_HEAD), r.head);
    if (entry->kind == LEDGER_HEADS || ledger_by_token(g, entry))
        only(&e, dims_role(g, d, ROLE_QUERY), l->token);
    return e;
}

struct RemovalRun {
    const Graph *whole;
    const Ledger *ledger;
    Graph plain; /* of the graph what the number is made from; shares all with it */
    Run *base, *run;
    Graph graph; /* of the removal under way */
    bool begun;
    Pool *pool;
    Removal *what;
    float *effect;
    size_t count, done;
};

RemovalRun *removal_run_new(const Graph *g, Run *run, const Ledger *l, const Removal *what, size_t count, Pool *pool)
{
    RemovalRun *r = xcalloc(1, sizeof *r);
    *r = (RemovalRun){.whole = g, .ledger = l, .plain = *g, .base = run, .pool = pool, .count = count};
    r->plain.count = l->y + 1;
    r->what = xmalloc(size_mul(count + 1, sizeof *r->what));
    memcpy(r->what, what, count * sizeof *what);
    r->effect = xfloats(count + 1);
    return r;
}

static void begin(RemovalRun *r)
{
    Edit e = removal_edit(r->whole, r->ledger, r->what[r->done]);
    Err err;
    r->graph = (Graph){0};
    bool made = graph_edit(&r->graph, &r->plain, &e, 1, &err);
    REQUIRE(made);
    r->run = run_new(&r->graph, r->base, r->pool);
    r->begun = true;
}

static void end(RemovalRun *r)
{
    run_free(r->run);
    graph_free(&r->graph);
    r->run = NULL;
    r->begun = false;
}

static float number_of(const Ledger *l, const float *y)
{
    return l->against == LEDGER_ALONE ? y[l->cell] : y[l->cell] - y[l->against];
}

bool removal_run_step(RemovalRun *r, int64_t deadline_ns)
{
    while (r->done < r->count) {
        if (!r->begun)
            begin(r);
        NodeId y = graph_find(&r->graph, graph_node(&r->plain, r->ledger->y)->path);
        if (!run_step(r->run, y, deadline_ns) || !run_step(r->base, r->ledger->y, deadline_ns))
            return false;
        r->effect[r->done++] = number_of(r->ledger, run_peek(r->base, r->ledger->y)) -
                               number_of(r->ledger, run_peek(r->run, y));
        end(r);
        if (clock_ns() >= deadline_ns)
            return r->done == r->count;
    }
    return true;
}

size_t removal_run_done(const RemovalRun *r)
{
    return r->done;
}

float removal_run_effect(const RemovalRun *r, size_t i)
{
    REQUIRE(i < r->done);
    return r->effect[i];
}

void removal_run_free(RemovalRun *r)
{
    if (!r)
        return;
    if (r->begun)
        end(r);
    free(r->what);
    free(r->effect);
    free(r);
}
