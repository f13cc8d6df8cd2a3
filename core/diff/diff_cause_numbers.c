/* Mistakes with numbers and functions: the factor on the scores, ε, the activation, masks, attention in half precision;
 * single cells or columns: dropout left on, on the tensor itself or on what was added to the residual stream; one unit
 * of a hidden layer that is another. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

static const double EPS_MOST = 0.02; /* that somebody might write */

/* With a single row ε, which multiplies each by a factor of its own, could explain any factor. */
static bool has_rows(const Trial *t)
{
    const Graph *g = t->s->graph;
    Dims d = graph_node(g, t->target->node)->dims;
    bool tokens = false;
    size_t rows = 0;
    for (int i = 0; i < d.n; i++)
        tokens = tokens || (g->axes[d.axis[i]].kind == AXIS_TOKEN && g->axes[d.axis[i]].n > 1);
    for (NodeId n = trial_find(t, "sumsq", 0); n != NO_NODE; n = trial_find(t, "sumsq", n + 1))
        rows += tokens ? graph_cells(g, n) : 1; /* of an answer one row counts */
    return rows > 1;
}

/* Every node of the stretch of that name becomes a value. */
static double attempt_value(Trial *t, const char *ending, double value, const char *text)
{
    trial_begin(t);
    for (NodeId n = trial_find(t, ending, 0); n != NO_NODE; n = trial_find(t, ending, n + 1))
        trial_add(t, EDIT_SET, graph_node(t->s->graph, n)->path)->value = (float)value;
    return trial_attempt(t, "%s", text);
}

/* What is fitted: a node's value, and how it is said around the number. */
typedef struct Fit {
    const char *ending;
    TrialFit said;
} Fit;

static double attempt_logarithm(Trial *t, const void *fit, double logarithm)
{
    const Fit *f = fit;
    char text[sizeof t->text];
    snprintf(text, sizeof text, "%s%.4g%s", f->said.before, dm_exp(logarithm), f->said.after);
    return attempt_value(t, f->ending, dm_exp(logarithm), text);
}

double trial_least(Trial *t, double low, double high, int turns, double (*try)(Trial *t, const void *context, double x),
                   const void *context)
{
    const double golden = 0.6180339887498949;
    double x = high - golden * (high - low), y = low + golden * (high - low);
    double fx = try(t, context, x), fy = try(t, context, y);
    for (int i = 0; i < turns && (t->fitting || !trial_close(t)); i++)
        if (fx < fy) {
            high = y;
            y = x;
            fy = fx;
            x = high - golden * (high - low);
            fx = try(t, context, x);
        } else {
            low = x;
            x = y;
            fx = fy;
            y = low + golden * (high - low);
            fy = try(t, context, y);
        }
    return (low + high) / 2;
}

/* The value between two that comes nearest, by golden section over its logarithm. One of the `known`, which have been
 * tried, is no other number for being a little off. */
static void attempt_fit(Trial *t, const Fit *f, double low, double high, const double *known, size_t count)
{
    if (t->base) /* a number that is free explains too much beside another mistake */
        return;
    t->fitting = true;
    double least = trial_least(t, dm_log(low), dm_log(high), 36, attempt_logarithm, f);
    t->fitting = false;
    for (size_t i = 0; i < count; i++)
        if (known[i] > 0 && dm_abs(least - dm_log(known[i])) < 2e-3)
            return;
    TrialFit *kept = arena_alloc(&t->arena, sizeof *kept);
    *kept = (TrialFit){arena_strdup(&t->arena, f->said.before), arena_strdup(&t->arena, f->said.after)};
    t->fit = kept;
    attempt_logarithm(t, f, least);
    t->fit = NULL;
}

/* Keeps a number that can be searched: the nodes of that ending, whose value it is, and how it is said. */
static void keep_number(Trial *t, const char *ending, double value, const TrialFit *said)
{
    if (t->base || t->only || t->number_count == 2 || !(value > 0))
        return;
    trial_begin(t);
    for (NodeId n = trial_find(t, ending, 0); n != NO_NODE; n = trial_find(t, ending, n + 1))
        trial_add(t, EDIT_SET, graph_node(t->s->graph, n)->path)->value = (float)value;
    if (!t->mistake_count)
        return;
    TrialFit *kept = arena_alloc(&t->arena, sizeof *kept);
    *kept = (TrialFit){arena_strdup(&t->arena, said->before), arena_strdup(&t->arena, said->after)};
    Tried *k = &t->number[t->number_count++];
    *k = (Tried){.family = t->family, .count = t->mistake_count, .fit = kept};
    k->edit = arena_alloc(&t->arena, size_mul((size_t)k->count, sizeof *k->edit));
    memcpy(k->edit, t->mistake, (size_t)k->count * sizeof *k->edit);
}

/* of: whose scores they are, " of the pooling". */
static void attempt_scales(Trial *t, const char *ending, const char *of)
{
    const TrialSizes *c = &t->size;
    double d = c->head_dim, usual = (double)vit_scale(c->head_dim);
    const struct {
        double value;
        const char *before, *after;
    } known[] = {
        {1, "does not multiply the scores", " by 1/√d_k"},
        {usual, "multiplies the scores", " by 1/√d_k"},
        {1 / d, "divides the scores", " by d_k instead of √d_k"},
        {dm_sqrt(d), "multiplies the scores", " by √d_k instead of dividing by it"},
        {1 / dm_sqrt(c->width), "divides the scores", " by √(width of the model) instead of √d_k"},
    };
    if (trial_find(t, ending, 0) == NO_NODE)
        return;
    double values[sizeof known / sizeof *known];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        values[i] = known[i].value;
        attempt_value(t, ending, known[i].value,
                      arena_printf(&t->arena, "the recording %s%s%s", known[i].before, of, known[i].after));
    }
    char before[64], after[64];
    snprintf(before, sizeof before, "the recording multiplies the scores%s by ", of);
    snprintf(after, sizeof after, ", not by %.4g", (double)c->scale);
    keep_number(t, ending, (double)c->scale, &(TrialFit){before, after});
    if (trial_close(t))
        return;
    Fit fit = {ending, {before, after}};
    t->fitting = true;
    double here = dm_log((double)c->scale), nearby = t->before.rms; /* is there anything to be had by another factor? */
    bool nowhere = !(c->scale > 0) || t->base ||
                   (attempt_logarithm(t, &fit, here - 0.05) >= nearby &&
                    attempt_logarithm(t, &fit, here + 0.05) >= nearby);
    t->fitting = false;
    if (!nowhere)
        attempt_fit(t, &fit, 1e-3, 1e3, values, sizeof known / sizeof *known);
}

void trial_scale(Trial *t)
{
    attempt_scales(t, "attn.scale", "");
    attempt_scales(t, "pool.scale", " of the pooling");
}

/* The sum of D squares divided by D − 1. */
static void attempt_unbiased(Trial *t)
{
    static const char *const OF[] = {"var", "meansq"};
    const Graph *g = t->s->graph;
    trial_begin(t);
    for (size_t k = 0; k < sizeof OF / sizeof *OF; k++)
        for (NodeId n = trial_find(t, OF[k], 0); n != NO_NODE; n = trial_find(t, OF[k], n + 1)) {
            const NodeId squares = graph_node(g, graph_node(g, n)->in[0])->in[0];
            const double width = (double)graph_cells(g, squares) / (double)graph_cells(g, n);
            if (width > 1)
                trial_add(t, EDIT_SCALE, graph_node(g, n)->path)->factor = (float)(width / (width - 1));
        }
    trial_attempt(t, "the recording's %s divides the squares by D − 1 instead of D", trial_norm_word(t));
}

void trial_eps(Trial *t)
{
    static const double KNOWN[] = {1e-12, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0};
    double eps = (double)t->size.eps, best = t->before.rms;
    char text[sizeof t->text], before[64], after[64];
    const char *squares = strcmp(trial_norm_word(t), "RMSNorm") == 0 ? "mean square" : "variance";
    if (trial_find(t, "eps", 0) == NO_NODE)
        return;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        snprintf(text, sizeof text, "the recording's %s adds ε = %.4g to the %s, not %.4g", trial_norm_word(t),
                 KNOWN[i], squares, eps);
        double rms = (float)KNOWN[i] == t->size.eps ? best : attempt_value(t, "eps", KNOWN[i], text);
        best = rms < best ? rms : best;
    }
    attempt_unbiased(t);
    snprintf(before, sizeof before, "the recording's %s adds ε = ", trial_norm_word(t));
    snprintf(after, sizeof after, " to the %s, not %.4g", squares, eps);
    if (!has_rows(t))
        return;
    keep_number(t, "eps", eps, &(TrialFit){before, after});
    if (trial_close(t) || best >= t->before.rms)
        return;
    attempt_fit(t, &(Fit){"eps", {before, after}}, 1e-14, EPS_MOST, KNOWN, sizeof KNOWN / sizeof *KNOWN);
}

void trial_activation(Trial *t)
{
    static const struct {
        MapFn map;
        const char *name;
    } FORMS[] = {{MAP_GELU, "GELU with erf"},
                 {MAP_GELU_TANH, "GELU with the tanh approximation"},
                 {MAP_QUICK_GELU, "quick GELU, x·σ(1.702 x)"},
                 {MAP_RELU, "ReLU"},
                 {MAP_SILU, "SiLU, x·σ(x)"}};
    static const char *const BLOCKS[] = {"mlp.post", "mlp.gate_post", "pool_mlp.post", NULL},
                             *const HEAD[] = {"transform.post", "replaced.post", NULL},
                             *const BOTH[] = {"mlp.post", "mlp.gate_post", "transform.post", "replaced.post", NULL};
    static const struct {
        const char *const *places, *where;
    } WAYS[] = {{BLOCKS, ""}, {HEAD, " in front of the answer"}, {BOTH, ", in the blocks and in front of the answer,"}};
    const char *ours = map_name(t->size.act);
    bool head = trial_find(t, HEAD[0], 0) != NO_NODE || trial_find(t, HEAD[1], 0) != NO_NODE,
         blocks = trial_find(t, BLOCKS[0], 0) != NO_NODE;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
        if (FORMS[i].map == t->size.act)
            ours = FORMS[i].name;
    enum { COUNT = sizeof FORMS / sizeof *FORMS + 1 };
    for (size_t way = 0; way < sizeof WAYS / sizeof *WAYS; way++)
        for (size_t i = 0; i < COUNT && (way == 0 || (head && (way == 1 || blocks))); i++) {
            bool none = i + 1 == COUNT;
            if (!none && FORMS[i].map == t->size.act)
                continue;
            trial_begin(t);
            for (const char *const *place = WAYS[way].places; *place; place++)
                for (NodeId n = trial_find(t, *place, 0); n != NO_NODE; n = trial_find(t, *place, n + 1)) {
                    const Node *node = graph_node(t->s->graph, n);
                    if (node->op != OP_MAP) /* with a gate, post is a product */
                        continue;
                    trial_add(t, EDIT_REDIRECT, node->path)->other = graph_node(t->s->graph, node->in[0])->path;
                    if (!none)
                        trial_add(t, EDIT_MAP, node->path)->map = FORMS[i].map;
                }
            if (none)
                trial_attempt(t, "the recording applies no activation%s", WAYS[way].where);
            else
                trial_attempt(t, "the recording's activation%s is %s; here it is %s", WAYS[way].where, FORMS[i].name,
                              ours);
        }
}

/* exp(x − max) / Σ over t instead of u, for scores[h,t,u]. */
static void softmax_over_queries(const float *x, float *y, size_t heads, size_t rows, size_t keys)
{
    for (size_t h = 0; h < heads; h++)
        for (size_t u = 0; u < keys; u++) {
            const float *in = x + h * rows * keys + u;
            float *out = y + h * rows * keys + u, most = -INFINITY, sum = 0;
            for (size_t k = 0; k < rows; k++)
                most = in[k * keys] > most ? in[k * keys] : most;
            for (size_t k = 0; k < rows; k++)
                sum += out[k * keys] = map_apply(MAP_EXP, in[k * keys] - most);
            for (size_t k = 0; k < rows; k++)
                out[k * keys] /= sum;
        }
}

/* What the softmax reads where nothing is masked. */
static const char *unmasked_of(Trial *t, const char *path)
{
    const char *biased = block_path(&t->arena, path, "attn.scores_biased");
    return graph_find(t->s->graph, biased) != NO_NODE ? biased : block_path(&t->arena, path, "attn.scores_scaled");
}

/* What the softmax reads. */
static NodeId scores_of(Trial *t, const char *path)
{
    NodeId masked = graph_find(t->s->graph, block_path(&t->arena, path, "attn.scores_masked"));
    return masked != NO_NODE ? masked : graph_find(t->s->graph, unmasked_of(t, path));
}

bool trial_make_other_axis(Trial *t, NodeId pattern, const void *context, float *out)
{
    (void)context;
    const Graph *g = t->s->graph;
    NodeId scores = scores_of(t, graph_node(g, pattern)->path);
    Dims d = graph_node(g, pattern)->dims; /* [h,t,u] */
    const float *x = d.n == 3 && scores != NO_NODE ? trial_known(t, scores) : NULL;
    if (x)
        softmax_over_queries(x, out, (size_t)g->axes[d.axis[0]].n, (size_t)g->axes[d.axis[1]].n,
                             (size_t)g->axes[d.axis[2]].n);
    return x != NULL;
}

static bool looks_ahead(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0];
}

void trial_mask(Trial *t)
{
    trial_begin(t);
    for (NodeId n = trial_find(t, "attn.row_max", 0); n != NO_NODE; n = trial_find(t, "attn.row_max", n + 1))
        if (!strstr(graph_node(t->s->graph, n)->path, "cross_attn."))
            trial_add(t, EDIT_MASK, unmasked_of(t, graph_node(t->s->graph, n)->path))->choose = looks_ahead;
    trial_attempt(t, "the recording has a causal mask: tokens do not look at later ones");
}

/* --- steps in half precision --- */

/* Sums of the softmax, rounded after every addition. */
static void add_rounded(Trial *t, NodeId n, MapFn round)
{
    const Graph *g = t->s->graph;
    const Node *sum = graph_node(g, n);
    const float *e = sum->op == OP_SUM ? trial_known(t, sum->in[0]) : NULL;
    if (!e)
        return;
    const size_t rows = graph_cells(g, n), keys = graph_cells(g, sum->in[0]) / rows;
    float *out = arena_alloc(&t->arena, size_mul(rows, sizeof *out));
    for (size_t i = 0; i < rows * keys; i++)
        out[i / keys] = map_apply(round, (i % keys ? out[i / keys] : 0) + e[i]);
    t->made = true;
    trial_add(t, EDIT_VALUES, sum->path)->data = out;
}

void trial_half(Trial *t)
{
    static const char STEPS[] = "attn.scores_scaled attn.scores_biased attn.shifted attn.exp attn.row_sum attn.pattern";
    static const struct {
        const char *endings, *text;
        enum { ANY, SOFTMAX, ADDED } of; /* SOFTMAX: seen where its end is; ADDED: …rounded after every addition too */
    } WAYS[] = {{"attn.q attn.k attn.v attn.scores_raw attn.scores_scaled attn.scores_biased attn.pattern attn.z",
                 "attention", ANY},
                {"attn.q attn.k attn.v attn.scores_raw attn.scores_scaled attn.scores_biased attn.pattern",
                 "the attention weights", ANY},
                {"attn.q attn.k attn.v attn.pattern attn.z", "attention (q, k, v, its weights and z)", ANY},
                {"attn.q attn.k attn.v attn.z", "attention (q, k, v and z)", ANY},
                {"attn.scores_scaled attn.pattern", "the softmax of attention", SOFTMAX},
                {STEPS, "every step of the softmax of attention", SOFTMAX},
                {STEPS, "every step of the softmax of attention, each addition of its sums too,", ADDED},
                {"attn.scores_scaled attn.scores_biased", "the scores of attention", ANY},
                {"attn.pattern", "what the softmax of attention gives", ANY}};
    const Graph *g = t->s->graph;
    for (int p = PRECISION_BF16; p < PRECISIONS; p++)
        for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; k++) {
            if (WAYS[k].of != ANY && trial_find(t, "attn.pattern", 0) == NO_NODE)
                continue;
            trial_begin(t);
            for (NodeId n = 0; n <= t->target->node; n++)
                for (const char *w = WAYS[k].endings, *path = graph_node(g, n)->path; *w;) {
                    char ending[TRIAL_WORD];
                    if (!trial_word(&w, ending) || !path_ends(path, ending) || !trial_here(t, path) || !trial_has(t, n))
                        continue;
                    const Edit rounded = precision_edit(g, n, (Precision)p);
                    if (WAYS[k].of == ADDED && path_ends(path, "attn.row_sum"))
                        add_rounded(t, n, rounded.map);
                    else
                        *trial_add(t, EDIT_MAP, path) = rounded;
                }
            trial_attempt(t, "the recording computes %s in %s", WAYS[k].text, precision_name((Precision)p));
        }
}

/* --- single cells and columns --- */

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

/* The layer scale's own square. */
bool trial_make_squared(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const float *x = run_need(t->s->run, n);
    for (size_t i = 0; i < graph_cells(t->s->graph, n); i++)
        out[i] = x[i] * x[i];
    return true;
}

/* x / |x|, row by row. */
bool trial_make_unit(Trial *t, NodeId n, const void *context, float *out)
{
    (void)context;
    const Dims d = graph_node(t->s->graph, n)->dims;
    const size_t cells = graph_cells(t->s->graph, n), width = (size_t)t->s->graph->axes[d.axis[d.n - 1]].n;
    const float *x = trial_values_with(t, n);
    for (size_t row = 0; row < cells; row += width) {
        double squares = 0;
        for (size_t i = row; i < row + width; i++)
            squares += (double)x[i] * (double)x[i];
        for (size_t i = row; i < row + width; i++)
            out[i] = squares > 0 ? (float)((double)x[i] / dm_sqrt(squares)) : 0;
    }
    return true;
}

/* --- dropout --- */

/* Zeros where ours are none, and the rest larger by the factor that goes with their share. */
void trial_dropout(Trial *t)
{
    size_t cells = graph_cells(t->s->graph, t->target->node), zeros = 0;
    NodeId stream, added = trial_branch(t, &stream);
    const float *theirs = t->target->values, *ours = trial_stretch_values(t, added),
                *below = stream == NO_NODE ? NULL : trial_stretch_values(t, stream);
    double dot = 0, squares = 0, small = below ? t->allowed * largest(theirs, cells) : 0;
    if (!ours || t->target->skip || (stream != NO_NODE && !below))
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
