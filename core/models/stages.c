#include "core/models/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/models/names.h"

enum { NO_BLOCK = -1, NO_ROW = -1 };

/* One kind of stage. A node belongs to the first row of its level (block or model) that lists it, or lists a name in
 * front of it: "ln1" takes ln1.sum and everything else in that scope, "attn.z" takes attn.z.unedited. A name that ends
 * in * is a beginning. A node that no row lists belongs to the stage of the node after it. */
typedef struct Row {
    bool in_block;
    const char *key, *label, *symbol;
    const char *needs; /* a node that must exist for this row to count, or NULL */
    const char *show;  /* the results that may stand for the stage, best first */
    const char *members;
    const char *sentence; /* NULL: that of the node shown */
} Row;

static const Row ROWS[] = {
    {false, "image", "image", "x", NULL, "image", "pixels* pixel_* image* two one",
     "The picture, resized and standardised: this is what the network sees."},
    {false, "patches", "patches", "x_p E", NULL, "patch_hidden patch_embed",
     "mask_token hidden patch_one patch_shown patch_hidden patch_embed",
     "The picture cut into patches; each becomes one vector, a token."},
    {false, "position", "+ position", "z₀", "pos_embed", "full_embed",
     "cls dist registers prefix* tokens* pos_embed patches_placed full_embed",
     "Every token that has a place gets the vector of that place added."},
    {false, "tokens", "tokens", "z₀", NULL, "full_embed",
     "cls dist registers prefix* tokens* patches_placed full_embed",
     "All tokens in a row. This model adds no positions to them."},
    {false, "norm_pre", "norm", "LN(z₀)", NULL, "norm_pre.out", "norm_pre", NULL},
    {true, "ln1", "ln1", "LN(z)", NULL, "ln1.out", "ln1", NULL},
    {true, "qkv", "q k v", "q, k, v", NULL, "attn.q",
     "attn.in attn.w_q attn.b_q attn.q_nobias attn.q attn.w_k attn.b_k attn.k_nobias attn.k attn.w_v attn.b_v "
     "attn.v_nobias attn.v",
     "Each token makes a question, an offer and a gift: queries, keys and values."},
    {true, "raw", "raw scores", "q kᵀ", NULL, "attn.scores_raw", "attn.scores_raw", NULL},
    {true, "scaled", "scaled", "q kᵀ/√d_k", NULL, "attn.scores_scaled", "attn.scale attn.scores_scaled", NULL},
    {true, "masked", "masked", "−∞", NULL, "attn.scores_masked", "attn.scores_masked", NULL},
    {true, "softmax", "softmax", "A", NULL, "attn.pattern",
     "attn.row_max attn.shifted attn.exp attn.row_sum attn.pattern",
     "Every row of scores becomes shares that add to 1: who looks at whom."},
    {true, "weighted", "weighted v", "A v", NULL, "attn.z", "attn.z", NULL},
    {true, "w_o", "W_O", "MSA", NULL, "attn.scaled_out attn.out",
     "attn.w_o attn.b_o attn.out_nobias attn.out attn.layer_scale attn.scaled_out", NULL},
    {true, "add1", "+", "z′", NULL, "resid_mid", "resid_mid", NULL},
    {true, "ln2", "ln2", "LN(z′)", NULL, "ln2.out", "ln2", NULL},
    {true, "up", "up", "z W₁+b", NULL, "mlp.pre", "mlp.w_up mlp.b_up mlp.pre_nobias mlp.pre", NULL},
    {true, "activation", "activation", "σ(·)", NULL, "mlp.post", "mlp.post", NULL},
    {true, "down", "down", "MLP", NULL, "mlp.scaled_out mlp.out",
     "mlp.w_down mlp.b_down mlp.out_nobias mlp.out mlp.layer_scale mlp.scaled_out", NULL},
    {true, "add2", "+", "z", NULL, "resid_post", "resid_post", NULL},
    {false, "ln_final", "final norm", "LN(z_L)", NULL, "ln_final.out", "ln_final", NULL},
    {false, "guess", "guess", "x̃", NULL, "guess", "guess*",
     "What the model takes every patch to look like; no part of its answer."},
    {false, "readout", "read-out", "y", NULL, "readout", "readout readout_patches readout_sum patch_count", NULL},
    {false, "fc_norm", "norm", "LN(y)", NULL, "fc_norm.out", "fc_norm", NULL},
    {false, "logits", "logits", "y W+b", NULL, "logits", "head* logits* readout_dist", NULL},
    {false, "probs", "probs", "p", NULL, "probs", "probs*", NULL},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };
static const char BLOCK_SENTENCE[] = "One round: tokens gather from each other (attention), then each is reworked.";
static const char OPEN_BLOCK_SENTENCE[] = "The whole block and its result: attention, then MLP. Space goes inside.";

/* A stage that the graph really has. */
typedef struct Group {
    int block, row;
    NodeId show, first, last;
    Cost cost;
} Group;

typedef struct Maker {
    const Graph *g;
    Stages *s;
    int *group_of; /* [nodes] */
    Group *groups;
    int group_count;
} Maker;

/* The block's number and the rest of the path after "blocks.N."; NO_BLOCK and the whole path elsewhere. */
static int split_path(const char *path, const char **rest)
{
    char *end;
    *rest = path;
    if (strncmp(path, "blocks.", 7) != 0 || path[7] < '0' || path[7] > '9')
        return NO_BLOCK;
    long n = strtol(path + 7, &end, 10);
    if (*end != '.')
        return NO_BLOCK;
    *rest = end + 1;
    return (int)n;
}

/* Is name, or a dotted beginning of it, in the list of words? */
static bool listed(const char *words, const char *name)
{
    for (const char *w = words; *w; w += *w == ' ') {
        const char *n = name;
        for (; *w == *n && *n; w++)
            n++;
        if (*w == '*' || ((!*w || *w == ' ') && (!*n || *n == '.')))
            return true;
        while (*w && *w != ' ')
            w++;
    }
    return false;
}

/* A part of the model that is no part of the pass: on the map, although its nodes are computed only when they are
 * looked at. Other analyses have no place there. */
static bool stands_aside(int row)
{
    return strcmp(ROWS[row].key, "guess") == 0;
}

static int row_of(const Graph *g, int block, const char *name, bool probe)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].in_block == (block != NO_BLOCK) && (!probe || stands_aside(i)) && listed(ROWS[i].members, name) &&
            (!ROWS[i].needs || graph_find(g, ROWS[i].needs) != NO_NODE))
            return i;
    return NO_ROW;
}

static void add_cost(Cost *to, Cost c)
{
    to->flops += c.flops;
    to->bytes += c.bytes;
    to->params += c.params;
}

static int group_for(Maker *m, int block, int row)
{
    for (int i = m->group_count - 1; i >= 0; i--)
        if (m->groups[i].block == block && m->groups[i].row == row)
            return i;
    m->groups[m->group_count] = (Group){.block = block, .row = row, .show = NO_NODE, .first = NO_NODE};
    return m->group_count++;
}

/* Best result first; in an edited graph the last node of a name is the one that counts. */
static NodeId shown(const Maker *m, const Group *gr)
{
    const char *want = ROWS[gr->row].show;
    while (*want) {
        size_t n = strcspn(want, " ");
        for (NodeId i = gr->last; i >= gr->first; i--) {
            const char *rest;
            if (split_path(m->g->nodes[i].path, &rest) == gr->block && strlen(rest) == n && memcmp(rest, want, n) == 0)
                return i;
        }
        want += n;
        want += strspn(want, " ");
    }
    return gr->last;
}

/* Returns how many nodes have a place. */
static size_t make_groups(Maker *m)
{
    int next = NO_ROW;
    size_t placed = 0;
    for (NodeId n = m->g->count - 1; n >= 0;
         n--) { /* from the end: an unlisted node takes the stage of the one after it */
        const char *rest;
        bool probe = m->g->nodes[n].flags & NODE_PROBE;
        int block = split_path(m->g->nodes[n].path, &rest), row = row_of(m->g, block, rest, probe);
        if (probe && row == NO_ROW)
            continue;
        int group = row == NO_ROW ? next : group_for(m, block, row);
        if (group == NO_ROW)
            continue; /* an analysis behind the forward pass has no place on its map */
        m->group_of[n] = next = group;
        Group *gr = &m->groups[group];
        if (gr->first == NO_NODE)
            gr->last = n;
        gr->first = n;
        add_cost(&gr->cost, graph_cost(m->g, n));
        placed++;
    }
    for (int i = 0; i < m->group_count; i++)
        m->groups[i].show = shown(m, &m->groups[i]);
    return placed;
}

static int by_show(const void *a, const void *b)
{
    const Group *x = *(const Group *const *)a, *y = *(const Group *const *)b;
    return (x->show > y->show) - (x->show < y->show);
}

static int add_box(Maker *m, Box b, int *previous)
{
    int at = m->s->count++;
    m->s->boxes[at] = b;
    if (*previous != NO_BOX)
        m->s->boxes[*previous].next = at;
    else if (b.parent != NO_BOX)
        m->s->boxes[b.parent].child = at;
    *previous = at;
    return at;
}

static void add_nodes(Maker *m, int parent, const Group *gr)
{
    int previous = NO_BOX;
    for (NodeId n = gr->first; n <= gr->last; n++) {
        if (m->group_of[n] < 0 || &m->groups[m->group_of[n]] != gr)
            continue;
        const NodeText *t = node_text(m->g->nodes[n].path);
        const char *name = node_name(&m->g->nodes[n]);
        m->s->of_node[n] = add_box(m,
                                   (Box){.label = t ? t->label : name,
                                         .symbol = t ? t->symbol : "",
                                         .sentence = t ? t->sentence : "",
                                         .path = m->g->nodes[n].path,
                                         .show = n,
                                         .first = n,
                                         .last = n,
                                         .parent = parent,
                                         .child = NO_BOX,
                                         .next = NO_BOX,
                                         .depth = m->s->boxes[parent].depth + 1,
                                         .cost = graph_cost(m->g, n)},
                                   &previous);
    }
}

/* What the norm of a block reads differs: the tokens before attention, or after the addition in a post-norm model. */
static const char *symbol_of(const Maker *m, const Group *gr)
{
    const Row *r = &ROWS[gr->row];
    if (!r->in_block || strncmp(r->key, "ln", 2) != 0)
        return r->symbol;
    char sum[64];
    snprintf(sum, sizeof sum, "blocks.%d.%s.sum", gr->block, r->key);
    NodeId n = graph_find(m->g, sum);
    if (n == NO_NODE || m->g->nodes[n].in[0] == NO_NODE)
        return r->symbol;
    const NodeText *in = node_text(m->g->nodes[m->g->nodes[n].in[0]].path);
    return in && *in->symbol ? arena_printf(&m->s->arena, "LN(%s)", in->symbol) : r->symbol;
}

static void add_stage(Maker *m, int parent, const Group *gr, int *previous)
{
    const Row *r = &ROWS[gr->row];
    const NodeText *t = node_text(m->g->nodes[gr->show].path);
    Arena *a = &m->s->arena;
    int at = add_box(m,
                     (Box){.label = r->label,
                           .symbol = symbol_of(m, gr),
                           .sentence = r->sentence ? r->sentence
                                       : t         ? t->sentence
                                                   : "",
                           .path = gr->block == NO_BLOCK ? r->key : arena_printf(a, "blocks.%d.%s", gr->block, r->key),
                           .show = gr->show,
                           .first = gr->first,
                           .last = gr->last,
                           .parent = parent,
                           .child = NO_BOX,
                           .next = NO_BOX,
                           .depth = parent == NO_BOX ? 0 : m->s->boxes[parent].depth + 1,
                           .cost = gr->cost},
                     previous);
    add_nodes(m, at, gr);
}

/* The stages of one block stand together in order; the block's box is put in front of them. */
static void add_block(Maker *m, const Group *const *order, int count, int *previous)
{
    const Group *end = order[count - 1];
    Box b = {.label = arena_printf(&m->s->arena, "block %d", end->block),
             .symbol = "z",
             .sentence = BLOCK_SENTENCE,
             .path = arena_printf(&m->s->arena, "blocks.%d", end->block),
             .show = end->show,
             .first = end->first,
             .last = end->last,
             .parent = NO_BOX,
             .child = NO_BOX,
             .next = NO_BOX};
    for (int i = 0; i < count; i++) {
        b.first = order[i]->first < b.first ? order[i]->first : b.first;
        b.last = order[i]->last > b.last ? order[i]->last : b.last;
        add_cost(&b.cost, order[i]->cost);
    }
    int at = add_box(m, b, previous), inner = NO_BOX;
    for (int i = 0; i < count; i++)
        add_stage(m, at, order[i], &inner);
}

void stages_make(Stages *s, const Graph *g)
{
    size_t n = (size_t)g->count;
    *s = (Stages){.node_count = g->count};
    s->of_node = arena_alloc(&s->arena, size_mul(n + 1, sizeof *s->of_node));
    Arena scratch = {0};
    Maker m = {.g = g, .s = s};
    m.group_of = arena_alloc(&scratch, size_mul(n + 1, sizeof *m.group_of));
    m.groups = arena_alloc(&scratch, size_mul(n + 1, sizeof *m.groups));
    for (size_t i = 0; i < n; i++)
        m.group_of[i] = s->of_node[i] = NO_BOX;
    size_t placed = make_groups(&m);
    s->boxes = arena_alloc(&s->arena, size_mul(placed + 2 * (size_t)m.group_count,
                                               sizeof *s->boxes)); /* a stage is in one block at most */
    const Group **order = arena_alloc(&scratch, size_mul(n + 1, sizeof *order));
    for (int i = 0; i < m.group_count; i++)
        order[i] = &m.groups[i];
    qsort(order, (size_t)m.group_count, sizeof *order, by_show);
    int previous = NO_BOX;
    for (int i = 0, k; i < m.group_count; i = k) {
        for (k = i + 1; k < m.group_count && order[i]->block != NO_BLOCK && order[k]->block == order[i]->block; k++)
            ;
        if (order[i]->block == NO_BLOCK)
            add_stage(&m, NO_BOX, order[i], &previous);
        else
            add_block(&m, order + i, k - i, &previous);
    }
    arena_free(&scratch);
}

void stages_free(Stages *s)
{
    arena_free(&s->arena);
    *s = (Stages){0};
}

int stages_of_node(const Stages *s, NodeId n)
{
    return n >= 0 && n < s->node_count ? s->of_node[n] : NO_BOX;
}

int stages_find(const Stages *s, const char *path)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->boxes[i].path, path) == 0)
            return i;
    return NO_BOX;
}

const char *stages_sentence(const Stages *s, const bool *open, int box)
{
    const Box *b = &s->boxes[box];
    return b->sentence == BLOCK_SENTENCE && open[box] ? OPEN_BLOCK_SENTENCE : b->sentence;
}

int stages_after(const Stages *s, const bool *open, int box)
{
    if (box < 0 || box >= s->count)
        return NO_BOX;
    if (open[box] && s->boxes[box].child != NO_BOX)
        return s->boxes[box].child;
    while (box != NO_BOX && s->boxes[box].next == NO_BOX)
        box = s->boxes[box].parent;
    return box == NO_BOX ? NO_BOX : s->boxes[box].next;
}

int stages_before(const Stages *s, const bool *open, int box)
{
    if (box <= 0 || box >= s->count)
        return NO_BOX;
    int parent = s->boxes[box].parent, at = parent == NO_BOX ? 0 : s->boxes[parent].child;
    if (at == box)
        return parent;
    while (s->boxes[at].next != box)
        at = s->boxes[at].next;
    while (open[at] && s->boxes[at].child != NO_BOX) /* into the last visible box inside it */
        for (at = s->boxes[at].child; s->boxes[at].next != NO_BOX;)
            at = s->boxes[at].next;
    return at;
}
