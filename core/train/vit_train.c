#include "core/train/vit_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/graph/grad.h"
#include "core/train/descent.h"

typedef enum Start { ZERO, ONE, TOKEN, PATCH, POSITION, QKV, OUT, BALANCED } Start;

static Start start_of(VitRole r)
{
    switch (r) {
    case VIT_PATCH_W: return PATCH;
    case VIT_CLS:
    case VIT_DIST:
    case VIT_REGISTERS:
    case VIT_MASK_TOKEN: return TOKEN;
    case VIT_POS: return POSITION;
    case VIT_W_Q:
    case VIT_W_K:
    case VIT_W_V: return QKV;
    case VIT_W_O: return OUT;
    case VIT_W_UP:
    case VIT_W_DOWN:
    case VIT_HEAD_W:
    case VIT_HEAD_DIST_W:
    case VIT_GUESS_W: return BALANCED;
    case VIT_PRE_GAMMA:
    case VIT_LN1_GAMMA:
    case VIT_LN2_GAMMA:
    case VIT_FINAL_GAMMA:
    case VIT_FC_GAMMA:
    case VIT_ATTN_LS:
    case VIT_MLP_LS: return ONE;
    default: return ZERO;
    }
}

bool start_decays(VitRole r)
{
    return start_of(r) >= PATCH;
}

size_t start_rows(const WeightPlace *w)
{
    switch ((VitRole)w->role) {
    case VIT_W_Q:
    case VIT_W_K:
    case VIT_W_V: return w->cells / w->shape[w->rank - 1];
    case VIT_W_O:
    case VIT_W_UP:
    case VIT_W_GATE:
    case VIT_W_DOWN: return w->shape[0];
    default: return 0;
    }
}

/* Numbers that one output of the weight is summed from, and how many outputs there are. */
static double inputs_of(const VitConfig *c, VitRole r)
{
    switch (r) {
    case VIT_W_DOWN: return c->mlp;
    case VIT_W_O: return (double)c->heads * c->head_dim;
    default: return c->width;
    }
}

static double deviation(const VitConfig *c, VitRole r)
{
    double inputs = inputs_of(c, r);
    switch (start_of(r)) {
    case TOKEN:
    case PATCH:
    case POSITION: return 0.02;
    case QKV: return 1 / dm_sqrt(2 * inputs);
    case OUT: return 1 / dm_sqrt(inputs);
    case BALANCED: return dm_sqrt(2 / (inputs + (double)vit_role_cells(c, r) / inputs));
    default: return 0;
    }
}

static void fill(const VitConfig *c, const WeightPlace *w, uint64_t seed)
{
    Rng rng = rng_seed(seed, w->stream); /* a stream per weight */
    Start s = start_of((VitRole)w->role);
    float spread = (float)deviation(c, (VitRole)w->role);
    for (size_t i = 0; i < w->cells; i++)
        w->data[i] = s == ZERO ? 0.0f : s == ONE ? 1.0f : spread * rng_normal(&rng);
    w->at->origin = "trained here";
}

/* to = share · with · factor + √(1 − share²) · to: as much correlated as the share says, its variance kept. */
static void lean(float *to, const float *with, size_t n, double share, double factor)
{
    const float own = (float)dm_sqrt(1 - share * share), other = (float)(share * factor);
    for (size_t i = 0; i < n; i++)
        to[i] = own * to[i] + other * with[i];
}

static void mimic(const VitConfig *c, const WeightPlace *part, double share)
{
    const WeightPlace *q = &part[0], *v = &part[2], *o = &part[3];
    size_t heads = (size_t)c->heads * (size_t)c->head_dim, width = (size_t)c->width;
    float *transposed = xfloats(v->cells);
    for (size_t h = 0; h < heads; h++)
        for (size_t d = 0; d < width; d++)
            transposed[d * heads + h] = v->data[h * width + d];
    lean(part[1].data, q->data, q->cells, share, 1);
    lean(o->data, transposed, o->cells, share, -deviation(c, VIT_W_O) / deviation(c, VIT_W_V));
    free(transposed);
}

void start_mimic(Model *m, double share)
{
    static const VitRole roles[] = {VIT_W_Q, VIT_W_K, VIT_W_V, VIT_W_O};
    for (int l = 0; share > 0 && l < m->vit.layers; l++) {
        WeightPlace part[4] = {{0}};
        for (WeightPlace w = {0}; model_weight(m, &w);)
            for (int i = 0; i < 4; i++)
                if (w.role == (int)roles[i] && w.layer == l)
                    part[i] = w;
        mimic(&m->vit, part, share);
    }
}

void start_weights(Model *m, uint64_t seed)
{
    memset(m->block, 0, m->block_cells * sizeof *m->block);
    for (WeightPlace w = {0}; model_weight(m, &w);)
        fill(&m->vit, &w, seed);
}

/* --- pictures changed --- */

static const float WHITE = 255, GREY = 127.5f;

bool augment_any(const Augment *a)
{
    return a->flip > 0 || a->shift > 0 || a->colour > 0 || a->mix > 0 || a->cut > 0 || a->erase > 0;
}

/* Every draw takes its number whether or not it is used: one choice does not change the others. */
static bool chance(Rng *r, double p)
{
    return (double)rng_unit(r) < p;
}

/* −1 is 0's other side: … 2 1 0 0 1 2 … n−1 n−1 n−2 … */
static int reflected(int i, int n)
{
    i = i < 0 ? -1 - i : i;
    return i >= n ? 2 * n - 1 - i : i;
}

static void move(int channels, int height, int width, bool flip, int down, int right, float *pixels, float *scratch)
{
    size_t plane = (size_t)height * (size_t)width;
    if (!flip && !down && !right)
        return;
    memcpy(scratch, pixels, (size_t)channels * plane * sizeof *pixels);
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < height; y++) {
            const float *row = scratch + (size_t)c * plane + (size_t)reflected(y - down, height) * (size_t)width;
            float *to = pixels + (size_t)c * plane + (size_t)y * (size_t)width;
            for (int x = 0; x < width; x++) {
                int from = reflected(x - right, width);
                to[x] = row[flip ? width - 1 - from : from];
            }
        }
}

static float clamped(float v)
{
    return v < 0 ? 0 : v > WHITE ? WHITE : v;
}

/* Brightness; contrast about the picture's mean grey; saturation about each pixel's grey. The weights are those of
 * ITU-R BT.601. */
static void recolour(int channels, size_t plane, float brightness, float contrast, float saturation, float *pixels)
{
    static const float LUMA[3] = {0.299f, 0.587f, 0.114f};
    double sum = 0;
    for (size_t i = 0; i < (size_t)channels * plane; i++)
        pixels[i] *= brightness;
    for (size_t i = 0; i < plane; i++)
        for (int c = 0; c < channels; c++)
            sum += (double)(pixels[(size_t)c * plane + i] * (channels == 3 ? LUMA[c] : 1));
    float mean = (float)(sum / (double)plane);
    for (size_t i = 0; i < plane; i++) {
        float grey = 0;
        for (int c = 0; c < channels; c++)
            grey += pixels[(size_t)c * plane + i] * (channels == 3 ? LUMA[c] : 1);
        for (int c = 0; c < channels; c++) {
            float *v = &pixels[(size_t)c * plane + i];
            *v = grey + (*v - grey) * saturation;
            *v = clamped(mean + (*v - mean) * contrast);
        }
    }
}

void augment_picture(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, float *scratch)
{
    bool flip = chance(r, a->flip);
    int most = 2 * a->shift + 1, down = (int)rng_below(r, (uint32_t)most) - a->shift,
        right = (int)rng_below(r, (uint32_t)most) - a->shift;
    float low = (float)(1 - a->colour), high = (float)(1 + a->colour), factor[3];
    for (int i = 0; i < 3; i++)
        factor[i] = rng_range(r, low, high);
    move(channels, height, width, flip, down, right, pixels, scratch);
    if (a->colour > 0)
        recolour(channels, (size_t)height * (size_t)width, factor[0], factor[1], factor[2], pixels);
}

typedef struct Box {
    int y, x, height, width;
} Box;

/* About `area` of the picture, wholly inside it; aspect: height over width, for a square picture. */
static Box some_box(Rng *r, int height, int width, float area, float aspect)
{
    float side = sqrtf(area), slant = sqrtf(aspect);
    Box b = {.height = (int)((float)height * side * slant + 0.5f), .width = (int)((float)width * side / slant + 0.5f)};
    b.height = b.height < height ? b.height : height;
    b.width = b.width < width ? b.width : width;
    b.y = (int)rng_below(r, (uint32_t)(height - b.height + 1));
    b.x = (int)rng_below(r, (uint32_t)(width - b.width + 1));
    return b;
}

/* other NULL: grey. */
static void fill_box(Box b, int channels, int height, int width, float *pixels, const float *other)
{
    for (int c = 0; c < channels; c++)
        for (int y = b.y; y < b.y + b.height; y++)
            for (int x = b.x; x < b.x + b.width; x++) {
                size_t at = ((size_t)c * (size_t)height + (size_t)y) * (size_t)width + (size_t)x;
                pixels[at] = other ? other[at] : GREY;
            }
}

double augment_mix(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, const float *other)
{
    bool mix = chance(r, a->mix), cut = chance(r, a->cut), erase = chance(r, a->erase);
    float share = rng_unit(r), erased = rng_range(r, 0.02f, 0.33f), aspect = rng_range(r, 1, 3);
    Box b = some_box(r, height, width, 1 - share, 1), grey;
    size_t cells = (size_t)channels * (size_t)height * (size_t)width;
    double own = 1;
    if (mix) {
        for (size_t i = 0; i < cells; i++)
            pixels[i] = share * pixels[i] + (1 - share) * other[i];
        own = (double)share;
    } else if (cut) {
        fill_box(b, channels, height, width, pixels, other);
        own = 1 - (double)b.height * b.width / ((double)height * width);
    }
    grey = some_box(r, height, width, erased, chance(r, 0.5) ? aspect : 1 / aspect);
    if (erase)
        fill_box(grey, channels, height, width, pixels, NULL);
    return own;
}

/* --- the loss --- */

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
