/* `patch`: values of a file, or of the pinned picture, in a node's place. */
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/io/tensors.h"
#include "core/session/edit/verbs.h"
#include "core/session/permit.h"

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

/* Do values of that shape lie in memory as the node's do? Axes may be merged or split ([3,48,48] for pixels), not
 * exchanged. */
static bool same_order(const Graph *g, Dims d, const TensorInfo *t)
{
    size_t shape[DIMS_MAX], mine[TENSOR_RANK_MAX], theirs[TENSOR_RANK_MAX];
    for (int i = 0; i < d.n; i++)
        shape[i] = (size_t)g->axes[d.axis[i]].n;
    int m = running_sizes(shape, d.n, mine), n = running_sizes(t->shape, t->rank, theirs), common = 0;
    for (int i = 0, k = 0; i < m && k < n;) {
        common += mine[i] == theirs[k];
        if (mine[i] <= theirs[k])
            i++;
        else
            k++;
    }
    return common == (m < n ? m : n);
}

static bool patch_values(EditParse *p, const char *path, const char *from, float *out, Err *err)
{
    size_t cells = graph_cells(p->g, graph_find(p->g, path));
    if (strcmp(from, "a") == 0) {
        if (!session_pinned(p->s))
            return err_set(err, "from=a needs a pinned A: `pin` first, then open another picture");
        NodeId n = session_node(p->s, SIDE_A, path);
        if (n == NO_NODE || graph_cells(session_graph(p->s, SIDE_A), n) != cells)
            return err_set(err, "A has no node '%s' of this shape", path);
        memcpy(out, run_need(session_run(p->s, SIDE_A), n), cells * sizeof *out);
        return true;
    }
    TensorFile f = {0};
    from = permit_file(p->s, from, err);
    if (!from || !tensors_open(&f, from, err))
        return false;
    const TensorInfo *t = f.count == 1 ? &f.tensors[0] : tensors_find(&f, path);
    bool ok = t ? t->cells == cells ||
                      err_set(err, "%s: '%s' has %zu values, %s has %zu", from, t->name, t->cells, path, cells)
                : err_set(err, "%s: it has %zu tensors and none is called '%s'", from, f.count, path);
    Dims d = graph_node(p->g, graph_find(p->g, path))->dims;
    if (ok && !same_order(p->g, d, t)) {
        Buf shape = {0};
        graph_shape_text(p->g, d, &shape);
        ok = err_set(err, "%s: the axes of '%s' stand in another order than %s%s", from, t->name, path,
                     buf_str(&shape));
        buf_free(&shape);
    }
    ok = ok && tensors_read_f32(&f, t, out, err);
    tensors_close(&f);
    return ok;
}

static bool patch_parse(EditParse *p, const Args *a, Err *err)
{
    const char *from = args_named(a, "from");
    Address to;
    if (a->count < 1 || !from)
        return err_set(err, "expected `patch ADDRESS from=FILE` or from=a");
    if (!parse_target(p, a->word[0], false, &to, err))
        return false;
    if (!to.is_node || to.cells.n)
        return err_set(err, "a whole node is patched: '%s' is not one", a->word[0]);
    size_t cells = graph_cells(p->g, graph_find(p->g, to.path));
    EditValues *kept = *p->values;
    if (kept && kept->cells != cells)
        return err_set(err, "%s has %zu values here, and %zu were taken from %s", to.path, cells, kept->cells, from);
    if (!kept) {
        float *data = xfloats(cells);
        if (!patch_values(p, to.path, from, data, err)) {
            free(data);
            return false;
        }
        kept = *p->values = xcalloc(1, sizeof *kept);
        *kept = (EditValues){.uses = 1, .cells = cells, .data = data};
    }
    float *data = parse_on_picture(p, to.path) ? parse_picture(p)
                                               : arena_alloc(p->arena, size_mul(cells, sizeof *data));
    memcpy(data, kept->data, cells * sizeof *data);
    if (!parse_on_picture(p, to.path))
        parse_add(p, EDIT_VALUES, to.path)->data = data;
    return true;
}

static bool patch_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    const char *from = args_named(a, "from");
    if (a->count != 1 || !from)
        return err_set(err, "expected `patch ADDRESS from=FILE` or from=a");
    Buf more = {0};
    buf_printf(&more, strpbrk(from, " ;\t\n") ? " from=\"%s\"" : " from=%s", from);
    bool ok = edit_print_address(s, "patch", a, buf_str(&more), line, err);
    buf_free(&more);
    return ok;
}

const EditVerb VERB_PATCH = {.words = "patch", .parse = patch_parse, .print = patch_print};
