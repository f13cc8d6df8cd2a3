/* What every screen is and does. Nobody asks which screen is on in order to decide what happens: its row says it. A
 * screen is a line of screens.def and two files: its row, SPEC_symbol, with what belongs to it (screens/), and how it
 * is drawn, VIEW_symbol (tui/views). A command may name the screen that it goes to. */
#ifndef VITRINE_SESSION_SCREENS_H
#define VITRINE_SESSION_SCREENS_H
#include <stddef.h>

#include "core/session/command.h"

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
    CommandTable own;    /* commands that this screen brings along; or none */
    /* What `view WORD` does where command is one; NULL: it is a command of its own. A place that does not exist is an
     * error, and nothing changes. */
    bool (*come)(Session *s, Screen to, Err *err);
    bool (*fits)(const Graph *g, NodeId n);   /* is it the screen for that node? NULL: for none by itself */
    void (*move)(Session *s, int dy, int dx); /* the arrow keys: so many rows and columns, stopping at the borders */
    bool (*enter)(Session *s, Err *err);      /* `in`: into what the cursor is on */
    bool (*next)(Session *s, Err *err);       /* `view next`: another way of seeing it */
    size_t one_head;                          /* the screen's own switch for `average`, in LookAt; or 0 */
    /* …and what `average` and `head` do with it besides; or NULL. */
    bool (*average)(Session *s, bool on, Err *err);
    bool (*work)(Session *s, int64_t deadline_ns); /* what is measured while it is on; true: nothing left. Or NULL */
    bool (*empty)(const Session *s); /* can nothing of it be shown of this model? no menu offers it then; or NULL */
    bool shipped;                    /* what is measured comes with the bundled model: it is there at once */
    /* `play`: one step more of what the screen shows in steps; false: all is there. NULL: it has no steps. */
    bool (*play)(Session *s);
    bool (*say)(const struct Teller *t);         /* `say`, whatever node is in focus; NULL: the node's own */
    void (*say_change)(Session *s, Buf *out);    /* …and what became of it from A to B; or NULL */
    bool (*say_pattern)(const struct Teller *t); /* …where the focus is a pattern or scores */
    bool (*say_scores)(const struct Teller *t);
    bool (*tell)(const struct Teller *t); /* its figures as lines, for `say screen`; NULL: the sentence is all */
    ScreenOff off;
    bool head_scales;                 /* a scale for each head, or one for all: RANGE_HEADS */
    bool drawn_alone;                 /* ways of drawing a tensor (`view numbers`) lead from it to the tensor alone */
    bool words;                       /* of models that read words alone: on others its command says why not */
    const struct LookOption *options; /* settings that only this screen has (options.h), up to a NULL name; or NULL */
} ScreenSpec;

const ScreenSpec *screen_spec(Screen screen);
const ScreenSpec *screen_now(const Session *s); /* of the screen that is on */

/* `worked`: terms of the cell in focus, 0 for a leaf; and all of them are shown, nothing plays, when the cursor goes
 * elsewhere. */
int playing_terms(const Session *s);
void playing_end(Session *s);
/* Path of what that side's model would name after block `row` of the stack that ends in the answer, before the first
 * one (LENS_START), or at its end (the number of blocks); NULL where it has none. */
enum { LENS_START = -1 };
int lens_blocks(const Session *s, Side side); /* of that stack; the other one may be deeper */
const char *lens_path(const Session *s, Side side, int row);
const char *lens_logits(const Session *s, Side side, int row); /* the numbers that its softmax has */
const char *lens_mid(const Session *s, Side side, int row); /* …those after that block's attention, before its MLP */
/* Path of an ALIKE site of that side after block `row` of the stack that the focus is in, or before the first one
 * (LENS_START), or of the patches' pixels (ALIKE_PIXELS); NULL where it has none. */
enum { ALIKE_PIXELS = LENS_START - 1 };
int alike_row(const Session *s); /* that of the focus */
const char *alike_path(const Session *s, Side side, int row, Site site);
const char *alike_tokens(const Session *s, Side side, int row); /* of the tokens themselves */

/* --- inside core/session: what rows are made of --- */
#define SCREEN(symbol) extern const ScreenSpec SPEC_##symbol;
#include "core/session/screens.def"
#undef SCREEN
/* A row, with the fields of ScreenSpec. */
#define SCREEN_SPEC(symbol, ...) const ScreenSpec SPEC_##symbol = {__VA_ARGS__}
#define LOOK(name) offsetof(LookAt, name) /* a setting's LookOption.at */

/* Is n that site, or a node on the way to it: "guess" and "guess_nobias"? */
bool screen_is_site(const Graph *g, NodeId n, Site site);
bool screen_leads_to(const Graph *g, NodeId n, Site site);
/* To a screen, standing on `path`; one that is on stays, on another drawing: `back` leaves it. */
bool screen_go(Session *s, Screen screen, const char *path, Err *err);
/* Word i of a command, where there is one, is the label of a patch: the data cursor goes there. */
bool screen_patch_word(Session *s, const Args *a, int i, Err *err);
/* Path of a site of the attention in focus, of its block's or the first block's; NULL where that has none. */
const char *attention_here(const Session *s, Site site);
/* Path of the mean or the sum over the heads where a pattern's screen shows that instead of one head (block −1: the
 * focused one), else NULL. */
const char *attention_over_heads(const Session *s, const Graph *g, int block);
/* Is the position table fitted to another grid than its own? Else an error says how it would be. */
bool positions_fitted_there(const Session *s, Err *err);

typedef bool ScreenCome(Session *s, Screen to, Err *err);
typedef void ScreenMove(Session *s, int dy, int dx);
typedef bool ScreenEnter(Session *s, Err *err);
void move_axis(Session *s, AxisRole role, int by);
void move_on_grid(Session *s, AxisRole role, int dy, int dx); /* patches; tokens before them stand in a line below */
/* Attentions are rows: over all stacks, or inside one. */
void move_over_attentions(Session *s, int dy, int dx, bool one_stack);
extern ScreenMove move_on_patches, move_on_plane;
extern ScreenCome come_here, come_positions;
extern ScreenEnter enter_tensor, enter_arithmetic, enter_sheet, enter_pattern, next_drawing;
bool drawing_is_only(const Session *s); /* words are shown as words, and in no other way */
#endif
