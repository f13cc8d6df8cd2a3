/* Mistakes with the kind of norm and with norms that only some models have: LayerNorm for RMSNorm, a norm left out. */
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"
#include "core/models/nn.h"

const char *trial_norm_word(const Trial *t)
{
    return t->s->config ? vit_norm_word(t->s->config) : "LayerNorm";
}

/* (x − mean) / √(variance + ε), where the model has x / √(mean of x² + ε). */
static bool make_centred(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    NodeId in = graph_node(g, n)->in[0], root = graph_node(g, n)->in[1];
    const float *x = trial_known(t, in);
    if (!x)
        return false;
    size_t rows = graph_cells(g, root), width = graph_cells(g, n) / rows;
    for (size_t r = 0; r < rows; r++) {
        double mean = 0, variance = 0;
        for (size_t i = 0; i < width; i++)
            mean += (double)x[r * width + i] / (double)width;
        for (size_t i = 0; i < width; i++)
            variance += ((double)x[r * width + i] - mean) * ((double)x[r * width + i] - mean) / (double)width;
        for (size_t i = 0; i < width; i++)
            out[r * width + i] = (float)(((double)x[r * width + i] - mean) / dm_sqrt(variance + (double)t->size.eps));
    }
    return true;
}

void trial_rms(Trial *t)
{
    if (t->s->config && t->s->config->rms_norm)
        trial_each(t, "normalized", make_centred, NULL, "the reference has LayerNorm: the mean is taken off");
}

NodeId trial_norm_reads(Trial *t, const char *out)
{
    static const char *const FIRST[] = {"centered", "normalized"};
    const Graph *g = t->s->graph;
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) {
        NodeId n = graph_find(g, arena_printf(&t->arena, "%.*s%s", (int)(strlen(out) - 3), out, FIRST[i]));
        if (n != NO_NODE)
            return graph_node(g, n)->in[0];
    }
    return NO_NODE;
}

void trial_lost_norm(Trial *t)
{
    static const struct {
        const char *scope, *text;
    } NORMS[] = {{"ln_patch", "the reference has no norm behind the patch embedding"},
                 {"norm_pre", "the reference has no norm before the first block"},
                 {"ln_merged", "the reference has no norm inside attention"},
                 {"ln_hidden", "the reference has no norm inside the MLP"}};
    const Graph *g = t->s->graph;
    if (!t->s->config)
        return;
    for (size_t k = 0; k < sizeof NORMS / sizeof *NORMS; k++) {
        const char *out = arena_printf(&t->arena, "%s.out", nn_norm_scope(NORMS[k].scope, t->s->config->rms_norm));
        trial_begin(t);
        for (NodeId n = trial_find(t, out, 0); n != NO_NODE; n = trial_find(t, out, n + 1)) {
            NodeId read = trial_norm_reads(t, graph_node(g, n)->path);
            if (read != NO_NODE)
                trial_add(t, EDIT_REDIRECT, graph_node(g, n)->path)->other = graph_node(g, read)->path;
        }
        trial_attempt(t, "%s", NORMS[k].text);
    }
}
