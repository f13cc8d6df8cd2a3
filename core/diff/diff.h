/* First divergence: a recorded forward pass of another program beside ours, node by node. *through* compares what came
 * from the input on; *local* compares a node with what our operation makes of the reference's own values, so that the
 * step where a difference begins is told from the steps that inherit it. */
#ifndef VITRINE_EVAL_DIFF_H
#define VITRINE_EVAL_DIFF_H
#include "core/diff/diff_figures.h"
#include "core/diff/diff_reference.h"
#include "core/models/preprocess.h"

/* Our side. Nothing is owned. */
typedef struct DiffSubject {
    const Graph *graph;
    Run *run;
    Pool *pool;
    const VitConfig *config;
    NodeId image;                 /* what the patch projection sees */
    const Preprocess *preprocess; /* how the picture became the input; */
    const Image *picture;         /* NULL where ready values were given */
} DiffSubject;

typedef struct DiffOptions {
    double tolerance;    /* of the largest absolute value of a tensor; DIFF_TOLERANCE */
    Precision precision; /* of our run: every stored node is rounded so */
    bool (*progress)(void *context, const char *what, double share); /* NULL, or false to cancel */
    void *context;
} DiffOptions;

/* Largest error of float32 programs that do the same in another order, with room: 4e-6 was measured over whole small
 * models, 1.2e-5 for exponentials of scores up to 16. */
#define DIFF_TOLERANCE 2e-5
/* How many times the error that rounding was measured to make is still put down to rounding: of the largest error,
 * which varies, and of the rms, which hardly does. */
#define DIFF_ROUNDING 3.0
#define DIFF_ROUNDING_RMS 2.0

typedef enum DiffState {
    DIFF_AGREES,
    DIFF_INHERITS, /* follows from its inputs, which differ */
    DIFF_BEGINS    /* does not follow from its inputs */
} DiffState;

typedef struct DiffRow {
    const DiffTensor *tensor;
    DiffFigures through, local;
    DiffFigures through_rounding, local_rounding; /* what rounding alone makes of our own values; nothing for F32 */
    double allowed, allowed_rms;                  /* of local.largest and local.rms */
    DiffState state;
} DiffRow;

enum { DIFF_CAUSES = 4 };

/* Why a tensor differs: a mistake that was made here as well, and how much closer that comes. */
typedef struct DiffCause {
    int row;
    int rows;       /* rows of that kind in all blocks that do not follow from their inputs */
    char text[200]; /* "the reference leaves 1/√d_k away"; "" when no mistake that was tried comes near */
    DiffFigures before, after;
    bool whole; /* with the mistake everything is within what is allowed, or 50 times nearer; else only much nearer */
    int steps;  /* nodes between this tensor and the nearest recorded ones before it, itself included */
    char dump[DIFF_PATH]; /* the node to record next, and what the reference's program calls it; "" where nothing is
                             missing */
    char dump_name[DIFF_PATH];
} DiffCause;

typedef struct DiffReport {
    DiffRow *row; /* in node order */
    int count, begins, inherits;
    DiffCause cause[DIFF_CAUSES];
    int cause_count; /* the first row that begins, then those of other kinds */
    bool same;       /* no row begins */
} DiffReport;

/* r must outlive the report. False when cancelled. */
bool diff_compare(DiffReport *out, const DiffSubject *s, const DiffReference *r, const DiffOptions *o, Err *err);
void diff_report_free(DiffReport *d);

/* in[nodes of the graph]: node n and what it is made from, back to where the reference has values again (these not
 * included). Returns how many of them are computed. */
int diff_segment(const Graph *g, const DiffReference *r, NodeId n, bool *in);
/* Tries known mistakes on that stretch. c->row is set; the rest is filled. */
void diff_cause_find(DiffCause *c, const DiffSubject *s, const DiffReference *r, const DiffOptions *o,
                     const DiffRow *row);
#endif
