#include "core/diff/diff_trial.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/mem.h"

typedef enum Bound { AT_ZERO, AT_ONE, FREE, HELD } Bound; /* HELD: the branch has decided */

/* Least squares over the terms that are left OUT of the whole sum: excess = Σ x_k · terms_k with 0 ≤ x ≤ 1. */
typedef struct Search {
    const Subset *s;
    double *unit, *norm; /* [count,rows] terms of length 1, and their lengths */
    double *excess;      /* [rows] Σ terms − sum */
    double *x;           /* [count] in lengths: 0 … norm */
    Bound *at;
    int *free, free_count;
    double *q, *r; /* orthonormal columns of the free terms [rows,rows], and the triangle */
    double *rest, *z, *best;
    bool *taken;
    double *work, most;
    double scale;
    bool *small; /* cannot be told */
} Search;

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Column `k` of the free terms made orthogonal to those before it; false where it lies in their span. */
static bool orthogonal(Search *f, int k)
{
    int m = f->s->rows;
    double *q = f->q + (size_t)k * (size_t)m;
    memcpy(q, f->unit + (size_t)f->free[k] * (size_t)m, (size_t)m * sizeof *q);
    for (int i = 0; i <= k; i++)
        f->r[(size_t)k * (size_t)m + (size_t)i] = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < k; i++) {
            const double *p = f->q + (size_t)i * (size_t)m;
            double c = dot(p, q, m);
            f->r[(size_t)k * (size_t)m + (size_t)i] += c;
            for (int j = 0; j < m; j++)
                q[j] -= c * p[j];
        }
    *f->work += 8.0 * k * m;
    double length = dm_sqrt(dot(q, q, m));
    if (length < 1e-9)
        return false;
    f->r[(size_t)k * (size_t)m + (size_t)k] = length;
    for (int j = 0; j < m; j++)
        q[j] /= length;
    return true;
}

/* Takes free term number k out; those behind it are made anew. */
static void release(Search *f, int k)
{
    f->free_count--;
    memmove(f->free + k, f->free + k + 1, (size_t)(f->free_count - k) * sizeof *f->free);
    for (int i = k; i < f->free_count; i++)
        if (!orthogonal(f, i)) { /* of fewer terms it can't be: rounding; such a term stays where it is */
            f->at[f->free[i]] = f->x[f->free[i]] > f->norm[f->free[i]] / 2 ? AT_ONE : AT_ZERO;
            release(f, i);
            return;
        }
}

/* rest = excess − Σ x·unit over all but the free terms, or over all. */
static void fill_rest(Search *f, bool all)
{
    int m = f->s->rows;
    memcpy(f->rest, f->excess, (size_t)m * sizeof *f->rest);
    for (int k = 0; k < f->s->count; k++) {
        if (f->x[k] == 0 || (!all && f->at[k] == FREE))
            continue;
        const double *u = f->unit + (size_t)k * (size_t)m;
        for (int j = 0; j < m; j++)
            f->rest[j] -= f->x[k] * u[j];
        *f->work += 2.0 * m;
    }
}

/* The free terms' least squares, as far as the bounds let it go. */
static void settle(Search *f)
{
    int m = f->s->rows;
    while (f->free_count) {
        double step = 1;
        int hit = -1;
        fill_rest(f, false);
        for (int k = f->free_count - 1; k >= 0; k--)
            f->z[k] = dot(f->q + (size_t)k * (size_t)m, f->rest, m);
        for (int k = f->free_count - 1; k >= 0; k--) {
            const double *column = f->r + (size_t)k * (size_t)m;
            f->z[k] /= column[k];
            for (int i = 0; i < k; i++)
                f->z[i] -= column[i] * f->z[k];
        }
        *f->work += 4.0 * f->free_count * m;
        for (int k = 0; k < f->free_count; k++) {
            double x = f->x[f->free[k]], z = f->z[k], end = z < 0 ? 0 : f->norm[f->free[k]];
            if ((z < 0 || z > end) && (end - x) / (z - x) < step) {
                step = (end - x) / (z - x);
                hit = k;
            }
        }
        for (int k = 0; k < f->free_count; k++) {
            int term = f->free[k];
            f->x[term] += step * (f->z[k] - f->x[term]);
        }
        if (hit < 0)
            return;
        int term = f->free[hit];
        f->at[term] = f->z[hit] < 0 ? AT_ZERO : AT_ONE;
        f->x[term] = f->z[hit] < 0 ? 0 : f->norm[term];
        release(f, hit);
    }
}

/* The relaxed problem from where it stands; returns the length of what is left. */
static double relax(Search *f)
{
    int m = f->s->rows, n = f->s->count, turns = 3 * (n + m);
    int blocked = -1;
    settle(f);
    for (; turns > 0 && *f->work < f->most; turns--) {
        int best = -1;
        double most = 1e-10 * f->scale;
        fill_rest(f, true);
        if (dot(f->rest, f->rest, m) < 1e-24 * f->scale * f->scale || f->free_count == m)
            break;
        for (int k = 0; k < n; k++) {
            if (f->at[k] == FREE || f->at[k] == HELD || k == blocked)
                continue;
            double w = dot(f->unit + (size_t)k * (size_t)m, f->rest, m);
            w = f->at[k] == AT_ZERO ? w : -w;
            if (w > most) {
                most = w;
                best = k;
            }
        }
        *f->work += 2.0 * n * m;
        if (best < 0)
            break;
        Bound was = f->at[best];
        f->free[f->free_count] = best;
        if (!orthogonal(f, f->free_count)) {
            blocked = best;
            continue;
        }
        f->free_count++;
        f->at[best] = FREE;
        settle(f);
        blocked = f->at[best] == was ? best : -1; /* it would turn in a circle */
    }
    fill_rest(f, true);
    return dm_sqrt(dot(f->rest, f->rest, m));
}

/* Each term wholly in or out, whichever is nearer: is that it? */
static bool rounded(Search *f)
{
    int m = f->s->rows;
    double worst = 0;
    memcpy(f->rest, f->excess, (size_t)m * sizeof *f->rest);
    for (int k = 0; k < f->s->count; k++) {
        f->taken[k] = f->small[k] || f->x[k] <= f->norm[k] / 2;
        if (f->taken[k])
            continue;
        const double *term = f->s->terms + (size_t)k * (size_t)m;
        for (int j = 0; j < m; j++)
            f->rest[j] -= term[j];
    }
    for (int j = 0; j < m; j++)
        worst = dm_abs(f->rest[j]) > worst ? dm_abs(f->rest[j]) : worst;
    return worst <= f->s->within;
}

static SubsetAnswer branch(Search *f, int depth)
{
    enum { DEEPEST = 24 };
    int n = f->s->count, most = -1;
    double left = relax(f), apart = 0;
    if (rounded(f))
        return SUBSET_FOUND;
    if (*f->work >= f->most || depth == DEEPEST)
        return SUBSET_OPEN;
    if (left > 3 * f->s->within * dm_sqrt(f->s->rows))
        return SUBSET_NONE;
    for (int k = 0; k < n; k++) {
        double off = f->x[k] < f->norm[k] - f->x[k] ? f->x[k] : f->norm[k] - f->x[k];
        if (f->at[k] == FREE && off > apart) {
            apart = off;
            most = k;
        }
    }
    if (most < 0)
        return SUBSET_OPEN;
    double *x = xcalloc((size_t)n, sizeof *x);
    Bound *at = xcalloc((size_t)n, sizeof *at);
    memcpy(x, f->x, (size_t)n * sizeof *x);
    memcpy(at, f->at, (size_t)n * sizeof *at);
    bool out = x[most] > f->norm[most] / 2, open = false, found = false;
    for (int side = 0; side < 2 && !found; side++) {
        memcpy(f->x, x, (size_t)n * sizeof *x);
        memcpy(f->at, at, (size_t)n * sizeof *at);
        f->at[most] = HELD;
        f->x[most] = out == (side == 0) ? f->norm[most] : 0;
        f->free_count = 0;
        for (int k = 0; k < n; k++)
            if (f->at[k] == FREE) {
                f->free[f->free_count] = k;
                if (orthogonal(f, f->free_count))
                    f->free_count++;
                else
                    f->at[k] = f->x[k] > f->norm[k] / 2 ? AT_ONE : AT_ZERO;
            }
        SubsetAnswer a = branch(f, depth + 1);
        found = a == SUBSET_FOUND;
        open = open || a == SUBSET_OPEN;
    }
    free(x);
    free(at);
    return found ? SUBSET_FOUND : open ? SUBSET_OPEN : SUBSET_NONE;
}

/* Terms, the shortest first, that together stay below half of what is allowed: whether they are in can't be told. */
static void leave_small(Search *f)
{
    double room = f->s->within / 2;
    for (int n = f->s->count;;) {
        int least = -1;
        for (int k = 0; k < n; k++)
            if (!f->small[k] && (least < 0 || f->norm[k] < f->norm[least]))
                least = k;
        if (least < 0 || f->norm[least] > room)
            return;
        room -= f->norm[least];
        f->small[least] = true;
        f->at[least] = HELD;
    }
}

SubsetAnswer subset_find(const Subset *s, bool *taken, double *work, double most)
{
    size_t n = (size_t)s->count, m = (size_t)s->rows;
    Search f = {.s = s, .taken = taken, .work = work, .most = most};
    f.unit = xcalloc(n * m, sizeof *f.unit);
    f.norm = xcalloc(n, sizeof *f.norm);
    f.excess = xcalloc(m, sizeof *f.excess);
    f.x = xcalloc(n, sizeof *f.x);
    f.at = xcalloc(n, sizeof *f.at);
    f.free = xcalloc(n + 1, sizeof *f.free);
    f.q = xcalloc((m + 1) * m, sizeof *f.q);
    f.r = xcalloc((m + 1) * m, sizeof *f.r);
    f.rest = xcalloc(m, sizeof *f.rest);
    f.z = xcalloc(n + 1, sizeof *f.z);
    f.small = xcalloc(n, sizeof *f.small);
    for (size_t k = 0; k < n; k++) {
        const double *term = s->terms + k * m;
        f.norm[k] = dm_sqrt(dot(term, term, s->rows));
        for (size_t j = 0; j < m; j++) {
            f.unit[k * m + j] = f.norm[k] > 0 ? term[j] / f.norm[k] : 0;
            f.excess[j] += term[j];
        }
        f.scale += f.norm[k];
    }
    for (size_t j = 0; j < m; j++)
        f.excess[j] -= s->sum[j];
    leave_small(&f);
    SubsetAnswer answer = branch(&f, 0);
    free(f.unit);
    free(f.norm);
    free(f.excess);
    free(f.x);
    free(f.at);
    free(f.free);
    free(f.q);
    free(f.r);
    free(f.rest);
    free(f.z);
    free(f.small);
    return answer;
}

double subset_distinct(const Subset *s, double share)
{
    size_t m = (size_t)s->rows;
    double *c = xcalloc(m * m, sizeof *c), bits = 0, weight = share * (1 - share) / (s->within * s->within);
    for (int k = 0; k < s->count; k++) {
        const double *term = s->terms + (size_t)k * m;
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j <= i; j++)
                c[i * m + j] += weight * term[i] * term[j];
    }
    for (size_t i = 0; i < m; i++) { /* Cholesky; the product of the squared diagonal is the determinant */
        c[i * m + i] += 1;
        for (size_t j = 0; j <= i; j++) {
            double sum = c[i * m + j];
            for (size_t k = 0; k < j; k++)
                sum -= c[i * m + k] * c[j * m + k];
            c[i * m + j] = i == j ? dm_sqrt(sum > 1e-300 ? sum : 1e-300) : sum / c[j * m + j];
        }
        bits += dm_log(c[i * m + i]);
    }
    free(c);
    return bits / dm_log(2);
}

double subset_choices(int n, int out)
{
    double most = 0, term = 0, sum;
    out = out > n / 2 ? n / 2 : out; /* more are no more choices than all */
    for (int k = 1; k <= out; k++) {
        term += dm_log((double)(n - k + 1) / k);
        most = term;
    }
    sum = most + dm_log(out + 1.0);
    return sum / dm_log(2) < n ? sum / dm_log(2) : n;
}
