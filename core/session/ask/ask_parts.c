#include "core/session/ask/ask_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/session/address.h"

enum { SLICE_NS = 100000000 };

Side ask_side(Side side)
{
    return side == SIDE_A ? SIDE_A : SIDE_B;
}

const float *ask_need(Session *s, Side side, NodeId n, Err *err)
{
    Run *r = session_run(s, ask_side(side));
    while (!run_step(r, n, clock_ns() + SLICE_NS))
        if (s->progress && !s->progress(s->progress_context, graph_node(run_graph(r), n)->path, run_progress(r))) {
            err_set(err, "cancelled");
            return NULL;
        }
    return run_peek(r, n);
}

bool ask_need_inputs(Session *s, Side side, NodeId n, Err *err)
{
    const Node *node = graph_node(session_graph(s, ask_side(side)), n);
    for (int k = 0; k < op_inputs(node->op); k++)
        if (!leaf_read_as_stored(session_graph(s, ask_side(side)), n, k) && !ask_need(s, side, node->in[k], err))
            return false;
    return ask_need(s, side, n, err) != NULL;
}

NodeId ask_node(const Session *s, Side side, const char *path, Err *err)
{
    NodeId n = graph_find(session_graph(s, ask_side(side)), path);
    if (n == NO_NODE)
        err_set(err, "there is no node '%s' on this side", path);
    return n;
}

const float *ask_values(const void *run, NodeId n)
{
    return run_peek(run, n);
}

bool ask_inputs_there(const Run *r, NodeId n)
{
    const Graph *g = run_graph(r);
    const Node *node = graph_node(g, n);
    for (int k = 0; k < op_inputs(node->op); k++)
        if (!leaf_read_as_stored(g, n, k) && !run_peek(r, node->in[k]))
            return false;
    return true;
}

float ask_cell(const Run *r, NodeId n, size_t cell)
{
    const float *x = run_peek(r, n);
    return x ? x[cell] : leaf_cell(run_graph(r), graph_stored(run_graph(r), n), cell);
}

static bool put_special(Buf *out, float x)
{
    if (isnan(x))
        buf_puts(out, "NaN");
    else if (isinf(x))
        buf_puts(out, x < 0 ? "-inf" : "inf");
    return !isfinite(x);
}

void ask_put_number(Buf *out, float x)
{
    if (!put_special(out, x))
        buf_printf(out, "%.6g", x == 0.0f ? 0.0 : (double)x);
}

void ask_put_short(Buf *out, float x)
{
    enum { LEAST = 3, MOST = 6 };
    char text[32];
    int digits = LEAST;
    if (put_special(out, x))
        return;
    do /* what is less than one is not called that: 0.99998 */
        snprintf(text, sizeof text, "%.*g", digits, x == 0.0f ? 0.0 : (double)x); /* no -0 in prose */
    while (x < 1.0f && strcmp(text, "1") == 0 && digits++ < MOST);
    buf_puts(out, text);
}

void ask_put_count(Buf *out, size_t n)
{
    char plain[32];
    int length = snprintf(plain, sizeof plain, "%zu", n);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, plain[i]);
    }
}

void ask_json_address(Buf *out, const char *key, const Graph *g, Ref r)
{
    Buf address = {0};
    address_put(g, r.node, r.cell, &address);
    json_put_text(out, key, buf_str(&address));
    buf_free(&address);
}

/* "R" … of an index on an axis, by its letter: the label of cell's index on axis `sym`; "" when the node lacks it.
 * Returns out. */
static const char *ask_label(const Graph *g, NodeId n, size_t cell, const char *sym, char *out, size_t size)
{
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX];
    dims_unravel(g->axes, d, cell, index);
    for (int i = 0; i < d.n; i++)
        if (strcmp(g->axes[d.axis[i]].sym, sym) == 0)
            return axis_label(&g->axes[d.axis[i]], index[i], out, size);
    return *out = 0, out;
}

static int index_of(const Graph *g, NodeId n, size_t cell, const char *sym)
{
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX], at = dims_find(d, graph_axis_find(g, sym));
    dims_unravel(g->axes, d, cell, index);
    return at < 0 ? 0 : index[at];
}

static int length_of(const Graph *g, const char *sym)
{
    int axis = graph_axis_find(g, sym);
    return axis < 0 ? 1 : g->axes[axis].n;
}

/* A pixel of the resized picture, and the part of the file that it stands for. */
static void put_pixel(const Session *s, Side side, NodeId n, size_t cell, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const Exhibit *e = session_exhibit(s, side);
    int y = index_of(g, n, cell, "y") * length_of(g, "i") + index_of(g, n, cell, "i");
    int x = index_of(g, n, cell, "x") * length_of(g, "j") + index_of(g, n, cell, "j");
    char colour[32];
    ask_label(g, n, cell, "c", colour, sizeof colour);
    buf_printf(out, "the pixel in row %d, column %d of the picture as the model receives it, colour %s", y, x, colour);
    if (e->input.ready || !e->input.original.data) {
        buf_printf(out, "; its value came ready from %s", e->input.name);
        return;
    }
    SourceRect r = preprocess_source(&e->model->preprocess, e->input.original.width, e->input.original.height, x, y);
    const Image *file = &e->input.original, *taken = &e->input.resized;
    if (file->width == taken->width &&
        file->height == taken->height) /* nothing was resized: a range of one pixel would only puzzle */
        buf_printf(out, ", and of %s itself", e->input.name);
    else
        buf_printf(out, "; in %s: columns %.4g to %.4g, rows %.4g to %.4g", e->input.name, r.x0, r.x1, r.y0, r.y1);
}

/* A word, or what its number means. */
static void put_given_word(const Session *s, Side side, NodeId n, size_t cell, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const Node *node = graph_node(g, n);
    char label[64] = "";
    if (node->dims.n == 1)
        axis_label(&g->axes[node->dims.axis[0]], (int)cell, label, sizeof label);
    buf_printf(out, "given with the text: %s", node->leaf.origin);
    if (*label)
        buf_printf(out, ", here of \"%s\"", label);
}

void ask_put_leaf(const Session *s, Side side, NodeId n, size_t cell, Buf *out)
{
    const Node *node = graph_node(session_graph(s, side), n);
    switch (node->leaf.kind) {
    case LEAF_INPUT:
        if (session_exhibit(s, side)->input.kind == INPUT_PICTURE)
            put_pixel(s, side, n, cell, out);
        else if (session_exhibit(s, side)->input.kind == INPUT_MATRICES)
            buf_printf(out, "given by the worked example '%s'", session_input(s, side)->name);
        else
            put_given_word(s, side, n, cell, out);
        break;
    case LEAF_TENSOR:
        buf_puts(out, s->model.trained ? "a weight of the model, learned in training"
                                       : "a weight of the model, made from a seed");
        if (strcmp(s->model.layout, "bundled") != 0 && strcmp(s->model.layout, "seeded") != 0)
            buf_printf(out, "; the checkpoint calls its tensor '%s'", node->leaf.origin);
        break;
    case LEAF_CONST: buf_puts(out, "a constant of the model's definition"); break;
    case LEAF_HOST: buf_printf(out, "put in by: %s", node->leaf.origin); break;
    case LEAF_RUN: buf_printf(out, "a value of another run: %s", node->leaf.origin); break;
    }
}
