/* Rollout and the likeness of learned positions in models of words: against plain calculations in double. */
#include "tests/core_models/text_bench.h"

#include "core/models/probes.h"

enum { SOURCE = 6, TARGET = 7 };

static void close_to(double x, double want, const char *what)
{
    if (!(fabs(x - want) <= 1e-5))
        fail_msg("%s: %.9g, expected %.9g", what, x, want);
}

static const float *of(TextBench *b, const char *stack, int block, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "%s.blocks.%d.self_attn.%s", stack, block, name);
    return text_bench_values(b, path);
}

/* through = A · before, A = ½ mean of heads + ½ I with rows over their sums. */
static void plain_step(const float *pattern, int heads, int n, const double *before, double *through)
{
    for (int t = 0; t < n; t++) {
        double row[TARGET] = {0}, sum = 0;
        for (int u = 0; u < n; u++) {
            row[u] = t == u ? 0.5 : 0;
            for (int h = 0; h < heads; h++)
                row[u] += 0.5 / heads * (double)pattern[(h * n + t) * n + u];
            sum += row[u];
        }
        for (int w = 0; w < n; w++) {
            through[t * n + w] = 0;
            for (int u = 0; u < n; u++)
                through[t * n + w] += row[u] / sum * before[u * n + w];
        }
    }
}

static void check_rollout(TextBench *b, const char *stack, int blocks, int n)
{
    double before[TARGET * TARGET] = {0}, through[TARGET * TARGET];
    for (int t = 0; t < n; t++)
        before[t * n + t] = 1;
    for (int block = 0; block < blocks; block++) {
        plain_step(of(b, stack, block, "pattern"), b->model.text.heads, n, before, through);
        const float *got = of(b, stack, block, "probe.rollout"), *sum = of(b, stack, block, "probe.rollout_sum");
        for (int i = 0; i < n * n; i++)
            close_to((double)got[i], through[i], "rollout");
        for (int t = 0; t < n; t++)
            close_to((double)sum[t], 1, "row sum");
        memcpy(before, through, sizeof before);
    }
}

static double cosine(const float *x, const double *mean, int d, int a, int b)
{
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < d; i++) {
        const double p = (double)x[a * d + i] - mean[i], q = (double)x[b * d + i] - mean[i];
        ab += p * q;
        aa += p * p;
        bb += q * q;
    }
    return ab / sqrt(aa * bb);
}

static void check_positions(TextBench *b, const char *stack, int n)
{
    char path[96];
    const int d = b->model.text.width;
    double mean[32] = {0};
    snprintf(path, sizeof path, "%s.pos_embed", stack);
    const float *x = text_bench_values(b, path);
    snprintf(path, sizeof path, "%s.pos.probe.cosine", stack);
    const float *raw = text_bench_values(b, path);
    snprintf(path, sizeof path, "%s.pos.probe.cosine_centred", stack);
    const float *centred = text_bench_values(b, path);
    for (int i = 0; i < n * n; i++)
        close_to((double)raw[i], cosine(x, mean, d, i / n, i % n), "cosine");
    for (int t = 0; t < n; t++)
        for (int i = 0; i < d; i++)
            mean[i] += (double)x[t * d + i] / n;
    for (int i = 0; i < n * n; i++)
        close_to((double)centred[i], cosine(x, mean, d, i / n, i % n), "cosine without the mean");
}

static void of_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        TextBench b;
        const Seq2seqConfig c = text_variant(i);
        text_bench_seeded(&b, &c, 31 + i, SOURCE, TARGET);
        text_probes_add(&b.graph, &c, &(Text){.word = b.target, .count = b.input.target.n});
        run_extend(b.run);
        const struct {
            const char *stack;
            int blocks, n;
        } STACKS[] = {{"encoder", c.encoder_layers, SOURCE}, {"decoder", c.decoder_layers, TARGET}};
        for (int k = 0; k < 2; k++) {
            if (!STACKS[k].blocks)
                continue;
            check_rollout(&b, STACKS[k].stack, STACKS[k].blocks, STACKS[k].n);
            if (c.learned_positions)
                check_positions(&b, STACKS[k].stack, STACKS[k].n);
            else
                assert_true(graph_find(&b.graph, "decoder.pos.probe.cosine") == NO_NODE);
        }
        text_bench_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_every_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
