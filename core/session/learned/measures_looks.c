/* Where every head looks, over the pictures that the model never learned from. */
#include <math.h>
#include <stdio.h>

#include "core/base/mem.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/screens/heads.h"

void measures_looks_begin(Session *s, Measuring *w)
{
    Measure *m = &w->measure;
    Err err = {{0}};
    m->rows = head_words_rows(s);
    m->cols = session_heads(s);
    m->base = NAN;
    m->answer = -1;
    size_t cells = size_mul((size_t)m->rows, (size_t)m->cols);
    m->value = xcalloc(cells, sizeof *m->value);
    for (size_t i = 0; i < cells; i++)
        m->value[i] = NAN;
    if (session_kinds_apply(s)) {
        m->pictures = m->total = HEAD_KINDS_TEXTS;
        w->kinds = head_kinds_new(s->now->model, HEAD_KINDS_TEXTS, s->pool, &err);
        if (!w->kinds)
            snprintf(w->problem, sizeof w->problem, "%s", err.text);
        return;
    }
    if (model_way(s->now->model)) {
        m->pictures = m->total = MEASURES_ROUND;
        w->words = word_places_new(s->now->model, session_base(s), MEASURES_ROUND, s->pool, &err);
        if (!w->words)
            snprintf(w->problem, sizeof w->problem, "%s", err.text);
        return;
    }
    w->dataset = measures_dataset(s, 0, MEASURES_ROUND);
    m->pictures = m->total = dataset_count(w->dataset);
    w->places = head_places_new(&s->model, session_base(s), w->dataset, s->pool, &err);
    if (!w->places)
        snprintf(w->problem, sizeof w->problem, "%s", err.text);
}

static bool words_step(Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    bool done = word_places_step(w->words, deadline_ns);
    m->done = word_places_done(w->words);
    const WordPlacesResult *r = word_places_result(w->words);
    for (int i = 0; r && i < m->rows * m->cols; i++)
        m->value[i] = (float)r->distance[i].mean;
    return done;
}

static bool kinds_step(Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    bool done = head_kinds_step(w->kinds, deadline_ns);
    m->done = head_kinds_done(w->kinds);
    const HeadKindsResult *r = head_kinds_result(w->kinds);
    for (int i = 0; r && i < m->rows * m->cols; i++)
        m->value[i] = (float)r->share[i][HEAD_INDUCTION].mean;
    return done;
}

bool measures_looks_step(Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    if (w->kinds)
        return kinds_step(w, deadline_ns);
    if (w->words)
        return words_step(w, deadline_ns);
    if (!w->places)
        return true;
    bool done = head_places_step(w->places, deadline_ns);
    m->done = head_places_pictures_done(w->places);
    const HeadPlacesResult *r = head_places_result(w->places);
    for (int i = 0; r && i < m->rows * m->cols; i++)
        m->value[i] = (float)r->distance[i].mean;
    if (r)
        m->base = (float)r->uniform;
    return done;
}

const HeadPlacesResult *session_head_places(const Session *s)
{
    const Measuring *w = s->measures ? &s->measures->work[MEASURE_LOOKS] : NULL;
    return w && w->places ? head_places_result(w->places) : NULL;
}

const HeadKindsResult *session_head_kinds(const Session *s)
{
    const Measuring *w = s->measures ? &s->measures->work[MEASURE_LOOKS] : NULL;
    return w && w->kinds ? head_kinds_result(w->kinds) : NULL;
}

const WordPlacesResult *session_word_places(const Session *s)
{
    const Measuring *w = s->measures ? &s->measures->work[MEASURE_LOOKS] : NULL;
    return w && w->words ? word_places_result(w->words) : NULL;
}
