#include "tui/views/learned/alike_spot.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/session/difference.h"
#include "core/session/screens.h"
#include "tui/views/spread.h"

const char *const ALIKE_COLOUR[COMPONENTS] = {"red", "green", "blue"};

static const double STANDS_OUT = 1.2; /* times the median from which a length does */

static const float NOTHING = 0.005F; /* a share of all variance that is said as 0 % is seen as none */

static const float ROUNDING = 16 * FLT_EPSILON; /* of its size, so much of a difference is no news */

size_t alike_cell(const Spot *v, Band band, int token)
{
    size_t n = (size_t)v->a->p->n, from = band == COSINE ? (size_t)v->a->at * n : v->value[band].count - n;
    return from + (size_t)token;
}

/* A − B has one scale for the lengths of all places: how far is the farthest from 0? */
static float lengths_apart(const Alike *a)
{
    float most = 0;
    for (int place = 0; place < a->places; place++) {
        Shown v;
        shown_open(a->s, a->side, alike_path(a->s, a->side, alike_row_of(a, place), SITE_ALIKE_NORM), &v);
        for (size_t i = 0; v.values && i < v.count; i++)
            most = isfinite(v.values[i]) ? fmaxf(most, fabsf(v.values[i])) : most;
    }
    return most;
}

/* Of A − B: the size that differences of lengths are seen beside. */
static float longest_on_b(const Alike *a, int place)
{
    float most = 0;
    Shown v;
    shown_open(a->s, SIDE_B, alike_path(a->s, SIDE_B, alike_row_of(a, place), SITE_ALIKE_NORM), &v);
    for (size_t i = 0; v.values && i < v.count; i++)
        most = isfinite(v.values[i]) ? fmaxf(most, v.values[i]) : most;
    return most;
}

/* Of A − B the components are of what changed: nodes of the pair's graph, which no side has. */
static Shown component_of(const Alike *a, int place, int k, bool share)
{
    Shown v = {.node = NO_NODE};
    const Site site = (Site)((share ? SITE_ALIKE_SHARE : SITE_ALIKE_COMPONENT) + k);
    if (a->side != SIDE_DIFF) {
        shown_open(a->s, a->side, alike_path(a->s, a->side, alike_row_of(a, place), site), &v);
        return v;
    }
    const char *tokens = a->coloured ? alike_tokens(a->s, a->side, alike_row_of(a, place)) : NULL;
    v.side = a->side;
    v.values = tokens ? difference_changed(a->s, tokens, site) : NULL;
    v.count = !v.values ? 0 : share ? 1 : (size_t)a->p->n;
    return v;
}

Spot alike_spot(const Paint *p, const Alike *a, int place)
{
    Spot v = {.a = a};
    shown_open(a->s, a->side, alike_path(a->s, a->side, alike_row_of(a, place), SITE_ALIKE_COSINE), &v.value[COSINE]);
    shown_open(a->s, a->side, alike_path(a->s, a->side, alike_row_of(a, place), SITE_ALIKE_NORM), &v.value[NORMS]);
    if (a->side == SIDE_DIFF && a->coloured)
        v.change = difference_changed(a->s, alike_tokens(a->s, a->side, alike_row_of(a, place)), SITE_ALIKE_NORM);
    for (int k = 0; k < COMPONENTS; k++) {
        Shown *c = &v.component[k], *share = &v.share[k];
        *c = component_of(a, place, k, false);
        *share = component_of(a, place, k, true);
        bool some = c->values && share->values && share->values[0] > NOTHING;
        for (size_t i = 0; some && i < c->count; i++)
            v.most[k] = fmaxf(v.most[k], fabsf(c->values[i]));
        v.value[COLOURS] = *c;
        v.value[COLOURS].values = share->values ? c->values : NULL;
    }
    v.scale[COSINE] = colour_scale_of_range(p, -a->end, a->end);
    v.rounding[COSINE] = a->side == SIDE_DIFF ? ROUNDING : 0;
    v.rounding[NORMS] = a->side == SIDE_DIFF ? ROUNDING * longest_on_b(a, place) : 0;
    if (v.value[NORMS].values) {
        Shown other;
        size_t n = (size_t)a->p->n;
        const float *own = v.value[NORMS].values + alike_cell(&v, NORMS, 0);
        Spread lengths = spread_of(own, n);
        lengths.common = spread_common(own, n, 1);
        if (shown_beside(a->s, &v.value[NORMS], &other) && other.count >= n) {
            spread_share(&lengths, other.values + other.count - n, n);
            lengths.common = fmaxf(lengths.common, spread_common(other.values + other.count - n, n, 1));
        }
        v.scale[NORMS] = colour_scale_of_spread(p, a->side, &lengths);
        const float most = a->side == SIDE_DIFF ? lengths_apart(a) : 0;
        if (most > 0)
            v.scale[NORMS] = colour_scale_of_range(p, -most, most);
    }
    return v;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The longest of the tokens, and how many times the median of their lengths that is; −1: there is none. */
static int longest_of(const Spot *v, double *times)
{
    const size_t n = (size_t)v->a->p->n;
    if (!v->value[NORMS].values || v->a->side == SIDE_DIFF)
        return -1;
    const float *length = v->value[NORMS].values + alike_cell(v, NORMS, 0);
    const Spread spread = spread_of(length, n);
    if (spread.finite < n)
        return -1;
    float *sorted = xmalloc(size_mul(n, sizeof *sorted));
    memcpy(sorted, length, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_size);
    const double median = ((double)sorted[n / 2] + (double)sorted[(n - 1) / 2]) / 2;
    free(sorted);
    *times = median > 0 ? (double)spread.max / median : 1;
    return median > 0 ? (int)spread.at_max : -1;
}

void alike_put_longest(const Spot *v, const char *before, int width, Buf *out)
{
    double times;
    char label[64], text[128];
    const int token = longest_of(v, &times);
    if (token < 0)
        return;
    for (int brief = 0; brief < 2 && times < STANDS_OUT; brief++)
        if (utf8_print(text, sizeof text, "%snone much longer%s", before, brief ? "" : " than the median") <= width) {
            buf_puts(out, text);
            return;
        }
    for (int brief = 0; brief < 2 && times >= STANDS_OUT; brief++)
        if (utf8_print(text, sizeof text, "%slongest %s, %.1f× %smedian", before,
                       axis_label(v->a->p, token, label, sizeof label), times, brief ? "" : "the ") <= width) {
            buf_puts(out, text);
            return;
        }
}

const char *alike_own(const Alike *a, int width)
{
    static const char *const SAID[][3] = {
        {"PCA: 3 components as red, green, blue, each place its own: compare within one place alone",
         "PCA: 3 components as red, green, blue, of each place and run their own",
         "PCA of what changed − mean, each place its own: red, green, blue; unchanged: blank"},
        {"PCA: 3 components as red, green, blue, each place its own", "PCA: 3 as red, green, blue, each run its own",
         "PCA of what changed − mean: red, green, blue; unchanged: blank"},
        {"PCA: 3 as red, green, blue, each place its own", "PCA: red, green, blue, each run its own",
         "PCA of what changed, as rgb; unchanged: blank"},
        {"PCA: each place its own", "PCA: each run its own", "PCA of what changed, as rgb"},
        {"PCA: each its own", "PCA: each its own", "PCA of what changed"},
        {"PCA: rgb", "PCA: rgb", "PCA: rgb"}};
    const int two = a->side == SIDE_DIFF ? 2 : session_compares(a->s);
    for (size_t i = 0; i < sizeof SAID / sizeof *SAID; i++)
        if (utf8_cells(SAID[i][two]) <= width)
            return SAID[i][two];
    return "";
}

bool alike_kept(const Spot *v, int token)
{
    return v->change && v->change[alike_cell(v, NORMS, token)] == 0;
}

bool alike_unchanged(const Spot *v)
{
    for (int i = 0; i < v->a->p->n; i++)
        if (!alike_kept(v, i))
            return false;
    return true;
}

/* Is there nothing but blanks in such a map? */
static bool all_same(const Spot *v, Band band)
{
    if (v->a->side != SIDE_DIFF || !v->value[band].values || alike_unchanged(v))
        return v->a->side == SIDE_DIFF && v->value[band].values;
    for (int i = 0; i < v->a->p->n && band != COLOURS; i++)
        if (v->value[band].values[alike_cell(v, band, i)] != 0)
            return false;
    return band != COLOURS;
}

void alike_draw_same(const Paint *p, const Spot *v, Band band, Rect map, int marked)
{
    static const char *const SAID[] = {"no change", "same"};
    const char *said = SAID[utf8_cells(SAID[0]) > map.w];
    const int cells = utf8_cells(said), x = map.x + (map.w - cells) / 2;
    int y = map.y + (map.h - 1) / 2;
    y += y != marked ? 0 : y > map.y ? -1 : 1;
    if (cells > map.w || y >= map.y + map.h || !all_same(v, band))
        return;
    canvas_text(p->c, y, x, cells, STYLE_DIM, said); /* on the page's ground, which a blank's is like */
}

int alike_put_number(const Paint *p, const Spot *v, Band band, size_t cell, Rect r, Style style)
{
    const Shown *of = &v->value[band];
    if (of->values[cell] == 0 || !(fabsf(of->values[cell]) <= v->rounding[band]))
        return shown_number(p, of, cell, r.y, r.x, r.w, style);
    const int used = canvas_text(p->c, r.y, r.x, r.w, style, "≈0");
    canvas_ref(p->c, r.y, r.x, used, shown_ref(of, cell));
    return used;
}

void alike_right_number(const Paint *p, const Spot *v, Band band, size_t cell, Rect r, Style style)
{
    const float x = v->value[band].values[cell];
    enum { ABOUT = 2 }; /* "≈0" */
    if (x != 0 && fabsf(x) <= v->rounding[band])
        alike_put_number(p, v, band, cell, (Rect){r.y, r.x + r.w - ABOUT, 1, ABOUT}, style);
    else
        shown_number_right(p, &v->value[band], cell, r.y, r.x, r.w, style);
}

void alike_put_shares(const Spot *v, bool brief, Buf *out)
{
    if (alike_unchanged(v)) {
        buf_puts(out, brief ? ": none" : ": nothing changed");
        return;
    }
    bool first = true;
    for (int k = 0; k < COMPONENTS && v->value[COLOURS].values; k++) {
        const double share = (double)v->share[k].values[0];
        if (isnan(share)) /* nothing is left to share out */
            continue;
        buf_printf(out, "%s%.*s %.0f %%", first ? ": " : ", ", brief ? 1 : 5, ALIKE_COLOUR[k], 100 * share);
        first = false;
    }
}

int alike_draw_components(const Paint *p, const Spot *v, Rect line, bool brief)
{
    enum { FORMS = 4 };
    static const char *const SAID[][FORMS] = {{"principal components, each place its own",
                                               "components, each place its own", "3 components as rgb",
                                               "3 components as rgb"},
                                              {"components of what changed − mean, each place its own, unchanged blank",
                                               "components of what changed, each place its own", "what changed as rgb",
                                               "what changed"}};
    char text[192];
    Buf shares = {0};
    alike_put_shares(v, brief, &shares);
    for (int i = 0; i < 2 * FORMS; i++) { /* with the shares, then without */
        utf8_print(text, sizeof text, "%s%s", SAID[v->a->side == SIDE_DIFF][i % FORMS],
                   i < FORMS ? buf_str(&shares) : "");
        if (utf8_cells(text) <= line.w)
            break;
    }
    buf_free(&shares);
    return canvas_text(p->c, line.y, line.x, line.w, STYLE_TEXT, text) + 2;
}

bool alike_apart(const Alike *a, int width)
{
    enum { LEAST = 27, MOST = 52 }; /* "centred cosine " and a bar; all of the words */
    return a->side != SIDE_DIFF && a->shown == 1 && width >= LEAST && width < MOST;
}

enum { BETWEEN_LEAST = 3 };

bool alike_draw_between(const Paint *p, const Spot *v, Band band, Rect line)
{
    const Alike *a = v->a;
    const ColourScale *s = &v->scale[band];
    const int x = alike_place_x(a, a->first) + alike_place_wide(a, a->first), at = x + a->gap + 1;
    if (a->words || a->down || a->shown < 2 || a->gap < BETWEEN_LEAST || !s->is_signed || !(s->high > 0))
        return false;
    canvas_text(p->c, line.y, line.x, x - 1 - line.x, STYLE_TEXT, band == COSINE ? "cosine" : "length");
    for (int i = 0; i < a->gap; i++) {
        const float of = s->high * (2 * ((float)i + 0.5F) / (float)a->gap - 1);
        canvas_pixel(p->c, line.y, x + i, -1, colour_scale_colour(s, of), colour_scale_level(s, of),
                     colour_scale_sign(s, of), (Ref){0});
    }
    canvas_text(p->c, line.y, x - 1, 1, STYLE_DIM, "-");
    canvas_printf(p->c, line.y, at - 1, line.x + line.w - at + 1, STYLE_DIM, "+%.3g", (double)s->high);
    return true;
}

int alike_draw_apart(const Paint *p, const Spot *v, Band band, Rect line)
{
    enum { BAR_LEAST = 12, BAR_MOST = 14 };
    const char *word = band == COSINE ? "centred cosine " : "length ";
    if (band == NORMS && alike_draw_between(p, v, band, line))
        return line.w;
    const int used = utf8_cells(word), bar = line.w - used < BAR_MOST ? line.w - used : BAR_MOST;
    if (bar < BAR_LEAST && band == COSINE)
        return 0;
    if (bar < BAR_LEAST)
        return canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "length, ±%.3g", (double)v->scale[band].high);
    canvas_text(p->c, line.y, line.x, used, STYLE_TEXT, word);
    alike_draw_bar(p, &v->scale[band], (Rect){line.y, line.x + used, 1, bar}, 0);
    return used + bar;
}

/* "ln2" where the vectors of a place are what a norm made, else "". */
static const char *norm_before(const Spot *v)
{
    const Shown *norm = &v->value[NORMS];
    NodeId n = norm->node;
    for (int i = 0; i < 3 && norm->graph && n != NO_NODE; i++) /* the root of the sum of the squares of what it is of */
        n = graph_node(norm->graph, n)->in[0];
    if (!norm->graph || n == NO_NODE)
        return "";
    const int of = anatomy_of(norm->graph, graph_node(norm->graph, n)->path);
    const Part *part = of == NO_PART ? NULL : anatomy_part(norm->graph, of);
    return part && part->kind == PART_NORM ? part->word : "";
}

bool alike_coloured(const Spot *v)
{
    return v->value[COLOURS].values && v->a->wide > ALIKE_NUMBER;
}

void alike_draw_note(const Paint *p, const Spot *v, Rect line)
{
    const char *norm = norm_before(v);
    if (*norm && v->a->wide >= ALIKE_ALL)
        rect_cut(&line, 'l', 2 + canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "lengths after %s", norm));
    if (alike_coloured(v))
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, alike_own(v->a, line.w));
}

void alike_draw_longest(const Paint *p, const Spot *v, Rect line)
{
    Buf text = {0};
    alike_put_longest(v, "", line.w, &text);
    canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, buf_str(&text));
    buf_free(&text);
}

void alike_draw_numbers(const Paint *p, const Spot *v, Rect r)
{
    const Alike *a = v->a;
    const Shown *c = &v->value[COSINE], *norm = &v->value[NORMS];
    static const char *const WHOLE[][2] = {{"most like", "least like"}, {"most more", "most less"}},
                             *const BRIEF[][2] = {{"alike", "unlike"}, {"more", "less"}};
    const bool diff = a->side == SIDE_DIFF;
    int best = -1, worst = -1;
    char label[32];
    for (int i = 0; i < a->p->n && c->values; i++) {
        float x = c->values[alike_cell(v, COSINE, i)];
        best = i != a->at && (best < 0 || x > c->values[alike_cell(v, COSINE, best)]) ? i : best;
        worst = i != a->at && (worst < 0 || x < c->values[alike_cell(v, COSINE, worst)]) ? i : worst;
    }
    int each = 2; /* lines; a third where a name leaves too little of its own for a number */
    for (int k = 0; k < 2 && best >= 0; k++)
        each = utf8_cells(axis_label(a->p, k ? worst : best, label, sizeof label)) + 1 + ALIKE_NUMBER > r.w ? 3 : each;
    for (int k = 0; k < 2 && best >= 0 && r.h >= each; k++, rect_cut(&r, 't', each)) {
        int i = k ? worst : best, used = canvas_printf(p->c, r.y + 1, r.x, r.w, STYLE_STRONG, "%s ",
                                                       axis_label(a->p, i, label, sizeof label));
        used = each > 2 ? 0 : used;
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, r.w < 10 + 2 * diff ? BRIEF[diff][k] : WHOLE[diff][k]);
        alike_put_number(p, v, COSINE, alike_cell(v, COSINE, i), (Rect){r.y + each - 1, r.x + used, 1, r.w - used},
                         STYLE_STRONG);
    }
    if (norm->values && r.h >= 2) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "length");
        alike_put_number(p, v, NORMS, alike_cell(v, NORMS, a->at), (Rect){r.y + 1, r.x, 1, r.w}, STYLE_STRONG);
        rect_cut(&r, 't', 2);
    }
    double times;
    const int token = longest_of(v, &times);
    if (token < 0 || r.h < 2)
        return;
    axis_label(a->p, token, label, sizeof label);
    const bool narrow = utf8_cells("longest ") + utf8_cells(label) > r.w;
    canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, narrow ? "longest" : "longest %s", label);
    if (narrow)
        canvas_printf(p->c, r.y + 1, r.x, r.w, STYLE_STRONG, "%s %.1f×", label, times);
    else
        canvas_printf(p->c, r.y + 1, r.x, r.w, STYLE_STRONG, "%.1f× median", times);
    canvas_ref(p->c, r.y, r.x, r.w, shown_ref(norm, alike_cell(v, NORMS, token)));
}

/* The colours from column `from` up to `to`. */
static void draw_colours(const Paint *p, const ColourScale *s, Rect line, int from, int to)
{
    for (int i = from; i < to; i++) {
        float x = s->low + (s->high - s->low) * ((float)(i - from) + 0.5F) / (float)(to - from);
        x = s->clipped && i == to - 1 ? s->most : x; /* what is beyond has a colour of its own */
        canvas_pixel(p->c, line.y, line.x + i, -1, colour_scale_colour(s, x), colour_scale_level(s, x),
                     colour_scale_sign(s, x), (Ref){0});
    }
}

/* Both ends as one number behind the colours, before which stands that they begin below 0: "- ▒▒ 1.2". */
static bool draw_both_ends(const Paint *p, const ColourScale *s, Rect line)
{
    char end[16];
    enum { FROM = 2, BOTH = 2 };
    const int room = line.w - FROM - BOTH - 1;
    if (s->clipped || s->low != -s->high || room < 2)
        return false;
    number_text(end, sizeof end, s->high, room < ALIKE_END ? room : ALIKE_END);
    canvas_text(p->c, line.y, line.x, FROM, STYLE_DIM, "-");
    draw_colours(p, s, line, FROM, FROM + BOTH);
    canvas_text(p->c, line.y, line.x + FROM + BOTH + 1, room, STYLE_DIM, end);
    return true;
}

/* Do so few digits say a number to a twentieth of it? */
static bool says(const char *digits, float x)
{
    return fabs(strtod(digits, NULL) - (double)x) <= fabs((double)x) / 20;
}

void alike_draw_bar(const Paint *p, const ColourScale *s, Rect line, int more)
{
    char low[16], high[16];
    if (!(s->high > s->low))
        return;
    int end = (line.w - ALIKE_SWATCH) / 2 < ALIKE_END ? (line.w - 2) / 2 : ALIKE_END;
    number_text(low, sizeof low, s->low, end);
    number_text(high, sizeof high, s->clipped ? s->most : s->high,
                end - (s->low < 0)); /* as many digits as beside the sign */
    const int needed = utf8_cells(low) + utf8_cells(high) + ALIKE_SWATCH + 2;
    if ((needed > line.w + more || !says(high, s->high)) && draw_both_ends(p, s, line))
        return;
    line.w = needed <= line.w || needed > line.w + more ? line.w : needed;
    int from = canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, low), to = line.w - utf8_cells(high);
    const int right = to, blank = needed <= line.w;
    from += blank;
    to -= blank;
    draw_colours(p, s, line, from, to);
    canvas_text(p->c, line.y, line.x + right, line.w - right, STYLE_DIM, high);
}

void alike_draw_spare(const Paint *p, const Spot *v, Rect line, bool scaled, bool focus)
{
    const Alike *a = v->a;
    static const char *const NAME[] = {"cosine", "colours", "lengths"};
    Buf hint = {0};
    bool cosine = false;
    for (int b = 0; b < a->bands; b++)
        cosine |= a->band[b] == COSINE;
    for (int b = a->bands; b < (a->coloured ? BANDS : BANDS - 1); b++)
        buf_printf(&hint, "%s%s", b == a->bands ? "v: " : ", ", NAME[a->band[b]]);
    int used = 0;
    if (cosine && !scaled && v->value[COSINE].values) {
        used = line.w; /* words of it may stand there */
        if (!alike_draw_between(p, v, COSINE, line)) {
            used = canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, "cosine ");
            alike_draw_bar(p, &v->scale[COSINE], (Rect){line.y, line.x + used, 1, clamp(line.w - used, 0, ALIKE_SHORT)},
                           0);
            used += ALIKE_SHORT + 2;
        }
    }
    if (focus && hint.len && used + utf8_cells(buf_str(&hint)) <= line.w)
        canvas_text(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, buf_str(&hint));
    buf_free(&hint);
}

void alike_draw_nearest(const Paint *p, const Spot *v, Rect r, int x)
{
    const Alike *a = v->a;
    const Shown *c = &v->value[COSINE];
    const bool diff = v->a->side == SIDE_DIFF;
    float last = INFINITY;
    int from = -1;
    for (int y = r.y + 1; y < r.y + r.h && c->values; y++) {
        int next = -1;
        float most = 0;
        for (int i = 0; i < a->p->n; i++) { /* below the one before; of equals by their order */
            float value = c->values[alike_cell(v, COSINE, i)];
            value = diff ? fabsf(value) : value;
            bool later = value < last || (value == last && i > from);
            if (i != a->at && later && (next < 0 || value > most))
                next = i, most = value;
        }
        if (diff && most == 0)
            canvas_text(p->c, y, x, a->wide, STYLE_DIM, y == r.y + 1 ? "no change" : "");
        if (next < 0 || (diff && most == 0))
            return;
        char label[32];
        from = next;
        last = most;
        int used = canvas_printf(p->c, y, x, a->wide, STYLE_DIM, "%s ", axis_label(a->p, next, label, sizeof label));
        alike_put_number(p, v, COSINE, alike_cell(v, COSINE, next), (Rect){y, x + used, 1, a->wide - used}, STYLE_TEXT);
    }
}
