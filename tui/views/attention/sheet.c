/* Blocks × heads as thumbnails: the row of the token in focus as a map of the patches, pooled as far as it must be for
 * all of them to be seen at once, in as many columns of blocks as pool least; of words the matrix, pooled where it must
 * be, or where there is room for a line of each head that row. A bar at the left of a head is the accuracy lost without
 * it, where that was measured: a number of no trace, without a Ref. */
#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "tui/canvas/plot.h"
#include "tui/views/attention/sheet_caption.h"
#include "tui/views/attention/sheet_focus.h"
#include "tui/views/attention/word_pool.h"
#include "tui/views/attention/word_row.h"

/* The block of the focus; a side that ends before it stands at its last. */
static int block_on(const Session *s, Side side)
{
    int block = session_block(s), last = session_blocks_on(s, side) - 1;
    return block < 0 || last < 0 ? 0 : block < last ? block : last;
}

typedef struct Thumb {
    const Attend *a;
    const Sheet *s;
    int head;
    PoolKind kind;
} Thumb;

static float thumb_value(const void *context, int row, int col, Ref *ref)
{
    const Thumb *t = context;
    const Attend *a = t->a;
    if (t->s->matrix)
        return word_pool_value(a, &(WordPool){.rows = t->s->rows, .cols = t->s->cols}, t->kind, row, col, ref);
    size_t rows = (size_t)a->u.rows, cols = (size_t)a->u.cols, y = (size_t)row, x = (size_t)col;
    size_t down = (size_t)t->s->rows, across = (size_t)t->s->cols;
    return attend_row_patches(a, t->head, (int)heat_first(y, rows, down), (int)heat_first(y + 1, rows, down),
                              (int)heat_first(x, cols, across), (int)heat_first(x + 1, cols, across), t->kind, ref);
}

/* The finer cells of a thumbnail, and where the next one touches it a row or column of the ground behind them. */
typedef struct Fine {
    const ColourScale *scale;
    Thumb t;
    Colour ground;
} Fine;

static Colour fine_colour(const void *context, int row, int col)
{
    const Fine *f = context;
    Ref ref;
    const bool in = row < f->t.s->rows && col < f->t.s->cols;
    return in ? colour_scale_colour(f->scale, thumb_value(&f->t, row, col, &ref)) : f->ground;
}

/* Every thumbnail has its own scale, else one sharp head would leave all others dark; a locked scale serves them all,
 * as `one` does. */
static void draw_thumb(const Paint *p, const Attend *block, const Sheet *s, int head, const ColourScale *one, Rect box)
{
    Attend a = *block;
    a.head = head;
    a.placed = !s->matrix; /* what is not drawn would leave the map dark */
    ColourScale scale = one ? *one : attend_scale(p, &a, !s->matrix);
    Thumb t = {&a, s, head, colour_scale_pool(p, &scale)};
    heat_draw(p, box, s->rows, s->cols, s->size, &scale, thumb_value, &t);
    HeatSize pixels = heat_fine(p, s->size);
    if (!pixels.tall || (s->rows == s->of_rows && s->cols == s->of_cols))
        return;
    Sheet fine = *s; /* every patch has its own pixels */
    fine.rows = s->of_rows < pixels.tall ? s->of_rows : pixels.tall;
    fine.cols = s->of_cols < pixels.wide ? s->of_cols : pixels.wide;
    t.s = &fine;
    const Fine f = {&scale, t, p->light ? 0xffffff : 0x101214};
    heat_behind(p, box, fine.rows + !s->gap, fine.cols + (!s->apart && fine.cols < pixels.wide), s->size, fine_colour,
                &f);
}

/* Points of accuracy lost without that head; NaN where it was not measured, or may be chance. */
static float lost(const Session *s, const Attend *a, int head)
{
    const Measure *m = session_measure(s, MEASURE_CENSUS, NULL);
    int row = anatomy_attention_number(a->v.graph, anatomy_of(a->v.graph, a->path));
    if (!m || !m->pair || !a->pattern || row < 0 || row >= m->rows || head >= m->cols)
        return NAN;
    int cell = row * m->cols + head;
    return paired_differs(m->pair[cell]) ? 100 * (m->base - m->value[cell]) : NAN;
}

static float loss_value(const void *of, int i, Ref *ref)
{
    (void)i;
    (void)ref;
    return *(const float *)of;
}

/* From the map's foot up, a loss of any size an eighth of a line at least. A map of odd height ends in the middle of
 * its last line, where there are no eighths: a line at its foot there, or its last half. */
static void draw_lost(const Paint *p, const Sheet *s, const Attend *a, int head, Rect box, float most)
{
    const float x = lost(p->s, a, head);
    float share = fmaxf(x / most, 1 / (8 * (float)box.h));
    Rect r = {box.y, box.x - 1, box.h, 1};
    if (!(x > 0))
        return;
    if (heat_halves(p) && s->size.tall % 2) {
        const float eighths = x / most * 4 * (float)s->size.tall;
        r.h--;
        canvas_glyph(p->c, r.y + r.h, r.x, STYLE_AXIS, eighths < 2.5F ? 0x2500 : 0x2580);
        share = r.h > 0 ? (eighths - 4) / (8 * (float)r.h) : 0;
    }
    if (share > 0)
        bars_draw(p->c, r, &(CanvasBars){.value = loss_value, .of = &share, .n = 1, .style = STYLE_AXIS, .high = 1});
}

enum { ONE_DIGIT = 10 };

static void draw_edges(const Paint *p, const Sheet *s, Rect r, int block, int head)
{
    bool bare = s->columns < (s->heads > 10 ? 3 : 2); /* no two heads are "h…" */
    const bool some = bare && s->columns > 1; /* h0 … h9 and b0 … b9 have room, which says what the axes are */
    int below = sheet_stacked(s->down, s->folds);
    const int each = s->apart || s->columns > 2 ? 1 : 4; /* two digits beside two are one number */
    for (int i = 0; s->head_y >= 0 && i < s->folds * s->across; i++) {
        int h = s->first_head + i % s->across, top = s->first_block + i / s->across * below;
        if (h % each && h != head)
            continue;
        canvas_printf(p->c, s->head_y, sheet_thumb(s, top, h).x, s->columns,
                      h == head && block - top >= 0 && (s->folds == 1 || block - top < below) ? STYLE_CURSOR
                                                                                              : STYLE_AXIS,
                      bare && (!some || h > 9) ? "%d" : "h%d", h);
    }
    for (int b = s->first_block; s->r.x > r.x && !s->nameless && b < s->first_block + s->down; b++) {
        Rect box = sheet_thumb(s, b, s->first_head);
        canvas_printf(p->c, box.y, s->folds > 1 ? box.x - SHEET_LABEL : r.x, SHEET_LABEL - 1,
                      b == block ? STYLE_CURSOR : STYLE_AXIS,
                      (some && b < 10) || (s->listed && s->blocks <= ONE_DIGIT) ? "b%d" : "%d", b);
    }
    if (s->head_y >= 0 && s->r.x > r.x)
        canvas_text(p->c, s->head_y, r.x, SHEET_LABEL - 1, STYLE_DIM,
                    s->down < s->blocks    ? "↕"
                    : s->across < s->heads ? "↔"
                    : bare                 ? "h"
                                           : "");
}

static void draw_words(const Paint *p, const Attend *a, const Sheet *s)
{
    char label[64];
    int pitch = s->lines / s->rows;
    for (int h = s->first_head; s->under.h && h < (s->listed ? 1 : s->first_head + s->across); h++)
        words_across(p, a->u_axis, 0, s->cols, a->at_u, -1,
                     (Rect){s->under.y, sheet_thumb(s, s->first_block, h).x, s->under.h,
                            s->listed ? s->r.w : s->columns}, /* right of lines the last word has room */
                     s->wide);
    for (int i = 0; s->beside.w && i < s->down * s->rows; i++) {
        int t = i % s->rows;
        canvas_label(p->c, sheet_thumb(s, s->first_block + i / s->rows, s->first_head).y + t * pitch, s->beside.x,
                     s->beside.w - 1, t == a->at_t ? STYLE_CURSOR : STYLE_AXIS,
                     axis_label(a->t_axis, t, label, sizeof label));
    }
    for (int i = 0; s->listed && i < s->blocks * s->heads; i++) {
        Rect box = sheet_thumb(s, i / s->heads, i % s->heads);
        canvas_printf(p->c, box.y, box.x - SHEET_LABEL - (s->heads > ONE_DIGIT), SHEET_LABEL,
                      i % s->heads == a->head ? STYLE_TEXT : STYLE_AXIS, "h%d", i % s->heads);
    }
}

/* The columns right of a line of words: for the word that has most of it, for how much that is; 0: there is no room. */
typedef struct Most {
    int x, word, from, number;
} Most;

static Most most_columns(const Sheet *s, Rect box)
{
    enum { WORD_FEWEST = 5, WORD_MOST = 14, SHARE = 7 };
    const int x = box.x + box.w + 1, room = s->r.x + s->r.w - x, word = room - 1 - SHARE;
    Most m = {.x = x, .from = x, .number = room < SHEET_NUMBER ? 0 : room < SHARE ? SHEET_NUMBER : SHARE};
    if (word >= WORD_FEWEST) {
        m.word = word < WORD_MOST ? word : WORD_MOST;
        m.from += 1 + m.word;
    }
    return m;
}

/* Which word of a line has most of it, and how much; of A − B where they differ most. The line's colours do not say
 * that, for its scale is its own. */
static void draw_most(const Paint *p, const Attend *a, const Sheet *s, int head, Rect box)
{
    enum { ONE_FIGURE = 10 };
    const Most m = most_columns(s, box);
    char label[WORD_LABEL];
    if (!s->listed || !a->in_share || !m.number)
        return;
    const int best_u = attend_largest(a, head);
    const size_t best = attend_cell(a, head, a->at_t, best_u);
    if (m.word)
        canvas_label(p->c, box.y, m.x + 1, m.word, STYLE_AXIS, axis_label(a->u_axis, best_u, label, sizeof label));
    if (m.number > SHEET_NUMBER) {
        shown_share_right(p, &a->v, best, box.y, m.from, m.number, STYLE_TEXT);
        return;
    }
    const float share = 100 * a->v.values[best];
    const char *form = a->v.side != SIDE_DIFF ? "%3.0f%%" : fabsf(share) < ONE_FIGURE - 0.05F ? "%+.1f" : "%+4.0f";
    canvas_printf(p->c, box.y, m.from, m.number, STYLE_TEXT, form, (double)share);
    canvas_ref(p->c, box.y, m.from, m.number, shown_ref(&a->v, best));
}

/* What these numbers are, above the first where no word's name stands, else below the last. */
static void head_most(const Paint *p, const Attend *a, const Sheet *s, Rect r)
{
    const Rect top = sheet_thumb(s, s->first_block, s->first_head),
               last = sheet_thumb(s, s->first_block + s->down - 1, s->first_head + s->across - 1);
    const Most m = most_columns(s, top);
    const int lines[] = {top.y - 1, last.y + last.h};
    for (int i = 0; s->listed && a->in_share && m.number && i < 2; i++) {
        bool blank = lines[i] >= r.y && lines[i] < r.y + r.h;
        for (int x = m.from; blank && x < m.from + m.number; x++) {
            const Cell *k = canvas_at(p->c, lines[i], x);
            blank = k && k->ch == ' ';
        }
        if (blank) {
            canvas_right(p->c, lines[i], m.from, m.number, STYLE_HEADER,
                         a->v.side != SIDE_DIFF    ? "most"
                         : m.number > SHEET_NUMBER ? "largest"
                                                   : "±max");
            return;
        }
    }
}

/* Struck through, for its pattern is as it was. */
static void draw_off(const Paint *p, Rect box)
{
    const int y = box.y + (box.h - 1) / 2;
    for (int x = 0; x < box.w && (box.h > 1 || box.w <= 3); x++)
        canvas_glyph(p->c, y, box.x + x, STYLE_EDITED, p->c->ascii ? '-' : 0x2500);
    canvas_text(p->c, y, box.x + (box.w > 3 ? (box.w - 3) / 2 : 0), box.w, STYLE_EDITED, box.w < 3 ? "x" : "off");
}

/* Beside its first and last whole line, or the first alone where bars stand there, on any side: alike on all; within it
 * where the next one touches it. */
static void draw_mark(const Paint *p, const Sheet *s, Rect box, bool bars)
{
    if (!s->apart) {
        const Cell *k = canvas_at(p->c, box.y, box.x);
        heat_mark(p, box.y, box.x, box.h, box.w, k ? k->ref : (Ref){0});
        return;
    }
    const int last = heat_halves(p) && s->size.tall > 1 ? s->size.tall / 2 - 1 : box.h - 1;
    for (int i = 0; i < (bars || !last ? 1 : 2); i++) {
        const int y = box.y + i * last;
        canvas_glyph(p->c, y, box.x - 1, STYLE_CURSOR, '[');
        canvas_glyph(p->c, y, box.x + box.w, STYLE_CURSOR, ']');
    }
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Attend here, a;
    if (!attend_open(p->s, side, -1, &here)) {
        attend_ready(p, r, side, &here);
        return;
    }
    Sheet s = sheet_fit(p, r, &here, block_on(p->s, side));
    int block = block_on(p->s, side);
    draw_edges(p, &s, r, block, here.head);
    draw_words(p, &here, &s);
    const bool changed = side == SIDE_DIFF || (side == SIDE_B && session_compares(p->s)); /* measured without that */
    float most = here.pattern && !s.listed && !changed && s.apart ? sheet_most_lost(p->s) : 0;
    ColourScale one;
    const bool same = sheet_scale(p, &here, &s, &one);
    if ((!here.v.values && p->s->look.locked) || !sheet_caption(p, &here, &s, same ? &one : NULL, r, most))
        most = 0;
    for (int b = s.first_block; b < s.first_block + s.down; b++) {
        bool there = attend_open(p->s, side, b, &a);
        for (int h = s.first_head; h < s.first_head + s.across; h++) {
            Rect box = sheet_thumb(&s, b, h);
            if (there && most > 0)
                draw_lost(p, &s, &a, h, box, most);
            if (there && a.v.values && h < a.heads)
                draw_thumb(p, &a, &s, h, same ? &one : NULL, box);
            else
                canvas_text(p->c, box.y, box.x, box.w, STYLE_DIM, there ? "…" : "-");
            if (there && a.v.values && h < a.heads)
                draw_most(p, &a, &s, h, box);
            if (there && attend_off(p->s, &a, h))
                draw_off(p, box);
            if (b == block && h == here.head)
                focus_cursor(p, focus, box.y, box.x);
        }
    }
    head_most(p, &here, &s, r);
    sheet_focus_draw(p, &here, &s, same ? &one : NULL, block, r);
    const bool beside = p->s->compare == COMPARE_SIDES && here.pattern && !s.listed && sheet_most_lost(p->s) > 0;
    draw_mark(p, &s, sheet_thumb(&s, block, here.head), most > 0 || beside);
}

/* The focused block first, then those around it: as many as may be held. */
static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    int block = block_on(s, side), blocks = session_blocks_on(s, side), most = SHEET_BLOCKS_MOST;
    char path[SESSION_PATH];
    for (int i = 0, n = 0; i < 2 * blocks && n < most; i++) {
        int b = block + (i % 2 ? (i + 1) / 2 : -i / 2);
        if (b < 0 || b >= blocks)
            continue;
        if (attend_path(s, side, b, path))
            needs_add(out, side, path);
        n++;
    }
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Attend a;
    if (!attend_open(p->s, side, -1, &a))
        return false;
    Sheet s = sheet_fit(p, r, &a, block_on(p->s, side));
    for (int b = s.first_block; b < s.first_block + s.down; b++)
        for (int h = s.first_head; h < s.first_head + s.across; h++)
            if (rect_has(sheet_thumb(&s, b, h), y, x)) {
                if (b == session_block(p->s) && h == a.head)
                    buf_puts(command, "in");
                else
                    buf_printf(command, "block %d; head %d", b, h);
                return true;
            }
    if (rect_has(sheet_focus_map(p, &a, &s, r).r, y, x)) {
        buf_puts(command, "in");
        return true;
    }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    Attend a;
    char t[32];
    if (attend_open(s, side, -1, &a)) {
        const char *name = node_name(graph_node(a.v.graph, a.v.node));
        const char *points = side == SIDE_DIFF && a.in_share ? "points of " : "";
        if (!attend_listed(&a)) /* of words matrices are drawn, or the line below says whose row */
            buf_printf(out, "%s%s[%s=%s], blocks × heads\n", points, name, a.t_axis->sym,
                       axis_label(a.t_axis, a.at_t, t, sizeof t));
        buf_printf(out, "%s%s, blocks × heads", points, name);
        if (sheet_placeless(&a) >= 0)
            buf_printf(out, "\n%s%s without %s\n%s%s", points, name,
                       axis_label(a.u_axis, sheet_placeless(&a), t, sizeof t), points, name);
    } else
        buf_puts(out, "blocks × heads");
}

static bool alone(const Session *s, Side side, int h, int w, int all)
{
    Attend a;
    if (!attend_open(s, side, -1, &a))
        return false;
    const int there = sheet_detail(s, &a, h, all);
    return there && there >= 2 * sheet_detail(s, &a, h, w);
}

VIEW_SPEC(SHEET, .name = "sheet", .traits = VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_ATTENTION, .alone = alone,
          .cursor = attend_cursor);
