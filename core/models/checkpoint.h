/* Inside core/models only: a file of tensors that is being understood as a Vision Transformer. */
#ifndef VITRINE_MODELS_CHECKPOINT_H
#define VITRINE_MODELS_CHECKPOINT_H
#include <stdbool.h>

#include "core/io/json.h"
#include "core/io/tensors.h"
#include "core/models/model.h"

/* How a family of programs names its weights, and what its members share without writing it down. */
typedef struct Layout {
    const char *name;
    const char *signature;        /* a tensor that only this family has */
    const char *names[VIT_ROLES]; /* %d is the block; alternatives are separated by |; NULL: never stored */
    bool fused;                   /* one tensor holds the rows of q, then k, then v */
    const char *useless;          /* words: tensors that do not take part in the answer */
    float eps;
    bool imagenet; /* pixel mean and deviation of ImageNet instead of 0.5 */
    Filter filter;
    double crop; /* share of the resized picture that the centre crop keeps; 0: squashed, not cropped */
} Layout;

extern const Layout LAYOUTS[];
extern const int LAYOUT_COUNT;
/* The n-th alternative of a pattern of names[] with the block filled in; false past the last one. */
bool layout_alternative(const char *pattern, int n, int layer, char *out, size_t size);
/* Does it stand outside the prefix, as heads do? */
bool layout_outside(VitRole r);
/* The shape a weight has in a file: heads and their widths are one axis there, fused q k v three times as many rows,
 * the pixels of a patch one axis. Returns the rank. */
int layout_shape(const Layout *l, const VitConfig *c, VitRole r, size_t out[4]);

/* What the name of an architecture decides. Zero: as the layout has it. */
typedef struct Known {
    const char *pattern; /* NULL: there is no name */
    const char *refused; /* why a model of this name is not read, or NULL */
    MapFn act;           /* 0: GELU with erf */
    float eps;
    int heads; /* 0: heads of 64 */
    bool no_final_norm;
    bool decoder;           /* tensors decoder.… are no part of what is shown */
    bool resizes_positions; /* its program fits the position table to the picture, so that no size can be taken for
                               granted */
} Known;

typedef struct Checkpoint {
    TensorFile file;
    bool *used; /* [file.count] */
    const Layout *layout;
    const char *prefix;       /* what stands in front of the family's names: "vit.", "module." */
    Json *config, *processor; /* config.json and preprocessor_config.json beside it, or NULL */
    const char *config_path, *processor_path;
    const char *name; /* for the model */
    bool assume;      /* a name that is not known is taken for a plain ViT's */
    Known known;
    Arena arena;
} Checkpoint;

/* Opens the tensors (path as model_load), reads the JSON files beside them, recognises the layout. A zeroed Checkpoint
 * is closed. */
bool checkpoint_open(Checkpoint *k, const char *path, Err *err);
void checkpoint_close(Checkpoint *k);
/* The tensor that holds a weight (of a fused one: the fused tensor), or NULL. */
const TensorInfo *checkpoint_find(const Checkpoint *k, VitRole r, int layer);
/* The name that is looked for first, for messages; in the checkpoint's arena. */
const char *checkpoint_name(Checkpoint *k, VitRole r, int layer);

/* Recognises the family by its names; false with a message that says what the file is, where that is known. */
bool layout_detect(Checkpoint *k, Err *err);
/* What config.json calls the model: *out, false for a name that is known to be something else, or not known at all. */
bool layout_known(const Checkpoint *k, Model *m, Known *out, Err *err);
/* Configuration, preprocessing, class names and assumptions from shapes and JSON files, into m (zeroed but for its
 * arena). */
bool layout_infer(Checkpoint *k, Model *m, Err *err);
/* Its parts, for when m->vit has its sizes: how a picture becomes the input, and the names of the classes. trained:
 * timm's pretrained_cfg, or NULL. */
bool layout_preprocess(const Checkpoint *k, Model *m, const Json *trained, Err *err);
void layout_class_names(const Checkpoint *k, Model *m, const Json *trained);
/* Every weight checked, found and read; every tensor used once. m->vit is set. */
bool checkpoint_read(Checkpoint *k, Model *m, ModelProgress progress, void *context, Err *err);
#endif
