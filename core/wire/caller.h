/* The other end: one connection to who presents. It never blocks; where it breaks it is made again, a second later. */
#ifndef VITRINE_WIRE_CALLER_H
#define VITRINE_WIRE_CALLER_H
#include <stdint.h>
#include <sys/types.h>

#include "core/wire/message.h"
#include "core/wire/place.h"

typedef struct Caller {
    int fd; /* −1: not connected */
    bool shared;
    char directory[PLACE_PATH], path[PLACE_PATH];
    const char *role; /* "follow", "notes" */
    uid_t owner;
    Inbox in;
    Buf out;
    size_t sent;
    int64_t again; /* clock_ns of the next try */
    bool ended;    /* the other end hung up: so do we, when all that it said was taken */
    bool greeted;  /* the other end said its version, and it is ours */
    char why[512]; /* why there is no connection; "" while there is one */
} Caller;

/* directory NULL: a private socket. Nothing is tried yet. */
void caller_init(Caller *c, const char *directory, const char *path, const char *role);
void caller_close(Caller *c);
/* Connects where it is time to, sends what waits and takes in what came. True where a connection came or went. */
bool caller_step(Caller *c, int64_t now);
/* The next message of what came in, HELLO apart; false when there is none. A wrong one ends the connection, and so does
 * a HELLO of another version. */
bool caller_take(Caller *c, Message *m);
void caller_say(Caller *c, MessageKind kind, const char *text);
#endif
