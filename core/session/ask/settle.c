#include "core/session/ask/settle.h"

#include <string.h>

#include "core/session/ask/number.h"

SettleBy settle_word(const char *word)
{
    static const char *const WORDS[] = {[SETTLE_RIGHT] = "right", [SETTLE_MOST] = "most", [SETTLE_LEAST] = "least"};
    for (int i = SETTLE_RIGHT; i <= SETTLE_LEAST; i++)
        if (strcmp(word, WORDS[i]) == 0)
            return (SettleBy)i;
    return SETTLE_NOT;
}

static bool digit_of_answer(Session *s, const char *expression, int *right, Err *err)
{
    double x;
    if (!number_value(s, session_side(s), expression, &x, err)) {
        err_prefix(err, "right= wants the digit in front of the right answer, or an expression that comes to it");
        return false;
    }
    if (!(x >= 0 && x <= 9) || (double)(int)x != x)
        return err_set(err, "right=%.120s is %g: it has to come to the digit in front of an answer", expression, x);
    *right = (int)x;
    return true;
}

/* The value of the expression with $ for that answer. */
static bool value_of(Session *s, const char *expression, const char *answer, double *x, Err *err)
{
    Buf text = {0};
    for (const char *p = expression; *p; p++)
        if (*p == '$')
            buf_puts(&text, answer);
        else
            buf_putc(&text, *p);
    bool ok = number_value(s, session_side(s), buf_str(&text), x, err);
    buf_free(&text);
    if (ok && *x != *x)
        ok = err_set(err, "the expression has no value for the answer %.60s", answer);
    return ok;
}

bool settle(Session *s, SettleBy by, const char *expression, const Quiz *of, int *right, double *value, Err *err)
{
    double x[QUIZ_ANSWERS];
    int best = 0, equals = 0;
    REQUIRE(of->count > 0 && of->count <= QUIZ_ANSWERS && by != SETTLE_NOT);
    if (by == SETTLE_RIGHT)
        return digit_of_answer(s, expression, right, err);
    if (!strchr(expression, '$'))
        return err_set(err, "an expression with most= or least= has a $ in it, which stands for the answer");
    for (int i = 0; i < of->count; i++) {
        if (!value_of(s, expression, of->answer[i], &x[i], err))
            return false;
        if (i && x[i] == x[best])
            equals++;
        else if (i && (by == SETTLE_MOST ? x[i] > x[best] : x[i] < x[best])) {
            best = i;
            equals = 0;
        }
    }
    memcpy(value, x, (size_t)of->count * sizeof *x);
    *right = equals ? -1 : best;
    return true;
}
