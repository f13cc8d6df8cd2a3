/* The model in the program is what its recipe gives: the first steps of training it again, on this machine, lead to the
 * very bytes of the record that is shipped. (`make train` does all of them.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "assets/assets.h"
#include "core/models/model.h"
#include "core/train/trainer.h"

enum { STEPS = 25 };

static void read_recipe(Recipe *r, VitConfig *c)
{
    Err err = {""};
    Json *j = json_read("assets/trained/recipe.json", 1 << 20, &err);
    *r = PICTURES_TASK.recipe(0);
    *c = model_bundled_config();
    if (!j || !recipe_read(r, j, &err) || !recipe_model(r, c, j, &err))
        fail_msg("%s", err.text);
    json_free(j);
}

static void open_record(History *h, const VitConfig *c, const char *name)
{
    Err err = {""};
    const Asset *a = asset_find(name);
    assert_non_null(a);
    history_init(h, c);
    if (!history_fill_bytes(h, name, a->data, a->size, &err))
        fail_msg("%s", err.text);
}

static void same_snapshot(const History *made, const History *shipped, int i)
{
    const VitConfig *c = &shipped->vit;
    const Snapshot *a = &made->snapshot[i], *b = &shipped->snapshot[i];
    assert_int_equal(a->step, b->step);
    assert_memory_equal(a->positions, b->positions, vit_role_cells(c, VIT_POS) * sizeof(float));
    assert_memory_equal(a->filters, b->filters, vit_role_cells(c, VIT_PATCH_W) * sizeof(float));
    assert_memory_equal(a->rows, b->rows, (size_t)(c->layers * c->heads * vit_tokens(c)) * sizeof(float));
}

/* Trains STEPS steps of the shipped recipe and compares with the record `name`. */
static void first_steps(const char *name, float scale, int threads)
{
    Recipe r;
    VitConfig c;
    History shipped;
    read_recipe(&r, &c);
    open_record(&shipped, &c, name);
    c.scale = scale;
    Preprocess p = preprocess_default(&c);
    Pictures *pictures = pictures_drawn(&p, r.seed);
    Pool *pool = pool_new(threads);
    Trainer *t = trainer_new(&r, &c, pictures, pool);
    for (int i = 0; i < STEPS; i++)
        trainer_step(t);
    const History *made = &t->history;
    assert_int_equal(made->snapshot_count, 2);
    same_snapshot(made, &shipped, 0);
    same_snapshot(made, &shipped, 1);
    assert_int_equal(shipped.snapshot[shipped.snapshot_count - 1].step, r.steps);
    assert_int_equal(history_at(&shipped, shipped.row_count - 1, HISTORY_STEP), r.steps);
    trainer_free(t);
    pool_free(pool);
    pictures_free(pictures);
    history_free(&shipped);
}

static void the_model(void **state)
{
    (void)state;
    first_steps("history.safetensors", vit_scale(16), 2);
}

static void its_twin(void **state)
{
    (void)state;
    first_steps("history-twin.safetensors", 1, 1);
}

/* The last snapshot is of the weights that are in the program. */
static void the_record_ends_with_the_model(void **state)
{
    (void)state;
    VitConfig c = model_bundled_config();
    History h;
    Model m;
    Err err = {""};
    const Asset *a = asset_find("shapes-vit.f32");
    open_record(&h, &c, "history.safetensors");
    if (!model_bundled(&m, a->data, a->size, &err))
        fail_msg("%s", err.text);
    const Snapshot *last = &h.snapshot[h.snapshot_count - 1];
    assert_memory_equal(last->positions, vit_weight(&m.weights, VIT_POS, 0)->data,
                        vit_role_cells(&c, VIT_POS) * sizeof(float));
    assert_memory_equal(last->filters, vit_weight(&m.weights, VIT_PATCH_W, 0)->data,
                        vit_role_cells(&c, VIT_PATCH_W) * sizeof(float));
    model_free(&m);
    history_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model),
        cmocka_unit_test(its_twin),
        cmocka_unit_test(the_record_ends_with_the_model),
    };
    return cmocka_run_group_tests_name("trained", tests, NULL, NULL);
}
