/* Blocks × heads as thumbnails: the row of the token in focus as a map of the patches, pooled as far as it must be for
 * all of them to be seen at once, in as many columns of blocks as pool least; of words the matrix, pooled where it must
 * be, or where there is room for a line of each head that row. A bar at the left of a head is the accuracy lost without
 * it, where that was measured: a number of no trace, without a Ref. */
#include <math.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/learned/measures.h"
#include "tui/canvas/plot.h"
#include "tui/views/attention/sheet_fit.h"
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

/* The finer cells of a thumbnail, and where the next one touches it a row of the ground below them. */
typedef struct Fine {
    const ColourScale *scale;
    Thumb t;
    Colour ground;
} Fine;

static Colour fine_colour(const void *context, int row, int col)
{
    const Fine *f = context;
    Ref ref;
    return row < f->t.s->rows ? colour_scale_colour(f->scale, thumb_value(&f->t, row, col, &ref)) : f->ground;
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
    if (!pixels.tall || (s->rows == s->of_rows && s->cols == s->of_cols))
        return;
    Sheet fine = *s; /* every patch has its own pixels */
    fine.rows = s->of_rows < pixels.tall ? s->of_rows : pixels.tall;
    fine.cols = s->of_cols < pixels.wide ? s->of_cols : pixels.wide;
    t.s = &fine;
    const Fine f = {&scale, t, p->light ? 0xffffff : 0x101214};
    heat_behind(p, box, fine.rows + !s->gap, fine.cols, s->size, fine_colour, &f);
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
    return m && m->pair && least < m->base ? 100 * (m->base - least) : 0;
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

enum {
    BRIEFEST = 3,
    LEFT_OUT = 28, /* columns of "10/12 blocks and 10/12 heads" */
    SWATCH = 2,    /* … of a colour */
    RAMP = 11,     /* … of the shortest "0 ▒▒▒▒ most" */
    ONE_DIGIT = 10,
    MOST_WORD = 14
};

static void put_left_out(Buf *out, const char *what, int first, int shown, int all)
{
    if (shown < all)
        buf_printf(out, "%s %d–%d of %d; ", what, first, first + shown - 1, all);
}

/* pool: what a cell of several shows; NULL: all of them. scales: what they are, and shorter.
 * brief 1: with fewer words; 2: without whose rows they are, which the title says; 3: of the bars fewer still; 4: what
 * they are comes first.
 * most: points lost, or 0. */
static void put_caption(const Attend *a, const Sheet *s, const char *pool, int brief, const char *const scales[2],
                        float most, Buf *out)
{
    char t[32];
    if (most > 0 && brief > BRIEFEST)
        buf_printf(out, "bars ≤%.1f accuracy lost; ", (double)most);
    if (brief >= 2 && s->down < s->blocks && s->across < s->heads) /* which they are stands beside them */
        buf_printf(out, s->r.w < LEFT_OUT ? "%d/%d × %d/%d; " : "%d/%d blocks and %d/%d heads; ", s->down, s->blocks,
                   s->across, s->heads);
    else {
        put_left_out(out, "blocks", s->first_block, s->down, s->blocks);
        put_left_out(out, "heads", s->first_head, s->across, s->heads);
    }
    const bool pooled = !s->listed && (s->rows < s->of_rows || s->cols < s->of_cols);
    if (pooled && !pool && brief < BRIEFEST)
        buf_puts(out, "every value drawn; ");
    else if (pooled && pool) {
        buf_puts(out, "1 cell = ");
        put_pool(out, s->of_rows, s->rows);
        buf_puts(out, "×");
        put_pool(out, s->of_cols, s->cols);
        buf_printf(out, "%s, %s; ", brief ? "" : s->matrix ? " tokens" : " patches", pool);
    }
    if (s->matrix)
        buf_puts(out, brief ? "rows ask; " : "rows ask, columns are looked at; ");
    else if (brief < 2)
        buf_printf(out, s->listed ? "what \"%s\" looks at; " : "what %s looks at; ",
                   axis_label(a->t_axis, a->at_t, t, sizeof t));
    buf_puts(out, scales[brief > 0]);
    if (most > 0 && brief <= BRIEFEST)
        buf_printf(out,
                   brief == BRIEFEST ? "%sbars: accuracy points lost, ≤ %.1f"
                   : brief           ? "%sleft bars: accuracy points lost without it, ≤ %.1f"
                                     : "%sbar at the left: accuracy lost without it, ≤ %.1f points",
                   *scales[0] ? "; " : "", (double)most);
}

/* Of A − B, as there are columns left: which colour has more in A, which in B. */
static const struct {
    int wide;
    const char *says[2];
} SIGNS[] = {{26, {" more in A  ", " more in B"}}, {20, {" more in A ", " in B"}}, {11, {"A>B ", "B>A"}}};
enum { SIGNS_COUNT = sizeof SIGNS / sizeof *SIGNS };

static void draw_signs(const Paint *p, const ColourScale *scale, int y, int x, int room)
{
    int form = 0;
    while (form < SIGNS_COUNT && SIGNS[form].wide > room)
        form++;
    for (int k = 0, at = x; k < 2 && scale->high > scale->low && form < SIGNS_COUNT; k++) {
        for (int i = 0; i < SWATCH; i++) { /* the end of the scale is almost white, or black */
            const float value = (k ? scale->low : scale->high) * (float)(i + 1) / SWATCH;
            canvas_pixel(p->c, y, at + i, -1, colour_scale_colour(scale, value), colour_scale_level(scale, value),
                         colour_scale_sign(scale, value), (Ref){0});
        }
        at += SWATCH + canvas_text(p->c, y, at + SWATCH, room - (at - x) - SWATCH, STYLE_DIM, SIGNS[form].says[k]);
    }
}

/* "0 ▒▒▒▒ most" of maps that have a scale each. */
static void draw_ramp(const Paint *p, const ColourScale *scale, int y, int x, int room)
{
    enum { ENDS = 7, CELLS_LEAST = 4, CELLS_MOST = 16 };
    const int cells = room - ENDS < CELLS_MOST ? room - ENDS : CELLS_MOST;
    if (cells < CELLS_LEAST || scale->is_signed)
        return;
    canvas_text(p->c, y, x, 1, STYLE_DIM, "0");
    for (int i = 0; i < cells; i++) {
        const float value = scale->low + (scale->high - scale->low) * (float)i / (float)(cells - 1);
        canvas_pixel(p->c, y, x + 2 + i, -1, colour_scale_colour(scale, value), colour_scale_level(scale, value), 0,
                     (Ref){0});
    }
    canvas_text(p->c, y, x + 3 + cells, room - 3 - cells, STYLE_DIM, "most");
}

/* Below lines of words, where there is one line for it: whose row they are, what the colours mean, and where the words'
 * names have no room, from which to which they go. */
static void draw_ends(const Paint *p, const Attend *a, const Sheet *s, const ColourScale *scale, Rect r)
{
    static const char *const FORMS[] = {"what \"%s\" looks at: %s … %s",
                                        "%s looks at %s … %s",
                                        "row %s: %s … %s",
                                        "row %s: %s…%s",
                                        "what \"%s\" looks at",
                                        "row %s"};
    enum { FORMS_COUNT = sizeof FORMS / sizeof *FORMS, NAMED = FORMS_COUNT - 2 };
    char t[32], first[32], last[32], text[160];
    int used = r.w;
    axis_label(a->t_axis, a->at_t, t, sizeof t);
    axis_label(a->u_axis, 0, first, sizeof first);
    axis_label(a->u_axis, a->u_axis->n - 1, last, sizeof last);
    for (int i = s->under.h ? NAMED : 0; i < FORMS_COUNT && used + 1 + RAMP > r.w; i++) {
        utf8_print(text, sizeof text, FORMS[i], t, first, last);
        used = utf8_cells(text);
    }
    used = canvas_text(p->c, s->caption_y, r.x, r.w, STYLE_DIM, text);
    used += used + 2 + RAMP > r.w ? 1 : 2;
    draw_ramp(p, scale, s->caption_y, r.x + used, r.w - used);
}

/* Returns the points that the longest bar stands for: 0 where there is no line to say what they are. */
static float draw_caption(const Paint *p, const Attend *a, const Sheet *s, Rect r)
{
    Buf words = {0};
    if (s->caption_y < 0)
        return 0;
    bool changed = a->v.side == SIDE_DIFF || (a->v.side == SIDE_B && session_compares(p->s));
    float most = a->pattern && !s->listed && !changed ? most_lost(p->s) : 0; /* measured without the change */
    ColourScale scale = attend_scale(p, a, false);
    const Rect last = sheet_thumb(s, s->blocks - 1, s->heads - 1);
    if (s->listed && last.y + last.h >= s->caption_y && a->whole > 0 && !scale.is_signed && !p->s->look.locked) {
        draw_ends(p, a, s, &scale, r);
        return 0;
    }
    HeatSize pixels = heat_fine(p, s->size);
    static const char *const SCALES[][2] = {{"each on its own scale", "own scales"},
                                            {"each on its own scale, one for A and B", "A and B share scales"},
                                            {"", ""}};
    bool locked = p->s->look.locked, whole = true;
    const int room = r.w - (locked ? (int)sizeof "  one scale" - 1 : 0);
    const char *const *scales = SCALES[locked ? 2 : scale.shared];
    const bool all = pixels.tall >= s->of_rows && pixels.wide >= s->of_cols;
    for (int brief = 0; brief == 0 || (brief <= BRIEFEST + (most > 0) && utf8_cells(buf_str(&words)) > room); brief++) {
        buf_clear(&words);
        whole = brief < 2 || s->matrix;
        put_caption(a, s, all ? NULL : colour_scale_pool_word(p, &scale), brief, scales, most, &words);
    }
    const Rect low = sheet_thumb(s, s->first_block + s->down - 1, s->first_head + s->across - 1);
    int line = (s->under.h && !s->listed) || s->folds > 1 ? 0 : s->caption_y - 1; /* above it, if it is free */
    const bool signs = a->v.side == SIDE_DIFF && !locked;
    if (signs && low.y + low.h > line) { /* rather what the colours mean than all words */
        Buf few = {0};
        put_caption(a, s, all ? NULL : colour_scale_pool_word(p, &scale), BRIEFEST, scales, most, &few);
        if (r.w - utf8_cells(buf_str(&words)) < SIGNS->wide + 2 && r.w - utf8_cells(buf_str(&few)) >= SIGNS->wide + 2) {
            buf_clear(&words);
            buf_puts(&words, buf_str(&few));
        }
        if (r.w - utf8_cells(buf_str(&words)) < SIGNS[SIGNS_COUNT - 1].wide + 2) {
            buf_clear(&words);
            buf_puts(&words, scales[1]);
        }
        buf_free(&few);
    }
    char token[32];
    if (s->listed && !whole && !signs && low.y + low.h > line) { /* without a line for both: whose row it is */
        buf_clear(&words);
        buf_printf(&words, "what \"%s\" looks at", axis_label(a->t_axis, a->at_t, token, sizeof token));
    }
    int used = shown_clauses(p, s->caption_y, r.x, room, STYLE_DIM, buf_str(&words));
    const bool said = used >= utf8_cells(buf_str(&words)) &&
                      (strstr(buf_str(&words), scales[0]) || strstr(buf_str(&words), scales[1]));
    int y = s->caption_y, before = used + 2;
    whole = whole || (signs && low.y + low.h > line - 1 &&
                      r.w - before < SIGNS[SIGNS_COUNT - 1].wide); /* rather what the colours mean */
    if ((!said || !whole) && low.y + low.h <= line) {
        int most_wide = r.w - (signs && low.y + low.h > line - 1 ? SIGNS[SIGNS_COUNT - 1].wide + 1 : 0);
        char t[32];
        Buf above = {0};
        if (!whole)
            buf_printf(&above, s->listed ? "what \"%s\" looks at" : "what %s looks at",
                       axis_label(a->t_axis, a->at_t, t, sizeof t));
        if (!said)
            buf_printf(&above, "%s%s", whole ? "" : "; ",
                       scales[utf8_cells(buf_str(&above)) + utf8_cells("; ") + utf8_cells(scales[0]) > most_wide]);
        const bool cut = utf8_cells(buf_str(&above)) > most_wide && r.w - before >= SIGNS[SIGNS_COUNT - 1].wide;
        most_wide = cut ? r.w : most_wide; /* what the colours mean stands below it */
        const int end = 2 + shown_clauses(p, line, r.x, most_wide, STYLE_DIM, buf_str(&above));
        y = cut ? y : line;
        before = cut ? before : end;
        line--;
        buf_free(&above);
    }
    if (low.y + low.h <= line && r.w - before < SIGNS->wide) {
        y = line;
        before = 0;
    }
    if (signs)
        draw_signs(p, &scale, y, r.x + before, r.w - before);
    else if (!locked && a->whole > 0) {
        const bool free_line = low.y + low.h <= line;
        draw_ramp(p, &scale, free_line ? line : s->caption_y, r.x + (free_line ? 0 : used + 2),
                  r.w - (free_line ? 0 : used + 2));
    }
    buf_free(&words);
    if (locked && r.w - used >= 22)
        colour_scale_bar(p, &scale, s->caption_y, r.x + used + 2, r.w - used - 2);
    else if (locked)
        canvas_text(p->c, s->caption_y, r.x + used + 2, r.w - used - 2, STYLE_DIM, "one scale");
    return most;
}

static void draw_edges(const Paint *p, const Sheet *s, Rect r, int block, int head)
{
    bool bare = s->columns < (s->heads > 10 ? 3 : 2); /* no two heads are "h…" */
    const bool some = bare && s->columns > 1; /* h0 … h9 and b0 … b9 have room, which says what the axes are */
    int below = sheet_stacked(s->down, s->folds);
    for (int i = 0; s->head_y >= 0 && i < s->folds * s->across; i++) {
        int h = s->first_head + i % s->across, top = s->first_block + i / s->across * below;
        canvas_printf(p->c, s->head_y, sheet_thumb(s, top, h).x, s->columns,
                      h == head && block - top >= 0 && (s->folds == 1 || block - top < below) ? STYLE_CURSOR
                                                                                              : STYLE_AXIS,
                      bare && (!some || h > 9) ? "%d" : "h%d", h);
    }
    for (int b = s->first_block; s->r.x > r.x && b < s->first_block + s->down; b++) {
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
        words_across(p, a->u_axis, 0, s->cols, a->at_u,
                     (Rect){s->under.y, sheet_thumb(s, s->first_block, h).x, s->under.h, s->columns}, s->wide);
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

/* Right of a line of words, as far as there is room: which of them has most of it, and how much. */
static void draw_most(const Paint *p, const Attend *block, const Sheet *s, int head, Rect box)
{
    enum { WORD_FEWEST = 5 };
    const int x = box.x + box.w + 2, word = s->r.x + s->r.w - x - WORD_SHARE;
    char label[WORD_LABEL];
    Attend a = *block;
    int best = 0;
    if (!s->listed || !a.in_share || a.v.side == SIDE_DIFF || word < WORD_FEWEST)
        return;
    a.head = head;
    for (int u = 1; u < a.u_axis->n; u++)
        if (a.v.values[attend_cell(&a, head, a.at_t, u)] > a.v.values[attend_cell(&a, head, a.at_t, best)])
            best = u;
    const int wide = word < MOST_WORD ? word : MOST_WORD;
    canvas_label(p->c, box.y, x, wide, STYLE_AXIS, axis_label(a.u_axis, best, label, sizeof label));
    shown_share_right(p, &a.v, attend_cell(&a, head, a.at_t, best), box.y, x + wide, WORD_SHARE, STYLE_TEXT);
}

/* Struck through, for its pattern is as it was. */
static void draw_off(const Paint *p, Rect box)
{
    const int y = box.y + (box.h - 1) / 2;
    for (int x = 0; x < box.w && (box.h > 1 || box.w <= 3); x++)
        canvas_glyph(p->c, y, box.x + x, STYLE_EDITED, p->c->ascii ? '-' : 0x2500);
    canvas_text(p->c, y, box.x + (box.w > 3 ? (box.w - 3) / 2 : 0), box.w, STYLE_EDITED, box.w < 3 ? "x" : "off");
}

/* Beside its first and last whole line, or the first alone where bars stand there, on any side: alike on all. */
static void draw_mark(const Paint *p, const Sheet *s, Rect box, bool bars)
{
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
    float most = here.v.values || !p->s->look.locked ? draw_caption(p, &here, &s, r) : 0;
    for (int b = s.first_block; b < s.first_block + s.down; b++) {
        bool there = attend_open(p->s, side, b, &a);
        for (int h = s.first_head; h < s.first_head + s.across; h++) {
            Rect box = sheet_thumb(&s, b, h);
            if (there && most > 0)
                draw_lost(p, &s, &a, h, box, most);
            if (there && a.v.values && h < a.heads)
                draw_thumb(p, &a, &s, h, box);
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
    const bool beside = p->s->compare == COMPARE_SIDES && here.pattern && !s.listed && most_lost(p->s) > 0;
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
