/* Patching from one run into another: what a number becomes when a head, an MLP, a token of the residual stream or of
 * one head has the value that it has in the other run, everything after it free to answer (activation patching: Vig et
 * al. 2020, Meng et al. 2022); and what the gradient says it would become, which takes one backward pass for all of
 * them (attribution patching: Nanda 2023), d number / d value at the patched run times the difference of the values. */
#ifndef VITRINE_EVAL_PATCHING_H
#define VITRINE_EVAL_PATCHING_H
#include "core/base/err.h"
#include "core/graph/edit.h"
#include "core/graph/run.h"

typedef enum PatchKind {
    PATCH_PARTS,  /* every head (z, before W_O) and every MLP, at all tokens */
    PATCH_TOKENS, /* the residual stream into every block, token by token */
    PATCH_HEAD,   /* one head of every attention, token by token */
    PATCH_KINDS
} PatchKind;

/* The runs are of one model and of inputs of one shape; both graphs, both runs and pool must outlive it. */
typedef struct PatchingSetup {
    const Graph *to, *from;
    Run *to_run, *from_run; /* patched; where the values come from */
    const char *y;          /* the number is a cell of that node less another cell of it, in both graphs */
    PatchKind kind;
    int head;       /* PATCH_HEAD */
    int first, end; /* token by token: of these alone; end 0: to the last */
    Pool *pool;
} PatchingSetup;

/* One thing that is patched: a cell of a table. */
typedef struct PatchPlace {
    const char *path; /* the node of `to` */
    Selection cells;
    int row, col; /* PATCH_PARTS: attention (anatomy_attention), head, or the number of heads for the MLP behind it;
                     PATCH_TOKENS: block, counted over all stacks, token less `first`;
                     PATCH_HEAD: attention, token less `first` */
} PatchPlace;

typedef struct PatchingResult {
    PatchKind kind;
    int first;          /* the token of the first column */
    int rows, cols;     /* a table with room for every place; not every cell need have one */
    PatchPlace *place;  /* [count] */
    int *at;            /* [rows, cols]: number of the place, −1: none */
    size_t count, done; /* done: of the exact ones, in this order */
    float to, from;     /* the number in either run; NaN until known */
    float *exact;       /* [count]: how much more the number is with the patch; NaN until measured */
    float *gradient;    /* [count]: what the gradient says of that; NaN until known */
} PatchingResult;

typedef struct Patching Patching;

/* NULL with err where the two runs have different shapes. */
Patching *patching_new(const PatchingSetup *s, Err *err);
void patching_free(Patching *p);                      /* NULL is allowed */
bool patching_fits(const PatchingSetup *s, Err *err); /* would one be made? */
/* Says which cells, once, before the first step. */
void patching_about(Patching *p, size_t cell, size_t against);
/* The cells whose difference the number is; false while they were not said. */
bool patching_number(const Patching *p, size_t *cell, size_t *against);
/* Goes on until the deadline (clock_ns); true when all is measured. The gradient's are there first. */
bool patching_step(Patching *p, int64_t deadline_ns);
const PatchingResult *patching_result(const Patching *p);
const Run *patching_from(const Patching *p);

/* How well the gradient foretells the exact ones, over those that are measured. */
typedef struct PatchingError {
    size_t n;
    double correlation; /* Pearson's r; NaN below three places, or where either is the same everywhere */
    double mean, most;  /* of |gradient − exact| */
    int worst;          /* whose */
    double size;        /* mean of |exact|: what these are measured against */
} PatchingError;
PatchingError patching_error(const PatchingResult *r);
#endif
