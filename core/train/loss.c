#include "core/train/loss.h"

#include "core/graph/grad.h"
#include "core/train/descent.h"

/* Cells that inputs may point at: the largest of them. */
static size_t most_cells(const VitConfig *c)
{
    size_t image = vit_values(c);
    size_t answers = (size_t)c->classes, patches = (size_t)vit_patches(c);
    size_t most = image > answers ? image : answers;
    return size_mul(MICRO_BATCH, most > patches ? most : patches);
}

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

void loss_build(TaskGraph *l, const VitConfig *c, const Weights *w, bool masked)
{
    Graph *g = &l->graph;
    VitNodes nodes;
    float *zeros = xcalloc(most_cells(c), sizeof *zeros);
    *l = (TaskGraph){.zeros = zeros, .guess_error = NO_NODE};
    graph_init(g);
    vit_build_batch(g, c, w, NULL, zeros, (VitBatch){MICRO_BATCH, masked ? zeros : NULL}, &nodes);
    graph_scope(g, "%s", "");
    l->logits = nodes.logits;
    l->input[LOSS_PIXELS] = nodes.input;
    l->input[LOSS_HIDDEN] = nodes.hidden;
    l->input[LOSS_GUESS_WEIGHT] = NO_NODE;
    Dims answers = graph_node(g, nodes.logits)->dims;
    int b = axis_of(g, nodes.logits, "b"), o = axis_of(g, nodes.logits, "o");
    l->input[LOSS_TARGET] = input(g, "target", answers, zeros);
    l->input[LOSS_CLASS_WEIGHT] = input(g, "class_weight", DIMS(b), zeros);
    l->each = grad_cross_entropy(g, nodes.logits, l->input[LOSS_TARGET], o);
    graph_scope(g, "%s", "");
    NodeId weighted = graph_zip(g, "loss_weighted", OP_MUL, l->each, l->input[LOSS_CLASS_WEIGHT]);
    l->loss = graph_reduce(g, "loss_class", OP_SUM, weighted, DIMS_SCALAR);
    if (masked) {
        NodeId weight = l->input[LOSS_GUESS_WEIGHT] = input(g, "guess_weight", DIMS_SCALAR, zeros);
        l->guess_error = guess_error(g, &nodes);
        l->loss = graph_zip(g, "loss_all", OP_ADD, l->loss, graph_zip(g, "loss_guess", OP_MUL, l->guess_error, weight));
    }
    l->gradient = descent_gradients(g, l->loss, w->at, vit_weights_count(c));
}
