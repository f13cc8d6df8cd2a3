#include "core/models/probes.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/models/nn.h"
#include "core/models/probe_parts.h"

enum { PAIR = 2 };
static const char NARROW_W[] = "decoder.narrow.weight";
static const double PI = 3.14159265358979323846;

NodeId probe_number(Graph *g, const char *name, float value)
{
    char path[64];
    snprintf(path, sizeof path, "numbers.probe.%s", name);
    NodeId n = graph_find(g, path);
    if (n != NO_NODE)
        return n;
    graph_scope(g, "numbers.probe");
    return graph_const(g, name, DIMS_SCALAR, value);
}

static void attention(Graph *g, int part)
{
    NodeId pattern = site_node(g, part, SITE_PATTERN), masked = site_node(g, part, SITE_SCORES_MASKED);
    Dims d = graph_node(g, pattern)->dims;
    ProbeRows r = {.h = dims_role(g, d, ROLE_HEAD),
                   .t = dims_role(g, d, ROLE_QUERY),
                   .u = dims_role(g, d, ROLE_KEY),
                   .d = graph_role(g, ROLE_WIDTH, SEQUENCE_ANY),
                   .pattern = pattern,
                   .scores = masked != NO_NODE ? masked : site_node(g, part, SITE_SCORES_SCALED),
                   .z = site_node(g, part, SITE_MERGED),
                   .w_o = site_node(g, part, SITE_W_O),
                   .sum_one = site_node(g, part, SITE_SINKS) != NO_NODE ? probe_number(g, "one", 1.0f) : NO_NODE,
                   .log_keys = NO_NODE};
    const Axis *query = &g->axes[r.t], *key = &g->axes[r.u];
    r.heads = g->axes[r.h].n;
    r.two = probe_number(g, "two", 2.0f);
    r.queries = probe_number(g, query->sequence == SEQUENCE_SOURCE ? "source_tokens" : "target_tokens",
                             (float)query->n);
    if (key->n > 1)
        r.log_keys = probe_number(g, key->sequence == SEQUENCE_SOURCE ? "log_source_tokens" : "log_target_tokens",
                                  (float)dm_log(key->n));
    r.masked = masked != NO_NODE;
    graph_scope(g, "%s.probe", anatomy_part(g, part)->scope);
    probe_rows(g, &r);
}

static int plain_axis(Graph *g, const char *sym, const char *name, int n, const char *const *labels)
{
    Axis a = {.name = name, .n = n, .kind = labels ? AXIS_CLASS : AXIS_PLAIN, .labels = labels};
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    return graph_axis(g, a);
}

typedef struct Waves {
    int s, k, i, out, in; /* axes: place, places onward, pair of dimensions, sine or cosine of the result and of PE */
    int places, pairs;
} Waves;

static float *room(Graph *g, Dims d)
{
    return arena_alloc(&g->arena, size_mul(graph_dims_cells(g, d), sizeof(float)));
}

static double frequency(int pair, int pairs)
{
    return dm_exp(-dm_log(10000) * pair / pairs);
}

static NodeId frequencies(Graph *g, const Waves *w)
{
    Dims d = DIMS(w->i);
    float *omega = room(g, d), *length = room(g, d);
    for (int i = 0; i < w->pairs; i++) {
        omega[i] = (float)frequency(i, w->pairs);
        length[i] = (float)(2 * PI / frequency(i, w->pairs));
    }
    graph_leaf(g, "frequency", d, (Leaf){LEAF_CONST, omega, "1 / 10000^(2i/D)"});
    return graph_leaf(g, "wavelength", d, (Leaf){LEAF_CONST, length, "2π · 10000^(2i/D)"});
}

/* sin(a+b) = sin a cos b + cos a sin b and cos(a+b) = cos a cos b − sin a sin b: a turn by b = k·ω, wherever a is. */
static NodeId rotations(Graph *g, const Waves *w)
{
    Dims d = DIMS(w->k, w->i, w->out, w->in);
    float *turn = room(g, d);
    for (int k = 0; k < w->places; k++)
        for (int i = 0; i < w->pairs; i++) {
            double angle = k * frequency(i, w->pairs);
            float *m = turn + ((size_t)k * (size_t)w->pairs + (size_t)i) * PAIR * PAIR;
            m[0] = m[3] = (float)dm_cos(angle);
            m[1] = (float)dm_sin(angle);
            m[2] = -m[1];
        }
    return graph_leaf(g, "rotation", d, (Leaf){LEAF_CONST, turn, "cos and sin of k · ω"});
}

static NodeId onward(Graph *g, const Waves *w)
{
    Dims d = DIMS(w->s, w->k, w->i, w->out);
    size_t width = (size_t)w->pairs * PAIR, row = (size_t)w->places * width;
    float *cells = room(g, d);
    for (int s = 0; s < w->places; s++)
        seq2seq_sinusoids(s, w->places, (int)width, cells + (size_t)s * row);
    return probe_passing(g, graph_leaf(g, "onward", d, (Leaf){LEAF_CONST, cells, "PE of the place k further on"}));
}

static void sinusoids(Graph *g, int part, const Seq2seqConfig *c, const Waves *shared)
{
    NodeId table = site_node(g, part, SITE_POSITIONS);
    Waves w = *shared;
    w.s = graph_node(g, table)->dims.axis[0];
    w.places = g->axes[w.s].n;
    w.k = plain_axis(g, "k0", "places onward", w.places, NULL);
    graph_scope(g, "%s.pos.probe", anatomy_part(g, part)->scope);
    frequencies(g, &w);
    NodeId turn = rotations(g, &w), there = onward(g, &w);
    if (c->halves) {
        int *column = arena_alloc(&g->arena, (size_t)c->width * sizeof *column);
        for (int i = 0; i < c->width; i++)
            column[seq2seq_sinusoid_column(c, i)] = i;
        table = probe_passing(g, graph_gather(g, "in_turn", table, graph_node(g, table)->dims.axis[1], column));
    }
    NodeId here = graph_view(g, "pairs", table, DIMS(w.s, w.i, w.in));
    NodeId carried = probe_passing(g, graph_contract(g, "carried", here, turn, DIMS(w.s, w.k, w.i, w.out)));
    NodeId residual = probe_passing(g, graph_zip(g, "residual", OP_SUB, carried, there));
    NodeId squared = probe_passing(g, graph_zip(g, "residual_sq", OP_MUL, residual, residual));
    NodeId most = graph_reduce(g, "residual_sq_largest", OP_MAX, squared, DIMS(w.s, w.k));
    graph_map(g, "residual_largest", MAP_SQRT, most);
    NodeId same = graph_view(g, "pairs_again", table, DIMS(w.s, w.i, w.out));
    NodeId product = probe_passing(g, graph_zip(g, "products", OP_MUL, there, same));
    graph_reduce(g, "alike", OP_SUM, product, DIMS(w.s, w.k));
}

int probes_wave(const Graph *g, int part, int column)
{
    NodeId pairs = site_node(g, part, SITE_WAVE_PAIRS);
    const Node *table = pairs == NO_NODE ? NULL : graph_node(g, graph_node(g, pairs)->in[0]);
    int at = column;
    if (table && table->op == OP_GATHER)
        for (at = 0; table->index[at] != column;)
            at++;
    return at;
}

static bool is_sinusoids(const Graph *g, int part)
{
    NodeId n = site_node(g, part, SITE_POSITIONS);
    return n != NO_NODE && graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_CONST &&
           g->axes[graph_node(g, n)->dims.axis[1]].n % PAIR == 0;
}

/* What stands in front of the answer in models that fill words in: LN(act(x W + b)). */
static NodeId transformed(Graph *g, NodeId tokens, const Seq2seqConfig *c)
{
    NodeId weight = graph_find(g, "transform.weight"), bias = graph_find(g, "transform.bias");
    Dims in = graph_node(g, tokens)->dims;
    int p = graph_node(g, weight)->dims.axis[0], d = graph_node(g, weight)->dims.axis[1],
        w = graph_node(g, graph_find(g, "transformed"))->dims.axis[1];
    NodeId pre = probe_passing(g, graph_contract(g, bias == NO_NODE ? "transform_pre" : "transform_nobias", tokens,
                                                 weight, dims_replace(in, d, p)));
    if (bias != NO_NODE)
        pre = probe_passing(g, graph_zip(g, "transform_pre", OP_ADD, pre, bias));
    NodeId post = graph_map(g, "transform_post", c->transform_act, pre);
    NodeId out = probe_norm(g, "norm", post, p, probe_norm_of(g, anatomy_of(g, "ln_transform.out")));
    return graph_view(g, "transformed", out, dims_replace(in, d, w));
}

/* How much of the direction of the text's vector each token carries: x·u / (N |y|), which adds up to 1. */
static void carried(Graph *g)
{
    NodeId unit = site_node_any(g, SITE_EMBEDDING_UNIT), tokens = site_node_any(g, SITE_TOKENS_OUT);
    NodeId count = graph_find(g, "embedding_count");
    if (unit == NO_NODE || count == NO_NODE) /* the first token alone carries it */
        return;
    Dims each = dims_minus(graph_node(g, tokens)->dims, DIMS(graph_node(g, unit)->dims.axis[0]));
    graph_scope(g, "%s", "carried");
    NodeId along = graph_contract(g, "along", tokens, unit, each);
    NodeId whole = graph_zip(g, "whole", OP_MUL, count, graph_find(g, "embedding_norm"));
    anatomy_note(g, anatomy_next(g, NO_PART, PART_READOUT), SITE_CARRIED, graph_zip(g, "share", OP_DIV, along, whole));
}

/* What the read-out makes of tokens, behind the norm that stands behind the last block where there is one (final, else
 * NULL); in the scope that is set. */
static NodeId lens_logits(Graph *g, NodeId tokens, const Seq2seqConfig *c, const ProbeNorm *final)
{
    NodeId logits = site_node_any(g, SITE_LOGITS);
    Dims out = graph_node(g, logits)->dims;
    NodeId cap = graph_find(g, "logit_cap"), linear = cap == NO_NODE ? logits : graph_find(g, "uncapped");
    const Node *l = graph_node(g, linear);
    NodeId bias = l->op == OP_ADD ? l->in[1] : NO_NODE;
    NodeId weight = graph_node(g, bias != NO_NODE ? l->in[0] : linear)->in[1], narrow = graph_find(g, NARROW_W);
    if (final)
        tokens = probe_norm(g, "norm", tokens, graph_role(g, ROLE_WIDTH, SEQUENCE_ANY), *final);
    if (c->transform)
        tokens = transformed(g, tokens, c);
    if (narrow != NO_NODE)
        tokens = probe_passing(g, graph_contract(g, "narrow", tokens, narrow,
                                                 dims_replace(graph_node(g, tokens)->dims,
                                                              graph_node(g, narrow)->dims.axis[1],
                                                              graph_node(g, narrow)->dims.axis[0])));
    if (c->read_scale > 0)
        tokens = probe_passing(g, graph_zip(g, "read_scaled", OP_MUL, tokens, graph_find(g, "read_scale")));
    const char *name = cap == NO_NODE ? "logits" : "uncapped";
    NodeId y = graph_contract(g, bias != NO_NODE ? "logits_nobias" : name, tokens, weight, out);
    if (bias != NO_NODE)
        y = graph_zip(g, name, OP_ADD, probe_passing(g, y), bias);
    return cap == NO_NODE ? y : nn_capped(g, "logit", "logits", probe_passing(g, y), cap);
}

/* After a block's attention, and after the block. */
static void lens(Graph *g, int block, const Seq2seqConfig *c, const ProbeNorm *final)
{
    const char *scope = anatomy_part(g, block)->scope;
    NodeId mid = probe_before_mlp(g, block);
    int words = node_role(g, site_node_any(g, SITE_LOGITS), ROLE_ANSWER);
    graph_scope(g, "%s.lens_mid", scope);
    if (mid != NO_NODE)
        lens_logits(g, mid, c, final);
    graph_scope(g, "%s.lens", scope);
    NodeId y = lens_logits(g, site_node(g, block, SITE_BLOCK_OUT), c, final);
    nn_softmax(g, y, words, (SoftmaxNames){"probs_row_max", "probs_shifted", "probs_exp", "probs_sum", "probs"});
}

/* The norm behind a stack. */
static ProbeNorm find_final(const Graph *g, const char *stack)
{
    ProbeNorm n = {NO_NODE, NO_NODE, NO_NODE, NO_NODE, false};
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_NORM)) != NO_PART;)
        if (strcmp(anatomy_part(g, p)->stack, stack) == 0 && anatomy_part(g, p)->block == NO_BLOCK &&
            strstr(anatomy_part(g, p)->scope, "_final"))
            n = probe_norm_of(g, p);
    return n;
}

/* Of the stack that the answer is read from. A norm behind the MLP itself is read through; before it, the one that ends
 * the stack. */
static void units_of_block(Graph *g, int block, const Seq2seqConfig *c, const ProbeNorm *final)
{
    int mlp = anatomy_next_in(g, NO_PART, PART_MLP, block), last = NO_PART;
    /* No unit writes into a logit through another layer's activation; through one that is linear it would, but all
     * words' vectors in the model's width are too many numbers beside the weights. */
    if (c->transform || graph_find(g, NARROW_W) != NO_NODE)
        return;
    NodeId linear = graph_find(g, "uncapped") != NO_NODE ? graph_find(g, "uncapped") : site_node_any(g, SITE_LOGITS);
    const Node *l = graph_node(g, linear);
    NodeId weight = l->op == OP_ADD ? graph_node(g, l->in[0])->in[1] : l->in[1];
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_NORM, block)) != NO_PART;)
        last = p;
    if (mlp == NO_PART || c->after_norm || (!c->pre_norm && (last == NO_PART || final)))
        return; /* two norms: the first one's 1/σ would stand inside the second one's */
    ProbeNorm own = c->pre_norm ? (ProbeNorm){NO_NODE, NO_NODE, NO_NODE, NO_NODE, false} : probe_norm_of(g, last);
    probe_neurons(g, mlp, weight, c->pre_norm ? final : &own);
}

/* How far the largest logit of every row is from the second one. */
static void margin(Graph *g)
{
    int part = anatomy_next(g, NO_PART, PART_READOUT);
    NodeId logits = part == NO_PART ? NO_NODE : site_node(g, part, SITE_LOGITS);
    int words = logits == NO_NODE ? AXIS_NONE : node_role(g, logits, ROLE_ANSWER);
    if (words == AXIS_NONE || g->axes[words].n < 2)
        return;
    graph_scope(g, "%s", "rival");
    Dims rows = dims_minus(graph_node(g, logits)->dims, DIMS(words));
    NodeId best = graph_reduce(g, "best", OP_MAX, logits, rows),
           first = probe_passing(g, graph_first(g, "first", logits, best));
    NodeId none = graph_const(g, "none", DIMS_SCALAR, -INFINITY),
           others = probe_passing(g, graph_where(g, "others", first, none, logits)),
           second = graph_reduce(g, "second", OP_MAX, others, rows);
    anatomy_note(g, part, SITE_MARGIN, graph_zip(g, "margin", OP_SUB, best, second));
}

/* The numbers of x[t,v] that a word each chooses: row i, column word[i + 1]. */
static NodeId chosen(Graph *g, const char *cells, const char *name, NodeId x, int all, const int *cell, int asked)
{
    return graph_take(g, name, probe_passing(g, graph_view(g, cells, x, DIMS(all))), all, cell, asked);
}

/* −log p of every token but the first, of what the row before it gives it: log Σ exp(x − max) + (max − x), which holds
 * where p itself is too small for a float. The mean over the text, and its exponential (Jelinek et al. 1977). */
static void surprise(Graph *g, const Text *text)
{
    int part = anatomy_next(g, NO_PART, PART_READOUT), n = text->count - 1;
    NodeId logits = site_node_any(g, SITE_LOGITS), most = graph_find(g, "probs_row_max"),
           sum = graph_find(g, "probs_sum");
    if (logits == NO_NODE || n < 1 || graph_node(g, logits)->dims.n != 2)
        return;
    Dims d = graph_node(g, logits)->dims;
    const Axis tokens = g->axes[d.axis[0]];
    const int words = g->axes[d.axis[1]].n;
    int *row = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *row)),
        *cell = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *cell));
    if (tokens.n != text->count || (size_t)tokens.n * (size_t)words > INT_MAX)
        return;
    for (int i = 0; i < n; i++) {
        row[i] = i;
        cell[i] = i * words + text->word[i + 1];
    }
    int all = plain_axis(g, "tv", "logit of all rows", tokens.n * words, NULL),
        asked = plain_axis(g, "t1", "token that is asked for", n, tokens.labels ? tokens.labels + 1 : NULL);
    graph_scope(g, "%s", "surprise");
    NodeId logit = chosen(g, "logits_in_a_row", "logit", logits, all, cell, asked);
    NodeId behind = graph_zip(g, "behind", OP_SUB, graph_take(g, "largest", most, d.axis[0], row, asked), logit);
    NodeId log_sum = graph_map(g, "log_sum", MAP_LOG, graph_take(g, "sum", sum, d.axis[0], row, asked));
    NodeId nats = graph_zip(g, "nats", OP_ADD, log_sum, behind);
    NodeId total = graph_reduce(g, "total", OP_SUM, nats, DIMS_SCALAR),
           count = graph_const(g, "count", DIMS_SCALAR, (float)n), mean = graph_zip(g, "mean", OP_DIV, total, count);
    anatomy_note(g, part, SITE_SURPRISE, nats);
    anatomy_note(g, part, SITE_SURPRISE_PROB,
                 chosen(g, "probs_in_a_row", "prob", site_node_any(g, SITE_PROBS), all, cell, asked));
    anatomy_note(g, part, SITE_SURPRISE_TOTAL, total);
    anatomy_note(g, part, SITE_SURPRISE_MEAN, mean);
    anatomy_note(g, part, SITE_PERPLEXITY, graph_map(g, "perplexity", MAP_EXP, mean));
}

void text_probes_add(Graph *g, const Seq2seqConfig *c, const Text *target)
{
    static const char *const SINE_COSINE[] = {"sin", "cos"};
    NodeId first = g->count;
    const char *last = seq2seq_has_decoder(c) ? "decoder" : "encoder";
    ProbeNorm final = {NO_NODE, NO_NODE, NO_NODE, NO_NODE, false};
    if (c->final_norm)
        final = find_final(g, last);
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_ATTENTION)) != NO_PART;)
        attention(g, p);
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_BLOCK)) != NO_PART;)
        if (strcmp(anatomy_part(g, p)->stack, last) == 0 && !c->wordless) {
            lens(g, p, c, c->final_norm ? &final : NULL);
            units_of_block(g, p, c, c->final_norm ? &final : NULL);
        }
    Waves w = {.pairs = c->width / PAIR, .i = AXIS_NONE};
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_EMBEDDING)) != NO_PART;) {
        if (!is_sinusoids(g, p))
            continue;
        if (w.i == AXIS_NONE) {
            w.i = plain_axis(g, "i0", "pair of dimensions", w.pairs, NULL);
            w.out = plain_axis(g, "c0", "sine or cosine", PAIR, SINE_COSINE);
            w.in = plain_axis(g, "c1", "sine or cosine before", PAIR, SINE_COSINE);
        }
        sinusoids(g, p, c, &w);
    }
    probe_text_places(g);
    probe_alike(g);
    probe_lengths(g);
    margin(g);
    if (seq2seq_has_decoder(c))
        surprise(g, target);
    carried(g);
    probe_end(g, first, NODE_PROBE);
}
