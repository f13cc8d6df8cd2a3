/* Which family a file of tensors belongs to, by the names in it. */
#include <string.h>

#include "core/models/checkpoint.h"

/* Names that occur only in models which are recognised but cannot be shown, and why. Looked for before the families. */
static const struct {
    const char *part, *what;
} REFUSED[] = {
    {"visual.conv1.weight",
     "an OpenAI CLIP model (a picture and a text network; no patch bias, a projection instead of a head)"},
    {"vision_model.embeddings.", "a Hugging Face CLIP or SigLIP model (a picture and a text network)"},
    {"mlp.w12.", "a ViT with a SwiGLU MLP (two gated halves)"},
    {"mlp.weights_in.", "a ViT with a SwiGLU MLP (two gated halves)"},
    {"attn_pool.", "a ViT that reads its answer by attention pooling"},
    {"attn.q_norm.", "a ViT that normalises queries and keys"},
    {"relative_position_bias_table", "a model with relative position biases (Swin or BEiT)"},
    {"patch_embed.backbone.", "a hybrid of a convolutional network and a ViT"},
    {"heads.pre_logits.", "a ViT with a hidden layer (pre_logits) in front of its head"},
    {"/kernel", "a JAX/Flax checkpoint"},
    {"to_patch_embedding.", "a model in the layout of vit-pytorch"},
    {"patch_to_embedding.", "a model in the early layout of vit-pytorch"},
    {"heads.0.query.weight", "a hand-written model with one matrix per head"},
    {"heads.0.key.weight", "a hand-written model with one matrix per head"},
    {"self_attn.in_proj_weight", "a model of torch.nn.TransformerEncoder"},
    {"blocks.0.0.", "a ViT whose blocks are stored in chunks"},
    {"wte.weight", "a GPT-2 language model"},
    {"embeddings.word_embeddings.", "a BERT language model"},
    {"conv1.weight", "a convolutional network"},
};

static bool ends_with(const char *name, const char *end, size_t *prefix)
{
    size_t n = strlen(name), e = strlen(end);
    if (n < e || strcmp(name + n - e, end) != 0)
        return false;
    *prefix = n - e;
    return *prefix == 0 || name[*prefix - 1] == '.';
}

static const char *refused(const TensorFile *f)
{
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
        for (size_t t = 0; t < f->count; t++)
            if (strstr(f->tensors[t].name, REFUSED[i].part))
                return REFUSED[i].what;
    return NULL;
}

bool layout_detect(Checkpoint *k, Err *err)
{
    const TensorFile *f = &k->file;
    const char *what = refused(f);
    if (what)
        return err_set(
            err,
            "%s: this is %s, which Vitrine does not read; it reads ViT and DeiT models in the layouts of Hugging Face, "
            "timm and torchvision",
            f->path, what);
    for (int i = 0; i < LAYOUT_COUNT; i++)
        for (size_t t = 0; t < f->count; t++) {
            size_t n;
            if (!ends_with(f->tensors[t].name, LAYOUTS[i].signature, &n))
                continue;
            char *prefix = arena_alloc(&k->arena, n + 1);
            memcpy(prefix, f->tensors[t].name, n);
            k->prefix = prefix;
            k->layout = &LAYOUTS[i];
            return true;
        }
    if (!f->count)
        return err_set(err,
                       "%s: there are no tensors in it; give a folder with model.safetensors, or a .safetensors file",
                       f->path);
    return err_set(
        err,
        "%s: no Vision Transformer: none of its %zu tensors (the first is '%.80s') is called as Hugging Face, timm or "
        "torchvision call them, for example '%s'",
        f->path, f->count, f->tensors[0].name, LAYOUTS[0].signature);
}
