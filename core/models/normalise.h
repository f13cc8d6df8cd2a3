/* What LayerNorm and batch normalisation share: numbers shifted and scaled to mean 0 and variance 1 along one axis.
 * Along the model's width it is LayerNorm (Ba, Kiros and Hinton 2016), along tokens or pictures it is batch
 * normalisation with the batch's own statistics (Ioffe and Szegedy 2015). */
#ifndef VITRINE_MODELS_NORMALISE_H
#define VITRINE_MODELS_NORMALISE_H
#include "core/graph/graph.h"

/* (x − mean) / √(variance + eps) along `axis` of x, with the variance divided by the number of cells, not by one less.
 * Appends NAME.{width,sum,mean,centered,sq,sumsq,var,eps,var_eps,rstd} in the scope that is set, and NAME, which it
 * returns. */
NodeId graph_normalise(Graph *g, const char *name, NodeId x, int axis, float eps);
#endif
