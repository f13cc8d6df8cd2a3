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
#include "core/wire/caller.h"
#include "tui/canvas/letters.h"
#include "tui/term.h"

typedef struct Notes {
    Caller caller;
    char *notes, *stand;
    int at, all, count;         /* step of steps; digits typed */
    long long seconds, on_step; /* since it began; since the step did */
    double planned;
    bool blank;
} Notes;

static void keep(char **to, const char *text)
{
    free(*to);
    *to = xstrdup(text);
}

static void take(Notes *n, const Message *m)
{
    if (strlen(m->text) != m->size)
        return;
    if (m->kind == MESSAGE_NOTES)
        keep(&n->notes, m->text);
    if (m->kind == MESSAGE_NEXT) {
        int blank = 0;
        const char *end = strchr(m->text, '\n');
        if (end && sscanf(m->text, "%d %d %lld %lld %lf %d", &n->at, &n->all, &n->seconds, &n->on_step, &n->planned,
                          &blank) == 6)
            keep(&n->stand, end + 1);
        n->blank = blank;
    }
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

/* The line number `which` of what stands where: 0 the step on show, 1 the next one, 2 the open question. */
static void stand_line(const Notes *n, int which, char *out, size_t size)
{
    const char *p = n->stand;
    for (; which > 0 && *p; which--)
        p += strcspn(p, "\n"), p += *p == '\n';
    snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
}

static void draw(const Notes *n, Canvas *c)
{
    char line[256], clock[40];
    Rect all = {0, 1, c->h, c->w - 2}, head = rect_cut(&all, 't', 1);
    canvas_clear(c);
    if (n->caller.fd < 0) {
        canvas_wrap(c, (Rect){1, 1, c->h - 1, c->w - 2}, STYLE_WARNING, n->caller.why);
        canvas_text(c, c->h - 1, 1, c->w - 2, STYLE_DIM, "trying again every second; q leaves");
        return;
    }
    snprintf(line, sizeof line, "step %d of %d%s", n->at, n->all, n->blank ? "   BLANK" : "");
    canvas_text(c, head.y, head.x, head.w, STYLE_HEADER, line);
    snprintf(clock, sizeof clock, "%lld:%02lld", n->seconds / 60, n->seconds % 60);
    int scale = c->w >= 100 && c->h >= 30 ? 2 : 1;
    if (!c->ascii && c->h >= 16) {
        Rect r = rect_cut(&all, 't', letters_rows(scale) + 1);
        letters_line(c, r.y, r.x, r.w, STYLE_STRONG, clock, scale);
        snprintf(line, sizeof line, n->planned > 0 ? "this step %lld:%02lld of %g s" : "this step %lld:%02lld",
                 n->on_step / 60, n->on_step % 60, n->planned);
        canvas_right(c, r.y, r.x, r.w, STYLE_DIM, line);
    } else
        canvas_right(c, head.y, head.x, head.w, STYLE_HEADER, clock);
    Rect keys = rect_cut(&all, 'b', 1), question = rect_cut(&all, 'b', 1), next = rect_cut(&all, 'b', 1);
    stand_line(n, 0, line, sizeof line);
    Rect now = rect_cut(&all, 't', 1);
    canvas_label(c, now.y, now.x, now.w, STYLE_STRONG, line);
    for (const char *p = n->notes; *p && all.h > 0;) {
        char text[2048];
        size_t bytes = strcspn(p, "\n");
        snprintf(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1), p);
        int used = canvas_wrap(c, all, STYLE_TEXT, text);
        rect_cut(&all, 't', used < 1 ? 1 : used);
        p += bytes + (p[bytes] == '\n');
    }
    stand_line(n, 1, line, sizeof line);
    if (*line)
        canvas_printf(c, next.y, next.x, next.w, STYLE_SENTENCE, "next: %s", line);
    stand_line(n, 2, line, sizeof line);
    canvas_label(c, question.y, question.x, question.w, STYLE_WARNING, line);
    canvas_text(c, keys.y, keys.x, keys.w, STYLE_KEY_TEXT, "Space next  p back  12G step  . blank  q leave");
}

static int ready(void *context, struct pollfd *out, int most)
{
    const Caller *c = context;
    if (c->fd < 0 || most < 1)
        return 0;
    out[0] = (struct pollfd){.fd = c->fd, .events = (short)(POLLIN | (c->out.len ? POLLOUT : 0))};
    return 1;
}

static bool step(Notes *n)
{
    Message m;
    bool changed = caller_step(&n->caller, clock_ns());
    while (caller_take(&n->caller, &m)) {
        take(n, &m);
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
    term_also(ready, &n->caller);
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
        if (!term_event(1000, &e))
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
            caller_say(&n->caller, MESSAGE_DRIVE, word);
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
    bool connected = false, ok = true;
    while (ok) {
        struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
        int count = 1 + ready(&n->caller, fds + 1, 1);
        poll(fds, (nfds_t)count, 1000);
        step(n);
        if (connected != (n->caller.fd >= 0)) {
            connected = !connected;
            buf_puts(&out, connected ? "Connected.\n" : "Waiting for a presentation.\n");
            ok = put(&out);
            seen = -1;
        }
        if (connected && *n->stand && n->at != seen) {
            char now[256], next[256];
            stand_line(n, 0, now, sizeof now);
            stand_line(n, 1, next, sizeof next);
            seen = n->at;
            buf_printf(&out, "Step %d of %d, %lld:%02lld. %s\n%s%s%s%s%s", n->at, n->all, n->seconds / 60,
                       n->seconds % 60, now, n->notes, *n->notes ? "\n" : "", *next ? "Next: " : "", next,
                       *next ? "\n" : "");
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
                caller_say(&n->caller, MESSAGE_DRIVE, means);
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
    Notes n = {.notes = xstrdup(""), .stand = xstrdup("")};
    char path[PLACE_PATH];
    Err err = {{0}};
    TermOptions terminal = {.colour = o->colour,
                            .ground = o->light ? "light" : NULL,
                            .plots = o->plots,
                            .ascii = o->ascii,
                            .no_mouse = true};
    bool drawn = !o->plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    bool ok = place_notes(path, &err);
    if (ok)
        caller_init(&n.caller, NULL, path, "notes");
    if (ok && drawn)
        ok = term_open(&terminal, &err);
    if (ok && drawn) {
        screen(&n);
        term_close();
    } else if (ok)
        lines(&n);
    else
        tell(err.text);
    if (n.caller.role)
        caller_close(&n.caller);
    free(n.notes);
    free(n.stand);
    if (drawn)
        term_reraise();
    return ok ? STATUS_DONE : STATUS_BAD;
}
