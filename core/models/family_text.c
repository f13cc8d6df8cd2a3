/* Text models as a family: what a sentence becomes, and weights from a seed or from the binary. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/io/chat.h"
#include "core/models/decode.h"
#include "core/models/family.h"
#include "core/models/lexicon.h"
#include "core/models/probes.h"
#include "core/models/text_model.h"

enum { WORDS_MOST = 64 }; /* of a text that the model writes, or that is typed behind > */
static const char FIRST[] = "the animal did not cross the street because it was too tired",
                  FIRST_NUMBERS[] = "3 4 5"; /* behind pad, start and end */

static void build_text(const Model *m, Graph *g, const ModelInput *in)
{
    const Text *s = &in->text[TEXT_SOURCE], *w = &in->text[TEXT_TARGET];
    Seq2seqInput what = {.source = {s->word, s->count, s->label, s->segment},
                         .target = {w->word, w->count, w->label, NULL},
                         .source_vocabulary = m->source.word,
                         .target_vocabulary = m->target.word};
    seq2seq_build(g, &m->text, &m->weights, &what, NULL);
    text_probes_add(g, &m->text, w);
    for (int i = 0; i < g->axis_count; i++)
        g->axes[i].bytes = model_vocabulary(m)->piece != NULL;
    graph_scope(g, "%s", "");
}

static void put_text(Text *out, const Words *w, Arena *arena)
{
    int *word = arena_alloc(arena, size_mul((size_t)w->n + 1, sizeof *word));
    int *segment = w->segment ? arena_alloc(arena, size_mul((size_t)w->n + 1, sizeof *segment)) : NULL;
    const char **label = arena_alloc(arena, size_mul((size_t)w->n + 1, sizeof *label));
    for (int i = 0; i < w->n; i++) {
        if (segment)
            segment[i] = w->segment[i];
        word[i] = w->number[i];
        label[i] = arena_strdup(arena, w->label[i]);
    }
    *out = (Text){word, label, w->n, *w->left_out ? arena_strdup(arena, w->left_out) : NULL, segment, 0, w->cut};
}

bool text_begin(const Model *m, const char *typed, Words *out, Err *err)
{
    *out = (Words){0};
    if (typed[strspn(typed, " ")] && !words_parse(out, &m->target, typed, false, err))
        return false;
    /* what a template ends a text with would be read as written */
    bool whole = seq2seq_has_encoder(&m->text) && m->target.cutter && !strstr(typed, "ids:");
    out->n -= whole && out->n && vocabulary_ends(&m->target, out->number[out->n - 1]);
    return true;
}

/* The start, where the model has one, and the words of a text; behind an encoder at most WORDS_MOST. */
static bool read_typed(const Model *m, const char *typed, Words *out, Err *err)
{
    Words w;
    if (!text_begin(m, typed, &w, err))
        return false;
    if (w.n > WORDS_MOST && seq2seq_has_encoder(&m->text)) {
        words_free(&w);
        return err_set(err, "a text to write may have at most %d words: shorten it", WORDS_MOST);
    }
    int *number = xmalloc(((size_t)w.n + 1) * sizeof *number), n = 0;
    if (model_starts(m))
        number[n++] = model_start(m);
    for (int i = 0; i < w.n; i++)
        number[n++] = w.number[i];
    words_set(out, &m->target, number, n);
    memcpy(out->left_out, w.left_out, sizeof w.left_out);
    words_free(&w);
    free(number);
    return true;
}

/* The start and what the model itself writes. */
static bool write_target(const Model *m, const Words *source, Words *out, Err *err)
{
    int number[WORDS_MOST + 2] = {model_start(m)}, n = 1;
    Decode d;
    DecodeOptions o = decode_options_default();
    o.forget = true;
    o.most = seq2seq_longest(&m->text) < WORDS_MOST ? seq2seq_longest(&m->text) : WORDS_MOST;
    if (!decode_run(&d, m, source->number, source->n, &o, NULL, NULL, NULL, err))
        return false;
    for (int i = 0; i < d.length && !vocabulary_ends(&m->target, d.word[i]) && n < o.most; i++)
        number[n++] = d.word[i];
    words_set(out, &m->target, number, n);
    out->cut = decode_cut(&d) ? n - 1 : 0;
    decode_free(&d);
    return true;
}

/* What a model with words of its own reads first: the bundled sentence where it knows it, else three of its words. */
static const char *first_words(const Vocabulary *v, int longest, Arena *arena)
{
    Words w = {0};
    Buf b = {0};
    bool fits = words_parse(&w, v, FIRST, false, NULL) && w.n <= longest;
    words_free(&w);
    if (fits)
        return FIRST;
    if (v->cutter)
        return "ids:0"; /* any word does */
    for (int i = 0, n = 0; i < v->n && n < 3; i++)
        if (i != v->pad && i != v->start && i != v->end && v->word[i][0] != '<') {
            buf_printf(&b, "%s%s", n ? " " : "", v->word[i]);
            n++;
        }
    const char *first = arena_strdup(arena, buf_str(&b));
    buf_free(&b);
    return first;
}

/* Where the first word that was taken out of a text stands, from 1; 0: nowhere. */
static int first_mask(const Vocabulary *v, const Words *w)
{
    static const char *const MASKS[] = {"[MASK]", "<mask>"};
    for (size_t k = 0; v->cutter && k < sizeof MASKS / sizeof *MASKS; k++) {
        int mask = vocabulary_find(v, MASKS[k], strlen(MASKS[k]));
        for (int i = 0; mask >= 0 && i < w->n; i++)
            if (w->number[i] == mask)
                return i + 1;
    }
    return 0;
}

/* "a | b": two texts that an encoder reads in one row; by number ("ids:3|ids:4") blanks need not stand beside it. */
static bool read_source(const Model *m, const char *text, Arena *arena, bool decoder, Words *w, Err *err)
{
    const char *mark = strncmp(text + strspn(text, " "), "ids:", 4) == 0 ? "|" : " | ";
    const char *bar = decoder ? NULL : strstr(text, mark);
    const bool twice = bar && (m->text.segments > 0 || m->source.cutter);
    if (!twice)
        return words_parse(w, &m->source, text, decoder, err);
    if (strstr(bar + strlen(mark), mark))
        return err_set(err, "a text has at most two segments: one | between them");
    const char *const both[2] = {arena_printf(arena, "%.*s", (int)(bar - text), text), bar + strlen(mark)};
    return words_parse_pair(w, &m->source, both, m->text.segments, err);
}

/* What parts two texts: a >, of words that a tokeniser cuts ("<pad>") one between blanks. */
static const char *find_arrow(const Vocabulary *v, const char *text)
{
    const char *at = strchr(text, '>');
    while (v->cutter && at && !((at == text || at[-1] == ' ') && (!at[1] || at[1] == ' ')))
        at = strchr(at + 1, '>');
    return at;
}

const char *text_typed(const Model *m, const char *input, int text, Arena *arena)
{
    const bool encoder = seq2seq_has_encoder(&m->text), decoder = seq2seq_has_decoder(&m->text),
               both = encoder && decoder;
    const char *arrow = both ? find_arrow(&m->source, input) : NULL;
    if (text == TEXT_TARGET)
        return both ? arrow ? arrow + 1 : NULL : decoder ? input : NULL;
    return !encoder ? NULL : arrow ? arena_printf(arena, "%.*s", (int)(arrow - input), input) : input;
}

/* "the cat is tired": the model's own translation stands in the target, so that every step of writing it is a row.
 * "the cat is tired > le chat": these words instead; "… >" only the start. A model of one stack takes one text. */
static bool read_text(const Model *m, const char *spec, Arena *arena, Text out[TEXTS], Err *err)
{
    bool encoder = seq2seq_has_encoder(&m->text), decoder = seq2seq_has_decoder(&m->text);
    const Vocabulary *v = encoder ? &m->source : &m->target;
    char one[16];
    snprintf(one, sizeof one, "%d", v->n - 1);
    const char *first = v->word    ? first_words(v, encoder && decoder ? WORDS_MOST : seq2seq_longest(&m->text), arena)
                        : v->n > 5 ? FIRST_NUMBERS
                                   : one;
    if (spec && strncmp(spec, CHAT_PREFIX, strlen(CHAT_PREFIX)) == 0 && (encoder || !v->cutter))
        return err_set(err, "%s",
                       encoder ? "a chat template is of models that go on from a text, decoders alone: give "
                                 "the text without --chat"
                               : "this model's folder has no tokeniser, and so no chat template");
    const char *text = spec ? spec : first, *arrow = encoder && decoder ? find_arrow(v, text) : NULL;
    Words s = {0}, w = {0};
    const char *source = arrow ? arena_printf(arena, "%.*s", (int)(arrow - text), text) : text;
    bool ok = !encoder || read_source(m, source, arena, decoder, &s, err);
    if (ok && decoder && encoder && !arrow)
        ok = write_target(m, &s, &w, err);
    else if (ok && decoder)
        ok = read_typed(m, arrow ? arrow + 1 : source, &w, err);
    ok = ok && seq2seq_check_length(&m->text, s.n, w.n, err);
    out[TEXT_SOURCE] = out[TEXT_TARGET] = (Text){0};
    if (ok) {
        put_text(&out[TEXT_SOURCE], &s, arena);
        out[TEXT_SOURCE].asked = m->text.wordless || decoder ? 0 : first_mask(&m->source, &s);
        put_text(&out[TEXT_TARGET], &w, arena);
    }
    words_free(&s);
    words_free(&w);
    return ok;
}

static const char *positions_text(const Seq2seqConfig *c)
{
    static const char *const TEXT[] = {[SEQ2SEQ_POS_ROPE] = "rotary positions",
                                       [SEQ2SEQ_POS_ALIBI] = "a bias for distance (ALiBi)",
                                       [SEQ2SEQ_POS_NONE] = "no positions"};
    return c->pos == SEQ2SEQ_POS_NONE && c->distances ? "distances for positions"
           : c->pos != SEQ2SEQ_POS_ADDED              ? TEXT[c->pos]
           : c->learned_positions                     ? "learned positions"
           : c->halves                                ? "sinusoids for positions, sines first"
                                                      : "sinusoids for positions";
}

static void put_rotations(const FactSink *f, const Seq2seqConfig *c)
{
    static const char *const SCALING[] = {[ROPE_LINEAR] = "linear",
                                          [ROPE_LLAMA3] = "llama3",
                                          [ROPE_YARN] = "YaRN",
                                          [ROPE_DYNAMIC] = "dynamic",
                                          [ROPE_LONG] = "LongRoPE"};
    const Seq2seqRope *r = &c->rope;
    char scaled[96] = "", local[64] = "";
    if (r->scaling)
        snprintf(scaled, sizeof scaled, ", %s with factor %g%s", SCALING[r->scaling], (double)r->factor,
                 r->between ? ", its ramp not cut to whole pairs" : "");
    if (r->scaling >= ROPE_DYNAMIC)
        snprintf(scaled + strlen(scaled), sizeof scaled - strlen(scaled), "%s in texts of more than %g tokens",
                 r->scaling == ROPE_LONG ? ", its long factors" : "", (double)r->trained);
    if (r->local_base > 0)
        snprintf(local, sizeof local, ", base %g in blocks with a window", (double)r->local_base);
    fact_put(f, "rotations", "%d of %d numbers of q and k are turned by their place, base %g, %s%s%s",
             seq2seq_rotated(c), c->head_dim, (double)r->base,
             r->half ? "number e with e + E/2" : "neighbours in pairs", scaled, local);
}

static void put_windows(const FactSink *f, const Seq2seqConfig *c)
{
    int blocks = 0;
    const bool around = c->form == SEQ2SEQ_ENCODER_ONLY;
    const int all = around ? c->encoder_layers : c->decoder_layers;
    for (int i = 0; i < all; i++)
        blocks += seq2seq_windowed(c, i);
    fact_put(f, "windows", "in %d of %d blocks a token sees itself and the %d %s", blocks, all,
             around ? c->window / 2 : c->window - 1, around ? "to either side" : "before it");
}

/* What an encoder alone says. */
static void put_whole(const FactSink *f, const Seq2seqConfig *c, const char *by)
{
    static const char *const VECTOR[] = {[SENTENCE_NONE] = "none",
                                         [SENTENCE_MEAN] = "the mean of the last tokens",
                                         [SENTENCE_FIRST] = "the last vector of the first token"};
    if (c->segments || c->word_width)
        fact_put(f, "embedding", "%d segment%s, words' vectors of %d", c->segments, c->segments == 1 ? "" : "s",
                 seq2seq_word_width(c));
    if (c->wordless)
        fact_put(f, "answer", "no word: the file has no weights for one%s",
                 c->replaced ? "; for every token, whether it was put in place of another" : "");
    else
        fact_put(f, "answer", "for every token the word that belongs there, %s%s", by,
                 c->transform ? " behind a layer and a norm" : "");
    static const char *const UNIT[] = {
        [UNIT_UNSAID] = "", [UNIT_NO] = ", not brought to length 1", [UNIT_YES] = ", brought to length 1 (Normalize)"};
    fact_put(f, "vector", "of a text: %s%s%s", VECTOR[c->sentence], c->sentence ? UNIT[c->unit] : "",
             c->pooler ? "; a pooler of the first token beside it" : "");
    if (c->pair)
        fact_put(f, "segments", "whether the second follows the first is read from the pooler");
}

static void put_experts(const FactSink *f, const Seq2seqConfig *c)
{
    const Seq2seqExperts *e = &c->experts;
    int blocks = seq2seq_role_count(c, SEQ2SEQ_ROUTER_W);
    fact_put(f, "experts", "%d of %d for each token, in %d of %d blocks, hidden width %d%s", e->chosen, e->count,
             blocks, c->decoder_layers, e->width,
             e->normalised ? ", their weights add up to 1" : ", their weights as the router has them");
    if (e->shared)
        fact_put(f, "shared", "one more expert that every token has, hidden width %d, times a gate of its own",
                 e->shared);
    fact_put(f, "active", "%zu of %zu parameters take part for a token", seq2seq_params_active(c), seq2seq_params(c));
}

static void facts(const Model *m, FactFn put, void *context)
{
    const Seq2seqConfig *c = &m->text;
    const FactSink f = {put, context};
    static const char *const form[] = {"an encoder and a decoder, three kinds of attention", "a decoder alone",
                                       "an encoder alone"};
    fact_put(&f, "takes", "words: %s", form[c->form]);
    if (c->form != SEQ2SEQ_BOTH) {
        int blocks = c->encoder_layers + c->decoder_layers;
        fact_put(&f, "tokens", "%d words; %s; a text of at most %d", c->source_words + c->target_words,
                 positions_text(c), seq2seq_longest(c));
        fact_put(&f, "blocks", "%d block%s, %d heads of %d, width %d, MLP %d", blocks, blocks == 1 ? "" : "s", c->heads,
                 c->head_dim, c->width, c->mlp);
    } else {
        fact_put(&f, "tokens", "%d words to read, %d to write; %s", c->source_words, c->target_words,
                 positions_text(c));
        fact_put(&f, "blocks", "%d + %d blocks, %d heads of %d, width %d, MLP %d", c->encoder_layers, c->decoder_layers,
                 c->heads, c->head_dim, c->width, c->mlp);
    }
    if (c->key_heads)
        fact_put(&f, "groups", "%d head%s of keys and values, each read by %d heads", c->key_heads,
                 c->key_heads == 1 ? "" : "s", c->heads / c->key_heads);
    if (c->experts.count)
        put_experts(&f, c);
    if (c->pos == SEQ2SEQ_POS_ROPE)
        put_rotations(&f, c);
    if (c->window)
        put_windows(&f, c);
    fact_put(&f, "knobs", "%s, %s%s, %s epsilon %g, scores times %.6g, embeddings times %.6g%s%s%s%s%s",
             c->parallel     ? "attention and MLP side by side"
             : !c->pre_norm  ? c->after_norm ? "norms on the branches" : "post-norm"
             : c->after_norm ? "norms before and behind the sub-layers"
                             : "pre-norm",
             map_name(c->act), c->gated ? ", gated MLP" : "", c->rms_norm ? "RMSNorm" : "LayerNorm", (double)c->eps,
             (double)c->scale, (double)c->embed_scale, c->final_norm ? ", a norm after each stack" : "",
             c->head_norm == HEAD_NORM_EACH  ? ", norms of q and k in every head"
             : c->head_norm == HEAD_NORM_ALL ? ", norms of q and k over all heads"
                                             : "",
             c->embed_norm ? ", a norm of the embedding" : "", c->gamma_plus ? ", norms stretch by 1 + gamma" : "",
             c->bare_norm
                 ? c->first_bare ? ", norms without beta, none before the first attention" : ", norms without beta"
             : c->first_bare ? ", no norm before the first attention"
                             : "");
    if (c->distances)
        fact_put(&f, "distances",
                 "to every score of %s comes a learned bias for its range of distance, %d ranges up to "
                 "%d, the same in all blocks",
                 c->form == SEQ2SEQ_BOTH ? "a text's attention to itself" : "attention", c->distances,
                 c->distance_most);
    if (c->score_cap > 0 || c->logit_cap > 0)
        fact_put(&f, "caps", "soft caps: of scores %g, of logits %g (0: none)", (double)c->score_cap,
                 (double)c->logit_cap);
    if (c->clip > 0)
        fact_put(&f, "limit", "queries, keys and values are cut off at ±%g", (double)c->clip);
    if (c->alibi_most > 0)
        fact_put(&f, "slopes", "of distance reach 2^-%g, where the paper has 2^-8", (double)c->alibi_most);
    if (c->sinks)
        fact_put(&f, "sinks",
                 "every head has a learned score beside those of the keys: its weights add up to less than 1");
    if (m->target.first)
        fact_put(&f, "first word", "what is written begins with word %d (forced_bos_token_id)", m->target.first - 1);
    if (m->target.last)
        fact_put(&f, "last word", "where it is cut it ends with word %d (forced_eos_token_id)", m->target.last - 1);
    const char *by = c->tied ? "by the words' own vectors" : "by weights of its own";
    if (c->word_width && c->form == SEQ2SEQ_DECODER_ONLY)
        fact_put(&f, "embedding", "words' vectors of %d, projected to the width, and back in front of the answer",
                 c->word_width);
    if (c->form == SEQ2SEQ_ENCODER_ONLY)
        put_whole(&f, c, by);
    else
        fact_put(&f, "answer", "the next word, %s%s%s", by, c->read_scale > 0 ? " times 1/√D" : "",
                 c->shared ? "; one table for words read and written" : "");
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

static void weight_path(const Model *m, const WeightPlace *p, char *out, size_t n)
{
    (void)m;
    seq2seq_role_path((Seq2seqRole)p->role, p->layer, out, n);
}

static unsigned way(const Model *m)
{
    return (seq2seq_has_encoder(&m->text) ? MODEL_READS : 0) | (seq2seq_has_decoder(&m->text) ? MODEL_WRITES : 0);
}

const Family FAMILY_TEXT = {.name = "Transformer",
                            .input = INPUT_TEXT,
                            .build = build_text,
                            .read_text = read_text,
                            .facts = facts,
                            .params = params,
                            .places = places,
                            .place = place,
                            .weight_path = weight_path,
                            .claims = text_model_is,
                            .load = text_model_load,
                            .save = text_model_save,
                            .way = way,
                            .by_attention = true,
                            .wiring = wiring_put,
                            .equations = true};

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
