/* The slider: eleven factors on 1/√d_k, and how many held-out pictures are named right with each of them in every
 * block. */
#include "tui/views/learned/laboratory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/canvas/plot.h"
#include "tui/views/number.h"

enum { NOTCH_WIDEST = 14, NOTCH_LEAST = 4, NOTCH_CENTRED = 6, AXIS = 6, PLOT_LEAST = 3 };

/* Where the notches are, a band of equal width each, below the body of the plot. */
typedef struct Bands {
    int x, w, axis; /* first column, columns of one (0 where not even a digit has room), of the value axis before it */
} Bands;

static Bands bands_of(Rect r)
{
    int axis = r.w >= MEASURES_FACTORS * NOTCH_LEAST + AXIS ? AXIS : 0, w = (r.w - axis) / MEASURES_FACTORS;
    return (Bands){.x = r.x + axis, .w = w > NOTCH_WIDEST ? NOTCH_WIDEST : w, .axis = axis};
}

int laboratory_notch(Rect r, int x)
{
    Bands b = bands_of(r);
    int i = b.w > 0 ? (x - b.x) / b.w : -1;
    return x >= b.x && i >= 0 && i < MEASURES_FACTORS ? i : -1;
}

/* Column of a text of that many cells in a band: in its middle, where there is room. */
static int band_column(const Bands *b, int i, int cells)
{
    return b->x + i * b->w + (b->w >= NOTCH_CENTRED && cells < b->w ? (b->w - cells) / 2 : 0);
}

/* ".125", "1", "2.83": at most 4 cells. */
static const char *factor_text(const Session *s, int i, char out[16])
{
    snprintf(out, 16, "%.3g", (double)measures_factor(s, i));
    if (out[0] == '0' && out[1] == '.')
        memmove(out, out + 1, strlen(out));
    return out;
}

/* Without room for numbers: a mark for every notch, and the factor itself. */
static void draw_marks(const Paint *p, Rect r, const Laboratory *l, bool focus)
{
    int w = bands_of(r).w, used = w * MEASURES_FACTORS; /* too narrow for a value axis: they begin at the left */
    char number[16];
    for (int i = 0; i < MEASURES_FACTORS && w > 0; i++)
        canvas_glyph(p->c, r.y, r.x + i * w, i == l->notch ? STYLE_CURSOR : STYLE_DIM,
                     i == l->notch               ? '#'
                     : i == MEASURES_FACTORS / 2 ? '|'
                                                 : '.');
    if (w > 0)
        focus_cursor(p, focus, r.y, r.x + l->notch * w);
    canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_CURSOR, "%s×%s", used ? " " : "",
                  factor_text(p->s, l->notch, number));
}

/* The notches; the one the slider stands on in brackets. */
static void draw_notches(const Paint *p, Rect r, const Laboratory *l, bool focus)
{
    Bands b = bands_of(r);
    if (b.w < NOTCH_LEAST) {
        draw_marks(p, r, l, focus);
        return;
    }
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        char number[16], text[24];
        bool here = i == l->notch, off = measures_factor(p->s, i) == 1 / session_scale(p->s);
        factor_text(p->s, i, number);
        snprintf(text, sizeof text, here ? "[%s%s]" : "%s%s", number, off && b.w >= 8 + 2 * here ? " off" : "");
        Style style = here ? STYLE_CURSOR : i == MEASURES_FACTORS / 2 ? STYLE_STRONG : STYLE_TEXT;
        int x = band_column(&b, i, utf8_cells(text));
        canvas_text(p->c, r.y, x, here ? b.w : b.w - 1, style, text);
        if (here)
            focus_cursor(p, focus, r.y, x);
    }
}

static float share_at(const Laboratory *l, int i)
{
    return l->measure ? l->measure->value[i] : NAN;
}

/* The measured state is that of the run only where the factor is in every block. */
static Style style_at(const Laboratory *l, int i)
{
    return i == l->notch && l->compares && l->everywhere ? STYLE_SIDE_B
           : i == MEASURES_FACTORS / 2                   ? STYLE_SIDE_A
                                                         : STYLE_DIM;
}

/* ".166", "1.00". */
static void notch_text(const Laboratory *l, int i, char *out, size_t n)
{
    float share = share_at(l, i);
    char text[32];
    utf8_print(text, sizeof text, "%.3f", (double)share);
    if (isnan(share))
        snprintf(out, n, "…");
    else
        utf8_print(out, n, "%.4s", text + (text[0] == '0'));
}

static void draw_shares(const Paint *p, Rect r, const Laboratory *l)
{
    Bands b = bands_of(r);
    char text[32];
    if (b.w < NOTCH_LEAST) {
        notch_text(l, l->notch, text, sizeof text);
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_TEXT, "right %s", text);
        return;
    }
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        notch_text(l, i, text, sizeof text);
        canvas_text(p->c, r.y, band_column(&b, i, utf8_cells(text)), b.w, style_at(l, i), text);
    }
}

static void sample(const void *of, int i, float *x, float *y)
{
    *x = (float)i;
    *y = share_at(of, i);
}

/* What is named right with each factor, over what chance would name right. Between two notches nothing was measured. */
static void draw_line(const Paint *p, Rect r, const Laboratory *l)
{
    Bands b = bands_of(r);
    bool text = model_way(p->s->now->model); /* by chance no sentence comes out right */
    int classes = text ? 0 : session_classes(p->s);
    const float ends[] = {-0.5F, MEASURES_FACTORS - 0.5F}, chance[] = {1 / (float)classes, 1 / (float)classes};
    const CanvasLine line[] = {
        {.sample = sample,
         .of = l,
         .n = MEASURES_FACTORS,
         .name = text ? "without a fault" : "named right",
         .style = STYLE_STRONG,
         .mark = '*'},
        {.x = ends, .y = chance, .n = 2, .name = "by chance", .style = STYLE_DIM, .mark = '.', .dashed = true}};
    const CanvasPlot plot = {.title = "",
                             .x0 = (double)ends[0],
                             .x1 = (double)ends[1],
                             .y1 = 1,
                             .line = line,
                             .lines = classes > 0 ? 2 : 1,
                             .points = true,
                             .no_x = true,
                             .no_y = !b.axis,
                             .cursor = l->notch};
    plot_draw(p->c, (Rect){r.y, r.x, r.h, b.axis + b.w * MEASURES_FACTORS}, &plot);
}

static void draw_title(const Paint *p, Rect r, const Laboratory *l)
{
    const Measure *m = l->measure;
    char count[32];
    if (l->why) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, l->why);
        return;
    }
    if (!m) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "measuring…");
        return;
    }
    count_text(count, sizeof count, m->pictures);
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM,
                             r.w >= 72 ? "accuracy over %s held-out %s, the factor in every block"
                                       : "accuracy, %s %s, every block",
                             count, session_measured_over(p->s));
    if (m->whole) {
        char share[48], text[64];
        snprintf(text, sizeof text, "; here %s",
                 measure_share_text(m->right[l->notch], m->pictures, share, sizeof share));
        if (r.w - used >= utf8_cells(text))
            used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, text);
    }
    if (m->done < m->total && r.w - used >= 15) /* else it would pass for an accuracy */
        canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG, "  measured %d %%",
                      (int)(100 * (double)m->done / (double)m->total));
}

void laboratory_curve(const Paint *p, Rect r, const Laboratory *l, bool focus)
{
    if (r.h < 1 || r.w < 1)
        return;
    draw_notches(p, rect_cut(&r, 'b', 1), l, focus);
    if (r.h > 0 && !l->why)
        draw_shares(p, rect_cut(&r, 'b', 1), l);
    if (r.h > 0)
        draw_title(p, rect_cut(&r, 't', 1), l);
    if (r.h >= PLOT_LEAST && l->measure)
        draw_line(p, r, l);
}
