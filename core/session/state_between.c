/* From one state to another: the lines that lead there. */
#include <string.h>

#include "core/session/options.h"
#include "core/session/state_parts.h"

bool state_edits_between(const EditState *from, const EditState *to, Buf *out)
{
    int same_lines = 0;
    while (same_lines < from->count && same_lines < to->count &&
           strcmp(from->line[same_lines], to->line[same_lines]) == 0)
        same_lines++;
    if (!same_lines && from->count)
        buf_puts(out, "reset edits\n");
    else
        for (int i = from->count; i > same_lines; i--)
            buf_printf(out, "edits drop %d\n", i);
    for (int i = same_lines; i < to->count; i++)
        buf_printf(out, "%s\n", to->line[i]);
    return same_lines != from->count || same_lines != to->count;
}

/* The lines of b that a lacks and that begin so. */
static void lines_between(const Buf *a, const Buf *b, const char *begin, Buf *out)
{
    const char *old = buf_str(a);
    for (const char *p = buf_str(b); *p;) {
        size_t n = strcspn(p, "\n") + 1;
        bool there = strncmp(p, begin, strlen(begin)) != 0;
        for (const char *q = old; *q && !there; q += strcspn(q, "\n") + 1)
            there = strncmp(p, q, n) == 0;
        if (!there)
            buf_add(out, p, n);
        p += n;
    }
}

/* Is A what was on show? */
static bool pinned_was_shown(const StateShot *from, const StateShot *to)
{
    Buf shown = {0};
    buf_add(&shown, from->input.data, from->input.len);
    state_put_edits(&from->edits, &shown);
    bool was = state_same(&shown, &to->pinned);
    buf_free(&shown);
    return was;
}

void state_between(const Session *s, const StateShot *from, const StateShot *to, Buf *out)
{
    bool model = !state_same(&from->model, &to->model), pinned = !state_same(&from->pinned, &to->pinned);
    if (model || (pinned && to->pinned.len && !pinned_was_shown(from, to))) {
        state_put(s, to, STATE_WHOLE | STATE_INPUT | (model ? STATE_MODEL : 0u), out);
        buf_add(out, to->place.data, to->place.len);
        return;
    }
    Buf none = {0};
    bool moved = pinned;
    if (pinned)
        buf_puts(out, to->pinned.len ? "pin\n" : "pin off\n");
    if (!state_same(&from->input, &to->input)) {
        buf_add(out, to->input.data, to->input.len);
        moved = true;
    }
    moved = state_edits_between(&from->edits, &to->edits, out) || moved;
    if (!state_same(&from->gradient, &to->gradient)) {
        buf_add(out, to->gradient.data, to->gradient.len);
        moved = true;
    }
    if (!state_same(&from->ledger, &to->ledger)) {
        buf_add(out, to->ledger.data, to->ledger.len);
        moved = true;
    }
    if (to->compares && (moved || from->compare != to->compare))
        buf_printf(out, "compare %s\n", STATE_COMPARE_WORDS[to->compare]);
    look_write(&from->look, &to->look, out);
    bool boxes = moved || !state_same(&from->boxes, &to->boxes);
    if (boxes) /* on the way a box may have gone and come again, closed */
        lines_between(moved ? &none : &from->boxes, &to->boxes, moved ? "box open " : "", out);
    if (moved)
        lines_between(&from->boxes, &to->boxes, "box close ", out);
    buf_free(&none);
    if (moved || boxes || !state_same(&from->place, &to->place)) /* all of that may move a follower */
        buf_add(out, to->place.data, to->place.len);
}
