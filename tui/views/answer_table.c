#include "tui/views/answer_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

enum {
    NAME_MAX = 24,
    NAME_LEAST = 4,
    NAME_ENOUGH = 9, /* beside A, B and their difference, which are worth more than a longer name */
    P_CELLS = 9,
    P_LEAST = 6,
    CHANGE_CELLS = 12,
    CHANGE_LEAST = 11,
    LOGIT_CELLS = 9,
    BAR_MIN = 4
};
enum {
    BAR_MOST = 40,
    WAY_MOST = 100,
    WAY_LEAST = 12,
    WAY_SMALL = 7, /* beside numbers of NUMBER_SMALL columns each */
    LOGIT_BAR_LEAST = 4
};

static int name_width(const Shown *v)
{
    int widest = 5;
    for (size_t i = 0; i < v->count && i < 200; i++) {
        char name[64];
        int cells = utf8_cells(classes_name(v, i, name, sizeof name));
        widest = cells > widest ? cells : widest;
    }
    return widest < NAME_MAX ? widest : NAME_MAX;
}

static void take(int *left, int *column, int cells)
{
    if (*left >= cells) {
        *column = cells;
        *left -= cells;
    }
}

/* What fits, most important first: name, probability, bar, logit, its bar; comparing, name, A, B, their difference, the
 * way from A to B. scaled: a full bar stands for less than 1, which needs room to be said. */
static AnswerColumns columns_of(const Shown *v, int width, bool compares, bool scaled)
{
    AnswerColumns c = {0};
    int left = width - 1, wanted = name_width(v), numbers = 2 * P_CELLS + CHANGE_LEAST;
    const int beside_way = left - 3 * NUMBER_SMALL - WAY_SMALL - 1; /* the way is worth more than a long name */
    const bool cut = compares && wanted >= beside_way && beside_way >= NAME_ENOUGH;
    if (cut)
        wanted = beside_way;
    const bool tight = compares && !cut && left >= numbers + NAME_ENOUGH && wanted >= left - numbers;
    if (tight)
        wanted = left - numbers;
    c.name = left < wanted + P_CELLS ? (left > P_CELLS + 3 ? left - P_CELLS : left < wanted ? left : wanted) : wanted;
    left -= c.name;
    int both = left + c.name - NAME_LEAST; /* rather numbers of few digits than none, or than one of two */
    if (compares && left < 2 * P_CELLS && both >= 2 * P_LEAST) {
        c.a = c.b = both / 2 < P_CELLS ? both / 2 < P_LEAST + 1 ? P_LEAST : both / 2 : P_CELLS;
        c.name += left - 2 * c.a;
        return c;
    }
    if (compares) {
        take(&left, &c.a, P_CELLS);
        take(&left, &c.b, P_CELLS);
        take(&left, &c.change, tight || cut ? CHANGE_LEAST : CHANGE_CELLS);
    } else
        take(&left, &c.p, P_CELLS);
    if (!compares && left >= LOGIT_CELLS + (scaled ? FULL_CELLS : BAR_MIN) + 1)
        take(&left, &c.logit, LOGIT_CELLS);
    if (c.logit && left >= 2 * (LOGIT_BAR_LEAST + 1)) {
        c.logit_bar = left / 2 - 1 < BAR_MOST ? left / 2 - 1 : BAR_MOST;
        left -= c.logit_bar + 1;
    }
    int most = compares ? WAY_MOST : BAR_MOST, least = compares ? WAY_LEAST : BAR_MIN;
    const int spare = left + c.a + c.b + c.change - 3 * NUMBER_SMALL;
    if (compares && left <= least && c.change && !tight && spare > WAY_SMALL) {
        c.a = c.b = c.change = NUMBER_SMALL;
        left = spare;
        least = WAY_SMALL;
    }
    if (left > least)
        c.bar = left - 1 < most ? left - 1 : most;
    else if (compares && left > 0)
        c.name += left;
    return c;
}

/* 1, but where no class has more than a fifth the least of .2, .1, .05 … that the largest probability is not above:
 * among a thousand classes bars on a scale to 1 are all alike. */
static float full_of(const AnswerTable *t)
{
    static const float LESS[] = {0.5F, 0.5F, 0.4F};
    const Shown *both[] = {t->compares ? &t->a : &t->shown, t->compares ? &t->b : &t->shown};
    float most = 0, full = 0.2F;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; both[k]->values && i < both[k]->count; i++)
            most = isfinite(both[k]->values[i]) ? fmaxf(most, both[k]->values[i]) : most;
    if (!(most > 0) || most > full)
        return 1;
    for (int k = 0; most <= full * LESS[k % 3]; k++)
        full *= LESS[k % 3];
    return full;
}

/* Their bars begin at 0, where there is a line if any is below it. */
static void range_of_logits(AnswerTable *t)
{
    const Shown *both[] = {t->both_logits ? &t->of_a : &t->logits, t->both_logits ? &t->of_b : &t->logits};
    float low = 0, high = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->count; i++)
            if (isfinite(both[k]->values[i])) { /* a masked class has none */
                low = fminf(low, both[k]->values[i]);
                high = fmaxf(high, both[k]->values[i]);
            }
    t->lowest = low;
    t->widest = high - low;
}

static bool open_both_logits(const Session *s, AnswerTable *t)
{
    const char *logits = shown_site(s, SIDE_B, SITE_LOGITS);
    return shown_answer(s, SIDE_A, logits, &t->of_a) && shown_answer(s, SIDE_B, logits, &t->of_b) &&
           shown_answer(s, SIDE_DIFF, logits, &t->of_diff) && t->of_a.values && t->of_b.values && t->of_diff.values &&
           t->of_a.count == t->shown.count && t->of_b.count == t->shown.count && t->of_diff.count == t->shown.count;
}

bool answer_table_open(const Session *s, Side side, int width, AnswerTable *t)
{
    *t = (AnswerTable){.compares = session_compares(s), .pitch = 1};
    const char *probs = shown_site(s, side, SITE_PROBS);
    if (!shown_answer(s, side == SIDE_DIFF ? SIDE_B : side, probs, &t->shown))
        return false;
    t->has_logits = shown_answer(s, t->shown.side, shown_site(s, side, SITE_LOGITS), &t->logits) && t->logits.values &&
                    t->logits.count == t->shown.count;
    if (t->compares)
        t->compares = shown_answer(s, SIDE_A, probs, &t->a) && shown_answer(s, SIDE_B, probs, &t->b) &&
                      shown_answer(s, SIDE_DIFF, probs, &t->diff);
    t->both_logits = t->compares && open_both_logits(s, t);
    if (t->has_logits || t->both_logits)
        range_of_logits(t);
    const float full = full_of(t);
    t->columns = columns_of(&t->shown, width, t->compares, full < 1);
    t->full = t->columns.bar + 1 >= FULL_CELLS ? full : 1; /* where it can be said */
    t->decimals = full > 0.1F ? 1 : full > 0.01F ? 2 : 3;
    return true;
}

float answer_logit_share(const AnswerTable *t, float logit)
{
    return t->widest > 0 ? (logit - t->lowest) / t->widest : 0;
}

int answer_logit_zero(const AnswerTable *t, int width)
{
    if (!(t->lowest < 0) || width < LOGIT_BAR_LEAST)
        return 0;
    int left = (int)(answer_logit_share(t, 0) * (float)(width - 1) + 0.5F);
    return clamp(left, 1, width - 1 - (t->lowest + t->widest > 0));
}

/* Cells of a logit of 1, the same to both sides of zero, which has `left` of them on its left. */
static float logit_cells(const AnswerTable *t, int left, int width)
{
    const float cell = (float)left / -t->lowest, high = t->lowest + t->widest;
    return high > 0 ? fminf(cell, (float)(width - 1 - left) / high) : cell;
}

void answer_logit_bar(const Paint *p, const AnswerTable *t, size_t i, Rect r, int thick)
{
    const float x = t->logits.values[i];
    const int left = answer_logit_zero(t, r.w), right = r.w - 1 - left;
    const Ref ref = shown_ref(&t->logits, i);
    for (int k = 0; k < r.h; k++) {
        if (!left && k < thick) {
            const float share = answer_logit_share(t, x);
            canvas_bar(p->c, r.y + k, r.x, r.w, isfinite(share) ? (double)share : 0, STYLE_AXIS, ref);
        } else if (left && k >= thick)
            canvas_glyph(p->c, r.y + k, r.x + left, STYLE_AXIS, 0x2502);
        else if (left) {
            const float cell = logit_cells(t, left, r.w);
            canvas_bar_around(p->c, r.y + k, r.x, left, right, isfinite(x) ? (double)(x * cell) : 0, STYLE_AXIS,
                              STYLE_NEGATIVE, ref);
        }
    }
}

void answer_logit_range(const Paint *p, const AnswerTable *t, Rect r)
{
    const int zero = answer_logit_zero(t, r.w);
    char low[16], high[16];
    if (!(t->widest > 0))
        return;
    snprintf(low, sizeof low, "%.3g", (double)t->lowest);
    snprintf(high, sizeof high, "%.3g", (double)(t->lowest + t->widest));
    canvas_glyph(p->c, r.y, r.x + zero, STYLE_AXIS, '0');
    if ((int)strlen(low) < zero)
        canvas_text(p->c, r.y, r.x, zero, STYLE_AXIS, low);
    const int most = t->lowest + t->widest > 0 ? (int)strlen(high) : 0,
              longest = zero ? zero + 1 + (int)ceilf((t->lowest + t->widest) * logit_cells(t, zero, r.w)) : r.w,
              end = clamp(longest, zero + 2 + most, r.w);
    if (most && zero + 1 + most < r.w)
        canvas_right(p->c, r.y, r.x, end, STYLE_AXIS, high);
}
