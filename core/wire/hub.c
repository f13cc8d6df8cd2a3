#include "core/wire/hub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/wire/place.h"

enum { READ_AT_ONCE = 4096, LISTENERS = 2 };
#define SECOND INT64_C(1000000000)

/* Bytes that many wait for, kept once. */
typedef struct Blob {
    int uses;
    bool file;
    Buf bytes;
} Blob;

typedef struct Guest {
    HubGuest is;
    Inbox in;
    Blob **queue; /* [count], the first one sent up to `sent` */
    int count;
    size_t cap, sent, waiting; /* waiting: bytes of those that are no files */
    int files;
    bool lost;           /* something was dropped: the whole state is due */
    bool gone;           /* to be let go at the end of the step */
    bool stranger;       /* of another version: to be let go when it was told so */
    int64_t came, moved; /* when it came in; when it last read something, or had nothing to read */
    int64_t second;      /* of the rate … */
    int said;            /* … and messages in it */
} Guest;

struct Hub {
    struct {
        int fd;
        bool private;
    } listener[LISTENERS];
    int listeners, count, next_id, dropped, strangers;
    uint64_t bytes;
    Guest *guest[HUB_MOST];
};

Hub *hub_new(void)
{
    Hub *h = xcalloc(1, sizeof *h);
    h->next_id = 1;
    return h;
}

static void blob_drop(Blob *b)
{
    if (--b->uses == 0) {
        buf_free(&b->bytes);
        free(b);
    }
}

static void guest_free(Guest *g)
{
    close(g->is.fd);
    for (int i = 0; i < g->count; i++)
        blob_drop(g->queue[i]);
    free(g->queue);
    inbox_free(&g->in);
    free(g);
}

void hub_free(Hub *h)
{
    if (!h)
        return;
    for (int i = 0; i < h->count; i++)
        guest_free(h->guest[i]);
    for (int i = 0; i < h->listeners; i++)
        close(h->listener[i].fd);
    free(h);
}

void hub_listen(Hub *h, int fd, bool private)
{
    REQUIRE(h->listeners < LISTENERS);
    h->listener[h->listeners].fd = fd;
    h->listener[h->listeners++].private = private;
}

int hub_poll(const Hub *h, struct pollfd *out, int most)
{
    int n = 0;
    for (int i = 0; i < h->listeners && n < most; i++)
        out[n++] = (struct pollfd){.fd = h->listener[i].fd, .events = POLLIN};
    for (int i = 0; i < h->count && n < most; i++)
        out[n++] = (struct pollfd){.fd = h->guest[i]->is.fd,
                                   .events = (short)(POLLIN | (h->guest[i]->count ? POLLOUT : 0))};
    return n;
}

int hub_count(const Hub *h, HubRole role)
{
    int n = 0;
    for (int i = 0; h && i < h->count; i++)
        n += h->guest[i]->is.role == role;
    return n;
}

uint64_t hub_person(const Hub *h, int id)
{
    for (int i = 0; i < h->count; i++)
        if (h->guest[i]->is.id == id)
            return h->guest[i]->is.person;
    return 0;
}

uint64_t hub_bytes(const Hub *h)
{
    return h->bytes;
}

int hub_dropped(const Hub *h)
{
    return h->dropped;
}

int hub_strangers(const Hub *h)
{
    return h->strangers;
}

/* ---- coming in ---- */

static bool may_come(const Hub *h, bool private, uid_t uid)
{
    int same = 0;
    if (private)
        return uid == geteuid() && h->count < HUB_MOST;
    for (int i = 0; i < h->count; i++)
        same += h->guest[i]->is.uid == uid;
    return h->count < HUB_MOST - 8 && same < HUB_PER_USER; /* there is always room for the notes terminal */
}

static void take_in(Hub *h, int64_t now)
{
    for (int i = 0; i < h->listeners; i++)
        for (int at_once = 0; at_once < 32; at_once++) {
            uid_t uid;
            int fd = accept(h->listener[i].fd, NULL, NULL);
            if (fd < 0)
                break;
            bool private = h->listener[i].private;
            if (!place_ready(fd) || !place_peer(fd, &uid) || !may_come(h, private, uid)) {
                close(fd);
                continue;
            }
            Guest *g = xcalloc(1, sizeof *g);
            uint64_t person = place_person(fd);
            g->is = (HubGuest){.fd = fd, .id = h->next_id++, .may_drive = private, .uid = uid, .person = person};
            g->is.person = person ? person : (uint64_t)g->is.id;
            g->came = g->moved = now;
            h->guest[h->count++] = g;
        }
}

/* ---- sending ---- */

/* What waits is dropped, but for the first: it may be half sent, and when it is gone there is room again. */
static void forget_queue(Guest *g)
{
    int keep = g->count ? 1 : 0;
    for (int i = keep; i < g->count; i++)
        blob_drop(g->queue[i]);
    g->count = keep;
    g->files = keep && g->queue[0]->file;
    g->waiting = keep && !g->queue[0]->file ? g->queue[0]->bytes.len : 0;
    g->lost = true;
}

static void enqueue(Hub *h, Guest *g, Blob *b)
{
    if (g->gone || g->lost)
        return; /* it is sent everything when there is room */
    if (b->file ? g->files >= HUB_FILES : g->waiting + b->bytes.len > HUB_QUEUE + MESSAGE_LINES) {
        forget_queue(g);
        return;
    }
    g->queue = grow(g->queue, &g->cap, (size_t)g->count, sizeof *g->queue);
    g->queue[g->count++] = b;
    b->uses++;
    g->files += b->file;
    g->waiting += b->file ? 0 : b->bytes.len;
    h->bytes += b->bytes.len;
}

static Blob *blob_of(MessageKind kind, const char *text, size_t size)
{
    Blob *b = xcalloc(1, sizeof *b);
    b->uses = 1;
    b->file = kind == MESSAGE_FILE;
    message_put(kind, text, size, &b->bytes);
    return b;
}

void hub_send(Hub *h, HubRole role, MessageKind kind, const char *text, size_t size)
{
    Blob *b = blob_of(kind, text, size);
    for (int i = 0; i < h->count; i++)
        if (h->guest[i]->is.role == role)
            enqueue(h, h->guest[i], b);
    blob_drop(b);
}

void hub_send_to(Hub *h, int id, MessageKind kind, const char *text, size_t size)
{
    Blob *b = blob_of(kind, text, size);
    for (int i = 0; i < h->count; i++)
        if (h->guest[i]->is.id == id)
            enqueue(h, h->guest[i], b);
    blob_drop(b);
}

static void write_to(Guest *g, int64_t now)
{
    if (!g->count)
        g->moved = now;
    while (g->count && !g->gone) {
        Blob *b = g->queue[0];
        ssize_t n = send(g->is.fd, b->bytes.data + g->sent, b->bytes.len - g->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            g->gone = true;
            return;
        }
        g->moved = now;
        g->sent += (size_t)n;
        if (g->sent < b->bytes.len)
            continue;
        g->files -= b->file;
        g->waiting -= b->file ? 0 : b->bytes.len;
        g->sent = 0;
        memmove(g->queue, g->queue + 1, (size_t)--g->count * sizeof *g->queue);
        blob_drop(b);
    }
}

/* ---- reading ---- */

/* "2 follow": the version and what it wants to be. */
static HubRole role_of(const Guest *g, const Message *m, long *version)
{
    char *role;
    *version = strtol(m->text, &role, 10);
    if (strcmp(role, " follow") == 0)
        return HUB_FOLLOWER;
    return g->is.may_drive && strcmp(role, " notes") == 0 ? HUB_NOTES : HUB_NEW;
}

/* It said who it is. Another version is told ours, which is all that both understand, and let go. */
static void introduced(Hub *h, Guest *g, const Message *m)
{
    long version;
    HubRole role = m->kind == MESSAGE_IM ? role_of(g, m, &version) : HUB_NEW;
    if (role == HUB_NEW) {
        g->gone = true;
        return;
    }
    if (version == MESSAGE_VERSION) {
        g->is.role = role;
        g->lost = true; /* it has nothing yet */
        return;
    }
    char hello[32];
    snprintf(hello, sizeof hello, "%d", MESSAGE_VERSION);
    hub_send_to(h, g->is.id, MESSAGE_HELLO, hello, strlen(hello));
    g->stranger = true;
    h->strangers++;
}

static void handle(Hub *h, Guest *g, const Message *m, const HubEvents *events, int64_t now)
{
    if (g->stranger)
        return;
    if (now - g->second >= SECOND) {
        g->second = now;
        g->said = 0;
    }
    if (++g->said > HUB_RATE || strlen(m->text) != m->size) {
        g->gone = true;
        return;
    }
    if (g->is.role == HUB_NEW)
        introduced(h, g, m);
    else if (m->kind == MESSAGE_AGAIN)
        g->lost = true;
    else if (m->kind == MESSAGE_IM || (m->kind == MESSAGE_DRIVE && g->is.role != HUB_NOTES))
        g->gone = true;
    else
        events->message(events->context, g->is.id, g->is.role, m);
}

static void read_from(Hub *h, Guest *g, const HubEvents *events, int64_t now)
{
    char bytes[READ_AT_ONCE];
    Message m;
    Err err;
    ssize_t n = recv(g->is.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        g->gone = true;
    if (n <= 0)
        return;
    inbox_add(&g->in, bytes, (size_t)n);
    int took;
    while (!g->gone && (took = message_take(&g->in, &m, &err)) != 0) {
        if (took < 0)
            g->gone = true;
        else
            handle(h, g, &m, events, now);
    }
}

static void let_go(Hub *h, const HubEvents *events)
{
    int kept = 0;
    for (int i = 0; i < h->count; i++) {
        Guest *g = h->guest[i];
        if (!g->gone) {
            h->guest[kept++] = g;
            continue;
        }
        int id = g->is.id;
        bool known = g->is.role != HUB_NEW;
        guest_free(g);
        if (known)
            events->left(events->context, id);
    }
    h->count = kept;
}

void hub_step(Hub *h, const HubEvents *events, int64_t now)
{
    take_in(h, now);
    for (int i = 0; i < h->count; i++) {
        Guest *g = h->guest[i];
        read_from(h, g, events, now);
        write_to(g, now);
        g->gone = g->gone || (g->stranger && !g->count);
        if (g->lost && !g->count && !g->gone) {
            g->lost = false;
            events->welcome(events->context, g->is.id, g->is.role);
            write_to(g, now);
        }
        bool slow = g->count && now - g->moved > HUB_SLOW_S * SECOND;
        bool silent = g->is.role == HUB_NEW && now - g->came > HUB_SILENT_S * SECOND;
        h->dropped += slow && !g->gone;
        g->gone = g->gone || slow || silent;
    }
    let_go(h, events);
}
