/* Tensors of one step that are looked at side by side: queries, keys and values of an attention; the tokens that are
 * put together, and what comes of it. Found by what the nodes are, whatever they are called. */
#ifndef VITRINE_SESSION_SCREENS_BESIDE_H
#define VITRINE_SESSION_SCREENS_BESIDE_H
#include "core/session/session.h"

enum { BESIDE_MOST = 3 };

typedef struct Beside {
    NodeId node[BESIDE_MOST];
    int count;
    bool joins; /* node 0 stands in front of node 1, which makes node 2 */
} Beside;

/* Those that a node of the graph belongs to; false where it stands alone. */
bool beside_of(const Graph *g, NodeId n, Beside *out);
/* Axis of its rows where they are tokens, else AXIS_NONE. */
int beside_tokens(const Graph *g, NodeId n);
#endif
