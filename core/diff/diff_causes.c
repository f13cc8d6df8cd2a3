/* The mistakes that are looked for, one row each: what it is called, what it presupposes, how it is tried, what is
 * said, and what to record next where another explains as much. A mistake that takes more than an edit of some nodes
 * has a function. Rows of one name are variants of one mistake: beside one of them no other is looked for. */
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

/* What a model must be, and where a mistake can have been made. */
enum {
    BLOCK = 1, /* in one block alone */
    VIT = 2,
    TEXT = 4,
    RMS = 8,
    BIASED = 16, /* with relative positions */
    TURNED = 64,
    FIRST_NORM = 32, /* norms stand before the sub-layers */
    WHOLE = 128,     /* all of `on` is in the stretch: where it is not, the row of what is there says it */
    NORMS = 256,     /* in the blocks' norms alone too, or in one outside them */
    ALWAYS = 512,    /* no token is as it was: of words that look back alone the first differs too */
    DECIDED = 1024   /* attempts are many: the first token decides which are computed */
};

typedef enum Try {
    OWN,       /* .own does it */
    SET,       /* nodes `on` become .value… */
    SCALE,     /* …are multiplied by it */
    BESIDE,    /* …become node `with` of their block */
    SKIP,      /* norms `on` are left out */
    FIRST,     /* of sums `on` only the first part is left… */
    SECOND,    /* …the second */
    TRANSPOSE, /* square weights */
    EXCHANGE,  /* weights `on` and `with` */
    EACH,      /* nodes `on` become what .make makes of `with`… */
    EACH_EDGE  /* …recorded ones too */
} Try;

typedef struct Cause {
    const char *name;
    unsigned needs;
    Try how;
    const char *on, *with; /* words: ends of paths; behind a + only where some were found before it */
    const char *said;      /* NORM: the model's */
    double value;
    const char *next; /* of the same block */
    void (*own)(Trial *t);
    TrialMake *make;
} Cause;

#define LN_MEANS "ln1.mean ln2.mean ln3.mean ln_final.mean ln_patch.mean ln_merged.mean ln_hidden.mean"
#define LN_BETAS "ln1.beta ln2.beta ln3.beta ln_final.beta norm_pre.beta fc_norm.beta"
#define QKV_BIASES "attn.b_q attn.b_k attn.b_v"

#define SCALED_SUM "the recording multiplies the sum by the layer scale, not what is added"

#define MORE(name_, needs_, how_, on_, with_, said_, more_)                                                            \
    {                                                                                                                  \
        .name = name_, .needs = needs_, .how = how_, .on = on_, .with = with_, .said = said_, more_                    \
    }
#define ROW(name_, needs_, how_, on_, with_, said_) MORE(name_, needs_, how_, on_, with_, said_, .value = 0)
#define FUNCTION(name_, needs_, own_)                                                                                  \
    {                                                                                                                  \
        .name = name_, .needs = needs_, .own = own_                                                                    \
    }

static const char SUMS_WORDS[] = "resid_mid resid_cross resid_post";
static const Cause CAUSES[] = {
    FUNCTION("picture", VIT, trial_picture),
    FUNCTION("fed", VIT, trial_fed),
    FUNCTION("axes", 0, trial_axes),
    FUNCTION("scale", BLOCK, trial_scale),
    FUNCTION("eps", BLOCK | NORMS | ALWAYS, trial_eps),
    FUNCTION("activation", BLOCK | ALWAYS, trial_activation),
    ROW("activation", BLOCK, EXCHANGE, "mlp.w_gate mlp.b_gate", "mlp.w_up mlp.b_up",
        "the gate and the values that it multiplies are exchanged in the recording"),
    ROW("missing", BLOCK, SET, "attn.b_q", NULL, "the recording adds no bias to q"),
    ROW("missing", BLOCK, SET, "attn.b_k", NULL, "the recording adds no bias to k"),
    ROW("missing", BLOCK, SET, "attn.b_v", NULL, "the recording adds no bias to v"),
    ROW("missing", BLOCK | WHOLE, SET, QKV_BIASES, NULL, "the recording adds no bias to q, k and v"),
    ROW("missing", BLOCK, SET, "attn.b_o", NULL, "the recording adds no bias after W_O"),
    ROW("missing", BLOCK, SET, "mlp.b_up", NULL, "the recording adds no bias in the MLP's first layer"),
    ROW("missing", BLOCK, SET, "mlp.b_down", NULL, "the recording adds no bias in the MLP's second layer"),
    ROW("missing", BLOCK | WHOLE, SET, QKV_BIASES " attn.b_o mlp.b_up mlp.b_down", NULL,
        "the recording adds no bias in any linear layer of a block"),
    ROW("missing", BLOCK | NORMS, SET, "ln1.beta ln2.beta ln3.beta ln_final.beta", NULL,
        "the recording's LayerNorm adds no bias β"),
    ROW("missing", BLOCK, SET, "patch_embed.bias", NULL, "the recording adds no bias to the patch projection"),
    ROW("missing", BLOCK, SET, "head.bias", NULL, "the recording adds no bias to the logits"),
    ROW("missing", BLOCK, SET, "pos_embed", NULL, "the recording adds no position embeddings"),
    ROW("missing", TEXT, SET, "segment_embed", NULL, "the recording adds no segment embeddings"),
    MORE("missing", BLOCK | NORMS, SET, "ln1.gamma ln2.gamma ln3.gamma ln_final.gamma", NULL,
         "the recording's NORM does not multiply by γ", .value = 1),
    MORE("missing", BLOCK | NORMS, SET, "rms1.gamma rms2.gamma rms_final.gamma", NULL,
         "the recording's RMSNorm does not multiply by γ", .value = 1),
    MORE("missing", BLOCK, SET, "embed_scale", NULL, "the recording does not multiply the embeddings by √d_model",
         .value = 1),
    MORE("missing", BLOCK | WHOLE, SET, "attn.layer_scale mlp.layer_scale", NULL,
         "the recording does not multiply by the layer scale", .value = 1),
    MORE("missing", BLOCK, SET, "attn.layer_scale", NULL,
         "the recording does not multiply by the layer scale behind attention", .value = 1),
    MORE("missing", BLOCK, SET, "mlp.layer_scale", NULL,
         "the recording does not multiply by the layer scale behind the MLP", .value = 1),
    ROW("transposed", BLOCK, TRANSPOSE, "attn.w_q", NULL, "W_Q is transposed in the recording"),
    ROW("transposed", BLOCK, TRANSPOSE, "attn.w_k", NULL, "W_K is transposed in the recording"),
    ROW("transposed", BLOCK, TRANSPOSE, "attn.w_v", NULL, "W_V is transposed in the recording"),
    ROW("transposed", BLOCK, TRANSPOSE, "attn.w_o", NULL, "W_O is transposed in the recording"),
    ROW("transposed", BLOCK | WHOLE, TRANSPOSE, "attn.w_q attn.w_k attn.w_v", NULL,
        "W_Q, W_K and W_V are transposed in the recording"),
    ROW("transposed", BLOCK | WHOLE, TRANSPOSE, "attn.w_q attn.w_k attn.w_v attn.w_o", NULL,
        "the attention's weights are all transposed in the recording"),
    ROW("transposed", BLOCK, TRANSPOSE, "mlp.w_up", NULL, "the MLP's first weight is transposed in the recording"),
    ROW("transposed", BLOCK, TRANSPOSE, "mlp.w_down", NULL, "the MLP's second weight is transposed in the recording"),
    ROW("transposed", BLOCK, TRANSPOSE, "head.weight", NULL, "the classifier's weight is transposed in the recording"),
    FUNCTION("reshaped", BLOCK, trial_reshaped),
    FUNCTION("heads", BLOCK, trial_heads),
    FUNCTION("fused", TEXT, trial_fused_order),
    MORE("heads", TEXT | BLOCK | ALWAYS, EACH_EDGE, "attn.q attn.k attn.v", NULL,
         "the recording splits q, k and v into heads without a transpose: it reads the numbers of [t,(h e)] as [h,t,e]",
         .make = trial_make_untransposed),
    FUNCTION("merged", BLOCK, trial_merged),
    FUNCTION("count of heads", BLOCK, trial_head_counts),
    MORE("softmax", BLOCK, EACH, "attn.pattern", NULL,
         "the recording's softmax runs over the queries instead of the keys", .make = trial_make_other_axis),
    FUNCTION("mask", BLOCK, trial_mask),
    ROW("mask", BLOCK, BESIDE, "attn.scores_masked", "attn.scores_scaled",
        "the recording has no mask: tokens look at later ones"),
    FUNCTION("sinusoids", TEXT, trial_sinusoids),
    FUNCTION("shorter", 0, trial_shorter),
    MORE("residual", BLOCK, SECOND, SUMS_WORDS, NULL, "the recording leaves out the residual connection",
         .next = "resid_mid"),
    MORE("residual", BLOCK, FIRST, SUMS_WORDS, NULL, "the recording leaves out the sub-layer", .next = "resid_mid"),
    MORE("residual", BLOCK, SECOND, "resid_mid", NULL,
         "the recording leaves out the residual connection around attention", .next = "resid_mid"),
    MORE("residual", BLOCK, FIRST, "resid_mid", NULL, "the recording leaves out the sub-layer: attention",
         .next = "resid_mid"),
    MORE("residual", BLOCK, SECOND, "resid_cross", NULL,
         "the recording leaves out the residual connection around cross attention", .next = "resid_mid"),
    MORE("residual", BLOCK, FIRST, "resid_cross", NULL, "the recording leaves out the sub-layer: cross attention",
         .next = "resid_mid"),
    MORE("residual", BLOCK, SECOND, "resid_post", NULL,
         "the recording leaves out the residual connection around the MLP", .next = "resid_mid"),
    MORE("residual", BLOCK, FIRST, "resid_post", NULL, "the recording leaves out the sub-layer: the MLP",
         .next = "resid_mid"),
    MORE("residual", VIT, SECOND, "readout", NULL,
         "the recording leaves out the residual connection around the pooling's MLP", .next = "pool_mlp.out"),
    MORE("residual", VIT, FIRST, "readout", NULL, "the recording leaves out the pooling's MLP", .next = "pool_mlp.out"),
    FUNCTION("patches", VIT, trial_patches),
    FUNCTION("readout", VIT, trial_readout),
    ROW("final norm", 0, SKIP, "ln_final.out fc_norm.out rms_final.out rms_fc.out", NULL,
        "the recording has no final NORM"),
    ROW("kind of norm", BLOCK | NORMS, SET, LN_MEANS, NULL, "the recording has RMSNorm: the mean is not subtracted"),
    ROW("kind of norm", BLOCK | NORMS, SET, LN_MEANS " + " LN_BETAS, NULL,
        "the recording has RMSNorm without β: the mean is not subtracted"),
    ROW("kind of norm", BLOCK | NORMS, EXCHANGE, "gamma", "beta",
        "γ and β of LayerNorm are exchanged in the recording"),
    MORE("outside root", BLOCK | NORMS | ALWAYS, EACH, "rstd", NULL,
         "the recording adds ε to the standard deviation, outside the root, not to the variance",
         .make = trial_make_outside),
    MORE("outside root", BLOCK | NORMS | ALWAYS, EACH, "rrms", NULL,
         "the recording adds ε to the root mean square, outside the root, not to the mean square",
         .make = trial_make_outside),
    MORE("centred", BLOCK | RMS | NORMS | ALWAYS, EACH, "normalized", NULL,
         "the recording has LayerNorm: the mean is subtracted", .make = trial_make_centred),
    ROW("lost norm", BLOCK | VIT, SKIP, "ln_patch.out rms_patch.out", NULL,
        "the recording has no norm after the patch embedding"),
    ROW("lost norm", BLOCK | VIT, SKIP, "norm_pre.out rms_pre.out", NULL,
        "the recording has no norm before the first block"),
    ROW("lost norm", BLOCK | VIT, SKIP, "ln_merged.out rms_merged.out", NULL,
        "the recording has no norm inside attention"),
    ROW("lost norm", BLOCK | VIT, SKIP, "ln_hidden.out rms_hidden.out", NULL,
        "the recording has no norm inside the MLP"),
    ROW("lost norm", BLOCK | VIT, SKIP, "pool_norm.out", NULL, "the recording has no norm inside the pooling"),
    ROW("lost norm", TEXT, SKIP, "ln_transform.out", NULL, "the recording has no norm in front of the answer"),
    FUNCTION("lost norm", BLOCK | FIRST_NORM, trial_norms_lost),
    FUNCTION("order", 0, trial_order),
    MORE("positions", 0, SCALE, "pos_embed", NULL, "the recording adds the position embeddings twice", .value = 2),
    FUNCTION("positions", 0, trial_positions),
    FUNCTION("positions", TEXT, trial_other_positions),
    FUNCTION("class last", VIT, trial_class_last),
    FUNCTION("value", BLOCK, trial_value),
    MORE("source", BLOCK, EACH, "resid_post", "resid_pre",
         "the recording's residual connection around the MLP starts at the block's input, before attention",
         .make = trial_make_sum),
    MORE("source", BLOCK | FIRST_NORM, EACH_EDGE, "attn.v", NULL,
         "the recording computes v from the residual stream, before the NORM", .make = trial_make_unnormed),
    MORE("source", BLOCK | FIRST_NORM, EACH, "resid_mid", "ln1.out",
         "the recording's residual connection around attention starts after the NORM", .make = trial_make_sum),
    MORE("source", BLOCK | FIRST_NORM, EACH, "resid_post", "ln2.out",
         "the recording's residual connection around the MLP starts after the NORM", .make = trial_make_sum),
    MORE("source", VIT, EACH, "readout", "pool_norm.out",
         "the recording's residual connection around the pooling's MLP starts after the NORM", .make = trial_make_sum),
    ROW("turns", BLOCK, BESIDE, "attn.q_turned attn.k_turned", "attn.q attn.k",
        "the recording does not rotate q and k: its rotary positions are missing"),
    ROW("turns", BLOCK, BESIDE, "attn.q_turned", "attn.q", "the recording rotates k by its position and not q"),
    ROW("turns", BLOCK, BESIDE, "attn.k_turned", "attn.k", "the recording rotates q by its position and not k"),
    MORE("turns", BLOCK, EACH_EDGE, "attn.v", NULL, "the recording rotates v too, like k",
         .make = trial_make_rotated_value),
    FUNCTION("turns", TURNED, trial_rope),
    FUNCTION("fitted", VIT, trial_fitted),
    FUNCTION("turned picture", VIT, trial_turned),
    FUNCTION("dropout", 0, trial_dropout),
    FUNCTION("half", BLOCK, trial_half),
    FUNCTION("blocks", ALWAYS | DECIDED, trial_blocks),
    FUNCTION("twice", 0, trial_twice),
    FUNCTION("rounded", ALWAYS, trial_rounded),
    FUNCTION("quantised", ALWAYS, trial_quantised),
    FUNCTION("probabilities", 0, trial_probabilities),
    FUNCTION("rolled", 0, trial_rolled),
    FUNCTION("settings", TEXT, trial_settings),
    MORE("kind of norm", BLOCK | NORMS, EACH, "gamma", NULL, "the recording's NORM multiplies by 1 + γ, not by γ",
         .make = trial_make_other_stretch),
    MORE("kind of norm", BLOCK | NORMS, EACH, "gamma_plus", NULL, "the recording's NORM multiplies by γ, not by 1 + γ",
         .make = trial_make_other_stretch),
    FUNCTION("tiled", TEXT | BLOCK, trial_tiled),
    FUNCTION("permuted", TEXT | BLOCK, trial_permuted),
    FUNCTION("mask side", TEXT, trial_mask_side),
    FUNCTION("window", TEXT, trial_windows),
    FUNCTION("mask value", TEXT | BLOCK | ALWAYS, trial_mask_values),
    MORE("mask value", TEXT | BLOCK, EACH, "attn.pattern", NULL,
         "the recording sets the attention weights of later tokens to 0 after the softmax, not their scores to −∞ "
         "before it",
         .make = trial_make_masked_late),
    FUNCTION("turns", TEXT, trial_counted),
    FUNCTION("turns", TEXT | BLOCK, trial_keys_moved),
    FUNCTION("embeddings", TEXT, trial_embedding_scaled),
    ROW("lost norm", TEXT, SKIP, "ln_embed.out rms_embed.out", NULL, "the recording does not normalise the embeddings"),
    MORE("turns", TEXT, SCALE, "rope_sin rope_sin_local", NULL,
         "the recording rotates q and k in the opposite direction", .value = -1),
    MORE("activation", BLOCK, EACH_EDGE, "mlp.gate mlp.pre", NULL,
         "the recording applies the activation to the values, not to the gate", .make = trial_make_exchanged),
    MORE("head norm", TEXT | BLOCK, EACH, "rms_q.normalized rms_k.normalized", NULL,
         "the recording normalises q and k head by head, here over all heads together", .make = trial_make_each_head),
    ROW("head norm", TEXT | BLOCK, SKIP, "rms_q.out", NULL, "the recording does not normalise q"),
    ROW("head norm", TEXT | BLOCK, SKIP, "rms_k.out", NULL, "the recording does not normalise k"),
    MORE("memory", TEXT | BLOCK, EACH, "cross_attn.z", NULL,
         "the recording's cross-attention takes its keys and values from the decoder, not from the memory",
         .make = trial_make_own_memory),
    MORE("memory", TEXT | BLOCK, EACH, "cross_attn.z", "keys", TRIAL_OWN_KEYS, .make = trial_make_own_memory),
    FUNCTION("tied", TEXT, trial_tied),
    ROW("experts", TEXT | BLOCK, BESIDE, "mlp.weights", "mlp.picked",
        "the recording does not divide the weights of the chosen experts by their sum"),
    MORE("experts", TEXT | BLOCK, EACH, "mlp.weights", NULL,
         "the weights of the chosen experts add up to 1 in the recording: divided by their sum, or a softmax of the "
         "chosen alone",
         .make = trial_make_normalised),
    MORE("experts", TEXT | BLOCK, EACH, "mlp.weights", "less", "a token gets one expert less in the recording",
         .make = trial_make_chosen),
    MORE("experts", TEXT | BLOCK, EACH, "mlp.weights", "more", "a token gets one expert more in the recording",
         .make = trial_make_chosen),
    MORE("experts", TEXT | BLOCK, EACH, "mlp.weights", "text",
         "the recording's experts stand in the order of their numbers as text: 0, 1, 10, …, 2",
         .make = trial_make_moved),
    MORE("experts", TEXT | BLOCK, EACH, "mlp.weights", "next",
         "the experts are rolled in the recording: each is the one behind it", .make = trial_make_moved),
    MORE("experts", TEXT | BLOCK, EACH, "mlp.weights", "before",
         "the experts are rolled in the recording: each is the one before it", .make = trial_make_moved),
    MORE("missing", TEXT | BLOCK, SET, "mlp.shared.open", NULL,
         "the recording does not multiply the shared expert by its gate", .value = 1),
    ROW("missing", TEXT | BLOCK, SET, "mlp.shared.wrote", NULL, "the recording leaves out the shared expert"),
    FUNCTION("bias of places", TEXT, trial_slopes),
    FUNCTION("bias of places", TEXT, trial_ranges),
    FUNCTION("memory", TEXT, trial_memory),
    MORE("layer scale", BLOCK | VIT | WHOLE, EACH, "attn.layer_scale mlp.layer_scale", NULL,
         "the recording multiplies by the layer scale twice", .make = trial_make_squared),
    MORE("layer scale", BLOCK | VIT, EACH, "attn.layer_scale", NULL,
         "the recording multiplies by the layer scale twice behind attention", .make = trial_make_squared),
    MORE("layer scale", BLOCK | VIT, EACH, "mlp.layer_scale", NULL,
         "the recording multiplies by the layer scale twice behind the MLP", .make = trial_make_squared),
    ROW("layer scale", BLOCK | VIT, EXCHANGE, "attn.layer_scale", "mlp.layer_scale",
        "the layer scales of attention and MLP are exchanged in the recording"),
    MORE("layer scale", BLOCK | VIT, EACH, "resid_mid resid_post", NULL, SCALED_SUM, .make = trial_make_scaled_sum),
    MORE("layer scale", BLOCK | VIT, EACH, "attn.scaled_out mlp.scaled_out", NULL, SCALED_SUM,
         .make = trial_make_scaled_branch),
    FUNCTION("final norm", 0, trial_norm_twice),
    FUNCTION("factor", 0, trial_factor),
    FUNCTION("factor", BLOCK, trial_branch_factors),
    ROW("bias of places", BLOCK, BESIDE, "attn.scores_biased", "attn.scores_scaled",
        "the recording adds no relative position bias to the scores"),
    FUNCTION("bias of places", BLOCK | BIASED, trial_bias),
    FUNCTION("unit", 0, trial_unit),
    ROW("unit length", 0, BESIDE, "embedding_unit", "embedding",
        "the recording does not divide the embedding by its length"),
    MORE("unit length", 0, EACH, "embedding", NULL,
         "the recording divides the embedding by its length: it is embedding_unit here", .make = trial_make_unit),
    MORE("unit length", VIT, EACH, "readout", NULL, "the recording divides what it reads out by its length",
         .make = trial_make_unit),
    FUNCTION("dropped", 0, trial_dropped),
    FUNCTION("dropout", TEXT, trial_dropout_behind),
    FUNCTION("base", TEXT, trial_bases),
    FUNCTION("rope_scaling", TEXT, trial_scalings),
};
enum { COUNT = sizeof CAUSES / sizeof *CAUSES, NORMS_MOST = 8 };

/* --- how a row is tried --- */

const char *trial_word(const char **words, char out[TRIAL_WORD])
{
    *words += strspn(*words, " ");
    size_t n = strcspn(*words, " ");
    if (!n || n >= TRIAL_WORD)
        return NULL;
    memcpy(out, *words, n);
    out[n] = '\0';
    *words += n;
    return out;
}

/* Is everything in the stretch that reads the node before the target? What is recorded behind it, or behind the target,
 * and agrees has seen it as it is here. */
static bool only_here(const Trial *t, NodeId n)
{
    for (int i = 0; t->report && i < t->report->count; i++)
        if (t->report->row[i].tensor->node > n && t->report->row[i].tensor->node < t->target->node &&
            t->report->row[i].state == DIFF_BEGINS)
            return true;
    for (NodeId i = n + 1; i < t->target->node; i++) {
        const Node *node = graph_node(t->s->graph, i);
        for (int k = 0; k < op_inputs(node->op); k++)
            if (node->in[k] == n && !t->in[i] && !(node->flags & NODE_PROBE))
                return false;
    }
    for (int i = 0; t->report && i < t->report->count; i++) {
        const DiffRow *row = &t->report->row[i];
        const Node *node = graph_node(t->s->graph, row->tensor->node);
        for (int k = 0; row->tensor->node > t->target->node && k < op_inputs(node->op); k++)
            if (node->in[k] == n && row->state != DIFF_BEGINS)
                return false;
    }
    return true;
}

/* Does what is recorded of the same block agree with a node that is not recorded, of which it is made? */
static bool agrees_behind(const Trial *t, NodeId n)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, n)->path, *blocks = strstr(path, "blocks.");
    const size_t block = blocks ? (size_t)(blocks - path) + 7 + strcspn(blocks + 7, ".") + 1 : 0;
    bool *in = xcalloc((size_t)g->count, sizeof *in), agrees = false;
    for (int i = 0; t->report && block && i < t->report->count && !agrees; i++) {
        const DiffRow *row = &t->report->row[i];
        const NodeId at = row->tensor->node;
        if (row->state == DIFF_BEGINS || at <= n || at == t->target->node ||
            strncmp(graph_node(g, at)->path, path, block) != 0)
            continue;
        diff_segment(g, t->r, at, in);
        agrees = in[n];
    }
    free(in);
    return agrees;
}

/* Does a branch differ, as it is recorded, for a reason that is not known? It may hold the residual stream already. */
static bool holds_other(const Trial *t, NodeId branch)
{
    bool differs = false, known = false;
    for (int i = 0; t->report && i < t->report->count; i++)
        differs = differs || (t->report->row[i].tensor->node == branch && t->report->row[i].state == DIFF_BEGINS);
    for (int i = 0; differs && i < t->report->cause_count; i++)
        known = known || (t->report->cause[i].whole && t->report->row[t->report->cause[i].row].tensor->node == branch);
    return differs && !known;
}

static const float *transposed(Trial *t, const float *w, size_t side)
{
    float *out = arena_alloc(&t->arena, size_mul(size_mul(side, side), sizeof *out));
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++)
            out[i * side + j] = w[j * side + i];
    return out;
}

static void redirect(Trial *t, const char *path, NodeId other)
{
    if (other != NO_NODE)
        trial_add(t, EDIT_REDIRECT, path)->other = graph_node(t->s->graph, other)->path;
}

/* Node n, which ends in `word`, as the row has it. */
static void add_edit(Trial *t, const Cause *c, NodeId n, const char *word, const char *with)
{
    const Graph *g = t->s->graph;
    const Node *node = graph_node(g, n);
    size_t side = (size_t)t->size.width;
    const char *beside = arena_printf(&t->arena, "%.*s%s", (int)(strlen(node->path) - strlen(word)), node->path, with);
    NodeId other = graph_find(g, beside);
    switch (c->how) {
    case SET: trial_add(t, EDIT_SET, node->path)->value = (float)c->value; break;
    case SCALE: trial_add(t, EDIT_SCALE, node->path)->factor = (float)c->value; break;
    case BESIDE: redirect(t, node->path, trial_beside(t, node->path, with)); break;
    case SKIP:
        if (!agrees_behind(t, n))
            redirect(t, node->path, trial_norm_reads(t, node->path));
        break;
    case FIRST:
    case SECOND:
        if (node->op == OP_ADD && only_here(t, n) && !(c->how == SECOND && holds_other(t, node->in[1])))
            redirect(t, node->path, node->in[c->how == SECOND]);
        break;
    case TRANSPOSE:
        if (graph_cells(g, n) == side * side)
            trial_add(t, EDIT_VALUES, node->path)->data = transposed(t, run_need(t->s->run, n), side);
        break;
    case EXCHANGE:
        if (other == NO_NODE)
            break;
        trial_add(t, EDIT_VALUES, node->path)->data = run_need(t->s->run, other);
        trial_add(t, EDIT_VALUES, beside)->data = run_need(t->s->run, n);
        break;
    default: UNREACHABLE("a row without edits");
    }
}

/* " (all of blocks.3)" where the edits are in one block of several. */
static const char *where_all(Trial *t)
{
    const char *first = strstr(t->mistake[0].path, "blocks.");
    size_t n = first ? 7 + strspn(first + 7, "0123456789") + 1 : 0;
    for (int i = 1; i < t->mistake_count; i++) {
        const char *at = strstr(t->mistake[i].path, "blocks.");
        if (!first || !at || strncmp(first, at, n) != 0)
            return "";
    }
    return first && !t->only && t->size.layers > 1 ? arena_printf(&t->arena, " (all of %.*s)", (int)n - 1, first) : "";
}

static void attempt_edits(Trial *t, const Cause *c, const char *said)
{
    char word[TRIAL_WORD], with[TRIAL_WORD] = "";
    const char *on = c->on, *beside = c->with ? c->with : "";
    trial_begin(t);
    while (trial_word(&on, word)) {
        if (strcmp(word, "+") == 0 && !t->mistake_count)
            return;
        trial_word(&beside, with); /* the last goes with all that follow */
        for (NodeId n = trial_find(t, word, 0); n != NO_NODE; n = trial_find(t, word, n + 1))
            add_edit(t, c, n, word, with);
    }
    if (c->on == SUMS_WORDS && t->mistake_count < 2) /* one alone has a row that says which */
        return;
    if (c->on == SUMS_WORDS)
        said = arena_printf(&t->arena, "%s%s", said, where_all(t));
    trial_attempt(t, "%s", said);
}

/* Is each of them in the stretch? */
static bool has_all(const Trial *t, const char *words)
{
    for (char word[TRIAL_WORD]; trial_word(&words, word);)
        if (trial_find(t, word, 0) == NO_NODE)
            return false;
    return true;
}

/* Of words: one stack whose norms stand in front of attention and MLP, which follow one another. */
static bool plain_decoder(const Seq2seqConfig *c)
{
    return c->pre_norm && !c->after_norm && c->parallel == PARALLEL_NOT && !(c->encoder_layers && c->decoder_layers);
}

static bool suits(const Trial *t, unsigned needs)
{
    const VitConfig *c = t->s->config;
    return !((needs & VIT && !c) || (needs & TEXT && c) || (needs & RMS && !(c ? c->rms_norm : t->s->text->rms_norm)) ||
             (needs & TURNED && !(c && c->rope != VIT_ROPE_NONE)) ||
             (needs & BIASED && !(c && c->bias != VIT_BIAS_NONE)) || (t->only && !(needs & BLOCK)) ||
             (needs & ALWAYS && t->first_agrees) ||
             (needs & FIRST_NORM && (t->size.post_norm || (c ? c->branch_norm : !plain_decoder(t->s->text)))));
}

/* "missing:attn.b_v": the row's name, where it is made and with what; words are joined by commas, blanks by hyphens. */
static void put_id(const Cause *c, char out[80])
{
    const char *parts[] = {c->name, c->on, c->with, c->how == FIRST ? "first" : c->how == SECOND ? "second" : NULL};
    Buf b = {0};
    for (int i = 0; i < 4; i++) {
        if (i && parts[i])
            buf_putc(&b, ':');
        for (const char *s = parts[i]; s && *s; s++)
            buf_putc(&b, *s != ' ' ? *s : i ? ',' : '-');
    }
    utf8_print(out, 80, "%s", buf_str(&b));
    buf_free(&b);
}

static void attempt(Trial *t, const Cause *c)
{
    const char *norm = c->said ? strstr(c->said, "NORM") : NULL, *said = c->said;
    if (norm && norm[-1] == ' ')
        said = arena_printf(&t->arena, "%.*s%s%s", (int)(norm - said), said, trial_norm_word(t), norm + 4);
    t->next = c->next;
    if (!suits(t, c->needs) || (c->needs & WHOLE && !has_all(t, c->on)))
        return;
    put_id(c, t->id);
    t->decided = c->needs & DECIDED;
    if (c->how == OWN)
        c->own(t);
    else if (c->how == EACH || c->how == EACH_EDGE)
        trial_each(t, c->on, c->how == EACH_EDGE, c->make, c->with, said);
    else
        attempt_edits(t, c, said);
    t->decided = false;
}

/* The parts that have norms, or their weights: a block, or all where it is several, and each norm outside them. */
static int norms_apart(Trial *t, const char *out[NORMS_MOST])
{
    int count = 0;
    for (NodeId n = 0; n <= t->target->node; n++) {
        const char *path = graph_node(t->s->graph, n)->path, *at = strstr(path, "blocks."), *own = strrchr(path, '.');
        if (!t->in[n] || !(path_ends(path, "normalized") || path_ends(path, "gamma")) || !own)
            continue;
        const size_t stack = at ? (size_t)(at - path) + 7 : (size_t)(own - path) + 1,
                     part = at ? stack + strcspn(path + stack, ".") + 1 : stack;
        int k = 0;
        while (k < count && strncmp(out[k], path, stack) != 0)
            k++;
        if (k < count && strncmp(out[k], path, part) != 0)
            out[k] = arena_printf(&t->arena, "%.*s", (int)stack, path);
        else if (k == count && count < NORMS_MOST)
            out[count++] = arena_printf(&t->arena, "%.*s", (int)part, path);
    }
    return count;
}

/* Norms that are several modules: one of them, or those of the blocks, may have been left as they are here. */
static void attempt_norms(Trial *t, const Cause *c)
{
    const char *part[NORMS_MOST];
    if (!(c->needs & NORMS) || t->only || t->base || trial_close(t))
        return;
    int count = norms_apart(t, part);
    for (int i = 0; i < count && count > 1; i++) {
        t->only = part[i];
        attempt(t, c);
    }
    t->only = NULL;
}

/* --- all of them --- */

/* Operations that make a stretch long. */
static const double LONG = 1e9;

bool trial_long(const Trial *t)
{
    return t->flops > LONG;
}

/* A stretch so long that it is worth asking: of words that look back alone, is the first as it is here, where others
 * are clearly not? */
static bool first_agrees(Trial *t)
{
    static const double CLEARLY = 1000;
    const Seq2seqConfig *c = t->s->text;
    return trial_long(t) && c && c->decoder_layers && !c->encoder_layers && t->before.largest > CLEARLY * t->allowed &&
           trial_first_other(t) > 0;
}

void trial_family(Trial *t, const char *family)
{
    t->family = family;
    for (int i = 0; i < COUNT; i++)
        if (strcmp(CAUSES[i].name, family) == 0)
            attempt(t, &CAUSES[i]);
}

void trial_all(Trial *t, const char *what)
{
    if (!t->base && !t->only)
        t->first_agrees = first_agrees(t);
    for (int i = 0; i < COUNT && trial_going(t, what, (double)i / COUNT); i++) {
        ArenaMark mark = arena_mark(&t->arena);
        t->family = CAUSES[i].name;
        attempt(t, &CAUSES[i]);
        attempt_norms(t, &CAUSES[i]);
        if (t->base || t->only) /* nothing of it is kept */
            arena_rewind(&t->arena, mark);
        /* where the stretch is long another that would leave the same is not looked for */
        if (trial_long(t) && trial_solved(t))
            return;
    }
}
