/* Mistakes with masks: which keys a query may look at, and how the others are kept out. */
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

/* --- which keys are seen --- */

/* May query t look at key u, where own[t,u] says so here? */
typedef struct MaskSide {
    bool (*sees)(const float *own, size_t side, size_t t, size_t u);
    const char *text;
} MaskSide;

static bool transposed(const float *own, size_t side, size_t t, size_t u)
{
    return own[u * side + t] > 0;
}

static bool one_more(const float *own, size_t side, size_t t, size_t u)
{
    return own[t * side + u] > 0 || u == t + 1;
}

static bool one_less(const float *own, size_t side, size_t t, size_t u)
{
    return own[t * side + u] > 0 && (u != t || t == 0);
}

/* Where all scores of a row are masked by one finite value, softmax does not see it. */
static bool one_less_first_all(const float *own, size_t side, size_t t, size_t u)
{
    return t == 0 || one_less(own, side, t, u);
}

void trial_mask_side(Trial *t)
{
    static const char *const MASKS[] = {"causal_mask", "window_mask"};
    static const MaskSide SIDES[] = {
        {transposed, "the recording's mask is transposed: tokens look at themselves and at later ones"},
        {one_more, "the recording's mask is off by one: tokens look at the next one too"},
        {one_less, "the recording's mask is off by one: tokens look at earlier ones alone, not at themselves (but for "
                   "the first)"},
        {one_less_first_all, "the recording's mask is off by one: tokens look at earlier ones alone, not at themselves "
                             "(the first, which has none, looks at all)"}};
    const Graph *g = t->s->graph;
    for (size_t i = 0; i < sizeof SIDES / sizeof *SIDES; i++) {
        trial_begin(t);
        for (size_t k = 0; k < 2; k++)
            for (NodeId n = trial_find(t, MASKS[k], 0); n != NO_NODE; n = trial_find(t, MASKS[k], n + 1)) {
                size_t side = (size_t)g->axes[graph_node(g, n)->dims.axis[0]].n;
                if (graph_node(g, n)->op != OP_LEAF || graph_cells(g, n) != side * side)
                    continue;
                float *out = arena_alloc(&t->arena, size_mul(side * side, sizeof *out)), *own = xfloats(side * side);
                leaf_read(g, graph_node(g, n), 0, side * side, own);
                for (size_t at = 0; at < side * side; at++)
                    out[at] = SIDES[i].sees(own, side, at / side, at % side) ? 1 : 0;
                free(own);
                trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
            }
        trial_attempt(t, "%s", SIDES[i].text);
    }
}

/* --- how the others are kept out --- */

/* Scores of what must not be seen, otherwise: that value itself, or it added. */
typedef struct MaskValue {
    float value;
    bool added;
} MaskValue;

/* The scores x that node n masks, and what may be seen of them, repeated after `each` cells. */
static bool masked_by(Trial *t, NodeId n, const float **x, const float **seen, size_t *each)
{
    const Graph *g = t->s->graph;
    const Node *where = graph_node(g, n); /* scores, or minus infinity where the mask is 0 */
    NodeId scores = NO_NODE, mask = NO_NODE;
    for (int k = 0; k < op_inputs(where->op); k++) {
        const char *path = graph_node(g, where->in[k])->path;
        if (strstr(path, "_mask"))
            mask = where->in[k];
        else if (!strstr(path, "minus_infinity"))
            scores = where->in[k];
    }
    *x = scores == NO_NODE || mask == NO_NODE ? NULL : trial_known(t, scores);
    if (!*x)
        return false;
    *seen = run_need(t->s->run, mask);
    *each = graph_cells(g, mask);
    return true;
}

static bool make_masked(Trial *t, NodeId n, const void *context, float *out)
{
    const MaskValue *m = context;
    const float *seen, *x;
    size_t cells = graph_cells(t->s->graph, n), each;
    if (!masked_by(t, n, &x, &seen, &each))
        return false;
    for (size_t i = 0; i < cells; i++)
        out[i] = seen[i % each] > 0 ? x[i] : m->value + (m->added ? x[i] : 0);
    return true;
}

void trial_mask_values(Trial *t)
{
    static const float VALUES[] = {0, -1, -10, -100, -1000};
    for (size_t i = 0; i < 2 * sizeof VALUES / sizeof *VALUES; i++) {
        const MaskValue m = {VALUES[i / 2], i % 2};
        if (m.added && i / 2 == 0)
            continue; /* no mask at all */
        const char *said = m.added ? "the recording's mask adds %g to the scores of later tokens, not −∞"
                                   : "the recording's mask sets the scores of later tokens to %g, not to −∞";
        trial_each(t, "attn.scores_masked", false, make_masked, &m, arena_printf(&t->arena, said, (double)m.value));
    }
}

/* Softmax over all keys, and what must not be seen made 0 of it: a row's weights no longer add up to 1. */
bool trial_make_masked_late(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const float *seen, *x;
    NodeId masked = trial_beside(t, graph_node(g, n)->path, "attn.scores_masked");
    Dims d = graph_node(g, n)->dims;
    size_t row = (size_t)g->axes[d.axis[d.n - 1]].n, each;
    if (masked == NO_NODE || graph_cells(g, masked) != graph_cells(g, n) || !masked_by(t, masked, &x, &seen, &each))
        return false;
    for (size_t at = 0; at < graph_cells(g, n); at += row) {
        double most = (double)x[at], sum = 0;
        for (size_t i = at; i < at + row; i++)
            most = (double)x[i] > most ? (double)x[i] : most;
        for (size_t i = at; i < at + row; i++)
            sum += dm_exp((double)x[i] - most);
        for (size_t i = at; i < at + row; i++)
            out[i] = seen[i % each] > 0 ? (float)(dm_exp((double)x[i] - most) / sum) : 0;
    }
    return true;
}
