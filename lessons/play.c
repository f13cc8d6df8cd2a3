#include "lessons/play.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/session/address.h"

static bool at_line(const Player *p, int line, Err *err)
{
    char file[120];
    return err_prefix(err, "%s:%d", utf8_clean(file, sizeof file, p->lesson.file), line);
}

/* The model that the lesson speaks of: where it is the translator that one, else the bundled picture model in the
 * translator's place. */
static bool right_model(Player *p, Err *err)
{
    static const char TRANSLATOR[] = "translator";
    bool words = p->lesson.translator.count > 0, now = strcmp(p->s->model_path, TRANSLATOR) == 0;
    return words == now || session_open_model(p->s, words ? TRANSLATOR : NULL, err);
}

/* What a card looks at: its own picture or sentence, else the lesson's. */
static const char *input_of(const Player *p, const Card *c)
{
    if (p->lesson.translator.count)
        return c->text.count ? c->text.at[0].text : p->lesson.translator.at[0].text;
    return c->picture.count ? c->picture.at[0].text : "#17";
}

bool player_open(Player *p, Session *s, Lesson *lesson, Err *err)
{
    *p = (Player){.s = s, .commands = session_command_set(), .lesson = *lesson, .card = -1};
    *lesson = (Lesson){0};
    p->answers = xcalloc((size_t)p->lesson.count, sizeof *p->answers);
    p->examples = xcalloc((size_t)p->lesson.example_count + 1, sizeof *p->examples);
    if (!right_model(p, err))
        return false;
    for (int i = 0; i < p->lesson.example_count; i++)
        if (!example_build(&p->examples[i], p->lesson.file, &p->lesson.examples[i], &s->model, s->pool, err))
            return false;
    return true;
}

void player_close(Player *p)
{
    for (int i = 0; p->examples && i < p->lesson.example_count; i++)
        example_free(&p->examples[i]);
    free(p->examples);
    free(p->answers);
    commands_free(&p->commands);
    lesson_free(&p->lesson);
    *p = (Player){0};
}

const Card *player_card(const Player *p)
{
    return p->card >= 0 && p->card < p->lesson.count ? &p->lesson.cards[p->card] : NULL;
}

Scope player_scope(const Player *p)
{
    return (Scope){p->s, p->examples, p->lesson.example_count};
}

/* The model as it is, looking at the picture, seen from the start of the trip. */
static bool clean(Player *p, const char *picture, Err *err)
{
    Session *s = p->s;
    if (!right_model(p, err))
        return false;
    if (session_pinned(s) && !command_do(s, &p->commands, "pin off", COMMAND_EDIT, err))
        return false;
    if (session_edited(s) && !command_do(s, &p->commands, "reset edits", COMMAND_EDIT, err))
        return false;
    if (strcmp(s->now->input.path, picture) != 0 && !session_open_input(s, picture, err))
        return false;
    return command_do(s, &p->commands, "gradient off; reset view; goto first", COMMAND_EDIT, err);
}

bool player_enter(Player *p, int card, Err *err)
{
    REQUIRE(card >= 0 && card < p->lesson.count);
    p->card = card;
    const Card *c = player_card(p);
    if (!clean(p, input_of(p, c), err))
        return at_line(p, c->line, err);
    for (int i = 0; i < c->commands.count; i++)
        if (!command_do(p->s, &p->commands, c->commands.at[i].text, COMMAND_EDIT, err))
            return at_line(p, c->commands.at[i].line, err);
    Address to;
    if (c->show.count && !player_shows(p, &to)) {
        err_set(err, "there is no '%.80s'; show NAME:NODE of a worked example", c->show.at[0].text);
        return at_line(p, c->show.at[0].line, err);
    }
    p->s->back_count = 0;
    return true;
}

const Example *player_shows(const Player *p, Address *at)
{
    const Card *c = player_card(p);
    const char *text = c && c->show.count ? c->show.at[0].text : "", *colon = strchr(text, ':');
    for (int i = 0; colon && i < p->lesson.example_count; i++) {
        const Example *e = &p->examples[i];
        if (strlen(e->name) == (size_t)(colon - text) && strncmp(e->name, text, (size_t)(colon - text)) == 0)
            return address_parse(p->s, e->graph, colon + 1, at, NULL) && at->is_node ? e : NULL;
    }
    return NULL;
}

/* ---- numbers in prose ---- */

void number_put(double x, int decimals, Buf *out)
{
    char text[64];
    if (decimals < 0 && x == dm_floor(x) && dm_abs(x) < 1e15) {
        char digits[32];
        int n = snprintf(digits, sizeof digits, "%.0f", dm_abs(x));
        buf_puts(out, x < 0 ? "−" : "");
        for (int i = 0; i < n; i++) {
            buf_putc(out, digits[i]);
            if ((n - 1 - i) % 3 == 0 && i < n - 1 && n > 4)
                buf_putc(out, ',');
        }
        return;
    }
    if (decimals < 0)
        snprintf(text, sizeof text, "%.4g", x);
    else
        snprintf(text, sizeof text, "%.*f", decimals > 9 ? 9 : decimals, x);
    buf_printf(out, "%s%s", *text == '-' ? "−" : "", text + (*text == '-'));
}

bool player_text(const Player *p, const char *text, Buf *out, Err *err)
{
    Scope scope = player_scope(p);
    for (const char *open; (open = strstr(text, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        char expression[256];
        if (!close || close - open - 2 >= (long)sizeof expression)
            return err_set(err, "{{ without }}, or a longer expression than there can be");
        buf_add(out, text, (size_t)(open - text));
        snprintf(expression, sizeof expression, "%.*s", (int)(close - open - 2), open + 2);
        char *bar = strchr(expression, '|');
        int decimals = bar ? (int)strtol(bar + 1, NULL, 10) : -1;
        double x;
        if (bar)
            *bar = 0;
        if (!number_value(&scope, expression, &x, err))
            return err_prefix(err, "{{%s}}", expression);
        number_put(x, decimals, out);
        text = close + 2;
    }
    buf_puts(out, text);
    return true;
}

/* ---- answers ---- */

static const Question *question(const Player *p, Err *err)
{
    const Card *c = player_card(p);
    if (!c || !c->question)
        err_set(err, "this card asks nothing");
    return c ? c->question : NULL;
}

bool player_choose(Player *p, int choice, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_CHOICE)
        return err_set(err,
                       q->kind == QUESTION_NUMBER ? "type a number" : "this is done on the screen, not by a letter");
    if (choice < 0 || choice >= q->count)
        return err_set(err, "there are %d answers, 1 to %d", q->count, q->count);
    Answer *a = &p->answers[p->card];
    Buf said = {0};
    bool ok = player_text(p, q->choices[choice].why, &said, err);
    if (ok) {
        *a = (Answer){true, q->choices[choice].right, choice, 0, a->tries + 1, a->hints};
        buf_puts(why, buf_str(&said));
    }
    buf_free(&said);
    return ok;
}

/* Which known mistake leads to that number; -1: none. */
static bool known_mistake(const Player *p, const Question *q, double x, double within, int *which, Err *err)
{
    Scope scope = player_scope(p);
    *which = -1;
    for (int i = 0; i < q->count; i++) {
        double wrong;
        if (!number_value(&scope, q->choices[i].text, &wrong, err))
            return false;
        if (*which < 0 && dm_abs(x - wrong) <= within)
            *which = i;
    }
    return true;
}

bool player_number(Player *p, const char *typed, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_NUMBER)
        return err_set(err, "this question is not answered by a number");
    double x, half, right, within;
    size_t n = number_printed(typed, &x, &half);
    Scope scope = player_scope(p);
    if (!n || typed[n + strspn(typed + n, " ")])
        return err_set(err, "'%.40s' is no number; type digits, a point and perhaps a minus", typed);
    int mistake;
    if (!number_value(&scope, q->answer, &right, err) || !number_value(&scope, q->within, &within, err) ||
        !known_mistake(p, q, x, within, &mistake, err))
        return false;
    bool ok = dm_abs(x - right) <= within;
    Answer *a = &p->answers[p->card];
    *a = (Answer){true, ok, 0, x, a->tries + 1, a->hints};
    Buf said = {0};
    bool told = true;
    if (ok) {
        buf_puts(&said, "It is ");
        number_put(right, -1, &said);
        buf_puts(&said, ". ");
        told = !q->why || player_text(p, q->why, &said, err);
    } else if (mistake >= 0) {
        told = player_text(p, q->choices[mistake].why, &said, err);
    } else {
        buf_puts(&said, x > right ? "Too much. " : "Too little. ");
        if (p->lesson.cards[p->card].hints.count)
            buf_puts(&said, "A hint computes the first step.");
    }
    if (told)
        buf_puts(why, buf_str(&said));
    buf_free(&said);
    return told;
}

bool player_done(Player *p, bool *done, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_PLACE && q->kind != QUESTION_CHANGE)
        return err_set(err, "this question wants an answer, not an act");
    Scope scope = player_scope(p);
    double x;
    if (!number_value(&scope, q->answer, &x, err))
        return false;
    *done = x != 0;
    Answer *a = &p->answers[p->card];
    if (*done)
        *a = (Answer){true, true, 0, 0, a->tries + 1, a->hints};
    return !*done || !q->why || player_text(p, q->why, why, err);
}

bool player_hint(Player *p, Buf *out, Err *err)
{
    const Card *c = player_card(p);
    if (!c || !c->hints.count)
        return err_set(err, "this card has no hint");
    Answer *a = &p->answers[p->card];
    int which = a->hints < c->hints.count ? a->hints++ : c->hints.count - 1;
    return player_text(p, c->hints.at[which].text, out, err);
}

void player_prediction(const Player *p, Buf *out)
{
    const Question *q = p->card > 0 ? p->lesson.cards[p->card - 1].question : NULL;
    const Answer *a = p->card > 0 ? &p->answers[p->card - 1] : NULL;
    if (!q || !q->predict || !a->given)
        return;
    Scope scope = player_scope(p);
    double right;
    buf_puts(out, "You said: ");
    if (q->kind == QUESTION_CHOICE) {
        buf_puts(out, q->choices[a->choice].text);
        if (a->right)
            buf_puts(out, ". So it is.");
        for (int i = 0; !a->right && i < q->count; i++)
            if (q->choices[i].right)
                buf_printf(out, ". It is: %s.", q->choices[i].text);
    } else if (q->kind == QUESTION_NUMBER && number_value(&scope, q->answer, &right, NULL)) {
        number_put(a->number, -1, out);
        buf_puts(out, ". It is ");
        number_put(right, -1, out);
        buf_putc(out, '.');
    }
}
