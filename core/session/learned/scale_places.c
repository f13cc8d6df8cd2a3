#include "core/session/learned/scale_places.h"

#include <stdio.h>
#include <string.h>

#include "core/session/edit/edits.h"
#include "core/session/exhibit.h"
#include "core/session/place.h"

#define PLACE(picture, block, head, query) {picture, block, head, query},
#define SEARCHED(pictures, changed)
const ScalePlace TELLING[SCALE_PLACES] = {
#include "core/session/learned/scale_places.def"
};
#undef PLACE
#undef SEARCHED

#define PLACE(picture, block, head, query)
#define SEARCHED(pictures, changed)                                                                                    \
    {                                                                                                                  \
        pictures, changed                                                                                              \
    }
const ScaleSearched SCALE_SEARCHED =
#include "core/session/learned/scale_places.def"
    ;
#undef PLACE
#undef SEARCHED

/* A is the model as trained, so that nothing may be pinned. */
static bool scale_off(Session *s, Err *err)
{
    session_drop(s, s->pinned);
    session_changed(s);
    EditState state = {0};
    edit_state_add(&state, "set scale off");
    bool ok = edits_apply(s, &state, true, err);
    edit_state_free(&state);
    if (ok)
        s->compare = COMPARE_SIDES;
    return ok;
}

/* The pattern of that block's attention; "" where it has none. */
static const char *pattern_of(const Session *s, int block)
{
    const Graph *g = session_base(s);
    const char *path = session_attention_site(s, g, block, SITE_PATTERN);
    return path && graph_find(g, path) != NO_NODE ? path : "";
}

static void stand_on(Session *s, const ScalePlace *p)
{
    const Graph *g = session_base(s);
    int h = graph_role(g, ROLE_HEAD, SEQUENCE_ANY), t = graph_role(g, ROLE_QUERY, SEQUENCE_ANY),
        u = graph_role(g, ROLE_KEY, SEQUENCE_ANY), query;
    if (h != AXIS_NONE && p->head < g->axes[h].n)
        s->place.at[h] = p->head;
    if (t == AXIS_NONE || u == AXIS_NONE || !axis_parse(&g->axes[t], p->query, &query))
        return;
    s->place.at[u] = query;
    s->place.at[t] = query;
    session_sync(s, t);
}

/* Short: it stands on one line of a small screen. */
static void tell(Session *s, int which)
{
    const int all = SCALE_SEARCHED.pictures, changed = SCALE_SEARCHED.changed;
    if (which == 0)
        session_say(s, "The row collapses: chosen, the deepest of %d; %d answers change.  :showcase 2", all, changed);
    else if (which == 1)
        session_say(s, "The typical one of %d: rows sharpen, %d answers stay.  :showcase 3", all, all - changed);
    else
        session_say(s, "Here little changes: chosen, the least of %d pictures.  i says what it shows", all);
}

bool scale_places_tell(Session *s)
{
    char input[32];
    for (int i = 0; i < SCALE_PLACES && !*s->model_path; i++) {
        snprintf(input, sizeof input, "#%u", TELLING[i].picture);
        if (strcmp(session_input(s, SIDE_B)->path, input) != 0 ||
            strcmp(s->place.path, pattern_of(s, TELLING[i].block)) != 0)
            continue;
        tell(s, i);
        return true;
    }
    return false;
}

const char *scale_places_input(char *out, size_t n)
{
    snprintf(out, n, "#%u", TELLING[0].picture);
    return out;
}

void scale_places_begin(Session *s)
{
    if (session_go(s, pattern_of(s, TELLING[0].block), SCREEN_ROW, NULL))
        stand_on(s, &TELLING[0]);
    s->back_count = 0;
}

bool scale_places_go(Session *s, int which, Err *err)
{
    char input[32];
    bool bundled = !*s->model_path;
    const ScalePlace *p = &TELLING[which];
    snprintf(input, sizeof input, "#%u", p->picture);
    if ((bundled && strcmp(session_input(s, SIDE_B)->path, input) != 0 && !session_open_input(s, input, err)) ||
        !scale_off(s, err))
        return false;
    const char *path = pattern_of(s, bundled ? p->block : 0);
    if (!*path)
        return err_set(err, "this model has no attention");
    s->look.average = false;
    if (!session_go(s, path, SCREEN_ROW, err))
        return false;
    if (bundled) {
        stand_on(s, p);
        tell(s, which);
    } else
        session_say(s, session_vit(s)
                           ? "1/√d_k is taken away. `vitrine evaluate --showcase` finds where that tells most."
                           : "1/√d_k is taken away in every attention.  u undoes");
    return true;
}
