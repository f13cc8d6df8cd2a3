/* Everything that decides which weights a text model gets: the same recipe gives the same bytes on every machine, for
 * any number of threads. The default is the recipe of the bundled translator (Vaswani et al. 2017, sections 5.3 and
 * 5.4, at a small size). */
#ifndef VITRINE_TRAIN_TEXT_RECIPE_H
#define VITRINE_TRAIN_TEXT_RECIPE_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/io/json.h"
#include "core/models/seq2seq.h"

typedef struct TextRecipe {
    uint64_t seed;
    int steps, batch; /* batch: sentences per step, a multiple of TEXT_MICRO */
    double rate;      /* factor on width^−½ · min(step^−½, step · warmup^−1.5) */
    int warmup;       /* steps */
    double cooling;   /* share of the steps, the last ones, over which the rate falls to almost nothing as well; 0: the
                         paper's schedule */
    double beta1, beta2, epsilon;
    double smoothing;  /* label smoothing (Szegedy et al. 2016) */
    int average;       /* weights of so many steps are averaged at the end; 0 or 1: the last ones are taken */
    int average_every; /* steps between two of them */
    int log_every;     /* steps between two rows of the history */
    int check;         /* sentences that are not learnt from, translated in every tenth row and at the end */
} TextRecipe;

TextRecipe text_recipe_default(void);
/* A shorter run of the same kind for tests and tries: steps are cut, warm-up with them. */
TextRecipe text_recipe_short(int steps);
bool text_recipe_check(const TextRecipe *r, Err *err);
/* Reads {"steps": 800, …} over the values that *r has; every key must be known and of the right kind. The keys "kind"
 * and "model" are passed over. */
bool text_recipe_read(TextRecipe *r, const Json *j, Err *err);
/* {"model": {"width": 64, "heads": 4, "encoder_layers": 3, …}} over *c. */
bool text_recipe_model(Seq2seqConfig *c, const Json *j, Err *err);
/* Both as one JSON object, for the folder of a trained model. */
void text_recipe_write(const TextRecipe *r, const Seq2seqConfig *c, Buf *out);
double text_recipe_rate(const TextRecipe *r, const Seq2seqConfig *c, int step); /* of step 0 … steps-1 */
#endif
