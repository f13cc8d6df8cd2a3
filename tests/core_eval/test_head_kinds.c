/* The kinds of heads: a circuit that is written by hand (a head that copies the token before, one that looks for what
 * stood behind its own token, one that looks at the first token) is found, and nothing else is; and the shares are
 * those of the patterns of a run of the same text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/eval/head_kinds.h"
#include "core/graph/anatomy.h"
#include "core/graph/run.h"
#include "core/models/text_model.h"
#include "tests/second_family.h"

enum {
    WORDS = 30,
    PLACES = 60,
    WIDTH = 2 * WORDS + PLACES,
    EACH = 60,
    BEFORE = WORDS,
    PLACE = 2 * WORDS,
    READ_MOST = 4
};

static Seq2seqConfig config(void)
{
    Seq2seqConfig c = seq2seq_config_base();
    c.form = SEQ2SEQ_DECODER_ONLY;
    c.source_words = c.encoder_layers = 0;
    c.target_words = WORDS;
    c.width = WIDTH;
    c.heads = 2;
    c.head_dim = EACH;
    c.mlp = 4;
    c.decoder_layers = 2;
    c.scale = seq2seq_root(EACH, true);
    c.embed_scale = 1;
    c.learned_positions = true;
    c.positions = PLACES;
    c.pre_norm = c.final_norm = c.rms_norm = true;
    c.tied = c.head_bias = c.qkv_bias = c.out_bias = c.mlp_bias = false;
    return c;
}

static float *weight(Model *m, Seq2seqRole role, int layer)
{
    char path[96];
    seq2seq_role_path(role, layer, path, sizeof path);
    for (WeightPlace w = {0}; model_weight(m, &w);) {
        char own[96];
        seq2seq_role_path((Seq2seqRole)w.role, w.layer, own, sizeof own);
        if (strcmp(own, path) == 0)
            return w.data;
    }
    fail_msg("no %s", path);
    return NULL;
}

/* [h][e][d] and [d][h][e] */
static void in_head(float *w, int h, int e, int d, float x)
{
    w[(h * EACH + e) * WIDTH + d] = x;
}

static void out_head(float *w, int d, int h, int e, float x)
{
    w[(d * 2 + h) * EACH + e] = x;
}

static void plant(Model *m)
{
    const Seq2seqConfig c = config();
    const float sharp = 20;
    text_model_seeded(m, &c, 1);
    memset(m->block, 0, m->block_cells * sizeof *m->block);
    for (int layer = 0; layer < 2; layer++)
        for (int d = 0; d < WIDTH; d++)
            weight(m, SEQ2SEQ_DEC_LN1_GAMMA, layer)[d] = weight(m, SEQ2SEQ_DEC_LN3_GAMMA, layer)[d] = 1;
    for (int d = 0; d < WIDTH; d++)
        weight(m, SEQ2SEQ_TARGET_FINAL_GAMMA, 0)[d] = 1;
    for (int v = 0; v < WORDS; v++)
        weight(m, SEQ2SEQ_TARGET_EMBED, 0)[v * WIDTH + v] = weight(m, SEQ2SEQ_HEAD_W, 0)[v * WIDTH + v] = 1;
    for (int t = 0; t < PLACES; t++)
        weight(m, SEQ2SEQ_TARGET_POS, 0)[t * WIDTH + PLACE + t] = 1;
    for (int t = 0; t < PLACES; t++) { /* block 0 head 0: a place is asked for by the one behind it */
        in_head(weight(m, SEQ2SEQ_DEC_W_Q, 0), 0, t, PLACE + t, sharp);
        if (t + 1 < PLACES)
            in_head(weight(m, SEQ2SEQ_DEC_W_K, 0), 0, t + 1, PLACE + t, 1);
    }
    for (int v = 0; v < WORDS; v++) {
        in_head(weight(m, SEQ2SEQ_DEC_W_V, 0), 0, v, v, 1);
        out_head(weight(m, SEQ2SEQ_DEC_W_O, 0), BEFORE + v, 0, v, 0.13f);
        in_head(weight(m, SEQ2SEQ_DEC_W_Q, 1), 0, v, v, sharp); /* block 1 head 0: who stood behind this word? */
        in_head(weight(m, SEQ2SEQ_DEC_W_K, 1), 0, v, BEFORE + v, 1);
        in_head(weight(m, SEQ2SEQ_DEC_W_V, 1), 0, v, v, 1);
        out_head(weight(m, SEQ2SEQ_DEC_W_O, 1), v, 0, v, 1);
    }
    for (int t = 0; t < PLACES; t++) /* block 1 head 1: the first place, whoever asks */
        in_head(weight(m, SEQ2SEQ_DEC_W_Q, 1), 1, 0, PLACE + t, sharp);
    in_head(weight(m, SEQ2SEQ_DEC_W_K, 1), 1, 0, PLACE, 1);
}

static void a_planted_circuit_is_found(void **state)
{
    (void)state;
    Model m = {0};
    Err err = {""};
    plant(&m);
    HeadKinds *k = head_kinds_new(&m, READ_MOST, NULL, &err);
    assert_non_null(k);
    assert_null(head_kinds_result(k));
    while (!head_kinds_step(k, clock_ns() + 1)) /* in the smallest slices */
        continue;
    const HeadKindsResult *r = head_kinds_result(k);
    assert_non_null(r);
    assert_int_equal(r->attentions * r->heads, 4);
    assert_int_equal(r->texts, READ_MOST);
    static const HeadKind IS[4] = {HEAD_PREVIOUS, HEAD_KINDS, HEAD_INDUCTION, HEAD_SINK};
    for (int cell = 0; cell < 4; cell++)
        for (HeadKind kind = 0; kind < HEAD_KINDS; kind++) {
            assert_int_equal(head_kinds_is(r, cell, kind), kind == IS[cell]);
            if (kind == IS[cell] && !(r->share[cell][kind].mean > 0.9 && r->control[cell][kind].mean < 0.2))
                fail_msg("%s: %g, control %g", head_kind_word(kind), r->share[cell][kind].mean,
                         r->control[cell][kind].mean);
        }
    for (int a = 0; a < 2; a++)
        assert_true(r->applies[a][HEAD_INDUCTION] && !r->applies[a][HEAD_NEXT]);
    assert_true(r->copies[2].mean > 0.999);            /* what is found is copied … */
    assert_true(fabs(r->copies[3].mean - 0.5) < 1e-9); /* … and nothing by a head that writes nothing */
    /* One looks at all alike. */
    assert_true(fabs(r->share[1][HEAD_PREVIOUS].mean - r->uniform[0][HEAD_PREVIOUS]) < 1e-5);
    assert_true(fabs(r->share[1][HEAD_SINK].mean - r->uniform[0][HEAD_SINK]) < 1e-5);
    assert_true(fabs(r->share[1][HEAD_INDUCTION].mean - r->uniform[0][HEAD_INDUCTION]) < 1e-5);
    /* What uniform attention gives is made again from the tokens that are said to ask: each sees those up to itself. */
    static const HeadKind OF_ONE[] = {HEAD_PREVIOUS, HEAD_INDUCTION};
    for (size_t i = 0; i < sizeof OF_ONE / sizeof *OF_ONE; i++) {
        struct HeadRows rows = r->rows[0][OF_ONE[i]];
        double sum = 0;
        for (int t = rows.first; t <= rows.last; t++)
            sum += 1.0 / (t + 1) / (rows.last - rows.first + 1);
        assert_true(fabs(r->uniform[0][OF_ONE[i]] - sum) < 1e-9);
    }
    assert_int_equal(r->rows[0][HEAD_PREVIOUS].last, 2 * r->tokens); /* behind the start */
    assert_int_equal(r->rows[0][HEAD_INDUCTION].first, 1 + r->tokens);
    head_kinds_free(k);
    model_free(&m);
}

/* Of a seeded model one text by hand, from a run of its own. */
static void shares_are_of_the_pattern(void **state)
{
    (void)state;
    Model m = {0};
    Err err = {""};
    const Seq2seqConfig c = config();
    int word[HEAD_KINDS_WORDS], other[HEAD_KINDS_WORDS];
    text_model_seeded(&m, &c, 3);
    HeadKinds *k = head_kinds_new(&m, 1, NULL, &err);
    assert_true(k && head_kinds_step(k, CLOCK_NEVER));
    const HeadKindsResult *r = head_kinds_result(k);
    const int n = head_kinds_text(k, true, 0, false, word), half = r->tokens, first = n - 2 * half;
    assert_int_equal(head_kinds_text(k, true, 0, true, other), n);
    assert_int_equal(head_kinds_text(k, false, 0, false, other), 0); /* it reads none */
    assert_memory_equal(word + first, word + first + half, (size_t)half * sizeof *word);
    Graph g;
    const Seq2seqInput in = {.target = {.word = word, .n = n}};
    graph_init(&g);
    seq2seq_build(&g, &m.text, &m.weights, &in, NULL);
    Run *run = run_new(&g, NULL, NULL);
    for (int a = 0; a < r->attentions; a++) {
        const float *p = run_need(run, site_node(&g, anatomy_attention(&g, a), SITE_PATTERN));
        for (int h = 0; h < r->heads; h++) {
            double induction = 0, sink = 0;
            const float *row = p + (size_t)h * (size_t)n * (size_t)n;
            for (int t = first + half; t < n - 1; t++)
                induction += (double)row[t * n + t - half + 1] / (half - 1);
            for (int t = 2; t < n; t++)
                sink += (double)row[t * n] / (n - 2);
            assert_true(fabs(induction - r->share[a * r->heads + h][HEAD_INDUCTION].mean) < 1e-9);
            assert_true(fabs(sink - r->share[a * r->heads + h][HEAD_SINK].mean) < 1e-9);
        }
    }
    run_free(run);
    graph_free(&g);
    head_kinds_free(k);
    model_free(&m);
}

static void too_short(void **state)
{
    (void)state;
    Model m = {0};
    Err err = {""};
    Seq2seqConfig c = config();
    c.positions = 8; /* the start, and three tokens twice */
    text_model_seeded(&m, &c, 3);
    assert_null(head_kinds_new(&m, 1, NULL, &err));
    assert_non_null(strstr(err.text, "4 at least and no token twice; this model has room or words for 3"));
    model_free(&m);
}

/* Of words, but none that it reads at once or writes one after the other: another family's settings are not looked at.
 */
static void another_family(void **state)
{
    (void)state;
    Err err = {{0}};
    const Model m = toy_model();
    assert_null(head_kinds_new(&m, 1, NULL, &err));
    assert_non_null(strstr(err.text, "which this model does not read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_circuit_is_found),
        cmocka_unit_test(shares_are_of_the_pattern),
        cmocka_unit_test(too_short),
        cmocka_unit_test(another_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
