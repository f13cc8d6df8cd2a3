/* The models a second time, by another route: the equations of their papers as loops over the weights, in double,
 * without a graph. It is what the graph is compared with: a bias in the wrong place, a norm left out or a residual
 * taken from elsewhere gives a graph whose arithmetic is right, cell by cell, and which computes another model. Slow
 * and plain on purpose. */
#ifndef VITRINE_MODELS_DIRECT_H
#define VITRINE_MODELS_DIRECT_H
#include <stdbool.h>
#include <stddef.h>

#include "core/models/seq2seq.h"
#include "core/models/vit.h"

/* --- what both are made of --- */

double *direct_zeros(size_t a, size_t b); /* [a,b], to be freed */
/* out[n] = x[n] */
void direct_widen(const float *x, size_t n, double *out);
/* y[n,outputs] = x[n,inputs] · W[outputs,inputs]ᵀ + b[outputs]; b may be NULL. */
void direct_linear(const WeightTensor *w, const float *b, const double *x, size_t n, size_t inputs, double *y,
                   size_t outputs);
/* (x − mean) / √(variance + ε) · γ + β of each of n rows of d numbers. rms: no mean is taken off and β may be NULL. y
 * may be x. */
void direct_norm(const float *gamma, const float *beta, bool rms, double eps, const double *x, size_t n, size_t d,
                 double *y);
void direct_softmax(double *x, size_t n); /* in place */

/* What attention looks at: k[n,h,e] and v[n,h,e] of the first n tokens. */
typedef struct DirectSeen {
    size_t heads, width, n; /* width: e */
    const double *k, *v;
    double scale;
    double cap;        /* cap · tanh(score / cap), before the bias; 0: none */
    const float *sink; /* [heads] one more score of every row, without a value; NULL: none */
} DirectSeen;
/* z[h,e] = softmax(q kᵀ · scale + bias) v, head by head; bias(of, head, u) may be NULL. */
void direct_attend(const DirectSeen *s, const double *q, double (*bias)(const void *of, size_t head, size_t u),
                   const void *of, double *z);

/* An MLP; what is NULL it has not. gamma, beta: of a norm over the hidden numbers. */
typedef struct DirectMlp {
    MapFn act;
    size_t width, hidden;
    const WeightTensor *up, *gate, *down;
    const float *up_bias, *gate_bias, *down_bias, *gamma, *beta;
    bool rms; /* as direct_norm */
    double eps;
} DirectMlp;
/* y[n,width] = act(x W_up + b) W_down + b, or with a gate (act(x W_gate + b) · (x W_up + b)) W_down + b. */
void direct_mlp(const DirectMlp *p, const double *x, size_t n, double *y);

/* --- a Vision Transformer: the equations of vit.h's papers --- */

/* From the input (as vit_build takes it) to the tokens that the first block gets, z[t,d] (behind norm_pre). */
void vit_direct_embed(const VitConfig *c, const Weights *w, const float *input, double *z);

/* What all tokens of a block share: its normalised input, its keys and values. */
typedef struct VitDirectBlock {
    const VitConfig *c;
    const Weights *w;
    int layer;
    const float *z;       /* [t,d] the block's input */
    double *seen, *k, *v; /* [t,d] what attention looks at; [t,h,e] */
} VitDirectBlock;
VitDirectBlock vit_direct_block(const VitConfig *c, const Weights *w, int layer, const float *z);
void vit_direct_block_free(VitDirectBlock *b);
/* Keys and values of token t: all of them before the first vit_direct_token. Any thread, each t by one. */
void vit_direct_keys(VitDirectBlock *b, int t);
/* out[d]: token t behind the block. Any thread. */
void vit_direct_token(const VitDirectBlock *b, int t, double *out);

/* From the tokens behind the last block, z[t,d], to logits[o] and probs[o]; nothing where the model has no classes. */
void vit_direct_answer(const VitConfig *c, const Weights *w, const float *z, double *logits, double *probs);
/* …and to the embedding, where the model ends with one: out[project], or as wide as the read-out. */
void vit_direct_embedding(const VitConfig *c, const Weights *w, const float *z, double *out);

/* --- a text model: the equations of Vaswani et al. 2017; whole texts, without padding --- */

/* From the words' numbers (whole numbers, as the graph holds them) to the tokens that a stack's first block gets,
 * x[n,d]; segment[n] as in Seq2seqText. */
void seq2seq_direct_embed(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *word, const int *segment,
                          int n, double *x);

/* What a block looks at besides its own tokens: what the encoder hands over, [n,d]; n 0: nothing. */
typedef struct Seq2seqDirectMemory {
    const double *x;
    int n;
} Seq2seqDirectMemory;
/* One block of a stack: x[n,d] as it goes in (of a graph's run), out[n,d] as it comes out. chosen[n,experts] or NULL:
 * the experts that the graph chose, taken where probabilities differ by less than the graph's rounding, so that either
 * choice is right. */
void seq2seq_direct_block(const Seq2seqConfig *c, const Weights *w, bool decoder, int layer, const float *x, int n,
                          Seq2seqDirectMemory memory, const float *chosen, double *out);

/* What a stack hands over: x[n,d] behind its last block, normalised once more where the model does so. */
void seq2seq_direct_stack_out(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *x, int n,
                              double *out);
/* …and to the vector of the whole text, out[d], where the model has one. */
void seq2seq_direct_sentence(const Seq2seqConfig *c, const double *x, int n, double *out);
/* From that to logits[n,words] and probs of the same shape. */
void seq2seq_direct_answer(const Seq2seqConfig *c, const Weights *w, const double *x, int n, double *logits,
                           double *probs);
#endif
