/* What is measured over many pictures, for the screens: the same numbers as the session's own runs, kept and dropped
 * when they must be. */
#include "tests/core_session/asking.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/eval/evaluation.h"
#include "core/io/tensors.h"
#include "core/session/learned/measures.h"
#include "core/session/screens/heads.h"
#include "core/train/trainer.h"

/* One small trained model for all tests: folders and files in a place of its own. */
static char folder[64];

static void make_models(void)
{
    char path[128];
    VitConfig c = model_bundled_config();
    Recipe r = PICTURES_TASK.recipe(30);
    Err err = {""};
    snprintf(folder, sizeof folder, "/tmp/test_study.XXXXXX");
    assert_non_null(mkdtemp(folder));
    c.image_h = c.image_w = 24;
    c.layers = 2;
    c.heads = 2;
    c.width = c.mlp = 16;
    c.head_dim = 8;
    c.scale = vit_scale(8);
    r.batch = 8;
    r.guess_weight = 0;
    c.mask_token = c.reconstruct = false;
    Preprocess p = preprocess_default(&c);
    Pictures *pictures = pictures_drawn(&p, r.seed);
    c.classes = pictures_classes(pictures);
    for (int twin = 0; twin < 2; twin++) {
        Pool *pool = pool_new(2);
        c.scale = twin ? 1 : vit_scale(8);
        Trainer *t = trainer_new(&r, &c, pictures, pool);
        while (!trainer_done(t))
            trainer_step(t);
        snprintf(path, sizeof path, "%s%s", folder, twin ? "/twin" : "");
        assert_true(!twin || mkdir(path, 0777) == 0);
        if (!trainer_write(t, path, &err))
            fail_msg("%s", err.text);
        trainer_free(t);
        pool_free(pool);
    }
    pictures_free(pictures);
}

/* More than one round, so that they are put together. */
enum { ROUNDS = 2 * MEASURES_ROUND };

static int start_trained(void **state)
{
    (void)state;
    Err err = {""};
    if (!session_init(&s, folder, NULL, 2, NULL, NULL, &err))
        fail_msg("%s", err.text);
    s.look.pictures = ROUNDS;
    commands_free(&commands);
    commands = session_command_set();
    return 0;
}

/* pictures: so many at least; 0: all that is ever measured. */
static const Measure *measured(MeasureKind kind, size_t pictures)
{
    Err err = {""};
    if (!session_measure_all(&s, kind, pictures ? pictures : kind == MEASURE_OCCLUSION ? 1 : ROUNDS, &err))
        fail_msg("%s", err.text);
    const char *why = "unset";
    const Measure *m = session_measure(&s, kind, &why);
    assert_non_null(m);
    assert_null(why);
    assert_true(m->whole);
    if (!pictures)
        assert_int_equal(m->done, m->total);
    return m;
}

/* --- occlusion: what the command `grey` gives, patch by patch --- */

static void occlusion_is_grey(void **state)
{
    (void)state;
    Err err = {""};
    char line[64];
    run("ablate blocks.0.attn.z[h=1]");
    run("swap r0c0 r2c2");
    const Measure *m = measured(MEASURE_OCCLUSION, 0);
    assert_int_equal(m->rows, 4);
    assert_int_equal(m->cols, 4);
    assert_int_equal(m->pictures, 1);
    float value[16], base = m->base;
    int answer = m->answer;
    memcpy(value, m->value, sizeof value);
    const float *logits = session_need(&s, SIDE_B, "logits", &err);
    assert_memory_equal(&logits[answer], &base, sizeof base);
    for (int o = 0; o < s.model.vit.classes; o++)
        assert_true(logits[o] <= base);
    for (int p = 0; p < 16; p += 5) {
        snprintf(line, sizeof line, "grey r%dc%d", p / 4, p % 4);
        run(line);
        assert_null(session_measure(&s, MEASURE_OCCLUSION, NULL));
        assert_memory_equal(session_need(&s, SIDE_B, "logits", &err) + answer, &value[p], sizeof *value);
        run("undo");
    }
    assert_null(session_measure(&s, MEASURE_OCCLUSION, NULL));
}

/* A copy of what is measured: [rows · cols] on the heap. */
static float *copy_of(const Measure *m)
{
    size_t cells = (size_t)m->rows * (size_t)m->cols;
    float *x = xfloats(cells);
    memcpy(x, m->value, cells * sizeof *x);
    return x;
}

/* A's map beside an edit, measured there, is cell for cell the one of the same picture that nobody edited; so is that
 * of an A that is pinned, edits and all. */
static void occlusion_of_a(void **state)
{
    (void)state;
    static const struct {
        const char *first, *then;
    } WHAT[] = {{NULL, "ablate blocks.0.attn.z[h=1]"}, {NULL, "grey r1c1"}, {"swap r0c0 r2c2", "pin; open #18"}};
    Err err = {""};
    char lines[64];
    for (size_t i = 0; i < sizeof WHAT / sizeof *WHAT; i++) {
        if (WHAT[i].first)
            run(WHAT[i].first);
        snprintf(lines, sizeof lines, "%s", WHAT[i].then);
        for (char *line = strtok(lines, ";"); line; line = strtok(NULL, ";"))
            run(line + strspn(line, " "));
        const Measure *a = measured(MEASURE_OCCLUSION_A, 1);
        const float base = a->base;
        const size_t bytes = (size_t)a->rows * (size_t)a->cols * sizeof(float);
        float *of_a = copy_of(a), *of_b = copy_of(measured(MEASURE_OCCLUSION, 0));
        assert_memory_not_equal(of_a, of_b, bytes);
        assert_true(session_open_model(&s, folder, &err)); /* drops all that was measured, edits and what is pinned */
        assert_true(session_open_input(&s, "#17", &err));
        assert_false(session_compares(&s));
        if (WHAT[i].first)
            run(WHAT[i].first);
        const Measure *alone = measured(MEASURE_OCCLUSION, 0);
        assert_memory_equal(&alone->base, &base, sizeof base);
        assert_memory_equal(alone->value, of_a, bytes);
        free(of_a);
        free(of_b);
        run("reset edits");
    }
}

/* What was measured before an edit is A's behind it and B's when it is undone: nothing is measured twice. */
static void occlusion_changes_hands(void **state)
{
    (void)state;
    Err err = {""};
    const char *why = NULL;
    assert_null(session_measure(&s, MEASURE_OCCLUSION_A, &why)); /* there is no A */
    assert_non_null(why);
    assert_false(session_measure_all(&s, MEASURE_OCCLUSION_A, 1, &err));
    const float *trained = measured(MEASURE_OCCLUSION, 0)->value;
    run("ablate blocks.0.attn.z[h=0]");
    const float *edited = measured(MEASURE_OCCLUSION, 0)->value;
    assert_ptr_equal(measured(MEASURE_OCCLUSION_A, 1)->value, trained);
    assert_ptr_not_equal(edited, trained);
    run("ablate blocks.0.attn.z[h=1]"); /* of another B; A is as it was */
    assert_ptr_equal(measured(MEASURE_OCCLUSION_A, 1)->value, trained);
    run("where occlusion"); /* gradients are added: the run is the same */
    assert_ptr_equal(measured(MEASURE_OCCLUSION_A, 1)->value, trained);
    run("undo");
    run("undo");
    assert_ptr_equal(measured(MEASURE_OCCLUSION, 0)->value, trained);
    run("pin"); /* A and B are the same: so is the map */
    assert_ptr_equal(measured(MEASURE_OCCLUSION_A, 1)->value, trained);
    assert_ptr_equal(measured(MEASURE_OCCLUSION, 0)->value, trained);
    assert_true(session_open_input(&s, "#18", &err));
    assert_ptr_equal(measured(MEASURE_OCCLUSION_A, 1)->value, trained);
    assert_ptr_not_equal(measured(MEASURE_OCCLUSION, 0)->value, trained);
}

/* Only what is on show is measured, B first, and the share that is done is that of all of it. */
static void occlusion_of_what_is_on_show(void **state)
{
    (void)state;
    size_t done, total, before = 0, passes = 0;
    run("ablate blocks.0.attn.z[h=0]");
    run("where occlusion");
    run("compare b");
    while (!session_step(&s, NULL, 0, CLOCK_NEVER))
        continue;
    assert_true(session_measure(&s, MEASURE_OCCLUSION, NULL)->whole);
    assert_null(session_measure(&s, MEASURE_OCCLUSION_A, NULL));
    run("ablate blocks.0.attn.z[h=1]");
    run("compare sides");
    while (!session_step_pass(&s, NULL, 0, CLOCK_NEVER))
        continue;
    while (!measures_step(&s, 0)) {
        const Measure *a = session_measure(&s, MEASURE_OCCLUSION_A, NULL),
                      *b = session_measure(&s, MEASURE_OCCLUSION, NULL);
        assert_true(a && b && (b->whole || !a->done));
        assert_true(measures_progress(&s, &done, &total));
        assert_true(total == a->total + b->total && done == a->done + b->done && done >= before);
        before = done;
        passes++;
    }
    assert_true(passes > 4 && session_measure(&s, MEASURE_OCCLUSION_A, NULL)->whole);
    assert_false(measures_progress(&s, &done, &total));
}

static void occlusion_of_ready_values(void **state)
{
    (void)state;
    Err err = {""};
    char path[128], input[160];
    VitConfig c = s.model.vit;
    size_t cells = (size_t)c.image_h * (size_t)c.image_w * (size_t)c.channels;
    float *values = xfloats(cells);
    for (size_t i = 0; i < cells; i++)
        values[i] = (float)(i % 11) / 5 - 1;
    snprintf(path, sizeof path, "%s/ready.safetensors", folder);
    TensorOut out = {.name = "x",
                     .rank = 3,
                     .shape = {(size_t)c.channels, (size_t)c.image_h, (size_t)c.image_w},
                     .data = values};
    assert_true(tensors_write(path, TF_SAFETENSORS, &out, 1, NULL, &err));
    snprintf(input, sizeof input, "%s:x", path);
    assert_true(session_open_input(&s, input, &err));
    float third = measured(MEASURE_OCCLUSION, 0)->value[3];
    int answer = measured(MEASURE_OCCLUSION, 0)->answer;
    run("grey r0c3");
    assert_memory_equal(session_need(&s, SIDE_B, "logits", &err) + answer, &third, sizeof third);
    unlink(path);
    free(values);
}

/* --- over many pictures --- */

/* Share of the study's pictures that an exam of these edit lines, held for itself, names right. */
static double share_with(Ablation r, bool other, size_t pictures)
{
    Arena arena = {0};
    Edits edits;
    Err err = {""};
    Pictures *drawn = pictures_drawn(&s.model.preprocess, 7);
    Dataset *dataset = dataset_new(drawn, &s.model, PICTURES_HELD_OUT, 0, pictures);
    assert_true(ablation_edits(&arena, session_base(&s), r, &edits));
    AccuracySetup setup = {.model = &s.model,
                           .edits = edits.edit,
                           .edit_count = edits.count,
                           .graph = session_base(&s),
                           .dataset = dataset,
                           .other = other};
    Accuracy *e = accuracy_new(&setup, &err);
    assert_non_null(e);
    assert_true(accuracy_step(e, CLOCK_NEVER));
    double share = other ? accuracy_share_other(accuracy_result(e)) : accuracy_share(accuracy_result(e));
    accuracy_free(e);
    dataset_free(dataset);
    pictures_free(drawn);
    arena_free(&arena);
    return share;
}

static void same_share(float have, double want)
{
    if (!(fabs((double)have - want) < 1e-6))
        fail_msg("measured %g, should be %g", (double)have, want);
}

/* What was lost is lost against the model as it is, in every cell. */
static void paired_with_the_base(const Measure *m)
{
    for (int i = 0; i < m->rows * m->cols; i++)
        same_share((float)paired_lost(m->pair[i]), (double)m->base - (double)m->value[i]);
}

static void census(void **state)
{
    (void)state;
    const Measure *m = measured(MEASURE_CENSUS, ROUNDS);
    assert_int_equal(m->rows, 2);
    assert_int_equal(m->cols, 2);
    assert_int_equal(m->pictures, ROUNDS);
    assert_int_equal(m->total, 5 * ROUNDS);
    same_share(m->base, share_with((Ablation){.kind = ABLATION_NONE}, false, ROUNDS));
    same_share(m->value[1], share_with((Ablation){.kind = ABLATION_HEAD, .layer = 0, .head = 1}, false, ROUNDS));
    same_share(m->value[2], share_with((Ablation){.kind = ABLATION_HEAD, .layer = 1, .head = 0}, false, ROUNDS));
    paired_with_the_base(m);
}

static void scale(void **state)
{
    (void)state;
    const Measure *m = measured(MEASURE_SCALE, ROUNDS);
    assert_int_equal(m->cols, MEASURES_FACTORS);
    assert_memory_equal(&m->value[MEASURES_FACTORS / 2], &m->base, sizeof m->base);
    same_share(m->base, share_with((Ablation){.kind = ABLATION_NONE}, false, ROUNDS));
    same_share(m->value[0], share_with((Ablation){.kind = ABLATION_SCALE, .factor = 0.125f}, false, ROUNDS));
    same_share(m->value[10], share_with((Ablation){.kind = ABLATION_SCALE, .factor = 8}, false, ROUNDS));
    paired_with_the_base(m);
}

static void readout(void **state)
{
    (void)state;
    s.look.pictures = MEASURES_ROUND;
    assert_int_equal(measured(MEASURE_READOUT, 0)->pictures, MEASURES_ROUND);
    s.look.pictures = ROUNDS; /* goes on where it was */
    const Measure *m = measured(MEASURE_READOUT, 0);
    assert_int_equal(m->pictures, ROUNDS);
    same_share(m->base, share_with((Ablation){.kind = ABLATION_NONE}, false, ROUNDS));
    assert_memory_equal(&m->value[0], &m->base, sizeof m->base);
    same_share(m->value[1], share_with((Ablation){.kind = ABLATION_NONE}, true, ROUNDS));
}

/* Ascending, 1 in the middle, no scale among them, whatever the model's scale is. */
static void factors(void **state)
{
    (void)state;
    static const float SCALES[] = {1, 0.5f, 0.25f, 0.125f, 0.3f, 0.01f, 2, 40, 0, -1};
    float *scale = (float *)(uintptr_t)graph_node(session_base(&s), graph_find(session_base(&s), "blocks.0.attn.scale"))
                       ->leaf.data,
          was = *scale;
    for (size_t k = 0; k < sizeof SCALES / sizeof *SCALES; k++) {
        bool off = false;
        *scale = SCALES[k];
        for (int i = 0; i < MEASURES_FACTORS; i++) {
            assert_true(i == 0 || measures_factor(&s, i) > measures_factor(&s, i - 1));
            off = off || fabsf(measures_factor(&s, i) * SCALES[k] - 1) < 1e-6f;
        }
        assert_true(measures_factor(&s, MEASURES_FACTORS / 2) == 1.0f);
        assert_true(off || SCALES[k] <= 0);
    }
    *scale = was;
}

/* --- who drops what, and when it is worked on --- */

static void dropped_and_kept(void **state)
{
    (void)state;
    Err err = {""};
    measured(MEASURE_OCCLUSION, 0);
    const float *kept = measured(MEASURE_READOUT, 1)->value;
    run("ablate blocks.0.attn.z[h=0]");
    assert_null(session_measure(&s, MEASURE_OCCLUSION, NULL));
    assert_ptr_equal(session_measure(&s, MEASURE_READOUT, NULL)->value, kept);
    measured(MEASURE_OCCLUSION, 0);
    assert_true(session_open_input(&s, "#18", &err));
    assert_null(session_measure(&s, MEASURE_OCCLUSION, NULL));
    assert_non_null(session_measure(&s, MEASURE_READOUT, NULL));
    assert_true(session_open_model(&s, folder, &err));
    assert_null(session_measure(&s, MEASURE_READOUT, NULL));
    assert_null(session_measure(&s, MEASURE_OCCLUSION, NULL));
}

/* Only what is on screen is measured, a little at a time, and then nothing is left to do. */
static void while_its_screen_is_on(void **state)
{
    (void)state;
    while (!session_step(&s, NULL, 0, clock_ns() + 1000000))
        assert_null(session_measure(&s, MEASURE_CENSUS, NULL));
    run("census");
    assert_int_equal(s.place.screen, SCREEN_CENSUS);
    int slices = 0;
    bool unfinished = false;
    for (; !session_step(&s, NULL, 0, clock_ns() + 1000000); slices++) {
        const Measure *m = session_measure(&s, MEASURE_CENSUS, NULL);
        assert_false(session_busy(&s));
        assert_true(m && m->done < m->total);
        unfinished = unfinished || (!isnan(m->base) && isnan(m->value[3]));
    }
    assert_true(slices > 5 && unfinished);
    assert_true(session_measure(&s, MEASURE_CENSUS, NULL)->value[3] >= 0);
    assert_null(session_measure(&s, MEASURE_SCALE, NULL));
    uint64_t changes = s.changes;
    assert_true(session_step(&s, NULL, 0, clock_ns() + 1000000));
    assert_int_equal(s.changes, changes);
}

static void impossible(void **state)
{
    (void)state;
    const char *why = NULL;
    Err err = {""};
    s.model.drawn_shapes = false;
    assert_null(session_measure(&s, MEASURE_CENSUS, &why));
    assert_non_null(strstr(why, "no labelled pictures"));
    assert_false(session_measure_all(&s, MEASURE_SCALE, 1, &err));
    run("census");
    assert_true(session_step(&s, NULL, 0, CLOCK_NEVER));
    assert_null(session_measure(&s, MEASURE_CENSUS, NULL));
    s.model.drawn_shapes = true;
}

static bool refuse(void *context, const char *what, double share)
{
    (void)context;
    (void)what;
    (void)share;
    return false;
}

static void cancelled(void **state)
{
    (void)state;
    Err err = {""};
    s.progress = refuse;
    bool done = session_measure_all(&s, MEASURE_CENSUS, ROUNDS, &err);
    s.progress = NULL;
    assert_true(done || strcmp(err.text, "cancelled") == 0);
    measured(MEASURE_CENSUS, ROUNDS); /* goes on where it was */
}

/* A sentence on every head: not before it was measured, then with n, interval and base rate, as measured elsewhere. */
static void heads_in_sentences(void **state)
{
    (void)state;
    Err err = {""};
    Buf out = {0};
    head_words_put(&s, 1, 1, &out);
    assert_string_equal(buf_str(&out), "Block 1, head 1: where it looks is not measured yet (:heads measure). What "
                                       "is lost without it is not measured yet (:heads measure).");
    buf_clear(&out);
    s.progress = refuse; /* Ctrl-C: what is done is kept, and it goes on there */
    bool done = head_words_all(&s, &out, &err);
    s.progress = NULL;
    assert_true(done || strcmp(err.text, "cancelled") == 0);
    buf_clear(&out);
    run("heads measure");
    const HeadPlacesResult *r = session_head_places(&s);
    const Measure *m = session_measure(&s, MEASURE_CENSUS, NULL);
    assert_non_null(r);
    assert_non_null(m);
    assert_int_equal(r->inputs, MEASURES_ROUND);
    char want[160];
    int lines = 0;
    for (const char *p = buf_str(&s.said); *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != 0), lines++) {
        snprintf(want, sizeof want, "Block %d, head %d: looks %.1f ±%.1g pixels away (uniform: %.1f), at ", lines / 2,
                 lines % 2, r->distance[lines].mean, r->distance[lines].margin, r->uniform[lines / r->heads]);
        if (strncmp(p, want, strlen(want)) != 0)
            fail_msg("'%.200s' does not begin with '%s'", p, want);
        snprintf(want, sizeof want, "Without it accuracy falls by %.1f ±%.1f points from ",
                 100 * paired_lost(m->pair[lines]), 100 * paired_margin(m->pair[lines]));
        const char *lost = strstr(p, want);
        assert_true(lost && lost < p + strcspn(p, "\n"));
        assert_true(strstr(p, "over 500 held-out pictures, as trained.") < p + strcspn(p, "\n"));
    }
    assert_int_equal(lines, 4);
    run("heads");
    assert_true(ask_say(&s, SIDE_B, &out, &err));
    assert_non_null(strstr(buf_str(&out), "head 0: looks "));
    refused("heads nonsense", "expected measure");
    buf_free(&out);
}

/* --- the records of training --- */

static void histories(void **state)
{
    (void)state;
    assert_null(session_history(&s));
    run("training");
    const History *h = session_history(&s), *twin = session_history_twin(&s);
    assert_non_null(h);
    assert_non_null(twin);
    assert_null(session_history_problem(&s));
    assert_int_equal(h->snapshot[h->snapshot_count - 1].step, 30);
    const PositionGrid *g = session_history_grid(&s, false, h->snapshot_count - 1);
    assert_non_null(g);
    assert_true(g->rank >= -1 && g->rank <= 1 && g->near8 >= g->near4);
    assert_null(session_history_grid(&s, false, h->snapshot_count));
    assert_null(session_history_grid(&s, true, -1));
    /* the last snapshot is the model: its own probe says the same */
    Err err = {""};
    const float *rank = session_need(&s, SIDE_A, "pos.probe.rank_correlation", &err),
                *near4 = session_need(&s, SIDE_A, "pos.probe.share4", &err);
    assert_true(fabs((double)*rank - g->rank) < 1e-3);
    assert_true(fabs((double)*near4 - g->near4) < 1e-6);
    assert_ptr_equal(session_history_shown(&s), h);
    run("training twin");
    assert_ptr_equal(session_history_shown(&s), twin);
    assert_true(session_open_model(&s, NULL, &err));
    assert_null(session_history(&s));
}

static void broken_history(void **state)
{
    (void)state;
    char path[128];
    Err err = {""};
    snprintf(path, sizeof path, "%s/history.safetensors", folder);
    FILE *f = fopen(path, "wb");
    fputs("nonsense", f);
    fclose(f);
    assert_true(session_open_model(&s, folder, &err));
    run("training");
    assert_null(session_history(&s));
    assert_non_null(session_history_problem(&s));
    assert_non_null(strstr(session_history_problem(&s), "history.safetensors"));
    refused("training 2", "history.safetensors");
}

static void remove_models(void)
{
    static const char *const FILES[] = {"model.safetensors", "config.json", "preprocessor_config.json",
                                        "history.safetensors", "recipe.json"};
    char path[160];
    for (int twin = 1; twin >= 0; twin--) {
        for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
            snprintf(path, sizeof path, "%s%s/%s", folder, twin ? "/twin" : "", FILES[i]);
            unlink(path);
        }
        snprintf(path, sizeof path, "%s%s", folder, twin ? "/twin" : "");
        rmdir(path);
    }
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, start_trained, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(occlusion_is_grey),
        WITH(occlusion_of_a),
        WITH(occlusion_changes_hands),
        WITH(occlusion_of_what_is_on_show),
        WITH(occlusion_of_ready_values),
        WITH(census),
        WITH(scale),
        WITH(readout),
        WITH(factors),
        WITH(dropped_and_kept),
        WITH(while_its_screen_is_on),
        WITH(impossible),
        WITH(cancelled),
        WITH(heads_in_sentences),
        WITH(histories),
        WITH(broken_history),
    };
    make_models();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove_models();
    return failed;
}
