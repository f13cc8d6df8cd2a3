/* Mistakes with experts: how the weights of those that a token gets are made, and which experts they meet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/diff/diff_trial.h"

static int by_text(const void *a, const void *b)
{
    char one[24], other[24];
    snprintf(one, sizeof one, "%zu", *(const size_t *)a);
    snprintf(other, sizeof other, "%zu", *(const size_t *)b);
    return strcmp(one, other);
}

/* Each place of the router's meets another expert: the one next to it, or that in the order of their numbers as text.
 * Seen from the experts, the weights lie elsewhere. */
bool trial_make_moved(Trial *t, NodeId n, const void *how, float *out)
{
    const float *x = trial_known(t, n);
    size_t cells = graph_cells(t->s->graph, n), count = (size_t)t->s->text->experts.count;
    size_t step = strcmp(how, "next") == 0 ? 1 : strcmp(how, "before") == 0 ? count - 1 : 0;
    if (!x || (!step && count < 11))
        return false;
    size_t *meets = arena_alloc(&t->arena, size_mul(count, sizeof *meets));
    for (size_t i = 0; i < count; i++)
        meets[i] = (i + step) % count;
    if (!step)
        qsort(meets, count, sizeof *meets, by_text);
    for (size_t i = 0; i < cells; i++)
        out[i - i % count + meets[i % count]] = x[i];
    return true;
}

/* The weights from the router's probabilities with `by` experts more for each token; divided by their sum or not. */
static bool weigh(Trial *t, NodeId n, int by, bool normalised, float *out)
{
    const Graph *g = t->s->graph;
    const float *p = trial_known(t, trial_beside(t, graph_node(g, n)->path, "mlp.router_probs"));
    size_t cells = graph_cells(g, n), count = (size_t)t->s->text->experts.count;
    int chosen = t->s->text->experts.chosen + by;
    if (!p || chosen < 1 || (size_t)chosen > count)
        return false;
    memset(out, 0, cells * sizeof *out);
    for (size_t row = 0; row < cells; row += count) {
        double sum = 0;
        for (int k = 0; k < chosen; k++) {
            size_t best = count;
            for (size_t i = 0; i < count; i++)
                if (out[row + i] <= 0 && (best == count || p[row + i] > p[row + best]))
                    best = i;
            if (best == count)
                return false; /* probabilities of 0 */
            out[row + best] = p[row + best];
            sum += (double)p[row + best];
        }
        for (size_t i = 0; normalised && i < count; i++)
            out[row + i] = (float)((double)out[row + i] / sum);
    }
    return true;
}

bool trial_make_normalised(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    return !t->s->text->experts.normalised && weigh(t, n, 0, true, out);
}

bool trial_make_chosen(Trial *t, NodeId n, const void *by, float *out)
{
    return weigh(t, n, strcmp(by, "less") == 0 ? -1 : 1, t->s->text->experts.normalised, out);
}
