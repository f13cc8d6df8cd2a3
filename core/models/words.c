/* Texts as numbers and back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/models/text_model.h"

bool model_starts(const Model *m)
{
    return m->target.start >= 0 || m->text.form != SEQ2SEQ_DECODER_ONLY;
}

int model_start(const Model *m)
{
    return m->target.start < 0 ? 0 : m->target.start;
}

int vocabulary_find(const Vocabulary *v, const char *word, size_t length)
{
    for (int i = 0; v->word && i < v->n; i++)
        if (strlen(v->word[i]) == length && memcmp(v->word[i], word, length) == 0)
            return i;
    for (int i = 0; v->piece && i < v->n; i++)
        if (strlen(v->piece[i]) == length && memcmp(v->piece[i], word, length) == 0)
            return i;
    return -1;
}

static const char *nearest(const Vocabulary *v, const char *word, size_t n)
{
    const char *best = NULL;
    int least = n < 4 ? 2 : 3; /* farther is another word */
    for (int i = 0; i < v->n; i++) {
        int edits = v->word[i][0] == '<' ? least : utf8_edits(word, n, v->word[i], least);
        if (edits < least) {
            least = edits;
            best = v->word[i];
        }
    }
    return best;
}

static void label_words(Words *w, const Vocabulary *v)
{
    w->label = arena_alloc(&w->arena, ((size_t)w->n + 1) * sizeof *w->label);
    for (int i = 0; i < w->n; i++) {
        int before = 1;
        for (int k = 0; k < i; k++)
            before += w->number[k] == w->number[i];
        const char *word = v->word ? v->word[w->number[i]] : arena_printf(&w->arena, "w%d", w->number[i]);
        w->label[i] = before == 1 ? word : arena_printf(&w->arena, "%s#%d", word, before);
    }
}

void words_set(Words *w, const Vocabulary *v, const int *number, int n)
{
    *w = (Words){.n = n};
    w->number = arena_alloc(&w->arena, size_mul((size_t)n + 1, sizeof *w->number));
    for (int i = 0; i < n; i++) {
        REQUIRE(number[i] >= 0 && number[i] < v->n);
        w->number[i] = number[i];
    }
    label_words(w, v);
}

enum { WORDS_MAX = 256, NUMBERS_MAX = 4096, WORD_BYTES = 64, DIGITS_MOST = 40, NAMED_MOST = 6 };
static const char BLANKS[] = " \t\n\r";
/* What stands around words; apostrophes and hyphens within one belong to it. */
static const char *const MARKS[] = {"'", "’", "-",  ",", ".", "!", "?", ";", ":", "(", ")", "[", "]",
                                    "{", "}", "\"", "…", "–", "—", "“", "”", "„", "‘", "«", "»"};
enum { APOSTROPHES = 2, JOINERS = 3, MARK_COUNT = sizeof MARKS / sizeof *MARKS };

/* How many bytes at s are one of the first `count` marks; 0: none. */
static size_t mark_at(const char *s, int count)
{
    for (int i = 0; i < count; i++)
        if (strncmp(s, MARKS[i], strlen(MARKS[i])) == 0)
            return strlen(MARKS[i]);
    return 0;
}

/* n bytes of a text with capitals made small and apostrophes straight; what does not fit is left out. */
static size_t folded(const char *s, size_t n, char out[WORD_BYTES])
{
    size_t used = 0, step;
    for (size_t i = 0; i < n && used + 1 < WORD_BYTES; i += step) {
        step = mark_at(s + i, APOSTROPHES);
        out[used++] = step ? '\'' : s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] - 'A' + 'a') : s[i];
        step = step ? step : 1;
    }
    out[used] = '\0';
    return used;
}

/* The word that n bytes of a text are, as they stand or folded; −1: none, or one that stands for no word of a text. */
static int look(const Vocabulary *v, const char *s, size_t n)
{
    char small[WORD_BYTES];
    if (n == 0 || (*s == '<' && n > 1))
        return -1;
    int number = vocabulary_find(v, s, n);
    return number >= 0 || n >= WORD_BYTES ? number : vocabulary_find(v, small, folded(s, n, small));
}

/* Are all pieces between the hyphens words? */
static bool hyphenated(const Vocabulary *v, const char *s, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i <= n; i++)
        if (i == n || s[i] == '-') {
            if (look(v, s + from, i - from) < 0)
                return false;
            from = i + 1;
        }
    return true;
}

/* How many of the n bytes are the first word of several that are written as one: l'animal, dog's, red-blue. All of them
 * where a piece is unknown. */
static size_t first_piece(const Vocabulary *v, const char *s, size_t n)
{
    for (size_t k = 1; k < n; k++) {
        size_t mark = mark_at(s + k, APOSTROPHES);
        if (mark && look(v, s, k + mark) >= 0)
            return k + mark;
        if (mark && look(v, s, k) >= 0 && (look(v, s + k, mark) >= 0 || look(v, s + k, n - k) >= 0))
            return k;
    }
    return hyphenated(v, s, n) ? strcspn(s, "-") : n;
}

/* The next word of a text, of *n bytes, which may be none that the vocabulary has; NULL at the end. What the vocabulary
 * has as a word is one: all up to the next blank, a mark. What it has not is cut out of the marks around it, each of
 * which is noted once in `left`, and then into pieces that it has. */
static const char *next_word(const Vocabulary *v, const char *s, size_t *n, char left[WORDS_LEFT])
{
    for (size_t mark;; s += mark) {
        s += strspn(s, BLANKS);
        *n = strcspn(s, BLANKS);
        if (!*s)
            return NULL;
        if (look(v, s, *n) >= 0)
            return s;
        mark = mark_at(s, MARK_COUNT);
        if (!mark)
            break;
        *n = mark;
        if (look(v, s, mark) >= 0)
            return s;
        char noted[8];
        utf8_take(noted, sizeof noted, s, mark);
        if (!strstr(left, noted))
            strcat(left, noted); /* WORDS_LEFT has room for all of them */
    }
    size_t end = 0, bare = 0, step; /* of the word, and without apostrophes and hyphens behind it */
    for (; end < *n && (mark_at(s + end, JOINERS) || !mark_at(s + end, MARK_COUNT)); end += step) {
        if (strncmp(s + end, "--", 2) == 0) /* a dash, as one types it */
            break;
        step = mark_at(s + end, JOINERS);
        bare = step ? bare : end + 1;
        step = step ? step : 1;
    }
    *n = look(v, s, end) >= 0 ? end : bare;
    if (look(v, s, *n) < 0)
        *n = first_piece(v, s, *n);
    return s;
}

/* The words of a text that are none, each once. */
typedef struct Unknown {
    char word[NAMED_MOST][WORD_BYTES];
    int count;
    bool more;
} Unknown;

static void note_unknown(Unknown *u, const char *s, size_t n)
{
    char word[WORD_BYTES];
    folded(s, n, word);
    for (int i = 0; i < u->count; i++)
        if (strcmp(u->word[i], word) == 0)
            return;
    if (u->count < NAMED_MOST)
        memcpy(u->word[u->count++], word, sizeof word);
    else
        u->more = true;
}

static bool refuse_unknown(const Vocabulary *v, const Unknown *u, Err *err)
{
    const char *one = u->word[0];
    int stem = look(v, one, strcspn(one, "'")); /* dog's */
    const char *near = u->count > 1 ? NULL : stem >= 0 ? v->word[stem] : nearest(v, one, strlen(one));
    if (near)
        return err_set(err,
                       "'%s' is not a word that the model knows; '%s' is (`vitrine translate --vocabulary` lists all)",
                       one, near);
    Buf all = {0};
    for (int i = 0; i < u->count; i++)
        buf_printf(&all, "%s'%s'", i == 0 ? "" : i + 1 == u->count && !u->more ? " and " : ", ", u->word[i]);
    err_set(err, "%s%s none of the %d words (`vitrine translate --vocabulary`) that the model knows", buf_str(&all),
            u->more         ? " and more are"
            : u->count == 1 ? " is"
                            : " are",
            v->n);
    buf_free(&all);
    return false;
}

static bool too_many(int most, Err *err)
{
    return err_set(err, "a text may have at most %d words: shorten it", most);
}

/* The wording of seq2seq_check_length, which a text meets that is shorter than what is read here. */
static bool too_long(const Vocabulary *v, int n, Err *err)
{
    const bool models = v->longest && v->longest <= NUMBERS_MAX;
    return err_set(err, "a text of %d tokens is longer than the %d that %s: shorten it", n,
                   models ? v->longest : NUMBERS_MAX, models ? "the model takes" : "can be taken here");
}

/* Words without names, by number: 3 14 15, or w3 w14 w15 as they are shown. */
static bool parse_numbers(Words *w, const Vocabulary *v, const char *text, Err *err)
{
    int number[NUMBERS_MAX], n = 0;
    bool hole = false; /* a comma with no number in front of it or behind it */
    for (char *rest;; n++, text = rest) {
        const char *word = text + strspn(text, BLANKS);
        bool comma = *word == ',';
        word += comma;
        word += strspn(word, BLANKS);
        word += *word == 'w' && word[1] >= '0' && word[1] <= '9';
        long k = strtol(word, &rest, 10); /* one too large is the largest there is, and no word either */
        hole = comma && (rest == word || !n);
        if (rest == word || hole)
            break;
        if (k < 0 || k >= v->n)
            return err_set(err, "there is no word %.*s%s: this model's words are 0 to %d",
                           (int)(rest - word < DIGITS_MOST ? rest - word : DIGITS_MOST), word,
                           rest - word > DIGITS_MOST ? "…" : "", v->n - 1);
        if (n == NUMBERS_MAX)
            return too_many(NUMBERS_MAX, err);
        number[n] = (int)k;
    }
    const char next = text[strspn(text, BLANKS)];
    if (hole)
        return n ? err_set(err, "a comma stands between two numbers, and behind %d comes none", number[n - 1])
                 : err_set(err, "a comma stands between two numbers, and before the first stands none");
    if (next == '>' || next == '|')
        return err_set(err, next == '>'
                                ? "> divides what is read from what is written, in a model with an encoder and a "
                                  "decoder: here there are numbers alone"
                                : "| divides two segments, in an encoder that tells them apart: here there are "
                                  "numbers alone");
    if (n == 0 || text[strspn(text, BLANKS)]) {
        char such[24] = "3 5 4";
        if (v->n < 6) /* numbers that there are */
            snprintf(such, sizeof such, "%d 0", v->n - 1);
        return v->word ? err_set(err, "ids: is for words by number: give numbers from 0 to %d, such as \"ids:%s\"",
                                 v->n - 1, such)
                       : err_set(err,
                                 "this model's words have no names: give numbers from 0 to %d, such as \"%s\"; with a "
                                 "tokenizer.json in the model's folder, or tok%d.bin or tokenizer.bin beside a .bin of "
                                 "llama2.c, it takes text",
                                 v->n - 1, such, v->n);
    }
    words_set(w, v, number, n);
    return true;
}

/* By the model's own tokeniser, with what its template puts around a text. */
static bool parse_pieces(Words *w, const Vocabulary *v, const char *text, Err *err)
{
    int number[NUMBERS_MAX], n = 0;
    char left[WORDS_LEFT] = "";
    if (!v->cutter->cut(v->cutter->own, text, NUMBERS_MAX, number, &n, left, sizeof left, err))
        return n > NUMBERS_MAX ? too_long(v, n, err) : false;
    for (int i = 0; i < n; i++)
        if (number[i] >= v->n)
            return err_set(err,
                           "the tokeniser makes %d of a part of it, and the model has %d words: the two are not of one "
                           "model",
                           number[i], v->n);
    if (!n)
        return *left ? err_set(err, "there is no word to read: no piece stands for \"%s\"", left)
                     : err_set(err, "there is no word to read: give a text");
    words_set(w, v, number, n);
    memcpy(w->left_out, left, sizeof left);
    return true;
}

bool words_parse(Words *w, const Vocabulary *v, const char *text, bool end, Err *err)
{
    const char *first = text + strspn(text, BLANKS);
    if (strncmp(first, "ids:", 4) == 0)
        return parse_numbers(w, v, first + 4, err);
    if (v->cutter)
        return parse_pieces(w, v, text, err);
    int number[WORDS_MAX + 1], n = 0;
    char left[WORDS_LEFT] = "";
    Unknown unknown = {.count = 0};
    size_t length;
    if (!v->word)
        return parse_numbers(w, v, text, err);
    for (const char *at = text; (at = next_word(v, at, &length, left)) != NULL; at += length) {
        if (n == WORDS_MAX)
            return too_many(WORDS_MAX, err);
        number[n] = look(v, at, length);
        if (number[n++] < 0)
            note_unknown(&unknown, at, length);
    }
    if (unknown.count)
        return refuse_unknown(v, &unknown, err);
    if (n == 0)
        return err_set(err, "there is no word to read: give a sentence, such as \"the cat is tired\"");
    if (end && v->end >= 0)
        number[n++] = v->end;
    words_set(w, v, number, n);
    memcpy(w->left_out, left, sizeof left);
    return true;
}

bool words_look_numbered(const char *text)
{
    static const char *const FRONTS[] = {"input_ids", "token_ids", "ids", "id"};
    const char *at = text + strspn(text, BLANKS);
    bool listed = strncmp(at, "ids:", 4) != 0, fronted = false;
    for (size_t i = 0; i < sizeof FRONTS / sizeof *FRONTS && !fronted; i++) {
        fronted = strncmp(at, FRONTS[i], strlen(FRONTS[i])) == 0;
        at += fronted ? strlen(FRONTS[i]) : 0;
    }
    at += fronted ? strspn(at, " :=") : 0;
    return listed && strpbrk(at, "0123456789") && !at[strspn(at, "0123456789, []\t\n\r")];
}

/* Numbers of both, one behind the other. */
static bool parse_both(Words *w, const Vocabulary *v, const char *const text[2], int *number, int *segment, int *n,
                       Err *err)
{
    for (int k = 0; k < 2; k++) {
        const char *first = text[k] + strspn(text[k], BLANKS);
        bool named = strncmp(first, "ids:", 4) == 0;
        if (!named && v->word)
            return err_set(err, "both texts by number, or both in words: ids:12,5 | ids:7");
        if (!parse_numbers(w, v, first + (named ? 4 : 0), err))
            return false;
        bool fits = *n + w->n <= NUMBERS_MAX || too_many(NUMBERS_MAX, err);
        for (int i = 0; fits && i < w->n; i++, (*n)++) {
            number[*n] = w->number[i];
            segment[*n] = k;
        }
        words_free(w);
        if (!fits)
            return false;
    }
    return true;
}

bool words_parse_pair(Words *w, const Vocabulary *v, const char *const text[2], int segments, Err *err)
{
    int number[NUMBERS_MAX], segment[NUMBERS_MAX], n = 0;
    bool named = false;
    for (int k = 0; k < 2; k++)
        named = named || strncmp(text[k] + strspn(text[k], BLANKS), "ids:", 4) == 0;
    if (!(v->cutter && !named ? v->cutter->cut_pair(v->cutter->own, text, NUMBERS_MAX, number, segment, &n, err)
                              : parse_both(w, v, text, number, segment, &n, err)))
        return false;
    for (int i = 0; i < n; i++)
        if (number[i] >= v->n)
            return err_set(err, "the tokeniser makes %d, and the model has %d words: the two are not of one model",
                           number[i], v->n);
    words_set(w, v, number, n);
    w->segment = arena_alloc(&w->arena, size_mul((size_t)n + 1, sizeof *w->segment));
    for (int i = 0; i < n; i++)
        w->segment[i] = segment[i] < segments ? segment[i] : 0;
    return true;
}

void words_free(Words *w)
{
    arena_free(&w->arena);
    *w = (Words){0};
}

void words_text(const Vocabulary *v, const int *number, int n, Buf *out)
{
    bool blank = false;
    if (v->cutter) {
        v->cutter->join(v->cutter->own, number, n, out);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (number[i] == v->pad || number[i] == v->start || number[i] == v->end)
            continue;
        char digits[16];
        snprintf(digits, sizeof digits, "w%d", number[i]);
        const char *word = v->word ? v->word[number[i]] : digits;
        buf_printf(out, "%s%s", blank ? " " : "", word);
        blank = word[strlen(word) - 1] != '\'';
    }
}

void words_piece(const Vocabulary *v, int before, int number, Buf *out)
{
    const int pair[2] = {before, number};
    const size_t at = out->len;
    if (!v->cutter) {
        const char *last = v->word && before >= 0 ? v->word[before] : "";
        bool close = before < 0 || (*last && last[strlen(last) - 1] == '\'');
        buf_puts(out, close ? "" : " ");
        if (v->word)
            buf_puts(out, v->word[number]);
        else
            buf_printf(out, "w%d", number);
        return;
    }
    Buf first = {0}, both = {0};
    if (before >= 0)
        v->cutter->join(v->cutter->own, pair, 1, &first);
    v->cutter->join(v->cutter->own, before >= 0 ? pair : pair + 1, before >= 0 ? 2 : 1, &both);
    if (both.len > first.len)
        buf_add(out, both.data + first.len, both.len - first.len);
    if (out->len == at && v->word) /* one that stands for no text */
        buf_puts(out, v->word[number]);
    buf_free(&first);
    buf_free(&both);
}

void words_piece_line(const Vocabulary *v, int before, int number, Buf *out)
{
    Buf piece = {0};
    words_piece(v, before, number, &piece);
    byte_text_shown(buf_str(&piece), true, out);
    buf_free(&piece);
}

size_t words_bytes(const Vocabulary *v, const int *number, int n, int first)
{
    Buf all = {0}, before = {0};
    if (v->cutter) {
        v->cutter->join(v->cutter->own, number, n, &all);
        v->cutter->join(v->cutter->own, number, first, &before);
    }
    const size_t bytes = all.len > before.len ? all.len - before.len : 0;
    buf_free(&all);
    buf_free(&before);
    return bytes;
}

void words_put_rate(double nats, double margin, double bytes, Buf *out)
{
    enum { MOST = 40 }; /* whose power of e is a number that somebody reads */
    if (isnan(margin))
        buf_fixed(out, 0, nats, 4);
    else
        buf_printf(out, "%.3f ±%.3f", nats, margin);
    buf_puts(out, " nats a token");
    if (nats < MOST)
        buf_printf(out, " = perplexity %.4g", dm_exp(nats));
    if (bytes > 0 && isfinite(nats))
        buf_printf(out, " = %.4g bits a byte", nats / bytes / dm_log(2));
}
