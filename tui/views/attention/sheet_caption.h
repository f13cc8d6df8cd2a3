/* What is said below a sheet: what its colours mean, whose row it is, what its bars are. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_SHEET_CAPTION_H
#define VITRINE_TUI_VIEWS_ATTENTION_SHEET_CAPTION_H
#include "tui/views/attention/sheet_fit.h"

/* lost: the most points of accuracy that a head is worth, 0 where no bars can stand. False: there was no room to say
 * what the bars are. */
bool sheet_caption(const Paint *p, const Attend *a, const Sheet *s, const ColourScale *one, Rect r, float lost);
#endif
