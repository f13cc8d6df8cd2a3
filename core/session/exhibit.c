#include "core/session/exhibit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/graph/grad.h"
#include "core/models/probes.h"
#include "core/session/ask/ledger_effects.h"
#include "core/session/edit/edits.h"
#include "core/session/input.h"
#include "core/session/learned/object.h"

static void add_object(Exhibit *e, const Model *m)
{
    float *object = xfloats((size_t)vit_patches(&m->vit));
    if (object_patches(&e->input, m, object))
        probes_object_add(e->base, object);
    free(object);
}

static const double SMALL = 1e8; /* FLOPs of a pass: about a millisecond in one thread */

/* A pass of a small model is over before a second thread is awake. The bits are the same. */
static Pool *threads_for(const Exhibit *e, Pool *pool)
{
    double flops = 0;
    for (NodeId n = 0; n < e->base_count; n++)
        flops += graph_node(e->base, n)->flags & NODE_PROBE ? 0 : graph_cost(e->base, n).flops;
    return flops < SMALL ? NULL : pool;
}

void exhibit_init(Exhibit *e, const Model *m, Input *in, Pool *pool)
{
    *e = (Exhibit){.input = *in};
    *in = (Input){0};
    e->base = xcalloc(1, sizeof *e->base);
    graph_init(e->base);
    VitConfig c = m->vit;
    if (e->input.ready)
        c.input = VIT_INPUT_READY;
    vit_build(e->base, &c, &m->weights, m->class_names, e->input.values, &e->nodes);
    probes_add(e->base, &c, &e->nodes);
    add_object(e, m);
    e->base_count = e->base->count;
    e->base_run = run_new(e->base, NULL, threads_for(e, pool));
}

static void free_edited(Exhibit *e)
{
    ledger_effects_drop(e);
    run_free(e->edited_run);
    if (e->edited)
        graph_free(e->edited);
    free(e->edited);
    arena_free(&e->edit_arena);
    e->edited = NULL;
    e->edited_run = NULL;
    e->edits = NULL;
    e->edit_count = 0;
}

void exhibit_free(Exhibit *e)
{
    free_edited(e);
    run_free(e->base_run);
    if (e->base)
        graph_free(e->base);
    free(e->base);
    input_free(&e->input);
    edit_state_free(&e->lines);
    *e = (Exhibit){0};
}

bool exhibit_edit(Exhibit *e, Edit *edits, int count, Arena *arena, Pool *pool, Err *err)
{
    Graph *edited = NULL;
    if (count > 0) {
        edited = xcalloc(1, sizeof *edited);
        Graph plain = *e->base; /* the edited graph has gradients of its own */
        plain.count = e->base_count;
        if (!graph_edit(edited, &plain, edits, count, err)) {
            free(edited);
            return false;
        }
    }
    free_edited(e);
    e->edited = edited;
    e->edited_run = edited ? run_new(edited, e->base_run, threads_for(e, pool)) : NULL;
    e->edited_count = edited ? edited->count : 0;
    e->edited_target = (GradTarget){{0}, 0};
    e->edited_ledger = (LedgerOn){0};
    e->edits = edits;
    e->edit_count = count;
    e->edit_arena = *arena;
    *arena = (Arena){0};
    return true;
}

const Graph *exhibit_graph(const Exhibit *e)
{
    return e->edited ? e->edited : e->base;
}

Run *exhibit_run(const Exhibit *e)
{
    return e->edited_run ? e->edited_run : e->base_run;
}

/* The loss when class `right` is right, or NO_NODE in a model without classes. */
static NodeId add_loss(Graph *g, size_t right)
{
    NodeId logits = graph_find(g, "logits");
    if (logits == NO_NODE)
        return NO_NODE;
    Dims d = graph_node(g, logits)->dims;
    size_t classes = graph_dims_cells(g, d);
    float *target = arena_alloc(&g->arena, size_mul(classes, sizeof *target));
    for (size_t i = 0; i < classes; i++)
        target[i] = i == right ? 1.0f : 0.0f;
    NodeId leaf = graph_leaf(g, "loss.target", d, (Leaf){LEAF_CONST, target, "1 for the class that is right"});
    graph_flag(g, leaf, NODE_PROBE);
    return grad_cross_entropy(g, logits, leaf, d.axis[d.n - 1]);
}

/* What has a gradient: what is learned or shown to the model or put in by an edit, and of the constants 1/√d_k, the one
 * to play with. */
static bool is_asked(const Node *n)
{
    return n->op == OP_LEAF && (n->leaf.kind != LEAF_CONST || strstr(n->path, ".attn.scale"));
}

static void add_gradients(Graph *g, const GradTarget *t)
{
    graph_scope(g, "%s", "");
    bool loss = strcmp(t->path, "loss") == 0;
    NodeId y = loss ? add_loss(g, t->cell) : graph_find(g, t->path),
           *wrt = xmalloc(size_mul((size_t)g->count, sizeof *wrt));
    int count = 0;
    for (NodeId n = 0; n < g->count; n++)
        if (is_asked(graph_node(g, n)))
            wrt[count++] = n;
    if (y != NO_NODE && count)
        grad_add(g, y, grad_seed(g, y, loss ? 0 : t->cell, "grad."), wrt, count, "grad.");
    free(wrt);
    probes_gradient_add(g);
}

static bool has_gradients(const Graph *g, const GradTarget *t)
{
    char path[SESSION_PATH + 8];
    snprintf(path, sizeof path, "grad.%s", t->path);
    return graph_find(g, path) != NO_NODE;
}

static bool is_target(const GradTarget *a, const GradTarget *b)
{
    return strcmp(a->path, b->path) == 0 && a->cell == b->cell;
}

static bool is_ledger(const LedgerTarget *a, const LedgerTarget *b)
{
    return strcmp(a->path, b->path) == 0 && a->cell == b->cell && a->against == b->against;
}

static void add_ledger(Graph *g, LedgerOn *on)
{
    NodeId y = graph_find(g, on->of.path);
    if (y == NO_NODE)
        err_set(&on->why, "there is no node '%s' here", on->of.path);
    else
        on->there = ledger_add(g, y, on->of.cell, on->of.against, &on->ledger, &on->why);
}

static void renew(Graph *g, Run *r, NodeId count, GradTarget *have, const GradTarget *want, LedgerOn *on,
                  const LedgerTarget *of)
{
    run_shrink(r, count);
    graph_truncate(g, count);
    if (*want->path)
        add_gradients(g, want);
    *have = *want;
    *on = (LedgerOn){.of = *of};
    if (*of->path)
        add_ledger(g, on);
    run_extend(r);
}

bool exhibit_append(Exhibit *e, const GradTarget *t, const LedgerTarget *l)
{
    bool base = is_target(&e->base_target, t) && is_ledger(&e->base_ledger.of, l);
    bool edited = !e->edited || (is_target(&e->edited_target, t) && is_ledger(&e->edited_ledger.of, l));
    if (!base || !edited)
        ledger_effects_drop(e);
    if (!base)
        renew(e->base, e->base_run, e->base_count, &e->base_target, t, &e->base_ledger, l);
    if (!edited)
        renew(e->edited, e->edited_run, e->edited_count, &e->edited_target, t, &e->edited_ledger, l);
    return (!*t->path || has_gradients(exhibit_graph(e), t)) && (!*l->path || exhibit_ledger(e)->there);
}

const LedgerOn *exhibit_ledger(const Exhibit *e)
{
    return e->edited ? &e->edited_ledger : &e->base_ledger;
}
