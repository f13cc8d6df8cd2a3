/* A history as a file. All snapshots lie in one tensor per kind, the snapshot's number is the first axis. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/train/history_parts.h"

static const char *const NAMES[] = {
    "rows", "snapshot.step", "snapshot.positions", "snapshot.filters", "snapshot.attention", "snapshot.entropy"};
enum { ROWS, STEP, POSITIONS, FILTERS, ATTENTION, ENTROPY };
_Static_assert(sizeof NAMES / sizeof *NAMES == HISTORY_TENSORS, "one name per tensor");

static size_t cells_of(const History *h, int kind)
{
    SnapshotCells n = snapshot_cells(h);
    const size_t cells[] = {
        [STEP] = 1, [POSITIONS] = n.positions, [FILTERS] = n.filters, [ATTENTION] = n.rows, [ENTROPY] = n.entropy};
    return cells[kind];
}

/* Where a snapshot keeps a kind; a pointer, so that reading and writing share it. */
static float *array_of(const Snapshot *s, int kind)
{
    float *const at[] = {
        [POSITIONS] = s->positions, [FILTERS] = s->filters, [ATTENTION] = s->rows, [ENTROPY] = s->entropy};
    return at[kind];
}

static const float *joined(const History *h, Arena *arena, int kind)
{
    size_t cells = cells_of(h, kind), count = (size_t)h->snapshot_count;
    float *all = arena_alloc(arena, size_mul(size_mul(count, cells), sizeof *all));
    for (size_t i = 0; i < count; i++) {
        if (kind == STEP)
            all[i] = (float)h->snapshot[i].step;
        else
            memcpy(all + i * cells, array_of(&h->snapshot[i], kind), cells * sizeof *all);
    }
    return all;
}

size_t history_tensors(const History *h, Arena *arena, TensorOut out[HISTORY_TENSORS])
{
    static const float none = 0; /* before the first row there is nothing to point at */
    size_t n = 0;
    out[n++] = (TensorOut){.name = NAMES[ROWS],
                           .rank = 2,
                           .shape = {(size_t)h->row_count, history_width(h)},
                           .data = h->row ? h->row : &none};
    for (int kind = STEP; kind < HISTORY_TENSORS; kind++)
        if (cells_of(h, kind))
            out[n++] = (TensorOut){.name = NAMES[kind],
                                   .rank = 2,
                                   .shape = {(size_t)h->snapshot_count, cells_of(h, kind)},
                                   .data = joined(h, arena, kind)};
    return n;
}

bool history_write(const History *h, const char *path, Err *err)
{
    TensorOut out[HISTORY_TENSORS];
    Arena arena = {0};
    size_t n = history_tensors(h, &arena, out);
    bool ok = tensors_write(path, TF_SAFETENSORS, out, n, NULL, err);
    arena_free(&arena);
    return ok;
}

/* A tensor of rank 2 whose rows are `width` wide, or NULL with err. */
static const TensorInfo *find(const TensorFile *f, const char *name, size_t width, Err *err)
{
    const TensorInfo *t = tensors_find(f, name);
    if (t && t->rank == 2 && t->shape[1] == width && t->shape[0] <= INT_MAX)
        return t;
    err_set(err,
            "%s: is no history of this model: '%s' must have rows of %zu. Train it again, or take the history away.",
            f->path, name, width);
    return NULL;
}

/* Its cells, or NULL with err. */
static float *take(const TensorFile *f, const char *name, size_t width, size_t *rows, Err *err)
{
    const TensorInfo *t = find(f, name, width, err);
    if (!t)
        return NULL;
    float *cells = xfloats(t->cells);
    if (!tensors_read_f32(f, t, cells, err)) {
        free(cells);
        return NULL;
    }
    *rows = t->shape[0];
    return cells;
}

static bool is_step(float x)
{
    return x >= 0 && x < 1e9f; /* false for what is not a number */
}

/* As many snapshots of every kind, before room is made for as many as one kind claims. */
static bool same_counts(const History *h, const TensorFile *f, Err *err)
{
    const TensorInfo *step = find(f, NAMES[STEP], 1, err);
    for (int kind = POSITIONS; step && kind < HISTORY_TENSORS; kind++) {
        size_t cells = cells_of(h, kind);
        const TensorInfo *t = cells ? find(f, NAMES[kind], cells, err) : step;
        if (!t)
            return false;
        if (t->shape[0] != step->shape[0])
            return err_set(err, "%s: has %zu snapshots of one kind and %zu of another: it is damaged. Train again.",
                           f->path, step->shape[0], t->shape[0]);
    }
    return step != NULL;
}

static bool take_snapshots(History *h, const TensorFile *f, Err *err)
{
    size_t count, rows;
    float *step = same_counts(h, f, err) ? take(f, NAMES[STEP], 1, &count, err) : NULL;
    if (!step)
        return false;
    for (size_t i = 0; i < count; i++)
        history_snap(h, is_step(step[i]) ? (int)step[i] : 0);
    free(step);
    for (int kind = POSITIONS; kind < HISTORY_TENSORS; kind++) {
        size_t cells = cells_of(h, kind);
        if (!cells)
            continue;
        float *all = take(f, NAMES[kind], cells, &rows, err);
        if (!all)
            return false;
        for (size_t i = 0; i < count; i++)
            memcpy(array_of(&h->snapshot[i], kind), all + i * cells, cells * sizeof *all);
        free(all);
    }
    return true;
}

static bool take_rows(History *h, const TensorFile *f, Err *err)
{
    size_t rows, width = history_width(h);
    float *row = take(f, NAMES[ROWS], width, &rows, err);
    bool ok = row != NULL;
    for (size_t i = 0; ok && i < rows; i++) {
        memcpy(history_add(h), row + i * width, width * sizeof *row);
        if (!is_step(row[i * width + HISTORY_STEP]))
            ok = err_set(err, "%s: row %zu has no step: it is damaged. Train again.", f->path, i);
    }
    free(row);
    return ok;
}

bool history_take(History *out, const TensorFile *f, Err *err)
{
    History h = *out;
    REQUIRE(!h.row_count && !h.snapshot_count);
    bool ok = take_rows(&h, f, err) && take_snapshots(&h, f, err);
    if (!ok)
        history_free(&h);
    else
        *out = h;
    return ok;
}

bool history_fill(History *h, const char *path, Err *err)
{
    TensorFile f;
    if (!tensors_open(&f, path, err))
        return false;
    bool ok = history_take(h, &f, err);
    tensors_close(&f);
    return ok;
}

bool history_fill_bytes(History *h, const char *name, const void *bytes, size_t n, Err *err)
{
    TensorFile f;
    if (!tensors_open_bytes(&f, name, bytes, n, err))
        return false;
    bool ok = history_take(h, &f, err);
    tensors_close(&f);
    return ok;
}

bool history_read(History *h, const VitConfig *c, const char *path, Err *err)
{
    History new;
    history_init(&new, c);
    bool ok = history_fill(&new, path, err);
    if (ok)
        *h = new;
    return ok;
}

bool history_decode(History *h, const VitConfig *c, const char *name, const void *bytes, size_t n, Err *err)
{
    History new;
    history_init(&new, c);
    bool ok = history_fill_bytes(&new, name, bytes, n, err);
    if (ok)
        *h = new;
    return ok;
}
