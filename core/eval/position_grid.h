/* How well a table of position embeddings knows the patch grid. */
#ifndef VITRINE_EVAL_POSITION_GRID_H
#define VITRINE_EVAL_POSITION_GRID_H
#include "core/models/vit.h"

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
