/* Text models whose weights come from a seed or from the binary. Knows no files. */
#include "core/models/text_model.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"
#include "core/models/family.h"
#include "core/models/lexicon.h"

enum { WEIGHT_ALIGN = 16 }; /* floats: every weight begins on a cache line */

bool text_model_each(const Model *m, TextWeightFn visit, void *context)
{
    for (int i = 0; i < SEQ2SEQ_ROLES; i++) {
        Seq2seqRole r = (Seq2seqRole)i;
        for (int layer = 0; layer < seq2seq_role_count(&m->text, r); layer++) {
            const float *data = m->block ? seq2seq_weight(&m->text, &m->weights, r, layer)->data : NULL;
            float *own = data ? m->block + (data - m->block) : NULL;
            if (!visit(context, m, r, layer, own, seq2seq_role_cells(&m->text, r)))
                return false;
        }
    }
    return true;
}

typedef struct Placing {
    Model *m;
    size_t cells;
} Placing;

static bool place(void *placing, const Model *m, Seq2seqRole r, int layer, float *data, size_t cells)
{
    Placing *p = placing;
    (void)data;
    if (m->block)
        seq2seq_weight(&m->text, &m->weights, r, layer)->data = m->block + p->cells;
    p->cells = size_add(p->cells, (cells + WEIGHT_ALIGN - 1) / WEIGHT_ALIGN * WEIGHT_ALIGN);
    return true;
}

void text_model_alloc(Model *m)
{
    m->family = &FAMILY_TEXT;
    size_t n = seq2seq_weights_count(&m->text);
    m->weights.at = arena_alloc(&m->arena, size_mul(n, sizeof *m->weights.at));
    Placing p = {m, 0};
    text_model_each(m, place, &p);
    m->block = xfloats(p.cells);
    m->block_cells = p.cells;
    memset(m->block, 0, p.cells * sizeof *m->block); /* the gaps, too, are the same every time */
    p.cells = 0;
    text_model_each(m, place, &p);
}

/* How a weight begins: mean + deviation · N(0,1), the deviation divided by √inputs where `fan` is set. */
typedef enum Start { EMBED, POSITION, ONE, SMALL, FAN, SHARP } Start;
static const struct {
    float mean, deviation;
    bool fan;
} STARTS[] = {
    [EMBED] = {0.0f, 1.0f, true},   [POSITION] = {0.0f, 0.5f, false}, [ONE] = {1.0f, 0.1f, false},
    [SMALL] = {0.0f, 0.05f, false}, [FAN] = {0.0f, 1.0f, true},       [SHARP] = {0.0f, 1.5f, true},
};
static const Start ROLE_START[SEQ2SEQ_ROLES] = {
#define ROLE(symbol, where, name, axes, start) [SEQ2SEQ_##symbol] = start,
#include "core/models/seq2seq_roles.def"
#undef ROLE
};

/* Numbers that one output is summed from; of an embedding its width. */
static double inputs_of(const Seq2seqConfig *c, Seq2seqRole r)
{
    const char *axes = seq2seq_role_axes(r);
    if (strcmp(axes, "dhe") == 0)
        return (double)c->heads * c->head_dim;
    return strcmp(axes, "dm") == 0 ? c->mlp : c->width;
}

static bool fill_seeded(void *seed, const Model *m, Seq2seqRole r, int layer, float *data, size_t cells)
{
    /* a stream per weight */
    Rng rng = rng_seed(*(const uint64_t *)seed, seq2seq_weight_entry(&m->text, r, layer));
    Start s = ROLE_START[r];
    float deviation = STARTS[s].deviation;
    if (STARTS[s].fan)
        deviation = (float)((double)deviation / dm_sqrt(inputs_of(&m->text, r)));
    for (size_t i = 0; i < cells; i++)
        data[i] = STARTS[s].mean + deviation * rng_normal(&rng);
    seq2seq_weight(&m->text, &m->weights, r, layer)->origin = "from a seed";
    return true;
}

void text_model_seeded(Model *m, const Seq2seqConfig *c, uint64_t seed)
{
    *m = (Model){.layout = "seeded", .text = *c};
    m->name = arena_printf(&m->arena, "seeded-%llu", (unsigned long long)seed);
    m->source = (Vocabulary){.n = c->source_words, .pad = 0, .start = 1, .end = 2};
    m->target = (Vocabulary){.n = c->target_words, .pad = 0, .start = 1, .end = 2};
    text_model_alloc(m);
    text_model_each(m, fill_seeded, &seed);
}

Seq2seqConfig text_model_bundled_config(void)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.source_words = lexicon_english()->n;
    c.target_words = lexicon_french()->n;
    return c;
}

static bool fill_bundled(void *from, const Model *m, Seq2seqRole r, int layer, float *data, size_t cells)
{
    const unsigned char **at = from;
    memcpy(data, *at, cells * sizeof *data);
    *at += cells * sizeof *data;
    seq2seq_weight(&m->text, &m->weights, r, layer)->origin = "translator";
    return true;
}

bool text_model_bundled(Model *m, const void *weights, size_t bytes, Err *err)
{
    Seq2seqConfig c = text_model_bundled_config();
    size_t want = size_mul(seq2seq_params(&c), sizeof(float));
    if (!weights || bytes != want)
        return err_set(
            err,
            "the bundled translator has %zu bytes of weights where %zu were expected; rebuild with `make clean all`",
            bytes, want);
    *m = (Model){.name = "translator",
                 .layout = "bundled",
                 .text = c,
                 .source = *lexicon_english(),
                 .target = *lexicon_french(),
                 .trained = true};
    text_model_alloc(m);
    const unsigned char *at = weights;
    text_model_each(m, fill_bundled, &at);
    return true;
}
