/* Dropout left on between softmax and values, where the shares themselves are not recorded: z = Σ_u m_u·A_u·v_u / (1 −
 * p) with m_u 0 or 1 has no zeros to be seen. But A and v are known, and each row of z is as many equations as a head
 * is wide: which of its terms are missing can be worked out, row by row, and a row that is found so is so by no chance.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/diff/diff_trial.h"

enum {
    PROBED = 12,    /* rows that p is looked for in */
    ROWS_LEAST = 4, /* that must be found, */
    SHARE_LEAST = 4 /* and at least one in so many of those tried */
};
static const double WORK = 1.2e9, ROW_WORK = 6e7; /* operations, in all and in a row: about a second */
static const double BITS_LEAST = 20;              /* a row found so comes about by chance less than once in 2^20 */

typedef struct Rows {
    Trial *t;
    size_t heads, tokens, keys, width, model; /* model: width of what W_O makes, 0 where z itself is recorded */
    const float *pattern, *v;                 /* [h,t,u], [u,h,e] */
    const float *theirs;                      /* [t,(h e)] or [t,model]: what is recorded of the sums */
    const float *w_o, *b_o;                   /* [model,(h e)]; b_o may be NULL */
    double *lu;                               /* of w_o */
    int *pivot;
    double *spread;   /* [h,e,e] of z's errors where W_O was taken back */
    double *seen_v;   /* [u,h,e] v, whitened where z is */
    double *z;        /* [(h e)] of one token, as recorded */
    double *terms;    /* [u,e] of one row */
    double within;    /* of a number of z */
    bool *taken;      /* [keys] */
    double work, sum; /* the keys' shares that were left out, of `seen` */
    size_t seen;
    double bits; /* of the row that is the least certain */
    const char *of;
} Rows;

/* --- z of what W_O made of it --- */

static bool lu_factor(double *a, int *pivot, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++)
            if (dm_abs(a[i * n + k]) > dm_abs(a[best * n + k]))
                best = i;
        pivot[k] = (int)best;
        if (dm_abs(a[best * n + k]) < 1e-12)
            return false;
        for (size_t j = 0; best != k && j < n; j++) {
            double x = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = x;
        }
        for (size_t i = k + 1; i < n; i++) {
            double c = a[i * n + k] /= a[k * n + k];
            for (size_t j = k + 1; j < n; j++)
                a[i * n + j] -= c * a[k * n + j];
        }
    }
    return true;
}

static void lu_solve(const double *a, const int *pivot, size_t n, double *x)
{
    for (size_t k = 0; k < n; k++) {
        double y = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = y;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            x[i] -= a[i * n + j] * x[j];
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
}

/* Lower triangle l with l·lᵀ = a, in the place of a. */
static void cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? dm_sqrt(sum > 1e-300 ? sum : 1e-300) : sum / a[j * n + j];
        }
}

/* x becomes l⁻¹·x. */
static void whiten(const double *l, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            x[i] -= l[i * n + j] * x[j];
        x[i] /= l[i * n + i];
    }
}

/* Errors of what W_O made, all alike, become errors of z that are large in some directions and small in others: with
 * l·lᵀ their covariance in a head, l⁻¹·z has errors that are all alike again. */
static void fill_whitening(Rows *r)
{
    size_t n = r->model, e = r->width;
    double *inverse = xcalloc(n * n, sizeof *inverse), *column = xcalloc(n, sizeof *column);
    for (size_t k = 0; k < n; k++) {
        memset(column, 0, n * sizeof *column);
        column[k] = 1;
        lu_solve(r->lu, r->pivot, n, column);
        for (size_t i = 0; i < n; i++)
            inverse[i * n + k] = column[i];
    }
    for (size_t h = 0; h < r->heads; h++) {
        double *l = r->spread + h * e * e;
        for (size_t i = 0; i < e; i++)
            for (size_t j = 0; j <= i; j++) {
                const double *a = inverse + (h * e + i) * n, *b = inverse + (h * e + j) * n;
                for (size_t k = 0; k < n; k++)
                    l[i * e + j] += a[k] * b[k];
            }
        cholesky(l, e);
        for (size_t u = 0; u < r->keys; u++)
            whiten(l, e, r->seen_v + (u * r->heads + h) * e);
    }
    free(inverse);
    free(column);
}

static bool prepare_output(Rows *r, const char *path)
{
    const Graph *g = r->t->s->graph;
    NodeId w = trial_beside(r->t, path, "attn.w_o"), b = trial_beside(r->t, path, "attn.b_o");
    size_t n = r->heads * r->width;
    static const double AFFORDED = 3e9;
    r->model = graph_cells(g, r->t->target->node) / r->tokens;
    if (w == NO_NODE || r->model != n || graph_cells(g, w) != n * n || 2.7 * (double)(n * n) * (double)n > AFFORDED)
        return false;
    r->w_o = run_need(r->t->s->run, w);
    r->b_o = b == NO_NODE ? NULL : run_need(r->t->s->run, b);
    r->lu = arena_alloc(&r->t->arena, size_mul(size_mul(n, n), sizeof *r->lu));
    r->pivot = arena_alloc(&r->t->arena, n * sizeof *r->pivot);
    for (size_t i = 0; i < n * n; i++)
        r->lu[i] = (double)r->w_o[i];
    if (!lu_factor(r->lu, r->pivot, n))
        return false;
    r->spread = arena_alloc(&r->t->arena, size_mul(size_mul(r->heads, r->width * r->width), sizeof *r->spread));
    fill_whitening(r);
    r->within /= 4; /* what is allowed is a worst case, and here many errors are taken together */
    return true;
}

/* z of a token: as it was recorded, or what W_O made of it taken back. */
static void read_token(Rows *r, size_t token)
{
    size_t all = r->heads * r->width;
    const float *x = r->theirs + token * all;
    for (size_t i = 0; i < all; i++)
        r->z[i] = (double)x[i] - (r->model && r->b_o ? (double)r->b_o[i] : 0);
    if (!r->model)
        return;
    lu_solve(r->lu, r->pivot, all, r->z);
    for (size_t h = 0; h < r->heads; h++)
        whiten(r->spread + h * r->width * r->width, r->width, r->z + h * r->width);
}

/* --- one row --- */

static Subset row_terms(Rows *r, size_t token, size_t head, double factor)
{
    const float *a = r->pattern + (head * r->tokens + token) * r->keys;
    for (size_t u = 0; u < r->keys; u++)
        for (size_t e = 0; e < r->width; e++)
            r->terms[u * r->width + e] = factor * (double)a[u] * r->seen_v[(u * r->heads + head) * r->width + e];
    return (Subset){.count = (int)r->keys,
                    .rows = (int)r->width,
                    .terms = r->terms,
                    .sum = r->z + head * r->width,
                    .within = r->within};
}

static int left_out(const Rows *r)
{
    int n = 0;
    for (size_t u = 0; u < r->keys; u++)
        n += !r->taken[u];
    return n;
}

/* log2 of how much more there is to be told apart than there are ways to leave terms out. */
static double certainty(const Rows *r, const Subset *s, double p)
{
    double tried = dm_log((double)(r->heads * r->tokens) * PROBED) / dm_log(2);
    return subset_distinct(s, p) - subset_choices(s->count, left_out(r)) - tried;
}

/* p of Σ (z' − z)² = p / (1 − p) · Σ (A_u v_u)², which holds in the mean. */
static double estimate(Rows *r)
{
    double apart = 0, squares = 0;
    for (size_t token = 0; token < r->tokens; token++) {
        if (r->model && token % (r->tokens / 16 + 1))
            continue;
        read_token(r, token);
        for (size_t h = 0; h < r->heads; h++) {
            const float *a = r->pattern + (h * r->tokens + token) * r->keys;
            for (size_t e = 0; e < r->width; e++) {
                double z = 0;
                for (size_t u = 0; u < r->keys; u++) {
                    double x = (double)a[u] * r->seen_v[(u * r->heads + h) * r->width + e];
                    z += x;
                    squares += x * x;
                }
                z -= r->z[h * r->width + e];
                apart += z * z;
            }
        }
    }
    double odds = squares > 0 ? apart / squares : 0;
    return odds / (1 + odds);
}

/* The factor that makes the row right with what was taken; 0 where none does. */
static double refit(const Rows *r, const Subset *s, double factor)
{
    double *x = xcalloc(r->width, sizeof *x), dot = 0, squares = 0, worst = 0;
    for (size_t u = 0; u < r->keys; u++)
        for (size_t e = 0; r->taken[u] && e < r->width; e++)
            x[e] += s->terms[u * r->width + e] / factor;
    for (size_t e = 0; e < r->width; e++) {
        dot += x[e] * s->sum[e];
        squares += x[e] * x[e];
    }
    double fitted = squares > 0 ? dot / squares : 0;
    for (size_t e = 0; e < r->width; e++) {
        double off = dm_abs(fitted * x[e] - s->sum[e]);
        worst = off > worst ? off : worst;
    }
    free(x);
    return worst <= s->within ? fitted : 0;
}

static size_t spread(size_t i, size_t n)
{
    size_t step = n * 5 / 8 | 1; /* neighbours are alike: far ones first */
    while (step > 1 && n % step == 0)
        step -= 2;
    return i * step % n;
}

static const char LOOKING[] = "dropout in attention?";
static const double USUAL[] = {0.1, 0.2, 0.05, 0.3, 0.5, 0.25, 0.15, 0.4, 0.02, 0.01};

/* p of rows that it makes right: a usual one, or what fits; 0 where no row is. */
static double find_share(Rows *r)
{
    double about = estimate(r);
    if (!(about > 0.002) || about > 0.8)
        return 0;
    for (size_t i = 0; i < PROBED && i < r->tokens; i++) {
        if (!trial_going(r->t, LOOKING, 0))
            return 0;
        for (int k = -1; k < (int)(sizeof USUAL / sizeof *USUAL); k++) {
            double p = k < 0 ? about : USUAL[k], factor = 1 / (1 - p);
            if (p > 2 * about || p < about / 2 || r->work > WORK / 2)
                continue;
            read_token(r, spread(i, r->tokens));
            Subset s = row_terms(r, spread(i, r->tokens), i % r->heads, factor);
            subset_find(&s, r->taken, &r->work, r->work + ROW_WORK / 4);
            double fitted = refit(r, &s, factor), found = fitted > 1 ? 1 - 1 / fitted : 0;
            if (found < 0.004 || found > 0.9 || certainty(r, &s, found) < BITS_LEAST)
                continue;
            for (size_t u = 0; u < sizeof USUAL / sizeof *USUAL; u++)
                if (dm_abs(found - USUAL[u]) < 0.0005)
                    return USUAL[u];
            return found;
        }
    }
    return 0;
}

/* --- all rows --- */

typedef struct Found {
    size_t tried, rows, open, units; /* units: rows of z, or tokens of what W_O made of it */
    float *ours, *theirs;            /* [units,cells] */
    size_t cells;
} Found;

/* z of the row with what was taken. */
static void put_row(const Rows *r, size_t token, size_t head, double factor, float *out)
{
    const float *a = r->pattern + (head * r->tokens + token) * r->keys;
    for (size_t e = 0; e < r->width; e++) {
        double sum = 0;
        for (size_t u = 0; u < r->keys; u++)
            sum += r->taken[u] ? (double)a[u] * (double)r->v[(u * r->heads + head) * r->width + e] : 0;
        out[e] = (float)(factor * sum);
    }
}

static void put_output(const Rows *r, const float *z, float *out)
{
    for (size_t d = 0; d < r->model; d++) {
        double sum = r->b_o ? (double)r->b_o[d] : 0;
        for (size_t c = 0; c < r->model; c++)
            sum += (double)r->w_o[d * r->model + c] * (double)z[c];
        out[d] = (float)sum;
    }
}

/* The rows of one token. False where one of them is no such row. */
static bool find_token(Rows *r, size_t token, double p, float *z, Found *f)
{
    size_t all = r->heads * r->width, whole = 0;
    const float *theirs = r->theirs + token * all;
    read_token(r, token);
    for (size_t h = 0; h < r->heads; h++) {
        Subset s = row_terms(r, token, h, 1 / (1 - p));
        SubsetAnswer answer = subset_find(&s, r->taken, &r->work, r->work + ROW_WORK);
        double bits = answer == SUBSET_FOUND ? certainty(r, &s, p) : 0;
        f->tried++;
        if (answer == SUBSET_NONE)
            return false;
        if (bits < BITS_LEAST) {
            f->open++;
            continue;
        }
        f->rows++;
        whole++;
        r->bits = bits < r->bits ? bits : r->bits;
        r->sum += left_out(r);
        r->seen += r->keys;
        put_row(r, token, h, 1 / (1 - p), z + h * r->width);
        if (!r->model) {
            memcpy(f->ours + f->units * f->cells, z + h * r->width, f->cells * sizeof *z);
            memcpy(f->theirs + f->units++ * f->cells, theirs + h * r->width, f->cells * sizeof *z);
        }
    }
    if (r->model && whole == r->heads) {
        put_output(r, z, f->ours + f->units * f->cells);
        memcpy(f->theirs + f->units++ * f->cells, theirs, f->cells * sizeof *z);
    }
    return true;
}

static void say(const Rows *r, double p, const Found *f)
{
    Trial *t = r->t;
    double share = r->sum / (double)r->seen, off = 4 * sqrt(p * (1 - p) / (double)r->seen);
    bool all = f->rows == r->heads * r->tokens;
    char text[DIFF_WORDS], rest[80] = "", unlikely[24];
    if (f->rows < ROWS_LEAST || f->rows * SHARE_LEAST < f->tried || !f->units)
        return;
    if (share > p + off || share < (all ? p - off : p / 8)) /* rows with many left out are the harder ones */
        return;
    if (!all)
        snprintf(rest, sizeof rest, " (%zu could not be decided%s)", f->open,
                 f->tried < r->heads * r->tokens ? ", others were not tried" : "");
    int zeros = (int)(r->bits * 0.30103);
    snprintf(unlikely, sizeof unlikely, "10^%d", zeros < 15 ? zeros : 15);
    utf8_print(
        text, sizeof text,
        "dropout is on in the recording, on %s: %zu of %zu rows%s are exactly those here with %.1f %% of the entries "
        "left out and the rest multiplied by %.4g (p = %.3g); by chance a row is so less than once in %s",
        r->of, f->rows, f->tried, rest, 100 * share, 1 / (1 - p), p, unlikely);
    DiffFigures figures = diff_figures(f->ours, f->theirs, f->units * f->cells, t->allowed);
    trial_prove(t, &figures, text, !all);
}

static void look(Rows *r)
{
    Trial *t = r->t;
    double p = find_share(r);
    Found f = {.cells = r->model ? r->model : r->width};
    if (!(p > 0))
        return;
    size_t all = size_mul(r->tokens, r->heads * r->width);
    f.ours = xfloats(all);
    f.theirs = xfloats(all);
    float *z = xfloats(r->heads * r->width);
    bool go = true;
    for (size_t i = 0; go && i < r->tokens && r->work < WORK; i++) {
        if (!trial_going(t, LOOKING, (double)i / (double)r->tokens))
            break;
        go = find_token(r, spread(i, r->tokens), p, z, &f);
    }
    if (go)
        say(r, p, &f);
    free(f.ours);
    free(f.theirs);
    free(z);
}

/* Fills r with the target, without the residual stream where it is a sum with that. False where what is added is not
 * known to be `name`. */
static bool read_target(Rows *r, Trial *t, const char *name)
{
    const Graph *g = t->s->graph;
    NodeId stream, added = trial_branch(t, &stream);
    size_t cells = graph_cells(g, t->target->node);
    if (!path_ends(graph_node(g, added)->path, name))
        return false;
    r->theirs = t->target->values;
    double most = 0;
    for (size_t i = 0; i < cells; i++)
        most = dm_abs((double)r->theirs[i]) > most ? dm_abs((double)r->theirs[i]) : most;
    r->within = t->allowed * most;
    if (stream == NO_NODE)
        return true;
    trial_begin(t);
    const float *below = trial_known(t, stream);
    if (!below)
        return false;
    float *branch = arena_alloc(&t->arena, size_mul(cells, sizeof *branch));
    for (size_t i = 0; i < cells; i++)
        branch[i] = r->theirs[i] - below[i];
    r->theirs = branch;
    return true;
}

static void look_prepared(Rows *r, const char *output)
{
    Trial *t = r->t;
    size_t cells = size_mul(size_mul(r->keys, r->heads), r->width);
    r->z = arena_alloc(&t->arena, size_mul(r->heads * r->width, sizeof *r->z));
    r->terms = arena_alloc(&t->arena, size_mul(size_mul(r->keys, r->width), sizeof *r->terms));
    r->taken = arena_alloc(&t->arena, r->keys);
    r->seen_v = arena_alloc(&t->arena, size_mul(cells, sizeof *r->seen_v));
    for (size_t i = 0; i < cells; i++)
        r->seen_v[i] = (double)r->v[i];
    if (!output || prepare_output(r, output))
        look(r);
}

/* The shares of attention, seen in z or in what W_O made of it. */
static void look_at_shares(Trial *t)
{
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, t->target->node)->path;
    bool z = path_ends(path, "attn.z");
    NodeId stream, added = trial_branch(t, &stream);
    path = graph_node(g, added)->path;
    NodeId pattern = trial_beside(t, path, "attn.pattern"), v = trial_beside(t, path, "attn.v_shared"),
           made = trial_beside(t, path, "attn.z");
    Rows r = {.t = t, .bits = HUGE_VAL, .of = "the attention weights"};
    v = v == NO_NODE ? trial_beside(t, path, "attn.v") : v; /* what heads share is what each of them reads */
    if (pattern == NO_NODE || v == NO_NODE || made == NO_NODE || graph_node(g, pattern)->dims.n != 3 ||
        (!z && !t->in[made]) || !read_target(&r, t, z ? "attn.z" : "attn.out"))
        return;
    trial_begin(t);
    Dims d = graph_node(g, pattern)->dims;
    r.pattern = trial_known(t, pattern);
    r.v = trial_known(t, v);
    r.heads = (size_t)g->axes[d.axis[0]].n;
    r.tokens = (size_t)g->axes[d.axis[1]].n;
    r.keys = (size_t)g->axes[d.axis[2]].n;
    r.width = graph_cells(g, made) / (r.heads * r.tokens);
    if (r.pattern && r.v && r.width * r.heads * r.keys == graph_cells(g, v))
        look_prepared(&r, z ? NULL : path);
}

/* The MLP's hidden layer, seen in what its second weight made of it: small models only. */
static void look_at_hidden(Trial *t)
{
    enum { CELLS_MOST = 1 << 15 };
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, t->target->node)->path;
    NodeId hidden = trial_beside(t, path, "mlp.post"), w = trial_beside(t, path, "mlp.w_down"),
           b = trial_beside(t, path, "mlp.b_down");
    Rows r = {.t = t, .bits = HUGE_VAL, .heads = 1, .width = (size_t)t->size.width, .of = "the MLP's hidden layer"};
    if (hidden == NO_NODE || w == NO_NODE || hidden > t->target->node || !t->in[hidden] ||
        graph_cells(g, w) > CELLS_MOST || !read_target(&r, t, "mlp.out"))
        return;
    r.tokens = graph_cells(g, t->target->node) / r.width;
    r.keys = graph_cells(g, w) / r.width;
    if (graph_cells(g, hidden) != r.tokens * r.keys)
        return;
    trial_begin(t);
    r.pattern = trial_known(t, hidden);
    const float *weight = run_need(t->s->run, w), *bias = b == NO_NODE ? NULL : run_need(t->s->run, b);
    float *v = arena_alloc(&t->arena, size_mul(r.keys * r.width, sizeof *v)),
          *theirs = arena_alloc(&t->arena, size_mul(r.tokens * r.width, sizeof *theirs));
    for (size_t m = 0; m < r.keys; m++)
        for (size_t d = 0; d < r.width; d++)
            v[m * r.width + d] = weight[d * r.keys + m];
    for (size_t i = 0; i < r.tokens * r.width; i++)
        theirs[i] = r.theirs[i] - (bias ? bias[i % r.width] : 0);
    r.v = v;
    r.theirs = theirs;
    if (r.pattern)
        look_prepared(&r, NULL);
}

void trial_dropped(Trial *t)
{
    if (t->base || t->only || trial_close(t) || !strstr(graph_node(t->s->graph, t->target->node)->path, "blocks."))
        return;
    look_at_shares(t);
    if (!trial_close(t))
        look_at_hidden(t);
}
