/* Edits as command lines: the reader's list of changes, what it means for the graph, undo and redo. */
#ifndef VITRINE_SESSION_EDIT_EDITS_H
#define VITRINE_SESSION_EDIT_EDITS_H
#include "core/session/session.h"

/* Makes `lines` the edits in force: builds the edited graph. On success the old state goes onto the undo stack (if
 * remember) and the redo stack is emptied. On failure nothing changes. lines are copied. */
bool edits_apply(Session *s, const EditState *lines, bool remember, Err *err);
/* Adds a line (or takes it away where it is in force already and toggle is set). */
bool edits_add(Session *s, const char *line, bool toggle, Err *err);
bool edits_has(const Session *s, const char *line);
/* Is that line in force, and would adding it once more change nothing? */
bool edits_in_force(const Session *s, const char *line);
/* Takes away the `set scale` lines whose every cell a later such line sets: of each place one factor is in force. */
bool edits_prune(const Session *s, EditState *lines, Err *err);
#define EDIT_SCALE_LINE "set scale "
bool edits_undo(Session *s, Err *err);
bool edits_redo(Session *s, Err *err);
/* The reader's history of changes set apart, and put back: while a lesson or a task plays, undo is about its own. */
typedef struct EditHistory {
    EditState *undo, *redo;
    int undo_count, redo_count;
    size_t undo_cap, redo_cap;
} EditHistory;
EditHistory edits_history_take(Session *s);            /* s has none then */
void edits_history_put(Session *s, EditHistory *kept); /* in place of what s has; *kept is empty then */
void edits_history_free(EditHistory *kept);
/* The same lines on another picture: rebuilds the edited graph after the exhibit changed. */
bool edits_renew(Session *s, Err *err);
/* [patches] 0 where a patch is hidden by the edits of that side, else 1; NULL where none is. Dies with the edited
 * graph. After a shuffle behind the hiding the numbers are those of the places before it. */
const float *edits_shown(const Session *s, Side side);
void edit_state_free(EditState *e);
EditState edit_state_copy(const EditState *e);
bool edit_state_same(const EditState *a, const EditState *b); /* the same lines, with the same values */
void edit_state_add(EditState *e, const char *line);
void edit_state_remove(EditState *e, int i);
/* Translates the lines into graph edits; all memory from arena. A `patch` line reads its values once and keeps them in
 * lines->values. */
bool edits_parse(const Session *s, const EditState *lines, Arena *arena, Edit **edits, int *count, Err *err);
#endif
