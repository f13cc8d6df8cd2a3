/* Texts as numbers and back. */
#include <stdio.h>
#include <string.h>

#include "core/models/text_model.h"

int vocabulary_find(const Vocabulary *v, const char *word, size_t length)
{
    for (int i = 0; v->word && i < v->n; i++)
        if (strlen(v->word[i]) == length && memcmp(v->word[i], word, length) == 0)
            return i;
    return -1;
}

/* Letters that must change, go or come so that a becomes b, bytewise (Wagner and Fischer 1974). */
static size_t edits_between(const char *a, size_t n, const char *b)
{
    enum { LONGEST = 48 };
    size_t m = strlen(b), row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t before = row[0]++;
        for (size_t j = 1; j <= m; j++) {
            size_t change = before + (a[i - 1] != b[j - 1]), least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            before = row[j];
            row[j] = change < least ? change : least;
        }
    }
    return row[m];
}

static const char *nearest(const Vocabulary *v, const char *word, size_t n)
{
    const char *best = NULL;
    size_t least = n < 4 ? 2 : 3; /* farther is another word */
    for (int i = 0; i < v->n; i++) {
        size_t d = v->word[i][0] == '<' ? least : edits_between(word, n, v->word[i]);
        if (d < least) {
            least = d;
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

static bool separates(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '.' || c == '!' || c == '?' || c == ';';
}

/* The next word of a text: its letters made small into word, an apostrophe ends it. False at the end. */
static bool next_word(const char **text, char *word, size_t size, size_t *length)
{
    const char *s = *text;
    size_t n = 0;
    while (separates(*s))
        s++;
    while (*s && !separates(*s)) {
        char c = *s++;
        if (strncmp(s - 1, "\xe2\x80\x99", 3) == 0) { /* ’ */
            c = '\'';
            s += 2;
        }
        if (n + 1 < size)
            word[n] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        n++;
        if (c == '\'')
            break;
    }
    *text = s;
    *length = n < size ? n : size - 1;
    word[*length] = '\0';
    return n > 0;
}

enum { WORDS_MAX = 256, WORD_BYTES = 64 };

static bool unknown_word(const Vocabulary *v, const char *word, size_t n, Err *err)
{
    const char *near = nearest(v, word, n);
    return near ? err_set(err, "'%s' is no word that the model knows; '%s' is", word, near)
                : err_set(
                      err,
                      "'%s' is none of the %d words that the model knows; `vitrine translate --vocabulary` lists them",
                      word, v->n);
}

bool words_parse(Words *w, const Vocabulary *v, const char *text, bool end, Err *err)
{
    int number[WORDS_MAX + 1], n = 0;
    char word[WORD_BYTES];
    size_t length;
    while (next_word(&text, word, sizeof word, &length)) {
        if (n == WORDS_MAX)
            return err_set(err, "a text may have at most %d words: shorten it", WORDS_MAX);
        number[n] = vocabulary_find(v, word, length);
        if (number[n] < 0 || word[0] == '<')
            return unknown_word(v, word, length, err);
        n++;
    }
    if (n == 0)
        return err_set(err, "there is no word to read: give a sentence, such as \"the cat is tired\"");
    if (end && v->end >= 0)
        number[n++] = v->end;
    words_set(w, v, number, n);
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
