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
    const char *signature;        /* a tensor that only this family has; alternatives are separated by | */
    const char *names[VIT_ROLES]; /* see LayoutName; %d is the block, | separates alternatives; NULL: never stored */
    const char *useless;          /* a list (list_has): tensors that do not take part in the answer; NULL: none */
    const char *aside;            /* …of the text tower, which is left out; NULL: none */
    float eps;
    MapFn act;        /* 0: GELU with erf */
    bool silu_gate;   /* a gated MLP has SiLU whatever the activation is called */
    bool deit_pixels; /* where it has a distillation token or layer scales: ImageNet's mean and deviation */
    bool embeds;      /* its read-out is an embedding */
    bool rms_norm;    /* its norms are RMSNorm */
    bool open_clip;   /* open_clip writes the same names */
    bool bare_probe;  /* its attention pooling has a bare probe; without one nothing is read out */
    /* What its programs put a classifier on, where that is not what the model reads otherwise: the mean of the patches,
     * behind the final norm or without it. */
    enum { CLASSIFIER_READOUT, CLASSIFIER_MEAN, CLASSIFIER_MEAN_BARE } classifier;
    VitFit fit; /* how its programs fit the position table to another grid */
    bool fit_smooth, fit_corners;
    enum { PIXELS_HALF, PIXELS_IMAGENET, PIXELS_CLIP } pixels; /* mean and deviation */
    Filter filter;
    bool exact;  /* pictures are resized as floats */
    double crop; /* share of the resized picture that the centre crop keeps; 0: squashed, not cropped */
} Layout;

extern const Layout LAYOUTS[];
extern const int LAYOUT_COUNT;

/* One alternative of names[]: `name`, `name#1/3` (the second of three parts of equal size, one behind the other along
 * the first axis: q, k, v of a fused tensor), `name#:dhe` (axes stored in that order, none of them merged). In front @:
 * only where k->packed; ~: only where not; ^: only where k->projects. */
typedef struct LayoutName {
    char name[256], order[8];
    int part, parts;
    char when;
} LayoutName;
/* The n-th alternative of a pattern with the block filled in; false past the last one. */
bool layout_alternative(const char *pattern, int n, int layer, LayoutName *out);
/* The n-th word of a list separated by |, as it stands there; false past the last one. */
bool layout_word(const char *list, int n, char *out, size_t size);
/* Does it stand outside the prefix, as heads do? */
bool layout_outside(VitRole r);
/* The shape a weight has in a file: heads and their widths are one axis there, a tensor of several parts is as many
 * times longer, the pixels of a patch are one axis. Returns the rank. */
int layout_shape(const LayoutName *how, const VitConfig *c, VitRole r, size_t out[4]);
/* Stored cells in the order of the role: in[cells] to out[cells]. */
void layout_reorder(const LayoutName *how, const VitConfig *c, VitRole r, const float *in, float *out);

/* What a name says of a part of its models; a key of config.json that speaks of the part counts for more. */
typedef enum Promise { PROMISE_NONE, PROMISE_HAS, PROMISE_LACKS } Promise;

/* What the name of an architecture decides. Zero: as the layout has it. */
typedef struct Known {
    const char *pattern; /* NULL: there is no name */
    const char *refused; /* why a model of this name is not read, or NULL */
    MapFn act;           /* 0: GELU with erf */
    float eps;
    int heads, head_width; /* heads 0: as many as the width has 64s; head_width 0: 64, where heads is */
    bool no_final_norm;
    bool decoder;           /* tensors decoder.… are no part of what is shown */
    bool resizes_positions; /* its program fits the position table to the picture, so that no size can be taken for
                               granted */
    bool smooth;            /* …with antialias */
    bool gated, probed;     /* its MLP is gated, its answer read by attention pooling: the tensors must say so too */
    bool biased;            /* its scores get a bias for relative positions: the tensors must say so too */
    bool embeds;            /* it ends with an embedding */
    bool clip;              /* its head is CLIP's projection, unless it was trained further to name classes */
    Promise layer_scale, registers, pre_norm;
    bool bare_mean; /* its mean of the patches has no norm of its own */
    bool mean;      /* it reads the mean of the patches even with a class token and no fc_norm */
    bool rms_norm, patch_norm, merged_norm, branch_norm; /* as in VitConfig */
    VitRope rope;
    bool rope_half, rope_cols_first;
    float rope_base; /* with rope */
    int rope_ref;    /* side of the reference grid; 0: none */
} Known;

typedef struct Checkpoint {
    TensorFile file;
    bool *used; /* [file.count] */
    const Layout *layout;
    const char *prefix;       /* what stands in front of the family's names: "vit.", "module." */
    Json *config, *processor; /* the JSON files beside it, or NULL: config.json or open_clip_config.json; … */
    const char *config_path, *processor_path;
    const Json *pictures; /* what one of them says of pictures, in this dialect; NULL */
    PreprocessDialect dialect;
    bool open_clip;   /* the weights of an open_clip model */
    const char *name; /* for the model */
    int side_h,
        side_w;    /* of the picture as the config says it, 0 where it does not: perhaps no whole number of patches */
    bool packed;   /* the rows of the MLP's first tensor are gate and patterns */
    bool projects; /* the head is a projection: its width is an embedding's, no classes */
    bool assume;   /* a name that is not known is taken for a plain ViT's */
    Known known;
    Arena arena;
} Checkpoint;

/* Appends the shortest decimal that reads back as the same float. */
void put_shortest(Buf *b, float x);
/* dir/model.safetensors with all weights, in their order. stored: what one is called there, in room; out has its shape
 * in the model, which may be another there. */
typedef const char *StoredAs(const Model *m, const WeightPlace *w, Arena *room, TensorOut *out);
bool model_write_weights(const Model *m, const char *dir, StoredAs *stored, const char *const *metadata, ModelFill fill,
                         void *context, Err *err);

/* Opens the tensors (path as model_load), reads the JSON files beside them, recognises the layout. A zeroed Checkpoint
 * is closed. */
bool checkpoint_open(Checkpoint *k, const char *path, Err *err);
/* The same of a folder whose three files are in memory. */
bool checkpoint_open_bytes(Checkpoint *k, const ModelFiles *files, Err *err);
void checkpoint_close(Checkpoint *k);
/* False, with what goes on with it, of a folder in which `train` was stopped: it holds no model yet. */
bool checkpoint_trained(const char *dir, Err *err);
/* The tensors of a folder, in one file or in several. */
bool checkpoint_open_tensors(TensorFile *f, Arena *arena, const char *dir, Err *err);
/* The tensor that holds a weight (of a fused one: the fused tensor), or NULL. */
const TensorInfo *checkpoint_find(const Checkpoint *k, VitRole r, int layer);
/* …and how it is stored there. */
const TensorInfo *checkpoint_find_as(const Checkpoint *k, VitRole r, int layer, LayoutName *how);
/* The length of a letter of the role's axes in that tensor; 0 where it is merged with another. */
size_t layout_letter(const TensorInfo *t, const LayoutName *how, VitRole r, char letter);
/* The name that is looked for first, for messages; in the checkpoint's arena. */
const char *checkpoint_name(Checkpoint *k, VitRole r, int layer);

/* A tensor that no role of the block (layer −1: of the whole model) is stored in and whose name is the most like the
 * one looked for, of that shape (NULL: any of that rank), or NULL: perhaps the same under another name. */
const TensorInfo *checkpoint_stand_in(Checkpoint *k, VitRole r, int layer, const size_t *shape, int rank);
/* Says so: `count` tensors are missing, `names`, of which this is the first; instead: its stand-in or NULL. False. */
bool checkpoint_missing(Checkpoint *k, VitRole r, int layer, int count, const char *names, const TensorInfo *instead,
                        Err *err);

/* What config.json calls the model: *out, false for a name that is known to be something else, or not known at all. */
bool layout_known(const Checkpoint *k, Model *m, Known *out, Err *err);
/* Arguments of timm's that change no answer, or that the tensors and the rest of config.json are read for. */
extern const char LAYOUT_TIMM_ARGUMENTS[];
/* Is it a key of config.json that programs of the hub write beside the model: of training, outputs, versions? */
bool hub_key_idle(const char *key);
/* Lists are texts, their words between blanks or commas; NULL has none. The next word; false past the last one. */
bool list_next(const char **list, const char **word, size_t *n);
/* Is the name in the list? * in a word stands for anything. */
bool list_has(const char *list, const char *name);
/* The word of the list that differs from what was typed by one or two letters, in arena; or NULL. */
const char *list_meant(const char *list, const char *typed, Arena *arena);
/* Configuration, preprocessing, class names and assumptions from shapes and JSON files, into m (zeroed but for its
 * arena). */
bool layout_infer(Checkpoint *k, Model *m, Err *err);
/* Its parts, for when m->vit has its sizes: how a picture becomes the input, and the names of the classes. trained:
 * timm's pretrained_cfg, or NULL. */
bool layout_preprocess(const Checkpoint *k, Model *m, const Json *trained, Err *err);
void layout_class_names(const Checkpoint *k, Model *m, const Json *trained);

/* --- what a checkpoint is, worked out step by step: for layout_infer and its parts only. Every step fills in what it
 * knows of the configuration; false with *err where file and tensors contradict each other --- */

typedef struct Infer {
    Checkpoint *k;
    Model *m;
    VitConfig *c;          /* of m */
    const Json *args;      /* where the model's numbers stand: the whole config.json, or timm's model_args */
    const Json *trained;   /* timm's pretrained_cfg, or NULL */
    const Json *open_clip; /* model_cfg of open_clip_config.json, or NULL; args is its vision_cfg then */
    bool timm_config;
    int positions; /* rows of the position table; 0 without one */
} Infer;

/* What the file calls a key that has this name in Hugging Face's files and that in timm's. */
const char *infer_key(const Infer *n, const char *hf, const char *timm);
/* The value of a key, by its name in Hugging Face's files or in timm's; NULL where it is absent or null. */
const Json *infer_look(const Infer *n, const char *hf, const char *timm);

/* Read a key that may be absent (v NULL): *out stays then. what: the key, for the error. */
bool infer_read_int(const Infer *n, const Json *v, const char *what, int *out, Err *err);
bool infer_read_float(const Infer *n, const Json *v, const char *what, float *out, bool *found, Err *err);

/* The first tensor of this role, in whichever block: what one block has all must have, and checkpoint.c says which
 * lacks it. NULL: none. */
const TensorInfo *infer_tensor(const Infer *n, VitRole r);
bool infer_has(const Infer *n, VitRole r);

/* False: a tensor that such a model must have is not there: in how many blocks, and what stands in its place. */
bool infer_missing(const Infer *n, VitRole r, int rank, Err *err);

/* Sizes, parts and biases. *inner: queries of all heads together. */
bool infer_shapes(Infer *n, int *inner, Err *err);
/* Parts that the configuration promises or denies, and numbers that it says (infer_shapes has been there). */
bool infer_promises(const Infer *n, Err *err);
/* …one by the architecture's name: is it there, should it be. */
bool infer_named(const Infer *n, bool there, bool named, const char *what, Err *err);
/* …and no_embed_class (infer_picture has been there). */
bool infer_embeds_class(const Infer *n, Err *err);
/* Keys of config.json that nobody reads: refused where one that is read was meant, else noted. */
bool infer_keys(const Infer *n, Err *err);
/* The picture's size, and which tokens the position table is for. */
bool infer_picture(const Infer *n, Err *err);
#endif
