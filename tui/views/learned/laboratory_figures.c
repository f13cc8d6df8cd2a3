/* What the factor does to the head in focus: figures of one row and of all its rows, before and after. */
#include "tui/views/learned/laboratory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/classes.h"

typedef struct LabFigure {
    const char *label, *brief;
    Site row, head;      /* probes of the block: of the row in focus, and of the head's rows together */
    bool gradient;       /* there only behind `gradient` */
    const char *says[2]; /* behind the numbers, as long as there is room for; NULL: the label is enough */
} LabFigure;

static const LabFigure FIGURES[] = {
    {"variance of scores", "var", SITE_SCORE_VARIANCE, SITE_SCORE_VARIANCE_MEAN, false, {NULL}},
    {"entropy, 0–1", "H, 0–1", SITE_ENTROPY_SHARE, SITE_ENTROPY_SHARE_MEAN, false, {NULL}},
    {"largest weight", "max", SITE_LARGEST, SITE_LARGEST_MEAN, false, {NULL}},
    {"softmax Jacobian",
     "|J|",
     SITE_JACOBIAN,
     SITE_JACOBIAN_MEAN,
     false,
     {"the most of a gradient that gets through", "at most gets through"}},
    {"gradient through",
     "grad",
     SITE_GRADIENT_THROUGH,
     SITE_GRADIENT_THROUGH_MEAN,
     true,
     {"the share of this gradient that gets through", "share getting through"}},
};
enum {
    FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES,
    LABEL = 21,
    BRIEF = 7,
    NARROWEST = 8,
    WIDEST = 12,
    WIDEST_ALONE = 22,
    CLASSES_SHOWN = 4
};

/* Columns: of the row and of the head A, B and B / A, or B alone where there is one side; what has no room goes. */
typedef struct Columns {
    int label, width, each; /* each: columns of the row, and as many of the head */
    bool row, head;
} Columns;

static Columns columns_of(Rect r, const Laboratory *l)
{
    Columns c = {.label = r.w >= LABEL + 4 * NARROWEST ? LABEL : BRIEF, .row = true, .head = true};
    int room = r.w - c.label;
    c.each = l->compares ? 3 : 1;
    if (l->compares && room < 6 * NARROWEST)
        c.each = 2;
    c.head = room >= 2 * c.each * NARROWEST;
    int count = c.each * (c.head ? 2 : 1);
    int widest = c.each > 1 ? WIDEST : WIDEST_ALONE;
    c.width = room / count > widest ? widest : room / count;
    return c;
}

int laboratory_figure_lines(const Laboratory *l)
{
    return FIGURE_COUNT + (l->compares ? 2 : 1);
}

static const char *probe_path(const Session *s, Side side, const Laboratory *l, Site site)
{
    return shown_attention(s, side, l->block, site);
}

/* What the mean over a head's rows is divided by; NULL: there is no such mean. */
static const char *rows_path(const Session *s, Side side, const Laboratory *l, const LabFigure *f)
{
    NodeId n = session_node(s, side, probe_path(s, side, l, f->head));
    const Node *mean = n == NO_NODE ? NULL : graph_node(session_graph(s, side), n);
    return mean && mean->op == OP_DIV ? graph_node(session_graph(s, side), mean->in[1])->path : NULL;
}

/* Its name; with "of 9" where not all rows count in the head's mean: of the entropy those that may look at one token
 * alone do not. */
static void draw_label(const Paint *p, const Laboratory *l, const LabFigure *f, int y, int x, int width)
{
    Shown pattern, rows;
    int t = AXIS_NONE;
    char text[48];
    snprintf(text, sizeof text, "%s", f->label);
    if (shown_open(p->s, SIDE_B, probe_path(p->s, SIDE_B, l, SITE_PATTERN), &pattern))
        t = node_role(session_graph(p->s, SIDE_B), pattern.node, ROLE_QUERY);
    if (t != AXIS_NONE && shown_open(p->s, SIDE_B, rows_path(p->s, SIDE_B, l, f), &rows) && rows.values &&
        (int)rows.values[rows.cell] != session_graph(p->s, SIDE_B)->axes[t].n)
        if (snprintf(text, sizeof text, "%s, of %d", f->label, (int)rows.values[rows.cell]) > width)
            snprintf(text, sizeof text, "%s", f->label);
    canvas_text(p->c, y, x, width, STYLE_DIM, width >= LABEL - 1 ? text : f->brief);
}

/* One value, or what there is instead. */
static void draw_value(const Paint *p, const Laboratory *l, const LabFigure *f, bool head, Side side, int y, int x,
                       int width)
{
    Shown v;
    const char *path = probe_path(p->s, side, l, head ? f->head : f->row);
    if (!shown_open(p->s, side, path, &v))
        canvas_right(p->c, y, x + 1, width - 1, STYLE_DIM, "-");
    else if (!v.values)
        canvas_right(p->c, y, x + 1, width - 1, STYLE_DIM, "…");
    else if (f->gradient && isnan(v.values[v.cell])) /* 0/0 */
        canvas_right(p->c, y, x + 1, width - 1, STYLE_DIM, "none");
    else
        shown_number_right(p, &v, v.cell, y, x + 1, width - 1, side == SIDE_A ? STYLE_TEXT : STYLE_STRONG);
}

static void draw_ratio(const Paint *p, const Laboratory *l, const LabFigure *f, bool head, int y, int x, int width)
{
    char number[32], text[40];
    Shown a, b;
    Site site = head ? f->head : f->row;
    if (!shown_open(p->s, SIDE_A, probe_path(p->s, SIDE_A, l, site), &a) ||
        !shown_open(p->s, SIDE_B, probe_path(p->s, SIDE_B, l, site), &b) || !a.values || !b.values ||
        !session_cell_there(p->s, SIDE_A, a.node))
        return;
    double ratio = (double)b.values[b.cell] / (double)a.values[a.cell];
    if (!isfinite(ratio))
        return;
    snprintf(number, sizeof number, ratio < 1e5 ? "%.3g" : "%.1e", ratio);
    snprintf(text, sizeof text, "×%s", number);
    if (utf8_cells(text) < width)
        canvas_right(p->c, y, x + 1, width - 1, STYLE_DIM, text);
}

static void draw_group(const Paint *p, const Laboratory *l, const Columns *c, const LabFigure *f, bool head, int y,
                       int x)
{
    if (!l->compares) {
        draw_value(p, l, f, head, SIDE_B, y, x, c->width);
        return;
    }
    draw_value(p, l, f, head, SIDE_A, y, x, c->width);
    draw_value(p, l, f, head, SIDE_B, y, x + c->width, c->width);
    if (c->each > 2)
        draw_ratio(p, l, f, head, y, x + 2 * c->width, c->width);
}

static void draw_sides(const Paint *p, const Columns *c, int y, int x)
{
    canvas_right(p->c, y, x + 1, c->width - 1, STYLE_SIDE_A, "A");
    canvas_right(p->c, y, x + c->width + 1, c->width - 1, STYLE_SIDE_B, "B");
    if (c->each > 2)
        canvas_right(p->c, y, x + 2 * c->width + 1, c->width - 1, STYLE_HEADER, "B/A");
}

/* "block 1, head 2 | row r3c4 | mean of its 65 rows", and below it the sides. */
static void draw_header(const Paint *p, Rect *r, const Laboratory *l, const Columns *c)
{
    const Graph *g = session_graph(p->s, SIDE_B); /* cross-attention asks from another text than it looks at */
    NodeId pattern = session_node(p->s, SIDE_B, shown_attention(p->s, SIDE_B, l->block, SITE_PATTERN));
    int t = node_role(g, pattern, ROLE_QUERY), group = c->each * c->width;
    Rect line = rect_cut(r, 't', 1);
    char text[96], label[64] = "";
    if (t != AXIS_NONE)
        axis_label(&g->axes[t], p->s->place.at[t], label, sizeof label);
    canvas_printf(p->c, line.y, line.x, c->label, STYLE_HEADER, c->label >= LABEL ? "block %d, head %d" : "b%d h%d",
                  l->block, l->head);
    snprintf(text, sizeof text, "row %s", label);
    canvas_right(p->c, line.y, line.x + c->label + 1, group - 1, STYLE_HEADER, text);
    snprintf(text, sizeof text, group >= 22 ? "mean of its %d rows" : "%d rows", t == AXIS_NONE ? 0 : g->axes[t].n);
    if (c->head)
        canvas_right(p->c, line.y, line.x + c->label + group + 1, group - 1, STYLE_HEADER, text);
    if (!l->compares || r->h < 1)
        return;
    line = rect_cut(r, 't', 1);
    draw_sides(p, c, line.y, line.x + c->label);
    if (c->head)
        draw_sides(p, c, line.y, line.x + c->label + group);
}

static void put_says(const Paint *p, const LabFigure *f, Rect line)
{
    for (int i = 0; i < 2 && f->says[i]; i++)
        if (utf8_cells(f->says[i]) <= line.w) {
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, f->says[i]);
            return;
        }
}

/* Of pictures the answer's gradient is asked for with the screen; of texts nobody has said whose is meant. */
static bool put_unasked(const Paint *p, const Laboratory *l, const LabFigure *f, Rect r)
{
    static const char *const WHY[] = {"not asked for yet (:gradient ADDRESS)", "not asked for yet"};
    for (Side side = SIDE_A; side <= SIDE_B; side++)
        if (session_node(p->s, side, probe_path(p->s, side, l, f->row)) != NO_NODE)
            return false;
    for (size_t i = 0; i < sizeof WHY / sizeof *WHY; i++)
        if (utf8_cells(WHY[i]) < r.w) {
            canvas_text(p->c, r.y, r.x + 1, r.w - 1, STYLE_DIM, WHY[i]);
            return true;
        }
    return false;
}

void laboratory_figures(const Paint *p, Rect r, const Laboratory *l)
{
    if (r.h < 1 || r.w < 1)
        return;
    Columns c = columns_of(r, l);
    draw_header(p, &r, l, &c);
    const int used = c.label + c.each * c.width * (c.head ? 2 : 1) + 2;
    for (int i = 0; i < FIGURE_COUNT && i < r.h; i++) {
        const LabFigure *f = &FIGURES[i];
        draw_label(p, l, f, r.y + i, r.x, c.label - 1);
        if (f->gradient && put_unasked(p, l, f, (Rect){r.y + i, r.x + c.label, 1, r.w - c.label}))
            continue;
        draw_group(p, l, &c, f, false, r.y + i, r.x + c.label);
        if (c.head)
            draw_group(p, l, &c, f, true, r.y + i, r.x + c.label + c.each * c.width);
        put_says(p, f, (Rect){r.y + i, r.x + used, 1, r.w - used});
    }
}

void laboratory_figure_needs(const Session *s, Needs *out)
{
    Laboratory l = laboratory_open(s);
    for (int i = 0; i < FIGURE_COUNT; i++)
        for (int k = 0; k < 4; k++) {
            Side side = k % 2 ? SIDE_A : SIDE_B;
            needs_add(out, side, probe_path(s, side, &l, k < 2 ? FIGURES[i].row : FIGURES[i].head));
            needs_add(out, side, rows_path(s, side, &l, &FIGURES[i]));
        }
}

bool laboratory_figure_at(const Session *s, Rect r, const Laboratory *l, int y, int x, char path[SESSION_PATH])
{
    Columns c = columns_of(r, l);
    int line = y - r.y - (l->compares ? 2 : 1), column = c.width > 0 ? (x - r.x - c.label) / c.width : 0;
    if (!rect_has(r, y, x) || line < 0 || line >= FIGURE_COUNT)
        return false;
    const char *at = probe_path(s, SIDE_B, l,
                                x >= r.x + c.label && column >= c.each ? FIGURES[line].head : FIGURES[line].row);
    snprintf(path, SESSION_PATH, "%s", at ? at : "");
    return session_node(s, SIDE_B, path) != NO_NODE;
}

/* --- the answer --- */

int laboratory_answer_lines(const Laboratory *l)
{
    return l->compares ? 2 : 1;
}

static void draw_answer(const Paint *p, Rect r, Side side, const char *label)
{
    Shown v;
    int used = canvas_text(p->c, r.y, r.x, r.w, side == SIDE_A ? STYLE_SIDE_A : STYLE_SIDE_B, label);
    if (!shown_answer(p->s, side, shown_site(p->s, side, SITE_PROBS), &v)) {
        canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "this model has no classes");
        return;
    }
    if (!v.values) {
        canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "…");
        return;
    }
    size_t at = classes_best(v.values, v.count);
    for (int k = 0; k < CLASSES_SHOWN && at < v.count; k++, at = classes_next(v.values, v.count, at)) {
        char name[64], share[16];
        classes_name(&v, at, name, sizeof name);
        share_text(share, sizeof share, v.values[at]);
        if (used + utf8_cells(name) + (int)strlen(share) + 3 > r.w)
            return;
        used += canvas_printf(p->c, r.y, r.x + used, r.w - used, k ? STYLE_TEXT : STYLE_STRONG, "%s ", name);
        int cells = canvas_text(p->c, r.y, r.x + used, r.w - used, k ? STYLE_TEXT : STYLE_STRONG, share);
        canvas_ref(p->c, r.y, r.x + used, cells, shown_ref(&v, at));
        used += cells + 2;
    }
}

void laboratory_answers(const Paint *p, Rect r, const Laboratory *l)
{
    if (r.h > 0 && !l->compares)
        draw_answer(p, r, SIDE_B, "answer  ");
    else if (r.h > 0)
        draw_answer(p, r, SIDE_A, session_pinned(p->s) ? "A as pinned   " : "A as trained  ");
    if (r.h > 1 && l->compares)
        draw_answer(p, (Rect){r.y + 1, r.x, 1, r.w}, SIDE_B, "B now         ");
}

/* --- the factor of every head --- */

enum { SCALE_LABEL = 9, SCALE_WIDTH = 9 };

void laboratory_scales(const Paint *p, Rect r, const Laboratory *l)
{
    if (r.h < l->layers + 1 || r.w < SCALE_LABEL + l->heads * SCALE_WIDTH)
        return;
    const char *scale = shown_attention(p->s, SIDE_B, l->block, SITE_SCALE);
    char heading[128];
    snprintf(heading, sizeof heading, "%s of every head now: what scores are multiplied by",
             scale ? anatomy_inside_block(session_base(p->s), scale) : "the scale");
    canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, heading);
    for (int b = 0; b < l->layers; b++) {
        Shown now, before;
        bool known = shown_open(p->s, SIDE_B, shown_attention(p->s, SIDE_B, b, SITE_SCALE), &now) && now.values &&
                     now.count == (size_t)l->heads,
             both = shown_open(p->s, SIDE_A, shown_attention(p->s, SIDE_A, b, SITE_SCALE), &before) && before.values &&
                    before.count == now.count;
        int y = r.y + 1 + b;
        canvas_printf(p->c, y, r.x, SCALE_LABEL - 1, STYLE_DIM, "block %d", b);
        for (int h = 0; h < l->heads && known; h++) {
            bool changed = both && now.values[h] != before.values[h];
            shown_number_right(p, &now, (size_t)h, y, r.x + SCALE_LABEL + h * SCALE_WIDTH, SCALE_WIDTH - 2,
                               changed ? STYLE_EDITED : STYLE_TEXT);
            if (b == l->block && h == l->head)
                canvas_glyph(p->c, y, r.x + SCALE_LABEL + h * SCALE_WIDTH - 1, STYLE_CURSOR, '>');
        }
    }
}

bool laboratory_scale_at(Rect r, const Laboratory *l, int y, int x, int *block, int *head)
{
    if (r.h < l->layers + 1 || !rect_has(r, y, x) || x < r.x + SCALE_LABEL)
        return false;
    *block = y - r.y - 1;
    *head = (x - r.x - SCALE_LABEL) / SCALE_WIDTH;
    return *block >= 0 && *block < l->layers && *head < l->heads;
}
