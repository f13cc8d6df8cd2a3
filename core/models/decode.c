#include "core/models/decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/models/nn.h"

enum { WIDTH_MAX = DECODE_WIDTH_MAX };

struct Decoder {
    Decode *d;
    Decode own; /* what d is, where the caller has none */
    const Model *m;
    DecodeOptions how;
    const DecodeOptions *o; /* &how */
    Pool *pool;
    const int *given; /* the start, and behind it the beginning that is carried on */
    int given_n;
    Rng rng;
    bool (*progress)(void *context, int words); /* decode_run's, or NULL */
    void *context;
    bool interrupted; /* …stopped a step */
    /* the search */
    int alive[WIDTH_MAX], alive_n, width; /* beginnings that are carried on; how many there may be */
    int at, length;                       /* of them, read so far; words of the next ones */
    int before[WIDTH_MAX], before_n;      /* those that were read the round before: their runs are there yet */
};

/* --- a step --- */

/* needed: the nodes that were computed; NULL: all. */
static void count_cost(Decode *d, const Graph *g, const bool *needed)
{
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        Cost c = graph_cost(g, n);
        if (node->op == OP_LEAF || node->op == OP_VIEW || (needed && !needed[n]))
            continue;
        d->cost.bytes += c.bytes;
        if (node->op == OP_CONTRACT)
            d->cost.multiply_adds += c.flops / 2;
    }
}

/* A node's value; false where somebody stops it meanwhile. */
static bool compute(Decoder *x, Run *run, NodeId n, Err *err)
{
    enum { SLICE = 100000000 }; /* ns between two questions */
    while (!run_step(run, n, clock_ns() + SLICE))
        if (x->progress && !x->progress(x->context, x->length - 1)) {
            x->interrupted = true;
            return err_set(err, "interrupted after %d words", x->length - 1);
        }
    return true;
}

/* The words of the beginning that ends at a node, the start first. */
static int *words_to(Decoder *x, int node, int *count)
{
    const Decode *d = x->d;
    int n = d->node[node].length + x->given_n;
    int *word = arena_alloc(&x->d->arena, size_mul((size_t)n + 1, sizeof *word));
    memcpy(word, x->given, (size_t)x->given_n * sizeof *word);
    for (int at = node, i = n; d->node[at].parent >= 0; at = d->node[at].parent)
        word[--i] = d->node[at].word;
    *count = n;
    return word;
}

static NodeId kept_node(const Graph *g, const char *stage, int layer, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "decoder.blocks.%d.%s.%s", layer, stage, name);
    return graph_find(g, path);
}

static const float *kept(const DecodeNode *p, const char *stage, int layer, const char *name)
{
    NodeId n = kept_node(p->graph, stage, layer, name);
    return n == NO_NODE ? NULL : run_need(p->run, n);
}

static const char *key_name(const Seq2seqConfig *c)
{
    return nn_key_name(c->head_norm != HEAD_NORM_NONE, c->pos == SEQ2SEQ_POS_ROPE);
}

/* What the step before has: keys and values of all tokens but the newest, and of the source. */
static Seq2seqKept *keep(Decoder *x, const DecodeNode *before)
{
    const Seq2seqConfig *c = &x->m->text;
    const char *key = key_name(c);
    Seq2seqKept *k = arena_alloc(&x->d->arena, size_mul((size_t)c->decoder_layers, sizeof *k));
    for (int l = 0; l < c->decoder_layers; l++)
        k[l] = (Seq2seqKept){kept(before, "self_attn", l, key), kept(before, "self_attn", l, "v"),
                             kept(before, "cross_attn", l, "k"), kept(before, "cross_attn", l, "v")};
    return k;
}

static void note_cache(Decode *d, const Seq2seqConfig *c, int source, int target, int beginnings)
{
    double token = 2.0 * c->decoder_layers * seq2seq_key_heads(c) * c->head_dim * (double)sizeof(float);
    double bytes = token * (source + (double)target * beginnings);
    d->cost.cache_bytes = bytes > d->cost.cache_bytes ? bytes : d->cost.cache_bytes;
}

static void drop(DecodeNode *node)
{
    run_free(node->run);
    run_free(node->plain_run);
    if (node->graph)
        graph_free(node->graph);
    if (node->plain)
        graph_free(node->plain);
    node->run = node->plain_run = NULL;
    node->graph = node->plain = NULL;
}

/* Runs that are there at once: of the steps alive and of those before, or of all there will be; and the source's. */
static size_t runs_at_once(const Decoder *x)
{
    return (size_t)(x->o->forget ? 2 : x->o->most + 1) * (size_t)(x->o->kind == DECODE_BEAM ? x->o->width : 1) +
           seq2seq_has_encoder(&x->m->text);
}

static size_t share_of_memory(const Decoder *x)
{
    return x->o->memory ? x->o->memory / runs_at_once(x) + 1 : 0;
}

static void note_short(const Decoder *x, const Run *run)
{
    const size_t peak = run_peak_bytes(run), needed = size_mul(peak, runs_at_once(x));
    x->d->needed = x->o->memory && peak > share_of_memory(x) && needed > x->d->needed ? needed : x->d->needed;
}

/* The keys and values that the next step reads. */
static bool compute_kept(Decoder *x, const DecodeNode *node, Err *err)
{
    for (int i = 0; i < 2 * x->m->text.decoder_layers; i++)
        if (!compute(x, node->run, kept_node(node->graph, "self_attn", i / 2, i % 2 ? "v" : key_name(&x->m->text)),
                     err))
            return false;
    return true;
}

/* Where only the newest step is kept, all that is given but its last word is read before it, and nobody asks what may
 * follow those: only their keys and values are computed. `front` is to be dropped once the step has them. */
static bool read_front(Decoder *x, Seq2seqStep *step, DecodeNode *front, Err *err)
{
    const Seq2seqConfig *c = &x->m->text;
    Seq2seqStep before = *step;
    before.target.n--;
    front->graph = arena_alloc(&x->d->arena, sizeof *front->graph);
    graph_init(front->graph);
    seq2seq_build_step(front->graph, c, &x->m->weights, &before, &front->nodes);
    front->run = run_new(front->graph, NULL, x->pool);
    run_budget(front->run, share_of_memory(x));
    bool *needed = xcalloc((size_t)front->graph->count, sizeof *needed);
    for (int i = 0; i < 2 * c->decoder_layers; i++)
        needed[kept_node(front->graph, "self_attn", i / 2, i % 2 ? "v" : key_name(c))] = true;
    const bool ok = compute_kept(x, front, err);
    note_short(x, front->run);
    for (NodeId n = front->graph->count; n-- > 0;)
        for (int i = 0; needed[n] && i < NODE_INPUTS; i++)
            if (graph_node(front->graph, n)->in[i] != NO_NODE)
                needed[graph_node(front->graph, n)->in[i]] = true;
    count_cost(x->d, front->graph, needed);
    free(needed);
    step->kept = ok ? keep(x, front) : NULL;
    if (!ok)
        drop(front);
    return ok;
}

/* The graph of a step under the changes in force, and its run. */
static bool edit_step(Decoder *x, DecodeNode *node, int first, Err *err)
{
    if (!x->o->edits.count)
        return true;
    Graph *edited = arena_alloc(&x->d->arena, sizeof *edited);
    *edited = (Graph){0};
    if (!decode_edits_make(&x->o->edits, node->graph, first, edited, err))
        return false;
    node->plain = node->graph;
    node->plain_run = run_new(node->plain, NULL, x->pool);
    node->graph = edited;
    node->nodes.logits = graph_find(edited, graph_node(node->plain, node->nodes.logits)->path);
    node->nodes.probs = graph_find(edited, graph_node(node->plain, node->nodes.probs)->path);
    return true;
}

/* Reads the beginning that ends at a node. */
static bool read_node(Decoder *x, int at, int beginnings, Err *err)
{
    Decode *d = x->d;
    DecodeNode *node = &d->node[at];
    const Seq2seqConfig *c = &x->m->text;
    Words words;
    int n, *number = words_to(x, at, &n);
    if (!seq2seq_check_length(c, x->d->read.n, n, err))
        return false;
    words_set(&words, &x->m->target, number, n);
    const char **label = arena_alloc(&d->arena, size_mul((size_t)n + 1, sizeof *label));
    for (int i = 0; i < n; i++)
        label[i] = arena_strdup(&d->arena, words.label[i]);
    words_free(&words);
    Seq2seqStep step = {.source = {x->d->read.number, x->d->read.n, x->d->read.label, NULL},
                        .target = {number, n, label, NULL},
                        .memory = d->source_run ? run_need(d->source_run, d->source_nodes.memory) : NULL,
                        .target_vocabulary = x->m->target.word};
    DecodeNode front = {.graph = NULL};
    const bool reuses = x->o->cache && seq2seq_rope_lasts(c, n); /* else all keys turn anew */
    if (reuses && node->parent >= 0)
        step.kept = keep(x, &d->node[node->parent]);
    else if (reuses && x->o->forget && x->width == 1 && n > 1 && !x->o->edits.count && !seq2seq_has_encoder(c) &&
             !read_front(x, &step, &front, err))
        return false;
    node->graph = arena_alloc(&d->arena, sizeof *node->graph); /* a run knows where its graph is: it must not move */
    graph_init(node->graph);
    seq2seq_build_step(node->graph, c, &x->m->weights, &step, &node->nodes);
    if (step.kept && !decode_edits_fit(&x->o->edits, node->graph)) {
        x->how.cache = false;
        d->anew = true;
        d->cost.cache_bytes = 0;
        step.kept = NULL;
        graph_free(node->graph);
        graph_init(node->graph);
        seq2seq_build_step(node->graph, c, &x->m->weights, &step, &node->nodes);
    }
    if (x->o->cache)
        note_cache(d, c, x->d->read.n, n, beginnings);
    if (!edit_step(x, node, step.kept ? n - 1 : 0, err))
        return false;
    node->run = run_new(node->graph, node->plain_run, x->pool);
    run_budget(node->run, share_of_memory(x));
    /* what is kept is asked for first: no budget forgets it, and what it was made from may go */
    const bool ok = !x->o->cache || compute_kept(x, node, err);
    if (ok && x->o->cache)
        keep(x, node);
    drop(&front);
    if (!ok || !compute(x, node->run, node->nodes.probs, err))
        return false;
    note_short(x, node->run);
    count_cost(d, node->graph, NULL);
    d->cost.steps++;
    return true;
}

/* All of a round are read, and have what the next one reads of them. With an encoder the first node has the keys of the
 * source, which all read. */
static void forget_before(Decoder *x)
{
    for (int i = 0; x->o->forget && i < x->before_n; i++)
        if (x->before[i] || !seq2seq_has_encoder(&x->m->text))
            drop(&x->d->node[x->before[i]]);
    memcpy(x->before, x->alive, sizeof x->before);
    x->before_n = x->alive_n;
}

/* The last row of a step's node: what may follow. */
static const float *last_row(const Decoder *x, const DecodeNode *node, NodeId n)
{
    size_t words = (size_t)x->m->text.target_words, cells = graph_cells(node->graph, n);
    return run_need(node->run, n) + (cells - words);
}

static int add_node(Decoder *x, const DecodeCandidate *c, bool cut)
{
    Decode *d = x->d;
    d->node = grow(d->node, &d->cap, (size_t)d->count, sizeof *d->node);
    const DecodeNode *p = &d->node[c->parent];
    int length = p->length + 1;
    const bool end = vocabulary_ends(&x->m->target, c->word), ended = end || cut;
    const double alpha = x->o->kind == DECODE_BEAM ? x->o->alpha : 0;
    d->node[d->count] = (DecodeNode){.word = c->word,
                                     .parent = c->parent,
                                     .length = length,
                                     .share = c->share,
                                     .log_share = c->log_share,
                                     .score = c->log_share / dm_pow((5.0 + length) / 6.0, alpha),
                                     .ended = ended,
                                     .cut = cut && (!end || c->forced),
                                     .forced = c->forced};
    return d->count++;
}

/* --- choosing --- */

/* Padding and the start are never written; but where the start is also the end (BART), it ends a text. */
static bool is_written(const Vocabulary *v, int word)
{
    return word != v->pad && (word != v->start || vocabulary_ends(v, word));
}

/* What follows a beginning, among the best so far (no logarithm for what is none); the shares are the trace's own. The
 * word that must come next, −1: any may, counts as certain, whatever the model thinks of it. */
static void offer_words(const Decoder *x, int at, int forced, DecodeCandidate *list, int *n, int most)
{
    const DecodeNode *node = &x->d->node[at];
    const float *p = last_row(x, node, node->nodes.probs);
    if (forced >= 0) {
        decode_offer(list, n, most, (DecodeCandidate){at, forced, (double)p[forced], node->log_share, true});
        return;
    }
    for (int w = 0; w < x->m->text.target_words; w++)
        if (p[w] > 1e-30f && is_written(&x->m->target, w) &&
            !(*n > 0 && *n == most && list[most - 1].parent == at && (double)p[w] <= list[most - 1].share))
            decode_offer(list, n, most,
                         (DecodeCandidate){at, w, (double)p[w], node->log_share + dm_log((double)p[w]), false});
}

/* A word drawn by its share; what it was drawn from stays with the beginning. */
static bool draw(Decoder *x, int at, DecodeCandidate *chosen)
{
    DecodeNode *node = &x->d->node[at];
    const int words = x->m->text.target_words;
    bool *may = xcalloc((size_t)words, sizeof *may);
    for (int w = 0; w < words; w++)
        may[w] = is_written(&x->m->target, w);
    const float *p = last_row(x, node, node->nodes.probs);
    DecodeDraw *all = arena_alloc(&x->d->arena, sizeof *all);
    const int word = decode_draw(all, last_row(x, node, node->nodes.logits), p, may, words, x->o, &x->rng);
    free(may);
    if (word < 0)
        return false;
    node->draw = all;
    *chosen = (DecodeCandidate){at, word, (double)p[word], node->log_share, false};
    chosen->log_share += chosen->share > 1e-30 ? dm_log(chosen->share) : -70;
    return true;
}

/* --- the search --- */

/* The word that must come next, as transformers' forced_bos_token_id and forced_eos_token_id have it; −1: any may. */
static int forced_word(const Decoder *x, bool cut)
{
    const Vocabulary *v = &x->m->target;
    return (cut && v->last ? v->last : x->length == 1 && !x->o->begin_n ? v->first : 0) - 1;
}

/* The word with the largest share; those next to it stay with the beginning. */
static int take_largest(Decoder *x, int at, int forced, DecodeCandidate *chosen)
{
    DecodeCandidate list[1 + DECODE_RIVALS];
    DecodeNode *node = &x->d->node[at];
    int found = 0;
    offer_words(x, at, forced, list, &found, 1 + DECODE_RIVALS);
    node->rivals = found > 0 ? found - 1 : 0;
    for (int i = 0; i < node->rivals; i++)
        node->rival[i] = (DecodeRival){list[1 + i].word, list[1 + i].share};
    if (found > 0)
        *chosen = list[0];
    return found > 0;
}

/* Carries the beginnings on by a word each; returns how many are alive. */
static int next_words(Decoder *x, int *alive, int n, int width, bool cut)
{
    DecodeCandidate list[WIDTH_MAX];
    int found = 0, left = 0;
    const int forced = forced_word(x, cut);
    if (forced < 0 && x->o->kind == DECODE_SAMPLE && x->o->temperature > 0)
        found = draw(x, alive[0], &list[0]);
    else if (width == 1 && n == 1)
        found = take_largest(x, alive[0], forced, &list[0]);
    else
        for (int i = 0; i < n; i++)
            offer_words(x, alive[i], forced, list, &found, width);
    for (int i = 0; i < found; i++) {
        int at = add_node(x, &list[i], cut);
        if (!x->d->node[at].ended)
            alive[left++] = at;
    }
    return left;
}

static void take_best(Decoder *x)
{
    Decode *d = x->d;
    d->best = -1;
    for (int i = 0; i < d->count; i++)
        if (d->node[i].ended && (d->best < 0 || d->node[i].score > d->node[d->best].score))
            d->best = i;
    d->word = words_to(x, d->best, &d->length) + x->given_n;
    d->length -= x->given_n;
}

static bool read_source(Decoder *x, Err *err)
{
    Decode *d = x->d;
    if (!seq2seq_has_encoder(&x->m->text))
        return true;
    Seq2seqInput in = {.source = {x->d->read.number, x->d->read.n, x->d->read.label, NULL},
                       .source_vocabulary = x->m->source.word};
    graph_init(&d->source);
    seq2seq_build_encoder(&d->source, &x->m->text, &x->m->weights, &in, &d->source_nodes);
    if (x->o->edits.count) {
        d->plain_source = d->source;
        d->source = (Graph){0};
        if (!decode_edits_make(&x->o->edits, &d->plain_source, 0, &d->source, err))
            return false;
        d->plain_source_run = run_new(&d->plain_source, NULL, x->pool);
        d->source_nodes.memory = graph_find(&d->source, graph_node(&d->plain_source, d->source_nodes.memory)->path);
    }
    d->source_run = run_new(&d->source, d->plain_source_run, x->pool);
    run_budget(d->source_run, share_of_memory(x));
    const bool ok = compute(x, d->source_run, d->source_nodes.memory, err);
    note_short(x, d->source_run);
    if (ok)
        count_cost(d, &d->source, NULL);
    return ok;
}

static bool begin(Decoder *x, const int *source, int n, Err *err)
{
    Decode *d = x->d;
    bool encoder = seq2seq_has_encoder(&x->m->text);
    const Vocabulary *v = encoder ? &x->m->source : &x->m->target;
    if (!seq2seq_has_decoder(&x->m->text))
        return err_set(err, "an encoder alone writes no text");
    for (int i = 0; i < n; i++)
        if (source[i] < 0 || source[i] >= v->n)
            return err_set(err, "there is no word %d in a vocabulary of %d", source[i], v->n);
    const int *begins = encoder ? x->o->begin : source, begin_n = encoder ? x->o->begin_n : n;
    for (int i = 0; i < begin_n; i++)
        if (begins[i] < 0 || begins[i] >= x->m->target.n)
            return err_set(err, "there is no word %d in a vocabulary of %d", begins[i], x->m->target.n);
    if (!seq2seq_check_length(&x->m->text, encoder ? n : 0, 1 + (encoder ? begin_n : 0), err))
        return false;
    int *given = arena_alloc(&d->arena, size_mul((size_t)begin_n + 2, sizeof *given));
    x->given = given;
    if (model_starts(x->m))
        given[x->given_n++] = model_start(x->m);
    for (int i = 0; i < begin_n; i++)
        given[x->given_n++] = begins[i];
    if (!x->given_n)
        return err_set(err, "there is no word to go on from: give one");
    for (int i = 1; i < x->given_n; i++) /* those of the words that are there */
        rng_u32(&x->rng);
    if (encoder)
        words_set(&d->read, v, source, n);
    d->node = grow(d->node, &d->cap, 0, sizeof *d->node);
    d->node[0] = (DecodeNode){.word = given[0], .parent = -1, .share = 1};
    d->count = 1;
    return true;
}

void decode_free(Decode *d)
{
    for (int i = 0; i < d->count; i++)
        drop(&d->node[i]);
    run_free(d->source_run);
    run_free(d->plain_source_run);
    graph_free(&d->source);
    graph_free(&d->plain_source);
    free(d->node);
    words_free(&d->read);
    arena_free(&d->arena);
    *d = (Decode){0};
}

/* --- a step at a time --- */

static Decoder *decoder_into(Decode *d, const Model *m, const int *source, int n, const DecodeOptions *o, Pool *pool,
                             Err *err)
{
    if (!decode_options_check(o, err))
        return NULL;
    Decoder *x = xcalloc(1, sizeof *x);
    x->m = m;
    x->how = *o;
    x->o = &x->how;
    x->d = d ? d : &x->own;
    x->pool = pool;
    x->rng = rng_seed(o->seed, 1);
    x->alive_n = x->length = 1;
    x->width = o->kind == DECODE_BEAM ? o->width : 1;
    if (begin(x, source, n, err) && read_source(x, err))
        return x;
    decoder_free(x);
    return NULL;
}

Decoder *decoder_new(const Model *m, const int *source, int n, const DecodeOptions *o, Pool *pool, Err *err)
{
    return decoder_into(NULL, m, source, n, o, pool, err);
}

/* Ended beginnings leave the beam, which is as much narrower from then on: so a beam of 1 is the greedy choice. */
DecoderState decoder_step(Decoder *x, Err *err)
{
    Decode *d = x->d;
    if (x->alive_n == 0)
        return DECODER_DONE;
    if (!read_node(x, x->alive[x->at], x->alive_n, err))
        return DECODER_FAILED;
    if (++x->at < x->alive_n)
        return DECODER_MORE;
    int had = d->count;
    x->at = 0;
    forget_before(x);
    x->alive_n = next_words(x, x->alive, x->alive_n, x->width, x->length >= x->o->most);
    if (d->count == had) {
        err_set(err, "after %d words no next word has a probability that is a number: the model's weights are damaged",
                x->length - 1);
        return DECODER_FAILED;
    }
    x->width -= d->count - had - x->alive_n;
    x->length++;
    if (x->alive_n > 0)
        return DECODER_MORE;
    take_best(x);
    return DECODER_DONE;
}

size_t decoder_held(const Decoder *x)
{
    const Decode *d = x ? x->d : NULL;
    size_t held = d ? run_bytes(d->source_run) + run_bytes(d->plain_source_run) : 0;
    for (int i = 0; d && i < d->count; i++)
        held += run_bytes(d->node[i].run) + run_bytes(d->node[i].plain_run);
    return held;
}

const Decode *decoder_text(const Decoder *x)
{
    return x->d;
}

void decoder_free(Decoder *x)
{
    if (!x)
        return;
    if (x->d == &x->own)
        decode_free(x->d);
    free(x);
}

/* What is alive ends here, if a word was written. */
static bool keep_written(Decoder *x)
{
    Decode *d = x->d;
    for (int i = 0; i < x->alive_n; i++)
        d->node[x->alive[i]].ended = d->node[x->alive[i]].cut = true;
    d->stopped = x->length > 1;
    if (d->stopped)
        take_best(x);
    return d->stopped;
}

bool decode_run(Decode *d, const Model *m, const int *source, int n, const DecodeOptions *o, Pool *pool,
                bool (*progress)(void *context, int words), void *context, Err *err)
{
    *d = (Decode){0};
    Decoder *x = decoder_into(d, m, source, n, o, pool, err);
    DecoderState state = x ? DECODER_MORE : DECODER_FAILED;
    if (x) {
        x->progress = progress;
        x->context = context;
    }
    bool kept = false;
    for (int told = 0; state == DECODER_MORE; told = x->length - 1) {
        state = decoder_step(x, err);
        bool stops = state != DECODER_FAILED && x->length - 1 > told && progress && !progress(context, x->length - 1);
        if (stops)
            err_set(err, "interrupted after %d words", x->length - 1);
        if (stops || x->interrupted) {
            state = DECODER_FAILED;
            kept = keep_written(x);
        }
    }
    decoder_free(x);
    if (state != DECODER_DONE && !kept)
        decode_free(d);
    return state == DECODER_DONE;
}
