#include "core/train/descent.h"

#include <math.h> /* sqrtf alone, which every machine rounds alike */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/graph/grad.h"
#include "core/kernels/kernels.h"

/* --- Muon --- */

/* A matrix as it lies: its cell r, k at data[r·row + k·step]. */
typedef struct Laid {
    const float *data;
    size_t row, step;
} Laid;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* to[r,j] = Σ_k a[r,k] · b[j,k], b taken by its rows, in the kernels' order. panel: room for KERNEL_K · KERNEL_COLS. */
static void multiply(float *to, Laid a, Laid b, size_t rows, size_t depth, size_t columns, float *panel)
{
    const Kernels *k = kernels();
    for (size_t j = 0; j < columns; j += KERNEL_COLS) {
        size_t wide = least(columns - j, KERNEL_COLS);
        for (size_t d = 0; d < depth; d += KERNEL_K) {
            size_t deep = least(depth - d, KERNEL_K);
            k->pack(panel, b.data + j * b.row + d * b.step, b.row, b.step, (int)wide, deep);
            for (size_t r = 0; r < rows; r += KERNEL_ROWS) {
                float *cell = to + r * columns + j;
                ContractTile t = {.a = a.data + r * a.row + d * a.step,
                                  .b = panel,
                                  .from = d ? cell : kernel_zeros,
                                  .bias = d + deep == depth ? kernel_no_bias : NULL,
                                  .to = cell,
                                  .a_row = a.row,
                                  .a_k = a.step,
                                  .from_row = d ? columns : 0,
                                  .to_row = columns,
                                  .rows = (int)least(rows - r, KERNEL_ROWS),
                                  .columns = (int)wide,
                                  .depth = (int)deep};
                k->contract(&t);
            }
        }
    }
}

/* One round on x[n,c], n ≤ c: a·x + (b·xxᵀ + c·(xxᵀ)²)·x with the coefficients of the source. */
static void round_of(float *x, size_t n, size_t columns, float *square, float *fourth, float *next, float *panel)
{
    const float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    multiply(square, (Laid){x, columns, 1}, (Laid){x, columns, 1}, n, columns, n, panel);
    multiply(fourth, (Laid){square, n, 1}, (Laid){square, n, 1}, n, n, n, panel); /* xxᵀ is its own transpose */
    for (size_t i = 0; i < n * n; i++)
        square[i] = b * square[i] + c * fourth[i];
    multiply(next, (Laid){square, n, 1}, (Laid){x, 1, columns}, n, n, columns, panel);
    for (size_t i = 0; i < n * columns; i++)
        x[i] = a * x[i] + next[i];
}

static void transpose(float *to, const float *from, size_t rows, size_t columns)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            to[c * rows + r] = from[r * columns + c];
}

void muon_polar(float *x, size_t rows, size_t columns)
{
    enum { ROUNDS = 5 };
    size_t n = least(rows, columns), wide = rows + columns - n, cells = size_mul(rows, columns), small = size_mul(n, n);
    double norm = dm_sqrt(adamw_square_sum(x, cells));
    if (!(norm > 0))
        return;
    float *work = xfloats(size_add(size_mul(2, size_add(cells, small)), (size_t)KERNEL_K * KERNEL_COLS));
    float *flat = work, *next = flat + cells, *square = next + cells, *fourth = square + small, *panel = fourth + small;
    if (rows > columns)
        transpose(flat, x, rows, columns);
    else
        memcpy(flat, x, cells * sizeof *x);
    for (size_t i = 0; i < cells; i++)
        flat[i] = (float)((double)flat[i] / norm);
    for (int i = 0; i < ROUNDS; i++)
        round_of(flat, n, wide, square, fourth, next, panel);
    if (rows > columns)
        transpose(x, flat, columns, rows);
    else
        memcpy(x, flat, cells * sizeof *x);
    free(work);
}

void muon_update(float *w, const float *gradient, float gradient_scale, float *momentum, size_t rows, size_t columns,
                 double mu, double rate, double decay)
{
    size_t cells = size_mul(rows, columns);
    const float keep = (float)mu, take = (float)(1 - mu), shrink = (float)(rate * decay),
                length = (float)(rate * 0.2 * dm_sqrt((double)(rows > columns ? rows : columns)));
    float *step = xfloats(cells);
    for (size_t i = 0; i < cells; i++) {
        float g = take * (gradient[i] * gradient_scale);
        momentum[i] = keep * momentum[i] + g;
        step[i] = keep * momentum[i] + g;
    }
    muon_polar(step, rows, columns);
    for (size_t i = 0; i < cells; i++)
        w[i] -= length * step[i] + shrink * w[i];
    free(step);
}

/* --- weights, gradients and moments of a training --- */

Descent descent_new(float *block, size_t cells, size_t weights, size_t micros)
{
    return (Descent){.block = block,
                     .cells = cells,
                     .weight = xcalloc(weights, sizeof(DescentWeight)),
                     .micros = micros,
                     .micro = xcalloc(size_mul(micros, cells), sizeof(float)),
                     .gradient = xcalloc(cells, sizeof(float)),
                     .first = xcalloc(cells, sizeof(float)),
                     .second = xcalloc(cells, sizeof(float))};
}

void descent_free(Descent *d)
{
    free(d->weight);
    free(d->micro);
    free(d->gradient);
    free(d->first);
    free(d->second);
    *d = (Descent){0};
}

void descent_list(Descent *d, size_t entry, const float *data, size_t cells, double rate, double decay)
{
    d->weight[d->weights++] = (DescentWeight){
        .entry = entry, .first = (size_t)(data - d->block), .cells = cells, .rate = rate, .decay = decay};
}

void descent_matrix(Descent *d, size_t rows)
{
    d->weight[d->weights - 1].rows = rows;
}

NodeId *descent_gradients(Graph *g, NodeId loss, const WeightTensor *tensor, size_t weights)
{
    NodeId count = g->count, *leaf = arena_alloc(&g->arena, size_mul((size_t)count, sizeof *leaf)),
           *table = arena_alloc(&g->arena, size_mul(weights, sizeof *table));
    int leaves = 0;
    for (NodeId n = 0; n < count; n++)
        if (graph_node(g, n)->op == OP_LEAF && graph_node(g, n)->leaf.kind == LEAF_TENSOR)
            leaf[leaves++] = n;
    NodeId seed = grad_seed(g, loss, 0, "grad.");
    const NodeId *gradient = grad_add(g, loss, seed, leaf, leaves, "grad.");
    for (size_t i = 0; i < weights; i++) {
        table[i] = NO_NODE;
        for (int l = 0; l < leaves && tensor[i].data; l++)
            if (graph_node(g, leaf[l])->leaf.data == tensor[i].data)
                table[i] = gradient[leaf[l]];
    }
    return table;
}

int descent_wanted(const Descent *d, const NodeId *table, NodeId *out)
{
    int n = 0;
    for (size_t i = 0; i < d->weights; i++)
        if (table[d->weight[i].entry] != NO_NODE)
            out[n++] = table[d->weight[i].entry];
    return n;
}

void descent_keep(Descent *d, size_t micro, const Plan *p, const NodeId *table)
{
    float *to = d->micro + micro * d->cells;
    for (size_t i = 0; i < d->weights; i++) {
        const DescentWeight *w = &d->weight[i];
        NodeId n = table[w->entry];
        if (n == NO_NODE)
            memset(to + w->first, 0, w->cells * sizeof *to);
        else
            memcpy(to + w->first, plan_values(p, n), w->cells * sizeof *to);
    }
}

static void sum_weight(void *descent, size_t item, int worker)
{
    (void)worker;
    Descent *d = descent;
    DescentWeight *w = &d->weight[item];
    float *sum = d->gradient + w->first;
    memset(sum, 0, w->cells * sizeof *sum);
    for (size_t m = 0; m < d->micros; m++) {
        const float *from = d->micro + m * d->cells + w->first;
        for (size_t i = 0; i < w->cells; i++)
            sum[i] += from[i];
    }
    w->squares = adamw_square_sum(sum, w->cells);
}

double descent_sum(Descent *d, Pool *pool)
{
    double squares = 0;
    pool_run(pool, 0, d->weights, sum_weight, d, CLOCK_NEVER);
    for (size_t i = 0; i < d->weights; i++)
        squares += d->weight[i].squares;
    return dm_sqrt(squares);
}

typedef struct Step {
    Descent *d;
    const AdamW *a;
    double muon;
    float gradient_scale;
} Step;

static void step_weight(void *step, size_t item, int worker)
{
    (void)worker;
    const Step *s = step;
    Descent *d = s->d;
    const DescentWeight *w = &d->weight[item];
    AdamW a = *s->a;
    a.rate *= w->rate;
    a.decay = w->decay;
    if (w->rows && s->muon > 0) {
        muon_update(d->block + w->first, d->gradient + w->first, s->gradient_scale, d->first + w->first, w->rows,
                    w->cells / w->rows, s->muon, a.rate, a.decay);
        return;
    }
    adamw_update(&a, d->block + w->first, d->gradient + w->first, s->gradient_scale, d->first + w->first,
                 d->second + w->first, w->cells);
}

void descent_step(Descent *d, Pool *pool, const AdamW *a, double muon, float gradient_scale)
{
    Step s = {d, a, muon, gradient_scale};
    pool_run(pool, 0, d->weights, step_weight, &s, CLOCK_NEVER);
}

int descent_largest(const float *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}

/* --- AdamW --- */

/* beta^step by repeated multiplication: pow() differs between C libraries. */
static double power(double beta, int step)
{
    double p = 1;
    for (; step > 0; step >>= 1, beta *= beta)
        if (step & 1)
            p *= beta;
    return p;
}

void adamw_update(const AdamW *a, float *w, const float *g, float gradient_scale, float *m, float *v, size_t n)
{
    const float b1 = (float)a->beta1, b2 = (float)a->beta2, c1 = (float)(1 - a->beta1), c2 = (float)(1 - a->beta2);
    const float m_scale = (float)(1 / (1 - power(a->beta1, a->step)));
    const float v_scale = (float)(1 / (1 - power(a->beta2, a->step)));
    const float rate = (float)a->rate, shrink = (float)(a->rate * a->decay), epsilon = (float)a->epsilon;
    for (size_t i = 0; i < n; i++) {
        float x = g[i] * gradient_scale;
        m[i] = b1 * m[i] + c1 * x;
        v[i] = b2 * v[i] + c2 * (x * x);
        float step = m[i] * m_scale / (sqrtf(v[i] * v_scale) + epsilon);
        w[i] -= rate * step + shrink * w[i];
    }
}

double adamw_square_sum(const float *g, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)g[i] * (double)g[i];
    return sum;
}
