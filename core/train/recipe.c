#include "core/train/recipe.h"

#include "core/base/dmath.h"
#include "core/train/task.h"

bool recipe_check(const Recipe *r, Err *err)
{
    int micro = r->kind->micro;
    if (r->batch < micro || r->batch % micro)
        return err_set(err, "\"batch\" is %d: it must be a multiple of %d, which are computed together", r->batch,
                       micro);
    if (r->warmup > r->steps && r->schedule != SCHEDULE_WIDTH)
        return err_set(err, "\"warmup\" is %d: more than the %d steps there are", r->warmup, r->steps);
    return true;
}

static double rate_by_width(const Recipe *r, int width, int step)
{
    double s = step + 1, warm = r->warmup, falling = 1 / dm_sqrt(s), rising = s / (warm * dm_sqrt(warm));
    double rate = r->rate / dm_sqrt((double)width) * (falling < rising ? falling : rising);
    if (r->cooling > 0) {
        double left = (1 - s / r->steps) / r->cooling;
        rate *= left < 0.02 ? 0.02 : left > 1 ? 1 : left;
    }
    return rate;
}

double recipe_rate(const Recipe *r, int width, int step)
{
    int s = step + 1;
    if (r->schedule == SCHEDULE_WIDTH)
        return rate_by_width(r, width, step);
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
    return (int)(r->batch * share / r->kind->micro + 0.5) * r->kind->micro;
}
