#include "core/train/text_recipe.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/train/text_batch.h"

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

/* The knobs by name: what a file may say. */
typedef enum Kind { WHOLE, REAL, SEED } Kind;
static const struct {
    const char *key;
    Kind kind;
    size_t offset;
    double least, most;
} KNOBS[] = {
    {"seed", SEED, offsetof(TextRecipe, seed), 0, 9007199254740992.0},
    {"steps", WHOLE, offsetof(TextRecipe, steps), 1, 10000000},
    {"batch", WHOLE, offsetof(TextRecipe, batch), TEXT_MICRO, 65536},
    {"rate", REAL, offsetof(TextRecipe, rate), 0, 1000},
    {"warmup", WHOLE, offsetof(TextRecipe, warmup), 1, 10000000},
    {"cooling", REAL, offsetof(TextRecipe, cooling), 0, 1},
    {"beta1", REAL, offsetof(TextRecipe, beta1), 0, 0.999999},
    {"beta2", REAL, offsetof(TextRecipe, beta2), 0, 0.999999},
    {"epsilon", REAL, offsetof(TextRecipe, epsilon), 1e-30, 1},
    {"smoothing", REAL, offsetof(TextRecipe, smoothing), 0, 0.99},
    {"average", WHOLE, offsetof(TextRecipe, average), 0, 1000},
    {"average_every", WHOLE, offsetof(TextRecipe, average_every), 1, 10000000},
    {"log_every", WHOLE, offsetof(TextRecipe, log_every), 1, 10000000},
    {"check", WHOLE, offsetof(TextRecipe, check), 0, 1000000},
};
enum { KNOB_COUNT = sizeof KNOBS / sizeof *KNOBS };

static double knob(const TextRecipe *r, int i)
{
    const void *at = (const char *)r + KNOBS[i].offset;
    return KNOBS[i].kind == WHOLE  ? *(const int *)at
           : KNOBS[i].kind == REAL ? *(const double *)at
                                   : (double)*(const uint64_t *)at;
}

static void set_knob(TextRecipe *r, int i, double x)
{
    void *at = (char *)r + KNOBS[i].offset;
    if (KNOBS[i].kind == WHOLE)
        *(int *)at = (int)x;
    else if (KNOBS[i].kind == REAL)
        *(double *)at = x;
    else
        *(uint64_t *)at = (uint64_t)x;
}

bool text_recipe_check(const TextRecipe *r, Err *err)
{
    for (int i = 0; i < KNOB_COUNT; i++) {
        double x = knob(r, i);
        if (!(x >= KNOBS[i].least && x <= KNOBS[i].most))
            return err_set(err, "\"%s\" is %g; it must be %g to %g", KNOBS[i].key, x, KNOBS[i].least, KNOBS[i].most);
    }
    if (r->batch % TEXT_MICRO)
        return err_set(
            err, "\"batch\" is %d; it must be a multiple of %d, the sentences whose gradients are computed together",
            r->batch, TEXT_MICRO);
    return true;
}

bool text_recipe_read(TextRecipe *r, const Json *j, Err *err)
{
    TextRecipe out = *r;
    for (size_t m = 0; m < json_count(j); m++) {
        const char *key;
        const Json *v = json_member(j, m, &key);
        int at = -1;
        int64_t whole;
        double x;
        if (strcmp(key, "kind") == 0 || strcmp(key, "model") == 0)
            continue;
        for (int i = 0; i < KNOB_COUNT; i++)
            if (strcmp(KNOBS[i].key, key) == 0)
                at = i;
        if (at < 0)
            return err_set(err, "a text model's recipe has no \"%s\"", key);
        if (KNOBS[at].kind == REAL ? !json_number(v, &x) : !json_int(v, &whole))
            return err_set(err, "\"%s\" must be a %s", key, KNOBS[at].kind == REAL ? "number" : "whole number");
        if (KNOBS[at].kind != REAL)
            x = (double)whole;
        if (!(x >= KNOBS[at].least && x <= KNOBS[at].most))
            return err_set(err, "\"%s\" is %g; it must be %g to %g", key, x, KNOBS[at].least, KNOBS[at].most);
        set_knob(&out, at, x);
    }
    if (!text_recipe_check(&out, err))
        return false;
    *r = out;
    return true;
}

static const struct {
    const char *key;
    bool flag;
    size_t offset;
} MODEL_KNOBS[] = {
    {"width", false, offsetof(Seq2seqConfig, width)},
    {"heads", false, offsetof(Seq2seqConfig, heads)},
    {"mlp", false, offsetof(Seq2seqConfig, mlp)},
    {"encoder_layers", false, offsetof(Seq2seqConfig, encoder_layers)},
    {"decoder_layers", false, offsetof(Seq2seqConfig, decoder_layers)},
    {"pre_norm", true, offsetof(Seq2seqConfig, pre_norm)},
    {"final_norm", true, offsetof(Seq2seqConfig, final_norm)},
    {"learned_positions", true, offsetof(Seq2seqConfig, learned_positions)},
    {"tied", true, offsetof(Seq2seqConfig, tied)},
};
enum { MODEL_KNOB_COUNT = sizeof MODEL_KNOBS / sizeof *MODEL_KNOBS };

bool text_recipe_model(Seq2seqConfig *c, const Json *j, Err *err)
{
    const Json *model = json_get(j, "model");
    Seq2seqConfig out = *c;
    double scale = 0;
    for (size_t m = 0; m < json_count(model); m++) {
        const char *key;
        const Json *v = json_member(model, m, &key);
        int at = -1;
        int64_t whole;
        if (strcmp(key, "scale") == 0) {
            if (!json_number(v, &scale))
                return err_set(err, "\"scale\" must be a number");
            continue;
        }
        for (int i = 0; i < MODEL_KNOB_COUNT; i++)
            if (strcmp(MODEL_KNOBS[i].key, key) == 0)
                at = i;
        if (at < 0)
            return err_set(err, "a text model has no \"%s\"", key);
        void *field = (char *)&out + MODEL_KNOBS[at].offset;
        if (MODEL_KNOBS[at].flag) {
            if (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
                return err_set(err, "\"%s\" must be true or false", key);
            *(bool *)field = json_bool(v, false);
        } else if (!json_int(v, &whole) || whole < 1 || whole > 1 << 16)
            return err_set(err, "\"%s\" must be a whole number, 1 to %d", key, 1 << 16);
        else
            *(int *)field = (int)whole;
    }
    if (out.width % out.heads)
        return err_set(err, "a width of %d can't be split into %d heads", out.width, out.heads);
    out.head_dim = out.width / out.heads;
    out.scale = scale > 0 || scale < 0 ? (float)scale : (float)(1 / dm_sqrt((double)out.head_dim));
    out.embed_scale = (float)dm_sqrt((double)out.width);
    if (!seq2seq_check(&out, err))
        return false;
    *c = out;
    return true;
}

void text_recipe_write(const TextRecipe *r, const Seq2seqConfig *c, Buf *out)
{
    buf_puts(out, "{\n  \"kind\": \"text\",\n");
    for (int i = 0; i < KNOB_COUNT; i++)
        buf_printf(out, "  \"%s\": %.17g,\n", KNOBS[i].key, knob(r, i));
    buf_puts(out, "  \"model\": {");
    for (int i = 0; i < MODEL_KNOB_COUNT; i++) {
        const void *field = (const char *)c + MODEL_KNOBS[i].offset;
        if (MODEL_KNOBS[i].flag)
            buf_printf(out, "\"%s\": %s, ", MODEL_KNOBS[i].key, *(const bool *)field ? "true" : "false");
        else
            buf_printf(out, "\"%s\": %d, ", MODEL_KNOBS[i].key, *(const int *)field);
    }
    buf_printf(out, "\"scale\": %.9g}\n}\n", (double)c->scale);
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
