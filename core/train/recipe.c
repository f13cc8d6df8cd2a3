#include "core/train/recipe.h"

#include "core/base/dmath.h"

Recipe recipe_default(void)
{
    return (Recipe){
        .seed = 1,
        .steps = 8000,
        .batch = 64,
        .schedule = SCHEDULE_COSINE,
        .rate = 2e-3,
        .warmup = 300,
        .floor = 0.01,
        .beta1 = 0.9,
        .beta2 = 0.99,
        .epsilon = 1e-8,
        .decay = 0.05,
        .position_rate = 3,
        .clip = 1,
        .smoothing = 0,
        .hidden_share = 0.4,
        .masked_share = 0.5,
        .masked_until = 0.5,
        .masked_class = 0.5,
        .guess_weight = 2,
        .difficulty = 0.4,
        .easing = 0.15,
        .log_every = 50,
        .check = 500,
    };
}

Recipe recipe_short(int steps)
{
    Recipe r = recipe_default();
    r.steps = steps;
    r.warmup = steps < 4 * r.warmup ? steps / 4 : r.warmup;
    r.log_every = steps < 20 * r.log_every ? (steps + 19) / 20 : r.log_every;
    return r;
}

bool recipe_check(const Recipe *r, Err *err)
{
    if (r->batch < MICRO_BATCH || r->batch % MICRO_BATCH)
        return err_set(err, "\"batch\" is %d: it must be a multiple of %d, which are computed together", r->batch,
                       MICRO_BATCH);
    if (r->warmup > r->steps)
        return err_set(err, "\"warmup\" is %d: more than the %d steps there are", r->warmup, r->steps);
    return true;
}

double recipe_rate(const Recipe *r, int step)
{
    int s = step + 1;
    if (s < r->warmup)
        return r->rate * s / r->warmup;
    if (r->schedule == SCHEDULE_INVERSE_SQRT)
        return r->rate * dm_sqrt((double)(r->warmup > 1 ? r->warmup : 1) / s);
    return r->rate * (r->floor + (1 - r->floor) * 0.5 * (1 + dm_cos(DM_PI * step / r->steps)));
}

double recipe_difficulty(const Recipe *r, int step)
{
    double eased = r->easing > 0 ? step / (r->easing * r->steps) : 1;
    return eased < 1 ? r->difficulty + (1 - r->difficulty) * eased : 1;
}

int recipe_masked(const Recipe *r, int step)
{
    if (r->guess_weight <= 0)
        return 0;
    double share = step < r->masked_until * r->steps ? r->masked_share : r->masked_share / 4;
    return (int)(r->batch * share / MICRO_BATCH + 0.5) * MICRO_BATCH;
}
