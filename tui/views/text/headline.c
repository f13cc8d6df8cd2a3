#include "tui/views/text/headline.h"

#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/ask/ledgers.h"
#include "core/session/screens/patches.h"
#include "tui/views/attention/word_row.h"

enum { LOW = 12, ROOMY = 30, HIGH = 20, NAME = 7, SIDE_NAME = 9, LABEL = WORD_LABEL, MARKS = 2 };

/* One text of one side. */
typedef struct Line {
    Side side;
    const Axis *axis;
    int asks, seen; /* tokens in focus; −1: none */
    bool here;      /* of the node in focus, not of the answer beside it */
} Line;

static const Sequence TEXT_OF[] = {SEQUENCE_SOURCE, SEQUENCE_TARGET};

static int axis_of(const Session *s, Side side, Sequence sequence)
{
    return graph_role(shown_graph(s, side), ROLE_QUERY, sequence);
}

/* The data cursor on the node's axis of that role and sequence; −1: it has none. */
static int index_of(const Session *s, Side side, AxisRole role, Sequence sequence)
{
    Shown v;
    if (!shown_open(s, side, s->place.path, &v))
        return -1;
    Dims d = graph_node(v.graph, v.node)->dims;
    for (int k = 0; k < d.n; k++)
        if (v.graph->axes[d.axis[k]].role == role && v.graph->axes[d.axis[k]].sequence == sequence)
            return v.at[d.axis[k]];
    return -1;
}

/* Are the words of A others than those of B? */
static bool differ(const Session *s)
{
    const Input *a = session_input(s, SIDE_A), *b = session_input(s, SIDE_B);
    return a != b && session_words(s, SIDE_A) && strcmp(a->path, b->path) != 0;
}

/* The word that `why` named, while its river is on show: it spoke of B. */
static int named(const Session *s, Side side, const Axis *axis)
{
    const LedgerEntry *e;
    int head, token;
    const Axis *of = ledger_on_show(s) && side == SIDE_B ? ledger_why_named(s, side, &e, &head, &token) : NULL;
    return of && of->sequence == axis->sequence && token < axis->n ? token : -1;
}

static bool line_open(const Session *s, Side side, Sequence sequence, Line *l)
{
    int axis = axis_of(s, side, sequence);
    if (axis == AXIS_NONE)
        return false;
    *l = (Line){.side = side, .axis = &shown_graph(s, side)->axes[axis]};
    l->asks = index_of(s, side, ROLE_QUERY, sequence);
    l->seen = index_of(s, side, ROLE_KEY, sequence);
    l->here = l->asks >= 0 || l->seen >= 0;
    int answers = graph_role(shown_graph(s, side), ROLE_ANSWER, SEQUENCE_ANY);
    bool last = answers != AXIS_NONE && (sequence == SEQUENCE_TARGET || axis_of(s, side, SEQUENCE_TARGET) == AXIS_NONE);
    if (l->asks < 0 && l->seen < 0 && last) { /* the answer beside the screen is that of this word */
        int at[SESSION_AXES];
        l->asks = session_at(s, side, at)[axis];
    }
    if (l->seen < 0)
        l->seen = named(s, side, l->axis);
    const int asked = patches_asked(s, sequence);
    if (asked >= 0 && asked < l->axis->n)
        l->asks = asked;
    return true;
}

/* The lines of both sides or of B, in their order. */
static int lines_of(const Session *s, bool both, Line out[4])
{
    int n = 0;
    for (int side = both ? SIDE_A : SIDE_B; side <= SIDE_B; side++)
        for (int k = 0; k < 2; k++)
            n += line_open(s, (Side)side, TEXT_OF[k], &out[n]);
    return n;
}

int headline_lines(const Session *s, int height)
{
    Line line[4];
    if (!session_words(s, SIDE_B) || height < LOW)
        return 0;
    const int n = lines_of(s, differ(s) && height >= ROOMY, line);
    return height < HIGH && n > 1 ? 1 : n;
}

/* As many as there was room for; of one line the text in which something is in focus. */
static int lines_in(const Session *s, int rows, Line out[4])
{
    int n = lines_of(s, false, out);
    if (rows > n && differ(s))
        n = lines_of(s, true, out);
    if (rows == 1 && n > 1)
        out[0] = out[out[1].here];
    return n < rows ? n : rows;
}

static bool marked(const Line *l, int i)
{
    return i == l->asks || i == l->seen;
}

/* Cells of word i and of the blank behind it, if one is there. */
static int cells_of(const Line *l, int i)
{
    char word[LABEL];
    return utf8_cells(word_itself(l->axis, i, word)) + (marked(l, i) ? MARKS : 0) + !word_joined(l->axis, i);
}

/* The first word drawn in `width` cells, so that what is in focus is seen, the one that asks first. */
static int first_of(const Line *l, int width)
{
    int from = 0, focus = l->asks >= 0 ? l->asks : l->seen, to = focus, all = 0;
    for (int i = 0; i < l->axis->n; i++)
        all += cells_of(l, i);
    if (focus < 0 || all - 1 <= width)
        return 0;
    if (l->seen > to)
        to = l->seen;
    int span = 0; /* of the words from `from` to the last in focus */
    for (int i = 0; i <= to; i++)
        span += cells_of(l, i);
    for (; from < focus && span + (from > 0) + 1 > width; from++)
        span -= cells_of(l, from);
    return from;
}

/* The row of attention on show gives its words their ground. */
typedef struct Ground {
    Attend row;
    ColourScale scale;
    bool on; /* the line's words are those looked at */
} Ground;

static Ground ground_of(const Paint *p, const Line *l)
{
    Ground g = {.on = false};
    Side side = p->s->compare == COMPARE_SIDES || differ(p->s) ? l->side : session_side(p->s);
    g.on = view_now(p->s)->traits & VIEW_ATTENTION && attend_open(p->s, side, -1, &g.row) && g.row.v.values &&
           g.row.u_axis->sequence == l->axis->sequence && g.row.u_axis->n == l->axis->n;
    const bool all = view_now(p->s) == &VIEW_SENTENCE && p->s->look.sentence.heads == SENTENCE_ALL;
    if (g.on) /* as in the view below: the legend is there */
        g.scale = all && g.row.heads > 1 ? attend_heads_scale(p, &g.row)
                                         : attend_scale(p, &g.row, view_now(p->s) != &VIEW_MATRIX);
    return g;
}

static void draw_word(const Paint *p, const Line *l, const Ground *g, int i, Rect at, const char *text)
{
    bool mark = marked(l, i);
    canvas_text(p->c, at.y, at.x, at.w, mark ? STYLE_CURSOR : STYLE_TEXT, text);
    size_t cell = g->on ? attend_cell(&g->row, g->row.head, g->row.at_t, i) : 0;
    if (g->on)
        word_ground(p, at.y, at.x + mark, utf8_cells(text) - mark * MARKS, &g->scale, g->row.v.values[cell],
                    shown_ref(&g->row.v, cell));
}

/* Draws the words, or finds the one at click_x: its number, else −1. */
static int walk(const Paint *p, const Line *l, Rect r, bool draw, int click_x)
{
    int from = first_of(l, r.w), x = r.x, end = r.x + r.w;
    Ground ground = {.on = false};
    if (draw)
        ground = ground_of(p, l);
    if (from > 0 && draw)
        canvas_text(p->c, r.y, x, 1, STYLE_DIM, "…");
    x += from > 0;
    for (int i = from; i < l->axis->n; i++) {
        char word[LABEL], text[LABEL + MARKS];
        bool seen = i == l->seen || (i == l->asks && l->seen < 0), asks = i == l->asks;
        int cells = cells_of(l, i), last = i + 1 == l->axis->n;
        word_itself(l->axis, i, word);
        if (seen || asks)
            snprintf(text, sizeof text, "%c%s%c", word_mark(word, seen, false), word, word_mark(word, seen, true));
        else
            snprintf(text, sizeof text, "%s", word);
        if (x + utf8_cells(text) + !last > end) {
            if (draw)
                canvas_text(p->c, r.y, x < end ? x : end - 1, 1, STYLE_DIM, "…");
            return -1;
        }
        if (draw)
            draw_word(p, l, &ground, i, (Rect){r.y, x, 1, end - x}, text);
        else if (click_x >= x && click_x < x + cells)
            return i;
        x += cells;
    }
    return -1;
}

static Rect cut_name(const Session *s, Rect *line)
{
    return rect_cut(line, 'l', differ(s) ? SIDE_NAME : NAME);
}

void headline_draw(const Paint *p, Rect r)
{
    Line line[4];
    int n = lines_in(p->s, r.h, line);
    for (int i = 0; i < n && i < r.h; i++) {
        Rect words = {r.y + i, r.x + 1, 1, r.w - 1}, name = cut_name(p->s, &words);
        bool other = differ(p->s), source = line[i].axis->sequence == SEQUENCE_SOURCE;
        Style style = !other ? STYLE_AXIS : line[i].side == SIDE_A ? STYLE_SIDE_A : STYLE_SIDE_B;
        canvas_printf(p->c, name.y, name.x, name.w - 1, style, "%s%s",
                      !other                   ? ""
                      : line[i].side == SIDE_A ? "A "
                                               : "B ",
                      source                                                      ? "reads"
                      : axis_of(p->s, line[i].side, SEQUENCE_SOURCE) == AXIS_NONE ? "text" /* of whoever typed it */
                                                                                  : "writes");
        walk(p, &line[i], words, true, 0);
    }
}

bool headline_click(const Paint *p, Rect r, int y, int x, Buf *command)
{
    Line line[4];
    char label[LABEL];
    int n = lines_in(p->s, r.h, line), i = y - r.y;
    if (i < 0 || i >= n || !rect_has(r, y, x) || line[i].side != SIDE_B)
        return false;
    Rect words = {y, r.x + 1, 1, r.w - 1};
    cut_name(p->s, &words);
    int word = walk(p, &line[i], words, false, x);
    bool looked = line[i].seen >= 0;
    if (word < 0 || !line[i].here)
        return false;
    buf_printf(command, "%s %s", looked ? "looked" : "query", axis_label(line[i].axis, word, label, sizeof label));
    return true;
}
