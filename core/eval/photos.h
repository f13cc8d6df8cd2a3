/* The figures that are stated about photos, the model in the program that has seen photographs: counts over the
 * photographs that it did not learn from, measured by `make figures-photos` (assets/make_photos.c) and shipped in
 * photos.def. Screens and sentences read them from here. */
#ifndef VITRINE_EVAL_PHOTOS_H
#define VITRINE_EVAL_PHOTOS_H
#include "core/eval/figures.h"

enum { PHOTOS_CLASSES = 10 };
size_t photos_pictures(void); /* over how many the figures are */
/* One of those that both models have (not the twin's, and none of objects, which no photograph says); pair.n 0: not
 * measured. */
Figure photos_figure(FigureKind kind, int i);
/* [label, named]: photographs of a class that were given the name of a class. */
const size_t *photos_confusion(void);
/* Named right and all, of the answers of a bin of ACCURACY_SURE. */
AccuracySure photos_sure(int bin);
MeanOver photos_distance(int head); /* attention distance in pixels of head block · heads + h */
MeanOver photos_entropy(int head);  /* share of ln(tokens) */

/* A quarter of the patches, chosen so, was painted grey: what got lost. */
typedef enum PhotosGreyed { GREYED_ROLLOUT, GREYED_COLOUR, GREYED_LOT, GREYED_LEAST, GREYED_COUNT } PhotosGreyed;
Paired photos_greyed(PhotosGreyed which);

/* Pictures that are no photographs, and how many of them lie farther from what was learned from than 95 % of the
 * held-out photographs do. UNLIKE(symbol, what they are) */
#define PHOTOS_UNLIKE(X)                                                                                               \
    X(SHAPES, "drawn shapes")                                                                                          \
    X(NOISE, "noise, every pixel for itself")                                                                          \
    X(FLAT, "one colour all over")                                                                                     \
    X(STRIPES, "stripes of two colours")                                                                               \
    X(SHUFFLED, "held-out photographs cut into 16 pieces, mixed up")
typedef enum PhotosUnlike {
#define X(symbol, text) UNLIKE_##symbol,
    PHOTOS_UNLIKE(X)
#undef X
        UNLIKE_COUNT
} PhotosUnlike;
AccuracySure photos_unlike(PhotosUnlike which); /* right: farther away */
const char *photos_unlike_text(PhotosUnlike which);
#endif
