#include "tui/follow.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/model_digest.h"
#include "core/session/ask/receipt.h"
#include "core/session/permit.h"
#include "core/session/state.h"

enum { FILES_MOST = sizeof((Follow *)0)->file / sizeof *((Follow *)0)->file };

bool follow_open(Follow *f, const char *name, const char *model, Err *err)
{
    char directory[PLACE_PATH], path[PLACE_PATH];
    if (!place_share(name, directory, path, err))
        return false;
    follow_close(f);
    *f = (Follow){.joined = true, .following = true, .commands = session_command_set(), .model = model};
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(f->who, sizeof f->who, "%s", name);
    caller_init(&f->caller, directory, path, "follow");
    f->caption = xstrdup("");
    f->question.mine = -1;
    return true;
}

static void drop_files(Follow *f)
{
    char path[PLACE_PATH + 32];
    if (!*f->folder)
        return;
    for (int i = 0; i < FILES_MOST; i++) {
        snprintf(path, sizeof path, "%s/%d", f->folder, i);
        unlink(path);
        free(f->file[i]);
        f->file[i] = NULL;
    }
    rmdir(f->folder);
    f->folder[0] = 0;
    f->files = 0;
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

void follow_close(Follow *f)
{
    if (!f->joined)
        return;
    caller_close(&f->caller);
    follow_close_lesson(f);
    buf_free(&f->lesson);
    commands_free(&f->commands);
    drop_files(f);
    free(f->caption);
    *f = (Follow){0};
}

int follow_poll(const Follow *f, struct pollfd *out, int most)
{
    if (!f->joined || f->caller.fd < 0 || most < 1)
        return 0;
    out[0] = (struct pollfd){.fd = f->caller.fd, .events = (short)(POLLIN | (f->caller.out.len ? POLLOUT : 0))};
    return 1;
}

static void trouble(Follow *f, const char *text)
{
    utf8_clean(f->trouble, sizeof f->trouble, text);
}

void follow_rejoin(Follow *f)
{
    f->following = true;
    f->trouble[0] = 0;
    caller_say(&f->caller, MESSAGE_AGAIN, "");
}

void follow_leave(Follow *f)
{
    f->following = false;
}

/* ---- what comes ---- */

static const char *model_word(const Session *s)
{
    return *s->model_path ? s->model_path : "bundled";
}

/* The lines without those that are of the presenter's screen alone, or would open again the model that is there. */
static void own_lines(const Session *s, const char *lines, Buf *out)
{
    Buf model = {0};
    buf_puts(&model, "model ");
    command_quote(model_word(s), &model);
    for (const char *p = lines; *p;) {
        size_t n = strcspn(p, "\n");
        bool theirs = strncmp(p, "option zoom", 11) == 0 || strncmp(p, "option map", 10) == 0 ||
                      (n == model.len && strncmp(p, buf_str(&model), n) == 0);
        if (!theirs) {
            buf_add(out, p, n);
            buf_putc(out, '\n');
        }
        p += n + (p[n] == '\n');
    }
    buf_free(&model);
}

static void run(Follow *f, Session *s, const char *lines, bool whole)
{
    Err err = {{0}};
    Buf own = {0};
    own_lines(s, lines, &own);
    f->applying = true;
    bool ok = session_read(s, &f->commands, buf_str(&own), LINE_FOREIGN, &err);
    f->applying = false;
    buf_clear(&s->said);
    bool aside = f->model && !*s->model_path;
    if (aside && !f->aside)
        snprintf(f->news, sizeof f->news,
                 "The presenter shows the program's own model; yours, %.100s, is set aside (:model opens it again).",
                 f->model);
    f->aside = f->aside || aside;
    if (ok)
        f->trouble[0] = f->lacks[0] = 0;
    else
        trouble(f, *f->lacks ? f->lacks : err.text);
    if (!ok && !whole) /* a step that does not fit may fit on the whole state */
        caller_say(&f->caller, MESSAGE_AGAIN, "");
    buf_free(&own);
}

/* ---- a lesson ---- */

/* "NAME SEED\nTEXT": kept until a card of it comes. */
static void take_lesson(Follow *f, const Message *m)
{
    if (f->lesson.len == m->size && memcmp(buf_str(&f->lesson), m->text, m->size) == 0)
        return;
    follow_close_lesson(f);
    buf_clear(&f->lesson);
    buf_add(&f->lesson, m->text, m->size);
}

static bool open_lesson(Follow *f, Session *s, Err *err)
{
    Lesson l = {0};
    LessonFile file = {0};
    char name[200];
    const char *text = buf_str(&f->lesson), *end = strchr(text, '\n'), *blank = end;
    while (blank && blank > text && *blank != ' ')
        blank--;
    if (!blank || blank == text || (size_t)(blank - text) >= sizeof name)
        return err_set(err, "the presenter's lesson did not come");
    snprintf(name, sizeof name, "%.*s", (int)(blank - text), text);
    bool ours = false;
    for (int i = 0; !end[1] && !ours && lesson_at(i, &file); i++)
        ours = strcmp(file.name, name) == 0;
    if (!end[1] && !ours)
        return err_set(err, "the presenter's lesson %.100s is not in this program", name);
    if (!lesson_parse(&l, name, ours ? file.text : end + 1, ours ? file.size : f->lesson.len - (size_t)(end + 1 - text),
                      strtoull(blank, NULL, 10), err)) {
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
static void take_card(Follow *f, Session *s, const Message *m)
{
    Err err = {{0}};
    int card, pauses;
    if (sscanf(m->text, "%d %d", &card, &pauses) != 2 || card < 0 || pauses < 0)
        return;
    if (!f->lesson.len) {
        caller_say(&f->caller, MESSAGE_AGAIN, "");
        return;
    }
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

/* A folder of one's own for pictures. */
static bool folder(Follow *f)
{
    char runtime[PLACE_PATH];
    if (*f->folder)
        return true;
    if (!place_runtime(runtime, NULL) ||
        snprintf(f->folder, sizeof f->folder, "%s/vitrine-XXXXXX", runtime) >= (int)sizeof f->folder ||
        !mkdtemp(f->folder))
        f->folder[0] = 0;
    return *f->folder;
}

/* "NAME\nBYTES": the bytes become a file, which the session is lent under that name. */
static void take_file(Follow *f, Session *s, const Message *m)
{
    char path[PLACE_PATH + 32], name[1024];
    const char *end = memchr(m->text, '\n', m->size);
    size_t n = end ? (size_t)(end - m->text) : 0;
    if (!n || n >= sizeof name || memchr(m->text, 0, n) || !folder(f)) {
        trouble(f, "a picture that the presenter opened could not be kept");
        return;
    }
    memcpy(name, m->text, n);
    name[n] = 0;
    if (m->size == n + 1) { /* its name alone: it was too large to travel */
        snprintf(f->lacks, sizeof f->lacks, "%.150s is larger than %d MB and does not travel; :open a copy of yours",
                 name, MESSAGE_PICTURE >> 20);
        trouble(f, f->lacks);
        return;
    }
    int at = 0;
    while (at < FILES_MOST && !(f->file[at] && strcmp(f->file[at], name) == 0))
        at++;
    at = at < FILES_MOST ? at : f->files++ % FILES_MOST;
    snprintf(path, sizeof path, "%s/%d", f->folder, at);
    if (!file_write(path, end + 1, m->size - n - 1, NULL)) {
        trouble(f, "a picture that the presenter opened could not be kept: no room?");
        return;
    }
    if (f->file[at] && strcmp(f->file[at], name) != 0)
        permit_lend(s, f->file[at], NULL);
    free(f->file[at]);
    f->file[at] = xstrdup(name);
    permit_lend(s, name, path);
}

/* "DIGEST NAME": the reader's own model stands for it, where it is the same. */
static void take_model(Follow *f, Session *s, const Message *m)
{
    char *end;
    unsigned long long digest = strtoull(m->text, &end, 16);
    if (end != m->text + 16 || *end != ' ' || strlen(end + 1) >= 1024)
        return;
    if (f->digested != s->models) {
        f->digested = s->models;
        f->digest = model_digest(&s->model);
    }
    const char *same = f->digest == digest && *s->model_path ? s->model_path : f->own == digest ? f->model : NULL;
    if (same) {
        permit_lend(s, end + 1, same);
        return;
    }
    if (f->model)
        snprintf(
            f->lacks, sizeof f->lacks,
            "the presenter's model is %.90s (digest %016llx), and %.60s (%016llx) is another one: join with -m and "
            "the presenter's",
            end + 1, digest, f->model, (unsigned long long)f->own);
    else
        snprintf(f->lacks, sizeof f->lacks,
                 "the presenter's model is %.120s (digest %016llx): join with -m and that model", end + 1, digest);
    trouble(f, f->lacks);
}

static void take_ask(Follow *f, const Message *m)
{
    Rollcall before = f->question;
    if (!m->size)
        f->question = (Rollcall){.mine = -1};
    else if (rollcall_read(&f->question, m->text)) {
        bool same = before.open && before.seed == f->question.seed;
        f->question.mine = same ? before.mine : -1;
        if (!same)
            f->receipt[0] = 0;
    }
}

static void take(Follow *f, Session *s, const Message *m)
{
    if (m->kind != MESSAGE_FILE && strlen(m->text) != m->size)
        return;
    switch (m->kind) {
    case MESSAGE_STEP:
        if (f->following)
            run(f, s, m->text, false);
        break;
    case MESSAGE_STATE:
        if (f->following) {
            follow_close_lesson(f);
            run(f, s, m->text, true);
        }
        break;
    case MESSAGE_LESSON: take_lesson(f, m); break;
    case MESSAGE_CARD:
        if (f->following)
            take_card(f, s, m);
        break;
    case MESSAGE_FILE: take_file(f, s, m); break;
    case MESSAGE_MODEL: take_model(f, s, m); break;
    case MESSAGE_CAPTION:
        free(f->caption);
        f->caption = xstrdup(m->text);
        break;
    case MESSAGE_ASK: take_ask(f, m); break;
    case MESSAGE_COUNTS: rollcall_read_counts(&f->question, m->text); break;
    default: break;
    }
}

bool follow_step(Follow *f, Session *s, int64_t now)
{
    Message m;
    if (!f->joined)
        return false;
    if (f->model && !f->own) /* before the presenter's takes its place */
        f->own = model_digest(&s->model);
    bool changed = caller_step(&f->caller, now);
    if (changed && f->caller.fd >= 0)
        place_user(f->caller.owner, f->who, sizeof f->who);
    while (caller_take(&f->caller, &m)) {
        take(f, s, &m);
        changed = true;
    }
    if (changed && f->caller.fd < 0)
        f->question = (Rollcall){.mine = -1};
    return changed;
}

bool follow_answer(Follow *f, Session *s, int choice, Err *err)
{
    char text[32];
    uint64_t hash;
    Rollcall *q = &f->question;
    if (!q->open || q->closed)
        return err_set(err, "no question is open");
    if (choice < 1 || choice > q->count)
        return err_set(err, "type the number of an answer, 1 to %d", q->count);
    snprintf(text, sizeof text, "%08x %d", q->seed, choice);
    caller_say(&f->caller, MESSAGE_ANSWER, text);
    q->mine = choice - 1;
    f->receipt[0] = 0;
    if (session_hash(s, SIDE_B, &hash))
        receipt_put(&(Receipt){q->seed, choice, hash}, f->receipt);
    return true;
}

void follow_line(const Follow *f, Buf *out)
{
    if (f->caller.fd < 0)
        buf_printf(out, "%s: %s; trying again. f leaves.", f->name, *f->caller.why ? f->caller.why : "not there yet");
    else if (!f->following)
        buf_printf(out, "On your own; f goes back to %s.", f->who);
    else if (*f->trouble)
        buf_printf(out, "Can't follow %s here: %s", f->who, f->trouble);
    else if (*f->caption)
        buf_puts(out, f->caption);
    else
        buf_printf(out, "Following %s. Any change of yours leaves; f comes back.", f->who);
}
