/* Below an answer's words, where few of them moved: behind every token what A names and what B names, and by how much
 * the word moved that moved most; the token that moved most first, so that it is seen where A and B part. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/answer_table.h"

enum {
    ROWS_MOST = 64,
    LOOKED_AT = 2000000 /* probabilities in a frame */,
    TOKEN_MOST = 10,
    PAIR_MOST = 17, /* "fatigué/large" */
    PLACE = 136,    /* bytes */
    WORD_LEAST = 14,
    WORD_MOST = 18,
    CELLS_LEAST = 4, /* of a name that there is no room for */
    POINTS = 9
};

typedef struct Moved {
    int token;
    float by; /* of the word that moved most, by size */
} Moved;

static const char *const POINTS_OF[] = {"of the word that moved most; grey: A and B name the same",
                                        "of the word that moved most; grey: same", "of the word that moved most"};

/* The whole tensor that a row of an answer was cut from. */
static Shown whole_of(Shown v)
{
    v.cell += v.first;
    v.values -= v.first;
    v.count = graph_cells(v.graph, v.node);
    v.first = 0;
    return v;
}

/* The tokens that moved most, the first of them first. Returns how many. */
static int moved_most(const AnswerTable *t, Moved out[ROWS_MOST], int most)
{
    const Shown all = whole_of(t->diff);
    const size_t words = t->diff.count, tokens = all.count / words;
    int n = 0;
    for (size_t i = 0; i < tokens; i++) {
        Moved m = {(int)i, 0};
        for (size_t k = 0; k < words; k++) {
            const float x = fabsf(all.values[i * words + k]);
            m.by = x > m.by ? x : m.by;
        }
        int at = n < most ? n++ : n - 1;
        if (at == n - 1 && n == most && (int)i >= most && out[at].by >= m.by)
            continue;
        for (; at > 0 && out[at - 1].by < m.by; at--)
            out[at] = out[at - 1];
        out[at] = m;
    }
    return n;
}

/* Is there a row for every token, of the same words on both sides, and not too many to look through in a frame? */
static bool moved_there(const AnswerTable *t)
{
    if (!t->compares || !t->a.values || !t->b.values || !t->diff.values || t->diff.count < 2)
        return false;
    const Dims d = graph_node(t->diff.graph, t->diff.node)->dims;
    const size_t cells = graph_cells(t->diff.graph, t->diff.node);
    return d.n == 2 && cells > t->diff.count && cells <= LOOKED_AT && t->a.count == t->diff.count &&
           t->b.count == t->diff.count && graph_cells(t->a.graph, t->a.node) == cells &&
           graph_cells(t->b.graph, t->b.node) == cells;
}

int answer_moved_lines(const AnswerTable *t, int width)
{
    if (width < 1 + TOKEN_MOST + 2 * WORD_LEAST || !moved_there(t))
        return 0;
    const size_t tokens = graph_cells(t->diff.graph, t->diff.node) / t->diff.count;
    return 1 + (tokens < ROWS_MOST ? (int)tokens : ROWS_MOST);
}

/* "il/elle": what A and B have there. */
static const char *place_name(const AnswerTable *t, int token, char out[PLACE])
{
    const Shown *of[] = {&t->a, &t->b};
    char label[2][64];
    for (int k = 0; k < 2; k++) {
        const Graph *g = of[k]->graph;
        axis_label(&g->axes[graph_node(g, of[k]->node)->dims.axis[0]], token, label[k], sizeof label[k]);
    }
    if (strcmp(label[0], label[1]) == 0)
        utf8_print(out, PLACE, "%s", label[0]);
    else
        utf8_print(out, PLACE, "%s/%s", label[0], label[1]);
    return out;
}

static int rows_of(Rect r, Moved m[ROWS_MOST], const AnswerTable *t)
{
    const int most = r.h - 1 < ROWS_MOST ? r.h - 1 : ROWS_MOST;
    return r.h < ANSWER_MOVED_LEAST || !answer_moved_lines(t, r.w) ? 0 : moved_most(t, m, most);
}

/* Cells of the columns, each with the blank behind it. */
typedef struct Columns {
    int label, word[2], share, decimals; /* what A and B name, the shares in it */
} Columns;

static int columns_width(const Columns *c)
{
    return 1 + c->label + c->word[0] + c->word[1];
}

/* As wide as what stands in them, with shares of so many decimals. */
static Columns columns_needed(const AnswerTable *t, const Moved *m, int n, int decimals)
{
    const Shown *of[] = {&t->a, &t->b};
    const Shown all[] = {whole_of(t->a), whole_of(t->b)};
    const size_t words = t->diff.count;
    Columns c = {.decimals = decimals};
    int name[2] = {0, 0};
    char text[PLACE];
    const Axis *token = &t->diff.graph->axes[graph_node(t->diff.graph, t->diff.node)->dims.axis[0]];
    c.label = shown_axis_widest(token, TOKEN_MOST - 1);
    for (int i = 0; i < n; i++) {
        c.label = clamp(utf8_cells(place_name(t, m[i].token, text)), c.label, PAIR_MOST);
        for (int k = 0; k < 2; k++) {
            const float *row = all[k].values + (size_t)m[i].token * words;
            const size_t best = classes_best(row, words);
            const int cells = utf8_cells(classes_name(of[k], best, text, 64));
            name[k] = cells > name[k] ? cells : name[k];
            share_text_to(text, sizeof text, row[best], decimals);
            c.share = utf8_cells(text) > c.share ? utf8_cells(text) : c.share;
        }
    }
    c.label++;
    for (int k = 0; k < 2; k++)
        c.word[k] = name[k] + 1 + c.share + 1;
    return c;
}

/* Where they need more than there is, whole percentages first, then the widest are cut; what is left goes to the words,
 * beside the points. */
static Columns columns_of(const AnswerTable *t, const Moved *m, int n, int width)
{
    Columns c = columns_needed(t, m, n, 1);
    if (columns_width(&c) > width)
        c = columns_needed(t, m, n, 0);
    const int least = CELLS_LEAST + c.share + 2;
    while (columns_width(&c) > width && (c.label > CELLS_LEAST || c.word[0] > least || c.word[1] > least)) {
        int *widest = c.word[0] >= c.word[1] ? &c.word[0] : &c.word[1];
        widest = c.label >= *widest - c.share - 1 ? &c.label : widest;
        --*widest;
    }
    const int free = width - columns_width(&c);
    for (int left = free - (free >= POINTS ? POINTS : 0); left > 1; left -= 2)
        for (int k = 0; k < 2; k++)
            c.word[k] += c.word[k] < WORD_MOST;
    return c;
}

static void put_word(const Paint *p, const Shown *of, size_t token, size_t words, int y, int x, int w, const Columns *c,
                     Style style)
{
    const Shown all = whole_of(*of);
    const size_t best = classes_best(all.values + token * words, words), cell = token * words + best;
    char name[64];
    shown_share_to(p, &all, cell, y, x + w - c->share - 1, c->share, style, c->decimals);
    canvas_label(p->c, y, x, w - c->share - 2, style, classes_name(of, best, name, sizeof name));
}

void answer_moved_draw(const Paint *p, const AnswerTable *t, Rect r)
{
    Moved m[ROWS_MOST];
    const int n = rows_of(r, m, t);
    if (!n)
        return;
    const size_t words = t->diff.count;
    const Axis *token = &t->diff.graph->axes[graph_node(t->diff.graph, t->diff.node)->dims.axis[0]];
    char label[PLACE];
    const Columns c = columns_of(t, m, n, r.w);
    const int x = r.x + 1, label_w = c.label, a_x = x + label_w, b_x = a_x + c.word[0], end = b_x + c.word[1],
              points = r.x + r.w - end >= POINTS ? POINTS : 0, bar_x = end + points + 1, bar = r.x + r.w - bar_x;
    canvas_text(p->c, r.y, x, label_w - 1, STYLE_HEADER, token->sequence == SEQUENCE_TARGET ? "after" : "at");
    canvas_text(p->c, r.y, a_x, c.word[0] - 1, STYLE_SIDE_A, "A names");
    canvas_text(p->c, r.y, b_x, c.word[1] - 1, STYLE_SIDE_B, "B names");
    if (points)
        canvas_right(p->c, r.y, end, points, STYLE_HEADER, "points");
    for (int i = 0; i < 3 && points; i++) /* as much as there is room for of what they are points of */
        if (utf8_cells(POINTS_OF[i]) <= bar) {
            canvas_text(p->c, r.y, bar_x, bar, STYLE_DIM, POINTS_OF[i]);
            break;
        }
    for (int i = 0; i < n; i++) {
        const size_t at = (size_t)m[i].token;
        const Shown a = whole_of(t->a), b = whole_of(t->b);
        const bool here = at == t->diff.first / words,
                   other = classes_best(a.values + at * words, words) != classes_best(b.values + at * words, words);
        const Style style = other ? STYLE_TEXT : STYLE_DIM;
        const int y = r.y + 1 + i;
        char text[16];
        canvas_text(p->c, y, r.x, 1, STYLE_TITLE, here ? ">" : " ");
        canvas_label(p->c, y, x, label_w - 1, here ? STYLE_TITLE : style, place_name(t, m[i].token, label));
        put_word(p, &t->a, at, words, y, a_x, c.word[0], &c, style);
        put_word(p, &t->b, at, words, y, b_x, c.word[1], &c, style);
        points_text(text, sizeof text, m[i].by);
        if (points)
            canvas_right(p->c, y, end, points, style, text);
        if (bar >= 4)
            canvas_bar(p->c, y, bar_x, bar, (double)m[i].by, style, (Ref){0});
    }
}

bool answer_moved_click(const Paint *p, const AnswerTable *t, Rect r, int y, Buf *command)
{
    Moved m[ROWS_MOST];
    const int n = rows_of(r, m, t), i = y - r.y - 1;
    if (i < 0 || i >= n)
        return false;
    const Shown v = whole_of(t->shown);
    const size_t words = t->diff.count;
    click_cell(p, &v, (size_t)m[i].token * words + t->shown.cell, command);
    return true;
}
