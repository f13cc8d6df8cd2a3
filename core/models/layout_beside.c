/* What the files beside a checkpoint say about pictures and classes, and what its family takes for granted where they
 * say nothing. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/utf8.h"
#include "core/models/checkpoint.h"

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
