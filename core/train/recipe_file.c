/* A recipe as JSON: fields by name, read over the values that are there, and written so that the same recipe is read
 * back. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/train/recipe.h"

typedef enum Kind { WHOLE, REAL, SEED, SCHEDULE } Kind;
typedef struct Field {
    const char *name;
    Kind kind;
    size_t offset;
    double low, high;
} Field;

#define AT(field) offsetof(Recipe, field)
static const Field FIELDS[] = {
    {"seed", SEED, AT(seed), 0, 0},
    {"steps", WHOLE, AT(steps), 1, 10000000},
    {"batch", WHOLE, AT(batch), MICRO_BATCH, 4096},
    {"schedule", SCHEDULE, AT(schedule), 0, 0},
    {"rate", REAL, AT(rate), 0, 10},
    {"warmup", WHOLE, AT(warmup), 0, 10000000},
    {"floor", REAL, AT(floor), 0, 1},
    {"beta1", REAL, AT(beta1), 0, 0.9999999},
    {"beta2", REAL, AT(beta2), 0, 0.9999999},
    {"epsilon", REAL, AT(epsilon), 1e-30, 1},
    {"decay", REAL, AT(decay), 0, 10},
    {"position_rate", REAL, AT(position_rate), 0, 100},
    {"clip", REAL, AT(clip), 0, 1e9},
    {"smoothing", REAL, AT(smoothing), 0, 0.999},
    {"hidden_share", REAL, AT(hidden_share), 0, 1},
    {"masked_share", REAL, AT(masked_share), 0, 1},
    {"masked_until", REAL, AT(masked_until), 0, 1},
    {"masked_class", REAL, AT(masked_class), 0, 1000},
    {"guess_weight", REAL, AT(guess_weight), 0, 1000},
    {"difficulty", REAL, AT(difficulty), 0, 1},
    {"easing", REAL, AT(easing), 0, 1},
    {"log_every", WHOLE, AT(log_every), 1, 10000000},
    {"check", WHOLE, AT(check), 0, 1000000},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };

#define OF(field) offsetof(VitConfig, field)
typedef enum ModelKind { M_WHOLE, M_REAL, M_FLAG, M_ACT, M_POOL, M_POS, M_INPUT, M_PAIR, M_SCALE } ModelKind;
static const struct {
    const char *name;
    ModelKind kind;
    size_t offset;
    int low, high;
} MODEL_FIELDS[] = {
    {"image", M_PAIR, OF(image_h), 1, 4096},
    {"patch", M_PAIR, OF(patch_h), 1, 1024},
    {"width", M_WHOLE, OF(width), 1, 65536},
    {"layers", M_WHOLE, OF(layers), 1, 256},
    {"heads", M_WHOLE, OF(heads), 1, 1024},
    {"mlp", M_WHOLE, OF(mlp), 1, 262144},
    {"registers", M_WHOLE, OF(registers), 0, 64},
    {"scale", M_SCALE, OF(scale), 0, 0},
    {"eps", M_REAL, OF(eps), 0, 0},
    {"act", M_ACT, OF(act), 0, 0},
    {"pool", M_POOL, OF(pool), 0, 0},
    {"positions", M_POS, OF(pos), 0, 0},
    {"input", M_INPUT, OF(input), 0, 0},
    {"post_norm", M_FLAG, OF(post_norm), 0, 0},
    {"rms_norm", M_FLAG, OF(rms_norm), 0, 0},
};
enum { MODEL_FIELD_COUNT = sizeof MODEL_FIELDS / sizeof *MODEL_FIELDS };

static const char *const SCHEDULES[] = {[SCHEDULE_COSINE] = "cosine", [SCHEDULE_INVERSE_SQRT] = "inverse_sqrt", NULL};
static const char *const POOLS[] = {[VIT_POOL_CLS] = "cls", [VIT_POOL_MEAN] = "mean", NULL};
static const char *const POSITIONS[] = {[VIT_POS_NONE] = "none", [VIT_POS_ALL] = "all", NULL};
static const char *const INPUTS[] = {[VIT_INPUT_STANDARD] = "standard", [VIT_INPUT_PER_IMAGE] = "per_image", NULL};

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

static bool number_within(const Json *v, const char *name, double low, double high, double *out, Err *err)
{
    double x;
    if (!json_number(v, &x) || x < low || x > high)
        return err_set(err, "\"%s\" must be a number from %g to %g", name, low, high);
    *out = x;
    return true;
}

static bool whole_within(const Json *v, const char *name, int low, int high, int *out, Err *err)
{
    int64_t x;
    if (!json_int(v, &x) || x < low || x > high)
        return err_set(err, "\"%s\" must be a whole number from %d to %d", name, low, high);
    *out = (int)x;
    return true;
}

static bool read_field(const Field *f, Recipe *r, const Json *v, Err *err)
{
    char *at = (char *)r + f->offset;
    int chosen = 0;
    int64_t seed;
    switch (f->kind) {
    case WHOLE: return whole_within(v, f->name, (int)f->low, (int)f->high, (int *)(void *)at, err);
    case REAL: return number_within(v, f->name, f->low, f->high, (double *)(void *)at, err);
    case SEED:
        if (!json_int(v, &seed) || seed < 0)
            return err_set(err, "\"seed\" must be a whole number, 0 or more");
        r->seed = (uint64_t)seed;
        return true;
    default:
        if (!choose(v, f->name, SCHEDULES, &chosen, err))
            return false;
        r->schedule = (Schedule)chosen;
        return true;
    }
}

bool recipe_read(Recipe *out, const Json *j, Err *err)
{
    Recipe r = *out;
    if (json_kind(j) != JK_OBJECT)
        return err_set(err, "a recipe is an object: {\"steps\": 800, …}");
    const char *key = NULL;
    for (const Json *v; (v = json_next(j, &key));) {
        const Field *f = NULL;
        for (int k = 0; k < FIELD_COUNT; k++)
            if (strcmp(FIELDS[k].name, key) == 0)
                f = &FIELDS[k];
        if (strcmp(key, "model") == 0)
            continue;
        if (!f) {
            Buf names = {0};
            for (int k = 0; k < FIELD_COUNT; k++)
                buf_printf(&names, " %s", FIELDS[k].name);
            err_set(err, "\"%.40s\" is not known in a recipe; known are model%s", key, buf_str(&names));
            buf_free(&names);
            return false;
        }
        if (!read_field(f, &r, v, err))
            return false;
    }
    if (!recipe_check(&r, err))
        return false;
    *out = r;
    return true;
}

/* --- the model --- */

static bool read_pair(const Json *v, const char *name, int low, int high, int *h, int *w, Err *err)
{
    if (json_kind(v) != JK_ARRAY) {
        bool ok = whole_within(v, name, low, high, h, err);
        *w = *h;
        return ok;
    }
    if (json_count(v) != 2)
        return err_set(err, "\"%s\" must be one number or [height, width]", name);
    return whole_within(json_at(v, 0), name, low, high, h, err) && whole_within(json_at(v, 1), name, low, high, w, err);
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

static bool read_model_field(int i, VitConfig *c, bool *scaled, const Json *v, Err *err)
{
    const char *name = MODEL_FIELDS[i].name;
    char *at = (char *)c + MODEL_FIELDS[i].offset;
    double x = 0;
    int chosen = 0;
    bool ok = true;
    switch (MODEL_FIELDS[i].kind) {
    case M_WHOLE: return whole_within(v, name, MODEL_FIELDS[i].low, MODEL_FIELDS[i].high, (int *)(void *)at, err);
    case M_PAIR:
        return read_pair(v, name, MODEL_FIELDS[i].low, MODEL_FIELDS[i].high, (int *)(void *)at, (int *)(void *)at + 1,
                         err);
    case M_SCALE: *scaled = true; /* falls through */
    case M_REAL:
        ok = number_within(v, name, 0, 1000, &x, err);
        *(float *)(void *)at = ok ? (float)x : *(float *)(void *)at;
        return ok;
    case M_FLAG:
        if (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
            return err_set(err, "\"%s\" must be true or false", name);
        *(bool *)(void *)at = json_bool(v, false);
        return true;
    case M_ACT: return read_act(v, &c->act, err);
    case M_POOL:
        ok = choose(v, name, POOLS, &chosen, err);
        c->pool = ok ? (VitPool)chosen : c->pool;
        return ok;
    case M_POS:
        ok = choose(v, name, POSITIONS, &chosen, err);
        c->pos = ok ? (VitPos)chosen : c->pos;
        return ok;
    default:
        ok = choose(v, name, INPUTS, &chosen, err);
        c->input = ok ? (VitInput)chosen : c->input;
        return ok;
    }
}
_Static_assert(offsetof(VitConfig, image_w) == offsetof(VitConfig, image_h) + sizeof(int) &&
                   offsetof(VitConfig, patch_w) == offsetof(VitConfig, patch_h) + sizeof(int),
               "read_pair writes height and width");

bool recipe_model(VitConfig *out, const Json *j, Err *err)
{
    VitConfig c = *out;
    const Json *model = json_get(j, "model");
    bool scaled = false;
    if (!model)
        return true;
    if (json_kind(model) != JK_OBJECT)
        return err_set(err, "\"model\" must be an object: {\"width\": 64, …}");
    const char *key = NULL;
    for (const Json *v; (v = json_next(model, &key));) {
        int found = -1;
        for (int k = 0; k < MODEL_FIELD_COUNT; k++)
            if (strcmp(MODEL_FIELDS[k].name, key) == 0)
                found = k;
        if (found < 0) {
            Buf names = {0};
            for (int k = 0; k < MODEL_FIELD_COUNT; k++)
                buf_printf(&names, " %s", MODEL_FIELDS[k].name);
            err_set(err, "\"%.40s\" is not known in \"model\"; known are%s", key, buf_str(&names));
            buf_free(&names);
            return false;
        }
        if (!read_model_field(found, &c, &scaled, v, err))
            return false;
    }
    if (c.width % c.heads)
        return err_set(err, "\"width\" %d is no multiple of the %d heads", c.width, c.heads);
    c.head_dim = c.width / c.heads;
    if (!scaled)
        c.scale = vit_scale(c.head_dim);
    if (!vit_check(&c, err))
        return false;
    *out = c;
    return true;
}

/* With as few digits as read back the same number. */
static void put_real(Buf *out, double x)
{
    char text[32];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    buf_puts(out, text);
}

static void put_single(Buf *out, float x)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    buf_puts(out, text);
}

static void write_field(const Field *f, const Recipe *r, Buf *out)
{
    const char *at = (const char *)r + f->offset;
    switch (f->kind) {
    case WHOLE: buf_printf(out, "%d", *(const int *)(const void *)at); return;
    case REAL: put_real(out, *(const double *)(const void *)at); return;
    case SEED: buf_printf(out, "%llu", (unsigned long long)r->seed); return;
    default: buf_printf(out, "\"%s\"", SCHEDULES[r->schedule]); return;
    }
}

static void write_model_field(int i, const VitConfig *c, Buf *out)
{
    const char *at = (const char *)c + MODEL_FIELDS[i].offset;
    switch (MODEL_FIELDS[i].kind) {
    case M_WHOLE: buf_printf(out, "%d", *(const int *)(const void *)at); return;
    case M_PAIR:
        buf_printf(out, "[%d, %d]", *(const int *)(const void *)at, *((const int *)(const void *)at + 1));
        return;
    case M_SCALE:
    case M_REAL: put_single(out, *(const float *)(const void *)at); return;
    case M_FLAG: buf_puts(out, *(const bool *)(const void *)at ? "true" : "false"); return;
    case M_ACT: buf_printf(out, "\"%s\"", map_name(c->act)); return;
    case M_POOL: buf_printf(out, "\"%s\"", POOLS[c->pool]); return;
    case M_POS: buf_printf(out, "\"%s\"", POSITIONS[c->pos]); return;
    default: buf_printf(out, "\"%s\"", INPUTS[c->input]); return;
    }
}

void recipe_write(const Recipe *r, const VitConfig *c, Buf *out)
{
    buf_puts(out, "{\n");
    for (int i = 0; i < FIELD_COUNT; i++) {
        buf_printf(out, "  \"%s\": ", FIELDS[i].name);
        write_field(&FIELDS[i], r, out);
        buf_puts(out, ",\n");
    }
    buf_puts(out, "  \"model\": {\n");
    for (int i = 0; i < MODEL_FIELD_COUNT; i++) {
        buf_printf(out, "    \"%s\": ", MODEL_FIELDS[i].name);
        write_model_field(i, c, out);
        buf_puts(out, i + 1 < MODEL_FIELD_COUNT ? ",\n" : "\n");
    }
    buf_puts(out, "  }\n}\n");
}
