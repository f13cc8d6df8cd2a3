#include "core/train/history.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"

void history_init(History *h, const VitConfig *c)
{
    *h = (History){.vit = *c};
}

void history_init_text(History *h, const Seq2seqConfig *c, int source, int target)
{
    *h = (History){.text = {.encoder_layers = c->encoder_layers,
                            .decoder_layers = c->decoder_layers,
                            .heads = c->heads,
                            .source = source,
                            .target = target}};
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
    const HistoryText *t = &h->text;
    return !t->heads ? h->vit.layers : t->source ? t->encoder_layers + 2 * t->decoder_layers : t->decoder_layers;
}

Seq2seqTexts history_texts(const HistoryText *t, int attention)
{
    return t->source ? seq2seq_attention_texts(t->encoder_layers, attention) : (Seq2seqTexts){true, true};
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

/* Entropy of p[n], which add up to 1, divided by log(n). */
static double row_entropy(const float *p, int n)
{
    double sum = 0;
    for (int u = 0; u < n; u++)
        if (p[u] > 1e-30f)
            sum -= (double)p[u] * dm_log((double)p[u]);
    return n > 1 ? sum / dm_log(n) : 0;
}

double history_mean_entropy(const float *pattern, size_t rows, int keys, bool causal)
{
    double sum = 0;
    size_t counted = 0;
    for (size_t i = 0; i < rows; i++) {
        int open_to = causal ? (int)i + 1 : keys;
        if (open_to < 2)
            continue;
        sum += row_entropy(pattern + i * (size_t)keys, open_to);
        counted++;
    }
    return counted ? sum / (double)counted : 0;
}

/* How many queries and keys an attention has. */
static void pattern_shape(const HistoryText *t, int attention, size_t *queries, size_t *keys)
{
    Seq2seqTexts texts = history_texts(t, attention);
    *queries = (size_t)(texts.target_queries ? t->target : t->source);
    *keys = (size_t)(texts.target_keys ? t->target : t->source);
}

/* Cells of all attentions before that one. */
static size_t pattern_start(const HistoryText *t, int attention)
{
    size_t cells = 0, queries, keys;
    for (int a = 0; a < attention; a++) {
        pattern_shape(t, a, &queries, &keys);
        cells += size_mul(size_mul((size_t)t->heads, queries), keys);
    }
    return cells;
}

const float *history_pattern(const History *h, int snapshot, int attention, int head, int *queries, int *keys)
{
    const HistoryText *t = &h->text;
    size_t rows, cols;
    REQUIRE(snapshot >= 0 && snapshot < h->snapshot_count && head >= 0 && head < t->heads);
    REQUIRE(attention >= 0 && attention < history_lines(h));
    pattern_shape(t, attention, &rows, &cols);
    *queries = (int)rows;
    *keys = (int)cols;
    return h->snapshot[snapshot].rows + pattern_start(t, attention) + (size_t)head * rows * cols;
}

static SnapshotCells snapshot_cells(const History *h)
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

/* A history as a file. All snapshots lie in one tensor per kind, the snapshot's number is the first axis. */

static const char *const NAMES[] = {
    "rows", "snapshot.step", "snapshot.positions", "snapshot.filters", "snapshot.attention", "snapshot.entropy",
    "words"};
enum { ROWS, STEP, POSITIONS, FILTERS, ATTENTION, ENTROPY, WORDS };
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

/* Of a decoder alone? It keeps the words that its snapshots are of. */
static bool alone(const History *h)
{
    return h->text.heads && !h->text.source;
}

size_t history_tensors(const History *h, Arena *arena, TensorOut out[HISTORY_TENSORS])
{
    static const float none = 0; /* before the first row there is nothing to point at */
    size_t n = 0;
    out[n++] = (TensorOut){.name = NAMES[ROWS],
                           .rank = 2,
                           .shape = {(size_t)h->row_count, history_width(h)},
                           .data = h->row ? h->row : &none};
    for (int kind = STEP; kind < WORDS; kind++)
        if (cells_of(h, kind))
            out[n++] = (TensorOut){.name = NAMES[kind],
                                   .rank = 2,
                                   .shape = {(size_t)h->snapshot_count, cells_of(h, kind)},
                                   .data = joined(h, arena, kind)};
    if (alone(h)) {
        float *word = arena_alloc(arena, size_mul((size_t)h->text.target, sizeof *word));
        for (int i = 0; i < h->text.target; i++)
            word[i] = (float)h->text.word[i];
        out[n++] = (TensorOut){.name = NAMES[WORDS], .rank = 2, .shape = {1, (size_t)h->text.target}, .data = word};
    }
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
    for (int kind = POSITIONS; step && kind < WORDS; kind++) {
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
    for (int kind = POSITIONS; kind < WORDS; kind++) {
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

static bool take_words(History *h, const TensorFile *f, Err *err)
{
    size_t rows;
    float *word = alone(h) ? take(f, NAMES[WORDS], (size_t)h->text.target, &rows, err) : NULL;
    bool ok = !alone(h) || word;
    for (int i = 0; ok && word && i < h->text.target; i++) {
        if (!rows || !is_step(word[i]))
            ok = err_set(err, "%s: word %d of its text is none: it is damaged. Train again.", f->path, i);
        else
            h->text.word[i] = (int)word[i];
    }
    free(word);
    return ok;
}

bool history_take(History *out, const TensorFile *f, Err *err)
{
    History h = *out;
    REQUIRE(!h.row_count && !h.snapshot_count);
    bool ok = take_rows(&h, f, err) && take_snapshots(&h, f, err) && take_words(&h, f, err);
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
