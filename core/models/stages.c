#include "core/models/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/utf8.h"
#include "core/graph/anatomy.h"
#include "core/models/names.h"

enum { NO_ROW = -1 };

/* One kind of stage. Inside a block a node that the anatomy notes belongs to the stage of its site (SITES below),
 * whatever it is called. Any other belongs to the first row of its kind of part that lists its name there, or lists a
 * name in front of it: "z" of an attention takes z.unedited. A name that ends in * is a beginning. A node that no row
 * lists belongs to the stage of the node after it. Names are those inside a part's scope; outside blocks (PART_MODEL)
 * they are whole paths. */
typedef struct Row {
    PartKind kind;
    const char *key;   /* NULL: the last word of the part's scope */
    const char *label; /* NULL: the part's word */
    const char *symbol;
    const char *show; /* the results that may stand for the stage, best first */
    const char *members;
    const char *sentence; /* NULL: that of the node shown */
} Row;

static const Row ROWS[] = {
    {PART_MODEL, "image", "image", "x", "image", "pixels* pixel_* image* two one",
     "The picture, resized and standardised: this is what the network sees."},
    {PART_MODEL, "patches", "patches", "x_p E", "patch_hidden patch_embed",
     "mask_token hidden patch_one patch_shown patch_hidden patch_embed",
     "The picture cut into patches; each becomes one vector, a token."},
    {PART_MODEL, "class_token", "+ class token", "[x_cls; x_p E]", "tokens full_embed",
     "cls dist registers prefix prefix_pair prefix_each front_each batch_zero tokens full_embed", NULL},
    {PART_MODEL, "position", "+ position", "z₀", "full_embed patches_placed",
     "cls dist registers prefix* tokens* pos_embed pos_fit patches_placed full_embed rope*",
     "Every token that has a place gets the vector of that place added."},
    {PART_MODEL, "tokens", "tokens", "z₀", "full_embed",
     "cls dist registers prefix* tokens* patches_placed full_embed rope*",
     "All tokens in a row. This model adds no positions to them."},
    {PART_MODEL, "source", "source words", "√D E x", "encoder.embed_scaled",
     "encoder.tokens encoder.padding encoder.embed encoder.embed_scale encoder.embed_scaled",
     "Each word of the source becomes the vector of that word, times √D."},
    {PART_MODEL, "source_places", "+ position", "z₀", "encoder.full_embed", "encoder.pos_embed encoder.full_embed",
     "Every word of the source gets the vector of its place added."},
    {PART_MODEL, "encoder_norm", "encoder norm", "LN(z_L)", "encoder.ln_final.out", "encoder.ln_final", NULL},
    {PART_MODEL, "causal", "causal mask", "", "decoder.causal_mask", "decoder.causal_mask", NULL},
    {PART_MODEL, "target", "target words", "√D E y", "decoder.embed_scaled",
     "decoder.tokens decoder.embed decoder.embed_scale decoder.embed_scaled",
     "Each word so far becomes the vector of that word, times √D."},
    {PART_MODEL, "target_places", "+ position", "z₀", "decoder.full_embed", "decoder.pos_embed decoder.full_embed",
     "Every word so far gets the vector of its place added."},
    {PART_MODEL, "decoder_norm", "decoder norm", "LN(z_L)", "decoder.ln_final.out", "decoder.ln_final", NULL},
    {PART_MODEL, "norm_pre", "norm", "LN(z₀)", "norm_pre.out", "norm_pre", NULL},
    {PART_NORM, NULL, NULL, "LN(z)", "out", "*", NULL},
    {PART_ATTENTION, "qkv", "q k v", "q, k, v", "q", "in w_q b_q q_nobias q w_k b_k k_nobias k w_v b_v v_nobias v",
     "Each token makes a question, an offer and a gift: queries, keys and values."},
    {PART_ATTENTION, "turn", "turned", "R q, R k", "q_turned",
     "q_swapped q_cos q_sin q_turned cos_seen sin_seen k_swapped k_cos k_sin k_turned",
     "Queries and keys are turned by angles that tell their row and column."},
    {PART_ATTENTION, "raw", "raw scores", "q kᵀ", "scores_raw", "scores_raw", NULL},
    {PART_ATTENTION, "scaled", "scaled", "q kᵀ/√d_k", "scores_scaled", "scale scores_scaled", NULL},
    {PART_ATTENTION, "masked", "masked", "−∞", "scores_masked", "minus_infinity scores_masked", NULL},
    {PART_ATTENTION, "softmax", "softmax", "A", "pattern", "row_max shifted exp row_sum pattern",
     "Every row of scores becomes shares that add to 1: who looks at whom."},
    {PART_ATTENTION, "weighted", "weighted v", "A v", "z", "z", NULL},
    {PART_ATTENTION, "w_o", "W_O", "MSA", "scaled_out out", "w_o b_o out_nobias out layer_scale scaled_out", NULL},
    {PART_BLOCK, "add1", "+", "z′", "resid_mid", "resid_mid", NULL},
    {PART_BLOCK, "add_cross", "+", "z″", "resid_cross", "resid_cross", NULL},
    {PART_MLP, "up", "up", "z W₁+b", "pre", "w_up b_up pre_nobias pre", NULL},
    {PART_MLP, "gate", "gate", "σ(z W_g)", "gate_post", "w_gate b_gate gate_nobias gate gate_post", NULL},
    {PART_MLP, "activation", "activation", "σ(·)", "post", "post", NULL},
    {PART_MLP, "down", "down", "MLP", "scaled_out out", "w_down b_down out_nobias out layer_scale scaled_out", NULL},
    {PART_BLOCK, "add2", "+", "z", "resid_post", "resid_post", NULL},
    {PART_MODEL, "ln_final", "final norm", "LN(z_L)", "ln_final.out", "ln_final", NULL},
    {PART_MODEL, "readout", "read-out", "y", "readout",
     "readout readout_patches readout_sum patch_count readout_cls readout_mean pool*", NULL},
    {PART_MODEL, "fc_norm", "norm", "LN(y)", "fc_norm.out", "fc_norm", NULL},
    {PART_MODEL, "embedding", "embedding", "e/|e|", "embedding_unit embedding", "embedding*", NULL},
    {PART_MODEL, "logits", "logits", "y W+b", "logits", "head* logits* readout_dist", NULL},
    {PART_MODEL, "probs", "probs", "p", "probs", "probs*", NULL},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

/* The nodes that make a stage by what they are. The first one of a stage that is there may stand for it. */
static const struct {
    PartKind kind;
    Site site;
    const char *key; /* of the row */
} SITES[] = {
    {PART_ATTENTION, SITE_QUERY, "qkv"},
    {PART_ATTENTION, SITE_KEY, "qkv"},
    {PART_ATTENTION, SITE_VALUE, "qkv"},
    {PART_ATTENTION, SITE_QUERY_TURNED, "turn"},
    {PART_ATTENTION, SITE_KEY_TURNED, "turn"},
    {PART_ATTENTION, SITE_SCORES_RAW, "raw"},
    {PART_ATTENTION, SITE_SCORES_SCALED, "scaled"},
    {PART_ATTENTION, SITE_SCORES_MASKED, "masked"},
    {PART_ATTENTION, SITE_PATTERN, "softmax"},
    {PART_ATTENTION, SITE_Z, "weighted"},
    {PART_ATTENTION, SITE_OUT, "w_o"},
    {PART_MLP, SITE_MLP_PRE, "up"},
    {PART_MLP, SITE_MLP_GATE, "gate"},
    {PART_MLP, SITE_MLP_POST, "activation"},
    {PART_MLP, SITE_OUT, "down"},
};
enum { SITE_ROWS = sizeof SITES / sizeof *SITES };
static const char BLOCK_SENTENCE[] = "One round: tokens gather from each other (attention), then each is reworked.";
static const char OPEN_BLOCK_SENTENCE[] = "The whole block and its result: attention, then MLP. Space goes inside.";

/* A stage that the graph really has. */
typedef struct Group {
    int block, part, row; /* block: its part, or NO_PART outside; part: where the row's names lie */
    NodeId show, first, last;
    Cost cost;
} Group;

typedef struct Maker {
    const Graph *g;
    Stages *s;
    int *group_of; /* [nodes] */
    Group *groups;
    int group_count;
    NodeId joined; /* the node that puts learned tokens in front of the patches, or NO_NODE */
} Maker;

/* Where a node of that path is listed: its block, the part whose rows may list it and its name there. */
typedef struct Place {
    int block, part;
    PartKind kind;
    const char *name;
} Place;

static Place place_of(const Graph *g, const char *path)
{
    Place at = {.block = anatomy_block_of(g, path), .part = NO_PART, .kind = PART_MODEL, .name = path};
    if (at.block == NO_PART)
        return at;
    at.part = anatomy_of(g, path);
    const Part *p = anatomy_part(g, at.part);
    at.kind = p->kind;
    size_t scope = strlen(p->scope);
    at.name = strncmp(path, p->scope, scope) == 0 && path[scope] == '.' ? path + scope + 1 : path;
    return at;
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

static bool has_positions(const Graph *g)
{
    return site_node_any(g, SITE_POSITIONS) != NO_NODE;
}

static int row_named(PartKind kind, const char *key)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].kind == kind && ROWS[i].key && strcmp(ROWS[i].key, key) == 0)
            return i;
    return NO_ROW;
}

/* Is that the node of a site, or what an edit made of it ("z.unedited")? */
static bool is_site(const char *site, const char *path)
{
    size_t n = site ? strlen(site) : 0;
    return n && strncmp(site, path, n) == 0 && (!path[n] || path[n] == '.');
}

/* A sum in a block, by the sub-layer whose result it adds: the first attention, another one, the MLP. */
static int row_of_sum(const Graph *g, Place at, const char *path)
{
    bool first = true;
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_ATTENTION, at.block)) != NO_PART; first = false)
        if (is_site(site_path(g, p, SITE_SUM), path))
            return row_named(PART_BLOCK, first ? "add1" : "add_cross");
    for (int p = NO_PART; (p = anatomy_next_in(g, p, PART_MLP, at.block)) != NO_PART;)
        if (is_site(site_path(g, p, SITE_SUM), path))
            return row_named(PART_BLOCK, "add2");
    return NO_ROW;
}

static int row_of_site(const Graph *g, Place at, const char *path)
{
    if (at.kind == PART_BLOCK)
        return row_of_sum(g, at, path);
    for (int i = 0; i < SITE_ROWS; i++)
        if (SITES[i].kind == at.kind && is_site(site_path(g, at.part, SITES[i].site), path))
            return row_named(at.kind, SITES[i].key);
    return NO_ROW;
}

/* Tokens are joined before positions are added or behind that, or there are none to join. An edit may stand in front of
 * the name. */
static NodeId find_joined(const Graph *g)
{
    static const char *const NAMES[] = {"tokens", "full_embed"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        for (NodeId n = 0; n < g->count; n++)
            if (g->nodes[n].op == OP_CONCAT && is_site(NAMES[i], g->nodes[n].path))
                return n;
    return NO_NODE;
}

/* Is it on the way to the joined tokens, or made of them by an edit? */
static bool leads_to_joined(const Maker *m, NodeId n)
{
    if (m->joined == NO_NODE)
        return false;
    const char *path = m->g->nodes[m->joined].path, *unedited = strchr(path, '.');
    size_t name = unedited ? (size_t)(unedited - path) : strlen(path);
    return n <= m->joined || (strncmp(path, m->g->nodes[n].path, name) == 0 &&
                              (!m->g->nodes[n].path[name] || m->g->nodes[n].path[name] == '.'));
}

static bool has_key(const Row *r, const char *key)
{
    return r->key && strcmp(r->key, key) == 0;
}

/* Rows that only some models have. */
static bool row_there(const Maker *m, const Row *r, NodeId n)
{
    if (has_key(r, "class_token"))
        return leads_to_joined(m, n);
    return !has_key(r, "position") || has_positions(m->g);
}

static int row_of(const Maker *m, Place at, NodeId n)
{
    const char *path = m->g->nodes[n].path;
    int noted = at.part == NO_PART ? NO_ROW : row_of_site(m->g, at, path);
    if (noted != NO_ROW)
        return noted;
    for (int i = 0; i < ROW_COUNT; i++)
        if (ROWS[i].kind == at.kind && listed(ROWS[i].members, at.name) && row_there(m, &ROWS[i], n))
            return i;
    return NO_ROW;
}

static void add_cost(Cost *to, Cost c)
{
    to->flops += c.flops;
    to->bytes += c.bytes;
    to->params += c.params;
}

static int group_for(Maker *m, Place at, int row)
{
    for (int i = m->group_count - 1; i >= 0; i--)
        if (m->groups[i].block == at.block && m->groups[i].part == at.part && m->groups[i].row == row)
            return i;
    m->groups[m->group_count] = (Group){
        .block = at.block, .part = at.part, .row = row, .show = NO_NODE, .first = NO_NODE};
    return m->group_count++;
}

/* Best result first; in an edited graph the last node of a name is the one that counts. */
static NodeId shown(const Maker *m, const Group *gr)
{
    const Row *r = &ROWS[gr->row];
    for (int k = 0; k < SITE_ROWS && r->key && gr->part != NO_PART; k++) {
        const char *path = SITES[k].kind == r->kind && strcmp(SITES[k].key, r->key) == 0
                               ? site_path(m->g, gr->part, SITES[k].site)
                               : NULL;
        for (NodeId i = gr->last; path && i >= gr->first; i--)
            if (strcmp(m->g->nodes[i].path, path) == 0)
                return i;
    }
    const char *want = ROWS[gr->row].show;
    while (*want) {
        size_t n = strcspn(want, " ");
        for (NodeId i = gr->last; i >= gr->first; i--) {
            Place at = place_of(m->g, m->g->nodes[i].path);
            if (at.part == gr->part && strlen(at.name) == n && memcmp(at.name, want, n) == 0)
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
        if (m->g->nodes[n].flags & NODE_PROBE)
            continue; /* an analysis has no place on the map of the pass; a guess of hidden patches is one */
        Place at = place_of(m->g, m->g->nodes[n].path);
        int row = row_of(m, at, n);
        int group = row == NO_ROW ? next : group_for(m, at, row);
        if (group == NO_ROW)
            continue;
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
    if (r->kind != PART_NORM)
        return r->symbol;
    char sum[160];
    snprintf(sum, sizeof sum, "%s.sum", anatomy_part(m->g, gr->part)->scope);
    NodeId n = graph_find(m->g, sum);
    if (n == NO_NODE || m->g->nodes[n].in[0] == NO_NODE)
        return r->symbol;
    const NodeText *in = node_text(m->g->nodes[m->g->nodes[n].in[0]].path);
    return in && *in->symbol ? arena_printf(&m->s->arena, "LN(%s)", in->symbol) : r->symbol;
}

/* The last word of a part's scope: "cross_attn" of "decoder.blocks.0.cross_attn". */
static const char *last_word(const Part *p)
{
    const char *dot = strrchr(p->scope, '.');
    return dot ? dot + 1 : p->scope;
}

static bool only_attention(const Graph *g, int block)
{
    int first = anatomy_next_in(g, NO_PART, PART_ATTENTION, block);
    return first == NO_PART || anatomy_next_in(g, first, PART_ATTENTION, block) == NO_PART;
}

/* "blocks.0.softmax"; where a block has several attentions, "decoder.blocks.0.cross_attn.softmax". */
static const char *path_of(const Maker *m, const Group *gr)
{
    const Row *r = &ROWS[gr->row];
    if (gr->block == NO_PART)
        return r->key;
    const Part *block = anatomy_part(m->g, gr->block), *p = anatomy_part(m->g, gr->part);
    const char *key = r->key ? r->key : last_word(p);
    if (r->kind == PART_ATTENTION && !only_attention(m->g, gr->block))
        return arena_printf(&m->s->arena, "%s.%s.%s", block->scope, last_word(p), key);
    return arena_printf(&m->s->arena, "%s.%s", block->scope, key);
}

/* How many learned tokens stand in front of the patches, and how many tokens that makes. */
static int joined_tokens(const Graph *g, NodeId joined, int *tokens)
{
    const Node *n = &g->nodes[joined];
    int all = node_role(g, joined, ROLE_QUERY), patches = node_role(g, n->in[1], ROLE_PLACE);
    *tokens = all == AXIS_NONE ? 0 : g->axes[all].n;
    return patches == AXIS_NONE ? 0 : *tokens - g->axes[patches].n;
}

static const char *label_of(Maker *m, const Group *gr)
{
    const Row *r = &ROWS[gr->row];
    int tokens, more = has_key(r, "class_token") ? joined_tokens(m->g, m->joined, &tokens) : 0;
    if (more > 1)
        return arena_printf(&m->s->arena, "+ %d tokens", more);
    return r->label ? r->label : anatomy_part(m->g, gr->part)->word;
}

static const char *sentence_of(Maker *m, const Group *gr)
{
    const Row *r = &ROWS[gr->row];
    const NodeText *t = node_text(m->g->nodes[gr->show].path);
    int tokens, more = has_key(r, "class_token") ? joined_tokens(m->g, m->joined, &tokens) : 0;
    if (more == 1)
        return arena_printf(&m->s->arena, "A learned token that is no patch is put in front: %d become %d.", tokens - 1,
                            tokens);
    if (more > 1)
        return arena_printf(&m->s->arena, "%d learned tokens that are no patches are put in front: %d become %d.", more,
                            tokens - more, tokens);
    return r->sentence ? r->sentence : t ? t->sentence : "";
}

static void add_stage(Maker *m, int parent, const Group *gr, int *previous)
{
    int at = add_box(m,
                     (Box){.label = label_of(m, gr),
                           .symbol = symbol_of(m, gr),
                           .sentence = sentence_of(m, gr),
                           .path = path_of(m, gr),
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
    const Part *p = anatomy_part(m->g, end->block);
    Box b = {.label = arena_printf(&m->s->arena, "%s%sblock %d", p->stack, *p->stack ? " " : "", p->block),
             .symbol = "z",
             .sentence = BLOCK_SENTENCE,
             .path = p->scope,
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

/* Is that node inside another one's making: "pattern.exp" of "pattern"? */
static bool inside_of(const char *path, const char *whole)
{
    size_t n = strlen(whole);
    return strncmp(path, whole, n) == 0 && path[n] == '.';
}

static void add_named(Maker *m, NodeId n, int parent, int *previous)
{
    Buf formula = {0};
    graph_formula(m->g, n, &formula);
    const Node *node = &m->g->nodes[n];
    const char *sentence = node->op == OP_LEAF ? "Given: the arithmetic begins here."
                                               : arena_strdup(&m->s->arena, buf_str(&formula));
    m->s->of_node[n] = add_box(m,
                               (Box){.label = node->path,
                                     .symbol = "",
                                     .sentence = utf8_cells(sentence) <= 76 ? sentence : "",
                                     .path = node->path,
                                     .show = n,
                                     .first = n,
                                     .last = n,
                                     .parent = parent,
                                     .child = NO_BOX,
                                     .next = NO_BOX,
                                     .depth = parent == NO_BOX ? 0 : 1,
                                     .cost = graph_cost(m->g, n)},
                               previous);
    buf_free(&formula);
}

/* A worked example: a step for every name, those inside it (of a softmax, a norm) below it. */
static void make_named(Maker *m)
{
    int previous = NO_BOX;
    const Graph *g = m->g;
    for (NodeId n = 0; n < g->count; n++) {
        NodeId whole = n;
        while (whole < g->count && whole < n + 16 && !inside_of(g->nodes[n].path, g->nodes[whole].path))
            whole++;
        if ((whole < g->count && whole < n + 16) || (g->nodes[n].flags & NODE_PROBE))
            continue; /* comes with its whole */
        add_named(m, n, NO_BOX, &previous);
        int box = previous, inner = NO_BOX;
        NodeId first = n;
        while (first > 0 && inside_of(g->nodes[first - 1].path, g->nodes[n].path))
            first--;
        for (NodeId i = first; i < n; i++) {
            add_named(m, i, box, &inner);
            add_cost(&m->s->boxes[box].cost, graph_cost(g, i));
        }
        m->s->boxes[box].first = first;
    }
}

void stages_make(Stages *s, const Graph *g)
{
    size_t n = (size_t)g->count;
    *s = (Stages){.node_count = g->count};
    s->of_node = arena_alloc(&s->arena, size_mul(n + 1, sizeof *s->of_node));
    Arena scratch = {0};
    Maker m = {.g = g, .s = s, .joined = find_joined(g)};
    m.group_of = arena_alloc(&scratch, size_mul(n + 1, sizeof *m.group_of));
    m.groups = arena_alloc(&scratch, size_mul(n + 1, sizeof *m.groups));
    for (size_t i = 0; i < n; i++)
        m.group_of[i] = s->of_node[i] = NO_BOX;
    if (!anatomy_count(g)) {
        s->boxes = arena_alloc(&s->arena, size_mul(n + 1, sizeof *s->boxes));
        make_named(&m);
        arena_free(&scratch);
        return;
    }
    size_t placed = make_groups(&m);
    s->boxes = arena_alloc(&s->arena, size_mul(placed + 2 * (size_t)m.group_count,
                                               sizeof *s->boxes)); /* a stage is in one block at most */
    const Group **order = arena_alloc(&scratch, size_mul(n + 1, sizeof *order));
    for (int i = 0; i < m.group_count; i++)
        order[i] = &m.groups[i];
    qsort(order, (size_t)m.group_count, sizeof *order, by_show);
    int previous = NO_BOX;
    for (int i = 0, k; i < m.group_count; i = k) {
        for (k = i + 1; k < m.group_count && order[i]->block != NO_PART && order[k]->block == order[i]->block; k++)
            ;
        if (order[i]->block == NO_PART)
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
