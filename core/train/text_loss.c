#include "core/train/text_loss.h"

#include <stdlib.h>

#include "core/graph/grad.h"
#include "core/train/descent.h"
#include "core/train/text_batch.h"

void text_loss_build(TextLoss *l, const Seq2seqConfig *c, const Weights *w, int length, bool gradients)
{
    Graph *g = &l->graph;
    Seq2seqBatch size = {TEXT_MICRO, length, length, NULL};
    *l = (TextLoss){.zeros = xcalloc(seq2seq_batch_zeros(c, size), sizeof(float))};
    size.zeros = l->zeros;
    graph_init(g);
    seq2seq_build_batch(g, c, w, size, &l->nodes);
    graph_scope(g, "%s", "");
    Dims d = graph_node(g, l->nodes.logits)->dims, places = DIMS(d.axis[0], d.axis[1]);
    l->answer = graph_leaf(g, "target", d, (Leaf){LEAF_INPUT, l->zeros, "the words that are right"});
    l->weight = graph_leaf(g, "word_weight", places, (Leaf){LEAF_INPUT, l->zeros, "what each word counts"});
    l->each = grad_cross_entropy(g, l->nodes.logits, l->answer, d.axis[2]);
    if (!gradients)
        return;
    graph_scope(g, "%s", "");
    NodeId weighted = graph_zip(g, "loss_weighted", OP_MUL, l->each, l->weight);
    NodeId loss = graph_reduce(g, "loss_all", OP_SUM, weighted, DIMS_SCALAR);
    l->gradient = descent_gradients(g, loss, w->at, seq2seq_weights_count(c));
}

void text_loss_free(TextLoss *l)
{
    graph_free(&l->graph);
    free(l->zeros);
    *l = (TextLoss){0};
}
