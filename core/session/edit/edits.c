#include "core/session/edit/edits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/session/exhibit.h"
#include "core/session/place.h"

/* Every change builds the whole edited graph anew, and every one before it is in it. */
enum { MOST = 200, UNDO_MOST = 1000 };

static void release(EditValues *v)
{
    if (!v || --v->uses)
        return;
    free(v->data);
    free(v);
}

void edit_state_free(EditState *e)
{
    for (int i = 0; i < e->count; i++) {
        free(e->line[i]);
        release(e->values[i]);
    }
    free(e->line);
    free(e->values);
    *e = (EditState){0};
}

void edit_state_add(EditState *e, const char *line)
{
    size_t n = (size_t)e->count + 1;
    e->line = xrealloc(e->line, size_mul(n, sizeof *e->line));
    e->values = xrealloc(e->values, size_mul(n, sizeof *e->values));
    e->line[e->count] = xstrdup(line);
    e->values[e->count++] = NULL;
}

void edit_state_remove(EditState *e, int i)
{
    size_t after = (size_t)(e->count - i - 1);
    free(e->line[i]);
    release(e->values[i]);
    memmove(e->line + i, e->line + i + 1, after * sizeof *e->line);
    memmove(e->values + i, e->values + i + 1, after * sizeof *e->values);
    e->count--;
}

EditState edit_state_copy(const EditState *e)
{
    EditState copy = {0};
    for (int i = 0; i < e->count; i++) {
        edit_state_add(&copy, e->line[i]);
        copy.values[i] = e->values[i];
        if (copy.values[i])
            copy.values[i]->uses++;
    }
    return copy;
}

static void push(EditState **stack, int *count, size_t *cap, EditState state)
{
    if (*count == UNDO_MOST) {
        edit_state_free(&(*stack)[0]);
        memmove(*stack, *stack + 1, (UNDO_MOST - 1) * sizeof **stack);
        --*count;
    }
    *stack = grow(*stack, cap, (size_t)*count, sizeof **stack);
    (*stack)[(*count)++] = state;
}

/* Builds the edited graph of `lines`; nothing changes on failure. */
static bool build(Session *s, const EditState *lines, Err *err)
{
    Arena arena = {0};
    Edit *edits = NULL;
    int count = 0;
    bool ok = edits_parse(s, lines, &arena, &edits, &count, err) &&
              exhibit_edit(s->now, edits, count, &arena, s->pool, err);
    arena_free(&arena);
    if (ok) {
        const Graph *g = s->now->pass.base;
        if (exhibit_cell_gone(g, s->ledger.path, s->ledger.cell))
            s->ledger = (LedgerTarget){.path = ""};
        if (exhibit_cell_gone(g, s->target.path, s->target.cell))
            s->target = (GradTarget){.path = ""};
        exhibit_append(s->now, &s->target, &s->ledger);
        session_changed(s);
    }
    return ok;
}

bool edit_state_same(const EditState *a, const EditState *b)
{
    bool same = a->count == b->count;
    for (int i = 0; i < a->count && same; i++)
        same = strcmp(a->line[i], b->line[i]) == 0 && a->values[i] == b->values[i];
    return same;
}

bool edits_apply(Session *s, const EditState *lines, bool remember, Err *err)
{
    if (!build(s, lines, err))
        return false;
    EditState copy = edit_state_copy(lines);
    if (remember) {
        push(&s->undo, &s->undo_count, &s->undo_cap, s->edits);
        for (int i = 0; i < s->redo_count; i++)
            edit_state_free(&s->redo[i]);
        s->redo_count = 0;
    } else
        edit_state_free(&s->edits);
    s->edits = copy;
    if (!session_compares(s))
        s->compare = COMPARE_OFF;
    return true;
}

bool edits_renew(Session *s, Err *err)
{
    return build(s, &s->edits, err);
}

bool edits_has(const Session *s, const char *line)
{
    for (int i = 0; i < s->edits.count; i++)
        if (strcmp(s->edits.line[i], line) == 0)
            return true;
    return false;
}

static bool begins(const char *line, const char *start)
{
    return strncmp(line, start, strlen(start)) == 0;
}

bool edits_in_force(const Session *s, const char *line)
{
    const bool scale = begins(line, EDIT_SCALE_LINE); /* only what else is set can stand in its way */
    for (int i = s->edits.count - 1; i >= 0; i--)
        if (strcmp(s->edits.line[i], line) == 0)
            return true;
        else if (!scale || begins(s->edits.line[i], "set ") || begins(s->edits.line[i], "patch "))
            return false;
    return false;
}

bool edits_prune(const Session *s, EditState *lines, Err *err)
{
    Arena arena = {0};
    Edit *edits = NULL;
    int count = 0;
    bool ok = edits_parse(s, lines, &arena, &edits, &count, err);
    for (int i = lines->count - 1; ok && i >= 0; i--) {
        bool acts = !begins(lines->line[i], EDIT_SCALE_LINE);
        for (int k = 0; k < count && !acts; k++)
            acts = strcmp(edits[k].origin, lines->line[i]) == 0;
        if (!acts)
            edit_state_remove(lines, i);
    }
    arena_free(&arena);
    return ok;
}

bool edits_add(Session *s, const char *line, bool toggle, Err *err)
{
    if (s->edits.count >= MOST && !(toggle && edits_has(s, line)))
        return err_set(err,
                       "%d changes are in force, and there is no room for more: `undo` or `reset edits` makes some",
                       s->edits.count);
    EditState next = edit_state_copy(&s->edits);
    bool had = false;
    for (int i = next.count - 1; i >= 0; i--)
        if (strcmp(next.line[i], line) == 0) {
            edit_state_remove(&next, i);
            had = true;
        }
    if (!had || !toggle)
        edit_state_add(&next, line);
    /* A key pressed twice leaves nothing to undo: it led back to the state before. */
    bool back = had && toggle && s->undo_count && edit_state_same(&next, &s->undo[s->undo_count - 1]);
    bool ok = back ? edits_undo(s, err)
                   : (!begins(line, EDIT_SCALE_LINE) || edits_prune(s, &next, err)) && edits_apply(s, &next, true, err);
    edit_state_free(&next);
    if (ok && session_edited(s) && s->compare == COMPARE_OFF)
        s->compare = COMPARE_SIDES;
    return ok;
}

static bool take(Session *s, EditState **from, int *from_count, EditState **to, int *to_count, size_t *to_cap, Err *err)
{
    EditState state = (*from)[*from_count - 1];
    if (!build(s, &state, err))
        return false;
    (*from_count)--;
    push(to, to_count, to_cap, s->edits);
    s->edits = state;
    s->compare = !session_compares(s) ? COMPARE_OFF : s->compare == COMPARE_OFF ? COMPARE_SIDES : s->compare;
    return true;
}

bool edits_undo(Session *s, Err *err)
{
    if (!s->undo_count)
        return err_set(err, "there is nothing to undo");
    return take(s, &s->undo, &s->undo_count, &s->redo, &s->redo_count, &s->redo_cap, err);
}

bool edits_redo(Session *s, Err *err)
{
    if (!s->redo_count)
        return err_set(err, "there is nothing to redo");
    return take(s, &s->redo, &s->redo_count, &s->undo, &s->undo_count, &s->undo_cap, err);
}

EditHistory edits_history_take(Session *s)
{
    EditHistory kept = {s->undo, s->redo, s->undo_count, s->redo_count, s->undo_cap, s->redo_cap};
    s->undo = s->redo = NULL;
    s->undo_count = s->redo_count = 0;
    s->undo_cap = s->redo_cap = 0;
    return kept;
}

void edits_history_free(EditHistory *kept)
{
    for (int i = 0; i < kept->undo_count; i++)
        edit_state_free(&kept->undo[i]);
    for (int i = 0; i < kept->redo_count; i++)
        edit_state_free(&kept->redo[i]);
    free(kept->undo);
    free(kept->redo);
    *kept = (EditHistory){0};
}

void edits_history_put(Session *s, EditHistory *kept)
{
    EditHistory old = edits_history_take(s);
    edits_history_free(&old);
    s->undo = kept->undo;
    s->redo = kept->redo;
    s->undo_count = kept->undo_count;
    s->redo_count = kept->redo_count;
    s->undo_cap = kept->undo_cap;
    s->redo_cap = kept->redo_cap;
    *kept = (EditHistory){0};
}
