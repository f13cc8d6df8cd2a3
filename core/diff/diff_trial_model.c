/* A model of words built once more with other settings of the same weights, or reading otherwise: what the reference
 * has before the target is put into it. */
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

Seq2seqText trial_words(Trial *t, const char *path)
{
    const Graph *g = t->s->graph;
    NodeId n = graph_find(g, path);
    if (n == NO_NODE || graph_node(g, n)->op != OP_LEAF)
        return (Seq2seqText){.n = 0};
    size_t count = graph_cells(g, n);
    int *word = arena_alloc(&t->arena, size_mul(count, sizeof *word));
    for (size_t i = 0; i < count; i++)
        word[i] = (int)graph_node(g, n)->leaf.data[i];
    return (Seq2seqText){.word = word, .n = (int)count};
}

const int *trial_segments(const Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId n = graph_find(g, "encoder.segment_embed");
    return n != NO_NODE && graph_node(g, n)->op == OP_GATHER ? graph_node(g, n)->index : NULL;
}

/* Of the values that a node has in the whole text those of a text that ends earlier: the first along each axis. */
static const float *shortened(Trial *t, const Graph *g, NodeId n, NodeId whole, const float *values)
{
    const Graph *all = t->s->graph;
    const Dims d = graph_node(g, n)->dims, from = graph_node(all, whole)->dims;
    bool fits = d.n == from.n;
    for (int k = 0; k < d.n && fits; k++)
        fits = g->axes[d.axis[k]].n <= all->axes[from.axis[k]].n;
    if (!fits)
        return NULL;
    const size_t cells = graph_cells(g, n);
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    for (size_t i = 0; i < cells; i++) {
        int index[DIMS_MAX];
        dims_unravel(g->axes, d, i, index);
        out[i] = values[dims_ravel(all->axes, from, index)];
    }
    return out;
}

/* What the reference has before node `target` of the graph, and what rounds there. Returns how many edits. */
static int given_edits(Trial *t, const Graph *g, NodeId target, bool shorter, Edit *out)
{
    const DiffReference *r = t->r;
    bool *taken = xcalloc((size_t)g->count, sizeof *taken);
    int count = 0;
    for (int i = 0; i < r->count; i++) {
        const DiffTensor *x = &r->tensor[i];
        NodeId n = graph_find(g, graph_node(t->s->graph, x->node)->path);
        if (n == NO_NODE || n >= target || taken[n] || (i + 1 < r->count && x[1].node == x->node))
            continue;
        const bool whole = graph_cells(g, n) == graph_cells(t->s->graph, x->node);
        const float *values = whole ? x->values : NULL;
        if (!whole && shorter && !x->skip)
            values = shortened(t, g, n, x->node, x->values);
        if (!values)
            continue;
        taken[n] = true;
        out[count++] = (Edit){.kind = EDIT_VALUES,
                              .path = graph_node(g, n)->path,
                              .data = values,
                              .origin = "the recording"};
    }
    for (NodeId n = 0; n <= target && t->o->precision != PRECISION_F32; n++)
        if (!taken[n] && precision_rounds(g, n))
            out[count++] = precision_edit(g, n, t->o->precision);
    free(taken);
    return count;
}

/* The target as this graph makes it, with so many of the edits that were put together, in the arena; NULL where it has
 * none, or when stopped. */
static const float *target_of(Trial *t, const Graph *g, bool shorter, int mistakes)
{
    const char *path = graph_node(t->s->graph, t->target->node)->path;
    const NodeId target = graph_find(g, path);
    const int based = t->base ? t->base->count : 0;
    const float *values = NULL;
    if (target == NO_NODE)
        return NULL;
    const size_t cells = graph_cells(g, target);
    if (!shorter && cells != graph_cells(t->s->graph, t->target->node))
        return NULL;
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    Edit *edits = xcalloc((size_t)(t->r->count + g->count + based + mistakes) + 1, sizeof *edits);
    int count = given_edits(t, g, target, shorter, edits);
    for (int i = 0; i < based; i++) /* a mistake that is made already */
        edits[count++] = t->base->edit[i];
    for (int i = 0; i < mistakes; i++)
        edits[count++] = t->mistake[i];
    Graph edited = {.count = 0};
    Err err;
    if (graph_edit(&edited, g, edits, count, &err)) {
        Run *base = run_new(g, NULL, t->s->pool), *run = run_new(&edited, base, t->s->pool);
        values = diff_need(run, graph_find(&edited, path), t->o, t->what, t->share);
        t->stopped = !values;
        if (values)
            memcpy(out, values, cells * sizeof *out);
        run_free(run);
        run_free(base);
        graph_free(&edited);
    }
    free(edits);
    return values ? out : NULL;
}

/* The words of one side as they are read. */
static Seq2seqText reads_as(Trial *t, Seq2seqText words, const TrialReads *how, int vocabulary)
{
    int *out = arena_alloc(&t->arena, size_mul((size_t)words.n + 1, sizeof *out));
    for (int i = 0; i < words.n; i++) {
        int from = i + how->shift, n = words.n;
        bool beyond = from < 0 || from >= n;
        int word = !beyond            ? words.word[from]
                   : how->beyond >= 0 ? how->beyond
                                      : words.word[how->beyond < -1 ? i : (from + n) % n];
        out[i] = (word + how->roll + vocabulary) % vocabulary;
    }
    words.word = out;
    return words;
}

/* The graph of a model that has these settings, and reads so; of a decoder alone the first `tokens` words where these
 * are not 0. False where there is none. */
static bool build(Trial *t, const Seq2seqConfig *c, const TrialReads *how, int tokens, Graph *g)
{
    Err err;
    const Seq2seqConfig *own = t->s->text;
    if (!seq2seq_check(c, &err))
        return false;
    const Seq2seqText source = trial_words(t, "encoder.tokens"), target = trial_words(t, "decoder.tokens");
    Seq2seqInput in = {.source = source, .target = target};
    Seq2seqText *read = how->source ? &in.source : seq2seq_answered(own, &in);
    *read = reads_as(t, *read, how, how->source ? own->source_words : seq2seq_answer_words(own));
    if (tokens)
        read->n = tokens;
    int *kind = arena_alloc(&t->arena, size_mul((size_t)source.n + 1, sizeof *kind));
    for (int i = 0; i < source.n; i++)
        kind[i] = how->second && i >= how->second;
    in.source.segment = how->segments ? kind : trial_segments(t);
    if (!seq2seq_check_length(c, in.source.n, in.target.n, &err))
        return false;
    graph_init(g);
    seq2seq_build(g, c, t->s->weights, &in, NULL);
    return true;
}

double trial_reading(Trial *t, const Seq2seqConfig *c, const TrialReads *how, const char *text)
{
    Graph g;
    double rms = t->before.rms;
    if (t->stopped || !trial_wanted(t, text) || !trial_blocks_suit(t, c))
        return rms;
    ArenaMark mark = arena_mark(&t->arena);
    if (build(t, c, how, 0, &g)) {
        const float *values = target_of(t, &g, false, 0);
        if (values)
            rms = trial_judge(t, values, text);
        graph_free(&g);
    }
    arena_rewind(&t->arena, mark);
    return rms;
}

static const TrialReads AS_WRITTEN = {.beyond = -1};

double trial_config(Trial *t, const Seq2seqConfig *c, const char *text)
{
    return trial_reading(t, c, &AS_WRITTEN, text);
}

bool trial_config_short(Trial *t, const Seq2seqConfig *c, int tokens, DiffFigures *out)
{
    Graph g;
    ArenaMark mark = arena_mark(&t->arena);
    const float *values = NULL;
    if (t->stopped || !build(t, c, &AS_WRITTEN, tokens, &g))
        return false;
    const NodeId n = graph_find(&g, graph_node(t->s->graph, t->target->node)->path);
    const float *theirs = n == NO_NODE ? NULL : shortened(t, &g, n, t->target->node, t->target->values);
    if (theirs && (values = target_of(t, &g, true, 0)) != NULL) {
        const size_t cells = graph_cells(&g, n);
        float *rounded = arena_alloc(&t->arena, size_mul(cells, sizeof *rounded));
        precision_round(t->o->precision, values, rounded, cells);
        *out = diff_figures(rounded, theirs, cells, t->allowed);
    }
    graph_free(&g);
    arena_rewind(&t->arena, mark);
    return values != NULL;
}

/* --- one token decides --- */

/* Does the edit change no more of the first token than what it makes of itself? */
static bool of_weights(const Trial *t, const Edit *e)
{
    const Graph *g = t->s->graph;
    const NodeId n = graph_find(g, e->path);
    if (n == NO_NODE || graph_node(g, n)->op != OP_LEAF || path_ends(e->path, "minus_infinity") || e->cells.n ||
        e->choose || !(e->kind == EDIT_SET || e->kind == EDIT_SCALE || e->kind == EDIT_VALUES || e->kind == EDIT_MAP))
        return false;
    const Dims d = graph_node(g, n)->dims;
    for (int k = 0; k < d.n; k++)
        if (g->axes[d.axis[k]].kind == AXIS_TOKEN)
            return false;
    return true;
}

static bool first_suits(const Trial *t)
{
    enum { WORTH = 8 }; /* tokens */
    const Seq2seqConfig *c = t->s->text;
    const Graph *g = t->s->graph;
    const Dims d = graph_node(g, t->target->node)->dims;
    bool suits = trial_long(t) && c && c->decoder_layers && !c->encoder_layers && t->s->weights && !t->base &&
                 !t->target->skip && d.n && g->axes[d.axis[0]].kind == AXIS_TOKEN && g->axes[d.axis[0]].n >= WORTH;
    for (int i = 0; i < t->mistake_count && suits; i++)
        suits = of_weights(t, &t->mistake[i]);
    return suits;
}

/* Root of the sum of squared differences of the first cells, and the largest. */
static double apart(const float *x, const float *y, size_t cells, double *largest)
{
    double sum = 0;
    *largest = 0;
    for (size_t i = 0; i < cells; i++) {
        const double d = dm_abs((double)x[i] - (double)y[i]);
        sum += d * d;
        *largest = d > *largest ? d : *largest;
    }
    return dm_sqrt(sum);
}

bool trial_first_follows(Trial *t, double *left)
{
    enum { ROOM = 2, NEARER = 4 }; /* as little must be left of its error as makes a mistake worth a word */
    Graph g;
    *left = 1;
    if (t->stopped || !first_suits(t))
        return true;
    ArenaMark mark = arena_mark(&t->arena);
    bool follows = true;
    const float *theirs = t->target->values;
    if (build(t, t->s->text, &AS_WRITTEN, 1, &g)) {
        const NodeId n = graph_find(&g, graph_node(t->s->graph, t->target->node)->path);
        const size_t cells = n == NO_NODE ? 0 : graph_cells(&g, n), all = graph_cells(t->s->graph, t->target->node);
        double most = 0, largest;
        if (cells && !t->first_known) {
            t->first_before = apart(trial_values(t, t->target->node), theirs, cells, &largest);
            t->first_known = true;
        }
        const float *with = cells ? target_of(t, &g, true, t->mistake_count) : NULL;
        if (with) {
            const double before = t->first_before, after = apart(with, theirs, cells, &largest);
            for (size_t i = 0; i < all; i++)
                most = dm_abs((double)theirs[i]) > most ? dm_abs((double)theirs[i]) : most;
            follows = largest <= ROOM * DIFF_EXPLAINED * t->allowed * most || after < before / NEARER;
            *left = before > 0 && after < 1e3 * before ? after / before : 1e3;
        }
        graph_free(&g);
    }
    arena_rewind(&t->arena, mark);
    return follows;
}
