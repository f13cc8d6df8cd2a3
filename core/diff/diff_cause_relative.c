/* Mistakes with positions inside attention: RoPE that is paired or counted otherwise, and biases for the distance of
 * two tokens: learned ones, by ranges, with ALiBi's slopes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/diff/diff_trial.h"

#define ROPE_PAIR_NEIGHBOURS                                                                                           \
    "the recording rotates neighbours together (interleaved), here number e goes with e + E/2 (rotate-half)"
#define ROPE_PAIR_HALVES                                                                                               \
    "the recording rotates number e with e + E/2 (rotate-half), here neighbours go together (interleaved)"

/* cos and sin over [t,e] and the partner of every number, as vit_embed.c has them, for another configuration. */
typedef enum RopeTokens {
    PATCHES,
    FROM_FIRST,      /* all tokens have an angle, one behind the other; */
    FROM_REGISTERS,  /* … from the registers on; */
    FIRST_TWICE,     /* those in front have that of the first patch; */
    REGISTERS_TWICE, /* … the registers alone */
} RopeTokens;

static void make_tables(Trial *t, const VitConfig *c, RopeTokens rotated, bool backwards, const float **cosine,
                        const float **sine, const int **partner)
{
    int prefix = vit_prefix(c), tokens = vit_tokens(c), e = c->head_dim, patches = vit_patches(c),
        registers = prefix - c->registers; /* where they begin */
    size_t cells = size_mul((size_t)tokens, (size_t)e);
    float *co = arena_alloc(&t->arena, size_mul(cells, sizeof *co)),
          *si = arena_alloc(&t->arena, size_mul(cells, sizeof *si));
    int *other = arena_alloc(&t->arena, size_mul((size_t)e, sizeof *other));
    for (int k = 0; k < tokens; k++)
        for (int pair = 0; pair < e / 2; pair++) {
            const int start = rotated == FROM_FIRST ? 0 : rotated == FROM_REGISTERS ? registers : prefix;
            const bool twice = rotated == FIRST_TWICE || (rotated == REGISTERS_TWICE && k >= registers);
            int first, second, patch = twice && k < start ? 0 : k - start;
            double angle = patch < 0 || patch >= patches ? 0 : vit_rope_angle(c, patch, pair);
            float *at = co + (size_t)k * (size_t)e, *across = si + (size_t)k * (size_t)e;
            vit_rope_pair(c, pair, &first, &second);
            at[first] = at[second] = (float)dm_cos(angle);
            across[second] = (float)dm_sin(backwards ? -angle : angle);
            across[first] = -across[second];
            other[first] = second;
            other[second] = first;
        }
    *cosine = co;
    *sine = si;
    *partner = other;
}

void trial_rope_tables(Trial *t, const VitConfig *c, const float **cosine, const float **sine, const int **partner)
{
    make_tables(t, c, PATCHES, false, cosine, sine, partner);
}

/* Which of ours stands for the rotations otherwise: q_swapped is q with the two numbers of each pair exchanged. */
static void add_pairs(Trial *t, const char *name, const char *from, const int *partner)
{
    const Graph *g = t->s->graph;
    for (NodeId n = trial_find(t, name, 0); n != NO_NODE; n = trial_find(t, name, n + 1)) {
        const char *path = graph_node(g, n)->path;
        Dims d = graph_node(g, n)->dims;
        trial_add(t, EDIT_REDIRECT, path)->other = block_path(&t->arena, path, from);
        Edit *e = trial_add(t, EDIT_GATHER, path);
        e->axis = d.axis[d.n - 1];
        e->index = partner;
    }
}

static void attempt_rope(Trial *t, const VitConfig *c, RopeTokens rotated, bool backwards, const char *text)
{
    const VitConfig *own = t->s->config;
    const float *cosine, *sine;
    const int *partner;
    if (trial_find(t, "rope_cos", 0) == NO_NODE || trial_find(t, "rope_sin", 0) == NO_NODE)
        return;
    make_tables(t, c, rotated, backwards, &cosine, &sine, &partner);
    trial_begin(t);
    trial_add(t, EDIT_VALUES, "rope_cos")->data = cosine;
    trial_add(t, EDIT_VALUES, "rope_sin")->data = sine;
    if (c->rope_half != own->rope_half) {
        add_pairs(t, "attn.q_swapped", "attn.q", partner);
        add_pairs(t, "attn.k_swapped", "attn.k", partner);
    }
    trial_attempt(t, "%s", text);
}

/* --- …with learned frequencies --- */

/* rope_places[t,a] otherwise: the coordinates exchanged, shifted, negative, or of tokens of prefix too. */
static void attempt_places(Trial *t, bool exchanged, int more, bool prefix_too, int sign, const char *text)
{
    const VitConfig *c = t->s->config;
    int tokens = vit_tokens(c), prefix = prefix_too ? 0 : vit_prefix(c), at[2];
    float *places = arena_alloc(&t->arena, size_mul((size_t)tokens, 2 * sizeof *places));
    for (int k = 0; k < tokens; k++) {
        int patch = k - prefix;
        at[0] = at[1] = 0;
        if (patch >= 0 && patch < vit_patches(c))
            vit_rope_place(c, patch, at);
        for (int i = 0; i < 2; i++)
            places[2 * k + i] = patch < 0 ? 0 : (float)(sign * (at[exchanged ? !i : i] + more));
    }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, "rope_places")->data = places;
    trial_attempt(t, "%s", text);
}

/* Block i rotates by the frequencies of block i + by, or of block `all` where that is one. */
static void attempt_frequencies(Trial *t, int all, int by, const char *text)
{
    const VitConfig *c = t->s->config;
    NodeId n = trial_find(t, "rope.freqs", 0);
    if (n == NO_NODE || c->layers < 2)
        return;
    const float *own = graph_node(t->s->graph, n)->leaf.data;
    size_t each = (size_t)c->heads * (size_t)(c->head_dim / 2), layers = (size_t)c->layers;
    float *f = arena_alloc(&t->arena, size_mul(graph_cells(t->s->graph, n), sizeof *f));
    for (size_t a = 0; a < 2; a++)
        for (size_t i = 0; i < layers; i++) {
            size_t from = all >= 0 ? (size_t)all : (i + layers + (size_t)by) % layers;
            memcpy(f + (a * layers + i) * each, own + (a * layers + from) * each, each * sizeof *f);
        }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, "rope.freqs")->data = f;
    trial_attempt(t, "%s", text);
}

/* cos and sin of a pair stand where its two numbers do. */
static void add_moved(Trial *t, const char *name, const int *from)
{
    const Graph *g = t->s->graph;
    for (NodeId n = trial_find(t, name, 0); n != NO_NODE; n = trial_find(t, name, n + 1)) {
        Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, n)->path);
        e->axis = graph_node(g, n)->dims.axis[graph_node(g, n)->dims.n - 1];
        e->index = from;
    }
}

static void attempt_other_pairs(Trial *t, const char *text)
{
    VitConfig c = *t->s->config;
    size_t e = (size_t)c.head_dim;
    int *partner = arena_alloc(&t->arena, size_mul(e, sizeof *partner)),
        *from = arena_alloc(&t->arena, size_mul(e, sizeof *from));
    for (int pair = 0, first, second, own_first, own_second; pair < c.head_dim / 2; pair++) {
        vit_rope_pair(t->s->config, pair, &own_first, &own_second);
        c.rope_half = !t->s->config->rope_half;
        vit_rope_pair(&c, pair, &first, &second);
        partner[first] = second;
        partner[second] = first;
        from[first] = own_first;
        from[second] = own_second;
    }
    trial_begin(t);
    add_moved(t, "attn.cos_each", from);
    add_moved(t, "attn.sin_signed", from);
    add_pairs(t, "attn.q_swapped", "attn.q", partner);
    add_pairs(t, "attn.k_swapped", "attn.k", partner);
    trial_attempt(t, "%s", text);
}

static void attempt_learned_rope(Trial *t)
{
    const VitConfig *own = t->s->config;
    attempt_other_pairs(t, own->rope_half ? ROPE_PAIR_NEIGHBOURS : ROPE_PAIR_HALVES);
    attempt_places(t, true, 0, false, 1, "the recording's learned rotations exchange rows and columns");
    attempt_places(t, false, 0, false, -1, "the recording rotates q and k in the opposite direction");
    attempt_places(t, false, 0, true, 1,
                   "the recording rotates the prefix tokens too, and the patches by positions that follow theirs");
    attempt_places(t, false, 1, false, 1, "the recording counts the rows and columns of its rotations one too high");
    attempt_frequencies(t, 0, 0, "the recording rotates q and k of every block by the frequencies learned for block 0");
    attempt_frequencies(t, own->layers - 1, 0,
                        "the recording rotates q and k of every block by the frequencies learned for the last block");
    attempt_frequencies(t, -1, 1,
                        "the recording rotates q and k of a block by the frequencies learned for the next one");
    attempt_frequencies(t, -1, -1,
                        "the recording rotates q and k of a block by the frequencies learned for the one before");
}

void trial_rope(Trial *t)
{
    static const float BASES[] = {10, 50, 100, 500, 1000, 10000, 100000};
    const VitConfig *own = t->s->config;
    char text[DIFF_WORDS];
    if (own->rope == VIT_ROPE_LEARNED) {
        attempt_learned_rope(t);
        return;
    }
    VitConfig c = *own;
    c.rope_half = !own->rope_half;
    attempt_rope(t, &c, PATCHES, false, own->rope_half ? ROPE_PAIR_NEIGHBOURS : ROPE_PAIR_HALVES);
    c = *own;
    c.rope_cols_first = !own->rope_cols_first;
    attempt_rope(t, &c, PATCHES, false,
                 own->rope_cols_first
                     ? "the recording rotates the first half of a head by the row, here by the column"
                     : "the recording rotates the first half of a head by the column, here by the row");
    attempt_rope(t, own, PATCHES, true, "the recording rotates q and k in the opposite direction");
    attempt_rope(t, own, FROM_FIRST, false,
                 "the recording rotates the prefix tokens too, and the patches by positions that follow theirs");
    attempt_rope(t, own, FIRST_TWICE, false, "the recording rotates the prefix tokens too, as it does the first patch");
    if (own->registers && own->registers < vit_prefix(own)) {
        attempt_rope(t, own, FROM_REGISTERS, false,
                     "the recording rotates the registers too, and the patches by positions that follow theirs");
        attempt_rope(t, own, REGISTERS_TWICE, false,
                     "the recording rotates the registers too, as it does the first patch");
    }
    for (size_t i = 0; i < sizeof BASES / sizeof *BASES; i++) {
        c = *own;
        c.rope_base = BASES[i];
        snprintf(text, sizeof text, "the recording's rotations have base %g, here it is %g", (double)BASES[i],
                 (double)own->rope_base);
        if (BASES[i] < own->rope_base || BASES[i] > own->rope_base)
            attempt_rope(t, &c, PATCHES, false, text);
    }
    c = *own;
    c.rope = own->rope == VIT_ROPE_CENTRES ? VIT_ROPE_STEPS : VIT_ROPE_CENTRES;
    attempt_rope(t, &c, PATCHES, false,
                 own->rope == VIT_ROPE_CENTRES
                     ? "the recording's rotations count patches, here they use the centres from −1 to 1"
                     : "the recording's rotations use the patches' centres from −1 to 1, here they count patches");
    for (int k = 0; k < 2 && own->rope == VIT_ROPE_STEPS; k++) {
        c = *own;
        c.rope_ref_h = k ? 16 : 0;
        c.rope_ref_w = k ? 16 : 0;
        if (c.rope_ref_h != own->rope_ref_h || c.rope_ref_w != own->rope_ref_w)
            attempt_rope(t, &c, PATCHES, false,
                         k ? "the recording's rotations are scaled to a grid of 16 × 16"
                           : "the recording's rotations are not scaled to the grid that they were made for");
        c = *own;
        c.rope_offset = own->rope_offset + (k ? 1.0f : -1.0f);
        attempt_rope(t, &c, PATCHES, false,
                     k ? "the recording counts the rows and columns of its rotations one too high"
                       : "the recording counts the rows and columns of its rotations one too low");
    }
}

/* --- biases for relative positions --- */

/* The biases of the stretch: one for every block, or one for all of them. */
static NodeId next_bias(const Trial *t, NodeId from)
{
    const VitConfig *c = t->s->config;
    NodeId n = trial_find(t, c->bias == VIT_BIAS_SHARED ? "rel_bias" : "attn.bias", from);
    return n != NO_NODE && graph_node(t->s->graph, n)->op == OP_VIEW ? n : NO_NODE;
}

static void attempt_transposed(Trial *t)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = next_bias(t, 0); n != NO_NODE; n = next_bias(t, n + 1)) {
        Dims d = graph_node(g, n)->dims; /* [h,t,u] */
        size_t heads = (size_t)g->axes[d.axis[0]].n, tokens = (size_t)g->axes[d.axis[1]].n;
        const float *own = run_need(t->s->run, n);
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out));
        for (size_t h = 0; h < heads; h++)
            for (size_t k = 0; k < tokens; k++)
                for (size_t u = 0; u < tokens; u++)
                    out[(h * tokens + k) * tokens + u] = own[(h * tokens + u) * tokens + k];
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    }
    trial_attempt(t, "the recording's relative position bias is transposed: query and key are exchanged");
}

static void attempt_times(Trial *t, float factor, const char *text)
{
    trial_begin(t);
    for (NodeId n = next_bias(t, 0); n != NO_NODE; n = next_bias(t, n + 1))
        trial_add(t, EDIT_SCALE, graph_node(t->s->graph, n)->path)->factor = factor;
    trial_attempt(t, "%s", text);
}

void trial_bias(Trial *t)
{
    attempt_transposed(t);
    attempt_times(t, t->size.scale, "the recording adds the relative position bias before the scale, not after it");
    attempt_times(t, -1, "the recording subtracts the relative position bias");
    attempt_times(t, 2, "the recording adds the relative position bias twice");
}

/* --- ranges of distance --- */

/* A stack's biases by ranges that are told apart otherwise. */
static void attempt_ranges(Trial *t, bool decoder, bool one_sided, bool mirrored, const char *said)
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
                *at++ = bias[h * c->distances + seq2seq_distance_row(c, one_sided, mirrored ? -behind : behind)];
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

/* --- ALiBi --- */

typedef double Slope(int heads, int h, double most);

static double slope_of_power(int heads, int h, double most)
{
    int power = 1;
    while (power < heads)
        power *= 2;
    return seq2seq_alibi_slope(power, h, most);
}
static double slope_of_count(int heads, int h, double most)
{
    return dm_pow(2, -most * (h + 1) / heads);
}
static double slope_backwards(int heads, int h, double most)
{
    return seq2seq_alibi_slope(heads, heads - 1 - h, most);
}
static double slope_rising(int heads, int h, double most)
{
    return -seq2seq_alibi_slope(heads, h, most);
}
static double slope_of_paper(int heads, int h, double most)
{
    (void)most;
    return seq2seq_alibi_slope(heads, h, 8);
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
        {slope_of_paper, "the recording's ALiBi slopes reach 2^(−8), whatever alibi_bias_max says"},
    };
    const Graph *g = t->s->graph;
    NodeId n = trial_find(t, "alibi", 0);
    if (n == NO_NODE || graph_node(g, n)->op != OP_LEAF)
        return;
    Dims d = graph_node(g, n)->dims; /* [h,t,u] */
    int heads = g->axes[d.axis[0]].n;
    const double most = seq2seq_alibi_most(t->s->text);
    size_t each = graph_cells(g, n) / (size_t)heads;
    for (size_t k = 0; k < sizeof SLOPES / sizeof *SLOPES; k++) {
        ArenaMark mark = arena_mark(&t->arena);
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out));
        bool other = false;
        for (size_t i = 0; i < graph_cells(g, n); i++) {
            int h = (int)(i / each);
            double own = (double)graph_node(g, n)->leaf.data[i], slope = seq2seq_alibi_slope(heads, h, most);
            out[i] = (float)(own / slope * SLOPES[k].slope(heads, h, most));
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
