/* The session: what is loaded, where the reader stands, what was changed. It changes only through commands (command.h);
 * keys, footer buttons, mouse, scripts, tests and `-c` all send the same strings. Views read it through a const
 * pointer. */
#ifndef VITRINE_SESSION_SESSION_H
#define VITRINE_SESSION_SESSION_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/pool.h"
#include "core/base/ref.h"
#include "core/graph/anatomy.h"
#include "core/graph/edit.h"
#include "core/graph/run.h"
#include "core/models/model.h"
#include "core/models/stages.h"

enum { SESSION_AXES = 48, SESSION_PATH = 160 };

/* ---- what is shown: A, B, and their difference ---- */
typedef enum Side { SIDE_NONE, SIDE_A, SIDE_B, SIDE_DIFF } Side; /* the values are Ref.run */

/* The picture a run looks at. */
typedef struct Input {
    char name[128];  /* for people: "#17", "cat.png", "x.safetensors:pixel_values" */
    char path[1024]; /* what opened it, to open it again */
    Image original;  /* as decoded and upright; empty when ready values were given */
    Image resized;   /* what the model receives */
    float *values;   /* channels · height · width cells of the model's input leaf */
    size_t cells;
    bool ready; /* the values came from a file, already standardised */
    bool drawn; /* one of the drawn shapes */
    int label;  /* its true class where known (drawn shapes), else -1 */
    const uint8_t *mask;
} Input;

/* ---- edits ---- */
/* What `patch` took from a file or from A, kept because both may change or be gone when the line is read again. Shared
 * and counted. */
typedef struct EditValues {
    int uses;
    size_t cells;
    float *data;
} EditValues;
typedef struct EditState {
    char **line;         /* commands that make the edits, in order: "set scale off", "ablate blocks.1.attn.z[h=2]" */
    EditValues **values; /* [count]: those of a `patch` line once it was read, else NULL */
    int count;
} EditState;

/* Whose gradients are on show: those of one cell of a node, or of the loss. */
typedef struct GradTarget {
    char path[SESSION_PATH]; /* "logits", "loss"; "" for none */
    size_t cell;             /* of that node; of the loss the class that is right */
} GradTarget;

/* One model looking at one input, as trained (base) and as edited. */
typedef struct Exhibit {
    Graph *base, *edited;                  /* edited is NULL without edits; on the heap, because runs point to them */
    NodeId base_count, edited_count;       /* their nodes before the gradients, which stand at the end */
    GradTarget base_target, edited_target; /* whose those are */
    Run *base_run, *edited_run;
    VitNodes nodes; /* in base */
    Input input;
    Edit *edits; /* what edited was made from */
    int edit_count;
    Arena edit_arena;
    EditState lines; /* of a pinned exhibit: the lines that its edits were made from */
} Exhibit;

/* ---- where the reader stands ---- */
/* One row each in screens.def; what they do is in screens.h. */
typedef enum Screen {
#define SCREEN(symbol, ...) SCREEN_##symbol,
#include "core/session/screens.def"
#undef SCREEN
    SCREEN_COUNT
} Screen;
const char *screen_name(Screen s);

typedef struct Place {
    Screen screen;
    char path[SESSION_PATH]; /* node in focus */
    int at[SESSION_AXES];    /* the data cursor: an index on every axis of the graph; a node's focused cell has these
                                indices */
    size_t term;             /* SCREEN_EXPLAIN: chosen line, 0 = largest term */
    int operand;             /* …and which of its operands, 0 or 1 */
    int box;                 /* the step: a visible box of `stages`, "you are here" */
} Place;

typedef enum View { VIEW_HEAT, VIEW_NUMBERS, VIEW_STRIP, VIEW_HISTOGRAM, VIEW_COUNT } View;
const char *view_name(View v);
typedef enum PoolKind { POOL_MAX, POOL_MEAN, POOL_ABSMAX, POOL_KINDS } PoolKind;
typedef enum Compare {
    COMPARE_OFF,   /* one side is shown: the edited run where there are edits, else the base */
    COMPARE_SIDES, /* A, B and A − B side by side */
    COMPARE_A,
    COMPARE_B,
    COMPARE_DIFF, /* one of them alone */
    COMPARE_COUNT
} Compare;

typedef struct LookAt {
    View view;
    int pool; /* 0 = auto, else 1, 2, 4, 7 … cells per drawn cell and axis */
    PoolKind pool_kind;
    bool average;       /* attention: mean over heads instead of one head */
    char map[24];       /* colour map by name; "" = automatic (sequential or signed) */
    bool locked;        /* colour scale kept for comparing */
    float low, high;    /* the locked scale */
    bool steps_focused; /* the steps pane has the cursor, not the main pane */
    bool zoomed;        /* the main pane takes the whole screen */
    /* what one screen has for itself: declared in its row (ScreenSpec.options) */
    struct {
        bool grid; /* the patch grid drawn over it */
    } picture;
    struct {
        bool grids;   /* every position's map at once */
        bool centred; /* the mean embedding removed; in the film of training too */
    } positions;
    struct {
        int snapshot; /* which one, 0 … */
        bool twin;    /* the run without the scale instead */
    } training;
    struct {
        bool components; /* principal components instead of the filters themselves */
    } filters;
    struct {
        int method;    /* the map in focus, 0 … 3 */
        bool one_head; /* one head's attention instead of the mean of all */
    } where;
    struct {
        int reach; /* whose factor the slider is, a Reach (slider.h) */
    } laboratory;
} LookAt;

typedef struct Diff {
    char path[SESSION_PATH];
    Graph graph; /* leaves a and b (copies of both sides' values), difference = a − b */
    Run *run;
    NodeId difference;
} Diff;
enum { SESSION_DIFFS = 16, SESSION_BACK = 64 };

typedef bool (*SessionProgress)(void *context, const char *what, double share); /* false cancels */

typedef struct Session {
    Pool *pool;
    size_t memory; /* bytes of values that are kept at most; weights are not counted. See run_budget */
    Model model;
    char model_path[1024]; /* what opened it; "" = the bundled model */
    Exhibit now;           /* what the reader looks at */
    Exhibit pinned;        /* A, where something is pinned; base == NULL: nothing */
    Stages stages;         /* of the shown graph (now.edited or now.base) */
    bool *open;            /* [stages.count]: boxes that are open */
    Place place;
    Place back[SESSION_BACK]; /* history of places, oldest first */
    int back_count;
    LookAt look;
    Compare compare;
    EditState edits;
    GradTarget target;      /* whose gradients are on show: `gradient` */
    EditState *undo, *redo; /* stacks of earlier and undone states */
    int undo_count, redo_count;
    size_t undo_cap, redo_cap;
    Diff diffs[SESSION_DIFFS];
    int diff_next;
    struct {
        char name[32];
        Place place;
    } marks[16];
    int mark_count;
    Buf said;         /* text of the last command, for the screen's message line or overlay; one or more lines */
    bool quit;        /* set by `quit` */
    uint64_t changes; /* counts every change of what may be on screen */
    SessionProgress progress;
    void *progress_context;
    struct Measures *measures; /* measures.h; NULL until something of it is asked for */
    unsigned permit;           /* what the line being run may do: COMMAND_EDIT | … (permit.h); all outside of one */
    struct CommandLog *log;    /* log.h; NULL until something was logged */
} Session;

/* model_path NULL: the bundled model. input NULL: the first bundled picture. threads as pool_new. False: nothing to
 * free. */
bool session_init(Session *s, const char *model_path, const char *input, int threads, SessionProgress progress,
                  void *context, Err *err);
void session_free(Session *s);
/* Bytes of values that are kept at most; at first a quarter of the machine's memory. Where something is pinned it has
 * half of them. */
void session_budget(Session *s, size_t bytes);
bool session_open_input(Session *s, const char *input, Err *err); /* edits stay; a pinned A stays */
bool session_open_model(Session *s, const char *path,
                        Err *err); /* NULL: bundled; the picture stays, edits and history are dropped */

/* ---- reading ---- */
bool session_edited(const Session *s);   /* are there edits now? */
bool session_compares(const Session *s); /* is there an A that differs from B: edits, or a pinned exhibit? */
Side session_side(const Session *s);     /* the one side on show where only one is: A, B or DIFF */
/* A = the pinned exhibit as it was pinned, else now as trained; B = now with its edits. */
const Graph *session_graph(const Session *s, Side side); /* A or B */
Run *session_run(const Session *s, Side side);           /* A or B */
/* Node of that path on that side (for DIFF: B's node when A has one of the same shape), or NO_NODE; path may
 * be NULL, as of a site that a model lacks. */
NodeId session_node(const Session *s, Side side, const char *path);
/* Values, NULL while not computed. DIFF looks into the cache that session_step fills. */
const float *session_peek(const Session *s, Side side, const char *path);
/* The focused cell of a node: the data cursor's indices on its axes. */
size_t session_cell(const Session *s, Side side, NodeId n);
Ref session_ref(Side side, NodeId n, size_t cell); /* the Ref a canvas cell carries */
const char *session_model_note(const Session *s);  /* "untrained", or why the answer means nothing here, or "" */

/* ---- computing, between frames ---- */
typedef struct Need {
    Side side;
    char path[SESSION_PATH];
} Need;
/* Works on what the screen needs, then on the rest of the forward pass, until the deadline. True when all needs are
 * there and the passes are complete. */
bool session_step(Session *s, const Need *needs, int count, int64_t deadline_ns);
/* The same without what the screen measures over many pictures (measures_step). */
bool session_step_pass(Session *s, const Need *needs, int count, int64_t deadline_ns);
/* Computes one node whatever it takes (with progress); NULL when cancelled or absent. */
const float *session_need(Session *s, Side side, const char *path, Err *err);
void session_trim(Session *s);
bool session_busy(const Session *s); /* is anything of the shown passes still to be computed? */
double session_progress_share(const Session *s);
/* Is something of a complete pass that the screen asked for computed again, because it was forgotten? *share says how
 * far it is. */
bool session_again(const Session *s, double *share);
/* Bytes of values held now, and the most that were: by what is on show and what is pinned. */
size_t session_held(const Session *s, size_t *most);
/* Trace hash of a side; false while its pass is not complete. */
bool session_hash(const Session *s, Side side, uint64_t *hash);

/* ---- the data cursor ---- */
/* How a node is laid out in two dimensions: rows × columns of merged axes, the other axes held at the cursor. */
typedef struct Plane {
    Dims rows, cols, held;
    size_t row_count, col_count;
} Plane;
Plane plane_make(const Graph *g, NodeId n);
/* Cell of n at (row, col), the held axes from at[]. */
size_t plane_cell(const Graph *g, NodeId n, const Plane *p, const int *at, size_t row, size_t col);
/* Row and column of the data cursor. */
void plane_cursor(const Graph *g, const Plane *p, const int *at, size_t *row, size_t *col);
/* Sets the indices of the axes merged in `dims` from their joint index. */
void plane_set(const Graph *g, Dims dims, size_t joint, int *at);
int session_axis(const Graph *g, const char *sym); /* index of the axis with that letter, or AXIS_NONE */
/* The axis of that role: the focused node's own, else the first of the model; AXIS_NONE where it has none. */
int session_role(const Session *s, AxisRole role);
/* Sets every axis of the graph that is the same as `axis`, by role, sequence and length. */
void session_set_index(Session *s, int axis, int index);
/* A patch or token picked is the same everywhere: keeps places, asking tokens, rows and columns of the picture in step
 * after axis `changed` was set. */
void session_sync(Session *s, int changed);
int session_block(const Session *s);  /* block of the focus, 0 …, or -1 outside blocks */
int session_blocks(const Session *s); /* blocks of the stack that the focus is in, of the first one outside blocks */
int session_head(const Session *s);   /* head of the cursor, 0 … */
/* The attention that is meant in block number `block` of that stack, -1: in the focused block, in block 0 where there
 * is none: the one that the focus is in, the one of the same kind, else the block's first. A part of g, or NO_PART. */
int session_attention(const Session *s, const Graph *g, int block);
/* Path of a site of that attention, or NULL. */
const char *session_attention_site(const Session *s, const Graph *g, int block, Site site);
/* Path of the same kind of node in another block of the same stack; path itself outside blocks. */
const char *session_in_block(const Graph *g, const char *path, int block, char out[SESSION_PATH]);
/* Goes to a node's step on that screen; pushes the old place onto the history. False, where one stands staying, when
 * what is on show has no such node. */
bool session_go(Session *s, const char *path, Screen screen, Err *err);
Screen session_screen_for(const Session *s, const char *path);
/* The step (visible box) the focus belongs to; steps are numbered from 1. */
int session_step_number(const Session *s, int *total);
void session_say(Session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* replaces `said` */
#endif
