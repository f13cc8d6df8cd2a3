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

struct TextTrainer {
    TextRecipe recipe;
    TextModel model;
    Pool *pool;
    TextLoss loss[TEXT_LENGTHS], answer[TEXT_LENGTHS]; /* built when first needed, by the thread that steps */
    TextBench *bench;                                  /* [threads] */
    int benches;
    Descent descent;
    float *mean;            /* [block]: the sum of averaged weights */
    Sentence *sentence;     /* [batch] */
    const Sentence **order; /* [batch]: by length */
    TextMicro *micro;       /* [descent.micros] */
    TextHistory history;
    int step;
    float word_weight; /* of the step in progress */
};
#endif
