/* The one line of a close-up that says in numbers what the cursor is on. */
#ifndef VITRINE_TUI_VIEWS_EXPLAIN_CLOSEUP_TERM_H
#define VITRINE_TUI_VIEWS_EXPLAIN_CLOSEUP_TERM_H
#include "core/session/ask/closeup.h"
#include "tui/views/view.h"

/* Cell i of a line; of products and running sums, which are no node's, none. */
Ref closeup_ref(const Closeup *c, const CloseupLine *l, size_t i);
/* "q·k  e=5: 0.911 · 1.260 = 1.148"; nothing while the step has not come so far. */
void closeup_term(const Paint *p, const Closeup *c, int y, int x, int width);
#endif
