#include "core/diff/diff_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/utf8.h"

enum { DIFF_HEADS = 64 }; /* arrays of one node, one for each head */

typedef struct Opening {
    DiffReference *r;
    const TensorFile *file;
    const Graph *g;
    size_t cap, unknown_cap;
    int families[DIFF_FAMILIES], precisions[PRECISIONS];
    bool longer[PRECISIONS]; /* a value was seen that the type does not hold */
    const Preprocess *picture;
    const DiffMap *map;
    size_t item;    /* the picture of a batch that is meant */
    bool batches;   /* is there a tensor of several pictures? */
    size_t numbers; /* values looked at that are not 0 */
} Opening;

static const char *printable(Arena *a, const char *name)
{
    char clean[256];
    return arena_strdup(a, utf8_clean(clean, sizeof clean, name));
}

static void put_shape(Buf *out, const TensorInfo *t)
{
    buf_putc(out, '[');
    for (int i = 0; i < t->rank; i++)
        buf_printf(out, "%s%zu", i ? "," : "", t->shape[i]);
    buf_putc(out, ']');
}

static void note_unknown(Opening *o, const TensorInfo *t, const char *why)
{
    DiffReference *r = o->r;
    Buf line = {0};
    buf_printf(&line, "%.200s ", t->name);
    put_shape(&line, t);
    buf_puts(&line, why);
    r->unknown = grow(r->unknown, &o->unknown_cap, (size_t)r->unknown_count, sizeof *r->unknown);
    r->unknown[r->unknown_count++] = printable(&r->arena, buf_str(&line));
    buf_free(&line);
}

/* The part of the axis `cut` that is the target's: of the last so many columns, of another one index. */
static void take_part(const DiffTensor *t, int cut, const float *all, size_t cells, float *out)
{
    size_t inner = 1;
    for (int i = cut + 1; i < t->rank; i++)
        inner *= t->shape[i];
    size_t width = t->shape[cut] * inner, part = width / (size_t)t->parts;
    for (size_t row = 0; row < cells / width; row++)
        memcpy(out + row * part, all + row * width + (size_t)t->part * part, part * sizeof *out);
}

/* The tensor's shape without the others' parts: its last axis cut, or, where such a shape does not fit the node,
 * without the axis that has an index for each part (queries, keys and values stacked). Returns the axis, or −1. */
static int part_shape(const Opening *o, const TensorInfo *info, const DiffTarget *to, size_t shape[TENSOR_RANK_MAX],
                      int *rank)
{
    size_t parts = (size_t)to->parts;
    int end = info->rank - 1;
    DiffLayout l;
    for (int cut = end; cut >= 0; cut--) {
        if (cut == end ? info->shape[cut] % parts != 0 : info->shape[cut] != parts)
            continue;
        bool columns = cut == end && info->shape[cut] != parts;
        *rank = 0;
        for (int i = 0; i < info->rank; i++)
            if (i != cut || columns)
                shape[(*rank)++] = info->shape[i] / (i == cut ? parts : 1);
        if (diff_layout_find(o->g, to->node, shape, *rank, to->axes, &l, NULL, 0) != DIFF_NO_FIT)
            return cut;
    }
    return -1;
}

/* Do shorter types hold these values? What is put in may be short by chance and is not asked. */
static void look_at_digits(Opening *o, const float *x, size_t cells)
{
    enum { AT_ONCE = 256 };
    float rounded[AT_ONCE];
    for (int p = PRECISION_BF16; p < PRECISIONS; p++)
        for (size_t at = 0; at < cells && !o->longer[p]; at += AT_ONCE) {
            size_t n = cells - at < AT_ONCE ? cells - at : AT_ONCE;
            precision_round((Precision)p, x + at, rounded, n);
            for (size_t i = 0; i < n; i++)
                o->longer[p] = o->longer[p] || (x[at + i] < rounded[i] || x[at + i] > rounded[i]);
        }
    for (size_t i = 0; i < cells; i++)
        o->numbers += x[i] < 0 || x[i] > 0;
}

/* Is it the input with pixels that fill no patch? */
static bool is_beyond(const Opening *o, NodeId n, const size_t *shape, int rank, size_t *trimmed, bool *last)
{
    const Preprocess *p = o->picture;
    return p && graph_cells(o->g, n) == (size_t)p->channels * (size_t)p->height * (size_t)p->width &&
           preprocess_beyond(p, shape, rank, trimmed, last);
}

static bool read_values(Opening *o, const TensorInfo *info, int cut, DiffTensor *t, Err *err)
{
    size_t cells = graph_cells(o->g, t->node),
           wanted = info->cells / t->layout.batch * (t->item + 1); /* none behind the one that is meant */
    if (t->parts > 1 && cut < t->rank - 1)
        wanted = info->cells; /* other parts stand between */
    float *all = xfloats(wanted), *part = NULL, *from = all;
    bool ok = tensors_read_first_f32(o->file, info, all, wanted, err), last;
    o->r->unchecked += ok && tensors_unchecked(info, wanted);
    if (ok && t->parts > 1) {
        part = from = xfloats(wanted / (size_t)t->parts);
        take_part(t, cut, all, wanted, part);
    }
    if (ok && t->beyond && is_beyond(o, t->node, info->shape, info->rank, NULL, &last)) {
        part = from = xfloats(size_mul(t->item + 1, cells));
        preprocess_trim(o->picture, all, t->item + 1, last, part);
    }
    t->values = t->owned = xcalloc(cells, sizeof *t->owned);
    if (ok && graph_node(o->g, t->node)->op != OP_LEAF)
        look_at_digits(o, from, wanted / (size_t)t->parts);
    if (ok)
        diff_layout_apply(&t->layout, from + (t->layout.batch > 1 ? t->item * cells : 0), t->owned + t->skip);
    free(all);
    free(part);
    return ok;
}

static void keep(Opening *o, const TensorInfo *info, DiffTensor t)
{
    DiffReference *r = o->r;
    t.name = printable(&r->arena, info->name);
    t.place = r->count;
    o->families[t.family]++;
    const Precision p = info->dtype == DT_BF16 ? PRECISION_BF16 : info->dtype == DT_F16 ? PRECISION_F16 : PRECISION_F32;
    o->precisions[p] += graph_node(o->g, t.node)->op != OP_LEAF; /* what was put in, such as tokens, is asked nothing */
    r->tensor = grow(r->tensor, &o->cap, (size_t)r->count, sizeof *r->tensor);
    r->tensor[r->count++] = t;
}

/* The axis of the node that must have another length for a tensor of that shape to fit, and which; AXIS_NONE where none
 * alone explains it. Tokens come first: what has as many of them as the model has heads would be heads else. */
static int other_length(const Graph *g, NodeId n, const size_t *shape, int rank, size_t *there)
{
    Dims d = graph_node(g, n)->dims;
    DiffLayout l;
    for (int k = 0; k < 2 * d.n; k++)
        for (int i = 0; i < 2 * rank; i++) { /* that one axis of the tensor, then all as long as it */
            int axis = d.axis[k % d.n];
            size_t ours = (size_t)g->axes[axis].n, other[TENSOR_RANK_MAX];
            if ((g->axes[axis].kind == AXIS_TOKEN) != (k < d.n))
                continue;
            *there = shape[i / 2];
            for (int j = 0; j < rank; j++)
                other[j] = j == i / 2 || (i % 2 && shape[j] == *there) ? ours : shape[j];
            if (*there > 1 && ours > 1 && diff_layout_find(g, n, other, rank, "", &l, NULL, 0) != DIFF_NO_FIT)
                return axis;
        }
    return AXIS_NONE;
}

/* The width of all heads cut into another number of them, [heads, their width] in this order: the axis of heads, or
 * AXIS_NONE. */
static int other_heads(const Graph *g, NodeId n, const size_t *shape, int rank, size_t *there)
{
    Dims d = graph_node(g, n)->dims;
    int h = AXIS_NONE, e = AXIS_NONE;
    DiffLayout l;
    for (int k = 0; k < d.n; k++) {
        h = g->axes[d.axis[k]].role == ROLE_HEAD ? d.axis[k] : h;
        e = g->axes[d.axis[k]].role == ROLE_HEAD_WIDTH ? d.axis[k] : e;
    }
    for (int i = 0; h != AXIS_NONE && e != AXIS_NONE && i < rank; i++)
        for (int j = i + 1; j < rank; j++) {
            size_t other[TENSOR_RANK_MAX];
            if (!shape[i] || !shape[j] || shape[i] > (size_t)g->axes[h].n * (size_t)g->axes[e].n / shape[j] ||
                shape[i] * shape[j] != (size_t)g->axes[h].n * (size_t)g->axes[e].n)
                continue;
            memcpy(other, shape, (size_t)rank * sizeof *other);
            *there = shape[i];
            other[i] = (size_t)g->axes[h].n;
            other[j] = (size_t)g->axes[e].n;
            if (diff_layout_find(g, n, other, rank, "", &l, NULL, 0) != DIFF_NO_FIT)
                return h;
        }
    return AXIS_NONE;
}

/* What explains the most is told: another number of heads, then of tokens. */
static int weight_of(const Axis *a)
{
    return a->role == ROLE_HEAD ? 2 : a->kind == AXIS_TOKEN;
}

static void note_misfit(DiffReference *r, const Graph *g, const char *name, NodeId n, const size_t *shape, int rank)
{
    DiffMisfits *m = &r->misfits;
    size_t there = 0;
    int axis = other_length(g, n, shape, rank, &there);
    axis = axis == AXIS_NONE ? other_heads(g, n, shape, rank, &there) : axis;
    if (axis == AXIS_NONE)
        return;
    const NodeId from = diff_is_own_memory(g, n, axis, there) ? g->count : n;
    m->first = m->count && m->first < from ? m->first : from;
    if (!m->count++ || weight_of(&g->axes[axis]) > weight_of(&g->axes[m->axis])) {
        m->name = printable(&r->arena, name);
        m->axis = axis;
        m->there = there;
    }
}

/* The shape that the node has is why. */
static void note_shape(Opening *o, const TensorInfo *info, NodeId n)
{
    Buf why = {0};
    buf_printf(&why, ": %s is ", graph_node(o->g, n)->path);
    graph_shape_text(o->g, graph_node(o->g, n)->dims, &why);
    note_unknown(o, info, buf_str(&why));
    buf_free(&why);
}

/* Where others have shown another number of heads, what can be read with its axes exchanged is a misfit too. */
static void drop_other_heads(Opening *o)
{
    DiffReference *r = o->r;
    DiffMisfits *m = &r->misfits;
    int kept = 0;
    if (!m->count || o->g->axes[m->axis].role != ROLE_HEAD)
        return;
    for (int i = 0; i < r->count; i++) {
        DiffTensor *t = &r->tensor[i];
        TensorInfo info = {.name = t->name, .rank = t->rank};
        size_t there = 0;
        if (t->layout.ours || t->layout.told || t->parts > 1 ||
            other_heads(o->g, t->node, t->shape, t->rank, &there) == AXIS_NONE || there != m->there) {
            r->tensor[kept++] = *t;
            continue;
        }
        memcpy(info.shape, t->shape, sizeof t->shape);
        note_shape(o, &info, t->node);
        m->count++;
        m->first = t->node < m->first ? t->node : m->first;
        free(t->owned);
    }
    r->count = kept;
}

/* One node that a tensor means. True also when it was put aside with a reason. */
static bool take(Opening *o, const TensorInfo *info, const DiffTarget *to, Err *err)
{
    DiffReference *r = o->r;
    char choices[200];
    DiffTensor t = {.family = to->family,
                    .dtype = info->dtype,
                    .rank = info->rank,
                    .part = to->part,
                    .parts = to->parts,
                    .node = to->node};
    size_t shape[TENSOR_RANK_MAX];
    int cut = info->rank - 1, rank = info->rank;
    bool last;
    memcpy(t.shape, info->shape, sizeof t.shape);
    memcpy(shape, info->shape, sizeof shape);
    if (to->parts > 1 && (cut = part_shape(o, info, to, shape, &rank)) < 0) {
        if (to->part == 0)
            note_unknown(o, info, ": no axis of it can be split into that many equal parts");
        return true;
    }
    t.beyond = to->parts == 1 && is_beyond(o, to->node, info->shape, rank, shape, &last);
    DiffFit fit = diff_layout_find(o->g, to->node, shape, rank, to->axes, &t.layout, choices, sizeof choices);
    const Node *node = graph_node(o->g, to->node);
    fit = diff_layout_last(o->g, info, fit, &t);
    if (fit == DIFF_NO_FIT && node->op == OP_LEAF && node->leaf.kind == LEAF_INPUT && node->dims.n == 1)
        return !diff_is_bare(o->map, r->name, info->name, info->cells, err) &&
               err_set(err,
                       "%s: '%.100s' has %zu tokens, and %d were read here: it is another text, or another tokeniser "
                       "cut it. Leave -i out, and its own numbers are read; or give them: -i ids:1,2,3",
                       r->name, info->name, info->cells, o->g->axes[node->dims.axis[0]].n);
    if (fit == DIFF_NO_FIT) {
        note_shape(o, info, to->node);
        note_misfit(r, o->g, info->name, to->node, shape, rank);
        return true;
    }
    if (to->family == DIFF_MAP && *to->axes && (fit == DIFF_AMBIGUOUS || !t.layout.told))
        return err_set(err, "%s: '%.100s' can't have the axes [%s] of %s: its shape allows %s%s%s", r->name, info->name,
                       to->axes, node->path, fit == DIFF_FIT ? "[" : "", fit == DIFF_FIT ? t.layout.axes : choices,
                       fit == DIFF_FIT ? "]" : "");
    if (fit == DIFF_AMBIGUOUS)
        return err_set(
            err,
            "%s: the axes of '%.100s' may be %s: say which with a line such as `%.100s = %s[…]` in a file for --map",
            r->name, info->name, choices, info->name, node->path);
    o->batches = o->batches || t.layout.batch > 1;
    t.item = t.layout.batch > 1 ? o->item : 0;
    if (t.layout.batch > 1 && o->item >= t.layout.batch)
        return err_set(err, "%s: '%.100s' holds %zu pictures: --item is 0 to %zu", r->name, info->name, t.layout.batch,
                       t.layout.batch - 1);
    if (!read_values(o, info, cut, &t, err)) {
        free(t.owned);
        return false;
    }
    diff_sign_sines(o->g, t.node, t.owned);
    keep(o, info, t);
    return true;
}

/* The tensors of a file that are each a head of the node, in the order of their numbers, which begin at 0 or 1; false
 * when they are not as many as there are heads, or not of one shape. */
static bool all_heads(const Opening *o, const DiffMap *map, NodeId node, size_t heads, const TensorInfo **out)
{
    size_t found = 0, most = 0;
    bool from_one = true, alike = true;
    const TensorInfo *of[DIFF_HEADS + 1] = {NULL};
    for (size_t i = 0; i < o->file->count; i++) {
        const TensorInfo *info = &o->file->tensors[i];
        DiffTarget to[DIFF_PARTS];
        if (diff_name_targets(map, o->g, info->name, to) != 1 || to[0].node != node || to[0].head < 1 ||
            to[0].head > DIFF_HEADS + 1)
            continue;
        of[to[0].head - 1] = info;
        found++;
        from_one = from_one && to[0].head > 1;
        most = (size_t)to[0].head > most ? (size_t)to[0].head : most;
    }
    for (size_t h = 0; h < heads && h + from_one <= DIFF_HEADS; h++) {
        out[h] = of[h + from_one];
        alike = alike && out[h] && out[h]->rank == out[0]->rank &&
                memcmp(out[h]->shape, out[0]->shape, (size_t)out[0]->rank * sizeof *out[0]->shape) == 0;
    }
    return alike && found == heads && most == heads + from_one;
}

/* One array per head: they are put together when the first of the file comes. True also when that can't be. */
static bool take_heads(Opening *o, const DiffMap *map, const TensorInfo *info, const DiffTarget *to, Err *err)
{
    const Graph *g = o->g;
    Dims d = graph_node(g, to->node)->dims;
    size_t heads = 0, shape[TENSOR_RANK_MAX + 1], cells = graph_cells(g, to->node);
    const TensorInfo *of[DIFF_HEADS];
    for (int i = 0; i < d.n; i++)
        heads = strcmp(g->axes[d.axis[i]].sym, "h") == 0 ? (size_t)g->axes[d.axis[i]].n : heads;
    if (heads == 0 || heads > DIFF_HEADS || !all_heads(o, map, to->node, heads, of) || info->cells % (cells / heads)) {
        note_unknown(o, info, ": expected one for each head of the model, all of one shape");
        return true;
    }
    if (of[0] != info)
        return true;
    DiffTensor t = {.family = to->family, .dtype = info->dtype, .rank = info->rank, .parts = 1, .node = to->node};
    size_t batch = info->cells / (cells / heads), each = cells / heads;
    char axes[DIFF_AXES + 2], choices[200];
    int rank = 1, skip = batch > 1 && info->shape[0] == batch;
    shape[0] = heads;
    for (int i = skip; i < info->rank; i++)
        shape[rank++] = info->shape[i];
    snprintf(axes, sizeof axes, "%s%s", *to->axes ? "h," : "", to->axes);
    if (rank > TENSOR_RANK_MAX || o->item >= batch ||
        diff_layout_find(g, to->node, shape, rank, axes, &t.layout, choices, sizeof choices) != DIFF_FIT) {
        note_unknown(o, info, ": a head of that shape does not fit");
        return true;
    }
    float *all = xfloats(info->cells), *together = xfloats(cells);
    bool ok = true;
    memcpy(t.shape, info->shape, sizeof t.shape);
    for (size_t h = 0; ok && h < heads; h++) {
        ok = tensors_read_f32(o->file, of[h], all, err);
        memcpy(together + h * each, all + o->item * each, each * sizeof *all);
    }
    if (ok) {
        t.layout.batch = batch;
        t.item = batch > 1 ? o->item : 0;
        o->batches = o->batches || batch > 1;
        t.values = t.owned = xfloats(cells);
        look_at_digits(o, together, cells);
        diff_layout_apply(&t.layout, together, t.owned);
        keep(o, info, t);
    }
    free(all);
    free(together);
    return ok;
}

/* Weights are compared as weights; analyses are no part of the pass, gradients are. */
static bool is_compared(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    if (diff_is_gradient(node->path))
        return true;
    return !(node->flags & NODE_PROBE) && !(node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR);
}

/* Has the tensor the shape of what its name means? Of one that holds several nodes the parts are asked for. */
static bool has_shape(const Opening *o, const TensorInfo *info, const DiffTarget *to)
{
    DiffLayout l;
    size_t shape[TENSOR_RANK_MAX];
    int rank = info->rank;
    memcpy(shape, info->shape, sizeof shape);
    if (to->parts > 1 && part_shape(o, info, to, shape, &rank) < 0)
        return false;
    return diff_layout_find(o->g, to->node, shape, rank, to->axes, &l, NULL, 0) != DIFF_NO_FIT;
}

/* A module of another program may be called as a node of ours is and be something else: timm's patch_embed ends with
 * its norm, where it has one. In a recording that has names of that program too it is the program's. */
static bool collides(const Opening *o, const DiffMap *map, const TensorInfo *info, DiffTarget to[DIFF_PARTS])
{
    DiffTarget other[DIFF_PARTS], more[DIFF_PARTS];
    if (diff_name_other(o->g, diff_known_as(o->file, info->name), 0, other) != 1 || other[0].node == to[0].node ||
        !has_shape(o, info, &other[0]))
        return false;
    for (size_t i = 0; i < o->file->count; i++)
        if (diff_name_targets(map, o->g, diff_known_as(o->file, o->file->tensors[i].name), more) > 0 &&
            more[0].family == other[0].family) {
            to[0] = other[0];
            return true;
        }
    return false;
}

/* What a tensor means: the first meaning of its name that its shape has, the first of all where none does. */
static int meaning(const Opening *o, const DiffMap *map, const TensorInfo *info, DiffTarget to[DIFF_PARTS])
{
    const char *name = diff_known_as(o->file, info->name);
    int parts = diff_name_targets(map, o->g, name, to), other;
    if (parts > 0 && to[0].family == DIFF_OURS)
        return collides(o, map, info, to) ? 1 : parts;
    if (parts <= 0 || to[0].family == DIFF_MAP || has_shape(o, info, &to[0]))
        return parts;
    DiffTarget more[DIFF_PARTS];
    for (int n = 1; (other = diff_name_other(o->g, name, n, more)) > 0; n++)
        if (has_shape(o, info, &more[0])) {
            memcpy(to, more, sizeof more);
            return other;
        }
    return parts;
}

static bool take_all(Opening *o, const DiffMap *map, Err *err)
{
    for (size_t i = 0; i < o->file->count; i++) {
        const TensorInfo *info = &o->file->tensors[i];
        DiffTarget to[DIFF_PARTS];
        int parts = meaning(o, map, info, to);
        if (parts == 0 && diff_is_gradient(info->name))
            note_unknown(o, info, ": a gradient; --gradient says of what, as in --gradient logits[o=0]");
        else if (parts == 0)
            note_unknown(o, info, "");
        else if (parts > 0 && info->dtype == DT_OTHER)
            note_unknown(o, info, ": values of a type that is not read");
        else if (parts == 1 && to[0].head) {
            if (is_compared(o->g, to[0].node) && !take_heads(o, map, info, &to[0], err))
                return false;
        } else
            for (int k = 0; k < parts; k++)
                if (is_compared(o->g, to[k].node) && !take(o, info, &to[k], err))
                    return false;
    }
    return true;
}

static int by_node(const void *a, const void *b)
{
    const DiffTensor *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node)
                              : (x->place > y->place) - (x->place < y->place);
}

static void finish(DiffReference *r, const int families[DIFF_FAMILIES], const int precisions[PRECISIONS])
{
    for (int i = 0; i < DIFF_FAMILIES; i++)
        if (families[i] > families[r->family])
            r->family = (DiffFamily)i;
    for (int i = 0; i < PRECISIONS; i++)
        if (precisions[i] > precisions[r->stored])
            r->stored = (Precision)i;
    if (r->count)
        qsort(r->tensor, (size_t)r->count, sizeof *r->tensor, by_node);
}

/* What is proposed later is called as the recording calls things; the map may be gone by then. */
static void keep_names(DiffReference *r, const DiffMap *map)
{
    r->names.name = arena_alloc(&r->arena, size_mul((size_t)r->count, sizeof *r->names.name));
    for (int i = 0; i < r->count; i++)
        r->names.name[r->names.count++] = r->tensor[i].name;
    if (!map || !map->count)
        return;
    r->map.line = arena_alloc(&r->arena, size_mul(map->count, sizeof *r->map.line));
    for (; r->map.count < map->count; r->map.count++) {
        const DiffName *line = &map->line[r->map.count];
        r->map.line[r->map.count] = (DiffName){line->family, arena_strdup(&r->arena, line->name),
                                               arena_strdup(&r->arena, line->nodes)};
    }
}

static bool is_text(const Axis *a)
{
    return a->kind == AXIS_TOKEN && (a->sequence == SEQUENCE_SOURCE || a->sequence == SEQUENCE_TARGET);
}

bool diff_reference_open(DiffReference *r, const char *path, const DiffMap *map, const Graph *g, Err *err)
{
    TensorFile file = {0};
    *r = (DiffReference){.count = 0};
    if (!tensors_open(&file, path, err))
        return false;
    r->name = printable(&r->arena, path);
    Opening o = {
        .r = r, .file = &file, .g = g, .map = map, .item = map ? map->item : 0, .picture = map ? map->picture : NULL};
    bool ok = !diff_counted_from_one(&file, map, g, r->name, err) && take_all(&o, map, err);
    if (ok && r->misfits.count && r->misfits.first < g->count && is_text(&g->axes[r->misfits.axis]))
        ok = !diff_is_bare(map, r->name, r->misfits.name, r->misfits.there, err);
    drop_other_heads(&o);
    if (ok && !r->count && r->misfits.count)
        ok = err_set(
            err,
            "%s: all %d tensors that have a name known here have another shape: '%.100s' has %s = %zu, and here "
            "it is %d%s",
            path, r->misfits.count, r->misfits.name, g->axes[r->misfits.axis].name, r->misfits.there,
            g->axes[r->misfits.axis].n,
            is_text(&g->axes[r->misfits.axis]) ? ": it read another text; say which with -i ids:1,2,3" : "");
    if (ok && !r->count)
        ok = err_set(err,
                     "%s: none of its %zu tensors has a name and shape that are known here (the first is "
                     "'%.100s'); say what they are in a file for --map, "
                     "in lines such as layer.*.q = blocks.*.attn.q",
                     path, file.count, file.count ? file.tensors[0].name : "");
    if (ok && o.item && !o.batches)
        ok = err_set(err, "%s: --item %zu, but every tensor that is compared holds one picture", path, o.item);
    tensors_close(&file);
    if (!ok) {
        diff_reference_free(r);
        return false;
    }
    finish(r, o.families, o.precisions);
    keep_names(r, map);
    for (int p = PRECISION_BF16; p < PRECISIONS && o.numbers >= 8; p++) /* fewer may be so by chance */
        if (!o.longer[p] && r->looks == PRECISION_F32)
            r->looks = (Precision)p;
    return true;
}

bool diff_reference_of_run(DiffReference *r, const char *name, Run *run, const Graph *g, Err *err)
{
    const Graph *theirs = run_graph(run);
    size_t cap = 0;
    *r = (DiffReference){.count = 0};
    r->name = printable(&r->arena, name);
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        NodeId other = graph_find(theirs, node->path);
        if ((node->flags & NODE_PROBE) || other == NO_NODE || graph_find(g, node->path) != n)
            continue;
        const Node *there = graph_node(theirs, other);
        DiffTensor t = {.name = node->path, .dtype = DT_F32, .rank = node->dims.n, .parts = 1, .node = n};
        bool same = there->dims.n == node->dims.n;
        for (int i = 0; i < there->dims.n; i++) {
            t.shape[i] = (size_t)theirs->axes[there->dims.axis[i]].n;
            same = same && (int)t.shape[i] == g->axes[node->dims.axis[i]].n;
        }
        if (!same && node->op != OP_LEAF)
            note_misfit(r, g, node->path, n, t.shape, there->dims.n);
        if (!same || diff_layout_find(g, n, t.shape, t.rank, "", &t.layout, NULL, 0) != DIFF_FIT)
            continue;
        t.name = arena_strdup(&r->arena, node->path);
        t.values = run_need(run, other);
        r->tensor = grow(r->tensor, &cap, (size_t)r->count, sizeof *r->tensor);
        r->tensor[r->count++] = t;
    }
    if (r->count)
        return true;
    diff_reference_free(r);
    return err_set(err, "%s: the two models have no tensor of one shape in common", name);
}

void diff_reference_free(DiffReference *r)
{
    for (int i = 0; i < r->count; i++)
        free(r->tensor[i].owned);
    free(r->tensor);
    free(r->unknown);
    arena_free(&r->arena);
    *r = (DiffReference){.count = 0};
}

const DiffTensor *diff_reference_find(const DiffReference *r, NodeId n)
{
    for (int i = r->count - 1; i >= 0; i--)
        if (r->tensor[i].node == n)
            return &r->tensor[i];
    return NULL;
}
