/* A text model a second time, by another route: the equations of Vaswani et al. 2017 as loops over the weights, in
 * double, without a graph; for the same reason as vit_direct.h. Whole texts, without padding. */
#ifndef VITRINE_MODELS_SEQ2SEQ_DIRECT_H
#define VITRINE_MODELS_SEQ2SEQ_DIRECT_H
#include "core/models/seq2seq.h"

/* From the words' numbers (whole numbers, as the graph holds them) to the tokens that a stack's first block gets,
 * x[n,d]. */
void seq2seq_direct_embed(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *word, int n, double *x);

/* What a block looks at besides its own tokens: what the encoder hands over, [n,d]; n 0: nothing. */
typedef struct Seq2seqDirectMemory {
    const double *x;
    int n;
} Seq2seqDirectMemory;
/* One block of a stack: x[n,d] as it goes in (of a graph's run), out[n,d] as it comes out. */
void seq2seq_direct_block(const Seq2seqConfig *c, const Weights *w, bool decoder, int layer, const float *x, int n,
                          Seq2seqDirectMemory memory, double *out);

/* What a stack hands over: x[n,d] behind its last block, normalised once more where the model does so. */
void seq2seq_direct_stack_out(const Seq2seqConfig *c, const Weights *w, bool decoder, const float *x, int n,
                              double *out);
/* From that to logits[n,words] and probs of the same shape. */
void seq2seq_direct_answer(const Seq2seqConfig *c, const Weights *w, const double *x, int n, double *logits,
                           double *probs);
#endif
