/* What the files of the screen "where did it look?" share: the maps of one side, and the table of their numbers. */
#ifndef VITRINE_TUI_VIEWS_LEARNED_WHERE_VIEW_H
#define VITRINE_TUI_VIEWS_LEARNED_WHERE_VIEW_H
#include "core/session/screens/where.h"
#include "tui/views/lattice.h"
#include "tui/views/panels.h"

/* Cells of a row of the table: the name of the map and each of its two numbers. */
enum { WHERE_NAME = 13, WHERE_NUMBER = 11, WHERE_NAME_BRIEF = 10, WHERE_NUMBER_BRIEF = 8, WHERE_MASS_BRIEF = 10 };

typedef struct Where {
    const Session *s;
    Side side;
    bool there[WHERE_METHODS]; /* is there such a map on this side? */
    Shown map[WHERE_METHODS], mass[WHERE_METHODS];
    bool has_mass[WHERE_METHODS];
    Shown share, row_sum, patches_sum;
    bool has_share, has_sums;
    WhereOccluded occlusion;
    const float *object; /* [p], or NULL */
    Pixels picture;
    bool has_picture;
    const Axis *p;
    Lattice l;
    int at, row, col, focus;
    int large; /* the map that has the room: that in focus, another where there is none */
} Where;

/* Cell of a patch in a map's node: of one head, where it has heads. */
size_t where_cell(const Where *w, int m, int patch);
/* NaN where there is none yet. */
float where_value(const Where *w, int m, int patch);

/* Has a row of the table no room on one line of so many columns? */
bool where_narrow(const Where *w, int width);
/* The table, a row each. A narrow row has two lines: the name on the first. What is left of the line is returned. */
Rect where_draw_header(const Paint *p, const Where *w, Rect line, bool narrow);
Rect where_draw_row(const Paint *p, const Where *w, Rect line, int m);
/* The share of the map that has the room that is on the object, where a row of the table has no room for it. Returns
 * the cells used; 0: it has, or none is known. */
int where_draw_mass(const Paint *p, const Where *w, Rect line);
/* How many of the patches are the object. */
void where_draw_share(const Paint *p, const Where *w, Rect line);
/* Occlusion that is under way: "12 of 65, 30 s left", appended; false, with nothing, where it is not. */
bool where_put_progress(const Paint *p, const Where *w, Buf *text);
/* Does the rollout end before the last block? */
bool where_partly(const Session *s, Side side);
/* What a map is made of, appended; brief: as it fits half a line. */
void where_note_text(const Paint *p, const Where *w, int m, bool brief, Buf *text);
void where_draw_note(const Paint *p, const Where *w, Rect line, int m);
/* The sums that tell the variant of a rollout, after `used` cells; returns the lines used. */
int where_draw_sums(const Paint *p, const Where *w, Rect r, int used);
#endif
