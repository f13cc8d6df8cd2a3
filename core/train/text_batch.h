/* Sentences side by side as a text model's batch reads them: one-hot words, padding, the words that are right. */
#ifndef VITRINE_TRAIN_TEXT_BATCH_H
#define VITRINE_TRAIN_TEXT_BATCH_H
#include <stddef.h>

#include "core/models/seq2seq.h"
#include "core/train/sentences.h"

enum {
    TEXT_MICRO = 8,       /* sentences whose gradients are computed together; part of the recipe, hence of the bytes */
    TEXT_LENGTH_STEP = 2, /* lengths are rounded up to a multiple, so that few graphs are enough */
    TEXT_LENGTH_MAX = 28
};

typedef struct TextBatch {
    int length;     /* of source and target alike, with end or start */
    float *source;  /* [TEXT_MICRO, length, source_words] */
    float *target;  /* [TEXT_MICRO, length, target_words] */
    float *answer;  /* the same: the word that comes next, smoothed */
    float *padding; /* [TEXT_MICRO, length] */
    float *weight;  /* [TEXT_MICRO, length]: of each answer in the loss; 0 behind a sentence's end */
} TextBatch;

TextBatch text_batch_new(const Seq2seqConfig *c); /* room for TEXT_LENGTH_MAX */
void text_batch_free(TextBatch *b);
/* Tokens of the longer side of a sentence, rounded up. */
int text_batch_length(const Sentence *s);
/* n ≤ TEXT_MICRO sentences, none longer than length; the others' places stay empty. smoothing: so much of an answer
 * goes to all words alike (Szegedy et al. 2016). weight: of each answer. */
void text_batch_fill(TextBatch *b, const Seq2seqConfig *c, const Sentence *const *s, int n, int length,
                     double smoothing, float weight);
/* The word that is right at place t of the answer: the t-th French word, or the end; −1 behind it. */
int text_batch_answer(const Sentence *s, int t);
#endif
