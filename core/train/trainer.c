#include "core/train/trainer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/io/json.h"
#include "core/models/family.h"
#include "core/train/history.h"

void task_graph_free(TaskGraph *g)
{
    graph_free(&g->graph);
    free(g->zeros);
    *g = (TaskGraph){.zeros = NULL};
}

static void need_graph(Trainer *t, int variant)
{
    if (!t->graph[variant].gradient)
        t->recipe.kind->build(t, variant, &t->graph[variant]);
}

/* What goes into the history: t->step's figures, NULL before the first step. */
static void note(Trainer *t, const TrainStep *f)
{
    const Recipe *r = &t->recipe;
    bool snapshot = history_wants(t->step, r->steps) || t->step % recipe_cycle(r) == 0,
         row = f && (t->step % r->log_every == 0 || trainer_done(t));
    if (!snapshot && !row)
        return;
    float *lines = xcalloc((size_t)history_lines(&t->history), sizeof *lines);
    r->kind->look(t, row ? lines : NULL, snapshot ? history_snap(&t->history, t->step) : NULL);
    if (row) {
        bool check = r->check > 0 && (t->step % (10 * r->log_every) == 0 || trainer_done(t));
        size_t count = (size_t)r->check;
        const double figures[HISTORY_FIXED] = {
            [HISTORY_STEP] = t->step,
            [HISTORY_LOSS] = f->loss,
            [HISTORY_ACCURACY] = f->accuracy,
            [HISTORY_GUESS] = f->guess,
            [HISTORY_GRADIENT] = f->gradient_norm,
            [HISTORY_RATE] = f->rate,
            [HISTORY_CHECK] = check ? (double)trainer_right(t, TASK_CHECK, count) / (double)trainer_asked(t, count)
                                    : -1,
        };
        float *to = history_note(&t->history, figures);
        memcpy(to, lines, (size_t)history_lines(&t->history) * sizeof *to);
    }
    free(lines);
}

Trainer *trainer_new(const Recipe *r, const void *config, const void *examples, Pool *pool)
{
    Trainer *t = xcalloc(1, sizeof *t);
    const TaskKind *k = r->kind;
    REQUIRE(recipe_check(r, NULL) && k->micro <= TASK_MICRO_MOST);
    t->recipe = *r;
    t->config = memcpy(xmalloc(k->config_bytes), config, k->config_bytes);
    t->examples = examples;
    t->pool = pool;
    k->open(t);
    REQUIRE(task_makes(k, &t->model));
    if (r->average > 1)
        t->mean = xcalloc(t->model.block_cells, sizeof *t->mean);
    t->variant = xcalloc(t->descent.micros, sizeof *t->variant);
    t->figures = xcalloc(t->descent.micros, sizeof *t->figures);
    t->benches = pool_threads(pool);
    t->bench = xcalloc((size_t)t->benches, sizeof *t->bench);
    for (int i = 0; i < t->benches; i++)
        k->bench(t, &t->bench[i]);
    need_graph(t, k->exam_variant);
    note(t, NULL);
    return t;
}

static void close_bench(TaskBench *b)
{
    for (int i = 0; i < TASK_VARIANTS; i++)
        plan_free(b->learn[i]);
    plan_free(b->answer);
    for (int i = 0; i < TASK_INPUTS; i++)
        free(b->input[i]);
    free(b->own);
}

void trainer_free(Trainer *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->benches; i++)
        close_bench(&t->bench[i]);
    t->recipe.kind->close(t);
    for (int i = 0; i < TASK_VARIANTS; i++)
        task_graph_free(&t->graph[i]);
    history_free(&t->history);
    free(t->bench);
    free(t->figures);
    free(t->variant);
    free(t->mean);
    free(t->config);
    descent_free(&t->descent);
    model_free(&t->model);
    free(t);
}

/* --- one micro-batch --- */

static Plan *plan_of(const TaskGraph *g, const TaskBench *b, const NodeId *wanted, int n)
{
    Plan *p = plan_new(&g->graph, wanted, n);
    for (int i = 0; i < TASK_INPUTS; i++)
        if (g->input[i] != NO_NODE)
            plan_leaf(p, g->input[i], b->input[i]);
    return p;
}

static Plan *learning_plan(const Trainer *t, TaskBench *b, int variant)
{
    const TaskGraph *g = &t->graph[variant];
    if (b->learn[variant])
        return b->learn[variant];
    NodeId *wanted = xcalloc(t->descent.weights + 3, sizeof *wanted);
    int n = descent_wanted(&t->descent, g->gradient, wanted);
    wanted[n++] = g->each;
    wanted[n++] = g->logits;
    if (g->guess_error != NO_NODE)
        wanted[n++] = g->guess_error;
    b->learn[variant] = plan_of(g, b, wanted, n);
    free(wanted);
    return b->learn[variant];
}

/* The last of the micro-batches first: where they are in order of length, what is done last is short, so that no thread
 * waits long for another. */
static void learn_micro(void *trainer, size_t item, int worker)
{
    Trainer *t = trainer;
    const TaskKind *k = t->recipe.kind;
    size_t micro = t->descent.micros - 1 - item;
    TaskBench *b = &t->bench[worker];
    const TaskGraph *g = &t->graph[t->variant[micro]];
    Plan *p = learning_plan(t, b, t->variant[micro]);
    MicroFigures *f = &t->figures[micro];
    k->load(t, b, micro);
    plan_compute(p);
    descent_keep(&t->descent, micro, p, g->gradient);
    *f = (MicroFigures){.loss = 0};
    if (g->guess_error != NO_NODE) { /* where something is hidden only that is counted */
        f->guess = (double)plan_values(p, g->guess_error)[0];
        return;
    }
    const float *each = plan_values(p, g->each), *logits = plan_values(p, g->logits);
    size_t answers = graph_cells(&g->graph, g->each) / (size_t)k->micro,
           cells = graph_cells(&g->graph, g->logits) / (size_t)k->micro;
    for (int i = 0; i < k->micro; i++) {
        for (size_t w = 0; w < k->answers(b, i); w++)
            f->loss += (double)each[(size_t)i * answers + w];
        f->right += k->right_answers(t, b, i, logits + (size_t)i * cells);
    }
}

/* --- the step --- */

/* The weights of some of a cycle's last steps, added; after the last of them their mean takes the weights' place. */
static void average(Trainer *t)
{
    const Recipe *r = &t->recipe;
    int steps = recipe_cycle(r), left = steps - 1 - (t->step - 1) % steps;
    if (!t->mean || left % r->average_every || left / r->average_every >= r->average)
        return;
    size_t n = t->model.block_cells;
    int count = (steps - 1) / r->average_every + 1; /* a short run has fewer */
    count = count < r->average ? count : r->average;
    for (size_t i = 0; i < n; i++)
        t->mean[i] += t->model.block[i];
    for (size_t i = 0; left == 0 && i < n; i++)
        t->model.block[i] = t->mean[i] / (float)count;
}

static void next_cycle(Trainer *t)
{
    size_t bytes = t->model.block_cells * sizeof(float);
    memset(t->descent.first, 0, bytes);
    memset(t->descent.second, 0, bytes);
    if (t->mean)
        memset(t->mean, 0, bytes);
}

TrainStep trainer_step(Trainer *t)
{
    const Recipe *r = &t->recipe;
    REQUIRE(!trainer_done(t));
    r->kind->draw(t);
    for (size_t i = 0; i < t->descent.micros; i++)
        need_graph(t, t->variant[i]);
    pool_run(t->pool, 0, t->descent.micros, learn_micro, t, CLOCK_NEVER);

    TrainStep s = {.step = t->step + 1,
                   .rate = recipe_rate(r, t->width, t->step),
                   .gradient_norm = descent_sum(&t->descent, t->pool)};
    for (size_t i = 0; i < t->descent.micros; i++) {
        s.loss += t->figures[i].loss;
        s.accuracy += (double)t->figures[i].right;
        s.guess += t->figures[i].guess;
    }
    s.loss = t->counted > 0 ? s.loss / t->counted : 0;
    s.accuracy = t->counted > 0 ? s.accuracy / t->counted : 0;
    s.guess = t->hidden > 0 ? s.guess / t->hidden : -1;
    const AdamW a = {.rate = s.rate,
                     .beta1 = r->beta1,
                     .beta2 = r->beta2,
                     .epsilon = r->epsilon,
                     .step = t->step % recipe_cycle(r) + 1};
    descent_step(&t->descent, t->pool, &a, r->muon,
                 r->clip > 0 && s.gradient_norm > r->clip ? (float)(r->clip / s.gradient_norm) : 1.0f);
    t->step++;
    average(t);
    note(t, &s);
    if (t->step % recipe_cycle(r) == 0 && !trainer_done(t))
        next_cycle(t);
    return s;
}

bool trainer_done(const Trainer *t)
{
    return t->step >= t->recipe.steps;
}

/* --- examination --- */

typedef struct Exam {
    Trainer *t;
    TaskSet set;
    size_t count;
    size_t *right; /* [items] */
} Exam;

static void examine(void *exam, size_t item, int worker)
{
    const Exam *e = exam;
    Trainer *t = e->t;
    const TaskKind *k = t->recipe.kind;
    TaskBench *b = &t->bench[worker];
    const TaskGraph *g = &t->graph[k->exam_variant];
    if (!b->answer)
        b->answer = plan_of(g, b, &g->logits, 1);
    size_t micro = (size_t)k->micro, at = item * micro, n = e->count - at < micro ? e->count - at : micro,
           cells = graph_cells(&g->graph, g->logits) / micro;
    k->load_exam(t, b, e->set, at, n);
    plan_compute(b->answer);
    const float *logits = plan_values(b->answer, g->logits);
    for (size_t i = 0; i < n; i++) {
        size_t right = k->right_answers(t, b, (int)i, logits + i * cells);
        e->right[item] += k->each ? right : right == k->answers(b, (int)i);
    }
}

size_t trainer_asked(const Trainer *t, size_t count)
{
    const TaskGraph *g = &t->graph[t->recipe.kind->exam_variant];
    return t->recipe.kind->each ? count * (graph_cells(&g->graph, g->each) / (size_t)t->recipe.kind->micro) : count;
}

size_t trainer_right(Trainer *t, TaskSet set, size_t count)
{
    size_t micro = (size_t)t->recipe.kind->micro, items = (count + micro - 1) / micro, right = 0;
    Exam e = {t, set, count, xcalloc(items + 1, sizeof(size_t))};
    need_graph(t, t->recipe.kind->exam_variant);
    pool_run(t->pool, 0, items, examine, &e, CLOCK_NEVER);
    for (size_t i = 0; i < items; i++)
        right += e.right[i];
    free(e.right);
    return right;
}

/* A training on disk: the state to go on from, blocks of weights and moments, the step and what identifies the run; and
 * the folder of the finished model. */

enum { PATH = 1100, BLOCKS = 4 };
static const char *const NAMES[BLOCKS] = {"state.weights", "state.first_moment", "state.second_moment", "state.mean"};

/* The blocks of a state in the order of their names; the last is NULL where no weights are averaged. */
static void blocks_of(const Trainer *t, float *block[BLOCKS])
{
    block[0] = t->model.block;
    block[1] = t->descent.first;
    block[2] = t->descent.second;
    block[3] = t->mean;
}

/* What a state must have been made with for going on to give the bytes of an uninterrupted run. */
static void identity(const Trainer *t, Buf *out)
{
    recipe_write(&t->recipe, t->config, out);
    if (t->recipe.kind->identity)
        t->recipe.kind->identity(t, out);
}

bool trainer_save(const Trainer *t, const char *path, Err *err)
{
    TensorOut out[BLOCKS + 1 + HISTORY_TENSORS];
    Arena arena = {0};
    Buf text = {0};
    float step = (float)t->step, *block[BLOCKS];
    size_t n = 0;
    blocks_of(t, block);
    identity(t, &text);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i])
            out[n++] = (TensorOut){.name = NAMES[i], .rank = 1, .shape = {t->model.block_cells}, .data = block[i]};
    out[n++] = (TensorOut){.name = "state.step", .rank = 1, .shape = {1}, .data = &step};
    n += history_tensors(&t->history, &arena, out + n);
    const char *const metadata[] = {"recipe", buf_str(&text), NULL};
    bool ok = tensors_write(path, TF_SAFETENSORS, out, n, metadata, err);
    arena_free(&arena);
    buf_free(&text);
    return ok;
}

static bool same_identity(const Trainer *t, const TensorFile *f, Err *err)
{
    Buf text = {0};
    Json *j = f->metadata ? json_parse(f->path, f->metadata, strlen(f->metadata), err) : NULL;
    identity(t, &text);
    bool same = strcmp(json_text(json_get(j, "recipe"), ""), buf_str(&text)) == 0;
    json_free(j);
    buf_free(&text);
    return same ||
           err_set(err,
                   "%s: was interrupted under another recipe, model, folder of pictures or text. Go on with those, or "
                   "remove the file to start afresh.",
                   f->path);
}

static bool read_tensor(const TensorFile *f, const char *name, float *out, size_t cells, Err *err)
{
    const TensorInfo *info = tensors_find(f, name);
    if (!info || info->cells != cells)
        return err_set(err, "%s: is no interrupted training of this model. Remove it to start afresh.", f->path);
    return tensors_read_f32(f, info, out, err);
}

/* An open file into `read` (BLOCKS of the model's cells) and *step, after comparing what identifies it. */
static bool read_state(const Trainer *t, const TensorFile *f, float *const block[BLOCKS], float *read, int *step,
                       Err *err)
{
    float at = 0;
    size_t cells = t->model.block_cells;
    if (!same_identity(t, f, err) || !read_tensor(f, "state.step", &at, 1, err))
        return false;
    for (size_t i = 0; i < BLOCKS; i++)
        if (block[i] && !read_tensor(f, NAMES[i], read + i * cells, cells, err))
            return false;
    if (!(at >= 0 && at <= (float)t->recipe.steps))
        return err_set(err, "%s: is damaged: step %g of %d. Remove it to start afresh.", f->path, (double)at,
                       t->recipe.steps);
    *step = (int)at;
    return true;
}

bool trainer_resume(Trainer *t, const char *path, Err *err)
{
    TensorFile f;
    History h = {.vit = t->history.vit, .text = t->history.text};
    float *block[BLOCKS];
    size_t cells = t->model.block_cells;
    int step = 0;
    if (!tensors_open(&f, path, err))
        return false;
    blocks_of(t, block);
    float *read = xfloats(size_mul(BLOCKS, cells));
    bool ok = read_state(t, &f, block, read, &step, err) && history_take(&h, &f, err);
    tensors_close(&f);
    for (size_t i = 0; ok && i < BLOCKS; i++)
        if (block[i])
            memcpy(block[i], read + i * cells, cells * sizeof *read);
    if (ok) {
        t->step = step;
        history_free(&t->history);
        t->history = h;
    }
    free(read);
    return ok;
}

bool trainer_write(const Trainer *t, const char *folder, Err *err)
{
    char path[PATH];
    Buf text = {0};
    if (!t->model.family->save(&t->model, folder, err))
        return false;
    snprintf(path, sizeof path, "%s/history.safetensors", folder);
    if (!history_write(&t->history, path, err))
        return false;
    recipe_write(&t->recipe, t->config, &text);
    snprintf(path, sizeof path, "%s/recipe.json", folder);
    bool ok = file_write(path, buf_str(&text), text.len, err);
    buf_free(&text);
    return ok && (!t->recipe.kind->write || t->recipe.kind->write(t, folder, err));
}

/* --- the folder that a model is trained in --- */

static bool make(Workplace *w, const char *folder, Err *err)
{
    w->made = mkdir(folder, 0777) == 0;
    if (!w->made && errno != EEXIST)
        return err_set(err, "%.300s: cannot be made (%s). Name a folder whose parent exists with -o.", folder,
                       strerror(errno));
    return file_is_dir(folder) || err_set(err, "%.300s: is no folder. Name another with -o.", folder);
}

static bool lock(Workplace *w, const char *folder, Err *err)
{
    do
        w->fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (w->fd < 0 && errno == EINTR);
    if (w->fd < 0)
        return err_set(err, "%.300s: can't be opened (%s). Allow it with chmod u+rwx, or name another with -o.", folder,
                       strerror(errno));
    int bad;
    do
        bad = flock(w->fd, LOCK_EX | LOCK_NB);
    while (bad && errno == EINTR);
    if (!bad || errno != EWOULDBLOCK)
        return true;
    return err_set(err, "%.300s: another training is at work in this folder. Let it end, or name another with -o.",
                   folder);
}

/* Hours of steps are not made for a folder that takes no file. */
static bool may_write(const char *folder, Err *err)
{
    static const char *const FILES[] = {"training.safetensors",     "model.safetensors",   "config.json",
                                        "preprocessor_config.json", "history.safetensors", "recipe.json",
                                        "vocabulary.json"};
    char path[WORKPLACE_PATH];
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        FileOut f;
        utf8_print(path, sizeof path, "%.1000s/%s", folder, FILES[i]);
        if (!file_create(&f, path, err))
            return false;
        file_abandon(&f);
    }
    return true;
}

static bool take(Workplace *w, const char *folder, Err *err)
{
    char model[WORKPLACE_PATH];
    if (strlen(folder) > 1000)
        return err_set(err, "%.60s...: this path is too long. Name another with -o.", folder);
    if (!make(w, folder, err) || !lock(w, folder, err))
        return false;
    utf8_print(model, sizeof model, "%.1000s/model.safetensors", folder);
    utf8_print(w->state, sizeof w->state, "%.1000s/training.safetensors", folder);
    w->resumes = file_exists(w->state);
    if (file_exists(model) && !w->resumes)
        return err_set(err, "%.300s: holds a model already. Name another folder with -o, or remove it.", folder);
    file_tidy(w->fd, 0); /* under the lock nobody else's are there */
    return may_write(folder, err);
}

bool workplace_open(Workplace *w, const char *folder, Err *err)
{
    *w = (Workplace)WORKPLACE_NONE;
    snprintf(w->folder, sizeof w->folder, "%s", folder);
    if (take(w, folder, err))
        return true;
    workplace_close(w);
    return false;
}

void workplace_close(Workplace *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    if (w->made)
        rmdir(w->folder); /* only an empty one goes */
    w->made = false;
}
