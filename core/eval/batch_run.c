#include "core/eval/batch_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/dataset.h"
#include "core/graph/anatomy.h"
#include "core/graph/plan.h"
#include "core/models/family.h"
#include "core/train/texts.h"

/* One graph for pictures; for sentences one for every length. */
enum { INPUTS = 3, GRAPHS = TEXT_LENGTH_MAX / TEXT_LENGTH_STEP };

typedef struct Sized {
    Graph base, edited;   /* an edited graph lives on what it was made from */
    const Graph *graph;   /* the one that is computed */
    NodeId input[INPUTS]; /* leaves that the inputs go to, in the base and then in the graph; NO_NODE: none */
    NodeId *wanted;       /* logits, the watched nodes, and perhaps the other read-out's logits */
    int wanted_count;
    float *zeros;    /* what the inputs point at before a plan gives them others */
    NodeId *between; /* what is kept of it, in the base graph; with a front, the leaves in its place, or NO_NODE */
    bool late;       /* nothing that is wanted reads the input */
} Sized;

/* What one thread works with. */
typedef struct Worker {
    Plan *plan[GRAPHS]; /* made by the thread itself when it first computes */
    float *input[INPUTS];
    TextBatch words; /* sentences: its arrays are the inputs */
    int now;         /* the graph of the inputs that are loaded */
    size_t batch;    /* its number */
} Worker;

struct BatchRun {
    const Model *model;
    bool text, other;
    int inputs, graphs, watch_count;
    Sized sized[GRAPHS];
    size_t cells; /* of a picture */
    Worker *workers;
    int worker_count;
    BatchKept *keeps;
    const BatchKept *front;
    int between; /* how many values are kept of a batch */
};

static int same_axis(const Graph *from, int axis, const Graph *to)
{
    for (int i = 0; i < to->axis_count; i++)
        if (strcmp(to->axes[i].sym, from->axes[axis].sym) == 0)
            return i;
    return AXIS_NONE;
}

/* Values that stand for a whole node stand for that of every input. */
static const float *repeated(Arena *arena, const Graph *to, NodeId n, const Edit *e, const Graph *from)
{
    size_t one = graph_cells(from, graph_find(from, e->path)), all = graph_cells(to, n);
    float *data = arena_alloc(arena, size_mul(all, sizeof *data));
    for (size_t at = 0; at + one <= all; at += one)
        memcpy(data + at, e->data, one * sizeof *data);
    return data;
}

/* The same edit for the graph of several inputs: axes are found by their letters. False: one that says nothing about
 * other inputs. */
static bool translate(Arena *arena, const Graph *from, const Sized *z, const Edit *e, Edit *out)
{
    const Graph *to = &z->base;
    NodeId n = graph_find(to, e->path), was = graph_find(from, e->path);
    bool analysis = was != NO_NODE && (graph_node(from, was)->flags & NODE_PROBE);
    for (int i = 0; i < INPUTS; i++)
        analysis = analysis || (n != NO_NODE && n == z->input[i]);
    if (analysis)
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

static bool begin_late(Sized *z, int between, Edit *edits, int count, Err *err);

static bool edit(Sized *z, const BatchRunSetup *setup, Err *err)
{
    Arena arena = {0};
    Edit *edits = arena_alloc(&arena, size_mul((size_t)setup->edit_count + 1, sizeof *edits));
    int count = 0;
    for (int i = 0; i < setup->edit_count; i++)
        count += translate(&arena, setup->graph, z, &setup->edits[i], &edits[count]);
    bool ok = graph_edit(&z->edited, &z->base, edits, count, err);
    if (ok && setup->front && setup->front->at)
        ok = begin_late(z, setup->front->count, edits, count, err);
    arena_free(&arena);
    return ok;
}

/* --- what lies between the input and the answer --- */

void batch_kept_free(BatchKept *k)
{
    for (size_t i = 0; k->at && i < k->batches * (size_t)k->count; i++)
        free(k->at[i]);
    free(k->at);
    *k = (BatchKept){.count = 0};
}

/* What is kept of a graph, in node order of parts; returns how many. */
static int find_between(Sized *z)
{
    static const Site OF_ATTENTION[] = {SITE_KEY, SITE_VALUE, SITE_Z};
    enum { SITES = sizeof OF_ATTENTION / sizeof *OF_ATTENTION };
    const Graph *g = &z->base;
    int count = 0;
    z->between = xcalloc((size_t)anatomy_count(g) * SITES + 1, sizeof *z->between);
    for (int part = 0; part < anatomy_count(g); part++) {
        const PartKind kind = anatomy_part(g, part)->kind;
        if (kind == PART_BLOCK && site_node(g, part, SITE_RESID_PRE) != NO_NODE)
            z->between[count++] = site_node(g, part, SITE_RESID_PRE);
        for (int i = 0; kind == PART_ATTENTION && i < SITES; i++)
            if (site_node(g, part, OF_ATTENTION[i]) != NO_NODE)
                z->between[count++] = site_node(g, part, OF_ATTENTION[i]);
    }
    return count;
}

static bool is_same(const Graph *edited, NodeId n)
{
    for (NodeId i = 0; i < edited->count; i++)
        if (graph_node(edited, i)->origin == n)
            return true;
    return false;
}

static NodeId find_leaf(const Graph *g, const char *origin)
{
    for (NodeId n = 0; n < g->count; n++)
        if (graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_HOST &&
            strcmp(graph_node(g, n)->leaf.origin, origin) == 0)
            return n;
    UNREACHABLE("a leaf that an edit has made");
}

/* The edited graph once more, beginning at all that is the same in it: those nodes become leaves, under the edits. */
static bool begin_late(Sized *z, int between, Edit *edits, int count, Err *err)
{
    enum { NAME = 24 };
    Arena arena = {0};
    Edit *all = arena_alloc(&arena, size_mul((size_t)(between + count) + 1, sizeof *all));
    char *name = arena_alloc(&arena, (size_t)between * NAME + 1);
    int late = 0;
    for (int i = 0; i < between; i++) {
        const NodeId n = z->between[i];
        snprintf(name + i * NAME, NAME, "kept %d", i);
        if (!is_same(&z->edited, n)) {
            z->between[i] = NO_NODE;
            continue;
        }
        size_t cells = graph_cells(&z->base, n);
        float *zeros = arena_alloc(&arena, size_mul(cells, sizeof *zeros));
        memset(zeros, 0, cells * sizeof *zeros);
        all[late++] = (Edit){.kind = EDIT_VALUES,
                             .path = graph_node(&z->base, n)->path,
                             .data = zeros,
                             .origin = name + i * NAME};
    }
    memcpy(all + late, edits, (size_t)count * sizeof *all);
    graph_free(&z->edited);
    bool ok = graph_edit(&z->edited, &z->base, all, late + count, err);
    for (int i = 0; ok && i < between; i++)
        z->between[i] = z->between[i] == NO_NODE ? NO_NODE : find_leaf(&z->edited, name + i * NAME);
    arena_free(&arena);
    return ok;
}

static void read_front(const BatchRun *s, const Worker *b)
{
    const Sized *z = &s->sized[b->now];
    for (int i = 0; s->front && z->graph == &z->edited && i < s->between; i++)
        if (z->between[i] != NO_NODE)
            plan_leaf(b->plan[b->now], z->between[i], s->front->at[b->batch * (size_t)s->between + (size_t)i]);
}

static void keep(const BatchRun *s, const Worker *b)
{
    const Sized *z = &s->sized[b->now];
    for (int i = 0; s->keeps && i < s->between; i++) {
        float **to = &s->keeps->at[b->batch * (size_t)s->between + (size_t)i];
        size_t cells = graph_cells(z->graph, z->between[i]);
        *to = *to ? *to : xfloats(cells);
        memcpy(*to, plan_values(b->plan[b->now], z->between[i]), cells * sizeof **to);
    }
}

void batch_run_number(BatchRun *s, int worker, size_t batch)
{
    REQUIRE(!s->keeps || batch < s->keeps->batches);
    REQUIRE(!s->front || batch < s->front->batches);
    s->workers[worker].batch = batch;
}

/* Bytes that are kept of so many batches, at most. */
static size_t bytes_between(const BatchRun *s, size_t batches)
{
    size_t most = 0;
    for (int g = 0; g < s->graphs; g++) {
        const Sized *z = &s->sized[g];
        size_t bytes = 0;
        for (int i = 0; z->between && i < s->between; i++)
            bytes += graph_cells(&z->base, z->between[i]) * sizeof(float);
        most = bytes > most ? bytes : most;
    }
    return size_mul(most, batches);
}

bool batch_run_begins_late(const BatchRun *s)
{
    return s->sized[0].late;
}

static bool reads_input(const Sized *z)
{
    const Graph *g = z->graph;
    bool *needed = xcalloc((size_t)g->count, sizeof *needed);
    for (int i = 0; i < z->wanted_count; i++)
        needed[z->wanted[i]] = true;
    for (NodeId n = g->count; n-- > 0;)
        for (int i = 0; needed[n] && i < NODE_INPUTS; i++)
            if (graph_node(g, n)->in[i] != NO_NODE)
                needed[graph_node(g, n)->in[i]] = true;
    const bool reads = needed[z->input[0]];
    free(needed);
    return reads;
}

/* The input's leaf in the edited graph. */
static NodeId find_input(const Graph *g, NodeId input)
{
    for (NodeId n = 0; n < g->count; n++)
        if (graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->counterpart == input)
            return n;
    UNREACHABLE("an edited graph without its input");
}

/* A graph that was built: edits it, and finds what is wanted of it. */
static bool finish(BatchRun *s, Sized *z, const BatchRunSetup *setup, const char *logits, const char *other, Err *err)
{
    z->graph = &z->base;
    if (setup->keeps || setup->front)
        s->between = find_between(z);
    if (setup->edit_count) {
        if (!edit(z, setup, err))
            return false;
        z->graph = &z->edited;
        for (int i = 0; i < INPUTS; i++)
            z->input[i] = z->input[i] == NO_NODE ? NO_NODE : find_input(z->graph, z->input[i]);
    }
    const int between = setup->keeps ? s->between : 0;
    z->wanted = xcalloc((size_t)(setup->watch_count + between) + 2, sizeof *z->wanted);
    z->wanted[z->wanted_count++] = graph_find(z->graph, logits);
    for (int i = 0; i < setup->watch_count; i++) {
        NodeId n = graph_find(z->graph, setup->watch[i]);
        if (n == NO_NODE)
            return err_set(err, "there is no node '%s' in this model", setup->watch[i]);
        z->wanted[z->wanted_count++] = n;
    }
    if (other)
        z->wanted[z->wanted_count++] = graph_find(z->graph, other);
    for (int i = 0; i < between; i++)
        z->wanted[z->wanted_count++] = z->between[i];
    z->late = setup->front && !reads_input(z);
    return true;
}

static bool build_pictures(BatchRun *s, const BatchRunSetup *setup, Err *err)
{
    const Family *f = s->model->family;
    const PictureGrid grid = model_grid(s->model);
    const bool several = f->build_batch && !setup->single;
    Sized *z = &s->sized[0];
    const bool answers = grid.classes > 0;
    REQUIRE((answers || (setup->single && setup->watch_count)) && !(setup->single && setup->other));
    s->inputs = several ? BATCH_RUN_PICTURES : 1;
    s->graphs = 1;
    s->cells = grid_values(&grid);
    z->zeros = xcalloc(size_mul(s->cells, BATCH_RUN_PICTURES), sizeof *z->zeros);
    const ModelInput in = {.kind = INPUT_PICTURE, .values = z->zeros, .ready = setup->ready};
    graph_init(&z->base);
    if (several)
        f->build_batch(s->model, &z->base, &in, BATCH_RUN_PICTURES);
    else
        f->build(s->model, &z->base, &in);
    const char *other = setup->other ? readout_add(&z->base, s->model) : NULL;
    s->other = other != NULL;
    for (int i = 0; i < INPUTS; i++)
        z->input[i] = i ? NO_NODE : site_node_any(&z->base, SITE_INPUT);
    return finish(s, z, setup, answers ? site_path_any(&z->base, SITE_LOGITS) : setup->watch[0], other, err);
}

static bool build_sentences(BatchRun *s, const BatchRunSetup *setup, Err *err)
{
    const Model *m = setup->model;
    REQUIRE(!dataset_unsuited_sentences(m));
    s->text = true;
    s->inputs = TEXT_MICRO;
    s->graphs = GRAPHS;
    for (int i = 0; i < GRAPHS; i++) {
        int length = (i + 1) * TEXT_LENGTH_STEP;
        Sized *z = &s->sized[i];
        Seq2seqBatch size = {TEXT_MICRO, length, length, NULL};
        Seq2seqNodes nodes;
        size.zeros = z->zeros = xcalloc(seq2seq_batch_zeros(&m->text, size), sizeof *z->zeros);
        graph_init(&z->base);
        seq2seq_build_batch(&z->base, &m->text, &m->weights, size, &nodes);
        const NodeId input[INPUTS] = {nodes.source, nodes.target, nodes.padding};
        memcpy(z->input, input, sizeof input);
        if (!finish(s, z, setup, graph_node(&z->base, nodes.logits)->path, NULL, err))
            return false;
    }
    return true;
}

BatchRun *batch_run_new(const BatchRunSetup *setup, Err *err)
{
    BatchRun *s = xcalloc(1, sizeof *s);
    s->model = setup->model;
    s->watch_count = setup->watch_count;
    s->front = setup->front && setup->front->at && setup->edit_count ? setup->front : NULL;
    s->worker_count = setup->threads > 0 ? setup->threads : 1;
    s->workers = xcalloc((size_t)s->worker_count, sizeof *s->workers);
    if ((model_grid(s->model).rows ? build_pictures : build_sentences)(s, setup, err)) {
        enum { KEPT_MOST = 1 << 28 }; /* bytes */
        BatchKept *k = setup->keeps;
        if (k)
            k->batches = (k->batches + (size_t)s->inputs - 1) / (size_t)s->inputs;
        if (k && bytes_between(s, k->batches) <= (setup->keep_most ? setup->keep_most : KEPT_MOST)) {
            s->keeps = k;
            k->count = s->between;
            k->at = xcalloc(size_mul(k->batches, (size_t)k->count) + 1, sizeof *k->at);
        }
        return s;
    }
    batch_run_free(s);
    return NULL;
}

void batch_run_free(BatchRun *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->worker_count; i++) {
        Worker *b = &s->workers[i];
        for (int g = 0; g < GRAPHS; g++)
            plan_free(b->plan[g]);
        if (s->text)
            text_batch_free(&b->words);
        else
            free(b->input[0]);
    }
    for (int g = 0; g < GRAPHS; g++) {
        Sized *z = &s->sized[g];
        free(z->wanted);
        free(z->between);
        free(z->zeros);
        graph_free(&z->edited);
        graph_free(&z->base);
    }
    free(s->workers);
    free(s);
}

int batch_run_inputs(const BatchRun *s)
{
    return s->inputs;
}

float *batch_run_pixels(BatchRun *s, int worker, int picture)
{
    Worker *b = &s->workers[worker];
    REQUIRE(worker < s->worker_count && picture >= 0 && picture < BATCH_RUN_PICTURES && !s->text);
    if (!b->input[0]) {
        b->input[0] = xfloats(size_mul(s->cells, BATCH_RUN_PICTURES));
        memset(b->input[0], 0, s->cells * BATCH_RUN_PICTURES * sizeof *b->input[0]);
    }
    return b->input[0] + (size_t)picture * s->cells;
}

/* The sentences of that thread's next computation, at most batch_run_inputs, the French ones as the decoder's input
 * (each row sees only the words before it); returns the length of the axes. */
static int batch_run_sentences(BatchRun *s, int worker, const ParallelSentence *first, int n)
{
    Worker *b = &s->workers[worker];
    const ParallelSentence *list[TEXT_MICRO];
    int longest = 0;
    REQUIRE(worker < s->worker_count && n > 0 && n <= TEXT_MICRO && s->text);
    if (!b->words.source)
        b->words = text_batch_new(&s->model->text);
    float *const input[INPUTS] = {b->words.source, b->words.target, b->words.padding};
    memcpy(b->input, input, sizeof input);
    for (int i = 0; i < n; i++) {
        int length = text_batch_length(list[i] = &first[i]);
        longest = length > longest ? length : longest;
    }
    text_batch_fill(&b->words, &s->model->text, list, n, longest, 0, 0);
    b->now = longest / TEXT_LENGTH_STEP - 1;
    return longest;
}

void batch_run_compute(BatchRun *s, int worker)
{
    bool complete = batch_run_step(s, worker, CLOCK_NEVER);
    REQUIRE(complete);
}

bool batch_run_step(BatchRun *s, int worker, int64_t deadline_ns)
{
    Worker *b = &s->workers[worker];
    const Sized *z = &s->sized[b->now];
    Plan **p = &b->plan[b->now];
    if (!*p) {
        *p = plan_new(z->graph, z->wanted, z->wanted_count);
        for (int i = 0; i < INPUTS; i++)
            if (z->input[i] != NO_NODE)
                plan_leaf(*p, z->input[i], s->text ? b->input[i] : batch_run_pixels(s, worker, 0));
    }
    read_front(s, b);
    if (!plan_step(*p, deadline_ns))
        return false;
    keep(s, b);
    return true;
}

/* Wanted node `which` of one input; what depends on no input is the same for all. */
static const float *of_input(const BatchRun *s, int worker, int which, int input)
{
    const Worker *b = &s->workers[worker];
    const Graph *g = s->sized[b->now].graph;
    NodeId n = s->sized[b->now].wanted[which];
    Dims d = graph_node(g, n)->dims;
    bool several = d.n && strcmp(g->axes[d.axis[0]].sym, "b") == 0;
    size_t cells = several ? graph_cells(g, n) / (size_t)s->inputs : 0;
    return plan_values(b->plan[b->now], n) + (size_t)input * cells;
}

const float *batch_run_logits(const BatchRun *s, int worker, int input)
{
    return of_input(s, worker, 0, input);
}

bool batch_run_has_other(const BatchRun *s)
{
    return s->other;
}

const float *batch_run_other(const BatchRun *s, int worker, int input)
{
    REQUIRE(s->other);
    return of_input(s, worker, 1 + s->watch_count, input);
}

const float *batch_run_watched(const BatchRun *s, int worker, int which, int input)
{
    REQUIRE(which >= 0 && which < s->watch_count);
    return of_input(s, worker, 1 + which, input);
}

int batch_run_largest(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best] || (isnan(x[best]) && !isnan(x[i])))
            best = i;
    return best;
}

/* --- sentences one by one --- */

const float *sentence_watched(const SentenceRead *r, int which)
{
    return batch_run_watched(r->run, r->worker, which, r->at);
}

int sentence_first_word(const SentenceRead *r, int t)
{
    int words = r->run->model->text.target_words;
    return batch_run_largest(batch_run_logits(r->run, r->worker, r->at) + (size_t)t * (size_t)words, words);
}

typedef struct Reading {
    BatchRun *run;
    const ParallelSentence *s;
    size_t n;
    SentenceVisit visit;
    void *context;
} Reading;

static void read_batch(void *reading, size_t item, int worker)
{
    const Reading *r = reading;
    size_t inputs = (size_t)r->run->inputs, first = item * inputs, n = r->n - first < inputs ? r->n - first : inputs;
    int length = batch_run_sentences(r->run, worker, r->s + first, (int)n);
    batch_run_number(r->run, worker, item);
    batch_run_compute(r->run, worker);
    for (size_t i = 0; i < n; i++) {
        const SentenceRead read = {r->run, worker, (int)i, length, &r->s[first + i]};
        r->visit(r->context, first + i, &read);
    }
}

size_t batch_run_read(BatchRun *run, Pool *pool, const ParallelSentence *s, size_t done, size_t n, SentenceVisit visit,
                      void *context, int64_t deadline_ns)
{
    Reading r = {run, s, n, visit, context};
    size_t inputs = (size_t)run->inputs, items = (n + inputs - 1) / inputs,
           end = pool_run(pool, done / inputs, items, read_batch, &r, deadline_ns);
    return end == items ? n : end * inputs;
}
