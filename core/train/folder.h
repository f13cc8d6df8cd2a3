/* A folder of labelled pictures, read once and kept as bytes of the model's size: folder/<class>/<picture>. */
#ifndef VITRINE_TRAIN_FOLDER_H
#define VITRINE_TRAIN_FOLDER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/mem.h"
#include "core/models/preprocess.h"

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
void folder_free(Folder *f);

/* Contents of what was learnt from, ascending; the caller frees it. */
uint64_t *folder_learnt(const Folder *f);
/* The same as lines of 16 hexadecimal digits, and back. False with err where the file can't be read or is no such list;
 * then nothing is to be freed. */
bool folder_write_learnt(const Folder *f, const char *path, Err *err);
bool folder_read_learnt(const char *path, uint64_t **content, size_t *count, Err *err);
#endif
