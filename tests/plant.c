/* Faults that `verify` must find (plant.sh), planted by symbol: the program is linked with --wrap, so that what crosses
 * from one file to another passes here first. $VITRINE_PLANT names the one that is made; none changes a term, so that
 * folding alone calls all equal. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/anatomy.h"
#include "core/models/nn.h"

#define WRAP(type, name, ...)                                                                                          \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

static bool planted(const char *name)
{
    const char *is = getenv("VITRINE_PLANT");
    return is && strcmp(is, name) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);
    return n >= m && strcmp(text + n - m, with) == 0;
}

/* --- maps: y = f(x) with a coefficient that is off --- */

static float bent(MapFn f, float x, float y)
{
    const double rest = (double)x - rint((double)x / 0.6931471805599453) * 0.6931471805599453, b = 0.7978845608028654;
    if (!isfinite(x) || !isfinite(y))
        return y;
    if (f == MAP_EXP && planted("exp"))
        return (float)((double)y * (1 + 0.002 * rest * rest));
    if (f == MAP_EXP && planted("exp3"))
        return (float)((double)y * (1 + 0.00013 * rest * rest * rest * rest));
    if (f == MAP_GELU_TANH && planted("gelu"))
        return (float)(0.5 * (double)x * (1 + tanh(b * (double)x * (1 + 0.0449 * (double)x * (double)x))));
    if (f == MAP_GELU_TANH_GRAD && planted("tail")) {
        const double square = 0.044715 * (double)x * (double)x, t = tanh(b * (double)x * (1 + square));
        return (float)(0.5 * (1 + t) + 0.5 * (double)x * (1 - t * t) * b * (1 + 2.9 * square));
    }
    return y;
}

static void bend(MapFn f, float *y, const float *x, size_t n);
#define BENDING(f)                                                                                                     \
    static void bend_##f(float *y, const float *x, size_t n)                                                           \
    {                                                                                                                  \
        bend(f, y, x, n);                                                                                              \
    }
BENDING(MAP_EXP)
BENDING(MAP_GELU_TANH)
BENDING(MAP_GELU_TANH_GRAD)

WRAP(const Kernels *, kernels, void)
{
    static _Thread_local Kernels table;
    table = *__real_kernels();
    table.map[MAP_EXP] = bend_MAP_EXP;
    table.map[MAP_GELU_TANH] = bend_MAP_GELU_TANH;
    table.map[MAP_GELU_TANH_GRAD] = bend_MAP_GELU_TANH_GRAD;
    return &table;
}

static void bend(MapFn f, float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float was = x[i];
        __real_kernels()->map[f](&y[i], &was, 1);
        y[i] = bent(f, was, y[i]);
    }
}

WRAP(float, map_apply, MapFn f, float x)
{
    return bent(f, x, __real_map_apply(f, x));
}

/* --- the models' graphs --- */

/* The variance divided by n − 1; a quotient's gradient with the other sign. */
WRAP(NodeId, graph_zip, Graph *g, const char *name, Op op, NodeId a, NodeId b)
{
    if (planted("variance") && strcmp(name, "var") == 0)
        b = graph_const(g, "less", DIMS_SCALAR, graph_node(g, b)->leaf.data[0] - 1);
    if (planted("quotient") && ends(name, ".negative") && graph_node(g, a)->op == OP_DIV)
        return a;
    return __real_graph_zip(g, name, op, a, b);
}

/* The slope of 1/√x, −½ x^−3/2, with another factor; that of GELU is SiLU's. */
WRAP(NodeId, graph_const, Graph *g, const char *name, Dims d, float value)
{
    return __real_graph_const(g, name, d, planted("rsqrt") && ends(name, ".slope.factor") ? value / 2 : value);
}
WRAP(NodeId, graph_map, Graph *g, const char *name, MapFn f, NodeId x)
{
    return __real_graph_map(g, name, planted("slope") && f == MAP_GELU_TANH_GRAD ? MAP_SILU_GRAD : f, x);
}

/* Queries get the keys' bias; the decoder looks at what the encoder's first block makes. */
WRAP(NodeId, nn_attention, Graph *g, const NnPlace *at, const NnAttention *a, NodeId x, NodeId memory, int *part)
{
    NnAttention other = *a;
    if (planted("bias"))
        other.b_q = a->b_k;
    const int block = anatomy_next(g, NO_PART, PART_BLOCK);
    if (planted("memory") && memory != x && strcmp(anatomy_part(g, block)->stack, "encoder") == 0)
        memory = site_node(g, block, SITE_BLOCK_OUT);
    return __real_nn_attention(g, at, &other, x, memory, part);
}

/* The MLP reads the block's input instead of the sum behind the attention; a norm forgets the residual stream. */
WRAP(NodeId, nn_norm, Graph *g, const NnPlace *at, const NnNorm *n, NodeId x)
{
    const Node *sum = graph_node(g, x);
    if (sum->op == OP_ADD && planted("order") && ends(at->scope, ".ln2"))
        x = sum->in[0];
    else if (sum->op == OP_ADD && planted("norm"))
        x = sum->in[1];
    return __real_nn_norm(g, at, n, x);
}

/* Positions counted from 1; a causal mask that hides nothing. */
WRAP(void, seq2seq_sinusoids, int first, int rows, int width, float *out)
{
    __real_seq2seq_sinusoids(first + planted("place"), rows, width, out);
}
WRAP(NodeId, graph_leaf_stored, Graph *g, const char *name, Dims d, Leaf leaf, LeafStore store)
{
    if (planted("mask") && store.form == LEAF_BAND)
        store.first = g->axes[d.axis[1]].n;
    return __real_graph_leaf_stored(g, name, d, leaf, store);
}
