#include "tui/rollcall.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/session/command.h"

static uint32_t mix(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return (hash ^ 0xff) * 16777619u;
}

uint32_t rollcall_seed(const char *text, const char *const *answer, int count)
{
    uint32_t hash = mix(2166136261u, text);
    for (int i = 0; i < count; i++)
        hash = mix(hash, answer[i]);
    return hash | (ROLLCALL_MADE + 1u);
}

bool rollcall_ask(Rollcall *r, const char *text, const char *const *answer, int count, uint32_t seed, Err *err)
{
    Rollcall new = {.open = true, .right = -1, .mine = -1, .count = count};
    if (count < 2 || count > ROLLCALL_ANSWERS)
        return err_set(err, "a question has 2 to %d answers: %s", ROLLCALL_ANSWERS, ROLLCALL_EXAMPLE);
    if (!*text || strlen(text) >= ROLLCALL_TEXT)
        return err_set(err, "a question has 1 to %d characters", ROLLCALL_TEXT - 1);
    utf8_clean(new.text, sizeof new.text, text);
    for (int i = 0; i < count; i++) {
        if (!*answer[i] || strlen(answer[i]) >= ROLLCALL_ANSWER)
            return err_set(err, "answer %d: 1 to %d characters", i + 1, ROLLCALL_ANSWER - 1);
        utf8_clean(new.answer[i], sizeof new.answer[i], answer[i]);
    }
    new.seed = seed ? seed : rollcall_seed(text, answer, count);
    *r = new;
    return true;
}

bool rollcall_settle(Rollcall *r, Session *s, Err *err)
{
    const char *answer[ROLLCALL_ANSWERS];
    for (int i = 0; i < r->count; i++)
        answer[i] = r->answer[i];
    if (r->by == SETTLE_NOT)
        return true;
    if (!settle(s, r->by, r->key, answer, r->count, &r->right, r->value, err))
        return false;
    r->valued = r->by != SETTLE_RIGHT;
    return true;
}

/* Is every answer a digit, and none twice? */
static bool names_itself(const Rollcall *r)
{
    unsigned seen = 0;
    for (int i = 0; i < r->count; i++) {
        const char *a = r->answer[i];
        if (*a < '0' || *a > '9' || a[1] || (seen & 1u << (*a - '0')))
            return false;
        seen |= 1u << (*a - '0');
    }
    return true;
}

int rollcall_choice(const Rollcall *r, int digit)
{
    bool named = names_itself(r);
    for (int i = 0; i < r->count; i++)
        if (digit == (named ? r->answer[i][0] - '0' : i + 1))
            return i;
    return -1;
}

const char *rollcall_name(const Rollcall *r, int i, char out[ROLLCALL_ANSWER + 16])
{
    if (names_itself(r))
        snprintf(out, ROLLCALL_ANSWER + 16, "%s", r->answer[i]);
    else
        snprintf(out, ROLLCALL_ANSWER + 16, "%d. %s", i + 1, r->answer[i]);
    return out;
}

int rollcall_total(const Rollcall *r)
{
    int n = 0;
    for (int i = 0; i < r->count; i++)
        n += r->votes[i] + r->raised[i];
    return n;
}

void rollcall_put(const Rollcall *r, Buf *out)
{
    buf_printf(out, "%08x ", r->seed);
    command_quote(r->text, out);
    for (int i = 0; i < r->count; i++) {
        buf_putc(out, ' ');
        command_quote(r->answer[i], out);
    }
    for (int i = 0; i < r->count; i++) /* how they are spread is nobody's business before the end */
        buf_printf(out, "%s%d", i ? " " : " votes=\"",
                   r->closed ? r->votes[i] + r->raised[i]
                   : i == 0  ? rollcall_total(r)
                             : 0);
    for (int i = 0; r->closed && r->valued && i < r->count; i++)
        buf_printf(out, "%s%.9g", i ? " " : "\" value=\"", r->value[i]);
    buf_puts(out, "\" note=");
    command_quote(r->note, out);
    if (r->closed)
        buf_printf(out, " right=%d", r->right);
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
    Rollcall new;
    const char *seed;
    char *end;
    double x[ROLLCALL_ANSWERS];
    if (!args_parse(&a, text, &seed, NULL) || a.count < 1 || strlen(seed) != 8)
        return false;
    unsigned long number = strtoul(seed, &end, 16);
    if (*end || !number || !rollcall_ask(&new, a.word[0], a.word + 1, a.count - 1, (uint32_t)number, NULL) ||
        !read_numbers(args_named(&a, "votes"), new.count, 0, 2 * ROLLCALL_VOTES, x))
        return false;
    for (int i = 0; i < new.count; i++)
        new.votes[i] = (int)x[i];
    const char *right = args_named(&a, "right"), *value = args_named(&a, "value"), *note = args_named(&a, "note");
    if ((right && !read_numbers(right, 1, -1, new.count - 1, x)) ||
        (value && (!right || !read_numbers(value, new.count, -DBL_MAX, DBL_MAX, new.value))))
        return false;
    new.closed = right != NULL;
    new.right = right ? (int)*x : -1;
    new.valued = value != NULL;
    utf8_clean(new.note, sizeof new.note, note ? note : "");
    new.mine = r->open && r->seed == new.seed ? r->mine : -1;
    *r = new;
    return true;
}

int rollcall_rows(const Rollcall *r, const char *below)
{
    return r->open ? r->count + 4 + (*below || *r->note) : 0;
}

static void draw_answer(const Rollcall *r, Canvas *c, Rect row, int i, int most)
{
    bool right = r->closed && i == r->right;
    int votes = r->votes[i] + r->raised[i], label = row.w / 2 < 30 ? row.w / 2 : 30;
    char text[ROLLCALL_ANSWER + 32], name[ROLLCALL_ANSWER + 16];
    snprintf(text, sizeof text, "%s%s", i == r->mine ? ">" : " ", rollcall_name(r, i, name));
    canvas_label(c, row.y, row.x, label, right ? STYLE_GOOD : STYLE_STRONG, text);
    if (!r->closed)
        return;
    int valued = r->valued ? 12 : 0, bar = row.w - label - 14 - valued;
    if (valued)
        canvas_printf(c, row.y, row.x + label, valued, right ? STYLE_GOOD : STYLE_TEXT, "%10.4g", r->value[i]);
    if (bar > 0)
        canvas_bar(c, row.y, row.x + label + valued + 1, bar, most ? (double)votes / most : 0, STYLE_STRONG, (Ref){0});
    canvas_printf(c, row.y, row.x + row.w - 12, 12, STYLE_STRONG, "%6d%s", votes, right ? " right" : "");
}

void rollcall_draw(const Rollcall *r, Canvas *c, Rect box, const char *below)
{
    int most = 0, total = rollcall_total(r);
    char title[80];
    if (!r->open || box.h < 4 || box.w < 20)
        return;
    canvas_fill(c, box, STYLE_TEXT, ' ');
    snprintf(title, sizeof title, r->closed ? "%d answer%s" : "predict first: %d answer%s", total,
             total == 1 ? "" : "s");
    Rect in = canvas_box(c, box, title, true);
    canvas_label(c, in.y, in.x + 1, in.w - 2, STYLE_STRONG, r->text);
    for (int i = 0; i < r->count; i++)
        most = r->votes[i] + r->raised[i] > most ? r->votes[i] + r->raised[i] : most;
    for (int i = 0; i < r->count && i + 2 < in.h + 1; i++)
        draw_answer(r, c, (Rect){in.y + 1 + i, in.x + 1, 1, in.w - 2}, i, most);
    below = *r->note && (r->closed || !*below) ? r->note : below;
    if (*below && in.h > r->count + 1)
        canvas_label(c, in.y + in.h - 1, in.x + 1, in.w - 2, STYLE_SENTENCE, below);
}
