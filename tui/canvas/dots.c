#include "tui/canvas/dots.h"

#include <string.h>

enum { BRAILLE = 0x2800, SEXTANTS = 0x1fb00 };
/* Sextants that are older characters, and stand where the others skip their patterns. */
enum {
    LEFT_COLUMN = 0x15,
    RIGHT_COLUMN = 0x2a,
    ALL_SIX = 0x3f,
    FULL = 0x2588,
    LEFT_HALF = 0x258c,
    RIGHT_HALF = 0x2590
};

void canvas_plots(Canvas *c, const char *how)
{
    c->blocks = how && strcmp(how, "blocks") == 0;
    c->marks = how && strcmp(how, "ascii") == 0;
    c->sextants = how && strcmp(how, "sextants") == 0;
}

bool canvas_of_dots(const Canvas *c)
{
    return !c->ascii && !c->blocks && !c->marks;
}

int dots_down(const Canvas *c)
{
    return c->sextants ? 3 : 4;
}

uint32_t sextant_of(unsigned dots)
{
    return dots == 0              ? ' '
           : dots == LEFT_COLUMN  ? LEFT_HALF
           : dots == RIGHT_COLUMN ? RIGHT_HALF
           : dots == ALL_SIX      ? FULL
                                  : SEXTANTS + dots - 1 - (dots > LEFT_COLUMN) - (dots > RIGHT_COLUMN);
}

unsigned sextant_dots(uint32_t ch)
{
    unsigned dots = ch - SEXTANTS + 1;
    if (ch < SEXTANTS || dots > ALL_SIX - 3)
        return ch == LEFT_HALF ? LEFT_COLUMN : ch == RIGHT_HALF ? RIGHT_COLUMN : ch == FULL ? ALL_SIX : 0;
    dots += dots >= LEFT_COLUMN;
    return dots + (dots >= RIGHT_COLUMN);
}

bool is_braille(uint32_t ch)
{
    return ch >= BRAILLE && ch <= BRAILLE + 0xff;
}

static bool is_dots(const Canvas *c, uint32_t ch)
{
    return c->sextants ? sextant_dots(ch) : is_braille(ch);
}

uint32_t dots_add(const Canvas *c, uint32_t ch, int y, int x)
{
    static const uint8_t BIT[4][DOTS_ACROSS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (c->sextants)
        return sextant_of(sextant_dots(ch) | 1u << (DOTS_ACROSS * y + x));
    return (is_braille(ch) ? ch : BRAILLE) | BIT[y][x];
}

int canvas_dotted(const Canvas *c, Rect r)
{
    int count = 0;
    for (int y = r.y < 0 ? 0 : r.y; y < r.y + r.h && y < c->h; y++)
        for (int x = r.x < 0 ? 0 : r.x; x < r.x + r.w && x < c->w; x++)
            count += is_dots(c, c->cells[(size_t)y * (size_t)c->w + (size_t)x].ch);
    return count;
}
