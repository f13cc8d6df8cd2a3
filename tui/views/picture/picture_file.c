#include "tui/views/heat.h"
#include "tui/views/picture/picture.h"

enum { SAMPLES = 4 }; /* across and down, at most: a large photograph must not cost more to draw than a small one */

static int luminance(const int rgb[3])
{
    return (299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000;
}

/* Mean colour of a rectangle of pixels, from a few evenly spaced ones. */
static void mean_colour(const Image *im, int x0, int y0, int x1, int y1, int rgb[3])
{
    long sum[3] = {0, 0, 0}, n = 0;
    int nx = x1 - x0 < SAMPLES ? x1 - x0 : SAMPLES, ny = y1 - y0 < SAMPLES ? y1 - y0 : SAMPLES;
    for (int a = 0; a < ny; a++)
        for (int b = 0; b < nx; b++) {
            int y = y0 + (int)((long)(y1 - y0) * (2 * a + 1) / (2 * ny)),
                x = x0 + (int)((long)(x1 - x0) * (2 * b + 1) / (2 * nx));
            const uint8_t *pixel = im->data + ((size_t)y * (size_t)im->width + (size_t)x) * (size_t)im->channels;
            for (int k = 0; k < 3; k++)
                sum[k] += pixel[im->channels == 3 ? k : 0];
            n++;
        }
    for (int k = 0; k < 3; k++)
        rgb[k] = n ? (int)(sum[k] / n) : 0;
}

static void put_pixel(const Paint *p, const Image *im, Rect r, int half, const int place[2], const int span[2])
{
    int rgb[3], edge[4]; /* x0 y0 x1 y1 */
    const int size[2] = {im->width, im->height};
    for (int k = 0; k < 2; k++) {
        edge[k] = (int)((long)place[k] * size[k] / span[k]);
        edge[k + 2] = (int)((long)(place[k] + 1) * size[k] / span[k]);
        if (edge[k + 2] <= edge[k])
            edge[k + 2] = edge[k] + 1;
    }
    mean_colour(im, edge[0], edge[1], edge[2], edge[3], rgb);
    Colour colour = (Colour)rgb[0] << 16 | (Colour)rgb[1] << 8 | (Colour)rgb[2];
    int y = half >= 0 ? place[1] / 2 : place[1];
    canvas_pixel(p->c, r.y + y, r.x + place[0], half, colour, luminance(rgb) * 9 / 255, 0, (Ref){0});
}

void picture_file(const Paint *p, Rect r, const Image *im)
{
    if (!im->data || r.w < 1 || r.h < 1)
        return;
    bool halves = heat_halves(p);
    int room = r.h * 2; /* in half lines, which are about square */
    int span[2] = {r.w, (int)((long)r.w * im->height / im->width)};
    if (span[1] > room) {
        span[1] = room;
        span[0] = (int)((long)room * im->width / im->height);
    }
    span[0] = span[0] < 1 ? 1 : span[0];
    if (!halves)
        span[1] /= 2;
    span[1] = span[1] < 1 ? 1 : span[1];
    for (int y = 0; y < span[1]; y++)
        for (int x = 0; x < span[0]; x++)
            put_pixel(p, im, r, halves ? y % 2 : -1, (int[]){x, y}, span);
}
