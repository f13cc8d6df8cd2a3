/* The tree of beginnings that a search looked at, with the share of each last word, the sum of logs and the score; what
 * was written in the end; and what keys and values kept save. The way to the best text stands in the first column, what
 * was tried beside it further in, above the word that was carried on instead: a row for each that lost, with all that
 * it went on with. Beside a greedy choice stands what it passed over. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/models/text_model.h"
#include "core/session/learned/decoding.h"
#include "tui/views/number.h"
#include "tui/views/shown.h"

enum {
    SHARE = 8,
    LOGS = 9,
    SCORE = 9,
    FATE = 9,
    WORD_LEAST = 16,
    LOGS_FROM = 36, /* columns of words; what a loser went on with is worth more than its sum */
    WORD_MOST = 40,
    WORD_WIDE = 60, /* … of a panel wider than WIDE */
    WIDE = 110,
    DEPTH_MOST = 8,
    COUNTS_FROM = 12,       /* lines with one of them on what keeping saves */
    COUNTS_WHOLE_FROM = 24, /* … with a table of it */
    COUNTS_LINES = 4,
    TEXT_MOST = 3,
    TEXT_EACH = 2,  /* … of A and of B, where both are written */
    DRAW_FROM = 10, /* lines with what the word at the cursor was drawn from */
    DRAW_GAP_FROM = 14,
    DRAW_MOST = 14,
    DRAW_NAME = 24,
    DRAW_SHARE = 10,
    BAR_LEAST = 10,
    BAR_MOST = 48,
    RIVALS_FROM = 10, /* columns of words before those that were passed over */
    RIVALS_GAP = 2,
    RIVALS_LEAST = 12
};

typedef struct Layout {
    Rect how, text, counts, header, lines, foot, draw;
    int word, first; /* row */
    double worst;    /* score */
    bool logs, fate; /* logs: the sum beside the score, where these are two numbers */
} Layout;

static Side side_of(Side side)
{
    return side == SIDE_A ? SIDE_A : SIDE_B;
}

/* --- rows: what a loser went on with stands in its row, word by word --- */

static bool goes_on(const Decoding *d, int i)
{
    const DecodingLine *l = &d->line[i];
    return i > 0 && i < d->lines && l->depth > 0 && l->depth == l[-1].depth &&
           d->text->node[l->node].parent == l[-1].node;
}

/* The row of a line; of d->lines: how many rows there are. */
static int row_of(const Decoding *d, int line)
{
    int row = line < d->lines ? 0 : 1;
    for (int i = 1; i <= line && i < d->lines; i++)
        row += !goes_on(d, i);
    return d->lines ? row : 0;
}

static int row_first(const Decoding *d, int row)
{
    int i = 0;
    for (; i < d->lines && row > 0; row--)
        while (goes_on(d, ++i))
            ;
    return i;
}

static int row_end(const Decoding *d, int first)
{
    while (goes_on(d, ++first))
        ;
    return first;
}

/* Do A and B go on with two texts? */
static bool both_written(const Session *s)
{
    const Decoding *a = session_decoding(s, SIDE_A), *b = session_decoding(s, SIDE_B);
    return session_pinned(s) && s->compare == COMPARE_SIDES && a && b && a->done && b->done && a->lines && b->lines;
}

static Layout layout(const Session *s, const Decoding *d, Rect r)
{
    Layout l = {.word = r.w - SHARE - SCORE};
    const int all = r.h, all_wide = r.w;
    const bool counts = all >= COUNTS_FROM;
    l.how = rect_cut(&r, 't', 1);
    int rows = counts && r.w > 0 ? utf8_cells(buf_str(&d->written)) / r.w + 1 : 1;
    if (r.h > 3)
        l.text = rect_cut(&r, 't', both_written(s) ? 2 * TEXT_EACH : rows < TEXT_MOST ? rows : TEXT_MOST);
    if (counts)
        l.counts = rect_cut(&r, 't', all >= COUNTS_WHOLE_FROM ? COUNTS_LINES : 1);
    if (r.h > 2)
        l.header = rect_cut(&r, 't', 1);
    const int of = row_of(d, d->lines);
    const DecodeDraw *draw = decoding_draw(s, d);
    if (draw && r.h >= DRAW_FROM) { /* what the tree leaves, and half of the lines in any case */
        const bool gap = r.h >= DRAW_GAP_FROM;
        const int spare = r.h - of - 1, half = (r.h + !gap) / 2;
        int most = spare > half ? spare : half;
        most = most > DRAW_MOST ? DRAW_MOST : most;
        l.draw = rect_cut(&r, 'b', most > draw->count + 3 ? draw->count + 3 : most);
        rect_cut(&l.draw, 't', gap);
    }
    if (r.h > 3 && (of > r.h || of < d->lines)) {
        l.foot = rect_cut(&r, 'b', 1);
        l.foot.y -= r.h > of ? r.h - of : 0; /* right under the rows */
    }
    l.lines = r;
    l.fate = l.word - FATE >= WORD_LEAST;
    l.word -= l.fate ? FATE : 0;
    l.logs = l.word - LOGS >= LOGS_FROM && d->how.kind == DECODE_BEAM;
    l.word -= l.logs ? LOGS : 0;
    const int most = all_wide > WIDE ? WORD_WIDE : WORD_MOST;
    l.word = l.word > most ? most : l.word;
    l.first = (int)scroll_first((size_t)of, (size_t)row_of(d, decoding_line(s, d)), (size_t)r.h);
    for (int i = 0; i < d->lines; i++)
        l.worst = fmin(l.worst, d->text->node[d->line[i].node].score);
    return l;
}

static void put_amount(char *out, size_t n, double x)
{
    static const char *const UNITS[] = {"", " k", " M", " G", " T"};
    int unit = 0;
    for (; x >= 1000 && unit < 4; unit++)
        x /= 1000;
    utf8_print(out, n, unit ? "%.3g%s" : "%.0f%s", x, UNITS[unit]);
}

/* One way of computing: what all its steps took. */
static void draw_count(const Paint *p, const DecodeCost *c, bool on, bool kept, Rect r)
{
    char adds[24], bytes[24], held[24];
    put_amount(adds, sizeof adds, c->multiply_adds);
    put_amount(bytes, sizeof bytes, c->bytes);
    put_amount(held, sizeof held, c->cache_bytes);
    canvas_printf(p->c, r.y, r.x, r.w, on ? STYLE_TEXT : STYLE_DIM, "%s cache %-3s %13s %8sB %8s%s", on ? ">" : " ",
                  kept ? "on" : "off", adds, bytes, kept ? held : "–", kept ? "B" : "");
}

/* "cache on: 9.7 M multiply-adds; off: 87.2 M, 9.0 times as many" */
static void draw_saved(const Paint *p, const Decoding *d, Rect r)
{
    const bool on = p->s->look.decoding.kept;
    const DecodeCost *now = on ? &d->kept : &d->without, *other = on ? &d->without : &d->kept;
    char adds[24], others[24];
    put_amount(adds, sizeof adds, now->multiply_adds);
    put_amount(others, sizeof others, other->multiply_adds);
    if (!d->same)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_WARNING, "without the cache OTHER scores");
    else
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "cache %s: %s multiply-adds; %s: %s, the same bits",
                      on ? "on" : "off", adds, on ? "off" : "on", others);
}

static void draw_counts(const Paint *p, const Decoding *d, Rect r)
{
    bool on = p->s->look.decoding.kept;
    if (r.h < COUNTS_LINES) {
        draw_saved(p, d, r);
        return;
    }
    Rect line = rect_cut(&r, 't', 1);
    canvas_printf(p->c, line.y, line.x, line.w, STYLE_HEADER, "            multiply-adds    values      kept");
    draw_count(p, &d->kept, on, true, rect_cut(&r, 't', 1));
    draw_count(p, &d->without, !on, false, rect_cut(&r, 't', 1));
    canvas_printf(p->c, r.y, r.x, r.w, d->same ? STYLE_DIM : STYLE_WARNING, "  without it %.1f times as many; %s",
                  d->kept.multiply_adds > 0 ? d->without.multiply_adds / d->kept.multiply_adds : 0,
                  d->same ? "all scores the same bits" : "OTHER scores");
}

/* Behind the numbers, where there is room, the score, from the worst of all up to 0, which is certain. */
static Rect bar_of(const Layout *l, int y)
{
    const Rect r = l->lines;
    const int x = r.x + l->word + SHARE + (l->logs ? LOGS : 0) + SCORE + (l->fate ? FATE : 0) + 2, w = r.x + r.w - x;
    return (Rect){y, x, 1, w < BAR_LEAST ? 0 : w > BAR_MOST ? BAR_MOST : w};
}

/* Where words stand that a greedy choice passed over: behind the longest word; columns that are left for them. */
static Rect rivals_of(const Decoding *d, const Layout *l, int y)
{
    int widest = RIVALS_FROM;
    for (int i = 0; i < d->lines; i++) {
        const int cells = utf8_cells(d->line[i].word);
        widest = cells > widest ? cells : widest;
    }
    const int x = 2 + widest + RIVALS_GAP, w = l->word - x;
    return (Rect){y, l->lines.x + x, 1, d->how.kind == DECODE_BEAM || w < RIVALS_LEAST ? 0 : w};
}

static void draw_header(const Paint *p, const Decoding *d, const Layout *l)
{
    Rect r = l->header;
    int x = r.x + l->word;
    canvas_text(p->c, r.y, r.x, l->word, STYLE_HEADER, "  next token");
    if (d->lines && d->text->node[0].rivals) {
        const Rect over = rivals_of(d, l, r.y);
        canvas_text(p->c, r.y, over.x, over.w, STYLE_AXIS, "less likely");
    }
    canvas_right(p->c, r.y, x, SHARE, STYLE_HEADER, "prob.");
    x += SHARE;
    if (l->logs) {
        canvas_right(p->c, r.y, x, LOGS, STYLE_HEADER, "log sum");
        x += LOGS;
    }
    canvas_right(p->c, r.y, x, SCORE, STYLE_HEADER, d->how.kind == DECODE_BEAM ? "score" : "log sum");
    const Rect bar = bar_of(l, r.y);
    canvas_printf(p->c, bar.y, bar.x, bar.w, STYLE_HEADER, "%.1f", l->worst);
    canvas_right(p->c, bar.y, bar.x, bar.w, STYLE_HEADER, "0");
}

/* The lines from columns above, and the fork of one that stands aside. */
static int draw_columns(const Paint *p, const DecodingLine *l, int y, int x, Style style)
{
    int depth = l->depth < DEPTH_MOST ? l->depth : DEPTH_MOST;
    for (int i = 0; i < depth; i++, x += 2) {
        bool fork = i == depth - 1 && l->aside;
        canvas_glyph(p->c, y, x, style, fork ? 0x251C : 0x2502);
        if (fork)
            canvas_glyph(p->c, y, x + 1, style, 0x2500);
    }
    return x;
}

/* The words of a row, whole ones only, and how many more (true); the one as far as which Enter goes is marked. */
static bool draw_words(const Paint *p, const Decoding *d, int first, int end, int at, Rect r, Style style)
{
    enum { MORE = 4 }; /* " +12" */
    int x = r.x;
    for (int i = first; i < end; i++) {
        const int room = r.x + r.w - x - (i + 1 < end ? MORE : 0), cells = utf8_cells(d->line[i].word) + (i > first);
        if (i > first && cells > room) {
            canvas_printf(p->c, r.y, x, r.x + r.w - x, style, " +%d", end - i);
            return true;
        }
        x += i > first;
        const int used = canvas_label(p->c, r.y, x, r.x + r.w - x, style, d->line[i].word);
        if (style == STYLE_SELECTED && i == at && end > first + 1)
            canvas_attr(p->c, (Rect){r.y, x, 1, used}, ATTR_UNDERLINE);
        x += used;
    }
    return false;
}

/* A line as long as the score is above the worst, of the best a thick one. */
static void draw_score(const Paint *p, const Layout *l, double score, bool best, int y)
{
    const Rect bar = bar_of(l, y);
    const double part = l->worst < 0 ? 1 - score / l->worst : 1;
    const uint32_t thick = p->c->ascii ? '=' : 0x2501, thin = p->c->ascii ? '-' : 0x2500;
    for (int i = 0; i < (int)(part * bar.w + 0.5); i++)
        canvas_glyph(p->c, y, bar.x + i, best ? STYLE_GOOD : STYLE_DIM, best ? thick : thin);
}

/* "le 3.1 %  la 0.4 %", whole ones only. */
static void draw_rivals(const Paint *p, const Decoding *d, const Vocabulary *v, const DecodeNode *n, Rect r,
                        Style style)
{
    const DecodeNode *from = n->parent < 0 ? n : &d->text->node[n->parent];
    int x = r.x;
    for (int i = 0; i < from->rivals && v->word; i++) {
        char word[64], share[32];
        share_text(share, sizeof share, (float)from->rival[i].share);
        utf8_clean(word, sizeof word, v->word[from->rival[i].word]);
        if (utf8_cells(word) + 1 + utf8_cells(share) > r.x + r.w - x)
            return;
        x += 2 + canvas_printf(p->c, r.y, x, r.x + r.w - x, style, "%s %s", word, share);
    }
}

/* The probability of the words of a row, from its first one on. */
static void put_share(const Decoding *d, int first, int last, char *out, size_t n)
{
    const DecodeNode *all = d->text->node, *from = &all[d->line[first].node], *to = &all[d->line[last].node];
    share_text(out, n, (float)(from == to ? to->share : dm_exp(to->log_share - all[from->parent].log_share)));
}

/* A sum of logarithms: one that is hardly below 0 is not 0. */
static char *log_text(char out[16], double x)
{
    Buf text = {0};
    buf_fixed(&text, 0, x, 3);
    snprintf(out, 16, "%s", buf_str(&text));
    buf_free(&text);
    return out;
}

/* The numbers and what became of it are those of the whole row, wherever the cursor stands in it. True: it has more
 * words than are seen. */
static bool draw_row(const Paint *p, const Decoding *d, const Layout *l, const Vocabulary *v, int first, int at, int y)
{
    static const char *const FATES[] = {[DECODING_READ] = "",
                                        [DECODING_LEFT] = "dropped",
                                        [DECODING_CUT] = "cut",
                                        [DECODING_ENDED] = "ended",
                                        [DECODING_BEST] = "best"};
    const int end = row_end(d, first);
    const bool here = at >= first && at < end;
    const DecodingLine *line = &d->line[end - 1];
    const DecodeNode *n = &d->text->node[line->node];
    Rect r = l->lines;
    Style style = here ? STYLE_SELECTED : line->best ? STYLE_TEXT : STYLE_DIM;
    const Rect bar = bar_of(l, y);
    char text[32], sum[16];
    if (here)
        canvas_fill(p->c, (Rect){y, r.x, 1, bar.w ? bar.x - 1 - r.x : r.w}, STYLE_SELECTED, ' ');
    canvas_text(p->c, y, r.x, 1, style, here ? ">" : " ");
    int x = draw_columns(p, &d->line[first], y, r.x + 2, here ? STYLE_SELECTED : STYLE_DIM);
    bool more = false;
    if (x < r.x + l->word)
        more = draw_words(p, d, first, end, at, (Rect){y, x, 1, r.x + l->word - x}, style);
    draw_rivals(p, d, v, n, rivals_of(d, l, y), here ? STYLE_SELECTED : STYLE_DIM);
    x = r.x + l->word;
    put_share(d, first, end - 1, text, sizeof text);
    canvas_right(p->c, y, x, SHARE, style, text);
    x += SHARE;
    if (l->logs) {
        canvas_right(p->c, y, x, LOGS, style, log_text(sum, n->log_share));
        x += LOGS;
    }
    canvas_right(p->c, y, x, SCORE, style, log_text(sum, n->score));
    const bool only = line->fate == DECODING_BEST && d->how.kind != DECODE_BEAM; /* there is no other */
    if (l->fate)
        canvas_right(p->c, y, x + SCORE, FATE - 1, style, n->forced ? "forced" : only ? "" : FATES[line->fate]);
    draw_score(p, l, n->score, line->best, y);
    return more;
}

/* Which rows are seen, the numbers of the part of the cursor's row that Enter runs, and what +2 is. */
static void draw_foot(const Paint *p, const Decoding *d, const Layout *l, int at, bool more)
{
    static const char MORE[] = "+2: so many more words";
    const int of = row_of(d, d->lines), first = row_first(d, row_of(d, at));
    const DecodeNode *n = &d->text->node[d->line[at].node];
    const Rect r = {l->foot.y, l->foot.x + 2, 1, l->foot.w - 2};
    char part[128] = "", rows[48] = "", share[32], logs[32] = "", sum[16];
    if (at + 1 < row_end(d, first)) {
        put_share(d, first, at, share, sizeof share);
        if (l->logs)
            utf8_print(logs, sizeof logs, ", log sum %s", log_text(sum, n->log_share));
        utf8_print(part, sizeof part, "up to \"%s\": %s%s, %s %s", d->line[at].word, share, logs,
                   d->how.kind == DECODE_BEAM ? "score" : "log sum", log_text(sum, n->score));
    }
    if (of > l->lines.h)
        utf8_print(rows, sizeof rows, "lines %d–%d of %d", l->first + 1, l->first + l->lines.h, of);
    const char *then = *rows && *part ? "; " : "";
    const bool whole = utf8_cells(rows) + utf8_cells(then) + utf8_cells(part) <= r.w;
    int used = whole ? canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "%s%s", rows, then) : 0;
    used += canvas_text(p->c, r.y, r.x + used, r.w - used, STYLE_TEXT, part);
    if (more && r.w - used >= utf8_cells(MORE) + 2)
        canvas_printf(p->c, r.y, r.x + used, r.w - used, STYLE_DIM, "%s%s", used ? "; " : "", MORE);
}

/* The first of the candidates that is seen, so that the one at the cursor is, else the one that was taken. */
static int draw_first(const Session *s, const Decoding *d, Rect r)
{
    const DecodeDraw *draw = decoding_draw(s, d);
    const int word = d->text->node[d->line[decoding_line(s, d)].node].word;
    int at = decoding_other(s, d);
    for (int i = 0; at < 0 && i < draw->count; i++)
        at = draw->choice[i].word == word ? i : at;
    return (int)scroll_first((size_t)draw->count, (size_t)(at < 0 ? 0 : at), (size_t)(r.h > 2 ? r.h - 2 : 0));
}

/* "A: the text > and how it goes on", and B under it. */
static void draw_both(const Paint *p, Rect r, Side shown)
{
    for (Side side = SIDE_A; side <= SIDE_B; side++) {
        Buf text = {0}, given = {0};
        Text read = {0};
        const Model *m = decoding_reads(p->s, side, &read);
        words_text(model_given(m) == TEXT_SOURCE ? &m->source : &m->target, read.word, read.count, &given);
        buf_printf(&text, "%s %s > %s", side == SIDE_A ? "A:" : "B:", buf_str(&given),
                   buf_str(&session_decoding(p->s, side)->written));
        for (size_t i = 0; i < text.len; i++) /* two lines are little */
            text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
        canvas_wrap(p->c, rect_cut(&r, 't', TEXT_EACH), side == shown ? STYLE_TEXT : STYLE_DIM, buf_str(&text));
        buf_free(&given);
        buf_free(&text);
    }
}

/* What the word at the cursor was drawn from: the probability that each was drawn with beside the model's own, and the
 * rule that left it out. */
static void draw_drawn(const Paint *p, const Decoding *d, Rect r, Side side, bool focus)
{
    static const char *const OUT[] = {
        [DECODE_DRAWABLE] = "", [DECODE_TOP_K] = "cut: top-k", [DECODE_TOP_P] = "cut: top-p"};
    const DecodeDraw *draw = decoding_draw(p->s, d);
    const DecodingLine *line = &d->line[decoding_line(p->s, d)];
    const Vocabulary *v = &session_exhibit(p->s, side)->model->target;
    const int other = decoding_other(p->s, d), first = draw_first(p->s, d, r);
    Rect row = rect_cut(&r, 't', 1);
    char text[32];
    share_text(text, sizeof text, (float)draw->taken);
    int used = canvas_printf(p->c, row.y, row.x, row.w, STYLE_TEXT, "\"%s\" was drawn with %s, from %d of %d words",
                             line->word, text, draw->left, draw->words);
    if (draw->top_k < draw->words)
        used += canvas_printf(p->c, row.y, row.x + used, row.w - used, STYLE_DIM, "; top-k left %d", draw->top_k);
    if (draw->left < draw->top_k)
        canvas_printf(p->c, row.y, row.x + used, row.w - used, STYLE_DIM, "; top-p left %d", draw->left);
    row = rect_cut(&r, 't', 1);
    canvas_text(p->c, row.y, row.x, DRAW_NAME, STYLE_HEADER, "  candidate");
    canvas_right(p->c, row.y, row.x + DRAW_NAME, DRAW_SHARE, STYLE_HEADER, "drawn with");
    canvas_right(p->c, row.y, row.x + DRAW_NAME + DRAW_SHARE, DRAW_SHARE, STYLE_HEADER, "at T 1");
    for (int i = first; r.h > 0 && i < draw->count; i++) {
        const DecodeChoice *c = &draw->choice[i];
        const bool here = i == other, taken = c->word == d->text->node[line->node].word;
        const Style style = here ? STYLE_SELECTED : c->out ? STYLE_DIM : STYLE_TEXT;
        row = rect_cut(&r, 't', 1);
        if (here) {
            canvas_fill(p->c, row, STYLE_SELECTED, ' ');
            focus_cursor(p, focus, row.y, row.x);
        }
        canvas_text(p->c, row.y, row.x, 1, style, here ? ">" : " ");
        if (v->word)
            canvas_label(p->c, row.y, row.x + 2, DRAW_NAME - 2, style, v->word[c->word]);
        else
            canvas_printf(p->c, row.y, row.x + 2, DRAW_NAME - 2, style, "w%d", c->word);
        share_text(text, sizeof text, (float)c->drawn);
        canvas_right(p->c, row.y, row.x + DRAW_NAME, DRAW_SHARE, style, c->out ? "–" : text);
        share_text(text, sizeof text, c->share);
        canvas_right(p->c, row.y, row.x + DRAW_NAME + DRAW_SHARE, DRAW_SHARE, style, text);
        const int x = row.x + DRAW_NAME + 2 * DRAW_SHARE + 2;
        canvas_text(p->c, row.y, x, row.x + row.w - x, style, taken ? "taken" : OUT[c->out]);
    }
}

static void draw_tree(const Paint *p, const Decoding *d, Rect r, Side side, bool focus)
{
    Layout l = layout(p->s, d, r);
    const bool draws = d->how.kind == DECODE_SAMPLE && d->how.temperature != 1;
    const Vocabulary *v = &session_exhibit(p->s, side)->model->target;
    const int of = row_of(d, d->lines);
    char lines[24] = "";
    if (of < d->lines)
        snprintf(lines, sizeof lines, " in %d lines", of);
    int used = canvas_printf(p->c, l.how.y, l.how.x, l.how.w, STYLE_DIM, "%d beginnings%s, %d steps%s", d->lines, lines,
                             d->text->cost.steps, draws ? "; prob. and log sum at temperature 1" : "");
    if (d->cut)
        used += canvas_printf(p->c, l.how.y, l.how.x + used, l.how.w - used, STYLE_WARNING,
                              d->takes ? "; cut: the model takes %d tokens" : "; cut at %d words",
                              d->takes ? d->takes : d->text->length);
    if (session_edited(p->s))
        used += canvas_printf(p->c, l.how.y, l.how.x + used, l.how.w - used, STYLE_DIM, "; %s",
                              d->how.edits.count ? "with the changes" : "without the changes");
    if (decoding_typed(p->s))
        used += canvas_text(p->c, l.how.y, l.how.x + used, l.how.w - used, STYLE_TEXT,
                            "; back to your text: decode typed");
    if (d->text->anew)
        canvas_text(p->c, l.how.y, l.how.x + used, l.how.w - used, STYLE_WARNING,
                    "; no cache: a change reaches other tokens");
    if (l.text.h && both_written(p->s))
        draw_both(p, l.text, side);
    else if (l.text.h)
        canvas_wrap(p->c, l.text, STYLE_TEXT, buf_str(&d->written));
    if (l.counts.h)
        draw_counts(p, d, l.counts);
    if (l.header.h)
        draw_header(p, d, &l);
    int at = decoding_line(p->s, d);
    bool more = false;
    for (int i = 0, first = row_first(d, l.first); i < l.lines.h && first < d->lines; i++) {
        more |= draw_row(p, d, &l, v, first, at, l.lines.y + i);
        if (row_of(d, at) == l.first + i && (!l.draw.h || decoding_other(p->s, d) < 0))
            focus_cursor(p, focus, l.lines.y + i, l.lines.x);
        first = row_end(d, first);
    }
    if (l.foot.h)
        draw_foot(p, d, &l, at, more);
    if (l.draw.h)
        draw_drawn(p, d, l.draw, side, focus);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    const Decoding *d = session_decoding(p->s, side_of(side));
    if (d && *d->why)
        canvas_wrap(p->c, r, STYLE_WARNING, d->why);
    else if (d && d->done)
        draw_tree(p, d, r, side_of(side), focus);
    else if (d)
        canvas_printf(p->c, r.y, r.x, r.w, STYLE_DIM, "writing: %d beginnings so far", d->text->count - 1);
    else
        shown_computing(p, r);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)s, (void)side, (void)r, (void)out; /* its own search: decoding_step */
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    const Decoding *d = session_decoding(p->s, side_of(side));
    if (!d || !d->done || !d->lines)
        return false;
    Layout l = layout(p->s, d, r);
    if (l.counts.h == 1 && y == l.counts.y) {
        buf_puts(command, "decode cache=toggle");
        return true;
    }
    if (l.counts.h > 1 && y > l.counts.y && y <= l.counts.y + 2) { /* below the header */
        buf_printf(command, "decode cache=%s", y == l.counts.y + 1 ? "on" : "off");
        return true;
    }
    if (l.draw.h > 2 && rect_has(l.draw, y, x) && y >= l.draw.y + 2) {
        const int other = draw_first(p->s, d, l.draw) + y - l.draw.y - 2;
        if (other == decoding_other(p->s, d))
            buf_puts(command, "in");
        else
            buf_printf(command, "option other %d", other + 1);
        return other < decoding_draw(p->s, d)->count;
    }
    const int line = rect_has(l.lines, y, x) ? row_first(d, y - l.lines.y + l.first) : d->lines;
    if (line >= d->lines)
        return false;
    if (line == decoding_line(p->s, d))
        buf_puts(command, "in");
    else
        buf_printf(command, "option other 0; option beginning %d", line + 1);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    const Decoding *d = session_decoding(s, side_of(side));
    const DecodeOptions how = decoding_options(s);
    buf_puts(out, "decoding: ");
    decoding_put_how(d ? &d->how : &how, out);
}

static bool draws(const Session *s)
{
    return s->look.decoding.by == DECODE_SAMPLE;
}

static const KeyBinding KEYS[] = {{"Right", "move right", "other word",
                                   "what the word was drawn from; Enter takes that one as the next word in B", 0, 4,
                                   draws},
                                  {"+", "decode +1", NULL, "a wider beam, or the next seed", 0, 0, NULL},
                                  {"-", "decode -1", NULL, "a narrower beam, or the seed before", 0, 0, NULL},
                                  {"M", "decode cache=toggle", "cache", "keys and values kept, or computed anew", 0, 9,
                                   NULL},
                                  {NULL, NULL, NULL, NULL, 0, 0, NULL}};
static const ViewWay WAYS[] = {{"greedy    the most probable word every time", "decode greedy"},
                               {"beam      the best beginnings side by side", "decode beam"},
                               {"draw      a word by its share, from a seed", "decode draw"},
                               {"typed     back from a beginning that Enter ran", "decode typed"},
                               {NULL, NULL}};

VIEW_SPEC(DECODING, .name = "decoding", .traits = VIEW_TELLS, .sides = SIDES_ONE,
          .sentence = "Every beginning that was tried. Enter runs the one at the cursor.", .keys = KEYS, .ways = WAYS);
