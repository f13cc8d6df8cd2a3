/* libFuzzer: any bytes as a lesson, and its worked examples built. What is refused is refused in one clean line that
 * names the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/example.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clean(const Err *e)
{
    if (strncmp(e->text, "fuzz.md:", 8) != 0 || strchr(e->text, '\n') || strchr(e->text, '\x1b'))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Err e = {{0}};
    Lesson l;
    bool ok = lesson_parse(&l, "fuzz.md", (const char *)data, size, 1, &e);
    if (!ok)
        clean(&e);
    for (int i = 0; ok && i < l.example_count; i++) {
        Example x;
        if (!example_build(&x, "fuzz.md", &l.examples[i], NULL, &e))
            clean(&e);
        example_free(&x);
    }
    lesson_free(&l);
    return 0;
}
