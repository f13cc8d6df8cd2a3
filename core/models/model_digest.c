#include "core/models/model_digest.h"

#include <string.h>

#include "core/models/family.h"
#include "core/models/text_model.h"

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (const char *p = text; *p; p++)
        hash = mix(hash, (unsigned char)*p);
    return mix(hash, 0x100);
}

static uint64_t mix_floats(uint64_t hash, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = mix(hash, bits);
    }
    return hash;
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
    hash = mix(hash, (uint64_t)c->input);
    hash = mix_floats(hash, &c->range, 1);
    hash = mix_floats(hash, c->mean, (size_t)c->channels);
    return mix_floats(hash, c->std, (size_t)c->channels);
}

static uint64_t mix_words(uint64_t hash, const Vocabulary *v)
{
    for (int i = 0; v->word && i < v->n; i++)
        hash = mix_text(hash, v->word[i]);
    return hash;
}

static bool mix_weight(void *context, const TextModel *m, Seq2seqRole r, int layer, float *data, size_t cells)
{
    uint64_t *hash = context;
    (void)m;
    (void)r;
    (void)layer;
    *hash = data ? mix_floats(*hash, data, cells) : *hash;
    return true;
}

static uint64_t mix_text_model(uint64_t hash, const TextModel *t)
{
    hash = mix_words(mix_words(hash, &t->source), &t->target);
    text_model_each(t, mix_weight, &hash);
    return hash;
}

/* Weight by weight: what lies between them in the block is nobody's. */
static uint64_t mix_weights(uint64_t hash, const Model *m, const VitConfig *c)
{
    for (int layer = -1; layer < c->layers; layer++)
        for (int i = 0; i < VIT_ROLES; i++) {
            VitRole r = (VitRole)i;
            if (vit_role_in_block(r) == (layer >= 0) && vit_has(c, r))
                hash = mix_floats(hash, vit_weight(&m->weights, r, layer)->data, vit_role_cells(c, r));
        }
    return hash;
}

uint64_t model_digest(const Model *m)
{
    uint64_t hash = mix_text(0xcbf29ce484222325u, m->family ? m->family->name : "");
    const VitConfig *c = model_vit(m);
    if (m->family && m->family->facts)
        m->family->facts(m, mix_fact, &hash);
    if (c)
        hash = mix_preparation(hash, m, c);
    for (int i = 0; c && m->class_names && i < c->classes; i++)
        hash = mix_text(hash, m->class_names[i]);
    hash = mix(hash, m->family ? m->family->params(m) : 0);
    if (m->family == &FAMILY_TEXT)
        hash = mix_text_model(hash, m->data);
    return c ? mix_weights(hash, m, c) : hash;
}
