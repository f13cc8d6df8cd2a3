/* Shared by the files of the trainer. Internal to core/train. */
#ifndef VITRINE_TRAIN_TRAINER_PARTS_H
#define VITRINE_TRAIN_TRAINER_PARTS_H
#include "core/graph/plan.h"
#include "core/train/descent.h"
#include "core/train/loss.h"
#include "core/train/trainer.h"

/* What one micro-batch contributes to the figures of a step. */
typedef struct MicroFigures {
    double loss, right, guess;
} MicroFigures;

/* A thread's own plans and batch. */
typedef struct Worker {
    Plan *clean, *masked; /* gradients; `masked` is NULL where the recipe masks nothing */
    Plan *answer;         /* logits only; made when first needed */
    float *pixels, *target, *class_weight;
    int labels[MICRO_BATCH];
} Worker;

struct Trainer {
    Recipe recipe;
    Model model;
    const Pictures *pictures;
    Pool *pool;
    LossGraph clean, masked;
    float *zeros;
    Worker *workers; /* [threads] */
    int worker_count;
    Descent descent;
    float *hidden;         /* [batch, patches]: which patches of the step's masked pictures are hidden */
    MicroFigures *figures; /* [micros] */
    Plan *look;            /* attention of the first check pictures, for the history */
    NodeId *pattern;       /* [layers], in clean.graph */
    float *look_pixels;
    History history;
    int step;
    /* of the step in progress */
    int masked_pictures;
    float guess_weight;
};

/* --- trainer_look.c: what goes into the history --- */
void trainer_look_open(Trainer *t);
void trainer_look_close(Trainer *t);
/* Notes step t->step; figures NULL before the first step. */
void trainer_note(Trainer *t, const TrainStep *figures);
#endif
