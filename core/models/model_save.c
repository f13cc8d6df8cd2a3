/* Writing a model in Hugging Face form. What that family cannot say is written as keys of our own, which model_load
 * reads back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/models/checkpoint.h"
#include "core/models/family.h"

static const char *const ACT_NAMES[MAP_COUNT] = {
    [MAP_GELU] = "gelu", [MAP_GELU_TANH] = "gelu_pytorch_tanh", [MAP_QUICK_GELU] = "quick_gelu", [MAP_RELU] = "relu",
    [MAP_SILU] = "silu",
};

/* Weights that are made one at a time, in order. */
typedef struct Made {
    const Model *m;
    ModelFill fill;
    void *context;
    WeightPlace w;
    float *values;
} Made;

static const float *next_made(void *made, size_t i, Err *err)
{
    Made *v = made;
    (void)i, (void)err;
    REQUIRE(model_weight(v->m, &v->w));
    free(v->values);
    v->fill(v->context, &v->w, v->values = xfloats(v->w.cells));
    return v->values;
}

bool model_write_weights(const Model *m, const char *dir, StoredAs *stored, const char *const *metadata, ModelFill fill,
                         void *context, Err *err)
{
    Arena room = {0};
    TensorOut *out = xcalloc(m->family->places(m), sizeof *out);
    Made made = {.m = m, .fill = fill, .context = context};
    size_t n = 0;
    for (WeightPlace w = {0}; model_weight(m, &w); n++) {
        out[n] = (TensorOut){.rank = w.rank, .data = fill ? NULL : weight_all_floats(w.at, w.cells, &room)};
        memcpy(out[n].shape, w.shape, sizeof w.shape);
        out[n].name = stored(m, &w, &room, &out[n]);
    }
    bool ok = tensors_write_each(arena_printf(&room, "%s/model.safetensors", dir), TF_SAFETENSORS, out, n, metadata,
                                 next_made, &made, err);
    free(made.values);
    free(out);
    arena_free(&room);
    return ok;
}

/* Tokens and positions have a batch axis of 1 in front, as that family stores them, and the mask token one more. */
static const char *stored(const Model *m, const WeightPlace *w, Arena *room, TensorOut *out)
{
    const VitRole r = (VitRole)w->role;
    LayoutName how;
    size_t shape[4],
        front = r == VIT_MASK_TOKEN ? 2 : r == VIT_CLS || r == VIT_DIST || r == VIT_REGISTERS || r == VIT_POS;
    const int rank = layout_shape(&(LayoutName){.parts = 1}, &m->vit, r, shape);
    out->rank = (int)front + rank;
    out->shape[0] = out->shape[1] = 1;
    memcpy(out->shape + front, shape, (size_t)rank * sizeof *shape);
    layout_alternative(LAYOUTS[0].names[r], 0, w->layer, &how);
    return arena_printf(room, "%s%s", layout_outside(r) ? "" : "vit.", how.name);
}

void put_shortest(Buf *b, float x)
{
    char text[40];
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
    while (digits++ < 9 && strtof(text, NULL) != x);
    buf_puts(b, text);
}

static void put_numbers(Buf *b, const char *key, const float *v, int n, bool list)
{
    buf_printf(b, "  \"%s\": %s", key, list ? "[" : "");
    for (int i = 0; i < n; i++) {
        buf_puts(b, i ? ", " : "");
        put_shortest(b, v[i]);
    }
    buf_puts(b, list ? "],\n" : ",\n");
}

static void put_pair(Buf *b, const char *key, int h, int w)
{
    if (h == w)
        buf_printf(b, "  \"%s\": %d,\n", key, h);
    else
        buf_printf(b, "  \"%s\": [%d, %d],\n", key, h, w);
}

static void put_labels(Buf *b, const Model *m)
{
    buf_puts(b, "  \"id2label\": {");
    for (int i = 0; i < m->vit.classes; i++) {
        buf_printf(b, "%s\n    \"%d\": ", i ? "," : "", i);
        buf_json(b, m->class_names[i]);
    }
    buf_puts(b, "\n  },\n");
}

/* Keys that only models which a Hugging Face reader would misread have. */
static void put_own_keys(Buf *b, const Model *m)
{
    const VitConfig *c = &m->vit;
    float usual = vit_scale(c->head_dim);
    static const char *const pools[] = {
        [VIT_POOL_CLS] = "token", [VIT_POOL_MEAN] = "avg", [VIT_POOL_CLS_DIST] = "token", [VIT_POOL_NONE] = "none"};
    if (memcmp(&c->scale, &usual, sizeof usual) != 0)
        put_numbers(b, "attention_scale", &c->scale, 1, false);
    if (c->rms_norm)
        buf_puts(b, "  \"rms_norm\": true,\n");
    if (c->post_norm)
        buf_puts(b, "  \"post_norm\": true,\n");
    if (c->pos == VIT_POS_NONE)
        buf_puts(b, "  \"positions\": \"none\",\n");
    if (!c->final_norm)
        buf_puts(b, "  \"final_norm\": false,\n");
    if (c->pool != VIT_POOL_CLS_DIST)
        buf_printf(b, "  \"global_pool\": \"%s\",\n", pools[c->pool]);
    if (c->input == VIT_INPUT_PER_IMAGE)
        buf_puts(b, "  \"input_norm\": \"per_image\",\n");
    if (c->registers)
        buf_printf(b, "  \"num_register_tokens\": %d,\n", c->registers);
    if (c->layer_scale)
        buf_puts(b, "  \"layer_scale_init_value\": 1,\n");
    if (c->mask_token)
        buf_puts(b, "  \"use_mask_token\": true,\n");
    if (c->reconstruct) {
        buf_puts(b, "  \"vitrine_reconstruct\": true,\n");
        put_pair(b, "encoder_stride", c->patch_h, c->patch_w);
    }
    if (!m->trained)
        buf_puts(b, "  \"trained\": false,\n");
    if (m->drawn_shapes)
        buf_puts(b, "  \"drawn_shapes\": true,\n");
}

static void put_config(Buf *b, const Model *m)
{
    const VitConfig *c = &m->vit;
    buf_printf(b, "{\n  \"architectures\": [\"%s\"],\n  \"model_type\": \"vit\",\n",
               c->reconstruct && !c->classes ? "ViTForMaskedImageModeling" : "ViTForImageClassification");
    buf_printf(
        b,
        "  \"hidden_size\": %d,\n  \"num_hidden_layers\": %d,\n  \"num_attention_heads\": %d,\n  \"head_dim\": %d,\n",
        c->width, c->layers, c->heads, c->head_dim);
    buf_printf(b, "  \"intermediate_size\": %d,\n  \"hidden_act\": \"%s\",\n", c->mlp,
               ACT_NAMES[c->act] ? ACT_NAMES[c->act] : map_name(c->act));
    put_numbers(b, "layer_norm_eps", &c->eps, 1, false);
    put_pair(b, "image_size", c->image_h, c->image_w);
    put_pair(b, "patch_size", c->patch_h, c->patch_w);
    if (m->class_names && c->classes)
        put_labels(b, m);
    put_own_keys(b, m);
    buf_printf(b, "  \"num_channels\": %d,\n  \"qkv_bias\": %s\n}\n", c->channels, c->qkv_bias ? "true" : "false");
}

static void put_processor(Buf *b, const Model *m)
{
    static const int pil[] = {
        [FILTER_NEAREST] = 0, [FILTER_LANCZOS] = 1, [FILTER_BILINEAR] = 2, [FILTER_BICUBIC] = 3, [FILTER_BOX] = 4};
    const Preprocess *p = &m->preprocess;
    const VitConfig *c = &m->vit;
    int w = p->width + p->beyond_w, h = p->height + p->beyond_h,
        edge = p->resize_w < p->resize_h ? p->resize_w : p->resize_h;
    buf_printf(b, "{\n  \"image_processor_type\": \"%sImageProcessor\",\n  \"do_resize\": %s,\n",
               p->exact ? "DINOv3ViT" : "ViT", p->mode == RESIZE_KEEP ? "false" : "true");
    if (p->mode == RESIZE_COVER)
        buf_printf(b, "  \"size\": {\"shortest_edge\": %d},\n", edge);
    else
        buf_printf(b, "  \"size\": {\"height\": %d, \"width\": %d},\n", p->resize_h, p->resize_w);
    if (p->mode != RESIZE_SQUASH || p->resize_w != w || p->resize_h != h)
        buf_printf(b, "  \"do_center_crop\": true,\n  \"crop_size\": {\"height\": %d, \"width\": %d},\n", h, w);
    buf_printf(
        b, "  \"resample\": %d,\n  \"do_rescale\": true,\n  \"rescale_factor\": %.17g,\n  \"do_normalize\": true,\n",
        pil[p->filter], 1.0 / (double)c->range);
    put_numbers(b, "image_mean", c->mean, c->channels, true);
    put_numbers(b, "image_std", c->std, c->channels, true);
    b->data[b->len -= 2] = '\0'; /* the last comma */
    buf_puts(b, "\n}\n");
}

static bool save_text(const Model *m, const char *dir, const char *name, void (*put)(Buf *, const Model *), Err *err)
{
    Buf path = {0}, text = {0};
    buf_printf(&path, "%s/%s", dir, name);
    put(&text, m);
    bool ok = file_write(buf_str(&path), text.data, text.len, err);
    buf_free(&path);
    buf_free(&text);
    return ok;
}

bool model_save_filled(const Model *m, const char *dir, ModelFill fill, void *context, Err *err)
{
    static const char *const METADATA[] = {"format", "pt", NULL};
    const VitConfig *c = &m->vit;
    if (c->rope || c->bias || c->gated || c->hidden_norm || c->patch_norm || c->merged_norm || c->branch_norm ||
        c->project || c->embeds || c->pool == VIT_POOL_BOTH || c->pool == VIT_POOL_ATTENTION || vit_resizes(c) ||
        c->bare_q || c->bare_k || c->bare_v)
        return err_set(err, "%s: a model of this kind (%s) cannot be written as a Hugging Face ViT; copy its own files",
                       dir, m->layout ? m->layout : "seeded");
    if (!file_is_dir(dir))
        return err_set(err, "%s: no such folder; make it first (mkdir -p)", dir);
    return model_write_weights(m, dir, stored, METADATA, fill, context, err) &&
           save_text(m, dir, "config.json", put_config, err) &&
           save_text(m, dir, "preprocessor_config.json", put_processor, err);
}

bool model_save(const Model *m, const char *dir, Err *err)
{
    return model_save_filled(m, dir, NULL, NULL, err);
}
