#include "core/train/history.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/train/history_parts.h"
#include "core/train/sentences.h"

void history_init(History *h, const VitConfig *c)
{
    *h = (History){.vit = *c};
}

void history_init_text(History *h, const Seq2seqConfig *c)
{
    Sentence pair[2];
    sentence_pair(0, pair);
    REQUIRE(c->form == SEQ2SEQ_BOTH);
    *h = (History){.text = {.encoder_layers = c->encoder_layers,
                            .decoder_layers = c->decoder_layers,
                            .heads = c->heads,
                            .source = pair[0].en_n + 1,
                            .target = pair[0].fr_n + 1}};
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

int history_lines(const History *h)
{
    return h->text.heads ? h->text.encoder_layers + 2 * h->text.decoder_layers : h->vit.layers;
}

size_t history_width(const History *h)
{
    return (size_t)HISTORY_FIXED + (size_t)history_lines(h);
}

float *history_add(History *h)
{
    size_t width = history_width(h);
    h->row = grow(h->row, &h->row_cap, (size_t)h->row_count, width * sizeof *h->row);
    float *row = h->row + (size_t)h->row_count++ * width;
    memset(row, 0, width * sizeof *row);
    return row;
}

float *history_note(History *h, const double figures[HISTORY_FIXED])
{
    float *to = history_add(h);
    for (int i = 0; i < HISTORY_FIXED; i++)
        to[i] = (float)figures[i];
    return to + HISTORY_FIXED;
}

float history_at(const History *h, int row, HistoryFigure f)
{
    REQUIRE(row >= 0 && row < h->row_count);
    return h->row[(size_t)row * history_width(h) + (size_t)f];
}

float history_entropy(const History *h, int row, int line)
{
    REQUIRE(row >= 0 && row < h->row_count && line >= 0 && line < history_lines(h));
    return h->row[(size_t)row * history_width(h) + (size_t)HISTORY_FIXED + (size_t)line];
}

double history_row_entropy(const float *p, int n)
{
    double sum = 0;
    for (int u = 0; u < n; u++)
        if (p[u] > 1e-30f)
            sum -= (double)p[u] * dm_log((double)p[u]);
    return n > 1 ? sum / dm_log(n) : 0;
}

/* Tokens that ask and that are looked at in an attention. */
static void pattern_shape(const HistoryText *t, int attention, size_t *asks, size_t *keys)
{
    Seq2seqTexts texts = seq2seq_attention_texts(t->encoder_layers, attention);
    *asks = (size_t)(texts.target_queries ? t->target : t->source);
    *keys = (size_t)(texts.target_keys ? t->target : t->source);
}

/* Cells of all attentions before that one. */
static size_t pattern_start(const HistoryText *t, int attention)
{
    size_t cells = 0, asks, keys;
    for (int a = 0; a < attention; a++) {
        pattern_shape(t, a, &asks, &keys);
        cells += size_mul(size_mul((size_t)t->heads, asks), keys);
    }
    return cells;
}

const float *history_pattern(const History *h, int snapshot, int attention, int head, int *asks, int *keys)
{
    const HistoryText *t = &h->text;
    size_t rows, cols;
    REQUIRE(snapshot >= 0 && snapshot < h->snapshot_count && head >= 0 && head < t->heads);
    REQUIRE(attention >= 0 && attention < history_lines(h));
    pattern_shape(t, attention, &rows, &cols);
    *asks = (int)rows;
    *keys = (int)cols;
    return h->snapshot[snapshot].rows + pattern_start(t, attention) + (size_t)head * rows * cols;
}

SnapshotCells snapshot_cells(const History *h)
{
    const VitConfig *c = &h->vit;
    int lines = history_lines(h);
    if (h->text.heads)
        return (SnapshotCells){.rows = pattern_start(&h->text, lines),
                               .entropy = size_mul((size_t)lines, (size_t)h->text.heads)};
    if (!c->layers) /* of another family: rows alone */
        return (SnapshotCells){.rows = 0};
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
    SnapshotCells cells = snapshot_cells(h);
    h->snapshot = grow(h->snapshot, &h->snapshot_cap, (size_t)h->snapshot_count, sizeof *h->snapshot);
    Snapshot *s = &h->snapshot[h->snapshot_count++];
    *s = (Snapshot){.step = step,
                    .rows = xcalloc(cells.rows, sizeof(float)),
                    .entropy = xcalloc(cells.entropy, sizeof(float))};
    if (cells.positions)
        s->positions = xcalloc(cells.positions, sizeof(float));
    if (cells.filters)
        s->filters = xcalloc(cells.filters, sizeof(float));
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
