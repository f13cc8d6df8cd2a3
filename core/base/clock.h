/* Monotonic time. Only the app loop, run budgets and progress reports look at it: no value depends on it. */
#ifndef VITRINE_BASE_CLOCK_H
#define VITRINE_BASE_CLOCK_H
#include <stdint.h>

int64_t clock_ns(void);
#define CLOCK_NEVER INT64_MAX /* a deadline that does not come */
#endif
