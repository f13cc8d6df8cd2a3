/* config.json of a text model from the hub. A key that changes the computation is read or refused; of what is missing
 * the class' own value is taken, and said. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"

enum { PATH = 4096, SENTENCE_BYTES = 1 << 16 };
#define FIELD(type, c, offset) (*(type *)(void *)((char *)(c) + (offset)))
#define OF(field) offsetof(Seq2seqConfig, field)

/* --- activations --- */

static const struct {
    const char *name;
    MapFn act;
} ACTS[] = {
    {"gelu", MAP_GELU},
    {"gelu_new", MAP_GELU_TANH},
    {"gelu_pytorch_tanh", MAP_GELU_TANH},
    {"gelu_fast", MAP_GELU_TANH},
    {"quick_gelu", MAP_QUICK_GELU},
    {"silu", MAP_SILU},
    {"swish", MAP_SILU},
    {"relu", MAP_RELU},
    {"gated-gelu", MAP_GELU_TANH}, /* of T5, whose `finish` sees the gate */
    {"gated-silu", MAP_SILU},
};

static bool act_named(const char *name, MapFn *out)
{
    for (size_t i = 0; i < sizeof ACTS / sizeof *ACTS; i++)
        if (strcmp(ACTS[i].name, name) == 0) {
            *out = ACTS[i].act;
            return true;
        }
    return false;
}

bool hub_act(const HubReading *k, const char *key, const char *act, MapFn *out, Err *err)
{
    return act_named(act, out) ||
           err_set(err, "%s: \"%s\" is \"%.40s\", which is not an activation that is built here", k->path, key, act);
}

/* --- sizes and numbers that all families have, under the names that some of them have for them --- */

/* CAP: a number above 0, where null takes the class' own off. */
typedef enum Kind { WHOLE, REAL, CAP, FLAG, ACT } Kind;
typedef enum Needed {
    NEEDED,
    BY_CLASS,
    QUIET
} Needed; /* QUIET: what is taken where it is absent follows from others */
static const struct {
    const char *names;
    Kind kind;
    size_t offset;
    Needed needed;
    int most; /* of a number: 0 (of a size 1) to this; 0: what such a number holds */
} KEYS[] = {
    {"hidden_size n_embd n_embed d_model dim", WHOLE, OF(width), NEEDED, SEQ2SEQ_WIDTH_MOST},
    {"num_attention_heads n_head num_heads n_heads encoder_attention_heads", WHOLE, OF(heads), NEEDED,
     SEQ2SEQ_HEADS_MOST},
    {"num_hidden_layers n_layer num_layers n_layers encoder_layers", WHOLE, OF(decoder_layers), NEEDED,
     SEQ2SEQ_LAYERS_MOST},
    {"vocab_size", WHOLE, OF(target_words), NEEDED, SEQ2SEQ_WORDS_MOST},
    {"intermediate_size n_inner ffn_dim hidden_dim d_ff encoder_ffn_dim", WHOLE, OF(mlp), QUIET, SEQ2SEQ_MLP_MOST},
    {"num_key_value_heads n_kv_heads", WHOLE, OF(key_heads), QUIET, SEQ2SEQ_HEADS_MOST},
    {"head_dim d_kv", WHOLE, OF(head_dim), QUIET, SEQ2SEQ_HEAD_MOST},
    {"max_position_embeddings n_positions max_seq_len block_size", WHOLE, OF(positions), QUIET, SEQ2SEQ_POSITIONS_MOST},
    {"rms_norm_eps layer_norm_eps layer_norm_epsilon norm_epsilon norm_eps", REAL, OF(eps), BY_CLASS, SEQ2SEQ_EPS_MOST},
    {"rope_theta rotary_emb_base global_rope_theta", REAL, OF(rope.base), BY_CLASS, 0},
    {"tie_word_embeddings", FLAG, OF(tied), BY_CLASS, 0},
    {"hidden_activation hidden_act activation_function activation feed_forward_proj " HUB_NO_ACT, ACT, OF(act),
     BY_CLASS, 0},
};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

/* Keys that mean the same wherever a family reads them (HubFamily.keys), and the fields that they set. */
static const struct {
    const char *key;
    Kind kind;
    size_t offset[3]; /* 0: none */
} KNOBS[] = {
    {"attention_bias", FLAG, {OF(qkv_bias), OF(out_bias)}},
    {"mlp_bias", FLAG, {OF(mlp_bias)}},
    {"enable_bias", FLAG, {OF(qkv_bias), OF(out_bias), OF(mlp_bias)}},
    {"use_bias", FLAG, {OF(qkv_bias), OF(out_bias), OF(mlp_bias)}},
    {"use_qkv_bias", FLAG, {OF(qkv_bias)}},
    {"qkv_bias", FLAG, {OF(qkv_bias)}},
    {"decoder_bias", FLAG, {OF(head_bias)}},
    {"do_layer_norm_before", FLAG, {OF(pre_norm), OF(final_norm)}},
    {"share_encoder_decoder_embeddings", FLAG, {OF(shared)}},
    {"type_vocab_size", WHOLE, {OF(segments)}},
    {"rotary_dim", WHOLE, {OF(rope.width)}},
    {"window_size", WHOLE, {OF(window)}},
    {"local_attention", WHOLE, {OF(window)}},
    {"relative_attention_num_buckets", WHOLE, {OF(distances)}},
    {"relative_attention_max_distance", WHOLE, {OF(distance_most)}},
    {"attn_logit_softcapping", CAP, {OF(score_cap)}},
    {"final_logit_softcapping", CAP, {OF(logit_cap)}},
    {"rope_local_base_freq", REAL, {OF(rope.local_base)}},
    {"local_rope_theta", REAL, {OF(rope.local_base)}},
};
_Static_assert(OF(form) == 0, "KNOBS: no key sets the form");

/* Does the class read the name of row i that most have, the first, of activations hidden_act? Not of ε, which has no
 * such name; of activations not where it has another; and what a program settles itself has no name at all. */
static bool reads_common(const HubReading *k, size_t i)
{
    bool reads = KEYS[i].offset != OF(eps) && !k->family->settled;
    const char *word, *names = KEYS[i].names;
    size_t n;
    while (reads && KEYS[i].kind == ACT && list_next(&names, &word, &n)) {
        char name[64];
        utf8_take(name, sizeof name, word, n);
        reads = !list_has(k->family->names_of_keys, name);
    }
    return reads;
}

/* A name that another class has for one of KEYS, and this one does not read. */
static bool is_foreign(const HubReading *k, const char *key)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (list_has(KEYS[i].names, key)) {
            const char *common = KEYS[i].kind == ACT ? "hidden_act" : KEYS[i].names;
            const size_t n = strcspn(common, " ");
            return !(reads_common(k, i) && strlen(key) == n && strncmp(key, common, n) == 0) &&
                   !list_has(k->family->names_of_keys, key);
        }
    return false;
}

/* The first of the names that the class reads and config.json has, with a value; NULL. */
static const Json *first_of(const HubReading *k, const char *names, const char **name)
{
    const char *word;
    size_t n;
    while (list_next(&names, &word, &n)) {
        char key[64];
        utf8_take(key, sizeof key, word, n);
        if (is_foreign(k, key))
            continue;
        const Json *v = json_get(k->config, key);
        if (v && json_kind(v) != JK_NULL) {
            *name = arena_strdup(&k->m->arena, key);
            return v;
        }
    }
    return NULL;
}

enum { WHOLE_MOST = 1 << 30 };

static bool read_whole(const HubReading *k, const char *key, int least, int most, int *out, Err *err)
{
    const Json *v = json_get(k->config, key);
    int64_t n;
    if (!v || json_kind(v) == JK_NULL)
        return true;
    if (!json_int(v, &n) || n < least || n > most)
        return err_set(err, "%s: \"%s\" must be a whole number, %d to %d", k->path, key, least, most);
    *out = (int)n;
    return true;
}

bool hub_whole(const HubReading *k, const char *key, int *out, Err *err)
{
    return read_whole(k, key, 0, WHOLE_MOST, out, err);
}

bool hub_real(const HubReading *k, const char *key, float *out, Err *err)
{
    const Json *v = json_get(k->config, key);
    double x;
    if (!v || json_kind(v) == JK_NULL)
        return true;
    if (!json_number(v, &x))
        return err_set(err, "%s: \"%s\" must be a number", k->path, key);
    if (!knob_finite((float)x))
        return err_set(err, "%s: \"%s\" is %g; float32 holds numbers up to 3.4e38", k->path, key, x);
    *out = (float)x;
    return true;
}

bool hub_flag(const HubReading *k, const char *key, bool *out, Err *err)
{
    const Json *v = json_get(k->config, key);
    if (!v || json_kind(v) == JK_NULL)
        return true;
    if (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
        return err_set(err, "%s: \"%s\" must be true or false", k->path, key);
    *out = json_bool(v, false);
    return true;
}

bool hub_windows(const HubReading *k, Seq2seqConfig *c, int every, Err *err)
{
    const Json *width = json_get(k->config, "sliding_window"), *types = json_get(k->config, "layer_types");
    if (json_kind(types) == JK_NULL || !list_has(k->family->keys, "layer_types"))
        types = NULL;
    if (width && json_kind(width) == JK_NULL)
        c->window = 0;
    if (!hub_whole(k, "sliding_window", &c->window, err))
        return false;
    if (types && json_count(types) != (size_t)c->decoder_layers)
        return err_set(err, "%s: \"layer_types\" is for %zu blocks, the model has %d", k->path, json_count(types),
                       c->decoder_layers);
    memset(c->windowed, 0, sizeof c->windowed);
    for (int i = 0; i < c->decoder_layers; i++) {
        const char *type = types ? json_text(json_at(types, (size_t)i), "") : "";
        bool on = types ? strcmp(type, "sliding_attention") == 0 : !every || (i + 1) % every != 0;
        if (types && !on && strcmp(type, "full_attention") != 0)
            return err_set(err,
                           "%s: \"layer_types\" has \"%.40s\"; full_attention and sliding_attention are built here",
                           k->path, type);
        if (on && c->window)
            c->windowed[i / 32] |= (uint32_t)1 << i % 32;
    }
    return true;
}

/* What the class calls row i: its own word, else the one that all read; "" where it reads none (of OPT ε). */
static void own_name(const HubReading *k, size_t i, char own[64])
{
    const char *names = KEYS[i].names, *word;
    size_t n;
    own[0] = '\0';
    while (list_next(&names, &word, &n)) {
        char name[64];
        utf8_take(name, sizeof name, word, n);
        if (!is_foreign(k, name) && strcmp(name, HUB_NO_ACT) != 0 &&
            (!*own || list_has(k->family->names_of_keys, name)))
            memcpy(own, name, sizeof name);
    }
}

/* The value of a key into one field; where it is absent the field stays. */
static bool read_field(const HubReading *k, const char *key, Kind kind, Seq2seqConfig *c, size_t offset, Err *err)
{
    const Json *v = json_get(k->config, key);
    if (kind == ACT && v && json_kind(v) != JK_STRING)
        return err_set(err, "%s: \"%s\" must be the name of an activation", k->path, key);
    if (kind == ACT)
        return !v || hub_act(k, key, json_text(v, ""), &FIELD(MapFn, c, offset), err);
    double cap;
    if (kind == CAP && v && json_kind(v) == JK_NULL)
        FIELD(float, c, offset) = 0;
    if (kind == CAP && json_number(v, &cap) && !(cap > 0)) /* the class divides by it */
        return err_set(err, "%s: \"%s\" is %g; it must be above 0, or null for none", k->path, key, cap);
    return kind == WHOLE  ? hub_whole(k, key, &FIELD(int, c, offset), err)
           : kind == FLAG ? hub_flag(k, key, &FIELD(bool, c, offset), err)
                          : hub_real(k, key, &FIELD(float, c, offset), err);
}

static bool read_knobs(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    for (size_t i = 0; i < sizeof KNOBS / sizeof *KNOBS; i++)
        for (int j = 0; j < 3 && KNOBS[i].offset[j] && list_has(k->family->keys, KNOBS[i].key); j++)
            if (!read_field(k, KNOBS[i].key, KNOBS[i].kind, c, KNOBS[i].offset[j], err))
                return false;
    return true;
}

/* Of row i with a limit: is what its key set between 0 and that? */
static bool in_range(const HubReading *k, const char *name, size_t i, const Seq2seqConfig *c, Err *err)
{
    const double x = KEYS[i].most ? (double)FIELD(float, c, KEYS[i].offset) : 0;
    return (x >= 0 && x <= KEYS[i].most) ||
           err_set(err, "%s: \"%s\" is %g; it must be 0 to %d", k->path, name, x, KEYS[i].most);
}

static bool read_key(const HubReading *k, size_t i, Seq2seqConfig *c, Err *err)
{
    const char *name = KEYS[i].names;
    const Json *v = first_of(k, KEYS[i].names, &name);
    if (v && KEYS[i].kind == WHOLE) /* by a head_dim of 0 classes with `or` in them mean that none is given */
        return read_whole(k, name, KEYS[i].offset != OF(head_dim), KEYS[i].most, &FIELD(int, c, KEYS[i].offset), err);
    if (v)
        return read_field(k, name, KEYS[i].kind, c, KEYS[i].offset, err) && in_range(k, name, i, c, err);
    char own[64];
    own_name(k, i, own);
    bool rope = KEYS[i].offset == OF(rope.base);
    if (KEYS[i].needed == NEEDED && !FIELD(int, c, KEYS[i].offset))
        return err_set(err, "%s: \"%s\" is missing: the model can't be built without it", k->path, own);
    if (!*own || KEYS[i].needed == QUIET || k->family->settled ||
        (rope && (c->pos != SEQ2SEQ_POS_ROPE || json_get(k->config, "rope_parameters"))))
        return true;
    if (KEYS[i].kind == ACT)
        model_assume(k->m, "the activation is %s, as Hugging Face's class %s has it", map_name(c->act),
                     k->family->type);
    else if (KEYS[i].kind == WHOLE)
        model_assume(k->m, "%s is %d, as Hugging Face's class %s has it", own, FIELD(int, c, KEYS[i].offset),
                     k->family->type);
    else if (KEYS[i].kind == REAL)
        model_assume(k->m, "%s is %g, as Hugging Face's class %s has it", own, (double)FIELD(float, c, KEYS[i].offset),
                     k->family->type);
    else
        model_assume(k->m, "%s is %s, as Hugging Face's class %s has it", own,
                     FIELD(bool, c, KEYS[i].offset) ? "true" : "false", k->family->type);
    return true;
}

/* --- keys --- */

/* Keys that are read, and those of generation, tokenisers and training that change nothing here. */
static bool is_known(const HubReading *k, const char *key)
{
    static const char OTHERS[] = "model_type rope_scaling rope_parameters layer_types n_ctx trained";
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (list_has(KEYS[i].names, key))
            return true;
    const char *must, *all = k->family->musts;
    size_t n;
    while (list_next(&all, &must, &n))
        if (strlen(key) < n && strncmp(must, key, strlen(key)) == 0 && must[strlen(key)] == '=')
            return true;
    return list_has(OTHERS, key) || list_has(k->family->keys, key) || hub_key_idle(key);
}

/* Does a key say what is taken all the same? taken: as it is printed. */
static bool says_same(size_t i, const Json *v, const Seq2seqConfig *c, char taken[64])
{
    double number = 0;
    MapFn act;
    if (KEYS[i].kind == ACT) {
        utf8_print(taken, 64, "%s", map_name(c->act));
        return act_named(json_text(v, ""), &act) && act == c->act;
    }
    if (KEYS[i].kind == FLAG) {
        const bool on = FIELD(bool, c, KEYS[i].offset);
        utf8_print(taken, 64, "%s", on ? "true" : "false");
        return json_kind(v) == (on ? JK_TRUE : JK_FALSE);
    }
    const bool real = KEYS[i].kind == REAL;
    int whole = real ? 0 : FIELD(int, c, KEYS[i].offset);
    if (KEYS[i].offset == OF(key_heads) && !whole)
        whole = c->heads;
    const double own = real ? (double)FIELD(float, c, KEYS[i].offset) : whole;
    utf8_print(taken, 64, "%g", own);
    return json_number(v, &number) &&
           (real ? (float)number >= (float)own && (float)number <= (float)own : number >= own && number <= own);
}

/* A name that another class has: the program that the model is from passes it over. Beside the value that is taken it
 * says nothing, or else something else than what is computed. */
static bool check_foreign(const HubReading *k, const Seq2seqConfig *c, Err *err)
{
    const char *key = NULL;
    for (const Json *v; (v = json_next(k->config, &key)) != NULL;) {
        char own[64], taken[64];
        size_t i = 0;
        if (json_kind(v) == JK_NULL || !is_foreign(k, key))
            continue;
        while (!list_has(KEYS[i].names, key))
            i++;
        own_name(k, i, own);
        const bool rotates = KEYS[i].offset != OF(rope.base) || c->pos == SEQ2SEQ_POS_ROPE;
        if (!says_same(i, v, c, taken) && KEYS[i].offset != OF(positions) && rotates)
            return err_set(
                err, "%.300s: \"%.60s\" is not read by %s%s%s%s%s, and %s is taken: rename the line, or take it out",
                k->path, key, k->family->settled ? "the program " : "Hugging Face's class ", k->family->type,
                *own ? ", whose key is \"" : ", which has no key for it", own, *own ? "\"" : "", taken);
        model_assume(k->m, "\"%.60s\" of config.json is not read", key);
    }
    return true;
}

/* "key=value key=value", the values as JSON. */
static bool check_musts(const HubReading *k, Err *err)
{
    const char *word, *all = k->family->musts;
    size_t n;
    while (list_next(&all, &word, &n)) {
        char key[64], want[64];
        size_t name = strcspn(word, "=");
        utf8_take(key, sizeof key, word, name);
        utf8_take(want, sizeof want, word + name + 1, n - name - 1);
        const Json *v = json_get(k->config, key);
        JsonKind kind = json_kind(v);
        const char *text = json_text(v, NULL);
        int64_t whole;
        bool same = *want == '1' ? json_int(v, &whole) && whole == 1
                    : *want == '"'
                        ? text && strlen(text) + 2 == strlen(want) && strncmp(text, want + 1, strlen(text)) == 0
                        : (*want == 't' && kind == JK_TRUE) || (*want == 'f' && kind == JK_FALSE);
        if (v && kind != JK_NULL && !same && !(*want == 'n' && kind == JK_FALSE))
            return err_set(err, "%s: \"%s\" must be %s: the other form of %s is not built here", k->path, key, want,
                           k->family->layout);
    }
    return true;
}

/* By whatever program: Hugging Face's key has the method's name, MLX's ("quantization") only how many bits. */
static bool check_quantised(const HubReading *k, Err *err)
{
    static const char *const KEYS_OF_IT[] = {"quantization_config", "quantization", "compression_config",
                                             "quant_config"};
    for (size_t i = 0; i < sizeof KEYS_OF_IT / sizeof *KEYS_OF_IT; i++) {
        const Json *q = json_get(k->config, KEYS_OF_IT[i]);
        int64_t bits;
        char how[64] = "no method is named";
        if (!q || json_kind(q) == JK_NULL)
            continue;
        if (json_int(json_get(q, "bits"), &bits))
            utf8_print(how, sizeof how, "%d bits a weight%s", (int)bits,
                       json_get(k->config, "quantization") ? ", MLX" : "");
        return err_set(
            err,
            "%s: the weights are quantised (%.40s): weights must be F32, F16 or BF16; take the model that it "
            "was made from, or convert it back",
            k->path, json_text(json_get(q, "quant_method"), how));
    }
    return true;
}

static bool special(const HubReading *k, const char *key, int words, int *out, Err *err)
{
    return hub_word(k->m, json_get(k->config, key), k->path, key, words, out, err);
}

const char *hub_type(const Json *config)
{
    if (!json_get(config, "block_size") || !json_get(config, "n_embd"))
        return json_text(json_get(config, "model_type"), "");
    return json_get(config, "embd_pdrop") ? HUB_MINGPT : HUB_NANOGPT;
}

/* The keys of the text, where those of a picture tower stand beside them. */
static const Json *text_part(const HubReading *k, Err *err)
{
    const Json *text = json_get(k->config, "text_config");
    if (!k->family->inside)
        return k->config;
    if (json_kind(text) != JK_OBJECT) {
        err_set(err, "%s: \"text_config\" is missing: it has the keys of the text", k->path);
        return NULL;
    }
    model_assume(k->m, "pictures are not read: the text is the whole model here, its picture tower is left out");
    return text;
}

bool hub_config(Model *m, const Json *whole, const char *path, const HubFamily *f, Err *err)
{
    HubReading k = {f, whole, path, m};
    const Json *config = check_quantised(&k, err) ? text_part(&k, err) : NULL;
    if (!config)
        return false;
    k.config = config;
    Seq2seqConfig c = f->c;
    bool reads = c.form == SEQ2SEQ_ENCODER_ONLY, both = f->names[SEQ2SEQ_SHARED_EMBED] != NULL;
    c.form = reads ? SEQ2SEQ_ENCODER_ONLY : both ? SEQ2SEQ_BOTH : SEQ2SEQ_DECODER_ONLY;
    if (!check_quantised(&k, err) || !check_musts(&k, err))
        return false;
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!read_key(&k, i, &c, err))
            return false;
    if (json_kind(json_get(config, "num_key_value_heads")) == JK_NULL && json_get(config, "num_key_value_heads"))
        c.key_heads = 0; /* not the class' own number */
    c.head_dim = c.head_dim ? c.head_dim : c.width / c.heads;
    c.mlp = c.mlp ? c.mlp : c.width <= 1 << 20 ? 4 * c.width : c.width;
    c.scale = f->unscaled || c.head_dim < 1 ? 1 : seq2seq_root(c.head_dim, true);
    c.embed_scale = f->root_scale ? seq2seq_root(c.width, false) : 1;
    if (!hub_rope(&k, &c, err) || !read_knobs(&k, &c, err) || (f->finish && !f->finish(&k, &c, err)) ||
        !hub_layer_types(&k, &c, err) || !check_foreign(&k, &c, err) || !hub_keys(&k, &c, is_known, err))
        return false;
    if (f->c.rope.local_base > 0 && !(c.rope.local_base > 1))
        return err_set(err, "%s: the base of the rotations of blocks with a window (%s) is %g; it must be above 1",
                       path, list_has(f->keys, "local_rope_theta") ? "local_rope_theta" : "rope_local_base_freq",
                       (double)c.rope.local_base);
    if (c.key_heads == c.heads)
        c.key_heads = 0;
    if (reads) {
        c.source_words = c.target_words;
        c.encoder_layers = c.decoder_layers;
        c.target_words = c.decoder_layers = 0;
    }
    if (both && !c.source_words)
        c.source_words = c.target_words;
    m->text = c;
    m->trained = json_bool(json_get(config, "trained"), true);
    Vocabulary *v = reads ? &m->source : &m->target;
    m->source = m->target = (Vocabulary){.pad = -1, .start = -1, .end = -1};
    *v = (Vocabulary){.n = reads ? c.source_words : c.target_words, .pad = -1, .start = -1, .end = -1};
    if (!special(&k, "pad_token_id", v->n, &v->pad, err) ||
        (!reads &&
         !hub_ends(m, json_get(json_get(config, "eos_token_id") ? config : whole, "eos_token_id"), path, v, err)))
        return false;
    if (both) {
        hub_class_word(&k, "eos_token_id", f->end, &v->end);
        hub_class_word(&k, "pad_token_id", f->pad, &v->pad);
    }
    if (vocabulary_ends(v, v->pad)) /* padding that is also the end may be written */
        v->pad = -1;
    if (both) {
        if (!special(&k, "decoder_start_token_id", v->n, &v->start, err))
            return false;
        if (v->start < 0) {
            v->start = strcmp(f->type, "bart") == 0 ? v->end : v->pad;
            model_assume(m, "decoder_start_token_id is %d, as Hugging Face's class %s has it", v->start, f->type);
        }
        m->source = *v;
        m->source.n = c.source_words;
        if (!hub_forced(m, config, path, strcmp(f->type, "bart") == 0, err))
            return false;
    }
    if (!seq2seq_possible(&c, err)) /* what its weights take is seen with them */
        return err_prefix(err, "%s", path);
    int64_t start;
    return !both || !json_int(json_get(config, "decoder_start_token_id"), &start) || start < v->n ||
           err_set(err, "%s: \"decoder_start_token_id\" is %lld, and by its vocab_size there are %d words", path,
                   (long long)start, v->n);
}
