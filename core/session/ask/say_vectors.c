/* What can be said of the vectors of tokens and heads, of hidden units, and of any node at all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/models/names.h"
#include "core/session/address.h"
#include "core/session/ask/say.h"

/* "number e=5 of it is -.4": the focused cell. */
static void put_cell(const Teller *t, int axis)
{
    buf_printf(t->out, "number %s=%d of it is ", t->g->axes[axis].sym, teller_on(t, axis));
    ask_put_short(t->out, t->x[t->cell]);
}

static void put_length(const Teller *t, const float *x, size_t n)
{
    ask_put_short(t->out, (float)length_of_vector(x, n));
}

bool say_head_vector(const Teller *t)
{
    Dims d = graph_node(t->g, t->n)->dims;
    const NodeText *text = node_text(t->s->place.path);
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    buf_printf(t->out, "%s of ", node_name(graph_node(t->g, t->n)));
    teller_put_token_of(t, d.axis[0]);
    buf_printf(t->out, " in head %d of block %d: %zu numbers, a vector of length ", teller_index(t, ROLE_HEAD),
               session_block(t->s), count);
    put_length(t, row, count);
    buf_puts(t->out, "; ");
    put_cell(t, d.axis[d.n - 1]);
    buf_printf(t->out, ". %s", text ? text->sentence : "");
    return true;
}

/* "The vector of patch r3c4 has 64 numbers and length 12.3; number d=5 of it is .7." */
static void put_token(const Teller *t)
{
    Dims d = graph_node(t->g, t->n)->dims;
    size_t count;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    buf_puts(t->out, "The vector of ");
    teller_put_token_of(t, d.axis[0]);
    buf_printf(t->out, " has %zu numbers and length ", count);
    put_length(t, row, count);
    buf_puts(t->out, "; ");
    put_cell(t, d.axis[d.n - 1]);
    buf_putc(t->out, '.');
}

bool say_token(const Teller *t)
{
    const NodeText *text = node_text(t->s->place.path);
    if (graph_node(t->g, t->n)->dims.n < 2)
        return say_anything(t);
    put_token(t);
    buf_printf(t->out, " %s", text ? text->sentence : "");
    return true;
}

/* A residual addition: how long the two vectors are that were added for this token. */
bool say_residual(const Teller *t)
{
    const Node *node = graph_node(t->g, t->n);
    if (node->op != OP_ADD)
        return say_token(t);
    size_t count;
    const float *in[2];
    double length[3] = {0};
    for (int k = 0; k < 2; k++) {
        if (graph_cells(t->g, node->in[k]) != graph_cells(t->g, t->n))
            return say_token(t);
        in[k] = ask_need(t->s, t->side, node->in[k], t->err);
        if (!in[k])
            return false;
        const float *row = teller_row(t, in[k], node->in[k], t->cell, &count);
        length[k] = length_of_vector(row, count);
    }
    put_token(t);
    const Node *before = graph_node(t->g, node->in[0]);
    int from = anatomy_of(t->g, graph_node(t->g, node->in[1])->path);
    bool mlp = from != NO_PART && anatomy_part(t->g, from)->kind == PART_MLP;
    bool both = mlp && before->op == OP_ADD && graph_cells(t->g, before->in[0]) == graph_cells(t->g, t->n) &&
                graph_cells(t->g, before->in[1]) == graph_cells(t->g, t->n);
    NodeId part[] = {both ? before->in[0] : node->in[0], both ? before->in[1] : node->in[1], node->in[1]};
    for (int k = 0; both && k < 2; k++) {
        in[k] = ask_need(t->s, t->side, part[k], t->err);
        if (!in[k])
            return false;
        length[k] = length_of_vector(teller_row(t, in[k], part[k], t->cell, &count), count);
    }
    if (both) { /* what entered the block, and both that were added since */
        in[1] = ask_need(t->s, t->side, part[2], t->err);
        if (!in[1])
            return false;
        length[2] = length_of_vector(teller_row(t, in[1], part[2], t->cell, &count), count);
    }
    buf_puts(t->out, both ? " It is the sum of the vector that entered the block, of length "
                          : " It is the sum of a vector of length ");
    ask_put_short(t->out, (float)length[0]);
    buf_puts(t->out, both ? ", of what attention adds, of length " : ", which came in, and one of length ");
    ask_put_short(t->out, (float)length[1]);
    if (both) {
        buf_puts(t->out, ", and of what the MLP adds, of length ");
        ask_put_short(t->out, (float)length[2]);
        buf_putc(t->out, '.');
    } else
        buf_printf(t->out, ", which the %s adds.", mlp ? "MLP" : "attention");
    return true;
}

bool say_hidden(const Teller *t)
{
    size_t count, above = 0;
    const float *row = teller_row(t, t->x, t->n, t->cell, &count);
    size_t best = largest_of(row, count);
    for (size_t i = 0; i < count; i++)
        above += row[i] > 0.0f;
    buf_printf(t->out, "Of the %zu hidden units of block %d's MLP, %zu are above 0 for ", count, session_block(t->s),
               above);
    teller_put_token(t, ROLE_QUERY);
    buf_printf(t->out, "; the strongest is unit %zu with ", best);
    ask_put_short(t->out, row[best]);
    buf_printf(t->out, ", unit %d has ", teller_index(t, ROLE_HIDDEN));
    ask_put_short(t->out, t->x[t->cell]);
    buf_putc(t->out, '.');
    return true;
}

bool say_anything(const Teller *t)
{
    const Node *node = graph_node(t->g, t->n);
    const NodeText *text = node_text(node->path);
    size_t cells = graph_cells(t->g, t->n), low = 0, high = largest_of(t->x, cells), finite = 0;
    double sum = 0;
    if (text)
        buf_printf(t->out, "%s ", text->sentence);
    buf_puts(t->out, "Here ");
    address_put(t->g, t->n, t->cell, t->out);
    buf_puts(t->out, " is ");
    ask_put_short(t->out, t->x[t->cell]);
    for (size_t i = 0; i < cells; i++) {
        low = t->x[i] < t->x[low] || isnan(t->x[low]) ? i : low;
        finite += isfinite(t->x[i]) != 0;
        sum += isfinite(t->x[i]) ? (double)t->x[i] : 0;
    }
    if (cells > 1 && t->x[low] == t->x[high])
        buf_printf(t->out, ", like all %zu numbers of this tensor", cells);
    else if (cells > 1) {
        buf_puts(t->out, "; the whole tensor of ");
        ask_put_count(t->out, cells);
        buf_puts(t->out, " numbers goes from ");
        ask_put_short(t->out, t->x[low]);
        buf_puts(t->out, " to ");
        ask_put_short(t->out, t->x[high]);
        buf_puts(t->out, ", mean ");
        ask_put_short(t->out, (float)(sum / (double)(finite ? finite : 1)));
        if (finite < cells)
            buf_printf(t->out, " without %zu that are not finite", cells - finite);
    }
    if (node->op == OP_LEAF) {
        buf_puts(t->out, ". It is ");
        ask_put_leaf(t->s, t->side, t->n, t->cell, t->out);
    }
    buf_putc(t->out, '.');
    return true;
}
