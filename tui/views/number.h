/* Numbers as people read them, beside those of view.h. */
#ifndef VITRINE_TUI_VIEWS_NUMBER_H
#define VITRINE_TUI_VIEWS_NUMBER_H
#include <stddef.h>

/* "6,912"; returns out. */
const char *count_text(char *out, size_t n, size_t count);
/* Three significant digits with an SI prefix before the unit: "0 FLOP", "532 kFLOP", "1.05 MB". x ≥ 0; returns out. */
const char *amount_text(char *out, size_t n, double x, const char *unit);
#endif
