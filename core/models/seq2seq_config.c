/* Sizes and weights of a text model: what there is, of which shape, and whether it can be built. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/models/seq2seq.h"

static const struct {
    const char *name, *axes;
    Seq2seqWhere where;
    WeightStart start;
} ROLES[SEQ2SEQ_ROLES] = {
#define ROLE(symbol, where, name, axes, start) [SEQ2SEQ_##symbol] = {name, axes, SEQ2SEQ_##where, START_##start},
#include "core/models/seq2seq_roles.def"
#undef ROLE
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
        {"model width", c->width, 1, 1 << 16},
        {"number of heads", c->heads, 1, 1024},
        {"head width", c->head_dim, 1, 1 << 14},
        {"MLP width", c->mlp, 1, 1 << 18},
        {"number of encoder layers", c->encoder_layers, enc, enc ? 1024 : 0},
        {"number of decoder layers", c->decoder_layers, dec, dec ? 1024 : 0},
        {"size of the source vocabulary", c->source_words, enc, enc ? 1 << 18 : 0},
        {"size of the target vocabulary", c->target_words, dec, dec ? 1 << 18 : 0},
        {"number of learned positions", c->positions, c->learned_positions, 1 << 16},
    };
    return knobs_check(knobs, sizeof knobs / sizeof *knobs, err);
}

bool seq2seq_check(const Seq2seqConfig *c, Err *err)
{
    if ((unsigned)c->form > SEQ2SEQ_ENCODER_ONLY)
        return err_set(err, "unknown form of a text model");
    if (!check_ranges(c, err))
        return false;
    if (!knob_finite(c->eps) || c->eps < 0)
        return err_set(err, "the epsilon of LayerNorm is %g; it must be 0 or a small positive number", (double)c->eps);
    if (!knob_finite(c->scale) || !knob_finite(c->embed_scale))
        return err_set(err, "the factor on the attention scores or on the embeddings is not a number");
    if ((unsigned)c->act >= MAP_COUNT)
        return err_set(err, "unknown activation function");
    size_t inner, limit = (size_t)1 << (sizeof(size_t) > 4 ? 36 : 28);
    if (!size_mul_ok((size_t)c->heads, (size_t)c->head_dim, &inner) || inner > 1 << 20 || seq2seq_params(c) > limit)
        return err_set(err, "the model is too large: width %d, %d heads of %d, %d and %d layers", c->width, c->heads,
                       c->head_dim, c->encoder_layers, c->decoder_layers);
    return machine_holds((double)seq2seq_params(c) * sizeof(float), "the model", "take a smaller one", err);
}

bool seq2seq_check_length(const Seq2seqConfig *c, int source, int target, Err *err)
{
    int most = c->learned_positions ? c->positions : 4096, longest = source > target ? source : target;
    if (longest > most)
        return err_set(err, "a text of %d tokens is longer than the %d that the model takes: shorten it", longest,
                       most);
    if (seq2seq_has_encoder(c) && source < 1)
        return err_set(err, "there is no word to read");
    if (seq2seq_has_decoder(c) && target < 1)
        return err_set(err, "the decoder needs a first token");
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

/* Biases by the knob that asks for them. */
static bool has_bias(const Seq2seqConfig *c, Seq2seqRole r)
{
    const char *name = strrchr(ROLES[r].name, '.') + 1;
    if (strcmp(name, "b_q") == 0 || strcmp(name, "b_k") == 0 || strcmp(name, "b_v") == 0)
        return c->qkv_bias;
    if (strcmp(name, "b_o") == 0)
        return c->out_bias;
    if (strcmp(name, "b_up") == 0 || strcmp(name, "b_down") == 0)
        return c->mlp_bias;
    return true;
}

bool seq2seq_has(const Seq2seqConfig *c, Seq2seqRole r)
{
    bool enc = seq2seq_has_encoder(c), dec = seq2seq_has_decoder(c),
         cross = r >= SEQ2SEQ_CROSS_W_Q && r <= SEQ2SEQ_DEC_LN2_BETA;
    if ((ROLES[r].where == SEQ2SEQ_ENCODER || ROLES[r].where == SEQ2SEQ_ENCODER_BLOCK) && !enc)
        return false;
    if ((ROLES[r].where == SEQ2SEQ_DECODER || ROLES[r].where == SEQ2SEQ_DECODER_BLOCK) && (!dec || (cross && !enc)))
        return false;
    switch (r) {
    case SEQ2SEQ_SOURCE_POS:
    case SEQ2SEQ_TARGET_POS: return c->learned_positions;
    case SEQ2SEQ_SOURCE_FINAL_GAMMA:
    case SEQ2SEQ_SOURCE_FINAL_BETA:
    case SEQ2SEQ_TARGET_FINAL_GAMMA:
    case SEQ2SEQ_TARGET_FINAL_BETA: return c->final_norm;
    case SEQ2SEQ_HEAD_W: return !c->tied;
    case SEQ2SEQ_HEAD_B: return c->head_bias;
    default: return has_bias(c, r);
    }
}

static int letter_length(const void *config, char letter)
{
    const Seq2seqConfig *c = config;
    switch (letter) {
    case 'd': return c->width;
    case 'h': return c->heads;
    case 'e': return c->head_dim;
    case 'm': return c->mlp;
    case 'a': return c->source_words;
    case 'v': return c->target_words;
    case 'o': return seq2seq_has_decoder(c) ? c->target_words : c->source_words;
    default: return c->positions;
    }
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

int seq2seq_role_count(const Seq2seqConfig *c, Seq2seqRole r)
{
    if (!seq2seq_has(c, r))
        return 0;
    switch (ROLES[r].where) {
    case SEQ2SEQ_ENCODER_BLOCK: return c->encoder_layers;
    case SEQ2SEQ_DECODER_BLOCK: return c->decoder_layers;
    default: return 1;
    }
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

size_t seq2seq_params(const Seq2seqConfig *c)
{
    size_t n = 0;
    for (int r = 0; r < SEQ2SEQ_ROLES; r++)
        n = size_add(n, size_mul(seq2seq_role_cells(c, (Seq2seqRole)r), (size_t)seq2seq_role_count(c, (Seq2seqRole)r)));
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
    if (layer >= seq2seq_role_count(c, r))
        return false;
    *p = (WeightPlace){.role = (int)r, .layer = layer, .axes = ROLES[r].axes, .start = ROLES[r].start};
    p->entry = p->stream = seq2seq_weight_entry(c, r, layer);
    p->rank = seq2seq_role_shape(c, r, p->shape);
    p->cells = seq2seq_role_cells(c, r);
    return true;
}

WeightTensor *seq2seq_weight(const Seq2seqConfig *c, const Weights *w, Seq2seqRole r, int layer)
{
    return &w->at[seq2seq_weight_entry(c, r, layer)];
}

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
