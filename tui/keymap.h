/* Keys are aliases of commands: one table, from which the footer, the help and the tests are made. */
#ifndef VITRINE_TUI_KEYMAP_H
#define VITRINE_TUI_KEYMAP_H
#include "core/session/session.h"

typedef struct KeyBinding {
    const char *key;     /* names as term.h gives them: "Space", "s", "S-Left" */
    const char *command; /* what it runs; "prompt …" opens the command line with that text, "menu …" a list */
    const char *label;   /* two or three words for the footer, or NULL: not shown there */
    const char *help;    /* one line for the help */
    unsigned screens;    /* bit 1 << Screen: where it works; 0 = everywhere */
    int footer;          /* order in the footer, 0 = never */
} KeyBinding;

const KeyBinding *keymap_at(int i); /* NULL past the end */
/* The binding of a key on this screen, or NULL. */
const KeyBinding *keymap_find(const Session *s, const char *key);
/* How a key is written for people: "Space", "←↑↓→", "Enter", "⌫". */
const char *key_text(const char *key);
#endif
