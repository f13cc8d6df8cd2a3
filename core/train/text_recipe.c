#include "core/train/text_recipe.h"

#include "core/base/dmath.h"
#include "core/train/text_batch.h"
#include "core/train/text_recipe_parts.h"

TextRecipe text_recipe_default(void)
{
    return (TextRecipe){.seed = 1,
                        .steps = 2000,
                        .batch = 64,
                        .rate = 0.5,
                        .warmup = 800,
                        .cooling = 0.3,
                        .beta1 = 0.9,
                        .beta2 = 0.98,
                        .epsilon = 1e-9,
                        .smoothing = 0.1,
                        .average_every = 20,
                        .log_every = 20,
                        .check = 200};
}

TextRecipe text_recipe_short(int steps)
{
    TextRecipe r = text_recipe_default();
    r.warmup = r.warmup * steps / r.steps;
    r.steps = steps;
    if (r.warmup < 1)
        r.warmup = 1;
    return r;
}

const TextKnob TEXT_KNOB[TEXT_KNOBS] = {
    {"seed", TEXT_SEED, offsetof(TextRecipe, seed), 0, 9007199254740992.0},
    {"steps", TEXT_WHOLE, offsetof(TextRecipe, steps), 1, 10000000},
    {"batch", TEXT_WHOLE, offsetof(TextRecipe, batch), TEXT_MICRO, 65536},
    {"rate", TEXT_REAL, offsetof(TextRecipe, rate), 0, 1000},
    {"warmup", TEXT_WHOLE, offsetof(TextRecipe, warmup), 1, 10000000},
    {"cooling", TEXT_REAL, offsetof(TextRecipe, cooling), 0, 1},
    {"beta1", TEXT_REAL, offsetof(TextRecipe, beta1), 0, 0.999999},
    {"beta2", TEXT_REAL, offsetof(TextRecipe, beta2), 0, 0.999999},
    {"epsilon", TEXT_REAL, offsetof(TextRecipe, epsilon), 1e-30, 1},
    {"smoothing", TEXT_REAL, offsetof(TextRecipe, smoothing), 0, 0.99},
    {"average", TEXT_WHOLE, offsetof(TextRecipe, average), 0, 1000},
    {"average_every", TEXT_WHOLE, offsetof(TextRecipe, average_every), 1, 10000000},
    {"log_every", TEXT_WHOLE, offsetof(TextRecipe, log_every), 1, 10000000},
    {"check", TEXT_WHOLE, offsetof(TextRecipe, check), 0, 1000000},
};

double text_knob(const TextRecipe *r, int i)
{
    const void *at = (const char *)r + TEXT_KNOB[i].offset;
    return TEXT_KNOB[i].kind == TEXT_WHOLE  ? *(const int *)at
           : TEXT_KNOB[i].kind == TEXT_REAL ? *(const double *)at
                                            : (double)*(const uint64_t *)at;
}

void text_knob_set(TextRecipe *r, int i, double x)
{
    void *at = (char *)r + TEXT_KNOB[i].offset;
    if (TEXT_KNOB[i].kind == TEXT_WHOLE)
        *(int *)at = (int)x;
    else if (TEXT_KNOB[i].kind == TEXT_REAL)
        *(double *)at = x;
    else
        *(uint64_t *)at = (uint64_t)x;
}

bool text_recipe_check(const TextRecipe *r, Err *err)
{
    for (int i = 0; i < TEXT_KNOBS; i++) {
        double x = text_knob(r, i);
        if (!(x >= TEXT_KNOB[i].least && x <= TEXT_KNOB[i].most))
            return err_set(err, "\"%s\" is %g; it must be %g to %g", TEXT_KNOB[i].key, x, TEXT_KNOB[i].least,
                           TEXT_KNOB[i].most);
    }
    if (r->batch % TEXT_MICRO)
        return err_set(
            err, "\"batch\" is %d; it must be a multiple of %d, the sentences whose gradients are computed together",
            r->batch, TEXT_MICRO);
    return true;
}

double text_recipe_rate(const TextRecipe *r, const Seq2seqConfig *c, int step)
{
    double s = step + 1, warm = r->warmup, falling = 1 / dm_sqrt(s), rising = s / (warm * dm_sqrt(warm));
    double rate = r->rate / dm_sqrt((double)c->width) * (falling < rising ? falling : rising);
    if (r->cooling > 0) {
        double left = (1 - s / r->steps) / r->cooling;
        rate *= left < 0.02 ? 0.02 : left > 1 ? 1 : left;
    }
    return rate;
}
