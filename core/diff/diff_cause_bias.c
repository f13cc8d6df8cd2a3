/* Mistakes with relative positions: a bias that is left away, turned round, or added in another place. */
#include "core/diff/diff_trial.h"

/* The biases of the stretch: one for every block, or one for all of them. */
static NodeId next_bias(const Trial *t, NodeId from)
{
    const VitConfig *c = t->s->config;
    NodeId n = trial_find(t, c->bias == VIT_BIAS_SHARED ? "rel_bias" : "attn.bias", from);
    return n != NO_NODE && graph_node(t->s->graph, n)->op == OP_VIEW ? n : NO_NODE;
}

static void attempt_without(Trial *t)
{
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.scores_biased", 0); n != NO_NODE;
         n = trial_find(t, "attn.scores_biased", n + 1)) {
        const char *path = graph_node(t->s->graph, n)->path;
        trial_add(t, EDIT_REDIRECT, path)->other = block_path(&t->arena, path, "attn.scores_scaled");
    }
    trial_attempt(t, "the reference adds no relative position bias to the scores");
}

static void attempt_turned_round(Trial *t)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = next_bias(t, 0); n != NO_NODE; n = next_bias(t, n + 1)) {
        Dims d = graph_node(g, n)->dims; /* [h,t,u] */
        size_t heads = (size_t)g->axes[d.axis[0]].n, tokens = (size_t)g->axes[d.axis[1]].n;
        const float *own = run_need(t->s->run, n);
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out));
        for (size_t h = 0; h < heads; h++)
            for (size_t k = 0; k < tokens; k++)
                for (size_t u = 0; u < tokens; u++)
                    out[(h * tokens + k) * tokens + u] = own[(h * tokens + u) * tokens + k];
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    }
    trial_attempt(t, "the reference's relative position bias is transposed: the token that asks and the one looked at "
                     "are exchanged");
}

static void attempt_times(Trial *t, float factor, const char *text)
{
    trial_begin(t);
    for (NodeId n = next_bias(t, 0); n != NO_NODE; n = next_bias(t, n + 1))
        trial_add(t, EDIT_SCALE, graph_node(t->s->graph, n)->path)->factor = factor;
    trial_attempt(t, "%s", text);
}

void trial_bias(Trial *t)
{
    const VitConfig *own = t->s->config;
    if (!own || own->bias == VIT_BIAS_NONE)
        return;
    attempt_without(t);
    attempt_turned_round(t);
    attempt_times(t, own->scale, "the reference adds the relative position bias before the scale, not after it");
    attempt_times(t, -1, "the reference subtracts the relative position bias");
    attempt_times(t, 2, "the reference adds the relative position bias twice");
}
