#include "tui/views/attention/block_sheet.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"
#include "tui/views/shown.h"

enum { TALLEST = 3, GAP = 2 };

typedef struct Layout {
    Rect r;
    int wide, tall, down, across, first_row, first_col;
} Layout;

static int tallest(const BlockSheet *b)
{
    return b->tallest ? b->tallest : TALLEST;
}

static Layout layout(const BlockSheet *b, Rect r)
{
    Layout l = {.r = r};
    int cols = b->cols > 0 ? b->cols : 1, rows = b->rows > 0 ? b->rows : 1;
    l.wide = clamp((r.w - b->label) / cols, b->least, b->widest);
    r.h -= 1 + (b->again > 0);
    l.tall = clamp(r.h / rows, 1, tallest(b));
    l.down = clamp(r.h / l.tall, 0, b->rows);
    l.across = clamp((r.w - b->label) / l.wide, 0, b->cols);
    if (l.across > 0 && l.across < b->cols) /* what is over makes them wider */
        l.wide = clamp((r.w - b->label) / l.across, l.wide, b->widest);
    l.first_row = (int)scroll_first((size_t)b->rows, (size_t)b->row, (size_t)l.down);
    l.first_col = (int)scroll_first((size_t)b->cols, (size_t)b->col, (size_t)l.across);
    return l;
}

/* Are the names repeated above that row? Where it is the first one shown, they are its own. */
static bool named_above(const BlockSheet *b, const Layout *l, int row)
{
    return b->again > 0 && l->first_row < b->again && row >= b->again;
}

/* Without the blank column at its right. */
static Rect cell_rect(const BlockSheet *b, const Layout *l, int row, int col)
{
    return (Rect){l->r.y + 1 + named_above(b, l, row) + (row - l->first_row) * l->tall,
                  l->r.x + b->label + (col - l->first_col) * l->wide, l->tall, l->wide - 1};
}

static void draw_cell(const Paint *p, const BlockSheet *b, Rect r, int row, int col)
{
    SheetCell cell = {.value = NAN};
    int y = r.y + (r.h - 1) / 2;
    b->cell(b->context, row, col, r.w - 2, &cell);
    bool ground = !isnan(cell.value) && colour_scale_level(&b->scale, cell.value) > 0; /* as word_ground has it */
    for (int i = 0; i < r.h * r.w && ground; i++)
        canvas_pixel(p->c, r.y + i / r.w, r.x + i % r.w, -1, colour_scale_colour(&b->scale, cell.value),
                     colour_scale_level(&b->scale, cell.value), colour_scale_sign(&b->scale, cell.value), (Ref){0});
    canvas_fill(p->c, (Rect){y, r.x, 1, r.w}, STYLE_TEXT, ' ');
    canvas_right(p->c, y, r.x + 1, r.w - 2,
                 cell.strong  ? STYLE_STRONG
                 : cell.faint ? STYLE_DIM
                              : STYLE_TEXT,
                 cell.text);
    if (!isnan(cell.value))
        word_ground(p, y, r.x, r.w, &b->scale, cell.value, (Ref){0});
    if (row == b->row && col == b->col)
        heat_mark(p, r.y, r.x, r.h, r.w, (Ref){0});
}

static void draw_names(const Paint *p, const BlockSheet *b, const Layout *l, int row, int y)
{
    char name[SHEET_NAME];
    for (int col = l->first_col; col < l->first_col + l->across; col++) {
        Rect at = cell_rect(b, l, row, col);
        b->col_name(b->context, row, col, at.w, name);
        canvas_right(p->c, y, at.x, at.w, col == b->col ? STYLE_STRONG : STYLE_AXIS, name);
    }
}

/* Which of its columns are shown, as far as there is room for that: "7-15/15", "of 15:". */
static void draw_which(const Paint *p, const BlockSheet *b, const Layout *l, Rect r)
{
    char text[48];
    snprintf(text, sizeof text, "%d-%d/%d", l->first_col + 1, l->first_col + l->across, b->cols);
    if ((int)strlen(text) > r.w)
        snprintf(text, sizeof text, "of %d:", b->cols);
    canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, text);
}

int block_sheet_draw(const Paint *p, const BlockSheet *b, Rect r, bool focus)
{
    Layout l = layout(b, r);
    char name[SHEET_NAME];
    if (r.h < 2 || l.across < 1)
        return 0;
    draw_names(p, b, &l, l.first_row, r.y);
    if (named_above(b, &l, l.first_row + l.down - 1))
        draw_names(p, b, &l, b->again, cell_rect(b, &l, b->again, l.first_col).y - 1);
    if (l.across < b->cols)
        draw_which(p, b, &l, (Rect){r.y, r.x, 1, b->label - 1});
    for (int row = l.first_row; row < l.first_row + l.down; row++) {
        Rect line = cell_rect(b, &l, row, l.first_col);
        b->row_name(b->context, row, name);
        canvas_text(p->c, line.y + (line.h - 1) / 2, r.x, b->label - 1, row == b->row ? STYLE_STRONG : STYLE_AXIS,
                    name);
        for (int col = l.first_col; col < l.first_col + l.across; col++)
            draw_cell(p, b, cell_rect(b, &l, row, col), row, col);
    }
    Rect here = cell_rect(b, &l, b->row, b->col);
    focus_cursor(p, focus, here.y + (here.h - 1) / 2, here.x);
    return 1 + l.down * l.tall + named_above(b, &l, l.first_row + l.down - 1);
}

bool block_sheet_hit(const BlockSheet *b, Rect r, int y, int x, int *row, int *col)
{
    Layout l = layout(b, r);
    for (*row = l.first_row; *row < l.first_row + l.down; ++*row)
        for (*col = l.first_col; *col < l.first_col + l.across; ++*col)
            if (rect_has(r, y, x) && rect_has(cell_rect(b, &l, *row, *col), y, x))
                return true;
    return false;
}

int block_sheet_place(const BlockSheet *b, Rect r, int comfort, int count, Rect *at)
{
    int each = (r.w - (count - 1) * GAP) / count, lines = b->rows + 2 + (b->again > 0),
        most = tallest(b) * b->rows + 2 + (b->again > 0);
    bool beside = each >= block_sheet_width(b, comfort), below = !beside && r.h >= count * lines + count - 1;
    if (!beside && !below) {
        count = 1;
        each = r.w;
    }
    int high = below ? (r.h - (count - 1)) / count : r.h;
    high = high > most ? most : high;
    for (int i = 0; i < count; i++)
        at[i] = below ? (Rect){r.y + i * (high + 1), r.x, high, r.w} : (Rect){r.y, r.x + i * (each + GAP), high, each};
    return count;
}

int block_sheet_width(const BlockSheet *b, int wide)
{
    return b->label + b->cols * wide;
}
