/* A model is a list of nodes in topological order. A node is one primitive operation over named axes, with a scope path
 * and a name. From this one list come the forward pass, the trace, the explanation of a cell, costs, the map on screen
 * and the names in an export. Everything dies with the graph's arena. */
#ifndef VITRINE_GRAPH_GRAPH_H
#define VITRINE_GRAPH_GRAPH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/mem.h"
#include "core/graph/axis.h"
#include "core/kernels/kernels.h"

typedef enum Op {
#define OP(symbol, word, inputs, formula) OP_##symbol,
#include "core/graph/ops.def"
#undef OP
    OP_COUNT
} Op;

const char *op_word(Op op);
int op_inputs(Op op);
const char *op_formula(Op op);

typedef int32_t NodeId;
enum { NO_NODE = -1, NODE_INPUTS = 3 };

/* Where the values of a LEAF come from. */
typedef enum LeafKind {
    LEAF_CONST,  /* a number the model's definition gives (1/√d_k, ε, 1/D); data has the cells */
    LEAF_TENSOR, /* a checkpoint tensor: data points into the model's weights, origin is its name there */
    LEAF_INPUT,  /* what the user put in: pixels; data may be replaced between runs (graph_set_input) */
    LEAF_HOST,   /* made by a named host procedure from other values (an edit's mask); origin names it */
    LEAF_RUN     /* another run's node (A − B, patching): data points at its values */
} LeafKind;

typedef struct Leaf {
    LeafKind kind;
    const float *data; /* row-major in the node's dims; not owned unless the graph's arena made it; NULL where the
                          cells are stored in another form */
    const char *origin;
} Leaf;

/* How the cells of a leaf are stored: as floats; in 16 bits, as files have weights; not at all, since a rule gives
 * them. Operations that can read them so (leaf_read_as_stored) take them from there a little at a time; for whoever
 * else wants them a run makes floats, which it may forget. */
typedef enum LeafForm { LEAF_FLOATS, LEAF_BF16, LEAF_F16, LEAF_BAND } LeafForm;
typedef struct LeafStore {
    LeafForm form;
    const uint16_t *half; /* LEAF_BF16, LEAF_F16: row-major in the node's dims, not owned */
    int first, window;    /* LEAF_BAND, [t,u]: 1 where u ≤ first + t and, with a window, first + t − u < window */
} LeafStore;

/* Fills the data of one leaf or several when one of them is first asked for: a host procedure that would slow the start
 * down. */
typedef struct LeafMaker {
    bool (*make)(void *context,
                 int64_t deadline_ns); /* true when all is filled, else called again: it goes on where it stopped */
    void *context;
    bool done;
} LeafMaker;

enum {
    NODE_DERIVED = 1, /* cheap to make again from its neighbours: not stored in exports' default set, not in the hash */
    NODE_PROBE = 2,   /* an analysis, not part of the forward pass: not in the hash */
    NODE_EDITED = 4,  /* appended by an edit */
    NODE_SHIFT =
        8, /* taken from every cell of a softmax's row, so that the result does not depend on it: no gradient passes */
    NODE_CHECKPOINT = 16 /* stays when memory is short: what follows is computed again from it */
};

typedef struct Node {
    const char *path; /* "blocks.0.attn.pattern" */
    Op op;
    MapFn map;              /* MAP */
    NodeId in[NODE_INPUTS]; /* NO_NODE past the operation's arity */
    Dims dims;
    int axis;         /* CONCAT, SLICE, GATHER: the axis of dims acted on (SLICE: AXIS_NONE when it is dropped) */
    int in_axis[2];   /* …and the axis it has in each input */
    int start;        /* SLICE: first index taken */
    const int *index; /* GATHER: index[i] = position in the input, whose axis is in_axis[0]; SCATTER: index[i] =
                         position in the node; the arena's */
    Leaf leaf;        /* LEAF */
    LeafStore store;  /* LEAF: where data is NULL */
    LeafMaker *maker; /* LEAF: fills leaf.data later, or NULL: it is filled */
    unsigned flags;
    NodeId origin;      /* in an edited graph: the base node with the same value, else NO_NODE */
    NodeId counterpart; /* in an edited graph: the base node of the same name, else NO_NODE */
    uint32_t path_hash; /* graph_find's own: the path's hash, and … */
    NodeId chained;     /* … the node before this one that shares its bucket */
} Node;

typedef struct Graph {
    Arena arena;
    Axis *axes;
    int axis_count;
    size_t axis_cap;
    Node *nodes;
    NodeId count;
    size_t cap;
    NodeId *bucket; /* [buckets], a power of two: the last node of each */
    size_t buckets;
    struct Anatomy *anatomy; /* what the model is made of (anatomy.h), or NULL */
    char scope[160];         /* prefix of the nodes being added, with its final dot; see graph_scope */
} Graph;

void graph_init(Graph *g);
void graph_free(Graph *g); /* also accepts a zeroed graph */

/* --- building. All of these check shapes with REQUIRE: a wrong shape is a bug of the builder, files are checked
 * before. --- */
int graph_axis(Graph *g, Axis a);                     /* strings in it must outlive the graph */
int graph_axis_find(const Graph *g, const char *sym); /* AXIS_NONE where it has none of that symbol */
/* Sets the scope of the nodes that follow: graph_scope(g, "blocks.%d.attn", 3); "" is the root. */
void graph_scope(Graph *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

NodeId graph_leaf(Graph *g, const char *name, Dims d, Leaf leaf);
/* The same with cells that are not floats in memory: leaf.data is NULL. */
NodeId graph_leaf_stored(Graph *g, const char *name, Dims d, Leaf leaf, LeafStore store);
/* The leaf's data, room for its cells, is filled by maker, which must outlive the runs of the graph and of graphs
 * edited from it. Until then a run says that its values are missing; run_step makes them. */
void graph_fill_later(Graph *g, NodeId leaf, LeafMaker *maker);
/* Goes on filling a leaf's data until the deadline; true when it is filled, as that of most leaves is. */
bool graph_fill(const Graph *g, NodeId leaf, int64_t deadline_ns);
NodeId graph_const(Graph *g, const char *name, Dims d, float value); /* every cell the same value */
NodeId graph_contract(Graph *g, const char *name, NodeId a, NodeId b,
                      Dims out); /* sums over a's axes that out lacks; b has them too */
NodeId graph_zip(Graph *g, const char *name, Op op, NodeId a, NodeId b); /* ADD SUB MUL DIV; dims = union(a, b) */
NodeId graph_map(Graph *g, const char *name, MapFn f, NodeId a);
NodeId graph_reduce(Graph *g, const char *name, Op op, NodeId a, Dims out); /* SUM MAX over a's axes that out lacks */
NodeId graph_view(Graph *g, const char *name, NodeId a, Dims out); /* same cells in the same order under other axes */
NodeId graph_concat(Graph *g, const char *name, NodeId a, int a_axis, NodeId b, int b_axis, int out_axis);
NodeId graph_slice(Graph *g, const char *name, NodeId a, int a_axis, int start,
                   int out_axis); /* out_axis AXIS_NONE: one index, axis dropped */
NodeId graph_gather(Graph *g, const char *name, NodeId a, int axis, const int *index); /* copies index[axis length] */
/* Rows of a table: position i of out_axis is a's position index[i] of a_axis. A GATHER from one axis to another;
 * index[length of out_axis] is copied. */
NodeId graph_take(Graph *g, const char *name, NodeId a, int a_axis, const int *index, int out_axis);
/* The gradient of gather: y's cell at position q of `axis` is Σ over i with index[i] = q of a's cell at i of a_axis, i
 * ascending from +0. index[length of a_axis] is copied. out: a's dims with axis in place of a_axis; a_axis AXIS_NONE: a
 * has no such axis, axis stands where out has it, and a's cells go to position index[0]. */
NodeId graph_scatter(Graph *g, const char *name, NodeId a, int a_axis, Dims out, int axis, const int *index);
/* The gradient of max: 1 at the first cell (in a's order over the axes that max lacks) of a that equals max's, 0
 * elsewhere. */
NodeId graph_first(Graph *g, const char *name, NodeId a, NodeId max);
NodeId graph_where(Graph *g, const char *name, NodeId mask, NodeId yes,
                   NodeId no); /* mask ≠ 0 chooses yes; dims = union(yes, mask) */
void graph_flag(Graph *g, NodeId n, unsigned flags);
void graph_rename(Graph *g, NodeId n, const char *path); /* path is copied */
/* A node of another graph once more, with its inputs in this one: all as it is, no shape is checked. What it points to
 * must outlive g. */
NodeId graph_append(Graph *g, const Node *n);
/* Takes the nodes count, count + 1, … away again (their memory stays the arena's); nothing may refer to them any more.
 */
void graph_truncate(Graph *g, NodeId count);

/* --- reading --- */
const Node *graph_node(const Graph *g, NodeId n);
/* The leaf, looked at through views, that holds n's values in another form than floats; NULL: nothing such does. */
const Node *graph_stored(const Graph *g, NodeId n);
/* out[i] = cell first + i of a leaf, however it is stored; what fills it later must have done so. */
void leaf_read(const Graph *g, const Node *leaf, size_t first, size_t count, float *out);
float leaf_cell(const Graph *g, const Node *leaf, size_t cell);
/* Does node n read its k-th input, which is stored so, without floats made of all of it? */
bool leaf_read_as_stored(const Graph *g, NodeId n, int k);
NodeId graph_find(const Graph *g, const char *path); /* the last node of that path, or NO_NODE */
size_t graph_cells(const Graph *g, NodeId n);
size_t graph_dims_cells(const Graph *g, Dims d);
Dims graph_reduced(const Graph *g,
                   NodeId n); /* axes summed over by CONTRACT, SUM, MAX, in the order of the first operand */
/* The last component of a path: "pattern"; of a gradient the whole path, for its last component is another node's name.
 */
const char *node_name(const Node *n);

/* What a node costs. FLOPs: a fused multiply-add is 2, any other scalar operation 1, a map 1 per cell; bytes = cells ×
 * 4; parameters = cells of checkpoint leaves. */
typedef struct Cost {
    double flops, bytes, params;
} Cost;
Cost graph_cost(const Graph *g, NodeId n);
/* Sum over the nodes whose path is scope or begins with "scope." ("" = all). */
Cost graph_scope_cost(const Graph *g, const char *scope);

/* Formula in the axis letters: "scores_raw[h,t,u] = Σ_e q[t,h,e] · k[u,h,e]"; appended to out. */
struct Buf;
void graph_formula(const Graph *g, NodeId n, struct Buf *out);
/* "[t=65,h=4,e=16]" */
void graph_shape_text(const Graph *g, Dims d, struct Buf *out);
#endif
