/* Training a decoder on a text: the same bytes whatever the threads, the kernels and the breaks; what is held out; the
 * folder that comes out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/graph/run.h"
#include "core/kernels/kernels.h"
#include "core/models/family.h"
#include "core/models/text_model.h"
#include "core/train/trainer.h"

static char folder[64], text_path[96];

/* Two words in turn, and a third that follows only the first of a line: enough to be learned in some steps. */
static int make_text(void **state)
{
    (void)state;
    Buf text = {0};
    Err err = {""};
    snprintf(folder, sizeof folder, "/tmp/vitrine-test-decoder-%ld", (long)getpid());
    snprintf(text_path, sizeof text_path, "%s.txt", folder);
    mkdir(folder, 0700);
    for (int i = 0; i < 200; i++)
        buf_puts(&text, i % 3 ? "the cat sees the dog\n" : "the dog sees the cat and the dog\n");
    bool ok = file_write(text_path, buf_str(&text), text.len, &err);
    buf_free(&text);
    return ok ? 0 : -1;
}

static int remove_text(void **state)
{
    (void)state;
    static const char *const files[] = {"config.json", "history.safetensors", "model.safetensors",
                                        "recipe.json", "tokenizer.json",      "held.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    unlink(text_path);
    return 0;
}

typedef struct Small {
    Recipe recipe;
    Seq2seqConfig model;
    void *examples;
} Small;

static Small small_of(const char *text, int steps)
{
    Small s = {.recipe = DECODER_TASK.recipe(steps)};
    Err err = {""};
    DECODER_TASK.bundled(&s.model);
    s.model.target_words = 270;
    s.model.positions = 12;
    s.model.width = 32;
    s.model.heads = 2;
    s.model.mlp = 48;
    s.model.decoder_layers = 2;
    assert_true(DECODER_TASK.settle(&s.model, false, &err));
    s.recipe.batch = 16;
    s.recipe.check = 8;
    s.recipe.log_every = 2;
    assert_true(DECODER_TASK.find(text, &s.recipe, &s.model, &s.examples, NULL, NULL, &err));
    return s;
}

static Small small(int steps)
{
    return small_of(text_path, steps);
}

static uint64_t hash_of(const Trainer *t)
{
    const Model *m = &t->model;
    const History *h = &t->history;
    int queries, keys;
    const float *look = history_pattern(h, h->snapshot_count - 1, history_lines(h) - 1, 1, &queries, &keys);
    assert_int_equal(history_lines(h), 2);
    assert_true(queries == 12 && keys == 12);
    return run_hash_values(m->block, m->block_cells) ^ run_hash_values(look, (size_t)queries * (size_t)keys) ^
           run_hash_values(h->row, (size_t)h->row_count * history_width(h));
}

static uint64_t train(int steps, int threads)
{
    Small s = small(steps);
    Pool *pool = pool_new(threads);
    Trainer *t = trainer_new(&s.recipe, &s.model, s.examples, pool);
    while (!trainer_done(t))
        trainer_step(t);
    uint64_t hash = hash_of(t);
    trainer_free(t);
    pool_free(pool);
    DECODER_TASK.leave(s.examples);
    return hash;
}

static void same_bytes_everywhere(void **state)
{
    (void)state;
    uint64_t want = train(4, 1);
    assert_true(train(4, 2) == want && train(4, 3) == want && train(5, 1) != want);
    for (int v = 0; kernels_variant(v); v++) {
        assert_true(kernels_select(kernels_variant(v)->isa, NULL));
        assert_true(train(4, 1) == want);
    }
    assert_true(kernels_select("auto", NULL));
}

static void interrupted_and_resumed(void **state)
{
    (void)state;
    char path[128];
    Err err = {""};
    Small s = small(5);
    snprintf(path, sizeof path, "%s.state", folder);
    Trainer *t = trainer_new(&s.recipe, &s.model, s.examples, NULL);
    for (int i = 0; i < 3; i++)
        trainer_step(t);
    assert_true(trainer_save(t, path, &err));
    trainer_free(t);
    t = trainer_new(&s.recipe, &s.model, s.examples, NULL);
    assert_true(trainer_resume(t, path, &err));
    assert_int_equal(t->step, 3);
    while (!trainer_done(t))
        trainer_step(t);
    assert_true(hash_of(t) == train(5, 1));
    trainer_free(t);
    unlink(path);
    DECODER_TASK.leave(s.examples);
}

/* It learns, and the folder that is written opens, cuts the same text and gives the same logits. */
static void what_comes_out(void **state)
{
    (void)state;
    Small s = small(200);
    Pool *pool = pool_new(2);
    Trainer *t = trainer_new(&s.recipe, &s.model, s.examples, pool);
    double first = 0, last = 0;
    while (!trainer_done(t)) {
        TrainStep step = trainer_step(t);
        first = step.step == 1 ? step.loss : first;
        last = step.loss;
    }
    assert_true(first > 4.5 && last < 0.3 * first);
    size_t asked = trainer_asked(t, 8), right = trainer_right(t, TASK_HELD_OUT, 8);
    assert_int_equal(asked, 96);
    assert_true(right > 48 && right <= asked);
    Buf told = {0};
    DECODER_TASK.tell(t, &told);
    assert_non_null(strstr(buf_str(&told), "held out"));
    buf_free(&told);

    Err err = {""};
    Model m = {0};
    Words w;
    assert_true(trainer_write(t, folder, &err));
    assert_true(text_model_load(&m, folder, NULL, NULL, &err));
    assert_memory_equal(m.block, t->model.block, m.block_cells * sizeof *m.block);
    assert_true(words_parse(&w, &m.target, "the cat sees", false, &err));
    assert_true(w.n >= 3 && w.n < 12 && !model_starts(&m));
    Buf back = {0};
    words_text(&m.target, w.number, w.n, &back);
    assert_string_equal(buf_str(&back), "the cat sees");
    buf_free(&back);
    words_free(&w);
    model_free(&m);
    trainer_free(t);
    pool_free(pool);
    DECODER_TASK.leave(s.examples);
}

/* What is said of a text of so many lines after a step. */
static void tell(int lines, Buf *told)
{
    Buf text = {0};
    char path[128];
    Err err = {""};
    snprintf(path, sizeof path, "%s.short", folder);
    for (int i = 0; i < lines; i++)
        buf_puts(&text, i % 3 ? "the cat sees the dog\n" : "the dog sees the cat and the dog\n");
    assert_true(file_write(path, buf_str(&text), text.len, &err));
    Small s = small_of(path, 1);
    Trainer *t = trainer_new(&s.recipe, &s.model, s.examples, NULL);
    trainer_step(t);
    DECODER_TASK.tell(t, told);
    trainer_free(t);
    DECODER_TASK.leave(s.examples);
    buf_free(&text);
    unlink(path);
}

/* Of one stretch there is no interval. */
static void how_sure_it_is(void **state)
{
    (void)state;
    Buf told = {0};
    tell(20, &told);
    assert_non_null(strstr(buf_str(&told), "over one stretch, too few for an interval"));
    assert_null(strstr(buf_str(&told), "±"));
    buf_free(&told);
    tell(45, &told);
    if (!strstr(buf_str(&told), " ± ") || !strstr(buf_str(&told), "over 2 stretches"))
        fail_msg("%s", buf_str(&told));
    buf_free(&told);
}

static void what_is_refused(void **state)
{
    (void)state;
    Recipe r = DECODER_TASK.recipe(4);
    Seq2seqConfig c;
    void *examples = NULL;
    Err err = {""};
    DECODER_TASK.bundled(&c);
    assert_false(DECODER_TASK.find(NULL, &r, &c, &examples, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "--text"));
    assert_false(DECODER_TASK.find("/nonexistent/text", &r, &c, &examples, NULL, NULL, &err));
    Buf latin = {0};
    for (int i = 0; i < 2000; i++)
        buf_puts(&latin, i % 3 ? "caf\xe9 \xfc"
                                 "ber, "
                               : "na\xefve \xa7 ");
    char path[128];
    snprintf(path, sizeof path, "%s.latin", folder);
    assert_true(file_write(path, buf_str(&latin), latin.len, &err));
    assert_false(DECODER_TASK.find(path, &r, &c, &examples, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "byte 2 is no UTF-8"));
    unlink(path);
    buf_free(&latin);
    c.positions = 4000; /* the text is too short for stretches of that length */
    assert_false(DECODER_TASK.find(text_path, &r, &c, &examples, NULL, NULL, &err));
    assert_non_null(strstr(err.text, "too few"));
    assert_null(examples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bytes_everywhere),
                                       cmocka_unit_test(interrupted_and_resumed), cmocka_unit_test(what_comes_out),
                                       cmocka_unit_test(how_sure_it_is), cmocka_unit_test(what_is_refused)};
    return cmocka_run_group_tests(tests, make_text, remove_text);
}
