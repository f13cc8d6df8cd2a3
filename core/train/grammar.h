/* The grammar of the translator's sentences, read the other way round: is a sentence one that sentences.h could have
 * made, up to which word, which words could follow there, and which sentence of it is nearest to what was typed. */
#ifndef VITRINE_TRAIN_GRAMMAR_H
#define VITRINE_TRAIN_GRAMMAR_H
#include "core/models/lexicon.h"
#include "core/models/model.h"

/* --- rules that both ways share --- */

enum { GRAMMAR_PLACES = 6 };
extern const int GRAMMAR_INSIDE[GRAMMAR_PLACES]; /* that one is in, not on */
/* May it stand before that noun? No young road, no new cat, and un grand homme is no tall one. */
bool grammar_before(const Adjective *a, const Noun *n);
int grammar_indefinite(int next); /* a or an, by the word behind it */

/* --- reading --- */

typedef struct GrammarFit {
    int begins;          /* so many words, from the first, begin a sentence of the grammar */
    bool whole;          /* all n are one */
    bool next[EN_WORDS]; /* what it could go on with behind those that begin one */
} GrammarFit;
/* en[n]: numbers of English words, without start and end. Any thread. */
GrammarFit grammar_fit(const int *en, int n);

/* Are m's words the grammar's, so that m can only have been trained on its sentences, or not at all? */
bool grammar_is_of(const Model *m);
/* Where `words` of m (as words_parse gives them, with the end) leave the grammar: false and nothing when they are a
 * sentence of it, or m's words are others. brief: one clause for a narrow line, else a sentence with what would fit. */
bool grammar_outside(const Model *m, const int *words, int n, bool brief, Buf *out);

/* --- what is near --- */

/* The sentence of the grammar nearest to a text: the fewest words left out, put in or exchanged; words of like letters
 * are nearer. False when there is nothing to go by: no word at all, or more than a sentence has. */
bool grammar_nearest(const char *text, Buf *out);
/* Behind a message about a text that m could not read: "; near it: `command "the cat saw the hat"`". Returns false. */
bool grammar_suggest(const Model *m, const char *text, const char *command, Err *err);
#endif
