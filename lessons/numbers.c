#include "lessons/numbers.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/session/ask/number.h"
#include "lessons/lesson_parts.h"

enum { FOUND_MOST = 256 };

/* Numbers of a card's texts, as they were found. */
typedef struct Found {
    double x[FOUND_MOST], half[FOUND_MOST]; /* half -1: written as a word */
    int count;
} Found;

typedef struct Looking {
    const Lesson *l;
    const Card *card; /* NULL: a text about the whole lesson */
    Buf *faults;
    int count;
    Found *found;
    Buf *list; /* or NULL: every number as it stands */
} Looking;

static void fault(Looking *k, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void fault(Looking *k, int line, const char *fmt, ...)
{
    char text[640], clean[640], file[120];
    va_list args;
    va_start(args, fmt);
    utf8_vprint(text, sizeof text, fmt, args);
    va_end(args);
    buf_printf(k->faults, "%s:%d: %s\n", utf8_clean(file, sizeof file, k->l->file), line,
               utf8_clean(clean, sizeof clean, text));
    k->count++;
}

bool number_literal(const char *text, double *x, double *half)
{
    size_t n = number_printed(text, x, half);
    return n && !text[n];
}

/* As it is printed, with as many places; half -1: of that value, however it is printed. */
static bool same(const char *text, double x, double half)
{
    double y, h;
    return number_literal(text, &y, &h) && y == x && (half < 0 || h == half);
}

static bool card_covers(const Card *card, double x, double half)
{
    for (int i = 0; i < card->expect_count; i++)
        if (same(card->expect[i].left, x, half) || same(card->expect[i].right, x, half))
            return true;
    for (int i = 0; i < card->quoted.count; i += 2)
        if (same(card->quoted.at[i].text, x, half))
            return true;
    return false;
}

/* A text about the lesson repeats what some card says. */
static bool covered(const Looking *k, double x, double half)
{
    if (k->card)
        return card_covers(k->card, x, half);
    for (int i = 0; i < k->l->count; i++)
        if (card_covers(&k->l->cards[i], x, half))
            return true;
    return false;
}

static void note(Looking *k, double x, double half, const char *text, size_t n)
{
    if (k->list)
        buf_printf(k->list, " %.*s", (int)n, text);
    if (k->found && k->found->count < FOUND_MOST) {
        k->found->x[k->found->count] = x;
        k->found->half[k->found->count++] = half;
    }
}

/* A number written as a word says how many as well: "three heads". */
static size_t number_word(const char *p, double *x)
{
    static const struct {
        const char *word;
        double value;
    } WORDS[] = {{"two", 2},        {"three", 3},      {"four", 4},        {"five", 5},      {"six", 6},
                 {"seven", 7},      {"eight", 8},      {"nine", 9},        {"ten", 10},      {"eleven", 11},
                 {"twelve", 12},    {"thirteen", 13},  {"fourteen", 14},   {"fifteen", 15},  {"sixteen", 16},
                 {"seventeen", 17}, {"eighteen", 18},  {"nineteen", 19},   {"twenty", 20},   {"thirty", 30},
                 {"forty", 40},     {"fifty", 50},     {"sixty", 60},      {"seventy", 70},  {"eighty", 80},
                 {"ninety", 90},    {"hundred", 100},  {"thousand", 1e3},  {"million", 1e6}, {"half", 0.5},
                 {"halves", 0.5},   {"quarter", 0.25}, {"quarters", 0.25}, {"twice", 2}};
    size_t n = 0;
    while (isalpha((unsigned char)p[n]))
        n++;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strlen(WORDS[i].word) == n && strncasecmp(p, WORDS[i].word, n) == 0) {
            *x = WORDS[i].value;
            return n;
        }
    return 0;
}

static bool word_char(const char *s, const char *p)
{
    return p >= s && (isalnum((unsigned char)*p) || *p == '_');
}

/* Does one of the texts have these words, no digit behind them? */
static bool any_has(const Texts *t, const char *words)
{
    for (int i = 0; i < t->count; i++)
        for (const char *at = t->at[i].text; (at = strstr(at, words)) != NULL; at += strlen(words))
            if (!isdigit((unsigned char)at[strlen(words)]))
                return true;
    return false;
}

/* Do the card's commands, expressions or live values speak of that index: "h=1", "blocks.0"? */
static bool card_has(const Card *c, const char *words)
{
    Texts all = {0};
    const Question *q = c->question;
    for (int i = 0; i < c->item_count; i++)
        for (int n = 0; n < c->items[i].count; n++)
            texts_add(&all, c->items[i].spans[n].text, 0);
    for (int i = 0; i < c->expect_count; i++) {
        texts_add(&all, c->expect[i].left, 0);
        texts_add(&all, c->expect[i].right, 0);
    }
    if (q && q->answer)
        texts_add(&all, q->answer, 0);
    if (q && q->why)
        texts_add(&all, q->why, 0);
    if (q && q->not_yet)
        texts_add(&all, q->not_yet, 0);
    for (int i = 0; q && i < q->count; i++)
        texts_add(&all, q->choices[i].why, 0);
    bool has = any_has(&all, words) || any_has(&c->commands, words) || any_has(&c->show, words);
    free(all.at);
    return has;
}

/* "block 0", "head 1", "lesson 7": a name, not a quantity. It is right where the card speaks of that block or head, and
 * where there is such a lesson. */
static bool names_something(const Looking *k, const char *text, const char *p, double x)
{
    static const struct {
        const char *name, *said; /* NULL: a lesson */
    } NAMES[] = {{"block ", "blocks."}, {"block ", "block="}, {"blocks ", "blocks."}, {"head ", "h="},
                 {"heads ", "h="},      {"lesson ", NULL},    {"lessons ", NULL}};
    LessonFile f;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        char said[32];
        size_t n = strlen(NAMES[i].name);
        if ((size_t)(p - text) < n || strncasecmp(p - n, NAMES[i].name, n) != 0 || x < 0 || x > 1e6)
            continue;
        utf8_print(said, sizeof said, "%s%.0f", NAMES[i].said ? NAMES[i].said : "", x);
        if (NAMES[i].said ? !k->card || card_has(k->card, said) : lesson_by_number((int)x, &f))
            return true;
    }
    return false;
}

/* The bytes of a number at p, and whether it is one that has to be covered: digits that belong to a name (r3c4, 2D,
 * ViT-L/16, block 0) are not. */
static size_t number_at(const Looking *k, const char *text, const char *p, double *x, double *half, bool *counts)
{
    bool negative = strncmp(p, "\xE2\x88\x92", 3) == 0 && (p == text || p[-1] == ' ' || p[-1] == '(');
    size_t n = isdigit((unsigned char)*p) || negative ? number_printed(p, x, half) : 0;
    bool size = p - text >= 2 && (p[-1] == '/' || p[-1] == '.') && isalpha((unsigned char)p[-2]);
    *counts = n && !size && !names_something(k, text, p, *x) && !word_char(text, p - 1) && !word_char(text, p + n) &&
              strncmp(p + n, "/√", 4) != 0;
    while (n && !*counts && word_char(text, p + n))
        n++;
    return n;
}

/* Every number of a text is covered. spoken: what a teacher says is free to use words. */
static void look(Looking *k, const char *text, int line, bool spoken)
{
    for (const char *p = text; *p;) {
        const char *end = strncmp(p, "{{", 2) == 0 ? strstr(p, "}}") : NULL;
        if (end) { /* evaluated where it stands */
            p = end + 2;
            continue;
        }
        double x, half;
        size_t n = !spoken && isalpha((unsigned char)*p) && !word_char(text, p - 1) ? number_word(p, &x) : 0;
        if (n) {
            note(k, x, -1, p, n);
            if (!covered(k, x, -1))
                fault(k, line,
                      "nothing says what '%.*s' is the value of; add `expect %g = EXPRESSION`, or `given %g` where the "
                      "text sets it up",
                      (int)n, p, x, x);
            p += n;
            continue;
        }
        bool counts;
        n = number_at(k, text, p, &x, &half, &counts);
        if (counts) {
            note(k, x, half, p, n);
            if (!covered(k, x, half))
                fault(k, line,
                      "nothing says what %.*s is the value of; add `expect %.*s = EXPRESSION`, or `quoted %.*s "
                      "\"WORK\"`",
                      (int)n, p, (int)n, p, (int)n, p);
        }
        p += n ? n : 1;
    }
}

static void look_at_question(Looking *k, const Question *q)
{
    if (!q)
        return;
    look(k, q->text, q->line, false);
    if (q->why)
        look(k, q->why, q->line, false);
    if (q->not_yet)
        look(k, q->not_yet, q->line, false);
    for (int i = 0; i < q->count; i++) {
        look(k, q->choices[i].why, q->choices[i].line, false);
        if (q->kind == QUESTION_CHOICE)
            look(k, q->choices[i].text, q->choices[i].line, false);
    }
}

static bool stands(const Found *f, const char *number)
{
    for (int i = 0; i < f->count; i++)
        if (same(number, f->x[i], f->half[i]))
            return true;
    return f->count == FOUND_MOST;
}

/* `given most`: a word of the prose. */
static bool word_stands(const Card *c, const char *word)
{
    for (int i = 0; isalpha((unsigned char)*word) && i < c->item_count; i++)
        for (int n = 0; n < c->items[i].count; n++)
            if (strstr(c->items[i].spans[n].text, word + 1)) /* "Most" too */
                return true;
    return false;
}

/* What covers a number that stands nowhere would cover a wrong one as well. */
static void look_for_idle(Looking *k)
{
    const Card *c = k->card;
    for (int i = 0; i < c->quoted.count; i += 2)
        if (!stands(k->found, c->quoted.at[i].text) && !word_stands(c, c->quoted.at[i].text))
            fault(k, c->quoted.at[i].line, "%s is quoted or given, and stands nowhere on this card; take it away",
                  c->quoted.at[i].text);
    for (int i = 0; i < c->expect_count; i++) {
        const Expectation *e = &c->expect[i];
        double x, half;
        bool left = number_literal(e->left, &x, &half), one = left || number_literal(e->right, &x, &half);
        if (e->relation == RELATION_EQUAL && one && x != 0 && x != 1 && /* "adds up to one", "nothing" */
            !stands(k->found, left ? e->left : e->right))
            fault(k, e->line, "%s is expected, and stands nowhere on this card; say it, or take it away",
                  left ? e->left : e->right);
    }
}

static void look_at_texts(Looking *k, const Texts *t)
{
    for (int i = 0; i < t->count; i++)
        look(k, t->at[i].text, t->at[i].line, false);
}

static void look_at_card(Looking *k, const Card *c)
{
    Found found = {.count = 0};
    k->card = c;
    k->found = &found;
    look(k, c->title, c->line, false);
    for (int i = 0; i < c->item_count; i++)
        for (int n = 0; n < c->items[i].count; n++)
            if (c->items[i].spans[n].style != SPAN_CODE)
                look(k, c->items[i].spans[n].text, c->items[i].line, false);
    look_at_question(k, c->question);
    look_at_texts(k, &c->hints);
    for (int i = 0; i < c->notes.count; i++)
        look(k, c->notes.at[i].text, c->notes.at[i].line, true);
    look_for_idle(k);
    k->found = NULL;
}

/* What is said of the lesson as a whole. */
static void look_at_lesson(Looking *k)
{
    const Lesson *l = k->l;
    Found found = {.count = 0};
    k->card = NULL;
    k->found = &found;
    look(k, l->title, 1, false);
    look_at_texts(k, &l->intro);
    look_at_texts(k, &l->able);
    look_at_texts(k, &l->misconception);
    look_at_texts(k, &l->summary);
    k->found = NULL;
}

void numbers_of(const Lesson *l, int card, Buf *out)
{
    Buf faults = {0};
    Looking k = {.l = l, .faults = &faults, .list = out};
    if (card < 0)
        look_at_lesson(&k);
    else
        look_at_card(&k, &l->cards[card]);
    buf_free(&faults);
}

int numbers_check(const Lesson *l, Buf *faults)
{
    Looking k = {.l = l, .faults = faults};
    look_at_lesson(&k);
    for (int i = 0; i < l->count; i++)
        look_at_card(&k, &l->cards[i]);
    return k.count;
}
