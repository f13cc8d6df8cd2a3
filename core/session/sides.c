/* What A and B are: runs of exhibits, and where the data cursor stands in each. Two sides may differ in everything,
 * lengths too: an index of one means nothing on the other before session_at has looked. */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/session/ask/closeup.h"
#include "core/session/difference.h"
#include "core/session/exhibit.h"
#include "core/session/learned/decoding.h"
#include "core/session/learned/measures.h"
#include "core/session/place.h"
#include "core/session/session.h"
#include "core/train/task.h"

bool session_edited(const Session *s)
{
    return s->now->pass.edited != NULL;
}

bool session_pinned(const Session *s)
{
    return s->pinned != NULL;
}

bool session_compares(const Session *s)
{
    return session_edited(s) || session_pinned(s);
}

Side session_side(const Session *s)
{
    if (!session_compares(s))
        return SIDE_A;
    return s->compare == COMPARE_A ? SIDE_A : s->compare == COMPARE_DIFF ? SIDE_DIFF : SIDE_B;
}

/* The run that a side is; every number has one. */
static RunRow row_of(const Session *s, Side side)
{
    if (side >= RUN_FIRST && (size_t)side < s->run_count && s->runs[side].exhibit)
        return s->runs[side];
    Exhibit *e = side == SIDE_A && s->pinned ? s->pinned : s->now;
    return (RunRow){e, e->pass.edited && (side != SIDE_A || s->pinned)};
}

const Graph *session_graph(const Session *s, Side side)
{
    RunRow r = row_of(s, side);
    const Forward *p = &r.exhibit->pass;
    return r.edited && p->edited ? p->edited : p->base;
}

Run *session_run(const Session *s, Side side)
{
    RunRow r = row_of(s, side);
    const Forward *p = &r.exhibit->pass;
    return r.edited && p->edited_run ? p->edited_run : p->base_run;
}

const Exhibit *session_exhibit(const Session *s, Side side)
{
    return row_of(s, side).exhibit;
}

const Input *session_input(const Session *s, Side side)
{
    return &session_exhibit(s, side)->input;
}

bool session_words(const Session *s, Side side)
{
    return session_input(s, side)->kind == INPUT_TEXT;
}

const InputWords *session_input_words(const Session *s, Side side)
{
    static const InputWords TEXT = {
        .said = "Sentence",
        .alike = "text of the same length",
        .no_answer = "this model has no answer in words: `vitrine embed` and the node embedding are what it ends with",
        .no_loss = "this model has no answer in words, hence no logits and no loss: it ends with the vector embedding, "
                   "and a number of "
                   "it, `gradient embedding[d=0]`, has gradients",
        .no_ledger = "this model has no answer in words to take a ledger of: it ends with the vector embedding, and a "
                     "number of it, `ledger embedding[d=0]`, has one",
        .held_out = "held-out sentences"};
    static const InputWords PICTURE = {.said = "Picture",
                                       .alike = "picture",
                                       .no_answer = "this model has no classes",
                                       .no_loss = "this model has no classes, hence no loss",
                                       .no_ledger = "this model does not choose between classes",
                                       .held_out = "held-out pictures"};
    return session_words(s, side) ? &TEXT : &PICTURE;
}

const char *session_no_answer(const Session *s, Side side)
{
    return session_input_words(s, side)->no_answer;
}

bool session_as_trained(const Session *s, Side side)
{
    RunRow r = row_of(s, side);
    return side != SIDE_DIFF && r.exhibit->model == s->now->model && session_graph(s, side) == r.exhibit->pass.base;
}

const Graph *session_base(const Session *s)
{
    return s->now->pass.base;
}

Side session_judged(const Session *s)
{
    return session_run_number(s->now, false);
}

Side session_run_number(const Exhibit *e, bool edited)
{
    return (Side)(edited ? e->pass.edited_number : e->pass.base_number);
}

Ref session_ref(Side side, NodeId n, size_t cell)
{
    return (Ref){.run = (uint16_t)side, .node = n, .cell = cell};
}

bool session_hash(const Session *s, Side side, uint64_t *hash)
{
    return run_hash(session_run(s, side), hash);
}

/* --- what B is --- */

static int length_of(const Session *s, AxisRole role)
{
    const Graph *g = session_base(s);
    int axis = graph_role(g, role, SEQUENCE_ANY);
    return axis == AXIS_NONE ? 0 : g->axes[axis].n;
}

int session_tokens(const Session *s)
{
    const Graph *g = session_base(s);
    NodeId n = site_node_any(g, SITE_TOKENS_OUT);
    int axis = node_role(g, n, ROLE_QUERY);
    return axis == AXIS_NONE ? length_of(s, ROLE_QUERY) : g->axes[axis].n;
}

int session_heads(const Session *s)
{
    return length_of(s, ROLE_HEAD);
}

int session_classes(const Session *s)
{
    return length_of(s, ROLE_ANSWER);
}

float session_scale(const Session *s)
{
    const Graph *g = session_base(s);
    NodeId n = site_node_any(g, SITE_SCALE);
    return n != NO_NODE && graph_node(g, n)->op == OP_LEAF ? graph_node(g, n)->leaf.data[0] : 1;
}

bool session_by_attention(const Session *s)
{
    return s->now->model && s->now->model->family->by_attention;
}

const TaskKind *session_task(const Session *s)
{
    return task_of_model(s->now->model);
}

const char *session_first(const Session *s)
{
    static const Site FIRST[] = {SITE_IMAGE, SITE_INPUT, SITE_EMBEDDED};
    const Graph *g = session_base(s);
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) {
        NodeId n = site_node_any(g, FIRST[i]);
        if (n != NO_NODE)
            return graph_node(g, n)->path;
    }
    return graph_node(g, 0)->path;
}

/* --- nodes of a side --- */

NodeId session_node(const Session *s, Side side, const char *path)
{
    const Graph *b = session_graph(s, SIDE_B);
    if (!path)
        return NO_NODE;
    if (side != SIDE_DIFF)
        return graph_find(session_graph(s, side), path);
    const Graph *a = session_graph(s, SIDE_A);
    NodeId n = graph_find(a, path), m = graph_find(b, path);
    return n != NO_NODE && m != NO_NODE && difference_same_shape(a, n, b, m) ? m : NO_NODE;
}

const char *session_diff_why(const Session *s, const char *path, char out[SESSION_WHY])
{
    const Graph *a = session_graph(s, SIDE_A), *b = session_graph(s, SIDE_B);
    NodeId n = graph_find(a, path), m = graph_find(b, path);
    if (n == NO_NODE || m == NO_NODE) {
        utf8_print(out, SESSION_WHY, "%s has no %.200s", n == NO_NODE ? m == NO_NODE ? "neither side" : "A" : "B",
                   path);
        return out;
    }
    Dims d = graph_node(a, n)->dims, e = graph_node(b, m)->dims;
    if (difference_same_shape(a, n, b, m))
        return NULL;
    for (int i = 0; i < d.n && i < e.n; i++) {
        const Axis *x = &a->axes[d.axis[i]], *y = &b->axes[e.axis[i]];
        if (strcmp(x->sym, y->sym) == 0 && x->n != y->n) {
            snprintf(out, SESSION_WHY, "A and B differ in length: %s = %d (%s) in A, %d in B", x->sym, x->n, x->name,
                     y->n);
            return out;
        }
    }
    utf8_print(out, SESSION_WHY, "%.200s has other axes in A than in B", path);
    return out;
}

/* --- the data cursor on a side --- */

static bool same_axis(const Axis *a, const Axis *b)
{
    return a->role == b->role && a->sequence == b->sequence && strcmp(a->sym, b->sym) == 0;
}

/* The axis of `of` that says the same as axis i of g, or AXIS_NONE. The same place in the table is looked at first. */
static int axis_on(const Graph *of, const Graph *g, int i)
{
    if (i < of->axis_count && same_axis(&of->axes[i], &g->axes[i]))
        return i;
    for (int k = 0; k < of->axis_count; k++)
        if (same_axis(&of->axes[k], &g->axes[i]))
            return k;
    return AXIS_NONE;
}

/* The index that a place has on axis i of g, which may be past its end. */
static int index_on(const Session *s, const Place *place, const Graph *g, int i)
{
    int axis = axis_on(session_graph(s, SIDE_B), g, i);
    return axis == AXIS_NONE || axis >= SESSION_AXES || place->at[axis] < 0 ? 0 : place->at[axis];
}

static int inside(const Session *s, const Place *place, const Graph *g, int i)
{
    int index = index_on(s, place, g, i), last = g->axes[i].n - 1;
    return index < last ? index : last;
}

int session_index_on(const Session *s, const Graph *g, int axis)
{
    return inside(s, &s->place, g, axis);
}

const int *session_at_place(const Session *s, Side side, const Place *place, int at[SESSION_AXES])
{
    const Graph *g = session_graph(s, side);
    REQUIRE(g->axis_count <= SESSION_AXES);
    memset(at, 0, SESSION_AXES * sizeof *at);
    for (int i = 0; i < g->axis_count; i++)
        at[i] = inside(s, place, g, i);
    return at;
}

const int *session_at(const Session *s, Side side, int at[SESSION_AXES])
{
    return session_at_place(s, side, &s->place, at);
}

bool session_point(const Session *s, Side side, Dims dims, size_t joint, int at[SESSION_AXES], Err *err)
{
    const Graph *g = session_graph(s, side), *b = session_graph(s, SIDE_B);
    int index[DIMS_MAX], axis[DIMS_MAX];
    dims_unravel(g->axes, dims, joint, index);
    for (int i = 0; i < dims.n; i++) {
        const Axis *a = &g->axes[dims.axis[i]];
        axis[i] = axis_on(b, g, dims.axis[i]);
        if (axis[i] == AXIS_NONE && index[i] > 0)
            return err_set(err, "the cursor cannot go to %s=%d: B has no %s", a->sym, index[i], a->name);
        if (axis[i] != AXIS_NONE && (axis[i] >= SESSION_AXES || index[i] >= b->axes[axis[i]].n))
            return err_set(err, "the cursor cannot go to %s=%d: B ends at %d", a->sym, index[i],
                           b->axes[axis[i]].n - 1);
    }
    for (int i = 0; i < dims.n; i++)
        if (axis[i] != AXIS_NONE)
            at[axis[i]] = index[i];
    return true;
}

size_t session_cell(const Session *s, Side side, NodeId n)
{
    const Graph *g = session_graph(s, side);
    Dims d = graph_node(g, n)->dims;
    int index[DIMS_MAX];
    for (int i = 0; i < d.n; i++)
        index[i] = inside(s, &s->place, g, d.axis[i]);
    return dims_ravel(g->axes, d, index);
}

bool session_cell_there(const Session *s, Side side, NodeId n)
{
    const Graph *g = session_graph(s, side);
    Dims d = graph_node(g, n)->dims;
    for (int i = 0; i < d.n; i++)
        if (index_on(s, &s->place, g, d.axis[i]) >= g->axes[d.axis[i]].n)
            return false;
    return true;
}

const float *session_peek(const Session *s, Side side, const char *path)
{
    NodeId n = session_node(s, side, path);
    if (n == NO_NODE)
        return NULL;
    return side == SIDE_DIFF ? difference_peek(s, path) : run_peek(session_run(s, side), n);
}

static bool step_one(Session *s, Side side, const char *path, int64_t deadline)
{
    NodeId n = session_node(s, side, path);
    if (n == NO_NODE)
        return true; /* absent here: the view says so */
    return side == SIDE_DIFF ? difference_step(s, path, deadline) : run_step(session_run(s, side), n, deadline);
}

/* What became of a node's tokens from A to B. */
static bool step_of_both(Session *s, const Need *need, int64_t deadline)
{
    if (session_node(s, SIDE_DIFF, need->path) == NO_NODE)
        return true;
    return need->what == NEED_MOVED ? difference_moved_step(s, need->path, deadline)
                                    : difference_changed_step(s, need->path, deadline);
}

bool session_step_pass(Session *s, const Need *needs, int count, int64_t deadline_ns)
{
    for (int i = 0; i < count; i++)
        if (need_of_both(needs[i].what) ? !step_of_both(s, &needs[i], deadline_ns)
                                        : !step_one(s, needs[i].side, needs[i].path, deadline_ns))
            return false;
    place_arrive(s);
    for (int i = 0; i < count; i++)
        explained_make(s, &needs[i]);
    if (clock_ns() >= deadline_ns && session_busy(s))
        return false;
    return run_step_all(session_run(s, SIDE_B), deadline_ns) && run_step_all(session_run(s, SIDE_A), deadline_ns);
}

bool session_step(Session *s, const Need *needs, int count, int64_t deadline_ns)
{
    return session_step_pass(s, needs, count, deadline_ns) && measures_step(s, deadline_ns);
}

const float *session_need(Session *s, Side side, const char *path, Err *err)
{
    if (session_node(s, side, path) == NO_NODE) {
        char why[SESSION_WHY];
        bool differs = side == SIDE_DIFF && session_node(s, SIDE_B, path) != NO_NODE;
        if (differs)
            err_set(err, "there is no A − B of %s: %s", path, session_diff_why(s, path, why));
        else
            err_set(err, "there is no node '%s' here", path);
        return NULL;
    }
    int64_t slice = 100000000;
    while (!step_one(s, side, path, clock_ns() + slice))
        if (s->progress && !s->progress(s->progress_context, path, session_progress_share(s))) {
            err_set(err, "cancelled");
            return NULL;
        }
    return session_peek(s, side, path);
}

void session_trim(Session *s)
{
    for (int i = 0; i < s->exhibit_count; i++) /* a run trims those that it shares values with too */
        run_trim(s->exhibits[i]->pass.base_run);
    difference_trim(s);
}

bool session_again(const Session *s, double *share)
{
    double a = run_share(session_run(s, SIDE_A)), b = run_share(session_run(s, SIDE_B));
    *share = a < b ? a : b;
    return !session_busy(s) && *share < 1;
}

size_t session_held(const Session *s, size_t *most)
{
    size_t held = difference_bytes(s) + decoding_held(s, most);
    for (int i = 0; i < s->exhibit_count; i++) {
        const Forward *p = &s->exhibits[i]->pass;
        held += run_bytes(p->base_run) + run_bytes(p->edited_run);
        *most += run_peak_bytes(p->base_run);
    }
    return held;
}

bool session_busy(const Session *s)
{
    return !run_complete(session_run(s, SIDE_B)) || !run_complete(session_run(s, SIDE_A));
}

double session_progress_share(const Session *s)
{
    double a = run_progress(session_run(s, SIDE_A)), b = run_progress(session_run(s, SIDE_B));
    return a < b ? a : b;
}
