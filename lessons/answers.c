/* What is answered on a card: how it is judged, what is said to it, and what is told where nobody found it. */
#include <ctype.h>
#include <string.h>

#include "core/base/dmath.h"
#include "lessons/play.h"

static const Question *question(const Player *p, Err *err)
{
    const Card *c = player_card(p);
    if (!c || !c->question)
        err_set(err, "this card asks nothing");
    return c ? c->question : NULL;
}

static Answer *judge(Player *p, bool right)
{
    Answer *a = &p->answers[p->card];
    a->given = true;
    a->right = right;
    a->missed |= !right;
    a->tries++;
    return a;
}

bool player_choose(Player *p, int choice, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_CHOICE)
        return err_set(err,
                       q->kind == QUESTION_NUMBER ? "type a number" : "this is done on the screen, not by a letter");
    if (choice < 0 || choice >= q->count)
        return err_set(err, "type a digit from 1 to %d, the number of an answer", q->count);
    Buf said = {0};
    bool ok = player_text(p, q->choices[choice].why, &said, err);
    if (ok) {
        judge(p, q->choices[choice].right)->choice = choice;
        buf_puts(why, buf_str(&said));
    }
    buf_free(&said);
    return ok;
}

/* Which known mistake leads to that number; -1: none. */
static bool known_mistake(const Player *p, const Question *q, double x, double within, int *which, Err *err)
{
    *which = -1;
    for (int i = 0; i < q->count; i++) {
        double wrong;
        if (!player_value(p, q->choices[i].text, &wrong, err))
            return false;
        if (*which < 0 && dm_abs(x - wrong) <= within)
            *which = i;
    }
    return true;
}

/* As it would be printed: of "+3", "-.6", "5.", "1E-3" and "12 %" too. */
static void as_printed(const char *typed, char *out, size_t n)
{
    size_t k = 0;
    for (char last = 0; *typed && k + 2 < n; last = *typed++) {
        bool digit = isdigit((unsigned char)last), point = *typed == '.', next = isdigit((unsigned char)typed[1]);
        if (point && next && !digit)
            out[k++] = '0';
        if (*typed != ' ' && !(point && digit && !next) && !(*typed == '+' && !k))
            out[k++] = *typed == 'E' ? 'e' : *typed;
    }
    k -= k && out[k - 1] == '%';
    out[k] = 0;
}

/* Is its one comma none between thousands? Gets the point that is meant. */
static bool comma_for_point(char *text)
{
    char *comma = strchr(text, ','), *digits = text + strcspn(text, "0123456789");
    if (!comma || strchr(comma + 1, ',') || comma <= digits)
        return false;
    size_t before = (size_t)(comma - digits), behind = strspn(comma + 1, "0123456789");
    *comma = '.';
    return behind && (*digits == '0' || before > 3 || behind != 3);
}

/* Digits, their operations, and sqrt( ). */
static bool is_arithmetic(const char *text)
{
    const char *p = text;
    for (; *p; p++)
        if (strncmp(p, "sqrt(", 5) == 0)
            p += 4;
        else if (!strchr("0123456789.+-*/^()", *p))
            return false;
    return p > text;
}

/* A number as a person writes it, or arithmetic of numbers. */
static bool typed_number(const Player *p, const char *typed, double *x, Err *err)
{
    char text[100], point[100];
    double half;
    as_printed(typed, text, sizeof text);
    memcpy(point, text, sizeof point);
    if (comma_for_point(point) && strspn(point, "0123456789.-") == strlen(point))
        return err_set(err, "'%.40s' has a comma for a point; type %.40s", typed, point);
    size_t n = number_printed(text, x, &half);
    bool number = (n && !text[n]) || (is_arithmetic(text) && player_value(p, text, x, NULL));
    return (number && *x - *x == 0) || err_set(err, "'%.40s' is no number; type one, or arithmetic such as 3*4", typed);
}

bool player_number(Player *p, const char *typed, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_NUMBER)
        return err_set(err, "this question is not answered by a number");
    double x, right, within;
    if (!typed_number(p, typed, &x, err))
        return false;
    int mistake;
    if (!player_value(p, q->answer, &right, err) || !player_value(p, q->within, &within, err) ||
        !known_mistake(p, q, x, within, &mistake, err))
        return false;
    if (strchr(typed, '%') && dm_abs(x / 100 - right) <= within) /* of a share or in percent, as it was asked */
        x /= 100;
    bool ok = dm_abs(x - right) <= within;
    Answer *a = judge(p, ok);
    a->number = x;
    Buf said = {0};
    bool told = true;
    if (ok) {
        buf_puts(&said, "It is ");
        number_put(right, -1, &said);
        buf_puts(&said, ". ");
        told = !q->why || player_text(p, q->why, &said, err);
    } else if (mistake >= 0) {
        told = player_text(p, q->choices[mistake].why, &said, err);
    } else {
        const Texts *hints = &p->lesson.cards[p->card].hints;
        if (strchr(typed, ','))
            buf_printf(&said, "%.40s is read as %.0f. ", typed, x);
        buf_puts(&said, x > right ? "It is less. " : "It is more. ");
        if (a->hints < hints->count)
            buf_puts(&said, "A hint (!) has the first step.");
        else if (hints->count) /* it was read, and is gone from the screen */
            told = player_text(p, hints->at[hints->count - 1].text, &said, err);
    }
    if (told)
        buf_puts(why, buf_str(&said));
    buf_free(&said);
    return told;
}

bool player_done(Player *p, bool *done, Buf *why, Err *err)
{
    const Question *q = question(p, err);
    if (!q)
        return false;
    if (q->kind != QUESTION_PLACE && q->kind != QUESTION_CHANGE)
        return err_set(err, "this question wants an answer, not an act");
    double x;
    if (!player_value(p, q->answer, &x, err))
        return false;
    *done = x != 0;
    if (*done) {
        judge(p, true);
        return !q->why || player_text(p, q->why, why, err);
    }
    Buf found = {0};
    const char *text = q->not_yet ? q->not_yet : q->kind == QUESTION_PLACE ? "here it is {{here()}}." : "";
    if (player_text(p, text, &found, NULL)) /* the reader may stand where it is nothing */
        buf_puts(why, buf_str(&found));
    buf_free(&found);
    return true;
}

bool player_hint(Player *p, Buf *out, Err *err)
{
    const Card *c = player_card(p);
    if (!c || !c->hints.count)
        return err_set(err, "this card has no hint");
    Answer *a = &p->answers[p->card];
    int which = a->hints < c->hints.count ? a->hints++ : c->hints.count - 1;
    return player_text(p, c->hints.at[which].text, out, err);
}

bool player_awaits(const Player *p)
{
    const Card *c = player_card(p);
    const Question *q = c ? c->question : NULL;
    const Answer *a = c ? &p->answers[p->card] : NULL;
    return q && !a->given && !a->skipped;
}

static const Choice *right_choice(const Question *q)
{
    for (int i = 0; i < q->count; i++)
        if (q->choices[i].right)
            return &q->choices[i];
    return NULL;
}

/* The number that was said, the right one, and what explains it. */
static bool settle_number(const Player *p, const Question *q, const Answer *a, Buf *out, Err *err)
{
    double right, within;
    int mistake = -1;
    if (!player_value(p, q->answer, &right, err) || !player_value(p, q->within, &within, err) ||
        (a->given && !a->right && !known_mistake(p, q, a->number, within, &mistake, err)))
        return false;
    if (a->given) {
        buf_puts(out, "You said: ");
        number_put(a->number, -1, out);
        buf_puts(out, a->right ? ". Right. " : ". Not so. ");
    }
    if (mistake >= 0) { /* what is said of the answer stands behind it */
        if (!player_text(p, q->choices[mistake].why, out, err))
            return false;
        buf_putc(out, ' ');
    }
    buf_puts(out, "It is ");
    number_put(right, -1, out);
    buf_puts(out, ". ");
    return !q->why || player_text(p, q->why, out, err);
}

static bool settle_choice(const Player *p, const Question *q, const Answer *a, Buf *out, Err *err)
{
    const Choice *right = right_choice(q), *said = &q->choices[a->choice];
    if (a->given) {
        buf_printf(out, a->right ? "You said: %s. Right. " : "You said: %s. Not so. ", said->text);
        if (!player_text(p, said->why, out, err))
            return false;
        if (!a->right)
            buf_putc(out, ' ');
    }
    if (!right || (a->given && a->right))
        return true;
    buf_puts(out, "It is: ");
    if (!player_text(p, right->text, out, err))
        return false;
    buf_puts(out, ". ");
    return player_text(p, right->why, out, err);
}

bool player_prediction(const Player *p, Buf *out, Err *err)
{
    const Question *q = p->card > 0 ? p->lesson.cards[p->card - 1].question : NULL;
    const Answer *a = p->card > 0 ? &p->answers[p->card - 1] : NULL;
    if (!q || !q->predict || (!a->given && !a->skipped))
        return true;
    if (q->kind == QUESTION_NUMBER)
        return settle_number(p, q, a, out, err);
    if (q->kind != QUESTION_CHOICE)
        return true;
    return settle_choice(p, q, a, out, err);
}

bool player_answer(const Player *p, Buf *out, Err *err)
{
    const Question *q = player_card(p)->question;
    if (q && q->kind == QUESTION_NUMBER)
        return settle_number(p, q, &(Answer){0}, out, err);
    return !q || q->kind != QUESTION_CHOICE || settle_choice(p, q, &(Answer){0}, out, err);
}

bool player_owes(const Player *p)
{
    const Card *c = player_card(p);
    const Answer *a = c ? &p->answers[p->card] : NULL;
    bool kept = c && c->question && c->question->predict && p->card + 1 < p->lesson.count;
    return c && c->question && !kept && !a->told && !a->right && (a->given || a->skipped);
}

bool player_settle(Player *p, Buf *out, Err *err)
{
    const Question *q = player_card(p)->question;
    p->answers[p->card].told = true;
    if (q->kind == QUESTION_CHOICE || q->kind == QUESTION_NUMBER)
        return player_answer(p, out, err);
    buf_printf(out, "One way, done for you: `%s`. ", q->solution);
    bool ok = player_through(p, p->card, err) && command_do(p->s, &p->commands, q->solution, LINE_FOREIGN, err);
    p->s->back_count = 0; /* it is the card's screen, and nothing that was gone into */
    return ok && (!q->why || player_text(p, q->why, out, err));
}
