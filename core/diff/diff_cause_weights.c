/* Mistakes with weights: transposed, left away, patches flattened or listed in another order. */
#include <stdlib.h>
#include <string.h>

#include "core/diff/diff_trial.h"

typedef struct Group {
    const char *endings; /* words */
    const char *text;
} Group;

/* Runs over the words of a group. */
static const char *next_word(const char **words, char out[48])
{
    *words += strspn(*words, " ");
    size_t n = strcspn(*words, " ");
    if (!n || n >= 48)
        return NULL;
    memcpy(out, *words, n);
    out[n] = '\0';
    *words += n;
    return out;
}

/* Nodes of the group in the stretch become a value. */
static void attempt_group(Trial *t, const Group *group, double value)
{
    char word[48];
    trial_begin(t);
    for (const char *w = group->endings; next_word(&w, word);)
        for (NodeId n = trial_find(t, word, 0); n != NO_NODE; n = trial_find(t, word, n + 1))
            trial_add(t, EDIT_SET, graph_node(t->s->graph, n)->path)->value = (float)value;
    trial_attempt(t, "%s", group->text);
}

void trial_missing(Trial *t)
{
    static const Group ADDED[] = {
        {"attn.b_q", "the reference adds no bias to q"},
        {"attn.b_k", "the reference adds no bias to k"},
        {"attn.b_v", "the reference adds no bias to v"},
        {"attn.b_q attn.b_k attn.b_v", "the reference adds no bias to q, k and v"},
        {"attn.b_o", "the reference adds no bias after W_O"},
        {"mlp.b_up", "the reference adds no bias in the MLP's first layer"},
        {"mlp.b_down", "the reference adds no bias in the MLP's second layer"},
        {"attn.b_q attn.b_k attn.b_v attn.b_o mlp.b_up mlp.b_down",
         "the reference adds no bias in any linear layer of a block"},
        {"ln1.beta ln2.beta ln3.beta ln_final.beta", "the reference's LayerNorm adds no bias β"},
        {"patch_embed.bias", "the reference adds no bias to the patch projection"},
        {"head.bias", "the reference adds no bias to the logits"},
        {"pos_embed", "the reference adds no position embeddings"},
    };
    static const Group TIMES[] = {
        {"ln1.gamma ln2.gamma ln3.gamma ln_final.gamma", "the reference's LayerNorm does not multiply by γ"},
        {"rms1.gamma rms2.gamma rms_final.gamma", "the reference's RMSNorm does not multiply by γ"},
        {"embed_scale", "the reference does not multiply the embeddings by √d_model"},
        {"attn.layer_scale mlp.layer_scale", "the reference does not multiply by the layer scale"},
    };
    for (size_t i = 0; i < sizeof ADDED / sizeof *ADDED; i++)
        attempt_group(t, &ADDED[i], 0);
    for (size_t i = 0; i < sizeof TIMES / sizeof *TIMES; i++)
        attempt_group(t, &TIMES[i], 1);
}

/* A square weight, rows and columns exchanged, in the arena. */
static const float *transposed(Trial *t, const float *w, size_t side)
{
    float *out = arena_alloc(&t->arena, size_mul(size_mul(side, side), sizeof *out));
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++)
            out[i * side + j] = w[j * side + i];
    return out;
}

void trial_transposed(Trial *t)
{
    static const Group MATRICES[] = {
        {"attn.w_q", "W_Q is transposed in the reference"},
        {"attn.w_k", "W_K is transposed in the reference"},
        {"attn.w_v", "W_V is transposed in the reference"},
        {"attn.w_o", "W_O is transposed in the reference"},
        {"attn.w_q attn.w_k attn.w_v", "W_Q, W_K and W_V are transposed in the reference"},
        {"attn.w_q attn.w_k attn.w_v attn.w_o", "the attention's weights are all transposed in the reference"},
        {"mlp.w_up", "the MLP's first weight is transposed in the reference"},
        {"mlp.w_down", "the MLP's second weight is transposed in the reference"},
        {"head.weight", "the head's weight is transposed in the reference"},
    };
    const Graph *g = t->s->graph;
    size_t side = (size_t)t->size.width;
    for (size_t i = 0; i < sizeof MATRICES / sizeof *MATRICES; i++) {
        char word[48];
        trial_begin(t);
        for (const char *w = MATRICES[i].endings; next_word(&w, word);)
            for (NodeId n = trial_find(t, word, 0); n != NO_NODE; n = trial_find(t, word, n + 1))
                if (graph_cells(g, n) == side * side)
                    trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = transposed(t, run_need(t->s->run, n),
                                                                                         side);
        trial_attempt(t, "%s", MATRICES[i].text);
    }
}

/* --- patches --- */

typedef enum PatchOrder { CHANNEL_LAST, COLUMNS_FIRST, CHANNELS_BACK } PatchOrder;

/* The weight that a patch laid out otherwise meets: w[d,c,i,j] with c·i·j in another order. */
static const float *patch_weight(Trial *t, const float *w, PatchOrder order)
{
    const VitConfig *c = t->s->config;
    size_t ch = (size_t)c->channels, h = (size_t)c->patch_h, wide = (size_t)c->patch_w, flat = ch * h * wide,
           rows = (size_t)c->width;
    float *out = arena_alloc(&t->arena, size_mul(size_mul(rows, flat), sizeof *out));
    for (size_t d = 0; d < rows; d++)
        for (size_t k = 0; k < flat; k++) {
            size_t a = k / (h * wide), i = k / wide % h, j = k % wide, from = k;
            switch (order) {
            case CHANNEL_LAST: from = (i * wide + j) * ch + a; break;
            case COLUMNS_FIRST: from = (a * wide + j) * h + i; break;
            case CHANNELS_BACK: from = ((ch - 1 - a) * h + i) * wide + j; break;
            }
            out[d * flat + k] = w[d * flat + from];
        }
    return out;
}

typedef enum Listing { BY_COLUMN, FROM_BELOW, FROM_RIGHT, BACKWARDS, SNAKE, ORDERS } Listing;

/* The patch, numbered row by row, that stands at place p. */
static int listed(Listing how, int p, int rows, int cols)
{
    int y = p / cols, x = p % cols;
    switch (how) {
    case BY_COLUMN: return p % rows * cols + p / rows;
    case FROM_BELOW: return (rows - 1 - y) * cols + x;
    case FROM_RIGHT: return y * cols + cols - 1 - x;
    case BACKWARDS: return rows * cols - 1 - p;
    case SNAKE: return y * cols + (y % 2 ? cols - 1 - x : x);
    default: UNREACHABLE("an order of no kind");
    }
}

void trial_patches(Trial *t)
{
    static const char *const LISTED[ORDERS] = {[BY_COLUMN] = "the reference lists the patches column by column",
                                               [FROM_BELOW] = "the reference lists the patches' rows from below",
                                               [FROM_RIGHT] = "the reference lists the patches of a row from the right",
                                               [BACKWARDS] = "the reference lists the patches backwards",
                                               [SNAKE] = "the reference lists every second row of patches backwards"};
    static const char *const TEXTS[] = {
        [CHANNEL_LAST] =
            "the reference flattens a patch as row, column, channel; the weight expects channel, row, column",
        [COLUMNS_FIRST] = "the reference flattens a patch column by column",
        [CHANNELS_BACK] = "the reference has the colour channels in the opposite order (BGR)",
    };
    const Graph *g = t->s->graph;
    const VitConfig *c = t->s->config;
    if (!c)
        return;
    NodeId w = trial_find(t, "patch_embed.weight", 0), embed = graph_find(g, "patch_embed");
    if (!trial_has(t, embed)) /* before its bias */
        embed = graph_find(g, "patch_embed.rows_nobias");
    for (int i = 0; w != NO_NODE && i < 3; i++) {
        trial_begin(t);
        trial_add(t, EDIT_VALUES, graph_node(g, w)->path)->data = patch_weight(t, run_need(t->s->run, w),
                                                                               (PatchOrder)i);
        trial_attempt(t, "%s", TEXTS[i]);
    }
    int axis = embed == NO_NODE ? AXIS_NONE : graph_node(g, embed)->dims.axis[0], rows = c->image_h / c->patch_h,
        cols = c->image_w / c->patch_w;
    if (!trial_has(t, embed) || g->axes[axis].n != rows * cols)
        return;
    for (int k = 0; k < ORDERS; k++) {
        int *index = arena_alloc(&t->arena, size_mul((size_t)(rows * cols), sizeof *index));
        for (int p = 0; p < rows * cols; p++)
            index[p] = listed((Listing)k, p, rows, cols);
        trial_begin(t);
        Edit *e = trial_add(t, EDIT_GATHER, graph_node(g, embed)->path);
        e->axis = axis;
        e->index = index;
        trial_attempt(t, "%s", LISTED[k]);
    }
}
