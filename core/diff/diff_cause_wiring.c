/* Mistakes with what goes where: the read-out, what is made of the logits, v, the residual's source. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

/* The read-out made of the tokens' values x[rows,width] otherwise: their mean from `from` on, or token `from` alone. */
static void attempt_readout(Trial *t, NodeId readout, const float *x, size_t rows, size_t from, bool mean,
                            const char *text)
{
    size_t width = graph_cells(t->s->graph, readout);
    if (!trial_wanted(t, text))
        return;
    float *out = arena_alloc(&t->arena, width * sizeof *out);
    for (size_t d = 0; d < width; d++) {
        double sum = 0;
        for (size_t k = from; k < (mean ? rows : from + 1); k++)
            sum += (double)x[k * width + d];
        out[d] = (float)(mean ? sum / (double)(rows - from) : sum);
    }
    trial_begin(t);
    t->made = true;
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, readout)->path)->data = out;
    trial_attempt(t, "%s", text);
}

enum { TOKENS_MOST = 1024 };

/* The tokens that the answer is read from, all of them. */
NodeId trial_tokens_read(Trial *t, NodeId readout)
{
    const Graph *g = t->s->graph;
    size_t all = size_mul((size_t)vit_tokens(t->s->config), (size_t)t->size.width);
    NodeId n = graph_find(g, "ln_final.out");
    n = n == NO_NODE ? graph_find(g, "rms_final.out") : n;
    for (NodeId i = readout - 1; n == NO_NODE && i >= 0; i--)
        if (path_ends(graph_node(g, i)->path, !t->size.post_norm       ? "resid_post"
                                              : t->s->config->rms_norm ? "rms2.out"
                                                                       : "ln2.out") &&
            graph_cells(g, i) == all)
            n = i;
    return n;
}

void trial_readout(Trial *t)
{
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (!c)
        return;
    NodeId readout = trial_find(t, "readout", 0);
    size_t prefix = (size_t)vit_prefix(c), all = (size_t)vit_tokens(c);
    if (readout == NO_NODE || graph_cells(g, readout) != (size_t)c->width)
        return;
    NodeId tokens = trial_tokens_read(t, readout);
    if (!trial_has(t, tokens))
        return;
    const float *x = trial_values(t, tokens);
    if (c->pool != VIT_POOL_MEAN)
        attempt_readout(t, readout, x, all, prefix, true,
                        c->cls ? "the recording reads out the mean of the patches, not the class token"
                               : "the recording reads out the mean of the patches");
    attempt_readout(t, readout, x, all, 0, true, "the recording reads out the mean of all tokens");
    if (c->cls && c->pool != VIT_POOL_CLS && c->pool != VIT_POOL_CLS_DIST)
        attempt_readout(t, readout, x, all, 0, false,
                        c->pool == VIT_POOL_MEAN ? "the recording reads out the class token, not the mean"
                                                 : "the recording reads out the class token");
    const Axis *places = &g->axes[graph_node(g, tokens)->dims.axis[0]];
    for (size_t k = 0; k < all && k < TOKENS_MOST; k++) {
        char text[DIFF_WORDS], label[64];
        snprintf(text, sizeof text, "the recording reads out the token %s",
                 axis_label(places, (int)k, label, sizeof label));
        if (k + 1 == all)
            snprintf(text, sizeof text, "the recording reads out the last token");
        else if (k == prefix)
            snprintf(text, sizeof text, "the recording reads out the first patch's token");
        if (k || !c->cls)
            attempt_readout(t, readout, x, all, k, false, text);
    }
}

void trial_probabilities(Trial *t)
{
    NodeId n = t->target->node;
    size_t cells = graph_cells(t->s->graph, n);
    if (!path_ends(graph_node(t->s->graph, n)->path, "logits") || cells < 2)
        return;
    const float *x = trial_values(t, n);
    float *share = arena_alloc(&t->arena, cells * sizeof *share),
          *logarithm = arena_alloc(&t->arena, cells * sizeof *share),
          *single = arena_alloc(&t->arena, cells * sizeof *single);
    Dims dims = graph_node(t->s->graph, n)->dims; /* the classes are the last axis; a text has a row for each token */
    size_t row = (size_t)t->s->graph->axes[dims.axis[dims.n - 1]].n;
    for (size_t at = 0; at < cells; at += row) {
        double most = (double)x[at], sum = 0;
        for (size_t i = at; i < at + row; i++)
            most = (double)x[i] > most ? (double)x[i] : most;
        for (size_t i = at; i < at + row; i++)
            sum += dm_exp((double)x[i] - most);
        for (size_t i = at; i < at + row; i++) {
            share[i] = (float)(dm_exp((double)x[i] - most) / sum);
            logarithm[i] = (float)((double)x[i] - most - dm_log(sum));
        }
    }
    for (size_t i = 0; i < cells; i++)
        single[i] = (float)(1 / (1 + dm_exp((double)x[i] > 600 ? -600 : (double)x[i] < -600 ? 600 : -(double)x[i])));
    trial_judge(t, share, "the recording's logits went through a softmax: they are probabilities");
    trial_judge(t, single, "the recording's logits went through a sigmoid: they are probabilities, each by itself");
    trial_judge(t, logarithm, "the recording's logits are log probabilities (log-softmax)");
}

void trial_value(Trial *t)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = trial_find_edge(t, "attn.v", 0); n != NO_NODE; n = trial_find_edge(t, "attn.v", n + 1)) {
        const char *path = graph_node(g, n)->path;
        NodeId k = trial_beside(t, path, "attn.k");
        const DiffTensor *recorded = t->in[n] ? NULL : diff_reference_find(t->r, k);
        if (recorded)
            trial_add(t, EDIT_VALUES, path)->data = recorded->values;
        else
            trial_add(t, EDIT_REDIRECT, path)->other = graph_node(g, k)->path;
    }
    trial_attempt(t, "v is k in the recording");
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.scores_scaled", 0); n != NO_NODE;
         n = trial_find(t, "attn.scores_scaled", n + 1)) {
        const char *path = graph_node(g, n)->path, *pattern = block_path(&t->arena, path, "attn.pattern");
        trial_add(t, EDIT_SET, block_path(&t->arena, path, "attn.scale"))->value = 1;
        if (graph_find(g, pattern) <= t->target->node)
            trial_add(t, EDIT_SCALE, pattern)->factor = t->size.scale;
    }
    trial_attempt(t, "the recording multiplies by 1/√d_k after the softmax, not before");
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.pattern", 0); n != NO_NODE; n = trial_find(t, "attn.pattern", n + 1))
        trial_add(t, EDIT_SCALE, graph_node(g, n)->path)->factor = t->size.scale;
    trial_attempt(t, "the recording multiplies the attention weights by 1/√d_k, after the softmax");
}

/* Node NAME of the same block, of a norm as the model has it: ln1.out or rms1.out. */
static NodeId norm_beside(Trial *t, const char *path, const char *name)
{
    NodeId n = trial_beside(t, path, name);
    bool norm = n == NO_NODE && strncmp(name, "ln", 2) == 0;
    return norm ? trial_beside(t, path, arena_printf(&t->arena, "rms%s", name + 2)) : n;
}

/* v of the residual stream itself. */
bool trial_make_unnormed(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const char *path = graph_node(t->s->graph, n)->path;
    NodeId norm = norm_beside(t, path, "ln1.out");
    const float *x = trial_known(t, trial_beside(t, path, "resid_pre"));
    if (x && norm != NO_NODE)
        memcpy(out, trial_with(t, block_path(&t->arena, path, ""), n, norm, x),
               graph_cells(t->s->graph, n) * sizeof *out);
    return x && norm != NO_NODE;
}

/* The sum with something else of the block for its first part. */
bool trial_make_sum(Trial *t, NodeId n, const void *first, float *out)
{
    const Node *node = graph_node(t->s->graph, n);
    const float *a = trial_known(t, norm_beside(t, node->path, first)),
                *b = a && node->op == OP_ADD ? trial_known(t, node->in[1]) : NULL;
    for (size_t i = 0; b && i < graph_cells(t->s->graph, n); i++)
        out[i] = a[i] + b[i];
    return b != NULL;
}
