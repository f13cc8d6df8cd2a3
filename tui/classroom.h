/* The class is a directory: who presents appends lines to one file in it that only its owner can write, and everybody
 * else reads that file from its start. Pictures and lessons lie beside it by digest; a vote is an empty file in a
 * sticky folder, its owner whom the kernel says. Nobody serves and nobody connects: whoever is stopped, killed or late
 * reads on where they were. Of what stands there nothing is believed but its owner: names are opened without following
 * links, owner, mode and kind are asked of what was opened, sizes before anything is read. */
#ifndef VITRINE_TUI_CLASSROOM_H
#define VITRINE_TUI_CLASSROOM_H
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    CLASS_PATH = 240,
    CLASS_VERSION = 3,
    CLASS_DATA = 8 * 1024 * 1024, /* a picture, a lesson */
    CLASS_LINE = 64 * 1024,       /* a longer line is passed over, and said */
    CLASS_WHOLE = 64 * 1024,      /* bytes until the whole state is written again: who comes begins there */
    CLASS_FILE = 8 * 1024 * 1024, /* bytes until the lines begin in a new file */
    CLASS_MOST = 2 * CLASS_FILE   /* no reader reads more */
};

/* The directory of a class, below $VITRINE_SHARE, else /tmp; name: letters, digits, - _ . and no leading point. */
bool classroom_path(const char *name, char path[CLASS_PATH], Err *err);
/* That of the notes terminal, below the user's runtime directory, which nobody else can enter. */
bool classroom_notes(char path[CLASS_PATH], Err *err);
/* Name of a user with the number: "ada (1001)". */
const char *classroom_user(uid_t uid, char out[80]);

/* ---- who presents ---- */
typedef struct Classroom {
    char path[CLASS_PATH];           /* "" while there is none */
    int folder, lines, watch, votes; /* descriptors; watch: of inotify, or −1 */
    mode_t mode;
    Buf late;       /* lines that could not be written yet */
    size_t written; /* bytes of this file … */
    int trouble;    /* … and errno of the last write, 0: none */
} Classroom;

/* Makes the directory (its lines, and votes/ where others may come in; group: its members alone, or NULL) and begins.
 * False where it is not ours, or somebody presents there. */
bool classroom_make(Classroom *c, const char *path, const char *group, bool private, Err *err);
/* Takes all of it away. Zeroed or made. */
void classroom_close(Classroom *c);
/* A line, without its end; written with the next classroom_flush, whole lines in their order. */
void classroom_say(Classroom *c, const char *line);
/* Writes what waits; false (trouble says why) where it still does: a full disk. Where too much waits it is dropped, and
 * the file begins anew with the next line: the whole state is due then. */
bool classroom_flush(Classroom *c);
/* A new file of lines in the place of the old one. */
bool classroom_anew(Classroom *c, Err *err);
/* Bytes under their digest, 16 digits, unless they are there. */
bool classroom_put(Classroom *c, const char *digest, const Buf *bytes, Err *err);
void classroom_digest(const Buf *bytes, char digest[17]);

/* ---- who reads ---- */
typedef struct ClassReader {
    char path[CLASS_PATH];
    int folder, lines, watch;
    uid_t owner;
    int64_t looked; /* clock_ns of the last look at what can't be watched */
    int64_t at;     /* bytes read */
    int64_t whole;  /* where the last whole state begins */
    Buf in;         /* what was read; `used` bytes of it were taken */
    size_t used;
    bool skips;    /* the rest of a line that is too long */
    bool live;     /* somebody presents there */
    char why[512]; /* why nothing is read; "" while there is something */
} ClassReader;

void reader_init(ClassReader *r, const char *path);
void reader_close(ClassReader *r);
/* Opens where there is something to open, reads on. True when there is news: lines, or another `why`. */
bool reader_step(ClassReader *r, int64_t now);
/* The next whole line, or NULL; valid until the next call of any of these. Lines before the last whole state that was
 * read are passed over. NULL with *err set: one that is no text or too long. */
const char *reader_line(ClassReader *r, Err *err);
/* Back to the last whole state. */
void reader_again(ClassReader *r);
/* The bytes of that digest; false where they are not there, or not those. */
bool reader_data(const ClassReader *r, const char *digest, Buf *out, Err *err);
/* A file of that name, empty, into votes/ ("" in the folder itself); or text at the end of one that is there. */
bool reader_vote(const ClassReader *r, const char *name, Err *err);
bool reader_append(const ClassReader *r, const char *name, const char *text);
/* Where it is watched: a descriptor to wait for. */
int classroom_poll(int watch, struct pollfd *out, int most);
/* Nothing of what happened is left to be told; true where something was. */
bool classroom_woken(int watch);
#endif
