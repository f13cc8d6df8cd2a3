/* A lesson being played on a session: entering cards, grading answers against the live trace. What is on screen is a
 * function of lesson and card alone: a card starts from the model as it is, without edits, looking at its picture. What
 * the reader had changed before is set aside and comes back at the end. */
#ifndef VITRINE_LESSONS_PLAY_H
#define VITRINE_LESSONS_PLAY_H
#include "core/session/address.h"
#include "core/session/command.h"
#include "lessons/number.h"

typedef struct Answer {
    bool given, right;
    int choice;    /* QUESTION_CHOICE */
    double number; /* QUESTION_NUMBER */
    int tries, hints;
} Answer;

typedef struct Player {
    Session *s;
    Commands commands;
    Lesson lesson;
    Example *examples; /* [lesson.example_count] */
    int card;          /* -1: none entered yet */
    Answer *answers;   /* [lesson.count] */
} Player;

/* Takes the lesson over, also on failure, and builds its examples; no card is entered. */
bool player_open(Player *p, Session *s, Lesson *lesson, Err *err);
void player_close(Player *p);
/* To a card: clean edits, its picture, its commands. False with "FILE:LINE: …"; the player is on that card all the
 * same. */
bool player_enter(Player *p, int card, Err *err);
const Card *player_card(const Player *p);
Scope player_scope(const Player *p);

/* The worked example and node that the card shows; NULL where it shows the model. */
const Example *player_shows(const Player *p, Address *at);

/* ---- answers: false and err where what was typed is no answer; else the Answer says whether it is right, and `why`
 * gets what is said to it ---- */
bool player_choose(Player *p, int choice, Buf *why, Err *err);
bool player_number(Player *p, const char *typed, Buf *why, Err *err);
/* Of a place or a change: does its condition hold now? */
bool player_done(Player *p, bool *done, Buf *why, Err *err);
/* The next hint; the last one again when all were given; err where there is none. */
bool player_hint(Player *p, Buf *out, Err *err);
/* What was predicted on the card before, and what comes: for the card that settles it. Empty where nothing was. */
void player_prediction(const Player *p, Buf *out);

/* Prose with its live values: {{EXPRESSION}} or {{EXPRESSION|DECIMALS}} become numbers. Appends; a value that cannot be
 * had is an error. */
bool player_text(const Player *p, const char *text, Buf *out, Err *err);
/* A number for people: whole ones with , between thousands, others with that many decimals (-1: four digits). */
void number_put(double x, int decimals, Buf *out);
#endif
