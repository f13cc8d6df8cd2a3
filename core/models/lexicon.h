/* The two vocabularies of the bundled translator, and the grammar's tables over them (lexicon.def). */
#ifndef VITRINE_MODELS_LEXICON_H
#define VITRINE_MODELS_LEXICON_H
#include <stdbool.h>

#include "core/models/text_model.h"

enum {
#define ENGLISH(symbol, word) EN_##symbol,
#include "core/models/lexicon.def"
    EN_WORDS
};
enum {
#define FRENCH(symbol, word) FR_##symbol,
#include "core/models/lexicon.def"
    FR_WORDS
};

typedef enum NounKind { ANIMAL = 'A', HUMAN = 'H', PLACE = 'P', OBJECT = 'O' } NounKind;

typedef struct Noun {
    int en, fr;
    bool feminine, vowel;
    NounKind kind;
} Noun;
typedef struct Adjective {
    int en, masculine, feminine, before_vowel;
} Adjective;
typedef struct Action {
    int base, past, third, participle, present;
    bool vowel;          /* its present begins with one */
    const char *objects; /* kinds of its object; h: only people do it; d: its object is definite */
} Action;

enum { NOUNS = 39, BEFORE_NOUN = 6, AFTER_NOUN = 7, OF_LIVING = 8, OF_PLACES = 8, OF_OBJECTS = 5, VERBS = 15 };
extern const Noun LEXICON_NOUNS[NOUNS];
extern const Adjective LEXICON_BEFORE[BEFORE_NOUN], LEXICON_AFTER[AFTER_NOUN];
extern const Action LEXICON_VERBS[VERBS];
/* What can be said of a noun of that kind with to be. */
const Adjective *lexicon_predicates(NounKind kind, int *count);

const Vocabulary *lexicon_english(void);
const Vocabulary *lexicon_french(void);
#endif
