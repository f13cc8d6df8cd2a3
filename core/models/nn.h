/* Parts that every Transformer is made of, whatever it reads and writes: a linear layer, LayerNorm and RMSNorm,
 * softmax, attention, the MLP. The Vision Transformer (vit.c) and the text models (seq2seq.c) are built from these, so
 * that one name means one computation everywhere. Each notes itself in the graph's anatomy. */
#ifndef VITRINE_MODELS_NN_H
#define VITRINE_MODELS_NN_H
#include "core/graph/anatomy.h"

/* A learned tensor that becomes a leaf where it is first needed. */
typedef struct NnWeight {
    char scope[48];   /* of the leaf, whatever scope is being filled: "decoder.blocks.2"; "" is the root */
    const char *name; /* after that scope: "self_attn.w_q" */
    Dims dims;
    const float *data; /* row-major in dims, not owned; NULL: it is stored otherwise, or the model has no such weight */
    const char *origin;
    LeafStore store;
} NnWeight;
bool nn_has(const NnWeight *w);
NodeId nn_weight(Graph *g, const NnWeight *w);

/* Where a part stands: its stack and block, the part around it, and the scope of its nodes. */
typedef struct NnPlace {
    const char *stack, *scope, *word; /* as in Part: "decoder", "decoder.blocks.0.cross_attn", "cross attention" */
    int block, parent;
} NnPlace;
/* Of a part of that block, or where `block` is NO_PART of the stack ("": the model has one); inside: its scope there.
 */
NnPlace nn_place(Graph *g, const char *stack, int block, const char *inside, const char *word);
void nn_block_scope(Graph *g, int block); /* sets the scope of a block's own nodes */
/* What a norm makes of a sub-layer's result, as what that sub-layer, `part`, gives. */
NodeId nn_added(Graph *g, int part, NodeId normed);
/* Adds the part to the anatomy and sets its scope. */
int nn_part(Graph *g, PartKind kind, const NnPlace *at);

/* d behind the batch's axis; batch AXIS_NONE: d itself. */
Dims nn_dims(int batch, Dims d);

/* name = x · W (+ bias), in the scope that is set: the sum alone is kept as name_nobias where a bias follows. */
NodeId nn_linear(Graph *g, const char *name, NodeId x, const NnWeight *w, const NnWeight *bias, Dims out);

typedef struct NnNorm {
    Dims over; /* the axes that are normalised, together */
    float eps;
    NnWeight gamma, beta; /* an RMSNorm has no beta, and a LayerNorm need not have one */
    bool rms;
    bool plus; /* it stretches by 1 + γ */
} NnNorm;
/* x normalised over some axes: (x − mean) / √(variance + ε), or x / √(mean of x² + ε), as nodes PREFIXsum … */
typedef struct NnMoments {
    const char *prefix, *out; /* out: what the result is called, NULL: PREFIXnormalized */
    Dims over;
    bool rms, passing;         /* passing: large and quickly made again, as analyses are */
    float epsilon;             /* read where eps is NO_NODE */
    NodeId width, eps, square; /* width and eps are made where they are NO_NODE; square is set: variance, mean square */
} NnMoments;
NodeId nn_moments(Graph *g, NnMoments *m, NodeId x);
/* LayerNorm over D numbers (Ba, Kiros and Hinton 2016): (x − mean) / √(variance + ε) · γ + β, with the variance divided
 * by D, not by D − 1. With rms RMSNorm (Zhang and Sennrich 2019): x / √(mean of x² + ε) · γ. */
NodeId nn_norm(Graph *g, const NnPlace *at, const NnNorm *n, NodeId x);
/* What a norm's scope is called: "ln1"; "rms1" of an RMSNorm, so that nothing that speaks of the one takes the other
 * for it. name: a LayerNorm's. */
const char *nn_norm_scope(const char *name, bool rms);

typedef struct SoftmaxNames {
    const char *max, *shifted, *exp, *sum, *out;
} SoftmaxNames;
/* exp(x − max) / Σ exp(x − max): the maximum changes nothing but keeps exp from overflowing. */
NodeId nn_softmax(Graph *g, NodeId x, int axis, SoftmaxNames name);

/* Keys and values that were computed before: those of the tokens before this one (past_axis), or all of them. */
typedef struct NnPast {
    const float *k, *v; /* [past, g, e], keys as they meet the queries: normalised and rotated */
    int axis;           /* of the tokens in k and v */
} NnPast;

/* cap · tanh(x / cap): no larger than cap, and nearly x where that is small (Gemma 2). Called `out`; on the way
 * NAME_over_cap and NAME_tanh. */
NodeId nn_capped(Graph *g, const char *name, const char *out, NodeId x, NodeId cap);

/* Rotary positions: queries and keys are rotated before they meet. cos and sin lie over the token that asks and the
 * width of a head; sin is negative for the first number of every pair. Or, where freqs is a node, they are made in each
 * attention: of the angles places[query,a] · freqs[a,block,h,k], for every head and pair k. */
typedef struct NnRope {
    NodeId cos, sin;
    const int *partner;         /* [e] the other number of the pair */
    NodeId freqs, places, sign; /* sign[e]: −1 for the first number of a pair, 1 for the second */
    int l, k;                   /* axes: block, pair */
    const int *pair;            /* [e] the pair of a number */
} NnRope;

/* Relative positions: bias[h,query,key], added to the scaled scores. Either a node, or rows of a table[h,w]. */
typedef struct NnBias {
    NodeId all;     /* NO_NODE: made in each attention, of … */
    NnWeight table; /* … this */
    int w, s;       /* axes: row of the table, pair of tokens (query by query) */
    const int *way; /* [s] the row of the table */
} NnBias;
/* name[h,query,key]; the rows taken from the table, one for every pair, are name_pairs[h,s]. */
NodeId nn_bias(Graph *g, const char *name, NodeId table, const NnBias *b, Dims out);

typedef struct NnAttention {
    int batch;               /* axis or AXIS_NONE */
    int query, key, h, e, d; /* axes: token that asks, token looked at, head, width of a head, model width */
    NnWeight w_q, b_q, w_k, b_k, w_v, b_v, w_o, b_o;
    int g;                         /* axis: heads of keys and values; h where every head has its own */
    const int *key_head;           /* [h] with another g: which of them each head reads; else NULL */
    const NnNorm *q_norm, *k_norm; /* of queries and keys, before they are rotated; NULL: none */
    const NnNorm *merged;          /* of what all heads gathered, before W_O; NULL: none */
    float scale;                   /* multiplied onto the scores */
    float clip;                    /* q, k and v go no farther from 0, as their linear layers give them; 0: no limit */
    float cap;                     /* soft cap of the scaled scores (nn_capped); 0: none */
    NnWeight sinks;                /* [h]: a learned score per head beside those of the keys, which softmax counts
                                      and nothing is read from; no data: none */
    NodeId mask;                   /* 1 where a token may be looked at, 0 where not; NO_NODE: all may be */
    const NnPast *past;            /* NULL: nothing was computed before */
    const NnBias *bias;            /* NULL: nothing is added to the scores */
    const NnRope *rope;            /* NULL: queries and keys meet as they are */
    int fresh; /* with past: the axis of the tokens whose keys are computed now; AXIS_NONE: none are */
} NnAttention;
/* softmax(q kᵀ / √d_k, masked) v for every head, then all heads together through W_O (Vaswani et al. 2017,
 * section 3.2). With a sink, a row's weights add up to 1 less exp(sink − m) / row_sum, m the largest of its scores and
 * the sink (OpenAI 2025, gpt-oss; Xiao et al. 2023, section 3.3). x: [query,d]; memory: [any axis of that length, d],
 * the same node in self-attention. *part: its part.
 * The keys that a cache keeps are `k`, or what becomes of them: nn_key_name. */
const char *nn_key_name(bool normed, bool rotated);
NodeId nn_attention(Graph *g, const NnPlace *at, const NnAttention *a, NodeId x, NodeId memory, int *part);

typedef struct NnMlp {
    int batch, t, m, d; /* axes: token, hidden width, model width */
    NnWeight w_up, b_up, w_down, b_down;
    NnWeight w_gate, b_gate; /* data NULL: no gate */
    const NnNorm *hidden;    /* of the hidden numbers; NULL: none */
    MapFn act;
} NnMlp;
/* act(x W_up + b) W_down + b; with a gate (act(x W_gate + b) · (x W_up + b)) W_down + b */
NodeId nn_mlp(Graph *g, const NnPlace *at, const NnMlp *p, NodeId x, int *part);

typedef struct NnExperts {
    int batch, t, x, f, y, d; /* axes: token, expert, hidden width of one, of the shared one, model width */
    int chosen;               /* experts that a token gets */
    NnWeight w_router;        /* [x,d] */
    NnWeight w_gate, w_up;    /* [x,f,d] */
    NnWeight w_down;          /* [x,d,f] */
    NnWeight shared_gate, shared_up, shared_down; /* of an expert that every token has; data NULL: there is none */
    NnWeight shared_open;                         /* [d]: that one counts times sigmoid(x · shared_open) */
    bool normalised;                              /* the weights of the chosen add up to 1 */
    MapFn act;
} NnExperts;
/* Σ over the chosen experts of p_x · MLP_x(x), p = softmax(x W_router) over all of them (Shazeer et al. 2017; Jiang et
 * al. 2024, "Mixtral of Experts"). The chosen are found one after the other: the largest p of those that are left, of
 * equal ones the first. All experts are computed for every token, so that what one that was not chosen would have said
 * can be seen; its weight is 0. */
NodeId nn_experts(Graph *g, const NnPlace *at, const NnExperts *p, NodeId x, int *part);

/* What LayerNorm and batch normalisation share: numbers shifted and scaled to mean 0 and variance 1 along one axis.
 * Along the model's width it is LayerNorm (Ba, Kiros and Hinton 2016), along tokens or pictures it is batch
 * normalisation with the batch's own statistics (Ioffe and Szegedy 2015).
 * (x − mean) / √(variance + eps) along `axis` of x, with the variance divided by the number of cells, not by one less.
 * Appends NAME.{width,sum,mean,centered,sq,sumsq,var,eps,var_eps,rstd} in the scope that is set, and NAME, which it
 * returns. */
NodeId graph_normalise(Graph *g, const char *name, NodeId x, int axis, float eps);
#endif
