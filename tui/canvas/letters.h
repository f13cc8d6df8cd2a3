/* Large letters for a hall: 3 × 5 dots each, drawn in half blocks, or in whole cells where there is only ASCII. */
#ifndef VITRINE_TUI_CANVAS_LETTERS_H
#define VITRINE_TUI_CANVAS_LETTERS_H
#include "tui/canvas/canvas.h"

enum { LETTERS_SCALES = 4 };
/* A dot is `scale` columns wide and `scale` half rows high. Rows and columns that a line of text takes. */
int letters_rows(int scale);
int letters_columns(const char *text, int scale);
int letters_count(const char *text);
/* One line, as far as it fits into `width`. */
void letters_line(Canvas *c, int y, int x, int width, Style s, const char *text, int scale);
/* Its dots `scale` columns wide and `tall` half rows high. */
void letters_tall(Canvas *c, int y, int x, int width, Style s, const char *text, int scale, int tall);
/* Wrapped at blanks, as large as fits into r and in its middle; false, with nothing drawn, where not even the smallest
 * does. */
bool letters_fill(Canvas *c, Rect r, Style s, const char *text);
#endif
