#include "assets/scenes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SAMPLES = 4, OCTAVES = 3, COARSEST = 8 }; /* samples of a pixel across and down; noise of 8, 4 and 2 pixels */

typedef struct Shape {
    enum { SCENE_BEGINS, OVAL_SHAPE, QUAD_SHAPE } kind;
    const char *name;
    double at[8]; /* as in scenes.def */
    uint32_t colour[4];
} Shape;

static const Shape SHAPES[] = {
#define SCENE(name, top, horizon, y, near, far, rough)                                                                 \
    {SCENE_BEGINS, #name, {y, rough / 100.0}, {top, horizon, near, far}},
#define OVAL(x, y, w, h, tilt, colour) {OVAL_SHAPE, NULL, {x, y, w, h, tilt / 100.0}, {colour}},
#define QUAD(x0, y0, x1, y1, x2, y2, x3, y3, colour) {QUAD_SHAPE, NULL, {x0, y0, x1, y1, x2, y2, x3, y3}, {colour}},
#include "assets/scenes.def"
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static const Shape *scene(int i)
{
    for (size_t k = 0; k < SHAPE_COUNT; k++)
        if (SHAPES[k].kind == SCENE_BEGINS && i-- == 0)
            return &SHAPES[k];
    return NULL;
}

const char *scene_name(int i)
{
    const Shape *s = scene(i);
    return s ? s->name : NULL;
}

static double channel(uint32_t colour, int c)
{
    return (double)(colour >> (16 - 8 * c) & 0xff);
}

/* −1 … 1 at a lattice point. */
static double lattice(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 0x9e3779b1U ^ y * 0x85ebca77U ^ seed * 0xc2b2ae3dU;
    h = (h ^ h >> 15) * 0x2c1b3c6dU;
    h = (h ^ h >> 12) * 0x297a2d39U;
    return (double)((h ^ h >> 15) & 0xffff) / 32767.5 - 1;
}

/* Value noise (bilinear between lattice points), half as strong in every finer octave. */
static double noise(double x, double y, uint32_t seed)
{
    double sum = 0, weight = 1;
    for (int o = 0, step = COARSEST; o < OCTAVES; o++, step /= 2, weight /= 2) {
        double u = x / step, v = y / step;
        uint32_t iu = (uint32_t)u, iv = (uint32_t)v;
        u -= iu;
        v -= iv;
        uint32_t s = seed * OCTAVES + (uint32_t)o;
        sum += weight * ((lattice(iu, iv, s) * (1 - u) + lattice(iu + 1, iv, s) * u) * (1 - v) +
                         (lattice(iu, iv + 1, s) * (1 - u) + lattice(iu + 1, iv + 1, s) * u) * v);
    }
    return sum / 1.75;
}

/* Is the point in the shape, and how high in it: 1 at its upper edge, −1 at its lower one? */
static bool inside(const Shape *s, double x, double y, double *height)
{
    const double *a = s->at;
    if (s->kind == OVAL_SHAPE) {
        double dx = x - a[0], dy = y - a[1] - a[4] * dx, u = dx / a[2], v = dy / a[3];
        *height = -v;
        return u * u + v * v < 1;
    }
    double low = a[1], high = a[1];
    int side = 0;
    for (int i = 0; i < 4; i++) {
        int j = (i + 1) % 4;
        double cross = (a[2 * j] - a[2 * i]) * (y - a[2 * i + 1]) - (a[2 * j + 1] - a[2 * i + 1]) * (x - a[2 * i]);
        if (cross > 0)
            side++;
        low = a[2 * i + 1] < low ? a[2 * i + 1] : low;
        high = a[2 * i + 1] > high ? a[2 * i + 1] : high;
    }
    *height = high > low ? 1 - 2 * (y - low) / (high - low) : 0;
    return side == 0 || side == 4;
}

/* What is seen at a point: the ground, or the last shape in front of it, lit from above. */
static void look(const Shape *s, uint32_t seed, double x, double y, double out[3])
{
    const double horizon = s->at[0], rough = s->at[1];
    const bool above = y < horizon;
    const double t = above ? y / horizon : (SCENE_SIDE - y) / (SCENE_SIDE - horizon);
    const double grain = noise(x, above ? y : 2 * y, seed) * rough * (above && horizon < SCENE_SIDE ? 0.4 : 1);
    for (int c = 0; c < 3; c++)
        out[c] = (channel(s->colour[above ? 0 : 2], c) * (1 - t) + channel(s->colour[above ? 1 : 3], c) * t) *
                 (1 + grain);
    for (const Shape *k = s + 1; k < SHAPES + SHAPE_COUNT && k->kind != SCENE_BEGINS; k++) {
        double height;
        if (!inside(k, x, y, &height))
            continue;
        double light = 1 + 0.22 * height + 0.10 * noise(2 * x, 2 * y, seed + 1);
        for (int c = 0; c < 3; c++)
            out[c] = channel(k->colour[0], c) * light;
    }
}

void scene_render(int i, uint8_t *pixels)
{
    const Shape *s = scene(i);
    for (int y = 0; y < SCENE_SIDE; y++)
        for (int x = 0; x < SCENE_SIDE; x++) {
            double sum[3] = {0}, one[3];
            for (int k = 0; k < SAMPLES * SAMPLES; k++) {
                look(s, (uint32_t)i, x + (k % SAMPLES + 0.5) / SAMPLES, y + (k / SAMPLES + 0.5) / SAMPLES, one);
                for (int c = 0; c < 3; c++)
                    sum[c] += one[c] / (SAMPLES * SAMPLES);
            }
            for (int c = 0; c < 3; c++) { /* and a camera's grain */
                double v = sum[c] + 3 * lattice((uint32_t)x, (uint32_t)y, (uint32_t)(1000 + 3 * i + c));
                pixels[(y * SCENE_SIDE + x) * 3 + c] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5);
            }
        }
}
