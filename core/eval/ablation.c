#include "core/eval/ablation.h"

#include <math.h>

#include "core/graph/anatomy.h"

static Edit *add(Arena *arena, Edits *to, EditKind kind, const char *path, const char *origin)
{
    Edit *e = &to->edit[to->count++];
    *e = (Edit){.kind = kind, .path = arena_strdup(arena, path), .axis = AXIS_NONE, .origin = origin};
    return e;
}

static bool remove_scale(Arena *arena, const Graph *g, float factor, Edits *out)
{
    for (int a = NO_PART; (a = anatomy_next(g, a, PART_ATTENTION)) != NO_PART;) {
        Edit *e = add(arena, out, factor > 0 ? EDIT_SCALE : EDIT_SET, site_path(g, a, SITE_SCALE), "scale");
        e->factor = factor;
        e->value = 1;
    }
    return true;
}

/* Part of that kind in the layer-th block, or NO_PART. */
static int part_of(const Graph *g, int layer, PartKind kind)
{
    int block = NO_PART;
    for (int i = 0; i <= layer; i++)
        if ((block = anatomy_next(g, block, PART_BLOCK)) == NO_PART)
            return NO_PART;
    return layer < 0 ? NO_PART : anatomy_next_in(g, NO_PART, kind, block);
}

static bool remove_head(Arena *arena, const Graph *g, Ablation r, Edits *out)
{
    int attention = anatomy_attention(g, r.layer);
    NodeId z = site_node(g, attention, SITE_Z);
    int axis = node_role(g, z, ROLE_HEAD);
    if (axis == AXIS_NONE || r.head < 0 || r.head >= g->axes[axis].n)
        return false;
    Edit *e = add(arena, out, EDIT_ZERO, graph_node(g, z)->path, "head");
    e->cells.n = 1;
    e->cells.range[0].axis = axis;
    e->cells.range[0].from = r.head;
    e->cells.range[0].to = r.head + 1;
    return true;
}

static bool remove_branch(Arena *arena, const Graph *g, PartKind kind, int layer, Edits *out)
{
    int part = part_of(g, layer, kind);
    if (part == NO_PART)
        return false;
    add(arena, out, EDIT_ZERO, site_path(g, part, SITE_OUT), anatomy_part(g, part)->word);
    return true;
}

/* The sum that brings them in becomes its other operand. */
static bool remove_positions(Arena *arena, const Graph *g, Edits *out)
{
    NodeId table = site_node_any(g, SITE_POSITIONS);
    for (NodeId n = 0; table != NO_NODE && n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (node->op != OP_ADD || (node->in[0] != table && node->in[1] != table))
            continue;
        NodeId other = node->in[0] == table ? node->in[1] : node->in[0];
        add(arena, out, EDIT_REDIRECT, node->path, "positions")->other = arena_strdup(arena,
                                                                                      graph_node(g, other)->path);
        return true;
    }
    return false;
}

bool ablation_edits(Arena *arena, const Graph *g, Ablation r, Edits *out)
{
    *out = (Edits){.edit = arena_alloc(arena, size_mul((size_t)anatomy_count(g) + 1, sizeof(Edit)))};
    switch (r.kind) {
    case ABLATION_NONE: return true;
    case ABLATION_SCALE: return remove_scale(arena, g, r.factor, out);
    case ABLATION_HEAD: return remove_head(arena, g, r, out);
    case ABLATION_ATTENTION: return remove_branch(arena, g, PART_ATTENTION, r.layer, out);
    case ABLATION_MLP: return remove_branch(arena, g, PART_MLP, r.layer, out);
    case ABLATION_POSITIONS: return remove_positions(arena, g, out);
    }
    return false;
}

float ablation_factor(float scale, int i)
{
    static const float FACTOR[ABLATION_FACTORS] = {0.125f, 0.25f,      0.35355339f, 0.5f, 0.70710678f, 1, 1.4142135f,
                                                   2,      2.8284271f, 4,           8};
    float off = 1 / scale, best = INFINITY;
    int nearest = 0;
    REQUIRE(i >= 0 && i < ABLATION_FACTORS);
    for (int k = 0; k < ABLATION_FACTORS; k++) { /* by ratio */
        float ratio = FACTOR[k] > off ? FACTOR[k] / off : off / FACTOR[k];
        if (ratio < best) {
            best = ratio;
            nearest = k;
        }
    }
    bool takes = isfinite(off) && off > 0 && nearest != ABLATION_FACTORS / 2;
    return takes && i == nearest ? off : FACTOR[i];
}
