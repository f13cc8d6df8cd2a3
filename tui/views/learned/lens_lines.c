#include "tui/views/learned/lens_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/screens.h"
#include "tui/canvas/plot.h"
#include "tui/views/classes.h"

enum { LINES_MOST = 12, NAME = 10, NUMBER = 8, ENDS = NAME + NUMBER + 1 /* columns of a name and number */ };

/* A class over the rows: its logit after each. */
typedef struct Line {
    const LensLines *l;
    size_t o;
} Line;

static bool open_logits(const LensLines *l, int row, Shown *v)
{
    return shown_answer(l->s, l->side, lens_logits(l->s, l->side, row), v) && v->values && v->count == l->classes;
}

static void logit(const void *of, int i, float *x, float *y)
{
    const Line *line = of;
    Shown v;
    *x = (float)i;
    *y = open_logits(line->l, line->l->first + i, &v) ? v.values[line->o] : NAN;
}

static float no_number(const void *of, double x)
{
    (void)of, (void)x;
    return NAN;
}

/* Those that end highest and the picked one, the highest first. */
static int choose_lines(const LensLines *l, Line line[LINES_MOST], int most)
{
    Shown end;
    int n = 0;
    bool there = open_logits(l, l->blocks, &end), seen = false;
    for (size_t o = 0; there && o < l->classes; o++) {
        int at = n;
        while (at > 0 && end.values[o] > end.values[line[at - 1].o])
            at--;
        if (at == most)
            continue;
        n += n < most;
        memmove(line + at + 1, line + at, (size_t)(n - at - 1) * sizeof *line);
        line[at] = (Line){l, o};
    }
    for (int i = 0; i < n; i++)
        seen |= line[i].o == l->picked;
    if (n && !seen)
        line[n - 1].o = l->picked;
    return n;
}

/* At each line's end its class, and the logit in the row of the cursor. */
static void draw_names(const Paint *p, const LensLines *l, const CanvasPlot *plot, const Line *line, Rect body,
                       bool numbers)
{
    Shown here, end;
    int below = body.y - 1;
    for (int i = 0; i < plot->lines && open_logits(l, l->row, &here) && open_logits(l, l->blocks, &end); i++) {
        char name[64];
        double share = (plot->y1 - (double)end.values[line[i].o]) / (plot->y1 - plot->y0);
        int y = body.y + (int)(share * (body.h - 1) + 0.5), left = plot->lines - i - 1;
        y = clamp(y, below + 1, body.y + body.h - 1 - left > below ? body.y + body.h - 1 - left : below + 1);
        if (y >= body.y + body.h)
            return;
        below = y;
        Style style = line[i].o == l->picked ? STYLE_SELECTED : plot->line[i].style;
        int x = body.x + body.w + 1, mark = plot->line[i].mark ? 2 : 0;
        canvas_printf(p->c, y, x, mark, style, "%c", plot->line[i].mark);
        canvas_label(p->c, y, x + mark, NAME - mark, style, classes_name(&here, line[i].o, name, sizeof name));
        if (numbers)
            shown_number_right(p, &here, line[i].o, y, x + NAME, NUMBER, style);
    }
}

void lens_lines_draw(const Paint *p, const LensLines *l, Rect r)
{
    static const Style STYLES_OF[] = {STYLE_TEXT, STYLE_SIDE_B,  STYLE_SIDE_A, STYLE_GOOD,
                                      STYLE_AXIS, STYLE_WARNING, STYLE_ERROR,  STYLE_DIM};
    Line of[LINES_MOST];
    CanvasLine line[LINES_MOST];
    int n = choose_lines(l, of, clamp(r.h - 2, 1, LINES_MOST)); /* each has a label */
    CanvasPlot plot = {
        .title = "logits after each block, at the cursor", .line = line, .lines = n, .points = true, .numbered = true};
    plot.x1 = l->blocks - l->first;
    plot.cursor = l->row - l->first;
    plot.no_x = true;
    plot.y0 = (double)INFINITY;
    plot.y1 = -(double)INFINITY;
    for (int i = 0; i < n; i++) {
        line[i] = (CanvasLine){.sample = logit, .of = &of[i], .name = "", .n = l->blocks - l->first + 1};
        line[i].style = STYLES_OF[(size_t)i % (sizeof STYLES_OF / sizeof *STYLES_OF)];
        line[i].mark = (char)(p->c->ascii || p->c->marks ? 'a' + i : 0);
        line[i].read = no_number; /* it stands at the line's end */
        for (int k = 0; k < line[i].n; k++) {
            float x, y;
            logit(&of[i], k, &x, &y);
            plot.y0 = (double)y < plot.y0 ? (double)y : plot.y0;
            plot.y1 = (double)y > plot.y1 ? (double)y : plot.y1;
        }
    }
    if (!n || !(plot.y1 > plot.y0))
        return;
    Rect below = rect_cut(&r, 'b', 1), ends = rect_cut(&r, 'r', 1 + NAME + (r.w >= 2 * ENDS ? NUMBER + 1 : 0));
    Rect body = plot_draw(p->c, r, &plot);
    draw_names(p, l, &plot, of, body, ends.w >= ENDS);
    for (int row = l->first, free = r.x; row <= l->blocks; row++) {
        char text[16];
        snprintf(text, sizeof text, row == LENS_START ? "start" : row == l->blocks ? "answer" : "%d", row);
        int x = body.x + plot_column(&plot, body, row - l->first), w = (int)strlen(text);
        x = x + w > r.x + r.w ? r.x + r.w - w : x;
        if (x >= free)
            free = x + 1 + canvas_text(p->c, below.y, x, w, row == l->row ? STYLE_STRONG : STYLE_AXIS, text);
    }
}
