/* Models whose weights come from a seed or from the binary. Knows no files. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/models/drawn.h"
#include "core/models/family.h"

/* How a weight begins: mean + deviation · N(0,1), the deviation divided by √inputs where `fan` is set.
 * Queries and keys are large: with deviation s a score divided by √d_k has deviation s², so that softmax prefers some
 * tokens. */
static const struct {
    float mean, deviation;
    bool fan;
} STARTS[] = {
    [START_TOKEN] = {0.0f, 0.5f, false},  [START_POSITION] = {0.0f, 0.2f, false}, [START_ONE] = {1.0f, 0.1f, false},
    [START_SMALL] = {0.0f, 0.05f, false}, [START_FAN] = {0.0f, 1.0f, true},       [START_SHARP] = {0.0f, 1.5f, true},
};

void weight_seeded(const WeightPlace *w, uint64_t seed, float *out)
{
    Rng rng = rng_seed(seed, w->stream); /* a stream per weight: any of them can be made alone */
    float deviation = STARTS[w->start].deviation;
    if (STARTS[w->start].fan) {
        bool last = strchr("hgc", *w->axes) != NULL; /* several axes are outputs */
        size_t inputs = last ? w->shape[w->rank - 1] : w->cells / w->shape[0];
        deviation = (float)((double)deviation / dm_sqrt((double)inputs));
    }
    for (size_t i = 0; i < w->cells; i++)
        out[i] = STARTS[w->start].mean + deviation * rng_normal(&rng);
}

void model_fill_seeded(Model *m, const Family *family, uint64_t seed)
{
    model_alloc(m, family);
    const char *origin = arena_printf(&m->arena, "seed %llu", (unsigned long long)seed);
    for (WeightPlace w = {0}; model_weight(m, &w); w.at->origin = origin)
        weight_seeded(&w, seed, w.data);
}

bool model_fill_bundled(Model *m, const Model *is, const Family *family, const char *what, const void *weights,
                        size_t bytes, Err *err)
{
    size_t want = size_mul(family->params(is), sizeof(float));
    const unsigned char *at = weights;
    if (!at || bytes != want)
        return err_set(err, "%s has %zu bytes of weights where %zu were expected; rebuild with `make clean all`", what,
                       bytes, want);
    *m = *is;
    model_alloc(m, family);
    for (WeightPlace w = {0}; model_weight(m, &w); at += w.cells * sizeof(float)) {
        memcpy(w.data, at, w.cells * sizeof(float));
        w.at->origin = m->name;
    }
    return true;
}

void model_seeded(Model *m, const VitConfig *c, uint64_t seed)
{
    *m = (Model){.layout = "seeded", .vit = *c};
    m->name = arena_printf(&m->arena, "seeded-%llu", (unsigned long long)seed);
    m->preprocess = preprocess_default(c);
    model_fill_seeded(m, &FAMILY_VIT, seed);
}

bool model_size(const char *size, VitConfig *c)
{
    static const struct {
        const char *name;
        int image, patch, width, layers, heads, mlp, classes;
    } sizes[] = {
        {"tiny", 32, 8, 32, 2, 4, 64, 5},
        {"b16", 224, 16, 768, 12, 12, 3072, 1000},
        {"b16-384", 384, 16, 768, 12, 12, 3072, 1000},
        {"l16", 224, 16, 1024, 24, 16, 4096, 1000},
        {"h14", 224, 14, 1280, 32, 16, 5120, 1000},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (strcmp(size, sizes[i].name) != 0)
            continue;
        *c = vit_config_base();
        c->image_h = c->image_w = sizes[i].image;
        c->patch_h = c->patch_w = sizes[i].patch;
        c->width = sizes[i].width;
        c->layers = sizes[i].layers;
        c->heads = sizes[i].heads;
        c->head_dim = c->width / c->heads;
        c->scale = vit_scale(c->head_dim);
        c->mlp = sizes[i].mlp;
        c->classes = sizes[i].classes;
        return true;
    }
    return false;
}

VitConfig model_bundled_config(void)
{
    VitConfig c = vit_config_base();
    c.image_h = c.image_w = DRAWN_SIDE;
    c.patch_h = c.patch_w = 6;
    c.width = 64;
    c.layers = 4;
    c.heads = 4;
    c.head_dim = 16;
    c.scale = vit_scale(c.head_dim);
    c.mlp = 128;
    c.classes = DRAWN_CLASSES;
    c.act = MAP_GELU_TANH;
    c.input = VIT_INPUT_PER_IMAGE;
    c.mask_token = c.reconstruct = true;
    return c;
}
_Static_assert((int)MODEL_BUNDLED_CLASSES == (int)DRAWN_CLASSES, "one class per shape");

bool model_bundled(Model *m, const void *weights, size_t bytes, Err *err)
{
    VitConfig c = model_bundled_config();
    const Model is = {.name = "shapes-vit",
                      .layout = "bundled",
                      .vit = c,
                      .class_names = SHAPES_NAMES,
                      .drawn_shapes = true,
                      .trained = true,
                      .preprocess = preprocess_default(&c)};
    return model_fill_bundled(m, &is, &FAMILY_VIT, "the bundled model", weights, bytes, err);
}
