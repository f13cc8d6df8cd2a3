/* Tokens by experts in one block: the router's probability as the ground of a cell, the weight of those that are chosen
 * in it; and how often each expert is chosen in this text, beside what all would get if they were chosen alike. */
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/shown.h"

enum { LABEL_LEAST = 8, LABEL_MOST = 16, CELL_MOST = 7, CELL_NUMBERS = 5, LINES = 3 };

typedef struct Experts {
    Shown weights, probs;
    const Axis *tokens, *experts;
    int t, x; /* at the cursor */
    Rect cells;
    int label, cell; /* widths */
    int rows, cols, row0, col0;
    int used_y; /* of the counts below; 0: no room */
} Experts;

/* Paths of the block in focus, on that side; NULL where it has none. */
static const char *path_of(const Session *s, Side side, Site site)
{
    const Graph *g = shown_graph(s, side);
    const int part = anatomy_of(g, s->place.path);
    return part == NO_PART ? NULL : site_path(g, part, site);
}

static bool open_experts(const Session *s, Side side, Rect r, Experts *e)
{
    *e = (Experts){.cells = r};
    if (!shown_open(s, side, path_of(s, side, SITE_EXPERTS_WEIGHTS), &e->weights) ||
        !shown_open(s, side, path_of(s, side, SITE_ROUTER_PROBS), &e->probs))
        return false;
    const Graph *g = e->weights.graph;
    const Dims d = graph_node(g, e->weights.node)->dims;
    e->tokens = &g->axes[d.axis[0]];
    e->experts = &g->axes[d.axis[1]];
    e->t = (int)(e->weights.cell / (size_t)e->experts->n);
    e->x = (int)(e->weights.cell % (size_t)e->experts->n);
    e->label = shown_axis_widest(e->tokens, LABEL_MOST) + 2;
    e->label = e->label < LABEL_LEAST ? LABEL_LEAST : e->label;
    rect_cut(&e->cells, 'l', e->label);
    rect_cut(&e->cells, 't', r.h > LINES);
    const int below = r.h > 2 * LINES ? LINES : r.h > LINES;
    e->rows = e->cells.h - below < e->tokens->n ? e->cells.h - below : e->tokens->n;
    e->cell = e->cells.w / e->experts->n;
    e->cell = e->cell > CELL_MOST ? CELL_MOST : e->cell < CELL_NUMBERS ? CELL_NUMBERS : e->cell;
    e->cols = e->cells.w / e->cell < e->experts->n ? e->cells.w / e->cell : e->experts->n;
    if (e->rows < 1 || e->cols < 1)
        return false;
    e->row0 = (int)scroll_first((size_t)e->tokens->n, (size_t)e->t, (size_t)e->rows);
    e->col0 = (int)scroll_first((size_t)e->experts->n, (size_t)e->x, (size_t)e->cols);
    e->used_y = below ? e->cells.y + e->rows : 0;
    return true;
}

static size_t cell_of(const Experts *e, int t, int x)
{
    return (size_t)t * (size_t)e->experts->n + (size_t)x;
}

/* Tokens that get expert x; all choices of the text. */
static int count_of(const Experts *e, int x, int *all)
{
    int have = 0;
    *all = 0;
    for (int t = 0; t < e->tokens->n; t++)
        for (int k = 0; k < e->experts->n; k++) {
            const bool chosen = e->weights.values[cell_of(e, t, k)] > 0;
            *all += chosen;
            have += chosen && k == x;
        }
    return have;
}

/* ".53" of a weight, "1" of all of it, "<.01" of next to nothing. */
static void put_weight(float w, char out[16])
{
    char text[16];
    utf8_print(text, sizeof text, "%.2f", (double)w);
    utf8_print(out, 16, "%s", w >= 0.995f ? "1" : w < 0.005f ? "<.01" : text + 1);
}

static void draw_row(const Paint *p, const Experts *e, const ColourScale *scale, int row, bool focus)
{
    const int t = e->row0 + row, y = e->cells.y + row;
    char text[64];
    canvas_printf(p->c, y, e->cells.x - e->label, e->label - 1, t == e->t ? STYLE_CURSOR : STYLE_AXIS, "%s%s",
                  t == e->t ? ">" : " ", axis_label(e->tokens, t, text, sizeof text));
    for (int col = 0; col < e->cols; col++) {
        const int x = e->col0 + col, at = e->cells.x + col * e->cell;
        const size_t cell = cell_of(e, t, x);
        const float w = e->weights.values[cell];
        const bool here = t == e->t && x == e->x;
        put_weight(w, text);
        canvas_fill(p->c, (Rect){y, at, 1, e->cell - 1}, here ? STYLE_CURSOR : STYLE_TEXT, ' ');
        if (w > 0)
            canvas_right(p->c, y, at, e->cell - 1, here ? STYLE_CURSOR : STYLE_STRONG, text);
        const Ref ref = shown_ref(w > 0 ? &e->weights : &e->probs, cell);
        if (here)
            canvas_ref(p->c, y, at, e->cell - 1, ref);
        else
            word_ground(p, y, at, e->cell - 1, scale, e->probs.values[cell], ref);
        if (here)
            focus_cursor(p, focus, y, at);
    }
}

/* How often each is chosen, and the same of all alike. */
static void draw_used(const Paint *p, const Experts *e, Rect r)
{
    int all, y = e->used_y;
    char text[24];
    const int here = count_of(e, e->x, &all);
    canvas_text(p->c, y, r.x, e->label - 1, STYLE_HEADER, " chosen");
    for (int col = 0; col < e->cols; col++) {
        int ignored;
        snprintf(text, sizeof text, "%d", count_of(e, e->col0 + col, &ignored));
        canvas_right(p->c, y, e->cells.x + col * e->cell, e->cell - 1,
                     e->col0 + col == e->x ? STYLE_STRONG : STYLE_TEXT, text);
    }
    if (y + 2 >= r.y + r.h)
        return;
    const float w = e->weights.values[e->weights.cell];
    int used = canvas_printf(p->c, y + 1, r.x, r.w, STYLE_TEXT,
                             "Expert %d is chosen for %d of %d tokens; were all chosen alike, for %.1f.", e->x, here,
                             e->tokens->n, (double)all / e->experts->n);
    used = canvas_printf(p->c, y + 2, r.x, r.w, STYLE_TEXT, "%s: router ",
                         axis_label(e->tokens, e->t, (char[64]){0}, 64));
    used += shown_number(p, &e->probs, e->weights.cell, y + 2, r.x + used, r.w - used, STYLE_STRONG);
    if (w > 0 && used + 10 < r.w) {
        used += canvas_text(p->c, y + 2, r.x + used, r.w - used, STYLE_TEXT, ", weight ");
        shown_number(p, &e->weights, e->weights.cell, y + 2, r.x + used, r.w - used, STYLE_STRONG);
    } else if (used + 12 < r.w)
        canvas_text(p->c, y + 2, r.x + used, r.w - used, STYLE_DIM, ", not chosen");
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Experts e;
    if (side == SIDE_DIFF) {
        canvas_wrap(p->c, r, STYLE_DIM, "Whom the router chose is looked at in A or in B: b goes there.");
        return;
    }
    if (!open_experts(p->s, side, r, &e)) {
        canvas_wrap(p->c, r, STYLE_DIM, "This block has no experts.");
        return;
    }
    if (!e.weights.values || !e.probs.values) {
        shown_computing(p, r);
        return;
    }
    const ColourScale scale = colour_scale_of_range(p, 0, 1);
    if (e.cells.y > r.y)
        canvas_text(p->c, r.y, r.x, e.label - 1, STYLE_HEADER, " expert");
    for (int col = 0; e.cells.y > r.y && col < e.cols; col++) {
        char number[16];
        snprintf(number, sizeof number, "%d", e.col0 + col);
        canvas_right(p->c, r.y, e.cells.x + col * e.cell, e.cell - 1, e.col0 + col == e.x ? STYLE_CURSOR : STYLE_AXIS,
                     number);
    }
    for (int row = 0; row < e.rows; row++)
        draw_row(p, &e, &scale, row, focus);
    if (e.used_y)
        draw_used(p, &e, r);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    if (side == SIDE_DIFF)
        return;
    needs_add(out, side, path_of(s, side, SITE_EXPERTS_WEIGHTS));
    needs_add(out, side, path_of(s, side, SITE_ROUTER_PROBS));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Experts e;
    if (side == SIDE_DIFF || !open_experts(p->s, side, r, &e))
        return false;
    const int row = y - e.cells.y, col = (x - e.cells.x) / e.cell;
    if (row < 0 || row >= e.rows || x < e.cells.x || col >= e.cols)
        return false;
    click_cell(p, &e.weights, cell_of(&e, e.row0 + row, e.col0 + col), command);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    const Graph *g = shown_graph(s, side);
    const int block = anatomy_block_of(g, s->place.path);
    buf_puts(out, "experts, tokens by experts");
    if (block != NO_PART)
        buf_printf(out, ", block %d", anatomy_part(g, block)->block);
}

VIEW_SPEC(EXPERTS, .name = "experts", .traits = VIEW_TRACED | VIEW_WIDE, .sides = SIDES_ONE,
          .sentence = "Which experts each token gets, with their weights. Enter opens one.");
