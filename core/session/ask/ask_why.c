/* From a cell, always into the largest term, down to a weight or a pixel. */
#include <math.h>
#include <string.h>

#include "core/session/address.h"
#include "core/session/ask/ask_parts.h"

enum { WHY_MOST = 1024 };

/* The next cell and what share it has of the sizes of all terms. */
typedef struct Choice {
    NodeId node;
    size_t cell;
    float share;
} Choice;

static float size_of(float x)
{
    return isnan(x) ? INFINITY : fabsf(x);
}

static float share_of(float part, double all)
{
    return isfinite(all) && all > 0 ? (float)((double)size_of(part) / all) : 1.0f;
}

static bool ends(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    return node->op == OP_LEAF && node->leaf.kind != LEAF_INPUT;
}

/* Of a product: the first factor, the activation; the second where the first is a weight or a constant and the second
 * is not. */
static int followed_factor(const Graph *g, const Term *t)
{
    return t->operands > 1 && ends(g, t->node[0]) && !ends(g, t->node[1]) ? 1 : 0;
}

/* The largest of the terms summed; of a maximum the one that won. */
static Choice choose_term(const Explain *e, const Run *run)
{
    const Graph *g = e->graph;
    bool max = graph_node(g, e->node)->op == OP_MAX;
    size_t best = 0;
    float largest = -INFINITY;
    double all = 0;
    for (size_t i = 0; i < e->terms; i++) {
        float c = explain_contribution(e, i, ask_values, run), size = max && !isnan(c) ? c : size_of(c);
        all += (double)size_of(c);
        if (size > largest) {
            largest = size;
            best = i;
        }
    }
    Term t = explain_term(e, best);
    int k = followed_factor(g, &t);
    return (Choice){t.node[k], t.cell[k], max ? 1.0f : share_of(largest, all)};
}

/* The operand to follow of an operation that has no terms to choose from. Of a difference it is the number taken from:
 * what is subtracted in this graph is a level, a mean or a row's maximum, that cancels again or belongs to all cells
 * alike. */
static Choice choose_operand(const Explain *e, const Run *run)
{
    Term t = explain_term(e, 0);
    Op op = graph_node(e->graph, e->node)->op;
    float x[NODE_INPUTS] = {0}, share = 1;
    int k = 0;
    for (int i = 0; i < t.operands; i++)
        x[i] = run_peek(run, t.node[i])[t.cell[i]];
    if (op == OP_ADD) {
        k = size_of(x[1]) > size_of(x[0]);
        share = share_of(x[k], (double)size_of(x[0]) + (double)size_of(x[1]));
    } else if (op == OP_MUL || op == OP_DIV)
        k = followed_factor(e->graph, &t);
    else if (op == OP_WHERE)
        k = x[0] != 0.0f ? 1 : 2;
    return (Choice){t.node[k], t.cell[k], share};
}

static bool moves(Op op)
{
    return op == OP_VIEW || op == OP_CONCAT || op == OP_SLICE || op == OP_GATHER;
}

bool ask_why(Session *s, Side side, NodeId n, size_t cell, WhyStep *steps, int most, int *count, Err *err)
{
    side = ask_side(side);
    const Graph *g = session_graph(s, side);
    const Run *run = session_run(s, side);
    float share = 1;
    *count = 0;
    while (*count < most) {
        const Node *node = graph_node(g, n);
        if (!ask_need_inputs(s, side, n, err))
            return false;
        if (*count == 0 || !moves(node->op)) { /* a moved cell is the same number under another name: looked through */
            steps[*count] = (WhyStep){.ref = session_ref(side, n, cell),
                                      .value = run_peek(run, n)[cell],
                                      .share = share};
            ++*count;
            share = 1;
        }
        Explain e = explain_open(g, n, cell);
        if (!e.terms) /* a leaf, or a sum of nothing */
            return true;
        bool sums = node->op == OP_CONTRACT || node->op == OP_SUM || node->op == OP_MAX || node->op == OP_SCATTER;
        Choice c = sums ? choose_term(&e, run) : choose_operand(&e, run);
        n = c.node;
        cell = c.cell;
        share = moves(node->op) ? share : c.share;
    }
    return true;
}

static const char HOW[] = "Always the largest term of a sum; of a product the activation, not the weight; of a "
                          "difference what is taken from. "
                          "The share is a term's size over the sizes of all terms of the sum above it.";
static const char LIMIT[] = "The size of a term is not a cause: a large term may be cancelled by others. Switch "
                            "something off to see what it does.";

static void put_text(const Session *s, Side side, const WhyStep *steps, int count, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const WhyStep *last = &steps[count - 1];
    buf_printf(out, "%s\n", HOW);
    for (int i = 0; i < count; i++) {
        Buf address = {0};
        address_put(g, steps[i].ref.node, steps[i].ref.cell, &address);
        buf_printf(out, "%3d  %-50s %12.6g", i, buf_str(&address),
                   (double)steps[i].value); /* with the share 74 columns: inside a box of 78 */
        if (i && steps[i].share < 1.0f)
            buf_printf(out, " %3.0f %%", (double)steps[i].share * 100);
        buf_putc(out, '\n');
        buf_free(&address);
    }
    if (graph_node(g, last->ref.node)->op == OP_LEAF) {
        buf_puts(out, "The last is ");
        ask_put_leaf(s, side, last->ref.node, last->ref.cell, out);
        buf_puts(out, ".\n");
    }
    buf_printf(out, "%s\n", LIMIT);
}

static void put_json(const Session *s, Side side, const WhyStep *steps, int count, Buf *out)
{
    const Graph *g = session_graph(s, side);
    const WhyStep *last = &steps[count - 1];
    Buf end = {0};
    buf_puts(out, "{\"chain\":[");
    for (int i = 0; i < count; i++) {
        buf_printf(out, "%s\n{\"address\":", i ? "," : "");
        ask_put_json_address(out, g, steps[i].ref);
        buf_puts(out, ",\"value\":");
        ask_put_json(out, steps[i].value);
        buf_puts(out, ",\"share\":");
        ask_put_json(out, steps[i].share);
        buf_putc(out, '}');
    }
    if (graph_node(g, last->ref.node)->op == OP_LEAF)
        ask_put_leaf(s, side, last->ref.node, last->ref.cell, &end);
    buf_puts(out, "],\"ends_at\":");
    buf_json(out, buf_str(&end));
    buf_puts(out, ",\"how\":");
    buf_json(out, HOW);
    buf_puts(out, ",\"limit\":");
    buf_json(out, LIMIT);
    buf_puts(out, "}\n");
    buf_free(&end);
}

bool ask_why_text(Session *s, Side side, const char *path, size_t cell, Buf *out, bool json, Err *err)
{
    side = ask_side(side);
    NodeId n = ask_node(s, side, path, err);
    int count = 0;
    Arena arena = {0};
    WhyStep *steps = arena_alloc(&arena, size_mul(WHY_MOST, sizeof *steps));
    bool ok = n != NO_NODE && ask_why(s, side, n, cell, steps, WHY_MOST, &count, err);
    if (ok && json)
        put_json(s, side, steps, count, out);
    else if (ok)
        put_text(s, side, steps, count, out);
    arena_free(&arena);
    return ok;
}
