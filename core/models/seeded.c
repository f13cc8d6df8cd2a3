/* Models whose weights come from a seed or from the binary. Knows no files. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/models/drawn.h"
#include "core/models/model.h"

/* How a weight begins: mean + deviation · N(0,1), the deviation divided by √inputs where `fan` is set.
 * Queries and keys are large: with deviation s a score divided by √d_k has deviation s², so that softmax prefers some
 * tokens. */
typedef enum Start { TOKEN, POSITION, ONE, SMALL, FAN, SHARP } Start;
static const struct {
    float mean, deviation;
    bool fan;
} STARTS[] = {
    [TOKEN] = {0.0f, 0.5f, false},  [POSITION] = {0.0f, 0.2f, false}, [ONE] = {1.0f, 0.1f, false},
    [SMALL] = {0.0f, 0.05f, false}, [FAN] = {0.0f, 1.0f, true},       [SHARP] = {0.0f, 1.5f, true},
};
static const Start ROLE_START[VIT_ROLES] = {
#define ROLE(symbol, where, name, axes, start) [VIT_##symbol] = start,
#include "core/models/vit_roles.def"
#undef ROLE
};

/* Numbers that one output is summed from. */
static size_t inputs_of(const VitConfig *c, VitRole r)
{
    size_t shape[4];
    vit_role_shape(c, r, shape);
    char first = vit_role_axes(r)[0];
    return first == 'h' || first == 'c' ? (size_t)c->width
                                        : vit_role_cells(c, r) / shape[0]; /* several axes are outputs */
}

/* So many kinds of weights have the streams of the first models; those added later come behind them all. */
enum { STREAMS = 64, LATE_ROLES = 1024 };
static const uint64_t LATE_STREAMS = (uint64_t)1 << 32;

void model_seeded_weight(const VitConfig *c, uint64_t seed, VitRole r, int layer, float *out)
{
    uint64_t row = vit_role_in_block(r) ? (uint64_t)layer + 1 : 0;
    /* a stream per weight: any of them can be made alone */
    uint64_t stream = (int)r < STREAMS ? row * STREAMS + (uint64_t)r : LATE_STREAMS + row * LATE_ROLES + (uint64_t)r;
    Rng rng = rng_seed(seed, stream);
    Start s = ROLE_START[r];
    float deviation = STARTS[s].deviation;
    if (STARTS[s].fan)
        deviation = (float)((double)deviation / dm_sqrt((double)inputs_of(c, r)));
    size_t n = vit_role_cells(c, r);
    for (size_t i = 0; i < n; i++)
        out[i] = STARTS[s].mean + deviation * rng_normal(&rng);
}

typedef void (*Fill)(const Model *m, VitRole r, int layer, float *out, void *context);

static void fill_all(Model *m, const char *origin, Fill fill, void *context)
{
    model_alloc(m);
    for (int layer = -1; layer < m->vit.layers; layer++)
        for (int r = 0; r < VIT_ROLES; r++) {
            VitRole role = (VitRole)r;
            if (vit_role_in_block(role) != (layer >= 0) || !vit_has(&m->vit, role))
                continue;
            WeightTensor *t = vit_weight(&m->weights, role, layer);
            fill(m, role, layer, m->block + (t->data - m->block), context);
            t->origin = origin;
        }
}

static void fill_seeded(const Model *m, VitRole r, int layer, float *out, void *seed)
{
    model_seeded_weight(&m->vit, *(const uint64_t *)seed, r, layer, out);
}

void model_seeded(Model *m, const VitConfig *c, uint64_t seed)
{
    *m = (Model){.layout = "seeded", .vit = *c};
    m->name = arena_printf(&m->arena, "seeded-%llu", (unsigned long long)seed);
    m->preprocess = preprocess_default(c);
    fill_all(m, arena_printf(&m->arena, "seed %llu", (unsigned long long)seed), fill_seeded, &seed);
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

typedef struct Cursor {
    const unsigned char *at;
} Cursor;

static void fill_bundled(const Model *m, VitRole r, int layer, float *out, void *cursor)
{
    (void)layer;
    Cursor *c = cursor;
    size_t n = vit_role_cells(&m->vit, r) * sizeof *out;
    memcpy(out, c->at, n);
    c->at += n;
}

bool model_bundled(Model *m, const void *weights, size_t bytes, Err *err)
{
    VitConfig c = model_bundled_config();
    size_t want = size_mul(vit_params(&c), sizeof(float));
    if (!weights || bytes != want)
        return err_set(
            err, "the bundled model has %zu bytes of weights where %zu were expected; rebuild with `make clean all`",
            bytes, want);
    *m = (Model){.name = "shapes-vit",
                 .layout = "bundled",
                 .vit = c,
                 .class_names = SHAPES_NAMES,
                 .drawn_shapes = true,
                 .trained = true};
    m->preprocess = preprocess_default(&c);
    fill_all(m, "shapes-vit", fill_bundled, &(Cursor){weights});
    return true;
}
