/* Every family of published vision transformers, recorded under the names of its own program's modules: a right model
 * is "Same"; each wrong variant (rotations lost, another GELU, no antialias …) is found, and called by its name. */
#include "tests/core_diff/diffing.h"
#include "tests/core_diff/planting.h"
#include "tests/every.h"

#define FAMILIES "tests/data/families/"

/* What hooks on every module record, NAME=NODE, * for the number of a block; + puts nodes side by side. */
#define HF_DINOV2                                                                                                      \
    "embeddings.patch_embeddings=patch_embed embeddings=full_embed encoder.layer.*.norm1=blocks.*.ln1.out "            \
    "encoder.layer.*.attention.attention.query=blocks.*.attn.q encoder.layer.*.attention.attention.key=blocks.*."      \
    "attn.k encoder.layer.*.attention.attention.value=blocks.*.attn.v encoder.layer.*.attention.attention=blocks.*."   \
    "attn.z encoder.layer.*.attention.output.dense=blocks.*.attn.out encoder.layer.*.layer_scale1=blocks.*.attn."      \
    "scaled_out encoder.layer.*.norm2=blocks.*.ln2.out encoder.layer.*.mlp.fc1=blocks.*.mlp.pre "                      \
    "encoder.layer.*.mlp.activation=blocks.*.mlp.post encoder.layer.*.mlp.fc2=blocks.*.mlp.out "                       \
    "encoder.layer.*.layer_scale2=blocks.*.mlp.scaled_out encoder.layer.*=blocks.*.resid_post layernorm=ln_final.out " \
    "classifier=logits"
#define HF_BEIT                                                                                                        \
    "embeddings=full_embed encoder.layer.*.layernorm_before=blocks.*.ln1.out encoder.layer.*.attention.attention."     \
    "query=blocks.*.attn.q encoder.layer.*.attention.attention.key=blocks.*.attn.k encoder.layer.*.attention."         \
    "attention.value=blocks.*.attn.v encoder.layer.*.attention.attention=blocks.*.attn.z "                             \
    "encoder.layer.*.attention.output.dense=blocks.*.attn.out encoder.layer.*.layernorm_after=blocks.*.ln2.out "       \
    "encoder.layer.*.intermediate.dense=blocks.*.mlp.pre encoder.layer.*.intermediate.intermediate_act_fn=blocks.*."   \
    "mlp.post encoder.layer.*.output.dense=blocks.*.mlp.out encoder.layer.*.output=blocks.*.mlp.out "                  \
    "encoder.layer.*=blocks.*.resid_post "
#define HF_DINOV3                                                                                                      \
    "embeddings=full_embed layer.*.norm1=blocks.*.ln1.out layer.*.attention.q_proj=blocks.*.attn.q "                   \
    "layer.*.attention.k_proj=blocks.*.attn.k layer.*.attention.v_proj=blocks.*.attn.v "                               \
    "layer.*.attention.o_proj=blocks.*.attn.out layer.*.layer_scale1=blocks.*.attn.scaled_out "                        \
    "layer.*.norm2=blocks.*.ln2.out layer.*.mlp.up_proj=blocks.*.mlp.pre layer.*.mlp.gate_proj=blocks.*.mlp.gate "     \
    "layer.*.mlp.act_fn=blocks.*.mlp.gate_post|blocks.*.mlp.post layer.*.mlp.down_proj=blocks.*.mlp.out "              \
    "layer.*.layer_scale2=blocks.*.mlp.scaled_out layer.*=blocks.*.resid_post norm=ln_final.out"
#define HF_TOWER                                                                                                       \
    "vision_model.embeddings=full_embed vision_model.encoder.layers.*.layer_norm1=blocks.*.ln1.out "                   \
    "vision_model.encoder.layers.*.self_attn.q_proj=blocks.*.attn.q "                                                  \
    "vision_model.encoder.layers.*.self_attn.k_proj=blocks.*.attn.k "                                                  \
    "vision_model.encoder.layers.*.self_attn.v_proj=blocks.*.attn.v "                                                  \
    "vision_model.encoder.layers.*.self_attn.out_proj=blocks.*.attn.out "                                              \
    "vision_model.encoder.layers.*.layer_norm2=blocks.*.ln2.out vision_model.encoder.layers.*.mlp.fc1=blocks.*.mlp."   \
    "pre vision_model.encoder.layers.*.mlp.activation_fn=blocks.*.mlp.post "                                           \
    "vision_model.encoder.layers.*.mlp.fc2=blocks.*.mlp.out vision_model.encoder.layers.*=blocks.*.resid_post "
#define HF_CLIP                                                                                                        \
    HF_TOWER "vision_model.pre_layrnorm=norm_pre.out vision_model.post_layernorm=readout visual_projection=embedding "
#define HF_SIGLIP                                                                                                      \
    HF_TOWER "vision_model.post_layernorm=ln_final.out vision_model.head.attention=pool.out "                          \
             "vision_model.head.layernorm=pool_norm.out vision_model.head.mlp.fc1=pool_mlp.pre "                       \
             "vision_model.head.mlp.activation_fn=pool_mlp.post vision_model.head.mlp=pool_mlp.out "                   \
             "vision_model.head=readout"
#define OPENAI                                                                                                         \
    "visual.ln_pre=norm_pre.out visual.transformer.resblocks.*.ln_1=blocks.*.ln1.out "                                 \
    "visual.transformer.resblocks.*.attn=blocks.*.attn.out visual.transformer.resblocks.*.ln_2=blocks.*.ln2.out "      \
    "visual.transformer.resblocks.*.mlp.c_fc=blocks.*.mlp.pre "                                                        \
    "visual.transformer.resblocks.*.mlp.gelu=blocks.*.mlp.post "                                                       \
    "visual.transformer.resblocks.*.mlp.c_proj=blocks.*.mlp.out "                                                      \
    "visual.transformer.resblocks.*=blocks.*.resid_post visual.ln_post=readout visual=embedding"
#define TIMM                                                                                                           \
    "patch_embed=rms_patch.out|ln_patch.out|patch_embed pos_drop=full_embed norm_pre=norm_pre.out "                    \
    "blocks.*.norm1=blocks.*.ln1.out|blocks.*.rms1.out "                                                               \
    "blocks.*.attn.qkv=blocks.*.attn.q+blocks.*.attn.k+blocks.*.attn.v blocks.*.attn.proj=blocks.*.attn.out "          \
    "blocks.*.attn.norm=blocks.*.attn.ln_merged.out blocks.*.drop_path1=blocks.*.ln1.added|blocks.*.rms1.added "       \
    "blocks.*.drop_path2=blocks.*.ln2.added|blocks.*.rms2.added "                                                      \
    "blocks.*.ls1=blocks.*.attn.scaled_out blocks.*.norm2=blocks.*.ln2.out|blocks.*.rms2.out "                         \
    "blocks.*.mlp.fc2=blocks.*.mlp.out blocks.*.ls2=blocks.*.mlp.scaled_out blocks.*=blocks.*.resid_post "             \
    "norm=ln_final.out|rms_final.out fc_norm=fc_norm.out head=logits|embedding attn_pool=readout "                     \
    "attn_pool.mlp=pool_mlp.out "
#define TIMM_PLAIN TIMM "blocks.*.mlp.fc1=blocks.*.mlp.pre blocks.*.mlp.act=blocks.*.mlp.post"
#define TIMM_PACKED TIMM "blocks.*.mlp.fc1=blocks.*.mlp.gate+blocks.*.mlp.pre blocks.*.mlp.act=blocks.*.mlp.gate_post"
#define TIMM_APART                                                                                                     \
    TIMM "blocks.*.mlp.fc1_g=blocks.*.mlp.gate blocks.*.mlp.fc1_x=blocks.*.mlp.pre "                                   \
         "blocks.*.mlp.act=blocks.*.mlp.gate_post blocks.*.mlp.norm=blocks.*.mlp.ln_hidden.out"

#define HF_AIMV2                                                                                                       \
    "embeddings.patch_embed=patch_embed embeddings.rms_norm=rms_patch.out|ln_patch.out embeddings=full_embed "         \
    "encoder.layers.*.rms_norm1=blocks.*.rms1.out|blocks.*.ln1.out encoder.layers.*.attention.q_proj=blocks.*.attn.q " \
    "encoder.layers.*.attention.k_proj=blocks.*.attn.k encoder.layers.*.attention.v_proj=blocks.*.attn.v "             \
    "encoder.layers.*.attention.out_proj=blocks.*.attn.out "                                                           \
    "encoder.layers.*.rms_norm2=blocks.*.rms2.out|blocks.*.ln2.out "                                                   \
    "encoder.layers.*.ffn.gate_proj=blocks.*.mlp.gate encoder.layers.*.ffn.act_fn=blocks.*.mlp.gate_post "             \
    "encoder.layers.*.ffn.up_proj=blocks.*.mlp.pre encoder.layers.*.ffn.down_proj=blocks.*.mlp.out "                   \
    "encoder.layers.*=blocks.*.resid_post rms_norm=rms_final.out|ln_final.out head.k_proj=pool.k head.v_proj=pool.v "  \
    "head.output_proj=pool.out head=readout visual_projection=embedding"

static const struct {
    const char *family, *names;
} PROGRAMS[] = {
    {"dinov2", HF_DINOV2},
    {"dinov2_registers", HF_DINOV2},
    {"dinov3", HF_DINOV3},
    {"dinov3_gated", HF_DINOV3},
    {"clip", HF_CLIP},
    {"clip_classifier", HF_TOWER "vision_model.pre_layrnorm=norm_pre.out classifier=logits"},
    {"clip_openai", OPENAI},
    {"siglip", HF_SIGLIP},
    {"siglip_classifier", HF_TOWER "vision_model.post_layernorm=ln_final.out classifier=logits"},
    {"timm_eva02", TIMM_APART},
    {"timm_eva02_tiny", TIMM_PACKED},
    {"timm_rope_gap", TIMM_PLAIN},
    {"timm_rope_ape", TIMM_PLAIN},
    {"timm_siglip", TIMM_PLAIN},
    {"timm_dinov2_giant", TIMM_PACKED},
    {"timm_dinov3", TIMM_APART},
    {"jax", TIMM_PLAIN},
    {"timm_rope_mixed", TIMM_PLAIN},
    {"timm_rope_mixed_ape", TIMM_PLAIN},
    {"aimv2", HF_AIMV2},
    {"aimv2_apple", HF_AIMV2},
    {"timm_aimv2", TIMM_APART},
    {"timm_eva02_clip", TIMM_APART},
    {"timm_beit3", TIMM_PLAIN},
    {"timm_rpn", TIMM_PLAIN},
    {"timm_eva02_enormous", TIMM_PLAIN},
    {"beit", HF_BEIT "pooler.layernorm=fc_norm.out classifier=logits"},
    {"data2vec", HF_BEIT "layernorm=ln_final.out"},
    {"timm_beit", TIMM_PLAIN},
};
enum { PROGRAM_COUNT = sizeof PROGRAMS / sizeof *PROGRAMS };

static const char *names_of(const char *family)
{
    for (size_t i = 0; i < PROGRAM_COUNT; i++)
        if (strcmp(PROGRAMS[i].family, family) == 0)
            return PROGRAMS[i].names;
    fail_msg("no names for %s", family);
    return "";
}

/* The family's model on a picture of another size. */
static void side_family(Side *s, const char *family, void (*change)(VitConfig *c), void (*weigh)(Model *m))
{
    char path[200];
    Err err = {""};
    Image resized;
    uint32_t x = 5;
    *s = (Side){.picture = {.data = NULL}};
    snprintf(path, sizeof path, FAMILIES "%s", family);
    if (!model_load(&s->bench.model, path, NULL, NULL, &err))
        fail_msg("%s: %s", family, err.text);
    image_init(&s->picture, 57, 45, 3);
    for (int i = 0; i < 57 * 45 * 3; i++) {
        x = x * 1664525u + 1013904223u;
        s->picture.data[i] = (uint8_t)((i / 3 % 57 * 3 + i / 171 * 4 + i % 3 * 50 + (int)(x >> 27)) % 256);
    }
    if (change)
        change(&s->bench.model.vit);
    if (weigh)
        weigh(&s->bench.model);
    without_effect(&s->bench);
    s->bench.pixels = malloc(bench_pixels(&s->bench.model.vit) * sizeof(float));
    if (!preprocess_run(&s->bench.model.preprocess, &s->picture, &resized, s->bench.pixels, &err))
        fail_msg("%s", err.text);
    image_free(&resized);
    bench_start(&s->bench);
    side_subject(s);
}

/* --- recording --- */

enum { TENSORS_MOST = 256 };
typedef struct Trace {
    TensorOut out[TENSORS_MOST];
    size_t count;
    Arena arena;
} Trace;

static const char *numbered(Trace *t, const char *text, size_t n, int block)
{
    const char *star = memchr(text, '*', n);
    return star ? arena_printf(&t->arena, "%.*s%d%.*s", (int)(star - text), text, block,
                               (int)(n - (size_t)(star - text) - 1), star + 1)
                : arena_printf(&t->arena, "%.*s", (int)n, text);
}

/* The tensor with a batch axis in front and all but the first of the node's axes as one. */
static void add(Trace *t, Side *s, const char *name, const char *nodes)
{
    const Graph *g = s->subject.graph;
    NodeId part[4];
    int parts = 0;
    for (const char *w = nodes; *w && parts < 4;) {
        size_t n = strcspn(w, "+|");
        NodeId node = graph_find(g, arena_printf(&t->arena, "%.*s", (int)n, w));
        if (node == NO_NODE && w[n] != '|')
            return;
        if (node != NO_NODE)
            part[parts++] = node;
        if (node != NO_NODE && w[n] == '|')
            break;
        w += n + (w[n] != '\0');
    }
    Dims d = graph_node(g, part[0])->dims;
    size_t rows = d.n > 1 ? (size_t)g->axes[d.axis[0]].n : 1, width = graph_cells(g, part[0]) / rows;
    float *x = arena_alloc(&t->arena, rows * width * (size_t)parts * sizeof *x);
    for (int k = 0; k < parts; k++) {
        const float *from = run_need(s->bench.run, part[k]);
        for (size_t r = 0; r < rows; r++)
            memcpy(x + (r * (size_t)parts + (size_t)k) * width, from + r * width, width * sizeof *x);
    }
    assert_true(t->count < TENSORS_MOST);
    t->out[t->count++] = (TensorOut){.name = name,
                                     .rank = d.n > 1 ? 3 : 2,
                                     .shape = {1, d.n > 1 ? rows : width * (size_t)parts, width * (size_t)parts},
                                     .data = x};
}

static void write_names(Side *s, const char *names, const char *path)
{
    Trace *t = calloc(1, sizeof *t);
    Err err = {""};
    const VitConfig *c = &s->bench.model.vit;
    t->out[t->count++] = (TensorOut){.name = "pixel_values",
                                     .rank = 4,
                                     .shape = {1, (size_t)c->channels, (size_t)c->image_h, (size_t)c->image_w},
                                     .data = bench_values(&s->bench, "image")};
    for (const char *line = names; *line;) {
        size_t n = strcspn(line, " "), name = strcspn(line, "=");
        bool blocks = memchr(line, '*', n) != NULL;
        for (int b = 0; b < (blocks ? c->layers : 1); b++) {
            const char *node = line + name + 1;
            Buf all = {0};
            for (size_t left = n - name - 1; left;) { /* every * of the alternatives */
                size_t piece = strcspn(node, "+| ");
                buf_puts(&all, numbered(t, node, piece, b));
                node += piece;
                left -= piece;
                if (left) {
                    buf_putc(&all, *node++);
                    left--;
                }
            }
            add(t, s, numbered(t, line, name, b), buf_str(&all));
            buf_free(&all);
        }
        line += n + strspn(line + n, " ");
    }
    if (!tensors_write(path, TF_SAFETENSORS, t->out, t->count, NULL, &err))
        fail_msg("%s", err.text);
    arena_free(&t->arena);
    free(t);
}

/* --- right models --- */

static void right_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        Side s;
        Compared d;
        side_family(&s, PROGRAMS[i].family, NULL, NULL);
        write_names(&s, PROGRAMS[i].names, trace_path());
        compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
        if (!d.report.same || d.reference.unknown_count || d.report.count < 15)
            fail_msg("%s: %d compared, left out %d (%s): %s", PROGRAMS[i].family, d.report.count,
                     d.reference.unknown_count, d.reference.unknown_count ? d.reference.unknown[0] : "",
                     buf_str(&d.verdict));
        compare_free(&d);
        side_close(&s);
    }
}

/* --- wrong variants --- */

static void no_rope(VitConfig *c)
{
    c->rope = VIT_ROPE_NONE;
}
static void other_pairs(VitConfig *c)
{
    c->rope_half = !c->rope_half;
}
static void other_axis(VitConfig *c)
{
    c->rope_cols_first = !c->rope_cols_first;
}
static void other_base(VitConfig *c)
{
    c->rope_base = c->rope_base > 1000 ? 100 : 10000;
}
static void no_reference(VitConfig *c)
{
    c->rope_ref_h = c->rope_ref_w = 0;
}
static void erf_form(VitConfig *c)
{
    c->act = MAP_GELU;
}
static void tanh_form(VitConfig *c)
{
    c->act = MAP_GELU_TANH;
}
static void silu_form(VitConfig *c)
{
    c->act = MAP_SILU;
}
static void other_smoothing(VitConfig *c)
{
    c->fit_smooth = !c->fit_smooth;
}
static void straight(VitConfig *c)
{
    c->fit = VIT_FIT_BILINEAR;
}
static void on_corners(VitConfig *c)
{
    c->fit_corners = true;
}
static void nearest(VitConfig *c)
{
    c->fit = VIT_FIT_NEAREST;
}
static void other_pixels(VitConfig *c)
{
    for (int i = 0; i < 3; i++)
        c->mean[i] = c->std[i] = 0.5f;
}
static void large_eps(VitConfig *c)
{
    c->eps = 1e-3f;
}
static void no_scale(VitConfig *c)
{
    c->scale = 1;
}
static void first_token(VitConfig *c)
{
    c->pool = VIT_POOL_CLS;
}
static void mean_read(VitConfig *c)
{
    c->pool = VIT_POOL_MEAN;
}

static void layer_norm(VitConfig *c)
{
    c->rms_norm = false;
}
static void rms_form(VitConfig *c)
{
    c->rms_norm = true;
}
static void smaller_eps(VitConfig *c)
{
    c->eps = c->eps / 10;
}
static void no_patch_norm(VitConfig *c)
{
    c->patch_norm = false;
}
static void norm_first(VitConfig *c)
{
    c->branch_norm = false;
}
static void norm_after(VitConfig *c)
{
    c->branch_norm = false;
    c->post_norm = true;
}
static void on_branches(VitConfig *c)
{
    c->branch_norm = true;
}
static void no_merged_norm(VitConfig *c)
{
    c->merged_norm = false;
}
static void no_bias(VitConfig *c)
{
    c->bias = VIT_BIAS_NONE;
}

static const struct {
    const char *family;
    void (*change)(VitConfig *c);
    const char *says;
} WRONG[] = {
    {"dinov3", no_rope, "rotary positions are missing"},
    {"dinov3", other_pairs, "neighbours together (interleaved)"},
    {"dinov3", other_axis, "first half of a head by the column"},
    {"dinov3", other_base, "base 10000"},
    {"dinov3", large_eps, "ε = 0.001"},
    {"dinov3_gated", erf_form, "GELU with erf"},
    {"dinov3_gated", no_rope, "rotary positions are missing"},
    {"timm_eva02", no_rope, "rotary positions are missing"},
    {"timm_eva02", other_pairs, "rotate-half"},
    {"timm_eva02", no_reference, "not scaled to the grid"},
    {"timm_eva02", large_eps, "ε = 0.001"},
    {"timm_eva02_tiny", no_rope, "rotary positions are missing"},
    {"timm_rope_ape", other_axis, "first half of a head by the row"},
    {"timm_rope_gap", other_base, "base 100"},
    {"timm_rope_gap", no_scale, "does not multiply the scores"},
    {"timm_dinov3", first_token, "reads out the class token"},
    {"timm_dinov2_giant", erf_form, "GELU with erf"},
    {"clip", erf_form, "GELU with erf"},
    {"clip", other_pixels, "mean and deviation 0.5"},
    {"clip", large_eps, "ε = 0.001"},
    {"clip_classifier", erf_form, "GELU with erf"},
    {"clip_openai", tanh_form, "tanh approximation"},
    {"clip_openai", no_scale, "does not multiply the scores"},
    {"siglip", erf_form, "GELU with erf"},
    {"siglip", mean_read, "mean of the patches"},
    {"siglip_classifier", silu_form, "SiLU"},
    {"timm_siglip", erf_form, "GELU with erf"},
    {"jax", erf_form, "GELU with erf"},
    {"dinov2", other_smoothing, "with antialias"},
    {"dinov2", straight, "bilinear"},
    {"dinov2", on_corners, "corners aligned"},
    {"dinov2", nearest, "nearest position"},
    {"dinov2_registers", other_smoothing, "without antialias"},
    {"timm_rope_mixed", no_rope, "rotary positions are missing"},
    {"timm_rope_mixed", other_pairs, "rotate-half"},
    {"timm_rope_mixed", other_axis, "exchange rows and columns"},
    {"timm_rope_mixed_ape", no_rope, "rotary positions are missing"},
    {"timm_rope_mixed_ape", other_axis, "exchange rows and columns"},
    {"aimv2", layer_norm, "has LayerNorm: the mean is subtracted"},
    {"aimv2", erf_form, "GELU with erf"},
    {"aimv2", smaller_eps, "RMSNorm adds ε = 1e-06"},
    {"aimv2", no_patch_norm, "no norm after the patch embedding"},
    {"aimv2_apple", layer_norm, "has LayerNorm: the mean is subtracted"},
    {"aimv2_apple", smaller_eps, "RMSNorm adds ε = 1e-06"},
    {"timm_aimv2", layer_norm, "has LayerNorm: the mean is subtracted"},
    {"timm_aimv2", erf_form, "GELU with erf"},
    {"timm_aimv2", smaller_eps, "RMSNorm adds ε = 1e-06"},
    {"timm_aimv2", no_patch_norm, "no norm after the patch embedding"},
    {"timm_eva02_clip", no_merged_norm, "no norm inside attention"},
    {"timm_eva02_clip", no_rope, "rotary positions are missing"},
    {"timm_eva02_clip", rms_form, "RMSNorm without β"},
    {"timm_beit3", no_merged_norm, "no norm inside attention"},
    {"timm_rpn", rms_form, "RMSNorm without β"},
    {"timm_rpn", norm_first, "norms stand before attention and MLP"},
    {"timm_eva02_enormous", norm_first, "norms stand before attention and MLP"},
    {"timm_beit3", on_branches, "norms stand on the branches"},
    {"jax", on_branches, "norms stand on the branches"},
    {"beit", no_bias, "no relative position bias"},
    {"data2vec", no_bias, "no relative position bias"},
    {"timm_beit", no_bias, "no relative position bias"},
    {"beit", no_scale, "does not multiply the scores"},
    {"timm_beit", first_token, "reads out the class token"},
};

/* The last block turns by the first one's frequencies. */
static void other_block(Model *m)
{
    size_t each = (size_t)m->vit.heads * (size_t)(m->vit.head_dim / 2), all = (size_t)m->vit.layers * each;
    float *f = m->block + (vit_weight(&m->weights, VIT_ROPE_FREQS, 0)->data - m->block);
    memcpy(f + all - each, f, each * sizeof *f);
    memcpy(f + 2 * all - each, f + all, each * sizeof *f);
}

static void each_bias(Model *m, void (*change)(float *table, size_t rows, float scale))
{
    VitRole r = m->vit.bias == VIT_BIAS_SHARED ? VIT_SHARED_BIAS_TABLE : VIT_BIAS_TABLE;
    size_t rows = (size_t)vit_bias_rows(&m->vit);
    for (int layer = 0; layer < (vit_role_in_block(r) ? m->vit.layers : 1); layer++)
        for (size_t h = 0; h < (size_t)m->vit.heads; h++)
            change(m->block + (vit_weight(&m->weights, r, layer)->data - m->block) + h * rows, rows, m->vit.scale);
}
static void turn_table(float *table, size_t rows, float scale)
{
    (void)scale;
    for (size_t i = 0, n = rows - 3; i < n / 2; i++) {
        float kept = table[i];
        table[i] = table[n - 1 - i];
        table[n - 1 - i] = kept;
    }
    float kept = table[rows - 3];
    table[rows - 3] = table[rows - 2];
    table[rows - 2] = kept;
}
static void scale_table(float *table, size_t rows, float scale)
{
    for (size_t i = 0; i < rows; i++)
        table[i] *= scale;
}
static void transposed(Model *m)
{
    each_bias(m, turn_table);
}
static void before_scale(Model *m)
{
    each_bias(m, scale_table);
}

static void change_scales(Model *m, bool exchange)
{
    size_t width = (size_t)m->vit.width;
    for (int layer = 0; layer < m->vit.layers; layer++) {
        float *a = m->block + (vit_weight(&m->weights, VIT_ATTN_LS, layer)->data - m->block),
              *b = m->block + (vit_weight(&m->weights, VIT_MLP_LS, layer)->data - m->block);
        for (size_t i = 0; i < width; i++) {
            float x = exchange ? b[i] : a[i] * a[i], y = exchange ? a[i] : b[i] * b[i];
            a[i] = x;
            b[i] = y;
        }
    }
}
static void scaled_twice(Model *m)
{
    change_scales(m, false);
}
static void scales_exchanged(Model *m)
{
    change_scales(m, true);
}

/* …and with weights changed. */
static const struct {
    const char *family;
    void (*weigh)(Model *m);
    const char *says;
} WEIGHED[] = {
    {"timm_rope_mixed", other_block, "frequencies learned for"},
    {"timm_rope_mixed_ape", other_block, "frequencies learned for"},
    {"beit", transposed, "bias is transposed"},
    {"data2vec", transposed, "bias is transposed"},
    {"timm_beit", transposed, "bias is transposed"},
    {"beit", before_scale, "bias before the scale"},
    {"timm_beit", before_scale, "bias before the scale"},
    {"dinov2", scaled_twice, "by the layer scale twice"},
    {"dinov2", scales_exchanged, "layer scales of attention and MLP are exchanged"},
};

typedef struct Planted {
    const char *family, *says;
    void (*change)(VitConfig *c);
    void (*weigh)(Model *m);
} Planted;

static void found(Planted p, const char *names, bool must, int *named)
{
    Side ours, theirs;
    Compared d;
    side_family(&ours, p.family, NULL, NULL);
    side_family(&theirs, p.family, p.change, p.weigh);
    write_names(&theirs, names, trace_path());
    compare_with(&d, &ours, trace_path(), NULL, PRECISION_F32);
    bool right = false, wrong = false;
    for (int k = 0; k < d.report.cause_count; k++) {
        const DiffCause *f = &d.report.cause[k];
        bool fits = strstr(f->text, p.says) || strstr(f->also, p.says);
        right = right || (f->whole && fits);
        wrong = wrong || (f->whole && *f->text && !fits);
    }
    if (wrong || (must && !right))
        fail_msg("%s, '%s' %s: %s", p.family, p.says, wrong ? "named wrong" : "missed", buf_str(&d.verdict));
    *named += right;
    compare_free(&d);
    side_close(&ours);
    side_close(&theirs);
}

/* Norms elsewhere, told from the answer alone: what a block ends with is another node there. */
static const struct {
    const char *family;
    void (*change)(VitConfig *c);
    const char *says;
} ELSEWHERE[] = {
    {"timm_rpn", norm_after, "norms stand after the additions (post-norm)"},
    {"timm_eva02_enormous", norm_after, "norms stand after the additions (post-norm)"},
    {"jax", norm_after, "norms stand after the additions (post-norm)"},
    {"aimv2", norm_after, "norms stand after the additions (post-norm)"},
    {"aimv2", on_branches, "norms stand on the branches"},
};

static void wrong_variants(void **state)
{
    (void)state;
    int elsewhere = 0;
    for (size_t i = 0; i < sizeof ELSEWHERE / sizeof *ELSEWHERE; i++)
        found((Planted){.family = ELSEWHERE[i].family, .change = ELSEWHERE[i].change, .says = ELSEWHERE[i].says},
              "readout=readout embedding=embedding logits=logits", true, &elsewhere);
    enum { KNOBS = sizeof WRONG / sizeof *WRONG, COUNT = KNOBS + sizeof WEIGHED / sizeof *WEIGHED };
    int modules = 0, ends = 0, tried = 0;
    for (size_t i = 0; i < COUNT; i += (size_t)cases_every(1), tried++) {
        size_t k = i - KNOBS;
        Planted p = i < KNOBS ? (Planted){WRONG[i].family, WRONG[i].says, WRONG[i].change, NULL}
                              : (Planted){WEIGHED[k].family, WEIGHED[k].says, NULL, WEIGHED[k].weigh};
        found(p, names_of(p.family), true, &modules);
        found(p, "readout=readout embedding=embedding logits=logits", false, &ends);
    }
    print_message("  of %d: %d named from the modules, %d from the answer alone, none wrong\n", tried, modules, ends);
}

/* --- mistakes of an independent implementation (tests/data/families/make.py) --- */

static const struct {
    const char *family, *name, *says;
    enum { NAMED, AS_HERE } alone; /* the read-out alone: where tokens stand, they see the same */
} RECORDED[] = {
    {"dinov3", "values turned", "rotates v too", NAMED},
    {"dinov3", "class token turned", "rotates the prefix tokens too, as it does the first patch", NAMED},
    {"dinov3", "registers last", "registers stand last in the recording", AS_HERE},
    {"dinov3", "registers first", "registers stand first in the recording", AS_HERE},
    {"dinov3", "registers turned", "rotates the registers too, as it does the first patch", NAMED},
    {"dinov3", "turned from the registers on", "rotates the registers too, and the patches by positions", NAMED},
    {"dinov2_registers", "registers counted", "counts the registers too", NAMED},
    {"dinov3", "last block", "leaves out the last block", NAMED},
    {"dinov3", "no layer scale", "does not multiply by the layer scale", NAMED},
    {"dinov3", "no layer scale in block 1", "does not multiply by the layer scale", NAMED},
    {"dinov3", "layer scale twice", "by the layer scale twice", NAMED},
    {"dinov3", "layer scales exchanged", "layer scales of attention and MLP are exchanged", NAMED},
    {"dinov3", "layer scale on the sum", "multiplies the sum by the layer scale", NAMED},
    {"dinov3", "drop path left on", "adds 1.25 times what the MLP gives", NAMED},
    {"dinov3", "final norm twice", "final LayerNorm twice", NAMED},
    {"dinov3", "half softmax", "the softmax of attention in f16", NAMED},
    {"dinov3", "half weights", "what the softmax of attention gives in f16", NAMED},
    {"dinov3", "embedding normalised", "divides the embedding by its length", NAMED},
    {"siglip", "pooling unscaled", "does not multiply the scores of the pooling by 1/√d_k", NAMED},
    {"siglip", "pooling by the width", "divides the scores of the pooling by √(width of the model)", NAMED},
    {"siglip", "pooling without residual", "leaves out the residual connection around the pooling's MLP", NAMED},
    {"siglip", "pooling without norm", "no norm inside the pooling", NAMED},
    {"siglip", "embedding normalised", "divides the embedding by its length", NAMED},
    {"siglip", "embedding_unit as it is", "does not divide the embedding by its length", NAMED},
};

/* The recording's tensors of that mistake, under our names; the read-out, or embedding, alone. */
static void write_wrong(const TensorFile *f, const char *mistake, bool alone)
{
    TensorOut out[8];
    size_t count = 0, n = strlen(mistake);
    Err err = {""};
    for (size_t i = 0; i < f->count; i++) {
        const TensorInfo *t = &f->tensors[i];
        const bool last = i + 1 == f->count || strncmp(f->tensors[i + 1].name, mistake, n) != 0 ||
                          f->tensors[i + 1].name[n] != ':';
        if (strncmp(t->name, mistake, n) != 0 || t->name[n] != ':' || (alone && !last))
            continue;
        assert_true(count < 8);
        float *values = xfloats(t->cells);
        assert_true(tensors_read_f32(f, t, values, &err));
        out[count] = (TensorOut){.name = t->name + n + 1, .rank = t->rank, .data = values};
        memcpy(out[count++].shape, t->shape, sizeof t->shape);
    }
    assert_true(count > 0 && tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err));
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)out[i].data);
}

/* The family's model on the pixels that its recordings are of. */
static void side_recorded(Side *s, const char *family, TensorFile *wrong)
{
    TensorFile right;
    Err err = {""};
    char path[200];
    side_family(s, family, NULL, NULL);
    snprintf(path, sizeof path, FAMILIES "%s/wrong.safetensors", family);
    if (!tensors_open(wrong, path, &err))
        fail_msg("%s", err.text);
    snprintf(path, sizeof path, FAMILIES "%s/expected.safetensors", family);
    if (!tensors_open(&right, path, &err))
        fail_msg("%s", err.text);
    run_free(s->bench.run);
    graph_free(&s->bench.graph);
    assert_true(tensors_read_f32(&right, tensors_find(&right, "pixels"), s->bench.pixels, &err));
    tensors_close(&right);
    image_free(&s->picture);
    bench_start(&s->bench);
    side_subject(s);
    s->subject.picture = NULL;
}

static void recorded_elsewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * sizeof RECORDED / sizeof *RECORDED; i += (size_t)cases_every(1)) {
        Side s;
        TensorFile wrong;
        Compared d;
        side_recorded(&s, RECORDED[i / 2].family, &wrong);
        write_wrong(&wrong, RECORDED[i / 2].name, i % 2);
        compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
        bool named = false, other = false, expected = RECORDED[i / 2].alone == NAMED || i % 2 == 0;
        for (int k = 0; k < d.report.cause_count; k++) {
            const DiffCause *c = &d.report.cause[k];
            named = named || (c->whole && strstr(c->text, RECORDED[i / 2].says));
            other = other || (c->whole && *c->text && !strstr(c->text, RECORDED[i / 2].says));
        }
        if (other || named != expected || (!expected && d.report.same != (RECORDED[i / 2].alone == AS_HERE)))
            fail_msg("%s%s: %s", RECORDED[i / 2].name, i % 2 ? ", the read-out alone" : "", buf_str(&d.verdict));
        compare_free(&d);
        tensors_close(&wrong);
        side_close(&s);
    }
}

/* --- one mistake that is seen in several tensors: named once, and nothing beside it --- */

static void scale_of_sums(Plot *p)
{
    static const struct {
        const char *scope, *stream, *sum;
    } HALVES[] = {{"attn", "resid_pre", "resid_mid"}, {"mlp", "resid_mid", "resid_post"}};
    const size_t width = (size_t)p->c->width;
    for (int l = 0; l < p->c->layers; l++)
        for (size_t k = 0; k < 2; k++) {
            const char *scope = path_in(p, l, HALVES[k].scope),
                       *scaled = arena_printf(&p->arena, "%s.scaled_out", scope);
            const float *x = planted(p, path_in(p, l, HALVES[k].stream)),
                        *y = planted(p, arena_printf(&p->arena, "%s.out", scope)),
                        *scale = bench_values(&p->s->bench, arena_printf(&p->arena, "%s.layer_scale", scope));
            float *out = plant_values(p, scaled);
            for (size_t i = 0; i < cells_of(p, scaled); i++)
                out[i] = (x[i] + y[i]) * scale[i % width];
            plant(p, EDIT_REDIRECT, path_in(p, l, HALVES[k].sum))->other = scaled;
        }
}

/* What is hooked holds the residual stream already: no connection is left out. */
static void added_before(Plot *p)
{
    for (int l = 0; l < p->c->layers; l++) {
        const char *scaled = path_in(p, l, "mlp.scaled_out");
        const float *x = planted(p, path_in(p, l, "resid_mid")), *y = planted(p, scaled);
        float *out = plant_values(p, scaled);
        for (size_t i = 0; i < cells_of(p, scaled); i++)
            out[i] = x[i] + y[i];
        plant(p, EDIT_REDIRECT, path_in(p, l, "resid_post"))->other = scaled;
    }
}

/* Rows of a node: the registers behind the others, or in front. */
static void move_registers(Plot *p, const char *path, bool first)
{
    const size_t registers = (size_t)p->c->registers, front = (size_t)vit_prefix(p->c) - registers,
                 rows = (size_t)vit_tokens(p->c), width = cells_of(p, path) / rows;
    const float *x = planted(p, path);
    float *out = plant_values(p, path);
    for (size_t i = 0; i < rows; i++) {
        const bool moved = i >= front && i < front + registers;
        const size_t to = moved        ? i - front + (first ? 0 : rows - registers)
                          : first      ? i + (i < front ? registers : 0)
                          : i >= front ? i - registers
                                       : i;
        memcpy(out + to * width, x + i * width, width * sizeof *x);
    }
}
static void registers_moved(Plot *p, bool first)
{
    const float *readout = planted(p, "readout");
    move_registers(p, "full_embed", first);
    if (p->c->rope != VIT_ROPE_NONE) { /* each with its own rotation */
        move_registers(p, "rope_cos", first);
        move_registers(p, "rope_sin", first);
    }
    memcpy(plant_values(p, "readout"), readout, cells_of(p, "readout") * sizeof *readout); /* …and read where it is */
}
static void registers_front(Plot *p)
{
    registers_moved(p, true);
}
static void registers_behind(Plot *p)
{
    registers_moved(p, false);
}

/* The class token, and the mean of the patches and the registers. */
static void registers_counted(Plot *p)
{
    const size_t width = (size_t)p->c->width, rows = (size_t)vit_tokens(p->c),
                 from = (size_t)(vit_prefix(p->c) - p->c->registers);
    const float *x = planted(p, "ln_final.out");
    float *out = plant_values(p, "readout");
    for (size_t d = 0; d < width; d++) {
        double sum = 0;
        for (size_t t = from; t < rows; t++)
            sum += (double)x[t * width + d];
        out[d] = x[d];
        out[width + d] = (float)(sum / (double)(rows - from));
    }
}
static void read_unit(Plot *p)
{
    const float *x = planted(p, "readout");
    float *out = plant_values(p, "readout");
    double squares = 0;
    for (size_t d = 0; d < cells_of(p, "readout"); d++)
        squares += (double)x[d] * (double)x[d];
    for (size_t d = 0; d < cells_of(p, "readout"); d++)
        out[d] = (float)((double)x[d] / sqrt(squares));
}

/* The layer scale of one half, left out or applied twice. */
static void one_scale(Plot *p, const char *name, bool twice)
{
    for (int l = 0; l < p->c->layers; l++) {
        const float *own = bench_values(&p->s->bench, path_in(p, l, name));
        float *out = plant_values(p, path_in(p, l, name));
        for (int i = 0; i < p->c->width; i++)
            out[i] = twice ? own[i] * own[i] : 1;
    }
}
static void no_attention_scale(Plot *p)
{
    one_scale(p, "attn.layer_scale", false);
}
static void no_mlp_scale(Plot *p)
{
    one_scale(p, "mlp.layer_scale", false);
}
static void attention_scale_twice(Plot *p)
{
    one_scale(p, "attn.layer_scale", true);
}
static void mlp_scale_twice(Plot *p)
{
    one_scale(p, "mlp.layer_scale", true);
}

/* The pooling's MLP is added to what it reads. */
static void pooled_norm(Plot *p)
{
    const float *x = planted(p, "pool_norm.out"), *y = planted(p, "pool_mlp.out");
    float *out = plant_values(p, "readout");
    for (size_t d = 0; d < cells_of(p, "readout"); d++)
        out[d] = x[d] + y[d];
}

static const struct {
    const char *family;
    void (*plant)(Plot *p);
    const char *says; /* NULL: it has no name, and none may be given */
    bool alone;       /* the answer alone tells it too */
} SEEN[] = {
    {"dinov2", scale_of_sums, "multiplies the sum by the layer scale", true},
    {"dinov3", scale_of_sums, "multiplies the sum by the layer scale", true},
    {"dinov2", no_attention_scale, "not multiply by the layer scale behind attention", true},
    {"dinov2", no_mlp_scale, "not multiply by the layer scale behind the MLP", true},
    {"dinov2", attention_scale_twice, "by the layer scale twice behind attention", true},
    {"dinov2", mlp_scale_twice, "by the layer scale twice behind the MLP", true},
    {"dinov3", no_attention_scale, "not multiply by the layer scale behind attention", true},
    {"dinov3", mlp_scale_twice, "by the layer scale twice behind the MLP", true},
    {"siglip", pooled_norm, "the pooling's MLP starts after the LayerNorm", true},
    {"dinov2", added_before, NULL, false},
    {"dinov3", added_before, NULL, false},
    {"dinov2_registers", registers_front, "registers stand first", false},
    {"dinov2_registers", registers_behind, "registers stand last", false},
    {"dinov3", registers_front, "registers stand first", false},
    {"dinov3", registers_behind, "registers stand last", false},
    {"dinov2_registers", registers_counted, "mean of the patches counts the registers too", false},
    {"dinov3", read_unit, "divides what it reads out by its length", false},
    {"siglip", read_unit, "divides what it reads out by its length", false},
};

static void seen_often(void **state)
{
    (void)state;
    static const char MODULES[] = "full_embed blocks.*.ln1.out blocks.*.attn.q blocks.*.attn.k blocks.*.attn.v "
                                  "blocks.*.attn.out blocks.*.attn.scaled_out blocks.*.ln2.out blocks.*.mlp.pre "
                                  "blocks.*.mlp.out blocks.*.mlp.scaled_out blocks.*.resid_post ln_final.out ",
                      *LISTS[] = {MODULES, "blocks.*.resid_post ", ""};
    enum { RECORDINGS = sizeof LISTS / sizeof *LISTS };
    for (size_t i = 0; i < RECORDINGS * sizeof SEEN / sizeof *SEEN; i++) {
        const size_t k = i / RECORDINGS, how = i % RECORDINGS;
        Side s;
        Compared d;
        if (!*LISTS[how] && !SEEN[k].alone)
            continue;
        side_family(&s, SEEN[k].family, NULL, NULL);
        Plot p = {.s = &s, .c = &s.bench.model.vit};
        SEEN[k].plant(&p);
        const char *end = graph_find(s.subject.graph, "logits") != NO_NODE ? "logits" : "readout";
        write_edited(&s, p.edit, p.count, PRECISION_F32, arena_printf(&p.arena, "%s%s", LISTS[how], end), trace_path());
        compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
        const bool alone = d.report.cause_count == 1 && d.report.cause[0].whole;
        bool named = false;
        for (int c = 0; c < d.report.cause_count; c++)
            named = named || (d.report.cause[c].whole && *d.report.cause[c].text);
        if (SEEN[k].says ? !alone || !strstr(d.report.cause[0].text, SEEN[k].says) : named)
            fail_msg("%s, %s, recording %zu: %s", SEEN[k].family, SEEN[k].says ? SEEN[k].says : "no name", how,
                     buf_str(&d.verdict));
        compare_free(&d);
        arena_free(&p.arena);
        side_close(&s);
    }
}

/* --- what to record next, in the recording's own naming --- */

#define HF_VIT                                                                                                         \
    "vit.embeddings.patch_embeddings=patch_embed vit.embeddings=full_embed "                                           \
    "vit.encoder.layer.*.layernorm_before=blocks.*.ln1.out vit.encoder.layer.*.attention.attention.query=blocks.*."    \
    "attn.q vit.encoder.layer.*.attention.attention=blocks.*.attn.z vit.encoder.layer.*.attention.output.dense="       \
    "blocks.*.attn.out vit.encoder.layer.*.intermediate.dense=blocks.*.mlp.pre vit.encoder.layer.*.intermediate="      \
    "blocks.*.mlp.post vit.encoder.layer.*.output.dense=blocks.*.mlp.out vit.encoder.layer.*=blocks.*.resid_post "     \
    "vit.layernorm=ln_final.out classifier=logits"
#define HF_VIT5                                                                                                        \
    "vit.embeddings=full_embed vit.layers.*.layernorm_before=blocks.*.ln1.out vit.layers.*.attention.q_proj=blocks.*." \
    "attn.q vit.layers.*.attention.o_proj=blocks.*.attn.out vit.layers.*.mlp.fc1=blocks.*.mlp.pre "                    \
    "vit.layers.*.mlp.fc2=blocks.*.mlp.out vit.layers.*=blocks.*.resid_post vit.layernorm=ln_final.out "               \
    "classifier=logits"
#define VISION                                                                                                         \
    "conv_proj=patch_embed encoder.dropout=full_embed encoder.layers.encoder_layer_*.ln_1=blocks.*.ln1.out "           \
    "encoder.layers.encoder_layer_*.self_attention=blocks.*.attn.out encoder.layers.encoder_layer_*.ln_2=blocks.*."    \
    "ln2.out encoder.layers.encoder_layer_*.mlp.0=blocks.*.mlp.pre encoder.layers.encoder_layer_*.mlp.1=blocks.*.mlp." \
    "post encoder.layers.encoder_layer_*.mlp=blocks.*.mlp.out encoder.layers.encoder_layer_*=blocks.*.resid_post "     \
    "encoder.ln=ln_final.out heads.head=logits"
#define HOOKS                                                                                                          \
    "hook_full_embed=full_embed blocks.*.ln1.hook_normalized=blocks.*.ln1.out blocks.*.attn.hook_q=blocks.*.attn.q "   \
    "blocks.*.attn.hook_z=blocks.*.attn.z blocks.*.hook_attn_out=blocks.*.attn.out "                                   \
    "blocks.*.mlp.hook_pre=blocks.*.mlp.pre blocks.*.hook_resid_post=blocks.*.resid_post ln_final.hook_normalized="    \
    "ln_final.out"
/* a program of one's own, its names told with --map */
static const char OWN[] =
    "stage.*.q = blocks.*.attn.q\nstage.*.mix = blocks.*.attn.out\nstage.* = blocks.*.resid_post\n"
    "stage.*.hidden = blocks.*.mlp.pre\nscore = logits\n";
#define OWN_NAMES                                                                                                      \
    "stage.*.q=blocks.*.attn.q stage.*.mix=blocks.*.attn.out stage.*.hidden=blocks.*.mlp.pre "                         \
    "stage.*=blocks.*.resid_post score=logits"

/* Every name of a list, of every block, or of the lines about the ends of blocks only. */
static void expand(Trace *t, const char *names, int layers, bool ends, const char *all[TENSORS_MOST], int *count)
{
    *count = 0;
    for (const char *line = names; *line;) {
        size_t n = strcspn(line, " "), name = strcspn(line, "=");
        bool blocks = memchr(line, '*', n) != NULL;
        for (int b = 0; b < (blocks ? layers : 1); b++)
            if (!ends || (n > 10 && strncmp(line + n - 10, "resid_post", 10) == 0)) {
                assert_true(*count < TENSORS_MOST);
                all[(*count)++] = numbered(t, line, name, b);
            }
        line += n + strspn(line + n, " ");
    }
}

/* One of the names, or a module that holds one. */
static bool among(const char *name, const char *const *all, int count)
{
    size_t n = strlen(name);
    for (int i = 0; i < count; i++)
        if (strncmp(all[i], name, n) == 0 && (!all[i][n] || all[i][n] == '.'))
            return true;
    return false;
}

/* Each line's name in the last block, as if it had not been recorded: what is proposed is one of the program's names.
 */
static int proposed(const char *what, const Graph *g, const DiffMap *map, int layers, const char *names, bool ends)
{
    Trace *t = calloc(1, sizeof *t);
    const char *all[TENSORS_MOST], *recorded[TENSORS_MOST];
    int count, of, tried = 0;
    expand(t, names, layers, false, all, &count);
    for (const char *line = names; *line;) {
        size_t n = strcspn(line, " "), equals = strcspn(line, "=");
        const char *own = numbered(t, line, equals, layers - 1);
        DiffTarget to[DIFF_PARTS];
        char name[DIFF_PATH];
        DiffNaming naming = {.name = recorded};
        expand(t, names, layers, ends, recorded, &of);
        for (int i = 0; i < of; i++) /* but for that one */
            if (strcmp(recorded[i], own) != 0)
                recorded[naming.count++] = recorded[i];
        int parts = diff_name_targets(map, g, own, to);
        if (memchr(line, '*', n) && parts > 0 && !(ends && strstr(own, "mlp.fc1_"))) {
            if (!diff_name_of(&naming, map, g, to[0].node, name, sizeof name) || !among(name, all, count))
                fail_msg("%s: %s is proposed as '%s', which that program does not have; it is '%s'", what,
                         graph_node(g, to[0].node)->path, name, own);
            tried++;
        }
        line += n + strspn(line + n, " ");
    }
    arena_free(&t->arena);
    free(t);
    return tried;
}

static void proposals(void **state)
{
    (void)state;
    static const char *const TINY_NAMES[] = {HF_VIT, HF_VIT5, VISION, HOOKS, TIMM_PLAIN, OWN_NAMES};
    Side s;
    DiffMap map;
    Err err = {""};
    int tried = 0;
    for (size_t i = 0; i < PROGRAM_COUNT; i++) {
        side_family(&s, PROGRAMS[i].family, NULL, NULL);
        int layers = s.bench.model.vit.layers;
        tried += proposed(PROGRAMS[i].family, s.subject.graph, NULL, layers, PROGRAMS[i].names, false);
        tried += proposed(PROGRAMS[i].family, s.subject.graph, NULL, layers, PROGRAMS[i].names, true);
        side_close(&s);
    }
    side_open(&s, TINY, TINY "/image.ppm");
    assert_true(diff_map_parse(&map, "own", OWN, s.subject.graph, &err));
    for (size_t i = 0; i < sizeof TINY_NAMES / sizeof *TINY_NAMES; i++)
        for (int ends = 0; ends < 2; ends++)
            tried += proposed(TINY_NAMES[i], s.subject.graph, strstr(TINY_NAMES[i], "stage") ? &map : NULL,
                              s.bench.model.vit.layers, TINY_NAMES[i], ends);
    diff_map_free(&map);
    side_close(&s);
    print_message("  %d names proposed\n", tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_models), cmocka_unit_test(wrong_variants),
                                       cmocka_unit_test(recorded_elsewhere), cmocka_unit_test(seen_often),
                                       cmocka_unit_test(proposals)};
    return cmocka_run_group_tests_name("diff families", tests, NULL, NULL);
}
