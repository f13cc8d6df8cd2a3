/* What every hidden unit of an MLP writes into each answer: its column of W down by the answer's weights, with γ of the
 * norm that is read through and, of a LayerNorm, the mean over the numbers of a token taken away (what a norm takes
 * away whatever was written); the norm's 1/σ, which is the token's, is left out. What other blocks make of it later is
 * not in it. (Geva et al. 2021, "Transformer Feed-Forward Layers Are Key-Value Memories".) */
#include <stdio.h>

#include "core/models/probe_parts.h"

static NodeId leaf_of(const Graph *g, int part, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s.%s", anatomy_part(g, part)->scope, name);
    return graph_find(g, path);
}

/* Do the hidden numbers go into W down as they are, without a norm of their own? */
static bool writes_plainly(const Graph *g, NodeId w_down, NodeId post)
{
    for (NodeId n = post; n < g->count; n++)
        if (graph_node(g, n)->op == OP_CONTRACT && graph_node(g, n)->in[1] == w_down)
            return graph_node(g, n)->in[0] == post;
    return false;
}

void probe_neurons(Graph *g, int part, NodeId weight, const ProbeNorm *norm)
{
    NodeId w_down = leaf_of(g, part, "w_down"), scale = leaf_of(g, part, "layer_scale"),
           post = site_node(g, part, SITE_MLP_POST), toward = weight, read = graph_find(g, "read_scale");
    if (w_down == NO_NODE || post == NO_NODE || !writes_plainly(g, w_down, post))
        return;
    Dims d = graph_node(g, w_down)->dims, answers = graph_node(g, weight)->dims;
    int m = dims_role(g, d, ROLE_HIDDEN), width = dims_role(g, d, ROLE_WIDTH), o = dims_role(g, answers, ROLE_ANSWER);
    if (m == AXIS_NONE || width == AXIS_NONE || o == AXIS_NONE || dims_find(answers, width) < 0)
        return;
    graph_scope(g, "%s.probe", anatomy_part(g, part)->scope);
    if (norm && norm->gamma != NO_NODE)
        toward = probe_passing(g, graph_zip(g, "toward_gamma", OP_MUL, toward, norm->gamma));
    if (norm && norm->gamma != NO_NODE && !norm->rms)
        toward = probe_passing(g, graph_zip(g, "toward_centred", OP_SUB, toward,
                                            probe_mean(g, "toward_mean", toward, DIMS(o), norm->width)));
    if (read != NO_NODE) /* no model has both factors */
        scale = read;
    if (scale != NO_NODE)
        toward = probe_passing(g, graph_zip(g, "toward_scaled", OP_MUL, toward, scale));
    anatomy_note(g, part, SITE_UNIT_WRITES, probe_passing(g, graph_contract(g, "writes", w_down, toward, DIMS(m, o))));
}
