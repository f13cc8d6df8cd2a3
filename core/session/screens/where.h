/* "Where did it look?": four answers, one number per patch each. Three are nodes (core/models/probes.h), the fourth is
 * measured (measures.h). */
#ifndef VITRINE_SESSION_SCREENS_WHERE_H
#define VITRINE_SESSION_SCREENS_WHERE_H
#include "core/session/learned/measures.h"

typedef enum WhereMethod {
    WHERE_ROLLOUT,   /* attention rollout through all blocks */
    WHERE_ATTENTION, /* the last block's attention: mean of heads, or one (look.where.one_head) */
    WHERE_GRADIENT,  /* gradient × input, summed over a patch */
    WHERE_OCCLUSION, /* how far the answer's logit falls when the patch is grey */
    WHERE_METHODS
} WhereMethod;
const char *where_word(WhereMethod m); /* "rollout" */
/* Through how many blocks the rollout on show goes, of `blocks`: look.where.depth, or all of them. */
int where_depth(const Session *s, int blocks);
/* The map's node in that side's model (B's for a difference), [p] or [h,p]; for occlusion the answer's logit. NULL: the
 * model has no such node. */
const char *where_path(const Session *s, Side side, WhereMethod m);
/* The node of the share of the map that lies on the object, a number or [h]; NULL for occlusion, and where it
 * has none. */
const char *where_mass_path(const Session *s, Side side, WhereMethod m);

/* Occlusion as measured of what a side shows. */
typedef struct WhereOccluded {
    const Measure *of, *less; /* of: NULL while nothing is there, of a difference A's; less: of a difference B's */
    const char *why;          /* one line where it will never be, else NULL */
} WhereOccluded;
WhereOccluded where_occlusion(const Session *s, Side side);
float where_fall(const WhereOccluded *o, int patch); /* where_drop, of a difference A's less B's; NaN until measured */
/* How many passes were made of how many; of a difference of the side that has fewer. False: it has not begun. */
bool where_occluded_progress(const WhereOccluded *o, size_t *done, size_t *total);
/* where_drop_mass on the side's own object, of a difference A's less B's. */
bool where_occluded_mass(const Session *s, Side side, float *mass);
float where_drop(const Measure *m,
                 int patch); /* logit of the answer less that with the patch grey; NaN until measured */
/* Σ of the drops (negative ones as 0) over the object's patches by that over all. False until all are measured, without
 * an object (object[patches] NULL), and where no patch drops. */
bool where_drop_mass(const Measure *m, const float *object, float *mass);

#endif
