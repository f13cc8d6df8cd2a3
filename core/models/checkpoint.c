#include "core/models/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/models/family.h"

enum { NAME_MAX_BYTES = 1200 };

/* --- names --- */

/* The name behind the prefix, then behind the prefix without its last part, … (a head stands outside "vit."). */
static const TensorInfo *find_prefixed(const Checkpoint *k, const char *name, bool inside)
{
    size_t n = strlen(k->prefix);
    for (;;) { /* what belongs to another tower may have the same name without the prefix */
        char full[NAME_MAX_BYTES];
        utf8_print(full, sizeof full, "%.*s%s", (int)n, k->prefix, name);
        const TensorInfo *t = tensors_find(&k->file, full);
        if (t || n == 0 || inside)
            return t;
        for (n--; n > 0 && k->prefix[n - 1] != '.';)
            n--;
    }
}

const TensorInfo *checkpoint_find_as(const Checkpoint *k, VitRole r, int layer, LayoutName *how)
{
    const char *pattern = k->layout->names[r];
    for (int i = 0; pattern && layout_alternative(pattern, i, layer, how); i++) {
        if (how->when && (how->when == '^' ? !k->projects : (how->when == '@') != k->packed))
            continue;
        const TensorInfo *t = find_prefixed(k, how->name, k->layout->aside && !layout_outside(r));
        if (t)
            return t;
    }
    return NULL;
}

const TensorInfo *checkpoint_find(const Checkpoint *k, VitRole r, int layer)
{
    LayoutName how;
    return checkpoint_find_as(k, r, layer, &how);
}

const char *checkpoint_name(Checkpoint *k, VitRole r, int layer)
{
    LayoutName how;
    const char *pattern = k->layout->names[r];
    if (!pattern)
        return arena_printf(&k->arena, "(%s)", vit_role_name(r));
    layout_alternative(pattern, 0, layer, &how);
    return arena_printf(&k->arena, "%s%s", layout_outside(r) ? "" : k->prefix, how.name);
}

/* --- reading --- */

static void put_shape(Buf *b, const size_t *shape, int rank)
{
    buf_putc(b, '[');
    for (int i = 0; i < rank; i++)
        buf_printf(b, "%s%zu", i ? ", " : "", shape[i]);
    buf_putc(b, ']');
}

/* Equal but for axes of length 1 in front (cls_token is stored as [1, 1, D]). */
static bool same_shape(const TensorInfo *t, const size_t *want, int rank)
{
    int a = 0, b = 0;
    while (a < t->rank - 1 && t->shape[a] == 1)
        a++;
    while (b < rank - 1 && want[b] == 1)
        b++;
    if (t->rank - a != rank - b)
        return false;
    for (; b < rank; a++, b++)
        if (t->shape[a] != want[b])
            return false;
    return true;
}

static bool check_tensor(const Checkpoint *k, const VitConfig *c, VitRole r, const TensorInfo *t, const LayoutName *how,
                         Err *err)
{
    size_t want[4];
    int rank = layout_shape(how, c, r, want);
    if (t->dtype > DT_BF16)
        return err_set(
            err,
            "%s: tensor '%s' is %s; weights must be F32, F16, BF16 or F64 (a quantised model has to be converted back)",
            k->file.path, t->name, t->type ? t->type : dtype_name(t->dtype));
    if (same_shape(t, want, rank))
        return true;
    bool turned = t->rank == 2 && rank == 2 && t->shape[0] == want[1] && t->shape[1] == want[0];
    Buf got = {0}, expected = {0};
    put_shape(&got, t->shape, t->rank);
    put_shape(&expected, want, rank);
    err_set(err, "%s: tensor '%s' has shape %s, expected %s as the other tensors of this %s model have it; %s",
            k->file.path, t->name, buf_str(&got), buf_str(&expected), k->layout->name,
            turned ? "is it transposed? Save it the other way round" : "save the file again, or fetch it again");
    buf_free(&got);
    buf_free(&expected);
    return false;
}

typedef struct NameList {
    char text[300];
    int count;
} NameList;

/* The first three names, then only their number. */
static void list_name(NameList *l, const char *name)
{
    size_t used = strlen(l->text);
    if (l->count++ < 3)
        utf8_print(l->text + used, sizeof l->text - used, "%s'%.80s'", l->count > 1 ? ", " : "", name);
}

static const char *list_text(NameList *l)
{
    size_t used = strlen(l->text);
    if (l->count > 3)
        snprintf(l->text + used, sizeof l->text - used, " and %d more", l->count - 3);
    return l->text;
}

/* How much of two names is the same, in front and behind. */
static size_t alike(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), front = 0, end = 0;
    while (front < n && front < m && a[front] == b[front])
        front++;
    while (end < n - front && end < m - front && a[n - 1 - end] == b[m - 1 - end])
        end++;
    return front + end;
}

const TensorInfo *checkpoint_stand_in(Checkpoint *k, VitRole r, int layer, const size_t *shape, int rank)
{
    bool *known = xcalloc(k->file.count, sizeof *known);
    const char *name = checkpoint_name(k, r, layer);
    const TensorInfo *best = NULL;
    size_t most = strlen(name) / 2, number = strcspn(name, "0123456789");
    number = layer < 0 ? 0 : number + strspn(name + number, "0123456789"); /* the same block */
    bool any = true;
    for (int at = 0; any || at <= layer; at++) { /* every block, and once more what belongs to none */
        any = false;
        for (VitRole role = (VitRole)0; role < VIT_ROLES; role = (VitRole)(role + 1)) {
            const TensorInfo *t = checkpoint_find(k, role, at);
            if (t)
                known[t - k->file.tensors] = true;
            any = any || (t && vit_role_in_block(role));
        }
    }
    for (size_t i = 0; i < k->file.count; i++) {
        const TensorInfo *t = &k->file.tensors[i];
        bool fits = !shape ? t->rank == rank : same_shape(t, shape, rank);
        if (known[i] || !fits || strncmp(t->name, name, number) != 0 || alike(t->name, name) <= most)
            continue;
        most = alike(t->name, name);
        best = t;
    }
    free(known);
    return best;
}

bool checkpoint_missing(Checkpoint *k, VitRole r, int layer, int count, const char *names, const TensorInfo *instead,
                        Err *err)
{
    const char *name = checkpoint_name(k, r, layer);
    if (instead)
        return err_set(
            err,
            "%s: %d tensor%s of this %s model missing: %s. A tensor '%.200s' has the shape of '%.200s': if it "
            "is that one, save it again under that name",
            k->file.path, count, count == 1 ? "" : "s", k->layout->name, names, instead->name, name);
    return err_set(err, "%s: %d tensor%s of this %s model missing: %s; save the file again, or fetch it again",
                   k->file.path, count, count == 1 ? "" : "s", k->layout->name, names);
}

static bool check_all(Checkpoint *k, const Model *m, Err *err)
{
    const VitConfig *c = &m->vit;
    NameList missing = {.text = ""};
    VitRole first = (VitRole)0;
    int first_layer = -1;
    for (WeightPlace w = {0}; model_weight(m, &w);) {
        LayoutName how;
        const VitRole r = (VitRole)w.role;
        const TensorInfo *t = checkpoint_find_as(k, r, w.layer, &how);
        if (t && !check_tensor(k, c, r, t, &how, err))
            return false;
        if (t) {
            k->used[t - k->file.tensors] = true;
            continue;
        }
        first = missing.count ? first : r;
        first_layer = missing.count ? first_layer : w.layer;
        list_name(&missing, checkpoint_name(k, r, w.layer));
    }
    if (!missing.count)
        return true;
    LayoutName how = {.name = "", .parts = 1};
    size_t shape[4];
    if (k->layout->names[first])
        layout_alternative(k->layout->names[first], 0, first_layer, &how);
    int rank = layout_shape(&how, c, first, shape);
    return checkpoint_missing(k, first, first_layer, missing.count, list_text(&missing),
                              checkpoint_stand_in(k, first, first_layer, shape, rank), err);
}

/* A masked autoencoder (He et al. 2022) is an encoder, which is a ViT, and a decoder that serves its training only. */
static bool is_decoder(const Checkpoint *k, const char *name)
{
    return k->known.decoder && strncmp(name, "decoder.", 8) == 0;
}

/* What stands behind the tower where a classifier takes its place: a last norm, attention pooling. */
static bool is_replaced(const Checkpoint *k, const VitConfig *c, const char *name)
{
    return c->classes && k->layout->classifier != CLASSIFIER_READOUT &&
           (strstr(name, "vision_model.head.") || (!c->final_norm && strstr(name, "vision_model.post_layernorm.")));
}

/* Which row of a table of relative positions is whose follows from the grid; older files have it as a tensor too. */
static bool is_index(const VitConfig *c, const char *name)
{
    static const char END[] = ".relative_position_index";
    size_t n = strlen(name), end = sizeof END - 1;
    return c->bias != VIT_BIAS_NONE && n > end && strcmp(name + n - end, END) == 0;
}

static bool check_index(const Checkpoint *k, const VitConfig *c, const TensorInfo *t, Err *err)
{
    size_t tokens = (size_t)vit_tokens(c);
    if (t->rank != 2 || t->shape[0] != tokens || t->shape[1] != tokens)
        return err_set(err, "%s: tensor '%s' is not %zu × %zu, as many tokens as this model has", k->file.path, t->name,
                       tokens, tokens);
    double *x = xcalloc(t->cells, sizeof *x);
    bool same = tensors_read_f64(&k->file, t, x, err), read = same;
    for (size_t i = 0; same && i < t->cells; i++) {
        double row = vit_bias_row(c, (int)(i / tokens), (int)(i % tokens));
        same = x[i] >= row && x[i] <= row;
    }
    free(x);
    return same || (read && err_set(err,
                                    "%s: tensor '%s' gives pairs of tokens other rows of the table than BEiT does, "
                                    "which Vitrine does not read",
                                    k->file.path, t->name));
}

static bool check_unused(Checkpoint *k, Model *m, Err *err)
{
    NameList left = {.text = ""};
    size_t prefix = strlen(k->prefix), decoder = 0, aside = 0, indices = 0;
    for (size_t i = 0; i < k->file.count; i++) {
        const char *name = k->file.tensors[i].name;
        if (k->used[i])
            continue;
        const char *bare = strncmp(name, k->prefix, prefix) == 0 ? name + prefix : name;
        if (k->projects && strcmp(bare, "head.bias") == 0)
            model_assume(m, "the head is CLIP's projection, so that an embedding is shown; its bias is 0 and left out");
        else if (is_decoder(k, name))
            decoder++;
        else if (is_index(&m->vit, name) && ++indices) {
            if (!check_index(k, &m->vit, &k->file.tensors[i], err))
                return false;
        } else if (list_has(k->layout->aside, name))
            aside++;
        else if (list_has(k->layout->useless, bare) || is_replaced(k, &m->vit, name))
            model_assume(m, "tensor '%.200s' takes no part in the answer and is left out", name);
        else
            list_name(&left, name);
    }
    if (decoder)
        model_assume(m, "the decoder is left out (%zu tensors): what is shown is the encoder with every patch in place",
                     decoder);
    if (indices)
        model_assume(m, "relative_position_index (%zu tensor%s) is what the grid gives by itself, and is left out",
                     indices, indices == 1 ? "" : "s");
    if (aside)
        model_assume(m, "the text tower is left out (%zu tensors): what is shown is the picture's side", aside);
    return left.count == 0 ||
           err_set(err,
                   "%s: %d tensor%s that this %s model has no place for: %s; Vitrine shows plain ViTs: save the model "
                   "without these parts",
                   k->file.path, left.count, left.count == 1 ? "" : "s", k->layout->name, list_text(&left));
}

/* One weight, whatever else its tensor holds: read once per part, simpler than keeping it, and the file is in
 * the page cache. */
static bool read_weight(Checkpoint *k, const VitConfig *c, VitRole r, const TensorInfo *t, const LayoutName *how,
                        const WeightPlace *w, Err *err)
{
    float *to = w->data;
    const size_t cells = w->cells;
    if (w->half) {
        uint16_t *halves = xmalloc(size_mul(t->cells, sizeof *halves));
        const bool read = tensors_read_16(&k->file, t, halves, err);
        if (read)
            memcpy(w->half, halves + (size_t)how->part * cells, cells * sizeof *halves);
        free(halves);
        return read;
    }
    if (how->parts == 1 && !*how->order)
        return tensors_read_f32(&k->file, t, to, err);
    float *all = xfloats(t->cells);
    bool ok = tensors_read_f32(&k->file, t, all, err);
    if (ok && *how->order)
        layout_reorder(how, c, r, all, to);
    else if (ok)
        memcpy(to, all + (size_t)how->part * cells, cells * sizeof *to);
    free(all);
    return ok;
}

static bool read_all(Checkpoint *k, Model *m, ModelProgress progress, void *context, Err *err)
{
    const VitConfig *c = &m->vit;
    uint64_t done = 0, total = (uint64_t)vit_params(c) * sizeof(float);
    for (WeightPlace w = {0}; model_weight(m, &w);) {
        LayoutName how;
        const VitRole r = (VitRole)w.role;
        const TensorInfo *t = checkpoint_find_as(k, r, w.layer, &how);
        if (progress && !progress(context, done, total))
            return err_set(err, "%s: cancelled", k->file.path);
        if (!read_weight(k, c, r, t, &how, &w, err))
            return false;
        char name[NAME_MAX_BYTES];
        w.at->origin = arena_strdup(&m->arena, utf8_clean(name, sizeof name, t->name));
        done += (uint64_t)w.cells * sizeof *w.data;
    }
    if (progress)
        progress(context, total, total);
    return true;
}

/* A block's matrices stay in the 16 bits that their file has them in, where it has them in the model's order. */
static LeafForm form_of(void *checkpoint, const WeightPlace *w)
{
    LayoutName how;
    const bool matrix = vit_role_in_block((VitRole)w->role) && (w->start == START_FAN || w->start == START_SHARP);
    const TensorInfo *t = matrix ? checkpoint_find_as(checkpoint, (VitRole)w->role, w->layer, &how) : NULL;
    if (!t || *how.order)
        return LEAF_FLOATS;
    return t->dtype == DT_BF16 ? LEAF_BF16 : t->dtype == DT_F16 ? LEAF_F16 : LEAF_FLOATS;
}

/* Every weight checked, found and read; every tensor used once. m->vit is set. */
static bool read_weights(Checkpoint *k, Model *m, ModelProgress progress, void *context, Err *err)
{
    m->family = &FAMILY_VIT;
    if (!check_all(k, m, err) || !check_unused(k, m, err))
        return false;
    return model_alloc_stored(m, &FAMILY_VIT, form_of, k, err) && read_all(k, m, progress, context, err);
}

/* Closes the checkpoint. layout: what the model is said to come from, NULL: as its tensors are named. */
static bool load_open(Model *m, Checkpoint *k, const char *layout, ModelProgress progress, void *context, Err *err)
{
    Model next = {.trained = true};
    bool ok = layout_infer(k, &next, err) && read_weights(k, &next, progress, context, err);
    if (ok) {
        char name[NAME_MAX_BYTES];
        next.name = arena_strdup(&next.arena, utf8_clean(name, sizeof name, k->name));
        next.layout = layout ? layout : k->layout->name;
        *m = next;
    } else {
        model_free(&next);
    }
    checkpoint_close(k);
    return ok;
}

static bool load(Model *m, const char *path, bool assume, ModelProgress progress, void *context, Err *err)
{
    Checkpoint k;
    if (!checkpoint_open(&k, path, err))
        return false;
    k.assume = assume;
    return load_open(m, &k, NULL, progress, context, err);
}

/* Tensor `name` of exactly so many numbers, in the model's arena. */
static const float *read_seen(const TensorFile *f, Model *m, const char *name, size_t cells, Err *err)
{
    const TensorInfo *t = tensors_find(f, name);
    if (!t || t->cells != cells) {
        err_set(err, "%s: tensor '%s' of %zu numbers is missing", f->path, name, cells);
        return NULL;
    }
    float *x = arena_alloc(&m->arena, size_mul(cells, sizeof *x));
    return tensors_read_f32(f, t, x, err) ? x : NULL;
}

static bool load_seen(Model *m, const ModelFiles *files, Err *err)
{
    TensorFile f = {0};
    size_t width = (size_t)m->vit.width;
    if (!tensors_open_bytes(&f, "seen.safetensors", files->seen.data, files->seen.size, err))
        return false;
    const float *mean = read_seen(&f, m, "mean", width, err), *limit = mean ? read_seen(&f, m, "limit", 1, err) : NULL,
                *block = limit ? read_seen(&f, m, "block", 1, err) : NULL,
                *metric = block ? read_seen(&f, m, "metric", size_mul(width, width), err) : NULL;
    bool ok = metric != NULL;
    if (ok && !(*block >= 0 && *block < (float)m->vit.layers))
        ok = err_set(err, "seen.safetensors: is not of this model");
    if (ok)
        m->seen = (ModelSeen){(int)*block, mean, metric, *limit};
    tensors_close(&f);
    return ok;
}

bool model_load_files(Model *m, const ModelFiles *files, Err *err)
{
    Checkpoint k;
    Model next;
    if (!checkpoint_open_bytes(&k, files, err) || !load_open(&next, &k, "bundled", NULL, NULL, err))
        return false;
    if (!files->seen.data || load_seen(&next, files, err)) {
        *m = next;
        return true;
    }
    model_free(&next);
    return false;
}

/* Names from files enter messages in many places; the whole line is made printable once. */
static bool load_clean(Model *m, const char *path, bool assume, ModelProgress progress, void *context, Err *err)
{
    Err problem = {""};
    if (load(m, path, assume, progress, context, &problem))
        return true;
    if (err)
        utf8_clean(err->text, sizeof err->text, problem.text);
    return false;
}

bool model_load(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    return load_clean(m, path, false, progress, context, err);
}

bool model_load_assuming(Model *m, const char *path, ModelProgress progress, void *context, Err *err)
{
    return load_clean(m, path, true, progress, context, err);
}
