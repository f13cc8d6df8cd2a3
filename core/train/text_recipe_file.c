/* A text recipe as JSON. */
#include <string.h>

#include "core/base/dmath.h"
#include "core/train/text_recipe_parts.h"

bool text_recipe_read(TextRecipe *r, const Json *j, Err *err)
{
    TextRecipe out = *r;
    const char *key = NULL;
    for (const Json *v; (v = json_next(j, &key));) {
        int at = -1;
        int64_t whole;
        double x;
        if (strcmp(key, "kind") == 0 || strcmp(key, "model") == 0)
            continue;
        for (int i = 0; i < TEXT_KNOBS; i++)
            if (strcmp(TEXT_KNOB[i].key, key) == 0)
                at = i;
        if (at < 0)
            return err_set(err, "a text model's recipe has no \"%s\"", key);
        if (TEXT_KNOB[at].kind == TEXT_REAL ? !json_number(v, &x) : !json_int(v, &whole))
            return err_set(err, "\"%s\" must be a %s", key,
                           TEXT_KNOB[at].kind == TEXT_REAL ? "number" : "whole number");
        if (TEXT_KNOB[at].kind != TEXT_REAL)
            x = (double)whole;
        if (!(x >= TEXT_KNOB[at].least && x <= TEXT_KNOB[at].most))
            return err_set(err, "\"%s\" is %g; it must be %g to %g", key, x, TEXT_KNOB[at].least, TEXT_KNOB[at].most);
        text_knob_set(&out, at, x);
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
    const char *key = NULL;
    for (const Json *v; (v = json_next(model, &key));) {
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
    for (int i = 0; i < TEXT_KNOBS; i++)
        buf_printf(out, "  \"%s\": %.17g,\n", TEXT_KNOB[i].key, text_knob(r, i));
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
