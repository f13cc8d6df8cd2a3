#include "core/eval/ablation.h"

#include <math.h>
#include <string.h>

static Edit *add(Arena *arena, Edits *to, EditKind kind, const char *path, const char *origin)
{
    Edit *e = &to->edit[to->count++];
    *e = (Edit){.kind = kind, .path = arena_strdup(arena, path), .axis = AXIS_NONE, .origin = origin};
    return e;
}

static bool remove_scale(Arena *arena, const VitConfig *c, float factor, Edits *out)
{
    for (int layer = 0; layer < c->layers; layer++) {
        const char *path = arena_printf(arena, "blocks.%d.attn.scale", layer);
        Edit *e = add(arena, out, factor > 0 ? EDIT_SCALE : EDIT_SET, path, "scale");
        e->factor = factor;
        e->value = 1;
    }
    return true;
}

static bool remove_head(Arena *arena, const Graph *g, const VitConfig *c, Ablation r, Edits *out)
{
    if (r.layer < 0 || r.layer >= c->layers || r.head < 0 || r.head >= c->heads)
        return false;
    Edit *e = add(arena, out, EDIT_ZERO, arena_printf(arena, "blocks.%d.attn.z", r.layer), "head");
    e->cells.n = 1;
    for (int axis = 0; axis < g->axis_count; axis++)
        if (strcmp(g->axes[axis].sym, "h") == 0)
            e->cells.range[0].axis = axis;
    e->cells.range[0].from = r.head;
    e->cells.range[0].to = r.head + 1;
    return true;
}

static bool remove_branch(Arena *arena, const VitConfig *c, const char *branch, int layer, Edits *out)
{
    if (layer < 0 || layer >= c->layers)
        return false;
    add(arena, out, EDIT_ZERO,
        arena_printf(arena, "blocks.%d.%s.%s", layer, branch, c->layer_scale ? "scaled_out" : "out"), branch);
    return true;
}

/* The sum that brings them in becomes its other operand. */
static bool remove_positions(Arena *arena, const Graph *g, const VitNodes *nodes, Edits *out)
{
    for (NodeId n = 0; nodes->pos_embed != NO_NODE && n < g->count; n++) {
        const Node *node = graph_node(g, n);
        if (node->op != OP_ADD || (node->in[0] != nodes->pos_embed && node->in[1] != nodes->pos_embed))
            continue;
        NodeId other = node->in[0] == nodes->pos_embed ? node->in[1] : node->in[0];
        add(arena, out, EDIT_REDIRECT, node->path, "positions")->other = arena_strdup(arena,
                                                                                      graph_node(g, other)->path);
        return true;
    }
    return false;
}

bool ablation_edits(Arena *arena, const Graph *g, const VitConfig *c, const VitNodes *nodes, Ablation r, Edits *out)
{
    *out = (Edits){.edit = arena_alloc(arena, size_mul((size_t)c->layers + 1, sizeof(Edit)))};
    switch (r.kind) {
    case ABLATION_NONE: return true;
    case ABLATION_SCALE: return remove_scale(arena, c, r.factor, out);
    case ABLATION_HEAD: return remove_head(arena, g, c, r, out);
    case ABLATION_ATTENTION: return remove_branch(arena, c, "attn", r.layer, out);
    case ABLATION_MLP: return remove_branch(arena, c, "mlp", r.layer, out);
    case ABLATION_POSITIONS: return remove_positions(arena, g, nodes, out);
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
