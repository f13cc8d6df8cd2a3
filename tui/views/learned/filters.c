/* The patch projection as pictures: one tile of pixels for every number of a token, or the principal components of all
 * of them; beside it the one in focus, large, and what it finds in this picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "tui/views/lattice.h"
#include "tui/views/tiles.h"

enum {
    MAP_MOST = 8,
    DETAIL_LEAST = 20,   /* columns of what is told beside the tiles */
    ALONE_LINES = 8,     /* lines of it without tiles */
    DETAIL_LINES = 8,    /* lines of it below them */
    STACK_LINES = 10,    /* … where it is as narrow as they are */
    STACK_FROM = 20,     /* lines of both */
    DETAIL_COLUMNS = 26, /* of its words, where it stands below */
    SHARE_LEAST = 22,    /* columns of a list of shares where there are several */
    WIDE = 64,
    NUMBER_LEAST = 7, /* columns of a number */
    NUMBER_MOST = 9,
    SHARE_WORDS = 35, /* of what its share is of, with the number */
    BELOW = 2,
    SEEN = 2 /* rows of pixels from which something is seen in a tile */
};

static bool open_tiles(const Session *s, Side side, Tiles *t)
{
    return tiles_open(s, side, shown_site(s, side, s->look.filters.components ? SITE_COMPONENTS : SITE_FILTERS), t);
}

/* The grid of tiles, and where the one in focus is told about: beside it, below it, in two lines below, or instead. */
typedef struct Layout {
    Rect grid, beside, below, brief, caption;
    TileFit tile;
    int pitch_y, pitch_x, across, down, first; /* tiles; first: of the first line shown; down 0: no grid */
} Layout;

/* Lines of MEASURES_TILES_ACROSS tiles, as the up and down keys count them: as large as leaves room for all, else the
 * smallest that keep their pixels, else as large as fits. */
static void grid_layout(const Paint *p, const Tiles *t, Layout *l)
{
    Rect r = l->grid;
    l->across = (r.w - 1) / 2 < MEASURES_TILES_ACROSS ? (r.w - 1) / 2 : MEASURES_TILES_ACROSS;
    l->across = l->across < 1 ? 1 : l->across;
    int lines = (t->count + l->across - 1) / l->across, wide = (r.w - 1) / l->across - 1;
    l->tile = tiles_fit(p, t, (r.h + 1) / lines - 1, wide);
    for (int h = (r.h + 1) / lines; l->tile.rows < t->h && h <= r.h; h++) {
        TileFit larger = tiles_fit(p, t, h, wide);
        if (larger.rows == l->tile.rows && h > (r.h + 1) / lines)
            break;
        l->tile = larger;
    }
    l->pitch_y = l->tile.lines + (r.h >= 2 * l->tile.lines + 1);
    l->pitch_x = l->tile.columns + 1;
    l->down = (r.h + l->pitch_y - l->tile.lines) / l->pitch_y;
    l->down = l->down > lines ? lines : l->down < 1 ? 1 : l->down;
    l->first = (int)scroll_first((size_t)lines, (size_t)(t->here / l->across), (size_t)l->down);
}

/* With so many columns at the right, or lines at the bottom, for what is told; it gets what the tiles leave. */
static Layout with_detail(const Paint *p, const Tiles *t, Rect r, char side, int least)
{
    Layout l = {.grid = r};
    rect_cut(&l.grid, side, least + 1);
    grid_layout(p, t, &l);
    bool right = side == 'r';
    int used = right ? l.across * l.pitch_x + 2 : l.down * l.pitch_y - (l.pitch_y - l.tile.lines) + 1;
    (right ? rect_cut(&r, 'l', used) : rect_cut(&r, 't', used));
    *(right ? &l.beside : &l.below) = r;
    return l;
}

/* Narrow and high: the tiles, and what is told below them. */
static Layout stacked(const Paint *p, const Tiles *t, Rect r)
{
    Layout l = with_detail(p, t, r, 'b', STACK_LINES);
    l.beside = l.below;
    l.below = (Rect){0};
    return l;
}

/* Lines of the one in focus among what is told of it: a third, half where there is no grid and no map below it. */
static int detail_lines(const Paint *p, const Layout *l)
{
    return (l->beside.h - 1) / (l->down || !p->s->look.filters.components ? 3 : 2);
}

/* Where tiles are of so few pixels that nothing is seen in any: the one in focus alone, if that has twice as many. */
static Layout alone(const Paint *p, const Tiles *t, Rect r, const Layout *from)
{
    Layout l = {.beside = r, .across = from->across, .pitch_x = 1, .pitch_y = 1};
    l.tile = tiles_fit(p, t, detail_lines(p, &l), r.w);
    return r.h >= ALONE_LINES && r.w >= DETAIL_LEAST && from->tile.rows < SEEN && l.tile.rows >= 2 * from->tile.rows
               ? l
               : *from;
}

static Layout layout(const Paint *p, const Tiles *t, Rect r)
{
    Layout l = {0};
    Rect caption = {0};
    if (r.h > 3)
        caption = rect_cut(&r, 'b', 1);
    if (r.w >= WIDE && r.h >= 6) {
        l = with_detail(p, t, r, 'r', DETAIL_LEAST);
        if (r.h >= 3 * DETAIL_LINES) {
            Layout below = with_detail(p, t, r, 'b', DETAIL_LINES);
            l = below.tile.columns > l.tile.columns && below.down >= l.down ? below : l;
        }
    } else if (r.h >= STACK_FROM && r.w >= DETAIL_LEAST)
        l = stacked(p, t, r);
    else {
        const Rect all = r;
        if (r.h >= 6)
            l.brief = rect_cut(&r, 'b', BELOW);
        l.grid = r;
        grid_layout(p, t, &l);
        l = alone(p, t, all, &l);
    }
    l.caption = caption;
    return l;
}

/* Cells of a tile; empty when it is scrolled away. */
static Rect tile_rect(const Layout *l, int tile)
{
    int row = tile / l->across - l->first;
    if (row < 0 || row >= l->down)
        return (Rect){0};
    return (Rect){l->grid.y + row * l->pitch_y, l->grid.x + 1 + tile % l->across * l->pitch_x, l->tile.lines,
                  l->tile.columns};
}

static void draw_grid(const Paint *p, const Tiles *t, const Layout *l, bool focus)
{
    if (!l->down) {
        focus_cursor(p, focus, l->beside.y + 1, l->beside.x);
        return;
    }
    Rect old = canvas_clip(p->c, l->grid);
    for (int tile = l->first * l->across; tile < t->count && tile < (l->first + l->down) * l->across; tile++) {
        Rect r = tile_rect(l, tile);
        tiles_draw(p, t, tile, &l->tile, r.y, r.x);
    }
    Rect here = tile_rect(l, t->here);
    for (int y = here.y; y < here.y + here.h; y++) {
        canvas_glyph(p->c, y, here.x - 1, STYLE_CURSOR, '[');
        canvas_glyph(p->c, y, here.x + here.w, STYLE_CURSOR, ']');
    }
    focus_cursor(p, focus, here.y + (here.h - 1) / 2, here.x);
    p->c->clip = old;
    const int end = l->grid.y + l->grid.h + (l->below.h > 0); /* in the blank line below them */
    for (int tile = l->first * l->across; tile < t->count && l->pitch_y > l->tile.lines; tile++) {
        Rect r = tile_rect(l, tile);
        if (r.h && r.y + r.h < end)
            canvas_printf(p->c, r.y + r.h, r.x, r.w, tile == t->here ? STYLE_STRONG : STYLE_AXIS, "%d", tile);
    }
}

/* "largest 0.312" on the first line, where both have room: a word without its number says nothing. */
static void put_number(const Paint *p, const Shown *v, size_t cell, const char *word, Rect *r)
{
    Rect line = rect_cut(r, 't', 1);
    const int used = utf8_cells(word) + 1, room = line.w - used;
    if (line.h < 1 || room < NUMBER_LEAST)
        return;
    canvas_printf(p->c, line.y, line.x, used, STYLE_DIM, "%s ", word);
    shown_number(p, v, cell, line.y, line.x + used, room < NUMBER_MOST ? room : NUMBER_MOST, STYLE_TEXT);
}

static void put_figure(const Paint *p, Side side, Site site, const char *word, Rect *r)
{
    Shown v;
    if (shown_open(p->s, side, shown_site(p->s, side, site), &v) && v.values)
        put_number(p, &v, v.cell, word, r);
}

typedef struct Response {
    Shown v;
    const Axis *p;
    Lattice l;
    size_t p_step, at; /* at: the cell of patch 0 */
    int patch;
} Response;

/* What a filter says of every patch: a column of patch_embed[p,d]. */
static bool open_response(const Session *s, Side side, const Tiles *t, Response *out)
{
    Response q = {0};
    if (!shown_open(s, side, shown_site(s, side, SITE_EMBED), &q.v))
        return false;
    const Graph *g = q.v.graph;
    Dims d = graph_node(g, q.v.node)->dims;
    int p = dims_role(g, d, ROLE_PLACE);
    if (p == AXIS_NONE || d.n != 2 || dims_find(d, t->axis) < 0)
        return false;
    q.p = &g->axes[p];
    q.l = lattice_of(q.p);
    q.patch = q.v.at[p];
    q.p_step = dims_stride(g->axes, d, p);
    q.at = (size_t)t->here * dims_stride(g->axes, d, t->axis);
    *out = q;
    return true;
}

static float response_value(const void *context, int row, int col, Ref *ref)
{
    const Response *q = context;
    size_t cell = q->at + (size_t)(row * q->l.cols + col) * q->p_step;
    *ref = shown_ref(&q->v, cell);
    return q->v.values[cell];
}

static size_t extreme(const Response *q, int sign)
{
    size_t best = q->at;
    for (int i = 1; i < q->p->n; i++) {
        size_t cell = q->at + (size_t)i * q->p_step;
        if ((float)sign * q->v.values[cell] > (float)sign * q->v.values[best])
            best = cell;
    }
    return best;
}

/* How much it varies over this picture: a map, and where it says most and least. */
static void draw_response(const Paint *p, Side side, const Tiles *t, Rect r)
{
    Response q;
    if (r.h < 3 || !open_response(p->s, side, t, &q))
        return;
    Rect head = rect_cut(&r, 't', 1);
    canvas_text(p->c, head.y, head.x, head.w, STYLE_DIM, head.w >= 26 ? "what it says of each patch" : "of each patch");
    if (!q.v.values) {
        shown_computing(p, r);
        return;
    }
    size_t end[2] = {extreme(&q, 1), extreme(&q, -1)};
    float most = fmaxf(fabsf(q.v.values[end[0]]), fabsf(q.v.values[end[1]]));
    ColourScale scale = colour_scale_of_range(p, -most, most);
    Rect lines = rect_cut(&r, 'b', r.h > 5 ? 2 : 0);
    LatticeMap m = lattice_map(p, r, q.l.rows, q.l.cols, MAP_MOST, 0, 0);
    lattice_map_draw(p, &m, &scale, response_value, &q);
    lines.y -= r.h - m.r.h;
    for (int k = 0; k < lines.h; k++) {
        char label[32];
        int used = canvas_printf(p->c, lines.y + k, lines.x, lines.w, STYLE_DIM, "%s %s ", k ? "least" : "most ",
                                 axis_label(q.p, (int)((end[k] - q.at) / q.p_step), label, sizeof label));
        if (lines.w - used >= 7)
            shown_number(p, &q.v, end[k], lines.y + k, lines.x + used, 9 < lines.w - used ? 9 : lines.w - used,
                         STYLE_TEXT);
    }
}

/* Every component's share of how the filters differ, as bars. */
static void draw_shares(const Paint *p, const Tiles *t, Side side, Rect r)
{
    Shown v;
    if (r.h < 2 || !shown_open(p->s, side, shown_site(p->s, side, SITE_COMPONENTS_EXPLAINED), &v) || !v.values ||
        v.count != (size_t)t->count)
        return;
    Rect head = rect_cut(&r, 't', 1);
    canvas_text(p->c, head.y, head.x, head.w, STYLE_DIM, head.w >= 28 ? "share of how filters differ" : "share of all");
    int columns = r.w / SHARE_LEAST > 1 ? r.w / SHARE_LEAST : 1, need = ((int)v.count + r.h - 1) / r.h;
    columns = columns < need ? columns : need;
    int wide = r.w / columns;
    size_t room = (size_t)r.h * (size_t)columns, first = scroll_first(v.count, (size_t)t->here, room);
    for (size_t i = 0; i < room && first + i < v.count; i++) {
        size_t k = first + i;
        bool here = (int)k == t->here;
        int y = r.y + (int)i % r.h, x = r.x + (int)i / r.h * wide, w = wide - (columns > 1 ? 2 : 0);
        canvas_printf(p->c, y, x, 4, here ? STYLE_CURSOR : STYLE_AXIS, "%s%d", here ? ">" : " ", (int)k);
        shown_number_right(p, &v, k, y, x + 4, 7, STYLE_TEXT);
        if (w > 16) /* the first has the largest */
            canvas_bar(p->c, y, x + 12, w - 12, v.values[0] > 0 ? (double)(v.values[k] / v.values[0]) : 0, STYLE_TEXT,
                       shown_ref(&v, k));
    }
    if (room < v.count) /* beside the caption */
        canvas_printf(p->c, r.y + r.h, r.x + 1, r.w - 1, STYLE_DIM, "%zu more", v.count - room);
}

static void draw_detail(const Paint *p, const Tiles *t, Side side, const Layout *l)
{
    Rect r = l->beside;
    const int lines = detail_lines(p, l);
    const TileFit f = tiles_fit(p, t, lines, r.w);
    size_t low, high;
    bool components = p->s->look.filters.components;
    Rect head = rect_cut(&r, 't', 1);
    canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "%s %d of 0–%d", components ? "component" : "filter",
                  t->here, t->count - 1);
    if (f.lines <= lines) {
        tiles_draw(p, t, t->here, &f, r.y, r.x);
        rect_cut(&r, 't', f.lines);
    }
    if (components) {
        put_figure(p, side, SITE_COMPONENTS_SINGULAR, r.w >= 26 ? "singular value" : "singular", &r);
        rect_cut(&r, 't', r.h > 10);
        draw_shares(p, t, side, r);
    } else if (tiles_range(t, t->here, &low, &high)) {
        put_number(p, &t->v, high, r.w >= 26 ? "largest weight " : "largest ", &r);
        put_number(p, &t->v, low, r.w >= 26 ? "smallest weight" : "smallest", &r);
        rect_cut(&r, 't', r.h > 10);
        draw_response(p, side, t, r);
    }
}

/* The same below the tiles: large, its figures, and what is told of it at their right. */
static void draw_under(const Paint *p, const Tiles *t, Side side, Rect r)
{
    bool components = p->s->look.filters.components;
    size_t low, high;
    TileFit f = tiles_fit(p, t, r.h, r.w / 3);
    tiles_draw(p, t, t->here, &f, r.y, r.x + 1);
    rect_cut(&r, 'l', f.columns + 3);
    Rect words = rect_cut(&r, 'l', DETAIL_COLUMNS), head = rect_cut(&words, 't', 1);
    canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "%s %d of 0–%d", components ? "component" : "filter",
                  t->here, t->count - 1);
    rect_cut(&r, 'l', 2);
    if (components) {
        put_figure(p, side, SITE_COMPONENTS_SINGULAR, "singular value", &words);
        draw_shares(p, t, side, r);
    } else if (tiles_range(t, t->here, &low, &high)) {
        put_number(p, &t->v, high, "largest weight ", &words);
        put_number(p, &t->v, low, "smallest weight", &words);
        draw_response(p, side, t, r);
    }
}

static void draw_brief(const Paint *p, const Tiles *t, Side side, Rect r)
{
    size_t low, high;
    bool components = p->s->look.filters.components;
    Rect head = rect_cut(&r, 't', 1);
    int used = canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "%s %d of 0–%d",
                             components ? "component" : "filter", t->here, t->count - 1);
    Rect rest = {head.y, head.x + used + 2, 1, head.w - used - 2};
    if (components) {
        put_figure(p, side, SITE_COMPONENTS_SINGULAR, "singular", &rest);
        put_figure(p, side, SITE_COMPONENTS_EXPLAINED,
                   r.w >= SHARE_WORDS ? "share of how filters differ" : "share of all", &r);
    } else if (tiles_range(t, t->here, &low, &high)) {
        put_number(p, &t->v, high, "largest", &rest);
        put_number(p, &t->v, low, "smallest weight", &r);
    }
}

/* What a point and its colour are; a line without room loses the end. */
static void put_caption(const Paint *p, const Tiles *t, const Layout *l)
{
    Buf text = {0};
    int hidden = l->down ? t->count - l->down * l->across : 0;
    buf_puts(&text, t->channels == 3 && p->mode != MODE_MONO ? "0 is grey" : "0 is grey, of all channels the largest");
    const HeatSize fine = heat_fine(p, l->tile.size);
    if ((l->tile.rows < t->h || l->tile.cols < t->w) && (fine.tall < t->h || fine.wide < t->w))
        buf_printf(&text, "; 1 cell = %.3g×%.3g pixels, the largest", (double)t->h / l->tile.rows,
                   (double)t->w / l->tile.cols);
    if (hidden > 0)
        buf_printf(&text, "; %d more", hidden);
    if (l->down)
        buf_puts(&text, "; each tile on its own scale");
    shown_clauses(p, l->caption.y, l->caption.x, l->caption.w, STYLE_DIM, buf_str(&text));
    buf_free(&text);
}

/* Filters are weights, which few edits change: is their A − B 0 everywhere? Then no grey tiles are drawn of it. */
static bool all_same(const Tiles *t, Side side)
{
    if (side != SIDE_DIFF)
        return false;
    for (size_t i = 0; i < t->v.count; i++)
        if (t->v.values[i] != 0)
            return false;
    return true;
}

/* On its own it shows B's instead, under a line that says so. Returns whose tiles t has. */
static Side tiles_of_both(const Session *s, Side side, Tiles *t, Rect *r)
{
    Tiles of_b;
    if (!all_same(t, side) || s->compare == COMPARE_SIDES || !open_tiles(s, SIDE_B, &of_b) || !of_b.v.values)
        return side;
    *t = of_b;
    rect_cut(r, 't', 1);
    return SIDE_B;
}

/* Where only what they are laid on may differ: what the one in focus says of it. */
static void draw_same(const Paint *p, const Tiles *t, Side side, Rect r, bool focus)
{
    const bool components = p->s->look.filters.components;
    Response q = {0};
    bool differs = false;
    focus_cursor(p, focus, r.y, r.x);
    rect_cut(&r, 't',
             canvas_wrap(p->c, r, STYLE_TEXT,
                         components ? "A and B have the same filters, and so the same components."
                                    : "A and B have the same filters."));
    if (components || !open_response(p->s, side, t, &q) || !q.v.values)
        return;
    rect_cut(&r, 't', r.h > 4);
    for (int i = 0; i < q.p->n; i++)
        differs = differs || q.v.values[q.at + (size_t)i * q.p_step] != 0;
    if (differs) {
        Rect head = rect_cut(&r, 't', 1);
        canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "filter %d, A − B", t->here);
        draw_response(p, side, t, r);
    } else
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM,
                      r.w < SHARE_WORDS ? "filter %d: no difference" : "filter %d says the same of each patch",
                      t->here);
}

static void draw_all(const Paint *p, const Tiles *t, Side side, Rect r, bool focus)
{
    if (all_same(t, side)) {
        draw_same(p, t, side, r, focus);
        return;
    }
    Layout l = layout(p, t, r);
    draw_grid(p, t, &l, focus);
    if (l.beside.h)
        draw_detail(p, t, side, &l);
    if (l.below.h)
        draw_under(p, t, side, l.below);
    if (l.brief.h)
        draw_brief(p, t, side, l.brief);
    if (l.caption.h)
        put_caption(p, t, &l);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Tiles t;
    if (!open_tiles(p->s, side, &t))
        canvas_wrap(p->c, r, STYLE_TEXT,
                    p->s->look.filters.components
                        ? "This patch projection is too large to take apart into components here."
                        : "This model cuts no picture into patches, so there are no filters to show. `view heat` shows "
                          "the table that "
                          "its words are looked up in.");
    else if (!t.v.values)
        shown_computing(p, r);
    else {
        const Rect line = {r.y, r.x, 1, r.w};
        const Side of = tiles_of_both(p->s, side, &t, &r);
        if (of != side)
            canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT,
                        p->s->look.filters.components ? "A and B have the same components, these:"
                                                      : "A and B have the same filters, these:");
        draw_all(p, &t, of, r, focus);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    static const Site OF_COMPONENTS[] = {SITE_COMPONENTS, SITE_COMPONENTS_SINGULAR, SITE_COMPONENTS_EXPLAINED},
                      OF_FILTERS[] = {SITE_FILTERS, SITE_EMBED};
    bool components = s->look.filters.components;
    for (int i = 0; i < (components ? 3 : 2); i++)
        needs_add(out, side, shown_site(s, side, components ? OF_COMPONENTS[i] : OF_FILTERS[i]));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Tiles t;
    if (!open_tiles(p->s, side, &t) || !t.v.values || all_same(&t, tiles_of_both(p->s, side, &t, &r)))
        return false;
    Layout l = layout(p, &t, r);
    for (int tile = l.first * l.across; tile < t.count; tile++)
        if (rect_has(tile_rect(&l, tile), y, x) && rect_has(l.grid, y, x)) {
            if (tile == t.here)
                buf_puts(command, "in");
            else
                buf_printf(command, "filters %d", tile);
            return true;
        }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    Tiles t;
    if (!open_tiles(s, side, &t))
        buf_puts(out, "filters");
    else if (s->look.filters.components)
        buf_printf(out, "principal components of the patch filters: %d, each %d×%d pixels\n%d components", t.count, t.w,
                   t.h, t.count);
    else
        buf_printf(out, "patch filters: %d, each %d×%d pixels\n%d filters, %d×%d\n%d filters", t.count, t.w, t.h,
                   t.count, t.w, t.h, t.count);
}

static const ViewWay WAYS[] = {{"components the principal components of all filters", "filters components"},
                               {"filters    every filter of the patch projection", "filters filters"},
                               {NULL, NULL}};

VIEW_SPEC(FILTERS, .name = "filters", .traits = VIEW_WIDE, .ways = WAYS);
