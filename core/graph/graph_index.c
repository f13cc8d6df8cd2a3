/* A hash table over the paths. The nodes of one bucket are chained through Node.chained, last node first: so the first
 * match is the last node of a path, nodes taken from the end of the list are the first of their chain, and a graph with
 * fewer nodes that shares the table (a struct copy with another count) skips those it lacks. */
#include "core/graph/graph_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"

enum { BUCKETS_MIN = 64 };

/* FNV-1a. */
static uint32_t path_hash(const char *path)
{
    uint32_t h = 0x811c9dc5u;
    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * 0x01000193u;
    return h;
}

static NodeId *bucket_of(const Graph *g, uint32_t hash)
{
    return &g->bucket[hash & (g->buckets - 1)];
}

static void chain_first(Graph *g, NodeId n)
{
    NodeId *b = bucket_of(g, g->nodes[n].path_hash);
    g->nodes[n].chained = *b;
    *b = n;
}

/* Twice the buckets, at least one per node. */
static void widen(Graph *g)
{
    g->buckets = g->buckets ? size_mul(g->buckets, 2) : BUCKETS_MIN;
    g->bucket = xrealloc(g->bucket, size_mul(g->buckets, sizeof *g->bucket));
    for (size_t i = 0; i < g->buckets; i++)
        g->bucket[i] = NO_NODE;
}

void graph_index_add(Graph *g, NodeId n)
{
    REQUIRE(n == g->count - 1);
    g->nodes[n].path_hash = path_hash(g->nodes[n].path);
    if ((size_t)g->count <= g->buckets) {
        chain_first(g, n);
        return;
    }
    widen(g);
    for (NodeId i = 0; i <= n; i++)
        chain_first(g, i);
}

void graph_index_remove(Graph *g, NodeId n)
{
    NodeId *at = bucket_of(g, g->nodes[n].path_hash);
    while (*at != n)
        at = &g->nodes[*at].chained;
    *at = g->nodes[n].chained;
}

void graph_index_add_again(Graph *g, NodeId n)
{
    g->nodes[n].path_hash = path_hash(g->nodes[n].path);
    NodeId *at = bucket_of(g, g->nodes[n].path_hash);
    while (*at > n)
        at = &g->nodes[*at].chained;
    g->nodes[n].chained = *at;
    *at = n;
}

NodeId graph_find(const Graph *g, const char *path)
{
    uint32_t hash = path_hash(path);
    for (NodeId n = g->buckets ? *bucket_of(g, hash) : NO_NODE; n != NO_NODE; n = g->nodes[n].chained)
        if (n < g->count && g->nodes[n].path_hash == hash && strcmp(g->nodes[n].path, path) == 0)
            return n;
    return NO_NODE;
}
