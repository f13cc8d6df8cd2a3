/* What a checkpoint is, from the shapes of its tensors and the JSON files beside it. Shapes decide what they can decide
 * and must agree with the files; the rest is read from the files, else taken from the family's habits and written down
 * as an assumption. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/models/checkpoint.h"

/* --- what no shape can say: from the files, else the family's habit, which is written down as a guess --- */

/* Heads of the published sizes: of 64 numbers, but for a few. 0: no width that models are published in. */
static int usual_heads(int width)
{
    static const struct {
        int width, heads;
    } known[] = {{1280, 16}, {1408, 16}, {1664, 16}, {1152, 16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].width == width)
            return known[i].heads;
    return width % 64 == 0 && width > 64 ? width / 64 : 0;
}

/* Is the picture's part of a config.json for two towers what is read? Such a part leaves out on purpose what is as its
 * class has it. */
static bool is_tower(const Infer *n)
{
    return !n->timm_config && !n->open_clip && n->args != n->k->config;
}

/* A key that config.json leaves out: its value is what Hugging Face's class of this model_type has, which a file that
 * its programs wrote would say. What timm's and open_clip's names stand for is no such gap. */
static void note_default(const Infer *n, const char *key, const char *value)
{
    const char *type = n->k->known.pattern;
    if (!type || n->timm_config || n->open_clip)
        return;
    if (is_tower(n))
        model_assume(n->m, "%s is %s, as Hugging Face's class %s has it (\"vision_config\" leaves it out)", key, value,
                     type);
    else
        model_guess(n->m,
                    "%s is %s, as Hugging Face's class %s has it: config.json has no \"%s\", and no tensor can tell",
                    key, value, type, key);
}

static void note_default_number(const Infer *n, const char *key, float x)
{
    char value[32];
    snprintf(value, sizeof value, "%g", (double)x);
    note_default(n, key, value);
}

/* What nobody says of the heads: the name, for the width that it stands for, else what published widths have. */
static bool assume_heads(const Infer *n, int inner, const char *key, Err *err)
{
    VitConfig *c = n->c;
    const Known *known = &n->k->known;
    bool named = n->timm_config || n->open_clip;
    const char *ask = n->open_clip ? "head_width" : key, *where = n->open_clip ? "\"vision_cfg\" of " : "";
    if (known->pattern && named && (known->heads || inner % 64 == 0)) {
        c->heads = known->heads ? known->heads : inner / 64;
        return true;
    }
    if (known->heads && inner == known->heads * (known->head_width ? known->head_width : 64)) {
        char value[16];
        snprintf(value, sizeof value, "%d", c->heads = known->heads);
        note_default(n, key, value);
        return true;
    }
    c->heads = inner == c->width ? usual_heads(c->width) : 0;
    if (!c->heads)
        return err_set(err,
                       "%s: the number of heads is not stored in %s checkpoints, no \"%s\" says it, and width %d is no "
                       "usual one: put {\"%s\": …} into %s%s",
                       n->k->file.path, n->k->layout->name, ask, c->width, ask, where, n->k->config_path);
    model_guess(n->m, "%d head%s of %d (what published models of width %d have; %s)", c->heads,
                c->heads == 1 ? "" : "s", inner / c->heads, c->width,
                n->k->config ? arena_printf(&n->m->arena, "config.json has no \"%s\"", key) : "the file does not say");
    return true;
}

static bool infer_heads(Infer *n, int inner, Err *err)
{
    VitConfig *c = n->c;
    bool found;
    int stored = c->heads;
    const char *key = n->timm_config ? "num_heads" : "num_attention_heads";
    const Json *said = infer_look(n, "num_attention_heads", "num_heads");
    if (!infer_read_int(n, said, key, &c->heads, err) ||
        !infer_read_int(n, infer_look(n, "head_dim", "head_dim"), "head_dim", &c->head_dim, err))
        return false;
    if (said && !c->heads)
        return err_set(err, "%s: \"%s\" must be a whole number from 1 to %d, the width of the queries",
                       n->k->config_path, key, inner);
    if (!c->heads && c->head_dim && inner % c->head_dim == 0)
        c->heads = inner / c->head_dim;
    if (!c->heads && !assume_heads(n, inner, key, err))
        return false;
    if (stored && c->heads != stored)
        return err_set(err, "%s: \"%s\" is %d, but the tensors have %d; config and weights are of two models",
                       n->k->config_path, key, c->heads, stored);
    if (!c->head_dim)
        c->head_dim = inner / c->heads;
    if (c->heads < 1 || c->head_dim < 1 || (int64_t)c->heads * c->head_dim != inner)
        return err_set(err, "%s: %d head%s do%s not fit queries of width %d", n->k->config_path, c->heads,
                       c->heads == 1 ? "" : "s", c->heads == 1 ? "es" : "", inner);
    c->scale = vit_scale(c->head_dim);
    return infer_read_float(n, infer_look(n, "attention_scale", "attention_scale"), "attention_scale", &c->scale,
                            &found, err);
}

static const char *form_of(MapFn act)
{
    return act == MAP_GELU        ? "GELU, the form with erf"
           : act == MAP_SILU      ? "SiLU"
           : act == MAP_GELU_TANH ? "GELU, the form with tanh"
                                  : "quick GELU";
}

static bool infer_activation(Infer *n, Err *err)
{
    static const struct {
        const char *name;
        MapFn act;
    } known[] = {
        {"gelu", MAP_GELU},
        {"gelu_erf", MAP_GELU},
        {"gelu_pytorch_tanh", MAP_GELU_TANH},
        {"gelu_new", MAP_GELU_TANH},
        {"gelu_fast", MAP_GELU_TANH},
        {"gelu_tanh", MAP_GELU_TANH},
        {"quick_gelu", MAP_QUICK_GELU},
        {"quickgelu", MAP_QUICK_GELU},
        {"relu", MAP_RELU},
        {"silu", MAP_SILU},
        {"swish", MAP_SILU},
    };
    const Json *v = infer_look(n, "hidden_act", "act_layer");
    const Known *name_says = &n->k->known;
    MapFn usual = n->k->layout->act && !n->k->open_clip ? n->k->layout->act : MAP_GELU;
    n->c->act = name_says->act ? name_says->act : name_says->pattern ? MAP_GELU : usual;
    if (n->c->gated && n->k->layout->silu_gate) {
        n->c->act = MAP_SILU;
        return true;
    }
    if (!v) {
        if (!name_says->pattern && n->k->layout->act == MAP_GELU_TANH && n->c->heads && !n->k->config)
            model_guess(n->m,
                        "activation GELU, the form with tanh, as the authors' code computes it (%s; timm and "
                        "Hugging Face run the same weights with erf)",
                        n->k->layout->name);
        else if (!name_says->pattern)
            model_guess(n->m, "activation %s (usual for %s; the file does not say)", form_of(usual),
                        n->k->open_clip ? "open_clip" : n->k->layout->name);
        note_default(n, "hidden_act", form_of(n->c->act));
        return true;
    }
    const char *name = json_text(v, "(not a name)");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            n->c->act = known[i].act;
            return true;
        }
    return err_set(
        err, "%s: activation \"%.40s\" is not known; Vitrine has gelu, gelu_pytorch_tanh, quick_gelu, relu and silu",
        n->k->config_path, name);
}

static bool infer_pool(Infer *n, Err *err)
{
    static const struct {
        const char *name;
        VitPool pool;
    } known[] = {{"token", VIT_POOL_CLS}, {"cls", VIT_POOL_CLS}, {"avg", VIT_POOL_MEAN},     {"mean", VIT_POOL_MEAN},
                 {"none", VIT_POOL_NONE}, {"", VIT_POOL_NONE},   {"map", VIT_POOL_ATTENTION}};
    VitConfig *c = n->c;
    const Json *v = infer_look(n, "global_pool", "global_pool");
    bool two = c->dist && checkpoint_find(n->k, VIT_HEAD_DIST_W, 0);
    if (c->pool == VIT_POOL_BOTH)
        return true;
    if (c->classes && n->k->layout->classifier != CLASSIFIER_READOUT) {
        c->pool = VIT_POOL_MEAN;
        model_assume(n->m, "the classifier reads the mean of the patches%s, as Hugging Face's does",
                     c->final_norm ? "" : ", without the last norm");
        return true;
    }
    bool mean = !c->cls || c->fc_norm || n->k->known.mean,
         nothing = !c->classes && (n->k->layout->bare_probe || infer_look(n, "vision_use_head", NULL));
    c->pool = two                       ? VIT_POOL_CLS_DIST
              : infer_has(n, VIT_PROBE) ? VIT_POOL_ATTENTION
              : nothing                 ? VIT_POOL_NONE
              : mean                    ? VIT_POOL_MEAN
                                        : VIT_POOL_CLS;
    c->embeds = c->embeds && c->pool != VIT_POOL_NONE;
    if (!v || two)
        return true;
    const char *name = json_text(v, "?");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) {
            c->pool = known[i].pool;
            return true;
        }
    return err_set(err, "%s: \"global_pool\" is \"%.40s\"; Vitrine has token, avg, map and none", n->k->config_path,
                   name);
}

static bool infer_numbers(Infer *n, Err *err)
{
    VitConfig *c = n->c;
    bool found;
    const Layout *l = n->k->layout;
    c->eps = n->k->known.eps > 0 ? n->k->known.eps : l->eps;
    const char *key = n->timm_config ? "norm_eps" : "layer_norm_eps";
    const Json *eps = infer_look(n, "layer_norm_eps", "norm_eps");
    if (!eps && c->rms_norm && infer_look(n, "rms_norm_eps", NULL)) {
        key = "rms_norm_eps";
        eps = infer_look(n, key, NULL);
    }
    if (!infer_read_float(n, eps, key, &c->eps, &found, err))
        return false;
    if (c->eps < 0 || c->eps > 1)
        return err_set(err, "%s: \"%s\" is %g; the epsilon of %s must be 0 or a small positive number",
                       n->k->config_path, key, (double)c->eps, vit_norm_word(c));
    if (!found && !n->k->known.pattern)
        model_guess(n->m, "%s's ε is %g (usual for %s; the file does not say)", vit_norm_word(c), (double)c->eps,
                    l->name);
    if (!found)
        note_default_number(n, c->rms_norm ? "rms_norm_eps" : "layer_norm_eps", c->eps);
    c->post_norm = json_bool(infer_look(n, "post_norm", "post_norm"), false);
    return true;
}

/* Rotary positions: their numbers stand in config.json or belong to the name. */
static bool infer_rope(Infer *n, Err *err)
{
    VitConfig *c = n->c;
    const Known *known = &n->k->known;
    bool found;
    c->rope = known->rope;
    c->rope_half = known->rope_half;
    c->rope_cols_first = known->rope_cols_first;
    c->rope_base = known->rope_base;
    c->rope_ref_h = c->rope_ref_w = known->rope_ref;
    if (!known->pattern && infer_has(n, VIT_ROPE_FREQS)) {
        c->rope = VIT_ROPE_LEARNED;
        c->rope_cols_first = true;
        model_guess(n->m,
                    "the rotations of tensor '%s' are those of timm's rope_mixed models: columns first, neighbours in "
                    "pairs (the file does not say)",
                    checkpoint_find(n->k, VIT_ROPE_FREQS, 0)->name);
    }
    bool fixed = c->rope && c->rope != VIT_ROPE_LEARNED;
    const char *key = infer_key(n, "rope_theta", "rope_temperature");
    if (fixed && !infer_read_float(n, infer_look(n, "rope_theta", "rope_temperature"), key, &c->rope_base, &found, err))
        return false;
    if (fixed && !found)
        note_default_number(n, "rope_theta", c->rope_base);
    if (fixed && c->rope_base <= 1)
        return err_set(err,
                       "%s: \"%s\" is %g; the base of the rotations must be greater than 1 (100 or 10000 as a rule)",
                       n->k->config_path, key, (double)c->rope_base);
    if (!n->positions && !c->rope && !c->bias && c->pos != VIT_POS_NONE)
        return infer_missing(n, VIT_POS, 3, err);
    if (!n->positions)
        c->pos = VIT_POS_NONE;
    return true;
}

/* --- all of it --- */

const char *infer_key(const Infer *n, const char *hf, const char *timm)
{
    static const char *const OPEN_CLIP[][2] = {{"hidden_size", "width"},
                                               {"num_hidden_layers", "layers"},
                                               {"head_dim", "head_width"}};
    for (size_t i = 0; n->open_clip && hf && i < sizeof OPEN_CLIP / sizeof *OPEN_CLIP; i++)
        if (strcmp(hf, OPEN_CLIP[i][0]) == 0)
            return OPEN_CLIP[i][1];
    return n->timm_config ? timm : hf;
}

const Json *infer_look(const Infer *n, const char *hf, const char *timm)
{
    const char *key = infer_key(n, hf, timm);
    const Json *v = key ? json_get(n->args, key) : NULL;
    if (!v && key && n->timm_config)
        v = json_get(n->k->config, key);
    return v && json_kind(v) != JK_NULL ? v : NULL;
}

bool infer_read_int(const Infer *n, const Json *v, const char *what, int *out, Err *err)
{
    int64_t x;
    if (!v)
        return true;
    if (!json_int(v, &x) || x < 0 || x > 1 << 24)
        return err_set(err, "%s: \"%s\" must be a whole number from 0 to %d", n->k->config_path, what, 1 << 24);
    *out = (int)x;
    return true;
}

bool infer_read_float(const Infer *n, const Json *v, const char *what, float *out, bool *found, Err *err)
{
    double x;
    *found = v != NULL;
    if (!v)
        return true;
    if (!json_number(v, &x))
        return err_set(err, "%s: \"%s\" must be a number", n->k->config_path, what);
    if (!(dm_abs(x) < 1e6))
        return err_set(err, "%s: \"%s\" is %g; it must lie between −1e6 and 1e6", n->k->config_path, what, x);
    *out = (float)x;
    return true;
}

const TensorInfo *infer_tensor(const Infer *n, VitRole r)
{
    const TensorInfo *t = checkpoint_find(n->k, r, 0);
    for (int layer = 1; !t && vit_role_in_block(r) && layer < n->c->layers; layer++)
        t = checkpoint_find(n->k, r, layer);
    return t;
}

bool infer_has(const Infer *n, VitRole r)
{
    return infer_tensor(n, r) != NULL;
}

/* The part of a two-tower configuration that is the picture's. */
static const Json *picture_part(const Json *config)
{
    const Json *part = json_get(config, "vision_config");
    return json_kind(part) == JK_OBJECT ? part : config;
}

bool layout_infer(Checkpoint *k, Model *m, Err *err)
{
    Infer n = {.k = k, .m = m, .c = &m->vit, .args = picture_part(k->config)};
    int inner;
    m->vit = vit_config_base();
    m->preprocess.filter = FILTER_BILINEAR;
    n.open_clip = k->dialect == PREPROCESS_OPEN_CLIP ? json_get(k->config, "model_cfg") : NULL;
    if (n.open_clip)
        n.args = json_get(n.open_clip, "vision_cfg");
    n.trained = json_get(k->config, "pretrained_cfg");
    n.timm_config = n.trained || json_get(k->config, "model_args") || json_get(k->config, "architecture");
    if (n.timm_config && json_get(k->config, "model_args"))
        n.args = json_get(k->config, "model_args");
    if (n.timm_config && !n.trained)
        n.trained = k->config;
    if (!layout_known(k, m, &k->known, err))
        return false;
    if (!k->known.pattern && !m->guesses && strcmp(k->layout->name, "timm") == 0)
        model_guess(m,
                    "a plain ViT (no config.json names the architecture): norms in front of attention and MLP, q and k "
                    "not turned");
    if (!infer_keys(&n, err) || !infer_shapes(&n, &inner, err) || !infer_picture(&n, err) ||
        !infer_embeds_class(&n, err) || !infer_heads(&n, inner, err) || !infer_activation(&n, err) ||
        !infer_pool(&n, err) || !infer_numbers(&n, err) || !infer_rope(&n, err) ||
        !layout_preprocess(k, m, n.trained, err))
        return false;
    layout_class_names(k, m, n.trained);
    m->trained = json_bool(json_get(k->config, "trained"), true);
    m->drawn_shapes = json_bool(json_get(k->config, "drawn_shapes"), false);
    return vit_check(&m->vit, err) || err_prefix(err, "%s", k->file.path);
}
