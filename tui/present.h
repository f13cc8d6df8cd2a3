/* Presenter mode: one pane and a caption, for a hall. No footer; large letters for titles; the pointer is a crosshair
 * whose value stands in large digits; text is black on white or white on black. Every plausible key means next. What is
 * shown are the session and, where there is one, the deck's step. */
#ifndef VITRINE_TUI_PRESENT_H
#define VITRINE_TUI_PRESENT_H
#include "tui/deck.h"
#include "tui/frame.h"

typedef struct Present {
    bool on;
    bool blank;              /* nothing is shown; any key shows it again */
    bool light;              /* black on white, for a lit room */
    bool asks;               /* "leave?" was asked */
    bool pointer;            /* the crosshair was moved since the step began */
    char kind[SESSION_PATH]; /* what the colours are locked to: the node, whatever its block */
    int64_t began, entered;  /* clock_ns: of the presentation, of the step */
    double *spent;           /* [deck.count]: seconds on each step */
} Present;

/* What stands in the header's place, where there is none in the last row: what was refused, "leave?" … "" = none. */
typedef struct PresentLine {
    const char *text;
    bool error;
} PresentLine;

Frame present_frame(const Session *s, const Deck *d, int h, int w);
void present_draw(const Paint *p, const Frame *f, const Present *v, const Deck *d, const PresentLine *line);

/* What a key means here: a command, "" where it is swallowed. False: what it means on the ordinary screen. count:
 * digits typed before it, 0 for none. */
bool present_key(const Present *v, const char *key, int count, Buf *command);
/* Presenter's keys for help. */
typedef struct PresentKey {
    const char *keys, *help;
} PresentKey;
const PresentKey *present_keys(int *count);

/* A text of the node in focus without its block: colours stay locked while it stays. */
void present_kind(const Session *s, char out[SESSION_PATH]);
/* Time per step, a line each. */
void present_times(const Present *v, const Deck *d, Buf *out);
/* The time since the step began is its own. */
void present_count(Present *v, const Deck *d, int64_t now);
#endif
