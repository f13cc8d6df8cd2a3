/* A model put through its paces: how many pictures it names right, as trained and with one thing after the other taken
 * away, and what its attention does meanwhile. */
#ifndef VITRINE_EVAL_EVALUATION_H
#define VITRINE_EVAL_EVALUATION_H
#include "core/eval/ablation.h"
#include "core/eval/accuracy.h"
#include "core/eval/attention_stats.h"
#include "core/eval/interval.h"
#include "core/models/probe_positions.h"

/* What rollout says of models that never learned anything: weights as training begins with them, from several seeds,
 * each over the first RANDOM_PICTURES pictures. The base rate of what it says of the model; how far it depends on the
 * seed is more than what the number of pictures leaves open. */
enum { RANDOM_SEEDS = 10, RANDOM_PICTURES = 1000 };
typedef struct RandomWeights {
    size_t pictures; /* looked at per seed; 0 where no objects are known */
    size_t seen;     /* with an object's patch */
    double rollout[RANDOM_SEEDS];
    size_t peak[RANDOM_SEEDS]; /* of those seen: the heaviest patch is the object's */
} RandomWeights;

/* Over the seeds. */
typedef struct RandomSpread {
    double mean, least, most;
} RandomSpread;
RandomSpread random_rollout(const RandomWeights *r);
RandomSpread random_peak(const RandomWeights *r); /* shares of those seen */

typedef struct Evaluation {
    size_t pictures;
    int layers, heads;
    Accuracy *trained; /* as trained, both read-outs; done */
    double accuracy;   /* of it: shares, 0 … 1, like all that follow */
    double scale_off;
    double positions_off;    /* NaN where no positions are added */
    double *head;            /* [layers, heads] with that head's z at 0 */
    double *attention, *mlp; /* [layers] with that sub-layer adding nothing */
    /* The same over the same pictures, against `trained`: what the difference is worth. */
    Paired scale_pair, positions_pair, other_pair; /* other: the read-out that the model does not use */
    Paired *head_pair, *attention_pair, *mlp_pair;
    AttentionStats *with, *without; /* attention as trained, and without the scale; done */
    RandomWeights random;
    PositionGrid grid; /* of the position table, where has_grid */
    bool has_grid;
} Evaluation;

/* Called now and then; false cancels. */
typedef bool (*EvaluationProgress)(void *context, const char *what, double share);

/* Which places head layer·heads + h can have among all, 1: missed most; heads of no more than the noise share places.
 */
void evaluation_places(const Evaluation *e, int head, int *first, int *last);

/* The dataset suits the model. On failure (cancelled) nothing is to be freed. */
bool evaluation_run(Evaluation *e, const Model *m, Dataset *dataset, Pool *pool, EvaluationProgress progress,
                    void *context, Err *err);
void evaluation_free(Evaluation *e); /* accepts a zeroed one */
#endif
