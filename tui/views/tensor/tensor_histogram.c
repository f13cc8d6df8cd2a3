/* How the values of a whole node are distributed. */
#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "tui/views/number.h"
#include "tui/views/tensor/tensor.h"

enum { BINS_MAX = 48, EDGE_W = 9, COUNT_W = 9, BINS_GOOD = 12 };

typedef struct Bins {
    int n;
    size_t count[BINS_MAX], most;
    double low, width;
} Bins;

static int bin_of(const Bins *b, float x)
{
    double k = b->width > 0 ? ((double)x - b->low) / b->width : 0;
    return k < 0 ? 0 : k >= b->n ? b->n - 1 : (int)k;
}

static Bins fill(const float *values, size_t count, const Spread *s, int n)
{
    Bins b = {.n = s->most > s->least ? n : 1, .low = (double)s->least};
    b.width = ((double)s->most - (double)s->least) / b.n;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            b.count[bin_of(&b, values[i])]++;
    for (int k = 0; k < b.n; k++)
        b.most = b.count[k] > b.most ? b.count[k] : b.most;
    return b;
}

/* A and B have the same bins, and a bar as long stands for as many. */
static Bins fill_beside(const Paint *p, const Tensor *t, int n)
{
    Bins b = fill(t->v.values, t->v.count, &t->spread, n);
    Shown other;
    if (t->spread.shared && shown_beside(p->s, &t->v, &other)) {
        Bins o = fill(other.values, other.count, &t->spread, n);
        b.most = o.most > b.most ? o.most : b.most;
    }
    return b;
}

static void draw_extremes(const Paint *p, Rect line, const Tensor *t, const Spread *s)
{
    int x = line.x, end = line.x + line.w;
    x += canvas_text(p->c, line.y, x, end - x, STYLE_DIM, "min ");
    x += shown_number(p, &t->v, s->at_min, line.y, x, end - x, STYLE_TEXT);
    x += canvas_text(p->c, line.y, x, end - x, STYLE_DIM, "   max ");
    shown_number(p, &t->v, s->at_max, line.y, x, end - x, STYLE_TEXT);
}

/* Where it is narrow, what is the matter; where nothing is and lines are few, no line. */
static void draw_zeros(const Paint *p, Rect *r, const Spread *s)
{
    const bool odd = s->nans || s->infinities;
    const double zeros = s->count ? 100.0 * (double)s->zeros / (double)s->count : 0;
    char text[96];
    utf8_print(text, sizeof text, "zeros %.1f %%   NaN %zu   infinite %zu", zeros, s->nans, s->infinities);
    const bool fits = utf8_cells(text) <= r->w;
    if (!fits && odd)
        utf8_print(text, sizeof text, "NaN %zu  inf %zu", s->nans, s->infinities);
    else if (!fits)
        utf8_print(text, sizeof text, "zeros %.1f %%, all finite", zeros);
    if (!fits && !odd && (!s->zeros || utf8_cells(text) > r->w) && r->h < BINS_GOOD)
        return;
    Rect line = rect_cut(r, 't', 1);
    canvas_text(p->c, line.y, line.x, line.w, odd ? STYLE_WARNING : STYLE_DIM, text);
}

static void draw_facts(const Paint *p, Rect *r, const Tensor *t, const Spread *s)
{
    char count[48], mean_word[32], deviation_word[32];
    double mean, deviation;
    spread_moments(t->v.values, t->v.count, &mean, &deviation);
    number_text(mean_word, sizeof mean_word, (float)mean, 12);
    number_text(deviation_word, sizeof deviation_word, (float)deviation, 12);
    Rect line = rect_cut(r, 't', 1);
    char facts[160];
    count_text(count, sizeof count, s->count);
    snprintf(facts, sizeof facts, "%s number%s   mean %s   sd %s", count, s->count == 1 ? "" : "s", mean_word,
             deviation_word);
    if (utf8_cells(facts) > line.w) {
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "%s number%s", count, s->count == 1 ? "" : "s");
        line = rect_cut(r, 't', 1);
        snprintf(facts, sizeof facts, "mean %s   sd %s", mean_word, deviation_word);
    }
    canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT, facts);
    line = rect_cut(r, 't', 1);
    if (s->finite)
        draw_extremes(p, line, t, s);
    draw_zeros(p, r, s);
}

static void draw_bin(const Paint *p, Rect line, const Bins *b, int k, bool here)
{
    char low[16], high[16], count[48];
    number_text(low, sizeof low, (float)(b->low + k * b->width), EDGE_W);
    number_text(high, sizeof high, (float)(b->low + (k + 1) * b->width), EDGE_W);
    Style style = here ? STYLE_STRONG : STYLE_AXIS;
    int x = line.x, end = line.x + line.w;
    if (here)
        canvas_glyph(p->c, line.y, x, STYLE_CURSOR, '>');
    x++;
    if (line.w >= 2 * EDGE_W + 16) {
        canvas_right(p->c, line.y, x, EDGE_W, style, low);
        canvas_text(p->c, line.y, x + EDGE_W, 3, STYLE_DIM, " … ");
        canvas_right(p->c, line.y, x + EDGE_W + 3, EDGE_W, style, high);
        x += 2 * EDGE_W + 4;
    } else if (line.w >= EDGE_W + 8) {
        canvas_right(p->c, line.y, x, EDGE_W, style, low);
        x += EDGE_W + 1;
    }
    if (end - x >= COUNT_W + 6) {
        canvas_right(p->c, line.y, end - COUNT_W, COUNT_W, style, count_text(count, sizeof count, b->count[k]));
        end -= COUNT_W + 1;
    }
    canvas_bar(p->c, line.y, x, end - x, b->most ? (double)b->count[k] / (double)b->most : 0, style, (Ref){0});
}

static void draw(const Paint *p, Rect r, const Tensor *t, bool focus)
{
    Spread s = t->spread;
    focus_cursor(p, focus, r.y, r.x);
    if (r.h >= 6)
        draw_facts(p, &r, t, &s);
    if (r.h >= BINS_GOOD)
        rect_cut(&r, 't', 1);
    if (!s.finite || r.h < 1) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_WARNING, "no finite value");
        return;
    }
    Bins b = fill_beside(p, t, r.h < BINS_MAX ? r.h : BINS_MAX);
    float focused = t->v.values[t->v.cell];
    for (int k = 0; k < b.n; k++) {
        bool here = isfinite(focused) && bin_of(&b, focused) == k;
        draw_bin(p, (Rect){r.y + k, r.x, 1, r.w}, &b, k, here);
        focus_cursor(p, focus && here, r.y + k, r.x);
    }
}

static bool hit(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell)
{
    (void)p, (void)r, (void)t, (void)y, (void)x, (void)cell;
    return false;
}

static void caption(const Paint *p, Rect r, const Tensor *t, Buf *out)
{
    (void)p, (void)r, (void)t;
    buf_puts(out, "all values of the node");
}

const TensorHow TENSOR_HISTOGRAM = {.draw = draw, .hit = hit, .caption = caption, .bar = false, .plane = false};
