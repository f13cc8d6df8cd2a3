#include "core/eval/patching.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/grad.h"

struct Patching {
    PatchingSetup s;
    char *path;  /* of y */
    Graph plain; /* of `to` what the number is made from; shares all with it */
    NodeId y;
    size_t cell, against;
    bool about;
    PatchingResult r;
    size_t cap, known; /* places whose gradient is worked out */
    Graph graph;       /* of the patch under way, or of the gradients */
    Run *run;
    const NodeId *slope; /* of the gradients' graph */
    bool begun;
};

static void choose(Selection *cells, int axis, int i)
{
    cells->range[cells->n].axis = axis;
    cells->range[cells->n].from = i;
    cells->range[cells->n++].to = i + 1;
}

static void add(Patching *p, const char *path, int axis, int i, int row, int col)
{
    p->r.place = grow(p->r.place, &p->cap, p->r.count, sizeof *p->r.place);
    PatchPlace *to = &p->r.place[p->r.count++];
    *to = (PatchPlace){.path = path, .row = row, .col = col};
    if (axis != AXIS_NONE)
        choose(&to->cells, axis, i);
    p->r.rows = row < p->r.rows ? p->r.rows : row + 1;
    p->r.cols = col < p->r.cols ? p->r.cols : col + 1;
}

/* The heads of every attention, and behind the last one of a block its MLP; the column of MLPs is that behind the most
 * heads. */
static void add_parts(Patching *p)
{
    const Graph *g = &p->plain;
    int most = 0;
    for (int a = 0; a < anatomy_attentions(g); a++) {
        NodeId z = site_node(g, anatomy_attention(g, a), SITE_Z);
        int h = z == NO_NODE ? AXIS_NONE : node_role(g, z, ROLE_HEAD);
        most = h != AXIS_NONE && g->axes[h].n > most ? g->axes[h].n : most;
    }
    for (int a = 0; a < anatomy_attentions(g); a++) {
        int part = anatomy_attention(g, a), block = anatomy_part(g, part)->parent;
        NodeId z = site_node(g, part, SITE_Z);
        int h = z == NO_NODE ? AXIS_NONE : node_role(g, z, ROLE_HEAD);
        for (int i = 0; h != AXIS_NONE && i < g->axes[h].n; i++)
            add(p, graph_node(g, z)->path, h, i, a, i);
        bool last = block != NO_PART && anatomy_next_in(g, part, PART_ATTENTION, block) == NO_PART;
        int mlp = last ? anatomy_next_in(g, NO_PART, PART_MLP, block) : NO_PART;
        NodeId out = mlp == NO_PART ? NO_NODE : site_node(g, mlp, SITE_OUT);
        if (out != NO_NODE)
            add(p, graph_node(g, out)->path, AXIS_NONE, 0, a, most);
    }
}

static int last_token(const Patching *p, int axis)
{
    const int n = p->plain.axes[axis].n;
    return p->s.end && p->s.end < n ? p->s.end : n;
}

static void add_tokens(Patching *p)
{
    const Graph *g = &p->plain;
    int row = 0;
    for (int b = NO_PART; (b = anatomy_next(g, b, PART_BLOCK)) != NO_PART; row++) {
        NodeId x = site_node(g, b, SITE_RESID_PRE);
        int t = x == NO_NODE ? AXIS_NONE : node_role(g, x, ROLE_QUERY);
        for (int i = p->s.first; t != AXIS_NONE && i < last_token(p, t); i++)
            add(p, graph_node(g, x)->path, t, i, row, i - p->s.first);
    }
}

static void add_head(Patching *p)
{
    const Graph *g = &p->plain;
    for (int a = 0; a < anatomy_attentions(g); a++) {
        NodeId z = site_node(g, anatomy_attention(g, a), SITE_Z);
        int h = z == NO_NODE ? AXIS_NONE : node_role(g, z, ROLE_HEAD),
            t = z == NO_NODE ? AXIS_NONE : node_role(g, z, ROLE_QUERY);
        bool there = h != AXIS_NONE && t != AXIS_NONE && p->s.head < g->axes[h].n;
        for (int i = p->s.first; there && i < last_token(p, t); i++) {
            add(p, graph_node(g, z)->path, h, p->s.head, a, i - p->s.first);
            choose(&p->r.place[p->r.count - 1].cells, t, i);
        }
    }
}

static bool same_shapes(const Patching *p, Err *err)
{
    const Graph *a = p->s.from, *b = &p->plain;
    for (size_t i = 0; i <= p->r.count; i++) {
        const char *path = i < p->r.count ? p->r.place[i].path : p->path;
        NodeId n = graph_find(a, path), m = graph_find(b, path);
        if (n == NO_NODE)
            return err_set(err, "A has no node '%s': patching takes values of the same model", path);
        int t = node_role(a, n, ROLE_QUERY), u = node_role(b, m, ROLE_QUERY);
        if (t != AXIS_NONE && u != AXIS_NONE && a->axes[t].n != b->axes[u].n)
            return err_set(err,
                           "A has %d tokens and B has %d: a token takes the place of the one with its number, so the "
                           "two must be of one length",
                           a->axes[t].n, b->axes[u].n);
        if (graph_cells(a, n) != graph_cells(b, m))
            return err_set(err, "%s has another shape in A than in B", path);
    }
    return p->r.count || err_set(err, "this model has nothing to patch here: no heads, no MLPs, no blocks");
}

bool patching_fits(const PatchingSetup *s, Err *err)
{
    Patching *p = patching_new(s, err);
    patching_free(p);
    return p != NULL;
}

Patching *patching_new(const PatchingSetup *s, Err *err)
{
    Patching *p = xcalloc(1, sizeof *p);
    *p = (Patching){.s = *s, .path = xstrdup(s->y), .plain = *s->to, .y = graph_find(s->to, s->y)};
    static void (*const ADD[PATCH_KINDS])(
        Patching *) = {[PATCH_PARTS] = add_parts, [PATCH_TOKENS] = add_tokens, [PATCH_HEAD] = add_head};
    p->r = (PatchingResult){.kind = s->kind, .first = s->kind == PATCH_PARTS ? 0 : s->first, .to = NAN, .from = NAN};
    REQUIRE(p->y != NO_NODE);
    p->plain.count = p->y + 1;
    ADD[s->kind](p);
    if (!same_shapes(p, err)) {
        patching_free(p);
        return NULL;
    }
    size_t cells = size_mul((size_t)p->r.rows, (size_t)p->r.cols);
    p->r.exact = xfloats(p->r.count);
    p->r.gradient = xfloats(p->r.count);
    p->r.at = xcalloc(cells, sizeof *p->r.at);
    for (size_t i = 0; i < cells; i++)
        p->r.at[i] = -1;
    for (size_t i = 0; i < p->r.count; i++) {
        p->r.exact[i] = p->r.gradient[i] = NAN;
        p->r.at[p->r.place[i].row * p->r.cols + p->r.place[i].col] = (int)i;
    }
    return p;
}

static void end(Patching *p)
{
    if (!p->begun)
        return;
    run_free(p->run);
    graph_free(&p->graph);
    p->graph = (Graph){0};
    p->run = NULL;
    p->begun = false;
}

void patching_free(Patching *p)
{
    if (!p)
        return;
    end(p);
    free(p->r.place);
    free(p->r.at);
    free(p->r.exact);
    free(p->r.gradient);
    free(p->path);
    free(p);
}

static float number_of(const Patching *p, const float *y)
{
    return y[p->cell] - y[p->against];
}

static void begin(Patching *p, const Edit *e)
{
    Err err;
    bool made = graph_edit(&p->graph, &p->plain, e, e ? 1 : 0, &err);
    REQUIRE(made);
    p->run = run_new(&p->graph, p->s.to_run, p->s.pool);
    p->begun = true;
}

/* The number in both runs, as they are. */
static bool step_numbers(Patching *p, int64_t deadline_ns)
{
    NodeId theirs = graph_find(p->s.from, p->path);
    if (!run_step(p->s.to_run, p->y, deadline_ns) || !run_step(p->s.from_run, theirs, deadline_ns))
        return false;
    p->r.to = number_of(p, run_peek(p->s.to_run, p->y));
    p->r.from = number_of(p, run_peek(p->s.from_run, theirs));
    return true;
}

static void begin_gradients(Patching *p)
{
    begin(p, NULL);
    Graph *g = &p->graph;
    NodeId y = graph_find(g, p->path);
    float *seed = arena_alloc(&g->arena, size_mul(graph_cells(g, y), sizeof *seed));
    for (size_t i = 0; i < graph_cells(g, y); i++)
        seed[i] = i == p->cell ? 1.0f : i == p->against ? -1.0f : 0.0f;
    NodeId *wrt = xcalloc(p->r.count, sizeof *wrt);
    for (size_t i = 0; i < p->r.count; i++)
        wrt[i] = graph_find(g, p->r.place[i].path);
    NodeId leaf = graph_leaf(g, "patching.seed", graph_node(g, y)->dims,
                             (Leaf){LEAF_CONST, seed, "the number that patching is about"});
    p->slope = grad_add(g, y, leaf, wrt, (int)p->r.count, "grad.");
    free(wrt);
    run_extend(p->run);
}

/* Σ over the patched cells of gradient · (theirs − ours). */
static float foretold(const Patching *p, const PatchPlace *at, const float *slope, const float *ours,
                      const float *theirs)
{
    const Graph *g = &p->plain;
    NodeId n = graph_find(g, at->path);
    size_t cells = graph_cells(g, n), inner[2] = {cells, cells}, whole[2] = {cells, cells}, first[2] = {0, 0};
    for (int k = 0; k < at->cells.n; k++) { /* one index of one axis, or of two */
        int axis = at->cells.range[k].axis;
        inner[k] = dims_stride(g->axes, graph_node(g, n)->dims, axis);
        whole[k] = inner[k] * (size_t)g->axes[axis].n;
        first[k] = inner[k] * (size_t)at->cells.range[k].from;
    }
    const int a = at->cells.n == 2 && inner[1] > inner[0], b = !a; /* the axis further out, the one inside it */
    if (at->cells.n < 2) {
        inner[b] = whole[b] = inner[a];
        first[b] = 0;
    }
    double sum = 0;
    for (size_t outer = first[a]; outer < cells; outer += whole[a])
        for (size_t block = outer + first[b]; block < outer + inner[a]; block += whole[b])
            for (size_t i = block; i < block + inner[b]; i++)
                sum += (double)slope[i] * ((double)theirs[i] - (double)ours[i]);
    return (float)sum;
}

static bool step_gradients(Patching *p, int64_t deadline_ns)
{
    if (!p->begun)
        begin_gradients(p);
    for (; p->known < p->r.count; p->known++) {
        const PatchPlace *at = &p->r.place[p->known];
        NodeId n = graph_find(&p->plain, at->path), theirs = graph_find(p->s.from, at->path),
               slope = p->slope[graph_find(&p->graph, at->path)];
        if (slope == NO_NODE) { /* nothing leads from there to the number */
            p->r.gradient[p->known] = 0;
            continue;
        }
        if (!run_step(p->run, slope, deadline_ns) || !run_step(p->s.to_run, n, deadline_ns) ||
            !run_step(p->s.from_run, theirs, deadline_ns))
            return false;
        p->r.gradient[p->known] = foretold(p, at, run_peek(p->run, slope), run_peek(p->s.to_run, n),
                                           run_peek(p->s.from_run, theirs));
    }
    end(p);
    return true;
}

static bool begin_patch(Patching *p, int64_t deadline_ns)
{
    const PatchPlace *at = &p->r.place[p->r.done];
    NodeId theirs = graph_find(p->s.from, at->path);
    if (!run_step(p->s.from_run, theirs, deadline_ns))
        return false;
    const Edit e = {.kind = EDIT_VALUES,
                    .path = at->path,
                    .cells = at->cells,
                    .axis = AXIS_NONE,
                    .data = run_peek(p->s.from_run, theirs),
                    .origin = "patched"};
    begin(p, &e);
    return true;
}

bool patching_step(Patching *p, int64_t deadline_ns)
{
    REQUIRE(p->about);
    if (isnan(p->r.from) && !step_numbers(p, deadline_ns))
        return false;
    if (p->known < p->r.count && !step_gradients(p, deadline_ns))
        return false;
    while (p->r.done < p->r.count) {
        if (!p->begun && !begin_patch(p, deadline_ns))
            return false;
        NodeId y = graph_find(&p->graph, p->path);
        if (!run_step(p->run, y, deadline_ns))
            return false;
        p->r.exact[p->r.done++] = number_of(p, run_peek(p->run, y)) - p->r.to;
        end(p);
        if (clock_ns() >= deadline_ns)
            return p->r.done == p->r.count;
    }
    return true;
}

const PatchingResult *patching_result(const Patching *p)
{
    return &p->r;
}

const Run *patching_from(const Patching *p)
{
    return p->s.from_run;
}

void patching_about(Patching *p, size_t cell, size_t against)
{
    REQUIRE(!p->about && cell < graph_cells(&p->plain, p->y) && against < graph_cells(&p->plain, p->y));
    p->cell = cell;
    p->against = against;
    p->about = true;
}

bool patching_number(const Patching *p, size_t *cell, size_t *against)
{
    *cell = p->cell;
    *against = p->against;
    return p->about;
}

PatchingError patching_error(const PatchingResult *r)
{
    PatchingError e = {.n = r->done, .correlation = (double)NAN, .worst = -1};
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0, n = (double)(r->done ? r->done : 1);
    for (size_t i = 0; i < r->done; i++) {
        double off = fabs((double)r->gradient[i] - (double)r->exact[i]);
        x += (double)r->gradient[i] / n;
        y += (double)r->exact[i] / n;
        e.mean += off / n;
        e.size += fabs((double)r->exact[i]) / n;
        if (e.worst < 0 || off > e.most) {
            e.most = off;
            e.worst = (int)i;
        }
    }
    for (size_t i = 0; i < r->done; i++) {
        double a = (double)r->gradient[i] - x, b = (double)r->exact[i] - y;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    if (r->done > 2 && xx > 0 && yy > 0)
        e.correlation = xy / sqrt(xx * yy);
    return e;
}
