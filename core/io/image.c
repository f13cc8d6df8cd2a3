#include "core/io/image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/dmath.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/image_parts.h"

void image_init(Image *im, int width, int height, int channels)
{
    REQUIRE(width > 0 && height > 0 && (channels == 1 || channels == 3));
    *im = (Image){.width = width, .height = height, .channels = channels, .orientation = 1};
    im->data = xcalloc(size_mul((size_t)width, (size_t)height), (size_t)channels);
}

size_t image_bytes(const Image *im)
{
    return size_mul(size_mul((size_t)im->width, (size_t)im->height), (size_t)im->channels);
}

void image_free(Image *im)
{
    free(im->data);
    *im = (Image){0};
}

/* The facts about the source stay with the picture that is made from it. */
static void image_like(Image *out, const Image *in, int width, int height, int channels)
{
    Image made;
    image_init(&made, width, height, channels);
    made.had_alpha = in->had_alpha;
    made.was_16_bit = in->was_16_bit;
    made.orientation = in->orientation;
    *out = made;
}

void image_convert(Image *im, int channels)
{
    REQUIRE(channels == 1 || channels == 3);
    if (im->channels == channels)
        return;
    Image made;
    image_like(&made, im, im->width, im->height, channels);
    size_t pixels = size_mul((size_t)im->width, (size_t)im->height);
    const uint8_t *from = im->data;
    uint8_t *to = made.data;
    if (channels == 3)
        for (size_t i = 0; i < pixels; i++, to += 3)
            to[0] = to[1] = to[2] = from[i];
    else
        for (size_t i = 0; i < pixels; i++, from += 3)
            to[i] = (uint8_t)((from[0] * 19595u + from[1] * 38470u + from[2] * 7471u + 0x8000u) >> 16);
    image_free(im);
    *im = made;
}

void image_crop(Image *out, const Image *in, int x, int y, int width, int height)
{
    image_like(out, in, width, height, in->channels);
    size_t depth = (size_t)in->channels;
    int64_t left = x < 0 ? -(int64_t)x : 0; /* first column of out that lies inside in */
    int64_t right = (int64_t)in->width - x < width ? (int64_t)in->width - x : width;
    for (int64_t row = 0; row < height && left < right; row++) {
        int64_t source = row + y;
        if (source < 0 || source >= in->height)
            continue;
        memcpy(out->data + ((size_t)row * (size_t)width + (size_t)left) * depth,
               in->data + ((size_t)source * (size_t)in->width + (size_t)(left + x)) * depth,
               (size_t)(right - left) * depth);
    }
}

/* Orientation: one tag of the first directory of a TIFF structure (Exif 2.32, tag 0x0112), found in JPEG APP1 and PNG
 * eXIf. */

int image_exif(const uint8_t *tiff, size_t n)
{
    if (n < 8)
        return 1;
    bool big = !memcmp(tiff, "MM\0*", 4);
    if (!big && memcmp(tiff, "II*\0", 4) != 0)
        return 1;
    unsigned (*get16)(const uint8_t *) = big ? be16 : le16;
    uint32_t (*get32)(const uint8_t *) = big ? be32 : le32;
    size_t at = get32(tiff + 4);
    if (at > n - 2)
        return 1;
    size_t entries = get16(tiff + at);
    enum { ENTRY = 12, TAG = 0x0112, SHORT = 3 };
    for (at += 2; entries > 0 && n - at >= ENTRY; entries--, at += ENTRY) {
        const uint8_t *e = tiff + at;
        if (get16(e) != TAG)
            continue;
        unsigned value = get16(e + 8);
        return get16(e + 2) == SHORT && get32(e + 4) == 1 && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

/* Where stored row 0 and stored column 0 are on the upright picture, as in the Exif table: the upright pixel (x, y) is
 * the stored pixel whose column is x or y (swapped), counted from the left or from the right. */
static const struct {
    bool swapped, from_right, from_bottom;
} orientations[9] = {
    [1] = {false, false, false}, [2] = {false, true, false}, [3] = {false, true, true}, [4] = {false, false, true},
    [5] = {true, false, false},  [6] = {true, false, true},  [7] = {true, true, true},  [8] = {true, true, false},
};

void image_orient(Image *im, int orientation)
{
    REQUIRE(orientation >= 1 && orientation <= 8);
    if (orientation == 1) {
        im->orientation = 1;
        return;
    }
    bool swapped = orientations[orientation].swapped;
    Image up;
    image_init(&up, swapped ? im->height : im->width, swapped ? im->width : im->height, im->channels);
    size_t depth = (size_t)im->channels;
    uint8_t *to = up.data;
    for (int y = 0; y < up.height; y++)
        for (int x = 0; x < up.width; x++, to += depth) {
            int column = swapped ? y : x, row = swapped ? x : y;
            if (orientations[orientation].from_right)
                column = im->width - 1 - column;
            if (orientations[orientation].from_bottom)
                row = im->height - 1 - row;
            memcpy(to, im->data + ((size_t)row * (size_t)im->width + (size_t)column) * depth, depth);
        }
    up.had_alpha = im->had_alpha;
    up.was_16_bit = im->was_16_bit;
    up.orientation = orientation;
    image_free(im);
    *im = up;
}

/* The decoder library does not defend itself: what could hurt it, or make it wrong without saying so, is refused before
 * it is called. One file per format; each walks the file exactly as the library will, so that nothing hides between the
 * two readings. */

bool image_check_sides(uint64_t width, uint64_t height, Err *err)
{
    if (width == 0 || height == 0)
        return err_set(err, "a damaged picture: its header says %llu x %llu pixels", (unsigned long long)width,
                       (unsigned long long)height);
    if (width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX || width * height > IMAGE_PIXELS_MAX)
        return err_set(
            err, "too large: %llu x %llu pixels; allowed are %d a side and %d million in all. Scale it down first",
            (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_MAX, IMAGE_PIXELS_MAX / 1000000);
    return true;
}

bool image_check(ImagePlan *plan, ImageFormat format, const uint8_t *bytes, size_t n, Err *err)
{
    static bool (*const checks[])(ImagePlan *, const uint8_t *, size_t, Err *) = {
        [IMAGE_PNG] = image_check_png, [IMAGE_JPEG] = image_check_jpeg, [IMAGE_BMP] = image_check_bmp};
    REQUIRE(format == IMAGE_PNG || format == IMAGE_JPEG || format == IMAGE_BMP);
    *plan = (ImagePlan){.format = format, .orientation = 1};
    return checks[format](plan, bytes, n, err);
}

void image_plan_free(ImagePlan *plan)
{
    buf_free(&plan->clean);
    *plan = (ImagePlan){0};
}

static bool decode(Image *out, const char *name, const uint8_t *bytes, size_t n, Err *err)
{
    if (n == 0)
        return err_set(err, "the file is empty. Give a PNG, JPEG, BMP or PPM picture");
    if (n > IMAGE_FILE_MAX)
        return err_set(err, "too large: %zu bytes, and %d are allowed. Scale the picture down first", n,
                       IMAGE_FILE_MAX);
    const ImageKind *kind = image_kind_find(bytes, n);
    if (!kind)
        return err_set(err, "not a picture of a known kind. Give a PNG, JPEG, BMP or PPM picture");
    if (kind->format == IMAGE_NOT_READ)
        return image_kind_refuse(kind, name, err);
    if (kind->format == IMAGE_PNM)
        return image_pnm(out, bytes, n, err);
    ImagePlan plan;
    Image im;
    bool ok = image_check(&plan, kind->format, bytes, n, err) && image_decode_confined(&im, &plan, bytes, n, err);
    if (ok) {
        image_orient(&im, plan.orientation);
        *out = im;
    }
    image_plan_free(&plan);
    return ok;
}

bool image_decode(Image *out, const char *name, const uint8_t *bytes, size_t n, Err *err)
{
    char shown[200];
    if (decode(out, name, bytes, n, err))
        return true;
    utf8_clean(shown, sizeof shown, strcmp(name, "-") != 0 ? name : "standard input");
    return err_prefix(err, "%s", shown);
}

bool image_read(Image *out, const char *path, Err *err)
{
    Buf file = {0};
    bool ok = file_read(path, IMAGE_FILE_MAX, &file, err) &&
              image_decode(out, path, (const uint8_t *)buf_str(&file), file.len, err);
    buf_free(&file);
    return ok;
}

/* Pictures out: PNG by stb_image_write (the same bytes on every machine), portable anymaps by hand. */

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#define STBIW_MALLOC(n) xmalloc(n)
#define STBIW_REALLOC(p, n) xrealloc(p, n)
#define STBIW_FREE(p) free(p)
#include <stb/stb_image_write.h>

static void add(void *context, void *data, int n)
{
    buf_add(context, data, (size_t)n);
}

void image_deflate(const void *bytes, size_t n, Buf *out)
{
    enum { LEVEL = 3 };
    uLongf size = compressBound(n);
    uint8_t *packed = xmalloc(size);
    REQUIRE(compress2(packed, &size, bytes, n, LEVEL) == Z_OK);
    buf_add(out, packed, size);
    free(packed);
}

bool image_png(const Image *im, Buf *out, Err *err)
{
    /* the library counts bytes in int; our own limit is far below */
    if (im->width < 1 || im->height < 1 || im->width > IMAGE_SIDE_MAX || im->height > IMAGE_SIDE_MAX ||
        (int64_t)im->width * im->height > IMAGE_PIXELS_MAX)
        return err_set(err, "a PNG of %d x %d pixels is too large to write", im->width, im->height);
    REQUIRE(im->channels == 1 || im->channels == 3);
    if (!stbi_write_png_to_func(add, out, im->width, im->height, im->channels, im->data, im->width * im->channels))
        return err_set(err, "a PNG of %d x %d pixels can't be made", im->width, im->height);
    return true;
}

bool image_write_png(const Image *im, const char *path, Err *err)
{
    Buf b = {0};
    bool ok = image_png(im, &b, err) ? file_write(path, b.data, b.len, err) : err_prefix(err, "%s", path);
    buf_free(&b);
    return ok;
}

bool image_write_pnm(const Image *im, const char *path, Err *err)
{
    REQUIRE(im->channels == 1 || im->channels == 3);
    Buf b = {0};
    buf_printf(&b, "P%d\n%d %d\n255\n", im->channels == 3 ? 6 : 5, im->width, im->height);
    buf_add(&b, im->data, image_bytes(im));
    bool ok = file_write(path, b.data, b.len, err);
    buf_free(&b);
    return ok;
}

/* --- resizing --- */

/* As Pillow defines it (src/libImaging/Resample.c, its behaviour): for each output pixel a window of inputs and weights
 * from the filter stretched by the scale when shrinking; weights in double, normalised, rounded to 22 fractional bits;
 * a horizontal pass rounded to 8 bits, then a vertical one. A pass that changes nothing is left out. */
enum { FRACTION = 22 };

static double bilinear(double x)
{
    x = dm_abs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

/* Keys 1981 with a = −1/2 */
static double bicubic(double x)
{
    const double a = -0.5;
    x = dm_abs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
    return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a : 0.0;
}

static double sinc(double x)
{
    return x == 0.0 ? 1.0 : dm_sin(x * DM_PI) / (x * DM_PI);
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static const struct {
    double (*weight)(double);
    double support;
} filters[] = {[FILTER_BILINEAR] = {bilinear, 1.0},
               [FILTER_BICUBIC] = {bicubic, 2.0},
               [FILTER_LANCZOS] = {lanczos, 3.0},
               [FILTER_BOX] = {box, 0.5}};

/* For output i: inputs first[i] … first[i]+count[i]−1 with weights share[i·room + …], and the same in 22 bits. */
typedef struct Window {
    int *first, *count;
    double *share;
    int32_t *weight;
    size_t room;
} Window;

static void window_init(Window *w, int in, int out, Filter f)
{
    double scale = (double)in / out, stretch = scale < 1.0 ? 1.0 : scale;
    double support = filters[f].support * stretch, shrink = 1.0 / stretch;
    w->room = (size_t)-dm_floor(-support) * 2 + 1;
    w->first = xcalloc((size_t)out, sizeof *w->first);
    w->count = xcalloc((size_t)out, sizeof *w->count);
    w->share = xcalloc(size_mul((size_t)out, w->room), sizeof *w->share);
    w->weight = xcalloc(size_mul((size_t)out, w->room), sizeof *w->weight);
    for (int i = 0; i < out; i++) {
        double centre = (i + 0.5) * scale, sum = 0.0, *k = w->share + (size_t)i * w->room;
        int first = (int)(centre - support + 0.5), end = (int)(centre + support + 0.5);
        if (first < 0)
            first = 0;
        if (end > in)
            end = in;
        for (int j = 0; j < end - first; j++)
            sum += k[j] = filters[f].weight((j + first - centre + 0.5) * shrink);
        w->first[i] = first;
        w->count[i] = end - first;
        for (int j = 0; j < end - first; j++) {
            k[j] = sum != 0.0 ? k[j] / sum : k[j];
            w->weight[(size_t)i * w->room + (size_t)j] = (int32_t)((k[j] < 0.0 ? -0.5 : 0.5) + k[j] * (1 << FRACTION));
        }
    }
}

static void window_free(Window *w)
{
    free(w->first);
    free(w->count);
    free(w->share);
    free(w->weight);
}

/* Σ weight·from over a window whose inputs lie `step` bytes apart */
static uint8_t weigh(const Window *w, int i, const uint8_t *from, size_t step)
{
    const int32_t *k = w->weight + (size_t)i * w->room;
    int32_t sum = 1 << (FRACTION - 1);
    for (int j = 0; j < w->count[i]; j++, from += step)
        sum += *from * k[j];
    sum >>= FRACTION;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

/* to[o,i,c] = Σ weight·from[o,first[i] + j,c]: along a row with inner = channels, down a column with outer = 1. */
static void pass(uint8_t *to, const uint8_t *from, int outer, int in, int out, size_t inner, Filter f)
{
    Window w;
    window_init(&w, in, out, f);
    for (int o = 0; o < outer; o++, from += (size_t)in * inner)
        for (int i = 0; i < out; i++)
            for (size_t c = 0; c < inner; c++)
                *to++ = weigh(&w, i, from + (size_t)w.first[i] * inner + c, inner);
    window_free(&w);
}

/* The same without rounding. */
static void pass_exact(float *to, const float *from, int outer, int in, int out, size_t inner, Filter f)
{
    Window w;
    window_init(&w, in, out, f);
    for (int o = 0; o < outer; o++, from += (size_t)in * inner)
        for (int i = 0; i < out; i++)
            for (size_t c = 0; c < inner; c++) {
                const double *k = w.share + (size_t)i * w.room;
                const float *x = from + (size_t)w.first[i] * inner + c;
                double sum = 0;
                for (int j = 0; j < w.count[i]; j++, x += inner)
                    sum += (double)*x * k[j];
                *to++ = (float)sum;
            }
    window_free(&w);
}

/* The source index of each output, its position accumulated by additions as Pillow does: at exact borders the rounding
 * decides. */
static int *nearest_map(int in, int out)
{
    int *map = xcalloc((size_t)out, sizeof *map);
    double step = (double)in / out, at = step * 0.5;
    for (int i = 0; i < out; i++, at += step)
        map[i] = (int)at < in ? (int)at : in - 1;
    return map;
}

static void nearest(Image *out, const Image *in, int width, int height)
{
    image_init(out, width, height, in->channels);
    int *column = nearest_map(in->width, width), *row = nearest_map(in->height, height);
    size_t depth = (size_t)in->channels;
    uint8_t *to = out->data;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++, to += depth)
            memcpy(to, in->data + ((size_t)row[y] * (size_t)in->width + (size_t)column[x]) * depth, depth);
    free(column);
    free(row);
}

void image_resize(Image *out, const Image *in, int width, int height, Filter f)
{
    REQUIRE(width > 0 && height > 0 && in->data && in != out);
    Image made = {0}, between = {0};
    size_t depth = (size_t)in->channels;
    if (f == FILTER_NEAREST) {
        nearest(&made, in, width, height);
    } else {
        const Image *from = in;
        if (width != in->width || height == in->height) { /* same size: the identity kernel copies */
            image_init(&between, width, in->height, in->channels);
            pass(between.data, in->data, in->height, in->width, width, depth, f);
            from = &between;
        }
        if (height != in->height) {
            image_init(&made, width, height, in->channels);
            pass(made.data, from->data, 1, in->height, height, (size_t)width * depth, f);
        } else
            made = between, between = (Image){0};
    }
    image_free(&between);
    made.had_alpha = in->had_alpha;
    made.was_16_bit = in->was_16_bit;
    made.orientation = in->orientation;
    *out = made;
}

float *image_resize_exact(const Image *in, int width, int height, Filter f)
{
    REQUIRE(width > 0 && height > 0 && in->data);
    size_t depth = (size_t)in->channels, row = size_mul((size_t)width, depth), cells = size_mul(row, (size_t)height);
    float *made = xcalloc(cells, sizeof *made);
    Image same = {0};
    if (f == FILTER_NEAREST) {
        nearest(&same, in, width, height);
        for (size_t i = 0; i < cells; i++)
            made[i] = (float)same.data[i];
        image_free(&same);
        return made;
    }
    size_t all = size_mul(size_mul((size_t)in->width, depth), (size_t)in->height);
    float *from = xcalloc(all, sizeof *from), *between = xcalloc(size_mul(row, (size_t)in->height), sizeof *between);
    for (size_t i = 0; i < all; i++)
        from[i] = (float)in->data[i];
    pass_exact(between, from, in->height, in->width, width, depth, f);
    pass_exact(made, between, 1, in->height, height, row, f);
    free(from);
    free(between);
    return made;
}
