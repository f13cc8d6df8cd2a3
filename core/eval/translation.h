/* How well the translator translates, and which of its heads knows what "it" stands for: measured over all minimal
 * pairs (core/train/sentences.h), found by the program, with the honest counterpart: what happens when that head is
 * switched off. */
#ifndef VITRINE_EVAL_TRANSLATION_H
#define VITRINE_EVAL_TRANSLATION_H
#include "core/base/pool.h"
#include "core/eval/interval.h"
#include "core/models/model.h"
#include "core/train/sentences.h"

/* A row of attention that could show the antecedent. */
typedef enum AskingRow {
    ASKS_PRONOUN,   /* encoder: the row of "it" */
    ASKS_ADJECTIVE, /* encoder: the row of what is said of it */
    ASKS_CHOICE     /* cross-attention: the row that chooses il or elle */
} AskingRow;
const char *asking_row_about(AskingRow r); /* "the row of the pronoun" */

/* One head at one kind of row, over the pairs. */
typedef struct HeadFound {
    char scope[48]; /* "decoder.blocks.2.cross_attn" */
    int head;
    AskingRow row;
    Tally subject, object, both; /* largest weight on the right noun: in the first sentence, the second, in both */
    double on_right, on_other;   /* mean weight on the noun that is meant and on the other */
} HeadFound;

/* What comes out of a model, as trained or with a head switched off. */
typedef struct PairFigures {
    Tally pronoun;   /* il or elle chosen rightly, given the right words before it; of 2 · pairs */
    Tally freely;    /* …given only what it wrote itself: the first il or elle that it writes */
    Tally agreement; /* the adjective's form as well */
    Tally exact;     /* whole sentence */
    Tally both;      /* pairs of which both sentences have no fault */
} PairFigures;

/* The same count over the same sentences with something switched off: what both got right or wrong says nothing. */
typedef struct TallyPair {
    Tally tally;
    Paired pair; /* against the model as trained */
} TallyPair;

enum { TRANSLATION_SETS = SENTENCE_SETS - 1, STAR_WORDS = SENTENCE_WORDS + 1 };

typedef struct Translation {
    Tally exact[TRANSLATION_SETS]; /* of SENTENCES_LIKE_TRAIN, SENTENCES_COMBINATIONS, SENTENCES_PAIRS */
    size_t pairs;
    PairFigures as_trained;
    HeadFound chosen, measured, all; /* the head that does best on every other pair; on the rest; on all */
    int heads, alike;                /* how many rows were compared; how many do as well on the half that chose */
    double row_mean, row_middle;     /* on the rest: `both` of a row taken at random, and of the middle one by it */
    Tally constant, wider_constant;  /* the right pronoun if it were always the commoner one: in the pairs, elsewhere */
    Tally wider, wider_base; /* sentences with "it" of unseen combinations: its largest weight on the right noun; …
                                and if it always took the noun that is right most often */
    Tally wider_pronoun;     /* …the right pronoun in them, */
    TallyPair wider_pronoun_off, exact_off; /* and with the head off; unseen combinations without a fault with it off */
    TallyPair pronoun_off, freely_off, both_off; /* the pairs with it off */
    /* What any other head of the model costs when it is off: shares of right pronouns in the pairs. */
    int others;
    double other_mean, other_least; /* the least without this one: */
    char other_scope[48];
    int other_head;
    /* Pair 0: what is written, and the chosen head's row over the source's words. */
    int star_words[2], star_word[2][STAR_WORDS];
    float star_row[2][SENTENCE_WORDS];
    ParallelSentence star[2];
} Translation;

/* count: sentences of each set. False when progress (may be NULL) stopped it. */
bool translation_run(Translation *t, const Model *m, size_t count, Pool *pool,
                     bool (*progress)(void *context, const char *what, double share), void *context, Err *err);
#endif
