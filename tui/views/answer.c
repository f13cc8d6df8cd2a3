/* What the model answers: classes by probability; with edits or a pinned A a line for each with both values as dots and
 * the way between them, what changed most first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/difference.h"
#include "core/session/learned/measures.h"
#include "tui/views/answer.h"
#include "tui/views/answer_list.h"
#include "tui/views/answer_table.h"

enum {
    MOVED_FROM = 2, /* lines from the words on: those left out, a blank one */
    WORDS_ENOUGH = 6,
    PITCH_MOST = 5,
    TWO_LINES = 3, /* … of a class with its logits, and a blank one */
    SURE_LEAST = 14,
    SURE_CELLS = 40,
    LEGEND_CELLS = 11,
    ROUNDED_CELLS = 20 /* of what ≈ says, blanks around it */
};
enum {
    NOTE_LEAST = 6,
    MORE_LEAST = 4,
    SAID_LEAST = 12
}; /* lines of the pane, of classes from which on one says how many more there are, or what ≈ is */

static int put_column(const Paint *p, const Shown *v, size_t i, int y, int x, int width, Style style)
{
    if (width && v->values)
        shown_number_right(p, v, i, y, x + 1, width - 1, style);
    return x + width;
}

static int put_share(const Paint *p, const AnswerTable *t, const Shown *v, size_t i, int y, int x, int width,
                     Style style)
{
    if (width && v->values)
        shown_share_to(p, v, i, y, x + 1, width - 1, style, t->decimals);
    return x + width;
}

/* A number as it is printed; NaN: not as digits. */
static double printed(void (*text)(char *out, size_t n, float x, int decimals), float x, int decimals)
{
    char out[32], *end;
    text(out, sizeof out, x, decimals);
    double value = strtod(out, &end);
    return end == out ? (double)NAN : value;
}

static const char ROUNDED[] = "≈ before rounding";

/* Has the header room to say what ≈ is? Where it has not, nor the line of the note, there is none. */
static bool says_rounded(const AnswerTable *t)
{
    return t->compares && t->columns.bar >= LEGEND_CELLS + ROUNDED_CELLS + FULL_CELLS;
}

/* ≈ before A − B where that is not the difference of the two as they stand rounded beside it; was it put? */
static bool mark_rounded(const Paint *p, const AnswerTable *t, size_t i, int y, int x, int width, Style style)
{
    if (!width || !(says_rounded(t) || t->told_below) || !t->a.values || !t->b.values || !t->diff.values)
        return false;
    char text[32];
    points_text_to(text, sizeof text, t->diff.values[i], t->decimals);
    const double points = printed(points_text_to, t->diff.values[i], t->decimals), /* NaN: less than is printed */
        apart = printed(share_text_to, t->a.values[i], t->decimals) -
                printed(share_text_to, t->b.values[i], t->decimals) - (isnan(points) ? 0 : points);
    const int left = width - 1 - utf8_cells(text);
    const bool marked = fabs(apart) > 50 * share_unit(t->decimals) && left > 0;
    if (marked)
        canvas_glyph(p->c, y, x + left, style, 0x2248);
    return marked;
}

/* Both values as dots, and the way between them: of the probabilities or of the logits. */
static void draw_way(const Paint *p, const AnswerTable *t, size_t i, int y, int x, int width, Style style, bool logit)
{
    const Shown *from_a = logit ? &t->of_a : &t->a, *to_b = logit ? &t->of_b : &t->b;
    if (!from_a->values || !to_b->values)
        return;
    float a = logit ? answer_logit_share(t, from_a->values[i]) : from_a->values[i] / t->full,
          b = logit ? answer_logit_share(t, to_b->values[i]) : to_b->values[i] / t->full;
    if (!isfinite(a) || !isfinite(b))
        return;
    int from = (int)(fminf(fmaxf(a, 0), 1) * (float)(width - 1) + 0.5F);
    int to = (int)(fminf(fmaxf(b, 0), 1) * (float)(width - 1) + 0.5F);
    if (logit && answer_logit_zero(t, width))
        canvas_glyph(p->c, y, x + (int)(answer_logit_share(t, 0) * (float)(width - 1) + 0.5F), STYLE_AXIS, 0x2502);
    for (int k = (from < to ? from : to) + 1; k < (from < to ? to : from); k++) {
        const Cell *zero = canvas_at(p->c, y, x + k);
        canvas_glyph(p->c, y, x + k, style, zero && zero->ch == 0x2502 ? 0x253c : 0x2500);
    }
    bool here = style == STYLE_SELECTED; /* the marked line has no holes: the dots' shapes tell A from B */
    canvas_glyph(p->c, y, x + from, here ? style : STYLE_SIDE_A, 0x25cb);
    canvas_ref(p->c, y, x + from, 1, shown_ref(from_a, i));
    canvas_glyph(p->c, y, x + to, here ? style : STYLE_SIDE_B, from == to ? 0x25c9 : 0x25cf); /* both in one */
    canvas_ref(p->c, y, x + to, 1, shown_ref(to_b, i));
}

/* Below the last way of logits: the ends of their scale, and its zero. */
static void draw_ends(const Paint *p, const AnswerTable *t, Rect r)
{
    char low[16], high[16];
    const int zero = answer_logit_zero(t, r.w);
    snprintf(low, sizeof low, "%.3g", (double)t->lowest);
    snprintf(high, sizeof high, "%.3g", (double)(t->lowest + t->widest));
    const int left = zero ? (int)strlen(low) : 0, right = (int)strlen(high);
    if (!(t->widest > 0) || left + right + 5 > r.w)
        return;
    if (zero)
        canvas_text(p->c, r.y, r.x, left, STYLE_AXIS, low);
    if (!zero || (zero > left && zero + 1 < r.w - right))
        canvas_text(p->c, r.y, r.x + (int)(answer_logit_share(t, 0) * (float)(r.w - 1) + 0.5F), 1, STYLE_AXIS, "0");
    canvas_right(p->c, r.y, r.x, r.w, STYLE_AXIS, high);
}

/* The logits below the probabilities: where these are 0 or 1 on both sides, they tell what moved. */
static void draw_logits(const Paint *p, Rect line, const AnswerTable *t, size_t i)
{
    const AnswerColumns *c = &t->columns;
    int x = line.x + 1;
    canvas_right(p->c, line.y, x, c->name, STYLE_DIM, "logit");
    x += c->name;
    if (c->bar) {
        draw_way(p, t, i, line.y, x + 1, c->bar, STYLE_TEXT, true);
        x += c->bar + 1;
    }
    x = put_column(p, &t->of_a, i, line.y, x, c->a, STYLE_DIM);
    x = put_column(p, &t->of_b, i, line.y, x, c->b, STYLE_DIM);
    put_column(p, &t->of_diff, i, line.y, x, c->change, STYLE_DIM);
}

/* Is a ≈ in its line? */
static bool draw_class(const Paint *p, Rect lines, const AnswerTable *t, size_t i, bool here)
{
    const AnswerColumns *c = &t->columns;
    Rect line = {lines.y, lines.x, 1, lines.w};
    Style style = here ? STYLE_SELECTED : STYLE_TEXT;
    int thick = t->compares || lines.h < 2 ? 1 : lines.h - 1; /* lines of a bar; one stays empty below */
    char name[64];
    if (here) {
        canvas_fill(p->c, (Rect){line.y, line.x, thick, line.w}, STYLE_SELECTED, ' ');
        canvas_glyph(p->c, line.y, line.x, STYLE_SELECTED, '>');
    }
    int x = line.x + 1;
    canvas_label(p->c, line.y, x, c->name, style, classes_name(&t->shown, i, name, sizeof name));
    x += c->name;
    if (c->bar && t->compares) {
        draw_way(p, t, i, line.y, x + 1, c->bar, style, false);
        x += c->bar + 1;
    } else if (c->bar) {
        float share = t->shown.values[i] / t->full;
        for (int k = 0; k < thick; k++)
            canvas_bar(p->c, line.y + k, x + 1, c->bar, isfinite(share) ? (double)share : 0, style,
                       shown_ref(&t->shown, i));
        x += c->bar + 1;
    }
    x = put_share(p, t, &t->shown, i, line.y, x, c->p, style);
    x = put_share(p, t, &t->a, i, line.y, x, c->a, style);
    x = put_share(p, t, &t->b, i, line.y, x, c->b, style);
    const bool rounded = mark_rounded(p, t, i, line.y, x, c->change, style);
    x = put_share(p, t, &t->diff, i, line.y, x, c->change, style);
    if (t->has_logits && c->logit_bar)
        answer_logit_bar(p, t, i, (Rect){line.y, x + 1, lines.h, c->logit_bar}, thick);
    if (t->has_logits)
        put_column(p, &t->logits, i, line.y, x + (c->logit_bar ? c->logit_bar + 1 : 0), c->logit,
                   here ? STYLE_SELECTED : STYLE_DIM);
    if (t->both_logits && lines.h >= TWO_LINES)
        draw_logits(p, (Rect){line.y + 1, line.x, 1, line.w}, t, i);
    return rounded;
}

/* What the model answers with: a class, the word that comes next, or, where it writes none, the word that is there. */
static const char *answer_kind(const Session *s, Side side, int room)
{
    const Graph *g = shown_graph(s, side);
    if (shown_input(s, side)->kind != INPUT_TEXT)
        return "class";
    return graph_role(g, ROLE_QUERY, SEQUENCE_TARGET) == AXIS_NONE || room < 9 ? "word" : "next word";
}

/* What the dots are, as long as there is room; false: which one is A's the columns say. */
static bool draw_dots(const Paint *p, Rect r, bool rounded)
{
    enum { PARTS = 5 };
    static const char *const FORMS[][PARTS] = {{"○ A", " ── ", "● B", "  ◉", " both"},
                                               {"○A", " ", "●B", " ◉", " both"},
                                               {"○ A", " ── ", "● B", "", ""},
                                               {"", "", "", "◉", " both"}};
    static const Style STYLES_OF[PARTS] = {STYLE_SIDE_A, STYLE_AXIS, STYLE_SIDE_B, STYLE_SIDE_B, STYLE_AXIS};
    enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };
    int used = 0;
    for (int k = 0; k < FORM_COUNT; k++) {
        const bool dots = k < FORM_COUNT - 1;
        int cells = rounded && dots ? ROUNDED_CELLS - 1 : 0;
        for (int i = 0; i < PARTS; i++)
            cells += utf8_cells(FORMS[k][i]);
        for (int i = 0; i < PARTS && cells < r.w; i++)
            used += canvas_text(p->c, r.y, r.x + used, r.w, STYLES_OF[i], FORMS[k][i]);
        if (used && rounded && dots)
            canvas_text(p->c, r.y, r.x + used + 2, r.w - used - 2, STYLE_DIM, ROUNDED);
        if (used)
            return dots;
    }
    return false;
}

static void draw_header(const Paint *p, Rect line, const AnswerTable *t, const char *kind, bool rounded)
{
    const AnswerColumns *c = &t->columns;
    char full[16];
    int x = line.x + 1 + c->name + (c->bar ? c->bar + 1 : 0);
    utf8_print(full, sizeof full, "to %.3g %%", 100 * (double)t->full); /* what a bar of full length stands for */
    const bool scaled = t->full < 1 || c->bar >= FULL_CELLS + (t->compares ? LEGEND_CELLS : 0);
    const int scale = scaled ? utf8_cells(full) : 0;
    if (scaled)
        canvas_right(p->c, line.y, line.x + 1 + c->name, c->bar + 1, STYLE_AXIS, full);
    const bool small = t->compares && c->bar && /* the columns are the legend */
                       !draw_dots(p, (Rect){line.y, line.x + c->name + 2, 1, c->bar - scale}, rounded);
    const struct {
        int width;
        const char *word;
    } column[] = {{c->p, "prob."},
                  {c->a, small ? "○ A" : "A"},
                  {c->b, small ? "● B" : "B"},
                  {c->change, c->change > NUMBER_SMALL ? "A−B points" : "A−B"},
                  {c->logit_bar ? c->logit_bar + 1 : 0, ""},
                  {c->logit, "logit"}};
    canvas_text(p->c, line.y, line.x + 1, c->name, STYLE_HEADER, kind);
    if (c->logit_bar)
        answer_logit_range(p, t, (Rect){line.y, x + c->p + 1, 1, c->logit_bar});
    for (size_t k = 0; k < sizeof column / sizeof *column; k++) {
        if (*column[k].word && column[k].width)
            canvas_right(p->c, line.y, x + 1, column[k].width - 1, STYLE_HEADER, column[k].word);
        x += column[k].width;
    }
}

/* The class that the picture of a side was drawn as, or −1. A difference is of two pictures or of none. */
static int label_of(const Session *s, const Shown *v, Side side)
{
    const Exhibit *e = session_exhibit(s, side);
    int label = side == SIDE_DIFF || !e->model || !e->model->drawn_shapes ? -1 : e->input.label;
    return label >= 0 && (size_t)label < v->count ? label : -1;
}

/* What an answer of that probability was worth over many pictures, where there is room for it. */
static bool sure_of(const Session *s, const Shown *v, Side side, Rect r, char out[SURE_TEXT])
{
    return r.h >= SURE_LEAST && v->values &&
           session_sure_text(s, side, v->values[classes_best(v->values, v->count)], out);
}

/* Where the classes leave room, and the line at the bottom has none for the whole of it. */
static const char *note_of(const Paint *p, Rect r, char about[SESSION_NOTE])
{
    const char *note = session_model_note(p->s, about);
    return r.h >= NOTE_LEAST && utf8_cells(note) <= r.w && !answer_line_notes(p) ? note : "";
}

/* Is there a line for what the picture is? Not where the classes without it just fit: its title says that too. */
static bool labelled(const Session *s, const Shown *v, Side side, Rect r)
{
    return r.h >= 6 && label_of(s, v, side) >= 0 && (size_t)r.h != v->count + 1;
}

/* The notes under the classes: what the answer is worth, and what the picture is, or both. */
static void draw_notes(const Paint *p, Rect *r, const AnswerTable *t, Side side)
{
    const Session *s = p->s;
    const Shown *v = &t->shown;
    char sure[SURE_TEXT];
    if (sure_of(s, v, side, *r, sure)) {
        Rect line = rect_cut(r, 'b', 1);
        const char *open = strchr(sure, '('), *close = open ? strchr(open, ')') : NULL;
        if (close && utf8_cells(sure) > line.w) /* the interval alone */
            canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM,
                          line.w >= SURE_CELLS ? "of answers as sure %.*s %% are right" : "right: %.*s %%",
                          (int)(close - open - 1), open + 1);
        else
            canvas_text(p->c, line.y, line.x, line.w, STYLE_DIM, sure);
    }
    char about[SESSION_NOTE];
    const char *note = note_of(p, *r, about);
    if (*note) {
        Rect line = rect_cut(r, 'b', 1);
        canvas_text(p->c, line.y, line.x, line.w, STYLE_WARNING, note);
    }
    int label = label_of(s, v, side);
    if (labelled(s, v, side, *r)) {
        Rect line = rect_cut(r, 'b', 1);
        char name[64], before[64];
        int a = t->compares ? label_of(s, v, SIDE_A) : -1;
        classes_name(v, (size_t)label, name, sizeof name);
        if (a >= 0 && a != label)
            canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "drawn as: A %s, B %s",
                          classes_name(v, (size_t)a, before, sizeof before), name);
        else
            canvas_printf(p->c, line.y, line.x, line.w, STYLE_DIM, "drawn as: %s", name);
    }
}

/* The class in focus: the data cursor on the class axis. Beside another screen no class is marked, so that none but the
 * best is taken for the answer. */
static bool class_marked(const Paint *p, bool focus)
{
    return focus || (view_now(p->s)->traits & VIEW_CLASSES);
}

/* Has the line of the model's note room for what ≈ says, and the header none? */
static bool in_note(const Paint *p, const AnswerTable *t, Rect r)
{
    char about[SESSION_NOTE];
    const char *note = note_of(p, r, about);
    return *note && !says_rounded(t) && utf8_cells(note) + ROUNDED_CELLS <= r.w;
}

/* Everything but the classes' own lines. Rest: where the classes go. */
static Rect class_lines(const Paint *p, Rect r, const AnswerTable *t, Side side)
{
    const Session *s = p->s;
    const Shown *v = &t->shown;
    const bool line = t->compares && !says_rounded(t) && !in_note(p, t, r); /* for what ≈ says */
    char about[SESSION_NOTE], sure[SURE_TEXT];
    if (sure_of(s, v, side, r, sure))
        rect_cut(&r, 'b', 1);
    if (*note_of(p, r, about))
        rect_cut(&r, 'b', 1);
    if (labelled(s, v, side, r))
        rect_cut(&r, 'b', 1);
    if (r.h >= 3)
        rect_cut(&r, 't', 1);
    const bool all = r.h >= MORE_LEAST && v->count < 2 * (size_t)r.h; /* could be taken for all of them */
    if ((size_t)r.h < v->count && (all || (line && r.h >= SAID_LEAST)))
        rect_cut(&r, 'b', 1);
    return r;
}

/* Where every class has room for two lines or three, it has them; for more of them where they make its bar thicker. */
static void pitch_of(AnswerTable *t, Rect lines)
{
    int pitch = t->shown.count && t->shown.count <= (size_t)lines.h ? lines.h / (int)t->shown.count : 1;
    t->pitch = clamp(pitch, 1, t->compares ? TWO_LINES : PITCH_MOST);
}

/* Below the words has room where A and B part: of many words that hardly moved only as many as leave it that, each with
 * its logits where there is room for those. Cut from the lines; where nothing stands below, all of them are the words'
 * but that of how many there are. */
static Rect cut_moved(AnswerTable *t, Rect *lines, bool marked)
{
    const bool change = t->compares && t->a.values && t->b.values && t->diff.values && t->diff.count == t->shown.count;
    if (!change || t->shown.count <= (size_t)lines->h)
        return (Rect){0};
    Rect moved = *lines;
    const Ranking order = {t->diff.values, t->shown.count, true};
    const int wanted = answer_moved_lines(t, lines->w), least = listing_least(t, order, lines->h, marked),
              rest = lines->h - MOVED_FROM - wanted;
    if (!wanted || lines->h - least - MOVED_FROM < ANSWER_MOVED_LEAST) {
        const bool all = t->shown.count < 2 * (size_t)lines->h; /* class_lines left the line */
        lines->h -= !all && lines->h >= LISTING_GAP_LEAST && lines->h < SAID_LEAST;
        return (Rect){0};
    }
    const int seen = listing_most(t, order), most = seen > least ? seen : least,
              enough = most < WORDS_ENOUGH || least > WORDS_ENOUGH ? most : WORDS_ENOUGH;
    t->pitch = t->both_logits && rest >= TWO_LINES * enough ? TWO_LINES : 1;
    lines->h = t->pitch * clamp(rest / t->pitch, least, most);
    rect_cut(&moved, 't', lines->h + MOVED_FROM);
    return moved;
}

/* Have A and B answers that can't be subtracted? Then each has a list of its own, beside each other. */
static bool apart(const Session *s)
{
    return session_compares(s) && s->compare == COMPARE_SIDES &&
           session_node(s, SIDE_DIFF, shown_site(s, SIDE_B, SITE_PROBS)) == NO_NODE;
}

static void draw_side(const Paint *p, Rect r, Side side, bool focus)
{
    AnswerTable t;
    if (!answer_table_open(p->s, side, r.w, &t))
        answer_draw_vector(p, r, side);
    else if (!t.shown.values)
        shown_computing(p, r);
    else {
        bool marked = class_marked(p, focus);
        Rect lines = class_lines(p, r, &t, side), rest = r;
        draw_notes(p, &rest, &t, side);
        pitch_of(&t, lines);
        const int top = lines.y;
        bool rounded = false;
        char sure[SURE_TEXT];
        const Rect moved = cut_moved(&t, &lines, marked);
        const int listed = lines.h / t.pitch;
        const bool all = (size_t)listed >= t.shown.count;
        const int end = lines.y + (all ? t.pitch * (int)t.shown.count : lines.h);
        Rect below = {r.y + r.h - 1 - sure_of(p->s, &t.shown, side, r, sure), r.x, 1, r.w};
        t.told_below = in_note(p, &t, r);
        if (!t.told_below && !says_rounded(&t) && r.w >= 2 * ROUNDED_CELLS && end < rest.y + rest.h) {
            t.told_below = true; /* behind how many more there are */
            below.y = end;
        }
        Listing l = listing_open(&t, listed, marked);
        for (int y = lines.y; y + t.pitch <= lines.y + lines.h && l.now < t.shown.count;
             y += t.pitch, listing_next(&l)) {
            bool here = marked && l.now == t.shown.cell;
            if (listing_gap(&l)) {
                canvas_printf(p->c, y, lines.x + 1, lines.w - 1, STYLE_DIM, "%zu more", l.hidden);
                continue;
            }
            rounded |= draw_class(p, (Rect){y, lines.x, t.pitch, lines.w}, &t, l.now, here);
            focus_cursor(p, focus && here, y, lines.x);
        }
        if (t.both_logits && t.pitch >= TWO_LINES)
            draw_ends(p, &t, (Rect){end - 1, lines.x + t.columns.name + 2, 1, t.columns.bar});
        if (rounded && t.told_below)
            canvas_right(p->c, below.y, below.x, below.w, STYLE_DIM, ROUNDED);
        if (top > r.y)
            draw_header(p, (Rect){r.y, r.x, 1, r.w}, &t,
                        !apart(p->s)     ? answer_kind(p->s, side, t.columns.name)
                        : side == SIDE_A ? "A"
                                         : "B",
                        rounded && !t.told_below);
        char more[80];
        const int room = lines.w - 1 - (rounded && t.told_below && below.y == end ? ROUNDED_CELLS : 0);
        if (!l.hidden && end < rest.y + rest.h && !all)
            canvas_text(p->c, end, lines.x + 1, lines.w - 1, STYLE_DIM,
                        listing_more(&t, &l, listed, room, more, sizeof more));
        answer_moved_draw(p, &t, moved);
    }
}

static void draw(const Paint *p, Rect r, Side side, bool focus)
{
    if (apart(p->s) && !(difference_likeness_peek(p->s) && !shown_site(p->s, SIDE_B, SITE_PROBS))) {
        draw_side(p, rect_cut(&r, 'l', r.w / 2), SIDE_A, false);
        side = SIDE_B;
    }
    if (r.w > 0)
        draw_side(p, r, side, focus);
}

static void needs(const Session *s, Side side, Rect r, Needs *out)
{
    (void)r;
    Side one = side == SIDE_DIFF ? SIDE_B : side;
    needs_add(out, one, shown_site(s, one, SITE_PROBS));
    needs_add(out, one, shown_site(s, one, SITE_LOGITS));
    for (int k = SIDE_A; k <= SIDE_DIFF && session_compares(s); k++) {
        needs_add(out, (Side)k, shown_site(s, (Side)k, SITE_PROBS));
        needs_add(out, (Side)k, shown_site(s, (Side)k, SITE_LOGITS));
    }
    if (apart(s))
        needs_add(out, SIDE_A, shown_site(s, SIDE_A, SITE_LOGITS));
}

static bool click(const Paint *p, Rect r, Side side, int y, int x, Buf *command)
{
    AnswerTable t;
    if (apart(p->s)) {
        Rect left = rect_cut(&r, 'l', r.w / 2);
        side = x < left.x + left.w ? SIDE_A : SIDE_B;
        r = side == SIDE_A ? left : r;
    }
    if (!answer_table_open(p->s, side, r.w, &t) || !t.shown.values)
        return false;
    Rect lines = class_lines(p, r, &t, side);
    pitch_of(&t, lines);
    const Rect moved = cut_moved(&t, &lines, class_marked(p, false));
    if (rect_has(moved, y, x))
        return answer_moved_click(p, &t, moved, y, command);
    if (!rect_has(lines, y, x))
        return false;
    Listing l = listing_open(&t, lines.h / t.pitch, class_marked(p, false));
    for (int k = 0; k < (y - lines.y) / t.pitch && l.now < t.shown.count; k++)
        listing_next(&l);
    if (l.now >= t.shown.count || listing_gap(&l))
        return false;
    click_cell(p, &t.shown, l.now, command);
    return true;
}

static void title(const Session *s, Side side, Buf *out)
{
    const Graph *g = shown_graph(s, side);
    int probs = session_node(s, side, shown_site(s, side, SITE_PROBS)),
        axis = probs == NO_NODE ? AXIS_NONE : node_role(g, probs, ROLE_QUERY), at[SESSION_AXES];
    char label[64];
    if (axis != AXIS_NONE && shown_ends_apart(s))
        buf_puts(out, "after the last token");
    else if (axis != AXIS_NONE) /* the word that it comes after, or that it is named for */
        buf_printf(out, "%s %s", g->axes[axis].sequence == SEQUENCE_TARGET ? "after" : "at",
                   axis_label(&g->axes[axis], session_at(s, side, at)[axis], label, sizeof label));
    else
        buf_puts(out, "answer");
    buf_puts(out, session_compares(s) ? ", A and B" : "");
}

VIEW_SPEC(ANSWER, .name = "answer", .traits = VIEW_TRACED | VIEW_CLASSES, .sides = SIDES_TOGETHER);
