/* What `vitrine evaluate` prints: JSON that a parser takes, with the evaluation's own numbers, and tables that fit 80
 * columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/models/drawn.h"
#include "tui/cli/evaluate.h"

static const char *NASTY[DRAWN_CLASSES] = {"a \"quoted\" one",
                                           "back\\slash",
                                           "\033[31mred",
                                           "\xff\xfe",
                                           "x, y",
                                           "",
                                           "déjà vu of a class with a very long name",
                                           "t\tab",
                                           "new\nline",
                                           "ok"};

typedef struct Subject {
    Model model;
    Pictures *pictures;
    Dataset *dataset;
    Evaluation e;
    Evaluated of;
} Subject;

static void open_subject(Subject *s, void (*change)(VitConfig *c))
{
    VitConfig c = model_bundled_config();
    Err err = {""};
    c.layers = 2;
    c.heads = 2;
    c.head_dim = 8;
    c.width = c.mlp = 16;
    if (change)
        change(&c);
    *s = (Subject){.dataset = NULL};
    model_seeded(&s->model, &c, 3);
    s->model.drawn_shapes = true;
    s->pictures = pictures_drawn(&s->model.preprocess, 1);
    s->dataset = dataset_new(s->pictures, &s->model, PICTURES_HELD_OUT, 0, 12);
    assert_true(evaluation_run(&s->e, &s->model, s->dataset, NULL, NULL, NULL, &err));
    s->of = (Evaluated){.model = &s->model,
                        .name = "a \"model\"",
                        .pictures = "held-out drawn shapes",
                        .class_names = NASTY};
}

static void close_subject(Subject *s)
{
    evaluation_free(&s->e);
    dataset_free(s->dataset);
    pictures_free(s->pictures);
    model_free(&s->model);
}

static void narrow(const char *text)
{
    char line[400];
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        size_t n = strcspn(p, "\n");
        assert_true(n < sizeof line);
        snprintf(line, sizeof line, "%.*s", (int)n, p);
        if (utf8_cells(line) > 80)
            fail_msg("%d columns: %s", utf8_cells(line), line);
        assert_null(strchr(line, '\033'));
        assert_true(n == 0 || line[n - 1] != ' ');
        if (!p[n])
            break;
    }
}

static double number_at(const Json *j, const char *name)
{
    const Json *at = json_get(j, name);
    assert_non_null(at);
    double x = (double)NAN;
    assert_true(json_number(at, &x));
    return x;
}

static Json *parsed(const Buf *b)
{
    Err err = {""};
    Json *j = json_parse("evaluate", buf_str(b), b->len, &err);
    if (!j)
        fail_msg("%s in: %s", err.text, buf_str(b));
    return j;
}

static void check_evaluation(Subject *s)
{
    Buf text = {0}, json = {0};
    evaluate_print(&s->e, &s->of, false, &text);
    narrow(buf_str(&text));
    evaluate_print(&s->e, &s->of, true, &json);
    Json *j = parsed(&json);
    const AccuracyResult *r = accuracy_result(s->e.trained);
    const AttentionStatsResult *v = attention_stats_result(s->e.with);
    assert_true(fabs(number_at(j, "accuracy") - s->e.accuracy) < 1e-8);
    assert_true(fabs(number_at(j, "accuracy_without_scale") - s->e.scale_off) < 1e-8);
    assert_true(fabs(number_at(j, "cross_entropy") - r->loss.mean) < 1e-7 * (1 + r->loss.mean));
    assert_true(fabs(number_at(j, "distance_uniform") - v->uniform) < 1e-6);
    const Json *margin = json_get(j, "distance_margin");
    double half = -1;
    assert_int_equal(json_count(margin), s->e.layers);
    assert_true(json_number(json_at(json_at(margin, 1), 1), &half));
    assert_true(half > 0 && fabs(half - v->distance[s->e.heads + 1].margin) < 1e-6);
    const Json *head = json_get(j, "accuracy_without_head"), *confusion = json_get(j, "confusion");
    assert_int_equal(json_count(head), s->e.layers);
    for (int layer = 0; layer < s->e.layers; layer++) {
        assert_int_equal(json_count(json_at(head, (size_t)layer)), s->e.heads);
        for (int h = 0; h < s->e.heads; h++) {
            double x = -1;
            assert_true(json_number(json_at(json_at(head, (size_t)layer), (size_t)h), &x));
            assert_true(fabs(x - s->e.head[layer * s->e.heads + h]) < 1e-8);
        }
    }
    double all = 0;
    for (size_t o = 0; o < json_count(confusion); o++)
        for (size_t k = 0; k < json_count(json_at(confusion, o)); k++) {
            double x = 0;
            assert_true(json_number(json_at(json_at(confusion, o), k), &x));
            assert_int_equal((size_t)x, r->confusion[o * (size_t)r->classes + k]);
            all += x;
        }
    assert_int_equal((size_t)all, s->e.pictures);
    assert_int_equal(json_kind(json_get(j, "accuracy_without_positions")),
                     isnan(s->e.positions_off) ? JK_NULL : JK_NUMBER);
    assert_int_equal(json_kind(json_get(j, "position_rank_correlation")), s->e.has_grid ? JK_NUMBER : JK_NULL);
    assert_int_equal(json_kind(json_get(j, "accuracy_from_class_token")), s->model.vit.cls ? JK_NUMBER : JK_NULL);
    json_free(j);
    buf_free(&json);
    buf_free(&text);
}

static void usual(void **state)
{
    (void)state;
    Subject s;
    open_subject(&s, NULL);
    check_evaluation(&s);
    close_subject(&s);
}

static void bare(VitConfig *c)
{
    c->cls = false;
    c->pos = VIT_POS_NONE;
    c->pool = VIT_POOL_MEAN;
}

static void many_heads(VitConfig *c)
{
    c->heads = 19;
    c->head_dim = 4;
    c->layers = 11;
    c->image_h = c->image_w = 12;
}

static void odd_models(void **state)
{
    (void)state;
    Subject s;
    open_subject(&s, bare);
    check_evaluation(&s);
    close_subject(&s);
    open_subject(&s, many_heads);
    check_evaluation(&s);
    close_subject(&s);
}

static void showcases(void **state)
{
    (void)state;
    Subject s;
    char token[32];
    open_subject(&s, NULL);
    ScaleSearch found = {.pictures = 20,
                         .changed = 3,
                         .collapse = {.found = true,
                                      .number = 123456,
                                      .label = 0,
                                      .with = 1,
                                      .without = 2,
                                      .layer = 1,
                                      .pattern = "blocks.1.attn.pattern",
                                      .head = 1,
                                      .query = 1 + 8 * 3 + 4,
                                      .entropy_with = 1.5f,
                                      .entropy_without = 0.25f,
                                      .change = 0.5}};
    Buf text = {0}, json = {0};
    showcase_print(&found, &s.of, false, &text);
    narrow(buf_str(&text));
    assert_non_null(strstr(buf_str(&text), "--at 'blocks.1.attn.pattern[h=1,t=r3c4]'"));
    assert_non_null(strstr(buf_str(&text), "none of these pictures"));
    showcase_print(&found, &s.of, true, &json);
    Json *j = parsed(&json);
    const Json *row = json_get(j, "collapse");
    assert_string_equal(json_text(json_get(row, "query"), ""), "r3c4");
    assert_true(number_at(row, "entropy_without_scale") == 0.25);
    assert_int_equal(json_kind(json_get(j, "steady")), JK_NULL);
    json_free(j);
    assert_string_equal(evaluate_token(&s.of, 0, token, sizeof token), "cls");
    assert_string_equal(evaluate_token(&s.of, 64, token, sizeof token), "r7c7");
    buf_free(&text);
    buf_free(&json);
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(usual), cmocka_unit_test(odd_models),
                                       cmocka_unit_test(showcases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
