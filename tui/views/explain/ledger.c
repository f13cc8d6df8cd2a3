/* The ledger as a picture and a table: which patches (or words) spoke for the number, painted in votes; what every head
 * and MLP wrote, and below it what the number loses when that is really taken out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/ask/ledgers.h"
#include "core/session/exhibit.h"
#include "tui/views/heat.h"
#include "tui/views/lattice.h"
#include "tui/views/number.h"
#include "tui/views/shown.h"

enum {
    LABEL = 9,
    LABEL_STACK = 13, /* "dec 2 cross" */
    COLUMN = 8,
    COLUMN_WIDEST = 10,
    MAP_LEAST = 8,
    LIST_WIDE = 34,
    VOTES_SAID = 34,
    WORDS = 22, /* a column of words with their votes */
    GAP = 2,    /* between two such columns */
    WORD = 11,
    ROWS_MOST = 128
};

typedef struct LedgerView {
    const Session *s;
    Side side;
    const Graph *g;
    const Ledger *l;
    bool measured; /* is what taking a part out does measured of this side? */
    bool several;  /* rows are attentions of a stack among others */
    bool words;    /* tokens are words, not patches */
    int attention; /* part of g in focus */
    int row, rows; /* of attentions in the order of the model: in focus, how many */
    int part[ROWS_MOST];
    int head, heads;
} LedgerView;

static void list_rows(LedgerView *v)
{
    const char *stack = v->attention == NO_PART ? "" : anatomy_part(v->g, v->attention)->stack;
    for (int i = 0, n = anatomy_attentions(v->g); i < n && v->rows < ROWS_MOST; i++) {
        int part = anatomy_attention(v->g, i);
        if (strcmp(anatomy_part(v->g, part)->stack, stack) != 0)
            continue;
        v->row = part == v->attention ? v->rows : v->row;
        v->part[v->rows++] = part;
    }
    v->several = *stack;
}

static LedgerView view_open(const Session *s, Side side)
{
    LedgerView v = {.s = s, .side = side, .g = shown_graph(s, side), .l = session_ledger(s, side)};
    v.l = side == SIDE_DIFF ? NULL : v.l; /* as many differences as a ledger has lines are too many to keep */
    v.measured = v.g == exhibit_graph(s->now);
    v.attention = ledger_attention(s, side);
    v.words = graph_role(v.g, ROLE_PLACE, SEQUENCE_ANY) == AXIS_NONE;
    list_rows(&v);
    NodeId pattern = site_node(v.g, v.attention, SITE_PATTERN);
    int axis = pattern == NO_NODE ? AXIS_NONE : node_role(v.g, pattern, ROLE_HEAD);
    axis = axis == AXIS_NONE ? graph_role(v.g, ROLE_HEAD, SEQUENCE_ANY) : axis;
    v.heads = axis == AXIS_NONE ? 0 : v.g->axes[axis].n;
    v.head = axis == AXIS_NONE ? 0 : session_index_on(s, v.g, axis);
    return v;
}

/* Path of a node of the ledger; NULL for NO_NODE. */
static const char *path_of(const LedgerView *v, NodeId n)
{
    return n == NO_NODE ? NULL : graph_node(v->g, n)->path;
}

static void put_number(const Paint *p, const LedgerView *v, NodeId n, size_t cell, int y, int x, int width, Style style)
{
    Shown shown;
    if (!shown_open(p->s, v->side, path_of(v, n), &shown))
        return;
    if (shown.values)
        shown_number_right(p, &shown, cell, y, x, width, style);
    else
        canvas_right(p->c, y, x, width, STYLE_DIM, "…");
}

static void put_effect(const Paint *p, const LedgerView *v, const LedgerEntry *e, int head, int y, int x, int width)
{
    char text[24];
    float effect = session_ledger_effect(v->s, v->side, e, head);
    if (!v->measured)
        return;
    if (isnan(effect))
        snprintf(text, sizeof text, "…");
    else
        number_text(text, sizeof text, effect, width);
    canvas_right(p->c, y, x, width, STYLE_DIM, text);
}

/* --- the head line --- */

static void draw_status(const Paint *p, const LedgerView *v, Rect r)
{
    size_t done, total;
    Shown value, rest;
    char number[24], left[24];
    if (!shown_open(p->s, v->side, path_of(v, v->l->value), &value) || !value.values ||
        !shown_open(p->s, v->side, path_of(v, v->l->remainder), &rest) || !rest.values) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "computing…");
        return;
    }
    number_text(number, sizeof number, *value.values, 8);
    number_text(left, sizeof left, *rest.values, 7);
    bool rms = site_path_any(session_graph(p->s, v->side), SITE_NORM_MEAN_SQUARE) != NULL;
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "%s", number);
    canvas_ref(p->c, r.y, r.x, used, shown_ref(&value, 0));
    used += canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_DIM,
                          r.w >= 76 ? ", the sum of what was written; rounding left %s; %s of norms frozen"
                                    : " = sum, rounding %s, %s frozen",
                          left, rms ? "1/rms" : "1/σ");
    ledger_measured(p->s, &done, &total);
    if (v->measured && done < total && r.w - used >= 8)
        canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG, "  %d %%", (int)(100 * done / total));
}

/* --- the picture --- */

typedef struct Votes {
    Shown v;
    size_t first; /* cell of the first patch: of one head's tokens those in front are passed over */
    int cols;
} Votes;

static bool votes_open(const LedgerView *v, Votes *out)
{
    const LedgerEntry *e = ledger_heads(v->s, v->side, v->attention);
    bool one = v->s->look.ledger.one_head && e;
    if (!shown_open(v->s, v->side, path_of(v, one ? e->tokens : v->l->votes), &out->v) || !out->v.values)
        return false;
    const Node *n = graph_node(out->v.graph, out->v.node);
    const Axis *axis = &out->v.graph->axes[n->dims.axis[n->dims.n - 1]];
    out->first = one ? (size_t)v->head * (size_t)axis->n + (size_t)axis->prefix : 0;
    out->cols = axis->cols;
    return out->cols > 0;
}

static float vote(const void *context, int row, int col, Ref *ref)
{
    const Votes *t = context;
    size_t cell = t->first + (size_t)row * (size_t)t->cols + (size_t)col;
    *ref = shown_ref(&t->v, cell);
    return t->v.values[cell];
}

static void put_head(const Paint *p, const LedgerView *v, Rect r)
{
    char name[ATTENTION_NAME];
    canvas_printf(p->c, r.y, r.x, r.w, STYLE_AXIS, "%s head %d", session_attention_name(v->g, v->attention, name),
                  v->head);
}

static int place_count(const LedgerView *v, AxisRole role)
{
    int axis = graph_role(v->g, role, SEQUENCE_ANY);
    return axis == AXIS_NONE ? 0 : v->g->axes[axis].n;
}

static void draw_picture(const Paint *p, const LedgerView *v, Rect r)
{
    Votes t;
    int rows = place_count(v, ROLE_PLACE_ROW), cols = place_count(v, ROLE_PLACE_COL);
    Rect caption = rect_cut(&r, 't', 1), bar = r.h > rows / 2 + 1 ? rect_cut(&r, 'b', 1) : (Rect){0};
    if (!rows || !cols || r.h < 1)
        return;
    if (p->s->look.ledger.one_head)
        put_head(p, v, caption);
    else
        canvas_text(p->c, caption.y, caption.x, caption.w, STYLE_AXIS,
                    caption.w >= VOTES_SAID ? "votes: what heads wrote by looking" : "votes, all heads");
    if (!votes_open(v, &t)) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, v->l->votes == NO_NODE ? "no patch is read" : "computing…");
        return;
    }
    float most = 0;
    for (int i = 0; i < rows * cols; i++)
        most = fmaxf(most, fabsf(t.v.values[t.first + (size_t)i]));
    ColourScale scale = colour_scale_of_range(p, -most, most);
    LatticeMap m = lattice_map(p, r, rows, cols, 12, 0, 0);
    lattice_map_draw(p, &m, &scale, vote, &t);
    if (bar.h)
        colour_scale_bar(p, &scale, bar.y, bar.x, bar.w);
}

/* --- the words --- */

/* Tokens of one text with what was written by looking at each: x[token] from cell `first` of the node on. */
typedef struct Tokens {
    Shown v;
    const Axis *axis;
    size_t first;
} Tokens;

static bool tokens_open(const LedgerView *v, NodeId n, int head, Tokens *out)
{
    if (!shown_open(v->s, v->side, path_of(v, n), &out->v))
        return false;
    Dims d = graph_node(out->v.graph, out->v.node)->dims;
    out->axis = &out->v.graph->axes[d.axis[d.n - 1]];
    out->first = (size_t)head * (size_t)out->axis->n;
    return true;
}

static float most_of(const Tokens *t)
{
    float most = 0;
    for (int i = 0; t->v.values && i < t->axis->n; i++)
        most = fmaxf(most, fabsf(t->v.values[t->first + (size_t)i]));
    return most;
}

/* Returns the lines that it took. */
static int draw_tokens(const Paint *p, const Tokens *t, Rect r, const ColourScale *scale)
{
    char label[64];
    Rect line = rect_cut(&r, 't', 1);
    canvas_text(p->c, line.y, line.x, line.w, STYLE_AXIS,
                t->axis->sequence == SEQUENCE_SOURCE ? "words read" : "words written");
    if (!t->v.values) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "computing…");
        return 2;
    }
    for (int i = 0; i < t->axis->n && r.h > 0; i++) {
        size_t cell = t->first + (size_t)i;
        float x = t->v.values[cell];
        line = rect_cut(&r, 't', 1);
        canvas_text(p->c, line.y, line.x, WORD - 1, STYLE_TEXT, axis_label(t->axis, i, label, sizeof label));
        for (int k = 0; k < 2; k++)
            canvas_pixel(p->c, line.y, line.x + WORD + k, -1, colour_scale_colour(scale, x),
                         colour_scale_level(scale, x), 0, shown_ref(&t->v, cell));
        shown_number_right(p, &t->v, cell, line.y, line.x + WORD + 3, COLUMN, STYLE_TEXT);
    }
    return t->axis->n + 1;
}

/* Both texts below each other, or side by side where there is room. */
static void draw_words(const Paint *p, const LedgerView *v, Rect r)
{
    const LedgerEntry *e = v->s->look.ledger.one_head ? ledger_heads(v->s, v->side, v->attention) : NULL;
    NodeId node[2] = {e ? e->tokens : v->l->tokens, e ? NO_NODE : v->l->tokens_too};
    Tokens t[2];
    int n = 0;
    float most = 0;
    Rect caption = rect_cut(&r, 't', 1);
    for (int i = 0; i < 2; i++)
        if (node[i] != NO_NODE && tokens_open(v, node[i], e ? v->head : 0, &t[n])) {
            most = fmaxf(most, most_of(&t[n]));
            n++;
        }
    if (e)
        put_head(p, v, caption);
    else
        canvas_text(p->c, caption.y, caption.x, caption.w, STYLE_AXIS, n ? "votes, all heads" : "no word is looked at");
    ColourScale scale = colour_scale_of_range(p, -most, most);
    bool beside = r.w >= 2 * WORDS + GAP;
    for (int i = 0; i < n; i++) {
        int used = draw_tokens(p, &t[i], beside && n > 1 ? (Rect){r.y, r.x + i * (WORDS + GAP), r.h, WORDS} : r,
                               &scale);
        if (!beside)
            rect_cut(&r, 't', used + 1 < r.h ? used + 1 : r.h);
        if (r.h < 2)
            return;
    }
}

/* --- the table --- */

typedef struct Table {
    Rect r;
    int label;
    int wide, tall; /* of an entry: `tall` 2 has the effect below */
    int across, first_head, down, first_row;
} Table;

static Table table_of(const LedgerView *v, Rect r)
{
    Table t = {.r = r, .label = v->several ? LABEL_STACK : LABEL};
    int columns = (r.w - t.label) / COLUMN - 1; /* the MLP's */
    t.across = columns < 0 ? 0 : columns > v->heads ? v->heads : columns;
    t.wide = (r.w - t.label) / (t.across + 1 > 0 ? t.across + 1 : 1);
    t.wide = t.wide > COLUMN_WIDEST ? COLUMN_WIDEST : t.wide;
    t.tall = v->measured && r.h - 1 >= 2 * v->rows ? 2 : 1;
    t.down = (r.h - 1) / t.tall;
    t.down = t.down < 0 ? 0 : t.down > v->rows ? v->rows : t.down;
    t.first_head = (int)scroll_first((size_t)v->heads, (size_t)v->head, (size_t)t.across);
    t.first_row = (int)scroll_first((size_t)v->rows, (size_t)v->row, (size_t)t.down);
    return t;
}

static Rect entry_rect(const Table *t, int row, int column)
{
    return (Rect){t->r.y + 1 + (row - t->first_row) * t->tall, t->r.x + t->label + column * t->wide, t->tall, t->wide};
}

static void draw_entry(const Paint *p, const LedgerView *v, const Table *t, const LedgerEntry *e, int head, Rect at)
{
    bool here = e && e == ledger_heads(v->s, v->side, v->attention) && head == v->head;
    if (!e) {
        canvas_right(p->c, at.y, at.x, at.w - 1, STYLE_DIM, "-");
        return;
    }
    put_number(p, v, head < 0 ? e->total : e->heads, head < 0 ? 0 : (size_t)head, at.y, at.x + 1, at.w - 2,
               here ? STYLE_CURSOR : STYLE_TEXT);
    if (t->tall > 1)
        put_effect(p, v, e, head, at.y + 1, at.x + 1, at.w - 2);
    if (here)
        heat_mark(p, at.y, at.x, 1, at.w, (Ref){0});
}

/* The MLP stands behind a block's last attention. */
static bool last_of_block(const LedgerView *v, int row)
{
    int block = anatomy_part(v->g, v->part[row])->parent;
    return row + 1 >= v->rows || anatomy_part(v->g, v->part[row + 1])->parent != block;
}

static void draw_table(const Paint *p, const LedgerView *v, const Table *t, bool focus)
{
    for (int i = 0; i <= t->across; i++) {
        Rect at = entry_rect(t, t->first_row, i);
        char text[24];
        snprintf(text, sizeof text, i < t->across ? "head %d" : "MLP", t->first_head + i);
        canvas_right(p->c, t->r.y, at.x, at.w - 1, STYLE_AXIS, text);
    }
    for (int i = t->first_row; i < t->first_row + t->down; i++) {
        Rect line = entry_rect(t, i, 0);
        char name[ATTENTION_NAME];
        canvas_text(p->c, line.y, t->r.x, t->label, i == v->row ? STYLE_STRONG : STYLE_AXIS,
                    session_attention_name(v->g, v->part[i], name));
        if (t->tall > 1)
            canvas_text(p->c, line.y + 1, t->r.x, t->label, STYLE_DIM, " lost");
        for (int k = 0; k < t->across; k++)
            draw_entry(p, v, t, ledger_heads(v->s, v->side, v->part[i]), t->first_head + k, entry_rect(t, i, k));
        if (last_of_block(v, i))
            draw_entry(p, v, t, ledger_mlp(v->s, v->side, v->part[i]), -1, entry_rect(t, i, t->across));
    }
    Rect here = entry_rect(t, v->row, v->head - t->first_head);
    focus_cursor(p, focus, here.y, here.x + 1);
}

/* What is neither head nor MLP: embeddings, biases, what an edit put in. */
static void draw_others(const Paint *p, const LedgerView *v, Rect r)
{
    Rect line = rect_cut(&r, 't', 1);
    int left = 0;
    for (int i = 0; i < v->l->count; i++)
        left += v->l->entry[i].kind != LEDGER_HEADS && v->l->entry[i].kind != LEDGER_MLP;
    if (line.w < LIST_WIDE || !r.h)
        return;
    canvas_text(p->c, line.y, line.x, line.w, STYLE_AXIS,
                v->measured ? "other parts             wrote     lost" : "other parts             wrote");
    for (int i = v->l->count - 1; i >= 0 && r.h > 0; i--) {
        const LedgerEntry *e = &v->l->entry[i];
        Buf part = {0};
        LedgerLine l = {.entry = e, .head = -1};
        if (e->kind == LEDGER_HEADS || e->kind == LEDGER_MLP)
            continue;
        line = rect_cut(&r, 't', 1);
        if (!r.h && left > 1) {
            canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%d more", left);
            return;
        }
        left--;
        ledger_part_text(v->g, &l, &part);
        canvas_text(p->c, line.y, line.x, 20, STYLE_TEXT, buf_str(&part));
        buf_free(&part);
        put_number(p, v, e->total, 0, line.y, line.x + 21, COLUMN, STYLE_TEXT);
        put_effect(p, v, e, -1, line.y, line.x + 30, COLUMN);
    }
}

/* Which heads and blocks the table leaves out: it scrolls to them. */
static void draw_left_out(const Paint *p, const LedgerView *v, const Table *t, Rect line)
{
    int used = 0;
    if (!t->across)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "no room for heads%s",
                             t->down < v->rows ? ", " : "");
    else if (t->across < v->heads)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "heads %d–%d of %d%s", t->first_head,
                             t->first_head + t->across - 1, v->heads, t->down < v->rows ? ", " : "");
    if (t->down < v->rows)
        canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, "lines %d–%d of %d", t->first_row + 1,
                      t->first_row + t->down, v->rows);
}

typedef struct Layout {
    Rect status, picture, words, others, left_out;
    Table table;
} Layout;

static Layout layout(const LedgerView *v, Rect r)
{
    Layout l = {.status = rect_cut(&r, 't', 1)};
    int rows = place_count(v, ROLE_PLACE_ROW), room = r.w - LABEL - 3 * COLUMN;
    int table = LABEL_STACK + (v->heads + 1) * COLUMN;
    int map = room > 2 * r.h ? 2 * r.h : room;
    if (r.h > 14)
        rect_cut(&r, 't', 1);
    if (rows && map >= MAP_LEAST) {
        int wide = map < r.w * 2 / 5 ? map : r.w * 2 / 5;
        l.picture = rect_cut(&r, 'l', wide > 18 && r.w < 80 ? 18 : wide);
        rect_cut(&r, 'l', 2);
    }
    if (v->words && r.w - table >= WORDS) {
        l.words = rect_cut(&r, 'l', r.w - table >= 2 * (WORDS + GAP) ? 2 * WORDS + GAP : WORDS);
        rect_cut(&r, 'l', 2);
    }
    int tall = 1 + (v->measured ? 2 : 1) * v->rows;
    Rect below = rect_cut(&r, 't', tall < r.h ? tall : r.h);
    l.table = table_of(v, below);
    if (l.table.across < v->heads ||
        l.table.down < v->rows) { /* below the table, if need be in place of its last line */
        if (r.h > 0)
            l.left_out = rect_cut(&r, 't', 1);
        else if (below.h > 3) {
            l.left_out = rect_cut(&below, 'b', 1);
            l.table = table_of(v, below);
        }
    }
    if (r.h > 3)
        rect_cut(&r, 't', 1);
    l.others = r;
    return l;
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    if (r.h < 3 || r.w < 16)
        return;
    LedgerView v = view_open(p->s, side);
    if (side == SIDE_DIFF)
        canvas_wrap(p->c, r, STYLE_DIM,
                    "A and B have a ledger each. The difference of one line is that of its node: `in`.");
    else if (!v.l)
        canvas_wrap(p->c, r, STYLE_DIM,
                    "No ledger here. `ledger` makes one of the answer; values that are rounded (`set precision bf16`) "
                    "have none.");
    else {
        Layout l = layout(&v, r);
        draw_status(p, &v, l.status);
        if (l.picture.w)
            draw_picture(p, &v, l.picture);
        if (l.words.w)
            draw_words(p, &v, l.words);
        if (l.table.r.h > 1)
            draw_table(p, &v, &l.table, focus);
        if (l.left_out.h)
            draw_left_out(p, &v, &l.table, l.left_out);
        draw_others(p, &v, l.others);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    LedgerView v = view_open(s, side);
    if (!v.l)
        return;
    const NodeId first[] = {v.l->value, v.l->remainder, v.l->votes, v.words ? v.l->tokens : NO_NODE, v.l->tokens_too};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        needs_add(out, v.side, path_of(&v, first[i]));
    const LedgerEntry *e = ledger_heads(s, v.side, v.attention);
    if (s->look.ledger.one_head && e)
        needs_add(out, v.side, path_of(&v, e->tokens));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < v.l->count; i++) {
            e = &v.l->entry[i];
            bool table = e->kind == LEDGER_HEADS || e->kind == LEDGER_MLP;
            if (table == (pass == 0))
                needs_add(out, v.side, path_of(&v, e->kind == LEDGER_HEADS ? e->heads : e->total));
        }
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    LedgerView v = view_open(p->s, side);
    if (!v.l || r.h < 3 || r.w < 16)
        return false;
    Layout l = layout(&v, r);
    if (rect_has(l.picture, y, x) || rect_has(l.words, y, x)) {
        buf_puts(command, "view next");
        return true;
    }
    for (int row = l.table.first_row; row < l.table.first_row + l.table.down; row++)
        for (int i = 0; i < l.table.across; i++)
            if (rect_has(entry_rect(&l.table, row, i), y, x)) {
                int head = l.table.first_head + i;
                const Part *to = anatomy_part(v.g, v.part[row]);
                if (row == v.row && head == v.head)
                    buf_puts(command, "in");
                else if (v.several)
                    buf_printf(command, "attention %s; head %d", to->scope, head);
                else
                    buf_printf(command, "block %d; head %d", to->block, head);
                return true;
            }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)side;
    buf_puts(out, "ledger ");
    ledger_text(s, out);
}

static const char *under_cursor(const Session *s, Side side)
{
    LedgerView v = view_open(s, side);
    const LedgerEntry *e = v.l ? ledger_heads(s, v.side, v.attention) : NULL;
    return e ? path_of(&v, e->heads) : NULL;
}

VIEW_SPEC(LEDGER, .name = "ledger", .traits = VIEW_WIDE | VIEW_HAS_HEAD | VIEW_TRACED, .sides = SIDES_PANES,
          .cursor = under_cursor,
          .sentence = "What every part wrote into the number, and what it loses without that part.",
          .keys = KEYS_OF_HEADS);
