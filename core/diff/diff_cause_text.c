/* Mistakes in models of words that are another setting of the same weights: rotary positions, windows, the order of
 * attention and MLP, caps, the norm's 1 + γ. The model is built once more with that setting; what the reference has
 * before the target is put into it, and the target must follow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

/* --- the settings --- */

/* Windows repeat after so many blocks: every block gets what the one behind it has. */
static void windows_one_earlier(Seq2seqConfig *c)
{
    const Seq2seqConfig own = *c;
    const int layers = c->decoder_layers ? c->decoder_layers : c->encoder_layers;
    int every = 1;
    for (int i = 0; i + every < layers; i++)
        if (seq2seq_windowed(c, i) != seq2seq_windowed(c, i + every)) {
            every++;
            i = -1;
        }
    for (int i = 0; i < layers; i++) {
        const uint32_t bit = (uint32_t)1 << i % 32;
        c->windowed[i / 32] = (c->windowed[i / 32] & ~bit) | (seq2seq_windowed(&own, (i + 1) % every) ? bit : 0);
    }
}

static void windows_elsewhere(Seq2seqConfig *c)
{
    for (size_t i = 0; i < sizeof c->windowed / sizeof *c->windowed; i++)
        c->windowed[i] = ~c->windowed[i];
}

static void positions_from(Seq2seqConfig *c, int row)
{
    c->positions += c->first_position - row;
    c->first_position = row;
}

/* A text that dynamic scaling allows is no longer than may be without it. */
static void unscaled(Seq2seqConfig *c)
{
    c->positions = c->rope.scaling == ROPE_DYNAMIC ? 0 : c->positions;
    c->rope.scaling = ROPE_AS_TRAINED;
    c->rope.stretch = 0;
}

/* A factor below 1 is no rope_scaling: each pair gets a divisor of its own. */
static void multiplied(Seq2seqConfig *c)
{
    c->rope.scaling = ROPE_LONG;
    c->rope.stretch = 0;
    c->rope.trained = (float)seq2seq_longest(c);
    c->rope.stretch = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < seq2seq_rope_pairs(c) && k < ROPE_PAIRS_MOST; k++)
            c->rope.divisors[i][k] = 1 / c->rope.factor;
}

/* Is another part of a head turned than one of so many, which can be? */
static bool turns_no(const Seq2seqConfig *c, int part)
{
    return c->head_dim % (2 * part) == 0 && 2 * seq2seq_rope_pairs(c) != c->head_dim / part;
}

#define IS_ROPE c->pos == SEQ2SEQ_POS_ROPE
#define IS_FACTOR (c->rope.scaling == ROPE_LINEAR || c->rope.scaling == ROPE_LLAMA3 || c->rope.scaling == ROPE_YARN)
/* X(name, of which models it says something, what is set, what is said) */
#define SETTINGS(X)                                                                                                    \
    X(halves, IS_ROPE, c->rope.half = true,                                                                            \
      "the recording rotates number e of a head with e + E/2 (rotate-half), here neighbours go together")              \
    X(neighbours, IS_ROPE, c->rope.half = false,                                                                       \
      "the recording rotates neighbours together (interleaved), here number e goes with e + E/2")                      \
    X(whole_head, IS_ROPE, c->rope.width = 0,                                                                          \
      "the recording rotates all numbers of a head, here the first ones alone")                                        \
    X(half_head, IS_ROPE && c->head_dim % 4 == 0 && c->rope.width != c->head_dim / 2, c->rope.width = c->head_dim / 2, \
      "the recording rotates the first half of a head alone")                                                          \
    X(quarter_head, IS_ROPE &&turns_no(c, 4), c->rope.width = c->head_dim / 4,                                         \
      "the recording rotates the first quarter of a head alone")                                                       \
    X(unscaled, IS_ROPE, unscaled(c), "the recording's rotary frequencies are as trained: rope_scaling is left out")   \
    X(scaled_alike, c->rope.scaling == ROPE_LLAMA3 || c->rope.scaling == ROPE_YARN,                                    \
      (c->rope.scaling = ROPE_LINEAR, c->rope.stretch = 0),                                                            \
      "the recording divides all rotary frequencies by the factor of rope_scaling, here the slow ones")                \
    X(multiplied, c->rope.factor > 0 && IS_FACTOR, multiplied(c),                                                      \
      "the recording multiplies positions by the factor of rope_scaling instead of dividing by it")                    \
    X(unstretched, c->rope.stretch > 0, c->rope.stretch = 0,                                                           \
      "the recording does not stretch cos and sin, as YaRN and LongRoPE do")                                           \
    X(short_factors, c->rope.scaling == ROPE_LONG,                                                                     \
      memcpy(c->rope.divisors[1], c->rope.divisors[0], sizeof c->rope.divisors[0]),                                    \
      "the recording divides rotary frequencies by short_factor in a long text too")                                   \
    X(one_base, c->rope.local_base > 0, c->rope.local_base = 0,                                                        \
      "the recording rotates by one base in all blocks, here blocks with a window have one of their own")              \
    X(local_everywhere, c->rope.local_base > 0,                                                                        \
      (c->rope.base = c->rope.local_base, c->rope.local_base = 0, c->rope.scaling = ROPE_AS_TRAINED,                   \
       c->rope.stretch = 0),                                                                                           \
      "the recording rotates by the base of blocks with a window everywhere")                                          \
    X(window_longer, c->window, c->window += seq2seq_window_sides(c), "the recording's window is one token longer")    \
    X(window_shorter, c->window > seq2seq_window_sides(c), c->window -= seq2seq_window_sides(c),                       \
      "the recording's window is one token shorter")                                                                   \
    X(window_to_either_side, seq2seq_window_sides(c) > 1, c->window *= 2,                                              \
      "the recording's window reaches as far to either side as it is wide here, from end to end")                      \
    X(no_window, c->window, memset(c->windowed, 0, sizeof c->windowed), "the recording has no window")                 \
    X(windows_everywhere, c->window, memset(c->windowed, 0xff, sizeof c->windowed),                                    \
      "the recording has a window in every block")                                                                     \
    X(windows_elsewhere, c->window, windows_elsewhere(c), "the recording has its windows in the other blocks")         \
    X(windows_one_earlier, c->window, windows_one_earlier(c),                                                          \
      "the recording counts blocks otherwise: every block has the window of the one behind it")                        \
    X(one_after_the_other, c->parallel == PARALLEL_TWO_NORMS, c->parallel = PARALLEL_NOT,                              \
      "the recording's MLP reads what attention has added, here both read the block's input")                          \
    X(side_by_side, c->parallel == PARALLEL_NOT && c->pre_norm && !c->after_norm, c->parallel = PARALLEL_TWO_NORMS,    \
      "the recording's attention and MLP both read the block's input, here one follows the other")                     \
    X(plain_gamma, c->gamma_plus, c->gamma_plus = false, "the recording's RMSNorm multiplies by γ, not by 1 + γ")      \
    X(plus_gamma, !c->gamma_plus && c->rms_norm, c->gamma_plus = true,                                                 \
      "the recording's RMSNorm multiplies by 1 + γ, not by γ")                                                         \
    X(embedded_twice, true, c->embed_scale *= c->embed_scale,                                                          \
      "the recording multiplies the embeddings by their factor twice")                                                 \
    X(embeddings_scaled, c->embed_scale <= 1 && c->embed_scale >= 1, c->embed_scale = seq2seq_root(c->width, false),   \
      "the recording multiplies the embeddings by √d_model")                                                           \
    X(no_score_cap, true, c->score_cap = 0, "the recording does not cap the scores")                                   \
    X(no_logit_cap, true, c->logit_cap = 0, "the recording does not cap the logits")                                   \
    X(no_caps, true, c->score_cap = c->logit_cap = 0, "the recording caps neither scores nor logits")                  \
    X(no_sinks, c->sinks, c->sinks = false, "the recording's softmax leaves the heads' learned sinks out")             \
    X(no_head_norm, true, c->head_norm = HEAD_NORM_NONE, "the recording does not normalise queries and keys")          \
    X(no_embed_norm, true, c->embed_norm = false, "the recording does not normalise the embeddings")                   \
    X(no_after_norm, c->after_norm && c->pre_norm, c->after_norm = false,                                              \
      "the recording has no norm after attention and MLP")                                                             \
    X(pooled_first, c->sentence == SENTENCE_MEAN, c->sentence = SENTENCE_FIRST,                                        \
      "the recording's vector of the text is the first token's, here the mean of all")                                 \
    X(pooled_mean, c->sentence == SENTENCE_FIRST, c->sentence = SENTENCE_MEAN,                                         \
      "the recording's vector of the text is the mean of all tokens, here the first one's")                            \
    X(from_row_0, c->learned_positions && c->first_position != 0, positions_from(c, 0),                                \
      "the recording takes its position embeddings from row 0 on")                                                     \
    X(from_row_1, c->learned_positions && c->first_position != 1, positions_from(c, 1),                                \
      "the recording takes its position embeddings from row 1 on")                                                     \
    X(answer_unscaled, c->read_scale > 0, c->read_scale = 0,                                                           \
      "the recording reads the answer without the factor 1/√d_model")                                                  \
    X(cross_keys_of_target, true, c->cross_own = true,                                                                 \
      "the recording's cross-attention takes its keys and values from the decoder, not from the memory")               \
    X(waves_in_turn, c->halves, c->halves = false,                                                                     \
      "the recording's positions have sine and cosine in turn, here all sines come first")                             \
    X(waves_by_halves, c->pos == SEQ2SEQ_POS_ADDED && !c->learned_positions && !c->halves, c->halves = true,           \
      "the recording's positions have all sines first, here sine and cosine come in turn")                             \
    X(from_row_2, c->learned_positions && c->first_position != 2, positions_from(c, 2),                                \
      "the recording takes its position embeddings from row 2 on")

#define X(name, of, set, said)                                                                                         \
    static bool set_##name(Seq2seqConfig *c)                                                                           \
    {                                                                                                                  \
        if (!(of))                                                                                                     \
            return false;                                                                                              \
        set;                                                                                                           \
        return true;                                                                                                   \
    }
SETTINGS(X)
#undef X
static const struct {
    bool (*set)(Seq2seqConfig *c);
    const char *name, *said;
} SETTING[] = {
#define X(name, of, set, said) {set_##name, #name, said},
    SETTINGS(X)
#undef X
};

/* All of the first segment, or two where the text has one: the second begins behind what ends the text as well. */
static void attempt_segments(Trial *t)
{
    const Seq2seqConfig *own = t->s->text;
    const int *kind = trial_segments(t);
    const Seq2seqText words = trial_words(t, "encoder.tokens");
    char text[DIFF_WORDS];
    if (!kind || own->segments < 2)
        return;
    snprintf(t->id, sizeof t->id, "settings:segments");
    trial_reading(t, own, &(TrialReads){.beyond = -1, .segments = true},
                  "the recording takes every token as one of the first segment");
    for (int i = 1; i < words.n && !kind[words.n - 1]; i++) {
        snprintf(text, sizeof text,
                 "the recording reads two segments, the second from token %d on: its token_type_ids are not in it", i);
        if (words.word[i - 1] == words.word[words.n - 1])
            trial_reading(t, own, &(TrialReads){.beyond = -1, .segments = true, .second = i}, text);
    }
}

/* Other words than the numbers say: the vocabulary is rolled, or the text. What stands where the text has no word may
 * be any of the special ones, which have small numbers. */
static void attempt_words(Trial *t)
{
    static const int BEYOND[] = {-1, 0, 1, 2, 3, -2};
    static const char *const LATE[] = {
        "the recording reads the text one token late: each place has its predecessor",
        "the recording's encoder reads the text one token late: each place has its predecessor",
        "the recording reads the text one token further on: each place has its successor",
        "the recording's encoder reads the text one token further on: each place has its successor"};
    const Seq2seqConfig *own = t->s->text;
    const int words = seq2seq_answer_words(own), both = own->encoder_layers && own->decoder_layers;
    snprintf(t->id, sizeof t->id, "settings:vocabulary");
    trial_reading(t, own, &(TrialReads){.beyond = -1, .roll = 1},
                  "the recording's vocabulary is rolled: it embeds the word behind each of these");
    trial_reading(t, own, &(TrialReads){.beyond = -1, .roll = -1},
                  "the recording's vocabulary is rolled: it embeds the word before each of these");
    snprintf(t->id, sizeof t->id, "settings:shifted");
    for (size_t i = 0; i < sizeof BEYOND / sizeof *BEYOND; i++)
        for (int way = 0; way < 4 && BEYOND[i] < words; way++)
            if (both || way % 2 == 0)
                trial_reading(t, own, &(TrialReads){.beyond = BEYOND[i], .source = way % 2, .shift = way / 2 ? 1 : -1},
                              LATE[way]);
}

/* --- another number of heads, where they are more than plain ones (trial_head_counts): turned, with a slope each, or
 * on keys that they share --- */

/* The same weights for so many heads; share: as large a part of a head is turned, else as many of its numbers. False
 * where there can be none: keys that fill no head, weights that are as long as a head is wide. */
static bool set_heads(Seq2seqConfig *c, int heads, bool share)
{
    const Seq2seqConfig own = *c;
    const int all = own.heads * own.head_dim, keys = seq2seq_key_heads(&own) * own.head_dim, width = all / heads;
    if (heads == own.heads || all % heads || keys % width)
        return false;
    c->heads = heads;
    c->head_dim = width;
    c->key_heads = own.key_heads ? keys / width : 0;
    if (dm_abs((double)own.scale * dm_sqrt((double)own.head_dim) - 1) < 1e-5)
        c->scale = seq2seq_root(width, true);
    if (share)
        c->rope.width = own.rope.width * width / own.head_dim;
    for (Seq2seqRole r = 0; r < SEQ2SEQ_ROLES; r++)
        if (seq2seq_role_count(&own, r) && seq2seq_role_cells(c, r) != seq2seq_role_cells(&own, r))
            return false;
    return true;
}

/* Rows of q, k and v of a block as other heads cut them out of the fused ones, (h qkv e), `row` cells each. */
static void recut(Trial *t, const Seq2seqConfig *c, WeightTensor *const of[3], size_t row)
{
    const size_t own = (size_t)t->s->text->head_dim, width = (size_t)c->head_dim, all = (size_t)c->heads * width;
    const float *from[3];
    float *to[3];
    for (int i = 0; i < 3; i++) {
        from[i] = weight_all_floats(of[i], all * row, &t->arena);
        to[i] = arena_alloc(&t->arena, size_mul(size_mul(all, row), sizeof *to[i]));
    }
    for (size_t i = 0; i < 3 * all; i++) {
        const size_t h = i / (3 * width), at = h * width + i % width, here = i / (3 * own) * own + i % own;
        memcpy(to[i / width % 3] + at * row, from[i / own % 3] + here * row, row * sizeof *to[0]);
    }
    for (int i = 0; i < 3; i++)
        *of[i] = (WeightTensor){.data = to[i], .origin = of[i]->origin};
}

/* Another number of heads cuts what is stored head by head into other queries, keys and values too. */
static void attempt_recut(Trial *t, const Seq2seqConfig *c, const char *text)
{
    static const Seq2seqRole PARTS[][3] = {{SEQ2SEQ_DEC_W_Q, SEQ2SEQ_DEC_W_K, SEQ2SEQ_DEC_W_V},
                                           {SEQ2SEQ_DEC_B_Q, SEQ2SEQ_DEC_B_K, SEQ2SEQ_DEC_B_V}};
    enum { CELLS_MOST = 1 << 27 }; /* they are copied */
    const DiffSubject *own = t->s;
    const size_t entries = seq2seq_weights_count(own->text),
                 cells = seq2seq_role_cells(c, SEQ2SEQ_DEC_W_Q) * (size_t)c->decoder_layers;
    if (t->stopped || seq2seq_key_heads(c) != c->heads || !c->decoder_layers || 3 * cells > CELLS_MOST)
        return;
    ArenaMark mark = arena_mark(&t->arena);
    Weights cut = {arena_alloc(&t->arena, size_mul(entries, sizeof *cut.at))};
    DiffSubject other = *own;
    memcpy(cut.at, own->weights->at, entries * sizeof *cut.at);
    for (int l = 0; l < c->decoder_layers; l++)
        for (int k = 0; k < 1 + c->qkv_bias; k++) {
            WeightTensor *of[3];
            for (int i = 0; i < 3; i++)
                of[i] = seq2seq_weight(c, &cut, PARTS[k][i], l);
            recut(t, c, of, k ? 1 : (size_t)c->width);
        }
    other.weights = &cut;
    t->s = &other;
    trial_config(t, c, text);
    t->s = own;
    arena_rewind(&t->arena, mark);
}

static void attempt_heads(Trial *t)
{
    static const int COUNTS[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 64};
    const Seq2seqConfig *own = t->s->text;
    const bool fused = seq2seq_key_heads(own) == own->heads;
    if ((own->pos != SEQ2SEQ_POS_ROPE && own->pos != SEQ2SEQ_POS_ALIBI && fused) || trial_heads_recorded(t))
        return;
    snprintf(t->id, sizeof t->id, "settings:heads");
    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
        for (int share = 0; share < (own->rope.width ? 2 : 1); share++) {
            Seq2seqConfig c = *own;
            if (!set_heads(&c, COUNTS[i], share))
                continue;
            const char *text = arena_printf(&t->arena, "the recording has %d head%s of %d, here there are %d of %d",
                                            c.heads, c.heads == 1 ? "" : "s", c.head_dim, own->heads, own->head_dim);
            trial_config(t, &c, text);
            attempt_recut(t, &c, arena_printf(&t->arena, "%s; it cuts the fused q, k, v by them", text));
        }
}

/* --- a fused q, k, v of heads that share keys, read in another order: of as many keys as queries trial_heads tries
 * them --- */

static const char QKV[] = "qkv";

static NodeId part_of(Trial *t, const char *block, char kind, char part)
{
    return graph_find(t->s->graph, arena_printf(&t->arena, "%s%c_%c", block, kind, part));
}

/* Weights or biases of one attention with the fused rows taken in that order. */
static void add_order(Trial *t, const char *block, char kind, const char *order)
{
    const Graph *g = t->s->graph;
    NodeId part[3];
    size_t cells = 0, at = 0;
    for (int i = 0; i < 3; i++) {
        part[i] = part_of(t, block, kind, QKV[i]);
        if (part[i] == NO_NODE)
            return;
        cells += graph_cells(g, part[i]);
    }
    float *fused = arena_alloc(&t->arena, size_mul(cells, sizeof *fused));
    for (int i = 0; i < 3; at += graph_cells(g, part[i]), i++)
        memcpy(fused + at, run_need(t->s->run, part[i]), graph_cells(g, part[i]) * sizeof *fused);
    at = 0;
    for (int i = 0; i < 3; i++) {
        const NodeId n = part[strchr(QKV, order[i]) - QKV];
        if (n <= t->target->node && t->in[n])
            trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = fused + at;
        at += graph_cells(g, n);
    }
}

static void add_orders(Trial *t, const char *order)
{
    trial_begin(t);
    for (int i = 0; i < t->s->text->decoder_layers; i++) {
        const char *block = arena_printf(&t->arena, "decoder.blocks.%d.self_attn.", i);
        add_order(t, block, 'w', order);
        add_order(t, block, 'b', order);
    }
}

/* Does what is recorded beside the target, q, k or v of its block, follow in that order too? */
static bool order_fits_beside(Trial *t, const char *order, const char *name)
{
    const NodeId n = trial_beside(t, graph_node(t->s->graph, t->target->node)->path, name);
    const DiffRow *row = NULL;
    DiffFigures f;
    for (int i = 0; t->report && n != NO_NODE && i < t->report->count; i++)
        if (t->report->row[i].tensor->node == n)
            row = &t->report->row[i];
    if (!row || n == t->target->node)
        return true;
    Trial beside = trial_new(t->s, t->r, t->o, t->report, row);
    trial_open(&beside);
    add_orders(&beside, order);
    const bool fits = trial_fits(&beside, &f);
    trial_free(&beside);
    return fits;
}

/* Are they one tensor in the file, q, k and v whole, of heads that share keys? */
static bool stored_in_one(Trial *t)
{
    const Graph *g = t->s->graph;
    const NodeId q = graph_find(g, "decoder.blocks.0.self_attn.w_q"),
                 k = graph_find(g, "decoder.blocks.0.self_attn.w_k");
    const char *of = q == NO_NODE ? NULL : graph_node(g, q)->leaf.origin,
               *with = k == NO_NODE ? NULL : graph_node(g, k)->leaf.origin;
    return of && with && strcmp(of, with) == 0 && seq2seq_key_heads(t->s->text) != t->s->text->heads;
}

void trial_fused_order(Trial *t)
{
    static const char *const ORDERS[] = {"kvq", "qvk", "vkq", "kqv", "vqk"};
    const char *fit[2] = {NULL, NULL};
    int count = 0;
    if (t->base || !stored_in_one(t))
        return;
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS && count < 2; i++) {
        DiffFigures f;
        add_orders(t, ORDERS[i]);
        if (t->mistake_count && trial_fits(t, &f) && f.rms * TRIAL_NEARER <= t->before.rms &&
            order_fits_beside(t, ORDERS[i], "attn.q") && order_fits_beside(t, ORDERS[i], "attn.k") &&
            order_fits_beside(t, ORDERS[i], "attn.v"))
            fit[count++] = ORDERS[i];
    }
    if (!count)
        return;
    const char *o = fit[0], *p = fit[1];
    add_orders(t, o);
    trial_attempt(t, "the recording reads the fused q, k, v in the order %c %c %c%s, not q k v", o[0], o[1], o[2],
                  p ? arena_printf(&t->arena, " or %c %c %c", p[0], p[1], p[2]) : "");
}

static void attempt_settings(Trial *t)
{
    /* of q or k alone, no more is known than that it has no norm */
    const bool norms = trial_find(t, "rms_q.out", 0) != NO_NODE && trial_find(t, "rms_k.out", 0) != NO_NODE;
    for (size_t i = 0; i < sizeof SETTING / sizeof *SETTING; i++) {
        Seq2seqConfig c = *t->s->text;
        if (SETTING[i].set == set_no_head_norm && c.head_norm && !norms)
            continue;
        snprintf(t->id, sizeof t->id, "settings:%s", SETTING[i].name);
        const bool keys = SETTING[i].set == set_cross_keys_of_target && trial_row_beside(t, "attn.v") == BESIDE_AGREES;
        if (SETTING[i].set(&c) && memcmp(&c, t->s->text, sizeof c) != 0)
            trial_config(t, &c, keys ? TRIAL_OWN_KEYS : SETTING[i].said);
    }
    trial_usual_bases(t);
}

void trial_settings(Trial *t)
{
    if (!t->s->weights || t->base)
        return;
    attempt_settings(t);
    trial_exchanged(t);
    trial_window_blocks(t);
    attempt_heads(t);
    attempt_segments(t);
    attempt_words(t);
}

void trial_settings_beside(Trial *t, const char *family)
{
    if (!t->s->text || !t->s->weights)
        return;
    t->family = "settings";
    for (int i = 0; i < t->single_count && !trial_close(t); i++)
        if (strcmp(t->single[i].family, family) == 0 && !t->single[i].made) {
            t->base = &t->single[i];
            attempt_settings(t);
        }
    t->base = NULL;
}

/* --- what is no setting --- */

/* Head h reads keys and values h mod G, here h·G/H: they were tiled where they have to be repeated. One alone: so the
 * other was. */
void trial_tiled(Trial *t)
{
    static const char *const SHARED[] = {"attn.k_shared", "attn.v_shared"};
    static const char *const TEXTS[] = {
        "the recording tiles the shared keys and values over the heads: head h reads number h mod G; here each serves "
        "its neighbours",
        "the recording tiles the shared values over the heads: head h reads number h mod G; here each serves its "
        "neighbours",
        "the recording tiles the shared keys over the heads: head h reads number h mod G; here each serves its "
        "neighbours"};
    const Graph *g = t->s->graph;
    int heads = t->s->text->heads, groups = seq2seq_key_heads(t->s->text);
    int *index = arena_alloc(&t->arena, size_mul((size_t)heads, sizeof *index));
    for (int h = 0; h < heads; h++)
        index[h] = h % groups * (heads / groups);
    bool both = trial_find(t, SHARED[0], 0) != NO_NODE && trial_find(t, SHARED[1], 0) != NO_NODE;
    for (size_t way = both ? 0 : 1; way < 3; way++) { /* of one that is recorded nothing is said */
        trial_begin(t);
        for (size_t k = 0; k < 2; k++)
            for (NodeId n = trial_find(t, SHARED[k], 0); n != NO_NODE && way != 1 + k;
                 n = trial_find(t, SHARED[k], n + 1)) {
                Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, n)->path);
                e->axis = graph_node(g, n)->dims.axis[1];
                e->index = index;
            }
        trial_attempt(t, "%s", TEXTS[way]);
    }
}

/* What the embedding gives, times √d_model: seen where it is recorded itself. */
void trial_embedding_scaled(Trial *t)
{
    const Seq2seqConfig *c = t->s->text;
    NodeId n = t->target->node;
    if (!path_ends(graph_node(t->s->graph, n)->path, "embed") || c->embed_scale > 1 || c->embed_scale < 1)
        return;
    snprintf(t->id, sizeof t->id, "settings:embeddings_scaled");
    trial_begin(t);
    trial_add(t, EDIT_SCALE, graph_node(t->s->graph, n)->path)->factor = seq2seq_root(c->width, false);
    trial_attempt(t, "the recording multiplies the embeddings by √d_model");
}

/* The gate's values for the other's, where both are recorded. */
bool trial_make_exchanged(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const char *path = graph_node(t->s->graph, n)->path;
    NodeId other = trial_beside(t, path, path_ends(path, "mlp.gate") ? "mlp.pre" : "mlp.gate");
    const DiffTensor *x = other == NO_NODE ? NULL : diff_reference_find(t->r, other);
    if (!x || !diff_reference_find(t->r, n))
        return false;
    memcpy(out, x->values, graph_cells(t->s->graph, n) * sizeof *out);
    return true;
}

/* The answer read by the embedding, though the model has a head of its own. */
void trial_tied(Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId head = trial_find(t, "head.weight", 0), embed = graph_find(g, "decoder.embed.weight");
    embed = embed == NO_NODE ? graph_find(g, "shared.embed.weight") : embed;
    if (head == NO_NODE || embed == NO_NODE || graph_cells(g, head) != graph_cells(g, embed))
        return;
    trial_begin(t);
    float *words = arena_alloc(&t->arena, size_mul(graph_cells(g, embed), sizeof *words));
    leaf_read(g, graph_node(g, embed), 0, graph_cells(g, embed), words);
    trial_add(t, EDIT_VALUES, graph_node(g, head)->path)->data = words;
    trial_attempt(t, "the recording's head has the embedding's weights (tied); here it has its own");
}
