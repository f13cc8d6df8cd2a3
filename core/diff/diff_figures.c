#include "core/diff/diff_figures.h"

#include <math.h>

/* The difference of two cells: 0 for equal infinities and NaN in both, ∞ where only one is a number. */
static double apart(float a, float b)
{
    if (isfinite(a) && isfinite(b))
        return fabs((double)a - (double)b);
    return a == b || (isnan(a) && isnan(b)) ? 0 : HUGE_VAL;
}

DiffFigures diff_figures(const float *ours, const float *theirs, size_t cells, double tolerance)
{
    DiffFigures f = {.cosine = 1};
    double scale = 0, squares = 0, ours2 = 0, theirs2 = 0, dot = 0, most = 0;
    for (size_t i = 0; i < cells; i++)
        if (isfinite(theirs[i]) && fabs((double)theirs[i]) > scale)
            scale = fabs((double)theirs[i]);
    for (size_t i = 0; scale == 0 && i < cells; i++) /* a reference of zeros: relative to what we have instead */
        if (isfinite(ours[i]) && fabs((double)ours[i]) > most)
            most = fabs((double)ours[i]);
    scale = scale > 0 ? scale : most;
    for (size_t i = 0; i < cells; i++) {
        double d = apart(ours[i], theirs[i]);
        if (d > f.largest) {
            f.largest = d;
            f.worst = i;
        }
        if (!f.any && d > tolerance * scale) {
            f.any = true;
            f.first = i;
        }
        squares += d * d;
        f.nan_ours += isnan(ours[i]) && !isnan(theirs[i]);
        f.nan_theirs += isnan(theirs[i]) && !isnan(ours[i]);
        if (!isfinite(ours[i]) || !isfinite(theirs[i]))
            continue;
        f.numbers++;
        ours2 += (double)ours[i] * (double)ours[i];
        theirs2 += (double)theirs[i] * (double)theirs[i];
        dot += (double)ours[i] * (double)theirs[i];
    }
    if (scale > 0 && f.largest > 0) {
        double base = theirs2 > 0 ? theirs2 : ours2;
        f.largest /= scale;
        f.rms = base > 0 ? sqrt(squares / base) : HUGE_VAL;
    }
    if (f.nan_ours || f.nan_theirs)
        f.cosine = (double)NAN;
    else if (ours2 > 0 || theirs2 > 0)
        f.cosine = ours2 > 0 && theirs2 > 0 ? dot / sqrt(ours2 * theirs2) : 0;
    return f;
}
