#include "tui/rollcall.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/command.h"

int rollcall_total(const Rollcall *r)
{
    int n = 0;
    for (int i = 0; i < r->quiz.count; i++)
        n += r->votes[i];
    return n;
}

/* name="1 2 3" */
static void put_numbers(const char *name, const double *x, int count, Buf *out)
{
    for (int i = 0; i < count; i++)
        buf_printf(out, "%s%s%.9g", i ? " " : name, i ? "" : "=\"", x[i]);
    buf_putc(out, '"');
}

void rollcall_put(const Rollcall *r, Buf *out)
{
    double votes[QUIZ_ANSWERS] = {rollcall_total(r)}; /* how they are spread is nobody's business before the end */
    for (int i = 0; r->closed && i < r->quiz.count; i++)
        votes[i] = r->votes[i];
    buf_printf(out, "%08x ", r->quiz.seed);
    command_quote(r->quiz.text, out);
    for (int i = 0; i < r->quiz.count; i++) {
        buf_putc(out, ' ');
        command_quote(r->quiz.answer[i], out);
    }
    put_numbers(" votes", votes, r->quiz.count, out);
    if (r->closed && r->quiz.valued)
        put_numbers(" value", r->quiz.value, r->quiz.count, out);
    buf_puts(out, " note=");
    command_quote(r->note, out);
    if (r->closed)
        buf_printf(out, " right=%d", r->quiz.right);
}

/* So many numbers between least and most, and nothing else. */
static bool read_numbers(const char *text, int count, double least, double most, double *out)
{
    char *end = NULL;
    for (int i = 0; text && i < count; i++, text = end) {
        out[i] = strtod(text, &end);
        if (end == text || !(out[i] >= least && out[i] <= most))
            return false;
    }
    return text && !*text;
}

bool rollcall_read(Rollcall *r, const char *text)
{
    Args a;
    Rollcall new = {.open = true};
    const char *seed;
    char *end;
    double votes[QUIZ_ANSWERS], at = -1;
    if (!args_parse(&a, text, &seed, NULL) || a.count < 1 || strlen(seed) != 8)
        return false;
    unsigned long number = strtoul(seed, &end, 16);
    const char *right = args_named(&a, "right"), *value = args_named(&a, "value"), *note = args_named(&a, "note");
    if (*end || !number || !quiz_ask(&new.quiz, a.word[0], a.word + 1, a.count - 1, "", NULL) ||
        !read_numbers(args_named(&a, "votes"), new.quiz.count, 0, 2 * ROLLCALL_VOTES, votes) ||
        (right && !read_numbers(right, 1, -1, new.quiz.count - 1, &at)) ||
        (value && (!right || !read_numbers(value, new.quiz.count, -DBL_MAX, DBL_MAX, new.quiz.value))))
        return false;
    new.quiz.seed = (uint32_t)number;
    for (int i = 0; i < new.quiz.count; i++)
        new.votes[i] = (int)votes[i];
    new.closed = right != NULL;
    new.quiz.right = (int)at;
    new.quiz.valued = value != NULL;
    utf8_clean(new.note, sizeof new.note, note ? note : "");
    new.mine = r->open && r->quiz.seed == new.quiz.seed ? r->mine : -1;
    *r = new;
    return true;
}

enum { WIDEST = 90, COUNTED = 20 }; /* cells of the box; of "  12 of 31 right" */

/* Rows that it takes; label: cells of an answer's words. */
static int draw_answer(const Rollcall *r, Canvas *c, Rect in, int label, int i, int most)
{
    char counted[40];
    int valued = r->quiz.valued ? 12 : 0, x = in.x + label + valued;
    Style style = r->closed && i == r->quiz.right ? STYLE_GOOD : STYLE_STRONG;
    char name[QUIZ_ANSWER + 16];
    if (i == r->mine)
        canvas_text(c, in.y, in.x, 1, style, ">");
    int rows = canvas_wrap(c, (Rect){in.y, in.x + 1, in.h, label - 1}, style, quiz_name(&r->quiz, i, name));
    if (!r->closed)
        return rows;
    if (valued)
        canvas_printf(c, in.y, in.x + label, valued, style, "%10.4g", r->quiz.value[i]);
    snprintf(counted, sizeof counted, "%d of %d%s", r->votes[i], rollcall_total(r),
             i == r->quiz.right ? " right" : "      ");
    if (in.w - label - valued > COUNTED + 2)
        canvas_bar(c, in.y, x + 1, in.w - label - valued - COUNTED - 2, most ? (double)r->votes[i] / most : 0,
                   STYLE_STRONG, (Ref){0});
    canvas_printf(c, in.y, in.x + in.w - COUNTED, COUNTED, STYLE_STRONG, "%*s", COUNTED, counted);
    return rows;
}

/* Width of the box, and of the answers' words in it. */
static int width_of(const Rollcall *r, const Canvas *c, int *label)
{
    int w = c->w < WIDEST ? c->w : WIDEST;
    *label = r->closed ? (w - 4) / 2 : w - 4;
    return w;
}

/* What stands below the answers: whose votes they are comes first. */
static const char *note_of(const Rollcall *r, const char *below)
{
    return *r->note && (r->closed || !*below) ? r->note : below;
}

int rollcall_rows(const Rollcall *r, const Canvas *c, const char *below)
{
    char name[QUIZ_ANSWER + 16];
    int label, w = width_of(r, c, &label);
    if (!r->open || c->h < 4 || w < 20)
        return 0;
    below = note_of(r, below);
    int rows = 2 + canvas_wrap_rows(c, w - 4, r->quiz.text) + (*below ? canvas_wrap_rows(c, w - 4, below) : 0);
    for (int i = 0; i < r->quiz.count; i++)
        rows += canvas_wrap_rows(c, label - 1, quiz_name(&r->quiz, i, name));
    return rows < c->h ? rows : c->h;
}

void rollcall_draw(const Rollcall *r, Canvas *c, const char *below, int above)
{
    char title[80];
    int most = 0, total = rollcall_total(r), label, w = width_of(r, c, &label), rows = rollcall_rows(r, c, below);
    if (!rows)
        return;
    for (int i = 0; i < r->quiz.count; i++)
        most = r->votes[i] > most ? r->votes[i] : most;
    Rect box = {c->h - rows > above ? c->h - rows - above : 0, (c->w - w) / 2, rows, w};
    snprintf(title, sizeof title, "%s%d answer%s", r->closed ? "" : "predict first: ", total, total == 1 ? "" : "s");
    canvas_fill(c, box, STYLE_TEXT, ' ');
    Rect in = canvas_box(c, box, title, true);
    in = (Rect){in.y, in.x + 1, in.h, in.w - 2};
    rect_cut(&in, 't', canvas_wrap(c, in, STYLE_STRONG, r->quiz.text));
    for (int i = 0; in.h > 0 && i < r->quiz.count; i++)
        rect_cut(&in, 't', draw_answer(r, c, in, label, i, most));
    canvas_wrap(c, in, STYLE_SENTENCE, note_of(r, below));
}
