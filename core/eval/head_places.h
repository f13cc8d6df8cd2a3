/* Where every head looks, over many pictures: how far in pixels, and how a patch's weight is spread over places as seen
 * from it; each mean with its interval over the pictures, each share beside the one that equal weights would give. */
#ifndef VITRINE_EVAL_HEAD_PLACES_H
#define VITRINE_EVAL_HEAD_PLACES_H
#include "core/base/pool.h"
#include "core/eval/dataset.h"
#include "core/eval/interval.h"
#include "core/graph/graph.h"
#include "core/models/text_model.h"

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

/* --- words --- */

/* Where every head of a translator looks, over many sentences: how many places away from its own, and what share of a
 * word's weight lies on which place as seen from it; each mean with its interval over the sentences, beside what a head
 * would show that gives all it may look at the same weight. */

/* What is looked at, as seen from the place that asks; in cross-attention by its number in the other text. Every word
 * is in one of them. */
typedef enum WordPlace {
    WORD_ITSELF, /* the same place */
    WORD_BEFORE, /* the one before */
    WORD_AFTER,
    WORD_MARK, /* the start or the end, where it is none of these */
    WORD_FARTHER,
    WORD_PLACES
} WordPlace;

/* Arrays by attention (anatomy_attention) and head. */
typedef struct WordPlacesResult {
    size_t sentences;
    int attentions, heads;
    MeanOver *distance;             /* [attentions, heads] places away, mean over the words that ask */
    MeanOver (*share)[WORD_PLACES]; /* [attentions, heads]; the shares add up to 1 */
    double *uniform;                /* [attentions] the same where all that may be looked at gets the same weight */
    double (*even)[WORD_PLACES];    /* [attentions] */
} WordPlacesResult;

typedef struct WordPlaces WordPlaces;

/* count sentences of unseen combinations. model (dataset_unsuited_sentences), of which graph is, and pool must outlive
 * it. */
WordPlaces *word_places_new(const Model *model, const Graph *graph, size_t count, Pool *pool, Err *err);
void word_places_free(WordPlaces *w);                            /* NULL is allowed */
bool word_places_step(WordPlaces *w, int64_t deadline_ns);       /* true when done */
size_t word_places_done(const WordPlaces *w);                    /* sentences */
const WordPlacesResult *word_places_result(const WordPlaces *w); /* NULL before it is done */
/* The place that gets most beyond what equal weights would give it; WORD_PLACES where none gets more by at least its
 * margin and a fiftieth of the weight. */
WordPlace word_places_most(const WordPlacesResult *r, int attention, int head);
#endif
