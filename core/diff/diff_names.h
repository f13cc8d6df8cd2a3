/* What programs call the tensors of a Vision Transformer's forward pass, and which node each name means. */
#ifndef VITRINE_DIFF_DIFF_NAMES_H
#define VITRINE_DIFF_DIFF_NAMES_H
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/graph/graph.h"
#include "core/models/preprocess.h"

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
#endif
