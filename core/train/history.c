#include "core/train/history.h"

#include <stdlib.h>
#include <string.h>

#include "core/train/history_parts.h"

static const struct {
    const char *name, *what;
} FIGURES[HISTORY_FIXED] = {
#define X(symbol, name_, what_) [HISTORY_##symbol] = {name_, what_},
    HISTORY_FIGURES(X)
#undef X
};

const char *history_name(HistoryFigure f)
{
    return FIGURES[f].name;
}

const char *history_what(HistoryFigure f)
{
    return FIGURES[f].what;
}

void history_init(History *h, const VitConfig *c)
{
    *h = (History){.vit = *c};
}

void history_free(History *h)
{
    for (int i = 0; i < h->snapshot_count; i++) {
        free(h->snapshot[i].positions);
        free(h->snapshot[i].filters);
        free(h->snapshot[i].rows);
        free(h->snapshot[i].entropy);
    }
    free(h->snapshot);
    free(h->row);
    *h = (History){0};
}

size_t history_width(const History *h)
{
    return (size_t)HISTORY_FIXED + (size_t)h->vit.layers;
}

float *history_add(History *h)
{
    size_t width = history_width(h);
    h->row = grow(h->row, &h->row_cap, (size_t)h->row_count, width * sizeof *h->row);
    float *row = h->row + (size_t)h->row_count++ * width;
    memset(row, 0, width * sizeof *row);
    return row;
}

float history_at(const History *h, int row, HistoryFigure f)
{
    REQUIRE(row >= 0 && row < h->row_count);
    return h->row[(size_t)row * history_width(h) + (size_t)f];
}

float history_entropy(const History *h, int row, int layer)
{
    REQUIRE(row >= 0 && row < h->row_count && layer >= 0 && layer < h->vit.layers);
    return h->row[(size_t)row * history_width(h) + (size_t)HISTORY_FIXED + (size_t)layer];
}

SnapshotCells snapshot_cells(const VitConfig *c)
{
    size_t heads = size_mul((size_t)c->layers, (size_t)c->heads);
    return (SnapshotCells){
        .positions = vit_has(c, VIT_POS) ? vit_role_cells(c, VIT_POS) : 0,
        .filters = vit_role_cells(c, VIT_PATCH_W),
        .rows = size_mul(heads, (size_t)vit_tokens(c)),
        .entropy = heads,
    };
}

Snapshot *history_snap(History *h, int step)
{
    SnapshotCells cells = snapshot_cells(&h->vit);
    h->snapshot = grow(h->snapshot, &h->snapshot_cap, (size_t)h->snapshot_count, sizeof *h->snapshot);
    Snapshot *s = &h->snapshot[h->snapshot_count++];
    *s = (Snapshot){.step = step,
                    .filters = xcalloc(cells.filters, sizeof(float)),
                    .rows = xcalloc(cells.rows, sizeof(float)),
                    .entropy = xcalloc(cells.entropy, sizeof(float))};
    if (cells.positions)
        s->positions = xcalloc(cells.positions, sizeof(float));
    return s;
}

bool history_wants(int step, int steps)
{
    static const int early[] = {0, 25, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 1500, 2000, 4000};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++)
        if (step == early[i])
            return true;
    return step == steps;
}
