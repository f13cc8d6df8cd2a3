#include "core/eval/text_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/eval/ablation.h"
#include "core/graph/plan.h"

enum { LENGTHS = TEXT_LENGTH_MAX / TEXT_LENGTH_STEP + 1, WATCH_MAX = 64, SLICE = 32 /* batches between two reports */ };

/* The graph of one length. */
typedef struct Sized {
    Graph base, edited;
    const Graph *graph; /* NULL: not built yet */
    NodeId source, target, padding, logits, *watch;
    float *zeros;
} Sized;

typedef struct Desk { /* of a thread */
    Plan *plan[LENGTHS];
    TextBatch batch;
} Desk;

struct TextReader {
    const Model *model;
    Pool *pool;
    TextHead off;
    char **watch;
    int watch_count;
    Sized sized[LENGTHS];
    Desk *desk;
    int desks;
    /* of the run in progress */
    const Sentence *s;
    size_t n, first; /* first: the number that visit is given of s[0] */
    TextVisit visit;
    void *context;
};

static bool switch_off(Sized *z, const TextHead *off, Err *err)
{
    char path[96];
    snprintf(path, sizeof path, "%s.z", off->scope);
    NodeId n = graph_find(&z->base, path);
    if (n == NO_NODE)
        return err_set(err, "there is no attention '%s'", off->scope);
    Edit e = {.kind = EDIT_ZERO, .path = path, .axis = AXIS_NONE, .origin = "head"};
    e.cells.n = 1;
    e.cells.range[0].axis = graph_node(&z->base, n)->dims.axis[2]; /* z[b,t,h,e] */
    e.cells.range[0].from = off->head;
    e.cells.range[0].to = off->head + 1;
    z->graph = &z->edited;
    return graph_edit(&z->edited, &z->base, &e, 1, err);
}

static bool scale(Sized *z, float factor, Err *err)
{
    Arena arena = {0};
    Edits edits;
    if (!ablation_edits(&arena, &z->base, (Ablation){.kind = ABLATION_SCALE, .factor = factor}, &edits))
        UNREACHABLE("a factor that no attention takes");
    z->graph = &z->edited;
    bool ok = graph_edit(&z->edited, &z->base, edits.edit, edits.count, err);
    arena_free(&arena);
    return ok;
}

static bool build(TextReader *r, int length, Err *err)
{
    Sized *z = &r->sized[length / TEXT_LENGTH_STEP];
    const Model *m = r->model;
    Seq2seqBatch size = {TEXT_MICRO, length, length, NULL};
    Seq2seqNodes nodes;
    z->zeros = xcalloc(seq2seq_batch_zeros(&m->text, size), sizeof *z->zeros);
    size.zeros = z->zeros;
    graph_init(&z->base);
    seq2seq_build_batch(&z->base, &m->text, &m->weights, size, &nodes);
    z->graph = &z->base;
    if (r->off.scope ? !switch_off(z, &r->off, err) : r->off.factor != 0 && !scale(z, r->off.factor, err))
        return false;
    z->source = graph_find(z->graph, graph_node(&z->base, nodes.source)->path);
    z->target = graph_find(z->graph, graph_node(&z->base, nodes.target)->path);
    z->padding = graph_find(z->graph, graph_node(&z->base, nodes.padding)->path);
    z->logits = graph_find(z->graph, graph_node(&z->base, nodes.logits)->path);
    z->watch = xcalloc((size_t)r->watch_count + 1, sizeof *z->watch);
    for (int i = 0; i < r->watch_count; i++) {
        z->watch[i] = graph_find(z->graph, r->watch[i]);
        if (z->watch[i] == NO_NODE)
            return err_set(err, "there is no node '%s' in this model", r->watch[i]);
    }
    return true;
}

TextReader *text_reader_new(const Model *m, const TextHead *off, const char *const *watch, int count, Pool *pool,
                            Err *err)
{
    REQUIRE(count <= WATCH_MAX && m->text.form == SEQ2SEQ_BOTH);
    TextReader *r = xcalloc(1, sizeof *r);
    r->model = m;
    r->pool = pool;
    if (off)
        r->off = (TextHead){off->scope ? xstrdup(off->scope) : NULL, off->head, off->factor};
    r->watch = xcalloc((size_t)count + 1, sizeof *r->watch);
    for (int i = 0; i < count; i++)
        r->watch[r->watch_count++] = xstrdup(watch[i]);
    r->desks = pool_threads(pool);
    r->desk = xcalloc((size_t)r->desks, sizeof *r->desk);
    for (int i = 0; i < r->desks; i++)
        r->desk[i].batch = text_batch_new(&m->text);
    if (!build(r, TEXT_LENGTH_MAX, err)) { /* paths are the same at every length */
        text_reader_free(r);
        return NULL;
    }
    return r;
}

void text_reader_free(TextReader *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->desks; i++) {
        for (int l = 0; l < LENGTHS; l++)
            plan_free(r->desk[i].plan[l]);
        text_batch_free(&r->desk[i].batch);
    }
    for (int l = 0; l < LENGTHS; l++) {
        graph_free(&r->sized[l].edited);
        graph_free(&r->sized[l].base);
        free(r->sized[l].watch);
        free(r->sized[l].zeros);
    }
    for (int i = 0; i < r->watch_count; i++)
        free(r->watch[i]);
    free(r->watch);
    free(r->desk);
    free((char *)r->off.scope);
    free(r);
}

static int batch_length(const TextReader *r, size_t batch)
{
    int longest = 0;
    for (size_t i = batch * TEXT_MICRO; i < r->n && i < (batch + 1) * TEXT_MICRO; i++) {
        int length = text_batch_length(&r->s[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

static Plan *plan_of(TextReader *r, Desk *d, const Sized *z, int length)
{
    Plan **p = &d->plan[length / TEXT_LENGTH_STEP];
    if (*p)
        return *p;
    NodeId wanted[WATCH_MAX + 1];
    for (int i = 0; i < r->watch_count; i++)
        wanted[i] = z->watch[i];
    wanted[r->watch_count] = z->logits;
    *p = plan_new(z->graph, wanted, r->watch_count + 1);
    plan_leaf(*p, z->source, d->batch.source);
    plan_leaf(*p, z->target, d->batch.target);
    plan_leaf(*p, z->padding, d->batch.padding);
    return *p;
}

static void read_batch(void *reader, size_t batch, int worker)
{
    TextReader *r = reader;
    Desk *d = &r->desk[worker];
    int length = batch_length(r, batch), n = 0;
    const Sized *z = &r->sized[length / TEXT_LENGTH_STEP];
    const Sentence *list[TEXT_MICRO];
    const float *watched[WATCH_MAX];
    for (size_t i = batch * TEXT_MICRO; i < r->n && n < TEXT_MICRO; i++)
        list[n++] = &r->s[i];
    Plan *p = plan_of(r, d, z, length);
    text_batch_fill(&d->batch, &r->model->text, list, n, length, 0, 0);
    plan_compute(p);
    for (int i = 0; i < n; i++) {
        TextValues v = {.watched = watched, .length = length};
        size_t rows = graph_cells(z->graph, z->logits) / TEXT_MICRO;
        v.logits = plan_values(p, z->logits) + (size_t)i * rows;
        for (int k = 0; k < r->watch_count; k++)
            watched[k] = plan_values(p, z->watch[k]) + (size_t)i * (graph_cells(z->graph, z->watch[k]) / TEXT_MICRO);
        r->visit(r->context, r->first + batch * TEXT_MICRO + (size_t)i, list[i], &v);
    }
}

bool text_reader_run(TextReader *r, const Sentence *s, size_t n, TextVisit visit, void *context,
                     bool (*progress)(void *context, const char *what, double share), void *progress_context)
{
    size_t batches = (n + TEXT_MICRO - 1) / TEXT_MICRO;
    r->s = s;
    r->n = n;
    r->visit = visit;
    r->context = context;
    for (size_t b = 0; b < batches; b++) {
        Err err;
        int length = batch_length(r, b);
        if (!r->sized[length / TEXT_LENGTH_STEP].graph && !build(r, length, &err))
            UNREACHABLE("a path that another length has");
    }
    for (size_t b = 0; b < batches; b += SLICE) {
        pool_run(r->pool, b, b + SLICE < batches ? b + SLICE : batches, read_batch, r, CLOCK_NEVER);
        if (progress && !progress(progress_context, "translating", (double)b / (double)batches))
            return false;
    }
    return true;
}

size_t text_reader_go_on(TextReader *r, const Sentence *s, size_t done, size_t n, TextVisit visit, void *context,
                         int64_t deadline_ns)
{
    size_t some = (size_t)pool_threads(r->pool) * TEXT_MICRO;
    while (done < n) {
        size_t count = n - done < some ? n - done : some;
        r->first = done;
        text_reader_run(r, s + done, count, visit, context, NULL, NULL);
        done += count;
        if (clock_ns() >= deadline_ns)
            break;
    }
    r->first = 0;
    return done;
}

int text_first_word(const TextReader *r, const TextValues *v, int t)
{
    int words = r->model->text.target_words, best = 0;
    const float *row = v->logits + (size_t)t * (size_t)words;
    for (int i = 1; i < words; i++)
        if (row[i] > row[best])
            best = i;
    return best;
}
