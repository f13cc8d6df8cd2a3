/* Every kind of picture that is read, against the pixels that Pillow reads (recorded beside each file by
 * tests/data/image/make.py). */
#include "tests/core_io/image_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/core_io/png_seal.h"

/* within: 0 is byte for byte. JPEG leaves the inverse transform and the upsampling of colour to the decoder, whose
 * roundings differ. At half the colour width the library weighs the last column of a row of odd width wrongly; there,
 * and only there, 4 is the bound. */
static const struct {
    const char *name;
    int channels, within;
    bool had_alpha, was_16_bit;
} pictures[] = {
    {"rgb8.png", 3, 0, false, false},
    {"rgba8.png", 3, 0, true, false},
    {"grey8.png", 1, 0, false, false},
    {"greya8.png", 1, 0, true, false},
    {"grey1.png", 1, 0, false, false},
    {"grey2.png", 1, 0, false, false},
    {"grey4.png", 1, 0, false, false},
    {"grey16.png", 1, 0, false, true},
    {"rgb16.png", 3, 0, false, true},
    {"rgba16.png", 3, 0, true, true},
    {"palette1.png", 3, 0, false, false},
    {"palette2.png", 3, 0, false, false},
    {"palette4.png", 3, 0, false, false},
    {"palette8.png", 3, 0, false, false},
    {"palette1_clear.png", 3, 0, true, false},
    {"palette2_clear.png", 3, 0, true, false},
    {"palette4_clear.png", 3, 0, true, false},
    {"palette8_clear.png", 3, 0, true, false},
    {"rgb8_clear.png", 3, 0, true, false},
    {"rgb8_interlaced.png", 3, 0, false, false},
    {"rgba8_interlaced.png", 3, 0, true, false},
    {"grey1_interlaced.png", 1, 0, false, false},
    {"palette4_interlaced.png", 3, 0, false, false},
    {"rgb24.bmp", 3, 0, false, false},
    {"grey8.bmp", 3, 0, false, false},
    {"palette8.bmp", 3, 0, false, false},
    {"grey1.bmp", 3, 0, false, false},
    {"rgb32.bmp", 3, 0, false, false},
    {"rgb24_top_down.bmp", 3, 0, false, false},
    {"rgb24_gap.bmp", 3, 0, false, false},
    {"palette4.bmp", 3, 0, false, false},
    {"palette8_os2.bmp", 3, 0, false, false},
    {"rgb24_os2.bmp", 3, 0, false, false},
    {"rgb565.bmp", 3, 1, false, false}, /* five bits to eight: nearest here, Pillow cuts off */
    {"rgb555.bmp", 3, 1, false, false},
    {"rgba32_v4.bmp", 3, 0, true, false},
    {"rgb444.jpg", 3, 2, false, false},
    {"rgb444_progressive.jpg", 3, 2, false, false},
    {"rgb422.jpg", 3, 2, false, false},
    {"rgb422_progressive.jpg", 3, 2, false, false},
    {"rgb420.jpg", 3, 2, false, false},
    {"rgb420_progressive.jpg", 3, 2, false, false},
    {"grey.jpg", 1, 1, false, false},
    {"noise.jpg", 3, 2, false, false},
};

static void pixels_are_those_of_pillow(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        char name[128], expected[160];
        snprintf(name, sizeof name, "image/%s", pictures[i].name);
        snprintf(expected, sizeof expected, "image/%s.pnm", pictures[i].name);
        Image im = must_decode(name), right = must_decode(expected);
        bool edge = strstr(name, "422") != NULL;
        must_equal(name, &im, &right, edge ? 4 : pictures[i].within);
        if (edge) {
            Image inner, right_inner;
            image_crop(&inner, &im, 0, 0, im.width - 1, im.height);
            image_crop(&right_inner, &right, 0, 0, im.width - 1, im.height);
            must_equal(name, &inner, &right_inner, pictures[i].within);
            image_free(&inner);
            image_free(&right_inner);
        }
        assert_int_equal(im.channels, pictures[i].channels);
        assert_int_equal(im.had_alpha, pictures[i].had_alpha);
        assert_int_equal(im.was_16_bit, pictures[i].was_16_bit);
        assert_int_equal(im.orientation, 1);
        image_free(&im);
        image_free(&right);
    }
}

/* The decoder is integer arithmetic only, so its JPEG pixels are a constant of this program. */
static void jpeg_is_the_same_everywhere(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t checksum;
    } recorded[] = {{"image/rgb420.jpg", 0x9b1b06e4},
                    {"image/rgb422_progressive.jpg", 0xbb40a3d6},
                    {"image/noise.jpg", 0xa6e55044}};
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        Image im = must_decode(recorded[i].name);
        uint32_t sum = (uint32_t)crc32(0, im.data, (uInt)image_bytes(&im));
        if (sum != recorded[i].checksum)
            fail_msg("%s: checksum of the pixels %#x, recorded %#x", recorded[i].name, sum, recorded[i].checksum);
        image_free(&im);
    }
}

/* A scan that ends too early, amid a code: the library counts the bits that are left, here fewer than none, and shifts
 * its next byte, which is 0 from there on, by more bits than a number has. The pixels stay the same. */
static void scan_that_ends_early(void **state)
{
    (void)state;
    static const uint8_t end[] = {0xc3, 0xa9, 0xd0, 0xfe, 0xfe, 0xfe, 0xf7, 0xfe, 0xf7, 0xff, 0xd9};
    Buf b = {0};
    Err err = {""};
    Image im = {0};
    slurp(&b, "image/rgb422.jpg");
    b.len = 737;
    buf_add(&b, end, sizeof end);
    if (!image_decode(&im, "x", bytes_of(&b), b.len, &err))
        fail_msg("%s", err.text);
    assert_int_equal(crc32(0, im.data, (uInt)image_bytes(&im)), 0x978d92c8);
    image_free(&im);
    buf_free(&b);
}

static uint8_t *find(Buf *b, const void *what, size_t n)
{
    for (size_t i = 0; i + n <= b->len; i++)
        if (!memcmp(b->data + i, what, n))
            return (uint8_t *)b->data + i;
    fail_msg("the fixture lacks its tag");
    return NULL;
}

static void every_orientation(void **state)
{
    (void)state;
    /* Pillow writes Exif with the most significant byte first */
    static const uint8_t tag[] = {0x01, 0x12, 0, 3, 0, 0, 0, 1};
    for (int kind = 0; kind < 2; kind++)
        for (int o = 1; o <= 8; o++) {
            Buf b = {0};
            Err err = {""};
            Image im = {0};
            slurp(&b, kind ? "image/orientation.png" : "image/orientation.jpg");
            find(&b, tag, sizeof tag)[sizeof tag + 1] = (uint8_t)o;
            if (kind)
                seal_png((uint8_t *)b.data, b.len);
            if (!image_decode(&im, "turned", bytes_of(&b), b.len, &err))
                fail_msg("%s", err.text);
            char name[64];
            snprintf(name, sizeof name, "image/orientation%d.%s.pnm", o, kind ? "png" : "jpeg");
            Image right = must_decode(name);
            must_equal(name, &im, &right, kind ? 0 : 2);
            assert_int_equal(im.orientation, o);
            image_free(&im);
            image_free(&right);
            buf_free(&b);
        }
}

static void little_endian_exif(void **state)
{
    (void)state;
    static const uint8_t app1[] = {0xff, 0xe1, 0,    34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', '*', 0, 8, 0, 0, 0,
                                   1,    0,    0x12, 1,  3,   0,   1,   0,   0, 0, 8,   0,   0,   0, 0, 0, 0, 0};
    Buf plain = {0}, b = {0};
    Err err = {""};
    Image im = {0}, right = must_decode("image/grey.jpg");
    slurp(&plain, "image/grey.jpg");
    buf_add(&b, plain.data, 2);
    buf_add(&b, app1, sizeof app1);
    buf_add(&b, plain.data + 2, plain.len - 2);
    assert_true(image_decode(&im, "x", bytes_of(&b), b.len, &err));
    assert_int_equal(im.orientation, 8);
    assert_int_equal(im.width, right.height);
    /* 8: stored right to left becomes top to bottom */
    assert_int_equal(im.data[0], right.data[right.width - 1]);
    image_free(&im);
    b.data[2 + 28] = 9; /* no such orientation: shown as stored */
    assert_true(image_decode(&im, "x", bytes_of(&b), b.len, &err));
    must_equal("orientation 9", &im, &right, 0);
    assert_int_equal(im.orientation, 1);
    image_free(&im);
    image_free(&right);
    buf_free(&plain);
    buf_free(&b);
}

static void anymaps(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        int width, height, channels;
        uint8_t first, last;
        bool was_16_bit;
    } good[] = {
#define TEXT(s) s, sizeof s - 1
        {TEXT("P2 2 1 255 7 9"), 2, 1, 1, 7, 9, false},
        {TEXT("P2\n# a comment\n2#x\n 1\n\n15\n15 0 "), 2, 1, 1, 255, 0, false},
        {TEXT("P3 1 1 65535 65535 0 128"), 1, 1, 3, 255, 0, true},
        {TEXT("P5 2 1 255\nab"), 2, 1, 1, 'a', 'b', false},
        {TEXT("P5 1 2 1000\r\x03\xe8\x00\x02"), 1, 2, 1, 255, 1, true},
        {TEXT("P6\t1 1 3 \0\1\3"), 1, 1, 3, 0, 255, false},
        {TEXT("P6 1 1 255 abc and more"), 1, 1, 3, 'a', 'c', false},
#undef TEXT
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        Err err = {""};
        Image im = {0};
        if (!image_decode(&im, "map", (const uint8_t *)good[i].text, good[i].n, &err))
            fail_msg("%s: %s", good[i].text, err.text);
        assert_int_equal(im.width, good[i].width);
        assert_int_equal(im.height, good[i].height);
        assert_int_equal(im.channels, good[i].channels);
        assert_int_equal(im.data[0], good[i].first);
        assert_int_equal(im.data[image_bytes(&im) - 1], good[i].last);
        assert_int_equal(im.was_16_bit, good[i].was_16_bit);
        image_free(&im);
    }
}

static void damaged_anymaps(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"P5 2 2 255 abc", "ends before its last pixel"},
        {"P6 2 2 65535 abcdefghijk", "ends before its last pixel"},
        {"P2 2 2 255 1 2 3", "ends before its last pixel"},
        {"P2 2 2 255 1 2 3 x", "sample 3 is not a number"},
        {"P2 2 2 15 1 2 16 3", "sample 2 is not a number from 0 to 15"},
        {"P5 1 1 100 z", "its maximum is 100"},
        {"P5 4294967297 1 255 a", "must be decimal numbers"},
        {"P5 99999999999999999999 1 255 a", "must be decimal numbers"},
        {"P5 -1 1 255 a", "must be decimal numbers"},
        {"P5 0 1 255 a", "0 x 1 pixels"},
        {"P5 16385 1 255 a", "too large"},
        {"P5 16384 16384 255 a", "too large"},
        {"P6 16384 4096 255 a", "ends before its last pixel"},
        {"P3 16384 4096 255 1", "ends before its last pixel"},
        {"P5 1 1 0 a", "the maximum is 0"},
        {"P5 1 1 65536 a", "the maximum is 65536"},
        {"P5 1 1 255", "ends before its last pixel"},
        {"P5 1 # 1 255 a", "must be decimal numbers"},
        {"P6\n", "must be decimal numbers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        must_refuse("map.ppm", bad[i].text, strlen(bad[i].text), bad[i].says);
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void decoder_leaves_nothing_behind(void **state)
{
    (void)state;
    int before = open_files();
    for (int i = 0; i < 3; i++) {
        Image im = must_decode("image/rgb8.png");
        image_free(&im);
    }
    assert_int_equal(open_files(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
    assert_int_equal(errno, ECHILD);
    void (*old)(int) = signal(SIGCHLD, SIG_IGN); /* then the system reaps the child before we can */
    Image im = must_decode("image/rgb8.png");
    image_free(&im);
    signal(SIGCHLD, old);
    const char *sandbox = image_sandbox();
    assert_true(!strncmp(sandbox, "seccomp", 7) || !strncmp(sandbox, "limits only: ", 13));
}

static void files_that_are_not_pictures(void **state)
{
    (void)state;
    char folder[] = "/tmp/vitrine-image-XXXXXX", path[64];
    Err err = {""};
    Image im = {0};
    assert_non_null(mkdtemp(folder));
    assert_false(image_read(&im, folder, &err));
    assert_non_null(strstr(err.text, folder));
    snprintf(path, sizeof path, "%s/none.png", folder);
    assert_false(image_read(&im, path, &err));
    assert_non_null(strstr(err.text, path));
    snprintf(path, sizeof path, "%s/pipe.png", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(image_read(&im, path, &err)); /* and does not wait for a writer */
    assert_non_null(strstr(err.text, path));
    unlink(path);
    snprintf(path, sizeof path, "%s/empty.png", folder);
    fclose(fopen(path, "w"));
    assert_false(image_read(&im, path, &err));
    assert_non_null(strstr(err.text, "empty"));
    must_refuse("nothing.png", "", 0, "empty");
    assert_int_equal(truncate(path, (off_t)IMAGE_FILE_MAX + 1), 0);
    assert_false(image_read(&im, path, &err));
    assert_non_null(strstr(err.text, path));
    unlink(path);
    rmdir(folder);
    assert_null(im.data);
}

static void written_pictures_come_back(void **state)
{
    (void)state;
    static const char *const names[] = {"image/rgb8.png", "image/grey8.png", "image/rgb444.jpg"};
    char path[] = "/tmp/vitrine-image-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Err err = {""};
        Image im = must_decode(names[i]), back = {0};
        Buf b = {0};
        assert_true(image_png(&im, &b, &err));
        assert_true(image_decode(&back, "png", bytes_of(&b), b.len, &err));
        must_equal(names[i], &back, &im, 0);
        image_free(&back);
        buf_free(&b);
        if (!image_write_png(&im, path, &err) || !image_read(&back, path, &err))
            fail_msg("%s", err.text);
        must_equal(names[i], &back, &im, 0);
        image_free(&back);
        if (!image_write_pnm(&im, path, &err) || !image_read(&back, path, &err))
            fail_msg("%s", err.text);
        must_equal(names[i], &back, &im, 0);
        image_free(&back);
        image_free(&im);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_those_of_pillow),
        cmocka_unit_test(jpeg_is_the_same_everywhere),
        cmocka_unit_test(scan_that_ends_early),
        cmocka_unit_test(every_orientation),
        cmocka_unit_test(little_endian_exif),
        cmocka_unit_test(anymaps),
        cmocka_unit_test(damaged_anymaps),
        cmocka_unit_test(decoder_leaves_nothing_behind),
        cmocka_unit_test(files_that_are_not_pictures),
        cmocka_unit_test(written_pictures_come_back),
    };
    return cmocka_run_group_tests_name("image_decode", tests, NULL, NULL);
}
