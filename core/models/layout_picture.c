/* The picture of a checkpoint: its size, which of its tokens have positions, how it becomes the input, and the names of
 * the classes; what the files beside it say of them, and what its family takes for granted where they say nothing. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

enum { SIDE_MAX = 1 << 14 };

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
        return infer_read_int(n, v, what, h, err) && infer_read_int(n, v, what, w, err);
    if (json_count(v) != 2)
        return err_set(err, "%s: \"%s\" must be a number or [height, width]", n->k->config_path, what);
    return infer_read_int(n, json_at(v, 0), what, h, err) && infer_read_int(n, json_at(v, 1), what, w, err);
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
    return err_set(err,
                   "%s: tensor '%s' of this %s model is missing (the position table has a row for it); save the file "
                   "again, or fetch it again",
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
    const Json *size = infer_look(n, "image_size", "img_size"), *patch = infer_look(n, "patch_size", "patch_size"),
               *input = json_get(n->trained, "input_size");
    const char *name = !size ? "input_size" : n->timm_config ? "img_size" : "image_size";
    if ((size && !read_pair(n, size, name, h, w, err)) || (patch && !read_pair(n, patch, "patch_size", &ph, &pw, err)))
        return false;
    if (!size && input &&
        (!infer_read_int(n, json_at(input, 1), name, h, err) || !infer_read_int(n, json_at(input, 2), name, w, err)))
        return false;
    if (ph != c->patch_h || pw != c->patch_w)
        return err_set(err,
                       "%s: \"patch_size\" is %d × %d, but the tensors have %d × %d (width × height); config and "
                       "weights are of two models",
                       n->k->config_path, pw, ph, c->patch_w, c->patch_h);
    bool fits = *h >= 1 && *w >= 1 && *h <= SIDE_MAX && *w <= SIDE_MAX; /* also so that no product below overflows */
    return fits || !(size || input) || err_set(err, "%s: \"%s\" must be 1 to %d", n->k->config_path, name, SIDE_MAX);
}

/* The config says the size: the position table must be for it. */
static bool picture_said(const Infer *n, int h, int w, Err *err)
{
    VitConfig *c = n->c;
    c->image_h = h - h % c->patch_h;
    c->image_w = w - w % c->patch_w;
    if (!n->positions || positions_for(c, n->positions, vit_patches(c)))
        return true;
    if (misses_cls(n, n->positions, vit_patches(c)))
        return say_no_cls(n, err);
    return err_set(err,
                   "%s: a picture of %d × %d has %d patches, but the position table has %d rows; set the size the "
                   "weights were "
                   "made for",
                   n->k->config_path, w, h, vit_patches(c), n->positions);
}

/* The rows of a table of relative positions; 0 without one. */
static size_t bias_rows(const Infer *n, const char **name)
{
    const TensorInfo *t = checkpoint_find(n->k, n->c->bias == VIT_BIAS_SHARED ? VIT_SHARED_BIAS_TABLE : VIT_BIAS_TABLE,
                                          0);
    *name = t ? t->name : "";
    return t && t->rank == 2 && n->c->bias != VIT_BIAS_NONE ? t->shape[0] : 0;
}

/* A table of relative positions is for one size of picture. */
static bool bias_fits(const Infer *n, Err *err)
{
    const VitConfig *c = n->c;
    const char *name;
    size_t rows = bias_rows(n, &name);
    return !rows || rows == (size_t)vit_bias_rows(c) ||
           err_set(
               err,
               "%s: a picture of %d × %d has %d × %d patches, which takes %d rows of relative positions, but tensor "
               "'%s' has %zu: it was made for another size, and such a table is not fitted here; set \"image_size\" "
               "to that of the weights",
               n->k->config_path, c->image_w, c->image_h, c->image_w / c->patch_w, c->image_h / c->patch_h,
               vit_bias_rows(c), name, rows);
}

/* Nobody says the size: a square of as many patches as the position table has rows for. */
static bool picture_square(const Infer *n, Err *err)
{
    VitConfig *c = n->c;
    const char *name;
    size_t rows = bias_rows(n, &name);
    int ways = rows > 3 && rows < 1 << 24 ? exact_root((int)rows - 3) : 0, most = SIDE_MAX / c->patch_h;
    if (!n->positions && ways % 2 && (ways + 1) / 2 <= most && c->patch_h == c->patch_w) {
        c->image_h = c->image_w = (ways + 1) / 2 * c->patch_h;
        model_assume(n->m, "pictures are square, %d × %d (from the %zu rows of '%s')", c->image_h, c->image_w, rows,
                     name);
        return true;
    }
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

bool infer_picture(const Infer *n, Err *err)
{
    int h = 0, w = 0;
    if (!read_sides(n, &h, &w, err))
        return false;
    if (!n->positions && strcmp(json_text(infer_look(n, "positions", "positions"), ""), "none") == 0)
        n->c->pos = VIT_POS_NONE; /* said aloud only: a table that is merely missing will be missed */
    n->k->side_h = h;
    n->k->side_w = w;
    return (h > 0 && w > 0 ? picture_said(n, h, w, err) : picture_square(n, err)) && bias_fits(n, err);
}

/* --- how a picture becomes the input, and the names of the classes --- */

static void family_preprocess(const Checkpoint *k, Model *m)
{
    static const struct {
        float mean[3], std[3];
    } USUAL[] = {[PIXELS_HALF] = {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
                 [PIXELS_IMAGENET] = {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
                 [PIXELS_CLIP] = {{0.48145466f, 0.4578275f, 0.40821073f}, {0.26862954f, 0.26130258f, 0.27577711f}}};
    const Layout *l = k->layout;
    VitConfig *c = &m->vit;
    Preprocess *p = &m->preprocess;
    *p = preprocess_default(c);
    p->resize_w = p->width = k->side_w ? k->side_w : p->width;
    p->resize_h = p->height = k->side_h ? k->side_h : p->height;
    p->filter = l->filter;
    p->exact = l->exact;
    if (l->crop > 0) {
        p->mode = RESIZE_COVER;
        p->crop_to_even = true;
        p->resize_w = (int)dm_floor(p->width / l->crop);
        p->resize_h = (int)dm_floor(p->height / l->crop);
    }
    int pixels = l->deit_pixels && (c->dist || c->layer_scale) ? PIXELS_IMAGENET : (int)l->pixels; /* DeiT, DINOv2 */
    for (int i = 0; i < VIT_CHANNELS_MAX; i++) {
        c->mean[i] = c->channels == 3 && i < 3 ? USUAL[pixels].mean[i] : 0.5f;
        c->std[i] = c->channels == 3 && i < 3 ? USUAL[pixels].std[i] : 0.5f;
    }
}

/* What fills no patch is dropped. */
static void drop_beyond(Preprocess *p, const VitConfig *c)
{
    p->beyond_w = p->width > c->patch_w ? p->width % c->patch_w : 0;
    p->beyond_h = p->height > c->patch_h ? p->height % c->patch_h : 0;
    p->width -= p->beyond_w;
    p->height -= p->beyond_h;
}

/* A preparation that yields another size than the position table is for: some families fit the table then, for others
 * it cannot be meant. */
static bool fit_preprocess(const Checkpoint *k, Model *m, const char *file, Err *err)
{
    Preprocess *p = &m->preprocess;
    VitConfig *c = &m->vit;
    if (p->width == c->image_w && p->height == c->image_h)
        return true;
    if (k->known.resizes_positions || c->pos == VIT_POS_NONE) {
        Err problem = {""};
        if (!vit_check(c, err)) /* not the preparation's fault */
            return err_prefix(err, "%s", k->config_path);
        if (!model_fit(m, p->height, p->width, &problem))
            return err_set(err, "%s: %s", file, problem.text);
        if (vit_resizes(c))
            model_assume(m, "the position table, made for %d × %d patches, is fitted to %d × %d (%s, as %s does it)",
                         c->table_w, c->table_h, c->image_w / c->patch_w, c->image_h / c->patch_h,
                         c->fit_smooth ? "bicubic with antialias" : "bicubic", k->known.pattern);
        return true;
    }
    model_guess(m, "pictures become %d × %d, the size of the position table (%s says %d × %d)", c->image_w, c->image_h,
                file, p->width + p->beyond_w, p->height + p->beyond_h);
    p->resize_w = (int)((int64_t)p->resize_w * c->image_w / (p->width + p->beyond_w));
    p->resize_h = (int)((int64_t)p->resize_h * c->image_h / (p->height + p->beyond_h));
    p->resize_w = p->resize_w < c->image_w ? c->image_w : p->resize_w;
    p->resize_h = p->resize_h < c->image_h ? c->image_h : p->resize_h;
    p->width = c->image_w;
    p->height = c->image_h;
    p->beyond_w = p->beyond_h = 0;
    return true;
}

static bool say_beyond(Model *m)
{
    const Preprocess *p = &m->preprocess;
    if (p->beyond_w || p->beyond_h)
        model_assume(m,
                     "of the %d × %d pixels %d × %d fill patches of %d × %d: what is left on the right and below is "
                     "dropped, as the patches' convolution does",
                     p->width + p->beyond_w, p->height + p->beyond_h, p->width, p->height, m->vit.patch_w,
                     m->vit.patch_h);
    return true;
}

/* Hugging Face's wrapper around timm reads its pictures' preparation from config.json, whatever stands beside it. */
static bool of_timm(const Json *pictures)
{
    return strncmp(json_text(json_get(pictures, "image_processor_type"), ""), "TimmWrapper", 11) == 0;
}

static bool read_preprocess(const Checkpoint *k, Model *m, const char *file, const Json *from, PreprocessDialect d,
                            Err *err)
{
    const char *strange;
    if (!preprocess_read(from, d, &m->preprocess, &m->vit, &strange, err))
        return err_prefix(err, "%s", file);
    if (!strange || from == k->config) /* a whole config.json has keys for other readers */
        return true;
    if (!k->assume)
        return err_set(err,
                       "%s: what \"%.60s\" says is not known here, and it may change the pixels; take it out if it "
                       "does not, or --assume leaves it out",
                       file, strange);
    model_guess(m, "\"%.60s\" in %s is left out (--assume)", strange, file);
    return true;
}

bool layout_preprocess(const Checkpoint *k, Model *m, const Json *trained, Err *err)
{
    VitConfig *c = &m->vit;
    Preprocess *p = &m->preprocess;
    char text[128];
    const char *file = NULL, *input = json_text(json_get(k->config, "input_norm"), "standard");
    family_preprocess(k, m);
    const Json *pictures = of_timm(k->pictures) ? NULL : k->pictures;
    if (pictures || trained) {
        file = pictures ? k->processor_path : k->config_path;
        if (!read_preprocess(k, m, file, pictures ? pictures : trained, pictures ? k->dialect : PREPROCESS_TIMM, err))
            return false;
    }
    if (pictures && p->mode != RESIZE_KEEP && !json_bool(json_get(pictures, "do_resize"), true))
        model_assume(
            m, "pictures of another size are resized (%s says do_resize: false, but the model takes one size only)",
            file);
    drop_beyond(p, c);
    c->input = strcmp(input, "per_image") == 0 ? VIT_INPUT_PER_IMAGE : VIT_INPUT_STANDARD;
    if (strcmp(input, "per_image") != 0 && strcmp(input, "standard") != 0)
        return err_set(err, "%s: \"input_norm\" is \"%.40s\"; it may be standard or per_image", k->config_path, input);
    if (file)
        return fit_preprocess(k, m, file, err) && say_beyond(m);
    if (c->input == VIT_INPUT_STANDARD)
        model_guess(m,
                    "pictures are %s, mean %g and deviation %g in the first channel (usual for %s; no "
                    "preprocessor_config.json)",
                    preprocess_text(p, text, sizeof text), (double)c->mean[0], (double)c->std[0], k->layout->name);
    else
        model_guess(m, "pictures are %s (no preprocessor_config.json)", preprocess_text(p, text, sizeof text));
    return say_beyond(m);
}

static const char *clean(Model *m, const char *s)
{
    char text[256], all[1024];
    return arena_strdup(&m->arena, utf8_fit(text, sizeof text, utf8_clean(all, sizeof all, s), -1));
}

void layout_class_names(const Checkpoint *k, Model *m, const Json *trained)
{
    const Json *config = k->config, *map = json_get(config, "id2label"), *list = json_get(config, "label_names");
    size_t classes = (size_t)m->vit.classes;
    if (!list)
        list = json_get(trained, "label_names");
    map = json_kind(map) == JK_OBJECT ? map : NULL;
    if (!classes || (!map && json_kind(list) != JK_ARRAY))
        return;
    size_t named = json_count(map ? map : list);
    if (named != classes) { /* whose names they are nobody can say */
        model_assume(m, "classes are shown by number: %s names %zu, the head has %zu", k->config_path, named, classes);
        return;
    }
    const char **names = arena_alloc(&m->arena, size_mul(classes, sizeof *names));
    for (size_t i = 0; i < classes; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        const char *name = json_text(json_kind(map) == JK_OBJECT ? json_get(map, key) : json_at(list, i), NULL);
        names[i] = name && *name ? clean(m, name) : arena_printf(&m->arena, "class %zu", i);
    }
    m->class_names = names;
}
