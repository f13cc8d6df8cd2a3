#include "lessons/sentences.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "core/session/ask/number.h"
#include "lessons/numbers.h"
#include "lessons/sentence_parts.h"

void sentence_fault(Reading *r, int line, const char *fmt, ...)
{
    char text[400], clean[400], file[120];
    va_list args;
    va_start(args, fmt);
    utf8_vprint(text, sizeof text, fmt, args);
    va_end(args);
    buf_printf(r->faults, "%s:%d: %s\n", utf8_clean(file, sizeof file, r->l->file), line,
               utf8_clean(clean, sizeof clean, text));
    r->found++;
}

bool part_of_word(const char *text, size_t at)
{
    return isalnum((unsigned char)text[at]) || text[at] == '_';
}

static void put_text(const char *text, bool code, Buf *out, Buf *named)
{
    const char *live = NULL; /* the end of a live value */
    for (const char *p = text; *p; p++) {
        live = !code && !live && strncmp(p, "{{", 2) == 0 ? strstr(p, "}}") : live;
        buf_putc(out, code || live ? '#' : *p);
        buf_putc(named, live ? '#' : *p);
        live = p == live ? NULL : live;
    }
}

/* Returns where the question begins. */
static size_t put_prose(const Card *c, Buf *out, Buf *named)
{
    for (int i = 0; i < c->item_count; i++, put_text(". ", false, out, named))
        for (int k = 0; k < c->items[i].count; k++)
            put_text(c->items[i].spans[k].text, c->items[i].spans[k].style == SPAN_CODE, out, named);
    size_t prose = out->len;
    if (c->question)
        put_text(c->question->text, false, out, named);
    return prose;
}

static void find_numbers(Reading *r)
{
    for (size_t i = 0; r->text[i] && r->count < NUMBERS_MOST;) {
        Said s = {.at = i};
        bool minus = strncmp(r->text + i, "\xE2\x88\x92", 3) == 0;
        size_t n = (isdigit((unsigned char)r->text[i]) || minus) && (i == 0 || !part_of_word(r->text, i - 1))
                       ? number_printed(r->text + i, &s.x, &s.half)
                       : 0;
        if (n)
            r->said[r->count++] = s;
        i += n ? n : 1;
    }
}

const char *literal_of(const Expectation *e, const char **expression)
{
    double x, half;
    bool left = number_literal(e->left, &x, &half), right = number_literal(e->right, &x, &half);
    *expression = left ? e->right : e->left;
    return e->relation != RELATION_EQUAL || left == right ? NULL : left ? e->left : e->right;
}

/* A number that a statement of the card names: expected, given or quoted. */
typedef struct Stated {
    const char *number;
    const Expectation *expected; /* or NULL */
    int line;
} Stated;

/* The i-th of them in the order of the lines; false past the end. */
static bool stated_at(const Card *c, int i, Stated *out)
{
    for (int e = 0, q = 0; e < c->expect_count || q < c->quoted.count;) {
        bool expect = e < c->expect_count && (q >= c->quoted.count || c->expect[e].line < c->quoted.at[q].line);
        const char *expression;
        *out = expect ? (Stated){literal_of(&c->expect[e], &expression), &c->expect[e], c->expect[e].line}
                      : (Stated){c->quoted.at[q].text, NULL, c->quoted.at[q].line};
        e += expect;
        q += expect ? 0 : 2;
        if (i-- == 0)
            return true;
    }
    return false;
}

/* Where the number stands: behind `before` if it does, else its first place; −1: nowhere. */
static int stands_at(const Reading *r, const char *number, int before)
{
    double x, half;
    int first = -1;
    for (int i = 0; number && number_literal(number, &x, &half) && i < r->count; i++)
        if (r->said[i].x == x && r->said[i].half == half) {
            if (i > before)
                return i;
            first = first < 0 ? i : first;
        }
    return first;
}

/* The place of that number that no statement is about, before `end`; −1: there is none. */
static int left_over(const Reading *r, const char *number, int end)
{
    double x, half;
    number_literal(number, &x, &half);
    for (int i = 0; i < end; i++)
        if (r->said[i].x == x && r->said[i].half == half && !r->said[i].stated)
            return i;
    return -1;
}

/* Numbers are stated in the order in which they stand, so that two exchanged stand in another one. What is said of a
 * number once more has the place of the first time, where all its places are stated. */
static void bind(Reading *r)
{
    int before = -1;
    const char *what = "";
    Stated s;
    for (int i = 0; stated_at(r->card, i, &s); i++) {
        int at = stands_at(r, s.number, before);
        if (at < 0)
            continue;
        if (s.expected)
            r->bound[s.expected - r->card->expect] = at;
        if (at < before && !r->said[at].stated) {
            sentence_fault(r, s.line,
                           "%s is stated behind %s, and stands before it in the text: were they exchanged? State them "
                           "in the order of the text",
                           s.number, what);
            return;
        }
        if (at <= before && r->said[at].stated && left_over(r, s.number, before) >= 0) {
            sentence_fault(r, s.line,
                           "%s is stated once more behind %s, and stands before it in the text: were they exchanged? "
                           "State them in the order of the text",
                           s.number, what);
            return;
        }
        r->said[at].stated = true;
        before = at > before ? at : before;
        what = at == before ? s.number : what;
    }
}

/* Where numbers are said more than once, exchanging two may leave an order that could be meant; so the first places of
 * all stated numbers stand in the order of their first statements. */
static void check_first_places(Reading *r)
{
    bool seen[NUMBERS_MOST] = {false};
    int before = -1;
    const char *what = "";
    Stated s;
    for (int i = 0; stated_at(r->card, i, &s); i++) {
        int at = stands_at(r, s.number, -1);
        if (at < 0 || seen[at])
            continue;
        seen[at] = true;
        if (at < before) {
            sentence_fault(r, s.line,
                           "%s is stated behind %s, and stands first before it in the text: were they exchanged? State "
                           "them in the order of the text",
                           s.number, what);
            return;
        }
        before = at;
        what = s.number;
    }
}

/* "mean 0", "variance 1": the number behind such a word is what that function gives. */
static void check_names(Reading *r)
{
    static const struct {
        const char *word, *function;
    } NAMES[] = {{"mean", "mean"}, {"variance", "var"}};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        for (int i = 0; i < r->count; i++) {
            size_t at = r->said[i].at, n = strlen(NAMES[k].word);
            if (at < n + 1 || at >= r->prose || r->text[at - 1] != ' ' ||
                strncasecmp(r->text + at - 1 - n, NAMES[k].word, n) != 0)
                continue;
            bool expected = false, so = false;
            for (int e = 0; e < r->card->expect_count; e++) {
                const char *expression, *number = literal_of(&r->card->expect[e], &expression);
                double x, half;
                if (number && number_literal(number, &x, &half) && x == r->said[i].x && half == r->said[i].half) {
                    expected = true;
                    so = so || strstr(expression, NAMES[k].function);
                }
            }
            if (expected && !so)
                sentence_fault(r, r->card->line, "the text says %s %g, and nothing expects that of a %s", NAMES[k].word,
                               r->said[i].x, NAMES[k].function);
        }
}

typedef struct Order {
    const char *word;
    int way; /* 1: "from" is less than "to"; -1: more; 0: of several */
} Order;
static const Order ORDERS[] = {{"rises", 1},        {"rise", 1},        {"grows", 1},        {"falls", -1},
                               {"shrinks", -1},     {"more than", 0},   {"less than", 0},    {"larger than", 0},
                               {"smaller than", 0}, {"fewer than", 0},  {"least", 0},        {"most", 0},
                               {"farthest", 0},     {"nearest", 0},     {"largest", 0},      {"smallest", 0},
                               {"grow", 1},         {"fall", -1},       {"shrink", -1},      {"highest", 0},
                               {"lowest", 0},       {"longest", 0},     {"shortest", 0},     {"higher than", 0},
                               {"lower than", 0},   {"longer than", 0}, {"shorter than", 0}, {"wider than", 0},
                               {"farther than", 0}, {"nearer than", 0}};

/* `given most`: the word compares nothing that is computed. */
static bool is_given(const Card *c, const char *word)
{
    char first[16];
    utf8_print(first, sizeof first, "%.*s", (int)strcspn(word, " "), word);
    for (int i = 0; i + 1 < c->quoted.count; i += 2)
        if (strcmp(c->quoted.at[i].text, first) == 0)
            return true;
    return false;
}

static bool expects_order(const Card *c)
{
    static const char *const EXTREMES[] = {"max(", "min(", "maxdiff("};
    for (int i = 0; i < c->expect_count; i++) {
        const Expectation *e = &c->expect[i];
        if (e->relation == RELATION_LESS || e->relation == RELATION_GREATER)
            return true;
        for (size_t k = 0; k < sizeof EXTREMES / sizeof *EXTREMES; k++)
            if (strstr(e->left, EXTREMES[k]) || strstr(e->right, EXTREMES[k]))
                return true;
    }
    return false;
}

/* "from 0.99 to 0.98" in the clause that begins there: the numbers. */
static bool from_to(const Reading *r, size_t at, double *from, double *to)
{
    size_t end = at;
    while (r->text[end] && !(strchr(".;:", r->text[end]) && r->text[end + 1] == ' '))
        end++;
    for (int i = 0; i + 1 < r->count; i++) {
        const Said *a = &r->said[i], *b = &r->said[i + 1];
        if (a->at < at + 5 || b->at > end || strncmp(r->text + a->at - 5, "from ", 5) != 0 ||
            strncmp(r->text + b->at - 3, "to ", 3) != 0)
            continue;
        *from = a->x;
        *to = b->x;
        return true;
    }
    return false;
}

/* Does that word begin at `at`? */
static bool word_at(const char *text, size_t at, const char *word)
{
    size_t n = strlen(word);
    return strncasecmp(text + at, word, n) == 0 && !(at && part_of_word(text, at - 1)) && !part_of_word(text, at + n);
}

void sentences_comparing(const char *text, Buf *out)
{
    for (size_t k = 0; k < sizeof ORDERS / sizeof *ORDERS; k++)
        for (size_t at = 0; text[at]; at++)
            if (word_at(text, at, ORDERS[k].word)) {
                buf_printf(out, " %.*s", (int)strcspn(ORDERS[k].word, " "), ORDERS[k].word);
                break;
            }
}

static void check_words(Reading *r)
{
    for (size_t k = 0; k < sizeof ORDERS / sizeof *ORDERS; k++) {
        const Order *o = &ORDERS[k];
        for (size_t at = 0; at < r->prose; at++) {
            double from, to;
            if (!word_at(r->text, at, o->word))
                continue;
            bool stated = o->way && from_to(r, at, &from, &to);
            if (stated && !(o->way > 0 ? from < to : from > to))
                sentence_fault(r, r->card->line, "'%s' from %g to %g; were the numbers exchanged?", o->word, from, to);
            else if (!stated && !is_given(r->card, o->word) && !expects_order(r->card))
                sentence_fault(r, r->card->line,
                               "'%s' compares, and no expectation says so; add `expect A < B` or one with max( ) or "
                               "min( ), or `given %.*s` where nothing is claimed",
                               o->word, (int)strcspn(o->word, " "), o->word);
            else
                continue;
            return;
        }
    }
}

int sentences_check(const Lesson *l, Buf *faults)
{
    int found = 0;
    for (int i = 0; i < l->count; i++) {
        const Card *c = &l->cards[i];
        Buf text = {0}, named = {0};
        size_t prose = put_prose(c, &text, &named);
        Reading r = {
            .l = l, .card = c, .text = buf_str(&text), .named = buf_str(&named), .prose = prose, .faults = faults};
        r.bound = xmalloc(((size_t)c->expect_count + 1) * sizeof *r.bound);
        for (int e = 0; e < c->expect_count; e++)
            r.bound[e] = -1;
        find_numbers(&r);
        bind(&r);
        if (!r.found)
            check_first_places(&r);
        sentence_names(&r);
        check_names(&r);
        check_words(&r);
        found += r.found;
        free(r.bound);
        buf_free(&text);
        buf_free(&named);
    }
    return found;
}
