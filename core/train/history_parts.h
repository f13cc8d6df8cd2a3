/* Shared by the files that keep a history. Internal to core/train. */
#ifndef VITRINE_TRAIN_HISTORY_PARTS_H
#define VITRINE_TRAIN_HISTORY_PARTS_H
#include "core/io/tensors.h"
#include "core/train/history.h"

/* How many cells each array of a snapshot has. */
typedef struct SnapshotCells {
    size_t positions, filters, rows, entropy;
} SnapshotCells;
SnapshotCells snapshot_cells(const History *h);

/* The history as tensors, ready to be written; what they point at lives in `arena` and in h. */
enum { HISTORY_TENSORS = 6 };
size_t history_tensors(const History *h, Arena *arena, TensorOut out[HISTORY_TENSORS]);
/* From an open file into h, which was initialised and is empty; on failure it stays so. */
bool history_take(History *h, const TensorFile *f, Err *err);
#endif
