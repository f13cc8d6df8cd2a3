#include "tui/views/panels.h"

#include "tui/views/heat.h"
#include "tui/views/shown.h"
#include "tui/views/spread.h"

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
        k -= k > 1 && rows % 2 ? k % 2 : 0;
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
    lattice_map_mark(p, m, row, col, "[]!", STYLE_CURSOR, ref);
    Rect patch = lattice_map_patch(m, row, col);
    if (patch.h > 0)
        focus_cursor(p, focus, patch.y + (patch.h - 1) / 2, patch.x);
}

/* --- The edge of a set of patches, over a map of them --- */

/* One cell of the edge: the data colour, which is one where patches end at lines, stays as its ground. The line is
 * green, which no map of values is, and dark or bright so that it is seen on what it runs over. */
static void edge_cell(const Paint *p, int y, int x, uint32_t ch)
{
    Cell *k = canvas_at(p->c, y, x);
    if (!k || !k->level)
        return;
    Colour ground = k->bg != COLOUR_DEFAULT ? k->bg : k->fg, ink = colour_readable_on(ground) ? 0x00e676 : 0x005a28;
    *k = (Cell){.ch = ch, .fg = ink, .bg = ground, .style = STYLE_BORDER, .ref = k->ref};
}

/* green, which no map of values is; pixels of a patch that has it, and of one that is a line high */
enum { OUTLINE = 0x00e676, OUTLINE_WITHIN = 3, OUTLINE_THIN = 2 };

/* Is pixel (y, x) of the map's on an outlined patch? None is beyond the lattice. */
static bool pixel_inside(const Panels *s, const LatticeMap *m, int y, int x, PanelInside inside, const void *context)
{
    const int row = (y + m->row * m->k) / m->k, col = (x + m->col * m->k) / m->k;
    return y + m->row * m->k >= 0 && x + m->col * m->k >= 0 && row < s->rows && col < s->cols &&
           inside(context, row * s->cols + col);
}

/* One line of pixels that closes: the outermost of the patches inside; where a patch has too few to keep its own
 * colour, those that touch them from outside. */
static void outline_pixels(const Paint *p, const Panels *s, const LatticeMap *m, PanelInside inside,
                           const void *context)
{
    const bool within = m->k >= OUTLINE_WITHIN;
    for (int y = 0; y < m->rows * m->k; y++)
        for (int x = 0; x < m->cols * m->k; x++) {
            const bool here = pixel_inside(s, m, y, x, inside, context);
            bool edge = false;
            for (int i = 0; i < 9 && here == within && !edge; i++)
                edge = pixel_inside(s, m, y + i / 3 - 1, x + i % 3 - 1, inside, context) != here;
            const Cell *k = canvas_at(p->c, m->r.y + y / 2, m->r.x + x);
            if (edge && k && k->level)
                canvas_pixel(p->c, m->r.y + y / 2, m->r.x + x, y % 2, OUTLINE, k->level - 1, k->sign, k->ref);
        }
}

/* Of patches of one line a pixel is half of one: lines as thin as an eighth of a cell, on the data colours. A cell has
 * room for one: sides are in the cells of the object, its top and bottom in those around it, or in its own where the
 * map ends. */
static void outline_thin(const Paint *p, const Panels *s, const LatticeMap *m, PanelInside inside, const void *context)
{
    enum { TOP = 0x2594, BOTTOM = 0x2581, LEFT = 0x258f, RIGHT = 0x2595 };
    for (int line = 0; line < m->rows; line++)
        for (int i = 0; i < m->cols * m->k; i++) {
            const int y = line * m->k, side = i % m->k ? 1 : -1;
            const bool here = pixel_inside(s, m, y, i, inside, context),
                       above = pixel_inside(s, m, y - m->k, i, inside, context),
                       below = pixel_inside(s, m, y + m->k, i, inside, context),
                       beside = pixel_inside(s, m, y, i + side, inside, context);
            const uint32_t ch = !here                           ? below   ? BOTTOM
                                                                  : above ? TOP
                                                                          : 0
                                : !beside                       ? side < 0 ? LEFT : RIGHT
                                : !above && line == 0           ? TOP
                                : !below && line + 1 == m->rows ? BOTTOM
                                                                : 0;
            if (ch)
                edge_cell(p, m->r.y + line, m->r.x + i, ch);
        }
}

void panels_outline(const Paint *p, const Panels *s, int panel, PanelInside inside, const void *context)
{
    const LatticeMap *m = &s->map[panel];
    if (m->k < 2)
        return;
    if (m->halves && m->k == OUTLINE_THIN && p->mode > MODE_8) { /* of 8 colours a ground is no shade */
        outline_thin(p, s, m, inside, context);
        return;
    }
    if (m->halves) {
        outline_pixels(p, s, m, inside, context);
        return;
    }
    for (int row = m->row; row < m->row + m->rows; row++)
        for (int col = m->col; col < m->col + m->cols; col++) {
            int patch = row * s->cols + col;
            Rect r = lattice_map_patch(m, row, col);
            if (!inside(context, patch))
                continue;
            for (int y = r.y; y < r.y + r.h; y++) { /* characters that lie as the others would are in the ramps */
                if (col == 0 || !inside(context, patch - 1))
                    edge_cell(p, y, r.x, '|');
                if (col == s->cols - 1 || !inside(context, patch + 1))
                    edge_cell(p, y, r.x + r.w - 1, '|');
            }
        }
}

/* --- A picture in a panel, patch by patch --- */

typedef struct Tone {
    float low, high; /* dark and bright */
} Tone;

static int byte_of(Tone t, double x)
{
    double range = (double)t.high - (double)t.low, share = range > 0 ? (x - (double)t.low) / range : 0;
    return !(share > 0) ? 0 : share >= 1 ? 255 : (int)(share * 255 + 0.5);
}

/* Rows and columns of pixels, from … to − 1. */
typedef struct Span {
    int top, bottom, left, right;
} Span;

static double mean_of(const Pixels *px, int channel, Span s)
{
    double sum = 0;
    for (int y = s.top; y < s.bottom; y++)
        for (int x = s.left; x < s.right; x++)
            sum += (double)px->v.values[pixels_cell(px, channel, y, x)];
    return sum / ((double)(s.bottom - s.top) * (double)(s.right - s.left));
}

static Colour colour_of(const Pixels *px, Tone t, Span s)
{
    const int channel = pixels_channel(px);
    Colour rgb = 0;
    for (int k = 0; k < 3; k++) /* anything but three colours is shown as the grey of one channel */
        rgb = rgb << 8 | (Colour)byte_of(t, mean_of(px, px->channels == 3 ? k : channel, s));
    return rgb;
}

static void put_colour(const Paint *p, const Pixels *px, Tone t, int y, int x, int half, Span s)
{
    const Colour rgb = colour_of(px, t, s);
    const int channel = pixels_channel(px),
              grey = (int)(299 * (rgb >> 16) + 587 * (rgb >> 8 & 0xff) + 114 * (rgb & 0xff)) / 1000;
    canvas_pixel(p->c, y, x, half, rgb, grey * 9 / 255, 0,
                 shown_ref(&px->v, pixels_cell(px, channel, (s.top + s.bottom) / 2, (s.left + s.right) / 2)));
}

/* Of n pixels from `first` on, those that unit i of k stands for: at least one. */
static void part_of(int i, int k, int n, int first, int *from, int *to)
{
    *from = first + i * n / k;
    *to = first + (i + 1) * n / k;
    if (*to <= *from)
        *to = *from + 1;
}

void panels_range(const Paint *p, const Pixels *px, float *low, float *high)
{
    *low = 0;
    *high = 255;
    if (!shown_input(p->s, px->v.side)->ready)
        return;
    Spread range = spread_of(px->v.values, px->v.count);
    *low = range.min;
    *high = range.max;
}

void panels_patch(const Paint *p, const LatticeMap *m, const Pixels *px, float low, float high, int row, int col)
{
    int i = row - m->row, j = col - m->col, tall = m->halves ? m->k : m->k > 1 ? m->k / 2 : 1;
    for (int dy = 0; dy < tall; dy++)
        for (int dx = 0; dx < m->k; dx++) {
            int line = i * tall + dy;
            Span s;
            part_of(dy, tall, px->patch_h, row * px->patch_h, &s.top, &s.bottom);
            part_of(dx, m->k, px->patch_w, col * px->patch_w, &s.left, &s.right);
            put_colour(p, px, (Tone){low, high}, m->r.y + (m->halves ? line / 2 : line), m->r.x + j * m->k + dx,
                       m->halves ? line % 2 : -1, s);
        }
}

/* The same in the canvas's own pixels, of which `line` are as wide as the edge. */
typedef struct Fine {
    const Panels *s;
    const LatticeMap *m;
    const Pixels *px;
    Tone tone;
    HeatSize size;
    int line;
    PanelInside inside;
    const void *context;
} Fine;

static bool fine_inside(const Fine *f, int y, int x)
{
    const LatticeMap *m = f->m;
    const int tall = f->size.tall / m->rows, wide = f->size.wide / m->cols, row = m->row + (y + tall) / tall - 1,
              col = m->col + (x + wide) / wide - 1; /* of −1 the one before */
    return row >= 0 && col >= 0 && row < f->s->rows && col < f->s->cols &&
           f->inside(f->context, row * f->s->cols + col);
}

static Colour fine_colour(const void *context, int y, int x)
{
    const Fine *f = context;
    const LatticeMap *m = f->m;
    Span s;
    if (f->inside && fine_inside(f, y, x))
        for (int i = 0; i < 9; i++)
            if (!fine_inside(f, y + (i / 3 - 1) * f->line, x + (i % 3 - 1) * f->line))
                return OUTLINE;
    part_of(y, f->size.tall, m->rows * f->px->patch_h, m->row * f->px->patch_h, &s.top, &s.bottom);
    part_of(x, f->size.wide, m->cols * f->px->patch_w, m->col * f->px->patch_w, &s.left, &s.right);
    return colour_of(f->px, f->tone, s);
}

void panels_picture(const Paint *p, const Panels *s, int panel, const Pixels *px, PanelInside inside,
                    const void *context)
{
    enum { LINES_IN_PATCH = 24 };
    const LatticeMap *m = &s->map[panel];
    const HeatSize size = {m->rows * m->k, m->cols * m->k}, fine = heat_fine(p, size);
    Tone tone;
    panels_range(p, px, &tone.low, &tone.high);
    for (int row = m->row; row < m->row + m->rows; row++)
        for (int col = m->col; col < m->col + m->cols; col++)
            panels_patch(p, m, px, tone.low, tone.high, row, col);
    if (inside && !fine.tall)
        panels_outline(p, s, panel, inside, context);
    if (!fine.tall || !m->rows)
        return;
    const int thin = p->c->pixel_h / 16 + 1, share = fine.tall / m->rows / LINES_IN_PATCH;
    const Fine f = {s, m, px, tone, fine, share > thin ? share : thin, inside, context};
    heat_behind(p, m->r, fine.tall, fine.wide, size, fine_colour, &f);
}
