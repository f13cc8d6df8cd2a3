/* What every model has, wherever its weights come from. Knows no files. */
#include "core/models/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/utf8.h"
#include "core/models/family.h"
#include "core/models/text_model.h"

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

void model_alloc_stored(Model *m, const Family *family, ModelForm *form, void *context)
{
    m->family = family;
    m->weights.at = arena_alloc(&m->arena, size_mul(family->places(m), sizeof *m->weights.at));
    size_t cells = 0, at = 0;
    for (WeightPlace w = {0}; model_weight(m, &w); cells = ends(cells, floats_of(&w)))
        w.at->store.form = form ? form(context, &w) : LEAF_FLOATS;
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
}

void model_alloc(Model *m, const Family *family)
{
    model_alloc_stored(m, family, NULL, NULL);
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
        hash = mix_text(hash, v->word[i]);
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
