/* Shared by the files of the text trainer. Internal to core/train. */
#ifndef VITRINE_TRAIN_TEXT_TRAINER_PARTS_H
#define VITRINE_TRAIN_TEXT_TRAINER_PARTS_H
#include "core/graph/plan.h"
#include "core/train/descent.h"
#include "core/train/text_batch.h"
#include "core/train/text_loss.h"
#include "core/train/text_trainer.h"

enum { TEXT_LENGTHS = TEXT_LENGTH_MAX / TEXT_LENGTH_STEP + 1 };

/* A thread's own plans, by length, and its batch. */
typedef struct TextBench {
    Plan *learn[TEXT_LENGTHS], *read[TEXT_LENGTHS]; /* made when first needed */
    TextBatch batch;
} TextBench;

typedef struct TextMicro {
    int length;
    double loss;
    size_t right;
} TextMicro;

/* Where attention stands in the sentence that the history looks at. */
typedef struct TextLook {
    Graph graph;
    Plan *plan;
    NodeId *pattern; /* [attentions] */
} TextLook;

struct TextTrainer {
    TextRecipe recipe;
    Model model;
    Pool *pool;
    TextLoss loss[TEXT_LENGTHS], answer[TEXT_LENGTHS]; /* built when first needed, by the thread that steps */
    TextBench *bench;                                  /* [threads] */
    int benches;
    Descent descent;
    float *mean;            /* [block]: the sum of averaged weights */
    Sentence *sentence;     /* [batch] */
    const Sentence **order; /* [batch]: by length */
    TextMicro *micro;       /* [descent.micros] */
    TextLook look;
    History history;
    int step;
    float word_weight; /* of the step in progress */
};

/* --- text_trainer_look.c: what goes into the history --- */
void text_trainer_look_open(TextTrainer *t);
void text_trainer_look_close(TextTrainer *t);
/* Notes step t->step; figures NULL before the first step. */
void text_trainer_note(TextTrainer *t, const TextStep *figures);
#endif
