/* Sinusoids as positions (Vaswani et al. 2017, section 3.5): place × dimension as a heat map, the wavelength of every
 * dimension, and the rotation that carries PE(pos) to PE(pos + k) with what it misses. All of it are nodes of the trace
 * (probes.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/probes.h"
#include "tui/canvas/plot.h"
#include "tui/views/heat.h"
#include "tui/views/shown.h"

enum {
    LABEL_MOST = 12,
    TEXT_LINES = 7,
    TICKS = 8,
    CURVE_LINES = 8,
    CURVE_ROOM = 26,
    PAIR = 2,
    NUMBER = 11,
    WIDE_MOST = 3,
    BAR_LEAST = 12,
    BAR_MOST = 34
};

typedef struct Waves {
    Shown table; /* pos_embed[place, dimension] */
    int part, places, width, place, dimension, onward;
    int first_row, first_col, rows, cols, label, wide; /* wide: columns of a dimension */
    Rect heat, text, curve;
    int ticks_y, right; /* −1: none; the end of the panel */
} Waves;

static int part_of(const Session *s, const Graph *g)
{
    int part = anatomy_of(g, s->place.path);
    return site_path(g, part, SITE_WAVE_LENGTH) ? part : site_part(g, SITE_WAVE_LENGTH);
}

static bool waves_open(const Session *s, Side side, Waves *w)
{
    const Graph *g = shown_graph(s, side);
    *w = (Waves){.part = part_of(s, g), .ticks_y = -1};
    if (w->part == NO_PART || !shown_open(s, side, site_path(g, w->part, SITE_POSITIONS), &w->table))
        return false;
    Dims d = graph_node(g, w->table.node)->dims;
    w->places = g->axes[d.axis[0]].n;
    w->width = g->axes[d.axis[1]].n;
    w->place = w->table.at[d.axis[0]];
    w->dimension = w->table.at[d.axis[1]];
    w->onward = s->look.waves.onward < w->places ? s->look.waves.onward : w->places - 1;
    return true;
}

static void waves_layout(Rect r, Waves *w)
{
    const Axis *places = &w->table.graph->axes[graph_node(w->table.graph, w->table.node)->dims.axis[0]];
    w->right = r.x + r.w;
    w->label = shown_axis_widest(places, LABEL_MOST - 2) + 2;
    int text = r.h >= TEXT_LINES + 4 ? TEXT_LINES : r.h > 6 ? r.h - 5 : 0;
    w->text = rect_cut(&r, 'b', text);
    if (r.h >= w->places + 2 + CURVE_LINES && r.w >= CURVE_ROOM)
        w->curve = rect_cut(&r, 'b', r.h - w->places - 2);
    if (r.h > 2)
        w->ticks_y = rect_cut(&r, 'b', 1).y;
    rect_cut(&r, 'l', w->label);
    w->rows = w->places < r.h ? w->places : r.h;
    w->cols = w->width < r.w ? w->width : r.w;
    w->first_row = (int)scroll_first((size_t)w->places, (size_t)w->place, (size_t)w->rows);
    w->first_col = (int)scroll_first((size_t)w->width, (size_t)w->dimension, (size_t)w->cols);
    w->wide = clamp(r.w / w->cols, 1, WIDE_MOST);
    w->heat = (Rect){r.y, r.x, w->rows, w->cols * w->wide};
    if (w->ticks_y >= 0)
        w->ticks_y = r.y + w->rows;
}

static float value_at(const void *context, int row, int col, Ref *ref)
{
    const Waves *w = context;
    size_t cell = (size_t)(row + w->first_row) * (size_t)w->width + (size_t)(col + w->first_col);
    *ref = shown_ref(&w->table, cell);
    return w->table.values[cell];
}

static void draw_heat(const Paint *p, const Waves *w, bool focus)
{
    const Axis *places = &w->table.graph->axes[graph_node(w->table.graph, w->table.node)->dims.axis[0]];
    ColourScale scale = colour_scale_for(p, w->table.side, w->table.node, w->table.values, w->table.count);
    heat_draw(p, w->heat, w->rows, w->cols, (HeatSize){heat_pixels(p, w->rows), w->cols * w->wide}, &scale, value_at,
              w);
    for (int i = 0; i < w->rows; i++) {
        char label[64];
        bool here = i + w->first_row == w->place;
        canvas_printf(p->c, w->heat.y + i, w->heat.x - w->label, w->label - 1, here ? STYLE_CURSOR : STYLE_AXIS, "%s%s",
                      here ? ">" : " ", axis_label(places, i + w->first_row, label, sizeof label));
    }
    int y = w->heat.y + w->place - w->first_row, x = w->heat.x + (w->dimension - w->first_col) * w->wide;
    Ref ref;
    value_at(w, w->place - w->first_row, w->dimension - w->first_col, &ref);
    heat_mark(p, y, x, 1, w->wide, ref);
    focus_cursor(p, focus, y, x);
    const int end = w->heat.x + w->heat.w; /* what the colours mean, beside the map or at the end of the last line */
    const int room = w->right - end - 2;
    if (room >= BAR_LEAST)
        colour_scale_bar(p, &scale, w->heat.y, end + 2, room < BAR_MOST ? room : BAR_MOST);
    else if (w->text.h == TEXT_LINES && w->text.w >= 2 * BAR_MOST)
        colour_scale_bar(p, &scale, w->text.y + TEXT_LINES - 1, w->right - BAR_MOST, BAR_MOST);
}

/* A node of the same part; false while it is not computed. */
static bool node_of(const Paint *p, const Waves *w, Site site, Shown *out)
{
    return shown_open(p->s, w->table.side, site_path(w->table.graph, w->part, site), out) && out->values;
}

/* Wavelengths below every eighth column, with the place of the cursor. */
static void draw_ticks(const Paint *p, const Waves *w)
{
    Shown length;
    if (w->ticks_y < 0 || !node_of(p, w, SITE_WAVE_LENGTH, &length))
        return;
    if (w->label >= 8)
        canvas_text(p->c, w->ticks_y, w->heat.x - w->label, w->label - 1, STYLE_DIM, " length");
    for (int col = 0; col < w->cols; col++) {
        int d = col + w->first_col;
        if (d % TICKS == 0 && col + TICKS <= w->cols)
            shown_number(p, &length, (size_t)(probes_wave(w->table.graph, w->part, d) / PAIR), w->ticks_y,
                         w->heat.x + col * w->wide, TICKS * w->wide - 1, STYLE_AXIS);
    }
}

static int put_number(const Paint *p, const Shown *v, size_t cell, int y, int x, int end, Style style)
{
    shown_number_right(p, v, cell, y, x + 1, NUMBER - 1 < end - x - 1 ? NUMBER - 1 : end - x - 1, style);
    return x + NUMBER;
}

/* "  name       sine      cosine": two numbers of a node, from cell on. */
static void put_pair(const Paint *p, const Waves *w, int line, const char *name, const Shown *v, size_t cell,
                     Style style)
{
    int y = w->text.y + line, x = w->text.x, end = x + w->text.w;
    if (line >= w->text.h)
        return;
    canvas_label(p->c, y, x, 24 < w->text.w ? 24 : w->text.w, STYLE_TEXT, name);
    for (int k = 0; k < PAIR && x + 24 + (k + 1) * NUMBER <= end; k++)
        put_number(p, v, cell + (size_t)k, y, x + 24 + k * NUMBER, end, style);
}

static void draw_wave_line(const Paint *p, const Waves *w)
{
    Shown length;
    int y = w->text.y, x = w->text.x, end = x + w->text.w, wave = probes_wave(w->table.graph, w->part, w->dimension);
    if (w->text.h < 1 || !node_of(p, w, SITE_WAVE_LENGTH, &length))
        return;
    x += canvas_printf(p->c, y, x, end - x, STYLE_STRONG, "dimension %d: %s of pair %d, once round in ", w->dimension,
                       wave % PAIR ? "cosine" : "sine", wave / PAIR);
    x += shown_number(p, &length, (size_t)(wave / PAIR), y, x, end - x > 0 ? end - x : 0, STYLE_STRONG);
    if (end > x)
        x += canvas_text(p->c, y, x, end - x, STYLE_STRONG, " places");
    char more[32];
    snprintf(more, sizeof more, "  %d more places", w->places - w->rows);
    if (w->rows < w->places && end - x >= (int)strlen(more))
        canvas_right(p->c, y, x, end - x, STYLE_DIM, more);
}

static void draw_rotation(const Paint *p, const Waves *w)
{
    Shown turn, pairs, carried, onward, residual, most;
    char name[96], label[64];
    const Axis *places = &w->table.graph->axes[graph_node(w->table.graph, w->table.node)->dims.axis[0]];
    if (!node_of(p, w, SITE_WAVE_ROTATION, &turn) || !node_of(p, w, SITE_WAVE_PAIRS, &pairs) ||
        !node_of(p, w, SITE_WAVE_CARRIED, &carried) || !node_of(p, w, SITE_WAVE_ONWARD, &onward) ||
        !node_of(p, w, SITE_WAVE_RESIDUAL, &residual) || !node_of(p, w, SITE_WAVE_RESIDUAL_LARGEST, &most))
        return;
    size_t half = (size_t)w->width / PAIR, pair = (size_t)probes_wave(w->table.graph, w->part, w->dimension) / PAIR;
    size_t place = (size_t)w->place, k = (size_t)w->onward, jump = (place * (size_t)w->places + k) * half + pair;
    axis_label(places, w->place, label, sizeof label);
    utf8_print(name, sizeof name, "PE(%.16s), sin and cos", label);
    put_pair(p, w, 1, name, &pairs, (place * half + pair) * PAIR, STYLE_TEXT);
    snprintf(name, sizeof name, "rotation, %d position%s on", w->onward, w->onward == 1 ? "" : "s");
    size_t m = (k * half + pair) * PAIR * PAIR;
    put_pair(p, w, 2, name, &turn, m, STYLE_DIM);
    for (int i = 0; i < PAIR && w->text.h > 2 && 24 + (i + 3) * NUMBER <= w->text.w; i++)
        put_number(p, &turn, m + PAIR + (size_t)i, w->text.y + 2, w->text.x + 24 + (i + 2) * NUMBER,
                   w->text.x + w->text.w, STYLE_DIM);
    put_pair(p, w, 3, "rotation · PE", &carried, jump * PAIR, STYLE_TEXT);
    snprintf(name, sizeof name, "PE, %d position%s on", w->onward, w->onward == 1 ? "" : "s");
    put_pair(p, w, 4, name, &onward, jump * PAIR, STYLE_TEXT);
    put_pair(p, w, 5, "residual", &residual, jump * PAIR, STYLE_STRONG);
    if (w->text.h > 6) {
        int y = w->text.y + 6, x = w->text.x, end = x + w->text.w;
        x += canvas_printf(p->c, y, x, end - x, STYLE_TEXT, "largest of all %d residuals ", w->width);
        if (end > x)
            shown_number(p, &most, place * (size_t)w->places + k, y, x, end - x, STYLE_STRONG);
    }
}

/* PE(pos) · PE(pos + k) over k: the same curve from every place. */
static void draw_curve(const Paint *p, const Waves *w)
{
    Shown alike;
    if (w->curve.h < CURVE_LINES || !node_of(p, w, SITE_WAVE_ALIKE, &alike))
        return;
    const float *row = alike.values + (size_t)w->place * (size_t)w->places;
    float low = row[0], high = row[0];
    for (int i = 1; i < w->places; i++) {
        low = row[i] < low ? row[i] : low;
        high = row[i] > high ? row[i] : high;
    }
    CanvasLine line = {.name = "PE(pos) · PE(pos + k)", .y = row, .n = w->places, .style = STYLE_TEXT};
    CanvasPlot plot = {.title = "",
                       .x0 = 0,
                       .x1 = w->places > 1 ? w->places - 1 : 1,
                       .y0 = (double)low < 0 ? (double)low : 0,
                       .y1 = (double)high,
                       .line = &line,
                       .lines = 1,
                       .cursor = w->onward,
                       .x_name = "k, positions onward"};
    plot_draw(p->c, w->curve, &plot);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Waves w;
    if (!waves_open(p->s, side, &w))
        canvas_wrap(p->c, r, STYLE_DIM, "This model's positions are no sinusoids.");
    else if (!w.table.values)
        shown_computing(p, r);
    else {
        waves_layout(r, &w);
        draw_heat(p, &w, focus);
        draw_ticks(p, &w);
        draw_wave_line(p, &w);
        draw_rotation(p, &w);
        draw_curve(p, &w);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    static const Site SITES[] = {SITE_POSITIONS,     SITE_WAVE_LENGTH,           SITE_WAVE_PAIRS,
                                 SITE_WAVE_ROTATION, SITE_WAVE_CARRIED,          SITE_WAVE_ONWARD,
                                 SITE_WAVE_RESIDUAL, SITE_WAVE_RESIDUAL_LARGEST, SITE_WAVE_ALIKE};
    const Graph *g = shown_graph(s, side);
    int part = part_of(s, g);
    (void)r;
    for (size_t i = 0; part != NO_PART && i < sizeof SITES / sizeof *SITES; i++)
        needs_add(out, side, site_path(g, part, SITES[i]));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Waves w;
    if (!waves_open(p->s, side, &w) || !w.table.values)
        return false;
    waves_layout(r, &w);
    if (!rect_has(w.heat, y, x))
        return false;
    size_t row = (size_t)(y - w.heat.y + w.first_row), col = (size_t)((x - w.heat.x) / w.wide + w.first_col);
    click_cell(p, &w.table, row * (size_t)w.width + col, command);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    Waves w;
    if (!waves_open(s, side, &w)) {
        buf_puts(out, "sinusoids");
        return;
    }
    buf_printf(out, "%s: %d places × %d dimensions", graph_node(w.table.graph, w.table.node)->path, w.places, w.width);
}

static const KeyBinding KEYS[] = {{"<", "onward -1", "k", "the rotation leads one place less far", 0, 8, NULL},
                                  {">", "onward +1", NULL, "the rotation leads one place further", 0, 0, NULL},
                                  {NULL, NULL, NULL, NULL, 0, 0, NULL}};

VIEW_SPEC(WAVES, .name = "waves", .traits = VIEW_TRACED | VIEW_WIDE, .sides = SIDES_ONE, .keys = KEYS);
