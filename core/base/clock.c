#include "core/base/clock.h"

#include <time.h>

int64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Before so much is done in so long, what is left is a guess that jumps. */
#define SHARE_LEAST 0.02
#define SECONDS_LEAST 0.5
#define SECONDS_MOST 1e6

int pace_left(Pace *p, double share, int64_t now_ns)
{
    if (!p->began || share < p->last)
        *p = (Pace){now_ns, share, share};
    p->last = share;
    double done = share - p->from, seconds = (double)(now_ns - p->began) * 1e-9;
    if (!(done >= SHARE_LEAST) || seconds < SECONDS_LEAST)
        return 0;
    double left = seconds * (1 - share) / done;
    return left > SECONDS_MOST ? 0 : left < 1 ? 1 : (int)(left + 0.5);
}
