#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/base/utf8.h"
#include "core/io/tokenizer_parts.h"

/* ---- a text on its way ---- */

void working_add(Working *w, const char *bytes, size_t n, size_t from)
{
    if (w->text.len + n + 1 > w->room) {
        w->room = 2 * (w->text.len + n) + 64;
        w->from = xrealloc(w->from, size_mul(w->room, sizeof *w->from));
    }
    for (size_t i = 0; i < n; i++)
        w->from[w->text.len + i] = from;
    buf_add(&w->text, bytes, n);
}

void working_end(Working *w, size_t from)
{
    working_add(w, "", 1, from);
    w->text.data[--w->text.len] = 0;
}

void working_free(Working *w)
{
    buf_free(&w->text);
    free(w->from);
    *w = (Working){.from = NULL};
}

size_t working_origin(const Working *w, size_t i)
{
    return w->from ? w->from[i] : 0;
}

size_t working_behind(const Working *w, size_t from, size_t to)
{
    static const char *const PUT[] = {" ", "\xe2\x96\x81", "\xc4\xa0"}; /* a blank, as ▁ and as Ġ */
    for (size_t i = 0; i < sizeof PUT / sizeof *PUT; i++)
        if (to - from == strlen(PUT[i]) && memcmp(w->text.data + from, PUT[i], to - from) == 0)
            return working_origin(w, to);
    while (to > from && to < w->text.len && working_origin(w, to) <= working_origin(w, from))
        to++;
    return working_origin(w, to);
}

/* ---- classes of characters ---- */

uint32_t char_next(const char **s, const char *end)
{
    const unsigned char *b = (const unsigned char *)*s;
    const size_t n = (size_t)(end - *s), wants = *b < 0xc2 ? 1 : *b < 0xe0 ? 2 : *b < 0xf0 ? 3 : *b < 0xf5 ? 4 : 1;
    unsigned low = *b == 0xe0 ? 0xa0 : *b == 0xf0 ? 0x90 : 0x80, high = *b == 0xed ? 0x9f : *b == 0xf4 ? 0x8f : 0xbf;
    size_t have = 1;
    for (; have < wants && have < n && b[have] >= low && b[have] <= high; low = 0x80, high = 0xbf)
        have++;
    if (*b && have == wants)
        return utf8_next(s);
    *s += have;
    return *b ? 0xfffd : 0;
}

bool char_is_space(uint32_t c)
{
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    return (c >= 9 && c <= 13) || c == 0x85 || k == UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_ZL ||
           k == UTF8PROC_CATEGORY_ZP;
}

static bool is_mark(uint32_t c)
{
    int k = char_kind(c, TABLES_BERT);
    bool ascii = (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    return ascii || (k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO);
}

static bool is_numeric(uint32_t c)
{
    int k = char_kind(c, TABLES_RUST);
    return k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}

/* Letters, marks on them, decimal digits, joining punctuation, letters in circles and squares. */
bool char_is_word(uint32_t c)
{
    int k = char_kind(c, TABLES_PATTERN);
    return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_ND) || k == UTF8PROC_CATEGORY_NL ||
           k == UTF8PROC_CATEGORY_PC || c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9) ||
           (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
}

/* ---- cutting ---- */

static void add_piece(Pieces *p, size_t from, size_t to)
{
    if (from == to)
        return;
    p->at = grow(p->at, &p->cap, p->n, sizeof *p->at);
    p->at[p->n++] = (Piece){from, to};
}

/* The parts of a piece in order: those between the matches, and the matches. `open`: where the piece that is being
 * gathered begins. */
typedef struct Cutting {
    Pieces *out;
    SplitHow how;
    size_t open;
    bool was; /* the part before was a match */
} Cutting;

static void cut_part(Cutting *c, size_t from, size_t to, bool match)
{
    if (from == to)
        return;
    bool joins = c->how == HOW_PREVIOUS ? match && !c->was
                 : c->how == HOW_NEXT   ? c->was && !match
                                        : c->how == HOW_CONTIGUOUS && match == c->was;
    if (!joins) {
        if (!(c->how == HOW_REMOVED && c->was))
            add_piece(c->out, c->open, from);
        c->open = from;
    }
    c->was = match;
}

static void cut_end(Cutting *c, size_t to)
{
    if (!(c->how == HOW_REMOVED && c->was))
        add_piece(c->out, c->open, to);
}

static bool cut_pattern(const Split *s, const Working *w, Piece p, Pieces *out, Err *err)
{
    Cutting c = {out, s->how, p.from, false};
    size_t at = p.from, try = p.from, from, to;
    Buf copy = {0};
    const char *text = w->text.data,
               *seen = s->pattern.code ? text_stand_in(text + p.from, p.to - p.from, &copy) : text + p.from;
    int found = 0, dear = pattern_dear(p.to - p.from, w->text.len);
    while (try < p.to &&
           (found = pattern_next(&s->pattern, seen, p.to - p.from, try - p.from, &dear, &from, &to)) >= 0) {
        if (!found)
            break;
        from += p.from;
        to += p.from;
        if (to == from) { /* an empty match: from the next character on */
            try = from + 1;
            while (try < p.to && ((unsigned char)text[try] & 0xc0) == 0x80)
                try++;
            continue;
        }
        cut_part(&c, at, from, s->invert);
        cut_part(&c, from, to, !s->invert);
        at = try = to;
    }
    buf_free(&copy);
    if (found < 0)
        return err_set(
            err,
            "the tokeniser's pattern takes too much work on this text: %d steps at one place, or more than %d at many, "
            "were not enough",
            PATTERN_MOST, PATTERN_CHEAP);
    cut_part(&c, at, p.to, s->invert);
    cut_end(&c, p.to);
    return true;
}

/* Class of a character: 0 and 1 are two parts that stay together, 2 one that is alone, 3 one that goes. */
static int class_of(const Split *s, uint32_t c)
{
    switch (s->kind) {
    case SPLIT_SPACES: return char_is_space(c) ? 3 : 0;
    case SPLIT_WORDS: return char_is_space(c) ? 3 : char_is_word(c);
    case SPLIT_BERT: return char_is_space(c) ? 3 : is_mark(c) ? 2 : 0;
    default: return is_numeric(c) ? (s->each ? 2 : 1) : 0;
    }
}

static void cut_marks(const Split *s, const Working *w, Piece p, Pieces *out)
{
    Cutting c = {out, s->how, p.from, false};
    size_t done = p.from;
    for (const char *at = w->text.data + p.from, *end = w->text.data + p.to; at < end;) {
        const size_t here = (size_t)(at - w->text.data);
        if (!is_mark(char_next(&at, end)))
            continue;
        cut_part(&c, done, here, false);
        done = (size_t)(at - w->text.data);
        cut_part(&c, here, done, true);
    }
    cut_part(&c, done, p.to, false);
    cut_end(&c, p.to);
}

static void cut_classes(const Split *s, const Working *w, Piece p, Pieces *out)
{
    size_t open = p.from;
    int was = 3;
    for (const char *at = w->text.data + p.from, *end = w->text.data + p.to; at < end;) {
        size_t here = (size_t)(at - w->text.data);
        int class = class_of(s, char_next(&at, end));
        if (class != was || class == 2) {
            if (was != 3)
                add_piece(out, open, here);
            open = here;
        }
        was = class;
    }
    if (was != 3)
        add_piece(out, open, p.to);
}

/* ▁ for every blank, one in front where there is none; cut in front of each. */
static void write_meta(const Split *s, bool first, const Working *w, const Pieces *in, Working *out, Pieces *pieces)
{
    size_t n = strlen(s->meta);
    for (size_t i = 0; i < in->n; i++) {
        Piece p = in->at[i];
        size_t open = out->text.len;
        bool begins = first && working_origin(w, p.from) == 0;
        if (s->prefix && (begins || !s->first_only) && w->text.data[p.from] != ' ' &&
            strncmp(w->text.data + p.from, s->meta, n) != 0)
            working_add(out, s->meta, n, working_origin(w, p.from));
        for (size_t k = p.from; k < p.to; k++) {
            bool blank = w->text.data[k] == ' ',
                 meta = blank || (p.to - k >= n && memcmp(w->text.data + k, s->meta, n) == 0);
            if (meta && s->cut) {
                add_piece(pieces, open, out->text.len);
                open = out->text.len;
            }
            if (blank)
                working_add(out, s->meta, n, working_origin(w, k));
            else
                working_add(out, w->text.data + k, 1, working_origin(w, k));
        }
        add_piece(pieces, open, out->text.len);
    }
    working_end(out, working_origin(w, w->text.len));
}

static void write_bytes(const Working *w, const Pieces *in, Working *out, Pieces *pieces)
{
    char c[256][4];
    size_t n[256];
    for (unsigned b = 0; b < 256; b++)
        n[b] = utf8_put(c[b], byte_char((unsigned char)b));
    for (size_t i = 0; i < in->n; i++) {
        Piece p = in->at[i];
        size_t open = out->text.len;
        for (size_t k = p.from; k < p.to; k++) {
            unsigned char b = (unsigned char)w->text.data[k];
            working_add(out, c[b], n[b], working_origin(w, k));
        }
        add_piece(pieces, open, out->text.len);
    }
    working_end(out, working_origin(w, w->text.len));
}

/* A blank in front of every piece that begins with none (ByteLevel's add_prefix_space). */
static void write_prefix(const Working *w, const Pieces *in, Working *out, Pieces *pieces)
{
    for (size_t i = 0; i < in->n; i++) {
        Piece p = in->at[i];
        size_t open = out->text.len;
        if (w->text.data[p.from] != ' ')
            working_add(out, " ", 1, working_origin(w, p.from));
        for (size_t k = p.from; k < p.to; k++)
            working_add(out, w->text.data + k, 1, working_origin(w, k));
        add_piece(pieces, open, out->text.len);
    }
    working_end(out, working_origin(w, w->text.len));
}

static void take_over(Working *w, Working *new)
{
    working_free(w);
    *w = *new;
    *new = (Working){.from = NULL};
}

static bool run_one(const Split *s, bool first, Working *w, Pieces *p, Err *err)
{
    Pieces out = {0};
    Working new = {.from = NULL};
    bool ok = true;
    if (s->kind == SPLIT_META || (s->kind == SPLIT_BYTES && !s->cut)) {
        if (s->kind == SPLIT_META)
            write_meta(s, first, w, p, &new, &out);
        else if (s->prefix)
            write_prefix(w, p, &new, &out);
        else
            write_bytes(w, p, &new, &out);
        take_over(w, &new);
    } else
        for (size_t i = 0; ok && i < p->n; i++) {
            if (s->kind == SPLIT_PATTERN)
                ok = cut_pattern(s, w, p->at[i], &out, err);
            else if (s->kind == SPLIT_MARKS)
                cut_marks(s, w, p->at[i], &out);
            else
                cut_classes(s, w, p->at[i], &out);
        }
    free(p->at);
    *p = out;
    return ok;
}

bool split_run(const Split *list, size_t n, bool first, Working *w, Pieces *out, Err *err)
{
    out->n = 0;
    add_piece(out, 0, w->text.len);
    for (size_t i = 0; i < n; i++)
        if (!run_one(&list[i], first, w, out, err))
            return false;
    return true;
}

/* ---- reading ---- */

static const char GPT2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

static bool read_how(SplitHow *how, const Json *j, const char *path, Err *err)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    const char *name = json_text(json_get(j, "behavior"), "Isolated");
    for (int i = 0; i < 5; i++)
        if (strcmp(names[i], name) == 0) {
            *how = (SplitHow)i;
            return true;
        }
    return err_set(err, "%s: a pre-tokeniser's behavior is \"%.40s\", which is not known here", path, name);
}

static Split *add_split(Split **list, size_t *n, SplitKind kind)
{
    *list = xrealloc(*list, size_mul(*n + 1, sizeof **list));
    (*list)[*n] = (Split){.kind = kind, .how = HOW_ISOLATED};
    return &(*list)[(*n)++];
}

/* ByteLevel is three steps: a blank in front, GPT-2's pattern, bytes as characters. */
static bool read_bytes(const Json *j, const char *path, Split **list, size_t *n, Err *err)
{
    if (json_bool(json_get(j, "add_prefix_space"), true))
        add_split(list, n, SPLIT_BYTES)->prefix = true;
    if (json_bool(json_get(j, "use_regex"), true) &&
        !pattern_regex(&add_split(list, n, SPLIT_PATTERN)->pattern, GPT2, path, err))
        return false;
    add_split(list, n, SPLIT_BYTES);
    return true;
}

static bool read_meta(const Json *j, const char *path, Split **list, size_t *n, Err *err)
{
    const char *meta = json_text(json_get(j, "replacement"), "▁"),
               *scheme = json_text(json_get(j, "prepend_scheme"),
                                   json_bool(json_get(j, "add_prefix_space"), true) ? "always" : "never");
    Split *s = add_split(list, n, SPLIT_META);
    s->prefix = strcmp(scheme, "never") != 0;
    s->first_only = strcmp(scheme, "first") == 0;
    s->cut = json_bool(json_get(j, "split"), true);
    if (!*meta || strlen(meta) >= sizeof s->meta)
        return err_set(err, "%s: Metaspace's replacement must be one character", path);
    memcpy(s->meta, meta, strlen(meta) + 1);
    return true;
}

bool split_read(const Json *j, const char *path, Split **list, size_t *n, Err *err)
{
    static const struct {
        const char *name;
        SplitKind kind;
    } simple[] = {{"WhitespaceSplit", SPLIT_SPACES},
                  {"Whitespace", SPLIT_WORDS},
                  {"BertPreTokenizer", SPLIT_BERT},
                  {"Digits", SPLIT_DIGITS},
                  {"Punctuation", SPLIT_MARKS}};
    const char *type = json_text(json_get(j, "type"), "");
    if (json_kind(j) == JK_NULL)
        return true;
    if (strcmp(type, "Sequence") == 0) {
        const Json *parts = json_get(j, "pretokenizers");
        for (size_t i = 0; i < json_count(parts); i++)
            if (*n > 32 || !split_read(json_at(parts, i), path, list, n, err))
                return *n <= 32 ? false : err_set(err, "%s: more than 32 pre-tokenisers", path);
        return true;
    }
    if (strcmp(type, "ByteLevel") == 0)
        return read_bytes(j, path, list, n, err);
    if (strcmp(type, "Metaspace") == 0)
        return read_meta(j, path, list, n, err);
    if (strcmp(type, "Split") == 0) {
        Split *s = add_split(list, n, SPLIT_PATTERN);
        s->invert = json_bool(json_get(j, "invert"), false);
        return read_how(&s->how, j, path, err) && pattern_read(&s->pattern, json_get(j, "pattern"), path, err);
    }
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (strcmp(simple[i].name, type) == 0) {
            Split *s = add_split(list, n, simple[i].kind);
            s->each = json_bool(json_get(j, "individual_digits"), false);
            return read_how(&s->how, j, path, err);
        }
    return err_set(err, "%s: the pre-tokeniser \"%.40s\" is not known here", path, type);
}

void split_free(Split *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pattern_free(&list[i].pattern);
    free(list);
}
