/* libFuzzer: any bytes as a chat template, and behind a NUL as the turns. It is refused with a line, or writes a text
 * of which every byte is marked; either way soon and in little memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/mem.h"
#include "core/io/chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char TURNS[] = "system: be brief | user: hi | assistant: yes\nuser: why";
    char begin[] = "<s>", end[] = "</s>";
    const uint8_t *cut = size ? memchr(data, 0, size) : NULL;
    const size_t n = cut ? (size_t)(cut - data) : size;
    char *source = xmalloc(n + 1), *typed = xmalloc(size - n + 1);
    if (n)
        memcpy(source, data, n);
    source[n] = '\0';
    if (cut)
        memcpy(typed, cut + 1, size - n - 1);
    typed[cut ? size - n - 1 : 0] = '\0';
    const Chat c = {.name = "fuzz", .source = source, .begin = begin, .end = end};
    ChatText out;
    Err err = {""};
    if (!chat_write(&c, cut ? typed : TURNS, &out, &err)) {
        if (!*err.text)
            abort();
    } else {
        if (!out.text.len || out.text.len != out.said.len || out.text.len > CHAT_TEXT)
            abort();
        for (size_t i = 0; i < out.said.len; i++)
            if (out.said.data[i] != 0 && out.said.data[i] != 1)
                abort();
        chat_text_free(&out);
    }
    free(source);
    free(typed);
    return 0;
}
