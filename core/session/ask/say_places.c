/* What can be said of how attention knows places: the angle that a pair of numbers is turned by, and the bias that a
 * score gets for where two tokens lie to each other. */
#include "core/base/dmath.h"
#include "core/session/ask/say.h"

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
    buf_puts(t->out, ", asked from ");
    teller_put_token(t, ROLE_QUERY);
    buf_printf(t->out, ", %s gets ", axis_label(seen, index[2], label, sizeof label));
    ask_put_short(t->out, t->x[t->cell]);
    buf_printf(t->out,
               " added to its scaled score: row %s of the table, the same for all pairs of tokens that lie so to each "
               "other.",
               axis_label(way, pairs->index[index[1] * seen->n + index[2]], label, sizeof label));
    return true;
}
