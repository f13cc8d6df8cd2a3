/* The measured effect of a ledger's lines: the pass on show computed again without each (core/eval/removal.h), a little
 * at a time while it is looked at. They are the exhibit's, and go when its graphs change. */
#ifndef VITRINE_SESSION_ASK_LEDGER_EFFECTS_H
#define VITRINE_SESSION_ASK_LEDGER_EFFECTS_H
#include "core/session/session.h"

/* One line of a ledger as a table: every head of an entry that has heads, else the whole entry; parts in the order of
 * the model. */
int ledger_line_count(const Graph *g, const Ledger *l);
/* Entry and head (−1: the whole entry) of line i. */
void ledger_line_at(const Graph *g, const Ledger *l, int i, int *entry, int *head);

/* Measures until the deadline what is missing; true when all lines of the exhibit's ledger on show are measured, or
 * there is none. Then the tokens of (entry, head), where entry ≥ 0. */
bool ledger_effects_step(Exhibit *e, Pool *pool, int entry, int head, int64_t deadline_ns);
/* NaN while it is not measured. */
float ledger_effect(const Exhibit *e, int line);
/* What taking away the look of that head at token u does; NaN while it is not measured. */
float ledger_token_effect(const Exhibit *e, int entry, int head, int u);
/* How far it is, for progress. */
void ledger_effects_done(const Exhibit *e, size_t *done, size_t *total);
void ledger_effects_drop(Forward *p);
#endif
