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

const float *weight_floats(const WeightTensor *t, size_t first, size_t n, float *room)
{
    if (t->data)
        return t->data + first;
    kernels()->widen[t->store.form == LEAF_F16 ? HALF_F16 : HALF_BF16](room, t->store.half + first, n);
    return room;
}

WeightTensor weight_from(const WeightTensor *t, size_t first)
{
    WeightTensor from = *t;
    from.data = t->data ? t->data + first : NULL;
    from.store.half = t->store.half ? t->store.half + first : NULL;
    return from;
}

const float *weight_all_floats(const WeightTensor *t, size_t cells, Arena *room)
{
    return t->data ? t->data : weight_floats(t, 0, cells, arena_alloc(room, size_mul(cells, sizeof(float))));
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
