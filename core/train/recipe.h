/* Everything that decides which weights come out of training: the same recipe gives the same bytes on every machine,
 * for any number of threads. The default is the recipe of the bundled model. */
#ifndef VITRINE_TRAIN_RECIPE_H
#define VITRINE_TRAIN_RECIPE_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/io/json.h"
#include "core/models/vit.h"

enum { MICRO_BATCH = 4 }; /* pictures whose gradients are computed together; part of the recipe, hence of the bytes */

typedef enum Schedule {
    SCHEDULE_COSINE, /* linear warm-up, then what is left of half a cosine over all steps, down to `floor` (Loshchilov
                        and Hutter 2017) */
    SCHEDULE_INVERSE_SQRT /* linear warm-up, then 1/√step (Vaswani et al. 2017, section 5.3), scaled so that its peak is
                             `rate` */
} Schedule;

typedef struct Recipe {
    uint64_t seed;
    int steps, batch; /* batch: pictures per step, a multiple of MICRO_BATCH */
    Schedule schedule;
    double rate;  /* the largest learning rate */
    int warmup;   /* steps */
    double floor; /* SCHEDULE_COSINE: share of `rate` that is left at the end */
    double beta1, beta2, epsilon;
    double decay;         /* decoupled weight decay of matrices and positions (Loshchilov and Hutter 2019) */
    double position_rate; /* factor on the learning rate of the position table */
    double clip;          /* largest norm of all gradients together; 0: never clipped */
    double smoothing;     /* label smoothing (Szegedy et al. 2016): so much of the target goes to all classes alike */
    /* Masked patch prediction (Dosovitskiy et al. 2021, appendix B.1.2; here regression to the patch's pixels as
     * `image` has them). */
    double hidden_share; /* of the patches of a masked picture, each hidden with this probability */
    double masked_share; /* of a batch's pictures that are masked … */
    double masked_until; /* … up to this share of the steps; a quarter of that afterwards */
    double masked_class; /* weight of the class loss of masked pictures */
    double guess_weight; /* weight of the mean squared error over hidden patches; 0: no masking */
    /* Drawn shapes only: difficulty at the first step, growing to 1 over this share of the steps. */
    double difficulty, easing;
    int log_every; /* steps between two rows of the history */
    int check;     /* pictures that are not learnt from, looked at in every tenth row and at the end */
} Recipe;

Recipe recipe_default(void);
/* A shorter run of the same kind for tests and tries: steps are cut, warm-up with them. */
Recipe recipe_short(int steps);
bool recipe_check(const Recipe *r, Err *err);
/* Reads {"steps": 800, "rate": 1e-3, "schedule": "cosine", …} over the values that *r has; every key must be known and
 * of the right kind (the message names the nearest key). The key "model" is passed over: recipe_model reads it. */
bool recipe_read(Recipe *r, const Json *j, Err *err);
/* {"model": {"image": 48, "patch": 6, "width": 64, "layers": 4, "heads": 4, "mlp": 128, "scale": 0.25, "post_norm":
 * false, …}} over *c. */
bool recipe_model(VitConfig *c, const Json *j, Err *err);
/* Both as one JSON object, for the folder of a trained model. */
void recipe_write(const Recipe *r, const VitConfig *c, Buf *out);

double recipe_rate(const Recipe *r, int step);       /* learning rate of step 0 … steps-1 */
double recipe_difficulty(const Recipe *r, int step); /* 0 … 1 */
int recipe_masked(const Recipe *r,
                  int step); /* masked pictures of the step's batch: the first ones; a multiple of MICRO_BATCH */
#endif
