/* The largest weights of the row in focus, and what the row comes to. */
#include <math.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "tui/views/attention/attend.h"

enum {
    TOP_MOST = 128,
    LABEL = 7,
    LIST = 18,
    HEAD_FROM = 8,
    GAP = -1,
    WORD_MOST = 12,
    BAR_LEAST = 5
}; /* list: label, a blank and the number */

/* The largest first: by size of the change for a difference, else by value; ties in the order of the tokens. */
static int top_tokens(const Attend *a, int most, int out[TOP_MOST])
{
    int n = 0;
    for (int u = 0; u < a->u_axis->n; u++) {
        if (attend_masked(a, u))
            continue;
        float x = a->v.values[attend_cell(a, a->head, a->at_t, u)];
        int at = n < most ? n : most;
        while (at > 0) {
            float y = a->v.values[attend_cell(a, a->head, a->at_t, out[at - 1])];
            bool more = a->v.side == SIDE_DIFF ? fabsf(x) > fabsf(y) : x > y;
            if (!more && !(isnan(y) && !isnan(x)))
                break;
            if (at < most)
                out[at] = out[at - 1];
            at--;
        }
        if (at < most) {
            out[at] = u;
            n += n < most;
        }
    }
    return n;
}

typedef struct TopFigure {
    Site probe;
    const char *label, *brief;
} TopFigure;
static const TopFigure TOP_FIGURES[] = {{SITE_ROW_SUM, "sum", "sum"},
                                        {SITE_ENTROPY, "entropy", "H"},
                                        {SITE_LARGEST, "largest", "max"}};
enum { TOP_FIGURE_COUNT = sizeof TOP_FIGURES / sizeof *TOP_FIGURES };

static void draw_top_figures(const Paint *p, const Attend *a, Rect r)
{
    for (int i = 0; i < r.h && i < TOP_FIGURE_COUNT; i++) {
        Shown v;
        const char *path = attend_probe(p->s, a->v.side, TOP_FIGURES[i].probe);
        if (!shown_open(p->s, a->v.side, path, &v) || !v.values)
            continue;
        int used = canvas_printf(p->c, r.y + i, r.x, r.w, STYLE_DIM, "%s ",
                                 r.w < LIST ? TOP_FIGURES[i].brief : TOP_FIGURES[i].label);
        used += (TOP_FIGURES[i].probe == SITE_ROW_SUM ? attend_sum : shown_number)(p, &v, v.cell, r.y + i, r.x + used,
                                                                                   r.w - used, STYLE_TEXT);
        char most[32];
        utf8_print(most, sizeof most, " of %.3f", dm_log((double)a->seen)); /* all weights equal: ln T */
        if (TOP_FIGURES[i].probe == SITE_ENTROPY && used + (int)strlen(most) <= r.w)
            canvas_text(p->c, r.y + i, r.x + used, r.w - used, STYLE_DIM, most);
    }
}

/* Lines of the list; the rest is for the row's figures and "59 more". */
static int top_lines(const Attend *a, int h)
{
    int figures = a->pattern && a->v.side != SIDE_DIFF && h >= 8 ? TOP_FIGURE_COUNT + 1 : 0;
    const int all = a->seen + attend_masked(a, a->at_u); /* the cursor's has its line */
    int lines = h - figures;
    if ((lines < all || all < a->u_axis->n) && lines > 1)
        lines--;
    if (lines > all)
        lines = all;
    return lines < TOP_MOST ? lines : TOP_MOST;
}

/* The list; where the token under the cursor is not among the largest it stands in the last line, behind a gap. */
static int listed_tokens(const Attend *a, int most, int out[TOP_MOST])
{
    int n = top_tokens(a, most, out), here = 0;
    while (here < n && out[here] != a->at_u)
        here++;
    if (here < n)
        return n;
    if (n < most) { /* all that are seen, and it is masked */
        out[n] = a->at_u;
        return n + 1;
    }
    if (n > 1)
        out[n - 1] = a->at_u;
    if (n > 2)
        out[n - 2] = GAP;
    return n;
}

/* "[r4c3]" is looked at, ">r3c4<" asks, as on the maps; beside a label too long for that ">" is the cursor. */
static void draw_token(const Paint *p, const Attend *a, int u, int y, int x, int width)
{
    char label[32];
    bool here = u == a->at_u, asks = !here && attend_asks(a, u);
    shown_pair(a->u_of_a, a->u_axis, u, width - 2, label, sizeof label);
    bool fits = utf8_cells(label) + 2 <= width;
    const char *first = here           ? fits ? "[" : ">"
                        : asks && fits ? ">"
                                       : " ",
               *last = !fits  ? ""
                       : here ? "]"
                       : asks ? "<"
                              : "";
    canvas_printf(p->c, y, x, width, here ? STYLE_CURSOR : STYLE_AXIS, "%s%s%s", first, label, last);
}

/* Cells of the list's tokens: more than LABEL where words need and a wide pane has them. */
static int label_cells(const Attend *a, int width)
{
    int more = shown_axis_widest(a->u_axis, WORD_MOST) + 2 - LABEL, room = width - LIST - BAR_LEAST - 2;
    more = more < room ? more : room;
    return attend_listed(a) && more > 0 ? LABEL + more : LABEL;
}

/* The line of headings, where the list is longer than them. */
static Rect top_head(Rect *r)
{
    return r->h >= HEAD_FROM && r->w >= LIST ? rect_cut(r, 't', 1) : (Rect){0};
}

/* Are the numbers shares of attention, or sums of such? */
static bool is_share(const Session *s, Side side)
{
    Attend a;
    return attend_open(s, side, -1, &a) && a.whole > 0;
}

/* What a full bar stands for: the largest weight where the heading has room to say so, for among many tokens bars to 1
 * are slivers; beside another run 1. */
static float full_of(const Paint *p, const Attend *a, int largest, Rect head)
{
    char says[32], share[16];
    const float most = a->v.values[attend_cell(a, a->head, a->at_t, largest)];
    share_text(share, sizeof share, most);
    if (head.h < 1 || session_compares(p->s) || !(most > 0) || most > 1)
        return 1;
    if (utf8_print(says, sizeof says, "to %s", share) > head.w + 1) /* in per cent, as the weights beside it */
        utf8_print(says, sizeof says, "to %.*s", (int)strcspn(share, " "), share);
    const int wide = head.w + (utf8_cells(says) > head.w); /* the cell behind the bars is free */
    if (utf8_cells(says) > wide)
        return 1;
    canvas_right(p->c, head.y, head.x, wide, STYLE_AXIS, says);
    return most;
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Attend a;
    int top[TOP_MOST];
    if (!attend_ready(p, r, side, &a))
        return;
    Rect head = top_head(&r);
    int n = listed_tokens(&a, top_lines(&a, r.h), top), line = 0;
    bool share = is_share(p->s, side);
    const int label = label_cells(&a, r.w), whole = LIST - LABEL + label;
    if (head.h) {
        int list = r.w < whole ? r.w : whole;
        canvas_text(p->c, head.y, head.x, list, STYLE_HEADER, " token");
        canvas_right(p->c, head.y, head.x + label, list - label, STYLE_HEADER,
                     side == SIDE_DIFF    ? share ? "A−B points" : "A − B"
                     : share              ? "weight"
                     : attend_is_mask(&a) ? "1: seen"
                                          : "score");
    }
    const Rect bars = {r.y, r.x + whole + 1, r.h, r.w - whole - 2};
    const bool barred = r.w >= 26 && a.in_share && a.v.side != SIDE_DIFF;
    const float full = barred && n ? full_of(p, &a, top[0], (Rect){head.y, bars.x, head.h, bars.w}) : 1;
    for (; line < n; line++) {
        int u = top[line], list = r.w < whole ? r.w : whole, skip = list > label + 3 ? label : list > 5 ? 1 : 0;
        bool here = u == a.at_u;
        if (u == GAP) {
            canvas_text(p->c, r.y + line, r.x + 1, r.w - 1, STYLE_DIM, p->c->ascii ? "..." : "…");
            continue;
        }
        size_t cell = attend_cell(&a, a.head, a.at_t, u);
        draw_token(p, &a, u, r.y + line, r.x, skip);
        int apart = skip == label; /* a long number doesn't touch a long label */
        if (attend_masked(&a, u))
            canvas_right(p->c, r.y + line, r.x + skip + apart, list - skip - apart, STYLE_DIM, "masked");
        else
            (share ? shown_share_right : shown_number_right)(p, &a.v, cell, r.y + line, r.x + skip + apart,
                                                             list - skip - apart, STYLE_TEXT);
        if (here)
            focus_cursor(p, focus, r.y + line, r.x);
        if (barred)
            canvas_bar(p->c, r.y + line, bars.x, bars.w, (double)(a.v.values[cell] / full), STYLE_TEXT,
                       shown_ref(&a.v, cell));
    }
    const int masked = a.u_axis->n - a.seen - attend_masked(&a, a.at_u),
              others = a.u_axis->n - masked - n + (n > 2 && top[n - 2] == GAP);
    if ((others || masked) && line < r.h) {
        int used = others ? canvas_printf(p->c, r.y + line, r.x, r.w, STYLE_DIM, " %d more", others) : 0;
        if (masked)
            canvas_printf(p->c, r.y + line, r.x + used, r.w - used, STYLE_DIM, "%s %d masked", used ? "," : "", masked);
        line++;
    }
    if (a.pattern && side != SIDE_DIFF && r.h - line > TOP_FIGURE_COUNT)
        draw_top_figures(p, &a, (Rect){r.y + line + 1, r.x, r.h - line - 1, r.w});
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    attend_needs(s, side, true, out);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Attend a;
    int top[TOP_MOST];
    if (!attend_open(p->s, side, -1, &a) || !a.v.values)
        return false;
    if (rect_has(top_head(&r), y, x))
        return false;
    int n = listed_tokens(&a, top_lines(&a, r.h), top);
    return y - r.y < n && top[y - r.y] != GAP && attend_click(&a, top[y - r.y], command);
}

static void title(const Session *s, Side side, Buf *out)
{
    Attend a;
    if (side == SIDE_DIFF)
        buf_puts(out, "largest changes");
    else if (is_share(s, side))
        buf_puts(out, "largest weights");
    else if (attend_open(s, side, -1, &a) && attend_is_mask(&a))
        buf_puts(out, "row of the mask");
    else
        buf_puts(out, "largest scores");
}

VIEW_SPEC(ROW_TOP, .name = "row top");
