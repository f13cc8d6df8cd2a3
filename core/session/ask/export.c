#include "core/session/ask/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/session/address.h"
#include "core/session/ask/ask.h"
#include "core/session/ask/ask_parts.h"
#include "core/session/input.h"

typedef struct Chosen {
    NodeId *node;
    size_t count, cap;
} Chosen;

static bool in_scope(const char *scope, const char *path)
{
    size_t n = strlen(scope);
    return strncmp(path, scope, n) == 0 && path[n] == '.';
}

static void take(Chosen *c, NodeId n)
{
    c->node = grow(c->node, &c->cap, c->count, sizeof *c->node);
    c->node[c->count++] = n;
}

/* Nodes of a scope or pattern. The first pass leaves weights out, the second analyses; they are meant where nothing
 * else matches. */
static void choose_one(const Graph *g, const char *pattern, Chosen *c)
{
    bool probes = strstr(pattern, "probe") != NULL || strncmp(pattern, "grad", strlen("grad")) == 0,
         stars = strchr(pattern, '*') != NULL;
    size_t before = c->count;
    for (int pass = 0; pass < 3 && c->count == before; pass++)
        for (NodeId n = 0; n < g->count; n++) {
            const Node *node = graph_node(g, n);
            bool weight = node->op == OP_LEAF && node->leaf.kind == LEAF_TENSOR;
            if ((weight && pass == 0) || ((node->flags & NODE_PROBE) && !probes && pass < 2))
                continue;
            if (stars ? address_match(pattern, node->path) : in_scope(pattern, node->path))
                take(c, n);
        }
}

/* Of several patterns, with blanks between them, each. */
static void choose(const Graph *g, const char *patterns, Chosen *c)
{
    for (const char *w = patterns; *w;) {
        char one[SESSION_PATH];
        size_t n = strcspn(w, " ");
        utf8_print(one, sizeof one, "%.*s", (int)(n < sizeof one ? n : sizeof one - 1), w);
        choose_one(g, one, c);
        w += n + strspn(w + n, " ");
    }
}

static bool has_difference(const Session *s, NodeId n, Err *err)
{
    const char *path = graph_node(session_graph(s, SIDE_B), n)->path;
    return session_node(s, SIDE_DIFF, path) != NO_NODE ||
           err_set(err, "%s: A and B have no such node of one shape", path);
}

/* A − B, cell by cell as the engine subtracts. */
static const float *difference(Session *s, NodeId n, Arena *arena, Err *err)
{
    const Graph *g = session_graph(s, SIDE_B);
    const char *path = graph_node(g, n)->path;
    if (!has_difference(s, n, err))
        return NULL;
    const float *a = ask_need(s, SIDE_A, graph_find(session_graph(s, SIDE_A), path), err);
    const float *b = a ? ask_need(s, SIDE_B, n, err) : NULL;
    if (!b)
        return NULL;
    size_t cells = graph_cells(g, n);
    float *x = arena_alloc(arena, size_mul(cells, sizeof *x));
    for (size_t i = 0; i < cells; i++)
        x[i] = kernel_canonical(zip_apply(ZIP_SUB, a[i], b[i]));
    return x;
}

static const float *values_of(Session *s, Side side, NodeId n, Arena *arena, Err *err)
{
    return side == SIDE_DIFF ? difference(s, n, arena, err) : ask_need(s, side, n, err);
}

typedef struct Writing {
    Session *s;
    Side side;
    const Excerpt *cuts;
    Arena one; /* of the tensor that is being written */
} Writing;

static bool cut_values(Session *s, Side side, const Excerpt *c, Arena *arena, const float **out, Err *err)
{
    const float *x = values_of(s, side, c->node, arena, err);
    if (!x)
        return false;
    *out = x;
    if (c->whole)
        return true;
    float *copy = arena_alloc(arena, size_mul(c->cells, sizeof *copy));
    excerpt_copy(c, x, copy);
    *out = copy;
    return true;
}

/* Where NaN begins on the way to values that have some, as `run` says it; nothing where they have none. */
static bool put_nan(const Session *s, Side side, const float *x, size_t cells, Buf *out)
{
    size_t i = 0;
    while (i < cells && x[i] == x[i])
        i++;
    return i < cells &&
           (ask_nan_begins(s, ask_side(side), out) || (side == SIDE_DIFF && ask_nan_begins(s, SIDE_A, out)));
}

/* What the cells of its axes are called. */
static const TensorAxis *axes_of(const Excerpt *c, Arena *arena)
{
    TensorAxis *axis = arena_alloc(arena, size_mul((size_t)c->dims.n + 1, sizeof *axis));
    for (int k = 0; k < c->dims.n; k++) {
        const Axis *a = &c->graph->axes[c->dims.axis[k]];
        const char **label = arena_alloc(arena, size_mul((size_t)c->count[k] + 1, sizeof *label));
        for (int i = 0; i < c->count[k]; i++) {
            char text[256];
            label[i] = arena_strdup(arena, axis_label(a, c->from[k] + i, text, sizeof text));
        }
        axis[k] = (TensorAxis){a->sym, label};
    }
    return axis;
}

/* Its values come when they are written: all of them may be more than the memory holds. */
static TensorOut tensor_of(const Excerpt *c, bool labels, Arena *arena)
{
    TensorOut t = {.name = graph_node(c->graph, c->node)->path, .rank = c->dims.n};
    Buf shape = {0};
    for (int i = 0; i < c->dims.n; i++)
        t.shape[i] = (size_t)c->count[i];
    excerpt_shape_text(c, &shape);
    t.axes = arena_strdup(arena, buf_str(&shape));
    t.axis = labels ? axes_of(c, arena) : NULL;
    buf_free(&shape);
    return t;
}

static const char *edits_text(const Session *s, Side side, Arena *arena)
{
    Buf text = {0};
    static const EditState NONE = {0}; /* unless it was pinned, A is the model as trained */
    const EditState *e = side != SIDE_A ? &s->edits : session_pinned(s) ? &session_exhibit(s, side)->lines : &NONE;
    for (int i = 0; i < e->count; i++)
        buf_printf(&text, "%s%s", i ? "; " : "", e->line[i]);
    const char *copy = arena_strdup(arena, buf_str(&text));
    buf_free(&text);
    return copy;
}

/* Pairs for the file's metadata, ended by NULL. */
static void describe(Session *s, Side side, const char *nan, Arena *arena, const char *pair[15])
{
    static const char *const SIDES[] = {[SIDE_NONE] = "", [SIDE_A] = "A", [SIDE_B] = "B", [SIDE_DIFF] = "A - B"};
    const Exhibit *e = session_exhibit(s, side);
    uint64_t hash;
    int n = 0;
    pair[n++] = "model";
    pair[n++] = s->model.name;
    pair[n++] = "layout";
    pair[n++] = s->model.layout;
    pair[n++] = "input";
    pair[n++] = input_whole(&e->input);
    pair[n++] = "edits";
    pair[n++] = edits_text(s, side, arena);
    pair[n++] = "side";
    pair[n++] = SIDES[side];
    if (side != SIDE_DIFF && session_hash(s, side, &hash)) {
        pair[n++] = "trace_hash";
        pair[n++] = arena_printf(arena, "%016llx", (unsigned long long)hash);
    }
    if (*nan) {
        pair[n++] = "nan";
        pair[n++] = nan;
    }
    pair[n] = NULL;
}

static void put_report(const Excerpt *one, size_t count, size_t cells, const char *nan, Buf *out)
{
    if (!out)
        return;
    if (one) {
        buf_puts(out, "float32 ");
        excerpt_shape_text(one, out);
        buf_putc(out, '\n');
    } else
        buf_printf(out, "%zu tensors, %.1f MB\n", count, (double)cells * 4e-6);
    buf_printf(out, *nan ? "%s\n" : "%s", nan);
}

static const float *next_values(void *context, size_t i, Err *err)
{
    Writing *w = context;
    const float *x = NULL;
    arena_free(&w->one);
    session_trim(w->s); /* the tensor before may be forgotten */
    return cut_values(w->s, w->side, &w->cuts[i], &w->one, &x, err) ? x : NULL;
}

/* One tensor: the cut, or each of the chosen nodes whole. */
static bool write_all(Session *s, Side side, const Chosen *c, const Excerpt *one, const char *path, TensorFormat format,
                      Buf *report, Err *err)
{
    const Graph *g = session_graph(s, ask_side(side));
    const char *pair[15];
    Arena arena = {0};
    TensorOut *tensors = arena_alloc(&arena, size_mul(c->count, sizeof *tensors));
    Excerpt *cuts = arena_alloc(&arena, size_mul(c->count, sizeof *cuts));
    size_t cells = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < c->count; i++) {
        Selection all = {0};
        if (one)
            cuts[i] = *one;
        else
            ok = excerpt_make(&cuts[i], g, c->node[i], &all, NULL, err);
        ok = ok && (side != SIDE_DIFF || has_difference(s, cuts[i].node, err));
        if (!ok)
            break;
        tensors[i] = tensor_of(&cuts[i], format == TF_CSV, &arena);
        cells += cuts[i].cells;
    }
    Buf nan = {0};
    if (ok) { /* the last one first: with it a pass is complete, and the file can tell its hash and what became of it */
        NodeId last = c->node[c->count - 1];
        const float *x = values_of(s, side, last, &arena, err);
        ok = x != NULL;
        if (ok)
            put_nan(s, side, x, graph_cells(g, last), &nan);
    }
    if (ok) {
        Writing w = {.s = s, .side = side, .cuts = cuts};
        describe(s, side, buf_str(&nan), &arena, pair);
        ok = tensors_write_each(path, format, tensors, c->count, pair, next_values, &w, err);
        arena_free(&w.one);
    }
    if (ok)
        put_report(one, c->count, cells, buf_str(&nan), report);
    buf_free(&nan);
    arena_free(&arena);
    return ok;
}

bool export_nodes(Session *s, Side side, const char *pattern, const char *axes, const char *path, TensorFormat format,
                  Buf *report, Err *err)
{
    const Graph *g = session_graph(s, ask_side(side));
    Address a;
    Chosen c = {0};
    Excerpt cut;
    const char *several = strchr(pattern, '[') ? NULL : strchr(pattern, ' ');
    if (several) {
        a = (Address){.is_node = false};
        snprintf(a.path, sizeof a.path, "%s", pattern);
    } else if (!address_parse(s, g, pattern, &a, err))
        return false;
    bool ok = true;
    if (a.is_node) {
        NodeId n = ask_node(s, side, a.path, err);
        ok = n != NO_NODE && excerpt_make(&cut, g, n, &a.cells, axes, err);
        if (ok)
            take(&c, n);
    } else {
        choose(g, a.path, &c);
        if (axes)
            ok = err_set(err, "axes=%.40s reorders one tensor, and '%s' names several", axes, a.path);
        else if (!c.count)
            ok = err_set(err, "no node matches '%s'", a.path);
        else if (c.count > 1 && (format == TF_NPY || format == TF_CSV))
            ok = err_set(err, "'%s' names %zu tensors: end the file's name in .npz, .safetensors or .json", a.path,
                         c.count);
    }
    ok = ok && write_all(s, side, &c, a.is_node ? &cut : NULL, path, format, report, err);
    free(c.node);
    return ok;
}

bool export_print(Session *s, Side side, const char *address, const char *axes, Buf *out, Err *err)
{
    const Graph *g = session_graph(s, ask_side(side));
    Address a;
    Excerpt cut;
    if (!address_parse(s, g, address, &a, err))
        return false;
    if (!a.is_node)
        return err_set(err,
                       "'%s' names several nodes: name one, or write them to a file that ends in .npz or .safetensors",
                       a.path);
    NodeId n = ask_node(s, side, a.path, err);
    Arena arena = {0};
    const float *data = NULL;
    bool ok = n != NO_NODE && excerpt_make(&cut, g, n, &a.cells, axes, err) &&
              cut_values(s, side, &cut, &arena, &data, err);
    if (ok && put_nan(s, side, data, cut.cells, out))
        buf_putc(out, '\n');
    if (ok)
        export_table(&cut, data, out);
    arena_free(&arena);
    return ok;
}

bool export_free(const char *path, const char *over, Err *err)
{
    if (over && strcmp(over, "yes") != 0)
        return err_set(err, "over=%.40s: expected over=yes, which overwrites an existing file", over);
    return over || !file_exists(path) || file_is_dir(path) ||
           err_set(err, "%.300s is there already: add over=yes to overwrite it", path);
}
