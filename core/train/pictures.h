/* Labelled pictures to learn from and to be examined on: the drawn shapes, endless, each made from its number; or a
 * folder with one sub-folder of pictures per class. Reading is deterministic: the same numbers give the same pixels on
 * every machine. */
#ifndef VITRINE_TRAIN_PICTURES_H
#define VITRINE_TRAIN_PICTURES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/models/preprocess.h"

/* --- a folder of them --- */

/* A folder of labelled pictures, read once and kept as bytes of the model's size: folder/<class>/<picture>. */
enum { FOLDER_PART = 10 }; /* one in so many pictures of a class is held out, chosen by content */

typedef struct FolderPicture {
    const char *path;
    int label;
    size_t at;        /* its place in pixels */
    uint64_t content; /* hash of its size and pixels as they were decoded: a copy, or the same pixels in another file
                         format, has the same */
} FolderPicture;

/* Which pictures are held out. Nothing depends on names, or on which other pictures lie there, except where a class
 * would have none to learn from or none held out: then its picture of the largest or smallest hash changes sides. */
typedef enum FolderSplit {
    FOLDER_BY_CONTENT, /* those whose hash is a multiple of FOLDER_PART; at least one of each class, and not all */
    FOLDER_UNLEARNT,   /* those that are not in a list of what was learnt from */
    FOLDER_ALL         /* all of them */
} FolderSplit;

typedef struct FolderRule {
    FolderSplit split;
    const uint64_t *learnt; /* FOLDER_UNLEARNT: contents, ascending */
    size_t learnt_count;
} FolderRule;

/* Pictures in the order of their class and name, bytewise; the learnt ones first, then those held out. A zeroed Folder
 * is empty. */
typedef struct Folder {
    Arena names;
    const char **class_name; /* [classes] */
    int classes;
    FolderPicture *picture; /* [learnt + held] */
    size_t learnt, held;    /* held > 0; learnt > 0 where split by content */
    size_t size;            /* bytes of a picture */
    uint8_t *pixels;        /* [learnt + held][y,x,c], see FolderPicture.at */
} Folder;

/* Reads every picture. Names that begin with a dot are passed over. An error, with nothing to free: fewer than two
 * classes, a class without pictures (split by content: of fewer than two) or whose name is no UTF-8, something in it
 * that is no picture, something beside the classes, none that is held out, or more than fits in memory. progress (may
 * be NULL) hears how many are read and returns false to stop, which is an error too. */
bool folder_read(Folder *f, const char *path, const Preprocess *p, const FolderRule *rule,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
/* Pictures that nobody sorted: those that lie in the folder and in its sub-folders, by their names; of *all that are
 * there the first `most`, each held out and of no class. The same are errors, and none at all. */
bool folder_read_loose(Folder *f, const char *path, const Preprocess *p, size_t most, size_t *all,
                       bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
void folder_free(Folder *f);

/* Contents of what was learnt from, ascending; the caller frees it. */
uint64_t *folder_learnt(const Folder *f);
/* The same as lines of 16 hexadecimal digits, and back. False with err where the file can't be read or is no such list;
 * then nothing is to be freed. */
bool folder_write_learnt(const Folder *f, const char *path, Err *err);
bool folder_read_learnt(const char *path, uint64_t **content, size_t *count, Err *err);

/* --- of either kind --- */

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
#endif
