/* The words that stand on the screen and what they mean: entries of the glossary, letters, nodes, classes, commands and
 * keys. Holds no terminal. */
#ifndef VITRINE_TUI_WORDS_H
#define VITRINE_TUI_WORDS_H
#include "tui/overlay.h"

/* What a word means, appended; false, nothing appended: nobody says. */
bool words_entry(const Session *s, const Commands *commands, const char *word, Buf *out);
/* The longest name with an entry that stands at (y, x): up to three words around it. */
bool words_at(const Session *s, const Commands *commands, const Canvas *c, int y, int x, char *word, size_t n);
/* The glossary as a list to be searched; c, where it is not NULL, is a screen whose words come first. */
void words_menu(Overlay *o, const Session *s, const Commands *commands, const Canvas *c);
#endif
