#include "tui/views/attention/sheet_focus.h"

#include <math.h>

#include "tui/views/attention/lit.h"

enum {
    LEAST = 24, /* columns */
    APART = 3,
    SQUARE_MOST = 16,
    AROUND = 2 /* lines: its name, its range */
};

/* Right of the maps, above what is said below them. */
static Rect room_of(const Sheet *s, Rect r)
{
    const Rect low = sheet_thumb(s, s->first_block + (s->folds > 1 ? sheet_stacked(s->blocks, s->folds) : s->down) - 1,
                                 s->first_head),
               right = sheet_thumb(s, s->first_block + s->down - 1, s->first_head + s->across - 1);
    const int x = right.x + right.w + APART;
    return (Rect){s->r.y, x, low.y + low.h - s->r.y, r.x + r.w - x};
}

/* "0 ▒▒▒▒ 0.063"; of outlines from which number on they are. */
static void draw_range(const Paint *p, const Lit *lit, const ColourScale *scale, bool lined, Rect line)
{
    char most[16];
    if (!lined || !(scale->high > scale->low)) /* which says so where all is 0 */
        colour_scale_bar(p, scale, line.y, line.x, line.w);
    else if (lit->signs) {
        Lit shown = *lit;
        shown.most *= scale->points ? 100 : 1;
        lit_legend(&shown, line);
    } else {
        number_text(most, sizeof most, lit->most, 6);
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "outlined: from a quarter of %s", most);
    }
}

LatticeMap sheet_focus_map(const Paint *p, const Attend *a, const Sheet *s, Rect r)
{
    const Rect room = room_of(s, r);
    if (s->matrix || s->listed || !a->v.values || room.w < LEAST)
        return (LatticeMap){0};
    const Rect inner = {room.y + 1, room.x, room.h - AROUND, room.w};
    const LatticeMap m = lattice_map(p, inner, a->u.rows, a->u.cols, SQUARE_MOST, 0, 0);
    return m.rows < a->u.rows || m.cols < a->u.cols || m.r.w <= s->columns ? (LatticeMap){0} : m;
}

void sheet_focus_draw(const Paint *p, const Attend *a, const Sheet *s, const ColourScale *one, int block, Rect r)
{
    const LatticeMap m = sheet_focus_map(p, a, s, r);
    const Rect room = room_of(s, r);
    if (!m.rows)
        return;
    Attend here = *a;
    here.placed = true; /* as in its small map */
    const ColourScale scale = one ? *one : attend_scale(p, &here, true);
    const AttendRow row = {&here, a->head};
    const Image *picture = lit_picture(p->s, a->v.side);
    const bool lined = picture && lit_lined(p, &m);
    const Lit lit = {p, &m, picture, attend_row_value, &row, scale.high, 0, scale.is_signed, lined ? NULL : &scale};
    canvas_printf(p->c, room.y, room.x, room.w, STYLE_STRONG, "%sblock %d, head %d",
                  attend_off(p->s, a, a->head) ? "off: " : "", block, a->head);
    if (picture)
        lit_draw(&lit);
    else
        lattice_map_draw(p, &m, &scale, attend_row_value, &row);
    draw_range(p, &lit, &scale, lined, (Rect){m.r.y + m.r.h, room.x, 1, room.w});
}
