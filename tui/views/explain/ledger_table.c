/* What every head and MLP wrote, and below it what the number loses when that is really taken out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/explain/ledger_view.h"
#include "tui/views/heat.h"

enum {
    LABEL = 9,
    LABEL_TEN = 8, /* "block 10", where heads have columns of NARROW */
    LABEL_NARROW = 8,
    NARROW = 7,
    TIGHT = 6,        /* where all heads fit then */
    LABEL_STACK = 13, /* "dec 2 cross", … */
    STACK_CELLS = 4,  /* … without "dec " where columns are narrow */
    WIDEST = 10,
    LIST_WIDE = 38,
    LARGEST_LEAST = 36,
    GAP = 4
};

typedef struct Table {
    Rect r;
    int label;
    int wide, tall; /* of an entry: `tall` 2 has the effect below */
    int across, first_head, down, first_row;
    int row; /* in focus */
} Table;

/* The MLP stands behind a block's last attention. */
static bool last_of_block(const LedgerView *v, int row)
{
    int block = anatomy_part(v->g, v->part[row])->parent;
    return row + 1 >= v->rows || anatomy_part(v->g, v->part[row + 1])->parent != block;
}

/* Beside B's, where it is measured, A's have the same lines. */
static bool has_lost(const LedgerView *v)
{
    return v->measured || v->twins;
}

static int label_of(const LedgerView *v, bool narrow)
{
    return v->several     ? LABEL_STACK - narrow * (STACK_CELLS + 1)
           : !narrow      ? LABEL
           : v->rows > 10 ? LABEL_TEN
                          : LABEL_NARROW;
}

int ledger_table_wide(const LedgerView *v, bool narrow)
{
    return label_of(v, narrow) + (v->heads + 1) * (narrow ? TIGHT : LEDGER_WIDE);
}

/* Columns of heads in a table so wide; *each: of one. */
static int heads_across(const LedgerView *v, int w, int *each)
{
    const bool narrow = w < ledger_table_wide(v, false);
    const int room = w - label_of(v, narrow), most = room / TIGHT - 1;
    *each = !narrow ? LEDGER_WIDE : room / NARROW - 1 < v->heads && most >= v->heads ? TIGHT : NARROW;
    return clamp(room / *each - 1, 0, v->heads); /* the last one is the MLP's */
}

bool ledger_table_alone(const LedgerView *v, int w, int all)
{
    int each;
    return heads_across(v, all, &each) + 1 >= 2 * (heads_across(v, w, &each) + 1);
}

static Table table_of(const LedgerView *v, Rect r)
{
    Table t = {.r = r};
    t.label = label_of(v, r.w < ledger_table_wide(v, false));
    t.across = heads_across(v, r.w, &t.wide);
    t.wide = (r.w - t.label) / (t.across + 1 > 0 ? t.across + 1 : 1);
    t.wide = t.wide > WIDEST ? WIDEST : t.wide;
    t.tall = has_lost(v) && r.h - 1 >= 2 * v->rows ? 2 : 1;
    t.down = (r.h - 1) / t.tall;
    t.down = t.down < 0 ? 0 : t.down > v->rows ? v->rows : t.down;
    t.first_head = (int)scroll_first((size_t)v->heads, (size_t)v->head, (size_t)t.across);
    t.row = v->row;
    while (v->mlp && !last_of_block(v, t.row)) /* an MLP stands behind the last attention of its block */
        t.row++;
    t.first_row = (int)scroll_first((size_t)v->rows, (size_t)t.row, (size_t)t.down);
    return t;
}

static Rect entry_rect(const Table *t, int row, int column)
{
    return (Rect){t->r.y + 1 + (row - t->first_row) * t->tall, t->r.x + t->label + column * t->wide, t->tall, t->wide};
}

static void draw_entry(const Paint *p, const LedgerView *v, const Table *t, const LedgerEntry *e, int head, Rect at,
                       const ColourScale *scale)
{
    bool here = e && (v->mlp ? e == v->mlp : e == ledger_heads(v->s, v->side, v->attention) && head == v->head);
    if (!e) {
        canvas_right(p->c, at.y, at.x, at.w - 1, STYLE_DIM, "-");
        return;
    }
    const NodeId node = head < 0 ? e->total : e->heads;
    const size_t cell = head < 0 ? 0 : (size_t)head;
    Shown shown;
    float value;
    if (here) /* no hole between the mark and the number */
        canvas_fill(p->c, (Rect){at.y, at.x, 1, at.w}, STYLE_CURSOR, ' ');
    const Rect in = at.w > TIGHT ? (Rect){at.y, at.x + 1, 1, at.w - 2} : (Rect){at.y, at.x, 1, at.w - 1};
    ledger_put_number(p, v, node, cell, in.y, in.x, in.w, here ? STYLE_CURSOR : STYLE_TEXT);
    if (!here && ledger_view_value(v, node, cell, &value) &&
        shown_open(v->s, v->side, ledger_view_path(v, node), &shown))
        word_ground(p, at.y, at.x, at.w, scale, value, shown_ref(&shown, cell));
    if (t->tall > 1)
        ledger_put_effect(p, v, e, head, in.y + 1, in.x, in.w);
    if (here && in.x > at.x) /* room for brackets; the ground is the cursor's in any case */
        heat_mark(p, at.y, at.x, 1, at.w, (Ref){0});
}

static void draw_entries(const Paint *p, const LedgerView *v, const Table *t, bool focus)
{
    for (int i = 0; i <= t->across; i++) {
        Rect at = entry_rect(t, t->first_row, i);
        char text[24];
        snprintf(text, sizeof text, i == t->across ? "MLP" : t->wide > NARROW ? "head %d" : "h%d", t->first_head + i);
        canvas_right(p->c, t->r.y, at.x, at.w - 1, STYLE_AXIS, text);
    }
    const float most = ledger_most(v);
    const ColourScale scale = colour_scale_of_range(p, -most, most);
    char bound[16]; /* what the colours of its cells stand for: votes have another scale */
    number_text(bound, sizeof bound, most, t->label - 3 < 6 ? t->label - 3 : 6);
    const int keys = p->mode < MODE_256 ? 0 : 2;
    for (int k = 0; k < keys && most > 0; k++)
        canvas_pixel(p->c, t->r.y, t->r.x + k, -1, colour_scale_colour(&scale, k ? most : -most), 0, 0, (Ref){0});
    if (most > 0)
        canvas_printf(p->c, t->r.y, t->r.x + keys, t->label - keys, STYLE_DIM, "±%s", bound);
    for (int i = t->first_row; i < t->first_row + t->down; i++) {
        Rect line = entry_rect(t, i, 0);
        char name[ATTENTION_NAME];
        session_attention_name(v->g, v->part[i], name);
        canvas_text(p->c, line.y, t->r.x, t->label, i == t->row ? STYLE_STRONG : STYLE_AXIS,
                    name + (v->several && t->label < LABEL_STACK ? STACK_CELLS : 0));
        if (t->tall > 1 && (v->measured || i == t->first_row))
            canvas_text(p->c, line.y + 1, t->r.x, v->measured ? t->label : t->r.w, STYLE_DIM,
                        v->measured ? " lost" : " lost: of B only");
        for (int k = 0; k < t->across; k++)
            draw_entry(p, v, t, ledger_heads(v->s, v->side, v->part[i]), t->first_head + k, entry_rect(t, i, k),
                       &scale);
        if (last_of_block(v, i))
            draw_entry(p, v, t, ledger_mlp(v->s, v->side, v->part[i]), -1, entry_rect(t, i, t->across), &scale);
    }
    Rect here = entry_rect(t, t->row, v->mlp ? t->across : v->head - t->first_head);
    focus_cursor(p, focus, here.y, here.x + 1);
}

static const char LOST[] = "lost: less in a pass without the part";

/* "the other 14 parts together   -1.02": with them the table is the whole sum. */
static void draw_together(const Paint *p, const LedgerView *v, int count, Rect line)
{
    if (v->l->start == NO_NODE)
        return;
    const int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_AXIS, "the other %d part%s", count,
                                   count > 1 ? "s together" : "");
    ledger_put_number(p, v, v->l->start, 0, line.y, line.x + used + 1, LEDGER_WIDE, STYLE_TEXT);
}

/* What is neither head nor MLP: embeddings, biases, what an edit put in. */
static void draw_others(const Paint *p, const LedgerView *v, Rect r)
{
    Rect line = rect_cut(&r, 't', 1);
    int left = 0;
    for (int i = 0; i < v->l->count; i++)
        left += !ledger_flows(&v->l->entry[i]);
    if (line.w >= LIST_WIDE - GAP && left && r.h < (left > 1 ? 2 : 1) && line.h) /* no header over "more" alone */
        draw_together(p, v, left, (Rect){line.y + r.h, line.x, 1, line.w});
    if (line.w < LIST_WIDE - GAP || r.h < (left > 1 ? 2 : 1))
        return;
    canvas_text(p->c, line.y, line.x, line.w, STYLE_AXIS,
                v->measured ? "other parts             wrote     lost" : "other parts             wrote");
    for (int i = v->l->count - 1; i >= 0 && r.h > 0; i--) {
        const LedgerEntry *e = &v->l->entry[i];
        Buf part = {0};
        LedgerLine l = {.entry = e, .head = -1};
        if (ledger_flows(e))
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
        ledger_put_number(p, v, e->total, 0, line.y, line.x + 21, LEDGER_WIDE, STYLE_TEXT);
        ledger_put_effect(p, v, e, -1, line.y, line.x + 30, LEDGER_WIDE);
    }
    if (v->measured && r.h > 1 && utf8_cells(LOST) <= line.w)
        canvas_text(p->c, r.y + 1, line.x, line.w, STYLE_DIM, LOST);
}

/* Which heads and blocks the table leaves out: it scrolls to them. */
static void draw_left_out(const Paint *p, const LedgerView *v, const Table *t, Rect line)
{
    int used = 0;
    if (!t->across)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "no room for heads%s",
                             t->down < v->rows ? ", " : "");
    else if (t->across == 1 && v->heads > 1)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "head %d of %d%s", t->first_head, v->heads,
                             t->down < v->rows ? ", " : "");
    else if (t->across < v->heads)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "heads %d–%d of %d%s", t->first_head,
                             t->first_head + t->across - 1, v->heads, t->down < v->rows ? ", " : "");
    if (t->down < v->rows)
        canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_DIM, "lines %d–%d of %d", t->first_row + 1,
                      t->first_row + t->down, v->rows);
}

/* Table, what it leaves out, and the other parts, from above. */
static Table layout(const LedgerView *v, Rect r, Rect *left_out, Rect *others)
{
    const int two = has_lost(v) && r.h - 1 >= 2 * v->rows ? 2 : 1, tall = 1 + two * v->rows;
    Rect above = rect_cut(&r, 't', tall < r.h ? tall : r.h);
    Table t = table_of(v, above);
    *left_out = (Rect){0};
    if (t.across < v->heads || t.down < v->rows) { /* below the table, if need be in place of its last line */
        if (r.h > 0)
            *left_out = rect_cut(&r, 't', 1);
        else if (above.h > 3) {
            *left_out = rect_cut(&above, 'b', 1);
            t = table_of(v, above);
        }
    }
    if (r.h > 3)
        rect_cut(&r, 't', 1);
    *others = r;
    return t;
}

/* Takes so many columns of the shelf, or of a new one below it, and what is left of its height. */
static Rect take_shelf(Rect *shelf, Rect *room, int w, int h)
{
    if (shelf->w < w) {
        rect_cut(room, 't', room->h > shelf->h + 1 ? shelf->h + 1 : room->h);
        *shelf = (Rect){room->y, room->x, 0, room->w};
    }
    Rect of = rect_cut(shelf, 'l', w < shelf->w ? w : shelf->w);
    of.h = room->h;
    rect_cut(shelf, 'l', GAP < shelf->w ? GAP : shelf->w);
    h = h < room->h ? h : room->h;
    shelf->h = h > shelf->h ? h : shelf->h;
    return of;
}

/* Of A and B beside one another, where A − B has no pane of its own: as wide as they are it would not fit. */
static bool without_diff(const Paint *p, const LedgerView *v, int pane)
{
    return v->twins && 3 * (pane + 2) > p->c->w && 2 * (pane + 2) <= p->c->w;
}

/* Below the table: what is neither head nor MLP, the words where they stand nowhere else, and what wrote most; below
 * A's, where that stands nowhere else, in what A and B differ most: B's has what is neither head nor MLP. */
static void draw_below(const Paint *p, const LedgerView *v, Rect room, bool words)
{
    const LedgerView diff = ledger_view(v->s, SIDE_DIFF);
    if (v->side == SIDE_A && diff.less && room.h > 2 && without_diff(p, v, room.w)) {
        ledger_draw_largest(p, &diff, room);
        return;
    }
    int others = v->measured ? 3 : 1; /* and what "lost" is */
    for (int i = 0; i < v->l->count; i++)
        others += !ledger_flows(&v->l->entry[i]);
    Rect shelf = {room.y, room.x, 0, room.w};
    if (room.w >= LIST_WIDE - GAP)
        draw_others(p, v, take_shelf(&shelf, &room, LIST_WIDE, others));
    const int wide = 2 * WORDS_WIDE + WORDS_GAP;
    if (words && room.w >= wide)
        ledger_draw_words(p, v, take_shelf(&shelf, &room, wide, ledger_words_lines(v)));
    Rect largest = take_shelf(&shelf, &room, room.w < LARGEST_LEAST ? room.w : LARGEST_LEAST, room.h);
    largest.w = room.x + room.w - largest.x;
    if (largest.h > 2)
        ledger_draw_largest(p, v, largest);
}

void ledger_draw_table(const Paint *p, const LedgerView *v, Rect r, bool words, bool focus)
{
    Rect left_out, others;
    Table t = layout(v, r, &left_out, &others);
    if (t.r.h > 1)
        draw_entries(p, v, &t, focus);
    if (left_out.h)
        draw_left_out(p, v, &t, left_out);
    draw_below(p, v, others, words);
}

bool ledger_table_at(const LedgerView *v, Rect r, int y, int x, int *row, int *head)
{
    Rect left_out, others;
    Table t = layout(v, r, &left_out, &others);
    for (*row = t.first_row; *row < t.first_row + t.down; ++*row)
        for (int i = 0; i < t.across; i++)
            if (rect_has(entry_rect(&t, *row, i), y, x)) {
                *head = t.first_head + i;
                return true;
            }
    return false;
}
