/* Where the tokens of a text are, for a model: sinusoids, rotary positions, ALiBi, and which of them may be looked at.
 */
#include <stdio.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/models/seq2seq_build.h"

/* --- sinusoids (section 3.5) --- */

void seq2seq_sinusoids(int first, int rows, int width, float *out)
{
    for (int i = 0; i < width; i++) {
        double rate = dm_pow(10000.0, -(double)(i / 2 * 2) / width);
        for (int p = 0; p < rows; p++) {
            double angle = (first + p) * rate;
            out[(size_t)p * (size_t)width + (size_t)i] = (float)(i % 2 ? dm_cos(angle) : dm_sin(angle));
        }
    }
}

int seq2seq_sinusoid_column(const Seq2seqConfig *c, int i)
{
    int sines = (c->width + 1) / 2;
    return !c->halves ? i : i < sines ? 2 * i : 2 * (i - sines) + 1;
}

/* --- rotary positions --- */

static const double TURN = 6.283185307179586;

int seq2seq_rope_pairs(const Seq2seqConfig *c)
{
    return seq2seq_rotated(c) / 2;
}

void seq2seq_rope_pair(const Seq2seqConfig *c, int k, int *first, int *second)
{
    *first = c->rope.half ? k : 2 * k;
    *second = c->rope.half ? k + seq2seq_rotated(c) / 2 : 2 * k + 1;
}

static double between_0_and_1(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Llama 3.1: what turns more than `high` times over the trained length stays, what turns less than `low` times is
 * divided, between them a mixture of both. */
static double llama3(const Seq2seqRope *r, double rate)
{
    double turns = (double)r->trained * rate / TURN;
    double keep = between_0_and_1((turns - (double)r->low) / ((double)r->high - (double)r->low));
    return rate * (keep + (1 - keep) / (double)r->factor);
}

/* The pair that turns so many times over the trained length (YaRN, section 3.2). */
static double yarn_pair(const Seq2seqRope *r, int width, double turns)
{
    return width * dm_log((double)r->trained / (turns * TURN)) / (2 * dm_log((double)r->base));
}

/* YaRN: fast pairs stay, slow ones are divided, between them by a ramp over the pairs' numbers. */
static double yarn(const Seq2seqRope *r, int width, double rate, int k)
{
    double low = yarn_pair(r, width, (double)r->high), high = yarn_pair(r, width, (double)r->low);
    if (!r->between) {
        low = dm_floor(low);
        high = -dm_floor(-high);
    }
    low = low < 0 ? 0 : low;
    high = high > width - 1 ? width - 1 : high;
    double keep = 1 - between_0_and_1((k - low) / (high > low ? high - low : 0.001));
    return rate * (keep + (1 - keep) / (double)r->factor);
}

/* Dynamic NTK: with the base of so long a text the slowest pair is divided by `grown`, the fastest stays. */
static double dynamic(const Seq2seqRope *r, int width, double rate, int k, int tokens)
{
    double grown = (double)r->factor * tokens / (double)r->trained - ((double)r->factor - 1);
    return grown > 1 ? rate * dm_pow(grown, -2.0 * k / (width - 2)) : rate;
}

double seq2seq_rope_rate(const Seq2seqConfig *c, bool local, int k, int tokens)
{
    const Seq2seqRope *r = &c->rope;
    const int width = seq2seq_rotated(c);
    bool other = local && r->local_base > 0;
    double rate = dm_pow((double)(other ? r->local_base : r->base), -2.0 * k / width);
    switch (other ? ROPE_AS_TRAINED : r->scaling) {
    case ROPE_LINEAR: return rate / (double)r->factor;
    case ROPE_LLAMA3: return llama3(r, rate);
    case ROPE_YARN: return yarn(r, width, rate, k);
    case ROPE_DYNAMIC: return dynamic(r, width, rate, k, tokens);
    case ROPE_LONG: return rate / (double)r->divisors[(float)tokens > r->trained][k];
    default: return rate;
    }
}

bool seq2seq_rope_lasts(const Seq2seqConfig *c, int tokens)
{
    const Seq2seqRope *r = &c->rope;
    const bool longer = c->pos == SEQ2SEQ_POS_ROPE && (float)tokens > r->trained;
    return !longer || (r->scaling != ROPE_DYNAMIC && (r->scaling != ROPE_LONG || (float)(tokens - 1) > r->trained));
}

float seq2seq_yarn_stretch(float factor)
{
    return factor > 1 ? (float)(0.1 * dm_log((double)factor) + 1) : 1;
}

float seq2seq_long_stretch(float factor, float trained)
{
    return factor > 1 && trained > 1 ? (float)dm_sqrt(1 + dm_log((double)factor) / dm_log((double)trained)) : 1;
}

/* --- ALiBi --- */

double seq2seq_alibi_most(const Seq2seqConfig *c)
{
    return c->alibi_most > 0 ? (double)c->alibi_most : 8;
}

double seq2seq_alibi_slope(int heads, int h, double most)
{
    int whole = 1; /* the largest power of two that is at most that */
    while (whole * 2 <= heads)
        whole *= 2;
    return h < whole ? dm_pow(2, -most * (h + 1) / whole) : dm_pow(2, -most / 2 * (2 * (h - whole) + 1) / whole);
}

/* --- ranges of distances --- */

int seq2seq_distance_row(const Seq2seqConfig *c, bool decoder, int behind)
{
    const int side = decoder ? c->distances : c->distances / 2, first = !decoder && behind > 0 ? side : 0,
              far = behind < 0 ? -behind
                    : decoder  ? 0
                               : behind,
              exact = side / 2;
    if (far < exact)
        return first + far;
    /* float32, as the program that the tables were learned with */
    float log = (float)dm_log((double)((float)far / (float)exact)),
          x = log / (float)dm_log((double)c->distance_most / exact) * (float)(side - exact);
    int row = exact + (int)x;
    return first + (row < side ? row : side - 1);
}

void text_distances(TextBuilder *b)
{
    Graph *g = b->g;
    const bool decoder = b->decoder;
    if (!b->c->distances)
        return;
    const int t = decoder ? b->axis.t : b->axis.s, u = decoder ? b->axis.u : b->axis.r, keys = g->axes[u].n,
              n = g->axes[t].n, first = keys - n;
    int *way = arena_alloc(&g->arena, size_mul(size_mul((size_t)n, (size_t)keys), sizeof *way));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < keys; k++)
            way[i * keys + k] = seq2seq_distance_row(b->c, decoder, k - first - i);
    Axis pairs = {.name = "pair of tokens", .n = n * keys};
    snprintf(pairs.sym, sizeof pairs.sym, "%s", decoder ? "tu" : "sr");
    NnBias bias = {.w = b->axis.distances[decoder], .s = graph_axis(g, pairs), .way = way};
    NnWeight table = text_weight(b, decoder ? SEQ2SEQ_TARGET_DISTANCE : SEQ2SEQ_SOURCE_DISTANCE);
    graph_scope(g, decoder ? "decoder" : "encoder");
    b->bias[decoder] = nn_bias(g, "distance", nn_weight(g, &table), &bias, DIMS(b->axis.h, t, u));
}

/* --- where tokens are, for attentions --- */

/* cos[t,e] and sin[t,e] of the tokens that ask; sin is negative for the first number of a pair. What is not rotated has
 * cos 1 and sin 0. */
static void rotation(TextBuilder *b, bool local)
{
    Graph *g = b->g;
    const Seq2seqConfig *c = b->c;
    const int tokens = seq2seq_has_decoder(c) ? b->axis.t : b->axis.s, n = g->axes[tokens].n,
              all = seq2seq_has_decoder(c) ? b->target.n : n, first = all - n;
    size_t width = (size_t)c->head_dim, cells = size_mul((size_t)n, width);
    float *cos = arena_alloc(&g->arena, size_mul(cells, sizeof *cos)),
          *sin = arena_alloc(&g->arena, size_mul(cells, sizeof *sin));
    double stretch = c->rope.stretch > 0 && !(local && c->rope.local_base > 0) ? (double)c->rope.stretch : 1;
    for (size_t i = 0; i < cells; i++)
        cos[i] = 1;
    for (int k = 0; k < seq2seq_rope_pairs(c); k++) {
        double rate = seq2seq_rope_rate(c, local, k, all);
        int one, two;
        seq2seq_rope_pair(c, k, &one, &two);
        for (int i = 0; i < n; i++) {
            size_t row = (size_t)i * width;
            double angle = (first + i) * rate;
            cos[row + (size_t)one] = cos[row + (size_t)two] = (float)(stretch * dm_cos(angle));
            sin[row + (size_t)two] = (float)(stretch * dm_sin(angle));
            sin[row + (size_t)one] = -sin[row + (size_t)two];
        }
    }
    Dims d = DIMS(tokens, b->axis.e);
    b->rope[local].cos = graph_leaf(g, local ? "rope_cos_local" : "rope_cos", d,
                                    (Leaf){LEAF_CONST, cos, "cos of place · frequency"});
    b->rope[local].sin = graph_leaf(g, local ? "rope_sin_local" : "rope_sin", d,
                                    (Leaf){LEAF_CONST, sin, "∓ sin of place · frequency"});
}

/* −slope of the head · distance. */
static void alibi(TextBuilder *b)
{
    Graph *g = b->g;
    int heads = b->c->heads, keys = g->axes[b->axis.u].n, n = g->axes[b->axis.t].n, first = keys - n;
    float *bias = arena_alloc(&g->arena, size_mul(size_mul((size_t)heads, (size_t)n), (size_t)keys * sizeof *bias)),
          *at = bias;
    const double most = seq2seq_alibi_most(b->c);
    for (int h = 0; h < heads; h++)
        for (int t = first; t < keys; t++)
            for (int u = 0; u < keys; u++)
                *at++ = (float)(seq2seq_alibi_slope(heads, h, most) * (u - t));
    b->bias[true] = graph_leaf(g, "alibi", DIMS(b->axis.h, b->axis.t, b->axis.u),
                               (Leaf){LEAF_CONST, bias, arena_printf(&g->arena, "−2^(−%g(h+1)/H) · distance", most)});
}

void text_places(TextBuilder *b)
{
    const Seq2seqConfig *c = b->c;
    if (seq2seq_has_decoder(c) && !b->target.n)
        return;
    graph_scope(b->g, seq2seq_has_decoder(c) ? "decoder" : "encoder");
    if (c->pos == SEQ2SEQ_POS_ALIBI)
        alibi(b);
    if (seq2seq_key_heads(c) != c->heads) {
        b->key_head = arena_alloc(&b->g->arena, (size_t)c->heads * sizeof *b->key_head);
        for (int h = 0; h < c->heads; h++)
            b->key_head[h] = h / (c->heads / c->key_heads);
    }
    if (c->pos != SEQ2SEQ_POS_ROPE)
        return;
    rotation(b, false);
    if (c->window && c->rope.local_base > 0)
        rotation(b, true);
    else
        b->rope[1] = b->rope[0];
    b->partner = arena_alloc(&b->g->arena, (size_t)c->head_dim * sizeof *b->partner);
    for (int e = 0; e < c->head_dim; e++)
        b->partner[e] = e;
    for (int k = 0; k < seq2seq_rope_pairs(c); k++) {
        int one, two;
        seq2seq_rope_pair(c, k, &one, &two);
        b->partner[one] = two;
        b->partner[two] = one;
    }
}

/* 1 where a token may be looked at: none that is later and, with a window, none farther back. NO_NODE where the newest
 * token alone asks and may look at all. */
static NodeId mask(TextBuilder *b, const char *name, int window, const char *origin)
{
    Graph *g = b->g;
    int keys = g->axes[b->axis.u].n, n = g->axes[b->axis.t].n, first = keys - n;
    if (b->kept && (!window || keys <= window))
        return NO_NODE;
    return graph_leaf_stored(g, name, DIMS(b->axis.t, b->axis.u), (Leaf){LEAF_CONST, NULL, origin},
                             (LeafStore){.form = LEAF_BAND, .first = first, .window = window});
}

/* 1 where a token of an encoder is at most half a window away. Padding is seen by nobody but itself: a row without any
 * token would have no softmax. */
static NodeId window_around(TextBuilder *b)
{
    Graph *g = b->g;
    const int n = g->axes[b->axis.s].n, most = b->c->window / 2;
    const Dims pairs = DIMS(b->axis.s, b->axis.r);
    float *cell = arena_alloc(&g->arena, size_mul(size_mul((size_t)n, (size_t)n), sizeof *cell)),
          *own = arena_alloc(&g->arena, size_mul(size_mul((size_t)n, (size_t)n), sizeof *own));
    for (int t = 0; t < n; t++) {
        own[t * n + t] = 1;
        for (int u = 0; u < n; u++)
            cell[t * n + u] = t - u <= most && u - t <= most;
    }
    NodeId window = graph_leaf(g, "window_mask", pairs, (Leaf){LEAF_CONST, cell, "1 where a token is in the window"});
    if (b->padding == NO_NODE)
        return window;
    NodeId itself = graph_leaf(g, "window_own", pairs, (Leaf){LEAF_CONST, own, "1 for the token itself"});
    return graph_where(g, "window_seen", b->padding, window, itself);
}

void text_masks(TextBuilder *b, Seq2seqNodes *nodes)
{
    Graph *g = b->g;
    if (seq2seq_has_encoder(b->c) && (b->padding_in || b->texts)) {
        graph_scope(g, "encoder");
        b->padding = graph_leaf(g, "padding", nn_dims(b->axis.b, DIMS(b->axis.r)),
                                (Leaf){LEAF_INPUT, b->texts ? b->zeros : b->padding_in, "1 for a word, 0 for padding"});
        nodes->padding = b->padding;
    }
    if (!seq2seq_has_decoder(b->c) && b->c->window) {
        graph_scope(g, "encoder");
        b->windowed = window_around(b);
    }
    if (!seq2seq_has_decoder(b->c) || !b->target.n)
        return;
    graph_scope(g, "decoder");
    b->causal = mask(b, "causal_mask", 0, "1 where a token is not later than the one that asks");
    if (b->c->window)
        b->windowed = mask(b, "window_mask", b->c->window, "1 where a token is not later and not outside the window");
}
