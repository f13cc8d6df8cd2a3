/* Analyses of a Vision Transformer as nodes behind its forward pass: they are computed only when looked at, explain themselves like
 * anything else, follow edits, and are in no hash (NODE_PROBE). For every block N, in blocks.N.attn.probe:
 *   entropy[h,t]         −Σ_u A ln A of an attention row, in nats: 0 (one token) … ln T (all alike)
 *   largest[h,t]         the largest weight of a row
 *   row_sum[h,t]         what a row adds up to: 1 but for rounding, 0 where everything is masked
 *   score_variance[h,t]  population variance of the scores that enter the softmax, masked ones left out
 *   mean_pattern[t,u]    the mean of all heads
 * and, where places of patches were learned, in pos.probe:
 *   patches[p,d]         the rows of the position table that belong to patches
 *   cosine[p,p0], cosine_centred[p,p0]   their cosine similarity, as stored and with their mean taken away */
#ifndef VITRINE_MODELS_PROBES_H
#define VITRINE_MODELS_PROBES_H
#include "core/models/vit.h"

/* Appends them to a graph that vit_build made from c and nodes. A run of the graph that exists already needs run_extend. */
void probes_add(Graph *g, const VitConfig *c, const VitNodes *nodes);
#endif
