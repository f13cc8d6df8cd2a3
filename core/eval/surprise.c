#include "core/eval/surprise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/run.h"
#include "core/models/family.h"
#include "core/models/text_model.h"

struct Surprise {
    const Model *model;
    const Dataset *dataset;
    Pool *pool;
    Ablation *without;
    int count;
    size_t windows, done; /* done: whole windows */
    double *nats;         /* [windows, 1 + count] a token, as trained first */
    double *more;         /* the same, less as trained */
    /* The window that is read: what is taken away shares all that comes before it with the run as trained. */
    bool begun;
    int at; /* −1: as trained */
    Graph graph, edited;
    NodeId asked, asked_edited; /* the surprises of its tokens but the first; NO_NODE: there is no such part */
    Run *run, *run_edited;
};

static size_t columns(const Surprise *e)
{
    return (size_t)e->count + 1;
}

Surprise *surprise_new(const Model *model, const Dataset *dataset, const Ablation *without, int count, Pool *pool)
{
    Surprise *e = xcalloc(1, sizeof *e);
    *e = (Surprise){.model = model, .dataset = dataset, .pool = pool, .count = count, .at = -1};
    e->windows = dataset_count(dataset);
    e->without = xcalloc((size_t)count + 1, sizeof *e->without);
    memcpy(e->without, without, (size_t)count * sizeof *without);
    e->nats = xcalloc(size_mul(e->windows + 1, columns(e)), sizeof *e->nats);
    e->more = xcalloc(size_mul(e->windows + 1, columns(e)), sizeof *e->more);
    return e;
}

static void end_edited(Surprise *e)
{
    run_free(e->run_edited);
    graph_free(&e->edited);
    e->run_edited = NULL;
    e->edited = (Graph){0};
}

static void end(Surprise *e)
{
    end_edited(e);
    run_free(e->run);
    graph_free(&e->graph);
    e->run = NULL;
    e->graph = (Graph){0};
    e->begun = false;
    e->at = -1;
}

void surprise_free(Surprise *e)
{
    if (!e)
        return;
    end(e);
    free(e->without);
    free(e->nats);
    free(e->more);
    free(e);
}

static void begin(Surprise *e)
{
    int n, first;
    const int *word = dataset_window(e->dataset, e->done, &n, &first);
    const ModelInput in = {.kind = INPUT_TEXT, .text[TEXT_TARGET] = {.word = word, .count = n}};
    graph_init(&e->graph);
    e->model->family->build(e->model, &e->graph, &in);
    e->asked = site_node_any(&e->graph, SITE_SURPRISE);
    e->run = run_new(&e->graph, NULL, e->pool);
    e->begun = true;
}

static void begin_edited(Surprise *e)
{
    Arena arena = {0};
    Edits edits;
    Graph plain = e->graph; /* what the numbers are made from */
    Err err;
    plain.count = e->asked + 1;
    e->asked_edited = NO_NODE;
    if (ablation_edits(&arena, &e->graph, e->without[e->at], &edits) &&
        graph_edit(&e->edited, &plain, edits.edit, edits.count, &err)) {
        e->asked_edited = graph_find(&e->edited, graph_node(&e->graph, e->asked)->path);
        e->run_edited = run_new(&e->edited, e->run, e->pool);
    }
    arena_free(&arena);
}

/* The window's mean of the tokens that are asked for. */
static void keep(Surprise *e, const float *nats)
{
    int n, first;
    double sum = 0, *row = e->nats + e->done * columns(e), *more = e->more + e->done * columns(e);
    dataset_window(e->dataset, e->done, &n, &first);
    for (int i = first; nats && i < n; i++)
        sum += (double)nats[i - 1];
    const double mean = nats && isfinite(sum) ? sum / (n - first) : (double)NAN;
    row[e->at + 1] = mean;
    more[e->at + 1] = mean - row[0];
}

/* One pass more; false: the deadline came first. */
static bool pass(Surprise *e, int64_t deadline_ns)
{
    if (!e->begun)
        begin(e);
    if (e->at < 0) {
        if (e->asked != NO_NODE && !run_step(e->run, e->asked, deadline_ns))
            return false;
        keep(e, e->asked == NO_NODE ? NULL : run_peek(e->run, e->asked));
    } else {
        if (!e->run_edited && e->asked != NO_NODE)
            begin_edited(e);
        const bool there = e->run_edited != NULL;
        if (there && !run_step(e->run_edited, e->asked_edited, deadline_ns))
            return false;
        keep(e, there ? run_peek(e->run_edited, e->asked_edited) : NULL);
        end_edited(e);
    }
    if (++e->at == e->count) {
        end(e);
        e->done++;
    }
    return true;
}

bool surprise_step(Surprise *e, int64_t deadline_ns)
{
    while (e->done < e->windows)
        if (!pass(e, deadline_ns) || clock_ns() >= deadline_ns)
            break;
    return e->done == e->windows;
}

size_t surprise_done(const Surprise *e)
{
    return e->done * columns(e) + (size_t)(e->at + 1);
}

size_t surprise_total(const Surprise *e)
{
    return e->windows * columns(e);
}

size_t surprise_windows(const Surprise *e)
{
    return e->done;
}

size_t surprise_tokens(const Surprise *e)
{
    int n, first;
    dataset_window(e->dataset, 0, &n, &first);
    return e->done * (size_t)(n - first);
}

double surprise_bytes(const Surprise *e)
{
    double bytes = 0;
    for (size_t i = 0; i < e->done; i++) {
        int n, first;
        const int *word = dataset_window(e->dataset, i, &n, &first);
        bytes += (double)words_bytes(&e->model->target, word, n, first);
    }
    return e->done ? bytes / (double)surprise_tokens(e) : 0;
}

static MeanOver over(const Surprise *e, const double *x, int column)
{
    return e->done ? mean_over(x + column, e->done, columns(e)) : (MeanOver){(double)NAN, (double)NAN};
}

MeanOver surprise_trained(const Surprise *e)
{
    return over(e, e->nats, 0);
}

MeanOver surprise_without(const Surprise *e, int i)
{
    return over(e, e->nats, i + 1);
}

MeanOver surprise_difference(const Surprise *e, int i)
{
    return over(e, e->more, i + 1);
}

int surprise_parts(const Model *model, int *blocks, int *heads, Ablation *out)
{
    const Seq2seqConfig *c = &model->text;
    int n = 0;
    *blocks = c->decoder_layers;
    *heads = c->heads;
    if (out)
        out[n] = (Ablation){.kind = ABLATION_SCALE};
    n++;
    for (int layer = 0; layer < c->decoder_layers; layer++)
        for (int k = 0; k < c->heads + 2; k++, n++)
            if (out)
                out[n] = (Ablation){.kind = k == 0   ? ABLATION_ATTENTION
                                            : k == 1 ? ABLATION_MLP
                                                     : ABLATION_HEAD,
                                    .layer = layer,
                                    .head = k < 2 ? 0 : k - 2};
    return n;
}
