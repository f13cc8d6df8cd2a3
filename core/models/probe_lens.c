/* The logit lens (nostalgebraist 2020): what the model would answer if it ended behind a block, or had none; and what
 * it would answer if it read its other read-out, the mean of the patches or the class token. The final norm and the
 * head are the model's own, edits included. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/models/nn.h"
#include "core/models/probe_parts.h"

ProbeNorm probe_norm_of(const Graph *g, int p)
{
    return (ProbeNorm){site_node(g, p, SITE_NORM_WIDTH), site_node(g, p, SITE_NORM_EPS),
                       site_node(g, p, SITE_NORM_GAMMA), site_node(g, p, SITE_NORM_BETA),
                       site_node(g, p, SITE_NORM_MEAN_SQUARE) != NO_NODE};
}

/* The norm of that scope outside blocks, which must be there. */
static ProbeNorm norm_find(const Graph *g, const char *scope, bool rms)
{
    int p = anatomy_next(g, NO_PART, PART_NORM);
    while (p != NO_PART && strcmp(anatomy_part(g, p)->scope, nn_norm_scope(scope, rms)) != 0)
        p = anatomy_next(g, p, PART_NORM);
    REQUIRE(p != NO_PART);
    return probe_norm_of(g, p);
}

void probe_find_answer(Probes *b)
{
    const Graph *g = b->g;
    const VitConfig *c = b->c;
    if (c->final_norm)
        b->final = norm_find(g, "ln_final", c->rms_norm);
    if (c->fc_norm)
        b->fc = norm_find(g, "fc_norm", c->rms_norm);
    b->head = b->head_dist = (ProbeHead){NO_NODE, NO_NODE};
    if (!c->classes)
        return;
    b->head.weight = probe_existing(g, "head.weight");
    b->head.bias = c->head_bias ? probe_existing(g, "head.bias") : NO_NODE;
    if (c->pool != VIT_POOL_CLS_DIST)
        return;
    b->head_dist.weight = probe_existing(g, "head_dist.weight");
    b->head_dist.bias = c->head_bias ? probe_existing(g, "head_dist.bias") : NO_NODE;
}

NodeId probe_norm(Graph *g, const char *prefix, NodeId x, int d, ProbeNorm norm)
{
    char all[32], out[40], scaled[40];
    snprintf(all, sizeof all, "%s_%s", prefix, norm.rms ? "rms_" : "");
    snprintf(out, sizeof out, "%sout", all);
    snprintf(scaled, sizeof scaled, "%sscaled", all);
    NnMoments m = {
        .prefix = all, .over = DIMS(d), .rms = norm.rms, .passing = true, .width = norm.width, .eps = norm.eps};
    NodeId normalized = nn_moments(g, &m, x);
    if (norm.rms || norm.beta == NO_NODE)
        return graph_zip(g, out, OP_MUL, normalized, norm.gamma);
    NodeId stretched = probe_passing(g, graph_zip(g, scaled, OP_MUL, normalized, norm.gamma));
    return graph_zip(g, out, OP_ADD, stretched, norm.beta);
}

static NodeId mean_of_patches(Probes *b, NodeId tokens)
{
    NodeId patches = probe_patches(b->g, "readout_patches", tokens, b->axis.t, b->axis.p);
    return probe_mean(b->g, "readout", patches, DIMS(b->axis.d), b->patches);
}

static NodeId token(Probes *b, const char *name, NodeId tokens, int at)
{
    return graph_slice(b->g, name, tokens, b->axis.t, at, AXIS_NONE);
}

static NodeId through_head(Probes *b, const char *name, ProbeHead head, NodeId y)
{
    Graph *g = b->g;
    Dims o = DIMS(b->axis.o);
    if (head.bias == NO_NODE)
        return graph_contract(g, name, y, head.weight, o);
    char sum[32];
    snprintf(sum, sizeof sum, "%s_nobias", name);
    return graph_zip(g, name, OP_ADD, probe_passing(g, graph_contract(g, sum, y, head.weight, o)), head.bias);
}

/* exp(x − max) / Σ exp(x − max) */
static void softmax(Probes *b, NodeId logits)
{
    Graph *g = b->g;
    NodeId max = graph_reduce(g, "probs_row_max", OP_MAX, logits, DIMS_SCALAR);
    NodeId shifted = probe_passing(g, graph_zip(g, "probs_shifted", OP_SUB, logits, max));
    NodeId e = graph_map(g, "probs_exp", MAP_EXP, shifted);
    graph_zip(g, "probs", OP_DIV, e, graph_reduce(g, "probs_sum", OP_SUM, e, DIMS_SCALAR));
}

/* The logits that follow a read-out y in the model; second is the dist token for a model with two heads, else NO_NODE.
 */
static NodeId logits(Probes *b, NodeId y, NodeId second)
{
    Graph *g = b->g;
    if (b->c->fc_norm)
        y = probe_norm(g, "fc", y, b->axis.d, b->fc);
    if (second == NO_NODE)
        return through_head(b, "logits", b->head, y);
    NodeId cls = through_head(b, "logits_cls", b->head, y), dist = through_head(b, "logits_dist", b->head_dist, second);
    return graph_zip(g, "logits", OP_DIV, graph_zip(g, "logits_sum", OP_ADD, cls, dist), b->two);
}

/* Those of the tokens x of some place between the blocks, in the scope that is set. */
static NodeId logits_of_tokens(Probes *b, NodeId x)
{
    const VitConfig *c = b->c;
    if (c->final_norm)
        x = probe_norm(b->g, "norm", x, b->axis.d, b->final);
    NodeId y = c->pool == VIT_POOL_MEAN ? mean_of_patches(b, x) : token(b, "readout", x, 0);
    return logits(b, y, c->pool == VIT_POOL_CLS_DIST ? token(b, "readout_dist", x, 1) : NO_NODE);
}

NodeId probe_before_mlp(const Graph *g, int block)
{
    int mlp = anatomy_next_in(g, NO_PART, PART_MLP, block);
    NodeId sum = mlp == NO_PART ? NO_NODE : site_node(g, mlp, SITE_SUM);
    return sum == NO_NODE ? NO_NODE : graph_node(g, sum)->in[0];
}

void probe_lens(Probes *b, int layer)
{
    const VitConfig *c = b->c;
    if (!c->classes || c->pool == VIT_POOL_ATTENTION || c->pool == VIT_POOL_BOTH)
        return; /* their read-outs are no token and no mean: what they would read in between nobody trained */
    if (layer < 0) {
        graph_scope(b->g, "embed.lens");
        softmax(b, logits_of_tokens(b, site_node(b->g, b->block[0].part, SITE_RESID_PRE)));
        return;
    }
    const char *scope = anatomy_part(b->g, b->block[layer].part)->scope;
    graph_scope(b->g, "%s.lens_mid", scope);
    logits_of_tokens(b, probe_before_mlp(b->g, b->block[layer].part));
    graph_scope(b->g, "%s.lens", scope);
    softmax(b, logits_of_tokens(b, b->block[layer].out));
}

/* A model with two heads answers with the first one here: the second was made for its own token. */
void probe_other_readout(Probes *b)
{
    const VitConfig *c = b->c;
    if (!c->classes || c->pool == VIT_POOL_ATTENTION || c->pool == VIT_POOL_BOTH ||
        (c->pool == VIT_POOL_MEAN && !c->cls))
        return;
    if (c->pool == VIT_POOL_MEAN) {
        graph_scope(b->g, "readout_cls");
        softmax(b, logits(b, token(b, "readout", b->nodes->tokens_out, 0), NO_NODE));
    } else {
        graph_scope(b->g, "readout_mean");
        softmax(b, logits(b, mean_of_patches(b, b->nodes->tokens_out), NO_NODE));
    }
}

/* What every hidden unit of an MLP writes into each answer: its column of W down by the answer's weights, with γ of the
 * norm that is read through and, of a LayerNorm, the mean over the numbers of a token taken away (what a norm takes
 * away whatever was written); the norm's 1/σ, which is the token's, is left out. What other blocks make of it later is
 * not in it. (Geva et al. 2021, "Transformer Feed-Forward Layers Are Key-Value Memories".) */

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
    const NodeId of_experts = site_node(g, part, SITE_EXPERTS_POST);
    const bool experts = of_experts != NO_NODE; /* of each of them, before the weight that a token gives it */
    NodeId w_down = leaf_of(g, part, experts ? "experts.w_down" : "w_down"), scale = leaf_of(g, part, "layer_scale"),
           post = experts ? of_experts : site_node(g, part, SITE_MLP_POST), toward = weight,
           read = graph_find(g, "read_scale");
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
    const int x = dims_role(g, d, ROLE_EXPERT);
    const Dims each = experts ? DIMS(x, m, o) : DIMS(m, o);
    anatomy_note(g, part, SITE_UNIT_WRITES, probe_passing(g, graph_contract(g, "writes", w_down, toward, each)));
}
