/* The Transformer of Vaswani et al. 2017 as a graph: section 3.1 for the stacks, 3.2 for attention, 3.3 for the MLP. */
#include "core/models/seq2seq.h"

#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/seq2seq_build.h"

const char *text_stack(const TextBuilder *b)
{
    return b->decoder ? "decoder" : "encoder";
}

/* A sub-layer of a block: attention or MLP, the norm that goes with it, and the sum with what went in. */
typedef struct Sublayer {
    const char *scope, *word, *norm, *sum;
    Seq2seqRole first, gamma, after; /* its weights, in the order of the table; beta follows gamma */
    bool cross;
} Sublayer;
static const Sublayer ENCODER_SELF = {.scope = "self_attn",
                                      .word = "self-attention",
                                      .norm = "ln1",
                                      .sum = "resid_mid",
                                      .first = SEQ2SEQ_ENC_W_Q,
                                      .gamma = SEQ2SEQ_ENC_LN1_GAMMA},
                      ENCODER_MLP = {.scope = "mlp",
                                     .word = "MLP",
                                     .norm = "ln2",
                                     .sum = "resid_post",
                                     .first = SEQ2SEQ_ENC_W_UP,
                                     .gamma = SEQ2SEQ_ENC_LN2_GAMMA},
                      DECODER_SELF = {.scope = "self_attn",
                                      .word = "self-attention",
                                      .norm = "ln1",
                                      .sum = "resid_mid",
                                      .first = SEQ2SEQ_DEC_W_Q,
                                      .gamma = SEQ2SEQ_DEC_LN1_GAMMA,
                                      .after = SEQ2SEQ_DEC_AFTER1_GAMMA},
                      DECODER_CROSS = {.scope = "cross_attn",
                                       .word = "cross-attention",
                                       .norm = "ln2",
                                       .sum = "resid_cross",
                                       .first = SEQ2SEQ_CROSS_W_Q,
                                       .gamma = SEQ2SEQ_DEC_LN2_GAMMA,
                                       .cross = true},
                      DECODER_MLP = {.scope = "mlp",
                                     .word = "MLP",
                                     .norm = "ln3",
                                     .sum = "resid_post",
                                     .first = SEQ2SEQ_DEC_W_UP,
                                     .gamma = SEQ2SEQ_DEC_LN3_GAMMA},
                      /* a decoder alone has no attention between these two: its MLP's norm is the second */
    ALONE_MLP = {.scope = "mlp",
                 .word = "MLP",
                 .norm = "ln2",
                 .sum = "resid_post",
                 .first = SEQ2SEQ_DEC_W_UP,
                 .gamma = SEQ2SEQ_DEC_LN3_GAMMA,
                 .after = SEQ2SEQ_DEC_AFTER2_GAMMA};

static NnWeight next_weight(const TextBuilder *b, Seq2seqRole first, int k)
{
    return text_weight(b, (Seq2seqRole)((int)first + k));
}

static NnNorm norm_of(const TextBuilder *b, Dims over, Seq2seqRole gamma)
{
    const Seq2seqConfig *c = b->c;
    NnNorm n = {.over = over, .eps = c->eps, .gamma = text_weight(b, gamma), .rms = c->rms_norm, .plus = c->gamma_plus};
    return n;
}

/* Of queries and of keys. */
static void head_norms(const TextBuilder *b, NnNorm out[2])
{
    bool all = b->c->head_norm == HEAD_NORM_ALL;
    out[0] = norm_of(b, all ? DIMS(b->axis.h, b->axis.e) : DIMS(b->axis.e),
                     all ? SEQ2SEQ_DEC_Q_ALL : SEQ2SEQ_DEC_Q_EACH);
    out[1] = norm_of(b, all ? DIMS(b->axis.g, b->axis.e) : DIMS(b->axis.e),
                     all ? SEQ2SEQ_DEC_K_ALL : SEQ2SEQ_DEC_K_EACH);
}

/* The three uses of attention (section 3.2.3) differ in what is looked at and in the mask, in nothing else. */
static NodeId attend(TextBuilder *b, const Sublayer *s, NodeId x, int *part)
{
    NnPlace at = nn_place(b->g, text_stack(b), b->block, s->scope, s->word);
    Seq2seqRole w = s->first;
    const Seq2seqConfig *c = b->c;
    int query = b->decoder ? b->axis.t : b->axis.s;
    const bool cross = s->cross && !c->cross_own;
    bool self = !s->cross, windowed = self && seq2seq_windowed(c, b->layer);
    NnNorm norms[2];
    NnRope rope = {.cos = b->rope[windowed].cos, .sin = b->rope[windowed].sin, .partner = b->partner, .freqs = NO_NODE};
    NnBias bias = {.all = b->bias[b->decoder]};
    bool biased = bias.all != NO_NODE && !s->cross;
    if (self && c->head_norm)
        head_norms(b, norms);
    NnAttention a = {.batch = b->axis.b,
                     .query = query,
                     .key = cross || !b->decoder ? b->axis.r : b->axis.u,
                     .h = b->axis.h,
                     .g = self ? b->axis.g : b->axis.h,
                     .key_head = b->key_head,
                     .e = b->axis.e,
                     .d = b->axis.d,
                     .w_q = next_weight(b, w, 0),
                     .b_q = next_weight(b, w, 1),
                     .w_k = next_weight(b, w, 2),
                     .b_k = next_weight(b, w, 3),
                     .w_v = next_weight(b, w, 4),
                     .b_v = next_weight(b, w, 5),
                     .w_o = next_weight(b, w, 6),
                     .b_o = next_weight(b, w, 7),
                     .q_norm = self && c->head_norm ? &norms[0] : NULL,
                     .k_norm = self && c->head_norm ? &norms[1] : NULL,
                     .scale = c->scale,
                     .clip = c->clip,
                     .cap = c->score_cap,
                     .sinks = text_weight(b, SEQ2SEQ_DEC_SINKS),
                     .bias = biased ? &bias : NULL,
                     .rope = self && c->pos == SEQ2SEQ_POS_ROPE ? &rope : NULL,
                     .mask = windowed                  ? b->windowed
                             : !b->decoder || s->cross ? s->cross == cross ? b->padding : NO_NODE
                                                       : b->causal};
    NnPast past;
    if (b->decoder && b->kept) {
        const Seq2seqKept *k = &b->kept[b->layer];
        past = s->cross ? (NnPast){k->cross_k, k->cross_v, b->axis.r} : (NnPast){k->k, k->v, b->axis.past};
        a.past = &past;
        a.fresh = s->cross ? AXIS_NONE : b->axis.fresh;
    }
    return nn_attention(b->g, &at, &a, x, cross ? b->memory : x, part);
}

/* x + what sub-layer `part` gives, in the block. */
static NodeId add_residual(TextBuilder *b, const Sublayer *s, NodeId x, NodeId out, int part)
{
    nn_block_scope(b->g, b->block);
    NodeId sum = graph_zip(b->g, s->sum, OP_ADD, x, out);
    anatomy_note(b->g, part, SITE_SUM, sum);
    if (strcmp(s->scope, "mlp") == 0)
        anatomy_note(b->g, b->block, SITE_RESID_POST, sum);
    else if (!s->cross)
        anatomy_note(b->g, b->block, SITE_RESID_MID, sum);
    return sum;
}

static NodeId experts(TextBuilder *b, const NnPlace *at, NodeId x, int *part)
{
    const Seq2seqExperts *e = &b->c->experts;
    NnExperts p = {.batch = b->axis.b,
                   .t = b->axis.t,
                   .x = b->axis.x,
                   .f = b->axis.f,
                   .y = b->axis.y,
                   .d = b->axis.d,
                   .chosen = e->chosen,
                   .w_router = text_weight(b, SEQ2SEQ_ROUTER_W),
                   .w_gate = text_weight(b, SEQ2SEQ_EXPERT_W_GATE),
                   .w_up = text_weight(b, SEQ2SEQ_EXPERT_W_UP),
                   .w_down = text_weight(b, SEQ2SEQ_EXPERT_W_DOWN),
                   .shared_gate = text_weight(b, SEQ2SEQ_SHARED_W_GATE),
                   .shared_up = text_weight(b, SEQ2SEQ_SHARED_W_UP),
                   .shared_down = text_weight(b, SEQ2SEQ_SHARED_W_DOWN),
                   .shared_open = text_weight(b, SEQ2SEQ_SHARED_W_OPEN),
                   .normalised = e->normalised,
                   .act = b->c->act};
    return nn_experts(b->g, at, &p, x, part);
}

static NodeId mlp(TextBuilder *b, const Sublayer *s, NodeId x, int *part)
{
    NnPlace at = nn_place(b->g, text_stack(b), b->block, s->scope, s->word);
    if (b->decoder && seq2seq_has_experts(b->c, b->layer))
        return experts(b, &at, x, part);
    NnMlp p = {.batch = b->axis.b,
               .t = b->decoder ? b->axis.t : b->axis.s,
               .m = b->axis.m,
               .d = b->axis.d,
               .w_up = next_weight(b, s->first, 0),
               .b_up = next_weight(b, s->first, 1),
               .w_down = next_weight(b, s->first, 2),
               .b_down = next_weight(b, s->first, 3),
               .act = b->c->act};
    if (b->c->gated) {
        p.w_gate = text_weight(b, b->decoder ? SEQ2SEQ_DEC_W_GATE : SEQ2SEQ_ENC_W_GATE);
        p.b_gate = text_weight(b, b->decoder ? SEQ2SEQ_DEC_B_GATE : SEQ2SEQ_ENC_B_GATE);
    }
    return nn_mlp(b->g, &at, &p, x, part);
}

NodeId text_norm(TextBuilder *b, const char *inside, Seq2seqRole gamma, NodeId x)
{
    const char *word = nn_norm_scope(inside, b->c->rms_norm);
    NnPlace at = nn_place(b->g, text_stack(b), b->block, word, word);
    NnNorm n = norm_of(b, DIMS(gamma == SEQ2SEQ_SOURCE_NORM_GAMMA ? b->axis.w : b->axis.d), gamma);
    n.beta = next_weight(b, gamma, 1);
    return nn_norm(b->g, &at, &n, x);
}

/* What a norm makes of a sub-layer's result, as what that sub-layer gives. */
static NodeId normed_result(TextBuilder *b, const Sublayer *s, NodeId out, int part)
{
    bool mlp = s->after == SEQ2SEQ_DEC_AFTER2_GAMMA;
    NodeId normed = b->c->pre_norm ? text_norm(b, mlp ? "ln2_after" : "ln1_after", s->after, out)
                                   : text_norm(b, s->norm, s->gamma, out);
    return nn_added(b->g, part, normed);
}

/* What a sub-layer makes of what it reads, added to x. Post-norm, the paper's: LN(x + sublayer(x)). Pre-norm:
 * x + sublayer(LN(x)). With a norm behind the sub-layer: x + LN(sublayer(x)), x + LN(sublayer(LN(x))). */
static NodeId sublayer(TextBuilder *b, const Sublayer *s, NodeId x)
{
    int part;
    bool is_mlp = strcmp(s->scope, "mlp") == 0, normed = seq2seq_has_in(b->c, s->gamma, b->layer),
         behind = !b->c->pre_norm && !b->c->after_norm && normed;
    NodeId in = b->c->pre_norm && normed ? text_norm(b, s->norm, s->gamma, x) : x;
    NodeId out = is_mlp ? mlp(b, s, in, &part) : attend(b, s, in, &part);
    if (b->c->after_norm)
        out = normed_result(b, s, out, part);
    NodeId sum = add_residual(b, s, x, out, part);
    return behind ? text_norm(b, s->norm, s->gamma, sum) : sum;
}

/* x + attention(LN(x)) + MLP(LN′(x)), both of the block's input; LN′ is LN where the model has one norm. */
static NodeId side_by_side(TextBuilder *b, NodeId x)
{
    int part;
    const Sublayer *self = &DECODER_SELF, *then = &ALONE_MLP;
    NodeId in = text_norm(b, self->norm, self->gamma, x);
    NodeId out = attend(b, self, in, &part), mid = add_residual(b, self, x, out, part);
    if (b->c->parallel == PARALLEL_TWO_NORMS)
        in = text_norm(b, then->norm, then->gamma, x);
    out = mlp(b, then, in, &part);
    return add_residual(b, then, mid, out, part);
}

static NodeId sublayers(TextBuilder *b, NodeId x)
{
    if (!b->decoder)
        return sublayer(b, &ENCODER_MLP, sublayer(b, &ENCODER_SELF, x));
    if (b->c->parallel)
        return side_by_side(b, x);
    x = sublayer(b, &DECODER_SELF, x);
    if (b->memory == NO_NODE && !(b->kept && seq2seq_has_encoder(b->c)))
        return sublayer(b, &ALONE_MLP, x);
    return sublayer(b, &DECODER_MLP, sublayer(b, &DECODER_CROSS, x));
}

static NodeId block(TextBuilder *b, NodeId x)
{
    char scope[64];
    snprintf(scope, sizeof scope, "%s.blocks.%d", text_stack(b), b->layer);
    b->block = nn_part(b->g, PART_BLOCK,
                       &(NnPlace){.stack = text_stack(b), .scope = scope, .word = "block", .block = b->layer});
    x = graph_view(b->g, "resid_pre", x, graph_node(b->g, x)->dims);
    anatomy_note(b->g, b->block, SITE_RESID_PRE, x);
    x = sublayers(b, x);
    anatomy_note(b->g, b->block, SITE_BLOCK_OUT, x);
    graph_flag(b->g, x, NODE_CHECKPOINT);
    b->block = NO_PART;
    return x;
}

/* A stack from its words to its last tokens. */
static NodeId build_stack(TextBuilder *b, bool decoder, Seq2seqNodes *nodes)
{
    b->decoder = decoder;
    b->layer = 0;
    text_distances(b);
    NodeId x = text_embed(b, nodes);
    int layers = decoder ? b->c->decoder_layers : b->c->encoder_layers;
    for (b->layer = 0; b->layer < layers; b->layer++)
        x = block(b, x);
    b->layer = 0;
    if (b->c->final_norm) {
        x = text_norm(b, "ln_final", decoder ? SEQ2SEQ_TARGET_FINAL_GAMMA : SEQ2SEQ_SOURCE_FINAL_GAMMA, x);
        graph_flag(b->g, x, NODE_CHECKPOINT);
    }
    return x;
}

/* The answer to a text as long as is read on a screen stays when memory is short; a longer one's is large. */
enum { ANSWER_CELLS = 1 << 22 };

static void build(TextBuilder *b, const float *memory, Seq2seqNodes *out)
{
    Seq2seqNodes nodes = {NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE, NO_NODE};
    bool step = memory || b->kept;
    NodeId last = NO_NODE;
    b->memory = b->padding = b->causal = b->windowed = b->bias[0] = b->bias[1] = NO_NODE;
    b->block = NO_PART;
    anatomy_add(b->g, (Part){.kind = PART_MODEL, .word = "model", .block = NO_BLOCK, .parent = NO_PART});
    text_axes(b);
    text_masks(b, &nodes);
    text_places(b);
    if (memory && !b->kept) {
        graph_scope(b->g, "%s", "");
        nodes.memory = graph_leaf(b->g, "memory", DIMS(b->axis.s, b->axis.d),
                                  (Leaf){LEAF_RUN, memory, "the encoder's run"});
    } else if (!step && seq2seq_has_encoder(b->c))
        nodes.memory = last = build_stack(b, false, &nodes);
    b->memory = nodes.memory;
    if (seq2seq_has_decoder(b->c) && b->target.n)
        nodes.decoded = last = build_stack(b, true, &nodes);
    if (b->target.n || !seq2seq_has_decoder(b->c)) {
        text_answer(b, last, &nodes);
        text_whole(b, last);
        for (int i = 0; i < 2 && !b->c->wordless && graph_cells(b->g, nodes.logits) <= ANSWER_CELLS; i++)
            graph_flag(b->g, i ? nodes.probs : nodes.logits, NODE_CHECKPOINT);
    }
    if (out)
        *out = nodes;
}
_Static_assert(sizeof(Seq2seqNodes) == 7 * sizeof(NodeId), "a node more: it begins as NO_NODE in build()");

void seq2seq_build(Graph *g, const Seq2seqConfig *c, const Weights *w, const Seq2seqInput *in, Seq2seqNodes *nodes)
{
    REQUIRE(seq2seq_check_length(c, in->source.n, in->target.n, NULL));
    build(&(TextBuilder){.g = g,
                         .c = c,
                         .w = w,
                         .source = in->source,
                         .target = in->target,
                         .padding_in = in->padding,
                         .source_vocabulary = in->source_vocabulary,
                         .target_vocabulary = in->target_vocabulary},
          NULL, nodes);
}

void seq2seq_build_encoder(Graph *g, const Seq2seqConfig *c, const Weights *w, const Seq2seqInput *in,
                           Seq2seqNodes *nodes)
{
    REQUIRE(c->form == SEQ2SEQ_BOTH && seq2seq_check_length(c, in->source.n, 1, NULL));
    build(&(TextBuilder){.g = g,
                         .c = c,
                         .w = w,
                         .source = in->source,
                         .padding_in = in->padding,
                         .source_vocabulary = in->source_vocabulary},
          NULL, nodes);
}

size_t seq2seq_batch_zeros(const Seq2seqConfig *c, Seq2seqBatch b)
{
    size_t s = size_mul((size_t)b.source, (size_t)c->source_words),
           t = size_mul((size_t)b.target, (size_t)c->target_words);
    return size_mul((size_t)b.texts, s > t ? s : t);
}

void seq2seq_build_batch(Graph *g, const Seq2seqConfig *c, const Weights *w, Seq2seqBatch batch, Seq2seqNodes *nodes)
{
    REQUIRE(batch.texts >= 1 && seq2seq_check_length(c, batch.source, batch.target, NULL));
    build(&(TextBuilder){.g = g,
                         .c = c,
                         .w = w,
                         .source = {.n = batch.source},
                         .target = {.n = batch.target},
                         .texts = batch.texts,
                         .zeros = batch.zeros},
          NULL, nodes);
}

void seq2seq_build_step(Graph *g, const Seq2seqConfig *c, const Weights *w, const Seq2seqStep *step,
                        Seq2seqNodes *nodes)
{
    REQUIRE(seq2seq_has_decoder(c) && seq2seq_check_length(c, step->source.n, step->target.n, NULL));
    REQUIRE(!seq2seq_has_encoder(c) || step->memory || step->kept);
    build(&(TextBuilder){.g = g,
                         .c = c,
                         .w = w,
                         .source = step->source,
                         .target = step->target,
                         .padding_in = step->padding,
                         .kept = step->kept,
                         .target_vocabulary = step->target_vocabulary},
          step->memory, nodes);
}

Seq2seqTexts seq2seq_attention_texts(int encoder_layers, int number)
{
    int own = number - encoder_layers;
    return (Seq2seqTexts){.target_queries = own >= 0, .target_keys = own >= 0 && own % 2 == 0};
}
