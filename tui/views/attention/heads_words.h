/* The screen `heads` of a text model: every head of every attention with what it looks at over many sentences. */
#ifndef VITRINE_TUI_VIEWS_ATTENTION_HEADS_WORDS_H
#define VITRINE_TUI_VIEWS_ATTENTION_HEADS_WORDS_H
#include "tui/views/view.h"

void heads_words_draw(const Paint *p, Rect r, bool focus);
bool heads_words_click(const Paint *p, Rect r, int y, int x, Buf *command);
/* The same of a model that is measured on random tokens. */
void heads_kinds_draw(const Paint *p, Rect r, bool focus);
bool heads_kinds_click(const Paint *p, Rect r, int y, int x, Buf *command);
#endif
