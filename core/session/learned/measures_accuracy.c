/* Head census, factors on the scale, the two read-outs: one examination after another over the same pictures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/eval/ablation.h"
#include "core/session/learned/measures.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/screens/heads.h"

static void shape(const Session *s, MeasureKind kind, Measure *m)
{
    m->rows = kind == MEASURE_CENSUS ? head_words_rows(s) : 1;
    m->cols = kind == MEASURE_CENSUS ? session_heads(s) : kind == MEASURE_SCALE ? (int)MEASURES_FACTORS : 2;
}

/* Examinations that have to be held: the base, and each cell that is not the base itself. */
static size_t exams_of(MeasureKind kind, const Measure *m)
{
    size_t cells = (size_t)m->rows * (size_t)m->cols;
    return kind == MEASURE_READOUT ? 1 : kind == MEASURE_SCALE ? cells : cells + 1;
}

static void publish(Measuring *w, int cell)
{
    Measure *m = &w->measure;
    m->right[cell] = w->right[cell];
    m->pair[cell] = w->pair[cell];
    m->value[cell] = (float)((double)w->right[cell] / (double)m->pictures);
}

/* Nobody waits for more than a round; from the second one on all cells stay over the same pictures. */
static void put_cell(Measuring *w, int cell, size_t right, Paired pair)
{
    w->right[cell] += right;
    w->pair[cell].lost += pair.lost;
    w->pair[cell].won += pair.won;
    w->pair[cell].n += pair.n;
    if (w->round == 0)
        publish(w, cell);
}

static void put_base(Measuring *w)
{
    w->measure.base_right = w->base_right;
    w->measure.base = (float)((double)w->base_right / (double)w->measure.pictures);
}

static void take_shipped(const Session *s, MeasureKind kind, Measuring *w)
{
    Measure *m = &w->measure;
    FigureKind figure = kind == MEASURE_CENSUS ? FIGURE_HEAD : FIGURE_FACTOR;
    const int other = readout_used(s->now->model) == READOUT_CLASS_TOKEN; /* the column of the one that is not used */
    w->base_right = session_figure(s, FIGURE_TRAINED, 0).right;
    put_base(w);
    for (int i = 0; i < m->rows * m->cols; i++) {
        Figure f = session_figure(s,
                                  kind != MEASURE_READOUT ? figure
                                  : i == other            ? FIGURE_OTHER
                                                          : FIGURE_TRAINED,
                                  kind != MEASURE_READOUT ? i : 0);
        put_cell(w, i, f.right, f.pair);
    }
    m->done = m->total;
    w->finished = m->whole = true;
}

void measures_accuracy_begin(Session *s, MeasureKind kind, Measuring *w)
{
    Measure *m = &w->measure;
    bool shipped = session_figures_known(s); /* nobody waits for figures that are known */
    shape(s, kind, m);
    size_t cells = size_mul((size_t)m->rows, (size_t)m->cols);
    m->value = xcalloc(cells, sizeof *m->value);
    m->right = xcalloc(cells, sizeof *m->right);
    m->pair = xcalloc(cells, sizeof *m->pair);
    w->right = xcalloc(cells, sizeof *w->right);
    w->pair = xcalloc(cells, sizeof *w->pair);
    for (size_t i = 0; i < cells; i++)
        m->value[i] = NAN;
    m->base = NAN;
    m->answer = -1;
    m->pictures = shipped ? session_figures_over(s) : MEASURES_ROUND;
    m->total = size_mul(exams_of(kind, m), m->pictures);
    w->at = -1;
    if (shipped)
        take_shipped(s, kind, w);
}

/* More may be asked for later than was at first. */
bool measures_accuracy_complete(const Session *s, const Measure *m)
{
    return m->whole && m->pictures >= (size_t)s->look.pictures;
}

static void keep_result(const Session *s, MeasureKind kind, Measuring *w)
{
    const AccuracyResult *r = accuracy_result(w->exam);
    const AccuracyResult *base = w->base ? accuracy_result(w->base) : r;
    Paired pair = paired_count(r->label, base->named, r->named, r->pictures);
    if (w->at >= 0)
        put_cell(w, w->at, r->right, pair);
    else {
        w->base_right += r->right;
        if (w->round == 0)
            put_base(w);
    }
    if (kind == MEASURE_READOUT) {
        bool class_token = readout_used(s->now->model) == READOUT_CLASS_TOKEN;
        put_cell(w, class_token ? 0 : 1, r->right, pair);
        put_cell(w, class_token ? 1 : 0, r->other_right, paired_count(r->label, r->named, r->other_named, r->pictures));
    } else if (kind == MEASURE_SCALE && w->at < 0)
        put_cell(w, MEASURES_FACTORS / 2, r->right, pair); /* a factor of 1 changes nothing */
}

const char *measure_share_text(size_t right, size_t pictures, char *out, size_t n)
{
    Interval i = interval_wilson(right, pictures);
    utf8_print(out, n, "%.1f %% (%.1f–%.1f)", pictures ? 100 * (double)right / (double)pictures : 0, 100 * i.low,
               100 * i.high);
    return out;
}

bool measure_more_differs(const Measure *m, int i)
{
    return m->pictures > 1 && fabs(m->more[i].mean) > m->more[i].margin;
}

void measure_places(const Measure *m, int cell, int *first, int *last)
{
    int cells = m->rows * m->cols, count = 0, at = 0;
    Interval *of = xcalloc((size_t)cells, sizeof *of);
    for (int i = 0; i < cells; i++)
        if (!isnan(m->value[i])) {
            at = i == cell ? count : at;
            of[count++] = m->nats ? (Interval){m->more[i].mean - m->more[i].margin, m->more[i].mean + m->more[i].margin}
                                  : paired_interval(m->pair[i]);
        }
    interval_places(of, count, at, first, last);
    free(of);
}

/* All cells are over the pictures of one more round. */
static void end_round(Measuring *w)
{
    Measure *m = &w->measure;
    w->round++;
    m->whole = true;
    m->pictures = w->round * MEASURES_ROUND;
    for (int i = 0; i < m->rows * m->cols; i++)
        publish(w, i);
    put_base(w);
    accuracy_free(w->base);
    w->base = NULL;
    w->at = -1;
    dataset_free(w->dataset);
    w->dataset = NULL;
}

static Ablation removal_of(const Session *s, MeasureKind kind, int at)
{
    if (at < 0 || kind == MEASURE_READOUT)
        return (Ablation){.kind = ABLATION_NONE};
    if (kind == MEASURE_SCALE)
        return (Ablation){.kind = ABLATION_SCALE, .factor = measures_factor(s, at)};
    return (Ablation){.kind = ABLATION_HEAD, .layer = at / session_heads(s), .head = at % session_heads(s)};
}

/* The examination that removes `at` of a kind, −1: nothing. NULL and err on failure. */
static Accuracy *open_exam(const Session *s, MeasureKind kind, int at, Err *err)
{
    Arena arena = {0};
    Edits edits;
    if (!ablation_edits(&arena, session_base(s), removal_of(s, kind, at), &edits))
        UNREACHABLE("a head that the model has not");
    const AccuracySetup setup = {.model = s->now->model,
                                 .edits = edits.edit,
                                 .edit_count = edits.count,
                                 .graph = session_base(s),
                                 .dataset = s->measures->work[kind].dataset,
                                 .other = kind == MEASURE_READOUT,
                                 .pool = s->pool,
                                 .keeps = kind == MEASURE_CENSUS && at < 0,
                                 .front = kind == MEASURE_CENSUS && at >= 0 ? s->measures->work[kind].base : NULL};
    Accuracy *e = accuracy_new(&setup, err);
    arena_free(&arena);
    return e;
}

bool measures_accuracy_step(Session *s, MeasureKind kind, Measuring *w, int64_t deadline_ns)
{
    Measure *m = &w->measure;
    size_t exams = exams_of(kind, m);
    int cells = m->rows * m->cols;
    size_t rounds = ((size_t)s->look.pictures + MEASURES_ROUND - 1) / MEASURES_ROUND;
    m->total = exams * MEASURES_ROUND * (rounds > w->round ? rounds : w->round + 1);
    if (!w->dataset)
        w->dataset = measures_dataset(s, w->round * MEASURES_ROUND, MEASURES_ROUND);
    if (!w->exam) {
        Err err = {{0}};
        w->exam = open_exam(s, kind, w->at, &err);
        if (!w->exam) {
            snprintf(w->problem, sizeof w->problem, "%s", err.text);
            return true;
        }
    }
    bool done = accuracy_step(w->exam, deadline_ns);
    m->done = w->items_done + accuracy_pictures_done(w->exam);
    if (!done)
        return false;
    keep_result(s, kind, w);
    if (w->at < 0)
        w->base = w->exam; /* the others are paired with it */
    else
        accuracy_free(w->exam);
    w->exam = NULL;
    w->items_done += MEASURES_ROUND;
    w->at++;
    if (kind == MEASURE_SCALE && w->at == MEASURES_FACTORS / 2)
        w->at++;
    if (exams == 1 || w->at == cells)
        end_round(w);
    return measures_accuracy_complete(s, m);
}

bool session_shipped(const Session *s)
{
    return model_way(s->now->model) ? strcmp(s->now->model->layout, "bundled") == 0
                                    : !*s->model_path || session_photos(s);
}

bool session_figures_known(const Session *s)
{
    return !model_way(s->now->model) && session_shipped(s);
}

bool session_photos(const Session *s)
{
    return s->model.seen.mean != NULL;
}

Figure session_figure(const Session *s, FigureKind kind, int i)
{
    return session_photos(s) ? photos_figure(kind, i) : figures_get(kind, i);
}

bool session_lens_known(const Session *s, int blocks)
{
    if (!session_figures_known(s))
        return false;
    if (!session_photos(s))
        return blocks == FIGURES_BLOCKS;
    return photos_figure(FIGURE_LENS, blocks).pair.n && !photos_figure(FIGURE_LENS, blocks + 1).pair.n;
}

size_t session_figures_over(const Session *s)
{
    return session_photos(s) ? photos_pictures() : FIGURES_PICTURES;
}

bool session_sure_text(const Session *s, Side side, float probability, char out[SURE_TEXT])
{
    int bin = 0;
    char share[48];
    *out = '\0';
    if (!session_photos(s) || !session_as_trained(s, side) || !(probability >= 0))
        return false;
    while (probability < ACCURACY_SURE[bin])
        bin++;
    const AccuracySure a = photos_sure(bin);
    const double least = 100 * (double)ACCURACY_SURE[bin];
    if (!a.pictures)
        return false;
    measure_share_text(a.right, a.pictures, share, sizeof share);
    if (bin == 0)
        utf8_print(out, SURE_TEXT, "%s right of %zu named with at least %.0f %%", share, a.pictures, least);
    else if (bin == ACCURACY_SURES - 1)
        utf8_print(out, SURE_TEXT, "%s right of %zu named with less than %.0f %%", share, a.pictures,
                   100 * (double)ACCURACY_SURE[bin - 1]);
    else
        utf8_print(out, SURE_TEXT, "%s right of %zu named with %.0f to %.0f %%", share, a.pictures, least,
                   100 * (double)ACCURACY_SURE[bin - 1]);
    return true;
}
