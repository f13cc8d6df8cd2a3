/* Text models in folders: model.safetensors, config.json, vocabulary.json. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/json.h"
#include "core/io/tensors.h"
#include "core/io/tokenizer.h"
#include "core/models/text_hub.h"
#include "core/models/text_model.h"

enum { PATH = 4096, CONFIG_BYTES = 1 << 20, VOCABULARY_BYTES = 64 << 20 };
static const char MODEL_TYPE[] = "encoder-decoder-transformer";
static const char *const FORMS[] = {
    [SEQ2SEQ_BOTH] = "encoder-decoder", [SEQ2SEQ_DECODER_ONLY] = "decoder", [SEQ2SEQ_ENCODER_ONLY] = "encoder"};
static const char *const ACTS[MAP_COUNT] = {[MAP_RELU] = "relu",
                                            [MAP_GELU] = "gelu",
                                            [MAP_GELU_TANH] = "gelu_tanh",
                                            [MAP_QUICK_GELU] = "quick_gelu",
                                            [MAP_SILU] = "silu"};

/* --- config.json --- */

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
static const char *const KEYS[] = {"model_type",      "form",
                                   "activation",      "positional_encoding",
                                   "layer_norm_eps",  "attention_scale",
                                   "embedding_scale", "trained",
                                   "bos_token_id",    "eos_token_id",
                                   "pad_token_id",    "architectures",
                                   "torch_dtype",     "transformers_version"};

static bool is_known(const char *key)
{
    bool known = index_of(KEYS, sizeof KEYS / sizeof *KEYS, key) >= 0;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        known = known || strcmp(SIZES[i].key, key) == 0;
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        known = known || strcmp(FLAGS[i].key, key) == 0;
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
    if (strcmp(places, "sinusoidal") != 0 && strcmp(places, "learned") != 0)
        return err_set(err, "%s: \"positional_encoding\" is \"%s\"; it may be sinusoidal or learned", path, places);
    *c = seq2seq_config_base();
    c->form = (Seq2seqForm)f;
    c->act = (MapFn)a;
    c->tied = false;
    c->head_bias = true; /* what PyTorch's nn.Linear has unless it is told otherwise */
    c->learned_positions = strcmp(places, "learned") == 0;
    if (!read_sizes(c, j, path, err) || !read_flags(c, j, path, err))
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

static void put_config(Buf *b, const Seq2seqConfig *c)
{
    buf_printf(b, "{\n  \"model_type\": \"%s\",\n  \"form\": \"%s\",\n", MODEL_TYPE, FORMS[c->form]);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        buf_printf(b, "  \"%s\": %d,\n", SIZES[i].key, FIELD(const int, c, SIZES[i].offset));
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        buf_printf(b, "  \"%s\": %s,\n", FLAGS[i].key, FIELD(const bool, c, FLAGS[i].offset) ? "true" : "false");
    put_float(b, "layer_norm_eps", c->eps);
    put_float(b, "attention_scale", c->scale);
    put_float(b, "embedding_scale", c->embed_scale);
    buf_printf(b, "  \"activation\": \"%s\",\n  \"positional_encoding\": \"%s\"\n}\n", ACTS[c->act],
               c->learned_positions ? "learned" : "sinusoidal");
}

/* --- vocabulary.json: {"source": ["<pad>", …], "target": […]} --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A word that stands twice has two numbers, and nobody could say which was meant. */
static bool words_differ(const char *const *word, int n, const char *path, Err *err)
{
    const char **sorted = xmalloc(size_mul((size_t)n, sizeof *sorted)), *twice = NULL;
    memcpy(sorted, word, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_text);
    for (int i = 1; i < n && !twice; i++)
        twice = strcmp(sorted[i - 1], sorted[i]) == 0 ? sorted[i] : NULL;
    free(sorted);
    return !twice ||
           err_set(err, "%s: the word '%.60s' stands twice in a vocabulary: give each its own name", path, twice);
}

static bool read_words(Vocabulary *v, Arena *arena, const Json *list, int n, const char *path, Err *err)
{
    *v = (Vocabulary){.n = n, .pad = -1, .start = -1, .end = -1};
    if (n == 0)
        return true;
    if ((size_t)n != json_count(list))
        return err_set(err, "%s: a vocabulary has %zu words, the model %d", path, json_count(list), n);
    const char **word = arena_alloc(arena, size_mul((size_t)n, sizeof *word));
    for (int i = 0; i < n; i++) {
        const char *text = json_text(json_at(list, (size_t)i), NULL);
        if (!text || !*text || strpbrk(text, " \t\r\n"))
            return err_set(err, "%s: entry %d is not a word", path, i);
        word[i] = arena_strdup(arena, text);
    }
    if (!words_differ(word, n, path, err))
        return false;
    v->word = word;
    v->pad = vocabulary_find(v, "<pad>", 5);
    v->start = vocabulary_find(v, "<s>", 3);
    v->end = vocabulary_find(v, "</s>", 4);
    return true;
}

static void put_string(Buf *b, const char *s)
{
    buf_putc(b, '"');
    for (; *s; s++)
        buf_printf(b, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    buf_putc(b, '"');
}

static void put_words(Buf *b, const char *key, const Vocabulary *v)
{
    buf_printf(b, "  \"%s\": [", key);
    for (int i = 0; v->word && i < v->n; i++) {
        buf_puts(b, i ? ", " : "");
        put_string(b, v->word[i]);
    }
    buf_puts(b, "]");
}

/* --- the folder --- */

static Json *read_json(const char *folder, const char *name, size_t limit, char path[PATH], Err *err)
{
    snprintf(path, PATH, "%s/%s", folder, name);
    return json_read(path, limit, err);
}

/* config.json of a folder, or what a model in one file says of itself (llama2.c); NULL and err. */
static Json *config_of(const char *folder, char path[PATH], Err *err)
{
    TensorFile f;
    if (file_is_dir(folder) || !file_exists(folder))
        return read_json(folder, "config.json", CONFIG_BYTES, path, err);
    snprintf(path, PATH, "%s", folder);
    if (!tensors_open(&f, folder, err))
        return NULL;
    Json *j = f.metadata ? json_parse(path, f.metadata, strlen(f.metadata), err) : NULL;
    if (!f.metadata)
        err_set(err, "%s: no config.json is beside it, and it says nothing of its model", path);
    tensors_close(&f);
    return j;
}

/* The folder of a model's file, or the folder itself. */
static const char *folder_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".safetensors") != 0 || file_is_dir(path))
        return path;
    return !slash ? "." : slash == path ? "/" : arena_printf(arena, "%.*s", (int)(slash - path), path);
}

static const HubFamily *hub_of(const char *type)
{
    for (int i = 0; hub_family(i); i++)
        if (strcmp(hub_family(i)->type, type) == 0)
            return hub_family(i);
    return NULL;
}

bool text_model_is(const char *path)
{
    Arena arena = {0};
    char config[PATH];
    Json *j = config_of(folder_of(&arena, path), config, NULL);
    const char *type = hub_type(j);
    bool is = strcmp(type, MODEL_TYPE) == 0 || hub_of(type) || hub_refused(type);
    json_free(j);
    arena_free(&arena);
    return is;
}

/* hub: the family that config.json names, or NULL: the model is in this program's own form. */
static bool load_config(Model *m, const char *folder, const HubFamily **hub, Err *err)
{
    char path[PATH];
    Json *j = config_of(folder, path, err);
    const char *type = hub_type(j), *why = hub_refused(type);
    *hub = hub_of(type);
    bool ok = j && !why;
    if (why) {
        Buf known = {0};
        hub_list(&known);
        err_set(err, "%s: \"model_type\" is \"%.60s\", which Vitrine does not run: %s. Text models that it runs: %s",
                path, type, why, buf_str(&known));
        buf_free(&known);
    } else if (ok && *hub)
        ok = hub_config(m, j, path, *hub, err);
    else if (ok && (ok = read_config(&m->text, j, path, err)))
        m->trained = json_bool(json_get(j, "trained"), true);
    json_free(j);
    return ok;
}

static bool load_words(Model *m, const char *folder, Err *err)
{
    char path[PATH];
    m->source = (Vocabulary){.n = m->text.source_words, .pad = 0, .start = 1, .end = 2};
    m->target = (Vocabulary){.n = m->text.target_words, .pad = 0, .start = 1, .end = 2};
    snprintf(path, sizeof path, "%s/vocabulary.json", folder);
    if (access(path, F_OK) != 0)
        return true; /* words are called by their numbers */
    Json *j = read_json(folder, "vocabulary.json", VOCABULARY_BYTES, path, err);
    bool ok = j && read_words(&m->source, &m->arena, json_get(j, "source"), m->text.source_words, path, err) &&
              read_words(&m->target, &m->arena, json_get(j, "target"), m->text.target_words, path, err);
    json_free(j);
    return ok;
}

static bool cut(const Tokenizer *t, const char *text, int most, int *number, int *n, Err *err)
{
    Tokens k;
    if (!tokenizer_encode(t, text, strlen(text), true, false, &k, err))
        return false;
    bool ok = k.n <= (size_t)most || err_set(err, "a text may have at most %d words: shorten it", most);
    for (size_t i = 0; ok && i < k.n; i++)
        number[(*n)++] = k.at[i].id;
    tokens_free(&k);
    return ok;
}

static bool cut_pair(const Tokenizer *t, const char *const text[2], int most, int *number, int *segment, int *n,
                     Err *err)
{
    Tokens k;
    int *segments;
    if (!tokenizer_encode_pair(t, text, &k, &segments, err))
        return false;
    bool ok = k.n <= (size_t)most || err_set(err, "two texts may have at most %d words together: shorten one", most);
    for (size_t i = 0; ok && i < k.n; i++, (*n)++) {
        number[i] = k.at[i].id;
        segment[i] = segments[i];
    }
    free(segments);
    tokens_free(&k);
    return ok;
}

static void join(const Tokenizer *t, const int *number, int n, Buf *out)
{
    tokenizer_decode(t, number, (size_t)n, false, out);
}

/* The folder's tokeniser, where it has one: its pieces are the words' names, each as the file has it ("Ġthe"), and a
 * number without a piece is called w5. A piece beyond the model's table is none of its words. */
static bool load_tokenizer(Model *m, const char *folder, Err *err)
{
    if (!tokenizer_is(folder))
        return true;
    Tokenizer *t = tokenizer_open(folder, err);
    if (!t)
        return false;
    m->cutter = arena_alloc(&m->arena, sizeof *m->cutter);
    *m->cutter = (Cutter){t, cut, cut_pair, join, tokenizer_free};
    bool both = m->text.form == SEQ2SEQ_BOTH;
    Vocabulary *v = seq2seq_has_decoder(&m->text) ? &m->target : &m->source;
    const char **word = arena_alloc(&m->arena, size_mul((size_t)v->n, sizeof *word));
    for (int i = 0; i < v->n; i++) {
        const char *piece = tokenizer_piece(t, i);
        word[i] = piece && *piece ? piece : arena_printf(&m->arena, "w%d", i);
    }
    v->word = word;
    v->cutter = m->cutter;
    if (both && m->source.n == v->n) {
        m->source.word = word;
        m->source.cutter = m->cutter;
    }
    return true;
}

bool text_model_load(Model *out, const char *path, ModelProgress progress, void *context, Err *err)
{
    Model m = {0};
    const HubFamily *hub;
    const char *folder = folder_of(&m.arena, path), *name = arena_strdup(&m.arena, folder), *slash;
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/';)
        name = arena_printf(&m.arena, "%.*s", (int)--n, name);
    slash = strrchr(name, '/');
    m.name = slash && slash[1] ? slash + 1 : name;
    bool ok = load_config(&m, folder, &hub, err);
    ok = ok && (hub ? hub_sentence(&m, folder, err) && hub_generation(&m, folder, err) &&
                          hub_weights(&m, folder, hub, progress, context, err) && load_tokenizer(&m, folder, err)
                    : load_words(&m, folder, err) && text_weights_read(&m, folder, err));
    if (ok)
        *out = m;
    else
        model_free(&m);
    return ok;
}

bool text_model_save(const Model *m, const char *folder, Err *err)
{
    char path[PATH];
    Buf text = {0};
    put_config(&text, &m->text);
    snprintf(path, sizeof path, "%s/config.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    if (ok && (m->source.word || m->target.word)) {
        buf_puts(&text, "{\n");
        put_words(&text, "source", &m->source);
        buf_puts(&text, ",\n");
        put_words(&text, "target", &m->target);
        buf_puts(&text, "\n}\n");
        snprintf(path, sizeof path, "%s/vocabulary.json", folder);
        ok = file_write(path, buf_str(&text), text.len, err);
        buf_free(&text);
    }
    return ok && text_weights_write(m, folder, err);
}
