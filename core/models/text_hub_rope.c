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

static bool rope_kind(const HubReading *k, const Json *rope, Seq2seqConfig *c, Err *err)
{
    Seq2seqRope *r = &c->rope;
    const char *type = json_text(json_get(rope, "rope_type"), json_text(json_get(rope, "type"), "default"));
    if (strcmp(type, "default") == 0)
        return true;
    if (strcmp(type, "dynamic") == 0) {
        model_assume(k->m, "rope_scaling is dynamic: up to %d tokens, the most that are taken here, it changes nothing",
                     c->positions);
        return true;
    }
    r->scaling = strcmp(type, "linear") == 0   ? ROPE_LINEAR
                 : strcmp(type, "llama3") == 0 ? ROPE_LLAMA3
                 : strcmp(type, "yarn") == 0   ? ROPE_YARN
                                               : ROPE_AS_TRAINED;
    if (!r->scaling)
        return err_set(err, "%s: \"rope_scaling\" is \"%.40s\"; linear, dynamic, llama3 and yarn are built here",
                       k->path, type);
    bool yarn = r->scaling == ROPE_YARN;
    r->low = 1;
    r->high = yarn ? 32 : 4;
    r->trained = (float)c->positions;
    if (!rope_number(k, rope, "factor", &r->factor, err) ||
        !rope_number(k, rope, "original_max_position_embeddings", &r->trained, err) ||
        !rope_number(k, rope, yarn ? "beta_slow" : "low_freq_factor", &r->low, err) ||
        !rope_number(k, rope, yarn ? "beta_fast" : "high_freq_factor", &r->high, err))
        return false;
    if (yarn && !json_bool(json_get(rope, "truncate"), true))
        return err_set(err, "%s: \"rope_scaling\" has \"truncate\": false, which is not built here", k->path);
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
 * convert_rope_params_to_dict of Gemma 3 and ModernBERT, which scales both kinds.) False with an empty message: it
 * scales nothing. */
static bool scales_blocks(const HubReading *k, const Json *rope, const Json *scaling, const Seq2seqConfig *c, Err *err)
{
    const char *old = json_text(json_get(scaling, "type"), "default"),
               *type = json_text(json_get(scaling, "rope_type"), NULL);
    *err->text = '\0';
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
    return type != NULL;
}

bool hub_rope(const HubReading *k, Seq2seqConfig *c, Err *err)
{
    const Json *scaling = json_get(k->config, "rope_scaling"), *rope = json_get(k->config, "rope_parameters");
    const Json *local = json_get(rope, "sliding_attention"), *full = rope_of(k);
    float share = 1;
    if (c->pos != SEQ2SEQ_POS_ROPE)
        return true;
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
    if (full && c->rope.local_base > 0 && !json_get(rope, "full_attention") && !scales_blocks(k, rope, scaling, c, err))
        return !*err->text;
    return rope_kind(k, full, c, err);
}
