/* A lesson being played on a session: entering cards, grading answers against the live trace. What is on screen is a
 * function of lesson and card alone: a card starts from the model as it is, without edits, looking at its picture. What
 * the reader had changed before is set aside and comes back at the end. */
#ifndef VITRINE_LESSONS_PLAY_H
#define VITRINE_LESSONS_PLAY_H
#include "core/session/address.h"
#include "core/session/ask/number.h"
#include "core/session/command.h"
#include "lessons/example.h"

typedef struct Answer {
    bool given, right;
    bool skipped;  /* it was passed over, perhaps to be answered later */
    bool told;     /* what is right was said, and nobody had found it */
    bool missed;   /* a wrong answer was given, this one or one before */
    int choice;    /* QUESTION_CHOICE */
    double number; /* QUESTION_NUMBER */
    int tries, hints;
} Answer;

typedef struct Player {
    Session *s;
    Commands commands;
    Lesson lesson;
    Example *examples; /* [lesson.example_count] */
    Exhibit *home;     /* the session's own: the model looking at a picture */
    bool uses;         /* counted among those who read the model's weights */
    bool hall;         /* it is shown to many: what a card quotes (`> …`) is for a reader at the keys alone */
    bool opens;        /* its first card begins with what the lesson is for */
    int card;          /* -1: none entered yet */
    int pause;         /* how many pauses of the card are behind */
    int moves;         /* counts up with every card entered and every pause left: for who sends them on */
    Answer *answers;   /* [lesson.count] */
} Player;

/* Takes the lesson over, also on failure, and makes its examples exhibits; no card is entered. While it is open the
 * session opens no other model: the lesson's examples read the weights of this one. */
bool player_open(Player *p, Session *s, Lesson *lesson, Err *err);
void player_close(Player *p);
/* To a card: clean edits, its picture, its commands up to its first pause. False with "FILE:LINE: …"; the player is on
 * that card all the same. */
bool player_enter(Player *p, int card, Err *err);
/* On to the card's next pause: the commands up to it. False, err empty, where there is none left. */
bool player_on(Player *p, Err *err);
/* To a card and through all its pauses: what it is in the end. */
bool player_through(Player *p, int card, Err *err);
bool player_waits(const Player *p); /* is there a pause left? */
const Card *player_card(const Player *p);
/* The value of an expression (core/session/ask/number.h) on the model as it is now; cells of a worked example are named
 * with it. */
bool player_value(const Player *p, const char *text, double *out, Err *err);
/* Does an address name something here? For code in prose. */
bool player_address(const Player *p, const char *text, Err *err);

/* The worked example that the card shows; NULL where it shows the model. */
const Example *player_shows(const Player *p, Address *at);

/* ---- answers: false and err where what was typed is no answer; else the Answer says whether it is right, and `why`
 * gets what is said to it ---- */
bool player_choose(Player *p, int choice, Buf *why, Err *err);
bool player_number(Player *p, const char *typed, Buf *why, Err *err);
/* Of a place or a change: does its condition hold now? why: else what was found instead, where that can be told. */
bool player_done(Player *p, bool *done, Buf *why, Err *err);
/* The next hint; the last one again when all were given; err where there is none. */
bool player_hint(Player *p, Buf *out, Err *err);
/* Does the card ask what was neither answered nor skipped? Space waits for it. */
bool player_awaits(const Player *p);
/* What was predicted on the card before, what comes, and the explanation of that answer, its values those of the card
 * that settles it. Empty where nothing was asked. */
bool player_prediction(const Player *p, Buf *out, Err *err);
/* What is right on this card, and why; empty where that is done on the screen. */
bool player_answer(const Player *p, Buf *out, Err *err);
/* Was the card's question skipped or answered wrong, and what is right not told yet? A prediction's is the next card's
 * to tell, where there is one. */
bool player_owes(const Player *p);
/* Tells it: as player_answer; of a place or a change it runs the solution, and says which. */
bool player_settle(Player *p, Buf *out, Err *err);

/* Prose with its live values: {{EXPRESSION}} or {{EXPRESSION|DECIMALS}} become numbers. Appends; a value that cannot be
 * had is an error. Where the card compares with what was before its change, they are … until that was seen. */
bool player_text(const Player *p, const char *text, Buf *out, Err *err);

/* A worked example on one page of 80 columns, for pencil and paper (paper.c). */
enum { PAPER_LINES = 64 };

/* What is given with its numbers, what is to be computed with its formula and room to write, and the answers at the
 * foot. False where the lesson has no example that fits on a page. */
bool paper_put(const Player *p, Buf *out, Err *err);
#endif
