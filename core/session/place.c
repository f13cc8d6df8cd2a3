#include "core/session/place.h"

#include <stdio.h>
#include <string.h>

#include "core/base/err.h"

static void clamp_indices(Session *s)
{
    const Graph *g = session_base(s);
    REQUIRE(g->axis_count <= SESSION_AXES);
    for (int i = 0; i < g->axis_count; i++)
        if (s->place.at[i] >= g->axes[i].n || s->place.at[i] < 0)
            s->place.at[i] = 0;
}

/* The node that a gradient is the gradient of; the path itself elsewhere. */
static const char *of_gradient(const char *path, char out[SESSION_PATH])
{
    static const char GRAD[] = "grad.";
    size_t skip = strncmp(path, GRAD, strlen(GRAD)) == 0 ? strlen(GRAD) : 0;
    snprintf(out, SESSION_PATH, "%s", path + skip);
    char *from = skip ? strstr(out, ".from.") : NULL;
    if (from)
        *from = 0;
    return out;
}

void place_find_box(Session *s)
{
    char path[SESSION_PATH];
    NodeId n = session_node(s, SIDE_B, of_gradient(s->place.path, path));
    int box = n == NO_NODE ? 0 : stages_of_node(&s->stages, n), seen = box;
    if (box == NO_BOX) /* a weight or a probe: stay on the step we are on */
        return;
    /* a box is visible when every box around it is open: the outermost closed one around it stands for it */
    for (int up = s->stages.boxes[box].parent; up != NO_BOX; up = s->stages.boxes[up].parent)
        if (!s->open[up])
            seen = up;
    s->place.box = seen;
}

/* From the masked scores of an attention to the scaled ones: the mask may be gone. */
static void unmask(Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_of(g, s->place.path);
    const char *masked = site_path(g, part, SITE_SCORES_MASKED), *scaled = site_path(g, part, site_scores(g, part));
    if (masked && scaled && strncmp(s->place.path, masked, strlen(masked)) == 0)
        snprintf(s->place.path, sizeof s->place.path, "%s", scaled);
}

void place_mend(Session *s)
{
    clamp_indices(s);
    if (s->stages.count == 0)
        return;
    if (session_node(s, SIDE_B, s->place.path) == NO_NODE) {
        char path[SESSION_PATH];
        snprintf(s->place.path, sizeof s->place.path, "%s", of_gradient(s->place.path, path));
        char *edit = strstr(s->place.path, ".unedited");
        edit = edit ? edit : strstr(s->place.path, ".edit_");
        if (edit)
            *edit = 0;
        if (session_node(s, SIDE_B, s->place.path) == NO_NODE) /* masked scores after the mask was taken away */
            unmask(s);
        if (session_node(s, SIDE_B, s->place.path) == NO_NODE) {
            snprintf(s->place.path, sizeof s->place.path, "%s", session_first(s));
            s->place.screen = session_screen_for(s, s->place.path);
        }
    }
    if (s->place.box >= s->stages.count)
        s->place.box = 0;
    place_find_box(s);
}

void place_push(Session *s)
{
    if (s->back_count == SESSION_BACK) {
        memmove(s->back, s->back + 1, (SESSION_BACK - 1) * sizeof *s->back);
        s->back_count--;
    }
    s->back[s->back_count++] = s->place;
}

bool place_back(Session *s)
{
    if (s->back_count == 0)
        return false;
    s->place = s->back[--s->back_count];
    place_mend(s);
    s->changes++;
    return true;
}

/* The answer's shares or logits, or a node on the way to one of them. */
static bool is_answer(const Graph *g, const char *path)
{
    static const Site SITES[] = {SITE_PROBS, SITE_LOGITS};
    for (size_t i = 0; i < sizeof SITES / sizeof *SITES; i++) {
        const char *start = site_path_any(g, SITES[i]);
        if (start && strncmp(path, start, strlen(start)) == 0)
            return true;
    }
    return false;
}

static bool arrives_at_answer(const Session *s, const char *path)
{
    const Graph *g = session_graph(s, SIDE_B);
    return is_answer(g, path) && !is_answer(g, s->place.path);
}

/* Who comes to the answer stands on it, not on class 0: `why` there means why this. Before it is computed the cursor
 * stays. */
static void stand_on_answer(Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_PROBS);
    int axis = node_role(g, n, ROLE_ANSWER), token = node_role(g, n, ROLE_QUERY), best = 0;
    const float *x = n == NO_NODE ? NULL : session_peek(s, SIDE_B, graph_node(g, n)->path);
    if (!x || axis == AXIS_NONE || graph_node(g, n)->dims.n != 1 + (token != AXIS_NONE))
        return;
    if (token != AXIS_NONE) /* of words the row of the token under the cursor */
        x += (size_t)session_index_on(s, g, token) * (size_t)g->axes[axis].n;
    for (int i = 1; i < g->axes[axis].n; i++)
        best = x[i] > x[best] ? i : best;
    s->place.at[axis] = best;
}

void place_on_box(Session *s, int box)
{
    const Box *b = &s->stages.boxes[box];
    const char *path = graph_node(session_graph(s, SIDE_B), b->show)->path;
    bool arrives = arrives_at_answer(s, path);
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    s->place.screen = session_screen_for(s, path);
    s->place.box = box;
    s->place.term = 0;
    s->place.operand = 0;
    if (arrives)
        stand_on_answer(s);
    s->changes++;
}

bool session_go(Session *s, const char *path, Screen screen, Err *err)
{
    if (!path || session_node(s, SIDE_B, path) == NO_NODE)
        return err_set(err, "this model has no %.150s", path ? path : "such node");
    bool arrives = arrives_at_answer(s, path);
    place_push(s);
    if (path != s->place.path)
        snprintf(s->place.path, sizeof s->place.path, "%s", path);
    s->place.screen = screen;
    s->place.term = 0;
    s->place.operand = 0;
    place_find_box(s);
    if (arrives)
        stand_on_answer(s);
    s->changes++;
    return true;
}

int session_step_number(const Session *s, int *total)
{
    int number = 0, n = 0;
    for (int box = s->stages.count ? 0 : NO_BOX; box != NO_BOX; box = stages_after(&s->stages, s->open, box)) {
        n++;
        if (box == s->place.box)
            number = n;
    }
    *total = n;
    return number;
}
