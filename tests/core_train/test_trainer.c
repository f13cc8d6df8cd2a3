/* Training: the recorded steps of an independent implementation, and the same bytes whatever the threads, the kernels
 * and the breaks. */
#include "tests/core_models/oracle.h"

#include "core/graph/plan.h"
#include "core/kernels/kernels.h"
#include "core/train/descent.h"
#include "core/train/trainer.h"
#include "core/train/vit_train.h"

/* --- ten recorded AdamW steps on one picture --- */

static double recorded_label(void)
{
    TensorFile f;
    Err err = {""};
    double label = -1;
    assert_true(tensors_open(&f, ORACLE "tiny/gradient.safetensors", &err));
    assert_true(tensors_read_f64(&f, tensors_find(&f, "label"), &label, &err));
    tensors_close(&f);
    return label;
}

static void check_weight(const Model *m, const TensorFile *f, const TensorInfo *t, double *worst)
{
    const float *have = NULL;
    for (size_t i = 0; i < vit_weights_count(&m->vit) && !have; i++)
        if (m->weights.at[i].data && strcmp(m->weights.at[i].origin, t->name + strlen("after10.")) == 0)
            have = m->weights.at[i].data;
    assert_non_null(have);
    Err err = {""};
    double *want = malloc(t->cells * sizeof *want);
    assert_true(tensors_read_f64(f, t, want, &err));
    for (size_t i = 0; i < t->cells; i++) {
        double error = fabs((double)have[i] - want[i]);
        if (!(error <= 1e-5))
            fail_msg("%s[%zu] is %.9g, recorded %.9g", t->name, i, (double)have[i], want[i]);
        *worst = fmax(*worst, error);
    }
    free(want);
}

/* The picture four times with a quarter of the weight each: the loss of one. */
static void recorded_steps(void **state)
{
    (void)state;
    enum { STEPS = 10 };
    Bench b;
    TaskGraph l;
    TensorFile f;
    Err err = {""};
    double losses[STEPS], worst = 0, worst_loss = 0;
    bench_load(&b, ORACLE "tiny", ORACLE "tiny/image.ppm");
    const VitConfig *c = &b.model.vit;
    size_t cells = bench_pixels(c), block = b.model.block_cells, classes = (size_t)c->classes;
    float *pixels = xfloats(MICRO_BATCH * cells), *target = xcalloc(MICRO_BATCH * classes, sizeof *target);
    float share[MICRO_BATCH], *m = xcalloc(block, sizeof *m), *v = xcalloc(block, sizeof *v);
    int label = (int)recorded_label();
    for (size_t i = 0; i < MICRO_BATCH; i++) {
        memcpy(pixels + i * cells, b.pixels, cells * sizeof *pixels);
        target[i * classes + (size_t)label] = 1;
        share[i] = 1.0f / MICRO_BATCH;
    }
    loss_build(&l, c, &b.model.weights, false);
    size_t count = vit_weights_count(c);
    NodeId *wanted = xcalloc(count + 1, sizeof *wanted);
    int n = 0;
    for (size_t i = 0; i < count; i++)
        if (l.gradient[i] != NO_NODE)
            wanted[n++] = l.gradient[i];
    wanted[n++] = l.loss;
    Plan *p = plan_new(&l.graph, wanted, n);
    plan_leaf(p, l.input[LOSS_PIXELS], pixels);
    plan_leaf(p, l.input[LOSS_TARGET], target);
    plan_leaf(p, l.input[LOSS_CLASS_WEIGHT], share);
    assert_true(tensors_open(&f, ORACLE "tiny/adamw10.safetensors", &err));
    assert_true(tensors_read_f64(&f, tensors_find(&f, "losses"), losses, &err));
    for (int step = 1; step <= STEPS; step++) {
        AdamW a = {.rate = 1e-3, .decay = 0.05, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .step = step};
        plan_compute(p);
        worst_loss = fmax(worst_loss, fabs((double)plan_values(p, l.loss)[0] - losses[step - 1]) / losses[0]);
        for (size_t i = 0; i < count; i++) {
            if (l.gradient[i] == NO_NODE)
                continue;
            size_t at = (size_t)(b.model.weights.at[i].data - b.model.block);
            adamw_update(&a, b.model.block + at, plan_values(p, l.gradient[i]), 1.0f, m + at, v + at,
                         graph_cells(&l.graph, l.gradient[i]));
        }
    }
    assert_true(worst_loss <= 1e-4);
    size_t compared = 0;
    for (size_t i = 0; i < f.count; i++)
        if (strncmp(f.tensors[i].name, "after10.", 8) == 0) {
            check_weight(&b.model, &f, &f.tensors[i], &worst);
            compared++;
        }
    assert_true(compared >= 4);
    print_message("  %zu weights after ten steps, largest difference %.2g (a step is 1e-3); losses %.2g\n", compared,
                  worst, worst_loss);
    tensors_close(&f);
    plan_free(p);
    task_graph_free(&l);
    free(wanted);
    free(pixels);
    free(target);
    free(m);
    free(v);
    bench_free(&b);
}

/* --- the same bytes --- */

typedef struct Small {
    Recipe recipe;
    VitConfig model;
    Pictures *pictures;
} Small;

static Small small_run(int steps)
{
    Small s = {.recipe = PICTURES_TASK.recipe(steps), .model = model_bundled_config()};
    s.recipe.batch = 8;
    s.recipe.smoothing = 0.1;
    s.model.width = 32;
    s.model.layers = 2;
    s.model.heads = 2;
    s.model.head_dim = 16;
    s.model.mlp = 48;
    s.model.mask_token = s.model.reconstruct = true;
    Preprocess p = preprocess_default(&s.model);
    s.pictures = pictures_drawn(&p, s.recipe.seed);
    return s;
}

static uint64_t train(const Small *s, int threads)
{
    Pool *pool = pool_new(threads);
    Trainer *t = trainer_new(&s->recipe, &s->model, s->pictures, pool);
    while (!trainer_done(t))
        trainer_step(t);
    uint64_t hash = run_hash_values(t->model.block, t->model.block_cells);
    const History *h = &t->history;
    hash ^= run_hash_values(h->row, (size_t)h->row_count * history_width(h));
    trainer_free(t);
    pool_free(pool);
    return hash;
}

static void threads_and_kernels_change_no_bit(void **state)
{
    (void)state;
    Small s = small_run(5);
    const char *isa = kernels()->isa;
    Err err = {""};
    uint64_t plain = train(&s, 1);
    s.recipe.augment = (Augment){0.5, 3, 0.3, 0.3, 0.3, 0.3};
    s.recipe.average = 3;
    s.recipe.average_every = 1;
    s.recipe.muon = 0.9;
    s.recipe.mimic = 0.5;
    uint64_t hash = train(&s, 1);
    assert_true(hash != plain);
    assert_true(train(&s, 2) == hash && train(&s, 3) == hash);
    for (int i = 0; kernels_variant(i); i++) {
        assert_true(kernels_select(kernels_variant(i)->isa, &err));
        if (train(&s, 2) != hash)
            fail_msg("%s trains other weights", kernels()->isa);
    }
    assert_true(kernels_select(isa, &err));
    s.recipe.seed++;
    assert_true(train(&s, 1) != hash);
    pictures_free(s.pictures);
}

static void going_on_gives_the_same_bytes(void **state)
{
    (void)state;
    Small s = small_run(6);
    s.recipe.augment = (Augment){0.5, 3, 0.3, 0.3, 0.3, 0.3};
    s.recipe.muon = 0.9;
    Small other = s;
    char dir[256], path[300];
    Err err = {""};
    snprintf(path, sizeof path, "%s/state.safetensors", scratch_dir(dir, sizeof dir, "trainer"));
    uint64_t whole = train(&s, 1);
    Trainer *t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
    for (int i = 0; i < 3; i++)
        trainer_step(t);
    assert_true(trainer_save(t, path, &err));
    trainer_free(t);
    other.recipe.rate *= 2;
    t = trainer_new(&other.recipe, &other.model, other.pictures, NULL);
    uint64_t before = run_hash_values(t->model.block, t->model.block_cells);
    assert_false(trainer_resume(t, path, &err));
    assert_non_null(strstr(err.text, "another recipe"));
    assert_true(run_hash_values(t->model.block, t->model.block_cells) == before && t->step == 0);
    trainer_free(t);
    t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
    assert_true(trainer_resume(t, path, &err));
    assert_int_equal(t->step, 3);
    while (!trainer_done(t))
        trainer_step(t);
    const History *h = &t->history;
    uint64_t hash = run_hash_values(t->model.block, t->model.block_cells) ^
                    run_hash_values(h->row, (size_t)h->row_count * history_width(h));
    assert_true(hash == whole);
    trainer_free(t);
    put_file(dir, "state.safetensors", "damaged", 7);
    t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
    assert_false(trainer_resume(t, path, &err));
    trainer_free(t);
    unlink(path);
    rmdir(dir);
    pictures_free(s.pictures);
}

/* A cycle ends with the weights of a training of its length, and the next one begins from them without a memory. */
static void a_cycle_is_a_training_from_what_the_last_one_learned(void **state)
{
    (void)state;
    Small s = small_run(3);
    s.recipe.average = 2;
    s.recipe.average_every = 1;
    s.recipe.muon = 0.9;
    s.recipe.easing = 0;
    s.recipe.masked_until = 1;
    Trainer *one = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
    while (!trainer_done(one))
        trainer_step(one);
    s.recipe.steps = 6;
    s.recipe.cycles = 2;
    Trainer *two = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
    for (int i = 0; i < 3; i++)
        trainer_step(two);
    size_t n = two->model.block_cells;
    assert_memory_equal(two->model.block, one->model.block, n * sizeof(float));
    assert_int_equal(two->history.snapshot[two->history.snapshot_count - 1].step, 3);
    for (size_t i = 0; i < n; i++)
        assert_true(two->descent.first[i] == 0 && two->descent.second[i] == 0 && two->mean[i] == 0);
    double first = trainer_step(two).rate;
    assert_true(first == recipe_rate(&s.recipe, s.model.width, 0));
    trainer_step(two);
    trainer_step(two);
    assert_true(trainer_done(two) && memcmp(two->model.block, one->model.block, n * sizeof(float)) != 0);
    trainer_free(one);
    trainer_free(two);
    Err err;
    s.recipe.cycles = 4;
    assert_false(recipe_check(&s.recipe, &err));
    assert_non_null(strstr(err.text, "\"cycles\" is 4"));
    pictures_free(s.pictures);
}

/* Σ x·y / √(Σ x² · Σ y²), y as the transpose of a matrix of `rows` columns where rows is not 0. */
static double correlation(const float *x, const float *y, size_t n, size_t rows)
{
    double xy = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        double a = (double)x[i], b = (double)y[rows ? i % (n / rows) * rows + i / (n / rows) : i];
        xy += a * b;
        xx += a * a;
        yy += b * b;
    }
    return xy / sqrt(xx * yy);
}

static const float *weight_of(const Trainer *t, VitRole role, int layer)
{
    return vit_weight(&t->model.weights, role, layer)->data;
}

static void attention_begins_as_much_alike_as_asked(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.7};
    Small s = small_run(1);
    size_t n = (size_t)s.model.width * (size_t)s.model.width;
    for (int i = 0; i < 2; i++) {
        s.recipe.mimic = shares[i];
        Trainer *t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
        for (int l = 0; l < s.model.layers; l++) {
            const float *q = weight_of(t, VIT_W_Q, l), *k = weight_of(t, VIT_W_K, l), *v = weight_of(t, VIT_W_V, l),
                        *o = weight_of(t, VIT_W_O, l);
            assert_true(fabs(correlation(q, k, n, 0) - shares[i]) < 0.1);
            assert_true(fabs(correlation(v, o, n, (size_t)s.model.width) + shares[i]) < 0.1);
            assert_true(fabs(correlation(q, v, n, 0)) < 0.1);
        }
        trainer_free(t);
    }
    pictures_free(s.pictures);
}

/* Interrupted before there is a row in the history. */
static void going_on_from_the_first_steps(void **state)
{
    (void)state;
    Small s = small_run(6);
    char dir[256], path[300];
    Err err = {""};
    snprintf(path, sizeof path, "%s/state.safetensors", scratch_dir(dir, sizeof dir, "trainer"));
    s.recipe.log_every = 4;
    for (int steps = 0; steps < 3; steps++) {
        Trainer *t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
        for (int i = 0; i < steps; i++)
            trainer_step(t);
        assert_int_equal(t->history.row_count, 0);
        assert_true(trainer_save(t, path, &err));
        trainer_free(t);
        t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
        assert_true(trainer_resume(t, path, &err));
        assert_int_equal(t->step, steps);
        assert_int_equal(t->history.row_count, 0);
        assert_int_equal(t->history.snapshot_count, 1);
        trainer_free(t);
    }
    unlink(path);
    rmdir(dir);
    pictures_free(s.pictures);
}

/* More snapshots than fit in memory, claimed by a small file; a row that says not when it was written. */
static void a_damaged_history(void **state)
{
    (void)state;
    enum { CLAIMED = 1 << 22 };
    Small s = small_run(6);
    char dir[256], path[300];
    Err err = {""};
    History h;
    snprintf(path, sizeof path, "%s/history.safetensors", scratch_dir(dir, sizeof dir, "trainer"));
    history_init(&h, &s.model);
    float *steps = xfloats(CLAIMED), none = 0;
    memset(steps, 0, CLAIMED * sizeof *steps);
    const TensorOut out[] = {
        {.name = "rows", .rank = 2, .shape = {0, history_width(&h)}, .data = &none},
        {.name = "snapshot.step", .rank = 2, .shape = {CLAIMED, 1}, .data = steps},
        {.name = "snapshot.positions", .rank = 2, .shape = {0, vit_role_cells(&s.model, VIT_POS)}, .data = &none}};
    assert_true(tensors_write(path, TF_SAFETENSORS, out, 3, NULL, &err));
    history_init(&h, &s.model);
    assert_false(history_fill(&h, path, &err));
    assert_non_null(strstr(err.text, "4194304 snapshots of one kind and 0 of another"));
    assert_int_equal(h.snapshot_count, 0);
    free(steps);
    history_init(&h, &s.model);
    history_add(&h)[HISTORY_STEP] = 7;
    history_add(&h)[HISTORY_STEP] = (float)NAN;
    assert_true(history_write(&h, path, &err));
    history_free(&h);
    history_init(&h, &s.model);
    assert_false(history_fill(&h, path, &err));
    assert_non_null(strstr(err.text, "row 1 has no step"));
    unlink(path);
    rmdir(dir);
    pictures_free(s.pictures);
}

/* --- learning --- */

static void the_loss_falls(void **state)
{
    (void)state;
    Small s = small_run(60);
    double first = 0, last = 0, guess_first = 0, guess_last = 0;
    s.recipe.batch = 16;
    s.recipe.smoothing = 0;
    s.recipe.easing = 1;
    s.recipe.difficulty = 0;
    Pool *pool = pool_new(0);
    Trainer *t = trainer_new(&s.recipe, &s.model, s.pictures, pool);
    for (int i = 0; i < s.recipe.steps; i++) {
        TrainStep f = trainer_step(t);
        first += i < 5 ? f.loss : 0;
        last += i >= s.recipe.steps - 5 ? f.loss : 0;
        guess_first += i < 5 ? f.guess : 0;
        guess_last += i >= s.recipe.steps - 5 ? f.guess : 0;
    }
    assert_true(last < 0.98 * first && guess_last < 0.7 * guess_first);
    trainer_free(t);
    pool_free(pool);
    pictures_free(s.pictures);
}

static void a_written_model_opens_again(void **state)
{
    (void)state;
    Small s = small_run(2);
    char dir[256], path[300];
    Err err = {""};
    Model m;
    History h = {0};
    Trainer *t = trainer_new(&s.recipe, &s.model, s.pictures, NULL);
    while (!trainer_done(t))
        trainer_step(t);
    scratch_dir(dir, sizeof dir, "trained");
    if (!trainer_write(t, dir, &err) || !model_load(&m, dir, NULL, NULL, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < vit_weights_count(&m.vit); i++)
        if (m.weights.at[i].data)
            assert_memory_equal(m.weights.at[i].data, t->model.weights.at[i].data, 16);
    assert_true(m.vit.input == s.model.input && m.vit.scale == s.model.scale && m.vit.mask_token && m.vit.reconstruct);
    assert_string_equal(m.class_names[5], "star");
    snprintf(path, sizeof path, "%s/history.safetensors", dir);
    history_init(&h, &m.vit);
    if (!history_fill(&h, path, &err))
        fail_msg("%s", err.text);
    const History *was = &t->history;
    assert_int_equal(h.row_count, was->row_count);
    assert_int_equal(h.snapshot_count, was->snapshot_count);
    assert_memory_equal(h.row, was->row, (size_t)h.row_count * history_width(&h) * sizeof *h.row);
    assert_memory_equal(h.snapshot[0].filters, was->snapshot[0].filters, 64);
    VitConfig wrong = m.vit;
    wrong.layers = 3;
    History none;
    history_init(&none, &wrong);
    assert_false(history_fill(&none, path, &err));
    assert_non_null(strstr(err.text, "no history of this model"));
    history_free(&h);
    model_free(&m);
    trainer_free(t);
    pictures_free(s.pictures);
    static const char *const files[] = {"model.safetensors", "config.json", "preprocessor_config.json",
                                        "history.safetensors", "recipe.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_steps),
        cmocka_unit_test(threads_and_kernels_change_no_bit),
        cmocka_unit_test(a_cycle_is_a_training_from_what_the_last_one_learned),
        cmocka_unit_test(attention_begins_as_much_alike_as_asked),
        cmocka_unit_test(going_on_gives_the_same_bytes),
        cmocka_unit_test(going_on_from_the_first_steps),
        cmocka_unit_test(a_damaged_history),
        cmocka_unit_test(the_loss_falls),
        cmocka_unit_test(a_written_model_opens_again),
    };
    return cmocka_run_group_tests_name("trainer", tests, NULL, NULL);
}
