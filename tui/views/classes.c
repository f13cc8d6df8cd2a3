#include "tui/views/classes.h"

#include <math.h>
#include <stdio.h>

/* Does class a stand before class b: larger first, NaN last, ties in the order of the classes. */
static bool before(const float *v, size_t a, size_t b)
{
    if (isnan(v[a]) || isnan(v[b]))
        return isnan(v[a]) == isnan(v[b]) ? a < b : isnan(v[b]);
    return v[a] > v[b] || (!(v[a] < v[b]) && a < b);
}

size_t classes_rank(const float *v, size_t n, size_t which)
{
    size_t rank = 0;
    for (size_t i = 0; i < n; i++)
        rank += i != which && before(v, i, which);
    return rank;
}

size_t classes_best(const float *v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (before(v, i, best))
            best = i;
    return best;
}

size_t classes_next(const float *v, size_t n, size_t which)
{
    size_t found = n;
    for (size_t i = 0; i < n; i++)
        if (i != which && before(v, which, i) && (found == n || before(v, i, found)))
            found = i;
    return found;
}

size_t classes_previous(const float *v, size_t n, size_t which)
{
    size_t found = n;
    for (size_t i = 0; i < n; i++)
        if (i != which && before(v, i, which) && (found == n || before(v, found, i)))
            found = i;
    return found;
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
