/* What a checkpoint is, from the shapes of its tensors and the JSON files beside it. Shapes decide what they can decide
 * and must agree with the files; the rest is read from the files, else taken from the family's habits and written down
 * as an assumption. */
#include <string.h>

#include "core/base/dmath.h"
#include "core/models/layout_infer.h"

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
