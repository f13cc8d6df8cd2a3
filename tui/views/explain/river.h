/* What the river is made of, and where on the screen: for what draws the water and for what writes beside it. */
#ifndef VITRINE_TUI_VIEWS_EXPLAIN_RIVER_H
#define VITRINE_TUI_VIEWS_EXPLAIN_RIVER_H
#include "tui/views/explain/ledger_view.h"

enum {
    RIVER_MOST = 512, /* tributaries of any model */
    RIVER_ENDS =
        14, /* columns of what is neither head nor MLP ("rest"), at the left, and of the number, at the right */
    RIVER_SPRING = 6,  /* … of the first alone */
    RIVER_PARTS = 8,   /* of a line: eighths */
    RIVER_NARROW = 50, /* … of the screen: fewer have no room for words at the ends */
    RIVER_MARKED = 36, /* … with which the legend says what the marks are */
    MLP_FROM = 4       /* … of one tributary, in which it is called MLP, not M */
};

/* The river, what comes into it and leaves it, what the number loses without that. */
typedef enum Water { DRY, STREAM, ADDS, TAKES, LOST } Water;

typedef struct Tributary {
    const LedgerEntry *e;
    int head;                  /* −1: an MLP, or the rest of an attention's heads */
    int number;                /* ledger_tributary's; −1: the rest */
    float wrote, lost, before; /* lost: NaN where it is not known; before: what stands so far */
    NodeId node;               /* NO_NODE of a rest */
    size_t cell;
    int group;  /* blocks before it; of several attentions in a block each counts */
    float size; /* of what it wrote, of two that are compared the larger */
} Tributary;

typedef struct River {
    const LedgerView *v;
    Tributary at[RIVER_MOST];
    int count, wide;   /* columns of one */
    int groups, apart; /* blocks, and columns between two of them */
    bool blocks;       /* one tributary a block: there is no room for an attention and an MLP of each */
    bool mlp_told;     /* what M is */
    bool against_told; /* where a bar against the water begins */
    Tributary here;    /* that of the cursor, drawn by itself or not; e NULL: none */
    float start, end;
    float low, high; /* how far it all goes */
} River;

/* Where it flows. */
typedef struct Bed {
    Rect r;
    int zero;    /* eighths from the bottom */
    float scale; /* eighths of 1 */
} Bed;

/* Takes, of all heads and MLPs, those that have room in so many columns; what has none is joined with others. */
void river_choose(River *r, const Tributary *all, int count, int columns);
/* Every head by itself, though no screen is as wide; false, with nothing known, while values are missing. */
bool river_of_all(const LedgerView *v, River *r);
/* Its heads and MLPs, or blocks, the largest first. Returns how many. */
int river_sorted(const River *r, const Tributary *to[RIVER_MOST]);
Colour river_colour(const Paint *p, float wrote); /* of what adds, or takes */

/* Is it the tributary of the cursor, or the block that this is in? */
bool river_is_here(const River *r, const Tributary *t);

/* Columns before the first tributary; the column of tributary i (count: of the end); columns of its own colour. */
int river_left(Rect room);
int river_column(const River *r, Rect room, int i);
int river_own(const River *r, const Tributary *t);

/* Eighths of the bed's height at which x stands; is a cell the mark of a loss? The Ref of a cell of a node. */
int river_level(const Bed *b, float x);
bool river_is_mark(const Paint *p, const Cell *k);
Ref river_ref(const LedgerView *v, NodeId n, size_t cell);

/* "block 10 head 11", in less room "block 10 h11" or "10 h11": cut behind "hea" all heads of a block would have one.
 * It may be longer than the room. */
void river_name(const Graph *g, const LedgerEntry *e, int head, int room, Buf *out);
/* A cell of it for the legend; above: of a river over 0. What is lost can be a mark. */
void river_put_key(const Paint *p, int y, int x, Water w, bool above, bool mark);

/* What one step wrote: "3.433", or where the sum stands beside it, and the bar perhaps in another block's columns,
 * "3h2 +3.433", "2ch0 +0.129", "3M -6.139". */
void river_wrote_text(const River *r, const Tributary *t, bool named, char out[32]);
/* The part of the cursor, and what it wrote; token: of that by looking at the one that `why` named. */
void river_put_here(const Paint *p, const River *r, Rect line, bool token);
/* Are attentions of several in a block told by a letter each, 2c, or c below one that is one tributary? */
bool river_numbered(const River *r, Rect room);
/* Returns whether it says what + is, where there is one. */
bool river_put_legend(const Paint *p, River *r, Rect line);
/* Is there a bar that goes the other way than the water stands? It begins at 0, not at the water's end: in words,
 * behind the columns used, where there is room and they do not stand yet. */
bool river_against(const River *r);
void river_put_against(const Paint *p, River *r, Rect line, int used);
/* What each wrote: the largest first; of those that are hardly to be seen that of the cursor. */
void river_put_values(const Paint *p, const River *r, const Bed *b);
/* What a letter below the water stands for, in a line of its own where that leaves most to the water. */
void river_put_letters(const Paint *p, River *r, Rect *names, Rect *room);
/* A name under each, the block's (or attention's) under all of its own in the line below; the cursor. */
void river_put_names(const Paint *p, const River *r, Rect room, int y, bool focus);
/* What was written by whom into the vote that `why` named, in words; in the last of several lines from where to where,
 * with a ┬ for every head on the way: nothing where there is no path. Lines of the words in so many columns. */
int river_path_lines(const River *r, int w, int most);
void river_put_path(const Paint *p, const River *r, Rect line);
#endif
