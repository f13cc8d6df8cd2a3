/* What a decoder's texts say: how much they surprise it with each factor on the scale, or without each head, window
 * after window. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/screens/heads.h"

const char *measures_windows_why(const Session *s)
{
    return *s->texts ? NULL : "no text to measure on: open the model with --text FILE";
}

const char *session_texts(const Session *s)
{
    return s->texts_said ? "your text" : "held.txt";
}

Dataset *measures_windows(const Session *s, size_t count, Err *err)
{
    return dataset_texts(s->now->model, s->texts, count, err);
}

/* Of the scale the factor 1 changes nothing: the cell that is the base. −1: of heads none is. */
static int base_cell(const Measure *m)
{
    return m->rows == 1 && m->cols == MEASURES_FACTORS && !m->heads ? MEASURES_FACTORS / 2 : -1;
}

/* What is taken away at number k: the other cells in their order. */
static int cell_of(const Measure *m, int k)
{
    const int base = base_cell(m);
    return base < 0 || k < base ? k : k + 1;
}

static void shape(const Session *s, MeasureKind kind, Measure *m)
{
    m->heads = kind == MEASURE_CENSUS;
    m->rows = m->heads ? head_words_rows(s) : 1;
    m->cols = m->heads ? session_heads(s) : MEASURES_FACTORS;
    m->base = NAN;
    m->answer = -1;
}

static Ablation taken(const Session *s, const Measure *m, int cell)
{
    return m->heads ? (Ablation){.kind = ABLATION_HEAD, .layer = cell / m->cols, .head = cell % m->cols}
                    : (Ablation){.kind = ABLATION_SCALE, .factor = measures_factor(s, cell)};
}

void measures_surprise_begin(const Session *s, MeasureKind kind, Measuring *w)
{
    Measure *m = &w->measure;
    Err err = {{0}};
    shape(s, kind, m);
    const int cells = m->rows * m->cols, count = cells - (base_cell(m) >= 0);
    Ablation *without = xcalloc((size_t)cells, sizeof *without);
    m->value = xcalloc((size_t)cells, sizeof *m->value);
    m->nats = xcalloc((size_t)cells, sizeof *m->nats);
    m->more = xcalloc((size_t)cells, sizeof *m->more);
    for (int i = 0; i < cells; i++)
        m->value[i] = NAN;
    for (int k = 0; k < count; k++)
        without[k] = taken(s, m, cell_of(m, k));
    w->dataset = measures_windows(s, MEASURES_WINDOWS, &err);
    if (w->dataset)
        w->surprise = surprise_new(s->now->model, w->dataset, without, count, s->pool);
    else
        snprintf(w->problem, sizeof w->problem, "%s", err.text);
    free(without);
}

static void publish(Measuring *w)
{
    Measure *m = &w->measure;
    const int cells = m->rows * m->cols, base = base_cell(m);
    m->pictures = surprise_windows(w->surprise);
    m->tokens = surprise_tokens(w->surprise);
    m->base_nats = surprise_trained(w->surprise);
    if (base >= 0)
        m->nats[base] = m->base_nats;
    for (int k = 0; k < cells - (base >= 0); k++) {
        m->nats[cell_of(m, k)] = surprise_without(w->surprise, k);
        m->more[cell_of(m, k)] = surprise_difference(w->surprise, k);
    }
    for (int i = 0; i < cells; i++)
        m->value[i] = (float)m->nats[i].mean;
    m->base = (float)m->base_nats.mean;
    m->whole = true;
    if (isnan(m->base))
        snprintf(w->problem, sizeof w->problem, "the logits are no numbers: there is no surprise");
}

bool measures_surprise_step(Measuring *w, int64_t deadline_ns)
{
    if (!w->surprise)
        return true;
    const bool done = surprise_step(w->surprise, deadline_ns);
    w->measure.done = surprise_done(w->surprise);
    w->measure.total = surprise_total(w->surprise);
    if (surprise_windows(w->surprise) > w->measure.pictures)
        publish(w);
    return done;
}
