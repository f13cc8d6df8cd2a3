/* From a picture to what a model receives, and the drawn pictures. */
#include "tests/core_models/oracle.h"

#include "core/models/drawn.h"

static Image gradient(int w, int h, int channels)
{
    Image im;
    image_init(&im, w, h, channels);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < channels; c++)
                im.data[(y * w + x) * channels + c] = (uint8_t)(x * 3 + y * 5 + c * 40);
    return im;
}

static Preprocess from_hf(const char *json, VitConfig *c)
{
    Err err = {""};
    Json *j = json_parse("test", json, strlen(json), &err);
    Preprocess p = preprocess_default(c);
    assert_non_null(j);
    if (!preprocess_from_hf(j, &p, c, &err))
        fail_msg("%s", err.text);
    json_free(j);
    return p;
}

static Preprocess from_timm(const char *json, VitConfig *c)
{
    Err err = {""};
    Json *j = json_parse("test", json, strlen(json), &err);
    Preprocess p = preprocess_default(c);
    assert_non_null(j);
    if (!preprocess_from_timm(j, &p, c, &err))
        fail_msg("%s", err.text);
    json_free(j);
    return p;
}

/* The same by hand: resize to w × h, then cut at x, y. */
static void same_as(const Preprocess *p, const Image *in, int w, int h, int x, int y)
{
    Image converted, big, cut, got;
    Err err = {""};
    size_t n = (size_t)p->width * (size_t)p->height * (size_t)p->channels, plane = (size_t)p->width * (size_t)p->height;
    float *pixels = malloc(n * sizeof *pixels);
    image_init(&converted, in->width, in->height, in->channels);
    memcpy(converted.data, in->data, (size_t)in->width * (size_t)in->height * (size_t)in->channels);
    image_convert(&converted, p->channels);
    image_resize(&big, &converted, w, h, p->filter);
    image_crop(&cut, &big, x, y, p->width, p->height);
    assert_true(preprocess_run(p, in, &got, pixels, &err));
    assert_memory_equal(got.data, cut.data, n);
    for (size_t i = 0; i < n; i++)
        assert_true(pixels[i / (size_t)p->channels + i % (size_t)p->channels * plane] == (float)cut.data[i]);
    image_free(&converted);
    image_free(&big);
    image_free(&cut);
    image_free(&got);
    free(pixels);
}

static void hugging_face_vit(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Preprocess p = from_hf("{\"do_resize\": true, \"size\": {\"height\": 224, \"width\": 224}, \"resample\": 2, "
                           "\"image_mean\": [0.1, 0.2, 0.3]}",
                           &c);
    Image in = gradient(50, 31, 3);
    assert_int_equal(p.mode, RESIZE_SQUASH);
    assert_true(c.mean[2] == 0.3f && c.std[0] == 0.5f && c.range == 255.0f);
    same_as(&p, &in, 224, 224, 0, 0);
    p = from_hf("{\"size\": 96, \"resample\": 3, \"rescale_factor\": 0.00784313725490196}", &c);
    assert_int_equal(p.width, 96);
    assert_int_equal(p.filter, FILTER_BICUBIC);
    assert_true(c.range == 127.5f);
    same_as(&p, &in, 96, 96, 0, 0);
    image_free(&in);
}

static void hugging_face_deit(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Preprocess p = from_hf("{\"size\": {\"height\": 256, \"width\": 256}, \"do_center_crop\": true, \"crop_size\": "
                           "{\"height\": 224, \"width\": 224},"
                           " \"resample\": 3}",
                           &c);
    Image in = gradient(64, 48, 1);
    same_as(&p, &in, 256, 256, 16, 16);
    p = from_hf("{\"size\": {\"shortest_edge\": 256}, \"do_center_crop\": true, \"crop_size\": 224}", &c);
    same_as(&p, &in, 341, 256, 58, 16);
    /* the released DeiT models have a mere number, and their processor gives up proportions all the same */
    p = from_hf("{\"size\": 256, \"do_center_crop\": true, \"crop_size\": 224, \"feature_extractor_type\": "
                "\"DeiTFeatureExtractor\","
                " \"image_mean\": 0.25}",
                &c);
    assert_int_equal(p.mode, RESIZE_SQUASH);
    assert_true(c.mean[0] == 0.25f && c.mean[2] == 0.25f);
    same_as(&p, &in, 256, 256, 16, 16);
    p = from_hf("{\"size\": 256, \"do_center_crop\": true, \"crop_size\": 224, \"image_processor_type\": "
                "\"BitImageProcessor\"}",
                &c);
    same_as(&p, &in, 341, 256, 58, 16);
    char text[160];
    assert_non_null(strstr(preprocess_text(&p, text, sizeof text), "centre 224 × 224"));
    image_free(&in);
}

static void timm_centre_crop(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Preprocess p = from_timm(
        "{\"input_size\": [3, 224, 224], \"interpolation\": \"bicubic\", \"crop_pct\": 0.9, \"std\": [0.2, 0.3, 0.4]}",
        &c);
    Image wide = gradient(100, 50, 3), tall = gradient(50, 70, 3);
    assert_true(c.std[1] == 0.3f);
    same_as(&p, &wide, 496, 248, 136, 12);
    same_as(&p, &tall, 248, 347, 12, 62); /* 61.5 goes to the even 62 */
    p = from_timm("{\"input_size\": [3, 224, 224], \"crop_pct\": 1.0, \"crop_mode\": \"squash\", \"interpolation\": "
                  "\"bilinear\"}",
                  &c);
    same_as(&p, &wide, 224, 224, 0, 0);
    image_free(&wide);
    image_free(&tall);
}

static void grey_and_colour(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Image colour = gradient(20, 20, 3), grey = gradient(20, 20, 1), out;
    Err err = {""};
    c.channels = 1;
    Preprocess p = preprocess_default(&c);
    same_as(&p, &colour, 224, 224, 0, 0);
    p.channels = 3;
    same_as(&p, &grey, 224, 224, 0, 0);
    p.channels = 4;
    assert_false(preprocess_run(&p, &grey, &out, NULL, &err));
    assert_non_null(strstr(err.text, "4 channels"));
    image_free(&colour);
    image_free(&grey);
}

static void very_narrow(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Preprocess p = preprocess_default(&c);
    p.mode = RESIZE_COVER;
    Image line = gradient(16384, 1, 1), out;
    Err err = {""};
    assert_false(preprocess_run(&p, &line, &out, NULL, &err));
    assert_non_null(strstr(err.text, "1 × 16384"));
    image_free(&line);
}

static void source_rectangles(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Preprocess p = preprocess_default(&c);
    SourceRect r = preprocess_source(&p, 448, 112, 3, 4);
    assert_true(r.x0 == 6 && r.x1 == 8 && r.y0 == 2 && r.y1 == 2.5);
    p.mode = RESIZE_COVER;
    p.resize_w = p.resize_h = 256;
    r = preprocess_source(&p, 512, 256, 0, 0); /* 512 × 256, cut at 144, 16 */
    assert_true(r.x0 == 144 && r.y0 == 16 && r.x1 == 145 && r.y1 == 17);
    p.resize_w = p.resize_h = 100; /* smaller than the crop: a border without source */
    r = preprocess_source(&p, 100, 100, 0, 0);
    assert_true(r.x0 == 0 && r.x1 == 0);
}

static void shapes(void **state)
{
    (void)state;
    static uint8_t a[DRAWN_SIDE * DRAWN_SIDE * 3], b[sizeof a], mask[DRAWN_SIDE * DRAWN_SIDE];
    int seen[DRAWN_CLASSES] = {0};
    assert_int_equal(drawn_picture(17, a, mask), 5);
    assert_string_equal(SHAPES_NAMES[5], "star");
    for (uint64_t n = 0; n < 400; n++) {
        double inside = 0, outside = 0;
        int covered = 0, bare = 0;
        int label = drawn_picture(n, a, mask);
        assert_int_equal(label, drawn_label(n));
        assert_in_range(label, 0, DRAWN_CLASSES - 1);
        seen[label]++;
        for (int i = 0; i < DRAWN_SIDE * DRAWN_SIDE; i++) {
            double light = 0.30 * a[i * 3] + 0.59 * a[i * 3 + 1] + 0.11 * a[i * 3 + 2];
            if (mask[i] == 255)
                inside += light, covered++;
            else if (mask[i] == 0)
                outside += light, bare++;
        }
        assert_in_range(covered, 20, DRAWN_SIDE * DRAWN_SIDE / 2); /* a shape of visible size, inside the picture */
        assert_true(inside / covered > outside / bare);            /* brighter than its ground */
        drawn_picture(n, b, NULL);
        assert_memory_equal(a, b, sizeof a);
    }
    for (int k = 0; k < DRAWN_CLASSES; k++)
        assert_true(seen[k] >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hugging_face_vit), cmocka_unit_test(hugging_face_deit), cmocka_unit_test(timm_centre_crop),
        cmocka_unit_test(grey_and_colour),  cmocka_unit_test(very_narrow),       cmocka_unit_test(source_rectangles),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
