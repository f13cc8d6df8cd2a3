/* The slider: eleven factors on 1/√d_k, and how many held-out pictures are named right with each of them in every
 * block. They stand where their logarithm does: twice as much is equally far everywhere. */
#include "tui/views/learned/laboratory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "tui/canvas/plot.h"
#include "tui/views/number.h"

enum { NOTCH_WIDEST = 14, NOTCH_LEAST = 5, AXIS = 6, FACTOR = 6, PLOT_LEAST = 3 };
/* The axis: half octaves, 13 notches apart from their margins, of which no factor stands on two. */
enum { HALVES = 13 };
static const double END = 0.25 * HALVES;

/* Columns of half an octave each, below the body of the plot. */
typedef struct Bands {
    int x, w, axis; /* first column, columns of one (0 where not even a digit has room), of the value axis before it */
} Bands;

static Bands bands_of(Rect r)
{
    int axis = r.w >= HALVES * NOTCH_LEAST + AXIS ? AXIS : 0, w = (r.w - axis) / HALVES;
    if (w < NOTCH_LEAST) /* marks, and behind them the factor */
        w = (r.w - FACTOR) / HALVES > 0 ? (r.w - FACTOR) / HALVES : 0;
    return (Bands){.x = r.x + axis, .w = w > NOTCH_WIDEST ? NOTCH_WIDEST : w, .axis = axis};
}

/* log2, as far as the axis goes. */
static double octaves(float factor)
{
    double at = factor > 1e-6F ? dm_log((double)fminf(factor, 1e6F)) / dm_log(2) : -END;
    return fmin(fmax(at, 0.01 - END), END - 0.01);
}

static int column_of(const Bands *b, float factor)
{
    return b->x + (int)floor((octaves(factor) + END) * 2 * b->w + 1e-6);
}

/* Does the slider stand on a notch, or was another factor typed? */
static bool on_notch(const Session *s, const Laboratory *l)
{
    return fabs(octaves(measures_factor(s, l->notch)) - octaves(slider_factor(s))) < 1e-3;
}

int laboratory_notch(const Session *s, Rect r, int x)
{
    Bands b = bands_of(r);
    int nearest = -1, best = b.w / 2 + 1;
    for (int i = 0; i < MEASURES_FACTORS && b.w > 0; i++) {
        int far = abs(x - column_of(&b, measures_factor(s, i)));
        if (far < best) {
            best = far;
            nearest = i;
        }
    }
    return nearest;
}

/* A text in the middle of where its factor stands; left out where it would touch the one before. Returns its end. */
static int put_at(const Paint *p, const Bands *b, float factor, int y, int after, int before, Style style,
                  const char *text)
{
    int n = utf8_cells(text), x = column_of(b, factor) - n / 2;
    x = x < b->x - b->axis ? b->x - b->axis : x;
    if (x <= after || x + n >= before)
        return after;
    canvas_text(p->c, y, x, n, style, text);
    return x + n - 1;
}

/* Below the axis what a line of numbers is, where it has room; returns where they may begin after. */
static int put_what(const Paint *p, const Bands *b, Rect r, const char *what)
{
    const int n = utf8_cells(what);
    return b->axis < n ? r.x - 1 : r.x + canvas_text(p->c, r.y, r.x, n, STYLE_DIM, what);
}

/* ".125", "1", "2.83": at most 4 cells. */
static const char *factor_text(float factor, char out[16])
{
    snprintf(out, 16, "%.3g", (double)factor);
    if (out[0] == '0' && out[1] == '.')
        memmove(out, out + 1, strlen(out));
    return out;
}

/* Without room for numbers: a mark for every notch, and the factor itself. */
static void draw_marks(const Paint *p, Rect r, bool focus)
{
    Bands b = bands_of(r); /* too narrow for a value axis: they begin at the left */
    int used = b.w * HALVES, here = column_of(&b, slider_factor(p->s));
    char number[16];
    for (int i = 0; i < MEASURES_FACTORS && b.w > 0; i++)
        canvas_glyph(p->c, r.y, column_of(&b, measures_factor(p->s, i)), STYLE_DIM,
                     i == MEASURES_FACTORS / 2 ? '|' : '.');
    if (b.w > 0) {
        canvas_glyph(p->c, r.y, here, STYLE_CURSOR, '#');
        focus_cursor(p, focus, r.y, here);
    }
    canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_CURSOR, "%s×%s", used ? " " : "",
                  factor_text(slider_factor(p->s), number));
}

/* The notches; the factor of now in brackets, wherever it stands. */
static void draw_notches(const Paint *p, Rect r, const Laboratory *l, bool focus)
{
    Bands b = bands_of(r);
    static const char *const OFF[] = {" √d_k off", " off", ""};
    char number[16], text[32], now[32];
    float factor = slider_factor(p->s), off = 1 / session_scale(p->s);
    if (b.w < NOTCH_LEAST) {
        draw_marks(p, r, focus);
        return;
    }
    snprintf(now, sizeof now, "[%s%s]", factor_text(factor, number), factor == off && b.w >= 10 ? OFF[0] : OFF[2]);
    int cells = utf8_cells(now), here = column_of(&b, factor) - cells / 2,
        end = put_what(p, &b, r, b.w >= 8 ? "factor" : "×");
    bool notch = on_notch(p->s, l);
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        float f = measures_factor(p->s, i);
        bool left = column_of(&b, f) < here;
        if (i == l->notch && notch)
            continue;
        const int after = left || end > here + cells ? end : here + cells - 1;
        end = after;
        for (int k = f == off && b.w >= 8 ? 0 : 2; k < 3 && end == after; k++) { /* as much of it as has room */
            snprintf(text, sizeof text, "%s%s", factor_text(f, number), OFF[k]);
            end = put_at(p, &b, f, r.y, after, left ? here : r.x + r.w + 1,
                         i == MEASURES_FACTORS / 2 ? STYLE_STRONG : STYLE_TEXT, text);
        }
    }
    put_at(p, &b, factor, r.y, r.x - b.axis - 1, r.x + r.w + 1, STYLE_CURSOR, now);
    focus_cursor(p, focus, r.y, here);
}

static float share_at(const Laboratory *l, int i)
{
    return l->measure ? l->measure->value[i] : NAN;
}

/* Of an accuracy what the line above the plot says of it in %: a half is rounded the same way. */
static float share_told(const Laboratory *l, int i)
{
    const float share = share_at(l, i);
    char text[48];
    if (isnan(share) || l->measure->nats || !l->measure->pictures)
        return share;
    const size_t n = l->measure->pictures, right = (size_t)((double)share * (double)n + 0.5);
    return (float)(strtod(measure_share_text(right, n, text, sizeof text), NULL) / 100);
}

/* The measured state is that of the run only where the factor is in every block. */
static Style style_at(const Session *s, const Laboratory *l, int i)
{
    return i == l->notch && l->compares && l->everywhere && on_notch(s, l) ? STYLE_SIDE_B
           : i == MEASURES_FACTORS / 2                                     ? STYLE_SIDE_A
                                                                           : STYLE_DIM;
}

/* ".166", "1.00", "12.3": rounded to 4 cells. */
static void notch_text(const Laboratory *l, int i, char *out, size_t n)
{
    float share = share_told(l, i);
    char text[32];
    if (isnan(share)) {
        snprintf(out, n, "…");
        return;
    }
    if (share >= 100) { /* nats may be many */
        number_text(out, n, share, 4);
        return;
    }
    for (int decimals = 3; decimals >= 0; decimals--) {
        utf8_print(text, sizeof text, "%.*f", decimals, (double)share);
        snprintf(out, n, "%s", text + (text[0] == '0'));
        if (utf8_cells(out) <= 4)
            return;
    }
}

static void draw_shares(const Paint *p, Rect r, const Laboratory *l)
{
    Bands b = bands_of(r);
    char text[32];
    if (b.w < NOTCH_LEAST) {
        notch_text(l, l->notch, text, sizeof text);
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_TEXT, l->measure && l->measure->nats ? "nats %s" : "right %s", text);
        return;
    }
    const char *what = l->measure && l->measure->nats ? "nats" : "right";
    for (int i = 0, end = put_what(p, &b, r, what); i < MEASURES_FACTORS; i++) {
        notch_text(l, i, text, sizeof text);
        end = put_at(p, &b, measures_factor(p->s, i), r.y, end, r.x + r.w + 1, style_at(p->s, l, i), text);
    }
}

typedef struct Curve {
    const Session *s;
    const Laboratory *l;
} Curve;

static void sample(const void *of, int i, float *x, float *y)
{
    const Curve *c = of;
    *x = (float)octaves(measures_factor(c->s, i));
    *y = share_at(c->l, i);
}

/* Between two notches nothing was measured; nats stand in the line's name, with the digits of the notches. */
static float read_share(const void *of, double x)
{
    const Curve *c = of;
    (void)x;
    return on_notch(c->s, c->l) && !c->l->measure->nats ? share_told(c->l, c->l->notch) : NAN;
}

/* The end of an axis of nats: all that was measured. */
static double most_nats(const Laboratory *l)
{
    double most = 0;
    for (int i = 0; i < MEASURES_FACTORS; i++)
        most = (double)share_at(l, i) > most ? (double)share_at(l, i) : most;
    return most > 1 ? ceil(most) : most > 0 ? 1.05 * most : 1; /* a round end needs no word */
}

/* What is named right with each factor, over what chance would name right; or how surprising texts are. */
static void draw_line(const Paint *p, Rect r, const Laboratory *l)
{
    Bands b = bands_of(r);
    bool text = model_way(p->s->now->model), nats = l->measure->nats; /* by chance no sentence comes out right */
    int classes = text ? 0 : session_classes(p->s);
    const Curve curve = {p->s, l};
    char here[16] = "", surprise[40];
    if (on_notch(p->s, l))
        notch_text(l, l->notch, here, sizeof here);
    snprintf(surprise, sizeof surprise, "surprise in nats %s", here);
    const float ends[] = {-(float)END, (float)END}, chance[] = {1 / (float)classes, 1 / (float)classes};
    const CanvasLine line[] = {
        {.sample = sample,
         .read = read_share,
         .of = &curve,
         .n = MEASURES_FACTORS,
         .name = nats   ? surprise
                 : text ? "without a fault"
                        : "named right",
         .style = STYLE_STRONG,
         .mark = '*'},
        {.x = ends, .y = chance, .n = 2, .name = "by chance", .style = STYLE_DIM, .mark = '.', .dashed = true}};
    const CanvasPlot plot = {.title = "",
                             .x0 = (double)ends[0],
                             .x1 = (double)ends[1],
                             .y1 = nats ? most_nats(l) : 1,
                             .line = line,
                             .lines = classes > 0 ? 2 : 1,
                             .points = true,
                             .no_x = true,
                             .no_y = !b.axis,
                             .cursor = octaves(slider_factor(p->s))};
    plot_draw(p->c, (Rect){r.y, r.x, r.h, b.axis + b.w * HALVES}, &plot);
}

static void draw_measured(const Paint *p, Rect r, const Measure *m)
{
    if (m->done < m->total && r.w >= 15) /* else it would pass for an accuracy */
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "  measured %d %%",
                      (int)(100 * (double)m->done / (double)m->total));
}

/* Of a decoder over its texts. */
static void draw_nats(const Paint *p, Rect r, const Laboratory *l)
{
    const Measure *m = l->measure;
    char count[32], text[64];
    count_text(count, sizeof count, m->tokens);
    int used = m->tokens ? canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM,
                                         r.w >= 72 ? "surprise over %s tokens of %s, the factor in every block"
                                                   : "nats, %s tokens of %s, every block",
                                         count, session_texts(p->s))
                         : canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "measuring…");
    if (m->tokens && on_notch(p->s, l)) {
        const MeanOver *here = &m->nats[l->notch];
        const int decimals = here->mean < 1 ? 3 : 2; /* as at the notches */
        utf8_print(text, sizeof text, "; here %.*f ±%.*f (95 %%)", decimals, here->mean, decimals, here->margin);
        if (r.w - used >= utf8_cells(text))
            used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, text);
    }
    draw_measured(p, (Rect){r.y, r.x + used, 1, r.w - used}, m);
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
    if (m->nats) {
        draw_nats(p, r, l);
        return;
    }
    count_text(count, sizeof count, m->pictures);
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM,
                             r.w >= 72 ? "accuracy over %s held-out %s, the factor in every block"
                                       : "accuracy, %s %s, every block",
                             count, session_measured_over(p->s));
    if (m->whole && on_notch(p->s, l)) {
        char share[48], text[64];
        snprintf(text, sizeof text, "; here %s",
                 measure_share_text(m->right[l->notch], m->pictures, share, sizeof share));
        if (r.w - used >= utf8_cells(text))
            used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, text);
    }
    draw_measured(p, (Rect){r.y, r.x + used, 1, r.w - used}, m);
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
