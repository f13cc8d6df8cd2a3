/* Learning from texts: sentences side by side as a batch reads them (one-hot words, padding, the words that are right),
 * the look that a history takes into a model meanwhile, and what translators and decoders have in common. */
#ifndef VITRINE_TRAIN_TEXTS_H
#define VITRINE_TRAIN_TEXTS_H
#include <stddef.h>

#include "core/graph/plan.h"
#include "core/train/sentences.h"
#include "core/train/task.h"

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
int text_batch_length(const ParallelSentence *s);
/* n ≤ TEXT_MICRO sentences, none longer than length; the others' places stay empty. smoothing: so much of an answer
 * goes to all words alike (Szegedy et al. 2016). weight: of each answer. */
void text_batch_fill(TextBatch *b, const Seq2seqConfig *c, const ParallelSentence *const *s, int n, int length,
                     double smoothing, float weight);
/* The word that is right at place t of the answer: the t-th French word, or the end; −1 behind it. */
int text_batch_answer(const ParallelSentence *s, int t);

/* What a history looks at while a text model learns: every attention of one text. */
typedef struct TextLook {
    Graph graph; /* of the text; over the model's weights, which must outlive it */
    Plan *plan;
    NodeId *pattern; /* [attentions] */
} TextLook;

/* h: of that model. in: the text, whose words are copied. */
void text_look_open(TextLook *l, const Model *m, const History *h, const Seq2seqInput *in);
void text_look_close(TextLook *l);
/* TaskKind's look, of a trainer whose own begins with a TextLook. */
void text_look(Trainer *t, float *lines, Snapshot *s);

/* Of TaskKind's settle: the width of a head and, unless that was said, the factor on the scores. */
bool texts_settle(Seq2seqConfig *c, bool scaled, Err *err);
size_t texts_params(const void *config);
/* Of TaskKind's open: t->model, whose name and vocabularies are there, gets the rest and its first weights. Normal
 * numbers; embeddings 1/width and attention 1/width as variance, MLP 2/(inputs + outputs) (Glorot and Bengio 2010),
 * learned positions 0.02²; START_OF_GPT2: embeddings 0.02² as well, whose rows are the answer's weights too, and what a
 * sub-layer of the decoder adds divided by √(2 · blocks) (Radford et al. 2019, section 2.3); γ 1, biases 0. */
typedef enum TextStart { START_OF_PAPER, START_OF_GPT2 } TextStart;
void texts_open(Trainer *t, TextStart start);
/* Of TaskKind's build: the model over TEXT_MICRO texts of so many tokens; returns the input of the right answers. */
NodeId texts_build(const Trainer *t, int source, int target, TaskGraph *l, Seq2seqNodes *nodes);
#endif
