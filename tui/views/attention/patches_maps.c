#include "tui/views/attention/patches_maps.h"

#include <string.h>

#include "tui/views/heat.h"
#include "tui/views/shown.h"

enum { GAP = 3, SQUARE_MOST = 6, TITLE = 1, NAME = 1, SWATCH = 2, NUMBER = 5 };

/* Lines of a row of maps with their names. */
static int high(const PatchesMaps *m)
{
    return NAME + m->lines + (m->l.prefix > 0);
}

static int down(const PatchesMaps *m)
{
    return (m->blocks + m->across - 1) / m->across;
}

/* The largest squares with which `count` sheets fit into r. */
static bool fits(const Paint *p, PatchesMaps *m, Rect r, int count)
{
    for (m->square = SQUARE_MOST; m->square >= 1; m->square--) {
        m->lines = (heat_halves(p) ? 1 : 2) * m->l.rows * m->square;
        m->lines = (m->lines + 1) / 2;
        m->across = clamp((r.w + GAP) / (m->l.cols * m->square + GAP), 0, m->blocks);
        const LatticeMap map = lattice_map(p, (Rect){0, 0, m->lines, m->l.cols * m->square}, m->l.rows, m->l.cols,
                                           m->square, 0, 0);
        if (m->across && map.rows == m->l.rows && map.k == m->square && count * (TITLE + down(m) * high(m)) <= r.h)
            break;
    }
    if (!m->square)
        return false;
    m->across = (m->blocks + down(m) - 1) / down(m);
    return true;
}

int patches_maps_place(const Paint *p, PatchesMaps *m, Rect r, int count, Rect *at)
{
    if (m->l.rows < 2 || m->blocks < 1)
        return 0;
    count = fits(p, m, r, count) ? count : 0;
    PatchesMaps one = *m;
    if ((!count || m->square < 2) && fits(p, &one, r, 1) && (!count || one.square > m->square)) {
        *m = one; /* rather patches that are seen, and found by a click, than both at once */
        count = 1;
    }
    for (int i = 0; i < count; i++) {
        const int each = TITLE + down(m) * high(m), blank = count > 1 && r.h >= count * each + count - 1;
        at[i] = (Rect){r.y + i * (each + blank), r.x, each, r.w};
    }
    return count;
}

/* With its name and what is below it. */
static Rect place_of(const PatchesMaps *m, Rect r, int block)
{
    const int wide = m->l.cols * m->square, step = m->across > 1 ? (r.w - wide) / (m->across - 1) : 0,
              most = wide + 2 * GAP; /* they stand together */
    return (Rect){r.y + block / m->across * high(m), r.x + block % m->across * (step < most ? step : most), high(m),
                  wide};
}

static LatticeMap map_of(const Paint *p, const PatchesMaps *m, Rect at)
{
    return lattice_map(p, (Rect){at.y + NAME, at.x, m->lines, at.w}, m->l.rows, m->l.cols, m->square, 0, 0);
}

typedef struct Block {
    const PatchesMaps *m;
    int block;
} Block;

static float patch_value(const void *context, int row, int col, Ref *ref)
{
    const Block *b = context;
    *ref = (Ref){0};
    return b->m->value(b->m->context, b->block, b->m->l.prefix + row * b->m->l.cols + col);
}

/* The token without a place that the line below a map shows: the one in focus, else the first. */
static int prefix_shown(const PatchesMaps *m)
{
    return m->col < m->l.prefix ? m->col : 0;
}

/* "cls ## 2.99" */
static void draw_prefix(const Paint *p, const PatchesMaps *m, const ColourScale *scale, int block, Rect line)
{
    const int token = prefix_shown(m), end = line.x + line.w + GAP - 1;
    const float x = m->value(m->context, block, token);
    const bool here = block == m->row && token == m->col;
    char name[32], number[16];
    m->token(m->context, block, token, name);
    number_text(number, sizeof number, x, NUMBER);
    int at = line.x + canvas_text(p->c, line.y, line.x, line.w, here ? STYLE_CURSOR : STYLE_AXIS, name) + 1;
    for (int i = 0; i < SWATCH && at < end; i++, at++)
        canvas_pixel(p->c, line.y, at, -1, colour_scale_colour(scale, x), colour_scale_level(scale, x),
                     colour_scale_sign(scale, x), (Ref){0});
    if (end - at - 1 >= (int)strlen(number))
        canvas_text(p->c, line.y, at + 1, end - at - 1, STYLE_DIM, number);
}

void patches_maps_draw(const Paint *p, const PatchesMaps *m, const ColourScale *scale, Rect r, bool focus)
{
    for (int block = 0; block < m->blocks; block++) {
        const Rect at = place_of(m, r, block);
        const LatticeMap map = map_of(p, m, at);
        const bool here = block == m->row;
        char name[32];
        m->name(m->context, block, name);
        canvas_text(p->c, at.y, at.x, at.w + GAP - 1, here ? STYLE_STRONG : STYLE_AXIS, name);
        lattice_map_draw(p, &map, scale, patch_value, &(Block){m, block});
        if (m->l.prefix)
            draw_prefix(p, m, scale, block, (Rect){at.y + at.h - 1, at.x, 1, at.w});
        if (!here)
            continue;
        const int patch = m->col - m->l.prefix;
        Rect cell = {at.y + at.h - 1, at.x, 1, 1};
        if (patch >= 0) {
            lattice_map_mark(p, &map, patch / m->l.cols, patch % m->l.cols, "[]!", STYLE_CURSOR, (Ref){0});
            cell = lattice_map_patch(&map, patch / m->l.cols, patch % m->l.cols);
        }
        focus_cursor(p, focus, cell.y, cell.x);
    }
}

bool patches_maps_hit(const Paint *p, const PatchesMaps *m, Rect r, int y, int x, int *block, int *token)
{
    int row, col;
    for (*block = 0; *block < m->blocks; ++*block) {
        const Rect at = place_of(m, r, *block);
        const LatticeMap map = map_of(p, m, at);
        if (m->l.prefix && rect_has((Rect){at.y + at.h - 1, at.x, 1, at.w}, y, x)) {
            *token = prefix_shown(m);
            return true;
        }
        if (lattice_map_hit(&map, y, x, &row, &col)) {
            *token = m->l.prefix + row * m->l.cols + col;
            return true;
        }
    }
    return false;
}
