/* What the files of the loop share: its state, the frame as it is now, and what changes it. */
#ifndef VITRINE_TUI_APP_PARTS_H
#define VITRINE_TUI_APP_PARTS_H
#include <poll.h>

#include "core/base/clock.h"
#include "tui/app.h"
#include "tui/cli/link.h"
#include "tui/desk.h"
#include "tui/follow.h"
#include "tui/frame.h"
#include "tui/notes.h"
#include "tui/presenter.h"
#include "tui/prompt.h"
#include "tui/record.h"
#include "tui/share.h"
#include "tui/stage.h"
#include "tui/term.h"

/* All that was said in this run: each line with when, so that nothing that passed by on one line is lost. */
enum { MESSAGES_MOST = 500 }; /* kept; older ones go */
typedef struct SaidLine {
    char *text;
    bool error;
    int64_t at; /* clock_ns when it was said first … */
    int times;  /* … and how often on end */
} SaidLine;

typedef struct Messages {
    SaidLine line[MESSAGES_MOST]; /* a ring */
    int first, count;
    int64_t began; /* of the first one: times are told from here */
} Messages;

typedef struct App {
    Session s;
    Commands commands;
    Ui ui;
    Canvas canvas;
    Overlay overlay;
    Desk desk;
    Stage stage;
    Presenter presenter;
    Share share;
    Prompter prompter; /* of the notes terminal */
    Record record;
    Follow follow;
    Rollcall question; /* of who presents */
    Prompt prompt;
    char message[512];
    Messages messages; /* all that stood there */
    bool message_is_error;
    bool hint;
    bool shows_join;                       /* how others join, over everything; any key goes on */
    bool asked;                            /* the frame's values were asked for since values were last forgotten */
    bool for_lesson;                       /* the command line named a lesson, which is still open */
    int leaving;                           /* 2: q found nothing to close; 1: at the next key, when q leaves */
    bool boxed;                            /* what is said comes in a window, however short */
    bool said;                             /* the last key was `say`: once more it tells what is said in general */
    bool copied;                           /* the last key was `copy`: once more it copies the row */
    int steps_taken, commands_done, count; /* count: digits typed before a key */
    int64_t counted;                       /* when the last of them was typed … */
    bool counts;                           /* … and long enough ago for the box that says what the next key does */
    const Link *link;                      /* what a link promised; NULL once compared */
    const TermStatus *terminal;
    int64_t work_since; /* a command computes: when it began, for the progress line */
    const char *doing;  /* … the command as it was typed */
    int64_t last_report;
    bool cancelled;
    bool halted;        /* Ctrl-C stopped the pass; the next key goes on with it */
    uint64_t shown;     /* s.changes of the last frame … */
    int64_t last_frame; /* … and when it was drawn */
    bool stale;         /* something was computed since, … */
    bool touched;       /* … there was an event since */
    int64_t next_frame; /* when what plays goes on; 0: nothing plays */
    Pace pace;
} App;

/* Nothing is kept of an empty text; the same one on end is counted. */
void messages_add(Messages *m, bool error, const char *text, int64_t now);
/* "0:42  text", a line each, oldest first; appended. */
void messages_put(const Messages *m, Buf *out);
void messages_free(Messages *m);

/* The line at the bottom, kept in the list of messages. */
void app_say(App *a, bool error, const char *text);
/* The same for what passes, such as progress: it is not kept. */
void app_pass(App *a, const char *text);
/* What a command said: on that line where it fits, else in a window. */
void app_show_said(App *a);

Paint app_paint(App *a);
/* The canvas takes the size of the terminal. */
void app_fit(App *a);
/* The session's screen in what the lesson leaves of the terminal. */
Frame app_frame(const App *a);
void app_draw(App *a);
/* A line below the frame that was drawn last; nothing of the session is read. */
void app_draw_line(App *a, const char *text);

/* Runs one line and shows what it says, and its progress while it computes. */
void app_do(App *a, const char *line);
/* Session.progress: a line with what and how far after half a second; Ctrl-C cancels. context is the App. */
bool app_progress(void *context, const char *what, double share);
/* The same while a file is read or written, or a beam is made wider (stop_listen): Ctrl-C is a key here, no signal. The
 * session may be between two states then, a model gone and the next not there: no more than the line is drawn. */
bool app_stops(void *context);
/* What a command asks of the terminal (Ui.act). */
bool app_act(App *a, UiAct what, const char *text, Err *err);
/* What `present` does; where nothing is named, the lesson or demonstration on the ordinary screen is presented. */
bool app_present(App *a, const char *word, Err *err);
/* A key or a click while something is presented, or from the notes terminal; false: it means nothing there. */
bool app_presents(App *a, const char *key);
/* Digits are a count for the key that follows. */
bool app_digit(App *a, const char *key);
/* The line that a key stands for behind the digits that were typed; false: they are nothing to it. */
bool app_counted(const App *a, const KeyBinding *k, char *line, size_t n);
/* After digits and half a second's thought: what the next key does with them, in a box; wait: as app_present_tick's. */
void app_next_tick(App *a, int64_t now, int64_t *wait);
void app_draw_next(App *a);
/* What plays goes on by a frame when it is time; done, wait: as app_present_tick's. */
void app_play_tick(App *a, bool done, int64_t now, int64_t *wait);
void app_draw_presented(App *a);
/* What is presented with its pauses goes on when it is time; *wait: nanoseconds until then, if that is sooner. done:
 * the step on show is there. */
void app_present_tick(App *a, bool done, int64_t *wait);

/* The class: sharing, following, questions. */
void app_class_begin(App *a);
void app_class_end(App *a);
/* Descriptors to wait for (term_also). */
int app_class_poll(void *context, struct pollfd *out, int most);
/* Once a round; true when the frame changed. */
bool app_class_step(App *a);
bool app_class_open(const App *a);
/* What the commands do; their other words are Ui.args. */
bool app_share(App *a, const char *name, Err *err);
bool app_join(App *a, const char *name, Err *err);
bool app_ask(App *a, const Args *words, Err *err); /* words: of `ask`, or NULL: what the card on show asks */
bool app_votes(App *a, Err *err);
/* A key that answers an open question. */
bool app_class_key(App *a, const char *key);
/* Closes the open question, so that its answers are shown; takes one away whose answers were. True where the screen
 * shows something that is to be looked at before anything else comes. */
bool app_reveal(App *a);
int app_question_rows(const App *a); /* that the screen leaves to the presenter's question; 0: it lies over it */
void app_draw_question(App *a);
void app_draw_join(App *a);
/* What a rehearsal measured, when the screen is closed. */
void app_tell_times(App *a);
/* A key, a click, a paste or the end. */
void app_event(App *a, const TermEvent *e);
#endif
