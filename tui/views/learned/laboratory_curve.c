/* The slider: eleven factors on 1/√d_k, and how many held-out pictures are named right with each of them in every
 * block. */
#include "tui/views/learned/laboratory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/number.h"

enum { NOTCH_WIDEST = 14, NOTCH_LEAST = 4, FULL_BLOCK = 0x2588, LOWER_HALF = 0x2584 };

/* Columns of one notch; 0 where not even a digit has room. */
static int notch_width(Rect r)
{
    int w = r.w / MEASURES_FACTORS;
    return w > NOTCH_WIDEST ? NOTCH_WIDEST : w;
}

int laboratory_notch(Rect r, int x)
{
    int w = notch_width(r), i = w > 0 ? (x - r.x) / w : -1;
    return x >= r.x && i >= 0 && i < MEASURES_FACTORS ? i : -1;
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
    int w = notch_width(r), used = w * MEASURES_FACTORS;
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
    int w = notch_width(r);
    if (w < NOTCH_LEAST) {
        draw_marks(p, r, l, focus);
        return;
    }
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        char number[16], text[24];
        bool here = i == l->notch, off = measures_factor(p->s, i) == 1 / session_scale(p->s);
        factor_text(p->s, i, number);
        snprintf(text, sizeof text, here ? "[%s%s]" : "%s%s", number, off && w >= 8 + 2 * here ? " off" : "");
        Style style = here ? STYLE_CURSOR : i == MEASURES_FACTORS / 2 ? STYLE_STRONG : STYLE_TEXT;
        canvas_text(p->c, r.y, r.x + i * w, here ? w : w - 1, style, text);
        if (here)
            focus_cursor(p, focus, r.y, r.x + i * w);
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
static void share_text(const Laboratory *l, int i, char *out, size_t n)
{
    float share = share_at(l, i);
    char text[32];
    snprintf(text, sizeof text, "%.3f", (double)share);
    if (isnan(share))
        snprintf(out, n, "%s", l->why ? "-" : "…");
    else
        snprintf(out, n, "%.4s", text + (text[0] == '0'));
}

static void draw_shares(const Paint *p, Rect r, const Laboratory *l)
{
    int w = notch_width(r);
    char text[32];
    if (w < NOTCH_LEAST) {
        share_text(l, l->notch, text, sizeof text);
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_TEXT, "right %s", text);
        return;
    }
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        share_text(l, i, text, sizeof text);
        canvas_text(p->c, r.y, r.x + i * w, w, style_at(l, i), text);
    }
}

/* Bars in half lines, from 0 at the bottom to 1 at the top. */
static void draw_bars(const Paint *p, Rect r, const Laboratory *l)
{
    int w = notch_width(r), wide = w > 3 ? w - 2 : w > 1 ? w - 1 : w;
    for (int i = 0; i < MEASURES_FACTORS; i++) {
        float share = share_at(l, i);
        int halves = isnan(share) ? 0 : (int)((double)share * 2 * r.h + 0.5);
        for (int y = 0; y * 2 < halves && y < r.h; y++)
            for (int x = 0; x < wide; x++)
                canvas_glyph(p->c, r.y + r.h - 1 - y, r.x + i * w + x, style_at(l, i),
                             halves - 2 * y > 1 ? FULL_BLOCK : LOWER_HALF);
    }
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
                             r.w >= 72 ? "accuracy over %s held-out pictures, the factor in every block"
                                       : "accuracy, %s pictures, every block",
                             count);
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
    if (r.h > 0)
        draw_shares(p, rect_cut(&r, 'b', 1), l);
    if (r.h > 0)
        draw_title(p, rect_cut(&r, 't', 1), l);
    if (r.h > 0)
        draw_bars(p, r, l);
}
