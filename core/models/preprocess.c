#include "core/models/preprocess.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

/* What the picture is resized to before the crop. Covering keeps proportions: the tighter side becomes the target's,
 * the other is rounded down for a square target and to nearest otherwise, as torchvision and timm do. */
static void resized_size(const Preprocess *p, int w, int h, int64_t *out_w, int64_t *out_h)
{
    *out_w = p->resize_w;
    *out_h = p->resize_h;
    if (p->mode == RESIZE_SQUASH)
        return;
    if (p->mode == RESIZE_KEEP) {
        *out_w = w;
        *out_h = h;
        return;
    }
    int64_t across = (int64_t)w * p->resize_h, down = (int64_t)h * p->resize_w;
    double half = p->resize_w == p->resize_h ? 0 : 0.5;
    if (across > down)
        *out_w = (int64_t)((double)across / h + half);
    else if (down > across)
        *out_h = (int64_t)((double)down / w + half);
}

/* First row or column of a centre crop; negative when the crop is larger than the picture (its border is black). */
static int crop_start(int64_t have, int want, bool to_even)
{
    int64_t spare = have - want, half = spare >= 0 ? spare / 2 : -((1 - spare) / 2);
    if (to_even && spare % 2 != 0 && half % 2 != 0)
        half++;
    return (int)half;
}

static int first_col(const Preprocess *p, int64_t w)
{
    return crop_start(w, p->width + p->beyond_w, p->crop_to_even);
}

static int first_row(const Preprocess *p, int64_t h)
{
    return crop_start(h, p->height + p->beyond_h, p->crop_to_even);
}

bool preprocess_run(const Preprocess *p, const Image *in, Image *resized, float *pixels, Err *err)
{
    if (p->channels != 1 && p->channels != 3)
        return err_set(err, "the model wants %d channels per pixel; pictures have 1 (grey) or 3 (RGB)", p->channels);
    int64_t w, h;
    resized_size(p, in->width, in->height, &w, &h);
    if (w < 1 || h < 1 || w > IMAGE_PIXELS_MAX || h > IMAGE_PIXELS_MAX || w * h > IMAGE_PIXELS_MAX)
        return err_set(err,
                       "a picture of %d × %d is too large when it is resized to cover %d × %d, as the files of this "
                       "model say; cut it nearer to a square, or lower that size",
                       in->width, in->height, p->resize_w, p->resize_h);
    Image source, big;
    image_init(&source, in->width, in->height, in->channels);
    memcpy(source.data, in->data, image_bytes(in));
    image_convert(&source, p->channels);
    float *exact = p->exact ? image_resize_exact(&source, (int)w, (int)h, p->filter) : NULL;
    if (exact) {
        image_init(&big, (int)w, (int)h, p->channels);
        for (size_t i = 0; i < (size_t)(w * h) * (size_t)p->channels; i++)
            big.data[i] = (uint8_t)(exact[i] < 0 ? 0 : exact[i] > 255 ? 255 : exact[i] + 0.5f);
    } else
        image_resize(&big, &source, (int)w, (int)h, p->filter);
    image_free(&source);
    image_crop(resized, &big, first_col(p, w), first_row(p, h), p->width, p->height);
    image_free(&big);
    for (int y = 0; pixels && y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            for (int c = 0; c < p->channels; c++) {
                int64_t from_x = x + first_col(p, w), from_y = y + first_row(p, h);
                size_t plane = (size_t)p->width * (size_t)p->height, at = (size_t)y * (size_t)p->width + (size_t)x;
                bool inside = from_x >= 0 && from_x < w && from_y >= 0 && from_y < h;
                pixels[(size_t)c * plane + at] =
                    !exact   ? (float)resized->data[at * (size_t)p->channels + (size_t)c]
                    : inside ? exact[(size_t)(from_y * w + from_x) * (size_t)p->channels + (size_t)c]
                             : 0.0f;
            }
    free(exact);
    return true;
}

bool preprocess_squeezes(const Preprocess *p, int source_w, int source_h)
{
    int64_t w, h;
    resized_size(p, source_w, source_h, &w, &h);
    double ratio = (double)source_w * (double)h / ((double)source_h * (double)w);
    return ratio > 1.02 || ratio < 1 / 1.02;
}

SourceRect preprocess_source(const Preprocess *p, int source_w, int source_h, int x, int y)
{
    int64_t w, h;
    resized_size(p, source_w, source_h, &w, &h);
    double sx = (double)source_w / (double)w, sy = (double)source_h / (double)h;
    double left = x + first_col(p, w), top = y + first_row(p, h);
    SourceRect r = {left * sx, top * sy, (left + 1) * sx, (top + 1) * sy};
    r.x0 = r.x0 < 0 ? 0 : r.x0 > source_w ? source_w : r.x0;
    r.x1 = r.x1 < 0 ? 0 : r.x1 > source_w ? source_w : r.x1;
    r.y0 = r.y0 < 0 ? 0 : r.y0 > source_h ? source_h : r.y0;
    r.y1 = r.y1 < 0 ? 0 : r.y1 > source_h ? source_h : r.y1;
    return r;
}

bool preprocess_beyond(const Preprocess *p, const size_t *shape, int rank, size_t *trimmed, bool *last)
{
    size_t h = (size_t)(p->height + p->beyond_h), w = (size_t)(p->width + p->beyond_w), ch = (size_t)p->channels;
    if (rank < 3 || !(p->beyond_w || p->beyond_h))
        return false;
    const size_t *end = shape + rank - 3;
    bool first = end[0] == ch && end[1] == h && end[2] == w;
    *last = !first && end[0] == h && end[1] == w && end[2] == ch;
    for (int i = 0; trimmed && i < rank; i++)
        trimmed[i] = shape[i];
    if (trimmed && (first || *last)) {
        trimmed[rank - (*last ? 3 : 2)] = (size_t)p->height;
        trimmed[rank - (*last ? 2 : 1)] = (size_t)p->width;
    }
    return first || *last;
}

void preprocess_trim(const Preprocess *p, const float *in, size_t pictures, bool last, float *out)
{
    size_t ch = (size_t)p->channels, planes = last ? pictures : pictures * ch, each = last ? ch : 1,
           h = (size_t)p->height, w = (size_t)p->width * each, wide = (size_t)(p->width + p->beyond_w) * each;
    for (size_t k = 0; k < planes; k++)
        for (size_t y = 0; y < h; y++)
            memcpy(out + (k * h + y) * w, in + (k * (h + (size_t)p->beyond_h) + y) * wide, w * sizeof *out);
}
