/* Every knob of the Vision Transformer once, on a tiny model. */
#ifndef VITRINE_TESTS_CORE_MODELS_VARIANTS_H
#define VITRINE_TESTS_CORE_MODELS_VARIANTS_H
#include "tests/core_models/oracle.h"

typedef struct Variant {
    const char *what;
    void (*set)(VitConfig *c);
} Variant;

static void plain(VitConfig *c)
{
    (void)c;
}
static void rectangular(VitConfig *c)
{
    c->image_h = 16, c->image_w = 40, c->patch_h = 4;
}
static void one_channel(VitConfig *c)
{
    c->channels = 1;
}
static void five_channels(VitConfig *c)
{
    c->channels = 5;
}
static void one_patch(VitConfig *c)
{
    c->patch_h = c->patch_w = 32;
}
static void no_prefix(VitConfig *c)
{
    c->cls = false, c->pool = VIT_POOL_MEAN;
}
static void mean_with_cls(VitConfig *c)
{
    c->pool = VIT_POOL_MEAN;
}
static void mean_fc_norm(VitConfig *c)
{
    c->pool = VIT_POOL_MEAN, c->fc_norm = true, c->final_norm = false;
}
static void two_heads(VitConfig *c)
{
    c->dist = true, c->pool = VIT_POOL_CLS_DIST;
}
static void two_heads_no_bias(VitConfig *c)
{
    c->dist = true, c->pool = VIT_POOL_CLS_DIST, c->head_bias = false;
}
static void dist_unread(VitConfig *c)
{
    c->dist = true;
}
static void registers_with(VitConfig *c)
{
    c->registers = 3;
}
static void registers_after(VitConfig *c)
{
    c->registers = 3, c->pos = VIT_POS_BEFORE_REGISTERS;
}
static void registers_all_kinds(VitConfig *c)
{
    c->dist = true, c->registers = 2, c->pos = VIT_POS_BEFORE_REGISTERS;
}
static void registers_only(VitConfig *c)
{
    c->cls = false, c->registers = 2, c->pos = VIT_POS_BEFORE_REGISTERS, c->pool = VIT_POOL_MEAN;
}
static void three_kinds(VitConfig *c)
{
    c->dist = true, c->registers = 2;
}
static void patch_positions(VitConfig *c)
{
    c->pos = VIT_POS_PATCHES;
}
static void no_positions(VitConfig *c)
{
    c->pos = VIT_POS_NONE;
}
static void post_norm(VitConfig *c)
{
    c->post_norm = true;
}
static void no_biases(VitConfig *c)
{
    c->patch_bias = c->qkv_bias = c->out_bias = c->mlp_bias = c->head_bias = false;
}
static void wide_heads(VitConfig *c)
{
    c->head_dim = 20, c->scale = vit_scale(20);
}
static void narrow_heads(VitConfig *c)
{
    c->heads = 3, c->head_dim = 1, c->scale = 1.0f;
}
static void layer_scale(VitConfig *c)
{
    c->layer_scale = true;
}
static void norm_pre(VitConfig *c)
{
    c->norm_pre = true;
}
static void no_final_norm(VitConfig *c)
{
    c->final_norm = false;
}
static void no_head(VitConfig *c)
{
    c->classes = 0;
}
static void nothing_read(VitConfig *c)
{
    c->classes = 0, c->pool = VIT_POOL_NONE;
}
static void ready_input(VitConfig *c)
{
    c->input = VIT_INPUT_READY;
}
static void per_image(VitConfig *c)
{
    c->input = VIT_INPUT_PER_IMAGE;
}
static void gelu_tanh(VitConfig *c)
{
    c->act = MAP_GELU_TANH;
}
static void quick_gelu(VitConfig *c)
{
    c->act = MAP_QUICK_GELU;
}
static void relu(VitConfig *c)
{
    c->act = MAP_RELU;
}
static void silu(VitConfig *c)
{
    c->act = MAP_SILU;
}
static void large_eps(VitConfig *c)
{
    c->eps = 0.1f;
}
static void bundled(VitConfig *c)
{
    *c = model_bundled_config();
}

static const Variant VARIANTS[] = {
    {"plain", plain},
    {"rectangular", rectangular},
    {"one channel", one_channel},
    {"five channels", five_channels},
    {"one patch", one_patch},
    {"no prefix", no_prefix},
    {"mean with cls", mean_with_cls},
    {"mean, fc_norm", mean_fc_norm},
    {"two heads", two_heads},
    {"two heads, no bias", two_heads_no_bias},
    {"dist unread", dist_unread},
    {"registers with positions", registers_with},
    {"registers after positions", registers_after},
    {"cls, dist, registers after", registers_all_kinds},
    {"registers only", registers_only},
    {"cls, dist, registers", three_kinds},
    {"positions of patches", patch_positions},
    {"no positions", no_positions},
    {"post-norm", post_norm},
    {"no biases", no_biases},
    {"wide heads", wide_heads},
    {"narrow heads", narrow_heads},
    {"layer scale", layer_scale},
    {"norm_pre", norm_pre},
    {"no final norm", no_final_norm},
    {"no head", no_head},
    {"nothing read", nothing_read},
    {"ready input", ready_input},
    {"per image", per_image},
    {"gelu_tanh", gelu_tanh},
    {"quick_gelu", quick_gelu},
    {"relu", relu},
    {"silu", silu},
    {"large eps", large_eps},
    {"bundled", bundled},
};
enum { VARIANT_COUNT = sizeof VARIANTS / sizeof *VARIANTS };

static VitConfig variant(size_t i)
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    VARIANTS[i].set(&c);
    return c;
}
#endif
