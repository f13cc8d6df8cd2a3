#include "tui/views/attention/matrix_band.h"

#include "tui/views/shown.h"

int band_cells(int tiles, int per_cell)
{
    return (tiles + per_cell - 1) / per_cell;
}

int band_length(const Band *b)
{
    return (band_cells(b->prefix, b->per_cell) + b->gap + band_cells(b->count, b->per_cell)) * b->wide;
}

Band band_make(int start, int room, int per_cell, int prefix, int tiles, int here)
{
    Band b = {.start = start, .per_cell = per_cell, .wide = 1, .prefix = prefix, .count = tiles - prefix};
    bool apart = prefix && prefix % per_cell == 0; /* else half a line stays blank behind the strip */
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
    b.first = (int)scroll_first((size_t)(tiles - prefix), here < prefix ? 0 : (size_t)(here - prefix), (size_t)b.count);
    return b;
}

int band_cell(const Band *b, int i, int *half)
{
    bool strip = i < b->prefix;
    int k = strip ? i : i - b->prefix, from = strip ? 0 : band_cells(b->prefix, b->per_cell) + b->gap;
    *half = b->per_cell == 2 ? k % 2 : -1;
    return b->start + (from + k / b->per_cell) * b->wide;
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
