/* What the map of steps shows of every step: how long the vector of each token is in its result, and where a stream of
 * tokens goes on, how far each has moved in that step. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/models/probe_parts.h"
#include "core/models/probes.h"
#include "core/models/stages.h"

enum { NAME = PROBES_PATH };

/* "blocks.0.attn.pattern" and "change": "blocks.0.attn.lengths.pattern_change". */
static const char *named(const char *shown, const char *what, char out[NAME])
{
    const char *dot = strrchr(shown, '.');
    size_t scope = dot ? (size_t)(dot + 1 - shown) : 0;
    REQUIRE(scope < NAME);
    memcpy(out, shown, scope);
    snprintf(out + scope, NAME - scope, "lengths.%s_%s", shown + scope, what);
    return out;
}

/* The axis of tokens of a result that has more than one number of each, or AXIS_NONE. */
static int tokens_of(const Graph *g, NodeId n)
{
    static const AxisRole ROLES[] = {ROLE_QUERY, ROLE_PLACE, ROLE_KEY};
    const Node *node = graph_node(g, n);
    for (size_t i = 0; i < sizeof ROLES / sizeof *ROLES && node->op != OP_LEAF && node->dims.n > 1; i++) {
        int axis = dims_role(g, node->dims, ROLES[i]);
        if (axis != AXIS_NONE)
            return axis;
    }
    return AXIS_NONE;
}

static NodeId length(Graph *g, NodeId x, int tokens, const char *sumsq, const char *name)
{
    return graph_map(g, name, MAP_SQRT, graph_contract(g, sumsq, x, x, DIMS(tokens)));
}

NodeId probes_apart(Graph *g, const char *path, NodeId before, NodeId step)
{
    char name[NAME], sumsq[NAME];
    int tokens = tokens_of(g, step);
    if (tokens == AXIS_NONE)
        return NO_NODE;
    NodeId was = length(g, before, tokens, named(path, "before_sumsq", sumsq), named(path, "before", name));
    NodeId way = length(g, step, tokens, named(path, "way_sumsq", sumsq), named(path, "way", name));
    return graph_zip(g, named(path, "change", name), OP_DIV, way, was);
}

/* What came into a block; where a part was added inside it, or the positions, what it was added to. */
static NodeId stream_before(const Graph *g, const Box *b)
{
    const Node *n = graph_node(g, b->show);
    int block = anatomy_block_of(g, n->path);
    bool whole = block != NO_PART && strcmp(anatomy_part(g, block)->scope, b->path) == 0,
         sum = n->op == OP_ADD &&
               ((block != NO_PART && anatomy_of(g, n->path) == block) || site_is(g, n->path, SITE_EMBEDDED));
    NodeId before = whole ? site_node(g, block, SITE_RESID_PRE) : sum ? n->in[0] : NO_NODE;
    return before != NO_NODE && dims_equal(graph_node(g, before)->dims, n->dims) ? before : NO_NODE;
}

static void add(Graph *g, const Box *b)
{
    char name[NAME], sumsq[NAME];
    const char *path = graph_node(g, b->show)->path;
    NodeId before = stream_before(g, b);
    int tokens = tokens_of(g, b->show);
    if (tokens == AXIS_NONE || site_is(g, path, SITE_SCORES_MASKED)) /* −∞ has no length */
        return;
    if (graph_find(g, named(path, "length", name)) == NO_NODE) /* a block's result is that of its last part too */
        length(g, b->show, tokens, named(path, "sumsq", sumsq), name);
    if (before != NO_NODE && graph_find(g, named(path, "change", name)) == NO_NODE)
        probes_apart(g, path, before,
                     probe_passing(g, graph_zip(g, named(path, "step", name), OP_SUB, b->show, before)));
}

void probe_lengths(Graph *g)
{
    Stages s;
    stages_make(&s, g);
    graph_scope(g, "%s", "");
    for (int i = 0; i < s.count; i++)
        if (s.boxes[i].child != NO_BOX)
            add(g, &s.boxes[i]);
    stages_free(&s);
}

static const char *path_of(const Graph *g, const char *shown, const char *what, char out[NAME])
{
    return graph_find(g, named(shown, what, out)) == NO_NODE ? NULL : out;
}

const char *probes_length(const Graph *g, const char *shown, char out[PROBES_PATH])
{
    return path_of(g, shown, "length", out);
}

const char *probes_change(const Graph *g, const char *shown, char out[PROBES_PATH])
{
    return path_of(g, shown, "change", out);
}
