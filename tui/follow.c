#define _GNU_SOURCE /* memfd_create */
#include "tui/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/model_digest.h"
#include "core/session/ask/receipt.h"
#include "core/session/permit.h"
#include "core/session/state.h"
#include "tui/app.h"

#define FOLLOW_NS INT64_C(50000000) /* of a round for the lines that came */
enum { COMMANDS_MOST = 256 };       /* of a line; a whole state has fewer */
enum { PICTURES = sizeof((Follow *)0)->lent / sizeof *((Follow *)0)->lent };
static const char KNOWN[] = "presenters"; /* whose lines the reader let run, a line each */

bool follow_open(Follow *f, const char *name, const char *model, Err *err)
{
    char path[CLASS_PATH];
    if (!classroom_path(name, path, err))
        return false;
    *f = (Follow){
        .joined = true, .following = true, .commands = session_command_set(), .model = model, .known = (uid_t)-1};
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->who, sizeof f->who, "%s", name);
    reader_init(&f->room, path);
    f->caption = xstrdup("");
    f->question.mine = -1;
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

static void drop_picture(Follow *f, Session *s, int at)
{
    if (f->lent[at] > 0)
        close(f->lent[at]);
    if (f->word[at])
        permit_lend(s, f->word[at], NULL);
    free(f->word[at]);
    f->word[at] = NULL;
    f->lent[at] = 0;
}

void follow_close(Follow *f, Session *s)
{
    if (!f->joined)
        return;
    reader_close(&f->room);
    follow_close_lesson(f);
    commands_free(&f->commands);
    for (int i = 0; i < PICTURES; i++)
        drop_picture(f, s, i);
    free(f->lesson);
    free(f->caption);
    *f = (Follow){0};
}

int follow_poll(const Follow *f, struct pollfd *out, int most)
{
    return f->joined ? classroom_poll(f->room.watch, out, most) : 0;
}

bool follow_live(const Follow *f)
{
    return f->room.lines >= 0 && f->room.live;
}

static void trouble(Follow *f, const char *text)
{
    utf8_clean(f->trouble, sizeof f->trouble, text);
}

void follow_rejoin(Follow *f)
{
    f->following = true;
    f->trouble[0] = 0;
    reader_again(&f->room);
}

void follow_leave(Follow *f)
{
    f->following = false;
}

/* ---- whose lines run ---- */

static bool is_known(uid_t owner, const char *who)
{
    char *list = state_load_file(KNOWN), line[100];
    snprintf(line, sizeof line, "%s\n", who);
    const char *at = list ? strstr(list, line) : NULL;
    bool known = owner == geteuid() || (at && (at == list || at[-1] == '\n'));
    free(list);
    return known;
}

void follow_accept(Follow *f)
{
    char *list = state_load_file(KNOWN);
    Buf text = {0};
    buf_printf(&text, "%s%s\n", list ? list : "", f->who);
    state_save_file(KNOWN, buf_str(&text));
    buf_free(&text);
    free(list);
    f->asks = false;
    f->known = f->room.owner;
}

/* ---- what comes ---- */

static const char *after(const char *line, const char *begin)
{
    size_t n = strlen(begin);
    return strncmp(line, begin, n) == 0 && (!line[n] || line[n] == ' ') ? line + n + (line[n] == ' ') : NULL;
}

/* The picture of that word is lent to the session, as the file in memory that it came to. */
static void lend_picture(Follow *f, Session *s, const char *word, const char *digest)
{
    Buf bytes = {0};
    Err err;
    char file[40];
    const char *slash = strchr(word, '/');
    for (int i = 0; i < PICTURES; i++)
        if (f->word[i] && strcmp(f->word[i], word) == 0)
            return;
    if (strcmp(digest, "large") == 0 || strcmp(digest, "values") == 0) {
        utf8_print(f->lacks, sizeof f->lacks,
                   *digest == 'l' ? "%.150s is larger than %d MB and does not travel; :open a copy of yours"
                                  : "%.150s is no picture and does not travel; :open a copy of yours",
                   slash ? slash + 1 : word, CLASS_DATA >> 20);
        return;
    }
    int at = f->pictures % PICTURES, fd = -1;
    if (reader_data(&f->room, digest, &bytes, &err)) {
        fd = memfd_create("picture", MFD_CLOEXEC);
        if (fd < 0 || write(fd, bytes.data, bytes.len) != (ssize_t)bytes.len)
            snprintf(f->lacks, sizeof f->lacks, "a picture that the presenter opened could not be kept: no memory?");
        else {
            drop_picture(f, s, at);
            f->pictures++;
            f->lent[at] = fd;
            f->word[at] = xstrdup(word);
            snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
            permit_lend(s, word, file);
        }
    } else
        utf8_print(f->lacks, sizeof f->lacks, "%.250s", err.text);
    buf_free(&bytes);
}

/* The reader's own model stands for the presenter's, where it is the same: true where it is the one on show. */
static bool lend_model(Follow *f, Session *s, const char *word, const char *digest)
{
    char *end;
    unsigned long long wanted = strtoull(digest, &end, 16);
    const char *slash = strchr(word, '/');
    if (f->digested != s->models) {
        f->digested = s->models;
        f->digest = model_digest(&s->model);
    }
    if (f->digest == wanted)
        return true;
    if (f->own == wanted && f->model)
        permit_lend(s, word, f->model);
    else if (f->model)
        utf8_print(f->lacks, sizeof f->lacks,
                   "the presenter's model is %.90s (digest %016llx), and %.60s (%016llx) is another one: join with -m "
                   "and the presenter's",
                   slash ? slash + 1 : word, wanted, f->model, (unsigned long long)f->own);
    else
        utf8_print(f->lacks, sizeof f->lacks,
                   "the presenter's model is %.120s (digest %016llx): join with -m and that model",
                   slash ? slash + 1 : word, wanted);
    return false;
}

/* One command of a step: what it opens is lent. False: it is not to be run, being of the presenter's screen alone, or
 * the opening of what is open. */
static bool prepare(Follow *f, Session *s, const char *one)
{
    Args a;
    const char *verb;
    char digest[17];
    if (strncmp(one, "option zoom", 11) == 0 || strncmp(one, "option map", 10) == 0)
        return false;
    if (!args_parse(&a, one, &verb, NULL) || a.count != 1)
        return true;
    const char *by = strncmp(a.word[0], PERMIT_CLASS, strlen(PERMIT_CLASS)) == 0 ? a.word[0] + strlen(PERMIT_CLASS)
                                                                                 : NULL;
    bool model = strcmp(verb, "model") == 0;
    if (model && !by)
        return strcmp(a.word[0], *s->model_path ? s->model_path : "bundled") != 0;
    if (!by || (!model && strcmp(verb, "open") != 0))
        return true;
    utf8_print(digest, sizeof digest, "%.*s", (int)strcspn(by, "/"), by);
    if (model)
        return !lend_model(f, s, a.word[0], digest);
    lend_picture(f, s, a.word[0], digest);
    return true;
}

static void run(Follow *f, Session *s, const char *lines, bool whole)
{
    Err err = {{0}};
    Buf own = {0};
    char one[COMMAND_LINE];
    int count = 0;
    for (const char *p = lines; *p;) {
        size_t n = command_length(p);
        if (++count > COMMANDS_MOST) {
            trouble(f, "more commands in one line than a step has");
            buf_free(&own);
            return;
        }
        utf8_print(one, sizeof one, "%.*s", (int)n, p);
        if (n >= sizeof one || prepare(f, s, one + strspn(one, " ")))
            buf_add(&own, p, n), buf_putc(&own, '\n');
        p += n + (p[n] != 0);
    }
    f->applying = true;
    bool ok = session_read(s, &f->commands, buf_str(&own), LINE_FOREIGN, &err);
    f->applying = false;
    buf_clear(&s->said);
    bool aside = f->model && !*s->model_path;
    if (aside && !f->aside)
        utf8_print(f->news, sizeof f->news,
                   "The presenter shows the program's own model; yours, %.100s, is set aside (:model opens it again).",
                   f->model);
    f->aside = f->aside || aside;
    if (ok)
        f->trouble[0] = f->lacks[0] = 0;
    else
        trouble(f, *f->lacks ? f->lacks : err.text);
    if (!ok && !whole && f->again != f->room.whole + 1) { /* a step that does not fit may fit on the whole state */
        f->again = f->room.whole + 1;
        reader_again(&f->room);
    }
    buf_free(&own);
}

/* ---- a lesson ---- */

static bool open_lesson(Follow *f, Session *s, Err *err)
{
    Lesson l = {0};
    LessonFile file = {0};
    Buf text = {0};
    Args a;
    const char *verb;
    char line[COMMAND_LINE];
    snprintf(line, sizeof line, "lesson %s", f->lesson ? f->lesson : "");
    if (!args_parse(&a, line, &verb, err) || a.count < 2)
        return err_set(err, "the presenter's lesson did not come");
    bool ours = false, ok = true;
    for (int i = 0; a.count == 2 && !ours && lesson_at(i, &file); i++)
        ours = strcmp(file.name, a.word[0]) == 0;
    if (a.count == 2 && !ours)
        return err_set(err, "the presenter's lesson %.100s is not in this program", a.word[0]);
    ok = ours || reader_data(&f->room, a.word[2], &text, err);
    const char *slash = strrchr(a.word[0], '/');
    ok = ok && lesson_parse(&l, slash ? slash + 1 : a.word[0], ours ? file.text : buf_str(&text),
                            ours ? file.size : text.len, strtoull(a.word[1], NULL, 10), err);
    buf_free(&text);
    if (!ok) {
        lesson_free(&l);
        return false;
    }
    f->playing = true;
    f->history = edits_history_take(s); /* a card has changes of its own */
    if (player_open(&f->player, s, &l, err))
        return true;
    follow_close_lesson(f);
    return false;
}

/* "CARD PAUSES" */
static void take_card(Follow *f, Session *s, const char *text)
{
    Err err = {{0}};
    int card, pauses;
    if (sscanf(text, "%6d %6d", &card, &pauses) != 2 || card < 0 || pauses < 0)
        return;
    f->applying = true;
    bool ok = f->playing || open_lesson(f, s, &err);
    if (ok && card >= f->player.lesson.count)
        ok = err_set(&err, "the presenter's lesson has no card %d here", card + 1);
    ok = ok && player_enter(&f->player, card, &err);
    for (int i = 0; ok && i < pauses && player_waits(&f->player); i++)
        ok = player_on(&f->player, &err);
    f->applying = false;
    buf_clear(&s->said);
    trouble(f, ok ? "" : err.text);
}

static void take_lesson(Follow *f, const char *text)
{
    if (f->lesson && strcmp(f->lesson, text) == 0)
        return;
    follow_close_lesson(f);
    free(f->lesson);
    f->lesson = xstrdup(text);
}

static void take_ask(Follow *f, const char *text)
{
    Rollcall before = f->question;
    if (!*text)
        f->question = (Rollcall){.mine = -1};
    else if (rollcall_read(&f->question, text)) {
        bool same = before.open && before.seed == f->question.seed;
        f->question.mine = same ? before.mine : -1;
        if (!same)
            f->receipt[0] = 0;
    }
}

static void take_caption(Follow *f, const char *line)
{
    Args a;
    const char *verb;
    if (args_parse(&a, line, &verb, NULL)) {
        free(f->caption);
        f->caption = xstrdup(a.count ? a.word[0] : "");
    }
}

static void take(Follow *f, Session *s, const char *line)
{
    const char *text;
    if ((text = after(line, "@whole")) != NULL) {
        char why[120];
        long version = strtol(text, NULL, 10);
        f->other = version != CLASS_VERSION;
        snprintf(why, sizeof why, "it is %s Vitrine (version %ld of the class, here %d); both need the same",
                 version > CLASS_VERSION ? "a newer" : "an older", version, CLASS_VERSION);
        trouble(f, f->other ? why : "");
    } else if (f->other)
        return;
    else if ((text = after(line, "@state")) != NULL) {
        if (f->following) {
            follow_close_lesson(f);
            run(f, s, text, true);
        }
    } else if ((text = after(line, "@lesson")) != NULL)
        take_lesson(f, text);
    else if ((text = after(line, "@card")) != NULL) {
        if (f->following)
            take_card(f, s, text);
    } else if (after(line, "@caption"))
        take_caption(f, line);
    else if ((text = after(line, "@ask")) != NULL)
        take_ask(f, text);
    else if ((text = after(line, "@counts")) != NULL)
        rollcall_read_counts(&f->question, text);
    else if (*line && *line != '@' && f->following)
        run(f, s, line, false);
}

bool follow_behind(const Follow *f)
{
    const ClassReader *r = &f->room;
    return f->joined && !f->asks && r->in.len > r->used && memchr(r->in.data + r->used, '\n', r->in.len - r->used);
}

bool follow_step(Follow *f, Session *s, int64_t now)
{
    Err err;
    const char *line;
    if (!f->joined)
        return false;
    f->goes_on = follow_behind(f);
    if (f->model && !f->own) /* before the presenter's takes its place */
        f->own = model_digest(&s->model);
    bool changed = reader_step(&f->room, now), live = follow_live(f);
    if (f->room.folder >= 0 && f->known != f->room.owner) {
        classroom_user(f->room.owner, f->who);
        f->asks = !is_known(f->room.owner, f->who);
        f->known = f->asks ? f->known : f->room.owner;
    }
    if (f->asks)
        return changed;
    /* what is left waits for the next round: keys and signals come first, whatever somebody writes */
    while (clock_ns() - now < FOLLOW_NS && (line = reader_line(&f->room, &err)) != NULL) {
        if (*err.text)
            trouble(f, err.text);
        else
            take(f, s, line);
        changed = true;
    }
    if (changed && !live)
        f->question = (Rollcall){.mine = -1};
    return changed;
}

/* The terminal that this program sits at, as its file below /dev is called: "pts7"; "none". */
static void terminal_name(char out[16])
{
    const char *name = NULL;
    for (int fd = 0; fd < 3 && !name; fd++)
        name = isatty(fd) ? ttyname(fd) : NULL;
    snprintf(out, 16, "none");
    if (name && strncmp(name, "/dev/pts/", 9) == 0)
        utf8_print(out, 16, "pts%.10s", name + 9);
    else if (name && strncmp(name, "/dev/", 5) == 0 && !strpbrk(name + 5, "/-"))
        utf8_print(out, 16, "%.15s", name + 5);
}

bool follow_answer(Follow *f, Session *s, int digit, Err *err)
{
    char terminal[16], name[80];
    uint64_t hash;
    Rollcall *q = &f->question;
    int choice = rollcall_choice(q, digit);
    if (!q->open || q->closed)
        return err_set(err, "no question is open");
    if (choice < 0)
        return err_set(err, "type the number of an answer, 1 to %d", q->count);
    terminal_name(terminal);
    snprintf(name, sizeof name, "%08x-%s-%d-%llx", q->seed, terminal, choice,
             (unsigned long long)clock_ns() ^ (unsigned long long)getpid() << 40);
    if (!reader_vote(&f->room, name, err))
        return false;
    q->mine = choice;
    f->receipt[0] = 0;
    if (session_hash(s, SIDE_B, &hash))
        receipt_put(&(Receipt){q->seed, choice + 1, hash}, f->receipt);
    return true;
}

void follow_line(const Follow *f, Buf *out)
{
    if (f->asks)
        buf_printf(out,
                   "The class %s is presented by %s. Follow? y: your screen does what theirs does, your files stay "
                   "untouched; n: no.",
                   f->name, f->who);
    else if (!follow_live(f))
        buf_printf(out, "%s: %s; trying again. f leaves.", f->name, *f->room.why ? f->room.why : "not there yet");
    else if (*f->trouble)
        buf_printf(out, "Can't follow %s here: %s", f->who, f->trouble);
    else if (!f->following)
        buf_printf(out, "On your own; f goes back to %s.", f->who);
    else if (*f->caption)
        buf_puts(out, f->caption);
    else
        buf_printf(out, "Following %s. Any change of yours leaves; f comes back.", f->who);
}
