/* A Vision Transformer a second time, by another route: the equations of vit.h's papers as loops over the weights, in
 * double, without a graph. It is what the graph is compared with: a bias in the wrong place, a norm left out or a
 * residual taken from elsewhere gives a graph whose arithmetic is right, cell by cell, and which computes another
 * model. Slow and plain on purpose. */
#ifndef VITRINE_MODELS_VIT_DIRECT_H
#define VITRINE_MODELS_VIT_DIRECT_H
#include "core/models/vit.h"

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
#endif
