#include "tui/notes.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/tell.h"
#include "core/base/utf8.h"
#include "core/session/command.h"
#include "tui/canvas/letters.h"
#include "tui/classroom.h"
#include "tui/term.h"

enum { TEXTS_SAID = 4 };

typedef struct Notes {
    ClassReader room;
    char *text[TEXTS_SAID]; /* notes, the step on show, the next one, the open question */
    int at, all, count;     /* step of steps; digits typed */
    int64_t began, entered; /* clock_ns, which is the machine's: of the presentation, of the step */
    double planned;
    bool blank;
} Notes;

static void take(Notes *n, const char *line)
{
    Args a;
    const char *verb;
    if (!args_parse(&a, line, &verb, NULL) || strcmp(verb, "@stand") != 0 || a.count != 6 + TEXTS_SAID)
        return;
    n->at = atoi(a.word[0]);
    n->all = atoi(a.word[1]);
    n->began = strtoll(a.word[2], NULL, 10);
    n->entered = strtoll(a.word[3], NULL, 10);
    n->planned = strtod(a.word[4], NULL);
    n->blank = *a.word[5] == '1';
    for (int i = 0; i < TEXTS_SAID; i++) {
        free(n->text[i]);
        n->text[i] = xstrdup(a.word[6 + i]);
    }
}

static bool connected(const Notes *n)
{
    return n->room.lines >= 0 && n->room.live && n->room.owner == geteuid();
}

static int seconds_since(int64_t then)
{
    return then ? (int)((clock_ns() - then) / 1000000000) : 0;
}

static void press(const Notes *n, const char *word)
{
    char line[40];
    snprintf(line, sizeof line, "%s\n", word);
    if (connected(n))
        reader_append(&n->room, "keys", line);
}

/* The commands that keys stand for: those of the presenter. */
static const char *meaning(Notes *n, const char *key, char out[32])
{
    static const struct {
        const char *key, *word;
    } MEANS[] = {{"Space", "next"}, {"Enter", "next"},     {"n", "next"},    {"Right", "next"}, {"Down", "next"},
                 {"PgDn", "next"},  {"l", "next"},         {"j", "next"},    {"", "next"},      {"p", "prev"},
                 {"Left", "prev"},  {"Up", "prev"},        {"PgUp", "prev"}, {"h", "prev"},     {"k", "prev"},
                 {"g", "go 1"},     {"Backspace", "prev"}, {".", "blank"}};
    int count = n->count;
    n->count = 0;
    if (strcmp(key, "G") == 0) {
        snprintf(out, 32, count ? "go %d" : "go last", count);
        return out;
    }
    for (size_t i = 0; i < sizeof MEANS / sizeof *MEANS; i++)
        if (strcmp(MEANS[i].key, key) == 0)
            return MEANS[i].word;
    return NULL;
}

static void draw(const Notes *n, Canvas *c)
{
    char line[256], clock[40];
    Rect all = {0, 1, c->h, c->w - 2}, head = rect_cut(&all, 't', 1);
    canvas_clear(c);
    if (!connected(n)) {
        canvas_wrap(c, (Rect){1, 1, c->h - 1, c->w - 2}, STYLE_WARNING,
                    n->room.lines < 0 ? "Nothing is presented by you on this machine." : n->room.why);
        canvas_text(c, c->h - 1, 1, c->w - 2, STYLE_DIM, "trying again every second; q leaves");
        return;
    }
    snprintf(line, sizeof line, "step %d of %d%s", n->at, n->all, n->blank ? "   BLANK" : "");
    canvas_text(c, head.y, head.x, head.w, STYLE_HEADER, line);
    int seconds = seconds_since(n->began), step = seconds_since(n->entered);
    snprintf(clock, sizeof clock, "%d:%02d", seconds / 60, seconds % 60);
    int scale = c->w >= 100 && c->h >= 30 ? 2 : 1;
    if (!c->ascii && c->h >= 16) {
        Rect r = rect_cut(&all, 't', letters_rows(scale) + 1);
        letters_line(c, r.y, r.x, r.w, STYLE_STRONG, clock, scale);
        snprintf(line, sizeof line, n->planned > 0 ? "this step %d:%02d of %g s" : "this step %d:%02d", step / 60,
                 step % 60, n->planned);
        canvas_right(c, r.y, r.x, r.w, STYLE_DIM, line);
    } else
        canvas_right(c, head.y, head.x, head.w, STYLE_HEADER, clock);
    Rect keys = rect_cut(&all, 'b', 1), question = rect_cut(&all, 'b', 1), next = rect_cut(&all, 'b', 1);
    Rect now = rect_cut(&all, 't', 1);
    canvas_label(c, now.y, now.x, now.w, STYLE_STRONG, n->text[1]);
    for (const char *p = n->text[0]; *p && all.h > 0;) {
        char text[2048];
        size_t bytes = strcspn(p, "\n");
        utf8_print(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1), p);
        int used = canvas_wrap(c, all, STYLE_TEXT, text);
        rect_cut(&all, 't', used < 1 ? 1 : used);
        p += bytes + (p[bytes] == '\n');
    }
    if (*n->text[2])
        canvas_printf(c, next.y, next.x, next.w, STYLE_SENTENCE, "next: %s", n->text[2]);
    canvas_label(c, question.y, question.x, question.w, STYLE_WARNING, n->text[3]);
    canvas_text(c, keys.y, keys.x, keys.w, STYLE_KEY_TEXT, "Space next  p back  12G step  . blank  q leave");
}

static int ready(void *context, struct pollfd *out, int most)
{
    return classroom_poll(((const ClassReader *)context)->watch, out, most);
}

static bool step(Notes *n)
{
    Err err;
    const char *line;
    bool changed = reader_step(&n->room, clock_ns());
    while ((line = reader_line(&n->room, &err)) != NULL) {
        take(n, line);
        changed = true;
    }
    return changed;
}

static void screen(Notes *n)
{
    Canvas c;
    TermEvent e;
    bool stale = true;
    canvas_init(&c, 1, 1);
    term_also(ready, &n->room);
    for (bool leave = false; !leave;) {
        int h, w;
        stale = step(n) || stale;
        if (stale) {
            term_size(&h, &w);
            canvas_resize(&c, h, w);
            c.ascii = term_status()->ascii;
            draw(n, &c);
            term_draw(&c);
            stale = false;
        }
        stale = !term_event(500, &e) || stale; /* the clock goes on */
        if (e.kind == TERM_NONE)
            continue;
        stale = true;
        if (e.kind == TERM_HANGUP || e.kind == TERM_TERMINATE)
            break;
        char out[32];
        if (e.kind != TERM_KEY)
            continue;
        if (!e.key[1] && e.key[0] >= '0' && e.key[0] <= '9' && n->count < 1000) {
            n->count = n->count * 10 + (e.key[0] - '0');
            continue;
        }
        leave = strcmp(e.key, "q") == 0 || strcmp(e.key, "^C") == 0;
        const char *word = meaning(n, e.key, out);
        if (word)
            press(n, word);
    }
    term_also(NULL, NULL);
    canvas_free(&c);
}

static bool put(Buf *text)
{
    tell_clean(text);
    bool ok = file_write("-", text->data, text->len, NULL);
    buf_clear(text);
    return ok;
}

/* Line by line: a paragraph whenever another step is on; what is typed is a key or a step's number. */
static void lines(Notes *n)
{
    Buf in = {0}, out = {0};
    int seen = -1;
    bool there = false, ok = true;
    while (ok) {
        struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
        int count = 1 + ready(&n->room, fds + 1, 1);
        poll(fds, (nfds_t)count, 500);
        step(n);
        if (there != connected(n)) {
            there = !there;
            buf_puts(&out, there ? "Connected.\n" : "Waiting for a presentation.\n");
            ok = put(&out);
            seen = -1;
        }
        if (there && n->all && n->at != seen) {
            const char *notes = n->text[0], *next = n->text[2];
            int seconds = seconds_since(n->began);
            seen = n->at;
            buf_printf(&out, "Step %d of %d, %d:%02d. %s\n%s%s%s%s%s", n->at, n->all, seconds / 60, seconds % 60,
                       n->text[1], notes, *notes ? "\n" : "", *next ? "Next: " : "", next, *next ? "\n" : "");
            ok = put(&out);
        }
        if (!(fds[0].revents & (POLLIN | POLLHUP)))
            continue;
        char block[256], word[32];
        ssize_t got = read(STDIN_FILENO, block, sizeof block);
        if (got <= 0)
            break;
        buf_add(&in, block, (size_t)got);
        for (char *end; in.len && (end = memchr(in.data, '\n', in.len)) != NULL;) {
            size_t used = (size_t)(end - in.data) + 1;
            *end = 0;
            n->count = atoi(in.data);
            const char *means = strcmp(in.data, "q") == 0 || strcmp(in.data, "quit") == 0
                                    ? "quit"
                                    : meaning(n, n->count > 0 && n->count < 10000 ? "G" : in.data, word);
            if (means && strcmp(means, "quit") == 0)
                ok = false;
            else if (means)
                press(n, means);
            memmove(in.data, in.data + used, in.len - used);
            in.len -= used;
        }
        if (in.len > 4096)
            break;
    }
    buf_free(&in);
    buf_free(&out);
}

int notes_main(const Options *o)
{
    Notes n = {.at = 0};
    char path[CLASS_PATH];
    Err err = {{0}};
    TermOptions terminal = {.colour = o->colour,
                            .ground = o->light  ? "light"
                                      : o->dark ? "dark"
                                                : NULL,
                            .plots = o->plots,
                            .ascii = o->ascii,
                            .no_mouse = true};
    bool drawn = !o->plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    bool ok = classroom_notes(path, &err);
    for (int i = 0; i < TEXTS_SAID; i++)
        n.text[i] = xstrdup("");
    if (ok)
        reader_init(&n.room, path);
    if (ok && drawn)
        ok = term_open(&terminal, &err);
    if (ok && drawn) {
        screen(&n);
        term_close();
    } else if (ok)
        lines(&n);
    else
        tell(err.text);
    reader_close(&n.room);
    for (int i = 0; i < TEXTS_SAID; i++)
        free(n.text[i]);
    if (drawn)
        term_reraise();
    return ok ? STATUS_DONE : STATUS_BAD;
}
