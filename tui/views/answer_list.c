#include "tui/views/answer_list.h"

#include <math.h>
#include <stdio.h>

#include "core/base/utf8.h"

static const float MOVED_SHARE = 0.01F; /* of what moved most */
enum { WORDS_LEAST = 3, WORDS_MOST = 12, TOP_MOST = 10 };

/* The fewest last lines with which what A and B answer is in the list. */
static void listing_answers(Listing *l, const AnswerTable *t)
{
    const size_t best[2] = {classes_best(t->a.values, t->a.count), classes_best(t->b.values, t->b.count)};
    int found;
    do {
        found = 0;
        for (int k = best[0] == best[1]; k < 2; k++)
            if (l->top - l->lasts <= 0 || ranking_rank(l->order, best[k]) >= (size_t)(l->top - l->lasts))
                l->last[found++] = best[k];
    } while (found > l->lasts && l->lasts++ < 2);
    if (l->lasts >= l->top && l->lasts)
        l->now = l->last[l->lasts - l->top];
}

int listing_least(const AnswerTable *t, Ranking order, int room, bool marked)
{
    const float printed_least = (float)share_unit(t->decimals) / 2,
                from = fmaxf(printed_least, MOVED_SHARE * fabsf(order.v[ranking_best(order)]));
    int moved = 0;
    for (size_t i = 0; i < order.n && moved <= room; i++)
        moved += fabsf(order.v[i]) >= from;
    if (order.n <= (size_t)room)
        return room;
    const size_t last[] = {classes_best(t->a.values, t->a.count), classes_best(t->b.values, t->b.count)};
    int least = WORDS_LEAST;
    for (int k = 0; k < 2; k++)
        least = ranking_rank(order, last[k]) < LISTING_GAP_LEAST ? least : LISTING_GAP_LEAST;
    if (marked && ranking_rank(order, t->shown.cell) >= (size_t)(moved > least ? moved : least))
        least = LISTING_GAP_LEAST;
    least = moved > least ? moved : least;
    return least < room ? least : room;
}

int listing_most(const AnswerTable *t, Ranking order)
{
    int moved = 0;
    for (size_t i = 0; i < order.n && moved < WORDS_MOST; i++)
        moved += fabsf(order.v[i]) >= (float)share_unit(t->decimals);
    return moved > WORDS_LEAST ? moved : WORDS_LEAST;
}

Listing listing_open(const AnswerTable *t, int room, bool marked)
{
    bool change = t->compares && t->diff.values && t->diff.count == t->shown.count; /* the largest change is in it */
    Ranking order = {change ? t->diff.values : t->shown.values, t->shown.count, change};
    size_t rank = marked ? ranking_rank(order, t->shown.cell) : 0;
    Listing l = {.order = order, .now = ranking_best(order), .top = room};
    if (change && !marked && room > 0 && t->a.values && t->b.values && (size_t)room < t->shown.count)
        listing_answers(&l, t);
    if (rank < (size_t)(room > 0 ? room : 1))
        return l;
    l.resume = t->shown.cell;
    if (room < 2) {
        l.now = l.resume;
        return l;
    }
    l.gap = room >= LISTING_GAP_LEAST;
    l.top = !l.gap ? 1 : room / 3 < TOP_MOST ? room / 3 : TOP_MOST;
    int last = room - l.top - l.gap;
    for (int k = 1; k < last; k++)
        l.resume = ranking_previous(order, l.resume);
    l.hidden = rank + 1 - (size_t)(last + l.top);
    return l;
}

bool listing_gap(const Listing *l)
{
    return l->hidden && l->gap && l->line == l->top;
}

void listing_next(Listing *l)
{
    l->line++;
    if (l->now >= l->order.n || listing_gap(l))
        return;
    const int last = l->line - (l->top - l->lasts);
    if (l->lasts && last >= 0) {
        l->now = last < l->lasts ? l->last[last] : l->order.n;
        return;
    }
    l->now = l->hidden && l->line == l->top + l->gap ? l->resume : ranking_next(l->order, l->now);
}

/* The first of those below the list; the count of all: none. */
static size_t first_below(const Listing *l, int listed)
{
    size_t i = ranking_best(l->order);
    for (int k = 0; k < listed - l->lasts && i < l->order.n; k++)
        i = ranking_next(l->order, i);
    for (int k = 0; k < l->lasts && i < l->order.n; k++) /* not one that the last lines are of */
        for (int j = 0; j < l->lasts && i < l->order.n; j++)
            i = i == l->last[j] ? ranking_next(l->order, i) : i;
    return i;
}

const char *listing_more(const AnswerTable *t, const Listing *l, int listed, int width, char *out, size_t n)
{
    const size_t more = l->order.n - (size_t)listed, first = first_below(l, listed);
    const bool known = l->order.by_size && !l->hidden && first < l->order.n && isfinite(l->order.v[first]);
    const double unit = share_unit(t->decimals),
                 points = known ? 100 * unit * (floor(fabs((double)l->order.v[first]) / unit) + 1) : 0;
    if (known && utf8_print(out, n, "%zu more, none moved by as much as %.*f points", more, t->decimals, points) &&
        utf8_cells(out) <= width)
        return out;
    if (known && utf8_print(out, n, "%zu more, none by as much as %.*f points", more, t->decimals, points) &&
        utf8_cells(out) <= width)
        return out;
    if (known && !l->lasts && utf8_print(out, n, "%zu more, which moved less", more) && utf8_cells(out) <= width)
        return out;
    utf8_print(out, n, "%zu more", more);
    return out;
}
