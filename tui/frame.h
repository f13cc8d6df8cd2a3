/* The whole screen as a pure function of the session and a size: header, the words of a text model, panes, the plain
 * sentence, the answer line, the footer. */
#ifndef VITRINE_TUI_FRAME_H
#define VITRINE_TUI_FRAME_H
#include "tui/views/view.h"

typedef struct Pane {
    const ViewSpec *view;
    Rect box; /* with its border */
    Rect inside;
    Side side;
    bool focus;
    const char *label; /* "A", "B", "A − B" before the title when sides are compared; else NULL */
    bool steps;        /* the map of steps: gets the cursor when look.steps_focused */
} Pane;

enum { FRAME_PANES = 16 };

typedef struct Frame {
    Pane pane[FRAME_PANES];
    int count;
    Rect header, words, hint, sentence, answer, footer; /* h = 0 where there is no room; words: of a text model */
    Rect leave;             /* what q does now, right of the footer; w = 0: nothing of the kind */
    const char *leave_text; /* "ends the task" */
    const char *space;      /* what Space does in a lesson, "" where its card says so; NULL: none is open */
} Frame;

/* What the app knows and the session does not. */
typedef struct FrameState {
    const char *message; /* instead of the sentence; NULL or "" = none */
    bool message_is_error;
    const char *follows; /* "" or NULL: nobody; right end of the header */
    const char *status;  /* "256c", "ascii", "mouse off": right end of the footer */
} FrameState;

/* What stands on the screen besides: a line for somebody who starts; a lesson's card, which speaks of the step and the
 * cursor in place of their panels; a card right below, which names the keys in place of the footer. */
enum { FRAME_HINT = 1, FRAME_LESSON = 2, FRAME_CARD_BELOW = 4 };
Frame frame_layout(const Session *s, int h, int w, unsigned besides);
/* The end of the footer says what q does. */
void frame_leave(Frame *f, const char *text);
/* The plain sentence of what is on show, at most 76 cells. */
const char *frame_sentence(const Session *s);
void frame_needs(const Session *s, const Frame *f, Needs *out);
/* A pane's view; of a frame of the film (play.h) what is there so far. */
void frame_pane(Paint *p, const Pane *pane);
void frame_draw(const Paint *paint, const Frame *f, const FrameState *state);
/* The command for a click, or false. */
bool frame_click(const Paint *p, const Frame *f, int y, int x, Buf *command);
/* The key that stands there in the footer, or NULL. */
const KeyBinding *frame_key(const Paint *p, const Frame *f, int y, int x);
/* The command for the wheel at a place: moves the cursor of the pane under it. */
bool frame_wheel(const Frame *f, int y, int x, int by, Buf *command);
#endif
