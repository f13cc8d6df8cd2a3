/* The kinds of stages that models have: one table, and which of its rows a node belongs to. */
#ifndef VITRINE_MODELS_STAGE_ROWS_H
#define VITRINE_MODELS_STAGE_ROWS_H
#include "core/graph/anatomy.h"

enum { NO_ROW = -1 };

/* One kind of stage. Inside a block a node that the anatomy notes belongs to the stage of its site, whatever it is
 * called. Any other belongs to the first row of its kind of part that lists its name there, or lists a name in front of
 * it: "z" of an attention takes z.unedited. A name that ends in * is a beginning. A node that no row lists belongs to
 * the stage of the node after it. Names are those inside a part's scope; outside blocks (PART_MODEL) they are whole
 * paths. */
typedef struct StageRow {
    PartKind kind;
    const char *key;   /* NULL: the last word of the part's scope */
    const char *label; /* NULL: the part's word */
    const char *symbol;
    const char *show; /* the results that may stand for the stage, best first */
    const char *members;
    const char *sentence; /* NULL: that of the node shown */
} StageRow;

/* Where a node is listed: its block, the part whose rows may list it and its name there. */
typedef struct StagePlace {
    int block, part; /* NO_PART outside blocks */
    PartKind kind;
    const char *name; /* the path's own end */
} StagePlace;

const StageRow *stage_row(int row);
StagePlace stage_place(const Graph *g, const char *path);
bool stage_row_is(int row, const char *key);
/* The node that puts learned tokens in front of the patches, before positions are added or behind that, or NO_NODE:
 * there are none. An edit may stand in front of the name. */
NodeId stage_joined(const Graph *g);
/* The row of a node, which lies at that place, or NO_ROW. */
int stage_row_of(const Graph *g, NodeId joined, StagePlace at, NodeId n);
/* The paths of the part's sites that may stand for a stage of that row, best first: the i-th, or NULL past the end. */
const char *stage_site_shown(const Graph *g, int part, int row, int i);
#endif
