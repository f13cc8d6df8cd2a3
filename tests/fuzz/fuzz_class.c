/* libFuzzer: any bytes as the lines of a class: read as they come, a question, its counts, a receipt. What is read and
 * written again is the same. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/session/ask/receipt.h"
#include "tui/classroom.h"
#include "tui/rollcall.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void question(const char *text)
{
    Rollcall r = {.mine = -1}, again = {.mine = -1};
    Buf b = {0};
    if (rollcall_read(&r, text)) {
        rollcall_put(&r, &b);
        if (!rollcall_read(&again, buf_str(&b)) || again.seed != r.seed || again.count != r.count ||
            strcmp(again.note, r.note) != 0 || again.closed != r.closed || again.right != r.right ||
            rollcall_total(&again) != rollcall_total(&r))
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
    ClassReader r;
    Err err;
    const char *line;
    reader_init(&r, "/none");
    buf_add(&r.in, bytes, n);
    while ((line = reader_line(&r, &err)) != NULL) {
        question(line);
        receipt(line);
        if (r.used > r.in.len)
            abort();
    }
    reader_close(&r);
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
