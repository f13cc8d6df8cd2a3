/* What a checkpoint is, worked out step by step: for layout_infer and its parts only. Every step fills in what it knows
 * of the configuration; false with *err where file and tensors contradict each other. */
#ifndef VITRINE_MODELS_LAYOUT_INFER_H
#define VITRINE_MODELS_LAYOUT_INFER_H

#include "core/models/checkpoint.h"

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
/* What shapes cannot say: from the files, else the family's habit, which is written down as a guess. */
bool infer_heads(Infer *n, int inner, Err *err);
bool infer_activation(Infer *n, Err *err);
bool infer_pool(Infer *n, Err *err);
bool infer_numbers(Infer *n, Err *err);
bool infer_rope(Infer *n, Err *err);

#endif
