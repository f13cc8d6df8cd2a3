/* The model of photographs: which model opens what, what it says of pictures that it has not seen the like of, and that
 * the figures that are shipped about it fit together and fit the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assets/scenes.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/session/ask/ask.h"
#include "core/session/command.h"
#include "core/session/input.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/neurons.h"
#include "core/session/screens/confusion.h"

static void open_as(Session *s, const char *model, const char *input)
{
    Err err = {{0}};
    if (!session_init(s, model, input, 1, NULL, NULL, &err))
        fail_msg("%s", err.text);
}

static void does(Session *s, const char *line)
{
    Err err = {{0}};
    Commands all = session_command_set();
    if (!command_do(s, &all, line, LINE_OWN, &err))
        fail_msg("%s: %s", line, err.text);
    commands_free(&all);
}

/* A picture opens with the model of its kind, unless one was named or something was changed. */
static void pictures_choose_their_model(void **state)
{
    Session s;
    (void)state;
    open_as(&s, NULL, "#17");
    assert_string_equal(s.model_path, "");
    does(&s, "open #ship");
    assert_string_equal(s.model_path, "photos");
    assert_true(session_photos(&s));
    does(&s, "open #12");
    assert_string_equal(s.model_path, "");
    does(&s, "set scale off");
    does(&s, "open #ship");
    assert_string_equal(s.model_path, "");
    assert_string_equal(session_model_note(&s, (char[SESSION_NOTE]){0}),
                        "no drawn shape: it knows ten of those and nothing else; `model photos`");
    session_free(&s);
    open_as(&s, NULL, "#frog");
    assert_string_equal(s.model_path, "photos");
    session_free(&s);
    open_as(&s, "photos", NULL); /* with one of its scenes */
    assert_string_equal(session_input(&s, SIDE_B)->path, "#ship");
    session_free(&s);
    open_as(&s, "photos", "#17");
    assert_true(strstr(session_model_note(&s, (char[SESSION_NOTE]){0}), "this is drawn") != NULL);
    does(&s, "open #3");
    assert_string_equal(s.model_path, "photos");
    session_free(&s);
}

/* What counts in a warning stands before its colon, in the 18 cells that the answer has at 80x24. */
static void warnings_begin_with_what_counts(void **state)
{
    (void)state;
    static const char *const CASE[][2] = {{NULL, "open #ship"}, {"photos", "open #17"}, {"photos", "open #ship"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        Session s;
        open_as(&s, CASE[i][0], "#17");
        does(&s, "set scale off"); /* the model stays */
        does(&s, CASE[i][1]);
        const char *note = session_model_note(&s, (char[SESSION_NOTE]){0});
        if (!*note || strcspn(note, ":") > 18)
            fail_msg("%s: %s", CASE[i][1], note);
        session_free(&s);
    }
}

static void a_squeezed_picture_is_said_to_be(void **state)
{
    (void)state;
    Preprocess p = {.width = 32, .height = 32, .mode = RESIZE_SQUASH, .resize_w = 32, .resize_h = 32};
    assert_true(preprocess_squeezes(&p, 320, 240) && preprocess_squeezes(&p, 240, 320));
    assert_false(preprocess_squeezes(&p, 480, 480) || preprocess_squeezes(&p, 32, 32));
    p.mode = RESIZE_COVER; /* cut, not squeezed */
    assert_false(preprocess_squeezes(&p, 320, 240));
}

static double double_distance(Session *s)
{
    Err err = {{0}};
    char path[64];
    const ModelSeen *seen = &s->model.seen;
    size_t w = (size_t)s->model.vit.width, first = (size_t)vit_prefix(&s->model.vit),
           patches = (size_t)vit_patches(&s->model.vit);
    snprintf(path, sizeof path, "blocks.%d.resid_post", seen->block);
    const float *tokens = session_need(s, SIDE_B, path, &err);
    assert_non_null(tokens);
    double *x = calloc(w, sizeof *x), all = 0;
    assert_non_null(x);
    for (size_t d = 0; d < w; d++) {
        for (size_t p = 0; p < patches; p++)
            x[d] += (double)tokens[(first + p) * w + d] / (double)patches;
        x[d] -= (double)seen->mean[d];
    }
    for (size_t a = 0; a < w; a++) {
        double sum = 0;
        for (size_t b = 0; b < w; b++)
            sum += (double)seen->metric[a * w + b] * x[b];
        all += sum * sum;
    }
    free(x);
    return sqrt(all);
}

/* The distance in the trace is the one of the definition; the note goes by it. */
static void what_is_unlike_is_called_that(void **state)
{
    Session s;
    Err err = {{0}};
    (void)state;
    open_as(&s, "photos", "#cat");
    for (int i = 0; scene_name(i); i++) {
        char line[64];
        snprintf(line, sizeof line, "open #%s", scene_name(i));
        does(&s, line);
        const float *far = session_need(&s, SIDE_B, "seen.probe.distance", &err);
        assert_non_null(far);
        double want = double_distance(&s);
        assert_true(fabs((double)*far - want) < 1e-3 * want);
        assert_int_equal(strstr(session_model_note(&s, (char[SESSION_NOTE]){0}), "unlike") != NULL,
                         *far >= s.model.seen.limit);
        assert_true(strstr(session_model_note(&s, (char[SESSION_NOTE]){0}), "rendered") != NULL);
    }
    session_free(&s);
}

/* Beside a picture that is like them, too, stands that it takes one of ten names, and how far it is. */
static void what_is_like_them_is_one_of_ten(void **state)
{
    enum { SIDE = 32 };
    Session s;
    Err err = {{0}};
    char file[] = "sky.ppm", note[SESSION_NOTE], wanted[SESSION_NOTE];
    float far = 0;
    Buf b = {0};
    (void)state;
    buf_puts(&b, "P6\n32 32\n255\n");
    for (int i = 0; i < SIDE * SIDE; i++) { /* something dark across a sky */
        int y = i / SIDE - 17, x = i % SIDE - 16, in = 100 * x * x + 400 * y * y < 9000;
        buf_putc(&b, (char)(in ? 80 : 120 + 2 * (y + 17)));
        buf_putc(&b, (char)(in ? 60 : 150 + y + 17));
        buf_putc(&b, (char)(in ? 50 : 190));
    }
    assert_true(file_write(file, b.data, b.len, &err));
    buf_free(&b);
    open_as(&s, "photos", "#cat");
    does(&s, "open sky.ppm");
    unlink(file);
    assert_false(session_seen(&s, &far));
    assert_string_equal(session_model_note(&s, note), "one of ten names: whatever it sees");
    assert_non_null(session_need(&s, SIDE_B, "seen.probe.distance", &err));
    assert_true(session_seen(&s, &far) && far < s.model.seen.limit);
    snprintf(wanted, sizeof wanted, "one of ten names: distance %.1f, 95 %% of photos below %.1f", (double)far,
             (double)s.model.seen.limit);
    assert_string_equal(session_model_note(&s, note), wanted);
    does(&s, "view answer");
    assert_non_null(session_need(&s, SIDE_B, "probs", &err));
    assert_true(ask_say(&s, SIDE_B, &b, &err));
    assert_non_null(strstr(buf_str(&b), "Pictures of other things can pass too."));
    buf_free(&b);
    session_free(&s);
}

/* A change of the model makes no other picture: the note stays what it was, however far the changed run is. */
static void a_change_of_the_model_leaves_the_note(void **state)
{
    Session s;
    Err err = {{0}};
    int moved = 0;
    (void)state;
    open_as(&s, "photos", "#cat");
    for (int i = 0; scene_name(i); i++) {
        char line[64], note[160];
        snprintf(line, sizeof line, "open #%s", scene_name(i));
        does(&s, line);
        assert_non_null(session_need(&s, session_judged(&s), "seen.probe.distance", &err));
        snprintf(note, sizeof note, "%s", session_model_note(&s, (char[SESSION_NOTE]){0}));
        does(&s, "set scale off");
        const float *far = session_need(&s, SIDE_B, "seen.probe.distance", &err);
        assert_non_null(far);
        moved += (strstr(note, "unlike") != NULL) != (*far >= s.model.seen.limit);
        assert_string_equal(session_model_note(&s, (char[SESSION_NOTE]){0}), note);
        does(&s, "set scale on");
    }
    assert_true(moved > 0);
    session_free(&s);
}

/* Every figure is there, and those that count the same pictures agree. */
static void figures_agree(void **state)
{
    Session s;
    (void)state;
    open_as(&s, "photos", "#cat");
    const int blocks = s.model.vit.layers, heads = s.model.vit.heads;
    const size_t n = photos_pictures(), right = photos_figure(FIGURE_TRAINED, 0).right;
    size_t all = 0, diagonal = 0, sure = 0, sure_right = 0;
    assert_int_equal(s.model.vit.classes, PHOTOS_CLASSES);
    for (int i = 0; i < PHOTOS_CLASSES * PHOTOS_CLASSES; i++) {
        all += photos_confusion()[i];
        diagonal += i / PHOTOS_CLASSES == i % PHOTOS_CLASSES ? photos_confusion()[i] : 0;
    }
    for (int i = 0; i < ACCURACY_SURES; i++) {
        sure += photos_sure(i).pictures;
        sure_right += photos_sure(i).right;
    }
    assert_int_equal(all, n);
    assert_int_equal(diagonal, right);
    assert_int_equal(sure, n);
    assert_int_equal(sure_right, right);
    static const struct {
        FigureKind kind;
        int of_heads, of_blocks, more;
    } WANTED[] = {{FIGURE_SCALE_OFF, 0, 0, 1}, {FIGURE_POSITIONS, 0, 0, 1}, {FIGURE_HEAD, 1, 0, 0},
                  {FIGURE_ATTENTION, 0, 1, 0}, {FIGURE_MLP, 0, 1, 0},       {FIGURE_FACTOR, 0, 0, ABLATION_FACTORS},
                  {FIGURE_LENS, 0, 1, 1}};
    for (size_t k = 0; k < sizeof WANTED / sizeof *WANTED; k++) {
        int count = WANTED[k].of_heads * blocks * heads + WANTED[k].of_blocks * blocks + WANTED[k].more;
        for (int i = 0; i < count; i++) {
            Figure f = photos_figure(WANTED[k].kind, i);
            assert_int_equal(f.pair.n, n);
            if (WANTED[k].kind != FIGURE_LENS)
                assert_int_equal(f.right + f.pair.lost, right + f.pair.won);
        }
        assert_int_equal(photos_figure(WANTED[k].kind, count).pair.n, 0);
    }
    assert_int_equal(photos_figure(FIGURE_LENS, blocks).right, right);
    for (int i = 0; i < blocks * heads; i++)
        assert_true(photos_distance(i).mean > 0 && photos_distance(i).margin > 0 && photos_distance(i).margin < 1 &&
                    photos_entropy(i).mean > 0 && photos_entropy(i).mean <= 1 && photos_entropy(i).margin > 0);
    for (int i = 0; i < UNLIKE_COUNT; i++)
        assert_true(photos_unlike((PhotosUnlike)i).pictures > 0);
    session_free(&s);
}

/* Noise made here, not by who measured: about as many of it are called unlike as is stated. */
static void noise_is_caught_as_stated(void **state)
{
    enum { PICTURES = 40 };
    const AccuracySure stated = photos_unlike(UNLIKE_NOISE);
    Session s;
    Err err = {{0}};
    size_t far = 0;
    char file[] = "noise.ppm", head[] = "P6\n32 32\n255\n";
    (void)state;
    open_as(&s, "photos", "#cat");
    for (int i = 0; i < PICTURES; i++) {
        Rng r = rng_seed((uint64_t)i, 77);
        Buf b = {0};
        buf_puts(&b, head);
        for (int k = 0; k < 32 * 32 * 3; k++)
            buf_putc(&b, (char)rng_below(&r, 256));
        assert_true(file_write(file, b.data, b.len, &err));
        buf_free(&b);
        does(&s, "open noise.ppm");
        assert_non_null(session_need(&s, SIDE_B, "seen.probe.distance", &err));
        far += strstr(session_model_note(&s, (char[SESSION_NOTE]){0}), "unlike") != NULL;
    }
    unlink(file);
    const double p = (double)stated.right / (double)stated.pictures, q = (double)far / PICTURES;
    assert_true(fabs(p - q) < 0.3);
    session_free(&s);
}

/* The ten scenes as files, each in the folder of its class, and as many of noise. */
static void write_scenes(const char *folder)
{
    static const char head[] = "P6\n32 32\n255\n";
    for (int i = 0; scene_name(i); i++)
        for (int k = 0; k < 2; k++) {
            uint8_t pixels[SCENE_SIDE * SCENE_SIDE * 3];
            char path[200];
            Buf b = {0};
            Err err = {{0}};
            Rng r = rng_seed((uint64_t)i, 78);
            snprintf(path, sizeof path, "%s/%s", folder, scene_name(i));
            assert_true(k || mkdir(path, 0700) == 0);
            snprintf(path, sizeof path, "%s/%s/%s.ppm", folder, scene_name(i), k ? "noise" : scene_name(i));
            scene_render(i, pixels);
            for (size_t at = 0; k && at < sizeof pixels; at++)
                pixels[at] = (uint8_t)rng_below(&r, 256);
            buf_puts(&b, head);
            buf_add(&b, pixels, sizeof pixels);
            assert_true(file_write(path, b.data, b.len, &err));
            buf_free(&b);
        }
}

static void remove_scenes(const char *folder)
{
    for (int i = 0; scene_name(i); i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s/noise.ppm", folder, scene_name(i));
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/%s/%s.ppm", folder, scene_name(i), scene_name(i));
        assert_int_equal(unlink(path), 0);
        snprintf(path, sizeof path, "%s/%s", folder, scene_name(i));
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

/* Over a folder: all of it or the part that no training takes, and Enter opens the pictures of a cell. */
static void confusion_opens_a_folder(void **state)
{
    Session s;
    Confusion c;
    char folder[] = "/tmp/vitrine-confusion-XXXXXX", line[100];
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_scenes(folder);
    open_as(&s, "photos", "#cat");
    snprintf(line, sizeof line, "confusion %s", folder);
    does(&s, line);
    while (!measures_step_confusion(&s, INT64_MAX))
        ;
    assert_true(session_confusion(&s, &c, NULL) && c.opens && c.part && c.pictures == PHOTOS_CLASSES);
    snprintf(line, sizeof line, "confusion %s all", folder);
    does(&s, line);
    while (!measures_step_confusion(&s, INT64_MAX))
        ;
    assert_true(session_confusion(&s, &c, NULL) && c.opens && !c.part && c.pictures == 2 * PHOTOS_CLASSES);
    for (int of = 0; of < c.classes; of++)
        for (int named = 0; named < c.classes; named++) {
            char last[INPUT_PATH] = "";
            for (size_t k = 0; k < c.count[of * c.classes + named]; k++) {
                snprintf(line, sizeof line, "option class-of %d; option class-named %d; in", of, named);
                does(&s, line);
                assert_string_not_equal(s.now->input.path, last);
                snprintf(last, sizeof last, "%s", s.now->input.path);
                assert_non_null(strstr(last, scene_name(of)));
            }
        }
    session_free(&s);
    remove_scenes(folder);
}

/* Over drawn pictures: who is confused adds up. */
static void confusion_of_drawn_shapes(void **state)
{
    Session s;
    Confusion c;
    const char *why;
    (void)state;
    open_as(&s, NULL, "#17");
    while (!measures_step_confusion(&s, INT64_MAX))
        ;
    assert_true(session_confusion(&s, &c, &why));
    size_t all = 0, right = 0;
    for (int i = 0; i < c.classes; i++)
        for (int k = 0; k < c.classes; k++) {
            all += c.count[i * c.classes + k];
            right += i == k ? c.count[i * c.classes + k] : 0;
        }
    assert_int_equal(all, c.pictures);
    assert_int_equal(c.pictures, FIGURES_PICTURES);
    assert_int_equal(right, figures_get(FIGURE_TRAINED, 0).right);
    assert_null(session_confused(&s, 0, 0, NULL));
    session_free(&s);
}

/* No photograph is in the program: what excites a hidden unit is looked for among the scenes that are. */
static void neurons_see_the_scenes(void **state)
{
    (void)state;
    Session s;
    Err err = {{0}};
    char line[64];
    open_as(&s, "photos", "#ship");
    does(&s, "neuron 1.0");
    assert_true(session_measure_neurons(&s, &err));
    const NeuronShown *n = session_neuron(&s, NULL);
    assert_non_null(n);
    assert_in_range(n->count, 1, 10); /* a scene that does not excite it is not among them */
    for (int k = 0; k < n->count; k++)
        assert_true(n->hit[k].value > 0);
    assert_string_equal(neuron_over(&s), "rendered scenes");
    for (int k = 0; k < n->count; k += 3) { /* the number of that scene's own pass */
        const NeuronHit hit = n->hit[k];
        snprintf(line, sizeof line, "open #%s", s.model.class_names[n->label[k]]);
        does(&s, line);
        const char *path = neuron_path(&s, SIDE_B, SITE_MLP_POST);
        NodeId node = session_node(&s, SIDE_B, path);
        const float *x = run_need(session_run(&s, SIDE_B), node);
        size_t units =
            (size_t)session_graph(&s, SIDE_B)->axes[graph_node(session_graph(&s, SIDE_B), node)->dims.axis[1]].n;
        assert_true(x[(size_t)hit.token * units] == hit.value);
        assert_true(session_measure_neurons(&s, &err));
        n = session_neuron(&s, NULL);
        assert_non_null(n);
    }
    session_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_begin_with_what_counts),
        cmocka_unit_test(a_squeezed_picture_is_said_to_be),
        cmocka_unit_test(pictures_choose_their_model),
        cmocka_unit_test(what_is_unlike_is_called_that),
        cmocka_unit_test(what_is_like_them_is_one_of_ten),
        cmocka_unit_test(a_change_of_the_model_leaves_the_note),
        cmocka_unit_test(figures_agree),
        cmocka_unit_test(noise_is_caught_as_stated),
        cmocka_unit_test(confusion_opens_a_folder),
        cmocka_unit_test(confusion_of_drawn_shapes),
        cmocka_unit_test(neurons_see_the_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
