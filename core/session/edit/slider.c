#include "core/session/edit/slider.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session/edit/verbs.h"
#include "core/session/learned/measures.h"

/* The block in focus, else the first; NO_PART in a model without blocks. */
static int block_of(const Session *s)
{
    int block = anatomy_block_of(session_base(s), s->place.path);
    return block == NO_PART ? anatomy_next(session_base(s), NO_PART, PART_BLOCK) : block;
}

/* What follows the factor in the line: "", " at=blocks.1", " at=blocks.1[h=2]". */
static void suffix(const Session *s, char *out, size_t n)
{
    const Graph *g = session_base(s);
    int block = block_of(s), head = graph_role(g, ROLE_HEAD, SEQUENCE_ANY);
    *out = 0;
    if (block == NO_PART || s->look.laboratory.reach == REACH_ALL)
        return;
    if (s->look.laboratory.reach == REACH_BLOCK)
        snprintf(out, n, " at=%s", anatomy_part(g, block)->scope);
    else if (head != AXIS_NONE)
        snprintf(out, n, " at=%s[%s=%d]", anatomy_part(g, block)->scope, g->axes[head].sym, session_head(s));
}

const char *slider_text(const Session *s, char *out, size_t n)
{
    char name[64];
    int block = block_of(s);
    if (block == NO_PART || s->look.laboratory.reach == REACH_ALL) {
        snprintf(out, n, "every block");
        return out;
    }
    edit_block_name(session_base(s), block, name, sizeof name);
    if (s->look.laboratory.reach == REACH_BLOCK)
        snprintf(out, n, "%s", name);
    else
        snprintf(out, n, "%s, head %d", name, session_head(s));
    return out;
}

/* Is it a factor on the scale, of just this reach? *factor is set then. */
static bool is_line(const Session *s, const char *line, float *factor)
{
    static const char START[] = "set scale ";
    char end[SESSION_PATH], *after;
    suffix(s, end, sizeof end);
    if (strncmp(line, START, sizeof START - 1) != 0)
        return false;
    const char *how = line + sizeof START - 1;
    if (strncmp(how, "off", 3) == 0 && strcmp(how + 3, end) == 0) {
        *factor = 1 / session_scale(s);
        return true;
    }
    if (*how != 'x')
        return false;
    *factor = strtof(how + 1, &after);
    return after != how + 1 && strcmp(after, end) == 0;
}

float slider_factor(const Session *s)
{
    float factor, now = 1;
    for (int i = 0; i < s->edits.count; i++)
        if (is_line(s, s->edits.line[i], &factor))
            now = factor;
    return now;
}

int slider_notch(const Session *s)
{
    float factor = slider_factor(s), best = INFINITY;
    int nearest = MEASURES_FACTORS / 2;
    for (int i = 0; factor > 0 && i < MEASURES_FACTORS; i++) {
        float at = measures_factor(s, i), ratio = at > factor ? at / factor : factor / at;
        if (ratio < best) {
            best = ratio;
            nearest = i;
        }
    }
    return factor > 0 ? nearest : 0;
}

static void tell(Session *s, float factor)
{
    char what[64];
    double off = 1 / (double)session_scale(s);
    slider_text(s, what, sizeof what);
    if (factor == 1.0f)
        session_say(s, "The scale of %s is as it was trained.", what);
    else
        session_say(s, "The scale of %s times %.4g%s.", what, (double)factor,
                    fabs((double)factor / off - 1) < 1e-6 ? ": no scale at all" : "");
}

bool slider_set(Session *s, int notch, Err *err)
{
    char line[EDIT_LINE], end[SESSION_PATH];
    float factor = measures_factor(s, notch < 0 ? 0 : notch >= MEASURES_FACTORS ? MEASURES_FACTORS - 1 : notch), old;
    EditState next = edit_state_copy(&s->edits);
    suffix(s, end, sizeof end);
    for (int i = next.count - 1; i >= 0; i--)
        if (is_line(s, next.line[i], &old))
            edit_state_remove(&next, i);
    if (factor == 1 / session_scale(s))
        snprintf(line, sizeof line, "set scale off%s", end);
    else
        snprintf(line, sizeof line, "set scale x%.9g%s", (double)factor, end);
    if (factor != 1.0f)
        edit_state_add(&next, line);
    bool ok = edits_apply(s, &next, true, err);
    edit_state_free(&next);
    if (ok && session_edited(s) && s->compare == COMPARE_OFF)
        s->compare = COMPARE_SIDES;
    if (ok)
        tell(s, factor);
    return ok;
}
