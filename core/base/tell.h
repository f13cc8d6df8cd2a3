/* The one way to a terminal for what is no drawn cell: messages, progress lines, answers in text. Whatever a file, an
 * option or the environment put into a text, no control sequence gets through: C0 and C1 controls, bidi controls and
 * invalid bytes become `?`. (What is drawn gets to the screen as cells: tui/canvas.) */
#ifndef VITRINE_BASE_TELL_H
#define VITRINE_BASE_TELL_H
#include "core/base/buf.h"

/* "vitrine: TEXT" as a line on standard error; a line end in it becomes `?` like other controls. */
void tell(const char *text);
/* A line of a report on standard error, without the name in front. */
void tell_line(const char *text);
/* Writes over the line where the cursor stands on standard error, padded to `cells`; tell_over("", cells) takes it
 * away. */
void tell_over(const char *text, int cells);
/* An answer in several lines, made harmless in place; line ends and tabs stay. */
void tell_clean(Buf *text);
#endif
