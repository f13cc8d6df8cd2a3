#include "tui/share.h"

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
#include "core/session/link.h"
#include "core/session/permit.h"
#include "core/session/state.h"
#include "core/session/text.h"

#define AGAIN_NS INT64_C(500000000) /* between two looks at the votes, and two attempts at a full disk */
#define LOOK_NS INT64_C(5000000)    /* such a look; … */
#define LAST_NS INT64_C(300000000)  /* … the one before the result is shown */
enum { LOOK_LEAST = 64 };           /* files of a look */
enum { TEXT_MOST = 1100 };          /* bytes of a caption: every one escaped it is still a line */

bool share_is_open(const Share *h)
{
    return *h->room.path;
}

bool share_open(Share *h, const char *name, const char *group, Err *err)
{
    char own[80], path[CLASS_PATH];
    if (*h->room.path)
        return err_set(err, "it is shared already: vitrine join %s", h->name);
    classroom_user(geteuid(), own);
    utf8_print(h->name, sizeof h->name, "%.*s", (int)(*name ? strlen(name) : strcspn(own, " ")), *name ? name : own);
    h->since = CLASS_FILE; /* the whole state first */
    if (!classroom_path(*name ? name : h->name, path, err) || !classroom_make(&h->room, path, group, false, err))
        return false;
    int fd = openat(h->room.folder, "votes", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    h->folder = fd < 0 ? NULL : fdopendir(fd);
    return true;
}

void share_close(Share *h)
{
    classroom_close(&h->room);
    if (h->folder)
        closedir(h->folder);
    free(h->caption);
    buf_free(&h->entries);
    *h = (Share){.s = h->s, .presenter = h->presenter, .question = h->question};
}

/* Text in quotes, cut where it is very long. */
static void put_text(const char *text, Buf *out)
{
    char cut[TEXT_MOST + 1];
    utf8_print(cut, sizeof cut, "%s", text);
    command_quote(cut, out);
}

/* What lies in that file goes into the class: its digest, or why it does not. */
static const char *put_file(Share *h, const char *file, size_t most, char digest[17])
{
    Buf bytes = {0};
    Err err;
    if (!file_exists(file) || file_is_dir(file))
        return "values";
    bool read = file_read(file, most, &bytes, NULL);
    if (read && !classroom_put(&h->room, &bytes, digest, &err))
        utf8_print(h->news, sizeof h->news, "%.60s could not be put into the class: %.200s", file, err.text);
    buf_free(&bytes);
    return read ? digest : "large";
}

/* A resolved line as others can run it: what it opens is data of the class, by digest, and said to be so before it; no
 * name of a file goes out. How large a pane is on this screen is nobody else's business. */
static void put_line(Share *h, const char *line, Buf *loans, Buf *out)
{
    Args a;
    const char *verb, *by = NULL;
    char digest[17], name[1200];
    if (strncmp(line, "option zoom", 11) == 0 || strncmp(line, "option map", 10) == 0)
        return;
    buf_puts(out, out->len ? "; " : "");
    bool one = args_parse(&a, line, &verb, NULL) && a.count == 1;
    if (one && strcmp(verb, "open") == 0 && *a.word[0] != '#' && session_input(h->s, SIDE_B)->kind == INPUT_PICTURE)
        by = put_file(h, a.word[0], CLASS_DATA, digest);
    else if (one && strcmp(verb, "model") == 0 && strcmp(a.word[0], "bundled") != 0 && !text_asked(a.word[0])) {
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)link_model_digest(h->s));
        by = digest;
    }
    if (!by) {
        buf_puts(out, line);
        return;
    }
    const char *slash = strrchr(a.word[0], '/');
    snprintf(name, sizeof name, PERMIT_CLASS "%s/%s", by, slash ? slash + 1 : a.word[0]);
    buf_printf(loans, "@%s ", verb);
    command_quote(name, loans);
    buf_printf(out, "%s ", verb);
    command_quote(name, out);
    buf_putc(loans, '\n');
}

/* Lines as one, behind that word. */
static void put_lines(Share *h, const char *begin, const char *lines, Buf *out)
{
    char one[COMMAND_LINE];
    Buf own = {0};
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        utf8_print(one, sizeof one, "%.*s", (int)strcspn(p, "\n"), p);
        put_line(h, one, out, &own);
    }
    if (own.len)
        buf_printf(out, "%s%s\n", begin, buf_str(&own));
    buf_free(&own);
}

void share_entry(Share *h, const char *resolved)
{
    if (*h->room.path)
        buf_puts(&h->entries, resolved);
}

static bool shows_card(const Share *h)
{
    return h->lesson.player && h->lesson.card >= 0;
}

/* "@card FILE SEED CARD PAUSES [DIGEST]": the program's own lessons have no text, everybody has them. */
static void put_card(Share *h, Buf *out)
{
    const Player *p = h->lesson.player;
    char digest[17];
    LessonFile f;
    bool own = lesson_named(p->lesson.file, &f);
    buf_puts(out, "@card ");
    put_text(p->lesson.file, out);
    buf_printf(out, " %llu %d %d%s%s\n", (unsigned long long)h->lesson.seed, h->lesson.card, p->pause, own ? "" : " ",
               own ? "" : put_file(h, p->lesson.file, LESSON_BYTES, digest));
}

static void put_caption(Share *h, bool again, Buf *out)
{
    const Deck *d = &h->presenter->deck;
    bool on = d->open && h->presenter->view.on;
    const char *text = !on ? "" : deck_is_title(d, d->at) ? d->title : buf_str(&d->caption);
    if (!again && h->caption && strcmp(h->caption, text) == 0)
        return;
    free(h->caption);
    h->caption = xstrdup(text);
    buf_puts(out, "@caption ");
    put_text(text, out);
    buf_putc(out, '\n');
}

static void put_question(Share *h, Buf *out)
{
    h->asked = false;
    buf_puts(out, "@ask ");
    if (h->question->open)
        rollcall_put(h->question, out);
    buf_putc(out, '\n');
}

/* The whole state, as commands; of a worked example: its card, and what was changed there. */
static void put_whole(Share *h, Buf *out)
{
    Buf text = {0};
    bool worked = shows_card(h) && !h->s->now->model;
    if (worked)
        put_card(h, out);
    session_write(h->s, STATE_WHOLE | (worked ? 0u : STATE_MODEL | STATE_INPUT), &text);
    put_lines(h, worked ? "" : "@state ", buf_str(&text), out);
    buf_free(&text);
    put_caption(h, true, out);
    put_question(h, out);
}

/* What happened since the last round: a card by its number, whatever else as commands, a line each step. True where a
 * new file begins with it. */
static bool put_moves(Share *h, Buf *out)
{
    int moves = shows_card(h) ? h->lesson.player->moves : 0;
    bool whole = h->since >= CLASS_FILE || (!moves && h->moves_said);
    if (whole)
        put_whole(h, out);
    else if (moves && moves != h->moves_said)
        put_card(h, out);
    else if (h->entries.len)
        put_lines(h, "", buf_str(&h->entries), out);
    h->moves_said = moves;
    buf_clear(&h->entries);
    put_caption(h, false, out);
    if (h->asked)
        put_question(h, out);
    return whole;
}

/* Where it can't be written all is said anew, as soon as it can. */
static void write_out(Share *h, int64_t now)
{
    Buf lines = {0};
    Err err;
    if (h->tried && now - h->tried < AGAIN_NS)
        return;
    bool whole = put_moves(h, &lines);
    bool ok = !lines.len || (whole ? classroom_anew(&h->room, &lines, &err) : classroom_add(&h->room, &lines, &err));
    h->since = ok ? (whole ? 0 : h->since) + lines.len : CLASS_FILE;
    if (!ok && !h->tried)
        utf8_print(h->news, sizeof h->news, "Followers wait: the class can't be written, %.250s.", err.text);
    else if (ok && h->tried)
        snprintf(h->news, sizeof h->news, "The class is written again.");
    h->tried = ok ? 0 : now;
    buf_free(&lines);
}

/* ---- votes: each an empty file "SEED-TERMINAL-CHOICE-NUMBER", its owner whom the kernel says ---- */

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

/* False: the class is full. */
static bool count_vote(Share *h, const Vote *new)
{
    int at = -1;
    for (int i = 0; i < h->votes; i++)
        if (h->vote[i].owner == new->owner) {
            if (!new->terminal && h->vote[i].terminal)
                return true;
            if (h->vote[i].terminal == new->terminal || !h->vote[i].terminal)
                at = i;
        }
    if (at < 0 && h->votes == SHARE_VOTERS)
        return false;
    at = at < 0 ? h->votes++ : at;
    if (new->when >= h->vote[at].when || h->vote[at].terminal != new->terminal)
        h->vote[at] = *new;
    return true;
}

/* Of one name alone: a second one could be somebody else's doing. */
static bool read_vote(const Rollcall *q, const char *name, const struct stat *st, Vote *v)
{
    unsigned seed;
    char terminal[16];
    int used = 0;
    if (!S_ISREG(st->st_mode) || st->st_size || st->st_nlink != 1 ||
        sscanf(name, "%8x-%15[a-z0-9]-%1d-%*16[0-9a-f]%n", &seed, terminal, &v->choice, &used) != 3 || !used ||
        name[used])
        return false;
    v->owner = st->st_uid;
    v->when = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
    v->terminal = terminal_of(terminal, st->st_uid);
    return seed == q->seed && v->choice >= 0 && v->choice < q->count;
}

/* Takes in one file; what was read is taken away, and what is no vote too, where that can be done. */
static void take_one(Share *h, int folder, const char *name)
{
    struct stat st;
    Vote new = {0};
    char who[80];
    const Rollcall *q = h->question;
    if (*name == '.' || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (!read_vote(q, name, &st, &new)) {
        if (!h->told_junk)
            snprintf(h->news, sizeof h->news, "Files of %s in the class are no votes of this question: not counted.",
                     classroom_user(st.st_uid, who));
        h->told_junk = true;
    } else if (q->open && !q->closed)
        h->full = !count_vote(h, &new) || h->full;
    if (unlinkat(folder, name, 0) != 0)
        unlinkat(folder, name, AT_REMOVEDIR);
}

/* Looks through votes/ until then, going on where the look before ended, so that whoever fills it hides nobody's vote;
 * all: from its start. How many have voted, and that more can't, is news to all. True where it is another result. */
static bool take_votes(Share *h, bool all, int64_t until)
{
    Rollcall *q = h->question, before = *q;
    struct dirent *e = NULL;
    if (h->seed != q->seed || !q->open) {
        h->seed = q->seed;
        h->votes = 0;
        h->told_junk = h->full = false;
    }
    if (h->folder && all)
        rewinddir(h->folder);
    for (int i = 0; h->folder && (i < LOOK_LEAST || clock_ns() < until) && (e = readdir(h->folder)) != NULL; i++)
        take_one(h, dirfd(h->folder), e->d_name);
    if (h->folder && !e)
        rewinddir(h->folder); /* what came meanwhile is there with the next look */
    if (!q->open || q->closed)
        return false;
    int most = 0;
    char who[80] = "";
    memset(q->votes, 0, sizeof q->votes);
    for (int i = 0; i < h->votes; i++) {
        int same = 0;
        for (int k = 0; k < h->votes; k++)
            same += h->vote[k].owner == h->vote[i].owner;
        if (same > most)
            classroom_user(h->vote[i].owner, who);
        most = same > most ? same : most;
        q->votes[h->vote[i].choice]++;
    }
    q->note[0] = 0;
    if (most > 1)
        snprintf(q->note, sizeof q->note, "%d of %d votes are of one account, %s", most, h->votes, who);
    if (h->full || (all && e))
        snprintf(q->note, sizeof q->note,
                 h->full ? "The class is full: %d have voted, more are not counted."
                         : "More files lie in votes/ than could be looked through: not all count.",
                 SHARE_VOTERS);
    bool changed = strcmp(q->note, before.note) != 0 || memcmp(q->votes, before.votes, sizeof q->votes) != 0;
    h->asked = h->asked || changed;
    return changed;
}

void share_count(Share *h)
{
    if (*h->room.path)
        take_votes(h, true, clock_ns() + LAST_NS);
}

bool share_step(Share *h, int64_t now)
{
    if (!*h->room.path)
        return false;
    write_out(h, now);
    bool due = now - h->counted >= AGAIN_NS;
    h->counted = due ? now : h->counted;
    return (due && take_votes(h, false, now + LOOK_NS)) || *h->news;
}
