#include "core/train/recipe.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/train/task.h"

bool recipe_check(const Recipe *r, Err *err)
{
    int micro = r->kind->micro;
    if (r->batch < micro || r->batch % micro)
        return err_set(err, "\"batch\" is %d: it must be a multiple of %d, which are computed together", r->batch,
                       micro);
    if (r->cycles > 1 && r->steps % r->cycles)
        return err_set(err, "\"cycles\" is %d: it must divide the %d steps there are", r->cycles, r->steps);
    if (r->warmup > recipe_cycle(r) && r->schedule != SCHEDULE_WIDTH)
        return err_set(err, "\"warmup\" is %d: more than the %d steps there are", r->warmup, recipe_cycle(r));
    return true;
}

void recipe_shorten(Recipe *r, int steps)
{
    const Recipe shorter = r->kind->recipe(steps);
    r->steps = shorter.steps;
    r->warmup = r->warmup < shorter.warmup ? r->warmup : shorter.warmup;
    r->log_every = r->log_every < shorter.log_every ? r->log_every : shorter.log_every;
}

int recipe_cycle(const Recipe *r)
{
    return r->steps / (r->cycles > 1 ? r->cycles : 1);
}

static double rate_by_width(const Recipe *r, int width, int step)
{
    double s = step + 1, warm = r->warmup, falling = 1 / dm_sqrt(s), rising = s / (warm * dm_sqrt(warm));
    double rate = r->rate / dm_sqrt((double)width) * (falling < rising ? falling : rising);
    if (r->cooling > 0) {
        double left = (1 - s / recipe_cycle(r)) / r->cooling;
        rate *= left < 0.02 ? 0.02 : left > 1 ? 1 : left;
    }
    return rate;
}

double recipe_rate(const Recipe *r, int width, int step)
{
    int steps = recipe_cycle(r);
    step %= steps;
    int s = step + 1;
    if (r->schedule == SCHEDULE_WIDTH)
        return rate_by_width(r, width, step);
    if (s < r->warmup)
        return r->rate * s / r->warmup;
    if (r->schedule == SCHEDULE_INVERSE_SQRT)
        return r->rate * dm_sqrt((double)(r->warmup > 1 ? r->warmup : 1) / s);
    return r->rate * (r->floor + (1 - r->floor) * 0.5 * (1 + dm_cos(DM_PI * step / steps)));
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

/* A recipe as JSON: fields by name, read over the values that are there, and written so that the same recipe is read
 * back. */

static bool choose(const Json *v, const char *name, const char *const *words, int *out, Err *err)
{
    const char *text = json_text(v, "");
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    return err_set(err, "\"%s\" must be \"%s\" or \"%s\"", name, words[0], words[1]);
}

static bool number_within(const Json *v, const Field *f, double *out, Err *err)
{
    double x;
    if (!json_number(v, &x) || x < f->low || x > f->high)
        return err_set(err, "\"%s\" must be a number from %g to %g", f->name, f->low, f->high);
    *out = x + 0.0; /* -0.0 would be written as -0, which reads as 0 */
    return true;
}

static bool whole_within(const Json *v, const Field *f, int *out, Err *err)
{
    int64_t x;
    if (!json_int(v, &x) || x < (int64_t)f->low || x > (int64_t)f->high)
        return err_set(err, "\"%s\" must be a whole number from %d to %d", f->name, (int)f->low, (int)f->high);
    *out = (int)x;
    return true;
}

static bool read_pair(const Json *v, const Field *f, int pair[2], Err *err)
{
    if (json_kind(v) != JK_ARRAY) {
        bool ok = whole_within(v, f, &pair[0], err);
        pair[1] = pair[0];
        return ok;
    }
    if (json_count(v) != 2)
        return err_set(err, "\"%s\" must be one number or [height, width]", f->name);
    return whole_within(json_at(v, 0), f, &pair[0], err) && whole_within(json_at(v, 1), f, &pair[1], err);
}

static bool read_act(const Json *v, MapFn *act, Err *err)
{
    static const MapFn known[] = {MAP_GELU, MAP_GELU_TANH, MAP_QUICK_GELU, MAP_RELU, MAP_SILU};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(json_text(v, ""), map_name(known[i])) == 0) {
            *act = known[i];
            return true;
        }
    return err_set(err, "\"act\" must be \"gelu\", \"gelu_tanh\", \"quick_gelu\", \"relu\" or \"silu\"");
}

static bool read_field(const Field *f, void *at, const Json *v, Err *err)
{
    int64_t seed;
    double x = 0;
    switch (f->kind) {
    case FIELD_WHOLE: return whole_within(v, f, at, err);
    case FIELD_REAL: return number_within(v, f, at, err);
    case FIELD_SINGLE:
        if (!number_within(v, f, &x, err))
            return false;
        *(float *)at = (float)x + 0.0F; /* so would what rounds to -0.0F */
        return true;
    case FIELD_SEED:
        if (!json_int(v, &seed) || seed < 0)
            return err_set(err, "\"%s\" must be a whole number, 0 or more", f->name);
        *(uint64_t *)at = (uint64_t)seed;
        return true;
    case FIELD_FLAG:
        if (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
            return err_set(err, "\"%s\" must be true or false", f->name);
        *(bool *)at = json_bool(v, false);
        return true;
    case FIELD_PAIR: return read_pair(v, f, at, err);
    case FIELD_ACT: return read_act(v, at, err);
    default: return choose(v, f->name, f->words, at, err);
    }
}

static const Field *field_of(Fields of, const char *name)
{
    for (int k = 0; k < of.count; k++)
        if (strcmp(of.field[k].name, name) == 0)
            return &of.field[k];
    return NULL;
}

/* A key in an object that has none of that name: it may be one of the other object of the recipe, `inside` tells which.
 */
static bool refuse_key(const char *key, Fields of, Fields other, bool inside, const char *const *also, Err *err)
{
    Buf names = {0};
    for (int k = 0; also[k]; k++)
        buf_printf(&names, " %s", also[k]);
    for (int k = 0; k < of.count; k++)
        buf_printf(&names, " %s", of.field[k].name);
    if (field_of(other, key))
        err_set(err,
                inside ? "\"%.40s\" stands beside \"model\", not inside it: {\"%.40s\": …, \"model\": {…}}"
                       : "\"%.40s\" stands inside \"model\": {\"model\": {\"%.40s\": …}}",
                key, key);
    else
        err_set(err, "\"%.40s\" is not known in %s; known are%s", key, inside ? "\"model\"" : "a recipe",
                buf_str(&names));
    buf_free(&names);
    return false;
}

/* Every member of an object into the field of that name; `also` are keys that are passed over. The object is the recipe
 * or, `inside` it, the model; `other` are the fields of the other one. */
static bool read_fields(Fields of, Fields other, bool inside, void *out, const Json *j, const char *const *also,
                        Err *err)
{
    const char *key = NULL;
    for (const Json *v; (v = json_next(j, &key));) {
        const Field *f = field_of(of, key);
        bool passed = false;
        for (int k = 0; also[k]; k++)
            passed = passed || strcmp(also[k], key) == 0;
        if (!f && !passed)
            return refuse_key(key, of, other, inside, also, err);
        if (f && !read_field(f, (char *)out + f->offset, v, err))
            return false;
    }
    return true;
}

static const TaskKind *const KINDS[] = {&PICTURES_TASK, &SENTENCES_TASK, &DECODER_TASK};

const TaskKind *task_of(const Json *recipe)
{
    const char *name = json_text(json_get(recipe, "kind"), "");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (KINDS[i]->name && strcmp(KINDS[i]->name, name) == 0)
            return KINDS[i];
    return KINDS[0];
}

bool task_makes(const TaskKind *k, const Model *m)
{
    return k->family == m->family && k->way == model_way(m);
}

const TaskKind *task_of_model(const Model *m)
{
    const TaskKind *found = NULL;
    for (size_t i = 0; m && i < sizeof KINDS / sizeof *KINDS; i++)
        if (KINDS[i]->family == m->family && (!found || task_makes(KINDS[i], m)))
            found = KINDS[i];
    return found;
}

bool recipe_read(Recipe *out, const Json *j, Err *err)
{
    static const char *const also[] = {"model", "kind", NULL}, *const plain[] = {"model", NULL};
    Recipe r = *out;
    if (json_kind(j) != JK_OBJECT)
        return err_set(err, "a recipe is an object: {\"steps\": 800, …}");
    if (!read_fields(r.kind->recipe_fields, r.kind->model_fields, false, &r, j, r.kind->name ? also : plain, err) ||
        !recipe_check(&r, err))
        return false;
    *out = r;
    return true;
}

bool recipe_model(const Recipe *r, void *config, const Json *j, Err *err)
{
    static const char *const none[] = {NULL};
    const TaskKind *k = r->kind;
    const Json *model = json_get(j, "model");
    if (model && json_kind(model) != JK_OBJECT)
        return err_set(err, "\"model\" must be an object: {\"width\": 64, …}");
    void *c = xmalloc(k->config_bytes);
    memcpy(c, config, k->config_bytes);
    bool ok = !model || (read_fields(k->model_fields, k->recipe_fields, true, c, model, none, err) &&
                         k->settle(c, json_get(model, "scale") != NULL, err));
    if (ok)
        memcpy(config, c, k->config_bytes);
    free(c);
    return ok;
}

/* --- written --- */

static void put_number(Buf *out, double x, int digits, int most, bool single)
{
    char text[32];
    for (; digits <= most; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (single ? strtof(text, NULL) == (float)x : strtod(text, NULL) == x)
            break;
    }
    buf_puts(out, text);
}

static void write_field(const Field *f, bool all, const void *at, Buf *out)
{
    switch (f->kind) {
    case FIELD_WHOLE: buf_printf(out, "%d", *(const int *)at); return;
    case FIELD_REAL: put_number(out, *(const double *)at, all ? 17 : 6, 17, false); return;
    case FIELD_SINGLE: put_number(out, (double)*(const float *)at, all ? 9 : 6, 9, true); return;
    case FIELD_SEED: buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at); return;
    case FIELD_FLAG: buf_puts(out, *(const bool *)at ? "true" : "false"); return;
    case FIELD_PAIR: buf_printf(out, "[%d, %d]", *(const int *)at, *((const int *)at + 1)); return;
    case FIELD_ACT: buf_printf(out, "\"%s\"", map_name(*(const MapFn *)at)); return;
    default: buf_printf(out, "\"%s\"", f->words[*(const int *)at]); return;
    }
}

void recipe_write(const Recipe *r, const void *config, Buf *out)
{
    const Fields recipe = r->kind->recipe_fields, model = r->kind->model_fields;
    buf_puts(out, "{\n");
    if (r->kind->name)
        buf_printf(out, "  \"kind\": \"%s\",\n", r->kind->name);
    for (int i = 0; i < recipe.count; i++) {
        buf_printf(out, "  \"%s\": ", recipe.field[i].name);
        write_field(&recipe.field[i], recipe.all_digits, (const char *)r + recipe.field[i].offset, out);
        buf_puts(out, ",\n");
    }
    const char *indent = model.all_digits ? "" : "    ", *next = model.all_digits ? ", " : ",\n",
               *end = model.all_digits ? "" : "\n";
    buf_printf(out, "  \"model\": {%s", end);
    for (int i = 0; i < model.count; i++) {
        buf_printf(out, "%s\"%s\": ", indent, model.field[i].name);
        write_field(&model.field[i], model.all_digits, (const char *)config + model.field[i].offset, out);
        buf_puts(out, i + 1 < model.count ? next : end);
    }
    buf_printf(out, "%s}\n}\n", model.all_digits ? "" : "  ");
}
