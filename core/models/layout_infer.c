/* What a checkpoint is, from the shapes of its tensors and the JSON files beside it. Shapes decide what they can decide
 * and must agree with the files; the rest is read from the files, else taken from the family's habits and written down
 * as an assumption. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/models/checkpoint.h"

enum { LAYERS_MAX = 1024, SIDE_MAX = 1 << 14 };

typedef struct Infer {
    Checkpoint *k;
    Model *m;
    VitConfig *c;        /* of m */
    const Json *args;    /* where the model's numbers stand: the whole config.json, or timm's model_args */
    const Json *trained; /* timm's pretrained_cfg, or NULL */
    bool timm_config;
    int positions; /* rows of the position table; 0 without one */
} Infer;

/* --- reading numbers --- */

static const Json *look(const Infer *n, const char *hf, const char *timm)
{
    const char *key = n->timm_config ? timm : hf;
    const Json *v = key ? json_get(n->args, key) : NULL;
    if (!v && key && n->timm_config)
        v = json_get(n->k->config, key);
    return v && json_kind(v) != JK_NULL ? v : NULL;
}

/* Reads a key that may be absent. *out stays then. */
static bool read_int(const Infer *n, const Json *v, const char *what, int *out, Err *err)
{
    int64_t x;
    if (!v)
        return true;
    if (!json_int(v, &x) || x < 0 || x > 1 << 24)
        return err_set(err, "%s: \"%s\" must be a whole number from 0 to %d", n->k->config_path, what, 1 << 24);
    *out = (int)x;
    return true;
}

static bool read_float(const Infer *n, const Json *v, const char *what, float *out, bool *found, Err *err)
{
    double x;
    *found = v != NULL;
    if (!v)
        return true;
    if (!json_number(v, &x) || !(dm_abs(x) < 1e6))
        return err_set(err, "%s: \"%s\" must be a number", n->k->config_path, what);
    *out = (float)x;
    return true;
}

/* What a shape says, compared with what the file says. */
static bool agree(const Infer *n, const char *hf, const char *timm, int have, Err *err)
{
    int said = have;
    const Json *v = look(n, hf, timm);
    const char *key = n->timm_config ? timm : hf;
    if (!read_int(n, v, key, &said, err))
        return false;
    return said == have ||
           err_set(err,
                   "%s: \"%s\" is %d, but the tensors have %d; config and weights are of two models, or a download is "
                   "not complete",
                   n->k->config_path, key, said, have);
}

static bool has(const Infer *n, VitRole r)
{
    return checkpoint_find(n->k, r, 0) != NULL;
}

/* A switch of the file; *on stays where it says nothing. r: a weight that exists only where it is on. */
static bool read_switch(const Infer *n, const char *key, VitRole r, bool *on, Err *err)
{
    const Json *v = look(n, key, key);
    if (!v)
        return true;
    if (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
        return err_set(err, "%s: \"%s\" must be true or false", n->k->config_path, key);
    *on = json_kind(v) == JK_TRUE;
    return *on || !has(n, r) ||
           err_set(err, "%s: \"%s\" is false, but there is a tensor '%s'; config and weights are of two models",
                   n->k->config_path, key, checkpoint_find(n->k, r, 0)->name);
}

/* --- from the tensors --- */

/* One more than the number of the last block that has any tensor: what a block in between lacks will be missed by its
 * name. */
static int count_layers(const Infer *n)
{
    const char *pattern = n->k->layout->names[VIT_LN1_GAMMA];
    size_t prefix = strlen(n->k->prefix), part = strcspn(pattern, "%");
    int layers = 0;
    for (size_t i = 0; i < n->k->file.count; i++) {
        const char *name = n->k->file.tensors[i].name;
        if (strncmp(name, n->k->prefix, prefix) != 0 || strncmp(name + prefix, pattern, part) != 0)
            continue;
        const char *number = name + prefix + part;
        size_t digits = strspn(number, "0123456789");
        int layer = digits && digits <= 4 && number[digits] == pattern[part + 2] ? atoi(number) : -1;
        if (layer >= layers && layer < LAYERS_MAX)
            layers = layer + 1;
    }
    return layers;
}

static bool need(const Infer *n, VitRole r, int rank, const TensorInfo **t, LayoutName *how, Err *err)
{
    *t = checkpoint_find_as(n->k, r, 0, how);
    rank = *t && *how->order ? (int)strlen(how->order) : rank;
    if (!*t)
        return err_set(err, "%s: tensor '%s' of this %s model is missing; is the download complete?", n->k->file.path,
                       checkpoint_name(n->k, r, 0), n->k->layout->name);
    if ((*t)->rank != rank)
        return err_set(err, "%s: tensor '%s' has %d axes, expected %d (%s)", n->k->file.path, (*t)->name, (*t)->rank,
                       rank, n->k->layout->name);
    for (int i = 0; i < rank; i++)
        if ((*t)->shape[i] == 0 || (*t)->shape[i] > 1 << 24)
            return err_set(err, "%s: tensor '%s' has an axis of length %zu", n->k->file.path, (*t)->name,
                           (*t)->shape[i]);
    return true;
}

/* A mask token is no part of the answer: the model opens too where the config speaks of one that is not there, or
 * disowns one, or where it belongs to a decoder of another width. */
static bool infer_masking(Infer *n, Err *err)
{
    VitConfig *c = n->c;
    const Json *v = look(n, "use_mask_token", "use_mask_token");
    if (v && json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
        return err_set(err, "%s: \"use_mask_token\" must be true or false", n->k->config_path);
    const TensorInfo *token = checkpoint_find(n->k, VIT_MASK_TOKEN, 0);
    c->mask_token = token && token->cells == (size_t)c->width && json_bool(v, true);
    if (!token && json_bool(v, false))
        model_assume(n->m, "no patch can be hidden: there is no tensor '%s'", checkpoint_name(n->k, VIT_MASK_TOKEN, 0));
    c->reconstruct = has(n, VIT_GUESS_W);
    return read_switch(n, "vitrine_reconstruct", VIT_GUESS_W, &c->reconstruct, err);
}

/* A bias that published models of these families have. Its absence can be meant, but is no small thing. */
static void note_absent(const Infer *n, bool present, VitRole r, const char *what)
{
    if (!present)
        model_assume(n->m, "%s has no bias (there is no tensor '%s')", what, checkpoint_name(n->k, r, 0));
}

static void note_biases(const Infer *n)
{
    const VitConfig *c = n->c;
    if (n->k->known.pattern && n->k->layout->embeds) /* what its architecture says */
        return;
    note_absent(n, c->patch_bias || c->norm_pre, VIT_PATCH_B,
                "the patch projection"); /* before a norm it would be of no use */
    note_absent(n, c->qkv_bias || look(n, "qkv_bias", "qkv_bias") || n->k->known.rope, VIT_B_Q,
                "the projection to q, k and v");
    note_absent(n, c->out_bias, VIT_B_O, "the output of attention");
    note_absent(n, c->mlp_bias, VIT_B_UP, "the MLP");
    note_absent(n, c->head_bias || !c->classes, VIT_HEAD_B, "the head");
}

/* The MLP's first tensor may hold gate and patterns: twice as many rows as the second has inputs. */
static void find_packed(const Infer *n)
{
    const TensorInfo *up = checkpoint_find(n->k, VIT_W_UP, 0), *down = checkpoint_find(n->k, VIT_W_DOWN, 0);
    n->k->packed = n->k->layout->silu_gate && up && down && up->rank == 2 && down->rank == 2 &&
                   up->shape[0] == 2 * down->shape[1];
}

static int side(const TensorInfo *t, const LayoutName *how, VitRole r, char letter)
{
    size_t n = layout_letter(t, how, r, letter);
    return n <= 1 << 24 ? (int)n : 0;
}

/* Queries of all heads together; of a tensor whose axes are not merged, the heads too. */
static void infer_inner(const Infer *n, const TensorInfo *q, const LayoutName *how, int *inner)
{
    VitConfig *c = n->c;
    *inner = (int)q->shape[0] / how->parts;
    c->heads = c->head_dim = 0;
    if (!*how->order)
        return;
    c->heads = side(q, how, VIT_W_Q, 'h');
    c->head_dim = side(q, how, VIT_W_Q, 'e');
    *inner = c->heads <= 1 << 12 && c->head_dim <= 1 << 12 ? c->heads * c->head_dim : 0;
}

/* Is a bias there and anything but 0? */
static bool biased(const Infer *n)
{
    Err err;
    const TensorInfo *t = checkpoint_find(n->k, VIT_HEAD_B, 0);
    if (!t || t->cells > 1 << 20)
        return t != NULL;
    float *x = xfloats(t->cells);
    bool any = !tensors_read_f32(&n->k->file, t, x, &err);
    for (size_t i = 0; !any && i < t->cells; i++)
        any = !(x[i] >= 0 && x[i] <= 0);
    free(x);
    return any;
}

/* timm keeps CLIP's projection as its classifier. One that was trained further to name classes says so in its name
 * ("…_ft_in1k"), has names for them or a bias. */
static bool projects(const Infer *n)
{
    const char *name = json_text(json_get(n->k->config, "architecture"), ""),
               *tag = json_text(json_get(n->trained, "tag"), "");
    return n->k->known.clip && has(n, VIT_HEAD_W) && !strstr(name, "_ft_") && !strstr(tag, "ft_") &&
           !json_get(n->trained, "label_names") && !json_get(n->k->config, "label_names") && !biased(n);
}

static void infer_ends(Infer *n)
{
    VitConfig *c = n->c;
    LayoutName how;
    n->k->projects = projects(n);
    const TensorInfo *head = checkpoint_find_as(n->k, VIT_HEAD_W, 0, &how),
                     *registers = checkpoint_find(n->k, VIT_REGISTERS, 0), *pos = checkpoint_find(n->k, VIT_POS, 0);
    int classes = head && head->rank == 2 ? side(head, &how, VIT_HEAD_W, 'o') : 0;
    c->classes = classes <= 1 << 20 && !n->k->projects ? classes : 0;
    if (c->classes && side(head, &how, VIT_HEAD_W, 'f') == 2 * c->width)
        c->pool = VIT_POOL_BOTH;
    const TensorInfo *project = checkpoint_find_as(n->k, VIT_PROJECT, 0, &how);
    c->project = project && project->rank == 2 ? side(project, &how, VIT_PROJECT, 'g') : 0;
    c->registers = registers && registers->rank >= 2 && registers->shape[registers->rank - 2] <= 1024
                       ? (int)registers->shape[registers->rank - 2]
                       : 0;
    n->positions = pos && pos->rank >= 2 && pos->shape[pos->rank - 2] <= 1 << 20 ? (int)pos->shape[pos->rank - 2] : 0;
    c->embeds = !c->classes && (n->k->layout->embeds || n->k->known.embeds || n->k->projects || has(n, VIT_PROBE));
}

static void infer_biases(Infer *n)
{
    VitConfig *c = n->c;
    c->patch_bias = has(n, VIT_PATCH_B);
    c->out_bias = has(n, VIT_B_O);
    c->mlp_bias = has(n, VIT_B_UP) || has(n, VIT_B_DOWN);
    c->head_bias = has(n, VIT_HEAD_B);
    bool q = has(n, VIT_B_Q), k = has(n, VIT_B_K), v = has(n, VIT_B_V);
    c->qkv_bias = q || k || v;
    c->bare_q = c->qkv_bias && !q;
    c->bare_k = c->qkv_bias && !k;
    c->bare_v = c->qkv_bias && !v;
    if (c->qkv_bias && (!q || !k || !v) && !n->k->known.pattern)
        model_assume(n->m, "only %s%s%s has a bias", q ? "q" : "", k ? "k" : "", v ? q || k ? " and v" : "v" : "");
}

/* A part that the name promises and the tensors lack, or the other way round. */
static bool as_named(const Infer *n, bool there, bool named, const char *what, Err *err)
{
    const Known *known = &n->k->known;
    if (!known->pattern || there == named || (there && !n->timm_config))
        return true;
    return err_set(err,
                   "%s: by its \"%s\" (%s) this model %s %s, but the tensors say otherwise; config and weights are of "
                   "two models",
                   n->k->config_path, n->timm_config ? "architecture" : "model_type", known->pattern,
                   named ? "has" : "lacks", what);
}

static bool infer_shapes(Infer *n, int *inner, Err *err)
{
    VitConfig *c = n->c;
    LayoutName how;
    const TensorInfo *gamma, *patch, *q, *up;
    find_packed(n);
    if (!need(n, VIT_LN1_GAMMA, 1, &gamma, &how, err) || !need(n, VIT_PATCH_W, 4, &patch, &how, err))
        return false;
    c->width = (int)gamma->shape[0];
    c->layers = count_layers(n);
    c->channels = side(patch, &how, VIT_PATCH_W, 'c');
    c->patch_h = side(patch, &how, VIT_PATCH_W, 'i');
    c->patch_w = side(patch, &how, VIT_PATCH_W, 'j');
    if (!need(n, VIT_W_Q, 2, &q, &how, err))
        return false;
    infer_inner(n, q, &how, inner);
    if (!need(n, VIT_W_UP, 2, &up, &how, err))
        return false;
    c->mlp = side(up, &how, VIT_W_UP, 'm');
    c->gated = has(n, VIT_W_GATE);
    c->hidden_norm = has(n, VIT_HIDDEN_GAMMA);
    infer_ends(n);
    c->fit = n->k->layout->fit;
    c->fit_smooth = n->k->layout->fit_smooth || n->k->known.smooth;
    c->fit_corners = n->k->layout->fit_corners;
    if (!as_named(n, c->gated, n->k->known.gated, "a gated MLP", err) ||
        !as_named(n, has(n, VIT_PROBE), n->k->known.probed, "attention pooling", err))
        return false;
    if (c->channels > VIT_CHANNELS_MAX)
        return err_set(err, "%s: the model takes %d channels per pixel; at most %d are read", n->k->file.path,
                       c->channels, VIT_CHANNELS_MAX);
    c->cls = has(n, VIT_CLS);
    c->dist = has(n, VIT_DIST);
    infer_biases(n);
    c->layer_scale = has(n, VIT_ATTN_LS) || has(n, VIT_MLP_LS);
    c->norm_pre = has(n, VIT_PRE_GAMMA);
    c->fc_norm = has(n, VIT_FC_GAMMA);
    bool bare = c->classes && n->k->layout->classifier == CLASSIFIER_MEAN_BARE;
    c->final_norm = (!c->fc_norm && !n->k->known.no_final_norm) || has(n, VIT_FINAL_GAMMA);
    c->final_norm = c->final_norm && !bare;
    if (!read_switch(n, "qkv_bias", VIT_B_Q, &c->qkv_bias, err) ||
        !read_switch(n, "final_norm", VIT_FINAL_GAMMA, &c->final_norm, err) || !infer_masking(n, err))
        return false;
    note_biases(n);
    return (!c->classes || agree(n, "num_labels", "num_classes", c->classes, err)) &&
           agree(n, "hidden_size", "embed_dim", c->width, err) &&
           agree(n, "num_hidden_layers", "depth", c->layers, err) && agree(n, "intermediate_size", NULL, c->mlp, err) &&
           agree(n, "num_channels", "in_chans", c->channels, err);
}

/* --- picture and positions --- */

static int exact_root(int n)
{
    int r = (int)dm_sqrt((double)n);
    while (r * r > n)
        r--;
    while ((r + 1) * (r + 1) <= n)
        r++;
    return r * r == n ? r : 0;
}

/* A number, or [height, width]. */
static bool read_pair(const Infer *n, const Json *v, const char *what, int *h, int *w, Err *err)
{
    if (json_kind(v) != JK_ARRAY)
        return read_int(n, v, what, h, err) && read_int(n, v, what, w, err);
    if (json_count(v) != 2)
        return err_set(err, "%s: \"%s\" must be a number or [height, width]", n->k->config_path, what);
    return read_int(n, json_at(v, 0), what, h, err) && read_int(n, json_at(v, 1), what, w, err);
}

/* The rows would fit if there were a cls token: then that is what is wrong. */
static bool misses_cls(const Infer *n, int rows, int patches)
{
    VitConfig with = *n->c;
    with.cls = true;
    return !n->c->cls && (rows == patches + vit_prefix(&with) || rows == patches + vit_prefix(&with) - with.registers);
}

static bool say_no_cls(const Infer *n, Err *err)
{
    return err_set(
        err,
        "%s: tensor '%s' of this %s model is missing (the position table has a row for it); is the download complete?",
        n->k->file.path, checkpoint_name(n->k, VIT_CLS, 0), n->k->layout->name);
}

/* How many rows the position table has, beyond the patches', says which tokens it is for. */
static bool positions_for(VitConfig *c, int rows, int patches)
{
    int all = vit_prefix(c);
    if (rows == patches + all)
        c->pos = VIT_POS_ALL;
    else if (c->registers && rows == patches + all - c->registers)
        c->pos = VIT_POS_BEFORE_REGISTERS;
    else if (rows == patches)
        c->pos = VIT_POS_PATCHES;
    else
        return false;
    return true;
}

/* The picture's sides as the config says them, 0 × 0 where it does not; the patch's must be those of the tensors. */
static bool read_sides(const Infer *n, int *h, int *w, Err *err)
{
    const VitConfig *c = n->c;
    int ph = c->patch_h, pw = c->patch_w;
    const Json *size = look(n, "image_size", "img_size"), *patch = look(n, "patch_size", "patch_size"),
               *input = json_get(n->trained, "input_size");
    const char *name = !size ? "input_size" : n->timm_config ? "img_size" : "image_size";
    if ((size && !read_pair(n, size, name, h, w, err)) || (patch && !read_pair(n, patch, "patch_size", &ph, &pw, err)))
        return false;
    if (!size && input &&
        (!read_int(n, json_at(input, 1), name, h, err) || !read_int(n, json_at(input, 2), name, w, err)))
        return false;
    if (ph != c->patch_h || pw != c->patch_w)
        return err_set(
            err, "%s: \"patch_size\" is %d × %d, but the tensors have %d × %d; config and weights are of two models",
            n->k->config_path, ph, pw, c->patch_h, c->patch_w);
    bool fits = *h >= 1 && *w >= 1 && *h <= SIDE_MAX && *w <= SIDE_MAX; /* also so that no product below overflows */
    return fits || !(size || input) || err_set(err, "%s: \"%s\" must be 1 to %d", n->k->config_path, name, SIDE_MAX);
}

/* The config says the size: the position table must be for it. */
static bool picture_said(const Infer *n, int h, int w, Err *err)
{
    VitConfig *c = n->c;
    c->image_h = h;
    c->image_w = w;
    if (!n->positions || positions_for(c, n->positions, vit_patches(c)))
        return true;
    if (misses_cls(n, n->positions, vit_patches(c)))
        return say_no_cls(n, err);
    return err_set(err,
                   "%s: a picture of %d × %d has %d patches, but the position table has %d rows; set the size the "
                   "weights were "
                   "made for",
                   n->k->config_path, h, w, vit_patches(c), n->positions);
}

/* Nobody says the size: a square of as many patches as the position table has rows for. */
static bool picture_square(const Infer *n, Err *err)
{
    VitConfig *c = n->c;
    if (!n->positions)
        return err_set(err, "%s: the size of the picture is unknown: put {\"image_size\": …} into %s", n->k->file.path,
                       n->k->config_path);
    int tries[] = {vit_prefix(c), vit_prefix(c) - c->registers, 0}, side = 0;
    for (int i = 0; i < 3 && !side; i++)
        side = n->positions > tries[i] ? exact_root(n->positions - tries[i]) : 0;
    if (!side && !c->cls && n->positions > vit_prefix(c) + 1 && exact_root(n->positions - vit_prefix(c) - 1))
        return say_no_cls(n, err);
    if (!side || side > SIDE_MAX / (c->patch_h > c->patch_w ? c->patch_h : c->patch_w))
        return err_set(err,
                       "%s: the position table has %d rows, which is no square of patches; put {\"image_size\": "
                       "[height, width]} into %s",
                       n->k->file.path, n->positions, n->k->config_path);
    c->image_h = side * c->patch_h;
    c->image_w = side * c->patch_w;
    positions_for(c, n->positions, side * side);
    model_assume(n->m, "pictures are square, %d × %d (from the %d rows of the position table)", c->image_h, c->image_w,
                 n->positions);
    return true;
}

static bool infer_picture(const Infer *n, Err *err)
{
    int h = 0, w = 0;
    if (!read_sides(n, &h, &w, err))
        return false;
    if (!n->positions && strcmp(json_text(look(n, "positions", "positions"), ""), "none") == 0)
        n->c->pos = VIT_POS_NONE; /* said aloud only: a table that is merely missing will be missed */
    return h > 0 && w > 0 ? picture_said(n, h, w, err) : picture_square(n, err);
}

/* --- what shapes cannot say --- */

/* Heads of the published sizes whose head width is not 64, and of those below that rule. */
static int usual_heads(int width)
{
    static const struct {
        int width, heads;
    } known[] = {{1280, 16}, {1408, 16}, {1664, 16}, {1152, 16}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].width == width)
            return known[i].heads;
    return width % 64 == 0 ? width / 64 : 0;
}

static bool infer_heads(Infer *n, int inner, Err *err)
{
    VitConfig *c = n->c;
    bool found;
    int stored = c->heads;
    if (!read_int(n, look(n, "num_attention_heads", "num_heads"), n->timm_config ? "num_heads" : "num_attention_heads",
                  &c->heads, err) ||
        !read_int(n, look(n, "head_dim", "head_dim"), "head_dim", &c->head_dim, err))
        return false;
    if (!c->heads && c->head_dim && inner % c->head_dim == 0)
        c->heads = inner / c->head_dim;
    const Known *known = &n->k->known;
    if (!c->heads && known->pattern && (known->heads || (n->timm_config && inner % 64 == 0)))
        c->heads = known->heads ? known->heads : inner / 64; /* the name says it */
    if (!c->heads) {
        c->heads = inner == c->width ? usual_heads(c->width) : 0;
        if (!c->heads)
            return err_set(err,
                           "%s: the number of heads is not stored in %s checkpoints and width %d is no usual one: put "
                           "{\"num_attention_heads\": …} into %s",
                           n->k->file.path, n->k->layout->name, c->width, n->k->config_path);
        model_guess(n->m, "%d heads of %d (what published models of width %d have; the file does not say)", c->heads,
                    inner / c->heads, c->width);
    }
    if (!c->head_dim)
        c->head_dim = inner / c->heads;
    if (c->heads < 1 || c->head_dim < 1 || (int64_t)c->heads * c->head_dim != inner)
        return err_set(err, "%s: %d heads do not fit queries of width %d", n->k->config_path, c->heads, inner);
    if (stored && c->heads != stored)
        return err_set(err,
                       "%s: \"num_attention_heads\" is %d, but the tensors have %d; config and weights are of two "
                       "models",
                       n->k->config_path, c->heads, stored);
    c->scale = vit_scale(c->head_dim);
    return read_float(n, look(n, "attention_scale", "attention_scale"), "attention_scale", &c->scale, &found, err);
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
    const Json *v = look(n, "hidden_act", "act_layer");
    const Known *name_says = &n->k->known;
    MapFn usual = n->k->layout->act ? n->k->layout->act : MAP_GELU;
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
            model_guess(n->m, "activation %s (usual for %s; the file does not say)",
                        usual == MAP_GELU        ? "GELU, the form with erf"
                        : usual == MAP_GELU_TANH ? "GELU, the form with tanh"
                                                 : "quick GELU",
                        n->k->layout->name);
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
    const Json *v = look(n, "global_pool", "global_pool");
    bool two = c->dist && checkpoint_find(n->k, VIT_HEAD_DIST_W, 0);
    if (c->pool == VIT_POOL_BOTH)
        return true;
    if (c->classes && n->k->layout->classifier != CLASSIFIER_READOUT) {
        c->pool = VIT_POOL_MEAN;
        model_assume(n->m, "the classifier reads the mean of the patches%s, as Hugging Face's does",
                     c->final_norm ? "" : ", without the last norm");
        return true;
    }
    bool mean = !c->cls || c->fc_norm || n->k->known.mean;
    c->pool = two ? VIT_POOL_CLS_DIST : has(n, VIT_PROBE) ? VIT_POOL_ATTENTION : mean ? VIT_POOL_MEAN : VIT_POOL_CLS;
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
    if (!read_float(n, look(n, "layer_norm_eps", "norm_eps"), key, &c->eps, &found, err))
        return false;
    if (c->eps < 0)
        return err_set(err, "%s: \"%s\" is %g; the epsilon of LayerNorm must be 0 or a small positive number",
                       n->k->config_path, key, (double)c->eps);
    if (!found && !n->k->known.pattern)
        model_guess(n->m, "LayerNorm's ε is %g (usual for %s; the file does not say)", (double)c->eps, l->name);
    c->post_norm = json_bool(look(n, "post_norm", "post_norm"), false);
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
    if (c->rope && !read_float(n, look(n, "rope_theta", "rope_temperature"), "rope_theta", &c->rope_base, &found, err))
        return false;
    if (!n->positions && !c->rope && c->pos != VIT_POS_NONE)
        return err_set(err, "%s: tensor '%s' of this %s model is missing; is the download complete?", n->k->file.path,
                       checkpoint_name(n->k, VIT_POS, 0), n->k->layout->name);
    if (!n->positions)
        c->pos = VIT_POS_NONE;
    return true;
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
    if (!infer_shapes(&n, &inner, err) || !infer_picture(&n, err) || !infer_heads(&n, inner, err) ||
        !infer_activation(&n, err) || !infer_pool(&n, err) || !infer_numbers(&n, err) || !infer_rope(&n, err) ||
        !layout_preprocess(k, m, n.trained, err))
        return false;
    layout_class_names(k, m, n.trained);
    m->trained = json_bool(json_get(k->config, "trained"), true);
    m->drawn_shapes = json_bool(json_get(k->config, "drawn_shapes"), false);
    return vit_check(&m->vit, err) || err_prefix(err, "%s", k->file.path);
}
