/* The forward pass as a list of boxes that open and close, with "you are here" and a strip of the tokens in each. The
 * mark of the place is a shape of its own besides the highlight, never taken for the mark of a closed box. */
#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/heat.h"
#include "tui/views/lengths.h"
#include "tui/views/number.h"
#include "tui/views/shown.h"

enum {
    WIDTH_SHAPE = LENGTHS_WIDE,
    WIDTH_COST = 34,
    WIDTH_UNIT = 50,
    COST_CELLS = 8,
    UNIT_CELLS = 4,
    HEAD_FROM = 8,
    LEGEND_FROM = 30,
    NARROW_FROM = 14
};
enum { STRIP_LEAST = 3, STRIP_SHORT = 6, LABEL_CELLS = 18, SHAPE_CELLS = 11 };

/* Columns of the strip of tokens, at the right end of every row: of what labels, shapes and costs leave over as many
 * whole ones a token as there is room for. */
static int strip_width(const Session *s, int w)
{
    int left = w - LABEL_CELLS - SHAPE_CELLS - COST_CELLS - (w >= WIDTH_UNIT ? UNIT_CELLS : 0) - 2, tokens = 0;
    for (int i = 0; i < s->stages.count && left > STRIP_SHORT; i++) {
        int own = s->stages.boxes[i].child != NO_BOX ? lengths_tokens(s, &s->stages.boxes[i]) : 0;
        tokens = own > tokens ? own : tokens;
    }
    return w < WIDTH_SHAPE                              ? STRIP_LEAST
           : left < STRIP_SHORT || tokens < STRIP_SHORT ? STRIP_SHORT
           : left < tokens                              ? left
                                                        : left / tokens * tokens;
}

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

static void draw_figures(const Paint *p, Rect line, int right, int from, const Graph *g, const Box *b, Style style)
{
    char text[64];
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

/* strip: how wide the tokens are drawn at the right end; most: where the scale of how far they moved ends. */
static void draw_line(const Paint *p, Rect line, int box, bool focus, int strip, float most)
{
    const Session *s = p->s;
    const Box *b = &s->stages.boxes[box];
    const Graph *g = session_graph(s, SIDE_B);
    bool here = box == s->place.box, edited = session_edited(s) && box_edited(g, b);
    Style style = here ? STYLE_SELECTED : edited ? STYLE_EDITED : box_ahead(s, b) ? STYLE_DIM : STYLE_TEXT;
    Marks m = marks(p->c);
    int depth = b->depth < 4 ? b->depth : 4, x = line.x + 1 + depth;
    if (here) {
        Rect lit = line; /* a lit cell behind the strip would be taken for a token's */
        rect_cut(&lit, 'r', b->child != NO_BOX ? strip : 0);
        canvas_fill(p->c, lit, STYLE_SELECTED, ' ');
        canvas_glyph(p->c, line.y, line.x, STYLE_SELECTED, m.here);
        focus_cursor(p, focus, line.y, line.x);
    }
    if (b->child != NO_BOX)
        canvas_glyph(p->c, line.y, x, style, s->open[box] ? m.open : m.closed);
    x += p->c->ascii ? 2 : 1;
    Rect tokens = {line.y, line.x + line.w - strip, 1, strip};
    int label = utf8_cells(b->label) - (strstr(b->label, " block ") ? utf8_cells(" block") : 0);
    int end = line.x + line.w - (x + label + edited > tokens.x ? 0 : strip), room = end - x - edited;
    if (p->c->ascii && *b->label == '+') /* a plus behind the mark of a closed box, which is a plus: in words */
        x += canvas_printf(p->c, line.y, x, room, style, "add%s", b->label + 1);
    else
        x += put_label(p, line.y, x, room, style, b->label);
    if (edited)
        canvas_glyph(p->c, line.y, x++, here ? STYLE_SELECTED : STYLE_EDITED, '*');
    if (end == tokens.x && b->child != NO_BOX)
        lengths_draw(p, tokens, b, most);
    draw_figures(p, line, tokens.x - 1, x, g, b, here ? STYLE_SELECTED : STYLE_DIM);
}

/* What stands above the rows and below them, where there is room: the step's own tokens as the picture lies, and what
 * colours mean. */
typedef struct Arranged {
    Rect head, legend, rows, maps;
    int total, here, top; /* rows in all, the reader's, the first that is drawn */
} Arranged;

static Arranged arrange(const Session *s, Rect r, bool halves)
{
    Arranged a = {.total = count_lines(s, &a.here)};
    if (r.w >= WIDTH_SHAPE && r.h >= HEAD_FROM)
        a.head = rect_cut(&r, 't', 1);
    if (r.w >= WIDTH_SHAPE && (r.h >= a.total + LENGTHS_LEGEND || r.h >= LEGEND_FROM)) {
        a.legend = rect_cut(&r, 'b', LENGTHS_LEGEND + (r.h > a.total + LENGTHS_LEGEND));
        rect_cut(&r, 'b', r.h > a.total);
    } else if ((halves || r.w >= WIDTH_SHAPE) && r.h >= NARROW_FROM) {
        a.legend = rect_cut(&r, 'b', LENGTHS_LEGEND - 1);
    }
    int spare = r.h - a.total - 1;
    if (r.w >= WIDTH_SHAPE && spare >= LENGTHS_MAP)
        a.maps = rect_cut(&r, 'b', spare);
    a.rows = r;
    a.top = (int)scroll_first((size_t)a.total, (size_t)a.here, r.h > 0 ? (size_t)r.h : 0);
    return a;
}

/* The box of the k-th row of all, or NO_BOX. */
static int box_at(const Session *s, int k)
{
    int box = first_box(&s->stages);
    while (box != NO_BOX && k-- > 0)
        box = stages_after(&s->stages, s->open, box);
    return box;
}

static void draw_head(const Paint *p, Rect line, int strip)
{
    if (line.h < 1)
        return;
    canvas_text(p->c, line.y, line.x, line.w, STYLE_HEADER, "  step");
    canvas_text(p->c, line.y, line.x + line.w - strip, strip, STYLE_HEADER, "tokens");
    int right = line.x + line.w - strip - 1;
    if (line.w >= WIDTH_COST) {
        int cells = COST_CELLS + (line.w >= WIDTH_UNIT ? UNIT_CELLS : 0);
        canvas_right(p->c, line.y, right - cells, cells, STYLE_HEADER, "FLOP");
        right -= cells;
    }
    canvas_right(p->c, line.y, line.x + HEAD_FROM, right - line.x - HEAD_FROM, STYLE_HEADER, "shape");
}

/* Those of its rows that have tokens. */
static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    (void)side;
    const Session *s = p->s;
    Arranged a = arrange(s, r, heat_halves(p));
    int strip = heat_halves(p) || r.w >= WIDTH_SHAPE ? strip_width(s, r.w) : 0; /* without colours it is letters */
    int box = box_at(s, a.top), first = box;
    float most = 0;
    draw_head(p, a.head, strip);
    int tokens = 0;
    for (int y = 0; y < a.rows.h && box != NO_BOX; y++, box = stages_after(&s->stages, s->open, box)) {
        const Box *b = &s->stages.boxes[box];
        most = b->child == NO_BOX ? most : fmaxf(most, lengths_most(s, b));
        tokens = tokens || b->child == NO_BOX ? tokens : lengths_tokens(s, b);
    }
    box = first;
    for (int y = 0; y < a.rows.h && box != NO_BOX; y++, box = stages_after(&s->stages, s->open, box))
        draw_line(p, (Rect){a.rows.y + y, a.rows.x, 1, a.rows.w}, box, focus, strip, most);
    if (a.maps.h)
        lengths_maps(p, a.maps, &s->stages.boxes[s->place.box], most);
    if (a.legend.h)
        lengths_legend(p, a.legend, &s->stages.boxes[s->place.box], most, strip, tokens);
}

static void needs_of(const Session *s, Rect r, bool reached, Needs *out)
{
    Arranged a = arrange(s, r, false);
    int box = box_at(s, a.top);
    for (int y = 0; y < a.rows.h && box != NO_BOX; y++, box = stages_after(&s->stages, s->open, box))
        if (s->stages.boxes[box].child != NO_BOX)
            lengths_needs(s, &s->stages.boxes[box], reached, out);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)side;
    needs_of(s, r, false, out);
}

void steps_reached(const Session *s, Rect r, Needs *out)
{
    needs_of(s, r, true, out);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    (void)side;
    Arranged a = arrange(p->s, r, heat_halves(p));
    if (rect_has(a.maps, y, x))
        return lengths_maps_click(p, a.maps, &p->s->stages.boxes[p->s->place.box], y, x, command);
    if (!rect_has(a.rows, y, x))
        return false;
    const Stages *st = &p->s->stages;
    int line = a.top + y - a.rows.y, box = box_at(p->s, line), strip = strip_width(p->s, r.w), left = r.x + r.w - strip;
    if (box == NO_BOX)
        return false;
    if (x >= left && st->boxes[box].child != NO_BOX && lengths_click(p->s, &st->boxes[box], x - left, strip, command))
        return true;
    if (line == a.here)
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
