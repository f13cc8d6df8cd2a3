/* The examination of a translator: whatever the threads, the same figures; a head that is switched off changes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/clock.h"
#include "core/eval/ablation.h"
#include "core/eval/batch_run.h"
#include "core/eval/evaluation.h"
#include "core/models/lexicon.h"

static void small(Model *m)
{
    Seq2seqConfig c = text_model_bundled_config();
    c.width = 16;
    c.heads = 2;
    c.head_dim = 8;
    c.mlp = 16;
    c.encoder_layers = 1;
    c.decoder_layers = 1;
    text_model_seeded(m, &c, 4);
}

static void every_thread_count(void **state)
{
    (void)state;
    Model m;
    Err err = {""};
    Translation one, three;
    small(&m);
    Pool *pool = pool_new(3);
    assert_true(translation_run(&one, &m, 24, NULL, NULL, NULL, &err));
    assert_true(translation_run(&three, &m, 24, pool, NULL, NULL, &err));
    assert_memory_equal(&one.exact, &three.exact, sizeof one.exact);
    assert_memory_equal(&one.as_trained, &three.as_trained, sizeof one.as_trained);
    assert_memory_equal(&one.pronoun_off, &three.pronoun_off, sizeof one.pronoun_off);
    assert_true(one.other_mean == three.other_mean && one.other_least <= one.other_mean &&
                one.others == 6 - 1); /* the decoder's own two too */
    assert_memory_equal(&one.freely_off, &three.freely_off, sizeof one.freely_off);
    assert_int_equal(one.freely_off.pair.n, 2 * one.pairs);
    assert_int_equal(one.freely_off.tally.right + one.freely_off.pair.lost,
                     one.as_trained.freely.right + one.freely_off.pair.won);
    assert_int_equal(one.pronoun_off.tally.right + one.pronoun_off.pair.lost,
                     one.as_trained.pronoun.right + one.pronoun_off.pair.won);
    assert_int_equal(one.both_off.pair.n, one.pairs);
    assert_true(2 * one.constant.right >= one.constant.n && one.constant.n == 2 * one.pairs);
    assert_true(one.row_mean > 0 && one.row_mean <= 1);
    assert_memory_equal(&one.star_row, &three.star_row, sizeof one.star_row);
    assert_string_equal(one.chosen.scope, three.chosen.scope);
    assert_int_equal(one.heads, 2 * 2 + 2); /* two kinds of rows in the encoder, one in cross-attention */
    assert_int_equal(one.measured.both.n + one.chosen.both.n, one.pairs);
    assert_int_equal(one.all.both.right, one.measured.both.right + one.chosen.both.right);
    assert_int_equal(one.as_trained.pronoun.n, 2 * one.pairs);
    double sum = 0;
    for (int i = 0; i <= one.star[0].en_n; i++)
        sum += (double)one.star_row[0][i];
    assert_true(sum > 0.999 && sum < 1.001);
    pool_free(pool);
    model_free(&m);
}

static void visit(void *logits, size_t i, const SentenceRead *v)
{
    memcpy((float *)logits + i * FR_WORDS, batch_run_logits(v->run, v->worker, v->at), FR_WORDS * sizeof(float));
}

static void a_head_switched_off(void **state)
{
    (void)state;
    Model m;
    Err err = {""};
    ParallelSentence s[3];
    float on[3 * FR_WORDS], off[3 * FR_WORDS];
    small(&m);
    for (int i = 0; i < 3; i++)
        sentence_make(SENTENCES_COMBINATIONS, 0, (uint64_t)i, &s[i]);
    Graph g;
    Arena arena = {0};
    Edits edits;
    const Seq2seqInput in = {.source = {s[0].en, s[0].en_n, NULL, NULL}, .target = {s[0].fr, s[0].fr_n, NULL, NULL}};
    graph_init(&g);
    seq2seq_build(&g, &m.text, &m.weights, &in, NULL);
    const Ablation last = {.kind = ABLATION_HEAD, .layer = 2, .head = 1}, none = {.kind = ABLATION_HEAD, .layer = 3};
    assert_true(ablation_edits(&arena, &g, last, &edits)); /* of the cross-attention */
    BatchRun *r = batch_run_new(&(BatchRunSetup){.model = &m}, &err),
             *without = batch_run_new(
                 &(BatchRunSetup){.model = &m, .edits = edits.edit, .edit_count = edits.count, .graph = &g}, &err);
    assert_int_equal(batch_run_read(r, NULL, s, 0, 3, visit, on, CLOCK_NEVER), 3);
    assert_int_equal(batch_run_read(without, NULL, s, 0, 3, visit, off, CLOCK_NEVER), 3);
    assert_memory_not_equal(on, off, sizeof on);
    assert_string_equal(edits.edit[0].path, "decoder.blocks.0.cross_attn.z");
    assert_false(ablation_edits(&arena, &g, none, &edits));
    assert_null(
        batch_run_new(&(BatchRunSetup){.model = &m, .watch = (const char *const[]){"nonsense"}, .watch_count = 1},
                      &err));
    batch_run_free(r);
    batch_run_free(without);
    graph_free(&g);
    arena_free(&arena);
    model_free(&m);
}

static void other_words_are_refused(void **state)
{
    (void)state;
    Model m;
    Err err = {""};
    Translation t;
    Seq2seqConfig c = seq2seq_config_base();
    text_model_seeded(&m, &c, 1);
    assert_false(translation_run(&t, &m, 8, NULL, NULL, NULL, &err));
    assert_true(*err.text);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_count),
        cmocka_unit_test(a_head_switched_off),
        cmocka_unit_test(other_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
