/* The terminal: canvases out, events in. One terminal per process. */
#ifndef VITRINE_TUI_TERM_H
#define VITRINE_TUI_TERM_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

typedef struct TermOptions {
    const char *colour;   /* NULL or "auto", "true", "256", "8", "mono" */
    const char *ground;   /* NULL or "auto", "dark", "light" */
    const char *plots;    /* NULL or "auto", "braille", "sextants", "blocks", "ascii" */
    const char *graphics; /* NULL or "auto", "always", "never" */
    bool ascii;           /* ASCII even where UTF-8 works */
    bool no_mouse;
    bool no_altscreen; /* stay in the scroll-back; the last frame remains after leaving */
    int escdelay;      /* ms between Esc and the rest of a key; 0 = $ESCDELAY or 25 */
} TermOptions;

/* What was found, for `:term` and the status words. */
typedef struct TermStatus {
    ColourMode mode;
    bool light, ascii, mouse;
    bool has_mouse;    /* the terminal reports one at all */
    const char *plots; /* what their lines are made of: "braille", "sextants", "blocks", "ascii"; why, a few words */
    const char *plots_why;
    char term[64];   /* $TERM */
    const char *why; /* why this colour mode, a few words */
    Colour ground;   /* as the terminal said; COLOUR_DEFAULT: it did not */
    const char *ground_why;
    bool frames;   /* it takes a frame in one piece */
    bool graphics; /* it shows pixels where cells have them (Canvas.pixels); why, or why not */
    const char *graphics_why;
    char who[40];   /* as it names itself, "" where it does not */
    char note[256]; /* one line: what is missing and the command that mends it; "" when nothing is */
} TermStatus;

/* Takes the terminal over: alternate screen, raw keys, mouse. False (exit status 2) when there is none that could be
 * used: standard input or output is not a terminal, TERM is unset, unknown or cannot move the cursor. Nothing was
 * written then. Leaves the terminal as it was on every exit, fatal signals, exit(), die() and REQUIRE included. */
bool term_open(const TermOptions *options, Err *err);
/* The terminal is as it was, and nothing more is drawn, but signals that ask to end are still only noted, for
 * term_reraise: what has to be saved is saved before term_close, and a Ctrl-C meanwhile leaves no half of it. */
void term_leave(void);
void term_close(void); /* leaves it if need be; harmless when not open */
const TermStatus *term_status(void);
/* Not more than these, whatever the terminal claims: what is drawn is drawn before a signal to end is looked at. */
enum { TERM_ROWS = 300, TERM_COLUMNS = 1000 };
void term_size(int *h, int *w);
/* Pixels of a cell for canvas_fine, 0 and 0 where half blocks are all there is. */
void term_pixels(int *h, int *w);

/* Shows the canvas from the upper left corner; sends only what changed. Its cursor position becomes the hardware
 * cursor's. */
void term_draw(const Canvas *c);
void term_redraw(void);   /* the next term_draw sends everything */
bool term_mouse(bool on); /* returns whether it is on now */
/* Hands text to the terminal for its clipboard (OSC 52). True when it was sent: no terminal says whether it took it.
 * False, nothing sent, where one is not known to pass over what it does not understand, or the text is too long. */
bool term_copy(const char *text);

typedef enum TermEventKind {
    TERM_NONE,      /* the time is over */
    TERM_KEY,       /* key, and ch where it is a character */
    TERM_RESIZE,    /* the size may have changed, or the process was continued: ask term_size and draw */
    TERM_MOUSE,     /* key "Click", "RightClick", "WheelUp", "WheelDown" at (y, x) */
    TERM_PASTE,     /* text, one line: control characters and line ends have become blanks */
    TERM_HANGUP,    /* the terminal is gone: save and leave */
    TERM_TERMINATE, /* SIGTERM, SIGINT or SIGQUIT: save, term_close, term_reraise */
} TermEventKind;

typedef struct TermEvent {
    TermEventKind kind;
    char key[16]; /* "a", "É", "Space", "Enter", "Tab", "S-Tab", "Backspace", "Esc", "Up", "S-Left", "C-Right", "PgDn",
                   * "Home", "Delete", "F5", "^L", "M-x" */
    uint32_t ch;  /* the character typed, 0 for named keys and control keys (Space has one) */
    int y, x;
    const char *text; /* valid until the next term_event */
} TermEvent;

/* Waits up to timeout_ms (−1: for ever) for the next event; false and TERM_NONE when none came. Ctrl-Z is dealt with
 * inside. */
bool term_event(int timeout_ms, TermEvent *e);
/* Other descriptors that term_event waits for as well: it returns false when one of them is ready. ready fills out and
 * returns how many; NULL takes it away. */
struct pollfd;
void term_also(int (*ready)(void *context, struct pollfd *out, int most), void *context);
/* Ends the process by the signal that TERM_TERMINATE or TERM_HANGUP told of, so that the parent sees it; returns when
 * there was none. */
void term_reraise(void);
#endif
