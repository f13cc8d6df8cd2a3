/* What a presenter shows: the steps of a script, a demonstration or a lesson, one after the other, each with its
 * caption and the speaker's notes. A step stands where its file has a pause (a lesson: a card). The state that a step
 * leads to is kept, so that going back, jumping, and coming back from an excursion lead to the very same screen. */
#ifndef VITRINE_TUI_DECK_H
#define VITRINE_TUI_DECK_H
#include "core/session/ask/quiz.h"
#include "core/session/command.h"
#include "lessons/play.h"
#include "tui/cli/script.h"

typedef struct Deck {
    bool open, lesson;
    Script script; /* … or */
    Player player;
    char *title; /* "" where it has none: then there is no title step */
    char *which; /* what opened it */
    unsigned allowed;
    int count, at; /* steps, and the one on show; -1 before the first */
    bool told;     /* the answer of the card on show stands in its caption */
    char **kept;   /* [count]: the state it leads to, as commands; NULL while it was not shown */
    bool *plays;   /* [count]: it leaves a film on, which begins anew whenever the step does */
    Buf caption, notes;
    /* Called when a step was run, before its state is kept; or NULL. */
    void (*settle)(void *context, Session *s, const Commands *c);
    void *context;
} Deck;

/* which: a file (FILE.md a lesson, any other a script), a lesson's number or name, or a demonstration's name. Nothing
 * is shown yet. The lesson's player keeps the session. */
bool deck_open(Deck *d, Session *s, const char *which, Err *err);
void deck_close(Deck *d);
/* To step 0 … count − 1; steps between that were not shown are run on the way. On failure what was reached is on show.
 */
bool deck_go(Deck *d, Session *s, const Commands *c, int step, Err *err);
/* On to the next pause of the card on show, then to the answer of what it asks; false, err empty, where there is
 * neither. What is to be predicted the next card answers. */
bool deck_on(Deck *d, Session *s, Err *err);
/* A class is asked what the card asks: its caption is the card without that. */
bool deck_asked(Deck *d, Err *err);
/* What the session was changed to since the step was entered is taken back; true at once where nothing was. */
bool deck_return(Deck *d, Session *s, const Commands *c, Err *err);
bool deck_is_title(const Deck *d, int step);
/* What a step is about, in a few words, for the notes: the beginning of its caption or its heading. */
void deck_label(const Deck *d, int step, Buf *out);
/* Seconds that the file gives the step; 0 where it says nothing. */
double deck_seconds(const Deck *d, int step);
/* The question of the step on show, or NULL: lessons have them. */
const Question *deck_question(const Deck *d);
/* The same as one for the class, the numbers in its answers computed. False where it has no answers to choose from. */
bool deck_quiz(const Deck *d, Quiz *quiz, Err *err);
#endif
