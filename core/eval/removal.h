/* What an entry of a ledger is worth when it is really taken out: the pass computed once more without what that part
 * wrote, everything after it free to answer. An entry says what was written; this says what its absence changes. The
 * two differ wherever later parts read what was written, and by the LayerNorms that the ledger keeps frozen. */
#ifndef VITRINE_EVAL_REMOVAL_H
#define VITRINE_EVAL_REMOVAL_H
#include "core/graph/edit.h"
#include "core/graph/run.h"
#include "core/models/ledger.h"

/* Of a head, an MLP, of words and of their places: what it writes into the token that is read, where one alone is.
 * Anything else: all of it, wherever it goes. */
typedef struct Removal {
    int entry; /* of the ledger */
    int head;  /* LEDGER_HEADS: −1 for all */
} Removal;

typedef struct RemovalRun RemovalRun;
/* Measures what[0 … count-1] one after the other on top of run (of g), which must outlive it, as must g and l. */
RemovalRun *removal_run_new(const Graph *g, Run *run, const Ledger *l, const Removal *what, size_t count, Pool *pool);
/* Goes on until the deadline (clock_ns); true when all are measured. */
bool removal_run_step(RemovalRun *r, int64_t deadline_ns);
size_t removal_run_done(const RemovalRun *r);
/* The number as it is less the number without what[i]: positive where the part spoke for it. i < done. */
float removal_run_effect(const RemovalRun *r, size_t i);
void removal_run_free(RemovalRun *r); /* NULL is allowed */
#endif
