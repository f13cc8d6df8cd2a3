#include "tui/share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/model_digest.h"
#include "core/session/permit.h"
#include "core/session/state.h"
#include "core/session/text.h"

#define COUNT_NS INT64_C(500000000)
enum { TEXT_MOST = 1100, COUNT_AT_ONCE = 512 }; /* bytes of a caption: every one escaped it is still a line */

bool share_is_open(const Share *h)
{
    return *h->room.path;
}

bool share_notes(Share *h, Err *err)
{
    char path[CLASS_PATH];
    if (*h->stage.path)
        return true;
    if (!classroom_notes(path, err) || !classroom_make(&h->stage, path, NULL, true, err))
        return false;
    h->keys = openat(h->stage.folder, "keys", O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    h->keys_at = 0;
    return true;
}

bool share_open(Share *h, const char *name, const char *group, Err *err)
{
    char own[80], path[CLASS_PATH];
    if (*h->room.path)
        return err_set(err, "it is shared already: vitrine join %s", h->name);
    classroom_user(geteuid(), own);
    utf8_print(h->name, sizeof h->name, "%.*s", (int)(*name ? strlen(name) : strcspn(own, " ")), *name ? name : own);
    h->whole = true;
    h->seed = 0;
    return classroom_path(*name ? name : h->name, path, err) && classroom_make(&h->room, path, group, false, err);
}

void share_close(Share *h)
{
    if (*h->stage.path && h->keys >= 0)
        close(h->keys);
    classroom_close(&h->stage);
    classroom_close(&h->room);
    char **const texts[] = {&h->caption, &h->noted, &h->lesson_said, &h->picture};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(*texts[i]);
    buf_free(&h->drive);
    buf_free(&h->entries);
    *h = (Share){.s = h->s, .presenter = h->presenter, .question = h->question};
}

int share_poll(const Share *h, struct pollfd *out, int most)
{
    int n = *h->room.path ? classroom_poll(h->room.watch, out, most) : 0;
    return n + (*h->stage.path ? classroom_poll(h->stage.watch, out + n, most - n) : 0);
}

static void say(Share *h, Buf *line)
{
    classroom_say(&h->room, buf_str(line));
    h->since += line->len + 1;
    buf_free(line);
}

/* Text in quotes, cut where it is very long. */
static void put_text(const char *text, Buf *out)
{
    char cut[TEXT_MOST + 1];
    size_t n = strlen(text);
    n = n < TEXT_MOST ? n : TEXT_MOST;
    while (n && n == TEXT_MOST && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    utf8_print(cut, sizeof cut, "%.*s", (int)n, text);
    command_quote(cut, out);
}

/* ---- what commands came to ---- */

/* The picture lies in the class: its digest, or why it does not. */
static const char *put_picture(Share *h, const char *file)
{
    struct stat st;
    char stamp[1200];
    Buf bytes = {0};
    Err err;
    if (stat(file, &st) != 0 || !S_ISREG(st.st_mode))
        return "values";
    utf8_print(stamp, sizeof stamp, "%lld %lld %.1100s", (long long)st.st_mtime, (long long)st.st_size, file);
    if (h->picture && strcmp(h->picture, stamp) == 0)
        return h->put;
    if (!file_read(file, CLASS_DATA, &bytes, NULL)) {
        buf_free(&bytes);
        return "large";
    }
    classroom_digest(&bytes, h->put);
    free(h->picture);
    h->picture = NULL;
    if (classroom_put(&h->room, h->put, &bytes, &err))
        h->picture = xstrdup(stamp);
    else
        utf8_print(h->news, sizeof h->news, "The picture could not be put into the class: %.200s", err.text);
    buf_free(&bytes);
    return h->put;
}

static const char *model_word(Share *h, char digest[17])
{
    if (h->digested != h->s->models) {
        h->digested = h->s->models;
        h->digest = model_digest(&h->s->model);
    }
    snprintf(digest, 17, "%016llx", (unsigned long long)h->digest);
    return digest;
}

/* A resolved line as others can run it: what it opens is data of the class, by digest; no name of a file goes out. */
static void put_line(Share *h, const char *line, Buf *out)
{
    Args a;
    const char *verb, *by = NULL;
    char digest[17], name[1200];
    if (args_parse(&a, line, &verb, NULL) && a.count == 1) {
        const char *word = a.word[0], *slash = strrchr(word, '/');
        if (strcmp(verb, "open") == 0 && *word != '#' && session_input(h->s, SIDE_B)->kind == INPUT_PICTURE)
            by = put_picture(h, word);
        else if (strcmp(verb, "model") == 0 && strcmp(word, "bundled") != 0 && !text_asked(word))
            by = model_word(h, digest);
        snprintf(name, sizeof name, PERMIT_CLASS "%s/%s", by ? by : "", slash ? slash + 1 : word);
    }
    if (!by) {
        buf_puts(out, line);
        return;
    }
    buf_printf(out, "%s ", verb);
    command_quote(name, out);
}

/* Lines as one. */
static void put_lines(Share *h, const char *lines, Buf *out)
{
    char one[COMMAND_LINE];
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        utf8_print(one, sizeof one, "%.*s", (int)strcspn(p, "\n"), p);
        put_line(h, one, out);
        if (p[strcspn(p, "\n")] && p[strcspn(p, "\n") + 1])
            buf_puts(out, "; ");
    }
}

void share_entry(Share *h, const char *resolved)
{
    if (!*h->room.path || !*resolved)
        return;
    buf_puts(&h->entries, resolved);
    if (resolved[strlen(resolved) - 1] != '\n')
        buf_putc(&h->entries, '\n');
}

/* ---- a lesson's cards ---- */

static bool lesson_own(const char *file)
{
    LessonFile f;
    for (int i = 0; lesson_at(i, &f); i++)
        if (strcmp(f.name, file) == 0)
            return true;
    return false;
}

/* "@lesson FILE SEED [DIGEST]": the program's own have no text, everybody has them. */
static void say_lesson(Share *h, bool again)
{
    const char *file = h->lesson.player->lesson.file;
    Buf line = {0}, text = {0};
    char digest[17];
    Err err;
    buf_puts(&line, "@lesson ");
    put_text(file, &line);
    buf_printf(&line, " %llu", (unsigned long long)h->lesson.seed);
    if (!lesson_own(file) && file_read(file, LESSON_BYTES, &text, NULL)) { /* gone meanwhile: followers say so */
        classroom_digest(&text, digest);
        if (!classroom_put(&h->room, digest, &text, &err))
            utf8_print(h->news, sizeof h->news, "The lesson could not be put into the class: %.200s", err.text);
        buf_printf(&line, " %s", digest);
    }
    buf_free(&text);
    bool same = h->lesson_said && strcmp(h->lesson_said, buf_str(&line)) == 0;
    if (!same || again) {
        free(h->lesson_said);
        h->lesson_said = xstrdup(buf_str(&line));
        say(h, &line);
    }
    buf_free(&line);
}

static void say_card(Share *h, bool again)
{
    Buf line = {0};
    say_lesson(h, again);
    buf_printf(&line, "@card %d %d", h->lesson.card, h->lesson.player->pause);
    say(h, &line);
}

static bool shows_card(const Share *h)
{
    return h->lesson.player && h->lesson.card >= 0;
}

/* ---- what is said ---- */

static void say_caption(Share *h, bool again)
{
    const Deck *d = &h->presenter->deck;
    bool on = d->open && h->presenter->view.on;
    const char *text = !on ? "" : deck_is_title(d, d->at) ? d->title : buf_str(&d->caption);
    if (!again && h->caption && strcmp(h->caption, text) == 0)
        return;
    Buf line = {0};
    free(h->caption);
    h->caption = xstrdup(text);
    buf_puts(&line, "@caption ");
    put_text(text, &line);
    say(h, &line);
}

void share_question(Share *h)
{
    Buf ask = {0}, counts = {0};
    const Rollcall *q = h->question;
    if (h->seed != q->seed || !q->open) {
        h->seed = q->seed;
        h->votes = 0;
        h->told_junk = false;
    }
    if (!*h->room.path)
        return;
    buf_puts(&ask, "@ask ");
    if (q->open)
        rollcall_put(q, &ask);
    say(h, &ask);
    if (!q->open)
        return;
    buf_puts(&counts, "@counts ");
    rollcall_put_counts(q, &counts);
    say(h, &counts);
}

/* The whole state, as commands; of a worked example: its card, and what was changed there. */
static void say_whole(Share *h)
{
    Buf line = {0}, text = {0};
    bool worked = shows_card(h) && !h->s->now->model;
    h->whole = false;
    h->since = 0;
    buf_printf(&line, "@whole %d", CLASS_VERSION);
    say(h, &line);
    if (worked)
        say_card(h, true);
    else
        buf_puts(&line, "@state ");
    session_write(h->s, STATE_WHOLE | (worked ? 0u : STATE_MODEL | STATE_INPUT), &text);
    put_lines(h, buf_str(&text), &line);
    say(h, &line);
    buf_free(&text);
    if (!worked && shows_card(h))
        say_lesson(h, true);
    say_caption(h, true);
    share_question(h);
}

/* What happened since the last round: a card by its number, whatever else as commands, a line each step. */
static void say_moves(Share *h)
{
    int moves = shows_card(h) ? h->lesson.player->moves : 0;
    Buf *e = &h->entries, line = {0};
    if (h->whole || (!moves && h->moves_said)) {
        say_whole(h);
    } else if (moves && moves != h->moves_said)
        say_card(h, false);
    else if (e->len) {
        put_lines(h, buf_str(e), &line);
        say(h, &line);
    }
    h->moves_said = moves;
    buf_clear(e);
    say_caption(h, false);
    h->whole = h->since > CLASS_WHOLE;
}

static void write_out(Share *h)
{
    Err err;
    if (h->room.written >= CLASS_FILE) {
        if (!classroom_anew(&h->room, &err)) {
            buf_clear(&h->room.late);
            classroom_say(&h->room, ""); /* ends a line that was torn */
            h->room.written = 0;
        }
        say_whole(h);
    }
    bool full = !classroom_flush(&h->room);
    if (full && h->told_trouble != h->room.trouble)
        utf8_print(h->news, sizeof h->news, "Followers wait: the class can't be written, %.100s (%.150s).",
                   strerror(h->room.trouble), h->room.path);
    else if (!full && h->told_trouble)
        snprintf(h->news, sizeof h->news, "The class is written again.");
    h->told_trouble = full ? h->room.trouble : 0;
    h->changed |= *h->news;
}

/* ---- votes ---- */

/* The terminal of that name, where it is one of its owner's; else 0. */
static uint64_t terminal_of(const char *name, uid_t owner)
{
    char path[40];
    struct stat st;
    bool pts = strncmp(name, "pts", 3) == 0;
    utf8_print(path, sizeof path, "/dev/%s%.20s", pts ? "pts/" : "", pts ? name + 3 : name);
    return strcmp(name, "none") != 0 && lstat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_uid == owner
               ? (uint64_t)st.st_rdev
               : 0;
}

/* One vote of each owner and terminal, the last one; one of none where the owner has no other. False: the class is
 * full. */
static bool count_vote(Share *h, const Vote *v)
{
    int at = -1;
    for (int i = 0; i < h->votes; i++)
        if (h->voted[i].owner == v->owner) {
            if (!v->terminal && h->voted[i].terminal)
                return true;
            if (h->voted[i].terminal == v->terminal || !h->voted[i].terminal)
                at = i;
        }
    if (at < 0 && h->votes == SHARE_VOTERS)
        return false;
    at = at < 0 ? h->votes++ : at;
    if (v->when >= h->voted[at].when || h->voted[at].terminal != v->terminal)
        h->voted[at] = *v;
    return true;
}

/* "SEED-TERMINAL-CHOICE-NUMBER", an empty file of its owner's. */
static bool read_vote(const Share *h, const char *name, const struct stat *st, Vote *v)
{
    unsigned seed;
    char terminal[16];
    int used = 0;
    if (!S_ISREG(st->st_mode) || st->st_size ||
        sscanf(name, "%8x-%15[a-z0-9]-%1d-%*16[0-9a-f]%n", &seed, terminal, &v->choice, &used) != 3 || !used ||
        name[used])
        return false;
    v->owner = st->st_uid;
    v->when = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    v->terminal = terminal_of(terminal, st->st_uid);
    return seed == h->question->seed && v->choice < h->question->count;
}

/* What is said beside the result. */
static void put_note(const Share *h, bool full, char *out, size_t n)
{
    int most = 0;
    uid_t whose = 0;
    char who[80];
    for (int i = 0; i < h->votes; i++) {
        int same = 0;
        for (int k = 0; k < h->votes; k++)
            same += h->voted[k].owner == h->voted[i].owner;
        if (same > most) {
            most = same;
            whose = h->voted[i].owner;
        }
    }
    out[0] = 0;
    if (full)
        snprintf(out, n, "The class is full: %d have voted, more are not counted.", SHARE_VOTERS);
    else if (most > 1)
        snprintf(out, n, "%d of %d votes are of one account, %s", most, h->votes, classroom_user(whose, who));
}

/* Takes in what lies in votes/, so many at most: what was read is taken away, and what is no vote too. True: there may
 * be more. */
static bool take_votes(Share *h, int most)
{
    Rollcall *q = h->question;
    int fd = openat(h->room.votes, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), seen = 0, junk = 0;
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    bool full = false;
    uid_t whose = 0;
    for (struct dirent *e; d && seen < most && (e = readdir(d)) != NULL;) {
        struct stat st;
        Vote v = {0};
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        seen++;
        bool there = fstatat(h->room.votes, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0;
        bool vote = there && read_vote(h, e->d_name, &st, &v);
        if (there && !vote) {
            junk++;
            whose = st.st_uid;
        }
        if (vote && q->open && !q->closed)
            full = !count_vote(h, &v) || full;
        if (unlinkat(h->room.votes, e->d_name, 0) != 0)
            unlinkat(h->room.votes, e->d_name, AT_REMOVEDIR);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    if (junk && !h->told_junk) {
        h->changed = true;
        char who[80];
        snprintf(h->news, sizeof h->news, "Files of %s in the class were no votes of this question and are gone.",
                 classroom_user(whose, who));
        h->told_junk = true;
    }
    if (!seen || !q->open || q->closed)
        return seen == most;
    memset(q->votes, 0, sizeof q->votes);
    for (int i = 0; i < h->votes; i++)
        q->votes[h->voted[i].choice]++;
    char note[sizeof q->note];
    put_note(h, full, note, sizeof note);
    if (full && strcmp(note, q->note) != 0) { /* whoever can't vote hears so */
        snprintf(q->note, sizeof q->note, "%s", note);
        share_question(h);
    }
    snprintf(q->note, sizeof q->note, "%s", note);
    h->changed = true;
    return seen == most;
}

void share_count(Share *h)
{
    for (int i = 0; *h->room.path && i < 8 && take_votes(h, COUNT_AT_ONCE); i++)
        ;
}

/* ---- the notes terminal ---- */

/* "@stand AT ALL BEGAN ENTERED PLANNED BLANK NOTES NOW NEXT QUESTION"; times as clock_ns has them. */
static void say_notes(Share *h)
{
    const Present *v = &h->presenter->view;
    const Deck *d = &h->presenter->deck;
    int total, step = session_step_number(h->s, &total);
    bool deck = d->open && d->at >= 0;
    Buf line = {0}, text = {0};
    buf_printf(&line, "@stand %d %d %lld %lld %g %d ", deck ? d->at + 1 : step, deck ? d->count : total,
               (long long)v->began, (long long)v->entered, deck ? deck_seconds(d, d->at) : 0, v->blank);
    put_text(buf_str(&d->notes), &line);
    for (int k = 0; k < 3; k++) {
        buf_clear(&text);
        if (k < 2 && deck && d->at + k < d->count)
            deck_label(d, d->at + k, &text);
        else if (k == 0)
            buf_puts(&text, h->s->stages.boxes[h->s->place.box].label);
        else if (k == 2 && h->question->open)
            buf_printf(&text, "%d answers to: %s", rollcall_total(h->question), h->question->text);
        buf_putc(&line, ' ');
        char cut[301];
        utf8_print(cut, sizeof cut, "%.300s", buf_str(&text));
        put_text(cut, &line);
    }
    Err err;
    if (!h->noted || strcmp(h->noted, buf_str(&line)) != 0) {
        free(h->noted);
        h->noted = xstrdup(buf_str(&line));
        if (h->stage.written < CLASS_FILE || classroom_anew(&h->stage, &err))
            classroom_say(&h->stage, h->noted);
    }
    buf_free(&line);
    buf_free(&text);
    classroom_flush(&h->stage);
}

static void drive(Share *h, const char *text)
{
    static const char *const WORDS[] = {"next", "prev", "go last"};
    char *end;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(text, WORDS[i]) == 0)
            buf_printf(&h->drive, "present %s\n", text);
    if (strcmp(text, "blank") == 0)
        buf_puts(&h->drive, "blank\n");
    long step = strncmp(text, "go ", 3) == 0 ? strtol(text + 3, &end, 10) : 0;
    if (step > 0 && step < 10000 && !*end)
        buf_printf(&h->drive, "present go %ld\n", step);
}

static void take_keys(Share *h)
{
    char bytes[1025];
    ssize_t n = h->keys < 0 ? 0 : pread(h->keys, bytes, sizeof bytes - 1, (off_t)h->keys_at);
    bytes[n > 0 ? n : 0] = 0;
    for (char *p = bytes, *end; (end = strchr(p, '\n')) != NULL; p = end + 1) {
        *end = 0;
        h->keys_at += end + 1 - p;
        drive(h, p);
    }
}

void share_step(Share *h, int64_t now)
{
    if (*h->stage.path) {
        classroom_woken(h->stage.watch);
        say_notes(h);
        take_keys(h);
    }
    if (!*h->room.path)
        return;
    say_moves(h);
    write_out(h);
    bool woken = classroom_woken(h->room.watch);
    if (woken || now - h->counted >= COUNT_NS) {
        h->counted = now;
        take_votes(h, COUNT_AT_ONCE);
    }
}
