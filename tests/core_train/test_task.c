/* A third kind of task and family, in this one file: letters, each of which is followed by another. The trainer learns
 * it, keeps it, goes on with it and writes it without knowing more than its TaskKind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/graph/grad.h"
#include "core/graph/run.h"
#include "core/models/family.h"
#include "core/train/trainer.h"

enum { LETTERS = 5, MICRO = 4, CELLS = 32 };
enum { LETTER, ANSWER };

typedef struct LetterConfig {
    int letters;
} LetterConfig;

static int next_letter(int letter)
{
    return (letter * 2 + 1) % LETTERS;
}

static bool save_letters(const Model *m, const char *dir, Err *err)
{
    char path[300];
    snprintf(path, sizeof path, "%s/letters.f32", dir);
    return file_write(path, m->block, LETTERS * LETTERS * sizeof *m->block, err);
}
static const Family FAMILY_LETTERS = {.name = "letters", .save = save_letters};

#define AT(field) offsetof(Recipe, field)
static const Field RECIPE[] = {{"steps", FIELD_WHOLE, AT(steps), 1, 1000, NULL},
                               {"rate", FIELD_REAL, AT(rate), 0, 1, NULL}};
static const Field MODEL[] = {{"letters", FIELD_WHOLE, offsetof(LetterConfig, letters), LETTERS, LETTERS, NULL}};
static const TaskKind LETTERS_TASK;

static Recipe recipe(int steps)
{
    return (Recipe){.kind = &LETTERS_TASK,
                    .seed = 3,
                    .steps = steps ? steps : 40,
                    .batch = 2 * MICRO,
                    .rate = 0.05,
                    .floor = 1,
                    .beta1 = 0.9,
                    .beta2 = 0.99,
                    .epsilon = 1e-8,
                    .average = 2,
                    .average_every = 1,
                    .log_every = 5,
                    .check = LETTERS};
}

static void open_letters(Trainer *t)
{
    t->model = (Model){.family = &FAMILY_LETTERS, .block = xfloats(CELLS), .block_cells = CELLS};
    memset(t->model.block, 0, CELLS * sizeof *t->model.block);
    t->model.weights.at = arena_alloc(&t->model.arena, sizeof *t->model.weights.at);
    *t->model.weights.at = (WeightTensor){.data = t->model.block, .origin = "trained here"};
    t->descent = descent_new(t->model.block, CELLS, 1, 2);
    descent_list(&t->descent, 0, t->model.block, LETTERS * LETTERS, 1, 0);
}

static void close_letters(Trainer *t)
{
    (void)t;
}

static void build(const Trainer *t, int variant, TaskGraph *l)
{
    Graph *g = &l->graph;
    (void)variant;
    *l = (TaskGraph){.zeros = xcalloc(MICRO * LETTERS, sizeof(float)), .guess_error = NO_NODE};
    for (int i = 0; i < TASK_INPUTS; i++)
        l->input[i] = NO_NODE;
    graph_init(g);
    int b = graph_axis(g, (Axis){.sym = "b", .name = "letter of the batch", .n = MICRO}),
        a = graph_axis(g, (Axis){.sym = "a", .name = "letter", .n = LETTERS}),
        v = graph_axis(g, (Axis){.sym = "v", .name = "letter that follows", .n = LETTERS});
    l->input[LETTER] = graph_leaf(g, "letter", DIMS(b, a), (Leaf){LEAF_INPUT, l->zeros, "one-hot"});
    NodeId w = graph_leaf(g, "follows", DIMS(v, a), (Leaf){LEAF_TENSOR, t->model.block, "trained here"});
    l->logits = graph_contract(g, "answers", l->input[LETTER], w, DIMS(b, v));
    l->input[ANSWER] = graph_leaf(g, "right", DIMS(b, v), (Leaf){LEAF_INPUT, l->zeros, "one-hot"});
    l->each = grad_cross_entropy(g, l->logits, l->input[ANSWER], v);
    graph_scope(g, "%s", "");
    l->loss = graph_reduce(g, "loss_all", OP_SUM, l->each, DIMS_SCALAR);
    l->gradient = descent_gradients(g, l->loss, t->model.weights.at, 1);
}

static void open_bench(const Trainer *t, TaskBench *b)
{
    (void)t;
    b->input[LETTER] = xfloats(MICRO * LETTERS);
    b->input[ANSWER] = xfloats(MICRO * LETTERS);
    b->own = xcalloc(MICRO, sizeof(int));
}

static void draw(Trainer *t)
{
    t->counted = t->recipe.batch;
    t->hidden = 0;
}

static void put(TaskBench *b, int i, int letter)
{
    memset(b->input[LETTER] + i * LETTERS, 0, LETTERS * sizeof(float));
    memset(b->input[ANSWER] + i * LETTERS, 0, LETTERS * sizeof(float));
    b->input[LETTER][i * LETTERS + letter] = 1;
    b->input[ANSWER][i * LETTERS + next_letter(letter)] = 1;
    ((int *)b->own)[i] = letter;
}

static void load(const Trainer *t, TaskBench *b, size_t micro)
{
    Rng r = rng_seed(t->recipe.seed, (uint64_t)t->step * 2 + micro);
    for (int i = 0; i < MICRO; i++)
        put(b, i, (int)(rng_unit(&r) * LETTERS));
}

static void load_exam(const Trainer *t, TaskBench *b, TaskSet set, uint64_t first, size_t n)
{
    (void)t;
    (void)set;
    for (size_t i = 0; i < n; i++)
        put(b, (int)i, (int)((first + i) % LETTERS));
}

static size_t answers(const TaskBench *b, int i)
{
    (void)b;
    (void)i;
    return 1;
}

static size_t right_answers(const Trainer *t, const TaskBench *b, int i, const float *logits)
{
    (void)t;
    return descent_largest(logits, LETTERS) == next_letter(((const int *)b->own)[i]);
}

static void look(Trainer *t, float *lines, Snapshot *s)
{
    (void)t;
    (void)lines;
    (void)s;
}

static const TaskKind LETTERS_TASK = {.name = "letters",
                                      .family = &FAMILY_LETTERS,
                                      .micro = MICRO,
                                      .recipe_fields = {RECIPE, 2, false},
                                      .model_fields = {MODEL, 1, false},
                                      .recipe = recipe,
                                      .config_bytes = sizeof(LetterConfig),
                                      .open = open_letters,
                                      .close = close_letters,
                                      .build = build,
                                      .bench = open_bench,
                                      .draw = draw,
                                      .load = load,
                                      .load_exam = load_exam,
                                      .answers = answers,
                                      .right_answers = right_answers,
                                      .look = look};

static Trainer *learn(int threads, int steps, Pool **pool)
{
    const Recipe r = recipe(40);
    const LetterConfig c = {LETTERS};
    Trainer *t = trainer_new(&r, &c, NULL, *pool = pool_new(threads));
    while (t->step < steps)
        trainer_step(t);
    return t;
}

static uint64_t hash(const Trainer *t)
{
    const History *h = &t->history;
    return run_hash_values(t->model.block, CELLS) ^ run_hash_values(h->row, (size_t)h->row_count * history_width(h));
}

static void it_learns(void **state)
{
    (void)state;
    Pool *one, *three;
    Trainer *t = learn(1, 40, &one), *u = learn(3, 40, &three);
    assert_true(hash(t) == hash(u));
    assert_int_equal(trainer_right(t, TASK_HELD_OUT, LETTERS), LETTERS);
    const History *h = &t->history;
    assert_true(history_at(h, h->row_count - 1, HISTORY_LOSS) < 0.9f * history_at(h, 0, HISTORY_LOSS));
    trainer_free(t);
    trainer_free(u);
    pool_free(one);
    pool_free(three);
}

static void it_goes_on_and_is_written(void **state)
{
    (void)state;
    Pool *one, *other;
    char dir[] = "/tmp/test_task.XXXXXX", path[300];
    Err err = {""};
    const Recipe r = recipe(40);
    const LetterConfig c = {LETTERS};
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/training.safetensors", dir);
    Trainer *whole = learn(1, 40, &one), *part = learn(2, 17, &other);
    assert_true(trainer_save(part, path, &err));
    trainer_free(part);
    part = trainer_new(&r, &c, NULL, other);
    if (!trainer_resume(part, path, &err))
        fail_msg("%s", err.text);
    assert_int_equal(part->step, 17);
    while (!trainer_done(part))
        trainer_step(part);
    assert_true(hash(part) == hash(whole));
    unlink(path);
    if (!trainer_write(part, dir, &err))
        fail_msg("%s", err.text);
    static const char *const files[] = {"letters.f32", "history.safetensors", "recipe.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    rmdir(dir);
    trainer_free(whole);
    trainer_free(part);
    pool_free(one);
    pool_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_learns), cmocka_unit_test(it_goes_on_and_is_written)};
    return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
