#include "core/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/assets.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/session/ask/explained.h"
#include "core/session/command.h"
#include "core/session/difference.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/measures.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/state.h"

const char *view_name(View v)
{
    static const char *const NAMES[VIEW_COUNT] = {"heat", "numbers", "strip", "histogram"};
    return NAMES[v];
}

typedef struct LoadProgress {
    SessionProgress fn;
    void *context;
} LoadProgress;

static bool load_progress(void *context, uint64_t done, uint64_t total)
{
    const LoadProgress *p = context;
    return !p->fn || p->fn(p->context, "reading the weights", total ? (double)done / (double)total : 1);
}

static bool load_model(Session *s, Model *m, const char *path, Err *err)
{
    if (path && strlen(path) >= sizeof s->model_path)
        return err_set(err, "that path is longer than %zu characters", sizeof s->model_path - 1);
    if (path && text_asked(path))
        return text_open(m, path, err);
    if (path) {
        LoadProgress p = {s->progress, s->progress_context};
        return s->assume ? family_load_assuming(m, path, load_progress, &p, err)
                         : family_load(m, path, load_progress, &p, err);
    }
    const Asset *a = asset_find("shapes-vit.f32");
    if (!a)
        return err_set(err, "the model in this binary is missing: build it again with `make clean all`");
    return model_bundled(m, a->data, a->size, err);
}

/* Every exhibit has a share: its runs forget together, those of different exhibits do not. */
void session_budget(Session *s, size_t bytes)
{
    s->memory = bytes;
    for (int i = 0; i < s->exhibit_count; i++)
        run_budget(s->exhibits[i]->pass.base_run, bytes / (size_t)s->exhibit_count);
}

int session_opens(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    int block = anatomy_next(g, NO_PART, PART_BLOCK);
    return block == NO_PART ? NO_BOX : stages_find(&s->stages, anatomy_part(g, block)->scope);
}

void session_changed(Session *s)
{
    difference_drop(s);
    explained_drop(s);
    for (int i = 0; i < s->exhibit_count; i++)
        exhibits_number(s, s->exhibits[i]);
    measures_changed(s, MEASURES_EDITS);
    session_budget(s, s->memory); /* runs come and go */
    char **open = NULL;           /* which boxes were open, by path */
    int open_count = 0;
    for (int i = 0; i < s->stages.count; i++)
        if (s->open[i]) {
            open = xrealloc(open, size_mul((size_t)open_count + 1, sizeof *open));
            open[open_count++] = xstrdup(s->stages.boxes[i].path);
        }
    bool first = s->stages.count == 0;
    bool there = s->place.box >= 0 && s->place.box < s->stages.count;
    char *row = !there ? NULL : xstrdup(s->stages.boxes[s->place.box].path); /* boxes are numbered anew */
    stages_free(&s->stages);
    free(s->open);
    stages_make(&s->stages, session_graph(s, SIDE_B));
    s->open = xcalloc((size_t)s->stages.count + 1, sizeof *s->open);
    for (int i = 0; i < open_count; i++) {
        int box = stages_find(&s->stages, open[i]);
        if (box != NO_BOX)
            s->open[box] = true;
        free(open[i]);
    }
    free(open);
    s->place.box = row ? stages_find(&s->stages, row) : 0;
    free(row);
    const int opens = first ? session_opens(s) : NO_BOX;
    if (opens != NO_BOX)
        s->open[opens] = true;
    place_mend(s);
    s->changes++;
}

void session_start_place(Session *s)
{
    memset(&s->place, 0, sizeof s->place);
    const Graph *g = session_base(s);
    int p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY), rows = graph_role(g, ROLE_PLACE_ROW, SEQUENCE_ANY),
        cols = graph_role(g, ROLE_PLACE_COL, SEQUENCE_ANY);
    if (p >= 0 && rows >= 0 &&
        cols >= 0) { /* the patch in the middle: on the drawn pictures it is on the object more often than not */
        s->place.at[rows] = g->axes[rows].n / 2;
        s->place.at[cols] = g->axes[cols].n / 2;
        session_sync(s, rows);
    }
    for (int i = 0; i < g->axis_count; i++) {
        int query = g->axes[i].role == ROLE_KEY ? graph_role(g, ROLE_QUERY, g->axes[i].sequence) : AXIS_NONE;
        if (query != AXIS_NONE && s->place.at[query] < g->axes[i].n)
            s->place.at[i] = s->place.at[query];
    }
    snprintf(s->place.path, sizeof s->place.path, "%s", session_first(s));
    s->place.screen = session_screen_for(s, s->place.path);
}

/* Takes model and input over. Exhibits of another model than the one before stay. */
static void fresh(Session *s, Model *m, const char *model_path, Input *in)
{
    snprintf(s->model_path, sizeof s->model_path, "%s", model_path ? model_path : "");
    s->resolution[0] = 0;
    s->models++;
    s->look.training.snapshot = 0; /* of the record of the model before, as its twin was */
    s->look.training.twin = false;
    measures_changed(s, MEASURES_MODEL);
    difference_drop(s);
    explained_drop(s);
    for (int i = s->exhibit_count; i-- > 0;)
        if (s->exhibits[i]->model == &s->model)
            exhibits_drop(s, s->exhibits[i]);
    model_free(&s->model);
    s->model = *m;
    *m = (Model){0};
    s->pinned = NULL;
    s->now = session_add(s, &s->model, in);
    stages_free(&s->stages);
    s->stages = (Stages){0};
    s->target = (GradTarget){{0}, 0};
    s->ledger = (LedgerTarget){{0}, 0, 0};
    EditState none = {0};
    edits_apply(s, &none, false, NULL);
    s->compare = COMPARE_OFF;
    s->back_count = 0;
    session_start_place(s);
    place_mend(s);
}

static void begin(Session *s, SessionProgress progress, void *context)
{
    *s = (Session){.progress = progress,
                   .progress_context = context,
                   .permit = ~0U,
                   .look = look_start(),
                   .memory = machine_memory() / 4};
}

static bool start(Session *s, Model *m, const char *model_path, const char *input, int threads, Err *err)
{
    Input in;
    if (!input_open(&in, m, input, err))
        return false;
    s->pool = pool_new(threads);
    fresh(s, m, model_path, &in);
    return true;
}

bool session_init_model(Session *s, Model *m, const char *input, int threads, Err *err)
{
    begin(s, NULL, NULL);
    return start(s, m, NULL, input, threads, err);
}

/* The model for pictures of another size, which is said where the answer stands: it learned at its own. */
static bool fit_model(Model *m, const char *resolution, Err *err)
{
    const VitConfig *c;
    int h, w, used = 0;
    if (!resolution)
        return true;
    if (!model_vit_needed(m, &c, err))
        return err_prefix(err, "--resolution");
    if (sscanf(resolution, "%5dx%5d%n", &h, &w, &used) != 2 || resolution[used]) {
        used = 0;
        if (sscanf(resolution, "%5d%n", &h, &used) != 1 || resolution[used])
            return err_set(err, "--resolution %.40s: expected pixels, such as 384, or height x width, such as 384x224",
                           resolution);
        w = h;
    }
    int was_h = c->image_h, was_w = c->image_w;
    if (!model_fit(m, h, w, err))
        return err_prefix(err, "--resolution");
    if (was_h != h || was_w != w)
        model_guess(m, "pictures of %d × %d instead of %d × %d (--resolution)%s", h, w, was_h, was_w,
                    vit_resizes(c) ? "; the position table is fitted to their grid" : "");
    return true;
}

bool session_init_as(Session *s, const char *model_path, ModelWish wish, const char *input, int threads,
                     SessionProgress progress, void *context, Err *err)
{
    Model m = {0};
    begin(s, progress, context);
    s->assume = wish.assume;
    if (!load_model(s, &m, model_path, err))
        return false;
    if (fit_model(&m, wish.resolution, err) && start(s, &m, model_path, input, threads, err)) {
        snprintf(s->resolution, sizeof s->resolution, "%s", wish.resolution ? wish.resolution : "");
        return true;
    }
    model_free(&m);
    return false;
}

bool session_init(Session *s, const char *model_path, const char *input, int threads, SessionProgress progress,
                  void *context, Err *err)
{
    return session_init_as(s, model_path, (ModelWish){.assume = false}, input, threads, progress, context, err);
}

static void free_stack(EditState *stack, int count)
{
    for (int i = 0; i < count; i++)
        edit_state_free(&stack[i]);
    free(stack);
}

void session_free(Session *s)
{
    difference_drop(s);
    explained_drop(s);
    measures_free(s);
    exhibits_free(s);
    model_free(&s->model);
    stages_free(&s->stages);
    free(s->open);
    edit_state_free(&s->edits);
    free_stack(s->undo, s->undo_count);
    free_stack(s->redo, s->redo_count);
    buf_free(&s->said);
    pool_free(s->pool);
    *s = (Session){0};
}

bool session_open_input(Session *s, const char *input, Err *err)
{
    Input in;
    bool drawn = *input == '#';
    Exhibit *old = s->now;
    const Model *m = old->model ? old->model : &s->model;
    bool words = m->family->input == INPUT_TEXT; /* a sentence is no file */
    const char *file = drawn || words ? input : permit_read(s, input, err);
    if (!file || !input_open(&in, m, file, err))
        return false;
    if (file != input) { /* lent: it is known by the name that was asked for */
        const char *slash = strrchr(input, '/');
        snprintf(in.path, sizeof in.path, "%s", input);
        utf8_clean(in.name, sizeof in.name, slash ? slash + 1 : input);
    }
    Exhibit *e = session_add(s, m, &in);
    if (!session_show(s, e, err)) { /* an edit that this input does not allow */
        session_drop(s, e);
        return false;
    }
    if (old != s->pinned && old->model) /* a worked example is somebody's */
        session_drop(s, old);
    return true;
}

bool session_open_model(Session *s, const char *path, Err *err)
{
    Model m = {0};
    Input in;
    const char *file = !path || (text_asked(path) && !file_exists(path)) ? path : permit_read(s, path, err);
    if (path && !file)
        return false;
    if (s->model_uses) /* the one that is open may be named */
        return strcmp(path ? path : "", s->model_path) == 0 || err_set(err, "%s", s->keep_model);
    if (!load_model(s, &m, file, err))
        return false;
    /* the same input where it is of the model's kind; ready values were made for the model before */
    const Input *now = session_input(s, SIDE_B);
    bool other = now->ready || now->kind != m.family->input;
    if (other ? !input_open(&in, &m, NULL, err) : !input_copy(&in, now, &m, err)) {
        model_free(&m);
        return false;
    }
    fresh(s, &m, path, &in);
    free_stack(s->undo, s->undo_count);
    free_stack(s->redo, s->redo_count);
    s->undo = s->redo = NULL;
    s->undo_count = s->redo_count = 0;
    s->undo_cap = s->redo_cap = 0;
    return true;
}

const char *session_model_note(const Session *s)
{
    const Model *m = session_exhibit(s, SIDE_B)->model;
    if (!m)
        return "";
    if (!m->trained && !*session_input(s, SIDE_B)->note)
        return "untrained";
    if (m->drawn_shapes && !session_input(s, SIDE_B)->drawn)
        return "about this picture its answer means nothing; the arithmetic is exact";
    const char *left_out = session_input(s, SIDE_B)->note;
    return *left_out || !m->guess_note ? left_out : m->guess_note;
}

void session_say(Session *s, const char *fmt, ...)
{
    Buf text = {0}; /* what is said may quote what was said before */
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    buf_free(&s->said);
    s->said = text;
}

/* ---- which text model is meant ---- */

static const char BUNDLED[] = "translator";

static bool bundled(const char *model)
{
    return !model || (strcmp(model, BUNDLED) == 0 && !file_exists(model));
}

bool text_asked(const char *model)
{
    return model && (bundled(model) || (file_is_dir(model) && text_model_is(model)));
}

bool text_open(Model *m, const char *model, Err *err)
{
    const Asset *a = asset_find("translator.f32");
    if (bundled(model))
        return text_model_bundled(m, a ? a->data : NULL, a ? a->size : 0, err);
    if (!text_asked(model))
        return err_set(err, "%.300s: is not the folder of a text model; without -m the bundled translator is taken",
                       model);
    return text_model_load(m, model, NULL, NULL, err);
}
