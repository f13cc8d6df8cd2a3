/* Text models in folders: model.safetensors, config.json, vocabulary.json. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/chat.h"
#include "core/io/json.h"
#include "core/io/tensors.h"
#include "core/io/tokenizer.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub_rows.h"
#include "core/models/text_model.h"

enum { PATH = 4096, SENTENCE_BYTES = 1 << 16, CONFIG_BYTES = 1 << 20, VOCABULARY_BYTES = 64 << 20 };
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

/* A model of words that is none of these: it has a vocabulary, and no picture. */
static bool is_stranger(const Json *j)
{
    static const char *const PICTURES[] = {"image_size", "patch_size", "vision_config", "architecture"};
    bool words = json_get(j, "vocab_size") && *hub_type(j);
    for (size_t i = 0; i < sizeof PICTURES / sizeof *PICTURES; i++)
        words = words && !json_get(j, PICTURES[i]);
    return words;
}

bool text_model_is(const char *path)
{
    Arena arena = {0};
    char config[PATH];
    Json *j = config_of(folder_of(&arena, path), config, NULL);
    const char *type = hub_type(j);
    bool is = strcmp(type, TEXT_MODEL_TYPE) == 0 || hub_of(type) || hub_refused(type) || is_stranger(j);
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
    const bool strange = j && !why && !*hub && is_stranger(j);
    bool ok = j && !why && !strange;
    if (why || strange) {
        Buf known = {0};
        hub_list(&known);
        const char *near = strange ? list_meant(buf_str(&known), type, &m->arena) : NULL;
        err_set(err, "%s: \"model_type\" is \"%.60s\", which %s%s%s%s. Text models that it runs: %s", path, type,
                why    ? "Vitrine does not run: "
                : near ? "is not known here; did you mean \""
                       : "is not known here (norms, positions, scores, MLP, names)",
                why    ? why
                : near ? near
                       : "",
                near ? "\"?" : "", near ? " Correct it" : "", buf_str(&known));
        buf_free(&known);
    } else if (ok && *hub)
        ok = hub_config(m, j, path, *hub, err);
    else if (ok)
        ok = text_config_read(m, j, path, err);
    json_free(j);
    return ok;
}

static bool load_words(Model *m, const char *folder, Err *err)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/vocabulary.json", folder);
    if (access(path, F_OK) != 0)
        return true; /* words are called by their numbers */
    Json *j = read_json(folder, "vocabulary.json", VOCABULARY_BYTES, path, err);
    bool ok = j && read_words(&m->source, &m->arena, json_get(j, "source"), m->text.source_words, path, err) &&
              read_words(&m->target, &m->arena, json_get(j, "target"), m->text.target_words, path, err);
    json_free(j);
    return ok;
}

static bool cut(const Tokenizer *t, const char *text, int most, int *number, int *n, char *left, size_t size, Err *err)
{
    Buf written = {0}; /* what the offsets are in */
    Tokens k;
    const size_t chat = strlen(CHAT_PREFIX);
    if (!(strncmp(text, CHAT_PREFIX, chat) == 0 ? tokenizer_chat(t, text + chat, false, &k, &written, NULL, err)
                                                : tokenizer_encode(t, text, strlen(text), true, false, &k, err)))
        return false;
    if (left)
        *left = '\0';
    for (size_t i = 0; left && i < k.losts; i++) {
        const char *from = (written.len ? buf_str(&written) : text) + k.lost[i], *to = from;
        char lost[8];
        utf8_next(&to);
        utf8_take(lost, sizeof lost, from, (size_t)(to - from));
        if (!strstr(left, lost) && strlen(left) + strlen(lost) < size)
            strcat(left, lost);
    }
    buf_free(&written);
    const bool ok = k.n <= (size_t)most;
    for (size_t i = 0; ok && i < k.n; i++)
        number[i] = k.at[i].id;
    *n = (int)k.n;
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

/* Pieces of byte-level BPE are called after the text that they stand for, but for one whose text is another's name:
 * nobody could tell the two apart. NULL: no piece has another name. */
static const char **text_names(Arena *arena, const Tokenizer *t, const char *const *piece, int n)
{
    const char **word = arena_alloc(arena, size_mul((size_t)n, sizeof *word));
    bool any = false, again = true;
    Buf text = {0};
    for (int i = 0; i < n; i++) {
        buf_clear(&text);
        any = tokenizer_text(t, i, &text) || any;
        word[i] = text.len ? arena_strdup(arena, buf_str(&text)) : piece[i];
    }
    while (again) { /* one that stays as it is stored may be what another would be called */
        again = false;
        for (int i = 0; i < n; i++) {
            const int k = word[i] == piece[i] ? -1 : tokenizer_find(t, word[i]);
            if (k >= 0 && k < n && word[k] == piece[k]) {
                word[i] = piece[i];
                again = true;
            }
        }
    }
    buf_free(&text);
    return any ? word : NULL;
}

/* The folder's tokeniser, where it has one: its pieces are the words' names, each as the file has it ("Ġthe", "##ing")
 * or after its text ("日"), and a number without a piece is called w5. A piece beyond the model's table is none of its
 * words. */
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
    const char **text = text_names(&m->arena, t, word, v->n);
    v->word = text ? text : word;
    v->piece = text ? word : NULL;
    v->cutter = m->cutter;
    v->longest = seq2seq_longest(&m->text);
    if (both && m->source.n == v->n) {
        m->source.word = v->word;
        m->source.piece = v->piece;
        m->source.cutter = m->cutter;
        m->source.longest = v->longest;
    }
    return true;
}

/* In this program's own form words have names by a list, or a decoder's by a tokeniser, which puts nothing around. */
static bool own_tokenizer(Model *m, const char *folder, Err *err)
{
    if (m->target.word || m->text.form != SEQ2SEQ_DECODER_ONLY || !tokenizer_is(folder))
        return true;
    m->target.pad = m->target.start = m->target.end = -1;
    return load_tokenizer(m, folder, err);
}

/* --- one vector of a text: modules.json and the folders that it names (sentence-transformers) --- */

/* The way that a folder of pooling names; NONE: another one. */
static SentencePool pool_of(const Json *j, const char **other)
{
    static const char *const OTHERS[] = {"pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
                                         "pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"};
    const char *mode = json_text(json_get(j, "pooling_mode"), "");
    bool first = json_bool(json_get(j, "pooling_mode_cls_token"), strcmp(mode, "cls") == 0),
         mean = json_bool(json_get(j, "pooling_mode_mean_tokens"), strcmp(mode, "mean") == 0);
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (json_bool(json_get(j, OTHERS[i]), false)) {
            *other = OTHERS[i];
            return SENTENCE_NONE;
        }
    *other = first && mean ? "the mean and the first token together" : *mode ? mode : "none that is known";
    return first == mean ? SENTENCE_NONE : first ? SENTENCE_FIRST : SENTENCE_MEAN;
}

static bool read_pool(Model *m, const char *folder, const char *inside, Err *err)
{
    char name[64], path[PATH];
    if (strchr(inside, '/') || strstr(inside, ".."))
        return err_set(err, "%.300s/modules.json: \"%.40s\" is no folder in it", folder, inside);
    utf8_print(name, sizeof name, "%s/config.json", inside);
    Json *j = read_json(folder, name, SENTENCE_BYTES, path, err);
    if (!j)
        return false;
    const char *other;
    m->text.sentence = pool_of(j, &other);
    if (!m->text.sentence)
        model_assume(m, "%s asks for a way to pool that is not computed here (%.60s): a text has no vector", name,
                     other);
    json_free(j);
    return true;
}

/* How an encoder makes one vector of a text: sentence-transformers' files in the folder, or the mean where there are
 * none, which is said. False: damaged. */
static bool hub_sentence(Model *m, const char *folder, Err *err)
{
    char path[PATH];
    utf8_print(path, sizeof path, "%s/modules.json", folder);
    if (m->text.form != SEQ2SEQ_ENCODER_ONLY)
        return true;
    m->text.sentence = SENTENCE_MEAN;
    m->text.unit = UNIT_UNSAID;
    if (!file_exists(path)) {
        model_assume(m, "no modules.json says how a text becomes one vector: it is the mean of its last tokens");
        return true;
    }
    Json *j = read_json(folder, "modules.json", SENTENCE_BYTES, path, err);
    bool ok = j;
    m->text.unit = UNIT_NO;
    for (size_t i = 0; ok && i < json_count(j); i++) {
        const Json *part = json_at(j, i);
        const char *type = json_text(json_get(part, "type"), ""), *dot = strrchr(type, '.'),
                   *last = dot ? dot + 1 : type;
        if (strcmp(last, "Pooling") == 0)
            ok = read_pool(m, folder, json_text(json_get(part, "path"), ""), err);
        else if (strcmp(last, "Normalize") == 0)
            m->text.unit = UNIT_YES;
        else if (strcmp(last, "Transformer") != 0) {
            m->text.sentence = SENTENCE_NONE;
            model_assume(m, "modules.json asks for \"%.40s\", which is not computed here: a text has no vector", last);
            break;
        }
    }
    json_free(j);
    return ok;
}

/* Where sentence-transformers cuts a text, or by itself its tokeniser. Here it is read whole, which is said. */
static bool hub_limit(Model *m, const char *folder, Err *err)
{
    static const char NAME[] = "sentence_bert_config.json";
    char path[PATH];
    int64_t most = 0;
    if (m->text.form != SEQ2SEQ_ENCODER_ONLY)
        return true;
    utf8_print(path, sizeof path, "%s/%s", folder, NAME);
    const char *by = NAME;
    if (file_exists(path)) {
        Json *j = read_json(folder, NAME, SENTENCE_BYTES, path, err);
        const Json *v = json_get(j, "max_seq_length");
        const bool ok = j && (json_kind(v) == JK_NULL || (json_int(v, &most) && most > 0) ||
                              err_set(err, "%s: \"max_seq_length\" must be a number of tokens", path));
        json_free(j);
        if (!ok)
            return false;
    }
    if (!most && m->source.cutter) {
        most = tokenizer_limit(m->source.cutter->own);
        by = "tokenizer.json";
    }
    if (most && most < seq2seq_longest(&m->text)) {
        m->text_limit = (int)most;
        model_assume(m, "by %s its own program cuts a text at %d tokens: here it is read whole", by, m->text_limit);
    }
    return true;
}

/* --- the two layouts that are not the hub's, as rows like its families --- */

/* The program's own form: each weight as the graph calls it. */
#define AT_OUTPUT ""
#define AT_ENCODER "encoder."
#define AT_DECODER "decoder."
#define AT_ENCODER_BLOCK "encoder.blocks.%d."
#define AT_DECODER_BLOCK "decoder.blocks.%d."
static const HubFamily OWN = {.layout = "Vitrine",
                              .told = true,
                              .names = {
#define ROLE(symbol, where, name, axes, start, when) [SEQ2SEQ_##symbol] = AT_##where name,
#include "core/models/seq2seq_roles.def"
                              }};

/* In PyTorch's nn.Transformer the rows of q, k and v are one tensor. */
#define THIRD(P, x, name, part)                                                                                        \
    [SEQ2SEQ_##P##_W_##x] = name ".in_proj_weight#" part "/3", [SEQ2SEQ_##P##_B_##x] = name ".in_proj_bias#" part "/3"
#define ATTENTION(P, name)                                                                                             \
    THIRD(P, Q, name, "0"), THIRD(P, K, name, "1"), THIRD(P, V, name, "2"), BOTH(P##_W_O, P##_B_O, name ".out_proj")
#define MLP(P, name) BOTH(P##_W_UP, P##_B_UP, name ".linear1"), BOTH(P##_W_DOWN, P##_B_DOWN, name ".linear2")
#define ENCODER "transformer.encoder.layers.%d"
#define DECODER "transformer.decoder.layers.%d"
static const HubFamily TORCH = {
    .layout = "PyTorch nn.Transformer",
    .told = true,
    .other = &OWN,
    .names = {ATTENTION(ENC, ENCODER ".self_attn"), MLP(ENC, ENCODER), NORM(ENC_LN1, ENCODER ".norm1"),
              NORM(ENC_LN2, ENCODER ".norm2"), ATTENTION(DEC, DECODER ".self_attn"),
              ATTENTION(CROSS, DECODER ".multihead_attn"), MLP(DEC, DECODER), NORM(DEC_LN1, DECODER ".norm1"),
              NORM(DEC_LN2, DECODER ".norm2"), NORM(DEC_LN3, DECODER ".norm3"),
              NORM(SOURCE_FINAL, "transformer.encoder.norm"), NORM(TARGET_FINAL, "transformer.decoder.norm"),
              [SEQ2SEQ_SOURCE_EMBED] = "src_embed.weight", [SEQ2SEQ_TARGET_EMBED] = "tgt_embed.weight",
              [SEQ2SEQ_SOURCE_POS] = "src_pos.weight", [SEQ2SEQ_TARGET_POS] = "tgt_pos.weight",
              BOTH(HEAD_W, HEAD_B, "generator")},
    /* norms that torch puts behind the stacks may be left out on purpose, as the paper does */
    .useless = "transformer.encoder.norm.* transformer.decoder.norm.*"};

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
                          hub_weights(&m, folder, hub, progress, context, err) && load_tokenizer(&m, folder, err) &&
                          hub_limit(&m, folder, err)
                    : load_words(&m, folder, err) && own_tokenizer(&m, folder, err) &&
                          hub_weights(&m, folder, &TORCH, progress, context, err));
    if (ok) {
        *out = m;
        return true;
    }
    if (err) { /* keys and names from files enter messages in many places; the whole line is made printable once */
        const Err problem = *err;
        utf8_clean(err->text, sizeof err->text, problem.text);
    }
    model_free(&m);
    return false;
}

static const char *stored(const Model *m, const WeightPlace *w, Arena *room, TensorOut *out)
{
    char name[160];
    (void)m, (void)out;
    seq2seq_role_path((Seq2seqRole)w->role, w->layer, name, sizeof name);
    return arena_strdup(room, name);
}

bool text_model_save(const Model *m, const char *folder, Err *err)
{
    char path[PATH];
    Buf text = {0};
    text_config_put(&text, m);
    snprintf(path, sizeof path, "%s/config.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    if (ok && !m->cutter && (m->source.word || m->target.word)) { /* pieces of a tokeniser are no words by themselves */
        buf_puts(&text, "{\n");
        put_words(&text, "source", &m->source);
        buf_puts(&text, ",\n");
        put_words(&text, "target", &m->target);
        buf_puts(&text, "\n}\n");
        snprintf(path, sizeof path, "%s/vocabulary.json", folder);
        ok = file_write(path, buf_str(&text), text.len, err);
        buf_free(&text);
    }
    return ok && model_write_weights(m, folder, stored, NULL, NULL, NULL, err);
}
