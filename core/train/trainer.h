/* Training: batches, gradients, AdamW. A step is a number of micro-batches of MICRO_BATCH pictures, each computed by
 * one thread; their gradients are added in order. So the weights do not depend on the number of threads, nor on the
 * machine. */
#ifndef VITRINE_TRAIN_TRAINER_H
#define VITRINE_TRAIN_TRAINER_H
#include "core/base/pool.h"
#include "core/models/model.h"
#include "core/train/history.h"
#include "core/train/pictures.h"
#include "core/train/recipe.h"

typedef struct Trainer Trainer;

/* Figures of the step just made. */
typedef struct TrainStep {
    int step;                     /* steps done */
    double loss, accuracy, guess; /* of its unmasked pictures; of its hidden patches (−1 when there were none) */
    double gradient_norm, rate;
} TrainStep;

/* A new model of configuration c (classes must be the pictures'), weights from the recipe's seed. pictures and pool
 * must outlive it. */
Trainer *trainer_new(const Recipe *r, const VitConfig *c, const Pictures *pictures, Pool *pool);
void trainer_free(Trainer *t); /* NULL is allowed */
/* One step; then trainer_done tells whether that was the last. */
TrainStep trainer_step(Trainer *t);
bool trainer_done(const Trainer *t);
int trainer_steps_done(const Trainer *t);
/* The weights as they are now; valid until the next step or trainer_free. */
const Model *trainer_model(const Trainer *t);
const History *trainer_history(const Trainer *t);
/* Share of `count` pictures of a set named right, drawn ones at full difficulty. */
double trainer_accuracy(Trainer *t, PictureSet set, uint64_t first, size_t count);

/* All that is needed to go on: weights, moments, step, history. The file is written whole or not at all. trainer_resume
 * refuses a file of another recipe, configuration or kind of pictures, and then changes nothing. */
bool trainer_save(const Trainer *t, const char *path, Err *err);
bool trainer_resume(Trainer *t, const char *path, Err *err);
/* The folder of a finished model: model.safetensors, config.json, preprocessor_config.json, history.safetensors,
 * recipe.json, and where it learned from a folder the list of what (pictures_write_learnt). It must exist. */
#define TRAINER_LEARNT "learnt.txt"
bool trainer_write(const Trainer *t, const char *folder, Err *err);
#endif
