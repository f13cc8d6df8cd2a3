/* Reading a state: all of it or nothing. What was there is kept until the last line has run. */
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/models/drawn.h"
#include "core/session/exhibit.h"
#include "core/session/input.h"
#include "core/session/learned/gradient.h"
#include "core/session/place.h"
#include "core/session/state.h"
#include "core/session/state_parts.h"

/* What brings a session back to where it was without a file: pictures as they were decoded, edits with what they read.
 */
typedef struct Keep {
    char model_path[sizeof((Session *)0)->model_path];
    Input now, pinned;
    bool has_pinned;
    EditState edits, pinned_edits;
    GradTarget target;
    Compare compare;
    LookAt look;
    Place place;
    Place back[SESSION_BACK];
    int back_count, undo_count;
    Buf boxes;
} Keep;

static Image image_copy(const Image *from)
{
    Image im = *from;
    if (!from->data)
        return im;
    im.data = xmalloc(image_bytes(from));
    memcpy(im.data, from->data, image_bytes(from));
    return im;
}

/* As it is, for the same model: nothing is resized again. */
static Input input_as_is(const Input *from)
{
    Input in = *from;
    in.original = image_copy(&from->original);
    in.resized = image_copy(&from->resized);
    in.arena = (Arena){0};
    for (int i = 0; i < TEXTS; i++)
        in.text[i] = text_copy(&in.arena, from->text[i]);
    if (from->values) {
        in.values = xfloats(in.cells);
        memcpy(in.values, from->values, in.cells * sizeof *in.values);
    }
    if (from->mask) {
        uint8_t *mask = xmalloc(DRAWN_SIDE * DRAWN_SIDE);
        memcpy(mask, from->mask, DRAWN_SIDE * DRAWN_SIDE);
        in.mask = mask;
    }
    return in;
}

static void keep(const Session *s, Keep *k)
{
    *k = (Keep){.has_pinned = session_pinned(s),
                .edits = edit_state_copy(&s->edits),
                .pinned_edits = session_pinned(s) ? edit_state_copy(&s->pinned->lines) : (EditState){0},
                .target = s->target,
                .compare = s->compare,
                .look = s->look,
                .place = s->place,
                .back_count = s->back_count,
                .undo_count = s->undo_count};
    memcpy(k->model_path, s->model_path, sizeof k->model_path);
    memcpy(k->back, s->back, sizeof k->back);
    for (int i = 0; i < s->stages.count; i++)
        if (s->open[i])
            buf_printf(&k->boxes, "%s\n", s->stages.boxes[i].path);
    k->now = input_as_is(session_input(s, SIDE_B));
    if (k->has_pinned)
        k->pinned = input_as_is(session_input(s, SIDE_A));
}

static void keep_free(Keep *k)
{
    input_free(&k->now);
    input_free(&k->pinned);
    edit_state_free(&k->edits);
    edit_state_free(&k->pinned_edits);
    buf_free(&k->boxes);
}

/* An exhibit of that input comes on show, with these edits. */
static bool show(Session *s, Input *in, const EditState *edits, Err *err)
{
    Exhibit *old = s->now;
    edit_state_free(&s->edits); /* what is pinned keeps what its own made */
    s->edits = (EditState){0};
    if (!session_show(s, session_add(s, &s->model, in), err))
        return false;
    if (old != s->pinned)
        session_drop(s, old);
    return edits_apply(s, edits, false, err);
}

static void open_boxes(Session *s, const char *paths)
{
    memset(s->open, 0, (size_t)s->stages.count * sizeof *s->open);
    for (const char *p = paths; *p; p += strcspn(p, "\n") + 1) {
        char path[SESSION_PATH];
        utf8_print(path, sizeof path, "%.*s", (int)strcspn(p, "\n"), p);
        int box = stages_find(&s->stages, path);
        if (box != NO_BOX)
            s->open[box] = true;
    }
}

/* Where the reader stood, and how they looked at it. */
static void put_back(Session *s, const Keep *k)
{
    s->compare = k->compare;
    s->look = k->look;
    open_boxes(s, buf_str(&k->boxes));
    s->place = k->place;
    memcpy(s->back, k->back, sizeof k->back);
    s->back_count = k->back_count;
}

static bool restore(Session *s, Keep *k, Err *err)
{
    const char *model = *k->model_path ? k->model_path : NULL;
    if (strcmp(s->model_path, k->model_path) != 0 && !session_open_model(s, model, err))
        return false;
    session_drop(s, s->pinned);
    GradTarget none = {{0}, 0};
    s->target = none;
    bool ok = true;
    if (k->has_pinned) {
        ok = show(s, &k->pinned, &k->pinned_edits, err);
        s->pinned = s->now;
        s->pinned->lines = edit_state_copy(&k->pinned_edits);
    }
    ok = show(s, &k->now, &k->edits, err) && ok;
    if (*k->target.path)
        ok = gradient_set(s, &k->target, err) && ok;
    put_back(s, k);
    session_changed(s);
    while (s->undo_count > k->undo_count)
        edit_state_free(&s->undo[--s->undo_count]);
    return ok;
}

/* Can anything but the place and the look have changed? */
static bool subject_changed(const Session *s, const StateShot *before)
{
    StateShot *now = state_shot(s);
    Buf lines = {0};
    bool changed = !state_same(&now->model, &before->model) || !state_same(&now->input, &before->input) ||
                   !state_same(&now->pinned, &before->pinned) || !state_same(&now->gradient, &before->gradient) ||
                   state_edits_between(&before->edits, &now->edits, &lines);
    buf_free(&lines);
    state_shot_free(now);
    return changed;
}

/* Back from what a line did before the next one failed. */
static bool take_back(Session *s, Keep *k, const StateShot *before, Err *err)
{
    s->quit = false;
    if (subject_changed(s, before))
        return restore(s, k, err);
    put_back(s, k);
    place_mend(s);
    s->changes++;
    return true;
}

bool session_read(Session *s, const Commands *c, const char *text, unsigned allowed, Err *err)
{
    Keep k;
    Err other = {{0}};
    if (!text[strspn(text, " \t\n;")])
        return true;
    LogMark mark = log_mark(s);
    StateShot *before = state_shot(s);
    keep(s, &k);
    log_hold(s, true);
    bool ok = command_do(s, c, text, allowed, err);
    log_hold(s, false);
    if (!ok && !take_back(s, &k, before, &other))
        err_prefix(err, "what was shown is lost (%s)", other.text);
    state_shot_free(before);
    keep_free(&k);
    log_changes(s, &mark, text, ok);
    return ok;
}
