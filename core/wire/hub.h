/* Who listens: the sockets that are open, everybody who came in, and what waits to be sent to them. Nothing here ever
 * blocks. What goes to many is kept once. Who does not read fast enough loses what waits, and is sent the whole state
 * when there is room again; who does not read at all is let go. */
#ifndef VITRINE_WIRE_HUB_H
#define VITRINE_WIRE_HUB_H
#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/wire/message.h"

enum {
    HUB_MOST = 256,         /* connections */
    HUB_PER_USER = 224,     /* of one user, other than who presents: a guest account is one user */
    HUB_QUEUE = 128 * 1024, /* bytes that may wait for one of them, pictures apart */
    HUB_FILES = 4,          /* … and pictures */
    HUB_RATE = 20,          /* messages a second from one of them */
    HUB_SLOW_S = 15,        /* seconds without reading, until it is let go */
    HUB_SILENT_S = 5        /* … without saying who it is */
};

typedef enum HubRole { HUB_NEW, HUB_FOLLOWER, HUB_NOTES } HubRole;

typedef struct HubGuest {
    int fd, id; /* id: counts up, never the same again */
    HubRole role;
    bool may_drive; /* came in by the private socket */
    uid_t uid;
    uint64_t person; /* place_person, or the id where that says nothing */
} HubGuest;

/* What the hub's owner does with what comes. */
typedef struct HubEvents {
    void *context;
    /* It said who it is (HELLO was answered by nobody yet), or it lost something: send it everything. */
    void (*welcome)(void *context, int id, HubRole role);
    void (*message)(void *context, int id, HubRole role, const Message *m);
    void (*left)(void *context, int id);
} HubEvents;

typedef struct Hub Hub;
Hub *hub_new(void);
void hub_free(Hub *h);
/* Another listening socket, taken over; private: only who presents comes in there, and may drive. */
void hub_listen(Hub *h, int fd, bool private);
/* Descriptors to wait for; returns how many. */
int hub_poll(const Hub *h, struct pollfd *out, int most);
enum { HUB_POLL = HUB_MOST + 2 };
/* Takes in, reads, writes: all that can be done at once. */
void hub_step(Hub *h, const HubEvents *events, int64_t now_ns);
/* To everybody of that role, or to one of them. A picture counts apart. */
void hub_send(Hub *h, HubRole role, MessageKind kind, const char *text, size_t size);
void hub_send_to(Hub *h, int id, MessageKind kind, const char *text, size_t size);
int hub_count(const Hub *h, HubRole role);
/* The person behind a guest; 0 when it has left. */
uint64_t hub_person(const Hub *h, int id);
/* Bytes queued since it was made, of one listener each: what a step costs on the wire. */
uint64_t hub_bytes(const Hub *h);
/* Guests that were let go because they did not read, or sent what they must not. */
int hub_dropped(const Hub *h);
/* …and guests that were turned away because they speak another version. */
int hub_strangers(const Hub *h);
#endif
