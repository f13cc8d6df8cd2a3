#include "core/models/ledger_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/graph/anatomy.h"

enum { TOKEN_UNKNOWN = -2, TOKEN_SEVERAL = -1 };

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

int ledger_layer(const Graph *g, NodeId n)
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

/* Where a way back ends: what heads and MLPs wrote, the patches or words, and what is given. */
static bool is_part(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    if (node->op == OP_LEAF || is_heads(g, n) || is_words(g, n) || is_places(g, n))
        return true;
    if (node->op != OP_CONTRACT)
        return false;
    const Part *p = part_of(g, n);
    return (p && p->kind == PART_MLP) || node_role(g, node->in[0], ROLE_PIXEL_ROW) != AXIS_NONE;
}

LedgerKind ledger_kind(const Graph *g, NodeId part)
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

static bool refuse(const Graph *g, NodeId y, NodeId at, Err *err)
{
    const Node *n = graph_node(g, at);
    if (n->op == OP_MAP && (n->map == MAP_ROUND_BF16 || n->map == MAP_ROUND_F16))
        return err_set(err, "a ledger adds up what was written, and %s is rounded: `set precision f32` first", n->path);
    return err_set(
        err,
        "%s is no sum of what the blocks wrote (%s is made by %s): a ledger is of logits[o], readout[d] or a "
        "cell of the residual stream, such as blocks.0.resid_post[t,d]; `why` follows the largest terms of any number",
        graph_node(g, y)->path, n->path, op_word(n->op));
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

bool ledger_walk(const Graph *g, NodeId y, size_t cell, LedgerWalk *w, Err *err)
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

void ledger_walk_free(LedgerWalk *w)
{
    free(w->reached);
    free(w->given);
    vary_free(&w->vary);
    free(w->part);
    *w = (LedgerWalk){0};
}

bool ledger_can(const Graph *g, NodeId y, Err *err)
{
    LedgerWalk w;
    if (!ledger_walk(g, y, 0, &w, err))
        return false;
    ledger_walk_free(&w);
    return true;
}
