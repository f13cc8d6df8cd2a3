/* One head as a matrix, token that asks × token looked at. The prefix tokens (cls) stand apart as a strip of rows and
 * columns, the rest is pooled on the patch lattice only, so that every size is a faithful small picture of the full
 * one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/play.h"
#include "tui/views/attention/matrix_band.h"
#include "tui/views/attention/word_pool.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"

typedef struct Layout {
    Tiling u, t;
    Band down, across;
    int labels;                   /* width of the row labels with the cursor's mark, 0: none */
    int column_h;                 /* lines of the column labels: more than one where words are written downwards */
    int column_y, bar_y, value_y; /* −1: none */
} Layout;

enum { LABELS = 5, LABELS_OF_BLOCKS = 7, LABELLED = 30, WORD_LABELS = 11 };
enum { ZOOM_MOST = 8, TIGHT_MOST = 12, COLUMNS_LEAST = 8, NAMES_MORE = 3, WORD_WIDEST = 8 };
enum { PROFILE_LINES = 7, WORDS_BELOW = 4 }; /* which words leave to other panes; of names, scale and value */
enum { SCALE_APART = 20 };                   /* lines of a map above a scale that has a line of its own */
enum { VALUE_CELLS = 13, POINTS_CELLS = 9, BAR_BRIEF = 11, BAR_LEAST = 14, BAR_OWN = 30 }; /* BAR: of a scale */

static bool is_pooled(Tiling t)
{
    return t.gy * t.gx > 1;
}

static bool same_tokens(const Attend *a)
{
    return a->t.rows == a->u.rows && a->t.cols == a->u.cols && a->t.prefix == a->u.prefix;
}

/* Each direction by itself, so that both fill the pane before they pool: below it there is a line for the value, and
 * one that says what was pooled. */
static void choose(const Session *s, const Attend *a, int h, int w, int per_cell, bool even, Layout *l)
{
    bool same = a->t.rows == a->u.rows && a->t.cols == a->u.cols;
    Tiling (*fit)(Lattice, int, int) = even ? band_tiling_even : band_tiling;
    l->t = l->u = (Tiling){.gy = 1, .gx = 1};
    if (same && s->look.pool > 0)
        l->t = l->u = tiling_of_size(a->u, s->look.pool);
    if (!same || s->look.pool > 0)
        return;
    l->u = fit(a->u, w >= LABELLED ? w - LABELS : w, 1);
    l->t = fit(a->t, h - 1 - is_pooled(l->u), per_cell);
    if (is_pooled(l->t) && !is_pooled(l->u))
        l->t = fit(a->t, h - 2, per_cell);
}

/* In a low pane one tiling for both directions, where that fits: without labels of columns, the value beside what a
 * cell stands for. */
static bool is_tight(const Session *s, const Attend *a, int h, int per_cell, Layout *l)
{
    if (h > TIGHT_MOST || !same_tokens(a) || s->look.pool > 0 || !is_pooled(l->u) ||
        tiling_count(a->t, l->t) >= tiling_count(a->u, l->u) ||
        band_cells(a->t.prefix, per_cell) + band_cells(tiling_count(a->t, l->u) - a->t.prefix, per_cell) > h - 1)
        return false;
    l->t = l->u;
    return true;
}

/* Words: every token has a name, and none a place in a picture. */
static bool are_words(const Axis *axis)
{
    return axis->kind == AXIS_TOKEN && axis->prefix == axis->n;
}

/* Two rows that share a line have both names, if the map leaves room for them and for the last column's. */
static void widen_labels(Layout *l, const Attend *a, Rect r)
{
    char text[64];
    const int last = utf8_cells(axis_label(a->u_axis, a->u_axis->n - 1, text, sizeof text)) - l->across.wide,
              end = l->across.start + l->across.count * l->across.wide + (last > 0 ? last : 0), free = r.x + r.w - end,
              both = words_paired(a->t_axis, l->down.first, l->down.count, l->labels, l->labels + free);
    l->across.start += both - l->labels;
    l->labels = both;
}

/* The largest square cells, in half lines and columns, with which every word has a line and whole names fit below; 2
 * where none do. Without half blocks whole lines. *labels: the lines of the names. */
static int words_square(const Attend *a, int h, int room, bool halves, int *labels)
{
    int side = ZOOM_MOST, lines;
    for (;; side -= halves ? 1 : 2) {
        *labels = words_across_lines(a->u_axis, side < room ? side : room, INT_MAX);
        lines = band_cells(a->t_axis->n * side, 2);
        if (side <= 2 || (side <= room && lines + *labels <= h))
            return side;
    }
}

/* A line at least for every word that asks, a label for every word that is looked at: side by side where cells are wide
 * enough for words, else downwards. The scale shares the value's line where cells are larger then. */
static Layout layout_words(Rect r, const Attend *a, bool halves)
{
    Layout l = {.column_y = -1, .bar_y = -1, .value_y = -1, .u = {1, 1, 0}, .t = {1, 1, 0}};
    int rows = a->t_axis->n, cols = a->u_axis->n, word = shown_axis_widest(a->t_axis, INT_MAX) + 1,
        pair = shown_pairs_widest(a->t_of_a, a->t_axis, INT_MAX) + 1, labels;
    pair = pair < r.w - cols ? pair : r.w - cols;
    l.labels = r.w >= word + cols ? pair : r.w >= WORD_LABELS + cols ? WORD_LABELS : 0;
    const int room = (r.w - l.labels) / cols;
    if (r.h > 2)
        l.value_y = r.y + --r.h;
    int side = words_square(a, r.h, room, halves, &labels);
    if (r.h > rows + 2 &&
        (r.w < VALUE_CELLS + BAR_BRIEF || words_square(a, r.h - 1, room, halves, &labels) == side || side <= 2)) {
        l.bar_y = r.y + --r.h;
        side = words_square(a, r.h, room, halves, &labels);
    }
    int wide = side > 2 ? side : room < 4 ? room : 3;
    wide = wide < 1 ? 1 : wide;
    int left = r.h - band_cells(rows * side, 2), least = r.h > 6 ? 2 : 0;
    if (halves && wide > 2 && side == 2 && words_across_lines(a->u_axis, 2, INT_MAX) <= left)
        wide = 2;
    labels = words_across_lines(a->u_axis, wide, INT_MAX);
    for (; labels > left && side == 2 && wide < room && left > 0; labels = words_across_lines(a->u_axis, wide, INT_MAX))
        wide++; /* rather wide cells than cut names */
    l.column_h = labels <= left ? labels : left > least ? left : least;
    r.h -= l.column_h;
    const bool shared = rows > r.h; /* two words a line */
    if (shared) {                   /* which leaves lines to the labels */
        int all = r.h + l.column_h, spare = all - (rows + 1) / 2;
        const bool takes = spare >= 0 && 2 * r.h < rows; /* every word its row, rather than two lines of names */
        l.column_h = labels < spare ? labels : spare > l.column_h || takes ? spare : l.column_h;
        r.h = all - l.column_h;
    }
    int wider = wide; /* which keeps every word whole */
    while (wider < room && wider < WORD_WIDEST && words_across_lines(a->u_axis, wider, INT_MAX) > l.column_h)
        wider++;
    wide = words_across_lines(a->u_axis, wider, INT_MAX) <= l.column_h ? wider : wide;
    l.column_h = words_across_lines(a->u_axis, wide, l.column_h); /* one of some words, rather than cut ones */
    const int per_cell = shared || side % 2 ? 2 : 1;
    l.down = band_make(r.y, r.h, per_cell, 0, rows, a->at_t);
    l.across = band_make(r.x + l.labels, (r.w - l.labels) / wide, 1, 0, cols, a->at_u);
    band_widen(&l.down, shared ? 1 : side * per_cell / 2);
    band_widen(&l.across, wide);
    if (shared && l.labels)
        widen_labels(&l, a, r);
    if (l.column_h)
        l.column_y = r.y + band_length(&l.down);
    if (l.bar_y < 0 && r.y + band_length(&l.down) + l.column_h + 1 < l.value_y) /* two words share a line */
        l.bar_y = l.value_y - 1;
    const int end = l.bar_y >= 0 ? l.bar_y : l.value_y, free = end - 1 - r.y - band_length(&l.down) - l.column_h;
    if (wide < 2 && l.column_h == 1 && free > 0) /* lines for more of the words that stand whole */
        l.column_h += free < NAMES_MORE ? free : NAMES_MORE;
    return l;
}

/* Do its words not have a line and a column each, or shall several share one? */
static bool pools_words(const Session *s, Rect r, const Attend *a)
{
    if (!are_words(a->t_axis) || !are_words(a->u_axis) || s->look.pool == 1)
        return false;
    if (s->look.pool > 1 || a->t_axis->n > 2 * r.h || a->u_axis->n > r.w)
        return true;
    Layout l = layout_words(r, a, false);
    return l.down.count < a->t_axis->n || l.across.count < a->u_axis->n;
}

/* Finer pixels of the canvas in a pixel of a band; 1 where it has none. */
static int finer(const Paint *p, const Band *b)
{
    const HeatSize all = heat_fine(p, (HeatSize){2, 1});
    return all.tall < 2 ? 1 : b->per_cell == 2 ? all.tall / 2 : all.wide;
}

/* Then the line that says how they are pooled can go. */
static bool all_fits(const Paint *p, const Layout *l, const Attend *a, int h, int w)
{
    const Band down = {.per_cell = 2, .wide = 1, .count = tiling_count(a->t, l->t) - a->t.prefix},
               across = {.per_cell = 1, .wide = 1, .count = tiling_count(a->u, l->u) - a->u.prefix};
    return finer(p, &down) > 1 && band_is_fine(&down, a->t, l->t, 2 * h, finer(p, &down)) &&
           band_is_fine(&across, a->u, l->u, w, finer(p, &across));
}

/* Of room for tiles whose tokens have pixels of their own: all, unless each has as many as another in four fifths. */
static int fine_pixels(int room, int fine, int tokens)
{
    const int even = room * fine / tokens * tokens;
    return even % fine == 0 && 5 * even > 4 * room * fine ? even / fine : room;
}

/* Both directions, as large as fits. Tiles of several tokens may be of any shape: t and u are pooled each by itself. */
static void place(const Paint *p, const Attend *a, Rect r, int per_cell, Layout *l)
{
    const int rows = tiling_count(a->t, l->t), cols = tiling_count(a->u, l->u), wide = r.w - l->labels;
    l->down = band_make(r.y, r.h, per_cell, a->t.prefix, rows, tiling_of_token(a->t, l->t, a->at_t));
    l->across = band_make(r.x + l->labels, wide, 1, a->u.prefix, cols, tiling_of_token(a->u, l->u, a->at_u));
    const HeatSize room = {(r.h - (l->down.prefix > 0)) * per_cell, wide - (l->across.prefix > 0)},
                   size = heat_within(p, room, l->down.prefix + l->down.count, l->across.prefix + l->across.count,
                                      is_pooled(l->t) || is_pooled(l->u) ? HEAT_WIDEST : HEAT_OBLONG);
    int tall = size.tall;
    if (is_pooled(l->t) && l->down.prefix == a->t.prefix && all_fits(p, l, a, r.h - 2, wide - 2)) {
        const int most = (r.h - band_cells(l->down.prefix, per_cell)) * per_cell;
        tall = l->down.prefix + fine_pixels(most, finer(p, &l->down), a->t.rows * a->t.cols);
    }
    band_fill(&l->down, r.h, tall > size.tall ? tall : size.tall);
    band_fill(&l->across, wide, size.wide);
}

static Layout layout(const Session *s, const Paint *p, Rect r, const Attend *a)
{
    const int per_cell = heat_pixels(p, 1);
    Layout l = {.column_y = -1, .bar_y = -1, .value_y = -1, .column_h = 1};
    if (are_words(a->t_axis) && are_words(a->u_axis))
        return layout_words(r, a, per_cell == 2);
    choose(s, a, r.h, r.w, per_cell, false, &l);
    const bool tight = is_tight(s, a, r.h, per_cell, &l), pooled = is_pooled(l.u) || is_pooled(l.t);
    const int rows = tiling_count(a->t, l.t), cols = tiling_count(a->u, l.u);
    if (r.w >= cols + LABELS || (r.w >= LABELLED && cols > r.w))
        l.labels = l.t.gy > 1 && r.w >= cols + LABELS_OF_BLOCKS ? LABELS_OF_BLOCKS : LABELS;
    if (r.h > 1 && !tight)
        l.value_y = r.y + --r.h;
    if (r.h > (pooled ? 1 : 5) && (pooled || r.h > band_cells(rows, per_cell) || rows > r.h * per_cell))
        l.bar_y = r.y + --r.h;
    const int all = band_cells(a->t.prefix, per_cell) + band_cells(rows - a->t.prefix, per_cell);
    bool column = r.h > all;
    if (!tight && (!column || (pooled && r.h < SCALE_APART)) && l.value_y >= 0 && l.bar_y >= 0 && per_cell == 2 &&
        r.w >= VALUE_CELLS + BAR_BRIEF && all_fits(p, &l, a, r.h - 2, r.w - l.labels - 2)) {
        /* names of columns and a larger map rather than a line for the scale alone */
        l.bar_y = -1;
        r.h++;
        column = true;
    }
    if (!tight && (column || (r.h > COLUMNS_LEAST && (pooled || rows > r.h * per_cell))))
        l.column_y = r.y + --r.h;
    if (s->look.pool <= 0 && !tight && same_tokens(a))
        l.t = band_tiling(a->t, r.h, per_cell);
    place(p, a, r, per_cell, &l);
    if (l.column_y >= 0)
        l.column_y = r.y + band_length(&l.down);
    if (pooled && l.bar_y < 0 && l.column_y >= 0 && l.column_y + l.column_h < l.value_y) /* a line that is left */
        l.bar_y = l.value_y - 1;
    return l;
}

/* Lines and columns with which tiles of one size are as fine as in the whole of h × w (with half blocks), none wider
 * than two columns; what is left over is for other panes. */
static void least(const Session *s, Side side, int *h, int *w)
{
    Attend a;
    if (!attend_open(s, side, -1, &a))
        return;
    if (pools_words(s, (Rect){0, 0, *h, *w}, &a)) /* all there is */
        return;
    if (are_words(a.t_axis) && are_words(a.u_axis)) {
        const bool profile = *h - PROFILE_LINES > TIGHT_MOST && *h - PROFILE_LINES > a.t_axis->n + WORDS_BELOW;
        const Layout l = layout_words((Rect){0, 0, *h - (profile ? PROFILE_LINES : 0), *w}, &a, true);
        *h = l.column_y + l.column_h + 2 < *h ? l.column_y + l.column_h + 2 : *h;
        return;
    }
    Layout l = {0};
    choose(s, &a, *h, *w, 2, true, &l);
    const int rows = tiling_count(a.t, l.t) + (a.t.prefix > 0), cols = tiling_count(a.u, l.u) + (a.u.prefix > 0),
              wide = (*w - LABELS) / cols < 2 ? 1 : 2, lines = wide == 2 && rows + 3 <= *h ? rows : band_cells(rows, 2),
              columns = LABELS + cols * wide + 1;
    *h = lines + 4 < *h ? lines + 4 : *h;
    *w = columns < *w ? columns : *w;
}

/* Where a token may not look nothing is drawn: 0 has a colour. Of words, one a cell. */
static bool is_blank(const Attend *a, const Layout *l, int t, int u)
{
    return l->t.gx == 1 && l->u.gx == 1 && are_words(a->t_axis) && attend_masked_at(a, t, u);
}

static void draw_cells(const Paint *p, const Attend *a, const Layout *l, const ColourScale *scale)
{
    PoolKind kind = colour_scale_pool(p, scale);
    for (int i = 0; i < l->down.prefix + l->down.count; i++) {
        int top, bottom, left, right, tile_t = band_tile(&l->down, a->t.prefix, i);
        band_span(&l->down, i, &top, &bottom);
        for (int j = 0; j < l->across.prefix + l->across.count; j++) {
            Ref ref = {0};
            const int tile_u = band_tile(&l->across, a->u.prefix, j);
            float v = attend_tiles(a, a->head, l->t, l->u, tile_t, tile_u, kind, &ref);
            const bool blank = is_blank(a, l, tile_t, tile_u);
            band_span(&l->across, j, &left, &right);
            for (int k = 0; k < (bottom - top) * (right - left); k++) {
                const int pixel = top + k / (right - left), x = l->across.start + left + k % (right - left),
                          half = l->down.per_cell == 2 ? pixel % 2 : -1, y = l->down.start + pixel / l->down.per_cell;
                if (!blank)
                    canvas_pixel(p->c, y, x, half, colour_scale_colour(scale, v), colour_scale_level(scale, v),
                                 colour_scale_sign(scale, v), ref);
                else if (half != 1)
                    canvas_ref(p->c, y, x, 1, ref);
            }
        }
    }
}

static bool has_behind(const Paint *p, const Layout *l, const Attend *a)
{
    return (is_pooled(l->t) || is_pooled(l->u)) && l->down.per_cell == 2 && finer(p, &l->down) > 1 &&
           band_is_fine(&l->down, a->t, l->t, l->down.pixels, finer(p, &l->down)) &&
           band_is_fine(&l->across, a->u, l->u, l->across.pixels, finer(p, &l->across));
}

/* Every token that asks by every one that is looked at, in the pixels behind their tiles. */
static void draw_behind(const Paint *p, const Attend *a, const Layout *l, const ColourScale *scale)
{
    Rect r = {l->down.start, l->across.start, band_length(&l->down), band_length(&l->across)};
    const int rows = a->t_axis->n, cols = a->u_axis->n;
    if (!has_behind(p, l, a))
        return;
    Colour *colour = xmalloc(size_mul(size_mul((size_t)rows, (size_t)cols), sizeof *colour));
    for (int t = 0; t < rows; t++)
        for (int u = 0; u < cols; u++)
            colour[t * cols + u] = colour_scale_colour(scale, a->v.values[attend_cell(a, a->head, t, u)]);
    int *row = band_tokens(&l->down, a->t, l->t, r.h, p->c->pixel_h),
        *col = band_tokens(&l->across, a->u, l->u, r.w, p->c->pixel_w);
    canvas_pixels(p->c, r, &(CanvasGrid){colour, cols, row, col});
    free(row);
    free(col);
    free(colour);
}

/* Tokens with pixels of their own are seldom in the first cell of their tile. */
static int told(const Paint *p, const Attend *a, const Layout *l, bool down, int i, int here)
{
    const int fine = !has_behind(p, l, a) ? 0 : down ? p->c->pixel_h : p->c->pixel_w;
    return down ? band_told(&l->down, a->t, l->t, fine, i, here) : band_told(&l->across, a->u, l->u, fine, i, here);
}

/* The rows of patches in which a tile lies; false of a token without a place. */
static bool tile_rows(const Axis *axis, Lattice lattice, Tiling tiling, int tile, int *first, int *last)
{
    int col;
    return axis_patch(axis, tiling_token(lattice, tiling, tile, 0), first, &col) &&
           axis_patch(axis, tiling_token(lattice, tiling, tile, tiling_size(lattice, tiling, tile) - 1), last, &col);
}

/* "cls" for a prefix token, "r3" where a row of patches begins, "r2–3" or "r2+" where several do, else nothing. */
static bool tile_label(const Axis *axis, Lattice lattice, Tiling tiling, int tile, int w, char out[32])
{
    int token = tiling_token(lattice, tiling, tile, 0), row, last, col;
    if (!tile_rows(axis, lattice, tiling, tile, &row, &last)) {
        axis_label(axis, token, out, 32);
        return true;
    }
    if (last == row)
        snprintf(out, 32, "r%d", row);
    else if (utf8_print(out, 32, "r%d–%d", row, last) > w)
        snprintf(out, 32, "r%d+", row);
    return axis_patch(axis, token, &row, &col) && col == 0;
}

/* Of two rows in one line: cells of the upper one's name and a blank, where both names have room; else 0. */
static int first_half(const Attend *a, const Layout *l, int i)
{
    char upper[64], lower[64];
    const int t = band_tile(&l->down, 0, i), used = utf8_cells(axis_label(a->t_axis, t, upper, sizeof upper)) + 1;
    return used + utf8_cells(axis_label(a->t_axis, t + 1, lower, sizeof lower)) < l->labels ? used : 0;
}

static void draw_word_labels(const Paint *p, const Attend *a, const Layout *l, Rect r)
{
    char text[64];
    int half;
    for (int i = 0; l->labels && i < l->down.count; i++) {
        int t = band_tile(&l->down, 0, i);
        int x = r.x, y = band_cell(&l->down, i, &half), end = r.x + l->labels - 1;
        const Style style = t == a->at_t ? STYLE_CURSOR : STYLE_AXIS;
        if (half == 1 && (x += first_half(a, l, i - 1)) == r.x) /* no room for both: the cursor's, else the upper one */
            x = style == STYLE_CURSOR ? r.x : end;
        if (half < 1 && l->down.per_cell == 2 && l->down.wide == 1 && t + 1 == a->at_t && i + 1 < l->down.count &&
            !first_half(a, l, i))
            continue;
        if (x < end)
            canvas_label(p->c, y, x, end - x, style,
                         shown_pair(half < 0 ? a->t_of_a : NULL, a->t_axis, t, end - x, text, sizeof text));
    }
    if (l->column_y >= 0)
        words_across(p, a->u_axis, l->across.first, l->across.count, a->at_u, attend_largest(a, a->head),
                     (Rect){l->column_y, l->across.start, l->column_h, r.x + r.w - l->across.start}, l->across.wide);
}

static void draw_labels(const Paint *p, const Attend *a, const Layout *l, Rect r)
{
    char text[32];
    int half;
    if (are_words(a->t_axis) && are_words(a->u_axis)) {
        draw_word_labels(p, a, l, r);
        return;
    }
    for (int i = 0; l->labels && i < l->down.prefix + l->down.count; i++)
        if (tile_label(a->t_axis, a->t, l->t, band_tile(&l->down, a->t.prefix, i), l->labels - 1, text))
            canvas_text(p->c, told(p, a, l, true, i, -1), r.x, l->labels - 1, STYLE_AXIS, text);
    int free_from = r.x, here = band_shown(&l->across, a->u.prefix, tiling_of_token(a->u, l->u, a->at_u));
    here = here < 0 ? -1 : told(p, a, l, false, here, a->at_u);
    for (int j = 0; l->column_y >= 0 && j < l->across.prefix + l->across.count; j++) {
        int x = band_cell(&l->across, j, &half);
        const int tile = band_tile(&l->across, a->u.prefix, j),
                  wide = (l->u.bins > a->u.rows ? l->u.bins / a->u.rows : a->u.cols / l->u.gx) * l->across.wide - 1;
        if (x < free_from || !tile_label(a->u_axis, a->u, l->u, tile, wide, text))
            continue;
        if (strlen(text) > 2 && j < l->across.prefix && l->across.count) /* one column has no room for "cls" */
            text[1] = '\0';
        if (j >= l->across.prefix && x + (int)strlen(text) > r.x + r.w)
            continue;
        const bool over = here >= x && here < x + (int)strlen(text);
        int row, last, row_here, col;
        if (over && axis_patch(a->u_axis, a->at_u, &row_here, &col) &&
            tile_rows(a->u_axis, a->u, l->u, tile, &row, &last) &&
            (row_here < row || row_here > last)) /* the name of another row: its own mark stands there */
            continue;
        Style style = over ? STYLE_CURSOR : STYLE_AXIS;
        free_from = x + canvas_text(p->c, l->column_y, x, r.x + r.w - x, style, text) + 1;
    }
}

/* Where the cursor is: a mark at both borders, and on the cell itself where there is no border to mark, or room for
 * brackets beside its colour: what is asked for is not to be hidden. */
static void draw_cursor(const Paint *p, const Attend *a, const Layout *l, bool focus)
{
    int i = band_shown(&l->down, a->t.prefix, tiling_of_token(a->t, l->t, a->at_t)), half, none;
    int j = band_shown(&l->across, a->u.prefix, tiling_of_token(a->u, l->u, a->at_u));
    if (i < 0 || j < 0)
        return;
    band_cell(&l->down, i, &half);
    const int first = band_cell(&l->across, j, &none), y = told(p, a, l, true, i, a->at_t),
              x = told(p, a, l, false, j, a->at_u);
    int left, right;
    band_span(&l->across, j, &left, &right);
    bool words = are_words(a->t_axis) && are_words(a->u_axis); /* their labels are marked by their style */
    if (l->labels && words && half >= 0 && heat_halves(p))     /* which of the two rows in that line */
        canvas_glyph(p->c, y, l->across.start - 1, STYLE_STRONG, half ? 0x2584 : 0x2580);
    else if (l->labels)
        canvas_glyph(p->c, y, l->across.start - 1, STYLE_CURSOR, '>');
    const Cell *below = l->column_y >= 0 && !words ? canvas_at(p->c, l->column_y, x) : NULL;
    if (below && below->ch == ' ') /* else a name stands there, and is marked */
        canvas_glyph(p->c, l->column_y, x, STYLE_CURSOR, '^');
    if (!l->labels || l->column_y < 0 || (half < 0 && right - left > (words ? 1 : 2)))
        heat_mark(p, band_mark(&l->down, i, &none), first, 1, right - left,
                  shown_ref(&a->v, attend_cell(a, a->head, a->at_t, a->at_u)));
    focus_cursor(p, focus, y, x);
}

/* Columns at the end of the value's line for the scale, where it has no line of its own and half of that is free. A
 * difference's has two ends with digits. */
static int beside_value(const Attend *a, const Layout *l, Rect r)
{
    const int half = r.w / 2,
              rest = r.w - (a->v.side == SIDE_DIFF && r.w < VALUE_CELLS + BAR_LEAST ? POINTS_CELLS : VALUE_CELLS),
              left = half > BAR_LEAST || half > rest ? half : rest;
    return l->bar_y < 0 && l->value_y >= 0 && left >= BAR_BRIEF ? left : 0;
}

/* What one cell stands for. */
static void pooled_text(const Layout *l, const char *kind, bool brief, char *out, size_t n)
{
    const char *most = l->t.bins || l->u.bins ? "≤" : "";
    if (!kind && (l->t.gy != l->u.gy || l->t.gx != l->u.gx || l->t.gy <= 1))
        utf8_print(out, n, "every value drawn");
    else if (!kind)
        utf8_print(out, n, "in blocks of %d×%d patches, every value drawn", l->u.gy, l->u.gx);
    else if (brief)
        utf8_print(out, n, "%s of %s%d×%d", kind, most, l->t.gy * l->t.gx, l->u.gy * l->u.gx);
    else if (l->t.bins || l->u.bins)
        utf8_print(out, n, "1 cell: up to %d×%d tokens, %s", l->t.gy * l->t.gx, l->u.gy * l->u.gx, kind);
    else if (l->t.gy == l->u.gy && l->t.gx == l->u.gx && l->t.gy > 1)
        utf8_print(out, n, "in blocks of %d×%d patches, %s", l->u.gy, l->u.gx, kind);
    else if (l->t.gy == l->u.gy && l->t.gx == l->u.gx)
        utf8_print(out, n, "1 cell = %d×%d tokens, %s", l->u.gy, l->u.gx, kind);
    else
        utf8_print(out, n, "1 cell = t %d×%d, u %d×%d, %s", l->t.gy, l->t.gx, l->u.gy, l->u.gx, kind);
}

static void draw_bar(const Paint *p, const Attend *a, const Layout *l, const ColourScale *scale, Rect r)
{
    const int beside = beside_value(a, l, r); /* and the first line under all: */
    const int free_from = l->column_y < 0 ? l->down.start + band_length(&l->down) : l->column_y + l->column_h;
    if (beside)
        colour_scale_bar(p, scale, l->value_y, r.x + r.w - beside, beside);
    if (l->bar_y < 0)
        return;
    int used = 0;
    char pooled[64] = "";
    const bool all = has_behind(p, l, a),
               tight = l->value_y<0, above = l->bar_y> free_from; /* the line there is free */
    if ((is_pooled(l->t) || is_pooled(l->u)) && !(all && play_shows(p->s)))
        pooled_text(l, all ? NULL : colour_scale_pool_word(p, scale), false, pooled, sizeof pooled);
    const bool brief = r.w < LABELLED || tight ||
                       (!above && r.w - utf8_cells(pooled) - 2 < (all ? BAR_OWN : BAR_LEAST));
    if (*pooled && brief && all) /* the scale says more than that all is drawn */
        *pooled = '\0';
    else if (*pooled && brief)
        pooled_text(l, colour_scale_pool_word(p, scale), true, pooled, sizeof pooled);
    for (int u = 0; !*pooled && !tight && (r.w >= LABELLED || above) && u < l->across.count; u++)
        if (is_blank(a, l, l->down.first, band_tile(&l->across, a->u.prefix, u)))
            utf8_print(pooled, sizeof pooled, "blank: masked");
    if (*pooled)
        used = (brief ? 1 : 2) + canvas_text(p->c, l->bar_y, r.x, r.w, STYLE_TEXT, pooled);
    if (tight)
        used += 2 + attend_value(p, a, l->bar_y, r.x + used, r.w - used);
    if (used && r.w >= BAR_LEAST && r.w - used < BAR_OWN && above)
        colour_scale_bar(p, scale, l->bar_y - 1, r.x, r.w);
    else if (r.w - used >= 10)
        colour_scale_bar(p, scale, l->bar_y, r.x + used, r.w - used);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Attend a;
    if (!attend_ready(p, r, side, &a))
        return;
    if (pools_words(p->s, r, &a)) {
        WordPool pool = word_pool(p, r, &a, p->s->look.pool);
        word_pool_draw(p, r, &a, &pool, focus);
        return;
    }
    Layout l = layout(p->s, p, r, &a);
    Attend b; /* what B may not look at is blank in A − B too */
    if (side == SIDE_DIFF && attend_open(p->s, SIDE_B, -1, &b))
        a.masked = b.masked;
    ColourScale scale = attend_scale(p, &a, false);
    draw_cells(p, &a, &l, &scale);
    draw_behind(p, &a, &l, &scale);
    draw_labels(p, &a, &l, r);
    draw_bar(p, &a, &l, &scale, r);
    if (l.value_y >= 0)
        attend_value_line(p, &a, l.value_y, r.x, r.w - beside_value(&a, &l, r) - (beside_value(&a, &l, r) > 0));
    draw_cursor(p, &a, &l, focus);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    attend_needs(s, side, true, out);
    if (side == SIDE_DIFF)
        attend_needs(s, SIDE_B, false, out);
}

/* The token of a click in one direction: the first of its tile, or the other half of the cell when that one is chosen
 * already. */
static int hit(const Band *b, Lattice lattice, Tiling tiling, int at, int token)
{
    int found = -1, from, end;
    for (int i = 0; i < b->prefix + b->count; i++) {
        int tile = band_tile(b, lattice.prefix, i), first = tiling_token(lattice, tiling, tile, 0);
        band_span(b, i, &from, &end);
        if (at < b->start + from / b->per_cell || at >= b->start + band_cells(end, b->per_cell))
            continue;
        if (found < 0)
            found = first;
        else if (tiling_of_token(lattice, tiling, token) != tile &&
                 tiling_of_token(lattice, tiling, found) == tiling_of_token(lattice, tiling, token))
            return first;
    }
    return found;
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Attend a;
    char t_label[32], u_label[32];
    int t, u;
    if (!attend_open(p->s, side, -1, &a) || !a.v.values)
        return false;
    if (pools_words(p->s, r, &a)) {
        WordPool pool = word_pool(p, r, &a, p->s->look.pool);
        if (!word_pool_hit(p, &a, &pool, y, x, &t, &u))
            return false;
    } else {
        Layout l = layout(p->s, p, r, &a);
        t = hit(&l.down, a.t, l.t, y, a.at_t);
        u = hit(&l.across, a.u, l.u, x, a.at_u);
    }
    if (t < 0 || u < 0)
        return false;
    if (t == a.at_t && u == a.at_u)
        buf_puts(command, "in");
    else
        buf_printf(command, "query %s; looked %s", axis_label(a.t_axis, t, t_label, sizeof t_label),
                   axis_label(a.u_axis, u, u_label, sizeof u_label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    attend_title(s, side, true, false, "rows ask, columns looked at\nrows ask", out);
}

static const ViewWay WAYS[] = {{"play       the rows one after the other; any key stops", "play rows"}, {NULL, NULL}};

VIEW_SPEC(MATRIX, .name = "matrix", .traits = VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_ATTENTION, .cursor = attend_cursor,
          .least = least, .beside = &VIEW_ROW, .ways = WAYS);
