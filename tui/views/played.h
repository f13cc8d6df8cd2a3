/* The film of the forward pass on the screen: of the step's result what is there, beside it what it is made from. */
#ifndef VITRINE_TUI_VIEWS_PLAYED_H
#define VITRINE_TUI_VIEWS_PLAYED_H
#include "tui/views/view.h"

/* Takes from a pane of the step what has not come yet, in reading order. Returns the last number that is there; run 0
 * where the pane shows none of the step's. */
Ref played_hide(const Paint *p, Rect r, Side side);
/* The tensors of earlier steps that this one reads, small; what the number written last (Paint.written) is made from is
 * lit. */
extern const ViewSpec VIEW_PLAYED;
#endif
