/* Mistakes with what goes where: the read-out, the logits, v, the residual's source, and what an encoder
 * hands to its decoder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"
#include "core/graph/anatomy.h"

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

/* The class token, and behind it the mean: of more than the patches. */
static void attempt_mean_behind(Trial *t, NodeId readout, size_t from, const char *text)
{
    const size_t width = (size_t)t->size.width, rows = (size_t)vit_tokens(t->s->config);
    const NodeId tokens = trial_tokens_read(t, readout);
    if (!trial_wanted(t, text) || !trial_has(t, tokens))
        return;
    const float *x = trial_stretch_values(t, tokens);
    float *out = arena_alloc(&t->arena, 2 * width * sizeof *out);
    memcpy(out, x, width * sizeof *out);
    for (size_t d = 0; d < width; d++) {
        double sum = 0;
        for (size_t k = from; k < rows; k++)
            sum += (double)x[k * width + d];
        out[width + d] = (float)(sum / (double)(rows - from));
    }
    trial_begin(t);
    t->made = true;
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, readout)->path)->data = out;
    trial_attempt(t, "%s", text);
}

void trial_readout(Trial *t)
{
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (!c)
        return;
    NodeId readout = trial_find(t, "readout", 0);
    if (readout != NO_NODE && c->pool == VIT_POOL_BOTH && graph_cells(g, readout) == 2 * (size_t)c->width) {
        if (c->registers)
            attempt_mean_behind(t, readout, (size_t)(vit_prefix(c) - c->registers),
                                "the recording's mean of the patches counts the registers too");
        attempt_mean_behind(t, readout, 0, "the recording's mean of the patches counts all tokens");
    }
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
    if (c->registers && prefix > (size_t)c->registers)
        attempt_readout(t, readout, x, all, prefix - (size_t)c->registers, true,
                        "the recording reads out the mean of the patches and the registers");
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

/* Logits that stand one place on or back: the head's rows were rolled, or what it gives. */
void trial_rolled(Trial *t)
{
    const Graph *g = t->s->graph;
    NodeId n = t->target->node;
    Dims d = graph_node(g, n)->dims;
    size_t cells = graph_cells(g, n), row = d.n ? (size_t)g->axes[d.axis[d.n - 1]].n : 0;
    if (strcmp(graph_node(g, n)->path, "logits") != 0 || row < 3 || t->base)
        return;
    const float *x = trial_values(t, n);
    float *rolled = arena_alloc(&t->arena, size_mul(cells, sizeof *rolled));
    for (size_t by = 1; by < row; by += row - 2) {
        for (size_t i = 0; i < cells; i++)
            rolled[i] = x[i / row * row + (i % row + by) % row];
        trial_begin(t);
        trial_judge(t, rolled,
                    by == 1 ? "the recording's answers are rolled: each logit is that of the next one here"
                            : "the recording's answers are rolled: each logit is that of the one before");
    }
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
    const bool others = trial_row_beside(t, "attn.q") == BESIDE_DIFFERS; /* then it is the norm that is lost */
    const float *x = norm == NO_NODE || (others && t->in[norm]) ? NULL
                                                                : trial_known(t, trial_beside(t, path, "resid_pre"));
    if (x)
        memcpy(out, trial_with(t, block_path(&t->arena, path, ""), n, norm, x),
               graph_cells(t->s->graph, n) * sizeof *out);
    return x != NULL;
}

/* Is one of these recorded beside the target, with what the norm here makes of its input? */
static bool follows_beside(Trial *t, const char *names)
{
    char word[TRIAL_WORD];
    while (trial_word(&names, word))
        if (trial_row_beside(t, word) == BESIDE_AGREES)
            return true;
    return false;
}

static int skip_norms(Trial *t, const char *const of[2])
{
    const Graph *g = t->s->graph;
    const int before = t->mistake_count;
    for (int k = 0; k < 2; k++)
        for (NodeId n = trial_find(t, of[k], 0); n != NO_NODE; n = trial_find(t, of[k], n + 1)) {
            const NodeId reads = trial_norm_reads(t, graph_node(g, n)->path);
            if (reads != NO_NODE)
                trial_add(t, EDIT_REDIRECT, graph_node(g, n)->path)->other = graph_node(g, reads)->path;
        }
    return t->mistake_count - before;
}

/* The norms of the blocks are left out: the first, the second, or both. */
void trial_norms_lost(Trial *t)
{
    static const char *const OF[2][2] = {{"ln1.out", "rms1.out"}, {"ln2.out", "rms2.out"}},
                             *const READ_BY[2] = {"attn.q attn.k attn.v", "mlp.pre mlp.gate"},
                             *const SAID[] = {"in front of attention", "in front of the MLP",
                                              "in front of attention, and none in front of the MLP"};
    const char *target = graph_node(t->s->graph, t->target->node)->path;
    for (int way = 0; way < 3; way++) {
        bool all = true;
        trial_begin(t);
        for (int k = 0; k < 2; k++) /* what reads the norm's own recorded output says nothing of it */
            if (way == k || way == 2)
                all = skip_norms(t, OF[k]) &&
                      (path_ends(target, OF[k][0]) || path_ends(target, OF[k][1]) || !follows_beside(t, READ_BY[k])) &&
                      all;
        if (all)
            trial_attempt(t, "the recording has no %s %s", trial_norm_word(t), SAID[way]);
    }
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

/* The last block of a stack is passed over: its output is what it reads. */
void trial_shorter(Trial *t)
{
    static const struct {
        const char *stack, *text;
    } STACKS[] = {{"encoder.", "the recording leaves out the encoder's last block: the memory is one block short"},
                  {"decoder.", "the recording leaves out the last block"},
                  {"", "the recording leaves out the last block"}};
    const Graph *g = t->s->graph;
    const bool both = anatomy_blocks(g, "decoder") > 0;
    for (size_t k = 0; k < sizeof STACKS / sizeof *STACKS; k++) {
        NodeId in = NO_NODE, last = NO_NODE;
        for (int i = 0;; i++) {
            NodeId n = graph_find(g, arena_printf(&t->arena, "%sblocks.%d.resid_pre", STACKS[k].stack, i));
            if (n == NO_NODE)
                break;
            in = n;
            last = i;
        }
        if (in == NO_NODE || last < 1)
            continue;
        const char *front = arena_printf(&t->arena, "%sblocks.%d.", STACKS[k].stack, (int)last);
        static const char *const ENDS[] = {"ln3.out", "ln2.out", "rms2.out"};
        NodeId out = graph_find(g, arena_printf(&t->arena, "%sresid_post", front));
        for (size_t i = 0; t->size.post_norm && i < sizeof ENDS / sizeof *ENDS; i++) {
            NodeId end = graph_find(g, arena_printf(&t->arena, "%s%s", front, ENDS[i]));
            out = end > out ? end : out;
        }
        if (out == NO_NODE || !t->in[out] || !trial_has(t, in))
            continue;
        trial_begin(t);
        trial_add(t, EDIT_REDIRECT, graph_node(g, out)->path)->other = graph_node(g, in)->path;
        trial_attempt(t, "%s", k == 0 && !both ? STACKS[1].text : STACKS[k].text);
    }
}

/* x[t,h,e] / √(mean over e of x² + ε) where the mean here is over all heads. */
bool trial_make_each_head(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const Node *node = graph_node(g, n);
    const float *x = node->dims.n == 3 && node->op == OP_MUL && graph_node(g, node->in[1])->dims.n == 1
                         ? trial_known(t, node->in[0])
                         : NULL;
    if (!x)
        return false;
    size_t width = (size_t)g->axes[node->dims.axis[2]].n;
    for (size_t at = 0; at < graph_cells(g, n); at += width) {
        double sum = 0;
        for (size_t i = 0; i < width; i++)
            sum += (double)x[at + i] * (double)x[at + i];
        double root = dm_sqrt(sum / (double)width + (double)t->size.eps);
        for (size_t i = 0; i < width; i++)
            out[at + i] = (float)((double)x[at + i] / root);
    }
    return true;
}

/* v as the rotation of k would leave it. */
bool trial_make_rotated_value(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, n)->path;
    NodeId turned = trial_beside(t, path, "attn.k_turned"), product = trial_beside(t, path, "attn.k_cos");
    if (turned == NO_NODE || product == NO_NODE)
        return false;
    NodeId from = graph_node(g, product)->in[0];
    const float *v = graph_cells(g, turned) == graph_cells(g, n) && graph_cells(g, from) == graph_cells(g, n)
                         ? trial_known(t, n)
                         : NULL;
    if (v)
        memcpy(out, trial_with(t, block_path(&t->arena, path, ""), turned, from, v), graph_cells(g, n) * sizeof *out);
    return v != NULL;
}

/* What a linear map with bias makes of row x[d], W[h,e,d]. */
static void project(const float *w, const float *b, const float *x, size_t rows, size_t width, double *out)
{
    for (size_t i = 0; i < rows; i++) {
        out[i] = b ? (double)b[i] : 0;
        for (size_t d = 0; d < width; d++)
            out[i] += (double)w[i * width + d] * (double)x[d];
    }
}

/* z[t,h,e] of cross-attention whose keys and values are made of the decoder's tokens, which its queries read; context:
 * the keys alone, where these are as many as the encoder's. */
bool trial_make_own_memory(Trial *t, NodeId n, const void *context, float *out)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, n)->path;
    NodeId q = trial_beside(t, path, "attn.q"), product = trial_beside(t, path, "attn.q_nobias"), of[4];
    static const char *const WEIGHTS[] = {"attn.w_k", "attn.w_v", "attn.b_k", "attn.b_v"};
    for (int i = 0; i < 4; i++)
        of[i] = trial_beside(t, path, WEIGHTS[i]);
    product = product == NO_NODE ? q : product;
    if (q == NO_NODE || of[0] == NO_NODE || of[1] == NO_NODE || graph_node(g, product)->op != OP_CONTRACT)
        return false;
    const float *queries = trial_known(t, q), *x = queries ? trial_known(t, graph_node(g, product)->in[0]) : NULL,
                *w[4] = {NULL};
    for (int i = 0; i < 4; i++)
        w[i] = of[i] == NO_NODE ? NULL : run_need(t->s->run, of[i]);
    Dims d = graph_node(g, n)->dims;
    if (!x || d.n != 3 || graph_cells(g, of[0]) != graph_cells(g, of[1]))
        return false;
    size_t tokens = (size_t)g->axes[d.axis[0]].n, heads = (size_t)g->axes[d.axis[1]].n,
           e = (size_t)g->axes[d.axis[2]].n, rows = heads * e, width = graph_cells(g, of[0]) / rows;
    const NodeId values = trial_beside(t, path, "attn.v");
    const float *own = context && graph_cells(g, values) == tokens * rows ? trial_known(t, values) : NULL;
    if (context && !own)
        return false;
    double *k = xcalloc(size_mul(tokens, rows), 2 * sizeof *k), *v = k + tokens * rows,
           *weight = xcalloc(tokens, sizeof *weight);
    for (size_t u = 0; u < tokens; u++) {
        project(w[0], w[2], x + u * width, rows, width, k + u * rows);
        project(w[1], w[3], x + u * width, rows, width, v + u * rows);
        for (size_t i = 0; own && i < rows; i++)
            v[u * rows + i] = (double)own[u * rows + i];
    }
    for (size_t i = 0; i < tokens * heads; i++) {
        double most = -1e300, sum = 0;
        size_t h = i % heads;
        for (size_t u = 0; u < tokens; u++) {
            weight[u] = 0;
            for (size_t c = 0; c < e; c++)
                weight[u] += (double)queries[i * e + c] * k[u * rows + h * e + c];
            weight[u] *= (double)t->size.scale;
            most = weight[u] > most ? weight[u] : most;
        }
        for (size_t u = 0; u < tokens; u++)
            sum += weight[u] = dm_exp(weight[u] - most);
        for (size_t c = 0; c < e; c++) {
            double z = 0;
            for (size_t u = 0; u < tokens; u++)
                z += weight[u] * v[u * rows + h * e + c];
            out[i * e + c] = (float)(z / sum);
        }
    }
    free(k);
    free(weight);
    return true;
}

/* What cross-attention looks at, from somewhere else in the encoder. */
void trial_memory(Trial *t)
{
    enum { BEFORE_LAST, LAST, FIRST, WAYS };
    static const char *const TEXTS[WAYS] = {
        [BEFORE_LAST] = "the recording's decoder looks at the encoder's tokens one block too early",
        [LAST] = "the recording's decoder looks at the encoder's tokens before their final norm",
        [FIRST] = "the recording's decoder looks at the encoder's tokens before its first block"};
    const Graph *g = t->s->graph;
    NodeId in = trial_find(t, "cross_attn.in", 0), from[WAYS] = {NO_NODE, NO_NODE, NO_NODE};
    if (in == NO_NODE)
        return;
    NodeId memory = graph_node(g, in)->in[0];
    for (int p = NO_PART; (p = anatomy_next(g, p, PART_BLOCK)) != NO_PART;)
        if (strcmp(anatomy_part(g, p)->stack, "encoder") == 0) {
            from[BEFORE_LAST] = from[LAST];
            from[LAST] = site_node(g, p, SITE_BLOCK_OUT);
        }
    if (from[BEFORE_LAST] != NO_NODE) /* of two blocks or more: else it is one too early */
        from[FIRST] = graph_find(g, "encoder.blocks.0.resid_pre");
    for (int k = 0; k < WAYS; k++) {
        if (from[k] == NO_NODE || from[k] == memory)
            continue;
        trial_begin(t);
        trial_add(t, EDIT_REDIRECT, graph_node(g, memory)->path)->other = graph_node(g, from[k])->path;
        trial_attempt(t, "%s", TEXTS[k]);
    }
}
