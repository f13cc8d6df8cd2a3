/* A lesson: a CommonMark file cut into cards. A heading of the first level is its title, one of the second level begins
 * a card, and fenced blocks named `vitrine` say what a card does: which commands it runs, what it asks, and which
 * expression every number in its prose is the value of. Reading a lesson computes nothing and runs nothing.
 *
 * Fences:   ```vitrine                statements, one a line (statements.c has the table)
 *           ```vitrine example NAME   a worked example: named matrices and formulas (example.h)
 * The statements before the first card are about the lesson, the others about the card they stand in. */
#ifndef VITRINE_LESSONS_LESSON_H
#define VITRINE_LESSONS_LESSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"

enum { LESSON_BYTES = 256 * 1024, LESSON_CARDS = 64, LESSON_LINES = 8192, LESSON_EXAMPLES = 32, LESSON_PROSE = 8192 };

typedef enum SpanStyle { SPAN_PLAIN, SPAN_TERM, SPAN_STRONG, SPAN_CODE, SPAN_LINK } SpanStyle;
typedef struct Span {
    SpanStyle style; /* SPAN_TERM is emphasis: a word of the glossary at its first use */
    const char *text;
    const char *target; /* SPAN_LINK */
} Span;

typedef enum ItemKind { ITEM_PARAGRAPH, ITEM_BULLET, ITEM_NUMBERED, ITEM_VERBATIM, ITEM_QUOTE } ItemKind;
typedef struct Prose {
    ItemKind kind;
    int number; /* ITEM_NUMBERED */
    Span *spans;
    int count, line;
} Prose;

typedef struct Sentence {
    const char *text;
    int line;
} Sentence;
typedef struct Texts {
    Sentence *at;
    int count;
    size_t cap;
} Texts;

/* `expect 0.346 = ex:pattern[t=0,u=1]`: left and right are expressions (number.h). Where one of them is a number as it
 * is printed, with =, they are equal when rounding to its last decimal makes them so. */
typedef enum Relation { RELATION_EQUAL, RELATION_LESS, RELATION_GREATER, RELATION_UNLIKE } Relation;
typedef struct Expectation {
    const char *left, *right;
    Relation relation;
    int line;
} Expectation;

typedef enum QuestionKind {
    QUESTION_CHOICE, /* one of several answers */
    QUESTION_NUMBER, /* a number, right within a tolerance */
    QUESTION_PLACE,  /* "move to the cell that …": done when the condition holds */
    QUESTION_CHANGE  /* "make this true": done when the condition holds, by edits */
} QuestionKind;
typedef struct Choice {
    const char *text; /* QUESTION_NUMBER: an expression, a value that a known mistake leads to */
    const char *why;
    bool right;
    int line;
} Choice;
typedef struct Question {
    QuestionKind kind;
    bool predict; /* asked before it is shown; kept and shown beside what came */
    const char *text;
    const char *answer;   /* NUMBER: the expression; PLACE, CHANGE: the condition, done where it is not 0 */
    const char *within;   /* NUMBER: the expression of the tolerance */
    const char *why;      /* NUMBER, PLACE, CHANGE: said when it is done; may be NULL */
    const char *not_yet;  /* PLACE, CHANGE: said of a try that does not do it; may be NULL */
    const char *solution; /* PLACE, CHANGE: commands that reach it */
    Choice *choices;
    int count, line;
    size_t cap;
} Question;

typedef struct Card {
    const char *title;
    int line;
    Prose *items;
    int item_count;
    size_t item_cap;
    Texts commands;   /* run on entering, in order, from the lesson's clean edits; an empty one is a pause */
    Texts show;       /* at most one: what stands beside it, NAME:NODE[cells] of a worked example */
    Texts picture;    /* at most one: "#66", "#ship" */
    Texts text;       /* at most one: a sentence for the translator */
    Texts quoted;     /* numbers that somebody else printed: "77.91" and where, alternating */
    Texts claims;     /* ids of claims that it states or asks */
    Texts mechanisms; /* those that it runs: "A1" */
    Texts hints, notes;
    Expectation *expect;
    int expect_count;
    size_t expect_cap;
    Question *question; /* or NULL */
    bool again;         /* answered wrong, the question comes back once, before the lesson two further on */
} Card;

typedef struct Worked {
    const char *name, *text;
    int line, card; /* card -1: before the first */
} Worked;

typedef struct Lesson {
    const char *file;  /* as errors name it */
    const char *title; /* without its number */
    int number;        /* from "5. Query, key, value"; -1 for one that has none */
    int minutes;
    Texts intro; /* what stands between the title and the first card, without its emphasis */
    Texts able, misconception, needs, reads, explains, summary;
    Texts translator; /* at most one: it is about the bundled translator, which reads this sentence where a card has
                         none */
    Texts photos;     /* at most one: it is about the model of photographs, which looks at this picture likewise */
    Card *cards;
    int count;
    size_t cap;
    Worked *examples;
    int example_count;
    size_t example_cap;
    Arena arena;
} Lesson;

/* Cuts text into a lesson (lesson_free later, on failure too). seed chooses what questions vary (`vary`). False with
 * "FILE:LINE: what is wrong; what to do". */
bool lesson_parse(Lesson *l, const char *file, const char *text, size_t size, uint64_t seed, Err *err);
void lesson_free(Lesson *l);
/* Reads FILE and parses it. */
bool lesson_read(Lesson *l, const char *file, uint64_t seed, Err *err);
/* Is that screen (`explains screen:lens`) or node (`explains blocks.*.attn.z`) one that it explains? */
bool lesson_explains(const Lesson *l, const char *screen, const char *path);
/* Words of a card's prose, and of its question: what a reader has to read. */
int card_words(const Card *c);

/* The lessons in the program, by number. */
typedef struct LessonFile {
    int number;
    const char *name; /* "05-query-key-value.md" */
    const char *text;
    size_t size;
} LessonFile;
bool lesson_at(int i, LessonFile *out); /* false past the end */
bool lesson_by_number(int number, LessonFile *out);
/* "5", or the name of a file without its number and what follows its point: "many-heads", "slope". */
bool lesson_named(const char *which, LessonFile *out);
#endif
