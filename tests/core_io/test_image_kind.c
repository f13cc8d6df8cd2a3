/* Files are known by their content, and what is not read gets a message with the command that helps. */
#include "core/io/image_parts.h"
#include "tests/core_io/image_test.h"

#define TEXT(s) s, sizeof s - 1

static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *name, *says; /* NULL: readable */
    } known[] = {
        {TEXT("\x89PNG\r\n\x1a\n"), "PNG", NULL},
        {TEXT("\xff\xd8\xff\xe0"), "JPEG", NULL},
        {TEXT("P5\n1 1\n255\nx"), "PNM", NULL},
        {TEXT("P1\n1 1\n1"), "PBM", "convert photo.x photo.png"},
        {TEXT("P7\nWIDTH 1"), "PAM", "convert photo.x photo.png"},
        {TEXT("PF\n1 1\n"), "PFM", "convert photo.x photo.png"},
        {TEXT("\0\0\0\x18"
              "ftypheic\0\0\0\0mif1heic"),
         "HEIC", "heif-convert photo.x photo.png"},
        {TEXT("\0\0\0\x18"
              "ftypmif1\0\0\0\0mif1heic"),
         "HEIC", "heif-convert photo.x photo.png"},
        {TEXT("\0\0\0\x18"
              "ftypmif1\0\0\0\0mif1avif"),
         "AVIF", "avifdec photo.x photo.png"},
        {TEXT("\0\0\0\x14"
              "ftypisom\0\0\0\0mp41"),
         "video", "ffmpeg -i photo.x -frames:v 1 photo.png"},
        {TEXT("RIFF\x10\0\0\0WEBPVP8 "), "WebP", "dwebp photo.x -o photo.png"},
        {TEXT("RIFF\x10\0\0\0AVI LIST"), "video", "ffmpeg"},
        {TEXT("GIF89a\1\0\1\0"), "GIF", "convert 'photo.x[0]' photo.png"},
        {TEXT("II*\0\x08\0\0\0"), "TIFF", "convert 'photo.x[0]' photo.png"},
        {TEXT("MM\0*\0\0\0\x08"), "TIFF", "convert"},
        {TEXT("8BPS\0\1"), "PSD", "convert 'photo.x[0]' photo.png"},
        {TEXT("\xff\x0a\xfa\x1f"), "JPEG XL", "djxl photo.x photo.png"},
        {TEXT("\0\0\0\x0cjP  \r\n\x87\n"), "JPEG 2000", "opj_decompress -i photo.x -o photo.png"},
        {TEXT("<svg xmlns='http://www.w3.org/2000/svg'/>"), "SVG", "rsvg-convert photo.x -o photo.png"},
        {TEXT("\xef\xbb\xbf<?xml version='1.0'?>\n<!-- made by hand -->\n<svg/>"), "SVG", "rsvg-convert"},
        {TEXT("<!DOCTYPE HTML>\n<title>404</title>"), "HTML", "an HTML page"},
        {TEXT("\n\n <HTML lang=en>"), "HTML", "Download the picture itself"},
        {TEXT("<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>"), "XML", "an XML text"},
        {TEXT("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n"), "git-LFS pointer",
         "git lfs pull"},
        {TEXT("%PDF-1.7\n"), "PDF", "pdftoppm -png -singlefile photo.x photo"},
        {TEXT("PK\3\4\x14\0"), "ZIP", "Unpack it first"},
        {TEXT("\x1f\x8b\x08\0"), "gzip", "gunzip"},
        {TEXT("\x93NUMPY\1\0"), "NumPy array", "a NumPy array"},
        {TEXT("\x40\x02\0\0\0\0\0\0{\"__metadata__"), "safetensors", "Give it with -m"},
        {TEXT("\x7f"
              "ELF\2\1\1"),
         "ELF", "a program"},
        {TEXT("Hello, this is no picture.\n"), "text", "a text, not a picture"},
        {TEXT("BM is how this sentence begins"), "text", "a text, not a picture"},
        {TEXT("P5 is a level of the exam"), "PNM", NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const ImageKind *k = image_kind_find((const uint8_t *)known[i].bytes, known[i].n);
        if (!k || strcmp(k->name, known[i].name) != 0)
            fail_msg("kind %zu is %s, should be %s", i, k ? k->name : "unknown", known[i].name);
        assert_int_equal(k->format != IMAGE_NOT_READ, known[i].says == NULL);
        if (known[i].says)
            must_refuse("photo.x", known[i].bytes, known[i].n, known[i].says);
    }
    assert_null(image_kind_find(NULL, 0));
    assert_null(image_kind_find((const uint8_t *)"\0\1\2\3\4\5\6\7", 8));
    must_refuse("photo.x", "\0\1\2\3\4\5\6\7", 8, "not a picture of a known kind");
}

/* Nothing before the end of the bytes is needed to decide, and nothing after it is read: each prefix lies in memory of
 * its own. */
static void short_prefixes(void **state)
{
    (void)state;
    static const char *const names[] = {"image/rgb8.png", "image/rgb444.jpg", "image/rgb24.bmp", "resize/e.ppm"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Buf b = {0};
        slurp(&b, names[i]);
        for (size_t n = 0; n < 40 && n <= b.len; n++) {
            uint8_t *part = malloc(n + 1);
            assert_non_null(part);
            memcpy(part + 1, b.data, n); /* + 1: no alignment to lean on */
            const ImageKind *k = image_kind_find(part + 1, n);
            assert_true(!k || k->name);
            free(part);
        }
        buf_free(&b);
    }
}

static void names_in_messages(void **state)
{
    (void)state;
    static const struct {
        const char *name, *says;
    } cases[] = {
        {"photo.heic",
         "photo.heic: a HEIC picture, which Vitrine does not read. Convert it: heif-convert photo.heic photo.png"},
        {"photo.png", "heif-convert photo.png photo-1.png"},
        {"my photo.jpg", "heif-convert 'my photo.jpg' 'my photo.png'"},
        {"-rf.heic", "heif-convert ./-rf.heic ./-rf.png"},
        {"a.b/photo", "heif-convert a.b/photo a.b/photo.png"},
        {"dir/.hidden", "heif-convert dir/.hidden dir/.hidden.png"},
        {"$(reboot).heic", "heif-convert '$(reboot).heic' '$(reboot).png'"},
        {"it's.heic", "Convert it to PNG, for example with heif-convert"},
        {"-", "standard input: a HEIC picture"},
    };
    const char heic[] = "\0\0\0\x18"
                        "ftypheic\0\0\0\0mif1heic";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Err err = {""};
        Image im = {0};
        assert_false(image_decode(&im, cases[i].name, (const uint8_t *)heic, sizeof heic - 1, &err));
        if (!strstr(err.text, cases[i].says))
            fail_msg("said \"%s\", should say \"%s\"", err.text, cases[i].says);
    }
    char name[4000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    Err err = {""};
    Image im = {0};
    assert_false(image_decode(&im, name, (const uint8_t *)heic, sizeof heic - 1, &err));
    assert_non_null(strstr(err.text, "for example with heif-convert"));
    assert_false(image_decode(&im, "bad\n\x1b[31mname\x80.heic", (const uint8_t *)heic, sizeof heic - 1, &err));
    assert_null(strchr(err.text, '\n'));
    assert_null(strchr(err.text, '\x1b'));
    assert_null(strchr(err.text, '\x80'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(short_prefixes),
        cmocka_unit_test(names_in_messages),
    };
    return cmocka_run_group_tests_name("image_kind", tests, NULL, NULL);
}
