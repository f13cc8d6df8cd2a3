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

/* Length of "grad." or "direct." at the start of a path, or 0. */
static size_t grad_prefix(const char *path)
{
    static const char *const PREFIXES[] = {"grad.", "direct."};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof *PREFIXES; i++)
        if (strncmp(path, PREFIXES[i], strlen(PREFIXES[i])) == 0)
            return strlen(PREFIXES[i]);
    return 0;
}

/* In a gradient's formula: what is inside its node's block without that block; its prefix is put in front of a gradient
 * by the caller. */
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
        buf_printf(out, "%.*s", (int)is_grad, n->path);
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

Cost graph_cost(const Graph *g, NodeId id)
{
    const Node *n = graph_node(g, id);
    double cells = (double)graph_cells(g, id), reduced = (double)graph_dims_cells(g, graph_reduced(g, id));
    Cost c = {.bytes = 4 * cells};
    switch (n->op) {
    case OP_LEAF:
        if (n->leaf.kind == LEAF_TENSOR)
            c.params = cells;
        break;
    case OP_CONTRACT: c.flops = 2 * cells * reduced; break;
    case OP_SUM:
    case OP_MAX: c.flops = cells * reduced; break;
    case OP_VIEW: c.bytes = 0; break; /* the same memory under other names */
    case OP_CONCAT:
    case OP_SLICE:
    case OP_GATHER:
    case OP_WHERE: break; /* data moves, nothing is computed */
    case OP_SCATTER: c.flops = (double)graph_cells(g, n->in[0]); break;
    default: c.flops = cells; break;
    }
    return c;
}

Cost graph_scope_cost(const Graph *g, const char *scope)
{
    Cost sum = {0};
    size_t len = strlen(scope);
    for (NodeId i = 0; i < g->count; i++) {
        const char *path = g->nodes[i].path;
        if (g->nodes[i].flags & NODE_PROBE) /* an analysis is no part of the model */
            continue;
        if (len && (strncmp(path, scope, len) != 0 || (path[len] && path[len] != '.')))
            continue;
        Cost c = graph_cost(g, i);
        sum.flops += c.flops;
        sum.bytes += c.bytes;
        sum.params += c.params;
    }
    return sum;
}
