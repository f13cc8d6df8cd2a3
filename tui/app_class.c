/* The class on this screen: sharing what is presented, following somebody, questions and their answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/ask/quiz.h"
#include "core/session/log.h"
#include "tui/app_parts.h"
#include "tui/canvas/letters.h"

/* Every command: to those who follow us; and whoever does something on their own has left. */
static void on_entry(void *context, const LogEntry *entry)
{
    App *a = context;
    share_entry(&a->share, entry->resolved);
    a->record.due |= *entry->resolved != 0;
    if (a->follow.joined && a->follow.following && !a->follow.applying && *entry->resolved)
        follow_leave(&a->follow);
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
    follow_close(&a->follow, &a->s);
    record_close(&a->record);
}

void app_record(App *a)
{
    Err err = {{0}};
    if (a->record.path && a->record.due && !a->follow.applying && !record_step(&a->record, &a->s, &err))
        app_say(a, true, err.text);
}

static bool record(App *a, const char *path, Err *err)
{
    if (strcmp(path, "off") == 0) {
        if (!a->record.path)
            return err_set(err, "nothing is being recorded");
        session_say(&a->s, "%d steps in %.300s; `vitrine check` evaluates it, `vitrine present` shows it.",
                    a->record.count, a->record.path);
        record_close(&a->record);
        return true;
    }
    if (!record_open(&a->record, &a->s, path, err)) {
        record_close(&a->record);
        return false;
    }
    session_say(&a->s, "Every step is written to %.300s; record off ends it.", path);
    return true;
}

int app_class_poll(void *context, struct pollfd *out, int most)
{
    App *a = context;
    int n = share_poll(&a->share, out, most);
    return n + follow_poll(&a->follow, out + n, most - n);
}

/* The lesson that is presented, or open beside the screen. */
static ShareLesson lesson_now(const App *a)
{
    const Deck *d = &a->presenter.deck;
    if (d->open && d->lesson && d->at >= 0)
        return (ShareLesson){&d->player, 0, deck_is_title(d, d->at) ? -1 : d->player.card};
    if (a->desk.open)
        return (ShareLesson){&a->desk.player, a->desk.seed, a->desk.player.card};
    return (ShareLesson){.card = -1};
}

bool app_class_step(App *a)
{
    int64_t now = clock_ns();
    a->share.lesson = lesson_now(a);
    share_step(&a->share, now);
    bool changed = a->share.changed;
    a->share.changed = false;
    if (*a->share.news)
        app_say(a, false, a->share.news);
    a->share.news[0] = 0;
    if (a->share.drive.len) { /* what the notes terminal asked for */
        Buf lines = a->share.drive;
        a->share.drive = (Buf){0};
        for (char *p = lines.data; *p;) {
            size_t n = strcspn(p, "\n");
            p[n] = 0;
            if (!a->presenter.view.asks)
                app_present_line(a, p);
            p += n + 1;
        }
        buf_free(&lines);
        changed = true;
    }
    if (follow_step(&a->follow, &a->s, now)) {
        a->s.changes++;
        if (a->follow.following && (*a->follow.news || !a->follow.goes_on)) /* what stands below is who presents' */
            app_say(a, false, a->follow.news);
        a->follow.news[0] = 0;
        changed = true;
    }
    return changed;
}

bool app_class_open(const App *a)
{
    return share_is_open(&a->share) || *a->share.stage.path || a->follow.joined;
}

/* ---- commands ---- */

static bool share(App *a, const char *text, Err *err)
{
    char name[64] = "", group[64] = "";
    if (strcmp(text, "off") == 0) {
        share_close(&a->share);
        session_say(&a->s, "No longer shared.");
        return true;
    }
    sscanf(text, "%63[^\t]", name);
    const char *tab = strchr(text, '\t');
    utf8_print(group, sizeof group, "%.60s", tab ? tab + 1 : "");
    if (*text == '\t')
        name[0] = 0;
    if (!share_open(&a->share, name, *group ? group : NULL, err))
        return false;
    a->shows_join = true;
    return true;
}

static bool join(App *a, const char *name, Err *err)
{
    Follow *f = &a->follow;
    if (strcmp(name, "off") == 0) {
        follow_close(f, &a->s);
        session_say(&a->s, "You have left the class; join NAME follows again.");
        return true;
    }
    if (*name) {
        if (share_is_open(&a->share))
            return err_set(err, "you share yourself; :share off first");
        if (a->desk.open)
            desk_close(&a->desk, &a->s);
        follow_close(f, &a->s);
        return follow_open(f, name, NULL, err);
    }
    if (!f->joined)
        return err_set(err, "join whom? join NAME, as who presents calls it");
    if (!follow_live(f)) {
        follow_close(f, &a->s);
        session_say(&a->s, "You have left the class; join NAME follows again.");
    } else if (f->following)
        follow_leave(f);
    else {
        if (a->desk.open) /* a lesson of one's own ends where the presenter's begins */
            desk_close(&a->desk, &a->s);
        follow_rejoin(f);
    }
    return true;
}

/* A question made from the trace. */
static bool ask_made(App *a, const char *number, Err *err)
{
    Quiz made;
    const char *answer[ROLLCALL_ANSWERS];
    char *end;
    unsigned long seed = strtoul(number, &end, 10);
    if (end == number || *end || !seed || seed > ROLLCALL_MADE)
        return err_set(err, "seed=N, a number from 1 to %d", ROLLCALL_MADE);
    if (!quiz_make(&a->s, (uint32_t)seed, &made, err))
        return false;
    for (int i = 0; i < made.count; i++)
        answer[i] = made.answer[i];
    if (!rollcall_ask(&a->question, made.text, answer, made.count, (uint32_t)seed, err))
        return false;
    a->question.right = made.right;
    return true;
}

/* The card's own. */
static bool ask_card(App *a, Err *err)
{
    const Question *q = deck_question(&a->presenter.deck);
    const Player *p = &a->presenter.deck.player;
    const char *answer[ROLLCALL_ANSWERS];
    Buf live[ROLLCALL_ANSWERS + 1] = {{0}}; /* numbers in it are evaluated */
    int count = 0;
    if (!q || q->kind != QUESTION_CHOICE)
        return err_set(err, "ask what? ask \"Which head is local?\" 0 1 2 3");
    bool ok = player_text(p, q->text, &live[ROLLCALL_ANSWERS], err);
    for (int i = 0; ok && i < q->count && i < ROLLCALL_ANSWERS; i++) {
        ok = player_text(p, q->choices[i].text, &live[i], err);
        answer[count++] = buf_str(&live[i]);
    }
    ok = ok && rollcall_ask(&a->question, buf_str(&live[ROLLCALL_ANSWERS]), answer, count, 0, err);
    for (int i = 0; ok && i < count; i++)
        a->question.right = q->choices[i].right ? i : a->question.right;
    for (int i = 0; i <= ROLLCALL_ANSWERS; i++)
        buf_free(&live[i]);
    return ok;
}

/* Words typed: perhaps a tab, what settles it and a tab (it is tried now, and computed when the question is closed);
 * then text and answers, a tab between them. */
static bool ask_words(App *a, const char *text, Err *err)
{
    const char *answer[ROLLCALL_ANSWERS + 1];
    char words[1024];
    int count = 0;
    SettleBy by = SETTLE_NOT;
    const char *key = "";
    snprintf(words, sizeof words, "%s", text);
    char *p = words;
    if (*p == '\t') {
        char *equals = strchr(++p, '=');
        *equals = 0;
        by = settle_word(p);
        key = p = equals + 1;
        p += strcspn(p, "\t");
        *p++ = 0;
    }
    char *question = p;
    p += strcspn(p, "\t");
    while (*p && count <= ROLLCALL_ANSWERS) {
        *p++ = 0;
        answer[count++] = p;
        p += strcspn(p, "\t");
    }
    Rollcall new = {.right = -1, .mine = -1};
    if (strlen(key) >= sizeof new.key)
        return err_set(err, "an expression has at most %zu characters", sizeof new.key - 1);
    if (!rollcall_ask(&new, question, answer, count, 0, err))
        return false;
    new.by = by;
    snprintf(new.key, sizeof new.key, "%s", key);
    Rollcall tried = new;
    if (!rollcall_settle(&tried, &a->s, err))
        return false;
    a->question = new;
    return true;
}

static bool ask(App *a, const char *text, Err *err)
{
    bool ok = strncmp(text, "seed=", 5) == 0 ? ask_made(a, text + 5, err)
              : *text                        ? ask_words(a, text, err)
                                             : ask_card(a, err);
    if (!ok)
        return false;
    share_question(&a->share);
    return true;
}

static bool votes(App *a, const char *text, Err *err)
{
    Rollcall *q = &a->question;
    if (!q->open)
        return err_set(err, "no question is open; ask \"…\" opens one");
    int count[ROLLCALL_ANSWERS] = {0};
    for (int i = 0; i < q->count; i++) {
        char *end;
        long n = strtol(text, &end, 10);
        if (end == text || n < 0 || n > ROLLCALL_VOTES)
            return err_set(err, "%d numbers, one for each answer", q->count);
        count[i] = (int)n;
        text = end + strspn(end, " \t");
    }
    if (*text)
        return err_set(err, "%d numbers, one for each answer", q->count);
    memcpy(q->raised, count, sizeof count);
    return true;
}

bool app_reveal(App *a)
{
    Rollcall *q = &a->question;
    if (!q->open)
        return false;
    if (q->closed) {
        *q = (Rollcall){.right = -1, .mine = -1};
        share_question(&a->share);
        return false; /* and on */
    }
    Err err = {{0}};
    share_count(&a->share);
    if (!rollcall_settle(q, &a->s, &err)) /* it could be had when it was asked: something else is on show now */
        app_say(a, true, err.text);
    q->closed = true;
    share_question(&a->share);
    return true;
}

bool app_class_act(App *a, UiAct what, const char *text, Err *err)
{
    switch (what) {
    case UI_SHARE: return share(a, text, err);
    case UI_JOIN: return join(a, text, err);
    case UI_ASK: return ask(a, text, err);
    case UI_VOTES: return votes(a, text, err);
    case UI_RECORD: return record(a, text, err);
    case UI_REVEAL: return app_reveal(a) || err_set(err, "no question is open");
    default: return err_set(err, "not here");
    }
}

/* A digit is an answer while the presenter's question is open. */
bool app_class_key(App *a, const char *key)
{
    Follow *f = &a->follow;
    Err err;
    if (f->joined && f->asks && (strcmp(key, "y") == 0 || strcmp(key, "n") == 0)) {
        if (*key == 'y')
            follow_accept(f);
        else
            follow_close(f, &a->s);
        return true;
    }
    if (!f->joined || !f->question.open || f->question.closed || key[1] || key[0] < '0' || key[0] > '9' ||
        rollcall_choice(&f->question, key[0] - '0') < 0)
        return false;
    if (!follow_answer(f, &a->s, key[0] - '0', &err))
        app_say(a, true, err.text);
    return true;
}

void app_draw_question(App *a)
{
    Canvas *c = &a->canvas;
    Follow *f = &a->follow;
    bool guest = f->joined && f->question.open;
    const Rollcall *q = guest ? &f->question : &a->question;
    char below[128] = "";
    if (guest && *f->receipt)
        snprintf(below, sizeof below, "receipt %s", f->receipt);
    else if (guest && !q->closed)
        snprintf(below, sizeof below,
                 q->mine < 0 ? "type the number of your answer" : "the receipt comes when the pass is complete");
    int rows = rollcall_rows(q, below);
    if (!rows)
        return;
    int w = c->w < 90 ? c->w : 90, h = rows < c->h ? rows : c->h;
    rollcall_draw(q, c, (Rect){c->h - h > 4 ? c->h - h - 4 : 0, (c->w - w) / 2, h, w}, below);
}

/* How to join, before anything else and in large letters. */
void app_draw_join(App *a)
{
    Canvas *c = &a->canvas;
    char line[80], text[400], who[80];
    snprintf(line, sizeof line, "vitrine join %s", a->share.name);
    snprintf(text, sizeof text,
             "On this machine everybody%s follows with %s; they see that it is you, %s. Any key goes on; :share off "
             "ends it.",
             a->share.room.mode & 05 ? "" : " of the group", line, classroom_user(geteuid(), who));
    canvas_clear(c);
    Rect r = {0, 0, c->h, c->w}, below = rect_cut(&r, 'b', c->h > 8 ? 4 : 2);
    if (!letters_fill(c, rect_inset(r, 1), STYLE_STRONG, line))
        canvas_wrap(c, rect_inset(r, 1), STYLE_STRONG, line);
    canvas_wrap(c, (Rect){below.y, 1, below.h, c->w - 2}, STYLE_TEXT, text);
}
