/* Inside core/models only: a text model being built. seq2seq.c has the stacks, seq2seq_embed.c the axes, what leads
 * from words to tokens, and what leads from tokens to words. */
#ifndef VITRINE_MODELS_SEQ2SEQ_BUILD_H
#define VITRINE_MODELS_SEQ2SEQ_BUILD_H
#include "core/models/nn.h"
#include "core/models/seq2seq.h"

typedef struct TextBuilder {
    Graph *g;
    const Seq2seqConfig *c;
    const Weights *w;
    Seq2seqText source, target;
    int texts;               /* of a batch; 0: one text, and no axis b */
    const float *zeros;      /* of a batch: where its inputs point until a plan says otherwise */
    const float *padding_in; /* or NULL */
    const Seq2seqKept *kept; /* or NULL: nothing was computed before */
    const char *const *source_vocabulary, *const *target_vocabulary;
    bool decoder;  /* the stack being built */
    int layer;     /* …its block */
    int block;     /* …and the block's part, or NO_PART */
    NodeId memory; /* what cross-attention looks at, or NO_NODE */
    NodeId padding, causal;
    struct {
        int b, s, r, t, u, h, e, d, m, a, v, o;
        int source_rows, target_rows; /* of learned position tables */
        int past, fresh;              /* with kept: the tokens before the last; the last */
    } axis;
} TextBuilder;

/* "encoder" or "decoder". */
const char *text_stack(const TextBuilder *b);
void text_axes(TextBuilder *b);
/* A role's weight for the block being built; no data where the model has none. */
NnWeight text_weight(const TextBuilder *b, Seq2seqRole r);
/* Words to tokens with places, in the stack being built; sets its input in nodes. */
NodeId text_embed(TextBuilder *b, Seq2seqNodes *nodes);
/* Sets padding and causal where the model needs them. */
void text_masks(TextBuilder *b, Seq2seqNodes *nodes);
/* Tokens to words; sets logits and probs. */
void text_answer(TextBuilder *b, NodeId tokens, Seq2seqNodes *nodes);
#endif
