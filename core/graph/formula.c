#include <string.h>

#include "core/base/buf.h"
#include "core/graph/anatomy.h"
#include "core/graph/graph.h"

void graph_shape_text(const Graph *g, Dims d, Buf *out)
{
    buf_putc(out, '[');
    for (int i = 0; i < d.n; i++)
        buf_printf(out, "%s%s=%d", i ? "," : "", g->axes[d.axis[i]].sym, g->axes[d.axis[i]].n);
    buf_putc(out, ']');
}

static void put_axes(const Graph *g, Dims d, Buf *out)
{
    for (int i = 0; i < d.n; i++)
        buf_printf(out, "%s%s", i ? "," : "", g->axes[d.axis[i]].sym);
}

/* Length of the scope of a path's block with its dot at the start of the path, or 0. */
static size_t block_prefix(const Graph *g, const char *path)
{
    int block = anatomy_block_of(g, path);
    size_t n = block == NO_PART ? 0 : strlen(anatomy_part(g, block)->scope);
    return n && strncmp(path, anatomy_part(g, block)->scope, n) == 0 && path[n] == '.' ? n + 1 : 0;
}

/* Length of "grad." at the start of a path, or 0. */
static size_t grad_prefix(const char *path)
{
    static const char GRAD[] = "grad.";
    return strncmp(path, GRAD, strlen(GRAD)) == 0 ? strlen(GRAD) : 0;
}

/* In a gradient's formula: what is inside its node's block without that block; "grad." is put in front of gradients by
 * the caller. */
static const char *name_seen_from_grad(const Graph *g, const char *from, const char *path)
{
    size_t block = block_prefix(g, from);
    return block && strncmp(from, path, block) == 0 ? path + block : path;
}

/* The shortest name of `n` that a reader of `from`'s formula cannot mistake: its own name inside one scope, the path
 * inside one block, else the whole path. */
static const char *name_seen_from(const Graph *g, const Node *from, const Node *n)
{
    size_t scope = (size_t)(node_name(from) - from->path);
    if (strncmp(from->path, n->path, scope) == 0 && !strchr(n->path + scope, '.'))
        return n->path + scope;
    size_t block = block_prefix(g, from->path);
    return block && strncmp(from->path, n->path, block) == 0 ? n->path + block : n->path;
}

static void put_node(const Graph *g, const Node *from, NodeId id, Buf *out)
{
    const Node *n = graph_node(g, id);
    size_t in_grad = grad_prefix(from->path), is_grad = grad_prefix(n->path);
    if (in_grad) {
        buf_puts(out, is_grad ? "grad." : "");
        buf_puts(out, name_seen_from_grad(g, from->path + in_grad, n->path + is_grad));
    } else
        buf_puts(out, name_seen_from(g, from, n));
    if (n->dims.n) {
        buf_putc(out, '[');
        put_axes(g, n->dims, out);
        buf_putc(out, ']');
    }
}

void graph_formula(const Graph *g, NodeId id, Buf *out)
{
    const Node *n = graph_node(g, id);
    static const char SUM[] = "Σ_%k ";
    const bool sums = graph_reduced(g, id).n > 0; /* a contraction may have nothing to sum: an outer product */
    const bool rows = n->op == OP_GATHER && n->axis != n->in_axis[0]; /* of a table, not an order */
    for (const char *f = rows ? "%y is rows of %a" : op_formula(n->op); *f; f++) {
        if (!sums && strncmp(f, SUM, strlen(SUM)) == 0)
            f += strlen(SUM);
        if (*f != '%') {
            buf_putc(out, *f);
            continue;
        }
        switch (*++f) {
        case 'y': put_node(g, n, id, out); break;
        case 'k': put_axes(g, graph_reduced(g, id), out); break;
        case 'f': buf_puts(out, map_name(n->map)); break;
        default: put_node(g, n, n->in[*f - 'a'], out); break;
        }
    }
    if (n->op == OP_LEAF)
        buf_printf(out, " (%s)", n->leaf.origin);
}
