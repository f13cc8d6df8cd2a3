/* Training a text model: batches of sentences, gradients, Adam. A step's sentences are put in order of length and cut
 * into micro-batches of TEXT_MICRO, each computed by one thread; their gradients are added in order. So the weights do
 * not depend on the number of threads, nor on the machine. */
#ifndef VITRINE_TRAIN_TEXT_TRAINER_H
#define VITRINE_TRAIN_TEXT_TRAINER_H
#include "core/base/pool.h"
#include "core/models/text_model.h"
#include "core/train/history.h"
#include "core/train/sentences.h"
#include "core/train/text_recipe.h"

typedef struct TextTrainer TextTrainer;

typedef struct TextStep {
    int step; /* steps done */
    double loss, words, gradient_norm, rate;
} TextStep;

/* A new translator of configuration c (both stacks; vocabularies of the lexicon), weights from the recipe's seed. pool
 * must outlive it. */
TextTrainer *text_trainer_new(const TextRecipe *r, const Seq2seqConfig *c, Pool *pool);
void text_trainer_free(TextTrainer *t); /* NULL is allowed */
TextStep text_trainer_step(TextTrainer *t);
bool text_trainer_done(const TextTrainer *t);
int text_trainer_steps_done(const TextTrainer *t);
/* The weights as they are now; after the last step the average, where the recipe asks for one. */
const Model *text_trainer_model(const TextTrainer *t);
const History *text_trainer_history(const TextTrainer *t);
/* How many of `count` sentences of a set, from number `first` on, are translated without a fault: at every place the
 * word that is right comes first, which is what greedy decoding needs to write just that sentence. */
size_t text_trainer_exact(TextTrainer *t, SentenceSet set, uint64_t first, size_t count);

/* All that is needed to go on. The file is written whole or not at all; text_trainer_resume refuses one of another
 * recipe or configuration, and then changes nothing. */
bool text_trainer_save(const TextTrainer *t, const char *path, Err *err);
bool text_trainer_resume(TextTrainer *t, const char *path, Err *err);
/* The folder of a finished model: model.safetensors, config.json, vocabulary.json, history.safetensors, recipe.json. It
 * must exist. */
bool text_trainer_write(const TextTrainer *t, const char *folder, Err *err);
#endif
