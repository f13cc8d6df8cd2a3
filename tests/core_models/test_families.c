/* Every family of published vision transformers: read under its own program's names, every recorded intermediate
 * reached, wrong variants measurably different. (What each container does: test_matrix.c.) The recordings are
 * those of tests/data/families/make.py, in float64 from the families' published sources. */
#include "tests/core_models/tensor_set.h"

#include "core/graph/anatomy.h"
#include "core/models/direct.h"

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
    {"clip", 0, "layer_norm_eps is 1e-05, as Hugging Face's class clip has it"},
    {"clip", 0, "the text tower is left out (4 tensors)"},
    {"clip_openai", 3, "the text tower is left out (6 tensors)"},
    {"siglip", 0, "hidden_act is GELU, the form with tanh, as Hugging Face's class siglip"},
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
    {"aimv2", 0, NULL},
    {"aimv2_apple", 0, "the text tower is left out (4 tensors)"},
    {"timm_aimv2", 0, NULL},
    {"timm_eva02_clip", 0, "CLIP's projection"},
    {"timm_beit3", 0, NULL},
    {"timm_rpn", 0, NULL},
    {"timm_eva02_enormous", 0, "CLIP's projection"},
    {"beit", 1, "relative_position_index (2 tensors)"},
    {"data2vec", 1, "hidden_act is GELU, the form with erf"},
    {"timm_beit", 0, NULL},
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

static void no_rope(VitConfig *c)
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

static void layer_norm(VitConfig *c)
{
    c->rms_norm = false;
}
static void smaller_eps(VitConfig *c)
{
    c->eps = c->eps / 10;
}
static void no_patch_norm(VitConfig *c)
{
    c->patch_norm = false;
}
static void no_merged_norm(VitConfig *c)
{
    c->merged_norm = false;
}
static void norm_first(VitConfig *c)
{
    c->branch_norm = false;
}
static void norm_after(VitConfig *c)
{
    c->branch_norm = false;
    c->post_norm = true;
}
/* The last block turns by the first one's frequencies. */
static void other_block(Model *m)
{
    size_t each = (size_t)m->vit.heads * (size_t)(m->vit.head_dim / 2), all = (size_t)m->vit.layers * each;
    float *f = m->block + (vit_weight(&m->weights, VIT_ROPE_FREQS, 0)->data - m->block);
    memcpy(f + all - each, f, each * sizeof *f);
    memcpy(f + 2 * all - each, f + all, each * sizeof *f);
}

static void no_bias(VitConfig *c)
{
    c->bias = VIT_BIAS_NONE;
}

static void each_bias(Model *m, void (*change)(float *table, size_t rows, float scale))
{
    VitRole r = m->vit.bias == VIT_BIAS_SHARED ? VIT_SHARED_BIAS_TABLE : VIT_BIAS_TABLE;
    size_t rows = (size_t)vit_bias_rows(&m->vit);
    for (int layer = 0; layer < (vit_role_in_block(r) ? m->vit.layers : 1); layer++)
        for (size_t h = 0; h < (size_t)m->vit.heads; h++)
            change(m->block + (vit_weight(&m->weights, r, layer)->data - m->block) + h * rows, rows, m->vit.scale);
}
static void turn_table(float *table, size_t rows, float scale)
{
    (void)scale;
    for (size_t i = 0, n = rows - 3; i < n / 2; i++) {
        float kept = table[i];
        table[i] = table[n - 1 - i];
        table[n - 1 - i] = kept;
    }
    float kept = table[rows - 3];
    table[rows - 3] = table[rows - 2];
    table[rows - 2] = kept;
}
static void scale_table(float *table, size_t rows, float scale)
{
    for (size_t i = 0; i < rows; i++)
        table[i] *= scale;
}
static void transposed(Model *m)
{
    each_bias(m, turn_table);
}
static void before_scale(Model *m)
{
    each_bias(m, scale_table);
}

/* erf and tanh differ by little where the weights are small: what each misses the answer by is printed. */
static const Wrong WRONG[] = {
    {"dinov3", "rotations lost", no_rope},
    {"dinov3", "neighbours turned together", other_pairs},
    {"dinov3", "rows for columns", other_axis},
    {"dinov3", "another base", other_base},
    {"dinov3_gated", "a gate with GELU", erf_form},
    {"timm_eva02", "rotations lost", no_rope},
    {"timm_eva02", "halves turned together", other_pairs},
    {"timm_eva02", "no reference grid", no_reference},
    {"timm_eva02_tiny", "rotations lost", no_rope},
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
    {"timm_rope_mixed", "rotations lost", no_rope},
    {"timm_rope_mixed", "halves turned together", other_pairs},
    {"timm_rope_mixed_ape", "rows for columns", other_axis},
    {"timm_rope_mixed_ape", "rotations lost", no_rope},
    {"aimv2", "LayerNorm", layer_norm},
    {"aimv2", "a gate with GELU", erf_form},
    {"aimv2", "epsilon 1e-6", smaller_eps},
    {"aimv2", "no norm behind the patches", no_patch_norm},
    {"aimv2_apple", "LayerNorm", layer_norm},
    {"aimv2_apple", "a gate with GELU", erf_form},
    {"aimv2_apple", "epsilon 1e-6", smaller_eps},
    {"aimv2_apple", "no norm behind the patches", no_patch_norm},
    {"timm_aimv2", "LayerNorm", layer_norm},
    {"timm_aimv2", "a gate with GELU", erf_form},
    {"timm_aimv2", "epsilon 1e-6", smaller_eps},
    {"timm_aimv2", "no norm behind the patches", no_patch_norm},
    {"timm_eva02_clip", "no norm inside attention", no_merged_norm},
    {"timm_eva02_clip", "rotations lost", no_rope},
    {"timm_eva02_clip", "epsilon 1e-7", smaller_eps},
    {"timm_beit3", "no norm inside attention", no_merged_norm},
    {"timm_rpn", "norms before the sub-layers", norm_first},
    {"timm_rpn", "norms after the addition", norm_after},
    {"timm_eva02_enormous", "norms before the sub-layers", norm_first},
    {"beit", "no bias", no_bias},
    {"data2vec", "no bias", no_bias},
    {"timm_beit", "no bias", no_bias},
    {"timm_beit", "the class token read", first_token},
};

/* …and with weights changed. */
static const struct {
    const char *family, *what;
    void (*weigh)(Model *m);
} WEIGHED[] = {
    {"timm_rope_mixed", "frequencies of another block", other_block},
    {"beit", "a transposed bias", transposed},
    {"data2vec", "a transposed bias", transposed},
    {"timm_beit", "a transposed bias", transposed},
    {"beit", "the bias before the scale", before_scale},
    {"timm_beit", "the bias before the scale", before_scale},
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
    without_effect(&b);
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
        if (m.vit.bias != VIT_BIAS_NONE) { /* its table is for one grid */
            assert_false(model_fit(&b.model, own_h + 8, own_w + 4, &err));
            assert_non_null(strstr(err.text, "not fitted to another size"));
            assert_true(model_fit(&b.model, own_h, own_w, &err));
            model_free(&m);
            continue;
        }
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

/* The same bits with every instruction set. */
static void every_isa(void **state)
{
    (void)state;
    Err err = {""};
    for (size_t i = 0; i < CASE_COUNT; i++) {
        uint64_t first = 0;
        for (int v = 0; kernels_variant(v); v++) {
            assert_true(kernels_select(kernels_variant(v)->isa, &err));
            uint64_t h = hash_of(path_of(&CASES[i], ""));
            if (v > 0 && h != first)
                fail_msg("%s: %s gives other bits", CASES[i].name, kernels_variant(v)->isa);
            first = h;
        }
        assert_true(kernels_select("auto", &err));
    }
}

/* --- tables of relative positions that do not fit --- */

static void refused_beit(const Set *s, const char *config, const char *says)
{
    char dir[256];
    Model m;
    Err err = {""};
    scratch_dir(dir, sizeof dir, "beit");
    set_write(s, dir);
    put_file(dir, "config.json", config, strlen(config));
    if (model_load(&m, dir, NULL, NULL, &err))
        fail_msg("opens, but: %s", says);
    if (!strstr(err.text, says))
        fail_msg("%s\ndoes not say: %s", err.text, says);
    remove_dir(dir);
}

static void relative_positions(void **state)
{
    (void)state;
#define BEIT "{\"model_type\": \"beit\", \"num_attention_heads\": 2, \"use_relative_position_bias\": "
#define INDEX "beit.encoder.layer.1.attention.attention.relative_position_bias.relative_position_index"
    Set s;
    Model m;
    Err err = {""};
    char dir[256];
    set_read(&s, FAMILIES "beit/model.safetensors");
    refused_beit(&s, BEIT "true, \"image_size\": 20}", "it was made for another size");
    refused_beit(&s, BEIT "false, \"image_size\": 12}", "is false, but there is a tensor");
    refused_beit(&s, BEIT "true, \"use_shared_relative_position_bias\": true, \"image_size\": 12}",
                 "in every block and for all of them together");
    scratch_dir(dir, sizeof dir, "beit");
    set_write(&s, dir);
    put_file(dir, "config.json", BEIT "true}", strlen(BEIT "true}"));
    if (!model_load(&m, dir, NULL, NULL, &err)) /* the table says the size */
        fail_msg("%s", err.text);
    assert_int_equal(m.vit.image_h, 12);
    assert_int_equal(m.vit.image_w, 12);
    model_free(&m);
    remove_dir(dir);
    float *index = (float *)(uintptr_t)s.t[set_find(&s, INDEX)].data;
    index[13] += 1;
    refused_beit(&s, BEIT "true, \"image_size\": 12}", "other rows of the table");
    set_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_intermediate), cmocka_unit_test(second_route), cmocka_unit_test(wrong_variants),
        cmocka_unit_test(assumptions),        cmocka_unit_test(other_sizes),  cmocka_unit_test(relative_positions),
        cmocka_unit_test(every_isa),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
