#include "core/train/adamw.h"

/* The one function of <math.h> that every machine rounds alike. */
#include <math.h>

/* beta^step by repeated multiplication: pow() differs between C libraries. */
static double power(double beta, int step)
{
    double p = 1;
    for (; step > 0; step >>= 1, beta *= beta)
        if (step & 1)
            p *= beta;
    return p;
}

void adamw_update(const AdamW *a, float *w, const float *g, float gradient_scale, float *m, float *v, size_t n)
{
    const float b1 = (float)a->beta1, b2 = (float)a->beta2, c1 = (float)(1 - a->beta1), c2 = (float)(1 - a->beta2);
    const float m_scale = (float)(1 / (1 - power(a->beta1, a->step)));
    const float v_scale = (float)(1 / (1 - power(a->beta2, a->step)));
    const float rate = (float)a->rate, shrink = (float)(a->rate * a->decay), epsilon = (float)a->epsilon;
    for (size_t i = 0; i < n; i++) {
        float x = g[i] * gradient_scale;
        m[i] = b1 * m[i] + c1 * x;
        v[i] = b2 * v[i] + c2 * (x * x);
        float step = m[i] * m_scale / (sqrtf(v[i] * v_scale) + epsilon);
        w[i] -= rate * step + shrink * w[i];
    }
}

double adamw_square_sum(const float *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)g[i] * (double)g[i];
    return sum;
}
