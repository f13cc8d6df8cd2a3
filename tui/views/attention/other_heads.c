/* The same question in every head of the block, small: a map each; of words the sentence for each, every word on the
 * ground of its weight, or where that has no room a line of cells below one line of words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"

enum { SQUARE_MOST = 24, WORD_WIDE = 8, HEAD_NAME = 7, HEAD_NAME_SHORT = 4, MOST_WORD = 12, ROOMY = 50, OF_ALL = 9 };

/* Words: one column layout for all heads. */
typedef struct HeadLines {
    Rect words, cells;
    int name, wide, tall, most;   /* most: columns of the largest word and its share; 0: none */
    int head, heads, word, count; /* from, and so many of them */
} HeadLines;

static HeadLines head_lines(Rect r, const Attend *a)
{
    HeadLines l = {.name = r.w < ROOMY ? HEAD_NAME_SHORT : HEAD_NAME, .tall = 1, .wide = 1};
    int n = a->u_axis->n, room = r.w - l.name;
    l.most = room - n >= MOST_WORD + WORD_SHARE + 1 ? MOST_WORD + WORD_SHARE + 1 : 0;
    l.wide = (room - l.most) / n < 1 ? 1 : (room - l.most) / n < WORD_WIDE ? (room - l.most) / n : WORD_WIDE;
    int labels = words_across_lines(a->u_axis, l.wide, r.h - a->heads);
    rect_cut(&r, 'l', l.name);
    l.count = n < r.w / l.wide ? n : r.w / l.wide;
    l.word = (int)scroll_first((size_t)n, (size_t)a->at_u, (size_t)l.count);
    l.words = rect_cut(&r, 't', labels);
    l.cells = r;
    l.heads = a->heads < r.h ? a->heads : r.h;
    l.head = (int)scroll_first((size_t)a->heads, (size_t)a->head, (size_t)l.heads);
    while (l.heads && (l.tall + 1) * l.heads <= r.h && 2 * (l.tall + 1) <= l.wide)
        l.tall++;
    return l;
}

/* Where head i's map goes: as many side by side as fit, the cursor's head always among them. */
typedef struct HeadGrid {
    int k_cols, across, down, first; /* width of one, how many, first head shown */
    int lines;                       /* height of one, its label included */
    int rows, cols;                  /* drawn cells of a map that is no lattice, but pooled or of its own size, or 0 */
    HeatSize size;                   /* of that */
    bool said;                       /* below them is a line that says which heads they are */
} HeadGrid;

enum { POOLED_LEAST = 5 }; /* cells of a map */

/* All heads at once, their patches pooled as little as can be; false where too few cells would be left of a map. */
static bool pooled_grid(const Paint *p, Rect r, const Attend *a, HeadGrid *out)
{
    int most = POOLED_LEAST - 1;
    for (int across = 1; across <= a->heads && heat_halves(p); across++) {
        int down = (a->heads + across - 1) / across, lines = r.h / down, wide = (r.w + 1) / across - 1;
        int tall = 2 * (lines - 1), cells = tall < wide ? tall : wide;
        int longest = a->u.rows > a->u.cols ? a->u.rows : a->u.cols;
        if (cells <= most)
            continue;
        most = cells;
        *out = (HeadGrid){.across = across, .down = down, .k_cols = cells, .lines = lines};
        out->rows = a->u.rows * cells / longest;
        out->cols = a->u.cols * cells / longest;
        out->size = (HeatSize){out->rows, out->cols};
    }
    return most >= POOLED_LEAST && out->rows && out->cols;
}

/* As many heads as have room for the smallest pooled maps, around the cursor's; false where whole ones say more. */
static bool pooled_page(const Paint *p, Rect r, const Attend *a, int whole, HeadGrid *out)
{
    const int longest = a->u.rows > a->u.cols ? a->u.rows : a->u.cols, lines = 1 + (POOLED_LEAST + 1) / 2;
    HeadGrid g = {.across = (r.w + 1) / (POOLED_LEAST + 1),
                  .down = (r.h - 1) / lines,
                  .k_cols = POOLED_LEAST,
                  .lines = lines,
                  .rows = a->u.rows * POOLED_LEAST / longest,
                  .cols = a->u.cols * POOLED_LEAST / longest,
                  .said = true};
    if (!heat_halves(p) || longest <= POOLED_LEAST || !g.rows || !g.cols || g.across * g.down <= whole)
        return false;
    g.size = (HeatSize){g.rows, g.cols};
    g.first = (int)scroll_first((size_t)a->heads, (size_t)a->head, (size_t)(g.across * g.down));
    *out = g;
    return true;
}

static HeadGrid head_grid(const Paint *p, Rect r, const Attend *a)
{
    HeadGrid g = {.across = 1, .down = 1};
    Rect one = r;
    one.h = r.h > 1 ? r.h - 1 : 1;
    int best = 0;
    for (int across = 1; across <= a->heads;
         across++) { /* the arrangement with the largest squares that shows every head */
        int down = (a->heads + across - 1) / across;
        Rect room = {r.y, r.x, r.h / down - 1, (r.w + 1) / across - 1};
        LatticeMap m = lattice_map(p, room, a->u.rows, a->u.cols, SQUARE_MOST, 0, 0);
        if (room.h < 1 || room.w < 1 || m.rows < a->u.rows || m.cols < a->u.cols || m.k < best)
            continue;
        best = m.k;
        g = (HeadGrid){.across = across, .down = down, .k_cols = room.w, .lines = room.h + 1};
    }
    if (!best && pooled_grid(p, r, a, &g))
        return g;
    HeatSize fit = heat_within(p, (HeatSize){heat_pixels(p, g.lines - 1), g.k_cols}, a->u.rows, a->u.cols, 1);
    if (best == 1 && heat_halves(p) && 4 * fit.wide >= 5 * a->u.cols) { /* a quarter larger: not whole columns */
        g.rows = a->u.rows;
        g.cols = a->u.cols;
        g.size = fit;
    }
    if (!best) { /* not all fit: one line of smallest maps around the cursor's head */
        LatticeMap m = lattice_map(p, one, a->u.rows, a->u.cols, 1, 0, 0);
        g.k_cols = m.r.w > 0 ? m.r.w : 1;
        g.lines = r.h;
        g.across = (r.w + 1 - OF_ALL) / (g.k_cols + 1); /* and "3 of 12" beside them */
        g.across = g.across < 1 ? 1 : g.across > a->heads ? a->heads : g.across;
        g.first = (int)scroll_first((size_t)a->heads, (size_t)a->head, (size_t)g.across);
        pooled_page(p, r, a, g.across, &g);
    }
    return g;
}

static Rect head_rect(const HeadGrid *g, Rect r, int i)
{
    return (Rect){r.y + i / g->across * g->lines, r.x + i % g->across * (g->k_cols + 1), g->lines, g->k_cols};
}

static void draw_name(const Paint *p, const Attend *a, int head, Rect r)
{
    bool here = head == a->head;
    canvas_printf(p->c, r.y, r.x, r.w, here ? STYLE_CURSOR : STYLE_AXIS, "%sh%d%s", here && r.w > 2 ? ">" : "", head,
                  attend_off(p->s, a, head) ? " off" : "");
}

static int largest(const Attend *a, int head)
{
    int best = 0;
    for (int u = 1; u < a->u_axis->n; u++) {
        float x = a->v.values[attend_cell(a, head, a->at_t, u)], y = a->v.values[attend_cell(a, head, a->at_t, best)];
        best = (a->v.side == SIDE_DIFF ? fabsf(x) > fabsf(y) : x > y) ? u : best;
    }
    return best;
}

/* The largest word of a head and its number, behind its cells. */
static void draw_most(const Paint *p, const Attend *a, int head, int y, int x)
{
    char label[64];
    int best = largest(a, head);
    size_t cell = attend_cell(a, head, a->at_t, best);
    canvas_label(p->c, y, x + 1, MOST_WORD - 1, STYLE_TEXT, axis_label(a->u_axis, best, label, sizeof label));
    (a->in_share ? shown_share_right : shown_number_right)(p, &a->v, cell, y, x + MOST_WORD, WORD_SHARE, STYLE_TEXT);
}

/* The word that asks, where it is among those looked at; else −1. */
static int asks_of(const Attend *a)
{
    return attend_asks(a, a->at_t) ? a->at_t : -1;
}

/* Room of head i of those drawn as a sentence each, so many lines high; no width: they have no room. */
static Rect sentence_rect(Rect r, const Attend *a, int i)
{
    Running v;
    int lines = r.h / a->heads, name = r.w < ROOMY ? HEAD_NAME_SHORT : HEAD_NAME;
    Rect room = {r.y, r.x + name, lines, r.w - name};
    if (lines < 1 || !running_layout(a->u_axis, a->at_u, asks_of(a), room, &v))
        return (Rect){0};
    room.h = v.lines < lines ? v.lines + (lines > v.lines && v.lines > 1) : lines;
    room.y += i * room.h;
    return room;
}

/* The sentence once for each head, every word on the ground of its weight. */
static void draw_sentences(const Paint *p, const Attend *a, Rect r, bool focus)
{
    ColourScale scale = attend_heads_scale(p, a);
    for (int head = 0; head < a->heads; head++) {
        Rect room = sentence_rect(r, a, head);
        Running v;
        draw_name(p, a, head, (Rect){room.y, r.x, 1, room.x - r.x - 1});
        if (running_layout(a->u_axis, a->at_u, asks_of(a), room, &v))
            running_draw(p, a, head, &scale, &v);
        if (head == a->head)
            focus_cursor(p, focus, room.y, r.x);
    }
}

static void draw_lines(const Paint *p, const Attend *a, Rect r, bool focus)
{
    if (sentence_rect(r, a, 0).w) {
        draw_sentences(p, a, r, focus);
        return;
    }
    HeadLines l = head_lines(r, a);
    ColourScale scale = attend_heads_scale(p, a);
    words_across(p, a->u_axis, l.word, l.count, a->at_u, -1, l.words, l.wide);
    for (int i = 0; i < l.heads; i++) {
        int head = l.head + i, y = l.cells.y + i * l.tall;
        draw_name(p, a, head, (Rect){y, r.x, 1, l.name - 1});
        AttendRow row = {a, head};
        for (int j = 0; j < l.count; j++) {
            Ref ref;
            float x = attend_row_value(&row, 0, l.word + j, &ref);
            for (int k = 0; k < l.tall * l.wide; k++)
                canvas_pixel(p->c, y + k / l.wide, l.cells.x + j * l.wide + k % l.wide, -1,
                             colour_scale_colour(&scale, x), colour_scale_level(&scale, x),
                             colour_scale_sign(&scale, x), ref);
            if (l.word + j == a->at_u)
                heat_mark(p, y, l.cells.x + j * l.wide, l.tall, l.wide, ref);
        }
        if (l.most)
            draw_most(p, a, head, y, l.cells.x + l.count * l.wide);
        if (head == a->head)
            focus_cursor(p, focus, y, r.x);
    }
}

typedef struct Pooled {
    const Attend *a;
    const HeadGrid *g;
    PoolKind kind;
} Pooled;

static float pooled_value(const void *context, int row, int col, Ref *ref)
{
    const Pooled *h = context;
    size_t rows = (size_t)h->a->u.rows, cols = (size_t)h->a->u.cols, down = (size_t)h->g->rows,
           across = (size_t)h->g->cols, y = (size_t)row, x = (size_t)col;
    return attend_row_patches(h->a, h->a->head, (int)heat_first(y, rows, down), (int)heat_first(y + 1, rows, down),
                              (int)heat_first(x, cols, across), (int)heat_first(x + 1, cols, across), h->kind, ref);
}

/* Each on its own, else one sharp head would leave all others dark; A − B in the tone of the head in focus. */
static ColourScale own_scale(const Paint *p, Attend *a, int head)
{
    const bool root = a->v.side == SIDE_DIFF && attend_scale(p, a, true).root;
    a->head = head;
    ColourScale scale = attend_scale(p, a, true);
    scale.root = a->v.side == SIDE_DIFF ? root : scale.root;
    return scale;
}

static void draw_pooled(const Paint *p, const Attend *block, const HeadGrid *g, int head, Rect box)
{
    Attend a = *block;
    draw_name(p, &a, head, rect_cut(&box, 't', 1));
    ColourScale scale = own_scale(p, &a, head);
    HeatSize size = g->size;
    heat_draw(p, box, g->rows, g->cols, size, &scale, pooled_value, &(Pooled){&a, g, colour_scale_pool(p, &scale)});
    int row, col;
    if (size.wide < 2 || !attend_place(&a, a.at_u, &row, &col)) /* on one cell a mark would hide what it marks */
        return;
    heat_mark_cell(p, box, g->rows, g->cols, size, (int)heat_part((size_t)row, (size_t)a.u.rows, (size_t)g->rows),
                   (int)heat_part((size_t)col, (size_t)a.u.cols, (size_t)g->cols),
                   shown_ref(&a.v, attend_cell(&a, head, a.at_t, a.at_u)));
}

static void draw_head(const Paint *p, const Attend *block, int head, Rect box)
{
    Attend a = *block;
    if (box.h > 1)
        draw_name(p, &a, head, rect_cut(&box, 't', 1));
    ColourScale scale = own_scale(p, &a, head);
    LatticeMap m = lattice_map(p, box, a.u.rows, a.u.cols, SQUARE_MOST, 0, 0);
    lattice_map_draw(p, &m, &scale, attend_row_value, &(AttendRow){&a, head});
    int row, col;
    if (m.k > 1 && attend_asks(&a, a.at_t) && attend_place(&a, a.at_t, &row, &col))
        lattice_map_mark(p, &m, row, col, "><o", STYLE_STRONG, shown_ref(&a.v, attend_cell(&a, head, a.at_t, a.at_t)));
    if ((m.k > 1 || !m.halves) && attend_place(&a, a.at_u, &row, &col)) /* the token under the cursor, in every head */
        lattice_map_mark(p, &m, row, col, "[]!", STYLE_CURSOR, shown_ref(&a.v, attend_cell(&a, head, a.at_t, a.at_u)));
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Attend a;
    if (!attend_ready(p, r, side, &a))
        return;
    if (attend_listed(&a)) {
        draw_lines(p, &a, r, focus);
        return;
    }
    HeadGrid g = head_grid(p, r, &a);
    for (int i = 0; i < g.across * g.down && g.first + i < a.heads; i++) {
        Rect box = head_rect(&g, r, i);
        if (g.rows)
            draw_pooled(p, &a, &g, g.first + i, box);
        else
            draw_head(p, &a, g.first + i, box);
        if (g.first + i == a.head)
            focus_cursor(p, focus, box.y, box.x);
    }
    if (g.said)
        canvas_printf(p->c, r.y + r.h - 1, r.x, r.w, STYLE_DIM, "heads %d–%d of %d; %d×%d patches pooled", g.first,
                      g.first + g.across * g.down - 1, a.heads, a.u.rows, a.u.cols);
    else if (g.across * g.down < a.heads) {
        char words[32];
        snprintf(words, sizeof words, "%d of %d", g.across, a.heads);
        canvas_text(p->c, r.y, r.x + r.w - (int)strlen(words), (int)strlen(words), STYLE_DIM, words);
    }
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    attend_needs(s, side, false, out);
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Attend a;
    if (!attend_open(p->s, side, -1, &a) || !a.v.values)
        return false;
    for (int i = 0; attend_listed(&a) && sentence_rect(r, &a, 0).w && i < a.heads; i++) {
        Rect room = sentence_rect(r, &a, i);
        if (y >= room.y && y < room.y + room.h) {
            buf_printf(command, "head %d", i);
            return true;
        }
    }
    HeadLines l = head_lines(r, &a);
    int head = attend_listed(&a) && y >= l.cells.y ? l.head + (y - l.cells.y) / l.tall : a.heads;
    if (head < a.heads)
        buf_printf(command, "head %d", head);
    if (attend_listed(&a))
        return head < a.heads;
    HeadGrid g = head_grid(p, r, &a);
    for (int i = 0; i < g.across * g.down && g.first + i < a.heads; i++)
        if (rect_has(head_rect(&g, r, i), y, x)) {
            buf_printf(command, "head %d", g.first + i);
            return true;
        }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    Attend a;
    char label[32], end[32] = "";
    if (attend_open(s, side, -1, &a)) {
        float most = 0;
        for (int k = 0; a.v.values && k < a.heads * a.u_axis->n; k++)
            most = fmaxf(most, fabsf(a.v.values[attend_cell(&a, k / a.u_axis->n, a.at_t, k % a.u_axis->n)]));
        if (a.in_share && side != SIDE_DIFF)
            share_text(end, sizeof end, most);
        else
            number_text(end, sizeof end, a.in_share ? 100 * most : most, 5);
        const bool told = attend_listed(&a) && isfinite(most) && most > 0;
        const char *q = attend_listed(&a) ? "\"" : "";
        buf_printf(out, "%s%s%s in every head%s%s", q, axis_label(a.t_axis, a.at_t, label, sizeof label), q,
                   side == SIDE_DIFF && a.in_share ? ", in points" : "",
                   attend_listed(&a) ? ", one scale"
                   : s->look.locked  ? ""
                                     : ", own scale each");
        if (told)
            buf_printf(out, side == SIDE_DIFF || !a.in_share ? " ±%s" : " to %s", end);
    } else
        buf_puts(out, "every head");
}

/* Of maps that are pooled what their squares stand for, too: one is taken for a patch. */
static void title_in(const Paint *p, Rect r, Side side, Buf *out)
{
    Attend a;
    char label[32];
    Buf plain = {0};
    title(p->s, side, &plain);
    if (attend_open(p->s, side, -1, &a) && !attend_listed(&a)) {
        const HeadGrid g = head_grid(p, r, &a);
        const char *text = buf_str(&plain), *scale = strstr(text, ", own scale each");
        if (!g.said && g.rows && g.cols && (g.rows < a.u.rows || g.cols < a.u.cols)) {
            buf_printf(out, "%s; %d×%d patches pooled to %d×%d\n", text, a.u.rows, a.u.cols, g.rows, g.cols);
            buf_printf(out, "%.*s%s; %d×%d pooled to %d×%d\n", scale ? (int)(scale - text) : (int)plain.len, text,
                       scale ? ", own scales" : "", a.u.rows, a.u.cols, g.rows, g.cols);
        }
    }
    const bool maps = attend_open(p->s, side, -1, &a) && !attend_listed(&a) && a.v.values && side == SIDE_DIFF;
    if (maps && attend_scale(p, &a, true).root)
        buf_printf(out, "%s, √ scale\n%s in every head, √ scale\n", buf_str(&plain),
                   axis_label(a.t_axis, a.at_t, label, 32));
    buf_puts(out, buf_str(&plain));
    buf_free(&plain);
}

VIEW_SPEC(OTHER_HEADS, .name = "other heads", .title_in = title_in);
