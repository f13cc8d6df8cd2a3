/* The equations of a text model, written a second time, give what its graph gives: every form and knob. */
#include "text_bench.h"

#include "core/graph/anatomy.h"
#include "core/models/direct.h"

enum { SOURCE = 7, TARGET = 6 };

/* The largest difference of n cells, by their largest value. */
static double off(const float *x, const double *y, size_t n)
{
    double most = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        most = fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
        worst = fabs((double)x[i] - y[i]) > worst ? fabs((double)x[i] - y[i]) : worst;
    }
    return most > 0 ? worst / most : worst;
}

static void close_enough(const char *what, const char *where, double error)
{
    if (!(error < 5e-6))
        fail_msg("%s: %s is off by %g", what, where, error);
}

static void stack(TextBench *b, const char *what, bool decoder, const double *memory, int n, double *out)
{
    const Seq2seqConfig *c = &b->model.text;
    size_t cells = (size_t)n * (size_t)c->width;
    float word[32];
    for (int i = 0; i < n; i++)
        word[i] = (float)(decoder ? b->target[i] : b->source[i]);
    Seq2seqDirectMemory m = {memory, memory ? SOURCE : 0};
    const float *x = NULL;
    for (int layer = 0; layer < 2; layer++) {
        int part = anatomy_block(&b->graph, decoder ? "decoder" : "encoder", layer);
        x = run_need(b->run, site_node(&b->graph, part, SITE_RESID_PRE));
        if (!layer) {
            seq2seq_direct_embed(c, &b->model.weights, decoder, word, NULL, n, out);
            close_enough(what, "the embedding", off(x, out, cells));
        }
        seq2seq_direct_block(c, &b->model.weights, decoder, layer, x, n, m, NULL, out);
        x = run_need(b->run, site_node(&b->graph, part, SITE_BLOCK_OUT));
        close_enough(what, "a block", off(x, out, cells));
    }
    seq2seq_direct_stack_out(c, &b->model.weights, decoder, x, n, out);
}

static void as_the_graph(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXT_VARIANT_COUNT; i++) {
        TextBench b;
        Seq2seqConfig c = text_variant(i);
        const char *what = TEXT_VARIANTS[i].what;
        bool reads = seq2seq_has_encoder(&c), writes = seq2seq_has_decoder(&c);
        double memory[SOURCE * 24], out[TARGET * 24], answer[2][SOURCE * 19];
        text_bench_seeded(&b, &c, 11, SOURCE, TARGET);
        if (reads)
            stack(&b, what, false, NULL, SOURCE, memory);
        if (writes)
            stack(&b, what, true, reads ? memory : NULL, TARGET, out);
        seq2seq_direct_answer(&c, &b.model.weights, writes ? out : memory, writes ? TARGET : SOURCE, answer[0],
                              answer[1]);
        size_t cells = graph_cells(&b.graph, b.nodes.logits);
        assert_true(cells <= sizeof answer[0] / sizeof *answer[0]);
        close_enough(what, "the logits", off(run_need(b.run, b.nodes.logits), answer[0], cells));
        close_enough(what, "the answer", off(run_need(b.run, b.nodes.probs), answer[1], cells));
        text_bench_free(&b);
    }
}

/* A place in the middle of a long text is still that place: the turns do not wander off. */
static void far_places(void **state)
{
    (void)state;
    enum { FAR = 4096, WIDTH = 24 };
    Seq2seqConfig c = text_variant(0);
    TextBench b;
    text_bench_seeded(&b, &c, 11, SOURCE, TARGET);
    float *word = calloc(FAR, sizeof *word), *place = calloc((size_t)FAR * WIDTH, sizeof *place);
    double *x = calloc((size_t)FAR * WIDTH, sizeof *x);
    assert_true(word && place && x);
    seq2seq_direct_embed(&c, &b.model.weights, false, word, NULL, FAR, x);
    seq2seq_sinusoids(0, FAR, WIDTH, place);
    for (size_t i = 0; i < (size_t)FAR * WIDTH; i++) {
        double first = x[i % WIDTH] - (i % 2 ? 1 : 0); /* place 0: the word alone, and sin 0, cos 0 */
        assert_true(fabs(x[i] - first - (double)place[i]) < 1e-6);
    }
    free(word);
    free(place);
    free(x);
    text_bench_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_graph), cmocka_unit_test(far_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
