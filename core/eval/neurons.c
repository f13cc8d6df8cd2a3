#include "core/eval/neurons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"

/* Units of one MLP: from `first` on among all. */
typedef struct NeuronMlp {
    int units;
    size_t first;
    bool target; /* reads the target's words */
} NeuronMlp;

struct Neurons {
    BatchRun *batch;
    Dataset *dataset;
    Pool *pool;
    NeuronMlp *mlp;
    int mlps, tokens; /* tokens: of a picture */
    bool words;
    size_t units, done, total;
    float *value;    /* [total, units] */
    uint16_t *token; /* [total, units] */
};

static void lay_out(Neurons *n, const Graph *g, const char **watch)
{
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_MLP)) != NO_PART;) {
        NodeId post = site_node(g, part, SITE_MLP_POST);
        int axis = post == NO_NODE ? AXIS_NONE : node_role(g, post, ROLE_HIDDEN);
        if (axis == AXIS_NONE)
            continue;
        watch[n->mlps] = graph_node(g, post)->path;
        n->mlp[n->mlps++] = (NeuronMlp){.units = g->axes[axis].n,
                                        .first = n->units,
                                        .target = strcmp(anatomy_part(g, part)->stack, "decoder") == 0};
        n->units += (size_t)g->axes[axis].n;
        n->tokens = (int)(graph_cells(g, post) / (size_t)g->axes[axis].n);
    }
}

Neurons *neurons_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err)
{
    Neurons *n = xcalloc(1, sizeof *n);
    const char **watch = xcalloc((size_t)anatomy_count(graph) + 1, sizeof *watch);
    n->mlp = xcalloc((size_t)anatomy_count(graph) + 1, sizeof *n->mlp);
    n->dataset = dataset;
    n->pool = pool;
    n->words = dataset_sentence(dataset, 0) != NULL;
    lay_out(n, graph, watch);
    const BatchRunSetup setup = {.model = model,
                                 .graph = graph,
                                 .single = !n->words,
                                 .watch = watch,
                                 .watch_count = n->mlps,
                                 .threads = pool_threads(pool)};
    if (n->mlps)
        n->batch = batch_run_new(&setup, err);
    else
        err_set(err, "this model has no MLP");
    free(watch);
    if (!n->batch) {
        neurons_free(n);
        return NULL;
    }
    size_t cell = sizeof *n->value + sizeof *n->token, room = NEURONS_BYTES / cell / n->units;
    n->total = dataset_count(dataset) < room ? dataset_count(dataset) : room;
    n->value = xcalloc(size_mul(n->total + 1, n->units), sizeof *n->value);
    n->token = xcalloc(size_mul(n->total + 1, n->units), sizeof *n->token);
    return n;
}

void neurons_free(Neurons *n)
{
    if (!n)
        return;
    batch_run_free(n->batch);
    free(n->mlp);
    free(n->value);
    free(n->token);
    free(n);
}

/* x[tokens, units] of one input. Not-a-number excites nothing. */
static void keep(Neurons *n, size_t item, const NeuronMlp *m, const float *x, int tokens)
{
    float *value = n->value + item * n->units + m->first;
    uint16_t *token = n->token + item * n->units + m->first;
    for (int u = 0; u < m->units; u++)
        value[u] = -INFINITY;
    for (int t = 0; t < tokens; t++, x += m->units)
        for (int u = 0; u < m->units; u++)
            if (x[u] > value[u]) {
                value[u] = x[u];
                token[u] = (uint16_t)t;
            }
}

static void look(void *of, size_t item, int worker)
{
    Neurons *n = of;
    dataset_get(n->dataset, item, batch_run_pixels(n->batch, worker, 0), NULL);
    batch_run_compute(n->batch, worker);
    for (int i = 0; i < n->mlps; i++)
        keep(n, item, &n->mlp[i], batch_run_watched(n->batch, worker, i, 0), n->tokens);
}

static void see(void *of, size_t item, const SentenceRead *read)
{
    Neurons *n = of;
    for (int i = 0; i < n->mlps; i++) /* a text and its end, or its start */
        keep(n, item, &n->mlp[i], sentence_watched(read, i), (n->mlp[i].target ? read->s->fr_n : read->s->en_n) + 1);
}

bool neurons_step(Neurons *n, int64_t deadline_ns)
{
    if (n->done < n->total)
        n->done = n->words ? batch_run_read(n->batch, n->pool, dataset_sentence(n->dataset, 0), n->done, n->total, see,
                                            n, deadline_ns)
                           : pool_run(n->pool, n->done, n->total, look, n, deadline_ns);
    return n->done == n->total;
}

size_t neurons_done(const Neurons *n)
{
    return n->done;
}

size_t neurons_total(const Neurons *n)
{
    return n->total;
}

static int neurons_units(const Neurons *n, int mlp)
{
    return mlp >= 0 && mlp < n->mlps ? n->mlp[mlp].units : 0;
}

int neurons_top(const Neurons *n, int mlp, int unit, NeuronHit *out, int most)
{
    int count = 0;
    if (unit < 0 || unit >= neurons_units(n, mlp))
        return 0;
    for (size_t i = 0; i < n->done; i++) {
        size_t cell = i * n->units + n->mlp[mlp].first + (size_t)unit;
        NeuronHit hit = {i, n->token[cell], n->value[cell]};
        int at = count;
        while (at > 0 && out[at - 1].value < hit.value)
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(out + at + 1, out + at, (size_t)(count - at - 1) * sizeof *out);
        out[at] = hit;
    }
    return count;
}

size_t neurons_below(const Neurons *n, int mlp, int unit, float value)
{
    size_t below = 0;
    for (size_t i = 0; unit >= 0 && unit < neurons_units(n, mlp) && i < n->done; i++)
        below += n->value[i * n->units + n->mlp[mlp].first + (size_t)unit] < value;
    return below;
}
