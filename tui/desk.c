#include "tui/desk_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "tui/app.h"
#include "tui/progress.h"

/* ---- opening and closing ---- */

void desk_clear_said(Desk *d)
{
    d->term = -1;
    buf_clear(&d->said);
    d->hint = 0;
    d->right = d->wrong = d->ended = false;
}

/* What the reader has tried: for a place the cell under the cursor, for a change the edits. */
static void put_try(const Desk *d, Buf *out)
{
    const Session *s = d->player.s;
    const Question *q = player_card(&d->player)->question;
    if (q && q->kind == QUESTION_PLACE)
        address_put_focus(s, out);
    for (int i = 0; q && q->kind == QUESTION_CHANGE && i < s->edits.count; i++)
        buf_printf(out, "%s\n", s->edits.line[i]);
}

void desk_untried(Desk *d)
{
    buf_clear(&d->tried);
    put_try(d, &d->tried);
}

/* Says again what the card has already told. */
static bool say_again(Desk *d)
{
    Player *p = &d->player;
    Answer *a = &p->answers[p->card];
    const Question *q = player_card(p)->question;
    if (!q || q->predict)
        return false;
    if (q->kind == QUESTION_PLACE || q->kind == QUESTION_CHANGE)
        return a->told = false;
    if (a->told && !a->right) {
        player_answer(p, &d->said, NULL);
        return false;
    }
    return a->given && /* a number is not kept, if it was right */
           (q->kind == QUESTION_CHOICE ? player_choose(p, a->choice, &d->said, NULL)
                                       : a->right && player_answer(p, &d->said, NULL));
}

/* What was said to an answer, behind whether that was right, in words: colours alone are not seen by all. */
static void desk_judge(Desk *d)
{
    const Answer *a = &d->player.answers[d->player.card];
    const Question *q = player_card(&d->player)->question;
    d->right = a->right && !q->predict;
    d->wrong = !a->right && !q->predict;
    Buf said = {0};
    buf_printf(&said, "%s%s", a->right ? "Right. " : "Not so. ", buf_str(&d->said));
    buf_free(&d->said);
    d->said = said;
}

bool desk_go(Desk *d, int card)
{
    Err err = {{0}};
    desk_clear_said(d);
    bool ok = player_enter(&d->player, card, &err);
    if (!ok) {
        buf_puts(&d->said, err.text);
        d->wrong = true;
    }
    *d->typed = 0;
    if (say_again(d))
        desk_judge(d);
    desk_untried(d);
    d->front = true;
    d->first = 0;
    return ok;
}

void desk_keep_progress(const Desk *d)
{
    LessonProgress p;
    if (!d->bundled)
        return;
    progress_of(&d->player, d->player.lesson.file, d->seed, &p);
    progress_save(&p);
}

static bool open_one(Desk *d, Session *s, const char *which, Err *err)
{
    LessonFile file;
    Lesson lesson = {0};
    LessonProgress progress = {.cards = 0};
    bool bundled = lesson_named(which, &file), ok;
    if (!bundled && !file_exists(which))
        return err_set(err, "there is no lesson '%.40s'; `lessons` lists them", which);
    if (bundled) {
        if (d->open)
            desk_keep_progress(d);
        progress = progress_load(file.name);
        if (progress.cards && progress.card == progress.cards - 1) /* once more, with other questions */
            progress = (LessonProgress){.seed = progress.seed + 1};
        ok = lesson_parse(&lesson, file.name, file.text, file.size, progress.seed, err);
    } else {
        const char *path = permit_read(s, which, err);
        ok = path && lesson_read(&lesson, path, 0, err);
    }
    if (!ok) {
        lesson_free(&lesson);
        return false;
    }
    if (d->open)
        desk_close(d, s);
    aside_put(&d->own, s);
    if (*s->model_path && !session_open_model(s, NULL, err)) { /* lessons speak of the bundled model */
        lesson_free(&lesson);
        aside_drop(&d->own, s);
        return false;
    }
    if (!player_open(&d->player, s, &lesson, err)) {
        player_close(&d->player);
        aside_back(&d->own, s);
        return false;
    }
    d->open = d->player.opens = true;
    d->bundled = bundled;
    d->seed = progress.seed;
    progress_put(&progress, &d->player);
    desk_go(d, progress.card < d->player.lesson.count ? progress.card : 0);
    if (bundled)
        state_save_file("lesson", file.name);
    return true;
}

/* The card of the lesson two before this one whose question comes back; false: none does. */
static bool comes_back(const char *which, LessonFile *of, int *card)
{
    LessonFile file;
    Lesson l;
    bool found = false;
    if (!lesson_named(which, &file) || progress_load(file.name).cards || !lesson_by_number(file.number - 2, of))
        return false;
    LessonProgress p = progress_load(of->name);
    if (lesson_parse(&l, of->name, of->text, of->size, p.seed, NULL))
        for (int i = 0; i < l.count && i < p.cards && !found; i++) {
            found = l.cards[i].again && progress_take_missed(&p, i);
            *card = i;
        }
    lesson_free(&l);
    return found;
}

bool desk_open(Desk *d, Session *s, const char *which, Err *err)
{
    LessonFile of, file;
    int card;
    char from[sizeof d->from] = "";
    if (d->open)
        desk_keep_progress(d);
    if (d->open && d->bundled && d->player.lesson.number >= 0)
        snprintf(from, sizeof from, "%s", d->player.lesson.file);
    bool back = comes_back(which, &of, &card);
    if (!open_one(d, s, back ? of.name : which, err))
        return false;
    if (d->player.lesson.number < 0)
        snprintf(d->from, sizeof d->from, "%s", from);
    if (!back)
        return true;
    lesson_named(which, &file);
    state_save_file("lesson", file.name); /* the one that comes, when it is left here */
    LessonProgress p = progress_load(of.name);
    if (progress_take_missed(&p, card)) /* once */
        progress_save(&p);
    d->bundled = d->player.opens = false;
    d->again = card;
    d->player.answers[card] = (Answer){0};
    d->player.lesson.cards[card].question->predict = false; /* explained at once: what settles it was seen */
    desk_go(d, card);
    snprintf(d->then, sizeof d->then, "%s", file.name);
    buf_printf(&d->said, "Once more, from lesson %d: this was answered wrong there. Then lesson %d begins.", of.number,
               file.number);
    return true;
}

bool desk_restart(Desk *d)
{
    return *d->then || desk_go(d, 0);
}

void desk_open_next(Desk *d, const char *which)
{
    char name[sizeof d->then];
    Err err = {{0}};
    snprintf(name, sizeof name, "%s", which);
    if (desk_open(d, d->player.s, name, &err))
        return;
    desk_clear_said(d);
    buf_puts(&d->said, err.text);
    d->wrong = true;
}

void desk_close(Desk *d, Session *s)
{
    if (!d->open)
        return;
    desk_keep_progress(d);
    player_close(&d->player);
    d->open = false; /* reading one's own model back may draw how far it is */
    aside_back(&d->own, s);
    buf_free(&d->said);
    buf_free(&d->tried);
    *d = (Desk){0};
}

/* ---- answers ---- */

/* was: the answer before this one. A question that was answered right stays so, whatever is tried behind it. */
static void graded(Desk *d, Answer was)
{
    d->first = INT_MAX; /* what is said stands below the last page */
    const Question *q = player_card(&d->player)->question;
    Answer *a = &d->player.answers[d->player.card];
    desk_judge(d);
    if (was.right && !a->right && !q->predict) {
        *a = was;
        buf_puts(&d->said, " Your right answer counts.");
    }
    if (q->predict) { /* kept; the next card says what came, and why */
        buf_clear(&d->said);
        buf_puts(&d->said, "Kept. Space: see what comes.");
    }
    desk_keep_progress(d);
}

bool desk_answer(Desk *d, const char *typed, Err *err)
{
    const Card *c = d->open ? player_card(&d->player) : NULL;
    if (!c || !c->question)
        return err_set(err, d->open ? "this card asks nothing; Space goes on" : "no lesson is open; t opens one");
    desk_clear_said(d);
    *d->typed = 0;
    const Answer was = d->player.answers[d->player.card];
    char *end;
    long choice = strtol(typed, &end, 10);
    bool ok;
    if (c->question->kind == QUESTION_CHOICE)
        ok = end != typed && !*end ? player_choose(&d->player, (int)choice - 1, &d->said, err)
                                   : player_choose(&d->player, -1, &d->said, err);
    else {
        ok = player_number(&d->player, typed, &d->said, err);
        if (c->question->kind == QUESTION_NUMBER && !(ok && d->player.answers[d->player.card].right))
            utf8_print(d->typed, sizeof d->typed, "%s", typed);
    }
    if (ok)
        graded(d, was);
    return ok;
}

bool desk_hint(Desk *d, Err *err)
{
    if (!d->open)
        return err_set(err, "no lesson is open; t opens one");
    desk_clear_said(d);
    buf_puts(&d->said, "Hint: ");
    d->first = INT_MAX;
    if (player_hint(&d->player, &d->said, err)) {
        d->hint = d->said.len;
        return true;
    }
    desk_clear_said(d);
    return false;
}

/* Below the hint, if one was asked for, in place of what was said of the try before. */
static void say_not_yet(Desk *d, const char *found)
{
    Buf said = {0};
    size_t hint = d->hint;
    buf_add(&said, buf_str(&d->said), hint);
    buf_printf(&said, "%sNot yet%s%s", hint ? " " : "", *found ? ": " : ".", found);
    desk_clear_said(d);
    buf_free(&d->said);
    d->said = said;
    d->hint = hint;
    d->wrong = true;
    d->first = INT_MAX;
}

/* The same place in a model, of whichever block. */
static bool same_site(const char *a, const char *b)
{
    static const char DIGITS[] = "0123456789";
    do {
        a += strspn(a, DIGITS);
        b += strspn(b, DIGITS);
    } while (*a == *b && *a && ++a && ++b);
    return *a == *b;
}

/* Is the reader where the task is to be tried, by the node that it names or that its solution goes to? */
static bool tries_here(const Player *p, const Question *q)
{
    char name[SESSION_PATH];
    Address at;
    const char *on = strstr(q->answer, "on("), *solution = q->solution ? q->solution : "";
    if (on)
        utf8_print(name, sizeof name, "%.*s", (int)strcspn(on + 3, ")"), on + 3);
    else if (strncmp(solution, "goto ", 5) == 0)
        utf8_print(name, sizeof name, "%.*s", (int)strcspn(solution + 5, "[;"), solution + 5);
    else
        return true;
    return q->kind != QUESTION_PLACE || !address_parse(p->s, session_graph(p->s, SIDE_B), name, &at, NULL) ||
           !at.is_node || same_site(at.path, p->s->place.path);
}

bool desk_done(Desk *d)
{
    const Card *c = d->open ? player_card(&d->player) : NULL;
    bool done = false, new = false,
         act = c && c->question && (c->question->kind == QUESTION_PLACE || c->question->kind == QUESTION_CHANGE);
    Buf why = {0}, try = {0};
    if (act && !d->player.answers[d->player.card].right && !d->player.answers[d->player.card].told &&
        player_done(&d->player, &done, &why, NULL)) {
        put_try(d, &try);
        new = done || (strcmp(buf_str(&try), buf_str(&d->tried)) != 0 && tries_here(&d->player, c->question));
        desk_untried(d);
    }
    if (new &&done) {
        desk_clear_said(d);
        buf_printf(&d->said, "Right. Done. %s", buf_str(&why));
        d->right = d->front = true;
        d->first = INT_MAX;
        desk_keep_progress(d);
    } else if (new)
        say_not_yet(d, buf_str(&why));
    buf_free(&why);
    buf_free(&try);
    return new;
}
