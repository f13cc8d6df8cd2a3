/* Two mistakes at once. Every single one that was tried has left what it changed, in some cells of the target. Where
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
    int bases = nearest(t, base);
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
