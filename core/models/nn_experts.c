/* The MLP of a block that has several of them, and a router that chooses a few for every token. */
#include "core/models/nn.h"

/* The k largest of probs[t,x], one after the other: 1 where an expert is chosen. What was taken is −1 in what is left,
 * below every probability. */
static NodeId choose(Graph *g, const NnExperts *p, NodeId probs)
{
    Dims rows = nn_dims(p->batch, DIMS(p->t));
    NodeId left = probs, chosen = NO_NODE, taken = graph_const(g, "taken", DIMS_SCALAR, -1);
    for (int k = 0; k < p->chosen; k++) {
        NodeId best = graph_reduce(g, arena_printf(&g->arena, "best_%d", k), OP_MAX, left, rows);
        NodeId first = graph_first(g, arena_printf(&g->arena, "first_%d", k), left, best);
        bool last = k + 1 == p->chosen;
        graph_flag(g, first, NODE_DERIVED);
        chosen = k ? graph_zip(g, last ? "chosen" : arena_printf(&g->arena, "chosen_%d", k), OP_ADD, chosen, first)
                   : first;
        if (!last) {
            left = graph_where(g, arena_printf(&g->arena, "left_%d", k), first, taken, left);
            graph_flag(g, left, NODE_DERIVED);
        }
    }
    return p->chosen > 1 ? chosen : graph_view(g, "chosen", chosen, graph_node(g, chosen)->dims);
}

/* weights[t,x]: 0 where an expert is not chosen. */
static NodeId route(Graph *g, const NnExperts *p, NodeId x, int part)
{
    Dims each = nn_dims(p->batch, DIMS(p->t, p->x));
    NodeId router = graph_contract(g, "router", x, nn_weight(g, &p->w_router), each);
    NodeId probs = nn_softmax(g, router, p->x,
                              (SoftmaxNames){"router_max", "router_shifted", "router_exp", "router_sum",
                                             "router_probs"});
    NodeId chosen = choose(g, p, probs),
           weights = graph_zip(g, p->normalised ? "picked" : "weights", OP_MUL, probs, chosen);
    if (p->normalised) {
        NodeId sum = graph_reduce(g, "picked_sum", OP_SUM, weights, nn_dims(p->batch, DIMS(p->t)));
        weights = graph_zip(g, "weights", OP_DIV, weights, sum);
    }
    anatomy_note(g, part, SITE_ROUTER, router);
    anatomy_note(g, part, SITE_ROUTER_PROBS, probs);
    anatomy_note(g, part, SITE_EXPERTS_CHOSEN, chosen);
    anatomy_note(g, part, SITE_EXPERTS_WEIGHTS, weights);
    return weights;
}

/* act(x W_gate) · (x W_up), called SCOPE.post. */
static NodeId hidden(Graph *g, const char *scope, MapFn act, NodeId x, const NnWeight *w_gate, const NnWeight *w_up,
                     Dims out)
{
    Arena *a = &g->arena;
    NodeId pre = graph_contract(g, arena_printf(a, "%s.pre", scope), x, nn_weight(g, w_up), out);
    NodeId gate = graph_contract(g, arena_printf(a, "%s.gate", scope), x, nn_weight(g, w_gate), out);
    gate = graph_map(g, arena_printf(a, "%s.gate_post", scope), act, gate);
    return graph_zip(g, arena_printf(a, "%s.post", scope), OP_MUL, pre, gate);
}

static NodeId shared(Graph *g, const NnExperts *p, NodeId x)
{
    Dims wide = nn_dims(p->batch, DIMS(p->t, p->y)), out = nn_dims(p->batch, DIMS(p->t, p->d));
    NodeId post = hidden(g, "shared", p->act, x, &p->shared_gate, &p->shared_up, wide);
    NodeId said = graph_contract(g, "shared.out", post, nn_weight(g, &p->shared_down), out);
    NodeId score = graph_contract(g, "shared.score", x, nn_weight(g, &p->shared_open), nn_dims(p->batch, DIMS(p->t)));
    return graph_zip(g, "shared.wrote", OP_MUL, said, graph_map(g, "shared.open", MAP_SIGMOID, score));
}

NodeId nn_experts(Graph *g, const NnPlace *at, const NnExperts *p, NodeId x, int *part)
{
    *part = nn_part(g, PART_MLP, at);
    Dims out = nn_dims(p->batch, DIMS(p->t, p->d));
    bool more = nn_has(&p->shared_up);
    NodeId weights = route(g, p, x, *part);
    NodeId post = hidden(g, "experts", p->act, x, &p->w_gate, &p->w_up, nn_dims(p->batch, DIMS(p->t, p->x, p->f)));
    NodeId said = graph_contract(g, "experts.out", post, nn_weight(g, &p->w_down),
                                 nn_dims(p->batch, DIMS(p->t, p->x, p->d)));
    NodeId wrote = graph_zip(g, "experts.wrote", OP_MUL, said, weights);
    NodeId mixed = graph_reduce(g, more ? "routed" : "mixed", OP_SUM, wrote, out);
    if (more) {
        NodeId too = shared(g, p, x);
        mixed = graph_zip(g, "mixed", OP_ADD, mixed, too);
        anatomy_note(g, *part, SITE_SHARED_WROTE, too);
    }
    anatomy_note(g, *part, SITE_IN, x);
    anatomy_note(g, *part, SITE_EXPERTS_POST, post);
    anatomy_note(g, *part, SITE_EXPERTS_WROTE, wrote);
    anatomy_note(g, *part, SITE_EXPERTS_MIXED, mixed);
    anatomy_note(g, *part, SITE_OUT, mixed);
    return mixed;
}
