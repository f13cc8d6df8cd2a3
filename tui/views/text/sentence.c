/* Attention drawn between words: on the left the words that ask, on the right those looked at, lines between them, and
 * the weights of the row in focus. One head; all heads side by side; the sum or the mean of all, which are nodes of
 * their own. The same picture for the encoder's, the decoder's and the cross-attention. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/attention/attend.h"

enum {
    WORD_MOST = 14,
    NUMBER = 9,
    GAP_LEAST = 6,
    GAP_MOST = 30,
    LINES_MOST = 96,
    BAR_LEAST = 4,
    HEADS_MOST = 16,
    HEAD_COLUMN = 7,
    HEAD_NARROW = 5,
    DOTS_DOWN = 4,
    DOTS_ACROSS = 2
};

typedef struct WordLines {
    Attend a;
    Rect queries, gap, keys; /* of one line per word; gap.w = 0: no room for lines */
    size_t first_t, first_u;
    int word, value_y, head_y; /* width of the right words; −1: none */
    bool all;                  /* every head has a column of numbers … */
    int column;                /* … so wide */
} WordLines;

static int numbers_width(const WordLines *v)
{
    return v->all ? v->a.heads * v->column : NUMBER + BAR_LEAST;
}

static void sentence_layout(const Paint *p, Rect r, WordLines *v)
{
    const Attend *a = &v->a;
    v->all = p->s->look.sentence.heads == SENTENCE_ALL && a->heads > 1 && a->heads <= HEADS_MOST;
    v->value_y = r.h > 2 ? rect_cut(&r, 'b', 1).y : -1;
    v->head_y = v->all && r.h > 2 ? rect_cut(&r, 't', 1).y : -1;
    int left = shown_axis_widest(a->t_axis, WORD_MOST) + 2;
    v->word = shown_axis_widest(a->u_axis, WORD_MOST) + 2; /* the mark in front, a blank behind */
    bool roomy = r.w - left - v->word - GAP_LEAST >= v->a.heads * HEAD_COLUMN;
    v->column = roomy ? HEAD_COLUMN : HEAD_NARROW;
    int gap = r.w - left - v->word - numbers_width(v);
    gap = gap > GAP_MOST ? GAP_MOST : gap < GAP_LEAST ? 0 : gap;
    v->queries = rect_cut(&r, 'l', left);
    v->gap = rect_cut(&r, 'l', gap);
    v->keys = r;
    v->first_t = scroll_first((size_t)a->t_axis->n, (size_t)a->at_t, (size_t)r.h);
    v->first_u = scroll_first((size_t)a->u_axis->n, (size_t)a->at_u, (size_t)r.h);
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

/* --- lines --- */

/* A picture of dots over the gap, 2 × 4 in a cell as braille has them; each cell as strong as its strongest line. */
typedef struct Web {
    uint8_t dots[LINES_MOST][GAP_MOST], rank[LINES_MOST][GAP_MOST];
    int h, w;
} Web;

static void web_dot(Web *web, int y, int x, int rank)
{
    static const uint8_t BIT[DOTS_DOWN][DOTS_ACROSS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int row = y / DOTS_DOWN, col = x / DOTS_ACROSS;
    if (y < 0 || x < 0 || row >= web->h || col >= web->w)
        return;
    web->dots[row][col] |= BIT[y % DOTS_DOWN][x % DOTS_ACROSS];
    web->rank[row][col] = (uint8_t)(rank > web->rank[row][col] ? rank : web->rank[row][col]);
}

/* rank: 1 faint and dotted, 2, 3 strongest. */
static void web_line(Web *web, int from, int to, int rank)
{
    int across = web->w * DOTS_ACROSS, y0 = from * DOTS_DOWN + 1, y1 = to * DOTS_DOWN + 1;
    int down = (y1 > y0 ? y1 - y0 : y0 - y1), steps = down > across ? down : across;
    for (int i = 0; i <= steps; i++)
        if (rank > 1 || i % 6 == 0)
            web_dot(web, y0 + (y1 - y0) * i / steps, (across - 1) * i / steps, rank);
}

/* Nothing is drawn for a small weight: of a row with one large weight one line is left, of an even row all are. */
static int line_rank(float x, float most)
{
    float size = fabsf(x);
    if (!(size > 0) || !isfinite(size) || !(most > 0) || size < most / 8)
        return 0;
    return size > most / 2 ? 3 : 2;
}

static bool is_sum(const WordLines *v)
{
    return site_is(v->a.v.graph, v->a.path, SITE_HEADS_SUM);
}

/* Of that side's model: its sum has lost the axis. */
static int heads_of(const WordLines *v)
{
    int axis = graph_role(v->a.v.graph, ROLE_HEAD, SEQUENCE_ANY);
    return axis == AXIS_NONE ? 1 : v->a.v.graph->axes[axis].n;
}

/* Are these weights, of which a larger one is more attention? Scores have no such meaning, but for the largest. */
static bool are_weights(const WordLines *v)
{
    return v->a.v.side == SIDE_DIFF || v->a.pattern || is_sum(v) || site_is(v->a.v.graph, v->a.path, SITE_MEAN_PATTERN);
}

static void web_fill(const WordLines *v, Web *web)
{
    const Attend *a = &v->a;
    int heads = v->all ? a->heads : 1;
    for (int t = 0; t < a->t_axis->n && are_weights(v) && !v->all;
         t++) /* where every other word looks most, if it looks there */
        if (t != a->at_t && v->a.v.side != SIDE_DIFF)
            for (int k = 0; k < heads; k++) {
                int h = v->all ? k : a->head, u = strongest(v, h, t);
                if (weight(v, h, t, u) >= (is_sum(v) ? (float)heads_of(v) / 2 : 0.5f))
                    web_line(web, t - (int)v->first_t, u - (int)v->first_u, 1);
            }
    for (int k = 0; k < heads; k++) {
        int h = v->all ? k : a->head, best = strongest(v, h, a->at_t);
        float most = fabsf(weight(v, h, a->at_t, best));
        for (int u = 0; u < a->u_axis->n; u++) {
            int rank = are_weights(v) ? line_rank(weight(v, h, a->at_t, u), most) : u == best ? 3 : 0;
            if (rank)
                web_line(web, a->at_t - (int)v->first_t, u - (int)v->first_u, rank);
        }
    }
}

static void draw_web(const Paint *p, const WordLines *v)
{
    static const Style STYLES_OF[] = {STYLE_DIM, STYLE_DIM, STYLE_TEXT, STYLE_STRONG};
    static const char PLAIN[] = " .+#";
    Web web = {.h = v->gap.h < LINES_MOST ? v->gap.h : LINES_MOST, .w = v->gap.w};
    if (!web.w)
        return;
    web_fill(v, &web);
    for (int y = 0; y < web.h; y++)
        for (int x = 0; x < web.w; x++) {
            int rank = web.rank[y][x];
            bool dots = !p->c->ascii && !p->c->blocks;
            if (rank)
                canvas_glyph(p->c, v->gap.y + y, v->gap.x + x, STYLES_OF[rank],
                             dots ? 0x2800u + web.dots[y][x] : (uint32_t)PLAIN[rank]);
        }
}

/* --- words --- */

static void draw_asks(const Paint *p, const WordLines *v, bool focus)
{
    const Attend *a = &v->a;
    for (int i = 0; i < v->queries.h && i + (int)v->first_t < a->t_axis->n; i++) {
        int t = i + (int)v->first_t;
        char label[64];
        bool here = t == a->at_t;
        Style style = here ? STYLE_CURSOR : STYLE_TEXT;
        canvas_glyph(p->c, v->queries.y + i, v->queries.x, style, here ? '>' : ' ');
        canvas_right(p->c, v->queries.y + i, v->queries.x + 1, v->queries.w - 2, style,
                     axis_label(a->t_axis, t, label, sizeof label));
        if (here)
            focus_cursor(p, focus, v->queries.y + i, v->queries.x);
    }
}

static void draw_heads(const Paint *p, const WordLines *v, const ColourScale *scale, int u, int y, Rect r)
{
    for (int h = 0; h < v->a.heads && (h + 1) * v->column <= r.w; h++) {
        size_t cell = attend_cell(&v->a, h, v->a.at_t, u);
        float x = v->a.v.values[cell];
        int at = r.x + h * v->column;
        canvas_pixel(p->c, y, at, -1, colour_scale_colour(scale, x), colour_scale_level(scale, x),
                     colour_scale_sign(scale, x), shown_ref(&v->a.v, cell));
        Style style = h == v->a.head ? STYLE_TEXT : STYLE_DIM;
        if (v->column < HEAD_COLUMN && v->a.pattern && v->a.v.side != SIDE_DIFF) {
            char text[16];
            utf8_print(text, sizeof text, x > 0 && x < 0.005F ? "<1%%" : "%.0f%%", 100 * (double)x);
            canvas_text(p->c, y, at + 1, v->column - 1, style, text);
            canvas_ref(p->c, y, at + 1, v->column - 1, shown_ref(&v->a.v, cell));
        } else
            shown_number(p, &v->a.v, cell, y, at + 1, v->column - 2, style);
    }
}

/* The number, and a bar where 0 … 1 means something. */
static void draw_weight(const Paint *p, const WordLines *v, int u, int y, Rect r)
{
    size_t cell = attend_cell(&v->a, v->a.head, v->a.at_t, u);
    float x = v->a.v.values[cell];
    shown_number_right(p, &v->a.v, cell, y, r.x, NUMBER < r.w ? NUMBER : r.w, STYLE_TEXT);
    int left = r.w - NUMBER - 1;
    if (left >= BAR_LEAST && are_weights(v) && v->a.v.side != SIDE_DIFF && !isnan(x))
        canvas_bar(p->c, y, r.x + NUMBER + 1, left < 24 ? left : 24, (double)x / (is_sum(v) ? heads_of(v) : 1),
                   STYLE_TEXT, shown_ref(&v->a.v, cell));
}

static void draw_keys(const Paint *p, const WordLines *v)
{
    const Attend *a = &v->a;
    ColourScale scale = attend_scale(p, a, false);
    for (int h = 0; v->all && v->head_y >= 0 && h < a->heads && v->word + (h + 1) * v->column <= v->keys.w; h++)
        canvas_printf(p->c, v->head_y, v->keys.x + v->word + h * v->column, v->column - 1,
                      h == a->head ? STYLE_CURSOR : STYLE_AXIS, "%sh%d", h == a->head ? ">" : " ", h);
    for (int i = 0; i < v->keys.h && i + (int)v->first_u < a->u_axis->n; i++) {
        int u = i + (int)v->first_u, y = v->keys.y + i;
        char label[64];
        bool here = u == a->at_u;
        canvas_printf(p->c, y, v->keys.x, v->word, here ? STYLE_CURSOR : STYLE_TEXT, "%s%s", here ? ">" : " ",
                      axis_label(a->u_axis, u, label, sizeof label));
        Rect rest = {y, v->keys.x + v->word, 1, v->keys.w - v->word};
        if (v->all)
            draw_heads(p, v, &scale, u, y, rest);
        else
            draw_weight(p, v, u, y, rest);
    }
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    WordLines v = {.value_y = -1, .head_y = -1};
    if (!attend_ready(p, r, side, &v.a))
        return;
    sentence_layout(p, r, &v);
    draw_web(p, &v);
    draw_asks(p, &v, focus);
    draw_keys(p, &v);
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
    WordLines v = {.value_y = -1, .head_y = -1};
    char label[64];
    if (!attend_open(p->s, side, -1, &v.a) || !v.a.v.values)
        return false;
    sentence_layout(p, r, &v);
    if (rect_has(v.queries, y, x)) {
        int t = (int)v.first_t + y - v.queries.y;
        if (t >= v.a.t_axis->n)
            return false;
        buf_printf(command, "query %s", axis_label(v.a.t_axis, t, label, sizeof label));
        return true;
    }
    int u = (int)v.first_u + y - v.keys.y;
    return rect_has(v.keys, y, x) && u < v.a.u_axis->n && attend_click(&v.a, u, command);
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

VIEW_SPEC(SENTENCE, .name = "sentence", .traits = VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_ATTENTION, .ways = WAYS);
