/* What a text model learns from, as a graph over a micro-batch of one length: the model, the loss and the gradient of
 * every weight. */
#ifndef VITRINE_TRAIN_TEXT_LOSS_H
#define VITRINE_TRAIN_TEXT_LOSS_H
#include "core/models/seq2seq.h"

/* loss = Σ_b,t weight[b,t] · cross entropy of the word at b,t with answer[b,t,v] */
typedef struct TextLoss {
    Graph graph;
    Seq2seqNodes nodes;
    NodeId answer, weight; /* inputs */
    NodeId each;           /* [b,t]: cross entropy of each word */
    NodeId *gradient;      /* [seq2seq_weights_count]: of each weight, NO_NODE where none passes */
    float *zeros;
} TextLoss;

/* weights must outlive the graph; plans give the inputs (plan_leaf). gradients false: the forward pass and the loss of
 * each word alone. */
void text_loss_build(TextLoss *l, const Seq2seqConfig *c, const Weights *w, int length, bool gradients);
void text_loss_free(TextLoss *l); /* zeroed allowed */
#endif
