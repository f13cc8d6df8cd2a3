/* What the shapes and names of the tensors say of a model, and whether its files agree. */
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

enum { LAYERS_MAX = 1024 };

/* A switch of the file; *on stays where it says nothing. r: a weight that exists only where it is on. */
static bool read_switch(const Infer *n, const char *key, VitRole r, bool *on, Err *err)
{
    const Json *v = infer_look(n, key, key);
    if (!v)
        return true;
    if (json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
        return err_set(err, "%s: \"%s\" must be true or false", n->k->config_path, key);
    *on = json_kind(v) == JK_TRUE;
    return *on || !infer_has(n, r) ||
           err_set(err, "%s: \"%s\" is false, but there is a tensor '%s'; config and weights are of two models",
                   n->k->config_path, key, infer_tensor(n, r)->name);
}

/* Relative positions: a table for every block or one for all of them. Hugging Face's files say which. */
static bool infer_bias(const Infer *n, Err *err)
{
    bool each = infer_has(n, VIT_BIAS_TABLE), shared = infer_has(n, VIT_SHARED_BIAS_TABLE);
    if (!read_switch(n, "use_relative_position_bias", VIT_BIAS_TABLE, &each, err) ||
        !read_switch(n, "use_shared_relative_position_bias", VIT_SHARED_BIAS_TABLE, &shared, err))
        return false;
    if (each && shared)
        return err_set(err,
                       "%s: this model has relative position biases in every block and for all of them together, which "
                       "Vitrine does not read",
                       n->k->file.path);
    n->c->bias = each ? VIT_BIAS_BLOCKS : shared ? VIT_BIAS_SHARED : VIT_BIAS_NONE;
    return true;
}

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

bool infer_missing(const Infer *n, VitRole r, int rank, Err *err)
{
    int layers = vit_role_in_block(r) ? count_layers(n) : 1, count = 0;
    char names[300];
    for (int layer = 0; layer < layers; layer++)
        count += !checkpoint_find(n->k, r, layer);
    utf8_print(names, sizeof names, "'%.200s'%s", checkpoint_name(n->k, r, 0),
               count > 1 ? ", and that of other blocks" : "");
    const TensorInfo *instead = checkpoint_stand_in(n->k, r, vit_role_in_block(r) ? 0 : -1, NULL, rank);
    return checkpoint_missing(n->k, r, 0, count > 1 ? count : 1, names, instead, err);
}

/* A matrix whose rows have the model's width where its columns should: another width, or the other way round. */
static bool stands_right(const Infer *n, const TensorInfo *t, const LayoutName *how, Err *err)
{
    size_t width = (size_t)n->c->width;
    if (*how->order || how->parts > 1 || t->shape[1] == width || t->shape[0] != width)
        return true;
    return err_set(
        err,
        "%s: tensor '%s' has shape [%zu, %zu], but the model is %zu wide, so that its second number should be "
        "%zu; is it transposed? Save it the other way round",
        n->k->file.path, t->name, t->shape[0], t->shape[1], width, width);
}

static bool need(const Infer *n, VitRole r, int rank, const TensorInfo **t, LayoutName *how, Err *err)
{
    *t = checkpoint_find_as(n->k, r, 0, how);
    rank = *t && *how->order ? (int)strlen(how->order) : rank;
    if (!*t)
        return infer_missing(n, r, rank, err);
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
    const Json *v = infer_look(n, "use_mask_token", "use_mask_token");
    if (v && json_kind(v) != JK_TRUE && json_kind(v) != JK_FALSE)
        return err_set(err, "%s: \"use_mask_token\" must be true or false", n->k->config_path);
    const TensorInfo *token = checkpoint_find(n->k, VIT_MASK_TOKEN, 0);
    c->mask_token = token && token->cells == (size_t)c->width && json_bool(v, true);
    if (!token && json_bool(v, false))
        model_assume(n->m, "no patch can be hidden: there is no tensor '%s'", checkpoint_name(n->k, VIT_MASK_TOKEN, 0));
    c->reconstruct = infer_has(n, VIT_GUESS_W);
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
    if (n->k->known.pattern && (n->k->layout->embeds || n->k->known.rms_norm)) /* what its architecture says */
        return;
    note_absent(n, c->patch_bias || c->norm_pre, VIT_PATCH_B,
                "the patch projection"); /* before a norm it would be of no use */
    note_absent(n, c->qkv_bias || infer_look(n, "qkv_bias", "qkv_bias") || n->k->known.rope || n->k->known.branch_norm,
                VIT_B_Q, "the projection to q, k and v");
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
    return n->k->known.clip && infer_has(n, VIT_HEAD_W) && !strstr(name, "_ft_") && !strstr(tag, "ft_") &&
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
    c->embeds = !c->classes &&
                (n->k->layout->embeds || n->k->known.embeds || n->k->projects || infer_has(n, VIT_PROBE));
}

static void infer_biases(Infer *n)
{
    VitConfig *c = n->c;
    c->patch_bias = infer_has(n, VIT_PATCH_B);
    c->out_bias = infer_has(n, VIT_B_O);
    c->mlp_bias = infer_has(n, VIT_B_UP) || infer_has(n, VIT_B_DOWN);
    c->head_bias = infer_has(n, VIT_HEAD_B);
    bool q = infer_has(n, VIT_B_Q), k = infer_has(n, VIT_B_K), v = infer_has(n, VIT_B_V);
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
    bool more = there && !n->timm_config;
    return !known->pattern || more || infer_named(n, there, named, what, err);
}

/* Is attention pooling to be expected by the name? Hugging Face's classifier takes its place, and a key leaves it out.
 */
static bool pools(const Infer *n)
{
    bool left_out = !n->timm_config && (n->c->classes || !json_bool(infer_look(n, "vision_use_head", NULL), true));
    return n->k->known.probed && !left_out;
}

/* Which norms there are, and of which kind. */
static bool infer_norms(const Infer *n, Err *err)
{
    VitConfig *c = n->c;
    const Known *known = &n->k->known;
    const char *beta = checkpoint_name(n->k, VIT_LN1_BETA, 0);
    c->rms_norm = known->rms_norm || n->k->layout->rms_norm || json_bool(infer_look(n, "rms_norm", NULL), false);
    c->hidden_norm = infer_has(n, VIT_HIDDEN_GAMMA);
    c->patch_norm = infer_has(n, VIT_PATCH_GAMMA);
    c->merged_norm = infer_has(n, VIT_MERGED_GAMMA);
    c->branch_norm = known->branch_norm;
    c->norm_pre = infer_has(n, VIT_PRE_GAMMA);
    c->fc_norm = infer_has(n, VIT_FC_GAMMA);
    bool bare = c->classes && n->k->layout->classifier == CLASSIFIER_MEAN_BARE;
    c->final_norm = (!c->fc_norm && !known->no_final_norm) || infer_has(n, VIT_FINAL_GAMMA);
    c->final_norm = c->final_norm && !bare;
    if (!c->rms_norm && !infer_has(n, VIT_LN1_BETA) && !infer_has(n, VIT_LN2_BETA))
        return err_set(err,
                       "%s: its norms have no bias (there is no tensor '%s'), so that it may be an RMSNorm model; put "
                       "the model's own config.json beside it, which names the architecture",
                       n->k->file.path, beta);
    if (c->merged_norm && !known->pattern && !n->k->assume)
        return err_set(err,
                       "%s: this is a ViT with a norm inside its attention, and no config.json beside it says of which "
                       "kind: q and k may be rotated; put the model's own config.json beside it",
                       n->k->file.path);
    return as_named(n, c->merged_norm, known->merged_norm, "a norm inside attention", err) &&
           as_named(n, c->patch_norm, known->patch_norm, "a norm behind the patch embedding", err);
}

/* A table of positions is what it has not; its positions are made for whatever grid the picture has. */
static bool infer_native(const Infer *n, Err *err)
{
    bool native = json_bool(json_get(n->args, "is_native"), false) ||
                  (n->k->layout->bare_probe && !infer_has(n, VIT_POS));
    return !native || err_set(err,
                              "%s: this is an AIMv2 of native resolution, which Vitrine does not read: its positions "
                              "are sines and cosines for pictures of any shape",
                              n->k->file.path);
}

bool infer_shapes(Infer *n, int *inner, Err *err)
{
    VitConfig *c = n->c;
    LayoutName how;
    const TensorInfo *gamma, *patch, *q, *up;
    find_packed(n);
    if (!infer_native(n, err))
        return false;
    if (!need(n, VIT_LN1_GAMMA, 1, &gamma, &how, err) || !need(n, VIT_PATCH_W, 4, &patch, &how, err))
        return false;
    c->width = (int)gamma->shape[0];
    c->layers = count_layers(n);
    c->channels = side(patch, &how, VIT_PATCH_W, 'c');
    c->patch_h = side(patch, &how, VIT_PATCH_W, 'i');
    c->patch_w = side(patch, &how, VIT_PATCH_W, 'j');
    if (!need(n, VIT_W_Q, 2, &q, &how, err))
        return false;
    if (!stands_right(n, q, &how, err))
        return false;
    infer_inner(n, q, &how, inner);
    if (!need(n, VIT_W_UP, 2, &up, &how, err) || !stands_right(n, up, &how, err))
        return false;
    c->mlp = side(up, &how, VIT_W_UP, 'm');
    c->gated = infer_has(n, VIT_W_GATE);
    infer_ends(n);
    c->fit = n->k->layout->fit;
    c->fit_smooth = n->k->layout->fit_smooth || n->k->known.smooth;
    c->fit_corners = n->k->layout->fit_corners;
    if (!as_named(n, c->gated, n->k->known.gated, "a gated MLP", err) ||
        !as_named(n, infer_has(n, VIT_PROBE), pools(n), "attention pooling", err) ||
        !as_named(n, infer_has(n, VIT_ROPE_FREQS), n->k->known.rope == VIT_ROPE_LEARNED, "learned rotations", err))
        return false;
    if (c->channels > VIT_CHANNELS_MAX)
        return err_set(err, "%s: the model takes %d channels per pixel; at most %d are read", n->k->file.path,
                       c->channels, VIT_CHANNELS_MAX);
    c->cls = infer_has(n, VIT_CLS);
    c->dist = infer_has(n, VIT_DIST);
    infer_biases(n);
    c->layer_scale = infer_has(n, VIT_ATTN_LS) || infer_has(n, VIT_MLP_LS);
    c->bare_probe = n->k->layout->bare_probe && infer_has(n, VIT_PROBE);
    if (!infer_norms(n, err) || !read_switch(n, "qkv_bias", VIT_B_Q, &c->qkv_bias, err) ||
        !read_switch(n, "final_norm", VIT_FINAL_GAMMA, &c->final_norm, err) || !infer_masking(n, err) ||
        !infer_bias(n, err) || !as_named(n, c->bias != VIT_BIAS_NONE, n->k->known.biased, "relative positions", err))
        return false;
    note_biases(n);
    return infer_promises(n, err);
}
