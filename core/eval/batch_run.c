#include "core/eval/batch_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/readout.h"
#include "core/graph/plan.h"
#include "core/models/probes.h"

/* What one thread works with. */
typedef struct Worker {
    Plan *plan; /* made by the thread itself when it first computes */
    float *pixels;
} Worker;

struct BatchRun {
    Graph base, edited; /* an edited graph lives on what it was made from */
    const Graph *graph; /* the one that is computed */
    NodeId input;       /* the leaf that pictures go to */
    NodeId *wanted;     /* logits, the watched nodes, and perhaps the other read-out's logits */
    int wanted_count, watch_count;
    bool other;
    size_t cells; /* of a picture */
    float *zeros; /* what the input points at before a plan gives it pictures */
    Worker *workers;
    int worker_count;
};

static int same_axis(const Graph *from, int axis, const Graph *to)
{
    for (int i = 0; i < to->axis_count; i++)
        if (strcmp(to->axes[i].sym, from->axes[axis].sym) == 0)
            return i;
    return AXIS_NONE;
}

/* Values that stand for a whole node stand for that of every picture. */
static const float *repeated(Arena *arena, const Graph *to, NodeId n, const Edit *e, const Graph *from)
{
    size_t one = graph_cells(from, graph_find(from, e->path)), all = graph_cells(to, n);
    float *data = arena_alloc(arena, size_mul(all, sizeof *data));
    for (size_t at = 0; at + one <= all; at += one)
        memcpy(data + at, e->data, one * sizeof *data);
    return data;
}

/* The same edit for the graph of several pictures: axes are found by their letters. False: one that says nothing about
 * other pictures. */
static bool translate(Arena *arena, const Graph *from, const Graph *to, NodeId input, const Edit *e, Edit *out)
{
    NodeId n = graph_find(to, e->path), was = graph_find(from, e->path);
    bool analysis = was != NO_NODE && (graph_node(from, was)->flags & NODE_PROBE);
    if (analysis || n == input)
        return false;
    *out = *e;
    for (int i = 0; i < e->cells.n; i++)
        out->cells.range[i].axis = same_axis(from, e->cells.range[i].axis, to);
    if (e->kind == EDIT_MEAN || e->kind == EDIT_GATHER || e->kind == EDIT_OTHER)
        out->axis = same_axis(from, e->axis, to);
    if (e->kind == EDIT_VALUES && n != NO_NODE && was != NO_NODE)
        out->data = repeated(arena, to, n, e, from);
    return true;
}

static bool edited(Graph *out, const Graph *base, NodeId input, const BatchRunSetup *setup, Err *err)
{
    Arena arena = {0};
    Edit *edits = arena_alloc(&arena, size_mul((size_t)setup->edit_count + 1, sizeof *edits));
    int count = 0;
    for (int i = 0; i < setup->edit_count; i++)
        count += translate(&arena, setup->graph, base, input, &setup->edits[i], &edits[count]);
    bool ok = graph_edit(out, base, edits, count, err);
    arena_free(&arena);
    return ok;
}

static bool want_nodes(BatchRun *s, const char *logits, const char *other, const BatchRunSetup *setup, Err *err)
{
    s->wanted = xcalloc((size_t)setup->watch_count + 2, sizeof *s->wanted);
    s->wanted[s->wanted_count++] = graph_find(s->graph, logits);
    for (int i = 0; i < setup->watch_count; i++) {
        NodeId n = graph_find(s->graph, setup->watch[i]);
        if (n == NO_NODE)
            return err_set(err, "there is no node '%s' in this model", setup->watch[i]);
        s->wanted[s->wanted_count++] = n;
    }
    s->watch_count = setup->watch_count;
    s->other = other != NULL;
    if (other)
        s->wanted[s->wanted_count++] = graph_find(s->graph, other);
    return true;
}

/* The input's leaf in the edited graph; where nothing is edited the graphs are one. */
static NodeId find_input(const Graph *g, NodeId input)
{
    for (NodeId n = 0; n < g->count; n++)
        if (graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->counterpart == input)
            return n;
    UNREACHABLE("an edited graph without its input");
}

BatchRun *batch_run_new(const BatchRunSetup *setup, Err *err)
{
    BatchRun *s = xcalloc(1, sizeof *s);
    VitConfig c = setup->model->vit;
    VitNodes nodes;
    REQUIRE(c.classes > 0 && !(setup->single && setup->other));
    if (setup->ready)
        c.input = VIT_INPUT_READY;
    s->cells = size_mul(size_mul((size_t)c.image_h, (size_t)c.image_w), (size_t)c.channels);
    s->zeros = xcalloc(size_mul(s->cells, BATCH_RUN_PICTURES), sizeof *s->zeros);
    s->worker_count = setup->threads > 0 ? setup->threads : 1;
    s->workers = xcalloc((size_t)s->worker_count, sizeof *s->workers);
    graph_init(&s->base);
    if (setup->single) {
        vit_build(&s->base, &c, &setup->model->weights, NULL, s->zeros, &nodes);
        probes_add(&s->base, &c, &nodes);
    } else
        vit_build_batch(&s->base, &c, &setup->model->weights, NULL, s->zeros,
                        (VitBatch){.pictures = BATCH_RUN_PICTURES}, &nodes);
    const char *other = setup->other ? readout_add(&s->base, &c, &nodes) : NULL;
    bool ok = !setup->edit_count || edited(&s->edited, &s->base, nodes.input, setup, err);
    s->graph = setup->edit_count ? &s->edited : &s->base;
    s->input = !ok || !setup->edit_count ? nodes.input : find_input(&s->edited, nodes.input);
    if (ok && want_nodes(s, graph_node(&s->base, nodes.logits)->path, other, setup, err))
        return s;
    batch_run_free(s);
    return NULL;
}

void batch_run_free(BatchRun *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->worker_count; i++) {
        plan_free(s->workers[i].plan);
        free(s->workers[i].pixels);
    }
    free(s->workers);
    free(s->wanted);
    free(s->zeros);
    graph_free(&s->edited);
    graph_free(&s->base);
    free(s);
}

float *batch_run_pixels(BatchRun *s, int worker, int picture)
{
    Worker *b = &s->workers[worker];
    REQUIRE(worker < s->worker_count && picture >= 0 && picture < BATCH_RUN_PICTURES);
    if (!b->pixels) {
        b->pixels = xfloats(size_mul(s->cells, BATCH_RUN_PICTURES));
        memset(b->pixels, 0, s->cells * BATCH_RUN_PICTURES * sizeof *b->pixels);
    }
    return b->pixels + (size_t)picture * s->cells;
}

void batch_run_compute(BatchRun *s, int worker)
{
    bool complete = batch_run_step(s, worker, CLOCK_NEVER);
    REQUIRE(complete);
}

bool batch_run_step(BatchRun *s, int worker, int64_t deadline_ns)
{
    Worker *b = &s->workers[worker];
    if (!b->plan) {
        b->plan = plan_new(s->graph, s->wanted, s->wanted_count);
        plan_leaf(b->plan, s->input, batch_run_pixels(s, worker, 0));
    }
    return plan_step(b->plan, deadline_ns);
}

/* What depends on no picture is the same for all. */
static const float *of_picture(const BatchRun *s, int worker, NodeId n, int picture)
{
    Dims d = graph_node(s->graph, n)->dims;
    bool several = d.n && strcmp(s->graph->axes[d.axis[0]].sym, "b") == 0;
    size_t cells = several ? graph_cells(s->graph, n) / BATCH_RUN_PICTURES : 0;
    return plan_values(s->workers[worker].plan, n) + (size_t)picture * cells;
}

const float *batch_run_logits(const BatchRun *s, int worker, int picture)
{
    return of_picture(s, worker, s->wanted[0], picture);
}

bool batch_run_has_other(const BatchRun *s)
{
    return s->other;
}

const float *batch_run_other(const BatchRun *s, int worker, int picture)
{
    REQUIRE(s->other);
    return of_picture(s, worker, s->wanted[s->wanted_count - 1], picture);
}

const float *batch_run_watched(const BatchRun *s, int worker, int which, int picture)
{
    REQUIRE(which >= 0 && which < s->watch_count);
    return of_picture(s, worker, s->wanted[1 + which], picture);
}

int batch_run_largest(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i])))
            best = i;
    return best;
}
