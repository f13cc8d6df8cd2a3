/* Mistakes with what goes where: the read-out, the final norm, positions, RMSNorm, γ and β, v, the residual's source,
 * the picture's orientation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"
#include "core/models/nn.h"

/* --- the end of the model --- */

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
static NodeId tokens_read(Trial *t, NodeId readout)
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
    NodeId tokens = tokens_read(t, readout);
    if (!trial_has(t, tokens))
        return;
    const float *x = trial_values(t, tokens);
    if (c->pool != VIT_POOL_MEAN)
        attempt_readout(t, readout, x, all, prefix, true,
                        c->cls ? "the reference reads the mean of the patches, not the class token"
                               : "the reference reads the mean of the patches");
    attempt_readout(t, readout, x, all, 0, true, "the reference reads the mean of all tokens");
    if (c->cls && c->pool != VIT_POOL_CLS && c->pool != VIT_POOL_CLS_DIST)
        attempt_readout(t, readout, x, all, 0, false,
                        c->pool == VIT_POOL_MEAN ? "the reference reads the class token, not the mean"
                                                 : "the reference reads the class token");
    const Axis *places = &g->axes[graph_node(g, tokens)->dims.axis[0]];
    for (size_t k = 0; k < all && k < TOKENS_MOST; k++) {
        char text[DIFF_WORDS], label[64];
        snprintf(text, sizeof text, "the reference reads the token %s",
                 axis_label(places, (int)k, label, sizeof label));
        if (k + 1 == all)
            snprintf(text, sizeof text, "the reference reads the last token");
        else if (k == prefix)
            snprintf(text, sizeof text, "the reference reads the first patch's token");
        if (k || !c->cls)
            attempt_readout(t, readout, x, all, k, false, text);
    }
}

void trial_final_norm(Trial *t)
{
    static const char *const NORMS[] = {"ln_final.out", "fc_norm.out", "rms_final.out", "rms_fc.out"};
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (size_t k = 0; k < sizeof NORMS / sizeof *NORMS; k++)
        for (NodeId n = trial_find(t, NORMS[k], 0); n != NO_NODE; n = trial_find(t, NORMS[k], n + 1)) {
            const char *path = graph_node(g, n)->path;
            const char *first = k < 2 ? "centered" : "normalized"; /* reads what the norm reads */
            NodeId read = graph_find(g, arena_printf(&t->arena, "%.*s%s", (int)(strlen(path) - 3), path, first));
            if (read != NO_NODE)
                trial_add(t, EDIT_REDIRECT, path)->other = graph_node(g, graph_node(g, read)->in[0])->path;
        }
    trial_attempt(t, "the reference has no final %s", trial_norm_word(t));
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
    trial_judge(t, share, "the reference's logits went through a softmax: they are probabilities");
    trial_judge(t, single, "the reference's logits went through a sigmoid: they are probabilities, each of its own");
    trial_judge(t, logarithm, "the reference's logits are logarithms of probabilities (log-softmax)");
}

/* --- the norm --- */

void trial_norm_kind(Trial *t)
{
    const Graph *g = t->s->graph;
    static const char *const BIASES[] = {"ln1.beta",      "ln2.beta",      "ln3.beta",
                                         "ln_final.beta", "norm_pre.beta", "fc_norm.beta"};
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

/* 1 / (√variance + ε) */
static bool make_outside(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    NodeId sum = graph_node(g, n)->in[0], var = graph_node(g, sum)->in[0];
    const float *x = trial_known(t, var), *with = x ? NULL : trial_known(t, sum);
    double eps = (double)t->size.eps;
    if (!x && !with)
        return false;
    for (size_t i = 0; i < graph_cells(g, n); i++) {
        double variance = x ? (double)x[i] : (double)with[i] - eps;
        out[i] = (float)(1 / (dm_sqrt(variance > 0 ? variance : 0) + eps));
    }
    return true;
}

void trial_outside_root(Trial *t)
{
    trial_each(t, "rstd", make_outside, NULL,
               "the reference adds ε to the deviation, outside the root, not to the variance");
    trial_each(t, "rrms", make_outside, NULL,
               "the reference adds ε to the root mean square, outside the root, not to the mean square");
}

/* --- positions --- */

/* The row that a token's position is taken from; −1: it gets none. */
typedef enum Shift { SUCCESSOR, PREDECESSOR, FROM_FIRST, FIRST_BARE, ZERO_BEHIND, SHIFTS } Shift;
static int shifted_row(Shift how, int row, int rows)
{
    switch (how) {
    case SUCCESSOR: return (row + 1) % rows;
    case PREDECESSOR: return (row + rows - 1) % rows;
    case FROM_FIRST: return row ? row - 1 : 0;
    case FIRST_BARE: return row - 1;
    case ZERO_BEHIND: return row + 1 < rows ? row + 1 : -1;
    default: UNREACHABLE("a shift of no kind");
    }
}

void trial_positions(Trial *t)
{
    static const char *const TEXTS[SHIFTS] = {
        [SUCCESSOR] = "the reference's positions are shifted by one: each token has its successor's",
        [PREDECESSOR] = "the reference's positions are shifted by one: each token has its predecessor's",
        [FROM_FIRST] =
            "the reference's positions are shifted by one: each token has its predecessor's, the first keeps its own",
        [FIRST_BARE] =
            "the reference's positions are shifted by one: each token has its predecessor's, the first has none",
        [ZERO_BEHIND] =
            "the reference's positions are shifted by one: each token has its successor's, the last has none"};
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1))
        trial_add(t, EDIT_SCALE, graph_node(g, n)->path)->factor = 2;
    trial_attempt(t, "the reference adds the position embeddings twice");
    for (int k = 0; k < SHIFTS; k++) {
        trial_begin(t);
        for (NodeId n = trial_find(t, "pos_embed", 0); n != NO_NODE; n = trial_find(t, "pos_embed", n + 1)) {
            int rows = g->axes[graph_node(g, n)->dims.axis[0]].n;
            size_t cells = graph_cells(g, n), width = cells / (size_t)rows;
            float *table = arena_alloc(&t->arena, size_mul(cells, sizeof *table));
            const float *own = run_need(t->s->run, n);
            for (int row = 0; row < rows; row++) {
                int from = shifted_row((Shift)k, row, rows);
                if (from >= 0)
                    memcpy(table + (size_t)row * width, own + (size_t)from * width, width * sizeof *table);
            }
            trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = table;
        }
        trial_attempt(t, "%s", TEXTS[k]);
    }
}

/* Patches first, the class token behind them: positions in the order of the table, or each with its token. */
void trial_class_last(Trial *t)
{
    static const struct {
        const char *node, *text;
        bool read; /* …and the answer is read where it stands */
    } WAYS[] = {{"tokens", "the class token stands last in the reference, behind the patches", true},
                {"tokens", "the class token stands last in the reference, and the first token is read out", false},
                {"full_embed", "the class token stands last in the reference, each token with its own position", true},
                {"full_embed",
                 "the class token stands last in the reference, each token with its own position, and the first token "
                 "is read out",
                 false}};
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (!c || !c->cls || vit_prefix(c) != 1)
        return;
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
        NodeId n = trial_find(t, WAYS[k].node, 0), readout = trial_find(t, "readout", 0);
        if (n == NO_NODE || (!WAYS[k].read && readout == NO_NODE))
            continue;
        int axis = graph_node(g, n)->dims.axis[0], rows = g->axes[axis].n;
        int *index = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *index)),
            *back = arena_alloc(&t->arena, size_mul((size_t)rows, sizeof *back));
        for (int i = 0; i < rows; i++) {
            index[i] = (i + 1) % rows;
            back[i] = (i + rows - 1) % rows;
        }
        trial_begin(t);
        Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, n)->path);
        e->axis = axis;
        e->index = index;
        NodeId tokens = readout == NO_NODE ? NO_NODE : tokens_read(t, readout);
        if (WAYS[k].read && tokens != NO_NODE && c->pool == VIT_POOL_CLS) {
            e = trial_add(t, EDIT_GATHER, graph_node(g, tokens)->path);
            e->axis = axis;
            e->index = back;
        }
        trial_attempt(t, "%s", WAYS[k].text);
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
    for (NodeId n = trial_find_edge(t, "attn.v", 0); n != NO_NODE; n = trial_find_edge(t, "attn.v", n + 1)) {
        const char *path = graph_node(g, n)->path;
        NodeId k = trial_beside(t, path, "attn.k");
        const DiffTensor *recorded = t->in[n] ? NULL : diff_reference_find(t->r, k);
        if (recorded)
            trial_add(t, EDIT_VALUES, path)->data = recorded->values;
        else
            trial_add(t, EDIT_REDIRECT, path)->other = graph_node(g, k)->path;
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

static const char *norm_out(Trial *t, const char *name)
{
    return arena_printf(&t->arena, "%s.out", nn_norm_scope(name, t->s->config && t->s->config->rms_norm));
}

/* v of the residual stream itself. */
static bool make_unnormed(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const char *path = graph_node(t->s->graph, n)->path;
    NodeId norm = trial_beside(t, path, norm_out(t, "ln1"));
    const float *x = trial_known(t, trial_beside(t, path, "resid_pre"));
    if (x && norm != NO_NODE)
        memcpy(out, trial_with(t, block_path(&t->arena, path, ""), n, norm, x),
               graph_cells(t->s->graph, n) * sizeof *out);
    return x && norm != NO_NODE;
}

/* The sum with something else of the block for its first part. */
static bool make_sum(Trial *t, NodeId n, const void *first, float *out)
{
    const Node *node = graph_node(t->s->graph, n);
    const float *a = trial_known(t, trial_beside(t, node->path, first)),
                *b = a && node->op == OP_ADD ? trial_known(t, node->in[1]) : NULL;
    for (size_t i = 0; b && i < graph_cells(t->s->graph, n); i++)
        out[i] = a[i] + b[i];
    return b != NULL;
}

void trial_source(Trial *t)
{
    char text[3][DIFF_WORDS];
    static const char *const TEXTS[] = {"the reference makes v from the residual stream, before the",
                                        "the reference's residual connection around attention starts behind the",
                                        "the reference's residual connection around the MLP starts behind the"};
    trial_each(t, "resid_post", make_sum, "resid_pre",
               "the reference's residual connection around the MLP starts at the block's input, before attention");
    if (t->s->text || t->size.post_norm || t->s->config->branch_norm)
        return;
    for (size_t i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], "%s %s", TEXTS[i], trial_norm_word(t));
    trial_each_edge(t, "attn.v", make_unnormed, NULL, text[0]);
    trial_each(t, "resid_mid", make_sum, norm_out(t, "ln1"), text[1]);
    trial_each(t, "resid_post", make_sum, norm_out(t, "ln2"), text[2]);
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
    if (!trial_has(t, t->s->image))
        return;
    for (size_t i = 0; i < sizeof TURNS / sizeof *TURNS; i++) {
        trial_begin(t);
        for (int k = 0; k < image->dims.n; k++)
            if (strchr(TURNS[i].axes, *t->s->graph->axes[image->dims.axis[k]].sym))
                add_reversed(t, image->dims.axis[k]);
        trial_attempt(t, "%s", TURNS[i].text);
    }
    trial_begin(t);
    trial_add(t, EDIT_SCALE, image->path)->factor = -1;
    trial_attempt(t, "the reference's picture is a negative: every value has the other sign");
}
