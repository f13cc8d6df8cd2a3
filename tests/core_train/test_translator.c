/* Training a text model: the same bytes whatever the threads, the kernels and the breaks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/graph/run.h"
#include "core/kernels/kernels.h"
#include "core/models/lexicon.h"
#include "core/train/trainer.h"

static Recipe small_recipe(int steps)
{
    Recipe r = SENTENCES_TASK.recipe(steps);
    r.batch = 16;
    r.check = 8;
    r.log_every = 2;
    r.average = 3;
    r.average_every = 2;
    return r;
}

static Seq2seqConfig small_model(void)
{
    Seq2seqConfig c = text_model_bundled_config();
    c.width = 32;
    c.heads = 2;
    c.head_dim = 16;
    c.mlp = 48;
    c.encoder_layers = 2;
    c.decoder_layers = 1;
    c.embed_scale = 5.656854f;
    return c;
}

static uint64_t weights_hash(const Trainer *t)
{
    const Model *m = &t->model;
    const History *h = &t->history;
    int asks, keys;
    const float *look = history_pattern(h, h->snapshot_count - 1, history_lines(h) - 1, 1, &asks, &keys);
    return run_hash_values(m->block, m->block_cells) ^ run_hash_values(look, (size_t)asks * (size_t)keys) ^
           run_hash_values(h->row, (size_t)h->row_count * history_width(h));
}

static uint64_t train(int steps, int threads)
{
    Recipe r = small_recipe(steps);
    Seq2seqConfig c = small_model();
    Pool *pool = pool_new(threads);
    Trainer *t = trainer_new(&r, &c, NULL, pool);
    while (!trainer_done(t))
        trainer_step(t);
    uint64_t hash = weights_hash(t);
    trainer_free(t);
    pool_free(pool);
    return hash;
}

static void same_bytes_everywhere(void **state)
{
    (void)state;
    uint64_t want = train(5, 1);
    assert_true(train(5, 2) == want && train(5, 3) == want && train(6, 1) != want);
    for (int v = 0; kernels_variant(v); v++) {
        assert_true(kernels_select(kernels_variant(v)->isa, NULL));
        assert_true(train(5, 1) == want);
    }
    assert_true(kernels_select("auto", NULL));
}

static void interrupted_and_resumed(void **state)
{
    (void)state;
    char path[128];
    Err err = {""};
    Recipe r = small_recipe(6);
    Seq2seqConfig c = small_model();
    snprintf(path, sizeof path, "/tmp/vitrine-test-%ld-text.safetensors", (long)getpid());
    Trainer *t = trainer_new(&r, &c, NULL, NULL);
    for (int i = 0; i < 4; i++)
        trainer_step(t);
    assert_true(trainer_save(t, path, &err));
    trainer_free(t);
    t = trainer_new(&r, &c, NULL, NULL);
    assert_true(trainer_resume(t, path, &err));
    assert_int_equal(t->step, 4);
    while (!trainer_done(t))
        trainer_step(t);
    assert_true(weights_hash(t) == train(6, 1));
    trainer_free(t);
    r.seed = 9; /* another recipe is refused */
    t = trainer_new(&r, &c, NULL, NULL);
    assert_false(trainer_resume(t, path, &err));
    assert_int_equal(t->step, 0);
    trainer_free(t);
    unlink(path);
}

/* A model as small as this learns the commonest words in some steps. */
static void it_learns(void **state)
{
    (void)state;
    Recipe r = small_recipe(60);
    Seq2seqConfig c = small_model();
    Pool *pool = pool_new(2);
    Trainer *t = trainer_new(&r, &c, NULL, pool);
    double first = 0, last = 0;
    while (!trainer_done(t)) {
        TrainStep s = trainer_step(t);
        first = s.step == 1 ? s.loss : first;
        last = s.loss;
    }
    assert_true(isfinite(last) && last < 0.85 * first);
    trainer_free(t);
    pool_free(pool);
}

static void the_schedule(void **state)
{
    (void)state;
    Recipe r = SENTENCES_TASK.recipe(0);
    Seq2seqConfig c = text_model_bundled_config();
    r.cooling = 0;
    double peak = recipe_rate(&r, c.width, r.warmup - 1);
    assert_true(fabs(peak - 0.5 / sqrt(64) / sqrt(800)) < 1e-12);
    assert_true(recipe_rate(&r, c.width, 0) < peak / 700 && recipe_rate(&r, c.width, 1999) < peak);
    r.cooling = 0.3;
    assert_true(recipe_rate(&r, c.width, 1999) < 0.03 * peak);
}

/* By value: a comparison of bytes would see what happens to lie between the members. */
static void assert_same_recipe(const Recipe *a, const Recipe *b)
{
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->steps, b->steps);
    assert_int_equal(a->batch, b->batch);
    assert_int_equal(a->warmup, b->warmup);
    assert_int_equal(a->average, b->average);
    assert_int_equal(a->average_every, b->average_every);
    assert_int_equal(a->log_every, b->log_every);
    assert_int_equal(a->check, b->check);
    const double of_a[] = {a->rate, a->cooling, a->beta1, a->beta2, a->epsilon, a->smoothing};
    const double of_b[] = {b->rate, b->cooling, b->beta1, b->beta2, b->epsilon, b->smoothing};
    assert_memory_equal(of_a, of_b, sizeof of_a);
}

static void recipes_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"steps\": 0}",      "{\"steps\": 1.5}",      "{\"batch\": 12}",
                                      "{\"rates\": 1}",      "{\"rate\": \"fast\"}",  "{\"beta2\": 1}",
                                      "{\"smoothing\": -1}", "{\"epsilon\": 0}",      "{\"seed\": -1}",
                                      "{\"cooling\": 2}",    "{\"average_every\": 0}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Err err = {""};
        Recipe r = SENTENCES_TASK.recipe(0), before = r;
        Json *j = json_parse("recipe", bad[i], strlen(bad[i]), &err);
        assert_non_null(j);
        if (recipe_read(&r, j, &err))
            fail_msg("%s was accepted", bad[i]);
        assert_same_recipe(&r, &before);
        json_free(j);
    }
    Err err = {""};
    Buf text = {0};
    Recipe r = small_recipe(7), back = SENTENCES_TASK.recipe(0);
    Seq2seqConfig c = small_model(), model = text_model_bundled_config();
    recipe_write(&r, &c, &text);
    Json *j = json_parse("recipe", buf_str(&text), text.len, &err);
    assert_true(j && recipe_read(&back, j, &err) && recipe_model(&back, &model, j, &err));
    assert_same_recipe(&r, &back);
    assert_int_equal(model.width, c.width);
    assert_int_equal(model.decoder_layers, c.decoder_layers);
    json_free(j);
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_everywhere), cmocka_unit_test(interrupted_and_resumed), cmocka_unit_test(it_learns),
        cmocka_unit_test(the_schedule),          cmocka_unit_test(recipes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
