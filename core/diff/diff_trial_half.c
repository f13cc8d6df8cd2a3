/* Where a block's output is recorded and nothing inside, a mistake in the attention is seen through the MLP. Token by
 * token y = x + MLP(LN x) can be solved for x, as long as the second half is right; and x, the sum behind the
 * attention, shows what its output does not: which column, which cells, which shares. */
#include <math.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

enum { DEPTH = 16, TURNS = 80 };

/* One row's next x by Anderson's mixing: the combination of the last steps whose remainders all but cancel. */
typedef struct Mixing {
    size_t width;
    int kept;
    float *x[DEPTH + 1], *rest[DEPTH + 1]; /* [rows,width], the newest first */
} Mixing;

/* Solves the kept × kept system a·c = b in place; false where it is singular. */
static bool solve(int n, double a[DEPTH][DEPTH], double b[DEPTH])
{
    for (int k = 0; k < n; k++) {
        if (dm_abs(a[k][k]) < 1e-30)
            return false;
        for (int i = k + 1; i < n; i++) {
            double f = a[i][k] / a[k][k];
            for (int j = k; j < n; j++)
                a[i][j] -= f * a[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return true;
}

static void mix_row(const Mixing *m, size_t row, float *out)
{
    double a[DEPTH][DEPTH] = {{0}}, b[DEPTH] = {0};
    const float *x = m->x[0] + row * m->width, *rest = m->rest[0] + row * m->width;
    for (int i = 0; i < m->kept; i++) {
        const float *p = m->rest[i + 1] + row * m->width;
        for (size_t d = 0; d < m->width; d++)
            b[i] += ((double)rest[d] - (double)p[d]) * (double)rest[d];
        for (int j = 0; j < m->kept; j++) {
            const float *q = m->rest[j + 1] + row * m->width;
            for (size_t d = 0; d < m->width; d++)
                a[i][j] += ((double)rest[d] - (double)p[d]) * ((double)rest[d] - (double)q[d]);
        }
        a[i][i] *= 1 + 1e-10;
    }
    bool mixed = m->kept && solve(m->kept, a, b);
    for (size_t d = 0; d < m->width; d++) {
        double next = (double)x[d] + (double)rest[d];
        for (int i = 0; mixed && i < m->kept; i++) {
            const float *p = m->x[i + 1] + row * m->width, *q = m->rest[i + 1] + row * m->width;
            next -= b[i] * ((double)x[d] + (double)rest[d] - (double)p[d] - (double)q[d]);
        }
        out[d] = (float)next;
    }
}

static void push(float *list[DEPTH + 1])
{
    float *last = list[DEPTH];
    memmove(list + 1, list, DEPTH * sizeof *list);
    list[0] = last;
}

/* The values of `mid` that make the target what was recorded; NULL where they are not found. */
static const float *solve_half(Trial *t, NodeId mid)
{
    const Graph *g = t->s->graph;
    size_t cells = graph_cells(g, mid), rows = cells / (size_t)t->size.width;
    Mixing m = {.width = (size_t)t->size.width};
    double most = 0, worst = HUGE_VAL;
    for (int i = 0; i <= DEPTH; i++) {
        m.x[i] = arena_alloc(&t->arena, size_mul(cells, sizeof *m.x[i]));
        m.rest[i] = arena_alloc(&t->arena, size_mul(cells, sizeof *m.rest[i]));
    }
    for (size_t i = 0; i < cells; i++)
        most = dm_abs((double)t->target->values[i]) > most ? dm_abs((double)t->target->values[i]) : most;
    memcpy(m.x[0], trial_values(t, mid), cells * sizeof *m.x[0]);
    for (int turn = 0; turn < TURNS; turn++) {
        ArenaMark mark = arena_mark(&t->arena);
        trial_begin(t);
        trial_add(t, EDIT_VALUES, graph_node(g, mid)->path)->data = m.x[0];
        const float *y = trial_values_with(t, t->target->node);
        worst = 0;
        for (size_t i = 0; i < cells; i++) {
            m.rest[0][i] = t->target->values[i] - y[i];
            worst = dm_abs((double)m.rest[0][i]) > worst ? dm_abs((double)m.rest[0][i]) : worst;
        }
        arena_rewind(&t->arena, mark);
        if (!(worst < 1e6 * most))
            return NULL;
        if (worst <= 0.02 * t->allowed * most)
            return m.x[0];
        float *next = m.x[DEPTH]; /* the oldest goes */
        for (size_t r = 0; r < rows; r++) {
            float row[4096];
            mix_row(&m, r, row);
            memcpy(next + r * m.width, row, m.width * sizeof *row);
        }
        push(m.x);
        push(m.rest);
        m.kept = m.kept < DEPTH - 1 ? m.kept + 1 : DEPTH - 1;
    }
    return worst <= 0.1 * t->allowed * most ? m.x[0] : NULL;
}

void trial_halved(Trial *t)
{
    static const double AFFORDED = 2e10;
    const Graph *g = t->s->graph;
    const char *path = graph_node(g, t->target->node)->path;
    NodeId mid = trial_beside(t, path, "resid_mid"), z = trial_beside(t, path, "attn.z");
    if (!path_ends(path, "resid_post") || t->size.post_norm || mid == NO_NODE || z == NO_NODE || !t->in[mid] ||
        !t->in[z] || t->size.width > 4096 || TURNS * t->flops > AFFORDED ||
        graph_cells(g, mid) != graph_cells(g, t->target->node))
        return;
    const float *values = solve_half(t, mid);
    if (!values)
        return;
    DiffTensor found = *t->target;
    DiffReference known = *t->r;
    found.node = mid;
    found.values = values;
    found.layout = (DiffLayout){.n = 0};
    const float *ours = trial_values(t, mid);
    Trial half = {.s = t->s,
                  .size = t->size,
                  .r = &known,
                  .o = t->o,
                  .target = &found,
                  .allowed = t->allowed,
                  .allowed_rms = t->allowed_rms,
                  .attempts = t->attempts};
    half.before = half.best = diff_figures(ours, values, graph_cells(g, mid), t->allowed);
    trial_open(&half);
    if (half.before.any) /* else the attention is right */
        trial_all(&half, "the cause before the MLP?");
    if (trial_close(&half)) {
        t->best = half.best;
        t->any = true;
        t->partial = half.partial;
        memcpy(t->text, half.text, sizeof t->text);
        memcpy(t->also, half.also, sizeof t->also);
        t->second = half.second;
        memcpy(t->best_id, half.best_id, sizeof t->best_id);
        t->best_only = half.best_only;
        t->best_outside = half.best_outside;
    } else if (half.before.any)
        diff_where(g, &found, ours, t->allowed, t->where);
    t->attempts = half.attempts;
    t->stopped = half.stopped;
    trial_free(&half);
}
