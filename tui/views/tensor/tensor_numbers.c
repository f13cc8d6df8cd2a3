/* A plane as a table of numbers that scrolls with the cursor, each on the colour of its value; of few rows in bands
 * below each other. */
#include <stdio.h>

#include "tui/views/tensor/tensor.h"

typedef struct Fit {
    Rect cells;
    int label_w, cell_w; /* cell_w with the blank before the number */
    bool head;
    size_t row0, col0;
    Rect all;       /* below them, the whole plane as heat; no height: it has no room, or all of it is shown */
    int rows, cols; /* shown; of few rows the columns are broken into bands, as a text into lines */
    int per, pitch; /* columns of a band, and lines to the next */
} Fit;

/* Of a shown number. */
static Rect number_rect(const Fit *f, int row, int col)
{
    return (Rect){f->cells.y + col / f->per * f->pitch + row, f->cells.x + col % f->per * f->cell_w, 1, f->cell_w};
}

enum { ALL_LEAST = 6 }; /* lines of that heat, with its head */

/* Eight cells show five or six digits, five two or three where fewer than three numbers would stand beside each other
 * else; whole numbers need no more than they have. */
static int number_width(const Tensor *t, int room)
{
    enum { WIDE = 9, NARROW = 6, FEW = 3 };
    const Spread *s = &t->spread;
    if (!s->whole || s->nans || s->infinities) {
        const int cols = room / NARROW < FEW ? room / NARROW : FEW;
        return cols > room / WIDE ? (room / cols < WIDE ? room / cols : WIDE) : WIDE;
    }
    char low[16], high[16];
    int a = snprintf(low, sizeof low, "%d", (int)s->min), b = snprintf(high, sizeof high, "%d", (int)s->max);
    return (a > b ? a : b) + 1;
}

static Fit fit(Rect r, const Tensor *t)
{
    Fit f = {.cells = r, .label_w = tensor_label_width(t, r.w), .head = r.h >= 3};
    rect_cut(&f.cells, 'l', f.label_w);
    if (f.head)
        rect_cut(&f.cells, 't', 1);
    f.cell_w = number_width(t, f.cells.w);
    if (f.head) { /* columns at least as wide as their labels */
        int label_w = shown_widest(t->v.graph, t->plane.cols) + 1;
        f.cell_w = label_w > f.cell_w ? label_w : f.cell_w;
    }
    if (f.cell_w > f.cells.w)
        f.cell_w = f.cells.w > 0 ? f.cells.w : 1;
    f.rows = f.cells.h > 0 ? f.cells.h : 1;
    f.cols = f.cells.w / f.cell_w > 0 ? f.cells.w / f.cell_w : 1;
    f.per = f.cols;
    f.pitch = (int)(t->plane.row_count < (size_t)f.rows ? t->plane.row_count : (size_t)f.rows) + f.head + 1;
    int bands = f.head ? (f.cells.h + 2) / f.pitch : 1; /* the last has no gap, the first's head is above */
    f.cols *= bands > 1 ? bands : 1;
    f.row0 = scroll_first(t->plane.row_count, t->row, (size_t)f.rows);
    f.col0 = scroll_first(t->plane.col_count, t->col, (size_t)f.cols);
    if ((size_t)f.rows > t->plane.row_count)
        f.rows = (int)t->plane.row_count;
    if ((size_t)f.cols > t->plane.col_count)
        f.cols = (int)t->plane.col_count;
    const int used = f.rows + (f.cols - 1) / f.per * f.pitch + 1;
    if (t->plane.row_count > 1 && (size_t)f.cols < t->plane.col_count && (size_t)f.rows == t->plane.row_count &&
        f.cells.h - used > ALL_LEAST)
        f.all = (Rect){f.cells.y + used, r.x, f.cells.h - used, r.w};
    return f;
}

/* What is beyond its ends has their colours: how far, its number says. Only above a heat of all it has the heat's. */
static ColourScale scale_of(const Paint *p, Rect r, const Tensor *t)
{
    ColourScale scale = colour_scale_of_spread(p, t->v.side, &t->spread);
    scale.capped = scale.clipped && !fit(r, t).all.h;
    scale.clipped = scale.clipped && !scale.capped;
    return scale;
}

/* With few colours a ground would take the number with it. */
static void put_ground(const Paint *p, const ColourScale *scale, const Tensor *t, size_t cell, Rect r)
{
    Colour ground = t->tint ? t->tint(t->tint_of, cell) : colour_scale_colour(scale, t->v.values[cell]);
    for (int x = r.x; x < r.x + r.w && p->mode >= MODE_256; x++) {
        Cell *k = canvas_at(p->c, r.y, x);
        if (k)
            k->bg = ground;
    }
}

/* "≈0" where it is too small for so few cells. */
static void put_number(const Paint *p, const Tensor *t, size_t cell, Rect r, Style style)
{
    char text[32];
    float x = t->v.values[cell];
    number_text(text, sizeof text, x, r.w);
    if (*text == '#' && r.w > 1 && x < 0.5F && x > -0.5F) {
        canvas_right(p->c, r.y, r.x, r.w, style, "≈0");
        canvas_ref(p->c, r.y, r.x, r.w, shown_ref(&t->v, cell));
    } else
        shown_number_right(p, &t->v, cell, r.y, r.x, r.w, style);
}

static void draw_cell(const Paint *p, const Fit *f, const ColourScale *scale, const Tensor *t, int row, int col)
{
    size_t cell = tensor_cell(t, f->row0 + (size_t)row, f->col0 + (size_t)col);
    Rect at = number_rect(f, row, col);
    int y = at.y, x = at.x;
    bool here = cell == t->v.cell;
    if (here)
        canvas_fill(p->c, (Rect){y, x, 1, f->cell_w}, STYLE_CURSOR, ' ');
    put_number(p, t, cell, (Rect){y, f->cell_w > 1 ? x + 1 : x, 1, f->cell_w > 1 ? f->cell_w - 1 : 1},
               here ? STYLE_CURSOR : STYLE_TEXT);
    if (!here)
        put_ground(p, scale, t, cell, at);
}

/* Around the number of the cursor, which ends where its cell does: the bracket behind it is in the blank before the
 * next one. Where the pane ends there is none to close it, and one mark stands before the number. */
static void draw_cursor(const Paint *p, const Fit *f, const Tensor *t, bool focus)
{
    for (int row = 0; row < f->rows; row++)
        for (int col = 0; col < f->cols; col++) {
            const Rect at = number_rect(f, row, col);
            const int behind = at.x + at.w;
            const bool closed = behind < f->cells.x + f->cells.w;
            if (tensor_cell(t, f->row0 + (size_t)row, f->col0 + (size_t)col) != t->v.cell)
                continue;
            if (at.w > 1)
                canvas_glyph(p->c, at.y, at.x, STYLE_CURSOR, closed ? '[' : '>');
            if (at.w > 1 && closed)
                canvas_glyph(p->c, at.y, behind, STYLE_CURSOR, ']');
            focus_cursor(p, focus, at.y, at.x);
        }
}

/* With a mark at the row of the cursor. */
static Tensor all_of(const Tensor *t)
{
    Tensor all = *t;
    all.lit = true;
    return all;
}

static void draw_all(const Paint *p, const Fit *f, const Tensor *t)
{
    Rect r = f->all, head = rect_cut(&r, 't', 1);
    Tensor all = all_of(t);
    canvas_printf(p->c, head.y, head.x, head.w, STYLE_DIM, "all %zu columns; shown above: %zu–%zu", t->plane.col_count,
                  f->col0, f->col0 + (size_t)f->cols - 1);
    TENSOR_HEAT.draw(p, r, &all, false);
}

static void draw(const Paint *p, Rect r, const Tensor *t, bool focus)
{
    Fit f = fit(r, t);
    ColourScale scale = scale_of(p, r, t);
    char label[64];
    for (int col = 0; f.head && col < f.cols && t->plane.cols.n; col++) {
        size_t c = f.col0 + (size_t)col;
        Rect at = number_rect(&f, -1, col);
        canvas_right(p->c, at.y, at.x + 1, f.cell_w - 1, c == t->col ? STYLE_STRONG : STYLE_AXIS,
                     shown_label(t->v.graph, t->plane.cols, c, label, sizeof label));
    }
    if (f.all.h)
        draw_all(p, &f, t);
    for (int row = 0; row < f.rows; row++) {
        size_t k = f.row0 + (size_t)row;
        for (int band = 0; f.label_w && band * f.per < f.cols; band++)
            canvas_text(p->c, number_rect(&f, row, band * f.per).y, r.x, f.label_w - 1,
                        k == t->row ? STYLE_STRONG : STYLE_AXIS,
                        shown_label(t->v.graph, t->plane.rows, k, label, sizeof label));
        for (int col = 0; col < f.cols; col++)
            draw_cell(p, &f, &scale, t, row, col);
    }
    draw_cursor(p, &f, t, focus);
}

static bool hit(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell)
{
    Fit f = fit(r, t);
    if (f.all.h && y > f.all.y) {
        Tensor all = all_of(t);
        return TENSOR_HEAT.hit(p, (Rect){f.all.y + 1, f.all.x, f.all.h - 1, f.all.w}, &all, y, x, cell);
    }
    int row = (y - f.cells.y) % f.pitch, col = (x - f.cells.x) / f.cell_w;
    if (!rect_has(f.cells, y, x) || row >= f.rows || col >= f.per)
        return false;
    col += (y - f.cells.y) / f.pitch * f.per;
    if (col >= f.cols)
        return false;
    *cell = tensor_cell(t, f.row0 + (size_t)row, f.col0 + (size_t)col);
    return true;
}

static void caption(const Paint *p, Rect r, const Tensor *t, Buf *out)
{
    (void)p;
    if (!t->v.values || r.h < 1)
        return;
    Fit f = fit(r, t);
    if ((size_t)f.rows < t->plane.row_count)
        buf_printf(out, "rows %zu–%zu of %zu", f.row0, f.row0 + (size_t)f.rows - 1, t->plane.row_count);
    if ((size_t)f.cols < t->plane.col_count)
        buf_printf(out, "%scolumns %zu–%zu of %zu", out->len ? ", " : "", f.col0, f.col0 + (size_t)f.cols - 1,
                   t->plane.col_count);
}

static int wide(const Paint *p, Rect r, const Tensor *t)
{
    (void)p;
    Fit f = fit(r, t);
    return f.label_w + (f.cols < f.per ? f.cols : f.per) * f.cell_w;
}

const TensorHow TENSOR_NUMBERS = {
    .draw = draw, .hit = hit, .caption = caption, .scale = scale_of, .wide = wide, .bar = true, .plane = true};
