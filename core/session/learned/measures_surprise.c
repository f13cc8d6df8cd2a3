/* What a decoder's texts say: how much they surprise it with each factor on the scale, window after window. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/mem.h"
#include "core/session/learned/measures_parts.h"

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

/* The factors but 1 in their order: number k of them is cell k, or the one behind. */
static int cell_of(int k)
{
    return k < MEASURES_FACTORS / 2 ? k : k + 1;
}

void measures_surprise_begin(const Session *s, Measuring *w)
{
    Measure *m = &w->measure;
    Ablation without[MEASURES_FACTORS - 1];
    Err err = {{0}};
    m->rows = 1;
    m->cols = MEASURES_FACTORS;
    m->value = xcalloc(MEASURES_FACTORS, sizeof *m->value);
    m->nats = xcalloc(MEASURES_FACTORS, sizeof *m->nats);
    m->more = xcalloc(MEASURES_FACTORS, sizeof *m->more);
    m->base = NAN;
    m->answer = -1;
    for (int i = 0; i < MEASURES_FACTORS; i++)
        m->value[i] = NAN;
    for (int k = 0; k < MEASURES_FACTORS - 1; k++)
        without[k] = (Ablation){.kind = ABLATION_SCALE, .factor = measures_factor(s, cell_of(k))};
    w->dataset = measures_windows(s, MEASURES_WINDOWS, &err);
    if (w->dataset)
        w->surprise = surprise_new(s->now->model, w->dataset, without, MEASURES_FACTORS - 1, s->pool);
    else
        snprintf(w->problem, sizeof w->problem, "%s", err.text);
}

static void publish(Measuring *w)
{
    Measure *m = &w->measure;
    m->pictures = surprise_windows(w->surprise);
    m->tokens = surprise_tokens(w->surprise);
    m->nats[MEASURES_FACTORS / 2] = m->base_nats = surprise_trained(w->surprise);
    for (int k = 0; k < MEASURES_FACTORS - 1; k++) {
        m->nats[cell_of(k)] = surprise_without(w->surprise, k);
        m->more[cell_of(k)] = surprise_difference(w->surprise, k);
    }
    for (int i = 0; i < MEASURES_FACTORS; i++)
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
