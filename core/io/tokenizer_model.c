#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/utf8.h"
#include "core/io/tokenizer_parts.h"

void token_model_free(TokenModel *m)
{
    table_free(&m->table);
    free(m->merge);
    free(m->score);
    free(m->prefix);
    free(m->suffix);
}

void tokens_add(Tokens *out, int id, size_t from, size_t to)
{
    out->at = grow(out->at, &out->cap, out->n, sizeof *out->at);
    out->at[out->n++] = (Token){id, from, to, out->cut.len};
}

/* Byte i of w, which lies in p, as one of `cut`: p is its last part. */
static size_t in_cut(const Tokens *out, Piece p, size_t i)
{
    return out->cut.len + i - p.to;
}

/* What stands for bytes [from, to) of w, in p. */
static void add_of(const Working *w, Piece p, int id, size_t from, size_t to, Tokens *out)
{
    tokens_add(out, id, working_origin(w, from), working_behind(w, from, to));
    out->at[out->n - 1].end = out->parts ? in_cut(out, p, to) : 0;
}

/* Bytes [from, to) of w have no piece. A character of the text may be several of w. */
static void lose(const Working *w, size_t from, size_t to, Tokens *out)
{
    for (size_t i = from; i < to; i++) {
        const size_t at = working_origin(w, i);
        if ((w->text.data[i] & 0xc0) == 0x80 || (out->losts && out->lost[out->losts - 1] == at))
            continue; /* within a character */
        out->lost = grow(out->lost, &out->lost_cap, out->losts, sizeof *out->lost);
        out->lost[out->losts++] = at;
    }
}

/* ---- byte-pair encoding (Sennrich et al. 2016): the pair of neighbours of the lowest rank becomes one, the first of
 * equals, until none is in the table ---- */

static const Merge *merge_of(const TokenModel *m, int left, int right)
{
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    for (size_t i = (size_t)digest_mix(DIGEST_START, pair) & (m->slots - 1); m->slots && m->merge[i].pair != UINT64_MAX;
         i = (i + 1) & (m->slots - 1))
        if (m->merge[i].pair == pair)
            return &m->merge[i];
    return NULL;
}

typedef struct Symbol {
    int id, before, after; /* places of its neighbours; −1: none. id −2: it is part of another now */
    size_t from, to;       /* bytes of the working text */
} Symbol;
typedef struct Candidate {
    int rank, at, left, right; /* of the symbol at `at` and the one behind, as they were */
} Candidate;
typedef struct Word {
    Symbol *at;
    size_t n, cap;
    Candidate *heap;
    size_t heaped, heap_cap;
} Word;

static bool comes_first(Candidate a, Candidate b)
{
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

static void heap_push(Word *w, Candidate c)
{
    w->heap = grow(w->heap, &w->heap_cap, w->heaped, sizeof *w->heap);
    size_t i = w->heaped++;
    for (; i && comes_first(c, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = c;
}

static Candidate heap_pop(Word *w)
{
    Candidate top = w->heap[0], last = w->heap[--w->heaped];
    size_t i = 0;
    for (size_t next; (next = 2 * i + 1) < w->heaped; i = next) {
        if (next + 1 < w->heaped && comes_first(w->heap[next + 1], w->heap[next]))
            next++;
        if (!comes_first(w->heap[next], last))
            break;
        w->heap[i] = w->heap[next];
    }
    w->heap[i] = last;
    return top;
}

static void consider(const TokenModel *m, Word *w, int at)
{
    int after = at < 0 ? -1 : w->at[at].after;
    const Merge *found = after < 0 ? NULL : merge_of(m, w->at[at].id, w->at[after].id);
    if (found)
        heap_push(w, (Candidate){found->rank, at, w->at[at].id, w->at[after].id});
}

static void add_symbol(Word *w, int id, size_t from, size_t to)
{
    w->at = grow(w->at, &w->cap, w->n, sizeof *w->at);
    w->at[w->n] = (Symbol){id, (int)w->n - 1, (int)w->n + 1, from, to};
    w->n++;
}

/* The characters of the piece: its symbols to begin with. */
static void spell(const TokenModel *m, const Working *w, Piece p, Word *word, Tokens *out)
{
    char last[64];
    for (const char *s = w->text.data + p.from, *end = w->text.data + p.to; s < end;) {
        const char *c = s;
        char_next(&s, end);
        size_t from = (size_t)(c - w->text.data), to = (size_t)(s - w->text.data), n = to - from;
        const char *name = c;
        if (m->suffix && s == end) {
            memcpy(last, c, n);
            strcpy(last + n, m->suffix); /* at most 32 bytes (model_read) */
            name = last;
            n = strlen(last);
        }
        int id = table_find(&m->table, name, n);
        bool bytes = id < 0 && m->byte_fallback;
        for (size_t i = from; bytes && i < to; i++)
            bytes = m->byte[(unsigned char)w->text.data[i]] >= 0;
        if (id >= 0)
            add_symbol(word, id, from, to);
        else if (bytes)
            for (size_t i = from; i < to; i++)
                add_symbol(word, m->byte[(unsigned char)w->text.data[i]], from, to);
        else if (m->unknown >= 0 && m->fuse_unknown && word->n && word->at[word->n - 1].id == m->unknown)
            word->at[word->n - 1].to = to;
        else if (m->unknown >= 0)
            add_symbol(word, m->unknown, from, to);
        else
            lose(w, from, to, out);
    }
    if (word->n)
        word->at[word->n - 1].after = -1;
}

static void encode_bpe(const TokenModel *m, const Working *w, Piece p, bool with_steps, Tokens *out)
{
    Word word = {0};
    int whole = m->ignore_merges ? table_find(&m->table, w->text.data + p.from, p.to - p.from) : -1;
    if (whole >= 0) {
        add_of(w, p, whole, p.from, p.to, out);
        return;
    }
    spell(m, w, p, &word, out);
    for (size_t i = 0; i < word.n; i++)
        consider(m, &word, (int)i);
    while (word.heaped) {
        Candidate c = heap_pop(&word);
        Symbol *left = &word.at[c.at];
        if (left->id != c.left || left->after < 0 || word.at[left->after].id != c.right)
            continue; /* one of them went into another pair */
        Symbol *right = &word.at[left->after];
        const Merge *merge = merge_of(m, c.left, c.right);
        left->id = merge->whole;
        left->to = right->to;
        left->after = right->after;
        right->id = -2;
        if (left->after >= 0)
            word.at[left->after].before = c.at;
        if (with_steps) {
            out->merge = grow(out->merge, &out->merge_cap, out->merges, sizeof *out->merge);
            out->merge[out->merges++] = (TokenMerge){c.left,
                                                     c.right,
                                                     merge->whole,
                                                     merge->rank,
                                                     working_origin(w, left->from),
                                                     working_behind(w, left->from, left->to),
                                                     in_cut(out, p, right->from)};
        }
        consider(m, &word, left->before);
        consider(m, &word, c.at);
    }
    for (int i = word.n ? 0 : -1; i >= 0; i = word.at[i].after)
        add_of(w, p, word.at[i].id, word.at[i].from, word.at[i].to, out);
    free(word.at);
    free(word.heap);
}

/* ---- WordPiece: the longest piece first, from the left; a word of which a part is unknown is unknown ---- */

static void encode_wordpiece(const TokenModel *m, const Working *w, Piece p, Tokens *out)
{
    const char *text = w->text.data;
    size_t first = out->n, characters = 0, prefix = strlen(m->prefix);
    char name[512];
    for (size_t i = p.from; i < p.to; i++)
        characters += ((unsigned char)text[i] & 0xc0) != 0x80;
    bool known = characters <= m->word_most;
    for (size_t at = p.from, end; known && at < p.to; at = end) {
        size_t lead = at > p.from ? prefix : 0;
        int id = -1;
        memcpy(name, m->prefix, lead);
        size_t most = sizeof name < m->table.longest ? sizeof name : m->table.longest;
        most = most > lead ? most - lead : 0;
        for (end = p.to - at < most ? p.to : at + most; end > at; end--) {
            size_t n = end - at;
            if (((unsigned char)text[end] & 0xc0) == 0x80 && end < p.to)
                continue;
            memcpy(name + lead, text + at, n);
            id = table_find(&m->table, name, lead + n);
            if (id >= 0)
                break;
        }
        known = id >= 0;
        if (known)
            add_of(w, p, id, at, end, out);
    }
    if (known)
        return;
    out->n = first;
    if (m->unknown >= 0)
        add_of(w, p, m->unknown, p.from, p.to, out);
    else
        lose(w, p.from, p.to, out);
}

/* Bytes of a piece of a unigram model, all beginnings of which are looked up at every place. */
enum { PIECE_MOST = 512 };

/* ---- unigram (Kudo 2018): of all ways to cut, the one of the largest sum of log probabilities (Viterbi) ---- */

typedef struct Best {
    double score;
    size_t from;
    int id;
    bool known;
} Best;
/* The best other way to come to a place. */
typedef struct Rival {
    Best way;
    bool on; /* it goes on from the rival of the place before */
} Rival;

/* best[n + 1] of the places between bytes; rival[n + 1] too, or NULL where nobody asks. */
typedef struct Ways {
    Best *best;
    Rival *rival;
} Ways;

static void offer_rival(const Ways *w, size_t to, Best way, bool on)
{
    Rival *r = &w->rival[to];
    if (!r->way.known || way.score > r->way.score)
        *r = (Rival){way, on};
}

/* That piece from `from` to `to`. */
static void offer(const Ways *w, size_t from, size_t to, double score, int id)
{
    Best *b = &w->best[to], way = {w->best[from].score + score, from, id, true}, lost = way;
    if (!b->known || way.score > b->score) {
        lost = *b;
        *b = way;
    }
    if (w->rival && lost.known)
        offer_rival(w, to, lost, false);
    if (w->rival && w->rival[from].way.known)
        offer_rival(w, to, (Best){w->rival[from].way.score + score, from, id, true}, true);
}

double model_unknown_score(const TokenModel *m)
{
    return m->least - 10;
}

static void walk(const TokenModel *m, const char *text, size_t n, const Ways *w)
{
    w->best[0].known = true;
    for (size_t at = 0, step; at < n; at += step) {
        bool single = false;
        for (step = 1; at + step < n && ((unsigned char)text[at + step] & 0xc0) == 0x80;)
            step++;
        for (size_t k = 1; k <= PIECE_MOST && k <= m->table.longest && at + k <= n; k++) {
            int id = table_find(&m->table, text + at, k);
            if (id < 0 || id == m->unknown || m->score[id] < -DBL_MAX)
                continue;
            offer(w, at, at + k, m->score[id], id);
            single = single || k == step;
        }
        if (!single)
            offer(w, at, at + step, model_unknown_score(m), m->unknown);
    }
}

/* Of the part that is noted last. */
static void note_ways(const TokenModel *m, const Ways *w, size_t n, Tokens *out)
{
    TokenPart *part = &out->part[out->parts - 1];
    const size_t first = out->rivals;
    bool on = w->rival[n].way.known;
    part->score = w->best[n].score;
    part->rival_score = on ? w->rival[n].way.score : -(double)INFINITY;
    for (size_t at = on ? n : 0; at > 0;) {
        const Best *way = on ? &w->rival[at].way : &w->best[at];
        out->rival = grow(out->rival, &out->rival_cap, out->rivals, sizeof *out->rival);
        out->rival[out->rivals++] = way->id == m->unknown ? -1 : way->id;
        on = on && w->rival[at].on;
        at = way->from;
    }
    for (size_t i = first, j = out->rivals; i + 1 < j; i++) { /* they were found from the end */
        int swap = out->rival[i];
        out->rival[i] = out->rival[--j];
        out->rival[j] = swap;
    }
}

static void add_unknown(const TokenModel *m, const Working *w, Piece p, size_t from, size_t to, Tokens *out)
{
    bool bytes = m->byte_fallback;
    for (size_t i = from; bytes && i < to; i++)
        bytes = m->byte[(unsigned char)w->text.data[i]] >= 0;
    for (size_t i = from; bytes && i < to; i++) {
        tokens_add(out, m->byte[(unsigned char)w->text.data[i]], working_origin(w, i), working_behind(w, i, to));
        out->at[out->n - 1].end = out->parts ? in_cut(out, p, i + 1) : 0;
    }
    if (!bytes && m->unknown >= 0)
        add_of(w, p, m->unknown, from, to, out);
    else if (!bytes)
        lose(w, from, to, out);
}

static void encode_unigram(const TokenModel *m, const Working *w, Piece p, bool with_steps, Tokens *out)
{
    size_t n = p.to - p.from, pieces = 0;
    Best *best = xcalloc(n + 1, sizeof *best);
    const Ways ways = {best, with_steps ? xcalloc(n + 1, sizeof *ways.rival) : NULL};
    size_t *ends = xmalloc(size_mul(n + 1, sizeof *ends));
    walk(m, w->text.data + p.from, n, &ways);
    if (with_steps)
        note_ways(m, &ways, n, out);
    free(ways.rival);
    for (size_t at = n; at > 0; at = best[at].from)
        ends[pieces++] = at;
    while (pieces > 0) {
        size_t to = ends[--pieces], from = best[to].from;
        if (best[to].id != m->unknown) {
            add_of(w, p, m->written && best[to].id >= m->written ? m->unknown : best[to].id, p.from + from, p.from + to,
                   out);
            continue;
        }
        while (pieces > 0 && best[ends[pieces - 1]].id == m->unknown) /* neighbours that are unknown are one */
            to = ends[--pieces];
        add_unknown(m, w, p, p.from + from, p.from + to, out);
    }
    free(best);
    free(ends);
}

void model_encode(const TokenModel *m, const Working *w, Piece p, bool with_steps, Tokens *out)
{
    int id;
    switch (m->kind) {
    case MODEL_BPE: encode_bpe(m, w, p, with_steps, out); return;
    case MODEL_WORDPIECE: encode_wordpiece(m, w, p, out); return;
    case MODEL_UNIGRAM: encode_unigram(m, w, p, with_steps, out); return;
    case MODEL_WORDS:
        id = table_find(&m->table, w->text.data + p.from, p.to - p.from);
        id = id < 0 ? m->unknown : id;
        if (id >= 0)
            add_of(w, p, id, p.from, p.to, out);
        else
            lose(w, p.from, p.to, out);
        return;
    }
}

/* ---- reading ---- */

static void model_bytes(TokenModel *m)
{
    char name[8];
    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        m->byte[b] = table_find(&m->table, name, 6);
    }
}

bool model_merges(TokenModel *m, size_t count,
                  bool (*next)(void *from, const char *pair[2], size_t length[2], Err *err), void *from,
                  const char *path, Err *err)
{
    Buf whole = {0};
    for (m->slots = 64; m->slots < 2 * count;)
        m->slots *= 2;
    m->merge = xmalloc(size_mul(m->slots, sizeof *m->merge));
    for (size_t i = 0; i < m->slots; i++)
        m->merge[i].pair = UINT64_MAX;
    bool ok = true;
    for (size_t rank = 0; ok && rank < count; rank++) {
        const char *pair[2];
        size_t length[2], lead = m->prefix ? strlen(m->prefix) : 0;
        if (!(ok = next(from, pair, length, err)))
            break;
        int left = table_find(&m->table, pair[0], length[0]), right = table_find(&m->table, pair[1], length[1]);
        bool cut = lead && length[1] > lead && strncmp(pair[1], m->prefix, lead) == 0;
        buf_clear(&whole);
        buf_add(&whole, pair[0], length[0]);
        buf_add(&whole, pair[1] + (cut ? lead : 0), length[1] - (cut ? lead : 0));
        int id = table_find(&m->table, buf_str(&whole), whole.len);
        if (left < 0 || right < 0 || id < 0) {
            ok = err_set(err, "%s: merge %zu makes \"%.60s\" of pieces, and not all three are in the vocabulary", path,
                         rank, buf_str(&whole));
            break;
        }
        uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
        size_t i = (size_t)digest_mix(DIGEST_START, key) & (m->slots - 1);
        while (m->merge[i].pair != UINT64_MAX && m->merge[i].pair != key)
            i = (i + 1) & (m->slots - 1);
        m->merge[i] = (Merge){key, (int)rank, id}; /* of a pair that comes twice the later line counts, as there */
        m->merges++;
    }
    buf_free(&whole);
    return ok;
}

typedef struct JsonMerges {
    const Json *list;
    const char *path;
    size_t at;
} JsonMerges;

/* "a b", or ["a", "b"]. */
static bool json_merge(void *from, const char *pair[2], size_t length[2], Err *err)
{
    JsonMerges *m = from;
    const Json *j = json_at(m->list, m->at++);
    if (json_count(j) == 2) {
        for (size_t i = 0; i < 2; i++) {
            pair[i] = json_text(json_at(j, i), "");
            length[i] = strlen(pair[i]);
        }
    } else {
        const char *text = json_text(j, ""), *blank = *text ? strchr(text + 1, ' ') : NULL;
        pair[0] = text;
        length[0] = blank ? (size_t)(blank - text) : 0;
        pair[1] = blank ? blank + 1 : "";
        length[1] = strlen(pair[1]);
    }
    return (length[0] && length[1]) || err_set(err, "%s: merge %zu is no pair", m->path, m->at - 1);
}

/* {"piece": 5, …}: every number once. */
static bool read_vocabulary(TokenModel *m, const Json *vocab, const char *path, Err *err)
{
    const char *key = NULL;
    int64_t id, largest = -1;
    size_t count = json_count(vocab);
    for (const Json *v; (v = json_next(vocab, &key));) {
        if (!json_int(v, &id) || id < 0 || id > INT32_MAX - 1)
            return err_set(err, "%s: the number of \"%.60s\" is none", path, key);
        largest = id > largest ? id : largest;
    }
    if (!count || !table_room(&m->table, count, (int)largest))
        return err_set(err, "%s: %zu pieces with numbers up to %lld: no vocabulary", path, count, (long long)largest);
    key = NULL;
    for (const Json *v; (v = json_next(vocab, &key));) {
        json_int(v, &id);
        if (!table_add(&m->table, key, strlen(key), (int)id))
            return err_set(err, "%s: two pieces have the number %lld, \"%.60s\" is one", path, (long long)id, key);
    }
    return true;
}

/* [["piece", -3.2], …]: the number is the line. */
static bool read_scores(TokenModel *m, const Json *vocab, const char *path, Err *err)
{
    size_t count = json_count(vocab);
    if (!count || count > INT32_MAX / 2 || !table_room(&m->table, count, (int)count - 1))
        return err_set(err, "%s: the vocabulary has %zu pieces", path, count);
    m->score = xcalloc(count, sizeof *m->score);
    m->least = DBL_MAX;
    for (size_t i = 0; i < count; i++) {
        const Json *row = json_at(vocab, i);
        const char *piece = json_text(json_at(row, 0), NULL);
        bool cut = json_count(row) < 2 || json_kind(json_at(row, 1)) != JK_NULL;
        if (!cut)
            m->score[i] = -(double)INFINITY;
        if (!piece || (cut && !json_number(json_at(row, 1), &m->score[i])))
            return err_set(err, "%s: line %zu of the vocabulary is no piece with its score", path, i);
        if (strlen(piece) > PIECE_MOST)
            return err_set(err, "%s: piece %zu has %zu bytes, more than the %d that are looked up", path, i,
                           strlen(piece), PIECE_MOST);
        if (!table_add(&m->table, piece, strlen(piece), (int)i))
            return err_set(err, "%s: the piece \"%.60s\" comes twice", path, piece);
        m->least = cut && m->score[i] < m->least ? m->score[i] : m->least;
    }
    m->least = m->least < DBL_MAX ? m->least : 0;
    return true;
}

static char *text_or_null(const Json *j)
{
    const char *s = json_text(j, "");
    return *s ? xstrdup(s) : NULL;
}

static ModelKind kind_of(const Json *j, const char *type)
{
    static const char *const names[] = {"BPE", "WordPiece", "Unigram", "WordLevel"};
    for (int i = 0; i < 4; i++)
        if (strcmp(type, names[i]) == 0)
            return (ModelKind)i;
    if (*type)
        return (ModelKind)-1;
    /* old files do not say it */
    return json_get(j, "merges")                         ? MODEL_BPE
           : json_kind(json_get(j, "vocab")) == JK_ARRAY ? MODEL_UNIGRAM
           : json_get(j, "max_input_chars_per_word")     ? MODEL_WORDPIECE
                                                         : (ModelKind)-1;
}

static bool read_unknown(TokenModel *m, const Json *j, const char *path, Err *err)
{
    int64_t id = -1;
    const char *unknown = json_text(json_get(j, "unk_token"), NULL);
    if (m->kind == MODEL_UNIGRAM) {
        const Json *at = json_get(j, "unk_id");
        if (json_kind(at) != JK_NULL && (!json_int(at, &id) || id < 0 || id >= m->table.n))
            return err_set(err, "%s: \"unk_id\" is no number of a piece", path);
        m->unknown = (int)id;
        return true;
    }
    m->unknown = unknown ? table_find(&m->table, unknown, strlen(unknown)) : -1;
    return !unknown || m->unknown >= 0 || m->kind == MODEL_BPE ||
           err_set(err, "%s: \"unk_token\" is \"%.60s\", which is not in the vocabulary", path, unknown);
}

bool model_read(TokenModel *m, const Json *j, const char *path, Err *err)
{
    const char *type = json_text(json_get(j, "type"), "");
    const Json *vocab = json_get(j, "vocab"), *merges = json_get(j, "merges");
    double dropout = 0;
    int64_t most = 100;
    m->kind = kind_of(j, type);
    if ((int)m->kind < 0)
        return err_set(err, "%s: the tokeniser's model is \"%.40s\", which is not known here", path, type);
    m->byte_fallback = json_bool(json_get(j, "byte_fallback"), false);
    m->ignore_merges = json_bool(json_get(j, "ignore_merges"), false);
    m->fuse_unknown = json_bool(json_get(j, "fuse_unk"), false);
    json_int(json_get(j, "max_input_chars_per_word"), &most);
    m->word_most = most > 0 ? (size_t)most : 0;
    m->suffix = text_or_null(json_get(j, "end_of_word_suffix"));
    m->prefix = text_or_null(json_get(j, "continuing_subword_prefix"));
    if (json_number(json_get(j, "dropout"), &dropout) && dropout > 0)
        return err_set(err, "%s: merges are left out by chance (\"dropout\" %g): there is no one answer", path,
                       dropout);
    if (m->kind == MODEL_BPE && m->prefix)
        return err_set(err, "%s: byte-pair encoding with a \"continuing_subword_prefix\" is not known here", path);
    if (m->kind == MODEL_WORDPIECE && !m->prefix)
        m->prefix = xstrdup("");
    if ((m->prefix && strlen(m->prefix) > 32) || (m->suffix && strlen(m->suffix) > 32))
        return err_set(err, "%s: a prefix or suffix of more than 32 bytes", path);
    if (!(m->kind == MODEL_UNIGRAM ? read_scores(m, vocab, path, err) : read_vocabulary(m, vocab, path, err)) ||
        !read_unknown(m, j, path, err))
        return false;
    JsonMerges list = {merges, path, 0};
    if (m->kind == MODEL_BPE && !model_merges(m, json_count(merges), json_merge, &list, path, err))
        return false;
    model_bytes(m);
    return true;
}
