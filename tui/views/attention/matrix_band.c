#include "tui/views/attention/matrix_band.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "tui/views/heat.h"
#include "tui/views/shown.h"

int band_cells(int pixels, int per_cell)
{
    return (pixels + per_cell - 1) / per_cell;
}

int band_length(const Band *b)
{
    return band_cells(b->prefix * b->wide, b->per_cell) + b->gap + band_cells(b->pixels, b->per_cell);
}

Band band_make(int start, int room, int per_cell, int prefix, int tiles, int here)
{
    Band b = {.start = start, .per_cell = per_cell, .wide = 1, .prefix = prefix, .count = tiles - prefix};
    bool apart = prefix && prefix % per_cell == 0; /* else half a line stays blank behind the strip */
    b.pixels = b.count;
    if (band_length(&b) + apart <= room) {
        b.gap = apart;
        return b;
    }
    int left = room - band_cells(prefix, per_cell);
    if (left < 2) { /* too small for both: the part in which the cursor is */
        b.prefix = here < prefix ? (prefix < room * per_cell ? prefix : room * per_cell) : 0;
        left = here < prefix ? 0 : room;
    }
    if (b.count > left * per_cell)
        b.count = left > 0 ? left * per_cell : 0;
    b.pixels = b.count;
    b.first = (int)scroll_first((size_t)(tiles - prefix), here < prefix ? 0 : (size_t)(here - prefix), (size_t)b.count);
    return b;
}

void band_widen(Band *b, int wide)
{
    b->wide = wide;
    b->pixels = b->count * wide;
}

void band_fill(Band *b, int room, int pixels)
{
    const int tiles = b->prefix + b->count;
    if (pixels <= tiles || !b->count)
        return;
    Band wider = *b;
    wider.wide = pixels / tiles;
    wider.gap = b->prefix && b->prefix * wider.wide % b->per_cell == 0;
    const int left = (room - wider.gap - band_cells(b->prefix * wider.wide, b->per_cell)) * b->per_cell;
    wider.pixels = pixels - b->prefix * wider.wide;
    wider.pixels = wider.pixels < left ? wider.pixels : left;
    if (wider.pixels >= b->count * wider.wide)
        *b = wider;
}

void band_span(const Band *b, int i, int *from, int *end)
{
    if (i < b->prefix) {
        *from = i * b->wide;
        *end = *from + b->wide;
        return;
    }
    const int strip = (band_cells(b->prefix * b->wide, b->per_cell) + b->gap) * b->per_cell;
    *from = strip + (int)heat_first((size_t)(i - b->prefix), (size_t)b->pixels, (size_t)b->count);
    *end = strip + (int)heat_first((size_t)(i - b->prefix) + 1, (size_t)b->pixels, (size_t)b->count);
}

int band_cell(const Band *b, int i, int *half)
{
    int from, end;
    band_span(b, i, &from, &end);
    from += b->per_cell == 2 && end - from > 2 && from % 2; /* the first line that is its alone */
    *half = b->per_cell == 2 && (end - from == 1 || from % 2) ? from % 2 : -1;
    return b->start + from / b->per_cell;
}

int band_mark(const Band *b, int i, int *half)
{
    int from, end;
    band_span(b, i, &from, &end);
    const int at = (from + end - 1) / 2;
    *half = -1;
    if (b->per_cell == 2 && (at / 2 * 2 < from || at / 2 * 2 + 2 > end))
        *half = at % 2;
    return b->start + at / b->per_cell;
}

int band_tile(const Band *b, int prefix, int i)
{
    return i < b->prefix ? i : prefix + b->first + i - b->prefix;
}

int band_shown(const Band *b, int prefix, int tile)
{
    int i = tile < prefix ? tile : b->prefix + tile - prefix - b->first;
    bool inside = tile < prefix ? tile < b->prefix : i >= b->prefix && i < b->prefix + b->count;
    return inside ? i : -1;
}

Tiling band_tiling(Lattice lattice, int room, int per_cell)
{
    const int left = room - band_cells(lattice.prefix, per_cell);
    const Tiling t = tiling_of_bins(lattice, left * per_cell);
    return t.gy > 1 && lattice.prefix ? tiling_of_bins(lattice, (left - 1) * per_cell) : t; /* and the gap */
}

Tiling band_tiling_even(Lattice lattice, int room, int per_cell)
{
    Tiling list[TILINGS];
    int n = lattice_tilings(lattice, list), best = 0;
    while (best + 1 < n && band_cells(lattice.prefix, per_cell) +
                                   band_cells(tiling_count(lattice, list[best]) - lattice.prefix, per_cell) >
                               room)
        best++;
    return list[best];
}

/* Are all its tokens shown, in their order? Then each has as much of the pixels as another. */
static bool is_whole(const Band *b, Lattice lattice, Tiling t)
{
    return (t.gy == 1 || t.gx == lattice.cols) && b->count == tiling_count(lattice, t) - lattice.prefix;
}

bool band_is_fine(const Band *b, Lattice lattice, Tiling t, int pixels, int fine)
{
    return is_whole(b, lattice, t) ? lattice.rows * lattice.cols <= pixels * fine : t.gy * t.gx <= b->wide * fine;
}

int *band_tokens(const Band *b, Lattice lattice, Tiling t, int cells, int fine)
{
    const bool whole = is_whole(b, lattice, t);
    const int n = lattice.rows * lattice.cols, all = band_cells(b->pixels * fine, b->per_cell);
    int *token = xmalloc(size_mul((size_t)(cells * fine), sizeof *token)), from, end;
    memset(token, -1, size_mul((size_t)(cells * fine), sizeof *token));
    for (int i = 0, start = 0; i < b->prefix + b->count; i++) {
        const int tile = band_tile(b, lattice.prefix, i), size = tiling_size(lattice, t, tile);
        band_span(b, i, &from, &end);
        from = band_cells(from * fine, b->per_cell);
        end = band_cells(end * fine, b->per_cell);
        start = i == b->prefix ? from : start;
        for (int k = from; k < end; k++)
            token[k] = whole && i >= b->prefix ? lattice.prefix + (k - start) * n / all
                                               : tiling_token(lattice, t, tile, (k - from) * size / (end - from));
    }
    return token;
}

int band_told(const Band *b, Lattice lattice, Tiling t, int fine, int i, int here)
{
    int half, from = -1, end = -1;
    const int token = here >= 0 ? here : tiling_token(lattice, t, band_tile(b, lattice.prefix, i), 0),
              last = here < 0 && token >= lattice.prefix ? token + lattice.cols - 1 : token,
              cells = fine ? band_length(b) : 0;
    int *of = cells ? band_tokens(b, lattice, t, cells, fine) : NULL;
    for (int k = 0; k < cells * fine; k++)
        if (of[k] >= token && of[k] <= last) {
            from = from < 0 ? k : from;
            end = k + 1;
        }
    free(of);
    if (from < 0)
        return band_cell(b, i, &half);
    const int begins = band_cells(from, fine);
    return b->start + (last > token && begins * fine < end ? begins : (from + end - 1) / 2 / fine);
}
