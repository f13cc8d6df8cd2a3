/* Does the terminal show pixels, and how many has a cell? */
#define _GNU_SOURCE 1 /* wcwidth */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/utf8.h"
#include "tui/term_parts.h"

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static bool within(void)
{
    const char *name = term.status.term;
    return is_set("TMUX") && (!strncmp(name, "tmux", 4) || !strncmp(name, "screen", 6));
}

static bool forbidden(void)
{
    return term.options.graphics && !strcmp(term.options.graphics, "never");
}

void ask_graphics(Buf *out)
{
    const char *program = getenv("TERM_PROGRAM");
    if (forbidden() || (program && !strcmp(program, "Apple_Terminal"))) /* which shows what it does not know */
        return;
    buf_puts(out, "\033[>q\033[16t");
    graphics_ask(within(), out);
}

/* The C library, by which curses counts columns, has to know a placeholder as one and its marks as none. */
static bool widths_known(void)
{
    bool known = wcwidth((wchar_t)GRAPHICS_PLACEHOLDER) == 1;
    for (int i = 0; known && graphics_mark(i); i++)
        known = wcwidth((wchar_t)graphics_mark(i)) == 0;
    return known;
}

/* As the window says, which follows its font; else as it was told. */
static void cell_size(int *h, int *w)
{
    enum { MOST = 200 };
    struct winsize size;
    *h = term.reply.pixel_h;
    *w = term.reply.pixel_w;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col && size.ws_ypixel >= size.ws_row &&
        size.ws_xpixel >= size.ws_col) {
        *h = size.ws_ypixel / size.ws_row;
        *w = size.ws_xpixel / size.ws_col;
    }
    if (*h < 1 || *w < 1 || *h > MOST || *w > MOST)
        *h = *w = 0;
}

bool take_graphics(void)
{
    TermStatus *st = &term.status;
    const bool was = st->graphics;
    GraphicsEnv env = {.option = term.options.graphics,
                       .ok = term.reply.has_graphics,
                       .who = term.reply.who,
                       .within = within(),
                       .kitty = is_set("KITTY_WINDOW_ID"),
                       .ghostty = is_set("GHOSTTY_RESOURCES_DIR"),
                       .text = !st->ascii && widths_known(),
                       .colours = st->mode >= MODE_256};
    cell_size(&env.pixel_h, &env.pixel_w);
    st->graphics = graphics_found(&env, &st->graphics_why);
    utf8_clean(st->who, sizeof st->who, term.reply.who);
    term.graphics.within = env.within;
    term.graphics.salt = 1 + (uint32_t)getpid() % 126;
    if (st->graphics == was)
        return false;
    char undo[UNDO_BYTES];
    build_undo(undo);
    signals_undo(undo);
    return true;
}

void term_pixels(int *h, int *w)
{
    enum { MOST = 12 << 20, USUAL_H = 20, USUAL_W = 10 };
    int rows, columns;
    *h = *w = 0;
    if (!term.screen || !term.status.graphics)
        return;
    cell_size(h, w);
    if (!*h) { /* where it is forced */
        *h = USUAL_H;
        *w = USUAL_W;
    }
    term_size(&rows, &columns);
    while (*h > 1 && *w > 1 && (int64_t)rows * columns * *h * *w > MOST) { /* the terminal makes them larger */
        *h /= 2;
        *w /= 2;
    }
}
