#include "core/io/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/utf8.h"
#include "core/io/chat.h"
#include "core/io/tokenizer_parts.h"

/* ---- encoding ---- */

/* The text with U+FFFD for what is no UTF-8. */
static void put_clean(const char *text, size_t length, Working *w)
{
    char c[4];
    for (const char *s = text, *end = text + length; s < end;) {
        const char *at = s;
        uint32_t u = char_next(&s, end);
        size_t n = utf8_put(c, u);
        bool same = (size_t)(s - at) == n && memcmp(at, c, n) == 0;
        for (size_t i = 0; i < n; i++) /* of a character that is cut within, each part has its own bytes */
            working_add(w, c + i, 1, (size_t)(at - text) + (same ? i : 0));
    }
    working_end(w, length);
}

static const Added *added_at(const Tokenizer *t, const char *text, size_t length, size_t at, bool normalized)
{
    const size_t *list = t->first_byte[(unsigned char)text[at]];
    for (; list && *list != SIZE_MAX; list++) {
        const Added *a = &t->added[*list];
        size_t end = at + a->length;
        if (a->normalized == normalized && end <= length && memcmp(text + at, a->text, a->length) == 0)
            return a;
    }
    return NULL;
}

typedef bool Class(uint32_t c);

/* Bytes of the character that ends at s, not before `begin`, where it is one of the class; else 0. */
static size_t class_before(Class *is, const char *begin, const char *s)
{
    const char *at = s;
    while (at > begin && ((unsigned char)*--at & 0xc0) == 0x80)
        ;
    const char *c = at;
    return at < s && is(char_next(&c, s)) ? (size_t)(s - at) : 0;
}

static size_t class_at(Class *is, const char *s, const char *end)
{
    const char *c = s;
    return s < end && is(char_next(&c, end)) ? (size_t)(c - s) : 0;
}

/* The next tokens and merges are a part's. */
static void note_part(const char *text, size_t length, bool added, Tokens *out)
{
    out->part = grow(out->part, &out->part_cap, out->parts, sizeof *out->part);
    out->part[out->parts++] = (TokenPart){.added = added,
                                          .from = out->cut.len,
                                          .to = out->cut.len + length,
                                          .token = out->n,
                                          .tokens = added,
                                          .merge = out->merges,
                                          .rival = out->rivals};
    buf_add(&out->cut, text, length);
}

typedef bool Between(const Tokenizer *t, const Working *w, size_t from, size_t to, bool steps, Tokens *out, Err *err);

/* Added tokens of one kind are taken out, what is between them goes on. Of those that begin at a place the longest
 * counts; where it must be a word and is none, the search goes on behind it. */
static bool take_out(const Tokenizer *t, const Working *w, size_t from, size_t to, bool normalized, bool steps,
                     Between *between, Tokens *out, Err *err)
{
    const char *text = w->text.data;
    for (size_t at = from; at < to; at++) {
        const Added *a = added_at(t, text, to, at, normalized);
        if (!a)
            continue;
        size_t begin = at, end = at + a->length, n;
        at = end - 1;
        if (a->whole_word &&
            (class_before(char_is_word, text, text + begin) || class_at(char_is_word, text + end, text + to)))
            continue;
        while (a->strip_left && begin > from && (n = class_before(char_is_space, text + from, text + begin)))
            begin -= n;
        while (a->strip_right && (n = class_at(char_is_space, text + end, text + to)))
            end += n;
        if (begin > from && !between(t, w, from, begin, steps, out, err))
            return false;
        if (steps)
            note_part(a->text, a->length, true, out);
        if (steps && !normalized)
            buf_add(&out->normal, a->text, a->length);
        tokens_add(out, a->id, working_origin(w, at + 1 - a->length), working_origin(w, at + 1));
        from = end;
    }
    return from >= to || between(t, w, from, to, steps, out, err);
}

static void copy_part(const Working *w, size_t from, size_t to, Working *part)
{
    for (size_t i = from; i < to; i++)
        working_add(part, w->text.data + i, 1, working_origin(w, i));
    working_end(part, working_origin(w, to));
}

static bool encode_normal(const Tokenizer *t, const Working *w, size_t from, size_t to, bool steps, Tokens *out,
                          Err *err)
{
    Working part = {.from = NULL};
    Pieces pieces = {0};
    copy_part(w, from, to, &part);
    bool ok = split_run(t->split, t->splits, true, &part, &pieces, err);
    for (size_t i = 0; ok && i < pieces.n; i++) {
        Piece p = pieces.at[i];
        if (steps)
            note_part(part.text.data + p.from, p.to - p.from, false, out);
        model_encode(&t->model, &part, p, steps, out);
        if (steps) {
            TokenPart *noted = &out->part[out->parts - 1];
            noted->tokens = out->n - noted->token;
            noted->merges = out->merges - noted->merge;
            noted->rivals = out->rivals - noted->rival;
        }
    }
    free(pieces.at);
    working_free(&part);
    return ok;
}

static bool encode_raw(const Tokenizer *t, const Working *w, size_t from, size_t to, bool steps, Tokens *out, Err *err)
{
    Working part = {.from = NULL};
    copy_part(w, from, to, &part);
    bool ok = normal_run(t->normal, t->normals, &part, err);
    if (ok && steps)
        buf_add(&out->normal, part.text.data, part.text.len);
    ok = ok && (!part.text.len || take_out(t, &part, 0, part.text.len, true, steps, encode_normal, out, err));
    working_free(&part);
    return ok;
}

bool tokenizer_encode(const Tokenizer *t, const char *text, size_t length, bool with_template, bool with_steps,
                      Tokens *out, Err *err)
{
    Working w = {.from = NULL};
    *out = (Tokens){.n = 0};
    if (length > TOKENIZER_TEXT)
        return err_set(err, "a text of %zu bytes: more than the %d that are read at once", length, TOKENIZER_TEXT);
    put_clean(text, length, &w);
    for (int i = 0; with_template && i < t->befores; i++)
        tokens_add(out, t->before[i], 0, 0);
    bool ok = !w.text.len || take_out(t, &w, 0, w.text.len, false, with_steps, encode_raw, out, err);
    for (int i = 0; with_template && i < t->afters; i++)
        tokens_add(out, t->after[i], length, length);
    working_free(&w);
    if (!ok)
        tokens_free(out);
    return ok;
}

bool tokenizer_encode_pair(const Tokenizer *t, const char *const text[2], Tokens *out, int **segment, Err *err)
{
    Tokens part[2] = {{.n = 0}, {.n = 0}};
    *out = (Tokens){.n = 0};
    if (!t->pairs)
        return err_set(err, "%s has no template for two texts: give one, or both by number (ids:12,5 | ids:7)",
                       t->path);
    bool ok = tokenizer_encode(t, text[0], strlen(text[0]), false, false, &part[0], err) &&
              tokenizer_encode(t, text[1], strlen(text[1]), false, false, &part[1], err);
    *segment = ok ? xcalloc(part[0].n + part[1].n + (size_t)t->pairs + 1, sizeof **segment) : NULL;
    for (int i = 0; ok && i < t->pairs; i++) {
        const Tokens *k = &part[t->pair[i].text];
        if (t->pair[i].id >= 0)
            tokens_add(out, t->pair[i].id, 0, 0);
        for (size_t j = 0; t->pair[i].id < 0 && j < k->n; j++)
            tokens_add(out, k->at[j].id, k->at[j].from, k->at[j].to);
        for (size_t j = out->n; j-- > 0 && !(*segment)[j];)
            (*segment)[j] = t->pair[i].type + 1; /* 0: not set yet */
    }
    for (size_t j = 0; ok && j < out->n; j++)
        (*segment)[j]--;
    tokens_free(&part[0]);
    tokens_free(&part[1]);
    return ok;
}

bool tokenizer_chat(const Tokenizer *t, const char *typed, bool with_steps, Tokens *out, Buf *text, Buf *said, Err *err)
{
    char folder[sizeof t->path];
    Chat c = {.name = NULL};
    ChatText written = {.text = {0}};
    snprintf(folder, sizeof folder, "%s", t->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    else
        snprintf(folder, sizeof folder, ".");
    *out = (Tokens){.n = 0};
    bool ok = chat_open(&c, folder, err) && chat_write(&c, typed, &written, err) &&
              tokenizer_encode(t, written.text.data, written.text.len, false, with_steps, out, err);
    if (ok && text)
        buf_add(text, written.text.data, written.text.len);
    if (ok && said)
        buf_add(said, written.said.data, written.said.len);
    chat_text_free(&written);
    chat_free(&c);
    return ok;
}

void tokens_free(Tokens *t)
{
    free(t->at);
    free(t->lost);
    free(t->merge);
    free(t->part);
    free(t->rival);
    buf_free(&t->normal);
    buf_free(&t->cut);
    *t = (Tokens){.n = 0};
}

/* ---- decoding ---- */

static void decode_bytes(const char *s, Buf *out)
{
    while (*s) {
        const char *at = s;
        uint32_t c = utf8_next(&s);
        int byte = char_byte(c);
        if (byte >= 0)
            buf_putc(out, (char)byte);
        else
            buf_add(out, at, (size_t)(s - at));
    }
}

static void decode_meta(const Tokenizer *t, const char *s, int id, bool first, Buf *out)
{
    static const char META[] = "▁";
    unsigned byte = 0;
    int used = 0;
    if (t->fallback && sscanf(s, "<0x%2X>%n", &byte, &used) == 1 && used == 6 && t->model.byte[byte] == id) {
        buf_putc(out, (char)byte);
        return;
    }
    if (first && t->strip && strncmp(s, META, 3) == 0)
        s += 3;
    for (; *s; s++)
        if (strncmp(s, META, 3) == 0) {
            buf_putc(out, ' ');
            s += 2;
        } else
            buf_putc(out, *s);
}

static void decode_one(const Tokenizer *t, int id, bool first, Buf *out)
{
    const char *s = t->model.table.name[id], *end;
    size_t n = strlen(s), prefix = t->model.prefix ? strlen(t->model.prefix) : 0,
           suffix = t->model.suffix ? strlen(t->model.suffix) : 0;
    switch (t->decode) {
    case DECODE_BYTES: decode_bytes(s, out); return;
    case DECODE_META: decode_meta(t, s, id, first, out); return;
    case DECODE_WORDPIECE:
        if (prefix && strncmp(s, t->model.prefix, prefix) == 0)
            s += prefix;
        else if (!first)
            buf_putc(out, ' ');
        buf_puts(out, s);
        return;
    case DECODE_SUFFIX:
        end = suffix && n >= suffix && strcmp(s + n - suffix, t->model.suffix) == 0 ? s + n - suffix : NULL;
        buf_add(out, s, end ? (size_t)(end - s) : n);
        if (end)
            buf_putc(out, ' ');
        return;
    default:
        if (!first)
            buf_putc(out, ' ');
        buf_puts(out, s);
    }
}

void tokenizer_decode(const Tokenizer *t, const int *id, size_t n, bool special, Buf *out)
{
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        const char *piece = tokenizer_piece(t, id[i]);
        if (!piece || (tokenizer_is_special(t, id[i]) && !special))
            continue;
        if (tokenizer_is_special(t, id[i])) {
            bool apart = !first && t->decode == DECODE_WORDPIECE;
            buf_printf(out, "%s%s", apart ? " " : "", piece);
        } else
            decode_one(t, id[i], first, out);
        first = false;
    }
}

/* ---- what there is ---- */

int tokenizer_count(const Tokenizer *t)
{
    return t->model.table.n;
}

const char *tokenizer_piece(const Tokenizer *t, int id)
{
    return id >= 0 && id < t->model.table.n ? t->model.table.name[id] : NULL;
}

bool tokenizer_text(const Tokenizer *t, int id, Buf *out)
{
    const char *piece = tokenizer_piece(t, id);
    const size_t *list = piece ? t->first_byte[(unsigned char)*piece] : NULL;
    for (; list && *list != SIZE_MAX; list++)
        if (t->added[*list].id == id) /* stands in a text as it is named */
            return false;
    return piece && t->decode == DECODE_BYTES && byte_text(piece, out);
}

int tokenizer_find(const Tokenizer *t, const char *piece)
{
    return table_find(&t->model.table, piece, strlen(piece));
}

bool tokenizer_is_special(const Tokenizer *t, int id)
{
    return id >= 0 && id < t->model.table.n && t->special[id];
}

TokenizerWay tokenizer_way(const Tokenizer *t)
{
    return (TokenizerWay)t->model.kind;
}

int tokenizer_limit(const Tokenizer *t)
{
    return t->limit;
}

int tokenizer_unknown(const Tokenizer *t)
{
    return t->model.unknown;
}

double tokenizer_score(const Tokenizer *t, int id)
{
    return !t->model.score                                              ? 0
           : id < 0 || id >= t->model.table.n || id == t->model.unknown ? model_unknown_score(&t->model)
                                                                        : t->model.score[id];
}

const char *tokenizer_kind(const Tokenizer *t)
{
    static const char *const names[] = {[MODEL_BPE] = "BPE",
                                        [MODEL_WORDPIECE] = "WordPiece",
                                        [MODEL_UNIGRAM] = "Unigram",
                                        [MODEL_WORDS] = "whole words"};
    return t->model.kind == MODEL_BPE && t->decode == DECODE_BYTES ? "byte-level BPE"
           : t->model.kind == MODEL_BPE && t->model.byte_fallback  ? "BPE with byte fallback"
                                                                   : names[t->model.kind];
}

/* Strings by number, numbers by string: the pieces that a tokeniser knows. */

static size_t hash_of(const char *s, size_t n)
{
    return (size_t)digest_bytes(digest_mix(DIGEST_START, n), s, n);
}

bool table_room(PieceTable *t, size_t count, int largest)
{
    enum { HOLES = 1 << 20 };
    if (largest < 0 || (size_t)largest > 4 * count + HOLES)
        return false;
    t->n = largest + 1;
    t->name = xcalloc((size_t)t->n, sizeof *t->name);
    t->length = xcalloc((size_t)t->n, sizeof *t->length);
    for (t->slots = 64; t->slots < 2 * (size_t)t->n + 2 * count;)
        t->slots *= 2;
    t->slot = xcalloc(t->slots, sizeof *t->slot);
    return true;
}

static size_t slot_of(const PieceTable *t, const char *name, size_t length)
{
    size_t i = hash_of(name, length) & (t->slots - 1);
    for (; t->slot[i]; i = (i + 1) & (t->slots - 1)) {
        int id = t->slot[i] - 1;
        if (t->length[id] == length && memcmp(t->name[id], name, length) == 0)
            break;
    }
    return i;
}

bool table_add(PieceTable *t, const char *name, size_t length, int id)
{
    size_t i = slot_of(t, name, length);
    if (t->slot[i] || t->name[id])
        return false;
    char *own = arena_alloc(&t->arena, length + 1);
    memcpy(own, name, length);
    t->name[id] = own;
    t->length[id] = (uint32_t)length;
    t->slot[i] = id + 1;
    t->longest = length > t->longest ? length : t->longest;
    return true;
}

int table_find(const PieceTable *t, const char *name, size_t length)
{
    return t->slots && length <= t->longest ? t->slot[slot_of(t, name, length)] - 1 : -1;
}

void table_free(PieceTable *t)
{
    arena_free(&t->arena);
    free(t->name);
    free(t->length);
    free(t->slot);
    *t = (PieceTable){.n = 0};
}
