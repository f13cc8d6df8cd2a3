#include "core/models/shapes.h"

#include <stdbool.h>
#include <stddef.h>

#include "core/base/dmath.h"
#include "core/base/rng.h"

const char *const SHAPES_NAMES[SHAPES_CLASSES] = {"circle", "ring",  "square",   "frame", "triangle",
                                                  "star",   "cross", "crescent", "heart", "arrow"};

/* The series of pictures. Another seed is another series; with this one picture 17 is a star. */
enum { SERIES_SEED = 6, SIDE = SHAPES_SIDE, SUB = 3 };

typedef enum Shape { CIRCLE, RING, SQUARE, FRAME, TRIANGLE, STAR, CROSS, CRESCENT, HEART, ARROW } Shape;
typedef enum Ground { CLOUDS, GRADIENT, GLOW, STRIPES, GROUNDS } Ground;
typedef struct Rgb {
    double c[3];
} Rgb;
typedef struct Pad {
    Rgb pixel[SIDE][SIDE];
} Pad;
typedef struct Field {
    double at[SIDE][SIDE];
} Field;
typedef struct Placed {
    double x, y, radius, aspect, angle;
} Placed;

static double clamp(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

static double mix(double a, double b, double t)
{
    return a + (b - a) * t;
}

static double smooth(double t)
{
    return t * t * (3 - 2 * t);
}

static double draw(Rng *r, double a, double b)
{
    return a + (b - a) * (double)rng_unit(r);
}

static Rgb draw_colour(Rng *r, double least, double most)
{
    Rgb k;
    for (int i = 0; i < 3; i++)
        k.c[i] = draw(r, least, most);
    return k;
}

/* --- what a shape covers; u to the right, v down, the unit circle around it --- */

static bool in_triangle(double u, double v)
{
    const double slope = 0.8660254037844386; /* sin 60° */
    return v <= 0.5 && slope * u - 0.5 * v <= 0.5 && -slope * u - 0.5 * v <= 0.5;
}

/* Five points: the angle is folded onto half a point, whose edge runs from the tip (1, 0) to the notch between two points. */
static bool in_star(double u, double v)
{
    const double fifth = 2 * DM_PI / 5, notch = 0.42;
    double r = dm_sqrt(u * u + v * v), a = dm_atan2(u, -v);
    a = dm_abs(a - fifth * dm_floor(a / fifth + 0.5));
    double x = r * dm_cos(a), y = r * dm_sin(a);
    double nx = notch * dm_cos(fifth / 2), ny = notch * dm_sin(fifth / 2);
    return (x - 1) * ny - y * (nx - 1) <= 0;
}

static bool in_heart(double u, double v)
{
    double a = dm_abs(u), lobe_x = a - 0.44, lobe_y = v + 0.30;
    return lobe_x * lobe_x + lobe_y * lobe_y <= 0.25 || (v >= -0.14 && a <= 0.93 * (0.95 - v) / 1.09);
}

static bool in_arrow(double u, double v)
{
    double b = dm_abs(v);
    bool shaft = b <= 0.20 && u >= -0.97 && u <= 0.1;
    return shaft || (u >= 0 && u <= 0.97 && b <= 0.85 * (0.97 - u) / 0.97);
}

static bool inside(Shape s, double u, double v)
{
    double rr = u * u + v * v, a = dm_abs(u), b = dm_abs(v), side = a > b ? a : b, narrow = a > b ? b : a;
    switch (s) {
    case CIRCLE: return rr <= 0.88 * 0.88;
    case RING: return rr <= 0.94 * 0.94 && rr >= 0.52 * 0.52;
    case SQUARE: return side <= 0.78;
    case FRAME: return side <= 0.84 && side >= 0.46;
    case TRIANGLE: return in_triangle(u, v);
    case STAR: return in_star(u, v);
    case CROSS: return narrow <= 0.29 && side <= 0.95;
    case CRESCENT: return rr <= 0.96 * 0.96 && (u - 0.46) * (u - 0.46) + v * v > 0.74 * 0.74;
    case HEART: return in_heart(u, v);
    default: return in_arrow(u, v);
    }
}

/* --- grounds --- */

/* Smooth noise: four lattices of 2, 4, 8 and 16 cells per side, each a little over half as strong as the one before; 0 … 1. */
static void draw_clouds(Rng *r, Field *f)
{
    double strength = 1, total = 0;
    *f = (Field){0};
    for (int cells = 2; cells <= 16; cells *= 2) {
        double lattice[17][17];
        for (int y = 0; y <= cells; y++)
            for (int x = 0; x <= cells; x++)
                lattice[y][x] = draw(r, 0, 1);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                double fy = (y + 0.5) * cells / SIDE, fx = (x + 0.5) * cells / SIDE;
                int iy = (int)fy, ix = (int)fx;
                double tx = smooth(fx - ix), ty = smooth(fy - iy);
                double top = mix(lattice[iy][ix], lattice[iy][ix + 1], tx);
                double low = mix(lattice[iy + 1][ix], lattice[iy + 1][ix + 1], tx);
                f->at[y][x] += strength * mix(top, low, ty);
            }
        total += strength;
        strength *= 0.55;
    }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            f->at[y][x] = clamp(0.5 + (f->at[y][x] / total - 0.5) * 1.8, 0, 1);
}

static double ground_at(Ground kind, double clouds, double x, double y, double dx, double dy, double period, double phase)
{
    double along = x * dx + y * dy;
    switch (kind) {
    case GRADIENT: return 0.8 * (0.5 + along / (1.2 * SIDE)) + 0.2 * clouds;
    case GLOW: {
        double gx = x - dx * SIDE * 0.3, gy = y - dy * SIDE * 0.3;
        return 0.7 * dm_sqrt(gx * gx + gy * gy) / (0.9 * SIDE) + 0.3 * clouds;
    }
    case STRIPES: return 0.35 * (0.5 + 0.5 * dm_sin(2 * DM_PI * (along / period + phase))) + 0.65 * clouds;
    default: return clouds;
    }
}

static void draw_ground(Rng *r, Pad *p)
{
    Ground kind = (Ground)rng_below(r, GROUNDS);
    Rgb dark = draw_colour(r, 0.02, 0.52), light = draw_colour(r, 0.02, 0.62), tint = draw_colour(r, -0.5, 0.5);
    double angle = draw(r, 0, 2 * DM_PI), period = draw(r, 8, 20), phase = draw(r, 0, 1);
    double dx = dm_cos(angle), dy = dm_sin(angle);
    Field f, g;
    draw_clouds(r, &f);
    draw_clouds(r, &g);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double t = ground_at(kind, f.at[y][x], x - SIDE / 2.0, y - SIDE / 2.0, dx, dy, period, phase);
            for (int k = 0; k < 3; k++)
                p->pixel[y][x].c[k] = mix(dark.c[k], light.c[k], 0.7 * t) + 0.5 * tint.c[k] * (g.at[y][x] - 0.5);
        }
}

/* --- strokes, dots and blobs that are in the way --- */

static void paint(Rgb *to, Rgb colour, double cover)
{
    for (int k = 0; k < 3; k++)
        to->c[k] = mix(to->c[k], colour.c[k], cover);
}

static void draw_clutter(Rng *r, Pad *p)
{
    enum { STROKE, DOT, BLOB, KINDS };
    unsigned kind = rng_below(r, KINDS);
    Rgb colour = draw_colour(r, 0, 0.85);
    double x0 = draw(r, 0, SIDE), y0 = draw(r, 0, SIDE), angle = draw(r, 0, 2 * DM_PI);
    double length = draw(r, 6, 18), width = draw(r, 0.7, 1.5), dx = dm_cos(angle), dy = dm_sin(angle);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double px = x + 0.5 - x0, py = y + 0.5 - y0, rr = px * px + py * py, cover;
            if (kind == STROKE) {
                double along = clamp(px * dx + py * dy, 0, length), ox = px - along * dx, oy = py - along * dy;
                cover = width + 0.5 - dm_sqrt(ox * ox + oy * oy);
            } else if (kind == DOT) {
                cover = width + 1 - dm_sqrt(rr);
            } else {
                cover = 0.7 * dm_exp(-rr / (length * length * 0.12));
            }
            if (cover > 0)
                paint(&p->pixel[y][x], colour, clamp(cover, 0, 1));
        }
}

/* --- the shape itself --- */

static double brightness(Rgb k)
{
    return 0.30 * k.c[0] + 0.59 * k.c[1] + 0.11 * k.c[2];
}

static double ground_brightness(const Pad *p, Placed o)
{
    double sum = 0;
    int n = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double px = x + 0.5 - o.x, py = y + 0.5 - o.y;
            if (px * px + py * py < o.radius * o.radius) {
                sum += brightness(p->pixel[y][x]);
                n++;
            }
        }
    return n ? sum / n : 0;
}

/* Any hue, but clearly brighter than what is behind it, so that edges keep one polarity. */
static Rgb object_colour(Rng *r, double behind)
{
    Rgb k = {{1, 1, 1}};
    for (int tries = 0; tries < 24; tries++) {
        k = draw_colour(r, 0.15, 1);
        if (brightness(k) >= behind + 0.25)
            break;
    }
    return k;
}

/* Share of a pixel that the shape covers, from SUB × SUB points. */
static int points_inside(Shape s, Placed o, double cosine, double sine, int x, int y)
{
    int hit = 0;
    for (int q = 0; q < SUB * SUB; q++) {
        double px = (x + (q % SUB + 0.5) / SUB - o.x) / o.radius, py = (y + (q / SUB + 0.5) / SUB - o.y) / o.radius;
        double u = (px * cosine + py * sine) * o.aspect, v = (py * cosine - px * sine) / o.aspect;
        hit += u * u + v * v <= 1.6 && inside(s, u, v);
    }
    return hit;
}

static void draw_object(Rng *r, Pad *p, Shape s, uint8_t *mask)
{
    Placed o;
    o.radius = draw(r, 9, 16);
    o.aspect = draw(r, 0.88, 1.12);
    o.x = draw(r, 0.9 * o.radius, SIDE - 0.9 * o.radius);
    o.y = draw(r, 0.9 * o.radius, SIDE - 0.9 * o.radius);
    o.angle = draw(r, -DM_PI, DM_PI);
    Rgb colour = object_colour(r, ground_brightness(p, o));
    double shade = draw(r, -0.2, 0.2), light = draw(r, 0, 2 * DM_PI);
    double cosine = dm_cos(o.angle), sine = dm_sin(o.angle), lx = dm_cos(light), ly = dm_sin(light);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int hit = points_inside(s, o, cosine, sine, x, y);
            if (mask)
                mask[y * SIDE + x] = (uint8_t)((hit * 255 + SUB * SUB / 2) / (SUB * SUB));
            if (!hit)
                continue;
            double px = (x + 0.5 - o.x) / o.radius, py = (y + 0.5 - o.y) / o.radius, lit = shade * (px * lx + py * ly);
            Rgb k = {{colour.c[0] + lit, colour.c[1] + lit, colour.c[2] + lit}};
            paint(&p->pixel[y][x], k, (double)hit / (SUB * SUB));
        }
}

static Rng stream(uint64_t number)
{
    return rng_seed(SERIES_SEED, number);
}

int shapes_label(uint64_t number)
{
    Rng r = stream(number);
    return (int)rng_below(&r, SHAPES_CLASSES);
}

int shapes_picture(uint64_t number, uint8_t *pixels, uint8_t *mask)
{
    Rng r = stream(number);
    int label = (int)rng_below(&r, SHAPES_CLASSES);
    Pad p;
    draw_ground(&r, &p);
    for (unsigned left = rng_below(&r, 7); left > 0; left--)
        draw_clutter(&r, &p);
    draw_object(&r, &p, (Shape)label, mask);
    double grain = 2.45 * draw(&r, 0, 0.045);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int k = 0; k < 3; k++) {
                double noise = (draw(&r, 0, 1) + draw(&r, 0, 1) - 1) * grain; /* two uniforms: a triangle around 0 */
                *pixels++ = (uint8_t)(clamp(p.pixel[y][x].c[k] + noise, 0, 1) * 255 + 0.5);
            }
    return label;
}
