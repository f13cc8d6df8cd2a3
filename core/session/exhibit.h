/* One model looking at one input, as trained and as edited. */
#ifndef VITRINE_SESSION_EXHIBIT_H
#define VITRINE_SESSION_EXHIBIT_H
#include "core/session/session.h"

/* Builds the base graph and its run; takes the input over (in is empty afterwards). */
void exhibit_init(Exhibit *e, const Model *m, Input *in, Pool *pool);
void exhibit_free(Exhibit *e); /* accepts a zeroed one */
/* Replaces the edited graph and run by what the edits make (count 0: none). On failure the old ones stay. Takes the
 * arena over on success (it owns the edits' strings and data). */
bool exhibit_edit(Exhibit *e, Edit *edits, int count, Arena *arena, Pool *pool, Err *err);
/* Puts the gradients of the target (path "": none), then the ledger, at the end of both graphs, each by its own nodes:
 * in the edited one they pass through the edits. Where they are there already nothing happens. False where nothing that
 * is learned or given leads to the target, or the graph on show has no such ledger (e->…_ledger.why). */
bool exhibit_append(Exhibit *e, const GradTarget *t, const LedgerTarget *l);
const Graph *exhibit_graph(const Exhibit *e); /* the edited one, or the base */
const LedgerOn *exhibit_ledger(const Exhibit *e);
Run *exhibit_run(const Exhibit *e);
#endif
