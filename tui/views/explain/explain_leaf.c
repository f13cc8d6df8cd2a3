/* Where the arithmetic begins: what a cell that nothing computed is. */
#include <stdio.h>
#include <string.h>

#include "tui/views/explain/explain.h"
#include "tui/views/number.h"

/* Index of the cell on the axis of that role, −1 where the node lacks it; *length gets the axis' length. */
static int index_on(const Shown *v, AxisRole role, int *length)
{
    Dims d = graph_node(v->graph, v->node)->dims;
    int index[DIMS_MAX] = {0}, axis = dims_role(v->graph, d, role), at = dims_find(d, axis);
    if (axis == AXIS_NONE)
        return -1;
    dims_unravel(v->graph->axes, d, v->cell, index);
    *length = v->graph->axes[axis].n;
    return index[at];
}

static void put_weight(const Session *s, const Shown *v, Buf *out)
{
    const Node *n = graph_node(v->graph, v->node);
    const Model *m = session_exhibit(s, v->side)->model;
    char cells[32], number[32];
    if (m)
        buf_printf(out, "A weight, %s. ",
                   m->trained ? "learned in training" : "made from a seed: this model is untrained");
    if (m && strcmp(m->layout, "bundled") != 0 && strcmp(m->layout, "seeded") != 0)
        buf_printf(out, "The checkpoint calls its tensor\n%s\n", n->leaf.origin);
    graph_shape_text(v->graph, n->dims, out);
    buf_printf(out, ", %s numbers; this is number %s, counted from 0.\n", count_text(cells, sizeof cells, v->count),
               count_text(number, sizeof number, v->cell));
}

static void put_pixel(const Session *s, const Shown *v, Buf *out)
{
    const Input *in = session_input(s, v->side);
    int rows = 1, cols = 1, tall = 1, wide = 1, colours = 1;
    int y = index_on(v, ROLE_PLACE_ROW, &rows), x = index_on(v, ROLE_PLACE_COL, &cols),
        i = index_on(v, ROLE_PIXEL_ROW, &tall), j = index_on(v, ROLE_PIXEL_COL, &wide),
        c = index_on(v, ROLE_CHANNEL, &colours);
    char name[160];
    if (in->kind == INPUT_MATRICES) {
        buf_printf(out, "Given by the worked example '%s': the arithmetic begins here.\n", in->name);
        return;
    }
    if (y < 0 || x < 0 || i < 0 || j < 0) {
        buf_puts(out, "Put in from outside.\n");
        return;
    }
    int py = y * tall + i, px = x * wide + j;
    static const char *const RGB[] = {"red", "green", "blue"};
    buf_printf(out, "A pixel of the picture that the model receives (%d × %d):\ncolumn %d, row %d", cols * wide,
               rows * tall, px, py);
    if (colours == 3 && c >= 0)
        buf_printf(out, ", %s", RGB[c]);
    buf_printf(out, "; it lies in patch r%dc%d.\n", y, x);
    snprintf(name, sizeof name, "%s", in->name);
    if (in->ready)
        buf_printf(out, "Its value was given ready in %s.\n", name);
    else if (in->original.data && session_exhibit(s, v->side)->model) {
        SourceRect r = preprocess_source(&session_exhibit(s, v->side)->model->preprocess, in->original.width,
                                         in->original.height, px, py);
        buf_printf(out, "In %s (%d × %d) it stands for columns %.1f to %.1f, rows %.1f to %.1f.\n", name,
                   in->original.width, in->original.height, r.x0, r.x1, r.y0, r.y1);
    }
}

void explain_leaf(const Paint *p, const Shown *v, Rect r)
{
    const Node *n = graph_node(v->graph, v->node);
    const char *origin = n->leaf.origin ? n->leaf.origin : "";
    bool named = *origin && strcmp(origin, "constant") != 0;
    Buf text = {0};
    if (r.h < 1)
        return;
    char name[200];
    cell_name(v->graph, v->node, v->node, v->cell, name, sizeof name);
    char number[32];
    number_text(number, sizeof number, v->values[v->cell], 12);
    int used = 0;
    if ((int)strlen(number) + 8 <= r.w)
        used = canvas_printf(p->c, r.y, r.x, r.w - (int)strlen(number), STYLE_TEXT, "%s = ", name);
    shown_number(p, v, v->cell, r.y, r.x + used, r.w - used, STYLE_STRONG);
    switch (n->leaf.kind) {
    case LEAF_TENSOR: put_weight(p->s, v, &text); break;
    case LEAF_INPUT: put_pixel(p->s, v, &text); break;
    case LEAF_CONST:
        buf_printf(&text, "A constant of the model's definition%s%s.\n", named ? ": " : "", named ? origin : "");
        break;
    case LEAF_HOST: buf_printf(&text, "Put in by %s.\n", *origin ? origin : "an edit"); break;
    case LEAF_RUN: buf_printf(&text, "A value of another run: %s.\n", origin); break;
    }
    buf_puts(&text, "Here the arithmetic begins.");
    r.y++;
    r.h--;
    canvas_wrap(p->c, r, STYLE_TEXT, buf_str(&text));
    buf_free(&text);
}
