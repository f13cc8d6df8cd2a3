#include "tui/views/learned/curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/canvas/plot.h"

enum {
    PLOTS_MOST = 6,
    PLOT_WIDE = 20,
    PLOT_WIDER = 30,
    PLOT_TALL = 5,
    PLOT_LEAST = 3,
    LINES_MOST = 36,
    APART = 9 /* lines of one above which a blank line parts them */
};
/* Columns of what stands behind a title: which lines a family has, " ─ 2.12" of a run and its mark in it; in which
 * those of entropies have room with it. */
enum { FAMILY = 6, VALUE = 7, MARK = 2, WITH = 30, WITH_BLOCKS = 38 };

/* One plot: a figure of both runs, or every block's entropy of one of them. */
typedef struct Plot {
    const char *title, *longer, *longest; /* as there is room; NULL: title */
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
    int row = -1;
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

/* From where on the step axis is a logarithmic one: most is learned, and most snapshots are made, early. */
static int first_step(const Curves *c)
{
    const History *h = c->on_twin ? c->twin : c->run;
    for (int i = 0; i < h->snapshot_count; i++)
        if (h->snapshot[i].step > 0)
            return h->snapshot[i].step;
    return h->row_count > 1 ? (int)history_at(h, 1, HISTORY_STEP) : 0;
}

/* A check is measured at few steps: its value stands until the next one. */
static float value_of(const History *h, const Plot *plot, int line, int row)
{
    bool check = !plot->blocks && plot->figure == HISTORY_CHECK;
    while (check && row > 0 && history_at(h, row, HISTORY_CHECK) < 0)
        row--;
    float x = plot->blocks ? history_entropy(h, row, line) : history_at(h, row, plot->figure);
    return (plot->figure == HISTORY_CHECK || plot->figure == HISTORY_GUESS) && x < 0
               ? NAN
               : x; /* not measured at that step */
}

/* One line of a plot as samples: a figure of a run, or one block's entropy. */
typedef struct Series {
    const History *h;
    const Plot *plot;
    int line;
} Series;

/* The mean of the records up to that row, CURVES_MEAN of them at most: one batch alone says little. */
static float recent_mean(const Series *s, int row)
{
    double sum = 0;
    int n = 0;
    for (int i = row; i >= 0 && n < CURVES_MEAN; i--) {
        float x = value_of(s->h, s->plot, s->line, i);
        if (!isfinite(x))
            continue;
        sum += (double)x;
        n++;
    }
    return n ? (float)(sum / n) : NAN;
}

/* What is drawn and said of a row: a mean, but of a check, which is one over many, its value. */
static float shown_of(const Series *s, int row)
{
    bool check = !s->plot->blocks && s->plot->figure == HISTORY_CHECK;
    return check ? value_of(s->h, s->plot, 0, row) : recent_mean(s, row);
}

static void sample(const void *of, int row, float *x, float *y)
{
    const Series *s = of;
    *x = history_at(s->h, row, HISTORY_STEP);
    *y = shown_of(s, row);
}

static float read_at(const void *of, double step)
{
    const Series *s = of;
    int row = curves_row(s->h, (int)step);
    return row < 0 ? NAN : shown_of(s, row);
}

/* A figure that is nowhere above zero was not recorded. */
static int add_figure(const Curves *c, Plot *list, int n, const char *title, const char *longer, HistoryFigure f)
{
    const History *const runs[] = {c->run, c->twin};
    const Plot plot = {.title = title, .longer = longer, .figure = f};
    float most = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; runs[k] && i < runs[k]->row_count; i++)
            most = fmaxf(most, shown_of(&(Series){runs[k], &plot, 0}, i));
    if (!(most > 0) || !isfinite(most))
        return n;
    list[n] = plot;
    list[n].high = f == HISTORY_ACCURACY || f == HISTORY_CHECK ? 1.0F : most;
    return n + 1;
}

/* The tenth below the smallest entropy of both runs: they are read side by side. */
static float least_entropy(const Curves *c)
{
    const History *const runs[] = {c->run, c->twin};
    float least = 1;
    for (int k = 0; k < 2; k++)
        for (int i = 0; runs[k] && i < runs[k]->row_count; i++)
            for (int line = 0; line < history_lines(runs[k]); line++)
                least = fminf(least, history_entropy(runs[k], i, line));
    return (float)(int)(fmaxf(least, 0) * 10) / 10; /* a damaged record may say anything */
}

static int add_entropies(const Curves *c, Plot *list, int n, float low)
{
    static const Plot OF[2] = {{.title = "entropy ─", .longer = "entropy, with", .longest = "entropy, with, blocks"},
                               {.title = "entropy ┄",
                                .longer = "entropy, without",
                                .longest = "entropy, without, blocks"}};
    const History *const runs[] = {c->run, c->twin};
    for (int i = 0; i < 1 + (c->run && c->twin); i++) { /* the one looked at first */
        const int k = c->on_twin != (i > 0);
        list[n] = OF[k];
        if (!(c->run && c->twin))
            list[n] = (Plot){.title = "entropy",
                             .longer = runs[k]->text.heads ? "entropy by attention," : "entropy by block,"};
        if (i == 0 && c->line >= 0)
            list[n] = (Plot){.title = c->name};
        list[n].blocks = runs[k];
        list[n].low = low;
        list[n++].high = 1;
    }
    return n;
}

/* The most telling first: of a twin its rows, which are what the missing factor changes. */
static int plots_of(const Curves *c, Plot list[PLOTS_MOST])
{
    const HistoryText *of = &(c->on_twin ? c->twin : c->run)->text;
    bool text = of->heads;
    float low = least_entropy(c);
    int n = c->on_twin ? add_entropies(c, list, 0, low) : 0;
    n = add_figure(c, list, n, "loss", NULL, HISTORY_LOSS);
    n = add_figure(c, list, n, text ? "words right" : c->twin ? "accuracy" : "batch accuracy", NULL, HISTORY_ACCURACY);
    if (!c->on_twin)
        n = add_entropies(c, list, n, low);
    if (text)
        n = add_figure(c, list, n, of->source ? "unseen right" : "held-out right",
                       of->source ? "unseen sentences right" : "held-out tokens right", HISTORY_CHECK);
    n = add_figure(c, list, n, "gradient", "gradient norm", HISTORY_GRADIENT);
    return add_figure(c, list, n, "guess error", "error of guesses", HISTORY_GUESS);
}

static CanvasLine line_of(const Series *s, const char *name, Style style, char mark, bool dashed)
{
    return (CanvasLine){.sample = sample,
                        .read = read_at,
                        .of = s,
                        .n = s->h->row_count,
                        .name = name,
                        .style = style,
                        .mark = mark,
                        .dashed = dashed};
}

/* Every block's line has its number at its end, and in the legend before its value. */
static int block_lines(const Plot *plot, Series *series, CanvasLine *line, char names[LINES_MOST][4])
{
    static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static const Style STYLES[] = {STYLE_STRONG, STYLE_ERROR, STYLE_GOOD, STYLE_WARNING, STYLE_SIDE_B, STYLE_DIM};
    enum { STYLES_N = sizeof STYLES / sizeof *STYLES };
    int lines = history_lines(plot->blocks), n = lines < LINES_MOST ? lines : LINES_MOST;
    for (int i = 0; i < n; i++) {
        series[i] = (Series){plot->blocks, plot, i};
        snprintf(names[i], sizeof names[i], "%d:", i % 100);
        line[i] = line_of(&series[i], names[i], STYLES[i % STYLES_N], DIGITS[i], false);
    }
    return n;
}

/* The one that is looked at over all others. */
static int block_line(const Curves *c, const Plot *plot, Series *series, CanvasLine *line, char names[LINES_MOST][4])
{
    int n = block_lines(plot, series, line, names), last = n - 1;
    for (int i = 0; i < n; i++) {
        line[i].style = i == c->line ? STYLE_SIDE_B : STYLE_DIM;
        line[i].name = "";
        line[i].aside = i != c->line;
    }
    CanvasLine on_top = line[c->line];
    line[c->line] = line[last];
    line[last] = on_top;
    return n;
}

static int run_lines(const Curves *c, const Plot *plot, Series *series, CanvasLine *line)
{
    const History *const runs[] = {c->run, c->twin};
    int n = 0;
    for (int k = 0; k < 2; k++)
        if (runs[k]) {
            series[n] = (Series){runs[k], plot, 0};
            line[n] = line_of(&series[n], "", k ? STYLE_SIDE_B : STYLE_SIDE_A, k ? '+' : '*', k == 1);
            n++;
        }
    return n;
}

/* narrowest: the columns of the narrowest plot beside it. */
static void draw_plot(const Paint *p, Rect r, const Curves *c, const Plot *plot, int narrowest)
{
    Series series[LINES_MOST];
    CanvasLine line[LINES_MOST];
    char names[LINES_MOST][4];
    const bool one = plot->blocks && c->line >= 0 && c->line < history_lines(plot->blocks) && c->line < LINES_MOST;
    int n = one            ? block_line(c, plot, series, line, names)
            : plot->blocks ? block_lines(plot, series, line, names)
                           : run_lines(c, plot, series, line);
    const int values = plot->blocks ? FAMILY : n > 1 ? n * VALUE : VALUE - MARK;
    const char *title = one || !plot->longer ? plot->title
                        : !plot->longest     ? r.w >= utf8_cells(plot->longer) + values ? plot->longer : plot->title
                        : narrowest >= WITH_BLOCKS ? plot->longest
                        : narrowest >= WITH        ? plot->longer
                                                   : plot->title;
    char brief[64], rest[32] = ""; /* what the other lines are, beside the one that is looked at */
    utf8_print(brief, sizeof brief, "%.7s", title);
    static const char *const FORMS[] = {"; grey: others", ", rest grey", ", %d grey"};
    for (int form = 0; one && n > 1 && form < 6 && !*rest; form++) {
        utf8_print(rest, sizeof rest, FORMS[form % 3], n - 1);
        const char *of = form < 3 ? title : brief;
        if (utf8_cells(of) + VALUE - MARK + utf8_cells(rest) > r.w)
            *rest = '\0';
        else
            title = of;
    }
    title = one && n > 1 && !*rest ? brief : title;
    const CanvasPlot to = {.title = title,
                           .rest = rest,
                           .x1 = steps_of(c),
                           .x_unit = first_step(c),
                           .family = plot->longest && !one, /* that of both runs in the same words */
                           .y0 = (double)plot->low,
                           .y1 = (double)plot->high,
                           .line = line,
                           .lines = n,
                           .numbered = plot->blocks && !one,
                           .cursor = c->step,
                           .x_name = "step"};
    plot_draw(p->c, r, &to);
}

void curves_draw(const Paint *p, Rect r, const Curves *c)
{
    Plot list[PLOTS_MOST];
    int n = plots_of(c, list), across = r.w / (PLOT_WIDE + 2), down = r.h / PLOT_TALL;
    if (n < 1 || r.w < PLOT_WIDE / 2 || r.h < PLOT_LEAST)
        return;
    across = across < 1 ? 1 : across > 2 && r.w < 3 * PLOT_WIDER ? 2 : across > 3 ? 3 : across;
    int rows = (n + across - 1) / across;
    across = down >= rows ? (n + rows - 1) / rows : across; /* rather wider ones than a place that is empty */
    down = down < 1 ? 1 : down > rows ? rows : down;
    for (int i = 0; i < down; i++) {
        Rect line = rect_cut(&r, 't', r.h / (down - i));
        Rect inside = {line.y, line.x, line.h - (down > 1 && line.h >= APART), line.w};
        for (int k = 0; k < across && i * across + k < n; k++) {
            Rect plot = rect_cut(&inside, 'l', inside.w / (across - k));
            draw_plot(p, (Rect){plot.y, plot.x, plot.h, plot.w - (k < across - 1 ? 2 : 0)}, c, &list[i * across + k],
                      r.w / across - 2);
        }
    }
}
