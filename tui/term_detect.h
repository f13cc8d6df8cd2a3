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
    const char *no_color, *term, *tmux;
    const char *known;     /* the variable that says which terminal it is; NULL: none does */
    ColourMode known_mode; /* what that one can show */
    bool ssh;
    bool says_256; /* asked, it said so */
} TermEnv;
TermEnv term_env(const char *option);

/* False with a message when no terminal can be opened whatever terminfo says: standard input or output is none, TERM is
 * unset, the colour option is unknown. */
bool term_plausible(const char *colour, Err *err);
/* True for "auto", "true", "256", "8", "mono" and NULL. */
bool term_colour_known(const char *option);
/* colours: what terminfo says (−1 = none). The option, else NO_COLOR, else screen without tmux (256 at most), else the
 * most that terminfo, the terminal's answer, its variable or its name promise, over ssh 256; a TERM without colours has
 * none. *why tells which. */
ColourMode term_colour_mode(const TermEnv *env, int colours, const char **why);
/* ground: "light", "dark", anything else = as the terminal said (COLOUR_DEFAULT: it did not), else by COLORFGBG, dark
 * when that says nothing. *why tells which. */
bool term_light(const char *ground, Colour said, const char *colorfgbg, const char **why);

/* True for a DEC terminal of before Unicode (vt100, vt220, …): the locale says nothing about what it can draw. */
bool term_before_unicode(const char *term);

/* May it be asked what it is? who: terminfo's u9. The Linux console and those before Unicode show what they are asked.
 */
bool term_answers(const char *term, const char *who);

/* What lines of plots are made of: "braille", "sextants", "blocks" or "ascii", as the option says; left to itself
 * braille, on the Linux console, whose fonts have no such glyphs, ASCII. Sextants only when asked for: they are six
 * dots for eight, and lines that touch each other; the terminals known to draw them whatever the font says (foot,
 * WezTerm) draw braille as well. *why tells which. */
const char *term_plots(const char *option, const char *term, const char **why);

/* True where the locale does not say whether UTF-8 may be drawn: none is set, or one that does not exist. */
bool term_locale_unsure(void);
/* Sets the locale; returns whether UTF-8 may be drawn. The environment's locale is taken when it exists; else C.UTF-8,
 * if the terminal has shown that it takes three bytes for one character. A C or other non-UTF-8 locale that was asked
 * for means ASCII. note: one line with the remedy, or "". */
bool term_locale(bool shown, char *note, size_t n);
#endif
