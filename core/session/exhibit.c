#include "core/session/exhibit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/grad.h"
#include "core/models/probes.h"
#include "core/session/edit/edits.h"
#include "core/session/input.h"
#include "core/session/learned/object.h"

static const double SMALL = 1e8; /* FLOPs of a pass: about a millisecond in one thread */

/* A pass of a small model is over before a second thread is awake. The bits are the same. */
static Pool *threads_for(const Forward *p, Pool *pool)
{
    double flops = 0;
    for (NodeId n = 0; n < p->base_count; n++)
        flops += graph_node(p->base, n)->flags & NODE_PROBE ? 0 : graph_cost(p->base, n).flops;
    return flops < SMALL ? NULL : pool;
}

Forward *exhibit_pass(const Exhibit *e)
{
    return &e->passes[e->pass];
}

static Forward *new_pass(Exhibit *e, Graph *g)
{
    e->passes = grow(e->passes, &e->pass_cap, (size_t)e->pass_count, sizeof *e->passes);
    Forward *p = &e->passes[e->pass_count++];
    *p = (Forward){.base = g};
    return p;
}

static void start_pass(Forward *p, Pool *pool)
{
    p->base_count = p->base->count;
    p->base_mark = arena_mark(&p->base->arena);
    p->base_run = run_new(p->base, NULL, threads_for(p, pool));
}

static void build_pass(Exhibit *e, const Text text[TEXTS], Pool *pool)
{
    const Input *in = &e->input;
    const VitConfig *c = model_vit(e->model);
    float *object = c ? xfloats((size_t)vit_patches(c)) : NULL;
    bool known = c && object_patches(in, e->model, object);
    ModelInput what = {.kind = in->kind, .values = in->values, .ready = in->ready, .object = known ? object : NULL};
    memcpy(what.text, text, sizeof what.text);
    Forward *p = new_pass(e, xcalloc(1, sizeof *p->base));
    memcpy(p->text, text, sizeof p->text);
    graph_init(p->base);
    e->model->family->build(e->model, p->base, &what);
    free(object);
    start_pass(p, pool);
}

void exhibit_init(Exhibit *e, const Model *m, Input *in, Pool *pool)
{
    *e = (Exhibit){.model = m, .input = *in};
    *in = (Input){0};
    build_pass(e, e->input.text, pool);
}

void exhibit_init_graph(Exhibit *e, Graph *g, Input *in, Pool *pool)
{
    *e = (Exhibit){.input = *in};
    *in = (Input){0};
    start_pass(new_pass(e, g), pool);
}

void exhibit_add_pass(Exhibit *e, Text target, Pool *pool)
{
    Text text[TEXTS] = {[TEXT_SOURCE] = e->input.text[TEXT_SOURCE], [TEXT_TARGET] = text_copy(&e->input.arena, target)};
    build_pass(e, text, pool);
}

static void free_edited(Forward *p)
{
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
    free_edited(p);
    run_free(p->base_run);
    if (p->base)
        graph_free(p->base);
    free(p->base);
}

void exhibit_free(Exhibit *e)
{
    for (int i = 0; i < e->pass_count; i++)
        free_pass(&e->passes[i]);
    free(e->passes);
    input_free(&e->input);
    edit_state_free(&e->lines);
    if (e->own)
        model_free(e->own);
    free(e->own);
    *e = (Exhibit){0};
}

bool exhibit_edit(Exhibit *e, Edit *edits, int count, Arena *arena, Pool *pool, Err *err)
{
    Graph *edited = NULL;
    Forward *p = exhibit_pass(e);
    if (count > 0) {
        edited = xcalloc(1, sizeof *edited);
        Graph plain = *p->base; /* the edited graph has gradients of its own */
        plain.count = p->base_count;
        if (!graph_edit(edited, &plain, edits, count, err)) {
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
    p->edits = edits;
    p->edit_count = count;
    p->edit_arena = *arena;
    *arena = (Arena){0};
    return true;
}

const Graph *exhibit_graph(const Exhibit *e)
{
    const Forward *p = exhibit_pass(e);
    return p->edited ? p->edited : p->base;
}

Run *exhibit_run(const Exhibit *e)
{
    const Forward *p = exhibit_pass(e);
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

static void add_gradients(Graph *g, const GradTarget *t)
{
    graph_scope(g, "%s", "");
    bool loss = strcmp(t->path, "loss") == 0;
    NodeId y = loss ? add_loss(g, t->cell) : graph_find(g, t->path),
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

static void renew(Graph *g, Run *r, NodeId count, ArenaMark mark, GradTarget *have, const GradTarget *want)
{
    if (is_target(have, want))
        return;
    run_shrink(r, count);
    graph_truncate(g, count);
    arena_rewind(&g->arena, mark);
    if (*want->path)
        add_gradients(g, want);
    run_extend(r);
    *have = *want;
}

bool exhibit_gradients(Exhibit *e, const GradTarget *t)
{
    Forward *p = exhibit_pass(e);
    renew(p->base, p->base_run, p->base_count, p->base_mark, &p->base_target, t);
    if (p->edited)
        renew(p->edited, p->edited_run, p->edited_count, p->edited_mark, &p->edited_target, t);
    return !*t->path || has_gradients(exhibit_graph(e), t);
}
