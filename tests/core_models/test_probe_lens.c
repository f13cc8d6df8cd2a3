/* The answer behind every block and from the other read-out. */
#include "core/models/probes.h"
#include "tests/core_models/probe_test.h"
#include "tests/core_models/text_bench.h"

/* Behind the last block the lens is the model itself, bit for bit. */
static void check_last(const VitConfig *c, const char *what)
{
    Bench b = {0};
    NodeId n, m;
    char path[64];
    with_probes(&b, c);
    static const char *const NAMES[] = {"logits", "probs"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "blocks.%d.lens.%s", c->layers - 1, NAMES[i]);
        const float *lens = value(&b, path, &n), *model = value(&b, NAMES[i], &m);
        if (graph_cells(&b.graph, n) != (size_t)c->classes ||
            memcmp(lens, model, (size_t)c->classes * sizeof *lens) != 0)
            fail_msg("%s: %s is not the model's", what, path);
        snprintf(path, sizeof path, "blocks.0.lens.%s", NAMES[i]);
        assert_true(c->layers > 1 && memcmp(value(&b, path, &n), model, (size_t)c->classes * sizeof *model) != 0);
    }
    bench_free(&b);
}

/* Of every form of text model too, with a norm behind the last block or without. */
static void test_last_lens_of_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * TEXT_VARIANT_COUNT; i++) {
        Err err = {""};
        Seq2seqConfig c = text_variant(i / 2);
        TextBench b = {0};
        c.final_norm = i % 2;
        assert_true(seq2seq_check(&c, &err));
        text_model_seeded(&b.model, &c, 3);
        text_bench_words(&b, seq2seq_has_encoder(&c) ? 4 : 0, seq2seq_has_decoder(&c) ? 5 : 0);
        graph_init(&b.graph);
        b.input.source.word = b.source;
        b.input.target.word = b.target;
        seq2seq_build(&b.graph, &c, &b.model.weights, &b.input, &b.nodes);
        text_probes_add(&b.graph, &c, &(Text){0});
        b.run = run_new(&b.graph, NULL, NULL);
        bool decoder = seq2seq_has_decoder(&c);
        char path[64];
        snprintf(path, sizeof path, "%s.blocks.%d.lens.logits", decoder ? "decoder" : "encoder",
                 (decoder ? c.decoder_layers : c.encoder_layers) - 1);
        size_t cells = graph_cells(&b.graph, b.nodes.logits);
        if (memcmp(text_bench_values(&b, path), text_bench_values(&b, "logits"), cells * sizeof(float)) != 0)
            fail_msg("%s%s: %s is not the model's", TEXT_VARIANTS[i / 2].what, i % 2 ? " with a last norm" : "", path);
        text_bench_free(&b);
    }
}

static void test_last_lens_is_the_answer(void **state)
{
    (void)state;
    VitConfig c = small();
    c.layers = 2;
    check_last(&c, "cls");
    c.pool = VIT_POOL_MEAN;
    c.fc_norm = true;
    check_last(&c, "mean, norm behind it");
    c.final_norm = false;
    check_last(&c, "mean, no final norm");
    c.cls = false;
    c.pos = VIT_POS_PATCHES;
    check_last(&c, "patches only");
    c = small();
    c.layers = 2;
    c.dist = true;
    c.pool = VIT_POOL_CLS_DIST;
    check_last(&c, "two heads");
    c.head_bias = false;
    check_last(&c, "two heads without biases");
    c = small();
    c.layers = 2;
    c.post_norm = true;
    c.final_norm = false;
    check_last(&c, "post-norm");
}

/* Before the first block: the tokens that enter it, through the last norm and the head, added up here in double. */
static void test_before_the_first_block(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    NodeId n;
    with_probes(&b, &c);
    const float *x = value(&b, "blocks.0.resid_pre", &n), *gamma = value(&b, "ln_final.gamma", &n),
                *beta = value(&b, "ln_final.beta", &n);
    const float *weight = value(&b, "head.weight", &n), *bias = value(&b, "head.bias", &n);
    Dims d = graph_node(&b.graph, graph_find(&b.graph, "head.weight"))->dims;
    bool class_first = b.graph.axes[d.axis[0]].n == c.classes;
    assert_true(c.classes != c.width && c.pool == VIT_POOL_CLS);
    double mean = 0, var = 0;
    for (int i = 0; i < c.width; i++)
        mean += (double)x[i] / c.width;
    for (int i = 0; i < c.width; i++)
        var += ((double)x[i] - mean) * ((double)x[i] - mean) / c.width;
    const float *got = value(&b, "embed.lens.logits", &n);
    for (int o = 0; o < c.classes; o++) {
        double want = (double)bias[o];
        for (int i = 0; i < c.width; i++)
            want += (((double)x[i] - mean) / sqrt(var + (double)c.eps) * (double)gamma[i] + (double)beta[i]) *
                    (double)weight[class_first ? o * c.width + i : i * c.classes + o];
        if (!(fabs((double)got[o] - want) <= 1e-5 * fmax(1, fabs(want))))
            fail_msg("class %d: %.9g, by hand %.9g", o, (double)got[o], want);
    }
    bench_free(&b);
}

static void check_recorded(const char *model, const char *picture, const char *expected)
{
    Bench b;
    TensorFile f;
    Err err = {""};
    bench_load(&b, model, picture);
    add_probes(&b);
    assert_true(tensors_open(&f, expected, &err));
    for (int layer = 0; layer < b.model.vit.layers; layer++) {
        char name[48], path[64];
        NodeId n;
        snprintf(name, sizeof name, "layer.%d.lens_logits", layer);
        snprintf(path, sizeof path, "blocks.%d.lens.logits", layer);
        const TensorInfo *t = tensors_find(&f, name);
        assert_non_null(t);
        const float *got = value(&b, path, &n);
        assert_int_equal(t->cells, graph_cells(&b.graph, n));
        double want[64], largest = 0;
        assert_true(t->cells <= 64 && tensors_read_f64(&f, t, want, &err));
        for (size_t i = 0; i < t->cells; i++)
            largest = fmax(largest, fabs(want[i]));
        for (size_t i = 0; i < t->cells; i++)
            if (!(fabs((double)got[i] - want[i]) <= 1e-5 * largest))
                fail_msg("%s[%zu]: %.9g, recorded %.9g", name, i, (double)got[i], want[i]);
    }
    tensors_close(&f);
    bench_free(&b);
}

static void test_recorded_lens(void **state)
{
    (void)state;
    check_recorded(ORACLE "tiny", ORACLE "tiny/image.ppm", ORACLE "tiny/expected.safetensors");
    check_recorded(ORACLE "nobias", ORACLE "nobias/image.ppm", ORACLE "nobias/expected.safetensors");
}

/* The other read-out is what the same weights give in a model that reads there. */
static void check_other(VitConfig c, VitPool pool, VitPool other, const char *path)
{
    Bench a = {0}, b = {0};
    NodeId n;
    c.pool = pool;
    with_probes(&a, &c);
    c.pool = other;
    bench_seeded(&b, &c, 7);
    static const char *const NAMES[] = {"readout", "logits", "probs"};
    for (int i = 0; i < 3; i++) {
        char here[64];
        snprintf(here, sizeof here, "%s.%s", path, NAMES[i]);
        const float *x = value(&a, here, &n), *y = value(&b, NAMES[i], &n), *used = value(&a, NAMES[i], &n);
        size_t bytes = graph_cells(&b.graph, graph_find(&b.graph, NAMES[i])) * sizeof *x;
        assert_memory_equal(x, y, bytes);
        assert_true(memcmp(x, used, bytes) != 0);
    }
    bench_free(&a);
    bench_free(&b);
}

static void test_other_readout(void **state)
{
    (void)state;
    VitConfig c = small();
    check_other(c, VIT_POOL_CLS, VIT_POOL_MEAN, "readout_mean");
    check_other(c, VIT_POOL_MEAN, VIT_POOL_CLS, "readout_cls");
    c.fc_norm = true;
    c.registers = 3;
    check_other(c, VIT_POOL_CLS, VIT_POOL_MEAN, "readout_mean");
}

/* The lens reads the model's own head: an edit of it is seen behind every block. */
static void test_edits_are_followed(void **state)
{
    (void)state;
    Bench b = {0};
    VitConfig c = small();
    with_probes(&b, &c);
    Edit e = {.kind = EDIT_ZERO, .path = "head.weight"};
    Graph g = {0};
    Err err = {""};
    NodeId bias;
    const float *want = value(&b, "head.bias", &bias);
    assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
    Run *r = run_new(&g, b.run, NULL);
    const float *got = run_need(r, graph_find(&g, "blocks.0.lens.logits"));
    assert_memory_equal(got, want, (size_t)c.classes * sizeof *got);
    run_free(r);
    graph_free(&g);
    bench_free(&b);
}

/* Between attention and MLP: where the MLP adds nothing it is what stands behind the block, bit for bit, and otherwise
 * it isn't. */
static void test_after_attention(void **state)
{
    (void)state;
    static const VitPool POOLS[] = {VIT_POOL_CLS, VIT_POOL_MEAN};
    for (size_t i = 0; i < sizeof POOLS / sizeof *POOLS; i++) {
        Bench b = {0};
        VitConfig c = small();
        NodeId n;
        Graph g = {0};
        Err err = {""};
        Edit e = {.kind = EDIT_ZERO, .path = "blocks.0.mlp.out"};
        c.pool = POOLS[i];
        with_probes(&b, &c);
        const size_t bytes = (size_t)c.classes * sizeof(float);
        assert_true(memcmp(value(&b, "blocks.0.lens_mid.logits", &n), value(&b, "blocks.0.lens.logits", &n), bytes) !=
                    0);
        assert_true(graph_edit(&g, &b.graph, &e, 1, &err));
        Run *r = run_new(&g, b.run, NULL);
        assert_memory_equal(run_need(r, graph_find(&g, "blocks.0.lens.logits")),
                            run_need(r, graph_find(&g, "blocks.0.lens_mid.logits")), bytes);
        run_free(r);
        graph_free(&g);
        bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_lens_is_the_answer), cmocka_unit_test(test_before_the_first_block),
        cmocka_unit_test(test_recorded_lens),           cmocka_unit_test(test_other_readout),
        cmocka_unit_test(test_edits_are_followed),      cmocka_unit_test(test_last_lens_of_words),
        cmocka_unit_test(test_after_attention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
