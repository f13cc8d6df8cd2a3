/* The same question in every head of the block, small. */
#include <stdio.h>

#include "tui/views/attention/attend.h"

enum { SQUARE_MOST = 24 };

/* Where head i's map goes: as many side by side as fit, the cursor's head always among them. */
typedef struct HeadGrid {
    int k_cols, across, down, first; /* width of one, how many, first head shown */
    int lines;                       /* height of one, its label included */
} HeadGrid;

static HeadGrid head_grid(const Paint *p, Rect r, const Attend *a)
{
    HeadGrid g = {.across = 1, .down = 1};
    Rect one = r;
    one.h = r.h > 1 ? r.h - 1 : 1;
    int best = 0;
    for (int across = 1; across <= a->heads;
         across++) { /* the arrangement with the largest squares that shows every head */
        int down = (a->heads + across - 1) / across;
        Rect room = {r.y, r.x, r.h / down - 1, (r.w + 1) / across - 1};
        LatticeMap m = lattice_map(p, room, a->u.rows, a->u.cols, SQUARE_MOST, 0, 0);
        if (room.h < 1 || room.w < 1 || m.rows < a->u.rows || m.cols < a->u.cols || m.k < best)
            continue;
        best = m.k;
        g = (HeadGrid){.across = across, .down = down, .k_cols = room.w, .lines = room.h + 1};
    }
    if (!best) { /* not all fit: one line of smallest maps around the cursor's head */
        LatticeMap m = lattice_map(p, one, a->u.rows, a->u.cols, 1, 0, 0);
        g.k_cols = m.r.w > 0 ? m.r.w : 1;
        g.lines = r.h;
        g.across = (r.w + 1) / (g.k_cols + 1);
        g.across = g.across < 1 ? 1 : g.across > a->heads ? a->heads : g.across;
        g.first = (int)scroll_first((size_t)a->heads, (size_t)a->head, (size_t)g.across);
    }
    return g;
}

static Rect head_rect(const HeadGrid *g, Rect r, int i)
{
    return (Rect){r.y + i / g->across * g->lines, r.x + i % g->across * (g->k_cols + 1), g->lines, g->k_cols};
}

/* A head that is off still has its pattern: only what it gathered counts as 0. So its label must say it. */
static bool head_off(const Paint *p, const Attend *a, int head)
{
    return a->v.side != SIDE_A && shown_head_off(p->s, session_block(p->s), head);
}

/* Each on its own scale, else one sharp head would leave all others dark. */
static void draw_head(const Paint *p, const Attend *block, int head, Rect box)
{
    Attend a = *block;
    bool here = head == a.head;
    a.head = head;
    if (box.h > 1) {
        canvas_printf(p->c, box.y, box.x, box.w, here ? STYLE_CURSOR : STYLE_AXIS, "%sh%d%s",
                      here && box.w > 3 ? ">" : "", head, head_off(p, &a, head) ? " off" : "");
        box.y++;
        box.h--;
    }
    ColourScale scale = attend_scale(p, &a, true);
    LatticeMap m = lattice_map(p, box, a.u.rows, a.u.cols, SQUARE_MOST, 0, 0);
    lattice_map_draw(p, &m, &scale, attend_row_value, &(AttendRow){&a, head});
    int row, col;
    if (m.k > 1 && attend_asks(&a, a.at_t) && attend_place(&a, a.at_t, &row, &col))
        lattice_map_mark(p, &m, row, col, "><o", STYLE_STRONG, shown_ref(&a.v, attend_cell(&a, head, a.at_t, a.at_t)));
    if (attend_place(&a, a.at_u, &row, &col)) /* the token under the cursor, in every head */
        lattice_map_mark(p, &m, row, col, "[]X", STYLE_CURSOR, shown_ref(&a.v, attend_cell(&a, head, a.at_t, a.at_u)));
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Attend a;
    if (!attend_ready(p, r, side, &a))
        return;
    HeadGrid g = head_grid(p, r, &a);
    for (int i = 0; i < g.across * g.down && g.first + i < a.heads; i++) {
        Rect box = head_rect(&g, r, i);
        draw_head(p, &a, g.first + i, box);
        if (g.first + i == a.head)
            focus_cursor(p, focus, box.y, box.x);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    attend_needs(s, side, false, out);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Attend a;
    if (!attend_open(p->s, side, -1, &a) || !a.v.values)
        return false;
    HeadGrid g = head_grid(p, r, &a);
    for (int i = 0; i < g.across * g.down && g.first + i < a.heads; i++)
        if (rect_has(head_rect(&g, r, i), y, x)) {
            buf_printf(command, "head %d", g.first + i);
            return true;
        }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    Attend a;
    char label[32];
    if (attend_open(s, side, -1, &a))
        buf_printf(out, "%s in every head%s", axis_label(a.t_axis, a.at_t, label, sizeof label),
                   s->look.locked ? "" : ", own scale each");
    else
        buf_puts(out, "every head");
}

VIEW_SPEC(OTHER_HEADS, .name = "other heads");
