#include "core/graph/edit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/graph/anatomy.h"

typedef struct Editor {
    Graph *out;
    const Graph *base;
    const Edit *edits;
    int count;
    NodeId *at;  /* [count]: the base node that each edits */
    NodeId *map; /* base node → node its consumers now read */
    /* A softmax row that is masked everywhere must give zeros: the masks of a scope wait here until its pattern is
     * built. */
    struct {
        int part;
        NodeId keep;
    } dead_rows[16];
    int dead_count;
} Editor;

bool selection_has(const Selection *s, Dims d, const int index[DIMS_MAX])
{
    for (int i = 0; i < s->n; i++) {
        int at = dims_find(d, s->range[i].axis);
        if (at >= 0 && (index[at] < s->range[i].from || index[at] >= s->range[i].to))
            return false;
    }
    return true;
}

static Dims selection_dims(const Selection *s, Dims d)
{
    Dims r = DIMS_SCALAR;
    for (int i = 0; i < d.n; i++)
        for (int k = 0; k < s->n; k++)
            if (s->range[k].axis == d.axis[i] && dims_find(r, d.axis[i]) < 0)
                r.axis[r.n++] = d.axis[i];
    return r;
}

static bool edit_check(const Graph *base, const Edit *e, Err *err)
{
    NodeId n = graph_find(base, e->path);
    if (n == NO_NODE)
        return err_set(err, "there is no node '%s' in this model", e->path);
    Dims d = graph_node(base, n)->dims;
    for (int i = 0; i < e->cells.n; i++) {
        int axis = e->cells.range[i].axis;
        if (axis < 0 || axis >= base->axis_count || dims_find(d, axis) < 0)
            return err_set(err, "%s has no axis %s", e->path,
                           axis >= 0 && axis < base->axis_count ? base->axes[axis].sym : "of that name");
        if (e->cells.range[i].from < 0 || e->cells.range[i].to > base->axes[axis].n ||
            e->cells.range[i].from >= e->cells.range[i].to)
            return err_set(err, "%s: %s goes from 0 to %d", e->path, base->axes[axis].sym, base->axes[axis].n - 1);
    }
    if ((e->kind == EDIT_MEAN || e->kind == EDIT_GATHER || e->kind == EDIT_OTHER) && dims_find(d, e->axis) < 0)
        return err_set(err, "%s has no such axis to work along", e->path);
    if (e->kind == EDIT_REDIRECT) {
        NodeId other = graph_find(base, e->other);
        if (other == NO_NODE || other >= n || graph_cells(base, other) != graph_cells(base, n))
            return err_set(err, "%s can't be read in place of %s", e->other, e->path);
    }
    if (e->kind == EDIT_OTHER) {
        NodeId other = graph_find(base, e->other);
        if (other == NO_NODE || other >= n || dims_minus(graph_node(base, other)->dims, dims_minus(d, DIMS(e->axis))).n)
            return err_set(err, "%s can't stand at places of %s", e->other, e->path);
    }
    return true;
}

/* A leaf with 1 in the cells to keep and 0 in the chosen ones, over only the axes that matter. */
static NodeId keep_leaf(Editor *ed, const char *name, const Edit *e, Dims dims)
{
    Graph *g = ed->out;
    size_t cells = graph_dims_cells(g, dims);
    float *keep = arena_alloc(&g->arena, size_mul(cells, sizeof *keep));
    for (size_t c = 0; c < cells; c++) {
        int index[DIMS_MAX];
        dims_unravel(g->axes, dims, c, index);
        keep[c] = selection_has(&e->cells, dims, index) ? 0.0f : 1.0f;
    }
    NodeId n = graph_leaf(g, name, dims,
                          (Leaf){LEAF_HOST, keep, arena_strdup(&g->arena, e->origin ? e->origin : "edit")});
    graph_flag(g, n, NODE_EDITED);
    return n;
}

/* Names of the nodes an edit adds: "z.edit_keep", "z.edit_keep2" for a second edit of z, … */
static const char *part(Editor *ed, const char *name, const char *what)
{
    for (int i = 1;; i++) {
        char path[256];
        char *s = i == 1 ? arena_printf(&ed->out->arena, "%s.%s", name, what)
                         : arena_printf(&ed->out->arena, "%s.%s%d", name, what, i);
        snprintf(path, sizeof path, "%s%s", ed->out->scope, s);
        if (graph_find(ed->out, path) == NO_NODE)
            return s;
    }
}

static void rename_node(Graph *g, NodeId n, const char *suffix)
{
    char path[256];
    for (int i = 1;; i++) {
        if (i == 1)
            snprintf(path, sizeof path, "%s.%s", g->nodes[n].path, suffix);
        else
            snprintf(path, sizeof path, "%s.%s%d", g->nodes[n].path, suffix, i);
        if (graph_find(g, path) == NO_NODE)
            break;
    }
    graph_rename(g, n, path);
}

/* What stands before the node's name: of a gradient, whose name is its whole path, nothing. */
static void set_scope(Graph *g, const Node *n)
{
    size_t before = strlen(n->path) - strlen(node_name(n));
    graph_scope(g, "%.*s", before ? (int)before - 1 : 0, n->path);
}

static NodeId copied(Editor *ed, const char *name, const Edit *e, Dims d)
{
    Graph *g = ed->out;
    size_t n = size_mul(graph_dims_cells(g, d), sizeof(float));
    float *data = arena_alloc(&g->arena, n);
    memcpy(data, e->data, n);
    NodeId id = graph_leaf(g, name, d,
                           (Leaf){LEAF_HOST, data, arena_strdup(&g->arena, e->origin ? e->origin : "edit")});
    return id;
}

static NodeId replaced(Editor *ed, const char *name, const Edit *e, NodeId x, float value)
{
    Graph *g = ed->out;
    NodeId with = graph_const(g, part(ed, name, "edit_value"), DIMS_SCALAR, value);
    graph_flag(g, with, NODE_EDITED);
    NodeId keep = keep_leaf(ed, part(ed, name, "edit_keep"), e, selection_dims(&e->cells, g->nodes[x].dims));
    return graph_where(g, name, keep, x, with);
}

/* The chosen cells of the data, the others as they are computed. */
static NodeId patched(Editor *ed, const char *name, const Edit *e, NodeId x)
{
    Graph *g = ed->out;
    NodeId with = copied(ed, part(ed, name, "edit_value"), e, g->nodes[x].dims);
    graph_flag(g, with, NODE_EDITED);
    NodeId keep = keep_leaf(ed, part(ed, name, "edit_keep"), e, selection_dims(&e->cells, g->nodes[x].dims));
    return graph_where(g, name, keep, x, with);
}

static NodeId averaged(Editor *ed, const char *name, const Edit *e, NodeId x)
{
    Graph *g = ed->out;
    Dims d = g->nodes[x].dims;
    NodeId keep = keep_leaf(ed, part(ed, name, "edit_keep"), e, selection_dims(&e->cells, d));
    NodeId sum = graph_reduce(g, part(ed, name, "edit_sum"), OP_SUM, x, dims_minus(d, DIMS(e->axis)));
    NodeId inverse = graph_const(g, part(ed, name, "edit_inverse"), DIMS_SCALAR, 1.0f / (float)g->axes[e->axis].n);
    NodeId mean = graph_zip(g, part(ed, name, "edit_mean"), OP_MUL, sum, inverse);
    for (NodeId n = sum; n <= mean; n++)
        graph_flag(g, n, NODE_EDITED);
    return graph_where(g, name, keep, x, mean);
}

static NodeId substituted(Editor *ed, const char *name, const Edit *e, NodeId x)
{
    Graph *g = ed->out;
    size_t places = (size_t)g->axes[e->axis].n;
    float *keep = arena_alloc(&g->arena, size_mul(places, sizeof *keep));
    for (size_t i = 0; i < places; i++)
        keep[i] = e->index[i] ? 0.0f : 1.0f;
    NodeId mask = graph_leaf(g, part(ed, name, "edit_keep"), DIMS(e->axis),
                             (Leaf){LEAF_HOST, keep, arena_strdup(&g->arena, e->origin ? e->origin : "edit")});
    graph_flag(g, mask, NODE_EDITED);
    return graph_where(g, name, mask, x, ed->map[graph_find(ed->base, e->other)]);
}

static NodeId multiplied(Editor *ed, const char *name, const Edit *e, NodeId x)
{
    Graph *g = ed->out;
    Dims dims = selection_dims(&e->cells, g->nodes[x].dims);
    size_t cells = graph_dims_cells(g, dims);
    float *factor = arena_alloc(&g->arena, size_mul(cells, sizeof *factor));
    for (size_t c = 0; c < cells; c++) {
        int index[DIMS_MAX];
        dims_unravel(g->axes, dims, c, index);
        bool chosen = selection_has(&e->cells, dims, index) && (!e->choose || e->choose(e->context, index));
        factor[c] = chosen ? e->factor : 1.0f;
    }
    NodeId f = graph_leaf(g, part(ed, name, "edit_factor"), dims,
                          (Leaf){LEAF_HOST, factor, arena_strdup(&g->arena, e->origin ? e->origin : "edit")});
    graph_flag(g, f, NODE_EDITED);
    return graph_zip(g, name, OP_MUL, x, f);
}

/* One edit of node x: appends its nodes, the last of which takes the name. */
static NodeId apply(Editor *ed, const Edit *e, NodeId x, const char *name)
{
    Graph *g = ed->out;
    switch (e->kind) {
    case EDIT_SCALE: return multiplied(ed, name, e, x);
    case EDIT_ZERO: return replaced(ed, name, e, x, 0.0f);
    case EDIT_SET: return replaced(ed, name, e, x, e->value);
    case EDIT_MEAN: return averaged(ed, name, e, x);
    case EDIT_REDIRECT: return graph_view(g, name, ed->map[graph_find(ed->base, e->other)], g->nodes[x].dims);
    case EDIT_GATHER: return graph_gather(g, name, x, e->axis, e->index);
    case EDIT_OTHER: return substituted(ed, name, e, x);
    case EDIT_VALUES: return e->cells.n ? patched(ed, name, e, x) : copied(ed, name, e, g->nodes[x].dims);
    case EDIT_MAP: return graph_map(g, name, e->map, x);
    case EDIT_MASK: break;
    }
    UNREACHABLE("an edit of a kind that is applied here");
}

/* The last component of a site's path: what the node is called inside the scope of its part. */
static const char *name_of_site(const Graph *g, int part, Site s, const char *otherwise)
{
    const char *path = site_path(g, part, s), *dot = path ? strrchr(path, '.') : NULL;
    return dot ? dot + 1 : path ? path : otherwise;
}

/* 1 where every mask on the scores of that path leaves a cell alone; *rows: 1 where its row has such a cell. */
static float *kept_by_all(Editor *ed, const char *path, Dims dims, bool rows_are_u, float **rows)
{
    Graph *g = ed->out;
    size_t cells = graph_dims_cells(g, dims), row = rows_are_u ? (size_t)g->axes[dims.axis[dims.n - 1]].n : 1;
    float *keep = arena_alloc(&g->arena, size_mul(cells, sizeof *keep)),
          *alive = arena_alloc(&g->arena, size_mul(cells, sizeof *alive));
    for (size_t c = 0; c < cells; c++) {
        int index[DIMS_MAX];
        dims_unravel(g->axes, dims, c, index);
        keep[c] = 1;
        for (int i = 0; i < ed->count; i++) {
            const Edit *e = &ed->edits[i];
            if (e->kind == EDIT_MASK && strcmp(e->path, path) == 0 &&
                (e->choose ? e->choose(e->context, index + (dims.n - 2)) : selection_has(&e->cells, dims, index)))
                keep[c] = 0;
        }
        alive[c / row] = c % row && alive[c / row] != 0.0f ? 1.0f : keep[c];
    }
    *rows = alive;
    return keep;
}

/* The rows of an attention whose pattern must become zeros where `alive` is 0. */
static void remember_dead(Editor *ed, int attention, NodeId alive)
{
    REQUIRE(ed->dead_count <
            (int)(sizeof ed->dead_rows / sizeof *ed->dead_rows)); /* a scope's pattern follows its scores */
    graph_flag(ed->out, alive, NODE_EDITED);
    ed->dead_rows[ed->dead_count].part = attention;
    ed->dead_rows[ed->dead_count++].keep = alive;
}

/* 1 in the rows where something is left that the edit and the model's own mask both allow; u: the axis of the keys. */
static NodeId left_by_both(Editor *ed, const char *name, NodeId keep, NodeId own, int u)
{
    Graph *g = ed->out;
    NodeId both = graph_zip(g, part(ed, name, "edit_both"), OP_MUL, keep, ed->map[own]);
    graph_flag(g, both, NODE_EDITED);
    return graph_reduce(g, part(ed, name, "edit_alive"), OP_MAX, both, dims_minus(g->nodes[both].dims, DIMS(u)));
}

/* All masks on the scores x together: WHERE(keep, x, −∞), a node of its own; where the model has a mask of its own
 * behind the scores, it is named as they are. Remembers rows with nothing left. */
static NodeId apply_masks(Editor *ed, NodeId base, NodeId x)
{
    Graph *g = ed->out;
    const char *path = ed->base->nodes[base].path, *origin = "mask";
    int attention = anatomy_of(ed->base, path);
    NodeId own = site_node(ed->base, attention, SITE_SCORES_MASKED);
    const char *name = own != NO_NODE ? node_name(&ed->base->nodes[base])
                                      : name_of_site(ed->base, attention, SITE_SCORES_MASKED, "masked");
    Dims d = g->nodes[x].dims, dims = DIMS_SCALAR;
    for (int i = 0; i < ed->count; i++) {
        const Edit *e = &ed->edits[i];
        if (e->kind != EDIT_MASK || strcmp(e->path, path) != 0)
            continue;
        Dims more = e->choose ? (Dims){.n = 2, .axis = {d.axis[d.n - 2], d.axis[d.n - 1]}}
                              : selection_dims(&e->cells, d);
        dims = dims_union(dims, more);
        origin = e->origin ? e->origin : origin;
    }
    dims = dims_minus(d, dims_minus(d, dims)); /* in the order of the scores */
    bool rows_are_u = dims.n && dims.axis[dims.n - 1] == d.axis[d.n - 1], dead = false;
    float *alive, *keep = kept_by_all(ed, path, dims, rows_are_u, &alive);
    Dims alive_dims = rows_are_u ? dims_minus(dims, DIMS(dims.axis[dims.n - 1])) : dims;
    for (size_t c = 0; c < graph_dims_cells(g, alive_dims); c++)
        dead = dead || (own == NO_NODE && alive[c] == 0.0f);
    origin = arena_strdup(&g->arena, origin);
    if (own != NO_NODE)
        rename_node(g, x, "unedited");
    NodeId keep_id = graph_leaf(g, part(ed, name, "edit_keep"), dims, (Leaf){LEAF_HOST, keep, origin});
    NodeId minus = graph_const(g, part(ed, name, "edit_value"), DIMS_SCALAR, -INFINITY);
    if (own != NO_NODE)
        remember_dead(ed, attention, left_by_both(ed, name, keep_id, ed->base->nodes[own].in[0], d.axis[d.n - 1]));
    NodeId masked = graph_where(g, name, keep_id, x, minus);
    graph_flag(g, keep_id, NODE_EDITED);
    graph_flag(g, minus, NODE_EDITED);
    graph_flag(g, masked, NODE_EDITED);
    if (dead)
        remember_dead(ed, attention,
                      graph_leaf(g, part(ed, name, "edit_alive"), alive_dims, (Leaf){LEAF_HOST, alive, origin}));
    return masked;
}

static NodeId revive_rows(Editor *ed, NodeId pattern)
{
    Graph *g = ed->out;
    for (int i = 0; i < ed->dead_count; i++) {
        const char *path = site_path(ed->base, ed->dead_rows[i].part, SITE_PATTERN);
        if (path && strcmp(path, g->nodes[pattern].path) == 0) {
            const char *name = name_of_site(ed->base, ed->dead_rows[i].part, SITE_PATTERN, "");
            rename_node(g, pattern, "unedited");
            NodeId zero = graph_const(g, part(ed, name, "edit_value"), DIMS_SCALAR, 0.0f);
            graph_flag(g, zero, NODE_EDITED);
            NodeId n = graph_where(g, name, ed->dead_rows[i].keep, pattern, zero);
            graph_flag(g, n, NODE_EDITED);
            ed->dead_rows[i] = ed->dead_rows[--ed->dead_count];
            return n;
        }
    }
    return pattern;
}

/* Copies base node i with its inputs redirected; a node with only clean inputs shares the base run's values. */
static NodeId copy_node(Editor *ed, NodeId i)
{
    Graph *g = ed->out;
    Node n = ed->base->nodes[i];
    bool clean = true;
    for (int k = 0; k < op_inputs(n.op); k++) {
        NodeId in = ed->map[n.in[k]];
        clean = clean && g->nodes[in].origin == n.in[k];
        n.in[k] = in;
    }
    n.origin = clean ? i : NO_NODE;
    n.counterpart = i;
    return graph_append(g, &n);
}

static bool is_edited(const Editor *ed, NodeId i)
{
    for (int k = 0; k < ed->count; k++)
        if (ed->at[k] == i)
            return true;
    return false;
}

static void edit_node(Editor *ed, NodeId i)
{
    Graph *g = ed->out;
    NodeId x = copy_node(ed, i), first = x;
    ed->map[i] = x;
    if (!ed->dead_count && !is_edited(ed, i))
        return;
    set_scope(g, &ed->base->nodes[i]);
    bool masked = false;
    if (ed->dead_count)
        x = revive_rows(ed, x);
    for (int k = 0; k < ed->count; k++) {
        const Edit *e = &ed->edits[k];
        if (ed->at[k] != i)
            continue;
        if (e->kind == EDIT_MASK) {
            masked = true;
            continue;
        }
        rename_node(g, x, "unedited");
        x = apply(ed, e, x, node_name(&ed->base->nodes[i]));
        graph_flag(g, x, NODE_EDITED);
        g->nodes[x].counterpart = i;
    }
    if (masked)
        x = apply_masks(ed, i, x);
    if (g->nodes[x].counterpart == NO_NODE)
        g->nodes[x].counterpart = i;
    for (NodeId n = first; n <= x; n++) /* what changes an analysis is an analysis */
        graph_flag(g, n, ed->base->nodes[i].flags & NODE_PROBE);
    ed->map[i] = x;
}

bool graph_edit(Graph *out, const Graph *base, const Edit *edits, int count, Err *err)
{
    for (int i = 0; i < count; i++)
        if (!edit_check(base, &edits[i], err))
            return false;
    graph_init(out);
    anatomy_copy(out, base);
    for (int i = 0; i < base->axis_count; i++)
        graph_axis(out, base->axes[i]);
    Editor ed = {.out = out, .base = base, .edits = edits, .count = count};
    ed.map = arena_alloc(&out->arena, size_mul((size_t)base->count, sizeof *ed.map));
    ed.at = arena_alloc(&out->arena, size_mul((size_t)count, sizeof *ed.at));
    for (int i = 0; i < count; i++)
        ed.at[i] = graph_find(base, edits[i].path);
    for (NodeId i = 0; i < base->count; i++)
        edit_node(&ed, i);
    graph_scope(out, "%s", "");
    return true;
}
