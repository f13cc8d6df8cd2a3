/* The ready-made scripts as they lie in assets/demos; the assembler copies the bytes in. */
#include <stdlib.h>
#include <string.h>

#include "tui/cli/script.h"

#define DEMO(symbol, name)                                                                                             \
    extern const char demo_##symbol[];                                                                                 \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".global demo_" #symbol "\n"                                                                               \
            "demo_" #symbol ":\n"                                                                                      \
            ".incbin \"assets/demos/" name ".txt\"\n"                                                                  \
            ".byte 0\n"                                                                                                \
            ".popsection\n");
#include "tui/cli/demos.def"
#undef DEMO

static const Demo DEMOS[] = {
#define DEMO(symbol, name) {name, demo_##symbol},
#include "tui/cli/demos.def"
#undef DEMO
};
enum { DEMO_COUNT = sizeof DEMOS / sizeof *DEMOS };

const Demo *demo_at(int i)
{
    return i >= 0 && i < DEMO_COUNT ? &DEMOS[i] : NULL;
}

const Demo *demo_find(const char *which, Err *err)
{
    char *end;
    long number = strtol(which, &end, 10);
    if (*which >= '0' && *which <= '9' && !*end && number >= 1 && number <= DEMO_COUNT)
        return &DEMOS[number - 1];
    for (int i = 0; i < DEMO_COUNT; i++)
        if (strcmp(DEMOS[i].name, which) == 0)
            return &DEMOS[i];
    err_set(err, "there is no demo '%.60s': name one of 1 to %d, or its word; `demo` lists them", which, DEMO_COUNT);
    return NULL;
}

bool demo_open(const char *which, Script *s, Err *err)
{
    const Demo *d = demo_find(which, err);
    *s = (Script){.title = ""};
    return d && script_parse(s, d->name, d->text, err);
}

void demo_list(Buf *out)
{
    for (int i = 0; i < DEMO_COUNT; i++) {
        Script s;
        if (script_parse(&s, DEMOS[i].name, DEMOS[i].text, NULL))
            buf_printf(out, "%d  %-13s %s, %d steps\n", i + 1, DEMOS[i].name, s.title, s.count);
        script_free(&s);
    }
}
