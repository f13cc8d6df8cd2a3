/* The figures by which two rows of attention are compared: how far the scores spread, how evenly the weights lie, the
 * largest of them. One side shows its own; A − B their difference, of the variance the factor behind it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "tui/views/attention/attend.h"

typedef struct Figure {
    Site probe;
    const char *label, *brief;
    bool ratio;   /* the factor between them is said as well */
    bool of_most; /* an entropy: at most ln T */
} Figure;

static const Figure FIGURES[] = {
    {SITE_SCORE_VARIANCE, "variance of scores", "var", true, false},
    {SITE_ENTROPY, "entropy", "H", false, true},
    {SITE_LARGEST, "largest weight", "max", false, false},
    {SITE_ROW_SUM, "row sum", "sum", false, false},
};
enum { FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES, LABEL = 20, NUMBER = 12 };

static void draw_one(const Paint *p, const Figure *f, const Shown *v, int y, int x, int width)
{
    int used = (f->probe == SITE_ROW_SUM ? attend_sum : shown_number)(p, v, v->cell, y, x, width, STYLE_STRONG),
        axis = graph_role(v->graph, ROLE_KEY, SEQUENCE_ANY);
    if (!f->of_most || axis == AXIS_NONE)
        return;
    char most[48];
    utf8_print(most, sizeof most, " of at most %.3f nats", dm_log((double)v->graph->axes[axis].n));
    if (used + (int)strlen(most) > width)
        utf8_print(most, sizeof most, " / %.3f", dm_log((double)v->graph->axes[axis].n));
    if (used + (int)strlen(most) <= width)
        canvas_text(p->c, y, x + used, width - used, STYLE_DIM, most);
}

static void draw_change(const Paint *p, const Figure *f, const char *path, int y, int x, int width)
{
    Shown a, b;
    if (session_node(p->s, SIDE_DIFF, path) == NO_NODE || !shown_open(p->s, SIDE_A, path, &a) ||
        !shown_open(p->s, SIDE_B, path, &b)) {
        canvas_text(p->c, y, x, width, STYLE_DIM, "-");
        return;
    }
    if (!a.values || !b.values) {
        canvas_text(p->c, y, x, width, STYLE_DIM, "computing…");
        return;
    }
    float from = a.values[a.cell], to = b.values[b.cell], change = from - to;
    char number[32], text[64];
    number_text(number, sizeof number, change, NUMBER - 2);
    const bool rounding = f->probe == SITE_ROW_SUM && change != 0 && fabsf(change) < 1e-5F; /* of two rows of shares */
    snprintf(text, sizeof text, "%s%s", rounding || change <= 0 ? "" : "+", rounding ? "0 (rounding)" : number);
    int used = canvas_text(p->c, y, x, width, STYLE_STRONG, text);
    snprintf(text, sizeof text, " A − B%s", f->of_most ? ", nats" : "");
    if (used + 14 <= width)
        used += canvas_text(p->c, y, x + used, width - used, STYLE_DIM, text);
    number_text(number, sizeof number, to / from, NUMBER - 2);
    snprintf(text, sizeof text, "; B is ×%s", number);
    if (f->ratio && isfinite(to / from) && used + utf8_cells(text) <= width)
        canvas_text(p->c, y, x + used, width - used, STYLE_DIM, text);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    (void)focus;
    bool wide = r.w >= LABEL + NUMBER;
    int skip = r.w >= 6 + NUMBER ? wide ? LABEL : 5 : 0;
    for (int i = 0; i < FIGURE_COUNT && i < r.h; i++) {
        const Figure *f = &FIGURES[i];
        Shown v;
        const char *path = attend_probe(p->s, side, f->probe);
        if (skip)
            canvas_text(p->c, r.y + i, r.x, skip - 1, STYLE_DIM, wide ? f->label : f->brief);
        if (side == SIDE_DIFF)
            draw_change(p, f, path, r.y + i, r.x + skip, r.w - skip);
        else if (!shown_open(p->s, side, path, &v))
            canvas_text(p->c, r.y + i, r.x + skip, r.w - skip, STYLE_DIM, "-");
        else if (!v.values)
            canvas_text(p->c, r.y + i, r.x + skip, r.w - skip, STYLE_DIM, "computing…");
        else
            draw_one(p, f, &v, r.y + i, r.x + skip, r.w - skip);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    for (int i = 0; i < FIGURE_COUNT; i++) {
        const char *path = attend_probe(s, side, FIGURES[i].probe);
        if (side == SIDE_DIFF) {
            needs_add(out, SIDE_A, path);
            needs_add(out, SIDE_B, path);
        } else
            needs_add(out, side, path);
    }
}

/* The arithmetic of the figure clicked on; a change has none of its own. */
static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Shown v;
    (void)x;
    if (y - r.y >= FIGURE_COUNT || side == SIDE_DIFF)
        return false;
    const char *path = attend_probe(p->s, side, FIGURES[y - r.y].probe);
    if (!shown_open(p->s, side, path, &v))
        return false;
    buf_printf(command, "goto %s", path);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Attend a;
    char label[32];
    if (attend_open(s, side, -1, &a) && a.h_step)
        buf_printf(out, "head %d, row %s", a.head, axis_label(a.t_axis, a.at_t, label, sizeof label));
    else
        buf_puts(out, "figures");
}

VIEW_SPEC(FIGURES, .name = "figures");
