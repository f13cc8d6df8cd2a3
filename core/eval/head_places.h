/* Where every head looks, over many pictures: how far in pixels, and how a patch's weight is spread over places as seen
 * from it; each mean with its interval over the pictures, each share beside the one that equal weights would give. */
#ifndef VITRINE_EVAL_HEAD_PLACES_H
#define VITRINE_EVAL_HEAD_PLACES_H
#include "core/base/pool.h"
#include "core/eval/dataset.h"
#include "core/graph/graph.h"

/* What is looked at, as seen from a patch that asks. Every token is in one of them. */
typedef enum HeadPlace {
    PLACE_ITSELF,
    PLACE_NEIGHBOURS, /* the patches that touch it, corners too: at most 8 */
    PLACE_ROW,        /* farther along its row of the grid */
    PLACE_COLUMN,
    PLACE_PREFIX, /* tokens without a place: the class token, registers */
    PLACE_FARTHER,
    HEAD_PLACES
} HeadPlace;

/* A mean over the pictures and half the width of its 95 % interval (of the mean, by the pictures' spread; 0 where there
 * is one picture). */
typedef struct MeanOver {
    double mean, margin;
} MeanOver;

/* Of x[0], x[step], … n numbers. */
MeanOver mean_over(const double *x, size_t n, size_t step);

typedef struct HeadPlacesResult {
    size_t pictures;
    int layers, heads;
    MeanOver *distance;             /* [layers, heads] attention distance in pixels */
    MeanOver (*share)[HEAD_PLACES]; /* [layers, heads] of the weight of the patches that ask; the shares add up to 1 */
    double uniform, even[HEAD_PLACES]; /* the same of equal weights: distance, shares */
} HeadPlacesResult;

typedef struct HeadPlaces HeadPlaces;

/* graph: the model's for one picture, with probes. model, dataset and pool must outlive it. NULL with err if the model
 * has no heads that look at patches. */
HeadPlaces *head_places_new(const Model *model, const Graph *graph, Dataset *dataset, Pool *pool, Err *err);
void head_places_free(HeadPlaces *h);                      /* NULL is allowed */
bool head_places_step(HeadPlaces *h, int64_t deadline_ns); /* true when done */
size_t head_places_pictures_done(const HeadPlaces *h);
const HeadPlacesResult *head_places_result(const HeadPlaces *h); /* NULL before it is done */
/* The place that gets most beyond what equal weights would give it; HEAD_PLACES where none gets more by at least its
 * margin and a fiftieth of the weight. */
HeadPlace head_places_most(const HeadPlacesResult *r, int cell);
#endif
