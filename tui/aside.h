/* What the reader had on show, set aside while a lesson, a task or a presentation has the session: model, input,
 * changes, place, and what could be undone. */
#ifndef VITRINE_TUI_ASIDE_H
#define VITRINE_TUI_ASIDE_H
#include "core/session/edit/edits.h"

typedef struct Aside {
    char *lines; /* commands that lead back; NULL: nothing is set aside */
    EditHistory history;
    Place back[SESSION_BACK];
    int back_count, edits; /* edits: how many changes are set aside */
} Aside;

/* The commands that lead to what is on show: xmalloc'd. */
char *aside_lines(const Session *s);
void aside_put(Aside *a, Session *s);
/* Back to it, the whole of it or nothing. Nothing is set aside afterwards. */
bool aside_return(Aside *a, Session *s, Err *err);
bool aside_back(Aside *a, Session *s); /* the same; what went wrong is said */
/* The session was not changed meanwhile: the history returns alone. */
void aside_drop(Aside *a, Session *s);
void aside_free(Aside *a);
#endif
