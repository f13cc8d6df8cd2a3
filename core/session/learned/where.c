#include "core/session/learned/where.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/session/learned/gradient.h"

const char *where_word(WhereMethod m)
{
    static const char *const WORDS[WHERE_METHODS] = {"rollout", "attention", "gradient", "occlusion"};
    return WORDS[m];
}

const char *where_path(const Session *s, WhereMethod m)
{
    static const char *const PATHS[WHERE_METHODS] = {"rollout.patches", "where.attention_mean", "where.gradient",
                                                     "where.answer"};
    return m == WHERE_ATTENTION && s->look.one_head ? "where.attention" : PATHS[m];
}

const char *where_mass_path(const Session *s, WhereMethod m)
{
    static const char *const PATHS[WHERE_METHODS] = {"where.rollout_mass", "where.mean_mass", "where.gradient_mass",
                                                     NULL};
    return m == WHERE_ATTENTION && s->look.one_head ? "where.head_mass" : PATHS[m];
}

const Measure *where_occlusion(const Session *s, Side side, const char **why)
{
    *why = NULL;
    if (side == SIDE_DIFF || (side == SIDE_A && session_compares(s))) {
        *why = side == SIDE_A ? "measured for B only" : "measured for B only, not for a difference";
        return NULL;
    }
    return session_measure(s, MEASURE_OCCLUSION, why);
}

float where_drop(const Measure *m, int patch)
{
    return m->base - m->value[patch];
}

bool where_drop_mass(const Measure *m, const float *object, float *mass)
{
    double on = 0, all = 0;
    if (!object || m->done < m->total)
        return false;
    for (int i = 0; i < m->rows * m->cols; i++) {
        float drop = where_drop(m, i);
        if (!(drop > 0))
            continue;
        all += (double)drop;
        on += object[i] != 0.0f ? (double)drop : 0;
    }
    *mass = all > 0 ? (float)(on / all) : 0;
    return all > 0;
}

bool where_go(Session *s, WhereMethod m, Err *err)
{
    s->look.method = (int)m;
    if (!gradient_answer(s, err))
        return false;
    const char *path = where_path(s, m);
    if (session_node(s, SIDE_B, path) == NO_NODE)
        path = where_path(s, WHERE_ROLLOUT);
    if (s->place.screen != SCREEN_WHERE)
        return session_go(s, path, SCREEN_WHERE, err);
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    s->changes++;
    return true;
}
