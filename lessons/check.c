#include "lessons/check.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/session/ask/ask.h"
#include "core/session/exhibit.h"
#include "lessons/layout.h"
#include "lessons/numbers.h"
#include "lessons/sentences.h"

typedef struct Checker {
    Player *p;
    const Card *card;
    CheckCount *count;
    Buf *faults;
} Checker;

static void fault(Checker *c, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void fault(Checker *c, int line, const char *fmt, ...)
{
    char text[640], clean[640];
    va_list args;
    va_start(args, fmt);
    utf8_vprint(text, sizeof text, fmt, args);
    va_end(args);
    bool placed = strncmp(text, c->p->lesson.file, strlen(c->p->lesson.file)) == 0; /* the player says where */
    if (placed)
        buf_printf(c->faults, "%s\n", utf8_clean(clean, sizeof clean, text));
    else
        buf_printf(c->faults, "%s:%d: %s\n", c->p->lesson.file, line, utf8_clean(clean, sizeof clean, text));
    c->count->faults++;
}

/* ---- expectations ---- */

static bool rounds_to(double x, double printed, double half)
{
    return dm_abs(x - printed) <= half * (1 + 1e-6) + 1e-12 * dm_abs(printed);
}

bool expectation_holds(const Player *p, const Expectation *e, bool *holds, Buf *shown, Err *err)
{
    double left, right, half = 0, other = 0;
    bool left_printed = number_literal(e->left, &left, &half), right_printed = number_literal(e->right, &right, &other);
    if ((!left_printed && !player_value(p, e->left, &left, err)) ||
        (!right_printed && !player_value(p, e->right, &right, err)))
        return false;
    bool same;
    if (left_printed != right_printed)
        same = left_printed ? rounds_to(right, left, half) : rounds_to(left, right, other);
    else
        same = dm_abs(left - right) <= 1e-5 * (dm_abs(left) + dm_abs(right)) + 1e-12;
    switch (e->relation) {
    case RELATION_EQUAL: *holds = same; break;
    case RELATION_UNLIKE: *holds = dm_abs(left - right) > 1e-5 * (dm_abs(left) + dm_abs(right)); break;
    case RELATION_LESS: *holds = left < right; break;
    case RELATION_GREATER: *holds = left > right; break;
    }
    buf_printf(shown, "%.9g and %.9g", left, right);
    return true;
}

static void check_expectations(Checker *c)
{
    static const char *const SIGNS[] = {"=", "<", ">", "!="};
    for (int i = 0; i < c->card->expect_count; i++) {
        const Expectation *e = &c->card->expect[i];
        Err err = {{0}};
        Buf shown = {0};
        bool holds;
        c->count->numbers++;
        if (!expectation_holds(c->p, e, &holds, &shown, &err))
            fault(c, e->line, "%s %s %s: %s", e->left, SIGNS[e->relation], e->right, err.text);
        else if (!holds)
            fault(c, e->line, "%s %s %s is not so: they are %s; correct the prose or the expression", e->left,
                  SIGNS[e->relation], e->right, buf_str(&shown));
        buf_free(&shown);
    }
}

/* ---- words ---- */

static bool is_command(const Player *p, const char *text)
{
    Args *a = xcalloc(1, sizeof *a);
    const char *name;
    bool ok = args_parse(a, text, &name, NULL) && command_find(&p->commands, name);
    free(a);
    return ok;
}

static bool is_key(const char *text)
{
    return utf8_listed("Space Enter Backspace Tab Esc Ctrl-C ← → ↑ ↓", text) ||
           (strlen(text) == 1 && !isdigit((unsigned char)*text)) ||
           (*text == '#' && text[1] && strspn(text + 1, "0123456789") == strlen(text + 1)); /* a drawn picture */
}

/* An axis, or an index of one. */
static bool is_label(const Graph *g, const char *text)
{
    int i;
    for (int a = 0; a < g->axis_count; a++)
        if (axis_parse(&g->axes[a], text, &i) || strcmp(g->axes[a].sym, text) == 0)
            return true;
    return false;
}

/* Code in prose is a key, a command as it is typed (`:census`) or by its name, a line for the shell, an address or an
 * expression: something that is there. */
static void check_code(Checker *c, const char *text, int line)
{
    Err err = {{0}};
    double x;
    if (is_key(text) || is_command(c->p, text + (*text == ':')) || player_address(c->p, text, NULL) ||
        player_value(c->p, text, &x, NULL) || strncmp(text, "vitrine ", 8) == 0)
        return;
    if (is_label(session_graph(c->p->s, SIDE_B), text) || is_label(exhibit_graph(c->p->home), text))
        return;
    player_address(c->p, text, &err);
    fault(c, line, "`%s` is no key, command, address or expression here (%s)", text, err.text);
}

static void check_term(Checker *c, const char *text, int line)
{
    Buf entry = {0};
    Err err = {{0}};
    if (!ask_glossary(c->p->s, text, &entry, &err))
        fault(c, line, "*%s* is emphasised, and so a term: %s", text, err.text);
    buf_free(&entry);
}

static void check_prose(Checker *c, const char *text, int line)
{
    Buf out = {0};
    Err err = {{0}};
    if (!player_text(c->p, text, &out, &err))
        fault(c, line, "%s", err.text);
    buf_free(&out);
}

static void check_items(Checker *c)
{
    for (int i = 0; i < c->card->item_count; i++) {
        const Prose *item = &c->card->items[i];
        for (int k = 0; k < item->count; k++) {
            const Span *s = &item->spans[k];
            if (s->style == SPAN_CODE && item->kind != ITEM_VERBATIM)
                check_code(c, s->text, item->line);
            else if (s->style == SPAN_TERM)
                check_term(c, s->text, item->line);
            if (s->style != SPAN_CODE)
                check_prose(c, s->text, item->line);
        }
    }
}

/* ---- questions ---- */

static void check_choices(Checker *c, const Question *q)
{
    for (int i = 0; i < q->count; i++) {
        Err err = {{0}};
        Buf why = {0};
        c->count->answers++;
        if (!player_choose(c->p, i, &why, &err))
            fault(c, q->choices[i].line, "%s", err.text);
        else if (c->p->answers[c->p->card].right != q->choices[i].right || !why.len)
            fault(c, q->choices[i].line, "this answer is not graded as it is marked");
        buf_free(&why);
    }
}

static void check_number_question(Checker *c, const Question *q)
{
    Err err = {{0}};
    double right, within, wrong;
    if (!player_value(c->p, q->answer, &right, &err) || !player_value(c->p, q->within, &within, &err)) {
        fault(c, q->line, "%s", err.text);
        return;
    }
    if (!(within > 0) || right != right)
        fault(c, q->line, "the answer is %g within %g: give a tolerance above 0", right, within);
    char typed[64];
    Buf why = {0};
    snprintf(typed, sizeof typed, "%.12g", right);
    if (!player_number(c->p, typed, &why, &err) || !c->p->answers[c->p->card].right)
        fault(c, q->line, "its own answer, %s, is not taken (%s)", typed, err.text);
    for (int i = 0; i < q->count; i++) {
        c->count->answers++;
        buf_clear(&why);
        if (!player_value(c->p, q->choices[i].text, &wrong, &err))
            fault(c, q->choices[i].line, "%s", err.text);
        else if (dm_abs(wrong - right) <= within)
            fault(c, q->choices[i].line, "%g is within the tolerance, and so a right answer", wrong);
        snprintf(typed, sizeof typed, "%.12g", wrong);
        if (!player_number(c->p, typed, &why, &err) || c->p->answers[c->p->card].right || !why.len)
            fault(c, q->choices[i].line, "the wrong answer %s is not answered by its explanation", typed);
    }
    buf_free(&why);
}

/* Not done before, done after its own solution. */
static void check_act(Checker *c, const Question *q)
{
    Err err = {{0}};
    Buf why = {0};
    bool done;
    if (!player_done(c->p, &done, &why, &err))
        fault(c, q->line, "%s", err.text);
    else if (done)
        fault(c, q->line, "it is done before anybody has done anything: change what the card starts from");
    else if (q->not_yet)
        check_prose(c, q->not_yet, q->line);
    buf_clear(&why);
    if (!command_do(c->p->s, &c->p->commands, q->solution, LINE_FOREIGN, &err))
        fault(c, q->line, "its solution does not run: %s", err.text);
    else if (!player_done(c->p, &done, &why, &err))
        fault(c, q->line, "%s", err.text);
    else if (!done)
        fault(c, q->line, "its own solution does not do it");
    buf_free(&why);
}

static void check_question(Checker *c)
{
    const Question *q = c->card->question;
    if (!q)
        return;
    c->count->questions++;
    check_prose(c, q->text, q->line);
    for (int i = 0; i < c->card->hints.count; i++)
        check_prose(c, c->card->hints.at[i].text, c->card->hints.at[i].line);
    if (q->kind == QUESTION_CHOICE)
        check_choices(c, q);
    else if (q->kind == QUESTION_NUMBER)
        check_number_question(c, q);
    else
        check_act(c, q);
    c->p->answers[c->p->card] = (Answer){0};
}

/* ---- the whole ---- */

static void check_size(Checker *c)
{
    int words = card_words(c->card);
    Laid laid;
    Err err = {{0}};
    if (words > c->count->words_most)
        c->count->words_most = words;
    if (words > CARD_WORDS)
        fault(c, c->card->line, "%d words on this card, %d are the most; cut it in two", words, CARD_WORDS);
    if (!card_lay(c->p, CHECK_COLUMNS, &laid, &err)) {
        fault(c, c->card->line, "%s", err.text);
        return;
    }
    if (laid.count > c->count->lines_most)
        c->count->lines_most = laid.count;
    if (laid.count > CHECK_LINES)
        fault(c, c->card->line, "this card takes %d lines of %d columns, 80 × 24 has %d", laid.count, CHECK_COLUMNS,
              CHECK_LINES);
    laid_free(&laid);
}

/* With each answer to the prediction that the card settles, and with none. */
static void check_sizes(Checker *c)
{
    Player *p = c->p;
    const Question *q = p->card > 0 ? p->lesson.cards[p->card - 1].question : NULL;
    check_size(c);
    for (int i = 0; q && q->predict && i < q->count; i++) {
        double number = 0;
        if (q->kind == QUESTION_NUMBER && !player_value(p, q->choices[i].text, &number, NULL))
            continue;
        p->answers[p->card - 1] = (Answer){.given = true, .right = q->choices[i].right, .choice = i, .number = number};
        check_size(c);
    }
    if (q)
        p->answers[p->card - 1] = (Answer){0};
}

static void check_lesson(Checker *c)
{
    const Lesson *l = &c->p->lesson;
    if (!l->minutes)
        fault(c, 1, "nothing says how long it takes; add `minutes N` before the first card");
    if (!l->able.count)
        fault(c, 1, "nothing says what a reader can do afterwards; add `able \"…\"` before the first card");
    if (l->count > CARDS_MOST)
        fault(c, 1, "%d cards, %d are the most; cut it in two", l->count, CARDS_MOST);
}

bool lesson_check(Player *p, CheckCount *count, Buf *faults)
{
    *count = (CheckCount){0};
    Checker c = {p, NULL, count, faults};
    check_lesson(&c);
    count->faults += numbers_check(&p->lesson, faults) + sentences_check(&p->lesson, faults);
    for (int i = 0; i < p->lesson.count; i++) {
        Err err = {{0}};
        c.card = &p->lesson.cards[i];
        count->cards++;
        if (!player_enter(p, i, &err)) {
            fault(&c, c.card->line, "%s", err.text);
            continue;
        }
        if (player_waits(p)) /* it is read before the pause too: its live values are there */
            check_size(&c);
        if (!player_through(p, i, &err))
            fault(&c, c.card->line, "%s", err.text);
        check_expectations(&c);
        check_items(&c);
        check_sizes(&c);
        for (int k = 0; k < c.card->notes.count; k++)
            check_prose(&c, c.card->notes.at[k].text, c.card->notes.at[k].line);
        check_question(&c);
        session_trim(p->s);
    }
    return count->faults == 0;
}
