#include "core/io/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/utf8.h"
#include "core/io/tokenizer_parts.h"

/* A piece of the text between two cuts, once however often it comes. */
typedef struct Word {
    int *symbol; /* [n] numbers of pieces; in the arena */
    uint32_t n, times;
} Word;

typedef struct Learner {
    Word *word; /* [words] */
    size_t words, cap;
    size_t *slot; /* open addressing: 1 + a word's number */
    size_t slots;
    Arena arena;
    int pieces, most;
    int *left, *right; /* [most]: what a piece was merged from */
    uint32_t *times;   /* [most, most]: how often the pair comes */
    uint32_t *seen;    /* pairs that ever came, left · most + right, each once */
    size_t pairs, room;
    uint8_t *known; /* [most, most]: is it in `seen`? */
} Learner;

static bool is_word(const Word *w, const unsigned char *bytes, size_t n)
{
    bool same = w->n == n;
    for (size_t i = 0; same && i < n; i++)
        same = w->symbol[i] == bytes[i];
    return same;
}

static size_t slot_of(const Learner *l, const unsigned char *bytes, size_t n)
{
    size_t s = (size_t)digest_bytes(DIGEST_START, bytes, n) & (l->slots - 1);
    while (l->slot[s] && !is_word(&l->word[l->slot[s] - 1], bytes, n))
        s = (s + 1) & (l->slots - 1);
    return s;
}

static void more_slots(Learner *l)
{
    size_t n = l->slots ? 2 * l->slots : 4096;
    size_t *old = l->slot, count = l->slots;
    l->slot = xcalloc(n, sizeof *l->slot);
    l->slots = n;
    for (size_t i = 0; i < count; i++) {
        if (!old[i])
            continue;
        const Word *w = &l->word[old[i] - 1];
        unsigned char *bytes = xmalloc(w->n + 1u);
        for (size_t k = 0; k < w->n; k++)
            bytes[k] = (unsigned char)w->symbol[k];
        l->slot[slot_of(l, bytes, w->n)] = old[i];
        free(bytes);
    }
    free(old);
}

static void add_word(Learner *l, const unsigned char *bytes, size_t n)
{
    if (2 * l->words >= l->slots)
        more_slots(l);
    size_t s = slot_of(l, bytes, n);
    if (!l->slot[s]) {
        l->word = grow(l->word, &l->cap, l->words, sizeof *l->word);
        Word *w = &l->word[l->words++];
        *w = (Word){.symbol = arena_alloc(&l->arena, size_mul(n, sizeof *w->symbol)), .n = (uint32_t)n};
        for (size_t i = 0; i < n; i++)
            w->symbol[i] = bytes[i];
        l->slot[s] = l->words;
    }
    l->word[l->slot[s] - 1].times++;
}

/* A stretch of text, cut: its pieces are written in GPT-2's alphabet, and read back as bytes. */
static bool add_stretch(Learner *l, const Split *split, size_t splits, const char *text, size_t n, Err *err)
{
    Working w = {.from = NULL};
    Pieces pieces = {NULL, 0, 0};
    working_add(&w, text, n, 0);
    working_end(&w, n);
    bool ok = split_run(split, splits, true, &w, &pieces, err);
    unsigned char *bytes = xmalloc(w.text.len + 1);
    for (size_t i = 0; ok && i < pieces.n; i++) {
        size_t count = 0;
        for (const char *at = w.text.data + pieces.at[i].from, *end = w.text.data + pieces.at[i].to; at < end;) {
            int byte = char_byte(char_next(&at, end));
            REQUIRE(byte >= 0);
            bytes[count++] = (unsigned char)byte;
        }
        add_word(l, bytes, count);
    }
    free(bytes);
    free(pieces.at);
    working_free(&w);
    return ok;
}

/* Stretches end with a line, so that what is cut needs little room whatever the text's length. */
static bool add_text(Learner *l, const char *text, size_t n, bool (*progress)(void *context, size_t done, size_t total),
                     void *context, Err *err)
{
    static const char CUT[] = "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}";
    enum { STRETCH = 1 << 18 };
    Split *split = NULL;
    size_t splits = 0, to;
    Json *j = json_parse("the pattern", CUT, sizeof CUT - 1, err);
    bool ok = j && split_read(j, "the pattern", &split, &splits, err);
    json_free(j);
    for (size_t at = 0; ok && at < n; at = to) {
        to = n - at > STRETCH ? at + STRETCH : n;
        while (to < n && text[to - 1] != '\n')
            to++;
        ok = add_stretch(l, split, splits, text + at, to - at, err);
        if (ok && progress && !progress(context, at, n))
            ok = err_set(err, "interrupted");
    }
    split_free(split, splits);
    return ok;
}

/* A word's pairs counted, or with −1 taken away again. */
static void count_pairs(Learner *l, const Word *w, int sign)
{
    for (size_t i = 0; i + 1 < w->n; i++) {
        size_t pair = (size_t)w->symbol[i] * (size_t)l->most + (size_t)w->symbol[i + 1];
        l->times[pair] += sign > 0 ? w->times : -w->times;
        if (l->known[pair])
            continue;
        l->known[pair] = 1;
        l->seen = grow(l->seen, &l->room, l->pairs, sizeof *l->seen);
        l->seen[l->pairs++] = (uint32_t)pair;
    }
}

static uint32_t best_pair(const Learner *l)
{
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < l->pairs; i++) {
        uint32_t pair = l->seen[i], times = l->times[pair];
        if (times >= 2 && (best == UINT32_MAX || times > l->times[best] || (times == l->times[best] && pair < best)))
            best = pair;
    }
    return best;
}

static bool has_pair(const Word *w, int left, int right)
{
    bool has = false;
    for (size_t i = 0; !has && i + 1 < w->n; i++)
        has = w->symbol[i] == left && w->symbol[i + 1] == right;
    return has;
}

static void merge(Learner *l, int left, int right)
{
    int whole = l->pieces++;
    l->left[whole] = left;
    l->right[whole] = right;
    for (size_t i = 0; i < l->words; i++) {
        Word *w = &l->word[i];
        uint32_t n = 0;
        if (!has_pair(w, left, right))
            continue;
        count_pairs(l, w, -1);
        for (uint32_t k = 0; k < w->n; n++) {
            bool both = k + 1 < w->n && w->symbol[k] == left && w->symbol[k + 1] == right;
            w->symbol[n] = both ? whole : w->symbol[k];
            k += both ? 2 : 1;
        }
        w->n = n;
        count_pairs(l, w, 1);
    }
}

static void put_piece(const Learner *l, int piece, Buf *out)
{
    if (piece >= LEARN_BYTES) {
        put_piece(l, l->left[piece], out);
        put_piece(l, l->right[piece], out);
        return;
    }
    char c[5];
    buf_add(out, c, utf8_put(c, byte_char((unsigned char)piece)));
}

static void put_name(const Learner *l, int piece, Buf *out)
{
    Buf name = {0};
    put_piece(l, piece, &name);
    buf_json(out, buf_str(&name));
    buf_free(&name);
}

static void put_json(const Learner *l, Buf *out)
{
    static const char LEVEL[] = "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"trim_offsets\": true, "
                                "\"use_regex\": true}";
    buf_printf(out,
               "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, \"added_tokens\": [], \"normalizer\": "
               "null,\n\"pre_tokenizer\": %s,\n\"post_processor\": null,\n\"decoder\": %s,\n\"model\": {\"type\": "
               "\"BPE\", \"dropout\": null, \"unk_token\": null, \"continuing_subword_prefix\": null, "
               "\"end_of_word_suffix\": null, \"fuse_unk\": false, \"byte_fallback\": false, \"vocab\": {",
               LEVEL, LEVEL);
    for (int i = 0; i < l->pieces; i++) {
        buf_puts(out, i ? ", " : "");
        put_name(l, i, out);
        buf_printf(out, ": %d", i);
    }
    buf_puts(out, "},\n\"merges\": [");
    for (int i = LEARN_BYTES; i < l->pieces; i++) {
        buf_puts(out, i > LEARN_BYTES ? ", [" : "[");
        put_name(l, l->left[i], out);
        buf_puts(out, ", ");
        put_name(l, l->right[i], out);
        buf_puts(out, "]");
    }
    buf_puts(out, "]}}\n");
}

int tokenizer_learn(const char *text, size_t n, int words, Buf *json,
                    bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err)
{
    REQUIRE(words >= LEARN_BYTES && words <= LEARN_MOST);
    const size_t most = (size_t)words;
    Learner l = {.pieces = LEARN_BYTES, .most = words};
    l.left = xcalloc(most, sizeof *l.left);
    l.right = xcalloc(most, sizeof *l.right);
    l.times = xcalloc(size_mul(most, most), sizeof *l.times);
    l.known = xcalloc(size_mul(most, most), sizeof *l.known);
    bool ok = words == LEARN_BYTES || add_text(&l, text, n, progress, context, err);
    for (size_t i = 0; ok && i < l.words; i++)
        count_pairs(&l, &l.word[i], 1);
    while (ok && l.pieces < words) {
        uint32_t pair = best_pair(&l);
        if (pair == UINT32_MAX)
            break;
        merge(&l, (int)(pair / (uint32_t)words), (int)(pair % (uint32_t)words));
        if (progress && !progress(context, n, n))
            ok = err_set(err, "interrupted");
    }
    if (ok)
        put_json(&l, json);
    free(l.word);
    free(l.slot);
    free(l.left);
    free(l.right);
    free(l.times);
    free(l.known);
    free(l.seen);
    arena_free(&l.arena);
    return ok ? l.pieces : 0;
}
