/* Mistakes of an encoder with a decoder, what the one hands to the other, and of what is added to a score for the
 * distance of two tokens: ranges, ALiBi's slopes. */
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/diff/diff_trial.h"
#include "core/graph/anatomy.h"

/* What cross-attention looks at, from somewhere else in the encoder. */
void trial_memory(Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId in = trial_find(t, "cross_attn.in", 0), out[2] = {NO_NODE, NO_NODE}; /* of the last two blocks */
    if (in == NO_NODE)
        return;
    NodeId memory = graph_node(g, in)->in[0];
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_BLOCK)) != NO_PART;)
        if (strcmp(anatomy_part(g, p)->stack, "encoder") == 0) {
            out[0] = out[1];
            out[1] = site_node(g, p, SITE_BLOCK_OUT);
        }
    for (int k = 0; k < 2; k++) {
        if (out[k] == NO_NODE || out[k] == memory)
            continue;
        trial_begin(t);
        trial_add(t, EDIT_REDIRECT, graph_node(g, memory)->path)->other = graph_node(g, out[k])->path;
        trial_attempt(t, "%s",
                      k ? "the recording's decoder looks at the encoder's tokens before their final norm"
                        : "the recording's decoder looks at the encoder's tokens one block too early");
    }
}

/* A stack's biases by ranges that are told apart otherwise. */
static void attempt_ranges(Trial *t, bool decoder, bool one_sided, bool turned, const char *said)
{
    const Graph *g = t->s->graph;
    const Seq2seqConfig *c = t->s->text;
    NodeId n = graph_find(g, decoder ? "decoder.distance" : "encoder.distance"),
           table = graph_find(g, decoder ? "decoder.distance.weight" : "encoder.distance.weight");
    if (n == NO_NODE || table == NO_NODE)
        return;
    Dims d = graph_node(g, n)->dims; /* [h,t,u] */
    const float *bias = graph_node(g, table)->leaf.data;
    const int queries = g->axes[d.axis[1]].n, keys = g->axes[d.axis[2]].n;
    float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out)), *at = out;
    for (int h = 0; h < g->axes[d.axis[0]].n; h++)
        for (int i = 0; i < queries; i++)
            for (int k = 0; k < keys; k++) {
                int behind = k - (keys - queries) - i;
                *at++ = bias[h * c->distances + seq2seq_distance_row(c, one_sided, turned ? -behind : behind)];
            }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    trial_attempt(t, "%s", said);
}

void trial_ranges(Trial *t)
{
    const Graph *g = t->s->graph;
    if (!t->s->text->distances)
        return;
    attempt_ranges(t, true, false, false,
                   "the recording's decoder has ranges of distance for both sides, as its encoder; here all are for "
                   "words before");
    attempt_ranges(
        t, false, true, false,
        "the recording's encoder has ranges of distance for one side, as its decoder; here half are for words "
        "behind");
    attempt_ranges(t, false, false, true,
                   "the recording's encoder takes the ranges of distance of words before for those behind");
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.scores_biased", 0); n != NO_NODE;
         n = trial_find(t, "attn.scores_biased", n + 1)) {
        const char *path = graph_node(g, n)->path;
        NodeId plain = strstr(path, "blocks.0.") ? NO_NODE : trial_beside(t, path, "attn.scores_scaled");
        if (plain != NO_NODE)
            trial_add(t, EDIT_REDIRECT, path)->other = graph_node(g, plain)->path;
    }
    if (t->mistake_count)
        trial_attempt(t, "the recording adds its bias for ranges of distance in the first block alone");
}

typedef double Slope(int heads, int h);

static double slope_of_power(int heads, int h)
{
    int power = 1;
    while (power < heads)
        power *= 2;
    return seq2seq_alibi_slope(power, h);
}
static double slope_of_count(int heads, int h)
{
    return dm_pow(2, -8.0 * (h + 1) / heads);
}
static double slope_backwards(int heads, int h)
{
    return seq2seq_alibi_slope(heads, heads - 1 - h);
}
static double slope_rising(int heads, int h)
{
    return -seq2seq_alibi_slope(heads, h);
}

/* Biases that fall with the distance, by other slopes. */
void trial_slopes(Trial *t)
{
    static const struct {
        Slope *slope;
        const char *said;
    } SLOPES[] = {
        {slope_of_power, "the recording's ALiBi slopes are the first ones of the next power of two"},
        {slope_of_count, "the recording's ALiBi slopes are 2^(−8(h+1)/H), which holds where H is a power of two"},
        {slope_backwards, "the recording's ALiBi slopes go to the heads in the opposite order"},
        {slope_rising, "the recording's ALiBi bias grows with the distance: its sign is wrong"},
    };
    const Graph *g = t->s->graph;
    NodeId n = trial_find(t, "alibi", 0);
    if (n == NO_NODE || graph_node(g, n)->op != OP_LEAF)
        return;
    Dims d = graph_node(g, n)->dims; /* [h,t,u] */
    int heads = g->axes[d.axis[0]].n;
    size_t each = graph_cells(g, n) / (size_t)heads;
    for (size_t k = 0; k < sizeof SLOPES / sizeof *SLOPES; k++) {
        ArenaMark mark = arena_mark(&t->arena);
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out));
        bool other = false;
        for (size_t i = 0; i < graph_cells(g, n); i++) {
            int h = (int)(i / each);
            double own = (double)graph_node(g, n)->leaf.data[i], slope = seq2seq_alibi_slope(heads, h);
            out[i] = (float)(own / slope * SLOPES[k].slope(heads, h));
            other = other || (double)out[i] > own || (double)out[i] < own;
        }
        trial_begin(t);
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
        if (other)
            trial_attempt(t, "%s", SLOPES[k].said);
        if (!other)
            arena_rewind(&t->arena, mark);
    }
}
