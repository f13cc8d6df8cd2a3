/* One row of attention: its weights as a map over the patches, and beside it the picture lit by them; of words a line
 * for each, as the sentence reads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/canvas/cell_look.h"
#include "tui/views/attention/lit.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"

/* --- its shares in percent, or its scores, as numbers on the map --- */

enum { TENTHS_FROM = 4, SCORES_FROM = 4, SCORE_MOST = 6, BRACKETS = 2, PICTURE_FROM = 4 };

/* "31", "4.3" where that has room, nothing for what rounds to nothing; a difference with its sign. */
static void percent_text(char *out, size_t n, double share, int width, bool change)
{
    double percent = 100 * share, size = fabs(percent);
    bool tenths = width >= TENTHS_FROM + change && size < 9.95;
    out[0] = '\0';
    if (size >= (tenths ? 0.05 : 0.5))
        utf8_print(out, n, change ? "%+.*f" : "%.*f", tenths, percent);
}

/* The text stands on the colour of its patch; on a picture on the ground, for no ink is read on all of its colours. The
 * cells stay data of the patch: a share in percent is not the number that the trace has. */
static void put_on(const Paint *p, int y, int x, int cells, const char *text, bool ground, Ref ref)
{
    for (int i = 0; i < cells; i++) {
        Cell *k = canvas_at(p->c, y, x + i);
        Colour upper = COLOUR_DEFAULT, lower = COLOUR_DEFAULT;
        if (!k)
            continue;
        Cell old = *k;
        if (cell_is_data(k) && !ground)
            cell_halves(k, &upper, &lower);
        canvas_glyph(p->c, y, x + i, STYLE_STRONG, (uint32_t)(unsigned char)text[i]);
        k->bg = upper;
        k->level = old.level;
        k->sign = old.sign;
        canvas_ref(p->c, y, x + i, 1, ref);
    }
}

static void draw_number(const Paint *p, const Attend *a, const LatticeMap *m, int row, int col, bool picture)
{
    Rect q = lattice_map_patch(m, row, col);
    Ref ref;
    float x = attend_row_value(&(AttendRow){a, a->head}, row, col, &ref);
    int token = a->u.prefix + row * a->u.cols + col;
    int width = q.w - (token == a->at_u || token == a->at_t ? BRACKETS : 0);
    char text[32] = "";
    if (q.h < 1 || width < 1 || isnan(x))
        return;
    if (a->pattern)
        percent_text(text, sizeof text, (double)x, width, a->v.side == SIDE_DIFF);
    else if (width >= SCORES_FROM)
        number_text(text, sizeof text, x, width < SCORE_MOST ? width : SCORE_MOST);
    int cells = (int)strlen(text), whole = strcmp(text, "100") == 0; /* then no neighbour has a number */
    if (!cells || (cells > width && !(whole && width == q.w)))
        return;
    int y = q.y + (q.h - 1) / 2;
    if (m->halves) /* the line in which the middle of the square lies */
        y = m->r.y + ((row - m->row) * m->k + m->k / 2) / 2;
    const int from = q.x + (q.w - cells) / 2, side[] = {from - 1, from + cells};
    put_on(p, y, from, cells, text, picture, ref);
    for (size_t i = 0; i < sizeof side / sizeof *side; i++) { /* without colours its ground would touch it */
        Cell *k = side[i] >= q.x && side[i] < q.x + q.w ? canvas_at(p->c, y, side[i]) : NULL;
        if (k && cell_is_data(k))
            k->level = 1;
    }
    if (cells == q.w && col % 2) /* it touches its neighbours' numbers */
        canvas_attr(p->c, (Rect){y, q.x, 1, cells}, ATTR_UNDERLINE);
}

/* Over a map of the row, where its square has room for that. picture: the map is one, which small squares of it can't
 * spare. */
static void draw_numbers(const Paint *p, const Attend *a, const LatticeMap *m, bool picture)
{
    if (picture && m->k < PICTURE_FROM) /* they would hide it */
        return;
    for (int i = m->row; i < m->row + m->rows; i++)
        for (int j = m->col; j < m->col + m->cols; j++)
            draw_number(p, a, m, i, j, picture);
}

/* Columns of a row of words that has its scores beside its weights; of the number of one. */
enum { SCORED_LEAST = 54, SCORE = 8 };

enum { SQUARE_MOST = 24, LIT_LEAST = 2, PREFIX_SLOT = 20, PITCH_MOST = 3 };

typedef struct RowLayout {
    int value_y, bar_y, prefix_y; /* −1: none */
    Rect legend;                  /* empty where there is no room, or nothing to say */
    WordList words;               /* of what has no picture, instead of the maps */
    int folded;                   /* … masked ones behind it: one line for all of them */
    Rect head;                    /* the names of its columns; empty where there are no scores */
    Shown scores;                 /* what the softmax made the weights of */
    int score;                    /* columns of them; 0: none */
    LatticeMap map, lit;          /* lit.rows = 0: no room for the picture */
} RowLayout;

/* What the exponentials of these weights are made of, be it scaled, biased, capped or masked; NO_NODE where an edit
 * made them of something else. */
static NodeId softmax_input(const Graph *g, NodeId weights)
{
    static const Op STEPS[] = {OP_DIV, OP_MAP, OP_SUB}; /* by their sum, the exponential, less the largest */
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        if (graph_node(g, weights)->op != STEPS[i])
            return NO_NODE;
        weights = graph_node(g, weights)->in[0];
    }
    return weights;
}

/* What the softmax made this head's weights of, cell by cell; NULL where there is none, or no room. */
static const char *scores_path(const Session *s, const Attend *a, Rect r)
{
    const Graph *g = a->v.graph;
    if (!a->pattern || a->v.side == SIDE_DIFF || r.w < SCORED_LEAST || !attend_listed(a) ||
        (s->compare == COMPARE_SIDES && session_compares(s)))
        return NULL;
    const NodeId n = softmax_input(g, a->v.node);
    if (n == NO_NODE)
        return NULL;
    const Dims d = graph_node(g, n)->dims, of = graph_node(g, a->v.node)->dims;
    for (int i = 0; i < of.n; i++)
        if (d.n != of.n || d.axis[i] != of.axis[i])
            return NULL;
    return graph_node(g, n)->path;
}

static RowLayout row_layout(const Paint *p, Rect r, const Attend *a)
{
    RowLayout l = {.value_y = -1, .bar_y = -1, .prefix_y = -1};
    if (r.h > 1)
        l.value_y = r.y + --r.h;
    if (r.h > 5)
        l.bar_y = r.y + --r.h;
    if (a->u.prefix && r.h > 1)
        l.prefix_y = r.y + --r.h;
    if (attend_listed(a)) {
        if (r.h > 2)
            l.legend = rect_cut(&r, 'b', 1);
        l.folded = word_masked_tail(a);
        const int n = a->u_axis->n - l.folded + (l.folded > 0), at_u = a->at_u < n ? a->at_u : n - 1,
                  widest = word_widest(p->s, a, false, r.w);
        const char *scores = r.h > n ? scores_path(p->s, a, r) : NULL;
        if (scores && shown_open(p->s, a->v.side, scores, &l.scores))
            l.head = rect_cut(&r, 't', 1);
        l.words = word_list(r, widest, n, at_u, WORD_SHARE + WORD_BAR + 1, PITCH_MOST);
        WordList close = word_list(r, widest, n, at_u, WORD_SHARE, PITCH_MOST); /* rather all words than bars */
        if (l.words.lines * l.words.columns < l.words.n && close.lines * close.columns >= close.n)
            l.words = close;
        l.score = l.head.h && l.words.columns == 1 ? (r.w - l.words.word) / 2 : 0;
        return l;
    }
    int row = 0, col = 0;
    attend_place(a, a->at_u, &row, &col);
    Rect half = {r.y, r.x, r.h, (r.w - 2) / 2};
    bool can = lit_picture(p->s, a->v.side) && half.w > 0;
    l.map = lattice_map(p, r, a->u.rows, a->u.cols, SQUARE_MOST, row, col);
    LatticeMap beside = can ? lattice_map(p, half, a->u.rows, a->u.cols, SQUARE_MOST, row, col) : (LatticeMap){0};
    bool narrow = p->s->compare == COMPARE_SIDES && beside.k < l.map.k; /* three panes: the weights come first */
    if (can && !narrow && (beside.k >= LIT_LEAST || beside.k == l.map.k)) {
        l.map = l.lit = beside;
        l.lit.r.x += l.map.r.w + 2;
    }
    if (l.prefix_y >= 0)
        l.prefix_y = l.map.r.y + l.map.r.h;
    int end = r.y + r.h + (l.prefix_y >= 0), under = l.map.r.y + l.map.r.h + (l.prefix_y >= 0) + 1;
    if (under < end)
        l.legend = (Rect){under, r.x, end - under, r.w};
    return l;
}

/* Prefix tokens have no place in the picture: "cls ## .052" each in a slot of a line, the cursor's among them. */
static int prefix_first(const Attend *a, Rect r)
{
    int room = r.w / PREFIX_SLOT > 0 ? r.w / PREFIX_SLOT : 1;
    return (int)scroll_first((size_t)a->u.prefix, (size_t)(a->at_u < a->u.prefix ? a->at_u : 0), (size_t)room);
}

static void draw_prefix(const Paint *p, const Attend *a, const ColourScale *scale, Rect r, int y, bool focus)
{
    int first = prefix_first(a, r), slots = r.w / PREFIX_SLOT > 0 ? r.w / PREFIX_SLOT : 1;
    for (int i = 0; i < slots && first + i < a->u.prefix; i++) {
        int u = first + i, x = r.x + i * PREFIX_SLOT, end = i + 1 < slots ? x + PREFIX_SLOT - 1 : r.x + r.w;
        bool here = u == a->at_u;
        char label[32], number[32];
        size_t cell = attend_cell(a, a->head, a->at_t, u);
        float v = a->v.values[cell];
        if (here)
            focus_cursor(p, focus, y, x);
        x += canvas_printf(p->c, y, x, end - x, here ? STYLE_CURSOR : STYLE_AXIS,
                           here           ? "[%s]"
                           : u == a->at_t ? ">%s<"
                                          : " %s ",
                           axis_label(a->u_axis, u, label, sizeof label));
        for (int k = 0; k < 2 && end - x > 2; k++, x++)
            canvas_pixel(p->c, y, x, -1, colour_scale_colour(scale, v), colour_scale_level(scale, v),
                         colour_scale_sign(scale, v), shown_ref(&a->v, cell));
        if (!a->in_share)
            number_text(number, sizeof number, v, 9);
        else if (a->v.side == SIDE_DIFF)
            points_text(number, sizeof number, v);
        else
            share_text(number, sizeof number, v);
        if (x + 1 + (int)strlen(number) <= end)
            canvas_ref(p->c, y, x + 1, canvas_text(p->c, y, x + 1, 9, STYLE_TEXT, number), shown_ref(&a->v, cell));
    }
}

/* The largest of those that the row may look at, by size. */
static float most_of_scores(const Attend *a, const Shown *scores)
{
    float most = 0;
    for (int u = 0; u < a->u_axis->n; u++) {
        const float x = fabsf(scores->values[attend_cell(a, a->head, a->at_t, u)]);
        most = !attend_masked(a, u) && isfinite(x) && x > most ? x : most;
    }
    return most;
}

static void draw_score(const Paint *p, const Attend *a, const Shown *scores, float most, int u, Rect at)
{
    const size_t cell = attend_cell(a, a->head, a->at_t, u);
    const float x = scores->values[cell];
    if (attend_masked(a, u)) /* the softmax got none */
        return;
    shown_number_right(p, scores, cell, at.y, at.x, SCORE, STYLE_TEXT);
    for (int i = 0; i < (at.h > 1 ? at.h - 1 : 1) && most > 0 && isfinite(x); i++)
        canvas_bar_signed(p->c, at.y + i, at.x + SCORE + 1, at.w - SCORE - 1, (double)(x / most), STYLE_TEXT,
                          STYLE_NEGATIVE, shown_ref(scores, cell));
}

/* Or raw, in a model without that step. */
static bool is_scaled(const Shown *scores)
{
    const int part = anatomy_of(scores->graph, graph_node(scores->graph, scores->node)->path);
    return part >= 0 && site_node(scores->graph, part, SITE_SCORES_SCALED) != NO_NODE;
}

static void draw_heads(const Paint *p, const RowLayout *l)
{
    enum { NAMED = SCORE + sizeof "scaled" };
    const int x = l->words.r.x + l->words.word;
    canvas_right(p->c, l->head.y, x, WORD_SHARE, STYLE_HEADER, "weight");
    canvas_right(p->c, l->head.y, l->head.x + l->head.w - l->score + 1 + SCORE - NAMED, NAMED, STYLE_HEADER,
                 is_scaled(&l->scores) ? "scaled score" : "raw score");
}

/* What a bar as long as there is room stands for: all of the row, unless no weight is a quarter of it, and below the
 * bars is room to say so. */
static float bars_end(const Paint *p, const Attend *a, const RowLayout *l)
{
    enum { RULE = 40, SAYS = 16 };
    float most = 0;
    for (int u = 0; u < a->u_axis->n; u++)
        most = fmaxf(most, a->v.values[attend_cell(a, a->head, a->at_t, u)]);
    if (l->score || session_compares(p->s) || l->words.columns > 1 || l->words.lines < l->words.n ||
        l->legend.w < RULE + SAYS || !(most > 0 && most < a->whole / 4))
        return a->whole;
    char text[SAYS + 8];
    utf8_print(text, sizeof text, "bars to %.1f %%", 100 * (double)(most / a->whole));
    canvas_right(p->c, l->legend.y, l->legend.x, l->legend.w, STYLE_DIM, text);
    return most;
}

/* A line for each word: on its ground, with its number and a bar; where there is room also its score. */
static void draw_words(const Paint *p, const Attend *a, const ColourScale *scale, const RowLayout *l, bool focus)
{
    const bool scored = l->score && l->scores.values;
    const float most = scored ? most_of_scores(a, &l->scores) : 0;
    if (scored)
        draw_heads(p, l);
    const float end = bars_end(p, a, l);
    for (int u = l->words.first; u < l->words.n; u++) {
        Rect at = word_list_at(&l->words, u);
        const bool folds = l->folded && u == l->words.n - 1;
        if (at.h < 1)
            break;
        if (u == a->at_u || (folds && u < a->at_u))
            focus_cursor(p, focus, at.y, at.x);
        if (folds) {
            word_put_folded(p, a, scale, l->folded, at, l->words.word);
            break;
        }
        Rect word = rect_cut(&at, 'l', l->words.word);
        word_put(p, a, scale, u, word.y, word.x, word.w);
        at.w -= l->words.columns > 1;
        Rect score = rect_cut(&at, 'r', l->score);
        rect_cut(&score, 'l', 1);
        if (scored)
            draw_score(p, a, &l->scores, most, u, score);
        word_put_share(p, a, scale, u, end, at);
    }
    word_rule(p, a, "bold", l->legend);
    word_list_more(p, &l->words, l->legend);
}

static void mark_token(const Paint *p, const Attend *a, const LatticeMap *m, int token, const char marks[3],
                       Style style)
{
    int row, col;
    if (attend_place(a, token, &row, &col))
        lattice_map_mark(p, m, row, col, marks, style, shown_ref(&a->v, attend_cell(a, a->head, a->at_t, token)));
}

/* What lights the picture: shares from 0 on; of scores, of which a softmax sees the differences alone, from the least
 * that the row has. */
typedef struct RowLight {
    float least, most;
} RowLight;

static RowLight row_light(const Attend *a, const ColourScale *scale)
{
    RowLight light = {INFINITY, -INFINITY};
    Ref ref;
    if (!scale->is_signed || a->v.side == SIDE_DIFF)
        return (RowLight){0, scale->high};
    for (int i = 0; i < a->u.rows * a->u.cols; i++) {
        const float x = attend_row_value(&(AttendRow){a, a->head}, i / a->u.cols, i % a->u.cols, &ref);
        if (isfinite(x))
            light = (RowLight){fminf(light.least, x), fmaxf(light.most, x)};
    }
    return light;
}

/* "In the picture, bright and coloured: large.", with both ends where dark is not 0; a difference in its colours, as
 * its map is, and where too few are there, in lines of two colours or of none. */
static void put_light(const Paint *p, const RowLight *light, bool diff, bool lined, char *out, size_t n)
{
    char most[16], least[16];
    if (diff || lined) {
        static const char *const SAYS[2][2] = {
            {"In the picture, outlined: at least a quarter of the largest.",
             "In the picture, orange: more in A, blue: more in B."},
            {"In the picture, outlined: at least a quarter of the largest, of either sign.",
             "In the picture, outlined: a quarter of the largest or more; blue: more in B."}};
        const bool hues = heat_halves(p);
        snprintf(out, n, "%s",
                 !diff   ? SAYS[0][0]
                 : lined ? SAYS[1][hues]
                 : hues  ? SAYS[0][1]
                         : "In the picture, bright: large, of either sign.");
        return;
    }
    number_text(most, sizeof most, light->most, 6);
    number_text(least, sizeof least, light->least, 6);
    if (light->least == 0)
        snprintf(out, n, "In the picture, bright and coloured: large.");
    else
        snprintf(out, n, "In the picture, bright: the most, %s; dim: the least, %s.", most, least);
}

/* Whole sentences, as many as there is room for. */
static void draw_legend(const Paint *p, const Attend *a, const RowLayout *l, const RowLight *light)
{
    char text[240] = "", longer[240], lit[120] = "";
    if (l->lit.rows)
        put_light(p, light, a->v.side == SIDE_DIFF, lit_lined(p, &l->lit), lit, sizeof lit);
    static const char *const OF[3][3] = {{"[ ] is looked at: its value is below.", "#: values as numbers.", ""},
                                         {"[ ] is looked at: its weight is below.", "#: weights as numbers.",
                                          "Numbers: percent of the row."},
                                         {"[ ] is looked at: the change of its weight is below.",
                                          "#: changes as numbers.", "Numbers: points."}};
    const char *const *of = OF[!a->pattern ? 0 : a->v.side == SIDE_DIFF ? 2 : 1];
    const char *const SAYS[] = {of[0], attend_asks(a, a->at_t) ? "> < asks." : "", lit,
                                of[p->s->look.row.overlay == ROW_NUMBERS ? 2 : 1]};
    for (size_t i = 0; i < sizeof SAYS / sizeof *SAYS; i++) {
        utf8_print(longer, sizeof longer, "%s%s%s", text, *text && *SAYS[i] ? "   " : "", SAYS[i]);
        if (canvas_wrap_rows(p->c, l->legend.w, longer) <= l->legend.h)
            memcpy(text, longer, sizeof text);
    }
    canvas_wrap(p->c, l->legend, STYLE_DIM, text);
}

/* How much of the patches is there, where that is not all: beside the maps, else at the end of a line below. */
static void put_part(const Paint *p, const Attend *a, const RowLayout *l, Rect r, Rect *below)
{
    enum { APART = 2, LEAST = 10, KEPT = 16 };
    const LatticeMap *m = &l->map, *last = l->lit.rows ? &l->lit : m;
    Rect beside = r;
    if (attend_listed(a) || m->rows >= a->u.rows)
        return;
    rect_cut(&beside, 'l', last->r.x + last->r.w + APART - r.x);
    lattice_rows_part(p, m->row, m->rows, a->u.rows, beside.w >= LEAST ? &beside : below, beside.w >= LEAST ? 0 : KEPT);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Attend a;
    if (!attend_ready(p, r, side, &a))
        return;
    RowLayout l = row_layout(p, r, &a);
    ColourScale scale = attend_scale(p, &a, true);
    Rect bar = {l.bar_y, r.x, l.bar_y >= 0, r.w}, value = {l.value_y, r.x, l.value_y >= 0, r.w};
    put_part(p, &a, &l, r, bar.h ? &bar : &value);
    if (bar.h)
        colour_scale_bar(p, &scale, bar.y, bar.x, bar.w);
    if (value.h)
        attend_value_line(p, &a, value.y, value.x, value.w);
    if (attend_listed(&a)) {
        draw_words(p, &a, &scale, &l, focus);
        return;
    }
    const RowLight light = row_light(&a, &scale);
    lattice_map_draw(p, &l.map, &scale, attend_row_value, &(AttendRow){&a, a.head});
    const bool diff = a.v.side == SIDE_DIFF; /* what B has more is as much as what A has */
    if (l.lit.rows)
        lit_draw(&(Lit){p, &l.lit, lit_picture(p->s, a.v.side), attend_row_value, &(AttendRow){&a, a.head}, light.most,
                        light.least, diff, diff && !lit_lined(p, &l.lit) ? &scale : NULL});
    if (p->s->look.row.overlay == ROW_NUMBERS) {
        draw_numbers(p, &a, &l.map, false);
        if (l.lit.rows)
            draw_numbers(p, &a, &l.lit, true);
    }
    if (l.prefix_y >= 0)
        draw_prefix(p, &a, &scale, r, l.prefix_y, focus);
    int row, col;
    for (int both = 0; both < (l.lit.rows ? 2 : 1); both++) {
        const LatticeMap *m = both ? &l.lit : &l.map;
        if (attend_asks(&a, a.at_t))
            mark_token(p, &a, m, a.at_t, "><o", STYLE_STRONG);
        mark_token(p, &a, m, a.at_u, "[]!", STYLE_CURSOR); /* its value is the one that is printed */
    }
    if (attend_place(&a, a.at_u, &row, &col)) {
        Rect patch = lattice_map_patch(&l.map, row, col);
        if (patch.h)
            focus_cursor(p, focus, patch.y + (patch.h - 1) / 2, patch.x);
    }
    if (side == SIDE_A || p->s->compare != COMPARE_SIDES || !session_compares(p->s)) /* once is enough */
        draw_legend(p, &a, &l, &light);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    Attend a;
    attend_needs(s, side, true, out);
    if (attend_open(s, side, -1, &a) && scores_path(s, &a, r))
        needs_add(out, side, scores_path(s, &a, r));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Attend a;
    int row, col;
    if (!attend_open(p->s, side, -1, &a) || !a.v.values)
        return false;
    RowLayout l = row_layout(p, r, &a);
    int word = word_list_hit(&l.words, y, x);
    if (attend_listed(&a))
        return word >= 0 && attend_click(&a, word, command);
    if (y == l.prefix_y) {
        int u = prefix_first(&a, r) + (x - r.x) / PREFIX_SLOT;
        return u < a.u.prefix && attend_click(&a, u, command);
    }
    if (lattice_map_hit(&l.map, y, x, &row, &col) || (l.lit.rows && lattice_map_hit(&l.lit, y, x, &row, &col)))
        return attend_click(&a, a.u.prefix + row * a.u.cols + col, command);
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    attend_title(s, side, true, true, "one row", out);
}

static const ViewWay WAYS[] = {{"numbers    the row's shares in percent on its patches", "overlay numbers"},
                               {"off        colours and outlines alone", "overlay off"},
                               {"play       the rows one after the other; any key stops", "play rows"},
                               {NULL, NULL}};

static const KeyBinding KEYS[] = {{"#", "overlay", NULL,
                                   "a row: its shares in percent written on the patches, and away again", 0, 0, NULL},
                                  {.key = NULL}};

VIEW_SPEC(ROW, .name = "row", .traits = VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_ATTENTION, .cursor = attend_cursor,
          .below = &VIEW_OTHER_HEADS, .keys = KEYS, .ways = WAYS);
