#include "core/session/playing.h"

#include "core/graph/explain.h"
#include "core/session/screens.h"

int playing_terms(const Session *s)
{
    enum { MOST = 1000000 };
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    if (n == NO_NODE || graph_node(g, n)->op == OP_LEAF)
        return 0;
    Explain e = explain_open(g, n, session_cell(s, SIDE_B, n));
    return e.terms > MOST ? MOST : (int)e.terms;
}

void playing_end(Session *s)
{
    s->look.worked.terms = 0;
    s->look.playing = false;
}

/* One term more, from the first on; behind the last one all are shown. */
bool play_worked(Session *s)
{
    int terms = playing_terms(s), shown = s->look.worked.terms;
    s->look.worked.terms = shown <= 0 || shown >= terms ? 1 : shown + 1;
    bool more = s->look.worked.terms < terms;
    if (!more)
        s->look.worked.terms = 0;
    s->changes++;
    return more;
}
