/* A picture changed a little before it is learned from, so that it is never quite the same twice: mirrored, moved,
 * recoloured, mixed with another, partly covered. All of it follows from the random numbers that are given, and from
 * exact arithmetic: the same pixels on every machine. */
#ifndef VITRINE_TRAIN_AUGMENT_H
#define VITRINE_TRAIN_AUGMENT_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/rng.h"

/* All 0: pictures as they are. */
typedef struct Augment {
    double flip;   /* probability of left and right exchanged */
    int shift;     /* pixels: up to so many in each direction, the border reflected (He et al. 2016 pad with zeros) */
    double colour; /* brightness, contrast and saturation, each times 1 − colour … 1 + colour */
    double mix;    /* probability of a mean with another picture (Zhang et al. 2018, "mixup"; shares uniform) */
    double cut;    /* … of a rectangle from another picture (Yun et al. 2019, "CutMix"; areas uniform) */
    double erase;  /* probability of a grey rectangle of 2 to 33 % of the area (Zhong et al. 2020, "Random Erasing") */
} Augment;

bool augment_any(const Augment *a);
/* Flip, shift and colour of pixels[c,y,x], 0 … 255; scratch: room for as many. shift < height and width. */
void augment_picture(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, float *scratch);
/* Mix or cut with another picture of the same size, then erase. Returns the share of the picture that is its own: what
 * its class gets of the target; the other's class gets the rest. */
double augment_mix(const Augment *a, Rng *r, int channels, int height, int width, float *pixels, const float *other);
#endif
