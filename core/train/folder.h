/* A folder of labelled pictures, read once and kept as bytes of the model's size: folder/<class>/<picture>. */
#ifndef VITRINE_TRAIN_FOLDER_H
#define VITRINE_TRAIN_FOLDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/models/preprocess.h"

enum { FOLDER_PART = 10 }; /* the first of every so many pictures of a class is held out */

typedef struct FolderPicture {
    const char *path;
    int label;
} FolderPicture;

/* Pictures in the order of their class and name, bytewise; the learnt ones first, then those held out. A zeroed Folder
 * is empty. */
typedef struct Folder {
    Arena names;
    const char **class_name; /* [classes] */
    int classes;
    FolderPicture *picture; /* [learnt + held] */
    size_t learnt, held;    /* both > 0 */
    size_t size;            /* bytes of a picture */
    uint8_t *pixels;        /* [learnt + held][y,x,c] */
    uint64_t digest;        /* of classes, names and pixels: another folder has another, but for chance */
} Folder;

/* Reads every picture. Names that begin with a dot are passed over. An error, with nothing to free: fewer than two
 * classes, a class of fewer than two pictures or whose name is no UTF-8, something in it that is no picture, something
 * beside the classes, or more than fits in memory. progress (may be NULL) hears how many are read and returns false to
 * stop, which is an error too. */
bool folder_read(Folder *f, const char *path, const Preprocess *p,
                 bool (*progress)(void *context, size_t done, size_t total), void *context, Err *err);
void folder_free(Folder *f);
#endif
