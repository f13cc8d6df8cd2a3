/* What hidden units write: all of them together, each times its activation, is what the whole MLP writes through the
 * norm that is read through, added up here in double from the MLP's result. */
#include "core/graph/anatomy.h"
#include "tests/core_models/probe_test.h"
#include "tests/core_models/text_bench.h"

/* Of one token x[width] (of `out_nobias`): Σ_d (x − mean) · γ · weight of answer o. */
static double by_hand(const float *x, int width, bool centred, const float *gamma, const float *scale,
                      const float *weight, size_t step)
{
    double mean = 0, sum = 0;
    for (int i = 0; i < width; i++)
        mean += (double)x[i] * (scale ? (double)scale[i] : 1) / width;
    for (int i = 0; i < width; i++)
        sum += ((double)x[i] * (scale ? (double)scale[i] : 1) - (centred ? mean : 0)) * (gamma ? (double)gamma[i] : 1) *
               (double)weight[(size_t)i * step];
    return sum;
}

static double by_units(const float *post, const float *writes, int units, int answers, int o)
{
    double sum = 0;
    for (int m = 0; m < units; m++)
        sum += (double)post[m] * (double)writes[m * answers + o];
    return sum;
}

static void check(double got, double want, const char *what, int o)
{
    if (!(fabs(got - want) <= 2e-5 * fmax(1, fabs(want))))
        fail_msg("%s, answer %d: %.9g, by hand %.9g", what, o, got, want);
}

static void check_pictures(const VitConfig *c, const char *norm, const char *what)
{
    Bench b = {0};
    NodeId n;
    char path[64];
    with_probes(&b, c);
    has_shape(&b, "blocks.1.mlp.probe.writes", "[m,o]");
    const float *post = value(&b, "blocks.1.mlp.post", &n), *writes = value(&b, "blocks.1.mlp.probe.writes", &n),
                *x = value(&b, "blocks.1.mlp.out_nobias", &n), *weight = value(&b, "head.weight", &n);
    Dims d = graph_node(&b.graph, n)->dims;
    bool class_first = b.graph.axes[d.axis[0]].n == c->classes;
    snprintf(path, sizeof path, "%s.gamma", norm);
    const float *gamma = *norm ? value(&b, path, &n) : NULL,
                *scale = c->layer_scale ? value(&b, "blocks.1.mlp.layer_scale", &n) : NULL;
    assert_true(c->classes != c->width && c->mlp != c->width);
    for (int t = 0; t < 3; t++)
        for (int o = 0; o < c->classes; o++)
            check(by_units(post + t * c->mlp, writes, c->mlp, c->classes, o),
                  by_hand(x + t * c->width, c->width, *norm && !c->rms_norm, gamma, scale,
                          weight + (class_first ? o * c->width : o), class_first ? 1 : (size_t)c->classes),
                  what, o);
    bench_free(&b);
}

static void test_of_pictures(void **state)
{
    (void)state;
    VitConfig c = small();
    c.layers = 2;
    check_pictures(&c, "ln_final", "plain");
    c.layer_scale = true;
    check_pictures(&c, "ln_final", "layer scale");
    c.layer_scale = false;
    c.final_norm = false;
    check_pictures(&c, "", "no norm");
    c.pool = VIT_POOL_MEAN;
    c.fc_norm = true;
    check_pictures(&c, "fc_norm", "norm behind the mean");
    c.fc_norm = false;
    c.final_norm = c.rms_norm = true;
    check_pictures(&c, "rms_final", "RMSNorm");
}

/* Where it would say something else it is absent. */
static void test_absent(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        Bench b = {0};
        VitConfig c = small();
        c.fc_norm = i == 0;
        c.pool = i == 0 ? VIT_POOL_MEAN : c.pool;
        c.post_norm = i == 1;
        c.final_norm = i != 1;
        c.classes = i == 2 ? 0 : c.classes;
        with_probes(&b, &c);
        assert_int_equal(graph_find(&b.graph, "blocks.0.mlp.probe.writes"), NO_NODE);
        assert_int_equal(site_node_any(&b.graph, SITE_UNIT_WRITES), NO_NODE);
        bench_free(&b);
    }
}

static void test_of_words(void **state)
{
    (void)state;
    for (int pre = 0; pre < 2; pre++) {
        Seq2seqConfig c = seq2seq_config_base();
        TextBench b;
        c.source_words = 23;
        c.target_words = 19;
        c.width = 16;
        c.heads = 2;
        c.head_dim = 8;
        c.mlp = 24;
        c.scale = 0.35f;
        c.embed_scale = 4;
        c.encoder_layers = c.decoder_layers = 2;
        c.pre_norm = c.final_norm = pre;
        text_bench_seeded(&b, &c, 5, 6, 7);
        text_probes_add(&b.graph, &c, &(Text){0});
        run_extend(b.run);
        const float *post = text_bench_values(&b, "decoder.blocks.0.mlp.post"),
                    *writes = text_bench_values(&b, "decoder.blocks.0.mlp.probe.writes"),
                    *x = text_bench_values(&b, "decoder.blocks.0.mlp.out_nobias"),
                    *gamma = text_bench_values(&b, pre ? "decoder.ln_final.gamma" : "decoder.blocks.0.ln3.gamma");
        const Node *l = graph_node(&b.graph, b.nodes.logits);
        NodeId weight = l->op == OP_ADD ? graph_node(&b.graph, l->in[0])->in[1] : l->in[1];
        const float *w = run_need(b.run, weight);
        bool word_first = b.graph.axes[graph_node(&b.graph, weight)->dims.axis[0]].n == c.target_words;
        for (int t = 0; t < 7; t++)
            for (int o = 0; o < c.target_words; o++)
                check(by_units(post + t * c.mlp, writes, c.mlp, c.target_words, o),
                      by_hand(x + t * c.width, c.width, true, gamma, NULL, w + (word_first ? o * c.width : o),
                              word_first ? 1 : (size_t)c.target_words),
                      pre ? "pre-norm" : "post-norm", o);
        assert_int_equal(graph_find(&b.graph, "encoder.blocks.0.mlp.probe.writes"), NO_NODE);
        text_bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_of_pictures), cmocka_unit_test(test_absent),
                                       cmocka_unit_test(test_of_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
