/* First divergence: a recorded forward pass of another program beside ours, node by node. *through* compares what came
 * from the input on; *local* compares a node with what our operation makes of the reference's own values, so that the
 * step where a difference begins is told from the steps that inherit it. */
#ifndef VITRINE_DIFF_DIFF_H
#define VITRINE_DIFF_DIFF_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/diff/diff_reference.h"
#include "core/models/model.h"
#include "core/models/preprocess.h"
#include "core/models/seq2seq.h"

/* Two models side by side before anything is computed: what their files say otherwise, and which weights are not the
 * same. */

/* A setting in words, the same for both where they agree. */
typedef struct DiffSetting {
    const char *name;
    char ours[64], theirs[64];
} DiffSetting;
enum { DIFF_SETTINGS = 32 };

/* Those that differ, numbers first that decide shapes; how many. Pixel statistics are compared only where both take
 * pictures. */
int diff_settings(const Model *ours, const Model *theirs, DiffSetting out[DIFF_SETTINGS]);

typedef struct DiffWeights {
    int compared, different;
    char first[160]; /* our path of the first that differs */
    bool rounded;    /* every difference is what rounding to bf16 or f16 makes of ours, or ours of theirs */
} DiffWeights;

/* Weights of the same role, block and shape; those that differ by more than tolerance of the largest are counted, and
 * at most `lines` of them described in out (may be NULL). What only one has counts as different. */
DiffWeights diff_weights(const Model *ours, const Model *theirs, double tolerance, int lines, Buf *out);

/* --- how far two tensors are apart --- */

typedef struct DiffFigures {
    double largest; /* largest difference / largest finite absolute value of the reference; infinite where one has NaN
                       or ∞ and the other not */
    double rms;     /* root mean square of the differences / that of the reference */
    double cosine;  /* of the angle between the two, over cells finite in both; 1 where both are 0,
                       NaN where one of them alone has NaN */
    bool any;       /* is there a cell beyond the tolerance? */
    size_t first;   /* the first such cell */
    size_t worst;   /* the cell of the largest difference */
    size_t numbers; /* cells that are finite in both */
    size_t nan_ours, nan_theirs; /* cells that are NaN in one and not in the other, */
    size_t inf_ours, inf_theirs; /* ∞ or −∞ in one and a number in the other */
} DiffFigures;

/* tolerance: of `largest`. Equal infinities and NaN in both are no difference. */
DiffFigures diff_figures(const float *ours, const float *theirs, size_t cells, double tolerance);
/* The same of the cells that are recorded of t, which has `cells`; first and worst are the node's. */
DiffFigures diff_tensor_figures(const float *ours, const DiffTensor *t, size_t cells, double tolerance);

/* Our side. Nothing is owned. */
typedef struct DiffSubject {
    const Graph *graph;
    Run *run;
    Pool *pool;
    const VitConfig *config; /* of a picture model, else NULL */
    const Seq2seqConfig
        *text;              /* of a model that reads words, else NULL; both NULL: of another, no cause is looked for */
    const Weights *weights; /* …and its weights, so that it can be built otherwise; NULL where edits are in it */
    NodeId image;           /* what the patch projection sees; NO_NODE of words */
    const Preprocess *preprocess; /* how the picture became the input; */
    const Image *picture;         /* NULL where ready values were given */
} DiffSubject;

typedef struct DiffOptions {
    double tolerance;    /* of the largest absolute value of a tensor; DIFF_TOLERANCE. Below that, to the letter */
    Precision precision; /* of our run: every stored node is rounded so */
    /* NULL, or asked every 0.1 s, with what differs as soon as that is known. False to stop: the comparison is
     * cancelled, a search for causes ends and what has been found is told. */
    bool (*progress)(void *context, const char *what, double share);
    void *context;
} DiffOptions;

/* Largest error of float32 programs that do the same in another order, with room: 4e-6 was measured over whole small
 * models, 1.2e-5 for exponentials of scores up to 16. */
#define DIFF_TOLERANCE 2e-5
/* How many times the error that rounding was measured to make is still put down to rounding: of the largest error,
 * which varies, and of the rms, which hardly does. */
#define DIFF_ROUNDING 3.0
#define DIFF_ROUNDING_RMS 2.0
/* Exponentials of large scores make more of rounding than that. What float32 makes of a model is measured with f16,
 * whose rounding is 2^13 times as large; programs in float32 were seen up to six times that far from the exact values.
 */
#define DIFF_DRIFT (10.0 / 8192)
/* How many times what is allowed an error may still be for the mistake that leaves it to be the cause. Tolerance holds
 * for one step; over a stretch of several blocks right programs drift that far apart. */
#define DIFF_EXPLAINED 3.0
/* An error within the tolerance stands out where it is so many times that of the step in the middle of all, and more
 * than a few roundings of float32. */
#define DIFF_FAR 10.0
#define DIFF_LEAST 5e-7

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
    float recorded,
        here; /* where it differs first: its value there, and what our step makes of what was recorded before
                             it (of a row that inherits: what comes from our input) */
    DiffState state;
} DiffRow;

enum { DIFF_CAUSES = 4, DIFF_WORDS = 320 };

/* Why a tensor differs: a mistake that was made here as well, and how much closer that comes. */
typedef struct DiffCause {
    int row;
    int rows;              /* rows of that kind in all blocks that do not follow from their inputs */
    int block;             /* the block that all its steps are in, −1 where there is none; */
    int agreeing;          /* rows of that kind in other blocks that agree, */
    double faint;          /* and the largest error of those */
    int only;              /* the block that the mistake was made in alone; −1: wherever it can be */
    char id[80];           /* of the mistake in `text`, the same in every release: "missing:attn.b_v" */
    char places[400];      /* other kinds of row that the same mistake explains: "blocks.0.ln2.out, ln_final.out" */
    char text[DIFF_WORDS]; /* "the recording adds no bias to q"; "" when no mistake that was tried comes near */
    char also[DIFF_WORDS]; /* another mistake that explains it as well as the recording can tell; "" as a rule */
    char where[200];       /* "all errors are in column 17 …", where they are in one place; else "" */
    DiffFigures before, after;
    bool partial;         /* it was proved in some rows, which `after` is of; what the others hold can't be told */
    bool whole;           /* it explains: with the mistake the error is within DIFF_EXPLAINED times what is allowed */
    double allowed;       /* of before and after */
    bool accumulated;     /* no single step is beyond what is allowed: the whole way from the input was searched */
    double factor;        /* without a cause: every recorded cell is so many times what is here; 0: it is not so */
    bool stopped;         /* the search was stopped */
    bool unpaired;        /* of two mistakes at once only some pairs were tried: each takes a pass over much */
    int tried;            /* mistakes */
    int steps;            /* nodes between this tensor and the nearest recorded ones before it, itself included */
    char dump[DIFF_PATH]; /* the node to record next, and what the reference's program calls it; "" where nothing is
                             missing */
    char dump_name[DIFF_PATH];
} DiffCause;

/* How much of the forward pass was compared: nodes that the model computes, analyses left out. */
typedef struct DiffCoverage {
    int nodes, of;      /* compared, in the model */
    NodeId first, last; /* of the compared; NO_NODE when there is none */
    NodeId end;         /* the answer: logits, an embedding, or what is read out */
    bool output;        /* it is one of them */
    int unreadable;     /* rows where both sides have no number at all */
} DiffCoverage;

typedef struct DiffReport {
    DiffRow *row; /* in node order */
    int count, begins, inherits;
    DiffCause cause[DIFF_CAUSES];
    int cause_count; /* the first row that begins, then those of other kinds; if none does, the first that inherits */
    int unsearched;  /* rows that begin and of whose kind no cause was looked for, as there are many */
    DiffCoverage coverage;
    DiffCause hint; /* same: a mistake within the tolerance that explains a step which stands out; text "" as a rule */
    double usual;   /* the error in the middle of all steps */
    bool rounding; /* of rows that differ in float32: by no more than rounding explains. Below DIFF_TOLERANCE said, from
                       there on they agree */
    bool stopped;  /* somebody stopped the search for causes */
    char note[DIFF_WORDS]; /* same: what there is to say of the words that both read; "" as a rule. From outside */
    bool same;             /* every row is within what is allowed, alone and from the input on */
} DiffReport;

/* r must outlive the report. False when cancelled, and when nothing that the model computes can be compared, so that
 * agreement would say nothing. A row that is different stays different whatever else is recorded: `same` needs every
 * row to agree from the input on, which other rows have no part in. */
bool diff_compare(DiffReport *out, const DiffSubject *s, const DiffReference *r, const DiffOptions *o, Err *err);
void diff_report_free(DiffReport *d);

/* in[nodes of the graph]: node n and what it is made from, back to where the reference has values again (these not
 * included). Returns how many of them are computed. */
int diff_segment(const Graph *g, const DiffReference *r, NodeId n, bool *in);
/* Value n of a run, with progress while it is computed; NULL when stopped. */
const float *diff_need(Run *run, NodeId n, const DiffOptions *o, const char *what, double share);
/* Is there NaN on one side alone, or ∞, which only masks put into scores? No mistake that is tried makes that. */
bool diff_no_number(const Graph *g, NodeId n, const DiffFigures *f);
/* "all errors are in column 17 …" where those beyond what is allowed are in one place of an axis; else "". */
void diff_where(const Graph *g, const DiffTensor *t, const float *ours, double allowed, char out[200]);
/* Tries known mistakes on that stretch. c->row is set; the rest is filled. d: the rows of r; NULL where it is not all
 * of what was recorded. */
void diff_cause_find(DiffCause *c, const DiffSubject *s, const DiffReference *r, const DiffOptions *o,
                     const DiffReport *d, const DiffRow *row);
/* One mistake in loading weights that explains every row which differs, and leaves those that agree: c as for
 * diff_cause_find. False where there is none, or one row only, which is searched alone. */
bool diff_cause_loaded(DiffCause *c, const DiffSubject *s, const DiffReference *r, const DiffOptions *o,
                       const DiffReport *d);
/* The blocks that a cause is in, in order: the one it was made in alone, else those where its step begins to differ.
 * Returns how many, at most `most`. */
int diff_cause_blocks(const DiffReport *d, const Graph *g, const DiffCause *c, int *block, int most);

/* --- a comparison in words: the table, the verdict, JSON; texts are appended --- */

/* ours: our model and input, in a line. */
typedef struct DiffNamed {
    const char *ours;
    const DiffSubject *s;
    const DiffReference *r;
    const DiffOptions *o;
    const DiffReport *d;
} DiffNamed;

/* What was compared, one line for each tensor in node order, and an empty line. */
void diff_table(const DiffNamed *n, Buf *out);
/* The verdict alone, one sentence or two without a line break, then what was tried. */
void diff_verdict(const DiffNamed *n, Buf *out);
void diff_json(const DiffNamed *n, Buf *out);
/* "blocks.0.attn.q[t=cls,h=0,e=3]" */
void diff_cell(const Graph *g, NodeId n, size_t cell, Buf *out);
/* The cell to look at: where the first row that begins first differs. False where everything agrees. */
bool diff_first_cell(const DiffReport *d, NodeId *n, size_t *cell);
#endif
