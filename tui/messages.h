/* All that was said in this run: each line with when, so that nothing that passed by on one line is lost. */
#ifndef VITRINE_TUI_MESSAGES_H
#define VITRINE_TUI_MESSAGES_H
#include <stdbool.h>
#include <stdint.h>

#include "core/base/buf.h"

enum { MESSAGES_MOST = 500 }; /* kept; older ones go */
typedef struct SaidLine {
    char *text;
    bool error;
    int64_t at; /* clock_ns when it was said first … */
    int times;  /* … and how often on end */
} SaidLine;

typedef struct Messages {
    SaidLine line[MESSAGES_MOST]; /* a ring */
    int first, count;
    int64_t began; /* of the first one: times are told from here */
} Messages;

/* Nothing is kept of an empty text; the same one on end is counted. */
void messages_add(Messages *m, bool error, const char *text, int64_t now);
/* "0:42  text", a line each, oldest first; appended. */
void messages_put(const Messages *m, Buf *out);
void messages_free(Messages *m);
#endif
