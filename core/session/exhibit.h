/* A model looking at an input, as trained and as edited. */
#ifndef VITRINE_SESSION_EXHIBIT_H
#define VITRINE_SESSION_EXHIBIT_H
#include "core/session/session.h"

/* The base graph and its run. Takes the input over (in is empty afterwards); m must outlive the exhibit. */
void exhibit_init(Exhibit *e, const Model *m, Input *in, Pool *pool);
void exhibit_free(Exhibit *e); /* accepts a zeroed one */
/* Replaces the edited graph and run by what the edits make (count 0: none). On failure the old ones
 * stay. Takes the arena over on success (it owns the edits' strings and data). */
bool exhibit_edit(Exhibit *e, Edit *edits, int count, Arena *arena, Pool *pool, Err *err);
/* Has that node fewer numbers here? A shorter text has fewer rows than the one that a target was chosen in. */
bool exhibit_cell_gone(const Graph *g, const char *path, size_t cell);
/* Puts the gradients of the target (path "": none), then the ledger, at the end of both graphs on show, each by its own
 * nodes: in the edited one they pass through the edits. Where they are there already nothing happens. False where
 * nothing that is learned or given leads to the target, or the graph on show has no such ledger (exhibit_ledger's why).
 */
bool exhibit_append(Exhibit *e, const GradTarget *t, const LedgerTarget *l);
/* What was measured of it with values of another run than that goes. */
void exhibit_drop_patching(Exhibit *e, const Run *but);
const LedgerOn *exhibit_ledger(const Exhibit *e); /* of exhibit_graph */
const Graph *exhibit_graph(const Exhibit *e);     /* its edited graph, or the base */
Run *exhibit_run(const Exhibit *e);

/* --- the session's array of them, and the table of their runs --- */
/* Its row in the table, for every run that has none, and none for those that are gone. */
void exhibits_number(Session *s, Exhibit *e);
void exhibits_drop(Session *s, Exhibit *e); /* frees it; NULL is allowed */
void exhibits_free(Session *s);
#endif
