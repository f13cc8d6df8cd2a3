/* What the ways of drawing data cells have in common. */
#ifndef VITRINE_TUI_VIEWS_HEAT_H
#define VITRINE_TUI_VIEWS_HEAT_H
#include "tui/views/view.h"

/* Can two pixels stand in one cell here? Without colours, or with eight, half blocks destroy the order of the values: a
 * cell is one ramp character then. */
bool heat_halves(const Paint *p);
/* The one scaler. Of n things in a row, `parts` parts: thing i lies in part heat_part(i), which begins at thing
 * heat_first(part) and ends before heat_first(part + 1). Values in drawn cells where they are more than these, drawn
 * cells in pixels where those are more: some have one more than others where a fifth of the room were lost else. */
size_t heat_first(size_t part, size_t n, size_t parts);
size_t heat_part(size_t i, size_t n, size_t parts);

/* Pixels of rows × cols drawn cells: half lines (whole ones where half blocks cannot be used) and columns. */
typedef struct HeatSize {
    int tall, wide;
} HeatSize;
/* Half lines, or lines, of that many lines. */
int heat_pixels(const Paint *p, int lines);
/* As large as fits into room, where each has a pixel at least: square, or up to HEAT_OBLONG times as long as wide where
 * that fills more of it, and at most HEAT_WIDEST columns wide. */
enum { HEAT_OBLONG = 2, HEAT_WIDEST = 8 };
HeatSize heat_size(const Paint *p, Rect room, int rows, int cols);
/* The same in room of so many pixels, at most `oblong` times as long as wide: 1 for squares. */
HeatSize heat_within(const Paint *p, HeatSize room, int rows, int cols, int oblong);
/* How one of them is drawn; and from the top left of r, clipped to it. */
typedef struct HeatLook {
    Colour colour;
    int level, sign;
    Ref ref;
} HeatLook;
typedef HeatLook HeatLookFn(const void *context, int row, int col);
void heat_paint(const Paint *p, Rect r, int rows, int cols, HeatSize size, HeatLookFn *look, const void *context);
/* Where the canvas has pixels: rows × cols finer cells behind those, in the same room. heat_fine: its pixels down and
 * across, 0 and 0 where there are none. */
typedef Colour HeatColourFn(const void *context, int row, int col);
void heat_behind(const Paint *p, Rect r, int rows, int cols, HeatSize size, HeatColourFn *at, const void *context);
HeatSize heat_fine(const Paint *p, HeatSize size);
/* The same with the colours of a scale. */
void heat_draw_behind(const Paint *p, Rect r, int rows, int cols, HeatSize size, const ColourScale *s, HeatFn value,
                      const void *context);
void heat_draw(const Paint *p, Rect r, int rows, int cols, HeatSize size, const ColourScale *s, HeatFn value,
               const void *context);
/* The canvas cells of one; and which is drawn at (y, x), the upper of two in a line: false where none is. */
Rect heat_cell(const Paint *p, Rect r, int rows, int cols, HeatSize size, int row, int col);
bool heat_hit(const Paint *p, Rect r, int rows, int cols, HeatSize size, int y, int x, int *row, int *col);
/* Marks the data cell of `width` × `height` cells at (y, x): brackets around its middle line, or a diamond, without
 * half blocks an exclamation mark, where it is too narrow. Shape, so that it is seen on every terminal. The marks keep
 * ref. */
void heat_mark(const Paint *p, int y, int x, int height, int width, Ref ref);
/* A mark in one half of a cell, in a colour that no map has; the other half stays what it is. half −1, or few colours:
 * that sign. */
void heat_mark_half(const Paint *p, int y, int x, int half, Style style, uint32_t sign);
/* The same for a value of a map in r, on the line in which the middle of its square lies, and in its colour; where that
 * is. */
Rect heat_mark_cell(const Paint *p, Rect r, int rows, int cols, HeatSize size, int row, int col, Ref ref);
#endif
