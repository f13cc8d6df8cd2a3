/* Files: bounded reading and writing that never leaves half a file. Messages name the file, the problem and the remedy.
 */
#ifndef VITRINE_BASE_FILE_H
#define VITRINE_BASE_FILE_H
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/err.h"

/* Opens a regular file for reading (O_NONBLOCK|O_NOCTTY|O_CLOEXEC, fstat checked) and says its size. -1 and err when it
 * can't. */
int file_open(const char *path, uint64_t *size, Err *err);
/* Reads exactly n bytes at offset (EINTR, short reads handled). */
bool file_read_at(int fd, const char *path, void *out, size_t n, uint64_t offset, Err *err);
/* The whole of a regular file of 1 … limit bytes appended to out ("-" is standard input). */
bool file_read(const char *path, size_t limit, Buf *out, Err *err);
/* Writes the file whole or not at all: temporary file beside it, fsync, close checked, rename. "-" is standard output.
 * Refuses to replace anything that is not a regular file; a symlink is followed and its target replaced.
 * /dev/full, read-only directories and a file-size limit give an error and leave the old file. */
bool file_write(const char *path, const void *data, size_t n, Err *err);

/* Reading and writing end with "cancelled" when somebody asks to stop (stop.h). */
/* The same for output produced piece by piece; on any failure (or file_abandon) the old file stays and the FileOut is
 * closed. file_create makes the process ignore SIGXFSZ where nobody handles it, so that a file-size limit is an error
 * like others. */
typedef struct FileOut {
    int fd;
    char *path, *temporary;
    uint64_t written;
    bool waits; /* a pipe or a terminal: writing may block */
} FileOut;
bool file_create(FileOut *f, const char *path, Err *err);
bool file_append(FileOut *f, const void *data, size_t n, Err *err);
bool file_commit(FileOut *f, Err *err); /* closes in every case */
void file_abandon(FileOut *f);          /* a closed or zeroed FileOut is allowed */
/* Removes the temporary files (.vitrine-XXXXXX) that killed writers left in an open folder and that are at least so
 * many seconds old: younger ones may be somebody's who is still writing. */
void file_tidy(int folder, int64_t seconds);

/* opendir; a signal does not end it. NULL with errno. */
DIR *file_folder(const char *path);
bool file_exists(const char *path);
bool file_there(const char *path, Err *err); /* …or why a file or folder of that name is not to be had */
bool file_is_dir(const char *path);
const char *file_suffix(const char *path); /* "png" of "a/b.PNG" is "PNG"; "" when there is none */
/* Does the name end in one of those kinds, "png jpg", in letters of either case? */
bool file_is(const char *path, const char *kinds);
#endif
