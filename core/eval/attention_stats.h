/* What attention does, over many pictures: how far heads look, how evenly, and whether at the object. The quantities
 * are the nodes of probes.h; the means over pictures are made in double, in the pictures' order. */
#ifndef VITRINE_EVAL_ATTENTION_STATS_H
#define VITRINE_EVAL_ATTENTION_STATS_H
#include "core/base/pool.h"
#include "core/eval/dataset.h"
#include "core/eval/interval.h"
#include "core/graph/edit.h"

/* Patches that the object covers to more than this share of their area are the object's. */
#define SURVEY_COVER 0.08

typedef struct AttentionStatsSetup {
    const Model *model;
    const Edit *edits; /* as made for one picture */
    int edit_count;
    const Graph *graph; /* the model's for one picture, with probes: which the edits were made for */
    Dataset *dataset;
    size_t most; /* of its pictures, the first ones; 0: all */
    Pool *pool;
} AttentionStatsSetup;

/* Means over the pictures, each with its margin. [layers, heads] arrays: */
typedef struct AttentionStatsResult {
    size_t pictures;
    int layers, heads;
    MeanOver *distance; /* attention distance in pixels */
    MeanOver *entropy;  /* of a row, divided by ln(tokens); NaN where there is one token */
    MeanOver *largest;  /* largest weight of a row */
    double uniform,
        maximal;        /* the distance of a head that looks at all patches alike; of one that looks as far as it can */
    size_t *lens_right; /* [1 + layers] pictures that the logit lens names right before the first block and after each;
                            NULL where the model names no classes */
    bool objects;       /* are the masks known? else what follows is 0 */
    size_t seen;        /* pictures with an object's patch; the shares below are over these */
    MeanOver area;      /* share of the patches that are the object's: what looking at all patches alike would give */
    MeanOver covered;   /* share of the pixels that the object covers */
    MeanOver rollout;   /* share of the last rollout's weight over the patches that is on the object's */
    size_t rollout_peak; /* pictures whose heaviest patch is the object's */
    MeanOver *
        read; /* [heads] share of the reading token's weight over patches in the last block; NULL without class token */
    /* What maps that know nothing of the model would give: */
    MeanOver fixed;     /* the mean of all pictures' rollouts, the same for each picture */
    MeanOver bright;    /* every patch by how much brighter than the picture's mean it is, 0 where it is darker */
    size_t fixed_peak;  /* pictures in which the patch that is the object's most often is the object's */
    size_t bright_peak; /* pictures whose brightest patch is the object's */
} AttentionStatsResult;

typedef struct AttentionStats AttentionStats;

/* Has it the analyses that this is made of? */
bool attention_stats_has(const Graph *g);
/* model, dataset and pool must outlive it; the rest of the setup need not. NULL with err when an edit names what the
 * model lacks. */
AttentionStats *attention_stats_new(const AttentionStatsSetup *setup, Err *err);
void attention_stats_free(AttentionStats *s);                      /* NULL is allowed */
bool attention_stats_step(AttentionStats *s, int64_t deadline_ns); /* true when done */
size_t attention_stats_pictures_done(const AttentionStats *s);
const AttentionStatsResult *attention_stats_result(const AttentionStats *s); /* NULL before it is done */

/* Which patches are the object's: object[p] 1 or 0, from mask[y,x]. Returns how many. */
size_t attention_stats_object(const VitConfig *c, const uint8_t *mask, uint8_t *object);
#endif
