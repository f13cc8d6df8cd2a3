/* SentencePiece models (Kudo and Richardson 2018; sentencepiece_model.proto of its repository): what one says, as the
 * tokenizer.json that does the same. A protobuf is a row of fields, each a number with a kind and a value; those that
 * are not known are passed over, every length is checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/tokenizer_parts.h"

typedef struct Wire {
    const unsigned char *at, *end;
} Wire;

enum { WIRE_NUMBER = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };
typedef struct Field {
    uint64_t number, value; /* of a text: its bytes */
    Wire bytes;
    int kind;
} Field;

static bool wire_number(Wire *w, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; w->at < w->end && shift < 64; shift += 7) {
        unsigned char c = *w->at++;
        *out |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return true;
    }
    return false;
}

/* The next field; false at the end of the row, or where it is damaged (*ok). */
static bool wire_next(Wire *w, Field *f, bool *ok)
{
    uint64_t key;
    if (w->at == w->end)
        return false;
    *ok = wire_number(w, &key);
    *f = (Field){.number = key >> 3, .kind = (int)(key & 7)};
    size_t fixed = f->kind == WIRE_64 ? 8 : f->kind == WIRE_32 ? 4 : 0;
    if (f->kind == WIRE_NUMBER || f->kind == WIRE_BYTES)
        *ok = *ok && wire_number(w, &f->value);
    else
        *ok = *ok && fixed && fixed <= (size_t)(w->end - w->at);
    if (*ok && f->kind == WIRE_BYTES)
        *ok = f->value <= (uint64_t)(w->end - w->at);
    if (!*ok)
        return false;
    for (size_t i = fixed; i-- > 0;)
        f->value = f->value << 8 | w->at[i];
    f->bytes = (Wire){w->at, w->at + (f->kind == WIRE_BYTES ? f->value : fixed)};
    w->at = f->bytes.end;
    return true;
}

/* ---- what is read ---- */

typedef enum PieceKind { KIND_NORMAL = 1, KIND_UNKNOWN, KIND_CONTROL, KIND_USER, KIND_UNUSED, KIND_BYTE } PieceKind;
typedef struct SpmPiece {
    char *text;
    size_t length;
    double score;
    uint64_t kind;
} SpmPiece;
typedef struct Spm {
    const char *path;
    SpmPiece *piece;
    size_t n, cap;
    uint64_t type, unknown, begin, end; /* 1: Unigram, 2: BPE */
    bool fallback, prefix, trims, escapes, behind;
    Wire charsmap;
    Arena arena;
} Spm;

static bool damaged(const Spm *s, Err *err)
{
    return err_set(err, "%s: this is no SentencePiece model, or it is damaged", s->path);
}

static bool read_piece(Spm *s, Wire w, Err *err)
{
    SpmPiece p = {.text = "", .kind = KIND_NORMAL};
    Field f;
    bool ok = true;
    while (wire_next(&w, &f, &ok)) {
        if (f.number == 1 && f.kind == WIRE_BYTES) {
            p.length = (size_t)f.value;
            p.text = arena_alloc(&s->arena, p.length + 1);
            memcpy(p.text, f.bytes.at, p.length);
            p.text[p.length] = '\0';
        } else if (f.number == 2 && f.kind == WIRE_32) {
            uint32_t bits = (uint32_t)f.value;
            float score;
            memcpy(&score, &bits, sizeof score);
            p.score = (double)score;
        } else if (f.number == 3 && f.kind == WIRE_NUMBER)
            p.kind = f.value;
    }
    if (!ok || !p.length || memchr(p.text, 0, p.length) || !isfinite(p.score) || p.kind < KIND_NORMAL ||
        p.kind > KIND_BYTE)
        return err_set(err, "%s: piece %zu is damaged", s->path, s->n);
    s->piece = grow(s->piece, &s->cap, s->n, sizeof *s->piece);
    s->piece[s->n++] = p;
    return true;
}

static bool read_trainer(Spm *s, Wire w, Err *err)
{
    Field f;
    bool ok = true;
    while (wire_next(&w, &f, &ok)) {
        if (f.kind != WIRE_NUMBER)
            continue;
        switch (f.number) {
        case 3: s->type = f.value; break;
        case 24: s->behind = f.value; break;
        case 35: s->fallback = f.value; break;
        case 40: s->unknown = f.value; break;
        case 41: s->begin = f.value; break;
        case 42: s->end = f.value; break;
        default: break;
        }
    }
    return ok || damaged(s, err);
}

static bool read_normalizer(Spm *s, Wire w, Err *err)
{
    Field f;
    bool ok = true;
    while (wire_next(&w, &f, &ok)) {
        if (f.number == 2 && f.kind == WIRE_BYTES)
            s->charsmap = f.bytes;
        else if (f.number == 3 && f.kind == WIRE_NUMBER)
            s->prefix = f.value;
        else if (f.number == 4 && f.kind == WIRE_NUMBER)
            s->trims = f.value;
        else if (f.number == 5 && f.kind == WIRE_NUMBER)
            s->escapes = f.value;
    }
    return ok || damaged(s, err);
}

static bool read_all(Spm *s, Wire w, Err *err)
{
    Field f;
    bool ok = true, fine = true;
    *s = (Spm){.path = s->path, .type = 1, .begin = 1, .end = 2, .prefix = true, .trims = true, .escapes = true};
    while (fine && wire_next(&w, &f, &ok))
        if (f.kind == WIRE_BYTES)
            fine = f.number == 1   ? read_piece(s, f.bytes, err)
                   : f.number == 2 ? read_trainer(s, f.bytes, err)
                   : f.number == 3 ? read_normalizer(s, f.bytes, err)
                                   : true;
    if (!fine)
        return false;
    if (!ok || !s->n)
        return damaged(s, err);
    if (s->type != 1 && s->type != 2)
        return err_set(err, "%s: SentencePiece models of words or characters alone are not known here", s->path);
    if (!s->escapes || s->behind)
        return err_set(err, "%s: a SentencePiece model that writes blanks in another way is not known here", s->path);
    return s->unknown < s->n ||
           err_set(err, "%s: its unknown piece is number %llu of %zu", s->path, (unsigned long long)s->unknown, s->n);
}

/* ---- as tokenizer.json ---- */

static void put_base64(Buf *out, Wire w)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;
    int have = 0;
    for (; w.at < w.end; w.at++)
        for (bits = bits << 8 | *w.at, have += 8; have >= 6;)
            buf_putc(out, DIGITS[bits >> (have -= 6) & 63]);
    if (have)
        buf_putc(out, DIGITS[bits << (6 - have) & 63]);
}

/* A piece with the logarithm of its probability; null: it is written, and nothing is cut into it. */
static void put_scored(Buf *out, const char *piece, const SpmPiece *p)
{
    buf_puts(out, out->data[out->len - 1] == '[' ? "[" : ",[");
    buf_json(out, piece);
    if (p && (p->kind == KIND_NORMAL || p->kind == KIND_USER))
        buf_printf(out, ",%.17g]", p->score);
    else
        buf_puts(out, ",null]");
}

static void put_added(Buf *out, const char *piece, size_t id, bool special)
{
    buf_printf(out, "%s{\"id\":%zu,\"special\":%s,\"normalized\":false,\"content\":", out->len ? "," : "", id,
               special ? "true" : "false");
    buf_json(out, piece);
    buf_putc(out, '}');
}

/* The pieces as they stand, and `extra` of T5's behind them, the last first. */
static void put_own(const Spm *s, int extra, Buf *vocabulary, Buf *added)
{
    char name[32];
    for (size_t i = 0; i < s->n; i++) {
        const SpmPiece *p = &s->piece[i];
        put_scored(vocabulary, p->text, p);
        if (p->kind == KIND_CONTROL || p->kind == KIND_UNKNOWN || p->kind == KIND_USER)
            put_added(added, p->text, i, p->kind != KIND_USER);
    }
    for (int k = 0; k < extra; k++) {
        snprintf(name, sizeof name, "<extra_id_%d>", extra - 1 - k);
        put_scored(vocabulary, name, NULL);
        put_added(added, name, s->n + (size_t)k, true);
    }
}

/* The pieces of another file by its numbers, each with its score where this model has it; those that the other has not
 * stand behind, and are written as what is unknown. */
static bool put_others(const Spm *s, const Json *ids, int *unknown, Buf *vocabulary, Buf *added, Err *err)
{
    PieceTable own = {.n = 0};
    size_t n = json_count(ids);
    const char **name = n < INT32_MAX ? xcalloc(n + 1, sizeof *name) : NULL, *key = NULL;
    bool *taken = xcalloc(s->n, sizeof *taken);
    bool ok = n && name && s->n < INT32_MAX && table_room(&own, s->n, (int)s->n - 1);
    int64_t id;
    for (size_t i = 0; ok && i < s->n; i++)
        ok = table_add(&own, s->piece[i].text, s->piece[i].length, (int)i);
    for (const Json *v; ok && (v = json_next(ids, &key));) {
        ok = json_int(v, &id) && id >= 0 && (uint64_t)id < n && !name[id];
        if (ok)
            name[id] = key;
    }
    *unknown = -1;
    for (size_t i = 0; ok && i < n; i++) {
        int at = table_find(&own, name[i], strlen(name[i]));
        size_t length = strlen(name[i]);
        bool code = length > 4 && strncmp(name[i], ">>", 2) == 0 && strcmp(name[i] + length - 2, "<<") == 0;
        if (at >= 0)
            taken[at] = true;
        put_scored(vocabulary, name[i], at >= 0 ? &s->piece[at] : NULL);
        if (strcmp(name[i], "<unk>") == 0)
            *unknown = (int)i;
        if (code || strcmp(name[i], "<unk>") == 0 || strcmp(name[i], "</s>") == 0 || strcmp(name[i], "<pad>") == 0)
            put_added(added, name[i], i, true);
    }
    for (size_t i = 0; ok && i < s->n; i++)
        if (!taken[i] && s->piece[i].kind == KIND_NORMAL)
            put_scored(vocabulary, s->piece[i].text, &s->piece[i]);
    table_free(&own);
    free(name);
    free(taken);
    return ok || err_set(err, "%s: its pieces and the numbers of vocab.json are not those of one model", s->path);
}

typedef struct Made {
    double score;
    size_t whole, left, right;
} Made;

static int earlier(const void *a, const void *b)
{
    const Made *x = a, *y = b;
    if (x->score > y->score || x->score < y->score)
        return x->score > y->score ? -1 : 1;
    return x->left != y->left ? (x->left > y->left) - (x->left < y->left)
                              : (x->right > y->right) - (x->right < y->right);
}

/* Byte-pair encoding: of all ways to make a piece of two, those of the largest score come first. */
static bool put_merges(const Spm *s, Buf *out, Err *err)
{
    PieceTable own = {.n = 0};
    Made *at = NULL;
    size_t n = 0, cap = 0;
    bool ok = s->n < INT32_MAX && table_room(&own, s->n, (int)s->n - 1);
    for (size_t i = 0; ok && i < s->n; i++)
        ok = table_add(&own, s->piece[i].text, s->piece[i].length, (int)i);
    for (size_t i = 0; ok && i < s->n; i++)
        for (size_t cut = 1; s->piece[i].kind == KIND_NORMAL && cut < s->piece[i].length; cut++) {
            int left = table_find(&own, s->piece[i].text, cut),
                right = table_find(&own, s->piece[i].text + cut, s->piece[i].length - cut);
            if (left < 0 || right < 0)
                continue;
            at = grow(at, &cap, n, sizeof *at);
            at[n++] = (Made){s->piece[i].score, i, (size_t)left, (size_t)right};
        }
    if (ok && n)
        qsort(at, n, sizeof *at, earlier);
    for (size_t i = 0; ok && i < n; i++) {
        buf_puts(out, i ? ",[" : "[");
        buf_json(out, s->piece[at[i].left].text);
        buf_putc(out, ',');
        buf_json(out, s->piece[at[i].right].text);
        buf_putc(out, ']');
    }
    free(at);
    table_free(&own);
    return ok || err_set(err, "%s: a piece comes twice", s->path);
}

static void put_numbered(const Spm *s, Buf *vocabulary, Buf *added)
{
    for (size_t i = 0; i < s->n; i++) {
        const SpmPiece *p = &s->piece[i];
        buf_puts(vocabulary, i ? "," : "");
        buf_json(vocabulary, p->text);
        buf_printf(vocabulary, ":%zu", i);
        if (p->kind == KIND_CONTROL || p->kind == KIND_UNKNOWN || p->kind == KIND_USER)
            put_added(added, p->text, i, p->kind != KIND_USER);
    }
}

/* What is done to a text before it is cut, and what is put around it. */
static void put_steps(const Spm *s, const SpmFile *f, const Buf *added, Buf *out)
{
    static const char PART[] = "{\"SpecialToken\":{\"id\":";
    buf_puts(out, ",\"added_tokens\":[");
    buf_add(out, added->data, added->len);
    buf_puts(out, "],\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    if (s->charsmap.at < s->charsmap.end) {
        buf_puts(out, "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"");
        put_base64(out, s->charsmap);
        buf_puts(out, "\"},");
    }
    if (s->trims) /* Marian's own program trims blanks; T5's takes any white space off the end */
        buf_printf(out,
                   "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"^ +| +$\"},\"content\":\"\"},%s"
                   "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"},",
                   f->ids ? "" : "{\"type\":\"Strip\",\"strip_left\":false},");
    buf_printf(out,
               "{\"type\":\"Prepend\",\"prepend\":\"%s\"}]},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":"
               "\"▁\",\"prepend_scheme\":\"never\",\"split\":false},\"post_processor\":{\"type\":"
               "\"TemplateProcessing\",\"single\":[",
               s->prefix ? " " : "");
    if (f->begins && s->begin < s->n) {
        buf_puts(out, PART);
        buf_json(out, s->piece[s->begin].text);
        buf_puts(out, "}},");
    }
    buf_puts(out, "{\"Sequence\":{\"id\":\"A\"}}");
    if (f->ends && (f->ids || s->end < s->n)) {
        buf_printf(out, ",%s", PART);
        buf_json(out, f->ids ? "</s>" : s->piece[s->end].text);
        buf_puts(out, "}}");
    }
    buf_printf(out,
               "],\"pair\":[]},\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Metaspace\","
               "\"prepend_scheme\":\"%s\"}%s]}}",
               s->prefix ? "always" : "never", s->fallback ? ",{\"type\":\"ByteFallback\"}" : "");
}

bool spm_json(const SpmFile *f, const char *bytes, size_t n, Buf *out, Err *err)
{
    Spm s = {.path = f->path};
    Buf added = {0};
    int unknown;
    bool ok = read_all(&s, (Wire){(const unsigned char *)bytes, (const unsigned char *)bytes + n}, err);
    unknown = ok ? (int)s.unknown : 0;
    if (ok && s.type == 1) {
        buf_puts(out, "{\"model\":{\"type\":\"Unigram\",\"vocab\":[");
        if (f->ids)
            ok = put_others(&s, f->ids, &unknown, out, &added, err);
        else
            put_own(&s, f->extra, out, &added);
        buf_printf(out, "],\"byte_fallback\":%s,\"unk_id\":%d}", s.fallback ? "true" : "false", unknown);
        ok = ok && (unknown >= 0 || err_set(err, "%s: vocab.json has no <unk>", f->path));
    } else if (ok && f->ids)
        ok = err_set(err, "%s: byte-pair encoding beside vocab.json is not known here", f->path);
    else if (ok) {
        buf_puts(out, "{\"model\":{\"type\":\"BPE\",\"fuse_unk\":true,\"vocab\":{");
        put_numbered(&s, out, &added);
        buf_puts(out, "},\"merges\":[");
        ok = put_merges(&s, out, err);
        buf_printf(out, "],\"byte_fallback\":%s,\"unk_token\":", s.fallback ? "true" : "false");
        buf_json(out, s.piece[unknown].text);
        buf_putc(out, '}');
    }
    if (ok)
        put_steps(&s, f, &added, out);
    buf_free(&added);
    free(s.piece);
    arena_free(&s.arena);
    return ok;
}
