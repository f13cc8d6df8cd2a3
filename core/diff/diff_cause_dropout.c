/* Dropout left on where its zeros can't be read off the tensor: behind a mask, which leaves zeros of its own, and
 * behind a norm. A norm takes a sum x = s + m·c·f, m being 0 or 1, c the factor that goes with it, to z = (x −
 * μ)/σ: of a row μ and σ are two unknowns more, and what s + m·c·f must be all the same tells m cell by cell. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

/* Cells that could be 0, those that are, and the factor on the rest. */
typedef struct Dropped {
    size_t cells, zeros;
    double factor;
} Dropped;

/* Does the factor go with the share of zeros? */
static bool is_dropout(const Dropped *d)
{
    const double n = (double)d->cells, p = 1 - 1 / d->factor;
    return d->cells >= 64 && d->zeros >= 4 && d->factor > 1 &&
           fabs(p - (double)d->zeros / n) <= 4 * sqrt(p * (1 - p) / n);
}

static void say(char out[DIFF_WORDS], const Dropped *d, const char *of)
{
    utf8_print(out, DIFF_WORDS,
               "dropout is on in the recording: %.1f %% of the cells%s are 0, the rest multiplied by %.4g",
               100 * (double)d->zeros / (double)d->cells, of, d->factor);
}

static double largest(const float *x, size_t cells)
{
    double most = 0;
    for (size_t i = 0; i < cells; i++)
        most = dm_abs((double)x[i]) > most ? dm_abs((double)x[i]) : most;
    return most;
}

/* Which of theirs are 0 though ours are not, and the factor; out: what dropout makes of ours there. Of no more than
 * `small` nothing is told. */
static Dropped read_zeros(const float *theirs, const float *ours, size_t cells, double small, float *out)
{
    Dropped d = {.cells = 0};
    double dot = 0, squares = 0;
    for (size_t i = 0; i < cells; i++) {
        const bool told = dm_abs((double)ours[i]) > small, zero = dm_abs((double)theirs[i]) <= small;
        d.cells += told;
        d.zeros += told && zero;
        dot += zero ? 0 : (double)theirs[i] * (double)ours[i];
        squares += zero ? 0 : (double)ours[i] * (double)ours[i];
    }
    d.factor = squares > 0 ? dot / squares : 0;
    for (size_t i = 0; i < cells; i++)
        out[i] = dm_abs((double)theirs[i]) <= small ? 0 : (float)((double)ours[i] * d.factor);
    return d;
}

/* --- behind a norm --- */

typedef struct Norm {
    NodeId sum, stream, added; /* stream: NO_NODE where the sum is what the stream begins with */
    const float *gamma, *beta; /* [d]; beta may be NULL */
    bool centred;              /* LayerNorm: μ is unknown too */
} Norm;

/* The norm of `sum` whose end that is, (x normalised)·γ + β. */
static bool read_norm(Trial *t, NodeId out, NodeId sum, Norm *norm)
{
    const Graph *g = t->s->graph;
    const Node *end = graph_node(g, out), *of = graph_node(g, sum);
    const NodeId beta = end->op == OP_ADD ? end->in[1] : NO_NODE;
    const Node *scaled = beta == NO_NODE ? end : graph_node(g, end->in[0]);
    const size_t width = (size_t)t->size.width;
    const bool added = of->op == OP_ADD && strstr(of->path, "resid_");
    if (graph_cells(g, sum) != graph_cells(g, out) || scaled->op != OP_MUL || graph_cells(g, scaled->in[1]) != width ||
        (beta != NO_NODE && graph_cells(g, beta) != width))
        return false;
    *norm = (Norm){.sum = sum,
                   .stream = added ? of->in[0] : NO_NODE,
                   .added = added ? of->in[1] : sum,
                   .gamma = run_need(t->s->run, scaled->in[1]),
                   .beta = beta == NO_NODE ? NULL : run_need(t->s->run, beta),
                   .centred = path_ends(graph_node(g, graph_node(g, scaled->in[0])->in[0])->path, "centered")};
    return true;
}

/* …of a sum with the residual stream. */
static bool norm_of(Trial *t, NodeId out, Norm *norm)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, out)->path;
    const NodeId sum = path_ends(path, "out") ? trial_norm_reads(t, path) : NO_NODE;
    return sum != NO_NODE && graph_node(g, sum)->op == OP_ADD && strstr(graph_node(g, sum)->path, "resid_") &&
           read_norm(t, out, sum, norm);
}

/* A row: z, what the norm made; s and f; which are kept; and c, which may be known. */
typedef struct Row {
    size_t width;
    const double *z;
    const float *s, *f;
    bool *kept;
    double sigma, mean, factor;
} Row;

/* Least squares of σ·z + μ − c·(kept f) = s, with c where it is free; the unknowns that are not have a column of 0. */
static bool fit_row(Row *r, bool centred, bool free_factor)
{
    double a[3][4] = {{0}};
    for (size_t i = 0; i < r->width; i++) {
        const double f = r->kept[i] ? (double)r->f[i] : 0, x[4] = {r->z[i], centred, free_factor ? -f : 0,
                                                                   (double)r->s[i] + (free_factor ? 0 : r->factor * f)};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                a[j][k] += x[j] * x[k];
    }
    a[1][1] += !centred;
    a[2][2] += !free_factor;
    for (int k = 0; k < 3; k++) {
        if (!(a[k][k] > 1e-30))
            return false;
        for (int i = 0; i < 3; i++)
            for (int j = 3; i != k && j >= k; j--)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    r->sigma = a[0][3] / a[0][0];
    r->mean = a[1][3] / a[1][1];
    r->factor = free_factor ? a[2][3] / a[2][2] : r->factor;
    return true;
}

/* Fits and asks which cells are nearer with f than without it, by turns. */
static void settle_row(Row *r, bool centred, bool free_factor)
{
    enum { TURNS = 24 };
    bool changed = true;
    for (int turn = 0; turn < TURNS && changed && fit_row(r, centred, free_factor); turn++) {
        changed = false;
        for (size_t i = 0; i < r->width; i++) {
            const double added = r->sigma * r->z[i] + r->mean - (double)r->s[i], f = r->factor * (double)r->f[i];
            const bool kept = dm_abs(added - f) <= dm_abs(added);
            changed = changed || kept != r->kept[i];
            r->kept[i] = kept;
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A factor that a p of three digits gives is that. */
static double snapped(double factor)
{
    const double p = dm_floor((1 - 1 / factor) * 1000 + 0.5) / 1000;
    return factor > 1 && p < 1 && dm_abs(1 / (1 - p) - factor) < 1e-3 ? 1 / (1 - p) : factor;
}

/* The sum behind a norm, worked out of what the norm made, y. False where no dropout is in it. */
static bool read_sum(Trial *t, const Norm *norm, const float *y, float *sum, Dropped *d)
{
    trial_begin(t);
    const bool start = norm->stream == NO_NODE;
    const float *s = start ? NULL : trial_known(t, norm->stream), *f = trial_known(t, norm->added);
    const size_t width = (size_t)t->size.width, cells = graph_cells(t->s->graph, norm->sum), rows = cells / width;
    if ((!s && !start) || !f || !rows)
        return false;
    if (start)
        s = memset(arena_alloc(&t->arena, size_mul(cells, sizeof *s)), 0, cells * sizeof *s);
    double *z = arena_alloc(&t->arena, size_mul(cells, sizeof *z)),
           *factor = arena_alloc(&t->arena, size_mul(rows, sizeof *factor));
    bool *kept = arena_alloc(&t->arena, cells);
    for (size_t i = 0; i < cells; i++) {
        const double gamma = (double)norm->gamma[i % width];
        kept[i] = true;
        z[i] = ((double)y[i] - (norm->beta ? (double)norm->beta[i % width] : 0)) / (dm_abs(gamma) > 0 ? gamma : 1);
    }
    /* each row's own factor, then the one in the middle; of the start none can be told from the norm's own */
    for (int turn = start; turn < 2; turn++) {
        for (size_t r = 0; r < rows; r++) {
            Row row = {width, z + r * width, s + r * width, f + r * width, kept + r * width, 1, 0, d->factor};
            settle_row(&row, norm->centred, turn == 0);
            factor[r] = row.factor;
        }
        if (turn == 0) {
            qsort(factor, rows, sizeof *factor, by_size);
            d->factor = snapped(factor[rows / 2]);
        }
    }
    const double small = t->allowed * largest(f, cells);
    d->cells = d->zeros = 0;
    for (size_t i = 0; i < cells; i++) {
        const bool told = dm_abs((double)f[i]) > small;
        d->cells += told;
        d->zeros += told && !kept[i];
        sum[i] = (float)((double)s[i] + (kept[i] ? d->factor * (double)f[i] : 0));
    }
    return start ? d->cells >= 64 && d->zeros >= 4 : is_dropout(d);
}

static const char ADDED[] = " added to the residual stream";

/* The target is a norm's end. */
static void look_behind_norm(Trial *t, const Norm *norm)
{
    const Graph *g = t->s->graph;
    float *sum = arena_alloc(&t->arena, size_mul(graph_cells(g, norm->sum), sizeof *sum));
    Dropped d = {.cells = 0};
    char text[DIFF_WORDS];
    if (!read_sum(t, norm, t->target->values, sum, &d))
        return;
    say(text, &d, ADDED);
    trial_begin(t);
    trial_add(t, EDIT_VALUES, graph_node(g, norm->sum)->path)->data = sum;
    trial_attempt(t, "%s", text);
}

/* The target is the block's last sum, and of the one before it what a norm made is recorded. */
static void look_at_second(Trial *t)
{
    const Graph *g = t->s->graph;
    const Node *last = graph_node(g, t->target->node);
    const size_t cells = graph_cells(g, t->target->node);
    const double small = t->allowed * largest(t->target->values, cells);
    Norm norm = {.sum = NO_NODE};
    Dropped first = {.cells = 0};
    char text[DIFF_WORDS];
    for (int i = 0; i < t->r->count; i++) {
        const DiffTensor *x = &t->r->tensor[i];
        if (!norm_of(t, x->node, &norm) || norm.sum != last->in[0] || x->skip)
            continue;
        float *sum = arena_alloc(&t->arena, size_mul(cells, sizeof *sum)),
              *branch = arena_alloc(&t->arena, size_mul(cells, sizeof *branch)),
              *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
        const float *f = trial_known(t, last->in[1]);
        if (!f || !read_sum(t, &norm, x->values, sum, &first))
            return;
        say(text, &first, ADDED);
        for (size_t k = 0; k < cells; k++)
            branch[k] = t->target->values[k] - sum[k];
        const Dropped second = read_zeros(branch, f, cells, small, out);
        for (size_t k = 0; k < cells; k++)
            out[k] = sum[k] + (is_dropout(&second) ? out[k] : f[k]);
        trial_judge(t, out, text);
        return;
    }
}

/* The target is x + a + b, attention and MLP side by side, of which a cell has both, one or neither. */
static void look_at_both(Trial *t)
{
    static const double USUAL[] = {0.1, 0.2, 0.05, 0.3, 0.5, 0.25, 0.15, 0.4, 0.02, 0.01};
    const Graph *g = t->s->graph;
    const Node *last = graph_node(g, t->target->node), *first = graph_node(g, last->in[0]);
    const size_t cells = graph_cells(g, t->target->node);
    if (first->op != OP_ADD || graph_cells(g, first->in[0]) != cells || graph_cells(g, first->in[1]) != cells)
        return;
    trial_begin(t);
    const float *x = trial_known(t, first->in[0]), *a = trial_known(t, first->in[1]), *b = trial_known(t, last->in[1]),
                *theirs = t->target->values;
    const double small = t->allowed * largest(theirs, cells);
    float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
    for (size_t k = 0; x && a && b && k < sizeof USUAL / sizeof *USUAL; k++) {
        Dropped d = {.factor = 1 / (1 - USUAL[k])};
        char text[DIFF_WORDS];
        size_t told = 0;
        for (size_t i = 0; i < cells && told == i; i++) {
            const double added = (double)theirs[i] - (double)x[i], of[2] = {(double)a[i], (double)b[i]};
            for (int way = 3; way >= 0 && told == i; way--) {
                const double sum = d.factor * ((way & 1 ? of[0] : 0) + (way & 2 ? of[1] : 0));
                if (dm_abs(sum - added) > small)
                    continue;
                told++;
                d.cells += 2;
                d.zeros += (size_t)(!(way & 1) + !(way & 2));
                out[i] = (float)((double)x[i] + sum);
            }
        }
        if (told < cells || !is_dropout(&d))
            continue;
        say(text, &d, ADDED);
        trial_judge(t, out, text);
        return;
    }
}

/* The norm whose end is node `out`, of what the stream begins with where that is recorded. */
static bool norm_of_start(Trial *t, NodeId out, Norm *norm)
{
    const Graph *g = t->s->graph;
    NodeId start = path_ends(graph_node(g, out)->path, "out") ? trial_norm_reads(t, graph_node(g, out)->path) : NO_NODE;
    while (start != NO_NODE && !diff_reference_find(t->r, start) && graph_node(g, start)->op == OP_VIEW)
        start = graph_node(g, start)->in[0];
    if (start == NO_NODE || !path_ends(graph_node(g, start)->path, "embed") || !diff_reference_find(t->r, start))
        return false;
    return read_norm(t, out, start, norm);
}

static void add_start(Trial *t, NodeId start, const float *values)
{
    trial_begin(t);
    trial_add(t, EDIT_VALUES, graph_node(t->s->graph, start)->path)->data = values;
}

/* Does the next row that differs follow with it too, where it reads the same? A norm's end can't tell the factor. */
static bool start_fits_beside(Trial *t, NodeId start, const float *values)
{
    bool fits = true, asked = false;
    for (int i = 0; t->report && i < t->report->count && !asked; i++) {
        const DiffRow *row = &t->report->row[i];
        if (row->state != DIFF_BEGINS || row->tensor->node <= t->target->node)
            continue;
        Trial beside = trial_new(t->s, t->r, t->o, t->report, row);
        DiffFigures f;
        trial_open(&beside);
        if ((asked = trial_has(&beside, start))) {
            add_start(&beside, start, values);
            fits = trial_fits(&beside, &f);
        }
        trial_free(&beside);
    }
    return fits;
}

/* What the stream begins with has lost cells behind its recording: the first norm tells which. */
static void look_at_start(Trial *t)
{
    static const double USUAL[] = {0.1, 0.2, 0.05, 0.3, 0.5, 0.25, 0.15, 0.4, 0.02, 0.01};
    const Graph *g = t->s->graph;
    Norm norm = {.sum = NO_NODE};
    for (int i = 0; i < t->r->count; i++) {
        const DiffTensor *x = &t->r->tensor[i];
        if (x->node > t->target->node || x->skip || !norm_of_start(t, x->node, &norm))
            continue;
        const size_t cells = graph_cells(g, norm.sum);
        float *start = arena_alloc(&t->arena, size_mul(cells, sizeof *start)),
              *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
        Dropped d = {.factor = 1};
        if (!trial_has(t, norm.sum) || !read_sum(t, &norm, x->values, start, &d))
            return;
        for (size_t k = 0; k < sizeof USUAL / sizeof *USUAL && !trial_close(t); k++) {
            d.factor = 1 / (1 - USUAL[k]); /* of the norm's end any explains */
            if (!is_dropout(&d))
                continue;
            for (size_t c = 0; c < cells; c++)
                out[c] = (float)((double)start[c] * d.factor);
            if (x->node == t->target->node && !start_fits_beside(t, norm.sum, out))
                continue;
            add_start(t, norm.sum, out);
            trial_attempt(t, "dropout is on in the recording, on the embeddings: %.1f %% of their cells are 0",
                          100 * (double)d.zeros / (double)d.cells);
        }
        return;
    }
}

void trial_dropout_behind(Trial *t)
{
    const Graph *g = t->s->graph;
    const Node *target = graph_node(g, t->target->node);
    const size_t cells = graph_cells(g, t->target->node);
    Norm norm;
    if (t->base || t->target->skip || trial_close(t))
        return;
    if (path_ends(target->path, "attn.pattern")) {
        char text[DIFF_WORDS];
        float *out = arena_alloc(&t->arena, size_mul(cells, sizeof *out));
        const Dropped d = read_zeros(t->target->values, trial_values(t, t->target->node), cells, 0, out);
        say(text, &d, " that are seen");
        if (is_dropout(&d))
            trial_judge(t, out, text);
    } else if (norm_of(t, t->target->node, &norm) && !diff_reference_find(t->r, norm.sum))
        look_behind_norm(t, &norm);
    else if (path_ends(target->path, "resid_post") && target->op == OP_ADD &&
             !diff_reference_find(t->r, target->in[0])) {
        look_at_second(t);
        if (!trial_close(t))
            look_at_both(t);
    }
    if (!trial_close(t))
        look_at_start(t);
}
