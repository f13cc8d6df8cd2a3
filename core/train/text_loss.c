#include "core/train/text_loss.h"

#include <stdlib.h>

#include "core/graph/grad.h"
#include "core/train/text_batch.h"

static void find_gradients(TextLoss *l, const Seq2seqConfig *c, const Seq2seqWeights *w, const NodeId *table,
                           NodeId count)
{
    size_t weights = seq2seq_weights_count(c);
    l->gradient = arena_alloc(&l->graph.arena, size_mul(weights, sizeof *l->gradient));
    for (size_t i = 0; i < weights; i++) {
        l->gradient[i] = NO_NODE;
        for (NodeId n = 0; n < count && w->at[i].data; n++) {
            const Node *node = graph_node(&l->graph, n);
            if (node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR && node->leaf.data == w->at[i].data)
                l->gradient[i] = table[n];
        }
    }
}

void text_loss_build(TextLoss *l, const Seq2seqConfig *c, const Seq2seqWeights *w, int length, bool gradients)
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
    NodeId *wanted = arena_alloc(&g->arena, size_mul((size_t)g->count, sizeof *wanted)), count = g->count;
    int weights = 0;
    for (NodeId n = 0; n < count; n++)
        if (graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_TENSOR)
            wanted[weights++] = n;
    const NodeId *table = grad_add(g, loss, grad_seed(g, loss, 0, "grad."), wanted, weights, "grad.");
    find_gradients(l, c, w, table, count);
}

void text_loss_free(TextLoss *l)
{
    graph_free(&l->graph);
    free(l->zeros);
    *l = (TextLoss){0};
}
