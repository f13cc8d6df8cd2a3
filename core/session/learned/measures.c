#include "core/base/utf8.h"
#include "core/session/learned/measures_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/assets.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/eval/ablation.h"
#include "core/io/json.h"
#include "core/models/text_model.h"
#include "core/session/ask/ledgers.h"
#include "core/session/edit/edits.h"
#include "core/session/learned/measures.h"
#include "core/session/screens.h"
#include "core/session/screens/confusion.h"
#include "core/session/screens/tokens.h"
#include "core/train/task.h"

enum { RECIPE_MAX = 1 << 20 };

struct Measures *measures_of(Session *s)
{
    if (!s->measures)
        s->measures = xcalloc(1, sizeof *s->measures);
    return s->measures;
}

/* --- records of training --- */

static void free_record(TrainingRecord *r)
{
    position_film_free(&r->film);
    history_free(&r->history);
    free(r->grid);
    *r = (TrainingRecord){.there = false};
}

static void read_grids(TrainingRecord *r)
{
    const History *h = &r->history;
    r->there = true;
    if (h->text.heads)
        return;
    position_film_init(&r->film, h);
    r->grid = xcalloc((size_t)h->snapshot_count + 1, sizeof *r->grid);
    for (int i = 0; i < h->snapshot_count; i++)
        if (!position_grid_figures(&h->vit, h->snapshot[i].positions, &r->grid[i])) {
            free(r->grid);
            r->grid = NULL;
            return;
        }
}

/* checked: what the recipe of the bundled model (and of its twin) says. */
static void read_asset(struct Measures *t, TrainingRecord *r, const History *empty, const char *name, int checked)
{
    const Asset *a = asset_find(name);
    Err err = {{0}};
    r->history = *empty;
    if (a && history_fill_bytes(&r->history, name, a->data, a->size, &err)) {
        read_grids(r);
        r->checked = (size_t)checked;
    } else if (a)
        utf8_print(t->problem, sizeof t->problem, "%s", err.text);
}

/* What a recipe.json beside a record says of the inputs that accuracies were measured on; 0: nothing. */
static size_t checked_of(const char *path)
{
    Err err = {{0}};
    double n = 0;
    Json *j = file_exists(path) ? json_read(path, RECIPE_MAX, &err) : NULL;
    if (j && (!json_number(json_get(j, "check"), &n) || !(n >= 1 && n <= 1e9)))
        n = 0;
    json_free(j);
    return (size_t)n;
}

/* The record of photos, and over how many its recipe says that accuracies were recorded. */
static void read_photos(struct Measures *t, const History *empty)
{
    const Asset *a = asset_find("photos-recipe.json");
    Json *j = a ? json_parse(a->name, (const char *)a->data, a->size, NULL) : NULL;
    double checked = 0;
    if (!json_number(json_get(j, "check"), &checked))
        checked = 0;
    json_free(j);
    read_asset(t, &t->own, empty, "photos-history.safetensors", (int)checked);
}

/* The first of the names that is there. */
static void read_beside(struct Measures *t, TrainingRecord *r, const History *empty, const char *model,
                        const char *const *names, int count)
{
    char path[1200];
    Err err = {{0}};
    const char *slash = strrchr(model, '/');
    int folder = file_is_dir(model) ? (int)strlen(model) : slash ? (int)(slash - model) : 0;
    for (int i = 0; i < count; i++) {
        utf8_print(path, sizeof path, "%.*s%s%s", folder, model, folder ? "/" : "", names[i]);
        if (!file_exists(path))
            continue;
        r->history = *empty;
        if (history_fill(&r->history, path, &err)) {
            read_grids(r);
            utf8_print(path, sizeof path, "%.*s%srecipe.json", folder, model, folder ? "/" : "");
            r->checked = checked_of(path);
        } else
            utf8_print(t->problem, sizeof t->problem, "%s", err.text);
        return;
    }
}

bool measures_history_read(const Session *s)
{
    return s->measures && s->measures->read;
}

void measures_read_history(Session *s)
{
    static const char *const OWN[] = {"history.safetensors"}, *const TWIN[] = {"history-twin.safetensors",
                                                                               "twin/history.safetensors"};
    struct Measures *t = measures_of(s);
    const TaskKind *task = session_task(s);
    History empty;
    if (t->read || !task || !task_makes(task, s->now->model))
        return;
    task->record(s->now->model, &empty);
    t->read = true;
    if (session_photos(s))
        read_photos(t, &empty);
    else if (session_shipped(s)) {
        read_asset(t, &t->own, &empty, task->history, task->recipe(0).check);
        if (task->twin)
            read_asset(t, &t->twin, &empty, task->twin, task->recipe(0).check);
    } else {
        read_beside(t, &t->own, &empty, s->model_path, OWN, 1);
        if (task->twin)
            read_beside(t, &t->twin, &empty, s->model_path, TWIN, 2);
    }
    const HistoryText *words = &t->own.history.text;
    if (t->own.there && words->heads)
        word_film_text(words, &s->now->model->target, &t->own.words);
    if (words->heads && !words->source) /* of a decoder every token of a stretch is an answer */
        t->own.checked *= (size_t)s->now->model->text.positions;
    s->changes++;
}

void measures_open_history(Session *s)
{
    bool read = session_history(s) != NULL;
    measures_read_history(s);
    if (!read && session_history(s))
        s->look.training.snapshot = session_history(s)->snapshot_count - 1;
}

size_t session_history_checked(const Session *s, bool twin)
{
    return !s->measures ? 0 : twin ? s->measures->twin.checked : s->measures->own.checked;
}

const History *session_history(const Session *s)
{
    return s->measures && s->measures->own.there ? &s->measures->own.history : NULL;
}

const History *session_history_twin(const Session *s)
{
    return s->measures && s->measures->twin.there ? &s->measures->twin.history : NULL;
}

const History *session_history_shown(const Session *s)
{
    const History *twin = s->look.training.twin ? session_history_twin(s) : NULL;
    return twin ? twin : session_history(s);
}

const PositionGrid *session_history_grid(const Session *s, bool twin, int snapshot)
{
    const TrainingRecord *r = !s->measures ? NULL : twin ? &s->measures->twin : &s->measures->own;
    return r && r->there && r->grid && snapshot >= 0 && snapshot < r->history.snapshot_count ? &r->grid[snapshot]
                                                                                             : NULL;
}

const PositionFilm *session_film(const Session *s, bool twin)
{
    const TrainingRecord *r = !s->measures ? NULL : twin ? &s->measures->twin : &s->measures->own;
    return r && r->there && r->film.frame ? &r->film : NULL;
}

/* The film of the run that is looked at, from the chosen snapshot outward. */
static bool step_film(Session *s, int64_t deadline_ns)
{
    PositionFilm *f = s->look.training.twin && s->measures->twin.there ? &s->measures->twin.film
                                                                       : &s->measures->own.film;
    if (!f->frame || f->made == f->history->snapshot_count)
        return true;
    s->changes++;
    return position_film_step(f, s->look.training.snapshot, deadline_ns);
}

const char *session_history_problem(const Session *s)
{
    return s->measures && *s->measures->problem ? s->measures->problem : NULL;
}

/* --- measurements --- */

const char *session_measured_over(const Session *s)
{
    const TaskKind *task = session_task(s);
    return session_photos(s) ? "photographs" : task ? task->examples : "inputs";
}

Dataset *measures_dataset(Session *s, uint64_t first, size_t count)
{
    struct Measures *t = measures_of(s);
    if (model_grid(s->now->model).rows && !t->pictures)
        t->pictures = pictures_drawn(&s->model.preprocess, 0);
    return dataset_new(t->pictures, s->now->model, PICTURES_HELD_OUT, first, count);
}

float measures_factor(const Session *s, int i)
{
    return ablation_factor(session_scale(s), i);
}

bool session_kinds_apply(const Session *s)
{
    return model_way(s->now->model) && dataset_unsuited_sentences(s->now->model);
}

static bool is_occlusion(MeasureKind kind)
{
    return kind == MEASURE_OCCLUSION || kind == MEASURE_OCCLUSION_A;
}

static const char ONE_READOUT[] = "this model has one read-out only: there is nothing to compare it with";

/* Why this kind cannot be measured for the model that is open, or NULL. */
static const char *impossible(const Session *s, MeasureKind kind)
{
    static const bool of_words[MEASURE_KINDS] = {
        [MEASURE_CENSUS] = true, [MEASURE_SCALE] = true, [MEASURE_LOOKS] = true};
    const bool other = kind == MEASURE_OCCLUSION_A;
    const Model *m = other ? session_exhibit(s, SIDE_A)->model : s->now->model;
    if (other && (!m || !session_compares(s)))
        return "there is no A to measure";
    if (model_way(m) && !of_words[kind])
        return "not measured for models of words";
    if (model_way(m) == MODEL_WRITES && (kind == MEASURE_SCALE || (kind == MEASURE_CENSUS && *s->texts)))
        return measures_windows_why(s);
    if (model_way(m))
        return session_kinds_apply(s) && kind == MEASURE_LOOKS ? NULL : dataset_unsuited_sentences(m);
    if (!model_grid(m).rows)
        return "this is for picture models";
    if (!(other ? model_grid(m).classes : session_classes(s)))
        return "this model names no classes";
    if (is_occlusion(kind))
        return NULL;
    if (session_photos(s) && kind != MEASURE_LOOKS)
        return kind == MEASURE_READOUT && !readout_has_other(s->now->model) ? ONE_READOUT : NULL;
    if (!dataset_suits_drawn(&s->model, NULL))
        return session_photos(s) ? "photographs are not in the program; see `vitrine evaluate --help`"
                                 : "no labelled pictures are known for this model; see `vitrine evaluate --help`";
    if (kind == MEASURE_READOUT && !readout_has_other(s->now->model))
        return ONE_READOUT;
    return NULL;
}

/* The one that stands for that kind. */
static Measuring *work_of(struct Measures *t, MeasureKind kind)
{
    return &t->work[kind == MEASURE_OCCLUSION_A && t->occlusion_alike ? MEASURE_OCCLUSION : kind];
}

const Measure *session_measure(const Session *s, MeasureKind kind, const char **why)
{
    const bool known = s->measures && (!is_occlusion(kind) || s->measures->occlusion_settled);
    const Measuring *w = known ? work_of(s->measures, kind) : NULL;
    const char *reason = impossible(s, kind);
    if (!reason && w && *w->problem)
        reason = w->problem;
    if (why)
        *why = reason;
    return !reason && w && w->begun ? &w->measure : NULL;
}

void measures_free_work(Measuring *w)
{
    accuracy_free(w->exam);
    accuracy_free(w->base);
    batch_run_free(w->batch);
    head_places_free(w->places);
    head_kinds_free(w->kinds);
    surprise_free(w->surprise);
    free(w->measure.value);
    free(w->measure.nats);
    free(w->measure.more);
    free(w->measure.right);
    free(w->measure.pair);
    free(w->right);
    free(w->pair);
    dataset_free(w->dataset);
    edit_state_free(&w->lines);
    free(w->picture);
    free(w->logits);
    *w = (Measuring){.begun = false};
}

static Side side_of(MeasureKind kind)
{
    return kind == MEASURE_OCCLUSION_A ? SIDE_A : SIDE_B;
}

static bool reads_texts(const Session *s, MeasureKind kind)
{
    return (kind == MEASURE_SCALE || kind == MEASURE_CENSUS) && model_way(s->now->model) == MODEL_WRITES;
}

static Measuring *begin(Session *s, MeasureKind kind)
{
    if (is_occlusion(kind))
        measures_occlusion_settle(s);
    Measuring *w = work_of(measures_of(s), kind);
    if (w->begun)
        return w;
    if (is_occlusion(kind))
        measures_occlusion_begin(s, side_of(kind), w);
    else if (kind == MEASURE_LOOKS)
        measures_looks_begin(s, w);
    else if (reads_texts(s, kind))
        measures_surprise_begin(s, kind, w);
    else
        measures_accuracy_begin(s, kind, w);
    w->begun = true;
    return w;
}

static bool step_kind(Session *s, MeasureKind kind, int64_t deadline_ns)
{
    if (impossible(s, kind))
        return true;
    Measuring *w = begin(s, kind);
    const bool occlusion = is_occlusion(kind), looks = kind == MEASURE_LOOKS, texts = reads_texts(s, kind);
    s->measures->now = w;
    if (!occlusion && !looks && !texts && !session_figures_known(s))
        w->finished = measures_accuracy_complete(s, &w->measure);
    while (!w->finished && !*w->problem) {
        w->finished = occlusion ? measures_occlusion_step(s, side_of(kind), w, deadline_ns)
                      : looks   ? measures_looks_step(w, deadline_ns)
                      : texts   ? measures_surprise_step(w, deadline_ns)
                                : measures_accuracy_step(s, kind, w, deadline_ns);
        s->changes++;
        if (clock_ns() >= deadline_ns)
            break;
    }
    w->measure.whole = w->measure.whole || w->finished;
    return w->finished || *w->problem;
}

void measures_take_shipped(Session *s)
{
    static const MeasureKind KINDS[] = {MEASURE_CENSUS, MEASURE_SCALE, MEASURE_READOUT};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS && session_figures_known(s); i++)
        step_kind(s, KINDS[i], 0);
}

bool measures_step_film(Session *s, int64_t deadline_ns)
{
    measures_read_history(s);
    return step_film(s, deadline_ns);
}

/* Is that one on show? A difference needs both. */
static bool shows_occlusion(const Session *s, MeasureKind kind)
{
    const Side one = session_side(s);
    const bool compares = session_compares(s), both = compares && (s->compare == COMPARE_SIDES || one == SIDE_DIFF);
    return both || (kind == MEASURE_OCCLUSION_A) == (compares && one == SIDE_A);
}

/* One after the other, so that a map is whole in half the time: first B's, the one that was changed last. Both are
 * begun at once: the time left is that of both. */
bool measures_step_occlusion(Session *s, int64_t deadline_ns)
{
    const bool a = shows_occlusion(s, MEASURE_OCCLUSION_A) && !impossible(s, MEASURE_OCCLUSION_A);
    if (a)
        begin(s, MEASURE_OCCLUSION_A);
    if (shows_occlusion(s, MEASURE_OCCLUSION) && !step_kind(s, MEASURE_OCCLUSION, deadline_ns))
        return false;
    return !a || step_kind(s, MEASURE_OCCLUSION_A, deadline_ns);
}

bool measures_step_readout(Session *s, int64_t deadline_ns)
{
    return step_kind(s, MEASURE_READOUT, deadline_ns);
}

bool measures_step_scale(Session *s, int64_t deadline_ns)
{
    return step_kind(s, MEASURE_SCALE, deadline_ns);
}

bool measures_step_census(Session *s, int64_t deadline_ns)
{
    /* Of the bundled model the census is there at once; of a text model where heads look takes a second, but beside a
     * decoder's texts. */
    if (model_way(s->now->model) && !reads_texts(s, MEASURE_CENSUS) && !step_kind(s, MEASURE_LOOKS, deadline_ns))
        return false;
    return step_kind(s, MEASURE_CENSUS, deadline_ns) &&
           (!session_figures_known(s) || step_kind(s, MEASURE_LOOKS, deadline_ns));
}

bool measures_step_looks(Session *s, int64_t deadline_ns)
{
    measures_take_shipped(s); /* what a head is missed by stands beside where it looks, however one came here */
    return step_kind(s, MEASURE_LOOKS, deadline_ns);
}

bool measures_step(Session *s, int64_t deadline_ns)
{
    const ScreenSpec *screen = screen_now(s);
    if (s->measures)
        s->measures->now = NULL;
    return !screen->work || screen->work(s, deadline_ns);
}

bool measures_progress(const Session *s, size_t *done, size_t *total)
{
    static const MeasureKind OCCLUSIONS[] = {MEASURE_OCCLUSION, MEASURE_OCCLUSION_A};
    const Measuring *w = s->measures ? s->measures->now : NULL;
    *done = w ? w->measure.done : 0;
    *total = w ? w->measure.total : 0;
    for (int i = 0; w && i < 2; i++) { /* behind one of them comes the other */
        const Measuring *other = &s->measures->work[OCCLUSIONS[!i]];
        if (w == &s->measures->work[OCCLUSIONS[i]] && other->begun && shows_occlusion(s, OCCLUSIONS[!i])) {
            *done += other->measure.done;
            *total += other->measure.total;
        }
    }
    return *done < *total;
}

double measures_share(const Session *s)
{
    size_t done, total;
    return measures_progress(s, &done, &total) ? (double)done / (double)total : ledger_measured_share(s);
}

static bool measured_over(const Session *s, MeasureKind kind, size_t pictures)
{
    const Measure *m = session_measure(s, kind, NULL);
    return m && m->whole && m->pictures >= pictures;
}

bool session_measure_all(Session *s, MeasureKind kind, size_t pictures, Err *err)
{
    enum { SLICE_NS = 100000000 };
    const char *why = impossible(s, kind);
    if (why)
        return err_set(err, "%s", why);
    while (!measured_over(s, kind, pictures) && !step_kind(s, kind, clock_ns() + SLICE_NS)) {
        const Measure *m = &work_of(s->measures, kind)->measure;
        if (s->progress && !s->progress(s->progress_context, "measuring", (double)m->done / (double)m->total))
            return err_set(err, "cancelled");
    }
    const char *problem = work_of(s->measures, kind)->problem;
    return !*problem || err_set(err, "%s", problem);
}

void measures_changed(Session *s, StudyChange what)
{
    if (!s->measures)
        return;
    if (what == MEASURES_MODEL) {
        measures_free(s);
        return;
    }
    s->measures->occlusion_settled = false; /* not now: the session may be in the middle of the change */
    s->measures->now = NULL;
}

void measures_free(Session *s)
{
    struct Measures *t = s->measures;
    if (!t)
        return;
    for (int i = 0; i < MEASURE_KINDS; i++)
        measures_free_work(&t->work[i]);
    free_record(&t->own);
    free_record(&t->twin);
    neurons_drop(t->neurons); /* reads them */
    pictures_free(t->pictures);
    decoding_free(t->decoding);
    encoding_free(t->encoding);
    confusion_free(t->confusion);
    free(t);
    s->measures = NULL;
}
