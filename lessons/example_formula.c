/* One formula of a worked example becomes one node, or a part that is made of several (softmax, normalise). Every shape
 * is checked before the graph sees it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/models/nn.h"
#include "core/session/command.h"
#include "lessons/example_parts.h"

enum { ARGS = 5 };

typedef struct Formula {
    Building *b;
    const char *name;
    Dims d; /* as declared */
    const char *arg[ARGS];
    int args;
} Formula;

static NodeId none(const Formula *f, const char *what)
{
    building_error(f->b, "%s: %s", f->name, what);
    return NO_NODE;
}

static const char *node_above(const void *graph, int i)
{
    const Graph *g = graph;
    return i < (int)g->count ? graph_node(g, (NodeId)i)->path : NULL;
}

/* An operand: a node that stands above, or a number, which becomes a constant. */
static NodeId operand(const Formula *f, const char *text, int which)
{
    char *end;
    Graph *g = f->b->g;
    NodeId n = graph_find(g, text);
    if (n != NO_NODE)
        return n;
    double x = strtod(text, &end);
    if (end != text && !*end && !isalpha((unsigned char)*text) && x > -1e38 && x < 1e38)
        return graph_const(g, arena_printf(&g->arena, "%s.constant%s", f->name, which ? "2" : ""), DIMS_SCALAR,
                           (float)x);
    const char *near = nearest_name(text, node_above, g);
    building_error(f->b, "%s: there is no '%.40s' above%s%s%s", f->name, text, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
    return NO_NODE;
}

static NodeId first(const Formula *f)
{
    return operand(f, f->arg[0], 0);
}

static Dims dims_of(const Formula *f, NodeId n)
{
    return graph_node(f->b->g, n)->dims;
}

static double cells_of(const Formula *f, Dims d)
{
    double cells = 1;
    for (int i = 0; i < d.n; i++)
        cells *= f->b->g->axes[d.axis[i]].n;
    return cells;
}

/* No shape has more than DIMS_MAX axes. */
static bool room_for_both(const Formula *f, NodeId a, NodeId b)
{
    int n = dims_of(f, a).n + dims_minus(dims_of(f, b), dims_of(f, a)).n;
    return n <= DIMS_MAX || building_error(f->b, "%s: more than %d axes", f->name, DIMS_MAX);
}

static bool has_args(const Formula *f, int n)
{
    return f->args == n || building_error(f->b, "%s: %d operands, expected %d", f->name, f->args, n);
}

/* The declared axes are what the operation gives, in that order. */
static bool gives(const Formula *f, Dims d)
{
    if (dims_equal(f->d, d))
        return true;
    char have[64] = "";
    for (int i = 0; i < d.n; i++)
        snprintf(have + strlen(have), sizeof have - strlen(have), "%s%s", i ? "," : "", f->b->g->axes[d.axis[i]].sym);
    return building_error(f->b, "%s: this gives the axes [%s]; write them behind the name", f->name, have);
}

static int axis_arg(const Formula *f, int i, Dims d)
{
    int axis = graph_axis_find(f->b->g, f->arg[i]);
    if (axis != AXIS_NONE && dims_find(d, axis) >= 0)
        return axis;
    building_error(f->b, "%s: '%.20s' is no axis of the first operand", f->name, f->arg[i]);
    return AXIS_NONE;
}

static NodeId add_softmax(const Formula *f)
{
    NodeId x = has_args(f, 2) ? first(f) : NO_NODE;
    int axis = x == NO_NODE ? AXIS_NONE : axis_arg(f, 1, dims_of(f, x));
    if (axis == AXIS_NONE || !gives(f, dims_of(f, x)))
        return NO_NODE;
    Arena *a = &f->b->g->arena;
    SoftmaxNames names = {arena_printf(a, "%s.max", f->name), arena_printf(a, "%s.shifted", f->name),
                          arena_printf(a, "%s.exp", f->name), arena_printf(a, "%s.sum", f->name), f->name};
    return nn_softmax(f->b->g, x, axis, names);
}

static NodeId add_norm(const Formula *f)
{
    NodeId x = has_args(f, 3) ? first(f) : NO_NODE;
    int axis = x == NO_NODE ? AXIS_NONE : axis_arg(f, 1, dims_of(f, x));
    if (axis == AXIS_NONE || !gives(f, dims_of(f, x)))
        return NO_NODE;
    char *end;
    double eps = strtod(f->arg[2], &end);
    if (*end || end == f->arg[2] || !(eps >= 0 && eps <= 1))
        return none(f, "expected ε, 0 to 1, behind the axis");
    return graph_normalise(f->b->g, f->name, x, axis, (float)eps);
}

static NodeId reduce(const Formula *f, Op op)
{
    NodeId x = has_args(f, 1) ? first(f) : NO_NODE;
    if (x == NO_NODE)
        return NO_NODE;
    if (dims_minus(f->d, dims_of(f, x)).n)
        return none(f, "the result has an axis that the operand lacks");
    return graph_reduce(f->b->g, f->name, op, x, f->d);
}

static NodeId add_sum(const Formula *f)
{
    return reduce(f, OP_SUM);
}
static NodeId add_max(const Formula *f)
{
    return reduce(f, OP_MAX);
}

static NodeId add_rename(const Formula *f)
{
    NodeId x = has_args(f, 1) ? first(f) : NO_NODE;
    if (x == NO_NODE)
        return NO_NODE;
    if (cells_of(f, f->d) != cells_of(f, dims_of(f, x)))
        return none(f, "the new axes have another number of cells");
    return graph_view(f->b->g, f->name, x, f->d);
}

static NodeId add_gather(const Formula *f)
{
    NodeId x = has_args(f, 3) ? first(f) : NO_NODE;
    int axis = x == NO_NODE ? AXIS_NONE : axis_arg(f, 1, dims_of(f, x)), count = 0;
    if (axis == AXIS_NONE || !gives(f, dims_of(f, x)))
        return NO_NODE;
    int n = f->b->g->axes[axis].n, *index = arena_alloc(&f->b->g->arena, (size_t)n * sizeof *index);
    char *end;
    for (const char *p = f->arg[2]; *p; p = end) {
        long k = strtol(p, &end, 10);
        if (end == p || k < 0 || k >= n || count == n)
            break;
        index[count++] = (int)k;
        end += strspn(end, " ");
    }
    if (count != n)
        return none(f, "expected an index of the axis for each of its places, with blanks between");
    return graph_gather(f->b->g, f->name, x, axis, index);
}

static NodeId add_where(const Formula *f)
{
    NodeId mask = has_args(f, 3) ? first(f) : NO_NODE, yes, no;
    if (mask == NO_NODE || (yes = operand(f, f->arg[1], 0)) == NO_NODE || (no = operand(f, f->arg[2], 1)) == NO_NODE)
        return NO_NODE;
    if (!room_for_both(f, yes, mask))
        return NO_NODE;
    Dims d = dims_union(dims_of(f, yes), dims_of(f, mask));
    if (dims_minus(dims_of(f, no), d).n)
        return none(f, "the last operand has an axis that mask and second lack");
    return gives(f, d) ? graph_where(f->b->g, f->name, mask, yes, no) : NO_NODE;
}

/* The one axis that the declared shape has in place of `axis`. */
static int replaced(const Formula *f, Dims d, int axis)
{
    Dims new = dims_minus(f->d, d);
    if (new.n > 1 || !dims_equal(dims_replace(d, axis, new.n ? new.axis[0] : AXIS_NONE), f->d)) {
        none(f, "the axes must be the operand's, with another one in the place of the axis that is cut or joined");
        return -2;
    }
    return new.n ? new.axis[0] : AXIS_NONE;
}

static NodeId add_slice(const Formula *f)
{
    NodeId x = has_args(f, 3) ? first(f) : NO_NODE;
    int axis = x == NO_NODE ? AXIS_NONE : axis_arg(f, 1, dims_of(f, x)), out;
    if (axis == AXIS_NONE || (out = replaced(f, dims_of(f, x), axis)) == -2)
        return NO_NODE;
    char *end;
    long start = strtol(f->arg[2], &end, 10), length = out == AXIS_NONE ? 1 : f->b->g->axes[out].n;
    if (*end || end == f->arg[2] || start < 0 || start + length > f->b->g->axes[axis].n)
        return none(f, "that part does not lie inside the axis");
    return graph_slice(f->b->g, f->name, x, axis, (int)start, out);
}

static NodeId add_concat(const Formula *f)
{
    NodeId x = has_args(f, 4) ? first(f) : NO_NODE, y = x == NO_NODE ? NO_NODE : operand(f, f->arg[2], 1);
    int ax = y == NO_NODE ? AXIS_NONE : axis_arg(f, 1, dims_of(f, x)), out;
    int ay = ax == AXIS_NONE ? AXIS_NONE : axis_arg(f, 3, dims_of(f, y));
    if (ay == AXIS_NONE || (out = replaced(f, dims_of(f, x), ax)) == -2)
        return NO_NODE;
    const Axis *axes = f->b->g->axes;
    if (out == AXIS_NONE || !dims_equal(dims_replace(dims_of(f, y), ay, out), f->d) ||
        axes[ax].n + axes[ay].n != axes[out].n)
        return none(f, "the joined axis must be as long as both together, all other axes the same");
    return graph_concat(f->b->g, f->name, x, ax, y, ay, out);
}

/* ---- leaves that are made, not written down ---- */

static NodeId made(const Formula *f, const char *origin, float (*cell)(const Formula *f, size_t i, double x, Rng *rng))
{
    char *end;
    double x = f->args ? strtod(f->arg[0], &end) : 0;
    if (f->args && (*end || end == f->arg[0] || !(x >= -1e30 && x <= 1e30)))
        return none(f, "expected a number between the brackets");
    size_t cells = graph_dims_cells(f->b->g, f->d);
    float *data = arena_alloc(&f->b->g->arena, size_mul(cells, sizeof *data));
    Rng rng = rng_seed(x >= 0 ? (uint64_t)x : 0, 11);
    for (size_t i = 0; i < cells; i++)
        data[i] = cell(f, i, x, &rng);
    return graph_leaf(f->b->g, f->name, f->d, (Leaf){LEAF_HOST, data, arena_printf(&f->b->g->arena, "%s", origin)});
}

static float normal_cell(const Formula *f, size_t i, double x, Rng *rng)
{
    (void)f;
    (void)i;
    (void)x;
    return rng_normal(rng);
}
static float band_cell(const Formula *f, size_t i, double x, Rng *rng)
{
    (void)rng;
    size_t cols = (size_t)f->b->g->axes[f->d.axis[1]].n, row = i / cols, col = i % cols;
    return (double)(row > col ? row - col : col - row) <= x ? 1.0f : 0.0f;
}
static float index_cell(const Formula *f, size_t i, double x, Rng *rng)
{
    (void)f;
    (void)rng;
    return (float)((double)i + x);
}
static float fill_cell(const Formula *f, size_t i, double x, Rng *rng)
{
    (void)f;
    (void)i;
    (void)rng;
    return (float)x;
}

static NodeId add_normal(const Formula *f)
{
    return has_args(f, 1) ? made(f, "random numbers of mean 0 and variance 1", normal_cell) : NO_NODE;
}
static NodeId add_band(const Formula *f)
{
    if (!has_args(f, 1) || f->d.n != 2)
        return f->args == 1 ? none(f, "a band has two axes") : NO_NODE;
    return made(f, "1 where row and column are near", band_cell);
}
static NodeId add_index(const Formula *f)
{
    return f->args <= 1 ? made(f, "counted", index_cell) : none(f, "expected index() or index(FIRST)");
}
static NodeId add_fill(const Formula *f)
{
    return has_args(f, 1) ? made(f, "one number everywhere", fill_cell) : NO_NODE;
}

static const struct {
    const char *word;
    NodeId (*add)(const Formula *f);
} FUNCTIONS[] = {{"softmax", add_softmax}, {"normalise", add_norm}, {"sum", add_sum},     {"max", add_max},
                 {"rename", add_rename},   {"gather", add_gather},  {"where", add_where}, {"slice", add_slice},
                 {"concat", add_concat},   {"normal", add_normal},  {"band", add_band},   {"index", add_index},
                 {"fill", add_fill}};

static const char *const MAPS[] = {
#define X(symbol, name, ulp) name,
    MAP_FUNCTIONS(X)
#undef X
};

static const char *function_word(const void *context, int i)
{
    const int functions = sizeof FUNCTIONS / sizeof *FUNCTIONS;
    (void)context;
    return i < functions ? FUNCTIONS[i].word : i < functions + MAP_COUNT ? MAPS[i - functions] : NULL;
}

/* "x, u, 1e-5" into operands. */
static bool split(Formula *f, char *inside)
{
    if (!inside[strspn(inside, " ")])
        return true;
    for (char *p = inside, *comma; p; p = comma) {
        comma = strchr(p, ',');
        if (comma)
            *comma++ = 0;
        p += strspn(p, " ");
        for (size_t n = strlen(p); n && p[n - 1] == ' '; n--)
            p[n - 1] = 0;
        if (f->args == ARGS)
            return building_error(f->b, "%s: too many operands", f->name);
        f->arg[f->args++] = p;
    }
    return true;
}

static bool call(Formula *f, const char *word, char *inside)
{
    if (!split(f, inside))
        return false;
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (strcmp(word, FUNCTIONS[i].word) == 0)
            return FUNCTIONS[i].add(f) != NO_NODE;
    for (int i = 0; i < MAP_COUNT; i++) {
        if (strcmp(word, MAPS[i]) != 0)
            continue;
        NodeId x = has_args(f, 1) ? first(f) : NO_NODE;
        return x != NO_NODE && gives(f, dims_of(f, x)) && graph_map(f->b->g, f->name, (MapFn)i, x) != NO_NODE;
    }
    Buf known = {0};
    names_offer(word, function_word, NULL, &known);
    building_error(f->b, "%s: there is no function '%.20s'%s", f->name, word, buf_str(&known));
    buf_free(&known);
    return false;
}

static bool contract(const Formula *f, NodeId a, NodeId b)
{
    if (!room_for_both(f, a, b))
        return false;
    Dims da = dims_of(f, a), db = dims_of(f, b), all = dims_union(da, db), summed = dims_minus(da, f->d);
    if (dims_minus(f->d, all).n || dims_minus(summed, db).n || dims_minus(dims_minus(db, f->d), da).n)
        return building_error(f->b, "%s: @ sums over axes that both have and the result lacks; these do not fit",
                              f->name);
    if (!building_room(f->b, DIMS_SCALAR, 2 * cells_of(f, f->d) * cells_of(f, summed)))
        return false;
    return graph_contract(f->b->g, f->name, a, b, f->d) != NO_NODE;
}

static bool zip(const Formula *f, Op op, NodeId a, NodeId b)
{
    if (!room_for_both(f, a, b))
        return false;
    Dims all = dims_union(dims_of(f, a), dims_of(f, b));
    return gives(f, all) && graph_zip(f->b->g, f->name, op, a, b) != NO_NODE;
}

bool formula_add(Building *b, const char *name, Dims d, const char *text)
{
    Formula f = {.b = b, .name = name, .d = d};
    char *copy = arena_printf(&b->g->arena, "%s", text);
    for (size_t n = strlen(copy); n && copy[n - 1] == ' '; n--)
        copy[n - 1] = 0;
    if (!building_room(b, d, 0))
        return false;
    char *open = strchr(copy, '('), *sign = NULL;
    if (open) {
        size_t n = strlen(copy);
        if (copy[n - 1] != ')')
            return building_error(b, "%s: expected ) at the end", name);
        copy[n - 1] = *open = 0;
        return call(&f, copy, open + 1);
    }
    for (char *p = copy; *p && !sign; p++)
        if (*p == ' ' && strchr("@+-*/", p[1]) && p[1] && p[2] == ' ')
            sign = p;
    if (!sign)
        return building_error(b, "%s: expected numbers, FUNCTION(…) or X @ Y, X + Y, X - Y, X * Y, X / Y", name);
    char op = sign[1], *right = sign + 3 + strspn(sign + 3, " ");
    *sign = 0;
    NodeId x = operand(&f, copy, 0), y = x == NO_NODE ? NO_NODE : operand(&f, right, 1);
    if (y == NO_NODE)
        return false;
    if (op == '@')
        return contract(&f, x, y);
    return zip(&f, op == '+' ? OP_ADD : op == '-' ? OP_SUB : op == '*' ? OP_MUL : OP_DIV, x, y);
}
