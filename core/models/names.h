/* What every node is called on screen: one table beside the node names. A node without a row is a bug that a test
 * finds. */
#ifndef VITRINE_MODELS_NAMES_H
#define VITRINE_MODELS_NAMES_H
#include <stdbool.h>
#include <stddef.h>

#include "core/graph/graph.h"

enum { NODE_LABEL_CELLS = 14, NODE_SENTENCE_CELLS = 76 };

typedef struct NodeText {
    const char *pattern; /* "blocks.*.attn.scores_raw": `*` any text of one component, `**` any number of them, <ln> any
                            LayerNorm's scope, <rms> any RMSNorm's, <attn> any attention's; <stack> in front: a
                            stack's name, or nothing */
    const char *label;   /* at most 14 cells */
    const char *symbol;  /* the paper's, "q kᵀ"; "" where it has none */
    const char *sentence; /* at most 76 cells: what was computed and why */
} NodeText;

/* What a model multiplies its scores by. */
typedef enum ScoreFactor {
    FACTOR_NONE, /* it has no attention, or the factor of another one */
    FACTOR_ROOT, /* 1/√d_k */
    FACTOR_ONE,  /* 1: T5 and GPT-Neo were trained without */
    FACTOR_OTHER /* Gemma has one of its own */
} ScoreFactor;
ScoreFactor node_factor(const Graph *g); /* as it was built: an edit changes nothing of it */
/* A symbol or sentence of this table or of the map's, as it is true of that model: "q kᵀ" where there is no √d_k. */
const char *node_words(const Graph *g, const char *text);

/* The row for a node's path, or NULL. Nodes that an edit made (NAME.unedited, NAME.edit…) have rows too. */
const NodeText *node_text(const char *path);
/* May that row be the one of this path? An earlier row may fit as well. */
bool node_text_fits(const NodeText *t, const char *path);
/* Row i of the table; NULL past the end. */
const NodeText *node_text_at(size_t i);
#endif
