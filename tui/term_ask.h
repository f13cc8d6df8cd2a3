/* What a terminal says of itself when it is asked: its ground (OSC 11), whether it has a colour 255 (OSC 4), whether it
 * takes frames in one piece (DECRQM 2026), where its cursor is, its name (XTVERSION), the pixels of a cell, whether it
 * takes pictures (kitty's protocol); and behind them who it is (DA1), which every terminal answers: then nothing more
 * comes. No curses here. */
#ifndef VITRINE_TUI_TERM_ASK_H
#define VITRINE_TUI_TERM_ASK_H
#include <stdbool.h>

#include "core/base/buf.h"
#include "tui/canvas/canvas.h"

typedef struct TermReply {
    Colour ground; /* COLOUR_DEFAULT: not said */
    bool has_256, has_frames;
    int column; /* of the cursor, from 1; 0: not said */
    bool all;   /* who it is has come: it answers nothing more */
    bool has_graphics;
    int pixel_h, pixel_w; /* of a cell; 0: not said */
    char who[40];         /* its name and version, as it sends them, cut; "": not said */
} TermReply;

/* Takes one reply, without the Esc before it and the end of a string: "]11;rgb:ffff/ffff/ffff". False, and *r is as it
 * was, where it is no reply to what was asked. */
bool reply_take(TermReply *r, const char *text);

enum { ASK_MS = 100, ASK_TYPED = 128 };
/* Asks the terminal on fd, and waits for ASK_MS at most; utf8: also for the column behind a character of three bytes,
 * which is 2 where it knows UTF-8. What is typed meanwhile comes into *typed, at most ASK_TYPED bytes; there may be
 * more replies later, while r->all is false. more: other questions. Leaves the terminal without echo and lines. */
void term_ask(int fd, bool utf8, const char *more, TermReply *r, Buf *typed);
#endif
