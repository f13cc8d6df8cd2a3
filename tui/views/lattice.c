#include "tui/views/lattice.h"

#include "core/base/utf8.h"
#include "tui/views/heat.h"
#include "tui/views/shown.h"

Lattice lattice_of(const Axis *a)
{
    bool patches = (a->kind == AXIS_TOKEN || a->kind == AXIS_PATCH) && a->cols > 0;
    int prefix = a->kind == AXIS_TOKEN ? a->prefix : 0;
    if (!patches || (a->n - prefix) % a->cols != 0)
        return (Lattice){0, 1, a->n};
    return (Lattice){prefix, (a->n - prefix) / a->cols, a->cols};
}

/* Keeps the list in order of size; of two of one size the square comes first. */
static int insert(Tiling *list, int count, Tiling t)
{
    if (count == TILINGS)
        return count;
    int at = count;
    for (int i = 0; i < count; i++)
        if (list[i].gy == t.gy && list[i].gx == t.gx)
            return count;
    while (at > 0) {
        int before = list[at - 1].gy * list[at - 1].gx, size = t.gy * t.gx;
        if (before < size || (before == size && t.gy != t.gx))
            break;
        list[at] = list[at - 1];
        at--;
    }
    list[at] = t;
    return count + 1;
}

int lattice_tilings(Lattice l, Tiling out[TILINGS])
{
    int n = 0, widest = l.cols > l.rows ? l.cols : l.rows;
    for (int d = 1; d <= widest; d++) {
        if (l.cols % d == 0)
            n = insert(out, n, (Tiling){.gy = 1, .gx = d});
        if (l.rows % d == 0 && l.cols % d == 0)
            n = insert(out, n, (Tiling){.gy = d, .gx = d});
        if (l.rows % d == 0)
            n = insert(out, n, (Tiling){.gy = d, .gx = l.cols});
    }
    return n;
}

Tiling tiling_of_size(Lattice l, int size)
{
    Tiling list[TILINGS], best = {.gy = 1, .gx = 1};
    int n = lattice_tilings(l, list);
    for (int i = 0; i < n && list[i].gy * list[i].gx <= size; i++)
        if (list[i].gy * list[i].gx > best.gy * best.gx)
            best = list[i];
    return best;
}

Tiling tiling_of_bins(Lattice l, int bins)
{
    Tiling t = {.gy = 1, .gx = 1};
    if (bins < 1)
        bins = 1;
    if (bins < l.rows) {
        t = (Tiling){.gy = (l.rows + bins - 1) / bins, .gx = l.cols, .bins = l.rows % bins ? bins : 0};
    } else if (bins < l.rows * l.cols) {
        const int pieces = bins / l.rows;
        t.gx = (l.cols + pieces - 1) / pieces;
        t.bins = l.cols % pieces ? l.rows * pieces : 0;
    }
    return t;
}

int tiling_count(Lattice l, Tiling t)
{
    if (t.bins)
        return l.prefix + t.bins;
    return l.prefix + l.rows / t.gy * (l.cols / t.gx);
}

int tiling_of_token(Lattice l, Tiling t, int token)
{
    if (token < l.prefix)
        return token;
    int patch = token - l.prefix;
    if (t.bins && t.bins < l.rows)
        return l.prefix + (int)heat_part((size_t)(patch / l.cols), (size_t)l.rows, (size_t)t.bins);
    if (t.bins)
        return l.prefix + (int)heat_part((size_t)patch, (size_t)l.rows * (size_t)l.cols, (size_t)t.bins);
    return l.prefix + patch / l.cols / t.gy * (l.cols / t.gx) + patch % l.cols / t.gx;
}

static int bin_start(Lattice l, Tiling t, int bin)
{
    if (t.bins < l.rows)
        return l.cols * (int)heat_first((size_t)bin, (size_t)l.rows, (size_t)t.bins);
    return (int)heat_first((size_t)bin, (size_t)l.rows * (size_t)l.cols, (size_t)t.bins);
}

int tiling_size(Lattice l, Tiling t, int tile)
{
    if (t.bins && tile >= l.prefix)
        return bin_start(l, t, tile + 1 - l.prefix) - bin_start(l, t, tile - l.prefix);
    return tile < l.prefix ? 1 : t.gy * t.gx;
}

int tiling_token(Lattice l, Tiling t, int tile, int i)
{
    if (tile < l.prefix)
        return tile;
    if (t.bins)
        return l.prefix + bin_start(l, t, tile - l.prefix) + i;
    int across = l.cols / t.gx, n = tile - l.prefix;
    int row = n / across * t.gy + i / t.gx, col = n % across * t.gx + i % t.gx;
    return l.prefix + row * l.cols + col;
}

static int lines_for(const LatticeMap *m, int rows, int k)
{
    return m->halves ? (rows * k + 1) / 2 : rows * (k > 1 ? k / 2 : 1);
}

LatticeMap lattice_map(const Paint *p, Rect room, int rows, int cols, int most, int here_row, int here_col)
{
    LatticeMap m = {.r = room, .k = 1, .rows = rows, .cols = cols, .halves = heat_halves(p)};
    if (room.h < 1 || room.w < 1) {
        m.rows = m.cols = 0;
        m.r.h = m.r.w = 0;
        return m;
    }
    for (int k = most < room.w / cols ? most : room.w / cols; k > 1; k--)
        if (lines_for(&m, rows, k) <= room.h && (m.halves || k % 2 == 0)) {
            m.k = k;
            break;
        }
    if (m.k == 1) {
        int fit = m.halves ? 2 * room.h : room.h;
        m.rows = rows < fit ? rows : fit;
        m.cols = cols < room.w ? cols : room.w;
        m.row = (int)scroll_first((size_t)rows, (size_t)here_row, (size_t)m.rows);
        m.col = (int)scroll_first((size_t)cols, (size_t)here_col, (size_t)m.cols);
    }
    m.r.h = lines_for(&m, m.rows, m.k);
    m.r.w = m.cols * m.k;
    return m;
}

static void put_patch(const Paint *p, const LatticeMap *m, int i, int j, const ColourScale *s, float v, Ref ref)
{
    Colour colour = colour_scale_colour(s, v);
    int level = colour_scale_level(s, v), sign = colour_scale_sign(s, v);
    int tall = m->halves ? m->k : m->k > 1 ? m->k / 2 : 1;
    for (int dy = 0; dy < tall; dy++)
        for (int dx = 0; dx < m->k; dx++) {
            int line = i * tall + dy;
            canvas_pixel(p->c, m->r.y + (m->halves ? line / 2 : line), m->r.x + j * m->k + dx,
                         m->halves ? line % 2 : -1, colour, level, sign, ref);
        }
}

void lattice_map_draw(const Paint *p, const LatticeMap *m, const ColourScale *s, HeatFn value, const void *context)
{
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) {
            Ref ref = {0};
            float v = value(context, m->row + i, m->col + j, &ref);
            put_patch(p, m, i, j, s, v, ref);
        }
}

Rect lattice_map_patch(const LatticeMap *m, int row, int col)
{
    int i = row - m->row, j = col - m->col;
    if (i < 0 || j < 0 || i >= m->rows || j >= m->cols)
        return (Rect){0};
    int top = i * m->k / 2, bottom = ((i + 1) * m->k + 1) / 2;
    if (!m->halves) {
        int tall = m->k > 1 ? m->k / 2 : 1;
        top = i * tall;
        bottom = top + tall;
    }
    return (Rect){.y = m->r.y + top, .x = m->r.x + j * m->k, .h = bottom - top, .w = m->k};
}

bool lattice_map_hit(const LatticeMap *m, int y, int x, int *row, int *col)
{
    if (!rect_has(m->r, y, x))
        return false;
    for (int i = 0; i < m->rows; i++) {
        Rect patch = lattice_map_patch(m, m->row + i, m->col + (x - m->r.x) / m->k);
        if (rect_has(patch, y, x)) {
            *row = m->row + i;
            *col = m->col + (x - m->r.x) / m->k;
            return true;
        }
    }
    return false;
}

void lattice_rows_part(const Paint *p, int first, int shown, int rows, Rect *line, int keep)
{
    static const char *const FORMS[] = {"rows %d–%d of %d", "rows %d–%d/%d", "%d–%d/%d"};
    enum { FORMS_N = sizeof FORMS / sizeof *FORMS, APART = 2 };
    char text[40];
    int n = 0;
    if (shown >= rows || line->h < 1)
        return;
    for (int i = 0; i < FORMS_N; i++)
        if ((n = utf8_print(text, sizeof text, FORMS[i], first + 1, first + shown, rows)) + keep <= line->w)
            break;
    canvas_right(p->c, line->y, line->x, line->w, STYLE_DIM, text);
    rect_cut(line, 'r', n + APART < line->w ? n + APART : line->w);
}

void lattice_map_mark(const Paint *p, const LatticeMap *m, int row, int col, const char marks[3], Style style, Ref ref)
{
    Rect patch = lattice_map_patch(m, row, col);
    if (patch.h < 1)
        return;
    int y = patch.y + (patch.h - 1) / 2, half = -1;
    if (m->halves) { /* the line in which the middle of the square lies */
        const int middle = (row - m->row) * m->k + m->k / 2;
        y = m->r.y + middle / 2;
        half = middle % 2;
    }
    if (patch.w > 1) {
        canvas_mark(p->c, y, patch.x, half, style, (uint32_t)marks[0]);
        canvas_mark(p->c, y, patch.x + patch.w - 1, half, style, (uint32_t)marks[1]);
        canvas_ref(p->c, y, patch.x + patch.w - 1, 1, ref);
    } else
        heat_mark_half(p, y, patch.x, half, style, m->halves && marks[2] == '!' ? 0x25c6 : (uint32_t)marks[2]);
    canvas_ref(p->c, y, patch.x, 1, ref);
}
