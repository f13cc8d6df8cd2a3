#include "core/models/probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/base/err.h"
#include "core/graph/anatomy.h"
#include "core/models/probe_parts.h"

NodeId probe_passing(Graph *g, NodeId n)
{
    graph_flag(g, n, NODE_DERIVED);
    return n;
}

bool probes_is(const char *path)
{
    return strstr(path, ".probe.") != NULL;
}

void probe_scope(Probes *b, int layer)
{
    graph_scope(b->g, "%s.probe", anatomy_part(b->g, b->block[layer].attention)->scope);
}

NodeId probe_patches(const Probes *b, const char *name, NodeId x, int from, int to)
{
    int rest = b->g->axes[from].n - b->g->axes[to].n;
    if (rest == 0)
        return graph_view(b->g, name, x, dims_replace(graph_node(b->g, x)->dims, from, to));
    return probe_passing(b->g, graph_slice(b->g, name, x, from, rest, to));
}

NodeId probe_mean(Graph *g, const char *name, NodeId x, Dims out, NodeId count)
{
    char sum[48];
    snprintf(sum, sizeof sum, "%s_sum", name);
    return graph_zip(g, name, OP_DIV, graph_reduce(g, sum, OP_SUM, x, out), count);
}

static int axis_of(const Graph *g, const char *sym)
{
    for (int i = 0; i < g->axis_count; i++)
        if (strcmp(g->axes[i].sym, sym) == 0)
            return i;
    return AXIS_NONE;
}

/* Another axis of the same length and labels. */
static int second_axis(Graph *g, int of, const char *sym, const char *name, AxisRole role)
{
    Axis a = g->axes[of];
    a.role = role;
    snprintf(a.sym, sizeof a.sym, "%s", sym);
    a.name = name;
    return graph_axis(g, a);
}

static void find_axes(Probes *b)
{
    const struct {
        int *to;
        const char *sym;
    } wanted[] = {{&b->axis.c, "c"}, {&b->axis.i, "i"}, {&b->axis.j, "j"}, {&b->axis.y, "y"},
                  {&b->axis.x, "x"}, {&b->axis.p, "p"}, {&b->axis.t, "t"}, {&b->axis.u, "u"},
                  {&b->axis.h, "h"}, {&b->axis.e, "e"}, {&b->axis.d, "d"}, {&b->axis.o, "o"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].to = axis_of(b->g, wanted[i].sym);
        REQUIRE(*wanted[i].to != AXIS_NONE || strcmp(wanted[i].sym, "o") == 0);
    }
    b->axis.p0 = second_axis(b->g, b->axis.p, "p0", "patch compared with", ROLE_OTHER_PLACE);
    b->axis.w = second_axis(b->g, b->axis.t, "w", "third token", ROLE_THIRD);
}

static void find_blocks(Probes *b)
{
    const Graph *g = b->g;
    for (int part = NO_PART; (part = anatomy_next(g, part, PART_BLOCK)) != NO_PART;) {
        int attention = anatomy_next_in(g, part, PART_ATTENTION, part), layer = anatomy_part(g, part)->block;
        REQUIRE(layer >= 0 && layer < b->c->layers && attention != NO_PART);
        b->block[layer] = (ProbeBlock){.part = part,
                                       .attention = attention,
                                       .pattern = site_node(g, attention, SITE_PATTERN),
                                       .scores = site_node(g, attention, site_scores(g, attention)),
                                       .z = site_node(g, attention, SITE_MERGED),
                                       .w_o = site_node(g, attention, SITE_W_O),
                                       .out = site_node(g, part, SITE_BLOCK_OUT)};
    }
}

static void add_numbers(Probes *b)
{
    Graph *g = b->g;
    int tokens = vit_tokens(b->c);
    graph_scope(g, "numbers.probe");
    b->zero = graph_const(g, "zero", DIMS_SCALAR, 0.0f);
    b->one = graph_const(g, "one", DIMS_SCALAR, 1.0f);
    b->two = graph_const(g, "two", DIMS_SCALAR, 2.0f);
    b->half = graph_const(g, "half", DIMS_SCALAR, 0.5f);
    b->tokens = graph_const(g, "tokens", DIMS_SCALAR, (float)tokens);
    b->patches = graph_const(g, "patches", DIMS_SCALAR, (float)vit_patches(b->c));
    b->log_tokens = tokens > 1 ? graph_const(g, "log_tokens", DIMS_SCALAR, (float)dm_log(tokens)) : NO_NODE;
}

void probes_add(Graph *g, const VitConfig *c, const VitNodes *nodes)
{
    NodeId first = g->count;
    Probes b = {.g = g, .c = c, .nodes = nodes};
    b.block = arena_alloc(&g->arena, size_mul((size_t)c->layers, sizeof *b.block));
    find_axes(&b);
    find_blocks(&b);
    probe_find_answer(&b);
    add_numbers(&b);
    probe_grid(&b);
    probe_lens(&b, -1);
    for (int layer = 0; layer < c->layers; layer++) {
        probe_attention(&b, layer);
        probe_distance(&b, layer);
        probe_lens(&b, layer);
    }
    probe_rollout(&b);
    probe_other_readout(&b);
    probe_places(&b);
    probe_fit(&b);
    probe_filters(&b);
    probe_guess(&b);
    probe_where(&b);
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    graph_scope(g, "%s", "");
    probe_notes(g);
}
