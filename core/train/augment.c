#include "core/train/augment.h"

#include <math.h>
#include <string.h>

static const float WHITE = 255, GREY = 127.5f;

bool augment_any(const Augment *a)
{
    return a->flip > 0 || a->shift > 0 || a->colour > 0 || a->mix > 0 || a->cut > 0 || a->erase > 0;
}

/* Every draw takes its number whether or not it is used: one choice does not change the others. */
static bool chance(Rng *r, double p)
{
    return (double)rng_unit(r) < p;
}

/* −1 is 0's other side: … 2 1 0 0 1 2 … n−1 n−1 n−2 … */
static int reflected(int i, int n)
{
    i = i < 0 ? -1 - i : i;
    return i >= n ? 2 * n - 1 - i : i;
}

static void move(int channels, int height, int width, bool flip, int down, int right, float *pixels, float *scratch)
{
    size_t plane = (size_t)height * (size_t)width;
    if (!flip && !down && !right)
        return;
    memcpy(scratch, pixels, (size_t)channels * plane * sizeof *pixels);
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < height; y++) {
            const float *row = scratch + (size_t)c * plane + (size_t)reflected(y - down, height) * (size_t)width;
            float *to = pixels + (size_t)c * plane + (size_t)y * (size_t)width;
            for (int x = 0; x < width; x++) {
                int from = reflected(x - right, width);
                to[x] = row[flip ? width - 1 - from : from];
            }
        }
}

static float clamped(float v)
{
    return v < 0 ? 0 : v > WHITE ? WHITE : v;
}

/* Brightness; contrast about the picture's mean grey; saturation about each pixel's grey. The weights are those of
 * ITU-R BT.601. */
static void recolour(int channels, size_t plane, float brightness, float contrast, float saturation, float *pixels)
{
    static const float LUMA[3] = {0.299f, 0.587f, 0.114f};
    double sum = 0;
    for (size_t i = 0; i < (size_t)channels * plane; i++)
        pixels[i] *= brightness;
    for (size_t i = 0; i < plane; i++)
        for (int c = 0; c < channels; c++)
            sum += (double)(pixels[(size_t)c * plane + i] * (channels == 3 ? LUMA[c] : 1));
    float mean = (float)(sum / (double)plane);
    for (size_t i = 0; i < plane; i++) {
        float grey = 0;
        for (int c = 0; c < channels; c++)
            grey += pixels[(size_t)c * plane + i] * (channels == 3 ? LUMA[c] : 1);
        for (int c = 0; c < channels; c++) {
            float *v = &pixels[(size_t)c * plane + i];
            *v = grey + (*v - grey) * saturation;
            *v = clamped(mean + (*v - mean) * contrast);
        }
    }
}

void augment_picture(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, float *scratch)
{
    bool flip = chance(r, a->flip);
    int most = 2 * a->shift + 1, down = (int)rng_below(r, (uint32_t)most) - a->shift,
        right = (int)rng_below(r, (uint32_t)most) - a->shift;
    float low = (float)(1 - a->colour), high = (float)(1 + a->colour), factor[3];
    for (int i = 0; i < 3; i++)
        factor[i] = rng_range(r, low, high);
    move(channels, height, width, flip, down, right, pixels, scratch);
    if (a->colour > 0)
        recolour(channels, (size_t)height * (size_t)width, factor[0], factor[1], factor[2], pixels);
}

typedef struct Box {
    int y, x, height, width;
} Box;

/* About `area` of the picture, wholly inside it; aspect: height over width, for a square picture. */
static Box some_box(Rng *r, int height, int width, float area, float aspect)
{
    float side = sqrtf(area), slant = sqrtf(aspect);
    Box b = {.height = (int)((float)height * side * slant + 0.5f), .width = (int)((float)width * side / slant + 0.5f)};
    b.height = b.height < height ? b.height : height;
    b.width = b.width < width ? b.width : width;
    b.y = (int)rng_below(r, (uint32_t)(height - b.height + 1));
    b.x = (int)rng_below(r, (uint32_t)(width - b.width + 1));
    return b;
}

/* other NULL: grey. */
static void fill(Box b, int channels, int height, int width, float *pixels, const float *other)
{
    for (int c = 0; c < channels; c++)
        for (int y = b.y; y < b.y + b.height; y++)
            for (int x = b.x; x < b.x + b.width; x++) {
                size_t at = ((size_t)c * (size_t)height + (size_t)y) * (size_t)width + (size_t)x;
                pixels[at] = other ? other[at] : GREY;
            }
}

double augment_mix(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, const float *other)
{
    bool mix = chance(r, a->mix), cut = chance(r, a->cut), erase = chance(r, a->erase);
    float share = rng_unit(r), erased = rng_range(r, 0.02f, 0.33f), aspect = rng_range(r, 1, 3);
    Box b = some_box(r, height, width, 1 - share, 1), grey;
    size_t cells = (size_t)channels * (size_t)height * (size_t)width;
    double own = 1;
    if (mix) {
        for (size_t i = 0; i < cells; i++)
            pixels[i] = share * pixels[i] + (1 - share) * other[i];
        own = (double)share;
    } else if (cut) {
        fill(b, channels, height, width, pixels, other);
        own = 1 - (double)b.height * b.width / ((double)height * width);
    }
    grey = some_box(r, height, width, erased, chance(r, 0.5) ? aspect : 1 / aspect);
    if (erase)
        fill(grey, channels, height, width, pixels, NULL);
    return own;
}
