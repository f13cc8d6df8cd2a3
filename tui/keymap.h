/* Keys are aliases of commands: one table and those of views, from which footer, help and tests are made. */
#ifndef VITRINE_TUI_KEYMAP_H
#define VITRINE_TUI_KEYMAP_H
#include "tui/views/view.h"

const KeyBinding *keymap_at(int i);                     /* all of them, those of views too; NULL past the end */
const KeyBinding *keymap_here(const Session *s, int i); /* those that may be in force on this screen, in that order */
/* The binding of a key on this screen, or NULL: the view's own, else the first that its traits allow. */
const KeyBinding *keymap_find(const Session *s, const char *key);
/* Is it what that key does on this screen? */
bool keymap_in_force(const Session *s, const KeyBinding *k);
/* How a key is written for people: "Space", "←↑↓→", "Enter", "⌫". */
const char *key_text(const char *key);
#endif
