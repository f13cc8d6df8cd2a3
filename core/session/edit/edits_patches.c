/* Edits of patches: of the picture (grey, swap), or of the tokens made from it (shuffle, hide). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/session/edit/verbs.h"
#include "core/session/screens.h"

/* The input's leaf: what was put in. */
static const Node *input_node(const EditParse *p)
{
    return graph_node(p->g, site_node_any(p->g, SITE_INPUT));
}

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
        parse_add(p, EDIT_VALUES, input_node(p)->path)->data = p->picture;
        p->origin = origin;
    }
    return p->picture;
}

bool parse_on_picture(const EditParse *p, const char *path)
{
    return site_is(p->g, path, SITE_INPUT);
}

void parse_fill_picture(EditParse *p, const Selection *cells, float value)
{
    float *v = parse_picture(p);
    Dims d = input_node(p)->dims;
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

/* The patches' vectors and the axis of their places; NULL in a model without patches. */
static const char *patch_vectors(const EditParse *p, int *axis, Err *err)
{
    NodeId n = site_node_any(p->g, SITE_EMBED);
    *axis = node_role(p->g, n, ROLE_PLACE);
    if (*axis != AXIS_NONE)
        return graph_node(p->g, n)->path;
    err_set(err, "this model has no patches");
    return NULL;
}

static bool shuffle_parse(EditParse *p, const Args *a, Err *err)
{
    unsigned long long seed;
    int axis;
    const char *path = patch_vectors(p, &axis, err);
    if (!path || !parse_seed(a, &seed, err))
        return false;
    Edit *e = parse_add(p, EDIT_GATHER, path);
    e->axis = axis;
    e->index = random_order(p, p->g->axes[axis].n, seed);
    return true;
}

static bool shuffle_report(Session *s, const Args *a)
{
    (void)a;
    session_say(s, "Patches are in another order: a token's name is its place.  u undoes");
    return true;
}

const EditVerb VERB_SHUFFLE = {.words = "shuffle",
                               .twice = TWICE_TOGGLES,
                               .parse = shuffle_parse,
                               .report = shuffle_report};

static bool parse_patch(EditParse *p, const char *text, int *row, int *col, Err *err)
{
    int axis = graph_role(p->g, ROLE_PLACE, SEQUENCE_ANY), i;
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
    const char *path = patch_vectors(p, &axis, err);
    if (!path)
        return false;
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
        return err_set(err, "'%s': patches are hidden, for example `hide r3c4` or `hide %s[%s=r3c4]`", text, path,
                       p->g->axes[axis].sym);
    for (int i = 0; i < to.cells.n; i++)
        if (to.cells.range[i].axis != axis)
            return err_set(err, "'%s': a whole patch is hidden; say %s=… only", text, p->g->axes[axis].sym);
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

static bool hide_parse(EditParse *p, const Args *a, Err *err)
{
    int axis;
    const char *path = patch_vectors(p, &axis, err);
    NodeId token = site_node_any(p->g, SITE_MASK_TOKEN);
    if (!path)
        return false;
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
    static const char KEEP[] = ".edit_keep";
    const Graph *g = session_graph(s, side);
    const char *path = site_path_any(g, SITE_EMBED);
    size_t length = path ? strlen(path) : 0;
    for (NodeId n = path ? g->count - 1 : NO_NODE; n >= 0; n--) {
        const Node *node = graph_node(g, n);
        if (node->op == OP_LEAF && strncmp(node->path, path, length) == 0 &&
            strncmp(node->path + length, KEEP, sizeof KEEP - 1) == 0 && strncmp(node->leaf.origin, "hide", 4) == 0)
            return node->leaf.data;
    }
    return NULL;
}

/* The patch under the cursor hidden, or shown again, whichever it is not. */
static bool hide_here(const Session *s, char line[EDIT_LINE])
{
    char label[32], other[64];
    int p = edit_place_axis(s);
    const float *shown = edits_shown(s, SIDE_B);
    if (!edit_place_label(s, label, sizeof label))
        return false;
    bool hidden = shown && shown[s->place.at[p]] == 0.0f;
    snprintf(other, sizeof other, "hide %s%s", hidden ? "" : "not ", label);
    if (edits_has(s, other)) /* taking that line away does it */
        return edit_line(line, NULL, "%s", other);
    return edit_line(line, NULL, "hide %s%s", hidden ? "not " : "", label);
}

static bool hide_focus(const Session *s, char line[EDIT_LINE])
{
    return screen_now(s)->off == OFF_HIDDEN && hide_here(s, line);
}

static bool hide_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    if (!a->count && hide_here(s, line))
        return true;
    return edit_line(line, err, "hide %s", a->rest);
}

static bool hide_report(Session *s, const Args *a)
{
    if (!a->count || strcmp(a->word[0], "not") == 0)
        return false;
    if (a->count == 1 && !a->named_count && !strchr(a->word[0], '['))
        session_say(s, "Patch %s is hidden behind the mask token.  u undoes", a->word[0]);
    else
        session_say(s, "Patches are hidden behind the mask token.  u undoes");
    return true;
}

const EditVerb VERB_HIDE = {.words = "hide",
                            .twice = TWICE_TOGGLES,
                            .parse = hide_parse,
                            .print = hide_print,
                            .report = hide_report,
                            .focus = hide_focus};

/* --- of the picture itself --- */

/* Where a patch's pixels lie: the input's dims, and which of its axes are the patch's row and column. */
typedef struct Pixels {
    Dims d;
    int row, col; /* positions in d */
} Pixels;

static bool pixels_of(const EditParse *p, Pixels *x, Err *err)
{
    if (site_node_any(p->g, SITE_INPUT) == NO_NODE)
        return err_set(err, "the model on show was given no picture");
    x->d = input_node(p)->dims;
    x->row = dims_find(x->d, dims_role(p->g, x->d, ROLE_PLACE_ROW));
    x->col = dims_find(x->d, dims_role(p->g, x->d, ROLE_PLACE_COL));
    return (x->row >= 0 && x->col >= 0) ||
           err_set(err, "this model's input has no patches; `word OLD NEW` changes a word");
}

static bool grey_parse(EditParse *p, const Args *a, Err *err)
{
    Pixels x;
    int row, col, index[DIMS_MAX];
    if (!pixels_of(p, &x, err))
        return false;
    if (!a->count)
        return err_set(err, "expected a patch: its row and column, such as r0c1");
    if (!parse_patch(p, a->word[0], &row, &col, err))
        return false;
    float *v = parse_picture(p), grey = session_input(p->s, SIDE_B)->ready
                                            ? 0.0f
                                            : 127.5f; /* half of 0 to 255; standardised values have 0 there */
    for (size_t i = 0; i < session_input(p->s, SIDE_B)->cells; i++) {
        dims_unravel(p->g->axes, x.d, i, index);
        if (index[x.row] == row && index[x.col] == col)
            v[i] = grey;
    }
    return true;
}

static bool grey_here(const Session *s, char line[EDIT_LINE])
{
    char label[32];
    return edit_place_label(s, label, sizeof label) && edit_line(line, NULL, "grey %s", label);
}

static bool grey_focus(const Session *s, char line[EDIT_LINE])
{
    return screen_now(s)->off == OFF_PATCH && grey_here(s, line);
}

static bool grey_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    return (!a->count && grey_here(s, line)) || edit_line(line, err, "grey %s", a->rest);
}

static bool grey_report(Session *s, const Args *a)
{
    if (a->count != 1)
        return false;
    session_say(s, "Patch %s is grey: A is before, B is after.  u undoes", a->word[0]);
    return true;
}

const EditVerb VERB_GREY = {.words = "grey",
                            .twice = TWICE_TOGGLES,
                            .parse = grey_parse,
                            .print = grey_print,
                            .report = grey_report,
                            .focus = grey_focus};

static bool swap_parse(EditParse *p, const Args *a, Err *err)
{
    Pixels x;
    int r0, c0, r1, c1, index[DIMS_MAX];
    if (!pixels_of(p, &x, err))
        return false;
    if (a->count < 2)
        return err_set(err, "expected two patches, such as `swap r0c1 r0c0`");
    if (!parse_patch(p, a->word[0], &r0, &c0, err) || !parse_patch(p, a->word[1], &r1, &c1, err))
        return false;
    float *v = parse_picture(p);
    for (size_t i = 0; i < session_input(p->s, SIDE_B)->cells && (r0 != r1 || c0 != c1); i++) {
        dims_unravel(p->g->axes, x.d, i, index);
        if (index[x.row] != r0 || index[x.col] != c0)
            continue;
        index[x.row] = r1;
        index[x.col] = c1;
        size_t other = dims_ravel(p->g->axes, x.d, index);
        float t = v[i];
        v[i] = v[other];
        v[other] = t;
    }
    return true;
}

/* With one patch named, the patch under the cursor goes there. */
static bool swap_print(const Session *s, const Args *a, char line[EDIT_LINE], Err *err)
{
    char label[32];
    if (a->count == 1 && edit_place_label(s, label, sizeof label))
        return edit_line(line, err, "swap %s %.60s", label, a->word[0]);
    return edit_line(line, err, "swap %s", a->rest);
}

const EditVerb VERB_SWAP = {.words = "swap", .parse = swap_parse, .print = swap_print};
