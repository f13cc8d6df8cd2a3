/* The ledger as a river or a table, beside it which patches (or words) spoke for the number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/exhibit.h"
#include "tui/views/attention/lit.h"
#include "tui/views/explain/ledger_view.h"

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

/* The next head's or MLP's entry from i on, or past the last. */
static int next_flow(const Ledger *l, int i)
{
    while (i < l->count && !ledger_flows(&l->entry[i]))
        i++;
    return i;
}

/* Are both of the same heads and MLPs? Then their nodes have the same names. What else there is (embeddings, biases,
 * what an edit put in) is one number, where the river starts. */
static bool same_parts(const Session *s, const Ledger *a, const Ledger *b)
{
    const Graph *of = session_graph(s, SIDE_A), *g = session_graph(s, SIDE_B);
    if (!a || !b)
        return false;
    int i = next_flow(a, 0), k = next_flow(b, 0);
    for (; i < a->count && k < b->count; i = next_flow(a, i + 1), k = next_flow(b, k + 1)) {
        const LedgerEntry *x = &a->entry[i], *y = &b->entry[k];
        if (x->kind != y->kind || x->layer != y->layer ||
            strcmp(graph_node(of, x->total)->path, graph_node(g, y->total)->path) != 0 ||
            (x->heads != NO_NODE && graph_cells(of, x->heads) != graph_cells(g, y->heads)))
            return false;
    }
    return i == a->count && k == b->count;
}

LedgerView ledger_view(const Session *s, Side side)
{
    LedgerView v = {.s = s, .side = side, .g = shown_graph(s, side), .l = session_ledger(s, side)};
    if (side == SIDE_DIFF) {
        v.less = session_ledger(s, SIDE_A);
        v.l = session_ledger(s, SIDE_B);
        if (!same_parts(s, v.less, v.l))
            v.less = v.l = NULL;
    }
    v.twins = session_compares(s) && same_parts(s, session_ledger(s, SIDE_A), session_ledger(s, SIDE_B));
    v.mlp = v.l ? ledger_mlp_here(s, side) : NULL;
    v.measured = side != SIDE_DIFF && v.g == exhibit_graph(s->now);
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

const char *ledger_view_path(const LedgerView *v, NodeId n)
{
    return n == NO_NODE ? NULL : graph_node(v->g, n)->path;
}

/* A's node of A − B where B's is n: that of its name, but where the river starts. */
static const char *path_in_a(const LedgerView *v, NodeId n)
{
    if (n != NO_NODE && n == v->l->start)
        return v->less->start == NO_NODE ? NULL : graph_node(session_graph(v->s, SIDE_A), v->less->start)->path;
    return ledger_view_path(v, n);
}

bool ledger_view_value(const LedgerView *v, NodeId n, size_t cell, float *x)
{
    const char *path = ledger_view_path(v, n);
    static const float NOTHING = 0;
    const float *b = path ? session_peek(v->s, v->less ? SIDE_B : v->side, path) : NULL, *a = b;
    const char *other = b && v->less ? path_in_a(v, n) : NULL;
    if (b && v->less)
        a = other ? session_peek(v->s, SIDE_A, other) : &NOTHING;
    if (a && b)
        *x = v->less ? a[cell] - b[cell] : b[cell];
    return a && b;
}

void ledger_put_number(const Paint *p, const LedgerView *v, NodeId n, size_t cell, int y, int x, int width, Style style)
{
    Shown shown;
    float value;
    char text[24] = "…";
    bool has_ref = shown_open(p->s, v->side, ledger_view_path(v, n), &shown), /* A − B: where both have the node */
        there = ledger_view_value(v, n, cell, &value);
    if (!has_ref && !(there && v->less))
        return;
    if (there && !v->less) {
        shown_number_right(p, &shown, cell, y, x, width, style);
        return;
    }
    if (there)
        number_text(text, sizeof text, value, width - 1);
    canvas_right(p->c, y, x, width, there ? style : STYLE_DIM, text);
    if (there && has_ref)
        canvas_ref(p->c, y, x, width, shown_ref(&shown, cell));
}

const char *ledger_view_out(const LedgerView *v, NodeId n, size_t cell)
{
    const char *path = v->less ? ledger_view_path(v, n) : NULL;
    const float *a = path ? session_peek(v->s, SIDE_A, path) : NULL, *b = a ? session_peek(v->s, SIDE_B, path) : NULL;
    const bool in_a = a && (a[cell] < 0 || a[cell] > 0), in_b = b && (b[cell] < 0 || b[cell] > 0);
    return !a || !b || in_a == in_b ? "" : in_a ? ", 0 in B: out" : ", 0 in A: out";
}

void ledger_put_effect(const Paint *p, const LedgerView *v, const LedgerEntry *e, int head, int y, int x, int width)
{
    char text[24];
    float effect = session_ledger_effect(v->s, v->side, TAKEN_LINES, e, head);
    if (!v->measured)
        return;
    if (isnan(effect))
        snprintf(text, sizeof text, "…");
    else
        number_text(text, sizeof text, effect, width);
    canvas_right(p->c, y, x, width, STYLE_DIM, text);
}

int ledger_places(const LedgerView *v, AxisRole role)
{
    int axis = graph_role(v->g, role, SEQUENCE_ANY);
    return axis == AXIS_NONE ? 0 : v->g->axes[axis].n;
}

/* --- the head line --- */

/* The number on either side, and the difference. */
static void draw_status_of_both(const Paint *p, const LedgerView *v, Rect r)
{
    const char *path = ledger_view_path(v, v->l->value);
    const float *a = session_peek(p->s, SIDE_A, path), *b = session_peek(p->s, SIDE_B, path);
    char number[3][24];
    if (!a || !b) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "computing…");
        return;
    }
    number_text(number[0], sizeof number[0], *a - *b, 8);
    number_text(number[1], sizeof number[1], *a, 8);
    number_text(number[2], sizeof number[2], *b, 8);
    /* beside it A and B stand on a scale of their own, and their numbers above them */
    static const char *const FORMS[] = {" = A %s − B %s: what each part wrote in A, less that in B; own scale",
                                        " = %s − %s, own scale", "%.0s%.0s, own scale", "%.0s%.0s"};
    char text[128];
    int used = canvas_text(p->c, r.y, r.x, r.w, STYLE_STRONG, number[0]);
    for (size_t k = 0; k < sizeof FORMS / sizeof *FORMS; k++) /* the longest that fits */
        if (utf8_print(text, sizeof text, FORMS[k], number[1], number[2]) <= r.w - used)
            break;
    canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, text);
}

static void draw_status(const Paint *p, const LedgerView *v, Rect r)
{
    size_t done, total;
    Shown value, rest;
    char number[24], left[24];
    if (v->less) {
        draw_status_of_both(p, v, r);
        return;
    }
    if (!shown_open(p->s, v->side, ledger_view_path(v, v->l->value), &value) || !value.values ||
        !shown_open(p->s, v->side, ledger_view_path(v, v->l->remainder), &rest) || !rest.values) {
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, "computing…");
        return;
    }
    number_text(number, sizeof number, *value.values, 8);
    number_text(left, sizeof left, *rest.values, 7);
    bool rms = site_path_any(session_graph(p->s, v->side), SITE_NORM_MEAN_SQUARE) != NULL;
    int used = canvas_printf(p->c, r.y, r.x, r.w, STYLE_STRONG, "%s", number);
    canvas_ref(p->c, r.y, r.x, used, shown_ref(&value, 0));
    static const char *const FORMS[] = {", the sum of what was written; rounding left %s; 1/%s of norms frozen",
                                        ", the sum of what was written; rounding %s; 1/%s frozen",
                                        " = sum, rounding %s, 1/%s frozen", " = sum%.0s, 1/%s frozen",
                                        " = sum%.0s, %s frozen"};
    char text[128], lost[64] = "";
    ledger_measured(p->s, TAKEN_LINES, &done, &total);
    if (v->measured && done < total) {
        int n = utf8_print(lost, sizeof lost, "  loss measured %d %%", (int)(100 * done / total));
        if (p->seconds_left)
            utf8_print(lost + n, sizeof lost - (size_t)n, ", %d s left", p->seconds_left);
    }
    const int sign = session_compares(p->s) && *number != '-'; /* A and B say the same beside it */
    for (size_t k = 0; k < sizeof FORMS / sizeof *FORMS; k++)  /* the longest that fits */
        if (utf8_print(text, sizeof text, FORMS[k], left, rms ? "rms" : "σ") <= r.w - used - sign - utf8_cells(lost))
            break;
    used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, text);
    canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_STRONG, lost);
}

enum {
    LABELS = 22,
    MAP_LESS = 18, /* columns of a map beside a table that has no room for all heads */
    MAP_LEAST = 8,
    TALL = 26,
    WIDE = 66,
    BELOW_MOST = 20,
    MAP_SMALL = 16,
    PART_COLUMNS = 5,
    PART_LEAST = 3,   /* … of a block with one head that is drawn by itself */
    RIVER_LEAST = 11, /* lines of a river that gives the others below it to the patch that `why` named */
    LARGEST_WIDE = 36
};

/* Votes are patches or words, beside the table; beside the river on a low screen, else below it with the largest
 * tributaries. */
typedef struct Layout {
    Rect status, picture, words, largest, body;
} Layout;

/* A − B is a river only. */
static bool in_table(const LedgerView *v)
{
    return v->s->look.ledger.table && !v->less;
}

static Layout layout_table(const LedgerView *v, Rect r)
{
    Layout l = {.status = rect_cut(&r, 't', 1)};
    const int room = r.w - LABELS - LEDGER_WIDE, table = ledger_table_wide(v, false),
              least = ledger_table_wide(v, true),
              beside = r.w - table - 2 > MAP_LESS ? r.w - table - 2 : MAP_LESS; /* rather heads than a large map */
    int map = room > 2 * r.h ? 2 * r.h : room;
    if (r.h > 14)
        rect_cut(&r, 't', 1);
    const bool below = r.w >= least && r.w < least + MAP_LESS + 2; /* all heads, without a map beside them */
    if (ledger_places(v, ROLE_PLACE_ROW) && below && r.h > 2 * (2 * v->rows + MAP_LESS / 2)) {
        l.picture = rect_cut(&r, 'b', MAP_LESS);
        rect_cut(&r, 'b', 1);
    } else if (ledger_places(v, ROLE_PLACE_ROW) && map >= MAP_LEAST && !below) {
        const int lit = r.h >= TALL && lit_picture(v->s, v->side) ? r.h - 4 : r.w, /* and the picture below it */
            most = clamp(map < r.w * 2 / 5 ? map : r.w * 2 / 5, 0, lit), wide = most < beside ? most : beside;
        if (r.w > least || !ledger_table_alone(v, r.w - wide - 2, r.w)) {
            l.picture = rect_cut(&r, 'l', wide);
            rect_cut(&r, 'l', 2);
        }
    }
    if (v->words && r.w - table >= WORDS_WIDE) {
        bool two = r.w - table >= 2 * (WORDS_WIDE + WORDS_GAP);
        l.words = rect_cut(&r, 'l', two ? 2 * WORDS_WIDE + WORDS_GAP : WORDS_WIDE);
        rect_cut(&r, 'l', 2);
    }
    l.body = r;
    return l;
}

/* Lines below the river in which the patch that `why` named is marked, with caption and scale: on the picture (half
 * lines as wide as two columns), on a map of votes where the river would be too low. 0: there is no room. */
static int named_lines(const LedgerView *v, Rect r)
{
    const int rows = ledger_places(v, ROLE_PLACE_ROW), cols = ledger_places(v, ROLE_PLACE_COL);
    for (int k = rows && *v->s->ledger.step[0].via ? 2 : 0; k > 0; k--)
        if ((rows * k + 1) / 2 + 2 < r.h - RIVER_LEAST && cols * k <= r.w)
            return (rows * k + 1) / 2 + 2;
    return 0;
}

/* Have A and B, beside A − B in r, no room for the votes of the head that `why` named? */
static bool votes_elsewhere(const LedgerView *v, Rect r)
{
    rect_cut(&r, 't', 1);
    return v->less && ledger_places(v, ROLE_PLACE_ROW) && *v->s->ledger.step[0].via && r.h < TALL && !named_lines(v, r);
}

static Layout layout(const LedgerView *v, Rect r)
{
    if (in_table(v))
        return layout_table(v, r);
    Layout l = {.status = rect_cut(&r, 't', 1)};
    const bool patches = ledger_places(v, ROLE_PLACE_ROW) > 0 && !v->less,
               why = *v->s->ledger.step[0].via, /* deep models: only with a patch that it named */
        beside = r.w >= WIDE && v->rows * (why ? PART_LEAST : PART_COLUMNS) <= r.w - MAP_SMALL - LABELS;
    const int named = named_lines(v, r);
    if (r.h >= TALL || (named && !beside)) {
        const int wanted = patches || v->less                ? r.h * 2 / 5
                           : ledger_words_lines(v) < r.h / 2 ? ledger_words_lines(v)
                                                             : r.h / 2,
                  least = wanted > r.h * 2 / 5 ? wanted : r.h * 2 / 5;
        const int lines = least < BELOW_MOST ? least : BELOW_MOST;
        Rect below = rect_cut(&r, 'b', lines > named ? lines : named);
        rect_cut(&r, 'b', 1);
        Rect *votes = patches ? &l.picture : &l.words;
        int wide = patches ? 2 * (below.h - 2) : 2 * WORDS_WIDE + WORDS_GAP, both = 2 * wide + 2; /* map and picture */
        wide = patches && below.w >= both + LARGEST_WIDE ? both : wide;
        const bool both_fit = below.w >= wide + 2 * LEDGER_WIDE;
        if (!v->less && (both_fit || named)) /* in a narrow pane rather the patch than the list */
            *votes = rect_cut(&below, 'l', both_fit ? wide : below.w);
        rect_cut(&below, 'l', votes->w ? 4 : 0);
        l.largest = below;
    } else if (patches && beside) {
        l.picture = rect_cut(&r, 'l', MAP_SMALL);
        rect_cut(&r, 'l', 1);
    }
    l.body = r;
    return l;
}

static void draw_ledger(const Paint *p, const LedgerView *v, Rect r, bool focus)
{
    Layout l = layout(v, r);
    draw_status(p, v, l.status);
    if (l.picture.w)
        ledger_draw_votes(p, v, l.picture);
    if (l.words.w)
        ledger_draw_words(p, v, l.words);
    if (l.largest.w)
        ledger_draw_largest(p, v, l.largest);
    if (in_table(v))
        ledger_draw_table(p, v, l.body, v->words && !l.words.w, focus);
    else
        ledger_draw_river(p, v, l.body, focus);
}

static int written_tokens(const Session *s, Side side)
{
    const Graph *g = session_graph(s, side);
    const int axis = graph_role(g, ROLE_QUERY, SEQUENCE_TARGET);
    return axis == AXIS_NONE ? 0 : g->axes[axis].n;
}

/* Why a side has none. The ledger is of one answer, after one token: a text of another length may have none there. */
static void put_lack(const Session *s, Side side, Buf *out)
{
    const bool a = session_ledger(s, SIDE_A) != NULL, b = session_ledger(s, SIDE_B) != NULL;
    const int tokens[] = {written_tokens(s, SIDE_A), written_tokens(s, SIDE_B)};
    const char *why = side == SIDE_DIFF ? "" : ledger_on(s, side)->why.text;
    if (side == SIDE_DIFF)
        buf_puts(out, a && b ? "A and B are not made of the same parts, so there is no difference of their ledgers."
                             : "No difference: there is no ledger of both A and B.");
    else if (a != b && tokens[0] != tokens[1])
        buf_printf(out, "No ledger on this side: A has %d tokens, B %d. `ledger` makes one of the answer.", tokens[0],
                   tokens[1]);
    else if (*why)
        buf_printf(out, "No ledger here: %s.", why);
    else
        buf_puts(out, "No ledger here. `ledger` makes one of the answer.");
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    if (r.h < 3 || r.w < 16)
        return;
    LedgerView v = ledger_view(p->s, side);
    v.elsewhere = v.l && votes_elsewhere(&v, r);
    if (!v.l) {
        Buf lack = {0};
        put_lack(p->s, side, &lack);
        canvas_wrap(p->c, r, STYLE_DIM, buf_str(&lack));
        buf_free(&lack);
    } else
        draw_ledger(p, &v, r, focus);
}

static void needs_of_river(const LedgerView *v, Side side, Needs *out)
{
    needs_add(out, side, ledger_view_path(v, v->l->value));
    needs_add(out, side, side == SIDE_A ? path_in_a(v, v->l->start) : ledger_view_path(v, v->l->start));
    for (int i = 0; i < v->l->count; i++)
        if (ledger_flows(&v->l->entry[i]))
            needs_add(out, side,
                      ledger_view_path(v, v->l->entry[i].kind == LEDGER_HEADS ? v->l->entry[i].heads
                                                                              : v->l->entry[i].total));
    if (v->l->count)
        needs_add(out, side, ledger_view_path(v, v->l->sum));
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    LedgerView v = ledger_view(s, side);
    if (!v.l)
        return;
    if (v.less) {
        needs_of_river(&v, SIDE_A, out);
        needs_of_river(&v, SIDE_B, out);
        return;
    }
    const NodeId first[] = {v.l->value, v.l->remainder, v.l->votes, v.words ? v.l->tokens : NO_NODE, v.l->tokens_too};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        needs_add(out, v.side, ledger_view_path(&v, first[i]));
    const LedgerEntry *e = ledger_heads(s, v.side, v.attention);
    if (s->look.ledger.one_head && e)
        needs_add(out, v.side, ledger_view_path(&v, e->tokens));
    needs_add(out, v.side, ledger_view_path(&v, v.l->start));
    for (int flows = 1; flows >= 0; flows--)
        for (int i = 0; i < v.l->count && (flows || s->look.ledger.table); i++) {
            e = &v.l->entry[i];
            if (ledger_flows(e) == flows)
                needs_add(out, v.side, ledger_view_path(&v, e->kind == LEDGER_HEADS ? e->heads : e->total));
        }
    const Ledger *via; /* the path that `w` drew */
    for (int step = 0; (via = session_ledger_via(s, v.side, step)); step++) {
        for (int i = 0; i < via->count; i++)
            if (via->entry[i].kind == LEDGER_HEADS) {
                needs_add(out, v.side, ledger_view_path(&v, via->entry[i].heads));
                needs_add(out, v.side, ledger_view_path(&v, via->entry[i].tokens));
            }
        needs_add(out, v.side, ledger_view_path(&v, via->value));
    }
    if (v.l->count) /* what stood behind each of them */
        needs_add(out, v.side, ledger_view_path(&v, v.l->sum));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    LedgerView v = ledger_view(p->s, side);
    if (!v.l || r.h < 3 || r.w < 16)
        return false;
    Layout l = layout(&v, r);
    int row = v.row, head = v.head, here = ledger_here(p->s, side), to;
    if (rect_has(l.picture, y, x) || rect_has(l.words, y, x)) {
        buf_puts(command, "average");
        return true;
    }
    if (!rect_has(l.body, y, x))
        return false;
    if (!in_table(&v)) { /* along the model, by so many */
        to = ledger_river_at(&v, l.body, x);
        if (to < 0 || here < 0)
            return false;
        if (to == here)
            buf_puts(command, "in");
        else
            buf_printf(command, "move %s %d", to < here ? "left" : "right", to < here ? here - to : to - here);
        return true;
    }
    if (!ledger_table_at(&v, l.body, y, x, &row, &head))
        return false;
    const Part *part = anatomy_part(v.g, v.part[row]);
    if (row == v.row && head == v.head && !v.mlp)
        buf_puts(command, "in");
    else if (v.several)
        buf_printf(command, "attention %s; head %d", part->scope, head);
    else
        buf_printf(command, "block %d; head %d", part->block, head);
    return true;
}

/* "l' − le after <s>": of texts, whose words are hardly ever written as they stand in an address. */
static bool put_words(const Session *s, Buf *out)
{
    const Graph *g = session_base(s);
    const NodeId n = *s->ledger.path ? graph_find(g, s->ledger.path) : NO_NODE;
    const int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_QUERY);
    char label[64];
    int row, o;
    if (axis == AXIS_NONE || node_role(g, n, ROLE_ANSWER) == AXIS_NONE)
        return false;
    ledger_class(g, n, s->ledger.cell, &row, &o);
    ledger_text_short(s, out);
    buf_printf(out, " %s %s", g->axes[axis].sequence == SEQUENCE_TARGET ? "after" : "at",
               axis_label(&g->axes[axis], row, label, sizeof label));
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    const char *kind = s->look.ledger.table && side != SIDE_DIFF ? "ledger " : "river ";
    buf_puts(out, kind);
    if (!put_words(s, out))
        ledger_text(s, out);
    buf_printf(out, "\n%s", kind);
    ledger_text_short(s, out);
    buf_puts(out, "\n");
    ledger_text_short(s, out);
}

static const char *under_cursor(const Session *s, Side side)
{
    LedgerView v = ledger_view(s, side);
    const LedgerEntry *e = v.l && !v.mlp ? ledger_heads(s, v.side, v.attention) : NULL;
    return v.mlp ? ledger_view_path(&v, v.mlp->total) : e ? ledger_view_path(&v, e->heads) : NULL;
}

static bool alone(const Session *s, Side side, int h, int w, int all)
{
    (void)h;
    const LedgerView v = ledger_view(s, side);
    return v.l && in_table(&v) && ledger_table_alone(&v, w, all);
}

static const ViewWay WAYS[] = {{"river      what stands so far, and what each part adds or takes",
                                "option ledger-table off"},
                               {"table      the same as numbers, and what is neither head nor MLP",
                                "option ledger-table on"},
                               {"votes      of the head in focus", "option one-head-votes on"},
                               {"all votes  of all heads", "option one-head-votes off"},
                               {NULL, NULL}};

static bool shows_table(const Session *s)
{
    return s->look.ledger.table;
}

/* The path that leads on, and the other way to see it, before what changes the pass. */
static const KeyBinding KEYS[] = {
    {"Up", "move up", "part", "river: the next larger head or MLP; table: the block before", KEY_COUNTS, 2, NULL},
    {"Down", "move down", NULL, "river: the next smaller one; table: the next block", KEY_COUNTS, 0, NULL},
    {"Left", "move left", NULL, "the head or MLP before", KEY_COUNTS, 0, NULL},
    {"Right", "move right", NULL, "the next head or MLP", KEY_COUNTS, 0, NULL},
    {"w", "why", "why", "which head and token spoke, and the path it came by; again: the largest terms down", 0, 4,
     NULL},
    {"v", "view next", "river", "the same as a river", 0, 4, shows_table},
    {"v", "view next", "table", "the same as numbers, and what is neither head nor MLP", 0, 4, NULL},
    {.key = NULL}};

VIEW_SPEC(LEDGER, .name = "ledger", .traits = VIEW_WIDE | VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_TRACED,
          .sides = SIDES_PANES, .alone = alone, .cursor = under_cursor,
          .sentence = "What a part wrote is not what is lost without it: later parts read it too.", .keys = KEYS,
          .ways = WAYS);
