#define _GNU_SOURCE /* memfd_create */
#include "tui/follow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/machine.h"
#include "core/base/utf8.h"
#include "core/models/model.h"
#include "core/session/state.h"
#include "tui/app.h"
#include "tui/share.h"

#define FOLLOW_NS INT64_C(50000000)       /* of a round for the lines that came */
enum { COMMANDS_MOST = 256 };             /* of a line; a whole state has fewer */
static const char KNOWN[] = "presenters"; /* whose lines the reader let run: a line each, behind an empty one */

bool follow_open(Follow *f, const char *name, const char *model, Err *err)
{
    ClassReader room;
    if (!reader_init(&room, name, err))
        return false;
    *f = (Follow){
        .joined = true, .following = true, .model = model, .owner = (uid_t)-1, .question = {.mine = -1}, .room = room};
    f->commands = session_command_set();
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->who, sizeof f->who, "%s", name);
    return true;
}

static void close_lesson(Follow *f)
{
    Session *s = f->player.s;
    if (f->playing && s) {
        log_hold(s, true); /* what it puts back is not the reader's doing */
        player_close(&f->player);
        edits_history_put(s, &f->history);
        log_hold(s, false);
    }
    edits_history_free(&f->history);
    f->playing = false;
}

void follow_leave(Follow *f)
{
    f->following = false;
    close_lesson(f);
}

void follow_close(Follow *f, Session *s)
{
    if (!f->joined)
        return;
    reader_close(&f->room);
    close_lesson(f);
    commands_free(&f->commands);
    permit_class(s, NULL, NULL);
    if (f->lent > 0)
        close(f->lent);
    buf_free(&f->lesson);
    buf_free(&f->said);
    buf_free(&f->asked);
    *f = (Follow){0};
}

bool follow_join(Follow *f, Session *s, Desk *own, const char *name, const char *model, Err *err)
{
    bool off = strcmp(name, "off") == 0;
    if (!f->joined && (!*name || off))
        return err_set(err, "nobody is followed: in a class, :join NAME follows who presents");
    if (*name && !off) {
        follow_close(f, s);
        if (!follow_open(f, name, model, err))
            return false;
    } else if (off || !f->room.live) {
        follow_close(f, s);
        session_say(s, "You have left the class; join NAME follows again.");
    } else if (f->following) {
        f->following = false;
        session_say(s, "On your own.");
    } else {
        f->following = true;
        f->trouble[0] = 0;
        f->room.in.len = f->room.used = 0;
    }
    if (f->following && own->open) {
        desk_close(own, s);
        f->following = true; /* that was the reader's doing, which leaves */
    }
    return true;
}

/* ---- whose lines run ---- */

/* learn: from now on. */
static bool is_known(const Follow *f, bool learn)
{
    char *list = state_load_file(KNOWN), line[100];
    Buf text = {0};
    snprintf(line, sizeof line, "\n%s\n", f->who);
    bool known = f->room.owner == geteuid() || (list && strstr(list, line));
    if (learn && !known) {
        buf_printf(&text, "%s%s", list ? list : "", list ? line + 1 : line);
        state_save_file(KNOWN, buf_str(&text));
    }
    buf_free(&text);
    free(list);
    return known;
}

bool follow_answers(Follow *f, Session *s, const char *word)
{
    bool yes = strcmp(word, "y") == 0 || strcmp(word, "yes") == 0;
    if (!f->joined || !f->asks || (!yes && strcmp(word, "n") != 0 && strcmp(word, "no") != 0))
        return false;
    if (!yes) {
        session_say(s, "%s is not followed; join %s asks again.", f->who, f->name);
        follow_close(f, s);
        return true;
    }
    is_known(f, true);
    f->asks = false;
    return true;
}

/* ---- what comes ---- */

/* What a word of the class means here (permit_class): a picture, in memory, where nobody changes it (the word before
 * names this one from now on, never another file); the reader's own model where the presenter's is the same. */
static const char *lend(void *follow, const char *word, Err *err)
{
    Follow *f = follow;
    Buf bytes = {0};
    unsigned long long model;
    char digest[17];
    const char *by = word + strlen(PERMIT_CLASS), *slash = strchr(by, '/'), *name = slash ? slash + 1 : word;
    bool ok = false;
    f->trouble[0] = 0;
    utf8_print(digest, sizeof digest, "%.*s", (int)strcspn(by, "/"), by);
    if (sscanf(by, SHARE_MODEL "%16llx", &model) == 1) {
        ok = (f->model && f->own == model) ||
             err_set(err, "the presenter's model is %.100s, %s: join with -m and that model", name,
                     f->model ? "and yours is another one" : "which you have not named");
    } else if (slash != by + 16)
        err_set(err, "%.150s is no picture, or larger than 8 MB, and does not travel; :open a copy of yours", name);
    else if (reader_data(&f->room, digest, &bytes, err)) {
        f->lent = f->lent > 0 ? f->lent : memfd_create("picture", MFD_CLOEXEC);
        snprintf(f->file, sizeof f->file, "/proc/self/fd/%d", f->lent);
        ok = (ftruncate(f->lent, 0) == 0 && pwrite(f->lent, bytes.data, bytes.len, 0) == (ssize_t)bytes.len) ||
             err_set(err, "a picture that the presenter opened could not be kept: no memory?");
    }
    f->lacks = !ok;
    buf_free(&bytes);
    return !ok ? NULL : slash == by + 16 ? f->file : f->model;
}

/* After a step: what did not come is the reason until one is on show again. */
static void step_done(Follow *f, Session *s, bool ok, const Err *err)
{
    log_hold(s, false);
    f->moved = true;
    buf_clear(&s->said);
    if (ok || !f->lacks || !*f->trouble)
        utf8_clean(f->trouble, sizeof f->trouble, ok ? "" : err->text);
    f->lacks &= !ok;
}

static void run(Follow *f, Session *s, const char *lines)
{
    Err err = {{0}};
    int count = 0;
    for (const char *p = lines; *p; p += command_length(p), p += *p != 0)
        count++;
    log_hold(s, true); /* what it logs is not the reader's */
    bool ok = count <= COMMANDS_MOST ? session_read(s, &f->commands, lines, LINE_FOREIGN, &err)
                                     : err_set(&err, "more commands in one line than a step has");
    step_done(f, s, ok, &err);
}

/* what: FILE SEED [DIGEST] */
static bool open_lesson(Follow *f, Session *s, const char *what, Err *err)
{
    Args a;
    Lesson l = {0};
    LessonFile file = {0};
    Buf text = {0};
    const char *path;
    if (!args_parse(&a, what, &path, err) || !a.count)
        return err_set(err, "a line of the class names no lesson");
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool ok = a.count == 1 ? lesson_named(name, &file) || err_set(err, "%.100s is no lesson of this program", name)
                           : reader_data(&f->room, a.word[1], &text, err);
    ok = ok && lesson_parse(&l, name, a.count == 1 ? file.text : buf_str(&text), a.count == 1 ? file.size : text.len,
                            strtoull(a.word[0], NULL, 10), err);
    buf_free(&text);
    if (ok) {
        f->playing = true;
        f->history = edits_history_take(s); /* a card has changes of its own */
        ok = player_open(&f->player, s, &l, err);
    }
    lesson_free(&l); /* the player's, where there is one */
    if (!ok)
        close_lesson(f);
    return ok;
}

static void take_card(Follow *f, Session *s, const char *line)
{
    Err err = {{0}};
    Buf lesson = {0};
    int card, pauses, at = 0;
    if (sscanf(line, "@card %5d %5d %n", &card, &pauses, &at) != 2 || !at || card < 0 || pauses < 0)
        return;
    buf_puts(&lesson, line + at);
    if (buf_renew(&f->lesson, &lesson))
        close_lesson(f);
    log_hold(s, true);
    bool ok = f->playing || open_lesson(f, s, buf_str(&f->lesson), &err);
    if (ok && card >= f->player.lesson.count)
        ok = err_set(&err, "the presenter's lesson has no card %d here", card + 1);
    ok = ok && player_enter(&f->player, card, &err);
    for (int i = 0; ok && i < pauses && player_waits(&f->player); i++)
        ok = player_on(&f->player, &err);
    step_done(f, s, ok, &err);
}

static void take(Follow *f, Session *s, const char *line)
{
    Args a;
    const char *verb;
    if (strcmp(line, "@ask ") == 0)
        f->question = (Rollcall){.mine = -1};
    else if (strncmp(line, "@ask ", 5) == 0)
        rollcall_read(&f->question, line + 5);
    else if (strncmp(line, "@caption ", 9) == 0 && args_parse(&a, line, &verb, NULL))
        utf8_fit(f->caption, sizeof f->caption, a.count ? a.word[0] : "", -1); /* its lines stay lines */
    else if (!f->following)
        return;
    else if (strncmp(line, "@state ", 7) == 0) {
        close_lesson(f);
        run(f, s, line + 7);
    } else if (strncmp(line, "@card ", 6) == 0)
        take_card(f, s, line);
    else if (*line != '@')
        run(f, s, line);
}

bool follow_behind(const Follow *f)
{
    return f->joined && !f->asks && reader_behind(&f->room);
}

/* Of the answer that was given, as soon as the pass is complete. */
static void put_receipt(Follow *f, Session *s)
{
    uint64_t hash;
    if (f->question.open && f->question.mine >= 0 && !*f->receipt && session_hash(s, SIDE_B, &hash))
        receipt_put(&(Receipt){f->question.quiz.seed, f->question.mine + 1, hash}, f->receipt);
}

bool follow_step(Follow *f, Session *s, int64_t now)
{
    Err err;
    const char *line;
    if (!f->joined)
        return false;
    if (f->model && !f->own) /* before the presenter's takes its place */
        f->own = model_digest(&s->model);
    permit_class(s, lend, f);
    put_receipt(f, s);
    bool changed = reader_step(&f->room, now);
    if (f->room.folder >= 0 && f->owner != f->room.owner) {
        f->owner = f->room.owner;
        machine_user(f->owner, f->who);
        f->asks = !is_known(f, false);
    }
    /* what is left waits for the next round: keys and signals come first, whatever somebody writes */
    while (!f->asks && clock_ns() - now < FOLLOW_NS && (line = reader_line(&f->room, &err)) != NULL) {
        if (*err.text)
            utf8_clean(f->trouble, sizeof f->trouble, err.text);
        else
            take(f, s, line);
        changed = true;
    }
    if (changed && !f->room.live)
        f->question = (Rollcall){.mine = -1};
    return changed;
}

bool follow_vote(Follow *f, Session *s, int digit, Err *err)
{
    char name[80];
    Rollcall *q = &f->question;
    int choice = quiz_choice(&q->quiz, digit), terminal = machine_terminal();
    if (!q->open || q->closed)
        return err_set(err, "no question is open");
    if (choice < 0)
        return err_set(err, "%d is none of the answers: press the digit in front of one", digit);
    snprintf(name, sizeof name, "%08x-%d-%d-%llx", q->quiz.seed, terminal, choice,
             (unsigned long long)clock_ns() ^ (unsigned long long)getpid() << 40);
    if (!reader_vote(&f->room, name, err))
        return false;
    q->mine = choice;
    f->terminal = terminal;
    f->receipt[0] = 0;
    put_receipt(f, s);
    return true;
}

void follow_receipt(const Follow *f, Buf *out)
{
    char name[QUIZ_ANSWER + 16];
    buf_printf(out, *f->receipt ? "Receipt %s. " : "The receipt comes when the pass is complete.%s ", f->receipt);
    buf_printf(out, "Your answer, %s, is the one vote of %s.", quiz_name(&f->question.quiz, f->question.mine, name),
               f->terminal ? "this terminal" : "your account, unless a terminal of yours votes: this one is not yours");
}

void follow_header(const Follow *f, int width, Buf *out)
{
    enum { ROOM = 110 }; /* from here on the header holds more than what is on show */
    char who[20];
    if (f->asks || !f->room.live)
        return;
    if (!f->following)
        buf_puts(out, "ON YOUR OWN · f back");
    else
        buf_printf(out, width < ROOM ? "follows %s" : "follows %s · f on your own",
                   utf8_take(who, sizeof who, f->who, strcspn(f->who, " ")));
    if (width >= ROOM && f->question.open && !f->question.closed)
        buf_puts(out, " · digits answer");
}

void follow_line(const Follow *f, Buf *out)
{
    const ClassReader *r = &f->room;
    if (f->asks)
        buf_printf(out,
                   "The class %s %s presented by %s. Follow? y: your screen does what theirs does, your files stay "
                   "untouched; n: no.",
                   f->name, r->live ? "is" : "was", f->who);
    else if (!r->live && f->owner != (uid_t)-1 && r->folder < 0)
        buf_printf(out, "%s has ended. What was on show last stays here, and goes on when they share again; f leaves.",
                   f->who);
    else if (!r->live)
        buf_printf(out, "%s: %s%s; trying again. f leaves.", f->name, *r->why ? r->why : "not there yet",
                   r->lines < 0 ? "" : ", this is what was on show last");
    else if (*f->trouble)
        buf_printf(out, "Can't follow %s here: %s", f->who, f->trouble);
    else if (f->question.open && !f->question.closed && f->question.mine < 0)
        buf_printf(out, "%s asks. Type the digit in front of your answer.", f->who);
    else if (!f->following)
        buf_printf(out, "On your own; f follows %s again.", f->who);
    else if (*f->caption)
        buf_puts(out, f->caption);
    else
        buf_printf(out, "Following %s. f, or any change of yours: on your own; f again: back.", f->who);
}

/* ---- line by line ---- */

static void put_question(const Rollcall *q, Buf *out)
{
    char name[QUIZ_ANSWER + 16];
    int total = rollcall_total(q);
    buf_printf(out, q->closed ? "%s: %d answer%s.\n" : "Asked: %s\n", q->quiz.text, total, total == 1 ? "" : "s");
    for (int i = 0; i < q->quiz.count; i++) {
        buf_puts(out, quiz_name(&q->quiz, i, name));
        if (q->closed)
            buf_printf(out, ": %d of %d", q->votes[i], total);
        if (q->quiz.valued)
            buf_printf(out, ", value %.4g", q->quiz.value[i]);
        buf_printf(out, "%s%s\n", q->closed && i == q->quiz.right ? ", right" : "",
                   q->closed && i == q->mine ? ", yours" : "");
    }
    buf_printf(out, "%s%s", q->note, *q->note ? "\n" : "");
}

bool follow_say(Follow *f, Session *s, Buf *out)
{
    Buf line = {0}, said = {0}, question = {0};
    if (!f->joined)
        return false;
    follow_step(f, s, clock_ns());
    bool moved = f->moved;
    f->moved = false;
    if (f->question.open)
        put_question(&f->question, &question);
    if (buf_renew(&f->asked, &question))
        buf_puts(out, buf_str(&f->asked));
    follow_line(f, &line);
    bool caption = *f->caption && strcmp(buf_str(&line), f->caption) == 0;
    buf_printf(&said, "%s%s%s\n", caption ? f->who : "", caption ? " says: " : "", buf_str(&line));
    buf_free(&line);
    if (buf_renew(&f->said, &said))
        buf_puts(out, buf_str(&f->said));
    return moved;
}
