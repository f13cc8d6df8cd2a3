/* Analyses of a text model as nodes behind its forward pass, as those of a Vision Transformer are (probes.h): computed
 * only when looked at, explained like anything else, in no hash.
 *
 * For every attention, in SCOPE.probe: entropy, entropy_share, largest, row_sum, score_variance, jacobian and their
 * means, heads_sum[t,u], mean_pattern[t,u], result[h,t,d].
 *
 * For every block of the decoder (of a model with that stack alone: of the encoder), in its .lens: logits[t,v] and
 * probs[t,v], what it would write if it ended there. Absent where a stack ends with a norm of its own.
 *
 * For every stack whose positions are sinusoids, in STACK.pos.probe, with k0 places onward and i0 a pair of dimensions
 * (section 3.5 of Vaswani et al. 2017):
 *   frequency[i0]          ω = 1 / 10000^(2i/D), radians per place;  wavelength[i0]  2π/ω, in places
 *   rotation[k0,i0,c0,c1]  the 2 × 2 matrix that turns by k·ω
 *   carried[s,k0,i0,c0]    the rotation times PE(pos);  onward[s,k0,i0,c0]  PE(pos + k) itself
 *   residual[s,k0,i0,c0]   carried − onward;  residual_largest[s,k0]  the largest of its absolute values
 *   alike[s,k0]            PE(pos) · PE(pos + k): depends on k alone */
#ifndef VITRINE_MODELS_TEXT_PROBES_H
#define VITRINE_MODELS_TEXT_PROBES_H
#include "core/models/seq2seq.h"

/* Appends them to a graph that seq2seq_build made of c. */
void text_probes_add(Graph *g, const Seq2seqConfig *c);
#endif
