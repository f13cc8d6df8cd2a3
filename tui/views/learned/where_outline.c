/* The edge of a set of patches, over a map of them. */
#include "tui/views/panels.h"

/* One cell of the edge: the data colour, which is one where patches end at lines, stays as its ground. */
static void edge_cell(const Paint *p, int y, int x, uint32_t ch)
{
    Cell *k = canvas_at(p->c, y, x);
    if (k && k->level)
        *k = (Cell){.ch = ch,
                    .fg = COLOUR_DEFAULT,
                    .bg = k->bg != COLOUR_DEFAULT ? k->bg : k->fg,
                    .style = STYLE_TEXT,
                    .ref = k->ref};
}

enum {
    EDGE_LEFT = 0x258f,
    EDGE_RIGHT = 0x2595,
    EDGE_TOP = 0x2594,
    EDGE_BOTTOM = 0x2581
}; /* eighth blocks at a cell's sides */

void panels_outline(const Paint *p, const Panels *s, int panel, PanelInside inside, const void *context)
{
    const LatticeMap *m = &s->map[panel];
    bool blocks = m->halves;
    for (int row = m->row; row < m->row + m->rows && m->k > 1; row++)
        for (int col = m->col; col < m->col + m->cols; col++) {
            int patch = row * s->cols + col;
            Rect r = lattice_map_patch(m, row, col);
            if (!inside(context, patch))
                continue;
            bool left = col == 0 || !inside(context, patch - 1),
                 right = col == s->cols - 1 || !inside(context, patch + 1);
            bool top = row == 0 || !inside(context, patch - s->cols),
                 bottom = row == s->rows - 1 || !inside(context, patch + s->cols);
            for (int y = r.y; y < r.y + r.h; y++) { /* first: in a corner the side stands */
                if (left)
                    edge_cell(p, y, r.x, blocks ? EDGE_LEFT : '|');
                if (right)
                    edge_cell(p, y, r.x + r.w - 1, blocks ? EDGE_RIGHT : '|');
            }
            for (int x = r.x; x < r.x + r.w; x++) {
                if (top && blocks) /* characters that lie like this are in the ramps */
                    edge_cell(p, r.y, x, EDGE_TOP);
                if (bottom && blocks)
                    edge_cell(p, r.y + r.h - 1, x, EDGE_BOTTOM);
            }
        }
}
