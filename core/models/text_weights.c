/* What the weights of a text model are called in files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/io/tensors.h"
#include "core/models/family.h"
#include "core/models/text_model.h"

enum { PATH = 4096, NAME = 160 };

/* In PyTorch's nn.Transformer. The rows of q, k and v are one tensor there: `part` of `parts`. */
typedef struct TorchName {
    char name[NAME];
    int part, parts;
} TorchName;

static const struct {
    Seq2seqRole first;
    bool attention; /* else an MLP */
    const char *scope;
} TORCH_GROUPS[] = {
    {SEQ2SEQ_ENC_W_Q, true, "transformer.encoder.layers.%d.self_attn."},
    {SEQ2SEQ_ENC_W_UP, false, "transformer.encoder.layers.%d."},
    {SEQ2SEQ_DEC_W_Q, true, "transformer.decoder.layers.%d.self_attn."},
    {SEQ2SEQ_CROSS_W_Q, true, "transformer.decoder.layers.%d.multihead_attn."},
    {SEQ2SEQ_DEC_W_UP, false, "transformer.decoder.layers.%d."},
};
static const struct {
    Seq2seqRole role;
    const char *name; /* of a norm: what "weight" and "bias" follow */
} TORCH_NAMES[] = {
    {SEQ2SEQ_ENC_LN1_GAMMA, "transformer.encoder.layers.%d.norm1."},
    {SEQ2SEQ_ENC_LN2_GAMMA, "transformer.encoder.layers.%d.norm2."},
    {SEQ2SEQ_DEC_LN1_GAMMA, "transformer.decoder.layers.%d.norm1."},
    {SEQ2SEQ_DEC_LN2_GAMMA, "transformer.decoder.layers.%d.norm2."},
    {SEQ2SEQ_DEC_LN3_GAMMA, "transformer.decoder.layers.%d.norm3."},
    {SEQ2SEQ_SOURCE_FINAL_GAMMA, "transformer.encoder.norm."},
    {SEQ2SEQ_TARGET_FINAL_GAMMA, "transformer.decoder.norm."},
    {SEQ2SEQ_SOURCE_EMBED, "src_embed.weight"},
    {SEQ2SEQ_TARGET_EMBED, "tgt_embed.weight"},
    {SEQ2SEQ_SOURCE_POS, "src_pos.weight"},
    {SEQ2SEQ_TARGET_POS, "tgt_pos.weight"},
    {SEQ2SEQ_HEAD_W, "generator.weight"},
    {SEQ2SEQ_HEAD_B, "generator.bias"},
};

static void put_scope(TorchName *t, const char *scope, int layer)
{
    const char *mark = strstr(scope, "%d");
    if (mark)
        utf8_print(t->name, sizeof t->name, "%.*s%d%s", (int)(mark - scope), scope, layer, mark + 2);
    else
        snprintf(t->name, sizeof t->name, "%s", scope);
}

static TorchName torch_name(Seq2seqRole r, int layer)
{
    static const char *const mlp[] = {"linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"};
    TorchName t = {.parts = 1};
    size_t n;
    for (size_t i = 0; i < sizeof TORCH_GROUPS / sizeof *TORCH_GROUPS; i++) {
        int k = (int)r - (int)TORCH_GROUPS[i].first;
        if (k < 0 || k >= (TORCH_GROUPS[i].attention ? 8 : 4))
            continue;
        put_scope(&t, TORCH_GROUPS[i].scope, layer);
        n = strlen(t.name);
        if (!TORCH_GROUPS[i].attention)
            snprintf(t.name + n, sizeof t.name - n, "%s", mlp[k]);
        else if (k >= 6)
            snprintf(t.name + n, sizeof t.name - n, "out_proj.%s", k == 6 ? "weight" : "bias");
        else {
            snprintf(t.name + n, sizeof t.name - n, "in_proj_%s", k % 2 ? "bias" : "weight");
            t.part = k / 2;
            t.parts = 3;
        }
        return t;
    }
    for (size_t i = 0; i < sizeof TORCH_NAMES / sizeof *TORCH_NAMES; i++) {
        bool norm = TORCH_NAMES[i].name[strlen(TORCH_NAMES[i].name) - 1] == '.';
        int k = (int)r - (int)TORCH_NAMES[i].role;
        if (k != 0 && !(norm && k == 1))
            continue;
        put_scope(&t, TORCH_NAMES[i].name, layer);
        n = strlen(t.name);
        if (norm)
            snprintf(t.name + n, sizeof t.name - n, "%s", k ? "bias" : "weight");
        return t;
    }
    UNREACHABLE("a weight without a name");
}

static TorchName own_name(Seq2seqRole r, int layer)
{
    TorchName t = {.parts = 1};
    seq2seq_role_path(r, layer, t.name, sizeof t.name);
    return t;
}

typedef struct Reading {
    Model *m;
    const TensorFile *file;
    bool torch, *used;
    Err *err;
} Reading;

static bool right_size(const Reading *k, const TensorInfo *t, size_t cells)
{
    char shape[96] = "";
    for (int i = 0; i < t->rank; i++) {
        size_t n = strlen(shape);
        snprintf(shape + n, sizeof shape - n, "%s%zu", i ? " × " : "", t->shape[i]);
    }
    return t->cells == cells ||
           err_set(k->err, "%s: '%s' is %s; config.json asks for %zu numbers", k->file->path, t->name, shape, cells);
}

static TorchName name_of(const Reading *k, const WeightPlace *w)
{
    return k->torch ? torch_name((Seq2seqRole)w->role, w->layer) : own_name((Seq2seqRole)w->role, w->layer);
}

/* What config.json asks for is there: looked at before anything is allocated. */
static bool check_weight(const Reading *k, const WeightPlace *w)
{
    TorchName name = name_of(k, w);
    const TensorInfo *t = tensors_find(k->file, name.name);
    return t ? right_size(k, t, size_mul(w->cells, (size_t)name.parts))
             : err_set(k->err, "%s: '%s' is missing", k->file->path, name.name);
}

static bool read_weight(Reading *k, const WeightPlace *w)
{
    TorchName name = name_of(k, w);
    const TensorInfo *t = tensors_find(k->file, name.name);
    k->used[t - k->file->tensors] = true;
    w->at->origin = arena_strdup(&k->m->arena, name.name);
    if (name.parts == 1)
        return tensors_read_f32(k->file, t, w->data, k->err);
    float *all = xfloats(t->cells);
    bool ok = tensors_read_f32(k->file, t, all, k->err);
    if (ok)
        memcpy(w->data, all + (size_t)name.part * w->cells, w->cells * sizeof *all);
    free(all);
    return ok;
}

/* Norms that torch puts behind the stacks may be left out on purpose, as the paper does. */
static bool may_be_left(const Model *m, const char *name)
{
    return !m->text.final_norm &&
           (strncmp(name, "transformer.encoder.norm.", 25) == 0 || strncmp(name, "transformer.decoder.norm.", 25) == 0);
}

bool text_weights_read(Model *m, const char *folder, Err *err)
{
    char path[PATH];
    TensorFile f;
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (!tensors_open(&f, path, err))
        return false;
    Reading k = {.m = m, .file = &f, .err = err, .used = xcalloc(f.count + 1, sizeof(bool))};
    k.torch = tensors_find(&f, "src_embed.weight") || tensors_find(&f, "tgt_embed.weight");
    m->layout = k.torch ? "PyTorch nn.Transformer" : "Vitrine";
    bool ok = true;
    m->family = &FAMILY_TEXT;
    for (WeightPlace w = {0}; ok && model_weight(m, &w);)
        ok = check_weight(&k, &w);
    if (ok)
        model_alloc(m, &FAMILY_TEXT);
    for (WeightPlace w = {0}; ok && model_weight(m, &w);)
        ok = read_weight(&k, &w);
    for (size_t i = 0; ok && i < f.count; i++)
        if (!k.used[i] && !(k.torch && may_be_left(m, f.tensors[i].name)))
            ok = err_set(err, "%s: '%s' belongs to no part of the model that config.json describes", path,
                         f.tensors[i].name);
    free(k.used);
    tensors_close(&f);
    return ok;
}

bool text_weights_write(const Model *m, const char *folder, Err *err)
{
    char path[PATH];
    Arena names = {0};
    TensorOut *out = xcalloc(seq2seq_weights_count(&m->text), sizeof *out);
    size_t n = 0;
    for (WeightPlace w = {0}; model_weight(m, &w); n++) {
        out[n] = (TensorOut){.name = arena_strdup(&names, own_name((Seq2seqRole)w.role, w.layer).name),
                             .data = weight_all_floats(w.at, w.cells, &names),
                             .rank = w.rank};
        memcpy(out[n].shape, w.shape, sizeof w.shape);
    }
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    bool ok = tensors_write(path, TF_SAFETENSORS, out, n, NULL, err);
    free(out);
    arena_free(&names);
    return ok;
}
