/* The patch projection as pictures: every filter is a small patch of pixels, and so are their principal components, the
 * directions in which the filters differ most (Dosovitskiy et al. 2021, figure 7). */
#include "core/base/mem.h"
#include "core/models/probe_components.h"
#include "core/models/probe_parts.h"

typedef struct Search {
    LeafMaker maker;
    Components components;
} Search;

static bool make_components(void *context, int64_t deadline_ns)
{
    return components_make(context, deadline_ns);
}

static NodeId component_leaf(Probes *b, const float *filters, int k, Dims tile)
{
    Graph *g = b->g;
    int pixels = b->c->channels * b->c->patch_h * b->c->patch_w;
    size_t count = (size_t)g->axes[k].n;
    Search *s = arena_alloc(&g->arena, sizeof *s);
    float *out = arena_alloc(&g->arena, size_mul(size_mul(count, (size_t)pixels), sizeof *out));
    components_init(&s->components, &g->arena, filters, b->c->width, pixels, out);
    s->maker = (LeafMaker){.make = make_components, .context = &s->components};
    Dims dims = DIMS_SCALAR;
    dims.axis[dims.n++] = k;
    for (int i = 0; i < tile.n; i++)
        dims.axis[dims.n++] = tile.axis[i];
    NodeId n = graph_leaf(g, "components", dims, (Leaf){LEAF_HOST, out, "principal components of the filters"});
    graph_fill_later(g, n, &s->maker);
    return n;
}

/* Unit vectors at right angles have products 1 with themselves and 0 with each other: the largest difference from that.
 */
static void right_angles(Probes *b, NodeId components, NodeId seen, int k, int k0)
{
    Graph *g = b->g;
    int n = g->axes[k].n;
    float *unit = arena_alloc(&g->arena, size_mul(size_mul((size_t)n, (size_t)n), sizeof *unit));
    for (int i = 0; i < n; i++)
        unit[i * n + i] = 1;
    NodeId products = graph_contract(g, "products", components, seen, DIMS(k, k0));
    NodeId wanted = graph_leaf(g, "unit", DIMS(k, k0),
                               (Leaf){LEAF_CONST, unit, "1 for a component and itself, 0 for two"});
    NodeId error = graph_zip(g, "error", OP_SUB, products, wanted);
    NodeId worst = graph_reduce(g, "error_sq_max", OP_MAX, graph_zip(g, "error_sq", OP_MUL, error, error), DIMS_SCALAR);
    graph_map(g, "error_max", MAP_SQRT, worst);
}

void probe_filters(Probes *b)
{
    Graph *g = b->g;
    NodeId weight = graph_find(g, "patch_embed.weight");
    size_t pixels = size_mul(size_mul((size_t)b->c->channels, (size_t)b->c->patch_h), (size_t)b->c->patch_w);
    int d = b->axis.d, count = components_count((size_t)b->c->width, pixels);
    Dims tile = DIMS(b->axis.c, b->axis.i, b->axis.j);
    graph_scope(g, "patch_embed.probe");
    NodeId filters = graph_view(g, "filters", weight, graph_node(g, weight)->dims);
    if (count == 0)
        return;
    int k = graph_axis(g, (Axis){.sym = "k", .name = "principal component", .n = count, .role = ROLE_COMPONENT});
    int k0 = graph_axis(g, (Axis){.sym = "k0", .name = "component compared with", .n = count, .role = ROLE_COMPONENT});
    NodeId width = graph_const(g, "width", DIMS_SCALAR, (float)b->c->width);
    NodeId centred = probe_passing(g, graph_zip(g, "centred", OP_SUB, filters,
                                                probe_mean(g, "mean", filters, tile, width)));
    NodeId components = component_leaf(b, graph_node(g, weight)->leaf.data, k, tile);
    Dims other = dims_replace(graph_node(g, components)->dims, k, k0);
    NodeId seen = graph_view(g, "components_seen", components, other);
    NodeId projection = graph_contract(g, "projection", centred, components, DIMS(d, k));
    NodeId sq = probe_passing(g, graph_zip(g, "projection_sq", OP_MUL, projection, projection));
    NodeId sum = graph_reduce(g, "variance_sum", OP_SUM, sq, DIMS(k));
    graph_map(g, "singular", MAP_SQRT, sum);
    NodeId variance = graph_zip(g, "variance", OP_DIV, sum, width);
    NodeId all = probe_mean(g, "total", probe_passing(g, graph_zip(g, "centred_sq", OP_MUL, centred, centred)),
                            DIMS_SCALAR, width);
    graph_zip(g, "explained", OP_DIV, variance, all);
    NodeId projected = graph_view(g, "projection_seen", projection, DIMS(d, k0));
    graph_zip(g, "covariance", OP_DIV, graph_contract(g, "covariance_sum", projection, projected, DIMS(k, k0)), width);
    right_angles(b, components, seen, k, k0);
}
