#include "tui/views/learned/lens_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/screens.h"
#include "tui/canvas/plot.h"
#include "tui/views/classes.h"

enum {
    LINES_MOST = 12,
    LINES_FEW =
        6,      /* where there are more classes than lines: of many untold ones the last add nothing but a tangle … */
    DOTTED = 2, /* … nor do dots beside all of them */
    SIDES_MOST = 4, /* of three panes: what A answers, what B does, and the next largest changes */
    POINTS_MOST = 320,
    NAME = 10,
    NUMBER = 8,
    ENDS = NAME + NUMBER + 1 /* columns of a name and number */,
    WIDE = 4,
    TITLE = 64, /* columns of what the lines are, and of it in short */
    TITLE_TURNS = 48,
    LOW = 9,      /* lines of a plot where many meet … */
    LOW_MOST = 3, /* … and no more are drawn: they were a tangle */
    TITLE_SHORT = 36,
    TITLE_LEAST = 23,
    MARKED = 9 /* lines in which dots beside the lines are still told from them */
};

/* The points of every line: logits before the first block, after each MLP, and at the end, or, apart from them, after
 * each attention; x is the row, half a one less after attention. */
typedef struct Depth {
    const LensLines *l;
    struct {
        const char *path;
        float x;
    } at[POINTS_MOST];
    int count;
} Depth;

/* A class over the depth. */
typedef struct Line {
    const Depth *d;
    size_t o;
    int rank; /* which of them it is: its colour, the same in A, B and A − B */
} Line;

static void add_point(Depth *d, const char *path, float x)
{
    if (session_node(d->l->s, d->l->side, path) == NO_NODE || d->count == POINTS_MOST)
        return;
    d->at[d->count].path = path;
    d->at[d->count++].x = x;
}

static void open_depth(const LensLines *l, bool attention, Depth *d)
{
    d->l = l;
    d->count = 0;
    for (int row = l->first; row <= l->blocks; row++)
        if (attention)
            add_point(d, lens_mid(l->s, l->side, row), (float)(row - l->first) - 0.5f);
        else
            add_point(d, lens_logits(l->s, l->side, row), (float)(row - l->first));
}

static bool open_path(const LensLines *l, const char *path, Shown *v)
{
    return shown_answer(l->s, l->side, path, v) && v->values && v->count == l->classes;
}

static bool open_logits(const LensLines *l, int row, Shown *v)
{
    return open_path(l, lens_logits(l->s, l->side, row), v);
}

static void logit(const void *of, int i, float *x, float *y)
{
    const Line *line = of;
    Shown v;
    *x = line->d->at[i].x;
    *y = open_path(line->d->l, line->d->at[i].path, &v) ? v.values[line->o] : NAN;
}

static float no_number(const void *of, double x)
{
    (void)of, (void)x;
    return NAN;
}

/* Of sides: is the class among those that changed most, or the picked one, which takes the last one's place? */
static bool among(const LensLines *l, size_t o, int most)
{
    bool apart = ranking_rank(l->order, l->picked) >= (size_t)most;
    return o == l->picked || ranking_rank(l->order, o) < (size_t)(most - apart);
}

/* Those that end highest or, of sides, changed most, and the picked one, the highest first. */
static int choose_lines(const Depth *d, Line line[LINES_MOST], int most)
{
    const LensLines *l = d->l;
    Shown end;
    int n = 0;
    bool there = open_logits(l, l->blocks, &end), seen = false, few = l->sides && l->order.v;
    most = few && most > SIDES_MOST ? SIDES_MOST : most;
    for (size_t o = 0; there && o < l->classes; o++) {
        int at = n;
        if (few && !among(l, o, most))
            continue;
        while (at > 0 && end.values[o] > end.values[line[at - 1].o])
            at--;
        if (at == most)
            continue;
        n += n < most;
        memmove(line + at + 1, line + at, (size_t)(n - at - 1) * sizeof *line);
        line[at] = (Line){.d = d, .o = o};
    }
    for (int i = 0; i < n; i++)
        seen |= line[i].o == l->picked;
    if (n && !seen)
        line[n - 1].o = l->picked;
    for (int i = 0; i < n; i++)
        line[i].rank = few ? clamp((int)ranking_rank(l->order, line[i].o), 0, most - 1) : i;
    return n;
}

/* At each line's end its class, and the logit in the row of the cursor; before that, where there is room and a block is
 * in focus, the one between its attention and its MLP. */
static void draw_names(const Paint *p, const LensLines *l, const CanvasPlot *plot, const Line *line, int lines,
                       Rect body, int numbers)
{
    Shown here, end, mid;
    const bool halves = numbers > 1 && open_path(l, lens_mid(l->s, l->side, l->row), &mid);
    int below = body.y - 1;
    for (int i = 0; i < lines && open_logits(l, l->row, &here) && open_logits(l, l->blocks, &end); i++) {
        char name[64];
        double share = (plot->y1 - (double)end.values[line[i].o]) / (plot->y1 - plot->y0);
        int y = body.y + plot_line(p->c, body, share), left = lines - i - 1;
        y = clamp(y, below + 1, body.y + body.h - 1 - left > below ? body.y + body.h - 1 - left : below + 1);
        if (y >= body.y + body.h)
            return;
        below = y;
        Style style = line[i].o == l->picked ? STYLE_SELECTED : plot->line[i].style;
        int x = body.x + body.w + 1, mark = plot->line[i].mark ? 2 : 0;
        canvas_printf(p->c, y, x, mark, style, "%c", plot->line[i].mark);
        canvas_label(p->c, y, x + mark, NAME - mark, style,
                     classes_label(&here, line[i].o, NAME - mark, name, sizeof name));
        if (halves)
            shown_number_right(p, &mid, line[i].o, y, x + NAME, NUMBER, plot->line[i].style);
        if (numbers)
            shown_number_right(p, &here, line[i].o, y, x + NAME + (numbers - 1) * NUMBER, NUMBER, style);
    }
}

/* Where no axis has room: its ends beside what the lines are, over all of the width. */
static void put_ends(const Paint *p, const CanvasPlot *plot, Rect line)
{
    static const char *const WORDS[] = {"logits %s … %s, dots attn", "logits %s…%s, dots attn", "logits %s … %s",
                                        "%s … %s"};
    char text[128], low[48], high[48];
    const int digits = plot->y1 - plot->y0 >= 1 ? 1 : 4;
    utf8_print(low, sizeof low, "%.*f", digits, plot->y0);
    utf8_print(high, sizeof high, "%.*f", digits, plot->y1);
    for (int i = plot->points ? 0 : 2; i < (int)(sizeof WORDS / sizeof *WORDS); i++) {
        utf8_print(text, sizeof text, WORDS[i], low, high);
        if (utf8_cells(text) + (p->c->ascii ? 2 : 0) > line.w) /* … as three */
            continue;
        canvas_fill(p->c, line, STYLE_TEXT, ' ');
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, text);
        return;
    }
}

/* Below the lines the rows, and half-way to them, where there is room, that attention stands there. Rather block 0 than
 * the start before it, unless the cursor is there. */
static void draw_rows(const Paint *p, const LensLines *l, const CanvasPlot *plot, Rect body, Rect below)
{
    enum { SAYS_BLOCK = 12, SAYS_ATTENTION = 4, SAYS_START = 5 };
    const int half = plot_column(plot, body, 1) - plot_column(plot, body, 0.5), end = body.x + body.w;
    for (int i = 0, free = below.x; i <= 2 * (l->blocks - l->first + 1); i++) {
        const int row = l->first + i / 2;
        const bool mid = i % 2 == 0;
        char text[16];
        if (mid && (!plot->points || half < SAYS_ATTENTION || !lens_mid(l->s, l->side, row)))
            continue;
        const int at = body.x + plot_column(plot, body, row - l->first - (mid ? 0.5 : 0)),
                  first = body.x + plot_column(plot, body, 1) - 1 - SAYS_START;
        if (!mid && row == LENS_START && first < below.x && row != l->row)
            continue;
        snprintf(text, sizeof text,
                 mid                  ? "attn"
                 : row == LENS_START  ? "start"
                 : row == l->blocks   ? "answer"
                 : half >= SAYS_BLOCK ? "block %d"
                                      : "%d",
                 row);
        int w = (int)strlen(text), x = mid ? at - w / 2 : row == LENS_START && first < at ? first : at;
        x = x + w > end ? end - w : x < below.x ? below.x : x;
        if (x >= free)
            free = x + 1 +
                   canvas_text(p->c, below.y, x, w,
                               mid             ? STYLE_DIM
                               : row == l->row ? STYLE_STRONG
                                               : STYLE_AXIS,
                               text);
    }
}

static void widen(CanvasPlot *plot, const Line *line)
{
    for (int k = 0; k < line->d->count; k++) {
        float x, y;
        logit(line, k, &x, &y);
        plot->y0 = (double)y < plot->y0 ? (double)y : plot->y0;
        plot->y1 = (double)y > plot->y1 ? (double)y : plot->y1;
    }
}

/* A and B beside one another have one axis, unless the reader asked for own scales. */
static void widen_beside(CanvasPlot *plot, const LensLines *l, const Line *line, int n, bool marked)
{
    LensLines other = *l;
    Depth blocks, attention;
    if (!l->sides || l->side == SIDE_DIFF || l->s->look.range == RANGE_OWN)
        return;
    other.side = l->side == SIDE_A ? SIDE_B : SIDE_A;
    open_depth(&other, false, &blocks);
    open_depth(&other, true, &attention);
    for (int i = 0; i < n; i++) {
        widen(plot, &(Line){.d = &blocks, .o = line[i].o});
        if (marked)
            widen(plot, &(Line){.d = &attention, .o = line[i].o});
    }
}

/* No colour twice, the rest is grey; where sides are compared none is that of A or of B. */
static Style style_of(const LensLines *l, int rank)
{
    static const Style ALONE[] = {STYLE_TEXT,  STYLE_SIDE_A,  STYLE_SIDE_B, STYLE_GOOD,
                                  STYLE_ERROR, STYLE_WARNING, STYLE_DIM},
                       COMPARED[] = {STYLE_TEXT, STYLE_GOOD, STYLE_ERROR, STYLE_AXIS, STYLE_WARNING, STYLE_DIM};
    const bool compared = l->sides || l->side == SIDE_DIFF;
    const int last = (int)(compared ? sizeof COMPARED / sizeof *COMPARED : sizeof ALONE / sizeof *ALONE) - 1;
    return (compared ? COMPARED : ALONE)[clamp(rank, 0, last)];
}

static void at_zero(const void *of, int i, float *x, float *y)
{
    const CanvasPlot *plot = of;
    *x = (float)(i ? plot->x1 : plot->x0);
    *y = 0;
}

/* The ends of a difference say little without where A and B are alike. Returns whether it is within them. */
static bool add_zero(const LensLines *l, CanvasPlot *plot, CanvasLine *line)
{
    const bool within = l->side == SIDE_DIFF && plot->y0 < 0 && plot->y1 > 0;
    *line = (CanvasLine){.sample = at_zero, .of = plot, .name = "", .n = 2, .style = STYLE_BORDER};
    line->dashed = line->aside = true;
    line->read = no_number;
    plot->lines += within;
    return within;
}

/* On the axis, or where that has no room behind the line, unless a name begins there. */
static void name_zero(const Paint *p, const CanvasPlot *plot, Rect r, Rect body)
{
    const bool axis = body.x > r.x + 1;
    const int y = body.y + plot_line(p->c, body, plot->y1 / (plot->y1 - plot->y0)),
              x = axis ? body.x - 2 : body.x + body.w;
    const Cell *k = canvas_at(p->c, y, x), *behind = canvas_at(p->c, y, x + 1);
    if (k && k->ch == ' ' && (axis || (behind && behind->ch == ' ')))
        canvas_text(p->c, y, x, 1, STYLE_AXIS, "0");
}

static const char *lines_title(bool marked, bool two, int room)
{
    static const char TWO[] = "logits after blocks; dots: attention, of the top two";
    if (marked && two && room >= (int)sizeof TWO - 1)
        return TWO;
    if (!marked)
        return room >= TITLE_TURNS ? "logits after blocks; lines that meet take turns" : "logits after each block";
    return room >= TITLE         ? "logits: lines after each block, dots after its attention"
           : room >= TITLE_SHORT ? "logits after blocks; dots: attention"
           : room >= TITLE_LEAST ? "logits; dots: attention"
                                 : "logits, dots attn";
}

void lens_lines_draw(const Paint *p, const LensLines *l, Rect r)
{
    Line of[LINES_MOST], after[LINES_MOST];
    CanvasLine line[2 * LINES_MOST + 1];
    Depth blocks, attention;
    open_depth(l, false, &blocks);
    open_depth(l, true, &attention);
    const bool many = l->classes > LINES_MOST;
    const int most = r.h < LOW ? LOW_MOST : many ? LINES_FEW : LINES_MOST;
    int n = choose_lines(&blocks, of, clamp(r.h - 2, 1, most)); /* each has a label */
    const int dotted = many && n > DOTTED ? DOTTED : n;
    const bool marked = r.h > MARKED && attention.count > 0;
    const int room = r.w - 1 - NAME - (r.w >= 2 * ENDS ? NUMBER + 1 : 0); /* of the title */
    CanvasPlot plot = {.title = lines_title(marked, dotted < n, room),
                       .line = line,
                       .lines = marked ? n + dotted : n,
                       .points = marked,
                       .numbered = true,
                       .first_on_top = true};
    plot.x0 = marked && attention.at[0].x < 0 ? -0.5 : 0;
    plot.x1 = l->blocks - l->first;
    plot.cursor = l->row - l->first;
    plot.no_x = true;
    plot.y0 = (double)INFINITY;
    plot.y1 = -(double)INFINITY;
    for (int i = 0; i < plot.lines; i++) {
        const Line *which = i < n ? &of[i] : &after[i - n];
        if (i >= n)
            after[i - n] = (Line){&attention, of[i - n].o, of[i - n].rank};
        line[i] = (CanvasLine){.sample = logit, .of = which, .name = "", .n = which->d->count, .apart = i >= n};
        line[i].style = style_of(l, which->rank);
        line[i].mark = (char)(i < n && (p->c->ascii || p->c->marks) ? 'a' + of[i].rank : 0);
        line[i].read = no_number; /* it stands at the line's end */
        widen(&plot, which);
    }
    widen_beside(&plot, l, of, n, marked);
    if (!n || !(plot.y1 > plot.y0))
        return;
    const bool zero = add_zero(l, &plot, &line[plot.lines]);
    const int numbers = r.w >= WIDE * ENDS ? 2 : r.w >= 2 * ENDS;
    const Rect top = {r.y, r.x, 1, r.w};
    Rect below = rect_cut(&r, 'b', 1), ends = rect_cut(&r, 'r', 1 + NAME + (numbers ? numbers * NUMBER + 1 : 0));
    Rect body = plot_draw(p->c, r, &plot);
    if (body.x == r.x && body.y > top.y) /* no axis */
        put_ends(p, &plot, top);
    draw_names(p, l, &plot, of, n, body, ends.w >= ENDS ? numbers : 0);
    draw_rows(p, l, &plot, body, below);
    if (zero)
        name_zero(p, &plot, r, body);
    if (numbers > 1 && l->row >= 0 && l->row < l->blocks && r.y < body.y) {
        canvas_right(p->c, r.y, ends.x + 1 + NAME, NUMBER, STYLE_AXIS, "attn");
        canvas_right(p->c, r.y, ends.x + 1 + NAME + NUMBER, NUMBER, STYLE_AXIS, "MLP");
    }
}
