#include "tests/bench/peak.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 1500000 };

/* Twelve chains hide the latency of every multiply-add there is and fit in sixteen registers with their two operands.
 * They are written out one by one so that no compiler puts them in memory; assembly, so that none thinks ahead. */
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
enum { CHAINS = 12 };
#define START(i) V c##i = x;
#define USE(i) __asm__ volatile("" : : REGISTER(c##i));

/* Of this thread alone, in ns: what other programs take is not this processor's speed. */
static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define PEAK(name, TARGET)                                                                                             \
    TARGET static double name(void)                                                                                    \
    {                                                                                                                  \
        const V x = {0}, y = {0};                                                                                      \
        EACH(START)                                                                                                    \
        int64_t start = thread_ns();                                                                                   \
        for (int r = 0; r < ROUNDS; r++) {                                                                             \
            EACH(STEP)                                                                                                 \
        }                                                                                                              \
        int64_t took = thread_ns() - start;                                                                            \
        EACH(USE)                                                                                                      \
        return 2.0 * (double)(sizeof(V) / sizeof(float)) * CHAINS * ROUNDS / (double)took;                             \
    }

#if defined(__x86_64__)
typedef float V16 __attribute__((vector_size(64)));
typedef float V8 __attribute__((vector_size(32)));
#define REGISTER(c) "v"(c)
#define STEP(i) __asm__ volatile("vfmadd213ps %2, %1, %0" : "+v"(c##i) : "v"(x), "v"(y));
#define V V16
PEAK(peak_avx512, __attribute__((target("avx512f"))))
#undef V
#define V V8
PEAK(peak_avx2, __attribute__((target("avx2,fma"))))
#elif defined(__aarch64__)
typedef float V __attribute__((vector_size(16)));
#define REGISTER(c) "w"(c)
#define STEP(i) __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(c##i) : "w"(x), "w"(y));
PEAK(peak_neon, )
#endif

double peak_gflops(const char *isa)
{
#if defined(__x86_64__)
    if (strcmp(isa, "avx512") == 0)
        return peak_avx512();
    if (strcmp(isa, "avx2") == 0)
        return peak_avx2();
#elif defined(__aarch64__)
    if (strcmp(isa, "neon") == 0)
        return peak_neon();
#endif
    (void)isa;
    return 0;
}
