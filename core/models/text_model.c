/* Text models whose weights come from a seed or from the binary. Knows no files. */
#include "core/models/text_model.h"

#include "core/models/family.h"
#include "core/models/lexicon.h"

void text_model_seeded(Model *m, const Seq2seqConfig *c, uint64_t seed)
{
    *m = (Model){.layout = "seeded", .text = *c};
    m->name = arena_printf(&m->arena, "seeded-%llu", (unsigned long long)seed);
    m->source = (Vocabulary){.n = c->source_words, .pad = 0, .start = 1, .end = 2};
    m->target = (Vocabulary){.n = c->target_words, .pad = 0, .start = 1, .end = 2};
    model_fill_seeded(m, &FAMILY_TEXT, seed);
}

Seq2seqConfig text_model_bundled_config(void)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.source_words = lexicon_english()->n;
    c.target_words = lexicon_french()->n;
    return c;
}

bool text_model_bundled(Model *m, const void *weights, size_t bytes, Err *err)
{
    const Model is = {.name = "translator",
                      .layout = "bundled",
                      .text = text_model_bundled_config(),
                      .source = *lexicon_english(),
                      .target = *lexicon_french(),
                      .trained = true};
    return model_fill_bundled(m, &is, &FAMILY_TEXT, "the bundled translator", weights, bytes, err);
}
