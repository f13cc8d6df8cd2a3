/* The class on this screen: sharing what is presented, following somebody, questions and their answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/machine.h"
#include "core/base/utf8.h"
#include "core/session/state.h"
#include "tui/app_parts.h"
#include "tui/canvas/letters.h"

enum { ABOVE = 4 }; /* rows below a question on the ordinary screen: what is said, and the keys */

/* Every command goes to those who follow us; who follows somebody and does something of their own has left. */
static void on_entry(void *context, const char *lines)
{
    App *a = context;
    if (*a->share.room.path)
        buf_puts(&a->share.entries, lines);
    a->record.due |= *lines != 0;
    a->follow.following &= !*lines; /* the presenter's are not logged here */
}

void app_class_begin(App *a)
{
    a->share.s = &a->s;
    a->share.presenter = &a->presenter;
    a->share.question = &a->question;
    a->question.mine = -1;
    log_follow(&a->s, on_entry, a);
}

void app_class_end(App *a)
{
    share_close(&a->share);
    prompter_close(&a->prompter);
    follow_close(&a->follow, &a->s);
    record_close(&a->record);
}

int app_class_poll(void *context, struct pollfd *out, int most)
{
    App *a = context;
    int n = *a->prompter.room.path && most > 0;
    if (n)
        out[0] = (struct pollfd){.fd = a->prompter.keys, .events = POLLIN};
    return n + reader_poll(&a->follow.room, out + n, most - n);
}

static void tell_news(App *a, char *news)
{
    if (*news)
        app_say(a, false, news);
    *news = '\0';
}

bool app_class_step(App *a)
{
    int64_t now = clock_ns();
    char key[PROMPTER_KEY];
    const Deck *d = &a->presenter.deck;
    bool deck = d->open && d->lesson && d->at >= 0, desk = !deck && a->desk.open;
    a->share.player = deck && !deck_is_title(d, d->at) ? &d->player : desk ? &a->desk.player : NULL;
    a->share.lesson_seed = desk ? a->desk.seed : 0;
    bool changed = share_step(&a->share, now);
    tell_news(a, a->share.news);
    prompter_step(&a->prompter, &a->s, &a->presenter, &a->question);
    tell_news(a, a->prompter.news);
    for (; prompter_key(&a->prompter, key); changed = true)
        a->count = app_presents(a, key) ? a->count : 0;
    if (!follow_step(&a->follow, &a->s, now))
        return changed;
    a->s.changes++;
    app_say(a, false, ""); /* what stands below is who presents' */
    return true;
}

bool app_class_open(const App *a)
{
    return *a->share.room.path || *a->prompter.room.path || a->follow.joined;
}

/* ---- commands ---- */

bool app_share(App *a, const char *name, Err *err)
{
    if (strcmp(name, "off") == 0) {
        share_close(&a->share);
        session_say(&a->s, "No longer shared.");
        return true;
    }
    a->shows_join = share_open(&a->share, name, args_named(a->ui.args, "group"), err);
    return a->shows_join;
}

bool app_join(App *a, const char *name, Err *err)
{
    return *a->share.room.path ? err_set(err, "you share yourself; :share off first")
                               : follow_join(&a->follow, &a->s, &a->desk, name, NULL, err);
}

bool app_ask(App *a, const Args *words, Err *err)
{
    Rollcall new = {.open = true, .mine = -1};
    Deck *d = &a->presenter.deck;
    bool said = words && (words->count || args_named(words, "seed"));
    bool ok = said ? quiz_words(&new.quiz, &a->s, words, err) : deck_quiz(d, &new.quiz, err) && deck_asked(d, err);
    if (ok)
        a->question = new;
    return ok;
}

bool app_votes(App *a, Err *err)
{
    Rollcall *q = &a->question;
    const Args *words = a->ui.args;
    int count[QUIZ_ANSWERS] = {0};
    bool relative, ok = words->count == q->quiz.count;
    if (!q->open)
        return err_set(err, "no question is open; ask \"…\" opens one");
    for (int i = 0; ok && i < q->quiz.count; i++)
        ok = args_number(words->word[i], &count[i], &relative) && count[i] >= 0;
    if (!ok)
        return err_set(err, "%d numbers, one for each answer", q->quiz.count);
    for (int i = 0; i < q->quiz.count; i++)
        q->votes[i] += count[i] - q->raised[i];
    memcpy(q->raised, count, sizeof count);
    return true;
}

bool app_reveal(App *a)
{
    Rollcall *q = &a->question;
    if (!q->open)
        return false;
    if (q->closed) {
        *q = (Rollcall){.mine = -1};
        return false; /* and on */
    }
    Err err = {{0}};
    share_count(&a->share);
    if (!quiz_settle(&q->quiz, &a->s, &err)) /* it could be had when it was asked: something else is on show now */
        app_say(a, true, err.text);
    q->closed = true;
    return true;
}

/* A digit is an answer while the presenter's question is open; who asked goes on with it before anything else. */
bool app_class_key(App *a, const char *key)
{
    Follow *f = &a->follow;
    Err err = {{0}};
    if (follow_answers(f, &a->s, key)) {
        app_show_said(a);
        return true;
    }
    if (!a->presenter.view.on && strcmp(key, "Space") == 0 && app_reveal(a))
        return true;
    bool open = f->question.open && !f->question.closed;
    if (!f->joined || (!open && !f->following) || key[1] || key[0] < '0' || key[0] > '9')
        return false; /* a digit that is no answer is said to be none, and counts for no other key */
    if (!open)
        app_say(a, false, "No question is open: a digit answers one. f leaves; on your own it counts for a key.");
    else
        app_say(a, !follow_vote(f, &a->s, key[0] - '0', &err), err.text);
    return true;
}

static const char GOES_ON[] = "Space, or what else goes on: the answers. :votes adds hands.";

int app_question_rows(const App *a)
{
    const Rollcall *q = &a->question;
    bool own = a->presenter.view.on && !a->presenter.view.blank && !a->follow.question.open;
    int rows = own ? rollcall_rows(q, &a->canvas, q->closed ? "" : GOES_ON) : 0;
    return rows <= a->canvas.h * 2 / 3 ? rows : 0; /* a higher one lies over the screen */
}

void app_draw_question(App *a)
{
    const Follow *f = &a->follow;
    bool guest = f->joined && f->question.open;
    const Rollcall *q = guest ? &f->question : &a->question;
    Buf below = {0};
    if (guest && q->mine >= 0)
        follow_receipt(f, &below);
    else if (!guest && !q->closed)
        buf_puts(&below, GOES_ON);
    rollcall_draw(q, &a->canvas, buf_str(&below), app_question_rows(a) ? 0 : ABOVE);
    buf_free(&below);
}

/* How to join, before anything else and in large letters. */
void app_draw_join(App *a)
{
    Canvas *c = &a->canvas;
    const char *base = getenv("VITRINE_SHARE");
    char line[80], text[1000], who[80];
    snprintf(line, sizeof line, "vitrine join %s", a->share.name);
    utf8_print(text, sizeof text,
               "On this machine everybody%s follows with %s%s%.500s; they see that it is you, %s. Any key goes on; "
               ":share off ends it.",
               a->share.room.mode & 05 ? "" : " of the group", line,
               base && *base ? ", where VITRINE_SHARE is set as it is here, to " : "", base ? base : "",
               machine_user(geteuid(), who));
    canvas_clear(c);
    Rect r = {0, 0, c->h, c->w}, below = rect_cut(&r, 'b', c->h > 8 ? 4 : 2);
    if (!letters_fill(c, rect_inset(r, 1), STYLE_STRONG, line))
        canvas_wrap(c, rect_inset(r, 1), STYLE_STRONG, line);
    canvas_wrap(c, (Rect){below.y, 1, below.h, c->w - 2}, STYLE_TEXT, text);
}
