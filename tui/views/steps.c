/* The forward pass as a list of boxes that open and close, with "you are here". The mark of the place is a shape of its
 * own besides the highlight, so that it is never taken for the mark of a closed box. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/number.h"
#include "tui/views/shown.h"

enum { WIDTH_SHAPE = 24, WIDTH_COST = 34, WIDTH_UNIT = 40, COST_CELLS = 8, UNIT_CELLS = 4, HEAD_FROM = 8 };

typedef struct Marks {
    uint32_t here, open, closed;
} Marks;

static Marks marks(const Canvas *c)
{
    return c->ascii ? (Marks){'>', '-', '+'} : (Marks){0x25CF, 0x25BE, 0x25B8}; /* ● ▾ ▸ */
}

static int first_box(const Stages *st)
{
    return st->count ? 0 : NO_BOX;
}

/* Visible boxes, and which of them (from 0) the reader is at. */
static int count_lines(const Session *s, int *here)
{
    int n = 0;
    *here = 0;
    for (int box = first_box(&s->stages); box != NO_BOX; box = stages_after(&s->stages, s->open, box), n++)
        if (box == s->place.box)
            *here = n;
    return n;
}

static bool box_edited(const Graph *g, const Box *b)
{
    for (NodeId n = b->first; n <= b->last && n < g->count; n++)
        if (graph_node(g, n)->flags & NODE_EDITED)
            return true;
    return false;
}

/* While the pass is being computed, boxes that it has not reached are dim. */
static bool box_ahead(const Session *s, const Box *b)
{
    NodeId now = session_busy(s) ? run_current(session_run(s, SIDE_B)) : NO_NODE;
    return now != NO_NODE && b->first > now;
}

static void draw_figures(const Paint *p, Rect line, int from, const Graph *g, const Box *b, Style style)
{
    char text[64];
    int right = line.x + line.w;
    if (line.w >= WIDTH_COST) {
        bool unit = line.w >= WIDTH_UNIT;
        int cells = COST_CELLS + (unit ? UNIT_CELLS : 0);
        amount_text(text, sizeof text, b->cost.flops, unit ? "FLOP" : "");
        canvas_right(p->c, line.y, right - cells, cells, style, text);
        right -= cells;
    }
    if (line.w < WIDTH_SHAPE || b->show == NO_NODE)
        return;
    shown_lengths(g, graph_node(g, b->show)->dims, text, sizeof text);
    int cells = 0;
    for (const char *t = text; *t; t++)
        cells += ((unsigned char)*t & 0xC0) != 0x80;
    if (right - cells > from)
        canvas_text(p->c, line.y, right - cells, cells, style, text);
}

/* A label that has no room is "encoder 0" for "encoder block 0"; else it loses its middle, never the number. */
static int put_label(const Paint *p, int y, int x, int room, Style style, const char *label)
{
    const char *number = strrchr(label, ' ');
    int end = number && number[1] >= '0' && number[1] <= '9' ? utf8_cells(number) : 0;
    if (!end || utf8_cells(label) <= room || room <= end)
        return canvas_text(p->c, y, x, room, style, label);
    const char *block = strstr(label, " block ");
    int named = block ? (int)(block - label) : room;
    if (named + end <= room)
        return canvas_printf(p->c, y, x, room, style, "%.*s%s", named, label, number);
    int used = canvas_text(p->c, y, x, room - end, style, label);
    return used + canvas_text(p->c, y, x + used, end, style, number);
}

static void draw_line(const Paint *p, Rect line, int box, bool focus)
{
    const Session *s = p->s;
    const Box *b = &s->stages.boxes[box];
    const Graph *g = session_graph(s, SIDE_B);
    bool here = box == s->place.box, edited = session_edited(s) && box_edited(g, b);
    Style style = here ? STYLE_SELECTED : edited ? STYLE_EDITED : box_ahead(s, b) ? STYLE_DIM : STYLE_TEXT;
    Marks m = marks(p->c);
    int depth = b->depth < 4 ? b->depth : 4, x = line.x + 1 + depth;
    if (here) {
        canvas_fill(p->c, line, STYLE_SELECTED, ' ');
        canvas_glyph(p->c, line.y, line.x, STYLE_SELECTED, m.here);
        focus_cursor(p, focus, line.y, line.x);
    }
    if (b->child != NO_BOX)
        canvas_glyph(p->c, line.y, x, style, s->open[box] ? m.open : m.closed);
    x += p->c->ascii ? 2 : 1;
    int room = line.x + line.w - x - (edited ? 1 : 0);
    if (p->c->ascii && *b->label == '+') /* a plus behind the mark of a closed box, which is a plus: in words */
        x += canvas_printf(p->c, line.y, x, room, style, "add%s", b->label + 1);
    else
        x += put_label(p, line.y, x, room, style, b->label);
    if (edited)
        canvas_glyph(p->c, line.y, x++, here ? STYLE_SELECTED : STYLE_EDITED, '*');
    draw_figures(p, line, x, g, b, here ? STYLE_SELECTED : STYLE_DIM);
}

/* Over the columns, where there are any. */
static Rect head_of(Rect *r)
{
    return r->w >= WIDTH_SHAPE && r->h >= HEAD_FROM ? rect_cut(r, 't', 1) : (Rect){0};
}

static void draw_head(const Paint *p, Rect line)
{
    int right = line.x + line.w;
    if (line.h < 1)
        return;
    canvas_text(p->c, line.y, line.x, line.w, STYLE_HEADER, "  step");
    if (line.w >= WIDTH_COST) {
        int cells = COST_CELLS + (line.w >= WIDTH_UNIT ? UNIT_CELLS : 0);
        canvas_right(p->c, line.y, right - cells, cells, STYLE_HEADER, "FLOP");
        right -= cells;
    }
    canvas_right(p->c, line.y, line.x + HEAD_FROM, right - line.x - HEAD_FROM, STYLE_HEADER, "shape");
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    (void)side;
    const Session *s = p->s;
    draw_head(p, head_of(&r));
    int here, total = count_lines(s, &here), k = 0;
    int top = (int)scroll_first((size_t)total, (size_t)here, r.h > 0 ? (size_t)r.h : 0);
    for (int box = first_box(&s->stages); box != NO_BOX && k < top + r.h;
         box = stages_after(&s->stages, s->open, box), k++)
        if (k >= top)
            draw_line(p, (Rect){r.y + k - top, r.x, 1, r.w}, box, focus);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)s, (void)side, (void)r, (void)out; /* the map is drawn from the graph alone */
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    (void)side;
    int here, total = count_lines(p->s, &here);
    head_of(&r);
    if (!rect_has(r, y, x))
        return false;
    const Stages *st = &p->s->stages;
    int line = (int)scroll_first((size_t)total, (size_t)here, (size_t)r.h) + y - r.y, box = first_box(st);
    if (line >= total)
        return false;
    for (int i = 0; i < line; i++)
        box = stages_after(st, p->s->open, box);
    if (line == here)
        buf_puts(command, "in");
    else if (stages_step(st, st->boxes[box].step) == box)
        buf_printf(command, "step %d", st->boxes[box].step);
    else
        buf_printf(command, "goto %s", st->boxes[box].path);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)side;
    int total, step = session_step_number(s, &total);
    buf_printf(out, "steps %d of %d\n%d of %d", step, total, step, total);
}

VIEW_SPEC(STEPS, .name = "steps");
