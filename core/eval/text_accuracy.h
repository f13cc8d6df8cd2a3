/* An examination of a translator, as trained or edited: which of many sentences that it never learnt from it translates
 * without a fault. The counterpart of accuracy.h, with its result, so that what counts pictures counts sentences. */
#ifndef VITRINE_EVAL_TEXT_ACCURACY_H
#define VITRINE_EVAL_TEXT_ACCURACY_H
#include "core/eval/accuracy.h"
#include "core/eval/text_reader.h"

typedef struct TextAccuracySetup {
    const Model *model;
    TextHead change;     /* what is switched off or scaled; scope NULL and factor 0: nothing */
    size_t first, count; /* sentences of unseen combinations, from that number on */
    Pool *pool;          /* may be NULL */
} TextAccuracySetup;

typedef struct TextAccuracy TextAccuracy;

/* Is it a translator with the lexicon's words, for which sentences with known translations are there? Else why not. */
bool text_accuracy_suits(const Model *m, const char **why);
/* model and pool must outlive it. NULL with err where the model has no such head. */
TextAccuracy *text_accuracy_new(const TextAccuracySetup *setup, Err *err);
void text_accuracy_free(TextAccuracy *e); /* NULL is allowed */
/* Works until the deadline (clock_ns), at least a batch for every thread. True when done. */
bool text_accuracy_step(TextAccuracy *e, int64_t deadline_ns);
size_t text_accuracy_done(const TextAccuracy *e); /* sentences */
/* NULL before it is done: label 1 for each sentence, named 1 where no word is wrong, 0 else. */
const AccuracyResult *text_accuracy_result(const TextAccuracy *e);
#endif
