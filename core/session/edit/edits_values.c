/* `patch`: values of a file, or of the pinned picture, in a node's place. */
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/mem.h"
#include "core/io/tensors.h"
#include "core/session/command.h"
#include "core/session/edit/verbs.h"

/* Sizes of the runs of axes from the first to each: 4, 260, 4160 for [4,65,16]. */
static int running_sizes(const size_t *shape, int rank, size_t out[TENSOR_RANK_MAX])
{
    size_t size = 1;
    int n = 0;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == 1)
            continue;
        size = size_mul(size, shape[i]);
        out[n++] = size;
    }
    return n;
}

/* The lengths of a node's axes as far as they are chosen; how many. */
static int chosen_shape(const Graph *g, Dims d, const Selection *cells, size_t out[DIMS_MAX])
{
    for (int i = 0; i < d.n; i++) {
        int from = 0, to = g->axes[d.axis[i]].n;
        for (int k = 0; k < cells->n; k++)
            if (cells->range[k].axis == d.axis[i]) {
                from = from > cells->range[k].from ? from : cells->range[k].from;
                to = to < cells->range[k].to ? to : cells->range[k].to;
            }
        out[i] = to > from ? (size_t)(to - from) : 0;
    }
    return d.n;
}

/* Do values of that shape lie in memory as those of shape[n] do? Axes may be merged or split ([3,48,48] for pixels),
 * not exchanged. */
static bool same_order(const size_t *shape, int n, const TensorInfo *t)
{
    size_t mine[TENSOR_RANK_MAX], theirs[TENSOR_RANK_MAX];
    int m = running_sizes(shape, n, mine), k = running_sizes(t->shape, t->rank, theirs), common = 0;
    for (int i = 0, j = 0; i < m && j < k;) {
        common += mine[i] == theirs[j];
        if (mine[i] <= theirs[j])
            i++;
        else
            j++;
    }
    return common == (m < k ? m : k);
}

/* What is patched: a node, or a part of it. */
typedef struct Patched {
    const char *path;
    Dims dims;
    const Selection *cells;
    size_t whole, chosen; /* cells */
} Patched;

static Patched patched_of(const Graph *g, const Address *to)
{
    size_t shape[DIMS_MAX], chosen = 1;
    NodeId n = graph_find(g, to->path);
    Patched p = {.path = to->path, .dims = graph_node(g, n)->dims, .cells = &to->cells, .whole = graph_cells(g, n)};
    int rank = chosen_shape(g, p.dims, p.cells, shape);
    for (int i = 0; i < rank; i++)
        chosen = size_mul(chosen, shape[i]);
    p.chosen = chosen;
    return p;
}

/* Cells of the part, in the node's order, to where they stand in the node. */
static void spread(const Graph *g, const Patched *p, const float *part, float *out)
{
    for (size_t i = 0; i < p->whole; i++) {
        int index[DIMS_MAX];
        dims_unravel(g->axes, p->dims, i, index);
        if (selection_has(p->cells, p->dims, index))
            out[i] = *part++;
    }
}

/* FILE, or FILE:tensor where there is no file of that whole name. */
static const TensorInfo *open_source(TensorFile *f, const char *from, const char *path, Err *err)
{
    const char *colon = strrchr(from, ':');
    const TensorInfo *t = NULL;
    if (colon && colon > from && !file_exists(from)) {
        char *file = xstrdup(from);
        file[colon - from] = '\0';
        if (tensors_open(f, file, err) && !(t = tensors_find(f, colon + 1)))
            err_set(err, "%s: there is no tensor '%s' in it (%zu tensors; the first is '%s')", file, colon + 1,
                    f->count, f->count ? f->tensors[0].name : "");
        free(file);
        return t;
    }
    if (!tensors_open(f, from, err))
        return NULL;
    t = f->count == 1 ? &f->tensors[0] : tensors_find(f, path);
    if (!t)
        err_set(err, "%s: it has %zu tensors and none is called '%s': say which with from=%s:TENSOR", from, f->count,
                path, from);
    return t;
}

static bool read_source(const Graph *g, const Patched *p, const TensorFile *f, const TensorInfo *t, float *out,
                        Err *err)
{
    size_t shape[DIMS_MAX];
    const Selection all = {.n = 0};
    bool whole = t->cells == p->whole;
    int rank = chosen_shape(g, p->dims, whole ? &all : p->cells, shape);
    if (!whole && t->cells != p->chosen)
        return p->chosen == p->whole
                   ? err_set(err, "%s: '%s' has %zu values, %s has %zu", f->path, t->name, t->cells, p->path, p->whole)
                   : err_set(err, "%s: '%s' has %zu values; %s has %zu, the part of it that is patched %zu", f->path,
                             t->name, t->cells, p->path, p->whole, p->chosen);
    if (!same_order(shape, rank, t)) {
        Buf text = {0};
        graph_shape_text(g, p->dims, &text);
        err_set(err, "%s: the axes of '%s' stand in another order than %s%s", f->path, t->name, p->path,
                buf_str(&text));
        buf_free(&text);
        return false;
    }
    if (whole)
        return tensors_read_f32(f, t, out, err);
    float *part = xfloats(t->cells);
    bool ok = tensors_read_f32(f, t, part, err);
    if (ok)
        spread(g, p, part, out);
    free(part);
    return ok;
}

/* Fills the chosen cells of out, a node's whole length. */
static bool patch_values(EditParse *p, const Patched *place, const char *from, float *out, Err *err)
{
    if (strcmp(from, "a") == 0) {
        if (!session_pinned(p->s))
            return err_set(err, "from=a needs a pinned A: `pin` first, then open another picture");
        NodeId n = session_node(p->s, SIDE_A, place->path);
        if (n == NO_NODE || graph_cells(session_graph(p->s, SIDE_A), n) != place->whole)
            return err_set(err, "A has no node '%s' of this shape", place->path);
        memcpy(out, run_need(session_run(p->s, SIDE_A), n), place->whole * sizeof *out);
        return true;
    }
    TensorFile f = {0};
    from = permit_read(p->s, from, err);
    if (!from)
        return false;
    const TensorInfo *t = open_source(&f, from, place->path, err);
    bool ok = t && read_source(p->g, place, &f, t, out, err);
    tensors_close(&f);
    return ok;
}

static bool patch_parse(EditParse *p, const Args *a, Err *err)
{
    const char *from = args_named(a, "from");
    Address to;
    if (a->count < 1 || !from)
        return err_set(err, "expected `patch ADDRESS from=FILE`, from=FILE:TENSOR or from=a");
    if (!parse_target(p, a->word[0], false, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "a node or a part of one is patched: '%s' is a group of nodes", a->word[0]);
    const Patched place = patched_of(p->g, &to);
    EditValues *kept = *p->values;
    if (kept && kept->cells != place.whole)
        return err_set(err, "%s has %zu values here, and %zu were taken from %s", to.path, place.whole, kept->cells,
                       from);
    if (!kept) {
        float *data = xcalloc(place.whole, sizeof *data);
        if (!patch_values(p, &place, from, data, err)) {
            free(data);
            return false;
        }
        kept = *p->values = xcalloc(1, sizeof *kept);
        *kept = (EditValues){.uses = 1, .cells = place.whole, .data = data};
    }
    if (!parse_on_picture(p, to.path)) {
        float *data = arena_alloc(p->arena, size_mul(place.whole, sizeof *data));
        memcpy(data, kept->data, place.whole * sizeof *data);
        Edit *e = parse_add(p, EDIT_VALUES, to.path);
        e->data = data;
        e->cells = to.cells;
        return true;
    }
    float *picture = parse_picture(p);
    for (size_t i = 0; i < place.whole; i++) {
        int index[DIMS_MAX];
        dims_unravel(p->g->axes, place.dims, i, index);
        if (selection_has(&to.cells, place.dims, index))
            picture[i] = kept->data[i];
    }
    return true;
}

static bool patch_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    const char *from = args_named(a, "from");
    if (a->count != 1 || !from)
        return err_set(err, "expected `patch ADDRESS from=FILE`, from=FILE:TENSOR or from=a");
    Buf more = {0};
    buf_puts(&more, " from=");
    if (from[strcspn(from, " ;\"\\")] || from[strcspn(from, "\t\n")])
        command_quote(from, &more);
    else
        buf_puts(&more, from);
    bool ok = edit_print_address(s, "patch", a, buf_str(&more), line, err);
    buf_free(&more);
    return ok;
}

const EditVerb VERB_PATCH = {.words = "patch", .parse = patch_parse, .print = patch_print};
