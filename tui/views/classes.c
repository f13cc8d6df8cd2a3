#include "tui/views/classes.h"

#include <stdio.h>

#include "core/base/utf8.h"

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

const char *classes_label(const Shown *v, size_t i, int columns, char *out, size_t n)
{
    char name[128], numbered[160];
    if (utf8_cells(classes_name(v, i, name, sizeof name)) <= columns)
        return utf8_fit(out, n, name, columns);
    utf8_print(numbered, sizeof numbered, "%zu %s", i, name);
    return utf8_fit(out, n, numbered, columns);
}
