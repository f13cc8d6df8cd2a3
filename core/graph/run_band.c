/* A chain of nodes a few rows at a time: what the budget cannot hold and nobody has asked for is never there whole.
 * Contractions, what is made of their rows cell by cell, and the contractions that read those rows: of attention the
 * scores of every query and key, their softmax and z; the logits and theirs. The few rows are a graph of their own, the
 * same nodes over shorter axes, hence the same kernels and the same bits; and they come in the order of the nodes'
 * cells, so that the hash of a node that is never whole is taken on the way. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/graph/run_state.h"

/* Bytes of all nodes' rows that are computed together, but LEAST_ROWS at least, and no more than a SHARE of the budget:
 * they stay near, and a matrix that all rows read is packed seldom. */
enum { BAND_BYTES = 4 << 20, LEAST_ROWS = 16, SHARE = 16, FEEDS = FUSE_MAX * NODE_INPUTS };

/* What the chain reads. */
typedef struct Feed {
    NodeId from, leaf; /* in the run's graph, in the band's */
    const float *all;  /* of the node's values, or NULL: cells stored in another form */
    float *room;       /* where those of the band are put together, if they lie apart */
    size_t cells;      /* of room */
} Feed;

/* A node of the chain. */
typedef struct Link {
    NodeId id; /* in the band's graph */
    float *to; /* the node's cells; NULL: only the chain reads them, … */
    bool sums; /* … and their hash is to be taken */
    HashSoFar hash;
} Link;

struct Band {
    Run *run, *part;
    Graph graph;
    Dims rows;
    size_t most, row, rows_in_all; /* of the last axis of `rows` at once; rows of all axes that are done */
    Feed feed[FEEDS];
    Link link[FUSE_MAX];
    int feeds, links;
    bool fed;
};

/* --- which nodes --- */

static bool begins_with(Dims d, Dims rows)
{
    for (int i = 0; i < rows.n; i++)
        if (i >= d.n || d.axis[i] != rows.axis[i])
            return false;
    return true;
}

/* The axes of a chain's rows: all but the last, over which a softmax runs. */
static Dims rows_of(const Graph *g, NodeId first)
{
    const Node *node = graph_node(g, first);
    Dims d = node->dims;
    d.n -= d.n > 0 && node->op != OP_SUM && node->op != OP_MAX;
    return d;
}

static bool has(const NodeId *ids, int count, NodeId n)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == n)
            return true;
    return false;
}

/* Rows of the leaf that is read as it is stored can be pointed at. */
static bool feeds_stored(const Graph *g, NodeId n, Dims rows)
{
    const Node *node = graph_node(g, n);
    const Dims d = node->dims, rest = dims_minus(d, rows);
    if (graph_stored(g, n)->store.form != LEAF_BAND)
        return dims_equal(d, rest);
    return node->op == OP_LEAF && d.axis[0] == rows.axis[rows.n - 1] && rest.n == 1;
}

static bool reads_well(const Run *r, NodeId n, const NodeId *ids, int count, Dims rows)
{
    const Graph *g = r->graph;
    const Node *node = graph_node(g, n);
    for (int k = 0; k < op_inputs(node->op); k++) {
        const Node *in = graph_node(g, node->in[k]);
        const NodeId holder = fuse_holder(g, node->in[k]);
        const bool ok = has(ids, count, holder)        ? dims_equal(in->dims, graph_node(g, holder)->dims)
                        : leaf_read_as_stored(g, n, k) ? feeds_stored(g, node->in[k], rows)
                                                       : run_peek(r, node->in[k]) != NULL;
        if (!ok)
            return false;
    }
    return true;
}

static bool keeps_rows(const Graph *g, NodeId n, Dims rows)
{
    const Node *node = graph_node(g, n);
    if (node->op != OP_CONTRACT)
        return fuse_by_rows(node->op) && begins_with(node->dims, rows);
    return dims_minus(rows, node->dims).n == 0;
}

int band_find(const Run *r, NodeId n, NodeId end, NodeId ids[FUSE_MAX])
{
    const Graph *g = r->graph;
    const Dims rows = rows_of(g, n);
    int count = 0;
    if (rows.n == 0)
        return 0;
    for (NodeId i = n; i <= end && count < FUSE_MAX; i++) {
        if (!r->need[i] || graph_node(g, i)->op == OP_VIEW)
            continue;
        if (run_shared(r, i) != NO_NODE || !keeps_rows(g, i, rows) || !reads_well(r, i, ids, count, rows))
            break;
        ids[count++] = i;
        if (!begins_with(graph_node(g, i)->dims, rows)) /* z[t,h,e]: nobody reads its rows in this order */
            break;
    }
    return count;
}

/* --- the chain over a few rows --- */

static NodeId add_node(Band *b, Node n, unsigned flags)
{
    n.flags = flags;
    n.origin = n.counterpart = NO_NODE;
    n.maker = NULL;
    return graph_append(&b->graph, &n);
}

static NodeId feed(Band *b, NodeId from, bool stored)
{
    const Graph *g = b->run->graph;
    Node n = *graph_node(g, from);
    for (int i = 0; i < b->feeds; i++)
        if (b->feed[i].from == from)
            return b->feed[i].leaf;
    Feed *f = &b->feed[b->feeds++];
    f->from = from;
    f->all = stored ? NULL : run_peek(b->run, from);
    n.store = stored ? graph_stored(g, from)->store : (LeafStore){LEAF_FLOATS, NULL, 0, 0};
    n.leaf = (Leaf){LEAF_RUN, f->all, "some rows of it"};
    n.op = OP_LEAF;
    for (int k = 0; k < NODE_INPUTS; k++)
        n.in[k] = NO_NODE;
    return f->leaf = add_node(b, n, NODE_PROBE);
}

static void link_up(Band *b, const JobNode *nodes, int count)
{
    const Graph *g = b->run->graph;
    for (b->links = 0; b->links < count; b->links++) {
        const NodeId id = nodes[b->links].id;
        Link *l = &b->link[b->links];
        Node n = *graph_node(g, id);
        for (int k = 0; k < op_inputs(n.op); k++) {
            const NodeId holder = fuse_holder(g, n.in[k]);
            NodeId in = NO_NODE;
            for (int i = 0; i < b->links; i++)
                in = nodes[i].id == holder ? b->link[i].id : in;
            n.in[k] = in != NO_NODE ? in : feed(b, n.in[k], leaf_read_as_stored(g, id, k));
        }
        l->to = nodes[b->links].out;
        l->sums = !l->to && !b->run->slots[id].hashed && run_is_forward(b->run, id);
        run_hash_begin(&l->hash);
        l->id = add_node(b, n, NODE_PROBE | (l->to || l->sums ? 0u : (unsigned)NODE_DERIVED));
    }
}

/* Of all nodes that do not stay in cache. */
static size_t row_bytes(const Graph *g, const JobNode *nodes, int count, Dims rows)
{
    size_t cells = 1;
    for (int i = 0; i < count; i++) {
        const Node *node = graph_node(g, nodes[i].id);
        if (!(node->flags & NODE_DERIVED) || node->op == OP_CONTRACT || nodes[i].out)
            cells += graph_cells(g, nodes[i].id) / graph_dims_cells(g, rows);
    }
    return cells * sizeof(float);
}

/* The most rows at once, within a budget. */
static size_t rows_at_once(const Graph *g, const JobNode *nodes, int count, Dims rows, size_t budget)
{
    const size_t along = (size_t)g->axes[rows.axis[rows.n - 1]].n;
    size_t most = min_size(BAND_BYTES, budget / SHARE) / row_bytes(g, nodes, count, rows);
    most = most < LEAST_ROWS ? LEAST_ROWS : most;
    return most < along ? most : along;
}

size_t band_bytes(const Graph *g, const JobNode *nodes, int count, size_t budget)
{
    const Dims rows = rows_of(g, nodes[0].id);
    return rows_at_once(g, nodes, count, rows, budget) * row_bytes(g, nodes, count, rows);
}

Band *band_new(Run *r, const JobNode *nodes, int count)
{
    Band *b = xcalloc(1, sizeof *b);
    b->run = r;
    b->rows = rows_of(r->graph, nodes[0].id);
    b->rows_in_all = graph_dims_cells(r->graph, b->rows);
    b->most = rows_at_once(r->graph, nodes, count, b->rows, r->family->limit);
    graph_init(&b->graph);
    for (int i = 0; i < r->graph->axis_count; i++)
        graph_axis(&b->graph, r->graph->axes[i]);
    link_up(b, nodes, count);
    b->part = run_new(&b->graph, NULL, r->pool);
    return b;
}

void band_free(Band *b)
{
    if (!b)
        return;
    run_free(b->part);
    for (int i = 0; i < b->feeds; i++)
        free(b->feed[i].room);
    graph_free(&b->graph);
    free(b);
}

/* --- a few rows --- */

/* Where a band is on an axis. */
static size_t first_on(const Band *b, int axis)
{
    size_t row = b->row;
    for (int i = b->rows.n; i-- > 0;) {
        const size_t n = (size_t)b->run->graph->axes[b->rows.axis[i]].n;
        if (b->rows.axis[i] == axis)
            return row % n;
        row /= n;
    }
    return 0;
}

/* Rows to the end of the band. */
static size_t rows_now(const Band *b)
{
    const int axis = b->rows.axis[b->rows.n - 1];
    const size_t left = (size_t)b->run->graph->axes[axis].n - first_on(b, axis);
    return left < b->most ? left : b->most;
}

/* The cells of the band in an array of all, run by run of neighbours. */
typedef struct Runs {
    size_t first, cells, runs; /* of the first run, cells of each, how many */
    Dims over;                 /* axes from run to run, in the band's lengths */
    size_t stride[DIMS_MAX];
} Runs;

static Runs runs_of(const Band *b, Dims d)
{
    const Axis *all = b->run->graph->axes, *some = b->graph.axes;
    Runs r = {.cells = 1, .runs = 1, .over = d};
    size_t stride = 1;
    bool whole = true; /* all that follows is the band's */
    for (int i = d.n; i-- > 0; stride *= (size_t)all[d.axis[i]].n) {
        const size_t n = (size_t)some[d.axis[i]].n;
        r.first += first_on(b, d.axis[i]) * stride;
        r.stride[i] = stride;
        if (whole)
            r.cells *= n;
        else
            r.runs *= n;
        r.over.n = whole ? i : r.over.n;
        whole = whole && some[d.axis[i]].n == all[d.axis[i]].n;
    }
    return r;
}

/* The run-th run. */
static size_t run_at(const Band *b, const Runs *r, size_t run)
{
    size_t at = r->first;
    for (int i = r->over.n; i-- > 0;) {
        const size_t n = (size_t)b->graph.axes[r->over.axis[i]].n;
        at += run % n * r->stride[i];
        run /= n;
    }
    return at;
}

static void shorten_axes(Band *b, size_t rows)
{
    for (int i = 0; i < b->rows.n; i++)
        b->graph.axes[b->rows.axis[i]].n = i + 1 < b->rows.n ? 1 : (int)rows;
}

static void feed_rows(Band *b)
{
    for (int i = 0; i < b->feeds; i++) {
        Feed *f = &b->feed[i];
        Node *leaf = &b->graph.nodes[f->leaf];
        if (!f->all) {
            if (leaf->store.form == LEAF_BAND)
                leaf->store.first = graph_stored(b->run->graph, f->from)->store.first +
                                    (int)first_on(b, leaf->dims.axis[0]);
            continue;
        }
        const Runs r = runs_of(b, leaf->dims);
        leaf->leaf.data = f->all + r.first;
        if (r.runs == 1)
            continue;
        if (f->cells < r.runs * r.cells) {
            free(f->room);
            f->room = xfloats(f->cells = r.runs * r.cells);
        }
        for (size_t k = 0; k < r.runs; k++)
            memcpy(f->room + k * r.cells, f->all + run_at(b, &r, k), r.cells * sizeof *f->room);
        leaf->leaf.data = f->room;
    }
}

static void keep_rows(const Band *b, const Link *l)
{
    const float *x = run_peek(b->part, l->id);
    const Runs r = runs_of(b, graph_node(&b->graph, l->id)->dims);
    for (size_t k = 0; k < r.runs; k++)
        memcpy(l->to + run_at(b, &r, k), x + k * r.cells, r.cells * sizeof *x);
}

static void take_item(void *band, size_t item, int worker)
{
    (void)worker;
    Band *b = band;
    Link *l = &b->link[item];
    if (l->to)
        keep_rows(b, l);
    else if (l->sums)
        run_hash_on(&l->hash, run_peek(b->part, l->id), graph_cells(&b->graph, l->id));
}

bool band_step(Band *b, int64_t deadline_ns)
{
    while (b->row < b->rows_in_all) {
        const size_t rows = rows_now(b);
        if (!b->fed) {
            shorten_axes(b, rows);
            feed_rows(b);
        }
        b->fed = true;
        for (int i = b->links; i-- > 0;)
            if ((b->link[i].to || b->link[i].sums || i + 1 == b->links) &&
                !run_step(b->part, b->link[i].id, deadline_ns))
                return false;
        pool_run(b->run->pool, 0, (size_t)b->links, take_item, b, CLOCK_NEVER);
        for (int i = 0; i < b->links; i++)
            run_forget(b->part, b->link[i].id);
        b->fed = false;
        b->row += rows;
        if (b->row < b->rows_in_all && deadline_ns != CLOCK_NEVER && clock_ns() >= deadline_ns)
            return false;
    }
    return true;
}

double band_progress(const Band *b)
{
    return (double)b->row / (double)b->rows_in_all;
}

bool band_hash(const Band *b, int i, uint64_t *hash)
{
    *hash = run_hash_end(&b->link[i].hash);
    return b->link[i].sums;
}
