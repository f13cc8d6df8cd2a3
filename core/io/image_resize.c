/* Resizing as Pillow defines it (src/libImaging/Resample.c, its behaviour): for each output pixel a window of inputs
 * and weights from the filter stretched by the scale when shrinking; weights in double, normalised, rounded to 22
 * fractional bits; a horizontal pass rounded to 8 bits, then a vertical one. A pass that changes nothing is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"
#include "core/io/image.h"

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
