/* A checkpoint's files: the tensors, the JSON beside them, and which layout they are in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

enum { JSON_MAX = 16 << 20 };

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
