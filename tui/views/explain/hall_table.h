/* The numbers of a worked example in a hall: as large as there is room for, each with a bar as long as it is. */
#ifndef VITRINE_TUI_VIEWS_EXPLAIN_HALL_TABLE_H
#define VITRINE_TUI_VIEWS_EXPLAIN_HALL_TABLE_H
#include "tui/views/shown.h"

/* Of a number at most; scales of digits: of ordinary letters, and the smallest that can be read without half blocks.
 */
enum { HALL_DIGITS = 7, HALL_TEXT = 0, HALL_ASCII = 2 };

int hall_rows_at(int scale);
int hall_columns_at(const char *text, int scale);
void hall_put(const Paint *p, int y, int x, int width, Style style, const char *text, int scale);
void hall_tag(const Paint *p, Rect r, Ref ref); /* all of r is that number's */
/* Digits are black on white in a hall, or white on black; bars that were drawn in r are not: no bar is taken for a
 * digit's stroke. */
void hall_tone(const Paint *p, Rect r);
/* A bar that lies in r, as long as that share of it. */
void hall_lying(const Paint *p, Rect r, double share, bool below_zero, Ref ref);

typedef struct HallTable {
    const Shown *v;
    Plane plane;
    int label, cell;  /* columns of the rows' names, and letters of the longest number */
    int small;        /* its rows at least, where its digits are not large */
    bool large, grid; /* all of it can be shown in large digits; in ordinary ones with bars */
    double low, high; /* of its numbers, and 0 */
} HallTable;

HallTable hall_table_open(const Shown *v, int room);
bool hall_table_is_vector(const HallTable *t);
int hall_table_rows(const HallTable *t, int scale); /* at least */
bool hall_table_fits(const HallTable *t, int scale, int width);
/* Those that it takes of so many: for taller digits and for bars. */
int hall_table_lines(const HallTable *t, int scale, int most, int width);
bool hall_table_bars(const HallTable *t, int scale, int lines, int width); /* has each of its numbers one then? */
void hall_table_draw(const Paint *p, const HallTable *t, Rect r, int scale);
#endif
