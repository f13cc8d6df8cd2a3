/* A view is a pure function (const Session, rectangle) → cells. Drawing never computes: a view lists the nodes it
 * needs, the app steps the runs, drawing uses session_peek (NULL: draws "computing"). Views do not know each other;
 * frame.c puts them together. */
#ifndef VITRINE_TUI_VIEWS_VIEW_H
#define VITRINE_TUI_VIEWS_VIEW_H
#include "core/session/ask/number.h"
#include "core/session/session.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

/* How the frame is drawn: facts about the terminal that a view may use. */
typedef struct Paint {
    const Session *s;
    Canvas *c;
    ColourMode mode;
    bool light;       /* light ground */
    bool hall;        /* it is presented: what is read from the last bench */
    int seconds_left; /* of what is being computed; 0 where nobody knows */
    Ref written;      /* in a frame of the film (play.h): the step's last number that is there */
} Paint;

enum { VIEW_NEEDS = 384 };

typedef struct Needs {
    Need item[VIEW_NEEDS];
    int count;
} Needs;
/* Adds path on a side once; NULL, the site of a model that lacks it, adds nothing; silently full at VIEW_NEEDS. For
 * SIDE_DIFF, A's and B's values are implied. */
void needs_add(Needs *n, Side side, const char *path);
/* Adds what is to be worked out of a cell of that node, once its values are there (closeup.h). */
void needs_ask(Needs *n, Side side, const char *path, NeedWhat what, size_t cell, size_t most);

/* A key is an alias of a command. Those of the keymap work on every screen, unless the screen's view has the key for
 * itself (ViewSpec.keys). */
typedef struct KeyBinding {
    const char *key;     /* names as term.h gives them: "Space", "s", "S-Left" */
    const char *command; /* what it runs; "prompt …" opens the command line with that text, "menu …" a list */
    const char *label;   /* two or three words for the footer, or NULL: not shown there */
    const char *help;    /* one line for the help */
    unsigned traits;     /* works where the view has one of these VIEW_TRAITS; none: everywhere. KEY_… */
    int footer;          /* order in the footer, 0 = never */
    /* Stands in the footer only then; before another of its key in its view it means this only then. NULL: always */
    bool (*when)(const Session *s);
} KeyBinding;

/* What a view is like, for keys and for the arrangement of the frame. */
enum {
    VIEW_HAS_HEAD = 1,   /* a head and a row of attention are in focus: keys change them */
    VIEW_HAS_MEAN = 2,   /* can show the mean of all heads */
    VIEW_TRACED = 4,     /* a number stands there of which people ask where it came from */
    VIEW_ATTENTION = 8,  /* figures of a row go with it, and the list of its largest weights */
    VIEW_WIDE = 16,      /* needs the width: nothing stands beside it */
    VIEW_CLASSES = 32,   /* lists the classes itself: no second list goes with it */
    WHILE_SEEKING = 64,  /* no view's: of keys that mean this while something is looked for */
    VIEW_TELLS = 128,    /* says itself what others have beside them: the map of steps alone goes with it */
    AT_THE_DOOR = 256,   /* no view's: of keys that mean this where somebody new begins (scale_places_door) */
    WHILE_PLAYING = 512, /* no view's: of keys that mean this while the film plays, in front of all others */
    VIEW_TRAITS = 1023,
    /* No view's: what a number that was typed before a key does, and the same key again. */
    KEY_COUNTS = 1024,      /* it goes behind the command: "move up 3" */
    KEY_COUNTS_STEP = 2048, /* it is the step to go to */
    KEY_TWICE = 4096        /* again: what the node in focus is in general */
};
/* What becomes of A and B: a pane each; one of them at a time; both in one pane, or there is no other side. */
typedef enum ViewSides { SIDES_PANES, SIDES_ONE, SIDES_TOGETHER } ViewSides;

/* A way of seeing that this view has and no other, for the menu. */
typedef struct ViewWay {
    const char *text, *command; /* text NULL ends a list */
} ViewWay;

typedef struct ViewSpec {
    const char *name;
    /* Draws into r (already inside its border), to which the canvas is clipped and which is not empty. side: which
     * values. focus: this pane has the cursor (sets canvas cursor_y/x). */
    void (*draw)(const Paint *p, Rect r, Side side, bool focus);
    void (*needs)(const Session *s, Side side, Rect r, Needs *out); /* what draw will peek at */
    /* The command that a click at (y, x), inside r, stands for; false when none. */
    bool (*click)(const Paint *p, Rect r, Side side, int y, int x, Buf *command);
    /* Title for the pane's border, appended. */
    void (*title)(const Session *s, Side side, Buf *out);
    void (*title_in)(const Paint *p, Rect r, Side side, Buf *out); /* the same, where r decides what it says; or NULL */
    /* --- of a screen; panes beside it leave them out --- */
    unsigned traits; /* VIEW_… */
    ViewSides sides;
    const struct ViewSpec *below; /* a pane that goes under it where there is room, or NULL */
    /* Of attention, or of its heads: makes *h × *w, inside its border, the room it has no use for more than; what is
     * left goes to the profile of the row, to every head, and to `beside`. NULL: it takes what it gets. */
    void (*least)(const Session *s, Side side, int *h, int *w);
    /* Lines of h that it uses in w columns, where the shape of what it shows decides; NULL: all. */
    int (*uses)(const Session *s, Side side, int h, int w);
    /* On a narrow screen: does it show twice as much in `all` columns inside its border as in w, which is what others
     * beside it leave? They give way then. NULL: it never does. */
    bool (*alone)(const Session *s, Side side, int h, int w, int all);
    const struct ViewSpec *beside; /* where all of that has room: a picture screen that goes with it; or NULL */
    /* Path of what the cursor is on, where that is not the node in focus; or NULL. */
    const char *(*cursor)(const Session *s, Side side);
    const char *sentence;   /* what the screen is about, at most 76 cells; NULL: the step's sentence */
    const KeyBinding *keys; /* its own; key NULL ends them; or NULL */
    const ViewWay *ways;    /* or NULL */
} ViewSpec;

/* The one of a file, whose draw, needs, click and title are called so. */
#define VIEW_SPEC(symbol, ...)                                                                                         \
    const ViewSpec VIEW_##symbol = {.draw = draw, .needs = needs, .click = click, .title = title, __VA_ARGS__}

/* Draws into r and nowhere else; nothing where r is empty. */
void view_draw(const ViewSpec *v, const Paint *p, Rect r, Side side, bool focus);
/* The command of a click; false outside r. */
bool view_click(const ViewSpec *v, const Paint *p, Rect r, Side side, int y, int x, Buf *command);
/* One per screen, its line in core/session/screens.def. */
#define SCREEN(symbol) extern const ViewSpec VIEW_##symbol;
#include "core/session/screens.def"
#undef SCREEN
const ViewSpec *view_of(Screen s);
const ViewSpec *view_now(const Session *s); /* of the screen that is on */
/* The arrow keys where blocks are rows and heads are columns. */
extern const KeyBinding KEYS_OF_HEADS[];
/* Side panes. */
extern const ViewSpec VIEW_STEPS;                         /* the map of boxes, "you are here" */
void steps_reached(const Session *s, Rect r, Needs *out); /* what it needs of steps that are computed already */
extern const ViewSpec VIEW_STEP_INFO;                     /* this step: formula, symbol, shape, range, cost */
extern const ViewSpec VIEW_CURSOR;                        /* the focused cell: labels, value, rank in its row */
extern const ViewSpec VIEW_ROW_TOP; /* largest weights of the focused attention row; sum, entropy, largest */
extern const ViewSpec VIEW_FIGURES; /* for comparing: score variance, entropy, largest weight of the row (one side) */
extern const ViewSpec VIEW_PROFILE; /* the focused row as bars, of A and of B where they are compared */
extern const ViewSpec VIEW_OTHER_HEADS; /* the same query in every head of the block, small */

/* --- the film of the forward pass (played.c) --- */
/* Takes from a pane of the step what has not come yet, in reading order; of bars by whole columns, whichever side of
 * zero they stand on. Returns the last number that is there; run 0 where the pane shows none of the step's. */
Ref played_hide(const Paint *p, Rect r, Side side, bool by_column);
/* The tensors of earlier steps that this one reads, small; what the number written last (Paint.written) is made from is
 * lit. */
extern const ViewSpec VIEW_PLAYED;

/* --- shared drawing (heat.c) --- */
/* Range of values that colours stand for, and how a value becomes a colour. */
typedef struct ColourScale {
    MapId map;
    ColourMode mode;
    float low, high;      /* signed maps: −high … high */
    bool is_signed, diff; /* diff: of A − B */
    bool own, shared;     /* side by side: of this side, or of A and B together */
    bool points;          /* A − B of shares: its ends are written in points */
    bool log;             /* by powers of ten: SCALE_DECADES of them below high; signed maps: on either side */
    bool root;            /* from 0 on, of signed maps on either side: by its square root, where one value is many times
                             the others and all are to be told apart */
    bool light;
    bool clipped; /* few values are far beyond the others: the scale ends before them, they have their own colour */
    bool capped;  /* clipped, but what is beyond an end has that end's colour */
    float least, most; /* where clipped or capped: the ends of all values */
    bool nans;         /* there are some, which have a colour of their own */
    bool waits;        /* what is NaN is not measured yet: grey */
} ColourScale;
enum { SCALE_DECADES = 6 };
/* Chosen from the session's LookAt (map, lock) and the values of the whole node: sequential for values ≥ 0, signed
 * otherwise. */
ColourScale colour_scale_for(const Paint *p, Side side, NodeId n, const float *values, size_t count);
ColourScale colour_scale_of_range(const Paint *p, float low, float high);
Colour colour_scale_colour(const ColourScale *s, float x);
/* Where a value stands on the scale: 0 … 1, of a signed one −1 … 1; NaN of NaN. */
double colour_scale_share(const ColourScale *s, float x);
/* How drawn cells stand for several values: as the reader chose, but the largest of signed values is that by size, or
 * negative ones would vanish; and its word, "max", "mean" or "absmax". */
PoolKind colour_scale_pool(const Paint *p, const ColourScale *s);
const char *colour_scale_pool_word(const Paint *p, const ColourScale *s);
/* What is said of the scale of attention, as the reader chose: of `both` sides "one scale for A and B"; "" of one. */
const char *colour_scale_word(const Session *s, bool both);
int colour_scale_level(const ColourScale *s, float x); /* 0 … 9 */
int colour_scale_sign(const ColourScale *s, float x);
/* One line: low, the bar, high, map name, "locked". */
void colour_scale_bar(const Paint *p, const ColourScale *s, int y, int x, int width);

/* value(context, row, col, &ref) of a drawn cell; NaN draws as the no-value colour. */
typedef float (*HeatFn)(const void *context, int row, int col, Ref *ref);
/* A number among others, in width cells: three decimals ("1.840", "-0.012", "21.931"), below 0.01 three digits
 * ("0.00278"), below 0.001 an exponent ("-1.20e-5"), whole ones without a point, "inf", "NaN". Where the room is less
 * it drops digits, then the zero before the point (".003"), never the exponent: numbers of one size are of one form on
 * a screen, whatever the room. */
void number_text(char *out, size_t n, float x, int width);
/* The number under the cursor, or one of which a sum is made: 6 significant digits at most ("1.84021"), an exponent as
 * above. */
void number_full_text(char *out, size_t n, float x, int width);
/* A difference of two shares in points, hundredths of the whole, without the unit: "14.3", "0"; what rounds to nothing
 * has one decimal more ("-0.04") or is "≈0". */
void points_text(char *out, size_t n, float difference);
void points_text_to(char *out, size_t n, float difference, int decimals);
#endif
