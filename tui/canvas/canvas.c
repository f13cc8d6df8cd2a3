#include "tui/canvas/canvas.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"

static int at_most(int a, int b)
{
    return a < b ? a : b;
}

static int at_least(int a, int b)
{
    return a > b ? a : b;
}

Rect rect_inset(Rect r, int by)
{
    return (Rect){.y = r.y + by, .x = r.x + by, .h = at_least(r.h - 2 * by, 0), .w = at_least(r.w - 2 * by, 0)};
}

Rect rect_cut(Rect *r, char side, int n)
{
    bool rows = side == 't' || side == 'b';
    int room = at_least(rows ? r->h : r->w, 0);
    n = at_least(at_most(n, room), 0);
    Rect cut = *r;
    if (rows) {
        cut.h = n;
        r->h = room - n;
    } else {
        cut.w = n;
        r->w = room - n;
    }
    if (side == 't')
        r->y += n;
    else if (side == 'b')
        cut.y += r->h;
    else if (side == 'r')
        cut.x += r->w;
    else
        r->x += n;
    return cut;
}

bool rect_has(Rect r, int y, int x)
{
    return y >= r.y && x >= r.x && (int64_t)y - r.y < r.h && (int64_t)x - r.x < r.w;
}

static const Cell BLANK = {.ch = ' ', .fg = COLOUR_DEFAULT, .bg = COLOUR_DEFAULT, .style = STYLE_TEXT};

void canvas_init(Canvas *c, int h, int w)
{
    *c = (Canvas){.h = 0};
    canvas_resize(c, h, w);
}

void canvas_resize(Canvas *c, int h, int w)
{
    h = at_least(h, 1);
    w = at_least(w, 1);
    if (h != c->h || w != c->w || !c->cells) {
        free(c->cells);
        c->cells = xcalloc(size_mul((size_t)h, (size_t)w), sizeof *c->cells);
        c->h = h;
        c->w = w;
    }
    canvas_clear(c);
}

void canvas_free(Canvas *c)
{
    free(c->cells);
    free(c->pixels.pixel);
    free(c->strokes.point);
    free(c->strokes.stroke);
    *c = (Canvas){.h = 0};
}

void canvas_clear(Canvas *c)
{
    c->strokes.points = c->strokes.strokes = c->pixels.count = 0;
    size_t n = (size_t)c->h * (size_t)c->w;
    for (size_t i = 0; i < n; i++)
        c->cells[i] = BLANK;
    c->clip = (Rect){.h = c->h, .w = c->w};
    c->cursor_y = c->cursor_x = -1;
}

static Cell *cell(Canvas *c, int y, int x)
{
    return c->cells + (size_t)y * (size_t)c->w + (size_t)x;
}

Cell *canvas_at(Canvas *c, int y, int x)
{
    bool inside = rect_has(c->clip, y, x) && y >= 0 && x >= 0 && y < c->h && x < c->w;
    return inside ? cell(c, y, x) : NULL;
}

/* The common part of two intervals [*start, *start + *n) and [a, a + m); in 64 bits, because a caller's sum may not fit
 * an int. */
static void overlap(int *start, int *n, int a, int m)
{
    int64_t from = at_least(*start, a), end = (int64_t)*start + at_least(*n, 0), other = (int64_t)a + at_least(m, 0);
    int64_t len = (other < end ? other : end) - from;
    *start = (int)from;
    *n = len > 0 ? (int)len : 0;
}

Rect canvas_clip(Canvas *c, Rect r)
{
    Rect old = c->clip;
    overlap(&c->clip.y, &c->clip.h, r.y, r.h);
    overlap(&c->clip.x, &c->clip.w, r.x, r.w);
    return old;
}

/* Blanks what a write to [x, x+w) of row y would cut in half: wide glyphs that reach over an edge. */
static void cell_split(Canvas *c, int y, int x, int w)
{
    if (y < 0 || y >= c->h)
        return;
    if (x > 0 && x < c->w && cell(c, y, x)->ch == 0)
        cell(c, y, x - 1)->ch = ' ';
    int end = x + w;
    if (end > 0 && end < c->w && cell(c, y, end)->ch == 0)
        cell(c, y, end)->ch = ' ';
}

void cell_put(Canvas *c, int y, int x, Style s, uint32_t ch)
{
    int width = utf8_printable(ch) ? utf8_width(ch) : 0;
    if (width == 0) {
        ch = '?';
        width = 1;
    }
    Cell *left = canvas_at(c, y, x), *right = width == 2 ? canvas_at(c, y, x + 1) : NULL;
    if (!left && !right)
        return;
    bool whole = width == 1 || (left && right);
    cell_split(c, y, left ? x : x + 1, left && right ? 2 : 1);
    if (left) {
        const uint32_t block = left->block;
        *left = BLANK;
        left->block = block;
        left->style = (uint8_t)s;
        left->ch = whole ? ch : ' ';
    }
    if (right) {
        const uint32_t block = right->block;
        *right = BLANK;
        right->block = block;
        right->style = (uint8_t)s;
        right->ch = whole ? 0 : ' ';
    }
}

/* --- pixels behind cells: finer, no more. What a cell shows, where it is and what a click means are the cell's --- */

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
