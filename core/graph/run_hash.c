/* The hash of a run: of every node when its values are there, then of them all. */
#include <string.h>

#include "core/base/clock.h"
#include "core/graph/run_state.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
    return kernel_hash_step(h, x);
}

/* Four independent streams over the floats' bits so that long tensors are not bound by one chain of multiplications; streams and
 * length are mixed at the end. It tells runs apart, nothing more. */
uint64_t run_hash_values(const float *values, size_t n)
{
    uint64_t lane[KERNEL_HASH] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u, 0x9ce484222325cbf2u, 0x2325cbf29ce48422u};
    size_t groups = n / KERNEL_HASH;
    kernels()->hash(lane, values, groups);
    for (size_t i = groups * KERNEL_HASH; i < n; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        lane[i % KERNEL_HASH] = mix(lane[i % KERNEL_HASH], word);
    }
    uint64_t h = mix(0xcbf29ce484222325u, n);
    for (int l = 0; l < KERNEL_HASH; l++)
        h = mix(mix(h, lane[l] & 0xffffffffu), lane[l] >> 32);
    return h;
}

enum { HASH_NODES = 64 };

/* Several nodes at once, so that every thread has one to do. */
typedef struct Hashing {
    Slot *slots[HASH_NODES];
    size_t cells[HASH_NODES];
} Hashing;

static void hash_item(void *context, size_t item, int worker)
{
    (void)worker;
    Hashing *h = context;
    h->slots[item]->hash = run_hash_values(h->slots[item]->values, h->cells[item]);
    h->slots[item]->hashed = true;
}

void run_hash_some(Run *r)
{
    Hashing h;
    size_t count = 0;
    for (NodeId n = 0; n < r->known; n++) {
        Slot *s = &r->slots[n];
        if (!s->ready || s->hashed || !run_is_forward(r, n))
            continue;
        h.slots[count] = s;
        h.cells[count++] = graph_cells(r->graph, n);
        if (count == HASH_NODES) {
            pool_run(r->pool, 0, count, hash_item, &h, CLOCK_NEVER);
            count = 0;
        }
    }
    pool_run(r->pool, 0, count, hash_item, &h, CLOCK_NEVER);
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

/* A leaf that is no weight: the picture, or values that an edit put in a node's place, which the nodes after it need not show. */
static bool put_in(const Node *n)
{
    return n->op == OP_LEAF && (n->leaf.kind == LEAF_INPUT || ((n->flags & NODE_EDITED) && n->counterpart != NO_NODE)) &&
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
