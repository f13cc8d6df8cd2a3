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
#include "core/models/family.h"
#include "core/models/ledger.h"
#include "core/models/stages.h"
#include "core/models/text_model.h"

/* INPUT_PATH: of a file's name, or of a text, which may be as long as models read. */
enum { INPUT_PATH = 32768, SESSION_AXES = 48, SESSION_PATH = 160, PLACE_OPERANDS = 64 };

/* ---- what is shown: A, B, and their difference ---- */
/* How a run is asked for: A, B and A − B are ways to ask, and the first numbers of the table of runs; from RUN_FIRST on
 * a number is that of one run of one exhibit, as long as the exhibit lives. All are legal where a Side is taken, and as
 * Ref.run. */
typedef enum Side { SIDE_NONE, SIDE_A, SIDE_B, SIDE_DIFF, RUN_FIRST, RUN_LAST = UINT16_MAX } Side;

/* What a run looks at. Owns everything in it. Fields of another kind than `kind` are zeros, so that asking for them is
 * legal. */
typedef struct Input {
    InputKind kind;
    char name[128];        /* for people: "#17", "cat.png", "x.safetensors:pixel_values", or the text, long ones
                            * with an ellipsis: records have input_whole */
    char path[INPUT_PATH]; /* what opened it, to open it again */
    int label;             /* its true class where known (drawn shapes), else -1 */
    /* INPUT_PICTURE */
    Image original; /* as decoded and upright; empty when ready values were given */
    Image resized;  /* what the model receives */
    float *values;  /* channels · height · width cells of the model's input leaf */
    size_t cells;
    bool ready;     /* the values came from a file, already standardised */
    bool unchecked; /* of an archive only a part was read: its checksum was not tested */
    bool drawn;     /* one of the drawn shapes */
    bool rendered;  /* one of the rendered scenes, which are no photographs */
    const uint8_t *mask;
    /* INPUT_TEXT */
    Text text[TEXTS]; /* in arena */
    bool invented;    /* none was given, and what stands there is only the model's first numbers */
    char note[256];   /* what of it the model was not given, or never saw the like of */
    Arena arena;
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

/* A head's vote by looking at one token: path of the entry's total in the ledger before; "" for none. */
typedef struct LedgerStep {
    char via[SESSION_PATH];
    int head, token;
} LedgerStep;

/* What the ledger on show splits into what every part wrote: a cell, less another one of the same node. */
typedef struct LedgerTarget {
    char path[SESSION_PATH];       /* "logits"; "" for none */
    size_t cell, against;          /* against: LEDGER_ALONE for none */
    LedgerStep step[LEDGER_STEPS]; /* whose votes are looked at too, each what came into the one before */
} LedgerTarget;
typedef struct LedgerOn {
    LedgerTarget of; /* what stands at the end of the graph */
    Ledger ledger;
    Ledger via[LEDGER_STEPS]; /* what parts before it wrote into each step's vote */
    int steps;                /* that are there */
    bool there;               /* false: none was asked for, or … */
    Err why;                  /* … why there is none */
} LedgerOn;

/* The run of a model over its input, as trained (base) and as edited. */
typedef struct Forward {
    Graph *base, *edited;                  /* edited is NULL without edits; on the heap, because runs point to them */
    NodeId base_count, edited_count;       /* their nodes before the gradients, which stand at the end … */
    ArenaMark base_mark, edited_mark;      /* … and what their arenas held */
    GradTarget base_target, edited_target; /* whose those are */
    LedgerOn base_ledger, edited_ledger;   /* behind them */
    struct RemovalRun *effects[2];         /* by LedgerTaken, of the ledger on show; NULL: not begun */
    struct Patching *patching[3];          /* by PatchKind: of the base run, with A's values; NULL: not begun */
    Run *base_run, *edited_run;
    uint16_t base_number, edited_number; /* of the runs, in the session's table; 0: not in it */
    Edit *edits;                         /* what edited was made from */
    int edit_count;
    Arena edit_arena;
} Forward;

/* A model looking at an input, or named matrices made into a graph; exhibit.h. */
typedef struct Exhibit {
    const Model *model; /* NULL: the graph is all there is */
    Model *own;         /* the model, where it goes with the exhibit */
    Input input;
    Forward pass;
    EditState lines; /* of a pinned exhibit: the lines that its edits were made from */
} Exhibit;

/* A row of the table of runs. */
typedef struct RunRow {
    Exhibit *exhibit; /* NULL: free */
    bool edited;
} RunRow;

/* ---- where the reader stands ---- */
/* One line each in screens.def; what they do is in screens.h. */
typedef enum Screen {
#define SCREEN(symbol) SCREEN_##symbol,
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
    size_t term;             /* SCREEN_EXPLAIN: chosen line, 0 = largest term; SCREEN_CLOSEUP: step, 0 = all is there */
    int operand;             /* …and which of its operands, 0 or 1; SCREEN_CLOSEUP: the line the cursor is on */
    int box;                 /* the step: a visible box of `stages`, "you are here" */
    int due;                 /* came to the answer before it was computed: the index + 1 that the cursor leaves for the
                                answer's when it is; 0: nothing is due */
    int text; /* what was on show there, where Enter in `decoding` has changed that (decoding_note); 0: it
                                has not */
} Place;

typedef enum View { VIEW_HEAT, VIEW_NUMBERS, VIEW_STRIP, VIEW_HISTOGRAM, VIEW_COUNT } View;
const char *view_name(View v);
typedef enum PoolKind { POOL_MAX, POOL_MEAN, POOL_ABSMAX, POOL_KINDS } PoolKind;
typedef enum RangeOf {
    RANGE_SHARED, /* one for A and B */
    RANGE_OWN,    /* each side's own */
    RANGE_LOG,    /* one for both, by powers of ten */
    RANGE_HEADS,  /* one for all heads of a sheet of one side; elsewhere as shared */
    RANGES
} RangeOf;
typedef enum Compare {
    COMPARE_OFF,   /* one side is shown: the edited run where there are edits, else the base */
    COMPARE_SIDES, /* A, B and A − B side by side */
    COMPARE_A,
    COMPARE_B,
    COMPARE_DIFF, /* one of them alone */
    COMPARE_COUNT
} Compare;

/* What is written over a row of attention on the patches. */
typedef enum RowOverlay { ROW_BARE, ROW_NUMBERS, ROW_OVERLAYS } RowOverlay;

/* Which maps of patches come first on the screen of alike tokens. */
typedef enum AlikeFirst { ALIKE_COSINE, ALIKE_COLOURS, ALIKE_LENGTHS, ALIKE_FIRSTS } AlikeFirst;

/* Whose attention is drawn between words. */
typedef enum SentenceHeads { SENTENCE_ONE, SENTENCE_ALL, SENTENCE_SUM, SENTENCE_HEADS } SentenceHeads;

typedef struct LookAt {
    View view;
    int pool; /* 0 = auto, else 1, 2, 4, 7 … cells per drawn cell and axis */
    PoolKind pool_kind;
    int pictures;       /* over so many at least a model's accuracies are measured, where its figures are not known */
    bool average;       /* attention: mean over heads instead of one head */
    char map[24];       /* colour map by name; "" = automatic (sequential or signed) */
    int range;          /* what a scale of attention runs over, a RangeOf */
    bool locked;        /* colour scale kept for comparing */
    float low, high;    /* the locked scale */
    bool steps_focused; /* the steps pane has the cursor, not the main pane */
    bool zoomed;        /* the main pane takes the whole screen */
    bool playing;       /* what comes in steps goes on by itself (play.h), … */
    int frame;          /* … this far into the step: 0, all of it is there, else 1 … PLAY_FRAMES, … */
    int pace;           /* … PLAY_SLOWEST … PLAY_FASTEST */
    bool backwards;
    bool rows; /* the film is of the rows of one attention */
    int until; /* … or it ends with this box of the map, counted from 1; 0: with the pass */
    /* what one screen has for itself */
#define SCREEN(symbol)
#define SCREEN_WITH(symbol, word, ...)                                                                                 \
    struct {                                                                                                           \
        __VA_ARGS__                                                                                                    \
    } word;
#include "core/session/screens.def"
#undef SCREEN
} LookAt;

/* A − B: one graph for the pair, that grows by three nodes for every tensor that is asked for. */
typedef struct Diff {
    Graph
        graph; /* leaves "a.PATH" and "b.PATH", which point at the two runs' values while they are read; PATH = a − b */
    Run *run; /* NULL: nothing was asked for */
} Diff;
enum { SESSION_BACK = 64 };

/* x, kept inside low … high. */
static inline int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}

typedef bool (*SessionProgress)(void *context, const char *what, double share); /* false cancels */

typedef struct Session {
    Pool *pool;
    size_t memory;          /* bytes of values that are kept at most; weights are not counted. See run_budget */
    bool assume;            /* models whose architecture is not known by name are taken for plain ViTs */
    Model model;            /* the one that was opened */
    char model_path[1024];  /* what opened it; "" = the bundled model */
    bool model_chosen;      /* by name; else a picture of another kind opens with the program's other model */
    char resolution[16];    /* …and --resolution with it; "" = none */
    char texts[1100];       /* file that a decoder is measured on: --text, else its held.txt; "" = none */
    bool texts_said;        /* …by --text */
    int models;             /* how many were opened: what is known of a model holds while it stays the same */
    int model_uses;         /* by those who read its weights elsewhere: while there are any no other model is opened */
    const char *keep_model; /* and why, for the reader */
    Exhibit **exhibits;     /* [exhibit_count]: all there are, each on the heap */
    int exhibit_count;
    size_t exhibit_cap;
    Exhibit *now;    /* one of them: what the reader looks at, B */
    Exhibit *pinned; /* one of them: A, where something is pinned, else NULL */
    RunRow *runs;    /* [run_count]: by Ref.run; the first RUN_FIRST are the sides' and stay empty */
    size_t run_count, run_cap;
    Stages stages; /* of the graph that B shows */
    bool *open;    /* [stages.count]: boxes that are open */
    Place place;
    Place back[SESSION_BACK]; /* history of places, oldest first */
    int back_count;
    Place forward[SESSION_BACK]; /* where `back` came from, the last one last; empty once one goes elsewhere */
    int forward_count;
    LookAt look;
    Compare compare;
    EditState edits;
    GradTarget target;      /* whose gradients are on show: `gradient` */
    LedgerTarget ledger;    /* and whose ledger: `ledger` */
    EditState *undo, *redo; /* stacks of earlier and undone states */
    int undo_count, redo_count;
    size_t undo_cap, redo_cap;
    Diff diff;
    struct {
        char name[32];
        Place place;
    } marks[16];
    int mark_count;
    struct {
        char text[64]; /* what was looked for last (address.h) */
        int at;        /* the thing that was found */
        bool on;       /* n and N go on with it, until a step is taken */
    } sought;
    Buf said;         /* text of the last command, for the screen's message line or overlay; one or more lines */
    bool quit;        /* set by `quit` */
    uint64_t changes; /* counts every change of what may be on screen */
    SessionProgress progress;
    void *progress_context;
    struct Explained *explained; /* closeup.h; NULL until something of it is asked for */
    struct Measures *measures;   /* measures.h; NULL until something of it is asked for */
    unsigned permit;             /* what the line being run may touch: LINE_… (command.h); all outside of one */
    const char *(*lend)(void *context, const char *word, Err *err); /* files of a class (command.h) */
    void *lend_context;
    struct {
        int held;
        void (*follow)(void *context, const char *lines);
        void *context;
    } log; /* state.h */
} Session;

/* model_path NULL: the bundled model. input NULL: the first bundled picture. threads as pool_new. False: nothing to
 * free. */
bool session_init(Session *s, const char *model_path, const char *input, int threads, SessionProgress progress,
                  void *context, Err *err);
/* How a model is to be opened. */
typedef struct ModelWish {
    bool assume; /* this one and those opened later may have an architecture that is not known by name
                    (model_load_assuming) */
    const char
        *resolution;   /* "384" or "384x224", width x height: the pictures it is run on (model_fit); NULL: its own */
    const char *texts; /* what a decoder is measured on; NULL: what its training held out, where that is there */
} ModelWish;
bool session_init_as(Session *s, const char *model_path, ModelWish wish, const char *input, int threads,
                     SessionProgress progress, void *context, Err *err);
/* The same with a model that was made elsewhere, which is taken over (*m is empty afterwards); on failure it stays the
 * caller's. input: as the model's family reads it. */
bool session_init_model(Session *s, Model *m, const char *input, int threads, Err *err);
void session_free(Session *s);
/* Bytes of values that are kept at most; at first a quarter of the machine's memory. What is pinned has as much of them
 * as what is on show, and so have the searches of `decoding`. */
void session_budget(Session *s, size_t bytes);
/* A budget that all that was held at once so far would have fitted into; 0: the one there is was enough. */
size_t session_short(const Session *s);
/* Is the model a decoder alone, which goes on from the text that it reads? *query: its axis of tokens, AXIS_NONE where
 * there is none. */
bool session_goes_on(const Session *s, int *query);
bool session_open_input(Session *s, const char *input, Err *err); /* edits stay; a pinned A stays */
/* NULL: bundled; the picture stays, edits and history are dropped. While its weights are in use elsewhere, nothing
 * happens where it is the model that is open, and any other is refused. */
bool session_open_model(Session *s, const char *path, Err *err);

/* ---- exhibits: all of this between frames, and never in the middle of a run ---- */
/* Another exhibit beside those there are; nothing on show changes. The input is taken over; m, which may be NULL only
 * with session_add_graph, must outlive it. Returns it: the session's. */
Exhibit *session_add(Session *s, const Model *m, Input *in);
/* The same of a graph that is built already (on the heap, taken over): a worked example on the real engine. */
Exhibit *session_add_graph(Session *s, Graph *g, Input *in);
/* Makes e what the reader looks at (B), or what is pinned (A; NULL: nothing). Edits go with the exhibit that is B:
 * false where they can't be made there, and nothing has changed. */
bool session_show(Session *s, Exhibit *e, Err *err);
void session_pin(Session *s, Exhibit *e);
/* The model with that input becomes B, and what was on show, with its edits, A. */
bool session_beside(Session *s, Input *in, Err *err);
/* A and B of one model change places; refused where one of them is changed. */
bool session_exchange(Session *s, Err *err);
/* Frees an exhibit and takes its runs from the table. What is pinned may go; B may not. */
void session_drop(Session *s, Exhibit *e);

/* ---- reading ---- */
bool session_edited(const Session *s);   /* are there edits now? */
bool session_pinned(const Session *s);   /* is A another exhibit than B? */
bool session_compares(const Session *s); /* is there an A that differs from B: edits, or a pinned exhibit? */
Side session_side(const Session *s);     /* the one side on show where only one is: A, B or DIFF */
/* A = the pinned exhibit as it was pinned, else now as trained; B = now with its edits; or a number of the table. */
const Graph *session_graph(const Session *s, Side side); /* of DIFF and of a run that is gone: B's */
Run *session_run(const Session *s, Side side);
const Exhibit *session_exhibit(const Session *s, Side side);
const Input *session_input(const Session *s, Side side);
bool session_words(const Session *s, Side side); /* is it words? */
/* Is that side the model that is open, as trained? Figures over many pictures are of that one. */
bool session_as_trained(const Session *s, Side side);
/* The graph of B as trained: whose axes the data cursor has an index on. */
const Graph *session_base(const Session *s);
/* The run that says how unlike B's input is to what the model has seen: as trained, because a change of the model makes
 * no other picture. */
Side session_judged(const Session *s);
/* Number in the table of an exhibit's run; SIDE_NONE where there is no such run. */
Side session_run_number(const Exhibit *e, bool edited);
/* What B is, asked of its anatomy and axes: heads, answers that can be named, the factor on the
 * scores; 0 (1 for the factor) where it has none. */
int session_heads(const Session *s);
int session_tokens(const Session *s); /* that the model ends with: of the target, where there are two sequences */
int session_classes(const Session *s);
float session_scale(const Session *s);
/* What is said of the kind of input that a side shows: a text, or else a picture. */
typedef struct InputWords {
    const char *said, *alike;                    /* "Picture"; another one beside which it can be patched */
    const char *no_answer, *no_loss, *no_ledger; /* why there is none */
    const char *held_out;
} InputWords;
const InputWords *session_input_words(const Session *s, Side side);
/* Why there is no answer to show, of a model that has none: "this model has no classes", … */
const char *session_no_answer(const Session *s, Side side);
/* Are the heads of B called by attention (decoder block 1, cross-attention) and not by block alone? */
bool session_by_attention(const Session *s);
/* What B's model may have learned from, and how it is examined; NULL where its family has none. */
const struct TaskKind *session_task(const Session *s);
/* Path of what the network sees first: where the reader begins. */
const char *session_first(const Session *s);
/* Node of that path on that side (for DIFF: B's node when A has one of the same shape), or NO_NODE; path may be NULL,
 * as of a site that a model lacks. */
NodeId session_node(const Session *s, Side side, const char *path);
/* Why there is no A − B of that node: one line, or NULL where there is one. out: SESSION_PATH and more. */
enum { SESSION_WHY = 320 };
const char *session_diff_why(const Session *s, const char *path, char out[SESSION_WHY]);
/* Values, NULL while not computed. */
const float *session_peek(const Session *s, Side side, const char *path);
/* The data cursor's indices on the axes of that side's graph, never out of range: the place itself for B, what stands
 * for the same on another side (an axis of the same letter, role and sequence; 0 where B has none). at: room for them;
 * returns them. An index past a shorter axis is its last. */
const int *session_at(const Session *s, Side side, int at[SESSION_AXES]);
/* The same of a place that the reader stood at. */
const int *session_at_place(const Session *s, Side side, const Place *place, int at[SESSION_AXES]);
/* One of these indices, on an axis of any graph. */
int session_index_on(const Session *s, const Graph *g, int axis);
/* The focused cell of a node: those indices on its axes. */
size_t session_cell(const Session *s, Side side, NodeId n);
/* Is that cell what the cursor says, or does that side end before it? */
bool session_cell_there(const Session *s, Side side, NodeId n);
/* The way back: sets in at[], which are B's, what axes `dims` of that side's graph have at their joint index. False,
 * at[] unchanged, where B has no such axis or ends before. */
bool session_point(const Session *s, Side side, Dims dims, size_t joint, int at[SESSION_AXES], Err *err);
Ref session_ref(Side side, NodeId n, size_t cell); /* the Ref a canvas cell carries */
/* "untrained", or why the answer means nothing here or what it is worth, or ""; up to a colon it is whole. out: room
 * for it. */
enum { SESSION_NOTE = 96 };
const char *session_model_note(const Session *s, char out[SESSION_NOTE]);
/* How far B's picture is from those that the model learned from (probes_seen_add); false where nothing is known of it,
 * or not yet. */
bool session_seen(const Session *s, float *distance);

/* ---- computing, between frames ---- */
typedef enum NeedWhat {
    NEED_VALUES,
    NEED_MOVED,       /* how far the node's tokens moved from A to B (difference.h) */
    NEED_CHANGED,     /* along what they changed in different ways (difference.h) */
    NEED_EXPLANATION, /* of one cell of the node, when its values and its inputs' are there (closeup.h) */
    NEED_CLOSEUP
} NeedWhat;
typedef struct Need {
    Side side;
    char path[SESSION_PATH];
    NeedWhat what;
    size_t cell, most; /* of an explanation: whose, and so many of its terms at least */
} Need;
static inline bool need_of_both(NeedWhat what) /* of the pair, and no value of the node's own */
{
    return what == NEED_MOVED || what == NEED_CHANGED;
}
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
/* Bytes of values held now, and the most that were: by what is on show, what is pinned and the searches of `decoding`.
 */
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
/* The axis of that role: the focused node's own, else the first of the model; AXIS_NONE where it has none. */
int session_role(const Session *s, AxisRole role);
/* Sets every axis of the graph that is the same as `axis`, by role, sequence and length. */
void session_set_index(Session *s, int axis, int index);
/* A patch or token picked is the same everywhere: keeps places, asking tokens, rows and columns of the picture in step
 * after axis `changed` was set. */
void session_sync(Session *s, int changed);
int session_block(const Session *s);  /* block of the focus, 0 …, or -1 outside blocks */
int session_blocks(const Session *s); /* blocks of the stack that the focus is in, of the first one outside blocks */
int session_blocks_on(const Session *s, Side side); /* of that stack on a side; B's for a difference */
int session_head(const Session *s);                 /* head of the cursor, 0 … */
/* The attention that is meant in block number `block` of that stack, -1: in the focused block, in block 0 where there
 * is none: the one that the focus is in, the one of the same kind, else the block's first. A part of g, or NO_PART. */
int session_attention(const Session *s, const Graph *g, int block);
/* What an attention of a block is called in tables: "block 2"; of a model with several stacks "dec 2 cross". Returns
 * out. */
enum { ATTENTION_NAME = 24 };
const char *session_attention_name(const Graph *g, int part, char out[ATTENTION_NAME]);
/* The focus goes to the same node of that attention (anatomy_attention), to its pattern where it has none. False, with
 * nothing changed, where there is no such attention. */
bool session_to_attention(Session *s, int number);
/* Path of a site of that attention, or NULL. */
const char *session_attention_site(const Session *s, const Graph *g, int block, Site site);
/* Path of the same kind of node in another block of the same stack; path itself outside blocks. */
const char *session_in_block(const Graph *g, const char *path, int block, char out[SESSION_PATH]);
/* Goes to a node's step on that screen; pushes the old place onto the history. False, where one stands staying, when
 * what is on show has no such node. */
bool session_go(Session *s, const char *path, Screen screen, Err *err);
Screen session_screen_for(const Session *s, const char *path);
/* The step the focus belongs to; steps are numbered from 1, whatever is open. */
int session_step_number(const Session *s, int *total);
void session_say(Session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* replaces `said` */

/* ---- which model is meant: one of the program's own, or a file or folder ---- */
/* Is it "photos", the model in the program that has seen photographs? Opens it. */
bool photos_asked(const char *model);
bool photos_open(Model *m, Err *err);
/* Is it the name of a model in the program, rather than of a file? */
bool model_in_program(const char *model);
/* Does `model`, as -m has it, name a text model: "translator", the bundled one, or the folder of another? NULL does
 * not: without -m it is the picture model. */
bool text_asked(const char *model);
/* Opens it; NULL is the bundled translator. */
bool text_open(Model *m, const char *model, Err *err);
#endif
