/* What the surroundings say about the terminal: colours, ground, locale. No curses here, so that every rule can be
 * tested. */
#ifndef VITRINE_TUI_TERM_DETECT_H
#define VITRINE_TUI_TERM_DETECT_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "tui/canvas/colour.h"

typedef struct TermEnv {
    const char *option; /* --color; NULL = auto */
    const char *no_color, *term, *tmux, *colorterm, *colorfgbg;
    bool ssh;
} TermEnv;
TermEnv term_env(const char *option);

/* False with a message when no terminal can be opened whatever terminfo says: standard input or output is none, TERM is
 * unset, the colour option is unknown. */
bool term_plausible(const char *colour, Err *err);
/* True for "auto", "true", "256", "8", "mono" and NULL. */
bool term_colour_known(const char *option);
/* colours: what terminfo says (−1 = none). First match wins: the option, NO_COLOR, screen without tmux (256 at most),
 * COLORTERM outside ssh, terminals known by name, terminfo. *why tells which. */
ColourMode term_colour_mode(const TermEnv *env, int colours, const char **why);
/* ground: "light", "dark", anything else = by COLORFGBG, dark when that says nothing. */
bool term_light(const char *ground, const char *colorfgbg);

/* True for a DEC terminal of before Unicode (vt100, vt220, …): the locale says nothing about what it can draw. */
bool term_before_unicode(const char *term);

/* What lines of plots are made of: "braille", "blocks" or "ascii", as the option says; left to itself braille, on the
 * Linux console, whose fonts have no such glyphs, ASCII. */
const char *term_plots(const char *option, const char *term);

/* Sets the locale; returns whether UTF-8 may be drawn. The environment's locale is taken when it exists. One that
 * cannot be set (or none at all) is replaced by C.UTF-8 if the terminal on fd shows by its cursor that it takes three
 * bytes for one character (ask: it has a cursor report). A C or other non-UTF-8 locale that was asked for means ASCII.
 * note: one line with the remedy, or "". */
bool term_locale(int fd, bool ask, char *note, size_t n);
#endif
