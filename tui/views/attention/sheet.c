/* Blocks × heads as thumbnails: the row of the token in focus as a map of the patches, pooled as far as it must be for
 * all of them to be seen at once, in as many columns of blocks as pool least; of words the whole matrix where there is
 * room, else that row. A bar at the left of a head is the accuracy lost without it, where that was measured: a number
 * of no trace, without a Ref. */
#include <limits.h>
#include <math.h>

#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "tui/canvas/plot.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/heat.h"

enum { MAP_LEAST = 2, MAP_LEGIBLE = 5, LABEL = 3, BLOCKS_MOST = 40, WORDS_MOST = 16 };

typedef struct Sheet {
    bool matrix;        /* a thumbnail is the matrix, else one row over the patches */
    bool listed;        /* a line of cells for each head, below each other, under one line of words */
    int wide, tall;     /* of words: columns and half lines (lines, without half blocks) each */
    int rows, cols;     /* drawn cells of a thumbnail */
    HeatSize size;      /* its size in pixels */
    int lines, columns; /* and in cells */
    int gap;            /* lines between thumbnails */
    int blocks, heads;
    int first_block, first_head, down, across; /* shown */
    int folds;             /* columns of blocks, side by side: more than one where all of them are shown */
    Rect r, beside, under; /* where the thumbnails go; of words that ask, and those looked at, or empty */
    int head_y, caption_y;
} Sheet;

/* A thumbnail of rows × cols cells. */
static Sheet sized(const Paint *p, const Sheet *from, int rows, int cols, HeatSize size)
{
    Sheet s = *from;
    bool halves = heat_halves(p);
    s.rows = rows;
    s.cols = cols;
    s.size = size;
    s.columns = size.wide;
    s.lines = halves ? (size.tall + 1) / 2 : size.tall;
    s.gap = halves && size.tall % 2 ? 0 : 1; /* half a blank line is a gap */
    return s;
}

static Sheet sized_words(const Paint *p, const Sheet *from, int rows, int cols, int wide, int tall)
{
    Sheet s = sized(p, from, rows, cols, (HeatSize){rows * tall, cols * wide});
    s.wide = wide;
    s.tall = tall;
    return s;
}

/* Blocks below each other. */
static int stacked(int blocks, int folds)
{
    return (blocks + folds - 1) / folds;
}

/* Do so many blocks and heads fit? */
static bool fits(const Sheet *s, int blocks, int heads)
{
    int wide = s->folds * (heads * (s->columns + 1) + LABEL) - LABEL - 1;
    return wide <= s->r.w && stacked(blocks, s->folds) * (s->lines + s->gap) <= s->r.h + s->gap;
}

/* Matrices of words: the largest squares with which all heads fit, or so many of them. */
static bool choose_words(const Paint *p, const Attend *a, Sheet *s, int blocks, int heads)
{
    for (int size = WORDS_MOST; size > 0 && attend_listed(a); size--)
        for (int wider = 1; wider >= 0; wider--) {
            int wide = heat_halves(p) ? size + wider * size / 2 : 2 * size - 1 + wider;
            Sheet try = sized_words(p, s, a->t_axis->n, a->u_axis->n, wide, size);
            if (fits(&try, blocks, heads)) {
                *s = try;
                s->matrix = true;
                return true;
            }
        }
    return false;
}

/* As many matrices of words as a page has room for: whole ones say more than long lines. */
static bool choose_some_words(const Paint *p, const Attend *a, Sheet *s)
{
    Sheet best = *s;
    int most = 3;
    for (int blocks = s->blocks < BLOCKS_MOST ? s->blocks : BLOCKS_MOST; blocks >= 1; blocks--)
        for (int heads = s->heads < BLOCKS_MOST ? s->heads : BLOCKS_MOST; heads >= 2 && blocks * heads > most;
             heads--) {
            Sheet try = *s;
            if (choose_words(p, a, &try, blocks, heads)) {
                most = blocks * heads;
                best = try;
            }
        }
    *s = best;
    return most > 3;
}

/* Where matrices of words have no room: the row in focus in every head, below each other. */
static bool choose_lines(const Paint *p, const Attend *a, Sheet *s)
{
    Rect r = {s->r.y - (s->head_y >= 0), s->r.x + LABEL, s->r.h + (s->head_y >= 0), s->r.w - LABEL};
    int n = a->u_axis->n, wide = r.w / n, lines = s->blocks * s->heads;
    if (!attend_listed(a) || wide < 1 || lines > r.h)
        return false;
    int least = words_across_lines(a->u_axis, wide, r.h - lines), tall = (r.h - least - s->blocks + 1) / lines;
    wide = wide < WORDS_MOST ? wide : WORDS_MOST;
    tall = tall < 1 ? 1 : tall < wide / 2 ? tall : (wide + 1) / 2;
    lines *= tall;
    *s = sized_words(p, s, 1, n, wide, heat_halves(p) ? 2 * tall : tall);
    s->listed = true;
    s->head_y = -1;
    s->under = rect_cut(&r, 't', words_across_lines(a->u_axis, s->wide, r.h - lines));
    s->gap = r.h >= lines + s->blocks - 1;
    s->r = r;
    return true;
}

/* Maps of one row, the largest squares with which so many fit in so many columns of blocks, or as fine as there are
 * pixels for. */
static bool choose_map(const Paint *p, const Attend *a, Sheet *s, int blocks, int heads, int folds)
{
    bool halves = heat_halves(p);
    int down = stacked(blocks, folds), rows = a->u.rows, cols = a->u.cols;
    int apart = (s->r.h + 1) / down - 1, close = s->r.h / down;
    HeatSize room = {halves && close > 1 ? 2 * close - 1 : heat_pixels(p, close),
                     (s->r.w + 1 - (folds - 1) * LABEL) / (folds * heads) - 1};
    if (apart > 0 && (!halves || 2 * apart > room.tall))
        room.tall = heat_pixels(p, apart);
    int unit = halves ? 1 : 2; /* columns that are as wide as a pixel is high */
    double share = fmin(1, fmin((double)room.tall / rows, (double)room.wide / (cols * unit)));
    int high = (int)(rows * share + 1e-9), wide = (int)(cols * share + 1e-9);
    if (high < (rows < MAP_LEAST ? rows : MAP_LEAST) || wide < (cols < MAP_LEAST ? cols : MAP_LEAST))
        return false;
    *s = sized(p, s, high, wide, heat_within(p, room, high, wide, 1));
    s->folds = folds;
    if (!fits(s, blocks, heads))
        s->gap = 0;
    return true;
}

/* All of them, in as many columns of blocks as pool their patches least; of these the largest, then the fewest. */
static bool choose_maps(const Paint *p, const Attend *a, Sheet *s)
{
    Sheet best = {0};
    for (int folds = 1; folds <= s->blocks; folds++) {
        Sheet try = *s;
        if (!choose_map(p, a, &try, s->blocks, s->heads, folds))
            continue;
        int more = try.rows * try.cols - best.rows * best.cols;
        if (more > 0 || (more == 0 && try.size.tall > best.size.tall))
            best = try;
    }
    if (best.rows)
        *s = best;
    return best.rows;
}

/* Fine enough to be a map, or half as fine as its patches. */
static bool legible(const Attend *a, const Sheet *s)
{
    return (s->rows >= MAP_LEGIBLE || 2 * s->rows >= a->u.rows) && (s->cols >= MAP_LEGIBLE || 2 * s->cols >= a->u.cols);
}

/* Maps of all heads: of all blocks, or where these would be hardly more than their mean, of as many as are legible. */
static bool choose_page(const Paint *p, const Attend *a, Sheet *s)
{
    Sheet all = *s;
    const bool fit = choose_maps(p, a, &all);
    for (int blocks = fit && legible(a, &all) ? 0 : s->blocks - 1; blocks > 0; blocks--) {
        Sheet try = *s;
        if (choose_map(p, a, &try, blocks, s->heads, 1) && legible(a, &try)) {
            *s = try;
            return true;
        }
    }
    if (fit)
        *s = all;
    return fit;
}

/* The most detail with which all heads fit; else so much of it that a few do, scrolled. */
static void choose(const Paint *p, const Attend *a, Sheet *s)
{
    int blocks = s->blocks < 2 ? s->blocks : 2, heads = s->heads < 2 ? s->heads : 2;
    if (choose_words(p, a, s, s->blocks, s->heads) || choose_lines(p, a, s) || choose_page(p, a, s))
        return;
    if (choose_some_words(p, a, s) || choose_map(p, a, s, blocks, heads, 1))
        return;
    *s = sized_words(p, s, a->u.rows, a->u.cols, 1, 1);
}

/* Words at the margins of their matrices, where there is room for whole ones. */
static void choose_margins(const Paint *p, const Attend *a, Sheet *s)
{
    int word = shown_axis_widest(a->t_axis, INT_MAX) + 1, lines = words_across_lines(a->u_axis, s->wide, INT_MAX);
    if ((!heat_halves(p) || s->tall % 2 == 0) && s->heads * (s->columns + 1) - 1 + word <= s->r.w)
        s->beside = rect_cut(&s->r, 'l', word);
    if (s->wide > 1 && s->blocks * (s->lines + s->gap) - s->gap + lines <= s->r.h)
        s->under = rect_cut(&s->r, 'b', s->r.h - s->blocks * (s->lines + s->gap) + s->gap);
    s->under.h = s->under.h < lines ? s->under.h : lines;
}

static int window(int all, int room, int size)
{
    int n = room / size;
    return n < 1 ? 1 : n > all ? all : n;
}

/* The block of the focus; a side that ends before it stands at its last. */
static int block_on(const Session *s, Side side)
{
    int block = session_block(s), last = session_blocks_on(s, side) - 1;
    return block < 0 || last < 0 ? 0 : block < last ? block : last;
}

/* What margins leave. */
static Sheet sheet_room(Rect r, int blocks, int heads)
{
    Sheet s = {.blocks = blocks, .heads = heads, .head_y = -1, .caption_y = -1, .folds = 1};
    if (r.h > 3)
        s.caption_y = r.y + --r.h;
    if (r.h > 2) {
        s.head_y = r.y++;
        r.h--;
    }
    if (r.w > LABEL + 4) {
        r.x += LABEL;
        r.w -= LABEL;
    }
    s.r = r;
    return s;
}

static Sheet sheet_make(const Paint *p, Rect r, const Attend *a)
{
    int block = block_on(p->s, a->v.side);
    Sheet s = sheet_room(r, session_blocks_on(p->s, a->v.side), a->heads);
    choose(p, a, &s);
    bool all = s.listed || s.folds > 1;
    s.down = all ? s.blocks : window(s.blocks, s.r.h + s.gap, s.lines + s.gap);
    s.across = all ? s.heads : window(s.heads, s.r.w + 1, s.columns + 1);
    if (s.matrix && attend_listed(a))
        choose_margins(p, a, &s);
    s.first_block = (int)scroll_first((size_t)s.blocks, (size_t)block, (size_t)s.down);
    s.first_head = (int)scroll_first((size_t)s.heads, (size_t)a->head, (size_t)s.across);
    return s;
}

static Rect thumb_rect(const Sheet *s, int block, int head)
{
    if (s->listed)
        return (Rect){s->r.y + (block * s->heads + head) * s->lines + block * s->gap, s->r.x, s->lines, s->columns};
    int below = s->folds > 1 ? stacked(s->blocks, s->folds) : s->down, i = block - s->first_block;
    return (Rect){s->r.y + i % below * (s->lines + s->gap),
                  s->r.x + i / below * (s->heads * (s->columns + 1) + LABEL) +
                      (head - s->first_head) * (s->columns + 1),
                  s->lines, s->columns};
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
        return attend_tile(a, t->head, (Tiling){1, 1}, row, col, t->kind, ref);
    size_t rows = (size_t)a->u.rows, cols = (size_t)a->u.cols, y = (size_t)row, x = (size_t)col;
    size_t down = (size_t)t->s->rows, across = (size_t)t->s->cols;
    return attend_row_patches(a, t->head, (int)heat_first(y, rows, down), (int)heat_first(y + 1, rows, down),
                              (int)heat_first(x, cols, across), (int)heat_first(x + 1, cols, across), t->kind, ref);
}

/* Every thumbnail has its own scale, else one sharp head would leave all others dark; a locked scale serves them all.
 */
static void draw_thumb(const Paint *p, const Attend *block, const Sheet *s, int head, Rect box)
{
    Attend a = *block;
    a.head = head;
    ColourScale scale = attend_scale(p, &a, !s->matrix);
    Thumb t = {&a, s, head, colour_scale_pool(p, &scale)};
    heat_draw(p, box, s->rows, s->cols, s->size, &scale, thumb_value, &t);
    HeatSize pixels = heat_fine(p, s->size);
    if (s->matrix || !pixels.tall || (s->rows == a.u.rows && s->cols == a.u.cols))
        return;
    Sheet fine = *s; /* every patch has its own pixels */
    fine.rows = a.u.rows < pixels.tall ? a.u.rows : pixels.tall;
    fine.cols = a.u.cols < pixels.wide ? a.u.cols : pixels.wide;
    t.s = &fine;
    heat_draw_behind(p, box, fine.rows, fine.cols, s->size, &scale, thumb_value, &t);
}

/* "2", or "2–3" where cells differ. */
static void put_pool(Buf *out, int n, int cells)
{
    buf_printf(out, n % cells ? "%d–%d" : "%d", n / cells, n / cells + 1);
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

static float most_lost(const Session *s)
{
    const Measure *m = session_measure(s, MEASURE_CENSUS, NULL);
    float least = INFINITY;
    for (int i = 0; m && i < m->rows * m->cols; i++)
        least = fminf(least, m->value[i]); /* which passes NaN over */
    return m && least < m->base ? 100 * (m->base - least) : 0;
}

static float loss_value(const void *of, int i, Ref *ref)
{
    (void)i;
    (void)ref;
    return *(const float *)of;
}

/* From the bottom up, a loss of any size an eighth of a line at least. */
static void draw_lost(const Paint *p, const Attend *a, int head, Rect box, float most)
{
    float x = lost(p->s, a, head), share = fmaxf(x / most, 1 / (8 * (float)box.h));
    if (x > 0)
        bars_draw(p->c, (Rect){box.y, box.x - 1, box.h, 1},
                  &(CanvasBars){.value = loss_value, .of = &share, .n = 1, .style = STYLE_AXIS, .high = 1});
}

static void put_left_out(Buf *out, const char *what, int first, int shown, int all)
{
    if (shown < all)
        buf_printf(out, "%s %d–%d of %d; ", what, first, first + shown - 1, all);
}

/* brief 1: with fewer words; 2: without whose rows they are, which the title says. most: points lost, or 0. */
static void put_caption(const Attend *a, const Sheet *s, const char *pool, int brief, bool locked, float most, Buf *out)
{
    char t[32];
    put_left_out(out, "blocks", s->first_block, s->down, s->blocks);
    put_left_out(out, "heads", s->first_head, s->across, s->heads);
    if (!s->matrix && !s->listed && (s->rows < a->u.rows || s->cols < a->u.cols)) {
        buf_puts(out, "1 cell = ");
        put_pool(out, a->u.rows, s->rows);
        buf_puts(out, "×");
        put_pool(out, a->u.cols, s->cols);
        buf_printf(out, "%s, %s; ", brief ? "" : " patches", pool);
    }
    if (s->matrix)
        buf_puts(out, brief ? "rows ask; " : "rows ask, columns are looked at; ");
    else if (brief < 2)
        buf_printf(out, "what %s looks at; ", axis_label(a->t_axis, a->at_t, t, sizeof t));
    if (!locked)
        buf_puts(out, brief ? "own scales" : "each on its own scale");
    if (most > 0)
        buf_printf(out,
                   brief ? "%sbars: points lost without it, ≤ %.1f"
                         : "%sbar at the left: accuracy lost without it, ≤ %.1f points",
                   locked ? "" : "; ", (double)most);
}

enum { BRIEFEST = 2 };

/* Returns the points that the longest bar stands for: 0 where there is no room to say what they are. */
static float draw_caption(const Paint *p, const Attend *a, const Sheet *s, Rect r)
{
    Buf words = {0};
    if (s->caption_y < 0)
        return 0;
    float most = a->pattern && !s->listed ? most_lost(p->s) : 0;
    ColourScale scale = attend_scale(p, a, false);
    HeatSize pixels = heat_fine(p, s->size);
    bool locked = p->s->look.locked, all = pixels.tall >= a->u.rows && pixels.wide >= a->u.cols;
    for (int brief = 0; brief == 0 || (brief <= 2 * BRIEFEST + 1 && utf8_cells(buf_str(&words)) > r.w); brief++) {
        buf_clear(&words);
        most = brief > BRIEFEST ? 0 : most;
        put_caption(a, s, all ? "all drawn" : colour_scale_pool_word(p, &scale), brief % (BRIEFEST + 1), locked, most,
                    &words);
    }
    int used = canvas_text(p->c, s->caption_y, r.x, r.w, STYLE_DIM, buf_str(&words));
    buf_free(&words);
    if (locked && r.w - used >= 20)
        colour_scale_bar(p, &scale, s->caption_y, r.x + used, r.w - used);
    else if (locked)
        canvas_text(p->c, s->caption_y, r.x + used, r.w - used, STYLE_DIM, "one scale");
    return most;
}

static void draw_edges(const Paint *p, const Sheet *s, Rect r, int block, int head)
{
    bool bare = s->columns < (s->heads > 10 ? 3 : 2); /* no two heads are "h…" */
    int below = stacked(s->down, s->folds);
    for (int i = 0; s->head_y >= 0 && i < s->folds * s->across; i++) {
        int h = s->first_head + i % s->across, top = s->first_block + i / s->across * below;
        canvas_printf(p->c, s->head_y, thumb_rect(s, top, h).x, s->columns,
                      h == head && block - top >= 0 && (s->folds == 1 || block - top < below) ? STYLE_CURSOR
                                                                                              : STYLE_AXIS,
                      bare ? "%d" : "h%d", h);
    }
    for (int b = s->first_block; s->r.x > r.x && b < s->first_block + s->down; b++) {
        Rect box = thumb_rect(s, b, s->first_head);
        canvas_printf(p->c, box.y, s->folds > 1 ? box.x - LABEL : r.x, LABEL - 1,
                      b == block ? STYLE_CURSOR : STYLE_AXIS, "%d", b);
    }
    if (s->head_y >= 0 && s->r.x > r.x)
        canvas_text(p->c, s->head_y, r.x, LABEL - 1, STYLE_DIM,
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
        words_across(p, a->u_axis, 0, s->cols, a->at_u,
                     (Rect){s->under.y, thumb_rect(s, s->first_block, h).x, s->under.h, s->columns}, s->wide);
    for (int i = 0; s->beside.w && i < s->down * s->rows; i++) {
        int t = i % s->rows;
        canvas_label(p->c, thumb_rect(s, s->first_block + i / s->rows, s->first_head).y + t * pitch, s->beside.x,
                     s->beside.w - 1, t == a->at_t ? STYLE_CURSOR : STYLE_AXIS,
                     axis_label(a->t_axis, t, label, sizeof label));
    }
    for (int i = 0; s->listed && i < s->blocks * s->heads; i++) {
        Rect box = thumb_rect(s, i / s->heads, i % s->heads);
        canvas_printf(p->c, box.y, box.x - LABEL - 1, LABEL, i % s->heads == a->head ? STYLE_TEXT : STYLE_AXIS, "h%d",
                      i % s->heads);
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

/* Beside all of its lines, or the first where bars stand there. */
static void draw_mark(const Paint *p, Rect box, bool bars)
{
    for (int y = box.y; y < box.y + (bars ? 1 : box.h); y++) {
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
    Sheet s = sheet_make(p, r, &here);
    int block = block_on(p->s, side);
    draw_edges(p, &s, r, block, here.head);
    draw_words(p, &here, &s);
    float most = here.v.values || !p->s->look.locked ? draw_caption(p, &here, &s, r) : 0;
    for (int b = s.first_block; b < s.first_block + s.down; b++) {
        bool there = attend_open(p->s, side, b, &a);
        for (int h = s.first_head; h < s.first_head + s.across; h++) {
            Rect box = thumb_rect(&s, b, h);
            if (there && most > 0)
                draw_lost(p, &a, h, box, most);
            if (there && a.v.values && h < a.heads)
                draw_thumb(p, &a, &s, h, box);
            else
                canvas_text(p->c, box.y, box.x, box.w, STYLE_DIM, there ? "…" : "-");
            if (there && attend_off(p->s, &a, h))
                draw_off(p, box);
            if (b == block && h == here.head)
                focus_cursor(p, focus, box.y, box.x);
        }
    }
    draw_mark(p, thumb_rect(&s, block, here.head), most > 0);
}

/* The focused block first, then those around it: as many as may be held. */
static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    int block = block_on(s, side), blocks = session_blocks_on(s, side), most = BLOCKS_MOST;
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
    Sheet s = sheet_make(p, r, &a);
    for (int b = s.first_block; b < s.first_block + s.down; b++)
        for (int h = s.first_head; h < s.first_head + s.across; h++)
            if (rect_has(thumb_rect(&s, b, h), y, x)) {
                if (b == session_block(p->s) && h == a.head)
                    buf_puts(command, "in");
                else
                    buf_printf(command, "block %d; head %d", b, h);
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
        buf_printf(out, "%s%s[%s=%s], blocks × heads\n%s%s, blocks × heads", points, name, a.t_axis->sym,
                   axis_label(a.t_axis, a.at_t, t, sizeof t), points, name);
    } else
        buf_puts(out, "blocks × heads");
}

/* Drawn cells of a map that fits into h × w. */
static int detail(const Session *s, Side side, const Attend *a, int h, int w)
{
    Canvas none = {0};
    Sheet maps = sheet_room((Rect){0, 0, h, w}, session_blocks_on(s, side), a->heads);
    return choose_page(&(Paint){.s = s, .c = &none, .mode = MODE_256}, a, &maps) ? maps.rows * maps.cols : 0;
}

static bool alone(const Session *s, Side side, int h, int w, int all)
{
    Attend a;
    return attend_open(s, side, -1, &a) && a.u.rows > 1 && detail(s, side, &a, h, all) >= 2 * detail(s, side, &a, h, w);
}

VIEW_SPEC(SHEET, .name = "sheet", .traits = VIEW_HAS_HEAD | VIEW_HAS_MEAN | VIEW_ATTENTION, .alone = alone,
          .cursor = attend_cursor);
