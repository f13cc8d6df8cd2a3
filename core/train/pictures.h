/* Labelled pictures to learn from and to be examined on: the drawn shapes, endless, each made from its number; or a
 * folder with one sub-folder of pictures per class. Reading is deterministic: the same numbers give the same pixels on
 * every machine. */
#ifndef VITRINE_TRAIN_PICTURES_H
#define VITRINE_TRAIN_PICTURES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/rng.h"
#include "core/models/preprocess.h"
#include "core/train/folder.h"

/* Which numbers a picture is taken from. No picture that is learnt from is in another set; no drawn one is in two. */
typedef enum PictureSet {
    PICTURES_TRAIN,    /* learnt from */
    PICTURES_HELD_OUT, /* never learnt from: accuracies are stated on these */
    PICTURES_CHECK     /* never learnt from: looked at while training */
} PictureSet;

typedef struct Pictures Pictures;

/* The drawn shapes in the size of p (48 × 48 as they are drawn, else resized), whose channels are 1 or 3. seed: another
 * series of training pictures; those that are not learnt from are always the same. */
Pictures *pictures_drawn(const Preprocess *p, uint64_t seed);
/* folder/<class>/<picture>: classes and pictures in the order of their names (bytewise). One in ten is held out, chosen
 * by its pixels (FOLDER_BY_CONTENT), and serves both sets that are: so nobody changes sides when files come, go or are
 * renamed. All are read, decoded and resized at once; a file that is no picture is named in the error, names that begin
 * with a dot are passed over. Two classes and two pictures of each are the least. NULL on failure; so when progress
 * (which may be NULL) returns false. */
Pictures *pictures_folder(const char *folder, const Preprocess *p,
                          bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
/* The same, held out by another rule; where all are, PICTURES_TRAIN is not to be asked for. */
Pictures *pictures_folder_by(const char *folder, const Preprocess *p, const FolderRule *rule,
                             bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
/* Writes the list of what a folder's PICTURES_TRAIN are (folder_read_learnt reads it), so that whoever examines the
 * model later knows. Nothing is written, and true returned, where the pictures are drawn. */
bool pictures_write_learnt(const Pictures *p, const char *path, Err *err);
/* A number that changes when other pictures are learnt from; 0 for drawn ones. */
uint64_t pictures_learnt_hash(const Pictures *p);
size_t pictures_learnt(const Pictures *p); /* of a folder: how many are in PICTURES_TRAIN; 0 for drawn ones */
void pictures_free(Pictures *p);           /* NULL is allowed */
int pictures_classes(const Pictures *p);
const char *const *pictures_names(const Pictures *p);     /* [classes]; live as long as p */
size_t pictures_count(const Pictures *p, PictureSet set); /* 0: endless */
/* Where picture number < pictures_count of a folder's set was read from; NULL of drawn ones. */
const char *pictures_path(const Pictures *p, PictureSet set, uint64_t number);
bool pictures_have_masks(const Pictures *p);
/* Picture `number` of a set (a folder's: modulo its count, every round in another order made from the round's number).
 * difficulty 0 … 1: drawn shapes only. pixels[c,y,x] gets 0 … 255; mask (height · width, how much of a pixel the object
 * covers, 0 … 255; zero where it is not known) may be NULL. Returns its class. Any thread. */
int pictures_get(const Pictures *p, PictureSet set, uint64_t number, double difficulty, float *pixels, uint8_t *mask);

/* A picture changed a little before it is learned from, so that it is never quite the same twice: mirrored, moved,
 * recoloured, mixed with another, partly covered. All of it follows from the random numbers that are given, and from
 * exact arithmetic: the same pixels on every machine. */

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
