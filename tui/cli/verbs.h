/* The verbs: what the screen shows, for a shell. One file each. */
#ifndef VITRINE_TUI_CLI_VERBS_H
#define VITRINE_TUI_CLI_VERBS_H
#include "tui/canvas/colour.h"
#include "tui/cli/work.h"

enum {
    VERB_ADDRESS = 1, /* its word is an address (else an input) */
    VERB_JSON = 2,    /* takes --json */
    VERB_UI = 4,      /* commands that need a screen may be used */
    VERB_ALONE = 8    /* needs no model and no input: no session is opened, its words are its own */
};

struct AppOptions;

typedef struct Verb {
    const char *name;
    const char *usage;   /* "show ADDRESS [-o FILE]" */
    const char *summary; /* one line */
    const char *details; /* some lines for its --help and the manual */
    const char *example; /* one command line */
    unsigned flags;
    int words; /* at most so many, the verb among them; 0: check looks */
    /* What is wrong with the options before anything is opened, or NULL: nothing can be. False: STATUS_USAGE. */
    bool (*check)(const Options *o, const Link *l, Err *err);
    /* Where the verb opens the screen: adds to *a, which is verb_screen's, what is its own. False: it answers in text
     * with these options. NULL: it always does. */
    bool (*screen)(const Options *o, struct AppOptions *a);
    /* The session is open, unless the verb is VERB_ALONE. Fills w->out; the exit status, STATUS_BAD with err.
     * NULL: there is only the screen, or another one (notes). */
    int (*run)(Work *w, Err *err);
} Verb;

extern const Verb VERB_RUN, VERB_EMBED, VERB_SCORE, VERB_SHOW, VERB_EXPLAIN, VERB_WHY, VERB_LEDGER, VERB_PATCHING,
    VERB_TRACE, VERB_SCREEN, VERB_INFO, VERB_VERIFY, VERB_DIFF, VERB_DATA, VERB_TRAIN, VERB_EVALUATE, VERB_TRANSLATE,
    VERB_WRITE, VERB_TOKENS, VERB_LESSONS, VERB_LESSON, VERB_CHECK, VERB_EXERCISE, VERB_EXPORT, VERB_PLAIN, VERB_DEMO,
    VERB_PRESENT, VERB_SHARE, VERB_JOIN, VERB_NOTES, VERB_RECEIPT;
const Verb *verb_at(int i); /* NULL past the end */
const Verb *verb_find(const char *name);
const char *verb_nearest(const char *typed); /* NULL when none is near */

/* Was nothing typed that the verb (NULL: the screen) would not look at? */
bool options_used(const Options *o, const Verb *v, Err *err);

/* `diff --open`: the screen at the cell where the difference begins. The exit status of the program. */
int diff_open(const Options *o);

/* How the screen opens with these options, its last place forgotten. */
struct AppOptions verb_screen(const Options *o);
/* Runs a verb from its words to its exit status; errors are on standard error. */
int verb_main(const Verb *v, const Options *o);

/* -o x.npy where a picture is asked for gives the values and the other way round: the suffix decides. */
bool screen_suffix(const char *path); /* .svg .html .txt .ans */
int screen_write(Work *w, Err *err);
/* Computes what a frame of that size shows; afterwards drawing finds everything. False when cancelled. */
bool screen_compute(Work *w, int height, int width, Err *err);
/* The lessons as pages in o->output, with their screens. */
int lessons_export(Work *w, Err *err);
/* Text of a page; and the numbers of the tensor that is on show as a table. */
void html_text(Buf *out, const char *s);
void html_table(const Session *s, Buf *out);
/* A canvas as a PNG, appended: its letters come from a font of the machine (core/io/font.h). */
bool shot_png(const Canvas *c, ColourMode mode, bool light, Buf *out, Err *err);
/* The screen as it would be drawn now, to a file; the kind by its suffix. */
bool screen_save(Work *w, const char *path, Err *err);
/* The screen at `height` rows, and `text` in the rows below it; a canvas to free, where true. */
bool screen_compose(Work *w, int height, int below, const char *text, Canvas *out, Err *err);
/* The same with as many rows below as the text needs, as a file of that name would have it (NULL: standard output). */
bool screen_draw_below(Work *w, const char *path, const char *text, Buf *out, Err *err);
int screen_width(const Options *o);
int screen_height(const Options *o);
ColourMode screen_mode_of(const Options *o, ColourMode otherwise); /* --colour, where it names one */
/* For a verb that draws on standard output by itself: the colours there are, and the canvas as ANSI text or plain text.
 */
ColourMode screen_mode(const Options *o);
void screen_print(const Canvas *c, const Options *o, Buf *out);
int show_write(Work *w, Err *err);
#endif
