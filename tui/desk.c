#include "tui/desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/utf8.h"
#include "core/session/ask/ask.h"
#include "core/session/playing.h"
#include "core/session/state.h"
#include "tui/app.h"
#include "tui/progress.h"

enum { BESIDE_WIDTH = 100, BESIDE_HEIGHT = 30, TERM_NS = 700000000 };

/* ---- opening and closing ---- */

/* What the reader had, and how it comes back: the whole of it, or nothing. */
static void keep_own(Desk *d, const Session *s)
{
    Buf text = {0};
    session_write(s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &text);
    d->kept = xstrdup(buf_str(&text));
    buf_free(&text);
}

static void bring_back(Desk *d, Session *s)
{
    Commands commands = session_command_set();
    Err err;
    if (d->kept && !session_read(s, &commands, d->kept, COMMAND_EDIT | COMMAND_FILE, &err)) /* the reader's own lines */
        session_say(s, "%s", err.text);
    commands_free(&commands);
}

static void clear_said(Desk *d)
{
    buf_clear(&d->said);
    d->right = d->wrong = false;
}

static bool go_to(Desk *d, int card)
{
    Err err = {{0}};
    clear_said(d);
    bool ok = player_enter(&d->player, card, &err);
    if (!ok) {
        buf_puts(&d->said, err.text);
        d->wrong = true;
    }
    const Answer *a = &d->player.answers[card];
    const Question *q = d->player.lesson.cards[card].question;
    if (a->given && q && q->kind == QUESTION_CHOICE && !q->predict)
        player_choose(&d->player, a->choice, &d->said, NULL);
    d->front = true;
    return ok;
}

static void keep_progress(const Desk *d)
{
    LessonProgress p;
    progress_of(&d->player, d->name, d->seed, &p);
    progress_save(&p);
}

bool desk_open(Desk *d, Session *s, const char *which, Err *err)
{
    LessonFile file;
    Lesson lesson;
    if (!lesson_named(which, &file))
        return err_set(err, "there is no lesson '%.40s'; `lessons` lists them", which);
    if (d->open)
        desk_close(d, s);
    LessonProgress progress = progress_load(file.name);
    bool finished = progress.cards && progress.card == progress.cards - 1;
    if (finished) { /* once more, with other questions */
        progress = (LessonProgress){.seed = progress.seed + 1};
    }
    if (!lesson_parse(&lesson, file.name, file.text, file.size, progress.seed, err)) {
        lesson_free(&lesson);
        return false;
    }
    keep_own(d, s);
    if (*s->model_path && !session_open_model(s, NULL, err)) { /* lessons speak of the bundled model */
        lesson_free(&lesson);
        free(d->kept);
        d->kept = NULL;
        return false;
    }
    if (!player_open(&d->player, s, &lesson, err)) {
        player_close(&d->player);
        bring_back(d, s);
        return false;
    }
    d->open = true;
    d->seed = progress.seed;
    snprintf(d->name, sizeof d->name, "%s", file.name);
    progress_put(&progress, &d->player);
    go_to(d, progress.card < d->player.lesson.count ? progress.card : 0);
    state_save_file("lesson", d->name);
    return true;
}

void desk_close(Desk *d, Session *s)
{
    if (!d->open)
        return;
    keep_progress(d);
    player_close(&d->player);
    bring_back(d, s);
    free(d->kept);
    buf_free(&d->said);
    *d = (Desk){0};
}

/* ---- answers ---- */

static void graded(Desk *d)
{
    const Answer *a = &d->player.answers[d->player.card];
    const Question *q = player_card(&d->player)->question;
    d->right = a->right && !q->predict;
    d->wrong = !a->right && !q->predict;
    if (q->predict) { /* kept; the next card shows both */
        buf_clear(&d->said);
        buf_puts(&d->said, "Kept. Space: see what comes.");
    }
    keep_progress(d);
}

bool desk_answer(Desk *d, const char *typed, Err *err)
{
    const Card *c = d->open ? player_card(&d->player) : NULL;
    if (!c || !c->question)
        return err_set(err, d->open ? "this card asks nothing; Space goes on" : "no lesson is open; t opens one");
    clear_said(d);
    char *end;
    long choice = strtol(typed, &end, 10);
    bool ok;
    if (c->question->kind == QUESTION_CHOICE)
        ok = end != typed && !*end ? player_choose(&d->player, (int)choice - 1, &d->said, err)
                                   : err_set(err, "type the number of an answer, 1 to %d", c->question->count);
    else
        ok = player_number(&d->player, typed, &d->said, err);
    if (ok)
        graded(d);
    return ok;
}

bool desk_hint(Desk *d, Err *err)
{
    if (!d->open)
        return err_set(err, "no lesson is open; t opens one");
    clear_said(d);
    buf_puts(&d->said, "Hint: ");
    if (player_hint(&d->player, &d->said, err))
        return true;
    clear_said(d);
    return false;
}

void desk_done(Desk *d)
{
    const Card *c = d->open ? player_card(&d->player) : NULL;
    bool done = false,
         act = c && c->question && (c->question->kind == QUESTION_PLACE || c->question->kind == QUESTION_CHANGE);
    Buf why = {0};
    if (act && !d->player.answers[d->player.card].right && player_done(&d->player, &done, &why, NULL) && done) {
        clear_said(d);
        buf_printf(&d->said, "Done. %s", buf_str(&why));
        d->right = d->front = true;
        keep_progress(d);
    }
    buf_free(&why);
}

/* ---- keys ---- */

static bool beside(int h, int w)
{
    return w >= BESIDE_WIDTH && h >= BESIDE_HEIGHT;
}

/* The card has something to show: a command, or an example. */
static bool has_screen(const Desk *d)
{
    const Card *c = player_card(&d->player);
    return c->commands.count || c->show.count || c->picture.count;
}

static bool turn(Desk *d, int by)
{
    int card = d->player.card + by;
    if (card < 0 || card >= d->player.lesson.count) {
        clear_said(d);
        buf_puts(&d->said, card < 0 ? "This is the first card. Space goes on; q leaves the lesson."
                                    : "That was the last card. t lists the lessons; q goes back to where you were.");
        d->front = true;
        return true;
    }
    go_to(d, card);
    keep_progress(d);
    return true;
}

/* Past the card's next pause. */
static bool go_on(Desk *d)
{
    Err err = {{0}};
    clear_said(d);
    if (!player_on(&d->player, &err)) {
        buf_puts(&d->said, err.text);
        d->wrong = d->front = true;
    }
    return true;
}

bool desk_tick(Desk *d, Session *s, int64_t now, int64_t *wait)
{
    *wait = -1;
    if (!s->look.worked.playing) {
        d->next_term = 0;
        return false;
    }
    if (!d->next_term)
        d->next_term = now + PLAYING_NS;
    bool due = now >= d->next_term;
    if (due) {
        d->next_term = now + PLAYING_NS;
        playing_tick(s);
    }
    *wait = s->look.worked.playing ? d->next_term - now : -1;
    return due;
}

static bool answer_key(Desk *d, const char *key, Buf *command)
{
    const Question *q = player_card(&d->player)->question;
    bool digit = !key[1] && key[0] >= '0' && key[0] <= '9';
    if (!q || !(digit || (q->kind == QUESTION_NUMBER && strcmp(key, "-") == 0)))
        return false;
    if (q->kind == QUESTION_CHOICE && key[0] >= '1' && key[0] - '1' < q->count)
        buf_printf(command, "answer %s", key);
    else if (q->kind == QUESTION_NUMBER)
        buf_printf(command, "prompt answer %s", key);
    return command->len > 0;
}

bool desk_key(Desk *d, const char *key, int width, int height, Buf *command)
{
    static const char *const ON[] = {"Space", "n", "PgDn"}, *const BACK[] = {"Backspace", "p", "PgUp"};
    bool wide = beside(height, width);
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(key, ON[i]) == 0) {
            if (!wide && d->front && has_screen(d)) {
                d->front = false;
                return true;
            }
            return player_waits(&d->player) ? go_on(d) : turn(d, 1);
        }
        if (strcmp(key, BACK[i]) == 0)
            return turn(d, -1);
    }
    if (strcmp(key, "Tab") == 0 && !wide) {
        d->front = !d->front;
        return true;
    }
    if (strcmp(key, "!") == 0) {
        buf_puts(command, "hint");
        d->front = true;
        return true;
    }
    if (strcmp(key, "q") == 0) {
        buf_puts(command, "lesson close");
        return true;
    }
    if (strcmp(key, "?") == 0) {
        buf_puts(command, "lesson help");
        return true;
    }
    if (answer_key(d, key, command)) {
        d->front = true;
        return true;
    }
    if (!wide && d->front &&
        (strcmp(key, "Enter") == 0 || strlen(key) == 1 || strcmp(key, "Up") == 0 || strcmp(key, "Down") == 0 ||
         strcmp(key, "Left") == 0 || strcmp(key, "Right") == 0) &&
        *key != ':' && *key != 't')
        d->front = false; /* what the key does can be seen */
    return false;
}

/* ---- drawing ---- */

void desk_layout(const Desk *d, int h, int w, Rect *card, Rect *screen)
{
    *screen = (Rect){0, 0, h, w};
    *card = (Rect){0, 0, 0, 0};
    if (!d->open)
        return;
    if (beside(h, w))
        *card = rect_cut(screen, 'r', w >= 180 ? 60 : w >= 140 ? 50 : 42);
    else if (d->front)
        *card = rect_cut(screen, 'b', h);
}

static void keys_line(const Desk *d, bool wide, char *out, size_t n)
{
    const Question *q = player_card(&d->player)->question;
    const char *ask = !q                           ? ""
                      : q->kind == QUESTION_CHOICE ? "1-8 answer  "
                      : q->kind == QUESTION_NUMBER ? "digits answer  "
                                                   : "";
    bool hint = q && player_card(&d->player)->hints.count;
    snprintf(out, n, "%s%s%s⌫ back  %s? words  q leave", ask, hint ? "! hint  " : "",
             wide            ? "Space on  "
             : has_screen(d) ? "Space look  "
                             : "Space on  ",
             wide ? "" : "Tab screen  ");
}

void desk_draw(const Desk *d, Canvas *c, Rect card, Rect screen)
{
    if (card.h > 0 && card.w > 0) {
        char keys[120];
        keys_line(d, screen.h > 0, keys, sizeof keys);
        card_draw(c, card, &d->player, &(CardSaid){buf_str(&d->said), d->right, d->wrong, keys});
    }
}

/* ---- lists ---- */

static void about(const LessonFile *f, char *title, size_t n, int *minutes, int *cards)
{
    Lesson l;
    *title = 0;
    *minutes = *cards = 0;
    if (lesson_parse(&l, f->name, f->text, f->size, 0, NULL)) {
        snprintf(title, n, "%s", l.title);
        *minutes = l.minutes;
        *cards = l.count;
    }
    lesson_free(&l);
}

static void put_progress(const LessonProgress *p, int cards, char *out, size_t n)
{
    if (!p->cards)
        snprintf(out, n, "%d cards", cards);
    else if (p->card == p->cards - 1)
        snprintf(out, n, "done");
    else
        snprintf(out, n, "card %d of %d", p->card + 1, p->cards);
}

static void which_of(const LessonFile *f, char *out, size_t n)
{
    if (f->number >= 0)
        snprintf(out, n, "%d", f->number);
    else
        snprintf(out, n, "%.*s", (int)strcspn(f->name, "."), f->name);
}

/* Does a lesson say that it explains this node? */
static bool explains(const LessonFile *f, const char *path)
{
    Lesson l;
    bool found = false;
    if (lesson_parse(&l, f->name, f->text, f->size, 0, NULL))
        for (int i = 0; i < l.explains.count; i++)
            found = found || address_match(l.explains.at[i].text, path) || strcmp(l.explains.at[i].text, path) == 0;
    lesson_free(&l);
    return found;
}

static void add_lesson(Overlay *o, const LessonFile *f, const char *before)
{
    char title[100], text[200], key[40], command[80], which[64];
    int minutes, cards;
    LessonProgress p = progress_load(f->name);
    about(f, title, sizeof title, &minutes, &cards);
    which_of(f, which, sizeof which);
    put_progress(&p, cards, key, sizeof key);
    snprintf(text, sizeof text, "%s%s%s%s  %d min", before, f->number >= 0 ? which : "", f->number >= 0 ? ". " : "",
             title, minutes);
    snprintf(command, sizeof command, "lesson %s", which);
    overlay_add(o, text, key, command);
}

void desk_menu(Overlay *o, const Session *s)
{
    LessonFile f;
    overlay_list(o, "Lessons: Enter opens one where you left it");
    char *last = state_load_file("lesson");
    for (int i = 0; last && lesson_at(i, &f); i++) {
        LessonProgress p = progress_load(f.name);
        if (strcmp(last, f.name) == 0 && p.cards && p.card < p.cards - 1)
            add_lesson(o, &f, "go on: ");
    }
    free(last);
    if (lesson_at(0, &f) && !progress_load(f.name).cards)
        add_lesson(o, &f, "begin here: ");
    for (int i = 0; lesson_at(i, &f); i++)
        if (explains(&f, s->place.path))
            add_lesson(o, &f, "about this screen: ");
    for (int i = 0; lesson_at(i, &f); i++) {
        if (f.number < 0 && i > 0) {
            LessonFile before;
            if (lesson_at(i - 1, &before) && before.number >= 0)
                overlay_add(o, "Cards", "", NULL);
        }
        add_lesson(o, &f, "");
    }
}

void lessons_text(Buf *out)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++) {
        char title[100], progress[40], which[64];
        int minutes, cards;
        LessonProgress p = progress_load(f.name);
        about(&f, title, sizeof title, &minutes, &cards);
        which_of(&f, which, sizeof which);
        put_progress(&p, cards, progress, sizeof progress);
        int pad = 48 - utf8_cells(title);
        buf_printf(out, "%-18s %s%*s %2d min  %s\n", which, title, pad > 0 ? pad : 0, "", minutes, progress);
    }
}

void desk_help(const Desk *d, Overlay *o)
{
    Buf text = {0};
    const Card *c = player_card(&d->player);
    for (int i = 0; i < c->item_count; i++)
        for (int k = 0; k < c->items[i].count; k++)
            if (c->items[i].spans[k].style == SPAN_TERM)
                ask_glossary(d->player.s, c->items[i].spans[k].text, &text, NULL);
    for (int i = 0; i < d->player.lesson.needs.count; i++)
        buf_printf(&text, "%s:lesson %s", i ? ", " : "Needs ", d->player.lesson.needs.at[i].text);
    if (d->player.lesson.needs.count)
        buf_puts(&text, "\n");
    for (int i = 0; i < d->player.lesson.reads.count; i++)
        buf_printf(&text, "Read on: %s\n", d->player.lesson.reads.at[i].text);
    buf_puts(&text,
             "Space next card, Backspace the one before, digits answer, ! hint, q leaves the lesson. Every other key "
             "works as always: what you change here is put back when you leave.\n"
             ":glossary WORD explains any word.\n");
    overlay_text(o, "Words of this card", buf_str(&text));
    buf_free(&text);
}
