/* What of a file is the model's input, and whether a file is a model. */
#include <string.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/diff/diff_reference.h"

static const char CHANNELS_LAST[] = "y,i,x,j,c"; /* as the image's layout says rows, columns, channels */

bool diff_reference_input(const char *path, const DiffMap *map, const Graph *g, NodeId image, Arena *arena,
                          DiffInput *out, Err *err)
{
    TensorFile f = {0};
    bool ok = true;
    *out = (DiffInput){.name = NULL};
    if (!tensors_open(&f, path, err))
        return false;
    for (size_t i = 0; ok && i < f.count && !out->name; i++) {
        const TensorInfo *t = &f.tensors[i];
        DiffTarget to[DIFF_PARTS];
        DiffLayout l;
        size_t trimmed[TENSOR_RANK_MAX];
        bool last, beyond = map && map->picture && preprocess_beyond(map->picture, t->shape, t->rank, trimmed, &last);
        if (diff_name_targets(map, g, t->name, to) != 1 || to[0].node != image ||
            diff_layout_find(g, image, beyond ? trimmed : t->shape, t->rank, to[0].axes, &l, NULL, 0) != DIFF_FIT)
            continue;
        if (!l.ours && strcmp(l.axes, CHANNELS_LAST) != 0)
            ok = err_set(err, "%s: the axes of '%.100s' are [%s]; an input is read with its channels first or last",
                         path, t->name, l.axes);
        *out = (DiffInput){.name = ok ? arena_strdup(arena, t->name) : NULL, .batch = l.batch};
    }
    tensors_close(&f);
    return ok;
}

bool diff_is_model(const char *path)
{
    TensorFile f = {0};
    Err err;
    Buf inside = {0};
    buf_printf(&inside, "%s/model.safetensors", path);
    bool folder = file_is_dir(path),
         model = folder &&
                 (file_exists(buf_str(&inside)) || (buf_puts(&inside, ".index.json"), file_exists(buf_str(&inside))));
    buf_free(&inside);
    if (folder || !tensors_open(&f, path, &err))
        return model;
    size_t weights = 0;
    for (size_t i = 0; i < f.count; i++) {
        size_t n = strlen(f.tensors[i].name);
        weights += n > 7 && strcmp(f.tensors[i].name + n - 7, ".weight") == 0;
    }
    model = strcasecmp(file_suffix(path), "safetensors") == 0 && weights >= 4 && weights * 3 >= f.count;
    tensors_close(&f);
    return model;
}
