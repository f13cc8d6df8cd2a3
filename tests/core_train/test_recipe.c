#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/models/model.h"
#include "core/train/task.h"

static bool read_text(Recipe *r, VitConfig *c, const char *text, Err *err)
{
    Json *j = json_parse("recipe.json", text, strlen(text), err);
    bool ok = j && recipe_read(r, j, err) && recipe_model(r, c, j, err);
    json_free(j);
    return ok;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    Recipe r = PICTURES_TASK.recipe(123), back = PICTURES_TASK.recipe(0);
    VitConfig c = model_bundled_config(), again = vit_config_base();
    Buf a = {0}, b = {0};
    Err err = {0};
    r.seed = 77;
    r.rate = 0.1 + 0.2;
    r.schedule = SCHEDULE_INVERSE_SQRT;
    c.image_w = 60;
    c.scale = 1;
    recipe_write(&r, &c, &a);
    assert_true(read_text(&back, &again, buf_str(&a), &err));
    recipe_write(&back, &again, &b);
    assert_string_equal(buf_str(&a), buf_str(&b));
    assert_int_equal(back.seed, 77);
    assert_true(back.rate == 0.1 + 0.2);
    assert_true(again.scale == 1.0f && again.image_w == 60 && again.head_dim == 16);
    buf_free(&a);
    buf_free(&b);
}

/* -0.0 would be written as -0, a whole number, which has no sign. */
static void a_zero_has_no_sign(void **state)
{
    (void)state;
    Recipe r = PICTURES_TASK.recipe(0);
    VitConfig c = model_bundled_config();
    Err err = {0};
    assert_true(read_text(&r, &c, "{\"floor\": -0.0, \"model\": {\"eps\": -0.0}}", &err));
    assert_true(r.floor == 0 && !signbit(r.floor));
    assert_true(c.eps == 0 && !signbit(c.eps));
}

static void mistakes_are_named_and_change_nothing(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"{\"steps\": 0}", "steps"},
        {"{\"stepz\": 10}", "stepz"},
        {"{\"steps\": 10, \"warmup\": 11}", "warmup"},
        {"{\"batch\": 6}", "multiple of 4"},
        {"{\"rate\": \"fast\"}", "rate"},
        {"{\"seed\": -1}", "seed"},
        {"{\"schedule\": \"linear\"}", "cosine"},
        {"[1]", "object"},
        {"{\"model\": 3}", "model"},
        {"{\"model\": {\"width\": 65}}", "multiple"},
        {"{\"model\": {\"depth\": 3}}", "depth"},
        {"{\"model\": {\"act\": \"swish\"}}", "gelu"},
        {"{\"model\": {\"patch\": 7}}", "patch"},
        {"{\"model\": {\"image\": [48]}}", "image"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Recipe r = PICTURES_TASK.recipe(0), before = r;
        VitConfig c = model_bundled_config(), model = c;
        Err err = {0};
        assert_false(read_text(&r, &c, bad[i][0], &err));
        if (!strstr(err.text, bad[i][1]))
            fail_msg("%s: %s", bad[i][0], err.text);
        assert_memory_equal(&r, &before, sizeof r);
        assert_memory_equal(&c, &model, sizeof c);
    }
}

static void the_rate_rises_and_falls(void **state)
{
    (void)state;
    Recipe r = PICTURES_TASK.recipe(0);
    assert_true(recipe_rate(&r, 64, 0) == r.rate / r.warmup);
    for (int s = 1; s < r.warmup; s++)
        assert_true(recipe_rate(&r, 64, s) > recipe_rate(&r, 64, s - 1) * 0.999);
    for (int s = r.warmup + 1; s < r.steps; s++)
        assert_true(recipe_rate(&r, 64, s) <= recipe_rate(&r, 64, s - 1));
    assert_true(recipe_rate(&r, 64, r.steps - 1) < r.rate * (r.floor + 1e-4));
    r.schedule = SCHEDULE_INVERSE_SQRT;
    assert_true(recipe_rate(&r, 64, r.warmup - 1) == r.rate);
    double quarter = recipe_rate(&r, 64, 4 * r.warmup - 1) / r.rate;
    assert_true(quarter > 0.4999 && quarter < 0.5001);
}

static void masking_and_difficulty_follow_the_recipe(void **state)
{
    (void)state;
    Recipe r = PICTURES_TASK.recipe(0);
    assert_int_equal(recipe_masked(&r, 0), 32);
    r.masked_until = 0.5;
    assert_int_equal(recipe_masked(&r, r.steps / 2 - 1), 32);
    assert_int_equal(recipe_masked(&r, r.steps / 2), 8);
    r.guess_weight = 0;
    assert_int_equal(recipe_masked(&r, 0), 0);
    assert_true(recipe_difficulty(&r, 0) == 0.4);
    assert_true(recipe_difficulty(&r, r.steps) == 1);
    r.easing = 0;
    assert_true(recipe_difficulty(&r, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_zero_has_no_sign),
        cmocka_unit_test(mistakes_are_named_and_change_nothing),
        cmocka_unit_test(the_rate_rises_and_falls),
        cmocka_unit_test(masking_and_difficulty_follow_the_recipe),
    };
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
