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

const char *where_path(const Session *s, Side side, WhereMethod m)
{
    static const Site SITES[WHERE_METHODS] = {SITE_ROLLOUT_PATCHES, SITE_WHERE_ATTENTION_MEAN, SITE_WHERE_GRADIENT,
                                              SITE_WHERE_ANSWER};
    bool head = m == WHERE_ATTENTION && s->look.where.one_head;
    return site_path_any(session_graph(s, side), head ? SITE_WHERE_ATTENTION : SITES[m]);
}

const char *where_mass_path(const Session *s, Side side, WhereMethod m)
{
    static const Site SITES[WHERE_OCCLUSION] = {SITE_WHERE_ROLLOUT_MASS, SITE_WHERE_MEAN_MASS,
                                                SITE_WHERE_GRADIENT_MASS};
    if (m >= WHERE_OCCLUSION)
        return NULL;
    bool head = m == WHERE_ATTENTION && s->look.where.one_head;
    return site_path_any(session_graph(s, side), head ? SITE_WHERE_HEAD_MASS : SITES[m]);
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
    s->look.where.method = (int)m;
    if (!gradient_answer(s, err))
        return false;
    const char *path = where_path(s, SIDE_B, m);
    if (!path || session_node(s, SIDE_B, path) == NO_NODE)
        path = where_path(s, SIDE_B, WHERE_ROLLOUT);
    if (!path || session_node(s, SIDE_B, path) == NO_NODE)
        return err_set(err, "this model looks at no picture; `view sentence` draws which words look at which, `lens` "
                            "what each block would answer");
    if (s->place.screen != SCREEN_WHERE)
        return session_go(s, path, SCREEN_WHERE, err);
    snprintf(s->place.path, sizeof s->place.path, "%s", path);
    s->changes++;
    return true;
}
