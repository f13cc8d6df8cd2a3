/* Tasks: what people want to do, in their words (tasks.def). A task says what it will change before it does. One that
 * shows something starts clean: the reader's own picture, edits, place and history are set apart and come back when the
 * task ends. Holds no terminal. */
#ifndef VITRINE_TUI_TASK_H
#define VITRINE_TUI_TASK_H
#include "core/session/command.h"
#include "tui/aside.h"

typedef enum TaskOnly { TASK_ANY, TASK_PICTURES, TASK_WORDS } TaskOnly;

typedef struct TaskSpec {
    const char *text, *changes, *command;
    const char *words, *words_changes, *words_command; /* of a model that reads words, where they differ; or NULL */
    const char *asks; /* said when it has begun: what to type, what to look at; or NULL */
    bool clean, root; /* root: only where scores have the factor 1/√d_k */
    TaskOnly only;
} TaskSpec;

/* The one that is on, and what comes back when it ends. */
typedef struct Task {
    char text[120]; /* what it is called; "": none is on */
    Aside own;
} Task;

/* Name of the i-th task that this model allows, NULL past the end. text, changes: its two lines, appended. */
const char *task_at(const Session *s, const Task *on, int i, Buf *text, Buf *changes);
/* Runs a task; what the reader has stays set apart where a clean one is on already. False: nothing has changed. */
bool task_begin(Task *t, Session *s, const Commands *c, const char *name, Err *err);
/* What the reader had comes back. False, with the reason, where it cannot; the task is over all the same. */
bool task_end(Task *t, Session *s, Err *err);
bool task_on(const Task *t);
void task_free(Task *t);
#endif
