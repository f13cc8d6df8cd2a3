/* What a file is, by its first bytes. A wrong name is common (a HEIC called .jpg, a page saved as .png), so names are
 * not looked at. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/io/image_parts.h"

enum {
    K_PNG,
    K_JPEG,
    K_BMP,
    K_PNM,
    K_PBM,
    K_PAM,
    K_PFM,
    K_HEIC,
    K_AVIF,
    K_WEBP,
    K_GIF,
    K_TIFF,
    K_PSD,
    K_JXL,
    K_JP2,
    K_ICO,
    K_EXR,
    K_HDR,
    K_QOI,
    K_DDS,
    K_XCF,
    K_SVG,
    K_HTML,
    K_XML,
    K_LFS,
    K_PDF,
    K_PS,
    K_VIDEO,
    K_ZIP,
    K_GZIP,
    K_NPY,
    K_MODEL,
    K_ELF,
    K_TEXT,
    K_COUNT
};

#define CONVERT(pick) "convert", pick, " ", ".png"
#define OTHER NULL, NULL, NULL, NULL
static const ImageKind kinds[K_COUNT] = {
    [K_PNG] = {"PNG", "a PNG picture", IMAGE_PNG, OTHER, NULL},
    [K_JPEG] = {"JPEG", "a JPEG picture", IMAGE_JPEG, OTHER, NULL},
    [K_BMP] = {"BMP", "a BMP picture", IMAGE_BMP, OTHER, NULL},
    [K_PNM] = {"PNM", "a PNM picture", IMAGE_PNM, OTHER, NULL},
    [K_PBM] = {"PBM", "a PBM bitmap", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_PAM] = {"PAM", "a PAM picture", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_PFM] = {"PFM", "a PFM picture", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_HEIC] = {"HEIC", "a HEIC picture", IMAGE_NOT_READ, "heif-convert", "", " ", ".png", NULL},
    [K_AVIF] = {"AVIF", "an AVIF picture", IMAGE_NOT_READ, "avifdec", "", " ", ".png", NULL},
    [K_WEBP] = {"WebP", "a WebP picture", IMAGE_NOT_READ, "dwebp", "", " -o ", ".png", NULL},
    [K_GIF] = {"GIF", "a GIF picture", IMAGE_NOT_READ, CONVERT("[0]"), NULL},
    [K_TIFF] = {"TIFF", "a TIFF picture or a camera's raw file", IMAGE_NOT_READ, CONVERT("[0]"), NULL},
    [K_PSD] = {"PSD", "a Photoshop file", IMAGE_NOT_READ, CONVERT("[0]"), NULL},
    [K_JXL] = {"JPEG XL", "a JPEG XL picture", IMAGE_NOT_READ, "djxl", "", " ", ".png", NULL},
    [K_JP2] = {"JPEG 2000", "a JPEG 2000 picture", IMAGE_NOT_READ, "opj_decompress -i", "", " -o ", ".png", NULL},
    [K_ICO] = {"ICO", "an icon file", IMAGE_NOT_READ, CONVERT("[0]"), NULL},
    [K_EXR] = {"EXR", "an OpenEXR picture", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_HDR] = {"HDR", "a Radiance HDR picture", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_QOI] = {"QOI", "a QOI picture", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_DDS] = {"DDS", "a DDS texture", IMAGE_NOT_READ, CONVERT(""), NULL},
    [K_XCF] = {"XCF", "a GIMP file", IMAGE_NOT_READ, OTHER, "Export it from GIMP as PNG"},
    [K_SVG] = {"SVG", "an SVG drawing", IMAGE_NOT_READ, "rsvg-convert", "", " -o ", ".png", NULL},
    [K_HTML] = {"HTML", "an HTML page", IMAGE_NOT_READ, OTHER, "Download the picture itself, not the page around it"},
    [K_XML] = {"XML", "an XML text", IMAGE_NOT_READ, OTHER, "Download the picture itself"},
    [K_LFS] = {"git-LFS pointer", "a git-LFS pointer, not the picture", IMAGE_NOT_READ, OTHER,
               "Fetch the picture: git lfs pull"},
    [K_PDF] = {"PDF", "a PDF document", IMAGE_NOT_READ, "pdftoppm -png -singlefile", "", " ", "", NULL},
    [K_PS] = {"PostScript", "a PostScript file", IMAGE_NOT_READ, CONVERT("[0]"), NULL},
    [K_VIDEO] = {"video", "a video", IMAGE_NOT_READ, "ffmpeg -i", "", " -frames:v 1 ", ".png", NULL},
    [K_ZIP] = {"ZIP", "a ZIP archive", IMAGE_NOT_READ, OTHER, "Unpack it first"},
    [K_GZIP] = {"gzip", "a gzip file", IMAGE_NOT_READ, OTHER, "Unpack it first: gunzip"},
    [K_NPY] = {"NumPy array", "a NumPy array", IMAGE_NOT_READ, OTHER, "Save it as PNG, JPEG, BMP or PPM"},
    [K_MODEL] = {"safetensors", "a model's weights", IMAGE_NOT_READ, OTHER, "Give it with -m, and a picture with -i"},
    [K_ELF] = {"ELF", "a program", IMAGE_NOT_READ, OTHER, "Give a PNG, JPEG, BMP or PPM picture"},
    [K_TEXT] = {"text", "a text", IMAGE_NOT_READ, OTHER, "Give a PNG, JPEG, BMP or PPM picture"},
};
#undef CONVERT
#undef OTHER

static const struct {
    int kind, offset;
    size_t n;
    const char *bytes;
} magics[] = {
    {K_PNG, 0, 8, "\x89PNG\r\n\x1a\n"},
    {K_JPEG, 0, 3, "\xff\xd8\xff"},
    {K_WEBP, 8, 4, "WEBP"}, /* after RIFF and a length, looked at below */
    {K_GIF, 0, 4, "GIF8"},
    {K_TIFF, 0, 4, "II*\0"},
    {K_TIFF, 0, 4, "MM\0*"},
    {K_TIFF, 0, 4, "II+\0"},
    {K_TIFF, 0, 4, "MM\0+"},
    {K_TIFF, 0, 4, "IIU\0"},
    {K_PSD, 0, 4, "8BPS"},
    {K_JXL, 0, 2, "\xff\x0a"},
    {K_JXL, 0, 8, "\0\0\0\x0cJXL "},
    {K_JP2, 0, 8, "\0\0\0\x0cjP  "},
    {K_JP2, 0, 4, "\xff\x4f\xff\x51"},
    {K_ICO, 0, 4, "\0\0\1\0"},
    {K_EXR, 0, 4, "v/1\1"},
    {K_HDR, 0, 10, "#?RADIANCE"},
    {K_HDR, 0, 6, "#?RGBE"},
    {K_QOI, 0, 4, "qoif"},
    {K_DDS, 0, 4, "DDS "},
    {K_XCF, 0, 8, "gimp xcf"},
    {K_LFS, 0, 27, "version https://git-lfs.git"},
    {K_LFS, 0, 26, "version https://hawser.git"},
    {K_PDF, 0, 5, "%PDF-"},
    {K_PS, 0, 4, "%!PS"},
    {K_PS, 0, 4, "\xc5\xd0\xd3\xc6"},
    {K_VIDEO, 8, 4, "AVI "},
    {K_VIDEO, 0, 4, "\x1a\x45\xdf\xa3"},
    {K_ZIP, 0, 4, "PK\3\4"},
    {K_GZIP, 0, 2, "\x1f\x8b"},
    {K_NPY, 0, 6, "\x93NUMPY"},
    {K_ELF, 0, 4,
     "\x7f"
     "ELF"},
};

/* The brands of an ISO base media file ("ftyp"): AVIF before HEIC, because an AVIF file may list mif1 first. */
static int kind_of_brands(const uint8_t *b, size_t n)
{
    static const char avif[][5] = {"avif", "avis"},
                      heic[][5] = {"heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"};
    size_t end = be32(b);
    if (end > n)
        end = n;
    int kind = K_VIDEO;
    for (size_t at = 8; at + 4 <= end; at += at == 8 ? 8 : 4) { /* the major brand, its version, the compatible ones */
        for (size_t i = 0; i < sizeof avif / sizeof *avif; i++)
            if (!memcmp(b + at, avif[i], 4))
                return K_AVIF;
        for (size_t i = 0; i < sizeof heic / sizeof *heic; i++)
            if (!memcmp(b + at, heic[i], 4))
                kind = K_HEIC;
    }
    return kind;
}

/* P1 … P7, PF and Pf are two letters only, so the byte after them has to be a space. */
static int kind_of_anymap(const uint8_t *b, size_t n)
{
    if (n < 3 || b[0] != 'P' || !strchr(" \t\r\n", b[2] ? b[2] : 'x'))
        return -1;
    static const char letters[] = "1234567Ff";
    static const int of[] = {K_PBM, K_PNM, K_PNM, K_PBM, K_PNM, K_PNM, K_PAM, K_PFM, K_PFM};
    const char *found = b[1] ? strchr(letters, b[1]) : NULL;
    return found ? of[found - letters] : -1;
}

static bool is_bmp(const uint8_t *b, size_t n)
{
    static const uint32_t header_sizes[] = {12, 16, 40, 52, 56, 64, 108, 124};
    if (n < 18 || b[0] != 'B' || b[1] != 'M')
        return false;
    for (size_t i = 0; i < sizeof header_sizes / sizeof *header_sizes; i++)
        if (le32(b + 14) == header_sizes[i])
            return true;
    return false;
}

/* word (lower case) anywhere in the first 2 KB, case ignored */
static bool says(const uint8_t *b, size_t n, const char *word)
{
    size_t m = strlen(word);
    if (n > 2048)
        n = 2048;
    for (size_t i = 0; i + m <= n; i++) {
        size_t k = 0;
        while (k < m && (b[i + k] >= 'A' && b[i + k] <= 'Z' ? b[i + k] + 32 : b[i + k]) == word[k])
            k++;
        if (k == m)
            return true;
    }
    return false;
}

static int kind_of_text(const uint8_t *b, size_t n)
{
    size_t look = n < 512 ? n : 512, start = n >= 3 && !memcmp(b, "\xef\xbb\xbf", 3) ? 3 : 0;
    for (size_t i = start; i < look; i++)
        if (b[i] == 127 || (b[i] < ' ' && !strchr("\t\n\v\f\r\x1b", b[i] ? b[i] : 1)))
            return -1;
    while (start < look && strchr(" \t\r\n", b[start]))
        start++;
    if (start < look && b[start] == '<') {
        if (says(b, n, "<svg"))
            return K_SVG;
        return says(b, n, "<!doctype html") || says(b, n, "<html") ? K_HTML : K_XML;
    }
    if (look < 4) /* too little to say */
        return -1;
    for (size_t i = 0, high = 0; i < look; i++)
        if (b[i] >= 0x80 && ++high * 2 > look)
            return -1;
    return K_TEXT;
}

const ImageKind *image_kind_find(const uint8_t *bytes, size_t n)
{
    if (n >= 12 && !memcmp(bytes + 4, "ftyp", 4))
        return &kinds[kind_of_brands(bytes, n)];
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        size_t offset = (size_t)magics[i].offset;
        if (n >= offset + magics[i].n && !memcmp(bytes + offset, magics[i].bytes, magics[i].n) &&
            (offset == 0 || !memcmp(bytes, "RIFF", 4)))
            return &kinds[magics[i].kind];
    }
    if (is_bmp(bytes, n))
        return &kinds[K_BMP];
    if (n >= 10 &&
        !memcmp(bytes + 3, "\0\0\0\0\0{\"", 7)) /* eight bytes of length, less than 16 MB, then a JSON object */
        return &kinds[K_MODEL];
    int kind = kind_of_anymap(bytes, n);
    if (kind < 0 && n > 0)
        kind = kind_of_text(bytes, n);
    return kind < 0 ? NULL : &kinds[kind];
}

/* name+more as a shell word: quotes only when needed, so that the usual command stays readable. name has no quote in
 * it. */
static void quote(char *out, size_t n, const char *name, const char *more)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+=:,@";
    const char *dash = name[0] == '-' ? "./" : "";
    const char *mark = name[strspn(name, plain)] == 0 && !*more ? "" : "'";
    snprintf(out, n, "%s%s%s%s%s", mark, dash, name, more, mark);
}

bool image_kind_refuse(const ImageKind *k, const char *name, Err *err)
{
    if (k->advice)
        return err_set(err, "%s, not a picture that Vitrine reads. %s", k->phrase, k->advice);
    char stem[128], from[160], target[160], to[200];
    /* no command is better than a wrong one: names with quotes or control characters get the tool only */
    bool command = strcmp(name, "-") != 0 && strlen(name) < sizeof stem - 8 && !strchr(name, '\'');
    if (!command || strcmp(utf8_clean(stem, sizeof stem, name), name) != 0)
        return err_set(err, "%s, which Vitrine does not read. Convert it to PNG, for example with %.*s", k->phrase,
                       (int)strcspn(k->tool, " "), k->tool);
    quote(from, sizeof from, name, k->pick);
    char *dot = strrchr(stem, '.');
    if (dot && dot != stem && dot[-1] != '/' && !strchr(dot, '/'))
        *dot = 0;
    snprintf(target, sizeof target, "%s%s", stem, k->suffix);
    if (!strcmp(target, name)) /* a GIF that is called .png must not be asked to replace itself */
        snprintf(target, sizeof target, "%s-1%s", stem, k->suffix);
    quote(to, sizeof to, target, "");
    return err_set(err, "%s, which Vitrine does not read. Convert it: %s %s%s%s", k->phrase, k->tool, from, k->to, to);
}
