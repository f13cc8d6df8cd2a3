/* A view is a pure function (const Session, rectangle) → cells. Drawing never computes: a view lists the nodes it
 * needs, the app steps the runs, drawing uses session_peek (NULL: draws "computing"). Views do not know each other;
 * frame.c puts them together. */
#ifndef VITRINE_TUI_VIEW_H
#define VITRINE_TUI_VIEW_H
#include "core/session/session.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/colour.h"

/* How the frame is drawn: facts about the terminal that a view may use. */
typedef struct Paint {
    const Session *s;
    Canvas *c;
    ColourMode mode;
    bool light;       /* light ground */
    int seconds_left; /* of what is being computed; 0 where nobody knows */
} Paint;

enum { VIEW_NEEDS = 128 };

typedef struct Needs {
    Need item[VIEW_NEEDS];
    int count;
} Needs;
/* Adds path on a side once; silently full at VIEW_NEEDS. For SIDE_DIFF, A's and B's values are implied. */
void needs_add(Needs *n, Side side, const char *path);

typedef struct ViewSpec {
    const char *name;
    /* Draws into r (already inside its border). side: which values. focus: this pane has the cursor (sets canvas
     * cursor_y/x). */
    void (*draw)(const Paint *p, Rect r, Side side, bool focus);
    void (*needs)(const Session *s, Side side, Rect r, Needs *out); /* what draw will peek at */
    /* The command a click at (y, x) of the canvas stands for, drawn into r; false when none. */
    bool (*click)(const Paint *p, Rect r, Side side, int y, int x, Buf *command);
    /* Title for the pane's border, appended. */
    void (*title)(const Session *s, Side side, Buf *out);
} ViewSpec;

/* One per screen, in the order of Screen. */
extern const ViewSpec VIEW_PICTURE, VIEW_TENSOR, VIEW_SHEET, VIEW_MATRIX, VIEW_ROW, VIEW_POSITIONS, VIEW_EXPLAIN,
    VIEW_ANSWER;
extern const ViewSpec VIEW_TRAINING, VIEW_FILTERS, VIEW_HEAD_MAP, VIEW_WHERE, VIEW_LENS, VIEW_SCALE, VIEW_CENSUS,
    VIEW_BLANKS;
const ViewSpec *view_of(Screen s);
/* Side panes. */
extern const ViewSpec VIEW_STEPS;     /* the map of boxes, "you are here" */
extern const ViewSpec VIEW_STEP_INFO; /* this step: formula, symbol, shape, range, cost */
extern const ViewSpec VIEW_CURSOR;    /* the focused cell: labels, value, rank in its row */
extern const ViewSpec VIEW_ROW_TOP;   /* largest weights of the focused attention row; sum, entropy, largest */
extern const ViewSpec VIEW_FIGURES;   /* for comparing: score variance, entropy, largest weight of the row (one side) */
extern const ViewSpec VIEW_HEADS;     /* the same query in every head of the block, small */

/* --- shared drawing (heat.c) --- */
/* Range of values that colours stand for, and how a value becomes a colour. */
typedef struct ColourScale {
    MapId map;
    ColourMode mode;
    float low, high; /* signed maps: −high … high */
    bool is_signed;
} ColourScale;
/* Chosen from the session's LookAt (map, lock) and the values of the whole node: sequential for values ≥ 0, signed
 * otherwise. */
ColourScale colour_scale_for(const Paint *p, Side side, NodeId n, const float *values, size_t count);
ColourScale colour_scale_of_range(const Paint *p, float low, float high);
Colour colour_scale_colour(const ColourScale *s, float x);
int colour_scale_level(const ColourScale *s, float x); /* 0 … 9 */
int colour_scale_sign(const ColourScale *s, float x);
/* One line: low, the bar, high, map name, "locked". */
void colour_scale_bar(const Paint *p, const ColourScale *s, int y, int x, int width);

/* A rows × cols picture of numbers in half blocks: one cell is `cell_w` columns by one half row, or by cell_h whole
 * rows when cell_h > 0. value(context, row, col, &ref) gives each; NaN draws as the no-value colour. */
typedef float (*HeatFn)(const void *context, int row, int col, Ref *ref);
void heat_draw(const Paint *p, Rect r, int rows, int cols, int cell_w, int cell_h, const ColourScale *s, HeatFn value,
               const void *context);
/* A number for people: 6 significant digits at most, in width cells ("1.84021", "-1.2e-05", "inf", "NaN"); drops
 * digits, never the exponent. */
void number_text(char *out, size_t n, float x, int width);
/* ".97" as on the answer line; "1.00", "<.01". */
void probability_text(char *out, size_t n, float p);
#endif
