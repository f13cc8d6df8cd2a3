/* Analyses of a Vision Transformer as nodes behind its forward pass: they are computed only when looked at, explain
 * themselves like anything else, follow edits, and are in no hash (NODE_PROBE). What makes no sense for a model is
 * absent.
 *
 * For every block N, in blocks.N.attn.probe:
 *   entropy[h,t]         −Σ_u A ln A of an attention row, in nats: 0 (one token) … ln T (all alike)
 *   entropy_share[h,t]   entropy / ln T, 0 … 1; entropy_share_mean[h] its mean over rows. Absent if there is one token.
 *                        Where a row is masked T is what it may look at; a row of one alone has 0, and is not counted
 *   largest[h,t]         the largest weight of a row; largest_mean[h] its mean over rows
 *   row_sum[h,t]         what a row adds up to: 1 but for rounding, 0 where everything is masked
 *   score_variance[h,t]  population variance of the scores that enter the softmax, masked ones left out;
 *                        score_variance_mean[h]
 *   jacobian[h,t]        Frobenius norm of the softmax's Jacobian, √(S2 − 2·S3 + S2²): 0 (collapsed) … 1/2;
 *                        jacobian_mean[h]. To about 4e-4 near 0, where the terms cancel
 *   mean_pattern[t,u]    the mean of all heads
 *   result[h,t,d]        what each head adds: its z through its part of W_O, without the bias
 *   rollout[t,u]         attention rollout through blocks 0 … N (½ mean of heads + ½ residual, rows over their sums);
 *                        rollout_sum[t]; rollout_patches[p] over the picture, of the token that the answer is read
 *                        from (of the mean of the patches' rows, where that is read), rollout_patches_sum
 *   distance[h]          attention distance in pixels: among patches only, weights over their sum;
 *                        distance_row[h,p] of each row
 * and in blocks.N.lens, where there is a head:
 *   logits[o], probs[o]  what the model would answer if it ended behind the block; in embed.lens, if it had no blocks
 *                        at all
 * and in blocks.N.lens_mid: logits[o] of the tokens after the block's attention, before its MLP is added
 * and in blocks.N.mlp.probe:
 *   writes[m,o]          what each hidden unit adds to each answer per 1 of its activation, directly and before the
 *                        norm's 1/σ (probe_lens.c); absent where two norms follow, or the read-out is no token
 *
 * For the whole model:
 *   rollout.patches[p]   the last rollout's row of the token that the answer is read from, over the picture (of the
 *                        mean of the patches' rows, where that is read); rollout.patches_sum its sum
 *   grid.probe.distance[p,p0]   pixels between two patches' centres; grid.probe.uniform, .maximal the attention
 *                        distance of a head that looks at all alike, and of one that always looks farthest
 *   readout_mean.{readout[d],logits[o],probs[o]}   the answer from the mean of the patch tokens, where the model reads
 *                        another token
 *   readout_cls.{…}      the answer from the class token, where the model reads the mean and has one
 *   pos.probe.patches[p,d]   the rows of a learned position table that belong to patches
 *   pos.probe.cosine[p,p0], .cosine_centred[p,p0]   their cosine similarity, as stored and with their mean taken away
 *   pos.probe.share4, .share8   share of places whose most similar other place is one of the 4 or 8 neighbours on the
 *                        grid
 *   pos.probe.rank_correlation  Spearman's, of cosine and minus the distance in grid steps, over all pairs of
 *                        different places
 *   patch_embed.probe.filters[d,c,i,j]   the patch projection as tiles
 *   patch_embed.probe.components[k,c,i,j]   principal components of the filters (unit vectors, largest variance first;
 *                        at most 28), projection[d,k], variance[k], explained[k] (share of all), singular[k] (root of
 *                        the summed squares); the check: covariance[k,k0] is 0 off its diagonal, error_max the largest
 *                        error of unit length and right angles
 *   where.attention[h,p], where.attention_mean[p]   the last block's attention of the token that the answer is read
 *                        from, over the picture
 *   where.answer         the answer's logit: the largest
 * For every place of a stack, in embed.alike (before its first block) and blocks.N.alike, of the patches p, or words;
 * of a picture in image.alike too, where a token is pixels[p,px], the pixels of a patch:
 *   norm[t]              the length of every token
 *   cosine[p,p1]         of every two, their mean taken away
 *   component_K[p], direction_K[d], share_K   their first three principal components: each token along the direction,
 *                        the direction, its share of all variance; by power iteration (probe_tokens.c). Where A and B
 *                        are compared the same of the difference of their tokens, in PATH.changed: probes_changed_add
 * For every step that the map shows and that has tokens, in lengths beside its result NAME:
 *   NAME_length[t]       how long the vector of each token is: all its numbers there, of all heads
 *   NAME_change[t]       where the stream of tokens goes on (a block, a sum in it, the positions): the way of each one
 *                        in this step, as a share of its length before
 * where there is a reconstruction head (errors are mean squares of standardised values):
 *   guess.pixels[c,y,i,x,j]   the guess as colours, 0 … 255; absent where the input was ready values
 *   guess.error[p], guess.flat[p]   how far the guess of each patch is off, and how far 0, the mean colour, would be
 *   guess.hidden[p]      1 where the mask token stands for the patch, else 0; guess.hidden_count, and over hidden
 *                        patches alone guess.hidden_error_mean, guess.hidden_flat_mean (NaN where none is hidden).
 *                        Absent without a mask token
 * The components and ranks are made of the weights as they are when first asked for, without edits. */
#ifndef VITRINE_MODELS_PROBES_H
#define VITRINE_MODELS_PROBES_H
#include "core/graph/anatomy.h"
#include "core/models/family.h"
#include "core/models/seq2seq.h"
#include "core/models/vit.h"

/* Does the path lie among the analyses of a part? Those are left out of short names and completion. */
bool probes_is(const char *path);
bool probes_of_step(
    const char *path); /* among them, is it of what a step's tokens are like: NAME_length, NAME_change? */
/* Appends them to a graph that vit_build made from c and nodes, for one picture without a batch axis. Weights must
 * outlive the graph. A run of the graph that exists already needs run_extend. */
void probes_add(Graph *g, const VitConfig *c, const VitNodes *nodes);

/* Paths of a step's result's lengths and changes, NULL where it has none. */
enum { PROBES_PATH = 160 };
const char *probes_length(const Graph *g, const char *shown, char out[PROBES_PATH]);
const char *probes_change(const Graph *g, const char *shown, char out[PROBES_PATH]);
/* Appends how far each token is away, as a share of its length before: NAME_change[t] of `step`, the difference from
 * `before`, both of path's axes. NO_NODE where it has no tokens. */
NodeId probes_apart(Graph *g, const char *path, NodeId before, NodeId step);

/* Of A and B: along what tokens changed in different ways. Appends, in the pair's graph, of `change`, the difference of
 * two runs' tokens path[t,d], in PATH.changed: norm[t], component_K[p], direction_K[d], share_K, as in .alike. */
void probes_changed_add(Graph *g, const char *path, NodeId change);
/* Path of one of them, by its site (ALIKE_NORM, ALIKE_COMPONENT…, ALIKE_SHARE…); NULL where it was not appended. */
const char *probes_changed(const Graph *g, const char *path, Site what, char out[PROBES_PATH]);

/* Where the place of the object in the picture is known: object[patches] is 1 where a patch shows some of it, else 0
 * (copied). Behind probes_add:
 *   where.object[p], where.object_share   its share of the picture
 *   where.rollout_mass, where.mean_mass, where.head_mass[h]   how much of rollout.patches, where.attention_mean and
 *                        where.attention lies on the object's patches, of all that lies on patches */
void probes_object_add(Graph *g, const float *object);
/* Where it is known what the model learned from looks like to it. Behind probes_add, in seen.probe:
 *   mean[d], usual[d], centered[d]   the mean of the patches behind a block, what that is over the pictures that were
 *                        learned from, the difference
 *   away[k1], distance   the difference in the metric of the covariance over them, and its length
 *   limit                95 % of the held-out pictures are nearer than that */
void probes_seen_add(Graph *g, const ModelSeen *seen);
/* Behind gradients that were made with the prefix "grad.". For every block whose pattern they pass, in
 * blocks.N.attn.probe:
 *   gradient_through[h,t]  how much of the gradient a row's softmax lets through: ‖grad.scores_scaled‖ / ‖grad.pattern‖
 *                        over the row; NaN where no gradient comes. gradient_through_mean[h] its mean over the rows
 *                        that one comes to; gradient_through_head[h] both norms over all rows of a head as one, which
 *                        is no mean of the rows
 * and where they reach `image`:
 *   where.gradient_product[c,y,i,x,j]   gradient × input; where.gradient[p] its sum over each patch (Simonyan, Vedaldi
 *                        and Zisserman 2014; Shrikumar et al. 2016): how much of what is asked for the patch's values
 *                        speak for, if all were linear
 *   where.gradient_mass  how much of the positive part of where.gradient lies on the object's patches; only with
 *                        where.object */
void probes_gradient_add(Graph *g);

/* --- those of a text model, in the same way ---
 *
 * For every attention, in SCOPE.probe: entropy, entropy_share, largest, row_sum, score_variance, jacobian and their
 * means, heads_sum[t,u], mean_pattern[t,u], result[h,t,d].
 *
 * For every stack, in STACK.embed.alike and STACK.blocks.N.alike, and for every step of the map: as above.
 *
 * For every block of the decoder (of a model with that stack alone: of the encoder), in its .lens: logits[t,v] and
 * probs[t,v], what it would write if it ended there; in its .lens_mid logits[t,v] after its attention, before its MLP.
 * Absent where a stack ends with a norm of its own.
 *
 * Of a model that writes, for every token t1 of the target but the first:
 * surprise.nats[t1]     −log p of it in nats, p being what the row before it gives it, surprise.prob[t1];
 *                       surprise.total, surprise.mean over them, surprise.perplexity e to the mean
 *
 * rival.margin[t]       how far the largest logit of every row is above the second one, rival.second[t]
 *
 * For every stack whose positions are sinusoids, in STACK.pos.probe, with k0 places onward and i0 a pair of dimensions
 * (section 3.5 of Vaswani et al. 2017):
 *   frequency[i0]          ω = 1 / 10000^(2i/D), radians per place;  wavelength[i0]  2π/ω, in places
 *   rotation[k0,i0,c0,c1]  the 2 × 2 matrix that turns by k·ω
 *   carried[s,k0,i0,c0]    the rotation times PE(pos);  onward[s,k0,i0,c0]  PE(pos + k) itself
 *   residual[s,k0,i0,c0]   carried − onward;  residual_largest[s,k0]  the largest of its absolute values
 *   alike[s,k0]            PE(pos) · PE(pos + k): depends on k alone */

/* Appends them to a graph that seq2seq_build made of c; target: the text that is written, of a model that writes. */
void text_probes_add(Graph *g, const Seq2seqConfig *c, const Text *target);
/* Of sinusoids: which number of all waves in turn (sine and cosine of the first, of the second, …) a column is. */
int probes_wave(const Graph *g, int part, int column);
#endif
