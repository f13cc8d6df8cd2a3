/* Double-precision functions from + − × ÷ and sqrt only: the same bits on every machine and C library. For whatever
 * ends in a value, a weight or a picture and is not on a hot path (schedules, resize weights, drawing). Error ≤ 4 ulp
 * in the stated ranges. */
#ifndef VITRINE_BASE_DMATH_H
#define VITRINE_BASE_DMATH_H

#define DM_PI 3.14159265358979323846

double dm_floor(double x); /* exact, |x| < 2^52 */
double dm_abs(double x);
double dm_exp(double x); /* −700 ≤ x ≤ 700 */
double dm_log(double x); /* x > 0, normal */
double dm_sin(double x); /* |x| ≤ 1e6 */
double dm_cos(double x);
double dm_pow(double x, double y); /* x > 0 */
double dm_sqrt(double x);          /* correctly rounded */
#endif
