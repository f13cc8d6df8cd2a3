/* Lines over an axis: a plot with its axes, a legend and a cursor that reads values. In braille each cell has 2 × 4
 * dots, in sextants 2 × 3; where there is neither thin blocks stand at three heights, in ASCII marks do. An SVG has the
 * lines themselves. */
#ifndef VITRINE_TUI_CANVAS_PLOT_H
#define VITRINE_TUI_CANVAS_PLOT_H
#include "tui/canvas/canvas.h"

typedef struct CanvasLine {
    /* sample i < n of `of`; NULL: from the arrays */
    void (*sample)(const void *of, int i, float *x, float *y);
    float (*read)(const void *of, double x); /* what the legend says of x; NULL: the value of the line there */
    const void *of;
    const char *name;   /* in the legend */
    const float *x, *y; /* [n]; x ascending, NULL: 0, 1, …; where y is not finite the line is broken */
    int n;
    Style style;
    char mark;   /* what it is made of in ASCII where there are several, and its name at the line's end; 0: none */
    bool dashed; /* tells it apart where there is no colour */
    bool apart;  /* a dot at each sample, nothing between them */
    bool aside;  /* one of those that the others are seen among: not in the legend */
} CanvasLine;

typedef struct CanvasPlot {
    const char *title, *rest; /* NULL or what is said behind the values, of the lines that stand aside */
    double x0, x1, y0, y1;    /* ends of the axes */
    double x_unit;            /* x from 0 on by the logarithm of 1 + x / x_unit; 0: x as it is */
    bool family;              /* of numbered lines the legend says how far the values go, of none its own */
    const CanvasLine *line;
    int lines;
    bool points;        /* samples are few: a dot stands at each */
    bool no_x, no_y;    /* without that axis: who draws the plot has its numbers beside it */
    bool numbered;      /* the lines are one family: each has its mark at its end, its name and value in the legend */
    bool first_on_top;  /* of the lines; else the last */
    double cursor;      /* on the x axis; NaN: none */
    const char *x_name; /* "" or what the x axis counts */
} CanvasPlot;

/* The line's value at x: of the last sample at or before it; NaN where it has none there. */
float plot_value(const CanvasLine *l, double x);
/* Title and legend in the first line (the legend has the values at the cursor), axes left and below where there is
 * room. Returns the rectangle of the lines themselves; empty where r is too small for any. */
Rect plot_draw(Canvas *c, Rect r, const CanvasPlot *p);
/* The column of the body that x falls into. */
int plot_column(const CanvasPlot *p, Rect body, double x);
/* The line of the body, 0 the uppermost, in which a line is drawn at that share of the height from above. */
int plot_line(const Canvas *c, Rect body, double share);
/* A row of numbers as upright bars, a profile: where one stands out anybody sees it. Where some are below zero, a line
 * for zero is drawn between two lines of cells, a 0 in the column before the rectangle, and those hang from it; a unit
 * is as long above it as below. Eighth blocks, half blocks below zero; in ASCII whole characters. */
typedef struct CanvasBars {
    float (*value)(const void *of, int i, Ref *ref); /* i < n; NaN: nothing stands there */
    const void *of;
    int n;
    double low, high; /* ≤ 0 ≤: how far the values go; a single line shows those of the larger of the two */
    Style style, negative;
    bool largest; /* of values that share a column the largest has the bar, not the one furthest from zero */
} CanvasBars;

/* Columns of one bar; 1 where several values share a column: one of them has the bar. */
int bars_width(Rect r, int n);
/* Values first … last (not included) of the bar at column x of the rectangle; false where there is none. */
bool bars_at(Rect r, int n, int x, int *first, int *last);
/* Left column of value i's bar. */
int bars_column(Rect r, int n, int i);
/* Lines of the rectangle below the zero line: 0 where no value is below zero, all where none is above it. */
int bars_below(Rect r, double low, double high);
void bars_draw(Canvas *c, Rect r, const CanvasBars *b);
#endif
