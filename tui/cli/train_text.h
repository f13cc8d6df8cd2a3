/* `vitrine train` of a translator: a recipe that says "kind": "text". */
#ifndef VITRINE_TUI_CLI_TRAIN_TEXT_H
#define VITRINE_TUI_CLI_TRAIN_TEXT_H
#include "tui/cli/work.h"

bool train_text_asked(const Options *o);
int train_text(Work *w, Err *err); /* an exit status, as Verb.run */
#endif
