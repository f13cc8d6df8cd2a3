/* What lies over the frame: a list whose chosen line is run (help, pictures, views, find), or a page of text. Holds no
 * terminal. */
#ifndef VITRINE_TUI_OVERLAY_H
#define VITRINE_TUI_OVERLAY_H
#include "core/base/buf.h"
#include "core/base/mem.h"
#include "core/session/command.h"
#include "tui/canvas/canvas.h"
#include "tui/task.h"

typedef struct Item {
    const char *text;    /* what is read */
    const char *key;     /* shown at the right: its key, or "" */
    const char *command; /* run on Enter; NULL: a heading */
    const char *about;   /* what that will do, shown below the list while the line is chosen; or "" */
    int match;           /* how well the filter finds it */
} Item;

typedef enum OverlayKind { OVERLAY_NONE, OVERLAY_LIST, OVERLAY_TEXT } OverlayKind;

typedef struct Overlay {
    OverlayKind kind;
    char title[80];
    Arena arena; /* strings of the items */
    Item *items;
    size_t cap;
    int count;
    int *line; /* the items that match the filter, the best first */
    size_t line_cap;
    int lines;
    char filter[64];
    bool filtering; /* typed letters go into the filter */
    int chosen;     /* index among the lines that match the filter */
    Buf text;       /* OVERLAY_TEXT */
    int number;     /* of a list whose lines are numbered: what was typed of a number */
    int scroll;     /* rows of the page above the box … */
    int scroll_end; /* … and the most there can be, when it was drawn last; 0: all of it is in sight */
    bool finds;     /* the list of things to find: what was typed is kept in `sought` when a line is chosen */
    bool straight;  /* a search of everything that was no search in another list: Esc closes it */
    char sought[64];
    int page;     /* help: 0 tasks, 1 keys here, 2 all commands, 3 all of them for a search; −1: another list */
    bool goes_on; /* the caption of a demonstration: Space has the next one */
    bool apart;   /* what was said of a screen that has no line to spare: it ends above it */
    bool more;    /* what `say` said: i once more tells what the words mean */
} Overlay;

void overlay_list(Overlay *o, const char *title); /* an empty list, open */
void overlay_add(Overlay *o, const char *text, const char *key, const char *command);
void overlay_about(Overlay *o, const char *about); /* of the line that was added last */
void overlay_text(Overlay *o, const char *title, const char *text);
/* Lines at the bottom that a demonstration's caption takes, or what stands apart; the screen goes above them. 0 of
 * anything else. */
int overlay_below(const Overlay *o, const Canvas *c);
void overlay_close(Overlay *o);
void overlay_free(Overlay *o);

typedef enum OverlayResult { OVERLAY_STAYS, OVERLAY_CLOSED, OVERLAY_RUN, OVERLAY_PASSED } OverlayResult;
/* OVERLAY_RUN: command has the chosen line's command, the overlay is closed. OVERLAY_PASSED: closed, and the key means
 * what it means without an overlay (a page of text does not swallow keys). */
OverlayResult overlay_key(Overlay *o, const char *key, Buf *command);
OverlayResult overlay_click(Overlay *o, const Canvas *c, int y, int x, Buf *command);
void overlay_draw(Overlay *o, Canvas *c);

/* The lists. */
enum { HELP_PAGES = 3, HELP_SEARCH = HELP_PAGES };
/* page HELP_SEARCH: all pages, and whatever else there is to go to or to set, ready to be typed in. on: the task that
 * is on. */
void overlay_help(Overlay *o, const Session *s, const Task *on, const Commands *commands, int page);
void overlay_open_menu(Overlay *o, const Session *s); /* drawn pictures, pictures and models in this folder */
void overlay_view_menu(Overlay *o, const Session *s);
void overlay_learned_menu(Overlay *o, const Session *s); /* the screens of what was learned */
void overlay_marks_menu(Overlay *o, const Session *s);   /* marked places, and this one */
void overlay_find_menu(Overlay *o, const Session *s);    /* steps, nodes, classes */
#endif
