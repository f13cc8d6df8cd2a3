/* Everything that decides which weights come out of training: the same recipe gives the same bytes on every machine,
 * for any number of threads. Which of its values a recipe of some kind has, what they may be and what they are by
 * default stands in the kind's file (task.h). */
#ifndef VITRINE_TRAIN_RECIPE_H
#define VITRINE_TRAIN_RECIPE_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/io/json.h"

/* How pictures are changed before they are learned from (vit_train.h). All 0: pictures as they are. */
typedef struct Augment {
    double flip;   /* probability of left and right exchanged */
    int shift;     /* pixels: up to so many in each direction, the border reflected (He et al. 2016 pad with zeros) */
    double colour; /* brightness, contrast and saturation, each times 1 − colour … 1 + colour */
    double mix;    /* probability of a mean with another picture (Zhang et al. 2018, "mixup"; shares uniform) */
    double cut;    /* … of a rectangle from another picture (Yun et al. 2019, "CutMix"; areas uniform) */
    double erase;  /* probability of a grey rectangle of 2 to 33 % of the area (Zhong et al. 2020, "Random Erasing") */
} Augment;

typedef enum Schedule {
    SCHEDULE_COSINE, /* linear warm-up, then what is left of half a cosine over all steps, down to `floor` (Loshchilov
                        and Hutter 2017) */
    SCHEDULE_INVERSE_SQRT, /* linear warm-up, then 1/√step (Vaswani et al. 2017, section 5.3), scaled so that its peak
                             is `rate` */
    SCHEDULE_WIDTH /* the paper's own: rate · width^−½ · min(step^−½, step · warmup^−1.5), cooled at the end */
} Schedule;

typedef struct Recipe {
    const struct TaskKind *kind;
    uint64_t seed;
    int steps, batch; /* batch: examples per step, a multiple of those whose gradients are computed together */
    Schedule schedule;
    int cycles;     /* 2 and more: the steps are so many trainings of equal length, each from the weights that the one
                       before ended with, its moments and schedule new (SGDR, Loshchilov and Hutter 2017) */
    double rate;    /* the largest learning rate; SCHEDULE_WIDTH: the factor */
    int warmup;     /* steps */
    double floor;   /* SCHEDULE_COSINE: share of `rate` that is left at the end */
    double cooling; /* SCHEDULE_WIDTH: share of the steps, the last ones, over which the rate falls to almost nothing as
                       well; 0: the paper's schedule */
    double beta1, beta2, epsilon;
    double mimic; /* how much attention begins as a trained one looks (start_mimic) */
    double muon;  /* momentum of Muon (descent.h), which then learns the matrices of the blocks; 0: AdamW learns all */
    double decay; /* decoupled weight decay of matrices and positions (Loshchilov and Hutter 2019) */
    double position_rate; /* factor on the learning rate of the position table */
    double clip;          /* largest norm of all gradients together; 0: never clipped */
    double smoothing;     /* label smoothing (Szegedy et al. 2016): so much of the target goes to all answers alike */
    int average;          /* weights of so many steps are averaged at the end; 0 or 1: the last ones are taken */
    int average_every;    /* steps between two of them */
    /* Masked patch prediction (Dosovitskiy et al. 2021, appendix B.1.2; here regression to the patch's pixels as
     * `image` has them). */
    double hidden_share; /* of the patches of a masked picture, each hidden with this probability */
    double masked_share; /* of a batch's pictures that are masked … */
    double masked_until; /* … up to this share of the steps; a quarter of that afterwards */
    double masked_class; /* weight of the class loss of masked pictures */
    double guess_weight; /* weight of the mean squared error over hidden patches; 0: no masking */
    /* Drawn shapes only: difficulty at the first step, growing to 1 over this share of the steps. */
    double difficulty, easing;
    Augment augment; /* of pictures that are learned from */
    int log_every;   /* steps between two rows of the history */
    int check;       /* examples that are not learnt from, looked at in every tenth row and at the end */
} Recipe;

/* A value of a recipe, or of the configuration of its model, by the name that it has in a file. */
typedef enum FieldKind {
    FIELD_WHOLE,  /* int */
    FIELD_REAL,   /* double */
    FIELD_SINGLE, /* float */
    FIELD_SEED,   /* uint64_t */
    FIELD_FLAG,   /* bool */
    FIELD_WORD,   /* an enum, by its words */
    FIELD_PAIR,   /* two ints, height and width: one number for both, or a list */
    FIELD_ACT     /* MapFn: an activation */
} FieldKind;
typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset;
    double low, high;         /* of a number */
    const char *const *words; /* FIELD_WORD: ends with NULL */
} Field;
typedef struct Fields {
    const Field *field;
    int count;
    bool all_digits; /* numbers are written with all their digits, else with as few as read back the same; the model in
                        one line */
} Fields;

bool recipe_check(const Recipe *r, Err *err);
/* Reads {"steps": 800, "rate": 1e-3, "schedule": "cosine", …} over the values that *r has; every key must be known and
 * of the right kind (the message names those that are). The keys "model" and "kind" are passed over. */
bool recipe_read(Recipe *r, const Json *j, Err *err);
/* {"model": {"image": 48, "patch": 6, "width": 64, …}} over *config, which is of r's kind. */
bool recipe_model(const Recipe *r, void *config, const Json *j, Err *err);
/* Both as one JSON object, for the folder of a trained model. */
void recipe_write(const Recipe *r, const void *config, Buf *out);

/* So many steps, with a warm-up and rows of the history for as many. */
void recipe_shorten(Recipe *r, int steps);

int recipe_cycle(const Recipe *r);                        /* steps of a cycle */
double recipe_rate(const Recipe *r, int width, int step); /* learning rate of step 0 … steps-1 */
double recipe_difficulty(const Recipe *r, int step);      /* 0 … 1 */
int recipe_masked(const Recipe *r, int step);             /* masked pictures of the step's batch: the first ones, whole
                                                             micro-batches of them */
#endif
