/* An evaluation in double that shares nothing with the engine but where the operands of a cell are. For the tests of
 * gradients. */
#ifndef VITRINE_TESTS_CORE_GRAPH_DOUBLES_H
#define VITRINE_TESTS_CORE_GRAPH_DOUBLES_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/graph/explain.h"

static inline double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static inline double map_double(MapFn f, double x)
{
    switch (f) {
    case MAP_EXP: return exp(x);
    case MAP_LOG: return log(x);
    case MAP_SQRT: return sqrt(x);
    case MAP_RSQRT: return 1 / sqrt(x);
    case MAP_SIGMOID: return logistic(x);
    case MAP_TANH: return tanh(x);
    case MAP_RELU: return x > 0 ? x : 0;
    case MAP_RELU_GRAD: return x > 0;
    case MAP_GELU: return x * 0.5 * erfc(-x * sqrt(0.5));
    case MAP_GELU_TANH: return x * logistic(2 * sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x));
    case MAP_QUICK_GELU: return x * logistic(1.702 * x);
    case MAP_SILU: return x * logistic(x);
    case MAP_XLOGX: return x == 0 ? 0 : x * log(x);
    case MAP_COS: return cos(x);
    case MAP_SIN: return sin(x);
    default: fail_msg("no such map here"); return 0;
    }
}

static inline double term_double(const Graph *g, NodeId n, const Explain *e, double *const *values)
{
    const Node *node = graph_node(g, n);
    double total = node->op == OP_MAX ? -HUGE_VAL : 0;
    for (size_t i = 0; i < e->terms; i++) {
        Term t = explain_term(e, i);
        double x[NODE_INPUTS] = {0};
        for (int k = 0; k < t.operands; k++)
            x[k] = values[t.node[k]][t.cell[k]];
        switch (node->op) {
        case OP_CONTRACT: total += x[0] * x[1]; break;
        case OP_ADD: total = x[0] + x[1]; break;
        case OP_SUB: total = x[0] - x[1]; break;
        case OP_MUL: total = x[0] * x[1]; break;
        case OP_DIV: total = x[0] / x[1]; break;
        case OP_MAP: total = map_double(node->map, x[0]); break;
        case OP_SUM:
        case OP_SCATTER: total += x[0]; break;
        case OP_MAX: total = fmax(total, x[0]); break;
        case OP_WHERE: total = x[0] < 0 || x[0] > 0 ? x[1] : x[2]; break;
        default: total = x[0]; break;
        }
    }
    return total;
}

/* Cells of nodes 0 … y, zeros. */
static inline double **doubles_new(const Graph *g, NodeId y)
{
    double **values = calloc((size_t)y + 1, sizeof *values);
    for (NodeId n = 0; n <= y; n++)
        values[n] = calloc(graph_cells(g, n), sizeof **values);
    return values;
}

static inline void doubles_free(double **values, NodeId y)
{
    for (NodeId n = 0; n <= y; n++)
        free(values[n]);
    free(values);
}

/* Computes node n from those before it. */
static inline void doubles_node(const Graph *g, NodeId n, double **values)
{
    if (graph_node(g, n)->op == OP_LEAF) {
        for (size_t c = 0; c < graph_cells(g, n); c++)
            values[n][c] = (double)leaf_cell(g, graph_node(g, n), c);
        return;
    }
    Explain e = explain_open(g, n, 0);
    for (size_t c = 0; c < graph_cells(g, n); c++) {
        explain_move(&e, c);
        values[n][c] = term_double(g, n, &e, values);
    }
}
#endif
