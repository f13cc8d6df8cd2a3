/* Mistakes with what goes where: the read-out, the final norm, positions, RMSNorm, γ and β, v, the residual's source,
 * whole blocks, rounded weights, the picture's orientation, dropout that was left on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

static NodeId node_at(Trial *t, const char *path, const char *name)
{
    return graph_find(t->s->graph, block_path(&t->arena, path, name));
}

/* --- the end of the model --- */

/* The read-out made of the tokens' values otherwise: their mean from `from` on, or token `from` alone. */
static void attempt_readout(Trial *t, NodeId readout, NodeId tokens, size_t from, bool mean, const char *text)
{
    size_t width = graph_cells(t->s->graph, readout), rows = graph_cells(t->s->graph, tokens) / width;
    const float *x = trial_values(t, tokens);
    float *out = arena_alloc(&t->arena, width * sizeof *out);
    for (size_t d = 0; d < width; d++) {
        double sum = 0;
        for (size_t k = from; k < (mean ? rows : from + 1); k++)
            sum += (double)x[k * width + d];
        out[d] = (float)(mean ? sum / (double)(rows - from) : sum);
    }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, readout)->path)->data = out;
    trial_attempt(t, "%s", text);
}

void trial_readout(Trial *t)
{
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (!c)
        return;
    NodeId readout = trial_find(t, "readout", 0), tokens = graph_find(g, "ln_final.out");
    size_t prefix = (size_t)vit_prefix(c), all = (size_t)vit_tokens(c);
    if (readout == NO_NODE || !trial_has(t, tokens) || graph_cells(g, tokens) != all * graph_cells(g, readout))
        return;
    if (c->pool != VIT_POOL_MEAN)
        attempt_readout(t, readout, tokens, prefix, true,
                        "the reference reads the mean of the patches, not the class token");
    attempt_readout(t, readout, tokens, 0, true, "the reference reads the mean of all tokens");
    if (c->cls && c->pool != VIT_POOL_CLS)
        attempt_readout(t, readout, tokens, 0, false, "the reference reads the class token, not the mean");
    attempt_readout(t, readout, tokens, all - 1, false, "the reference reads the last token");
    if (prefix < all)
        attempt_readout(t, readout, tokens, prefix, false, "the reference reads the first patch's token");
}

void trial_final_norm(Trial *t)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = trial_find(t, "ln_final.out", 0); n != NO_NODE; n = trial_find(t, "ln_final.out", n + 1)) {
        const char *path = graph_node(g, n)->path;
        NodeId centered = graph_find(g, arena_printf(&t->arena, "%.*scentered", (int)(strlen(path) - 3), path));
        if (centered != NO_NODE)
            trial_add(t, EDIT_REDIRECT, path)->other = graph_node(g, graph_node(g, centered)->in[0])->path;
    }
    trial_attempt(t, "the reference has no final LayerNorm");
}

void trial_probabilities(Trial *t)
{
    NodeId n = t->target->node;
    size_t cells = graph_cells(t->s->graph, n);
    if (!path_ends(graph_node(t->s->graph, n)->path, "logits") || cells < 2)
        return;
    const float *x = trial_values(t, n);
    float *share = arena_alloc(&t->arena, cells * sizeof *share),
          *logarithm = arena_alloc(&t->arena, cells * sizeof *share);
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
    trial_judge(t, share, "the reference's logits went through a softmax: they are probabilities");
    trial_judge(t, logarithm, "the reference's logits are logarithms of probabilities (log-softmax)");
}

/* --- the norm --- */

void trial_norm_kind(Trial *t)
{
    const Graph *g = t->s->graph;
    static const char *const BIASES[] = {"ln1.beta", "ln2.beta", "ln3.beta", "ln_final.beta"};
    for (int plain = 0; plain < 2; plain++) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "mean", 0); n != NO_NODE; n = trial_find(t, "mean", n + 1))
            if (strstr(graph_node(g, n)->path, "ln"))
                trial_add(t, EDIT_SET, graph_node(g, n)->path)->value = 0;
        for (size_t i = 0; plain && t->mistake_count && i < sizeof BIASES / sizeof *BIASES; i++)
            for (NodeId n = trial_find(t, BIASES[i], 0); n != NO_NODE; n = trial_find(t, BIASES[i], n + 1))
                trial_add(t, EDIT_SET, graph_node(g, n)->path)->value = 0;
        trial_attempt(t, plain ? "the reference has RMSNorm without β: the mean is not taken off"
                               : "the reference has RMSNorm: the mean is not taken off");
    }
    trial_begin(t);
    for (NodeId n = trial_find(t, "gamma", 0); n != NO_NODE; n = trial_find(t, "gamma", n + 1)) {
        const char *gamma = graph_node(g, n)->path;
        const char *beta = arena_printf(&t->arena, "%.*sbeta", (int)(strlen(gamma) - 5), gamma);
        NodeId other = graph_find(g, beta);
        if (other == NO_NODE)
            continue;
        trial_add(t, EDIT_VALUES, gamma)->data = run_need(t->s->run, other);
        trial_add(t, EDIT_VALUES, beta)->data = run_need(t->s->run, n);
    }
    trial_attempt(t, "γ and β of LayerNorm are exchanged in the reference");
}

/* --- positions --- */

/* The rows of a table of positions, each moved by `step` places. */
static void add_shifted(Trial *t, NodeId pos, int step)
{
    int axis = graph_node(t->s->graph, pos)->dims.axis[0], rows = t->s->graph->axes[axis].n;
    int *index = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *index));
    for (int i = 0; i < rows; i++)
        index[i] = (i + rows + step) % rows;
    Edit *e = trial_add(t, EDIT_GATHER, graph_node(t->s->graph, pos)->path);
    e->axis = axis;
    e->index = index;
}

void trial_positions(Trial *t)
{
    static const char *const TEXTS[] = {
        "the reference's positions are shifted by one: each token has its successor's",
        "the reference's positions are shifted by one: each token has its predecessor's"};
    trial_begin(t);
    for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1))
        trial_add(t, EDIT_SCALE, graph_node(t->s->graph, n)->path)->factor = 2;
    trial_attempt(t, "the reference adds the position embeddings twice");
    for (int k = 0; k < 2; k++) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1))
            add_shifted(t, n, k ? -1 : 1);
        trial_attempt(t, "%s", TEXTS[k]);
    }
}

/* Positions as other programs make them: sines in one half and cosines in the other, or counted from 1. */
static void add_sinusoids(Trial *t, NodeId pos, bool halves, int first)
{
    Dims d = graph_node(t->s->graph, pos)->dims;
    int rows = t->s->graph->axes[d.axis[0]].n, width = t->s->graph->axes[d.axis[1]].n;
    size_t cells = graph_cells(t->s->graph, pos);
    float *table = arena_alloc(&t->arena, size_mul(cells, sizeof *table)), *row = xfloats((size_t)width);
    seq2seq_sinusoids(first, rows, width, table);
    for (int r = 0; halves && r < rows; r++) {
        float *at = table + (size_t)r * (size_t)width;
        memcpy(row, at, (size_t)width * sizeof *row);
        for (int i = 0; i < width; i++)
            at[i / 2 + (i % 2 ? (width + 1) / 2 : 0)] = row[i];
    }
    free(row);
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, pos)->path)->data = table;
}

void trial_sinusoids(Trial *t)
{
    static const char *const TEXTS[] = {"the reference's positions have all sines first, then all cosines",
                                        "the reference counts positions from 1",
                                        "the reference counts positions from 1, all sines first, then all cosines"};
    for (int k = 0; t->s->text && !t->s->text->learned_positions && k < 3; k++) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1))
            add_sinusoids(t, n, k != 1, k > 0);
        trial_attempt(t, "%s", TEXTS[k]);
    }
}

/* --- attention and the residual --- */

void trial_value(Trial *t)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.v", 0); n != NO_NODE; n = trial_find(t, "attn.v", n + 1)) {
        const char *path = graph_node(g, n)->path;
        trial_add(t, EDIT_REDIRECT, path)->other = block_path(&t->arena, path, "attn.k");
    }
    trial_attempt(t, "v is k in the reference");
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.scores_scaled", 0); n != NO_NODE;
         n = trial_find(t, "attn.scores_scaled", n + 1)) {
        const char *path = graph_node(g, n)->path, *pattern = block_path(&t->arena, path, "attn.pattern");
        trial_add(t, EDIT_SET, block_path(&t->arena, path, "attn.scale"))->value = 1;
        if (graph_find(g, pattern) <= t->target->node)
            trial_add(t, EDIT_SCALE, pattern)->factor = t->size.scale;
    }
    trial_attempt(t, "the reference multiplies by 1/√d_k after the softmax, not before");
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.pattern", 0); n != NO_NODE; n = trial_find(t, "attn.pattern", n + 1))
        trial_add(t, EDIT_SCALE, graph_node(g, n)->path)->factor = t->size.scale;
    trial_attempt(t, "the reference multiplies the shares of attention by 1/√d_k, after the softmax");
}

/* Values that are made in each block of what the blocks before make with the mistake. */
static void attempt_blocks(Trial *t, const char *ending, bool (*make)(Trial *t, NodeId n, float *out), const char *text)
{
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = trial_find(t, ending, 0); n != NO_NODE; n = trial_find(t, ending, n + 1)) {
        float *out = arena_alloc(&t->arena, size_mul(graph_cells(g, n), sizeof *out));
        if (!make(t, n, out))
            return;
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    }
    trial_attempt(t, "%s", text);
}

/* What the reference has, or what the stretch makes with the mistake; NULL where neither knows the node. */
static const float *known(Trial *t, NodeId n)
{
    while (n != NO_NODE && !diff_reference_find(t->r, n) && graph_node(t->s->graph, n)->op == OP_VIEW)
        n = graph_node(t->s->graph, n)->in[0];
    const DiffTensor *x = n == NO_NODE ? NULL : diff_reference_find(t->r, n);
    return x ? x->values : trial_has(t, n) ? trial_values_with(t, n) : NULL;
}

/* v = W_V x + b_V of the residual stream itself. */
static bool make_unnormed(Trial *t, NodeId n, float *out)
{
    const char *path = graph_node(t->s->graph, n)->path;
    NodeId in = node_at(t, path, "resid_pre"), w = node_at(t, path, "attn.w_v"), b = node_at(t, path, "attn.b_v");
    const float *x = known(t, in);
    if (!x || w == NO_NODE)
        return false;
    const float *weight = run_need(t->s->run, w), *bias = b == NO_NODE ? NULL : run_need(t->s->run, b);
    size_t d = (size_t)t->size.width, rows = graph_cells(t->s->graph, in) / d, all = graph_cells(t->s->graph, n) / rows;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < all; c++) {
            double sum = bias ? (double)bias[c] : 0;
            for (size_t k = 0; k < d; k++)
                sum += (double)weight[c * d + k] * (double)x[r * d + k];
            out[r * all + c] = (float)sum;
        }
    return true;
}

/* The sum's first part taken behind the norm. */
static bool make_normed_sum(Trial *t, NodeId n, float *out)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, n)->path;
    bool mid = path_ends(path, "resid_mid");
    NodeId norm = node_at(t, path, mid ? "ln1.out" : "ln2.out"), part = graph_node(g, n)->in[1];
    if (graph_node(g, n)->op != OP_ADD)
        return false;
    const float *a = known(t, norm), *b = known(t, part);
    if (!a || !b)
        return false;
    for (size_t i = 0; i < graph_cells(g, n); i++)
        out[i] = a[i] + b[i];
    return true;
}

void trial_source(Trial *t)
{
    if (t->s->text || t->size.post_norm)
        return;
    attempt_blocks(t, "attn.v", make_unnormed, "the reference makes v from the residual stream, before the LayerNorm");
    attempt_blocks(t, "resid_mid", make_normed_sum,
                   "the reference's residual connection around attention starts behind the LayerNorm");
    attempt_blocks(t, "resid_post", make_normed_sum,
                   "the reference's residual connection around the MLP starts behind the LayerNorm");
}

/* --- weights --- */

void trial_rounded(Trial *t)
{
    const Graph *g = t->s->graph;
    for (int p = PRECISION_BF16; p < PRECISIONS; p++) {
        trial_begin(t);
        for (NodeId n = 0; n <= t->target->node; n++)
            if (t->in[n] && graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_TENSOR)
                *trial_add(t, EDIT_MAP, graph_node(g, n)->path) = precision_edit(g, n, (Precision)p);
        trial_attempt(t, "the reference's weights were rounded to %s", precision_name((Precision)p));
    }
}

/* Block `to` of a stack ("decoder.") takes every weight of block `from`. */
static void add_block(Trial *t, const char *stack, int to, int from)
{
    const Graph *g = t->s->graph;
    char prefix[48];
    size_t n = (size_t)snprintf(prefix, sizeof prefix, "%sblocks.%d.", stack, to);
    for (NodeId i = 0; i <= t->target->node; i++) {
        const char *path = graph_node(g, i)->path;
        if (!t->in[i] || graph_node(g, i)->op != OP_LEAF || graph_node(g, i)->leaf.kind != LEAF_TENSOR ||
            strncmp(path, prefix, n) != 0)
            continue;
        NodeId other = graph_find(g, arena_printf(&t->arena, "%sblocks.%d.%s", stack, from, path + n));
        if (other != NO_NODE)
            trial_add(t, EDIT_VALUES, path)->data = run_need(t->s->run, other);
    }
}

static void attempt_stack(Trial *t, const char *stack, const char *called)
{
    enum { MOST = 24 };
    int layers = t->size.layers < MOST ? t->size.layers : MOST;
    for (int a = 0; a < layers; a++)
        for (int b = 0; b < layers; b++) {
            if (a == b)
                continue;
            trial_begin(t);
            add_block(t, stack, a, b);
            trial_attempt(t, "%sblock %d has the weights of block %d in the reference", called, a, b);
            if (a > b || trial_solved(t))
                continue;
            int only = t->mistake_count;
            add_block(t, stack, b, a);
            if (only && t->mistake_count > only)
                trial_attempt(t, "%sblocks %d and %d are exchanged in the reference", called, a, b);
        }
}

void trial_blocks(Trial *t)
{
    if (t->s->config)
        attempt_stack(t, "", "");
    else {
        attempt_stack(t, "encoder.", "encoder ");
        attempt_stack(t, "decoder.", "decoder ");
    }
}

/* --- the picture as it was turned --- */

static void add_reversed(Trial *t, int axis)
{
    int n = t->s->graph->axes[axis].n;
    int *index = arena_alloc(&t->arena, size_mul((size_t)n, sizeof *index));
    for (int i = 0; i < n; i++)
        index[i] = n - 1 - i;
    Edit *e = trial_add(t, EDIT_GATHER, graph_node(t->s->graph, t->s->image)->path);
    e->axis = axis;
    e->index = index;
}

void trial_turned(Trial *t)
{
    static const struct {
        const char *axes, *text;
    } TURNS[] = {{"xj", "the reference's picture is mirrored, left for right"},
                 {"yi", "the reference's picture stands upside down"},
                 {"c", "the reference has the colour channels in the opposite order (BGR)"}};
    if (t->s->image == NO_NODE)
        return;
    const Node *image = graph_node(t->s->graph, t->s->image);
    if (t->s->image > t->target->node || !t->in[t->s->image] || image->op == OP_LEAF)
        return;
    for (size_t i = 0; i < sizeof TURNS / sizeof *TURNS; i++) {
        trial_begin(t);
        for (int k = 0; k < image->dims.n; k++)
            if (strchr(TURNS[i].axes, *t->s->graph->axes[image->dims.axis[k]].sym))
                add_reversed(t, image->dims.axis[k]);
        trial_attempt(t, "%s", TURNS[i].text);
    }
}

/* --- dropout --- */

/* Zeros where ours are none, and the rest larger by the factor that goes with their share. */
void trial_dropout(Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId n = t->target->node;
    size_t cells = graph_cells(g, n), zeros = 0;
    const float *theirs = t->target->values, *ours = trial_values(t, n);
    double dot = 0, squares = 0;
    for (size_t i = 0; i < cells; i++) {
        zeros += theirs[i] == 0 && ours[i] != 0;
        if (theirs[i] != 0) {
            dot += (double)theirs[i] * (double)ours[i];
            squares += (double)ours[i] * (double)ours[i];
        }
    }
    double share = (double)zeros / (double)cells, factor = squares > 0 ? dot / squares : 0, p = 1 - 1 / factor;
    if (cells < 64 || zeros < 4 || !(factor > 1) || fabs(p - share) > 4 * sqrt(p * (1 - p) / (double)cells))
        return;
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    for (size_t i = 0; i < cells; i++)
        out[i] = theirs[i] == 0 ? 0 : (float)((double)ours[i] * factor);
    char text[sizeof t->text];
    snprintf(text, sizeof text,
             "dropout is on in the reference: %.1f %% of the cells are 0, the rest multiplied by %.4g", 100 * share,
             factor);
    trial_judge(t, out, text);
}
