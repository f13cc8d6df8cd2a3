/* Mistakes planted in a copy of the model, each recorded three ways (everything, the blocks' outputs, the logits alone)
 * on two models: the cause that is named is the right one, or none is; and what is different stays different when more
 * is recorded. */
#include "tests/core_diff/diffing.h"

typedef struct Planted {
    const char *name;
    void (*model)(Model *m);
    void (*edits)(Side *s, Edit *out, int *count); /* one of the two */
    const char *says;  /* words of the right cause; NULL: a mistake without a name, of which none may be named */
    const char *equal; /* words of another cause that is the same mistake, or that is a part of it told at the tensor
                          that shows it, or NULL */
} Planted;

static float *weight_of(Model *m, VitRole r, int layer)
{
    const float *w = vit_weight(&m->weights, r, layer)->data;
    return m->block + (w - m->block);
}

/* --- by the configuration or the weights --- */

static void no_scale(Model *m)
{
    m->vit.scale = 1;
}
static void by_d_k(Model *m)
{
    m->vit.scale = 1 / (float)m->vit.head_dim;
}
static void odd_scale(Model *m)
{
    m->vit.scale *= 1.3f;
}
static void large_eps(Model *m)
{
    m->vit.eps = 1e-2f;
}
static void quick_gelu(Model *m)
{
    m->vit.act = MAP_QUICK_GELU;
}
static void relu(Model *m)
{
    m->vit.act = MAP_RELU;
}
static void gelu_tanh(Model *m)
{
    m->vit.act = MAP_GELU_TANH;
}
static void no_b_up(Model *m)
{
    for (int l = 0; l < m->vit.layers; l++)
        memset(weight_of(m, VIT_B_UP, l), 0, vit_role_cells(&m->vit, VIT_B_UP) * sizeof(float));
}
static void swap_cells(float *a, float *b, size_t cells)
{
    for (size_t i = 0; i < cells; i++) {
        float x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}
static const VitRole BLOCK_ROLES[] = {VIT_LN1_GAMMA, VIT_LN1_BETA, VIT_LN2_GAMMA, VIT_LN2_BETA, VIT_W_Q, VIT_W_K,
                                      VIT_W_V,       VIT_W_O,      VIT_W_UP,      VIT_W_DOWN,   VIT_B_Q, VIT_B_K,
                                      VIT_B_V,       VIT_B_O,      VIT_B_UP,      VIT_B_DOWN};
enum { ROLES = sizeof BLOCK_ROLES / sizeof *BLOCK_ROLES };
static void blocks_swapped(Model *m)
{
    for (int i = 0; i < ROLES; i++)
        swap_cells(weight_of(m, BLOCK_ROLES[i], 0), weight_of(m, BLOCK_ROLES[i], 1),
                   vit_role_cells(&m->vit, BLOCK_ROLES[i]));
}
static void block_twice(Model *m)
{
    for (int i = 0; i < ROLES; i++)
        memcpy(weight_of(m, BLOCK_ROLES[i], 1), weight_of(m, BLOCK_ROLES[i], 0),
               vit_role_cells(&m->vit, BLOCK_ROLES[i]) * sizeof(float));
}
static void q_k_exchanged(Model *m)
{
    for (int l = 0; l < m->vit.layers; l++) {
        swap_cells(weight_of(m, VIT_W_Q, l), weight_of(m, VIT_W_K, l), vit_role_cells(&m->vit, VIT_W_Q));
        swap_cells(weight_of(m, VIT_B_Q, l), weight_of(m, VIT_B_K, l), vit_role_cells(&m->vit, VIT_B_Q));
    }
}
/* q takes k's weights, k takes v's, v takes q's: no exchange of two. */
static void qkv_rotated(Model *m)
{
    q_k_exchanged(m);
    for (int l = 0; l < m->vit.layers; l++) {
        swap_cells(weight_of(m, VIT_W_K, l), weight_of(m, VIT_W_V, l), vit_role_cells(&m->vit, VIT_W_K));
        swap_cells(weight_of(m, VIT_B_K, l), weight_of(m, VIT_B_V, l), vit_role_cells(&m->vit, VIT_B_K));
    }
}
static void positions_doubled(Model *m)
{
    float *pos = weight_of(m, VIT_POS, 0);
    for (size_t i = 0; i < vit_role_cells(&m->vit, VIT_POS); i++)
        pos[i] *= 2;
}
static void positions_absent(Model *m)
{
    memset(weight_of(m, VIT_POS, 0), 0, vit_role_cells(&m->vit, VIT_POS) * sizeof(float));
}
static void positions_shifted(Model *m)
{
    float *pos = weight_of(m, VIT_POS, 0), first[512];
    size_t d = (size_t)m->vit.width, cells = vit_role_cells(&m->vit, VIT_POS);
    memcpy(first, pos, d * sizeof *pos);
    memmove(pos, pos + d, (cells - d) * sizeof *pos);
    memcpy(pos + cells - d, first, d * sizeof *pos);
}
static void one_weight(Model *m)
{
    weight_of(m, VIT_W_V, 0)[77] += 0.5f;
}
static void weights_rounded(Model *m)
{
    for (int i = 0; i < VIT_ROLES; i++)
        for (int l = 0; l < (vit_role_in_block((VitRole)i) ? m->vit.layers : 1); l++)
            if (vit_weight(&m->weights, (VitRole)i, l) && vit_weight(&m->weights, (VitRole)i, l)->data)
                precision_round(PRECISION_BF16, weight_of(m, (VitRole)i, l), weight_of(m, (VitRole)i, l),
                                vit_role_cells(&m->vit, (VitRole)i));
}

/* --- by edits of the graph --- */

static Edit *each(Side *s, Edit *out, int *count, const char *ending, int block)
{
    const Graph *g = s->subject.graph;
    for (NodeId n = 0; n < g->count; n++) {
        const char *p = graph_node(g, n)->path;
        size_t a = strlen(p), e = strlen(ending);
        if (strncmp(p, "blocks.", 7) == 0 && atoi(p + 7) == block && a > e && strcmp(p + a - e, ending) == 0)
            out[(*count)++] = (Edit){.path = p, .origin = "planted"};
    }
    return &out[*count - 1];
}
static void no_final_norm(Side *s, Edit *e, int *n)
{
    static char last[32];
    snprintf(last, sizeof last, "blocks.%d.resid_post", s->bench.model.vit.layers - 1);
    e[(*n)++] = (Edit){.kind = EDIT_REDIRECT, .path = "ln_final.out", .other = last};
}
static void mean_read(Side *s, Edit *e, int *n)
{
    static float mean[512];
    const float *x = bench_values(&s->bench, "ln_final.out");
    int d = s->bench.model.vit.width, tokens = vit_tokens(&s->bench.model.vit);
    for (int i = 0; i < d; i++) {
        double sum = 0;
        for (int t = 1; t < tokens; t++)
            sum += (double)x[t * d + i];
        mean[i] = (float)(sum / (tokens - 1));
    }
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "readout", .data = mean};
}
static void v_is_k(Side *s, Edit *e, int *n)
{
    static char other[8][32];
    for (int l = 0; l < s->bench.model.vit.layers; l++) {
        snprintf(other[l], sizeof *other, "blocks.%d.attn.k", l);
        Edit *x = each(s, e, n, ".attn.v", l);
        x->kind = EDIT_REDIRECT;
        x->other = other[l];
    }
}
static void rms_norm(Side *s, Edit *e, int *n)
{
    for (int l = 0; l < s->bench.model.vit.layers; l++) {
        each(s, e, n, ".ln1.mean", l)->kind = EDIT_SET;
        each(s, e, n, ".ln2.mean", l)->kind = EDIT_SET;
    }
    e[(*n)++] = (Edit){.kind = EDIT_SET, .path = "ln_final.mean"};
}
static void late_scale(Side *s, Edit *e, int *n)
{
    for (int l = 0; l < s->bench.model.vit.layers; l++) {
        Edit *x = each(s, e, n, ".attn.scale", l);
        x->kind = EDIT_SET;
        x->value = 1;
        x = each(s, e, n, ".attn.pattern", l);
        x->kind = EDIT_SCALE;
        x->factor = s->bench.model.vit.scale;
    }
}
static void gamma_beta(Side *s, Edit *e, int *n)
{
    static char paths[16][32];
    int p = 0;
    for (int l = 0; l < s->bench.model.vit.layers; l++)
        for (int k = 1; k <= 2; k++) {
            snprintf(paths[p], sizeof *paths, "blocks.%d.ln%d.gamma", l, k);
            snprintf(paths[p + 1], sizeof *paths, "blocks.%d.ln%d.beta", l, k);
            const float *a = bench_values(&s->bench, paths[p]), *b = bench_values(&s->bench, paths[p + 1]);
            e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = paths[p++], .data = b};
            e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = paths[p++], .data = a};
        }
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "ln_final.gamma", .data = bench_values(&s->bench, "ln_final.beta")};
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "ln_final.beta", .data = bench_values(&s->bench, "ln_final.gamma")};
}
static void leaky_relu(Side *s, Edit *e, int *n)
{
    static float x[1 << 16];
    const float *pre = bench_values(&s->bench, "blocks.0.mlp.pre");
    size_t cells = graph_cells(s->subject.graph, graph_find(s->subject.graph, "blocks.0.mlp.pre"));
    assert_true(cells <= sizeof x / sizeof *x);
    for (size_t i = 0; i < cells; i++)
        x[i] = pre[i] > 0 ? pre[i] : pre[i] * 0.01f;
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "blocks.0.mlp.post", .data = x};
}
static void dropout(Side *s, Edit *e, int *n)
{
    static float x[1 << 16];
    const float *post = bench_values(&s->bench, "blocks.0.mlp.post");
    size_t cells = graph_cells(s->subject.graph, graph_find(s->subject.graph, "blocks.0.mlp.post"));
    uint32_t r = 5;
    assert_true(cells <= sizeof x / sizeof *x);
    for (size_t i = 0; i < cells; i++) {
        r = r * 1664525u + 1013904223u;
        x[i] = (r >> 8) % 10 == 0 ? 0 : post[i] / 0.9f;
    }
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "blocks.0.mlp.post", .data = x};
}
static void normed_residual(Side *s, Edit *e, int *n)
{
    static float x[1 << 15];
    const float *a = bench_values(&s->bench, "blocks.0.ln1.out"), *b = bench_values(&s->bench, "blocks.0.attn.out");
    for (int i = 0; i < s->bench.model.vit.width * vit_tokens(&s->bench.model.vit); i++)
        x[i] = a[i] + b[i];
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "blocks.0.resid_mid", .data = x};
}

static float *turned(Side *s, bool mirrored)
{
    static float x[1 << 14];
    const VitConfig *c = &s->bench.model.vit;
    const float *image = bench_values(&s->bench, "image");
    int rows = c->image_h, cols = c->image_w;
    assert_true(bench_pixels(c) <= sizeof x / sizeof *x);
    for (int ch = 0; ch < 3; ch++)
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < cols; k++)
                x[(ch * rows + r) * cols + k] =
                    image[((mirrored ? ch : 2 - ch) * rows + r) * cols + (mirrored ? cols - 1 - k : k)];
    return x;
}
static void mirrored(Side *s, Edit *e, int *n)
{
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "image", .data = turned(s, true)};
}
static void bgr(Side *s, Edit *e, int *n)
{
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "image", .data = turned(s, false)};
}
static void last_token(Side *s, Edit *e, int *n)
{
    const VitConfig *c = &s->bench.model.vit;
    e[(*n)++] = (Edit){.kind = EDIT_VALUES,
                       .path = "readout",
                       .data = bench_values(&s->bench, "ln_final.out") + (vit_tokens(c) - 1) * c->width};
}
static void probabilities(Side *s, Edit *e, int *n)
{
    static float x[16];
    const float *logits = bench_values(&s->bench, "logits");
    double sum = 0;
    for (int i = 0; i < s->bench.model.vit.classes; i++)
        sum += exp((double)logits[i]);
    for (int i = 0; i < s->bench.model.vit.classes; i++)
        x[i] = (float)(exp((double)logits[i]) / sum);
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "logits", .data = x};
}
static void unnormed_v(Side *s, Edit *e, int *n)
{
    static float x[1 << 14];
    const VitConfig *c = &s->bench.model.vit;
    const float *in = bench_values(&s->bench, "blocks.0.resid_pre"), *w = bench_values(&s->bench, "blocks.0.attn.w_v"),
                *b = bench_values(&s->bench, "blocks.0.attn.b_v");
    int all = c->heads * c->head_dim;
    for (int t = 0; t < vit_tokens(c); t++)
        for (int o = 0; o < all; o++) {
            double sum = (double)b[o];
            for (int d = 0; d < c->width; d++)
                sum += (double)w[o * c->width + d] * (double)in[t * c->width + d];
            x[t * all + o] = (float)sum;
        }
    e[(*n)++] = (Edit){.kind = EDIT_VALUES, .path = "blocks.0.attn.v", .data = x};
}

static const Planted PLANTED[] = {
    {"mirrored", NULL, mirrored, "is mirrored", NULL},
    {"BGR", NULL, bgr, "opposite order (BGR)", NULL},
    {"last token read out", NULL, last_token, "reads the last token", NULL},
    {"probabilities", NULL, probabilities, "they are probabilities", NULL},
    {"v of the residual stream, one block", NULL, unnormed_v, "before the LayerNorm", NULL},
    {"scale missing", no_scale, NULL, "does not multiply the scores by 1/√d_k", NULL},
    {"scale 1/d_k", by_d_k, NULL, "d_k instead of √d_k", NULL},
    {"another scale", odd_scale, NULL, "multiplies the scores by", NULL},
    {"eps 1e-2", large_eps, NULL, "ε = 0.01", NULL},
    {"quick GELU", quick_gelu, NULL, "quick GELU", NULL},
    {"ReLU", relu, NULL, "is ReLU", NULL},
    {"GELU tanh", gelu_tanh, NULL, "tanh approximation", NULL},
    {"b_up missing", no_b_up, NULL, "no bias in the MLP's first", NULL},
    {"q and k exchanged", q_k_exchanged, NULL, "q and k are exchanged", "q has the weights of k"},
    {"positions doubled", positions_doubled, NULL, "position embeddings twice", NULL},
    {"positions absent", positions_absent, NULL, "no position embeddings", NULL},
    {"positions shifted", positions_shifted, NULL, "shifted by one: each token has its successor's", NULL},
    {"blocks swapped", blocks_swapped, NULL, "blocks 0 and 1 are exchanged", "has the weights of block"},
    {"a block loaded twice", block_twice, NULL, "block 1 has the weights of block 0", NULL},
    {"weights rounded", weights_rounded, NULL, "weights were rounded to bf16", NULL},
    {"no final norm", NULL, no_final_norm, "no final LayerNorm", NULL},
    {"mean read out", NULL, mean_read, "mean of the patches", NULL},
    {"v is k", NULL, v_is_k, "v is k", NULL},
    {"RMSNorm", NULL, rms_norm, "RMSNorm", NULL},
    {"scale after softmax", NULL, late_scale, "after the softmax", "does not multiply the scores"},
    {"gamma and beta", NULL, gamma_beta, "γ and β of LayerNorm are exchanged", NULL},
    {"dropout", NULL, dropout, "dropout is on", NULL},
    {"residual from the norm, one block", NULL, normed_residual, "starts behind the LayerNorm", NULL},
    {"q k v rotated", qkv_rotated, NULL, "q has the weights of k", NULL},
    {"one weight", one_weight, NULL, NULL, NULL},
    {"LeakyReLU", NULL, leaky_relu, NULL, NULL},
};
enum { PLANTED_COUNT = sizeof PLANTED / sizeof *PLANTED, WAYS = 3 };

static const char *const LISTS[WAYS] = {"image logits", "image full_embed blocks.*.resid_post logits", NULL};

/* tiny, and one of another shape with biases and norms that are not 0 and 1. */
static VitConfig config_of(int which)
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    if (which) {
        c.layers = 3;
        c.heads = 2;
        c.head_dim = 12;
        c.width = 24;
        c.mlp = 40;
        c.scale = vit_scale(c.head_dim);
        c.classes = 7;
    }
    return c;
}

static void roughen(Model *m)
{
    static const VitRole NORMS[] = {VIT_LN1_GAMMA, VIT_LN1_BETA, VIT_LN2_GAMMA, VIT_LN2_BETA};
    uint32_t r = 11;
    for (size_t k = 0; k < sizeof NORMS / sizeof *NORMS; k++)
        for (int l = 0; l < m->vit.layers; l++)
            for (size_t i = 0; i < vit_role_cells(&m->vit, NORMS[k]); i++) {
                r = r * 1664525u + 1013904223u;
                weight_of(m, NORMS[k], l)[i] += (float)(r >> 8) / (float)(1 << 24) - 0.5f;
            }
}

static void rebuild(Side *s, void (*change)(Model *m))
{
    run_free(s->bench.run);
    graph_free(&s->bench.graph);
    roughen(&s->bench.model);
    if (change)
        change(&s->bench.model);
    bench_start(&s->bench);
    side_subject(s);
}

typedef struct Tally {
    int found, none, wrong;
} Tally;

static bool judge(const Planted *k, int which, int way, Tally *tally)
{
    VitConfig c = config_of(which);
    Side ours, theirs;
    Compared d;
    Edit edits[256];
    int count = 0;
    side_seeded(&ours, &c, 61, 47);
    side_seeded(&theirs, &c, 61, 47);
    rebuild(&ours, NULL);
    rebuild(&theirs, k->model);
    if (k->edits)
        k->edits(&theirs, edits, &count);
    write_edited(&theirs, edits, count, PRECISION_F32, LISTS[way], trace_path());
    compare_with(&d, &ours, trace_path(), NULL, PRECISION_F32);
    bool different = !d.report.same, named = false, right = false;
    if (d.report.cause_count) {
        const DiffCause *f = &d.report.cause[0];
        named = f->whole && *f->text;
        right = named && k->says &&
                (strstr(f->text, k->says) || strstr(f->also, k->says) || (k->equal && strstr(f->text, k->equal)));
    }
    tally->found += right;
    tally->none += !named;
    tally->wrong += named && !right;
    if ((named && !right) || (!named && k->says))
        print_message("  %s, model %d, recording %d: %s: %s\n", k->name, which, way, named ? "WRONG" : "not named",
                      buf_str(&d.verdict));
    compare_free(&d);
    side_close(&ours);
    side_close(&theirs);
    return different;
}

static void right_or_none(void **state)
{
    (void)state;
    Tally all = {0};
    for (int i = 0; i < PLANTED_COUNT; i++)
        for (int which = 0; which < 2; which++) {
            bool before = false;
            for (int way = 0; way < WAYS; way++) { /* each records what the one before does, and more */
                bool different = judge(&PLANTED[i], which, way, &all);
                if (before && !different)
                    fail_msg("%s: different, and the same when more is recorded", PLANTED[i].name);
                before = different;
            }
            assert_true(before);
        }
    print_message("  %d of %d planted found, %d not named, %d named wrong\n", all.found, PLANTED_COUNT * 2 * WAYS,
                  all.none, all.wrong);
    assert_int_equal(all.wrong, 0);
    assert_true(all.found >= 162);
}

/* The same without a mistake: "Same" in all three. */
static void right_models(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++)
        for (int way = 0; way < WAYS; way++) {
            Tally none = {0};
            Planted right = {"no mistake", NULL, NULL, NULL, NULL};
            assert_false(judge(&right, which, way, &none));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_or_none),
        cmocka_unit_test(right_models),
    };
    return cmocka_run_group_tests_name("diff planted", tests, NULL, NULL);
}
