/* What places learned about where they are, from how alike their vectors are: similarity[p, q] for every two patches,
 * row by row as the picture has them (pos.probe.cosine). In double with + − × ÷ and sqrt only. */
#ifndef VITRINE_MODELS_PROBE_POSITIONS_H
#define VITRINE_MODELS_PROBE_POSITIONS_H
#include <stddef.h>

#include "core/models/vit.h"

enum { POSITIONS_LEAST = 3 }; /* fewer places have no two distances to compare */

/* rank[i] = place of x[i] in ascending order, from 1; equal ones share the mean of their places. All NaN where x has a
 * NaN. */
void positions_ranks(const double *x, size_t n, double *rank);
/* Spearman's rank correlation, −1 … 1, between similarity and minus the distance on the grid, over all ordered pairs of
 * different places: 1 where the nearer is always the more alike. NaN for fewer than POSITIONS_LEAST places, or where
 * all are equally alike. */
double positions_rank_correlation(const float *similarity, int rows, int cols);
/* Share of the places, 0 … 1, whose most similar other place is one of the `neighbours` next to it: 4 (sides) or 8
 * (corners too). A tie counts where one of the most similar ones is. NaN for a single place. */
double positions_neighbour_share(const float *similarity, int rows, int cols, int neighbours);

/* Ranks for two leaves, made from a table of position vectors: of the similarity (cosine) of every two places and of
 * minus their distance. A place and itself are no pair: they get the mean of all ranks. */
typedef struct PositionRanks {
    const float *table; /* [rows · cols, width] */
    int rows, cols, width;
    float *similarity, *nearness; /* [places, places], filled by positions_fill_ranks */
} PositionRanks;
void positions_fill_ranks(const PositionRanks *p);

/* --- how well a table of position embeddings knows the patch grid --- */

typedef struct PositionGrid {
    double rank, rank_centred; /* Spearman: cosine against minus the distance on the grid; as stored, and with the mean
                                  vector taken away */
    double near4, near8;       /* share of patches whose most similar other one lies beside it; …or at a corner */
    double chance4, chance8;   /* the same of a table that knows nothing: any other patch as likely */
} PositionGrid;

/* table: the rows of the model's position table, those of patches last. False where the model has none, or too few
 * patches. */
bool position_grid_figures(const VitConfig *c, const float *table, PositionGrid *out);
#endif
