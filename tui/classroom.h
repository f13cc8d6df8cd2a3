/* The class is a directory: who presents appends lines to one file in it that only its owner can write, and everybody
 * else reads that file from its start. Pictures and lessons lie beside it by digest; a vote is an empty file in a
 * sticky folder, its owner whom the kernel says. Nobody serves and nobody connects: whoever is stopped, killed or late
 * reads on where they were. A file of lines begins with the whole state, and another takes its place when it is long or
 * could not be written on: nothing waits to be written. Of what stands there nothing is believed but its owner: names
 * are opened without following links, owner, mode and kind are asked of what was opened, sizes before anything is read.
 */
#ifndef VITRINE_TUI_CLASSROOM_H
#define VITRINE_TUI_CLASSROOM_H
#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/buf.h"
#include "core/base/err.h"

#define CLASS_LINES "lines-5" /* 5: the version of what stands there */
enum {
    CLASS_PATH = 240,
    CLASS_DATA = 8 * 1024 * 1024, /* a picture, a lesson */
    CLASS_LINE = 64 * 1024,       /* a longer line is passed over, and said */
    CLASS_FILE = 64 * 1024,       /* bytes until the lines begin in a new file */
    CLASS_MOST = 1024 * 1024      /* no reader reads more */
};

/* A class has its directory below $VITRINE_SHARE, else /tmp; its name: letters, digits, - _ . and no leading point.
 * NULL: that of the notes terminal, of the user alone, below $XDG_RUNTIME_DIR, else /tmp. */

/* ---- who presents ---- */
typedef struct Classroom {
    char path[CLASS_PATH]; /* "" while there is none */
    int folder, lines;     /* descriptors */
    DIR *votes;            /* NULL where it is the user's alone */
    mode_t mode;
} Classroom;

/* Makes the directory (its lines, and votes/ where others may come in; group: its members alone, or NULL) and begins.
 * False where it is not ours, or somebody presents there. */
bool classroom_make(Classroom *c, const char *name, const char *group, Err *err);
/* Takes all of it away. Zeroed or made. */
void classroom_close(Classroom *c);
/* anew: a new file of lines in the place of the old one, which stays where that fails. Else lines behind those that are
 * there; false: half of them may be, and a new file is due. */
bool classroom_write(Classroom *c, const Buf *lines, bool anew, Err *err);
/* Bytes under their digest, 16 digits, unless they are there. */
bool classroom_put(Classroom *c, const Buf *bytes, char digest[17], Err *err);

/* ---- who reads ---- */
typedef struct ClassReader {
    char path[CLASS_PATH];
    int folder, lines, watch; /* watch: of inotify, or −1 */
    uid_t owner;
    int64_t looked; /* clock_ns of the last look at what can't be watched */
    Buf in;         /* what the file has; `used` bytes of it were taken. Both 0: all of it again */
    size_t used;
    bool live;     /* somebody presents there */
    char why[512]; /* why nothing is read; "" while there is something */
} ClassReader;

/* Appends who presents now, "ada, by ada (1001); heads, by bob (1002)", at most eight; returns how many that are. */
int reader_classes(Buf *out);
/* Nothing is opened yet. False where the name is none. */
bool reader_init(ClassReader *r, const char *name, Err *err);
void reader_close(ClassReader *r);
/* Opens where there is something to open, reads on. True when there is news: lines, or another `why`. */
bool reader_step(ClassReader *r, int64_t now);
/* The next whole line, or NULL; valid until the next call of any of these. "" with *err set: one that is no text or too
 * long. */
const char *reader_line(ClassReader *r, Err *err);
/* Is there one? */
bool reader_behind(const ClassReader *r);
/* The bytes of that digest; false where they are not there, or not those. */
bool reader_data(const ClassReader *r, const char *digest, Buf *out, Err *err);
/* A file of that name, empty, into votes/. */
bool reader_vote(const ClassReader *r, const char *name, Err *err);
/* A descriptor to wait for. context is the ClassReader (term_also). */
int reader_poll(void *context, struct pollfd *out, int most);
#endif
