#include "lessons/play.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/ask/cells.h"
#include "core/session/ask/number.h"
#include "core/session/edit/edits.h"
#include "core/session/place.h"
#include "core/session/screens.h"

static bool at_line(const Player *p, int line, Err *err)
{
    char file[120];
    return err_prefix(err, "%s:%d", utf8_clean(file, sizeof file, p->lesson.file), line);
}

/* The model that the lesson speaks of, which may be the translator or the one of photographs; else the model of drawn
 * shapes in the place of one of these. */
static bool right_model(Player *p, Err *err)
{
    const char *now = p->s->model_path;
    const char *of = p->lesson.translator.count ? "translator" : p->lesson.photos.count ? "photos" : NULL;
    bool open = of ? strcmp(of, now) == 0 : !*now || !model_in_program(now);
    return open || session_open_model(p->s, of, err);
}

/* What a card looks at: its own picture or sentence, else the lesson's. */
static const char *input_of(const Player *p, const Card *c)
{
    if (p->lesson.translator.count)
        return c->text.count ? c->text.at[0].text : p->lesson.translator.at[0].text;
    if (c->picture.count)
        return c->picture.at[0].text;
    return p->lesson.photos.count ? p->lesson.photos.at[0].text : "#17";
}

bool player_open(Player *p, Session *s, Lesson *lesson, Err *err)
{
    *p = (Player){.s = s, .commands = session_command_set(), .lesson = *lesson, .home = s->now, .card = -1};
    *lesson = (Lesson){0};
    p->answers = xcalloc((size_t)p->lesson.count, sizeof *p->answers);
    p->examples = xcalloc((size_t)p->lesson.example_count + 1, sizeof *p->examples);
    if (!right_model(p, err))
        return false;
    p->home = s->now;
    p->uses = true;
    s->model_uses++;
    s->keep_model = "a lesson is open, and it speaks of this model; `lesson close`, the key q, leaves it";
    size_t cells = 0;
    for (int i = 0; i < p->lesson.example_count; i++) {
        Example *e = &p->examples[i];
        if (!example_build(e, p->lesson.file, &p->lesson.examples[i], &s->model, err))
            return false;
        cells += e->cells;
        if (cells > EXAMPLE_CELLS) {
            err_set(err, "more than %d numbers in all examples; make the axes shorter", EXAMPLE_CELLS);
            return at_line(p, p->lesson.examples[i].line, err);
        }
        example_exhibit(e, s);
    }
    return true;
}

const Card *player_card(const Player *p)
{
    return p->card >= 0 && p->card < p->lesson.count ? &p->lesson.cards[p->card] : NULL;
}

/* The model with its picture on show, whichever of the reader's pictures it is, without edits. */
static bool come_home(Player *p, Err *err)
{
    Session *s = p->s;
    if (session_pinned(s) && !command_do(s, &p->commands, "pin off", LINE_FOREIGN, err))
        return false;
    if (session_edited(s) && !command_do(s, &p->commands, "reset edits", LINE_FOREIGN, err))
        return false;
    if (!command_do(s, &p->commands, "gradient off; ledger off", LINE_FOREIGN, err))
        return false;
    if (s->now == p->home)
        return true;
    bool there = false; /* another picture may have been opened meanwhile, and this one given up for it */
    Exhibit *other = NULL;
    for (int i = 0; i < s->exhibit_count; i++) {
        there = there || s->exhibits[i] == p->home;
        other = s->exhibits[i]->model ? s->exhibits[i] : other;
    }
    if (s->now->model) {
        if (there)
            session_drop(s, p->home);
        p->home = s->now;
        return true;
    }
    p->home = there ? p->home : other;
    REQUIRE(p->home);
    if (!session_show(s, p->home, err))
        return false;
    session_start_place(s);
    place_find_box(s);
    return true;
}

void player_close(Player *p)
{
    Err err;
    if (p->s) {
        p->s->model_uses -= p->uses;
        come_home(p, &err);
    }
    for (int i = 0; p->examples && i < p->lesson.example_count; i++)
        example_free(&p->examples[i]);
    free(p->examples);
    free(p->answers);
    commands_free(&p->commands);
    lesson_free(&p->lesson);
    *p = (Player){0};
}

/* Where addresses are looked up that name no example: what is on show, or the model behind the example that is. */
static Side plain_side(const Player *p)
{
    return p->s->now->model ? SIDE_B : session_run_number(p->home, false);
}

bool player_value(const Player *p, const char *text, double *out, Err *err)
{
    Side side = plain_side(p);
    return number_value(p->s, side, text, out, err);
}

bool player_address(const Player *p, const char *text, Err *err)
{
    Cells c;
    Side side = plain_side(p);
    if (cells_address(text) != strlen(text))
        return err_set(err, "'%.60s' is no address", text);
    return cells_find(p->s, side, text, &c, err);
}

/* The model as it is, looking at the picture, seen from the start of the trip. */
static bool clean(Player *p, const char *picture, Err *err)
{
    Session *s = p->s;
    if (!come_home(p, err))
        return false;
    if (strcmp(s->now->input.path, picture) != 0 && !session_open_input(s, picture, err))
        return false;
    p->home = s->now;
    const int opens = session_opens(s);
    for (int i = 0; i < s->stages.count; i++) /* an example has a map of its own: which boxes were open is forgotten */
        s->open[i] = i == opens;
    session_start_place(s); /* the cursor too is where the card puts it, whatever card was before */
    place_find_box(s);
    return command_do(s, &p->commands, "reset view; goto first", LINE_FOREIGN, err);
}

/* The worked example on show, the cursor on the cell that the card names. */
static bool show_example(Player *p, Err *err)
{
    const Card *c = player_card(p);
    Session *s = p->s;
    const char *text = c->show.at[0].text;
    Address to;
    const Example *e = player_shows(p, &to);
    if (!e)
        return err_set(err, "there is no '%.80s'; show NAME:NODE of a worked example", text);
    if (!session_show(s, e->exhibit, err))
        return false;
    session_start_place(s);
    Buf line = {0};
    buf_printf(&line, "goto %s; view worked", strchr(text, ':') + 1);
    bool ok = command_do(s, &p->commands, buf_str(&line), LINE_FOREIGN, err);
    buf_free(&line);
    return ok;
}

/* The commands from number `i` to the next pause, an empty one. */
static bool run_from(Player *p, int i, Err *err)
{
    const Card *c = player_card(p);
    for (; i < c->commands.count && *c->commands.at[i].text; i++)
        if (!command_do(p->s, &p->commands, c->commands.at[i].text, LINE_FOREIGN, err))
            return at_line(p, c->commands.at[i].line, err);
    return true;
}

/* The command behind so many pauses; -1: there are not so many. */
static int behind(const Card *c, int pauses)
{
    int i = 0;
    for (; pauses; i++) {
        if (i >= c->commands.count)
            return -1;
        pauses -= !*c->commands.at[i].text;
    }
    return i;
}

bool player_waits(const Player *p)
{
    const Card *c = player_card(p);
    return c && behind(c, p->pause + 1) >= 0;
}

bool player_on(Player *p, Err *err)
{
    if (!player_waits(p)) {
        err->text[0] = 0;
        return false;
    }
    p->moves++;
    bool ok = run_from(p, behind(player_card(p), ++p->pause), err);
    p->s->back_count = 0;
    return ok;
}

bool player_enter(Player *p, int card, Err *err)
{
    REQUIRE(card >= 0 && card < p->lesson.count);
    p->card = card;
    p->pause = 0;
    p->moves++;
    const Card *c = player_card(p);
    if (!clean(p, input_of(p, c), err))
        return at_line(p, c->line, err);
    EditHistory before = edits_history_take(p->s); /* undo is about this card, not about one before it */
    edits_history_free(&before);
    if (c->show.count && !show_example(p, err))
        return at_line(p, c->show.at[0].line, err);
    if (!run_from(p, 0, err))
        return false;
    p->s->back_count = 0;
    return true;
}

bool player_through(Player *p, int card, Err *err)
{
    if (!player_enter(p, card, err))
        return false;
    while (player_waits(p))
        if (!player_on(p, err))
            return false;
    playing_end(p->s); /* what plays by itself has been played */
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

/* Does the card compare with what was before a change that still waits behind a pause? */
static bool before_its_change(const Player *p)
{
    const Card *c = player_card(p);
    if (!c || !player_waits(p))
        return false;
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            for (const char *at = c->items[i].spans[k].text; (at = strstr(at, "{{")) != NULL; at += 2) {
                const char *close = strstr(at, "}}");
                for (const char *q = at; close && q < close; q++)
                    if (strncmp(q, "a:", 2) == 0 && !isalnum((unsigned char)q[-1]))
                        return true;
            }
    return false;
}

bool player_text(const Player *p, const char *text, Buf *out, Err *err)
{
    const bool early = before_its_change(p);
    for (const char *open; (open = strstr(text, "{{")) != NULL;) {
        const char *close = strstr(open, "}}");
        char expression[256];
        if (!close || close - open - 2 >= (long)sizeof expression)
            return err_set(err, "{{ without }}, or a longer expression than there can be");
        buf_add(out, text, (size_t)(open - text));
        utf8_print(expression, sizeof expression, "%.*s", (int)(close - open - 2), open + 2);
        char *bar = strchr(expression, '|');
        int decimals = bar ? (int)strtol(bar + 1, NULL, 10) : -1;
        double x;
        if (bar)
            *bar = 0;
        if (!player_value(p, expression, &x, err))
            return err_prefix(err, "{{%s}}", expression);
        if (early)
            buf_puts(out, "\xE2\x80\xA6");
        else
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

static Answer *judge(Player *p, bool right)
{
    Answer *a = &p->answers[p->card];
    a->given = true;
    a->right = right;
    a->missed |= !right;
    a->tries++;
    return a;
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
        return err_set(err, "type a digit from 1 to %d, the number of an answer", q->count);
    Buf said = {0};
    bool ok = player_text(p, q->choices[choice].why, &said, err);
    if (ok) {
        judge(p, q->choices[choice].right)->choice = choice;
        buf_puts(why, buf_str(&said));
    }
    buf_free(&said);
    return ok;
}

/* Which known mistake leads to that number; -1: none. */
static bool known_mistake(const Player *p, const Question *q, double x, double within, int *which, Err *err)
{
    *which = -1;
    for (int i = 0; i < q->count; i++) {
        double wrong;
        if (!player_value(p, q->choices[i].text, &wrong, err))
            return false;
        if (*which < 0 && dm_abs(x - wrong) <= within)
            *which = i;
    }
    return true;
}

/* As it would be printed: of "+3", "-.6", "5.", "1E-3" and "12 %" too. */
static void as_printed(const char *typed, char *out, size_t n)
{
    size_t k = 0;
    for (char last = 0; *typed && k + 2 < n; last = *typed++) {
        bool digit = isdigit((unsigned char)last), point = *typed == '.', next = isdigit((unsigned char)typed[1]);
        if (point && next && !digit)
            out[k++] = '0';
        if (*typed != ' ' && !(point && digit && !next) && !(*typed == '+' && !k))
            out[k++] = *typed == 'E' ? 'e' : *typed;
    }
    k -= k && out[k - 1] == '%';
    out[k] = 0;
}

/* Is its one comma none between thousands? Gets the point that is meant. */
static bool comma_for_point(char *text)
{
    char *comma = strchr(text, ','), *digits = text + strcspn(text, "0123456789");
    if (!comma || strchr(comma + 1, ',') || comma <= digits)
        return false;
    size_t before = (size_t)(comma - digits), behind = strspn(comma + 1, "0123456789");
    *comma = '.';
    return behind && (*digits == '0' || before > 3 || behind != 3);
}

/* A number as a person writes it, or arithmetic of numbers. */
static bool typed_number(const Player *p, const char *typed, double *x, Err *err)
{
    char text[100], point[100];
    double half;
    as_printed(typed, text, sizeof text);
    memcpy(point, text, sizeof point);
    if (comma_for_point(point) && strspn(point, "0123456789.-") == strlen(point))
        return err_set(err, "'%.40s' has a comma for a point; type %.40s", typed, point);
    size_t n = number_printed(text, x, &half);
    bool number = (n && !text[n]) ||
                  (*text && strspn(text, "0123456789.+-*/^()") == strlen(text) && player_value(p, text, x, NULL));
    return (number && *x - *x == 0) || err_set(err, "'%.40s' is no number; type one, or arithmetic such as 3*4", typed);
}

bool player_number(Player *p, const char *typed, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_NUMBER)
        return err_set(err, "this question is not answered by a number");
    double x, right, within;
    if (!typed_number(p, typed, &x, err))
        return false;
    int mistake;
    if (!player_value(p, q->answer, &right, err) || !player_value(p, q->within, &within, err) ||
        !known_mistake(p, q, x, within, &mistake, err))
        return false;
    if (strchr(typed, '%') && dm_abs(x / 100 - right) <= within) /* of a share or in percent, as it was asked */
        x /= 100;
    bool ok = dm_abs(x - right) <= within;
    Answer *a = judge(p, ok);
    a->number = x;
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
        const Texts *hints = &p->lesson.cards[p->card].hints;
        if (strchr(typed, ','))
            buf_printf(&said, "%.40s is read as %.0f. ", typed, x);
        buf_puts(&said, x > right ? "It is less. " : "It is more. ");
        if (a->hints < hints->count)
            buf_puts(&said, "A hint (!) has the first step.");
        else if (hints->count) /* it was read, and is gone from the screen */
            told = player_text(p, hints->at[hints->count - 1].text, &said, err);
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
    double x;
    if (!player_value(p, q->answer, &x, err))
        return false;
    *done = x != 0;
    if (*done) {
        judge(p, true);
        return !q->why || player_text(p, q->why, why, err);
    }
    Buf found = {0};
    const char *text = q->not_yet ? q->not_yet : q->kind == QUESTION_PLACE ? "here it is {{here()}}." : "";
    if (player_text(p, text, &found, NULL)) /* the reader may stand where it is nothing */
        buf_puts(why, buf_str(&found));
    buf_free(&found);
    return true;
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

bool player_awaits(const Player *p)
{
    const Card *c = player_card(p);
    const Question *q = c ? c->question : NULL;
    const Answer *a = c ? &p->answers[p->card] : NULL;
    return q && !a->given && !a->skipped;
}

static const Choice *right_choice(const Question *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->choices[i].right)
            return &q->choices[i];
    return NULL;
}

/* The number that was said, the right one, and what explains it. */
static bool settle_number(const Player *p, const Question *q, const Answer *a, Buf *out, Err *err)
{
    double right, within;
    int mistake = -1;
    if (!player_value(p, q->answer, &right, err) || !player_value(p, q->within, &within, err) ||
        (a->given && !a->right && !known_mistake(p, q, a->number, within, &mistake, err)))
        return false;
    if (a->given) {
        buf_puts(out, "You said: ");
        number_put(a->number, -1, out);
        buf_puts(out, a->right ? ". Right. " : ". Not so. ");
    }
    if (mistake >= 0) { /* what is said of the answer stands behind it */
        if (!player_text(p, q->choices[mistake].why, out, err))
            return false;
        buf_putc(out, ' ');
    }
    buf_puts(out, "It is ");
    number_put(right, -1, out);
    buf_puts(out, ". ");
    return !q->why || player_text(p, q->why, out, err);
}

static bool settle_choice(const Player *p, const Question *q, const Answer *a, Buf *out, Err *err)
{
    const Choice *right = right_choice(q), *said = &q->choices[a->choice];
    if (a->given) {
        buf_printf(out, a->right ? "You said: %s. Right. " : "You said: %s. Not so. ", said->text);
        if (!player_text(p, said->why, out, err))
            return false;
        if (!a->right)
            buf_putc(out, ' ');
    }
    if (!right || (a->given && a->right))
        return true;
    buf_puts(out, "It is: ");
    if (!player_text(p, right->text, out, err))
        return false;
    buf_puts(out, ". ");
    return player_text(p, right->why, out, err);
}

bool player_prediction(const Player *p, Buf *out, Err *err)
{
    const Question *q = p->card > 0 ? p->lesson.cards[p->card - 1].question : NULL;
    const Answer *a = p->card > 0 ? &p->answers[p->card - 1] : NULL;
    if (!q || !q->predict || (!a->given && !a->skipped))
        return true;
    if (q->kind == QUESTION_NUMBER)
        return settle_number(p, q, a, out, err);
    if (q->kind != QUESTION_CHOICE)
        return true;
    return settle_choice(p, q, a, out, err);
}

bool player_answer(const Player *p, Buf *out, Err *err)
{
    const Question *q = player_card(p)->question;
    if (q && q->kind == QUESTION_NUMBER)
        return settle_number(p, q, &(Answer){0}, out, err);
    return !q || q->kind != QUESTION_CHOICE || settle_choice(p, q, &(Answer){0}, out, err);
}

bool player_owes(const Player *p)
{
    const Card *c = player_card(p);
    const Answer *a = c ? &p->answers[p->card] : NULL;
    bool kept = c && c->question && c->question->predict && p->card + 1 < p->lesson.count;
    return c && c->question && !kept && !a->told && !a->right && (a->given || a->skipped);
}

bool player_settle(Player *p, Buf *out, Err *err)
{
    const Question *q = player_card(p)->question;
    p->answers[p->card].told = true;
    if (q->kind == QUESTION_CHOICE || q->kind == QUESTION_NUMBER)
        return player_answer(p, out, err);
    buf_printf(out, "One way, done for you: `%s`. ", q->solution);
    bool ok = player_through(p, p->card, err) && command_do(p->s, &p->commands, q->solution, LINE_FOREIGN, err);
    p->s->back_count = 0; /* it is the card's screen, and nothing that was gone into */
    return ok && (!q->why || player_text(p, q->why, out, err));
}
