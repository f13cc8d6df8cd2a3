/* Principal components of the rows of a matrix (Pearson 1901), in double with + − × ÷ and sqrt only: the same bits on
 * every machine. The covariance, or the smaller matrix of the rows' dot products, is brought to three diagonals by
 * reflections (Householder 1958); bisection finds its largest eigenvalues, inverse iteration their vectors. In steps,
 * so that a screen stays alive.
 * Of the patch projection, whose filters are small patches of pixels, they are pictures too: the directions in which
 * the filters differ most (Dosovitskiy et al. 2021, figure 7). */
#include <float.h>
#include <math.h>

#include "core/base/clock.h"
#include "core/base/dmath.h"
#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/base/rng.h"
#include "core/models/probe_parts.h"

typedef enum Stage { MEAN, PRODUCTS, SCALE, REFLECT, VECTORS, DONE } Stage;

enum { LANES = 4, BISECTIONS = 80, ITERATIONS = 4 };

/* Four sums side by side, added at the end: one chain would wait for every addition. */
static double dot(const double *a, const double *b, int n)
{
    double sum[LANES] = {0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += a[i + l] * b[i + l];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* y += f·x */
static void add_times(double *y, double f, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += f * x[i];
}

static double *matrix_row(double *m, int row, int cols)
{
    return m + (size_t)row * (size_t)cols;
}

int components_count(size_t rows, size_t cols)
{
    size_t side = rows < cols ? rows : cols, most = rows - 1 < cols ? rows - 1 : cols;
    if (rows < 2 || side > COMPONENTS_SIDE || rows > INT32_MAX || cols > INT32_MAX)
        return 0;
    return most < COMPONENTS_MAX ? (int)most : COMPONENTS_MAX;
}

static double *room(Arena *arena, int rows, int cols)
{
    return arena_alloc(arena, size_mul(size_mul((size_t)rows, (size_t)cols), sizeof(double)));
}

void components_init(Components *p, Arena *arena, const float *x, int rows, int cols, float *out)
{
    int count = components_count((size_t)rows, (size_t)cols), n = rows < cols ? rows : cols;
    REQUIRE(count > 0);
    *p = (Components){.x = x, .out = out, .rows = rows, .cols = cols, .count = count, .n = n, .stage = MEAN};
    p->mean = room(arena, 1, cols);
    p->row = room(arena, 1, cols);
    p->a = room(arena, n, n);
    p->diagonal = room(arena, 1, n);
    p->beside = room(arena, 1, n);
    p->reflect = room(arena, 1, n);
    p->small = room(arena, count, n);
    p->large = room(arena, count, cols);
    p->work = room(arena, 6, n);
}

/* Row i less the mean of all rows. */
static const double *centred_row(const Components *p, int i, double *to)
{
    const float *x = p->x + (size_t)i * (size_t)p->cols;
    for (int k = 0; k < p->cols; k++)
        to[k] = (double)x[k] - p->mean[k];
    return to;
}

static bool add_to_mean(Components *p)
{
    const float *x = p->x + (size_t)p->at * (size_t)p->cols;
    for (int k = 0; k < p->cols; k++)
        p->mean[k] += (double)x[k] / (double)p->rows;
    return ++p->at == p->rows;
}

/* More rows than columns: Σ over rows of xᵀx, the covariance but for a factor. Else x xᵀ, whose vectors lead to the
 * same components. */
static bool add_products(Components *p)
{
    const double *x = centred_row(p, p->at, p->row);
    if (p->rows >= p->cols) {
        for (int i = 0; i < p->n; i++)
            add_times(matrix_row(p->a, i, p->n), x[i], x, p->n);
        return ++p->at == p->rows;
    }
    for (int j = 0; j <= p->at; j++) {
        const float *y = p->x + (size_t)j * (size_t)p->cols;
        double sum[LANES] = {0};
        for (int k = 0; k < p->cols; k++)
            sum[k % LANES] += x[k] * ((double)y[k] - p->mean[k]);
        double product = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        matrix_row(p->a, p->at, p->n)[j] = matrix_row(p->a, j, p->n)[p->at] = product;
    }
    return ++p->at == p->rows;
}

/* The matrix divided by its largest number, so that the steps behind need no care for overflow. False where there is
 * nothing to find: no variance, or numbers that are not finite; out is filled then. */
static bool scale_matrix(Components *p)
{
    size_t cells = (size_t)p->n * (size_t)p->n;
    double largest = 0;
    bool finite = true;
    for (size_t i = 0; i < cells; i++) {
        finite = finite && isfinite(p->a[i]);
        largest = dm_abs(p->a[i]) > largest ? dm_abs(p->a[i]) : largest;
    }
    if (finite && largest >= DBL_MIN) {
        for (size_t i = 0; i < cells; i++)
            p->a[i] /= largest;
        return true;
    }
    for (int k = 0; k < p->count; k++)
        for (int i = 0; i < p->cols; i++)
            p->out[(size_t)k * (size_t)p->cols + (size_t)i] = !finite ? NAN : i == k ? 1.0f : 0.0f;
    return false;
}

/* I − f v vᵀ on both sides makes column `at` zero below its second diagonal. v takes the column's place in row `at`. */
static bool reflect_column(Components *p)
{
    int k = p->at, m = p->n - k - 1;
    double *column = matrix_row(p->a, k, p->n);
    p->diagonal[k] = column[k];
    if (m < 1)
        return true;
    double *v = column + k + 1, size = dm_sqrt(dot(v, v, m)), *w = p->work;
    p->beside[k] = v[0] > 0 ? -size : size;
    v[0] -= p->beside[k];
    double length = dot(v, v, m), f = length > 0 ? 2 / length : 0;
    p->reflect[k] = f;
    for (int i = 0; i < m; i++)
        w[i] = f * dot(matrix_row(p->a, k + 1 + i, p->n) + k + 1, v, m);
    add_times(w, -f / 2 * dot(w, v, m), v, m);
    for (int i = 0; i < m; i++) {
        double *row = matrix_row(p->a, k + 1 + i, p->n) + k + 1;
        add_times(row, -v[i], w, m);
        add_times(row, -w[i], v, m);
    }
    p->at++;
    return false;
}

/* How many eigenvalues lie below x: the sign changes of a Sturm sequence. */
static int count_below(const Components *p, double x)
{
    int below = 0;
    double q = 1;
    for (int i = 0; i < p->n; i++) {
        double b = i ? p->beside[i - 1] : 0;
        q = p->diagonal[i] - x - (i ? b * b / q : 0);
        q = q == 0 ? DBL_EPSILON * DBL_EPSILON : q;
        below += q < 0;
    }
    return below;
}

/* The eigenvalue that `above` others exceed. */
static double eigenvalue(const Components *p, int above)
{
    double low = 0, high = 0;
    for (int i = 0; i < p->n; i++) {
        double reach = (i ? dm_abs(p->beside[i - 1]) : 0) + (i + 1 < p->n ? dm_abs(p->beside[i]) : 0);
        low = p->diagonal[i] - reach < low ? p->diagonal[i] - reach : low;
        high = p->diagonal[i] + reach > high ? p->diagonal[i] + reach : high;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = low + (high - low) / 2;
        if (count_below(p, middle) >= p->n - above)
            high = middle;
        else
            low = middle;
    }
    return low + (high - low) / 2;
}

/* y = (T − λ)⁻¹ y for the three diagonals T: elimination with exchange of rows. */
static void solve(const Components *p, double lambda, double *y)
{
    int n = p->n;
    double *d = p->work, *u = p->work + n, *u2 = p->work + 2 * (size_t)n;
    for (int i = 0; i < n; i++) {
        d[i] = p->diagonal[i] - lambda;
        u[i] = i + 1 < n ? p->beside[i] : 0;
        u2[i] = 0;
    }
    for (int i = 0; i + 1 < n; i++) {
        double below = p->beside[i];
        if (dm_abs(below) > dm_abs(d[i])) { /* row i + 1 is (below, d, u), row i (d, u, u2 = 0) */
            double f = d[i] / below, next = d[i + 1], after = u[i + 1], t = y[i];
            d[i] = below;
            d[i + 1] = u[i] - f * next;
            u[i] = next;
            u2[i] = after;
            u[i + 1] = -f * after;
            y[i] = y[i + 1];
            y[i + 1] = t - f * y[i];
        } else {
            d[i] = d[i] == 0 ? DBL_EPSILON : d[i];
            double f = below / d[i];
            d[i + 1] -= f * u[i];
            y[i + 1] -= f * y[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double rest = y[i] - (i + 1 < n ? u[i] * y[i + 1] : 0) - (i + 2 < n ? u2[i] * y[i + 2] : 0);
        y[i] = rest / (dm_abs(d[i]) < DBL_EPSILON ? DBL_EPSILON : d[i]);
    }
}

/* Makes v[n] a unit vector at right angles to the `before` rows of m; a vector of a basis where nothing is left of it.
 */
static void orthonormalise(double *v, double *m, int before, int n)
{
    double size = dm_sqrt(dot(v, v, n));
    for (int spare = 0;; spare++) {
        for (int i = 0; i < n; i++)
            v[i] = size > 0 ? v[i] / size : i == spare % n ? 1 : 0;
        for (int again = 0; again < 2; again++)
            for (int k = 0; k < before; k++)
                add_times(v, -dot(v, matrix_row(m, k, n), n), matrix_row(m, k, n), n);
        double left = dm_sqrt(dot(v, v, n));
        if (left > 0x1p-20 || spare > n) {
            for (int i = 0; i < n; i++)
                v[i] /= left;
            return;
        }
        size = 0;
    }
}

/* From the basis of the three diagonals to that of the columns of x. */
static void carry_back(Components *p, int k)
{
    double *y = p->work + 4 * (size_t)p->n, *to = matrix_row(p->large, k, p->cols);
    const double *from = matrix_row(p->small, k, p->n);
    for (int i = 0; i < p->n; i++)
        y[i] = from[i];
    for (int c = p->n - 2; c >= 0; c--) {
        const double *v = matrix_row(p->a, c, p->n) + c + 1;
        add_times(y + c + 1, -p->reflect[c] * dot(v, y + c + 1, p->n - c - 1), v, p->n - c - 1);
    }
    for (int i = 0; i < p->cols; i++)
        to[i] = p->rows >= p->cols ? y[i] : 0;
    for (int i = 0; i < p->rows && p->rows < p->cols; i++)
        add_times(to, y[i], centred_row(p, i, p->row), p->cols);
    orthonormalise(to, p->large, k, p->cols);
}

static void store(const Components *p, int k)
{
    const double *v = p->large + (size_t)k * (size_t)p->cols;
    int largest = 0;
    for (int i = 1; i < p->cols; i++)
        largest = dm_abs(v[i]) > dm_abs(v[largest]) ? i : largest;
    for (int i = 0; i < p->cols; i++)
        p->out[(size_t)k * (size_t)p->cols + (size_t)i] = (float)(v[largest] < 0 ? -v[i] : v[i]);
}

static bool find_vector(Components *p)
{
    int k = p->at;
    double lambda = eigenvalue(p, k), *y = matrix_row(p->small, k, p->n);
    Rng rng = rng_seed(1, (uint64_t)k);
    for (int i = 0; i < p->n; i++)
        y[i] = 1 + (double)rng_unit(&rng);
    for (int i = 0; i < ITERATIONS; i++) {
        solve(p, lambda, y);
        orthonormalise(y, p->small, k, p->n);
    }
    carry_back(p, k);
    store(p, k);
    return ++p->at == p->count;
}

/* One step; true when its stage is through. */
static bool step(Components *p)
{
    switch ((Stage)p->stage) {
    case MEAN: return add_to_mean(p);
    case PRODUCTS: return add_products(p);
    case SCALE:
        if (!scale_matrix(p))
            p->stage = VECTORS; /* nothing to find: the last stage is through */
        return true;
    case REFLECT: return reflect_column(p);
    case VECTORS: return find_vector(p);
    case DONE: break;
    }
    return true;
}

bool components_make(Components *p, int64_t deadline_ns)
{
    while (p->stage != DONE) {
        if (step(p)) {
            p->stage++;
            p->at = 0;
        }
        if (p->stage != DONE && clock_ns() >= deadline_ns)
            return false;
    }
    return true;
}

/* --- of the patch projection: every filter is a small patch of pixels, and so are their principal components --- */

typedef struct Search {
    LeafMaker maker;
    Components components;
} Search;

static bool make_components(void *context, int64_t deadline_ns)
{
    return components_make(context, deadline_ns);
}

static NodeId component_leaf(Probes *b, const float *filters, int k, Dims tile)
{
    Graph *g = b->g;
    int pixels = b->c->channels * b->c->patch_h * b->c->patch_w;
    size_t count = (size_t)g->axes[k].n;
    Search *s = arena_alloc(&g->arena, sizeof *s);
    float *out = arena_alloc(&g->arena, size_mul(size_mul(count, (size_t)pixels), sizeof *out));
    components_init(&s->components, &g->arena, filters, b->c->width, pixels, out);
    s->maker = (LeafMaker){.make = make_components, .context = &s->components};
    Dims dims = DIMS_SCALAR;
    dims.axis[dims.n++] = k;
    for (int i = 0; i < tile.n; i++)
        dims.axis[dims.n++] = tile.axis[i];
    NodeId n = graph_leaf(g, "components", dims, (Leaf){LEAF_HOST, out, "principal components of the filters"});
    graph_fill_later(g, n, &s->maker);
    return n;
}

/* Unit vectors at right angles have products 1 with themselves and 0 with each other: the largest difference from that.
 */
static void right_angles(Probes *b, NodeId components, NodeId seen, int k, int k0)
{
    Graph *g = b->g;
    int n = g->axes[k].n;
    float *unit = arena_alloc(&g->arena, size_mul(size_mul((size_t)n, (size_t)n), sizeof *unit));
    for (int i = 0; i < n; i++)
        unit[i * n + i] = 1;
    NodeId products = graph_contract(g, "products", components, seen, DIMS(k, k0));
    NodeId wanted = graph_leaf(g, "unit", DIMS(k, k0),
                               (Leaf){LEAF_CONST, unit, "1 for a component and itself, 0 for two"});
    NodeId error = graph_zip(g, "error", OP_SUB, products, wanted);
    NodeId worst = graph_reduce(g, "error_sq_max", OP_MAX, graph_zip(g, "error_sq", OP_MUL, error, error), DIMS_SCALAR);
    graph_map(g, "error_max", MAP_SQRT, worst);
}

void probe_filters(Probes *b)
{
    Graph *g = b->g;
    NodeId weight = graph_find(g, "patch_embed.weight");
    size_t pixels = size_mul(size_mul((size_t)b->c->channels, (size_t)b->c->patch_h), (size_t)b->c->patch_w);
    int d = b->axis.d, count = components_count((size_t)b->c->width, pixels);
    Dims tile = DIMS(b->axis.c, b->axis.i, b->axis.j);
    graph_scope(g, "patch_embed.probe");
    NodeId filters = graph_view(g, "filters", weight, graph_node(g, weight)->dims);
    if (count == 0)
        return;
    int k = graph_axis(g, (Axis){.sym = "k", .name = "principal component", .n = count, .role = ROLE_COMPONENT});
    int k0 = graph_axis(g, (Axis){.sym = "k0", .name = "component compared with", .n = count, .role = ROLE_COMPONENT});
    NodeId width = graph_const(g, "width", DIMS_SCALAR, (float)b->c->width);
    NodeId centred = probe_passing(g, graph_zip(g, "centred", OP_SUB, filters,
                                                probe_mean(g, "mean", filters, tile, width)));
    NodeId components = component_leaf(b, graph_node(g, weight)->leaf.data, k, tile);
    Dims other = dims_replace(graph_node(g, components)->dims, k, k0);
    NodeId seen = graph_view(g, "components_seen", components, other);
    NodeId projection = graph_contract(g, "projection", centred, components, DIMS(d, k));
    NodeId sq = probe_passing(g, graph_zip(g, "projection_sq", OP_MUL, projection, projection));
    NodeId sum = graph_reduce(g, "variance_sum", OP_SUM, sq, DIMS(k));
    graph_map(g, "singular", MAP_SQRT, sum);
    NodeId variance = graph_zip(g, "variance", OP_DIV, sum, width);
    NodeId all = probe_mean(g, "total", probe_passing(g, graph_zip(g, "centred_sq", OP_MUL, centred, centred)),
                            DIMS_SCALAR, width);
    graph_zip(g, "explained", OP_DIV, variance, all);
    NodeId projected = graph_view(g, "projection_seen", projection, DIMS(d, k0));
    graph_zip(g, "covariance", OP_DIV, graph_contract(g, "covariance_sum", projection, projected, DIMS(k, k0)), width);
    right_angles(b, components, seen, k, k0);
}
