/* The tensors that an operation reads, small, each as a plane: what is read of them for the number in focus is lit, the
 * rest dimmed, and the cell under the cursor has its row and its column marked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/play.h"
#include "tui/views/explain/explain.h"
#include "tui/views/heat.h"
#include "tui/views/tensor/tensor.h"

enum {
    ABOVE = 2,
    GUTTER = 2,
    GAP = 2,
    GROW_MOST = 4,
    DRAWN_MOST = 512,
    BESIDE_FROM = 48,
    LEGEND_FROM = 9,
    LEGEND_PLAYED_FROM = 12,
    CAPTION_FROM = 5,
    BAR_FROM = 10,  /* lines of a map whose colours have a line of their own, … */
    BAR_LEAST = 22, /* … or so many columns behind its axes */
    BAR_MOST = 44
};
static const double DIMMED = 0.35; /* what a colour keeps that is not lit */

/* Drawn along one direction: `drawn` cells stand for `count` of the tensor. */
typedef struct Span {
    Dims axes;
    size_t count, here;
    int drawn, each; /* each: pixels of one */
    bool lit[DRAWN_MOST];
} Span;

typedef struct LitMap {
    Tensor t;
    Dims along;
    Rect r;       /* of its pixels */
    Rect caption; /* below them; empty where there is no room */
    Span rows, cols;
    bool halves;
    bool cross; /* a single cell is read: its row and its column are lit */
} LitMap;

static size_t span_from(const Span *s, int i)
{
    return (size_t)i * s->count / (size_t)s->drawn;
}

static size_t span_end(const Span *s, int i)
{
    size_t from = span_from(s, i), end = (size_t)(i + 1) * s->count / (size_t)s->drawn;
    return end > from ? end : from + 1;
}

/* Is that row or column read? An axis that is summed over is, all of it; of another only where the cursor's cell is. */
static bool is_read(const LitMap *m, const Span *s, size_t joint)
{
    int index[DIMS_MAX];
    dims_unravel(m->t.v.graph->axes, s->axes, joint, index);
    for (int k = 0; k < s->axes.n; k++)
        if (dims_find(m->along, s->axes.axis[k]) < 0 && index[k] != m->t.v.at[s->axes.axis[k]])
            return false;
    return true;
}

static bool is_lit(const LitMap *m, int i, int j)
{
    if (m->cross)
        return (m->rows.lit[i] && m->rows.count > 1) || m->cols.lit[j];
    return m->rows.lit[i] && m->cols.lit[j];
}

static void span_make(LitMap *m, Span *s, Dims axes, size_t count, size_t here, int room)
{
    *s = (Span){.axes = axes, .count = count, .here = here};
    s->drawn = room < DRAWN_MOST ? room : DRAWN_MOST;
    if (count < (size_t)s->drawn)
        s->drawn = (int)count;
    s->each = 1;
    for (int i = 0; i < s->drawn; i++)
        for (size_t k = span_from(s, i); k < span_end(s, i) && !s->lit[i]; k++)
            s->lit[i] = is_read(m, s, k);
}

static int span_place(const Span *s)
{
    int i = 0;
    while (i + 1 < s->drawn && span_end(s, i) <= s->here)
        i++;
    return i;
}

/* Drawn cells as large as there is room for and about square: a line is two columns high. A vector is a strip. */
static void enlarge(LitMap *m, int wide, int tall)
{
    int line = m->halves ? 1 : 2, most = wide < tall * line ? wide : tall * line;
    most = most > GROW_MOST ? GROW_MOST : most;
    if ((size_t)m->rows.drawn < m->rows.count) /* rows that share a line are no squares: as wide as there is room for */
        most = wide > GROW_MOST ? GROW_MOST : wide;
    m->cols.each = most > 1 ? most : 1;
    m->rows.each = (size_t)m->rows.drawn < m->rows.count ? 1 : most / line > 1 ? most / line : 1;
    if (m->rows.count == 1 && m->halves && tall > 1)
        m->rows.each = 2;
}

static int lines_of(const LitMap *m)
{
    const int per = m->halves ? 2 : 1;
    return (m->rows.drawn * m->rows.each + per - 1) / per;
}

/* False where that side has no values of it, or r no room. */
static bool map_open(const Paint *p, Rect r, Side side, NodeId node, size_t cell, Dims along, LitMap *m)
{
    Shown v;
    int index[DIMS_MAX];
    const Graph *g = shown_graph(p->s, side);
    *m = (LitMap){.along = along, .r = r, .halves = heat_halves(p), .cross = !along.n};
    if (r.h <= ABOVE || r.w <= GUTTER || !shown_open(p->s, side, graph_node(g, node)->path, &v) || !v.values)
        return false;
    Dims d = graph_node(g, node)->dims;
    dims_unravel(g->axes, d, cell, index);
    for (int k = 0; k < d.n; k++)
        v.at[d.axis[k]] = index[k];
    v.cell = cell;
    Plane plane = plane_make(g, node);
    m->t = tensor_plane(&v, plane.rows, plane.cols);
    rect_cut(&m->r, 't', ABOVE);
    rect_cut(&m->r, 'l', GUTTER);
    if (!play_shows(p->s) && m->r.h >= CAPTION_FROM)
        m->caption = rect_cut(&m->r, 'b', m->r.h >= BAR_FROM ? 2 : 1);
    int pixels = m->r.h * (m->halves ? 2 : 1);
    span_make(m, &m->rows, plane.rows, plane.row_count, m->t.row, pixels);
    span_make(m, &m->cols, plane.cols, plane.col_count, m->t.col, m->r.w);
    enlarge(m, m->r.w / m->cols.drawn, pixels / m->rows.drawn);
    if (m->caption.h) { /* right below what it is of */
        m->caption.y = m->r.y + lines_of(m);
        m->caption.h = lines_of(m) < m->r.h ? 2 : m->caption.h;
    }
    return true;
}

/* The largest by size of what one drawn cell stands for; where it is lit, of what is read alone: of a cross the row, or
 * the column, or where they meet both. */
static float value_of(const LitMap *m, int i, int j, Ref *ref)
{
    const bool lit = is_lit(m, i, j), row = lit && m->rows.lit[i], col = lit && m->cols.lit[j];
    size_t best = tensor_cell(&m->t, span_from(&m->rows, i), span_from(&m->cols, j));
    float top = -1;
    for (size_t r = span_from(&m->rows, i); r < span_end(&m->rows, i); r++) {
        if (row && !is_read(m, &m->rows, r))
            continue;
        for (size_t c = span_from(&m->cols, j); c < span_end(&m->cols, j); c++) {
            size_t cell = tensor_cell(&m->t, r, c);
            float size = fabsf(m->t.v.values[cell]);
            if (size <= top || (col && !is_read(m, &m->cols, c)))
                continue;
            best = cell; /* larger, or NaN */
            top = size;
        }
    }
    *ref = shown_ref(&m->t.v, best);
    return m->t.v.values[best];
}

/* Towards the ground: a map of one hue as greys, since its paler colours are those of smaller values; a signed one
 * keeps its two hues. */
static Colour dim(const Paint *p, Colour c, bool is_signed)
{
    const double ground = p->light ? 255 : 0, /* weights of Rec. 709 */
        grey = 0.2126 * (c >> 16 & 0xff) + 0.7152 * (c >> 8 & 0xff) + 0.0722 * (c & 0xff);
    Colour out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        const double own = is_signed ? (double)(c >> shift & 0xff) : grey;
        double part = own * DIMMED + ground * (1 - DIMMED);
        out |= (Colour)(part + 0.5) << shift;
    }
    return out;
}

static void draw_cell(const Paint *p, const LitMap *m, const ColourScale *scale, int i, int j)
{
    Ref ref;
    bool lit = is_lit(m, i, j);
    float x = value_of(m, i, j, &ref);
    Colour colour = colour_scale_colour(scale, x);
    if (!lit)
        colour = dim(p, colour, scale->is_signed);
    for (int dy = 0; dy < m->rows.each; dy++)
        for (int dx = 0; dx < m->cols.each; dx++) {
            int pixel = i * m->rows.each + dy, y = m->r.y + (m->halves ? pixel / 2 : pixel),
                left = m->r.x + j * m->cols.each + dx;
            canvas_pixel(p->c, y, left, m->halves ? pixel % 2 : -1, colour, colour_scale_level(scale, x),
                         colour_scale_sign(scale, x), ref);
            if (!m->halves)
                canvas_attr(p->c, (Rect){y, left, 1, 1}, lit ? ATTR_BOLD : ATTR_DIM);
        }
}

/* "u=r4c4", where it has room. */
static void name_mark(const Paint *p, const LitMap *m, const Span *s, int y, int x)
{
    char label[64];
    Buf text = {0};
    if (s->axes.n && s->count > 1) {
        shown_axes(m->t.v.graph, s->axes, &text);
        buf_printf(&text, "=%s", shown_label(m->t.v.graph, s->axes, s->here, label, sizeof label));
    }
    if (x + utf8_cells(buf_str(&text)) <= m->r.x + m->r.w)
        canvas_text(p->c, y, x, m->r.x + m->r.w - x, STYLE_AXIS, buf_str(&text));
    buf_free(&text);
}

/* A line above the columns that are read and one at the left of such rows, a point at the cursor's. */
static void draw_marks(const Paint *p, const LitMap *m)
{
    int row = span_place(&m->rows), col = span_place(&m->cols), per = m->halves ? 2 : 1;
    for (int j = 0; j < m->cols.drawn; j++)
        for (int dx = 0; m->cols.lit[j] && dx < m->cols.each; dx++)
            canvas_glyph(p->c, m->r.y - 1, m->r.x + j * m->cols.each + dx, STYLE_AXIS, 0x2581);
    for (int i = 0; i < m->rows.drawn; i++)
        for (int dy = 0; m->rows.lit[i] && dy < m->rows.each; dy++)
            canvas_glyph(p->c, m->r.y + (i * m->rows.each + dy) / per, m->r.x - 1, STYLE_AXIS, 0x2502);
    if (play_shows(p->s)) /* no cursor stands there */
        return;
    int x = m->r.x + col * m->cols.each, y = m->r.y + (row * m->rows.each + m->rows.each / 2) / per;
    canvas_glyph(p->c, m->r.y - 1, x + (m->cols.each - 1) / 2, STYLE_STRONG, 0x25be);
    canvas_glyph(p->c, y, m->r.x - 1, STYLE_STRONG, 0x25b8);
    name_mark(p, m, &m->rows, y, m->r.x + m->cols.drawn * m->cols.each + 1);
    if (m->cross)
        name_mark(p, m, &m->cols, m->r.y - 1, x + (m->cols.each - 1) / 2 + 1);
}

/* "q[r3c4,2,e]", and what of it that is: "65×4×16" where there is room. */
static void draw_title(const Paint *p, const LitMap *m, int y, int x, int width)
{
    const Graph *g = m->t.v.graph;
    char name[200], shape[64];
    Dims d = graph_node(g, m->t.v.node)->dims;
    cell_brief(g, m->t.v.node, m->t.v.cell, m->along, name, sizeof name);
    if (utf8_cells(name) > width)
        strcpy(name, node_name(graph_node(g, m->t.v.node)));
    int used = canvas_label(p->c, y, x, width, STYLE_STRONG, name);
    shown_lengths(g, d, shape, sizeof shape);
    if (used + 5 + utf8_cells(shape) <= width)
        canvas_printf(p->c, y, x + used, width - used, STYLE_DIM, "  of %s", shape);
}

/* While a step is played, of the values that are read alone: a few large ones elsewhere would leave them dark. */
static ColourScale lit_scale(const Paint *p, const LitMap *m)
{
    size_t n = 0;
    float *lit = xmalloc(size_mul(size_mul((size_t)m->rows.drawn, (size_t)m->cols.drawn), sizeof *lit));
    for (int i = 0; i < m->rows.drawn && play_shows(p->s); i++)
        for (int j = 0; j < m->cols.drawn; j++)
            if (is_lit(m, i, j))
                lit[n++] = value_of(m, i, j, &(Ref){0});
    Spread read = spread_of(lit, n);
    free(lit);
    if (m->t.spread.min < 0 && read.min > 0) /* of both signs, as the rest of the map */
        read.min = read.least = -read.max;
    return colour_scale_of_spread(p, m->t.v.side, n && read.max > read.min ? &read : &m->t.spread);
}

static int only_lit(const Span *s)
{
    int one = -1;
    for (int i = 0; i < s->drawn; i++)
        if (s->lit[i])
            one = one < 0 ? i : s->drawn;
    return one;
}

/* Beside the rows, where there is room, which they are: of all that are read the first and the last, or the one. Below
 * the columns, where they are words, the first and the last. */
static void draw_names(const Paint *p, const LitMap *m, int right, int below)
{
    const Graph *g = m->t.v.graph;
    const int per = m->halves ? 2 : 1, one = only_lit(&m->rows), x = m->r.x + m->cols.drawn * m->cols.each + 1,
              last = m->r.y + (m->rows.drawn * m->rows.each - 1) / per;
    char label[64], end[64];
    if (right - x >= 3 && one >= m->rows.drawn && m->rows.count > 1 && last > m->r.y) {
        canvas_label(p->c, m->r.y, x, right - x, STYLE_AXIS, shown_label(g, m->rows.axes, 0, label, sizeof label));
        shown_label(g, m->rows.axes, m->rows.count - 1, label, sizeof label);
        canvas_label(p->c, last, x, right - x, STYLE_AXIS, label);
    } else if (right - x >= 3 && one >= 0 && one < m->rows.drawn) {
        shown_label(g, m->rows.axes, m->rows.here, label, sizeof label);
        canvas_label(p->c, m->r.y + one * m->rows.each / per, x, right - x, STYLE_STRONG, label);
    }
    const Axis *a = m->cols.axes.n == 1 ? &g->axes[m->cols.axes.axis[0]] : NULL;
    if (!a || a->sequence == SEQUENCE_ANY || last + 1 >= below)
        return;
    shown_label(g, m->cols.axes, 0, label, sizeof label);
    shown_label(g, m->cols.axes, m->cols.count - 1, end, sizeof end);
    canvas_printf(p->c, last + 1, m->r.x, right - m->r.x, STYLE_AXIS, "%s … %s", label, end);
}

/* "t" and "cls…r7c7": the axes of a span and its ends. */
static void span_text(const Graph *g, const Span *s, Buf *axes, Buf *ends)
{
    char label[64];
    shown_axes(g, s->axes, axes);
    buf_puts(ends, shown_label(g, s->axes, 0, label, sizeof label));
    if (s->count > 1)
        buf_printf(ends, "…%s", shown_label(g, s->axes, s->count - 1, label, sizeof label));
}

static int per_cell(const Span *s)
{
    return (int)((s->count + (size_t)s->drawn - 1) / (size_t)s->drawn);
}

/* Below a map, as far as there is room: "↓ t → u cls…r7c7  0…5.654  5×2 a cell", rows and columns that share one. */
static void draw_caption(const Paint *p, const LitMap *m, const ColourScale *scale)
{
    const Graph *g = m->t.v.graph;
    const bool down = m->rows.count > 1 && m->rows.axes.n, across = m->cols.axes.n > 0;
    Buf text = {0}, row = {0}, col = {0}, row_ends = {0}, col_ends = {0};
    char low[16], high[16], part[64];
    span_text(g, &m->rows, &row, &row_ends);
    span_text(g, &m->cols, &col, &col_ends);
    if (down && across && strcmp(buf_str(&row_ends), buf_str(&col_ends)) == 0)
        buf_clear(&row_ends);
    if (down)
        buf_printf(&text, "%s %s%s%s ", p->c->ascii ? "down" : "↓", buf_str(&row), row_ends.len ? " " : "",
                   buf_str(&row_ends));
    if (across)
        buf_printf(&text, "%s %s %s", p->c->ascii ? "across" : "→", buf_str(&col), buf_str(&col_ends));
    int used = canvas_label(p->c, m->caption.y, m->caption.x, m->caption.w, STYLE_AXIS, buf_str(&text));
    static const char *const PARTS[] = {"  %d×%d a cell, the largest", "  largest of %d×%d", "  %d×%d a cell"};
    number_text(low, sizeof low, scale->low, 5);
    number_text(high, sizeof high, scale->high, 5);
    const int ends = m->caption.h > 1 ? 0 : utf8_cells(low) + utf8_cells(high) + 3;
    for (int i = 0; i < 3 && (!i || used + ends + utf8_cells(part) > m->caption.w); i++)
        utf8_print(part, sizeof part, PARTS[i], per_cell(&m->rows), per_cell(&m->cols));
    const int shared = per_cell(&m->rows) > 1 || per_cell(&m->cols) > 1 ? utf8_cells(part) : 0,
              left = m->caption.w - used - shared - 2;
    const bool apart = m->caption.h > 1, behind = !apart && left >= BAR_LEAST;
    if (apart)
        colour_scale_bar(p, scale, m->caption.y + 1, m->caption.x, m->caption.w < BAR_MOST ? m->caption.w : BAR_MOST);
    else if (!behind && used + ends <= m->caption.w)
        used += canvas_printf(p->c, m->caption.y, m->caption.x + used, m->caption.w - used, STYLE_DIM, "  %s…%s", low,
                              high);
    if (shared && used + shared <= m->caption.w)
        used += canvas_text(p->c, m->caption.y, m->caption.x + used, m->caption.w - used, STYLE_DIM, part);
    if (behind)
        colour_scale_bar(p, scale, m->caption.y, m->caption.x + used + 2, left < BAR_MOST ? left : BAR_MOST);
    buf_free(&text);
    buf_free(&row);
    buf_free(&col);
    buf_free(&row_ends);
    buf_free(&col_ends);
}

static void draw_map(const Paint *p, const LitMap *m, int y, int x, int width)
{
    ColourScale scale = colour_scale_of_spread(p, m->t.v.side, &m->t.spread), lit = lit_scale(p, m);
    draw_title(p, m, y, x, width);
    for (int i = 0; i < m->rows.drawn; i++)
        for (int j = 0; j < m->cols.drawn; j++)
            draw_cell(p, m, is_lit(m, i, j) ? &lit : &scale, i, j);
    draw_marks(p, m);
    if (m->caption.h)
        draw_caption(p, m, &scale);
    if (play_shows(p->s))
        draw_names(p, m, x + width, m->r.y + m->r.h);
}

/* Side by side or below one another. */
static void split(Rect r, int count, Rect out[NODE_INPUTS])
{
    bool across = r.w >= BESIDE_FROM;
    for (int i = 0; i < count; i++) {
        int left = count - i;
        out[i] = rect_cut(&r, across ? 'l' : 't', across ? (r.w - GAP * (left - 1)) / left : r.h / left);
        rect_cut(&r, 'l', across ? GAP : 0);
    }
}

static const char LEGEND[] = "lit: what is read, the rest faded; ▾ ▸: the cursor's cell",
                  LEGEND_CROSS[] = "lit: row and column of the cell that is read; the rest is faded",
                  LEGEND_CROSS_SHORT[] = "lit: its row and column, the rest faded",
                  LEGEND_CROSS_SHORTEST[] = "lit: its row and column", LEGEND_PLAYED[] = "lit: read, on its own scale";

static const char *cross_legend(int room)
{
    return utf8_cells(LEGEND_CROSS) <= room         ? LEGEND_CROSS
           : utf8_cells(LEGEND_CROSS_SHORT) <= room ? LEGEND_CROSS_SHORT
                                                    : LEGEND_CROSS_SHORTEST;
}

/* Cuts off the line that says so, where the maps can spare it. */
static Rect legend_of(const Paint *p, Rect *r)
{
    const bool played = play_shows(p->s);
    return r->h >= (played ? LEGEND_PLAYED_FROM : LEGEND_FROM) && utf8_cells(played ? LEGEND_PLAYED : LEGEND) <= r->w
               ? rect_cut(r, 'b', 1)
               : (Rect){0};
}

Rect explain_lit(const Paint *p, Rect r, Side side, Dims along, const LitOperand *of, int count)
{
    Rect spare = {0};
    LitMap m;
    Rect legend = legend_of(p, &r), one[NODE_INPUTS], old = canvas_clip(p->c, r);
    bool any = false;
    split(r, count, one);
    for (int i = 0; i < count; i++)
        if (map_open(p, one[i], side, of[i].node, of[i].cell, along, &m)) {
            draw_map(p, &m, one[i].y, one[i].x, one[i].w);
            any = true;
            const int end = m.r.y + lines_of(&m) + m.caption.h + 1;
            spare = (Rect){end, one[i].x, one[i].y + one[i].h - end, one[i].w};
        }
    p->c->clip = old;
    if (any && legend.h)
        canvas_text(p->c, legend.y, legend.x, legend.w, STYLE_DIM,
                    !along.n           ? cross_legend(legend.w)
                    : play_shows(p->s) ? LEGEND_PLAYED
                                       : LEGEND);
    return spare.h > 0 ? spare : (Rect){0};
}

bool explain_lit_click(const Paint *p, Rect r, Side side, Dims along, const LitOperand *of, int count, int y, int x,
                       Buf *command)
{
    LitMap m;
    Rect one[NODE_INPUTS];
    legend_of(p, &r);
    split(r, count, one);
    for (int i = 0; i < count; i++) {
        if (!rect_has(one[i], y, x) || !map_open(p, one[i], side, of[i].node, of[i].cell, along, &m) ||
            !rect_has(m.r, y, x))
            continue;
        int row = (y - m.r.y) * (m.halves ? 2 : 1) / m.rows.each, col = (x - m.r.x) / m.cols.each;
        Ref ref;
        if (row >= m.rows.drawn || col >= m.cols.drawn)
            return false;
        value_of(&m, row, col, &ref);
        buf_puts(command, "goto ");
        address_put(m.t.v.graph, m.t.v.node, ref.cell, command);
        return true;
    }
    return false;
}
