/* What every screen is and does, one row each (screens.def). Nobody asks which screen is on in order to decide what
 * happens: the row says it. A command may name the screen that it goes to. */
#ifndef VITRINE_SESSION_SCREENS_H
#define VITRINE_SESSION_SCREENS_H
#include "core/session/session.h"

struct Teller;

/* What a screen belongs to: leaving, the header and the menus go by it. */
typedef enum ScreenGroup {
    GROUP_TRACE,      /* a node of the pass */
    GROUP_ATTENTION,  /* who looks at whom: has a head and a row in focus */
    GROUP_ARITHMETIC, /* `close` goes one place back */
    GROUP_LEARNED     /* what was learned, measured over training or many pictures; `close` leaves all of them */
} ScreenGroup;

/* What `ablate` without a word, the key x, switches off. */
typedef enum ScreenOff {
    OFF_FOCUS,     /* the head, sub-layer or node in focus */
    OFF_HEAD,      /* the head in focus, whichever node of its block is */
    OFF_PATCH,     /* the patch under the cursor becomes grey */
    OFF_HIDDEN,    /* the patch under the cursor is hidden, or shown again */
    OFF_POSITIONS, /* position embeddings */
    OFF_NOTHING
} ScreenOff;

typedef struct ScreenSpec {
    const char *name, *about;
    ScreenGroup group;
    const char *command; /* goes there from wherever one stands: "view row", "census" */
    /* What `view WORD` does where command is one; NULL: it is a command of its own. A place that does not exist is an
     * error, and nothing changes. */
    bool (*come)(Session *s, Screen to, Err *err);
    bool (*fits)(const Graph *g, NodeId n);   /* is it the screen for that node? NULL: for none by itself */
    void (*move)(Session *s, int dy, int dx); /* the arrow keys */
    bool (*enter)(Session *s, Err *err);      /* `in`: into what the cursor is on */
    bool (*next)(Session *s, Err *err);       /* `view next`: another way of seeing it */
    /* `average` and `head` where the mean of heads is a switch of the screen's own, else NULL. */
    bool (*average)(Session *s, bool on, Err *err);
    bool (*work)(Session *s, int64_t deadline_ns); /* what is measured while it is on; true: nothing left. Or NULL */
    /* `play`: one step more of what the screen shows in steps; false: all is there. NULL: it has no steps. */
    bool (*play)(Session *s);
    bool (*say)(const struct Teller *t);         /* `say`, whatever node is in focus; NULL: the node's own */
    bool (*say_pattern)(const struct Teller *t); /* …where the focus is a pattern or scores */
    bool (*say_scores)(const struct Teller *t);
    ScreenOff off;
    bool drawn_alone;                 /* ways of drawing a tensor (`view numbers`) lead from it to the tensor alone */
    bool words;                       /* of models that read words alone: on others its command says why not */
    const struct LookOption *options; /* settings that only this screen has (options.h), up to a NULL name; or NULL */
} ScreenSpec;

const ScreenSpec *screen_spec(Screen screen);
const ScreenSpec *screen_now(const Session *s); /* of the screen that is on */
/* The screen of that name, or SCREEN_COUNT. */
Screen screen_find(const char *name);

/* --- inside core/session: what rows are made of --- */
typedef bool ScreenCome(Session *s, Screen to, Err *err);
typedef bool ScreenFits(const Graph *g, NodeId n);
typedef void ScreenMove(Session *s, int dy, int dx);
typedef bool ScreenEnter(Session *s, Err *err);
extern ScreenMove move_on_patches, move_on_keys, move_on_matrix, move_on_heads, move_on_plane, move_on_classes,
    move_on_tiles, move_in_terms, move_in_closeup, move_in_training, move_in_lens, move_slider, move_in_writing,
    move_on_worked, move_in_decoding, move_on_attentions, move_in_ledger, /* cursor.c */
    move_beside;                                                          /* beside.c */
extern ScreenCome come_here, come_picture, come_attention, come_positions, come_answer, come_closeup, come_sentence,
    come_waves, come_writing, /* screens_enter.c */
    come_beside;              /* beside.c */
extern ScreenEnter enter_tensor, enter_arithmetic, enter_operand, enter_pixels, enter_sheet, enter_matrix, enter_row,
    enter_pattern, enter_positions, enter_cosine, enter_closeup, enter_terms, enter_ledger, enter_wave, enter_answer,
    enter_decoding;
extern ScreenEnter next_drawing, next_positions, next_film, next_tiles, next_where, next_ledger, next_arithmetic,
    next_sentence, next_beside, next_decoding;
extern ScreenFits fits_beside; /* beside.c */
/* Is the position table fitted to another grid than its own? Else an error says how it would be. */
bool positions_fitted_there(const Session *s, Err *err);
bool play_closeup(Session *s);
bool play_worked(Session *s); /* playing.c */
bool average_where(Session *s, bool on, Err *err);
#endif
