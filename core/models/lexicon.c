#include "core/models/lexicon.h"

enum { MASCULINE = 0, FEMININE = 1, CONSONANT = 0, VOWEL = 1 };

const Noun LEXICON_NOUNS[NOUNS] = {
#define NOUN(english, french, gender, sound, kind) {EN_##english, FR_##french, gender, sound, kind},
#include "core/models/lexicon.def"
};

/* A row of a table for each row of the list whose last word is that; nothing for the others. */
#define ROW_BEFORE_BEFORE(...) {__VA_ARGS__},
#define ROW_BEFORE_AFTER(...)
#define ROW_AFTER_BEFORE(...)
#define ROW_AFTER_AFTER(...) {__VA_ARGS__},
const Adjective LEXICON_BEFORE[BEFORE_NOUN] = {
#define ATTRIBUTE(english, m, f, v, place) ROW_BEFORE_##place(EN_##english, FR_##m, FR_##f, FR_##v)
#include "core/models/lexicon.def"
};
const Adjective LEXICON_AFTER[AFTER_NOUN] = {
#define ATTRIBUTE(english, m, f, v, place) ROW_AFTER_##place(EN_##english, FR_##m, FR_##f, FR_##v)
#include "core/models/lexicon.def"
};

/* Of the living first, then of places, then of objects, as the list has them. */
static const Adjective PREDICATES[OF_LIVING + OF_PLACES + OF_OBJECTS] = {
#define PREDICATE(english, m, f, kind) {EN_##english, FR_##m, FR_##f, FR_##m},
#include "core/models/lexicon.def"
};

const Action LEXICON_VERBS[VERBS] = {
#define VERB(base, past, third, participle, present, sound, objects)                                                   \
    {EN_##base, EN_##past, EN_##third, FR_##participle, FR_##present, sound, objects},
#include "core/models/lexicon.def"
};

const Adjective *lexicon_predicates(NounKind kind, int *count)
{
    switch (kind) {
    case PLACE: *count = OF_PLACES; return PREDICATES + OF_LIVING;
    case OBJECT: *count = OF_OBJECTS; return PREDICATES + OF_LIVING + OF_PLACES;
    default: *count = OF_LIVING; return PREDICATES;
    }
}

static const char *const ENGLISH_WORDS[EN_WORDS] = {
#define ENGLISH(symbol, word) word,
#include "core/models/lexicon.def"
};
static const char *const FRENCH_WORDS[FR_WORDS] = {
#define FRENCH(symbol, word) word,
#include "core/models/lexicon.def"
};

const Vocabulary *lexicon_english(void)
{
    static const Vocabulary v = {ENGLISH_WORDS, EN_WORDS, EN_PAD, EN_START, EN_END, 0, 0, 0, NULL, {0}, NULL};
    return &v;
}

const Vocabulary *lexicon_french(void)
{
    static const Vocabulary v = {FRENCH_WORDS, FR_WORDS, FR_PAD, FR_START, FR_END, 0, 0, 0, NULL, {0}, NULL};
    return &v;
}
