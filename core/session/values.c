#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/session/ask/explained.h"
#include "core/session/difference.h"
#include "core/session/exhibit.h"
#include "core/session/learned/measures.h"
#include "core/session/session.h"

const float *session_peek(const Session *s, Side side, const char *path)
{
    NodeId n = session_node(s, side, path);
    if (n == NO_NODE)
        return NULL;
    return side == SIDE_DIFF ? difference_peek(s, path) : run_peek(session_run(s, side), n);
}

static bool step_one(Session *s, Side side, const char *path, int64_t deadline)
{
    NodeId n = session_node(s, side, path);
    if (n == NO_NODE)
        return true; /* absent here: the view says so */
    return side == SIDE_DIFF ? difference_step(s, path, deadline) : run_step(session_run(s, side), n, deadline);
}

bool session_step_pass(Session *s, const Need *needs, int count, int64_t deadline_ns)
{
    for (int i = 0; i < count; i++)
        if (!step_one(s, needs[i].side, needs[i].path, deadline_ns))
            return false;
    for (int i = 0; i < count; i++)
        explained_make(s, &needs[i]);
    if (clock_ns() >= deadline_ns && session_busy(s))
        return false;
    return run_step_all(session_run(s, SIDE_B), deadline_ns) && run_step_all(session_run(s, SIDE_A), deadline_ns);
}

bool session_step(Session *s, const Need *needs, int count, int64_t deadline_ns)
{
    return session_step_pass(s, needs, count, deadline_ns) && measures_step(s, deadline_ns);
}

const float *session_need(Session *s, Side side, const char *path, Err *err)
{
    if (session_node(s, side, path) == NO_NODE) {
        char why[SESSION_WHY];
        bool differs = side == SIDE_DIFF && session_node(s, SIDE_B, path) != NO_NODE;
        if (differs)
            err_set(err, "there is no A − B of %s: %s", path, session_diff_why(s, path, why));
        else
            err_set(err, "there is no node '%s' here", path);
        return NULL;
    }
    int64_t slice = 100000000;
    while (!step_one(s, side, path, clock_ns() + slice))
        if (s->progress && !s->progress(s->progress_context, path, session_progress_share(s))) {
            err_set(err, "cancelled");
            return NULL;
        }
    return session_peek(s, side, path);
}

void session_trim(Session *s)
{
    for (int i = 0; i < s->exhibit_count; i++) /* a run trims those that it shares values with too */
        for (int k = 0; k < s->exhibits[i]->pass_count; k++)
            run_trim(s->exhibits[i]->passes[k].base_run);
    difference_trim(s);
}

bool session_again(const Session *s, double *share)
{
    double a = run_share(session_run(s, SIDE_A)), b = run_share(session_run(s, SIDE_B));
    *share = a < b ? a : b;
    return !session_busy(s) && *share < 1;
}

size_t session_held(const Session *s, size_t *most)
{
    size_t held = difference_bytes(s);
    *most = 0;
    for (int i = 0; i < s->exhibit_count; i++)
        for (int k = 0; k < s->exhibits[i]->pass_count; k++) {
            const Forward *p = &s->exhibits[i]->passes[k];
            held += run_bytes(p->base_run) + (p->edited_run ? run_bytes(p->edited_run) : 0);
            *most += run_peak_bytes(p->base_run);
        }
    return held;
}

bool session_busy(const Session *s)
{
    return !run_complete(session_run(s, SIDE_B)) || !run_complete(session_run(s, SIDE_A));
}

double session_progress_share(const Session *s)
{
    double a = run_progress(session_run(s, SIDE_A)), b = run_progress(session_run(s, SIDE_B));
    return a < b ? a : b;
}
