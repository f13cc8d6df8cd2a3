/* Finds, by measurement, the picture, block, head and query where taking the scale away most visibly collapses a row of
 * attention and changes the answer, the picture where it changes least, and the one in the middle, without which the
 * first would pass for the rule. Only rows that reach the answer count. */
#ifndef VITRINE_EVAL_SCALE_SEARCH_H
#define VITRINE_EVAL_SCALE_SEARCH_H
#include "core/base/pool.h"
#include "core/models/model.h"

typedef struct ScaleSearchRow {
    bool found;
    uint64_t number;                     /* of the picture in the program's own series: #17 */
    int label, with, without;            /* its class, the one named as trained, the one named without the scale */
    int layer, head, query;              /* query: token that asks */
    char pattern[96];                    /* path of that head's pattern */
    float entropy_with, entropy_without; /* of that row, in nats */
    double change;                       /* mean over all rows of the picture of |entropy as trained − without| */
} ScaleSearchRow;

typedef struct ScaleSearch {
    size_t pictures, changed; /* how many answers change */
    ScaleSearchRow
        collapse; /* named right as trained, another class without: the row with the largest drop in entropy */
    ScaleSearchRow
        steady; /* named right both times: the picture with the least change, and its row that changes least */
    ScaleSearchRow typical; /* the picture with the median change, whatever is named, and its row with the median drop
                               in entropy (of an even number the lower of the two in the middle) */
} ScaleSearch;

/* Pictures numbers[count]; the first of equals wins, in the order of pictures, blocks, heads, queries. The model is one
 * of drawn shapes. False when progress (may be NULL) returns false. */
bool scale_search_find(ScaleSearch *out, const Model *m, const uint64_t *numbers, size_t count, Pool *pool,
                       bool (*progress)(void *context, const char *what, double share), void *context, Err *err);
#endif
