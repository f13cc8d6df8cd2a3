/* What tokens are like: at every place of a model, and in every step that the map shows. */
#include <stdio.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/models/probe_parts.h"
#include "core/models/probes.h"
#include "core/models/stages.h"

/* What tokens are like at every place of a model, before its first block and behind each: how long each is, the cosine
 * of every two with their mean taken away, and their three principal components (Pearson 1901). All of it is in plain
 * nodes: the products of all tokens are squared, which leaves the direction of largest variance (power iteration), that
 * direction is taken away, and so on. */

/* The matrix is raised to 2^SQUARINGS and applied STEPS times: a direction with 95 % of the largest variance is left
 * with 0.95^128, less than 0.2 %. Squared twice between two scalings no number overflows. Where one direction has
 * nearly all variance every number of the matrix is near 1, and a step makes the vector as many times longer as there
 * are tokens: after UNIT_EVERY it has length 1 again. STEPS is even, to end where it began. */
enum { PIXEL_AXES = 5 /* of image: channel, patch row, row in it, patch column, column in it */ };
enum { SQUARINGS = 4, STEPS = 8, SCALED_EVERY = 2, UNIT_EVERY = 4 };

typedef struct Alike {
    Graph *g;
    int p, p1, p2, d; /* axes: token, the same twice more, width */
    NodeId count;
    NodeId above[ALIKE_COMPONENTS]; /* at the place before: the search begins there, so that signs agree */
} Alike;

static const char *numbered(char out[32], const char *what, int k, int i)
{
    snprintf(out, 32, i < 0 ? "%s_%d" : "%s_%d_%d", what, k, i);
    return out;
}

static NodeId scaled(Graph *g, NodeId m, int k, int i)
{
    char name[32];
    NodeId max = graph_reduce(g, numbered(name, "power_max", k, i), OP_MAX, m, DIMS_SCALAR);
    return probe_passing(g, graph_zip(g, numbered(name, "power_scaled", k, i), OP_DIV, m, max));
}

/* m[p,x] · m[x,y] of a symmetric matrix; x and y are p1 and p2 by turns. */
static NodeId squared(const Alike *a, NodeId m, int k, int i)
{
    char name[32];
    int x = graph_node(a->g, m)->dims.axis[1], y = x == a->p1 ? a->p2 : a->p1;
    NodeId seen = graph_view(a->g, numbered(name, "power_seen", k, i), m, DIMS(y, x));
    return probe_passing(a->g, graph_contract(a->g, numbered(name, "power", k, i), m, seen, DIMS(a->p, y)));
}

/* The same with length 1. */
static NodeId unit(Graph *g, NodeId y, int k, int i)
{
    char name[32];
    NodeId sq = graph_zip(g, numbered(name, "step_sq", k, i), OP_MUL, y, y);
    NodeId sumsq = graph_reduce(g, numbered(name, "step_sumsq", k, i), OP_SUM, sq, DIMS_SCALAR);
    NodeId length = graph_map(g, numbered(name, "step_length", k, i), MAP_SQRT, sumsq);
    return graph_zip(g, numbered(name, "step_unit", k, i), OP_DIV, y, length);
}

/* The component's direction[d], of length 1, from products[p,p1] of the tokens x[p,d]. */
static NodeId direction(const Alike *a, int k, NodeId x, NodeId products)
{
    Graph *g = a->g;
    char name[32];
    NodeId m = scaled(g, products, k, 0), y = a->above[k];
    for (int i = 1; i <= SQUARINGS; i++) {
        m = squared(a, m, k, i);
        m = i % SCALED_EVERY == 0 ? scaled(g, m, k, i) : m;
    }
    for (int i = 0; i < STEPS; i++) {
        y = graph_contract(g, numbered(name, "step", k, i), m, y, DIMS(i % 2 ? a->p : a->p1));
        y = i % UNIT_EVERY == UNIT_EVERY - 1 ? unit(g, y, k, i) : y;
    }
    NodeId sum = graph_contract(g, numbered(name, "mixed", k, -1), x, y, DIMS(a->d));
    NodeId sq = graph_zip(g, numbered(name, "mixed_sq", k, -1), OP_MUL, sum, sum);
    NodeId sumsq = graph_reduce(g, numbered(name, "mixed_sumsq", k, -1), OP_SUM, sq, DIMS_SCALAR);
    NodeId length = graph_map(g, numbered(name, "mixed_length", k, -1), MAP_SQRT, sumsq);
    return graph_zip(g, numbered(name, "direction", k, -1), OP_DIV, sum, length);
}

/* What a part of the model has; the difference of two runs is no part of one. */
static void note(Graph *g, int part, Site s, NodeId n)
{
    if (part != NO_PART)
        anatomy_note(g, part, s, n);
}

static void components(Alike *a, int part, NodeId centred, ProbeCosine all)
{
    Graph *g = a->g;
    char name[32];
    NodeId total = graph_reduce(g, "total", OP_SUM, all.sumsq, DIMS_SCALAR), x = centred, products = all.dot;
    for (int k = 0; k < ALIKE_COMPONENTS; k++) {
        NodeId along = direction(a, k, x, products);
        /* of what is left: where nothing is, a direction is of rounding alone, and not at right angles */
        NodeId component = graph_contract(g, numbered(name, "component", k, -1), x, along, DIMS(a->p));
        NodeId sq = graph_zip(g, numbered(name, "component_sq", k, -1), OP_MUL, component, component);
        NodeId sum = graph_reduce(g, numbered(name, "component_sumsq", k, -1), OP_SUM, sq, DIMS_SCALAR);
        NodeId share = graph_zip(g, numbered(name, "share", k, -1), OP_DIV, sum, total);
        note(g, part, (Site)(SITE_ALIKE_COMPONENT + k), component);
        note(g, part, (Site)(SITE_ALIKE_SHARE + k), share);
        a->above[k] = component;
        if (k + 1 == ALIKE_COMPONENTS)
            return;
        NodeId taken = probe_passing(g, graph_zip(g, numbered(name, "taken", k, -1), OP_MUL, component, along));
        x = probe_passing(g, graph_zip(g, numbered(name, "left", k, -1), OP_SUB, x, taken));
        NodeId seen = graph_view(g, numbered(name, "left_seen", k, -1), x, DIMS(a->p1, a->d));
        products = probe_passing(g, graph_contract(g, numbered(name, "left_dot", k, -1), x, seen, DIMS(a->p, a->p1)));
    }
}

/* In the scope that is set. */
static void place(Alike *a, int part, NodeId tokens)
{
    Graph *g = a->g;
    Dims rows = dims_minus(graph_node(g, tokens)->dims, DIMS(a->d));
    NodeId sq = probe_passing(g, graph_zip(g, "norm_sq", OP_MUL, tokens, tokens));
    NodeId norm = graph_map(g, "norm", MAP_SQRT, graph_reduce(g, "norm_sumsq", OP_SUM, sq, rows));
    NodeId x = rows.axis[0] == a->p ? tokens : probe_patches(g, "patches", tokens, rows.axis[0], a->p);
    NodeId centred = graph_zip(g, "centred", OP_SUB, x, probe_mean(g, "mean", x, DIMS(a->d), a->count));
    ProbeCosine all = probe_cosine(g, centred, a->p, a->p1,
                                   (CosineNames){"centred_sq", "centred_sumsq", "centred_norm", "centred_norm_seen",
                                                 "centred_seen", "dot", "norms", "cosine"});
    note(g, part, SITE_ALIKE_NORM, norm);
    note(g, part, SITE_ALIKE_COSINE, all.cosine);
    components(a, part, centred, all);
}

/* Numbers in which no direction is left out; the same for all models. */
static NodeId start(Graph *g, int p)
{
    int n = g->axes[p].n;
    float *x = arena_alloc(&g->arena, size_mul((size_t)n, sizeof *x));
    Rng rng = rng_seed(1, 0);
    for (int i = 0; i < n; i++)
        x[i] = (float)rng_unit(&rng) - 0.5f;
    return graph_leaf(g, "start", DIMS(p), (Leaf){LEAF_CONST, x, "where the search for each component begins"});
}

/* The same axis by another letter; of a pair's graph, which has those of B, what is there already. */
static int other_axis(Graph *g, int of, const char *sym, const char *name)
{
    for (int i = 0; i < g->axis_count; i++)
        if (g->axes[i].n == g->axes[of].n && strcmp(g->axes[i].sym, sym) == 0 && strcmp(g->axes[i].name, name) == 0)
            return i;
    return probe_axis(g, of, sym, name, ROLE_PLAIN);
}

/* In the scope that is set. */
static Alike begin(Graph *g, NodeId tokens)
{
    Dims dims = graph_node(g, tokens)->dims;
    Alike a = {.g = g, .p = dims.axis[0], .d = dims.axis[1]};
    int places = graph_role(g, ROLE_PLACE, g->axes[a.p].sequence);
    a.p = places == AXIS_NONE ? a.p : places;
    const char letter = *g->axes[a.p].sym;
    a.p1 = other_axis(g, a.p, (char[]){letter, '1', '\0'}, "token that it is compared with");
    a.p2 = other_axis(g, a.p, (char[]){letter, '2', '\0'}, "another token");
    a.count = graph_const(g, "count", DIMS_SCALAR, (float)g->axes[a.p].n);
    NodeId first = start(g, a.p);
    for (int k = 0; k < ALIKE_COMPONENTS; k++)
        a.above[k] = first;
    return a;
}

void probe_alike(Graph *g)
{
    for (int e = NO_PART; (e = anatomy_next(g, e, PART_EMBEDDING)) != NO_PART;) {
        const char *stack = anatomy_part(g, e)->stack;
        NodeId tokens = site_node(g, anatomy_block(g, stack, 0), SITE_RESID_PRE);
        const char *scope = anatomy_part(g, e)->scope;
        graph_scope(g, "%s%sembed.alike", scope, *scope ? "." : "");
        Alike a = begin(g, tokens);
        place(&a, e, tokens);
        for (int i = 0; i < anatomy_blocks(g, stack); i++) {
            int block = anatomy_block(g, stack, i);
            graph_scope(g, "%s.alike", anatomy_part(g, block)->scope);
            place(&a, block, site_node(g, block, SITE_BLOCK_OUT));
        }
    }
}

/* The picture before the model: every patch's pixels as its vector, in the order row, column, channel … of image. */
void probe_alike_pixels(Probes *b)
{
    Graph *g = b->g;
    const int part = anatomy_next(g, NO_PART, PART_INPUT), y = b->axis.y, x = b->axis.x;
    NodeId image = b->nodes->image;
    if (part == NO_PART || image == NO_NODE || graph_node(g, image)->dims.n != PIXEL_AXES)
        return;
    graph_scope(g, "%s.alike", graph_node(g, image)->path);
    Axis pixel = {.n = (int)(graph_cells(g, image) / (size_t)g->axes[b->axis.p].n), .sym = "px"};
    pixel.name = "pixel value of a patch";
    NodeId rows = probe_passing(g,
                                graph_zip(g, "by_patch", OP_MUL, graph_const(g, "each_patch", DIMS(y, x), 1), image));
    NodeId tokens = graph_view(g, "pixels", rows, DIMS(b->axis.p, graph_axis(g, pixel)));
    Alike a = begin(g, tokens);
    place(&a, part, tokens);
}

void probes_changed_add(Graph *g, const char *path, NodeId change)
{
    NodeId first = g->count;
    graph_scope(g, "%s.changed", path);
    Alike a = begin(g, change);
    place(&a, NO_PART, change);
    for (NodeId n = first; n < g->count; n++)
        graph_flag(g, n, NODE_PROBE);
    graph_scope(g, "%s", "");
}

const char *probes_changed(const Graph *g, const char *path, Site what, char out[PROBES_PATH])
{
    int k = what >= SITE_ALIKE_SHARE ? (int)what - SITE_ALIKE_SHARE : (int)what - SITE_ALIKE_COMPONENT;
    if (what == SITE_ALIKE_NORM)
        snprintf(out, PROBES_PATH, "%s.changed.norm", path);
    else
        snprintf(out, PROBES_PATH, "%s.changed.%s_%d", path, what >= SITE_ALIKE_SHARE ? "share" : "component", k);
    return graph_find(g, out) == NO_NODE ? NULL : out;
}

/* What the map of steps shows of every step: how long the vector of each token is in its result, and where a stream of
 * tokens goes on, how far each has moved in that step. */

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
