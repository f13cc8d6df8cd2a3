/* Which family a file of tensors belongs to, by the names in it. */
#include <string.h>

#include "core/models/checkpoint.h"

/* Names that occur only in models which are recognised but cannot be shown, and why. Looked for before the families. */
static const struct {
    const char *part, *what;
} REFUSED[] = {
    {"attn.q_norm.", "a ViT that normalises queries and keys"},
    {"attn.gate.", "a ViT with a gate on its attention"},
    {"layers.0.blocks.0.", "a ViT in windows (Swin)"},
    {"rel_pos.relative_position_bias_table", "a ViT with relative positions of timm's own kind (vit_relpos)"},
    {"patch_embed.backbone.", "a hybrid of a convolutional network and a ViT"},
    {"heads.pre_logits.", "a ViT with a hidden layer (pre_logits) in front of its head"},
    {"MultiHeadDotProductAttention_0/", "a JAX model in the layout of big_vision"},
    {"conv_root/kernel", "a hybrid of a convolutional network and a ViT"},
    {"pre_logits/kernel", "a ViT with a hidden layer (pre_logits) in front of its head"},
    {"to_patch_embedding.", "a model in the layout of vit-pytorch"},
    {"patch_to_embedding.", "a model in the early layout of vit-pytorch"},
    {"heads.0.query.weight", "a hand-written model with one matrix per head"},
    {"heads.0.key.weight", "a hand-written model with one matrix per head"},
    {"vision_tower.", "a language model with a picture network"},
    {"self_attn.in_proj_weight", "a model of torch.nn.TransformerEncoder"},
    {"blocks.0.0.", "a ViT whose blocks are stored in chunks"},
    {"wte.weight", "a GPT-2 language model"},
    {"embeddings.word_embeddings.", "a BERT language model"},
    {"layer1.0.conv1.weight", "a convolutional network"},
};
/* …and after them: what no family has claimed. */
static const struct {
    const char *part, *what;
} UNCLAIMED[] = {
    {"visual.trunk.", "an open_clip model"},
    {"relative_position_bias_table", "a model with relative position biases of another kind than BEiT's (Swin)"},
    {"attn.norm.", "a ViT with a norm inside its attention, in a layout of its own"},
    {"/kernel", "a JAX/Flax checkpoint of another kind than vision_transformer's"},
    {"vision_model.embeddings.", "a Hugging Face model with a picture network of another kind than CLIP and SigLIP"},
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

static bool has_part(const TensorFile *f, const char *part)
{
    for (size_t t = 0; t < f->count; t++)
        if (strstr(f->tensors[t].name, part))
            return true;
    return false;
}

static bool refuse(const TensorFile *f, const char *what, Err *err)
{
    return err_set(
        err,
        "%s: this is %s, which Vitrine does not read; it reads ViT, DeiT, BEiT, DINOv2, DINOv3, CLIP, SigLIP and "
        "AIMv2 models in the layouts of Hugging Face, timm, torchvision, OpenAI and JAX",
        f->path, what);
}

/* Does a tensor's name end with one of the layout's signatures? *n is what stands in front of it. */
static bool signed_by(const Layout *l, const char *name, size_t *n)
{
    char signature[128];
    for (int i = 0; layout_word(l->signature, i, signature, sizeof signature); i++)
        if (ends_with(name, signature, n))
            return true;
    return false;
}

bool layout_detect(Checkpoint *k, Err *err)
{
    const TensorFile *f = &k->file;
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
        if (has_part(f, REFUSED[i].part))
            return refuse(f, REFUSED[i].what, err);
    for (int i = 0; i < LAYOUT_COUNT; i++)
        for (size_t t = 0; t < f->count; t++) {
            size_t n;
            if (!signed_by(&LAYOUTS[i], f->tensors[t].name, &n))
                continue;
            char *prefix = arena_alloc(&k->arena, n + 1);
            memcpy(prefix, f->tensors[t].name, n);
            k->prefix = prefix;
            k->layout = &LAYOUTS[i];
            return true;
        }
    for (size_t i = 0; i < sizeof UNCLAIMED / sizeof *UNCLAIMED; i++)
        if (has_part(f, UNCLAIMED[i].part))
            return refuse(f, UNCLAIMED[i].what, err);
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
