/* Pixels behind cells. They are only ever finer: what a cell shows, where it is and what a click on it means are the
 * cell's. */
#include <stdlib.h>

#include "core/base/mem.h"
#include "tui/canvas/cell_look.h"

static Colour *block_add(Canvas *c)
{
    size_t size = size_mul((size_t)c->pixel_h, (size_t)c->pixel_w);
    CanvasPixels *b = &c->pixels;
    if (b->count == b->cap) {
        b->cap = b->cap ? size_mul(b->cap, 2) : 256;
        b->pixel = xrealloc(b->pixel, size_mul(size_mul(b->cap, size), sizeof *b->pixel));
    }
    return b->pixel + size * b->count++;
}

void canvas_fine(Canvas *c, int pixel_h, int pixel_w)
{
    if (pixel_h != c->pixel_h || pixel_w != c->pixel_w) {
        free(c->pixels.pixel);
        c->pixels = (CanvasPixels){.pixel = NULL};
        c->pixel_h = pixel_h;
        c->pixel_w = pixel_w;
    }
    canvas_clear(c);
}

void canvas_pixels(Canvas *c, Rect r, const CanvasGrid *grid)
{
    for (int y = r.y; c->pixel_h > 0 && c->pixel_w > 0 && y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            Cell *k = canvas_at(c, y, x);
            if (!k || !cell_is_data(k))
                continue;
            size_t size = (size_t)c->pixel_h * (size_t)c->pixel_w;
            Colour *to = k->block ? c->pixels.pixel + size * (k->block - 1) : block_add(c);
            const int *row = grid->row + (y - r.y) * c->pixel_h, *col = grid->col + (x - r.x) * c->pixel_w;
            if (!k->block)
                k->block = (uint32_t)c->pixels.count;
            for (int i = 0; i < c->pixel_h; i++)
                for (int j = 0; j < c->pixel_w; j++)
                    *to++ = row[i] < 0 || col[j] < 0
                                ? COLOUR_DEFAULT
                                : grid->colour[(size_t)row[i] * (size_t)grid->cols + (size_t)col[j]];
        }
}

const Colour *canvas_block(const Canvas *c, int y, int x)
{
    uint32_t block = c->cells[(size_t)y * (size_t)c->w + (size_t)x].block;
    return block ? c->pixels.pixel + (size_t)c->pixel_h * (size_t)c->pixel_w * (block - 1) : NULL;
}

bool canvas_block_shown(const Canvas *c, int y, int x)
{
    const Cell *k = c->cells + (size_t)y * (size_t)c->w + (size_t)x;
    return k->block && cell_is_data(k) && !(k->attrs & ATTR_REVERSE); /* reversed: the cursor, a selection */
}

void canvas_lend(Canvas *c, const Canvas *from)
{
    c->strokes = from->strokes;
    c->sextants = from->sextants;
    c->pixels = from->pixels;
    c->pixel_h = from->pixel_h;
    c->pixel_w = from->pixel_w;
}
