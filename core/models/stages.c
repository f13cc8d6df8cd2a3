#include "core/models/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/utf8.h"
#include "core/models/names.h"

static const char BLOCK_SENTENCE[] = "One round: tokens gather from each other (attention), then each is reworked.";
static const char OPEN_BLOCK_SENTENCE[] = "The whole block and its result: attention, then MLP. Space goes inside.";

/* A stage that the graph really has. */
typedef struct Group {
    int block, part, row; /* block: its part, or NO_PART outside; part: where the row's names lie */
    NodeId show, first, last;
    NodeId at; /* the stage stands where this node does: its result */
    Cost cost;
} Group;

typedef struct Maker {
    const Graph *g;
    Stages *s;
    int *group_of;     /* [nodes] */
    StagePlace *place; /* [nodes] */
    Group *groups;
    int group_count;
    NodeId joined; /* stage_joined */
} Maker;

static void add_cost(Cost *to, Cost c)
{
    to->flops += c.flops;
    to->bytes += c.bytes;
    to->params += c.params;
}

static int group_for(Maker *m, StagePlace at, int row)
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
    const char *path;
    for (int k = 0; (path = stage_site_shown(m->g, gr->part, gr->row, k)); k++)
        for (NodeId i = gr->last; i >= gr->first; i--)
            if (strcmp(m->g->nodes[i].path, path) == 0)
                return i;
    const char *want = stage_row(gr->row)->show;
    while (*want) {
        size_t n = strcspn(want, " ");
        for (NodeId i = gr->last; i >= gr->first; i--)
            if (m->place[i].part == gr->part && strlen(m->place[i].name) == n && memcmp(m->place[i].name, want, n) == 0)
                return i;
        want += n;
        want += strspn(want, " ");
    }
    return gr->last;
}

/* A constant that is made before all else stands in front of the block that reads it first, behind what is computed. */
static NodeId before_its_reader(const Maker *m, NodeId constant)
{
    for (NodeId n = constant + 1; n < m->g->count; n++)
        for (int k = 0; k < op_inputs(m->g->nodes[n].op); k++)
            if (m->g->nodes[n].in[k] == constant && m->place[n].block != NO_PART) {
                NodeId first = n;
                while (m->place[first - 1].block == m->place[n].block)
                    first--;
                return first - 1;
            }
    return constant;
}

/* Returns how many nodes have a place. */
static size_t make_groups(Maker *m)
{
    int next = NO_ROW;
    size_t placed = 0;
    for (NodeId n = m->g->count - 1; n >= 0;
         n--) { /* from the end: an unlisted node takes the stage of the one after it */
        m->place[n] = (StagePlace){.block = NO_PART, .part = NO_PART, .name = ""};
        if (m->g->nodes[n].flags & NODE_PROBE)
            continue; /* an analysis has no place on the map of the pass; a guess of hidden patches is one */
        StagePlace at = m->place[n] = stage_place(m->g, m->g->nodes[n].path);
        int row = stage_row_of(m->g, m->joined, at, n);
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
        m->groups[i].at = m->groups[i].show = shown(m, &m->groups[i]);
    for (int i = 0; i < m->group_count; i++)
        if (stage_row_is(m->groups[i].row, "causal"))
            m->groups[i].at = before_its_reader(m, m->groups[i].show);
    return placed;
}

static int by_place(const void *a, const void *b)
{
    const Group *x = *(const Group *const *)a, *y = *(const Group *const *)b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->show < y->show) - (x->show > y->show);
}

static int add_box(Maker *m, Box b, int *previous)
{
    int at = m->s->count++;
    m->s->boxes[at] = b;
    m->s->boxes[at].path = arena_strdup(&m->s->arena, b.path); /* it is asked for when an edited graph is gone */
    m->s->boxes[at].step = m->s->steps;
    if (*previous != NO_BOX)
        m->s->boxes[*previous].next = at;
    else if (b.parent != NO_BOX)
        m->s->boxes[b.parent].child = at;
    *previous = at;
    return at;
}

/* The box of one node; what it is called is the caller's. */
static Box node_box(const Maker *m, NodeId n, int parent)
{
    return (Box){.path = m->g->nodes[n].path,
                 .show = n,
                 .first = n,
                 .last = n,
                 .parent = parent,
                 .child = NO_BOX,
                 .next = NO_BOX,
                 .depth = parent == NO_BOX ? 0 : m->s->boxes[parent].depth + 1,
                 .cost = graph_cost(m->g, n)};
}

static void add_nodes(Maker *m, int parent, const Group *gr)
{
    int previous = NO_BOX;
    for (NodeId n = gr->first; n <= gr->last; n++) {
        if (m->group_of[n] < 0 || &m->groups[m->group_of[n]] != gr)
            continue;
        const NodeText *t = node_text(m->g->nodes[n].path);
        const char *name = node_name(&m->g->nodes[n]);
        Box b = node_box(m, n, parent);
        b.label = t ? t->label : name;
        b.symbol = t ? node_words(m->g, t->symbol) : "";
        b.sentence = t ? node_words(m->g, t->sentence) : "";
        m->s->of_node[n] = add_box(m, b, &previous);
    }
}

/* What the norm of a block reads differs: the tokens before attention, or after the addition in a post-norm model. */
static const char *symbol_of(const Maker *m, const Group *gr)
{
    const StageRow *r = stage_row(gr->row);
    const NodeText *own = node_text(m->g->nodes[gr->show].path);
    if (r->kind != PART_NORM)
        return node_words(m->g, r->symbol ? r->symbol : own ? own->symbol : "");
    const char *read = site_path(m->g, gr->part, SITE_IN);
    bool rms = site_path(m->g, gr->part, SITE_NORM_MEAN_SQUARE) != NULL;
    const NodeText *in = read ? node_text(read) : NULL;
    return arena_printf(&m->s->arena, "%s(%s)", rms ? "RMS" : "LN", in && *in->symbol ? in->symbol : "z");
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
    const StageRow *r = stage_row(gr->row);
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
    const StageRow *r = stage_row(gr->row);
    int tokens, more = stage_row_is(gr->row, "class_token") ? joined_tokens(m->g, m->joined, &tokens) : 0;
    if (more > 1)
        return arena_printf(&m->s->arena, "+ %d tokens", more);
    return r->label ? r->label : anatomy_part(m->g, gr->part)->word;
}

static const char *sentence_of(Maker *m, const Group *gr)
{
    const StageRow *r = stage_row(gr->row);
    const NodeText *t = node_text(m->g->nodes[gr->show].path);
    int tokens, more = stage_row_is(gr->row, "class_token") ? joined_tokens(m->g, m->joined, &tokens) : 0;
    if (more == 1)
        return arena_printf(&m->s->arena, "A learned token that is no patch is put in front: %d become %d.", tokens - 1,
                            tokens);
    if (more > 1)
        return arena_printf(&m->s->arena, "%d learned tokens that are no patches are put in front: %d become %d.", more,
                            tokens - more, tokens);
    return node_words(m->g, r->sentence ? r->sentence : t ? t->sentence : "");
}

static void add_stage(Maker *m, int parent, const Group *gr, int *previous)
{
    m->s->steps++;
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
    m->s->steps++;
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
    Box b = node_box(m, n, parent);
    b.label = node->path;
    b.symbol = "";
    b.sentence = utf8_cells(sentence) <= 76 ? sentence : "";
    m->s->of_node[n] = add_box(m, b, previous);
    buf_free(&formula);
}

/* A worked example: a step for every name, those inside it (of a softmax, a norm) below it. */
static void make_named(Maker *m)
{
    enum { INSIDE_MOST = 64 }; /* nodes in one step, before it */
    int previous = NO_BOX;
    const Graph *g = m->g;
    for (NodeId n = 0; n < g->count; n++) {
        NodeId whole = n;
        while (whole < g->count && whole <= n + INSIDE_MOST && !inside_of(g->nodes[n].path, g->nodes[whole].path))
            whole++;
        if ((whole < g->count && whole <= n + INSIDE_MOST) || (g->nodes[n].flags & NODE_PROBE))
            continue; /* comes with its whole */
        m->s->steps++;
        add_named(m, n, NO_BOX, &previous);
        int box = previous, inner = NO_BOX;
        NodeId first = n;
        while (first > 0 && first > n - INSIDE_MOST && inside_of(g->nodes[first - 1].path, g->nodes[n].path))
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
    Maker m = {.g = g, .s = s, .joined = stage_joined(g)};
    m.group_of = arena_alloc(&scratch, size_mul(n + 1, sizeof *m.group_of));
    m.place = arena_alloc(&scratch, size_mul(n + 1, sizeof *m.place));
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
    qsort(order, (size_t)m.group_count, sizeof *order, by_place);
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

int stages_step(const Stages *s, int step)
{
    for (int i = 0; i < s->count; i++)
        if (s->boxes[i].step == step)
            return i;
    return NO_BOX;
}

bool stages_is_block(const Stages *s, int box)
{
    int child = s->boxes[box].child;
    return child != NO_BOX && s->boxes[child].step != s->boxes[box].step;
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
