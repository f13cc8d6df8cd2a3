/* The ways of looking at a tensor's values, each drawn into a rectangle of its own. A tensor is seen as a plane: rows ×
 * columns of merged axes, every other axis held at the data cursor. */
#ifndef VITRINE_TUI_VIEWS_TENSOR_TENSOR_H
#define VITRINE_TUI_VIEWS_TENSOR_TENSOR_H
#include "tui/views/shown.h"
#include "tui/views/spread.h"

typedef struct Tensor {
    Shown v;
    Plane plane;
    Spread spread;     /* of all values of the node, where they are computed */
    size_t row, col;   /* the data cursor; a row past the last one: it is elsewhere */
    size_t row0, col0; /* the row and column of the node that row and column 0 are: of a part of them */
    /* where it stands beside others: without labels of its rows; without those of its columns, or with them however
     * low it is; with a mark at the cursor's row */
    bool no_rows, no_columns, columns, lit;
    bool
        upward; /* its heat runs from the least that is drawn, though some values are negative: cells are the largest */
    const ColourScale *scale; /* of its heat in the pane it is drawn in, where that is known; NULL: not yet */
    int label_least;          /* columns that the labels of its rows take at least, as of what stands below it */
    /* The ground of a number, where it has another one than its colour on the scale; `tint_of` goes with it. */
    Colour (*tint)(const void *tint_of, size_t cell);
    const void *tint_of;
    bool linear; /* the cell of (row, col) is first + row·row_stride + col·col_stride */
    size_t first, row_stride, col_stride;
} Tensor;

/* The plane that suits the node. False when that side has no such node. */
bool tensor_open(const Session *s, Side side, const char *path, Tensor *out);
/* The same values as another plane of their axes. */
Tensor tensor_plane(const Shown *v, Dims rows, Dims cols);
/* `count` of its rows from `from` on. */
Tensor tensor_rows(const Tensor *t, size_t from, size_t count);
/* `count` of its columns from `from` on; where the data cursor is in none of them it is elsewhere. */
Tensor tensor_columns(const Tensor *t, size_t from, size_t count);
size_t tensor_cell(const Tensor *t, size_t row, size_t col);
/* Cells that the row labels take at the left of a pane of that width: 0 where there is no room or nothing to say. */
enum { TENSOR_LABELS_FROM = 16 };
int tensor_label_width(const Tensor *t, int width);

/* All of these need t->v.values. *_hit: the cell drawn at (y, x) of the canvas, false when there is none. */
typedef struct TensorHow {
    void (*draw)(const Paint *p, Rect r, const Tensor *t, bool focus);
    bool (*hit)(const Paint *p, Rect r, const Tensor *t, int y, int x, size_t *cell);
    /* What one drawn cell is, appended: "1 cell = 2×2, max"; nothing where it is one value. */
    void (*caption)(const Paint *p, Rect r, const Tensor *t, Buf *out);
    double (*per_cell)(const Paint *p, Rect r, const Tensor *t);   /* values in a drawn cell; NULL: one */
    ColourScale (*scale)(const Paint *p, Rect r, const Tensor *t); /* of the cells drawn in r; NULL: of the spread */
    int (*wide)(const Paint *p, Rect r, const Tensor *t);          /* columns of r that it takes; NULL: all */
    bool bar;                                                      /* is there a colour scale to explain? */
    bool plane;                                                    /* are there rows and columns? */
} TensorHow;
extern const TensorHow TENSOR_HEAT, TENSOR_NUMBERS, TENSOR_STRIP, TENSOR_HISTOGRAM;
extern const TensorHow TENSOR_WORDS; /* of numbers of words (shown_vocabulary), whichever way is asked for */
const TensorHow *tensor_how(View view);

/* "q[t=r3c4,h=2,e=11] = 1.84021", the value tagged. Words are dropped where there is no room, digits last. */
void tensor_value_line(const Paint *p, int y, int x, int width, const Shown *v);
#endif
