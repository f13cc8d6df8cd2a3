/* What is taken away from a model to see what it is worth, as edits. */
#ifndef VITRINE_EVAL_REMOVAL_H
#define VITRINE_EVAL_REMOVAL_H
#include "core/graph/edit.h"
#include "core/models/vit.h"

typedef enum RemovalKind {
    REMOVAL_NONE,
    REMOVAL_SCALE,     /* the factor on the scores of every block multiplied by `factor`; 0: the scores as they are, no
                          factor at all */
    REMOVAL_HEAD,      /* head `head` of block `layer`: its z, before W_O, becomes 0 */
    REMOVAL_ATTENTION, /* the attention of block `layer` adds nothing */
    REMOVAL_MLP,       /* its MLP adds nothing */
    REMOVAL_POSITIONS  /* no position embeddings are added */
} RemovalKind;

typedef struct Removal {
    RemovalKind kind;
    int layer, head;
    float factor;
} Removal;

typedef struct Edits {
    Edit *edit;
    int count;
} Edits;

/* For a graph that vit_build made from c; all memory from arena. False where the model has no such part. */
bool removal_edits(Arena *arena, const Graph *g, const VitConfig *c, const VitNodes *nodes, Removal r, Edits *out);
#endif
