/* Inside lessons only: a lesson being read. markdown.c walks the CommonMark, statements.c reads the fenced blocks. */
#ifndef VITRINE_LESSONS_LESSON_PARTS_H
#define VITRINE_LESSONS_LESSON_PARTS_H
#include "core/base/buf.h"
#include "lessons/lesson.h"

typedef struct Reader {
    Lesson *lesson;
    uint64_t seed;
    Err *err;
} Reader;

/* "FILE:LINE: message"; returns false. */
bool reader_error(const Reader *r, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void texts_add(Texts *t, const char *text, int line);
/* Appends a line of n bytes with $NAME as its value; of names that fit the longest counts. A value may be made of
 * others, and so on: false where that makes the line longer than LESSON_LINE. */
enum { LESSON_LINE = 4096 };
typedef struct Filled {
    const char *name, *value;
} Filled;
bool lesson_fill(Buf *out, const char *line, size_t n, const Filled *f, int count);
/* A block of statements that begins behind `line`; card NULL: the lesson's own. */
bool statements_read(Reader *r, Card *card, const char *text, int line);
#endif
