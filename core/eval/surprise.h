/* How much texts surprise a decoder: −log p of every token that is asked for, in nats, given those before it in its
 * window (dataset_texts); as trained, and with one thing after the other taken away. The numbers are those of the
 * screen `stream`. Means and 95 % intervals are over windows, which all ask for as many tokens. */
#ifndef VITRINE_EVAL_SURPRISE_H
#define VITRINE_EVAL_SURPRISE_H
#include "core/base/interval.h"
#include "core/base/pool.h"
#include "core/eval/ablation.h"
#include "core/eval/dataset.h"
#include "core/models/model.h"

typedef struct Surprise Surprise;

/* model, dataset (of windows) and pool must outlive it. */
Surprise *surprise_new(const Model *model, const Dataset *dataset, const Ablation *without, int count, Pool *pool);
void surprise_free(Surprise *e);                      /* NULL is allowed */
bool surprise_step(Surprise *e, int64_t deadline_ns); /* true when done */
/* Passes, for progress. */
size_t surprise_done(const Surprise *e), surprise_total(const Surprise *e);
/* Over so many windows and tokens that are asked for, what was measured so far: of all that is taken away the same. */
size_t surprise_windows(const Surprise *e), surprise_tokens(const Surprise *e);
double surprise_bytes(const Surprise *e);            /* of text, of a token among those; 0: not known */
MeanOver surprise_trained(const Surprise *e);        /* nats a token; NaN where one is no number, or none was read */
MeanOver surprise_without(const Surprise *e, int i); /* the same without[i]; NaN too where the model has no such part */
MeanOver surprise_difference(const Surprise *e, int i); /* without[i] less as trained, over the same windows */

/* All that is asked of a decoder, in this order: the scale, then block by block its attention, its MLP, its heads.
 * Returns how many; out: room for them, or NULL. */
int surprise_parts(const Model *model, int *blocks, int *heads, Ablation *out);
#endif
