#include "core/session/ask/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/ask/ask_parts.h"

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

/* What is shown of an axis that is too long: its first and its last indices. */
typedef struct Window {
    int count, head, tail;
} Window;

enum { COLUMNS = 7, ROWS = 16, LIST = 40, TABLES = 3, GAP = -1 };

static Window window(int count, int most)
{
    return count <= most ? (Window){count, count, 0} : (Window){count, most - 1 - most / 4, most / 4};
}

/* i-th thing to write: an index, or GAP for what is left out. */
static int window_at(Window w, int i)
{
    return i < w.head ? i : i == w.head ? GAP : w.count - w.tail + (i - w.head - 1);
}

static int window_shown(Window w)
{
    return w.head + (w.head < w.count ? 1 + w.tail : 0);
}

/* At most nine characters: four digits, three where the exponent takes the room. */
static void put_cell(float x, Buf *out)
{
    char text[32];
    if (isnan(x))
        snprintf(text, sizeof text, "NaN");
    else if (snprintf(text, sizeof text, "%.4g", (double)x) > 9)
        snprintf(text, sizeof text, "%.3g", (double)x);
    buf_printf(out, " %9s", text);
}

/* Padded to `width` characters, which are cells for every label but a class name in another script. */
static void put_label(const Excerpt *c, int dim, int index, int width, Buf *out)
{
    char label[64];
    axis_label(&c->graph->axes[c->dims.axis[dim]], c->from[dim] + index, label, sizeof label);
    if (strlen(label) > (size_t)(width > 0 ? width : -width))
        label[width > 0 ? width : -width] = 0;
    buf_printf(out, "%*s", width, label);
}

static void put_list(const Excerpt *c, const float *x, Buf *out)
{
    Window w = window(c->count[0], LIST);
    for (int i = 0; i < window_shown(w); i++) {
        int at = window_at(w, i);
        if (at == GAP) {
            buf_printf(out, "  … %d more\n", w.count - w.head - w.tail);
            continue;
        }
        buf_puts(out, "  ");
        put_label(c, 0, at, -24, out);
        put_cell(x[at], out);
        buf_putc(out, '\n');
    }
}

/* Rows: the last axis but one; columns: the last. */
static void put_table(const Excerpt *c, const float *x, Buf *out)
{
    int rows = c->dims.n - 2, cols = c->dims.n - 1;
    Window r = window(c->count[rows], ROWS), w = window(c->count[cols], COLUMNS);
    buf_printf(out, "%5s\\%-2s", c->graph->axes[c->dims.axis[rows]].sym, c->graph->axes[c->dims.axis[cols]].sym);
    for (int k = 0; k < window_shown(w); k++) {
        buf_putc(out, ' ');
        if (window_at(w, k) == GAP)
            buf_puts(out, "        …");
        else
            put_label(c, cols, window_at(w, k), 9, out);
    }
    buf_putc(out, '\n');
    for (int i = 0; i < window_shown(r); i++) {
        int row = window_at(r, i);
        if (row == GAP) {
            buf_printf(out, "       … %d more rows\n", r.count - r.head - r.tail);
            continue;
        }
        put_label(c, rows, row, 8, out);
        for (int k = 0; k < window_shown(w); k++)
            if (window_at(w, k) == GAP)
                buf_puts(out, "         …");
            else
                put_cell(x[(size_t)row * (size_t)w.count + (size_t)window_at(w, k)], out);
        buf_putc(out, '\n');
    }
}

/* The first tables, one for each index of the axes in front. */
static void put_tables(const Excerpt *c, const float *x, Buf *out)
{
    int lead = c->dims.n - 2;
    size_t cells = (size_t)c->count[lead] * (size_t)c->count[lead + 1], tables = c->cells / cells;
    for (size_t t = 0; t < tables && t < TABLES; t++) {
        size_t rest = t;
        int index[DIMS_MAX] = {0};
        for (int i = lead - 1; i >= 0; i--) {
            index[i] = (int)(rest % (size_t)c->count[i]);
            rest /= (size_t)c->count[i];
        }
        for (int i = 0; i < lead; i++) {
            char label[64];
            const Axis *a = &c->graph->axes[c->dims.axis[i]];
            buf_printf(out, "%s%s=%s", i ? "," : "[", a->sym,
                       axis_label(a, c->from[i] + index[i], label, sizeof label));
        }
        buf_puts(out, lead ? "]\n" : "");
        put_table(c, x + t * cells, out);
    }
    if (tables > TABLES)
        buf_printf(out, "… %zu more such tables: name one as above, or write all with -o FILE.npy\n", tables - TABLES);
}

static void put_summary(const float *x, size_t n, Buf *out)
{
    float low = INFINITY, high = -INFINITY;
    double sum = 0;
    size_t finite = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
            sum += (double)x[i];
            finite++;
        }
    if (finite)
        buf_printf(out, "lowest %.6g, mean %.6g, highest %.6g", (double)low, sum / (double)finite, (double)high);
    if (finite < n)
        buf_printf(out, "%s%zu of %zu are not finite", finite ? "; " : "", n - finite, n);
    buf_putc(out, '\n');
}

void export_table(const Excerpt *c, const float *x, Buf *out)
{
    buf_puts(out, graph_node(c->graph, c->node)->path);
    buf_puts(out, "  float32 ");
    excerpt_shape_text(c, out);
    buf_putc(out, '\n');
    if (c->dims.n == 0) {
        buf_puts(out, "  ");
        ask_put_number(out, x[0]);
        buf_putc(out, '\n');
        return;
    }
    if (c->dims.n == 1)
        put_list(c, x, out);
    else
        put_tables(c, x, out);
    put_summary(x, c->cells, out);
}
