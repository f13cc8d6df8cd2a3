/* A checkpoint's files: the tensors, the JSON beside them, and which layout they are in, by the names in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/models/checkpoint.h"
#include "core/models/text_hub.h"

/* --- the layout --- */

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
    {"self_attn.q_norm.", ""},
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

enum { JSON_MAX = 16 << 20 };

/* Is the config.json there one object of JSON? */
static bool check_config(const char *path, Err *err)
{
    Json *j = json_read(path, JSON_MAX, err);
    bool object = j && (json_kind(j) == JK_OBJECT || err_set(err, "%s: expected a JSON object {…}", path));
    json_free(j);
    return object;
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
    if (file_exists(k->config_path) && !check_config(k->config_path, err))
        return false;
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

/* Recognises the family by its names; false with a message that says what the file is, where that is known. */
static bool layout_detect(Checkpoint *k, Err *err)
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

/* --- the files --- */

static const char *path_in(Arena *arena, const char *dir, const char *name)
{
    size_t n = strlen(dir);
    return arena_printf(arena, "%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
}

static const char *joined(Checkpoint *k, const char *dir, const char *name)
{
    return path_in(&k->arena, dir, name);
}

/* Folder of a file ("." without one) and the name a person would give the model: the folder's, or the file's without
 * suffix. */
static const char *folder_of(Checkpoint *k, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_printf(&k->arena, "%.*s", (int)(slash - path), path);
}

static const char *model_name(Checkpoint *k, const char *path, bool folder)
{
    char *copy = arena_strdup(&k->arena, path);
    for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/';)
        copy[--n] = '\0';
    char *slash = strrchr(copy, '/');
    char *base = slash ? slash + 1 : copy;
    char *dot = strrchr(base, '.');
    if (!folder && dot && dot > base)
        *dot = '\0';
    if (!folder && strcmp(base, "model") == 0 && slash &&
        slash > copy) { /* every model file is called model: the folder tells more */
        *slash = '\0';
        base = strrchr(copy, '/') ? strrchr(copy, '/') + 1 : copy;
    }
    return *base && strcmp(base, ".") != 0 && strcmp(base, "..") != 0 ? base : "model";
}

#define INDEX_SUFFIX ".index.json"

static bool open_tensors(TensorFile *f, const char *path, Err *err)
{
    size_t n = strlen(path), suffix = sizeof INDEX_SUFFIX - 1;
    bool index = n > suffix && strcmp(path + n - suffix, INDEX_SUFFIX) == 0;
    return index ? tensors_open_shards(f, path, err) : tensors_open(f, path, err);
}

bool checkpoint_trained(const char *dir, Err *err)
{
    char began[1024];
    utf8_print(began, sizeof began, "%s/training.safetensors", dir);
    return !file_exists(began) ||
           err_set(
               err,
               "%.300s: an unfinished training, and no model yet: the same `vitrine train` command, with -o %.300s, "
               "goes on with it",
               dir, dir);
}

#define OPEN_CLIP "open_clip_model.safetensors"

static bool find_file(Arena *arena, const char *dir, const char **file, Err *err)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json", OPEN_CLIP,
                                        "pytorch_model.bin", "model.npz"}; /* the last two get their own messages */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *file = path_in(arena, dir, names[i]);
        if (file_exists(*file))
            return true;
    }
    const char *pickles = path_in(arena, dir, "pytorch_model.bin.index.json");
    if (file_exists(pickles))
        return err_set(err,
                       "%s: the weights are in several PyTorch pickles, which could run any code and are never read. "
                       "Convert them: python3 -c \"import sys, glob, torch, safetensors.torch as s; d = {}; "
                       "[d.update(torch.load(f, 'cpu', weights_only=True)) for f in sorted(glob.glob(sys.argv[1] + "
                       "'/pytorch_model-*.bin'))]; s.save_file({k: v.contiguous().clone() for k, v in d.items()}, "
                       "sys.argv[1] + '/model.safetensors')\" FOLDER",
                       pickles);
    if (!checkpoint_trained(dir, err))
        return false;
    return err_set(err, "%s: no model.safetensors in this folder; give a folder that has one, or a .safetensors file",
                   dir);
}

bool checkpoint_open_tensors(TensorFile *f, Arena *arena, const char *dir, Err *err)
{
    const char *file;
    return find_file(arena, dir, &file, err) && open_tensors(f, file, err);
}

static bool read_beside(const char *path, Json **out, Err *err)
{
    char target;
    if (!file_exists(path) &&
        readlink(path, &target, 1) < 0) /* a link that leads nowhere is no absent file: half a download cache */
        return true;
    *out = json_read(path, JSON_MAX, err);
    if (*out && json_kind(*out) != JK_OBJECT) {
        json_free(*out);
        *out = NULL;
        return err_set(err, "%s: expected a JSON object {…}", path);
    }
    return *out != NULL;
}

/* open_clip's own file stands in for both others. */
static bool read_open_clip(Checkpoint *k, const char *file, const char *dir, bool *found, Err *err)
{
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
               *path = joined(k, dir, "open_clip_config.json");
    *found = false;
    if (!k->layout->open_clip)
        return true;
    k->open_clip = strncmp(name, "open_clip", 9) == 0;
    if (!read_beside(path, &k->config, err))
        return false;
    if (k->config) {
        *found = k->open_clip = true;
        k->config_path = k->processor_path = path;
        k->pictures = json_get(k->config, "preprocess_cfg");
        k->dialect = PREPROCESS_OPEN_CLIP;
    }
    return true;
}

/* What transformers 5 keeps in processor_config.json counts before preprocessor_config.json. */
static bool read_processor(Checkpoint *k, const char *dir, Err *err)
{
    const char *path = joined(k, dir, "processor_config.json");
    if (!read_beside(path, &k->processor, err))
        return false;
    k->pictures = json_get(k->processor, "image_processor");
    if (k->pictures) {
        k->processor_path = path;
        return json_kind(k->pictures) == JK_OBJECT ||
               err_set(err, "%s: \"image_processor\" must be an object {…}", path);
    }
    json_free(k->processor);
    k->processor = NULL;
    bool ok = read_beside(k->processor_path, &k->processor, err);
    k->pictures = k->processor;
    return ok;
}

bool checkpoint_open(Checkpoint *k, const char *path, Err *err)
{
    *k = (Checkpoint){.prefix = ""};
    bool folder = file_is_dir(path), own;
    const char *file = path, *dir = folder ? path : folder_of(k, path);
    k->name = model_name(k, path, folder);
    k->config_path = joined(k, dir, "config.json");
    k->processor_path = joined(k, dir, "preprocessor_config.json");
    if ((!folder || find_file(&k->arena, dir, &file, err)) && open_tensors(&k->file, file, err)) {
        k->used = arena_alloc(&k->arena, k->file.count + 1);
        if (layout_detect(k, err) && read_open_clip(k, file, dir, &own, err) &&
            (own || (read_beside(k->config_path, &k->config, err) && read_processor(k, dir, err))))
            return true;
    }
    checkpoint_close(k);
    return false;
}

/* A document that is in memory. */
static bool parse_bytes(const char *name, ModelBytes from, Json **out, Err *err)
{
    *out = json_parse(name, from.data, from.size, err);
    return *out != NULL;
}

bool checkpoint_open_bytes(Checkpoint *k, const ModelFiles *files, Err *err)
{
    *k = (Checkpoint){.prefix = "", .name = files->name, .config_path = "config.json"};
    k->processor_path = "preprocessor_config.json";
    if (tensors_open_bytes(&k->file, files->name, files->weights.data, files->weights.size, err)) {
        k->used = arena_alloc(&k->arena, k->file.count + 1);
        if (layout_detect(k, err) && parse_bytes(k->config_path, files->config, &k->config, err) &&
            parse_bytes(k->processor_path, files->processor, &k->processor, err)) {
            k->pictures = k->processor;
            return true;
        }
    }
    checkpoint_close(k);
    return false;
}

void checkpoint_close(Checkpoint *k)
{
    tensors_close(&k->file);
    json_free(k->config);
    json_free(k->processor);
    arena_free(&k->arena);
    *k = (Checkpoint){0};
}
