/* Configuration and weights of a Vision Transformer: what there is, of which shape, and whether it can be built. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/models/vit.h"

enum { BIAS_PATCHES = 4096 }; /* every pair of them has a bias in every head */

typedef enum Where { WHOLE, BLOCK } Where;

static const struct {
    const char *name, *axes;
    Where where;
    WeightStart start;
} ROLES[VIT_ROLES] = {
#define ROLE(symbol, where, name, axes, start, when) [VIT_##symbol] = {name, axes, where, START_##start},
#include "core/models/vit_roles.def"
};

VitConfig vit_config_base(void)
{
    VitConfig c = {
        .image_h = 224,
        .image_w = 224,
        .patch_h = 16,
        .patch_w = 16,
        .channels = 3,
        .width = 768,
        .layers = 12,
        .heads = 12,
        .head_dim = 64,
        .mlp = 3072,
        .classes = 1000,
        .act = MAP_GELU,
        .eps = 1e-6f,
        .scale = vit_scale(64),
        .cls = true,
        .pos = VIT_POS_ALL,
        .pool = VIT_POOL_CLS,
        .patch_bias = true,
        .qkv_bias = true,
        .out_bias = true,
        .mlp_bias = true,
        .head_bias = true,
        .final_norm = true,
        .input = VIT_INPUT_STANDARD,
        .range = 255.0f,
    };
    for (int i = 0; i < VIT_CHANNELS_MAX; i++)
        c.mean[i] = c.std[i] = 0.5f;
    return c;
}

float vit_scale(int head_dim)
{
    return (float)(1.0 / dm_sqrt((double)head_dim));
}

int vit_prefix(const VitConfig *c)
{
    return (c->cls ? 1 : 0) + (c->dist ? 1 : 0) + c->registers;
}

int vit_patches(const VitConfig *c)
{
    return (c->image_h / c->patch_h) * (c->image_w / c->patch_w);
}

int vit_tokens(const VitConfig *c)
{
    return vit_prefix(c) + vit_patches(c);
}

size_t vit_values(const VitConfig *c)
{
    return size_mul(size_mul((size_t)c->image_h, (size_t)c->image_w), (size_t)c->channels);
}

bool vit_resizes(const VitConfig *c)
{
    return c->pos != VIT_POS_NONE && c->table_h &&
           (c->table_h != c->image_h / c->patch_h || c->table_w != c->image_w / c->patch_w);
}

bool vit_reads_class(const VitConfig *c)
{
    return c->pool == VIT_POOL_CLS || c->pool == VIT_POOL_BOTH || c->pool == VIT_POOL_CLS_DIST ||
           (c->pool == VIT_POOL_NONE && c->cls);
}

/* Rows of the position table. */
static int position_rows(const VitConfig *c)
{
    int patches = c->table_h ? c->table_h * c->table_w : vit_patches(c);
    switch (c->pos) {
    case VIT_POS_ALL: return patches + vit_prefix(c);
    case VIT_POS_BEFORE_REGISTERS: return patches + vit_prefix(c) - c->registers;
    case VIT_POS_PATCHES: return patches;
    default: return 0;
    }
}

static bool check_ranges(const VitConfig *c, Err *err)
{
    const Knob knobs[] = {
        {"image height", c->image_h, 1, 1 << 14},
        {"image width", c->image_w, 1, 1 << 14},
        {"patch height", c->patch_h, 1, 1 << 14},
        {"patch width", c->patch_w, 1, 1 << 14},
        {"number of channels", c->channels, 1, VIT_CHANNELS_MAX},
        {"model width", c->width, 1, 1 << 16},
        {"number of layers", c->layers, 1, 1024},
        {"number of heads", c->heads, 1, 1024},
        {"head width", c->head_dim, 1, 1 << 14},
        {"MLP width", c->mlp, 1, 1 << 18},
        {"number of classes", c->classes, 0, 1 << 20},
        {"number of register tokens", c->registers, 0, 1024},
        {"embedding width", c->project, 0, 1 << 16},
        {"rows of the position grid", c->table_h, 0, 1 << 14},
        {"columns of the position grid", c->table_w, 0, 1 << 14},
    };
    return knobs_check(knobs, sizeof knobs / sizeof *knobs, err);
}

static bool check_numbers(const VitConfig *c, Err *err)
{
    if (!knob_finite(c->eps) || c->eps < 0)
        return err_set(err, "the epsilon of %s is %g; it must be 0 or a small positive number", vit_norm_word(c),
                       (double)c->eps);
    if (!knob_finite(c->scale))
        return err_set(err, "the factor on the attention scores is not a number");
    bool fixed = c->rope != VIT_ROPE_NONE && c->rope != VIT_ROPE_LEARNED;
    if (fixed && (!knob_finite(c->rope_base) || c->rope_base <= 1 || !knob_finite(c->rope_offset)))
        return err_set(err, "the base of the rotations is %g; it must be greater than 1 (100 or 10000 as a rule)",
                       (double)c->rope_base);
    if (!knob_finite(c->range) || c->range <= 0)
        return err_set(err, "pixels are divided by %g; that must be a positive number (255 as a rule)",
                       (double)c->range);
    for (int i = 0; i < c->channels; i++)
        if (!knob_finite(c->mean[i]) || !knob_finite(c->std[i]) || c->std[i] <= 0)
            return err_set(err, "channel %d: mean %g, standard deviation %g; the second must be positive", i,
                           (double)c->mean[i], (double)c->std[i]);
    return true;
}

static bool check_structure(const VitConfig *c, Err *err)
{
    if (c->image_h % c->patch_h || c->image_w % c->patch_w)
        return err_set(err, "a picture of %d × %d is no whole number of patches of %d × %d (width × height)",
                       c->image_w, c->image_h, c->patch_w, c->patch_h);
    if ((c->pool == VIT_POOL_CLS || c->pool == VIT_POOL_CLS_DIST || c->pool == VIT_POOL_BOTH) && !c->cls)
        return err_set(err, "the answer is to be read from a cls token, but the model has none");
    if (c->pool == VIT_POOL_CLS_DIST && !c->dist)
        return err_set(err, "two classifiers need a distillation token, but the model has none");
    if (c->pool == VIT_POOL_NONE && (c->classes || c->fc_norm || c->project || c->embeds))
        return err_set(err, "a model that reads nothing out cannot have a classifier");
    if (c->pool == VIT_POOL_BOTH && c->fc_norm)
        return err_set(err, "a norm after the read-out of cls and mean together is not known here");
    if (c->rope != VIT_ROPE_NONE && c->head_dim % 4)
        return err_set(err, "heads of width %d cannot be turned in two dimensions: it must be a multiple of 4",
                       c->head_dim);
    if (c->bias != VIT_BIAS_NONE && (!c->cls || vit_prefix(c) != 1))
        return err_set(err, "relative positions are known here with a class token and no other prefix token");
    if (c->bias != VIT_BIAS_NONE && (c->image_h / c->patch_h) * (int64_t)(c->image_w / c->patch_w) > BIAS_PATCHES)
        return err_set(err, "relative positions are known here for at most %d patches", BIAS_PATCHES);
    if (!c->table_h != !c->table_w || (c->table_h && c->pos == VIT_POS_NONE))
        return err_set(err, "the grid of the position table is %d × %d, but the model has no such table", c->table_h,
                       c->table_w);
    if (c->pos == VIT_POS_BEFORE_REGISTERS && !c->registers)
        return err_set(err, "positions are added before registers, but the model has none");
    if (c->post_norm && c->branch_norm)
        return err_set(err, "norms stand after the addition or on the branches, not both");
    if (c->layer_scale && c->branch_norm)
        return err_set(err, "norms on the branches and layer scales on them are not known together");
    if (c->bare_probe && (c->pool != VIT_POOL_ATTENTION || c->heads * c->head_dim != c->width))
        return err_set(err, "a bare probe asks with %d heads of %d, but is %d wide", c->heads, c->head_dim, c->width);
    if ((unsigned)c->act >= MAP_COUNT)
        return err_set(err, "unknown activation function");
    return true;
}

enum { AT_ONCE = 3 }; /* scores, their exponentials and the pattern are there together */

/* The largest tensors of a pass and all weights together stay far below what size_t and a file offset can hold. */
static bool check_sizes(const VitConfig *c, Err *err)
{
    size_t patches = (size_t)(c->image_h / c->patch_h) * (size_t)(c->image_w / c->patch_w);
    if (patches > 1 << 16)
        return err_set(err, "%zu patches are more than the 65536 that Vitrine takes", patches);
    size_t t = (size_t)vit_tokens(c), rows, inner, pass, weights;
    size_t limit = (size_t)1 << (sizeof(size_t) > 4 ? 40 : 29);
    bool ok = size_mul_ok((size_t)c->heads, t, &rows) && size_mul_ok(rows, t, &pass) &&
              size_mul_ok((size_t)c->heads, (size_t)c->head_dim, &inner) &&
              size_mul_ok(inner, (size_t)c->width, &weights) && pass <= limit && weights <= limit &&
              vit_params(c) <= limit;
    if (!ok)
        return err_set(err, "the model is too large: %d layers, width %d, %d heads of %d, %zu tokens", c->layers,
                       c->width, c->heads, c->head_dim, t);
    char what[96];
    snprintf(what, sizeof what, "attention of %d heads between %zu tokens", c->heads, t);
    return machine_holds(AT_ONCE * (double)pass * sizeof(float), what, "take a smaller picture or larger patches",
                         err) &&
           machine_holds((double)vit_params(c) * sizeof(float), "the model", "take a smaller one", err);
}

bool vit_check(const VitConfig *c, Err *err)
{
    return check_ranges(c, err) && check_numbers(c, err) && check_structure(c, err) && check_sizes(c, err);
}

bool vit_role_in_block(VitRole r)
{
    return ROLES[r].where == BLOCK;
}

const char *vit_role_name(VitRole r)
{
    return ROLES[r].name;
}

const char *vit_role_path(const VitConfig *c, VitRole r)
{
    static const struct {
        VitRole role;
        const char *path;
    } RMS[] = {{VIT_PRE_GAMMA, "rms_pre.gamma"},
               {VIT_LN1_GAMMA, "rms1.gamma"},
               {VIT_LN2_GAMMA, "rms2.gamma"},
               {VIT_FINAL_GAMMA, "rms_final.gamma"},
               {VIT_FC_GAMMA, "rms_fc.gamma"},
               {VIT_HIDDEN_GAMMA, "mlp.rms_hidden.gamma"},
               {VIT_POOL_GAMMA, "rms_pool.gamma"},
               {VIT_PATCH_GAMMA, "rms_patch.gamma"},
               {VIT_MERGED_GAMMA, "attn.rms_merged.gamma"}};
    for (size_t i = 0; c->rms_norm && i < sizeof RMS / sizeof *RMS; i++)
        if (RMS[i].role == r)
            return RMS[i].path;
    return ROLES[r].name;
}

const char *vit_norm_word(const VitConfig *c)
{
    return c->rms_norm ? "RMSNorm" : "LayerNorm";
}

const char *vit_role_axes(VitRole r)
{
    return ROLES[r].axes;
}

bool vit_has(const VitConfig *c, VitRole r)
{
    const bool beta = !c->rms_norm, two = c->classes > 0 && c->pool == VIT_POOL_CLS_DIST,
               probed = c->pool == VIT_POOL_ATTENTION, asks = probed && !c->bare_probe;
#define ROLE(symbol, where, name, axes, start, when)                                                                   \
    if (r == VIT_##symbol)                                                                                             \
        return when;
#include "core/models/vit_roles.def"
    return false;
}

static int letter_length(const void *config, char letter)
{
    const VitConfig *c = config;
#define LETTER(of, length, axis)                                                                                       \
    if (letter == (of))                                                                                                \
        return length;
#include "core/models/vit_roles.def"
    return 0;
}

int vit_role_shape(const VitConfig *c, VitRole r, size_t shape[4])
{
    return weight_shape(ROLES[r].axes, letter_length, c, shape);
}

size_t vit_role_cells(const VitConfig *c, VitRole r)
{
    return weight_cells(ROLES[r].axes, letter_length, c);
}

size_t vit_params(const VitConfig *c)
{
    size_t n = 0;
    for (int r = 0; r < VIT_ROLES; r++)
        if (vit_has(c, (VitRole)r))
            n = size_add(n, size_mul(vit_role_cells(c, (VitRole)r),
                                     vit_role_in_block((VitRole)r) ? (size_t)c->layers : 1));
    return n;
}

size_t vit_weights_count(const VitConfig *c)
{
    return size_mul(VIT_ROLES, (size_t)c->layers + 1);
}

WeightTensor *vit_weight(const Weights *w, VitRole r, int layer)
{
    size_t row = vit_role_in_block(r) ? (size_t)layer + 1 : 0;
    return &w->at[row * VIT_ROLES + (size_t)r];
}

/* So many kinds of weights have the streams of the first models; those added later come behind them all. */
enum { STREAMS = 64, LATE_ROLES = 1024 };
static const uint64_t LATE_STREAMS = (uint64_t)1 << 32;

bool vit_weight_place(const VitConfig *c, size_t i, WeightPlace *p)
{
    const VitRole r = (VitRole)(i % VIT_ROLES);
    const uint64_t row = i / VIT_ROLES;
    if (vit_role_in_block(r) != (row > 0) || !vit_has(c, r))
        return false;
    *p = (WeightPlace){.role = (int)r, .layer = (int)row - 1, .order = i, .entry = i, .axes = ROLES[r].axes};
    p->start = ROLES[r].start;
    p->rank = vit_role_shape(c, r, p->shape);
    p->cells = vit_role_cells(c, r);
    p->stream = (int)r < STREAMS ? row * STREAMS + (uint64_t)r : LATE_STREAMS + row * LATE_ROLES + (uint64_t)r;
    return true;
}
