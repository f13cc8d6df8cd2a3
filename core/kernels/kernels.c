#include "core/kernels/kernels.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernels/variants.h"

#define EIGHT(x) x, x, x, x, x, x, x, x
const float kernel_zeros[KERNEL_COLS] = {0};
const float kernel_no_bias[KERNEL_COLS] = {EIGHT(-0.0f), EIGHT(-0.0f), EIGHT(-0.0f), EIGHT(-0.0f)};
_Static_assert(KERNEL_COLS == 32, "as many as are written out");

static bool always(void)
{
    return true;
}

#if defined(__x86_64__)
static bool has_fma(void)
{
    return __builtin_cpu_supports("fma") != 0;
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && has_fma();
}

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && has_avx2();
}
#endif

/* From the plainest to the widest; the last that works is the best. Of two with one name the later takes its place. */
static const struct {
    const Kernels *table;
    bool (*works)(void);
} candidates[] = {
    {&kernels_portable, always},
#if defined(__x86_64__)
    {&kernels_scalar_fma, has_fma},
    {&kernels_avx2, has_avx2},
    {&kernels_avx512, has_avx512},
#elif defined(__aarch64__)
    {&kernels_neon, always},
#endif
};
enum { CANDIDATES = sizeof candidates / sizeof candidates[0] };

static bool replaced(int i)
{
    for (int j = i + 1; j < CANDIDATES; j++)
        if (strcmp(candidates[j].table->isa, candidates[i].table->isa) == 0 && candidates[j].works())
            return true;
    return false;
}

const Kernels *kernels_variant(int i)
{
    for (int c = 0; c < CANDIDATES; c++)
        if (candidates[c].works() && !replaced(c) && i-- == 0)
            return candidates[c].table;
    return NULL;
}

const Kernels *kernels_reference(void)
{
#if defined(__x86_64__)
    return has_fma() ? &kernels_scalar_fma : &kernels_portable;
#else
    return &kernels_portable;
#endif
}

static const Kernels *widest(void)
{
    const Kernels *best = NULL;
    for (int i = 0; kernels_variant(i); i++)
        best = kernels_variant(i);
    return best;
}

static const Kernels *find(const char *isa, Err *err)
{
    if (strcmp(isa, "auto") == 0)
        return widest();
    char have[64] = "auto";
    for (int i = 0; kernels_variant(i); i++) {
        const Kernels *k = kernels_variant(i);
        if (strcmp(isa, k->isa) == 0)
            return k;
        strncat(have, ", ", sizeof have - strlen(have) - 1);
        strncat(have, k->isa, sizeof have - strlen(have) - 1);
    }
    err_set(err, "instruction set '%s': this processor does not have it. Choose one of %s", isa, have);
    return NULL;
}

static _Atomic(const Kernels *) current; /* the kernel table */

bool kernels_select(const char *isa, Err *err)
{
    const Kernels *k = find(isa, err);
    if (!k)
        return false;
    atomic_store(&current, k);
    return true;
}

const Kernels *kernels(void)
{
    const Kernels *k = atomic_load_explicit(&current, memory_order_relaxed);
    if (k)
        return k;
    const char *wish = getenv("VITRINE_ISA");
    Err err;
    if (!kernels_select(wish && *wish ? wish : "auto", &err))
        die("VITRINE_ISA: %s", err.text);
    return atomic_load(&current);
}

static const char *const names[MAP_COUNT] = {
#define X(symbol, name, ulp) [MAP_##symbol] = name,
    MAP_FUNCTIONS(X)
#undef X
};

const char *map_name(MapFn f)
{
    return names[f];
}

float map_apply(MapFn f, float x)
{
    float y;
    kernels_reference()->map[f](&y, &x, 1);
    return y;
}

float zip_apply(ZipFn f, float a, float b)
{
    float y;
    kernels_reference()->zip[f](&y, &a, 1, &b, 1, 1);
    return y;
}

float kernel_fma(float a, float b, float c)
{
#if defined(__x86_64__)
    return has_fma() ? kernel_fma_instruction(a, b, c) : fma_portable(a, b, c);
#elif defined(__FP_FAST_FMAF) || defined(__aarch64__)
    return __builtin_fmaf(a, b, c);
#else
    return fma_portable(a, b, c);
#endif
}

float kernel_canonical(float x)
{
    const uint32_t nan = 0x7fc00000;
    if (x != x)
        memcpy(&x, &nan, sizeof x);
    return x;
}

float kernel_sum(const Kernels *k, const float *x, size_t n)
{
    if (n <= KERNEL_SUM)
        return k->sum(x, n);
    float total = 0;
    for (size_t done = 0; done < n; done += KERNEL_SUM_BLOCK)
        total += k->sum(x + done, n - done < KERNEL_SUM_BLOCK ? n - done : KERNEL_SUM_BLOCK);
    return kernel_canonical(total);
}
