/* What can be said of a node wherever it is met: vectors of tokens and heads, hidden units, how attention knows places,
 * pixels, and any tensor at all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/graph/anatomy.h"
#include "core/models/names.h"
#include "core/session/address.h"
#include "core/session/ask/say.h"
#include "core/session/difference.h"

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
    buf_printf(t->out, ". %s", text ? node_words(t->g, text->sentence) : "");
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
    buf_printf(t->out, " %s", text ? node_words(t->g, text->sentence) : "");
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

/* Which experts the token gets, and how many tokens get the one at the cursor. */
bool say_experts(const Teller *t)
{
    enum { NAMED = 8 };
    NodeId n;
    size_t count, best[NAMED], chosen = 0, have = 0;
    const char *path = site_path(t->g, anatomy_of(t->g, graph_node(t->g, t->n)->path), SITE_EXPERTS_WEIGHTS);
    const float *x = teller_values(t, path, &n);
    if (!x)
        return false;
    const float *row = teller_row(t, x, n, t->cell, &count);
    const size_t expert = t->cell % count, tokens = graph_cells(t->g, n) / count;
    for (size_t i = 0; i < count; i++)
        chosen += row[i] > 0;
    for (size_t k = 0; k < tokens; k++)
        have += x[k * count + expert] > 0;
    const size_t named = largest_first(row, count, best, chosen < NAMED ? chosen : NAMED);
    buf_puts(t->out, "The ");
    teller_put_token(t, ROLE_QUERY);
    buf_printf(t->out, " gets %zu of %zu experts:", chosen, count);
    for (size_t i = 0; i < named; i++) {
        buf_printf(t->out, "%s %zu with ", i ? "," : "", best[i]);
        ask_put_short(t->out, row[best[i]]);
    }
    buf_printf(t->out, "%s. Expert %zu is chosen for %zu of %zu tokens; were all chosen alike, for %.1f.",
               named < chosen ? ", …" : "", expert, have, tokens, (double)tokens * (double)chosen / (double)count);
    return true;
}

bool say_anything(const Teller *t)
{
    const Node *node = graph_node(t->g, t->n);
    const NodeText *text = node_text(node->path);
    size_t cells = graph_cells(t->g, t->n), low = 0, high = largest_of(t->x, cells), finite = 0;
    double sum = 0;
    if (text)
        buf_printf(t->out, "%s ", node_words(t->g, text->sentence));
    buf_puts(t->out, "Here ");
    address_put(t->g, t->n, t->cell, t->out);
    buf_puts(t->out, " is ");
    ask_put_short(t->out, t->x[t->cell]);
    const int words = anatomy_vocabulary(t->g, t->n);
    if (words != AXIS_NONE && t->x[t->cell] >= 0 &&
        t->x[t->cell] < (float)t->g->axes[words].n) { /* a word's number says nothing of how much: no mean */
        char label[64];
        axis_label(&t->g->axes[words], (int)t->x[t->cell], label, sizeof label);
        buf_printf(t->out, ", \"%s\": the numbers of %zu words of %d.", label, cells, t->g->axes[words].n);
        return true;
    }
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

/* "In block 1, head 1 turns pair 0 of patch r2c3 by 2.71 (155°): column 3 · 1.03 + row 2 · −0.192." */
bool say_angle(const Teller *t)
{
    const Node *angle = graph_node(t->g, t->n);
    int index[DIMS_MAX], in[DIMS_MAX];
    char label[64];
    NodeId p, f;
    if (angle->op != OP_CONTRACT || angle->dims.n != 3) /* an edit's */
        return say_anything(t);
    const float *place = teller_values(t, graph_node(t->g, angle->in[0])->path, &p),
                *freqs = teller_values(t, graph_node(t->g, angle->in[1])->path, &f);
    if (!place || !freqs)
        return false;
    Dims dp = graph_node(t->g, p)->dims, df = graph_node(t->g, f)->dims; /* [t,a] and [a,h,k] */
    dims_unravel(t->g->axes, angle->dims, t->cell, index);
    buf_printf(t->out, "In block %d, head %d turns pair %d of ", session_block(t->s), index[1], index[2]);
    teller_put_token(t, ROLE_QUERY);
    buf_puts(t->out, " by ");
    ask_put_short(t->out, t->x[t->cell]);
    buf_printf(t->out, " (%.0f°): ", (double)t->x[t->cell] * 180 / DM_PI);
    for (int a = 0; a < t->g->axes[dp.axis[1]].n; a++) {
        in[0] = a;
        in[1] = index[1];
        in[2] = index[2];
        buf_printf(t->out, "%s%s %.0f · ", a ? " + " : "", axis_label(&t->g->axes[dp.axis[1]], a, label, sizeof label),
                   (double)place[dims_ravel(t->g->axes, dp, (const int[DIMS_MAX]){index[0], a})]);
        ask_put_short(t->out, freqs[dims_ravel(t->g->axes, df, in)]);
    }
    buf_puts(t->out, ", with the frequencies that this head learned for this pair.");
    return true;
}

/* "In head 1 of block 0, asked from patch r1c1, r2c3 gets −.551 added to its score: row r-1c-2 of the table, that of
 * all pairs of tokens that lie so to each other." */
bool say_bias(const Teller *t)
{
    const Node *bias = graph_node(t->g, t->n), *pairs = bias->op == OP_VIEW ? graph_node(t->g, bias->in[0]) : bias;
    int index[DIMS_MAX];
    char label[64];
    if (pairs->op != OP_GATHER || bias->dims.n != 3)
        return say_anything(t);
    dims_unravel(t->g->axes, bias->dims, t->cell, index);
    const Axis *seen = &t->g->axes[bias->dims.axis[2]], *way = &t->g->axes[pairs->in_axis[0]];
    buf_printf(t->out, "In head %d of block %d", index[0], session_block(t->s));
    buf_puts(t->out, ", for query ");
    teller_put_token(t, ROLE_QUERY);
    buf_printf(t->out, ", %s gets ", axis_label(seen, index[2], label, sizeof label));
    ask_put_short(t->out, t->x[t->cell]);
    buf_printf(t->out,
               " added to its scaled score: row %s of the table, the same for all pairs of tokens with this "
               "offset.",
               axis_label(way, pairs->index[index[1] * seen->n + index[2]], label, sizeof label));
    return true;
}

bool say_pixel(const Teller *t)
{
    if (graph_node(t->g, t->n)->op == OP_LEAF)
        return say_anything(t);
    char colour[64];
    int y = teller_index(t, ROLE_PLACE_ROW) * teller_length(t, ROLE_PIXEL_ROW) + teller_index(t, ROLE_PIXEL_ROW),
        x = teller_index(t, ROLE_PLACE_COL) * teller_length(t, ROLE_PIXEL_COL) + teller_index(t, ROLE_PIXEL_COL);
    NodeId n = site_node_any(t->g, SITE_INPUT);
    const float *pixels = n == NO_NODE ? NULL : ask_need(t->s, t->side, n, t->err);
    if (graph_node(t->g, t->n)->dims.n < 5 || !pixels)
        return say_anything(t);
    buf_printf(t->out, "The pixel in row %d, column %d, colour %s, of the picture as the model receives it is ", y, x,
               teller_label(t, ROLE_CHANNEL, teller_index(t, ROLE_CHANNEL), colour));
    ask_put_short(t->out, pixels[session_cell(t->s, t->side, n)]);
    buf_printf(t->out, " of 0 to 255; %s makes it ", node_name(graph_node(t->g, t->n)));
    ask_put_short(t->out, t->x[t->cell]);
    buf_putc(t->out, '.');
    return true;
}

bool say_embedding(const Teller *t)
{
    NodeId n;
    float alike;
    const float *x = teller_values(t, teller_model(t, SITE_EMBEDDING), &n);
    double sum = 0;
    if (!x)
        return false;
    for (size_t i = 0; i < graph_cells(t->g, n); i++)
        sum += (double)x[i] * (double)x[i];
    buf_printf(t->out, "The %s is a vector of %zu numbers and of length ",
               input_kind_name(session_input(t->s, t->side)->kind), graph_cells(t->g, n));
    ask_put_short(t->out, (float)dm_sqrt(sum));
    buf_puts(t->out, "; what counts is its direction.");
    if (difference_likeness(t->s, &alike)) {
        buf_puts(t->out, " Its cosine with A's is ");
        ask_put_short(t->out, alike);
        buf_puts(t->out, ": 1 is the same direction, 0 nothing in common.");
    }
    return true;
}
