/* The statements of a fenced block, one a line. A word, then what belongs to it; "quotes" round sentences; # begins a
 * remark. `vary NAME VALUE …` picks one value by the seed and puts it where $NAME stands in the lines behind it. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "core/session/command.h"
#include "core/session/input.h"
#include "lessons/lesson_parts.h"

enum { VARIED = 8 };

typedef struct Line {
    Reader *r;
    Card *card;
    int line;
    const char *rest; /* behind the statement's word */
} Line;

static bool bad(const Line *l, const char *what)
{
    return reader_error(l->r, l->line, "%s", what);
}

static char *keep(const Line *l, const char *s, size_t n)
{
    return arena_printf(&l->r->lesson->arena, "%.*s", (int)n, s);
}

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* The sentence between quotes at *p; \" is a quote, and marks of code are for who reads the file: such sentences are
 * shown as plain text. NULL where there is none. */
static const char *quoted(const Line *l, const char **p)
{
    const char *s = skip_blanks(*p);
    if (*s != '"')
        return NULL;
    Buf text = {0};
    for (s++; *s && *s != '"'; s++) {
        s += *s == '\\' && s[1] == '"';
        if (*s != '`')
            buf_putc(&text, *s);
    }
    const char *kept = *s == '"' ? arena_strdup(&l->r->lesson->arena, buf_str(&text)) : NULL;
    buf_free(&text);
    *p = *s ? s + 1 : s;
    return kept && *kept ? kept : NULL;
}

static bool ended(const Line *l, const char *p)
{
    p = skip_blanks(p);
    return !*p || reader_error(l->r, l->line, "nothing is expected at '%.40s'; take it away", p);
}

/* ---- about the lesson ---- */

static bool read_minutes(const Line *l)
{
    char *end;
    long n = strtol(l->rest, &end, 10);
    if (end == l->rest || n < 1 || n > 60 || *skip_blanks(end))
        return bad(l, "expected `minutes N`, 1 to 60");
    l->r->lesson->minutes = (int)n;
    return true;
}

/* Kept among the commands, as an empty one. */
static bool read_pause(const Line *l)
{
    if (!ended(l, l->rest))
        return false;
    texts_add(&l->card->commands, "", l->line);
    return true;
}

static bool words(const Line *l, Texts *to)
{
    const char *p = skip_blanks(l->rest);
    if (!*p)
        return bad(l, "expected a word or several");
    while (*p) {
        size_t n = strcspn(p, " \t");
        texts_add(to, keep(l, p, n), l->line);
        p = skip_blanks(p + n);
    }
    return true;
}

static bool read_quoted(const Line *l)
{
    const char *p = skip_blanks(l->rest);
    for (bool any = false;; any = true) {
        if (*p == '"') {
            const char *where = quoted(l, &p);
            if (!any || !where)
                break;
            texts_add(&l->card->quoted, where, l->line);
            return ended(l, p);
        }
        size_t n = strcspn(p, " \t");
        if (!n || (!isdigit((unsigned char)*p) && *p != '-' && strncmp(p, "−", 3) != 0))
            break;
        if (any) /* the work named last is meant for all: it is filled in behind */
            texts_add(&l->card->quoted, "", l->line);
        texts_add(&l->card->quoted, keep(l, p, n), l->line);
        p = skip_blanks(p + n);
    }
    return bad(l, "expected `quoted NUMBER … \"the work it is printed in\"`");
}

/* Numbers that the text itself sets up ("patches of 32"): nothing can be said against them. */
static bool read_given(const Line *l)
{
    Texts *to = &l->card->quoted;
    int before = to->count;
    if (!words(l, to))
        return false;
    int count = to->count - before;
    for (int i = 0; i < count; i++)
        texts_add(to, "", l->line);
    for (int i = count - 1; i >= 0; i--) { /* number, work, number, work … */
        to->at[before + 2 * i] = to->at[before + i];
        to->at[before + 2 * i + 1] = (Sentence){"given", l->line};
    }
    return true;
}

/* One relation, between blanks and outside brackets. */
static bool one_expectation(const Line *l, const char *s, size_t n)
{
    int depth = 0;
    for (size_t i = 1; i + 1 < n; i++) {
        depth += s[i] == '[' || s[i] == '(';
        depth -= s[i] == ']' || s[i] == ')';
        const char *which = depth == 0 && s[i - 1] == ' ' ? strchr("=<>!", s[i]) : NULL;
        if (!which || s[i + (s[i] == '!' ? 2 : 1)] != ' ' || (s[i] == '!' && s[i + 1] != '='))
            continue;
        Relation relation = s[i] == '='   ? RELATION_EQUAL
                            : s[i] == '<' ? RELATION_LESS
                            : s[i] == '>' ? RELATION_GREATER
                                          : RELATION_UNLIKE;
        size_t right = i + (s[i] == '!' ? 3 : 2), left = i - 1;
        Card *c = l->card;
        c->expect = grow(c->expect, &c->expect_cap, (size_t)c->expect_count, sizeof *c->expect);
        c->expect[c->expect_count++] = (Expectation){keep(l, s, left), keep(l, s + right, n - right), relation,
                                                     l->line};
        return true;
    }
    return bad(l, "expected `expect NUMBER = EXPRESSION` (or < > !=), with blanks round the sign");
}

static bool read_expect(const Line *l)
{
    for (const char *p = skip_blanks(l->rest);;) {
        size_t n = strcspn(p, ";"), m = n;
        while (m && p[m - 1] == ' ')
            m--;
        if (!one_expectation(l, p, m))
            return false;
        p += n;
        if (!*p)
            return true;
        p = skip_blanks(p + 1);
    }
}

static bool read_again(const Line *l)
{
    l->card->again = true;
    return ended(l, l->rest);
}

/* ---- questions ---- */

static Question *new_question(const Line *l, QuestionKind kind, const char *text)
{
    Question *q = arena_alloc(&l->r->lesson->arena, sizeof *q);
    q->kind = kind;
    q->text = text;
    q->line = l->line;
    l->card->question = q;
    return q;
}

/* = EXPRESSION within EXPRESSION, or until CONDITION */
static bool read_answer(const Line *l, Question *q, const char *p)
{
    p = skip_blanks(p);
    if (q->kind == QUESTION_NUMBER) {
        const char *within = strstr(p, " within ");
        if (*p != '=' || p[1] != ' ' || !within)
            return bad(l, "expected = EXPRESSION within TOLERANCE behind the question");
        p = skip_blanks(p + 1);
        q->answer = keep(l, p, within > p ? (size_t)(within - p) : 0);
        q->within = keep(l, skip_blanks(within + 8), strlen(skip_blanks(within + 8)));
        return (*q->answer && *q->within) || bad(l, "expected = EXPRESSION within TOLERANCE behind the question");
    }
    if (strncmp(p, "until ", 6) != 0)
        return bad(l, "expected until CONDITION behind the question");
    q->answer = keep(l, skip_blanks(p + 6), strlen(skip_blanks(p + 6)));
    return *q->answer || bad(l, "expected a condition behind until");
}

static bool read_question(const Line *l, bool predict)
{
    static const struct {
        const char *word;
        QuestionKind kind;
    } KINDS[] = {{"choice", QUESTION_CHOICE},
                 {"number", QUESTION_NUMBER},
                 {"place", QUESTION_PLACE},
                 {"change", QUESTION_CHANGE}};
    if (l->card->question)
        return bad(l, "a card asks one question; move this one to a card of its own");
    const char *p = skip_blanks(l->rest);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        size_t n = strlen(KINDS[i].word);
        if (strncmp(p, KINDS[i].word, n) != 0 || p[n] != ' ')
            continue;
        p += n;
        const char *text = quoted(l, &p);
        if (!text)
            return bad(l, "expected the question in \"quotes\"");
        Question *q = new_question(l, KINDS[i].kind, text);
        q->predict = predict;
        return q->kind == QUESTION_CHOICE ? ended(l, p) : read_answer(l, q, p);
    }
    return bad(l, "a question is choice, number, place or change");
}

static bool read_ask(const Line *l)
{
    return read_question(l, false);
}
static bool read_predict(const Line *l)
{
    return read_question(l, true);
}

static bool add_choice(const Line *l, bool right)
{
    Question *q = l->card->question;
    const char *p = skip_blanks(l->rest), *text;
    if (!q)
        return bad(l, "an answer before its question; put `ask` or `predict` above it");
    if (right && q->kind != QUESTION_CHOICE) {
        q->why = quoted(l, &p);
        return q->why ? ended(l, p) : bad(l, "expected what is said when it is done, in \"quotes\"");
    }
    if (q->kind != QUESTION_CHOICE && q->kind != QUESTION_NUMBER) {
        q->not_yet = quoted(l, &p);
        return q->not_yet ? ended(l, p) : bad(l, "expected what is said of another cell or change, in \"quotes\"");
    }
    if (q->kind == QUESTION_NUMBER) {
        const char *why = strchr(p, '"');
        text = keep(l, p, why ? (size_t)(why - p) : strlen(p));
        p = why ? why : p + strlen(p);
    } else {
        text = quoted(l, &p);
    }
    const char *why = quoted(l, &p);
    if (!text || !*text || !why)
        return bad(l, "expected an answer and why it is right or wrong, both in \"quotes\"");
    if (q->count == 8)
        return bad(l, "more than eight answers");
    q->choices = grow(q->choices, &q->cap, (size_t)q->count, sizeof *q->choices);
    q->choices[q->count++] = (Choice){text, why, right, l->line};
    return ended(l, p);
}

static bool read_right(const Line *l)
{
    return add_choice(l, true);
}
static bool read_wrong(const Line *l)
{
    return add_choice(l, false);
}

static bool read_solution(const Line *l)
{
    Question *q = l->card->question;
    if (!q || (q->kind != QUESTION_PLACE && q->kind != QUESTION_CHANGE))
        return bad(l, "a solution belongs behind `ask place` or `ask change`");
    const char *p = skip_blanks(l->rest);
    q->solution = keep(l, p, strlen(p));
    return *q->solution || bad(l, "expected the commands that reach it");
}

static bool is_drawn(const Line *l)
{
    const char *p = skip_blanks(l->rest);
    size_t n = *p == '#' ? strspn(p + 1, "0123456789") : 0;
    return (n && n <= 9 && !*skip_blanks(p + 1 + n)) || input_scene(p) >= 0 ||
           bad(l, "expected a drawn picture, #N, or a rendered scene such as #ship: a lesson opens no files");
}

static bool one_model(const Line *l)
{
    const Lesson *of = l->r->lesson;
    return !(of->translator.count || of->photos.count) || bad(l, "a lesson speaks of one model; take one of them away");
}

static bool is_seen(const Line *l)
{
    return is_drawn(l) && one_model(l);
}

static bool reads_words(const Line *l)
{
    return l->r->lesson->translator.count ||
           bad(l, "a sentence for the picture model; say `translator \"SENTENCE\"` above the first card");
}

/* What most statements are: texts of the lesson or the card, as they stand. */
typedef enum Kind { OTHER, SENTENCE, WORDS, WHOLE } Kind;
#define OF_LESSON(kind, field) kind, false, offsetof(Lesson, field), NULL
#define OF_CARD(kind, field) kind, true, offsetof(Card, field), NULL

static const struct Statement {
    const char *word;
    Kind kind;
    bool of_card;
    size_t texts;                /* offset of its Texts */
    bool (*read)(const Line *l); /* where the kind says how it is read, a check before that, or NULL */
    bool once;
} STATEMENTS[] = {
    {"minutes", OTHER, false, 0, read_minutes, false},
    {"able", OF_LESSON(SENTENCE, able), false},
    {"misconception", OF_LESSON(SENTENCE, misconception), false},
    {"summary", OF_LESSON(SENTENCE, summary), false},
    {"reads", OF_LESSON(SENTENCE, reads), false},
    {"needs", OF_LESSON(WORDS, needs), false},
    {"explains", OF_LESSON(WORDS, explains), false},
    {"translator", SENTENCE, false, offsetof(Lesson, translator), one_model, true},
    {"photos", WHOLE, false, offsetof(Lesson, photos), is_seen, true},
    {"do", OF_CARD(WHOLE, commands), false},
    {"pause", OTHER, true, 0, read_pause, false},
    {"show", OF_CARD(WHOLE, show), true},
    {"picture", WHOLE, true, offsetof(Card, picture), is_drawn, true},
    {"text", SENTENCE, true, offsetof(Card, text), reads_words, true},
    {"expect", OTHER, true, 0, read_expect, false},
    {"quoted", OTHER, true, 0, read_quoted, false},
    {"given", OTHER, true, 0, read_given, false},
    {"claim", OF_CARD(WORDS, claims), false},
    {"mechanism", OF_CARD(WORDS, mechanisms), false},
    {"predict", OTHER, true, 0, read_predict, false},
    {"ask", OTHER, true, 0, read_ask, false},
    {"again", OTHER, true, 0, read_again, false},
    {"right", OTHER, true, 0, read_right, false},
    {"wrong", OTHER, true, 0, read_wrong, false},
    {"solution", OTHER, true, 0, read_solution, false},
    {"hint", OF_CARD(SENTENCE, hints), false},
    {"note", OF_CARD(SENTENCE, notes), false},
};

static bool read_texts(const Line *l, const struct Statement *what)
{
    void *owner = what->of_card ? (void *)l->card : (void *)l->r->lesson;
    Texts *to = (Texts *)(void *)((char *)owner + what->texts);
    const char *p = skip_blanks(l->rest), *s;
    if (what->once && to->count)
        return bad(l, what->of_card ? "a card has one of these; take this one or the other away"
                                    : "a lesson has one of these; take this one or the other away");
    if (what->read && !what->read(l))
        return false;
    if (what->kind == WORDS)
        return words(l, to);
    if (what->kind == WHOLE) {
        texts_add(to, keep(l, p, strlen(p)), l->line);
        return *p || bad(l, "expected something behind that word");
    }
    s = quoted(l, &p);
    if (!s)
        return bad(l, "expected a sentence in \"quotes\"");
    texts_add(to, s, l->line);
    return ended(l, p);
}

/* Where the right answer stands tells nobody which it is: the question's own words say in which order the answers of a
 * choice are read out, for everybody the same. */
static void mix_choices(Question *q)
{
    uint64_t stream = 14695981039346656037u; /* FNV-1a of the words */
    for (const char *p = q->text; *p; p++)
        stream = (stream ^ (unsigned char)*p) * 1099511628211u;
    Rng rng = rng_seed(0, stream);
    for (int i = q->count - 1; i > 0; i--) {
        int k = (int)rng_below(&rng, (uint32_t)i + 1);
        Choice other = q->choices[k];
        q->choices[k] = q->choices[i];
        q->choices[i] = other;
    }
}

/* Every question has an answer, and a choice one that is right and one that is not. */
static bool question_whole(const Reader *r, const Card *c)
{
    Question *q = c->question;
    if (!q)
        return !c->again || reader_error(r, c->line, "`again` is about a question, and this card asks none");
    int right = 0;
    for (int i = 0; i < q->count; i++)
        right += q->choices[i].right;
    if (q->kind == QUESTION_CHOICE && (right != 1 || q->count < 2))
        return reader_error(r, q->line,
                            "a choice has one `right` answer and a `wrong` one at least; it has %d right of %d", right,
                            q->count);
    if ((q->kind == QUESTION_PLACE || q->kind == QUESTION_CHANGE) && !q->solution)
        return reader_error(r, q->line, "the question has no `solution`; give the commands that reach it");
    if (q->kind == QUESTION_CHOICE)
        mix_choices(q);
    return true;
}

bool lesson_fill(Buf *out, const char *line, size_t n, const Filled *f, int count)
{
    for (size_t i = 0, from = out->len; i < n;) {
        const Filled *hit = NULL;
        for (int k = 0; k < count && line[i] == '$'; k++) {
            size_t size = strlen(f[k].name);
            if (size < n - i && strncmp(line + i + 1, f[k].name, size) == 0 && (!hit || size > strlen(hit->name)))
                hit = &f[k];
        }
        if (hit) {
            buf_puts(out, hit->value);
            i += 1 + strlen(hit->name);
        } else {
            buf_putc(out, line[i++]);
        }
        if (out->len - from > LESSON_LINE)
            return false;
    }
    return true;
}

/* vary NAME VALUE VALUE …: the seed, the line and the name say which. */
static bool read_vary(const Line *l, Filled *v, int *count)
{
    Texts all = {0};
    bool ok = words(l, &all);
    if (ok && (all.count < 3 || *count == VARIED))
        ok = bad(l, "expected `vary NAME VALUE VALUE …`, at most eight names in a block");
    if (ok) {
        Rng rng = rng_seed(l->r->seed, (uint64_t)l->line);
        v[(*count)++] = (Filled){all.at[0].text, all.at[1 + rng_below(&rng, (uint32_t)all.count - 1)].text};
    }
    free(all.at);
    return ok;
}

static const char *statement_word(const void *context, int i)
{
    const int count = sizeof STATEMENTS / sizeof *STATEMENTS;
    (void)context;
    return i < count ? STATEMENTS[i].word : i == count ? "vary" : NULL;
}

static bool statement(const Line *line, const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof STATEMENTS / sizeof *STATEMENTS; i++) {
        if (strlen(STATEMENTS[i].word) != n || strncmp(STATEMENTS[i].word, word, n) != 0)
            continue;
        if (STATEMENTS[i].of_card && !line->card)
            return reader_error(line->r, line->line, "'%.*s' belongs to a card: put it behind a ## heading", (int)n,
                                word);
        if (!STATEMENTS[i].of_card && line->card)
            return reader_error(line->r, line->line, "'%.*s' is about the whole lesson: put it before the first card",
                                (int)n, word);
        return STATEMENTS[i].kind == OTHER ? STATEMENTS[i].read(line) : read_texts(line, &STATEMENTS[i]);
    }
    char typed[31];
    Buf known = {0};
    utf8_print(typed, sizeof typed, "%.*s", (int)(n < 30 ? n : 30), word);
    names_offer(typed, statement_word, NULL, &known);
    reader_error(line->r, line->line, "there is no statement '%s'%s", typed, buf_str(&known));
    buf_free(&known);
    return false;
}

bool statements_read(Reader *r, Card *card, const char *text, int line)
{
    Filled varied[VARIED];
    int varied_count = 0;
    bool ok = true;
    Buf one = {0};
    for (const char *p = text; ok && *p;) {
        const char *raw = skip_blanks(p);
        size_t n = strcspn(p, "\n"), blank = (size_t)(raw - p);
        Line l = {r, card, ++line, ""};
        buf_clear(&one);
        ok = lesson_fill(&one, raw, n - blank, varied, varied_count) ||
             reader_error(r, line, "this line is longer than %d bytes, what it varies written out; make it shorter",
                          LESSON_LINE);
        p += n + (p[n] == '\n');
        const char *s = buf_str(&one);
        if (!ok || !*s || *s == '#')
            continue;
        size_t word = strcspn(s, " \t");
        l.rest = s + word;
        if (word == 4 && strncmp(s, "vary", 4) == 0)
            ok = read_vary(&l, varied, &varied_count);
        else
            ok = statement(&l, s, word);
    }
    buf_free(&one);
    return ok && (!card || question_whole(r, card));
}
