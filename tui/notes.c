#include "tui/notes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/tell.h"
#include "tui/term.h"

enum { LINE_MOST = 300 }; /* of what one types */

/* ---- who presents ---- */

bool prompter_open(Prompter *p, Err *err)
{
    char path[CLASS_PATH];
    classroom_notes(path);
    if (*p->room.path || !classroom_make(&p->room, path, NULL, true, err))
        return *p->room.path;
    unlinkat(p->room.folder, "keys", 0);
    bool made = mkfifoat(p->room.folder, "keys", 0600) == 0;
    p->keys = made ? openat(p->room.folder, "keys", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC) : -1;
    return true;
}

void prompter_close(Prompter *p)
{
    if (*p->room.path)
        close(p->keys);
    classroom_close(&p->room);
    buf_free(&p->typed);
    buf_free(&p->page);
}

int prompter_poll(const Prompter *p, struct pollfd *out, int most)
{
    if (!*p->room.path || most < 1)
        return 0;
    out[0] = (struct pollfd){.fd = p->keys, .events = POLLIN};
    return 1;
}

/* "AT ALL BEGAN ENTERED PLANNED BLANK", times as clock_ns has them; then what is on show, what comes next, the open
 * question and the notes, as they are read. */
static void put_page(const Session *s, const Presenter *of, const Rollcall *question, Buf *out)
{
    const Present *v = &of->view;
    const Deck *d = &of->deck;
    int total, step = session_step_number(s, &total);
    bool deck = d->open && d->at >= 0;
    buf_printf(out, "%d %d %lld %lld %g %d\n", deck ? d->at + 1 : step, deck ? d->count : total, (long long)v->began,
               (long long)v->entered, deck ? deck_seconds(d, d->at) : 0, v->blank);
    if (deck)
        deck_label(d, d->at, out);
    else
        buf_puts(out, s->stages.boxes[s->place.box].label);
    if (deck && d->at + 1 < d->count) {
        buf_puts(out, "\nNext: ");
        deck_label(d, d->at + 1, out);
    }
    if (question->open)
        buf_printf(out, "\nAnswers: %d. %s", rollcall_total(question), question->text);
    buf_printf(out, "\n%s\n", buf_str(&d->notes));
    tell_clean(out);
}

void prompter_step(Prompter *p, const Session *s, const Presenter *of, const Rollcall *question)
{
    Buf page = {0};
    char typed[LINE_MOST];
    if (!*p->room.path)
        return;
    put_page(s, of, question, &page);
    if (strcmp(buf_str(&page), buf_str(&p->page)) != 0 && classroom_anew(&p->room, &page, NULL)) {
        buf_free(&p->page);
        p->page = page;
    } else
        buf_free(&page);
    for (ssize_t n; p->keys >= 0 && (n = read(p->keys, typed, sizeof typed)) > 0;)
        buf_add(&p->typed, typed, (size_t)n);
}

/* ---- the other terminal ---- */

typedef struct Page {
    Present view; /* blank; when it began, and its step */
    int at, all;
    double planned;
    const char *text;
} Page;

/* False: nothing is presented. */
static bool page_of(const ClassReader *r, Page *p)
{
    long long began, entered;
    int blank, used = 0;
    if (!r->live || r->owner != geteuid() ||
        sscanf(buf_str(&r->in), "%d %d %lld %lld %lg %d %n", &p->at, &p->all, &began, &entered, &p->planned, &blank,
               &used) != 6)
        return false;
    p->view = (Present){.blank = blank, .began = began, .entered = entered};
    p->text = r->in.data + used;
    return true;
}

/* All of it as lines, the first of them where and when; the step, 0 for none. */
static int put_lines(const ClassReader *r, Buf *out)
{
    Page p;
    if (!page_of(r, &p)) {
        buf_puts(out, "Waiting for a presentation of yours on this machine.\n");
        return 0;
    }
    int all = (int)((clock_ns() - p.view.began) / 1000000000), step = (int)((clock_ns() - p.view.entered) / 1000000000);
    buf_printf(out, "Step %d of %d, %d:%02d, this step %d:%02d", p.at, p.all, all / 60, all % 60, step / 60, step % 60);
    if (p.planned > 0)
        buf_printf(out, " of %g s", p.planned);
    buf_printf(out, "%s.\n%s", p.view.blank ? ", blank" : "", p.text);
    return p.at;
}

/* Keys mean what they mean to who presents; those that only drive go there. */
static void press(const ClassReader *r, const char *key, int count)
{
    static const char *const DRIVE[] = {"present next", "present prev", "present go", "blank"};
    Buf command = {0};
    Page p;
    if (page_of(r, &p))
        present_key(&p.view, key, count, &command);
    for (size_t i = 0; i < sizeof DRIVE / sizeof *DRIVE; i++)
        if (strncmp(buf_str(&command), DRIVE[i], strlen(DRIVE[i])) == 0) {
            buf_puts(&command, "\n");
            int fd = openat(r->folder, "keys", O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
            if (fd >= 0 && write(fd, command.data, command.len) >= 0)
                close(fd);
            break;
        }
    buf_free(&command);
}

static void draw(const ClassReader *r, Canvas *c)
{
    Buf text = {0};
    Rect all = {0, 1, c->h, c->w - 2}, keys = rect_cut(&all, 'b', 1);
    Style style = put_lines(r, &text) ? STYLE_HEADER : STYLE_WARNING;
    canvas_clear(c);
    for (char *p = text.data, *end; all.h > 0 && (end = strchr(p, '\n')) != NULL; p = end + 1) {
        *end = 0;
        int used = canvas_wrap(c, all, style, p);
        rect_cut(&all, 't', used < 1 ? 1 : used);
        style = style == STYLE_HEADER ? STYLE_STRONG : STYLE_TEXT;
    }
    canvas_text(c, keys.y, keys.x, keys.w, STYLE_KEY_TEXT, "Space next  p back  12G step  . blank  q leave");
    buf_free(&text);
}

static void screen(ClassReader *r)
{
    Canvas c;
    TermEvent e = {.kind = TERM_NONE};
    int h, w, count = 0;
    canvas_init(&c, 1, 1);
    term_also(reader_poll, r);
    while (e.kind != TERM_HANGUP && e.kind != TERM_TERMINATE && strcmp(e.key, "q") != 0 && strcmp(e.key, "^C") != 0) {
        reader_step(r, clock_ns());
        term_size(&h, &w);
        canvas_resize(&c, h, w);
        c.ascii = term_status()->ascii;
        draw(r, &c);
        term_draw(&c);
        if (!term_event(500, &e) || e.kind != TERM_KEY) /* the clock goes on */
            *e.key = 0;
        else if (!e.key[1] && e.key[0] >= '0' && e.key[0] <= '9')
            count = count < 1000 ? count * 10 + (e.key[0] - '0') : count;
        else {
            press(r, e.key, count);
            count = 0;
        }
    }
    term_also(NULL, NULL);
    canvas_free(&c);
}

/* Line by line: a paragraph whenever another step is on; what is typed is a key or a step's number. */
static void lines(ClassReader *r)
{
    char typed[LINE_MOST] = "";
    int seen = -1;
    setvbuf(stdin, NULL, _IONBF, 0); /* what was typed waits where poll sees it */
    while (*typed != 'q') {
        struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
        Buf out = {0};
        reader_step(r, clock_ns());
        int now = put_lines(r, &out);
        bool ok = now == seen || file_write("-", out.data, out.len, NULL);
        seen = now;
        buf_free(&out);
        poll(fds, 1 + (nfds_t)reader_poll(r, fds + 1, 1), 500);
        if (!ok || (fds[0].revents && !fgets(typed, sizeof typed, stdin)))
            return;
        if (!fds[0].revents)
            continue;
        typed[strcspn(typed, "\n")] = 0;
        if (*typed != 'q')
            press(r, atoi(typed) > 0 ? "G" : *typed ? typed : "Enter", atoi(typed));
    }
}

int notes_main(const Options *o)
{
    ClassReader r;
    char path[CLASS_PATH];
    Err err = {{0}};
    TermOptions terminal = {.colour = o->colour,
                            .ground = o->light  ? "light"
                                      : o->dark ? "dark"
                                                : NULL,
                            .plots = o->plots,
                            .ascii = o->ascii,
                            .no_mouse = true};
    bool drawn = !o->plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO), ok = !drawn || term_open(&terminal, &err);
    classroom_notes(path);
    reader_init(&r, path);
    if (!ok)
        tell(err.text);
    else if (drawn) {
        screen(&r);
        term_close();
    } else
        lines(&r);
    reader_close(&r);
    if (drawn)
        term_reraise();
    return ok ? STATUS_DONE : STATUS_BAD;
}
