/* Text models as a family: what a sentence becomes, and weights from a seed or from the binary. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/models/decode.h"
#include "core/models/family.h"
#include "core/models/lexicon.h"
#include "core/models/probes.h"
#include "core/models/text_model.h"

enum { WORDS_MOST = 64 }; /* of a text that is written */
static const char FIRST[] = "the animal did not cross the street because it was too tired",
                  FIRST_NUMBERS[] = "3 4 5"; /* behind pad, start and end */

static void build_text(const Model *m, Graph *g, const ModelInput *in)
{
    const Text *s = &in->text[TEXT_SOURCE], *w = &in->text[TEXT_TARGET];
    Seq2seqInput what = {.source = {s->word, s->count, s->label},
                         .target = {w->word, w->count, w->label},
                         .source_vocabulary = m->source.word,
                         .target_vocabulary = m->target.word};
    seq2seq_build(g, &m->text, &m->weights, &what, NULL);
    text_probes_add(g, &m->text);
    graph_scope(g, "%s", "");
}

static void put_text(Text *out, const Words *w, Arena *arena)
{
    int *word = arena_alloc(arena, size_mul((size_t)w->n + 1, sizeof *word));
    const char **label = arena_alloc(arena, size_mul((size_t)w->n + 1, sizeof *label));
    for (int i = 0; i < w->n; i++) {
        word[i] = w->number[i];
        label[i] = arena_strdup(arena, w->label[i]);
    }
    *out = (Text){word, label, w->n, *w->left_out ? arena_strdup(arena, w->left_out) : NULL, w->cut};
}

/* The start and the words behind it: what was typed behind >, else what the model itself writes. */
static bool read_target(const Model *m, const char *typed, const Words *source, Words *out, Err *err)
{
    int number[WORDS_MOST + 2] = {m->target.start < 0 ? 0 : m->target.start}, n = 1, cut = 0;
    char left[WORDS_LEFT] = "";
    if (typed) {
        Words w = {0};
        if (typed[strspn(typed, " ")] && !words_parse(&w, &m->target, typed, false, err))
            return false;
        bool fits = w.n <= WORDS_MOST;
        for (int i = 0; fits && i < w.n; i++)
            number[n++] = w.number[i];
        memcpy(left, w.left_out, sizeof left);
        words_free(&w);
        if (!fits)
            return err_set(err, "a text to write may have at most %d words: shorten it", WORDS_MOST);
    } else {
        Decode d;
        DecodeOptions o = decode_options_default();
        o.most = m->text.learned_positions && m->text.positions < WORDS_MOST ? m->text.positions : WORDS_MOST;
        if (!decode_run(&d, m, source->number, source->n, &o, NULL, NULL, NULL, err))
            return false;
        for (int i = 0; i < d.length && d.word[i] != m->target.end && n < o.most; i++)
            number[n++] = d.word[i];
        cut = decode_cut(&d, m) ? n - 1 : 0;
        decode_free(&d);
    }
    words_set(out, &m->target, number, n);
    memcpy(out->left_out, left, sizeof left);
    out->cut = cut;
    return true;
}

/* What a model with words of its own reads first: the bundled sentence where it knows it, else three of its words. */
static const char *first_words(const Vocabulary *v, Arena *arena)
{
    Words w = {0};
    Buf b = {0};
    if (words_parse(&w, v, FIRST, false, NULL)) {
        words_free(&w);
        return FIRST;
    }
    for (int i = 0, n = 0; i < v->n && n < 3; i++)
        if (i != v->pad && i != v->start && i != v->end && v->word[i][0] != '<') {
            buf_printf(&b, "%s%s", n ? " " : "", v->word[i]);
            n++;
        }
    const char *first = arena_strdup(arena, buf_str(&b));
    buf_free(&b);
    return first;
}

/* "the cat is tired": the model's own translation stands in the target, so that every step of writing it is a row.
 * "the cat is tired > le chat": these words instead; "… >" only the start. A model of one stack takes one text. */
static bool read_text(const Model *m, const char *spec, Arena *arena, Text out[TEXTS], Err *err)
{
    bool encoder = seq2seq_has_encoder(&m->text), decoder = seq2seq_has_decoder(&m->text);
    const Vocabulary *v = encoder ? &m->source : &m->target;
    char one[16];
    snprintf(one, sizeof one, "%d", v->n - 1);
    const char *first = v->word ? first_words(v, arena) : v->n > 5 ? FIRST_NUMBERS : one;
    const char *text = spec ? spec : first, *arrow = encoder && decoder ? strchr(text, '>') : NULL;
    Words s = {0}, w = {0};
    const char *source = arrow ? arena_printf(arena, "%.*s", (int)(arrow - text), text) : text;
    bool ok = !encoder || words_parse(&s, &m->source, source, decoder, err);
    if (ok && decoder)
        ok = read_target(m, arrow ? arrow + 1 : encoder ? NULL : source, &s, &w, err);
    ok = ok && seq2seq_check_length(&m->text, s.n, w.n, err);
    out[TEXT_SOURCE] = out[TEXT_TARGET] = (Text){0};
    if (ok) {
        put_text(&out[TEXT_SOURCE], &s, arena);
        put_text(&out[TEXT_TARGET], &w, arena);
    }
    words_free(&s);
    words_free(&w);
    return ok;
}

static void facts(const Model *m, FactFn put, void *context)
{
    const Seq2seqConfig *c = &m->text;
    const FactSink f = {put, context};
    static const char *const form[] = {"an encoder and a decoder, three kinds of attention", "a decoder alone",
                                       "an encoder alone"};
    fact_put(&f, "takes", "words: %s", form[c->form]);
    fact_put(&f, "tokens", "%d words to read, %d to write; %s", c->source_words, c->target_words,
             c->learned_positions ? "learned positions" : "sinusoids for positions");
    fact_put(&f, "blocks", "%d + %d blocks, %d heads of %d, width %d, MLP %d", c->encoder_layers, c->decoder_layers,
             c->heads, c->head_dim, c->width, c->mlp);
    fact_put(&f, "knobs", "%s-norm, %s, LayerNorm epsilon %g, scores times %.6g, embeddings times %.6g%s",
             c->pre_norm ? "pre" : "post", map_name(c->act), (double)c->eps, (double)c->scale, (double)c->embed_scale,
             c->final_norm ? ", a norm after each stack" : "");
    fact_put(&f, "answer", "the next word, %s", c->tied ? "by the words' own vectors" : "by weights of its own");
}

static size_t params(const Model *m)
{
    return seq2seq_params(&m->text);
}

static size_t places(const Model *m)
{
    return seq2seq_weights_count(&m->text);
}

static bool place(const Model *m, size_t i, WeightPlace *p)
{
    return seq2seq_weight_place(&m->text, i, p);
}

static bool load(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    (void)progress;
    (void)context;
    return text_model_load(m, path, err);
}

static bool save(const Model *m, const char *dir, Err *err)
{
    return text_model_save(m, dir, err);
}

const Family FAMILY_TEXT = {.name = "Transformer",
                            .input = INPUT_TEXT,
                            .build = build_text,
                            .read_text = read_text,
                            .facts = facts,
                            .params = params,
                            .places = places,
                            .place = place,
                            .claims = text_model_is,
                            .load = load,
                            .save = save};

/* --- weights from a seed or from the binary --- */

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
