/* The maps a second time, by another route: in double, from their definitions, with nothing of maps.inc (no table, no
 * coefficient, no reduction of the argument is shared). `verify` measures every map of a trace against these, to the
 * bound that kernels.h states for each. Their own error is below a thousandth of that bound. */
#ifndef VITRINE_KERNELS_MAP_EXACT_H
#define VITRINE_KERNELS_MAP_EXACT_H
#include "core/kernels/kernels.h"

double map_exact(MapFn f, double x);
/* The derivative where the map has one, by five-point differences of map_exact: no rule is written down that could be
 * wrong in the same way twice. Of what is not smooth (relu, roundings): the slope on the side of x, 0 at 0. */
double map_exact_slope(MapFn f, double x);
/* What a rounding error of the derivative is measured against: the larger of |slope| and the two parts f(x)/x and
 * slope − f(x)/x that the derivatives of the activations are the sum of, which cancel near their minimum. */
double map_exact_slope_size(MapFn f, double x);
double map_bound(MapFn f); /* the stated bound in units of the last place */
/* By how many units of the last place y is off f(x); 0 where it is as it should be at NaN and infinities. Of the
 * derivatives in units of the larger of their parts. */
double map_error(MapFn f, float x, float y);
#endif
