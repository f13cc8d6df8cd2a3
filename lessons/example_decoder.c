/* `decoder …` in a worked example: a small decoder with weights from a seed, built as today's language models are
 * (RMSNorm before each sub-layer, rotary positions, a gated MLP or several with a router, keys and values shared by
 * heads), reading a text. */
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/graph/run.h"
#include "core/models/seq2seq.h"
#include "core/models/text_model.h"
#include "lessons/example_parts.h"

enum { TEXT_MOST = 64 };

typedef struct Wanted {
    int heads, keys, head, depth, seed, kept;
    int experts, chosen, normalised;
    int word[TEXT_MOST];
    const char *label[TEXT_MOST], *known[TEXT_MOST];
    int words, knowns;
} Wanted;

static bool set_knob(Building *b, Wanted *w, const char *name, const char *value)
{
    const struct {
        const char *name;
        int *to, least, most;
    } KNOBS[] = {{"heads", &w->heads, 1, 16},     {"keys", &w->keys, 1, 16},      {"head", &w->head, 2, 64},
                 {"depth", &w->depth, 1, 4},      {"seed", &w->seed, 0, 1000000}, {"kept", &w->kept, 0, 1},
                 {"experts", &w->experts, 1, 64}, {"chosen", &w->chosen, 1, 16},  {"normalised", &w->normalised, 0, 1}};
    for (size_t i = 0; i < sizeof KNOBS / sizeof *KNOBS; i++) {
        char *end;
        if (strcmp(name, KNOBS[i].name) != 0)
            continue;
        long x = strtol(value, &end, 10);
        if (end == value || *end || x < KNOBS[i].least || x > KNOBS[i].most)
            return building_error(b, "%s is a number from %d to %d", name, KNOBS[i].least, KNOBS[i].most);
        *KNOBS[i].to = (int)x;
        return true;
    }
    return building_error(b,
                          "'%.20s' is none of: heads=N, keys=N (heads of keys and values), head=N (numbers of a head), "
                          "depth=N, seed=N, kept=1, experts=N, chosen=N (for each word), normalised=1",
                          name);
}

/* A word that stands there once more is "cat#2" on its axis, and the same number. */
static bool add_word(Building *b, Wanted *w, const char *word)
{
    int before = 1, k = 0;
    if (w->words == TEXT_MOST || strlen(word) > 9 || word[strcspn(word, ",;:=[]*\"'#")])
        return building_error(b, "a decoder reads at most %d words, of 9 letters at most", TEXT_MOST);
    while (k < w->knowns && strcmp(w->known[k], word) != 0)
        k++;
    for (int i = 0; i < w->words; i++)
        before += w->word[i] == k;
    if (k == w->knowns)
        w->known[w->knowns++] = word;
    w->label[w->words] = before == 1 ? word : arena_printf(&b->e->arena, "%s#%d", word, before);
    w->word[w->words++] = k;
    return true;
}

static bool read_words(Building *b, Wanted *w, const char *words)
{
    for (const char *p = words; *(p += strspn(p, " "));) {
        size_t n = strcspn(p, " ");
        char *word = arena_printf(&b->e->arena, "%.*s", (int)n, p), *value = strchr(word, '=');
        if (value)
            *value++ = 0;
        if (value ? !set_knob(b, w, word, value) : !add_word(b, w, word))
            return false;
        p += n;
    }
    return w->words > w->kept || building_error(b, "a decoder needs words to read%s", w->kept ? ", two or more" : "");
}

static Seq2seqConfig config_of(const Wanted *w)
{
    Seq2seqConfig c = seq2seq_config_base();
    int width = w->heads * w->head;
    c.form = SEQ2SEQ_DECODER_ONLY;
    c.source_words = c.encoder_layers = 0;
    c.target_words = w->knowns;
    c.width = width;
    c.heads = w->heads;
    c.key_heads = w->keys == w->heads ? 0 : w->keys;
    c.head_dim = w->head;
    c.scale = seq2seq_root(w->head, true);
    c.embed_scale = 1;
    c.mlp = 2 * width;
    c.decoder_layers = w->depth;
    c.act = MAP_SILU;
    c.pos = SEQ2SEQ_POS_ROPE;
    c.rope = (Seq2seqRope){.base = 10000, .half = true};
    c.pre_norm = c.final_norm = c.rms_norm = c.gated = true;
    c.qkv_bias = c.out_bias = c.mlp_bias = false;
    if (w->experts)
        c.experts = (Seq2seqExperts){.count = w->experts,
                                     .chosen = w->chosen,
                                     .width = c.mlp,
                                     .normalised = w->normalised != 0};
    return c;
}

/* All rows but the last of what an attention over the whole text has there: what a cache keeps. */
static const float *rows_before(Building *b, Run *whole, const Graph *g, int part, Site site)
{
    NodeId n = site_node(g, part, site);
    REQUIRE(n != NO_NODE);
    size_t tokens = (size_t)g->axes[graph_node(g, n)->dims.axis[0]].n, cells = graph_cells(g, n) / tokens;
    float *rows = arena_alloc(&b->e->arena, size_mul(size_mul(tokens, cells), sizeof *rows));
    memcpy(rows, run_need(whole, n), (tokens - 1) * cells * sizeof *rows);
    return rows;
}

/* The last word alone, with the keys and values of all before it from a run over the whole text. */
static void build_last(Building *b, const Model *m, const Seq2seqInput *in)
{
    Graph whole;
    Seq2seqKept kept[4];
    graph_init(&whole);
    seq2seq_build(&whole, &m->text, &m->weights, in, NULL);
    Run *run = run_new(&whole, NULL, NULL);
    int part = NO_PART;
    for (int i = 0; i < m->text.decoder_layers; i++) {
        part = anatomy_next(&whole, part, PART_ATTENTION);
        kept[i] = (Seq2seqKept){.k = rows_before(b, run, &whole, part, SITE_KEY_ROPE),
                                .v = rows_before(b, run, &whole, part, SITE_VALUE)};
    }
    run_free(run);
    graph_free(&whole);
    Seq2seqStep step = {.target = in->target, .kept = kept, .target_vocabulary = in->target_vocabulary};
    seq2seq_build_step(b->g, &m->text, &m->weights, &step, NULL);
}

bool example_decoder(Building *b, const char *words)
{
    Wanted w = {.heads = 2, .head = 8, .depth = 1, .seed = 1, .chosen = 2};
    if (!read_words(b, &w, words))
        return false;
    w.keys = w.keys ? w.keys : w.heads;
    Seq2seqConfig c = config_of(&w);
    Err why = {{0}};
    if (!seq2seq_check(&c, &why))
        return building_error(b, "%s", why.text);
    Model *m = b->e->own = xcalloc(1, sizeof *m);
    const char **known = arena_alloc(&b->e->arena, sizeof w.known), **label = arena_alloc(&b->e->arena, sizeof w.label);
    memcpy(known, w.known, sizeof w.known);
    memcpy(label, w.label, sizeof w.label);
    text_model_seeded(m, &c, (uint64_t)w.seed);
    Seq2seqInput in = {.target = {.word = w.word, .n = w.words, .label = label}, .target_vocabulary = known};
    if (w.kept)
        build_last(b, m, &in);
    else
        seq2seq_build(b->g, &c, &m->weights, &in, NULL);
    return true;
}
