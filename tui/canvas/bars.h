/* A row of numbers as upright bars, a profile: where one stands out anybody sees it. Values below zero hang from the
 * zero line. Eighth blocks, half blocks below zero; in ASCII whole characters. */
#ifndef VITRINE_TUI_CANVAS_BARS_H
#define VITRINE_TUI_CANVAS_BARS_H
#include "tui/canvas/canvas.h"

typedef struct CanvasBars {
    float (*value)(const void *of, int i, Ref *ref); /* i < n; NaN: nothing stands there */
    const void *of;
    int n;
    double low, high; /* what the bottom and the top of the rectangle stand for */
    Style style, negative;
} CanvasBars;

/* Columns of one bar; 1 where several values share a column, whose bar is that of the one furthest from zero. */
int bars_width(Rect r, int n);
/* Values first … last (not included) of the bar at column x of the rectangle; false where there is none. */
bool bars_at(Rect r, int n, int x, int *first, int *last);
/* Left column of value i's bar. */
int bars_column(Rect r, int n, int i);
void bars_draw(Canvas *c, Rect r, const CanvasBars *b);
#endif
