/* The line that is always on screen: "A star .97 │ B cross .41   untrained   trace 9f3a c210 ✓". */
#ifndef VITRINE_TUI_VIEWS_ANSWER_H
#define VITRINE_TUI_VIEWS_ANSWER_H
#include "tui/views/view.h"

/* Draws into width cells of line y from x on; while the pass is being computed a bar with its share takes the place of
 * the hash. */
void answer_line(const Paint *p, int y, int x, int width);
/* Has that line, as wide as the canvas, room for the whole of the model's note? Then no pane says it again. */
bool answer_line_notes(const Paint *p);
/* Of a model without an answer: what it ends with, and of two vectors their cosine. */
void answer_draw_vector(const Paint *p, Rect r, Side side);
#endif
