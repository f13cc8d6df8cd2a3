/* What is taken away from a model to see what it is worth, as edits. */
#ifndef VITRINE_EVAL_ABLATION_H
#define VITRINE_EVAL_ABLATION_H
#include "core/graph/edit.h"

typedef enum AblationKind {
    ABLATION_NONE,
    ABLATION_SCALE,     /* the factor on the scores of every block multiplied by `factor`; 0: the scores as they are, no
                          factor at all */
    ABLATION_HEAD,      /* head `head` of attention number `layer`: its z, before W_O, becomes 0 */
    ABLATION_ATTENTION, /* the attention of block `layer` adds nothing */
    ABLATION_MLP,       /* its MLP adds nothing */
    ABLATION_POSITIONS  /* no position embeddings are added */
} AblationKind;

typedef struct Ablation {
    AblationKind kind;
    int layer, head;
    float factor;
} Ablation;

/* Factor number i on a scale, ascending: 1/8 … 8 in steps of √2 or 2 with 1 in the middle; the one nearest to 1/scale
 * (√d_k as a rule: no scale at all) gives way to it. */
enum { ABLATION_FACTORS = 11 };
float ablation_factor(float scale, int i);

typedef struct Edits {
    Edit *edit;
    int count;
} Edits;

/* For a graph with an anatomy; all memory from arena. Blocks and attentions are counted over all stacks; the attention
 * of a block that has several is its first. False where the model has no such part. */
bool ablation_edits(Arena *arena, const Graph *g, Ablation r, Edits *out);
#endif
