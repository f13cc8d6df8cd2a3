/* What is measured of a decoder over its texts: the factors on the scale give the surprise that the screen `stream` has
 * of the same text under the same edit, and what excites a unit is the largest of its activations there. */
#include "tests/core_session/asking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/graph/anatomy.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/neurons.h"

static const char MODEL[] = "tests/data/families/words_gpt2", TEXT[] = "3 4 5 9 2 7 11 4 5 9 2 6";
static char folder[64];
static const char *const FILES[] = {"config.json", "model.safetensors", "held.txt"};

static void path_in(char out[96], const char *name)
{
    snprintf(out, 96, "%s/%s", folder, name);
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_texts.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < 3; i++) {
        char from[96], to[96];
        Buf b = {0};
        Err err = {{0}};
        snprintf(from, sizeof from, "%s/%s", MODEL, FILES[i]);
        path_in(to, FILES[i]);
        bool ok = i < 2 ? file_read(from, 1 << 24, &b, &err) : true;
        if (i == 2)
            buf_puts(&b, TEXT);
        ok = ok && file_write(to, buf_str(&b), b.len, &err);
        buf_free(&b);
        if (!ok)
            return -1;
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char path[96];
        path_in(path, FILES[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static int open_with(const char *model, const char *texts, Err *err)
{
    const ModelWish wish = {.texts = texts};
    char input[80];
    snprintf(input, sizeof input, "ids:%s", TEXT);
    if (!session_init_as(&s, model, wish, input, 2, NULL, NULL, err))
        return -1;
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

static int start_texts(void **state)
{
    (void)state;
    Err err = {{0}};
    if (open_with(folder, NULL, &err))
        fail_msg("%s", err.text);
    return 0;
}

/* The mean that the screen `stream` has of this text, as it is edited now. */
static float stream_mean(void)
{
    Err err = {{0}};
    const float *x = session_need(&s, SIDE_B, site_path_any(session_graph(&s, SIDE_B), SITE_SURPRISE_MEAN), &err);
    assert_non_null(x);
    return *x;
}

static void factors_surprise_as_on_the_screen(void **state)
{
    (void)state;
    Err err = {{0}};
    const char *why;
    assert_null(session_measure(&s, MEASURE_SCALE, &why)); /* nothing before it was measured */
    assert_null(why);
    assert_true(session_measure_all(&s, MEASURE_SCALE, 1, &err));
    const Measure *m = session_measure(&s, MEASURE_SCALE, &why);
    assert_non_null(m);
    assert_int_equal(m->pictures, 1);
    assert_int_equal(m->tokens, 11);
    assert_true(fabsf(m->base - stream_mean()) < 1e-5F);
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        char line[64];
        snprintf(line, sizeof line, "set scale x%.9g", (double)measures_factor(&s, i));
        run(line);
        const float now = stream_mean();
        assert_true(fabsf(m->value[i] - now) < 1e-5F);
        assert_true(fabs(m->more[i].mean - (m->nats[i].mean - m->base_nats.mean)) < 1e-9);
        assert_true(i == MEASURES_FACTORS / 2 || fabsf(now - m->base) > 0);
        run("undo");
    }
}

/* The census of a decoder: without each head the text surprises as it does with that head's z set to 0. */
static void heads_surprise_as_on_the_screen(void **state)
{
    (void)state;
    Err err = {{0}};
    assert_true(session_measure_all(&s, MEASURE_CENSUS, 1, &err));
    const Measure *m = session_measure(&s, MEASURE_CENSUS, NULL);
    assert_non_null(m);
    assert_non_null(m->nats);
    assert_true(m->rows == 2 && m->cols == 2 && m->pictures == 1 && m->tokens == 11 && m->whole);
    assert_true(fabsf(m->base - stream_mean()) < 1e-5F);
    for (int i = 0; i < m->rows * m->cols; i++) {
        char line[64];
        snprintf(line, sizeof line, "ablate decoder.blocks.%d.self_attn.z[h=%d]", i / m->cols, i % m->cols);
        run(line);
        const float now = stream_mean();
        assert_true(fabsf(m->value[i] - now) < 1e-5F);
        assert_true(fabs(m->more[i].mean - ((double)now - (double)m->base)) < 2e-5 && fabsf(now - m->base) > 0);
        assert_false(measure_more_differs(m, i)); /* one window has no interval */
        run("undo");
    }
    run("census; attention 1; head 1; say");
    assert_non_null(strstr(buf_str(&s.said), "Without head 1 of dec 1 self its texts surprise by "));
    assert_non_null(strstr(buf_str(&s.said), "too few for an interval"));
    assert_null(strstr(buf_str(&s.said), "±"));
}

static void a_unit_is_excited_by_tokens(void **state)
{
    (void)state;
    Err err = {{0}};
    assert_true(session_measure_neurons(&s, &err));
    run("neuron 1.3");
    assert_true(session_measure_neurons(&s, &err));
    int part, unit;
    assert_true(neuron_here(&s, &part, &unit));
    const NeuronShown *n = session_neuron(&s, NULL);
    const Graph *g = session_graph(&s, SIDE_B);
    NodeId post = session_node(&s, SIDE_B, neuron_path(&s, SIDE_B, SITE_MLP_POST));
    const float *x = session_need(&s, SIDE_B, graph_node(g, post)->path, &err);
    const int units = (int)(graph_cells(g, post) / 12);
    int best = 0;
    for (int t = 1; t < 12; t++)
        best = x[t * units + unit] > x[best * units + unit] ? t : best;
    assert_int_equal(unit, 3);
    if (x[best * units + unit] > 0) {
        assert_non_null(n);
        assert_int_equal(n->count, 1);
        assert_int_equal(n->hit[0].token, best);
        assert_true(fabsf(n->hit[0].value - x[best * units + unit]) < 1e-6F);
        assert_int_equal(neuron_words(n, 0), 12);
        Buf piece = {0};
        neuron_piece(n, 0, 3, &piece);
        assert_string_equal(buf_str(&piece), " w9");
        buf_free(&piece);
    } else
        assert_null(n);
}

/* Without texts that is said; what is named has to be there, and the model to write. */
static void where_texts_come_from(void **state)
{
    (void)state;
    Err err = {{0}};
    const char *why = NULL;
    char held[96];
    path_in(held, "held.txt");
    assert_string_equal(s.texts, held);
    session_free(&s);
    assert_int_equal(open_with(MODEL, NULL, &err), 0);
    assert_null(session_measure(&s, MEASURE_SCALE, &why));
    assert_non_null(strstr(why, "--text"));
    assert_null(session_neuron(&s, &why));
    assert_non_null(strstr(why, "--text"));
    session_free(&s);
    assert_int_equal(open_with(MODEL, held, &err), 0);
    session_measure(&s, MEASURE_SCALE, &why);
    assert_null(why);
    session_free(&s);
    assert_int_equal(open_with(MODEL, "none.txt", &err), -1);
    assert_non_null(strstr(err.text, "none.txt"));
    session_free(&s);
    assert_int_equal(open_with("tests/data/families/words_bert", held, &err), -1);
    assert_non_null(strstr(err.text, "--text"));
    session_free(&s);
    FILE *f = fopen(held, "w"); /* words that the model has not: said where the figures would stand */
    assert_non_null(f);
    fputs("3 4 900", f);
    fclose(f);
    assert_int_equal(open_with(folder, NULL, &err), 0);
    assert_false(session_measure_all(&s, MEASURE_SCALE, 1, &err));
    assert_non_null(strstr(err.text, "held.txt"));
    assert_false(session_measure_neurons(&s, &err));
    assert_non_null(strstr(err.text, "held.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(factors_surprise_as_on_the_screen, start_texts,
                                                                       stop),
                                       cmocka_unit_test_setup_teardown(heads_surprise_as_on_the_screen, start_texts,
                                                                       stop),
                                       cmocka_unit_test_setup_teardown(a_unit_is_excited_by_tokens, start_texts, stop),
                                       cmocka_unit_test_setup_teardown(where_texts_come_from, start_texts, stop)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
