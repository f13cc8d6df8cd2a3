/* Where did it look: rollout, the last block's attention, gradient × input and occlusion side by side, one number per
 * patch each, on a scale of its own; below them the four values of the picked patch, and how much of each map lies on
 * the object where its place is known. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/eval/figures.h"
#include "tui/views/heat.h"
#include "tui/views/learned/where_view.h"
#include "tui/views/spread.h"

enum {
    SQUARE_MOST = 24,
    TABLE_LEAST = 10,
    LEGEND_LEAST = 9,
    LEGEND_GOOD = 12,
    LEGEND_SIGNED = 16,
    SWATCH = 2,
    END_LEAST = 3,
    END_MOST = 5,
    BAR_LEAST = 18 /* … with both ends and whether it is shared */
};
/* The column beside the maps: its least width, where a row of the table takes one line, the lines kept below the
 * picture, and the least for one more note. */
enum {
    ASIDE = 20,
    ASIDE_LINE = WHERE_NAME + 2 * WHERE_NUMBER,
    ASIDE_LINES = WHERE_METHODS + 5,
    ASIDE_NOTE = 5,
    BASE_RATES = 8
};

/* The rows of a rollout add up to something: at its last block; and how much of that is on patches. */
static const char *sum_path(const Session *s, Side side)
{
    return shown_attention(s, side, where_depth(s, session_blocks_on(s, side)) - 1, SITE_ROLLOUT_SUM);
}

static const char *patches_sum_path(const Session *s, Side side)
{
    return shown_attention(s, side, where_depth(s, session_blocks_on(s, side)) - 1, SITE_ROLLOUT_SO_FAR_SUM);
}

static bool open_where(const Session *s, Side side, Where *out)
{
    Where w = {.s = s, .side = side, .focus = s->look.where.method};
    for (int m = 0; m < WHERE_OCCLUSION; m++) {
        w.there[m] = shown_open(s, side, where_path(s, side, (WhereMethod)m), &w.map[m]);
        w.has_mass[m] = shown_open(s, side, where_mass_path(s, side, (WhereMethod)m), &w.mass[m]);
    }
    if (!w.there[WHERE_ROLLOUT])
        return false;
    w.occlusion = where_occlusion(s, side);
    w.there[WHERE_OCCLUSION] = w.occlusion.of || !w.occlusion.why;
    w.large = w.there[w.focus] ? w.focus : WHERE_ROLLOUT;
    w.has_share = shown_open(s, side == SIDE_DIFF ? SIDE_B : side, shown_site(s, side, SITE_WHERE_OBJECT_SHARE),
                             &w.share);
    w.has_sums = shown_open(s, side, sum_path(s, side), &w.row_sum) &&
                 shown_open(s, side, patches_sum_path(s, side), &w.patches_sum);
    w.object = session_peek(s, side == SIDE_DIFF ? SIDE_B : side, shown_site(s, side, SITE_WHERE_OBJECT));
    const bool alike = session_compares(s) && s->compare == COMPARE_SIDES && !session_pinned(s);
    w.has_picture = side != SIDE_DIFF && !alike && pixels_open(s, side, pixels_input(s, side), &w.picture);
    const Shown *v = &w.map[WHERE_ROLLOUT];
    int p = graph_node(v->graph, v->node)->dims.axis[0];
    w.p = &v->graph->axes[p];
    w.l = lattice_of(w.p);
    w.at = v->at[p];
    axis_patch(w.p, w.at, &w.row, &w.col);
    *out = w;
    return true;
}

typedef struct Layer {
    const Where *w;
    int method;
} Layer;

static float layer_value(const void *context, int row, int col, Ref *ref)
{
    const Layer *l = context;
    int patch = row * l->w->l.cols + col;
    if (l->method != WHERE_OCCLUSION)
        *ref = shown_ref(&l->w->map[l->method], where_cell(l->w, l->method, patch));
    return where_value(l->w, l->method, patch);
}

/* The same map of the other side, as shown_beside; of occlusion as far as it was measured there. */
static bool beside(const Where *w, int m, Where *other)
{
    const Session *s = w->s;
    *other = *w;
    if (m != WHERE_OCCLUSION)
        return shown_beside(s, &w->map[m], &other->map[m]);
    if (s->compare != COMPARE_SIDES || !session_compares(s) || s->look.range == RANGE_OWN || w->side == SIDE_DIFF)
        return false;
    other->side = w->side == SIDE_A ? SIDE_B : SIDE_A;
    other->occlusion = where_occlusion(s, other->side);
    return other->occlusion.of && other->occlusion.of->done;
}

/* Each map on its own, their units differ; A and B on one where the reader did not choose otherwise. */
static ColourScale layer_scale(const Paint *p, const Where *w, int m)
{
    float low = 0, high = 0;
    Where pair[2] = {*w};
    int sides = 1 + beside(w, m, &pair[1]);
    for (int k = 0; k < sides; k++)
        for (int i = 0; i < w->p->n; i++) {
            float x = where_value(&pair[k], m, i);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    ColourScale scale = colour_scale_of_range(p, low, high);
    scale.diff = w->side == SIDE_DIFF;
    scale.shared = sides > 1;
    scale.own = !scale.shared && !scale.diff && p->s->compare == COMPARE_SIDES;
    size_t done, total;
    scale.waits = m == WHERE_OCCLUSION && where_occluded_progress(&w->occlusion, &done, &total) && done < total;
    return scale;
}

static bool on_object(const void *context, int patch)
{
    return ((const Where *)context)->object[patch] != 0.0f;
}

/* --- the maps --- */
/* The name of a map; scale: the brief one where its colours would have no room behind it, else NULL. */
static const char *title_name(const Where *w, int width, int m, const ColourScale *scale, char partly[32])
{
    static const char *const LONG[WHERE_METHODS] = {"attention rollout", "last attention", "gradient × input",
                                                    "occlusion"};
    const int blocks = session_blocks_on(w->s, w->side), depth = where_depth(w->s, blocks),
              good = scale && scale->low < 0 ? LEGEND_SIGNED : LEGEND_GOOD;
    const bool brief = width < 18 || (scale && width < utf8_cells(LONG[m]) + 3 + good); /* rather its scale */
    if (m != WHERE_ROLLOUT || depth >= blocks)
        return brief ? where_word((WhereMethod)m) : LONG[m];
    if (brief)
        snprintf(partly, 32, depth > 1 ? "rollout 0–%d" : "rollout %d", depth - 1);
    else
        snprintf(partly, 32, depth > 1 ? "rollout, blocks 0–%d" : "rollout, block %d", depth - 1);
    return partly;
}

/* The least of its colours, and the number at their end: each map has a scale of its own. */
static void draw_swatch(const Paint *p, const ColourScale *s, Rect line)
{
    char most[16];
    if (line.w < SWATCH || !(s->high > s->low))
        return;
    for (int i = 0; i < SWATCH; i++) {
        const float x = i ? s->high : s->low < 0 ? s->low : s->high / 2;
        canvas_pixel(p->c, line.y, line.x + i, -1, colour_scale_colour(s, x), colour_scale_level(s, x),
                     colour_scale_sign(s, x), (Ref){0});
    }
    rect_cut(&line, 'l', SWATCH);
    const bool both = s->low < 0 && !p->c->ascii && line.w > END_LEAST; /* the other end is as far */
    number_text(most, sizeof most, s->high, line.w - both < END_MOST ? line.w - both : END_MOST);
    if (line.w >= END_LEAST && *most != '#')
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%s%s", both ? "±" : "", most);
}

/* Its name and, behind it where there is room, what its colours stand for. */
static void draw_title(const Paint *p, const Where *w, Rect r, int m, const ColourScale *scale)
{
    bool here = m == w->focus;
    char partly[32];
    if (r.h < 1)
        return;
    const char *name = title_name(w, r.w, m, scale, partly);
    const bool close = scale && !here && r.w <= utf8_cells(name) + 1 + SWATCH; /* rather its colours than a margin */
    const bool bare = close || (scale && scale->low < 0 && r.w <= utf8_cells(name) + 2 + SWATCH + END_LEAST);
    int used = canvas_printf(p->c, r.y, r.x, r.w, here ? STYLE_TITLE : STYLE_HEADER, "%s%s",
                             here   ? ">"
                             : bare ? ""
                                    : " ",
                             name);
    int room = r.w - used - 2 + close;
    used -= close;
    if (scale && room >= (scale->low < 0 ? LEGEND_SIGNED : LEGEND_LEAST))
        colour_scale_bar(p, scale, r.y, r.x + used + 2, room);
    else if (scale)
        draw_swatch(p, scale, (Rect){r.y, r.x + used + 1, 1, room + 1});
}

/* Where the title of a map stands: a name is not cut because its map is small, and one that stands nowhere else has its
 * scale there. */
static Rect title_of(const Where *w, const Panels *s, int panel, int m)
{
    Rect line = s->title[panel];
    const LatticeMap *map = &s->map[panel];
    const bool alone = panel == WHERE_METHODS && m != w->focus;
    if (map->r.w < line.w && map->r.w >= WHERE_NAME + SWATCH + END_LEAST && !alone)
        line.w = map->r.w;
    return line;
}

/* Does the title of the map in focus show the whole of its scale? */
static bool title_has_scale(const Paint *p, const Where *w, const Panels *s)
{
    char partly[32];
    const ColourScale scale = layer_scale(p, w, w->focus);
    const Rect line = title_of(w, s, w->focus, w->focus);
    const int room = line.w - 3 - utf8_cells(title_name(w, line.w, w->focus, &scale, partly));
    return line.h && room >= (scale.low < 0 ? LEGEND_SIGNED : LEGEND_LEAST);
}

/* Is it the turn of the other side's occlusion? */
static bool waits(const Where *w)
{
    size_t done, total;
    const WhereOccluded b = where_occlusion(w->s, SIDE_B);
    return w->side != SIDE_B && session_compares(w->s) && session_side(w->s) != SIDE_A &&
           where_occluded_progress(&b, &done, &total) && done < total;
}

/* Why there is no map, or nothing in it yet; "" where there is. */
static void missing(const Where *w, int m, char *out, size_t n)
{
    size_t done, total;
    *out = '\0';
    if (m == WHERE_OCCLUSION) {
        if (w->occlusion.why)
            snprintf(out, n, "%s", w->occlusion.why);
        else if (!where_occluded_progress(&w->occlusion, &done, &total) || !done)
            snprintf(out, n, "%s", waits(w) ? "after B's…" : "measuring…");
    } else if (!w->there[m])
        snprintf(out, n, "%s", m == WHERE_GRADIENT ? "no gradients of the picture: `where`" : "absent");
    else if (!w->map[m].values)
        snprintf(out, n, "computing…");
}

static void draw_picture(const Paint *p, const Where *w, const Panels *s)
{
    const LatticeMap *m = &s->map[WHERE_METHODS];
    if (s->title[WHERE_METHODS].h)
        canvas_text(p->c, s->title[WHERE_METHODS].y, m->r.x, s->title[WHERE_METHODS].w, STYLE_HEADER, "the picture");
    if (!w->picture.v.values)
        return;
    panels_picture(p, s, WHERE_METHODS, &w->picture, w->object ? on_object : NULL, w);
    panels_mark(p, s, WHERE_METHODS, w->row, w->col, shown_ref(&w->picture.v, w->picture.v.cell), false);
}

/* Map m in one of the panels. */
static void draw_map(const Paint *p, const Where *w, const Panels *s, int panel, int m, bool focus)
{
    const LatticeMap *map = &s->map[panel];
    char why[128];
    missing(w, m, why, sizeof why);
    ColourScale scale = layer_scale(p, w, m);
    const bool told = panel == WHERE_METHODS && m == w->focus; /* below the table */
    draw_title(p, w, title_of(w, s, panel, m), m, *why || told ? NULL : &scale);
    if (*why) {
        canvas_wrap(p->c, map->r, STYLE_DIM, why);
        return;
    }
    Layer layer = {w, m};
    Ref ref = {0};
    lattice_map_draw(p, map, &scale, layer_value, &layer);
    if (w->object)
        panels_outline(p, s, panel, on_object, w);
    layer_value(&layer, w->row, w->col, &ref);
    panels_mark(p, s, panel, w->row, w->col, ref, focus && panel == w->focus);
}

/* --- the arrangement --- */

/* The maps, and the table with the bar of the map in focus: below them, or in a column beside them, under the picture.
 */
typedef struct Layout {
    Panels maps;
    Rect table, bar;
    bool beside, large; /* the map in focus once more */
} Layout;

static bool layout_beside(const Paint *p, const Where *w, Rect r, int square, Layout *out)
{
    Rect maps, text;
    if (!panels_beside(r, WHERE_METHODS, w->l.rows, w->l.cols, SQUARE_MOST, square, ASIDE, &maps, &text))
        return false;
    Layout l = {.beside = true,
                .maps = panels_make(p, maps, WHERE_METHODS, w->l.rows, w->l.cols, SQUARE_MOST, w->row, w->col)};
    int lines = ASIDE_LINES + (where_narrow(w, text.w) ? WHERE_METHODS : 0);
    Rect picture = text;
    picture.h -= lines;
    if (w->has_picture && picture.h > 0 && panels_add(p, &l.maps, picture, l.maps.map[0].k))
        rect_cut(&text, 't', 1 + l.maps.map[WHERE_METHODS].r.h);
    l.table = text;
    *out = l;
    return true;
}

/* The picture itself stands behind the maps where that makes none of them smaller. */
static Layout layout(const Paint *p, const Where *w, Rect r)
{
    Layout l = {.beside = false};
    Rect room = r;
    if (r.h >= TABLE_LEAST + 2)
        l.bar = rect_cut(&room, 'b', 1);
    if (r.h >= TABLE_LEAST)
        l.table = rect_cut(&room, 'b', WHERE_METHODS + 1);
    else if (r.h >= 4)
        l.table = rect_cut(&room, 'b', 1);
    int count = WHERE_METHODS, square = panels_square(p, room, count, w->l.rows, w->l.cols, SQUARE_MOST);
    Rect more = r, line = rect_cut(&more, 'b', r.h >= 4 ? 1 : 0);
    if (!square && (square = panels_square(p, more, count, w->l.rows, w->l.cols, SQUARE_MOST)) > 0) {
        room = more; /* whole maps before the numbers of those that are not picked */
        l.table = line;
        l.bar.h = 0;
    }
    bool picture = w->has_picture && square > 1 &&
                   square == panels_square(p, room, count + 1, w->l.rows, w->l.cols, SQUARE_MOST);
    Layout aside;
    if (r.h >= TABLE_LEAST && layout_beside(p, w, r, square - (square && w->has_picture && !picture), &aside) &&
        (aside.maps.map[0].k > square || aside.maps.count > count))
        return aside;
    l.maps = panels_make(p, room, count + picture, w->l.rows, w->l.cols, SQUARE_MOST, w->row, w->col);
    int unused = room.h - panels_lines(&l.maps); /* the table follows the maps */
    l.table.y -= l.table.h ? unused : 0;
    l.table.h += l.table.h && !l.bar.h ? unused : 0;
    l.bar.y -= l.bar.h ? unused : 0;
    Rect rest = r;
    rect_cut(&rest, 't', l.bar.y + 1 - r.y);
    const LatticeMap *small = &l.maps.map[0];
    const bool whole = small->rows == w->l.rows && small->cols == w->l.cols;
    l.large = l.bar.h && !picture && panels_add(p, &l.maps, rest, SQUARE_MOST);
    if (l.large && whole && l.maps.map[count].k <= small->k) {
        l.large = false;
        l.maps.count--;
    }
    return l;
}

static void draw_panels(const Paint *p, const Where *w, const Layout *l, bool focus)
{
    for (int m = 0; m < WHERE_METHODS; m++)
        draw_map(p, w, &l->maps, m, m, focus);
    char why[128];
    missing(w, w->large, why, sizeof why);
    if (l->large && !*why)
        draw_map(p, w, &l->maps, WHERE_METHODS, w->large, false);
    else if (!l->large && l->maps.count > WHERE_METHODS)
        draw_picture(p, w, &l->maps);
}

/* Does the occlusion that has the room have no note to say how far it is? Beside each other sides have no notes. */
static bool under_way(const Where *w)
{
    size_t done, total;
    return w->large == WHERE_OCCLUSION && w->s->compare == COMPARE_SIDES &&
           where_occluded_progress(&w->occlusion, &done, &total) && done < total;
}

/* Whose scale it is stands in front of it: the table above it has four. */
static void draw_bar(const Paint *p, const Where *w, int m, Rect line)
{
    char why[128];
    Buf far = {0};
    ColourScale scale = layer_scale(p, w, m);
    missing(w, m, why, sizeof why);
    if (line.h && under_way(w) && where_put_progress(p, w, &far))
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%s", buf_str(&far));
    else if (line.h && *why)
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, why);
    else if (line.h) {
        const char *name = where_word((WhereMethod)m);
        if (line.w >= utf8_cells(name) + 1 + BAR_LEAST)
            rect_cut(&line, 'l', 1 + canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT, name));
        colour_scale_bar(p, &scale, line.y, line.x, line.w);
    }
    buf_free(&far);
}

/* Behind the name of the only row: in the line of its scale there is no room to say so. */
static void put_shared(const Paint *p, const Where *w, Rect line)
{
    static const char WORD[] = "shared";
    char number[16];
    number_text(number, sizeof number, where_value(w, w->large, w->at), WHERE_NUMBER_BRIEF);
    const int name = 1 + utf8_cells(where_word((WhereMethod)w->large));
    if (layer_scale(p, w, w->large).shared && name + utf8_cells(WORD) + utf8_cells(number) + 2 <= line.w)
        canvas_text(p->c, line.y, line.x + name + 1, line.w, STYLE_DIM, WORD);
}

static void draw_below(const Paint *p, const Where *w, const Layout *l)
{
    Rect table = l->table;
    if (table.h > WHERE_METHODS)
        where_draw_share(p, w, where_draw_header(p, w, rect_cut(&table, 't', 1), false));
    for (int m = 0; m < WHERE_METHODS; m++)
        if (table.h && (l->table.h >= WHERE_METHODS || m == w->large))
            where_draw_note(p, w, where_draw_row(p, w, rect_cut(&table, 't', 1), m), m);
    if (l->table.h < WHERE_METHODS && table.h) {
        Rect line = rect_cut(&table, 't', 1);
        const int used = where_draw_mass(p, w, line);
        if (used)
            put_shared(p, w, (Rect){l->table.y, line.x, 1, line.w});
        rect_cut(&line, 'l', used ? used + 1 : 0);
        if (!used && !under_way(w) &&
            (!w->object || l->maps.map[0].k > 1 || line.w >= ASIDE_LINE)) /* smaller ones have no outline */
            where_draw_share(p, w, line);
        else
            draw_bar(p, w, w->large, line);
    }
    if (l->table.h < WHERE_METHODS && w->focus == WHERE_ROLLOUT)
        where_draw_sums(p, w, table, 0);
    draw_bar(p, w, w->focus, l->bar);
}

/* What rollout has on the object over many pictures, and what it would have there whatever the model had learned. */
static void draw_base_rates(const Paint *p, const Where *w, Rect *r)
{
    if (*w->s->model_path || r->h < BASE_RATES || !w->object)
        return;
    rect_cut(r, 't', 1);
    char text[240];
    utf8_print(text, sizeof text,
               "Over %d held-out pictures rollout%s has %.0f %% on the object; before training %.0f %%; one mean map "
               "for every picture %.0f %%; brightness alone %.0f %%.",
               (int)FIGURES_PICTURES, where_partly(w->s, w->side) ? " through all blocks" : "",
               100 * figures_mean(FIGURE_MEAN_ROLLOUT), 100 * figures_mean(FIGURE_MEAN_ROLLOUT_RANDOM),
               100 * figures_mean(FIGURE_MEAN_ROLLOUT_FIXED), 100 * figures_mean(FIGURE_MEAN_BRIGHTNESS));
    rect_cut(r, 't', canvas_wrap(p->c, *r, STYLE_DIM, text));
}

/* A title where there is more than one note. */
static void draw_aside_note(const Paint *p, const Where *w, Rect *r, int m, bool titled)
{
    Buf text = {0};
    where_note_text(p, w, m, false, &text);
    if (titled) {
        rect_cut(r, 't', 1);
        canvas_text(p->c, r->y, r->x, r->w, m == w->focus ? STYLE_TITLE : STYLE_TEXT, where_word((WhereMethod)m));
        rect_cut(r, 't', 1);
    }
    rect_cut(r, 't', canvas_wrap(p->c, *r, STYLE_DIM, buf_str(&text)));
    if (m == WHERE_ROLLOUT)
        rect_cut(r, 't', where_draw_sums(p, w, *r, 0));
    buf_free(&text);
}

/* The table first, then in words what the maps are made of: that in focus, then those whose numbers have a sign. */
static void draw_beside(const Paint *p, const Where *w, const Panels *maps, Rect r)
{
    bool narrow = where_narrow(w, r.w);
    where_draw_header(p, w, rect_cut(&r, 't', 1), narrow);
    for (int m = 0; m < WHERE_METHODS; m++)
        where_draw_row(p, w, rect_cut(&r, 't', 1 + narrow), m);
    if (under_way(w) || !title_has_scale(p, w, maps))
        draw_bar(p, w, w->focus, rect_cut(&r, 't', 1));
    bool titled = r.h > ASIDE_NOTE;
    if (titled) {
        rect_cut(&r, 't', 1);
        where_draw_share(p, w, rect_cut(&r, 't', narrow ? 2 : 1));
    }
    draw_aside_note(p, w, &r, w->focus, titled);
    if (!titled && r.h)
        where_draw_share(p, w, rect_cut(&r, 't', 1));
    if (w->focus == WHERE_ROLLOUT)
        draw_base_rates(p, w, &r);
    for (int m = WHERE_METHODS - 1; m >= 0; m--)
        if (m != w->focus && r.h >= ASIDE_NOTE)
            draw_aside_note(p, w, &r, m, true);
}

static void draw_where(const Paint *p, const Where *w, Rect r, bool focus)
{
    Layout l = layout(p, w, r);
    draw_panels(p, w, &l, focus);
    if (l.table.h == 1 && l.table.w > ASIDE_LINE + ASIDE) /* then maps may have no room for all; its number has */
        lattice_rows_part(p, l.maps.map[0].row, l.maps.map[0].rows, w->l.rows, &l.table, ASIDE_LINE + 2);
    if (l.beside)
        draw_beside(p, w, &l.maps, l.table);
    else
        draw_below(p, w, &l);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Where w;
    if (open_where(p->s, side, &w))
        draw_where(p, &w, r, focus);
    else
        canvas_wrap(p->c, r, STYLE_DIM, "A and B have no patches of one number to subtract.");
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    for (int m = 0; m < WHERE_OCCLUSION; m++) {
        needs_add(out, side, where_path(s, side, (WhereMethod)m));
        needs_add(out, side, where_mass_path(s, side, (WhereMethod)m));
    }
    needs_add(out, side, sum_path(s, side));
    needs_add(out, side, patches_sum_path(s, side));
    if (side != SIDE_DIFF)
        needs_add(out, side, pixels_input(s, side));
    needs_add(out, side == SIDE_DIFF ? SIDE_B : side, shown_site(s, side, SITE_WHERE_OBJECT_SHARE));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Where w;
    int m, row, col;
    char label[32];
    if (!open_where(p->s, side, &w))
        return false;
    Layout l = layout(p, &w, r);
    if (!panels_hit(&l.maps, y, x, &m, &row, &col))
        return false;
    int patch = row * w.l.cols + col;
    if (m == WHERE_METHODS)
        m = w.large;
    if (patch == w.at && m == w.focus)
        buf_puts(command, "in");
    else
        buf_printf(command, "where %s %s", where_word((WhereMethod)m), axis_label(w.p, patch, label, sizeof label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)s, (void)side;
    buf_puts(out, "where did it look?\nwhere?");
}

static const ViewWay WAYS[] = {{"rollout    attention through all blocks", "where rollout"},
                               {"attention  of the last block alone", "where attention"},
                               {"gradient   gradient × input", "where gradient"},
                               {"occlusion  what the answer loses when a patch is grey", "where occlusion"},
                               {NULL, NULL}};

static const KeyBinding KEYS[] = {{"K", "where depth -1", "depth", "the rollout through one block less", 0, 9, NULL},
                                  {"J", "where depth +1", NULL, "the rollout through one block more", 0, 0, NULL},
                                  {"[", "where depth -1", NULL, "the rollout through one block less", 0, 0, NULL},
                                  {"]", "where depth +1", NULL, "the rollout through one block more", 0, 0, NULL},
                                  {"S-Up", "where depth -1", NULL, "the rollout through one block less", 0, 0, NULL},
                                  {"S-Down", "where depth +1", NULL, "the rollout through one block more", 0, 0, NULL},
                                  {.key = NULL}};

VIEW_SPEC(WHERE, .name = "where", .traits = VIEW_HAS_MEAN | VIEW_WIDE, .keys = KEYS,
          .sentence = "Four maps of where it looked, scaled apart; below 0 a patch speaks against.", .ways = WAYS);
