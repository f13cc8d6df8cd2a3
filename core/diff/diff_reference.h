/* A recorded forward pass: tensors of a file, each matched with a node of a model. */
#ifndef VITRINE_DIFF_DIFF_REFERENCE_H
#define VITRINE_DIFF_DIFF_REFERENCE_H
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/graph/graph.h"
#include "core/graph/run.h"
#include "core/io/tensors.h"
#include "core/models/preprocess.h"

/* --- names --- */

/* What programs call the tensors of a Vision Transformer's forward pass, and which node each name means. */
typedef enum DiffFamily {
    DIFF_OURS,        /* node paths */
    DIFF_MAP,         /* the user's own table */
    DIFF_HOOKS,       /* TransformerLens, ViT-Prisma */
    DIFF_HF,          /* Hugging Face: modules and the fields of an output */
    DIFF_TIMM,        /* timm: modules */
    DIFF_TORCHVISION, /* torchvision: modules */
    DIFF_OPENAI,      /* OpenAI's CLIP: modules of its picture tower */
    DIFF_TORCH,       /* nn.Transformer: modules */
    DIFF_MODULES,     /* of a text model: those of the program that published it */
    DIFF_FAMILIES
} DiffFamily;
const char *diff_family_name(DiffFamily f);

/* One line of a table: `name = node[axes]`. In both * is the number of a block and < the block before it; alternatives
 * stand behind
 * |, of which the first that the model has is meant; + cuts the tensor's last axis into equal parts, one for each node;
 * or the tensor's axis that has an index for each; # in the name is the number of a head, of which the tensor holds
 * one; [h,t,e] says in which order the tensor has the node's axes. "-" in a node's place: not to be compared. */
typedef struct DiffName {
    DiffFamily family;
    const char *name, *nodes;
} DiffName;

/* The user's own lines, which picture of a batch is meant, and how pictures are made; a zeroed one is empty and means
 * the first. */
typedef struct DiffMap {
    DiffName *line;
    size_t count, cap;
    size_t item;
    size_t bare; /* tokens that the text read here has without those of the tokeniser's template; 0: none are */
    const char *bare_ids;      /* …as -i takes them; in arena */
    const Preprocess *picture; /* whose pixels beyond the last patch a recorded input may have; NULL: none */
    Arena arena;
} DiffMap;

/* Lines `NAME = NODE[axes]` as above; empty lines and those that begin with # are passed over. g says which nodes
 * exist, so that a line that can mean nothing is refused with its number. On failure *m is empty. */
bool diff_map_read(DiffMap *m, const char *path, const Graph *g, Err *err);
bool diff_map_parse(DiffMap *m, const char *name, const char *text, const Graph *g, Err *err);
/* Adds lines of a family behind the user's own; those that mean no node of g are passed over. */
void diff_map_modules(DiffMap *m, const char *lines, const Graph *g);
void diff_map_free(DiffMap *m);

#define DIFF_GRADIENT "grad." /* in front of a node's path, and of any name for one: its gradient */
bool diff_is_gradient(const char *name);
enum { DIFF_PARTS = 4, DIFF_AXES = 32, DIFF_PATH = 160 };

/* A node that a tensor means, or a part of the tensor. */
typedef struct DiffTarget {
    DiffFamily family;
    NodeId node;
    char axes[DIFF_AXES]; /* "h,t,e", or "" where the table says nothing */
    int part, parts;
    int head; /* the tensor is one head of the node, the number in its name and 1; 0: the node */
} DiffTarget;

/* The nodes that a tensor of that name means: how many, 0 when the name is unknown, −1 when the user's table takes it
 * out. Own names come first, then the user's, then the families'; "vit.", "model.", "module." and their like in front
 * are passed over. map may be NULL. */
int diff_name_targets(const DiffMap *map, const Graph *g, const char *name, DiffTarget out[DIFF_PARTS]);
/* The n-th other meaning of the name in the families' tables (n ≥ 1), for a tensor whose shape the first does not have:
 * CLIP's last norm is over one token, SigLIP's, which has the same name, over all. 0: there is none. */
int diff_name_other(const Graph *g, const char *name, int n, DiffTarget out[DIFF_PARTS]);
/* The names that a recording has. */
typedef struct DiffNaming {
    const char **name;
    int count;
} DiffNaming;

/* What the program that recorded these names calls a node: of the lines that name it, the user's own and those of the
 * families, the one by which most of them were read; then the one that most of them begin like (`encoder.layer.3.`),
 * with what they have in front (`vit.`). False, and out is "", when no line of a family that was read has a name for
 * it: what is called as we call it is not named otherwise. map may be NULL. */
bool diff_name_of(const DiffNaming *naming, const DiffMap *map, const Graph *g, NodeId n, char *out, size_t size);

/* --- layouts --- */

/* How the cells of a recorded tensor lie: the node's axes in some order, neighbours merged, perhaps with axes of length
 * 1 and a batch. */
enum { DIFF_FACTORS = 8, DIFF_LAYOUTS = 24 };

typedef struct DiffLayout {
    int n; /* axes longer than 1, patches cut into rows and columns; in the order of the recorded tensor */
    size_t len[DIFF_FACTORS];
    size_t stride[DIFF_FACTORS]; /* in cells of the node */
    char axes[48];               /* "h,t,e"; patches are p where they stand together */
    char factors[48];            /* the same with rows and columns */
    bool told;                   /* the order that was asked for */
    bool ours;                   /* as the node has them: nothing moves */
    size_t batch;                /* pictures in the tensor, of which the first is meant; 1 as a rule */
} DiffLayout;

typedef enum DiffFit { DIFF_FIT, DIFF_NO_FIT, DIFF_AMBIGUOUS } DiffFit;

/* The layout of a tensor of that shape. axes: the order to be believed ("h,t,e"), or "". Without one the node's own
 * order is taken where it fits; else the one order that fits, where rows before columns and askers before those looked
 * at are taken for granted. Where several are left: DIFF_AMBIGUOUS, and choices (if not NULL) names them. */
DiffFit diff_layout_find(const Graph *g, NodeId n, const size_t *shape, int rank, const char *axes, DiffLayout *out,
                         char *choices, size_t size);
/* Every order that fits the shape, at most DIFF_LAYOUTS; how many. */
int diff_layout_all(const Graph *g, NodeId n, const size_t *shape, int rank, DiffLayout out[DIFF_LAYOUTS]);
/* from: cells as recorded; to: the same as the node has them. */
void diff_layout_apply(const DiffLayout *l, const float *from, float *to);
/* Other programs give both numbers of a rotary pair the same sine and change the sign of one when they rotate; here the
 * sign is in the table. One of the first kind, for a node that is such a table, is made one of the second. */
void diff_sign_sines(const Graph *g, NodeId n, float *values);

/* --- the recording --- */

typedef struct DiffTensor {
    const char *name;  /* in the file, made printable */
    DiffFamily family; /* whose name it is */
    Dtype dtype;
    int rank;
    size_t shape[TENSOR_RANK_MAX]; /* as recorded */
    int part, parts;               /* of a tensor that holds several nodes */
    NodeId node;
    int place; /* in the file */
    DiffLayout layout;
    size_t item;         /* which picture of layout.batch */
    size_t skip;         /* so many cells in front are not recorded: logits of the last token alone */
    bool beyond;         /* recorded with pixels that fill no patch, which are left out */
    const float *values; /* as the node has them */
    float *owned;        /* the same where the reference made them, else NULL */
} DiffTensor;

/* Logits of one row alone, of a text of several tokens, are those of its last: fills layout and skip. Returns fit, or
 * DIFF_FIT where it is so. */
DiffFit diff_layout_last(const Graph *g, const TensorInfo *info, DiffFit fit, DiffTensor *t);
/* Has cross-attention as many keys there as its own decoder has tokens? Then it is wired otherwise, and reads no other
 * text. */
bool diff_is_own_memory(const Graph *g, NodeId n, int axis, size_t there);
/* Makes the cells that are not recorded those of x[cells of the node]. */
void diff_tensor_fill(const DiffTensor *t, const float *x);

/* Tensors whose name means a node that has another number of something: they can't be compared. */
typedef struct DiffMisfits {
    int count;
    const char *name; /* of one of them, where it is the tokens rather than another axis, */
    int axis;         /* which axis that is, */
    size_t there;     /* and how long it is there */
    NodeId first;     /* of the nodes; nothing behind it is followed to a cause. Own memories are passed over: where
                         there are no others the graph's count, and the text is the same */
} DiffMisfits;

typedef struct DiffReference {
    const char *name;
    DiffTensor *tensor; /* in the order of their nodes */
    int count;
    const char **unknown; /* names that mean nothing here, or whose shape fits nothing, with the reason */
    int unknown_count;
    DiffMisfits misfits;
    int unchecked;     /* tensors of an archive whose checksum was not tested: the rest of a batch was not read */
    DiffFamily family; /* of most names */
    DiffNaming names;  /* all that were read: what is proposed is called as they are */
    DiffMap map;       /* the user's own lines, a copy in the arena */
    Precision stored;  /* of most tensors: F32 where they have more */
    Precision looks;   /* what every value of every tensor of floats is exactly, whatever it is stored as */
    Arena arena;
} DiffReference;

/* Reads what tensors_open reads. map may be NULL. Leaves that are weights and analyses are not matched. False when the
 * file can't be read, when nothing in it has a meaning, or when a shape can be read in several ways: then the message
 * says what to write into a map. */
bool diff_reference_open(DiffReference *r, const char *path, const DiffMap *map, const Graph *g, Err *err);
/* The values that a run has, under own names: every node of g that the run's graph has under the same path and with the
 * same shape. Weights and constants too, so that what differs is found where it begins. Computes what is missing; the
 * run must outlive the reference. */
bool diff_reference_of_run(DiffReference *r, const char *name, Run *run, const Graph *g, Err *err);
void diff_reference_free(DiffReference *r);
/* What the name of a tensor of that file means: torchvision's `encoder` ends behind the last norm, Hugging Face's
 * before it; the names beside it tell which is meant. */
const char *diff_known_as(const TensorFile *f, const char *name);
/* Has it as many tokens as the text has without what the tokeniser's template puts around it? Then err says so. */
bool diff_is_bare(const DiffMap *m, const char *file, const char *name, size_t tokens, Err *err);
/* Is what a line of --map calls block b what block b − 1 gives here, and none of them block 0? Then they are counted
 * from 1 though no number is too high: false, and err says so. */
bool diff_counted_from_zero(const DiffReference *r, const Graph *g, Run *run, double tolerance, Err *err);
/* Do names in the file have a block behind the last, and none is the first? Then they count from 1, and read as they
 * stand each would mean the next block: true, and *err has the lines to write. What the user's lines name is left out.
 */
bool diff_counted_from_one(const TensorFile *f, const DiffMap *map, const Graph *g, const char *name, Err *err);
/* The last tensor that means node n, which is what the next step saw (a linear layer's, then its dropout's), or NULL.
 */
const DiffTensor *diff_reference_find(const DiffReference *r, NodeId n);
/* The first tensor in a file that is the model's input as it wants it (`image`), channels first or last; name in the
 * arena. A zeroed one when there is none; false when the file can't be read, or when its axes stand in an order that is
 * not read as an input. */
typedef struct DiffInput {
    const char *name;
    size_t batch; /* pictures in it */
} DiffInput;
bool diff_reference_input(const char *path, const DiffMap *map, const Graph *g, NodeId image, Arena *arena,
                          DiffInput *out, Err *err);
/* Is it a model rather than a trace: a folder with one in it, or a safetensors file of weights? */
bool diff_is_model(const char *path);
#endif
