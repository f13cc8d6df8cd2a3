/* What excites hidden units: the same pictures and sentences as found here by another way, and the command that leads
 * to them. */
#include "tests/core_session/asking.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/eval/batch_run.h"
#include "core/models/drawn.h"
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

static int start_text(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, "tests/data/families/words_gpt2", "ids:5,12,7", 2, NULL, NULL, &err))
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

static void write_picture(const char *folder, const char *name, int number)
{
    uint8_t pixels[3 * DRAWN_SIDE * DRAWN_SIDE];
    char path[200];
    Buf b = {0};
    Err err = {""};
    drawn_series(7, (uint64_t)number, 1, pixels, NULL);
    buf_printf(&b, "P6\n%d %d\n255\n", (int)DRAWN_SIDE, (int)DRAWN_SIDE);
    buf_add(&b, (const char *)pixels, sizeof pixels);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_true(file_write(path, b.data, b.len, &err));
    buf_free(&b);
}

static const char *const MINE[] = {"a.ppm", "c.ppm", "sub/b.ppm", "z.ppm"};
enum { MINES = sizeof MINE / sizeof *MINE };
static char mine[32];

static void make_mine(void)
{
    char sub[64];
    snprintf(mine, sizeof mine, "/tmp/vitrine-neurons-XXXXXX");
    assert_non_null(mkdtemp(mine));
    snprintf(sub, sizeof sub, "%s/sub", mine);
    assert_int_equal(mkdir(sub, 0700), 0);
    for (int i = 0; i < MINES; i++)
        write_picture(mine, MINE[i], i);
}

static void remove_mine(void)
{
    char path[200];
    for (int i = 0; i < MINES; i++) {
        snprintf(path, sizeof path, "%s/%s", mine, MINE[i]);
        assert_int_equal(unlink(path), 0);
    }
    snprintf(path, sizeof path, "%s/sub", mine);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(mine), 0);
}

/* The largest activation of that unit that the trace holds of a picture on show; token: where. */
static float largest_here(const char *path, int unit, int *token)
{
    NodeId node;
    const float *x = values(path, &node);
    const Graph *g = session_graph(&s, SIDE_B);
    const Dims d = graph_node(g, node)->dims;
    const int tokens = g->axes[d.axis[0]].n, units = g->axes[d.axis[1]].n;
    *token = 0;
    for (int t = 1; t < tokens; t++)
        if (x[t * units + unit] > x[*token * units + unit])
            *token = t;
    return x[*token * units + unit];
}

/* Every picture of the folder opened by itself: those that excite the unit are the ones named, in that order. What is
 * pinned keeps the model, which nobody chose. */
static void check_mine(const char *path, int unit)
{
    char line[300];
    int named = 0, shown = 0;
    const NeuronShown *n = session_neuron(&s, NULL);
    assert_true(n && n->done == MINES && n->total == MINES && n->count > 0);
    const NeuronShown kept = *n; /* its hits, and the paths of their files, stay while the model does */
    float value[MINES];
    int token[MINES];
    for (int i = 0; i < MINES; i++) {
        snprintf(line, sizeof line, "open %s/%s", mine, MINE[i]);
        run(line);
        value[i] = largest_here(path, unit, &token[i]);
        shown += value[i] > 0;
    }
    assert_int_equal(kept.count, shown);
    for (int k = 0; k < kept.count; k++) {
        float most = -INFINITY; /* of those that are not named yet */
        int which = -1;
        for (int i = 0; i < MINES; i++)
            if (!(named >> i & 1) && value[i] > most) {
                most = value[i];
                which = i;
            }
        named |= 1 << which;
        snprintf(line, sizeof line, "%s/%s", mine, MINE[which]);
        assert_string_equal(kept.file[k], line);
        assert_true(kept.hit[k].value == most && kept.hit[k].token == token[which]);
    }
}

static bool goes_on(void *context, size_t done, size_t total)
{
    (void)context, (void)done, (void)total;
    return true;
}

/* Where there is no room for all, the first by name; the pixels of each are its own. */
static void test_first_of_folder(void **state)
{
    enum { CELLS = 3 * DRAWN_SIDE * DRAWN_SIDE };
    static float pixels[CELLS];
    static uint8_t drawn[CELLS];
    Err err = {""};
    (void)state;
    make_mine();
    Dataset *d = dataset_folder(&s.model, mine, 2, goes_on, NULL, &err);
    assert_non_null(d);
    assert_true(dataset_count(d) == 2 && dataset_lying(d) == MINES);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(strrchr(dataset_path(d, (size_t)i), '/') + 1, MINE[i]);
        assert_int_equal(dataset_get(d, (size_t)i, pixels, NULL), 0);
        drawn_series(7, (uint64_t)i, 1, drawn, NULL);
        for (int k = 0; k < CELLS; k++)
            assert_int_equal((int)pixels[k % 3 * (CELLS / 3) + k / 3], drawn[k]);
    }
    dataset_free(d);
    remove_mine();
}

/* Over a folder that somebody names: what is said of it is what its pictures' traces hold. */
static void test_folder(void **state)
{
    char line[100];
    (void)state;
    make_mine();
    run("pin; option pictures 500; neuron 1.37; neuron measure");
    snprintf(line, sizeof line, "neuron measure %s", mine);
    run(line);
    check_mine("blocks.1.mlp.post", UNIT);
    run("neuron 1.37; neuron measure"); /* they stay what is measured */
    snprintf(line, sizeof line, "Of 4 pictures of %s “", strrchr(mine, '/') + 1);
    has(run("say"), line);
    remove_mine();
}

/* Of a model that names other things, too, and of one that names nothing. */
static void test_folder_of_others(void **state)
{
    static const char *const MODELS[] = {"tests/data/oracle/tiny", "tests/data/families/dinov2"};
    char line[100];
    (void)state;
    make_mine();
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        snprintf(line, sizeof line, "model %s", MODELS[i]);
        run(line);
        refused("neuron 0.3; neuron measure", "no pictures are known for this model: `neuron measure FOLDER`");
        snprintf(line, sizeof line, "neuron measure %s", mine);
        run(line);
        check_mine("blocks.0.mlp.post", 3);
    }
    remove_mine();
}

/* What can't be read is named, and what was measured stays. */
static void test_bad_folders(void **state)
{
    char line[200], path[100];
    (void)state;
    make_mine();
    snprintf(line, sizeof line, "pin; neuron 1.37; neuron measure %s", mine);
    run(line);
    refused("neuron measure nosuch", "expected a folder of pictures, found 'nosuch'");
    snprintf(line, sizeof line, "neuron measure %s/a.ppm", mine);
    refused(line, "a.ppm'");
    char empty[] = "/tmp/vitrine-neurons-XXXXXX";
    assert_non_null(mkdtemp(empty));
    snprintf(line, sizeof line, "neuron measure %s", empty);
    snprintf(path, sizeof path, "%s: there is no picture in it", empty);
    refused(line, path);
    Err err = {""};
    snprintf(path, sizeof path, "%s/broken.png", empty);
    assert_true(file_write(path, "none", 4, &err));
    refused(line, path);
    unlink(path);
    rmdir(empty);
    s.progress = cancel;
    snprintf(line, sizeof line, "neuron measure %s", mine);
    refused(line, "stopped after 0 of 4 pictures");
    s.progress = NULL;
    check_mine("blocks.1.mlp.post", UNIT);
    remove_mine();
}

/* Of a decoder a text: its windows, as --text has them. */
static void test_text(void **state)
{
    char file[] = "/tmp/vitrine-neurons-XXXXXX", line[100];
    Err err = {""};
    Buf b = {0};
    Rng r = rng_seed(5, 6);
    (void)state;
    close(mkstemp(file));
    for (int i = 0; i < 200; i++)
        buf_printf(&b, "%d ", (int)rng_below(&r, 18) + 1);
    assert_true(file_write(file, b.data, b.len, &err));
    refused("neuron measure", "no text to measure on");
    snprintf(line, sizeof line, "neuron 0.0; neuron measure %s", file);
    run(line);
    const NeuronShown *n = session_neuron(&s, NULL);
    assert_true(n && n->window_tokens && n->done == n->total && n->count > 0);
    const NeuronShown kept = *n;
    for (int k = 0; k < 3 && k < kept.count; k++) {
        int token;
        b.len = 0;
        buf_puts(&b, "open ids:");
        for (int t = 0; t < kept.window_tokens; t++)
            buf_printf(&b, "%s%d", t ? "," : "", kept.window[k][t]);
        run(buf_str(&b));
        assert_true(largest_here("decoder.blocks.0.mlp.post", 0, &token) == kept.hit[k].value);
        assert_int_equal(token, kept.hit[k].token);
    }
    buf_free(&b);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_command, start, stop),
                                       cmocka_unit_test_setup_teardown(test_pictures, start, stop),
                                       cmocka_unit_test_setup_teardown(test_cancelled, start, stop),
                                       cmocka_unit_test_setup_teardown(test_first_of_folder, start, stop),
                                       cmocka_unit_test_setup_teardown(test_folder, start, stop),
                                       cmocka_unit_test_setup_teardown(test_folder_of_others, start, stop),
                                       cmocka_unit_test_setup_teardown(test_bad_folders, start, stop),
                                       cmocka_unit_test_setup_teardown(test_text, start_text, stop),
                                       cmocka_unit_test_setup_teardown(test_words, start_words, stop),
                                       cmocka_unit_test_setup_teardown(test_excites, start_photos, stop)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    commands_free(&commands);
    return failed;
}
