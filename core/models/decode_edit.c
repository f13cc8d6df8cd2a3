/* Changes made for one pass, in a step of writing. */
#include <stdio.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/models/decode.h"

/* Where a change of that node is made in a step: the keys and values of the newest token alone are called NAME_new. */
static NodeId place_of(const Graph *step, const char *path)
{
    char fresh[256];
    NodeId n = graph_find(step, path);
    snprintf(fresh, sizeof fresh, "%s_new", path);
    return n != NO_NODE ? n : graph_find(step, fresh);
}

static bool is_token(const Axis *a)
{
    return a->kind == AXIS_TOKEN && a->sequence == SEQUENCE_TARGET;
}

/* The axis of node n that is the base's `axis`, or AXIS_NONE. */
static int axis_of(const Graph *step, NodeId n, const Axis *axis)
{
    const Dims d = graph_node(step, n)->dims;
    for (int i = 0; i < d.n; i++) {
        const char *sym = step->axes[d.axis[i]].sym;
        if (strcmp(sym, axis->sym) == 0 || (strcmp(sym, "u1") == 0 && strcmp(axis->sym, "u") == 0))
            return d.axis[i];
    }
    return AXIS_NONE;
}

/* The token that the first place of an axis is. */
static int offset(const Axis *a, int first)
{
    return is_token(a) && a->n == 1 ? first : 0;
}

/* Of the decoder's own forward pass: the encoder and the analyses have no place in a step. */
static bool is_ours(const DecodeEdits *e, const Edit *edit)
{
    const NodeId n = graph_find(e->of, edit->path);
    return n != NO_NODE && !(graph_node(e->of, n)->flags & NODE_PROBE) && strncmp(edit->path, "encoder.", 8) != 0;
}

static bool fits(const DecodeEdits *e, const Edit *edit, const Graph *step)
{
    const NodeId n = place_of(step, edit->path);
    if (n == NO_NODE || (edit->other && graph_find(step, edit->other) == NO_NODE))
        return false;
    if (edit->kind == EDIT_MEAN || edit->kind == EDIT_MASK || edit->kind == EDIT_GATHER || edit->kind == EDIT_OTHER)
        return false;
    for (int i = 0; i < edit->cells.n; i++)
        if (axis_of(step, n, &e->of->axes[edit->cells.range[i].axis]) == AXIS_NONE)
            return false;
    int tokens = 0; /* a mask or a bias might let a token see later ones, which are not there yet */
    const Node *node = graph_node(step, n);
    for (int i = 0; i < node->dims.n; i++)
        tokens += is_token(&step->axes[node->dims.axis[i]]);
    return node->op != OP_LEAF || tokens < 2;
}

bool decode_edits_fit(const DecodeEdits *e, const Graph *step)
{
    for (int i = 0; i < e->count; i++)
        if (is_ours(e, &e->edit[i]) && !fits(e, &e->edit[i], step))
            return false;
    return true;
}

/* The values that a change has for every cell of its node, as cells of node n: those of tokens that it does not know
 * are 0, and not chosen. */
static const float *move_values(const DecodeEdits *e, const Edit *edit, const Graph *step, NodeId n, int first,
                                Arena *a)
{
    const Node *from = graph_node(e->of, graph_find(e->of, edit->path)), *to = graph_node(step, n);
    const size_t cells = graph_cells(step, n);
    float *data = arena_alloc(a, size_mul(cells, sizeof *data));
    for (size_t c = 0; c < cells; c++) {
        size_t rest = c, at = 0, stride = 1;
        bool known = true;
        for (int i = to->dims.n; i-- > 0;) {
            const Axis *axis = &step->axes[to->dims.axis[i]], *base = &e->of->axes[from->dims.axis[i]];
            const size_t place = rest % (size_t)axis->n + (size_t)offset(axis, first);
            rest /= (size_t)axis->n;
            known = known && place < (size_t)base->n;
            at += place * stride;
            stride *= (size_t)base->n;
        }
        data[c] = known ? edit->data[at] : 0;
    }
    return data;
}

/* Chooses [from, to) of an axis, counted as in the base; false: none of it is in this step. */
static bool choose(Selection *s, const Graph *step, int axis, int first, int from, int to)
{
    const Axis *a = &step->axes[axis];
    from -= offset(a, first);
    to -= offset(a, first);
    from = from < 0 ? 0 : from;
    to = to > a->n ? a->n : to;
    if (from >= to)
        return false;
    s->range[s->n].axis = axis;
    s->range[s->n].from = from;
    s->range[s->n++].to = to;
    return true;
}

/* One change for node n of the step. *here: is any of its cells in it? */
static bool move(const DecodeEdits *e, const Edit *edit, const Graph *step, NodeId n, int first, Edit *out, bool *here,
                 Arena *a, Err *err)
{
    *out = *edit;
    out->path = graph_node(step, n)->path;
    out->cells.n = 0;
    *here = true;
    for (int i = 0; i < edit->cells.n && *here; i++) {
        const int axis = axis_of(step, n, &e->of->axes[edit->cells.range[i].axis]);
        if (axis == AXIS_NONE)
            return err_set(err, "%s has other axes where it is written: undo this change, then write", edit->path);
        *here = choose(&out->cells, step, axis, first, edit->cells.range[i].from, edit->cells.range[i].to);
    }
    const Dims d = graph_node(e->of, graph_find(e->of, edit->path))->dims;
    for (int i = 0; i < d.n && *here && edit->data; i++) { /* rows of tokens that came later have no values */
        const int axis = axis_of(step, n, &e->of->axes[d.axis[i]]);
        bool chosen = axis == AXIS_NONE || !is_token(&step->axes[axis]);
        for (int k = 0; k < out->cells.n; k++)
            chosen = chosen || out->cells.range[k].axis == axis;
        *here = chosen || choose(&out->cells, step, axis, first, 0, e->of->axes[d.axis[i]].n);
    }
    if (edit->kind == EDIT_MEAN || edit->index) {
        out->axis = axis_of(step, n, &e->of->axes[edit->axis]);
        if (edit->index && (out->axis == AXIS_NONE || step->axes[out->axis].n != e->of->axes[edit->axis].n))
            return err_set(err,
                           "%s: tokens are put in another order, and a text that grows has no fixed number of "
                           "them: undo this change, then write",
                           edit->path);
    }
    if (edit->data && *here)
        out->data = move_values(e, edit, step, n, first, a);
    return true;
}

bool decode_edits_make(const DecodeEdits *e, const Graph *step, int first, Graph *out, Err *err)
{
    Arena arena = {0};
    Edit *edits = arena_alloc(&arena, size_mul((size_t)e->count + 1, sizeof *edits));
    int count = 0;
    bool ok = true;
    for (int i = 0; ok && i < e->count; i++) {
        const NodeId n = place_of(step, e->edit[i].path);
        const bool there = n != NO_NODE && (!e->edit[i].other || graph_find(step, e->edit[i].other) != NO_NODE);
        bool here = false;
        ok = !there || move(e, &e->edit[i], step, n, first, &edits[count], &here, &arena, err);
        count += ok && here;
    }
    ok = ok && graph_edit(out, step, edits, count, err);
    arena_free(&arena);
    return ok;
}
