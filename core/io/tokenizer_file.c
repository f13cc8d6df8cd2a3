/* A tokeniser out of its files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/io/llama2c.h"
#include "core/io/tokenizer_parts.h"

/* ---- tokenizer.json ---- */

/* Added tokens may have numbers beyond the vocabulary: the table is made again with room for them. */
static bool make_room(Tokenizer *t, int largest, Err *err)
{
    PieceTable old = t->model.table, new = {.n = 0};
    if (largest < old.n)
        return true;
    if (!table_room(&new, (size_t)old.n, largest))
        return err_set(err, "%s: an added token has the number %d, the vocabulary ends at %d", t->path, largest, old.n);
    for (int i = 0; i < old.n; i++)
        if (old.name[i])
            table_add(&new, old.name[i], old.length[i], i);
    if (t->model.score) {
        t->model.score = xrealloc(t->model.score, size_mul((size_t) new.n, sizeof *t->model.score));
        for (int i = old.n; i < new.n; i++)
            t->model.score[i] = -(double)INFINITY; /* it is written, and nothing is cut into it */
    }
    t->model.table = new;
    table_free(&old);
    return true;
}

static int longer(const void *a, const void *b)
{
    const Added *x = a, *y = b;
    return (x->length < y->length) - (x->length > y->length);
}

static void sort_added(Tokenizer *t)
{
    qsort(t->added, t->addeds, sizeof *t->added, longer);
    for (int b = 0; b < 256; b++) {
        size_t n = 0;
        for (size_t i = 0; i < t->addeds; i++)
            n += (unsigned char)*t->added[i].text == b;
        size_t *list = n ? arena_alloc(&t->arena, (n + 1) * sizeof *list) : NULL;
        t->first_byte[b] = list;
        for (size_t i = 0; n && i < t->addeds; i++)
            if ((unsigned char)*t->added[i].text == b)
                *list++ = i;
        if (n)
            *list = SIZE_MAX;
    }
}

static bool read_added(Tokenizer *t, const Json *list, Err *err)
{
    size_t n = json_count(list);
    int64_t id, largest = -1;
    enum { ADDED_MOST = 100000 };
    if (n > ADDED_MOST)
        return err_set(err, "%s: %zu added tokens, more than %d", t->path, n, ADDED_MOST);
    for (size_t i = 0; i < n; i++) {
        const Json *j = json_at(list, i);
        if (!json_int(json_get(j, "id"), &id) || id < 0 || id >= INT32_MAX || !*json_text(json_get(j, "content"), ""))
            return err_set(err, "%s: added token %zu has no \"id\" or no \"content\"", t->path, i);
        largest = id > largest ? id : largest;
    }
    if (!make_room(t, (int)largest, err))
        return false;
    t->added = xcalloc(n + 1, sizeof *t->added);
    t->special = xcalloc((size_t)t->model.table.n + 1, sizeof *t->special);
    for (size_t i = 0; i < n; i++) {
        const Json *j = json_at(list, i);
        const char *text = arena_strdup(&t->arena, json_text(json_get(j, "content"), ""));
        json_int(json_get(j, "id"), &id);
        int is = table_find(&t->model.table, text, strlen(text));
        if (is < 0 && !table_add(&t->model.table, text, strlen(text), (int)id))
            return err_set(err, "%s: the added token \"%.60s\" has the number %lld, which is another piece's", t->path,
                           text, (long long)id);
        is = is < 0 ? (int)id : is;
        bool special = json_bool(json_get(j, "special"), false);
        t->special[is] = special;
        t->added[t->addeds++] = (Added){.text = text,
                                        .length = strlen(text),
                                        .id = is,
                                        .special = special,
                                        .normalized = json_bool(json_get(j, "normalized"), !special),
                                        .strip_left = json_bool(json_get(j, "lstrip"), false),
                                        .strip_right = json_bool(json_get(j, "rstrip"), false),
                                        .whole_word = json_bool(json_get(j, "single_word"), false)};
    }
    sort_added(t);
    return true;
}

/* Added tokens that the normaliser also sees: they are looked for in the form that it gives them. */
static bool normalize_added(Tokenizer *t, Err *err)
{
    bool any = false;
    for (size_t i = 0; i < t->addeds; i++) {
        Added *a = &t->added[i];
        Working w = {.from = NULL};
        if (!a->normalized || !t->normals)
            continue;
        working_add(&w, a->text, a->length, 0);
        working_end(&w, a->length);
        bool ok = normal_run(t->normal, t->normals, &w, err);
        if (ok && w.text.len) {
            a->text = arena_strdup(&t->arena, buf_str(&w.text));
            a->length = strlen(a->text);
            any = true;
        }
        working_free(&w);
        if (!ok)
            return false;
    }
    if (any)
        sort_added(t);
    return true;
}

/* A special token of a template: the numbers that are put for it. */
typedef struct Mark {
    const char *name;
    int id[16], n;
} Mark;
enum { MARK_MOST = sizeof((Mark *)NULL)->id / sizeof(int) };

static bool mark_add(const Tokenizer *t, Mark *m, int64_t id, Err *err)
{
    if (id < 0 || id >= t->model.table.n || !tokenizer_piece(t, (int)id))
        return err_set(err, "%s: the template's \"%.60s\" is not in the vocabulary", t->path, m->name);
    if (m->n >= MARK_MOST)
        return err_set(err, "%s: the template's \"%.60s\" has more than %d numbers", t->path, m->name, MARK_MOST);
    m->id[m->n++] = (int)id;
    return true;
}

/* By the numbers that a list has for it, which need not be the one that the vocabulary has for its name; NULL: that. */
static bool mark_read(const Tokenizer *t, const char *name, const Json *list, Mark *out, Err *err)
{
    int64_t id;
    *out = (Mark){.name = name};
    if (!list)
        return mark_add(t, out, tokenizer_find(t, name), err);
    for (size_t i = 0; i < json_count(list); i++)
        if (!json_int(json_at(list, i), &id))
            return err_set(err, "%s: the numbers of the template's \"%.60s\" are none", t->path, name);
        else if (!mark_add(t, out, id, err))
            return false;
    return true;
}

/* …by the table of the template j. Only files made here have none. */
static bool mark_named(const Tokenizer *t, const Json *j, const Json *token, Mark *out, Err *err)
{
    const char *name = json_text(json_get(token, "id"), "");
    const Json *table = json_get(j, "special_tokens"), *ids = json_get(json_get(table, name), "ids");
    if (table && json_kind(ids) != JK_ARRAY)
        return err_set(err, "%s: the template's \"%.60s\" has no \"ids\" in \"special_tokens\"", t->path, name);
    return mark_read(t, name, ids, out, err);
}

static bool add_around(Tokenizer *t, bool behind, const Mark *m, Err *err)
{
    int *n = behind ? &t->afters : &t->befores;
    if (*n + m->n > MARK_MOST)
        return err_set(err, "%s: the template puts more than %d tokens around a text", t->path, MARK_MOST);
    for (int i = 0; i < m->n; i++)
        (behind ? t->after : t->before)[(*n)++] = m->id[i];
    return true;
}

/* A part of the template of two texts: a token, or where that is NULL a text. False: too many of them. */
static bool add_pair(Tokenizer *t, const Mark *m, int text, int type, Err *err)
{
    const int n = m ? m->n : 1;
    if (t->pairs + n > (int)(sizeof t->pair / sizeof *t->pair) || type < 0 || type > 1)
        return err_set(err, "%s: the template of two texts is not possible at \"%.60s\"", t->path,
                       m ? m->name : "Sequence");
    for (int i = 0; i < n; i++) {
        t->pair[t->pairs].id = m ? m->id[i] : -1;
        t->pair[t->pairs].text = text;
        t->pair[t->pairs++].type = type;
    }
    return true;
}

static bool read_pair(Tokenizer *t, const Json *j, Err *err)
{
    const Json *pair = json_get(j, "pair");
    for (size_t i = 0; i < json_count(pair); i++) {
        const Json *part = json_at(pair, i), *token = json_get(part, "SpecialToken"),
                   *what = token ? token : json_get(part, "Sequence");
        int64_t type = 0;
        Mark m;
        json_int(json_get(what, "type_id"), &type);
        if ((token && !mark_named(t, j, token, &m, err)) ||
            !add_pair(t, token ? &m : NULL, strcmp(json_text(json_get(what, "id"), ""), "B") == 0,
                      type < 0 || type > 1 ? -1 : (int)type, err))
            return false;
    }
    return true;
}

/* [CLS] a [SEP] b [SEP]; RoBERTa: twice in the middle, and all of one segment. */
static bool pair_around(Tokenizer *t, const Mark *cls, const Mark *sep, bool roberta, Err *err)
{
    int second = roberta ? 0 : 1;
    return add_pair(t, cls, 0, 0, err) && add_pair(t, NULL, 0, 0, err) && add_pair(t, sep, 0, 0, err) &&
           (!roberta || add_pair(t, sep, 0, 0, err)) && add_pair(t, NULL, 1, second, err) &&
           add_pair(t, sep, 0, second, err);
}

/* ["[CLS]", 101] */
static bool mark_numbered(const Tokenizer *t, const Json *pair, Mark *out, Err *err)
{
    int64_t id;
    *out = (Mark){.name = json_text(json_at(pair, 0), "")};
    if (json_count(pair) < 2) /* only in what is made here */
        return mark_read(t, out->name, NULL, out, err);
    return json_int(json_at(pair, 1), &id)
               ? mark_add(t, out, id, err)
               : err_set(err, "%s: the number of the template's \"%.60s\" is none", t->path, out->name);
}

static bool read_template(Tokenizer *t, const Json *j, Err *err)
{
    const Json *single = json_get(j, "single");
    bool behind = false;
    Mark m;
    for (size_t i = 0; i < json_count(single); i++) {
        const Json *part = json_at(single, i), *token = json_get(part, "SpecialToken");
        if (token && (!mark_named(t, j, token, &m, err) || !add_around(t, behind, &m, err)))
            return false;
        if (behind && json_get(part, "Sequence"))
            return err_set(err, "%s: the template puts the text in twice, which is not known here", t->path);
        behind = behind || json_get(part, "Sequence");
    }
    return read_pair(t, j, err);
}

static bool read_post(Tokenizer *t, const Json *j, Err *err)
{
    const char *type = json_text(json_get(j, "type"), "");
    if (json_kind(j) == JK_NULL || strcmp(type, "ByteLevel") == 0)
        return true;
    if (strcmp(type, "Sequence") == 0) {
        const Json *parts = json_get(j, "processors");
        for (size_t i = 0; i < json_count(parts); i++)
            if (json_get(json_at(parts, i), "processors") || !read_post(t, json_at(parts, i), err))
                return false;
        return true;
    }
    if (strcmp(type, "TemplateProcessing") == 0)
        return read_template(t, j, err);
    if (strcmp(type, "BertProcessing") == 0 || strcmp(type, "RobertaProcessing") == 0) {
        Mark cls, sep;
        return mark_numbered(t, json_get(j, "cls"), &cls, err) && mark_numbered(t, json_get(j, "sep"), &sep, err) &&
               add_around(t, false, &cls, err) && add_around(t, true, &sep, err) &&
               pair_around(t, &cls, &sep, strcmp(type, "RobertaProcessing") == 0, err);
    }
    return err_set(err, "%s: the post-processor \"%.40s\" is not known here", t->path, type);
}

/* Which of the ways to decode a list of decoders comes to. */
static bool read_decoder(Tokenizer *t, const Json *j, Err *err)
{
    static const struct {
        const char *name;
        DecodeKind kind;
    } kinds[] = {{"ByteLevel", DECODE_BYTES},   {"Metaspace", DECODE_META},      {"Replace", DECODE_META},
                 {"ByteFallback", DECODE_META}, {"WordPiece", DECODE_WORDPIECE}, {"BPEDecoder", DECODE_SUFFIX}};
    const char *type = json_text(json_get(j, "type"), "");
    if (strcmp(type, "Sequence") == 0) {
        const Json *parts = json_get(j, "decoders");
        for (size_t i = 0; i < json_count(parts); i++)
            if (json_get(json_at(parts, i), "decoders") || !read_decoder(t, json_at(parts, i), err))
                return false;
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(type, kinds[i].name) == 0)
            t->decode = kinds[i].kind;
    t->fallback = t->fallback || strcmp(type, "ByteFallback") == 0;
    t->strip = t->strip || strcmp(type, "Strip") == 0 ||
               (strcmp(type, "Metaspace") == 0 &&
                strcmp(json_text(json_get(j, "prepend_scheme"), "always"), "never") != 0 &&
                json_bool(json_get(j, "add_prefix_space"), true));
    return true;
}

static bool read_whole(Tokenizer *t, const Json *j, Err *err)
{
    int64_t most;
    if (json_int(json_get(json_get(j, "truncation"), "max_length"), &most) && most > 0 && most < INT32_MAX)
        t->limit = (int)most;
    return model_read(&t->model, json_get(j, "model"), t->path, err) &&
           read_added(t, json_get(j, "added_tokens"), err) &&
           normal_read(json_get(j, "normalizer"), t->path, &t->normal, &t->normals, err) && normalize_added(t, err) &&
           split_read(json_get(j, "pre_tokenizer"), t->path, &t->split, &t->splits, err) &&
           read_post(t, json_get(j, "post_processor"), err) && read_decoder(t, json_get(j, "decoder"), err);
}

static bool read_json(Tokenizer *t, Err *err)
{
    Json *j = json_read(t->path, TOKENIZER_FILE, err);
    bool ok = j && read_whole(t, j, err);
    json_free(j);
    return ok;
}

/* ---- vocab.json with merges.txt (GPT-2), vocab.txt (BERT) ---- */

typedef struct LineMerges {
    const char *at, *path;
    size_t line;
} LineMerges;

static bool line_merge(void *from, const char *pair[2], size_t length[2], Err *err)
{
    LineMerges *m = from;
    m->line++;
    pair[0] = m->at;
    length[0] = strcspn(m->at, " \n");
    m->at += length[0] + (m->at[length[0]] == ' ');
    pair[1] = m->at;
    length[1] = strcspn(m->at, "\r\n");
    m->at += strcspn(m->at, "\n");
    m->at += *m->at == '\n';
    return (length[0] && length[1] && !memchr(pair[1], ' ', length[1])) ||
           err_set(err, "%s: line %zu is no pair of pieces", m->path, m->line);
}

/* GPT-2's files say no more than this: its pattern, bytes as characters, <|endoftext|> as the one special token. */
static bool read_gpt2(Tokenizer *t, const char *folder, Err *err)
{
    static const char WHOLE[] = "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}", SPECIAL[] = "<|endoftext|>";
    char path[1200];
    Buf vocabulary = {0}, merges = {0}, model = {0};
    snprintf(path, sizeof path, "%s/merges.txt", folder);
    bool ok = file_read(t->path, TOKENIZER_FILE, &vocabulary, err) && file_read(path, TOKENIZER_FILE, &merges, err);
    if (ok) {
        buf_puts(&model, "{\"type\": \"BPE\", \"merges\": [], \"vocab\": ");
        buf_add(&model, vocabulary.data, vocabulary.len);
        buf_puts(&model, "}");
    }
    Json *j = ok ? json_parse(t->path, model.data, model.len, err) : NULL;
    ok = j && model_read(&t->model, j, t->path, err);
    json_free(j);
    LineMerges lines = {buf_str(&merges), path, 0};
    if (strncmp(lines.at, "#version", 8) == 0) {
        lines.at += strcspn(lines.at, "\n");
        lines.at += *lines.at == '\n';
        lines.line = 1;
    }
    size_t count = 0;
    for (const char *s = lines.at; *s; s += strcspn(s, "\n"), s += *s == '\n')
        count += *s != '\n';
    free(t->model.merge);
    t->model.merge = NULL;
    t->model.merges = t->model.slots = 0;
    ok = ok && model_merges(&t->model, count, line_merge, &lines, path, err);
    j = ok ? json_parse("the pattern", WHOLE, strlen(WHOLE), err) : NULL;
    ok = j && split_read(j, t->path, &t->split, &t->splits, err);
    json_free(j);
    Buf added = {0};
    int id = ok ? tokenizer_find(t, SPECIAL) : -1;
    buf_puts(&added, "[");
    if (id >= 0)
        buf_printf(&added, "{\"id\": %d, \"content\": \"%s\", \"special\": true}", id, SPECIAL);
    buf_puts(&added, "]");
    j = ok ? json_parse("added tokens", added.data, added.len, err) : NULL;
    ok = j && read_added(t, j, err);
    json_free(j);
    t->decode = DECODE_BYTES;
    buf_free(&added);
    buf_free(&vocabulary);
    buf_free(&merges);
    buf_free(&model);
    return ok;
}

/* A piece a line. Whether letters are made small the file does not say: small where no capital stands in it alone
 * (bert-base-uncased has none outside its brackets). */
static bool read_bert(Tokenizer *t, Err *err)
{
    Buf text = {0}, whole = {0};
    bool capitals = false;
    int id = 0;
    if (!file_read(t->path, TOKENIZER_FILE, &text, err))
        return false;
    buf_puts(&whole, "{\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", \"continuing_subword_prefix\": "
                     "\"##\", \"vocab\": {");
    Buf added = {0};
    for (const char *s = buf_str(&text); *s; id++) {
        size_t n = strcspn(s, "\r\n");
        char *piece = xmalloc(n + 1);
        memcpy(piece, s, n);
        piece[n] = 0;
        bool special = n > 2 && *piece == '[' && piece[n - 1] == ']' && strncmp(piece, "[unused", 7) != 0;
        for (size_t i = 0; !special && *piece != '[' && i < n; i++)
            capitals = capitals || (piece[i] >= 'A' && piece[i] <= 'Z');
        buf_puts(&whole, id ? ",\n" : ""); /* an error's line is the file's */
        buf_json(&whole, piece);
        buf_printf(&whole, ":%d", id);
        if (special) {
            buf_printf(&added, "%s{\"id\": %d, \"special\": true, \"content\": ", added.len ? "," : "", id);
            buf_json(&added, piece);
            buf_puts(&added, "}");
        }
        free(piece);
        s += n;
        s += *s == '\r';
        s += *s == '\n';
    }
    buf_printf(&whole,
               "}}, \"added_tokens\": [%s], \"normalizer\": {\"type\": \"BertNormalizer\", \"lowercase\": %s}, "
               "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, "
               "\"post_processor\": {\"type\": \"BertProcessing\", \"cls\": [\"[CLS]\"], \"sep\": [\"[SEP]\"]}, "
               "\"decoder\": {\"type\": \"WordPiece\"}}",
               buf_str(&added), capitals ? "false" : "true");
    Json *j = json_parse(t->path, whole.data, whole.len, err);
    bool ok = j && read_whole(t, j, err);
    json_free(j);
    buf_free(&text);
    buf_free(&whole);
    buf_free(&added);
    return ok;
}

/* ---- SentencePiece models ---- */

static bool read_spm(Tokenizer *t, const SpmFile *f, const char *bytes, size_t n, Err *err)
{
    Buf whole = {0};
    Json *j = spm_json(f, bytes, n, &whole, err) ? json_parse(t->path, whole.data, whole.len, err) : NULL;
    bool ok = j && read_whole(t, j, err);
    if (ok && f->ids)
        t->model.written = (int)json_count(f->ids);
    json_free(j);
    buf_free(&whole);
    return ok;
}

/* spiece.model (T5), tokenizer.model (Llama), or source.spm, whose numbers are in vocab.json (Marian). What stands
 * around a text and how many extra pieces there are the classes say, or tokenizer_config.json. */
static bool read_sentencepiece(Tokenizer *t, const char *folder, bool t5, bool marian, Err *err)
{
    enum { T5_EXTRA = 100, EXTRA_MOST = 10000 };
    char path[1200];
    Buf bytes = {0};
    int64_t extra = t5 ? T5_EXTRA : 0;
    bool begins = !t5 && !marian, ends = !begins;
    snprintf(path, sizeof path, "%s/tokenizer_config.json", folder);
    Json *said = NULL, *ids = NULL;
    if (file_exists(path) && !(said = json_read(path, TOKENIZER_FILE, err)))
        return false;
    if (t5)
        json_int(json_get(said, "extra_ids"), &extra);
    begins = json_bool(json_get(said, "add_bos_token"), begins);
    ends = json_bool(json_get(said, "add_eos_token"), ends);
    json_free(said);
    snprintf(path, sizeof path, "%s/vocab.json", folder);
    bool ok = (extra >= 0 && extra <= EXTRA_MOST) ||
              err_set(err, "%s: \"extra_ids\" of tokenizer_config.json is not possible", t->path);
    ok = ok && file_read(t->path, TOKENIZER_FILE, &bytes, err) &&
         (!marian || (ids = json_read(path, TOKENIZER_FILE, err)) != NULL);
    SpmFile f = {.path = t->path, .ids = ids, .extra = (int)extra, .begins = begins, .ends = ends};
    ok = ok && read_spm(t, &f, buf_str(&bytes), bytes.len, err);
    json_free(ids);
    buf_free(&bytes);
    return ok;
}

/* ---- opening ---- */

static bool is_there(const char *folder, const char *name, char path[1200])
{
    return snprintf(path, 1200, "%s/%s", folder, name) < 1200 && file_exists(path);
}

bool tokenizer_is(const char *folder)
{
    char path[4096];
    int words;
    return llama2c_beside(folder, path, &words) || is_there(folder, "tokenizer.json", path) ||
           (is_there(folder, "merges.txt", path) && is_there(folder, "vocab.json", path)) ||
           is_there(folder, "vocab.txt", path) || is_there(folder, "spiece.model", path) ||
           is_there(folder, "tokenizer.model", path) ||
           (is_there(folder, "source.spm", path) && is_there(folder, "vocab.json", path));
}

static Tokenizer *begin(const char *path)
{
    Tokenizer *t = xcalloc(1, sizeof *t);
    snprintf(t->path, sizeof t->path, "%s", path);
    t->model.unknown = -1;
    return t;
}

static Tokenizer *end(Tokenizer *t, bool ok)
{
    if (ok)
        return t;
    tokenizer_free(t);
    return NULL;
}

Tokenizer *tokenizer_parse(const char *name, const char *text, size_t n, Err *err)
{
    Tokenizer *t = begin(name);
    Json *j = json_parse(name, text, n, err);
    bool ok = j && read_whole(t, j, err);
    json_free(j);
    return end(t, ok);
}

Tokenizer *tokenizer_parse_spm(const char *name, const char *bytes, size_t n, Err *err)
{
    Tokenizer *t = begin(name);
    return end(t, read_spm(t, &(SpmFile){.path = name, .extra = 2, .ends = true}, bytes, n, err));
}

Tokenizer *tokenizer_open(const char *folder, Err *err)
{
    char beside[4096];
    int words;
    if (llama2c_beside(folder, beside, &words)) {
        Buf json = {0};
        Tokenizer *scored = llama2c_tokenizer(&json, beside, words, err)
                                ? tokenizer_parse(beside, buf_str(&json), json.len, err)
                                : NULL;
        buf_free(&json);
        return scored;
    }
    Tokenizer *t = begin("");
    if (words) {
        err_set(err,
                "%s: there is no tok%d.bin or tokenizer.bin beside it: copy one there from where the model is from",
                folder, words);
        return end(t, false);
    }
    if (is_there(folder, "tokenizer.json", t->path))
        return end(t, read_json(t, err));
    if (is_there(folder, "merges.txt", beside) && is_there(folder, "vocab.json", t->path))
        return end(t, read_gpt2(t, folder, err));
    if (is_there(folder, "vocab.txt", t->path))
        return end(t, read_bert(t, err));
    if (is_there(folder, "vocab.json", beside) && is_there(folder, "source.spm", t->path))
        return end(t, read_sentencepiece(t, folder, false, true, err));
    if (is_there(folder, "spiece.model", t->path))
        return end(t, read_sentencepiece(t, folder, true, false, err));
    if (is_there(folder, "tokenizer.model", t->path))
        return end(t, read_sentencepiece(t, folder, false, false, err));
    if (!file_there(folder, err))
        return end(t, false);
    err_set(
        err,
        "%s: there is no tokenizer.json, no vocab.json with merges.txt or source.spm, no vocab.txt, spiece.model or "
        "tokenizer.model: copy it there from where the model is from",
        folder);
    return end(t, false);
}

void tokenizer_free(Tokenizer *t)
{
    if (!t)
        return;
    token_model_free(&t->model);
    normal_free(t->normal, t->normals);
    split_free(t->split, t->splits);
    free(t->added);
    free(t->special);
    arena_free(&t->arena);
    free(t);
}
