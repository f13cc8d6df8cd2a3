/* Running a model as if every stored tensor had a shorter type: each node is rounded behind what computed it, so what
 * came out is that type's error and nothing else. */
#ifndef VITRINE_EVAL_PRECISION_H
#define VITRINE_EVAL_PRECISION_H
#include "core/graph/edit.h"

typedef enum Precision { PRECISION_F32, PRECISION_BF16, PRECISION_F16, PRECISIONS } Precision;

const char *precision_name(Precision p); /* "f32" */
bool precision_find(const char *name, Precision *out);
/* Is the node stored, hence rounded? Weights, the standardised input and what is computed are; constants of the
 * definition, raw pixels, derived nodes and analyses are not. */
bool precision_rounds(const Graph *g, NodeId n);
/* The edit that rounds a node. p is not F32. */
Edit precision_edit(const Graph *g, NodeId n, Precision p);
/* cells values rounded, to may be from; F32 copies. */
void precision_round(Precision p, const float *from, float *to, size_t cells);
#endif
