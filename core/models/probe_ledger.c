/* The entries of a ledger, and their sum beside the number. */
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/graph/grad.h"
#include "core/models/ledger_parts.h"

typedef struct Writer {
    Graph *g;
    const LedgerWalk *walk;
    const NodeId *direct; /* how the number moves with each node */
    NodeId tokens[2];     /* looked-at tokens added up so far: of the text of the last heads, of the other one */
} Writer;

/* The part's path without what an edit added to it, so that A and B call the same entry the same. */
static void enter(Graph *g, NodeId part)
{
    const char *path = graph_node(g, part)->path, *edit = strstr(path, ".unedited");
    graph_scope(g, "ledger.%.*s", edit ? (int)(edit - path) : (int)strlen(path), path);
}

/* "ledger.PATH", the node that the scope is named after. */
static NodeId total(Graph *g, NodeId n)
{
    char path[sizeof g->scope];
    size_t len = strlen(g->scope);
    memcpy(path, g->scope, len);
    path[len - 1] = 0; /* its final dot */
    graph_rename(g, n, path);
    return n;
}

/* x at the one token that is read. */
static NodeId at_token(const Writer *w, const char *name, NodeId x)
{
    return graph_slice(w->g, name, x, node_role(w->g, x, ROLE_QUERY), w->walk->token, AXIS_NONE);
}

/* Added to those of the later blocks that look at the same row of tokens. */
static void add_tokens(Writer *w, const LedgerEntry *e, NodeId here, Sequence sequence)
{
    Graph *g = w->g;
    bool text = sequence == SEQUENCE_SOURCE || sequence == SEQUENCE_TARGET;
    for (int i = 0; i < 2; i++) {
        NodeId so_far = w->tokens[i];
        if (so_far == NO_NODE && (i == 0 || text)) {
            w->tokens[i] = here;
            return;
        }
        if (so_far != NO_NODE && dims_equal(graph_node(g, so_far)->dims, graph_node(g, here)->dims)) {
            const char *name = arena_printf(&g->arena, "tokens_from.%d.%d", e->layer, (int)e->part);
            w->tokens[i] = graph_zip(g, name, OP_ADD, so_far, here);
            return;
        }
    }
}

/* A head's weight on a token times what the token's value says for the number. */
static void write_heads(Writer *w, LedgerEntry *e)
{
    Graph *g = w->g;
    NodeId toward = w->direct[e->part], pattern = graph_node(g, e->part)->in[0], v = graph_node(g, e->part)->in[1];
    int h = node_role(g, pattern, ROLE_HEAD), t = node_role(g, pattern, ROLE_QUERY),
        u = node_role(g, pattern, ROLE_KEY);
    if (w->walk->token >= 0) {
        NodeId one = at_token(w, "toward", toward), row = at_token(w, "row", pattern);
        e->tokens = graph_zip(g, "tokens", OP_MUL, row, graph_contract(g, "reach", one, v, DIMS(h, u)));
    } else {
        NodeId reach = graph_contract(g, "reach", toward, v, DIMS(h, t, u));
        graph_flag(g, reach, NODE_DERIVED);
        e->tokens = graph_contract(g, "tokens", pattern, reach, DIMS(h, u));
    }
    e->heads = graph_reduce(g, "heads", OP_SUM, e->tokens, DIMS(h));
    NodeId here = graph_reduce(g, "all_heads", OP_SUM, e->tokens, DIMS(u));
    e->total = total(g, graph_reduce(g, "total", OP_SUM, e->heads, DIMS_SCALAR));
    graph_scope(g, "ledger");
    add_tokens(w, e, here, g->axes[u].sequence);
}

/* What is written token by token: of one that alone is read, that one's. */
static void write_tokens(Writer *w, LedgerEntry *e)
{
    Graph *g = w->g;
    NodeId toward = w->direct[e->part], wrote = e->part;
    if (w->walk->token >= 0) {
        toward = at_token(w, "toward", toward);
        wrote = at_token(w, "wrote", wrote);
    }
    e->total = total(g, graph_contract(g, "total", toward, wrote, DIMS_SCALAR));
}

/* Every row of a table, or patch of the grid, by itself where there are several; then all. */
static void write_rows(Writer *w, LedgerEntry *e)
{
    Graph *g = w->g;
    Dims all = graph_node(g, e->part)->dims, rows = dims_minus(all, DIMS(dims_role(g, all, ROLE_WIDTH)));
    NodeId toward = w->direct[e->part];
    if ((e->kind == LEDGER_PATCHES || e->kind == LEDGER_POSITIONS) && rows.n) {
        e->rows = graph_contract(g, "rows", toward, e->part, rows);
        e->total = total(g, graph_reduce(g, "total", OP_SUM, e->rows, DIMS_SCALAR));
    } else
        e->total = total(g, graph_contract(g, "total", toward, e->part, DIMS_SCALAR));
}

bool ledger_by_token(const Graph *g, const LedgerEntry *e)
{
    int t = node_role(g, e->part, ROLE_QUERY);
    bool table = e->kind == LEDGER_WORDS || e->kind == LEDGER_POSITIONS;
    return e->kind == LEDGER_MLP || (table && t != AXIS_NONE && g->axes[t].sequence != SEQUENCE_PICTURE);
}

static void write_entry(Writer *w, LedgerEntry *e)
{
    enter(w->g, e->part);
    if (e->kind == LEDGER_HEADS)
        write_heads(w, e);
    else if (ledger_by_token(w->g, e))
        write_tokens(w, e);
    else
        write_rows(w, e);
}

static void write_sum(Graph *g, Ledger *l, NodeId seed)
{
    graph_scope(g, "ledger");
    l->sum = l->count ? l->entry[0].total : graph_const(g, "sum_of_nothing", DIMS_SCALAR, 0.0f);
    for (int i = 1; i < l->count; i++)
        l->sum = graph_zip(g, arena_printf(&g->arena, "sum_of.%d", i + 1), OP_ADD, l->sum, l->entry[i].total);
    l->sum = graph_view(g, "sum", l->sum, DIMS_SCALAR);
    l->value = graph_contract(g, "value", seed, l->y, DIMS_SCALAR);
    l->remainder = graph_zip(g, "remainder", OP_SUB, l->value, l->sum);
}

static void write_votes(Graph *g, Ledger *l, const NodeId both[2])
{
    NodeId tokens = both[0], too = both[1];
    if (tokens == NO_NODE)
        return;
    if (too != NO_NODE)
        l->tokens_too = graph_view(g, "tokens_too", too, graph_node(g, too)->dims);
    int u = node_role(g, tokens, ROLE_KEY), p = graph_role(g, ROLE_PLACE, SEQUENCE_ANY);
    if (p == AXIS_NONE || g->axes[u].sequence != SEQUENCE_PICTURE) {
        l->tokens = graph_view(g, "tokens", tokens, DIMS(u));
        return;
    }
    int rest = g->axes[u].n - g->axes[p].n;
    l->tokens = graph_view(g, "tokens", tokens, DIMS(u));
    l->votes = rest ? graph_slice(g, "votes", tokens, u, rest, p) : graph_view(g, "votes", tokens, DIMS(p));
}

static NodeId seed_leaf(Graph *g, const Ledger *l)
{
    Dims d = graph_node(g, l->y)->dims;
    size_t cells = graph_dims_cells(g, d);
    REQUIRE(l->cell < cells && (l->against == LEDGER_ALONE || (l->against < cells && l->against != l->cell)));
    float *data = arena_alloc(&g->arena, size_mul(cells, sizeof *data));
    memset(data, 0, cells * sizeof *data);
    data[l->cell] = 1.0f;
    if (l->against != LEDGER_ALONE)
        data[l->against] = -1.0f;
    return graph_leaf(g, "direct.seed", d, (Leaf){LEAF_CONST, data, "the number that the ledger is of"});
}

static NodeId write_all(Graph *g, const LedgerWalk *walk, Ledger *l)
{
    graph_scope(g, "%s", "");
    NodeId seed = seed_leaf(g, l);
    bool *given = xcalloc((size_t)g->count, sizeof *given); /* the seed is one more than the walk knew */
    memcpy(given, walk->given, ((size_t)g->count - 1) * sizeof *given);
    Writer w = {.g = g, .walk = walk, .tokens = {NO_NODE, NO_NODE}};
    w.direct = grad_add_given(g, l->y, seed, walk->part, walk->parts, given, "direct.");
    free(given);
    l->entry = arena_alloc(&g->arena, size_mul((size_t)walk->parts + 1, sizeof *l->entry));
    for (int i = 0; i < walk->parts; i++) {
        NodeId part = walk->part[i];
        if (w.direct[part] == NO_NODE)
            continue;
        LedgerEntry *e = &l->entry[l->count++];
        *e = (LedgerEntry){ledger_kind(g, part), ledger_layer(g, part), part, NO_NODE, NO_NODE, NO_NODE, NO_NODE};
        write_entry(&w, e);
    }
    write_sum(g, l, seed);
    write_votes(g, l, w.tokens);
    return seed;
}

/* Which token's cell it is, 0 where the node has none. */
static int token_of(const Graph *g, Dims d, size_t cell)
{
    int index[DIMS_MAX], t = dims_role(g, d, ROLE_QUERY);
    dims_unravel(g->axes, d, cell, index);
    return t == AXIS_NONE ? 0 : index[dims_find(d, t)];
}

bool ledger_add(Graph *g, NodeId y, size_t cell, size_t against, Ledger *out, Err *err)
{
    LedgerWalk walk;
    if (!ledger_walk(g, y, cell, &walk, err))
        return false;
    Dims d = graph_node(g, y)->dims;
    if (against != LEDGER_ALONE && token_of(g, d, cell) != token_of(g, d, against))
        walk.token = -1;
    *out = (Ledger){.y = y,
                    .cell = cell,
                    .against = against,
                    .token = walk.token,
                    .tokens = NO_NODE,
                    .tokens_too = NO_NODE,
                    .votes = NO_NODE};
    NodeId first = write_all(g, &walk, out);
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    graph_scope(g, "%s", "");
    ledger_walk_free(&walk);
    return true;
}
