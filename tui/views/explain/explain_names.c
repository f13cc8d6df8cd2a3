/* Names and numbers of cells as an explanation writes them, and where its cursor is. */
#include <stdio.h>
#include <string.h>

#include "tui/views/explain/explain.h"

enum { NUMBER = 12 };

const char *cell_brief(const Graph *g, NodeId n, size_t cell, Dims letters, char *out, size_t size)
{
    const Node *node = graph_node(g, n);
    int index[DIMS_MAX] = {0};
    dims_unravel(g->axes, node->dims, cell, index);
    size_t used = (size_t)snprintf(out, size, "%s", node_name(node));
    for (int i = 0; i < node->dims.n && used < size; i++) {
        const Axis *a = &g->axes[node->dims.axis[i]];
        char label[40];
        bool letter = dims_find(letters, node->dims.axis[i]) >= 0;
        int more = snprintf(out + used, size - used, "%s%s", i ? "," : "[",
                            letter ? a->sym : axis_label(a, index[i], label, sizeof label));
        used += more > 0 ? (size_t)more : 0;
    }
    if (node->dims.n && used < size)
        snprintf(out + used, size - used, "]");
    return out;
}

const char *cell_name(const Graph *g, NodeId from, NodeId n, size_t cell, char *out, size_t size)
{
    const char *path = graph_node(g, n)->path, *other = graph_node(g, from)->path;
    int block = anatomy_block_of(g, path);
    size_t scope = block == NO_PART ? 0 : strlen(anatomy_part(g, block)->scope);
    if (scope && block == anatomy_block_of(g, other) && strncmp(path, other, scope + 1) == 0 &&
        strncmp(path, anatomy_part(g, block)->scope, scope) == 0)
        path += scope + 1;
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX] = {0};
    dims_unravel(g->axes, d, cell, index);
    size_t used = (size_t)snprintf(out, size, "%s", path);
    for (int i = 0; i < d.n && used < size; i++) {
        char label[40];
        const Axis *a = &g->axes[d.axis[i]];
        int more = snprintf(out + used, size - used, "%s%s=%s", i ? "," : "[", a->sym,
                            axis_label(a, index[i], label, sizeof label));
        used += more > 0 ? (size_t)more : 0;
    }
    if (d.n && used < size)
        snprintf(out + used, size - used, "]");
    return out;
}

int ref_number_cells(float x)
{
    char text[32];
    number_text(text, sizeof text, x, NUMBER);
    return (int)strlen(text);
}

void ref_number(const Paint *p, float value, Ref ref, int y, int x, int width, Style style)
{
    char text[32];
    number_text(text, sizeof text, value, NUMBER);
    int n = (int)strlen(text);
    if (n > width)
        return; /* a number that is cut is another number */
    canvas_text(p->c, y, x + width - n, n, style, text);
    canvas_ref(p->c, y, x + width - n, n, ref);
}

bool explain_is_table(Op op)
{
    return op == OP_CONTRACT || op == OP_SUM || op == OP_MAX || op == OP_SCATTER;
}

size_t explain_term_here(const Session *s, size_t terms)
{
    return s->place.term < terms ? s->place.term : terms ? terms - 1 : 0;
}

int explain_operand_here(const Session *s, int operands)
{
    return s->place.operand < operands ? s->place.operand : operands ? operands - 1 : 0;
}
