/* What every model has, wherever its weights come from, and models whose weights come from a seed or from the binary.
 * Knows no files. */
#include "core/models/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/dmath.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/models/family.h"
#include "core/models/text_model.h"
#include "core/models/weights.h"

/* --- one weight --- */

int weight_shape(const char *axes, WeightLength length, const void *config, size_t shape[4])
{
    int rank = 0;
    for (const char *a = axes; *a; a++)
        shape[rank++] = (size_t)length(config, *a);
    return rank;
}

size_t weight_cells(const char *axes, WeightLength length, const void *config)
{
    size_t shape[4], n = 1;
    int rank = weight_shape(axes, length, config, shape);
    for (int i = 0; i < rank; i++)
        n = size_mul(n, shape[i]);
    return n;
}

const float *weight_floats(const WeightTensor *t, size_t first, size_t n, float *room)
{
    if (t->data)
        return t->data + first;
    kernels()->widen[t->store.form == LEAF_F16 ? HALF_F16 : HALF_BF16](room, t->store.half + first, n);
    return room;
}

WeightTensor weight_from(const WeightTensor *t, size_t first)
{
    WeightTensor from = *t;
    from.data = t->data ? t->data + first : NULL;
    from.store.half = t->store.half ? t->store.half + first : NULL;
    return from;
}

const float *weight_all_floats(const WeightTensor *t, size_t cells, Arena *room)
{
    return t->data ? t->data : weight_floats(t, 0, cells, arena_alloc(room, size_mul(cells, sizeof(float))));
}

bool knobs_check(const Knob *knob, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++)
        if (knob[i].value < knob[i].least || knob[i].value > knob[i].most)
            return err_set(err, "%s is %d; it must be %d to %d", knob[i].what, knob[i].value, knob[i].least,
                           knob[i].most);
    return true;
}

bool knob_finite(float x)
{
    return x - x == 0.0f;
}

/* --- a model --- */

enum { WEIGHT_ALIGN = 16 }; /* floats: every weight begins on a cache line */

/* Here, so that a program that makes or trains models without core/io links nothing else of preprocess.h. */
Preprocess preprocess_default(const VitConfig *c)
{
    return (Preprocess){.width = c->image_w,
                        .height = c->image_h,
                        .channels = c->channels,
                        .mode = RESIZE_SQUASH,
                        .resize_w = c->image_w,
                        .resize_h = c->image_h,
                        .filter = FILTER_BILINEAR};
}

bool model_weight(const Model *m, WeightPlace *w)
{
    const size_t n = m->family->places(m);
    for (size_t i = w->next; i < n; i++)
        if (m->family->place(m, i, w)) {
            w->next = i + 1;
            w->at = m->weights.at ? &m->weights.at[w->entry] : NULL;
            w->data = m->block && w->at->data ? m->block + (w->at->data - m->block) : NULL;
            w->half = m->block && w->at->store.half ? (uint16_t *)m->block + (w->at->store.half - (uint16_t *)m->block)
                                                    : NULL;
            return true;
        }
    return false;
}

/* Where a weight of so many cells ends: every one begins on a cache line. */
static size_t ends(size_t at, size_t cells)
{
    return size_add(at, (cells + WEIGHT_ALIGN - 1) / WEIGHT_ALIGN * WEIGHT_ALIGN);
}

/* How many floats have room for a weight. */
static size_t floats_of(const WeightPlace *w)
{
    return w->at->store.form == LEAF_FLOATS ? w->cells : w->cells / 2 + w->cells % 2;
}

bool model_alloc_stored(Model *m, const Family *family, ModelForm *form, void *context, Err *err)
{
    m->family = family;
    m->weights.at = arena_alloc(&m->arena, size_mul(family->places(m), sizeof *m->weights.at));
    size_t cells = 0, at = 0;
    for (WeightPlace w = {0}; model_weight(m, &w); cells = ends(cells, floats_of(&w)))
        w.at->store.form = form ? form(context, &w) : LEAF_FLOATS;
    if (!machine_holds((double)cells * sizeof(float), "the model", "take a smaller one", err))
        return false;
    float *block = xfloats_large(cells);
    for (WeightPlace w = {0}; model_weight(m, &w); at = ends(at, floats_of(&w))) {
        for (size_t i = floats_of(&w) - w.cells % 2; i < ends(0, floats_of(&w)); i++)
            block[at + i] = 0; /* the gaps, too, are the same every time */
        if (w.at->store.form == LEAF_FLOATS)
            w.at->data = block + at;
        else
            w.at->store.half = (const uint16_t *)(block + at);
    }
    m->block = block;
    m->block_cells = cells;
    return true;
}

void model_alloc(Model *m, const Family *family)
{
    Err err;
    if (!model_alloc_stored(m, family, NULL, NULL, &err))
        die("%s", err.text);
}

bool model_fit(Model *m, int height, int width, Err *err)
{
    VitConfig c = m->vit;
    Preprocess p = m->preprocess;
    if (c.pos != VIT_POS_NONE && !c.table_h) {
        c.table_h = c.image_h / c.patch_h;
        c.table_w = c.image_w / c.patch_w;
    }
    c.image_h = height;
    c.image_w = width;
    if (c.bias != VIT_BIAS_NONE &&
        (height / c.patch_h != m->vit.image_h / c.patch_h || width / c.patch_w != m->vit.image_w / c.patch_w))
        return err_set(err,
                       "the tables of relative positions are for pictures of %d × %d (width × height): such a table is "
                       "not fitted to another size here",
                       m->vit.image_w, m->vit.image_h);
    if (!vit_check(&c, err))
        return false;
    if (p.width != width || p.height != height) {
        p.resize_w = (int)((int64_t)p.resize_w * width / p.width);
        p.resize_h = (int)((int64_t)p.resize_h * height / p.height);
        p.resize_w = p.resize_w < width ? width : p.resize_w;
        p.resize_h = p.resize_h < height ? height : p.resize_h;
        p.width = width;
        p.height = height;
        p.beyond_w = p.beyond_h = 0;
    }
    m->vit = c;
    m->preprocess = p;
    return true;
}

static void note(Model *m, int at, const char *fmt, va_list ap)
{
    char line[512];
    utf8_vprint(line, sizeof line, fmt, ap);
    size_t n = (size_t)m->assumption_count;
    const char **more = arena_alloc(
        &m->arena, size_mul(n + 1, sizeof *more)); /* a handful of lines: the old table is left to the arena */
    for (size_t i = 0; i <= n; i++)
        more[i] = i == (size_t)at ? arena_strdup(&m->arena, line) : m->assumptions[i - (i > (size_t)at)];
    m->assumptions = more;
    m->assumption_count++;
}

void model_assume(Model *m, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(m, m->assumption_count, fmt, ap);
    va_end(ap);
}

void model_guess(Model *m, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    note(m, m->guesses, fmt, ap);
    va_end(ap);
    m->guesses++;
    m->guess_note = m->guesses == 1 ? "1 thing is assumed (info)"
                                    : arena_printf(&m->arena, "%d things are assumed (info)", m->guesses);
}

void model_free(Model *m)
{
    if (m->family && m->family->free)
        m->family->free(m);
    free(m->block);
    if (m->cutter)
        m->cutter->free(m->cutter->own);
    arena_free(&m->arena);
    *m = (Model){0};
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return digest_mix(digest_bytes(hash, text, strlen(text)), 0x100);
}

static void mix_fact(void *context, const char *key, const char *label, const char *text)
{
    uint64_t *hash = context;
    (void)label;
    *hash = mix_text(mix_text(*hash, key), text);
}

/* What is done to a picture before the first weight. */
static uint64_t mix_preparation(uint64_t hash, const Model *m, const VitConfig *c)
{
    char text[256];
    hash = mix_text(hash, preprocess_text(&m->preprocess, text, sizeof text));
    hash = digest_mix(hash, (uint64_t)c->input);
    hash = digest_floats(hash, &c->range, 1);
    hash = digest_floats(hash, c->mean, (size_t)c->channels);
    return digest_floats(hash, c->std, (size_t)c->channels);
}

static uint64_t mix_words(uint64_t hash, const Vocabulary *v)
{
    for (int i = 0; v->word && i < v->n; i++)
        hash = mix_text(hash, vocabulary_stored(v)[i]);
    return hash;
}

static uint64_t mix_weight(uint64_t hash, const WeightPlace *w)
{
    enum { SOME = 1024 };
    float room[SOME];
    for (size_t i = 0; i < w->cells; i += SOME) {
        const size_t n = w->cells - i < SOME ? w->cells - i : SOME;
        hash = digest_floats(hash, weight_floats(w->at, i, n, room), n);
    }
    return hash;
}

uint64_t model_digest(const Model *m)
{
    uint64_t hash = mix_text(DIGEST_START, m->family ? m->family->name : "");
    const VitConfig *c = model_vit(m);
    if (m->family && m->family->facts)
        m->family->facts(m, mix_fact, &hash);
    if (c)
        hash = mix_preparation(hash, m, c);
    for (int i = 0; c && m->class_names && i < c->classes; i++)
        hash = mix_text(hash, m->class_names[i]);
    hash = digest_mix(hash, m->family ? m->family->params(m) : 0);
    hash = mix_words(mix_words(hash, &m->source), &m->target);
    /* weight by weight: what lies between them in the block is nobody's */
    for (WeightPlace w = {0}; m->family && m->family->place && model_weight(m, &w);)
        hash = mix_weight(hash, &w);
    return hash;
}

/* --- weights from a seed or from the binary --- */

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
