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
    bool decoder;                     /* the stack being built */
    int layer;                        /* …its block */
    int block;                        /* …and the block's part, or NO_PART */
    NodeId memory;                    /* what cross-attention looks at, or NO_NODE */
    NodeId padding, causal, windowed; /* windowed: in blocks with a window, instead of the other two */
    NodeId bias[2];                   /* of the encoder's own scores [h,s,r], of the decoder's [h,t,u]; or NO_NODE */
    struct {
        NodeId cos, sin;
    } rope[2];     /* [t,e], of an encoder alone [s,e]; of blocks with a window the second, where it differs */
    int *partner;  /* [e] of a rotation */
    int *key_head; /* [h] where queries are grouped, else NULL */
    struct {
        int b, s, r, t, u, h, g, e, d, m, a, v, o; /* g: the heads of keys and values, h where there are as many */
        int source_rows, target_rows;              /* of learned position tables */
        int x, f, y;                               /* experts, hidden numbers of one, of the shared one */
        int w, p, q;                               /* width of a word's vector (d as a rule), of an answer's, pooled */
        int segments, classes;
        int distances[2]; /* of the encoder, of the decoder */
        int past, fresh;  /* with kept: the tokens before the last; the last */
    } axis;
} TextBuilder;

/* "encoder" or "decoder". */
const char *text_stack(const TextBuilder *b);
void text_axes(TextBuilder *b);
/* A role's weight for the block being built; no data where the model has none. */
NnWeight text_weight(const TextBuilder *b, Seq2seqRole r);
/* Words to tokens with places, in the stack being built; sets its input in nodes. */
NodeId text_embed(TextBuilder *b, Seq2seqNodes *nodes);
/* Sets padding and the masks where the model needs them. */
void text_masks(TextBuilder *b, Seq2seqNodes *nodes);
/* Sets what attentions read of where tokens are: rope or alibi. */
void text_places(TextBuilder *b);
/* Sets what the attentions of the stack being built add for the distance of two of its tokens. */
void text_distances(TextBuilder *b);
/* A part that is a norm: in the block being built, or in its stack where `block` is NO_PART. */
NodeId text_norm(TextBuilder *b, const char *inside, Seq2seqRole gamma, NodeId x);
/* Tokens to words; sets logits and probs. */
void text_answer(TextBuilder *b, NodeId tokens, Seq2seqNodes *nodes);
/* What an encoder alone says of a whole text: its vector, whether the second segment follows the first. */
void text_whole(TextBuilder *b, NodeId tokens);
#endif
