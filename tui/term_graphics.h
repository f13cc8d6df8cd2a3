/* Cells' pixels on the terminal, by kitty's graphics protocol. Its Unicode placeholders are text: whatever overwrites
 * them erases the picture, and a multiplexer that knows nothing of it moves it. The screen is cut into tiles, each a
 * picture of its own: only those that changed are sent. No curses here. Source: "Terminal graphics protocol", Unicode
 * placeholders, of kitty's documentation. */
#ifndef VITRINE_TUI_TERM_GRAPHICS_H
#define VITRINE_TUI_TERM_GRAPHICS_H
#include "core/base/buf.h"
#include "tui/canvas/canvas.h"

/* What is known of the terminal, for `auto`. */
typedef struct GraphicsEnv {
    const char *option;   /* --graphics, or NULL */
    bool ok;              /* it took a picture that was only asked about */
    const char *who;      /* as it named itself (XTVERSION), "" where it did not */
    bool within;          /* in tmux: who answers is not who draws, */
    bool kitty, ghostty;  /* … whom variables name */
    bool text, colours;   /* UTF-8, whose placeholders have the widths they need; 256 colours */
    int pixel_h, pixel_w; /* of a cell; 0: unknown */
} GraphicsEnv;
/* Kitty from 0.28 and ghostty draw placeholders; others that take pictures (konsole, wezterm) do not. *why: a few words
 * for `:term`. */
bool graphics_found(const GraphicsEnv *env, const char **why);

enum { GRAPHICS_ACROSS = 8, GRAPHICS_DOWN = 6, GRAPHICS_TILES = GRAPHICS_ACROSS * GRAPHICS_DOWN, GRAPHICS_TEXT = 4 };

typedef struct Graphics {
    bool within;   /* tmux: everything is wrapped for the terminal behind it */
    uint32_t salt; /* 1 … 127, in the identities of the pictures: another program's are others */
    int h, w;      /* cells of the screen that was cut, */
    int tile_h, tile_w;
    struct GraphicsTile {
        Rect at;       /* the cells that have pixels, from the first to the last */
        uint64_t hash; /* of what the terminal has; */
        bool there;    /* … it has something */
    } tile[GRAPHICS_TILES];
} Graphics;

/* Asks whether it takes pictures: "_Gi=31;OK" is the answer. */
void graphics_ask(bool within, Buf *out);
/* Appends what has to be sent before the cells of this frame. */
void graphics_put(Graphics *g, const Canvas *c, Buf *out);
/* After graphics_put: the text of the cell, its placeholder and marks, and the number of the colour (of 256, or
 * 0x0000NN) that names the picture; false where the cell is drawn as it is. */
bool graphics_cell(const Graphics *g, const Canvas *c, int y, int x, uint32_t text[GRAPHICS_TEXT], int *colour);
/* Every mark that may be in such a text. */
uint32_t graphics_mark(int i); /* 0 past the last */
enum { GRAPHICS_PLACEHOLDER = 0x10eeee };
/* Takes all pictures away that may be there: bytes for the way out too. */
void graphics_delete(const Graphics *g, bool all, Buf *out);
void graphics_forget(Graphics *g); /* the terminal has none of them any more */
#endif
