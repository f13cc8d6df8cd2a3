#include "core/session/ask/excerpt.h"

#include <string.h>

static bool has(const Excerpt *c, const char *sym, size_t n)
{
    for (int i = 0; i < c->dims.n; i++) {
        const char *have = c->graph->axes[c->dims.axis[i]].sym;
        if (strlen(have) == n && memcmp(have, sym, n) == 0)
            return true;
    }
    return false;
}

static bool reorder(Excerpt *c, const char *axes, Err *err)
{
    Excerpt old = *c;
    int n = 0;
    for (const char *p = axes; *p; p += strcspn(p, ",")) {
        p += *p == ',';
        size_t length = strcspn(p, ",");
        int k = 0;
        while (k < old.dims.n && (strlen(c->graph->axes[old.dims.axis[k]].sym) != length ||
                                  memcmp(c->graph->axes[old.dims.axis[k]].sym, p, length) != 0))
            k++;
        c->dims.n = n;
        if (k == old.dims.n || has(c, p, length)) {
            Buf shape = {0};
            excerpt_shape_text(&old, &shape);
            err_set(err, "axes=%.40s: name every axis of %s once, with commas between", axes, buf_str(&shape));
            buf_free(&shape);
            return false;
        }
        c->dims.axis[n] = old.dims.axis[k];
        c->from[n] = old.from[k];
        c->count[n++] = old.count[k];
        c->dims.n = n;
    }
    if (n == old.dims.n)
        return true;
    Buf shape = {0};
    excerpt_shape_text(&old, &shape);
    err_set(err, "axes=%.40s: %d ax%s left out of %s", axes, old.dims.n - n, old.dims.n - n == 1 ? "is is" : "es are",
            buf_str(&shape));
    buf_free(&shape);
    return false;
}

bool excerpt_make(Excerpt *out, const Graph *g, NodeId n, const Selection *cells, const char *axes, Err *err)
{
    Dims d = graph_node(g, n)->dims;
    Excerpt c = {.graph = g, .node = n, .cells = 1, .whole = true};
    for (int i = 0; i < d.n; i++) {
        int from = 0, to = g->axes[d.axis[i]].n;
        bool chosen = false;
        for (int k = 0; k < cells->n; k++)
            if (cells->range[k].axis == d.axis[i]) {
                from = cells->range[k].from;
                to = cells->range[k].to;
                chosen = true;
            }
        c.whole = c.whole && !chosen;
        if (chosen && to == from + 1) {
            c.first += (size_t)from * dims_stride(g->axes, d, d.axis[i]);
            continue;
        }
        c.from[c.dims.n] = from;
        c.count[c.dims.n] = to - from;
        c.dims.axis[c.dims.n++] = d.axis[i];
        c.cells *= (size_t)(to - from);
    }
    Dims before = c.dims;
    if (axes && !reorder(&c, axes, err))
        return false;
    c.whole = c.whole && dims_equal(before, c.dims);
    for (int i = 0; i < c.dims.n; i++)
        c.first += (size_t)c.from[i] * dims_stride(g->axes, d, c.dims.axis[i]);
    *out = c;
    return true;
}

void excerpt_copy(const Excerpt *c, const float *values, float *out)
{
    Dims d = graph_node(c->graph, c->node)->dims;
    size_t stride[DIMS_MAX], at = c->first;
    int index[DIMS_MAX] = {0};
    for (int i = 0; i < c->dims.n; i++)
        stride[i] = dims_stride(c->graph->axes, d, c->dims.axis[i]);
    for (size_t cell = 0; cell < c->cells; cell++) {
        out[cell] = values[at];
        for (int i = c->dims.n - 1; i >= 0; i--) { /* an odometer: the last axis turns fastest */
            at += stride[i];
            if (++index[i] < c->count[i])
                break;
            at -= stride[i] * (size_t)c->count[i];
            index[i] = 0;
        }
    }
}

void excerpt_shape_text(const Excerpt *c, Buf *out)
{
    buf_putc(out, '[');
    for (int i = 0; i < c->dims.n; i++)
        buf_printf(out, "%s%s=%d", i ? "," : "", c->graph->axes[c->dims.axis[i]].sym, c->count[i]);
    buf_putc(out, ']');
}
