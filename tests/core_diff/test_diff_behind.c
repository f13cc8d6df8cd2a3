/* Mistakes behind what was recorded: the recording has the right q, k, v or picture, and what was made of them is
 * wrong. So it is with programs that cut one layer's output into three, or turn a picture inside the model. And
 * mistakes that take only one of the sub-layers of a recorded block. */
#include <math.h>

#include "tests/core_diff/planting.h"

static VitConfig config_of(void)
{
    VitConfig c;
    assert_true(model_size("tiny", &c));
    return c;
}

/* Programs record one tensor under several names: what timm's drop_path and ls1 see is what its attention gives. */
static const struct {
    const char *node, *name;
} AGAIN[] = {{"blocks.0.attn.out", "blocks.0.ls1"}, {"full_embed", "pos_drop"}};
enum { TWICE = sizeof AGAIN / sizeof *AGAIN };

/* What `behind` lists is recorded as it was before its edit. */
static void write_behind(Plot *p, const char *list, const char *behind)
{
    Graph g = {.count = 0};
    Err err = {""};
    if (!graph_edit(&g, p->s->subject.graph, p->edit, p->count, &err))
        fail_msg("%s", err.text);
    Run *run = run_new(&g, p->s->bench.run, NULL);
    TensorOut *out = calloc((size_t)g.count + TWICE, sizeof *out);
    size_t count = 0, before = 0;
    for (NodeId n = 0; n < g.count; n++) {
        const char *path = graph_node(&g, n)->path;
        NodeId from = n;
        if (!listed(list, path))
            continue;
        if (listed(behind, path)) {
            from = graph_find(&g, arena_printf(&p->arena, "%s.unedited", path));
            before += from != NO_NODE;
            from = from == NO_NODE ? n : from;
        }
        TensorOut t = {.name = path, .rank = graph_node(&g, n)->dims.n, .data = run_need(run, from)};
        for (int i = 0; i < t.rank; i++)
            t.shape[i] = (size_t)g.axes[graph_node(&g, n)->dims.axis[i]].n;
        out[count++] = t;
        for (size_t k = 0; k < TWICE; k++)
            if (strcmp(path, AGAIN[k].node) == 0) {
                t.name = AGAIN[k].name;
                out[count++] = t;
            }
    }
    assert_true(!behind == !before);
    if (!tensors_write(trace_path(), TF_SAFETENSORS, out, count, NULL, &err))
        fail_msg("%s", err.text);
    free(out);
    run_free(run);
    graph_free(&g);
}

#define EACH(l) for (int l = 0; l < p->c->layers; l++)

static void v_is_k(Plot *p)
{
    EACH(l) plant(p, EDIT_REDIRECT, path_in(p, l, "attn.v"))->other = path_in(p, l, "attn.k");
}

static void v_unnormed(Plot *p)
{
    const float *x = planted(p, "blocks.0.resid_pre"), *w = weight_of(&p->s->bench.model, VIT_W_V, 0),
                *b = weight_of(&p->s->bench.model, VIT_B_V, 0);
    float *v = plant_values(p, "blocks.0.attn.v");
    size_t d = (size_t)p->c->width, all = (size_t)p->c->heads * (size_t)p->c->head_dim;
    for (size_t t = 0; t < (size_t)vit_tokens(p->c); t++)
        for (size_t i = 0; i < all; i++) {
            double sum = (double)b[i];
            for (size_t k = 0; k < d; k++)
                sum += (double)w[i * d + k] * (double)x[t * d + k];
            v[t * all + i] = (float)sum;
        }
}

static void in_half(Plot *p)
{
    static const char *const ROUNDED[] = {"attn.q",      "attn.k", "attn.v", "attn.scores_raw", "attn.scores_scaled",
                                          "attn.pattern"};
    const Graph *g = p->s->subject.graph;
    EACH(l)
    for (size_t i = 0; i < sizeof ROUNDED / sizeof *ROUNDED; i++) {
        const char *path = path_in(p, l, ROUNDED[i]);
        assert_true(p->count < PLANT_EDITS);
        p->edit[p->count++] = precision_edit(g, graph_find(g, path), PRECISION_BF16);
    }
}

static void turn(Plot *p, const char *axes)
{
    const Graph *g = p->s->subject.graph;
    Dims d = graph_node(g, p->s->subject.image)->dims;
    for (int k = 0; k < d.n; k++) {
        int n = g->axes[d.axis[k]].n, *index;
        if (!strchr(axes, *g->axes[d.axis[k]].sym))
            continue;
        index = arena_alloc(&p->arena, (size_t)n * sizeof *index);
        for (int i = 0; i < n; i++)
            index[i] = n - 1 - i;
        Edit *e = plant(p, EDIT_GATHER, "image");
        e->axis = d.axis[k];
        e->index = index;
    }
}

static void mirrored(Plot *p)
{
    turn(p, "xj");
}
static void upside_down(Plot *p)
{
    turn(p, "yi");
}
static void negative(Plot *p)
{
    plant(p, EDIT_SCALE, "image")->factor = -1;
}

static void instead(Plot *p, const char *sum, const char *part)
{
    EACH(l) plant(p, EDIT_REDIRECT, path_in(p, l, sum))->other = path_in(p, l, part);
}
static void no_first_residual(Plot *p)
{
    instead(p, "resid_mid", "attn.out");
}
static void no_second_residual(Plot *p)
{
    instead(p, "resid_post", "mlp.out");
}
static void no_attention(Plot *p)
{
    instead(p, "resid_mid", "resid_pre");
}
static void no_mlp(Plot *p)
{
    instead(p, "resid_post", "resid_mid");
}

static void drop(Plot *p, const char *path)
{
    const float *x = planted(p, path);
    uint32_t state = 5;
    size_t cells = cells_of(p, path);
    float *out = plant_values(p, path);
    for (size_t i = 0; i < cells; i++)
        out[i] = noise(&state) < 0.1 ? 0 : x[i] / 0.9f;
}
static void drop_attention(Plot *p)
{
    drop(p, "blocks.0.attn.out");
}
static void drop_embedding(Plot *p)
{
    drop(p, "full_embed");
}

/* --- weights --- */

static void layer_twice(Model *m)
{
    static const VitRole LAYER[] = {VIT_W_UP, VIT_B_UP};
    for (int i = 0; i < 2; i++)
        memcpy(weight_of(m, LAYER[i], 1), weight_of(m, LAYER[i], 0), vit_role_cells(&m->vit, LAYER[i]) * sizeof(float));
}

static void to_steps(float *w, size_t cells, float step)
{
    for (size_t i = 0; i < cells; i++)
        w[i] = (float)nearbyint((double)(w[i] / step)) * step;
}

static float most_of(const Model *m, VitRole r, int l)
{
    const float *w = vit_weight(&m->weights, r, l)->data;
    float most = 0;
    for (size_t i = 0; i < vit_role_cells(&m->vit, r); i++)
        most = fmaxf(most, fabsf(w[i]));
    return most;
}

/* q, k and v are one tensor with one scale. */
static void three_as_one(Model *m)
{
    static const VitRole THREE[] = {VIT_W_Q, VIT_W_K, VIT_W_V}, REST[] = {VIT_W_O, VIT_W_UP, VIT_W_DOWN};
    for (int l = 0; l < m->vit.layers; l++) {
        float most = 0;
        for (int i = 0; i < 3; i++)
            most = fmaxf(most, most_of(m, THREE[i], l));
        for (int i = 0; i < 3; i++) {
            to_steps(weight_of(m, THREE[i], l), vit_role_cells(&m->vit, THREE[i]), most / 127);
            to_steps(weight_of(m, REST[i], l), vit_role_cells(&m->vit, REST[i]), most_of(m, REST[i], l) / 127);
        }
    }
}

#define MODULES                                                                                                        \
    "image patch_embed full_embed blocks.*.ln1.out blocks.*.attn.q blocks.*.attn.k blocks.*.attn.v blocks.*.attn.out " \
    "blocks.*.ln2.out blocks.*.mlp.pre blocks.*.mlp.post blocks.*.mlp.out blocks.*.resid_post ln_final.out logits"
#define BLOCKS "image full_embed blocks.*.resid_post logits"

static const struct {
    const char *name;
    void (*edits)(Plot *p);
    void (*model)(Model *m);
    const char *list, *behind, *says;
} CASES[] = {
    {"v is k", v_is_k, NULL, MODULES, "blocks.*.attn.v", "v is k in the recording"},
    {"v before the norm", v_unnormed, NULL, MODULES, "blocks.*.attn.v", "computes v from the residual stream"},
    {"v before the norm, recorded so", v_unnormed, NULL, MODULES, NULL, "computes v from the residual stream"},
    {"attention in half precision", in_half, NULL, MODULES " blocks.*.attn.pattern",
     "blocks.*.attn.q blocks.*.attn.k blocks.*.attn.v", "the recording computes attention in bf16"},
    {"attention in half precision, blocks recorded", in_half, NULL, BLOCKS, NULL, "the attention weights in bf16"},
    {"mirrored inside the model", mirrored, NULL, MODULES, "image", "mirrored, left for right"},
    {"mirrored inside the model, blocks recorded", mirrored, NULL, BLOCKS, "image", "mirrored, left for right"},
    {"upside down inside the model", upside_down, NULL, MODULES, "image", "is upside down"},
    {"negative inside the model", negative, NULL, MODULES, "image", "is a negative"},
    {"no residual around attention", no_first_residual, NULL, BLOCKS, NULL,
     "leaves out the residual connection around attention"},
    {"no residual around the MLP", no_second_residual, NULL, BLOCKS, NULL,
     "leaves out the residual connection around the MLP"},
    {"no attention", no_attention, NULL, BLOCKS, NULL, "leaves out the sub-layer: attention"},
    {"no MLP", no_mlp, NULL, BLOCKS, NULL, "leaves out the sub-layer: the MLP"},
    {"dropout on attention, recorded under two names", drop_attention, NULL, MODULES, NULL, "dropout is on"},
    {"dropout on the embedding, recorded under two names", drop_embedding, NULL, MODULES, NULL, "dropout is on"},
    {"a layer loaded twice", NULL, layer_twice, BLOCKS, NULL, "the MLP's first layer of block 0 is loaded"},
    {"q, k and v quantised as one", NULL, three_as_one, MODULES, NULL, "q, k and v being one"},
    {"q, k and v quantised as one, blocks recorded", NULL, three_as_one, BLOCKS, NULL, "q, k and v being one"},
};

static void is_named(size_t i, const char *trace)
{
    VitConfig c = config_of();
    Side ours;
    Compared d;
    side_seeded(&ours, &c, 61, 47);
    compare_with(&d, &ours, trace, NULL, PRECISION_F32);
    assert_false(d.report.same);
    const DiffCause *first = &d.report.cause[0];
    if (!strstr(first->text, CASES[i].says) || !first->whole)
        fail_msg("%s: expected '%s'\n%s", CASES[i].name, CASES[i].says, buf_str(&d.verdict));
    compare_free(&d);
    side_close(&ours);
}

static void behind_what_is_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        VitConfig c = config_of();
        Side wrong;
        side_seeded(&wrong, &c, 61, 47);
        if (CASES[i].model) {
            run_free(wrong.bench.run);
            graph_free(&wrong.bench.graph);
            CASES[i].model(&wrong.bench.model);
            bench_start(&wrong.bench);
            side_subject(&wrong);
        }
        Plot p = {.s = &wrong, .c = &wrong.bench.model.vit};
        if (CASES[i].edits)
            CASES[i].edits(&p);
        write_behind(&p, CASES[i].list, CASES[i].behind);
        is_named(i, trace_path());
        arena_free(&p.arena);
        side_close(&wrong);
    }
}

/* --- one mistake in loading, seen in many rows --- */

static void swap(Model *m, VitRole a, int in, VitRole b, int there)
{
    float *x = weight_of(m, a, in), *y = weight_of(m, b, there);
    for (size_t i = 0; i < vit_role_cells(&m->vit, a); i++) {
        float kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

static const VitRole OF_BLOCK[] = {VIT_LN1_GAMMA, VIT_LN1_BETA, VIT_LN2_GAMMA, VIT_LN2_BETA, VIT_W_Q, VIT_W_K,
                                   VIT_W_V,       VIT_W_O,      VIT_W_UP,      VIT_W_DOWN,   VIT_B_Q, VIT_B_K,
                                   VIT_B_V,       VIT_B_O,      VIT_B_UP,      VIT_B_DOWN};
enum { OF_BLOCK_COUNT = sizeof OF_BLOCK / sizeof *OF_BLOCK };

static void blocks_exchanged(Model *m)
{
    for (int i = 0; i < OF_BLOCK_COUNT; i++)
        swap(m, OF_BLOCK[i], 0, OF_BLOCK[i], 1);
}
static void block_twice(Model *m)
{
    for (int i = 0; i < OF_BLOCK_COUNT; i++)
        memcpy(weight_of(m, OF_BLOCK[i], 0), weight_of(m, OF_BLOCK[i], 1),
               vit_role_cells(&m->vit, OF_BLOCK[i]) * sizeof(float));
}
static void k_v_in_one(Model *m)
{
    swap(m, VIT_W_K, 1, VIT_W_V, 1);
    swap(m, VIT_B_K, 1, VIT_B_V, 1);
}
static void k_v_exchanged(Model *m)
{
    swap(m, VIT_W_K, 0, VIT_W_V, 0);
    swap(m, VIT_B_K, 0, VIT_B_V, 0);
    k_v_in_one(m);
}
static void norms_exchanged(Model *m)
{
    for (int l = 0; l < 2; l++) {
        swap(m, VIT_LN1_GAMMA, l, VIT_LN2_GAMMA, l);
        swap(m, VIT_LN1_BETA, l, VIT_LN2_BETA, l);
    }
}

/* Of one mistake one verdict, without a rival that leaves a recorded row unexplained. */
static void told_once(void **state)
{
    static const struct {
        void (*model)(Model *m);
        const char *says, *place;
    } LOADED[] = {{blocks_exchanged, "blocks 0 and 1 are exchanged", "It explains the other"},
                  {block_twice, "block 0 has the weights of block 1", "Only in block 0"},
                  {k_v_exchanged, "k and v are exchanged", "in 2 blocks"},
                  {k_v_in_one, "k and v are exchanged", "Only in block 1"},
                  {norms_exchanged, "the first and the second LayerNorm are exchanged", "in 2 blocks"}};
    (void)state;
    for (size_t i = 0; i < sizeof LOADED / sizeof *LOADED; i++) {
        VitConfig c = config_of();
        Side ours, wrong;
        Compared d;
        side_seeded(&wrong, &c, 61, 47);
        run_free(wrong.bench.run);
        graph_free(&wrong.bench.graph);
        LOADED[i].model(&wrong.bench.model);
        bench_start(&wrong.bench);
        write_trace(wrong.bench.run, NULL, trace_path());
        side_seeded(&ours, &c, 61, 47);
        compare_with(&d, &ours, trace_path(), NULL, PRECISION_F32);
        const DiffCause *one = &d.report.cause[0];
        if (d.report.cause_count != 1 || !one->whole || *one->also || !strstr(one->text, LOADED[i].says) ||
            !strstr(buf_str(&d.verdict), LOADED[i].place))
            fail_msg("expected '%s' once\n%s", LOADED[i].says, buf_str(&d.verdict));
        compare_free(&d);
        side_close(&ours);
        side_close(&wrong);
    }
}

/* Pixels recorded before the recorded model standardised them: given: our model is fed the recorded ones. */
static void pixels_before(bool given)
{
    VitConfig c = config_of();
    Side s;
    Compared d;
    Err err = {""};
    side_seeded(&s, &c, 61, 47);
    static const char *const NAMES[] = {"image", "full_embed", "blocks.0.resid_post", "logits"};
    size_t pixels = bench_pixels(&c);
    float *raw = malloc(pixels * sizeof *raw);
    TensorOut out[4];
    memcpy(raw, s.bench.pixels, pixels * sizeof *raw);
    for (int k = 0; k < 4; k++) {
        const Graph *g = &s.bench.graph;
        NodeId n = graph_find(g, NAMES[k]);
        Dims dims = graph_node(g, n)->dims;
        out[k] = (TensorOut){.name = NAMES[k], .rank = dims.n, .data = k ? run_need(s.bench.run, n) : raw};
        for (int i = 0; i < dims.n; i++)
            out[k].shape[i] = (size_t)g->axes[dims.axis[i]].n;
    }
    assert_true(tensors_write(trace_path(), TF_SAFETENSORS, out, 4, NULL, &err));
    if (given) {
        run_free(s.bench.run);
        graph_free(&s.bench.graph);
        s.bench.model.vit.input = VIT_INPUT_READY;
        bench_start(&s.bench);
        side_subject(&s);
    }
    compare_with(&d, &s, trace_path(), NULL, PRECISION_F32);
    if (d.report.cause_count != 1 || !d.report.cause[0].whole ||
        !strstr(d.report.cause[0].text, "not standardised (0 to 255); the recorded model was fed standardised"))
        fail_msg("%s", buf_str(&d.verdict));
    compare_free(&d);
    free(raw);
    side_close(&s);
}

static void pixels_before_they_were_standardised(void **state)
{
    (void)state;
    pixels_before(false);
    pixels_before(true);
}

/* q as [t,8,4] would fit our 4 heads of 8 with its axes exchanged, and is 8 heads of 4 as the scores are. */
static void another_number_of_heads(void **state)
{
    (void)state;
    VitConfig c = config_of();
    Side ours, theirs;
    Compared d;
    side_seeded(&ours, &c, 61, 47);
    c.heads = 8;
    c.head_dim = 4;
    side_seeded(&theirs, &c, 61, 47);
    write_trace(theirs.bench.run, NULL, trace_path());
    compare_with(&d, &ours, trace_path(), NULL, PRECISION_F32);
    if (d.report.cause_count || !strstr(buf_str(&d.verdict), "has 8 heads, this model has 4"))
        fail_msg("%s", buf_str(&d.verdict));
    for (int i = 0; i < d.report.count; i++)
        assert_true(d.report.row[i].tensor->layout.ours);
    compare_free(&d);
    side_close(&ours);
    side_close(&theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behind_what_is_recorded),
        cmocka_unit_test(told_once),
        cmocka_unit_test(pixels_before_they_were_standardised),
        cmocka_unit_test(another_number_of_heads),
    };
    return cmocka_run_group_tests_name("diff behind", tests, NULL, NULL);
}
