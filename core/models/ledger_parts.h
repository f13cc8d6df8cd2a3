/* The way back from a number through sums to the parts that wrote it. Internal to core/models. */
#ifndef VITRINE_MODELS_LEDGER_PARTS_H
#define VITRINE_MODELS_LEDGER_PARTS_H
#include "core/graph/vary.h"
#include "core/models/ledger.h"

typedef struct LedgerWalk {
    bool *reached; /* [nodes]: the number is linear in it */
    bool *given;   /* [nodes]: taken as it is: parts, and the factors of products */
    Vary vary;     /* what depends on the picture */
    NodeId *part;  /* [parts], the last of the graph first */
    int parts;
    int token; /* as in Ledger */
} LedgerWalk;

/* y's cell matters for `token` alone. */
bool ledger_walk(const Graph *g, NodeId y, size_t cell, LedgerWalk *out, Err *err);
void ledger_walk_free(LedgerWalk *w);
LedgerKind ledger_kind(const Graph *g, NodeId part);
int ledger_layer(const Graph *g, NodeId part); /* number of its block, or −1 */
#endif
