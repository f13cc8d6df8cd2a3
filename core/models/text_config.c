/* config.json of a text model in the program's own form: the original Transformer's knobs, and what came after it. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/json.h"
#include "core/models/text_model.h"

static const char MODEL_TYPE[] = TEXT_MODEL_TYPE;
static const char *const FORMS[] = {
    [SEQ2SEQ_BOTH] = "encoder-decoder", [SEQ2SEQ_DECODER_ONLY] = "decoder", [SEQ2SEQ_ENCODER_ONLY] = "encoder"};
static const char *const ACTS[MAP_COUNT] = {[MAP_RELU] = "relu",
                                            [MAP_GELU] = "gelu",
                                            [MAP_GELU_TANH] = "gelu_tanh",
                                            [MAP_QUICK_GELU] = "quick_gelu",
                                            [MAP_SILU] = "silu"};

/* The keys that are whole numbers. */
static const struct {
    const char *key;
    size_t offset;
} SIZES[] = {
    {"src_vocab_size", offsetof(Seq2seqConfig, source_words)},
    {"tgt_vocab_size", offsetof(Seq2seqConfig, target_words)},
    {"d_model", offsetof(Seq2seqConfig, width)},
    {"nhead", offsetof(Seq2seqConfig, heads)},
    {"head_dim", offsetof(Seq2seqConfig, head_dim)},
    {"dim_feedforward", offsetof(Seq2seqConfig, mlp)},
    {"num_encoder_layers", offsetof(Seq2seqConfig, encoder_layers)},
    {"num_decoder_layers", offsetof(Seq2seqConfig, decoder_layers)},
    {"max_positions", offsetof(Seq2seqConfig, positions)},
};
static const struct {
    const char *key;
    size_t offset;
} FLAGS[] = {
    {"norm_first", offsetof(Seq2seqConfig, pre_norm)}, {"final_norm", offsetof(Seq2seqConfig, final_norm)},
    {"tie_embeddings", offsetof(Seq2seqConfig, tied)}, {"generator_bias", offsetof(Seq2seqConfig, head_bias)},
    {"qkv_bias", offsetof(Seq2seqConfig, qkv_bias)},   {"out_bias", offsetof(Seq2seqConfig, out_bias)},
    {"mlp_bias", offsetof(Seq2seqConfig, mlp_bias)},
};
/* What came after the original Transformer: written where it is not that one's, so that its config.json stays short. */
static const struct {
    const char *key;
    size_t offset;
} MORE_SIZES[] =
    {
        {"num_key_value_heads", offsetof(Seq2seqConfig, key_heads)},
        {"first_position", offsetof(Seq2seqConfig, first_position)},
        {"rope_width", offsetof(Seq2seqConfig, rope.width)},
        {"window", offsetof(Seq2seqConfig, window)},
        {"segments", offsetof(Seq2seqConfig, segments)},
        {"word_width", offsetof(Seq2seqConfig, word_width)},
        {"distances", offsetof(Seq2seqConfig, distances)},
        {"farthest_distance", offsetof(Seq2seqConfig, distance_most)},
        {"num_experts", offsetof(Seq2seqConfig, experts.count)},
        {"num_experts_per_tok", offsetof(Seq2seqConfig, experts.chosen)},
        {"expert_width", offsetof(Seq2seqConfig, experts.width)},
        {"shared_expert_width", offsetof(Seq2seqConfig, experts.shared)},
},
  MORE_FLAGS[] =
      {
          {"sines_first", offsetof(Seq2seqConfig, halves)},
          {"norm_behind", offsetof(Seq2seqConfig, after_norm)},
          {"embedding_norm", offsetof(Seq2seqConfig, embed_norm)},
          {"rms_norm", offsetof(Seq2seqConfig, rms_norm)},
          {"norms_without_beta", offsetof(Seq2seqConfig, bare_norm)},
          {"norms_with_1_plus_gamma", offsetof(Seq2seqConfig, gamma_plus)},
          {"no_first_norm", offsetof(Seq2seqConfig, first_bare)},
          {"gated", offsetof(Seq2seqConfig, gated)},
          {"shared_embedding", offsetof(Seq2seqConfig, shared)},
          {"rope_halves", offsetof(Seq2seqConfig, rope.half)},
          {"norm_topk_prob", offsetof(Seq2seqConfig, experts.normalised)},
          {"wordless", offsetof(Seq2seqConfig, wordless)},
          {"transform", offsetof(Seq2seqConfig, transform)},
          {"transform_without_bias", offsetof(Seq2seqConfig, transform_bare)},
          {"pooler", offsetof(Seq2seqConfig, pooler)},
          {"pair", offsetof(Seq2seqConfig, pair)},
          {"replaced", offsetof(Seq2seqConfig, replaced)},
},
  MORE_NUMBERS[] =
      {
          {"rope_theta", offsetof(Seq2seqConfig, rope.base)},
          {"rope_theta_local", offsetof(Seq2seqConfig, rope.local_base)},
          {"rope_factor", offsetof(Seq2seqConfig, rope.factor)},
          {"rope_low", offsetof(Seq2seqConfig, rope.low)},
          {"rope_high", offsetof(Seq2seqConfig, rope.high)},
          {"rope_trained", offsetof(Seq2seqConfig, rope.trained)},
          {"rope_stretch", offsetof(Seq2seqConfig, rope.stretch)},
          {"read_scale", offsetof(Seq2seqConfig, read_scale)},
          {"score_cap", offsetof(Seq2seqConfig, score_cap)},
          {"logit_cap", offsetof(Seq2seqConfig, logit_cap)},
},
  MORE_LISTS[] = /* blocks, bit by bit */
  {{"windowed_layers", offsetof(Seq2seqConfig, windowed)}, {"dense_layers", offsetof(Seq2seqConfig, experts.dense)}};
enum { MORE_WORD_MOST = 4 };
static const struct {
    const char *key;
    size_t offset;
    const char *words[MORE_WORD_MOST]; /* of its values, from 0 on */
} MORE_WORDS[] = {
    {"norm_of_queries", offsetof(Seq2seqConfig, head_norm), {"none", "each head", "all heads"}},
    {"parallel", offsetof(Seq2seqConfig, parallel), {"no", "two norms", "one norm"}},
    {"rope_scaling", offsetof(Seq2seqConfig, rope.scaling), {"none", "linear", "llama3", "yarn"}},
    {"sentence", offsetof(Seq2seqConfig, sentence), {"none", "mean", "first"}},
    {"unit_length", offsetof(Seq2seqConfig, unit), {"unsaid", "no", "yes"}},
};
/* Numbers of words with a meaning, where they are not those of load_words; −1: there is none. */
static const struct {
    const char *key;
    size_t offset;
    int usual;
} SPECIAL[] = {
    {"padding_word", offsetof(Vocabulary, pad), 0},     {"start_word", offsetof(Vocabulary, start), 1},
    {"end_word", offsetof(Vocabulary, end), 2},         {"first_word_and_1", offsetof(Vocabulary, first), 0},
    {"last_word_and_1", offsetof(Vocabulary, last), 0},
};
#define COUNT(table) (sizeof(table) / sizeof *(table))
#define FIELD(type, c, offset) (*(type *)(void *)((char *)(c) + (offset)))

static int index_of(const char *const *words, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (words[i] && strcmp(words[i], word) == 0)
            return (int)i;
    return -1;
}

static bool read_sizes(Seq2seqConfig *c, const Json *j, const char *path, Err *err)
{
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        const Json *v = json_get(j, SIZES[i].key);
        int64_t n;
        if (!v)
            continue;
        if (!json_int(v, &n) || n < 0 || n > 1 << 20)
            return err_set(err, "%s: \"%s\" must be a whole number, 0 to %d", path, SIZES[i].key, 1 << 20);
        FIELD(int, c, SIZES[i].offset) = (int)n;
    }
    if (!json_get(j, "head_dim") && c->heads > 0)
        c->head_dim = c->width / c->heads;
    return true;
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
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        known = known || strcmp(SIZES[i].key, key) == 0;
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        known = known || strcmp(FLAGS[i].key, key) == 0;
    for (size_t i = 0; i < COUNT(MORE_SIZES); i++)
        known = known || strcmp(MORE_SIZES[i].key, key) == 0;
    for (size_t i = 0; i < COUNT(MORE_FLAGS); i++)
        known = known || strcmp(MORE_FLAGS[i].key, key) == 0;
    for (size_t i = 0; i < COUNT(MORE_NUMBERS); i++)
        known = known || strcmp(MORE_NUMBERS[i].key, key) == 0;
    for (size_t i = 0; i < COUNT(MORE_LISTS); i++)
        known = known || strcmp(MORE_LISTS[i].key, key) == 0;
    for (size_t i = 0; i < COUNT(MORE_WORDS); i++)
        known = known || strcmp(MORE_WORDS[i].key, key) == 0;
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
        for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
            buf_printf(&names, " %s", SIZES[i].key);
        for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
            buf_printf(&names, " %s", FLAGS[i].key);
        err_set(err,
                "%.300s: \"%.40s\" is not known; known are%s layer_norm_eps attention_scale embedding_scale activation "
                "positional_encoding form trained: correct the name, or take the line out if the model does without it",
                path, key, buf_str(&names));
        buf_free(&names);
        return false;
    }
    return true;
}

static bool read_flags(Seq2seqConfig *c, const Json *j, const char *path, Err *err)
{
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        const Json *v = json_get(j, FLAGS[i].key);
        if (v && json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
            return err_set(err, "%s: \"%s\" must be true or false", path, FLAGS[i].key);
        FIELD(bool, c, FLAGS[i].offset) = json_bool(v, FIELD(bool, c, FLAGS[i].offset));
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

/* What the original Transformer has not. */
static bool read_more(Seq2seqConfig *c, const Json *j, const char *path, Err *err)
{
    for (size_t i = 0; i < COUNT(MORE_SIZES); i++) {
        const Json *v = json_get(j, MORE_SIZES[i].key);
        int64_t n = 0;
        if (v && (!json_int(v, &n) || n < 0 || n > 1 << 24))
            return err_set(err, "%s: \"%s\" must be a whole number, 0 to %d", path, MORE_SIZES[i].key, 1 << 24);
        FIELD(int, c, MORE_SIZES[i].offset) = (int)n;
    }
    for (size_t i = 0; i < COUNT(MORE_FLAGS); i++) {
        const Json *v = json_get(j, MORE_FLAGS[i].key);
        if (v && json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
            return err_set(err, "%s: \"%s\" must be true or false", path, MORE_FLAGS[i].key);
        FIELD(bool, c, MORE_FLAGS[i].offset) = json_bool(v, false);
    }
    for (size_t i = 0; i < COUNT(MORE_NUMBERS); i++)
        if (!read_number(j, MORE_NUMBERS[i].key, 0, &FIELD(float, c, MORE_NUMBERS[i].offset), path, err))
            return false;
    for (size_t i = 0; i < COUNT(MORE_LISTS); i++)
        if (!read_list(json_get(j, MORE_LISTS[i].key), MORE_LISTS[i].key, &FIELD(uint32_t, c, MORE_LISTS[i].offset),
                       path, err))
            return false;
    for (size_t i = 0; i < COUNT(MORE_WORDS); i++) {
        const char *word = text_of(j, MORE_WORDS[i].key, MORE_WORDS[i].words[0], path, err);
        const int k = word ? index_of(MORE_WORDS[i].words, MORE_WORD_MOST, word) : -1;
        if (k < 0)
            return word && err_set(err, "%s: \"%s\" is \"%.40s\"; it may be %s, %s, %s", path, MORE_WORDS[i].key, word,
                                   MORE_WORDS[i].words[0], MORE_WORDS[i].words[1], MORE_WORDS[i].words[2]);
        FIELD(int, c, MORE_WORDS[i].offset) = k;
    }
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
    if (!read_sizes(c, j, path, err) || !read_flags(c, j, path, err) || !read_more(c, j, path, err))
        return false;
    if (f == SEQ2SEQ_ENCODER_ONLY)
        c->decoder_layers = c->target_words = 0;
    if (f == SEQ2SEQ_DECODER_ONLY)
        c->encoder_layers = c->source_words = 0;
    return read_number(j, "layer_norm_eps", 1e-5f, &c->eps, path, err) &&
           read_number(j, "attention_scale", seq2seq_root(c->head_dim > 0 ? c->head_dim : 1, true), &c->scale, path,
                       err) &&
           read_number(j, "embedding_scale", seq2seq_root(c->width, false), &c->embed_scale, path, err) &&
           seq2seq_check(c, err);
}

/* The shortest decimal that reads back as the same float. */
static void put_float(Buf *b, const char *key, float x)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
    while (digits++ < 9 && strtof(text, NULL) != x);
    buf_printf(b, "  \"%s\": %s,\n", key, text);
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

static void put_more(Buf *b, const Seq2seqConfig *c)
{
    for (size_t i = 0; i < COUNT(MORE_SIZES); i++)
        if (FIELD(const int, c, MORE_SIZES[i].offset))
            buf_printf(b, "  \"%s\": %d,\n", MORE_SIZES[i].key, FIELD(const int, c, MORE_SIZES[i].offset));
    for (size_t i = 0; i < COUNT(MORE_FLAGS); i++)
        if (FIELD(const bool, c, MORE_FLAGS[i].offset))
            buf_printf(b, "  \"%s\": true,\n", MORE_FLAGS[i].key);
    for (size_t i = 0; i < COUNT(MORE_NUMBERS); i++)
        if (FIELD(const float, c, MORE_NUMBERS[i].offset) > 0)
            put_float(b, MORE_NUMBERS[i].key, FIELD(const float, c, MORE_NUMBERS[i].offset));
    for (size_t i = 0; i < COUNT(MORE_LISTS); i++)
        put_list(b, MORE_LISTS[i].key, &FIELD(const uint32_t, c, MORE_LISTS[i].offset),
                 c->encoder_layers + c->decoder_layers);
    for (size_t i = 0; i < COUNT(MORE_WORDS); i++)
        if (FIELD(const int, c, MORE_WORDS[i].offset))
            buf_printf(b, "  \"%s\": \"%s\",\n", MORE_WORDS[i].key,
                       MORE_WORDS[i].words[FIELD(const int, c, MORE_WORDS[i].offset)]);
    if (c->transform)
        buf_printf(b, "  \"transform_activation\": \"%s\",\n", ACTS[c->transform_act]);
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
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        buf_printf(b, "  \"%s\": %d,\n", SIZES[i].key, FIELD(const int, c, SIZES[i].offset));
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        buf_printf(b, "  \"%s\": %s,\n", FLAGS[i].key, FIELD(const bool, c, FLAGS[i].offset) ? "true" : "false");
    put_float(b, "layer_norm_eps", c->eps);
    put_float(b, "attention_scale", c->scale);
    put_float(b, "embedding_scale", c->embed_scale);
    put_more(b, c);
    for (size_t i = 0; i < COUNT(SPECIAL); i++)
        if (FIELD(const int, v, SPECIAL[i].offset) != SPECIAL[i].usual)
            buf_printf(b, "  \"%s\": %d,\n", SPECIAL[i].key, FIELD(const int, v, SPECIAL[i].offset));
    buf_printf(b, "  \"activation\": \"%s\",\n  \"positional_encoding\": \"%s\"\n}\n", ACTS[c->act],
               PLACES[places_of(c)]);
}
