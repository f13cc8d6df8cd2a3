/* `vitrine notes`: what the speaker sees and the hall does not, on another terminal. It can drive, and reconnects. */
#ifndef VITRINE_TUI_NOTES_H
#define VITRINE_TUI_NOTES_H
#include "tui/cli/options.h"

/* On a terminal a screen; else lines, read and written. The exit status of the program. */
int notes_main(const Options *o);
#endif
