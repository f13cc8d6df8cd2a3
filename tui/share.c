#include "tui/share.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/command.h"
#include "core/session/play.h"
#include "core/session/state.h"

#define AGAIN_NS INT64_C(500000000) /* between two looks at the votes, and two attempts at a full disk */
#define LOOK_NS INT64_C(5000000)    /* such a look; … */
#define LAST_NS INT64_C(300000000)  /* … the one before the result is shown */
enum { LOOK_LEAST = 64 };           /* files of a look */
enum { TEXT_MOST = 1100 };          /* bytes of a caption: every one escaped it is still a line */

bool share_open(Share *h, const char *name, const char *group, Err *err)
{
    char own[80];
    if (*h->room.path)
        return err_set(err, "it is shared already: vitrine join %s", h->name);
    machine_user(geteuid(), own);
    utf8_print(h->name, sizeof h->name, "%.*s", (int)(*name ? strlen(name) : strcspn(own, " ")), *name ? name : own);
    h->since = CLASS_FILE; /* the whole state first */
    h->film = NO_BOX;
    return classroom_make(&h->room, *name ? name : h->name, group, err);
}

void share_close(Share *h)
{
    classroom_close(&h->room);
    buf_free(&h->said);
    free(h->vote);
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

/* What lies in that file goes into the class: its digest, or "none" where it can't be read or is too large. */
static const char *put_file(Share *h, const char *file, size_t most, char digest[17])
{
    Buf bytes = {0};
    Err err;
    bool read = strcmp(file, "-") != 0 && file_read(file, most, &bytes, NULL);
    if (read && !classroom_put(&h->room, &bytes, digest, &err))
        utf8_print(h->news, sizeof h->news, "%.60s could not be put into the class: %.200s", file, err.text);
    buf_free(&bytes);
    return read ? digest : "none";
}

/* A resolved line as others can run it: no name of a file goes out, what it opens is a word of the class (command.h).
 * How large a pane is on this screen is nobody else's business. */
static void put_line(Share *h, const char *line, Buf *out)
{
    Args a;
    const char *verb;
    char by[32] = "", digest[17], name[1200];
    if (strncmp(line, "option zoom", 11) == 0 || strncmp(line, "option map", 10) == 0)
        return;
    bool one = args_parse(&a, line, &verb, NULL) && a.count == 1;
    if (one && strcmp(verb, "open") == 0 && *a.word[0] != '#' && session_input(h->s, SIDE_B)->kind == INPUT_PICTURE)
        snprintf(by, sizeof by, "%s", put_file(h, a.word[0], CLASS_DATA, digest));
    else if (one && strcmp(verb, "model") == 0 && strcmp(a.word[0], "bundled") != 0 && !text_asked(a.word[0]) &&
             !photos_asked(a.word[0]))
        snprintf(by, sizeof by, SHARE_MODEL "%016llx", (unsigned long long)link_model_digest(h->s));
    buf_printf(out, "; %s%s", *by ? verb : line, *by ? " " : "");
    if (!*by)
        return;
    const char *slash = strrchr(a.word[0], '/');
    snprintf(name, sizeof name, PERMIT_CLASS "%s/%s", by, slash ? slash + 1 : a.word[0]);
    command_quote(name, out);
}

/* Lines as one, behind that word. */
static void put_lines(Share *h, const char *begin, const char *lines, Buf *out)
{
    char one[COMMAND_LINE];
    Buf own = {0};
    for (const char *p = lines; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        utf8_print(one, sizeof one, "%.*s", (int)strcspn(p, "\n"), p);
        put_line(h, one, &own);
    }
    if (own.len)
        buf_printf(out, "%s%s\n", begin, buf_str(&own) + strlen("; "));
    buf_free(&own);
}

/* "@card CARD PAUSES FILE SEED [DIGEST]": the program's own lessons have no text, everybody has them. */
static void put_card(Share *h, Buf *out)
{
    const Player *p = h->player;
    char digest[17];
    LessonFile f;
    bool own = lesson_named(p->lesson.file, &f);
    buf_printf(out, "@card %d %d ", p->card, p->pause);
    put_text(p->lesson.file, out);
    buf_printf(out, " %llu %s\n", (unsigned long long)h->lesson_seed,
               own ? "" : put_file(h, p->lesson.file, LESSON_BYTES, digest));
}

/* Caption and question, which stand whatever is on show. */
static void put_said(const Share *h, Buf *out)
{
    const Deck *d = &h->presenter->deck;
    bool on = d->open && h->presenter->view.on;
    buf_puts(out, "@caption ");
    put_text(!on ? "" : deck_is_title(d, d->at) ? d->title : buf_str(&d->caption), out);
    buf_puts(out, "\n@ask ");
    if (h->question->open)
        rollcall_put(h->question, out);
    buf_putc(out, '\n');
}

/* The whole state, as commands; of a worked example: its card, and what was changed there. */
static void put_whole(Share *h, Buf *out)
{
    Buf text = {0};
    bool worked = h->player && !h->s->now->model;
    if (worked)
        put_card(h, out);
    session_write(h->s, STATE_WHOLE | (worked ? 0u : STATE_MODEL | STATE_INPUT), &text);
    put_lines(h, worked ? "" : "@state ", buf_str(&text), out);
    buf_free(&text);
}

/* The film: a step's result comes on a follower's screen too, where that step is on show. At which pace it goes on is
 * the presenter's alone. */
static void put_film(Share *h, bool again, Buf *out)
{
    int box = h->s->look.playing && play_shows(h->s) ? h->s->place.box : NO_BOX;
    if (box != NO_BOX && (again || box != h->film))
        buf_printf(out, "play to %s\n", h->s->stages.boxes[box].path);
    h->film = box;
}

/* What happened since the last round: a card by its number, whatever else as commands, a line each step. True where a
 * new file begins with it. */
static bool put_moves(Share *h, Buf *out)
{
    Buf said = {0};
    int moves = h->player ? h->player->moves : 0;
    bool whole = h->since >= CLASS_FILE || (!moves && h->moves_said);
    if (whole)
        put_whole(h, out);
    else if (moves && moves != h->moves_said)
        put_card(h, out);
    else if (h->entries.len)
        put_lines(h, "", buf_str(&h->entries), out);
    h->moves_said = moves;
    buf_clear(&h->entries);
    put_said(h, &said);
    if (buf_renew(&h->said, &said) || whole)
        buf_puts(out, buf_str(&h->said));
    put_film(h, whole, out);
    return whole;
}

/* If the class can't be written, all of it is said again as soon as it can. */
static void write_out(Share *h, int64_t now)
{
    Buf lines = {0};
    Err err;
    if (h->tried && now - h->tried < AGAIN_NS)
        return;
    bool whole = put_moves(h, &lines);
    bool ok = !lines.len || classroom_write(&h->room, &lines, whole, &err);
    h->since = ok ? (whole ? 0 : h->since) + lines.len : CLASS_FILE;
    if (!ok && !h->tried)
        utf8_print(h->news, sizeof h->news, "Followers wait: the class can't be written, %.250s.", err.text);
    else if (ok && h->tried)
        snprintf(h->news, sizeof h->news, "The class is written again.");
    h->tried = ok ? 0 : now;
    buf_free(&lines);
}

/* ---- votes: each an empty file "SEED-TERMINAL-CHOICE-NUMBER", its owner whom the kernel says ---- */

static void count_vote(Share *h, const Vote *new)
{
    Vote *at = NULL;
    for (size_t i = 0; i < h->votes; i++) {
        Vote *v = &h->vote[i];
        if (v->owner == new->owner && (!new->terminal || !v->terminal || v->terminal == new->terminal))
            at = v;
    }
    if (!at) {
        h->vote = grow(h->vote, &h->vote_cap, h->votes, sizeof *h->vote);
        h->vote[h->votes++] = *new;
    } else if (new->terminal != at->terminal ? new->terminal : new->when >= at->when)
        *at = *new;
}

/* Takes in one file; away: it is taken away where that can be done, whatever it is, which may take its time. A vote has
 * one name alone: a second one could be somebody else's doing. A terminal counts where it is its owner's. An answer
 * that comes too late is none. */
static void take_one(Share *h, int folder, const char *name, bool away)
{
    struct stat st, at;
    Vote v = {0};
    char path[40];
    unsigned seed = 0;
    int used = 0;
    const Rollcall *q = h->question;
    if (*name == '.' || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    bool vote = S_ISREG(st.st_mode) && !st.st_size && st.st_nlink == 1 &&
                sscanf(name, "%8x-%7d-%1d-%*16[0-9a-f]%n", &seed, &v.terminal, &v.choice, &used) == 3 && used &&
                !name[used];
    if (!vote && !*h->stranger)
        snprintf(h->news, sizeof h->news, "%s puts files into the class that are no answers. They count for nothing.",
                 machine_user(st.st_uid, h->stranger));
    snprintf(path, sizeof path, "/dev/pts/%d", v.terminal - 1);
    if (lstat(path, &at) != 0 || !S_ISCHR(at.st_mode) || at.st_uid != st.st_uid)
        v.terminal = 0;
    v.owner = st.st_uid;
    v.when = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (vote && q->open && !q->closed && seed == q->quiz.seed && v.choice >= 0 && v.choice < q->quiz.count)
        count_vote(h, &v);
    if (away && unlinkat(folder, name, 0) != 0)
        unlinkat(folder, name, AT_REMOVEDIR);
}

/* Looks through votes/ until then, going on where the look before ended, so that whoever fills it hides nobody's vote,
 * and counts. False: there was not time for all of them. */
static bool look(Share *h, int64_t until, bool away)
{
    Rollcall *q = h->question;
    struct dirent *e = NULL;
    if (h->seed != q->quiz.seed || !q->open)
        h->votes = 0;
    h->seed = q->quiz.seed;
    for (int i = 0; (i < LOOK_LEAST || clock_ns() < until) && (e = readdir(h->room.votes)) != NULL; i++)
        take_one(h, dirfd(h->room.votes), e->d_name, away);
    if (!e)
        rewinddir(h->room.votes); /* what came meanwhile is there with the next look */
    if (q->open && !q->closed)
        memcpy(q->votes, q->raised, sizeof q->votes);
    for (size_t i = 0; q->open && !q->closed && i < h->votes; i++)
        q->votes[h->vote[i].choice]++;
    return !e;
}

void share_count(Share *h)
{
    Rollcall *q = h->question;
    size_t most = 0;
    char who[80] = "";
    if (!*h->room.path)
        return;
    rewinddir(h->room.votes);
    bool all = look(h, clock_ns() + LAST_NS, false);
    for (size_t i = 0; i < h->votes; i++) {
        size_t same = 0;
        for (size_t k = 0; k < h->votes; k++)
            same += h->vote[k].owner == h->vote[i].owner;
        if (same > most)
            machine_user(h->vote[i].owner, who);
        most = same > most ? same : most;
    }
    if (!all)
        utf8_print(q->note, sizeof q->note, "Answers may be missing: %.80s has filled the class with other files.",
                   h->stranger);
    else if (most > 1)
        snprintf(q->note, sizeof q->note, "%zu of %zu votes are of one account, %s", most, h->votes, who);
}

bool share_step(Share *h, int64_t now)
{
    const Rollcall before = *h->question;
    if (!*h->room.path)
        return false;
    if (now - h->counted >= AGAIN_NS) {
        h->counted = now;
        look(h, now + LOOK_NS, true);
    }
    write_out(h, now);
    return *h->news || memcmp(before.votes, h->question->votes, sizeof before.votes) != 0;
}
