/* Two to five small pictures of the same patches, each with a title line, arranged so that they are as large as can be.
 */
#ifndef VITRINE_TUI_VIEWS_PANELS_H
#define VITRINE_TUI_VIEWS_PANELS_H
#include "tui/views/lattice.h"
#include "tui/views/pixels.h"

enum { PANELS_MOST = 5 };

typedef struct Panels {
    int count, rows, cols;   /* patches down and across, in every panel */
    Rect title[PANELS_MOST]; /* one line; no height where there is no room for it */
    LatticeMap map[PANELS_MOST];
} Panels;
/* rows × cols patches, the squares an even number of columns wide (so that a patch ends where a line ends) or one, at
 * most `most`; where they do not fit, the part around (here_row, here_col). */
Panels panels_make(const Paint *p, Rect room, int count, int rows, int cols, int most, int here_row, int here_col);
/* Columns per patch in such panels; 0 where not all patches fit. */
int panels_square(const Paint *p, Rect room, int count, int rows, int cols, int most);
/* The lines that all panels take together. */
int panels_lines(const Panels *s);
/* Text beside the panels instead of below them: cuts r into both where every patch of every panel gets more than
 * `square` columns then, and at least `aside` columns are left over. The panels fill their part. False, and both
 * untouched, where it is not so. */
bool panels_beside(Rect r, int count, int rows, int cols, int most, int square, int aside, Rect *panels, Rect *text);
/* One more panel in room, as large as it can be there but no larger than `most`; false where not all of it fits. */
bool panels_add(const Paint *p, Panels *s, Rect room, int most);
/* Which panel and which patch of it. */
bool panels_hit(const Panels *s, int y, int x, int *panel, int *row, int *col);
/* Draws the edge of a set of patches over a panel that is drawn: `inside` says which. Where a patch is one column wide
 * there is no room for it. */
typedef bool (*PanelInside)(const void *context, int patch);
void panels_outline(const Paint *p, const Panels *s, int panel, PanelInside inside, const void *context);
/* One patch of a picture, whose values low … high are dark … bright: 0 … 255, but ready values are stretched over their
 * range. */
void panels_range(const Paint *p, const Pixels *px, float *low, float *high);
void panels_patch(const Paint *p, const LatticeMap *m, const Pixels *px, float low, float high, int row, int col);
/* All of a panel's patches of a picture, and the edge of those inside (NULL: none): in the canvas's own pixels where it
 * has some. */
void panels_picture(const Paint *p, const Panels *s, int panel, const Pixels *px, PanelInside inside,
                    const void *context);
/* Brackets around a panel's picked patch, and the hardware cursor there where focus is set. */
void panels_mark(const Paint *p, const Panels *s, int panel, int row, int col, Ref ref, bool focus);
#endif
