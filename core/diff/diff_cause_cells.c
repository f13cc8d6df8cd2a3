/* Mistakes that are seen in single cells or columns: dropout left on, on the tensor itself or on what was added to the
 * residual stream; one unit of a hidden layer that is another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

static double largest(const float *x, size_t cells)
{
    double most = 0;
    for (size_t i = 0; i < cells; i++)
        most = dm_abs((double)x[i]) > most ? dm_abs((double)x[i]) : most;
    return most;
}

NodeId trial_branch(const Trial *t, NodeId *stream)
{
    const Graph *g = t->s->graph;
    const Node *node = graph_node(g, t->target->node);
    bool sum = node->op == OP_ADD && (path_ends(node->path, "resid_mid") || path_ends(node->path, "resid_post"));
    *stream = sum ? node->in[0] : NO_NODE;
    return sum ? node->in[1] : t->target->node;
}

static const float *stretch_values(Trial *t, NodeId n)
{
    const DiffTensor *x = diff_reference_find(t->r, n);
    return x && n != t->target->node ? x->values : trial_has(t, n) ? trial_values(t, n) : NULL;
}

/* --- a factor on what is added --- */

/* target = stream + factor · branch, by least squares. */
void trial_factor(Trial *t)
{
    size_t cells = graph_cells(t->s->graph, t->target->node);
    NodeId stream, added = trial_branch(t, &stream);
    const float *theirs = t->target->values, *ours = stream == NO_NODE ? NULL : stretch_values(t, added),
                *below = ours ? stretch_values(t, stream) : NULL;
    double dot = 0, squares = 0;
    if (!below || t->base)
        return;
    for (size_t i = 0; i < cells; i++) {
        dot += ((double)theirs[i] - (double)below[i]) * (double)ours[i];
        squares += (double)ours[i] * (double)ours[i];
    }
    double factor = squares > 0 ? dot / squares : 0;
    if (!(factor > 0.02) || dm_abs(factor - 1) < 1e-3)
        return;
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    for (size_t i = 0; i < cells; i++)
        out[i] = (float)((double)below[i] + factor * (double)ours[i]);
    char text[DIFF_WORDS];
    snprintf(text, sizeof text,
             "the recording adds %.4g times what %s gives: a factor such as that of drop path is left on", factor,
             path_ends(graph_node(t->s->graph, t->target->node)->path, "resid_mid") ? "attention" : "the MLP");
    trial_judge(t, out, text);
}

/* The layer scale's own square. */
bool trial_make_squared(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const float *x = run_need(t->s->run, n);
    for (size_t i = 0; i < graph_cells(t->s->graph, n); i++)
        out[i] = x[i] * x[i];
    return true;
}

/* (stream + branch) · scale, where the model has stream + branch · scale. */
bool trial_make_scaled_sum(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const Node *sum = graph_node(g, n), *scaled = sum->op == OP_ADD ? graph_node(g, sum->in[1]) : NULL;
    if (!scaled || scaled->op != OP_MUL || !strstr(graph_node(g, scaled->in[1])->path, "layer_scale"))
        return false;
    const float *stream = trial_known(t, sum->in[0]), *branch = trial_known(t, scaled->in[0]),
                *scale = run_need(t->s->run, scaled->in[1]);
    if (!stream || !branch)
        return false;
    size_t cells = graph_cells(g, n), width = graph_cells(g, scaled->in[1]);
    for (size_t i = 0; i < cells; i++)
        out[i] = (stream[i] + branch[i]) * scale[i % width];
    return true;
}

/* --- dropout --- */

/* Zeros where ours are none, and the rest larger by the factor that goes with their share. */
void trial_dropout(Trial *t)
{
    size_t cells = graph_cells(t->s->graph, t->target->node), zeros = 0;
    NodeId stream, added = trial_branch(t, &stream);
    const float *theirs = t->target->values, *ours = stretch_values(t, added),
                *below = stream == NO_NODE ? NULL : stretch_values(t, stream);
    double dot = 0, squares = 0, small = below ? t->allowed * largest(theirs, cells) : 0;
    if (!ours || (stream != NO_NODE && !below))
        return;
    for (size_t i = 0; i < cells; i++) {
        double x = (double)theirs[i] - (below ? (double)below[i] : 0);
        bool zero = dm_abs(x) <= small;
        zeros += zero && dm_abs((double)ours[i]) > small;
        if (!zero) {
            dot += x * (double)ours[i];
            squares += (double)ours[i] * (double)ours[i];
        }
    }
    double share = (double)zeros / (double)cells, factor = squares > 0 ? dot / squares : 0, p = 1 - 1 / factor;
    if (cells < 64 || zeros < 4 || !(factor > 1) || fabs(p - share) > 4 * sqrt(p * (1 - p) / (double)cells))
        return;
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    for (size_t i = 0; i < cells; i++) {
        double x = (double)theirs[i] - (below ? (double)below[i] : 0);
        out[i] = (float)((below ? (double)below[i] : 0) + (dm_abs(x) <= small ? 0 : (double)ours[i] * factor));
    }
    char text[sizeof t->text];
    utf8_print(text, sizeof text,
               "dropout is on in the recording: %.1f %% of the cells%s are 0, the rest multiplied by %.4g", 100 * share,
               below ? " added to the residual stream" : "", factor);
    trial_judge(t, out, text);
}

/* --- one unit --- */

typedef struct Unit {
    const char *hidden, *made_by, *weight; /* its node, the weight that makes it, and the one that reads it */
} Unit;

/* Column m of the hidden tensor, changed by δ in each token, changes the target by δ times column m of the weight that
 * reads it: does one column account for all of the difference? */
static void attempt_unit(Trial *t, const Unit *u, NodeId hidden, NodeId w)
{
    const Graph *g = t->s->graph;
    const float *ours = trial_values(t, t->target->node), *weight = run_need(t->s->run, w);
    size_t cells = graph_cells(g, t->target->node), width = (size_t)t->size.width, rows = cells / width,
           units = graph_cells(g, w) / width, best = units;
    double least = HUGE_VAL;
    if (graph_cells(g, hidden) != rows * units || rows < 2)
        return;
    for (size_t m = 0; m < units; m++) {
        double left = 0, length = 0;
        for (size_t d = 0; d < width; d++)
            length += (double)weight[d * units + m] * (double)weight[d * units + m];
        for (size_t r = 0; r < rows && length > 0 && left < least; r++) {
            double dot = 0, squares = 0;
            for (size_t d = 0; d < width; d++) {
                double x = (double)t->target->values[r * width + d] - (double)ours[r * width + d];
                dot += x * (double)weight[d * units + m];
                squares += x * x;
            }
            left += squares - dot * dot / length;
        }
        if (length > 0 && left < least) {
            least = left;
            best = m;
        }
    }
    if (best == units)
        return;
    const float *now = trial_values(t, hidden);
    float *other = arena_alloc(&t->arena, size_mul(rows * units, sizeof *other));
    memcpy(other, now, rows * units * sizeof *other);
    double length = 0;
    for (size_t d = 0; d < width; d++)
        length += (double)weight[d * units + best] * (double)weight[d * units + best];
    for (size_t r = 0; r < rows; r++) {
        double dot = 0;
        for (size_t d = 0; d < width; d++)
            dot += ((double)t->target->values[r * width + d] - (double)ours[r * width + d]) *
                   (double)weight[d * units + best];
        other[r * units + best] += (float)(dot / length);
    }
    trial_begin(t);
    trial_add(t, EDIT_VALUES, graph_node(g, hidden)->path)->data = other;
    t->fitting = true; /* a number for each token: nothing to put another mistake on */
    trial_attempt(t, "only column %zu of %s differs in the recording: row %zu of %s is different, or its bias", best,
                  graph_node(g, hidden)->path, best, block_path(&t->arena, graph_node(g, hidden)->path, u->made_by));
    t->fitting = false;
}

void trial_unit(Trial *t)
{
    static const Unit UNITS[] = {{"mlp.post", "mlp.w_up", "mlp.w_down"}, {"attn.z", "attn.w_v", "attn.w_o"}};
    const Graph *g = t->s->graph;
    NodeId stream, added = trial_branch(t, &stream);
    const char *path = graph_node(g, t->target->node)->path;
    if (t->base || t->only || trial_close(t) || !(strstr(path, "blocks.")))
        return;
    for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; k++) {
        NodeId hidden = trial_beside(t, path, UNITS[k].hidden), w = trial_beside(t, path, UNITS[k].weight);
        bool reads = path_ends(graph_node(g, added)->path, k ? "attn.out" : "mlp.out");
        if (hidden != NO_NODE && w != NO_NODE && hidden < t->target->node && t->in[hidden] && reads)
            attempt_unit(t, &UNITS[k], hidden, w);
    }
}
