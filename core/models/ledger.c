/* The entries of a ledger, and their sum beside the number: first the way back from the number through sums to the
 * parts that wrote it, then what each of them wrote. */
#include "core/models/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/graph/anatomy.h"
#include "core/graph/explain.h"
#include "core/graph/grad.h"

typedef struct LedgerWalk {
    bool *reached; /* [nodes]: the number is linear in it */
    bool *given;   /* [nodes]: taken as it is: parts, and the factors of products */
    Vary vary;     /* what depends on the picture */
    NodeId *part;  /* [parts], the last of the graph first */
    int parts;
    int token; /* as in Ledger */
} LedgerWalk;

enum { NODE_PATH = 256, TOKEN_UNKNOWN = -2, TOKEN_SEVERAL = -1 };

/* Does the last component of the path, or that before ".unedited…", read `name`? */
static bool is_called(const char *path, const char *name)
{
    size_t n = strlen(name);
    const char *end = strstr(path, ".unedited");
    size_t len = end ? (size_t)(end - path) : strlen(path);
    return len > n && strncmp(path + len - n, name, n) == 0 && path[len - n - 1] == '.';
}

/* The part of the model that a node belongs to; NULL outside all of them. */
static const Part *part_of(const Graph *g, NodeId n)
{
    int part = anatomy_of(g, graph_node(g, n)->path);
    return part == NO_PART ? NULL : anatomy_part(g, part);
}

static int ledger_layer(const Graph *g, NodeId n)
{
    int block = anatomy_block_of(g, graph_node(g, n)->path);
    return block == NO_PART ? -1 : anatomy_part(g, block)->block;
}

static bool is_heads(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    if (node->op != OP_CONTRACT)
        return false;
    Dims a = graph_node(g, node->in[0])->dims, d = node->dims;
    return dims_role(g, a, ROLE_KEY) != AXIS_NONE && dims_role(g, a, ROLE_QUERY) != AXIS_NONE &&
           dims_role(g, d, ROLE_HEAD_WIDTH) != AXIS_NONE;
}

/* Rows of tables: the words' vectors, picked by their numbers, and those of their places. */
static bool is_words(const Graph *g, NodeId n)
{
    return graph_node(g, n)->op == OP_GATHER && site_was(g, graph_node(g, n)->path, SITE_EMBED);
}

static bool is_places(const Graph *g, NodeId n)
{
    Op op = graph_node(g, n)->op;
    return (op == OP_LEAF || op == OP_SLICE) && site_was(g, graph_node(g, n)->path, SITE_POSITIONS);
}

/* What experts wrote together: which of them, and how much of each, are no weights of a sum. */
static bool is_experts(const Graph *g, NodeId n)
{
    return graph_node(g, n)->op != OP_LEAF && site_was(g, graph_node(g, n)->path, SITE_EXPERTS_MIXED);
}

/* Where a way back ends: what heads and MLPs wrote, the patches or words, and what is given. */
static bool is_part(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    if (node->op == OP_LEAF || is_heads(g, n) || is_words(g, n) || is_places(g, n) || is_experts(g, n))
        return true;
    if (node->op != OP_CONTRACT)
        return false;
    const Part *p = part_of(g, n);
    return (p && p->kind == PART_MLP) || node_role(g, node->in[0], ROLE_PIXEL_ROW) != AXIS_NONE;
}

static LedgerKind ledger_kind(const Graph *g, NodeId part)
{
    const Node *n = graph_node(g, part);
    const Part *p = part_of(g, part);
    if (is_words(g, part))
        return LEDGER_WORDS;
    if (is_places(g, part))
        return LEDGER_POSITIONS;
    if (n->op == OP_LEAF)
        return n->leaf.kind == LEAF_TENSOR ? LEDGER_LEARNED : LEDGER_PUT_IN;
    return is_heads(g, part) ? LEDGER_HEADS : p && p->kind == PART_MLP ? LEDGER_MLP : LEDGER_PATCHES;
}

/* Which operands the number is linear in, as a set of bits; the others count as given. 0: no sum. */
static unsigned linear_operands(const Node *n)
{
    switch (n->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_CONCAT: return 3;
    case OP_MUL: /* in this graph the factor stands second: 1/σ, γ, an edit's factor, a weight */
    case OP_DIV:
    case OP_CONTRACT:
    case OP_VIEW:
    case OP_SLICE:
    case OP_GATHER:
    case OP_SUM: return 1;
    case OP_WHERE: return 6;
    default: return 0;
    }
}

static void note_token(LedgerWalk *w, int token)
{
    w->token = w->token == TOKEN_UNKNOWN || w->token == token ? token : TOKEN_SEVERAL;
}

/* Which of the tokens [t,…] the node reads, where it has no tokens itself or puts them in other places. */
static void note_tokens(const Graph *g, NodeId n, LedgerWalk *w)
{
    const Node *node = graph_node(g, n);
    int t = op_inputs(node->op) ? node_role(g, node->in[0], ROLE_QUERY) : AXIS_NONE;
    if (t == AXIS_NONE || is_part(g, n))
        return;
    bool keeps = dims_find(node->dims, t) >= 0;
    if (node->op == OP_SLICE && node->in_axis[0] == t)
        note_token(w, node->axis == AXIS_NONE ? node->start : TOKEN_SEVERAL);
    else if (!keeps || (node->op == OP_GATHER && node->axis == t))
        note_token(w, TOKEN_SEVERAL);
}

NodeId ledger_answers(const Graph *g)
{
    NodeId before = graph_find(g, "uncapped");
    return before != NO_NODE ? before : site_node_any(g, SITE_LOGITS);
}

/* "logits[o]": a node with its axes; nothing for y itself, of which a ledger is refused. */
static void put_node(const Graph *g, NodeId n, NodeId y, Buf *out)
{
    if (n == NO_NODE || n == y)
        return;
    bool first = !out->len || out->data[out->len - 1] == ' ';
    buf_printf(out, "%s%s", first ? "" : ", ", graph_node(g, n)->path);
    Dims d = graph_node(g, n)->dims;
    for (int i = 0; i < d.n; i++)
        buf_printf(out, "%s%s", i ? "," : "[", g->axes[d.axis[i]].sym);
    buf_puts(out, d.n ? "]" : "");
}

static bool refuse(const Graph *g, NodeId y, NodeId at, Err *err)
{
    const Node *n = graph_node(g, at);
    if (n->op == OP_MAP && (n->map == MAP_ROUND_BF16 || n->map == MAP_ROUND_F16))
        return err_set(err, "a ledger adds up what was written, and %s is rounded: `set precision f32` first", n->path);
    Buf takes = {0};
    put_node(g, ledger_answers(g), y, &takes);
    put_node(g, site_node_any(g, SITE_READOUT), y, &takes);
    put_node(g, site_node_any(g, SITE_EMBEDDING), y, &takes);
    buf_puts(&takes,
             takes.len ? " or a cell of the residual stream, such as " : "a cell of the residual stream, such as ");
    put_node(g, site_node_any(g, SITE_RESID_POST), y, &takes);
    err_set(err,
            "%s is not a sum of what the blocks wrote (%s is made by %s): a ledger takes %s; `why` follows the largest "
            "terms of any number",
            graph_node(g, y)->path, n->path, op_word(n->op), buf_str(&takes));
    buf_free(&takes);
    return false;
}

/* May the second operand be taken as it is? A weight, a constant, 1/σ of a LayerNorm and 1/rms of an RMSNorm may. */
static bool factor_may(const Graph *g, const LedgerWalk *w, const Node *n)
{
    if (n->op != OP_MUL && n->op != OP_DIV && n->op != OP_CONTRACT)
        return true;
    const Node *factor = graph_node(g, n->in[1]);
    bool norm = is_called(factor->path, "rstd") || is_called(factor->path, "rrms");
    return !w->vary.node[n->in[1]] || factor->op == OP_LEAF || (n->op == OP_MUL && norm);
}

static bool reach(const Graph *g, NodeId y, NodeId n, LedgerWalk *w, Err *err)
{
    const Node *node = graph_node(g, n);
    if (is_part(g, n)) {
        w->given[n] = true;
        w->part[w->parts++] = n;
        return n != y || refuse(g, y, n, err);
    }
    unsigned linear = linear_operands(node);
    if (!linear || !factor_may(g, w, node))
        return refuse(g, y, n, err);
    for (int k = 0; k < op_inputs(node->op); k++) {
        NodeId in = node->in[k];
        if (linear >> k & 1)
            w->reached[in] = true;
        else
            w->given[in] = true;
    }
    return true;
}

static void ledger_walk_free(LedgerWalk *w)
{
    free(w->reached);
    free(w->given);
    vary_free(&w->vary);
    free(w->part);
    *w = (LedgerWalk){0};
}

/* y's cell matters for `token` alone. */
static bool ledger_walk(const Graph *g, NodeId y, size_t cell, LedgerWalk *w, Err *err)
{
    size_t nodes = (size_t)g->count;
    int t = node_role(g, y, ROLE_QUERY), index[DIMS_MAX];
    Dims d = graph_node(g, y)->dims;
    *w = (LedgerWalk){.reached = xcalloc(nodes, sizeof(bool)),
                      .given = xcalloc(nodes, sizeof(bool)),
                      .part = xcalloc(nodes, sizeof(NodeId)),
                      .token = TOKEN_UNKNOWN};
    dims_unravel(g->axes, d, cell, index);
    if (t != AXIS_NONE)
        note_token(w, index[dims_find(d, t)]);
    w->reached[y] = true;
    vary_init(&w->vary, g);
    bool ok = true;
    for (NodeId n = y; ok && n >= 0; n--) {
        if (!w->reached[n])
            continue;
        ok = !w->given[n] || refuse(g, y, n, err); /* a factor of itself */
        note_tokens(g, n, w);
        ok = ok && reach(g, y, n, w, err);
    }
    w->token = w->token < 0 ? TOKEN_SEVERAL : w->token;
    if (!ok)
        ledger_walk_free(w);
    return ok;
}

typedef struct Writer {
    Graph *g;
    const char *name; /* "ledger", or of what comes by way of a head "ledger.via", "ledger.via.via", … */
    const LedgerWalk *walk;
    const NodeId *direct; /* how the number moves with each node */
    NodeId tokens[2];     /* looked-at tokens added up so far: of the text of the last heads, of the other one */
} Writer;

/* The part's path without what an edit added to it, so that A and B call the same entry the same. */
static void enter(const Writer *w, NodeId part)
{
    const char *path = graph_node(w->g, part)->path, *edit = strstr(path, ".unedited");
    graph_scope(w->g, "%s.%.*s", w->name, edit ? (int)(edit - path) : (int)strlen(path), path);
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
    graph_scope(g, "%s", w->name);
    add_tokens(w, e, here, g->axes[u].sequence);
}

/* The same of what a part of an MLP with experts wrote, summed over what `out` lacks; NO_NODE: there is none. */
static NodeId write_site(Writer *w, const LedgerEntry *e, const char *name, Site site, Dims out)
{
    Graph *g = w->g;
    NodeId toward = w->direct[e->part], wrote = site_node(g, anatomy_of(g, graph_node(g, e->part)->path), site);
    if (wrote == NO_NODE)
        return NO_NODE;
    if (w->walk->token >= 0) {
        toward = at_token(w, arena_printf(&g->arena, "%s_toward", name), toward);
        wrote = at_token(w, arena_printf(&g->arena, "%s_wrote", name), wrote);
    }
    return graph_contract(g, name, wrote, toward, out);
}

/* What is written token by token: of one that alone is read, that one's. */
static void write_tokens(Writer *w, LedgerEntry *e)
{
    Graph *g = w->g;
    NodeId toward = w->direct[e->part], wrote = e->part;
    int x = graph_role(g, ROLE_EXPERT, SEQUENCE_ANY);
    if (x != AXIS_NONE && is_experts(g, e->part)) {
        e->experts = write_site(w, e, "experts", SITE_EXPERTS_WROTE, DIMS(x));
        e->shared = write_site(w, e, "shared", SITE_SHARED_WROTE, DIMS_SCALAR);
    }
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
    enter(w, e->part);
    if (e->kind == LEDGER_HEADS)
        write_heads(w, e);
    else if (ledger_by_token(w->g, e))
        write_tokens(w, e);
    else
        write_rows(w, e);
}

bool ledger_flows(const LedgerEntry *e)
{
    return e->kind == LEDGER_HEADS || e->kind == LEDGER_MLP;
}

static void write_sum(const Writer *w, Ledger *l, NodeId seed)
{
    Graph *g = w->g;
    int added = 0;
    graph_scope(g, "%s", w->name);
    l->sum = l->count ? NO_NODE : graph_const(g, "sum_of_nothing", DIMS_SCALAR, 0.0f);
    for (int flows = 0; flows < 2; flows++) {
        for (int i = l->count - 1; i >= 0; i--) { /* they were found from the end of the model on */
            LedgerEntry *e = &l->entry[i];
            if (ledger_flows(e) != flows)
                continue;
            l->sum = added++ ? graph_zip(g, arena_printf(&g->arena, "sum_of.%d", added), OP_ADD, l->sum, e->total)
                             : e->total;
            e->so_far = l->sum;
        }
        l->start = flows ? l->start : added ? l->sum : NO_NODE;
    }
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

/* seed: what the number is of y's cells; walked: nodes that the walk knew. */
static void write_all(Graph *g, const char *name, const LedgerWalk *walk, NodeId walked, NodeId seed, Ledger *l)
{
    graph_scope(g, "%s", "");
    bool *given = xcalloc((size_t)g->count, sizeof *given);
    memcpy(given, walk->given, (size_t)walked * sizeof *given);
    Writer w = {.g = g, .name = name, .walk = walk, .tokens = {NO_NODE, NO_NODE}};
    w.direct = grad_add_given(g, l->y, seed, walk->part, walk->parts, given,
                              arena_printf(&g->arena, "direct%s.", name + strlen("ledger")));
    free(given);
    l->entry = arena_alloc(&g->arena, size_mul((size_t)walk->parts + 1, sizeof *l->entry));
    for (int i = 0; i < walk->parts; i++) {
        NodeId part = walk->part[i];
        if (w.direct[part] == NO_NODE)
            continue;
        LedgerEntry *e = &l->entry[l->count++];
        *e = (LedgerEntry){ledger_kind(g, part),
                           ledger_layer(g, part),
                           part,
                           NO_NODE,
                           NO_NODE,
                           NO_NODE,
                           NO_NODE,
                           NO_NODE,
                           NO_NODE,
                           NO_NODE};
        write_entry(&w, e);
    }
    write_sum(&w, l, seed);
    write_votes(g, l, w.tokens);
}

static Ledger ledger_begin(NodeId y, size_t cell, size_t against, int token)
{
    return (Ledger){.y = y,
                    .cell = cell,
                    .against = against,
                    .token = token,
                    .start = NO_NODE,
                    .tokens = NO_NODE,
                    .tokens_too = NO_NODE,
                    .votes = NO_NODE};
}

static void ledger_end(Graph *g, NodeId first, LedgerWalk *walk)
{
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    graph_scope(g, "%s", "");
    ledger_walk_free(walk);
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
    *out = ledger_begin(y, cell, against, walk.token);
    const NodeId first = g->count;
    graph_scope(g, "%s", "");
    write_all(g, "ledger", &walk, first, seed_leaf(g, out), out);
    ledger_end(g, first, &walk);
    return true;
}

bool ledger_directions(Graph *g, NodeId y, NodeId seed, const NodeId **direct, Err *err)
{
    LedgerWalk walk;
    if (!ledger_walk(g, y, 0, &walk, err))
        return false;
    graph_scope(g, "%s", "");
    *direct = grad_add_given(g, y, seed, walk.part, walk.parts, walk.given, "direct.");
    ledger_walk_free(&walk);
    return true;
}

/* The node `name` of an entry's scope, or NO_NODE. */
static NodeId beside(const Graph *g, const LedgerEntry *e, const char *name)
{
    char path[NODE_PATH];
    snprintf(path, sizeof path, "%s.%s", graph_node(g, e->total)->path, name);
    return graph_find(g, path);
}

/* The value's cells times this are the vote: the head's weight on the token times the slope of what it gathers, summed
 * over the tokens that look where the number is read from several. */
static NodeId via_seed(Graph *g, const LedgerEntry *e, NodeId toward, int head, int token, const char *steps)
{
    const NodeId row = beside(g, e, "row"), pattern = graph_node(g, e->part)->in[0],
                 from = row == NO_NODE ? pattern : row;
    const Dims d = graph_node(g, from)->dims; /* [h,u] or [h,t,u] */
    const int h = dims_find(d, dims_role(g, d, ROLE_HEAD)), u = dims_find(d, dims_role(g, d, ROLE_KEY));
    const size_t cells = graph_dims_cells(g, d);
    int index[DIMS_MAX];
    float *data = arena_alloc(&g->arena, size_mul(cells, sizeof *data));
    for (size_t i = 0; i < cells; i++) {
        dims_unravel(g->axes, d, i, index);
        data[i] = index[h] == head && index[u] == token ? 1.0f : 0.0f;
    }
    graph_scope(g, "direct%s", steps);
    NodeId chosen = graph_leaf(g, "chosen", d, (Leaf){LEAF_CONST, data, "the head and the token"});
    NodeId weight = graph_zip(g, "weight", OP_MUL, from, chosen);
    return graph_contract(g, "seed", weight, toward, graph_node(g, graph_node(g, e->part)->in[1])->dims);
}

bool ledger_add_via(Graph *g, const LedgerEntry *e, int head, int token, int step, Ledger *out, Err *err)
{
    LedgerWalk walk;
    char name[64] = "ledger";
    const NodeId reach = e->kind == LEDGER_HEADS ? beside(g, e, "reach") : NO_NODE, first = g->count;
    if (reach == NO_NODE)
        return err_set(err, "%s has no heads that look", graph_node(g, e->part)->path);
    const NodeId toward = graph_node(g, reach)->in[0], v = graph_node(g, e->part)->in[1];
    if (!ledger_walk(g, v, 0, &walk, err))
        return false;
    REQUIRE(step > 0 && step <= LEDGER_STEPS);
    for (int i = 0; i < step; i++)
        strcat(name, ".via");
    walk.token = token; /* a value is of its own token alone */
    *out = ledger_begin(v, 0, LEDGER_ALONE, token);
    write_all(g, name, &walk, first, via_seed(g, e, toward, head, token, name + strlen("ledger")), out);
    ledger_end(g, first, &walk);
    return true;
}
