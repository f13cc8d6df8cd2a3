#include "core/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assets/assets.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/models/checkpoint.h"
#include "core/session/ask/closeup.h"
#include "core/session/command.h"
#include "core/session/difference.h"
#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/measures_parts.h"
#include "core/session/options.h"
#include "core/session/place.h"
#include "core/session/screens.h"
#include "core/session/state.h"
#include "core/train/grammar.h"

static const char PHOTOS[] = "photos"; /* the program's own model for photographs, as -m names it */

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
        return err_set(err, "that path is longer than %zu bytes", sizeof s->model_path - 1);
    if (path && text_asked(path))
        return text_open(m, path, err);
    if (path && photos_asked(path))
        return photos_open(m, err);
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

/* Every exhibit has a share, and the searches of `decoding` one: runs of one forget together, others do not. */
static size_t shares(const Session *s)
{
    const bool searches = s->measures && s->measures->decoding;
    return (size_t)s->exhibit_count + searches;
}

void session_budget(Session *s, size_t bytes)
{
    s->memory = bytes;
    for (int i = 0; i < s->exhibit_count; i++)
        run_budget(s->exhibits[i]->pass.base_run, bytes / shares(s));
}

size_t session_short(const Session *s)
{
    size_t peak = 0;
    for (int i = 0; i < s->exhibit_count; i++) {
        const size_t own = run_peak_bytes(s->exhibits[i]->pass.base_run);
        peak = own > peak ? own : peak;
    }
    return shares(s) == 0 || peak <= s->memory / shares(s) ? 0 : size_mul(peak, shares(s));
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
    for (int i = 0; i < s->exhibit_count; i++) {
        bool both = s->exhibits[i] == s->now && session_pinned(s);
        exhibit_drop_patching(s->exhibits[i], both ? exhibit_run(s->pinned) : NULL);
        exhibits_number(s, s->exhibits[i]);
    }
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

bool session_goes_on(const Session *s, int *query)
{
    const Graph *g = session_base(s);
    *query = graph_role(g, ROLE_QUERY, SEQUENCE_TARGET);
    return *query != AXIS_NONE && graph_role(g, ROLE_QUERY, SEQUENCE_SOURCE) == AXIS_NONE;
}

void place_last_token(Session *s)
{
    int query;
    if (session_goes_on(s, &query))
        session_set_index(s, query, session_base(s)->axes[query].n - 1);
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
    int asks = graph_role(g, ROLE_QUERY, SEQUENCE_SOURCE), asked = s->now->input.text[TEXT_SOURCE].asked;
    if (asks != AXIS_NONE && asked) /* a word that was taken out is what is asked for */
        s->place.at[asks] = asked - 1;
    place_last_token(s);
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
    if (!s->texts_said &&
        !(model_way(m) == MODEL_WRITES && model_path && dataset_held_path(model_path, s->texts, sizeof s->texts)))
        s->texts[0] = 0;
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
    s->ledger = (LedgerTarget){.path = ""};
    EditState none = {0};
    edits_apply(s, &none, false, NULL);
    s->compare = COMPARE_OFF;
    s->back_count = s->forward_count = 0;
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

static void start(Session *s, Model *m, const char *model_path, Input *in, int threads)
{
    s->pool = pool_new(threads);
    fresh(s, m, model_path, in);
}

bool session_init_model(Session *s, Model *m, const char *input, int threads, Err *err)
{
    Input in;
    begin(s, NULL, NULL);
    if (!input_open(&in, m, input, err))
        return false;
    start(s, m, NULL, &in, threads);
    return true;
}

/* The model for pictures of another size, which is said where the answer stands: it learned at its own. */
static bool fit_model(Model *m, const char *resolution, Err *err)
{
    PictureGrid was;
    int h, w, used = 0;
    if (!resolution)
        return true;
    if (!model_grid_needed(m, &was, err))
        return err_prefix(err, "--resolution");
    if (sscanf(resolution, "%5dx%5d%n", &w, &h, &used) != 2 || resolution[used]) {
        used = 0;
        if (sscanf(resolution, "%5d%n", &w, &used) != 1 || resolution[used])
            return err_set(err, "--resolution %.40s: expected pixels, such as 384, or width x height, such as 384x224",
                           resolution);
        h = w;
    }
    if (!model_fit(m, h, w, err))
        return err_prefix(err, "--resolution");
    if (was.height != h || was.width != w)
        model_guess(m, "pictures of %d × %d instead of %d × %d (--resolution)%s", w, h, was.width, was.height,
                    model_grid(m).fitted ? "; the position table is fitted to their grid" : "");
    return true;
}

/* A picture that nobody drew is shown by the model that has seen photographs: m and the picture change places with its
 * own. */
static bool prefer_photos(Model *m, Input *in, const char *resolution, Err *err)
{
    Model photos = {0};
    Input again;
    if (!photos_open(&photos, err))
        return false;
    if (!fit_model(&photos, resolution, err) || !input_copy(&again, in, &photos, err)) {
        model_free(&photos);
        return false;
    }
    input_free(in);
    model_free(m);
    *in = again;
    *m = photos;
    return true;
}

/* Is it a picture that the model for drawn shapes has nothing to say about? */
static bool is_photo(const Input *in)
{
    return in->kind == INPUT_PICTURE && !in->drawn && !in->ready;
}

/* The texts that somebody named: of a model that writes, and there. */
static bool take_texts(Session *s, const Model *m, const char *path, Err *err)
{
    uint64_t size;
    if (!path)
        return true;
    if (model_way(m) != MODEL_WRITES)
        return err_set(err, "--text is for models that write, decoders alone: leave it away");
    int fd = file_open(path, &size, err);
    if (fd < 0)
        return false;
    close(fd);
    s->texts_said = true;
    return snprintf(s->texts, sizeof s->texts, "%s", path) < (int)sizeof s->texts ||
           err_set(err, "--text: that path is longer than %zu bytes", sizeof s->texts - 1);
}

bool session_init_as(Session *s, const char *model_path, ModelWish wish, const char *input, int threads,
                     SessionProgress progress, void *context, Err *err)
{
    Model m = {0};
    begin(s, progress, context);
    s->assume = wish.assume;
    if (!load_model(s, &m, model_path, err))
        return false;
    Input in = {0};
    bool opened = take_texts(s, &m, wish.texts, err) && fit_model(&m, wish.resolution, err) &&
                  input_open(&in, &m, input, err),
         prefers = opened && !model_path && is_photo(&in);
    if (opened && (!prefers || prefer_photos(&m, &in, wish.resolution, err))) {
        start(s, &m, prefers ? PHOTOS : model_path, &in, threads);
        s->model_chosen = model_path != NULL;
        snprintf(s->resolution, sizeof s->resolution, "%s", wish.resolution ? wish.resolution : "");
        return true;
    }
    if (opened)
        input_free(&in);
    else if (input && !wish.texts)
        grammar_suggest(&m, input, "vitrine", err);
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

static void forget_edits(Session *s)
{
    free_stack(s->undo, s->undo_count);
    free_stack(s->redo, s->redo_count);
    s->undo = s->redo = NULL;
    s->undo_count = s->redo_count = 0;
    s->undo_cap = s->redo_cap = 0;
}

/* Of the program's two models for pictures nobody chose one, nothing is changed or pinned, and the picture is of the
 * other's kind. */
static bool other_is_meant(const Session *s, const Model *m, const Input *in)
{
    bool ours = !*s->model_path ? m->drawn_shapes : m->seen.mean != NULL;
    return ours && m == &s->model && !s->model_chosen && !*s->resolution && !s->model_uses && !session_edited(s) &&
           !s->pinned && (m->drawn_shapes ? is_photo(in) : in->drawn);
}

static bool open_other(Session *s, Input *in, Err *err)
{
    Model other;
    Input again;
    const char *path = s->model.drawn_shapes ? PHOTOS : NULL;
    bool ok = load_model(s, &other, path, err);
    if (ok && !input_copy(&again, in, &other, err)) {
        model_free(&other);
        ok = false;
    }
    input_free(in);
    if (ok) {
        fresh(s, &other, path, &again);
        forget_edits(s);
    }
    return ok;
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
        return file && grammar_suggest(m, input, "open", err);
    if (file != input) { /* lent: it is known by the name that was asked for */
        const char *slash = strrchr(input, '/');
        snprintf(in.path, sizeof in.path, "%s", input);
        utf8_clean(in.name, sizeof in.name, slash ? slash + 1 : input);
    }
    if (other_is_meant(s, m, &in))
        return open_other(s, &in, err);
    Exhibit *e = session_add(s, m, &in);
    if (!session_show(s, e, err)) { /* an edit that this input does not allow */
        session_drop(s, e);
        return false;
    }
    if (old != s->pinned && old->model) /* a worked example is somebody's */
        session_drop(s, old);
    return true;
}

/* The same input where it is of the model's kind; else the model's own first one: instead of ready values, which were
 * made for the model before, and of a text that this one can't read, or that nobody asked for. */
static bool open_same(Input *out, const Session *s, const Model *m, Err *err)
{
    Err unread;
    const Input *now = session_input(s, SIDE_B);
    const Model *was = s->now->model;
    const bool text = now->kind == INPUT_TEXT, numbers = text && strncmp(now->path, "ids:", 4) == 0,
               other = !was || was->source.n != m->source.n || was->target.n != m->target.n,
               fresh = now->ready || now->kind != m->family->input || now->invented || (numbers && other);
    if (!fresh && input_copy(out, now, m, text ? &unread : err))
        return true;
    return (fresh || text) && input_open(out, m, NULL, err);
}

bool session_open_model(Session *s, const char *path, Err *err)
{
    Model m = {0};
    Input in;
    const char *file = !path || model_in_program(path) ? path : permit_read(s, path, err);
    if (path && !file)
        return false;
    if (s->model_uses) /* the one that is open may be named */
        return strcmp(path ? path : "", s->model_path) == 0 || err_set(err, "%s", s->keep_model);
    if (!load_model(s, &m, file, err))
        return false;
    if (!open_same(&in, s, &m, err)) {
        model_free(&m);
        return false;
    }
    fresh(s, &m, path, &in);
    forget_edits(s);
    return true;
}

bool session_seen(const Session *s, float *distance)
{
    const float *far = session_peek(s, session_judged(s), site_path_any(session_base(s), SITE_SEEN_DISTANCE));
    *distance = far ? *far : 0;
    return far != NULL;
}

/* What an answer of a model that has learned from photographs is worth, and how far the picture is from those. */
static const char *photo_note(const Session *s, const Model *m, char out[SESSION_NOTE])
{
    const bool rendered = session_input(s, SIDE_B)->rendered;
    float far = 0;
    if (!session_seen(s, &far))
        return rendered ? "not a photograph: rendered by a program" : "one of ten names: whatever it sees";
    const char *what = !(far < m->seen.limit) ? "unlike its photos"
                       : rendered             ? "not a photograph"
                                              : "one of ten names";
    utf8_print(out, SESSION_NOTE,
               rendered ? "%s: rendered, distance %.1f (95 %%: below %.1f)"
                        : "%s: distance %.1f, 95 %% of photos below %.1f",
               what, (double)far, (double)m->seen.limit);
    return out;
}

/* Why a picture is none of those that the model can be asked about, or NULL. What counts stands before the colon, in 18
 * cells: a narrow pane has no room for more. */
static const char *unknown_kind(const Session *s, const Model *m, char out[SESSION_NOTE])
{
    const Input *in = session_input(s, SIDE_B);
    if (m->drawn_shapes && !in->drawn)
        return model_grid(m).classes == MODEL_BUNDLED_CLASSES
                   ? "no drawn shape: it knows ten of those and nothing else; `model photos`"
                   : "no drawn shape: it knows nothing else";
    if (!m->seen.mean)
        return NULL;
    if (in->drawn)
        return "not a photograph: this is drawn; `model bundled`";
    return photo_note(s, m, out);
}

const char *session_model_note(const Session *s, char out[SESSION_NOTE])
{
    const Model *m = session_exhibit(s, SIDE_B)->model;
    if (!m)
        return "";
    if (!m->trained && !*session_input(s, SIDE_B)->note)
        return "untrained";
    const char *unknown = unknown_kind(s, m, out);
    if (unknown)
        return unknown;
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

/* ---- which of the program's own models is meant ---- */

/* A folder of that name is one of pictures, unless a model lies in it. */
bool photos_asked(const char *model)
{
    return model && strcmp(model, PHOTOS) == 0 && (!file_exists(model) || file_is_dir(model)) &&
           !file_exists("photos/model.safetensors");
}

static ModelBytes photos_file(const char *name)
{
    const Asset *a = asset_find(name);
    return a ? (ModelBytes){a->data, a->size} : (ModelBytes){0};
}

bool photos_open(Model *m, Err *err)
{
    const ModelFiles files = {.name = PHOTOS,
                              .weights = photos_file("photos.safetensors"),
                              .config = photos_file("photos-config.json"),
                              .processor = photos_file("photos-preprocessor_config.json"),
                              .seen = photos_file("photos-seen.safetensors")};
    return model_load_files(m, &files, err);
}

bool model_in_program(const char *model)
{
    return photos_asked(model) || (text_asked(model) && !file_exists(model));
}

static const char BUNDLED[] = "translator";

static bool bundled(const char *model)
{
    return !model || (strcmp(model, BUNDLED) == 0 && !file_exists(model));
}

bool text_asked(const char *model)
{
    return model && (bundled(model) || text_model_is(model));
}

bool text_open(Model *m, const char *model, Err *err)
{
    const Asset *a = asset_find("translator.f32");
    if (bundled(model))
        return text_model_bundled(m, a ? a->data : NULL, a ? a->size : 0, err);
    if (!text_asked(model) && (!checkpoint_trained(model ? model : "", err) || !file_there(model, err)))
        return false;
    if (!text_asked(model))
        return err_set(err, "%.300s: is no text model that is known here; without -m the bundled translator is taken",
                       model);
    return text_model_load(m, model, NULL, NULL, err);
}
