/* Mistakes with masks: which keys a query may look at, and how the others are kept out. */
#include <math.h>
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

static bool later(const float *own, size_t side, size_t t, size_t u)
{
    (void)own;
    (void)side;
    return u >= t;
}

static bool both_sides(const float *own, size_t side, size_t t, size_t u)
{
    return own[t * side + u] > 0 || own[u * side + t] > 0;
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
                             "(the first, which has none, looks at all)"},
        {later, "the recording's mask is transposed and its window ends nothing: tokens look at themselves and at all "
                "later ones"},
        {both_sides, "the recording's window reaches to both sides: tokens look at later ones too"}};
    const Graph *g = t->s->graph;
    const bool windows = trial_find(t, MASKS[1], 0) != NO_NODE; /* the last two are others where there are any */
    for (size_t i = 0; i < sizeof SIDES / sizeof *SIDES - (windows ? 0 : 2); i++) {
        trial_begin(t);
        for (size_t k = SIDES[i].sees == both_sides ? 1 : 0; k < 2; k++)
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

/* --- how many are seen --- */

int trial_first_other(Trial *t)
{
    const Graph *g = t->s->graph;
    const Dims d = graph_node(g, t->target->node)->dims;
    const size_t cells = graph_cells(g, t->target->node);
    bool tokens = false;
    int first = -1;
    for (int k = 0; k < d.n; k++)
        tokens = tokens || g->axes[d.axis[k]].kind == AXIS_TOKEN;
    if (!tokens || t->target->skip)
        return -1;
    ArenaMark mark = arena_mark(&t->arena);
    const float *ours = trial_values(t, t->target->node), *theirs = t->target->values;
    double largest = 0;
    for (size_t i = 0; i < cells; i++)
        largest = dm_abs((double)theirs[i]) > largest ? dm_abs((double)theirs[i]) : largest;
    for (size_t i = 0; i < cells; i++) {
        int index[DIMS_MAX], last = 0;
        if (dm_abs((double)theirs[i] - (double)ours[i]) <= t->allowed * largest)
            continue;
        dims_unravel(g->axes, d, i, index);
        for (int k = 0; k < d.n; k++)
            last = g->axes[d.axis[k]].kind == AXIS_TOKEN && index[k] > last ? index[k] : last;
        first = first < 0 || last < first ? last : first;
    }
    arena_rewind(&t->arena, mark);
    return first;
}

static void attempt_window(Trial *t, const char *leaf, int window)
{
    const Graph *g = t->s->graph;
    const int own = t->s->text->window;
    trial_begin(t);
    for (NodeId n = trial_find(t, leaf, 0); n != NO_NODE; n = trial_find(t, leaf, n + 1)) {
        const size_t side = (size_t)g->axes[graph_node(g, n)->dims.axis[0]].n;
        if (graph_node(g, n)->op != OP_LEAF || graph_cells(g, n) != side * side)
            continue;
        float *out = arena_alloc(&t->arena, size_mul(size_mul(side, side), sizeof *out));
        for (size_t at = 0; at < side * side; at++)
            out[at] = at % side <= at / side && at / side - at % side < (size_t)window ? 1 : 0;
        trial_add(t, EDIT_VALUES, graph_node(g, n)->path)->data = out;
    }
    if (own)
        trial_attempt(t, "the recording's window is %d token%s, here it is %d", window, window == 1 ? "" : "s", own);
    else
        trial_attempt(t,
                      "the recording has a window of %d token%s, itself included; here a token looks at all earlier "
                      "ones",
                      window, window == 1 ? "" : "s");
}

/* Windows of all lengths where that costs little, else of usual ones and of those that the first difference leaves
 * (what a shorter window leaves out is the first that no earlier token misses); one longer or shorter is a setting's.
 * Of length 1 also where another cause explains: to the last token a mask that is transposed is the same. */
void trial_windows(Trial *t)
{
    static const double LITTLE = 1e9; /* operations */
    enum { NEAR = 3 };
    const Seq2seqConfig *c = t->s->text;
    const char *leaf = c->window ? "window_mask" : "causal_mask";
    const NodeId n = trial_find(t, leaf, 0);
    if (n == NO_NODE || seq2seq_window_sides(c) > 1 || t->base)
        return;
    const int tokens = t->s->graph->axes[graph_node(t->s->graph, n)->dims.axis[0]].n, first = trial_first_other(t);
    const bool all = t->flops * tokens < LITTLE;
    for (int window = 1; window < tokens && (window == 1 || !trial_close(t)); window++)
        if ((all || (window <= first && window > first - NEAR) || (window & (window - 1)) == 0) &&
            (!c->window || window < c->window - 1 || window > c->window + 1))
            attempt_window(t, leaf, window);
}

/* --- how the others are kept out --- */

/* The scores x that node n masks, and what may be seen of them, repeated after `each` cells. */
static bool masked_by(Trial *t, NodeId n, NodeId *scores, const float **seen, size_t *each)
{
    const Graph *g = t->s->graph;
    const Node *where = graph_node(g, n); /* scores, or minus infinity where the mask is 0 */
    NodeId mask = NO_NODE;
    *scores = NO_NODE;
    for (int k = 0; k < op_inputs(where->op); k++) {
        const char *path = graph_node(g, where->in[k])->path;
        if (strstr(path, "_mask"))
            mask = where->in[k];
        else if (!strstr(path, "minus_infinity"))
            *scores = where->in[k];
    }
    if (*scores == NO_NODE || mask == NO_NODE)
        return false;
    *seen = run_need(t->s->run, mask);
    *each = graph_cells(g, mask);
    return true;
}

typedef struct Hidden {
    const float *seen;
    size_t keys;
} Hidden;

static bool is_hidden(const void *context, const int index[DIMS_MAX])
{
    const Hidden *h = context;
    return !(h->seen[(size_t)index[0] * h->keys + (size_t)index[1]] > 0);
}

/* Scores + value before the softmax is e^value times what the exponential gives. */
static void add_to_hidden(Trial *t, NodeId masked, double value)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, masked)->path;
    const NodeId power = trial_beside(t, path, "attn.exp");
    const Dims d = graph_node(g, masked)->dims;
    NodeId scores;
    Hidden *h = arena_alloc(&t->arena, sizeof *h);
    size_t each;
    if (power == NO_NODE || !trial_has(t, power) || d.n < 2 || !masked_by(t, masked, &scores, &h->seen, &each))
        return;
    const int query = d.axis[d.n - 2], key = d.axis[d.n - 1];
    h->keys = (size_t)g->axes[key].n;
    if (each != (size_t)g->axes[query].n * h->keys)
        return;
    trial_add(t, EDIT_REDIRECT, path)->other = graph_node(g, scores)->path;
    Edit *e = trial_add(t, EDIT_SCALE, graph_node(g, power)->path);
    e->factor = (float)dm_exp(value);
    e->cells = (Selection){2, {{query, 0, g->axes[query].n}, {key, 0, g->axes[key].n}}};
    e->choose = is_hidden;
    e->context = h;
}

static double attempt_masked(Trial *t, const void *added, double value)
{
    static const char MASKED[] = "attn.scores_masked";
    const bool adds = *(const bool *)added;
    trial_begin(t);
    for (NodeId n = trial_find(t, MASKED, 0); n != NO_NODE; n = trial_find(t, MASKED, n + 1)) {
        const NodeId never = trial_beside(t, graph_node(t->s->graph, n)->path, "attn.minus_infinity");
        if (adds)
            add_to_hidden(t, n, value);
        else if (never != NO_NODE)
            trial_add(t, EDIT_SET, graph_node(t->s->graph, never)->path)->value = (float)value;
    }
    return trial_attempt(t,
                         adds ? "the recording's mask adds %.4g to the scores of later tokens, not −∞"
                              : "the recording's mask sets the scores of later tokens to %.4g, not to −∞",
                         value);
}

/* Any finite number in place of −∞: of some that people write, then between the two beside the nearest. */
void trial_mask_values(Trial *t)
{
    static const double VALUES[] = {0, -1, -2, -3, -4, -5, -7, -10, -20, -30, -50, -100, -1000};
    enum { COUNT = sizeof VALUES / sizeof *VALUES };
    for (int k = 0; k < 2; k++) {
        const bool added = k > 0;
        double least = t->before.rms;
        int best = -1;
        for (int i = added; i < COUNT && !trial_close(t); i++) { /* 0 added is no mask at all */
            const double rms = attempt_masked(t, &added, VALUES[i]);
            if (rms < least) {
                least = rms;
                best = i;
            }
        }
        if (trial_close(t) || t->base || best < 0)
            continue;
        t->fitting = true;
        trial_least(t, VALUES[best + 1 < COUNT ? best + 1 : best], VALUES[best > 0 ? best - 1 : 0], 36, attempt_masked,
                    &added);
        t->fitting = false;
    }
}

/* Softmax over all keys, and what must not be seen made 0 of it: a row's weights no longer add up to 1. */
bool trial_make_masked_late(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const float *seen, *x;
    NodeId masked = trial_beside(t, graph_node(g, n)->path, "attn.scores_masked"), scores;
    Dims d = graph_node(g, n)->dims;
    size_t row = (size_t)g->axes[d.axis[d.n - 1]].n, each;
    if (masked == NO_NODE || graph_cells(g, masked) != graph_cells(g, n) ||
        !masked_by(t, masked, &scores, &seen, &each) || !(x = trial_known(t, scores)))
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
