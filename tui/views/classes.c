#include "tui/views/classes.h"

#include <math.h>
#include <stdio.h>

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

size_t classes_best(const float *v, size_t n)
{
    return ranking_best((Ranking){v, n, false});
}

size_t classes_next(const float *v, size_t n, size_t which)
{
    return ranking_next((Ranking){v, n, false}, which);
}

const char *classes_name(const Shown *v, size_t i, char *out, size_t n)
{
    Dims d = graph_node(v->graph, v->node)->dims;
    if (d.n == 0 || v->count != (size_t)v->graph->axes[d.axis[d.n - 1]].n)
        snprintf(out, n, "%zu", i);
    else
        axis_label(&v->graph->axes[d.axis[d.n - 1]], (int)i, out, n);
    return out;
}
