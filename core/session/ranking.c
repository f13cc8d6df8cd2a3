#include "core/session/ranking.h"

#include <math.h>

/* Does class a stand before class b: larger first, NaN last, ties in the order of the classes. */
static bool before(Ranking r, size_t a, size_t b)
{
    float x = r.by_size ? fabsf(r.v[a]) : r.v[a], y = r.by_size ? fabsf(r.v[b]) : r.v[b];
    if (isnan(x) || isnan(y))
        return isnan(x) == isnan(y) ? a < b : isnan(y);
    return x > y || (!(x < y) && a < b);
}

size_t ranking_rank(Ranking r, size_t which)
{
    size_t rank = 0;
    for (size_t i = 0; i < r.n; i++)
        rank += i != which && before(r, i, which);
    return rank;
}

size_t ranking_best(Ranking r)
{
    size_t best = 0;
    for (size_t i = 1; i < r.n; i++)
        if (before(r, i, best))
            best = i;
    return best;
}

size_t ranking_next(Ranking r, size_t which)
{
    size_t found = r.n;
    for (size_t i = 0; i < r.n; i++)
        if (i != which && before(r, which, i) && (found == r.n || before(r, i, found)))
            found = i;
    return found;
}

size_t ranking_previous(Ranking r, size_t which)
{
    size_t found = r.n;
    for (size_t i = 0; i < r.n; i++)
        if (i != which && before(r, i, which) && (found == r.n || before(r, found, i)))
            found = i;
    return found;
}

static size_t worst(Ranking r)
{
    size_t last = 0;
    for (size_t i = 1; i < r.n; i++)
        if (before(r, last, i))
            last = i;
    return last;
}

size_t ranking_move(Ranking r, size_t which, int by)
{
    if (by >= (int)r.n || by <= -(int)r.n)
        return by > 0 ? worst(r) : ranking_best(r);
    for (; by != 0; by += by < 0 ? 1 : -1) {
        size_t to = by > 0 ? ranking_next(r, which) : ranking_previous(r, which);
        if (to == r.n)
            break;
        which = to;
    }
    return which;
}
