/* Damaged and hostile pictures: an error or a picture, in bounded time and memory, the same each time, and no sanitizer
 * report. Most run the checks and the decoder in this process, where a sanitizer sees them; some go through the child
 * as well. */
#include "tests/core_io/image_test.h"

#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

#include "core/base/mem.h"
#include "core/io/image_parts.h"
#include "tests/core_io/png_seal.h"

static void put32le(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static uint8_t *at(Buf *b, size_t i)
{
    assert_true(i < b->len);
    return (uint8_t *)b->data + i;
}

/* Where the n bytes of `what` begin. */
static size_t find(Buf *b, const void *what, size_t n, size_t from)
{
    for (size_t i = from; i + n <= b->len; i++)
        if (!memcmp(b->data + i, what, n))
            return i;
    fail_msg("the fixture lacks what the test looks for");
    return 0;
}

static void seal(Buf *b)
{
    seal_png((uint8_t *)b->data, b->len);
}

/* Checks and decodes here. The checksum of the outcome; 0 when refused by the checks. */
static uint32_t decode_here(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = xmalloc(n); /* exactly n bytes: a sanitizer sees the first one beyond */
    memcpy(copy, bytes, n);
    const ImageKind *kind = image_kind_find(copy, n);
    ImagePlan plan = {0};
    uint32_t sum = 0;
    Err err = {""};
    if (kind && kind->format == IMAGE_PNM) {
        Image im = {0};
        if (image_pnm(&im, copy, n, &err))
            sum = (uint32_t)crc32(1, im.data, (uInt)image_bytes(&im));
        image_free(&im);
    } else if (kind && kind->format != IMAGE_NOT_READ && image_check(&plan, kind->format, copy, n, &err)) {
        size_t pixels = (size_t)plan.width * (size_t)plan.height;
        if (plan.memory < 64u << 20) {
            DecodeOut out;
            uint8_t *arena = xcalloc(plan.memory, 1), *to = xcalloc(pixels, 3);
            image_decode_plan(&out, to, &plan, copy, n, arena);
            sum = out.done ? (uint32_t)crc32(1, to, (uInt)(pixels * (size_t)out.channels)) : 1;
            assert_true(out.done || out.reason[0] || out.width == 0);
            free(arena);
            free(to);
        }
    }
    if (sum == 0 && err.text[0])
        assert_null(strchr(err.text, '\n'));
    image_plan_free(&plan);
    free(copy);
    return sum;
}

static const char *const small[] = {
    "image/palette4.png",
    "image/grey1.png",
    "image/rgb16.png",
    "image/rgba8_interlaced.png",
    "image/palette8_clear.png",
    "image/rgb24.bmp",
    "image/grey1.bmp",
    "image/palette4.bmp",
    "image/rgba32_v4.bmp",
    "image/rgb565.bmp",
    "image/grey.jpg",
    "image/noise.jpg",
    "image/orientation.jpg",
    "image/rgb420_progressive.jpg",
    "resize/e.ppm",
};

static void cut_off_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        Buf b = {0};
        slurp(&b, small[i]);
        for (size_t n = 0; n < b.len; n++)
            if (decode_here(bytes_of(&b), n) > 1)
                fail_msg("%s: a picture from %zu of %zu bytes", small[i], n, b.len);
        assert_true(decode_here(bytes_of(&b), b.len) > 1);
        buf_free(&b);
    }
}

/* Each byte changed in three ways; PNG with right checksums, so that the change reaches the decoder. */
static void one_byte_wrong(void **state)
{
    (void)state;
    static const uint8_t flips[] = {0xff, 0x01, 0x80};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        Buf b = {0}, changed = {0};
        slurp(&b, small[i]);
        for (size_t k = 0; k < b.len; k++) {
            buf_clear(&changed);
            buf_add(&changed, b.data, b.len);
            *at(&changed, k) ^= flips[k % 3];
            if (strstr(small[i], ".png"))
                seal(&changed);
            uint32_t once = decode_here(bytes_of(&changed), changed.len);
            if (k % 16 == 0)
                assert_int_equal(decode_here(bytes_of(&changed), changed.len), once);
        }
        buf_free(&b);
        buf_free(&changed);
    }
}

/* The same through the child: its answer is the one of this process. */
static void the_child_agrees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        Buf b = {0};
        slurp(&b, small[i]);
        for (size_t k = b.len / 2; k < b.len; k += b.len / 4) {
            *at(&b, k) ^= 0x11;
            if (strstr(small[i], ".png"))
                seal(&b);
            uint32_t here = decode_here(bytes_of(&b), b.len);
            Image im = {0};
            Err err = {""};
            if (image_decode(&im, small[i], bytes_of(&b), b.len, &err)) {
                if (im.orientation == 1)
                    assert_int_equal((uint32_t)crc32(1, im.data, (uInt)image_bytes(&im)), here);
                image_free(&im);
            } else {
                assert_true(here <= 1);
                assert_true(strlen(err.text) > strlen(small[i]));
            }
        }
        buf_free(&b);
    }
}

static void damaged_png(void **state)
{
    (void)state;
    Buf good = {0}, b = {0};
    slurp(&good, "image/palette4.png");
#define AGAIN (buf_clear(&b), buf_add(&b, good.data, good.len))
    AGAIN;
    *at(&b, find(&b, "IDAT", 4, 0) + 6) ^= 1;
    must_refuse("a.png", b.data, b.len, "the checksum of its chunk IDAT is wrong");
    AGAIN;
    put32be(at(&b, find(&b, "IDAT", 4, 0) - 4), 0x7fffffff);
    must_refuse("a.png", b.data, b.len, "its chunk IDAT needs 2147483647 bytes");
    AGAIN;
    put32be(at(&b, 16), 65535);
    put32be(at(&b, 20), 65535);
    seal(&b);
    must_refuse("a.png", b.data, b.len, "too large: 65535 x 65535 pixels");
    put32be(at(&b, 16), 16384);
    put32be(at(&b, 20), 4096);
    seal(&b);
    must_refuse("a.png", b.data, b.len, "a damaged PNG (not enough pixels)");
    put32be(at(&b, 20), 0);
    seal(&b);
    must_refuse("a.png", b.data, b.len, "16384 x 0 pixels");
    AGAIN;
    *at(&b, 24) = 3;
    seal(&b);
    must_refuse("a.png", b.data, b.len, "colour type 3 with 3 bits");
    AGAIN;
    memcpy(at(&b, find(&b, "PLTE", 4, 0)), "pLTE", 4);
    seal(&b);
    must_refuse("a.png", b.data, b.len, "a palette picture without a palette");
    memcpy(at(&b, find(&b, "pLTE", 4, 0)), "XLTE", 4);
    seal(&b);
    must_refuse("a.png", b.data, b.len, "the unknown chunk XLTE");
    AGAIN;
    memcpy(at(&b, 12), "CgBI", 4);
    seal(&b);
    must_refuse("a.png", b.data, b.len, "Apple");
    AGAIN;
    b.len = find(&b, "IEND", 4, 0) - 4;
    must_refuse("a.png", b.data, b.len, "cut off");
    buf_clear(&b); /* IHDR twice */
    buf_add(&b, good.data, 33);
    buf_add(&b, good.data + 8, good.len - 8);
    must_refuse("a.png", b.data, b.len, "two IHDR");
    buf_clear(&b); /* no IHDR */
    buf_add(&b, good.data, 8);
    buf_add(&b, good.data + 33, good.len - 33);
    must_refuse("a.png", b.data, b.len, "begins with chunk PLTE");
#undef AGAIN
    buf_free(&good);
    buf_free(&b);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One pixel whose data unpack to 256 MB; and many empty IDAT chunks, which are allowed. */
static void png_that_unpacks_to_too_much(void **state)
{
    (void)state;
    static const uint8_t header[] = {0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0};
    Buf b = {0}, packed = {0};
    uint8_t *zeros = xcalloc(1, 1 << 20), room[4096];
    z_stream z = {0};
    assert_int_equal(deflateInit(&z, 9), Z_OK);
    for (int mb = 0; mb < 256; mb++) {
        z.next_in = zeros;
        z.avail_in = 1 << 20;
        do {
            z.next_out = room;
            z.avail_out = sizeof room;
            deflate(&z, mb == 255 ? Z_FINISH : Z_NO_FLUSH);
            buf_add(&packed, room, sizeof room - z.avail_out);
        } while (z.avail_out == 0);
    }
    deflateEnd(&z);
    free(zeros);
    buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", header, sizeof header);
    add_chunk(&b, "IDAT", packed.data, packed.len);
    add_chunk(&b, "IEND", NULL, 0);
    double start = seconds();
    must_refuse("bomb.png", b.data, b.len, "unpacks to more than its 1 x 1 pixels can need");
    assert_true(seconds() - start < 2.0);
    buf_clear(&b);
    uint8_t grey[64];
    uLongf grey_n = sizeof grey;
    assert_int_equal(compress(grey, &grey_n, (const uint8_t *)"\0\x0b", 2), Z_OK); /* one row: filter 0, value 11 */
    buf_add(&b, "\x89PNG\r\n\x1a\n", 8);
    add_chunk(&b, "IHDR", header, sizeof header);
    for (size_t i = 0; i < grey_n; i++) {
        add_chunk(&b, "IDAT", NULL, 0);
        add_chunk(&b, "IDAT", grey + i, 1);
        add_chunk(&b, "fdAT", "skipped", 7);
    }
    add_chunk(&b, "IEND", NULL, 0);
    Image im = {0};
    Err err = {""};
    if (!image_decode(&im, "pieces.png", bytes_of(&b), b.len, &err))
        fail_msg("%s", err.text);
    assert_int_equal(im.data[0], 11);
    image_free(&im);
    buf_free(&b);
    buf_free(&packed);
}

/* Indices beyond the palette are black, whatever lies in memory. */
static void short_palettes(void **state)
{
    (void)state;
    Buf b = {0}, cut = {0};
    Err err = {""};
    Image im = {0}, whole = must_decode("image/palette8.png");
    slurp(&b, "image/palette8.png");
    size_t plte = find(&b, "PLTE", 4, 0);
    buf_add(&cut, b.data, plte - 4);
    add_chunk(&cut, "PLTE", b.data + plte + 4, 3 * 100);
    buf_add(&cut, b.data + plte + 4 + 768 + 4, b.len - (plte + 4 + 768 + 4));
    if (!image_decode(&im, "short.png", bytes_of(&cut), cut.len, &err))
        fail_msg("%s", err.text);
    size_t black = 0;
    for (size_t i = 0; i < image_bytes(&im); i += 3) {
        static const uint8_t zero[3];
        bool same = !memcmp(im.data + i, whole.data + i, 3);
        assert_true(same || !memcmp(im.data + i, zero, 3));
        black += !same;
    }
    assert_true(black > 0 && black < image_bytes(&im) / 3);
    image_free(&im);
    image_free(&whole);
    buf_clear(&b);
    slurp(&b, "image/palette4.bmp");
    put32le(at(&b, 46), 3); /* three colours used */
    if (!image_decode(&im, "short.bmp", bytes_of(&b), b.len, &err))
        fail_msg("%s", err.text);
    image_free(&im);
    buf_free(&b);
    buf_free(&cut);
}

/* A DHT segment: class and number, how many codes of each length, `values` values. */
static void add_dht(Buf *b, const uint8_t counts[16], size_t values)
{
    size_t length = 2 + 17 + values;
    const uint8_t head[5] = {0xff, 0xc4, (uint8_t)(length >> 8), (uint8_t)length, 0x10};
    buf_add(b, head, sizeof head);
    buf_add(b, counts, 16);
    for (size_t i = 0; i < values; i++)
        buf_putc(b, 1);
}

static void huffman_tables(void **state)
{
    (void)state;
    static const struct {
        uint8_t counts[16];
        size_t values;
        const char *says;
    } tables[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0}, 510, "too many codes"},
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 255}, 257, "too many codes"},
        {{3}, 3, "more codes than fit"},
        {{2}, 2, "more codes than fit"}, /* all ones is not a code */
        {{0, 0, 0, 0, 0, 0, 0, 250, 8}, 258, "too many codes"},
        {{0, 0, 0, 0, 5}, 4, "too many codes"}, /* for its segment */
    };
    Buf good = {0}, b = {0};
    slurp(&good, "image/grey.jpg");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        buf_clear(&b);
        buf_add(&b, good.data, 2);
        add_dht(&b, tables[i].counts, tables[i].values);
        buf_add(&b, good.data + 2, good.len - 2);
        must_refuse("a.jpg", b.data, b.len, tables[i].says);
    }
    /* the fullest allowed table: 256 codes */
    static const uint8_t full[16] = {0, 0, 0, 0, 0, 0, 0, 0, 255, 1};
    buf_clear(&b);
    buf_add(&b, good.data, 2);
    add_dht(&b, full, 256);
    buf_add(&b, good.data + 2, good.len - 2);
    Image im = {0}, right = must_decode("image/grey.jpg");
    Err err = {""};
    if (!image_decode(&im, "a.jpg", bytes_of(&b), b.len, &err))
        fail_msg("%s", err.text);
    must_equal("a.jpg", &im, &right, 0);
    image_free(&im);
    image_free(&right);
    buf_free(&good);
    buf_free(&b);
}

static void damaged_jpeg(void **state)
{
    (void)state;
    Buf good = {0}, b = {0};
    slurp(&good, "image/grey.jpg");
    size_t sof = find(&good, "\xff\xc0", 2, 0), sos = find(&good, "\xff\xda", 2, 0);
#define AGAIN (buf_clear(&b), buf_add(&b, good.data, good.len))
    static const struct {
        size_t offset; /* from the frame header */
        uint8_t value;
        const char *says;
    } frames[] = {
        {1, 0xc9, "arithmetic coding"},
        {1, 0xc3, "lossless"},
        {4, 12, "12 bits a sample"},
        {5, 0xff, "too large"},
        {9, 4, "CMYK"},
        {9, 2, "frame header"},
        {12, 9, "quantisation table above 3"},
        {12, 3, "quantisation table is missing"},
    };
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        AGAIN;
        *at(&b, sof + frames[i].offset) = frames[i].value;
        must_refuse("a.jpg", b.data, b.len, frames[i].says);
    }
    AGAIN;
    put32be(at(&b, sof + 5), 45);
    must_refuse("a.jpg", b.data, b.len, "height after its pixels");
    AGAIN;
    *at(&b, sos + 6) = 0x33;
    must_refuse("a.jpg", b.data, b.len, "uses a Huffman table that is missing");
    buf_clear(&b); /* a second frame */
    buf_add(&b, good.data, sos);
    buf_add(&b, good.data + sof, sos - sof);
    buf_add(&b, good.data + sos, good.len - sos);
    must_refuse("a.jpg", b.data, b.len, "frame header");
    buf_clear(&b); /* the same scan 65 times */
    buf_add(&b, good.data, sos);
    for (int i = 0; i < 65; i++)
        buf_add(&b, good.data + sos, good.len - sos - 2);
    buf_add(&b, "\xff\xd9", 2);
    must_refuse("a.jpg", b.data, b.len, "more than 64 scans");
    buf_clear(&b);
    slurp(&b, "image/cmyk.jpg");
    must_refuse("cmyk.jpg", b.data, b.len, "a CMYK JPEG");
#undef AGAIN
    buf_free(&good);
    buf_free(&b);
}

static void damaged_bmp(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint32_t value;
        const char *says;
    } changes[] = {
        {10, 0x7fffffff, "cut off"},
        {10, 20, "cut off"},
        {18, 0, "0 x 11 pixels"},
        {18, 0x80000000, "0 x 11 pixels"},
        {22, 0x80000000, "too large"},
        {22, 0xfffffff0, "cut off"},
        {22, 4096, "cut off"},
        {26, 2, "header is wrong"},
        {26, 2 << 16 | 1, "a rare kind"},
        {30, 1, "run-length"},
        {30, 4, "a rare kind"},
        {30, 3, "a rare kind"},
        {26, 8 << 16 | 1, "no palette"},
    };
    Buf good = {0}, b = {0};
    slurp(&good, "image/rgb24.bmp");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        buf_clear(&b);
        buf_add(&b, good.data, good.len);
        put32le(at(&b, changes[i].offset), changes[i].value);
        must_refuse("a.bmp", b.data, b.len, changes[i].says);
    }
    static const uint32_t masks[][3] = {
        {0, 1, 2}, {0xf800, 0xfff, 0x1f}, {0xa000, 0x7e0, 0x1f}, {0xff800, 0x7e0, 0x1f}, {~0u, ~0u, ~0u}};
    buf_clear(&good);
    slurp(&good, "image/rgb565.bmp");
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        buf_clear(&b);
        buf_add(&b, good.data, good.len);
        for (size_t k = 0; k < 3; k++)
            put32le(at(&b, 54 + 4 * k), masks[i][k]);
        must_refuse("a.bmp", b.data, b.len, "unusual channel masks");
    }
    buf_free(&good);
    buf_free(&b);
}

/* Of the decoders that have ended: how busy the machine is makes no difference. */
static double decoder_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* A progressive JPEG of 13 scans that claims 64 million pixels and has data for a few: each scan runs over all of them.
 */
static void time_is_limited(void **state)
{
    (void)state;
    Buf b = {0};
    slurp(&b, "image/rgb420_progressive.jpg");
    size_t sof = find(&b, "\xff\xc2", 2, 0);
    put32be(at(&b, sof + 5), 0x2000u << 16 | 0x2000u);
    Image im = {0};
    Err err = {""};
    double start = decoder_seconds();
    bool ok = image_decode(&im, "slow.jpg", bytes_of(&b), b.len, &err);
    assert_true(decoder_seconds() - start < 4.0 || !strncmp(image_sandbox(), "limits only: built", 18));
    assert_false(ok);
    assert_non_null(strstr(err.text, "slow.jpg: "));
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_off_at_every_byte),
        cmocka_unit_test(one_byte_wrong),
        cmocka_unit_test(the_child_agrees),
        cmocka_unit_test(damaged_png),
        cmocka_unit_test(png_that_unpacks_to_too_much),
        cmocka_unit_test(short_palettes),
        cmocka_unit_test(huffman_tables),
        cmocka_unit_test(damaged_jpeg),
        cmocka_unit_test(damaged_bmp),
        cmocka_unit_test(time_is_limited),
    };
    return cmocka_run_group_tests_name("image_hostile", tests, NULL, NULL);
}
