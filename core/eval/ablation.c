#include "core/eval/ablation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
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
        if (!site_path(g, a, SITE_SCALE))
            continue;
        Edit *e = add(arena, out, factor > 0 ? EDIT_SCALE : EDIT_SET, site_path(g, a, SITE_SCALE), "scale");
        e->factor = factor;
        e->value = 1;
    }
    return out->count > 0;
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

/* --- one part of a ledger, taken out --- */

/* Index `at` of the axis, or all of it for −1. */
static void only(Edit *e, int axis, int at)
{
    if (at < 0)
        return;
    e->cells.range[e->cells.n].axis = axis;
    e->cells.range[e->cells.n].from = at;
    e->cells.range[e->cells.n++].to = at + 1;
}

/* The edit of g (the graph that the ledger stands in) that takes it out: the same as switching those cells off by hand.
 * The path is the graph's. */
static Edit removal_edit(const Graph *g, const Ledger *l, Removal r)
{
    const LedgerEntry *entry = &l->entry[r.entry];
    Edit e = {.kind = EDIT_ZERO, .path = graph_node(g, entry->part)->path, .axis = AXIS_NONE, .origin = "removed"};
    Dims d = graph_node(g, entry->part)->dims;
    if (entry->kind == LEDGER_HEADS)
        only(&e, dims_role(g, d, ROLE_HEAD), r.head);
    if (!r.everywhere && (entry->kind == LEDGER_HEADS || ledger_by_token(g, entry)))
        only(&e, dims_role(g, d, ROLE_QUERY), l->token);
    return e;
}

struct RemovalRun {
    const Graph *whole;
    const Ledger *ledger;
    Graph plain; /* of the graph what the number is made from; shares all with it */
    Run *base, *run;
    Graph graph; /* of the removal under way */
    bool begun;
    Pool *pool;
    Removal *what;
    float *effect;
    size_t count, done;
};

RemovalRun *removal_run_new(const Graph *g, Run *run, const Ledger *l, const Removal *what, size_t count, Pool *pool)
{
    RemovalRun *r = xcalloc(1, sizeof *r);
    *r = (RemovalRun){.whole = g, .ledger = l, .plain = *g, .base = run, .pool = pool, .count = count};
    r->plain.count = l->y + 1;
    r->what = xmalloc(size_mul(count + 1, sizeof *r->what));
    memcpy(r->what, what, count * sizeof *what);
    r->effect = xfloats(count + 1);
    return r;
}

static void begin(RemovalRun *r)
{
    Edit e = removal_edit(r->whole, r->ledger, r->what[r->done]);
    Err err;
    r->graph = (Graph){0};
    bool made = graph_edit(&r->graph, &r->plain, &e, 1, &err);
    REQUIRE(made);
    r->run = run_new(&r->graph, r->base, r->pool);
    r->begun = true;
}

static void end(RemovalRun *r)
{
    run_free(r->run);
    graph_free(&r->graph);
    r->run = NULL;
    r->begun = false;
}

static float number_of(const Ledger *l, const float *y)
{
    return l->against == LEDGER_ALONE ? y[l->cell] : y[l->cell] - y[l->against];
}

bool removal_run_step(RemovalRun *r, int64_t deadline_ns)
{
    while (r->done < r->count) {
        if (!r->begun)
            begin(r);
        NodeId y = graph_find(&r->graph, graph_node(&r->plain, r->ledger->y)->path);
        if (!run_step(r->run, y, deadline_ns) || !run_step(r->base, r->ledger->y, deadline_ns))
            return false;
        r->effect[r->done++] = number_of(r->ledger, run_peek(r->base, r->ledger->y)) -
                               number_of(r->ledger, run_peek(r->run, y));
        end(r);
        if (clock_ns() >= deadline_ns)
            return r->done == r->count;
    }
    return true;
}

size_t removal_run_done(const RemovalRun *r)
{
    return r->done;
}

size_t removal_run_count(const RemovalRun *r)
{
    return r->count;
}

float removal_run_effect(const RemovalRun *r, size_t i)
{
    REQUIRE(i < r->done);
    return r->effect[i];
}

void removal_run_free(RemovalRun *r)
{
    if (!r)
        return;
    if (r->begun)
        end(r);
    free(r->what);
    free(r->effect);
    free(r);
}

/* --- numbers rounded --- */

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
