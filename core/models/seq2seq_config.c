/* Sizes and weights of a text model: what there is, of which shape, and whether it can be built. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/models/seq2seq.h"

enum { TEXT_LONGEST = 4096, SEQ2SEQ_STREAMS = 1024 };

static const struct {
    const char *name, *axes;
    Seq2seqWhere where;
    WeightStart start;
} ROLES[SEQ2SEQ_ROLES] = {
#define ROLE(symbol, where, name, axes, start, when) [SEQ2SEQ_##symbol] = {name, axes, SEQ2SEQ_##where, START_##start},
#include "core/models/seq2seq_roles.def"
};

Seq2seqConfig seq2seq_config_base(void)
{
    return (Seq2seqConfig){.form = SEQ2SEQ_BOTH,
                           .source_words = 64,
                           .target_words = 64,
                           .width = 64,
                           .heads = 4,
                           .head_dim = 16,
                           .mlp = 128,
                           .encoder_layers = 3,
                           .decoder_layers = 3,
                           .act = MAP_RELU,
                           .eps = 1e-5f,
                           .scale = 0.25f,
                           .embed_scale = 8.0f,
                           .positions = 64,
                           .tied = true,
                           .qkv_bias = true,
                           .out_bias = true,
                           .mlp_bias = true};
}

bool seq2seq_has_encoder(const Seq2seqConfig *c)
{
    return c->form != SEQ2SEQ_DECODER_ONLY;
}

bool seq2seq_has_decoder(const Seq2seqConfig *c)
{
    return c->form != SEQ2SEQ_ENCODER_ONLY;
}

static bool check_ranges(const Seq2seqConfig *c, Err *err)
{
    bool enc = seq2seq_has_encoder(c), dec = seq2seq_has_decoder(c);
    const Knob knobs[] = {
        {"model width", c->width, 1, SEQ2SEQ_WIDTH_MOST},
        {"number of heads", c->heads, 1, SEQ2SEQ_HEADS_MOST},
        {"head width", c->head_dim, 1, SEQ2SEQ_HEAD_MOST},
        {"MLP width", c->mlp, 1, SEQ2SEQ_MLP_MOST},
        {"number of encoder layers", c->encoder_layers, enc, enc ? SEQ2SEQ_LAYERS_MOST : 0},
        {"number of decoder layers", c->decoder_layers, dec, dec ? SEQ2SEQ_LAYERS_MOST : 0},
        {"size of the source vocabulary", c->source_words, enc, enc ? SEQ2SEQ_WORDS_MOST : 0},
        {"size of the target vocabulary", c->target_words, dec, dec ? SEQ2SEQ_WORDS_MOST : 0},
        {"number of positions", c->positions, c->learned_positions, SEQ2SEQ_POSITIONS_MOST},
        {"row of the first position", c->first_position, 0, 1024},
        {"number of key heads", c->key_heads, 0, SEQ2SEQ_HEADS_MOST},
        {"width of a head that is rotated", c->rope.width, 0, 1 << 14},
        {"window", c->window, 0, 1 << 24},
        {"number of segments", c->segments, 0, 1024},
        {"width of a word's vector", c->word_width, 0, 1 << 16},
        {"number of distances", c->distances, 0, 1 << 12},
        {"number of experts", c->experts.count, 0, 1 << 12},
        {"number of experts that a token gets", c->experts.chosen, c->experts.count > 0,
         c->experts.count < 256 ? c->experts.count : 256},
        {"hidden width of an expert", c->experts.width, c->experts.count > 0, 1 << 18},
        {"hidden width of the shared expert", c->experts.shared, 0, 1 << 18},
        {"farthest distance", c->distance_most, 0, 1 << 24},
    };
    return knobs_check(knobs, sizeof knobs / sizeof *knobs, err);
}

Seq2seqRole seq2seq_embed_role(const Seq2seqConfig *c, bool decoder)
{
    return c->shared ? SEQ2SEQ_SHARED_EMBED : decoder ? SEQ2SEQ_TARGET_EMBED : SEQ2SEQ_SOURCE_EMBED;
}

int seq2seq_word_width(const Seq2seqConfig *c)
{
    return c->word_width ? c->word_width : c->width;
}

int seq2seq_key_heads(const Seq2seqConfig *c)
{
    return c->key_heads ? c->key_heads : c->heads;
}

float seq2seq_root(int n, bool inverse)
{
    double r = dm_sqrt((double)n);
    return (float)(inverse ? 1 / r : r);
}

int seq2seq_answer_words(const Seq2seqConfig *c)
{
    return seq2seq_has_decoder(c) ? c->target_words : c->source_words;
}

Seq2seqText *seq2seq_answered(const Seq2seqConfig *c, Seq2seqInput *in)
{
    return seq2seq_has_decoder(c) ? &in->target : &in->source;
}

int seq2seq_window_sides(const Seq2seqConfig *c)
{
    return c->form == SEQ2SEQ_ENCODER_ONLY ? 2 : 1;
}

bool seq2seq_windowed(const Seq2seqConfig *c, int layer)
{
    return c->window && (c->windowed[layer / 32] >> (layer % 32) & 1);
}

bool seq2seq_has_experts(const Seq2seqConfig *c, int layer)
{
    return c->experts.count && !(c->experts.dense[layer / 32] >> (layer % 32) & 1);
}

int seq2seq_rotated(const Seq2seqConfig *c)
{
    return c->rope.width ? c->rope.width : c->head_dim;
}

/* Frequencies that depend on the length of a text. */
static bool check_lengths(const Seq2seqConfig *c, Err *err)
{
    const Seq2seqRope *r = &c->rope;
    const int pairs = seq2seq_rotated(c) / 2;
    if (!(r->trained >= 1) || !knob_finite(r->trained) || !knob_finite(r->factor))
        return err_set(err, "rope_scaling: the factor %g or the length %g is not possible", (double)r->factor,
                       (double)r->trained);
    if (r->scaling == ROPE_DYNAMIC && pairs < 2)
        return err_set(err, "rope_scaling is dynamic, which needs more than two numbers of a head to turn");
    if (r->scaling == ROPE_LONG && pairs > ROPE_PAIRS_MOST)
        return err_set(err, "rope_scaling is longrope, which is built here for %d pairs of a head, not for %d",
                       ROPE_PAIRS_MOST, pairs);
    for (int i = 0; r->scaling == ROPE_LONG && i < 2 * ROPE_PAIRS_MOST; i++) {
        const int k = i / 2;
        const float x = r->divisors[i % 2][k];
        if (k < pairs ? !(x > 0) || !knob_finite(x) : x < 0 || x > 0)
            return err_set(err, "rope_scaling is longrope: it needs %d %s factors, one of each pair, all above 0",
                           pairs, i % 2 ? "long" : "short");
    }
    return true;
}

/* Knobs that do not fit each other. */
static bool check_knobs(const Seq2seqConfig *c, Err *err)
{
    const Seq2seqRope *r = &c->rope;
    if (c->form == SEQ2SEQ_BOTH && (c->pos == SEQ2SEQ_POS_ROPE || c->window))
        return err_set(err, "rotations and windows are built here for a stack alone");
    if (c->form != SEQ2SEQ_DECODER_ONLY &&
        (c->key_heads || c->pos == SEQ2SEQ_POS_ALIBI || c->after_norm || c->head_norm || c->parallel ||
         c->score_cap > 0 || c->clip > 0 || c->sinks || c->experts.count))
        return err_set(err, "grouped queries, ALiBi, experts, norms of queries, sinks, limits and soft caps are built "
                            "here for a decoder "
                            "alone");
    if (c->cross_own && c->form != SEQ2SEQ_BOTH)
        return err_set(err, "no attention looks at another text in a model of one stack");
    if (c->experts.count && (!c->gated || c->mlp_bias))
        return err_set(err, "experts are built here with gates and without biases");
    if (c->form != SEQ2SEQ_ENCODER_ONLY &&
        (c->segments || c->wordless || c->transform || c->pooler || c->replaced || c->sentence || c->first_bare))
        return err_set(err, "segments and poolers are built here for an encoder alone");
    if (c->form == SEQ2SEQ_BOTH && c->word_width)
        return err_set(err, "words of another width are built here for a stack alone");
    if (c->distances % 4 || (c->distances && c->pos == SEQ2SEQ_POS_ALIBI))
        return err_set(err, "%d distances can't be halved twice, or stand beside ALiBi", c->distances);
    if (c->distances && c->distance_most <= c->distances / 2)
        return err_set(err, "%d ranges of distance end at %d: they must end behind their half", c->distances,
                       c->distance_most);
    if (c->shared && (c->form != SEQ2SEQ_BOTH || c->source_words != c->target_words))
        return err_set(err, "one embedding for two vocabularies, or for one stack, is not possible");
    if (!knob_finite(c->read_scale) || c->read_scale < 0)
        return err_set(err, "the factor on what the answer is read from is not possible");
    if (c->pair && !c->pooler)
        return err_set(err, "whether a segment follows is read from a pooler, which this model has not");
    if (c->heads % seq2seq_key_heads(c))
        return err_set(err, "%d heads can't share %d heads of keys evenly", c->heads, c->key_heads);
    if (c->pos == SEQ2SEQ_POS_ROPE && !(r->base > 1 && knob_finite(r->base)))
        return err_set(err, "the base of the rotations (rope_theta) is %g; it must be above 1", (double)r->base);
    if (c->pos == SEQ2SEQ_POS_ROPE && (seq2seq_rotated(c) > c->head_dim || seq2seq_rotated(c) % 2 ||
                                       r->local_base < 0 || (r->scaling && !(r->factor >= 1))))
        return err_set(err, "rotary positions: %d of %d numbers of a head, base %g, factor %g are not possible",
                       seq2seq_rotated(c), c->head_dim, (double)r->base, (double)r->factor);
    if (c->pos == SEQ2SEQ_POS_ROPE && r->scaling >= ROPE_DYNAMIC && !check_lengths(c, err))
        return false;
    if ((r->scaling == ROPE_LLAMA3 || r->scaling == ROPE_YARN) &&
        (!(r->trained >= 1) || !(r->low > 0) || !(r->low < r->high)))
        return err_set(err, "rope_scaling: the factors %g and %g or the length %g are not possible", (double)r->low,
                       (double)r->high, (double)r->trained);
    if (!(c->clip >= 0) || !knob_finite(c->clip) || (c->clip > 0 && c->qkv_bias))
        return err_set(err, "queries, keys and values are cut off here at a number above 0, and without biases");
    if (!(c->alibi_most >= 0) || c->alibi_most > 64)
        return err_set(err, "the slopes of ALiBi can't reach 2^-%g", (double)c->alibi_most);
    if (c->learned_positions && c->pos != SEQ2SEQ_POS_ADDED)
        return err_set(err, "positions are learned or rotated, not both");
    if (c->parallel && (!c->pre_norm || c->after_norm))
        return err_set(err, "attention and MLP side by side need their norms in front");
    if (!(c->score_cap >= 0) || !(c->logit_cap >= 0) || !knob_finite(c->score_cap) || !knob_finite(c->logit_cap))
        return err_set(err, "a soft cap must be a positive number");
    return true;
}

bool seq2seq_possible(const Seq2seqConfig *c, Err *err)
{
    if ((unsigned)c->form > SEQ2SEQ_ENCODER_ONLY)
        return err_set(err, "unknown form of a text model");
    if (!check_ranges(c, err) || !check_knobs(c, err))
        return false;
    if (!(c->eps >= 0 && c->eps <= SEQ2SEQ_EPS_MOST))
        return err_set(err, "the epsilon of the norms is %g; it must be 0 to %d", (double)c->eps, SEQ2SEQ_EPS_MOST);
    if (!knob_finite(c->scale) || !knob_finite(c->embed_scale))
        return err_set(err, "the factor on the attention scores or on the embeddings is not a number");
    if ((unsigned)c->act >= MAP_COUNT)
        return err_set(err, "unknown activation function");
    size_t inner, limit = (size_t)1 << (sizeof(size_t) > 4 ? 36 : 28);
    if (!size_mul_ok((size_t)c->heads, (size_t)c->head_dim, &inner) || inner > 1 << 20 || seq2seq_params(c) > limit)
        return err_set(err, "the model is too large: width %d, %d heads of %d, %d and %d layers", c->width, c->heads,
                       c->head_dim, c->encoder_layers, c->decoder_layers);
    return true;
}

bool seq2seq_check(const Seq2seqConfig *c, Err *err)
{
    return seq2seq_possible(c, err) &&
           machine_holds((double)seq2seq_params(c) * sizeof(float), "the model", "take a smaller one", err);
}

int seq2seq_longest(const Seq2seqConfig *c)
{
    const bool grows = c->pos == SEQ2SEQ_POS_ROPE && c->rope.scaling == ROPE_DYNAMIC;
    bool limited = (c->pos != SEQ2SEQ_POS_ADDED || c->learned_positions) && c->positions > 0 && !grows;
    return limited && c->positions < TEXT_LONGEST ? c->positions : TEXT_LONGEST;
}

bool seq2seq_check_length(const Seq2seqConfig *c, int source, int target, Err *err)
{
    int most = seq2seq_longest(c), longest = source > target ? source : target;
    if (longest > most)
        return err_set(err, "a text of %d tokens is longer than the %d that the model takes: shorten it", longest,
                       most);
    if (seq2seq_has_encoder(c) && source < 1)
        return err_set(err, "there is no word to read: give a text of one word at least");
    if (seq2seq_has_decoder(c) && target < 1)
        return err_set(err, "there is no word to read: give a text of one word at least");
    double scores = (double)c->heads * longest * longest * sizeof(float);
    return machine_holds(3 * scores, "attention over so long a text", "take a shorter one", err);
}

Seq2seqWhere seq2seq_role_where(Seq2seqRole r)
{
    return ROLES[r].where;
}

const char *seq2seq_role_name(Seq2seqRole r)
{
    return ROLES[r].name;
}

const char *seq2seq_role_axes(Seq2seqRole r)
{
    return ROLES[r].axes;
}

bool seq2seq_has_in(const Seq2seqConfig *c, Seq2seqRole r, int layer)
{
    const Seq2seqWhere where = ROLES[r].where;
    const bool reads = seq2seq_has_encoder(c), writes = seq2seq_has_decoder(c), both = reads && writes,
               beta = !c->rms_norm && !c->bare_norm, experts = seq2seq_has_experts(c, layer);
    if (((where == SEQ2SEQ_ENCODER || where == SEQ2SEQ_ENCODER_BLOCK) && !reads) ||
        ((where == SEQ2SEQ_DECODER || where == SEQ2SEQ_DECODER_BLOCK) && !writes))
        return false;
#define ROLE(symbol, where, name, axes, start, when)                                                                   \
    if (r == SEQ2SEQ_##symbol)                                                                                         \
        return when;
#include "core/models/seq2seq_roles.def"
    return false;
}

static int letter_length(const void *config, char letter)
{
    const Seq2seqConfig *c = config;
#define LETTER(of, length, axis)                                                                                       \
    if (letter == (of))                                                                                                \
        return length;
#include "core/models/seq2seq_roles.def"
    return 1;
}

/* returns the rank, 1 … 3 */
static int seq2seq_role_shape(const Seq2seqConfig *c, Seq2seqRole r, size_t shape[4])
{
    return weight_shape(ROLES[r].axes, letter_length, c, shape);
}

size_t seq2seq_role_cells(const Seq2seqConfig *c, Seq2seqRole r)
{
    return weight_cells(ROLES[r].axes, letter_length, c);
}

/* How many of its kind of place the model has. */
static int places(const Seq2seqConfig *c, Seq2seqRole r)
{
    switch (ROLES[r].where) {
    case SEQ2SEQ_ENCODER_BLOCK: return c->encoder_layers;
    case SEQ2SEQ_DECODER_BLOCK: return c->decoder_layers;
    default: return 1;
    }
}

int seq2seq_role_count(const Seq2seqConfig *c, Seq2seqRole r)
{
    int n = 0;
    for (int layer = 0; layer < places(c, r); layer++)
        n += seq2seq_has_in(c, r, layer);
    return n;
}

void seq2seq_role_scope(Seq2seqRole r, int layer, char *out, size_t n)
{
    switch (ROLES[r].where) {
    case SEQ2SEQ_OUTPUT: snprintf(out, n, "%s", ""); break;
    case SEQ2SEQ_ENCODER: snprintf(out, n, "encoder"); break;
    case SEQ2SEQ_DECODER: snprintf(out, n, "decoder"); break;
    case SEQ2SEQ_ENCODER_BLOCK: snprintf(out, n, "encoder.blocks.%d", layer); break;
    case SEQ2SEQ_DECODER_BLOCK: snprintf(out, n, "decoder.blocks.%d", layer); break;
    }
}

void seq2seq_role_path(Seq2seqRole r, int layer, char *out, size_t n)
{
    char scope[64];
    seq2seq_role_scope(r, layer, scope, sizeof scope);
    snprintf(out, n, "%s%s%s", scope, *scope ? "." : "", ROLES[r].name);
}

size_t seq2seq_params(const Seq2seqConfig *c)
{
    size_t n = 0;
    for (int r = 0; r < SEQ2SEQ_ROLES; r++)
        n = size_add(n, size_mul(seq2seq_role_cells(c, (Seq2seqRole)r), (size_t)seq2seq_role_count(c, (Seq2seqRole)r)));
    return n;
}

size_t seq2seq_params_active(const Seq2seqConfig *c)
{
    static const Seq2seqRole EACH[] = {SEQ2SEQ_EXPERT_W_GATE, SEQ2SEQ_EXPERT_W_UP, SEQ2SEQ_EXPERT_W_DOWN};
    size_t n = seq2seq_params(c), rest = (size_t)(c->experts.count - c->experts.chosen);
    for (size_t i = 0; c->experts.count && i < sizeof EACH / sizeof *EACH; i++)
        n -= seq2seq_role_cells(c, EACH[i]) / (size_t)c->experts.count * rest * (size_t)seq2seq_role_count(c, EACH[i]);
    return n;
}

size_t seq2seq_weights_count(const Seq2seqConfig *c)
{
    return size_mul(SEQ2SEQ_ROLES, (size_t)c->encoder_layers + (size_t)c->decoder_layers + 1);
}

static size_t seq2seq_weight_entry(const Seq2seqConfig *c, Seq2seqRole r, int layer)
{
    size_t row = ROLES[r].where == SEQ2SEQ_ENCODER_BLOCK   ? (size_t)layer + 1
                 : ROLES[r].where == SEQ2SEQ_DECODER_BLOCK ? (size_t)c->encoder_layers + (size_t)layer + 1
                                                           : 0;
    return row * SEQ2SEQ_ROLES + (size_t)r;
}

bool seq2seq_weight_place(const Seq2seqConfig *c, size_t i, WeightPlace *p)
{
    const size_t rows = seq2seq_weights_count(c) / SEQ2SEQ_ROLES;
    const Seq2seqRole r = (Seq2seqRole)(i / rows);
    const int layer = (int)(i % rows);
    if (layer >= places(c, r) || !seq2seq_has_in(c, r, layer))
        return false;
    *p = (WeightPlace){.role = (int)r, .layer = layer, .axes = ROLES[r].axes, .start = ROLES[r].start};
    p->order = (uint64_t)r << 32 | (uint32_t)layer;
    p->entry = seq2seq_weight_entry(c, r, layer);
    /* what came later has streams of its own: those of the first roles are what they were */
    const size_t row = p->entry / SEQ2SEQ_ROLES;
    p->stream = r < SEQ2SEQ_SOURCE_NORM_GAMMA ? row * SEQ2SEQ_SOURCE_NORM_GAMMA + (size_t)r
                                              : ((uint64_t)1 << 32) + row * SEQ2SEQ_STREAMS + (size_t)r;
    p->rank = seq2seq_role_shape(c, r, p->shape);
    p->cells = seq2seq_role_cells(c, r);
    return true;
}

WeightTensor *seq2seq_weight(const Seq2seqConfig *c, const Weights *w, Seq2seqRole r, int layer)
{
    return &w->at[seq2seq_weight_entry(c, r, layer)];
}
