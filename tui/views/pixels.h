/* A node that is a picture: [c,y,i,x,j], patches of pixels. Rows and columns here are pixels of the whole picture. */
#ifndef VITRINE_TUI_VIEWS_PIXELS_H
#define VITRINE_TUI_VIEWS_PIXELS_H
#include "tui/views/shown.h"

typedef struct Pixels {
    Shown v;
    int channels, rows, cols; /* patches down and across */
    int patch_h, patch_w;     /* pixels */
    size_t stride[5];         /* of c, y, i, x, j */
    int axis[5];
} Pixels;

/* False where that node is no picture. */
bool pixels_open(const Session *s, Side side, const char *path, Pixels *out);
/* The picture that goes into the model: node `pixels`, or `image` where ready values were given. */
const char *pixels_input(const Session *s, Side side);
int pixels_height(const Pixels *p);
int pixels_width(const Pixels *p);
/* The data cursor: its pixel, its patch and its channel. */
int pixels_row(const Pixels *p);
int pixels_col(const Pixels *p);
int pixels_patch_row(const Pixels *p);
int pixels_patch_col(const Pixels *p);
int pixels_channel(const Pixels *p);
size_t pixels_cell(const Pixels *p, int channel, int row, int col);
#endif
