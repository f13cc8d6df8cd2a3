#include <math.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/session/edit/edits.h"
#include "tui/views/heat.h"
#include "tui/views/picture/picture.h"
#include "tui/views/spread.h"

/* What the model does not see: the two greys of a chequerboard, which no picture has by itself. */
static const Colour CHEQUER[2] = {0x444444, 0x6c6c6c};

static int at_least(int x, int limit)
{
    return x > limit ? x : limit;
}

PictureCover picture_cover(const Session *s, Side side)
{
    bool both = side == SIDE_DIFF;
    return (PictureCover){{edits_shown(s, both ? SIDE_A : side), both ? edits_shown(s, SIDE_B) : NULL}};
}

bool picture_covers(const PictureCover *cover, int patch)
{
    bool hidden[2];
    for (int k = 0; k < 2; k++)
        hidden[k] = cover->shown[k] && cover->shown[k][patch] == 0.0f;
    return hidden[0] != hidden[1];
}

/* Units of one patch in a step of `pitch`: with the grid on, at least one unit is left between patches, more where a
 * whole number of units per pixel needs it and it costs little. */
static int patch_units(int pitch, int pixels, bool gap)
{
    int k = gap ? pitch - 1 : pitch;
    int whole = k - k % pixels;
    return k > pixels && k - whole <= k / 6 ? whole : k;
}

/* Beside a gap a patch would have less than half its pixels: points come before the grid. */
static bool is_coarse(const PictureFit *f, const Pixels *px, int pitch)
{
    return f->halves && 2 * (pitch - 1) < px->patch_h;
}

static bool fit_pitch(PictureFit *f, Rect r, const Pixels *px, int pitch, bool grid)
{
    int square = f->halves ? 1 : 2;
    int across = at_least((pitch * square * px->patch_w + px->patch_h / 2) / px->patch_h, 1);
    const int kx = patch_units(across, px->patch_w * square, grid && across >= 3), margin = kx < across;
    if (across * px->cols + margin > r.w || pitch * px->rows > r.h * (f->halves ? 2 : 1))
        return false;
    f->at.x = across * px->cols < r.w ? f->at.x : r.x; /* without a gap the marks stand on the patch */
    f->pitch_x = across;
    f->pitch_y = pitch;
    f->kx = kx;
    f->ky = patch_units(pitch, px->patch_h, grid && pitch >= (f->halves ? 3 : 4));
    f->span_x = across * px->cols;
    f->span_y = pitch * px->rows;
    return true;
}

PictureFit picture_fit(const Paint *p, Rect r, const Pixels *px)
{
    PictureFit f = {.at = r, .halves = heat_halves(p)};
    bool grid = p->s->look.picture.grid, fine = f.halves && p->c->pixel_h > 1; /* there the grid is a line */
    f.at.x += r.w > 1; /* a column for the left mark of the first patch */
    int step = f.halves ? 2 : 1, most = r.h * step / px->rows;
    for (int pitch = most; pitch >= 1; pitch--)
        if (fit_pitch(&f, r, px, pitch, grid && (fine || !is_coarse(&f, px, pitch))))
            return f;
    long w = r.w > 1 ? r.w - 1 : 1, h = (long)at_least(r.h, 1) * 2;
    long across = w, down = w * pixels_height(px) / pixels_width(px);
    if (down > h) {
        down = h;
        across = h * pixels_width(px) / pixels_height(px);
    }
    f.span_x = at_least((int)across, 1);
    f.span_y = at_least((int)(f.halves ? down : down / 2), 1);
    return f;
}

/* First and past-the-last pixel that unit k of n stands for. */
static void pixel_range(int k, int n, int pixels, int *from, int *to)
{
    *from = (int)((long)k * pixels / n);
    *to = (int)((long)(k + 1) * pixels / n);
    if (*to <= *from)
        *to = *from + 1;
}

static int at_most(int x, int limit)
{
    return x < limit ? x : limit;
}

/* Pixels under a unit of the layout; false in the gap between patches, with those of its edge. */
static bool unit_pixels(const PictureFit *f, const Pixels *px, int uy, int ux, int edge[4])
{
    if (f->pitch_y == 0) {
        pixel_range(uy, f->span_y, pixels_height(px), &edge[0], &edge[1]);
        pixel_range(ux, f->span_x, pixels_width(px), &edge[2], &edge[3]);
        return true;
    }
    int py = uy / f->pitch_y, in_y = uy % f->pitch_y, patch_x = ux / f->pitch_x, in_x = ux % f->pitch_x;
    bool inside = in_y < f->ky && in_x < f->kx;
    pixel_range(at_most(in_y, f->ky - 1), f->ky, px->patch_h, &edge[0], &edge[1]);
    pixel_range(at_most(in_x, f->kx - 1), f->kx, px->patch_w, &edge[2], &edge[3]);
    for (int k = 0; k < 2; k++) {
        edge[k] += py * px->patch_h;
        edge[k + 2] += patch_x * px->patch_w;
    }
    return inside;
}

PictureTone picture_tone(const Paint *p, const Pixels *px)
{
    PictureTone t = {.data = px->v.side == SIDE_DIFF, .low = 0, .high = 255};
    if (t.data)
        t.scale = colour_scale_for(p, px->v.side, px->v.node, px->v.values, px->v.count);
    else if (shown_input(p->s, px->v.side)->ready) {
        Spread s = spread_of(px->v.values, px->v.count);
        t.low = s.min;
        t.high = s.max;
    }
    return t;
}

static float mean_of(const Pixels *px, int channel, const int edge[4])
{
    double sum = 0;
    for (int y = edge[0]; y < edge[1]; y++)
        for (int x = edge[2]; x < edge[3]; x++)
            sum += (double)px->v.values[pixels_cell(px, channel, y, x)];
    return (float)(sum / ((double)(edge[1] - edge[0]) * (double)(edge[3] - edge[2])));
}

/* Of signed values: the cell of the largest by size; NaN before any other. */
static size_t largest_of(const Pixels *px, int channel, const int edge[4])
{
    size_t best = pixels_cell(px, channel, edge[0], edge[2]);
    for (int y = edge[0]; y < edge[1]; y++)
        for (int x = edge[2]; x < edge[3]; x++) {
            size_t cell = pixels_cell(px, channel, y, x);
            float own = px->v.values[cell], most = px->v.values[best];
            best = !isnan(most) && (isnan(own) || fabsf(own) > fabsf(most)) ? cell : best;
        }
    return best;
}

int picture_byte(const PictureTone *t, float x)
{
    double share = t->high > t->low ? ((double)x - (double)t->low) / ((double)t->high - (double)t->low) : 0;
    return !(share > 0) ? 0 : share >= 1 ? 255 : (int)(share * 255 + 0.5);
}

static bool has_pixels(const Paint *p, const PictureFit *f)
{
    return f->halves && p->c->pixel_h > 1;
}

/* Of the mean over those pixels, of a difference of the largest by size; anything but three colours is shown as the
 * grey of one channel. */
static Colour colour_at(const Pixels *px, const PictureTone *t, const int edge[4])
{
    int channel = pixels_channel(px);
    Colour colour = 0;
    if (t->data)
        return colour_scale_colour(&t->scale, px->v.values[largest_of(px, channel, edge)]);
    for (int k = 0; k < 3; k++)
        colour = colour << 8 | (Colour)picture_byte(t, mean_of(px, px->channels == 3 ? k : channel, edge));
    return colour;
}

Colour picture_colour(const Pixels *px, const PictureTone *t, int row, int col)
{
    return colour_at(px, t, (int[]){row, row + 1, col, col + 1});
}

static void put_unit(const Paint *p, const Pixels *px, const PictureTone *t, int y, int x, int half, const int edge[4])
{
    int channel = pixels_channel(px);
    Ref ref = shown_ref(&px->v, pixels_cell(px, channel, (edge[0] + edge[1]) / 2, (edge[2] + edge[3]) / 2));
    Colour colour = colour_at(px, t, edge);
    if (t->data) {
        size_t cell = largest_of(px, channel, edge);
        float d = px->v.values[cell];
        ref = shown_ref(&px->v, cell);
        canvas_pixel(p->c, y, x, half, colour, colour_scale_level(&t->scale, d), colour_scale_sign(&t->scale, d), ref);
        return;
    }
    int grey = (int)(299 * (colour >> 16) + 587 * (colour >> 8 & 0xff) + 114 * (colour & 0xff)) / 1000;
    canvas_pixel(p->c, y, x, half, colour, grey * 9 / 255, 0, ref);
}

/* Over the picture's pixels, which stay what they are: a hidden patch is left out of the next step. */
static void cover_unit(const Paint *p, int y, int x, int half)
{
    int dark = (half < 0 ? y : 2 * y + half) + x;
    canvas_pixel(p->c, y, x, half, CHEQUER[dark % 2], 4, 0, (Ref){0});
    if (half < 0)
        canvas_glyph(p->c, y, x, STYLE_DIM, '?');
}

static int patch_at(const Pixels *px, int row, int col)
{
    return row / px->patch_h * px->cols + col / px->patch_w;
}

/* Rows or columns of the picture for each pixel of one direction: a patch has `pitch` units of `per` half pixels, all
 * but `gap` of them its own; span units in all where patches have none. −1: the gap, or past the end. */
static int *behind_map(int room, int pitch, int per, int gap, int patch, int pixels, int span)
{
    int *map = xmalloc(size_mul((size_t)room, sizeof *map)), whole = pitch * per / 2;
    for (int i = 0; i < room; i++) {
        int in = pitch ? i % whole : i, n = pitch ? whole - gap : span * per / 2;
        bool past = pitch ? i >= pixels / patch * whole : i >= n;
        map[i] = past || in >= n ? -1 : pitch ? i / whole * patch + in * patch / n : (int)((int64_t)in * pixels / n);
    }
    return map;
}

/* The picture's own pixels behind the units, in the same places. The gap between patches becomes a line. */
static void draw_behind(const Paint *p, const Pixels *px, const PictureFit *f, const PictureTone *t,
                        const PictureCover *cover)
{
    const int rows = pixels_height(px), cols = pixels_width(px);
    const int high = p->c->pixel_h, wide = p->c->pixel_w, line = high / 16 + 1;
    Rect r = {f->at.y, f->at.x, (f->span_y + 1) / 2, f->span_x};
    if (!has_pixels(p, f))
        return;
    Colour *colour = xmalloc(size_mul(size_mul((size_t)rows, (size_t)cols), sizeof *colour));
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            colour[y * cols + x] = picture_covers(cover, patch_at(px, y, x))
                                       ? CHEQUER[(y + x) % 2]
                                       : colour_at(px, t, (int[]){y, y + 1, x, x + 1});
    int *row = behind_map(r.h * high, f->pitch_y, high, f->ky < f->pitch_y ? line : 0, px->patch_h, rows, f->span_y);
    int *col = behind_map(r.w * wide, f->pitch_x, 2 * wide, f->kx < f->pitch_x ? line : 0, px->patch_w, cols,
                          f->span_x);
    canvas_pixels(p->c, r, &(CanvasGrid){colour, cols, row, col});
    free(row);
    free(col);
    free(colour);
}

/* Line of the canvas for a unit, and the unit for a pixel of the picture. */
static int unit_line(const PictureFit *f, int unit)
{
    return f->at.y + (f->halves ? unit / 2 : unit);
}

static int unit_of(int pixel, int pixels, int patch, int pitch, int k, int span)
{
    if (pitch == 0)
        return (int)((long)pixel * span / pixels);
    return pixel / patch * pitch + (int)((long)(pixel % patch) * k / patch);
}

/* Brackets left and right of the picked patch: in the gap between patches where there is one, else on its outer
 * columns. */
static void mark_patch(const Paint *p, const PictureFit *f, const Pixels *px)
{
    if (f->pitch_y == 0)
        return;
    int x0 = f->at.x + pixels_patch_col(px) * f->pitch_x, x1 = x0 + f->kx - 1;
    int top = unit_line(f, pixels_patch_row(px) * f->pitch_y),
        bottom = unit_line(f, pixels_patch_row(px) * f->pitch_y + f->ky - 1);
    bool gap = f->pitch_x > f->kx;
    if (!gap && f->kx < 2)
        return;
    for (int y = top; y <= bottom; y++) {
        canvas_glyph(p->c, y, gap ? x0 - 1 : x0, STYLE_CURSOR, '[');
        canvas_glyph(p->c, y, gap ? x1 + 1 : x1, STYLE_CURSOR, ']');
    }
}

void picture_model(const Paint *p, Rect r, const Pixels *px, bool focus)
{
    PictureFit f = picture_fit(p, r, px);
    PictureTone t = picture_tone(p, px);
    PictureCover cover = picture_cover(p->s, px->v.side);
    Rect old = canvas_clip(p->c, r);
    for (int uy = 0; uy < f.span_y; uy++)
        for (int ux = 0; ux < f.span_x; ux++) {
            int edge[4], half = f.halves ? uy % 2 : -1;
            if (!unit_pixels(&f, px, uy, ux, edge) && !has_pixels(p, &f))
                continue;
            if (picture_covers(&cover, patch_at(px, edge[0], edge[2])))
                cover_unit(p, unit_line(&f, uy), f.at.x + ux, half);
            else
                put_unit(p, px, &t, unit_line(&f, uy), f.at.x + ux, half, edge);
        }
    draw_behind(p, px, &f, &t, &cover);
    mark_patch(p, &f, px);
    int uy = unit_of(pixels_row(px), pixels_height(px), px->patch_h, f.pitch_y, f.ky, f.span_y);
    int ux = unit_of(pixels_col(px), pixels_width(px), px->patch_w, f.pitch_x, f.kx, f.span_x);
    if (f.pitch_y == 0 || f.kx < 2)
        heat_mark(p, unit_line(&f, uy), f.at.x + ux, 1, 1,
                  shown_ref(&px->v, pixels_cell(px, pixels_channel(px), pixels_row(px), pixels_col(px))));
    focus_cursor(p, focus, unit_line(&f, uy), f.at.x + ux);
    p->c->clip = old;
}

bool picture_hit(const Paint *p, Rect r, const Pixels *px, int y, int x, size_t *cell)
{
    PictureFit f = picture_fit(p, r, px);
    int uy = (y - f.at.y) * (f.halves ? 2 : 1), ux = x - f.at.x, edge[4];
    if (y < f.at.y || ux < 0 || uy >= f.span_y || ux >= f.span_x || !unit_pixels(&f, px, uy, ux, edge))
        return false;
    *cell = pixels_cell(px, pixels_channel(px), (edge[0] + edge[1]) / 2, (edge[2] + edge[3]) / 2);
    return true;
}

void picture_caption(const Paint *p, Rect r, const Pixels *px, Buf *out)
{
    PictureFit f = picture_fit(p, r, px);
    int h = f.pitch_y ? px->patch_h : pixels_height(px), w = f.pitch_x ? px->patch_w : pixels_width(px);
    int ky = f.pitch_y ? f.ky : f.span_y, kx = f.pitch_x ? f.kx : f.span_x;
    bool all = has_pixels(p, &f) && ky * p->c->pixel_h / 2 >= h && kx * p->c->pixel_w >= w;
    if (!all && (ky < h || kx < w))
        buf_printf(out, r.w < 20 ? "cell = %.3g×%.3g px, %s" : "1 cell = %.3g×%.3g pixels, %s",
                   (double)at_least(h, ky) / ky, (double)at_least(w, kx) / kx,
                   px->v.side == SIDE_DIFF ? "absmax" : "mean");
}
