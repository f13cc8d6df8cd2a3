/* What the reconstruction head guesses, as a picture that can be put beside the picture, and how far off it is. Errors
 * are mean squares of standardised values, which is what the head learned to keep small; beside them stands what a
 * guess of 0, the mean colour, would cost. */
#include "core/base/err.h"
#include "core/models/probe_parts.h"

static NodeId existing(const Graph *g, const char *path)
{
    NodeId n = graph_find(g, path);
    REQUIRE(n != NO_NODE);
    return n;
}

/* The way from pixels to `image` gone backwards: guess.pixels, 0 … 255 where the guess is a colour at all. */
static void guess_pixels(Probes *b)
{
    Graph *g = b->g;
    NodeId unit = NO_NODE, guess = b->nodes->guess;
    if (b->c->input == VIT_INPUT_READY) /* nobody knows what its values were before */
        return;
    if (b->c->input == VIT_INPUT_PER_IMAGE) {
        NodeId wide = probe_passing(g, graph_zip(g, "centered", OP_MUL, guess, existing(g, "image_rms")));
        NodeId sign = probe_passing(g, graph_zip(g, "signed", OP_ADD, wide, existing(g, "image_mean")));
        NodeId doubled = probe_passing(g, graph_zip(g, "doubled", OP_ADD, sign, b->one));
        unit = graph_zip(g, "unit", OP_DIV, doubled, b->two);
    } else {
        NodeId wide = probe_passing(g, graph_zip(g, "centered", OP_MUL, guess, existing(g, "pixel_std")));
        unit = graph_zip(g, "unit", OP_ADD, wide, existing(g, "pixel_mean"));
    }
    graph_zip(g, "pixels", OP_MUL, probe_passing(g, unit), existing(g, "pixel_range"));
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
                                              existing(g, vit_role_name(VIT_MASK_TOKEN))));
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
