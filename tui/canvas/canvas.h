/* A grid of cells: what every view draws into, without a terminal. ncurses, plain text, ANSI, SVG and HTML are thin
 * consumers. A cell is a glyph, colours, a style and, where it shows a number, the Ref of that number. Nothing is drawn
 * outside the clip rectangle, nothing unprintable can enter a cell. Coordinates: y down, x right, in cells. */
#ifndef VITRINE_TUI_CANVAS_CANVAS_H
#define VITRINE_TUI_CANVAS_CANVAS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/ref.h"

typedef struct Rect {
    int y, x, h, w;
} Rect;
Rect rect_inset(Rect r, int by);
Rect rect_cut(Rect *r, char side,
              int n); /* 't' 'b' 'l' 'r': takes n cells from that side (clipped); the rest stays in *r */
bool rect_has(Rect r, int y, int x);

/* 0xRRGGBB, or COLOUR_DEFAULT for the terminal's own foreground or background. */
typedef uint32_t Colour;
#define COLOUR_DEFAULT ((Colour)0xff000000u)

/* What a piece of text is for; colours come from the theme when the frame is shown, never from a view. */
#define STYLES(X)                                                                                                      \
    X(TEXT)                                                                                                            \
    X(DIM)                                                                                                             \
    X(STRONG)                                                                                                          \
    X(TITLE)                                                                                                           \
    X(BORDER)                                                                                                          \
    X(BORDER_FOCUS)                                                                                                    \
    X(HEADER)                                                                                                          \
    X(SENTENCE)                                                                                                        \
    X(KEY)                                                                                                             \
    X(KEY_TEXT)                                                                                                        \
    X(SELECTED)                                                                                                        \
    X(CURSOR)                                                                                                          \
    X(EDITED)                                                                                                          \
    X(GOOD)                                                                                                            \
    X(WARNING)                                                                                                         \
    X(ERROR)                                                                                                           \
    X(PROMPT)                                                                                                          \
    X(SIDE_A)                                                                                                          \
    X(SIDE_B)                                                                                                          \
    X(NEGATIVE)                                                                                                        \
    X(AXIS)
typedef enum Style {
#define X(s) STYLE_##s,
    STYLES(X)
#undef X
        STYLE_COUNT
} Style;

enum { ATTR_BOLD = 1, ATTR_DIM = 2, ATTR_REVERSE = 4, ATTR_UNDERLINE = 8 };

typedef struct Cell {
    uint32_t ch;    /* code point; 0 = right half of a wide glyph */
    Colour fg, bg;  /* data colours; COLOUR_DEFAULT where the style decides */
    uint8_t style;  /* Style */
    uint8_t attrs;  /* on top of the style's own */
    uint8_t level;  /* data cells: 1 + ramp position 0…9 for terminals without colour, 0 = not data */
    int8_t sign;    /* data cells of a signed map: −1, 0, +1 */
    uint32_t block; /* 1 + its pixels (canvas_block), 0: none; hidden by a glyph, gone with other data */
    Ref ref;        /* ref.run = 0: no number here */
    Ref below;      /* of the lower half, where it shows another number than the upper */
} Cell;

/* What a plot (plot.h) drew, kept as it was meant: an export with lines of its own draws these in the place of dots.
 * Points are in cells, from the canvas' corner. */
typedef struct CanvasStroke {
    size_t first, count; /* of the points */
    uint8_t style;       /* Style */
    bool dashed, points; /* points: a dot at each */
    Rect body;           /* the plot it belongs to */
    int dotted;          /* cells of body with dots when it was drawn; fewer or more: something was drawn over it */
} CanvasStroke;
typedef struct CanvasStrokes {
    float (*point)[2]; /* x, y */
    CanvasStroke *stroke;
    size_t points, point_cap, strokes, stroke_cap; /* a frame that was drawn once allocates no more */
} CanvasStrokes;

/* What stands behind data cells where the terminal has pixels: the same picture, finer. */
typedef struct CanvasPixels {
    Colour *pixel; /* [count · pixel_h · pixel_w] */
    size_t count, cap;
} CanvasPixels;

typedef struct Canvas {
    int h, w;
    Cell *cells; /* h·w */
    Rect clip;
    int pixel_h, pixel_w; /* of a cell, in pixels; 0: there are only half blocks */
    CanvasPixels pixels;
    int cursor_y, cursor_x; /* where the hardware cursor goes; −1 = hidden */
    bool ascii;             /* draw with ASCII only: borders, bars and half blocks have an ASCII form */
    bool sextants;          /* plots are made of sextants in the place of braille, */
    bool blocks;            /* … of thin blocks, */
    bool marks;             /* … nor those: of letters */
    CanvasStrokes strokes;
} Canvas;

void canvas_init(Canvas *c, int h, int w); /* sizes below 1 become 1 */
void canvas_resize(Canvas *c, int h, int w);
void canvas_free(Canvas *c);
/* A cell has so many pixels from now on; the canvas is empty then. */
void canvas_fine(Canvas *c, int pixel_h, int pixel_w);
void canvas_clear(Canvas *c);             /* blanks, default colours, no refs, cursor hidden, clip = all */
Cell *canvas_at(Canvas *c, int y, int x); /* NULL outside the clip */
Rect canvas_clip(Canvas *c, Rect r);      /* narrows the clip to r; returns the old one for restoring: c->clip = old */

/* What belongs to cells that were copied: the lines and pixels of `from` are those of c too, and still its own. */
void canvas_lend(Canvas *c, const Canvas *from);

/* UTF-8 text through the one sanitiser, cut at width cells with `…` (`~` in ASCII) when it does not fit; returns cells
 * used. In ASCII mode typographic characters get a plain form: → -> becomes >, · becomes ., √ becomes sqrt, Σ becomes
 * sum, − becomes -, etc. */
int canvas_text(Canvas *c, int y, int x, int width, Style s, const char *text);
/* The same for a name of any length: what does not fit ends in "…". */
int canvas_label(Canvas *c, int y, int x, int width, Style s, const char *text);
int canvas_printf(Canvas *c, int y, int x, int width, Style s, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* Right-aligned in [x, x+width). */
void canvas_right(Canvas *c, int y, int x, int width, Style s, const char *text);
/* Text wrapped at spaces into r; returns the lines used. */
int canvas_wrap(Canvas *c, Rect r, Style s, const char *text);
int canvas_wrap_rows(const Canvas *c, int width, const char *text); /* how many lines that would take */
void canvas_fill(Canvas *c, Rect r, Style s, uint32_t ch);
void canvas_glyph(Canvas *c, int y, int x, Style s, uint32_t ch);
/* The same over a data cell, which keeps its colour as the glyph's ground: that of its half 0 (upper) or 1, −1: the
 * mean of both. */
void canvas_mark(Canvas *c, int y, int x, int half, Style s, uint32_t ch);
void canvas_ref(Canvas *c, int y, int x, int width, Ref ref); /* tags cells already drawn */
void canvas_attr(Canvas *c, Rect r, uint8_t attrs);           /* adds attributes */
/* A bordered box with a title in its top line; returns the inside. focus: heavy border. Nothing where r is under 2×2.
 */
Rect canvas_box(Canvas *c, Rect r, const char *title, bool focus);
/* One data pixel: half blocks when half = 0 (top) or 1 (bottom), the whole cell when half < 0. level 0…9 and sign for
 * colourless terminals; a cell with two halves keeps the mean of their levels, or the larger one where the signs are
 * opposite, and the Ref drawn first. */
void canvas_pixel(Canvas *c, int y, int x, int half, Colour colour, int level, int sign, Ref ref);
/* Takes the lower number of a cell that has one (Cell.below) away again. */
void canvas_upper(Canvas *c, int y, int x);
/* Pixels for the data cells in r: the one at (y, x), counted from the corner of r, has colour[row[y] · cols + col[x]];
 * COLOUR_DEFAULT, or a row or column below 0, is the ground. row[r.h · pixel_h], col[r.w · pixel_w]. Nothing where the
 * canvas has no pixels. */
typedef struct CanvasGrid {
    const Colour *colour;
    int cols;
    const int *row, *col;
} CanvasGrid;
void canvas_pixels(Canvas *c, Rect r, const CanvasGrid *grid);
/* The pixels behind that cell [pixel_h · pixel_w]; NULL: none. They stay when a glyph is drawn over them, shown or not:
 * a picture does not change under a cursor. */
const Colour *canvas_block(const Canvas *c, int y, int x);
bool canvas_block_shown(const Canvas *c, int y, int x);
/* Horizontal bar of value 0…1 over width cells, eighth blocks (`#` in ASCII). */
void canvas_bar(Canvas *c, int y, int x, int width, double value, Style s, Ref ref);
/* One of value −1…1 from a zero line in the middle: to the right where it is positive, to the left in `negative` where
 * it is not; what grows to the left has halves and eighths of a cell only. The column of the zero line is
 * canvas_bar_zero. */
void canvas_bar_signed(Canvas *c, int y, int x, int width, double value, Style s, Style negative, Ref ref);
int canvas_bar_zero(int x, int width);
/* One of so many cells, not NaN, from a zero line with `left` cells before it and `right` behind. */
void canvas_bar_around(Canvas *c, int y, int x, int left, int right, double cells, Style s, Style negative, Ref ref);

/* Inside tui/canvas: the one way a glyph enters a cell, and the plain forms of typographic characters. */
/* Writes a glyph of utf8_width 1 or 2 with default colours, no data and no Ref. Unprintable code points become `?`.
 * Clipped; a wide glyph of which only one half is inside the clip leaves a blank there. A wide glyph that is half
 * overwritten becomes a blank. */
void cell_put(Canvas *c, int y, int x, Style s, uint32_t ch);

/* ASCII text for a code point: "sqrt", ">", … ; "?" when there is none. Never empty, never longer than 6 characters. */
const char *ascii_text(uint32_t c);
/* One ASCII character for it. */
char ascii_char(uint32_t c);
#endif
