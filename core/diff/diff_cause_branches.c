/* Mistakes with what is added to the residual stream: a factor on it, and the layer scale. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

const float *trial_stretch_values(Trial *t, NodeId n)
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
    const float *theirs = t->target->values, *ours = stream == NO_NODE ? NULL : trial_stretch_values(t, added),
                *below = ours ? trial_stretch_values(t, stream) : NULL;
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

/* A factor that is searched: on what attention adds, on what the MLP adds, or on both. */
typedef struct Branches {
    const char *const *sums, *said;
} Branches;

static double attempt_branches(Trial *t, const void *branches, double logarithm)
{
    const Branches *b = branches;
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (const char *const *sum = b->sums; *sum; sum++)
        for (NodeId n = trial_find(t, *sum, 0); n != NO_NODE; n = trial_find(t, *sum, n + 1)) {
            const Node *node = graph_node(g, n);
            if (node->op == OP_ADD && trial_has(t, node->in[1]))
                trial_add(t, EDIT_SCALE, graph_node(g, node->in[1])->path)->factor = (float)dm_exp(logarithm);
        }
    return trial_attempt(t, "the recording adds %.4g times what %s: a factor such as that of drop path is left on",
                         dm_exp(logarithm), b->said);
}

/* Are all of its sums in the stretch? Where one is not, nothing is known of it. */
static bool has_sums(const Trial *t, const Branches *b)
{
    bool all = true;
    for (const char *const *sum = b->sums; *sum; sum++)
        all = all && trial_find(t, *sum, 0) != NO_NODE;
    return all;
}

/* The logarithm of the factor that leaves least: which way it lies is felt near 1, then it is looked for roughly, and
 * exactly only where that takes half of the difference away. 0: none. */
static double search_factor(Trial *t, const Branches *b)
{
    static const double MOST = 4, NEAR = 0.03, WIDTH = 0.02; /* WIDTH: beyond what ten turns leave of log MOST */
    const double more = attempt_branches(t, b, NEAR), less = attempt_branches(t, b, -NEAR), far = dm_log(MOST),
                 least = more < less ? more : less;
    if (least > t->before.rms * (1 - NEAR / far / 2))
        return 0;
    const double about = trial_least(t, more < less ? 0 : -far, more < less ? far : 0, 10, attempt_branches, b);
    return attempt_branches(t, b, about) < t->before.rms / 2
               ? trial_least(t, about - WIDTH, about + WIDTH, 28, attempt_branches, b)
               : 0;
}

/* The same factor in every block of the stretch. What is free comes near by chance: only what explains is kept. */
void trial_branch_factors(Trial *t)
{
    static const char *const ATTENTION[] = {"resid_mid", NULL}, *const MLP[] = {"resid_post", NULL},
                             *const BOTH[] = {"resid_mid", "resid_post", NULL};
    static const Branches WAYS[] = {{BOTH, "attention and the MLP give"},
                                    {ATTENTION, "attention gives"},
                                    {MLP, "the MLP gives"}};
    enum { WAYS_COUNT = sizeof WAYS / sizeof *WAYS };
    static const double FAINT = 1e-3;
    if (t->base || trial_close(t))
        return;
    const double tried = t->attempts;
    t->strict = true;
    for (int k = 0; k < WAYS_COUNT && !trial_close(t); k++) {
        if (!has_sums(t, &WAYS[k]))
            continue;
        t->fitting = true;
        const double least = search_factor(t, &WAYS[k]);
        t->fitting = false;
        if (dm_abs(least) > FAINT)
            attempt_branches(t, &WAYS[k], least);
    }
    t->strict = false;
    t->attempts = tried + WAYS_COUNT;
}

/* --- the layer scale --- */

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

/* The same where what is added is recorded by itself: the scale's module is given the sum, and gives all there is. */
bool trial_make_scaled_branch(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    const Node *scaled = graph_node(g, n);
    const bool mlp = path_ends(scaled->path, "mlp.scaled_out");
    NodeId sum = trial_beside(t, scaled->path, mlp ? "resid_post" : "resid_mid");
    if (n != t->target->node || sum == NO_NODE || graph_node(g, sum)->op != OP_ADD || scaled->op != OP_MUL)
        return false;
    const float *stream = trial_known(t, graph_node(g, sum)->in[0]), *branch = trial_known(t, scaled->in[0]),
                *scale = run_need(t->s->run, scaled->in[1]);
    if (!stream && mlp) /* what attention's scale gave is all there is, too */
        stream = trial_known(t, trial_beside(t, scaled->path, "attn.scaled_out"));
    if (!stream || !branch)
        return false;
    size_t cells = graph_cells(g, n), width = graph_cells(g, scaled->in[1]);
    for (size_t i = 0; i < cells; i++)
        out[i] = (stream[i] + branch[i]) * scale[i % width];
    return true;
}
