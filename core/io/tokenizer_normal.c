#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/utf8.h"
#include "core/io/tokenizer_parts.h"

static void take_over(Working *w, Working *new)
{
    working_free(w);
    *w = *new;
    *new = (Working){.from = NULL};
}

static bool is_accent(uint32_t c)
{
    int k = char_kind(c, TABLES_FORM);
    return k == UTF8PROC_CATEGORY_MN || k == UTF8PROC_CATEGORY_MC || k == UTF8PROC_CATEGORY_ME;
}

/* Nothing in front of it composes with it, nor with what it is made of: a text may be cut here. */
static bool begins_anew(uint32_t c)
{
    utf8proc_int32_t parts[32];
    utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)c, parts, 32,
                                                 (utf8proc_option_t)(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), NULL);
    uint32_t first = n > 0 && n <= 32 ? (uint32_t)parts[0] : c;
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)first);
    return k != UTF8PROC_CATEGORY_MN && k != UTF8PROC_CATEGORY_MC && k != UTF8PROC_CATEGORY_ME &&
           !(first >= 0x1160 && first <= 0x11ff);
}

/* What stays as it is: each byte comes from where it came from, for a token may be a part of a character. */
static void keep(Working *out, const Working *w, const char *from, const char *to)
{
    for (; from < to; from++)
        working_add(out, from, 1, working_origin(w, (size_t)(from - w->text.data)));
}

/* Unicode's forms, stretch by stretch, so that it stays known what comes from where. What the tables do not know stays
 * as it is. */
static bool run_form(int form, Working *w, Err *err)
{
    Working out = {.from = NULL};
    const char *s = w->text.data, *end = s + w->text.len;
    while (s < end) {
        const char *from = s, *next = s;
        const bool known = char_is_known(char_next(&next, end), TABLES_FORM);
        for (s = next; known && next < end; s = next) {
            const uint32_t c = char_next(&next, end);
            if (c < 0x300 || begins_anew(c) || !char_is_known(c, TABLES_FORM))
                break;
        }
        if (!known) {
            keep(&out, w, from, s);
            continue;
        }
        utf8proc_uint8_t *normal = NULL;
        utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)from, s - from, &normal, (utf8proc_option_t)form);
        if (n < 0) {
            working_free(&out);
            return err_set(err, "the text can't be brought into its normal form: %s", utf8proc_errmsg(n));
        }
        if (n == s - from && memcmp(normal, from, (size_t)n) == 0)
            keep(&out, w, from, s);
        else
            working_add(&out, (const char *)normal, (size_t)n, working_origin(w, (size_t)(from - w->text.data)));
        free(normal);
    }
    working_end(&out, working_origin(w, w->text.len));
    take_over(w, &out);
    return true;
}

/* İ is the only character whose small letter is two. The table has the capitals that came with Unicode 15 to 17, each
 * or each other one of a range. */
static void add_lower(Working *out, uint32_t c, size_t from)
{
    static const struct {
        uint32_t first, last, step, small; /* of the first */
    } young[] = {{0x1c89, 0x1c89, 1, 0x1c8a},    {0xa7cb, 0xa7cb, 1, 0x264},    {0xa7cc, 0xa7ce, 2, 0xa7cd},
                 {0xa7d2, 0xa7d4, 2, 0xa7d3},    {0xa7da, 0xa7da, 1, 0xa7db},   {0xa7dc, 0xa7dc, 1, 0x19b},
                 {0x10d50, 0x10d65, 1, 0x10d70}, {0x16ea0, 0x16eb8, 1, 0x16ebb}};
    char bytes[4];
    uint32_t small = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
    if (c == 0x130) {
        working_add(out, "i\xcc\x87", 3, from);
        return;
    }
    for (size_t i = 0; c >= young[0].first && i < sizeof young / sizeof *young; i++)
        if (c >= young[i].first && c <= young[i].last && (c - young[i].first) % young[i].step == 0)
            small = young[i].small + (c - young[i].first);
    working_add(out, bytes, utf8_put(bytes, small), from);
}

static bool is_chinese(uint32_t c)
{
    static const uint32_t ranges[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                         {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                         {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* A character that is not assigned yet is none, as in Hugging Face's. */
static bool is_control(uint32_t c)
{
    int k = char_kind(c, TABLES_BERT);
    return c != '\t' && c != '\n' && c != '\r' &&
           (k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CO ||
            k == UTF8PROC_CATEGORY_CS);
}

/* What Nmt makes of c: a blank, nothing (0), or c. */
static uint32_t of_nmt(uint32_t c)
{
    if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f)
        return 0;
    return c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == 0x1680 || (c >= 0x200b && c <= 0x200f) ||
                   c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xfeff || c == 0xfffd
               ? ' '
               : c;
}

typedef enum Letter { LETTER_CLEAN, LETTER_CHINESE, LETTER_ACCENT, LETTER_LOWER, LETTER_MARK, LETTER_NMT } Letter;

/* One pass over the characters. */
static void run_letters(Letter how, Working *w)
{
    Working out = {.from = NULL};
    char bytes[4];
    for (const char *s = w->text.data, *end = s + w->text.len; s < end;) {
        size_t from = working_origin(w, (size_t)(s - w->text.data));
        uint32_t c = char_next(&s, end);
        size_t n = utf8_put(bytes, c);
        if (how == LETTER_LOWER)
            add_lower(&out, c, from);
        else if (how == LETTER_CLEAN && (c == 0 || c == 0xfffd || is_control(c)))
            continue;
        else if (how == LETTER_CLEAN)
            working_add(&out, char_is_space(c) ? " " : bytes, char_is_space(c) ? 1 : n, from);
        else if (how == LETTER_CHINESE && is_chinese(c)) {
            working_add(&out, " ", 1, from);
            working_add(&out, bytes, n, from);
            working_add(&out, " ", 1, from);
        } else if (how == LETTER_NMT && c && of_nmt(c) != c)
            working_add(&out, " ", of_nmt(c) ? 1 : 0, from);
        else if (!(how == LETTER_ACCENT && char_kind(c, TABLES_BERT) == UTF8PROC_CATEGORY_MN) &&
                 !(how == LETTER_MARK && is_accent(c)))
            working_add(&out, bytes, n, from);
    }
    working_end(&out, working_origin(w, w->text.len));
    take_over(w, &out);
}

static bool run_bert(const Normal *n, Working *w, Err *err)
{
    if (n->clean)
        run_letters(LETTER_CLEAN, w);
    if (n->chinese)
        run_letters(LETTER_CHINESE, w);
    if (n->accents) {
        if (!run_form(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE, w, err))
            return false;
        run_letters(LETTER_ACCENT, w);
    }
    if (n->lower)
        run_letters(LETTER_LOWER, w);
    return true;
}

/* What a file may ask for: texts put in place of letters, again and again, grow without end. No normal form makes a
 * text more than 18 times as long (U+FDFA). */
static bool grown(const Working *w, size_t limit, Err *err)
{
    return w->text.len > limit && !err_set(err, "the tokeniser's normalisers make the text more than 32 times as long");
}

static bool run_replace(const Normal *n, Working *w, size_t limit, Err *err)
{
    Working out = {.from = NULL};
    Buf copy = {0};
    const char *seen = n->pattern.code ? text_stand_in(w->text.data, w->text.len, &copy) : w->text.data;
    size_t at = 0, from, to;
    int found = 0, dear = pattern_dear(1, 1);
    while (at < w->text.len && out.text.len <= limit &&
           (found = pattern_next(&n->pattern, seen, w->text.len, at, &dear, &from, &to)) > 0) {
        if (to == from)
            to = from + 1; /* an empty match changes nothing */
        else {
            for (; at < from; at++)
                working_add(&out, w->text.data + at, 1, working_origin(w, at));
            working_add(&out, n->content, strlen(n->content), working_origin(w, from));
            at = to;
            continue;
        }
        for (; at < to; at++)
            working_add(&out, w->text.data + at, 1, working_origin(w, at));
    }
    for (; found >= 0 && at < w->text.len; at++)
        working_add(&out, w->text.data + at, 1, working_origin(w, at));
    working_end(&out, working_origin(w, w->text.len));
    buf_free(&copy);
    take_over(w, &out);
    return found >= 0 || err_set(err, "the tokeniser's pattern takes too much work on this text");
}

static void run_strip(const Normal *n, Working *w)
{
    Working out = {.from = NULL};
    const char *s = w->text.data, *end = s + w->text.len, *next = s;
    while (n->left && s < end && char_is_space(char_next(&next, end)))
        s = next;
    for (const char *last = end; n->right && last > s; end = last) {
        while (--last > s && ((unsigned char)*last & 0xc0) == 0x80)
            ;
        const char *at = last;
        if (!char_is_space(char_next(&at, end)))
            break;
    }
    for (; s < end; s++)
        working_add(&out, s, 1, working_origin(w, (size_t)(s - w->text.data)));
    working_end(&out, working_origin(w, (size_t)(end - w->text.data)));
    take_over(w, &out);
}

/* Darts' double array: the text behind the longest key that begins at s, and the key's bytes; NULL: none. */
static const char *charsmap_at(const Normal *n, const char *s, size_t length, size_t *key)
{
    size_t node = 0;
    const char *found = NULL;
    uint32_t unit = n->trie_units ? n->trie[0] : 0;
    for (size_t i = 0; i < length && *s; i++, s++) {
        uint32_t offset = (unit >> 10) << ((unit & (1U << 9)) >> 6);
        node ^= offset ^ (unsigned char)*s;
        if (node >= n->trie_units)
            break;
        unit = n->trie[node];
        if ((unit & ((1U << 31) | 0xff)) != (unsigned char)*s)
            break;
        size_t leaf = node ^ ((unit >> 10) << ((unit & (1U << 9)) >> 6));
        if ((unit >> 8) & 1 && leaf < n->trie_units && (n->trie[leaf] & 0x7fffffffU) < n->text_bytes) {
            found = n->texts + (n->trie[leaf] & 0x7fffffffU);
            *key = i + 1;
            return found; /* the shortest, as Hugging Face's takes it */
        }
    }
    return found;
}

/* A text out of the table, which may be any bytes. */
static void add_told(Working *out, const char *text, size_t from)
{
    char bytes[4];
    for (const char *s = text, *end = text + strlen(text); s < end;)
        working_add(out, bytes, utf8_put(bytes, char_next(&s, end)), from);
}

/* One character together with the marks on it is looked up whole where it has at most five bytes, else character by
 * character, as sentencepiece's table is applied by Hugging Face's tokenizers. */
static void run_charsmap(const Normal *n, Working *w, size_t limit)
{
    Working out = {.from = NULL};
    const char *s = w->text.data, *end = s + w->text.len;
    while (s < end && out.text.len <= limit) {
        const char *from = s, *next = s;
        utf8proc_int32_t state = 0;
        uint32_t before = char_stand_in(char_next(&next, end), TABLES_RUST);
        for (s = next; next < end; s = next) {
            uint32_t c = char_stand_in(char_next(&next, end), TABLES_RUST);
            if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)c, &state))
                break;
            before = c;
        }
        size_t origin = working_origin(w, (size_t)(from - w->text.data)), length = (size_t)(s - from), key = 0;
        const char *whole = length < 6 ? charsmap_at(n, from, length, &key) : NULL;
        if (whole) {
            add_told(&out, whole, origin);
            continue;
        }
        for (const char *c = from; c < s && out.text.len <= limit;) {
            const char *at = c;
            char_next(&c, end);
            const char *text = charsmap_at(n, at, (size_t)(c - at), &key);
            const size_t place = working_origin(w, (size_t)(at - w->text.data));
            if (text)
                add_told(&out, text, place);
            else
                working_add(&out, at, (size_t)(c - at), place);
        }
    }
    working_end(&out, working_origin(w, w->text.len));
    take_over(w, &out);
}

bool normal_run(const Normal *list, size_t n, Working *w, Err *err)
{
    size_t limit = 32 * w->text.len + 256;
    for (size_t i = 0; i < n && w->text.len; i++) {
        const Normal *o = &list[i];
        Working out = {.from = NULL};
        bool ok = true;
        switch (o->kind) {
        case NORMAL_FORM: ok = run_form(o->form, w, err); break;
        case NORMAL_LOWER: run_letters(LETTER_LOWER, w); break;
        case NORMAL_STRIP_ACCENTS: run_letters(LETTER_MARK, w); break;
        case NORMAL_NMT: run_letters(LETTER_NMT, w); break;
        case NORMAL_BERT: ok = run_bert(o, w, err); break;
        case NORMAL_REPLACE: ok = run_replace(o, w, limit, err); break;
        case NORMAL_STRIP: run_strip(o, w); break;
        case NORMAL_CHARSMAP: run_charsmap(o, w, limit); break;
        case NORMAL_PREPEND:
            working_add(&out, o->content, strlen(o->content), working_origin(w, 0));
            for (size_t k = 0; k < w->text.len; k++)
                working_add(&out, w->text.data + k, 1, working_origin(w, k));
            working_end(&out, working_origin(w, w->text.len));
            take_over(w, &out);
            break;
        }
        if (!ok || grown(w, limit, err))
            return false;
    }
    return true;
}

/* ---- reading ---- */

static int of_base64(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* {"precompiled_charsmap": base64}: four bytes with the size of the double array, the array, the texts, each ended by
 * NUL. */
static bool read_charsmap(Normal *o, const Json *j, const char *path, Err *err)
{
    const char *text = json_text(json_get(j, "precompiled_charsmap"), "");
    Buf bytes = {0};
    uint32_t bits = 0;
    int have = 0;
    for (; *text && *text != '='; text++) {
        int v = of_base64(*text);
        if (v < 0)
            break;
        bits = bits << 6 | (uint32_t)v;
        if ((have += 6) >= 8)
            buf_putc(&bytes, (char)(unsigned char)(bits >> (have -= 8)));
    }
    uint32_t size = 0;
    for (int i = 3; bytes.len >= 4 && i >= 0; i--)
        size = size << 8 | (unsigned char)bytes.data[i];
    bool ok = bytes.len >= 4 && size % 4 == 0 && size <= bytes.len - 4;
    if (ok) {
        o->trie_units = size / 4;
        o->trie = xcalloc(o->trie_units + 1, sizeof *o->trie);
        for (size_t i = 0; i < o->trie_units; i++)
            for (int b = 3; b >= 0; b--)
                o->trie[i] = o->trie[i] << 8 | (unsigned char)bytes.data[4 + 4 * i + (size_t)b];
        o->text_bytes = bytes.len - 4 - size;
        o->texts = xcalloc(o->text_bytes + 1, 1);
        memcpy(o->texts, bytes.data + 4 + size, o->text_bytes);
    }
    buf_free(&bytes);
    return ok || err_set(err, "%s: the normaliser's precompiled_charsmap is damaged", path);
}

static bool read_one(Normal *o, const Json *j, const char *type, const char *path, Err *err)
{
    static const struct {
        const char *name;
        NormalKind kind;
        int form;
    } kinds[] = {{"NFC", NORMAL_FORM, UTF8PROC_COMPOSE | UTF8PROC_STABLE},
                 {"NFD", NORMAL_FORM, UTF8PROC_DECOMPOSE | UTF8PROC_STABLE},
                 {"NFKC", NORMAL_FORM, UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_STABLE},
                 {"NFKD", NORMAL_FORM, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_STABLE},
                 {"Lowercase", NORMAL_LOWER, 0},
                 {"StripAccents", NORMAL_STRIP_ACCENTS, 0},
                 {"BertNormalizer", NORMAL_BERT, 0},
                 {"Prepend", NORMAL_PREPEND, 0},
                 {"Replace", NORMAL_REPLACE, 0},
                 {"Strip", NORMAL_STRIP, 0},
                 {"Nmt", NORMAL_NMT, 0},
                 {"Precompiled", NORMAL_CHARSMAP, 0}};
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && strcmp(kinds[k].name, type) != 0)
        k++;
    if (k == sizeof kinds / sizeof *kinds)
        return err_set(err, "%s: the normaliser \"%.40s\" is not known here", path, type);
    *o = (Normal){.kind = kinds[k].kind, .form = kinds[k].form};
    o->clean = json_bool(json_get(j, "clean_text"), true);
    o->chinese = json_bool(json_get(j, "handle_chinese_chars"), true);
    o->lower = json_bool(json_get(j, "lowercase"), true);
    o->accents = json_bool(json_get(j, "strip_accents"), o->lower);
    o->left = json_bool(json_get(j, "strip_left"), true);
    o->right = json_bool(json_get(j, "strip_right"), true);
    if (o->kind == NORMAL_PREPEND || o->kind == NORMAL_REPLACE)
        o->content = xstrdup(json_text(json_get(j, o->kind == NORMAL_PREPEND ? "prepend" : "content"), ""));
    return (o->kind != NORMAL_REPLACE || pattern_read(&o->pattern, json_get(j, "pattern"), path, err)) &&
           (o->kind != NORMAL_CHARSMAP || read_charsmap(o, j, path, err));
}

bool normal_read(const Json *j, const char *path, Normal **list, size_t *n, Err *err)
{
    const char *type = json_text(json_get(j, "type"), "");
    if (json_kind(j) == JK_NULL)
        return true;
    if (strcmp(type, "Sequence") == 0) {
        const Json *parts = json_get(j, "normalizers");
        for (size_t i = 0; i < json_count(parts); i++)
            if (*n > 32 || !normal_read(json_at(parts, i), path, list, n, err))
                return *n <= 32 ? false : err_set(err, "%s: more than 32 normalisers", path);
        return true;
    }
    *list = xrealloc(*list, size_mul(*n + 1, sizeof **list));
    (*list)[*n] = (Normal){.kind = NORMAL_LOWER};
    return read_one(&(*list)[(*n)++], j, type, path, err);
}

void normal_free(Normal *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pattern_free(&list[i].pattern);
        free(list[i].content);
        free(list[i].trie);
        free(list[i].texts);
    }
    free(list);
}
