/* What a run may forget: derived values between frames, and under a memory budget whatever nobody reads. Forgetting
 * never changes a value: it is computed again, with the same bits, from what stayed. And what
 * stays for good: the hash of every node, taken when its values are there, then of them all. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/graph/run_state.h"

/* When room must be made, an eighth of the budget more is: looking for what to forget costs time. */
enum { SPARE = 8 };

void run_join(Run *r)
{
    RunFamily *f = r->family = r->base ? r->base->family : xcalloc(1, sizeof *f);
    f->runs = grow(f->runs, &f->cap, f->count, sizeof *f->runs);
    f->runs[f->count++] = r;
}

void run_leave(Run *r)
{
    RunFamily *f = r->family;
    size_t at = 0;
    while (f->runs[at] != r)
        at++;
    f->count--;
    for (; at < f->count; at++)
        f->runs[at] = f->runs[at + 1];
    if (r->base)
        return;
    free(f->runs);
    free(f);
}

/* Marks what the run reads to get from what is there to what it wants: values asked for, those of the forward pass that
 * are to come, and those that the job reads. What it reads of its base is marked there, hence later. */
static void mark_run(Run *r)
{
    const Graph *g = r->graph;
    for (int i = 0; i < r->node_count; i++) {
        const Node *node = graph_node(g, r->nodes[i].id);
        for (int k = 0; k < op_inputs(node->op); k++)
            r->slots[node->in[k]].keep = true;
    }
    for (NodeId n = r->known - 1; n >= 0; n--) {
        Slot *s = &r->slots[n];
        const Node *node = graph_node(g, n);
        NodeId shared = run_shared(r, n);
        bool to_come = !s->been && shared == NO_NODE && run_is_forward(r, n);
        s->keep = s->keep || s->asked || to_come;
        if (!s->keep || s->ready)
            continue;
        if (shared != NO_NODE)
            r->base->slots[shared].keep = true;
        for (int k = 0; shared == NO_NODE && k < op_inputs(node->op); k++)
            if (!leaf_read_as_stored(g, n, k))
                r->slots[node->in[k]].keep = true;
    }
}

static void mark(RunFamily *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (NodeId n = 0; n < f->runs[i]->known; n++)
            f->runs[i]->slots[n].keep = false;
    for (size_t i = f->count; i-- > 0;) /* what was edited before what it was edited from */
        mark_run(f->runs[i]);
}

void run_mark_edited(const Run *r, const NodeId *ids, int count, bool *leaves)
{
    RunFamily *f = r->family;
    if (f->count == 1)
        return;
    mark(f);
    for (size_t m = 0; m < f->count; m++)
        for (NodeId n = 0; f->runs[m]->base == r && n < f->runs[m]->known; n++)
            for (int i = 0; f->runs[m]->slots[n].keep && i < count; i++)
                leaves[i] = leaves[i] || run_shared(f->runs[m], n) == ids[i];
}

typedef struct Candidate {
    uint64_t used;
    Run *run;
    NodeId node;
} Candidate;

static int oldest_first(const void *a, const void *b)
{
    uint64_t x = ((const Candidate *)a)->used, y = ((const Candidate *)b)->used;
    return x < y ? -1 : x > y;
}

/* Forgets what is not marked until no more than `most` bytes are held. */
static void forget_down_to(RunFamily *f, size_t most)
{
    size_t count = 0, all = 0;
    for (size_t i = 0; i < f->count; i++)
        all += (size_t)f->runs[i]->known;
    Candidate *c = xmalloc(size_mul(all, sizeof *c));
    for (size_t i = 0; i < f->count; i++) {
        Run *r = f->runs[i];
        run_hash_some(r);
        for (NodeId n = 0; n < r->known; n++)
            if (r->slots[n].ready && !r->slots[n].keep && !(graph_node(r->graph, n)->flags & NODE_CHECKPOINT))
                c[count++] = (Candidate){r->slots[n].used, r, n};
    }
    qsort(c, count, sizeof *c, oldest_first);
    for (size_t i = 0; i < count && f->held > most; i++)
        run_forget(c[i].run, c[i].node);
    free(c);
}

void run_make_room(Run *r, size_t bytes)
{
    RunFamily *f = r->family;
    if (!f->limit || (f->held <= f->limit && bytes <= f->limit - f->held))
        return;
    size_t most = f->limit - f->limit / SPARE;
    mark(f);
    forget_down_to(f, bytes < most ? most - bytes : 0);
}

void run_trim(Run *r)
{
    RunFamily *f = r->family;
    mark(f);
    if (f->limit && f->held > f->limit)
        forget_down_to(f, f->limit);
    for (size_t i = 0; i < f->count; i++) {
        Run *member = f->runs[i];
        for (NodeId n = 0; n < member->known; n++) {
            Slot *s = &member->slots[n];
            const Node *node = graph_node(member->graph, n);
            if (((node->flags & NODE_DERIVED) || node->op == OP_LEAF) && s->ready && !s->keep)
                run_forget(member, n);
            s->asked = false;
        }
    }
}

void run_budget(Run *r, size_t bytes)
{
    r->family->limit = bytes;
}

size_t run_peak_bytes(const Run *r)
{
    return r->family->peak;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    return kernel_hash_step(h, x);
}

/* Four independent streams over an array's bits, so that long ones are not bound by one chain of multiplications;
 * streams and length are mixed at the end. It tells runs apart, nothing more. */
static void hash_start(uint64_t lane[KERNEL_HASH])
{
    static const uint64_t start[KERNEL_HASH] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u, 0x9ce484222325cbf2u,
                                                0x2325cbf29ce48422u};
    memcpy(lane, start, sizeof start);
}

static void hash_cells(uint64_t lane[KERNEL_HASH], const float *values, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++, values++) {
        uint32_t word;
        memcpy(&word, values, sizeof word);
        lane[i % KERNEL_HASH] = mix(lane[i % KERNEL_HASH], word);
    }
}

static uint64_t hash_end(const uint64_t lane[KERNEL_HASH], size_t n)
{
    uint64_t h = mix(0xcbf29ce484222325u, n);
    for (int l = 0; l < KERNEL_HASH; l++)
        h = mix(mix(h, lane[l] & 0xffffffffu), lane[l] >> 32);
    return h;
}

/* The hashes of up to KERNEL_HASH_ARRAYS arrays, the longest first: all together up to the end of the shortest, then
 * the rest. */
static void hash_arrays(const float *const *values, const size_t *cells, int arrays, uint64_t *hash)
{
    uint64_t lane[KERNEL_HASH_ARRAYS * KERNEL_HASH];
    const float *from[KERNEL_HASH_ARRAYS];
    size_t done = 0;
    for (int i = 0; i < arrays; i++)
        hash_start(lane + i * KERNEL_HASH);
    for (int left = arrays; left > 0; left--) {
        size_t groups = cells[left - 1] / KERNEL_HASH - done;
        for (int i = 0; i < left; i++)
            from[i] = values[i] + done * KERNEL_HASH;
        if (groups > 0)
            kernels()->hash(lane, from, left, groups);
        done += groups;
    }
    for (int i = 0; i < arrays; i++) {
        const size_t whole = cells[i] / KERNEL_HASH * KERNEL_HASH;
        hash_cells(lane + i * KERNEL_HASH, values[i] + whole, whole, cells[i]);
        hash[i] = hash_end(lane + i * KERNEL_HASH, cells[i]);
    }
}

void run_hash_begin(HashSoFar *h)
{
    h->cells = 0;
    hash_start(h->lane);
}

void run_hash_on(HashSoFar *h, const float *values, size_t n)
{
    const size_t before = min_size((KERNEL_HASH - h->cells % KERNEL_HASH) % KERNEL_HASH, n),
                 groups = (n - before) / KERNEL_HASH, whole = before + groups * KERNEL_HASH;
    const float *from = values + before;
    hash_cells(h->lane, values, h->cells, h->cells + before);
    if (groups)
        kernels()->hash(h->lane, &from, 1, groups);
    hash_cells(h->lane, values + whole, h->cells + whole, h->cells + n);
    h->cells += n;
}

uint64_t run_hash_end(const HashSoFar *h)
{
    return hash_end(h->lane, h->cells);
}

uint64_t run_hash_values(const float *values, size_t n)
{
    uint64_t hash;
    hash_arrays(&values, &n, 1, &hash);
    return hash;
}

enum { HASH_NODES = 64 };

typedef struct Hashing {
    size_t count, each; /* nodes, and how many one item does */
    struct {
        Slot *slot;
        size_t cells;
    } node[HASH_NODES]; /* longest first */
} Hashing;

static void hash_item(void *context, size_t item, int worker)
{
    (void)worker;
    Hashing *h = context;
    const float *values[KERNEL_HASH_ARRAYS] = {0};
    size_t cells[KERNEL_HASH_ARRAYS] = {0};
    uint64_t hash[KERNEL_HASH_ARRAYS];
    int n = 0;
    for (size_t i = item * h->each; i < h->count && i < (item + 1) * h->each; i++, n++) {
        values[n] = h->node[i].slot->values;
        cells[n] = h->node[i].cells;
    }
    hash_arrays(values, cells, n, hash);
    for (int i = 0; i < n; i++) {
        Slot *s = h->node[item * h->each + (size_t)i].slot;
        s->hash = hash[i];
        s->hashed = true;
    }
}

static void hash_these(Run *r, Hashing *h)
{
    const size_t threads = (size_t)pool_threads(r->pool), share = (h->count + threads - 1) / threads;
    h->each = share < 1 ? 1 : share > KERNEL_HASH_ARRAYS ? KERNEL_HASH_ARRAYS : share;
    pool_run(r->pool, 0, (h->count + h->each - 1) / h->each, hash_item, h, CLOCK_NEVER);
    h->count = 0;
}

void run_hash_some(Run *r)
{
    Hashing h = {.count = 0};
    for (NodeId n = 0; n < r->known; n++) {
        Slot *s = &r->slots[n];
        if (!s->ready || s->hashed || !run_is_forward(r, n))
            continue;
        size_t cells = graph_cells(r->graph, n), i = h.count++;
        for (; i > 0 && h.node[i - 1].cells < cells; i--)
            h.node[i] = h.node[i - 1];
        h.node[i].slot = s;
        h.node[i].cells = cells;
        if (h.count == HASH_NODES)
            hash_these(r, &h);
    }
    hash_these(r, &h);
    r->unhashed = 0;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = mix(h, (unsigned char)*s);
    return mix(h, 0x100);
}

static uint64_t value_hash(const Run *r, NodeId n)
{
    NodeId origin = run_shared(r, n);
    if (origin != NO_NODE)
        return value_hash(r->base, origin);
    const Slot *s = &r->slots[n];
    return s->hashed ? s->hash : run_hash_values(s->values, graph_cells(r->graph, n));
}

/* A leaf that is no weight: the picture, or values that an edit put in a node's place, which the nodes after it need
 * not show. */
static bool put_in(const Node *n)
{
    return n->op == OP_LEAF &&
           (n->leaf.kind == LEAF_INPUT || ((n->flags & NODE_EDITED) && n->counterpart != NO_NODE)) &&
           !(n->flags & NODE_PROBE);
}

bool run_hash(const Run *r, uint64_t *hash)
{
    if (!run_complete(r))
        return false;
    const Graph *g = r->graph;
    uint64_t h = 0xcbf29ce484222325u;
    for (NodeId n = 0; n < g->count; n++) {
        const Node *node = graph_node(g, n);
        bool input = put_in(node);
        if (!run_is_forward(r, n) && !input)
            continue;
        h = mix_text(h, node->path);
        for (int i = 0; i < node->dims.n; i++)
            h = mix(mix_text(h, g->axes[node->dims.axis[i]].sym), (uint64_t)g->axes[node->dims.axis[i]].n);
        uint64_t v = input ? run_hash_values(node->leaf.data, graph_cells(g, n)) : value_hash(r, n);
        h = mix(mix(h, v & 0xffffffffu), v >> 32);
    }
    *hash = h;
    return true;
}
