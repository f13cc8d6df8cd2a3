#include "tui/term_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"

enum { MOST_PAIRS = 1 << 16 };

void pairs_init(Pairs *p, int limit)
{
    limit = limit < 1 ? 1 : limit > MOST_PAIRS ? MOST_PAIRS : limit;
    int slots = 2;
    while (slots < 2 * limit)
        slots *= 2;
    *p = (Pairs){.slots = xcalloc((size_t)slots, sizeof *p->slots), .mask = slots - 1, .limit = limit, .used = 1};
}

void pairs_free(Pairs *p)
{
    free(p->slots);
    *p = (Pairs){.slots = NULL};
}

void pairs_reset(Pairs *p)
{
    memset(p->slots, 0, ((size_t)p->mask + 1) * sizeof *p->slots);
    p->used = 1;
}

int pairs_find(Pairs *p, int fg, int bg, bool *fresh)
{
    *fresh = false;
    if (fg < 0 && bg < 0)
        return 0;
    uint32_t h = (uint32_t)fg * 0x9e3779b1u ^ ((uint32_t)bg * 0x85ebca6bu + 0x165667b1u);
    int i = (int)((h ^ h >> 15) & (uint32_t)p->mask);
    while (p->slots[i].pair && (p->slots[i].fg != fg || p->slots[i].bg != bg))
        i = (i + 1) & p->mask;
    if (!p->slots[i].pair && p->used < p->limit) {
        p->slots[i].fg = fg;
        p->slots[i].bg = bg;
        p->slots[i].pair = p->used++;
        *fresh = true;
    }
    return p->slots[i].pair;
}

int pairs_colour(ColourMode mode, Colour c)
{
    if (c == COLOUR_DEFAULT || mode == MODE_MONO)
        return -1;
    return mode == MODE_TRUE ? (int)c : mode == MODE_256 ? colour_256(c) : colour_8(c);
}
