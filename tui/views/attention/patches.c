/* What every part of A changes when it stands in B: a sheet of what was measured and one of what the gradient
 * foretells, beside each other where there is room for both; maps where a line for each block has no room for all
 * patches of a picture. The numbers are differences of two runs and in no
 * trace. */
#include "core/session/screens/patches.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "tui/views/attention/block_sheet.h"
#include "tui/views/attention/patches_maps.h"

enum {
    LABEL = 9,
    LABEL_STACK = 12,
    LEAST = 7,
    NAME_WIDEST = 9,
    WIDEST = 12,
    TALLEST = 5,
    TALLEST_WIDE = 12,
    WIDE = 120,
    COMFORT = 7,
    SHEETS = 2,
    STATUS = 2,
    WORDS = 2,
    WORDS_NARROW = 3,
    NARROW = 76,
    PANEL = 4,
    BAR_LEAST = 24,
    LEAST_TO_COME = 5,
    WAY = 33,       /* cells of what v leads to */
    ZERO = 40,      /* of what a 0 is */
    ZERO_LESS = 24, /* of that, cut short */
    ZERO_TINY = 15,
    NOTHING = 1000 /* so much less than the largest is 0 in the table */
};

typedef struct Patches {
    const Session *s;
    const PatchingResult *r;
    bool gradient; /* of one sheet */
    float most;    /* the largest number of both, by size */
    int count;
    bool shown[SHEETS];                  /* is that sheet the gradient's? */
    PatchesMaps maps;                    /* instead of tables; across 0: there are none */
    Rect at[SHEETS], status, words, bar; /* bar: what the colours mean */
} Patches;

static float number_of(const void *context, int row, int col)
{
    const Patches *k = context;
    const int i = k->r->at[row * k->r->cols + col];
    return i < 0 ? NAN : k->gradient ? k->r->gradient[i] : k->r->exact[i];
}

static void put_cell(const void *context, int row, int col, int wide, SheetCell *out)
{
    const Patches *k = context;
    int i = k->r->at[row * k->r->cols + col];
    float x = number_of(context, row, col);
    if (i < 0)
        snprintf(out->text, sizeof out->text, "–");
    else if (isnan(x))
        snprintf(out->text, sizeof out->text, "…");
    else
        number_text(out->text, sizeof out->text, fabsf(x) < k->most / NOTHING ? 0 : x, wide);
    if (*out->text == '#') /* too small for so few columns */
        snprintf(out->text, sizeof out->text, "≈0");
    out->faint = i < 0 || fabsf(x) < k->most / NOTHING || strcmp(out->text, "≈0") == 0;
    out->value = x;
}

static void put_row(const void *context, int row, char out[SHEET_NAME])
{
    patches_row_name(((const Patches *)context)->s, row, out, SHEET_NAME);
}

static void put_col(const void *context, int row, int col, int wide, char out[SHEET_NAME])
{
    patches_col_name(((const Patches *)context)->s, row, col, wide < 7, out, SHEET_NAME);
}

/* The first row whose tokens are those of the other text; 0: there is none. */
static int other_text(const Session *s, const PatchingResult *r)
{
    char first[SHEET_NAME], name[SHEET_NAME];
    for (int row = 1; r->kind == PATCH_TOKENS && row < r->rows; row++) {
        patches_row_name(s, 0, first, sizeof first);
        patches_row_name(s, row, name, sizeof name);
        if (strncmp(first, name, 3) != 0) /* "enc", "dec" */
            return row;
    }
    return 0;
}

/* Columns of one: as wide as its names need, within what numbers need and NAME_WIDEST. */
static int least_of(const Session *s, const PatchingResult *r)
{
    int least = LEAST;
    char name[SHEET_NAME];
    for (int row = 0; r->kind == PATCH_TOKENS && row < r->rows; row++)
        for (int col = 0; col < r->cols; col++) {
            patches_col_name(s, row, col, false, name, sizeof name);
            int cells = utf8_cells(name) + 1;
            least = cells > least ? cells : least;
        }
    return least < NAME_WIDEST ? least : NAME_WIDEST;
}

/* Both sheets have one scale. */
static BlockSheet sheet_of(const Paint *p, const Patches *k)
{
    BlockSheet b = {.rows = k->r->rows,
                    .cols = k->r->cols,
                    .row = clamp(k->s->look.patches.row, 0, k->r->rows - 1),
                    .col = clamp(k->s->look.patches.col, 0, k->r->cols - 1),
                    .again = other_text(k->s, k->r),
                    .label = session_by_attention(k->s) && k->r->kind != PATCH_TOKENS ? LABEL_STACK : LABEL,
                    .least = least_of(k->s, k->r),
                    .widest = WIDEST,
                    .tallest = k->status.w >= WIDE ? TALLEST_WIDE : TALLEST,
                    .context = k,
                    .cell = put_cell,
                    .row_name = put_row,
                    .col_name = put_col};
    if (p) {
        b.scale = colour_scale_of_range(p, -k->most, k->most);
        b.scale.root = true; /* one part may do twenty times what all others do */
    }
    return b;
}

static void put_token(const void *context, int row, int col, char out[SHEET_NAME])
{
    put_col(context, row, col, WIDEST, out);
}

/* Where a table has no room for every token of a picture, and no number is then read beside all others. */
static int place_maps(const Paint *p, Patches *k, const BlockSheet *b, Rect r)
{
    const PatchingResult *q = k->r;
    if (q->kind == PATCH_PARTS || q->first || !q->count || block_sheet_width(b, b->least) <= r.w)
        return 0;
    const Selection *of = &q->place[0].cells;
    const Lattice l = lattice_of(&session_base(k->s)->axes[of->range[of->n - 1].axis]);
    if (l.prefix + l.rows * l.cols != q->cols)
        return 0;
    k->maps = (PatchesMaps){.l = l,
                            .blocks = q->rows,
                            .row = b->row,
                            .col = b->col,
                            .context = k,
                            .value = number_of,
                            .name = put_row,
                            .token = put_token};
    rect_cut(&r, 'b', 1); /* of the colours */
    const int count = patches_maps_place(p, &k->maps, r, SHEETS, k->at);
    k->maps.across = count ? k->maps.across : 0;
    return count;
}

/* Under the sheets, the words behind it; where no line is free behind the title of the last one. */
static void place_bar(Patches *k, Rect r)
{
    const Rect last = k->at[k->count - 1];
    const int end = last.y + last.h, free = (k->words.h ? k->words.y : r.y + r.h) - end, title = k->count == 1 ? 0 : 30;
    if (free > 0)
        k->bar = (Rect){end + (free > 1), r.x, 1, r.w};
    else if (title && last.w - title >= BAR_LEAST)
        k->bar = (Rect){last.y, last.x + title, 1, last.w - title};
    const int used = k->bar.y + (k->bar.y >= end ? 2 : 0);
    if (k->words.h && free > 2 && used < k->words.y)
        k->words.y = used;
}

static Patches open_patches(const Paint *p, const PatchingResult *result, Rect r)
{
    const Session *s = p->s;
    Patches k = {.s = s, .r = result, .shown = {false, true}};
    for (size_t i = 0; i < result->count; i++) {
        float exact = fabsf(result->exact[i]), gradient = fabsf(result->gradient[i]);
        k.most = exact > k.most ? exact : k.most; /* not-a-number is not */
        k.most = gradient > k.most ? gradient : k.most;
    }
    if (r.h > STATUS + 3)
        k.status = rect_cut(&r, 't', STATUS);
    const int more = (result->first > 0) + (r.w < NARROW ? WORDS_NARROW - WORDS : 0); /* what is left out */
    if (r.h >= result->rows + 1 + PANEL + more) {
        k.words = rect_cut(&r, 'b', WORDS + more);
        rect_cut(&r, 'b', 1);
    }
    BlockSheet b = sheet_of(NULL, &k);
    k.count = place_maps(p, &k, &b, r);
    if (!k.count)
        k.count = block_sheet_place(&b, r, COMFORT, SHEETS, k.at);
    if (k.count == 1)
        k.shown[0] = s->look.patches.guess;
    place_bar(&k, r);
    return k;
}

static void draw_status(const Paint *p, const Patches *k)
{
    const PatchingResult *r = k->r;
    Rect at = k->status;
    char a[64], b[64], here[24], there[24];
    int row, of, against, used = 0;
    if (r->done < r->count)
        used = canvas_printf(p->c, at.y, at.x, at.w, STYLE_STRONG, "measuring %d %%  ",
                             (int)(100 * (double)r->done / (double)r->count));
    if (isnan(r->from) || !patches_answers(p->s, &row, &of, &against))
        return;
    number_text(here, sizeof here, r->to, 8);
    number_text(there, sizeof there, r->from, 8);
    Buf after = {0};
    patches_put_after(p->s, row, &after);
    canvas_printf(p->c, at.y, at.x + used, at.w - used, STYLE_TEXT,
                  k->status.w >= 72 + utf8_cells(buf_str(&after))
                      ? "logit of %s less that of %s%s: %s in B (on show), %s in A (pinned)"
                      : "logit of %s less that of %s%s: %s in B, %s in A",
                  axis_label(patches_axis(p->s), of, a, sizeof a), axis_label(patches_axis(p->s), against, b, sizeof b),
                  buf_str(&after), here, there);
    buf_free(&after);
    PatchingError e = patching_error(r);
    if (!e.n)
        return;
    number_text(here, sizeof here, (float)e.size, 6);
    number_text(there, sizeof there, (float)e.mean, 6);
    const bool wide = at.w >= NARROW;
    used = canvas_printf(p->c, at.y + 1, at.x, at.w, STYLE_DIM,
                         wide ? "mean size of a change %s, of the gradient's error %s"
                              : "mean change %s, gradient off by %s",
                         here, there);
    if (!isnan(e.correlation))
        canvas_printf(p->c, at.y + 1, at.x + used, at.w - used, STYLE_DIM, "; correlation %.2f", e.correlation);
}

/* Beside the title of maps, which have no numbers: "   2.99 into block 3 at cls". */
static void draw_here(const Paint *p, const Patches *k, Rect line)
{
    char number[16], block[SHEET_NAME], token[SHEET_NAME];
    const float x = number_of(k, k->maps.row, k->maps.col);
    put_row(k, k->maps.row, block);
    put_token(k, k->maps.row, k->maps.col, token);
    number_text(number, sizeof number, x, 8);
    canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT, "   %s into %s at %s", isnan(x) ? "…" : number, block,
                  token);
}

static void put_nothing(const void *context, int row, int col, int wide, SheetCell *out)
{
    (void)context, (void)row, (void)col, (void)wide;
    snprintf(out->text, sizeof out->text, ".");
    out->value = NAN;
}

/* The sheet that will be measured, empty. */
static void draw_to_come(const Paint *p, Rect r)
{
    Patches k = {.s = p->s};
    BlockSheet b = {.label = session_by_attention(p->s) && !p->s->look.patches.tokens ? LABEL_STACK : LABEL,
                    .least = LEAST,
                    .widest = WIDEST,
                    .context = &k,
                    .cell = put_nothing,
                    .row_name = put_row,
                    .col_name = put_col};
    patches_shape(p->s, &b.rows, &b.cols);
    if (b.rows < 1 || r.h < LEAST_TO_COME)
        return;
    Rect title = rect_cut(&r, 't', 1);
    canvas_text(p->c, title.y, title.x, title.w, STYLE_HEADER, "how much it rises, to be measured");
    block_sheet_draw(p, &b, r, false);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Err why;
    const PatchingResult *result = session_patching(p->s, &why);
    (void)side;
    if (!result) {
        Buf how = {0};
        patches_put_how(p->s, &how);
        rect_cut(&r, 't', canvas_wrap(p->c, r, STYLE_TEXT, *why.text ? why.text : "measuring…") + 1);
        rect_cut(&r, 't', canvas_wrap(p->c, r, STYLE_DIM, buf_str(&how)) + 1);
        if (how.len)
            draw_to_come(p, r);
        buf_free(&how);
        return;
    }
    Patches k = open_patches(p, result, r);
    k.maps.context = &k;
    if (k.status.h)
        draw_status(p, &k);
    for (int i = 0; i < k.count; i++) {
        Rect at = k.at[i], title = rect_cut(&at, 't', 1);
        k.gradient = k.shown[i];
        BlockSheet b = sheet_of(p, &k);
        int used = canvas_text(p->c, title.y, title.x, title.w, STYLE_HEADER,
                               k.gradient ? "what the gradient foretells" : "how much it rises, measured");
        if (k.count == 1)
            used += canvas_text(p->c, title.y, title.x + used, title.w - used, STYLE_DIM,
                                k.gradient                          ? "   v: heads, or tokens"
                                : title.w - used >= WAY + ZERO_LESS ? "   v: what the gradient foretells"
                                                                    : "   v: the gradient");
        if (k.maps.across)
            draw_here(p, &k, (Rect){title.y, title.x + used, 1, title.w - used});
        else if (i == 0) /* a cell's 0 is explained before the way to the other sheet takes all of the line */
            canvas_text(p->c, title.y, title.x + used, title.w - used, STYLE_DIM,
                        title.w - used >= ZERO        ? "   0: under a thousandth of the largest"
                        : title.w - used >= ZERO_LESS ? "   0: under largest/1000"
                        : title.w - used >= ZERO_TINY ? "  0: < max/1000"
                                                      : "");
        if (k.maps.across)
            patches_maps_draw(p, &k.maps, &b.scale, at, focus && i == 0);
        else
            block_sheet_draw(p, &b, at, focus && i == 0);
        if (i == k.count - 1 && k.bar.h && k.most > 0)
            colour_scale_bar(p, &b.scale, k.bar.y, k.bar.x, k.bar.w);
    }
    int here = patches_here(p->s, result);
    if (!k.words.h || here < 0)
        return;
    Buf line = {0};
    char measured[24], foretold[24];
    number_full_text(measured, sizeof measured, fabsf(result->exact[here]), 10);
    number_full_text(foretold, sizeof foretold, result->gradient[here], 10);
    if (!isnan(result->exact[here])) /* as the gradient has it, a fall is below 0 */
        buf_printf(&line,
                   result->exact[here] < 0 ? "It falls by %s here; the gradient says %s. "
                                           : "It rises by %s here; the gradient says %s. ",
                   measured, foretold);
    patches_put_same(p->s, result, &line);
    buf_puts(&line, result->first ? " " : "");
    buf_puts(&line, "Enter puts A's value of ");
    patches_put_place(p->s, &result->place[here], &line);
    buf_puts(&line, " into B, or takes it out again.");
    canvas_wrap(p->c, k.words, STYLE_DIM, buf_str(&line));
    buf_free(&line);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)s;
    (void)side;
    (void)r;
    (void)out;
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    const PatchingResult *result = session_patching(p->s, NULL);
    int row, col;
    (void)side;
    if (!result)
        return false;
    Patches k = open_patches(p, result, r);
    k.maps.context = &k;
    BlockSheet b = sheet_of(NULL, &k);
    for (int i = 0; i < k.count; i++) {
        Rect at = k.at[i];
        rect_cut(&at, 't', 1);
        if (k.maps.across ? !patches_maps_hit(p, &k.maps, at, y, x, &row, &col)
                          : !block_sheet_hit(&b, at, y, x, &row, &col))
            continue;
        if (row == b.row && col == b.col)
            buf_puts(command, "in");
        else
            buf_printf(command, "option patch-row %d; option patch-column %d", row, col);
        return true;
    }
    return false;
}

static void title(const Session *s, Side side, Buf *out)
{
    (void)side;
    if (s->look.patches.tokens && s->look.patches.head)
        buf_printf(out, "A's head %d in B, token by token\nhead %d of A in B\npatching", s->look.patches.head - 1,
                   s->look.patches.head - 1);
    else
        buf_puts(out, s->look.patches.tokens
                          ? "A's tokens in B's residual stream, one by one\ntokens of A in B\npatching"
                          : "A's heads and MLPs in B, one by one\nheads of A in B\npatching");
}

VIEW_SPEC(PATCHES, .name = "patching", .traits = VIEW_WIDE, .sides = SIDES_TOGETHER,
          .sentence = "What each part of A changes when it stands in B, and what the gradient says.");
