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

static void cls_and_mean(VitConfig *c)
{
    c->pool = VIT_POOL_BOTH, c->registers = 2, c->pos = VIT_POS_BEFORE_REGISTERS;
}
static void probe_pool(VitConfig *c)
{
    c->cls = false, c->pool = VIT_POOL_ATTENTION, c->classes = 0, c->embeds = true, c->act = MAP_GELU_TANH;
}
static void probe_pool_head(VitConfig *c)
{
    c->pool = VIT_POOL_ATTENTION;
}
static void projected(VitConfig *c)
{
    c->classes = 0, c->project = 12, c->patch_bias = false, c->norm_pre = true;
}
static void gated(VitConfig *c)
{
    c->gated = true, c->act = MAP_SILU;
}
static void gated_norm(VitConfig *c)
{
    c->gated = c->hidden_norm = true, c->act = MAP_SILU, c->bare_k = true;
}
static void bare(VitConfig *c)
{
    c->bare_q = c->bare_v = true;
}
static void centres(VitConfig *c)
{
    c->pos = VIT_POS_NONE, c->rope = VIT_ROPE_CENTRES, c->rope_half = true, c->rope_base = 100, c->registers = 2;
}
static void steps(VitConfig *c)
{
    c->image_w = 40, c->rope = VIT_ROPE_STEPS, c->rope_base = 10000, c->rope_offset = 1, c->rope_ref_h = 3,
    c->rope_ref_w = 7, c->rope_cols_first = true;
}
static void learned_rope(VitConfig *c)
{
    c->image_w = 40, c->rope = VIT_ROPE_LEARNED, c->rope_cols_first = true, c->registers = 1;
}
static void learned_halves(VitConfig *c)
{
    c->pos = VIT_POS_NONE, c->rope = VIT_ROPE_LEARNED, c->rope_half = true, c->cls = false, c->pool = VIT_POOL_MEAN;
}
static void relative(VitConfig *c)
{
    c->image_w = 40, c->pos = VIT_POS_NONE, c->bias = VIT_BIAS_BLOCKS, c->bare_k = true;
}
static void relative_shared(VitConfig *c)
{
    c->bias = VIT_BIAS_SHARED;
}
static void larger_grid(VitConfig *c)
{
    c->image_h = 48, c->table_h = c->table_w = 4;
}
static void smaller_grid(VitConfig *c)
{
    c->cls = false, c->pool = VIT_POOL_MEAN, c->table_h = 7, c->table_w = 5, c->fit_smooth = true;
}
static void grid_before_registers(VitConfig *c)
{
    c->registers = 3, c->pos = VIT_POS_BEFORE_REGISTERS, c->table_h = c->table_w = 3, c->fit = VIT_FIT_BILINEAR,
    c->fit_corners = true;
}
static void nearest_places(VitConfig *c)
{
    c->pos = VIT_POS_PATCHES, c->table_h = c->table_w = 3, c->fit = VIT_FIT_NEAREST;
}

static void rms(VitConfig *c)
{
    c->rms_norm = true, c->norm_pre = true;
}
static void rms_post(VitConfig *c)
{
    c->rms_norm = c->post_norm = true;
}
static void rms_fc(VitConfig *c)
{
    c->rms_norm = c->fc_norm = c->gated = c->hidden_norm = true, c->final_norm = false, c->pool = VIT_POOL_MEAN;
    c->act = MAP_SILU;
}
static void rms_patches(VitConfig *c)
{
    c->rms_norm = c->patch_norm = c->bare_probe = true, c->cls = false, c->pool = VIT_POOL_ATTENTION;
    c->qkv_bias = c->out_bias = c->mlp_bias = false;
}
static void rms_probe(VitConfig *c)
{
    c->rms_norm = true, c->pool = VIT_POOL_ATTENTION;
}
static void patch_norm(VitConfig *c)
{
    c->patch_norm = true;
}
static void bare_probe(VitConfig *c)
{
    c->bare_probe = true, c->pool = VIT_POOL_ATTENTION, c->classes = 0, c->embeds = true;
}
static void merged_norm(VitConfig *c)
{
    c->merged_norm = c->hidden_norm = c->gated = true, c->act = MAP_SILU;
}
static void rms_merged(VitConfig *c)
{
    c->merged_norm = c->rms_norm = true, c->head_dim = 20, c->scale = vit_scale(20);
}
static void branch_norm(VitConfig *c)
{
    c->branch_norm = true;
}
static void rms_branch(VitConfig *c)
{
    c->branch_norm = c->rms_norm = true, c->pool = VIT_POOL_MEAN;
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
    {"cls and mean", cls_and_mean},
    {"attention pooling", probe_pool},
    {"attention pooling, head", probe_pool_head},
    {"projected", projected},
    {"gated MLP", gated},
    {"gated MLP, hidden norm", gated_norm},
    {"no bias of q and v", bare},
    {"turned, centres", centres},
    {"turned, steps", steps},
    {"turned as learned", learned_rope},
    {"turned as learned, halves", learned_halves},
    {"relative positions", relative},
    {"relative positions, shared", relative_shared},
    {"larger grid", larger_grid},
    {"smaller grid", smaller_grid},
    {"grid before registers", grid_before_registers},
    {"nearest places", nearest_places},
    {"RMSNorm", rms},
    {"RMSNorm behind the addition", rms_post},
    {"RMSNorm, fc_norm, hidden norm", rms_fc},
    {"RMSNorm, patches, bare probe", rms_patches},
    {"RMSNorm, attention pooling", rms_probe},
    {"norm of patches", patch_norm},
    {"bare probe", bare_probe},
    {"norm inside attention", merged_norm},
    {"RMSNorm inside attention", rms_merged},
    {"norms on the branches", branch_norm},
    {"RMSNorm on the branches", rms_branch},
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
