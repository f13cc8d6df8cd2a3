/* Command lines → graph edits. Each kind of line has one function; lines were made by commands_change.c in one
 * spelling, but a hostile script may hold anything, so everything is checked here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/eval/precision.h"
#include "core/graph/anatomy.h"
#include "core/session/address.h"
#include "core/session/command.h"
#include "core/session/edit/edits_parts.h"
#include "core/session/exhibit.h"

Edit *parse_add(EditParse *p, EditKind kind, const char *path)
{
    p->edits = grow(p->edits, &p->cap, (size_t)p->count, sizeof *p->edits);
    Edit *e = &p->edits[p->count++];
    *e = (Edit){.kind = kind, .path = arena_strdup(p->arena, path), .origin = p->origin};
    return e;
}

bool parse_number(const char *text, float *out)
{
    char *end;
    *out = kernel_canonical(strtof(text, &end));
    return end != text && !*end;
}

bool parse_target(EditParse *p, const char *text, const char *scope_suffix, Address *a, Err *err)
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

static bool scale_line(EditParse *p, const Args *a, Err *err)
{
    const char *how = a->count > 1 ? a->word[1] : "", *at = args_named(a, "at");
    float factor = 1;
    bool off = strcmp(how, "off") == 0;
    if (!off && (*how != 'x' || !parse_number(how + 1, &factor) || !isfinite(factor)))
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
        Edit *e = parse_add(p, off ? EDIT_SET : EDIT_SCALE, path);
        e->cells = one.cells;
        e->factor = factor;
        e->value = 1; /* no factor at all */
        any = true;
    }
    return any || err_set(err, "at=%s: no attention there; say at=blocks.1 or at=blocks.1[h=2]", at ? at : "");
}

/* Every stored tensor rounded behind what computes it; edits of later lines stand behind the rounding. */
static bool precision_line(EditParse *p, const Args *a, Err *err)
{
    Precision precision;
    if (a->count != 2 || !precision_find(a->word[1], &precision))
        return err_set(err, "expected `set precision f32`, bf16 or f16");
    for (NodeId n = 0; n < p->g->count && precision != PRECISION_F32; n++)
        if (precision_rounds(p->g, n))
            parse_add(p, EDIT_MAP, graph_node(p->g, n)->path)->map = precision_edit(p->g, n, precision).map;
    return true;
}

static bool set_line(EditParse *p, const Args *a, Err *err)
{
    Address to;
    float value;
    if (a->count > 0 && strcmp(a->word[0], "scale") == 0)
        return scale_line(p, a, err);
    if (a->count > 0 && strcmp(a->word[0], "precision") == 0)
        return precision_line(p, a, err);
    if (a->count < 2 || !parse_number(a->word[1], &value))
        return err_set(err, "expected `set ADDRESS NUMBER` or `set scale off`");
    if (!parse_target(p, a->word[0], NULL, &to, err))
        return false;
    if (!to.is_node)
        return err_set(err, "'%s' is a group of nodes: name one", to.path);
    if (parse_on_picture(p, to.path)) {
        parse_fill_picture(p, &to.cells, value);
        return true;
    }
    Edit *e = parse_add(p, EDIT_SET, to.path);
    e->cells = to.cells;
    e->value = value;
    return true;
}

int parse_token_axis(const Graph *g, Dims d)
{
    for (int i = 0; i < d.n; i++)
        if (strcmp(g->axes[d.axis[i]].sym, "t") == 0 || strcmp(g->axes[d.axis[i]].sym, "p") == 0)
            return d.axis[i];
    for (int i = 0; i < d.n; i++) /* keys and values: the tokens looked at */
        if (strcmp(g->axes[d.axis[i]].sym, "u") == 0)
            return d.axis[i];
    return AXIS_NONE;
}

static bool ablate_line(EditParse *p, const Args *a, Err *err)
{
    Address to;
    bool mean = a->count > 1 && strcmp(a->word[1], "mean") == 0;
    if (a->count < 1 || (a->count > 1 && !mean))
        return err_set(err, "expected `ablate ADDRESS` or `ablate ADDRESS mean`");
    if (!parse_target(p, a->word[0], ".out", &to, err))
        return false;
    bool any = false;
    for (NodeId n = 0; n < p->g->count; n++) {
        const Node *node = graph_node(p->g, n);
        if (to.is_node ? strcmp(node->path, to.path) != 0
                       : !strchr(to.path, '*') || !address_match(to.path, node->path) || node->op == OP_LEAF ||
                             !is_forward(p->g, n))
            continue;
        int axis = parse_token_axis(p->g, node->dims);
        if (mean && axis == AXIS_NONE)
            return err_set(err, "%s has no tokens to take a mean over", node->path);
        any = true;
        if (parse_on_picture(p, node->path)) {
            parse_fill_picture(p, &to.cells, 0);
            continue;
        }
        Edit *e = parse_add(p, mean ? EDIT_MEAN : EDIT_ZERO, node->path);
        e->cells = to.cells;
        e->axis = axis;
    }
    return any || err_set(err, "'%s' is a group of nodes: name one, for example blocks.1.attn.z[h=2]", to.path);
}

static bool skip_one(EditParse *p, const char *format, int block, const char *other)
{
    char path[SESSION_PATH], from[SESSION_PATH];
    char number[16];
    snprintf(number, sizeof number, "%d", block);
    snprintf(path, sizeof path, "blocks.%s.%s", number, format);
    if (graph_find(p->g, path) == NO_NODE)
        return false;
    if (!other) { /* a sub-layer that adds nothing */
        parse_add(p, EDIT_ZERO, path);
        return true;
    }
    snprintf(from, sizeof from, "blocks.%s.%s", number, other);
    if (graph_find(p->g, from) == NO_NODE)
        return false;
    parse_add(p, EDIT_REDIRECT, path)->other = arena_strdup(p->arena, from);
    return true;
}

/* What a LayerNorm's scope reads: the first input of its sum. */
static const char *norm_input(EditParse *p, int block, const char *ln)
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

static bool skip_block(EditParse *p, const char *what, int b)
{
    bool post = session_vit(p->s)->post_norm;
    if (strcmp(what, "mlp") == 0)
        return skip_one(p, session_vit(p->s)->layer_scale ? "mlp.scaled_out" : "mlp.out", b, NULL);
    if (strcmp(what, "attention") == 0)
        return skip_one(p, session_vit(p->s)->layer_scale ? "attn.scaled_out" : "attn.out", b, NULL);
    if (strcmp(what, "layernorm") == 0) {
        const char *one = norm_input(p, b, "ln1"), *two = norm_input(p, b, "ln2");
        bool first = one && skip_one(p, "ln1.out", b, one);
        return (two && skip_one(p, "ln2.out", b, two)) || first;
    }
    if (strcmp(what, "residual") == 0) { /* the sub-layer's result alone goes on */
        bool scaled = session_vit(p->s)->layer_scale;
        bool first = skip_one(p, "resid_mid", b, scaled ? "attn.scaled_out" : "attn.out");
        (void)post;
        return skip_one(p, "resid_post", b, scaled ? "mlp.scaled_out" : "mlp.out") || first;
    }
    return false;
}

static bool skip_line(EditParse *p, const Args *a, Err *err)
{
    static const char WHAT[] = "expected mlp, attention, layernorm, residual or positions, and perhaps block=N";
    const char *what = a->count ? a->word[0] : "", *block = args_named(a, "block");
    int layers = session_blocks(p->s);
    if (strcmp(what, "positions") == 0) {
        NodeId full = site_node_any(p->g, SITE_EMBEDDED), pos = site_node_any(p->g, SITE_POSITIONS);
        if (full == NO_NODE || pos == NO_NODE)
            return err_set(err, "this model has no position embeddings to leave out");
        for (NodeId n = 0; n < p->g->count; n++) { /* the addition that brings them in */
            const Node *node = graph_node(p->g, n);
            if (node->op == OP_ADD && (node->in[0] == pos || node->in[1] == pos)) {
                NodeId other = node->in[0] == pos ? node->in[1] : node->in[0];
                parse_add(p, EDIT_REDIRECT, node->path)->other = arena_strdup(p->arena, graph_node(p->g, other)->path);
                return true;
            }
        }
        return err_set(err, "this model adds no position embeddings");
    }
    if (strcmp(what, "mlp") != 0 && strcmp(what, "attention") != 0 && strcmp(what, "layernorm") != 0 &&
        strcmp(what, "residual") != 0)
        return err_set(err, "%s", WHAT);
    const VitConfig *c;
    if (!model_vit_needed(p->s->now->model, &c, err))
        return false;
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

static bool mask_line(EditParse *p, const Args *a, Err *err)
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
        if (strcmp(node_name(graph_node(p->g, n)), "scores_scaled") != 0 ||
            (!is_causal && strcmp(path, to.path) != 0 && !address_match(to.path, path)))
            continue;
        Edit *e = parse_add(p, EDIT_MASK, path);
        e->cells = to.cells;
        e->choose = is_causal ? causal : NULL;
        any = true;
    }
    return any || err_set(err, "a mask goes onto scores_scaled, for example `mask blocks.0.attn.scores_scaled[u=cls]`");
}

static const struct {
    const char *name;
    bool (*parse)(EditParse *p, const Args *a, Err *err);
} LINES[] = {{"set", set_line},   {"ablate", ablate_line},   {"skip", skip_line},
             {"mask", mask_line}, {"shuffle", line_shuffle}, {"hide", line_hide},
             {"grey", line_grey}, {"swap", line_swap},       {"patch", line_patch}};

bool edits_parse(const Session *s, const EditState *lines, Arena *arena, Edit **edits, int *count, Err *err)
{
    Graph model = *session_base(s); /* gradients are made from edits, not edited */
    model.count = exhibit_pass(s->now)->base_count;
    EditParse p = {.s = s, .g = &model, .arena = arena};
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
