/* Every family of published vision transformers: read under its own program's names, every recorded intermediate
 * reached, wrong variants measurably different. (What each container does: test_matrix.c.) The recordings are
 * those of tests/data/families/make.py, in float64 from the families' published sources. */
#include "tests/core_models/tensor_set.h"

#include "core/graph/anatomy.h"
#include "core/models/vit_direct.h"

#define FAMILIES "tests/data/families/"
static const double TOLERANCE = 1e-5; /* of the largest absolute value of the tensor */
static const double DIFFERENT = 1e-3; /* what a wrong variant has to miss the answer by, at least */

typedef struct Case {
    const char *name;
    int guesses;
    const char *assumed; /* in one of the assumptions; NULL: none are made */
} Case;

static const Case CASES[] = {
    {"dinov2", 0, "fitted to 3 × 3 (bicubic, as dinov2 does it)"},
    {"dinov2_registers", 0, "bicubic with antialias"},
    {"clip", 0, "the text tower is left out (4 tensors)"},
    {"clip_openai", 3, "the text tower is left out (6 tensors)"},
    {"siglip", 0, "the text tower is left out (3 tensors)"},
    {"dinov3", 0, NULL},
    {"dinov3_gated", 0, NULL},
    {"timm_eva02", 0, NULL},
    {"timm_eva02_tiny", 0, NULL},
    {"timm_rope_gap", 0, NULL},
    {"timm_rope_ape", 0, NULL},
    {"timm_siglip", 0, NULL},
    {"timm_dinov2_giant", 0, NULL},
    {"timm_dinov3", 0, NULL},
    {"clip_classifier", 0, "reads the mean of the patches, without the last norm"},
    {"siglip_classifier", 0, "reads the mean of the patches, as"},
    {"jax", 3, "the form with tanh, as the authors' code computes it"},
    {"timm_rope_mixed", 0, NULL},
    {"timm_rope_mixed_ape", 0, NULL},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static const char *path_of(const Case *c, const char *file)
{
    static char path[256];
    snprintf(path, sizeof path, FAMILIES "%s%s%s", c->name, *file ? "/" : "", file);
    return path;
}

static double *recorded(const TensorFile *f, const TensorInfo *t)
{
    Err err = {""};
    double *x = xcalloc(t->cells + 1, sizeof *x);
    assert_true(tensors_read_f64(f, t, x, &err));
    return x;
}

static void load(Bench *b, const Case *c, TensorFile *f)
{
    Err err = {""};
    *b = (Bench){0};
    if (!model_load(&b->model, path_of(c, ""), NULL, NULL, &err) ||
        !tensors_open(f, path_of(c, "expected.safetensors"), &err))
        fail_msg("%s: %s", c->name, err.text);
    const TensorInfo *pixels = tensors_find(f, "pixels");
    assert_int_equal(pixels->cells, bench_pixels(&b->model.vit));
    b->pixels = xfloats(pixels->cells);
    assert_true(tensors_read_f32(f, pixels, b->pixels, &err));
}

/* The largest error of a tensor, relative to its largest value. */
static double error_of(const double *want, const float *got, size_t cells)
{
    double largest = 0, worst = 0;
    for (size_t i = 0; i < cells; i++) {
        largest = fmax(largest, fabs(want[i]));
        worst = fmax(worst, fabs((double)got[i] - want[i]));
        if (!isfinite(got[i]))
            return (double)INFINITY;
    }
    return largest > 0 ? worst / largest : worst;
}

static const char *end_of(const TensorFile *f)
{
    return tensors_find(f, "logits") ? "logits" : tensors_find(f, "embedding") ? "embedding" : "readout";
}

static void every_intermediate(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Bench b;
        TensorFile f;
        double worst = 0;
        load(&b, &CASES[i], &f);
        bench_start(&b);
        for (size_t k = 0; k < f.count; k++) {
            const TensorInfo *t = &f.tensors[k];
            NodeId n = graph_find(&b.graph, t->name);
            if (n == NO_NODE)
                fail_msg("%s: no node '%s'", CASES[i].name, t->name);
            assert_int_equal(graph_cells(&b.graph, n), t->cells);
            double *want = recorded(&f, t), error = error_of(want, run_need(b.run, n), t->cells);
            if (!(error <= TOLERANCE))
                fail_msg("%s: %s is off by %.3g of its largest value", CASES[i].name, t->name, error);
            worst = fmax(worst, error);
            free(want);
        }
        assert_true(f.count > 20);
        printf("%s: %zu tensors, largest error %.1e\n", CASES[i].name, f.count, worst);
        tensors_close(&f);
        bench_free(&b);
    }
}

/* The same answer by the second route: loops over the weights, without a graph. */
static void second_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Bench b;
        TensorFile f;
        load(&b, &CASES[i], &f);
        const VitConfig *c = &b.model.vit;
        size_t tokens = (size_t)vit_tokens(c), d = (size_t)c->width;
        double *z = xcalloc(tokens * d, sizeof *z), *out = xcalloc(8 * d, sizeof *out);
        float *stream = xfloats(tokens * d), *answer = xfloats(8 * d);
        vit_direct_embed(c, &b.model.weights, b.pixels, z);
        for (int layer = 0; layer < c->layers; layer++) {
            for (size_t k = 0; k < tokens * d; k++)
                stream[k] = (float)z[k];
            VitDirectBlock block = vit_direct_block(c, &b.model.weights, layer, stream);
            for (int t = 0; t < (int)tokens; t++)
                vit_direct_keys(&block, t);
            for (int t = 0; t < (int)tokens; t++)
                vit_direct_token(&block, t, z + (size_t)t * d);
            vit_direct_block_free(&block);
        }
        for (size_t k = 0; k < tokens * d; k++)
            stream[k] = (float)z[k];
        const TensorInfo *end = tensors_find(&f, end_of(&f));
        if (c->classes)
            vit_direct_answer(c, &b.model.weights, stream, out, out + c->classes);
        else
            vit_direct_embedding(c, &b.model.weights, stream, out);
        double *want = recorded(&f, end);
        for (size_t k = 0; k < end->cells; k++)
            answer[k] = (float)out[k];
        double error = error_of(want, answer, end->cells);
        if (!(error <= TOLERANCE))
            fail_msg("%s: the second route misses %s by %.3g", CASES[i].name, end->name, error);
        free(want);
        free(z);
        free(out);
        free(stream);
        free(answer);
        tensors_close(&f);
        bench_free(&b);
    }
}

/* --- wrong variants --- */

typedef struct Wrong {
    const char *family, *what;
    void (*change)(VitConfig *c);
} Wrong;

static void no_turn(VitConfig *c)
{
    c->rope = VIT_ROPE_NONE;
}
static void other_pairs(VitConfig *c)
{
    c->rope_half = !c->rope_half;
}
static void other_axis(VitConfig *c)
{
    c->rope_cols_first = !c->rope_cols_first;
}
static void other_base(VitConfig *c)
{
    c->rope_base = c->rope_base > 1000 ? 100 : 10000;
}
static void no_reference(VitConfig *c)
{
    c->rope_ref_h = c->rope_ref_w = 0;
}
static void erf_form(VitConfig *c)
{
    c->act = MAP_GELU;
}
static void tanh_form(VitConfig *c)
{
    c->act = MAP_GELU_TANH;
}
static void not_smoothed(VitConfig *c)
{
    c->fit_smooth = !c->fit_smooth;
}
static void straight(VitConfig *c)
{
    c->fit = VIT_FIT_BILINEAR;
}
static void on_corners(VitConfig *c)
{
    c->fit_corners = true;
}
static void small_eps(VitConfig *c)
{
    c->eps = 1e-12f;
}
static void other_pixels(VitConfig *c)
{
    for (int i = 0; i < 3; i++)
        c->mean[i] = c->std[i] = 0.5f;
}
static void first_token(VitConfig *c)
{
    c->pool = VIT_POOL_CLS;
}

/* The last block turns by the first one's frequencies. */
static void other_block(Model *m)
{
    size_t each = (size_t)m->vit.heads * (size_t)(m->vit.head_dim / 2), all = (size_t)m->vit.layers * each;
    float *f = m->block + (vit_weight(&m->weights, VIT_ROPE_FREQS, 0)->data - m->block);
    memcpy(f + all - each, f, each * sizeof *f);
    memcpy(f + 2 * all - each, f + all, each * sizeof *f);
}

/* erf and tanh differ by little where the weights are small: what each misses the answer by is printed. */
static const Wrong WRONG[] = {
    {"dinov3", "rotations lost", no_turn},
    {"dinov3", "neighbours turned together", other_pairs},
    {"dinov3", "rows for columns", other_axis},
    {"dinov3", "another base", other_base},
    {"dinov3_gated", "a gate with GELU", erf_form},
    {"timm_eva02", "rotations lost", no_turn},
    {"timm_eva02", "halves turned together", other_pairs},
    {"timm_eva02", "no reference grid", no_reference},
    {"timm_eva02_tiny", "rotations lost", no_turn},
    {"timm_rope_ape", "rows for columns", other_axis},
    {"timm_rope_gap", "another base", other_base},
    {"timm_dinov3", "the class token read", first_token},
    {"clip", "GELU with erf", erf_form},
    {"clip_openai", "GELU with tanh", tanh_form},
    {"clip", "mean and deviation 0.5", other_pixels},
    {"siglip", "GELU with erf", erf_form},
    {"timm_siglip", "GELU with erf", erf_form},
    {"jax", "GELU with erf", erf_form},
    {"jax", "epsilon 1e-12", small_eps},
    {"dinov2", "antialias", not_smoothed},
    {"dinov2", "bilinear positions", straight},
    {"dinov2", "corners on corners", on_corners},
    {"dinov2_registers", "no antialias", not_smoothed},
    {"timm_rope_mixed", "rotations lost", no_turn},
    {"timm_rope_mixed", "halves turned together", other_pairs},
    {"timm_rope_mixed_ape", "rows for columns", other_axis},
    {"timm_rope_mixed_ape", "rotations lost", no_turn},
};

/* …and with weights changed. */
static const struct {
    const char *family, *what;
    void (*weigh)(Model *m);
} WEIGHED[] = {
    {"timm_rope_mixed", "frequencies of another block", other_block},
};

static void misses(const char *family, const char *what, void (*change)(VitConfig *), void (*weigh)(Model *))
{
    Bench b;
    TensorFile f;
    load(&b, &(Case){.name = family}, &f);
    if (change)
        change(&b.model.vit);
    if (weigh)
        weigh(&b.model);
    bench_start(&b);
    const TensorInfo *end = tensors_find(&f, end_of(&f));
    double *want = recorded(&f, end), error = error_of(want, bench_values(&b, end->name), end->cells);
    bool subtle = b.model.vit.act != MAP_QUICK_GELU && strstr(what, "GELU with") != NULL;
    bool rounding = strstr(what, "epsilon") != NULL;
    if (!(error > (rounding ? 1e-7 : subtle ? 3 * TOLERANCE : DIFFERENT)))
        fail_msg("%s with %s misses %s by only %.3g", family, what, end->name, error);
    printf("%s, %s: %.1e\n", family, what, error);
    free(want);
    tensors_close(&f);
    bench_free(&b);
}

static void wrong_variants(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        misses(WRONG[i].family, WRONG[i].what, WRONG[i].change, NULL);
    for (size_t i = 0; i < sizeof WEIGHED / sizeof *WEIGHED; i++)
        misses(WEIGHED[i].family, WEIGHED[i].what, NULL, WEIGHED[i].weigh);
}

/* --- what is assumed --- */

static void assumptions(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        const Case *k = &CASES[i];
        Model m;
        Err err = {""};
        bool found = !k->assumed;
        if (!model_load(&m, path_of(k, ""), NULL, NULL, &err))
            fail_msg("%s: %s", k->name, err.text);
        for (int a = 0; a < m.assumption_count; a++)
            found = found || strstr(m.assumptions[a], k->assumed);
        if (m.guesses != k->guesses || !found || (!k->assumed && m.assumption_count))
            fail_msg("%s: %d guesses, %d assumptions, the first is %s", k->name, m.guesses, m.assumption_count,
                     m.assumption_count ? m.assumptions[0] : "none");
        assert_int_equal(m.guess_note != NULL, k->guesses > 0);
        model_free(&m);
    }
}

/* Another size and back is the model itself; a size in between has a grid of its own; what is no grid is refused. */
static void other_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++) {
        Model m;
        Err err = {""};
        if (!model_load(&m, path_of(&CASES[i], ""), NULL, NULL, &err))
            fail_msg("%s", err.text);
        int own_h = m.vit.image_h, own_w = m.vit.image_w;
        assert_false(model_fit(&m, own_h + 1, own_w, &err));
        assert_non_null(strstr(err.text, "whole number of patches"));
        assert_int_equal(m.vit.image_h, own_h);
        Bench b = {.model = m};
        assert_true(model_fit(&b.model, own_h + 8, own_w + 4, &err));
        assert_int_equal(b.model.preprocess.height, own_h + 8);
        assert_true(b.model.preprocess.resize_h >= own_h + 8);
        assert_int_equal(vit_resizes(&b.model.vit), b.model.vit.pos != VIT_POS_NONE);
        bench_noise(&b);
        bench_start(&b);
        const float *x = run_need(b.run, b.nodes.tokens_out);
        for (size_t k = 0; k < graph_cells(&b.graph, b.nodes.tokens_out); k++)
            assert_true(isfinite(x[k]));
        run_free(b.run);
        graph_free(&b.graph);
        assert_true(model_fit(&b.model, own_h, own_w, &err));
        bench_start(&b);
        uint64_t back = bench_hash(&b);
        run_free(b.run);
        graph_free(&b.graph);
        b.model.vit = m.vit;
        bench_start(&b);
        assert_true(bench_hash(&b) == back);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_intermediate), cmocka_unit_test(second_route), cmocka_unit_test(wrong_variants),
        cmocka_unit_test(assumptions),        cmocka_unit_test(other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
