/* Attention drawn between words: above the sentence that asks, below the one looked at, or, where they have no room in
 * a line, one on the left and one on the right; lines where a share stands out, as thick as it is, and the shares of
 * the row in focus. One head; all heads side by side; the sum or the mean of all, which are nodes of their own. The
 * same picture for the encoder's, the decoder's and the cross-attention. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/utf8.h"
#include "tui/canvas/dots.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"

static const float GROUND_SEEN = 0.03F; /* of the scale: a smaller weight's ground is not told from none */
enum {
    NUMBERS = WORD_SHARE + 2 + WORD_BAR,
    GAP_LEAST = 4,
    GAP_CLEAR = 10, /* in which lines of many rows can be told apart */
    GAP_MOST = 72,
    ACROSS_MOST = 320,
    STACKED_FROM = 9,
    STACKED_MOST = 14,
    SHARES_FROM = 15, /* … with shares that hang from their words */
    SHARES = 6,
    DEEP = 8, /* half lines; of fewer a share of all would be one, or none */
    LINES_MOST = 96,
    PITCH_MOST = 3,
    HEADS_MOST = 16,
    HEAD_COLUMN = 8,
    HEAD_NARROW = 5,
    NAMED_FROM = 12, /* lines of words whose columns have names */
    RULE_FROM = 8,
    RULE_LEAST = 18, /* "lines: > 15.4 %" and two blanks; beside it the scale of all heads */
    RULE_WIDE = 28,
    SCALE_LEAST = 16,
    SCALE_MOST = 28,
    COLOURS_LEAST = 4, /* cells of a scale with short ends */
    COLOURS_MOST = 16,
    THICK = 4
};

typedef struct WordLines {
    Attend a;
    WordList queries, keys;
    Rect gap, right, rule; /* gap.w = 0: no room for lines; right: the numbers */
    Rect colours;          /* what the grounds mean, where no number says it */
    int value_y, head_y;   /* −1: none */
    bool one_line;         /* of scores the row's in focus alone: lines of all would be a tangle in so few columns */
    bool all;              /* every head has a column of cells … */
    int column;            /* … so wide */
    bool stacked;          /* both as sentences, lines from the one above to the one below */
    int folded;            /* masked words behind the last that may be looked at: one line for all of them */
    bool whole;            /* … a low one: every word's share in whole per cent, with no room for depths */
    Running above, below;
} WordLines;

/* Where both fit into a line. */
static bool stack(Rect r, WordLines *v)
{
    Rect top = rect_cut(&r, 't', 1);
    v->right = rect_cut(&r, 'b', r.h > 2 * STACKED_MOST ? r.h - STACKED_MOST : r.h >= SHARES_FROM ? SHARES : 2);
    v->right.h -= v->right.h > 2;
    v->whole = v->right.h == 2 && v->a.whole > 0 && v->a.v.side != SIDE_DIFF && r.h > STACKED_FROM + 1;
    if (v->whole) { /* a line for every word's share */
        rect_cut(&r, 'b', 1);
        v->right = (Rect){v->right.y - 1, v->right.x, 3, v->right.w};
    }
    Rect bottom = rect_cut(&v->right, 't', 1);
    v->gap = r;
    v->stacked = r.h >= STACKED_FROM && r.w <= ACROSS_MOST && r.h <= LINES_MOST &&
                 running_layout(v->a.t_axis, v->a.at_t, -1, top, &v->above) &&
                 running_layout(v->a.u_axis, v->a.at_u, v->a.at_t, bottom, &v->below);
    if (v->stacked) {
        running_spread(&v->above, top);
        running_spread(&v->below, bottom);
    }
    return v->stacked;
}

/* Panels of A and B are compared: they do it both or neither, though a word of one is longer. */
static bool stack_both(const Session *s, Rect r, WordLines *v)
{
    r.w -= session_compares(s); /* panels may be a column apart */
    for (Side side = SIDE_A; session_compares(s) && side <= SIDE_B; side++) {
        WordLines other = {.value_y = -1};
        if (side != v->a.v.side && attend_open(s, side, -1, &other.a) && !stack(r, &other))
            return false;
    }
    return stack(r, v);
}

static float weight(const WordLines *v, int head, int t, int u)
{
    return v->a.v.values[attend_cell(&v->a, head, t, u)];
}

static int strongest(const WordLines *v, int head, int t)
{
    int best = 0;
    for (int u = 1; u < v->a.u_axis->n; u++) {
        float x = weight(v, head, t, u), y = weight(v, head, t, best);
        bool more = v->a.v.side == SIDE_DIFF ? fabsf(x) > fabsf(y) : x > y;
        best = more ? u : best;
    }
    return best;
}

/* The list scrolls to what the row in focus looks at: all that stands out, else the largest; and both sides alike. */
static void scroll_lists(WordLines *v)
{
    const Attend *a = &v->a;
    const int best = strongest(v, a->head, a->at_t), rows = v->queries.lines * v->queries.columns;
    int here = a->at_u < v->keys.n ? a->at_u : v->keys.n - 1, from = best, to = best;
    for (int u = 0; u < a->u_axis->n; u++)
        if (word_stands_out(a, weight(v, a->head, a->at_t, u), u == best)) {
            from = u < from ? u : from;
            to = u > to ? u : to;
        }
    word_list_show(&v->keys, from, to);
    word_list_show(&v->keys, best < here ? best : here, best < here ? here : best);
    const int first = v->keys.first < v->queries.n - rows ? v->keys.first : v->queries.n - rows;
    if (a->t_axis->sequence == a->u_axis->sequence && a->t_axis->n == a->u_axis->n && first >= 0 && a->at_t >= first &&
        a->at_t < first + rows)
        v->queries.first = first;
}

static void sentence_layout(const Paint *p, Rect r, WordLines *v)
{
    const Attend *a = &v->a;
    v->stacked = v->whole = v->one_line = false;
    v->all = p->s->look.sentence.heads == SENTENCE_ALL && a->heads > 1 && a->heads <= HEADS_MOST;
    v->value_y = r.h > 2 ? rect_cut(&r, 'b', 1).y : -1;
    const bool scores = !(a->whole > 0), exact = a->t_axis->n == r.h && a->u_axis->n <= r.h;
    v->rule = rect_cut(&r, 'b', r.h > RULE_FROM && !(scores && exact && !v->all)); /* rather every score than how */
    v->colours = (Rect){0};
    const bool listed = scores && !attend_is_mask(a) && a->t_axis->n <= r.h && a->u_axis->n <= r.h;
    if (!v->all && !listed && stack_both(p->s, r, v)) /* scores have numbers and bars of both signs: a line for each */
        return;
    const int half = r.w / 2, asks = word_widest(p->s, a, true, half), looked = word_widest(p->s, a, false, half);
    if (!v->all && !scores && v->rule.h && r.w - asks - looked - 2 * WORD_MARKS - NUMBERS < GAP_LEAST)
        v->colours = rect_cut(&r, 'b', 1);
    const int between = r.w - asks - looked - 2 * WORD_MARKS - NUMBERS;
    v->one_line = scores && !v->all && !attend_is_mask(a) && between >= GAP_LEAST && between < GAP_CLEAR;
    const bool named = v->all || (v->one_line && r.h >= NAMED_FROM && /* rather every score than what is what */
                                  a->u_axis->n != r.h && !(exact && a->u_axis->n + 1 == r.h));
    v->head_y = named && r.h > 2 ? rect_cut(&r, 't', 1).y : -1;
    v->queries = word_list(r, asks, a->t_axis->n, a->at_t, 0, PITCH_MOST);
    v->folded = word_masked_tail(a);
    const int n = a->u_axis->n - v->folded + (v->folded > 0), at_u = a->at_u < n ? a->at_u : n - 1;
    v->keys = word_list(r, looked, n, at_u, 0, v->queries.pitch);
    if (v->keys.pitch < v->queries.pitch)
        v->queries = word_list(r, asks, a->t_axis->n, a->at_t, 0, v->keys.pitch);
    scroll_lists(v);
    int rest = r.w - v->queries.word - v->keys.word;
    v->column = rest - GAP_LEAST >= a->heads * HEAD_COLUMN ? HEAD_COLUMN : HEAD_NARROW;
    /* in a narrow pane lines come before bars, and those before numbers: the grounds are left */
    int numbers = v->all ? a->heads * v->column : NUMBERS, gap = rest - numbers;
    if (!v->all)
        gap = gap >= GAP_LEAST && gap < rest / 2 ? gap : gap >= GAP_LEAST ? rest / 2 : rest;
    gap = v->one_line ? GAP_LEAST : gap > GAP_MOST ? GAP_MOST : gap < GAP_LEAST ? 0 : gap;
    v->queries.r = rect_cut(&r, 'l', v->queries.word);
    v->gap = rect_cut(&r, 'l', gap);
    v->keys.r = rect_cut(&r, 'l', v->keys.word);
    v->right = r;
    if (!v->rule.h && v->keys.lines * v->keys.pitch < r.h) /* else below the shorter list */
        v->rule = (Rect){r.y + r.h - 1, v->keys.r.x, 1, v->keys.r.w + r.w};
    v->queries.wide = v->queries.r.w;
    v->keys.wide = v->keys.r.w + r.w; /* a click on its numbers is one on the word */
}

/* --- lines --- */

/* A picture of dots over the gap; each cell as strong as its strongest line. */
typedef struct Web {
    const Canvas *c;
    uint32_t dots[LINES_MOST][ACROSS_MOST];
    uint8_t rank[LINES_MOST][ACROSS_MOST];
    int h, w;
} Web;

static void web_dot(Web *web, int y, int x, int rank)
{
    int down = dots_down(web->c), row = y / down, col = x / DOTS_ACROSS;
    if (y < 0 || x < 0 || row >= web->h || col >= web->w)
        return;
    web->dots[row][col] = dots_add(web->c, web->dots[row][col], y % down, x % DOTS_ACROSS);
    web->rank[row][col] = (uint8_t)(rank > web->rank[row][col] ? rank : web->rank[row][col]);
}

/* From the middle of the word that asks to that looked at, `thick` dots wide. rank: 1 of another row, 2, 3 more than
 * half. */
static void web_line(Web *web, const WordLines *v, int t, int u, int rank, int thick)
{
    int dots = dots_down(web->c), y0 = (t - v->queries.first) * v->queries.pitch * dots + dots / 2, x0 = 0,
        y1 = (u - v->keys.first) * v->keys.pitch * dots + dots / 2, x1 = web->w * DOTS_ACROSS - 1;
    if (v->stacked) {
        Rect from = v->above.word[t], to = v->below.word[u];
        x0 = (from.x - v->gap.x) * DOTS_ACROSS + from.w;
        x1 = (to.x - v->gap.x) * DOTS_ACROSS + to.w;
        y0 = 0;
        y1 = web->h * dots - 1;
    }
    int down = abs(y1 - y0), across = abs(x1 - x0), steps = down > across ? down : across;
    for (int i = 0; i <= steps; i++)
        for (int k = 0; k < thick; k++)
            web_dot(web, y0 + (y1 - y0) * i / (steps ? steps : 1) + (v->stacked ? 0 : k - thick / 2),
                    x0 + (x1 - x0) * i / (steps ? steps : 1) + (v->stacked ? k - thick / 2 : 0), rank);
}

/* What stands out of the row in focus, as thick as its share; under it what others give more than half of theirs. */
static void web_fill(const WordLines *v, Web *web)
{
    const Attend *a = &v->a;
    for (int other = !v->one_line; other >= 0; other--)
        for (int t = 0; t < a->t_axis->n; t++)
            for (int k = 0; k < (v->all ? a->heads : 1) && (t != a->at_t) == other && !(v->all && other); k++) {
                int h = v->all ? k : a->head, best = strongest(v, h, t);
                for (int u = 0; u < a->u_axis->n; u++) {
                    float x = weight(v, h, t, u),
                          share = a->whole > 0 ? fabsf(x) / a->whole : u == best && x != 0 && !attend_is_mask(a);
                    bool half = share > 0.5F;
                    if (other ? half : word_stands_out(a, x, u == best))
                        web_line(web, v, t, u, other ? 1 : half ? 3 : 2, other ? 1 : 1 + (int)(share * (THICK - 1)));
                }
            }
}

static void draw_web(const Paint *p, const WordLines *v)
{
    static const Style STYLES_OF[] = {STYLE_DIM, STYLE_DIM, STYLE_TEXT, STYLE_STRONG};
    static const char PLAIN[] = " .+#";
    Web web = {.c = p->c, .h = v->gap.h < LINES_MOST ? v->gap.h : LINES_MOST, .w = v->gap.w};
    if (!web.w)
        return;
    web_fill(v, &web);
    for (int y = 0; y < web.h; y++)
        for (int x = 0; x < web.w; x++) {
            int rank = web.rank[y][x];
            if (rank)
                canvas_glyph(p->c, v->gap.y + y, v->gap.x + x, STYLES_OF[rank],
                             canvas_of_dots(p->c) ? web.dots[y][x] : (uint32_t)PLAIN[rank]);
        }
}

/* --- words --- */

static void draw_asks(const Paint *p, const WordLines *v, bool focus)
{
    const Attend *a = &v->a;
    for (int t = v->queries.first; t < a->t_axis->n; t++) {
        Rect at = word_list_at(&v->queries, t);
        char label[64], text[80];
        bool here = t == a->at_t;
        if (at.h < 1)
            break;
        if (v->one_line && !here) /* beside a score it would be taken for the one that asks */
            continue;
        snprintf(text, sizeof text, here ? ">%s<" : "%s ",
                 shown_pair(a->t_of_a, a->t_axis, t, at.w - WORD_MARKS, label, sizeof label));
        canvas_right(p->c, at.y, at.x, at.w, here ? STYLE_CURSOR : STYLE_TEXT, text);
        if (here)
            focus_cursor(p, focus, at.y, at.x);
    }
}

/* A cell for every head, on one scale; the number where it stands out. */
static void draw_heads(const Paint *p, const WordLines *v, const ColourScale *scale, int u, Rect r)
{
    const Attend *a = &v->a;
    for (int h = 0; h < a->heads && (h + 1) * v->column <= r.w; h++) {
        size_t cell = attend_cell(a, h, a->at_t, u);
        float x = a->v.values[cell];
        int at = r.x + h * v->column, wide = v->column - 1;
        for (int k = 0; k < wide * r.h; k++)
            canvas_pixel(p->c, r.y + k / wide, at + k % wide, -1, colour_scale_colour(scale, x),
                         colour_scale_level(scale, x), colour_scale_sign(scale, x), shown_ref(&a->v, cell));
        if (!word_stands_out(a, x, false))
            continue;
        (wide < WORD_SHARE - 1 ? shown_number_right : shown_share_right)(p, &a->v, cell, r.y, at, wide, STYLE_STRONG);
        word_ground(p, r.y, at, wide, scale, x, shown_ref(&a->v, cell));
    }
}

/* How many of those that ask are above the first line, or below the last, left of their names. */
static void draw_hidden(const Paint *p, const WordLines *v)
{
    const WordList *l = &v->queries;
    const int last = l->first + l->lines - 1;
    if (v->one_line && v->a.t_axis->sequence != v->a.u_axis->sequence) /* none but the one that asks has a line */
        return;
    for (int below = 0; below < 2 && l->lines > 1; below++) {
        char text[16], label[WORD_LABEL];
        const int hidden = below ? l->n - 1 - last : l->first, t = below ? last : l->first;
        const Rect at = word_list_at(l, t);
        const int room = at.w - WORD_MARKS - utf8_cells(axis_label(v->a.t_axis, t, label, sizeof label));
        utf8_print(text, sizeof text, below ? "↓%d" : "↑%d", hidden);
        if (hidden > 0 && utf8_cells(text) <= room)
            canvas_text(p->c, at.y, at.x, room, STYLE_DIM, text);
    }
}

/* What stands in which column, and what the line is. */
static void draw_names(const Paint *p, const WordLines *v)
{
    const char *of = v->a.v.side == SIDE_DIFF ? "change" : "score";
    if (v->head_y >= 0) {
        canvas_right(p->c, v->head_y, v->queries.r.x, v->queries.r.w - 1, STYLE_HEADER, "asks");
        canvas_text(p->c, v->head_y, v->keys.r.x, v->keys.r.w, STYLE_HEADER,
                    v->keys.r.w > (int)sizeof "looked at" - 1 ? "looked at" : "looked");
        canvas_right(p->c, v->head_y, v->right.x, WORD_SHARE + 1, STYLE_HEADER, of);
    }
    char rule[64];
    utf8_print(rule, sizeof rule, "%s: the largest %s of the row", v->one_line ? "dots" : "line", of);
    if (utf8_cells(rule) > v->rule.w)
        utf8_print(rule, sizeof rule, "%s: the largest %s", v->one_line ? "dots" : "line", of);
    if (v->rule.h)
        canvas_text(p->c, v->rule.y, v->rule.x, v->rule.w, STYLE_DIM, rule);
}

static void draw_keys(const Paint *p, const WordLines *v)
{
    const Attend *a = &v->a;
    const ColourScale scale = v->all ? attend_heads_scale(p, a) : attend_scale(p, a, true);
    for (int h = 0; v->all && v->head_y >= 0 && h < a->heads && (h + 1) * v->column <= v->right.w; h++)
        canvas_printf(p->c, v->head_y, v->right.x + h * v->column, v->column - 1,
                      h == a->head ? STYLE_CURSOR : STYLE_AXIS, "%sh%d", h == a->head ? ">" : " ", h);
    for (int u = v->keys.first; u < v->keys.n; u++) {
        Rect at = word_list_at(&v->keys, u);
        if (at.h < 1)
            break;
        if (v->folded && u == v->keys.n - 1) {
            at.w = v->right.x + v->right.w - at.x;
            word_put_folded(p, a, &scale, v->folded, at, v->keys.r.w);
            break;
        }
        word_put(p, a, v->all ? NULL : &scale, u, at.y, at.x, v->keys.r.w); /* lines and cells are of all heads */
        Rect rest = {at.y, v->right.x, at.h, v->right.w};
        if (v->all)
            draw_heads(p, v, &scale, u, rest);
        else
            word_put_share(p, a, &scale, u, a->whole, rest);
    }
}

/* A word's share once more, as how far down its colour reaches; in few lines as a share of
 * the row's largest. */
static void draw_depth(const Paint *p, const WordLines *v, const ColourScale *scale, int u, float largest)
{
    const Attend *a = &v->a;
    Rect at = v->below.word[u];
    size_t cell = attend_cell(a, a->head, a->at_t, u);
    float x = a->v.values[cell];
    const int most = 2 * (v->right.h - 1);
    const double share = (double)(fabsf(x) / (most < DEEP ? largest : a->whole));
    int deep = a->whole > 0 && largest > 0 && !isnan(x) ? (int)(share * most + 0.5) : 0;
    for (int k = 0; k < deep; k++)
        for (int i = 0; i < at.w; i++)
            canvas_pixel(p->c, v->right.y + 1 + k / 2, at.x + i, heat_halves(p) ? k % 2 : -1,
                         colour_scale_colour(scale, x), colour_scale_level(scale, x), colour_scale_sign(scale, x),
                         shown_ref(&a->v, cell));
}

/* "8 7 16 … 5 %" */
static void draw_shares(const Paint *p, const WordLines *v)
{
    const Attend *a = &v->a;
    const int y = v->right.y + 1;
    int end = v->gap.x;
    for (int u = 0; u < v->below.n; u++) {
        const size_t cell = attend_cell(a, a->head, a->at_t, u);
        const Rect at = v->below.word[u];
        char text[16];
        const int w = attend_masked(a, u)
                          ? utf8_print(text, sizeof text, "–")
                          : utf8_print(text, sizeof text, "%.0f", (double)(100 * a->v.values[cell] / a->whole)),
                  x = at.x + (at.w - w + 1) / 2;
        end = x + canvas_text(p->c, y, x, w, STYLE_DIM, text);
        canvas_ref(p->c, y, x, w, shown_ref(&a->v, cell));
    }
    canvas_text(p->c, y, end + 1, v->gap.x + v->gap.w - end - 1, STYLE_DIM, "%");
}

static int share_x(const WordLines *v, int u)
{
    const Rect at = v->below.word[u];
    const int x = at.x + at.w / 2 - WORD_SHARE / 2;
    return x < v->gap.x ? v->gap.x : x;
}

/* The sentence that asks above, the one looked at below on the ground of its shares, those that stand out under it. */
static void draw_stacked(const Paint *p, const WordLines *v, bool focus)
{
    const Attend *a = &v->a;
    ColourScale scale = attend_scale(p, a, true);
    int end = 0;
    for (int t = 0; t < v->above.n; t++) {
        char label[WORD_LABEL];
        Rect at = v->above.word[t];
        bool here = t == a->at_t;
        if (here) {
            canvas_printf(p->c, at.y, at.x - 1, at.w + 2, STYLE_CURSOR, ">%s<", word_itself(a->t_axis, t, label));
            focus_cursor(p, focus, at.y, at.x);
        } else
            canvas_text(p->c, at.y, at.x, at.w, STYLE_TEXT, word_itself(a->t_axis, t, label));
    }
    running_draw(p, a, a->head, &scale, &v->below);
    if (v->whole)
        draw_shares(p, v);
    const int best = strongest(v, a->head, a->at_t);
    for (int u = 0; u < v->below.n; u++) {
        Rect at = v->below.word[u];
        size_t cell = attend_cell(a, a->head, a->at_t, u);
        const int x = share_x(v, u);
        const bool in_way = u != best && best < v->below.n &&
                            abs(x - share_x(v, best)) < WORD_SHARE; /* the largest has its own */
        if (!v->whole)
            draw_depth(p, v, &scale, u, fabsf(weight(v, a->head, a->at_t, best)));
        if (!word_stands_out(a, a->v.values[cell], u == best) || x < end || in_way)
            continue;
        (a->in_share ? shown_share_right : shown_number_right)(p, &a->v, cell, at.y + 1, x, WORD_SHARE, STYLE_STRONG);
        end = x + WORD_SHARE;
    }
}

/* Has more than one word a ground that is seen, or has another pane the same scale? Of one alone it would say nothing
 * that its number does not. */
static bool grounds_compare(const Paint *p, const WordLines *v)
{
    const float seen = GROUND_SEEN * attend_scale(p, &v->a, true).high;
    int grounds = 0;
    for (int u = 0; u < v->a.u_axis->n; u++)
        grounds += fabsf(weight(v, v->a.head, v->a.at_t, u)) >= seen;
    return grounds > 1 || session_compares(p->s);
}

/* From what share on lines are drawn, of all heads beside the scale of their cells. */
static void draw_rule(const Paint *p, const WordLines *v)
{
    Rect rule = v->rule;
    const bool diff = v->stacked && v->a.v.side == SIDE_DIFF;
    /* the grounds of one head are on another scale than those of all heads below; of one word or two the rule says why
     * it is no twice uniform, and needs the line */
    const bool own = !v->all && v->a.v.side != SIDE_DIFF && v->a.whole > 0 && !v->colours.h && v->a.seen > 2 &&
                     rule.w >= RULE_WIDE + 2 + SCALE_LEAST && grounds_compare(p, v);
    if ((v->all || diff || own) && rule.h && rule.w > RULE_LEAST + SCALE_LEAST) {
        const int rest = rule.w - (own ? RULE_WIDE + 2 : RULE_LEAST);
        const Rect bar = rect_cut(&rule, 'r', rest < SCALE_MOST ? rest : SCALE_MOST);
        const ColourScale scale = v->all ? attend_heads_scale(p, &v->a) : attend_scale(p, &v->a, true);
        colour_scale_bar(p, &scale, bar.y, bar.x, bar.w);
        rule.w -= 2;
    }
    const bool wide = v->all && v->a.whole > 0 && rule.w >= RULE_WIDE;
    word_rule(p, &v->a, !v->gap.w ? "bold" : wide ? "lines of all heads" : "lines", rule);
}

/* "0 ▒▒▒▒ 46.4 %", of A − B "B>A 4.1 ▒▒▒▒ 4.1 A>B", in points: what the grounds of words mean. */
static void draw_colours(const Paint *p, const WordLines *v)
{
    const Rect r = v->colours;
    const ColourScale scale = attend_scale(p, &v->a, true);
    char low[24] = "0", high[24], low_end[16] = "0", end[16];
    if (!r.h || !(scale.high > scale.low))
        return;
    const float unit = v->a.in_share ? 100 : 1;
    number_text(end, sizeof end, unit * scale.high, 4);
    number_text(low_end, sizeof low_end, unit * fabsf(scale.low), 4);
    utf8_print(high, sizeof high, v->a.v.side == SIDE_DIFF ? "%s A>B" : v->a.in_share ? "%s %%" : "%s", end);
    utf8_print(low, sizeof low, v->a.v.side == SIDE_DIFF ? "B>A %s" : scale.low < 0 ? "-%s" : "%s", low_end);
    const int room = r.w - utf8_cells(low) - utf8_cells(high) - 2, cells = room < COLOURS_MOST ? room : COLOURS_MOST;
    if (cells < COLOURS_LEAST)
        return;
    int x = r.x + 1 + canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, low);
    for (int i = 0; i < cells; i++, x++) {
        const float value = scale.low + (scale.high - scale.low) * ((float)i + 0.5F) / (float)cells;
        canvas_pixel(p->c, r.y, x, -1, colour_scale_colour(&scale, value), colour_scale_level(&scale, value),
                     colour_scale_sign(&scale, value), (Ref){0});
    }
    canvas_text(p->c, r.y, x + 1, r.x + r.w - x - 1, STYLE_DIM, high);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    WordLines v = {.value_y = -1};
    if (!attend_ready(p, r, side, &v.a))
        return;
    sentence_layout(p, r, &v);
    draw_web(p, &v);
    if (v.stacked)
        draw_stacked(p, &v, focus);
    else {
        draw_asks(p, &v, focus);
        draw_hidden(p, &v);
        draw_keys(p, &v);
    }
    if (v.one_line)
        draw_names(p, &v);
    else
        draw_rule(p, &v);
    draw_colours(p, &v);
    if (v.value_y >= 0)
        attend_value_line(p, &v.a, v.value_y, r.x, r.w);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    attend_needs(s, side, true, out);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    WordLines v = {.value_y = -1};
    char label[64];
    if (!attend_open(p->s, side, -1, &v.a) || !v.a.v.values)
        return false;
    sentence_layout(p, r, &v);
    int t = v.stacked ? running_hit(&v.above, y, x) : word_list_hit(&v.queries, y, x),
        u = v.stacked ? running_hit(&v.below, y, x) : word_list_hit(&v.keys, y, x);
    if (t >= 0)
        buf_printf(command, "query %s", axis_label(v.a.t_axis, t, label, sizeof label));
    return t >= 0 || (u >= 0 && attend_click(&v.a, u, command));
}

static void title(const Session *s, Side side, Buf *out)
{
    Attend a;
    bool open = attend_open(s, side, -1, &a), all = open && s->look.sentence.heads == SENTENCE_ALL && a.heads > 1;
    attend_title(s, side, !all, true, "who looks at whom", out);
}

static const ViewWay WAYS[] = {{"attention between words: one head", "view sentence; option heads one"},
                               {"…all heads side by side", "view sentence; option heads all"},
                               {"…the sum of all heads", "view sentence; option heads sum"},
                               {NULL, NULL}};

VIEW_SPEC(SENTENCE, .name = "sentence", .traits = VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_ATTENTION,
          .below = &VIEW_OTHER_HEADS, .cursor = attend_cursor, .ways = WAYS);
