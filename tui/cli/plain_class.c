#include "tui/cli/plain_class.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/session/state.h"

static void keep(char **to, const char *text)
{
    free(*to);
    *to = xstrdup(text);
}

bool plain_class_join(PlainClass *c, const char *name, const char *model, Err *err)
{
    if (!follow_open(&c->follow, name, model, err))
        return false;
    keep(&c->caption, "");
    keep(&c->line, "");
    c->question = (Rollcall){.mine = -1};
    return true;
}

void plain_class_close(PlainClass *c, Session *s)
{
    follow_close(&c->follow, s);
    free(c->caption);
    free(c->line);
    *c = (PlainClass){.caption = NULL};
}

static void say_question(PlainClass *c, Buf *out)
{
    const Rollcall *q = &c->follow.question, *before = &c->question;
    char name[ROLLCALL_ANSWER + 16];
    bool new = q->open && (!before->open || before->seed != q->seed), shown = q->closed && (new || !before->closed);
    if (new && !q->closed) {
        buf_printf(out, "Asked: %s\n", q->text);
        for (int i = 0; i < q->count; i++)
            buf_printf(out, "%s\n", rollcall_name(q, i, name));
        buf_puts(out, "Type the number of your answer.\n");
    }
    if (shown) {
        buf_printf(out, "%s: %d answers.\n", q->text, rollcall_total(q));
        for (int i = 0; i < q->count; i++) {
            buf_printf(out, "%s: %d", rollcall_name(q, i, name), q->votes[i] + q->raised[i]);
            if (q->valued)
                buf_printf(out, ", value %.4g", q->value[i]);
            buf_printf(out, "%s%s\n", i == q->right ? ", right" : "", i == q->mine ? ", yours" : "");
        }
        if (*q->note)
            buf_printf(out, "%s\n", q->note);
    }
    c->question = *q;
}

bool plain_class_step(PlainClass *c, Session *s, Buf *out)
{
    Follow *f = &c->follow;
    Buf line = {0}, before = {0}, place = {0};
    if (!f->joined)
        return false;
    session_write(s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &before);
    bool news = follow_step(f, s, clock_ns());
    follow_line(f, &line);
    if (!news && (follow_live(f) || strcmp(buf_str(&line), c->line) == 0)) {
        buf_free(&line);
        buf_free(&before);
        return false;
    }
    bool caption = f->caption && *f->caption && strcmp(f->caption, c->caption) != 0;
    if (caption)
        buf_printf(out, "%s says: %s\n", f->who, f->caption);
    else if (strcmp(buf_str(&line), c->line) != 0 && strcmp(buf_str(&line), f->caption) != 0)
        buf_printf(out, "%s\n", buf_str(&line));
    if (*f->news)
        buf_printf(out, "%s\n", f->news);
    f->news[0] = 0;
    keep(&c->caption, f->caption);
    keep(&c->line, buf_str(&line));
    say_question(c, out);
    session_write(s, STATE_MODEL | STATE_INPUT | STATE_WHOLE, &place);
    bool moved = strcmp(buf_str(&place), buf_str(&before)) != 0;
    buf_free(&line);
    buf_free(&before);
    buf_free(&place);
    return moved;
}

bool plain_class_said(PlainClass *c, Session *s, const char *typed)
{
    bool yes = strcmp(typed, "y") == 0 || strcmp(typed, "yes") == 0,
         no = strcmp(typed, "n") == 0 || strcmp(typed, "no") == 0;
    if (!c->follow.joined || !c->follow.asks || (!yes && !no))
        return false;
    if (yes)
        follow_accept(&c->follow);
    else
        plain_class_close(c, s);
    return true;
}

bool plain_class_asks(const PlainClass *c)
{
    return c->follow.joined && c->follow.question.open && !c->follow.question.closed;
}

bool plain_class_answer(PlainClass *c, Session *s, int digit, Buf *out, Err *err)
{
    if (!follow_answer(&c->follow, s, digit, err))
        return false;
    char name[ROLLCALL_ANSWER + 16];
    buf_printf(out, "Your answer: %s. ", rollcall_name(&c->follow.question, c->follow.question.mine, name));
    if (*c->follow.receipt)
        buf_printf(out, "Receipt %s\n", c->follow.receipt);
    else
        buf_puts(out, "There is no receipt here.\n");
    c->question.mine = c->follow.question.mine;
    return true;
}
