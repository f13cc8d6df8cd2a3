/* How far attention reaches: the mean distance between a patch and the patches that it looks at, in pixels (Dosovitskiy
 * et al. 2021, figure 7). The variant over patches alone: tokens without a place are left out, and what a row gives to
 * patches counts as all of it. */
#include "core/models/probe_parts.h"

typedef struct Side {
    const char *leaf, *seen, *steps, *steps_sq, *patch, *pixels, *pixels_sq;
} Side;

/* Squared distance along one side of the picture, in grid steps and in pixels. */
static NodeId along(Probes *b, Side s, bool down, NodeId *steps_sq)
{
    Graph *g = b->g;
    int n = vit_patches(b->c), cols = b->c->image_w / b->c->patch_w;
    float *place = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *place));
    for (int i = 0; i < n; i++)
        place[i] = (float)(down ? i / cols : i % cols);
    NodeId at = graph_leaf(g, s.leaf, DIMS(b->axis.p), (Leaf){LEAF_CONST, place, "the patch's place on the grid"});
    NodeId seen = graph_view(g, s.seen, at, DIMS(b->axis.p0));
    NodeId steps = probe_passing(g, graph_zip(g, s.steps, OP_SUB, at, seen));
    *steps_sq = probe_passing(g, graph_zip(g, s.steps_sq, OP_MUL, steps, steps));
    NodeId patch = graph_const(g, s.patch, DIMS_SCALAR, (float)(down ? b->c->patch_h : b->c->patch_w));
    NodeId pixels = probe_passing(g, graph_zip(g, s.pixels, OP_MUL, steps, patch));
    return probe_passing(g, graph_zip(g, s.pixels_sq, OP_MUL, pixels, pixels));
}

void probe_grid(Probes *b)
{
    Graph *g = b->g;
    Dims row = DIMS(b->axis.p);
    NodeId steps_y, steps_x;
    graph_scope(g, "grid.probe");
    NodeId y = along(b, (Side){"row", "row_seen", "rows_apart", "rows_sq", "patch_height", "down", "down_sq"}, true,
                     &steps_y);
    NodeId x = along(b, (Side){"col", "col_seen", "cols_apart", "cols_sq", "patch_width", "across", "across_sq"}, false,
                     &steps_x);
    b->steps_sq = probe_passing(g, graph_zip(g, "steps_sq", OP_ADD, steps_y, steps_x));
    NodeId sq = probe_passing(g, graph_zip(g, "distance_sq", OP_ADD, y, x));
    b->distance = probe_passing(g, graph_map(g, "distance", MAP_SQRT, sq));
    NodeId even = probe_mean(g, "even", b->distance, row, b->patches); /* a row that looks at all patches alike */
    probe_mean(g, "uniform", even, DIMS_SCALAR, b->patches);
    NodeId farthest = graph_reduce(g, "farthest", OP_MAX, b->distance, row);
    probe_mean(g, "maximal", farthest, DIMS_SCALAR, b->patches);
}

/* A row whose patches got nothing has no distance and does not count. */
void probe_distance(Probes *b, int layer)
{
    Graph *g = b->g;
    int h = b->axis.h, p = b->axis.p, p0 = b->axis.p0;
    Dims rows = DIMS(h, p);
    probe_scope(b, layer);
    NodeId asking = probe_patches(b, "patch_rows", b->block[layer].pattern, b->axis.t, p);
    NodeId weights = probe_patches(b, "patch_pattern", asking, b->axis.u, p0);
    NodeId mass = graph_reduce(g, "patch_mass", OP_SUM, weights, rows);
    NodeId far = graph_contract(g, "distance_weighted", weights, b->distance, rows);
    NodeId mean = graph_zip(g, "distance_quotient", OP_DIV, far, mass);
    NodeId row = graph_where(g, "distance_row", mass, mean, b->zero);
    NodeId counted = graph_reduce(g, "distance_rows", OP_SUM, graph_where(g, "distance_counted", mass, b->one, b->zero),
                                  DIMS(h));
    probe_mean(g, "distance", row, DIMS(h), counted);
}
