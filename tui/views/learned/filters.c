/* The patch projection as pictures: one tile of pixels for every number of a token, or the principal components of all
 * of them; beside it the one in focus, large, and what it finds in this picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/learned/measures.h"
#include "tui/views/lattice.h"
#include "tui/views/tiles.h"

enum {
    MAP_MOST = 8,
    DETAIL_LEAST = 20,   /* columns of what is told beside the tiles */
    DETAIL_LINES = 8,    /* lines of it below them */
    DETAIL_COLUMNS = 26, /* of its words, where it stands below */
    SHARE_LEAST = 22,    /* columns of a list of shares where there are several */
    WIDE = 64,
    BELOW = 2
};

static bool open_tiles(const Session *s, Side side, Tiles *t)
{
    return tiles_open(s, side, shown_site(s, side, s->look.filters.components ? SITE_COMPONENTS : SITE_FILTERS), t);
}

/* The grid of tiles, and where the one in focus is told about: beside it, below it, or in two lines below. */
typedef struct Layout {
    Rect grid, beside, below, brief, caption;
    TileFit tile;
    int pitch_y, pitch_x, across, down, first; /* tiles; first: of the first line shown */
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
    } else {
        if (r.h >= 6)
            l.brief = rect_cut(&r, 'b', BELOW);
        l.grid = r;
        grid_layout(p, t, &l);
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
}

/* "largest 0.312": a cell of the tile. */
static void put_end(const Paint *p, const Tiles *t, size_t cell, const char *word, Rect *r)
{
    if (r->h < 1)
        return;
    Rect line = rect_cut(r, 't', 1);
    int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%s ", word);
    if (line.w - used >= 7)
        shown_number(p, &t->v, cell, line.y, line.x + used, 9 < line.w - used ? 9 : line.w - used, STYLE_TEXT);
}

static void put_figure(const Paint *p, const Session *s, Side side, Site site, const char *word, Rect *r)
{
    Shown v;
    if (r->h < 1)
        return;
    Rect line = rect_cut(r, 't', 1);
    int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%s ", word);
    if (shown_open(s, side, shown_site(s, side, site), &v) && v.values && line.w - used >= 7)
        shown_number(p, &v, v.cell, line.y, line.x + used, 9 < line.w - used ? 9 : line.w - used, STYLE_TEXT);
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
}

static void draw_detail(const Paint *p, const Tiles *t, Side side, Rect r)
{
    size_t low, high;
    bool components = p->s->look.filters.components;
    Rect head = rect_cut(&r, 't', 1);
    canvas_printf(p->c, head.y, head.x, head.w, STYLE_STRONG, "%s %d of 0–%d", components ? "component" : "filter",
                  t->here, t->count - 1);
    TileFit f = tiles_fit(p, t, r.h / 3, r.w);
    if (f.lines <= r.h / 3) {
        tiles_draw(p, t, t->here, &f, r.y, r.x);
        rect_cut(&r, 't', f.lines);
    }
    if (components) {
        put_figure(p, p->s, side, SITE_COMPONENTS_SINGULAR, r.w >= 26 ? "singular value" : "singular", &r);
        rect_cut(&r, 't', r.h > 10);
        draw_shares(p, t, side, r);
    } else if (tiles_range(t, t->here, &low, &high)) {
        put_end(p, t, high, r.w >= 26 ? "largest weight " : "largest ", &r);
        put_end(p, t, low, r.w >= 26 ? "smallest weight" : "smallest", &r);
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
        put_figure(p, p->s, side, SITE_COMPONENTS_SINGULAR, "singular value", &words);
        draw_shares(p, t, side, r);
    } else if (tiles_range(t, t->here, &low, &high)) {
        put_end(p, t, high, "largest weight ", &words);
        put_end(p, t, low, "smallest weight", &words);
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
        put_figure(p, p->s, side, SITE_COMPONENTS_SINGULAR, "singular", &rest);
        put_figure(p, p->s, side, SITE_COMPONENTS_EXPLAINED, "share of how filters differ", &r);
    } else if (tiles_range(t, t->here, &low, &high)) {
        put_end(p, t, high, "largest", &rest);
        put_end(p, t, low, "smallest weight", &r);
    }
}

/* What a point and its colour are; a line without room loses the end. */
static void put_caption(const Paint *p, const Tiles *t, const Layout *l)
{
    Buf text = {0};
    int hidden = t->count - l->down * l->across;
    buf_puts(&text, t->channels == 3 && p->mode != MODE_MONO ? "0 is grey" : "0 is grey, of all channels the absmax");
    if (l->tile.rows < t->h || l->tile.cols < t->w)
        buf_printf(&text, "; 1 cell = %.3g×%.3g pixels, absmax", (double)t->h / l->tile.rows,
                   (double)t->w / l->tile.cols);
    if (hidden > 0)
        buf_printf(&text, "; %d more", hidden);
    buf_puts(&text, "; each tile on its own scale");
    shown_clauses(p, l->caption.y, l->caption.x, l->caption.w, STYLE_DIM, buf_str(&text));
    buf_free(&text);
}

static void draw_all(const Paint *p, const Tiles *t, Side side, Rect r, bool focus)
{
    Layout l = layout(p, t, r);
    draw_grid(p, t, &l, focus);
    if (l.beside.h)
        draw_detail(p, t, side, l.beside);
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
    else
        draw_all(p, &t, side, r, focus);
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
    if (!open_tiles(p->s, side, &t) || !t.v.values)
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
        buf_printf(out, "principal components of the patch filters: %d of %d×%d pixels", t.count, t.w, t.h);
    else
        buf_printf(out, "patch filters: %d of %d×%d pixels", t.count, t.w, t.h);
}

static const ViewWay WAYS[] = {{"components the principal components of all filters", "filters components"},
                               {"filters    every filter of the patch projection", "filters filters"},
                               {NULL, NULL}};

VIEW_SPEC(FILTERS, .name = "filters", .traits = VIEW_WIDE, .ways = WAYS);
