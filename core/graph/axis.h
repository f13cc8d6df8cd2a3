/* Named axes and shapes. An axis is a letter with a meaning, a length and labels; a shape is an ordered list of axes.
 * The letters are the same everywhere: in formulas, addresses, labels and exports (docs/command-line.md). */
#ifndef VITRINE_GRAPH_AXIS_H
#define VITRINE_GRAPH_AXIS_H
#include <stdbool.h>
#include <stddef.h>

enum { DIMS_MAX = 8, AXIS_NONE = -1 };

typedef enum AxisKind {
    AXIS_PLAIN, /* labelled by its index */
    AXIS_TOKEN, /* `prefix` named tokens (cls, dist, reg0 …), then patches row by row: r3c4 */
    AXIS_PATCH, /* patches row by row, no prefix */
    AXIS_CLASS, /* labels[i] is the class name, where known */
    AXIS_COLOUR /* R G B, or grey; any other number of channels is numbered */
} AxisKind;

/* What an axis stands for. Letters are for people; whoever works with axes asks for the role. */
typedef enum AxisRole {
    ROLE_PLAIN,
    ROLE_BATCH,
    ROLE_QUERY, /* the token that asks */
    ROLE_KEY,   /* the token looked at */
    ROLE_THIRD, /* a third token (rollout) */
    ROLE_HEAD,
    ROLE_HEAD_WIDTH,
    ROLE_WIDTH,       /* the model's width */
    ROLE_HIDDEN,      /* the MLP's width */
    ROLE_PREFIX,      /* tokens in front of the patches */
    ROLE_PLACE,       /* a patch of the picture */
    ROLE_OTHER_PLACE, /* a patch that it is compared with */
    ROLE_PLACE_ROW,   /* the patch's row, and … */
    ROLE_PLACE_COL,   /* … its column on the grid */
    ROLE_PIXEL_ROW,   /* row and column inside a patch */
    ROLE_PIXEL_COL,
    ROLE_CHANNEL,
    ROLE_ANSWER,    /* class, or the vocabulary's word */
    ROLE_COMPONENT, /* principal component */
    ROLE_EXPERT,    /* one of several MLPs */
    ROLE_COUNT
} AxisRole;

/* Which row of tokens an axis runs over. Tokens of one sequence that have the same number are the same token. */
typedef enum Sequence { SEQUENCE_NONE, SEQUENCE_PICTURE, SEQUENCE_SOURCE, SEQUENCE_TARGET, SEQUENCE_ANY } Sequence;

typedef struct Axis {
    char sym[4];      /* "t" */
    const char *name; /* "token that asks" */
    int n;            /* length ≥ 1 */
    AxisKind kind;
    int prefix;                /* AXIS_TOKEN: tokens before the patches */
    int cols;                  /* AXIS_TOKEN, AXIS_PATCH: patches per row */
    const char *const *labels; /* AXIS_TOKEN: names of the prefix tokens; AXIS_CLASS: names or NULL */
    bool bytes;                /* the names are texts of byte-level pieces (byte_text.h) */
    AxisRole role;
    Sequence sequence;
} Axis;

/* Row-major: the last axis is contiguous. n = 0 is a single number. */
typedef struct Dims {
    int n;
    int axis[DIMS_MAX]; /* indices into the graph's axis table; no axis twice */
} Dims;

#define DIMS(...) ((Dims){.n = (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), .axis = {__VA_ARGS__}})
#define DIMS_SCALAR ((Dims){.n = 0})

int dims_find(Dims d, int axis); /* position of the axis, or -1 */
bool dims_equal(Dims a, Dims b);
Dims dims_union(Dims a, Dims b); /* a's axes, then b's others */
Dims dims_minus(Dims a, Dims b);
Dims dims_replace(Dims d, int axis, int by); /* by = AXIS_NONE drops it */

/* Everything below needs the axis table. */
size_t dims_cells(const Axis *axes, Dims d);
size_t dims_stride(const Axis *axes, Dims d, int axis); /* in cells; 0 where d lacks the axis (broadcast) */
void dims_unravel(const Axis *axes, Dims d, size_t cell, int index[DIMS_MAX]);
size_t dims_ravel(const Axis *axes, Dims d, const int index[DIMS_MAX]);

/* Label of index i ("cls", "r3c4", "star", "5"); returns out. */
const char *axis_label(const Axis *a, int i, char *out, size_t n);
/* Index named by text: a number 0 … n-1; of a vocabulary the piece that has the tokeniser's mark for a blank before it
 * ("Ġit" for "it", where there are both); a label, else one as a byte-level piece is stored. False: there is none. */
bool axis_parse(const Axis *a, const char *text, int *i);
/* Is that the word without the mark that its tokeniser puts for a blank before it: "Lily" of "▁Lily"? */
bool axis_plain(const char *label, const char *word);
/* A patch axis or token axis: row and column of index i on the patch grid. False for prefix tokens and other kinds. */
bool axis_patch(const Axis *a, int i, int *row, int *col);
#endif
