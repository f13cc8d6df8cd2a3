#include "core/models/model_digest.h"

#include <string.h>

#include "core/base/digest.h"
#include "core/models/family.h"
#include "core/models/text_model.h"

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
        hash = digest_floats(hash, w.data, w.cells);
    return hash;
}
