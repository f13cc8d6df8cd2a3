/* What tokens are like, place by place: the cosine of the picked one to all others without their mean, the three
 * principal components of all as red, green and blue, and how long every vector is. Patches as maps, a column per place
 * and a row per question, beside the picture; words below each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/screens.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/learned/alike_spot.h"
#include "tui/views/picture/picture.h"
#include "tui/views/spread.h"

enum { NAMED = 10, BRIEF = 70, ALL_SAID = 120, BAR_LEAST = 12, SHARE_LINES = 4, PERCENT = 5, NUMBER_LINES = 8 };
enum { TITLED = 23 /* "centred cosine to r4c4" */ };
enum { PRINCIPAL = 90 /* cells from which what the colours are is written out */ };

static HeatLook look_of(const Spot *v, Band band, int token)
{
    HeatLook h = {.ref = {0}};
    if (v->component[0].node != NO_NODE)
        h.ref = shown_ref(&v->component[0], (size_t)token);
    if (band == COLOURS && alike_kept(v, token)) { /* as a difference of 0 is */
        h.colour = colour_scale_colour(&v->scale[COSINE], 0);
        return h;
    }
    for (int k = 0; band == COLOURS && k < COMPONENTS; k++) {
        float x = v->most[k] > 0 ? v->component[k].values[token] / v->most[k] : 0;
        x = x >= -1 && x <= 1 ? x : 0; /* no number: grey */
        Colour channel = (Colour)(127.5F + 127.5F * x);
        h.level = k == 0 ? (int)(channel * 9 / 255) : h.level;
        h.colour = h.colour << 8 | channel;
    }
    if (band == COLOURS)
        return h;
    size_t cell = alike_cell(v, band, token);
    float x = v->value[band].values[cell];
    const ColourScale *s = &v->scale[band];
    return (HeatLook){colour_scale_colour(s, x), colour_scale_level(s, x), colour_scale_sign(s, x),
                      shown_ref(&v->value[band], cell)};
}

/* --- words beside the colours --- */

/* Its name above a column of maps or words, its number where there is no more room: the start is the front of all.
 * Returns the columns used. */
static int draw_place_at(const Paint *p, const Alike *a, int place, Rect r)
{
    char name[32];
    bool here = place == a->here;
    const int row = alike_row_of(a, place);
    if (row >= 0)
        snprintf(name, sizeof name, "%s%d", r.w < 9 ? "" : "block ", row);
    else if (row == ALIKE_PIXELS)
        snprintf(name, sizeof name, "%s", r.w > 6 || (r.w == 6 && !here) ? "pixels" : "px");
    else
        snprintf(name, sizeof name, "%s", r.w > 5 || (r.w == 5 && !here) ? "start" : "st");
    bool before = place == a->first && (place > 0 || (a->more && utf8_cells(name) < r.w)),
         after = place == a->first + a->shown - 1 && place < a->places - 1;
    const char *mark = here ? ">" : before ? "‹" : r.w > ALIKE_THIN && utf8_cells(name) < r.w ? " " : "";
    const char *on = !after ? "" : r.w > ALIKE_ALL ? " ›" : "›";
    return canvas_printf(p->c, r.y, r.x, r.w, here ? STYLE_TITLE : STYLE_HEADER, "%s%s%s", mark, name, on);
}

static void draw_place(const Paint *p, const Alike *a, int place)
{
    draw_place_at(p, a, place, (Rect){a->r.y, alike_place_x(a, place), 1, alike_place_wide(a, place)});
}

/* Which place's lengths the bar shows the scale of. */
static void put_scale_of(int row, bool brief, char *out, size_t n)
{
    if (brief || row < 0)
        snprintf(out, n, "; own scale each, %s", brief ? ">" : row == ALIKE_PIXELS ? "pixels" : "the start");
    else
        snprintf(out, n, "; own scale each, block %d", row);
}

/* What the colours are, with the numbers of the place in focus. Returns the columns used. */
static int draw_title(const Paint *p, const Spot *v, Band band, Rect line, bool bar)
{
    char label[64], text[192];
    bool brief = line.w < BRIEF || (!bar && v->a->wide >= ALIKE_ALL && line.w < ALL_SAID),
         there = v->value[band].values;
    int n;
    if (band == COLOURS && bar) /* what misleads is said before what is missing */
        return alike_draw_components(p, v, line, brief);
    if (bar && there && (alike_apart(v->a, line.w) || (v->a->side == SIDE_DIFF && line.w < BRIEF)) &&
        (n = alike_draw_apart(p, v, band, line)) > 0)
        return n;
    shown_pair(v->a->of_a, v->a->p, v->a->at, 20, label, sizeof label);
    if (band == COSINE)
        n = utf8_print(text, sizeof text,
                       v->a->of_a && brief ? "%scosine%.0s%s" /* the pane is named after both */
                       : v->a->words       ? "%scosine to \"%.20s\"%s"
                                           : "%scosine to %.20s%s",
                       brief ? "centred " : "", label, brief ? "" : ", the mean of all taken away");
    else if (band == NORMS) {
        Buf longest = {0};
        static const char *const PER_PLACE[][3] = {{"length of each vector, a scale per place",
                                                    "length, a scale per place", "length, own scales"},
                                                   {"length of each vector", "length", "length"},
                                                   {"length of each vector, one scale", "length, one scale", "length"}};
        const bool focus = v->a->side != SIDE_DIFF && v->a->shown > 1; /* the bar is of the place in focus */
        const char *const *per = PER_PLACE[v->a->side == SIDE_DIFF ? 2 : focus];
        char of[40] = "";
        if (focus && bar)
            put_scale_of(alike_row_of(v->a, v->a->here), brief, of, sizeof of);
        if (utf8_cells(per[2]) + utf8_cells(of) > line.w) { /* no room for a scale either */
            per = PER_PLACE[0];
            *of = '\0';
        }
        line.w -= utf8_cells(of);
        int form = brief;
        while (form < 2 && utf8_cells(per[form]) > line.w)
            form++;
        n = utf8_print(text, sizeof text, "%s", bar ? per[form] : "length");
        n = bar ? n : 0; /* its column is named above */
        alike_put_longest(v, bar ? "; " : "", line.w - n - (bar ? BAR_LEAST + 2 : 0), &longest);
        if (!longest.len && !brief && bar) { /* which is longest comes before what the scale is of */
            n = utf8_print(text, sizeof text, "%s", per[2]);
            alike_put_longest(v, "; ", line.w - n - BAR_LEAST - 2, &longest);
        }
        text[n] = '\0';
        n += utf8_print(text + n, sizeof text - (size_t)n, "%s%s", buf_str(&longest), of);
        line.w += utf8_cells(of);
        buf_free(&longest);
    } else
        n = utf8_print(text, sizeof text, "%s%s", line.w < PRINCIPAL ? "PCA" : "principal components",
                       v->a->side == SIDE_DIFF ? " of what changed" : "");
    if (band == COLOURS && there) {
        Buf shares = {0};
        alike_put_shares(v, brief, &shares);
        n += utf8_print(text + n, sizeof text - (size_t)n, "%s", buf_str(&shares));
        buf_free(&shares);
    }
    if (!bar && band != COSINE && utf8_cells(text) > line.w) /* its column is named above */
        return 0;
    int used = canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT, text) + 2;
    if (bar && band != COLOURS && there && line.w - used >= BAR_LEAST)
        colour_scale_bar(p, &v->scale[band], line.y, line.x + used, line.w - used);
    return used;
}

static void put_missing(const Paint *p, const Spot *v, Rect r)
{
    const Shown *c = &v->value[COSINE];
    canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, !c->graph || c->node == NO_NODE ? "-" : "computing…");
}

/* --- patches --- */

typedef struct Map {
    const Spot *v;
    Band band;
} Map;

static HeatLook look_at(const void *context, int row, int col)
{
    const Map *m = context;
    return look_of(m->v, m->band, (m->v->a->top + row) * m->v->a->l.cols + col);
}

static void draw_map(const Paint *p, const Spot *v, Band band, Rect r, bool focus)
{
    const Alike *a = v->a;
    if (!v->value[band].values) {
        put_missing(p, v, r);
        return;
    }
    heat_paint(p, r, a->rows, a->l.cols, a->size, look_at, &(Map){v, band});
    const Rect cell = heat_mark_cell(p, r, a->rows, a->l.cols, a->size, a->row - a->top, a->col,
                                     look_of(v, band, a->at).ref);
    alike_draw_same(p, v, band, r, cell.y);
    focus_cursor(p, focus, cell.y, cell.x);
}

static void draw_picture(const Paint *p, const Spot *v)
{
    const Alike *a = v->a;
    Rect r = alike_map(p, a, 0, a->first), below = {r.y + r.h + 1, a->r.x, a->r.y + a->r.h - r.y - r.h - 1, a->wide};
    r.x = a->r.x;
    picture_file(p, r, &shown_input(p->s, a->side)->resized);
    heat_mark_cell(p, r, a->l.rows, a->l.cols, a->size, a->row, a->col, (Ref){0});
    if (a->bands > 2) /* the title of the third begins at the left */
        below.h = r.h;
    else if (below.h == NUMBER_LINES - 1) /* rather all of them than an empty line */
        below = (Rect){below.y - 1, below.x, NUMBER_LINES, below.w};
    alike_draw_numbers(p, v, below);
}

static void fill(const Paint *p, Rect r, HeatLook h)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            canvas_pixel(p->c, y, x, -1, h.colour, h.level, h.sign, h.ref);
}

/* Below the maps, where there is room: how much of the tokens' variance lies along each of the three directions. */
static Rect shares_rect(const Paint *p, const Alike *a)
{
    Rect first = alike_map(p, a, 0, a->first), last = alike_map(p, a, a->bands - 1, a->first);
    int y = last.y + last.h + 1, numbers = first.y + first.h + 1 + NUMBER_LINES;
    bool room = a->side != SIDE_DIFF && a->left && y >= numbers && y + SHARE_LINES <= a->r.y + a->r.h;
    return room ? (Rect){y, a->r.x, SHARE_LINES, a->r.w} : (Rect){0};
}

static void draw_shares(const Paint *p, const Spot *v, Rect r, int x)
{
    static const Style STYLE[COMPONENTS] = {STYLE_ERROR, STYLE_GOOD, STYLE_SIDE_B}; /* red, green, blue */
    for (int k = 0; k < COMPONENTS; k++) {
        const Shown *share = &v->share[k];
        if (!share->values)
            continue;
        char text[16];
        int y = r.y + 1 + k, bar = v->a->wide - PERCENT;
        float part = share->values[0];
        utf8_print(text, sizeof text, "%.0f %%", 100 * (double)part);
        canvas_right(p->c, y, x + bar, PERCENT, STYLE_TEXT, text);
        canvas_ref(p->c, y, x + bar, PERCENT, shown_ref(share, 0));
        canvas_bar(p->c, y, x, bar, (double)part, STYLE[k], shown_ref(share, 0));
    }
}

static void draw_short_bar(const Paint *p, const ColourScale *s, Rect line)
{
    alike_draw_bar(p, s, line, 0);
}

/* The last line of the pane where no map stands on it, else −1. */
static int spare_line(const Paint *p, const Alike *a)
{
    const Rect low = alike_map(p, a, a->bands - 1, a->first + a->shown - 1);
    return low.y + low.h < a->r.y + a->r.h ? a->r.y + a->r.h - 1 : -1;
}

/* Above a row's map: the token and that the mean is taken away, from the pane's edge, so far to the left, where it
 * takes that. */
static int draw_cosine_head(const Paint *p, const Alike *a, Rect map, int left)
{
    static const char *const SAID[] = {"centred cosine to %.20s", "centred cosine%.0s", "centred cos%.0s",
                                       "centred%.0s", "cosine"};
    char label[64], text[96] = "";
    const int room = map.w + a->gap - 1;
    axis_label(a->p, a->at, label, sizeof label);
    for (size_t i = 0; i < 2 * sizeof SAID / sizeof *SAID; i++) {
        const int before = i % 2 ? left : 0;
        utf8_print(text, sizeof text, SAID[i / 2], label);
        const int more = i / 2 == 2 &&
                         map.x + map.w + 1 <
                             a->r.x + a->r.w; /* before a head shorter than its map, which goes so far to the right */
        if (utf8_cells(text) + (i < 4) <= room + before + more)
            return map.x - before +
                   canvas_text(p->c, map.y - 1, map.x - before, room + before + more, STYLE_TEXT, text);
    }
    return map.x + canvas_text(p->c, map.y - 1, map.x, room + 1, STYLE_TEXT, text);
}

/* What stands above a row's second map. */
static const char *components_head(const Alike *a, int wide)
{
    static const char *const SAID[][3] = {{"components", "PCA rgb", "rgb"}, {"what changed", "changed", "rgb"}};
    const char *const *said = SAID[a->side == SIDE_DIFF];
    if (wide >= NAMED && wide + a->gap > utf8_cells(said[0]))
        return said[0];
    return wide + a->gap > utf8_cells(said[1]) ? said[1] : said[2];
}

static void draw_down(const Paint *p, const Alike *a, bool focus)
{
    const int spare = spare_line(p, a);
    static const char *const LENGTH = "length", *const OWN = "each row's own";
    int named_to = 0;
    for (int place = a->first; place < a->first + a->shown; place++) {
        Spot v = alike_spot(p, a, place);
        Rect row = alike_map(p, a, 0, place);
        draw_place_at(p, a, place, (Rect){row.y + (row.h - 1) / 2, a->r.x, 1, a->left});
        int named = 0;
        if (place == a->here && spare >= 0) /* whose lengths the scale is of */
            named = draw_place_at(p, a, place, (Rect){spare, a->r.x, 1, a->left}) + 1;
        for (int b = 0; b < a->bands; b++) {
            Rect r = alike_map(p, a, b, place);
            if (place == a->first && a->band[b] == COSINE)
                named_to = draw_cosine_head(p, a, r, b ? 0 : r.x - a->r.x);
            else if (place == a->first)
                canvas_text(p->c, r.y - 1, r.x + (b && named_to >= r.x), r.w + a->gap, STYLE_TEXT,
                            a->band[b] != COLOURS ? LENGTH : components_head(a, r.w));
            if (place == a->here && a->band[b] != COLOURS && v.value[a->band[b]].values)
                alike_draw_bar(p, &v.scale[a->band[b]],
                               (Rect){spare >= 0         ? spare
                                      : place > a->first ? r.y - 1
                                                         : r.y + r.h,
                                      r.x + (b == 0 && named > a->left), 1, r.w},
                               b < a->bands - 1 ? a->gap - 1 : 0);
            else if (place == a->here && a->band[b] == COLOURS && spare >= 0 && a->shown > 1 &&
                     utf8_cells(OWN) <= r.w) /* they compare in a row */
                canvas_right(p->c, spare, r.x, r.w, STYLE_DIM, OWN);
            draw_map(p, &v, a->band[b], r, focus && place == a->here && b == 0);
        }
        const Rect last = alike_map(p, a, 0, a->first + a->shown - 1);
        const int y = a->r.y + a->r.h - 1;
        if (place == a->here && a->coloured && spare > last.y + last.h) /* what the colours are */
            canvas_text(p->c, spare - 1, a->r.x, a->r.w, STYLE_DIM, alike_own(a, a->r.w));
        if (place == a->here && y > last.y + last.h && spare < 0)
            alike_draw_longest(p, &v, (Rect){y, a->r.x, 1, a->r.w});
    }
}

/* Below all that, where there is room: the tokens most like the picked one, place by place; in A − B those whose
 * likeness changed most, and none that did not. */
static Rect nearest_rect(const Paint *p, const Alike *a)
{
    Rect last = alike_map(p, a, a->bands - 1, a->first), shares = shares_rect(p, a);
    int y = shares.h ? shares.y + shares.h + 1 : last.y + last.h + 1, lines = a->r.y + a->r.h - y;
    bool beside = !shares.h && a->left && a->bands < 3; /* the numbers below the picture go on for so long */
    return lines > 2 && a->wide >= NAMED && !beside ? (Rect){y, a->r.x, lines, a->r.w} : (Rect){0};
}

static void draw_maps(const Paint *p, const Alike *a, bool focus)
{
    Rect nearest = nearest_rect(p, a);
    Rect shares = shares_rect(p, a), longest = {0};
    bool told = a->left || a->side == SIDE_DIFF || a->shown == 1; /* beside the picture, or beside the only map */
    for (int b = 0; b < a->bands; b++)
        told = told || a->band[b] == NORMS;
    if (!told && nearest.h > 3)
        longest = rect_cut(&nearest, 'b', 1);
    const int spare = nearest.h || shares.h ? -1 : spare_line(p, a);
    for (int place = a->first; place < a->first + a->shown; place++) {
        Spot v = alike_spot(p, a, place);
        const bool here = place == a->here;
        draw_place(p, a, place);
        bool scaled = alike_apart(a, a->r.w) || a->r.w >= BRIEF; /* does the cosine's title have its scale? */
        for (int b = 0; b < a->bands; b++) {
            Rect r = alike_map(p, a, b, place);
            Rect line = {r.y - 1, a->r.x, 1, a->r.w};
            if (here && b == 0)
                lattice_rows_part(p, a->top, a->rows, a->l.rows, &line, TITLED);
            const int used = here ? draw_title(p, &v, a->band[b], line, true) : 0;
            scaled |= a->band[b] == COSINE && line.w - used >= BAR_LEAST;
            draw_map(p, &v, a->band[b], r, focus && here && b == 0);
        }
        if (here && spare >= 0)
            alike_draw_spare(p, &v, (Rect){spare, a->r.x + a->left, 1, a->r.w - a->left}, scaled, focus);
        Rect beside = alike_map(p, a, 0, place);
        beside.h = a->bands == 1 && spare >= 0 ? spare - beside.y : beside.h;
        if (here && a->left)
            draw_picture(p, &v);
        else if (a->shown == 1 && a->r.w - a->wide > ALIKE_NUMBER)
            alike_draw_numbers(p, &v, (Rect){beside.y, beside.x + a->wide + 1, beside.h, a->r.w - a->wide - 1});
        if (here && longest.h)
            alike_draw_longest(p, &v, longest);
        if (shares.h)
            draw_shares(p, &v, shares, alike_place_x(a, place));
        if (nearest.h)
            alike_draw_nearest(p, &v, nearest, alike_place_x(a, place));
    }
    char label[32], most[96];
    if (nearest.h) {
        utf8_print(most, sizeof most, a->side == SIDE_DIFF ? "cosine to %s changed most%s" : "most like %s%s",
                   axis_label(a->p, a->at, label, sizeof label), a->shown > 1 ? ", place by place" : "");
        shown_clauses(p, nearest.y, nearest.x, nearest.w, STYLE_TEXT, most);
    }
    for (int k = 0; shares.h && k < COMPONENTS; k++)
        canvas_text(p->c, shares.y + 1 + k, a->r.x, a->left - 1, STYLE_DIM, ALIKE_COLOUR[k]);
    if (shares.h)
        canvas_text(p->c, shares.y, a->r.x, a->r.w, STYLE_TEXT, "how much of all variance those three directions hold");
}

/* --- words --- */

static int swatch_wide(const Alike *a)
{
    return a->wide > ALIKE_ALL ? a->wide - ALIKE_ALL + ALIKE_SWATCH : ALIKE_SWATCH;
}

/* What stands below each other in the columns of a place. */
static void draw_heads(const Paint *p, const Alike *a, int place)
{
    int y = a->r.y + a->head - 1, x = alike_place_x(a, place), wide = alike_place_wide(a, place);
    if (a->head < 2 || wide < ALIKE_NUMBER)
        return;
    canvas_text(p->c, y, x, ALIKE_NUMBER, STYLE_AXIS, "cosine");
    if (a->coloured && wide > ALIKE_NUMBER)
        canvas_text(p->c, y, x + ALIKE_NUMBER + 1, swatch_wide(a), STYLE_AXIS,
                    swatch_wide(a) < ALIKE_LEAST ? "PCA"
                    : a->side == SIDE_DIFF       ? "PCA change"
                                                 : "components");
    if (a->wide >= ALIKE_ALL)
        canvas_right(p->c, y, x + a->wide - ALIKE_LENGTH, ALIKE_LENGTH, STYLE_AXIS, "length");
}

/* The cosine as a number on its colour, the components as a colour, the length. */
static void draw_word(const Paint *p, const Spot *v, int word, Rect r)
{
    const Shown *c = &v->value[COSINE], *norm = &v->value[NORMS];
    const int y = r.y + (v->a->pitch - 1) / 2;
    if (!c->values) {
        put_missing(p, v, (Rect){y, r.x, 1, r.w});
        return;
    }
    const HeatLook h = look_of(v, COSINE, word);
    if (h.level || r.w < ALIKE_NUMBER) /* else a number has no ground */
        fill(p, (Rect){r.y, r.x, r.h, r.w < ALIKE_NUMBER ? r.w : ALIKE_NUMBER}, h);
    if (r.w < ALIKE_NUMBER)
        return;
    alike_right_number(p, v, COSINE, h.ref.cell, (Rect){y, r.x, 1, ALIKE_NUMBER}, STYLE_TEXT);
    word_ground(p, y, r.x, ALIKE_NUMBER, &v->scale[COSINE], c->values[h.ref.cell], h.ref);
    if (v->value[COLOURS].values && r.w > ALIKE_NUMBER)
        fill(p, (Rect){r.y, r.x + ALIKE_NUMBER + 1, r.h, swatch_wide(v->a)}, look_of(v, COLOURS, word));
    if (norm->values && r.w >= ALIKE_ALL)
        alike_right_number(p, v, NORMS, alike_cell(v, NORMS, word),
                           (Rect){y, r.x + r.w - ALIKE_LENGTH, 1, ALIKE_LENGTH}, STYLE_TEXT);
}

/* What the columns are; noted: what the colours are stands above. */
static void draw_legend(const Paint *p, const Spot *v, Rect line, bool noted)
{
    const bool own = !noted && alike_coloured(v) && v->a->wide < ALIKE_ALL; /* before their shares */
    const bool scaled = v->a->thin < v->a->wide && v->a->side != SIDE_DIFF;
    char label[64], to[96];
    utf8_print(to, sizeof to, "centred cosine to \"%.20s\"  ", axis_label(v->a->p, v->a->at, label, sizeof label));
    if (!own && scaled && utf8_cells(to) + 2 * ALIKE_END > line.w) { /* the pane is named after it */
        static const char MEAN[] = "centred cosine";
        const bool mean = utf8_cells(MEAN) + 2 + 2 * ALIKE_END <= line.w;
        rect_cut(&line, 'l', 2 + canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT, mean ? MEAN : "cosine"));
    } else if (own)
        rect_cut(&line, 'l',
                 2 + canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "centred cosine to \"%.20s\"",
                                   axis_label(v->a->p, v->a->at, label, sizeof label)));
    else
        rect_cut(&line, 'l', draw_title(p, v, COSINE, line, false));
    if ((v->a->thin < v->a->wide || v->a->side == SIDE_DIFF) && line.w >= 2 * ALIKE_END) {
        draw_short_bar(p, &v->scale[COSINE], (Rect){line.y, line.x, 1, line.w < ALIKE_SHORT ? line.w : ALIKE_SHORT});
        rect_cut(&line, 'l', ALIKE_SHORT + 2);
    } else if (v->a->side == SIDE_DIFF) /* its own scale's ends at least */
        rect_cut(&line, 'l',
                 2 + canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "±%.2g", (double)v->scale[COSINE].high));
    if (own)
        canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT, alike_own(v->a, line.w));
    for (int b = COLOURS; !own && b < (v->a->wide >= ALIKE_ALL ? BANDS : NORMS); b++)
        if (b != COLOURS || v->a->coloured)
            rect_cut(&line, 'l', draw_title(p, v, (Band)b, line, false));
}

static void draw_words(const Paint *p, const Alike *a, bool focus)
{
    const int count = alike_words(a), first = alike_token(a, 0), last = alike_token(a, count - 1);
    if (count < a->p->n && last - first < count)
        canvas_printf(p->c, a->r.y + a->head - 1, a->r.x, a->left - 1, STYLE_DIM, "%d–%d/%d", first + 1, first + count,
                      a->p->n);
    else if (count < a->p->n && first == a->pin)
        canvas_printf(p->c, a->r.y + a->head - 1, a->r.x, a->left - 1, STYLE_DIM, "%d, %d–%d", first + 1,
                      alike_token(a, 1) + 1, last + 1);
    else if (count < a->p->n)
        canvas_printf(p->c, a->r.y + a->head - 1, a->r.x, a->left - 1, STYLE_DIM, "%d–%d, %d", first + 1,
                      alike_token(a, count - 2) + 1, last + 1);
    for (int i = 0; i < count; i++) {
        char pair[64], label[64];
        const int token = alike_token(a, i);
        bool here = token == a->at;
        int y = a->r.y + a->head + i * a->pitch + (a->pitch - 1) / 2;
        shown_pair(a->of_a, a->p, token, sizeof pair - 1, pair, sizeof pair);
        utf8_fit(label, sizeof label, pair, a->left - 1 - WORD_MARKS); /* "tired…" rather than "…/w…" */
        canvas_printf(p->c, y, a->r.x, a->left - 1, here ? STYLE_CURSOR : STYLE_TEXT, "%c%s%c",
                      here ? word_mark(label, true, false) : ' ', label, here ? word_mark(label, true, true) : ' ');
        if (here)
            focus_cursor(p, focus, y, a->r.x);
    }
    for (int place = a->first; place < a->first + a->shown; place++) {
        Spot v = alike_spot(p, a, place);
        draw_place(p, a, place);
        draw_heads(p, a, place);
        for (int i = 0; i < count; i++)
            draw_word(p, &v, alike_token(a, i), alike_word(a, i, place));
        const Rect low = alike_word(a, count - 1, place);
        const bool noted = low.y + low.h < a->r.y + a->r.h - 1;
        if (place == a->here && noted)
            alike_draw_note(p, &v, (Rect){a->r.y + a->r.h - 2, a->r.x, 1, a->r.w});
        if (place == a->here && a->r.h > 2)
            draw_legend(p, &v, (Rect){a->r.y + a->r.h - 1, a->r.x, 1, a->r.w}, noted);
    }
}

/* --- the view --- */

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Alike a;
    if (!alike_open(p, side, r, &a))
        canvas_wrap(p->c, r, STYLE_DIM,
                    side == SIDE_DIFF ? "A and B have no tokens of one number here to subtract."
                                      : "This model has no tokens to compare.");
    else if (a.words)
        draw_words(p, &a, focus);
    else
        (a.down ? draw_down : draw_maps)(p, &a, focus);
}

/* Those on the screen, the place in focus first; with and without half blocks, whichever the terminal has. */
static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    Canvas c = {0};
    for (int colours = 0; colours < 2; colours++) {
        Alike a;
        if (!alike_open(&(Paint){.s = s, .c = &c, .mode = colours ? MODE_256 : MODE_MONO}, side, r, &a))
            return;
        for (int i = -1; i < a.shown; i++) {
            int row = alike_row_of(&a, i < 0 ? a.here : a.first + i);
            needs_add(out, side, alike_path(s, side, row, SITE_ALIKE_COSINE));
            needs_add(out, side, alike_path(s, side, row, SITE_ALIKE_NORM));
            for (int k = 0; k < 2 * COMPONENTS && side != SIDE_DIFF; k++)
                needs_add(out, side, alike_path(s, side, row, (Site)(SITE_ALIKE_COMPONENT + k)));
            if (side == SIDE_DIFF && a.coloured)
                needs_ask(out, side, alike_tokens(s, side, row), NEED_CHANGED, 0, 0);
        }
    }
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Alike a;
    int token = -1, row, col, place = -1;
    if (!alike_open(p, side, r, &a))
        return false;
    for (int i = a.first; i < a.first + a.shown; i++) {
        if (a.words && x >= alike_place_x(&a, i) && x < alike_place_x(&a, i) + alike_place_wide(&a, i))
            place = i;
        for (int b = 0; b < a.bands; b++)
            if (heat_hit(p, alike_map(p, &a, b, i), a.rows, a.l.cols, a.size, y, x, &row, &col)) {
                token = (a.top + row) * a.l.cols + col;
                place = i;
            }
    }
    if (a.words) {
        const int count = alike_words(&a), i = y >= r.y + a.head ? (y - r.y - a.head) / a.pitch : count;
        token = i < count ? alike_token(&a, i) : -1;
        place = place < 0 ? a.here : place;
    }
    if (token < 0)
        return false;
    if (token == a.at && place == a.here)
        buf_puts(command, "in");
    else if (alike_row_of(&a, place) < 0)
        buf_printf(command, "alike %s %d", alike_row_of(&a, place) == ALIKE_PIXELS ? "pixels" : "start", token);
    else
        buf_printf(command, "alike %d %d", alike_row_of(&a, place), token);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Shown v;
    char label[64];
    buf_puts(out, "which tokens are alike, block by block\n");
    if (shown_open(s, side, alike_path(s, side, alike_row(s), SITE_ALIKE_COSINE), &v)) {
        const int tokens = graph_node(v.graph, v.node)->dims.axis[0];
        shown_pair(shown_axis_of_a(s, &v, 0), &v.graph->axes[tokens], v.at[tokens], 20, label, sizeof label);
        buf_printf(out, "alike: cosine to %.20s\ntokens like %.20s\nlike %.20s\n", label, label, label);
    }
    buf_puts(out, "alike");
}

static const KeyBinding KEYS[] = {{"K", "alike -1", "block", "the block before; before block 0: start", 0, 10, NULL},
                                  {"J", "alike +1", NULL, "the next block", 0, 0, NULL},
                                  {"[", "alike -1", NULL, "the block before", 0, 0, NULL},
                                  {"]", "alike +1", NULL, "the next block", 0, 0, NULL},
                                  {.key = NULL}};

static const ViewWay WAYS[] = {{"cosine     how like the picked token each is, first", "option alike-first cosine"},
                               {"colours    what tokens differ by, as colours, first", "option alike-first colours"},
                               {"lengths    how long each vector is, first", "option alike-first lengths"},
                               {NULL, NULL}};

VIEW_SPEC(ALIKE, .name = "alike", .traits = VIEW_WIDE,
          .sentence = "Which tokens are alike, before the first block and after each.", .keys = KEYS, .ways = WAYS);
