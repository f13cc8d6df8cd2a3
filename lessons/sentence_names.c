/* Which token, class, head or block a number is of, as its sentence says. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/utf8.h"
#include "lessons/sentence_parts.h"
#include "lessons/sentences.h"

typedef struct Name {
    char kind[8];  /* the axis, "o1" as "o", "t" of every token; or "block" */
    char text[40]; /* as prose has it: "animal", "r3c1", "head 2" */
} Name;

static bool name_of_cell(const char *sym, const char *label, Name *out)
{
    bool head = strcmp(sym, "h") == 0 && isdigit((unsigned char)*label), word = false;
    for (const char *p = label; *p; p++)
        word = word || isalpha((unsigned char)*p);
    utf8_print(out->kind, sizeof out->kind, "%s", sym);
    out->kind[strcspn(out->kind, "0123456789")] = 0;
    if (strcmp(out->kind, "u") == 0 || strcmp(out->kind, "p") == 0)
        out->kind[0] = 't'; /* tokens all of them */
    utf8_print(out->text, sizeof out->text, head ? "head %s" : "%s", label);
    out->text[strcspn(out->text, "#")] = 0;     /* "the#2": prose does not count */
    return head || (word && strlen(label) > 1); /* "a" is an article as well */
}

/* The next name that an expression has, from *p on; false where there is none. */
static bool next_name(const char **p, Name *out)
{
    for (; **p; (*p)++) {
        char sym[8], label[32];
        int used = 0, block;
        if (strncmp(*p, "blocks.", 7) == 0 && sscanf(*p + 7, "%d%n", &block, &used) == 1) {
            utf8_print(out->kind, sizeof out->kind, "block");
            utf8_print(out->text, sizeof out->text, "block %d", block);
            *p += 7 + used;
            return true;
        }
        if ((**p == '[' || **p == ',') && sscanf(*p + 1, "%7[a-z0-9]=%31[^],]%n", sym, label, &used) == 2) {
            *p += 1 + used;
            if (name_of_cell(sym, label, out))
                return true;
            (*p)--; /* the comma behind it */
        }
    }
    return false;
}

/* Where the name stands in text[from … to); `to` where it does not. */
static size_t name_stands(const Reading *r, const char *name, size_t from, size_t to)
{
    size_t n = strlen(name);
    for (size_t at = from; at + n <= to; at++)
        if (strncasecmp(r->named + at, name, n) == 0 && !(at && part_of_word(r->named, at - 1)) &&
            !part_of_word(r->named, at + n))
            return at;
    return to;
}

static void sentence_around(const Reading *r, size_t at, size_t *from, size_t *to)
{
    for (*from = at; *from && !(*from > 1 && r->text[*from - 1] == ' ' && strchr(".;?!", r->text[*from - 2]));)
        (*from)--;
    for (*to = at; r->text[*to] && !(strchr(".;?!", r->text[*to]) && (!r->text[*to + 1] || r->text[*to + 1] == ' '));)
        (*to)++;
}

/* Both sides of an expectation, one behind the other. */
static const char *sides_of(const Expectation *e, int i)
{
    return i == 0 ? e->left : e->right;
}

static bool has_name(const char *expression, const Name *name)
{
    Name n;
    for (const char *p = expression; next_name(&p, &n);)
        if (strcmp(n.text, name->text) == 0)
            return true;
    return false;
}

/* Does the sentence speak of another of that kind, one that some expectation of the card names, and not this
 * one? */
static bool speaks_of_another(const Reading *r, const Expectation *x, const Name *own, size_t from, size_t to,
                              Name *other)
{
    for (int e = 0; e < r->card->expect_count; e++)
        for (int i = 0; i < 2; i++)
            for (const char *p = sides_of(&r->card->expect[e], i); next_name(&p, other);)
                if (strcmp(other->kind, own->kind) == 0 && !has_name(x->left, other) && !has_name(x->right, other) &&
                    name_stands(r, other->text, from, to) < to)
                    return true;
    return false;
}

/* A number's name stands in its sentence, if that has names of the kind. */
static bool check_own_names(Reading *r, int e, size_t from, size_t to)
{
    const Expectation *x = &r->card->expect[e];
    Name own, other;
    for (int i = 0; i < 2; i++)
        for (const char *p = sides_of(x, i); next_name(&p, &own);)
            if (name_stands(r, own.text, from, to) == to && speaks_of_another(r, x, &own, from, to, &other)) {
                sentence_fault(r, x->line,
                               "this is expected of %s, and its sentence speaks of %s; were the names exchanged?",
                               own.text, other.text);
                return false;
            }
    return true;
}

/* Names stand in the order of what is said of them; one that both have tells nothing. two NULL: within the one
 * expression: "star is ahead of arrow" of logits[o=star] - logits[o=arrow]. */
static bool in_order(Reading *r, const char *one, const char *two, int line, size_t from, size_t to)
{
    Name a, b;
    for (const char *p = one; next_name(&p, &a);)
        for (const char *q = two ? two : p; next_name(&q, &b);) {
            size_t at = name_stands(r, a.text, from, to), behind = name_stands(r, b.text, from, to);
            bool tells = two ? !has_name(two, &a) && !has_name(one, &b) : strcmp(a.text, b.text) != 0;
            if (strcmp(a.kind, b.kind) != 0 || !tells || at == to || behind == to || at < behind)
                continue;
            sentence_fault(r, line,
                           "%s is meant first and %s then, and they stand the other way round; were they exchanged?",
                           a.text, b.text);
            return false;
        }
    return true;
}

/* Over the whole card: names that come first in what is expected come first in the text. */
static void check_card_names(Reading *r)
{
    const Card *c = r->card;
    size_t end = strlen(r->named);
    for (int k = 0; k < 2 * c->expect_count; k++) {
        Name a, b;
        for (const char *p = sides_of(&c->expect[k / 2], k % 2); next_name(&p, &a);) {
            size_t at = name_stands(r, a.text, 0, end);
            if (at == end)
                continue;
            for (int j = k + 1; j < 2 * c->expect_count; j++)
                for (const char *q = sides_of(&c->expect[j / 2], j % 2); next_name(&q, &b);) {
                    bool seen = false;
                    for (int i = 0; i <= k; i++)
                        seen = seen || has_name(sides_of(&c->expect[i / 2], i % 2), &b);
                    if (seen || strcmp(a.kind, b.kind) != 0 || name_stands(r, b.text, 0, end) > at)
                        continue;
                    sentence_fault(r, c->expect[j / 2].line,
                                   "%s is stated behind %s, and stands before it in the text; were they exchanged?",
                                   b.text, a.text);
                    return;
                }
        }
    }
}

static void check_cells(Reading *r)
{
    int before = -1;
    size_t from = 0, to = 0;
    const Card *c = r->card;
    for (int e = 0; e < c->expect_count; e++) {
        const Expectation *x = &c->expect[e];
        const char *expression, *last;
        if (r->bound[e] < 0)
            continue;
        literal_of(x, &expression);
        size_t at = r->said[r->bound[e]].at;
        bool same = before >= 0 && at >= from && at < to;
        if (same)
            literal_of(&c->expect[before], &last);
        else
            sentence_around(r, at, &from, &to);
        if (!check_own_names(r, e, from, to) || !in_order(r, expression, NULL, x->line, from, to) ||
            (same && !in_order(r, last, expression, x->line, from, to)))
            return;
        before = e;
    }
}

bool sentences_name(const char **p, char text[40], char kind[8])
{
    Name n = {"", ""};
    bool any = next_name(p, &n);
    utf8_print(text, 40, "%s", n.text);
    utf8_print(kind, 8, "%s", n.kind);
    return any;
}

void sentence_names(Reading *r)
{
    check_cells(r);
    check_card_names(r);
}
