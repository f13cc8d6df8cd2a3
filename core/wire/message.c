#include "core/wire/message.h"

#include <string.h>

static const struct {
    char letter;
    size_t most;
} KINDS[MESSAGE_KINDS] = {
#define X(symbol, letter, most) [MESSAGE_##symbol] = {letter, most},
    MESSAGES(X)
#undef X
};

enum { DIGITS = 8, HEAD = 1 + DIGITS + 1 };

size_t message_most(MessageKind kind)
{
    return KINDS[kind].most;
}

void message_put(MessageKind kind, const char *text, size_t size, Buf *out)
{
    REQUIRE(size <= KINDS[kind].most);
    buf_printf(out, "%c%zu ", KINDS[kind].letter, size);
    buf_add(out, text, size);
    buf_putc(out, '\n');
}

void inbox_add(Inbox *in, const void *data, size_t n)
{
    if (in->used) { /* taken messages go when there is something new: the text of the last one was valid until now */
        memmove(in->bytes.data, in->bytes.data + in->used, in->bytes.len - in->used);
        in->bytes.len -= in->used;
        in->used = 0;
    }
    buf_add(&in->bytes, data, n);
}

static bool known(const Inbox *in, char letter, MessageKind *kind)
{
    bool small = letter >= 'a' && letter <= 'z';
    for (int k = 0; k < MESSAGE_KINDS; k++)
        if (KINDS[k].letter == letter && small == in->from_us) {
            *kind = (MessageKind)k;
            return true;
        }
    return false;
}

int message_take(Inbox *in, Message *m, Err *err)
{
    char *p = in->bytes.data + in->used;
    size_t there = in->bytes.len - in->used, at = 1, size = 0;
    if (!there)
        return 0;
    if (!known(in, *p, &m->kind)) {
        err_set(err, "a message of no known kind");
        return -1;
    }
    while (at < there && at <= DIGITS && p[at] >= '0' && p[at] <= '9')
        size = size * 10 + (size_t)(p[at++] - '0');
    if (size > KINDS[m->kind].most || (at < there && (at == 1 || p[at] != ' '))) {
        err_set(err, "a message with a wrong length");
        return -1;
    }
    if (at == there || there - at - 1 < size + 1)
        return 0;
    p += at + 1;
    if (p[size] != '\n') {
        err_set(err, "a message without its end");
        return -1;
    }
    p[size] = 0;
    m->text = p;
    m->size = size;
    in->used += at + 1 + size + 1;
    return 1;
}

size_t inbox_most(const Inbox *in)
{
    size_t most = 0;
    for (int k = 0; k < MESSAGE_KINDS; k++)
        if ((KINDS[k].letter >= 'a' && KINDS[k].letter <= 'z') == in->from_us && KINDS[k].most > most)
            most = KINDS[k].most;
    return most + HEAD + 1;
}

void inbox_free(Inbox *in)
{
    buf_free(&in->bytes);
    in->used = 0;
}
