/* The size of the picture that a checkpoint is for, and which of its tokens have positions. */
#include <string.h>

#include "core/base/dmath.h"
#include "core/models/layout_infer.h"

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
