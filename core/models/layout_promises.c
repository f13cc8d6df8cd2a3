/* What config.json promises, by its keys and by its architecture's name, must be in the tensors, and what it denies
 * must not: else config and weights are of two models, and the answer would be neither's. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/models/layout_infer.h"

/* Keys that decide whether a model has a part, by their names in Hugging Face's files and in timm's, and a weight of
 * that part. */
static const struct {
    const char *hf, *timm;
    VitRole role;
    bool number; /* a number other than 0, not true; of tokens: as many */
} KEYS[] = {
    {"layer_scale_init_value", "init_values", VIT_ATTN_LS, .number = true},
    {"num_register_tokens", "reg_tokens", VIT_REGISTERS, .number = true},
    {NULL, "pre_norm", VIT_PRE_GAMMA, false},
    {NULL, "class_token", VIT_CLS, false},
    {NULL, "fc_norm", VIT_FC_GAMMA, false},
    {"use_swiglu_ffn", NULL, VIT_W_GATE, false},
    {"use_gated_mlp", NULL, VIT_W_GATE, false},
    {"use_mean_pooling", NULL, VIT_FC_GAMMA, false},
    {"use_absolute_position_embeddings", NULL, VIT_POS, false},
    {"query_bias", NULL, VIT_B_Q, false},
    {"key_bias", NULL, VIT_B_K, false},
    {"value_bias", NULL, VIT_B_V, false},
    {"proj_bias", NULL, VIT_B_O, false},
    {"mlp_bias", NULL, VIT_B_UP, false},
};

/* A part that the name promises or denies, unless a key has said it. */
static const struct {
    size_t said; /* a Promise of Known */
    VitRole role;
    const char *what;
} NAMED[] = {
    {offsetof(Known, layer_scale), VIT_ATTN_LS, "LayerScale"},
    {offsetof(Known, registers), VIT_REGISTERS, "register tokens"},
    {offsetof(Known, pre_norm), VIT_PRE_GAMMA, "a norm before the blocks"},
};

static bool two_models(const Infer *n, const char *key, const char *value, const char *there, VitRole r, Err *err)
{
    return err_set(err, "%s: \"%s\" is %s, but there is %s tensor '%s'; config and weights are of two models",
                   n->k->config_path, key, value, there,
                   infer_has(n, r) ? checkpoint_find(n->k, r, 0)->name : checkpoint_name(n->k, r, 0));
}

/* One row of KEYS; *said: the file has the key. */
static bool keep_key(const Infer *n, size_t i, bool *said, Err *err)
{
    const char *key = infer_key(n, KEYS[i].hf, KEYS[i].timm);
    const Json *v = infer_look(n, KEYS[i].hf, KEYS[i].timm);
    VitRole r = KEYS[i].role;
    bool there = infer_has(n, r), promised;
    double x = 0;
    char value[32] = "false";
    *said = v != NULL;
    if (!v || !n->k->layout->names[r]) /* a layout that never stores such a part has another way to say it */
        return true;
    if (KEYS[i].number && json_kind(v) != JK_FALSE) {
        if (!json_number(v, &x))
            return err_set(err, "%s: \"%s\" must be a number", n->k->config_path, key);
        promised = x > 0 || x < 0;
        snprintf(value, sizeof value, "%g", x);
    } else if (json_kind(v) == JK_TRUE || json_kind(v) == JK_FALSE) {
        promised = json_kind(v) == JK_TRUE;
        snprintf(value, sizeof value, "%s", promised ? "true" : "false");
    } else
        return err_set(err, "%s: \"%s\" must be true or false", n->k->config_path, key);
    if (r == VIT_FC_GAMMA && promised && (!n->c->classes || (n->timm_config && !n->c->final_norm)))
        return true; /* nothing is pooled */
    if (promised != there)
        return two_models(n, key, value, there ? "a" : "no", r, err);
    if (r == VIT_REGISTERS && there && (x < n->c->registers || x > n->c->registers))
        return err_set(err, "%s: \"%s\" is %g, but tensor '%s' has %d; config and weights are of two models",
                       n->k->config_path, key, x, checkpoint_find(n->k, r, 0)->name, n->c->registers);
    return true;
}

bool infer_named(const Infer *n, bool there, bool named, const char *what, Err *err)
{
    return there == named ||
           err_set(err,
                   "%s: by its \"%s\" (%s) this model %s %s, but the tensors say otherwise; config and weights are of "
                   "two models",
                   n->k->config_path, n->timm_config ? "architecture" : "model_type", n->k->known.pattern,
                   named ? "has" : "lacks", what);
}

/* The MLP's width as the ratio gives it, in the ways that programs round it where there is a gate. */
static bool keep_ratio(const Infer *n, Err *err)
{
    double ratio;
    const VitConfig *c = n->c;
    if (!json_number(infer_look(n, "mlp_ratio", "mlp_ratio"), &ratio) || infer_look(n, "intermediate_size", NULL))
        return true;
    double wide = (double)c->width * ratio;
    int all = wide > 0 && wide < 1 << 24 ? (int)wide : 0, mlp = c->mlp;
    if (mlp == all || (c->gated && (mlp == all / 2 || mlp == (all * 2 / 3 + 7) / 8 * 8 || mlp == (all + 7) / 8 * 8)))
        return true;
    return err_set(err,
                   "%s: \"mlp_ratio\" is %g, which makes an MLP of %d, but the tensors have %d; config and "
                   "weights are of two models",
                   n->k->config_path, ratio, all, mlp);
}

/* timm's mean pooling has its norm behind the pooling unless it is told otherwise, and the others theirs before it. */
static bool keep_pool(const Infer *n, Err *err)
{
    const char *pool = json_text(infer_look(n, NULL, "global_pool"), NULL);
    bool mean = pool && strcmp(pool, "avg") == 0, known = n->k->known.pattern && !n->k->known.mean;
    bool free = infer_look(n, NULL, "fc_norm") || infer_look(n, NULL, "final_norm") || n->k->known.bare_mean;
    if (!n->timm_config || !pool || !known || free || n->c->pool == VIT_POOL_BOTH)
        return true;
    bool there = infer_has(n, VIT_FC_GAMMA);
    return mean == there || (!there && !infer_has(n, VIT_FINAL_GAMMA)) ||
           err_set(err,
                   "%s: \"global_pool\" is \"%.20s\", but there is %s tensor '%s'; config and weights are of two "
                   "models",
                   n->k->config_path, pool, there ? "a" : "no", checkpoint_name(n->k, VIT_FC_GAMMA, 0));
}

bool infer_promises(const Infer *n, Err *err)
{
    const Known *known = &n->k->known;
    bool said, told[VIT_ROLES] = {false};
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) {
        if (!keep_key(n, i, &said, err))
            return false;
        told[KEYS[i].role] = told[KEYS[i].role] || said;
    }
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++) {
        Promise p = *(const Promise *)(const void *)((const char *)known + NAMED[i].said);
        if (known->pattern && p != PROMISE_NONE && !told[NAMED[i].role] &&
            !infer_named(n, infer_has(n, NAMED[i].role), p == PROMISE_HAS, NAMED[i].what, err))
            return false;
    }
    return keep_ratio(n, err) && keep_pool(n, err);
}

bool infer_embeds_class(const Infer *n, Err *err)
{
    const Json *v = infer_look(n, NULL, "no_embed_class");
    const VitConfig *c = n->c;
    bool bare = c->pos == VIT_POS_PATCHES;
    if (!v || !n->positions || vit_prefix(c) == 0 || json_bool(v, bare) == bare)
        return true;
    return err_set(err,
                   "%s: \"no_embed_class\" is %s, but the position table has %d rows for %d patches; config and "
                   "weights are of two models",
                   n->k->config_path, bare ? "false" : "true", n->positions, vit_patches(c));
}
