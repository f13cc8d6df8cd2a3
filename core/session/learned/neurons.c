#include "core/session/learned/neurons.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/scenes.h"
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/eval/batch_run.h"
#include "core/graph/anatomy.h"
#include "core/models/lexicon.h"
#include "core/session/learned/measures_parts.h"

/* --- over many inputs --- */

enum { NEURONS_BYTES = 256 << 20 }; /* kept at most: where units are many, inputs are fewer */

/* Units of one MLP: from `first` on among all. */
typedef struct NeuronMlp {
    int units;
    size_t first;
    bool target; /* reads the target's words */
} NeuronMlp;

/* What excites the hidden units of a model's MLPs: of every unit, over many inputs (pictures of the dataset, or
 * sentences, or windows of texts), its largest activation in each and at which token. What was seen so far may be
 * asked for at any time. */
typedef struct Neurons {
    BatchRun *batch;
    Dataset *dataset;
    Pool *pool;
    NeuronMlp *mlp;
    int mlps, tokens; /* tokens: of a picture */
    bool words, windows;
    size_t units, done, total;
    /* of windows, the one that is read */
    const Model *model;
    Graph graph;
    Run *run; /* NULL: not begun */
    int at, part;
    float *value;    /* [total, units] */
    uint16_t *token; /* [total, units] */
} Neurons;

/* The hidden numbers of an MLP, or of its experts. */
static NodeId post_of(const Graph *g, int part)
{
    NodeId post = site_node(g, part, SITE_MLP_POST);
    return post != NO_NODE ? post : site_node(g, part, SITE_EXPERTS_POST);
}

bool neuron_axes(const Graph *g, NodeId post, NeuronAxes *out)
{
    const Dims d = post == NO_NODE ? DIMS_SCALAR : graph_node(g, post)->dims;
    if (d.n < 2 || d.n > 3 || dims_role(g, d, ROLE_HIDDEN) != d.axis[d.n - 1] ||
        (d.n == 3 && dims_role(g, d, ROLE_EXPERT) != d.axis[1]))
        return false;
    *out = (NeuronAxes){d.axis[0], d.n == 3 ? d.axis[1] : AXIS_NONE, d.axis[d.n - 1], g->axes[d.axis[d.n - 1]].n};
    out->count *= d.n == 3 ? g->axes[d.axis[1]].n : 1;
    return true;
}

int neuron_at(const Graph *g, const NeuronAxes *a, const int *at)
{
    const int units = g->axes[a->units].n, unit = at[a->units] < units ? at[a->units] : units - 1;
    return a->experts == AXIS_NONE ? unit : at[a->experts] % g->axes[a->experts].n * units + unit;
}

void neuron_put(const Graph *g, const NeuronAxes *a, int unit, int *at)
{
    at[a->units] = unit % g->axes[a->units].n;
    if (a->experts != AXIS_NONE)
        at[a->experts] = unit / g->axes[a->units].n;
}

static void lay_out(Neurons *n, const Graph *g, const char **watch)
{
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_MLP)) != NO_PART;) {
        NodeId post = post_of(g, part);
        NeuronAxes a;
        if (!neuron_axes(g, post, &a))
            continue;
        watch[n->mlps] = graph_node(g, post)->path;
        n->mlp[n->mlps++] = (NeuronMlp){.units = a.count,
                                        .first = n->units,
                                        .target = strcmp(anatomy_part(g, part)->stack, "decoder") == 0};
        n->units += (size_t)a.count;
        n->tokens = (int)(graph_cells(g, post) / (size_t)a.count);
    }
}

/* Inputs of which so many units' numbers are kept. */
static size_t room_for(size_t units)
{
    return NEURONS_BYTES / (sizeof(float) + sizeof(uint16_t)) / units;
}

/* Windows are read one by one, each by a graph of its own. */
static void end_window(Neurons *n)
{
    run_free(n->run);
    graph_free(&n->graph);
    n->run = NULL;
    n->graph = (Graph){0};
}

static void neurons_free(Neurons *n)
{
    if (!n)
        return;
    batch_run_free(n->batch);
    end_window(n);
    free(n->mlp);
    free(n->value);
    free(n->token);
    free(n);
}

/* graph: the model's for one input, with probes. model, dataset and pool must outlive it. NULL with err where the model
 * has no MLP. */
static Neurons *neurons_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err)
{
    Neurons *n = xcalloc(1, sizeof *n);
    const char **watch = xcalloc((size_t)anatomy_count(graph) + 1, sizeof *watch);
    n->mlp = xcalloc((size_t)anatomy_count(graph) + 1, sizeof *n->mlp);
    n->dataset = dataset;
    n->pool = pool;
    int tokens, first;
    n->words = dataset_sentence(dataset, 0) != NULL;
    n->windows = dataset_window(dataset, 0, &tokens, &first) != NULL;
    n->model = model;
    lay_out(n, graph, watch);
    const BatchRunSetup setup = {.model = model,
                                 .graph = graph,
                                 .single = !n->words,
                                 .watch = watch,
                                 .watch_count = n->mlps,
                                 .threads = pool_threads(pool)};
    if (n->mlps && !n->windows)
        n->batch = batch_run_new(&setup, err);
    else if (!n->mlps)
        err_set(err, "this model has no MLP");
    free(watch);
    if (!n->batch && !(n->mlps && n->windows)) {
        neurons_free(n);
        return NULL;
    }
    const size_t room = room_for(n->units);
    n->total = dataset_count(dataset) < room ? dataset_count(dataset) : room;
    n->value = xcalloc(size_mul(n->total + 1, n->units), sizeof *n->value);
    n->token = xcalloc(size_mul(n->total + 1, n->units), sizeof *n->token);
    return n;
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

/* What the model puts in front of a text is no token of it. False: the deadline came first. */
static bool read_window(Neurons *n, int64_t deadline_ns)
{
    int tokens, first;
    NeuronAxes a;
    const int *word = dataset_window(n->dataset, n->done, &tokens, &first), front = dataset_front(n->dataset);
    if (!n->run) {
        const ModelInput in = {.kind = INPUT_TEXT, .text[TEXT_TARGET] = {.word = word, .count = tokens}};
        graph_init(&n->graph);
        n->model->family->build(n->model, &n->graph, &in);
        n->run = run_new(&n->graph, NULL, n->pool);
        n->at = 0;
        n->part = anatomy_next(&n->graph, NO_PART, PART_MLP);
    }
    for (; n->part != NO_PART; n->part = anatomy_next(&n->graph, n->part, PART_MLP)) {
        const NodeId post = post_of(&n->graph, n->part);
        if (!neuron_axes(&n->graph, post, &a))
            continue;
        if (!run_step(n->run, post, deadline_ns))
            return false;
        const NeuronMlp *m = &n->mlp[n->at++];
        keep(n, n->done, m, run_peek(n->run, post) + (size_t)front * (size_t)m->units, tokens - front);
    }
    end_window(n);
    n->done++;
    return true;
}

/* True when all are seen. */
static bool neurons_step(Neurons *n, int64_t deadline_ns)
{
    while (n->windows && n->done < n->total)
        if (!read_window(n, deadline_ns) || clock_ns() >= deadline_ns)
            break;
    if (n->windows)
        return n->done == n->total;
    if (n->done < n->total)
        n->done = n->words ? batch_run_read(n->batch, n->pool, dataset_sentence(n->dataset, 0), n->done, n->total, see,
                                            n, deadline_ns)
                           : pool_run(n->pool, n->done, n->total, look, n, deadline_ns);
    return n->done == n->total;
}

static int neurons_units(const Neurons *n, int mlp)
{
    return mlp >= 0 && mlp < n->mlps ? n->mlp[mlp].units : 0;
}

/* The inputs that excite it most, the most first, of equals the first; at most `most`. Returns how many. */
static int neurons_top(const Neurons *n, int mlp, int unit, NeuronHit *out, int most)
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

/* How many of the inputs excite it less than that. */
static size_t neurons_below(const Neurons *n, int mlp, int unit, float value)
{
    size_t below = 0;
    for (size_t i = 0; unit >= 0 && unit < neurons_units(n, mlp) && i < n->done; i++)
        below += n->value[i * n->units + n->mlp[mlp].first + (size_t)unit] < value;
    return below;
}

/* --- the unit in focus --- */

struct NeuronWork {
    Neurons *neurons;
    Dataset *dataset;
    NeuronShown shown;
    size_t shown_at;    /* inputs that the hits are of */
    char of[NEURON_OF]; /* of a folder or file that somebody named: "pictures of birds"; else "" */
    char problem[sizeof(((Err *)0)->text)];
};

bool neuron_here(const Session *s, int *part, int *unit)
{
    const Graph *g = session_base(s);
    int block = anatomy_block_of(g, s->place.path), p = anatomy_of(g, s->place.path);
    if (p == NO_PART || anatomy_part(g, p)->kind != PART_MLP)
        p = block == NO_PART ? NO_PART : anatomy_next_in(g, NO_PART, PART_MLP, block);
    if (p == NO_PART)
        p = anatomy_next(g, NO_PART, PART_MLP);
    NeuronAxes a;
    if (!neuron_axes(g, p == NO_PART ? NO_NODE : post_of(g, p), &a))
        return false;
    *part = p;
    *unit = neuron_at(g, &a, s->place.at);
    return true;
}

/* On another side the MLP of the block with the same number, where there is one. */
const char *neuron_path(const Session *s, Side side, Site site)
{
    const Graph *base = session_base(s), *g = session_graph(s, side == SIDE_DIFF ? SIDE_B : side);
    int part, unit;
    if (!neuron_here(s, &part, &unit))
        return NULL;
    const Part *mlp = anatomy_part(base, part);
    int block = anatomy_block(g, *mlp->stack ? mlp->stack : NULL, mlp->block);
    int there = block == NO_PART ? NO_PART : anatomy_next_in(g, NO_PART, PART_MLP, block);
    if (there != NO_PART && site == SITE_MLP_POST && !site_path(g, there, site))
        site = SITE_EXPERTS_POST;
    return there == NO_PART ? NULL : site_path(g, there, site);
}

/* Number of an MLP among those that have hidden units, as lay_out counts them. */
static int number_of(const Graph *g, int part)
{
    int number = 0;
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_MLP)) != NO_PART && p != part;)
        number += post_of(g, p) != NO_NODE;
    return number;
}

static const char *impossible(const Session *s)
{
    const struct NeuronWork *w = s->measures ? s->measures->neurons : NULL;
    int part, unit;
    if (!neuron_here(s, &part, &unit))
        return "this model has no MLP";
    if (w && *w->of)
        return NULL;
    if (model_way(s->now->model) == MODEL_WRITES)
        return measures_windows_why(s);
    if (model_way(s->now->model))
        return dataset_unsuited_sentences(s->now->model);
    if (!model_grid(s->now->model).rows)
        return "this is for picture models";
    return session_photos(s) || dataset_suits_drawn(&s->model, NULL)
               ? NULL
               : "no pictures are known for this model: `neuron measure FOLDER`";
}

static void forget(NeuronShown *n)
{
    for (int i = 0; i < NEURON_HITS; i++)
        free(n->picture[i]);
    *n = (NeuronShown){.mlp = -1};
}

void neurons_drop(struct NeuronWork *w)
{
    if (!w)
        return;
    forget(&w->shown);
    neurons_free(w->neurons);
    dataset_free(w->dataset);
    free(w);
}

/* The scenes that the program renders: of photographs there is none in it. */
static Dataset *scenes(const Model *m)
{
    enum { MOST = 64 };
    const size_t plane = (size_t)SCENE_SIDE * SCENE_SIDE;
    uint8_t picture[3 * SCENE_SIDE * SCENE_SIDE], *bytes = xmalloc(MOST * sizeof picture);
    int label[MOST], count = 0;
    REQUIRE(m->preprocess.width == SCENE_SIDE && m->preprocess.height == SCENE_SIDE && m->preprocess.channels == 3);
    for (int i = 0; scene_name(i) && i < MOST; i++)
        for (int o = 0; o < model_grid(m).classes; o++) {
            if (strcmp(m->class_names[o], scene_name(i)) != 0)
                continue;
            scene_render(i, picture);
            for (size_t k = 0; k < sizeof picture; k++)
                bytes[(size_t)count * sizeof picture + k % 3 * plane + k / 3] = picture[k];
            label[count++] = o;
        }
    return dataset_of_bytes(m, bytes, label, (size_t)count);
}

static struct NeuronWork *begin(Session *s)
{
    struct Measures *t = measures_of(s);
    Err err = {{0}};
    size_t count = (size_t)s->look.pictures;
    if (t->neurons)
        return t->neurons;
    struct NeuronWork *w = t->neurons = xcalloc(1, sizeof *w);
    w->shown.mlp = -1;
    w->dataset = session_photos(s)                          ? scenes(s->now->model)
                 : model_way(s->now->model) == MODEL_WRITES ? measures_windows(s, NEURON_WINDOWS, &err)
                                                            : measures_dataset(s, 0, count);
    if (w->dataset)
        w->neurons = neurons_new(s->now->model, session_base(s), w->dataset, s->pool, &err);
    if (!w->neurons)
        snprintf(w->problem, sizeof w->problem, "%s", err.text);
    return w;
}

/* --- over what somebody named --- */

/* How many hidden units the model on show has. */
static size_t units_of(const Graph *g)
{
    size_t units = 0;
    NeuronAxes a;
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_MLP)) != NO_PART;)
        units += neuron_axes(g, post_of(g, part), &a) ? (size_t)a.count : 0;
    return units;
}

static bool reading(void *context, size_t done, size_t total)
{
    const Session *s = context;
    return !s->progress || s->progress(s->progress_context, "reading the pictures", (double)done / (double)total);
}

/* The last part of a path. */
static const char *name_of(const char *path, char *out, size_t n)
{
    enum { NAME_CELLS = 24 };
    char clean[300];
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start && path[start - 1] != '/')
        start--;
    utf8_print(clean, sizeof clean, "%.*s", (int)(end - start), path + start);
    return utf8_fit(out, n, utf8_clean(clean, sizeof clean, clean), NAME_CELLS);
}

bool session_measure_neurons_of(Session *s, const char *path, Err *err)
{
    const Model *m = s->now->model;
    const bool texts = model_way(m) == MODEL_WRITES;
    const size_t units = units_of(session_base(s));
    char name[120];
    struct NeuronWork *w = xcalloc(1, sizeof *w);
    w->shown.mlp = -1;
    REQUIRE(units);
    w->dataset = texts ? dataset_texts(m, path, NEURON_WINDOWS, err)
                       : dataset_folder(m, path, room_for(units), reading, s, err);
    if (w->dataset)
        w->neurons = neurons_new(m, session_base(s), w->dataset, s->pool, err);
    if (!w->neurons) {
        neurons_drop(w);
        return false;
    }
    name_of(path, name, sizeof name);
    const size_t taken = dataset_count(w->dataset), lie = dataset_lying(w->dataset);
    if (lie > taken)
        utf8_print(w->of, sizeof w->of, "pictures (first of %zu) of %s", lie, name);
    else
        utf8_print(w->of, sizeof w->of, "%s%s of %s", texts ? "window" : "picture", taken == 1 ? "" : "s", name);
    neurons_drop(measures_of(s)->neurons);
    s->measures->neurons = w;
    s->changes++;
    return session_measure_neurons(s, err);
}

static void take_picture(const Session *s, struct NeuronWork *w, int k)
{
    NeuronShown *n = &w->shown;
    const Preprocess *p = &s->model.preprocess;
    size_t plane = size_mul((size_t)p->height, (size_t)p->width);
    float *pixels = xmalloc(size_mul(size_mul(plane, (size_t)p->channels), sizeof *pixels));
    n->height = p->height;
    n->width = p->width;
    n->label[k] = dataset_get(w->dataset, n->hit[k].item, pixels, NULL);
    n->file[k] = dataset_path(w->dataset, n->hit[k].item);
    n->picture[k] = xmalloc(size_mul(plane, 3));
    for (size_t i = 0; i < plane; i++)
        for (size_t c = 0; c < 3; c++)
            n->picture[k][3 * i + c] = (uint8_t)(pixels[(p->channels == 3 ? c : 0) * plane + i] + 0.5f);
    free(pixels);
}

static void take_window(const Session *s, struct NeuronWork *w, int k)
{
    NeuronShown *n = &w->shown;
    int tokens, first;
    const int *word = dataset_window(w->dataset, n->hit[k].item, &tokens, &first), front = dataset_front(w->dataset);
    n->vocabulary = &s->now->model->target;
    n->window_tokens = tokens - front;
    memcpy(n->window[k], word + front, (size_t)n->window_tokens * sizeof *word);
}

/* The hits of the unit in focus, of all that was seen so far. */
static void take(Session *s, struct NeuronWork *w, int part, int unit)
{
    const Graph *g = session_base(s);
    NeuronShown *n = &w->shown;
    int mlp = number_of(g, part);
    if (n->mlp == mlp && n->unit == unit && w->shown_at == w->neurons->done)
        return;
    forget(n);
    n->mlp = mlp;
    n->unit = unit;
    n->target = strcmp(anatomy_part(g, part)->stack, "decoder") == 0;
    n->words = dataset_sentence(w->dataset, 0) != NULL;
    n->total = w->neurons->total;
    n->done = w->shown_at = w->neurons->done;
    const bool windows = w->neurons->windows;
    n->count = neurons_top(w->neurons, mlp, unit, n->hit, n->words || windows ? NEURON_HITS : NEURON_PICTURES);
    while (n->count && !(n->hit[n->count - 1].value > 0)) /* that does not excite it */
        n->count--;
    for (int k = 0; k < n->count; k++)
        if (n->words)
            n->sentence[k] = *dataset_sentence(w->dataset, n->hit[k].item);
        else if (windows)
            take_window(s, w, k);
        else
            take_picture(s, w, k);
    s->changes++;
}

bool measures_step_neurons(Session *s, int64_t deadline_ns)
{
    int part, unit;
    if (impossible(s) || !neuron_here(s, &part, &unit))
        return true;
    struct NeuronWork *w = begin(s);
    if (!w->neurons)
        return true;
    bool done = neurons_step(w->neurons, deadline_ns);
    take(s, w, part, unit);
    return done;
}

const NeuronShown *session_neuron(const Session *s, const char **why)
{
    const struct NeuronWork *w = s->measures ? s->measures->neurons : NULL;
    const char *reason = impossible(s);
    int part, unit;
    if (!reason && w && *w->problem)
        reason = w->problem;
    if (why)
        *why = reason;
    bool there = !reason && w && w->shown.done && neuron_here(s, &part, &unit) &&
                 w->shown.mlp == number_of(session_base(s), part) && w->shown.unit == unit;
    return there ? &w->shown : NULL;
}

size_t session_neuron_below(const Session *s, float value)
{
    const NeuronShown *n = session_neuron(s, NULL);
    return n ? neurons_below(s->measures->neurons->neurons, n->mlp, n->unit, value) : 0;
}

const char *neuron_over(const Session *s)
{
    const struct NeuronWork *w = s->measures ? s->measures->neurons : NULL;
    if (w && *w->of)
        return w->of;
    if (model_way(s->now->model) == MODEL_WRITES)
        return s->texts_said ? "windows of your text" : "windows of held.txt";
    return session_photos(s) ? "rendered scenes" : session_input_words(s, SIDE_B)->held_out;
}

const char *neuron_file(const NeuronShown *n, int hit)
{
    const char *slash = n->file[hit] ? strrchr(n->file[hit], '/') : NULL;
    return slash ? slash + 1 : n->file[hit];
}

void neuron_piece(const NeuronShown *n, int hit, int token, Buf *out)
{
    words_piece(n->vocabulary, token ? n->window[hit][token - 1] : -1, n->window[hit][token], out);
}

int neuron_words(const NeuronShown *n, int hit)
{
    if (n->window_tokens)
        return n->window_tokens;
    return (n->target ? n->sentence[hit].fr_n : n->sentence[hit].en_n) + 1;
}

const char *neuron_word(const NeuronShown *n, int hit, int token)
{
    const Vocabulary *v = n->target ? lexicon_french() : lexicon_english();
    const ParallelSentence *s = &n->sentence[hit];
    if (n->target) /* it begins with the start */
        return v->word[token == 0 ? v->start : s->fr[token - 1]];
    return v->word[token == s->en_n ? v->end : s->en[token]];
}

bool session_measure_neurons(Session *s, Err *err)
{
    enum { SLICE_NS = 100000000 };
    const char *why = impossible(s);
    if (why)
        return err_set(err, "%s", why);
    while (!measures_step_neurons(s, clock_ns() + SLICE_NS)) {
        const Neurons *n = s->measures->neurons->neurons;
        double share = (double)n->done / (double)n->total;
        if (s->progress && !s->progress(s->progress_context, "measuring", share))
            return err_set(err, "cancelled; of %zu %s there are figures", n->done, neuron_over(s));
    }
    session_neuron(s, &why);
    return !why || err_set(err, "%s", why);
}
