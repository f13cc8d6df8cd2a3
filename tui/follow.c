#define _GNU_SOURCE /* memfd_create */
#include "tui/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/model_digest.h"
#include "core/session/ask/receipt.h"
#include "core/session/permit.h"
#include "core/session/state.h"
#include "tui/app.h"

#define FOLLOW_NS INT64_C(50000000)       /* of a round for the lines that came */
enum { COMMANDS_MOST = 256 };             /* of a line; a whole state has fewer */
static const char KNOWN[] = "presenters"; /* whose lines the reader let run: a line each, behind an empty one */

bool follow_open(Follow *f, const char *name, const char *model, Err *err)
{
    char path[CLASS_PATH];
    if (!classroom_path(name, path, err))
        return false;
    *f = (Follow){.joined = true, .following = true, .model = model, .known = (uid_t)-1, .question = {.mine = -1}};
    f->commands = session_command_set();
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->who, sizeof f->who, "%s", name);
    reader_init(&f->room, path);
    f->caption = xstrdup("");
    return true;
}

void follow_close_lesson(Follow *f)
{
    bool applying = f->applying;
    f->applying = true; /* what it puts back is not the reader's doing */
    if (f->playing) {
        Session *s = f->player.s;
        player_close(&f->player);
        if (s)
            edits_history_put(s, &f->history);
    }
    edits_history_free(&f->history);
    f->playing = false;
    f->applying = applying;
}

/* The picture that came, under its word; or none. */
static void lend_picture(Follow *f, Session *s, const char *word, int fd)
{
    char file[40];
    if (f->picture) {
        permit_lend(s, f->picture, NULL);
        close(f->lent);
    }
    free(f->picture);
    f->picture = word ? xstrdup(word) : NULL;
    f->lent = fd;
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    if (word)
        permit_lend(s, word, file);
}

void follow_close(Follow *f, Session *s)
{
    if (!f->joined)
        return;
    reader_close(&f->room);
    follow_close_lesson(f);
    commands_free(&f->commands);
    lend_picture(f, s, NULL, -1);
    free(f->caption);
    buf_free(&f->said);
    *f = (Follow){0};
}

bool follow_live(const Follow *f)
{
    return f->room.live;
}

bool follow_join(Follow *f, Session *s, const char *name, const char *model, Err *err)
{
    bool off = strcmp(name, "off") == 0;
    if (!f->joined && (!*name || off))
        return err_set(err, "join whom? join NAME, as who presents calls it");
    if (*name && !off) {
        follow_close(f, s);
        return follow_open(f, name, model, err);
    }
    if (off || !f->room.live) {
        follow_close(f, s);
        session_say(s, "You have left the class; join NAME follows again.");
    } else if (f->following) {
        f->following = false;
        session_say(s, "On your own.");
    } else {
        f->following = true;
        f->trouble[0] = 0;
        f->room.used = 0;
    }
    return true;
}

/* ---- whose lines run ---- */

static bool is_known(const Follow *f)
{
    char *list = state_load_file(KNOWN), line[100];
    snprintf(line, sizeof line, "\n%s\n", f->who);
    bool known = f->room.owner == geteuid() || (list && strstr(list, line));
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
    char *list = state_load_file(KNOWN);
    Buf text = {0};
    buf_printf(&text, "%s%s\n", list ? list : "\n", f->who);
    state_save_file(KNOWN, buf_str(&text));
    buf_free(&text);
    free(list);
    f->asks = false;
    f->known = f->room.owner;
    return true;
}

/* ---- what comes ---- */

/* word: PERMIT_CLASS DIGEST/NAME, or what is wrong with it in the digest's place. */
static void take_picture(Follow *f, Session *s, const char *word, const char *digest, const char *name)
{
    Buf bytes = {0};
    Err err = {{0}};
    int fd = -1;
    if (f->picture && strcmp(f->picture, word) == 0)
        return;
    if (strlen(digest) != 16)
        err_set(&err, "%.150s is no picture, or larger than 8 MB, and does not travel; :open a copy of yours", name);
    else if (reader_data(&f->room, digest, &bytes, &err)) {
        fd = memfd_create("picture", MFD_CLOEXEC);
        if (fd >= 0 && write(fd, bytes.data, bytes.len) == (ssize_t)bytes.len)
            lend_picture(f, s, word, fd);
        else
            err_set(&err, "a picture that the presenter opened could not be kept: no memory?");
    }
    if (fd >= 0 && *err.text)
        close(fd);
    utf8_print(f->lacks, sizeof f->lacks, "%.290s", err.text);
    buf_free(&bytes);
}

/* The reader's own model stands for the presenter's, where it is the same. */
static void take_model(Follow *f, Session *s, const char *word, const char *digest, const char *name)
{
    if (f->model && f->own == strtoull(digest, NULL, 16))
        permit_lend(s, word, f->model);
    else
        utf8_print(f->lacks, sizeof f->lacks,
                   "the presenter's model is %.100s (digest %s), %s: join with -m and that model", name, digest,
                   f->model ? "and yours is another one" : "which you have not named");
}

/* What the next line opens, by a word of the class. */
static void take_loan(Follow *f, Session *s, const char *verb, const char *word)
{
    char digest[17];
    const char *slash = strchr(word, '/');
    if (strncmp(word, PERMIT_CLASS, strlen(PERMIT_CLASS)) != 0 || !slash)
        return;
    utf8_print(digest, sizeof digest, "%.*s", (int)strcspn(word + strlen(PERMIT_CLASS), "/"),
               word + strlen(PERMIT_CLASS));
    if (strcmp(verb, "@open") == 0)
        take_picture(f, s, word, digest, slash + 1);
    else if (strcmp(verb, "@model") == 0)
        take_model(f, s, word, digest, slash + 1);
}

static void run(Follow *f, Session *s, const char *lines)
{
    Err err = {{0}};
    int count = 0;
    for (const char *p = lines; *p; p += command_length(p), p += *p != 0)
        count++;
    f->applying = true;
    bool ok = count <= COMMANDS_MOST ? session_read(s, &f->commands, lines, LINE_FOREIGN, &err)
                                     : err_set(&err, "more commands in one line than a step has");
    f->applying = false;
    f->moved = f->told = true;
    buf_clear(&s->said);
    utf8_clean(f->trouble, sizeof f->trouble, ok ? "" : *f->lacks ? f->lacks : err.text);
    if (ok)
        f->lacks[0] = 0;
}

/* a: FILE SEED CARD PAUSES [DIGEST] */
static bool open_lesson(Follow *f, Session *s, const Args *a, Err *err)
{
    Lesson l = {0};
    LessonFile file = {0};
    Buf text = {0};
    const char *slash = strrchr(a->word[0], '/'), *name = slash ? slash + 1 : a->word[0];
    bool own = a->count == 4, ok = own ? lesson_named(name, &file) : reader_data(&f->room, a->word[4], &text, err);
    if (own && !ok)
        err_set(err, "the presenter's lesson %.100s is not in this program", name);
    ok = ok && lesson_parse(&l, name, own ? file.text : buf_str(&text), own ? file.size : text.len,
                            strtoull(a->word[1], NULL, 10), err);
    buf_free(&text);
    if (!ok) {
        lesson_free(&l);
        return false;
    }
    f->playing = true;
    f->history = edits_history_take(s); /* a card has changes of its own */
    ok = player_open(&f->player, s, &l, err);
    if (!ok)
        follow_close_lesson(f);
    return ok;
}

static void take_card(Follow *f, Session *s, const Args *a)
{
    Err err = {{0}};
    char lesson[sizeof f->lesson];
    int card, pauses;
    bool relative;
    if (a->count < 4 || a->count > 5 || !args_number(a->word[2], &card, &relative) ||
        !args_number(a->word[3], &pauses, &relative) || card < 0 || pauses < 0)
        return;
    utf8_print(lesson, sizeof lesson, "%.300s %.30s %.30s", a->word[0], a->word[1], a->count > 4 ? a->word[4] : "");
    if (strcmp(lesson, f->lesson) != 0)
        follow_close_lesson(f);
    memcpy(f->lesson, lesson, sizeof lesson);
    f->applying = true;
    bool ok = f->playing || open_lesson(f, s, a, &err);
    if (ok && card >= f->player.lesson.count)
        ok = err_set(&err, "the presenter's lesson has no card %d here", card + 1);
    ok = ok && player_enter(&f->player, card, &err);
    for (int i = 0; ok && i < pauses && player_waits(&f->player); i++)
        ok = player_on(&f->player, &err);
    f->applying = false;
    f->moved = f->told = true;
    buf_clear(&s->said);
    utf8_clean(f->trouble, sizeof f->trouble, ok ? "" : err.text);
}

static void take_ask(Follow *f, const char *text)
{
    uint32_t before = f->question.open ? f->question.seed : 0;
    if (!*text)
        f->question = (Rollcall){.mine = -1};
    else if (rollcall_read(&f->question, text) && f->question.seed != before)
        f->receipt[0] = 0;
}

static void take(Follow *f, Session *s, const char *line)
{
    Args a;
    const char *verb;
    if (strncmp(line, "@ask ", 5) == 0)
        take_ask(f, line + 5);
    else if (strncmp(line, "@state ", 7) == 0 && f->following) {
        follow_close_lesson(f);
        run(f, s, line + 7);
    } else if (*line && *line != '@' && f->following)
        run(f, s, line);
    else if (*line != '@' || !args_parse(&a, line, &verb, NULL))
        return;
    else if (strcmp(verb, "@caption") == 0) {
        free(f->caption);
        f->caption = xstrdup(a.count ? a.word[0] : "");
        f->told = true;
    } else if (strcmp(verb, "@card") == 0 && f->following)
        take_card(f, s, &a);
    else if (a.count == 1)
        take_loan(f, s, verb, a.word[0]);
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
        receipt_put(&(Receipt){f->question.seed, f->question.mine + 1, hash}, f->receipt);
}

bool follow_step(Follow *f, Session *s, int64_t now)
{
    Err err;
    const char *line;
    if (!f->joined)
        return false;
    if (f->model && !f->own) /* before the presenter's takes its place */
        f->own = model_digest(&s->model);
    put_receipt(f, s);
    bool changed = reader_step(&f->room, now);
    if (f->room.folder >= 0 && f->known != f->room.owner) {
        classroom_user(f->room.owner, f->who);
        f->asks = !is_known(f);
        f->known = f->asks ? f->known : f->room.owner;
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

/* The terminal that this program sits at, as its file below /dev is called: "pts7"; "none". */
static void terminal_name(char out[16])
{
    const char *name = NULL;
    for (int fd = 0; fd < 3 && !name; fd++)
        name = isatty(fd) ? ttyname(fd) : NULL;
    bool pts = name && strncmp(name, "/dev/pts/", 9) == 0, dev = name && strncmp(name, "/dev/", 5) == 0;
    utf8_print(out, 16, "%s%.10s", pts ? "pts" : "",
               pts                               ? name + 9
               : dev && !strpbrk(name + 5, "/-") ? name + 5
                                                 : "none");
}

bool follow_vote(Follow *f, Session *s, int digit, Err *err)
{
    char terminal[16], name[80];
    Rollcall *q = &f->question;
    int choice = rollcall_choice(q, digit);
    if (!q->open || q->closed)
        return err_set(err, "no question is open");
    if (choice < 0)
        return err_set(err, "%d is none of the answers: press the digit in front of one", digit);
    terminal_name(terminal);
    snprintf(name, sizeof name, "%08x-%s-%d-%llx", q->seed, terminal, choice,
             (unsigned long long)clock_ns() ^ (unsigned long long)getpid() << 40);
    if (!reader_vote(&f->room, name, err))
        return false;
    q->mine = choice;
    f->receipt[0] = 0;
    put_receipt(f, s);
    return true;
}

void follow_line(const Follow *f, Buf *out)
{
    if (f->asks)
        buf_printf(out,
                   "The class %s is presented by %s. Follow? y: your screen does what theirs does, your files stay "
                   "untouched; n: no.",
                   f->name, f->who);
    else if (!f->room.live)
        buf_printf(out, "%s: %s; trying again. f leaves.", f->name, *f->room.why ? f->room.why : "not there yet");
    else if (*f->trouble)
        buf_printf(out, "Can't follow %s here: %s", f->who, f->trouble);
    else if (!f->following)
        buf_printf(out, "On your own; f follows %s again.", f->who);
    else if (*f->caption)
        buf_puts(out, f->caption);
    else
        buf_printf(out, "Following %s. Any change of yours leaves; f comes back.", f->who);
}

/* ---- line by line ---- */

static void say_question(Follow *f, Buf *out)
{
    const Rollcall *q = &f->question, *before = &f->said_question;
    char name[ROLLCALL_ANSWER + 16];
    bool new = q->open && (!before->open || before->seed != q->seed), shown = q->closed && (new || !before->closed);
    int total = rollcall_total(q);
    if (shown)
        buf_printf(out, "%s: %d answer%s.\n", q->text, total, total == 1 ? "" : "s");
    else if (new)
        buf_printf(out, "Asked: %s\n", q->text);
    for (int i = 0; (new || shown) && i < q->count; i++) {
        buf_puts(out, rollcall_name(q, i, name));
        if (shown)
            buf_printf(out, ": %d", q->votes[i]);
        if (shown && q->valued)
            buf_printf(out, ", value %.4g", q->value[i]);
        buf_printf(out, "%s%s\n", shown && i == q->right ? ", right" : "", shown && i == q->mine ? ", yours" : "");
    }
    if (new && !shown)
        buf_puts(out, "Type the number of your answer.\n");
    if (*q->note && strcmp(q->note, before->note) != 0)
        buf_printf(out, "%s\n", q->note);
    f->said_question = *q;
}

bool follow_say(Follow *f, Session *s, Buf *out)
{
    Buf line = {0};
    if (!f->joined)
        return false;
    follow_step(f, s, clock_ns());
    bool moved = f->moved;
    f->moved = false;
    follow_line(f, &line);
    if (strcmp(buf_str(&line), buf_str(&f->said)) != 0) {
        bool caption = *f->caption && strcmp(buf_str(&line), f->caption) == 0;
        buf_printf(out, "%s%s%s\n", caption ? f->who : "", caption ? " says: " : "", buf_str(&line));
        buf_clear(&f->said);
        buf_puts(&f->said, buf_str(&line));
    }
    buf_free(&line);
    say_question(f, out);
    return moved;
}
