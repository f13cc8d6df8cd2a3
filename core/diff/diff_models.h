/* Two models side by side before anything is computed: what their files say otherwise, and which weights are not the
 * same. */
#ifndef VITRINE_DIFF_DIFF_MODELS_H
#define VITRINE_DIFF_DIFF_MODELS_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/models/model.h"

/* A setting in words, the same for both where they agree. */
typedef struct DiffSetting {
    const char *name;
    char ours[64], theirs[64];
} DiffSetting;
enum { DIFF_SETTINGS = 32 };

/* Those that differ, numbers first that decide shapes; how many. Pixel statistics are compared only where both take
 * pictures. */
int diff_settings(const Model *ours, const Model *theirs, DiffSetting out[DIFF_SETTINGS]);

typedef struct DiffWeights {
    int compared, different;
    char first[160]; /* our path of the first that differs */
    bool rounded;    /* every difference is what rounding to bf16 or f16 makes of ours, or ours of theirs */
} DiffWeights;

/* Weights of the same role, block and shape; those that differ by more than tolerance of the largest are counted, and
 * at most `lines` of them described in out (may be NULL). What only one has counts as different. */
DiffWeights diff_weights(const Model *ours, const Model *theirs, double tolerance, int lines, Buf *out);

/* --- how far two tensors are apart --- */

typedef struct DiffFigures {
    double largest; /* largest difference / largest finite absolute value of the reference; infinite where one has NaN
                       or ∞ and the other not */
    double rms;     /* root mean square of the differences / that of the reference */
    double cosine;  /* of the angle between the two, over cells finite in both; 1 where both are 0,
                       NaN where one of them alone has NaN */
    bool any;       /* is there a cell beyond the tolerance? */
    size_t first;   /* the first such cell */
    size_t worst;   /* the cell of the largest difference */
    size_t numbers; /* cells that are finite in both */
    size_t nan_ours, nan_theirs; /* cells that are NaN in one and not in the other */
} DiffFigures;

/* tolerance: of `largest`. Equal infinities and NaN in both are no difference. */
DiffFigures diff_figures(const float *ours, const float *theirs, size_t cells, double tolerance);
#endif
