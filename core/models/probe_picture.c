/* What the model made of the picture: where it looked, what it guesses of hidden patches, and how far the picture lies
 * from those that it learned from. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/models/probe_parts.h"
#include "core/models/probes.h"

/* Maps of one number per patch, and how much of each lies on the object where its place is known. */

/* The last block's attention of the token that the answer is read from, over the patches; where the answer is read from
 * the patches' mean, the mean of their rows. */
void probe_where(Probes *b)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    NodeId pattern = b->block[c->layers - 1].pattern, row;
    graph_scope(g, "where");
    if (vit_reads_class(c))
        row = graph_slice(g, "attention_row", pattern, b->axis.t, 0, AXIS_NONE);
    else {
        NodeId rows = probe_patches(b->g, "attention_rows", pattern, b->axis.t, b->axis.p);
        row = probe_mean(g, "attention_row", rows, DIMS(b->axis.h, b->axis.u), b->patches);
    }
    NodeId heads = probe_patches(b->g, "attention", row, b->axis.u, b->axis.p);
    probe_mean(g, "attention_mean", heads, DIMS(b->axis.p), graph_const(g, "heads", DIMS_SCALAR, (float)c->heads));
    if (b->nodes->logits != NO_NODE)
        graph_reduce(g, "answer", OP_MAX, b->nodes->logits, DIMS_SCALAR);
}

/* NAME: Σ over the object's patches of x[…,p], divided by Σ over all. */
static void mass(Graph *g, const char *const name[4], NodeId x, NodeId object, int p)
{
    Dims rest = dims_minus(graph_node(g, x)->dims, DIMS(p));
    NodeId on = graph_reduce(g, name[1], OP_SUM, graph_zip(g, name[0], OP_MUL, x, object), rest);
    graph_zip(g, name[3], OP_DIV, on, graph_reduce(g, name[2], OP_SUM, x, rest));
}

void probes_object_add(Graph *g, const float *object)
{
    static const struct {
        const char *path, *name[4];
    } MAPS[] = {
        {"rollout.patches", {"rollout_on", "rollout_on_sum", "rollout_all_sum", "rollout_mass"}},
        {"where.attention_mean", {"mean_on", "mean_on_sum", "mean_all_sum", "mean_mass"}},
        {"where.attention", {"head_on", "head_on_sum", "head_all_sum", "head_mass"}},
    };
    NodeId first = g->count;
    int p = graph_axis_find(g, "p");
    size_t patches = (size_t)g->axes[p].n;
    float *copy = arena_alloc(&g->arena, size_mul(patches, sizeof *copy));
    memcpy(copy, object, patches * sizeof *copy);
    graph_scope(g, "where");
    NodeId leaf = graph_leaf(g, "object", DIMS(p), (Leaf){LEAF_HOST, copy, "where the object was drawn"});
    NodeId count = graph_reduce(g, "object_count", OP_SUM, leaf, DIMS_SCALAR);
    graph_zip(g, "object_share", OP_DIV, count, graph_const(g, "patches", DIMS_SCALAR, (float)patches));
    for (size_t i = 0; i < sizeof MAPS / sizeof *MAPS; i++)
        mass(g, MAPS[i].name, probe_existing(g, MAPS[i].path), leaf, p);
    probe_end(g, first, NODE_PROBE);
}

/* Gradient × input over the picture, where the gradients reach it. */
static void gradient_map(Graph *g)
{
    static const char *const NAMES[] = {"gradient_on", "gradient_on_sum", "gradient_all_sum", "gradient_mass"};
    NodeId image = graph_find(g, "image"), gradient = graph_find(g, "grad.image"),
           object = graph_find(g, "where.object");
    int p = graph_axis_find(g, "p");
    if (gradient == NO_NODE || image == NO_NODE)
        return;
    graph_scope(g, "where");
    NodeId product = graph_zip(g, "gradient_product", OP_MUL, gradient, image);
    NodeId grid = graph_reduce(g, "gradient_grid", OP_SUM, product,
                               DIMS(graph_axis_find(g, "y"), graph_axis_find(g, "x")));
    NodeId map = graph_view(g, "gradient", grid, DIMS(p));
    if (object != NO_NODE)
        mass(g, NAMES, graph_map(g, "gradient_for", MAP_RELU, map), object, p);
}

void probes_gradient_add(Graph *g)
{
    NodeId first = g->count;
    gradient_map(g);
    probe_text_gradient(g);
    probe_gradient_through(g);
    probe_end(g, first, NODE_PROBE | NODE_DERIVED);
}

/* What the reconstruction head guesses, as a picture that can be put beside the picture, and how far off it is. Errors
 * are mean squares of standardised values, which is what the head learned to keep small; beside them stands what a
 * guess of 0, the mean colour, would cost. */

/* The way from pixels to `image` gone backwards: guess.pixels, 0 … 255 where the guess is a colour at all. */
static void guess_pixels(Probes *b)
{
    Graph *g = b->g;
    NodeId unit = NO_NODE, guess = b->nodes->guess;
    if (b->c->input == VIT_INPUT_READY) /* nobody knows what its values were before */
        return;
    if (b->c->input == VIT_INPUT_PER_IMAGE) {
        NodeId wide = probe_passing(g, graph_zip(g, "centered", OP_MUL, guess, probe_existing(g, "image_rms")));
        NodeId sign = probe_passing(g, graph_zip(g, "signed", OP_ADD, wide, probe_existing(g, "image_mean")));
        NodeId doubled = probe_passing(g, graph_zip(g, "doubled", OP_ADD, sign, b->one));
        unit = graph_zip(g, "unit", OP_DIV, doubled, b->two);
    } else {
        NodeId wide = probe_passing(g, graph_zip(g, "centered", OP_MUL, guess, probe_existing(g, "pixel_std")));
        unit = graph_zip(g, "unit", OP_ADD, wide, probe_existing(g, "pixel_mean"));
    }
    graph_zip(g, "pixels", OP_MUL, probe_passing(g, unit), probe_existing(g, "pixel_range"));
}

/* NAME[p]: the mean over a patch's values of what `sq`[c,y,i,x,j] has, by way of NAME_sum and NAME_grid. */
static NodeId patch_mean(Probes *b, const char *sum, const char *grid, const char *name, NodeId sq, NodeId count)
{
    Graph *g = b->g;
    NodeId total = graph_reduce(g, sum, OP_SUM, probe_passing(g, sq), DIMS(b->axis.y, b->axis.x));
    return graph_view(g, name, graph_zip(g, grid, OP_DIV, total, count), DIMS(b->axis.p));
}

/* hidden[p]: 1 where the token of a patch is the mask token, 0 where it is the patch's own. Read from the tokens
 * themselves, so that it is true whatever edit put the mask token there. */
static NodeId hidden_patches(Probes *b)
{
    Graph *g = b->g;
    NodeId apart = probe_passing(g, graph_zip(g, "mask_apart", OP_SUB, b->nodes->patch_embed,
                                              probe_existing(g, vit_role_name(VIT_MASK_TOKEN))));
    NodeId sq = probe_passing(g, graph_zip(g, "mask_apart_sq", OP_MUL, apart, apart));
    NodeId distance = graph_reduce(g, "mask_distance", OP_SUM, sq, DIMS(b->axis.p));
    return graph_where(g, "hidden", distance, b->zero, b->one);
}

void probe_guess(Probes *b)
{
    Graph *g = b->g;
    const VitConfig *c = b->c;
    if (b->nodes->guess == NO_NODE)
        return;
    graph_scope(g, "guess");
    guess_pixels(b);
    NodeId image = b->nodes->image,
           count = graph_const(g, "values", DIMS_SCALAR, (float)c->channels * (float)c->patch_h * (float)c->patch_w);
    NodeId apart = probe_passing(g, graph_zip(g, "difference", OP_SUB, b->nodes->guess, image));
    NodeId error = patch_mean(b, "error_sum", "error_grid", "error",
                              graph_zip(g, "difference_sq", OP_MUL, apart, apart), count);
    NodeId flat = patch_mean(b, "flat_sum", "flat_grid", "flat", graph_zip(g, "image_sq", OP_MUL, image, image), count);
    if (!c->mask_token)
        return;
    NodeId hidden = hidden_patches(b), many = graph_reduce(g, "hidden_count", OP_SUM, hidden, DIMS_SCALAR);
    probe_mean(g, "hidden_error_mean", graph_where(g, "hidden_error", hidden, error, b->zero), DIMS_SCALAR, many);
    probe_mean(g, "hidden_flat_mean", graph_where(g, "hidden_flat", hidden, flat, b->zero), DIMS_SCALAR, many);
}

/* How far a picture lies from those that the model learned from: the mean of the patches behind one block, less what it
 * is on the average, in the metric of its covariance there (Mahalanobis 1936; for what networks have not seen Lee et
 * al. 2018, "A Simple Unified Framework for Detecting Out-of-Distribution Samples and Adversarial Attacks"). */

static NodeId block_out(const Graph *g, int block)
{
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_BLOCK)) != NO_PART;)
        if (anatomy_part(g, part)->block == block)
            return site_node(g, part, SITE_BLOCK_OUT);
    return NO_NODE;
}

void probes_seen_add(Graph *g, const ModelSeen *seen)
{
    NodeId first = g->count, out = block_out(g, seen->block);
    int t = graph_axis_find(g, "t"), p = graph_axis_find(g, "p"), d = graph_axis_find(g, "d");
    int k = probe_axis(g, d, "k1", "direction", ROLE_PLAIN);
    REQUIRE(out != NO_NODE);
    graph_scope(g, "seen.probe");
    NodeId patches = probe_patches(g, "patches", out, t, p);
    NodeId mean = probe_mean(g, "mean", patches, DIMS(d), graph_const(g, "count", DIMS_SCALAR, (float)g->axes[p].n));
    NodeId usual = graph_leaf(g, "usual", DIMS(d),
                              (Leaf){LEAF_TENSOR, seen->mean, "the mean over what it learned from"});
    NodeId metric = graph_leaf(g, "metric", DIMS(k, d),
                               (Leaf){LEAF_TENSOR, seen->metric, "from the covariance over what it learned from"});
    NodeId away = graph_contract(g, "away", metric, graph_zip(g, "centered", OP_SUB, mean, usual), DIMS(k));
    NodeId sq = graph_zip(g, "away_sq", OP_MUL, away, away);
    graph_map(g, "distance", MAP_SQRT, graph_reduce(g, "away_sumsq", OP_SUM, sq, DIMS_SCALAR));
    graph_const(g, "limit", DIMS_SCALAR, seen->limit);
    probe_end(g, first, NODE_PROBE);
}
