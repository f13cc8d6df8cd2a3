/* What the factor does to this input, where no others are there to be counted: the row of attention in focus and the
 * answer, a line for each token and each answer, before and after. */
#include <math.h>
#include <stdint.h>

#include "tui/views/classes.h"
#include "tui/views/learned/laboratory.h"

enum { WORD_MOST = 14, SHARE = 8, BAR_LEAST = 4, GAP = 3, ANSWERS = 12 };

/* The cells of one side that a list is of: count of them from `first` on, `step` apart. */
typedef struct LiveCells {
    Shown v;
    size_t first, step, count;
    bool there;
} LiveCells;

static LiveCells row_cells(const Session *s, Side side, const Laboratory *l)
{
    LiveCells c = {.there = false};
    if (!shown_open(s, side, shown_attention(s, side, l->block, SITE_PATTERN), &c.v) || !c.v.values)
        return c;
    const Graph *g = c.v.graph;
    int u = node_role(g, c.v.node, ROLE_KEY);
    if (u == AXIS_NONE)
        return c;
    c.step = dims_stride(g->axes, graph_node(g, c.v.node)->dims, u);
    c.first = c.v.cell - (size_t)c.v.at[u] * c.step;
    c.count = (size_t)g->axes[u].n;
    c.there = true;
    return c;
}

static LiveCells answer_cells(const Session *s, Side side)
{
    LiveCells c = {.step = 1};
    c.there = shown_answer(s, side, shown_site(s, side, SITE_PROBS), &c.v) && c.v.values;
    c.count = c.there ? c.v.count : 0;
    return c;
}

static void put_one(const Paint *p, const LiveCells *c, size_t i, int y, int x, int bar, Style style)
{
    size_t cell = c->first + i * c->step;
    char text[16];
    share_text(text, sizeof text, c->v.values[cell]);
    canvas_right(p->c, y, x, SHARE - 1, style, text);
    canvas_ref(p->c, y, x, SHARE - 1, shown_ref(&c->v, cell));
    if (bar >= BAR_LEAST)
        canvas_bar(p->c, y, x + SHARE, bar - 1, (double)c->v.values[cell], style, shown_ref(&c->v, cell));
}

/* One line: the name, A where there is one, B; each with its bar where there is room. */
static void put_pair(const Paint *p, Rect line, int word, const char *label, Style style, const LiveCells *a,
                     const LiveCells *b, size_t i)
{
    int sides = a->there && line.w - word >= 2 * SHARE ? 2 : 1, each = (line.w - word) / sides;
    canvas_label(p->c, line.y, line.x, word - 1 < line.w ? word - 1 : line.w, style, label);
    if (each < SHARE)
        return;
    if (sides > 1 && i < a->count)
        put_one(p, a, i, line.y, line.x + word, each - SHARE, STYLE_SIDE_A);
    put_one(p, b, i, line.y, line.x + word + (sides - 1) * each, each - SHARE, STYLE_SIDE_B);
}

/* The next smaller of its cells, of equals the earlier first; SIZE_MAX: the largest. c->count behind the last. */
static size_t next_largest(const LiveCells *c, size_t after)
{
    const float *x = c->v.values + c->first;
    size_t best = c->count;
    for (size_t i = 0; i < c->count; i++) {
        float here = x[i * c->step], last = after == SIZE_MAX ? INFINITY : x[after * c->step];
        if ((here < last || (!(here > last) && i > after)) && (best == c->count || here > x[best * c->step]))
            best = i;
    }
    return best;
}

/* All that the row looks at, in their order; where they are too many the largest shares, which is said, and none
 * that is masked. */
static void draw_row(const Paint *p, Rect r, const Laboratory *l)
{
    LiveCells a = l->compares ? row_cells(p->s, SIDE_A, l) : (LiveCells){.there = false},
              b = row_cells(p->s, SIDE_B, l);
    if (!b.there)
        return;
    const Graph *g = b.v.graph;
    int t = node_role(g, b.v.node, ROLE_QUERY), u = node_role(g, b.v.node, ROLE_KEY);
    char label[64];
    Rect head = rect_cut(&r, 't', 1);
    bool all = b.count <= (size_t)r.h;
    canvas_printf(p->c, head.y, head.x, head.w, STYLE_HEADER, "%s looks at%s",
                  t == AXIS_NONE ? "" : axis_label(&g->axes[t], b.v.at[t], label, sizeof label), all ? "" : " most");
    a.there = a.there && a.count == b.count;
    int word = shown_axis_widest(&g->axes[u], WORD_MOST) + 2;
    size_t at = all ? 0 : next_largest(&b, SIZE_MAX);
    for (int y = 0; y < r.h && at < b.count && (all || b.v.values[b.first + at * b.step] != 0);
         y++, at = all ? at + 1 : next_largest(&b, at))
        put_pair(p, (Rect){r.y + y, r.x, 1, r.w}, word, axis_label(&g->axes[u], (int)at, label, sizeof label),
                 (int)at == b.v.at[u] ? STYLE_STRONG : STYLE_TEXT, &a, &b, at);
}

static void draw_answer(const Paint *p, Rect r, const Laboratory *l)
{
    LiveCells a = l->compares ? answer_cells(p->s, SIDE_A) : (LiveCells){.there = false},
              b = answer_cells(p->s, SIDE_B);
    Rect head = rect_cut(&r, 't', 1);
    if (!b.there)
        return;
    canvas_text(p->c, head.y, head.x, head.w, STYLE_HEADER, l->compares ? "its answer, A and B" : "its answer");
    a.there = a.there && a.count == b.count;
    size_t at = classes_best(b.v.values, b.count);
    for (int y = 0; y < r.h && y < ANSWERS && at < b.count; y++, at = classes_next(b.v.values, b.count, at)) {
        char name[64];
        classes_name(&b.v, at, name, sizeof name);
        put_pair(p, (Rect){r.y + y, r.x, 1, r.w}, WORD_MOST, name, y ? STYLE_TEXT : STYLE_STRONG, &a, &b, at);
    }
}

void laboratory_live(const Paint *p, Rect r, const Laboratory *l)
{
    if (r.h < 2)
        return;
    if (r.w >= 2 * (WORD_MOST + 2 * SHARE) + GAP) { /* side by side, or the answer alone */
        draw_row(p, rect_cut(&r, 'l', (r.w - GAP) / 2), l);
        rect_cut(&r, 'l', GAP);
    }
    draw_answer(p, r, l);
}
