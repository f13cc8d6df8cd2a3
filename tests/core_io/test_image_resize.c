/* Resizing, converting and cropping: byte for byte what Pillow does. */
#include "tests/core_io/image_test.h"

#include <dirent.h>

static const struct {
    const char *name;
    Filter filter;
} filters[] = {{"nearest", FILTER_NEAREST},
               {"bilinear", FILTER_BILINEAR},
               {"bicubic", FILTER_BICUBIC},
               {"lanczos", FILTER_LANCZOS},
               {"box", FILTER_BOX}};

/* "a_bicubic_24x24.ppm": input, filter and size are in the name */
static bool check_recorded(const char *file)
{
    char input[3], filter[16], path[128];
    int width = 0, height = 0;
    if (sscanf(file, "%2[a-z]_%15[a-z]_%dx%d.ppm", input, filter, &width, &height) != 4)
        return false;
    size_t f = 0;
    while (f < sizeof filters / sizeof *filters && strcmp(filters[f].name, filter) != 0)
        f++;
    assert_true(f < sizeof filters / sizeof *filters);
    snprintf(path, sizeof path, "resize/%s.ppm", input);
    Image in = must_decode(path), out = {0};
    snprintf(path, sizeof path, "resize/%s", file);
    Image right = must_decode(path);
    image_resize(&out, &in, width, height, filters[f].filter);
    must_equal(file, &out, &right, 0);
    /* a grey picture is one channel of the same arithmetic */
    Image grey, grey_out, first;
    image_init(&grey, in.width, in.height, 1);
    image_init(&first, width, height, 1);
    for (size_t i = 0; i < image_bytes(&grey); i++)
        grey.data[i] = in.data[3 * i];
    for (size_t i = 0; i < image_bytes(&first); i++)
        first.data[i] = right.data[3 * i];
    image_resize(&grey_out, &grey, width, height, filters[f].filter);
    must_equal(file, &grey_out, &first, 0);
    image_free(&in);
    image_free(&out);
    image_free(&right);
    image_free(&grey);
    image_free(&grey_out);
    image_free(&first);
    return true;
}

static void recorded_outputs(void **state)
{
    (void)state;
    DIR *d = opendir("tests/data/resize");
    assert_non_null(d);
    int checked = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        checked += check_recorded(e->d_name);
    closedir(d);
    assert_int_equal(checked, 24);
}

static void same_size_is_a_copy(void **state)
{
    (void)state;
    Image in = must_decode("resize/a.ppm"), out = {0};
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        image_resize(&out, &in, in.width, in.height, filters[f].filter);
        must_equal(filters[f].name, &out, &in, 0);
        image_free(&out);
    }
    image_free(&in);
}

static void extreme_sizes(void **state)
{
    (void)state;
    Image in, out;
    image_init(&in, 1, 1, 3);
    memcpy(in.data, "\x0a\xff\x00", 3);
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        image_resize(&out, &in, 57, 3, filters[f].filter);
        for (size_t i = 0; i < image_bytes(&out); i++)
            assert_int_equal(out.data[i], in.data[i % 3]);
        image_free(&out);
    }
    image_free(&in);
    image_init(&in, 16384, 2, 1);
    memset(in.data, 255, image_bytes(&in)); /* white stays white: the weights sum to one, the sums do not overflow */
    for (size_t f = 0; f < sizeof filters / sizeof *filters; f++) {
        image_resize(&out, &in, 1, 1, filters[f].filter);
        assert_int_equal(out.data[0], 255);
        image_free(&out);
    }
    image_free(&in);
}

static void conversions(void **state)
{
    (void)state;
    Image im;
    image_init(&im, 4, 1, 3);
    memcpy(im.data, "\xff\0\0\0\xff\0\0\0\xff\x01\x02\x03", 12);
    image_convert(&im, 3);
    assert_int_equal(im.channels, 3);
    image_convert(&im, 1);
    const uint8_t luma[4] = {76, 150, 29, 2}; /* PIL: Image.convert("L") */
    assert_int_equal(im.channels, 1);
    assert_memory_equal(im.data, luma, 4);
    image_convert(&im, 3);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(im.data[i], luma[i / 3]);
    image_free(&im);
    Image zero = {0};
    image_free(&zero);
}

static void crops(void **state)
{
    (void)state;
    static const int places[][4] = {{0, 0, 5, 4},          {1, 1, 2, 2},
                                    {-2, -1, 4, 3},        {3, 2, 6, 6},
                                    {-9, 0, 3, 3},         {0, 100, 2, 2},
                                    {5, 0, 2, 1},          {-1, -1, 9, 9},
                                    {2147483647, 2, 3, 3}, {-2147483647 - 1, 0, 3, 3}};
    Image in, out;
    image_init(&in, 5, 4, 3);
    for (size_t i = 0; i < image_bytes(&in); i++)
        in.data[i] = (uint8_t)(i + 1);
    in.had_alpha = true;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        const int *at = places[p];
        image_crop(&out, &in, at[0], at[1], at[2], at[3]);
        assert_int_equal(out.width, at[2]);
        assert_int_equal(out.height, at[3]);
        assert_true(out.had_alpha);
        for (int y = 0; y < at[3]; y++)
            for (int x = 0; x < at[2]; x++)
                for (int c = 0; c < 3; c++) {
                    int64_t sx = (int64_t)at[0] + x, sy = (int64_t)at[1] + y;
                    int right = sx >= 0 && sx < 5 && sy >= 0 && sy < 4 ? (int)(sy * 15 + sx * 3 + c + 1) : 0;
                    assert_int_equal(out.data[(y * at[2] + x) * 3 + c], right);
                }
        image_free(&out);
    }
    image_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_outputs),
        cmocka_unit_test(same_size_is_a_copy),
        cmocka_unit_test(extreme_sizes),
        cmocka_unit_test(conversions),
        cmocka_unit_test(crops),
    };
    return cmocka_run_group_tests_name("image_resize", tests, NULL, NULL);
}
