#include "tui/views/lengths.h"

#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/probes.h"
#include "core/session/address.h"
#include "core/session/difference.h"
#include "tui/views/heat.h"
#include "tui/views/lattice.h"
#include "tui/views/shown.h"
#include "tui/views/spread.h"

enum { SQUARE_MOST = 8 };
/* A strip's scale ends there at the latest; from A to B, which may turn tokens around, later. */
static const float FULL[] = {1, 4};
static const float SMALL = 1e-6F; /* a share of its length that is seen as none */

/* The strip of one step: what lies above the middle of its cells, and below. */
typedef struct Strip {
    Shown length;
    const float *below;  /* NULL: there is nothing, or not yet */
    Ref below_ref;       /* of its first token; no run: the pair's own node */
    size_t first, count; /* tokens: those in front come first */
    size_t at;           /* the token of the cursor */
    const char *of;      /* which of the step's results it is, where the cursor is in another: else NULL */
    ColourScale above_scale, below_scale;
    float most;
} Strip;

static const char *shown_path(const Session *s, const Box *b)
{
    return b->show == NO_NODE ? "" : graph_node(session_graph(s, SIDE_B), b->show)->path;
}

void lengths_needs(const Session *s, const Box *b, bool reached, Needs *out)
{
    char path[PROBES_PATH];
    const char *shown = shown_path(s, b);
    const Graph *g = session_graph(s, SIDE_B);
    bool there = *shown && session_peek(s, SIDE_B, shown), both = there && session_peek(s, SIDE_A, shown);
    if (!*shown || !probes_length(g, shown, path) || (reached && !there))
        return;
    needs_add(out, SIDE_B, path);
    if (!session_compares(s))
        needs_add(out, SIDE_B, probes_change(g, shown, path));
    else if (both || !reached)
        needs_ask(out, SIDE_DIFF, shown, NEED_MOVED, 0, 0);
}

/* Lengths are grey, whatever map the reader chose: what moved has the colours. */
static ColourScale grey(const Paint *p, const float *x, size_t count)
{
    Spread spread = spread_of(x, count);
    spread.common = spread_common(x, count, 1);
    ColourScale s = colour_scale_of_spread(p, SIDE_B, &spread);
    s.map = p->light ? CM_GREY_LIGHT : CM_GREY;
    s.is_signed = false;
    if (p->s->look.locked) {
        s.low = spread.min;
        s.high = spread.max;
    }
    return s;
}

/* Black to one hue of the map of signed values: B's for what moved from A to B, the other for what a step did. */
static ColourScale hue(const Paint *p, float most)
{
    ColourScale s = colour_scale_of_range(p, -most, most);
    s.map = p->light ? CM_VIK : CM_BLUE_ORANGE;
    s.is_signed = true;
    s.low = -(s.high = most);
    return s;
}

/* The token of the cursor. Keys and values have the axis of what is looked at, of as many tokens: the cursor is there,
 * and the lengths are of the queries. */
static size_t token_of(const Session *s, const char *shown, const Shown *length, const char **of)
{
    const Graph *g = length->graph;
    const int own = graph_node(g, length->node)->dims.axis[0];
    const NodeId n = session_node(s, length->side, s->place.path);
    const int other = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_KEY);
    const char *dot = strrchr(shown, '.');
    *of = NULL;
    if (other == AXIS_NONE || dims_find(graph_node(g, n)->dims, own) >= 0 || g->axes[other].n != g->axes[own].n ||
        g->axes[other].kind != g->axes[own].kind || g->axes[other].sequence != g->axes[own].sequence)
        return length->cell;
    *of = dot ? dot + 1 : shown;
    return (size_t)length->at[other];
}

static bool open_strip(const Paint *p, const Box *b, float most, Strip *out)
{
    const Session *s = p->s;
    const Graph *g = session_graph(s, SIDE_B);
    const char *shown = shown_path(s, b);
    char path[PROBES_PATH];
    Strip v = {.most = fminf(FULL[session_compares(s)], most)};
    Shown change;
    if (!*shown || !shown_open(s, SIDE_B, probes_length(g, shown, path), &v.length))
        return false;
    v.count = v.length.count;
    v.at = token_of(s, shown, &v.length, &v.of);
    if (session_compares(s))
        v.below = difference_moved(s, shown);
    else if (shown_open(s, SIDE_B, probes_change(g, shown, path), &change)) {
        v.below = change.values;
        v.below_ref = shown_ref(&change, 0);
    }
    if (v.length.values)
        v.above_scale = grey(p, v.length.values, v.count);
    v.below_scale = hue(p, 1);
    *out = v;
    return true;
}

/* Of several tokens in one cell. */
static float largest(const float *x, size_t from, size_t to)
{
    float most = x[from];
    for (size_t i = from; i < to; i++)
        most = x[i] > most || isnan(most) ? x[i] : most;
    return most;
}

/* 0 … 1 of the scale; from A to B as its root, so that little is seen too. */
static float on_scale(const Strip *v, float share, bool rooted)
{
    float x = isnan(share) || !(v->most > 0) ? 0 : fminf(1, share / v->most);
    return rooted ? sqrtf(x) : x;
}

float lengths_most(const Session *s, const Box *b)
{
    char path[PROBES_PATH];
    const Graph *g = session_graph(s, SIDE_B);
    const char *shown = shown_path(s, b);
    Shown v;
    if (!*shown || !shown_open(s, SIDE_B, probes_length(g, shown, path), &v))
        return 0;
    const float *x = session_compares(s) ? difference_moved(s, shown)
                                         : session_peek(s, SIDE_B, probes_change(g, shown, path));
    float most = x ? largest(x, 0, v.count) : 0;
    return most > SMALL ? most : 0;
}

/* As many columns as give each token as many. */
static int whole_tokens(int columns, int tokens)
{
    return columns < tokens ? columns : columns / tokens * tokens;
}

bool lengths_draw(const Paint *p, Rect line, const Box *b, float most)
{
    Strip v;
    bool compares = session_compares(p->s), halves = heat_halves(p);
    if (line.w < 1 || !open_strip(p, b, most, &v))
        return false;
    line.w = whole_tokens(line.w, (int)v.count);
    size_t columns = (size_t)line.w < v.count ? (size_t)line.w : v.count;
    for (int x = 0; x < line.w && v.length.values; x++) {
        size_t part = heat_part((size_t)x, (size_t)line.w, columns), from = heat_first(part, v.count, columns),
               to = heat_first(part + 1, v.count, columns);
        float length = largest(v.length.values, from, to);
        float below = v.below ? on_scale(&v, largest(v.below, from, to), compares) : 0, way = compares ? below : -below;
        Ref ref = shown_ref(&v.length, from);
        if (halves || !compares)
            canvas_pixel(p->c, line.y, line.x + x, halves ? 0 : -1, colour_scale_colour(&v.above_scale, length),
                         colour_scale_level(&v.above_scale, length), 0, ref);
        if (v.below && (halves || compares)) /* a black half would be a token that has not moved */
            canvas_pixel(p->c, line.y, line.x + x, halves ? 1 : -1, colour_scale_colour(&v.below_scale, way),
                         colour_scale_level(&v.below_scale, way), halves ? 0 : 1, ref);
    }
    return true;
}

/* Three cells of a scale, dark to full, in one half; 8 colours have none that is the ground's in the other. */
static int sample(const Paint *p, int y, int x, const ColourScale *s, float low, float high, int half)
{
    half = heat_halves(p) && p->mode > MODE_8 ? half : -1;
    for (int i = 0; i < 3; i++) {
        float value = low + (high - low) * (float)(i + 1) / 3;
        canvas_pixel(p->c, y, x + i, half, colour_scale_colour(s, value), colour_scale_level(s, value), 0, (Ref){0});
        if (half >= 0)
            canvas_pixel(p->c, y, x + i, 1 - half, p->light ? 0xffffff : 0x101214, 0, 0, (Ref){0});
    }
    return 4;
}

static void put_numbers(const Paint *p, Rect line, const Strip *v)
{
    char label[64], share[16];
    const Axis *tokens = &v->length.graph->axes[graph_node(v->length.graph, v->length.node)->dims.axis[0]];
    size_t at = v->at;
    int x = line.x, end = line.x + line.w;
    if (!v->length.values)
        return;
    axis_label(tokens, (int)at, label, sizeof label);
    if (v->of)
        x += canvas_printf(p->c, line.y, x, line.w / 2, STYLE_DIM, "%s ", v->of);
    x += canvas_printf(p->c, line.y, x, line.w / 2, STYLE_STRONG, "%s ", label);
    x += shown_number(p, &v->length, at, line.y, x, end - x < 7 ? end - x : 7, STYLE_TEXT);
    if (!v->below)
        return;
    share_text(share, sizeof share, v->below[at]);
    x += canvas_text(p->c, line.y, x, end - x, STYLE_DIM, " moved ");
    int used = canvas_text(p->c, line.y, x, end - x, STYLE_TEXT, share);
    if (v->below_ref.run) {
        Ref ref = v->below_ref;
        ref.cell = at;
        canvas_ref(p->c, line.y, x, used, ref);
    }
}

/* How many tokens share a cell, of a strip that has fewer cells than tokens; false: nothing is said. */
static bool put_merged(const Paint *p, Rect line, int cells, int tokens)
{
    static const char *const FORM[] = {"%d cells, %d tokens: the largest of each", "%d cells for %d tokens"};
    char text[64];
    for (size_t i = 0; i < sizeof FORM / sizeof *FORM && cells < tokens; i++)
        if (utf8_print(text, sizeof text, FORM[i], cells, tokens) <= line.w) {
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, text);
            return true;
        }
    return false;
}

/* What a share from A to B is one of; of what a step moved nothing is said. */
enum { MOVED = 2 };
static const char *const OF_A[] = {" of A's length", " of A", ""};

void lengths_legend(const Paint *p, Rect r, const Box *b, float most, int columns, int tokens)
{
    Strip v;
    ColourScale ramp = grey(p, (const float[]){0, 1}, 2);
    bool compares = session_compares(p->s), halves = heat_halves(p), there = open_strip(p, b, most, &v);
    char end[16];
    share_text(end, sizeof end, fminf(FULL[compares], most));
    if (halves || !compares) {
        Rect line = rect_cut(&r, 't', 1);
        int used = sample(p, line.y, line.x, &ramp, 0, 1, 0);
        canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, "%slength%s",
                      halves && line.w >= LENGTHS_WIDE ? "above: " : "", line.w > 34 ? ", scale per step" : "");
    }
    if (r.h > 0 && (halves || compares)) {
        Rect line = rect_cut(&r, 't', 1);
        ColourScale s = hue(p, 1);
        int used = sample(p, line.y, line.x, &s, 0, compares ? 1 : -1, 1);
        const char *what = compares ? "A to B" : "moved";
        if (line.w < LENGTHS_WIDE)
            canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, what);
        else {
            const bool beyond = compares ? most >= FULL[true] : most > FULL[false];
            char text[64]; /* the scale's end comes before which half it is */
            end[strcspn(end, " ")] = '\0';
            char *whole = strstr(end, ".0");
            if (whole)
                *whole = '\0';
            const char *root = !compares || line.w <= 34 ? "" : p->c->ascii ? ", root scale" : ", √ scale";
            const int before = halves ? (int)sizeof "below: " - 1 : 0;
            bool room = false;
            for (int form = compares ? 0 : MOVED; form <= (compares ? 1 : MOVED) && !room; form++) {
                utf8_print(text, sizeof text, "%s 0–%s%s %%%s%s", form ? "moved" : what, end, beyond ? "+" : "",
                           OF_A[form], root);
                room = utf8_cells(text) + used + before <= line.w;
            }
            canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, "%s%s",
                          halves && room ? "below: " : "", text);
        }
    }
    if (r.h > 1 && r.w >= LENGTHS_WIDE &&
        put_merged(p, (Rect){r.y, r.x, 1, r.w}, columns, there ? (int)v.count : tokens))
        rect_cut(&r, 't', 1);
    if (r.h > 0 && there && r.w >= LENGTHS_WIDE)
        put_numbers(p, (Rect){r.y, r.x, 1, r.w}, &v);
}

/* --- the same of one step, as the picture lies --- */

static Lattice lattice_of_strip(const Strip *v)
{
    return lattice_of(&v->length.graph->axes[graph_node(v->length.graph, v->length.node)->dims.axis[0]]);
}

typedef struct Patches {
    const Strip *v;
    Lattice l;
    bool below, compares;
} Patches;

static float patch_value(const void *context, int row, int col, Ref *ref)
{
    const Patches *m = context;
    size_t token = (size_t)(m->l.prefix + row * m->l.cols + col);
    *ref = shown_ref(&m->v->length, token);
    if (!m->below)
        return m->v->length.values[token];
    if (m->v->below_ref.run) {
        *ref = m->v->below_ref;
        ref->cell = token;
    }
    float share = on_scale(m->v, m->v->below[token], m->compares);
    return m->compares ? share : -share;
}

/* Where both stand; the second is empty where nothing moved yet. */
static bool place_maps(const Paint *p, Rect r, const Strip *v, LatticeMap out[2])
{
    Lattice l = lattice_of_strip(v);
    if (l.rows < 2 || r.h < LENGTHS_MAP || !heat_halves(p))
        return false;
    rect_cut(&r, 't', 1);
    int half = (r.w - 2) / 2, at = (int)v->at - l.prefix, here = at < 0 ? 0 : at;
    for (int k = 0; k < 2; k++) {
        out[k] = lattice_map(p, (Rect){r.y, r.x, r.h, half}, l.rows, l.cols, SQUARE_MOST, here / l.cols, here % l.cols);
        if (out[k].rows < l.rows || out[k].cols < l.cols)
            return false;
        r.x = out[0].r.x + out[0].k * l.cols + 2;
    }
    return true;
}

void lengths_maps(const Paint *p, Rect r, const Box *b, float most)
{
    Strip v;
    LatticeMap map[2];
    if (!open_strip(p, b, most, &v) || !v.length.values || !place_maps(p, r, &v, map))
        return;
    Patches m = {.v = &v, .l = lattice_of_strip(&v), .compares = session_compares(p->s)};
    int at = (int)v.at - m.l.prefix;
    for (int k = 0; k < (v.below ? 2 : 1); k++) {
        int wide = map[k].k * m.l.cols;
        m.below = k;
        canvas_printf(p->c, r.y, map[k].r.x, k || !v.below ? r.x + r.w - map[k].r.x : wide, STYLE_HEADER, "%s%s%s",
                      !k           ? "length"
                      : m.compares ? "A to B"
                                   : "moved",
                      !k && v.of ? " of " : "", !k && v.of ? v.of : "");
        lattice_map_draw(p, &map[k], k ? &v.below_scale : &v.above_scale, patch_value, &m);
        Ref ref = {0};
        if (at < 0)
            continue;
        patch_value(&m, at / m.l.cols, at % m.l.cols, &ref);
        lattice_map_mark(p, &map[k], at / m.l.cols, at % m.l.cols, "[]!", STYLE_CURSOR, ref);
    }
}

bool lengths_maps_click(const Paint *p, Rect r, const Box *b, int y, int x, Buf *command)
{
    Strip v;
    LatticeMap map[2];
    int row, col;
    if (!open_strip(p, b, 0, &v) || !place_maps(p, r, &v, map))
        return false;
    Lattice l = lattice_of_strip(&v);
    for (int k = 0; k < 2; k++)
        if (lattice_map_hit(&map[k], y, x, &row, &col))
            return lengths_click(p->s, b, l.prefix + row * l.cols + col, (int)v.count, command);
    return false;
}

int lengths_tokens(const Session *s, const Box *b)
{
    Shown v;
    char path[PROBES_PATH];
    const char *shown = shown_path(s, b);
    return *shown && shown_open(s, SIDE_B, probes_length(session_graph(s, SIDE_B), shown, path), &v) ? (int)v.count : 0;
}

/* The cosine of the token and itself after the block of that step, or before the first one. */
bool lengths_click(const Session *s, const Box *b, int column, int columns, Buf *command)
{
    int tokens = lengths_tokens(s, b);
    const Graph *g = session_graph(s, SIDE_B);
    if (tokens)
        columns = whole_tokens(columns, tokens);
    if (!tokens || column < 0 || column >= columns)
        return false;
    const char *shown = shown_path(s, b);
    int block = anatomy_block_of(g, shown), of = anatomy_of(g, shown),
        part = block != NO_PART ? block : anatomy_next(g, NO_PART, PART_EMBEDDING);
    for (int e = NO_PART; block == NO_PART && of != NO_PART && (e = anatomy_next(g, e, PART_EMBEDDING)) != NO_PART;)
        part = strcmp(anatomy_part(g, e)->stack, anatomy_part(g, of)->stack) == 0 ? e : part;
    const char *path = part == NO_PART ? NULL : site_path(g, part, SITE_ALIKE_COSINE);
    NodeId n = path ? graph_find(g, path) : NO_NODE;
    if (n == NO_NODE)
        return false;
    size_t parts = (size_t)(columns < tokens ? columns : tokens), i = heat_part((size_t)column, (size_t)columns, parts);
    int all = g->axes[graph_node(g, n)->dims.axis[0]].n,
        at = clamp((int)heat_first(i, (size_t)tokens, parts) - (tokens - all), 0, all - 1);
    buf_puts(command, "goto ");
    address_put(g, n, (size_t)at * (size_t)all + (size_t)at, command);
    return true;
}
