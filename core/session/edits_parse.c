/* Command lines → graph edits. Each kind of line has one function; lines were made by commands_change.c in one spelling, but a
 * hostile script may hold anything, so everything is checked here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/io/tensors.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edits.h"

typedef struct Parse {
    const Session *s;
    const Graph *g;     /* the base graph: edits name its nodes */
    Arena *arena;
    Edit *edits;
    size_t cap;
    int count;
    float *picture;     /* the input's values as changed so far */
    const char *origin; /* the line */
    EditValues **values; /* of the line: where patch keeps what it read */
} Parse;

static Edit *add(Parse *p, EditKind kind, const char *path)
{
    p->edits = grow(p->edits, &p->cap, (size_t)p->count, sizeof *p->edits);
    Edit *e = &p->edits[p->count++];
    *e = (Edit){.kind = kind, .path = arena_strdup(p->arena, path), .origin = p->origin};
    return e;
}

static bool parse_float(const char *text, float *out)
{
    char *end;
    *out = kernel_canonical(strtof(text, &end));
    return end != text && !*end;
}

/* The whole picture as changed so far is one edit of the input's values: whatever changes a part of it does so here, in order. */
static float *picture(Parse *p)
{
    const Input *in = &p->s->now.input;
    if (!p->picture) {
        p->picture = arena_alloc(p->arena, size_mul(in->cells, sizeof(float)));
        memcpy(p->picture, in->values, in->cells * sizeof(float));
        const char *origin = p->origin;
        p->origin = "the picture, changed by hand";
        add(p, EDIT_VALUES, graph_node(p->g, p->s->now.nodes.input)->path)->data = p->picture;
        p->origin = origin;
    }
    return p->picture;
}

static bool on_picture(const Parse *p, const char *path)
{
    return strcmp(path, graph_node(p->g, p->s->now.nodes.input)->path) == 0;
}

static void fill_picture(Parse *p, const Selection *cells, float value)
{
    float *v = picture(p);
    Dims d = graph_node(p->g, p->s->now.nodes.input)->dims;
    for (size_t i = 0; i < p->s->now.input.cells; i++) {
        int index[DIMS_MAX];
        dims_unravel(p->g->axes, d, i, index);
        if (selection_has(cells, d, index))
            v[i] = value;
    }
}

/* Every node that matches, or the one an address names. */
static bool targets(Parse *p, const char *text, const char *scope_suffix, Address *a, Err *err)
{
    if (!address_parse(p->s, p->g, text, a, err))
        return false;
    if (!a->is_node && scope_suffix) {
        char path[SESSION_PATH * 2];
        snprintf(path, sizeof path, "%s%s", a->path, scope_suffix);
        if (graph_find(p->g, path) != NO_NODE && strlen(path) < sizeof a->path) {
            snprintf(a->path, sizeof a->path, "%s", path);
            a->is_node = true;
        }
    }
    return true;
}

static bool is_forward(const Graph *g, NodeId n)
{
    return !(graph_node(g, n)->flags & NODE_PROBE);
}

static bool scale_line(Parse *p, const Args *a, Err *err)
{
    const char *how = a->count > 1 ? a->word[1] : "", *at = args_named(a, "at");
    float factor = 1;
    bool off = strcmp(how, "off") == 0;
    if (!off && (*how != 'x' || !parse_float(how + 1, &factor) || !isfinite(factor)))
        return err_set(err, "expected `set scale off`, `on` or a factor such as x2, found '%s'", how);
    char pattern[SESSION_PATH] = "**attn.scale", cells[64] = "";
    if (at) {
        const char *bracket = strchr(at, '[');
        size_t n = bracket ? (size_t)(bracket - at) : strlen(at);
        if (n + sizeof ".attn.scale" > sizeof pattern)
            return err_set(err, "that address is too long");
        bool whole = n >= 10 && strncmp(at + n - 10, "attn.scale", 10) == 0;
        snprintf(pattern, sizeof pattern, "%.*s%s", (int)n, at, whole ? "" : ".attn.scale");
        snprintf(cells, sizeof cells, "%.60s", bracket ? bracket : "");
    }
    bool any = false;
    for (NodeId n = 0; n < p->g->count; n++) {
        const char *path = graph_node(p->g, n)->path;
        if (!address_match(pattern, path))
            continue;
        char text[SESSION_PATH + 64];
        Address one;
        snprintf(text, sizeof text, "%s%s", path, cells);
        if (!address_parse(p->s, p->g, text, &one, err))
            return false;
        Edit *e = add(p, off ? EDIT_SET : EDIT_SCALE, path);
        e->cells = one.cells;
        e->factor = factor;
        e->value = 1; /* no factor at all */
        any = true;
    }
    return any || err_set(err, "at=%s: no attention there; say at=blocks.1 or at=blocks.1[h=2]", at ? at : "");
}

static bool set_line(Parse *p, const Args *a, Err *err)
{
    Address to;
    float value;
    if (a->count > 0 && strcmp(a->word[0], "scale") == 0)
        return scale_line(p, a, err);
    if (a->count < 2 || !parse_float(a->word[1], &value))
        return err_set(err, "expected `set ADDRESS NUMBER` or `set scale off`");
    if (!targets(p, a->word[0], NULL, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes: name one", to.path);
    if (on_picture(p, to.path)) {
        fill_picture(p, &to.cells, value);
        return true;
    }
    Edit *e = add(p, EDIT_SET, to.path);
    e->cells = to.cells;
    e->value = value;
    return true;
}

static int token_axis(const Graph *g, Dims d)
{
    for (int i = 0; i < d.n; i++)
        if (strcmp(g->axes[d.axis[i]].sym, "t") == 0 || strcmp(g->axes[d.axis[i]].sym, "p") == 0)
            return d.axis[i];
    for (int i = 0; i < d.n; i++) /* keys and values: the tokens looked at */
        if (strcmp(g->axes[d.axis[i]].sym, "u") == 0)
            return d.axis[i];
    return AXIS_NONE;
}

static bool ablate_line(Parse *p, const Args *a, Err *err)
{
    Address to;
    bool mean = a->count > 1 && strcmp(a->word[1], "mean") == 0;
    if (a->count < 1 || (a->count > 1 && !mean))
        return err_set(err, "expected `ablate ADDRESS` or `ablate ADDRESS mean`");
    if (!targets(p, a->word[0], ".out", &to, err))
        return false;
    bool any = false;
    for (NodeId n = 0; n < p->g->count; n++) {
        const Node *node = graph_node(p->g, n);
        if (to.is_node ? strcmp(node->path, to.path) != 0 : !strchr(to.path, '*') || !address_match(to.path, node->path) || node->op == OP_LEAF || !is_forward(p->g, n))
            continue;
        int axis = token_axis(p->g, node->dims);
        if (mean && axis == AXIS_NONE)
            return err_set(err, "%s has no tokens to take a mean over", node->path);
        any = true;
        if (on_picture(p, node->path)) {
            fill_picture(p, &to.cells, 0);
            continue;
        }
        Edit *e = add(p, mean ? EDIT_MEAN : EDIT_ZERO, node->path);
        e->cells = to.cells;
        e->axis = axis;
    }
    return any || err_set(err, "'%s' is a group of nodes: name one, for example blocks.1.attn.z[h=2]", to.path);
}

static bool skip_one(Parse *p, const char *format, int block, const char *other)
{
    char path[SESSION_PATH], from[SESSION_PATH];
    char number[16];
    snprintf(number, sizeof number, "%d", block);
    snprintf(path, sizeof path, "blocks.%s.%s", number, format);
    if (graph_find(p->g, path) == NO_NODE)
        return false;
    if (!other) { /* a sub-layer that adds nothing */
        add(p, EDIT_ZERO, path);
        return true;
    }
    snprintf(from, sizeof from, "blocks.%s.%s", number, other);
    if (graph_find(p->g, from) == NO_NODE)
        return false;
    add(p, EDIT_REDIRECT, path)->other = arena_strdup(p->arena, from);
    return true;
}

/* What a LayerNorm's scope reads: the first input of its sum. */
static const char *norm_input(Parse *p, int block, const char *ln)
{
    char path[SESSION_PATH];
    snprintf(path, sizeof path, "blocks.%d.%s.sum", block, ln);
    NodeId n = graph_find(p->g, path);
    if (n == NO_NODE)
        return NULL;
    const char *in = graph_node(p->g, graph_node(p->g, n)->in[0])->path;
    const char *dot = strstr(in, "blocks.");
    dot = dot ? strchr(dot + 7, '.') : NULL;
    return dot ? dot + 1 : NULL;
}

static bool skip_block(Parse *p, const char *what, int b)
{
    bool post = p->s->model.vit.post_norm;
    if (strcmp(what, "mlp") == 0)
        return skip_one(p, p->s->model.vit.layer_scale ? "mlp.scaled_out" : "mlp.out", b, NULL);
    if (strcmp(what, "attention") == 0)
        return skip_one(p, p->s->model.vit.layer_scale ? "attn.scaled_out" : "attn.out", b, NULL);
    if (strcmp(what, "layernorm") == 0) {
        const char *one = norm_input(p, b, "ln1"), *two = norm_input(p, b, "ln2");
        bool first = one && skip_one(p, "ln1.out", b, one);
        return (two && skip_one(p, "ln2.out", b, two)) || first;
    }
    if (strcmp(what, "residual") == 0) { /* the sub-layer's result alone goes on */
        bool scaled = p->s->model.vit.layer_scale;
        bool first = skip_one(p, "resid_mid", b, scaled ? "attn.scaled_out" : "attn.out");
        (void)post;
        return skip_one(p, "resid_post", b, scaled ? "mlp.scaled_out" : "mlp.out") || first;
    }
    return false;
}

static bool skip_line(Parse *p, const Args *a, Err *err)
{
    static const char WHAT[] = "expected mlp, attention, layernorm, residual or positions, and perhaps block=N";
    const char *what = a->count ? a->word[0] : "", *block = args_named(a, "block");
    int layers = p->s->model.vit.layers;
    if (strcmp(what, "positions") == 0) {
        NodeId full = p->s->now.nodes.full_embed, pos = p->s->now.nodes.pos_embed;
        if (full == NO_NODE || pos == NO_NODE)
            return err_set(err, "this model has no position embeddings to leave out");
        for (NodeId n = 0; n < p->g->count; n++) { /* the addition that brings them in */
            const Node *node = graph_node(p->g, n);
            if (node->op == OP_ADD && (node->in[0] == pos || node->in[1] == pos)) {
                NodeId other = node->in[0] == pos ? node->in[1] : node->in[0];
                add(p, EDIT_REDIRECT, node->path)->other = arena_strdup(p->arena, graph_node(p->g, other)->path);
                return true;
            }
        }
        return err_set(err, "this model adds no position embeddings");
    }
    if (strcmp(what, "mlp") != 0 && strcmp(what, "attention") != 0 && strcmp(what, "layernorm") != 0 && strcmp(what, "residual") != 0)
        return err_set(err, "%s", WHAT);
    char *end = NULL;
    long only = block ? strtol(block, &end, 10) : -1;
    if (block && (end == block || *end || only < 0 || only >= layers))
        return err_set(err, "block=%s: blocks go from 0 to %d", block, layers - 1);
    bool any = false;
    for (int b = 0; b < layers; b++)
        if (!block || b == only)
            any = skip_block(p, what, b) || any;
    return any || err_set(err, "this model has no %s to leave out", what);
}

static bool causal(const void *context, const int index[DIMS_MAX])
{
    (void)context;
    return index[1] > index[0]; /* a token may not look at later ones */
}

static bool mask_line(Parse *p, const Args *a, Err *err)
{
    Address to = {{0}, {0}, false};
    bool is_causal = a->count && strcmp(a->word[0], "causal") == 0;
    if (a->count < 1)
        return err_set(err, "expected causal, none, or an address such as scores_scaled[u=cls]");
    if (!is_causal && !address_parse(p->s, p->g, a->word[0], &to, err))
        return false;
    bool any = false;
    for (NodeId n = 0; n < p->g->count; n++) {
        const char *path = graph_node(p->g, n)->path;
        if (strcmp(node_name(graph_node(p->g, n)), "scores_scaled") != 0 || (!is_causal && strcmp(path, to.path) != 0 && !address_match(to.path, path)))
            continue;
        Edit *e = add(p, EDIT_MASK, path);
        e->cells = to.cells;
        e->choose = is_causal ? causal : NULL;
        any = true;
    }
    return any || err_set(err, "a mask goes onto scores_scaled, for example `mask blocks.0.attn.scores_scaled[u=cls]`");
}

static bool shuffle_line(Parse *p, const Args *a, Err *err)
{
    const char *seed_text = args_named(a, "seed");
    char *end = NULL;
    unsigned long long seed = seed_text ? strtoull(seed_text, &end, 10) : 1;
    NodeId embed = p->s->now.nodes.patch_embed;
    if (seed_text && (end == seed_text || *end))
        return err_set(err, "seed=%s: expected a number", seed_text);
    int axis = token_axis(p->g, graph_node(p->g, embed)->dims);
    int n = axis == AXIS_NONE ? 0 : p->g->axes[axis].n, *index = arena_alloc(p->arena, size_mul((size_t)n + 1, sizeof *index));
    Rng rng = rng_seed(seed, 0);
    for (int i = 0; i < n; i++)
        index[i] = i;
    for (int i = n - 1; i > 0; i--) { /* Fisher and Yates */
        int k = (int)rng_below(&rng, (uint32_t)i + 1), t = index[i];
        index[i] = index[k];
        index[k] = t;
    }
    Edit *e = add(p, EDIT_GATHER, graph_node(p->g, embed)->path);
    e->axis = axis;
    e->index = index;
    return true;
}

static bool parse_patch(Parse *p, const char *text, int *row, int *col, Err *err)
{
    int axis = session_axis(p->g, "p"), i;
    if (axis == AXIS_NONE)
        return err_set(err, "'%s': this model has no patches", text);
    const Axis *a = &p->g->axes[axis];
    if (!axis_parse(a, text, &i) || !axis_patch(a, i, row, col)) {
        char first[32], last[32];
        return err_set(err, "'%s' is no patch: expected one from %s to %s", text, axis_label(a, 0, first, sizeof first), axis_label(a, a->n - 1, last, sizeof last));
    }
    return true;
}

static bool grey_line(Parse *p, const Args *a, Err *err)
{
    const VitConfig *c = &p->s->model.vit;
    int row, col;
    if (a->count < 1 || !parse_patch(p, a->word[0], &row, &col, err))
        return a->count ? false : err_set(err, "expected a patch such as r3c4");
    float *v = picture(p), grey = p->s->now.input.ready ? 0.0f : 127.5f; /* half of 0 to 255; standardised values have 0 there */
    for (int ch = 0; ch < c->channels; ch++)
        for (int i = 0; i < c->patch_h; i++)
            for (int j = 0; j < c->patch_w; j++)
                v[((size_t)ch * (size_t)c->image_h + (size_t)(row * c->patch_h + i)) * (size_t)c->image_w + (size_t)(col * c->patch_w + j)] = grey;
    return true;
}

static bool swap_line(Parse *p, const Args *a, Err *err)
{
    const VitConfig *c = &p->s->model.vit;
    int r0, c0, r1, c1;
    if (a->count < 2)
        return err_set(err, "expected two patches, such as `swap r3c4 r0c0`");
    if (!parse_patch(p, a->word[0], &r0, &c0, err) || !parse_patch(p, a->word[1], &r1, &c1, err))
        return false;
    float *v = picture(p);
    size_t w = (size_t)c->image_w, plane = (size_t)c->image_h * w;
    for (size_t ch = 0; ch < (size_t)c->channels; ch++)
        for (int i = 0; i < c->patch_h; i++)
            for (int j = 0; j < c->patch_w; j++) {
                float *x = v + ch * plane + (size_t)(r0 * c->patch_h + i) * w + (size_t)(c0 * c->patch_w + j);
                float *y = v + ch * plane + (size_t)(r1 * c->patch_h + i) * w + (size_t)(c1 * c->patch_w + j);
                float t = *x;
                *x = *y;
                *y = t;
            }
    return true;
}

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

/* Do values of that shape lie in memory as the node's do? Axes may be merged or split ([3,48,48] for pixels), not exchanged. */
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

static bool patch_values(Parse *p, const char *path, const char *from, float *out, Err *err)
{
    size_t cells = graph_cells(p->g, graph_find(p->g, path));
    if (strcmp(from, "a") == 0) {
        if (!p->s->pinned.base)
            return err_set(err, "from=a needs a pinned A: `pin` first, then open another picture");
        NodeId n = session_node(p->s, SIDE_A, path);
        if (n == NO_NODE || graph_cells(session_graph(p->s, SIDE_A), n) != cells)
            return err_set(err, "A has no node '%s' of this shape", path);
        memcpy(out, run_need(session_run(p->s, SIDE_A), n), cells * sizeof *out);
        return true;
    }
    if (!p->s->file_commands)
        return err_set(err, "reading files is not allowed here");
    TensorFile f = {0};
    if (!tensors_open(&f, from, err))
        return false;
    const TensorInfo *t = f.count == 1 ? &f.tensors[0] : tensors_find(&f, path);
    bool ok = t ? t->cells == cells || err_set(err, "%s: '%s' has %zu values, %s has %zu", from, t->name, t->cells, path, cells)
                : err_set(err, "%s: it has %zu tensors and none is called '%s'", from, f.count, path);
    Dims d = graph_node(p->g, graph_find(p->g, path))->dims;
    if (ok && !same_order(p->g, d, t)) {
        Buf shape = {0};
        graph_shape_text(p->g, d, &shape);
        ok = err_set(err, "%s: the axes of '%s' stand in another order than %s%s", from, t->name, path, buf_str(&shape));
        buf_free(&shape);
    }
    ok = ok && tensors_read_f32(&f, t, out, err);
    tensors_close(&f);
    return ok;
}

static bool patch_line(Parse *p, const Args *a, Err *err)
{
    const char *from = args_named(a, "from");
    Address to;
    if (a->count < 1 || !from)
        return err_set(err, "expected `patch ADDRESS from=FILE` or from=a");
    if (!targets(p, a->word[0], NULL, &to, err))
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
    float *data = on_picture(p, to.path) ? picture(p) : arena_alloc(p->arena, size_mul(cells, sizeof *data));
    memcpy(data, kept->data, cells * sizeof *data);
    if (!on_picture(p, to.path))
        add(p, EDIT_VALUES, to.path)->data = data;
    return true;
}

static const struct {
    const char *name;
    bool (*parse)(Parse *p, const Args *a, Err *err);
} LINES[] = {{"set", set_line},         {"ablate", ablate_line}, {"skip", skip_line}, {"mask", mask_line},
             {"shuffle", shuffle_line}, {"grey", grey_line},     {"swap", swap_line}, {"patch", patch_line}};

bool edits_parse(const Session *s, const EditState *lines, Arena *arena, Edit **edits, int *count, Err *err)
{
    Parse p = {.s = s, .g = s->now.base, .arena = arena};
    bool ok = true;
    for (int i = 0; ok && i < lines->count; i++) {
        Args a;
        const char *name;
        p.origin = arena_strdup(arena, lines->line[i]);
        p.values = &lines->values[i];
        ok = args_parse(&a, lines->line[i], &name, err);
        bool known = false;
        for (size_t k = 0; ok && k < sizeof LINES / sizeof *LINES; k++)
            if (strcmp(LINES[k].name, name) == 0) {
                known = true;
                ok = LINES[k].parse(&p, &a, err);
                break;
            }
        if (ok && !known)
            ok = err_set(err, "'%s' is not an edit", lines->line[i]);
    }
    *count = p.count;
    *edits = arena_alloc(arena, size_mul((size_t)p.count + 1, sizeof **edits));
    if (p.count)
        memcpy(*edits, p.edits, (size_t)p.count * sizeof **edits);
    free(p.edits);
    return ok;
}
