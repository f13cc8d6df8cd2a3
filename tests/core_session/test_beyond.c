/* A picture whose sides are no whole number of patches, as SigLIP's of 384 in patches of 14: what is left on the right
 * and below is dropped, wherever a picture comes from. A tiny SigLIP of 3 × 3 patches is told that its pictures have
 * two pixels more. */
#include "core/base/file.h"
#include "core/diff/diff_reference.h"
#include "core/session/ask/ask_parts.h"
#include "tests/core_models/oracle.h"
#include "tests/core_session/asking.h"

enum { SIDE = 12, WIDE = 14, CHANNELS = 3 };
static char folder[200], recorded[300];

/* The family's file, every 12 in it a 14. */
static void copy(const char *name, bool wider)
{
    Buf text = {0};
    Err err = {""};
    char path[300];
    snprintf(path, sizeof path, "tests/data/families/siglip/%s", name);
    if (!file_read(path, 1 << 20, &text, &err))
        fail_msg("%s", err.text);
    char *data = text.data;
    for (char *at = data; wider && (at = strstr(at, "12")); at += 2)
        at[1] = '4';
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!file_write(path, text.data, text.len, &err))
        fail_msg("%s", err.text);
    buf_free(&text);
}

static float at(int picture, int c, int y, int x)
{
    return (float)(picture + 1) * (0.01f * (float)(y * WIDE + x) - 0.3f * (float)c);
}

/* Two pictures, channels first and last, one of them as large as the patches are. */
static void write_values(void)
{
    static float first[2 * CHANNELS * WIDE * WIDE], last[2 * WIDE * WIDE * CHANNELS], small[CHANNELS * SIDE * SIDE];
    Err err = {""};
    for (int p = 0; p < 2; p++)
        for (int c = 0; c < CHANNELS; c++)
            for (int y = 0; y < WIDE; y++)
                for (int x = 0; x < WIDE; x++) {
                    first[((p * CHANNELS + c) * WIDE + y) * WIDE + x] = at(p, c, y, x);
                    last[((p * WIDE + y) * WIDE + x) * CHANNELS + c] = at(p, c, y, x);
                    if (p == 1 && y < SIDE && x < SIDE)
                        small[(c * SIDE + y) * SIDE + x] = at(p, c, y, x);
                }
    const TensorOut out[] = {{.name = "pixel_values", .rank = 4, .shape = {2, CHANNELS, WIDE, WIDE}, .data = first},
                             {.name = "last", .rank = 4, .shape = {2, WIDE, WIDE, CHANNELS}, .data = last},
                             {.name = "small", .rank = 3, .shape = {CHANNELS, SIDE, SIDE}, .data = small}};
    snprintf(recorded, sizeof recorded, "%s/values.safetensors", folder);
    if (!tensors_write(recorded, TF_SAFETENSORS, out, 3, NULL, &err))
        fail_msg("%s", err.text);
}

static int wider(void **state)
{
    (void)state;
    Err err = {""};
    scratch_dir(folder, sizeof folder, "beyond");
    copy("model.safetensors", false);
    copy("config.json", true);
    copy("preprocessor_config.json", true);
    write_values();
    session_free(&s);
    return session_init_as(&s, folder, (ModelWish){.resolution = NULL}, "#17", 1, NULL, NULL, &err) ? 0 : -1;
}

static void is_said(void **state)
{
    (void)state;
    char text[200];
    assert_int_equal(s.model.vit.image_h, SIDE);
    assert_int_equal(s.model.preprocess.beyond_w, WIDE - SIDE);
    bool said = false;
    for (int i = 0; i < s.model.assumption_count; i++)
        said = said || strstr(s.model.assumptions[i], "of the 14 × 14 pixels 12 × 12 fill patches of 4 × 4");
    assert_true(said);
    has(preprocess_text(&s.model.preprocess, text, sizeof text), "of which 12 × 12 fill patches");
}

static void a_picture(void **state)
{
    (void)state;
    Image in, resized;
    Err err = {""};
    float pixels[CHANNELS * SIDE * SIDE];
    const Preprocess *p = &s.model.preprocess;
    image_init(&in, WIDE, WIDE, CHANNELS);
    for (int i = 0; i < WIDE * WIDE * CHANNELS; i++)
        in.data[i] = (uint8_t)(i * 7);
    assert_true(preprocess_run(p, &in, &resized, pixels, &err));
    for (int c = 0; c < CHANNELS; c++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                SourceRect r = preprocess_source(p, WIDE, WIDE, x, y);
                assert_true(pixels[(c * SIDE + y) * SIDE + x] == (float)in.data[(y * WIDE + x) * CHANNELS + c]);
                assert_true(r.x0 == x && r.x1 == x + 1 && r.y0 == y && r.y1 == y + 1);
            }
    image_free(&in);
    image_free(&resized);
}

static void opens(const char *tensor)
{
    Err err = {""};
    char spec[400];
    snprintf(spec, sizeof spec, "%s:%s", recorded, tensor);
    if (!session_open_input(&s, spec, &err))
        fail_msg("%s", err.text);
    const float *x = session_input(&s, SIDE_B)->values;
    for (int i = 0; i < CHANNELS * SIDE * SIDE; i++)
        assert_true(x[i] == at(1, i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE));
}

static void ready_values(void **state)
{
    (void)state;
    Err err = {""};
    char spec[400];
    opens("small");
    opens("pixel_values[1]");
    opens("last[1]");
    snprintf(spec, sizeof spec, "%s:pixel_values[2]", recorded);
    assert_false(session_open_input(&s, spec, &err));
    has(err.text, "holds 2 pictures");
}

static void recorded_values(void **state)
{
    (void)state;
    DiffMap map = {.item = 1, .picture = &s.model.preprocess};
    DiffReference r;
    DiffInput found;
    Arena arena = {0};
    Err err = {""};
    const Graph *g = session_graph(&s, SIDE_B);
    NodeId image = graph_find(g, "image");
    if (!diff_reference_open(&r, recorded, &map, g, &err) ||
        !diff_reference_input(recorded, &map, g, image, &arena, &found, &err))
        fail_msg("%s", err.text);
    assert_string_equal(found.name, "pixel_values");
    assert_int_equal(found.batch, 2);
    const DiffTensor *t = diff_reference_find(&r, image);
    assert_non_null(t);
    const int patch = SIDE / 3, grid = 3; /* c, y, i, x, j: memory order is channel, row, column */
    for (int i = 0; i < CHANNELS * SIDE * SIDE; i++)
        assert_true(t->values[i] == at(1, i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE));
    assert_int_equal(graph_cells(g, image), CHANNELS * grid * patch * grid * patch);
    diff_reference_free(&r);
    map.picture = NULL; /* a model whose pictures have nothing beyond */
    assert_false(diff_reference_open(&r, recorded, &map, g, &err));
    arena_free(&arena);
}

static int end(void **state)
{
    (void)state;
    session_free(&s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_said),
        cmocka_unit_test(a_picture),
        cmocka_unit_test(ready_values),
        cmocka_unit_test(recorded_values),
    };
    return cmocka_run_group_tests_name("beyond", tests, wider, end);
}
