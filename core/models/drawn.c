#include "core/models/drawn.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/err.h"
#include "core/base/rng.h"
#include "core/kernels/kernels.h"

const char *const SHAPES_NAMES[DRAWN_CLASSES] = {"circle", "ring",  "square",   "frame", "triangle",
                                                 "star",   "cross", "crescent", "heart", "arrow"};

/* The bundled model's trace stays: the squares of a drawn picture are added in one chain a lane (kernels.h). */
_Static_assert(3 * DRAWN_SIDE * DRAWN_SIDE <= KERNEL_SUM, "sums over a drawn picture");

/* A pixel's cover is measured at SUB × SUB points. */
enum { SIDE = DRAWN_SIDE, SUB = 3, POINTS = SIDE * SUB };

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
/* Columns left … right − 1 and rows top … low − 1: all that a drawing can reach. */
typedef struct Box {
    int left, top, right, low;
} Box;

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

static Box box_around(double x, double y, double reach)
{
    return (Box){(int)clamp(dm_floor(x - reach) - 1, 0, SIDE), (int)clamp(dm_floor(y - reach) - 1, 0, SIDE),
                 (int)clamp(dm_floor(x + reach) + 2, 0, SIDE), (int)clamp(dm_floor(y + reach) + 2, 0, SIDE)};
}

/* --- what a shape covers; u to the right, v down, the unit circle around it --- */

static bool in_triangle(double u, double v)
{
    const double slope = 0.8660254037844386; /* sin 60° */
    return v <= 0.5 && slope * u - 0.5 * v <= 0.5 && -slope * u - 0.5 * v <= 0.5;
}

/* Five points: the point is seen from the tip it is nearest to in angle, and folded onto half of it, whose edge runs
 * from the tip (1, 0) to the notch between two tips. */
static bool in_star(double u, double v)
{
    enum { TIPS = 5 };
    static const double sine[TIPS] = {0, 0x1.e6f0e134454ffp-1, 0x1.2cf2304755a5ep-1, -0x1.2cf2304755a5ep-1,
                                      -0x1.e6f0e134454ffp-1};
    static const double cosine[TIPS] = {1, 0x1.3c6ef372fe950p-2, -0x1.9e3779b97f4a8p-1, -0x1.9e3779b97f4a8p-1,
                                        0x1.3c6ef372fe950p-2};
    const double notch_x = 0.42 * 0x1.9e3779b97f4a8p-1, notch_y = 0.42 * 0x1.2cf2304755a5ep-1; /* at 36° */
    double x = -2, y = 0;
    for (int i = 0; i < TIPS; i++) {
        double along = u * sine[i] - v * cosine[i];
        if (along > x) {
            x = along;
            y = u * cosine[i] + v * sine[i];
        }
    }
    return (x - 1) * notch_y - dm_abs(y) * (notch_x - 1) <= 0;
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

/* No point of a shape is further out. */
static const double REACH[DRAWN_CLASSES] = {
    [CIRCLE] = 0.89, [RING] = 0.95,  [SQUARE] = 1.11,   [FRAME] = 1.19, [TRIANGLE] = 1.01,
    [STAR] = 1.01,   [CROSS] = 1.00, [CRESCENT] = 0.97, [HEART] = 1.00, [ARROW] = 1.00};

/* --- grounds --- */

/* One lattice of random numbers, smoothly joined: first along its rows, then between them. */
static void add_lattice(Rng *r, Field *f, int cells, double strength)
{
    double lattice[17][17], across[17][SIDE], t[SIDE];
    int at[SIDE];
    for (int i = 0; i < SIDE; i++) {
        double place = (i + 0.5) * cells / SIDE;
        at[i] = (int)place;
        t[i] = smooth(place - at[i]);
    }
    for (int y = 0; y <= cells; y++) {
        for (int x = 0; x <= cells; x++)
            lattice[y][x] = draw(r, 0, 1);
        for (int x = 0; x < SIDE; x++)
            across[y][x] = mix(lattice[y][at[x]], lattice[y][at[x] + 1], t[x]);
    }
    for (int y = 0; y < SIDE; y++) {
        const double *top = across[at[y]], *low = across[at[y] + 1];
        for (int x = 0; x < SIDE; x++)
            f->at[y][x] += strength * mix(top[x], low[x], t[y]);
    }
}

/* Smooth noise: four lattices of 2, 4, 8 and 16 cells per side, each a little over half as strong as the one before; 0
 * … 1. */
static void draw_clouds(Rng *r, Field *f)
{
    double strength = 1, total = 0;
    *f = (Field){0};
    for (int cells = 2; cells <= 16; cells *= 2) {
        add_lattice(r, f, cells, strength);
        total += strength;
        strength *= 0.55;
    }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            f->at[y][x] = clamp(0.5 + (f->at[y][x] / total - 0.5) * 1.8, 0, 1);
}

/* sin and cos of a wave's two parts, that of the columns and that of the rows: their sum's sine needs no further one.
 */
typedef struct Wave {
    double sin_x[SIDE], cos_x[SIDE], sin_y[SIDE], cos_y[SIDE];
} Wave;

static void make_wave(Wave *w, double dx, double dy, double period, double phase)
{
    for (int i = 0; i < SIDE; i++) {
        double place = i - SIDE / 2.0, x = 2 * DM_PI * (place * dx / period),
               y = 2 * DM_PI * (place * dy / period + phase);
        w->sin_x[i] = dm_sin(x);
        w->cos_x[i] = dm_cos(x);
        w->sin_y[i] = dm_sin(y);
        w->cos_y[i] = dm_cos(y);
    }
}

/* The ground's kind, made of clouds alone or of clouds and something regular: f becomes how far each pixel is from dark
 * to light. */
static void shape_ground(Ground kind, Field *f, double dx, double dy, double period, double phase)
{
    Wave w;
    if (kind == STRIPES)
        make_wave(&w, dx, dy, period, phase);
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double *t = &f->at[row][column], x = column - SIDE / 2.0, y = row - SIDE / 2.0;
            if (kind == GRADIENT) {
                *t = 0.8 * (0.5 + (x * dx + y * dy) / (1.2 * SIDE)) + 0.2 * *t;
            } else if (kind == GLOW) {
                double gx = x - dx * SIDE * 0.3, gy = y - dy * SIDE * 0.3;
                *t = 0.7 * dm_sqrt(gx * gx + gy * gy) / (0.9 * SIDE) + 0.3 * *t;
            } else if (kind == STRIPES) {
                double sine = w.sin_x[column] * w.cos_y[row] + w.cos_x[column] * w.sin_y[row];
                *t = 0.35 * (0.5 + 0.5 * sine) + 0.65 * *t;
            }
        }
}

static void draw_ground(Rng *r, Pad *p, double difficulty)
{
    Ground kind = (Ground)rng_below(r, GROUNDS);
    Rgb dark = draw_colour(r, 0.02, 0.52), light = draw_colour(r, 0.02, 0.62), tint = draw_colour(r, -0.5, 0.5);
    double angle = draw(r, 0, 2 * DM_PI), period = draw(r, 8, 20), phase = draw(r, 0, 1);
    double contrast = 0.7 - 0.55 * (1 - difficulty), tinted = 0.5 * difficulty;
    Field f, g;
    draw_clouds(r, &f);
    draw_clouds(r, &g);
    shape_ground(kind, &f, dm_cos(angle), dm_sin(angle), period, phase);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int k = 0; k < 3; k++)
                p->pixel[y][x].c[k] = mix(dark.c[k], light.c[k], contrast * f.at[y][x]) +
                                      tinted * tint.c[k] * (g.at[y][x] - 0.5);
}

/* --- strokes, dots and blobs that are in the way --- */

static void paint(Rgb *to, Rgb colour, double cover)
{
    for (int k = 0; k < 3; k++)
        to->c[k] = mix(to->c[k], colour.c[k], cover);
}

typedef struct Clutter {
    double x, y, dx, dy, length, width;
    Rgb colour;
} Clutter;

static void draw_stroke(Pad *p, const Clutter *c, double length)
{
    Box b = box_around(c->x + c->dx * length / 2, c->y + c->dy * length / 2, length / 2 + c->width + 1);
    for (int y = b.top; y < b.low; y++)
        for (int x = b.left; x < b.right; x++) {
            double px = x + 0.5 - c->x, py = y + 0.5 - c->y;
            double along = clamp(px * c->dx + py * c->dy, 0, length), ox = px - along * c->dx, oy = py - along * c->dy;
            double cover = c->width + 0.5 - dm_sqrt(ox * ox + oy * oy);
            if (cover > 0)
                paint(&p->pixel[y][x], c->colour, clamp(cover, 0, 1));
        }
}

/* Thick in the middle, without an edge: 0.7·exp(−r²/(0.12·length²)), as the product of what the column and the row
 * give. */
static void draw_blob(Pad *p, const Clutter *c)
{
    double across[SIDE], down[SIDE], spread = c->length * c->length * 0.12;
    Box b = box_around(c->x, c->y, c->length * 2.25); /* beyond, it is less than a double's last bit */
    for (int i = 0; i < SIDE; i++) {
        double px = i + 0.5 - c->x, py = i + 0.5 - c->y;
        across[i] = 0.7 * dm_exp(-px * px / spread);
        down[i] = dm_exp(-py * py / spread);
    }
    for (int y = b.top; y < b.low; y++)
        for (int x = b.left; x < b.right; x++)
            paint(&p->pixel[y][x], c->colour, across[x] * down[y]);
}

static void draw_clutter(Rng *r, Pad *p)
{
    enum { STROKE, DOT, BLOB, KINDS };
    Clutter c;
    unsigned kind = rng_below(r, KINDS);
    c.colour = draw_colour(r, 0, 0.85);
    c.x = draw(r, 0, SIDE);
    c.y = draw(r, 0, SIDE);
    double angle = draw(r, 0, 2 * DM_PI);
    c.dx = dm_cos(angle);
    c.dy = dm_sin(angle);
    c.length = draw(r, 6, 18);
    c.width = draw(r, 0.7, 1.5);
    if (kind == BLOB) {
        draw_blob(p, &c);
        return;
    }
    c.width += kind == DOT ? 0.5 : 0; /* a dot is a stroke without length */
    draw_stroke(p, &c, kind == DOT ? 0 : c.length);
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
    Box b = box_around(o.x, o.y, o.radius);
    for (int y = b.top; y < b.low; y++)
        for (int x = b.left; x < b.right; x++) {
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

/* Where the points at which cover is measured lie in the turned shape: u = (u_x[column] + u_y[row])·aspect, v =
 * (v_y[row] − v_x[column])/aspect. */
typedef struct Points {
    double u_x[POINTS], u_y[POINTS], v_x[POINTS], v_y[POINTS];
} Points;

static void place_points(Points *p, Placed o)
{
    double cosine = dm_cos(o.angle), sine = dm_sin(o.angle);
    for (int i = 0; i < POINTS; i++) {
        double place = (double)(i / SUB) + (i % SUB + 0.5) / SUB, x = (place - o.x) / o.radius,
               y = (place - o.y) / o.radius;
        p->u_x[i] = x * cosine;
        p->v_x[i] = x * sine;
        p->u_y[i] = y * sine;
        p->v_y[i] = y * cosine;
    }
}

static int points_inside(Shape s, const Points *p, double aspect, int x, int y)
{
    int hit = 0;
    for (int j = y * SUB; j < (y + 1) * SUB; j++)
        for (int i = x * SUB; i < (x + 1) * SUB; i++)
            hit += inside(s, (p->u_x[i] + p->u_y[j]) * aspect, (p->v_y[j] - p->v_x[i]) / aspect);
    return hit;
}

static void draw_object(Rng *r, Pad *p, Shape s, double difficulty, uint8_t *mask)
{
    Placed o;
    o.radius = draw(r, 13 - 4 * difficulty, 16);
    o.aspect = draw(r, 0.88, 1.12);
    o.x = draw(r, 0.9 * o.radius, SIDE - 0.9 * o.radius);
    o.y = draw(r, 0.9 * o.radius, SIDE - 0.9 * o.radius);
    o.angle = draw(r, -DM_PI, DM_PI) * difficulty;
    Rgb colour = object_colour(r, ground_brightness(p, o));
    double shade = draw(r, -0.2, 0.2) * difficulty, light = draw(r, 0, 2 * DM_PI), lx = dm_cos(light),
           ly = dm_sin(light);
    double reach = o.radius * REACH[s] * (o.aspect > 1 ? o.aspect : 1 / o.aspect), edge = (reach + 1) * (reach + 1);
    Box b = box_around(o.x, o.y, reach);
    Points points;
    place_points(&points, o);
    if (mask)
        memset(mask, 0, SIDE * SIDE);
    for (int y = b.top; y < b.low; y++)
        for (int x = b.left; x < b.right; x++) {
            double ox = x + 0.5 - o.x, oy = y + 0.5 - o.y;
            int hit = ox * ox + oy * oy > edge ? 0 : points_inside(s, &points, o.aspect, x, y);
            if (!hit)
                continue;
            if (mask)
                mask[y * SIDE + x] = (uint8_t)((hit * 255 + SUB * SUB / 2) / (SUB * SUB));
            double lit = shade * (ox / o.radius * lx + oy / o.radius * ly);
            Rgb k = {{colour.c[0] + lit, colour.c[1] + lit, colour.c[2] + lit}};
            paint(&p->pixel[y][x], k, (double)hit / (SUB * SUB));
        }
}

/* Noise of every value, the sum of two uniforms: a triangle around 0. */
static void draw_grain(Rng *r, const Pad *p, double strength, uint8_t *pixels)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int k = 0; k < 3; k++) {
                double noise = ((double)rng_unit(r) + (double)rng_unit(r) - 1) * strength;
                *pixels++ = (uint8_t)(clamp(p->pixel[y][x].c[k] + noise, 0, 1) * 255 + 0.5);
            }
}

int drawn_label(uint64_t number)
{
    Rng r = rng_seed(DRAWN_SERIES, number);
    return (int)rng_below(&r, DRAWN_CLASSES);
}

int drawn_series(uint64_t series, uint64_t number, double difficulty, uint8_t *pixels, uint8_t *mask)
{
    REQUIRE(difficulty >= 0 && difficulty <= 1);
    Rng r = rng_seed(series, number);
    int label = (int)rng_below(&r, DRAWN_CLASSES);
    Pad p;
    draw_ground(&r, &p, difficulty);
    for (unsigned left = rng_below(&r, 1 + (unsigned)(6 * difficulty + 0.5)); left > 0; left--)
        draw_clutter(&r, &p);
    draw_object(&r, &p, (Shape)label, difficulty, mask);
    draw_grain(&r, &p, 2.45 * draw(&r, 0, 0.045) * difficulty, pixels);
    return label;
}

int drawn_picture(uint64_t number, uint8_t *pixels, uint8_t *mask)
{
    return drawn_series(DRAWN_SERIES, number, 1, pixels, mask);
}
