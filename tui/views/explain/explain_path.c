/* The path of an explanation: the cells from which the reader followed operands down to this one. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/explain/explain.h"

enum { CRUMBS = SESSION_BACK + 1 };

typedef struct Crumb {
    char text[72], number[16];
    Ref ref;
} Crumb;

static bool crumb_make(const Session *s, Side side, const Place *place, Crumb *out)
{
    NodeId n = session_node(s, side, place->path);
    if (n == NO_NODE)
        return false;
    const Graph *g = shown_graph(s, side);
    Dims d = graph_node(g, n)->dims;
    int at[SESSION_AXES], index[DIMS_MAX] = {0};
    session_at_place(s, side, place, at);
    for (int i = 0; i < d.n; i++)
        index[i] = at[d.axis[i]];
    size_t cell = dims_ravel(g->axes, d, index);
    const float *values = session_peek(s, side, place->path);
    cell_brief(g, n, cell, DIMS_SCALAR, out->text, sizeof out->text);
    out->ref = session_ref(side, n, cell);
    out->number[0] = '\0';
    if (values)
        number_text(out->number, sizeof out->number, values[cell], 8);
    return true;
}

static int crumb_cells(const Crumb *c)
{
    return utf8_cells(c->text) + 1 + utf8_cells(c->number);
}

/* The first place of the path, … , and as many of the last ones as fit. */
void explain_path(const Paint *p, Side side, Rect r)
{
    static const char BETWEEN[] = " ‹ ";
    const Session *s = p->s;
    Crumb crumbs[CRUMBS];
    int from = s->back_count, n = 0;
    while (from > 0 && screen_spec(s->back[from - 1].screen)->group == GROUP_ARITHMETIC)
        from--;
    for (int i = from; i <= s->back_count; i++)
        n += crumb_make(s, side, i < s->back_count ? &s->back[i] : &s->place, &crumbs[n]);
    int first = n, room = r.w;
    while (first > 0 && crumb_cells(&crumbs[first - 1]) + 3 <= room - (first > 1 ? crumb_cells(&crumbs[0]) + 8 : 0))
        room -= crumb_cells(&crumbs[--first]) + 3;
    int x = r.x;
    for (int i = 0; i < n; i++) {
        if (i > 0 && i < first) {
            if (i == 1)
                x += canvas_printf(p->c, r.y, x, r.x + r.w - x, STYLE_DIM, "%s…", BETWEEN);
            continue;
        }
        if (i > 0)
            x += canvas_text(p->c, r.y, x, r.x + r.w - x, STYLE_DIM, BETWEEN);
        x += canvas_text(p->c, r.y, x, r.x + r.w - x, i == n - 1 ? STYLE_STRONG : STYLE_TEXT, crumbs[i].text) + 1;
        int digits = (int)strlen(crumbs[i].number);
        if (x + digits > r.x + r.w)
            continue;
        canvas_text(p->c, r.y, x, digits, STYLE_DIM, crumbs[i].number);
        canvas_ref(p->c, r.y, x, digits, crumbs[i].ref);
        x += digits;
    }
}
