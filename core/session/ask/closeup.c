#include "core/session/ask/closeup.h"

#include <string.h>

#include "core/base/err.h"
#include "core/graph/explain.h"
#include "core/session/ask/ask_parts.h"

/* A node that takes part, before the lines are put in order. */
typedef struct Found {
    NodeId node;
    size_t count;
    size_t *cell;
    bool operand; /* of the contraction: what it was given */
    bool expanded, emitted;
} Found;

typedef struct Search {
    Closeup *c;
    Found found[CLOSEUP_LINES];
    int count;
    int part;
    bool crossed; /* one node was met along two different rows: no line could show both */
} Search;

static const Node *node_of(const Search *s, NodeId n)
{
    return graph_node(s->c->graph, n);
}

static int find(const Search *s, NodeId n)
{
    int i = 0;
    while (i < s->count && s->found[i].node != n)
        i++;
    return i;
}

/* A node's cells, all the same or one after the other; a row takes the place of a single cell of it. */
static void meet(Search *s, NodeId n, size_t *cell, size_t count)
{
    bool same = true;
    for (size_t i = 1; i < count; i++)
        same = same && cell[i] == cell[0];
    count = same ? 1 : count;
    int at = find(s, n);
    if (at == CLOSEUP_LINES) {
        s->crossed = true;
        return;
    }
    Found *f = &s->found[at];
    if (at == s->count)
        s->found[s->count++] = (Found){.node = n};
    else if (f->count > 1 && count > 1 && memcmp(f->cell, cell, count * sizeof *cell) != 0)
        s->crossed = true;
    if (f->count < count) {
        f->cell = cell;
        f->count = count;
    }
}

static bool sums(Op op)
{
    return op == OP_CONTRACT || op == OP_SUM || op == OP_MAX;
}

/* A contraction, perhaps with its bias: a step of its own where a whole row of it is met. */
static bool is_linear(const Search *s, NodeId n)
{
    const Node *node = node_of(s, n);
    if (node->op == OP_ADD)
        node = node_of(s, node->in[0]);
    while (node->op == OP_VIEW)
        node = node_of(s, node->in[0]);
    return node->op == OP_CONTRACT;
}

/* Parts without a scope are told apart by their sites alone: what lies between those belongs to any of them. */
static bool same_part(const Graph *g, int a, int b)
{
    return a == b || (a != NO_PART && b != NO_PART && !*anatomy_part(g, a)->scope && !*anatomy_part(g, b)->scope);
}

static bool may_expand(const Search *s, const Found *f)
{
    const Node *n = node_of(s, f->node);
    const Closeup *c = s->c;
    if (f->operand || n->op == OP_LEAF || n->op == OP_FIRST || n->op == OP_SCATTER ||
        s->count + NODE_INPUTS + 10 > CLOSEUP_LINES)
        return false;
    if (f->node != c->node && !same_part(c->graph, anatomy_of(c->graph, n->path), s->part))
        return false;
    if (sums(n->op)) {
        Dims along = graph_reduced(c->graph, f->node);
        size_t terms = graph_dims_cells(c->graph, along);
        if (f->count > 1 || terms < 2 || (c->along.n && n->op == OP_CONTRACT))
            return false;
        return !c->along.n || (terms == c->terms && dims_equal(along, c->along));
    }
    return f->count == 1 || !is_linear(s, f->node);
}

/* The cells of its operands that a line reads. */
static void expand(Search *s, int at)
{
    Closeup *c = s->c;
    const Found f = s->found[at];
    bool adds = sums(node_of(s, f.node)->op);
    Explain e = explain_open(c->graph, f.node, f.cell[0]);
    size_t count = adds ? e.terms : f.count;
    int operands = explain_term(&e, 0).operands;
    size_t *cell[NODE_INPUTS] = {NULL};
    NodeId node[NODE_INPUTS] = {NO_NODE, NO_NODE, NO_NODE};
    for (int k = 0; k < operands; k++)
        cell[k] = arena_alloc(&c->arena, size_mul(count, sizeof *cell[k]));
    for (size_t i = 0; i < count; i++) {
        if (!adds && i)
            explain_move(&e, f.cell[i]);
        Term t = explain_term(&e, adds ? i : 0);
        for (int k = 0; k < operands; k++) {
            if (i && t.node[k] != node[k])
                return; /* two tensors one behind the other: the row begins here */
            node[k] = t.node[k];
            cell[k][i] = t.cell[k];
        }
    }
    s->found[at].expanded = true;
    if (adds) {
        c->along = graph_reduced(c->graph, f.node);
        c->terms = e.terms;
    }
    for (int k = 0; k < operands; k++) {
        meet(s, node[k], cell[k], count);
        if (node_of(s, f.node)->op == OP_CONTRACT && !s->crossed)
            s->found[find(s, node[k])].operand = true;
    }
}

/* Later nodes first, so that all that read a node were met before it is. */
static int next_of(const Search *s, const bool *seen)
{
    int best = -1;
    for (int i = 0; i < s->count; i++)
        if (!seen[i] && (best < 0 || s->found[i].node > s->found[best].node))
            best = i;
    return best;
}

/* Single cells of tensors that have the row's axes become rows: the share beside all the other shares. */
static void widen(Search *s)
{
    Closeup *c = s->c;
    int at[DIMS_MAX], row[DIMS_MAX];
    for (int i = 0; i < s->count; i++) {
        Found *f = &s->found[i];
        Dims d = node_of(s, f->node)->dims;
        bool has = f->count == 1 && c->along.n > 0;
        for (int k = 0; k < c->along.n; k++)
            has = has && dims_find(d, c->along.axis[k]) >= 0;
        if (!has)
            continue;
        size_t *cell = arena_alloc(&c->arena, size_mul(c->terms, sizeof *cell));
        dims_unravel(c->graph->axes, d, f->cell[0], at);
        for (size_t j = 0; j < c->terms; j++) {
            dims_unravel(c->graph->axes, c->along, j, row);
            for (int k = 0; k < c->along.n; k++)
                at[dims_find(d, c->along.axis[k])] = row[k];
            cell[j] = dims_ravel(c->graph->axes, d, at);
        }
        f->cell = cell;
        f->count = c->terms;
    }
}

static void add_line(Closeup *c, CloseupLine l)
{
    if (c->count < CLOSEUP_LINES)
        c->line[c->count++] = l;
}

/* What is given comes where it is first read. */
static void emit(Search *s, int at)
{
    Closeup *c = s->c;
    Found *f = &s->found[at];
    if (at == s->count || f->emitted) /* of two tensors one behind the other only one is read */
        return;
    f->emitted = true;
    const Node *n = node_of(s, f->node);
    for (int k = 0; f->expanded && k < op_inputs(n->op); k++)
        emit(s, find(s, n->in[k]));
    if (f->expanded && n->op == OP_CONTRACT)
        add_line(c, (CloseupLine){.what = CLOSEUP_PRODUCTS, .node = f->node, .count = c->terms});
    if (f->expanded && (n->op == OP_CONTRACT || n->op == OP_SUM))
        add_line(c, (CloseupLine){.what = CLOSEUP_RUNNING, .node = f->node, .count = c->terms});
    add_line(c, (CloseupLine){.node = f->node, .given = !f->expanded, .count = f->count, .cell = f->cell});
}

bool closeup_open(const Session *s, Side side, NodeId n, size_t cell, Closeup *out)
{
    side = ask_side(side);
    *out = (Closeup){.graph = session_graph(s, side), .side = side, .node = n, .cell = cell};
    Search search = {.c = out, .part = anatomy_of(out->graph, graph_node(out->graph, n)->path)};
    bool seen[CLOSEUP_LINES] = {false};
    size_t *first = arena_alloc(&out->arena, sizeof *first);
    *first = cell;
    meet(&search, n, first, 1);
    for (int at; !search.crossed && (at = next_of(&search, seen)) >= 0;) {
        seen[at] = true;
        if (may_expand(&search, &search.found[at]))
            expand(&search, at);
    }
    for (int i = 0; i < search.count; i++) /* a row met before any sum was, which is not along it */
        search.crossed = search.crossed || (search.found[i].count > 1 && search.found[i].count != out->terms);
    if (search.crossed || !out->along.n) {
        closeup_free(out);
        return false;
    }
    widen(&search);
    emit(&search, 0);
    return true;
}

void closeup_free(Closeup *c)
{
    arena_free(&c->arena);
    *c = (Closeup){0};
}

bool closeup_there(const Session *s)
{
    Closeup c;
    Side side = ask_side(session_side(s));
    NodeId n = session_node(s, side, s->place.path);
    bool there = n != NO_NODE && closeup_open(s, side, n, session_cell(s, side, n), &c);
    if (there)
        closeup_free(&c);
    return there;
}

bool closeup_values(const Session *s, Closeup *c)
{
    const Run *run = session_run(s, c->side);
    for (int i = 0; i < c->count; i++) {
        if (!run_peek(run, c->line[i].node))
            return false;
        if (!c->line[i].given && !ask_inputs_there(run, c->line[i].node))
            return false;
    }
    for (int i = 0; i < c->count; i++) {
        CloseupLine *l = &c->line[i];
        float *value = arena_alloc(&c->arena, size_mul(l->count, sizeof *value));
        const float *x = run_peek(run, l->node);
        l->value = value;
        if (l->what == CLOSEUP_CELLS) {
            for (size_t k = 0; k < l->count; k++)
                value[k] = x[l->cell[k]];
            continue;
        }
        int sum = i; /* the line of the node itself, which has its cell */
        while (c->line[sum].what != CLOSEUP_CELLS)
            sum++;
        Explain e = explain_open(c->graph, l->node, c->line[sum].cell[0]);
        if (l->what == CLOSEUP_RUNNING)
            explain_running(&e, ask_values, run, value);
        for (size_t k = 0; l->what == CLOSEUP_PRODUCTS && k < l->count; k++)
            value[k] = explain_contribution(&e, k, ask_values, run);
    }
    return true;
}

/* --- where the reader is --- */

int closeup_line_here(const Session *s, const Closeup *c)
{
    return s->place.operand < c->count ? s->place.operand : c->count - 1;
}

size_t closeup_index_here(const Session *s, const Closeup *c)
{
    int at[SESSION_AXES], index[DIMS_MAX];
    session_at(s, c->side, at);
    for (int i = 0; i < c->along.n; i++) {
        const Axis *a = &c->graph->axes[c->along.axis[i]];
        index[i] = at[c->along.axis[i]] < a->n ? at[c->along.axis[i]] : a->n - 1;
    }
    return dims_ravel(c->graph->axes, c->along, index);
}

static size_t at_once(const Closeup *c)
{
    return (c->terms + CLOSEUP_TERM_STEPS - 1) / CLOSEUP_TERM_STEPS;
}

/* Steps that a line takes; the running sum of a contraction goes with its products. */
static size_t cost(const Closeup *c, int line)
{
    const CloseupLine *l = &c->line[line];
    if (l->given || (l->what == CLOSEUP_RUNNING && graph_node(c->graph, l->node)->op == OP_CONTRACT))
        return 0;
    return l->what == CLOSEUP_PRODUCTS ? (c->terms + at_once(c) - 1) / at_once(c) : 1;
}

size_t closeup_steps(const Closeup *c)
{
    size_t steps = 0;
    for (int i = 0; i < c->count; i++)
        steps += cost(c, i);
    return steps;
}

size_t closeup_shown(const Closeup *c, size_t step, int line)
{
    const CloseupLine *l = &c->line[line];
    size_t before = 0;
    if (step == 0 || l->given)
        return l->count;
    bool follows = !cost(c, line); /* its products' steps are its own */
    int of = follows ? line - 1 : line;
    for (int i = 0; i < of; i++)
        before += cost(c, i);
    if (step <= before)
        return 0;
    size_t count = c->line[of].what == CLOSEUP_PRODUCTS ? (step - before) * at_once(c) : l->count;
    return count < l->count ? count : l->count;
}

int closeup_line_of(const Closeup *c, size_t step)
{
    for (int i = 0; step && i < c->count; i++) {
        if (step <= cost(c, i))
            return i;
        step -= cost(c, i);
    }
    return -1;
}
