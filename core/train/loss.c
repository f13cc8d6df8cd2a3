#include "core/train/loss.h"

#include "core/graph/grad.h"
#include "core/train/descent.h"
#include "core/train/recipe.h"

static NodeId input(Graph *g, const char *name, Dims d, const float *zeros)
{
    return graph_leaf(g, name, d, (Leaf){LEAF_INPUT, zeros, name});
}

static int axis_of(const Graph *g, NodeId n, const char *sym)
{
    Dims d = graph_node(g, n)->dims;
    for (int i = 0; i < d.n; i++)
        if (g->axes[d.axis[i]].sym[0] == sym[0] && !g->axes[d.axis[i]].sym[1])
            return d.axis[i];
    UNREACHABLE("a model without that axis");
}

/* Σ over hidden patches of the squared differences between guess and truth. */
static NodeId guess_error(Graph *g, const VitNodes *nodes)
{
    NodeId hidden = graph_view(g, "guess_hidden", nodes->hidden,
                               DIMS(axis_of(g, nodes->guess, "b"), axis_of(g, nodes->guess, "y"),
                                    axis_of(g, nodes->guess, "x")));
    NodeId error = graph_zip(g, "guess_difference", OP_SUB, nodes->guess, nodes->image);
    NodeId counted = graph_zip(g, "guess_counted", OP_MUL, error, hidden);
    NodeId squares = graph_zip(g, "guess_squares", OP_MUL, counted, error);
    return graph_reduce(g, "guess_error", OP_SUM, squares, DIMS_SCALAR);
}

void loss_build(LossGraph *l, const VitConfig *c, const Weights *w, const float *zeros, bool masked)
{
    Graph *g = &l->graph;
    *l = (LossGraph){.guess_weight = NO_NODE, .guess_error = NO_NODE};
    graph_init(g);
    vit_build_batch(g, c, w, NULL, zeros, (VitBatch){MICRO_BATCH, masked ? zeros : NULL}, &l->nodes);
    graph_scope(g, "%s", "");
    Dims answers = graph_node(g, l->nodes.logits)->dims;
    int b = axis_of(g, l->nodes.logits, "b"), o = axis_of(g, l->nodes.logits, "o");
    l->target = input(g, "target", answers, zeros);
    l->class_weight = input(g, "class_weight", DIMS(b), zeros);
    l->each = grad_cross_entropy(g, l->nodes.logits, l->target, o);
    graph_scope(g, "%s", "");
    NodeId weighted = graph_zip(g, "loss_weighted", OP_MUL, l->each, l->class_weight);
    l->loss = graph_reduce(g, "loss_class", OP_SUM, weighted, DIMS_SCALAR);
    if (masked) {
        l->guess_weight = input(g, "guess_weight", DIMS_SCALAR, zeros);
        l->guess_error = guess_error(g, &l->nodes);
        NodeId part = graph_zip(g, "loss_guess", OP_MUL, l->guess_error, l->guess_weight);
        l->loss = graph_zip(g, "loss_all", OP_ADD, l->loss, part);
    }
    l->gradient = descent_gradients(g, l->loss, w->at, vit_weights_count(c));
}

void loss_free(LossGraph *l)
{
    graph_free(&l->graph);
}

size_t loss_zeros(const VitConfig *c)
{
    size_t image = size_mul(size_mul((size_t)c->image_h, (size_t)c->image_w), (size_t)c->channels);
    size_t answers = (size_t)c->classes, patches = (size_t)vit_patches(c);
    size_t most = image > answers ? image : answers;
    return size_mul(MICRO_BATCH, most > patches ? most : patches);
}
