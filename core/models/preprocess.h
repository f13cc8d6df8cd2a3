/* How a picture becomes a model's input: conversion to its channels, resizing, centre crop. Rescaling and standardising
 * are nodes of the graph (VitConfig: range, mean, std), so that they can be looked at. */
#ifndef VITRINE_MODELS_PREPROCESS_H
#define VITRINE_MODELS_PREPROCESS_H
#include <stdbool.h>

#include "core/base/err.h"
#include "core/io/image.h"
#include "core/io/json.h"
#include "core/models/vit.h"

typedef enum ResizeMode {
    RESIZE_SQUASH, /* to resize_w × resize_h, proportions given up (Hugging Face ViT) */
    RESIZE_COVER,  /* proportions kept, the smallest size that covers resize_w × resize_h (torchvision, timm, DeiT) */
    RESIZE_KEEP    /* not resized, only cropped */
} ResizeMode;

typedef struct Preprocess {
    int width, height, channels; /* what the model receives */
    int beyond_w, beyond_h; /* columns and rows that are made behind it and dropped: they fill no patch (384 pixels in
                               patches of 14 are 27, and 6 pixels beyond) */
    ResizeMode mode;
    int resize_w, resize_h; /* before the centre crop to width × height */
    Filter filter;
    /* Resized as floats, without rounding to bytes in between: rescaled first (Hugging Face's DINOv3). Where pictures
     * are kept as bytes (core/train) they are rounded all the same: such a model has no classes. */
    bool exact;
    bool crop_to_even; /* crop offsets of half a pixel go to the even neighbour (torchvision), else down (HF) */
} Preprocess;

/* Where in the picture the model's input comes from, in pixels of the picture: left, top, right, bottom. */
typedef struct SourceRect {
    double x0, y0, x1, y1;
} SourceRect;

/* Squash to the model's size with a bilinear filter: what a model gets about which nothing else is known. */
Preprocess preprocess_default(const VitConfig *c);
/* in → resized (width × height, the model's channels; image_free by the caller) and pixels[c,y,x] 0 … 255
 * (channels · height · width floats; NULL if not wanted). False, with nothing to free, when the model's channel count
 * is no picture's or the picture is too long and narrow to be resized in memory. */
bool preprocess_run(const Preprocess *p, const Image *in, Image *resized, float *pixels, Err *err);
/* The rectangle of a width × height source picture that pixel x, y of the model's input stands for (the filter looks a
 * little beyond it); parts outside the picture are cut off. */
SourceRect preprocess_source(const Preprocess *p, int source_w, int source_h, int x, int y);
/* Is a picture of that size made narrower or lower than it is? By 2 % and more. */
bool preprocess_squeezes(const Preprocess *p, int source_w, int source_h);
/* Has a tensor of pictures the pixels beyond too: […,c,height + beyond_h,width + beyond_w], or channels last? False
 * where there are none. *last: channels are. trimmed[rank]: the shape without them; may be NULL. */
bool preprocess_beyond(const Preprocess *p, const size_t *shape, int rank, size_t *trimmed, bool *last);
/* The same pictures without those pixels. */
void preprocess_trim(const Preprocess *p, const float *in, size_t pictures, bool last, float *out);
/* One line: "resized to 256 × 256 (cover, bicubic), centre 224 × 224". Returns out. */
const char *preprocess_text(const Preprocess *p, char *out, size_t n);

typedef enum PreprocessDialect {
    PREPROCESS_HF,       /* a preprocessor_config.json */
    PREPROCESS_TIMM,     /* a pretrained_cfg */
    PREPROCESS_OPEN_CLIP /* the preprocess_cfg of open_clip_config.json */
} PreprocessDialect;

/* Reads it into p and the pixel statistics of c. Keys that are absent leave their value; *strange is a key that may
 * change pixels and is not known, else NULL. False, p and c unchanged, when a value is of the wrong kind or a key is
 * known to change pixels in a way that is not made here; the message has no file name yet. */
bool preprocess_read(const Json *j, PreprocessDialect d, Preprocess *p, VitConfig *c, const char **strange, Err *err);
#endif
