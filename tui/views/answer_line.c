#include "tui/views/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/difference.h"
#include "tui/views/classes.h"

enum { TIME_WIDTH = 40 }; /* with room for a bar beside the time */

/* "A star .97", the probability tagged; returns the cells used. */
static int put_best(const Paint *p, Side side, const char *letter, int y, int x, int width)
{
    Shown v;
    if (!shown_answer(p->s, side, shown_site(p->s, side, SITE_PROBS), &v))
        return canvas_text(p->c, y, x, width, STYLE_DIM,
                           shown_input(p->s, side)->kind == INPUT_MATRICES
                               ? "a worked example, on the engine of the model"
                           : shown_input(p->s, side)->kind != INPUT_TEXT ? "this model has no classes"
                           : session_compares(p->s) || !shown_site(p->s, side, SITE_EMBEDDING_UNIT)
                               ? "no answer in words"
                               : "no answer in words; pin, open TEXT: the cosine of two");
    Style style = side == SIDE_A ? STYLE_SIDE_A : STYLE_SIDE_B;
    int used = canvas_printf(p->c, y, x, width, style, "%s ", letter);
    if (!v.values)
        return used + canvas_text(p->c, y, x + used, width - used, STYLE_DIM, "…");
    char name[64], share[16];
    size_t best = classes_best(v.values, v.count);
    share_text(share, sizeof share, v.values[best]);
    int room = width - used - (int)strlen(share) - 1;
    if (isnan(v.values[best])) /* of classes that are all alike no one is the answer */
        used += canvas_text(p->c, y, x + used, room, STYLE_WARNING, "no answer:") + 1;
    else if (room > 0)
        used += canvas_label(p->c, y, x + used, room, STYLE_STRONG, classes_name(&v, best, name, sizeof name)) + 1;
    int cells = canvas_text(p->c, y, x + used, width - used, STYLE_STRONG, share);
    canvas_ref(p->c, y, x + used, cells, shown_ref(&v, best));
    return used + cells;
}

void answer_draw_vector(const Paint *p, Rect r, Side side)
{
    const bool words = shown_input(p->s, side)->kind == INPUT_TEXT,
               vector = shown_site(p->s, side, SITE_EMBEDDING_UNIT) != NULL;
    const float *alike = difference_likeness_peek(p->s);
    char text[300];
    if (alike)
        utf8_print(text, sizeof text,
                   "cosine of A's vector and B's: %.5f (1: the same direction, 0: nothing in common)%s", (double)*alike,
                   words ? ". What each token carries of it: vitrine embed" : "");
    else
        utf8_print(text, sizeof text, "this model has no %s: it ends with %s%s", words ? "answer in words" : "classes",
                   vector ? "a vector, at the step embedding" : "its tokens",
                   vector && words ? ". Its cosine with another text's: pin, then open TEXT" : "");
    canvas_wrap(p->c, r, STYLE_DIM, text);
}

/* "9f3a c210": the first half of the hash, or only its first quarter. */
static bool hash_text(const Session *s, Side side, bool brief, char out[16])
{
    uint64_t hash;
    if (!session_hash(s, side, &hash))
        return false;
    int used = snprintf(out, 16, "%04x", (unsigned)(hash >> 48));
    if (!brief)
        snprintf(out + used, 16 - (size_t)used, " %04x", (unsigned)(hash >> 32 & 0xffff));
    return true;
}

static void trace_text(const Session *s, bool brief, char *out, size_t n)
{
    char a[16], b[16];
    out[0] = '\0';
    if (!hash_text(s, SIDE_A, brief, a))
        return;
    if (!session_compares(s))
        snprintf(out, n, "trace %s ✓", a);
    else if (hash_text(s, SIDE_B, brief, b))
        snprintf(out, n, "A %s ✓   B %s ✓", a, b);
}

/* The right end: hashes when complete, else how far the pass is, or what of it has to be computed again; returns the
 * cells it took with the blank before it. */
static int put_trace(const Paint *p, int y, int x, int width)
{
    char text[64];
    double share;
    bool again = session_again(p->s, &share);
    if (again || session_busy(p->s)) {
        share = again ? share : session_progress_share(p->s);
        int percent = (int)((share < 0 ? 0 : share > 1 ? 1 : share) * 100);
        int used = snprintf(text, sizeof text, again ? "again %3d %%" : "computing %3d %%", percent);
        if (p->seconds_left && width > TIME_WIDTH)
            snprintf(text + used, sizeof text - (size_t)used, ", %d s left", p->seconds_left);
        int cells = utf8_cells(text), bar = width - cells - 1 < 20 ? width - cells - 1 : 20;
        if (width < cells)
            return 0;
        canvas_right(p->c, y, x, width, STYLE_DIM, text);
        if (bar >= 4)
            canvas_bar(p->c, y, x + width - cells - 1 - bar, bar, share, STYLE_DIM, (Ref){0});
        return cells + 1 + (bar >= 4 ? bar + 1 : 0);
    }
    trace_text(p->s, false, text, sizeof text);
    if (utf8_cells(text) > width)
        trace_text(p->s, true, text, sizeof text);
    int cells = utf8_cells(text);
    if (!cells || cells > width)
        return 0;
    canvas_right(p->c, y, x, width, STYLE_DIM, text);
    return cells + 1;
}

/* In what room is left: what a byte-level tokeniser's signs are, where the screen has one and no panel says it. */
static void put_signs(const Paint *p, int y, int x, int width)
{
    enum { BLANK = 0x120, LINE = 0x10a };
    static const char *const SAID[] = {"Ġ: a blank, Ċ: a line's end", "Ġ blank, Ċ line's end"};
    bool there = false;
    for (int i = 0; i < (y + 1) * p->c->w; i++) {
        const uint32_t ch = p->c->cells[i].ch;
        there = there || ch == BLANK || ch == LINE;
        if (ch != LINE || i % p->c->w + 3 >= p->c->w)
            continue;
        const Cell *next = &p->c->cells[i + 1];
        if (next[0].ch == ':' || (next[1].ch == 'a' && next[2].ch == ' '))
            return; /* a panel says it */
    }
    const char *said = utf8_cells(SAID[0]) <= width ? SAID[0] : SAID[1];
    if (there && utf8_cells(said) <= width)
        canvas_right(p->c, y, x, width, STYLE_DIM, said);
}

/* What A and B answer; returns the column behind it. */
static int put_answers(const Paint *p, int y, int x, int width)
{
    const Session *s = p->s;
    int end = x + width, half = session_compares(s) ? (width - 3) / 2 : width;
    const float *alike = shown_site(s, SIDE_B, SITE_PROBS) ? NULL : difference_likeness_peek(s);
    if (alike)
        return x +
               canvas_printf(p->c, y, x, end - x, STYLE_STRONG, "cosine of A's vector and B's %.5f", (double)*alike);
    x += put_best(p, SIDE_A, "A", y, x, half);
    if (session_compares(s)) {
        x += canvas_text(p->c, y, x, end - x, STYLE_DIM, " │ ");
        x += put_best(p, SIDE_B, "B", y, x, end - x);
    }
    return x;
}

/* A note in so many cells: whole, what stands before the colon, which is what counts, or that in fewer words. */
static const char *note_in(const char *note, int cells, char brief[SESSION_NOTE])
{
    static const char LONG[] = "unlike its training sentences";
    const size_t first = strcspn(note, ":");
    if (utf8_cells(note) <= cells)
        return note;
    utf8_print(brief, SESSION_NOTE, "%.*s", (int)first, note);
    if (utf8_cells(brief) > cells && strncmp(note, LONG, sizeof LONG - 1) == 0)
        utf8_print(brief, SESSION_NOTE, "unlike training%.*s", (int)(first - (sizeof LONG - 1)),
                   note + sizeof LONG - 1);
    if (utf8_cells(brief) > cells && strncmp(note, LONG, sizeof LONG - 1) == 0)
        utf8_print(brief, SESSION_NOTE, "unlike training");
    return utf8_cells(brief) <= cells ? brief : note;
}

bool answer_line_notes(const Paint *p)
{
    char about[SESSION_NOTE];
    const char *note = session_model_note(p->s, about);
    if (!p->c || !*note)
        return false;
    Rect old = canvas_clip(p->c, (Rect){0}); /* measures: nothing is drawn */
    const int end = put_answers(p, 0, 0, p->c->w);
    p->c->clip = old;
    return end + 2 + utf8_cells(note) + 2 <= p->c->w;
}

void answer_line(const Paint *p, int y, int x, int width)
{
    Rect old = canvas_clip(p->c, (Rect){y, x, 1, width});
    const Session *s = p->s;
    int end = x + width;
    x = put_answers(p, y, x, width);
    char about[SESSION_NOTE], brief[SESSION_NOTE];
    const int left = end - x - 2;
    const char *note = note_in(session_model_note(s, about), left - 2, brief);
    int note_cells = *note ? utf8_cells(note) + 2 : 0;
    if (note_cells > left) /* what the answer is worth matters more than the hash */
        note_cells = left;
    end -= put_trace(p, y, x + 2 + (left > note_cells ? note_cells : left), left > note_cells ? left - note_cells : 0);
    if (*note && end - x > 4)
        canvas_text(p->c, y, x + 2, end - x - 2, STYLE_WARNING, note);
    else
        put_signs(p, y, x + 2, end - x - 4);
    p->c->clip = old;
}
