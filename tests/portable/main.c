/* Seeded models of several configurations, run whole: one line with the trace hash of each, one for all gradients of
 * a loss of each of a few, one for the order of all nodes, probes too, and one for drawn pictures. The lines must be
 * the same (golden.txt) for every compiler, optimisation level, instruction set, thread count and C library. Links
 * base, kernels, graph and models only, so that musl and aarch64 need no other library. usage: portable [threads];
 * with VITRINE_ISA=scalar and so on in the environment. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/graph/grad.h"
#include "core/graph/run.h"
#include "core/models/decode.h"
#include "core/models/drawn.h"
#include "core/models/model.h"
#include "core/models/probes.h"
#include "tests/portable/no_files.h"

static void tiny(VitConfig *c)
{
    (void)c;
}
static void rectangular(VitConfig *c)
{
    c->image_h = 24, c->patch_w = 4, c->channels = 1;
}
static void post_norm(VitConfig *c)
{
    c->post_norm = true, c->act = MAP_RELU, c->eps = 1e-5f;
}
static void quick_gelu(VitConfig *c)
{
    c->act = MAP_QUICK_GELU, c->norm_pre = true, c->patch_bias = false;
}
static void silu(VitConfig *c)
{
    c->act = MAP_SILU, c->head_dim = 20, c->scale = vit_scale(20);
}
static void two_heads(VitConfig *c)
{
    c->dist = true, c->pool = VIT_POOL_CLS_DIST, c->qkv_bias = false;
}
static void registers(VitConfig *c)
{
    c->registers = 3, c->pos = VIT_POS_BEFORE_REGISTERS, c->layer_scale = true;
}
static void mean_pool(VitConfig *c)
{
    c->cls = false, c->pool = VIT_POOL_MEAN, c->fc_norm = true, c->final_norm = false;
}
static void per_image(VitConfig *c)
{
    c->input = VIT_INPUT_PER_IMAGE, c->pos = VIT_POS_PATCHES;
}
static void wide(VitConfig *c)
{
    c->width = 300, c->heads = 5, c->head_dim = 60, c->scale = vit_scale(60), c->mlp = 700, c->layers = 1;
}
static void turned(VitConfig *c) /* cos and sin of learned angles */
{
    c->rope = VIT_ROPE_LEARNED, c->rope_cols_first = true, c->pos = VIT_POS_NONE;
}
static void sharp(VitConfig *c)
{
    c->scale = 1.0f;
} /* no 1/√d_k: softmax at its limits */
static void bundled(VitConfig *c)
{
    *c = model_bundled_config();
}

static const struct {
    const char *name;
    void (*set)(VitConfig *c);
    bool gradients;
} MODELS[] = {
    {"tiny", tiny, true},           {"rectangular", rectangular, false},
    {"post_norm", post_norm, true}, {"quick_gelu", quick_gelu, true},
    {"silu", silu, true},           {"two_heads", two_heads, true},
    {"registers", registers, true}, {"mean_pool", mean_pool, true},
    {"per_image", per_image, true}, {"wide", wide, false},
    {"sharp", sharp, false},        {"bundled", bundled, false},
    {"turned", turned, true},
};

/* Pixels of drawn pictures, repeated as often as the input is long. */
static float *make_pixels(const VitConfig *c)
{
    static uint8_t picture[DRAWN_SIDE * DRAWN_SIDE * 3];
    size_t n = (size_t)c->channels * (size_t)c->image_h * (size_t)c->image_w;
    float *p = xfloats(n);
    drawn_picture(17, picture, NULL);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)picture[i % sizeof picture];
    return p;
}

/* The nodes' names in their order: what is made inside one call's arguments has none that C knows of. */
static uint64_t hash_order(const Graph *g)
{
    uint64_t h = DIGEST_START;
    for (NodeId n = 0; n < g->count; n++)
        for (const char *s = graph_node(g, n)->path; *s; s++)
            h = digest_mix(h, (unsigned char)*s);
    return h;
}

/* A loss with the first class as the right one, and the gradients of it: a hash over all of them. */
static uint64_t hash_gradients(Graph *g, const VitNodes *nodes, Pool *pool)
{
    static const float right[64] = {1};
    Dims d = graph_node(g, nodes->logits)->dims;
    REQUIRE(graph_dims_cells(g, d) <= sizeof right / sizeof *right);
    NodeId target = graph_leaf(g, "target", d, (Leaf){LEAF_INPUT, right, "the right class"});
    NodeId y = grad_cross_entropy(g, nodes->logits, target, d.axis[d.n - 1]);
    const NodeId *grad = grad_add(g, y, grad_seed(g, y, 0, "grad."), NULL, 0, "grad.");
    Run *r = run_new(g, NULL, pool);
    uint64_t hash = 0;
    for (NodeId n = 0; n <= y; n++)
        if (grad[n] != NO_NODE)
            hash = hash * 0x100000001b3u + run_hash_values(run_need(r, grad[n]), graph_cells(g, grad[n]));
    run_free(r);
    return hash;
}

static bool run_one(size_t i, Pool *pool)
{
    VitConfig c;
    Model m;
    Graph g;
    Err err = {""};
    uint64_t hash = 0;
    if (!model_size("tiny", &c))
        return false;
    MODELS[i].set(&c);
    if (!vit_check(&c, &err)) {
        fprintf(stderr, "portable: %s: %s\n", MODELS[i].name, err.text);
        return false;
    }
    model_seeded(&m, &c, 1000 + i);
    float *pixels = make_pixels(&c);
    graph_init(&g);
    VitNodes nodes;
    vit_build(&g, &c, &m.weights, NULL, pixels, &nodes);
    Run *r = run_new(&g, NULL, pool);
    bool ok = run_step_all(r, CLOCK_NEVER) && run_hash(r, &hash);
    printf("%-12s %016" PRIx64 "\n", MODELS[i].name, hash);
    run_free(r);
    if (MODELS[i].gradients)
        printf("%-12s %016" PRIx64 "\n", "  gradients", hash_gradients(&g, &nodes, pool));
    probes_add(&g, &c, &nodes);
    printf("%-12s %016" PRIx64 "\n", "  nodes", hash_order(&g));
    graph_free(&g);
    model_free(&m);
    free(pixels);
    return ok;
}

/* Text models of the three forms; their gradients; what the first writes from words 4 to 9, and how sure it is. */
static bool run_text(const char *name, Seq2seqForm form, Pool *pool)
{
    static const int source[] = {4, 5, 6, 7, 8, 9, 2}, target[] = {1, 3, 9, 7, 12};
    Seq2seqConfig c = seq2seq_config_base();
    c.form = form;
    c.width = 32;
    c.head_dim = 8;
    c.encoder_layers = c.decoder_layers = 2;
    c.embed_scale = 5.656854f;
    if (form == SEQ2SEQ_DECODER_ONLY)
        c.encoder_layers = c.source_words = 0;
    if (form == SEQ2SEQ_ENCODER_ONLY)
        c.decoder_layers = c.target_words = 0;
    Model m;
    Graph g;
    Seq2seqNodes nodes;
    uint64_t hash = 0;
    text_model_seeded(&m, &c, 77);
    Seq2seqInput in = {.source = {source, seq2seq_has_encoder(&c) ? 7 : 0, NULL, NULL},
                       .target = {target, seq2seq_has_decoder(&c) ? 5 : 0, NULL, NULL}};
    graph_init(&g);
    seq2seq_build(&g, &c, &m.weights, &in, &nodes);
    Run *r = run_new(&g, NULL, pool);
    bool ok = run_step_all(r, CLOCK_NEVER) && run_hash(r, &hash);
    printf("%-12s %016" PRIx64 "\n", name, hash);
    run_free(r);
    NodeId y = graph_reduce(&g, "sum_of_logits", OP_SUM, nodes.probs, DIMS_SCALAR);
    const NodeId *grad = grad_add(&g, y, grad_seed(&g, y, 0, "grad."), NULL, 0, "grad.");
    r = run_new(&g, NULL, pool);
    hash = 0;
    for (NodeId n = 0; n <= y; n++)
        if (grad[n] != NO_NODE)
            hash = hash * 0x100000001b3u + run_hash_values(run_need(r, grad[n]), graph_cells(&g, grad[n]));
    printf("%-12s %016" PRIx64 "\n", "  gradients", hash);
    run_free(r);
    DecodeOptions o = decode_options_default();
    o.kind = DECODE_BEAM;
    o.most = 12;
    Decode d;
    if (form == SEQ2SEQ_BOTH && decode_run(&d, &m, source, 7, &o, pool, NULL, NULL, NULL)) {
        printf("%-12s", "  beam");
        for (int i = 0; i < d.length; i++)
            printf(" %d", d.word[i]);
        printf(" %.17g\n", d.node[d.best].score);
        decode_free(&d);
    }
    graph_free(&g);
    model_free(&m);
    return ok;
}

/* FNV-1a over the bytes of a hundred pictures. */
static void hash_pictures(void)
{
    static uint8_t picture[DRAWN_SIDE * DRAWN_SIDE * 3], mask[DRAWN_SIDE * DRAWN_SIDE];
    uint64_t h = 14695981039346656037u;
    for (uint64_t n = 0; n < 100; n++) {
        drawn_picture(n, picture, mask);
        for (size_t i = 0; i < sizeof picture; i++)
            h = (h ^ picture[i]) * 1099511628211u;
        for (size_t i = 0; i < sizeof mask; i++)
            h = (h ^ mask[i]) * 1099511628211u;
    }
    printf("%-12s %016" PRIx64 "\n", "pictures", h);
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    bool ok = true;
    Pool *pool = threads > 1 ? pool_new(threads) : NULL;
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++)
        ok = run_one(i, pool) && ok;
    hash_pictures();
    ok = run_text("translator", SEQ2SEQ_BOTH, pool) && run_text("decoder", SEQ2SEQ_DECODER_ONLY, pool) &&
         run_text("encoder", SEQ2SEQ_ENCODER_ONLY, pool) && ok;
    pool_free(pool);
    return ok ? 0 : 1;
}
