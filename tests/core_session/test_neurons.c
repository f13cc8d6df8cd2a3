/* What excites hidden units: the same pictures and sentences as found here by another way, and the command that leads
 * to them. */
#include "tests/core_session/asking.h"

#include "core/base/clock.h"
#include "core/eval/batch_run.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/neurons.h"

enum { PICTURES = 500, BLOCK = 1, UNIT = 37, SOME = 40 };

static void test_command(void **state)
{
    (void)state;
    run("neuron 1.37");
    assert_string_equal(s.place.path, "blocks.1.mlp.post");
    assert_int_equal(s.place.screen, SCREEN_NEURON);
    int part, unit;
    assert_true(neuron_here(&s, &part, &unit) && unit == UNIT);
    run("neuron +1");
    assert_true(neuron_here(&s, &part, &unit) && unit == UNIT + 1);
    run("neuron 5 r3c4");
    assert_true(neuron_here(&s, &part, &unit) && unit == 5);
    run("neuron 3.0; neuron -1");
    assert_true(neuron_here(&s, &part, &unit) && unit == 0);
    assert_string_equal(s.place.path, "blocks.3.mlp.post");
    refused("neuron 9.0", "there is no MLP in '9.0': blocks go from 0 to 3");
    refused("neuron 1.999", "there is no unit 999: they go from 0 to 127");
    refused("neuron x", "expected a unit such as 1.37");
    refused("neuron 1.3x", "expected a unit such as 1.37");
    refused("neuron 5 nowhere", "expected a patch");
    run("goto blocks.2.mlp.pre[m=9]; neuron");
    assert_true(neuron_here(&s, &part, &unit) && unit == 9);
    assert_string_equal(s.place.path, "blocks.2.mlp.post");
}

/* The other way: pictures four at a time, without analyses; the largest looked for in the values as they come. */
static void test_pictures(void **state)
{
    (void)state;
    run("option pictures 500; neuron 1.37; neuron measure");
    const char *why, *path = "blocks.1.mlp.post";
    const NeuronShown *n = session_neuron(&s, &why);
    assert_non_null(n);
    assert_true(n->done == PICTURES && n->total == PICTURES && n->count == NEURON_PICTURES && n->unit == UNIT);
    Err err = {""};
    Pictures *pictures = pictures_drawn(&s.model.preprocess, 0);
    Dataset *d = dataset_new(pictures, &s.model, PICTURES_HELD_OUT, 0, PICTURES);
    const BatchRunSetup setup = {.model = &s.model, .watch = &path, .watch_count = 1, .threads = 1};
    BatchRun *batch = batch_run_new(&setup, &err);
    assert_non_null(batch);
    static float value[PICTURES];
    static int token[PICTURES], label[PICTURES];
    for (size_t i = 0; i < PICTURES; i += BATCH_RUN_PICTURES) {
        for (size_t k = 0; k < BATCH_RUN_PICTURES; k++)
            label[i + k] = dataset_get(d, i + k, batch_run_pixels(batch, 0, (int)k), NULL);
        batch_run_compute(batch, 0);
        for (size_t k = 0; k < BATCH_RUN_PICTURES; k++) {
            const float *x = batch_run_watched(batch, 0, 0, (int)k) + UNIT;
            value[i + k] = x[0];
            for (int t = 1; t < 65; t++)
                if (x[t * 128] > value[i + k]) {
                    value[i + k] = x[t * 128];
                    token[i + k] = t;
                }
        }
    }
    for (int k = 0; k < n->count; k++) {
        const NeuronHit *h = &n->hit[k];
        assert_true(value[h->item] == h->value && token[h->item] == h->token && label[h->item] == n->label[k]);
        size_t above = 0;
        for (size_t i = 0; i < PICTURES; i++)
            above += value[i] > h->value;
        assert_int_equal(above, k); /* no two are alike here */
        float *pixels = malloc(3 * 48 * 48 * sizeof *pixels);
        dataset_get(d, h->item, pixels, NULL);
        for (int i = 0; i < 48 * 48; i++)
            for (int c = 0; c < 3; c++)
                assert_int_equal(n->picture[k][3 * i + c], (int)pixels[c * 48 * 48 + i]);
        free(pixels);
    }
    assert_int_equal(session_neuron_below(&s, n->hit[0].value), PICTURES - 1);
    assert_int_equal(session_neuron_below(&s, n->hit[4].value), PICTURES - 5);
    run("neuron 0.3"); /* of another unit there is nothing until the screen has worked; then at once */
    assert_null(session_neuron(&s, &why));
    assert_null(why);
    assert_true(measures_step(&s, clock_ns()));
    assert_non_null(session_neuron(&s, &why));
    has(run("say"), "Of 500 held-out pictures a picture of class ");
    batch_run_free(batch);
    dataset_free(d);
    pictures_free(pictures);
}

static bool cancel(void *context, const char *what, double share)
{
    (void)context, (void)what, (void)share;
    return false;
}

/* Ctrl-C leaves what was measured, and says of how many that is. */
static void test_cancelled(void **state)
{
    (void)state;
    s.progress = cancel;
    refused("option pictures 5000; neuron 2.1; neuron measure", "cancelled; of ");
    s.progress = NULL;
    const NeuronShown *n = session_neuron(&s, NULL);
    assert_true(n && n->done > 0 && n->done < n->total && n->total == 5000);
    assert_int_equal(n->count, n->done < NEURON_PICTURES ? n->done : NEURON_PICTURES); /* few on a slow machine */
}

static int start_words(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, "translator", "the cat is tired", 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

static int start_photos(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, "photos", NULL, 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

/* Each sentence that excites it, opened here: the activation is in the trace. */
static void test_words(void **state)
{
    (void)state;
    run("option pictures 500; neuron encoder.1.5; neuron measure");
    const NeuronShown *n = session_neuron(&s, NULL);
    assert_true(n && n->done == PICTURES && n->count == NEURON_HITS && !n->target);
    NeuronShown kept = *n; /* its sentences; opening one may drop them */
    for (int k = 0; k < 5; k++) {
        char line[512];
        NodeId node;
        int at = snprintf(line, sizeof line, "open \"");
        for (int t = 0; t + 1 < neuron_words(&kept, k); t++)
            at += snprintf(line + at, sizeof line - (size_t)at, "%s%s", t ? " " : "", neuron_word(&kept, k, t));
        snprintf(line + at, sizeof line - (size_t)at, "\"");
        run(line);
        const float *x = values("encoder.blocks.1.mlp.post", &node);
        const Graph *g = session_graph(&s, SIDE_B);
        int tokens = g->axes[graph_node(g, node)->dims.axis[0]].n;
        assert_int_equal(tokens, neuron_words(&kept, k));
        float most = x[5];
        for (int t = 1; t < tokens; t++)
            most = fmaxf(most, x[t * 128 + 5]);
        assert_true(most == kept.hit[k].value && x[kept.hit[k].token * 128 + 5] == most);
    }
    run("neuron decoder.2.7; say");
    has(buf_str(&s.said), "For each 1 of activation it writes most into ");
}

/* Of the photos' ten scenes eight excite it, and no more are shown. */
static void test_excites(void **state)
{
    (void)state;
    run("neuron 0.0; neuron measure");
    const NeuronShown *n = session_neuron(&s, NULL);
    assert_true(n && n->done == 10 && n->count == 8);
    for (int k = 0; k < n->count; k++)
        assert_true(n->hit[k].value > 0 && (!k || n->hit[k].value <= n->hit[k - 1].value));
    assert_int_equal(session_neuron_below(&s, n->hit[n->count - 1].value), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_command, start, stop),
                                       cmocka_unit_test_setup_teardown(test_pictures, start, stop),
                                       cmocka_unit_test_setup_teardown(test_cancelled, start, stop),
                                       cmocka_unit_test_setup_teardown(test_words, start_words, stop),
                                       cmocka_unit_test_setup_teardown(test_excites, start_photos, stop)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    commands_free(&commands);
    return failed;
}
