/* What files say of how a picture is made ready, key by key, and the same in one line. */
#include <stdio.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/models/checkpoint.h"

static const struct {
    const char *name;
    Filter filter;
    int pil; /* PIL's number, as in preprocessor_config.json */
} FILTERS[] = {
    {"nearest", FILTER_NEAREST, 0}, {"lanczos", FILTER_LANCZOS, 1}, {"bilinear", FILTER_BILINEAR, 2},
    {"bicubic", FILTER_BICUBIC, 3}, {"box", FILTER_BOX, 4},
};
enum { FILTER_COUNT = sizeof FILTERS / sizeof *FILTERS };

static const char *filter_name(Filter f)
{
    for (int i = 0; i < FILTER_COUNT; i++)
        if (FILTERS[i].filter == f)
            return FILTERS[i].name;
    return "?";
}

const char *preprocess_text(const Preprocess *p, char *out, size_t n)
{
    int w = p->width + p->beyond_w, h = p->height + p->beyond_h;
    bool cropped = p->mode != RESIZE_SQUASH || p->resize_w != w || p->resize_h != h;
    int used = p->mode == RESIZE_KEEP ? snprintf(out, n, "not resized")
                                      : snprintf(out, n, "resized to %d × %d (%s, %s%s)", p->resize_w, p->resize_h,
                                                 p->mode == RESIZE_COVER ? "proportions kept" : "proportions given up",
                                                 filter_name(p->filter), p->exact ? ", not rounded" : "");
    if (cropped && used > 0 && (size_t)used < n)
        used += snprintf(out + used, n - (size_t)used, ", centre %d × %d", w, h);
    if ((p->beyond_w || p->beyond_h) && used > 0 && (size_t)used < n)
        snprintf(out + used, n - (size_t)used, ", of which %d × %d fill patches", p->width, p->height);
    return out;
}

static bool in_side(double v)
{
    return v >= 1 && v <= IMAGE_SIDE_MAX;
}

/* Members of an object that are not null. */
static int filled(const Json *v)
{
    const char *key = NULL;
    int n = 0;
    for (const Json *member; (member = json_next(v, &key));)
        n += json_kind(member) != JK_NULL;
    return n;
}

/* {"height","width"}, {"shortest_edge"} or a number. *edge says that it was a single edge to cover; NULL: it may not be
 * one. A size in two forms is an error in some versions of transformers, others take the edge. */
static bool read_size(const Json *v, const char *key, int *w, int *h, bool *edge, Err *err)
{
    int64_t a, b;
    int members = filled(v);
    bool one = json_int(json_get(v, "shortest_edge"), &a), two = json_int(json_get(v, "height"), &b);
    if (members > (one ? 1 : 2) && (one || two))
        return err_set(err,
                       "\"%s\" says more than one thing: leave either {\"height\", \"width\"} or {\"shortest_edge\"}",
                       key);
    if (edge)
        *edge = one;
    if (json_int(v, &a) || (one && edge)) {
        b = a;
    } else if (json_kind(v) == JK_ARRAY && json_count(v) == 2 && json_int(json_at(v, 0), &b) &&
               json_int(json_at(v, 1), &a)) {
        /* [height, width] */
    } else if (!two || !json_int(json_get(v, "width"), &a)) {
        return err_set(err, "\"%s\" is no size: expected a number, {\"height\", \"width\"}%s", key,
                       edge ? " or {\"shortest_edge\"}" : "");
    }
    if (!in_side((double)a) || !in_side((double)b))
        return err_set(err, "\"%s\" is out of range: 1 to %d", key, IMAGE_SIDE_MAX);
    *w = (int)a;
    *h = (int)b;
    return true;
}

/* A word; *out stays where there is none. */
static bool read_word(const Json *j, const char *key, const char **out, Err *err)
{
    const Json *v = json_get(j, key);
    *out = json_text(v, *out);
    return json_kind(v) == JK_NULL || json_kind(v) == JK_STRING || err_set(err, "\"%s\" must be a word", key);
}

/* A switch; *on stays where there is none. Null turns it off in transformers' older classes and leaves the usual value
 * in newer ones. */
static bool read_flag(const Json *j, const char *key, bool *on, Err *err)
{
    const Json *v = json_get(j, key);
    JsonKind kind = json_kind(v);
    if (!v || (kind == JK_NULL && !*on))
        return true;
    if (kind == JK_NULL)
        return err_set(err,
                       "\"%s\" is null, which versions of transformers take for different things; write true or "
                       "false",
                       key);
    if (kind != JK_TRUE && kind != JK_FALSE)
        return err_set(err, "\"%s\" must be true or false", key);
    *on = kind == JK_TRUE;
    return true;
}

/* What pictures are resized to is made at least as large. */
static bool check_resized(const Preprocess *p, const char *key, Err *err)
{
    return (int64_t)p->resize_w * p->resize_h <= IMAGE_PIXELS_MAX ||
           err_set(err, "\"%s\" has every picture resized to %d × %d, which is too large; lower it", key, p->resize_w,
                   p->resize_h);
}

static bool read_numbers(const Json *v, const char *key, const VitConfig *c, float *out, Err *err)
{
    if (!v || json_kind(v) == JK_NULL)
        return true;
    bool one = json_kind(v) == JK_NUMBER; /* for every channel */
    size_t n = one ? 1 : json_count(v);
    if (!one && json_kind(v) != JK_ARRAY)
        return err_set(err, "\"%s\" must be a number or a list of %d, one for each channel of the model", key,
                       c->channels);
    if (!one && n != (size_t)c->channels)
        return err_set(err,
                       "\"%s\" is a list of %zu; the model has %d channels: give a number for each, or one for all "
                       "without [ ]",
                       key, n, c->channels);
    for (int i = 0; i < c->channels; i++) {
        double x;
        if (!json_number(one ? v : json_at(v, (size_t)i), &x) || x < -1e6 || x > 1e6)
            return err_set(err, "\"%s\" holds something that is no number between −1e6 and 1e6", key);
        out[i] = (float)x;
    }
    return true;
}

static bool read_deviations(const Json *v, const char *key, const VitConfig *c, float *out, Err *err)
{
    if (!read_numbers(v, key, c, out, err))
        return false;
    for (int i = 0; i < c->channels; i++)
        if (out[i] <= 0)
            return err_set(err, "\"%s\" holds %g; a standard deviation is greater than 0", key, (double)out[i]);
    return true;
}

static bool read_hf_filter(const Json *v, Preprocess *p, Err *err)
{
    int64_t number;
    if (!v)
        return true;
    for (int i = 0; i < FILTER_COUNT && json_int(v, &number); i++)
        if (FILTERS[i].pil == number) {
            p->filter = FILTERS[i].filter;
            return true;
        }
    return err_set(err, "\"resample\" is none of 0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box");
}

/* Hugging Face's classes, each named NAMEImageProcessor or NAMEFeatureExtractor and perhaps more: what they do where no
 * key says it. */
typedef struct Processor {
    const char *name;
    bool edge;  /* a mere number as "size" is the shorter side, not both */
    bool crops; /* do_center_crop is true unless it is written down */
    bool exact; /* resized as floats */
} Processor;
static const Processor PROCESSORS[] = {
    {.name = "ViT"},
    {.name = "DeiT", .crops = true},
    {.name = "Beit", .crops = true},
    {.name = "CLIP", .edge = true, .crops = true},
    {.name = "Siglip"},
    {.name = "Bit", .edge = true, .crops = true},
    {.name = "DINOv3ViT", .exact = true},
};

/* The class that the file names; NULL: none, or (*strange) one that is not known. */
static const Processor *processor_of(const Json *j, bool *strange)
{
    const char *type = json_text(json_get(j, "image_processor_type"),
                                 json_text(json_get(j, "feature_extractor_type"), NULL));
    *strange = false;
    for (size_t i = 0; type && i < sizeof PROCESSORS / sizeof *PROCESSORS; i++) {
        size_t n = strlen(PROCESSORS[i].name);
        if (strncmp(type, PROCESSORS[i].name, n) == 0 &&
            (strncmp(type + n, "ImageProcessor", 14) == 0 || strncmp(type + n, "FeatureExtractor", 16) == 0))
            return &PROCESSORS[i];
    }
    *strange = type != NULL;
    return NULL;
}

static bool read_hf_geometry(const Json *j, const Processor *type, Preprocess *p, Err *err)
{
    const Json *size = json_get(j, "size"), *crop = json_get(j, "crop_size");
    bool crops = type->crops, resizes = true, square = !type->edge, smooth = true, edge;
    if (!read_flag(j, "do_center_crop", &crops, err) || !read_flag(j, "do_resize", &resizes, err) ||
        !read_flag(j, "default_to_square", &square, err) || !read_flag(j, "antialias", &smooth, err))
        return false;
    if (!smooth)
        return err_set(err, "\"antialias\" is false; pictures are resized with antialias here: resize them beforehand "
                            "and set \"do_resize\" to false, or set it to true");
    size = json_kind(size) == JK_NULL ? NULL : size;
    crop = json_kind(crop) == JK_NULL ? NULL : crop;
    if (size) {
        if (!read_size(size, "size", &p->resize_w, &p->resize_h, &edge, err))
            return false;
        edge = edge || (json_kind(size) == JK_NUMBER && !square);
        if (edge && json_get(j, "do_center_crop") && !crops)
            return err_set(err, "\"size\" is the shorter side and nothing is cropped, so that pictures keep their "
                                "proportions, but the model takes one size only: put do_center_crop true and crop_size "
                                "into it");
        p->mode = edge ? RESIZE_COVER : RESIZE_SQUASH;
        p->width = p->resize_w;
        p->height = p->resize_h;
    }
    if (crops && crop && !read_size(crop, "crop_size", &p->width, &p->height, NULL, err))
        return false;
    if (crops && crop && !resizes)
        p->mode = RESIZE_KEEP;
    p->crop_to_even = false;
    return check_resized(p, "size", err);
}

/* Pixels times "rescale_factor", for some classes less 1 ("offset"), which goes into the mean. */
static bool read_hf_statistics(const Json *j, VitConfig *c, Err *err)
{
    const Json *rescale = json_get(j, "rescale_factor");
    bool rescales = true, normalises = true, offset = false, also = false;
    double factor = 1.0 / 255;
    if (!read_flag(j, "do_rescale", &rescales, err) || !read_flag(j, "do_normalize", &normalises, err) ||
        !read_flag(j, "offset", &offset, err) || !read_flag(j, "rescale_offset", &also, err))
        return false;
    if (!rescales) {
        c->range = 1.0f;
    } else if (rescale && json_kind(rescale) != JK_NULL) {
        if (!json_number(rescale, &factor) || !(factor > 1e-6 && factor < 1e6))
            return err_set(err, "\"rescale_factor\" must be a positive number; 1/255 = 0.00392 as a rule");
        c->range = (float)(1.0 / factor);
    }
    if (!normalises) {
        for (int i = 0; i < VIT_CHANNELS_MAX; i++) {
            c->mean[i] = 0.0f;
            c->std[i] = 1.0f;
        }
    } else if (!read_numbers(json_get(j, "image_mean"), "image_mean", c, c->mean, err) ||
               !read_deviations(json_get(j, "image_std"), "image_std", c, c->std, err)) {
        return false;
    }
    if (rescales && (offset || also))
        for (int i = 0; i < VIT_CHANNELS_MAX; i++)
            c->mean[i] += 1.0f;
    return true;
}

static bool from_hf(const Json *j, Preprocess *p, VitConfig *c, const char **strange, Err *err)
{
    static const Processor unnamed = {0};
    bool unknown;
    const Processor *type = processor_of(j, &unknown);
    if (unknown)
        *strange = json_get(j, "image_processor_type") ? "image_processor_type" : "feature_extractor_type";
    if (type || unknown)
        p->exact = type && type->exact;
    return read_hf_geometry(j, type ? type : &unnamed, p, err) && read_hf_filter(json_get(j, "resample"), p, err) &&
           read_hf_statistics(j, c, err);
}

static bool read_timm_filter(const Json *j, Preprocess *p, Err *err)
{
    const char *name = filter_name(p->filter);
    if (!read_word(j, "interpolation", &name, err))
        return false;
    for (int i = 0; i < FILTER_COUNT; i++)
        if (strcmp(FILTERS[i].name, name) == 0) {
            p->filter = FILTERS[i].filter;
            return true;
        }
    return err_set(err, "\"interpolation\" is \"%.40s\"; known are nearest, lanczos, bilinear, bicubic, box", name);
}

static bool read_timm_statistics(const Json *j, VitConfig *c, Err *err)
{
    return read_numbers(json_get(j, "mean"), "mean", c, c->mean, err) &&
           read_deviations(json_get(j, "std"), "std", c, c->std, err);
}

static bool from_timm(const Json *j, Preprocess *p, VitConfig *c, const char **strange, Err *err)
{
    double crop = 0.875; /* timm.data.constants.DEFAULT_CROP_PCT */
    const Json *size = json_get(j, "input_size"), *share = json_get(j, "crop_pct");
    const char *mode = "center";
    int64_t h, w;
    (void)strange;
    if (!read_word(j, "crop_mode", &mode, err))
        return false;
    if (json_kind(size) != JK_NULL) {
        if (!json_int(json_at(size, 1), &h) || !json_int(json_at(size, 2), &w) || !in_side((double)h) ||
            !in_side((double)w))
            return err_set(err, "\"input_size\" is not [channels, height, width]");
        p->width = (int)w;
        p->height = (int)h;
    }
    if (json_kind(share) != JK_NULL && !json_number(share, &crop))
        return err_set(err, "\"crop_pct\" must be a number");
    if (!(crop >= 0.1 && crop <= 1.0))
        return err_set(err, "\"crop_pct\" is %g; it must be 0.1 to 1", crop);
    if (strcmp(mode, "center") != 0 && strcmp(mode, "squash") != 0)
        return err_set(err, "\"crop_mode\" is \"%.40s\"; center and squash are read", mode);
    p->resize_w = (int)dm_floor(p->width / crop);
    p->resize_h = (int)dm_floor(p->height / crop);
    p->mode = strcmp(mode, "squash") == 0 ? RESIZE_SQUASH : RESIZE_COVER;
    p->crop_to_even = true;
    return read_timm_filter(j, p, err) && read_timm_statistics(j, c, err) && check_resized(p, "input_size", err);
}

/* The preprocess_cfg of open_clip: torchvision's resizing and crop, bicubic wherever it is not bilinear. */
static bool from_open_clip(const Json *j, Preprocess *p, VitConfig *c, const char **strange, Err *err)
{
    const Json *size = json_get(j, "size");
    const char *mode = "shortest", *colours = "RGB", *filter = "bicubic";
    (void)strange;
    if (!read_word(j, "resize_mode", &mode, err) || !read_word(j, "mode", &colours, err) ||
        !read_word(j, "interpolation", &filter, err) ||
        (json_kind(size) != JK_NULL && !read_size(size, "size", &p->width, &p->height, NULL, err)))
        return false;
    if (strcmp(colours, "RGB") != 0)
        return err_set(err, "\"mode\" is \"%.20s\"; only RGB is read", colours);
    if (strcmp(filter, "bicubic") != 0 && strcmp(filter, "bilinear") != 0 && strcmp(filter, "random") != 0)
        return err_set(err, "\"interpolation\" is \"%.40s\"; open_clip has bicubic, bilinear and random", filter);
    if (strcmp(mode, "shortest") != 0 && strcmp(mode, "squash") != 0)
        return err_set(err, "\"resize_mode\" is \"%.40s\"; shortest and squash are read", mode);
    p->resize_w = p->width;
    p->resize_h = p->height;
    p->mode = strcmp(mode, "squash") == 0 ? RESIZE_SQUASH : RESIZE_COVER;
    p->crop_to_even = true;
    p->filter = strcmp(filter, "bilinear") == 0 ? FILTER_BILINEAR : FILTER_BICUBIC;
    return read_timm_statistics(j, c, err) && check_resized(p, "size", err);
}

/* --- every key that may stand there --- */

/* What each dialect's keys are, behind those that are read those that change no pixel: names, training, formats, what
 * every picture gets here anyway (pad_size is of do_pad, fill_color of resize_mode longest). What is not listed may
 * change pixels, unless it is null or false for something to do. */
static const char HF
    [] =
        "size do_resize resample default_to_square do_center_crop crop_size antialias do_rescale rescale_factor offset "
        "rescale_offset do_normalize image_mean image_std image_processor_type feature_extractor_type "
        "do_convert_rgb do_reduce_labels reduce_labels pad_size processor_class auto_map data_format input_data_format "
        "return_tensors device disable_grouping use_fast _valid_processor_keys _name_or_path image_seq_length "
        "transformers_version",
  TIMM[] =
      "input_size crop_pct crop_mode interpolation mean std "
      "url file tag architecture source custom_load hf_hub_id hf_hub_filename license origin_url paper_name paper_ids "
      "notes description num_classes label_names label_descriptions label_offset fixed_input_size min_input_size "
      "pool_size test_input_size test_crop_pct first_conv classifier",
  OPEN_CLIP[] = "size interpolation mean std resize_mode mode fill_color";

/* Keys that change pixels in a way that is not made here, unless they are null, false or 0. */
static const struct {
    const char *key, *dialect, *refused; /* why, and what to do */
} REFUSED[] = {
    {"crop_pct", HF, "say the same with size {\"shortest_edge\": size / crop_pct}, do_center_crop true and crop_size"},
    {"use_square_size", HF, "give size as {\"height\", \"width\"} and set it to false"},
    {"do_pad", HF, "pad the pictures beforehand and set it to false"},
    {"do_flip_channel_order", HF, "turn the patch embedding's channels round and set it to false"},
    {"do_grayscale", HF, "make the pictures grey beforehand and set it to false"},
    {"crop_border_pixels", TIMM, "cut the pictures beforehand and set it to 0"},
};

static bool says_nothing(const Json *v, const char *key, bool known)
{
    int64_t zero;
    if (json_kind(v) == JK_FALSE)
        return known || strncmp(key, "do_", 3) == 0;
    return json_kind(v) == JK_NULL || (known && json_int(v, &zero) && zero == 0);
}

static bool check_keys(const Json *j, const char *dialect, const char **strange, Err *err)
{
    const char *key = NULL;
    for (const Json *v; (v = json_next(j, &key));) {
        const char *refused = NULL;
        for (size_t i = 0; i < sizeof REFUSED / sizeof *REFUSED; i++)
            if (REFUSED[i].dialect == dialect && strcmp(REFUSED[i].key, key) == 0)
                refused = REFUSED[i].refused;
        const bool known = refused || list_has(dialect, key);
        if (says_nothing(v, key, known))
            continue;
        if (refused)
            return err_set(err, "\"%s\" changes pixels in a way that Vitrine does not make: %s", key, refused);
        if (!known)
            *strange = key;
    }
    return true;
}

bool preprocess_read(const Json *j, PreprocessDialect d, Preprocess *p, VitConfig *c, const char **strange, Err *err)
{
    static const struct {
        const char *keys;
        bool (*read)(const Json *j, Preprocess *p, VitConfig *c, const char **strange, Err *err);
    } DIALECTS[] = {{HF, from_hf}, {TIMM, from_timm}, {OPEN_CLIP, from_open_clip}};
    Preprocess next = *p;
    VitConfig config = *c;
    *strange = NULL;
    if (!check_keys(j, DIALECTS[d].keys, strange, err) || !DIALECTS[d].read(j, &next, &config, strange, err))
        return false;
    *p = next;
    *c = config;
    return true;
}
