#include "tui/views/learned/curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum { PLOTS_MOST = 6, PLOT_WIDE = 20, PLOT_WIDER = 30, PLOT_TALL = 5, PLOT_LEAST = 3, LABEL = 5, LINES_MOST = 36 };

/* One plot: a figure of both runs, or every block's entropy of one of them. */
typedef struct Plot {
    const char *title;
    HistoryFigure figure;
    const History *blocks; /* whose entropies; NULL: figure */
    float low, high;       /* ends of the value axis */
} Plot;

static int last_step(const History *h)
{
    return h && h->row_count ? (int)history_at(h, h->row_count - 1, HISTORY_STEP) : 0;
}

int curves_row(const History *h, int step)
{
    int row = h->row_count ? 0 : -1;
    for (int i = 0; i < h->row_count && history_at(h, i, HISTORY_STEP) <= (float)step; i++)
        row = i;
    bool over = row >= 0 && step - last_step(h) > last_step(h) / h->row_count; /* by more than one row of the record */
    return over ? -1 : row;
}

static int steps_of(const Curves *c)
{
    int a = last_step(c->run), b = last_step(c->twin);
    return a > b ? a : b;
}

static float value_of(const History *h, const Plot *plot, int line, int row)
{
    float x = plot->blocks ? history_entropy(h, row, line) : history_at(h, row, plot->figure);
    return (plot->figure == HISTORY_CHECK || plot->figure == HISTORY_GUESS) && x < 0
               ? NAN
               : x; /* not measured at that step */
}

/* A figure that is nowhere above zero was not recorded. */
static int add_figure(const Curves *c, Plot *list, int n, const char *title, HistoryFigure f)
{
    const History *const runs[] = {c->run, c->twin};
    float most = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; runs[k] && i < runs[k]->row_count; i++)
            most = fmaxf(most, history_at(runs[k], i, f));
    if (!(most > 0) || !isfinite(most))
        return n;
    list[n] = (Plot){.title = title, .figure = f, .high = f == HISTORY_ACCURACY ? 1.0F : most};
    return n + 1;
}

/* The tenth below the smallest entropy of both runs: they are read side by side. */
static float least_entropy(const Curves *c)
{
    const History *const runs[] = {c->run, c->twin};
    float least = 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; runs[k] && i < runs[k]->row_count; i++)
            for (int line = 0; line < runs[k]->vit.layers; line++)
                least = fminf(least, history_entropy(runs[k], i, line));
    return (float)(int)(fmaxf(least, 0) * 10) / 10; /* a damaged record may say anything */
}

/* The most telling first. */
static int plots_of(const Curves *c, Plot list[PLOTS_MOST])
{
    const History *first = c->on_twin ? c->twin : c->run, *second = c->on_twin ? c->run : c->twin;
    float low = least_entropy(c);
    int n = add_figure(c, list, 0, "loss", HISTORY_LOSS);
    n = add_figure(c, list, n, "accuracy", HISTORY_ACCURACY);
    list[n++] = (Plot){.title = second ? c->on_twin ? "entropy '" : "entropy ▀" : "entropy by block",
                       .blocks = first,
                       .low = low,
                       .high = 1};
    if (second)
        list[n++] = (Plot){.title = c->on_twin ? "entropy ▀" : "entropy '", .blocks = second, .low = low, .high = 1};
    n = add_figure(c, list, n, "gradient norm", HISTORY_GRADIENT);
    return add_figure(c, list, n, "error of guesses", HISTORY_GUESS);
}

typedef struct Body {
    Rect r;
    int steps;
    const Plot *plot;
} Body;

/* Mean of the records that fall into a column; NaN where none does. */
static float column_mean(const Body *b, const History *h, int line, int column, int *row)
{
    double sum = 0;
    int n = 0;
    for (; *row < h->row_count; ++*row) {
        int at = b->steps > 0 ? (int)((double)history_at(h, *row, HISTORY_STEP) * (b->r.w - 1) / b->steps + 0.5) : 0;
        if (at > column)
            break;
        float x = value_of(h, b->plot, line, *row);
        if (at == column && isfinite(x)) {
            sum += (double)x;
            n++;
        }
    }
    return n ? (float)(sum / n) : NAN;
}

/* Half line from the top, 0 … 2·h − 1. */
static int half_line(const Body *b, float x)
{
    double range = (double)b->plot->high - (double)b->plot->low,
           share = range > 0 ? ((double)x - (double)b->plot->low) / range : 0;
    int most = 2 * b->r.h - 1, up = (int)(share * most + 0.5);
    return most - (up < 0 ? 0 : up > most ? most : up);
}

/* The run has half blocks, its twin marks at the same height, a block its digit. Where run and twin fall together they
 * take turns. */
static void put_mark(const Paint *p, const Body *b, bool twin, int line, int column, float x)
{
    static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    int half = half_line(b, x);
    uint32_t glyph = b->plot->blocks ? (uint32_t)DIGITS[line % LINES_MOST]
                     : twin          ? (half % 2 ? '.' : '\'')
                     : half % 2      ? 0x2584
                                     : 0x2580;
    Style style = b->plot->blocks ? (line % 2 ? STYLE_TEXT : STYLE_STRONG) : twin ? STYLE_SIDE_B : STYLE_SIDE_A;
    const Cell *there = canvas_at(p->c, b->r.y + half / 2, b->r.x + column);
    if (there && (!twin || column % 2 || there->style != STYLE_SIDE_A))
        canvas_glyph(p->c, b->r.y + half / 2, b->r.x + column, style, glyph);
}

static void draw_line(const Paint *p, const Body *b, const History *h, bool twin, int line)
{
    int row = 0;
    for (int column = 0; column < b->r.w; column++) {
        float x = column_mean(b, h, line, column, &row);
        if (!isnan(x))
            put_mark(p, b, twin, line, column, x);
    }
}

static int put_value(const Paint *p, Rect r, int used, const char *mark, int width, Style style, float x)
{
    char number[16], text[24];
    if (isnan(x))
        snprintf(number, sizeof number, "-");
    else
        number_text(number, sizeof number, x, width);
    snprintf(text, sizeof text, " %s%s", mark, number);
    return utf8_cells(text) <= r.w - used ? canvas_text(p->c, r.y, r.x + used, r.w - used, style, text) : 0;
}

/* The mean of the records up to that row, CURVES_MEAN of them at most: one batch alone says little. */
static float recent_mean(const History *h, const Plot *plot, int line, int row)
{
    double sum = 0;
    int n = 0;
    for (int i = row; i >= 0 && n < CURVES_MEAN; i--) {
        float x = value_of(h, plot, line, i);
        if (!isfinite(x))
            continue;
        sum += (double)x;
        n++;
    }
    return n ? (float)(sum / n) : NAN;
}

/* The title, and the mean of what was recorded last before the chosen step. */
static void draw_head(const Paint *p, Rect r, const Curves *c, const Plot *plot)
{
    int used = canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, plot->title);
    if (plot->blocks) {
        int row = curves_row(plot->blocks, c->step);
        for (int line = 0; row >= 0 && line < plot->blocks->vit.layers; line++) {
            char mark[16];
            snprintf(mark, sizeof mark, "%d:", line);
            used += put_value(p, r, used, mark, 3, STYLE_TEXT, recent_mean(plot->blocks, plot, line, row));
        }
        return;
    }
    const History *const runs[] = {c->run, c->twin};
    static const char *const MARKS[] = {"▀", "'"};
    for (int k = 0; k < 2; k++) {
        int row = runs[k] ? curves_row(runs[k], c->step) : -1;
        if (row >= 0)
            used += put_value(p, r, used, c->twin ? MARKS[k] : "", 4, k ? STYLE_SIDE_B : STYLE_SIDE_A,
                              recent_mean(runs[k], plot, 0, row));
    }
}

/* Labels of both ends of the value axis on the left, of the steps below. Returns what is left for the curve. */
static Rect draw_axes(const Paint *p, Rect r, const Curves *c, const Plot *plot, int steps)
{
    char high[16], low[16], most[16];
    bool labels = r.w >= PLOT_WIDE, below = r.h >= 4;
    number_text(high, sizeof high, plot->high, LABEL - 1);
    number_text(low, sizeof low, plot->low, LABEL - 1);
    Rect under = below ? rect_cut(&r, 'b', 1) : (Rect){0};
    if (labels) {
        Rect left = rect_cut(&r, 'l', LABEL);
        canvas_right(p->c, left.y, left.x, left.w - 1, STYLE_AXIS, high);
        if (left.h > 1)
            canvas_right(p->c, left.y + left.h - 1, left.x, left.w - 1, STYLE_AXIS, low);
    }
    int column = steps > 0 ? (int)((double)c->step * (r.w - 1) / steps + 0.5) : 0;
    column = column < 0 ? 0 : column >= r.w ? r.w - 1 : column;
    for (int y = r.y; y < r.y + r.h; y++)
        canvas_glyph(p->c, y, r.x + column, STYLE_BORDER, 0x2502);
    if (below) {
        int used = snprintf(most, sizeof most, "%d", steps), right = column >= r.w - used ? column : r.w;
        canvas_text(p->c, under.y, r.x, 1, STYLE_AXIS, "0");
        canvas_right(p->c, under.y, r.x, right, STYLE_AXIS, right > used + 2 ? most : "");
        canvas_glyph(p->c, under.y, r.x + column, STYLE_CURSOR, 0x25B2);
    }
    return r;
}

static void draw_plot(const Paint *p, Rect r, const Curves *c, const Plot *plot)
{
    int steps = steps_of(c);
    draw_head(p, rect_cut(&r, 't', 1), c, plot);
    Body b = {.r = draw_axes(p, r, c, plot, steps), .steps = steps, .plot = plot};
    if (b.r.h < 1 || b.r.w < 1)
        return;
    if (plot->blocks) {
        for (int line = 0; line < plot->blocks->vit.layers; line++)
            draw_line(p, &b, plot->blocks, false, line);
        return;
    }
    draw_line(p, &b, c->run, false, 0);
    if (c->twin)
        draw_line(p, &b, c->twin, true, 0);
}

void curves_draw(const Paint *p, Rect r, const Curves *c)
{
    Plot list[PLOTS_MOST];
    int n = plots_of(c, list), across = r.w / (PLOT_WIDE + 2), down = r.h / PLOT_TALL;
    if (n < 1 || r.w < PLOT_WIDE / 2 || r.h < PLOT_LEAST)
        return;
    across = across < 1 ? 1 : across > 2 && r.w < 3 * PLOT_WIDER ? 2 : across > 3 ? 3 : across;
    int rows = (n + across - 1) / across;
    down = down < 1 ? 1 : down > rows ? rows : down;
    for (int i = 0; i < down; i++) {
        Rect line = rect_cut(&r, 't', r.h / (down - i));
        Rect inside = {line.y, line.x, line.h - (down > 1 && line.h > PLOT_TALL), line.w};
        for (int k = 0; k < across && i * across + k < n; k++) {
            Rect plot = rect_cut(&inside, 'l', inside.w / (across - k));
            draw_plot(p, (Rect){plot.y, plot.x, plot.h, plot.w - (k < across - 1 ? 2 : 0)}, c, &list[i * across + k]);
        }
    }
}
