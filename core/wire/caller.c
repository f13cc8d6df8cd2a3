#include "core/wire/caller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
enum { READ_AT_ONCE = 64 * 1024, READS = 32, OUT_MOST = 4096 };

void caller_init(Caller *c, const char *directory, const char *path, const char *role)
{
    *c = (Caller){.fd = -1, .shared = directory != NULL, .role = role, .in = {.from_us = true}};
    snprintf(c->directory, sizeof c->directory, "%s", directory ? directory : "");
    snprintf(c->path, sizeof c->path, "%s", path);
}

static void hang_up(Caller *c, const char *why)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->ended = c->greeted = false;
    inbox_free(&c->in);
    buf_free(&c->out);
    c->sent = 0;
    snprintf(c->why, sizeof c->why, "%s", why);
}

void caller_close(Caller *c)
{
    if (c->role)
        hang_up(c, "");
    c->role = NULL;
}

void caller_say(Caller *c, MessageKind kind, const char *text)
{
    if (c->fd >= 0 && c->out.len < OUT_MOST)
        message_put(kind, text, strlen(text), &c->out);
}

static void dial(Caller *c, int64_t now)
{
    Err err = {{0}};
    char hello[32];
    c->again = now + SECOND;
    c->fd = place_connect(c->shared ? c->directory : NULL, c->path, &c->owner, &err);
    if (c->fd < 0) {
        snprintf(c->why, sizeof c->why, "%s", err.text);
        return;
    }
    c->why[0] = 0;
    snprintf(hello, sizeof hello, "%d %s", MESSAGE_VERSION, c->role);
    caller_say(c, MESSAGE_IM, hello);
}

static void write_out(Caller *c)
{
    while (c->sent < c->out.len) {
        ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* reading will tell */
        c->sent += (size_t)n;
    }
    buf_clear(&c->out);
    c->sent = 0;
}

static void read_in(Caller *c)
{
    char bytes[READ_AT_ONCE];
    for (int i = 0; i < READS; i++) {
        if (c->in.bytes.len - c->in.used > inbox_most(&c->in)) /* messages are taken first */
            return;
        ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            c->ended = true; /* what came before is taken first */
            return;
        }
        inbox_add(&c->in, bytes, (size_t)n);
        if ((size_t)n < sizeof bytes)
            return;
    }
}

static void end(Caller *c)
{
    hang_up(c, c->greeted ? "who presented has left"
                          : "who presents hung up without a word: it has another version of Vitrine, or no room");
}

bool caller_step(Caller *c, int64_t now)
{
    int before = c->fd;
    if (!c->role)
        return false;
    if (c->fd < 0 && now >= c->again)
        dial(c, now);
    if (c->fd >= 0)
        write_out(c);
    if (c->fd >= 0 && !c->ended)
        read_in(c);
    if (c->ended && c->in.used == c->in.bytes.len)
        end(c);
    return c->fd != before || c->ended;
}

/* HELLO: "VERSION NAME", or a version alone where it is another one than ours. */
static void greet(Caller *c, const Message *m)
{
    char why[256];
    long version = strtol(m->text, NULL, 10);
    c->greeted = version == MESSAGE_VERSION;
    if (c->greeted)
        return;
    snprintf(why, sizeof why,
             "who presents has %s Vitrine: it speaks version %ld of the class, this one %d; both need the same",
             version > MESSAGE_VERSION ? "a newer" : "an older", version, MESSAGE_VERSION);
    hang_up(c, why);
}

bool caller_take(Caller *c, Message *m)
{
    Err err;
    int took = 0;
    while (c->fd >= 0 && (took = message_take(&c->in, m, &err)) > 0 && m->kind == MESSAGE_HELLO)
        greet(c, m);
    if (c->fd < 0)
        return false;
    if (took < 0)
        hang_up(c, err.text);
    else if (took == 0 && c->ended)
        end(c);
    return took > 0;
}
