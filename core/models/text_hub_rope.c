/* Rotary positions of a text model from the hub: rope_scaling of its config.json, or what transformers 5 writes for it,
 * rope_parameters (modeling_rope_utils.py has what each key of them means). */
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"

/* A key of it; where it is absent `out` stays. */
static bool rope_number(const HubReading *k, const Json *rope, const char *key, float *out, Err *err)
{
    const Json *v = json_get(rope, key);
    double x;
    if (!v || json_kind(v) == JK_NULL)
        return true;
    if (!json_number(v, &x) || !knob_finite((float)x))
        return err_set(err, "%s: \"%s\" of the rotations must be a number", k->path, key);
    *out = (float)x;
    return true;
}

/* What cos and sin are times, by the length that a text may have grown to; mscale and mscale_all_dim only together. */
static bool yarn_stretch(const HubReading *k, const Json *rope, Seq2seqRope *r, Err *err)
{
    float one = 0, all = 0;
    if (!rope_number(k, rope, "mscale", &one, err) || !rope_number(k, rope, "mscale_all_dim", &all, err))
        return false;
    r->stretch = seq2seq_yarn_stretch(r->factor);
    if (one > 0 && all > 0)
        r->stretch = (1 + one * (r->stretch - 1)) / (1 + all * (r->stretch - 1));
    return rope_number(k, rope, "attention_factor", &r->stretch, err);
}

static bool long_list(const HubReading *k, const Json *rope, const char *key, float out[ROPE_PAIRS_MOST], Err *err)
{
    const Json *list = json_get(rope, key);
    const size_t n = json_count(list);
    if (json_kind(list) != JK_ARRAY || n > ROPE_PAIRS_MOST)
        return err_set(err, "%s: \"%s\" of the rotations must be a list of 1 to %d numbers", k->path, key,
                       ROPE_PAIRS_MOST);
    for (size_t i = 0; i < n; i++) {
        double x;
        if (!json_number(json_at(list, i), &x) || !knob_finite((float)x) || !((float)x > 0))
            return err_set(err, "%s: \"%s\" of the rotations must be numbers above 0", k->path, key);
        out[i] = (float)x;
    }
    return true;
}

/* The length that was learned from stands beside the rotations in Phi-3, and then the factor is by how much the texts
 * grew; cos and sin are stretched in short texts too. */
static bool rope_long(const HubReading *k, const Json *rope, Seq2seqConfig *c, Err *err)
{
    Seq2seqRope *r = &c->rope;
    int beside = 0;
    if (!hub_whole(k, "original_max_position_embeddings", &beside, err) ||
        !long_list(k, rope, "short_factor", r->divisors[0], err) ||
        !long_list(k, rope, "long_factor", r->divisors[1], err))
        return false;
    r->trained = beside > 0 ? (float)beside : r->trained;
    if (!(r->trained >= 1))
        return err_set(err, "%s: the length %g of \"rope_scaling\" is not possible", k->path, (double)r->trained);
    if (beside > 0 || !(r->factor > 0))
        r->factor = (float)c->positions / r->trained;
    r->factor = r->factor < 1 ? 1 : r->factor;
    r->stretch = seq2seq_long_stretch(r->factor, r->trained);
    return rope_number(k, rope, "attention_factor", &r->stretch, err);
}

/* The type by its name; older files of Phi-3 say "su" or "yarn" for longrope. */
static RopeScaling scaling_of(const Json *rope, const char *type)
{
    static const char *const NAMES[] = {[ROPE_LINEAR] = "linear",
                                        [ROPE_LLAMA3] = "llama3",
                                        [ROPE_YARN] = "yarn",
                                        [ROPE_DYNAMIC] = "dynamic",
                                        [ROPE_LONG] = "longrope"};
    if (strcmp(type, "su") == 0 || (strcmp(type, "yarn") == 0 && json_get(rope, "short_factor")))
        return ROPE_LONG;
    for (int i = ROPE_LINEAR; i <= ROPE_LONG; i++)
        if (strcmp(type, NAMES[i]) == 0)
            return (RopeScaling)i;
    return ROPE_AS_TRAINED;
}

static bool rope_kind(const HubReading *k, const Json *rope, Seq2seqConfig *c, Err *err)
{
    static const char *const NAMES[] = {"rope_type", "type"};
    Seq2seqRope *r = &c->rope;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const JsonKind kind = json_kind(json_get(rope, NAMES[i]));
        if (kind != JK_NULL && kind != JK_STRING)
            return err_set(err, "%s: \"%s\" of the rotations must be a name, such as \"linear\"", k->path, NAMES[i]);
    }
    const char *type = json_text(json_get(rope, "rope_type"), json_text(json_get(rope, "type"), "default"));
    if (strcmp(type, "default") == 0)
        return true;
    r->scaling = scaling_of(rope, type);
    if (!r->scaling)
        return err_set(err,
                       "%s: \"rope_scaling\" is \"%.40s\"; linear, dynamic, llama3, yarn and longrope are built here",
                       k->path, type);
    static const char *const NEEDED[] = {"factor", "low_freq_factor", "high_freq_factor",
                                         "original_max_position_embeddings"};
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED && r->scaling == ROPE_LLAMA3; i++)
        if (json_kind(json_get(rope, NEEDED[i])) == JK_NULL) /* its class has no numbers of its own for them */
            return err_set(err, "%s: \"rope_scaling\" is llama3 without \"%s\"", k->path, NEEDED[i]);
    const bool yarn = r->scaling == ROPE_YARN;
    r->low = 1;
    r->high = yarn ? 32 : 4;
    r->trained = (float)c->positions;
    if (!rope_number(k, rope, "factor", &r->factor, err) ||
        !rope_number(k, rope, "original_max_position_embeddings", &r->trained, err) ||
        !rope_number(k, rope, yarn ? "beta_slow" : "low_freq_factor", &r->low, err) ||
        !rope_number(k, rope, yarn ? "beta_fast" : "high_freq_factor", &r->high, err))
        return false;
    if (r->scaling == ROPE_DYNAMIC) /* transformers reads no other length for it */
        r->trained = (float)c->positions;
    if (r->scaling == ROPE_LONG)
        return rope_long(k, rope, c, err);
    r->between = yarn && !json_bool(json_get(rope, "truncate"), true);
    return !yarn || yarn_stretch(k, rope, r, err);
}

/* A key that is not known might turn by other angles (mrope_section). */
static bool check_keys(const HubReading *k, const Json *rope, Err *err)
{
    static const char *const KNOWN[] = {"rope_type",
                                        "type",
                                        "rope_theta",
                                        "factor",
                                        "original_max_position_embeddings",
                                        "low_freq_factor",
                                        "high_freq_factor",
                                        "beta_fast",
                                        "beta_slow",
                                        "attention_factor",
                                        "mscale",
                                        "mscale_all_dim",
                                        "truncate",
                                        "finetuned",
                                        "partial_rotary_factor",
                                        "short_factor",
                                        "long_factor"};
    const char *key = NULL;
    for (const Json *v; (v = json_next(rope, &key)) != NULL;) {
        bool known = json_kind(v) == JK_NULL;
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
            known = known || strcmp(KNOWN[i], key) == 0;
        if (!known)
            return err_set(err,
                           "%.300s: \"%.60s\" of the rotations is not known here and may change what the model "
                           "computes; if it changes nothing, take it out",
                           k->path, key);
    }
    return true;
}

/* The dictionary that is read: of two kinds of blocks that of those without a window. */
static const Json *rope_of(const HubReading *k)
{
    const Json *rope = json_get(k->config, "rope_parameters"), *full = json_get(rope, "full_attention");
    return full ? full : rope && json_kind(rope) != JK_NULL ? rope : json_get(k->config, "rope_scaling");
}

bool hub_rope_share(const HubReading *k, float *share, Err *err)
{
    return rope_number(k, rope_of(k), "partial_rotary_factor", share, err);
}

/* Two kinds of blocks, each with a dictionary of its own whose "rope_type" is there from the start: a flat
 * "rope_scaling" is put into it, so that its old key "type" is never read. (transformers 5,
 * convert_rope_params_to_dict of Gemma 3 and ModernBERT, which scales both kinds.) */
static bool scales_blocks(const HubReading *k, const Json *rope, const Json *scaling, const Seq2seqConfig *c,
                          bool *scales, Err *err)
{
    const char *old = json_text(json_get(scaling, "type"), "default"),
               *type = json_text(json_get(scaling, "rope_type"), NULL);
    *scales = type != NULL;
    if (rope && json_kind(rope) != JK_NULL)
        return err_set(err,
                       "%s: \"rope_parameters\" of two kinds of blocks are \"full_attention\" and "
                       "\"sliding_attention\"; name them",
                       k->path);
    if (!type && strcmp(old, "default") != 0)
        model_guess(k->m,
                    "rope_scaling names \"%.40s\" by its old key \"type\": with two kinds of blocks transformers 5 "
                    "reads \"rope_type\" alone, so nothing is scaled (transformers 4 scales); write \"rope_type\" to "
                    "scale",
                    old);
    if (type && c->form == SEQ2SEQ_ENCODER_ONLY && strcmp(type, "default") != 0)
        return err_set(err, "%s: \"rope_scaling\" is \"%.40s\" for both kinds of blocks; default is built here",
                       k->path, type);
    return true;
}

/* A text or a number there, or a list, would be read as if there were none. */
static bool is_object(const HubReading *k, const Json *in, const char *key, Err *err)
{
    const JsonKind kind = json_kind(json_get(in, key));
    return kind == JK_NULL || kind == JK_OBJECT ||
           err_set(err, "%s: \"%s\" must be an object, such as {\"rope_type\": \"linear\", \"factor\": 2.0}, or null",
                   k->path, key);
}

bool hub_rope(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const Json *scaling = json_get(k->config, "rope_scaling"), *rope = json_get(k->config, "rope_parameters");
    const Json *local = json_get(rope, "sliding_attention"), *full = rope_of(k);
    float share = 1;
    if (c->pos != SEQ2SEQ_POS_ROPE)
        return true;
    if (!is_object(k, k->config, "rope_scaling", err) || !is_object(k, k->config, "rope_parameters", err) ||
        !is_object(k, rope, "full_attention", err) || !is_object(k, rope, "sliding_attention", err))
        return false;
    if (local || json_get(rope, "full_attention")) {
        const char *type = json_text(json_get(local, "rope_type"), "default");
        if (strcmp(type, "default") != 0)
            return err_set(err, "%s: the rotations of blocks with a window are \"%.40s\"; default is built here",
                           k->path, type);
        if (!rope_number(k, local, "rope_theta", &c->rope.local_base, err) || !check_keys(k, local, err))
            return false;
        full = json_get(rope, "full_attention");
    }
    if (rope && scaling && json_kind(scaling) != JK_NULL)
        return err_set(err, "%s: both \"rope_scaling\" and \"rope_parameters\" are there: take one out", k->path);
    if (!check_keys(k, full, err) || !hub_rope_share(k, &share, err))
        return false;
    if (!k->family->part_turned && (share < 1 || share > 1))
        return err_set(err, "%s: \"partial_rotary_factor\" is %g: heads of %s are rotated whole", k->path,
                       (double)share, k->family->layout);
    if (!rope_number(k, full, "rope_theta", &c->rope.base, err))
        return false;
    bool scales = true;
    if (full && c->rope.local_base > 0 && !json_get(rope, "full_attention") &&
        !scales_blocks(k, rope, scaling, c, &scales, err))
        return false;
    return !scales || rope_kind(k, full, c, err);
}
