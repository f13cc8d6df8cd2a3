#include "tui/term_graphics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/io/image.h"
#include "tui/term_entry.h"

enum { TILE_H_LEAST = 16, TILE_W_LEAST = 32, FIRST_COLOUR = 16, CHUNK = 4096 };

bool graphics_found(const GraphicsEnv *env, const char **why)
{
    int major = 0, minor = 0;
    const char *option = env->option ? env->option : "auto";
    bool kitty = sscanf(env->who, "kitty(%d.%d", &major, &minor) == 2 && (major > 0 || minor >= 28);
    bool known = env->within ? env->kitty || env->ghostty : kitty || strncmp(env->who, "ghostty", 7) == 0;
    bool forced = strcmp(option, "always") == 0;
    if (strcmp(option, "never") == 0)
        *why = "--graphics never";
    else if (!env->text)
        *why = "pixels need UTF-8, and a C library that knows their placeholders";
    else if (!env->colours)
        *why = "pixels need 256 colours";
    else if (forced)
        *why = "--graphics always";
    else if (!env->ok)
        *why = env->within ? "no answer through tmux; it lets pictures pass after `tmux set -p allow-passthrough on`"
                           : "the terminal does not say that it takes pictures";
    else if (!known)
        *why = "it takes pictures, but is not known to draw them behind text";
    else if (!env->pixel_h || !env->pixel_w)
        *why = "it does not say how many pixels a cell has";
    else {
        *why = env->within ? "the answer through tmux" : "the terminal's answer";
        return true;
    }
    return forced && env->text && env->colours;
}

/* The marks that count rows and columns: combining characters above, without a decomposition, of Unicode 6.0, in their
 * order; the first of them, in runs. */
static const struct {
    uint16_t from;
    uint8_t count;
} MARKS[] = {{0x0305, 1}, {0x030d, 2}, {0x0310, 1},  {0x0312, 1}, {0x033d, 3}, {0x0346, 1}, {0x034a, 3}, {0x0350, 3},
             {0x0357, 1}, {0x035b, 1}, {0x0363, 13}, {0x0483, 5}, {0x0592, 4}, {0x0597, 3}, {0x059c, 6}, {0x05a8, 2},
             {0x05ab, 2}, {0x05af, 1}, {0x05c4, 1},  {0x0610, 8}, {0x0657, 5}, {0x065d, 2}, {0x06d6, 7}, {0x06df, 4},
             {0x06e4, 1}, {0x06e7, 2}, {0x06eb, 2},  {0x0730, 1}, {0x0732, 2}, {0x0735, 2}, {0x073a, 1}, {0x073d, 1},
             {0x073f, 3}, {0x0743, 1}, {0x0745, 1},  {0x0747, 1}, {0x0749, 2}, {0x07eb, 7}, {0x07f3, 1}, {0x0816, 4},
             {0x081b, 9}, {0x0825, 3}, {0x0829, 5}};

uint32_t graphics_mark(int i)
{
    for (size_t k = 0; i >= 0 && k < sizeof MARKS / sizeof *MARKS; i -= MARKS[k++].count)
        if (i < MARKS[k].count)
            return (uint32_t)MARKS[k].from + (uint32_t)i;
    return 0;
}

/* One command; tmux hands on what is wrapped, with every Esc twice. */
static void put_command(bool within, const char *control, const char *data, size_t n, Buf *out)
{
    buf_puts(out, within ? "\033Ptmux;\033\033_G" : "\033_G");
    buf_puts(out, control);
    if (n)
        buf_putc(out, ';');
    buf_add(out, data, n);
    buf_puts(out, within ? "\033\033\\\033\\" : "\033\\");
}

void graphics_ask(bool within, Buf *out)
{
    put_command(within, "i=31,s=1,v=1,a=q,t=d,f=24", "AAAA", 4, out);
}

static unsigned identity(const Graphics *g, int tile)
{
    return g->salt << 24 | (unsigned)(FIRST_COLOUR + tile);
}

static void put_delete(const Graphics *g, int tile, Buf *out)
{
    char control[64];
    snprintf(control, sizeof control, "a=d,d=I,i=%u,q=2", identity(g, tile));
    put_command(g->within, control, "", 0, out);
}

void graphics_delete(const Graphics *g, bool all, Buf *out)
{
    for (int i = 0; i < GRAPHICS_TILES; i++)
        if (all || g->tile[i].there)
            put_delete(g, i, out);
}

void graphics_forget(Graphics *g)
{
    for (int i = 0; i < GRAPHICS_TILES; i++)
        g->tile[i] = (struct GraphicsTile){.there = false};
}

static int at_least(int x, int limit)
{
    return x > limit ? x : limit;
}

static void cut(Graphics *g, const Canvas *c, Buf *out)
{
    if (g->h == c->h && g->w == c->w)
        return;
    graphics_delete(g, false, out);
    graphics_forget(g);
    g->h = c->h;
    g->w = c->w;
    g->tile_h = at_least((c->h + GRAPHICS_DOWN - 1) / GRAPHICS_DOWN, TILE_H_LEAST);
    g->tile_w = at_least((c->w + GRAPHICS_ACROSS - 1) / GRAPHICS_ACROSS, TILE_W_LEAST);
}

/* Of the cells with pixels in a tile, the smallest rectangle. */
static Rect bounds(const Graphics *g, const Canvas *c, int tile)
{
    int y0 = tile / GRAPHICS_ACROSS * g->tile_h, x0 = tile % GRAPHICS_ACROSS * g->tile_w;
    int top = c->h, left = c->w, bottom = 0, right = 0;
    for (int y = y0; y < y0 + g->tile_h && y < c->h; y++)
        for (int x = x0; x < x0 + g->tile_w && x < c->w; x++)
            if (canvas_block(c, y, x)) {
                top = y < top ? y : top;
                left = x < left ? x : left;
                bottom = y + 1;
                right = x + 1 > right ? x + 1 : right;
            }
    return bottom ? (Rect){top, left, bottom - top, right - left} : (Rect){.h = 0};
}

/* rgba[4·w·h]: what has no pixels, and the ground, is transparent. */
static void paint(const Canvas *c, Rect at, uint8_t *rgba)
{
    size_t width = (size_t)at.w * (size_t)c->pixel_w;
    for (int y = 0; y < at.h; y++)
        for (int x = 0; x < at.w; x++) {
            const Colour *from = canvas_block(c, at.y + y, at.x + x);
            for (int i = 0; i < c->pixel_h; i++) {
                uint8_t *to = rgba + 4 * ((size_t)(y * c->pixel_h + i) * width + (size_t)(x * c->pixel_w));
                for (int k = 0; k < c->pixel_w; k++, to += 4) {
                    Colour colour = from ? *from++ : COLOUR_DEFAULT;
                    bool drawn = colour != COLOUR_DEFAULT;
                    to[0] = drawn ? (uint8_t)(colour >> 16) : 0;
                    to[1] = drawn ? (uint8_t)(colour >> 8) : 0;
                    to[2] = drawn ? (uint8_t)colour : 0;
                    to[3] = drawn ? 255 : 0;
                }
            }
        }
}

/* FNV-1a, a pixel at a time, of what paint makes. */
static uint64_t hash_of(const Canvas *c, Rect at)
{
    const uint64_t prime = 1099511628211ull;
    const size_t size = (size_t)c->pixel_h * (size_t)c->pixel_w;
    uint64_t h = 1469598103934665603ull ^ ((uint64_t)(unsigned)at.h << 32 | (unsigned)at.w);
    h = (h ^ size) * prime;
    for (int y = at.y; y < at.y + at.h; y++)
        for (int x = at.x; x < at.x + at.w; x++) {
            const Colour *from = canvas_block(c, y, x);
            h = (h ^ (from != NULL)) * prime;
            for (size_t i = 0; from && i < size; i++)
                h = (h ^ from[i]) * prime;
        }
    return h;
}

static void put_picture(const Graphics *g, const Canvas *c, int tile, Rect at, Buf *out)
{
    Buf packed = {0}, text = {0};
    char control[128];
    size_t n = size_mul(4, size_mul(size_mul((size_t)at.h, (size_t)c->pixel_h),
                                    size_mul((size_t)at.w, (size_t)c->pixel_w)));
    uint8_t *rgba = xmalloc(n);
    paint(c, at, rgba);
    image_deflate(rgba, n, &packed);
    free(rgba);
    entry_base64(packed.data, packed.len, &text);
    for (size_t i = 0; i < text.len; i += CHUNK) {
        size_t size = text.len - i < CHUNK ? text.len - i : CHUNK;
        int more = i + size < text.len;
        if (i)
            snprintf(control, sizeof control, "m=%d,q=2", more);
        else
            snprintf(control, sizeof control, "a=T,U=1,q=2,f=32,o=z,t=d,i=%u,s=%d,v=%d,c=%d,r=%d,m=%d",
                     identity(g, tile), at.w * c->pixel_w, at.h * c->pixel_h, at.w, at.h, more);
        put_command(g->within, control, text.data + i, size, out);
    }
    buf_free(&packed);
    buf_free(&text);
}

void graphics_put(Graphics *g, const Canvas *c, Buf *out)
{
    cut(g, c, out);
    for (int i = 0; i < GRAPHICS_TILES; i++) {
        Rect at = bounds(g, c, i);
        g->tile[i].at = at; /* what a terminal has of a tile that is empty now it keeps: it may be wanted again */
        if (!at.h)
            continue;
        uint64_t hash = hash_of(c, at);
        if (g->tile[i].there && hash == g->tile[i].hash)
            continue;
        if (g->tile[i].there)
            put_delete(g, i, out);
        put_picture(g, c, i, at, out);
        g->tile[i].there = true;
        g->tile[i].hash = hash;
    }
}

bool graphics_cell(const Graphics *g, const Canvas *c, int y, int x, uint32_t text[GRAPHICS_TEXT], int *colour)
{
    int tile = g->tile_h ? y / g->tile_h * GRAPHICS_ACROSS + x / g->tile_w : GRAPHICS_TILES;
    if (tile >= GRAPHICS_TILES || !canvas_block_shown(c, y, x))
        return false;
    const Rect *at = &g->tile[tile].at;
    text[0] = GRAPHICS_PLACEHOLDER;
    text[1] = graphics_mark(y - at->y);
    text[2] = graphics_mark(x - at->x);
    text[3] = graphics_mark((int)g->salt);
    *colour = FIRST_COLOUR + tile;
    return true;
}
