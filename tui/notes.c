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
#include "tui/cli/verbs.h"
#include "tui/term.h"

#define AGAIN_NS INT64_C(2000000000) /* until another presentation's notes are asked for again */

/* ---- who presents ---- */

static bool open_room(Prompter *p, int64_t now)
{
    if (*p->room.path)
        return true;
    if (!p->wanted || (p->tried && now - p->tried < AGAIN_NS))
        return false;
    Err err;
    bool first = !p->tried, ok = classroom_make(&p->room, NULL, NULL, &err);
    p->tried = now;
    if (!ok && first)
        utf8_print(p->news, sizeof p->news, "`vitrine notes` does not show this talk yet: %.200s", err.text);
    if (!ok)
        return false;
    unlinkat(p->room.folder, "keys", 0);
    mkfifoat(p->room.folder, "keys", 0600);
    p->keys = openat(p->room.folder, "keys", O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    return true;
}

void prompter_close(Prompter *p)
{
    if (*p->room.path)
        close(p->keys);
    classroom_close(&p->room);
    buf_free(&p->page);
}

static void put_page(const Session *s, const Presenter *of, const Rollcall *question, Buf *out)
{
    presenter_page(of, s, out);
    if (question->open)
        buf_printf(out, "\nAnswers: %d. %s", rollcall_total(question), question->quiz.text);
    buf_printf(out, "\n%s\n", buf_str(&of->deck.notes));
    tell_clean(out);
}

void prompter_step(Prompter *p, const Session *s, const Presenter *of, const Rollcall *question)
{
    Buf page = {0};
    if (!open_room(p, clock_ns()))
        return;
    put_page(s, of, question, &page);
    if (buf_renew(&p->page, &page))
        classroom_write(&p->room, &p->page, true, NULL);
}

bool prompter_key(Prompter *p, char key[PROMPTER_KEY])
{
    return *p->room.path && read(p->keys, key, PROMPTER_KEY) == PROMPTER_KEY && !key[PROMPTER_KEY - 1];
}

/* ---- the other terminal ---- */

static const char *page_of(const ClassReader *r)
{
    return r->live && r->owner == geteuid() && r->in.len ? buf_str(&r->in)
                                                         : "Waiting for a presentation of yours on this machine.\n";
}

/* Keys mean what they mean to who presents. */
static void press(const ClassReader *r, const char *key)
{
    char typed[PROMPTER_KEY] = {0};
    utf8_print(typed, sizeof typed, "%s", key);
    int fd = r->folder < 0 ? -1 : openat(r->folder, "keys", O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    ssize_t put = fd < 0 ? 0 : write(fd, typed, sizeof typed);
    (void)put; /* a full pipe: there are many keys to be read already */
    if (fd >= 0)
        close(fd);
}

static void draw(const char *page, Canvas *c)
{
    Rect all = {0, 1, c->h, c->w - 2}, keys = rect_cut(&all, 'b', 1);
    char clock[200];
    size_t n = strcspn(page, "\n");
    canvas_clear(c);
    rect_cut(&all, 't', canvas_wrap(c, all, STYLE_HEADER, utf8_take(clock, sizeof clock, page, n)));
    canvas_wrap(c, all, STYLE_TEXT, page + n + (page[n] == '\n'));
    canvas_text(c, keys.y, keys.x, keys.w, STYLE_KEY_TEXT, "Space next  p back  12G step  . blank  q leave");
    term_draw(c);
}

static void screen(ClassReader *r)
{
    Canvas c;
    TermEvent e = {.kind = TERM_NONE};
    int h, w;
    canvas_init(&c, 1, 1);
    term_also(reader_poll, r);
    while (e.kind != TERM_HANGUP && e.kind != TERM_TERMINATE && strcmp(e.key, "q") != 0 && strcmp(e.key, "^C") != 0) {
        if (e.kind == TERM_KEY)
            press(r, e.key);
        reader_step(r, clock_ns());
        term_size(&h, &w);
        canvas_resize(&c, h, w);
        c.ascii = term_status()->ascii;
        draw(page_of(r), &c);
        term_event(500, &e);
    }
    term_also(NULL, NULL);
    canvas_free(&c);
}

/* Line by line: a paragraph whenever another step is on; what is typed is a key or a step's number. */
static void lines(ClassReader *r)
{
    char typed[100] = "", seen[100] = "";
    setvbuf(stdin, NULL, _IONBF, 0); /* what was typed waits where poll sees it */
    for (;;) {
        struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
        reader_step(r, clock_ns());
        const char *page = page_of(r);
        size_t step = strcspn(page, ",");
        bool same = strlen(seen) == step && strncmp(seen, page, step) == 0;
        utf8_take(seen, sizeof seen, page, step);
        if (!same && !file_write("-", page, strlen(page), NULL))
            return;
        poll(fds, 1 + (nfds_t)reader_poll(r, fds + 1, 1), 500);
        if (!fds[0].revents)
            continue;
        if (!fgets(typed, sizeof typed, stdin) || *typed == 'q')
            return;
        typed[strcspn(typed, "\n")] = 0;
        int number = atoi(typed);
        for (const char *p = typed; number > 0 && *p >= '0' && *p <= '9'; p++)
            press(r, (char[]){*p, 0});
        press(r, number > 0 ? "G" : *typed ? typed : "Enter");
    }
}

int notes_main(const Options *o)
{
    ClassReader r;
    Err err = {{0}};
    TermOptions terminal = verb_screen(o).terminal;
    terminal.no_mouse = true;
    bool drawn = !o->plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (!reader_init(&r, NULL, &err) || (drawn && !term_open(&terminal, &err))) {
        tell(err.text);
        return STATUS_BAD;
    }
    (drawn ? screen : lines)(&r);
    reader_close(&r);
    if (drawn) {
        term_close();
        term_reraise();
    }
    return STATUS_DONE;
}
