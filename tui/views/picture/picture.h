/* Parts of the picture view. */
#ifndef VITRINE_TUI_VIEWS_PICTURE_PICTURE_H
#define VITRINE_TUI_VIEWS_PICTURE_PICTURE_H
#include "core/io/image.h"
#include "tui/views/pixels.h"

/* The file as it was decoded, as large as fits into r with its proportions kept; a pixel of the file is no number of
 * the trace. */
void picture_file(const Paint *p, Rect r, const Image *im);

/* How the model's picture is laid out: patches of kx × ky units in steps of pitch_x × pitch_y; a unit is a column
 * across and half a line down (a whole line where there are no half blocks). pitch 0: too small for the patches, the
 * picture is shrunk into span_x × span_y units. */
typedef struct PictureFit {
    Rect at;
    bool halves;
    int pitch_x, pitch_y, kx, ky;
    int span_x, span_y; /* units covered */
} PictureFit;
PictureFit picture_fit(const Paint *p, Rect r, const Pixels *px);
/* The picture that the model receives, from node values, with the picked patch marked. */
void picture_model(const Paint *p, Rect r, const Pixels *px, bool focus);
/* The patches that the changes of a side hide from the model; of A − B those that one side alone hides. They are drawn
 * as a chequerboard: their pixels are what they are, but the step after them gets the mask token in their place. */
typedef struct PictureCover {
    const float *shown[2]; /* [patches]: 0 where it is hidden, 1 where not; NULL: none is */
} PictureCover;
PictureCover picture_cover(const Session *s, Side side);
bool picture_covers(const PictureCover *cover, int patch);
/* Cell (channel of the data cursor) drawn at (y, x) of the canvas. False outside the picture. */
bool picture_hit(const Paint *p, Rect r, const Pixels *px, int y, int x, size_t *cell);
/* What one drawn cell is: "each point is the mean of 2×2 pixels"; nothing where it is one pixel. Appended. */
void picture_caption(const Paint *p, Rect r, const Pixels *px, Buf *out);

/* What a value looks like: 0 … 255 as it is, ready values stretched over their range; a difference as data. */
typedef struct PictureTone {
    bool data;
    float low, high;
    ColourScale scale;
} PictureTone;
PictureTone picture_tone(const Paint *p, const Pixels *px);
int picture_byte(const PictureTone *t, float x); /* 0 … 255 */
/* One pixel's colour; anything but three colours is shown as the grey of the data cursor's channel. */
Colour picture_colour(const Pixels *px, const PictureTone *t, int row, int col);

/* Of the picked patch: its pixels, as large as fits into r, the cursor's marked, below them a bar for each of its
 * colours. */
void picture_patch(const Paint *p, Rect r, const Pixels *px);
bool picture_patch_hit(const Paint *p, Rect r, const Pixels *px, int y, int x, size_t *cell);
/* The ground of a value as a number: as bright in its own channel. of: a PictureGround. */
typedef struct PictureGround {
    const Pixels *px;
    PictureTone tone;
} PictureGround;
Colour picture_ground(const void *of, size_t cell);
#endif
