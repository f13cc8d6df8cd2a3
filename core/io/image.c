#include "core/io/image.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

void image_init(Image *im, int width, int height, int channels)
{
    REQUIRE(width > 0 && height > 0 && (channels == 1 || channels == 3));
    *im = (Image){.width = width, .height = height, .channels = channels, .orientation = 1};
    im->data = xcalloc(size_mul((size_t)width, (size_t)height), (size_t)channels);
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
