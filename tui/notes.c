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
#include "core/base/utf8.h"
#include "tui/app.h"
#include "tui/cli/verbs.h"
#include "tui/term.h"

enum { TYPED = 24 }; /* bytes of what is typed: a count, a key, blanks up to here */

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
    buf_free(&p->page);
}

/* The first line says where and when. */
static void put_page(const Session *s, const Presenter *of, const Rollcall *question, Buf *out)
{
    const Deck *d = &of->deck;
    int64_t now = clock_ns();
    int total, step = session_step_number(s, &total), all = (int)((now - of->view.began) / 1000000000),
               here = (int)((now - of->view.entered) / 1000000000);
    bool deck = d->open && d->at >= 0;
    buf_printf(out, "Step %d of %d, %d:%02d, this step %d:%02d", deck ? d->at + 1 : step, deck ? d->count : total,
               all / 60, all % 60, here / 60, here % 60);
    if (deck && deck_seconds(d, d->at) > 0)
        buf_printf(out, " of %g s", deck_seconds(d, d->at));
    buf_puts(out, of->view.blank ? ", blank.\n" : ".\n");
    if (deck)
        deck_label(d, d->at, out);
    else
        buf_puts(out, s->stages.boxes[s->place.box].label);
    if (deck && d->at + 1 < d->count) {
        buf_puts(out, "\nNext: ");
        deck_label(d, d->at + 1, out);
    }
    if (question->open)
        buf_printf(out, "\nAnswers: %d. %s", rollcall_total(question), question->quiz.text);
    buf_printf(out, "\n%s\n", buf_str(&d->notes));
    tell_clean(out);
}

void prompter_step(Prompter *p, const Session *s, const Presenter *of, const Rollcall *question)
{
    Buf page = {0};
    if (!*p->room.path)
        return;
    put_page(s, of, question, &page);
    if (strcmp(buf_str(&page), buf_str(&p->page)) != 0)
        classroom_write(&p->room, &page, true, NULL);
    buf_free(&p->page);
    p->page = page;
}

bool prompter_typed(Prompter *p, const Presenter *of, Buf *command)
{
    char typed[TYPED], key[16];
    int count;
    buf_clear(command);
    while (*p->room.path && read(p->keys, typed, sizeof typed) == sizeof typed) {
        typed[TYPED - 1] = 0;
        bool drives = sscanf(typed, "%d %15s", &count, key) == 2 && present_key(&of->view, key, count, command);
        if (drives && command->len && strcmp(buf_str(command), "present leave") != 0 && !of->view.asks)
            return true;
        buf_clear(command);
    }
    return false;
}

/* ---- the other terminal ---- */

static const char *page_of(const ClassReader *r)
{
    return r->live && r->owner == geteuid() && r->in.len ? buf_str(&r->in)
                                                         : "Waiting for a presentation of yours on this machine.\n";
}

/* Keys mean what they mean to who presents. */
static void press(const ClassReader *r, int count, const char *key)
{
    char typed[TYPED];
    utf8_print(typed, sizeof typed, "%-4d %-17.15s ", count, key);
    int fd = r->folder < 0 ? -1 : openat(r->folder, "keys", O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    ssize_t put = fd < 0 ? 0 : write(fd, typed, sizeof typed);
    (void)put; /* a full pipe: there are many keys to be read already */
    if (fd >= 0)
        close(fd);
}

static void draw(const char *page, Canvas *c)
{
    Rect all = {0, 1, c->h, c->w - 2}, keys = rect_cut(&all, 'b', 1);
    char line[2000];
    canvas_clear(c);
    for (Style style = STYLE_HEADER; *page && all.h > 0; page += *page == '\n') {
        size_t n = strcspn(page, "\n");
        utf8_take(line, sizeof line, page, n);
        page += n;
        int used = canvas_wrap(c, all, style, line);
        rect_cut(&all, 't', used < 1 ? 1 : used);
        style = style == STYLE_HEADER ? STYLE_STRONG : STYLE_TEXT;
    }
    canvas_text(c, keys.y, keys.x, keys.w, STYLE_KEY_TEXT, "Space next  p back  12G step  . blank  q leave");
    term_draw(c);
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
        draw(page_of(r), &c);
        if (!term_event(500, &e) || e.kind != TERM_KEY)
            *e.key = 0;
        else if (!e.key[1] && e.key[0] >= '0' && e.key[0] <= '9')
            count = count < 1000 ? count * 10 + (e.key[0] - '0') : count;
        else {
            press(r, count, e.key);
            count = 0;
        }
    }
    term_also(NULL, NULL);
    canvas_free(&c);
}

/* Line by line: a paragraph whenever another step is on; what is typed is a key or a step's number. */
static void lines(ClassReader *r)
{
    char typed[100] = "", seen[100] = "";
    setvbuf(stdin, NULL, _IONBF, 0); /* what was typed waits where poll sees it */
    while (*typed != 'q') {
        struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
        reader_step(r, clock_ns());
        const char *page = page_of(r);
        size_t step = strcspn(page, ",");
        bool same = strlen(seen) == step && strncmp(seen, page, step) == 0;
        utf8_take(seen, sizeof seen, page, step);
        bool ok = same || file_write("-", page, strlen(page), NULL);
        poll(fds, 1 + (nfds_t)reader_poll(r, fds + 1, 1), 500);
        if (!ok || (fds[0].revents && !fgets(typed, sizeof typed, stdin)))
            return;
        typed[strcspn(typed, "\n")] = 0;
        if (fds[0].revents && *typed != 'q')
            press(r, atoi(typed), atoi(typed) > 0 ? "G" : *typed ? typed : "Enter");
    }
}

int notes_main(const Options *o)
{
    ClassReader r;
    char path[CLASS_PATH];
    Err err = {{0}};
    TermOptions terminal = verb_screen(o).terminal;
    terminal.no_mouse = true;
    bool drawn = !o->plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (drawn && !term_open(&terminal, &err)) {
        tell(err.text);
        return STATUS_BAD;
    }
    classroom_notes(path);
    reader_init(&r, path);
    (drawn ? screen : lines)(&r);
    reader_close(&r);
    if (drawn) {
        term_close();
        term_reraise();
    }
    return STATUS_DONE;
}
