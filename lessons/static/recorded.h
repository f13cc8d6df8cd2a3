/* What md4c said while it parsed a lesson, for programs that can't have md4c in them (a file without shared libraries
 * where the system has only the shared one). record.c writes it on the machine that builds; replay.c says it again.
 * Text is an offset into the lesson, or, where md4c gave something that is not in it, into the words below. */
#ifndef VITRINE_LESSONS_STATIC_RECORDED_H
#define VITRINE_LESSONS_STATIC_RECORDED_H
#include <stdint.h>

typedef enum RecordedKind {
    SAID_ENTER_BLOCK,
    SAID_LEAVE_BLOCK,
    SAID_ENTER_SPAN,
    SAID_LEAVE_SPAN,
    SAID_TEXT
} RecordedKind;
enum { RECORDED_ELSEWHERE = 1 << 30 }; /* in `at`: of the words, not of the lesson */

typedef struct Recorded {
    uint8_t kind, type; /* RecordedKind; md4c's own number of block, span or text */
    uint16_t number;    /* level of a heading, first number of a list */
    int32_t at, size;   /* text, info of a fence, target of a link; size 0: none */
} Recorded;

typedef struct RecordedLesson {
    uint64_t hash; /* FNV-1a of the text … */
    uint32_t size; /* … and its bytes */
    int first, count;
} RecordedLesson;

extern const RecordedLesson RECORDED_LESSONS[];
extern const int RECORDED_LESSON_COUNT;
extern const Recorded RECORDED[];
extern const char RECORDED_WORDS[];

static inline uint64_t recorded_hash(const char *text, unsigned size)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (unsigned i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return hash;
}
#endif
