/* config.json of a text model in the program's own form: the original Transformer's knobs, and what came after it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/json.h"
#include "core/models/checkpoint.h"
#include "core/models/text_model.h"

static const char MODEL_TYPE[] = TEXT_MODEL_TYPE;
static const char *const FORMS[] = {
    [SEQ2SEQ_BOTH] = "encoder-decoder", [SEQ2SEQ_DECODER_ONLY] = "decoder", [SEQ2SEQ_ENCODER_ONLY] = "encoder"};
static const char *const ACTS[MAP_COUNT] = {[MAP_RELU] = "relu",
                                            [MAP_GELU] = "gelu",
                                            [MAP_GELU_TANH] = "gelu_tanh",
                                            [MAP_QUICK_GELU] = "quick_gelu",
                                            [MAP_SILU] = "silu"};

#define FIELD(type, c, offset) (*(type *)(void *)((char *)(c) + (offset)))
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* A key for a field. What came after the original Transformer is written where it is not that one's, so that its
 * config.json stays short. */
typedef struct Setting {
    const char *key;
    enum { SIZE, FLAG, NUMBER, BLOCKS, PAIRS, WORD } kind; /* BLOCKS: a list of blocks, kept bit by bit */
    size_t offset;
    bool later;
    const char *words[6]; /* WORD: its values, from 0 on */
} Setting;
#define FIRST(kind_, key_, field) .kind = kind_, .key = key_, .offset = offsetof(Seq2seqConfig, field)
#define LATER(kind_, key_, field) FIRST(kind_, key_, field), .later = true
static const Setting SETTINGS[] = {
    {FIRST(SIZE, "src_vocab_size", source_words)},
    {FIRST(SIZE, "tgt_vocab_size", target_words)},
    {FIRST(SIZE, "d_model", width)},
    {FIRST(SIZE, "nhead", heads)},
    {FIRST(SIZE, "head_dim", head_dim)},
    {FIRST(SIZE, "dim_feedforward", mlp)},
    {FIRST(SIZE, "num_encoder_layers", encoder_layers)},
    {FIRST(SIZE, "num_decoder_layers", decoder_layers)},
    {FIRST(SIZE, "max_positions", positions)},
    {FIRST(FLAG, "norm_first", pre_norm)},
    {FIRST(FLAG, "final_norm", final_norm)},
    {FIRST(FLAG, "tie_embeddings", tied)},
    {FIRST(FLAG, "generator_bias", head_bias)},
    {FIRST(FLAG, "qkv_bias", qkv_bias)},
    {FIRST(FLAG, "out_bias", out_bias)},
    {FIRST(FLAG, "mlp_bias", mlp_bias)},
    {LATER(SIZE, "num_key_value_heads", key_heads)},
    {LATER(SIZE, "first_position", first_position)},
    {LATER(SIZE, "rope_width", rope.width)},
    {LATER(SIZE, "window", window)},
    {LATER(SIZE, "segments", segments)},
    {LATER(SIZE, "word_width", word_width)},
    {LATER(SIZE, "distances", distances)},
    {LATER(SIZE, "farthest_distance", distance_most)},
    {LATER(SIZE, "num_experts", experts.count)},
    {LATER(SIZE, "num_experts_per_tok", experts.chosen)},
    {LATER(SIZE, "expert_width", experts.width)},
    {LATER(SIZE, "shared_expert_width", experts.shared)},
    {LATER(FLAG, "sines_first", halves)},
    {LATER(FLAG, "norm_behind", after_norm)},
    {LATER(FLAG, "embedding_norm", embed_norm)},
    {LATER(FLAG, "rms_norm", rms_norm)},
    {LATER(FLAG, "norms_without_beta", bare_norm)},
    {LATER(FLAG, "norms_with_1_plus_gamma", gamma_plus)},
    {LATER(FLAG, "no_first_norm", first_bare)},
    {LATER(FLAG, "attention_sinks", sinks)},
    {LATER(FLAG, "gated", gated)},
    {LATER(FLAG, "shared_embedding", shared)},
    {LATER(FLAG, "rope_halves", rope.half)},
    {LATER(FLAG, "norm_topk_prob", experts.normalised)},
    {LATER(FLAG, "wordless", wordless)},
    {LATER(FLAG, "transform", transform)},
    {LATER(FLAG, "transform_without_bias", transform_bare)},
    {LATER(FLAG, "pooler", pooler)},
    {LATER(FLAG, "pair", pair)},
    {LATER(FLAG, "replaced", replaced)},
    {LATER(NUMBER, "rope_theta", rope.base)},
    {LATER(NUMBER, "rope_theta_local", rope.local_base)},
    {LATER(NUMBER, "rope_factor", rope.factor)},
    {LATER(NUMBER, "rope_low", rope.low)},
    {LATER(NUMBER, "rope_high", rope.high)},
    {LATER(NUMBER, "rope_trained", rope.trained)},
    {LATER(NUMBER, "rope_stretch", rope.stretch)},
    {LATER(NUMBER, "read_scale", read_scale)},
    {LATER(NUMBER, "clip_qkv", clip)},
    {LATER(NUMBER, "alibi_bias_max", alibi_most)},
    {LATER(NUMBER, "score_cap", score_cap)},
    {LATER(NUMBER, "logit_cap", logit_cap)},
    {LATER(BLOCKS, "windowed_layers", windowed)},
    {LATER(BLOCKS, "dense_layers", experts.dense)},
    {LATER(WORD, "norm_of_queries", head_norm), .words = {"none", "each head", "all heads"}},
    {LATER(WORD, "parallel", parallel), .words = {"no", "two norms", "one norm"}},
    {LATER(PAIRS, "rope_short", rope.divisors[0])},
    {LATER(PAIRS, "rope_long", rope.divisors[1])},
    {LATER(WORD, "rope_scaling", rope.scaling), .words = {"none", "linear", "llama3", "yarn", "dynamic", "longrope"}},
    {LATER(WORD, "sentence", sentence), .words = {"none", "mean", "first"}},
    {LATER(WORD, "unit_length", unit), .words = {"unsaid", "no", "yes"}},
};
#define ALSO(n)                                                                                                        \
    {                                                                                                                  \
        "end_word_too_and_1_" #n, offsetof(Vocabulary, also[n]), 0                                                     \
    }
/* Numbers of words with a meaning, where they are not those of load_words; −1: there is none. */
static const struct {
    const char *key;
    size_t offset;
    int usual;
} SPECIAL[] = {
    {"padding_word", offsetof(Vocabulary, pad), 0},
    {"start_word", offsetof(Vocabulary, start), 1},
    {"end_word", offsetof(Vocabulary, end), 2},
    {"first_word_and_1", offsetof(Vocabulary, first), 0},
    {"last_word_and_1", offsetof(Vocabulary, last), 0},
    ALSO(0),
    ALSO(1),
    ALSO(2),
    ALSO(3),
    ALSO(4),
    ALSO(5),
    ALSO(6),
};

static int index_of(const char *const *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] && strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

/* Keys that are read one by one, and those that other programs write beside them and that say nothing of the
 * arithmetic. */
static const char *const KEYS[] = {"model_type",           "form",
                                   "activation",           "positional_encoding",
                                   "layer_norm_eps",       "attention_scale",
                                   "embedding_scale",      "trained",
                                   "bos_token_id",         "eos_token_id",
                                   "transform_activation", "pad_token_id",
                                   "architectures",        "torch_dtype",
                                   "transformers_version"};

static bool is_known(const char *key)
{
    bool known = index_of(KEYS, sizeof KEYS / sizeof *KEYS, key) >= 0;
    for (size_t i = 0; i < COUNT(SETTINGS); i++)
        known = known || strcmp(SETTINGS[i].key, key) == 0;
    for (size_t i = 0; i < COUNT(SPECIAL); i++)
        known = known || strcmp(SPECIAL[i].key, key) == 0;
    return known;
}

/* A key that is mistyped would leave what it means at its default without a word. */
static bool check_keys(const Json *j, const char *path, Err *err)
{
    const char *key = NULL;
    while (json_next(j, &key)) {
        if (is_known(key))
            continue;
        Buf names = {0};
        for (size_t i = 0; i < COUNT(SETTINGS); i++)
            if (!SETTINGS[i].later)
                buf_printf(&names, " %s", SETTINGS[i].key);
        err_set(err,
                "%.300s: \"%.40s\" is not known; known are%s layer_norm_eps attention_scale embedding_scale activation "
                "positional_encoding form trained: correct the name, or take the line out if the model does without it",
                path, key, buf_str(&names));
        buf_free(&names);
        return false;
    }
    return true;
}

/* A text, or what stands for it where the key is absent; NULL and err where it is something else. */
static const char *text_of(const Json *j, const char *key, const char *otherwise, const char *path, Err *err)
{
    const Json *v = json_get(j, key);
    if (v && json_kind(v) != JK_STRING)
        err_set(err, "%s: \"%s\" must be a text", path, key);
    return v && json_kind(v) != JK_STRING ? NULL : json_text(v, otherwise);
}

static bool read_number(const Json *j, const char *key, float otherwise, float *out, const char *path, Err *err)
{
    const Json *v = json_get(j, key);
    double x;
    *out = otherwise;
    if (!v || strcmp(json_text(v, ""), "sqrt(d_model)") == 0)
        return true;
    if (!json_number(v, &x))
        return err_set(err, "%s: \"%s\" must be a number", path, key);
    *out = (float)x;
    return true;
}

static bool read_list(const Json *list, const char *key, uint32_t bits[SEQ2SEQ_LAYERS_MOST / 32], const char *path,
                      Err *err)
{
    int64_t layer;
    if (list && json_kind(list) != JK_ARRAY)
        return err_set(err, "%s: \"%s\" must be a list of blocks, counted from 0", path, key);
    for (size_t i = 0; i < json_count(list); i++) {
        if (!json_int(json_at(list, i), &layer) || layer < 0 || layer >= SEQ2SEQ_LAYERS_MOST)
            return err_set(err, "%s: \"%s\" must be a list of blocks, counted from 0", path, key);
        bits[layer / 32] |= (uint32_t)1 << layer % 32;
    }
    return true;
}

/* A number for every pair of a head that is rotated. */
static bool read_pairs(const Json *list, const char *key, float out[ROPE_PAIRS_MOST], const char *path, Err *err)
{
    const size_t n = json_count(list);
    if ((list && json_kind(list) != JK_ARRAY) || n > ROPE_PAIRS_MOST)
        return err_set(err, "%s: \"%s\" must be a list of %d numbers at most", path, key, ROPE_PAIRS_MOST);
    for (size_t i = 0; i < n; i++) {
        double x;
        if (!json_number(json_at(list, i), &x))
            return err_set(err, "%s: \"%s\" must be a list of numbers", path, key);
        out[i] = (float)x;
    }
    return true;
}

static bool read_word(const Setting *s, const Json *j, int *out, const char *path, Err *err)
{
    const char *word = text_of(j, s->key, s->words[0], path, err);
    const int k = word ? index_of(s->words, COUNT(s->words), word) : -1;
    if (k < 0)
        return word && err_set(err, "%s: \"%s\" is \"%.40s\"; it may be %s, %s, %s", path, s->key, word, s->words[0],
                               s->words[1], s->words[2]);
    *out = k;
    return true;
}

/* What is there already stays where the key is absent. */
static bool read_setting(Seq2seqConfig *c, const Setting *s, const Json *j, const char *path, Err *err)
{
    const Json *v = json_get(j, s->key);
    const int most = 1 << (s->later ? 24 : 20);
    int64_t n;
    switch (s->kind) {
    case NUMBER: return read_number(j, s->key, 0, &FIELD(float, c, s->offset), path, err);
    case BLOCKS: return read_list(v, s->key, &FIELD(uint32_t, c, s->offset), path, err);
    case PAIRS: return read_pairs(v, s->key, &FIELD(float, c, s->offset), path, err);
    case WORD: return read_word(s, j, &FIELD(int, c, s->offset), path, err);
    case SIZE:
        if (v && (!json_int(v, &n) || n < 0 || n > most))
            return err_set(err, "%s: \"%s\" must be a whole number, 0 to %d", path, s->key, most);
        if (v)
            FIELD(int, c, s->offset) = (int)n;
        return true;
    case FLAG:
        if (v && json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
            return err_set(err, "%s: \"%s\" must be true or false", path, s->key);
        FIELD(bool, c, s->offset) = json_bool(v, FIELD(bool, c, s->offset));
        return true;
    }
    return true;
}

static bool read_settings(Seq2seqConfig *c, const Json *j, const char *path, Err *err)
{
    for (size_t i = 0; i < COUNT(SETTINGS); i++)
        if (!read_setting(c, &SETTINGS[i], j, path, err))
            return false;
    if (!json_get(j, "head_dim") && c->heads > 0)
        c->head_dim = c->width / c->heads;
    const char *act = text_of(j, "transform_activation", "relu", path, err);
    const int k = act ? index_of(ACTS, MAP_COUNT, act) : -1;
    if (k < 0)
        return act && err_set(err, "%s: \"transform_activation\" is \"%.40s\", which is none", path, act);
    c->transform_act = (MapFn)k;
    return true;
}

static const char *const PLACES[] = {"sinusoidal", "learned", "rotary", "alibi", "none"};

static int places_of(const Seq2seqConfig *c)
{
    return c->pos == SEQ2SEQ_POS_ADDED ? c->learned_positions : (int)c->pos + 1;
}
_Static_assert(SEQ2SEQ_POS_ROPE == 1 && SEQ2SEQ_POS_NONE == 3, "PLACES: one word more than ways");

/* What is there already stays where a key is absent. */
static bool read_special(Vocabulary *v, const Json *j, const char *path, Err *err)
{
    for (size_t i = 0; i < COUNT(SPECIAL); i++) {
        const Json *number = json_get(j, SPECIAL[i].key);
        int64_t n = SPECIAL[i].usual;
        if (number && (!json_int(number, &n) || n < -1 || n > v->n))
            return err_set(err, "%s: \"%s\" must be a word's number", path, SPECIAL[i].key);
        FIELD(int, v, SPECIAL[i].offset) = (int)n;
    }
    return true;
}

static bool read_config(Seq2seqConfig *c, const Json *j, const char *path, Err *err)
{
    if (strcmp(json_text(json_get(j, "model_type"), ""), MODEL_TYPE) != 0)
        return err_set(err, "%s: \"model_type\" is not \"%s\"", path, MODEL_TYPE);
    const char *form = text_of(j, "form", FORMS[SEQ2SEQ_BOTH], path, err),
               *act = form ? text_of(j, "activation", "relu", path, err) : NULL,
               *places = act ? text_of(j, "positional_encoding", "sinusoidal", path, err) : NULL;
    if (!places || !check_keys(j, path, err))
        return false;
    int f = index_of(FORMS, 3, form), a = index_of(ACTS, MAP_COUNT, act);
    if (f < 0)
        return err_set(err, "%s: \"form\" is \"%s\"; it may be encoder-decoder, decoder or encoder", path, form);
    if (a < 0)
        return err_set(err, "%s: \"activation\" is \"%s\"; it may be relu, gelu, gelu_tanh, quick_gelu or silu", path,
                       act);
    const int way = index_of(PLACES, COUNT(PLACES), places);
    if (way < 0)
        return err_set(err,
                       "%s: \"positional_encoding\" is \"%s\"; it may be sinusoidal, learned, rotary, alibi or none",
                       path, places);
    *c = seq2seq_config_base();
    c->form = (Seq2seqForm)f;
    c->act = (MapFn)a;
    c->tied = false;
    c->head_bias = true; /* what PyTorch's nn.Linear has unless it is told otherwise */
    c->learned_positions = way == 1;
    c->pos = way > 1 ? (Seq2seqPos)(way - 1) : SEQ2SEQ_POS_ADDED;
    if (!read_settings(c, j, path, err))
        return false;
    if (f == SEQ2SEQ_ENCODER_ONLY)
        c->decoder_layers = c->target_words = 0;
    if (f == SEQ2SEQ_DECODER_ONLY)
        c->encoder_layers = c->source_words = 0;
    return read_number(j, "layer_norm_eps", 1e-5f, &c->eps, path, err) &&
           read_number(j, "attention_scale", seq2seq_root(c->head_dim > 0 ? c->head_dim : 1, true), &c->scale, path,
                       err) &&
           read_number(j, "embedding_scale", seq2seq_root(c->width, false), &c->embed_scale, path, err) &&
           (seq2seq_check(c, err) || err_prefix(err, "%s", path));
}

static void put_float(Buf *b, const char *key, float x)
{
    buf_printf(b, "  \"%s\": ", key);
    put_shortest(b, x);
    buf_puts(b, ",\n");
}

static void put_list(Buf *b, const char *key, const uint32_t bits[SEQ2SEQ_LAYERS_MOST / 32], int layers)
{
    int n = 0;
    for (int i = 0; i < layers; i++)
        if (bits[i / 32] >> i % 32 & 1)
            n++ ? buf_printf(b, ", %d", i) : buf_printf(b, "  \"%s\": [%d", key, i);
    if (n)
        buf_puts(b, "],\n");
}

static void put_pairs(Buf *b, const char *key, const float *x, int pairs)
{
    buf_printf(b, "  \"%s\": [", key);
    for (int k = 0; k < pairs; k++) {
        buf_puts(b, k ? ", " : "");
        put_shortest(b, x[k]);
    }
    buf_puts(b, "],\n");
}

static void put_setting(Buf *b, const Seq2seqConfig *c, const Setting *s)
{
    const int whole = s->kind == SIZE || s->kind == WORD ? FIELD(const int, c, s->offset) : 0;
    const bool on = s->kind == FLAG && FIELD(const bool, c, s->offset);
    if (s->kind == SIZE && (whole || !s->later))
        buf_printf(b, "  \"%s\": %d,\n", s->key, whole);
    if (s->kind == FLAG && (on || !s->later))
        buf_printf(b, "  \"%s\": %s,\n", s->key, on ? "true" : "false");
    if (s->kind == NUMBER && FIELD(const float, c, s->offset) > 0)
        put_float(b, s->key, FIELD(const float, c, s->offset));
    if (s->kind == BLOCKS)
        put_list(b, s->key, &FIELD(const uint32_t, c, s->offset), c->encoder_layers + c->decoder_layers);
    if (s->kind == PAIRS && c->rope.scaling == ROPE_LONG)
        put_pairs(b, s->key, &FIELD(const float, c, s->offset), seq2seq_rotated(c) / 2);
    if (s->kind == WORD && whole)
        buf_printf(b, "  \"%s\": \"%s\",\n", s->key, s->words[whole]);
}

static void put_settings(Buf *b, const Seq2seqConfig *c, bool later)
{
    for (size_t i = 0; i < COUNT(SETTINGS); i++)
        if (SETTINGS[i].later == later)
            put_setting(b, c, &SETTINGS[i]);
}

bool text_config_read(Model *m, const Json *j, const char *path, Err *err)
{
    if (!read_config(&m->text, j, path, err))
        return false;
    m->trained = json_bool(json_get(j, "trained"), true);
    Vocabulary v = {.n = seq2seq_answer_words(&m->text)};
    if (!read_special(&v, j, path, err))
        return false;
    m->source = m->target = v;
    m->source.n = m->text.source_words;
    m->target.n = m->text.target_words;
    return true;
}

void text_config_put(Buf *b, const Model *m)
{
    const Seq2seqConfig *c = &m->text;
    const Vocabulary *v = seq2seq_has_decoder(c) ? &m->target : &m->source;
    buf_printf(b, "{\n  \"model_type\": \"%s\",\n  \"form\": \"%s\",\n", MODEL_TYPE, FORMS[c->form]);
    put_settings(b, c, false);
    put_float(b, "layer_norm_eps", c->eps);
    put_float(b, "attention_scale", c->scale);
    put_float(b, "embedding_scale", c->embed_scale);
    put_settings(b, c, true);
    if (c->transform)
        buf_printf(b, "  \"transform_activation\": \"%s\",\n", ACTS[c->transform_act]);
    for (size_t i = 0; i < COUNT(SPECIAL); i++)
        if (FIELD(const int, v, SPECIAL[i].offset) != SPECIAL[i].usual)
            buf_printf(b, "  \"%s\": %d,\n", SPECIAL[i].key, FIELD(const int, v, SPECIAL[i].offset));
    buf_printf(b, "  \"activation\": \"%s\",\n  \"positional_encoding\": \"%s\"\n}\n", ACTS[c->act],
               PLACES[places_of(c)]);
}
