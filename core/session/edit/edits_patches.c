/* Edits of patches: of the picture (grey, swap), or of the tokens made from it (shuffle, hide). */
#include "core/session/edit/edits_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/graph/anatomy.h"

/* The whole picture as changed so far is one edit of the input's values: whatever changes a part of it does so here, in
 * order. */
float *parse_picture(EditParse *p)
{
    const Input *in = session_input(p->s, SIDE_B);
    if (!p->picture) {
        p->picture = arena_alloc(p->arena, size_mul(in->cells, sizeof(float)));
        memcpy(p->picture, in->values, in->cells * sizeof(float));
        const char *origin = p->origin;
        p->origin = "the picture, changed by hand";
        parse_add(p, EDIT_VALUES, site_path_any(p->g, SITE_INPUT))->data = p->picture;
        p->origin = origin;
    }
    return p->picture;
}

bool parse_on_picture(const EditParse *p, const char *path)
{
    return strcmp(path, site_path_any(p->g, SITE_INPUT)) == 0;
}

void parse_fill_picture(EditParse *p, const Selection *cells, float value)
{
    float *v = parse_picture(p);
    Dims d = graph_node(p->g, site_node_any(p->g, SITE_INPUT))->dims;
    for (size_t i = 0; i < session_input(p->s, SIDE_B)->cells; i++) {
        int index[DIMS_MAX];
        dims_unravel(p->g->axes, d, i, index);
        if (selection_has(cells, d, index))
            v[i] = value;
    }
}

static bool parse_seed(const Args *a, unsigned long long *seed, Err *err)
{
    const char *text = args_named(a, "seed");
    char *end = NULL;
    *seed = text ? strtoull(text, &end, 10) : 1;
    return !text || (end != text && !*end) || err_set(err, "seed=%s: expected a number", text);
}

/* 0 … n−1 in an order that the seed decides (Fisher and Yates). */
static int *random_order(EditParse *p, int n, unsigned long long seed)
{
    int *order = arena_alloc(p->arena, size_mul((size_t)n + 1, sizeof *order));
    Rng rng = rng_seed(seed, 0);
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rng_below(&rng, (uint32_t)i + 1), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    return order;
}

/* patch_embed[p,d] and its axis p. */
static const char *patch_embed(const EditParse *p, int *axis)
{
    const Node *node = graph_node(p->g, site_node_any(p->g, SITE_EMBED));
    *axis = parse_token_axis(p->g, node->dims);
    return node->path;
}

bool line_shuffle(EditParse *p, const Args *a, Err *err)
{
    unsigned long long seed;
    int axis;
    const char *path = patch_embed(p, &axis);
    if (!parse_seed(a, &seed, err))
        return false;
    Edit *e = parse_add(p, EDIT_GATHER, path);
    e->axis = axis;
    e->index = random_order(p, p->g->axes[axis].n, seed);
    return true;
}

static bool parse_patch(EditParse *p, const char *text, int *row, int *col, Err *err)
{
    int axis = session_axis(p->g, "p"), i;
    if (axis == AXIS_NONE)
        return err_set(err, "'%s': this model has no patches", text);
    const Axis *a = &p->g->axes[axis];
    if (!axis_parse(a, text, &i) || !axis_patch(a, i, row, col)) {
        char first[32], last[32];
        return err_set(err, "'%s' is no patch: expected one from %s to %s", text, axis_label(a, 0, first, sizeof first),
                       axis_label(a, a->n - 1, last, sizeof last));
    }
    return true;
}

/* One word of `hide`: a patch, or patch_embed[p=…] with a patch or a range. */
static bool hide_word(EditParse *p, const char *text, int *chosen, Err *err)
{
    int axis, row, col;
    const char *path = patch_embed(p, &axis);
    if (!strchr(text, '[') && strcmp(text, path) != 0) {
        if (!parse_patch(p, text, &row, &col, err))
            return false;
        chosen[row * p->g->axes[axis].cols + col] = 1;
        return true;
    }
    Address to;
    if (!address_parse(p->s, p->g, text, &to, err))
        return false;
    if (!to.is_node || strcmp(to.path, path) != 0)
        return err_set(err, "'%s': patches are hidden, for example `hide r3c4` or `hide %s[p=r3c4]`", text, path);
    for (int i = 0; i < to.cells.n; i++)
        if (to.cells.range[i].axis != axis)
            return err_set(err, "'%s': a whole patch is hidden; say p=… only", text);
    for (int i = 0; i < p->g->axes[axis].n; i++) {
        int index[DIMS_MAX] = {i};
        chosen[i] |= selection_has(&to.cells, DIMS(axis), index);
    }
    return true;
}

/* `hide random 0.4 seed=1`: that share of the patches, to the nearest whole number, at least one. */
static bool hide_random(EditParse *p, const Args *a, int patches, int *chosen, Err *err)
{
    unsigned long long seed;
    float share;
    if (a->count != 2 || !parse_number(a->word[1], &share) || !(share > 0 && share <= 1))
        return err_set(err, "expected a share of the patches, above 0 and up to 1, such as `hide random 0.4 seed=1`");
    if (!parse_seed(a, &seed, err))
        return false;
    const int *order = random_order(p, patches, seed);
    int count = (int)((double)share * patches + 0.5);
    for (int i = 0; i < count || i == 0; i++)
        chosen[order[i]] = 1;
    return true;
}

/* Lines that follow each other are one edit: what they hide and show again adds up. One that comes after another edit
 * of the patches (a shuffle) is an edit of its own. */
static int *hidden_so_far(EditParse *p, const char *path, int axis, NodeId token)
{
    bool last = p->hidden != NULL;
    for (int i = p->hiding + 1; last && i < p->count; i++)
        last = strcmp(p->edits[i].path, path) != 0;
    if (last) {
        Edit *e = &p->edits[p->hiding];
        e->origin = arena_printf(p->arena, "%s; %s", e->origin, p->origin);
        return p->hidden;
    }
    size_t patches = (size_t)p->g->axes[axis].n;
    p->hidden = arena_alloc(p->arena, size_mul(patches, sizeof *p->hidden));
    memset(p->hidden, 0, patches * sizeof *p->hidden);
    p->hiding = p->count;
    Edit *e = parse_add(p, EDIT_OTHER, path);
    e->axis = axis;
    e->index = p->hidden;
    e->other = graph_node(p->g, token)->path;
    return p->hidden;
}

bool line_hide(EditParse *p, const Args *a, Err *err)
{
    int axis;
    const char *path = patch_embed(p, &axis);
    NodeId token = graph_find(p->g, vit_role_name(VIT_MASK_TOKEN));
    if (token == NO_NODE)
        return err_set(err, "this model has no mask token: it never learned to do without a patch; `grey r3c4` paints "
                            "one grey instead");
    bool not = a->count && strcmp(a->word[0], "not") == 0;
    if (a->count < 1 + not )
        return err_set(err, "expected patches such as `hide r3c4 r3c5`, `hide not r3c4` or `hide random 0.4`");
    int patches = p->g->axes[axis].n, *chosen = arena_alloc(p->arena, size_mul((size_t)patches, sizeof *chosen));
    memset(chosen, 0, (size_t)patches * sizeof *chosen);
    if (strcmp(a->word[0], "random") == 0) {
        if (!hide_random(p, a, patches, chosen, err))
            return false;
    } else {
        for (int i = not ; i < a->count; i++)
            if (!hide_word(p, a->word[i], chosen, err))
                return false;
    }
    int *hidden = hidden_so_far(p, path, axis, token);
    for (int i = 0; i < patches; i++)
        hidden[i] = chosen[i] ? !not : hidden[i];
    return true;
}

const float *edits_shown(const Session *s, Side side)
{
    const Graph *g = session_graph(s, side);
    for (NodeId n = g->count - 1; n >= 0; n--) {
        const Node *node = graph_node(g, n);
        if (node->op == OP_LEAF && strncmp(node->path, "patch_embed.edit_keep", 21) == 0 &&
            strncmp(node->leaf.origin, "hide", 4) == 0)
            return node->leaf.data;
    }
    return NULL;
}

bool line_grey(EditParse *p, const Args *a, Err *err)
{
    const VitConfig *c;
    int row, col;
    if (!model_vit_needed(p->s->now->model, &c, err))
        return false;
    if (a->count < 1 || !parse_patch(p, a->word[0], &row, &col, err))
        return a->count ? false : err_set(err, "expected a patch such as r3c4");
    float *v = parse_picture(p), grey = session_input(p->s, SIDE_B)->ready
                                            ? 0.0f
                                            : 127.5f; /* half of 0 to 255; standardised values have 0 there */
    for (int ch = 0; ch < c->channels; ch++)
        for (int i = 0; i < c->patch_h; i++)
            for (int j = 0; j < c->patch_w; j++)
                v[((size_t)ch * (size_t)c->image_h + (size_t)(row * c->patch_h + i)) * (size_t)c->image_w +
                  (size_t)(col * c->patch_w + j)] = grey;
    return true;
}

bool line_swap(EditParse *p, const Args *a, Err *err)
{
    const VitConfig *c;
    int r0, c0, r1, c1;
    if (!model_vit_needed(p->s->now->model, &c, err))
        return false;
    if (a->count < 2)
        return err_set(err, "expected two patches, such as `swap r3c4 r0c0`");
    if (!parse_patch(p, a->word[0], &r0, &c0, err) || !parse_patch(p, a->word[1], &r1, &c1, err))
        return false;
    float *v = parse_picture(p);
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
