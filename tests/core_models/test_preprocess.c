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

static bool reads(PreprocessDialect d, const char *json, Preprocess *p, VitConfig *c, const char **strange, Err *err)
{
    static char key[80];
    Json *j = json_parse("test", json, strlen(json), err);
    assert_non_null(j);
    bool ok = preprocess_read(j, d, p, c, strange, err);
    if (*strange) {
        snprintf(key, sizeof key, "%s", *strange);
        *strange = key;
    }
    json_free(j);
    return ok;
}

static Preprocess from(PreprocessDialect d, const char *json, VitConfig *c)
{
    Err err = {""};
    const char *strange = NULL;
    Preprocess p = preprocess_default(c);
    if (!reads(d, json, &p, c, &strange, &err) || strange)
        fail_msg("%s%s", err.text, strange ? strange : "");
    return p;
}

static Preprocess from_hf(const char *json, VitConfig *c)
{
    return from(PREPROCESS_HF, json, c);
}

static Preprocess from_timm(const char *json, VitConfig *c)
{
    return from(PREPROCESS_TIMM, json, c);
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
    p = from_timm("{\"input_size\": [3, 224, 224]}", &c); /* timm's own default: 224 / 0.875 */
    same_as(&p, &wide, 512, 256, 144, 16);
    image_free(&wide);
    image_free(&tall);
}

/* Weights of the triangle that bilinear antialiasing is (torch's upsample with antialias, PIL's as well), by its
 * definition: around each output's centre, as wide as the picture shrinks. */
static double triangle(int in, int out, int i, int j)
{
    double scale = (double)in / out, wide = scale > 1 ? scale : 1, centre = (i + 0.5) * scale, sum = 0, own = 0;
    for (int k = 0; k < in; k++) {
        double far = fabs(k + 0.5 - centre) / wide, w = far < 1 ? 1 - far : 0;
        sum += w;
        own = k == j ? w : own;
    }
    return own / sum;
}

/* Hugging Face's DINOv3 rescales before it resizes: nothing is rounded to bytes. (transformers,
 * DINOv3ViTImageProcessor: rescale, resize with antialias, crop, normalise.) */
static void rescaled_first(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Preprocess p = from_hf("{\"image_processor_type\": \"DINOv3ViTImageProcessorFast\", \"size\": {\"height\": 6, "
                           "\"width\": 9}, \"resample\": 2, \"do_center_crop\": null, \"do_pad\": null, "
                           "\"disable_grouping\": null, \"default_to_square\": true}",
                           &c),
               bytes = from_hf("{\"image_processor_type\": \"ViTImageProcessorFast\", \"size\": {\"height\": 6, "
                               "\"width\": 9}, \"resample\": 2}",
                               &c);
    Image in = gradient(20, 14, 3), out;
    float exact[3 * 6 * 9], rounded[3 * 6 * 9];
    Err err = {""};
    double apart = 0;
    char text[160];
    assert_true(p.exact && !bytes.exact);
    assert_non_null(strstr(preprocess_text(&p, text, sizeof text), "not rounded"));
    assert_true(preprocess_run(&bytes, &in, &out, rounded, &err));
    image_free(&out);
    assert_true(preprocess_run(&p, &in, &out, exact, &err));
    for (int ch = 0; ch < 3; ch++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 9; x++) {
                double want = 0;
                for (int v = 0; v < 14; v++)
                    for (int u = 0; u < 20; u++)
                        want += triangle(14, 6, y, v) * triangle(20, 9, x, u) * in.data[(v * 20 + u) * 3 + ch];
                float got = exact[(ch * 6 + y) * 9 + x];
                assert_true(fabs((double)got - want) < 1e-4);
                assert_true(abs((int)out.data[(y * 9 + x) * 3 + ch] - (int)lrint(want)) <= 1);
                apart = fmax(apart, fabs((double)rounded[(ch * 6 + y) * 9 + x] - want));
            }
    assert_true(apart > 0.2); /* which is what bytes lose */
    image_free(&out);
    image_free(&in);
    p.width = p.height = 12; /* a border of the crop is 0 */
    float padded[3 * 12 * 12];
    in = gradient(20, 14, 3);
    assert_true(preprocess_run(&p, &in, &out, padded, &err));
    assert_true(padded[0] == 0 && padded[3 * 12 + 2] == exact[0] && padded[4 * 12 + 3] == exact[10]);
    image_free(&out);
    image_free(&in);
}

/* No filter's exact form is further from its bytes than they round, twice. */
static void exact_filters(void **state)
{
    (void)state;
    Image in = gradient(20, 14, 3), out;
    for (Filter f = FILTER_NEAREST; f <= FILTER_BOX; f = (Filter)(f + 1)) {
        float *exact = image_resize_exact(&in, 17, 24, f);
        image_resize(&out, &in, 17, 24, f);
        for (int i = 0; i < 17 * 24 * 3; i++)
            assert_true(fabs(fmin(255, fmax(0, (double)exact[i])) - out.data[i]) <= 1.5);
        image_free(&out);
        free(exact);
    }
    image_free(&in);
}

/* Every key is read, known to change no pixel, or refused: what the file says is never passed over. */
static void every_key(void **state)
{
    (void)state;
    static const struct {
        PreprocessDialect dialect;
        const char *json, *strange, *error; /* a key that is not known, or what is said of it */
    } cases[] = {
        {PREPROCESS_HF, "{\"crop_pct\": 0.875, \"size\": {\"shortest_edge\": 224}}", NULL,
         "\"crop_pct\" changes pixels"},
        {PREPROCESS_HF, "{\"do_flip_channel_order\": true}", NULL, "\"do_flip_channel_order\" changes pixels"},
        {PREPROCESS_HF, "{\"do_pad\": true}", NULL, "\"do_pad\" changes pixels"},
        {PREPROCESS_HF, "{\"do_grayscale\": true}", NULL, "\"do_grayscale\" changes pixels"},
        {PREPROCESS_HF, "{\"do_center_crop\": false, \"size\": {\"shortest_edge\": 224}}", NULL, "one size only"},
        {PREPROCESS_HF, "{\"do_center_crop\": null, \"size\": {\"shortest_edge\": 224}}", NULL, "one size only"},
        {PREPROCESS_HF, "{\"default_to_square\": false, \"do_center_crop\": false, \"size\": 224}", NULL,
         "one size only"},
        {PREPROCESS_HF, "{\"do_thumbnail\": true}", "do_thumbnail", NULL},
        {PREPROCESS_HF, "{\"size_divisor\": 32}", "size_divisor", NULL},
        {PREPROCESS_HF, "{\"image_processor_type\": \"LevitImageProcessor\"}", "image_processor_type", NULL},
        {PREPROCESS_HF, "{\"image_processor_type\": \"ViTSomething\"}", "image_processor_type", NULL},
        {PREPROCESS_HF, "{\"do_pad\": null, \"do_thumbnail\": false, \"nobodys\": null, \"crop_pct\": 0}", NULL, NULL},
        {PREPROCESS_HF, "{\"use_square_size\": false, \"use_fast\": false}", NULL, NULL},
        {PREPROCESS_HF, "{\"use_square_size\": true}", NULL, "\"use_square_size\" changes pixels"},
        {PREPROCESS_TIMM, "{\"description\": \"x\"}", NULL, NULL},
        {PREPROCESS_HF, "{\"nobodys\": false}", "nobodys", NULL},
        {PREPROCESS_HF, "{\"nobodys\": 0}", "nobodys", NULL},
        {PREPROCESS_HF, "{\"antialias\": false}", NULL, "\"antialias\" is false"},
        {PREPROCESS_HF, "{\"antialias\": true}", NULL, NULL},
        {PREPROCESS_TIMM, "{\"antialias\": false}", "antialias", NULL},
        {PREPROCESS_HF, "{\"do_normalize\": null}", NULL, "\"do_normalize\" is null"},
        {PREPROCESS_HF, "{\"do_rescale\": null}", NULL, "\"do_rescale\" is null"},
        {PREPROCESS_HF, "{\"do_resize\": null}", NULL, "\"do_resize\" is null"},
        {PREPROCESS_HF, "{\"do_normalize\": 0}", NULL, "\"do_normalize\" must be true or false"},
        {PREPROCESS_HF, "{\"do_center_crop\": null, \"offset\": null}", NULL, NULL},
        {PREPROCESS_HF, "{\"do_center_crop\": null, \"image_processor_type\": \"CLIPImageProcessor\"}", NULL,
         "\"do_center_crop\" is null"},
        {PREPROCESS_HF, "{\"resample\": null}", NULL, "\"resample\" is none of"},
        {PREPROCESS_HF, "{\"size\": {\"shortest_edge\": 224, \"longest_edge\": 300}}", NULL, "more than one thing"},
        {PREPROCESS_HF, "{\"size\": {\"shortest_edge\": 224, \"longest_edge\": null}}", NULL, NULL},
        {PREPROCESS_HF, "{\"size\": {\"shortest_edge\": 64, \"height\": 64, \"width\": 64}}", NULL,
         "more than one thing"},
        {PREPROCESS_HF, "{\"size\": {\"height\": 64, \"width\": 64, \"max_height\": 64}}", NULL, "more than one thing"},
        {PREPROCESS_HF, "{\"size\": {\"longest_edge\": 64}}", NULL, "is no size"},
        {PREPROCESS_HF, "{\"do_center_crop\": true, \"crop_size\": {\"shortest_edge\": 64}}", NULL,
         "\"crop_size\" is no size"},
        {PREPROCESS_HF, "{\"do_center_crop\": true, \"crop_size\": 9, \"size\": {\"shortest_edge\": 9000}}", NULL,
         "resized to 9000 × 9000, which is too large"},
        {PREPROCESS_HF, "{\"image_std\": [0.5]}", NULL, "\"image_std\" is a list of 1; the model has 3"},
        {PREPROCESS_HF, "{\"image_std\": 0.5}", NULL, NULL},
        {PREPROCESS_TIMM, "{\"std\": [0.5]}", NULL, "\"std\" is a list of 1; the model has 3"},
        {PREPROCESS_TIMM, "{\"interpolation\": \"random\"}", NULL, "\"interpolation\" is \"random\""},
        {PREPROCESS_TIMM, "{\"interpolation\": 3}", NULL, "\"interpolation\" must be a word"},
        {PREPROCESS_TIMM, "{\"interpolation\": null, \"crop_mode\": null, \"crop_pct\": null}", NULL, NULL},
        {PREPROCESS_TIMM, "{\"crop_pct\": \"0.9\"}", NULL, "\"crop_pct\" must be a number"},
        {PREPROCESS_TIMM, "{\"crop_pct\": 0.1, \"input_size\": [3, 900, 900]}", NULL,
         "\"input_size\" has every picture"},
        {PREPROCESS_OPEN_CLIP, "{\"mode\": \"L\"}", NULL, "\"mode\" is \"L\""},
        {PREPROCESS_OPEN_CLIP, "{\"mode\": \"RGB\"}", NULL, NULL},
        {PREPROCESS_OPEN_CLIP, "{\"interpolation\": \"nearest\"}", NULL, "\"interpolation\" is \"nearest\""},
        {PREPROCESS_TIMM, "{\"crop_mode\": \"border\"}", NULL, "\"crop_mode\" is \"border\""},
        {PREPROCESS_TIMM, "{\"crop_border_pixels\": 4}", NULL, "\"crop_border_pixels\" changes pixels"},
        {PREPROCESS_TIMM, "{\"crop_border_pixels\": 0, \"tag\": \"x\"}", NULL, NULL},
        {PREPROCESS_TIMM, "{\"nobodys\": \"x\"}", "nobodys", NULL},
        {PREPROCESS_OPEN_CLIP, "{\"resize_mode\": \"longest\"}", NULL, "\"resize_mode\" is \"longest\""},
        {PREPROCESS_OPEN_CLIP, "{\"nobodys\": \"x\"}", "nobodys", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        VitConfig c = vit_config_base();
        Preprocess p = preprocess_default(&c), before = p;
        const char *strange = NULL;
        Err err = {""};
        bool ok = reads(cases[i].dialect, cases[i].json, &p, &c, &strange, &err);
        if (ok != !cases[i].error || (cases[i].error && !strstr(err.text, cases[i].error)))
            fail_msg("%s: %s", cases[i].json, ok ? "is read" : err.text);
        if (ok && (!strange != !cases[i].strange || (strange && strcmp(strange, cases[i].strange) != 0)))
            fail_msg("%s: not known is %s", cases[i].json, strange ? strange : "nothing");
        if (!ok)
            assert_memory_equal(&p, &before, sizeof p);
    }
}

/* do_resize false with a crop cuts the picture as it is; "offset" takes 1 away behind the rescaling. */
static void read_keys(void **state)
{
    (void)state;
    VitConfig c = vit_config_base();
    Image in = gradient(50, 31, 3), cut, got;
    Err err = {""};
    char text[160];
    Preprocess p = from_hf("{\"do_resize\": false, \"size\": 64, \"do_center_crop\": true, \"crop_size\": 24}", &c);
    assert_int_equal(p.mode, RESIZE_KEEP);
    assert_string_equal(preprocess_text(&p, text, sizeof text), "not resized, centre 24 × 24");
    image_crop(&cut, &in, 13, 3, 24, 24);
    assert_true(preprocess_run(&p, &in, &got, NULL, &err));
    assert_memory_equal(got.data, cut.data, 24 * 24 * 3);
    image_free(&cut);
    image_free(&got);
    image_free(&in);
    p = from_hf("{\"rescale_factor\": 0.00784313725490196, \"offset\": true, \"image_mean\": 0.5, \"image_std\": 2}",
                &c);
    assert_true(c.range == 127.5f && c.mean[0] == 1.5f && c.std[1] == 2.0f);
    c = vit_config_base();
    p = from_hf("{\"rescale_factor\": 0.00784313725490196, \"rescale_offset\": true, \"do_normalize\": false}", &c);
    assert_true(c.mean[2] == 1.0f && c.std[0] == 1.0f);
    p = from_hf("{\"image_processor_type\": \"CLIPImageProcessor\", \"size\": 256, \"crop_size\": 224}", &c);
    assert_int_equal(p.mode, RESIZE_COVER); /* this class crops unless it is told not to */
    assert_int_equal(p.width, 224);
    p = from_hf("{\"image_processor_type\": \"ViTImageProcessor\", \"size\": 256, \"crop_size\": 224}", &c);
    assert_int_equal(p.width, 256);
    p = from(PREPROCESS_OPEN_CLIP,
             "{\"size\": [64, 96], \"resize_mode\": \"squash\", \"interpolation\": \"bilinear\", "
             "\"mean\": [0.1, 0.2, 0.3], \"std\": [0.4, 0.5, 0.6]}",
             &c);
    assert_true(p.mode == RESIZE_SQUASH && p.height == 64 && p.resize_w == 96 && p.filter == FILTER_BILINEAR);
    assert_true(c.mean[1] == 0.2f && c.std[2] == 0.6f);
    p = from(PREPROCESS_OPEN_CLIP, "{\"interpolation\": \"random\"}", &c); /* in training only */
    assert_int_equal(p.filter, FILTER_BICUBIC);
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
    assert_non_null(strstr(err.text, "a picture of 16384 × 1 is too large when it is resized to cover 224 × 224"));
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
        cmocka_unit_test(hugging_face_vit), cmocka_unit_test(hugging_face_deit),
        cmocka_unit_test(timm_centre_crop), cmocka_unit_test(rescaled_first),
        cmocka_unit_test(exact_filters),    cmocka_unit_test(every_key),
        cmocka_unit_test(read_keys),        cmocka_unit_test(grey_and_colour),
        cmocka_unit_test(very_narrow),      cmocka_unit_test(source_rectangles),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
