#include "core/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assets/assets.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/measures.h"
#include "core/session/log.h"
#include "core/session/options.h"
#include "core/session/permit.h"
#include "core/session/place.h"
#include "core/session/screens.h"

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
    if (path) {
        LoadProgress p = {s->progress, s->progress_context};
        return model_load(m, path, load_progress, &p, err);
    }
    const Asset *a = asset_find("shapes-vit.f32");
    if (!a)
        return err_set(err, "the model in this binary is missing: build it again with `make clean all`");
    return model_bundled(m, a->data, a->size, err);
}

static void drop_diffs(Session *s)
{
    for (int i = 0; i < SESSION_DIFFS; i++) {
        run_free(s->diffs[i].run);
        graph_free(&s->diffs[i].graph);
        s->diffs[i] = (Diff){0};
    }
}

void session_budget(Session *s, size_t bytes)
{
    s->memory = bytes;
    run_budget(s->now.base_run, s->pinned.base ? bytes / 2 : bytes);
    if (s->pinned.base)
        run_budget(s->pinned.base_run, bytes / 2);
}

bool session_opens(const Session *s, int box)
{
    const Graph *g = session_graph(s, SIDE_B);
    int block = anatomy_next(g, NO_PART, PART_BLOCK);
    return block != NO_PART && stages_find(&s->stages, anatomy_part(g, block)->scope) == box;
}

void session_changed(Session *s)
{
    drop_diffs(s);
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
    for (int i = 0; first && i < s->stages.count; i++)
        s->open[i] = session_opens(s, i);
    place_mend(s);
    s->changes++;
}

void session_start_place(Session *s)
{
    memset(&s->place, 0, sizeof s->place);
    const Graph *g = s->now.base;
    int rows = graph_role(g, ROLE_PLACE_ROW, SEQUENCE_ANY), cols = graph_role(g, ROLE_PLACE_COL, SEQUENCE_ANY);
    if (graph_role(g, ROLE_PLACE, SEQUENCE_ANY) != AXIS_NONE && rows != AXIS_NONE && cols != AXIS_NONE) {
        /* the patch in the middle: on the drawn pictures it is on the object more often than not */
        s->place.at[rows] = g->axes[rows].n / 2;
        s->place.at[cols] = g->axes[cols].n / 2;
        session_sync(s, rows);
    }
    int key = graph_role(g, ROLE_KEY, SEQUENCE_ANY), query = graph_role(g, ROLE_QUERY, SEQUENCE_ANY);
    if (key != AXIS_NONE && query != AXIS_NONE && s->place.at[query] < g->axes[key].n)
        session_set_index(s, key, s->place.at[query]);
    snprintf(s->place.path, sizeof s->place.path, "%s", graph_node(g, s->now.nodes.image)->path);
    s->place.screen = SCREEN_PICTURE;
}

/* Takes model and input over. */
static void fresh(Session *s, Model *m, const char *model_path, Input *in)
{
    snprintf(s->model_path, sizeof s->model_path, "%s", model_path ? model_path : "");
    measures_changed(s, MEASURES_MODEL);
    exhibit_free(&s->now);
    exhibit_free(&s->pinned);
    model_free(&s->model);
    s->model = *m;
    exhibit_init(&s->now, &s->model, in, s->pool);
    stages_free(&s->stages);
    s->stages = (Stages){0};
    s->target = (GradTarget){{0}, 0};
    EditState none = {0};
    edits_apply(s, &none, false, NULL);
    s->compare = COMPARE_OFF;
    s->back_count = 0;
    session_start_place(s);
    place_mend(s);
}

bool session_init(Session *s, const char *model_path, const char *input, int threads, SessionProgress progress,
                  void *context, Err *err)
{
    Model m = {0};
    Input in;
    *s = (Session){.progress = progress,
                   .progress_context = context,
                   .permit = ~0U,
                   .look = look_start(),
                   .memory = machine_memory() / 4};
    if (!load_model(s, &m, model_path, err))
        return false;
    if (!input_open(&in, &m, input, err)) {
        model_free(&m);
        return false;
    }
    s->pool = pool_new(threads);
    fresh(s, &m, model_path, &in);
    return true;
}

static void free_stack(EditState *stack, int count)
{
    for (int i = 0; i < count; i++)
        edit_state_free(&stack[i]);
    free(stack);
}

void session_free(Session *s)
{
    drop_diffs(s);
    measures_free(s);
    log_free(s);
    exhibit_free(&s->now);
    exhibit_free(&s->pinned);
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
    if ((!drawn && !permit_file(s, input, err)) || !input_open(&in, &s->model, input, err))
        return false;
    Exhibit old = s->now;
    exhibit_init(&s->now, &s->model, &in, s->pool);
    if (!edits_renew(s, err)) { /* an edit that this input does not allow */
        exhibit_free(&s->now);
        s->now = old;
        session_changed(s);
        return false;
    }
    exhibit_free(&old);
    return true;
}

bool session_open_model(Session *s, const char *path, Err *err)
{
    Model m = {0};
    Input in;
    if ((path && !permit_file(s, path, err)) || !load_model(s, &m, path, err))
        return false;
    /* the same picture; ready values were made for the model before */
    if (s->now.input.ready ? !input_open(&in, &m, NULL, err) : !input_copy(&in, &s->now.input, &m, err)) {
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

bool session_edited(const Session *s)
{
    return s->now.edited != NULL;
}

bool session_compares(const Session *s)
{
    return session_edited(s) || s->pinned.base;
}

Side session_side(const Session *s)
{
    if (!session_compares(s))
        return SIDE_A;
    return s->compare == COMPARE_A ? SIDE_A : s->compare == COMPARE_DIFF ? SIDE_DIFF : SIDE_B;
}

const Graph *session_graph(const Session *s, Side side)
{
    if (side == SIDE_A)
        return s->pinned.base ? exhibit_graph(&s->pinned) : s->now.base;
    return exhibit_graph(&s->now);
}

Run *session_run(const Session *s, Side side)
{
    if (side == SIDE_A)
        return s->pinned.base ? exhibit_run(&s->pinned) : s->now.base_run;
    return exhibit_run(&s->now);
}

Ref session_ref(Side side, NodeId n, size_t cell)
{
    return (Ref){.run = (uint16_t)side, .node = n, .cell = cell};
}

const char *session_model_note(const Session *s)
{
    if (!s->model.trained)
        return "untrained";
    if (s->model.drawn_shapes && !s->now.input.drawn)
        return "about this picture its answer means nothing; the arithmetic is exact";
    return "";
}

bool session_hash(const Session *s, Side side, uint64_t *hash)
{
    return run_hash(session_run(s, side), hash);
}

void session_say(Session *s, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = xmalloc((size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, fmt, again);
    va_end(again);
    buf_clear(&s->said);
    buf_puts(&s->said, text);
    free(text);
}
