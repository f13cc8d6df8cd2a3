/* English sentences with their French translations, drawn from a small grammar (core/models/lexicon.def): agreement,
 * elision, negation, adjectives before and behind the noun, and pronouns that only the meaning resolves. Every sentence
 * is made from its number; which combinations of words are never learnt from is decided by a hash of the words. */
#ifndef VITRINE_TRAIN_SENTENCES_H
#define VITRINE_TRAIN_SENTENCES_H
#include <stdbool.h>
#include <stdint.h>

enum { SENTENCE_WORDS = 28 };

typedef enum SentenceSet {
    SENTENCES_TRAIN,        /* learnt from */
    SENTENCES_LIKE_TRAIN,   /* from the same grammar, of other numbers; one may happen to have been learnt from */
    SENTENCES_COMBINATIONS, /* a subject, verb and object, or a subject, object and reason, that were never together */
    SENTENCES_PAIRS,        /* an adjective beside, or said of, a noun that it was never learnt with */
    SENTENCE_SETS
} SentenceSet;
const char *sentence_set_about(SentenceSet s); /* "unseen combinations" */

/* Nouns that a pronoun could stand for, in the order of the grammar. */
typedef enum Antecedent { ABOUT_SUBJECT, ABOUT_OBJECT, ABOUT_PLACE, ABOUT_NOTHING } Antecedent;

typedef struct ParallelSentence {
    int en[SENTENCE_WORDS], fr[SENTENCE_WORDS]; /* words, without start and end */
    int en_n, fr_n;
    /* Of a sentence with a pronoun in its reason, else about is ABOUT_NOTHING: places in en of the pronoun, of what is
     * said of it, and of the nouns (−1: there is none); place in fr of il or elle. */
    Antecedent about;
    int pronoun, adjective, noun[3], fr_pronoun;
} ParallelSentence;

/* Sentence `number` of a set; any thread. seed: another series of sentences to learn from. */
void sentence_make(SentenceSet set, uint64_t seed, uint64_t number, ParallelSentence *s);

/* Pairs of sentences that differ in one word, the adjective, so that "it" stands for the subject in the first and for
 * the object in the second, whose gender in French is another: "the animal did not cross the street because it was too
 * tired" / "… wide". Both reasons are held out; so is everything said of that animal and that street. Pair 0 is that
 * one. The others stand in an order that a seed fixed once and for all. */
int sentence_pairs(void); /* how many there are */
void sentence_pair(int i, ParallelSentence pair[2]);
void sentence_pair_list(ParallelSentence *all); /* [2 · sentence_pairs()] */
#endif
