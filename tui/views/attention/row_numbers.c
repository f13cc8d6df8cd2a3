/* A row of attention written over its map on demand: the share of each patch in percent. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/canvas/cell_look.h"
#include "tui/views/attention/attend.h"

enum { TENTHS_FROM = 4, SCORES_FROM = 4, SCORE_MOST = 6, BRACKETS = 2, PICTURE_FROM = 4 };

/* "31", "4.3" where that has room, nothing for what rounds to nothing; a difference with its sign. */
static void percent_text(char *out, size_t n, double share, int width, bool change)
{
    double percent = 100 * share, size = fabs(percent);
    bool tenths = width >= TENTHS_FROM + change && size < 9.95;
    out[0] = '\0';
    if (size >= (tenths ? 0.05 : 0.5))
        snprintf(out, n, change ? "%+.*f" : "%.*f", tenths, percent);
}

/* The text stands on the colour of its patch; on a picture on the ground, for no ink is read on all of its colours. The
 * cells stay data of the patch: a share in percent is not the number that the trace has. */
static void put_on(const Paint *p, int y, int x, int cells, const char *text, bool ground, Ref ref)
{
    for (int i = 0; i < cells; i++) {
        Cell *k = canvas_at(p->c, y, x + i);
        Colour upper = COLOUR_DEFAULT, lower = COLOUR_DEFAULT;
        if (!k)
            continue;
        Cell old = *k;
        if (cell_is_data(k) && !ground)
            cell_halves(k, &upper, &lower);
        canvas_glyph(p->c, y, x + i, STYLE_STRONG, (uint32_t)(unsigned char)text[i]);
        k->bg = upper;
        k->level = old.level;
        k->sign = old.sign;
        canvas_ref(p->c, y, x + i, 1, ref);
    }
}

static void draw_number(const Paint *p, const Attend *a, const LatticeMap *m, int row, int col, bool picture)
{
    Rect q = lattice_map_patch(m, row, col);
    Ref ref;
    float x = attend_row_value(&(AttendRow){a, a->head}, row, col, &ref);
    int token = a->u.prefix + row * a->u.cols + col;
    int width = q.w - (token == a->at_u || token == a->at_t ? BRACKETS : 0);
    char text[32] = "";
    if (q.h < 1 || width < 1 || isnan(x))
        return;
    if (a->pattern)
        percent_text(text, sizeof text, (double)x, width, a->v.side == SIDE_DIFF);
    else if (width >= SCORES_FROM)
        number_text(text, sizeof text, x, width < SCORE_MOST ? width : SCORE_MOST);
    int cells = (int)strlen(text), whole = strcmp(text, "100") == 0; /* then no neighbour has a number */
    if (!cells || (cells > width && !(whole && width == q.w)))
        return;
    int y = q.y + (q.h - 1) / 2;
    if (m->halves) /* the line in which the middle of the square lies */
        y = m->r.y + ((row - m->row) * m->k + m->k / 2) / 2;
    put_on(p, y, q.x + (q.w - cells) / 2, cells, text, picture, ref);
    if (cells == q.w && col % 2) /* it touches its neighbours' numbers */
        canvas_attr(p->c, (Rect){y, q.x, 1, cells}, ATTR_UNDERLINE);
}

void attend_numbers(const Paint *p, const Attend *a, const LatticeMap *m, bool picture)
{
    if (picture && m->k < PICTURE_FROM) /* they would hide it */
        return;
    for (int i = m->row; i < m->row + m->rows; i++)
        for (int j = m->col; j < m->col + m->cols; j++)
            draw_number(p, a, m, i, j, picture);
}
