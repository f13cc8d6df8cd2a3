/* The logit lens: what the model would name if it ended before the first block or after each of them, class by class;
 * the answer itself; what it would say from its other read-out; and how often each read-out is right over many
 * pictures. Above, where there is room, the logits behind it as lines, with a point after attention and one after the
 * MLP of each block. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/eval/batch_run.h"
#include "core/session/learned/measures.h"
#include "core/session/screens.h"
#include "tui/views/attention/word_row.h"
#include "tui/views/classes.h"
#include "tui/views/learned/lens_lines.h"
#include "tui/views/learned/lens_tokens.h"

enum {
    COLUMNS_MOST = 64,
    LABEL = 16,
    LABEL_MIDDLE = 9,
    LABEL_ONLY = 8,
    LABEL_SHORT = 7,
    NAME = 10,
    NUMBER = 7,
    COLUMN_MOST = 14
};
enum { LINES_BELOW = 2, NARROW = 40 }; /* the sentence and the accuracy; columns of both read-outs' accuracy */

typedef struct Lens {
    const Session *s;
    Side side;
    int blocks;
    Shown answer;  /* probs */
    Ranking order; /* by which classes are chosen: the answer's, of sides that are compared the largest change; v NULL:
                      none yet */
    bool sides;    /* A, B and A − B beside one another: the same classes in all three */
    size_t classes, picked;
    int first, row;    /* the first row; that of the cursor: LENS_START, a block, or `blocks` for the answer */
    const char *other; /* path of the other read-out's answer, or NULL */
    size_t column[COLUMNS_MOST]; /* classes shown, left to right */
    int columns, width;          /* width of one */
    int label, name; /* cells of the first two columns; name 0: the winner is not named (a difference has none) */
    int share;       /* cells of its probability, where not every class has a column of its own; else 0 */
} Lens;

static const char *other_path(const Session *s, Side side)
{
    const char *path = shown_site(s, side, SITE_OTHER_PROBS);
    return session_node(s, side, path) == NO_NODE ? NULL : path;
}

/* The longest labels with which all classes still have their columns; else those that are read best. */
static void choose_labels(Lens *l, int width)
{
    static const int TRIES[][2] = {{LABEL, NAME}, {LABEL_MIDDLE, NAME}, {LABEL_ONLY, 0}};
    bool names = l->side != SIDE_DIFF || l->sides; /* as many columns in A − B */
    l->label = width >= 70 ? LABEL : width >= 50 ? LABEL_MIDDLE : LABEL_SHORT;
    l->name = names && width >= 24 ? NAME : 0;
    for (int i = 0; i < 3; i++) {
        int room = width - TRIES[i][0] - (names ? TRIES[i][1] : 0);
        if (room <= 0 || l->classes > (size_t)(room / NUMBER))
            continue;
        l->label = TRIES[i][0];
        l->name = names ? TRIES[i][1] : 0;
        return;
    }
}

/* All classes in their order where they fit; else the likeliest or those that changed most, and the picked one in any
 * case. `wide` columns are theirs, of which as many are used as fit in `room`. */
static void choose_columns(Lens *l, int room, int wide)
{
    int fit = room / NUMBER > COLUMNS_MOST ? COLUMNS_MOST : room / NUMBER;
    l->columns = (size_t)fit < l->classes ? fit : (int)l->classes;
    l->width = l->columns ? wide / l->columns : NUMBER;
    l->width = l->width > COLUMN_MOST ? COLUMN_MOST : l->width < NUMBER ? NUMBER : l->width;
    bool all = (size_t)l->columns == l->classes, seen = false;
    size_t at = all || !l->order.v ? 0 : ranking_best(l->order);
    for (int i = 0; i < l->columns; i++) {
        l->column[i] = at;
        seen |= at == l->picked;
        at = all || !l->order.v ? at + 1 : ranking_next(l->order, at);
    }
    if (!seen && l->columns)
        l->column[l->columns - 1] = l->picked;
}

static bool open_lens(const Session *s, Side side, int width, Lens *out)
{
    Lens l = {.s = s, .side = side, .blocks = lens_blocks(s, side), .other = other_path(s, side)};
    const char *start = lens_path(s, side, LENS_START);
    Shown ranked;
    if (!shown_answer(s, side, shown_site(s, side, SITE_PROBS), &l.answer) ||
        session_node(s, side, lens_path(s, side, 0)) == NO_NODE)
        return false;
    int block = session_block(s) < l.blocks ? session_block(s) : l.blocks - 1; /* its last, where B is deeper */
    l.classes = l.answer.count;
    l.sides = s->compare == COMPARE_SIDES && session_compares(s) &&
              shown_answer(s, SIDE_DIFF, shown_site(s, SIDE_DIFF, SITE_PROBS), &ranked) && ranked.count == l.classes;
    bool change = l.sides || side == SIDE_DIFF;
    l.order = (Ranking){l.sides ? ranked.values : l.answer.values, l.classes, change};
    l.picked = l.answer.cell;
    l.first = session_node(s, side, start) == NO_NODE ? 0 : LENS_START;
    l.row = block >= 0 ? block : start && strcmp(s->place.path, start) == 0 ? l.first : l.blocks;
    choose_labels(&l, width);
    if (width - l.label - l.name < 2 * NUMBER) /* one class's share would be read as that of the row's name */
        l.name = 0;
    l.share = l.name && l.classes > (size_t)((width - l.label - l.name) / NUMBER) ? NUMBER : 0;
    if (width - l.label - l.name - l.share < NUMBER)
        l.share = 0;
    int room = width - l.label - l.name - l.share, wide = room;
    if (side == SIDE_DIFF) { /* a difference has no winner */
        wide += l.name + l.share;
        l.name = l.share = 0;
    }
    choose_columns(&l, room > 0 ? room : 0, wide);
    *out = l;
    return true;
}

static ColourScale lens_scale(const Paint *p, const Lens *l)
{
    return l->side == SIDE_DIFF ? colour_scale_of_range(p, -1, 1) : colour_scale_of_range(p, 0, 1);
}

/* --- one row --- */
static int column_x(const Lens *l, Rect line, int i)
{
    return line.x + l->label + l->name + l->share + i * l->width;
}

/* The number on its colour; the picked one has the cursor's, and its own before that where there is room. */
static void draw_cell(const Paint *p, const Shown *v, size_t o, Rect r, const ColourScale *scale, Style style)
{
    const int number = NUMBER - 1, ground = r.w - 1 - (style == STYLE_SELECTED ? number : 0);
    shown_share_right(p, v, o, r.y, r.x + r.w - number, number, style);
    word_ground(p, r.y, r.x + 1, ground, scale, v->values[o], shown_ref(v, o));
}

static void draw_values(const Paint *p, const Lens *l, const Shown *v, Rect row, bool here, bool focus)
{
    ColourScale scale = lens_scale(p, l);
    char name[64];
    int last = row.y + row.h - 1;
    if (!v->values) {
        canvas_text(p->c, last, row.x + l->label, row.w - l->label, STYLE_DIM, "computing…");
        return;
    }
    size_t best = classes_best(v->values, l->classes),
           answer = l->answer.values ? classes_best(l->answer.values, l->classes) : best;
    if (l->name)
        canvas_label(p->c, last, row.x + l->label, l->name - 1, best == answer ? STYLE_STRONG : STYLE_TEXT,
                     isnan(v->values[best]) ? "no number" : classes_label(v, best, l->name - 1, name, sizeof name));
    if (l->share)
        shown_share_right(p, v, best, last, row.x + l->label + l->name, l->share - 1, STYLE_STRONG);
    for (int i = 0; i < l->columns; i++) {
        bool cell = here && l->column[i] == l->picked;
        int x = column_x(l, row, i);
        bool wins = l->side != SIDE_DIFF && l->column[i] == best;
        draw_cell(p, v, l->column[i], (Rect){row.y, x, row.h, l->width}, &scale,
                  cell   ? STYLE_SELECTED
                  : wins ? STYLE_STRONG
                         : STYLE_TEXT);
        if (cell)
            focus_cursor(p, focus, last, x + l->width - 1);
    }
}

static void draw_label(const Paint *p, const Lens *l, Rect row, bool here, const char *text)
{
    canvas_printf(p->c, row.y + row.h - 1, row.x, l->label, here ? STYLE_TITLE : STYLE_TEXT, "%s%s", here ? ">" : " ",
                  text);
}

static void draw_row(const Paint *p, const Lens *l, int row, Rect r, bool focus)
{
    char label[32];
    Shown v;
    bool here = row == l->row, brief = l->label != LABEL;
    bool there = shown_answer(p->s, l->side, lens_path(p->s, l->side, row), &v) && v.count == l->classes;
    if (row == LENS_START)
        snprintf(label, sizeof label, brief ? "start" : "before block 0");
    else if (row == l->blocks)
        snprintf(label, sizeof label, "%s", !brief ? "the answer" : l->label == LABEL_SHORT ? "end" : "answer");
    else
        snprintf(label, sizeof label, "%s%d", !brief ? "after block " : l->label == LABEL_SHORT ? "" : "block ", row);
    draw_label(p, l, r, here, label);
    if (there)
        draw_values(p, l, &v, r, here, focus);
    else
        canvas_text(p->c, r.y + r.h - 1, r.x + l->label, r.w - l->label, STYLE_DIM,
                    l->side == SIDE_DIFF ? "not on both sides" : "-");
}

/* How many rows are off the top and off the bottom, in as many words as there is room for. Returns whether any is. */
static bool draw_more(const Paint *p, Rect r, int above, int below)
{
    const char *where = above ? "above" : "below";
    char text[3][64];
    int k = 0;
    utf8_print(text[0], sizeof text[0], "%d more %s", above + below, where);
    utf8_print(text[1], sizeof text[1], "%d %s", above + below, where);
    if (above && below) {
        utf8_print(text[0], sizeof text[0], "%d up, %d below", above, below);
        utf8_print(text[1], sizeof text[1], "%d+%d more", above, below);
    }
    utf8_print(text[2], sizeof text[2], below ? "+%d" : "%d up", above + below);
    while (k < 2 && utf8_cells(text[k]) > r.w)
        k++;
    if (above || below)
        canvas_text(p->c, r.y, r.x, r.w, STYLE_DIM, text[k]);
    return above || below;
}

/* Names that are wider than their columns stand in two lines by turns. */
static void draw_header(const Paint *p, const Lens *l, Rect r, int before, int behind)
{
    char name[64];
    const int last = r.y + r.h - 1;
    const bool more_rows = draw_more(p, (Rect){last, r.x + 1, 1, l->label - 2}, before, behind);
    if (l->name)
        canvas_text(p->c, last, r.x + l->label, l->name - 1, STYLE_HEADER, "names");
    if (l->share)
        canvas_right(p->c, last, r.x + l->label + l->name, l->share - 1, STYLE_HEADER, "prob.");
    for (int i = 0; i < l->columns; i++) {
        bool above = r.h > 1 && (l->columns - i) % 2 == 0;
        int x = column_x(l, r, i),
            free = i > 0                              ? l->width - 1
                   : above                            ? x - r.x
                   : l->name || l->share || more_rows ? 0
                                                      : l->label,
            more = r.h > 1 ? free : 0;
        canvas_right(p->c, above ? r.y : last, x + 1 - more, l->width - 1 + more, STYLE_HEADER,
                     classes_label(&l->answer, l->column[i], l->width - 1 + more, name, sizeof name));
    }
}

static bool names_are_wide(const Lens *l)
{
    char name[64];
    for (int i = 0; i < l->columns; i++)
        if (utf8_cells(classes_name(&l->answer, l->column[i], name, sizeof name)) >= l->width)
            return true;
    return false;
}

/* --- below --- */
static void draw_other(const Paint *p, const Lens *l, Rect r)
{
    Shown v;
    if (!shown_answer(p->s, l->side, l->other, &v) || v.count != l->classes)
        return;
    bool mean = readout_used(session_exhibit(p->s, l->side)->model) == READOUT_CLASS_TOKEN;
    const char *const called = l->label == LABEL ? "patch mean" : l->label == LABEL_SHORT ? "patch" : "patches";
    draw_label(p, l, r, false, mean ? called : l->label == LABEL ? "class token" : "cls");
    draw_values(p, l, &v, r, false, false);
}

/* The block from which on every row names the answer, or −1 while something is missing. */
static int settled(const Lens *l)
{

    int from = 0;
    if (!l->answer.values)
        return -1;
    size_t best = classes_best(l->answer.values, l->classes);
    for (int row = 0; row < l->blocks; row++) {
        Shown v; /* the row of the token in focus, where every token has its answer */
        if (!shown_answer(l->s, l->side, lens_path(l->s, l->side, row), &v) || !v.values || v.count != l->classes)
            return -1;
        if (classes_best(v.values, l->classes) != best)
            from = row + 1;
    }
    return from;
}

/* How often it is right there: what a name after block 0 is worth. Known of the bundled model. */
static void draw_lens_shares(const Paint *p, const Lens *l, Rect line)
{
    char text[96] = "";
    int n = 0;
    const size_t over = session_figures_over(l->s);
    double margin = 0;
    if (!session_lens_known(l->s, l->blocks) || !session_as_trained(l->s, l->side))
        return;
    for (int i = 1; i <= l->blocks; i++) {
        const size_t right = session_figure(l->s, FIGURE_LENS, i).right;
        const Interval about = interval_wilson(right, over);
        margin = about.high - about.low > 2 * margin ? (about.high - about.low) / 2 : margin;
        n += utf8_print(text + n, sizeof text - (size_t)n, "%s%.0f", i > 1 ? " " : "",
                        100 * (double)right / (double)over);
    }
    char says[160], about[48];
    utf8_print(about, sizeof about, " of %zu (±%.0f).", over, 100 * margin);
    static const char *const WORDS[] = {"Right after each block", "Right by block", "Right"};
    for (int k = 0; k < 2 * 3; k++) { /* the first that has room; without its interval where none has */
        utf8_print(says, sizeof says, " %s: %s %%%s", WORDS[k % 3], text, k < 3 ? about : "");
        if (utf8_cells(says) <= line.w) {
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, says);
            return;
        }
    }
}

static void draw_settled(const Paint *p, const Lens *l, Rect line)
{
    char name[64];
    int from = settled(l);
    if (from < 0 || l->side == SIDE_DIFF)
        return;
    if (isnan(l->answer.values[classes_best(l->answer.values, l->classes)])) {
        canvas_text(p->c, line.y, line.x, line.w, STYLE_WARNING,
                    line.w >= 40 ? "It names nothing: its answer is not a number." : "the answer is no number");
        return;
    }
    classes_name(&l->answer, classes_best(l->answer.values, l->classes), name, sizeof name);
    int used = line.w; /* no room for more */
    if (from == l->blocks)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_SENTENCE, "It names %s at the end only.", name);
    else if (line.w < 40)
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_SENTENCE, "%s from block %d on", name, from);
    else
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_SENTENCE, "It names %s from block %d on.", name, from);
    draw_lens_shares(p, l, (Rect){line.y, line.x + used, 1, line.w - used});
}

/* Why nothing is known, in as many words as there is room for. */
static void put_why(const Paint *p, const char *why, Rect line)
{
    static const char BEFORE[] = "how often it is right: ";
    const int cells = utf8_cells(why), first = (int)strcspn(why, ";");
    if ((int)sizeof BEFORE - 1 + cells <= line.w)
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%s%s", BEFORE, why);
    else if (cells <= line.w)
        canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, why);
    else if (first <= line.w)
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "%.*s", first, why);
}

/* The interval alone, in one line or two. Returns the columns used of the first. */
static int draw_narrow(const Paint *p, const Measure *m, Rect line)
{
    static const char *const OF[] = {"of %zu held-out pictures", "of %zu pictures", "of %zu"};
    const Interval about = interval_wilson(m->right[0], m->pictures);
    char of[48];
    const int used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT,
                                   line.h > 1 ? "%.1f–%.1f %% named right" : "%.1f–%.1f %% right", 100 * about.low,
                                   100 * about.high),
              room = line.h > 1 ? line.w : line.w - used - 1;
    for (int i = 0; i < 3; i++)
        if (utf8_print(of, sizeof of, OF[i], m->pictures) <= room)
            return canvas_text(p->c, line.y + (line.h > 1), line.x + line.w - room, room, STYLE_TEXT, of) + used + 1;
    return used;
}

static void draw_accuracy(const Paint *p, Side side, Rect line)
{
    const char *why;
    const Measure *m = session_measure(p->s, MEASURE_READOUT, &why);
    char cls[48] = "", mean[48] = "";
    int used = 0;
    if (!session_as_trained(p->s, side)) {
        if (side == SIDE_B && line.w >= NARROW)
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, "Accuracy is measured as trained only.");
        return;
    }
    if (m && m->whole) {
        measure_share_text(m->right[0], m->pictures, cls, sizeof cls);
        measure_share_text(m->right[1], m->pictures, mean, sizeof mean);
    }
    if (why)
        put_why(p, why, line);
    else if (!m || !m->whole)
        canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "both read-outs over many pictures: measured %zu of %zu",
                      m ? m->done : 0, m ? m->total : 0);
    else if (line.w < NARROW)
        used = draw_narrow(p, m, line);
    else if (line.w < 72)
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT,
                             line.w >= 48 ? "right of %zu pictures: %s" : "right of %zu: %s", m->pictures, cls);
    else
        used = canvas_printf(p->c, line.y, line.x, line.w, STYLE_TEXT,
                             line.w >= 86 ? "%zu pictures: class token %s, patch mean %s right"
                                          : "Right of %zu: class token %s, mean %s",
                             m->pictures, cls, mean);
    if (used && m->done < m->total && line.w - used >= 15)
        canvas_printf(p->c, line.y, line.x + used, line.w - used, STYLE_STRONG, "  measured %d %%",
                      (int)(100 * (double)m->done / (double)m->total));
}

/* The lines where there is room, header, rows, the other read-out, two lines of text. */
typedef struct Layout {
    Rect plot, header, rows, other, settled, accuracy;
    int first, shown; /* the first row shown, and how many */
} Layout;

/* A deep model's rows scroll. */
static Layout layout(const Lens *l, Rect r)
{
    int wanted = l->blocks + 1 - l->first, wide = names_are_wide(l),
        fixed = LINES_BELOW + 2 + wide + (l->other != NULL);
    int spare = r.h - fixed - (wanted < r.h / 3 ? wanted : r.h / 3);
    Layout a = {
        .plot = rect_cut(&r, 't', l->columns && r.w >= LENS_LINES_WIDE && spare >= LENS_LINES_TALL ? spare : 0)};
    if (r.h >= 3)
        a.header = rect_cut(&r, 't', 1 + (wide && r.h > fixed));
    int text = LINES_BELOW + 1, rest = r.h - wanted > text || r.h < 7 ? r.h - wanted : text;
    Rect below = rect_cut(
        &r, 'b',
        clamp(rest, 0, text + 1 + (r.w < NARROW))); /* a blank line before the other read-out where there is room */
    a.rows = r;
    if (a.rows.h > wanted) {
        below.y -= a.rows.h - wanted;
        a.rows.h = wanted;
    }
    a.shown = a.rows.h;
    a.first = l->first +
              (int)scroll_first((size_t)wanted, (size_t)(l->row - l->first), (size_t)(a.shown > 0 ? a.shown : 1));
    if (below.h > text)
        rect_cut(&below, 't', 1);
    if (l->other)
        a.other = rect_cut(&below, 't', 1);
    a.settled = rect_cut(&below, 't', 1);
    a.accuracy = rect_cut(&below, 't', r.w < NARROW && below.h > 1 ? 2 : 1);
    return a;
}

static void draw_lens(const Paint *p, const Lens *l, Rect r, bool focus)
{
    Layout a = layout(l, r);
    const LensLines lines = {l->s, l->side, l->blocks, l->first, l->row, l->classes, l->picked, l->order, l->sides};
    if (a.plot.h)
        lens_lines_draw(p, &lines, a.plot);
    if (a.header.h)
        draw_header(p, l, a.header, a.first - l->first,
                    l->blocks + 1 > a.first + a.shown ? l->blocks + 1 - a.first - a.shown : 0);
    for (int i = 0; i < a.shown && a.first + i <= l->blocks; i++)
        draw_row(p, l, a.first + i, (Rect){a.rows.y + i, a.rows.x, 1, a.rows.w}, focus);
    if (a.other.h)
        draw_other(p, l, a.other);
    if (a.settled.h)
        draw_settled(p, l, a.settled);
    if (a.accuracy.h)
        draw_accuracy(p, l->side, a.accuracy);
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    Lens l;
    if (lens_tokens_on(p->s, side))
        lens_tokens_draw(p, side, r, focus);
    else if (open_lens(p->s, side, r.w, &l))
        draw_lens(p, &l, r, focus);
    else
        canvas_wrap(p->c, r, STYLE_DIM,
                    side == SIDE_DIFF ? "A and B have no classes in common to subtract."
                    : shown_input(p->s, side)->kind == INPUT_TEXT
                        ? "This model has no answer in words: it ends with its tokens."
                        : "This model has no classes: it ends with its tokens.");
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{

    Lens l;
    needs_add(out, side, shown_site(s, side, SITE_PROBS));
    if (s->compare == COMPARE_SIDES && session_compares(s))
        needs_add(out, SIDE_DIFF, shown_site(s, SIDE_DIFF, SITE_PROBS));
    if (lens_tokens_on(s, side)) {
        lens_tokens_need(s, side, r, out);
        return;
    }
    if (!open_lens(s, side, r.w, &l))
        return;
    Layout a = layout(&l, r);
    for (int i = 0; i < a.shown && a.first + i < l.blocks; i++)
        needs_add(out, side, lens_path(s, side, a.first + i));
    if (l.other)
        needs_add(out, side, l.other);
    for (int row = l.first; row <= l.blocks && a.plot.h; row++) {
        needs_add(out, side, lens_mid(s, side, row));
        needs_add(out, side, lens_logits(s, side, row));
    }
    for (int row = 0; row < l.blocks && side != SIDE_DIFF;
         row++) /* the sentence reads them all; those on screen came first */
        needs_add(out, side, lens_path(s, side, row));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    Lens l;
    if (lens_tokens_on(p->s, side))
        return lens_tokens_click(p->s, side, r, y, x, command);
    if (!open_lens(p->s, side, r.w, &l))
        return false;
    Layout a = layout(&l, r);
    bool on_row = rect_has(a.rows, y, x);
    int row = on_row ? a.first + y - a.rows.y : 0, column = x - column_x(&l, r, 0);
    column = column < 0 || column / l.width >= l.columns ? -1 : column / l.width;
    size_t o = column < 0 ? l.picked : l.column[column];
    if (rect_has(a.other, y, x)) {
        buf_printf(command, "goto %s[o=%zu]", l.other, o);
        return true;
    }
    if (!on_row || row > l.blocks)
        return false;
    if (row == l.row && o == l.picked)
        buf_puts(command, "in");
    else if (row == l.blocks)
        buf_printf(command, "lens answer %zu", o);
    else if (row == LENS_START)
        buf_printf(command, "lens start %zu", o);
    else
        buf_printf(command, "lens %d %zu", row, o);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    if (lens_tokens_on(s, side))
        buf_puts(out, "named after each block, behind every token\nlens by tokens");
    else
        buf_puts(out, side == SIDE_DIFF ? "logits and points, after each block\nlens" : "named after each block\nlens");
}

static const KeyBinding KEYS[] = {{"Up", "move up", "move", "behind the block before", KEY_COUNTS, 2, NULL},
                                  {"Down", "move down", NULL, "behind the next block", KEY_COUNTS, 0, NULL},
                                  {"Left", "move left", NULL, "the class, or by tokens the token, before", KEY_COUNTS,
                                   0, NULL},
                                  {"Right", "move right", NULL, "the next class, or token", KEY_COUNTS, 0, NULL},
                                  {.key = NULL}};

static const ViewWay WAYS[] = {{"classes   one answer, class by class", "option lens-tokens off"},
                               {"tokens    of a text: the word named behind every token", "option lens-tokens on"},
                               {NULL, NULL}};

VIEW_SPEC(LENS, .name = "lens", .traits = VIEW_WIDE,
          .sentence = "What the model would answer if it ended here, block by block.", .keys = KEYS, .ways = WAYS);
