#include "core/eval/precision.h"

#include <string.h>

#include "core/graph/anatomy.h"

static const struct {
    const char *name;
    MapFn map;
} KINDS[PRECISIONS] = {[PRECISION_F32] = {"f32", MAP_COUNT},
                       [PRECISION_BF16] = {"bf16", MAP_ROUND_BF16},
                       [PRECISION_F16] = {"f16", MAP_ROUND_F16}};

const char *precision_name(Precision p)
{
    return KINDS[p].name;
}

bool precision_find(const char *name, Precision *out)
{
    for (int i = 0; i < PRECISIONS; i++)
        if (strcmp(KINDS[i].name, name) == 0) {
            *out = (Precision)i;
            return true;
        }
    return false;
}

bool precision_rounds(const Graph *g, NodeId n)
{
    const Node *node = graph_node(g, n);
    if ((node->flags & (NODE_PROBE | NODE_DERIVED)) || node->op == OP_VIEW)
        return false;
    if (node->op != OP_LEAF)
        return true;
    return node->leaf.kind == LEAF_TENSOR || (node->leaf.kind == LEAF_INPUT && site_is(g, node->path, SITE_IMAGE));
}

Edit precision_edit(const Graph *g, NodeId n, Precision p)
{
    REQUIRE(p != PRECISION_F32);
    return (Edit){.kind = EDIT_MAP, .path = graph_node(g, n)->path, .map = KINDS[p].map};
}

void precision_round(Precision p, const float *from, float *to, size_t cells)
{
    if (p != PRECISION_F32)
        kernels()->map[KINDS[p].map](to, from, cells);
    else if (to != from)
        memcpy(to, from, cells * sizeof *to);
}
