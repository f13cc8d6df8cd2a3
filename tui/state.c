/* The reader's place between two sessions: a small file of commands below $XDG_STATE_HOME, readable only by its owner.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/session/state.h"
#include "tui/app.h"
#include "tui/progress.h"

static bool state_path(char *out, size_t n, const char *name, bool make)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[800];
    if (state && *state == '/')
        snprintf(folder, sizeof folder, "%s", state);
    else if (home && *home == '/')
        snprintf(folder, sizeof folder, "%s/.local/state", home);
    else
        return false;
    if (make) { /* every missing folder of the path, private */
        char part[820];
        snprintf(part, sizeof part, "%s/vitrine", folder);
        for (char *p = part + 1; *p; p++)
            if (*p == '/') {
                *p = 0;
                if (mkdir(part, 0700) != 0 && errno != EEXIST)
                    return false;
                *p = '/';
            }
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
    }
    int len = snprintf(out, n, "%s/vitrine/%s", folder, name);
    return len > 0 && (size_t)len < n;
}

enum { STATE_MOST = 1 << 20, ABANDONED_S = 60 };

char *state_load_file(const char *name)
{
    char path[900];
    Buf b = {0};
    if (!state_path(path, sizeof path, name, false) || !file_exists(path) || !file_read(path, STATE_MOST, &b, NULL)) {
        buf_free(&b);
        return NULL;
    }
    char *text = xstrdup(buf_str(&b));
    buf_free(&b);
    return text;
}

void state_save_file(const char *name, const char *text)
{
    char path[900];
    if (!state_path(path, sizeof path, name, true))
        return;
    file_write(path, text, strlen(text), NULL);
    *strrchr(path, '/') = 0;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    file_tidy(folder, ABANDONED_S); /* of one that was killed while it wrote; another may be writing now */
    if (folder >= 0)
        close(folder);
}

char *state_load(void)
{
    return state_load_file("last");
}

/* Of every input its own, the last one first: a line that says what was open, the lines that lead back, a form feed. */
static const char BETWEEN[] = "\f\n";
enum { INPUTS_KEPT = 50 };

static void put_subject(const Session *s, Buf *out)
{
    buf_printf(out, "%s\t%s\n", s->model_path, session_input(s, SIDE_B)->path);
}

/* The entry of that subject in the file, or NULL; *end: behind it, where the next one begins. */
static const char *entry_of(const char *text, const Buf *subject, const char **end)
{
    for (const char *p = text; *p; p = *end) {
        const char *stop = strstr(p, BETWEEN);
        *end = stop ? stop + strlen(BETWEEN) : p + strlen(p);
        if (strncmp(p, buf_str(subject), subject->len) == 0)
            return p;
    }
    return NULL;
}

void state_save(const Session *s)
{
    Buf b = {0}, here = {0};
    char *old = state_load();
    put_subject(s, &here);
    buf_add(&b, here.data, here.len);
    session_write(s, 0, &b);
    const char *end, *own = old ? entry_of(old, &here, &end) : NULL, *p = old ? old : "";
    for (int i = 1; i < INPUTS_KEPT && *p; i++) {
        const char *stop = strstr(p, BETWEEN);
        size_t n = stop ? (size_t)(stop - p) : strlen(p);
        if (p != own && b.len + n < STATE_MOST / 2) {
            buf_puts(&b, BETWEEN);
            buf_add(&b, p, n);
        }
        p += n + (stop ? strlen(BETWEEN) : 0);
    }
    state_save_file("last", buf_str(&b));
    free(old);
    buf_free(&b);
    buf_free(&here);
}

bool state_resume(Session *s, const Commands *c)
{
    char *text = state_load();
    Buf here = {0}, lines = {0};
    Err err;
    put_subject(s, &here);
    const char *end, *own = text ? entry_of(text, &here, &end) : NULL;
    if (own) {
        const char *stop = strstr(own, BETWEEN);
        buf_add(&lines, own + here.len, (stop ? (size_t)(stop - own) : strlen(own)) - here.len);
    }
    bool ok = own && session_read(s, c, buf_str(&lines), LINE_REPLAY, &err);
    buf_free(&here);
    buf_free(&lines);
    free(text);
    return ok;
}

/* --- how far the reader is in each lesson --- */

static bool read_line(const char *line, LessonProgress *p)
{
    LessonProgress q = {.card = 0};
    unsigned long long seed;
    if (sscanf(line, "%63s %d %d %llu %64s", q.name, &q.card, &q.cards, &seed, q.answers) != 5 || q.cards < 1 ||
        q.cards > LESSON_CARDS || q.card < 0 || q.card >= q.cards || strlen(q.answers) != (size_t)q.cards)
        return false;
    q.seed = seed;
    *p = q;
    return true;
}

/* The next line of *text that is one of them; false: there is none left. */
static bool next_line(char **text, LessonProgress *p)
{
    while (*text && **text) {
        char *line = *text, *end = line + strcspn(line, "\n");
        *text = end + (*end == '\n');
        *end = 0;
        if (read_line(line, p))
            return true;
    }
    return false;
}

LessonProgress progress_load(const char *name)
{
    LessonProgress found = {.card = 0}, p;
    char *text = state_load_file("lessons");
    for (char *at = text; next_line(&at, &p);)
        if (strcmp(p.name, name) == 0)
            found = p;
    free(text);
    return found;
}

static void put_line(const LessonProgress *p, Buf *out)
{
    buf_printf(out, "%s %d %d %llu %s\n", p->name, p->card, p->cards, (unsigned long long)p->seed, p->answers);
}

void progress_save(const LessonProgress *p)
{
    Buf out = {0};
    LessonProgress other;
    char *text = state_load_file("lessons");
    for (char *at = text; next_line(&at, &other);)
        if (strcmp(other.name, p->name) != 0)
            put_line(&other, &out);
    free(text);
    put_line(p, &out);
    state_save_file("lessons", buf_str(&out));
    buf_free(&out);
}

void progress_of(const Player *p, const char *name, uint64_t seed, LessonProgress *out)
{
    *out = (LessonProgress){.card = p->card < 0 ? 0 : p->card, .cards = p->lesson.count, .seed = seed};
    snprintf(out->name, sizeof out->name, "%s", name);
    for (int i = 0; i < p->lesson.count; i++) {
        const Answer *a = &p->answers[i];
        const Question *q = p->lesson.cards[i].question;
        bool choice = q && q->kind == QUESTION_CHOICE;
        out->answers[i] = (char)(!a->given && a->skipped           ? 's'
                                 : !q || (!a->given && !a->missed) ? '-'
                                 : choice                          ? (a->missed ? 'a' : '1') + a->choice
                                 : !a->right                       ? 'w'
                                 : a->missed                       ? 'R'
                                                                   : 'r');
    }
}

void progress_put(const LessonProgress *from, Player *p)
{
    for (int i = 0; i < p->lesson.count && i < from->cards; i++) {
        const Question *q = p->lesson.cards[i].question;
        char what = from->answers[i];
        bool missed = what >= 'a' && what <= 'h';
        int choice = what - (missed ? 'a' : '1');
        if (!q)
            continue;
        if (q->kind == QUESTION_CHOICE && choice >= 0 && choice < q->count)
            p->answers[i] = (Answer){.given = true,
                                     .right = q->choices[choice].right,
                                     .choice = choice,
                                     .missed = missed};
        else if (q->kind != QUESTION_CHOICE && !q->predict && (what == 'r' || what == 'R'))
            p->answers[i] = (Answer){.given = true, .right = true, .missed = what == 'R'};
        else if (q->kind != QUESTION_CHOICE && (what == 'w' || what == 'R'))
            p->answers[i].missed = true;
        else if (what == 's')
            p->answers[i] = (Answer){.skipped = true, .told = !q->predict};
    }
}

bool progress_take_missed(LessonProgress *p, int card)
{
    char *what = &p->answers[card], before = *what;
    if (before >= 'a' && before <= 'h')
        *what = (char)('1' + before - 'a');
    else if (before == 'R' || before == 'w')
        *what = before == 'R' ? 'r' : '-';
    return *what != before;
}
