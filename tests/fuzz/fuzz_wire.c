/* libFuzzer: any bytes over a socket, from either side and cut anywhere; any text as a question, its counts, a receipt.
 * What is read and written again is the same. */
#include <stdlib.h>
#include <string.h>

#include "core/session/ask/receipt.h"
#include "core/wire/message.h"
#include "tui/rollcall.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void question(const char *text)
{
    Rollcall r = {.mine = -1}, again = {.mine = -1};
    Buf b = {0};
    if (rollcall_read(&r, text)) {
        rollcall_put(&r, &b);
        if (!rollcall_read(&again, buf_str(&b)) || again.seed != r.seed || again.count != r.count)
            abort();
        rollcall_read_counts(&r, text);
        buf_clear(&b);
        rollcall_put_counts(&r, &b);
        if (!rollcall_read_counts(&again, buf_str(&b)))
            abort();
    }
    buf_free(&b);
}

static void receipt(const char *text)
{
    Receipt r;
    char again[RECEIPT_TEXT];
    Err err = {{0}};
    if (receipt_read(&r, text, &err)) {
        receipt_put(&r, again);
        if (strlen(again) != strlen(text))
            abort();
    } else if (!*err.text)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    size_t chunk = n ? 1 + bytes[0] % 31 : 1;
    Inbox in = {.from_us = n && (bytes[0] & 128)};
    Message m;
    Err err;
    int took = 0;
    for (size_t at = 0; at < n && took >= 0; at += chunk) {
        inbox_add(&in, bytes + at, at + chunk < n ? chunk : n - at);
        while ((took = message_take(&in, &m, &err)) > 0) {
            if (m.size > message_most(m.kind) || m.text[m.size])
                abort();
            question(m.text);
            receipt(m.text);
        }
        if (in.bytes.len - in.used > inbox_most(&in))
            abort();
    }
    inbox_free(&in);
    char *text = malloc(n + 1);
    if (!text)
        return 0;
    memcpy(text, bytes, n);
    text[n] = 0;
    question(text);
    receipt(text);
    free(text);
    return 0;
}
