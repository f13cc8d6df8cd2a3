#include "tui/views/explain/hall_table.h"

#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"
#include "tui/canvas/letters.h"
#include "tui/canvas/plot.h"
#include "tui/views/explain/explain.h"

enum {
    LARGE_MOST = 48, /* numbers of a table that are still read from the last bench */
    SMALL_MOST = 5,  /* rows of a table that is only to say where the arithmetic is from, … */
    SMALL_LEAST = 3, /* … and where the whole hall has few */
    HALL_LOW = 24,
    GRID_MOST = 200,      /* … and of one in ordinary letters that has bars; each is looked at */
    STRIP_LEAST = 5,      /* rows of the bars of a vector with more numbers, and the line with its ends' names */
    CHART_MOST = 40,      /* rows of the bars above a row of numbers, … */
    CHART_LEAST = 2,      /* … fewer are no picture, … */
    CHART_LEAST_BOTH = 3, /* … if some of them are below zero */
    TEXT_GAP = 2,         /* columns before a number in ordinary letters, … */
    TEXT_WIDEST = 24,     /* … and of both at most */
    LARGE_WIDEST = 40,    /* … and of large ones, where there is room for more than they take */
    APART_LEAST = 3       /* rows of bars that lie, and of the line between them and large digits */
};

/* The palette's: grey, and the blue of what is below zero everywhere. Digits and the ground stand out from both. */
enum { TONE_ABOVE = 245, TONE_BELOW = 68, FULL = 0x2588, BELOW_ZERO = 0x2592 };

int hall_rows_at(int scale)
{
    return scale ? letters_rows(scale) : 1;
}

int hall_columns_at(const char *text, int scale)
{
    return scale ? letters_columns(text, scale) : utf8_cells(text);
}

static void put_tall(const Paint *p, int y, int x, int width, Style style, const char *text, int scale, int tall)
{
    if (scale)
        letters_tall(p->c, y, x, width, style, text, scale, tall);
    else
        canvas_text(p->c, y, x, width, style, text);
}

void hall_put(const Paint *p, int y, int x, int width, Style style, const char *text, int scale)
{
    put_tall(p, y, x, width, style, text, scale, scale);
}

void hall_tag(const Paint *p, Rect r, Ref ref)
{
    for (int i = 0; i < r.h; i++)
        canvas_ref(p->c, r.y + i, r.x, r.w, ref);
}

void hall_tone(const Paint *p, Rect r)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            Cell *k = canvas_at(p->c, y, x);
            if (!k || k->ch == ' ' || (k->style != STYLE_GOOD && k->style != STYLE_WARNING))
                continue;
            const Colour tone = colour_of_256(k->style == STYLE_GOOD ? TONE_ABOVE : TONE_BELOW),
                         ground = p->light ? 0xffffff : 0x000000;
            const bool turned = k->attrs & ATTR_REVERSE;
            k->fg = turned ? ground : tone;
            k->bg = turned ? tone : ground;
        }
}

void hall_lying(const Paint *p, Rect r, double share, bool below_zero, Ref ref)
{
    const int wide = (int)ceil(share * r.w);
    const uint32_t glyph = p->c->ascii ? '-' : p->mode >= MODE_256 ? FULL : BELOW_ZERO;
    for (int i = 0; i < r.h; i++)
        for (int k = 0; k < wide && below_zero; k++)
            canvas_glyph(p->c, r.y + i, r.x + k, STYLE_WARNING, glyph);
    for (int i = 0; i < r.h && !below_zero; i++)
        canvas_bar(p->c, r.y + i, r.x, r.w, share, STYLE_GOOD, ref);
    hall_tone(p, r);
    hall_tag(p, r, ref);
}

static size_t cell_at(const HallTable *t, size_t row, size_t col)
{
    return plane_cell(t->v->graph, t->v->node, &t->plane, t->v->at, row, col);
}

HallTable hall_table_open(const Shown *v, int room)
{
    HallTable t = {.v = v, .plane = plane_make(v->graph, v->node), .small = room < HALL_LOW ? SMALL_LEAST : SMALL_MOST};
    t.label = t.plane.rows.n ? shown_widest(v->graph, t.plane.rows) + 4 : 0;
    const size_t rows = t.plane.row_count, cols = t.plane.col_count;
    t.large = rows <= LARGE_MOST && cols <= LARGE_MOST && rows * cols <= LARGE_MOST;
    t.grid = rows <= GRID_MOST && cols <= GRID_MOST && rows * cols <= GRID_MOST;
    for (size_t i = 0; t.grid && i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            char text[32];
            const float x = v->values[cell_at(&t, i, j)];
            number_text(text, sizeof text, x, HALL_DIGITS);
            int n = utf8_cells(text);
            t.cell = n > t.cell ? n : t.cell;
            t.low = isfinite(x) ? fmin(t.low, (double)x) : t.low;
            t.high = isfinite(x) ? fmax(t.high, (double)x) : t.high;
        }
    return t;
}

bool hall_table_is_vector(const HallTable *t)
{
    return t->plane.row_count == 1 && t->plane.col_count > 1;
}

static int gap_of(int scale)
{
    return scale ? 2 * scale : TEXT_GAP;
}

static int cell_columns(const HallTable *t, int scale)
{
    char widest[32];
    snprintf(widest, sizeof widest, "%*s", t->cell, "");
    return hall_columns_at(widest, scale) + gap_of(scale);
}

int hall_table_rows(const HallTable *t, int scale)
{
    int rows = (int)t->plane.row_count;
    rows = scale || rows < t->small ? rows : t->small;
    return scale ? 1 + rows * hall_rows_at(scale) + (rows - 1) : 1 + rows + hall_table_is_vector(t);
}

bool hall_table_fits(const HallTable *t, int scale, int width)
{
    return !scale || (t->large && t->label + (int)t->plane.col_count * cell_columns(t, scale) < width);
}

/* --- how its rows share the room --- */

/* Every row of the table: bars that stand, the numbers, bars that lie, a blank line. */
typedef struct Grid {
    int chart, tall;   /* rows of bars that stand; half rows of a dot of the digits */
    int apart;         /* 1: a blank line between bars and digits; of a single row the columns' names stand there */
    int digits, under; /* rows of the digits; of the bars that lie, where there is no room for others */
    int cell;          /* columns of a number with the gap before it */
} Grid;

static int pitch_of(const Grid *g)
{
    return g->chart + g->apart + g->digits + g->under + 1;
}

/* Bars at least as high as the digits, if there are any: else the digits alone grow, up to twice as high as wide.
 * False: ordinary letters without bars are no better than the table in which they have a heat map behind them. */
static bool grid_of(const HallTable *t, int scale, int lines, int width, Grid *g)
{
    const int n = (int)t->plane.row_count, cols = (int)t->plane.col_count, each = lines / n - 1,
              least = t->low < 0 && t->high > 0 ? CHART_LEAST_BOTH : CHART_LEAST, free = each - hall_rows_at(scale);
    const bool bars = n * cols > 1 && t->high > t->low && free > 0, stand = bars && free >= least;
    if (!(scale ? t->large : t->grid && bars && t->label + cols * cell_columns(t, 0) <= width))
        return false;
    const int room = (width - t->label - (scale > 0)) / cols, widest = scale ? LARGE_WIDEST : TEXT_WIDEST;
    *g = (Grid){.tall = scale, .cell = !scale || bars ? (room < widest ? room : widest) : 0};
    if (scale && g->cell < cell_columns(t, scale))
        g->cell = cell_columns(t, scale);
    while (scale && g->tall < 2 * scale) {
        const int rows = hall_rows_at(g->tall + 1), high = rows > least ? rows : least;
        if (rows + (stand ? high : bars) > each)
            break;
        g->tall++;
    }
    g->digits = hall_rows_at(g->tall);
    g->under = bars && !stand ? each - g->digits : 0;
    g->chart = stand ? each - g->digits : 0;
    g->apart = scale && n > 1 && (stand ? g->chart > least : g->under >= APART_LEAST);
    g->under -= stand ? 0 : g->apart;
    g->chart -= stand ? g->apart : 0;
    g->chart = g->chart < CHART_MOST ? g->chart : CHART_MOST;
    return true;
}

/* The rows of a vector of which not every number has room: some of them, and all as bars. */
static bool has_strip(const HallTable *t, int lines)
{
    return hall_table_is_vector(t) && !t->grid && lines >= hall_table_rows(t, HALL_TEXT) + STRIP_LEAST;
}

int hall_table_lines(const HallTable *t, int scale, int most, int width)
{
    Grid g;
    const int all = (int)t->plane.row_count, rows = 1 + all + hall_table_is_vector(t);
    if (grid_of(t, scale, most, width, &g))
        return all * pitch_of(&g);
    return !has_strip(t, most) && t->plane.row_count < (size_t)most && rows < most ? rows : most;
}

bool hall_table_bars(const HallTable *t, int scale, int lines, int width)
{
    Grid g;
    return grid_of(t, scale, lines, width, &g) && g.chart + g.under > 0;
}

/* --- drawing --- */

static void put_axis(const HallTable *t, Dims d, size_t at, Buf *out)
{
    char label[64];
    buf_clear(out);
    if (!d.n)
        return;
    shown_axes(t->v->graph, d, out);
    buf_printf(out, "=%s", shown_label(t->v->graph, d, at, label, sizeof label));
}

/* One number's bar in r, from the line of zero on, in eighths of a row to one scale above and below it. What hangs ends
 * in a lower block with its colours exchanged. */
static void draw_column(const Paint *p, Rect r, double low, double high, double x, Ref ref)
{
    enum { EIGHTH = 0x2581, PARTS = 8 };
    const int below = bars_below(r, low, high), above = r.h - below;
    const double up = above ? high / above : 0, down = below ? -low / below : 0, unit = fmax(up, down);
    const int parts = (int)lround(fabs(x) / unit * PARTS), all = parts || x == 0 ? parts : 1; /* not nothing */
    for (int i = 0; i * PARTS < all; i++) {
        const int y = x < 0 ? r.y + above + i : r.y + above - 1 - i,
                  part = all - i * PARTS < PARTS ? all - i * PARTS : PARTS, hangs = x < 0 && part < PARTS;
        const uint32_t glyph = p->c->ascii ? (x < 0 ? '-' : '#') : EIGHTH + (uint32_t)(hangs ? PARTS - part : part) - 1;
        if (y < r.y || y >= r.y + r.h || (p->c->ascii && i && part < PARTS / 2))
            continue;
        for (int k = 0; k < r.w; k++)
            canvas_glyph(p->c, y, r.x + k, x < 0 ? STYLE_WARNING : STYLE_GOOD, glyph);
        canvas_attr(p->c, (Rect){y, r.x, 1, r.w}, hangs && !p->c->ascii ? ATTR_REVERSE : 0);
    }
    hall_tone(p, r);
    hall_tag(p, r, ref);
}

/* The bar below large digits that has no line between it and them: the lower half of its own, in halves of a cell. */
static void draw_below(const Paint *p, Rect r, double share, bool below_zero, Ref ref)
{
    enum { LOWER_HALF = 0x2584, LOWER_LEFT = 0x2596 };
    const int halves = (int)ceil(2 * share * r.w);
    for (int k = 0; 2 * k < halves; k++)
        canvas_glyph(p->c, r.y, r.x + k, below_zero ? STYLE_WARNING : STYLE_GOOD,
                     2 * k + 1 < halves ? LOWER_HALF : LOWER_LEFT);
    hall_tone(p, r);
    hall_tag(p, r, ref);
}

/* One number in a box of digits; its cursor. */
static void draw_number(const Paint *p, const HallTable *t, size_t at, Rect box, int scale, int tall)
{
    char text[32];
    const bool here = at == t->v->cell;
    number_text(text, sizeof text, t->v->values[at], HALL_DIGITS);
    if (here)
        canvas_fill(p->c, box, STYLE_CURSOR, ' ');
    int wide = hall_columns_at(text, scale);
    put_tall(p, box.y, box.x + box.w - wide, wide, here ? STYLE_CURSOR : STYLE_STRONG, text, scale, tall);
    hall_tag(p, box, shown_ref(t->v, at));
    if (here)
        focus_cursor(p, true, box.y, box.x);
}

/* The names of the columns stand above all; of a single row between the bars and the numbers. */
static void draw_grid(const Paint *p, const HallTable *t, Rect r, int scale, const Grid *g)
{
    const int gap = gap_of(scale), names = t->plane.row_count == 1 ? g->chart : 0;
    Buf name = {0};
    for (size_t i = 0; i < t->plane.row_count; i++) {
        const int top = r.y + !names + (int)i * pitch_of(g);
        for (size_t j = 0; j < t->plane.col_count; j++) {
            const size_t at = cell_at(t, i, j);
            const float x = t->v->values[at];
            const Rect chart = {top, r.x + t->label + (int)j * g->cell + gap, g->chart, g->cell - gap},
                       box = {top + g->chart + (names > 0 || (g->chart && g->apart)), chart.x, g->digits, chart.w};
            put_axis(t, t->plane.cols, j, &name);
            if (i == 0)
                canvas_right(p->c, r.y + names, box.x, box.w, STYLE_STRONG, buf_str(&name));
            put_axis(t, t->plane.rows, i, &name);
            if (j == 0 && t->label)
                canvas_text(p->c, box.y + g->digits / 2, r.x, t->label, STYLE_STRONG, buf_str(&name));
            if (g->chart && isfinite(x))
                draw_column(p, chart, t->low, t->high, (double)x, shown_ref(t->v, at));
            draw_number(p, t, at, box, scale, g->tall);
            if (g->under && isfinite(x))
                (scale && !g->apart && g->under == 1 && !p->c->ascii
                     ? draw_below
                     : hall_lying)(p, (Rect){box.y + g->digits + g->apart, box.x, g->under, box.w},
                                   fabs((double)x) / fmax(t->high, -t->low), x < 0, shown_ref(t->v, at));
        }
    }
    buf_free(&name);
}

static float strip_value(const void *of, int i, Ref *ref)
{
    const HallTable *t = of;
    const size_t at = cell_at(t, 0, (size_t)i);
    *ref = shown_ref(t->v, at);
    return t->v->values[at];
}

/* Every number of the vector as a bar; of those that share a column the one furthest from 0; the ends' names below. */
static void draw_strip(const Paint *p, const HallTable *t, Rect r)
{
    Buf first = {0}, last = {0};
    CanvasBars bars = {
        .value = strip_value, .of = t, .n = (int)t->plane.col_count, .style = STYLE_GOOD, .negative = STYLE_WARNING};
    for (int i = 0; i < bars.n; i++) {
        Ref ref;
        const double x = (double)strip_value(t, i, &ref);
        bars.low = isfinite(x) ? fmin(x, bars.low) : bars.low;
        bars.high = isfinite(x) ? fmax(x, bars.high) : bars.high;
    }
    rect_cut(&r, 'l', bars.low < 0);
    const Rect names = rect_cut(&r, 'b', 1);
    bars_draw(p->c, r, &bars);
    hall_tone(p, r);
    put_axis(t, t->plane.cols, 0, &first);
    put_axis(t, t->plane.cols, t->plane.col_count - 1, &last);
    canvas_text(p->c, names.y, names.x, names.w, STYLE_STRONG, buf_str(&first));
    canvas_right(p->c, names.y, names.x, names.w, STYLE_STRONG, buf_str(&last));
    if (bars.n > r.w)
        canvas_printf(p->c, names.y, names.x + utf8_cells(buf_str(&first)) + 2, names.w, STYLE_STRONG,
                      "a column: the one furthest from 0 of up to %d", (bars.n + r.w - 1) / r.w);
    buf_free(&first);
    buf_free(&last);
}

void hall_table_draw(const Paint *p, const HallTable *t, Rect r, int scale)
{
    Grid g;
    if (grid_of(t, scale, r.h, r.w, &g)) {
        draw_grid(p, t, r, scale, &g);
        return;
    }
    const bool strip = has_strip(t, r.h);
    worked_table(p, t->v, strip ? rect_cut(&r, 't', hall_table_rows(t, HALL_TEXT)) : r, true);
    if (strip)
        draw_strip(p, t, r);
}
