/* The command line at the bottom: text, cursor, history, completion. Holds no terminal. */
#ifndef VITRINE_TUI_PROMPT_H
#define VITRINE_TUI_PROMPT_H
#include "core/session/command.h"
#include "core/session/session.h"
#include "tui/canvas/canvas.h"

enum {
    PROMPT_SIZE = INPUT_PATH + 512, /* a text as long as an input may be, and what stands around it */
    PROMPT_HISTORY = 64
};

typedef struct Prompt {
    bool open;
    char text[PROMPT_SIZE];
    int length, cursor;            /* bytes */
    bool full;                     /* something typed or pasted found no room; until something is taken away */
    bool answers;                  /* a card's question: the word that it begins with is not erased */
    char *history[PROMPT_HISTORY]; /* oldest first; owned */
    int history_count, history_at;
    char sought[PROMPT_SIZE]; /* what was typed when the history was first gone to: lines are looked for by it */
    bool seeks;
    Buf choices; /* completions of the last Tab, one per line */
    int choice;  /* the one shown, -1: none yet */
} Prompt;

typedef enum PromptResult { PROMPT_GOES_ON, PROMPT_RUN, PROMPT_CANCELLED } PromptResult;

void prompt_open(Prompt *p, const char *text);
/* One key (names as in the keymap; a single character stands for itself). */
PromptResult prompt_key(Prompt *p, const char *key, const Session *s, const Commands *commands);
void prompt_paste(Prompt *p, const char *text); /* line ends become blanks */
void prompt_draw(const Prompt *p, Canvas *c, Rect line,
                 Rect above); /* completions go into `above`, over what is there */
/* One line of help on what is typed: of an empty line commands that one would want first, of a command its usage, of
 * `set .` the cell that gets the value. */
void prompt_hint(const Prompt *p, const Session *s, const Commands *commands, Buf *out);
/* Those commands: the i-th, NULL past the end. */
const char *prompt_first(int i);
void prompt_free(Prompt *p);
#endif
