/* What is done to a model to see what it is worth, as edits: a part taken away, numbers rounded. */
#ifndef VITRINE_EVAL_ABLATION_H
#define VITRINE_EVAL_ABLATION_H
#include "core/graph/edit.h"
#include "core/graph/run.h"
#include "core/models/ledger.h"

typedef enum AblationKind {
    ABLATION_NONE,
    ABLATION_SCALE,     /* the factor on the scores of every block multiplied by `factor`; 0: the scores as they are, no
                          factor at all */
    ABLATION_HEAD,      /* head `head` of attention number `layer`: its z, before W_O, becomes 0 */
    ABLATION_ATTENTION, /* the attention of block `layer` adds nothing */
    ABLATION_MLP,       /* its MLP adds nothing */
    ABLATION_POSITIONS  /* no position embeddings are added */
} AblationKind;

typedef struct Ablation {
    AblationKind kind;
    int layer, head;
    float factor;
} Ablation;

/* Factor number i on a scale, ascending: 1/8 … 8 in steps of √2 or 2 with 1 in the middle; the one nearest to 1/scale
 * (√d_k as a rule: no scale at all) gives way to it. */
enum { ABLATION_FACTORS = 11 };
float ablation_factor(float scale, int i);

typedef struct Edits {
    Edit *edit;
    int count;
} Edits;

/* For a graph with an anatomy; all memory from arena. Blocks and attentions are counted over all stacks; the attention
 * of a block that has several is its first. False where the model has no such part. */
bool ablation_edits(Arena *arena, const Graph *g, Ablation r, Edits *out);

/* --- a part of a ledger --- */

/* What an entry of a ledger is worth when it is really taken out: the pass computed once more without what that part
 * wrote, everything after it free to answer. An entry says what was written; this says what its absence changes. The
 * two differ wherever later parts read what was written, and by the LayerNorms that the ledger keeps frozen. */

/* Of a head, an MLP, of words and of their places: what it writes into the token that is read, where one alone is.
 * Anything else: all of it, wherever it goes. */
typedef struct Removal {
    int entry;       /* of the ledger */
    int head;        /* LEDGER_HEADS: −1 for all */
    bool everywhere; /* of a head: at every token, as it is switched off by hand */
} Removal;

typedef struct RemovalRun RemovalRun;
/* Measures what[0 … count-1] one after the other on top of run (of g), which must outlive it, as must g and l. */
RemovalRun *removal_run_new(const Graph *g, Run *run, const Ledger *l, const Removal *what, size_t count, Pool *pool);
/* Goes on until the deadline (clock_ns); true when all are measured. */
bool removal_run_step(RemovalRun *r, int64_t deadline_ns);
size_t removal_run_done(const RemovalRun *r);
size_t removal_run_count(const RemovalRun *r);
/* The number as it is less the number without what[i]: positive where the part spoke for it. i < done. */
float removal_run_effect(const RemovalRun *r, size_t i);
void removal_run_free(RemovalRun *r); /* NULL is allowed */

/* --- numbers rounded --- */

/* Running a model as if every stored tensor had a shorter type: each node is rounded behind what computed it, so what
 * came out is that type's error and nothing else. */
typedef enum Precision { PRECISION_F32, PRECISION_BF16, PRECISION_F16, PRECISIONS } Precision;

const char *precision_name(Precision p); /* "f32" */
bool precision_find(const char *name, Precision *out);
/* Is the node stored, hence rounded? Weights, the standardised input and what is computed are; constants of the
 * definition, raw pixels, derived nodes and analyses are not. */
bool precision_rounds(const Graph *g, NodeId n);
/* The edit that rounds a node. p is not F32. */
Edit precision_edit(const Graph *g, NodeId n, Precision p);
/* cells values rounded, to may be from; F32 copies. */
void precision_round(Precision p, const float *from, float *to, size_t cells);
#endif
