/* What is kept of a training run besides the weights: a row of figures every so many steps, and snapshots of what can
 * be looked at, close together at the beginning, where the structure is born. */
#ifndef VITRINE_TRAIN_HISTORY_H
#define VITRINE_TRAIN_HISTORY_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/err.h"
#include "core/io/tensors.h"
#include "core/models/seq2seq.h"
#include "core/models/vit.h"

/* The figures of one row, besides the entropies. */
typedef enum HistoryFigure {
    HISTORY_STEP,     /* steps done */
    HISTORY_LOSS,     /* cross entropy of the step's unmasked pictures; per word, smoothed answers */
    HISTORY_ACCURACY, /* share of the step's unmasked pictures named right; of its words that came first */
    HISTORY_GUESS,    /* mean squared error of the guessed patches; −1: none were hidden */
    HISTORY_GRADIENT, /* norm of all gradients together, before clipping */
    HISTORY_RATE,     /* learning rate */
    HISTORY_CHECK, /* accuracy on pictures that are not learnt from, sentences without a fault; −1: not measured here */
    HISTORY_FIXED
} HistoryFigure;

/* One look into the model while it learns. Of a text model it is `rows` and `entropy` alone. */
typedef struct Snapshot {
    int step;
    float *positions; /* [rows of the position table, d]; NULL without positions */
    float *filters;   /* [d,c,i,j] */
    float *rows;    /* [layers, h, u]: attention of token 0 on the first check picture. Of a text model every pattern of
                       the first of the minimal pairs, its translation given: attention by attention [h, queries, keys];
                       of a decoder alone of a held-out text */
    float *entropy; /* [layers, h]: entropy of a row of attention divided by log(tokens), mean over the rows of that
                       picture; [attentions, h] of that sentence, its rows' tokens being those that may be looked at */
} Snapshot;

enum { HISTORY_WORDS = 24 };

/* What a text model's history is of; all 0 for a picture model. Attentions in the order of computing: the encoder's,
 * then of every block of the decoder self-attention and cross-attention; of a decoder alone a block's one. */
typedef struct HistoryText {
    int encoder_layers, decoder_layers, heads;
    int source, target; /* tokens of the sentence that snapshots are of, with its end, and its start; of a decoder alone
                           the target's are all, HISTORY_WORDS or as many as it reads */
    int word[HISTORY_WORDS]; /* …and their numbers; else not set */
} HistoryText;
/* Which text has the queries of an attention of it, and which the keys. */
Seq2seqTexts history_texts(const HistoryText *t, int attention);

typedef struct History {
    VitConfig vit;    /* of a picture model, else zeroed */
    HistoryText text; /* of a text model, else zeroed */
    int row_count, snapshot_count;
    float *row; /* [row_count, HISTORY_FIXED + lines]: the figures, then each block's (of a text model each attention's)
                   mean entropy divided by log(tokens) */
    Snapshot *snapshot;
    size_t row_cap, snapshot_cap;
} History;

void history_init(History *h, const VitConfig *c);
void history_init_text(History *h, const Seq2seqConfig *c, int source, int target); /* source 0: none */
void history_free(History *h);                                                      /* zeroed allowed */
size_t history_width(const History *h);
float *history_add(History *h); /* a new row, zeroed */
/* …with these figures; where its entropies, history_lines of them, belong. */
float *history_note(History *h, const double figures[HISTORY_FIXED]);
float history_at(const History *h, int row, HistoryFigure f);
int history_lines(const History *h); /* entropies of a row: blocks, or attentions of a text model */
float history_entropy(const History *h, int row, int line);
/* Mean over the rows of pattern[rows, keys] of their entropy divided by log(keys): 0 where one gets everything, 1 where
 * all get the same. causal: row i is one over i + 1 keys. A row over one key says nothing; 0 where all are so. */
double history_mean_entropy(const float *pattern, size_t rows, int keys, bool causal);
/* Of a text model: a head's pattern in a snapshot, [queries, keys]. */
const float *history_pattern(const History *h, int snapshot, int attention, int head, int *queries, int *keys);
Snapshot *history_snap(History *h, int step); /* a new snapshot with room for all arrays */
/* Steps at which a run of `steps` is looked at: 0, 25, 50, 100 … and the end. */
bool history_wants(int step, int steps);

/* A safetensors file. Reading checks every shape against c. */
bool history_write(const History *h, const char *path, Err *err);
/* Into h, which was initialised and is empty; on failure it stays so. */
bool history_fill(History *h, const char *path, Err *err);
bool history_fill_bytes(History *h, const char *name, const void *bytes, size_t n, Err *err);

/* --- inside core/train only --- */

/* How many cells each array of a snapshot has. */
typedef struct SnapshotCells {
    size_t positions, filters, rows, entropy;
} SnapshotCells;

/* The history as tensors, ready to be written; what they point at lives in `arena` and in h. */
enum { HISTORY_TENSORS = 7 };
size_t history_tensors(const History *h, Arena *arena, TensorOut out[HISTORY_TENSORS]);
/* From an open file into h, which was initialised and is empty; on failure it stays so. */
bool history_take(History *h, const TensorFile *f, Err *err);
#endif
