#include "core/models/weights.h"

#include "core/base/mem.h"

int weight_shape(const char *axes, WeightLength length, const void *config, size_t shape[4])
{
    int rank = 0;
    for (const char *a = axes; *a; a++)
        shape[rank++] = (size_t)length(config, *a);
    return rank;
}

size_t weight_cells(const char *axes, WeightLength length, const void *config)
{
    size_t shape[4], n = 1;
    int rank = weight_shape(axes, length, config, shape);
    for (int i = 0; i < rank; i++)
        n = size_mul(n, shape[i]);
    return n;
}

bool knobs_check(const Knob *knob, size_t n, Err *err)
{
    for (size_t i = 0; i < n; i++)
        if (knob[i].value < knob[i].least || knob[i].value > knob[i].most)
            return err_set(err, "%s is %d; it must be %d to %d", knob[i].what, knob[i].value, knob[i].least,
                           knob[i].most);
    return true;
}

bool knob_finite(float x)
{
    return x - x == 0.0f;
}
