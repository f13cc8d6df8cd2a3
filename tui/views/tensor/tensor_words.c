/* Words, one below the other: those of the node in focus, each with its place, and beside it, where there is another
 * text, the words of that one. A word that was written has the probability with which the model wrote it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/byte_text.h"
#include "core/base/utf8.h"
#include "tui/views/tensor/tensor.h"

enum {
    PLACE = 4,
    WORD_MOST = 14,
    SHARE = 7,
    BAR_LEAST = 3,
    BAR_MOST = 40,
    GAP = 3,
    NAME_LEAST = 6,
    PITCH_MOST = 4,
    MORE_FROM = 4,
    NARROW = 40 /* for the caption's sentence */
};              /* "writes" */

static const char PROBABILITY[] = "prob. after those above", POINTS[] = "points of probability";

/* One text: its words, and where the probabilities of those that were written stand. */
typedef struct Column {
    bool more; /* a line below it says how many are not seen */
    Shown v, probs;
    const float *words; /* whose probabilities these are: its own; of a difference A's, where B has the same */
    float most;         /* of a difference: what a full bar stands for */
    const Axis *tokens;
    bool here; /* is it the node in focus? */
    Rect r;
    int first, pitch; /* pitch: lines of a word */
    int word;         /* room of a word and the marks around it, on both sides */
    size_t other;     /* a place where A and B differ; the cursor's where there is none */
} Column;

/* Of a word and the marks around it; of the column's name at least. */
static int word_room(const Axis *tokens)
{
    int widest = shown_axis_widest(tokens, WORD_MOST);
    return (widest > NAME_LEAST ? widest : NAME_LEAST) + 2;
}

/* Beside another side the columns are as wide there, and the nearest place where the two differ is known. */
static void compare_sides(const Paint *p, Column *c)
{
    Shown of[2];
    const char *path = graph_node(c->v.graph, c->v.node)->path;
    if (!session_compares(p->s) || !shown_open(p->s, SIDE_A, path, &of[0]) || !shown_open(p->s, SIDE_B, path, &of[1]))
        return;
    for (int i = 0; i < 2 && c->v.side != SIDE_DIFF; i++) {
        const int room = word_room(&of[i].graph->axes[graph_node(of[i].graph, of[i].node)->dims.axis[0]]);
        c->word = room > c->word ? room : c->word;
    }
    if (!of[0].values || !of[1].values || of[0].count != of[1].count)
        return;
    c->words = c->v.side == SIDE_DIFF ? of[0].values : c->words;
    const size_t here = c->v.cell;
    for (size_t i = 0; i < of[0].count; i++) {
        const size_t far = i > here ? i - here : here - i, best = c->other > here ? c->other - here : here - c->other;
        if (of[0].values[i] != of[1].values[i] && (far < best || !best))
            c->other = i;
    }
    if (of[0].values[here] != of[1].values[here])
        c->other = here;
}

/* The cell of the word at place i, given those before it. */
static bool share_cell(const Column *c, size_t i, size_t *cell)
{
    if (!c->probs.values || !c->words || i < 1 || (c->v.side == SIDE_DIFF && c->v.values[i] != 0))
        return false;
    *cell = (i - 1) * (size_t)shown_vocabulary(&c->v)->n + (size_t)c->words[i];
    return *cell < c->probs.count;
}

static bool column_open(const Paint *p, Side side, NodeId n, Column *c)
{
    const Graph *g = shown_graph(p->s, side);
    *c = (Column){.here = false};
    if (n == NO_NODE || !shown_open(p->s, side, graph_node(g, n)->path, &c->v) || !c->v.values ||
        !shown_vocabulary(&c->v))
        return false;
    c->tokens = &g->axes[graph_node(g, n)->dims.axis[0]];
    if (c->tokens->sequence == SEQUENCE_TARGET)
        shown_open(p->s, side, shown_site(p->s, side, SITE_PROBS), &c->probs);
    c->word = word_room(c->tokens);
    c->other = c->v.cell;
    c->words = side == SIDE_DIFF ? NULL : c->v.values;
    compare_sides(p, c);
    for (size_t i = 1, cell; side == SIDE_DIFF && i < c->v.count; i++)
        if (share_cell(c, i, &cell))
            c->most = fmaxf(c->most, fabsf(c->probs.values[cell]));
    return true;
}

/* The columns, in the order of the model; returns how many. */
static int columns_open(const Paint *p, Rect r, const Tensor *t, Column out[2])
{
    int n = 0;
    const Graph *g = t->v.graph;
    for (int part = NO_PART; n < 2 && (part = anatomy_next(g, part, PART_INPUT)) != NO_PART;)
        n += column_open(p, t->v.side, site_node(g, part, SITE_INPUT), &out[n]);
    size_t most = 1;
    int left = n > 1 ? PLACE + out[0].word + GAP : 0;
    if (n > 1 && r.w < left + PLACE + out[1].word) { /* the one in focus */
        out[0] = out[out[1].v.node == t->v.node];
        n = 1;
    }
    for (int i = 0; i < n; i++) {
        out[i].here = out[i].v.node == t->v.node;
        out[i].r = (Rect){r.y + 1, r.x + (i ? left : 0), r.h - 1, i || n == 1 ? r.w - (i ? left : 0) : left - GAP};
        most = out[i].v.count > most ? out[i].v.count : most;
    }
    for (int i = 0; i < n; i++) {
        int lines = r.h > 1 ? r.h - 1 : 0;
        out[i].more = lines > MORE_FROM && out[i].v.count > (size_t)lines;
        if (out[i].more)
            out[i].r.h = --lines;
        out[i].pitch = clamp((lines + 1) / (int)most, 1, PITCH_MOST); /* nothing stands below the last one */
        out[i].first = (int)scroll_both(out[i].v.count, out[i].v.cell, out[i].other,
                                        (size_t)((lines + out[i].pitch - 1) / out[i].pitch));
    }
    return n;
}

/* Its probability, of a difference in points, as a number and a bar. */
static void put_share(const Paint *p, const Column *c, int i, int y, int x, int width)
{
    size_t cell;
    if (width < SHARE || !share_cell(c, (size_t)i, &cell))
        return;
    const bool diff = c->v.side == SIDE_DIFF;
    const int bar = width - SHARE - 1 < BAR_MOST ? width - SHARE - 1 : BAR_MOST, left = bar / 2, right = bar - 1 - left;
    const float share = c->probs.values[cell];
    const Ref ref = shown_ref(&c->probs, cell);
    shown_share_right(p, &c->probs, cell, y, x, SHARE, STYLE_DIM);
    for (int k = 0; k < (c->pitch > 2 ? c->pitch - 1 : 1) && bar >= BAR_LEAST && y + k < c->r.y + c->r.h; k++)
        if (!diff)
            canvas_bar(p->c, y + k, x + SHARE + 1, bar, (double)share, STYLE_TEXT, ref);
        else if (c->most > 0)
            canvas_bar_around(p->c, y + k, x + SHARE + 1, left, right, (double)(share / c->most * (float)right),
                              STYLE_SIDE_A, STYLE_NEGATIVE, ref);
}

/* How many are not seen, and where they are. */
static void put_more(const Paint *p, const Column *c)
{
    const int above = c->first, below = (int)c->v.count - above - c->r.h;
    const Rect r = {c->r.y + c->r.h, c->r.x + PLACE + 1, 1, c->r.w - PLACE - 1};
    char text[64];
    if (above && below > 0)
        snprintf(text, sizeof text, "%d above, %d below", above, below);
    else
        snprintf(text, sizeof text, above ? "%d above" : "%d more", above ? above : below);
    const size_t n = strlen(text);
    if (c->other < (size_t)above || c->other >= (size_t)(above + c->r.h))
        snprintf(text + n, sizeof text - n, "; place %zu differs", c->other);
    if ((int)strlen(text) > r.w)
        snprintf(text, sizeof text, "place %zu differs", c->other);
    if ((int)strlen(text) <= r.w) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, text);
        return;
    }
    canvas_printf(p->c, r.y, c->r.x, PLACE, STYLE_AXIS, "%3zu", c->other); /* rather that word than how many */
    shown_number(p, &c->v, c->other, r.y, r.x, r.w, STYLE_STRONG);
}

static void draw_column(const Paint *p, const Column *c, bool focus)
{
    bool source = c->tokens->sequence == SEQUENCE_SOURCE;
    const int word = c->word, room = c->r.w - PLACE - word - 1;
    canvas_text(p->c, c->r.y - 1, c->r.x + PLACE + 1, c->r.w - PLACE - 1, STYLE_HEADER,
                source                                                             ? "reads"
                : graph_role(c->v.graph, ROLE_QUERY, SEQUENCE_SOURCE) == AXIS_NONE ? "text"
                                                                                   : "writes");
    const char *share = c->v.side == SIDE_DIFF           ? room < utf8_cells(POINTS) ? "points" : POINTS
                        : room < utf8_cells(PROBABILITY) ? "prob."
                                                         : PROBABILITY;
    if (c->probs.values && c->words && room >= SHARE) {
        const int x = c->r.x + PLACE + word, bar = clamp(room - SHARE - 1, 0, BAR_MOST), end = SHARE + 1 + bar;
        char full[32] = "to 100 %"; /* what a full bar stands for */
        if (c->v.side == SIDE_DIFF)
            utf8_print(full, sizeof full, "±%.3g", 100 * (double)c->most);
        canvas_text(p->c, c->r.y - 1, x, room, STYLE_HEADER, share);
        if (bar >= BAR_LEAST && utf8_cells(share) + 2 + utf8_cells(full) <= end)
            canvas_right(p->c, c->r.y - 1, x, end, STYLE_AXIS, full);
    }
    if (c->more)
        put_more(p, c);
    for (int k = 0; k * c->pitch < c->r.h && c->first + k < (int)c->v.count; k++) {
        int i = c->first + k, y = c->r.y + k * c->pitch;
        bool here = i == (int)c->v.cell;
        canvas_printf(p->c, y, c->r.x, PLACE, STYLE_AXIS, "%3d", i);
        char label[64];
        axis_label(&c->v.graph->axes[graph_node(c->v.graph, c->v.node)->dims.axis[0]], i, label, sizeof label);
        bool own = *label == '['; /* brackets of its own */
        int x = c->r.x + PLACE, used = here && c->here ? canvas_text(p->c, y, x, 1, STYLE_CURSOR, own ? "|" : "[") : 1;
        used += shown_number(p, &c->v, (size_t)i, y, x + used, c->r.w - PLACE - used,
                             here ? (c->here ? STYLE_CURSOR : STYLE_STRONG) : STYLE_TEXT);
        if (here && c->here)
            canvas_text(p->c, y, x + used, 1, STYLE_CURSOR, own ? "|" : "]");
        put_share(p, c, i, y, x + word, room);
        focus_cursor(p, focus && here && c->here, y, x);
    }
}

/* Below words of a byte-level vocabulary what their signs are, where a line is free. */
static void put_signs(const Paint *p, Rect r, const Column *c, int n)
{
    Buf names = {0};
    int used = 0;
    for (int i = 0; i < n; i++) {
        const int words = (int)c[i].v.count, lines = (words - 1) * c[i].pitch + (c[i].pitch > 2 ? c[i].pitch - 1 : 1);
        char label[64];
        for (int k = 0; k < words && lines < r.h - 1; k++)
            buf_puts(&names, axis_label(c[i].tokens, k, label, sizeof label));
        used = lines > used ? lines : used;
    }
    const char *signs = byte_text_signs(buf_str(&names), false);
    signs = utf8_cells(signs) > r.w ? byte_text_signs(buf_str(&names), true) : signs;
    if (used < r.h - 1 && utf8_cells(signs) <= r.w)
        canvas_text(p->c, r.y + r.h - 1, r.x, r.w, STYLE_DIM, signs);
    buf_free(&names);
}

static void draw(const Paint *p, Rect r, const Tensor *t, bool focus)
{
    Column c[2];
    int n = columns_open(p, r, t, c);
    for (int i = 0; i < n; i++)
        draw_column(p, &c[i], focus);
    put_signs(p, r, c, n);
}

static bool hit(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell)
{
    Column c[2];
    int n = columns_open(p, r, t, c);
    for (int i = 0; i < n; i++)
        if (c[i].here && rect_has(c[i].r, y, x) && c[i].first + (y - c[i].r.y) / c[i].pitch < (int)c[i].v.count) {
            *cell = (size_t)(c[i].first + (y - c[i].r.y) / c[i].pitch);
            return true;
        }
    return false;
}

static void caption(const Paint *p, Rect r, const Tensor *t, Buf *out)
{
    (void)p;
    if (!t->v.values || t->v.side == SIDE_DIFF)
        return;
    const int x = (int)t->v.values[t->v.cell];
    const Axis *words = shown_vocabulary(&t->v);
    const bool writes = node_role(t->v.graph, t->v.node, ROLE_QUERY) ==
                        graph_role(t->v.graph, ROLE_QUERY, SEQUENCE_TARGET);
    char text[96];
    if (words->labels)
        utf8_print(text, sizeof text, "word %d of the %d that the model %s", x, words->n, writes ? "writes" : "reads");
    else
        utf8_print(text, sizeof text, "w%d is word %d of %d; they have no names", x, x, words->n);
    if (utf8_cells(text) > r.w)
        utf8_print(text, sizeof text, "word %d of %d", x, words->n);
    buf_puts(out, text);
}

const TensorHow TENSOR_WORDS = {.draw = draw, .hit = hit, .caption = caption};
