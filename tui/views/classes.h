/* The classes of an answer in the order of their probabilities. */
#ifndef VITRINE_TUI_VIEWS_CLASSES_H
#define VITRINE_TUI_VIEWS_CLASSES_H
#include "core/session/screens/answer.h"
#include "tui/views/shown.h"

size_t classes_best(const float *v, size_t n);
size_t classes_next(const float *v, size_t n, size_t which); /* n after the last */
/* Returns out. */
const char *classes_name(const Shown *v, size_t i, char *out, size_t n);
/* …whole where it has so many columns, else with its number in front and what there is room for: "281 tabb…". */
const char *classes_label(const Shown *v, size_t i, int columns, char *out, size_t n);
#endif
