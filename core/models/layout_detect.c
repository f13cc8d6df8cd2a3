/* Which family a file of tensors belongs to, by the names in it. */
#include <string.h>

#include "core/base/file.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"

/* Names that occur only in models which are recognised but cannot be shown, and why. Looked for before the families,
 * in this order. */
static const struct {
    const char *part, *what; /* NULL: refuse_bare_text; "": refuse_text */
} REFUSED[] = {
    {"query_position_embeddings.", "DETR, which finds objects"},
    {"query_embed.weight", "DETR, which finds objects"},
    {"backbone.0.body.", "DETR, which finds objects"}, /* whose Transformer has the names of nn.Transformer */
    {"transformer.encoder.layers.0.self_attn.in_proj_", NULL},
    {"transformer.decoder.layers.0.self_attn.in_proj_", NULL},
    {"attn.q_norm.", "a ViT that normalises queries and keys"},
    {"attn.gate.", "a ViT with a gate on its attention"},
    {"layers.0.blocks.0.", "a ViT in windows (Swin)"},
    {"rel_pos.relative_position_bias_table", "a ViT with relative positions of timm's own kind (vit_relpos)"},
    {"encoder.conv1.weight", "Whisper, which listens"},
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
    {"wte.weight", ""},
    {"embeddings.word_embeddings.", ""},
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

/* The first tensor's name with that in it, or NULL. */
static const char *has_part(const TensorFile *f, const char *part)
{
    for (size_t t = 0; t < f->count; t++)
        if (strstr(f->tensors[t].name, part))
            return f->tensors[t].name;
    return NULL;
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

/* Does the name end as the signature does but for the block's number, which is 0 there? */
static bool signed_elsewhere(const char *signature, const char *name)
{
    const char *zero = signature;
    do
        zero = strchr(zero + 1, '0');
    while (zero && !strchr("._", zero[-1]));
    size_t end = zero ? strlen(zero + 1) : 0, n = strlen(name), digits = 0,
           front = zero ? (size_t)(zero - signature) : 0;
    if (!zero || n < end + 1 + front || strcmp(name + n - end, zero + 1) != 0)
        return false;
    while (digits < n - end && strchr("0123456789", name[n - end - digits - 1]))
        digits++;
    return digits && n >= end + digits + front && strncmp(name + n - end - digits - front, signature, front) == 0;
}

/* A text model is read by its config.json, which nothing in the tensors can stand for. */
static bool refuse_text(const Checkpoint *k, const char *name, Err *err)
{
    const char *of =
        strstr(name, "wte.weight")
            ? "; of GPT-2: {\"model_type\": \"gpt2\", \"vocab_size\": …, \"n_positions\": …, \"n_embd\": …, "
              "\"n_layer\": …, \"n_head\": …}; of minGPT: {\"block_size\": …, \"embd_pdrop\": …, \"vocab_size\": …, "
              "\"n_embd\": …, \"n_layer\": …, \"n_head\": …}; of nanoGPT: that without \"embd_pdrop\", with \"bias\": "
              "true "
              "or false"
        : strstr(name, "embeddings.word_embeddings.")
            ? "; of BERT: {\"model_type\": \"bert\", \"vocab_size\": …, \"max_position_embeddings\": …, "
              "\"hidden_size\": …, \"num_hidden_layers\": …, \"num_attention_heads\": …, \"intermediate_size\": …}"
            : "";
    return err_set(err, "%s: '%.80s' is of a text model, and %s: put the model's own there, and give the folder%s",
                   k->file.path, name,
                   file_exists(k->config_path)
                       ? "the config.json beside it names no text model that is read (\"model_type\")"
                       : "there is no config.json beside it that says which",
                   of);
}

/* A file that has other blocks of a family and not the first, or that is no such file at all. */
static bool refuse_rest(const Checkpoint *k, Err *err)
{
    const TensorFile *f = &k->file;
    char signature[128];
    for (int i = 0; i < LAYOUT_COUNT; i++)
        for (int w = 0; layout_word(LAYOUTS[i].signature, w, signature, sizeof signature); w++)
            for (size_t t = 0; t < f->count; t++)
                if (signed_elsewhere(signature, f->tensors[t].name))
                    return err_set(err,
                                   "%s: block 0 is missing: there is a tensor '%.100s' and no '%s'; give all of the "
                                   "model, or the folder with all of its files",
                                   f->path, f->tensors[t].name, signature);
    for (size_t t = 0; t < f->count; t++)
        if (hub_embeds(f->tensors[t].name))
            return refuse_text(k, f->tensors[t].name, err);
    return err_set(err,
                   "%s: not a Vision Transformer: none of its %zu tensors (the first is '%.80s') has a name that "
                   "Hugging Face, timm or torchvision use, for example '%s'",
                   f->path, f->count, f->tensors[0].name, LAYOUTS[0].signature);
}

/* A state dict of nn.Transformer is read, but no tensor says how many heads it has, or what it is. */
static bool refuse_bare_text(const TensorFile *f, Err *err)
{
    return err_set(
        err,
        "%s: a model of torch.nn.Transformer, without the config.json that says so: put beside it "
        "{\"model_type\": \"encoder-decoder-transformer\", \"d_model\": …, \"nhead\": …, \"dim_feedforward\": …, "
        "\"num_encoder_layers\": …, \"num_decoder_layers\": …, \"src_vocab_size\": …, "
        "\"tgt_vocab_size\": …}",
        f->path);
}

bool layout_detect(Checkpoint *k, Err *err)
{
    const TensorFile *f = &k->file;
    for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++) {
        const char *what = REFUSED[i].what, *name = has_part(f, REFUSED[i].part);
        if (name)
            return !what ? refuse_bare_text(f, err) : *what ? refuse(f, what, err) : refuse_text(k, name, err);
    }
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
        return err_set(err, "%s: it has no tensors; give a folder with model.safetensors, or a .safetensors file",
                       f->path);
    return refuse_rest(k, err);
}
