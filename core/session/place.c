/* The reader's place and the data cursor: how nodes are laid out in two dimensions, which block, attention and head
 * they are in, and how one goes from place to place. */
#include "core/session/place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/utf8.h"
#include "core/session/learned/decoding.h"
#include "core/session/screens.h"

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

int place_row(const Session *s, int box)
{
    int seen = box;
    for (int up = s->stages.boxes[box].parent; up != NO_BOX; up = s->stages.boxes[up].parent)
        if (!s->open[up] && !stages_is_block(&s->stages, up))
            seen = up;
    return seen;
}

int place_box(const Session *s)
{
    char path[SESSION_PATH];
    NodeId n = session_node(s, SIDE_B, of_gradient(s->place.path, path));
    int now = s->place.box, box = n == NO_NODE ? 0 : stages_of_node(&s->stages, n);
    bool there = now >= 0 && now < s->stages.count && place_row(s, now) == now;
    if (there && n != NO_NODE && s->stages.boxes[now].show == n) /* a block's row and that of its last part show one */
        return now;
    if (box == NO_BOX) /* a weight or a probe: stay on the step we are on */
        return there ? now : 0;
    return place_row(s, box);
}

void place_open(Session *s)
{
    for (int up = s->stages.boxes[s->place.box].parent; up != NO_BOX; up = s->stages.boxes[up].parent)
        s->open[up] = true;
}

void place_find_box(Session *s)
{
    s->place.box = place_box(s);
    place_open(s);
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
    place_find_box(s);
}

static void push(Session *s)
{
    if (s->back_count == SESSION_BACK) {
        memmove(s->back, s->back + 1, (SESSION_BACK - 1) * sizeof *s->back);
        s->back_count--;
    }
    s->back[s->back_count++] = s->place;
}

void place_push(Session *s)
{
    push(s);
    s->forward_count = 0;
}

/* Into one of the history, with the text that is read there. */
static void put_place(Session *s, const Place *to)
{
    decoding_return(s, s->place.text, to->text);
    s->place = *to;
    place_mend(s);
    s->changes++;
}

bool place_back(Session *s)
{
    if (s->back_count == 0)
        return false;
    if (s->forward_count < SESSION_BACK)
        s->forward[s->forward_count++] = s->place;
    put_place(s, &s->back[--s->back_count]);
    return true;
}

bool place_leave(Session *s)
{
    const ScreenGroup group = screen_now(s)->group;
    if ((group != GROUP_ARITHMETIC && group != GROUP_LEARNED) || !s->back_count)
        return false;
    do
        place_back(s);
    while (group == GROUP_LEARNED && screen_now(s)->group == group && s->back_count);
    return true;
}

bool place_forward(Session *s)
{
    if (s->forward_count == 0)
        return false;
    push(s);
    put_place(s, &s->forward[--s->forward_count]);
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

bool place_at_answer(const Session *s)
{
    return is_answer(session_graph(s, SIDE_B), s->place.path);
}

static bool arrives_at_answer(const Session *s, const char *path)
{
    return is_answer(session_graph(s, SIDE_B), path) && !place_at_answer(s);
}

void place_on_answer(Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = site_node_any(g, SITE_PROBS);
    int axis = node_role(g, n, ROLE_ANSWER), token = node_role(g, n, ROLE_QUERY), best = 0;
    const float *x = n == NO_NODE ? NULL : session_peek(s, SIDE_B, graph_node(g, n)->path);
    s->place.due = 0;
    if (axis == AXIS_NONE || graph_node(g, n)->dims.n != 1 + (token != AXIS_NONE))
        return;
    if (!x) {
        s->place.due = s->place.at[axis] + 1;
        return;
    }
    if (token != AXIS_NONE) /* of words the row of the token under the cursor */
        x += (size_t)session_index_on(s, g, token) * (size_t)g->axes[axis].n;
    for (int i = 1; i < g->axes[axis].n; i++)
        best = x[i] > x[best] ? i : best;
    s->place.at[axis] = best;
}

void place_arrive(Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = s->place.due ? site_node_any(g, SITE_PROBS) : NO_NODE;
    int axis = n == NO_NODE ? AXIS_NONE : node_role(g, n, ROLE_ANSWER), due = s->place.due;
    if (axis == AXIS_NONE || !place_at_answer(s) || !session_peek(s, SIDE_B, graph_node(g, n)->path))
        return;
    s->place.due = 0;
    if (s->place.at[axis] != due - 1) /* it was moved in the meantime */
        return;
    place_on_answer(s);
    s->changes++;
}

void place_on_box(Session *s, int box)
{
    const Box *b = &s->stages.boxes[box];
    const char *path = graph_node(session_graph(s, SIDE_B), b->show)->path;
    bool arrives = arrives_at_answer(s, path);
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    s->place.screen = session_screen_for(s, path);
    s->place.box = box;
    place_open(s);
    s->place.term = 0;
    s->place.operand = 0;
    if (arrives)
        place_on_answer(s);
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
        place_on_answer(s);
    s->changes++;
    return true;
}

int session_step_number(const Session *s, int *total)
{
    *total = s->stages.steps;
    return s->stages.count ? s->stages.boxes[s->place.box].step : 0;
}

static bool is_role(const Graph *g, int axis, AxisRole role)
{
    return g->axes[axis].role == role;
}

/* The axes of one of two roles, in their order. */
static Dims take(const Graph *g, Dims d, AxisRole one, AxisRole other)
{
    Dims r = DIMS_SCALAR;
    for (int i = 0; i < d.n; i++)
        if (is_role(g, d.axis[i], one) || is_role(g, d.axis[i], other))
            r.axis[r.n++] = d.axis[i];
    return r;
}

Plane plane_make(const Graph *g, NodeId n)
{
    Dims d = graph_node(g, n)->dims;
    Plane p = {.rows = DIMS_SCALAR, .cols = DIMS_SCALAR, .held = DIMS_SCALAR};
    if (d.n >= 5 && is_role(g, d.axis[0], ROLE_CHANNEL)) { /* a picture: one channel, pixel rows × pixel columns */
        p.held = take(g, d, ROLE_CHANNEL, ROLE_CHANNEL);
        p.rows = take(g, d, ROLE_PLACE_ROW, ROLE_PIXEL_ROW);
        p.cols = take(g, d, ROLE_PLACE_COL, ROLE_PIXEL_COL);
    } else if (d.n == 3 && is_role(g, d.axis[0], ROLE_HEAD) && dims_role(g, d, ROLE_QUERY) != AXIS_NONE) {
        p.held = (Dims){.n = 1, .axis = {d.axis[0]}}; /* scores: one head */
        p.rows = (Dims){.n = 1, .axis = {d.axis[1]}};
        p.cols = (Dims){.n = 1, .axis = {d.axis[2]}};
    } else if (d.n == 3 && is_role(g, d.axis[0], ROLE_HEAD)) { /* weights of the heads: [h,e,d] */
        p.rows = (Dims){.n = 2, .axis = {d.axis[0], d.axis[1]}};
        p.cols = (Dims){.n = 1, .axis = {d.axis[2]}};
    } else if (d.n == 1) {
        p.cols = d;
    } else if (d.n > 1) {
        p.rows = (Dims){.n = 1, .axis = {d.axis[0]}};
        p.cols = dims_minus(d, p.rows);
    }
    p.row_count = graph_dims_cells(g, p.rows);
    p.col_count = graph_dims_cells(g, p.cols);
    return p;
}

void plane_set(const Graph *g, Dims dims, size_t joint, int *at)
{
    int index[DIMS_MAX];
    dims_unravel(g->axes, dims, joint, index);
    for (int i = 0; i < dims.n; i++)
        at[dims.axis[i]] = index[i];
}

/* The cursor is B's: on a side whose axes are shorter it stands on their last index. */
static size_t joint_index(const Graph *g, Dims dims, const int *at)
{
    int index[DIMS_MAX];
    for (int i = 0; i < dims.n; i++) {
        int a = dims.axis[i], last = g->axes[a].n - 1, k = a < SESSION_AXES ? at[a] : 0;
        index[i] = k < 0 ? 0 : k > last ? last : k;
    }
    return dims_ravel(g->axes, dims, index);
}

size_t plane_cell(const Graph *g, NodeId n, const Plane *p, const int *at, size_t row, size_t col)
{
    int moved[SESSION_AXES];
    REQUIRE(g->axis_count <= SESSION_AXES);
    memcpy(moved, at, sizeof moved);
    plane_set(g, p->rows, row, moved);
    plane_set(g, p->cols, col, moved);
    return joint_index(g, graph_node(g, n)->dims, moved);
}

void plane_cursor(const Graph *g, const Plane *p, const int *at, size_t *row, size_t *col)
{
    *row = joint_index(g, p->rows, at);
    *col = joint_index(g, p->cols, at);
}

int session_role(const Session *s, AxisRole role)
{
    const Graph *g = session_base(s);
    int own = node_role(g, graph_find(g, s->place.path), role);
    return own != AXIS_NONE ? own : graph_role(g, role, SEQUENCE_ANY);
}

void session_set_index(Session *s, int axis, int index)
{
    const Graph *g = session_base(s);
    const Axis *a = &g->axes[axis];
    REQUIRE(g->axis_count <= SESSION_AXES && index >= 0 && index < a->n);
    for (int i = 0; i < g->axis_count; i++)
        if (g->axes[i].role == a->role && g->axes[i].sequence == a->sequence && g->axes[i].n == a->n)
            s->place.at[i] = index;
    if (a->role == ROLE_ANSWER)
        s->place.due = 0;
}

/* Where an axis is among tokens or places of the picture: has a grid, and asks or is looked for. */
static bool follows_picture(const Axis *a)
{
    return a->cols > 0 && (a->role == ROLE_PLACE || a->role == ROLE_QUERY);
}

void session_sync(Session *s, int changed)
{
    const Graph *g = session_base(s);
    bool plane = node_role(g, graph_find(g, s->place.path), ROLE_OTHER_PLACE) != AXIS_NONE; /* its cursor has both */
    int *at = s->place.at, y = graph_role(g, ROLE_PLACE_ROW, SEQUENCE_ANY),
        x = graph_role(g, ROLE_PLACE_COL, SEQUENCE_ANY), row, col;
    if (changed < 0 || changed >= g->axis_count || y == AXIS_NONE || x == AXIS_NONE)
        return;
    const Axis *a = &g->axes[changed];
    if (a->role == ROLE_PLACE_ROW || a->role == ROLE_PLACE_COL) {
        row = at[y];
        col = at[x];
    } else if (!follows_picture(a) || !axis_patch(a, at[changed], &row, &col))
        return; /* a prefix token has no place in the picture */
    for (int i = 0; i < g->axis_count; i++) {
        const Axis *b = &g->axes[i];
        bool follows = follows_picture(b) || (b->role == ROLE_OTHER_PLACE && !plane);
        int index = b->role == ROLE_PLACE_ROW   ? row
                    : b->role == ROLE_PLACE_COL ? col
                    : follows                   ? (b->kind == AXIS_TOKEN ? b->prefix : 0) + row * b->cols + col
                                                : -1;
        if (index >= 0 && index < b->n)
            at[i] = index;
    }
}

int session_block(const Session *s)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_block_of(g, s->place.path);
    return part == NO_PART ? -1 : anatomy_part(g, part)->block;
}

/* The stack of the focus, or the first one. */
static const char *stack_here(const Session *s, const Graph *g)
{
    int part = anatomy_block_of(g, s->place.path);
    part = part == NO_PART ? anatomy_next(g, NO_PART, PART_BLOCK) : part;
    return part == NO_PART ? NULL : anatomy_part(g, part)->stack;
}

static int blocks_of(const Session *s, const Graph *g)
{
    const char *stack = stack_here(s, g);
    return stack ? anatomy_blocks(g, stack) : 0;
}

int session_blocks(const Session *s)
{
    return blocks_of(s, session_base(s));
}

int session_blocks_on(const Session *s, Side side)
{
    return blocks_of(s, session_graph(s, side));
}

int session_attention(const Session *s, const Graph *g, int block)
{
    int own = anatomy_of(g, s->place.path), around = anatomy_block_of(g, s->place.path);
    const char *stack = stack_here(s, g), *kind = NULL;
    if (own != NO_PART && anatomy_part(g, own)->kind == PART_ATTENTION)
        kind = anatomy_part(g, own)->word;
    int number = block >= 0 ? block : around == NO_PART ? 0 : anatomy_part(g, around)->block;
    int in = anatomy_block(g, stack, number);
    if (in == NO_PART)
        return NO_PART;
    for (int i = NO_PART; kind && (i = anatomy_next_in(g, i, PART_ATTENTION, in)) != NO_PART;)
        if (strcmp(anatomy_part(g, i)->word, kind) == 0)
            return i;
    return anatomy_next_in(g, NO_PART, PART_ATTENTION, in);
}

const char *session_attention_name(const Graph *g, int part, char out[ATTENTION_NAME])
{
    const Part *p = anatomy_part(g, part);
    int word = (int)strcspn(p->word, "- ");
    if (*p->stack)
        utf8_print(out, ATTENTION_NAME, "%.3s %d %.*s", p->stack, p->block, word > 8 ? 8 : word, p->word);
    else
        snprintf(out, ATTENTION_NAME, "block %d", p->block);
    return out;
}

const char *session_attention_site(const Session *s, const Graph *g, int block, Site site)
{
    return site_path(g, session_attention(s, g, block), site);
}

int session_head(const Session *s)
{
    int h = session_role(s, ROLE_HEAD);
    return h == AXIS_NONE ? 0 : s->place.at[h];
}

const char *session_in_block(const Graph *g, const char *path, int block, char out[SESSION_PATH])
{
    int from = anatomy_block_of(g, path);
    int to = from == NO_PART ? NO_PART : anatomy_block(g, anatomy_part(g, from)->stack, block);
    if (to == NO_PART || !anatomy_carry(g, path, from, to, out, SESSION_PATH))
        snprintf(out, SESSION_PATH, "%s", path);
    return out;
}

void place_carry(Session *s, const char *path)
{
    const Graph *g = session_graph(s, SIDE_B);
    int part = anatomy_block_of(g, path), row = NO_BOX;
    if (part != NO_PART && stages_is_block(&s->stages, s->place.box))
        row = stages_find(&s->stages, anatomy_part(g, part)->scope);
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    s->place.box = row == NO_BOX ? s->place.box : row;
    place_find_box(s);
}

bool session_to_attention(Session *s, int number)
{
    const Graph *g = session_graph(s, SIDE_B);
    int from = anatomy_of(g, s->place.path), to = anatomy_attention(g, number);
    char path[SESSION_PATH];
    if (to == NO_PART)
        return false;
    bool carried = from != NO_PART && anatomy_part(g, from)->kind == PART_ATTENTION &&
                   anatomy_carry(g, s->place.path, from, to, path, sizeof path) &&
                   session_node(s, SIDE_B, path) != NO_NODE;
    if (!carried) /* the focus was elsewhere, or is on what that attention lacks */
        snprintf(path, sizeof path, "%s", site_path(g, to, SITE_PATTERN));
    if (session_node(s, SIDE_B, path) == NO_NODE)
        return false;
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    place_find_box(s);
    return true;
}

bool place_on_largest(Session *s, bool any_row, float *value, int *seen)
{
    const Graph *g = session_graph(s, SIDE_B);
    NodeId n = session_node(s, SIDE_B, s->place.path);
    int query = node_role(g, n, ROLE_QUERY), key = node_role(g, n, ROLE_KEY), t = 0, u = 0;
    const float *x = query == AXIS_NONE || key == AXIS_NONE ? NULL : session_need(s, SIDE_B, s->place.path, NULL);
    if (!x)
        return false;
    Dims d = graph_node(g, n)->dims;
    const size_t down = dims_stride(g->axes, d, query), on = dims_stride(g->axes, d, key);
    x += session_cell(s, SIDE_B, n) - (size_t)s->place.at[query] * down - (size_t)s->place.at[key] * on;
    double most = -HUGE_VAL;
    for (int i = any_row ? 0 : s->place.at[query]; i < (any_row ? g->axes[query].n : s->place.at[query] + 1); i++) {
        int best = 0, count = 0;
        for (int k = 0; k < g->axes[key].n; k++) {
            count += x[(size_t)i * down + (size_t)k * on] != 0;
            best = x[(size_t)i * down + (size_t)k * on] > x[(size_t)i * down + (size_t)best * on] ? k : best;
        }
        double sided = (double)x[(size_t)i * down + (size_t)best * on] * (any_row ? count : 1);
        if (sided > most) {
            most = sided;
            *seen = count;
            t = i;
            u = best;
        }
    }
    if (any_row) {
        session_set_index(s, query, t);
        session_sync(s, query);
    } else
        t = s->place.at[query];
    session_set_index(s, key, u);
    *value = x[(size_t)t * down + (size_t)u * on];
    return true;
}
