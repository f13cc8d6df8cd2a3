/* Inside tui/term_ncurses.c, term_draw.c and term_events.c, the only files that know curses: what they share. */
#ifndef VITRINE_TUI_TERM_PARTS_H
#define VITRINE_TUI_TERM_PARTS_H
#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif
#include <curses.h>
#include <termios.h>

#include "core/base/buf.h"
#include "tui/term.h"
#include "tui/term_ask.h"
#include "tui/term_graphics.h"
#include "tui/term_pairs.h"
#include "tui/term_signals.h"

#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"

typedef struct Term {
    SCREEN *screen;
    TermStatus status;
    TermOptions options;
    struct termios modes; /* before anything was changed */
    TermReply reply;      /* what it said of itself */
    int64_t patience;     /* until then more of it may come */
    Pairs pairs;
    Graphics graphics;
    cchar_t *row;
    int row_cells;
    bool default_colours, paste_mode, asks;
    bool told;    /* the signal that ends us has been an event, once */
    bool resumed; /* stopped and continued, or another ground: an event has to tell so */
    Buf paste;
    Buf own; /* our description of it, where the machine has none */
} Term;
extern Term term;

/* Codes of our own, above those of ncurses. */
enum { K_PASTE = KEY_MAX + 1, K_PASTE_END, K_ESC, K_NAMED };

/* Into the status with what it said; true where the ground is another than before, or there are pixels now. */
bool take_reply(void);
/* Can pictures be asked for at all, and are they? Bytes of the question. */
void ask_graphics(Buf *out);
/* Into the status whether it shows pixels; true where that is new. */
bool take_graphics(void);
/* A window of another size becomes a KEY_RESIZE. The handler of SIGWINCH is ours: that of ncurses would take any size
 * that the terminal claims. */
void take_size(void);
/* After a stop: the modes and the screen are somebody else's by now. */
void take_again(void);
/* What takes the screen back on the way out. */
void build_undo(char undo[UNDO_BYTES]);
/* What was typed while the terminal was asked comes first, as keys where curses knows their sequences. */
void give_back(const Buf *typed);
#endif
