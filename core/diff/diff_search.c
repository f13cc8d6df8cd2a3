/* The search where no single mistake in the stretch explains it.
 *
 * Two mistakes at once. Every single one that was tried has left what it changed, in some cells of the target. Where
 * two do not get in one another's way, what both change is about the sum of what each does: pairs are tried in the
 * order of what that leaves. Then all are tried on top of the one that came nearest by itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/dmath.h"
#include "core/diff/diff_trial.h"

enum { PAIRS_MOST = 400 };

typedef struct Pair {
    int first, second;
    double left; /* squared, as the sum predicts it */
} Pair;

/* Cell number i of those that are kept. */
static size_t sampled(size_t i, size_t cells)
{
    return cells <= TRIAL_CELLS ? i : i * cells / TRIAL_CELLS;
}

void trial_keep(Trial *t, const float *values, double rms, const char *text)
{
    size_t cells = graph_cells(t->s->graph, t->target->node), n = cells < TRIAL_CELLS ? cells : TRIAL_CELLS;
    if (t->base || t->only || t->fitting || t->single_count == TRIAL_SINGLES)
        return;
    t->single = grow(t->single, &t->single_cap, (size_t)t->single_count, sizeof *t->single);
    Tried *k = &t->single[t->single_count++];
    *k = (Tried){.family = t->family, .count = t->mistake_count, .rms = rms, .made = t->made, .fit = t->fit};
    k->edit = arena_alloc(&t->arena, size_mul((size_t)k->count, sizeof *k->edit));
    memcpy(k->edit, t->mistake, (size_t)k->count * sizeof *k->edit);
    k->values = arena_alloc(&t->arena, n * sizeof *k->values);
    for (size_t i = 0; i < n; i++)
        k->values[i] = values[sampled(i, cells)];
    snprintf(k->text, sizeof k->text, "%s", text);
}

/* Both change the same node: the second would take the first away. */
static bool in_the_way(const Tried *a, const Tried *b)
{
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++)
            if (strcmp(a->edit[i].path, b->edit[k].path) == 0)
                return true;
    return false;
}

/* change[k,n]: what each single mistake changes; wanted[n]: what all changes must come to. Where nothing changes, or so
 * much that it can be no part of it, of[k] is −1. Squares in of. */
static void fill_changes(Trial *t, size_t n, double *change, double *wanted, double *of)
{
    size_t cells = graph_cells(t->s->graph, t->target->node);
    const float *ours = trial_values(t, t->target->node);
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        wanted[i] = (double)t->target->values[sampled(i, cells)] - (double)ours[sampled(i, cells)];
        most += wanted[i] * wanted[i];
    }
    for (int k = 0; k < t->single_count; k++) {
        double *d = change + (size_t)k * n;
        of[k] = 0;
        for (size_t i = 0; i < n; i++) {
            d[i] = (double)t->single[k].values[i] - (double)ours[sampled(i, cells)];
            of[k] += d[i] * d[i];
        }
        if (!(of[k] > 1e-12 * most) || !(of[k] < 1e4 * most))
            of[k] = -1;
    }
}

/* The pairs that leave least, at most `room`, in order. Counts all that were weighed in *weighed. */
static int rank(Trial *t, Pair *out, int room, double *weighed)
{
    size_t cells = graph_cells(t->s->graph, t->target->node), n = cells < TRIAL_CELLS ? cells : TRIAL_CELLS;
    double *change = xcalloc(size_mul((size_t)t->single_count + 1, n), sizeof *change),
           *wanted = xcalloc(n, sizeof *wanted), *of = xcalloc((size_t)t->single_count + 1, sizeof *of);
    int count = 0;
    fill_changes(t, n, change, wanted, of);
    for (int a = 0; a < t->single_count; a++)
        for (int b = 0; b < a; b++) {
            const double *x = change + (size_t)a * n, *y = change + (size_t)b * n;
            double left = 0, worst = count == room ? out[count - 1].left : HUGE_VAL;
            if (of[a] < 0 || of[b] < 0)
                continue;
            ++*weighed;
            for (size_t i = 0; i < n; i++) {
                double d = wanted[i] - x[i] - y[i];
                left += d * d;
                if (i % 16 == 15 && left >= worst)
                    break;
            }
            if (!(left < worst) || in_the_way(&t->single[a], &t->single[b]))
                continue;
            int at = count < room ? count++ : count - 1;
            for (; at > 0 && out[at - 1].left > left; at--)
                out[at] = out[at - 1];
            out[at] = (Pair){b, a, left};
        }
    free(change);
    free(wanted);
    free(of);
    return count;
}

/* Mistake `second` on top of the base: as it was, or, where it took values from the stretch, made anew of what the base
 * makes of them. */
static double attempt_second(Trial *t, const Tried *second)
{
    t->family = second->family;
    if (second->made) {
        ArenaMark mark = arena_mark(&t->arena);
        double before = t->attempts, rms = t->before.rms;
        t->wanted = second->text;
        t->last = rms;
        trial_family(t, second->family);
        t->wanted = NULL;
        arena_rewind(&t->arena, mark);
        return t->attempts > before ? t->last : rms;
    }
    trial_begin(t);
    for (int i = 0; i < second->count; i++)
        *trial_add(t, EDIT_SCALE, NULL) = second->edit[i];
    return trial_attempt(t, "%s", second->text);
}

/* A number beside another mistake. */
typedef struct Beside {
    const Tried *number, *other;
} Beside;

/* …times e^logarithm. */
static double attempt_number(Trial *t, const void *beside, double logarithm)
{
    const Tried *number = ((const Beside *)beside)->number, *other = ((const Beside *)beside)->other;
    Tried moved = *number;
    ArenaMark mark = arena_mark(&t->arena);
    double rms;
    moved.edit = arena_alloc(&t->arena, size_mul((size_t)number->count, sizeof *moved.edit));
    for (int i = 0; i < number->count; i++) {
        moved.edit[i] = number->edit[i];
        moved.edit[i].value = (float)((double)number->edit[i].value * dm_exp(logarithm));
    }
    snprintf(moved.text, sizeof moved.text, "%s%.4g%s", number->fit->before, (double)moved.edit[0].value,
             number->fit->after);
    t->base = other->made ? &moved : other;
    rms = attempt_second(t, other->made ? other : &moved);
    t->base = NULL;
    arena_rewind(&t->arena, mark);
    return rms;
}

/* The number between two that comes nearest beside the other mistake. */
static void attempt_fitted(Trial *t, const Tried *number, const Tried *other, double low, double high)
{
    if (!trial_close(t))
        trial_least(t, low, high, 28, attempt_number, &(Beside){number, other});
}

/* Any number, beside a mistake that is near by itself: the best of a few, then between its neighbours. */
static void attempt_any_number(Trial *t, const Tried *number, const Tried *other)
{
    enum { STEPS = 6 };
    const double step = 0.5;
    int best = 0;
    double least = HUGE_VAL;
    for (int i = -STEPS; i <= STEPS; i++) {
        double rms = attempt_number(t, &(Beside){number, other}, i * step);
        if (rms < least) {
            least = rms;
            best = i;
        }
    }
    attempt_fitted(t, number, other, (best - 1) * step, (best + 1) * step);
}

static double attempt_pair(Trial *t, const Tried *a, const Tried *b)
{
    double rms = t->before.rms;
    for (int turn = 0; turn < 2 && !trial_close(t); turn++) {
        const Tried *base = turn ? b : a, *second = turn ? a : b;
        if (turn && !second->made) /* in either order the same */
            break;
        t->base = base;
        double left = attempt_second(t, second);
        rms = left < rms ? left : rms;
    }
    t->base = NULL;
    return rms;
}

/* Pairs, one of them a number that was fitted as if it were alone: it is fitted again beside the other. */
static void refit(Trial *t, Pair *pair, int count)
{
    enum { REFITS = 8 };
    for (int turn = 0; turn < REFITS && !trial_close(t); turn++) {
        Pair *best = NULL;
        for (int i = 0; i < count; i++)
            if ((t->single[pair[i].first].fit || t->single[pair[i].second].fit) && pair[i].left < t->before.rms / 4 &&
                (!best || pair[i].left < best->left))
                best = &pair[i];
        if (!best)
            return;
        const Tried *a = &t->single[best->first], *b = &t->single[best->second];
        attempt_fitted(t, a->fit ? a : b, a->fit ? b : a, -0.05, 0.05);
        best->left = HUGE_VAL;
    }
}

/* The nearest by themselves, another family each. */
static int nearest(const Trial *t, const Tried *out[TRIAL_BASES])
{
    int count = 0;
    for (; count < TRIAL_BASES; count++) {
        const Tried *best = NULL;
        for (int k = 0; k < t->single_count; k++) {
            bool known = false;
            for (int i = 0; i < count; i++)
                known = known || strcmp(out[i]->family, t->single[k].family) == 0;
            if (!known && (!best || t->single[k].rms < best->rms))
                best = &t->single[k];
        }
        if (!best)
            break;
        out[count] = best;
    }
    return count;
}

/* A number that was fitted alone is wrong by what the other mistake does: every other is tried beside it, and beside
 * those that come nearest it is fitted again. */
static void attempt_beside(Trial *t, const Tried *number)
{
    enum { AGAIN = 3 };
    int best[AGAIN], count = 0;
    double rms[AGAIN];
    for (int k = 0; k < t->single_count && !trial_close(t); k++) {
        if (t->single[k].fit || in_the_way(number, &t->single[k]))
            continue;
        double left = attempt_number(t, &(Beside){number, &t->single[k]}, 0);
        int at = count < AGAIN ? count++ : left < rms[AGAIN - 1] ? AGAIN - 1 : -1;
        for (; at > 0 && left < rms[at - 1]; at--) {
            rms[at] = rms[at - 1];
            best[at] = best[at - 1];
        }
        if (at >= 0) {
            rms[at] = left;
            best[at] = k;
        }
    }
    for (int i = 0; i < count && !trial_close(t); i++)
        attempt_fitted(t, number, &t->single[best[i]], -0.7, 0.7);
}

void trial_pairs(Trial *t, double afforded)
{
    static const char WHAT[] = "two mistakes at once?";
    static const double WORTH = 0.75; /* of the error, what the first of two may leave by itself */
    const Tried *base[TRIAL_BASES];
    double singles = t->attempts, room = afforded / (t->flops + 1), weighed = 0;
    Pair *pair = xcalloc(PAIRS_MOST, sizeof *pair);
    int most = room < PAIRS_MOST ? (int)room : PAIRS_MOST, count = rank(t, pair, most, &weighed);
    t->attempts += weighed; /* each might have been right by luck */
    for (int i = 0; i < count && !trial_close(t); i++) {
        if (!trial_going(t, WHAT, (double)i / count))
            break;
        pair[i].left = attempt_pair(t, &t->single[pair[i].first], &t->single[pair[i].second]);
    }
    refit(t, pair, count);
    free(pair);
    if (!trial_close(t)) /* both are what other programs' ports are made with */
        trial_settings_beside(t, "tiled");
    int bases = trial_close(t) ? 0 : nearest(t, base);
    if (bases && trial_long(t) && base[0]->rms >= WORTH * t->before.rms) { /* half a minute, for hardly a hope */
        t->unpaired = true;
        bases = 0;
    }
    for (int i = 0; i < bases && i < (room / singles < 1 ? 1 : room / singles) && !trial_close(t); i++) {
        for (int k = 0; k < t->number_count && base[i]->rms < t->before.rms / 2; k++)
            if (!base[i]->fit && !in_the_way(&t->number[k], base[i]))
                attempt_any_number(t, &t->number[k], base[i]);
        if (base[i]->fit) {
            attempt_beside(t, base[i]);
            continue;
        }
        t->base = base[i];
        if (!trial_close(t))
            trial_all(t, WHAT);
        t->base = NULL;
    }
}

/* --- half a block --- */

/* Where a block's output is recorded and nothing inside, a mistake in the attention is seen through the MLP. Token by
 * token y = x + MLP(LN x) can be solved for x, as long as the second half is right; and x, the sum behind the
 * attention, shows what its output does not: which column, which cells, which shares. */
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
