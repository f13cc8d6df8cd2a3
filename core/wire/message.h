/* What goes over a socket: "KIND LENGTH TEXT\n", where KIND is one letter and LENGTH counts the bytes of TEXT. Whatever
 * comes in is hostile: a letter that is none, a length that is more than that letter may have, a missing line end end
 * the connection. */
#ifndef VITRINE_WIRE_MESSAGE_H
#define VITRINE_WIRE_MESSAGE_H
#include <stdbool.h>
#include <stddef.h>

#include "core/base/buf.h"
#include "core/base/err.h"

/* MESSAGE_VERSION counts up with every change of what is below or of what a message means: both sides say theirs first
 * (HELLO, IM), and who hears another one says so and hangs up. 2: lessons and cards, values of answers, digests over
 * settings. */
enum { MESSAGE_PICTURE = 8 * 1024 * 1024, MESSAGE_LINES = 256 * 1024, MESSAGE_VERSION = 2 };

/* MESSAGE(symbol, letter, most bytes): small letters go to those who listen, capital ones come from them. */
#define MESSAGES(X)                                                                                                    \
    X(HELLO, 'h', 512)                   /* version, name of who presents */                                           \
    X(STEP, 'd', MESSAGE_LINES)          /* resolved commands, a line each */                                          \
    X(STATE, 's', MESSAGE_LINES)         /* the whole state, as commands */                                            \
    X(FILE, 'f', MESSAGE_PICTURE + 2048) /* a picture: its name, line end, its bytes */                                \
    X(MODEL, 'm', 2048)                  /* a model: hash, blank, its name */                                          \
    X(LESSON, 'l', 256 * 1024 + 2048) /* a lesson: its file, blank, seed, line end; its text if it is not our own */   \
    X(CARD, 'e', 32)                  /* a card of it: number, blank, pauses behind it */                              \
    X(CAPTION, 'c', 8192)             /* what the presenter's screen says below */                                     \
    X(ASK, 'q', 2048)                 /* a question: seed, text, answers, a line each */                               \
    X(COUNTS, 'r', 1024)              /* its answers so far or in the end */                                           \
    X(NOTES, 'n', 16384)              /* notes terminal: notes of this step */                                         \
    X(NEXT, 'x', 1024)                /* notes terminal: where it stands, and the next step */                         \
    X(IM, 'H', 128)                   /* version, "follow" or "notes" */                                               \
    X(AGAIN, 'S', 8)                  /* the whole state, please */                                                    \
    X(ANSWER, 'A', 64)                /* seed of the question, number of the answer */                                 \
    X(DRIVE, 'C', 64)                 /* notes terminal: a word of `present`, or blank */

typedef enum MessageKind {
#define X(symbol, letter, most) MESSAGE_##symbol,
    MESSAGES(X)
#undef X
        MESSAGE_KINDS
} MessageKind;

typedef struct Message {
    MessageKind kind;
    const char *text; /* [size], ended by NUL too; may have NULs in it; valid until the next message_take */
    size_t size;
} Message;

/* Appended; text that is longer than its kind may be is a bug of ours. */
void message_put(MessageKind kind, const char *text, size_t size, Buf *out);
size_t message_most(MessageKind kind);

/* What was received and not yet read. from_us: small letters are taken, else capital ones. */
typedef struct Inbox {
    Buf bytes;
    size_t used;  /* of them, by messages that were taken */
    bool from_us; /* from who presents */
} Inbox;
void inbox_add(Inbox *in, const void *data, size_t n);
/* 1: a message; 0: it is not all there yet; −1 with an error: this connection must end. */
int message_take(Inbox *in, Message *m, Err *err);
/* The most that may lie in an inbox before a message must come out of it. */
size_t inbox_most(const Inbox *in);
void inbox_free(Inbox *in);
#endif
