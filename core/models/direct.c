#include "core/models/direct.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/kernels/map_exact.h"

double *direct_zeros(size_t a, size_t b)
{
    return xcalloc(size_mul(a, b) + 1, sizeof(double));
}

void direct_widen(const float *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)x[i];
}

void direct_linear(const WeightTensor *w, const float *b, const double *x, size_t n, size_t inputs, double *y,
                   size_t outputs)
{
    float *room = w->data ? NULL : xfloats(inputs);
    for (size_t o = 0; o < outputs; o++) {
        const float *row = weight_floats(w, o * inputs, inputs, room);
        for (size_t t = 0; t < n; t++) {
            double sum = b ? (double)b[o] : 0;
            for (size_t i = 0; i < inputs; i++)
                sum += x[t * inputs + i] * (double)row[i];
            y[t * outputs + o] = sum;
        }
    }
    free(room);
}

void direct_norm(const float *gamma, const float *beta, bool rms, double eps, const double *x, size_t n, size_t d,
                 double *y)
{
    for (size_t t = 0; t < n; t++, x += d, y += d) {
        double mean = 0, var = 0;
        for (size_t i = 0; i < d && !rms; i++)
            mean += x[i] / (double)d;
        for (size_t i = 0; i < d; i++)
            var += (x[i] - mean) * (x[i] - mean) / (double)d;
        double rstd = map_exact(MAP_RSQRT, var + eps);
        for (size_t i = 0; i < d; i++)
            y[i] = (x[i] - mean) * rstd * (double)gamma[i] + (beta ? (double)beta[i] : 0);
    }
}

void direct_softmax(double *x, size_t n)
{
    double most = x[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (size_t i = 0; i < n; i++)
        sum += x[i] = map_exact(MAP_EXP, x[i] - most);
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
}

void direct_attend(const DirectSeen *s, const double *q, double (*bias)(const void *of, size_t head, size_t u),
                   const void *of, double *z)
{
    const size_t inner = s->heads * s->width;
    double *row = direct_zeros(s->n + 1, 1);
    for (size_t h = 0, first = 0; h < s->heads; h++, first += s->width) {
        for (size_t u = 0; u < s->n; u++) {
            row[u] = 0;
            for (size_t i = first; i < first + s->width; i++)
                row[u] += q[i] * s->k[u * inner + i];
            row[u] *= s->scale;
            if (s->cap > 0)
                row[u] = s->cap * map_exact(MAP_TANH, row[u] / s->cap);
            row[u] += bias ? bias(of, h, u) : 0;
        }
        if (s->sink)
            row[s->n] = (double)s->sink[h];
        direct_softmax(row, s->n + (s->sink != NULL));
        for (size_t i = first; i < first + s->width; i++) {
            z[i] = 0;
            for (size_t u = 0; u < s->n; u++)
                z[i] += row[u] * s->v[u * inner + i];
        }
    }
    free(row);
}

void direct_mlp(const DirectMlp *p, const double *x, size_t n, double *y)
{
    const size_t m = p->hidden;
    double *hidden = direct_zeros(n, m), *gate = p->gate ? direct_zeros(n, m) : NULL;
    direct_linear(p->up, p->up_bias, x, n, p->width, hidden, m);
    if (gate)
        direct_linear(p->gate, p->gate_bias, x, n, p->width, gate, m);
    for (size_t i = 0; i < n * m; i++)
        hidden[i] = gate ? hidden[i] * map_exact(p->act, gate[i]) : map_exact(p->act, hidden[i]);
    if (p->gamma)
        direct_norm(p->gamma, p->beta, p->rms, p->eps, hidden, n, m, hidden);
    direct_linear(p->down, p->down_bias, hidden, n, m, y, p->width);
    free(hidden);
    free(gate);
}
