#include "tui/views/panels.h"

#include "tui/views/heat.h"
#include "tui/views/shown.h"

enum { GAP = 2, TITLE_FROM = 3, TITLE_CELLS = 24 };

static Rect panel_room(Rect room, int count, int across, int i)
{
    int down = (count + across - 1) / across, row = i / across, col = i % across;
    int w = (room.w - GAP * (across - 1)) / across, h = room.h / down;
    return (Rect){.y = room.y + row * h, .x = room.x + col * (w + GAP), .h = h, .w = w > 0 ? w : 0};
}

/* Columns that one patch would get; 0 where not even one fits. */
static int patch_columns(const Paint *p, Rect r, int rows, int cols, int most)
{
    if (r.h >= TITLE_FROM)
        rect_cut(&r, 't', 1);
    LatticeMap m = lattice_map(p, r, rows, cols, most, 0, 0);
    return m.rows < rows || m.cols < cols ? 0 : m.k;
}

/* The arrangement with the largest squares; side by side where another gives no larger ones. */
static int arrange(const Paint *p, Rect room, int count, int rows, int cols, int most, int *square)
{
    int best = count;
    *square = -1;
    for (int across = count; across >= 1; across--) {
        if (count % across == 1 && across > 1) /* one left alone in the last line */
            continue;
        int k = patch_columns(p, panel_room(room, count, across, 0), rows, cols, most);
        k -= k > 1 ? k % 2 : 0;
        if (k > *square) {
            *square = k;
            best = across;
        }
    }
    return best;
}

int panels_square(const Paint *p, Rect room, int count, int rows, int cols, int most)
{
    int square;
    arrange(p, room, count, rows, cols, most, &square);
    return square;
}

Panels panels_make(const Paint *p, Rect room, int count, int rows, int cols, int most, int here_row, int here_col)
{
    Panels s = {.count = count, .rows = rows, .cols = cols};
    int square, across = arrange(p, room, count, rows, cols, most, &square), down = (count + across - 1) / across;
    int lines = 1 + (square > 1 || heat_halves(p) ? (rows * square + 1) / 2 : rows);
    if (square > 0 && lines >= TITLE_FROM && room.h / down > lines) /* what is left over stays below them all */
        room.h = down * lines;
    int wide = cols * square + GAP > TITLE_CELLS ? cols * square + GAP
                                                 : TITLE_CELLS; /* no wider than a map or its title needs */
    if (room.w > across * (wide + GAP))
        room.w = across * (wide + GAP);
    for (int i = 0; i < count; i++) {
        Rect r = panel_room(room, count, across, i);
        if (r.h >= TITLE_FROM)
            s.title[i] = rect_cut(&r, 't', 1);
        s.map[i] = lattice_map(p, r, rows, cols, square > 1 ? square : 1, here_row, here_col);
    }
    return s;
}

bool panels_beside(Rect r, int count, int rows, int cols, int most, int square, int aside, Rect *panels, Rect *text)
{
    for (int k = most - most % 2; k > square; k -= 2)
        for (int across = count; across >= 1; across--) {
            int down = (count + across - 1) / across, h = down * (rows * k / 2 + 1),
                w = across * cols * k + GAP * (across - 1);
            if ((count % across == 1 && across > 1) || h > r.h || w + GAP + aside > r.w)
                continue;
            *panels = (Rect){r.y, r.x, h, w};
            *text = (Rect){r.y, r.x + w + GAP, r.h, r.w - w - GAP};
            return true;
        }
    return false;
}

bool panels_add(const Paint *p, Panels *s, Rect room, int most)
{
    Rect title = rect_cut(&room, 't', 1);
    LatticeMap m = lattice_map(p, room, s->rows, s->cols, most, 0, 0);
    if (m.k > 1 && m.k % 2)
        m = lattice_map(p, room, s->rows, s->cols, m.k - 1, 0, 0);
    if (s->count == PANELS_MOST || !title.h || m.rows < s->rows || m.cols < s->cols)
        return false;
    s->title[s->count] = title;
    s->map[s->count++] = m;
    return true;
}

int panels_lines(const Panels *s)
{
    int first = s->map[0].r.y, last = first;
    for (int i = 0; i < s->count; i++) {
        int top = s->title[i].h ? s->title[i].y : s->map[i].r.y, bottom = s->map[i].r.y + s->map[i].r.h;
        first = top < first ? top : first;
        last = bottom > last ? bottom : last;
    }
    return last - first;
}

bool panels_hit(const Panels *s, int y, int x, int *panel, int *row, int *col)
{
    for (int i = 0; i < s->count; i++)
        if (lattice_map_hit(&s->map[i], y, x, row, col)) {
            *panel = i;
            return true;
        }
    return false;
}

void panels_mark(const Paint *p, const Panels *s, int panel, int row, int col, Ref ref, bool focus)
{
    const LatticeMap *m = &s->map[panel];
    lattice_map_mark(p, m, row, col, "[]X", STYLE_CURSOR, ref);
    Rect patch = lattice_map_patch(m, row, col);
    if (patch.h > 0)
        focus_cursor(p, focus, patch.y + (patch.h - 1) / 2, patch.x);
}
