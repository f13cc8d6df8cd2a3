#include "core/session/exhibit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/eval/patching.h"
#include "core/graph/anatomy.h"
#include "core/graph/grad.h"
#include "core/models/probes.h"
#include "core/session/edit/edits.h"
#include "core/session/input.h"
#include "core/session/place.h"

static const double SMALL = 1e8; /* FLOPs of a pass: about a millisecond in one thread */

/* A pass of a small model is over before a second thread is awake. The bits are the same. */
static Pool *threads_for(const Forward *p, Pool *pool)
{
    double flops = 0;
    for (NodeId n = 0; n < p->base_count; n++)
        flops += graph_node(p->base, n)->flags & NODE_PROBE ? 0 : graph_cost(p->base, n).flops;
    return flops < SMALL ? NULL : pool;
}

static void start_pass(Exhibit *e, Graph *g, Pool *pool)
{
    e->pass = (Forward){.base = g, .base_count = g->count, .base_mark = arena_mark(&g->arena)};
    e->pass.base_run = run_new(g, NULL, threads_for(&e->pass, pool));
}

void exhibit_init(Exhibit *e, const Model *m, Input *input, Pool *pool)
{
    *e = (Exhibit){.model = m, .input = *input};
    *input = (Input){0};
    const Input *in = &e->input;
    const PictureGrid grid = model_grid(m);
    float *object = grid.rows ? xfloats((size_t)grid_patches(&grid)) : NULL;
    bool known = grid.rows && object_patches(in, m, object);
    ModelInput what = {.kind = in->kind, .values = in->values, .ready = in->ready, .object = known ? object : NULL};
    memcpy(what.text, in->text, sizeof what.text);
    Graph *g = xcalloc(1, sizeof *g);
    graph_init(g);
    m->family->build(m, g, &what);
    free(object);
    start_pass(e, g, pool);
}

/* The same of a graph that is built already, on the heap, which is taken over. */
static void exhibit_init_graph(Exhibit *e, Graph *g, Input *in, Pool *pool)
{
    *e = (Exhibit){.input = *in};
    *in = (Input){0};
    start_pass(e, g, pool);
}

static void drop_effects(Forward *p)
{
    for (int i = 0; i < 2; i++) {
        removal_run_free(p->effects[i]);
        p->effects[i] = NULL;
    }
}

_Static_assert(sizeof((Forward *)0)->patching / sizeof(struct Patching *) == PATCH_KINDS, "one of each kind");

static void drop_patching(Forward *p)
{
    for (int i = 0; i < PATCH_KINDS; i++) {
        patching_free(p->patching[i]);
        p->patching[i] = NULL;
    }
}

void exhibit_drop_patching(Exhibit *e, const Run *but)
{
    const Patching *any = NULL;
    for (int i = 0; i < PATCH_KINDS; i++)
        any = any ? any : e->pass.patching[i];
    if (any && (!but || patching_from(any) != but))
        drop_patching(&e->pass);
}

static void free_edited(Forward *p)
{
    drop_effects(p);
    run_free(p->edited_run);
    if (p->edited)
        graph_free(p->edited);
    free(p->edited);
    arena_free(&p->edit_arena);
    p->edited = NULL;
    p->edited_run = NULL;
    p->edits = NULL;
    p->edit_count = 0;
}

static void free_pass(Forward *p)
{
    drop_patching(p);
    free_edited(p);
    run_free(p->base_run);
    if (p->base)
        graph_free(p->base);
    free(p->base);
}

void exhibit_free(Exhibit *e)
{
    free_pass(&e->pass);
    input_free(&e->input);
    edit_state_free(&e->lines);
    if (e->own)
        model_free(e->own);
    free(e->own);
    *e = (Exhibit){0};
}

/* Edited masks must leave every row a key to look at: a softmax over nothing is NaN. */
static bool masks_leave_keys(const Graph *g, Run *base, Pool *pool, Err *err)
{
    bool ok = true;
    Run *run = NULL;
    for (int i = NO_PART; ok && (i = anatomy_next(g, i, PART_ATTENTION)) != NO_PART;) {
        NodeId scores = site_node(g, i, SITE_SCORES_MASKED);
        if (scores == NO_NODE || graph_node(g, scores)->op != OP_WHERE ||
            site_node(g, i, SITE_SINKS) != NO_NODE) /* a sink takes what no key gets */
            continue;
        NodeId mask = graph_node(g, scores)->in[0];
        Dims d = graph_node(g, mask)->dims;
        if (graph_node(g, mask)->origin != NO_NODE || !d.n)
            continue;
        run = run ? run : run_new(g, base, pool);
        const float *x = run_need(run, mask);
        size_t keys = (size_t)g->axes[d.axis[d.n - 1]].n, seen = 0;
        for (size_t c = 0; ok && c < graph_cells(g, mask); c++) {
            seen = c % keys ? seen : 0;
            seen += x[c] != 0.0f;
            ok = seen > 0 || (c + 1) % keys != 0;
        }
        if (!ok)
            err_set(err,
                    "%s is a mask: with these zeros a token could look at nothing, and every number after it "
                    "would be NaN; `set %s 1` takes the mask away",
                    graph_node(g, mask)->path, graph_node(g, mask)->path);
    }
    run_free(run);
    return ok;
}

bool exhibit_edit(Exhibit *e, Edit *edits, int count, Arena *arena, Pool *pool, Err *err)
{
    Graph *edited = NULL;
    Forward *p = &e->pass;
    if (count > 0) {
        edited = xcalloc(1, sizeof *edited);
        Graph plain = *p->base; /* the edited graph has gradients of its own */
        plain.count = p->base_count;
        bool ok = graph_edit(edited, &plain, edits, count, err);
        if (!ok || !masks_leave_keys(edited, p->base_run, threads_for(p, pool), err)) {
            if (ok)
                graph_free(edited);
            free(edited);
            return false;
        }
    }
    free_edited(p);
    p->edited = edited;
    p->edited_run = edited ? run_new(edited, p->base_run, threads_for(p, pool)) : NULL;
    p->edited_count = edited ? edited->count : 0;
    p->edited_mark = edited ? arena_mark(&edited->arena) : (ArenaMark){0};
    p->edited_target = (GradTarget){{0}, 0};
    p->edited_ledger = (LedgerOn){0};
    p->edits = edits;
    p->edit_count = count;
    p->edit_arena = *arena;
    *arena = (Arena){0};
    return true;
}

const Graph *exhibit_graph(const Exhibit *e)
{
    const Forward *p = &e->pass;
    return p->edited ? p->edited : p->base;
}

Run *exhibit_run(const Exhibit *e)
{
    const Forward *p = &e->pass;
    return p->edited_run ? p->edited_run : p->base_run;
}

/* The loss when class `right` is right, or NO_NODE in a model without classes, or with an answer for every token. */
static NodeId add_loss(Graph *g, size_t right)
{
    NodeId logits = site_node_any(g, SITE_LOGITS);
    if (logits == NO_NODE || graph_node(g, logits)->dims.n != 1)
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

static bool is_scale(const Graph *g, const char *path)
{
    for (int p = 0; p < anatomy_count(g); p++) {
        const char *scale = site_path(g, p, SITE_SCALE);
        if (scale && strncmp(path, scale, strlen(scale)) == 0)
            return true;
    }
    return false;
}

/* What has a gradient: what is learned or shown to the model or put in by an edit, and of the constants 1/√d_k, the one
 * to play with. */
static bool is_asked(const Graph *g, const Node *n)
{
    return n->op == OP_LEAF && (n->leaf.kind != LEAF_CONST || is_scale(g, n->path));
}

bool exhibit_cell_gone(const Graph *g, const char *path, size_t cell)
{
    NodeId n = graph_find(g, path);
    return n != NO_NODE && cell >= graph_dims_cells(g, graph_node(g, n)->dims);
}

static void add_gradients(Graph *g, const GradTarget *t)
{
    graph_scope(g, "%s", "");
    bool loss = strcmp(t->path, "loss") == 0;
    NodeId y = loss                                     ? add_loss(g, t->cell)
               : exhibit_cell_gone(g, t->path, t->cell) ? NO_NODE
                                                        : graph_find(g, t->path),
           *wrt = xmalloc(size_mul((size_t)g->count, sizeof *wrt));
    int count = 0;
    for (NodeId n = 0; n < g->count; n++)
        if (is_asked(g, graph_node(g, n)))
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
    return strcmp(a->path, b->path) == 0 && a->cell == b->cell && a->against == b->against &&
           memcmp(a->step, b->step, sizeof a->step) == 0;
}

/* What comes by way of a head, where there is that head; and by way of one in that. */
static void add_via(Graph *g, LedgerOn *on)
{
    Err none;
    for (const LedgerStep *of = on->of.step; of < on->of.step + LEDGER_STEPS && *of->via; of++) {
        const Ledger *in = on->steps ? &on->via[on->steps - 1] : &on->ledger;
        bool there = false;
        for (int i = 0; i < in->count && !there; i++) {
            const LedgerEntry *e = &in->entry[i];
            if (e->kind != LEDGER_HEADS || strcmp(graph_node(g, e->total)->path, of->via) != 0)
                continue;
            Dims d = graph_node(g, e->tokens)->dims;
            there = of->head < g->axes[dims_role(g, d, ROLE_HEAD)].n &&
                    of->token < g->axes[dims_role(g, d, ROLE_KEY)].n &&
                    ledger_add_via(g, e, of->head, of->token, on->steps + 1, &on->via[on->steps], &none);
        }
        if (!there)
            return;
        on->steps++;
    }
}

static void add_ledger(Graph *g, LedgerOn *on)
{
    NodeId y = graph_find(g, on->of.path);
    if (y == NO_NODE)
        err_set(&on->why, "there is no node '%s' here", on->of.path);
    else if (exhibit_cell_gone(g, on->of.path, on->of.cell) ||
             (on->of.against != LEDGER_ALONE && exhibit_cell_gone(g, on->of.path, on->of.against)))
        err_set(&on->why, "'%s' has fewer numbers here: `ledger` takes the one in focus", on->of.path);
    else
        on->there = ledger_add(g, y, on->of.cell, on->of.against, &on->ledger, &on->why);
    if (on->there)
        add_via(g, on);
}

static void renew(Graph *g, Run *r, NodeId count, ArenaMark mark, GradTarget *have, const GradTarget *want,
                  LedgerOn *on, const LedgerTarget *of)
{
    run_shrink(r, count);
    graph_truncate(g, count);
    arena_rewind(&g->arena, mark);
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
    Forward *p = &e->pass;
    bool base = is_target(&p->base_target, t) && is_ledger(&p->base_ledger.of, l);
    bool edited = !p->edited || (is_target(&p->edited_target, t) && is_ledger(&p->edited_ledger.of, l));
    if (!base || !edited)
        drop_effects(p);
    if (!base)
        drop_patching(p);
    if (!base)
        renew(p->base, p->base_run, p->base_count, p->base_mark, &p->base_target, t, &p->base_ledger, l);
    if (!edited)
        renew(p->edited, p->edited_run, p->edited_count, p->edited_mark, &p->edited_target, t, &p->edited_ledger, l);
    return (!*t->path || has_gradients(exhibit_graph(e), t)) && (!*l->path || exhibit_ledger(e)->there);
}

const LedgerOn *exhibit_ledger(const Exhibit *e)
{
    const Forward *p = &e->pass;
    return p->edited ? &p->edited_ledger : &p->base_ledger;
}

static uint16_t take_row(Session *s, RunRow row)
{
    size_t i = RUN_FIRST;
    while (i < s->run_count && s->runs[i].exhibit)
        i++;
    REQUIRE(i < RUN_LAST);
    while (s->run_count <= i) {
        s->runs = grow(s->runs, &s->run_cap, s->run_count, sizeof *s->runs);
        s->runs[s->run_count++] = (RunRow){0};
    }
    s->runs[i] = row;
    return (uint16_t)i;
}

static void number(Session *s, uint16_t *have, const Run *run, RunRow row)
{
    if (*have && !run)
        s->runs[*have] = (RunRow){0};
    if (!run)
        *have = 0;
    else if (!*have)
        *have = take_row(s, row);
}

void exhibits_number(Session *s, Exhibit *e)
{
    number(s, &e->pass.base_number, e->pass.base_run, (RunRow){e, false});
    number(s, &e->pass.edited_number, e->pass.edited_run, (RunRow){e, true});
}

/* Puts an exhibit that was made into the array; the session's from then on. */
static Exhibit *exhibits_keep(Session *s, Exhibit *e)
{
    s->exhibits = grow(s->exhibits, &s->exhibit_cap, (size_t)s->exhibit_count, sizeof(Exhibit *));
    s->exhibits[s->exhibit_count++] = e;
    exhibits_number(s, e);
    return e;
}

static void forget(Session *s, Exhibit *e)
{
    for (size_t i = 0; i < s->run_count; i++)
        if (s->runs[i].exhibit == e)
            s->runs[i] = (RunRow){0};
    s->now = s->now == e ? NULL : s->now;
    s->pinned = s->pinned == e ? NULL : s->pinned;
    exhibit_free(e);
    free(e);
}

void exhibits_drop(Session *s, Exhibit *e)
{
    int at = 0;
    if (!e)
        return;
    while (at < s->exhibit_count && s->exhibits[at] != e)
        at++;
    REQUIRE(at < s->exhibit_count);
    for (s->exhibit_count--; at < s->exhibit_count; at++)
        s->exhibits[at] = s->exhibits[at + 1];
    forget(s, e);
}

void exhibits_free(Session *s)
{
    for (int i = 0; i < s->exhibit_count; i++)
        forget(s, s->exhibits[i]);
    free(s->exhibits);
    free(s->runs);
    s->exhibits = NULL;
    s->runs = NULL;
    s->exhibit_count = 0;
    s->exhibit_cap = s->run_count = s->run_cap = 0;
}

Exhibit *session_add(Session *s, const Model *m, Input *in)
{
    Exhibit *e = xcalloc(1, sizeof *e);
    exhibit_init(e, m, in, s->pool);
    return exhibits_keep(s, e);
}

Exhibit *session_add_graph(Session *s, Graph *g, Input *in)
{
    Exhibit *e = xcalloc(1, sizeof *e);
    exhibit_init_graph(e, g, in, s->pool);
    return exhibits_keep(s, e);
}

bool session_show(Session *s, Exhibit *e, Err *err)
{
    Exhibit *was = s->now;
    s->now = e;
    if (edits_renew(s, err))
        return true;
    s->now = was;
    session_changed(s);
    return false;
}

void session_pin(Session *s, Exhibit *e)
{
    s->pinned = e;
    session_changed(s);
}

bool session_beside(Session *s, Input *in, Err *err)
{
    Exhibit *was = s->now, *e = session_add(s, was->model, in);
    if (!session_show(s, e, err)) {
        session_drop(s, e);
        return false;
    }
    session_drop(s, s->pinned);
    was->lines = edit_state_copy(&s->edits);
    session_pin(s, was);
    return true;
}

bool session_exchange(Session *s, Err *err)
{
    Exhibit *a = s->pinned, *b = s->now;
    if (!session_pinned(s))
        return err_set(err, "there is no A: `pin` keeps this as A, then open another %s",
                       session_input_words(s, SIDE_B)->alike);
    if (a->lines.count || s->edits.count)
        return err_set(err, "A and B would change places, and changes can't: `reset edits` first");
    if (a->model != b->model)
        return err_set(err, "A and B are two models: patching takes values of the same one");
    if (!session_show(s, a, err))
        return false;
    session_pin(s, b);
    session_say(s, "A and B have changed places: values of what was on show stand in what was pinned.");
    return true;
}

void session_drop(Session *s, Exhibit *e)
{
    REQUIRE(e != s->now);
    bool shown = e && e == s->pinned;
    exhibits_drop(s, e);
    if (shown)
        session_changed(s);
    else
        session_budget(s, s->memory);
}
