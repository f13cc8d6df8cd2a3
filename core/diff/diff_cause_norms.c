/* Mistakes with norms: of another kind, ε elsewhere, and norms that stand elsewhere: before the sub-layers, behind the
 * additions, or on the branches. A block with its norms elsewhere is no edit of the graph, whose nodes stand in another
 * order; but all its parts are there: what a norm or a sub-layer makes of other values is its node where those are put
 * into what it reads. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"
#include "core/models/nn.h"

const char *trial_norm_word(const Trial *t)
{
    return t->s->config ? vit_norm_word(t->s->config) : t->s->text->rms_norm ? "RMSNorm" : "LayerNorm";
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

/* The norm in front of the answer, of what it has normalised. */
void trial_norm_twice(Trial *t)
{
    static const char *const ENDS[] = {"ln_final.out", "fc_norm.out", "rms_final.out", "rms_fc.out"};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
        NodeId n = trial_find(t, ENDS[i], 0);
        if (n == NO_NODE || strstr(graph_node(t->s->graph, n)->path, "encoder."))
            continue;
        const char *path = graph_node(t->s->graph, n)->path,
                   *norm = arena_printf(&t->arena, "%.*s", (int)(strlen(path) - strlen("out")), path);
        NodeId in = trial_norm_reads(t, path);
        if (in == NO_NODE || !trial_has(t, in))
            continue;
        trial_begin(t);
        t->made = true;
        const float *twice = trial_with(t, norm, n, in, trial_values_with(t, n));
        trial_add(t, EDIT_VALUES, path)->data = twice;
        trial_attempt(t, "the recording applies the final %s twice", trial_norm_word(t));
    }
}

/* (x − mean) / √(variance + ε), where the model has x / √(mean of x² + ε). */
bool trial_make_centred(Trial *t, NodeId n, const void *context, float *out)
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

/* 1 + γ, where the model has γ, and the other way round. */
bool trial_make_other_stretch(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const Node *node = graph_node(g, n);
    const bool plus = node->op == OP_ADD;
    const char *more = arena_printf(&t->arena, "%s_plus", node->path);
    if (graph_find(g, more) != NO_NODE)
        return false;
    const float *gamma = run_need(t->s->run, plus ? node->in[0] : n);
    for (size_t i = 0; i < graph_cells(g, n); i++)
        out[i] = plus ? gamma[i] : 1 + gamma[i];
    return true;
}

/* 1 / (√variance + ε) */
bool trial_make_outside(Trial *t, NodeId n, const void *context, float *out)
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

/* --- elsewhere --- */

typedef enum Place { BEFORE, BEHIND, BRANCHES, PLACES } Place;
enum { STAGES = 3 };

/* A sub-layer with its norm and its addition: our nodes, and what theirs are with the norms elsewhere. */
typedef struct Stage {
    NodeId x, out, sum, norm, norm_in; /* out: of the sub-layer itself */
    const float *in, *read, *of_out, *of_sum, *of_norm;
} Stage;

typedef struct Block {
    const char *prefix; /* "decoder.blocks.1." */
    Place ours, theirs;
    Stage stage[STAGES];
    int count;
    NodeId end; /* what the block gives */
    const float *of_end;
} Block;

static Place place_here(const Trial *t)
{
    const bool branches = t->s->config ? t->s->config->branch_norm : t->s->text->after_norm && !t->s->text->pre_norm;
    return t->size.post_norm ? BEHIND : branches ? BRANCHES : BEFORE;
}

/* The nodes of the block that path lies in; false where one is not there. */
static bool read_block(Trial *t, const char *path, Place theirs, Block *b)
{
    static const char *const SUMS[STAGES] = {"resid_mid", "resid_cross", "resid_post"};
    const Graph *g = t->s->graph;
    *b = (Block){.prefix = block_path(&t->arena, path, ""), .ours = place_here(t), .theirs = theirs};
    for (int i = 0; i < STAGES; i++) {
        NodeId sum = trial_beside(t, path, SUMS[i]);
        if (sum == NO_NODE)
            continue;
        const char *name = arena_printf(&t->arena, "ln%d", b->count + 1);
        const bool rms = t->s->config ? t->s->config->rms_norm : t->s->text && t->s->text->rms_norm;
        const char *out = arena_printf(&t->arena, "%s.out", nn_norm_scope(name, rms));
        Stage *s = &b->stage[b->count++];
        *s = (Stage){.x = graph_node(g, sum)->in[0], .sum = sum, .norm = trial_beside(t, path, out)};
        s->norm_in = s->norm == NO_NODE ? NO_NODE : trial_norm_reads(t, graph_node(g, s->norm)->path);
        if (s->norm_in == NO_NODE)
            return false;
        s->out = b->ours == BRANCHES ? s->norm_in : graph_node(g, sum)->in[1];
        b->end = b->ours == BEHIND ? s->norm : sum;
    }
    return b->count > 0;
}

/* What their block makes of its input x[t,d]. */
static void fill_block(Trial *t, Block *b, const float *x)
{
    for (int k = 0; k < b->count; k++) {
        Stage *s = &b->stage[k];
        size_t cells = graph_cells(t->s->graph, s->sum);
        float *sum = arena_alloc(&t->arena, size_mul(cells, sizeof *sum));
        const float *branch;
        s->in = s->read = x;
        if (b->theirs == BEFORE)
            s->in = s->of_norm = trial_with(t, b->prefix, s->norm, s->norm_in, x);
        branch = s->of_out = trial_with(t, b->prefix, s->out, b->ours == BEFORE ? s->norm : s->x, s->in);
        if (b->theirs == BRANCHES)
            branch = s->of_norm = trial_with(t, b->prefix, s->norm, s->norm_in, s->read = s->of_out);
        for (size_t i = 0; i < cells; i++)
            sum[i] = x[i] + branch[i];
        x = s->of_sum = sum;
        if (b->theirs == BEHIND)
            x = s->of_norm = trial_with(t, b->prefix, s->norm, s->norm_in, s->read = sum);
    }
    b->of_end = x;
}

/* Node n of the block as theirs has it. */
static const float *value_of(Trial *t, const Block *b, NodeId n)
{
    int k = 0;
    while (k + 1 < b->count && n > b->stage[k].sum && n > b->stage[k].norm)
        k++;
    const Stage *s = &b->stage[k];
    NodeId from = b->ours == BEFORE ? s->norm : s->x;
    if (n == s->norm || n == s->sum || n == s->out)
        return n == s->norm ? s->of_norm : n == s->sum ? s->of_sum : s->of_out;
    return n > from && n < s->out ? trial_with(t, b->prefix, n, from, s->in)
                                  : trial_with(t, b->prefix, n, s->norm_in, s->read);
}

/* Where a half of our block ends in its norm, theirs in its sum: that sum; else NULL. */
static const float *half_of(const Block *b, NodeId n)
{
    for (int k = 0; k < b->count && b->ours == BEHIND && b->theirs == BEFORE; k++)
        if (n == b->stage[k].norm)
            return b->stage[k].of_sum;
    return NULL;
}

/* Of what is recorded in the block, the target aside: is something else than theirs would have? What does not follow
 * here and does there is counted: that is more than one mistake at one place could do. */
static bool contradicted(Trial *t, const Block *b, int *support)
{
    static const char *const LOOKED[] = {"attn.q", "attn.k", "attn.v"};
    static const double NEAR = 30; /* times what is allowed */
    const Graph *g = t->s->graph;
    *support = 0;
    for (int i = 0; i < t->r->count; i++) {
        const DiffTensor *x = &t->r->tensor[i];
        const char *path = graph_node(g, x->node)->path;
        bool looked = false;
        const float *also = x->node == b->end ? b->of_end : NULL; /* a norm's own value, or the block's; */
        for (int k = 0; k < b->count; k++) {
            const Stage *s = &b->stage[k];
            looked = looked || x->node == s->norm || x->node == s->sum || x->node == s->out;
            if (x->node == s->out && b->theirs == BRANCHES)
                also = s->of_norm; /* what a sub-layer gives, or what is added of it */
        }
        for (size_t k = 0; k < sizeof LOOKED / sizeof *LOOKED; k++)
            looked = looked || path_ends(path, LOOKED[k]);
        also = also ? also : half_of(b, x->node);
        if (!looked || x->node == t->target->node || strncmp(path, b->prefix, strlen(b->prefix)) != 0)
            continue;
        ArenaMark mark = arena_mark(&t->arena);
        size_t cells = graph_cells(g, x->node);
        double off = diff_figures(value_of(t, b, x->node), x->values, cells, t->allowed).largest;
        if (also && off > NEAR * t->allowed)
            off = diff_figures(also, x->values, cells, t->allowed).largest;
        arena_rewind(&t->arena, mark);
        if (off > NEAR * t->allowed)
            return true;
        for (int k = 0; t->report && k < t->report->count; k++)
            *support += t->report->row[k].tensor == x && t->report->row[k].state == DIFF_BEGINS;
    }
    return false;
}

/* The target lies in a block whose input is known. */
static void attempt_inside(Trial *t, Block *b, const float *x, const char *text)
{
    NodeId n = t->target->node;
    size_t cells = graph_cells(t->s->graph, n);
    int support;
    fill_block(t, b, x);
    if (contradicted(t, b, &support))
        return;
    const float *half = half_of(b, n);
    for (int k = 0; k < (n == b->end || half ? 2 : 1); k++) {
        const float *values = !k ? value_of(t, b, n) : half ? half : b->of_end;
        DiffFigures f = diff_tensor_figures(values, t->target, cells, t->allowed);
        if (support)
            trial_prove(t, &f, text, false);
        else
            trial_judge(t, values, text);
    }
}

/* Every block of the stretch from its input to its end. */
static void attempt_blocks(Trial *t, Place theirs, const char *text)
{
    char prefix[TRIAL_PREFIX] = "";
    NodeId ended = NO_NODE;
    const float *of_ended = NULL;
    trial_begin(t);
    t->made = true;
    for (NodeId from = 0; trial_next_block(t, &from, prefix);) {
        Block b;
        if (!read_block(t, prefix, theirs, &b) || b.end > t->target->node || !t->in[b.end])
            continue;
        NodeId in = b.stage[0].x;
        while (in != ended && graph_node(t->s->graph, in)->op == OP_VIEW)
            in = graph_node(t->s->graph, in)->in[0];
        const float *x = in == ended ? of_ended : trial_known(t, b.stage[0].x);
        if (!x)
            return;
        fill_block(t, &b, x);
        trial_add(t, EDIT_VALUES, graph_node(t->s->graph, b.end)->path)->data = b.of_end;
        ended = b.end;
        of_ended = b.of_end;
    }
    trial_attempt(t, "%s", text);
}

void trial_order(Trial *t)
{
    static const char *const WHERE[PLACES] = {[BEFORE] = "before attention and MLP (pre-norm)",
                                              [BEHIND] = "after the additions (post-norm)",
                                              [BRANCHES] = "on the branches, after attention and MLP"};
    const char *target = graph_node(t->s->graph, t->target->node)->path;
    Place ours = place_here(t);
    for (Place p = BEFORE; p < PLACES && !t->base; p = (Place)(p + 1)) {
        ArenaMark mark = arena_mark(&t->arena);
        char text[DIFF_WORDS];
        Block b;
        if (p == ours || (p == BRANCHES && t->s->config && t->s->config->layer_scale))
            continue;
        snprintf(text, sizeof text, "the recording's norms stand %s; here they stand %s", WHERE[p], WHERE[ours]);
        char first[TRIAL_PREFIX] = "";
        NodeId from = 0;
        trial_begin(t);
        if (trial_next_block(t, &from, first) && strncmp(target, first, strlen(first)) == 0 &&
            read_block(t, target, p, &b) && b.stage[0].x < t->target->node && trial_known(t, b.stage[0].x))
            attempt_inside(t, &b, trial_known(t, b.stage[0].x), text);
        else
            attempt_blocks(t, p, text);
        if (!t->single_count || t->single[t->single_count - 1].family != t->family) /* no edits are kept */
            arena_rewind(&t->arena, mark);
    }
}
